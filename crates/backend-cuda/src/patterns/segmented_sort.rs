//! P05 sorts of segments: a launch over windows of the array for the short ones, and a radix sort's launches over tiles of the long ones; of few keys one in
//! their place, and where segments are few, too, one in all.

use super::blocks;
use super::scan::HEADER_WORDS;
use super::scratch::Use;
use super::sort::{
    EPOCHS, FLAGS, HISTOGRAM_BLOCKS, HISTOGRAM_THREADS, MASK, N, PASSES, RADIX, ROWS, SHIFT, THREADS, TILES, digits, raised, tile_of,
};
use crate::backend::Cuda;
use crate::launch::{Args, Grid};
use crate::memory::Buffer;
use crate::module;
use isowarp_core::backend::{Backend as _, Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::patterns::SegmentedSortTask;
use isowarp_kernels::Kernel;
use isowarp_kernels::segmented_short::*;
use isowarp_kernels::segmented_sort::*;

/// Keys of a short part at most, and of a window of the array whose short parts a block sorts; and its threads.
pub(super) const SHORT: u64 = 1024;
const WINDOW: u64 = 3072;
const SHORT_THREADS: u32 = 512;
const WINDOWS_THREADS: u32 = 256;
/// Bytes of a window, of a part of one tile, and of what counts both and tiles of longer ones; see `segmented_sort.cu`.
const WINDOW_BYTES: u64 = 16;
const ALONE_BYTES: u64 = 8;
const LISTED_BYTES: u64 = 16;
/// Blocks to a multiprocessor, about those that fit: of short parts, of parts of one tile, and of tiles.
const SHORT_BLOCKS: u32 = 3;
const REST_BLOCKS: u32 = 3;
const RESIDENT: u32 = 2;
/// Keys up to which one launch is quicker than those of all digits, most of which find nothing to do; and parts to a multiprocessor up to which each has a
/// block to itself then.
const FEW: u64 = 1 << 20;
const EACH_PARTS: u64 = 4;
/// Arrays of numbers that say where tiles lie.
const TABLE_ROWS: u64 = 3;
/// Bits of `u[FLAGS]`: what is in no segment is left out; windows find their parts themselves; blocks meet; each part has one; bounds are offsets as they
/// were given, and these are wide; not all bits of keys are compared.
const LEAVES_REST: u32 = 16;
const FINDS: u32 = 32;
const TOGETHER: u32 = 64;
const EACH: u32 = 128;
const GIVEN: u32 = 256;
const WIDE: u32 = 512;
const SOME_BITS: u32 = 1024;

/// Kernels of short parts: for keys of up to 2 bytes, of up to 4, and of 8; and for keys alone by all of their bits.
const SHORT_PARTS: [Kernel; 3] = [SEGMENTED_SHORT_K2, SEGMENTED_SHORT_K4, SEGMENTED_SHORT_K8];
const SHORT_ALL_BITS: [Kernel; 2] = [SEGMENTED_SHORT_ALL_BITS_K4, SEGMENTED_SHORT_ALL_BITS_K8];
/// Kernels for keys of up to 4 bytes, and of 8, those in pairs without a payload and with one of 4 bytes: sorts of parts of one tile, or of all that are not
/// short; histograms of longer ones; and their passes.
const TABLE: [([Kernel; 2], Kernel, [Kernel; 2]); 2] = [
    ([SEGMENTED_REST_K4_P0, SEGMENTED_REST_K4_P4], SEGMENTED_HISTOGRAM_K4, [SEGMENTED_PASS_K4_P0, SEGMENTED_PASS_K4_P4]),
    ([SEGMENTED_REST_K8_P4; 2], SEGMENTED_HISTOGRAM_K8, [SEGMENTED_PASS_K8_P4; 2]),
];

impl Run<SegmentedSortTask> for Cuda {
    fn run(&self, task: &SegmentedSortTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let places = task.places(leaves, outs)?;
        let (sort, of) = (&task.sort, &places.sort);
        let (size, n) = (sort.dtype.size_bytes(), sort.n);
        let tile = tile_of(size, of.payload_bytes, true);
        // Kinds of parts that there may be decide which kernels there are.
        let (some_alone, some_long) = (n > SHORT, n > tile);
        let digits = if some_long { digits(sort, of) } else { Vec::new() };
        let mut args = Args::default();
        let _temporaries = self.bind_sort(sort, of, digits.len(), &mut args)?;

        // Every part has one tile that is not full, at most; longer ones have more keys than a tile, or than the short ones.
        let tiles = if some_long { n / tile + task.parts.min(n / (tile + 1)) + 1 } else { 0 };
        let alone = task.parts.min(n / (SHORT + 1));
        let windows = n.div_ceil(WINDOW);
        let counts = 4 * tiles * digits.len() as u64 * RADIX;
        let room = [LISTED_BYTES, windows * WINDOW_BYTES, alone * ALONE_BYTES, 4 * TABLE_ROWS * tiles, counts];
        let scratch = self.allocate_bytes(room.iter().sum())?;
        let start = self.address(&scratch, "scratch")?;
        let [mut listed, of_windows, of_one_tile, table, counts] = std::array::from_fn(|k| start + room[..k].iter().sum::<u64>());
        let few = n <= FEW && self.may_meet();
        if few {
            listed = self.stream().scratch().get(self, Use::Counters, LISTED_BYTES)?;
            args.scratch[3] = self.meeting()?;
        } else {
            self.fill(&scratch, 0, LISTED_BYTES, &[0])?;
        }
        (args.inputs[2].ptr, args.inputs[4].ptr, args.inputs[5].ptr) = (listed, of_one_tile, of_windows);
        (args.scratch[1], args.scratch[2]) = (counts, table);
        for (word, value) in [
            (N, n as u32),
            (ROWS, task.parts as u32),
            (TILES, blocks(tiles)?),
            (PASSES, digits.len() as u32),
            (EPOCHS, self.epochs_of_sorts()),
            (SHIFT, sort.bits.start + raised(size)),
            (MASK, sort.bits.end + raised(size)),
        ] {
            args.u[word] = value;
        }

        let several = u64::from(self.info().multiprocessors);
        let finds = windows <= several * u64::from(SHORT_BLOCKS);
        let each = few && some_alone && task.parts <= several * EACH_PARTS;
        let given = each && task.given;
        let (raw, offset, dtype) = places.bounds;
        // Held until everything is enqueued. Blocks that have a part each make of offsets what they need.
        let bounds = if given { None } else { Some(task.bounds(self, &places)?) };
        args.inputs[3].ptr = match &bounds {
            None => self.address(raw, "the offsets")? + offset * dtype.size_bytes(),
            Some(bounds) => self.address(bounds.raw(), "the bounds")? + 4 * bounds.offset(),
        };
        let wide = given && dtype == DType::U64;
        let all_bits = sort.bits.start == 0 && u64::from(sort.bits.end) == 8 * size;
        let flags = [
            (!task.keeps_rest, LEAVES_REST),
            (finds, FINDS),
            (few, TOGETHER),
            (each, EACH),
            (given, GIVEN),
            (wide, WIDE),
            (!all_bits, SOME_BITS),
        ];
        args.u[FLAGS] |= flags.into_iter().map(|(is, flag)| if is { flag } else { 0 }).sum::<u32>();
        let (rest, histogram, passes) = TABLE[usize::from(size > 4)];
        let payload = usize::from(of.payload_bytes > 0);
        let by_words = SHORT_PARTS[(size.ilog2() as usize).saturating_sub(1)];
        let short = if payload == 0 && all_bits { SHORT_ALL_BITS[usize::from(size > 4)] } else { by_words };
        let resident = several * u64::from(RESIDENT);
        let launch = |kernel: &module::Kernel, grid: u64, threads: u32, args: &Args| {
            // SAFETY: the task's contract (views are inside their buffers, bounds do not fall); scratch is as large as the kernels say.
            unsafe { self.launch(kernel, Grid::linear(blocks(grid)?, threads), args) }
        };
        let of_keys = |kernel: Kernel| self.key_kernel(kernel, size);
        if !finds {
            launch(&self.kernel((SEGMENTED_WINDOWS, 0), &[])?, windows.div_ceil(WINDOWS_THREADS.into()), WINDOWS_THREADS, &args)?;
        }
        if !each {
            launch(&of_keys(short)?, windows.min(several * u64::from(SHORT_BLOCKS)), SHORT_THREADS, &args)?;
        }
        if !some_alone {
            return Ok(());
        }
        if few {
            args.scratch[0] = self.stream().scratch().get(self, Use::Sort, 8 * (HEADER_WORDS + tiles * RADIX))?;
            let kernel = of_keys(rest[payload])?;
            let resident = several * u64::from(kernel.resident_blocks(THREADS, 0)?);
            let wanted = tiles.max(if each { task.parts } else { alone });
            let grid = Grid::linear(blocks(wanted.min(resident))?, THREADS);
            // SAFETY: as above; all blocks run at the same time.
            return unsafe { self.launch_together(&kernel, grid, &args) };
        }
        launch(&of_keys(rest[payload])?, alone.min(several * u64::from(REST_BLOCKS)), THREADS, &args)?;
        if !some_long {
            return Ok(());
        }
        let fill = several * u64::from(HISTOGRAM_BLOCKS);
        launch(&of_keys(histogram)?, tiles.min(fill), HISTOGRAM_THREADS, &args)?;
        launch(&self.kernel((SEGMENTED_PLAN, 0), &[])?, tiles.min(fill), RADIX as u32, &args)?;
        args.scratch[0] = self.stream().scratch().get(self, Use::Sort, 8 * (HEADER_WORDS + tiles * RADIX))?;
        let pass = of_keys(passes[payload])?;
        self.sort_passes(&digits, &pass, Grid::linear(blocks(tiles.min(resident))?, THREADS), &mut args)
    }
}
