//! P07 sort, the textbooks' algorithms: a launch for each that core asks for.

use super::{blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::{Args, Grid};
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::sort_variants::LOCAL_TILE;
use isowarp_core::patterns::sort_variants::network::{Network, NetworkStep, TILE};
use isowarp_core::patterns::sort_variants::sample::SamplePlan;
use isowarp_core::patterns::sort_variants::walk::{Digit, LaunchSort, SortBuckets, SortLaunch, SortWords, Sorting, walk};
use isowarp_core::patterns::{SortVariant, SortVariantTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::sort_variants::*;

const THREADS: u32 = 256;

/// Words of `u`; see `sort_variants.cu`.
const NEGATIVE: usize = 0;
const FLIP: usize = 2;
const MASK: usize = 4;
const RUN: usize = 6;
const DISTANCE: usize = 7;
const STEPS: usize = 8;
const HALO: usize = 9;
const GROUPS: usize = 10;
const STRIDE: usize = 11;
const BUCKETS: usize = 12;
const FLAGS: usize = 13;
const SAMPLES: usize = 14;
const BIT: usize = 15;

const RANKED: u32 = 4;

/// By bytes of a key (1, 2, 4, 8): to words, and back.
const KEYS: [[Kernel; 2]; 4] =
    [[SORT_LOAD_K1, SORT_STORE_K1], [SORT_LOAD_K2, SORT_STORE_K2], [SORT_LOAD_K4, SORT_STORE_K4], [SORT_LOAD_K8, SORT_STORE_K8]];

/// The kernels for words of four bytes, and of eight.
const WINDOWS: [Kernel; 2] = [SORT_WINDOWS_K4, SORT_WINDOWS_K8];
const EVERYWHERE: [Kernel; 2] = [SORT_EVERYWHERE_K4, SORT_EVERYWHERE_K8];
const TAKE_SAMPLES: [Kernel; 2] = [SORT_SAMPLES_K4, SORT_SAMPLES_K8];
const BOUNDS: [Kernel; 2] = [SORT_BOUNDS_K4, SORT_BOUNDS_K8];
const SCATTER: [Kernel; 2] = [SORT_SCATTER_K4, SORT_SCATTER_K8];
const TAKE_FLAGS: [Kernel; 2] = [SORT_FLAGS_K4, SORT_FLAGS_K8];
const SPLIT: [Kernel; 2] = [SORT_SPLIT_K4, SORT_SPLIT_K8];
/// With a key to a thread, and with four.
const LOCAL: [[Kernel; 2]; 2] = [[SORT_LOCAL_K4, SORT_LOCAL_K8], [SORT_LOCAL_COARSE_K4, SORT_LOCAL_COARSE_K8]];
const RUNS: [Kernel; 2] = [SORT_RUNS_K4, SORT_RUNS_K8];

impl Run<SortVariantTask> for Cuda {
    fn run(&self, task: &SortVariantTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        if task.variant == SortVariant::Radix {
            return self.run(&task.sort, leaves, outs);
        }
        walk(self, task, leaves, outs)
    }
}

/// A launch as it is put together.
struct Call<'a> {
    cuda: &'a Cuda,
    args: Args,
}

impl Call<'_> {
    fn reads(&mut self, first: usize, words: &SortWords<Buffer>) -> Result<()> {
        self.args.inputs[first].ptr = self.cuda.address(&words.keys, "scratch")?;
        if let Some(payload) = &words.payload {
            self.args.inputs[first + 1].ptr = self.cuda.address(payload, "scratch")?;
        }
        Ok(())
    }

    fn writes(&mut self, words: &SortWords<Buffer>) -> Result<()> {
        self.args.out[0] = self.cuda.address(&words.keys, "scratch")?;
        if let Some(payload) = &words.payload {
            self.args.out[1] = self.cuda.address(payload, "scratch")?;
        }
        Ok(())
    }

    fn network(&mut self, step: NetworkStep) {
        (self.args.u[RUN], self.args.u[DISTANCE]) = (step.run as u32, step.distance as u32);
        self.args.u[FLAGS] |= match step.network {
            Network::Transposition => 0,
            Network::Bitonic => 1,
            Network::OddEvenMerge => 2,
        };
    }

    /// What is sorted by itself; `groups` blocks to each bucket.
    fn ranges(&mut self, n: u64, buckets: Option<SortBuckets<'_, Buffer>>, groups: impl Fn(u64) -> u64) -> Result<u64> {
        let each = groups(buckets.map_or(n, |b| b.most));
        (self.args.n, self.args.u[GROUPS]) = (n, each as u32);
        if let Some(b) = buckets {
            (self.args.u[STRIDE], self.args.u[BUCKETS]) = (b.stride as u32, b.count as u32);
            self.args.scratch[0] = self.cuda.address(b.starts, "scratch")?;
        }
        Ok(each * buckets.map_or(1, |b| b.count))
    }

    fn plan(&mut self, plan: SamplePlan) {
        (self.args.u[STRIDE], self.args.u[BUCKETS], self.args.u[SAMPLES]) = (plan.tiles as u32, plan.buckets as u32, plan.samples as u32);
        self.args.inputs[0].stride = plan.n as i64;
    }

    fn digit(&mut self, digit: Digit, n: u64) {
        self.args.n = n;
        (self.args.u[BIT], self.args.u[BUCKETS]) = (digit.bit, digit.buckets() as u32);
        (self.args.u[STRIDE], self.args.u[RUN]) = (digit.tiles as u32, digit.tile as u32);
    }

    fn run(&self, kernel: Kernel, groups: u64) -> Result<()> {
        let kernel = self.cuda.kernel((kernel, 0), &[])?;
        // SAFETY: what core's walk says of the launch: its memory has as many words as the kernel is told, in one row of the task's keys.
        unsafe { self.cuda.launch(&kernel, Grid::linear(blocks(groups)?, THREADS), &self.args) }
    }

    /// A thread to each of `n`.
    fn over(mut self, kernel: Kernel, n: u64) -> Result<()> {
        self.args.n = n;
        self.run(kernel, n.div_ceil(THREADS.into()))
    }
}

impl LaunchSort for Cuda {
    fn launch_sort(&self, sorting: &Sorting<'_, Buffer>, launch: SortLaunch<'_, Buffer>) -> Result<()> {
        let (task, places) = (sorting.task, &sorting.places);
        let size = task.dtype.size_bytes();
        let (keys, wide) = (KEYS[size.ilog2() as usize], usize::from(size == 8));
        let mut call = Call { cuda: self, args: Args::default() };
        let map = task.key_bits();
        put_wide(&mut call.args.u, NEGATIVE, map.negative);
        put_wide(&mut call.args.u, FLIP, map.flip);
        put_wide(&mut call.args.u, MASK, sorting.mask());
        call.args.u[FLAGS] = if sorting.ranked { RANKED } else { 0 };
        let values = |read: bool| -> Result<u64> {
            places.values.filter(|_| read).map_or(Ok(0), |(raw, offset)| Ok(self.address(raw, "an input")? + offset * 4))
        };
        match launch {
            SortLaunch::Load { to } => {
                call.args.inputs[0].ptr = self.address(places.keys.0, "an input")? + places.keys.1 * size;
                call.args.inputs[1].ptr = values(!sorting.ranked)?;
                call.writes(to)?;
                call.over(keys[0], task.n)
            }
            SortLaunch::Store { from, spare: _ } => {
                call.reads(0, from)?;
                call.args.inputs[2].ptr = values(sorting.ranked)?;
                for (to, out) in call.args.out.iter_mut().zip([places.keys_out, places.payload_out]) {
                    *to = match out {
                        Some(out) => self.address(&out.raw, "the output")? + out.offset * out.dtype.size_bytes(),
                        None => 0,
                    };
                }
                call.over(keys[1], task.n)
            }
            SortLaunch::Windows { first, steps, halo, buckets, from, to } => {
                call.network(first);
                (call.args.u[STEPS], call.args.u[HALO]) = (steps as u32, halo as u32);
                let groups = call.ranges(from.n, buckets, |n| n.div_ceil(TILE - 2 * halo))?;
                call.reads(0, from)?;
                call.writes(to)?;
                call.run(WINDOWS[wide], groups)
            }
            SortLaunch::Everywhere { step, buckets, at } => {
                call.network(step);
                let groups = call.ranges(at.n, buckets, |n| step.pairs(n).div_ceil(THREADS.into()))?;
                call.writes(at)?;
                call.run(EVERYWHERE[wide], groups)
            }
            SortLaunch::Samples { from, to } => {
                call.reads(0, from)?;
                call.writes(to)?;
                call.over(TAKE_SAMPLES[wide], to.n)
            }
            SortLaunch::Bounds { plan, from, samples, starts, counts } => {
                call.plan(plan);
                call.reads(0, from)?;
                call.reads(2, samples)?;
                (call.args.out[0], call.args.out[1]) = (self.address(starts, "scratch")?, self.address(counts, "scratch")?);
                call.over(BOUNDS[wide], plan.table())
            }
            SortLaunch::Scatter { plan, from, starts, offsets, to } => {
                call.plan(plan);
                call.reads(0, from)?;
                (call.args.scratch[0], call.args.scratch[1]) = (self.address(starts, "scratch")?, self.address(offsets, "scratch")?);
                call.writes(to)?;
                call.over(SCATTER[wide], plan.n)
            }
            SortLaunch::Flags { from, bit, flags } => {
                call.args.u[BIT] = bit;
                call.reads(0, from)?;
                call.args.out[0] = self.address(flags, "scratch")?;
                call.over(TAKE_FLAGS[wide], from.n)
            }
            SortLaunch::Local { digit, from, to, starts, counts } => {
                call.digit(digit, from.n);
                call.reads(0, from)?;
                call.writes(to)?;
                (call.args.scratch[0], call.args.scratch[1]) = (self.address(starts, "scratch")?, self.address(counts, "scratch")?);
                call.run(LOCAL[usize::from(digit.tile > LOCAL_TILE)][wide], digit.tiles)
            }
            SortLaunch::Runs { digit, from, starts, offsets, to } => {
                call.digit(digit, from.n);
                call.reads(0, from)?;
                (call.args.scratch[0], call.args.scratch[1]) = (self.address(starts, "scratch")?, self.address(offsets, "scratch")?);
                call.writes(to)?;
                call.over(RUNS[wide], from.n)
            }
            SortLaunch::Split { from, bit, ones, to } => {
                call.args.u[BIT] = bit;
                call.reads(0, from)?;
                call.args.inputs[2].ptr = self.address(ones, "scratch")?;
                call.writes(to)?;
                call.over(SPLIT[wide], from.n)
            }
        }
    }
}
