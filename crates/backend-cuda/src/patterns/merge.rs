//! P08 merge: where the tiles of the result begin, and a launch that merges them; searches.

pub(super) mod lazy;

use super::keys::Held;
use super::scratch::Use;
use super::{blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::{Args, Grid, In};
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::patterns::merge::Place;
use isowarp_core::patterns::plan::tiles;
use isowarp_core::patterns::{CoRankTask, KeyBits, MergeTask, SearchTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::merge::*;

/// Threads of a block of `merge.cu`, and needles of a thread.
const THREADS: u32 = 256;
const NEEDLES: u64 = 4;
/// Tiles to a multiprocessor up to which blocks search for their own parts of the arrays, which saves a launch.
const SEARCHED: u64 = 4;

/// Words of `u`; see `merge.cu`.
const NEGATIVE: usize = 0;
const FLIP: usize = 2;
const KIND: usize = 4;
const WIDE: usize = 5;
const STEP: usize = 6;
const ALIGNED: usize = 7;

/// For keys of up to 4 bytes, and of 8: merges without values, with values of up to 4 bytes, and of 8.
const MERGES: [[Kernel; 3]; 2] = [[MERGE_K4_P0, MERGE_K4_P4, MERGE_K4_P8], [MERGE_K8_P0, MERGE_K8_P4, MERGE_K8_P8]];
const CO_RANKS: [Kernel; 2] = [MERGE_CO_RANKS_K4, MERGE_CO_RANKS_K8];
const SEARCHES: [Kernel; 2] = [SEARCH_K4, SEARCH_K8];

/// Keys of a thread: `ITEMS` of `merge.cu`.
fn items(key: u64, payload: u64) -> u64 {
    match (key, payload) {
        (8, _) | (_, 8) => 9,
        (_, 0) => 17,
        _ => 13,
    }
}

/// Returns the index of a table's kernels for keys of this type.
fn width(dtype: DType) -> usize {
    usize::from(dtype.size_bytes() > 4)
}

pub(super) fn order(map: KeyBits) -> Args {
    let mut args = Args::default();
    put_wide(&mut args.u, NEGATIVE, map.negative);
    put_wide(&mut args.u, FLIP, map.flip);
    args
}

/// Form in which kernels hold keys of a type, narrow ones as the high bits of a word, and the masks that they compare them by.
fn held(dtype: DType, map: KeyBits) -> (Held, Args) {
    let held = Held::high(dtype.size_bytes());
    (held, order(KeyBits { negative: map.negative << held.below, flip: map.flip << held.below, ..map }))
}

impl Cuda {
    /// An array whose stride stands for its length.
    pub(super) fn array(&self, (raw, offset): Place<'_, Buffer>, len: u64, size: u64) -> Result<In> {
        Ok(In { ptr: self.address(raw, "an input")? + offset * size, stride: len as i64 })
    }

    pub(super) fn result(&self, out: &Out<Buffer>) -> Result<u64> {
        Ok(self.address(&out.raw, "the output")? + out.offset * out.dtype.size_bytes())
    }
}

impl Run<MergeTask> for Cuda {
    fn run(&self, task: &MergeTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let places = task.places(leaves, outs)?;
        let size = task.dtype.size_bytes();
        let (keys, mut args) = held(task.dtype, task.key_bits());
        args.inputs[0] = self.array(places.keys[0], task.m, size)?;
        args.inputs[1] = self.array(places.keys[1], task.n, size)?;
        let payload = places.values.as_ref().map_or(0, |(_, out)| out.dtype.size_bytes());
        let column = usize::from(payload > 0) + usize::from(payload > 4);
        let tile = items(size, payload) * u64::from(THREADS);
        let tiles = tiles(task.total(), tile);
        let grid = Grid::linear(blocks(tiles)?, THREADS);
        let merge = self.moving_kernel(MERGES[width(task.dtype)][column], (keys, Held::low(payload)))?;
        if tiles > SEARCHED * u64::from(self.info().multiprocessors) {
            let starts = self.stream().scratch().get(self, Use::Partials, 8 * (tiles + 1))?;
            let mut cuts = args;
            cuts.n = tiles + 1;
            cuts.out[0] = starts;
            (cuts.u[WIDE], cuts.u[STEP]) = (1, tile as u32);
            let kernel = self.moving_kernel(CO_RANKS[width(task.dtype)], (keys, keys))?;
            // SAFETY: the task's contract: the arrays have `m` and `n` keys; scratch holds a number to a tile and one more.
            unsafe { self.launch(&kernel, Grid::linear(blocks(cuts.n.div_ceil(THREADS.into()))?, THREADS), &cuts)? };
            args.scratch[0] = starts;
        }
        args.out[0] = self.result(places.keys_out)?;
        args.u[ALIGNED] = u32::from(args.out[0] % (4 * size).min(16) == 0);
        if let Some(([v, w], out)) = places.values {
            args.inputs[2] = self.array(v, task.m, payload)?;
            args.inputs[3] = self.array(w, task.n, payload)?;
            args.out[1] = self.result(out)?;
        }
        // SAFETY: as above; the outputs hold `m + n` elements, and blocks stay inside arrays that are not sorted, too.
        unsafe { self.launch(&merge, grid, &args) }
    }
}

impl Run<CoRankTask> for Cuda {
    fn run(&self, task: &CoRankTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let ([a, b, ranks], out) = task.places(leaves, outs)?;
        let size = task.dtype.size_bytes();
        let (keys, mut args) = held(task.dtype, task.key_bits());
        args.inputs[0] = self.array(a, task.m, size)?;
        args.inputs[1] = self.array(b, task.n, size)?;
        args.inputs[2] = self.array(ranks, task.ranks, out.dtype.size_bytes())?;
        args.out[0] = self.result(out)?;
        args.n = task.ranks;
        args.u[WIDE] = u32::from(out.dtype == DType::U64);
        let kernel = self.moving_kernel(CO_RANKS[width(task.dtype)], (keys, keys))?;
        let grid = Grid::linear(blocks(task.ranks.div_ceil(THREADS.into()))?, THREADS);
        // SAFETY: the task's contract: the arrays have `m` and `n` keys, and there are as many results as ranks.
        unsafe { self.launch(&kernel, grid, &args) }
    }
}

impl Run<SearchTask> for Cuda {
    fn run(&self, task: &SearchTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let ([sorted, needles], out) = task.places(leaves, outs)?;
        let size = task.dtype.size_bytes();
        let (keys, mut args) = held(task.dtype, task.key_bits());
        args.inputs[0] = self.array(sorted, task.n, size)?;
        args.inputs[1] = self.array(needles, task.needles, size)?;
        args.out[0] = self.result(out)?;
        args.n = task.needles;
        args.u[KIND] = task.kind as u32;
        args.u[WIDE] = u32::from(out.dtype == DType::U64);
        let kernel = self.moving_kernel(SEARCHES[width(task.dtype)], (keys, keys))?;
        let grid = Grid::linear(blocks(task.needles.div_ceil(NEEDLES * u64::from(THREADS)))?, THREADS);
        // SAFETY: the task's contract: the array has `n` keys, and there are as many results as needles.
        unsafe { self.launch(&kernel, grid, &args) }
    }
}
