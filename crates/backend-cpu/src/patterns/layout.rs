//! P09 move, by shape: one element after the other.

use crate::Cpu;
use crate::memory::HostBuffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::{Axis, LayoutTask, TileTransposeTask, TransposeTask};

impl Run<LayoutTask> for Cpu {
    fn run(&self, task: &LayoutTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let ([Leaf::Elements { raw, dtype, offset, .. }], [out]) = (leaves, outs) else {
            return Err(Error::InvalidArgument { what: "layout", reason: "it has one input and one output".to_owned() });
        };
        let size = dtype.size_bytes();
        let reach: u64 = task.axes.iter().map(|a| (a.n - 1) * a.to).sum();
        let mut result = out.raw.read(out.offset * size, (reach + 1) * size)?;
        let words = raw.lock();
        copy(&task.axes, size as usize, bytemuck::cast_slice(&words), *offset, &mut result, 0);
        drop(words);
        out.raw.write(out.offset * size, &result)
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

/// Copies everything along these axes from element `from` to element `to`.
fn copy(axes: &[Axis], size: usize, source: &[u8], from: u64, target: &mut [u8], to: u64) {
    let Some((axis, inner)) = axes.split_first() else {
        let (f, t) = (from as usize * size, to as usize * size);
        target[t..t + size].copy_from_slice(&source[f..f + size]);
        return;
    };
    for i in 0..axis.n {
        let from = from.wrapping_add_signed((i as i64).wrapping_mul(axis.from));
        copy(inner, size, source, from, target, to + i * axis.to);
    }
}
