//! P02 reduce, the rungs of the ladder: a launch to a level of tiles, or of halves.

use super::lines::Operators;
use super::scratch::Use;
use super::{Bound, blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::Grid;
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::reduce_variants::LANES;
use isowarp_core::patterns::{ReduceVariant, ReduceVariantTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::reduce_variants::*;

const FROM_SCRATCH: u32 = 1;
const TO_SCRATCH: u32 = 2;

impl Run<ReduceVariantTask> for Cuda {
    fn run(&self, task: &ReduceVariantTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        if task.variant == ReduceVariant::AlignedTree {
            return self.run(&task.reduce, leaves, outs);
        }
        let reduce = &task.reduce;
        let operators = Operators { load: &reduce.load, combine: &reduce.combine, finish: &reduce.finish, numerics: reduce.numerics };
        let mut bound = operators.bind(self, ("reduce", reduce.lines.n), leaves, outs)?;
        let bytes = 4 * operators.words() as u64;
        let table = table(task.variant)?;
        match task.variant.tile() {
            None => climb(self, &operators, &mut bound, &table, bytes, |n| (n.div_ceil(2), n.div_ceil(2).div_ceil(LANES))),
            Some(tile) => climb(self, &operators, &mut bound, &table, bytes, |n| (n.div_ceil(tile), n.div_ceil(tile))),
        }
    }
}

/// The rung's kernel for each width of an accumulator.
pub(super) fn table(variant: ReduceVariant) -> Result<[Kernel; 4]> {
    Ok(match variant {
        ReduceVariant::FoldInHalf => [REDUCE_FOLD_W1, REDUCE_FOLD_W2, REDUCE_FOLD_W4, REDUCE_FOLD_W4],
        ReduceVariant::Interleaved => [REDUCE_INTERLEAVED_W1, REDUCE_INTERLEAVED_W2, REDUCE_INTERLEAVED_W4, REDUCE_INTERLEAVED_W4],
        ReduceVariant::Convergent => [REDUCE_CONVERGENT_W1, REDUCE_CONVERGENT_W2, REDUCE_CONVERGENT_W4, REDUCE_CONVERGENT_W4],
        ReduceVariant::Sequential => [REDUCE_SEQUENTIAL_W1, REDUCE_SEQUENTIAL_W2, REDUCE_SEQUENTIAL_W4, REDUCE_SEQUENTIAL_W4],
        ReduceVariant::FirstCombine => [REDUCE_FIRST_COMBINE_W1, REDUCE_FIRST_COMBINE_W2, REDUCE_FIRST_COMBINE_W4, REDUCE_FIRST_COMBINE_W4],
        ReduceVariant::Unrolled => [REDUCE_UNROLLED_W1, REDUCE_UNROLLED_W2, REDUCE_UNROLLED_W4, REDUCE_UNROLLED_W4],
        ReduceVariant::Coarsened => [REDUCE_COARSENED_W1, REDUCE_COARSENED_W2, REDUCE_COARSENED_W4, REDUCE_COARSENED_W4],
        ReduceVariant::Shuffle => [REDUCE_SHUFFLE_W1, REDUCE_SHUFFLE_W2, REDUCE_SHUFFLE_W4, REDUCE_SHUFFLE_W4],
        ReduceVariant::Vectorised => [REDUCE_VECTORISED_W1, REDUCE_VECTORISED_W2, REDUCE_VECTORISED_W4, REDUCE_VECTORISED_W4],
        other => return Err(Error::InvalidArgument { what: "variant", reason: format!("`{}` has no kernel of its own", other.name()) }),
    })
}

/// Launches until one element is left; `step(n)` gives the results of a level of `n` elements and the blocks that compute them.
fn climb(
    cuda: &Cuda,
    operators: &Operators<'_>,
    bound: &mut Bound,
    table: &[Kernel; 4],
    bytes: u64,
    step: impl Fn(u64) -> (u64, u64),
) -> Result<()> {
    let mut n = bound.args.n;
    let (first, _) = step(n);
    // Two regions that take turns: what the odd levels leave, and what the even ones leave.
    let regions = if first > 1 {
        let second = (first * bytes).next_multiple_of(256);
        let at = cuda.stream().scratch().get(cuda, Use::Partials, second + step(first).0 * bytes)?;
        [at, at + second]
    } else {
        [0; 2]
    };
    let kernel = operators.kernel(cuda, table, bound)?;
    let mut level = 0;
    loop {
        let (results, grid) = step(n);
        let from = if level > 0 { FROM_SCRATCH } else { 0 };
        let to = if results > 1 { TO_SCRATCH } else { 0 };
        bound.args.u[0] = from | to;
        put_wide(&mut bound.args.u, 2, n);
        bound.args.scratch[0] = regions[(level + 1) % 2];
        bound.args.scratch[1] = regions[level % 2];
        let grid = Grid::linear(blocks(grid)?, LANES as u32);
        // SAFETY: the task's contract (views are inside their buffers); scratch has room for the first level's results and, beside them, the second's.
        unsafe { cuda.launch(&kernel, grid, &bound.args) }?;
        if results == 1 {
            return Ok(());
        }
        (n, level) = (results, level + 1);
    }
}
