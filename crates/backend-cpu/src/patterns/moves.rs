//! P09 move, by index: from the first index to the last.

use crate::Cpu;
use crate::memory::HostBuffer;
use crate::operands::Operands;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{Evaluator, LANES};
use isowarp_core::patterns::{GatherTask, ScatterFromTask, ScatterOp, ScatterTask};

/// Index `i` of a buffer of indices, if it is below `limit`.
fn index(bytes: &[u8], dtype: DType, i: u64, limit: u64) -> Option<u64> {
    let word = load(bytes, dtype.size_bytes() as usize, i);
    let negative = dtype == DType::I32 && word >> 31 != 0;
    (!negative && word < limit).then_some(word)
}

/// The bits of element `i`.
fn load(bytes: &[u8], size: usize, i: u64) -> u64 {
    let mut word = [0; 8];
    word[..size].copy_from_slice(&bytes[i as usize * size..][..size]);
    u64::from_le_bytes(word)
}

fn store(bytes: &mut [u8], size: usize, i: u64, word: u64) {
    bytes[i as usize * size..][..size].copy_from_slice(&word.to_le_bytes()[..size]);
}

fn operands() -> Error {
    Error::InvalidArgument { what: "move", reason: "it has values, indices and one output".to_owned() }
}

impl Run<GatherTask> for Cpu {
    fn run(&self, task: &GatherTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let ([Leaf::Array { raw, dtype, offset, len }, Leaf::Elements { raw: indices, dtype: of_index, offset: first, .. }], [out]) =
            (leaves, outs)
        else {
            return Err(operands());
        };
        let size = dtype.size_bytes();
        let mut result = out.raw.read(out.offset * size, task.n * size)?;
        {
            let (values, indices) = (raw.lock(), indices.lock());
            let (values, indices) = (bytemuck::cast_slice(&values), bytemuck::cast_slice(&indices));
            for i in 0..task.n {
                match index(indices, *of_index, first + i, *len) {
                    Some(at) => store(&mut result, size as usize, i, load(values, size as usize, offset + at)),
                    None if task.keep => {}
                    None => store(&mut result, size as usize, i, 0),
                }
            }
        }
        out.raw.write(out.offset * size, &result)
    }
}

impl Run<ScatterTask> for Cpu {
    fn run(&self, task: &ScatterTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let ([values, Leaf::Elements { raw: indices, dtype: of_index, offset: first, .. }], [out]) = (leaves, outs) else {
            return Err(operands());
        };
        let size = out.dtype.size_bytes();
        let mut result = out.raw.read(out.offset * size, task.targets * size)?;
        {
            let locked = match values {
                Leaf::Elements { raw, offset, .. } => Some((raw.lock(), *offset)),
                _ => None,
            };
            let indices = indices.lock();
            let indices = bytemuck::cast_slice(&indices);
            for i in 0..task.n {
                let Some(at) = index(indices, *of_index, first + i, task.targets) else { continue };
                let value = match &locked {
                    Some((values, offset)) => load(bytemuck::cast_slice(values), size as usize, offset + i),
                    None => i,
                };
                let old = load(&result, size as usize, at);
                store(&mut result, size as usize, at, combine(task.op, out.dtype, old, value));
            }
        }
        out.raw.write(out.offset * size, &result)
    }
}

impl Run<ScatterFromTask> for Cpu {
    fn run(&self, task: &ScatterFromTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let [out] = outs else { return Err(operands()) };
        let size = out.dtype.size_bytes();
        let mut result = out.raw.read(out.offset * size, task.targets * size)?;
        {
            let (operands, mut e) = (Operands::lock(leaves), Evaluator::new(&task.func));
            for at in (0..task.n).step_by(LANES) {
                let lanes = LANES.min((task.n - at) as usize);
                operands.eval(&task.func, &mut e, at, 1, lanes);
                for l in 0..lanes {
                    let (target, value) = (e.result(0)[l], e.result(1)[l]);
                    if target < task.targets {
                        let old = load(&result, size as usize, target);
                        store(&mut result, size as usize, target, combine(task.op, out.dtype, old, value));
                    }
                }
            }
        }
        out.raw.write(out.offset * size, &result)
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
