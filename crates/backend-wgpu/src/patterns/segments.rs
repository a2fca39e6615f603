//! P05 segmented: short segments many to a workgroup, long ones in tiles that a list on the device names.

use super::accumulator::Accumulator;
use super::operands::{Limits, Operands, Signature, Span};
use super::place::{Place, most};
use super::program::{Operators, Program, SUBGROUPS, Sink, Source};
use super::reduce::chunks;
use super::scan::push_bits;
use super::{Launch, MAX};
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use crate::pipeline::Kernel;
use arrayvec::ArrayVec;
use isowarp_core::backend::{Backend as _, Leaf, Out, RawBuffer as _, Run};
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::launch::Template;
use isowarp_core::patterns::{SegmentPlaces, SegmentedReduceTask};
use isowarp_shaders::kernels::{SEGMENTS_JOIN, SEGMENTS_SHORT, SEGMENTS_TILES};
use std::sync::Arc;

/// Invocations of a workgroup.
const THREADS: u32 = 256;
/// Elements of a segment that is reduced together with others, at most: what the slots of the widest accumulators hold.
pub(super) const SHORT: u64 = 1024;
/// Segments of an invocation, where all are tiny, at most, and the segments from which on they are so many.
const GROUP: u64 = 2;
const MANY: u64 = 1 << 19;
/// Most workgroups of a dispatch: each goes on with what others have left.
const MOST_GROUPS: u64 = 8192;
/// The same of what long segments are put on the list for, which is mostly empty: 12,000 workgroups that found nothing took 25 us on an H200.
const LISTED_GROUPS: u64 = 2048;
/// Workgroups that keep an adapter busy, and elements that keep a workgroup so, for which it takes fewer segments at a time, but these at least.
const BUSY_GROUPS: u64 = 1024;
const BUSY_ELEMENTS: u64 = 2048;
const FEWEST: u64 = 8;
/// Elements that 32 bits number with room for a tile.
pub(super) const MOST: u64 = 1 << 31;
/// Words of the list before the tiles, of a tile and of a long segment.
const HEAD: u64 = 4;
const ENTRY: u64 = 4;
const JOIN: u64 = 3;

/// Kernel of a segmented reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Short {
        counted: bool,
        wide: bool,
        lists: bool,
        /// Whether segments may be as tiny as that an invocation reduces one.
        tiny: bool,
    },
    Tiles,
    Join,
}

impl Step {
    fn template(self) -> (Template, &'static str) {
        match self {
            Self::Short { .. } => (SEGMENTS_SHORT, "segments_short"),
            Self::Tiles => (SEGMENTS_TILES, "segments_tiles"),
            Self::Join => (SEGMENTS_JOIN, "segments_join"),
        }
    }

    /// Vectors of four elements that an invocation has in flight, by the bytes of an accumulator: what fits 16 KiB.
    pub(super) fn rows(self, stride: u64) -> Result<u32> {
        let short = matches!(self, Self::Short { .. });
        match stride {
            // 256 segments of 16 elements have some 1150 vectors.
            0..=4 => Ok(if short { 6 } else { 8 }),
            5..=8 => Ok(4),
            9..=12 => Ok(if short { 3 } else { 2 }),
            13..=16 => Ok(2),
            17..=40 => Ok(1),
            _ => Err(Error::TooLarge { what: "bytes of an accumulator", requested: stride, limit: 40 }),
        }
    }
}

pub(super) fn holes(step: Step, (rows, rolled): (u32, bool), stride: u64) -> [(&'static str, u32); 11] {
    let (counted, wide, lists, tiny) = match step {
        Step::Short { counted, wide, lists, tiny } => (counted, wide, lists, tiny),
        _ => (false, false, false, false),
    };
    [
        ("threads", THREADS),
        ("rows", rows),
        ("rolled", rolled.into()),
        ("staged", staged(stride) as u32),
        ("short", matches!(step, Step::Short { .. }).into()),
        ("tiles", (step == Step::Tiles).into()),
        ("counted", counted.into()),
        ("wide", wide.into()),
        ("lists", lists.into()),
        ("tiny", tiny.into()),
        (SUBGROUPS, 0),
    ]
}

/// Elements that are staged for invocations to reduce a segment each, by the bytes of an accumulator: what fits 16 KiB.
const fn staged(stride: u64) -> u64 {
    10_240 / stride
}

pub(super) fn program<'a>(
    step: Step,
    task: &'a SegmentedReduceTask,
    signature: &'a Signature,
    holes: &'a [(&'static str, u32)],
) -> Program<'a> {
    let (template, entry) = step.template();
    let source = if step == Step::Join { Source::Partials } else { Source::Leaves(&task.load) };
    Program {
        template,
        entry,
        constants: holes,
        operators: Operators::Tree { source, combine: &task.combine, sink: Sink::Outs(&task.finish) },
        signature,
        numerics: task.numerics,
        first: matches!(step, Step::Short { .. }),
    }
}

/// State that the dispatches of a task share.
pub(super) struct Segments<'a> {
    wgpu: &'a Wgpu,
    task: &'a SegmentedReduceTask,
    limits: Limits,
    outs: &'a [Out<Buffer>],
    /// Leaves and outputs.
    direct: Operands<'a>,
    /// Bytes of an accumulator.
    stride: u64,
    /// Elements that a window begins after the one before it.
    step: u64,
    /// Elements of a window, which reaches so far that what begins before the next one lies in it.
    window: u64,
    /// Elements of a tile of a long segment, and of a short segment.
    pub(super) tile: u64,
    short: u64,
    /// Results of a window of the output, and their bounds.
    results: u64,
}

/// State that the dispatches over short segments share besides.
struct Short<'a> {
    places: SegmentPlaces<'a, Buffer>,
    listed: Option<&'a Listed>,
    /// Segments of an invocation, where all are tiny; 0 where they are too long for that on average.
    together: u64,
}

/// The tiles of long segments, as the device finds them.
pub(super) struct Listed {
    pub(super) list: Buffer,
    partials: Buffer,
    /// Tiles that there is room for, long segments of several, and where these begin in the list.
    room: u64,
    most: u64,
    pub(super) joins: u64,
}

impl Run<SegmentedReduceTask> for Wgpu {
    fn run(&self, task: &SegmentedReduceTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        if task.n > MOST {
            return Err(Error::TooLarge { what: "elements of segments on this backend", requested: task.n, limit: MOST });
        }
        let places = task.places(leaves)?;
        let mut segments = Segments::new(self, task, places.leaves, outs)?;
        let dtype = places.bounds.2;
        segments.results = segments.results.min(most(segments.limits, dtype.size_bytes()) - 1);
        // As many as their elements have room for.
        let room = staged(segments.stride) * task.segments / (task.n.max(1) * u64::from(THREADS));
        let together = match (segments.rolled(), task.counted) {
            (true, _) => 0,
            (_, true) => GROUP,
            _ => room,
        };
        let together = together.min(if task.segments < MANY { 1 } else { GROUP });

        let listed = if task.n > segments.short { Some(segments.list()?) } else { None };
        if let Some(listed) = &listed {
            self.clear(&listed.list, 0, 4 * HEAD)?;
        }
        let step = Step::Short { counted: task.counted, wide: dtype == DType::U64, lists: listed.is_some(), tiny: together > 0 };
        let kernel = segments.kernel(step, &segments.direct.signature)?;
        let short = Short { places, listed: listed.as_ref(), together };
        segments.windows(|first, results| segments.short(&kernel, &short, first, results))?;
        listed.map_or(Ok(()), |listed| segments.reduce_listed(&listed))
    }
}

impl<'a> Segments<'a> {
    /// The leaves are those of the elements alone.
    pub(super) fn new(wgpu: &'a Wgpu, task: &'a SegmentedReduceTask, leaves: &'a [Leaf<Buffer>], outs: &'a [Out<Buffer>]) -> Result<Self> {
        let limits = wgpu.window_limits();
        let stride = Accumulator::new(task.parts()).stride();
        // Segments begin anywhere, and a word of narrow results has several owners.
        let direct = Operands::plan(limits, &task.load.params, leaves, outs, false, true, task.n)?;
        let window = direct.span(limits, task.n, 1, false);
        let results = direct.span_of_outputs(limits, task.segments);
        let mut made = Self { wgpu, task, limits, outs, direct, stride, step: 0, window, tile: 0, short: 0, results };
        // Windows overlap by a tile.
        let whole = 4 * u64::from(THREADS * made.rows(Step::Tiles)?);
        made.tile = if window >= task.n { whole } else { whole.min(1 << (window / 2).max(1).ilog2()) };
        made.step = if window >= task.n { task.n.max(1) } else { window - made.tile + 1 };
        made.short = SHORT.min(made.tile);
        Ok(made)
    }

    fn weight(&self) -> u32 {
        self.task.load.weight() + self.task.combine.weight()
    }

    fn rows(&self, step: Step) -> Result<u32> {
        Ok(self.wgpu.tuning().rows(step.rows(self.stride)?, self.weight()))
    }

    /// Whether the operator stands in loops, and an invocation reduces no segment by itself.
    fn rolled(&self) -> bool {
        self.wgpu.tuning().rolls(self.weight())
    }

    fn kernel(&self, step: Step, signature: &Signature) -> Result<Arc<Kernel>> {
        let holes = holes(step, (self.rows(step)?, self.rolled()), self.stride);
        self.wgpu.program("segmented reduction", &program(step, self.task, signature, &holes))
    }

    /// Reduces the long segments.
    pub(super) fn reduce_listed(&self, listed: &Listed) -> Result<()> {
        let kernel = self.kernel(Step::Tiles, &self.direct.signature)?;
        self.windows(|first, results| self.tiles(&kernel, listed, first, results))?;
        if self.task.n > self.tile {
            let joined = Operands::plan(self.limits, &[], &[], self.outs, false, true, self.task.segments)?;
            let kernel = self.kernel(Step::Join, &joined.signature)?;
            chunks(self.task.segments, self.results, |at, count| self.join(&kernel, &joined, listed, Span::of(at, count)))?;
        }
        Ok(())
    }

    /// Memory for the tiles of long segments, whose first words are to be cleared before there are any.
    pub(super) fn list(&self) -> Result<Listed> {
        // A tile that is not full is the last one of a segment that is longer than the short ones.
        let room = self.task.n / self.tile + self.task.n / self.short + 1;
        let most = self.task.n / self.tile + 1;
        let joins = HEAD + ENTRY * room;
        let list = self.wgpu.allocate_bytes(4 * (joins + JOIN * (most + 1)))?;
        Ok(Listed { list, partials: self.wgpu.allocate_bytes(room * self.stride)?, room, most, joins })
    }

    /// Every window of the elements, for every window of the results.
    fn windows(&self, run: impl Fn(u64, Span) -> Result<()>) -> Result<()> {
        chunks(self.task.segments, self.results, |at, count| {
            chunks(self.task.n.max(1), self.step, |first, _| run(first, Span::of(at, count)))
        })
    }

    /// The elements from one on that a dispatch sees.
    fn elements(&self, first: u64) -> Span {
        Span::of(first, self.window.min(self.task.n - first))
    }

    fn short(&self, kernel: &Kernel, of: &Short<'_>, first: u64, results: Span) -> Result<()> {
        let (raw, offset, dtype) = of.places.bounds;
        let bounds = Place { raw, offset, size: dtype.size_bytes() };
        let end = self.task.bounds(self.task.segments).min(results.first + results.len + 1);
        let (window, bounds) = bounds.bind(self.limits, results.first, end - results.first)?;
        let mut extra: ArrayVec<Binding<'_>, MAX> = ArrayVec::new();
        extra.push(bounds);
        let mut skip_count = 0;
        if let Some((raw, offset)) = of.places.count {
            let (window, count) = Place { raw, offset, size: 4 }.bind(self.limits, 0, 1)?;
            skip_count = window.skip;
            extra.push(count);
        }
        let (room, joins) = of.listed.map_or((0, 0), |l| (l.room, l.joins));
        extra.extend(of.listed.map(|l| whole(&l.list)));
        // Fewer at a time where workgroups would be few, each with many elements.
        let enough = (results.len / BUSY_GROUPS).max(BUSY_ELEMENTS * self.task.segments / self.task.n.max(1));
        let take = if of.together > 0 { u64::from(THREADS) } else { enough.clamp(FEWEST, THREADS.into()) };
        let groups = results.len.div_ceil(take * of.together.max(1)).min(MOST_GROUPS);
        let words = [
            self.task.n,
            first,
            self.step,
            results.len,
            results.first,
            self.tile,
            self.short,
            room,
            joins,
            window.skip,
            skip_count,
            groups,
            of.together,
            take,
        ];
        let mut launch = Launch::new(first, &words.map(|w| w as u32));
        push_bits(&mut launch.args, &self.task.nothing, &self.task.parts());
        self.direct.bind(self.limits, self.elements(first), results, &mut launch.bindings, &mut launch.args)?;
        launch.bindings.extend(extra);
        self.wgpu.launch(kernel, &launch, groups)
    }

    fn tiles(&self, kernel: &Kernel, listed: &Listed, first: u64, results: Span) -> Result<()> {
        let groups = listed.room.min(LISTED_GROUPS);
        let words = [first, self.step, results.len, results.first, listed.room, groups];
        let mut launch = Launch::new(first, &words.map(|w| w as u32));
        self.direct.bind(self.limits, self.elements(first), results, &mut launch.bindings, &mut launch.args)?;
        launch.bindings.extend([whole(&listed.list), whole(&listed.partials)]);
        self.wgpu.launch(kernel, &launch, groups)
    }

    fn join(&self, kernel: &Kernel, operands: &Operands<'_>, listed: &Listed, results: Span) -> Result<()> {
        let groups = listed.most.min(LISTED_GROUPS);
        let words = [results.len, results.first, listed.room, listed.joins, listed.most, groups];
        let mut launch = Launch::new(0, &words.map(|w| w as u32));
        operands.bind(self.limits, Span::of(0, 0), results, &mut launch.bindings, &mut launch.args)?;
        // The kernel's own array comes before those of its template.
        launch.bindings.extend([whole(&listed.partials), whole(&listed.list)]);
        self.wgpu.launch(kernel, &launch, groups)
    }
}

pub(super) fn whole(buffer: &Buffer) -> Binding<'_> {
    Binding { buffer, offset_bytes: 0, size_bytes: buffer.size_bytes() }
}
