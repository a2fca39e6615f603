//! P07 top-k: a sample says how far to look, one launch lists the keys up to there, and a launch to each digit finds the last of them.

use super::scratch::Use;
use super::tuning::TUNING;
use super::{blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::{Args, Grid};
use crate::memory::Buffer;
use isowarp_core::backend::{Backend as _, Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::patterns::{Digit, TopKTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::top_k::*;

/// Threads of the block that looks at samples, and their number.
const START_THREADS: u32 = 1024;
const SAMPLES: u64 = 16 * START_THREADS as u64;
const THREADS: u32 = 256;
/// Keys that a block reads at once, by bytes of a key (1, 2, 4, 8).
const STEP: [u64; 4] = [16 * THREADS as u64, 16 * THREADS as u64, 8 * THREADS as u64, 4 * THREADS as u64];
/// Words of the state.
const STATE_WORDS: u64 = 16 + 2048;

/// Words of `u`; see `top_k.cu`.
const RANK_OF_SAMPLE: usize = 0;
const ROOM: usize = 1;
const WANTED: usize = 2;
const START: usize = 3;
const BITS: usize = 4;
const SHIFT: usize = 5;
const DIGIT_BITS: usize = 6;
const OF_PHASE: usize = 7;
const NEGATIVE: usize = 8;
const FLIP: usize = 10;

/// What a digit is of.
const OF_KEYS: u32 = 0;
const OF_INDICES: u32 = 1;

/// By bytes of a key (1, 2, 4, 8): what samples, lists, counts and takes.
const TABLE: [[Kernel; 4]; 4] = [
    [TOP_K_START_K1, TOP_K_FILTER_K1, TOP_K_COUNT_K1, TOP_K_COLLECT_K1],
    [TOP_K_START_K2, TOP_K_FILTER_K2, TOP_K_COUNT_K2, TOP_K_COLLECT_K2],
    [TOP_K_START_K4, TOP_K_FILTER_K4, TOP_K_COUNT_K4, TOP_K_COLLECT_K4],
    [TOP_K_START_K8, TOP_K_FILTER_K8, TOP_K_COUNT_K8, TOP_K_COLLECT_K8],
];

impl Run<TopKTask> for Cuda {
    fn run(&self, task: &TopKTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ((raw, offset), out) = task.places(leaves, outs)?;
        let size = task.dtype.size_bytes();
        let kind = size.ilog2() as usize;
        let samples = SAMPLES.min(task.n);
        let room = task.room(samples);
        // Held until everything is enqueued.
        let values = self.allocate_bytes(room * size.max(4))?;
        let places = self.allocate_bytes(room * 4)?;
        let found = self.allocate_bytes(task.k * 4)?;

        let mut args = Args { n: task.n, ..Args::default() };
        args.inputs[0].ptr = self.address(raw, "an input")? + offset * size;
        args.out[0] = self.address(&found, "scratch")?;
        args.scratch[0] = self.stream().scratch().get(self, Use::Partials, 4 * STATE_WORDS)?;
        args.scratch[1] = self.address(&values, "scratch")?;
        args.scratch[2] = self.address(&places, "scratch")?;
        args.u[RANK_OF_SAMPLE] = task.sample_rank(samples) as u32;
        args.u[ROOM] = room as u32;
        args.u[WANTED] = task.k as u32;
        args.u[START] = task.bits.start;
        args.u[BITS] = task.bits.end - task.bits.start;
        let map = task.key_bits();
        put_wide(&mut args.u, NEGATIVE, map.negative);
        put_wide(&mut args.u, FLIP, map.flip);

        let [start, filter, count, collect] = TABLE[kind];
        let [start, filter, count, collect] =
            [self.kernel((start, 0), &[])?, self.kernel((filter, 0), &[])?, self.kernel((count, 0), &[])?, self.kernel((collect, 0), &[])?];
        let fill = u64::from(self.info().multiprocessors * TUNING.top_k_blocks);
        let grid = Grid::linear(blocks(task.n.div_ceil(STEP[kind]).min(fill))?, THREADS);
        // SAFETY: the task's contract (views are inside their buffers); scratch is as large as the kernels say.
        unsafe {
            self.launch(&start, Grid::linear(1, START_THREADS), &args)?;
            self.launch(&filter, grid, &args)?;
        }
        let digits = |digits: Vec<Digit>, phase: u32| digits.into_iter().map(move |digit| (digit, phase));
        for (digit, phase) in digits(task.key_digits(), OF_KEYS).chain(digits(task.index_digits(), OF_INDICES)) {
            (args.u[SHIFT], args.u[DIGIT_BITS], args.u[OF_PHASE]) = (digit.shift, digit.bits, phase);
            // SAFETY: as above.
            unsafe { self.launch(&count, grid, &args)? };
        }
        // SAFETY: as above.
        unsafe { self.launch(&collect, grid, &args)? };
        let leaf = Leaf::Elements { raw: found, dtype: DType::U32, offset: 0, stride: 1 };
        self.run(&task.sort_of_indices(), &[leaf], std::slice::from_ref(out))
    }
}
