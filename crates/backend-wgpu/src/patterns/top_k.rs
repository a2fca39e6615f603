//! P07 top-k: a sample says how far to look, one dispatch to a window lists the keys up to there, and their digits are counted.

use super::Launch;
use super::operands::{Limits, Signature};
use super::place::{Place, most};
use super::program::{Operators, Program};
use super::reduce::chunks;
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Backend as _, Leaf, Out, RawBuffer as _, Run};
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::patterns::{Digit, SortPayload, SortTask, TopKTask};
use isowarp_shaders::kernels::TOP_K;

/// Invocations of a workgroup: as many as values of eight bits.
const THREADS: u32 = 256;
/// Keys of an invocation, at most 32.
const ITEMS: u32 = 16;
const TILE: u64 = (THREADS * ITEMS) as u64;
/// Values of a digit of the most bits.
const BINS: u32 = 2048;
/// Keys that are looked at before all others.
const SAMPLES: u64 = 4096;
/// Words of the state before its counts; see the template.
const STATE_WORDS: u64 = 16;
/// Most workgroups of a dispatch: each adds what it counted to the state.
const MOST_GROUPS: u64 = 2048;

/// Which kernel of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Sample,
    Start,
    Filter,
    Decide,
    Count,
    Pick,
    Collect,
}

impl Step {
    #[cfg(test)]
    pub(super) const ALL: [Self; 7] = [Self::Sample, Self::Start, Self::Filter, Self::Decide, Self::Count, Self::Pick, Self::Collect];

    const fn entry(self) -> &'static str {
        match self {
            Self::Sample => "top_k_sample",
            Self::Start => "top_k_start",
            Self::Filter => "top_k_filter",
            Self::Decide => "top_k_decide",
            Self::Count => "top_k_count",
            Self::Pick => "top_k_pick",
            Self::Collect => "top_k_collect",
        }
    }

    const fn reads_keys(self) -> bool {
        matches!(self, Self::Sample | Self::Filter | Self::Count | Self::Collect)
    }

    const fn sees_list(self) -> bool {
        self.reads_keys() || matches!(self, Self::Start)
    }
}

/// Which digit of what is counted.
#[derive(Clone, Copy, Default)]
struct Counted {
    shift: u32,
    bits: u32,
    indexed: bool,
}

/// A search and what its dispatches share.
struct Search<'a> {
    wgpu: &'a Wgpu,
    task: &'a TopKTask,
    limits: Limits,
    keys: Place<'a>,
    samples: u64,
    room: u64,
    values: Buffer,
    places: Buffer,
    state: Buffer,
    found: Buffer,
}

impl Run<TopKTask> for Wgpu {
    fn run(&self, task: &TopKTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ((raw, offset), out) = task.places(leaves, outs)?;
        let limits = self.window_limits();
        let size = task.dtype.size_bytes();
        if task.k > most(limits, 4) {
            return self.first_of_all_sorted(task, leaves, out);
        }
        let samples = SAMPLES.min(task.n);
        // A list that is too short for what is found is not read.
        let room = task.room(samples).max(samples).min(most(limits, size.max(4)));
        let search = Search {
            wgpu: self,
            task,
            limits,
            keys: Place { raw, offset, size },
            samples: samples.min(room),
            room,
            values: self.allocate_bytes(room * size.max(4))?,
            places: self.allocate_bytes(room * 4)?,
            state: self.allocate_bytes((STATE_WORDS + u64::from(BINS)) * 4)?,
            found: self.allocate_bytes(task.k * 4)?,
        };
        search.run()?;
        self.put_in_order(task, &search.found, out)
    }
}

impl Wgpu {
    /// Indices from the lowest on.
    fn put_in_order(&self, task: &TopKTask, found: &Buffer, out: &Out<Buffer>) -> Result<()> {
        let leaf = Leaf::Elements { raw: found.clone(), dtype: DType::U32, offset: 0, stride: 1 };
        self.run(&task.sort_of_indices(), &[leaf], std::slice::from_ref(out))
    }

    /// For more keys than a binding holds indices of.
    fn first_of_all_sorted(&self, task: &TopKTask, leaves: &[Leaf<Buffer>], out: &Out<Buffer>) -> Result<()> {
        let all = self.allocate_bytes(task.n * 4)?;
        let sort = SortTask {
            dtype: task.dtype,
            order: task.order,
            bits: task.bits.clone(),
            rows: 1,
            n: task.n,
            payload: SortPayload::Indices,
            keys_out: false,
            lent: false,
        };
        self.run(&sort, leaves, &[Out { raw: all.clone(), dtype: DType::U32, offset: 0 }])?;
        self.put_in_order(task, &all, out)
    }
}

impl Search<'_> {
    fn run(&self) -> Result<()> {
        self.over_keys(Step::Sample, Counted::default())?;
        self.once(Step::Start, Counted::default())?;
        self.over_keys(Step::Filter, Counted::default())?;
        self.once(Step::Decide, Counted::default())?;
        let digits = |digits: Vec<Digit>, indexed| digits.into_iter().map(move |Digit { shift, bits }| Counted { shift, bits, indexed });
        for counted in digits(self.task.key_digits(), false).chain(digits(self.task.index_digits(), true)) {
            self.over_keys(Step::Count, counted)?;
            self.once(Step::Pick, counted)?;
        }
        self.over_keys(Step::Collect, Counted::default())
    }

    /// A dispatch to each window of the keys.
    fn over_keys(&self, step: Step, counted: Counted) -> Result<()> {
        chunks(self.task.n, most(self.limits, self.keys.size), |first, n| {
            let groups = if step == Step::Sample { self.samples.div_ceil(THREADS.into()) } else { n.max(self.room).div_ceil(TILE) };
            self.dispatch(step, counted, (first, n), groups.min(MOST_GROUPS))
        })
    }

    fn once(&self, step: Step, counted: Counted) -> Result<()> {
        self.dispatch(step, counted, (0, 0), 1)
    }

    fn dispatch(&self, step: Step, counted: Counted, (first, n): (u64, u64), groups: u64) -> Result<()> {
        let task = self.task;
        let map = task.key_bits();
        let width = task.bits.end - task.bits.start;
        let compared = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
        // Of the start: the bits of what is compared.
        let bits = if step == Step::Start { width } else { counted.bits };
        let (window, binding) = self.keys.bind(self.limits, first, n)?;
        let words = [
            n,
            first,
            window.skip,
            groups,
            self.samples,
            task.n / self.samples,
            task.sample_rank(self.samples),
            bits.into(),
            counted.shift.into(),
            counted.indexed.into(),
            task.k,
            self.room,
            ((map.width - 1) & 31).into(),
            task.bits.start.into(),
            map.negative,
            map.negative >> 32,
            map.flip,
            map.flip >> 32,
            compared,
            compared >> 32,
        ];
        let mut launch = Launch::new(0, &words.map(|w| w as u32));
        fn whole(buffer: &Buffer) -> Binding<'_> {
            Binding { buffer, offset_bytes: 0, size_bytes: buffer.size_bytes() }
        }
        let bound = [
            (step.reads_keys(), binding),
            (step.sees_list(), whole(&self.values)),
            (sees_places(step), whole(&self.places)),
            (step != Step::Sample, whole(&self.state)),
            (step == Step::Collect, whole(&self.found)),
        ];
        launch.bindings.extend(bound.into_iter().filter(|b| b.0).map(|b| b.1));
        let (signature, holes) = (Signature::default(), holes(step, self.keys.size));
        let kernel = self.wgpu.program("top_k", &program(step, &signature, &holes))?;
        self.wgpu.launch(&kernel, &launch, groups)
    }
}

fn sees_places(step: Step) -> bool {
    matches!(step, Step::Filter | Step::Count | Step::Collect)
}

pub(super) fn holes(step: Step, key_bytes: u64) -> Vec<(&'static str, u32)> {
    let is = |yes: bool| u32::from(yes);
    let pairs = key_bytes == 8;
    vec![
        ("threads", THREADS),
        ("items", ITEMS),
        ("bins", BINS),
        ("step", step as u32),
        ("key_words", if pairs { 2 } else { 1 }),
        ("narrow", [0, 1, 2, 0][key_bytes.min(3) as usize]),
        ("reads_words", is(step.reads_keys() && !pairs)),
        ("reads_pairs", is(step.reads_keys() && pairs)),
        ("list_words", is(step.sees_list() && !pairs)),
        ("list_pairs", is(step.sees_list() && pairs)),
        ("list_places", is(sees_places(step))),
        ("state", is(step != Step::Sample)),
        ("collects", is(step == Step::Collect)),
    ]
}

pub(super) fn program<'a>(step: Step, signature: &'a Signature, holes: &'a [(&'static str, u32)]) -> Program<'a> {
    Program {
        template: TOP_K,
        entry: step.entry(),
        constants: holes,
        operators: Operators::Calls(&[]),
        signature,
        numerics: Numerics::Strict,
        first: false,
    }
}
