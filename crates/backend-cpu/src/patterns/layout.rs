//! P09 move, by shape: one element after the other.

use crate::memory::HostBuffer;
use crate::{Cpu, outputs};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::{Axis, LayoutTask, TileTransposeTask, TransposeTask};

impl Run<LayoutTask> for Cpu {
    fn run(&self, task: &LayoutTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let ([Leaf::Elements { dtype, offset, .. }], [_]) = (leaves, outs) else {
            return Err(Error::InvalidArgument { what: "layout", reason: "it has one input and one output".to_owned() });
        };
        let reach: u64 = task.axes.iter().map(|a| (a.n - 1) * a.to).sum();
        outputs::write(leaves, outs, reach + 1, true, |operands, mut results| {
            let (axes, words, bytes) = (&task.axes, operands.words(0), results.remove(0));
            match dtype.size_bytes() {
                1 => copy::<u8>(axes, bytemuck::cast_slice(words), *offset, bytes, 0),
                2 => copy::<u16>(axes, bytemuck::cast_slice(words), *offset, bytemuck::cast_slice_mut(bytes), 0),
                4 => copy::<u32>(axes, bytemuck::cast_slice(words), *offset, bytemuck::cast_slice_mut(bytes), 0),
                _ => copy::<u64>(axes, words, *offset, bytemuck::cast_slice_mut(bytes), 0),
            }
        })
    }
}

impl Run<TransposeTask> for Cpu {
    fn run(&self, task: &TransposeTask, _: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let [out] = outs else {
            return Err(Error::InvalidArgument { what: "transpose", reason: "it has one output".to_owned() });
        };
        let (size, side) = (out.dtype.size_bytes() as usize, task.side as usize);
        let mut bytes = out.raw.read(out.offset * size as u64, task.planes * task.side * task.side * size as u64)?;
        for plane in bytes.chunks_exact_mut(side * side * size) {
            for i in 1..side {
                let (above, row) = plane.split_at_mut(i * side * size);
                for j in 0..i {
                    let at = (j * side + i) * size;
                    above[at..at + size].swap_with_slice(&mut row[j * size..(j + 1) * size]);
                }
            }
        }
        out.raw.write(out.offset * size as u64, &bytes)
    }
}

impl Run<TileTransposeTask> for Cpu {
    fn run(&self, task: &TileTransposeTask, _: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let [out] = outs else {
            return Err(Error::InvalidArgument { what: "transpose of tiles", reason: "it has one output".to_owned() });
        };
        let size = out.dtype.size_bytes();
        let mut bytes = out.raw.read(out.offset * size, task.reach() * size)?;
        task.pairs(|a, b| (0..size).for_each(|byte| bytes.swap((a * size + byte) as usize, (b * size + byte) as usize)));
        out.raw.write(out.offset * size, &bytes)
    }
}

/// Side of the squares that two axes are copied by.
const SQUARE: usize = 16;

/// Copies everything along these axes from element `from` to element `to`.
fn copy<T: Copy>(axes: &[Axis], source: &[T], from: u64, target: &mut [T], to: u64) {
    match axes {
        [] => target[to as usize] = source[from as usize],
        [Axis { n, from: 1, to: 1 }] => {
            target[to as usize..][..*n as usize].copy_from_slice(&source[from as usize..][..*n as usize]);
        }
        &[outer, inner] if (inner.from, inner.to) != (1, 1) => {
            // By squares, so that what lies beside each other on either side is used while it is in the cache.
            for i in (0..outer.n).step_by(SQUARE) {
                for j in (0..inner.n).step_by(SQUARE) {
                    for i in i..outer.n.min(i + SQUARE as u64) {
                        let from = from.wrapping_add_signed((i as i64).wrapping_mul(outer.from));
                        for j in j..inner.n.min(j + SQUARE as u64) {
                            let from = from.wrapping_add_signed((j as i64).wrapping_mul(inner.from));
                            target[(to + i * outer.to + j * inner.to) as usize] = source[from as usize];
                        }
                    }
                }
            }
        }
        [axis, inner @ ..] => {
            for i in 0..axis.n {
                let from = from.wrapping_add_signed((i as i64).wrapping_mul(axis.from));
                copy(inner, source, from, target, to + i * axis.to);
            }
        }
    }
}
