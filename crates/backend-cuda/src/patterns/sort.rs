//! P07 sort: a histogram of all digits, then a launch to each, which reads and writes keys and payload once.

use super::keys::Held;
use super::scan::HEADER_WORDS;
use super::scratch::Use;
use super::{blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::{Args, Grid};
use crate::memory::Buffer;
use crate::module;
use isowarp_core::backend::{Backend as _, Leaf, Out, RawBuffer as _, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::plan::tiles;
use isowarp_core::patterns::{Digit, SortPayload, SortPlaces, SortTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::sort::*;
use std::sync::atomic::Ordering;

/// Bits of a digit.
const DIGIT: u32 = 8;
pub(super) const RADIX: u64 = 1 << DIGIT;
/// Threads of a block of `sort_pass_*`, and its keys for each: without a payload, with one, and where either has more than 4 bytes; and of passes over
/// parts.
pub(super) const THREADS: u32 = 384;
const ITEMS: [u64; 3] = [19, 22, 11];
const ITEMS_OF_PARTS: [u64; 3] = [23, 22, 11];
pub(super) const HISTOGRAM_THREADS: u32 = 256;
/// Keys that a block of `sort_histogram_*` reads at once, and blocks of it to a multiprocessor.
const HISTOGRAM_STEP: u64 = 2048;
pub(super) const HISTOGRAM_BLOCKS: u32 = 8;
/// 32-bit words of the passes' plans.
const PLAN_WORDS: u64 = 8;
/// Launch numbers share a word with a bit.
const MOST_EPOCHS: u32 = u32::MAX / 2 - 1;

/// Words of `u`; see `sort.cu`.
pub(super) const N: usize = 0;
pub(super) const ROWS: usize = 1;
pub(super) const TILES: usize = 2;
const TILES_OF_ROW: usize = 3;
const PASS: usize = 4;
const PLAN: usize = 5;
pub(super) const SHIFT: usize = 6;
pub(super) const MASK: usize = 7;
const NEGATIVE: usize = 8;
const FLIP: usize = 10;
pub(super) const FLAGS: usize = 12;
pub(super) const EPOCHS: usize = 13;
pub(super) const PASSES: usize = 14;
const CHUNKS: usize = 15;

const INDICES: u32 = 1;
const DROPS_KEYS: u32 = 2;
const IN_PLACE: u32 = 4;
const ALONE: u32 = 8;

const READS_SOURCE: u32 = 2;
const READS_AWAY: u32 = 4;
const WRITES_AWAY: u32 = 8;
const LAST: u32 = 16;

/// Kernels for keys of up to 4 bytes, and of 8: histograms, and passes by bytes of the payload (0, 4, 8).
const TABLE: [(Kernel, [Kernel; 3]); 2] = [
    (SORT_HISTOGRAM_K4, [SORT_PASS_K4_P0, SORT_PASS_K4_P4, SORT_PASS_K4_P8]),
    (SORT_HISTOGRAM_K8, [SORT_PASS_K8_P4, SORT_PASS_K8_P4, SORT_PASS_K8_P8]),
];

impl Run<SortTask> for Cuda {
    fn run(&self, task: &SortTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let places = task.places(leaves, outs)?;
        if task.is_of_short_rows(&places, super::segmented_sort::SHORT) {
            return task.rows_as_segments(self, leaves, outs);
        }
        let size = task.dtype.size_bytes();
        let digits = digits(task, &places);
        // Held until everything is enqueued.
        let mut args = Args::default();
        let _temporaries = self.bind_sort(task, &places, digits.len(), &mut args)?;

        let tile = tile_of(size, places.payload_bytes, false);
        let tiles_of_row = tiles(task.n, tile);
        let grid = Grid::linear(blocks(task.rows * tiles_of_row)?, THREADS);
        let (histogram, passes) = TABLE[usize::from(size > 4)];
        let pass = self.key_kernel(passes[places.payload_bytes as usize / 4], size)?;
        let alone = tiles_of_row == 1;
        for (word, value) in [
            (N, task.n as u32),
            (ROWS, task.rows as u32),
            (TILES, grid.blocks[0]),
            (TILES_OF_ROW, tiles_of_row as u32),
            (PASSES, digits.len() as u32),
            (EPOCHS, self.epochs_of_sorts()),
        ] {
            args.u[word] = value;
        }
        args.u[FLAGS] |= if alone { ALONE } else { 0 };
        if !alone {
            self.plan_sort(task, histogram, digits.len() as u64, &mut args)?;
        }
        self.sort_passes(&digits, &pass, grid, &mut args)
    }
}

/// Keys of a tile, of an array or of a part of one, by bytes of a key and of its payload.
pub(super) fn tile_of(size: u64, payload: u64, part: bool) -> u64 {
    let kind = if size.max(payload) > 4 { 2 } else { usize::from(payload > 0) };
    let items = if part { ITEMS_OF_PARTS } else { ITEMS };
    items[kind] * u64::from(THREADS)
}

/// The digits of the passes. A sort in place ends where it started after an even number of them.
pub(super) fn digits(task: &SortTask, places: &SortPlaces<'_, Buffer>) -> Vec<Digit> {
    let mut digits = task.digits(DIGIT);
    digits.iter_mut().for_each(|digit| digit.shift += raised(task.dtype.size_bytes()));
    if in_place(places) && digits.len() % 2 == 1 {
        digits.push(Digit { shift: 0, bits: 0 });
    }
    digits
}

/// Shift of a key's bits in the word that a kernel holds it in: narrow keys are its high bits, so that one kernel sorts all of up to 4 bytes.
pub(super) fn raised(size: u64) -> u32 {
    Held::high(size).below
}

fn in_place(places: &SortPlaces<'_, Buffer>) -> bool {
    places.keys_out.is_some_and(|o| o.raw.same(places.keys.0) && o.offset == places.keys.1)
}

fn mask(digit: Digit) -> u32 {
    (1 << digit.bits) - 1
}

impl Cuda {
    /// Addresses of the source, of home, where the last pass writes, and of away, where the one before does; and what kind of sort it is. Returns
    /// the memory that the sort takes for itself.
    pub(super) fn bind_sort(
        &self,
        task: &SortTask,
        places: &SortPlaces<'_, Buffer>,
        passes: usize,
        args: &mut Args,
    ) -> Result<[Option<Buffer>; 3]> {
        let (size, payload) = (task.dtype.size_bytes(), places.payload_bytes);
        let room = |wanted: bool, size: u64| if wanted { self.allocate_bytes(task.elements() * size).map(Some) } else { Ok(None) };
        let home = room(places.keys_out.is_none() && passes > 2, size)?;
        let away = room(places.keys_lent.is_none() && passes > 1, size)?;
        let away_payload = room(places.payload_lent.is_none() && payload > 0 && passes > 1, payload)?;
        args.inputs[0].ptr = self.address(places.keys.0, "an input")? + places.keys.1 * size;
        if let Some((raw, offset)) = places.values {
            args.inputs[1].ptr = self.address(raw, "an input")? + offset * payload;
        }
        let lent = [
            (&home, places.keys_out, size),
            (&None, places.payload_out, payload),
            (&away, places.keys_lent, size),
            (&away_payload, places.payload_lent, payload),
        ];
        for (to, (own, out, size)) in args.out.iter_mut().zip(lent) {
            *to = match (own, out) {
                (Some(own), _) => self.address(own, "scratch")?,
                (None, Some(out)) => self.address(&out.raw, "the output")? + out.offset * size,
                (None, None) => 0,
            };
        }
        let map = task.key_bits();
        put_wide(&mut args.u, NEGATIVE, map.negative << raised(size));
        put_wide(&mut args.u, FLIP, map.flip << raised(size));
        let flags = [(task.payload == SortPayload::Indices, INDICES), (!task.keys_out, DROPS_KEYS), (in_place(places), IN_PLACE)];
        args.u[FLAGS] = flags.into_iter().map(|(is, flag)| if is { flag } else { 0 }).sum();
        Ok([home, away, away_payload])
    }

    pub(super) fn epochs_of_sorts(&self) -> u32 {
        self.device().launch_numbers.load(Ordering::Relaxed).min(MOST_EPOCHS)
    }

    /// A launch to each digit.
    pub(super) fn sort_passes(&self, digits: &[Digit], pass: &module::Kernel, grid: Grid, args: &mut Args) -> Result<()> {
        for (k, digit) in digits.iter().enumerate() {
            let left = digits.len() - 1 - k;
            args.u[PASS] = k as u32;
            args.u[PLAN] = if k == 0 { READS_SOURCE } else { 0 }
                | if left % 2 == 1 { WRITES_AWAY } else { READS_AWAY }
                | if left == 0 { LAST } else { 0 };
            (args.u[SHIFT], args.u[MASK]) = (digit.shift, mask(*digit));
            // SAFETY: the task's contract (views are inside their buffers); memory away and scratch are as large as the kernel says.
            unsafe { self.launch(pass, grid, args)? };
        }
        Ok(())
    }

    /// Counts the values of all digits, and decides on the device where each pass puts them and which passes are left out.
    fn plan_sort(&self, task: &SortTask, histogram: Kernel, passes: u64, args: &mut Args) -> Result<()> {
        let counters = task.rows * passes * RADIX;
        let scratch = self.stream().scratch();
        args.scratch[0] = scratch.get(self, Use::Sort, 8 * (HEADER_WORDS + u64::from(args.u[TILES]) * RADIX))?;
        args.scratch[1] = scratch.get(self, Use::Partials, 4 * (PLAN_WORDS + counters))?;
        args.scratch[2] = scratch.get(self, Use::Counters, 4 * counters)?;
        let histogram = self.key_kernel(histogram, task.dtype.size_bytes())?;
        let kernels: [module::Kernel; 2] = [histogram, self.kernel((SORT_PLAN, 0), &[])?];
        let fill = u64::from(self.info().multiprocessors * HISTOGRAM_BLOCKS).div_ceil(task.rows);
        let chunks = tiles(task.n, HISTOGRAM_STEP).min(fill);
        args.u[CHUNKS] = chunks as u32;
        let above = raised(task.dtype.size_bytes());
        (args.u[SHIFT], args.u[MASK]) = (task.bits.start + above, task.bits.end + above);
        // SAFETY: as in `run`; scratch holds counters, starts and plans.
        unsafe {
            self.launch(&kernels[0], Grid::linear(blocks(task.rows * chunks)?, HISTOGRAM_THREADS), args)?;
            self.launch(&kernels[1], Grid::linear(blocks(task.rows)?, RADIX as u32), args)
        }
    }
}
