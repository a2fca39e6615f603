//! P07 sort, the textbooks' algorithms: a dispatch for each launch that core asks for.

use super::Launch;
use super::operands::Signature;
use super::place::{Place, most};
use super::program::{Operators, Program};
use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::caps::Numerics;
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::sort_variants::LOCAL_TILE;
use isowarp_core::patterns::sort_variants::network::{HALO, Network, NetworkStep, TILE};
use isowarp_core::patterns::sort_variants::sample::{APART, SamplePlan};
use isowarp_core::patterns::sort_variants::walk::{Digit, LaunchSort, SortBuckets, SortLaunch, SortWords, Sorting, walk};
use isowarp_core::patterns::{SortVariant, SortVariantTask};
use isowarp_shaders::kernels::SORT_VARIANTS;

/// Invocations of a workgroup.
const THREADS: u32 = 256;

/// The parameters, by their places behind the first element's index.
const N: usize = 0;
const BLOCKS: usize = 1;
const SKIP_A: usize = 2;
const SKIP_V: usize = 3;
const SKIP_KEYS: usize = 4;
const SKIP_PAYLOAD: usize = 5;
const SIGN_BIT: usize = 6;
const NEGATIVE: usize = 7;
const FLIP: usize = 9;
const MASK: usize = 11;
const RUN: usize = 13;
const DISTANCE: usize = 14;
const STEPS: usize = 15;
const HALO_ARG: usize = 16;
const GROUPS: usize = 17;
const STRIDE: usize = 18;
const BUCKETS: usize = 19;
const KEYS: usize = 20;
const SAMPLES: usize = 21;
const BIT: usize = 22;
const WORDS: usize = 23;

/// Which kernel of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Load,
    Store,
    Windows(Network),
    Everywhere(Network),
    Samples,
    Bounds,
    Scatter,
    Flags,
    Split,
    /// So many keys to an invocation.
    Local(u64),
    Runs,
}

/// What a kernel's text depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// Bytes of a key where it lies.
    pub(super) key_bytes: u64,
    /// Whether something travels.
    pub(super) pairs: bool,
    /// Whether it is the keys' places, and equal keys are ordered by it.
    pub(super) ranked: bool,
    /// Whether buckets are sorted.
    pub(super) buckets: bool,
    /// Whether the task's values are read: what travels, or at the end what lies at the places that did.
    pub(super) values: bool,
}

pub(super) fn holes(step: Step, form: Form) -> Vec<(&'static str, u32)> {
    let Form { key_bytes, pairs, ranked, buckets, values } = form;
    let is = |yes: bool| u32::from(yes);
    let wide = key_bytes == 8;
    let (windows, everywhere) = (matches!(step, Step::Windows(_)), matches!(step, Step::Everywhere(_)));
    let (load, bounds) = (step == Step::Load, step == Step::Bounds);
    let reads = !load && !everywhere;
    let writes = !bounds && step != Step::Flags;
    let (local, runs, scatter) = (matches!(step, Step::Local(_)), step == Step::Runs, step == Step::Scatter);
    let items = if let Step::Local(items) = step { items } else { 1 };
    let network = match step {
        Step::Windows(network) | Step::Everywhere(network) => network as u32,
        _ => 0,
    };
    vec![
        ("threads", THREADS),
        ("tile", TILE as u32),
        ("apart", APART as u32),
        ("key_bytes", key_bytes as u32),
        ("wide", is(wide)),
        ("pairs", is(pairs)),
        ("ranked", is(ranked)),
        ("network", network),
        ("load", is(load)),
        ("store", is(step == Step::Store)),
        ("windows", is(windows)),
        ("everywhere", is(everywhere)),
        ("samples", is(step == Step::Samples)),
        ("bounds", is(bounds)),
        ("scatter", is(scatter)),
        ("flags", is(step == Step::Flags)),
        ("split", is(step == Step::Split)),
        ("local", is(local)),
        ("runs", is(runs)),
        ("items", items as u32),
        ("reads_offsets", is(scatter || runs)),
        ("writes_tables", is(bounds || local)),
        ("buckets", is(buckets)),
        ("loads_words", is(load && !wide)),
        ("loads_pairs", is(load && wide)),
        ("reads_words", is(reads && !wide)),
        ("reads_pairs", is(reads && wide)),
        ("reads_payload", is(reads && pairs && step != Step::Flags)),
        ("reads_values", is(values && pairs && (load != ranked) && matches!(step, Step::Load | Step::Store))),
        ("samples_words", is(bounds && !wide)),
        ("samples_pairs", is(bounds && wide)),
        ("reads_starts", is(scatter || runs || buckets && (windows || everywhere))),
        ("writes_words", is(writes && !wide)),
        ("writes_pairs", is(writes && wide)),
        ("writes_payload", is(writes && pairs)),
    ]
}

pub(super) fn program<'a>(step: Step, signature: &'a Signature, holes: &'a [(&'static str, u32)]) -> Program<'a> {
    Program {
        template: SORT_VARIANTS,
        entry: match step {
            Step::Load => "sort_load",
            Step::Store => "sort_store",
            Step::Windows(_) => "sort_windows",
            Step::Everywhere(_) => "sort_everywhere",
            Step::Samples => "sort_samples",
            Step::Bounds => "sort_bounds",
            Step::Scatter => "sort_scatter",
            Step::Flags => "sort_flags",
            Step::Split => "sort_split",
            Step::Local(_) => "sort_local",
            Step::Runs => "sort_runs",
        },
        constants: holes,
        operators: Operators::Calls(&[]),
        signature,
        numerics: Numerics::Strict,
        first: false,
    }
}

impl Run<SortVariantTask> for Wgpu {
    fn run(&self, task: &SortVariantTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        if task.variant == SortVariant::Radix {
            return self.run(&task.sort, leaves, outs);
        }
        // Kernels bind whole arrays.
        let limit = most(self.window_limits(), task.sort.dtype.size_bytes().max(4));
        if task.sort.n > limit {
            return Err(Error::TooLarge { what: "keys of a textbook's sort", requested: task.sort.n, limit });
        }
        walk(self, task, leaves, outs)
    }
}

/// A dispatch as it is put together: its kernel, parameters and bindings.
struct Dispatch<'a> {
    wgpu: &'a Wgpu,
    step: Step,
    form: Form,
    words: [u32; WORDS],
    bindings: arrayvec::ArrayVec<crate::binds::Binding<'a>, { super::MAX }>,
}

impl<'a> Dispatch<'a> {
    /// Binds `n` elements from the place's first one on; where a parameter says how many to skip, that is its index.
    fn bind(&mut self, place: Place<'a>, n: u64, skip: Option<usize>) -> Result<()> {
        let (window, binding) = place.bind(self.wgpu.window_limits(), 0, n)?;
        if let Some(skip) = skip {
            self.words[skip] = window.skip as u32;
        }
        self.bindings.push(binding);
        Ok(())
    }

    fn whole(&mut self, raw: &'a Buffer, n: u64) -> Result<()> {
        self.bind(Place { raw, offset: 0, size: 4 }, n, None)
    }

    fn keys(&mut self, words: &'a SortWords<Buffer>) -> Result<()> {
        self.bind(Place { raw: &words.keys, offset: 0, size: self.form.key_bytes.max(4) }, words.n, None)
    }

    /// Keys, and what travels with them.
    fn both(&mut self, words: &'a SortWords<Buffer>) -> Result<()> {
        self.keys(words)?;
        words.payload.as_ref().map_or(Ok(()), |payload| self.whole(payload, words.n))
    }

    fn network(&mut self, step: NetworkStep) {
        (self.words[RUN], self.words[DISTANCE]) = (step.run as u32, step.distance as u32);
    }

    /// What is sorted by itself; `groups` workgroups to each bucket.
    fn ranges(&mut self, n: u64, buckets: Option<SortBuckets<'a, Buffer>>, groups: impl Fn(u64) -> u64) -> Result<u64> {
        let each = groups(buckets.map_or(n, |b| b.most));
        let blocks = each * buckets.map_or(1, |b| b.count);
        (self.words[N], self.words[GROUPS], self.words[BLOCKS]) = (n as u32, each as u32, blocks as u32);
        if let Some(b) = buckets {
            (self.words[STRIDE], self.words[BUCKETS]) = (b.stride as u32, b.count as u32);
            self.whole(b.starts, b.stride * b.count)?;
        }
        Ok(blocks)
    }

    fn plan(&mut self, plan: SamplePlan) {
        (self.words[STRIDE], self.words[BUCKETS]) = (plan.tiles as u32, plan.buckets as u32);
        (self.words[KEYS], self.words[SAMPLES]) = (plan.n as u32, plan.samples as u32);
    }

    fn digit(&mut self, digit: Digit, n: u64) {
        (self.words[N], self.words[BLOCKS]) = (n as u32, digit.tiles as u32);
        (self.words[BIT], self.words[BUCKETS]) = (digit.bit, digit.buckets() as u32);
        (self.words[STRIDE], self.words[RUN]) = (digit.tiles as u32, digit.tile as u32);
    }

    fn run(self, groups: u64) -> Result<()> {
        let (signature, holes) = (Signature::default(), holes(self.step, self.form));
        let kernel = self.wgpu.program("sort", &program(self.step, &signature, &holes))?;
        let mut launch = Launch::new(0, &self.words);
        launch.bindings = self.bindings;
        self.wgpu.launch(&kernel, &launch, groups)
    }

    /// An invocation to each of `n`.
    fn over(mut self, n: u64) -> Result<()> {
        self.words[N] = n as u32;
        self.run(n.div_ceil(THREADS.into()))
    }
}

impl LaunchSort for Wgpu {
    fn launch_sort(&self, sorting: &Sorting<'_, Buffer>, launch: SortLaunch<'_, Buffer>) -> Result<()> {
        let (task, places) = (sorting.task, &sorting.places);
        let size = task.dtype.size_bytes();
        let start = |step, pairs, buckets| {
            let form = Form { key_bytes: size, pairs, ranked: sorting.ranked, buckets, values: places.values.is_some() };
            let mut words = [0; WORDS];
            let map = task.key_bits();
            words[SIGN_BIT] = (map.width - 1) & 31;
            for (at, wide) in [(NEGATIVE, map.negative), (FLIP, map.flip), (MASK, sorting.mask())] {
                (words[at], words[at + 1]) = (wide as u32, (wide >> 32) as u32);
            }
            Dispatch { wgpu: self, step, form, words, bindings: arrayvec::ArrayVec::new() }
        };
        let values = |read: bool| places.values.filter(|_| read).map(|(raw, offset)| Place { raw, offset, size: 4 });
        match launch {
            SortLaunch::Load { to } => {
                let mut d = start(Step::Load, to.payload.is_some(), false);
                d.bind(Place { raw: places.keys.0, offset: places.keys.1, size }, task.n, Some(SKIP_A))?;
                if let Some(place) = values(!sorting.ranked) {
                    d.bind(place, task.n, Some(SKIP_V))?;
                }
                d.both(to)?;
                d.over(task.n)
            }
            SortLaunch::Store { from, spare } => {
                let pairs = places.payload_out.is_some();
                let mut d = start(Step::Store, pairs, false);
                d.keys(from)?;
                if let (true, Some(payload)) = (pairs, &from.payload) {
                    d.whole(payload, from.n)?;
                }
                if let Some(place) = values(sorting.ranked) {
                    d.bind(place, task.n, Some(SKIP_V))?;
                }
                match places.keys_out {
                    Some(out) if size >= 4 => d.bind(Place { raw: &out.raw, offset: out.offset, size }, task.n, Some(SKIP_KEYS))?,
                    _ => d.keys(spare)?,
                }
                if let Some(out) = places.payload_out {
                    d.bind(Place { raw: &out.raw, offset: out.offset, size: 4 }, task.n, Some(SKIP_PAYLOAD))?;
                }
                d.over(task.n)?;
                match places.keys_out {
                    Some(out) if size < 4 => self.pack(&spare.keys, task.n, out),
                    _ => Ok(()),
                }
            }
            SortLaunch::Windows { first, steps, halo, buckets, from, to } => {
                debug_assert!(halo == 0 || halo == HALO);
                let mut d = start(Step::Windows(first.network), from.payload.is_some(), buckets.is_some());
                d.network(first);
                (d.words[STEPS], d.words[HALO_ARG]) = (steps as u32, halo as u32);
                d.both(from)?;
                let blocks = d.ranges(from.n, buckets, |n| n.div_ceil(TILE - 2 * halo))?;
                d.both(to)?;
                d.run(blocks)
            }
            SortLaunch::Everywhere { step, buckets, at } => {
                let mut d = start(Step::Everywhere(step.network), at.payload.is_some(), buckets.is_some());
                d.network(step);
                let blocks = d.ranges(at.n, buckets, |n| step.pairs(n).div_ceil(THREADS.into()))?;
                d.both(at)?;
                d.run(blocks)
            }
            SortLaunch::Samples { from, to } => {
                let mut d = start(Step::Samples, true, false);
                d.both(from)?;
                d.both(to)?;
                d.over(to.n)
            }
            SortLaunch::Bounds { plan, from, samples, starts, counts } => {
                let mut d = start(Step::Bounds, true, false);
                d.plan(plan);
                d.both(from)?;
                d.both(samples)?;
                d.whole(starts, plan.table())?;
                d.whole(counts, plan.table())?;
                d.over(plan.table())
            }
            SortLaunch::Scatter { plan, from, starts, offsets, to } => {
                let mut d = start(Step::Scatter, true, false);
                d.plan(plan);
                d.both(from)?;
                d.whole(starts, plan.table())?;
                d.whole(offsets, plan.table())?;
                d.both(to)?;
                d.over(plan.n)
            }
            SortLaunch::Flags { from, bit, flags } => {
                let mut d = start(Step::Flags, false, false);
                d.words[BIT] = bit;
                d.keys(from)?;
                d.whole(flags, from.n)?;
                d.over(from.n)
            }
            SortLaunch::Local { digit, from, to, starts, counts } => {
                let mut d = start(Step::Local(digit.tile / LOCAL_TILE), from.payload.is_some(), false);
                d.digit(digit, from.n);
                d.both(from)?;
                d.both(to)?;
                d.whole(starts, digit.table())?;
                d.whole(counts, digit.table())?;
                d.run(digit.tiles)
            }
            SortLaunch::Runs { digit, from, starts, offsets, to } => {
                let mut d = start(Step::Runs, from.payload.is_some(), false);
                d.digit(digit, from.n);
                d.both(from)?;
                d.whole(starts, digit.table())?;
                d.whole(offsets, digit.table())?;
                d.both(to)?;
                d.over(from.n)
            }
            SortLaunch::Split { from, bit, ones, to } => {
                let mut d = start(Step::Split, from.payload.is_some(), false);
                d.words[BIT] = bit;
                d.both(from)?;
                d.whole(ones, from.n)?;
                d.both(to)?;
                d.over(from.n)
            }
        }
    }
}
