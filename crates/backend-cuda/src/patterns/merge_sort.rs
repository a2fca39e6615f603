//! P07 merge sort by the caller's order: a launch that sorts tiles, or pairs of them, then one to each doubling of the runs, and one before it that says
//! where the tiles of the result begin.

use super::holes::before;
use super::keys::{self, Held};
use super::scratch::Use;
use super::tuning::TUNING;
use super::{Key, blocks};
use crate::backend::Cuda;
use crate::launch::{Args, Grid, In};
use crate::memory::Buffer;
use crate::module;
use crate::splice::{Fill, Site};
use isowarp_core::backend::{Backend as _, Leaf, Out, Run};
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::ir::Func;
use isowarp_core::patterns::merge::Place;
use isowarp_core::patterns::{MergeByTask, MergeSortTask, MergeTiling, SortPayload};
use isowarp_kernels::Kernel;
use isowarp_kernels::merge_sort::*;

/// Threads of a block of `merge_sort.cu`.
const THREADS: u32 = 256;
/// Tiles to a multiprocessor up to which blocks search for their own parts of the runs, which saves a launch.
const SEARCHED: u64 = 4;
/// Lanes that search together where a tile begins, where tiles are few and where they are many. On an H200 a sort of 2^24 keys takes 704 us with eight
/// and 748 with one, of 2^28 12.0 and 11.4 ms.
const SEARCHERS: [u64; 2] = [8, 2];
const FEW_TILES: u64 = 8192;
/// Bytes of a value, or an index.
const PAYLOAD: u64 = 4;

/// Words of `u`; see `merge_sort.cu`.
const SHIFT: usize = 0;
const FLAGS: usize = 1;
const BASE: usize = 2;

const INDICES: u32 = 1;
const DROPS_KEYS: u32 = 2;
/// A shift that leaves one pair of runs.
const ONE_PAIR: u32 = 63;

/// The kernels for keys of one width; those in pairs are without and with a payload.
struct Kernels {
    /// Where tiles begin, of few and of many.
    cuts: [Kernel; 2],
    tiles: [Kernel; 2],
    two_tiles: Kernel,
    merges: [Kernel; 2],
    /// Of few tiles, whose blocks search where they begin.
    merges_of_few: [Kernel; 2],
}

macro_rules! kernels {
    ($few_cuts:ident $cuts:ident, $tile:ident $tile_pairs:ident, $two:ident, $merge:ident $merge_pairs:ident, $few:ident $few_pairs:ident) => {
        Kernels {
            cuts: [$few_cuts, $cuts],
            tiles: [$tile, $tile_pairs],
            two_tiles: $two,
            merges: [$merge, $merge_pairs],
            merges_of_few: [$few, $few_pairs],
        }
    };
}

/// For keys of up to 4 bytes, and of 8.
const TABLE: [Kernels; 2] = [
    kernels!(
        SORT_BY_CUTS_FEW_K4 SORT_BY_CUTS_K4,
        SORT_BY_TILE_K4_P0 SORT_BY_TILE_K4_P4,
        SORT_BY_TWO_TILES_K4_P0,
        SORT_BY_MERGE_K4_P0 SORT_BY_MERGE_K4_P4,
        SORT_BY_MERGE_FEW_K4_P0 SORT_BY_MERGE_FEW_K4_P4
    ),
    kernels!(
        SORT_BY_CUTS_FEW_K8 SORT_BY_CUTS_K8,
        SORT_BY_TILE_K8_P0 SORT_BY_TILE_K8_P4,
        SORT_BY_TWO_TILES_K8_P0,
        SORT_BY_MERGE_K8_P0 SORT_BY_MERGE_K8_P4,
        SORT_BY_MERGE_FEW_K8_P0 SORT_BY_MERGE_FEW_K8_P4
    ),
];

/// Where a pass finds or leaves keys and payload; 0 for nowhere.
#[derive(Clone, Copy, Default)]
struct Side {
    keys: u64,
    payload: u64,
}

/// The kernels of an order of keys of one type.
struct Order<'a> {
    cuda: &'a Cuda,
    before: &'a Func,
    dtype: DType,
    numerics: Numerics,
    /// Whether something travels.
    pairs: bool,
}

/// Calls `f` with what fills the holes of a kernel.
pub(super) fn with_fills<R>(kernel: Kernel, order: &Func, dtype: DType, numerics: Numerics, f: impl FnOnce(&[Fill<'_>]) -> R) -> R {
    let body = |site: &Site<'_>| before(order, dtype, numerics, site);
    let keys = Held::low(dtype.size_bytes());
    keys::with_fills(kernel.holes(), (keys, keys), &[Fill { name: "before", body: &body }], f)
}

fn table(dtype: DType) -> &'static Kernels {
    &TABLE[usize::from(dtype.size_bytes() > 4)]
}

/// All kernels for keys of a type.
#[cfg(test)]
pub(super) fn kernels(dtype: DType) -> impl Iterator<Item = Kernel> {
    let Kernels { cuts, tiles, two_tiles, merges, merges_of_few } = table(dtype);
    [cuts, tiles, merges, merges_of_few].into_iter().flatten().chain([two_tiles]).copied()
}

impl Order<'_> {
    fn table(&self) -> &'static Kernels {
        table(self.dtype)
    }

    /// The kernel with its hole filled.
    fn kernel(&self, entry: Kernel) -> Result<module::Kernel> {
        let key = Key::new(self.dtype as u64).func(self.before).word(self.numerics as u64).0;
        if let Some(kernel) = self.cuda.known_kernel(&(entry, key)) {
            return Ok(kernel);
        }
        with_fills(entry, self.before, self.dtype, self.numerics, |fills| self.cuda.kernel((entry, key), fills))
    }

    fn tiles(&self, n: u64) -> u64 {
        n.div_ceil(MergeTiling::of(self.dtype).tile)
    }

    /// Sorts every tile by itself, or every two.
    fn sort_tiles(&self, n: u64, two: bool, from: Side, to: Side, flags: u32) -> Result<()> {
        let mut args = Args { n, ..Args::default() };
        (args.inputs[0].ptr, args.inputs[1].ptr) = (from.keys, from.payload);
        [args.out[0], args.out[1]] = [to.keys, to.payload];
        args.u[FLAGS] = flags;
        let kernels = self.table();
        let (entry, each) = if two { (kernels.two_tiles, 2) } else { (kernels.tiles[usize::from(self.pairs)], 1) };
        let kernel = self.kernel(entry)?;
        let grid = Grid::linear(blocks(self.tiles(n).div_ceil(each))?, THREADS * each as u32);
        // SAFETY: the task's contract: keys, values and outputs have `n` elements.
        unsafe { self.cuda.launch(&kernel, grid, &args) }
    }

    /// Merges pairs of runs, whose first ones `args` names.
    fn merge(&self, args: &mut Args, to: Side) -> Result<()> {
        let tiles = self.tiles(args.n);
        let many = tiles > SEARCHED * u64::from(self.cuda.info().multiprocessors);
        let merges = if many { self.table().merges } else { self.table().merges_of_few };
        let merge = self.kernel(merges[usize::from(self.pairs)])?;
        if many {
            args.out[0] = self.cuda.stream().scratch().get(self.cuda, Use::Partials, 8 * tiles)?;
            let most = usize::from(tiles > FEW_TILES);
            let kernel = self.kernel(self.table().cuts[most])?;
            // SAFETY: as in `sort_tiles`; scratch holds a number to a tile.
            unsafe { self.cuda.launch(&kernel, Grid::linear(blocks((tiles * SEARCHERS[most]).div_ceil(THREADS.into()))?, THREADS), args)? };
            args.scratch[0] = args.out[0];
        }
        [args.out[0], args.out[1]] = [to.keys, to.payload];
        // SAFETY: as above; blocks stay inside runs that are not sorted, too.
        unsafe { self.cuda.launch(&merge, Grid::linear(blocks(tiles)?, THREADS), args) }
    }
}

impl Cuda {
    fn source(&self, place: Option<Place<'_, Buffer>>, size: u64) -> Result<u64> {
        place.map_or(Ok(0), |(raw, offset)| Ok(self.address(raw, "an input")? + offset * size))
    }

    fn target(&self, out: Option<&Out<Buffer>>) -> Result<u64> {
        out.map_or(Ok(0), |out| Ok(self.address(&out.raw, "the output")? + out.offset * out.dtype.size_bytes()))
    }
}

impl Run<MergeSortTask> for Cuda {
    fn run(&self, task: &MergeSortTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let places = task.places(leaves, outs)?;
        let MergeSortTask { before, dtype, n, payload, keys_out, numerics, .. } = task;
        let (n, size, pairs) = (*n, dtype.size_bytes(), *payload != SortPayload::Nothing);
        let passes = task.tiling().passes(n);
        let order = Order { cuda: self, before, dtype: *dtype, numerics: *numerics, pairs };
        // The first launch may do the first pass, too.
        let two = !pairs && passes > 0 && TUNING.merge_sort_in_twos;
        let done = u32::from(two);
        // The last pass writes home, the one before away, and so on. Held until everything is enqueued.
        let room = |wanted: bool, size: u64| if wanted { self.allocate_bytes(n * size).map(Some) } else { Ok(None) };
        let [lent, more, payload_lent] = [places.keys_lent, places.more_keys_lent, places.payload_lent];
        let own = [
            room(!keys_out && more.is_none() && passes > 1, size)?,
            room(lent.is_none() && passes > done, size)?,
            room(pairs && payload_lent.is_none() && passes > 0, PAYLOAD)?,
        ];
        let place = |own: &Option<Buffer>, out: Option<&Out<Buffer>>| match own {
            Some(own) => self.address(own, "scratch"),
            None => self.target(out),
        };
        let home = Side { keys: place(&own[0], places.keys_out.or(more))?, payload: self.target(places.payload_out)? };
        let away = Side { keys: place(&own[1], lent)?, payload: place(&own[2], payload_lent)? };
        let source = Side { keys: self.source(Some(places.keys[0]), size)?, payload: self.source(places.values.map(|[v]| v), PAYLOAD)? };

        let side = |pass: u32| if (passes - pass).is_multiple_of(2) { home } else { away };
        let drops = |pass: u32| if pass == passes && !keys_out { DROPS_KEYS } else { 0 };
        let indices = if *payload == SortPayload::Indices { INDICES } else { 0 };
        order.sort_tiles(n, two, source, side(done), indices | drops(done))?;
        for pass in 1 + done..=passes {
            let (run, from) = (task.tiling().tile << (pass - 1), side(pass - 1));
            let mut args = Args { n, ..Args::default() };
            for (k, at) in [from.keys, from.keys + run * size, from.payload, from.payload + run * PAYLOAD].into_iter().enumerate() {
                args.inputs[k] = In { ptr: at, stride: run as i64 };
            }
            (args.u[SHIFT], args.u[FLAGS]) = (pass, drops(pass));
            order.merge(&mut args, side(pass))?;
        }
        Ok(())
    }
}

impl Run<MergeByTask> for Cuda {
    fn run(&self, task: &MergeByTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let places = task.places(leaves, outs)?;
        let MergeByTask { before, dtype, m, n, payload, numerics } = task;
        let size = dtype.size_bytes();
        let order = Order { cuda: self, before, dtype: *dtype, numerics: *numerics, pairs: *payload != SortPayload::Nothing };
        let mut args = Args { n: task.total(), ..Args::default() };
        for (k, len) in [*m, *n].into_iter().enumerate() {
            args.inputs[k] = In { ptr: self.source(Some(places.keys[k]), size)?, stride: len as i64 };
            args.inputs[2 + k].ptr = self.source(places.values.map(|values| values[k]), PAYLOAD)?;
        }
        let flags = if *payload == SortPayload::Indices { INDICES } else { 0 };
        (args.u[SHIFT], args.u[FLAGS], args.u[BASE]) = (ONE_PAIR, flags, *m as u32);
        let to = Side { keys: self.target(places.keys_out)?, payload: self.target(places.payload_out)? };
        order.merge(&mut args, to)
    }
}
