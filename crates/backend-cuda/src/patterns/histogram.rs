//! P06 histogram: one launch; bins in shared memory where they fit.

use super::launcher::with_fills;
use super::{bind, blocks};
use crate::backend::Cuda;
use crate::launch::Grid;
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::launch::Operators;
use isowarp_core::patterns::{HistogramSum, HistogramTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::histogram::*;

/// Threads of a block whose bins are in shared memory, and of any other.
const SHARED_THREADS: u32 = 512;
const THREADS: u32 = 256;
/// Shared memory of a block beside others, 256 bins in 32 copies: four of them have all threads of a multiprocessor.
const BESIDE_BYTES: u64 = 4 * 257 * 32;
/// Cells of a cache: a count and its bin each.
const CACHE_BYTES: u32 = 2 * 4 * 4096;
/// Copies of a bin, at most: lanes of a warp.
const MOST_COPIES: u64 = 32;
/// Kernels whose bins are in shared memory, and those of more bins.
const COUNT: [[Kernel; 4]; 2] = [
    [HISTOGRAM_COUNT1, HISTOGRAM_COUNT2, HISTOGRAM_COUNT3, HISTOGRAM_COUNT4],
    [HISTOGRAM_COUNT1_CACHED, HISTOGRAM_COUNT2_CACHED, HISTOGRAM_COUNT3_CACHED, HISTOGRAM_COUNT4_CACHED],
];
const WEIGHTED: [[Kernel; 4]; 2] = [
    [HISTOGRAM_WORD, HISTOGRAM_WIDE, HISTOGRAM_EXACT, HISTOGRAM_EXACT_WIDE],
    [HISTOGRAM_WORD_CACHED, HISTOGRAM_WIDE_OUTPUT, HISTOGRAM_EXACT_OUTPUT, HISTOGRAM_EXACT_WIDE_OUTPUT],
];
/// The same of a weight to several bins, up to so many.
const SEVERAL: [[Kernel; 4]; 2] = [
    [HISTOGRAM_WORDS, HISTOGRAM_WIDES, HISTOGRAM_EXACTS, HISTOGRAM_EXACT_WIDES],
    [HISTOGRAM_WORDS_CACHED, HISTOGRAM_WIDES_OUTPUT, HISTOGRAM_EXACTS_OUTPUT, HISTOGRAM_EXACT_WIDES_OUTPUT],
];
const MOST_BINS: usize = 4;

/// The kernel of a task whose bins fit into shared memory, or do not.
pub(super) fn kernel(task: &HistogramTask, fits: bool) -> Kernel {
    let weighted = if task.bins_of_each() == 1 { WEIGHTED } else { SEVERAL };
    let [few, many] = match task.sum {
        HistogramSum::Count => COUNT.map(|of| of[(task.func.results.len() - 1).min(3)]),
        HistogramSum::Word => weighted.map(|of| of[0]),
        HistogramSum::Wide => weighted.map(|of| of[1]),
        HistogramSum::Exact => weighted.map(|of| of[2]),
        HistogramSum::ExactWide => weighted.map(|of| of[3]),
    };
    if fits { few } else { many }
}

/// The task with as many results as its kernel has: the one of a weight to several bins passes over those that were missing.
pub(super) fn padded(task: &HistogramTask) -> HistogramTask {
    let several = task.sum != HistogramSum::Count && task.bins_of_each() > 1;
    if several { task.padded(MOST_BINS) } else { task.clone() }
}

/// Returns the layout of bins in shared memory: log2 of their copies, bytes, threads of a block.
fn layout(task: &HistogramTask, fits: bool) -> (u32, u32, u32) {
    if !fits {
        let cached = matches!(task.sum, HistogramSum::Count | HistogramSum::Word);
        return (0, if cached { CACHE_BYTES } else { 0 }, THREADS);
    }
    let bytes = bin_bytes(task);
    let copies = (BESIDE_BYTES / bytes).clamp(1, MOST_COPIES).ilog2();
    (copies, (bytes << copies) as u32, SHARED_THREADS)
}

/// Bytes of one copy of the bins in shared memory, and of one more for what is in no bin.
fn bin_bytes(task: &HistogramTask) -> u64 {
    4 * (task.bins + 1) * task.sum.words(4)
}

impl Run<HistogramTask> for Cuda {
    fn run(&self, task: &HistogramTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let (task, active) = (&padded(task), task.bins_of_each());
        let mut bound = bind(self, ("histogram", task.n), &task.func.params, leaves, outs)?;
        bound.key = bound.key.func(&task.func).word(task.sum as u64).word(task.numerics as u64);
        let fits = bin_bytes(task) <= u64::from(self.info().shared_bytes);
        let compiled = self.histogram_kernel(task, kernel(task, fits), &bound)?;
        let (copies, shared, threads) = layout(task, fits);
        let out_bytes = outs.first().map_or(4, |o| o.dtype.size_bytes());
        bound.args.u[..3].copy_from_slice(&[task.bins as u32, copies, (out_bytes / 4) as u32]);
        bound.args.u[4] = active as u32;
        let resident = u64::from(self.info().multiprocessors) * u64::from(compiled.resident_blocks(threads, shared)?.max(1));
        // A block's counters have 32 bits.
        let least = task.n >> 31;
        // Clearing and adding up a cell costs about as much as an element.
        let worth = u64::from(shared / 4).max(4 * u64::from(threads));
        let count = task.n.div_ceil(worth).min(resident).max(least);
        let grid = Grid::linear(blocks(count)?, threads).shared(shared);
        let cleared = task.bins * task.sum.words(out_bytes);
        let together = task.clears && self.may_meet() && count <= resident && cleared <= u64::from(u32::MAX);
        if together {
            bound.args.scratch[0] = self.meeting()?;
            bound.args.u[3] = cleared as u32;
        } else if task.clears {
            outs.iter().try_for_each(|out| task.clear(self, out))?;
        }
        // SAFETY: the task's contract (views are inside their buffers, the output holds `bins` elements, or the words of exact sums); blocks meet where
        // the grid is resident.
        unsafe { if together { self.launch_together(&compiled, grid, &bound.args) } else { self.launch(&compiled, grid, &bound.args) } }
    }
}

impl Cuda {
    fn histogram_kernel(&self, task: &HistogramTask, entry: Kernel, bound: &super::Bound) -> Result<crate::module::Kernel> {
        if let Some(kernel) = self.known_kernel(&(entry, bound.key.0)) {
            return Ok(kernel);
        }
        let (operators, leaves) = (Operators::Words(&task.func), &bound.shapes[..task.func.params.len()]);
        with_fills(entry.holes(), &operators, (leaves, &[]), task.numerics, |fills| self.kernel((entry, bound.key.0), fills))
    }
}
