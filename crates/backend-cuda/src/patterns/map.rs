//! P01 map.

use super::holes::{Holes, Shape};
use super::{bind, blocks};
use crate::backend::Cuda;
use crate::launch::Grid;
use crate::memory::Buffer;
use crate::splice::{Fill, Site};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::MapTask;
use isowarp_kernels::map;

/// Threads of a block of `map.cu`.
const THREADS: u32 = 128;

impl Run<MapTask> for Cuda {
    fn run(&self, task: &MapTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let bound = bind(self, ("map", task.n), &task.func.params, leaves, outs)?;
        let key = bound.key.func(&task.func).word(task.numerics as u64).0;
        let (leaf_shapes, out_shapes) = bound.shapes.split_at(leaves.len());
        let holes = Holes { load: &task.func, leaves: leaf_shapes, outs: out_shapes, numerics: task.numerics };
        let body4 = |site: &Site<'_>| holes.body(4, site);
        let body1 = |site: &Site<'_>| holes.body(1, site);
        let four = Fill { name: "body4", body: &body4 };
        let one = Fill { name: "body1", body: &body1 };
        // Groups of four pay where something is read or written four elements at a time.
        let vector = bound.shapes.iter().any(|s| matches!(s, Shape::Vector(_)));
        let (kernel, threads) = if vector {
            (self.kernel((map::MAP_VEC, key), &[four, one])?, task.n / 4 + task.n % 4)
        } else {
            (self.kernel((map::MAP_ONE, key), &[one])?, task.n)
        };
        let grid = Grid::linear(blocks(threads.div_ceil(THREADS.into()))?, THREADS);
        // SAFETY: the task's contract: views are inside their buffers and hold `n` elements; the kernel touches no others.
        unsafe { self.launch(&kernel, grid, &bound.args) }
    }
}
