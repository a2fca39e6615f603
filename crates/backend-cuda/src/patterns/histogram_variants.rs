//! P06 histogram, the rungs of the ladder: one launch, after one that clears the output.

use super::histogram::with_fills;
use super::scratch::Use;
use super::{bind, blocks};
use crate::backend::Cuda;
use crate::launch::Grid;
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::histogram_variants::LANES;
use isowarp_core::patterns::{HistogramVariant, HistogramVariantTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::histogram_variants::*;

/// The rung's kernel.
pub(super) fn kernel(variant: HistogramVariant) -> Result<Kernel> {
    Ok(match variant {
        HistogramVariant::Atomic => HISTOGRAM_ATOMIC,
        HistogramVariant::PrivateMemory => HISTOGRAM_PRIVATE_MEMORY,
        HistogramVariant::PrivateShared => HISTOGRAM_PRIVATE_SHARED,
        HistogramVariant::CoarsenedContiguous => HISTOGRAM_COARSENED_CONTIGUOUS,
        HistogramVariant::CoarsenedInterleaved => HISTOGRAM_COARSENED_INTERLEAVED,
        HistogramVariant::Aggregated => HISTOGRAM_AGGREGATED,
        other => return Err(Error::InvalidArgument { what: "variant", reason: format!("`{}` has no kernel of its own", other.name()) }),
    })
}

impl Run<HistogramVariantTask> for Cuda {
    fn run(&self, task: &HistogramVariantTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let (variant, task) = (task.variant, &task.histogram);
        if variant == HistogramVariant::Replicated {
            return self.run(task, leaves, outs);
        }
        if task.clears {
            outs.iter().try_for_each(|out| task.clear(self, out))?;
        }
        let mut bound = bind(self, ("histogram", task.n), &task.func.params, leaves, outs)?;
        bound.key = bound.key.func(&task.func).word(task.numerics as u64);
        let entry = (kernel(variant)?, bound.key.0);
        let kernel = match self.known_kernel(&entry) {
            Some(kernel) => kernel,
            None => with_fills(task, &bound.shapes[..task.func.params.len()], |fills| {
                // The hole for four elements is not there.
                self.kernel(entry, &fills[1..])
            })?,
        };
        let groups = variant.blocks(task.n, task.bins);
        bound.args.u[0] = task.bins as u32;
        if variant == HistogramVariant::PrivateMemory {
            bound.args.scratch[0] = self.stream().scratch().get(self, Use::Partials, groups * task.bins * 4)?;
        }
        let shared = if variant.most_bins().is_some() { 4 * task.bins as u32 } else { 0 };
        let grid = Grid::linear(blocks(groups)?, LANES as u32).shared(shared);
        // SAFETY: the task's contract (views are inside their buffers, the output holds `bins` counts); shared memory has a word to each bin, and
        // scratch so many for each block.
        unsafe { self.launch(&kernel, grid, &bound.args) }
    }
}
