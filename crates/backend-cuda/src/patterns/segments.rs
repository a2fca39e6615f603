//! P05 segmented: a launch over segments, one over the tiles of the long ones, and one that joins their nodes; of few elements one for all.

use super::lines::Operators;
use super::scratch::Use;
use super::{Bound, blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::{Args, Grid};
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::SegmentedReduceTask;
use isowarp_kernels::Kernel;
use isowarp_kernels::{segments::*, segments_each::*};

const THREADS: u32 = 256;
/// Elements of a segment that is reduced together with others, at most, and of a tile of a longer one, by words of the accumulator.
const SHORT: u64 = 1024;
const TILE: [u64; 4] = [8192, 4096, 2048, 2048];
/// Elements of the segments that are reduced by a thread each, at most, and such segments of a thread; see `segments.cu`.
const STAGED: u64 = 6144;
const GROUP: u64 = 4;
/// Bytes of a tile and of a long segment in the list; see `segments.cu`.
const TILE_BYTES: u64 = 16;
const JOIN_BYTES: u64 = 16;
/// Counters of the list.
const COUNTERS_BYTES: u64 = 12;
/// Blocks to a multiprocessor at most: of segments, several times what fits, so that none waits long for one with many elements.
const SHORT_BLOCKS: u32 = 32;
const TILE_BLOCKS: u32 = 8;

/// Words of `u`.
const FLAGS: usize = 0;
const SEGMENTS: usize = 1;
const ROOM: usize = 2;
const JOINS: usize = 3;
const TOGETHER: usize = 4;
const STEPS: usize = 5;
const MEET: usize = 6;
const NOTHING: usize = 12;
const WIDE: u32 = 1;
const COUNTED: u32 = 2;
const BY_WARPS: u32 = 4;
const BY_BLOCKS: u32 = 8;
/// Steps of a launch that reduces the list of another: its tiles, and their nodes.
const TILES: u32 = 1;
const NODES: u32 = 2;

/// Elements up to which one launch is quicker than three: two are what the host takes longest for.
const FEW: u64 = 1 << 20;
/// Elements up to which blocks reduce what they find themselves; a mean length of segments from which on each has a block to itself, and one from which
/// on that block is large.
const ALONE: u64 = 1 << 16;
const ALONE_MEAN: u64 = 256;
const LARGE_MEAN: u64 = 4096;
const LARGE_THREADS: u32 = 1024;
/// Mean length of segments from which on a warp reduces one at a time; and where blocks would be few, each with many segments. On an H200 2^20 elements in
/// segments of 64 take 12 us so and 24 in blocks, of 256 7 and 54, of 1000 11 and 88; 2^24 in 128 74 and 51, in 256 46 and 61; 2^28 in 256 558 and 587.
const WARP_MEAN: u64 = 256;
const FEW_WARP_MEAN: u64 = 32;
const FEW_SEGMENTS: u64 = 256;
/// Mean lengths of segments that a block reduces one at a time, up to a tile.
const LONGER: std::ops::Range<u64> = 1024..4096;

const BLOCK_EACH: [Kernel; 4] = [SEGMENTS_EACH_W1, SEGMENTS_EACH_W2, SEGMENTS_EACH_W4, SEGMENTS_EACH_W4];
const LARGE_BLOCK_EACH: [Kernel; 4] = [SEGMENTS_ALONE_W1, SEGMENTS_ALONE_W2, SEGMENTS_ALONE_W4, SEGMENTS_ALONE_W4];
const TO_BLOCKS: [Kernel; 4] = [SEGMENTS_BLOCKS_W1, SEGMENTS_BLOCKS_W2, SEGMENTS_BLOCKS_W4, SEGMENTS_BLOCKS_W4];
const BLOCKS: [Kernel; 4] = [SEGMENTS_FEW_W1, SEGMENTS_FEW_W2, SEGMENTS_FEW_W4, SEGMENTS_FEW_W4];
const JOINT: [Kernel; 4] = [SEGMENTS_JOINT_W1, SEGMENTS_JOINT_W2, SEGMENTS_JOINT_W4, SEGMENTS_JOINT_W4];
const SHORTS: [Kernel; 4] = [SEGMENTS_SHORT_W1, SEGMENTS_SHORT_W2, SEGMENTS_SHORT_W4, SEGMENTS_SHORT_W4];
const WARPS: [Kernel; 4] = [SEGMENTS_WARPS_W1, SEGMENTS_WARPS_W2, SEGMENTS_WARPS_W4, SEGMENTS_WARPS_W4];
const LISTED: [Kernel; 4] = [SEGMENTS_LISTED_W1, SEGMENTS_LISTED_W2, SEGMENTS_LISTED_W4, SEGMENTS_LISTED_W4];

impl Run<SegmentedReduceTask> for Cuda {
    fn run(&self, task: &SegmentedReduceTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let places = task.places(leaves)?;
        let operators = Operators { load: &task.load, combine: &task.combine, finish: &task.finish, numerics: task.numerics };
        let mut bound = operators.bind(self, ("segmented reduction", task.n), places.leaves, outs)?;
        let w = operators.words();
        let args = &mut bound.args;
        let (raw, offset, dtype) = places.bounds;
        args.scratch[2] = self.address(raw, "the offsets")? + offset * dtype.size_bytes();
        if let Some((raw, offset)) = places.count {
            args.scratch[3] = self.address(raw, "the number of segments")? + offset * 4;
        }
        args.u[FLAGS] = if dtype == DType::U64 { WIDE } else { 0 } | if task.counted { COUNTED } else { 0 };
        args.u[SEGMENTS] = task.segments as u32;
        let words =
            task.nothing.iter().zip(task.parts()).flat_map(|(&bits, ty)| [bits as u32, (bits >> 32) as u32].into_iter().take(ty.words()));
        args.u[NOTHING..].iter_mut().zip(words).for_each(|(to, word)| *to = word);

        if !task.counted && task.n <= ALONE && task.n >= ALONE_MEAN * task.segments {
            let large = task.n >= LARGE_MEAN * task.segments;
            let (table, threads) = if large { (&LARGE_BLOCK_EACH, LARGE_THREADS) } else { (&BLOCK_EACH, THREADS) };
            return self.segments(&operators, table, &bound, task.segments, threads);
        }
        let several = u64::from(self.info().multiprocessors);
        // As many segments to a thread as their elements have room for and still leave every multiprocessor blocks.
        let threads = u64::from(THREADS);
        let fit = if task.counted { GROUP } else { STAGED / w as u64 * task.segments / (task.n.max(1) * threads) };
        let together = fit.min(task.segments / (threads * several * u64::from(TILE_BLOCKS))).clamp(1, GROUP);
        bound.args.u[TOGETHER] = together as u32;
        let mean = if task.segments <= FEW_SEGMENTS * several { FEW_WARP_MEAN } else { WARP_MEAN };
        let by_warps = !task.counted && task.n > ALONE && task.n >= mean * task.segments;
        let by_blocks = by_warps && LONGER.contains(&(task.n / task.segments.max(1)));
        let of_block = match by_warps {
            _ if by_blocks => 1,
            true => u64::from(THREADS / 32),
            false => threads * together,
        };
        let grid = task.segments.div_ceil(of_block).min(several * u64::from(SHORT_BLOCKS));
        if !task.counted && task.n <= ALONE {
            return self.segments(&operators, &BLOCKS, &bound, grid, THREADS);
        }
        bound.args.u[FLAGS] |= match by_warps {
            _ if by_blocks => BY_BLOCKS,
            true => BY_WARPS,
            false => 0,
        };
        let list = self.list_of_segments(task.n, w, &mut bound.args)?;
        if let Some(list) = &list
            && self.reduces_its_list(task.n, &mut bound.args)?
        {
            let kernel = operators.kernel(self, &JOINT, &bound)?;
            let resident = several * u64::from(kernel.resident_blocks(THREADS, 0)?);
            let grid = Grid::linear(blocks(grid.max(list.room).min(resident))?, THREADS);
            // SAFETY: as in `segments`; all blocks run at the same time.
            return unsafe { self.launch_together(&kernel, grid, &bound.args) };
        }
        let table = match by_warps {
            _ if by_blocks => &TO_BLOCKS,
            true => &WARPS,
            false => &SHORTS,
        };
        self.segments(&operators, table, &bound, grid, THREADS)?;
        list.map_or(Ok(()), |list| self.reduce_listed(&operators, &mut bound, &list))
    }
}

/// Tiles, and segments of several, that the list of long segments has room for.
pub(super) struct List {
    room: u64,
    joins: u64,
}

impl Cuda {
    /// Whether the launch that fills a list of `n` elements' segments may reduce it, too; then it has a place where its blocks meet.
    pub(super) fn reduces_its_list(&self, n: u64, args: &mut Args) -> Result<bool> {
        let may = n <= FEW && self.may_meet();
        if may {
            put_wide(&mut args.u, MEET, self.meeting()?);
        }
        Ok(may)
    }

    /// Puts the list of long segments of `n` elements into the arguments of the kernel that fills it. There is none where all are short.
    pub(super) fn list_of_segments(&self, n: u64, words: usize, args: &mut Args) -> Result<Option<List>> {
        if n <= SHORT {
            return Ok(None);
        }
        let tile = TILE[words - 1];
        // A tile that is not full is the last one of a segment that is longer than the short ones.
        let (room, joins) = (n / tile + n / SHORT + 1, n / tile + 1);
        if room > u64::from(u32::MAX) {
            return Err(Error::TooLarge { what: "tiles of segments", requested: room, limit: u32::MAX.into() });
        }
        let scratch = self.stream().scratch();
        args.scratch[0] = scratch.get(self, Use::Partials, room * (TILE_BYTES + 4 * words as u64) + joins * JOIN_BYTES)?;
        args.scratch[1] = scratch.get(self, Use::Counters, COUNTERS_BYTES)?;
        (args.u[ROOM], args.u[JOINS]) = (room as u32, joins as u32);
        Ok(Some(List { room, joins }))
    }

    /// Reduces the tiles of the list, and joins their nodes. The leaves, the elements and the list are those that the kernel had which filled it.
    pub(super) fn reduce_listed(&self, operators: &Operators<'_>, bound: &mut Bound, list: &List) -> Result<()> {
        bound.args.u[STEPS] = TILES | NODES;
        if self.may_meet() {
            put_wide(&mut bound.args.u, MEET, self.meeting()?);
            let kernel = operators.kernel(self, &LISTED, bound)?;
            let resident = u64::from(self.info().multiprocessors * kernel.resident_blocks(THREADS, 0)?);
            let grid = Grid::linear(blocks(list.room.min(resident))?, THREADS);
            // SAFETY: as in `segments`; all blocks run at the same time.
            return unsafe { self.launch_together(&kernel, grid, &bound.args) };
        }
        let join = bound.args.n > TILE[operators.words() - 1];
        let most = u64::from(self.info().multiprocessors * TILE_BLOCKS);
        // Where no segment has several tiles, none is joined, and blocks have nothing to meet for.
        if join {
            bound.args.u[STEPS] = TILES;
            self.segments(operators, &LISTED, bound, list.room.min(most), THREADS)?;
            bound.args.u[STEPS] = NODES;
        }
        self.segments(operators, &LISTED, bound, if join { list.joins } else { list.room }.min(most), THREADS)
    }

    fn segments(&self, operators: &Operators<'_>, table: &[Kernel; 4], bound: &Bound, grid: u64, threads: u32) -> Result<()> {
        let kernel = operators.kernel(self, table, bound)?;
        // SAFETY: the task's contract (views are inside their buffers, the bounds are as many as it says, outputs hold a result to a segment); bounds
        // are limited to the elements, and what the list has no room for is left out.
        unsafe { self.launch(&kernel, Grid::linear(blocks(grid)?, threads), &bound.args) }
    }
}
