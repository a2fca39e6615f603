//! P09 move, by index: from the first index to the last.

use crate::memory::HostBuffer;
use crate::{Cpu, outputs, threads};
use bytemuck::Pod;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{BLOCK, Blocks};
use isowarp_core::patterns::{GatherTask, ScatterFromTask, ScatterOp, ScatterTask};

/// Elements that one thread takes at a time.
const CHUNK: usize = 32 * BLOCK;

/// An element of any type as its bits.
trait Word: Pod + Send + Sync {
    fn bits(self) -> u64;
    fn of(bits: u64) -> Self;
}

macro_rules! words {
    ($($t:ident)*) => {$(
        impl Word for $t {
            fn bits(self) -> u64 {
                self.into()
            }
            fn of(bits: u64) -> Self {
                bits as $t
            }
        }
    )*};
}
words!(u8 u16 u32 u64);

/// Runs code for the words of a size.
macro_rules! of_size {
    ($size:expr, $word:ident, $code:expr) => {
        match $size {
            1 => {
                type $word = u8;
                $code
            }
            2 => {
                type $word = u16;
                $code
            }
            4 => {
                type $word = u32;
                $code
            }
            _ => {
                type $word = u64;
                $code
            }
        }
    };
}

/// An index of a type, if it is below `limit`.
fn below(dtype: DType, word: u64, limit: u64) -> Option<u64> {
    let negative = dtype == DType::I32 && word >> 31 != 0;
    (!negative && word < limit).then_some(word)
}

fn operands() -> Error {
    Error::InvalidArgument { what: "move", reason: "it has values, indices and one output".to_owned() }
}

impl Run<GatherTask> for Cpu {
    fn run(&self, task: &GatherTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let ([Leaf::Array { dtype, offset, len, .. }, Leaf::Elements { dtype: of_index, offset: first, .. }], [_]) = (leaves, outs) else {
            return Err(operands());
        };
        outputs::write(leaves, outs, task.n, task.keep, |operands, mut results| {
            of_size!(
                dtype.size_bytes(),
                T,
                of_size!(of_index.size_bytes(), I, {
                    let values = &bytemuck::cast_slice::<_, T>(operands.words(0))[*offset as usize..][..*len as usize];
                    let indices = &bytemuck::cast_slice::<_, I>(operands.words(1))[*first as usize..][..task.n as usize];
                    let chunks = bytemuck::cast_slice_mut::<_, T>(results.remove(0)).chunks_mut(CHUNK).zip(indices.chunks(CHUNK));
                    threads::each(chunks.collect(), &(), |(), _, (out, indices)| {
                        for (o, &i) in out.iter_mut().zip(indices) {
                            match below(*of_index, i.bits(), *len) {
                                Some(at) => *o = values[at as usize],
                                None if task.keep => {}
                                None => *o = 0,
                            }
                        }
                    });
                })
            );
        })
    }
}

impl Run<ScatterTask> for Cpu {
    fn run(&self, task: &ScatterTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let ([values, Leaf::Elements { dtype: of_index, offset: first, .. }], [out]) = (leaves, outs) else {
            return Err(operands());
        };
        let offset = match values {
            Leaf::Elements { offset, .. } => Some(*offset),
            _ => None,
        };
        outputs::write(leaves, outs, task.targets, true, |operands, mut results| {
            of_size!(
                out.dtype.size_bytes(),
                T,
                of_size!(of_index.size_bytes(), I, {
                    let targets = bytemuck::cast_slice_mut::<_, T>(results.remove(0));
                    let indices = &bytemuck::cast_slice::<_, I>(operands.words(1))[*first as usize..][..task.n as usize];
                    let values = offset.map(|offset| &bytemuck::cast_slice::<_, T>(operands.words(0))[offset as usize..]);
                    for (i, &index) in indices.iter().enumerate() {
                        let Some(at) = below(*of_index, index.bits(), task.targets) else { continue };
                        let value = values.map_or(i as u64, |values| values[i].bits());
                        let target = &mut targets[at as usize];
                        *target = T::of(combine(task.op, out.dtype, target.bits(), value));
                    }
                })
            );
        })
    }
}

impl Run<ScatterFromTask> for Cpu {
    fn run(&self, task: &ScatterFromTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let [out] = outs else { return Err(operands()) };
        outputs::write(leaves, outs, task.targets, true, |operands, mut results| {
            of_size!(out.dtype.size_bytes(), T, {
                let targets = bytemuck::cast_slice_mut::<_, T>(results.remove(0));
                let mut blocks = Blocks::new(&task.func);
                for at in (0..task.n).step_by(BLOCK) {
                    let lanes = BLOCK.min((task.n - at) as usize);
                    operands.eval(&task.func, &mut blocks, at, 1, lanes);
                    let (indices, values) = (blocks.result(0), blocks.result(1));
                    for l in (0..lanes).filter(|&l| indices.get(l) < task.targets) {
                        let target = &mut targets[indices.get(l) as usize];
                        *target = T::of(combine(task.op, out.dtype, target.bits(), values.get(l)));
                    }
                }
            });
        })
    }
}

fn combine(op: ScatterOp, dtype: DType, old: u64, value: u64) -> u64 {
    // Numbers whose order is that of the elements.
    let order = |v: u64| match dtype {
        DType::I32 => i128::from(v as u32 as i32),
        DType::I64 => i128::from(v as i64),
        _ => i128::from(v),
    };
    match op {
        ScatterOp::Store => value,
        ScatterOp::Sum => old.wrapping_add(value),
        ScatterOp::Min => {
            if order(value) < order(old) {
                value
            } else {
                old
            }
        }
        ScatterOp::Max => {
            if order(value) > order(old) {
                value
            } else {
                old
            }
        }
        ScatterOp::And => old & value,
        ScatterOp::Or => old | value,
        ScatterOp::Xor => old ^ value,
        ScatterOp::Sub => old.wrapping_sub(value),
    }
}
