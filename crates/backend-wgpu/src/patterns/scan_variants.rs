//! P03 scan, the textbooks' algorithms: up the levels with the tiles' totals, down again with what comes before each tile.

use super::Launch;
use super::accumulator::Accumulator;
use super::operands::{Limits, Operands, Signature, Span};
use super::program::{self, Program, Sink, Source};
use super::reduce::chunks;
use super::scan::push_bits;
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Backend as _, Leaf, Out, RawBuffer as _, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Func;
use isowarp_core::patterns::{ScanKind, ScanVariant, ScanVariantTask};
use isowarp_shaders::kernels::SCAN_VARIANTS;

impl Run<ScanVariantTask> for Wgpu {
    fn run(&self, task: &ScanVariantTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        if task.variant == ScanVariant::SinglePass {
            return self.run(&task.scan, leaves, outs);
        }
        let scan = &task.scan;
        let n = scan.lines.n;
        // Only whole vectors of an inclusive scan are stored by lanes that own their words.
        let limits = self.window_limits();
        let plan = |outs| Operands::plan(limits, &scan.load.params, leaves, outs, true, !stores_vectors(task), n);
        let stride = Accumulator::new(scan.combine.result_types()).stride();
        let levels = Levels { wgpu: self, task, limits, stride, nothing: Operands::none() };
        levels.all(&task.variant.levels(n), &plan(&[])?, &plan(outs)?)
    }
}

/// Whether prefixes go to the outputs four at a time.
fn stores_vectors(task: &ScanVariantTask) -> bool {
    task.variant == ScanVariant::Coarsened && task.scan.kind == ScanKind::Inclusive
}

/// Which kernel of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    /// From the totals of a level below, or the task's elements.
    pub(super) from_partials: bool,
    /// The tiles' totals only.
    pub(super) totals: bool,
    /// With what comes before each tile.
    pub(super) folded: bool,
}

/// A scan and what its launches share.
struct Levels<'a> {
    wgpu: &'a Wgpu,
    task: &'a ScanVariantTask,
    limits: Limits,
    /// Bytes of an accumulator.
    stride: u64,
    nothing: Operands<'a>,
}

/// The buffers of a launch besides the task's.
#[derive(Clone, Copy, Default)]
struct Scratch<'a> {
    partials: Option<&'a Buffer>,
    results: Option<&'a Buffer>,
    folds: Option<&'a Buffer>,
}

impl Levels<'_> {
    /// Every level of these lengths; `sources` are the task's leaves, `all` its leaves and outputs.
    fn all(&self, lengths: &[u64], sources: &Operands<'_>, all: &Operands<'_>) -> Result<()> {
        let tile = self.task.variant.tile();
        let mut totals: Vec<Buffer> = Vec::with_capacity(lengths.len());
        for (k, &count) in lengths.iter().enumerate().skip(1) {
            let results = self.scratch(count)?;
            let scratch = Scratch { partials: totals.last(), results: Some(&results), folds: None };
            self.over(if k == 1 { sources } else { &self.nothing }, scratch, count * tile, true)?;
            totals.push(results);
        }
        let mut folds: Option<Buffer> = None;
        while let Some(partials) = totals.pop() {
            let n = lengths[totals.len() + 1];
            let results = self.scratch(n)?;
            self.over(&self.nothing, Scratch { partials: Some(&partials), results: Some(&results), folds: folds.as_ref() }, n, false)?;
            folds = Some(results);
        }
        self.over(all, Scratch { folds: folds.as_ref(), ..Scratch::default() }, lengths[0], false)
    }

    /// One kernel over the tiles of `n` elements, in as many dispatches as windows ask for.
    fn over(&self, operands: &Operands<'_>, scratch: Scratch<'_>, n: u64, totals: bool) -> Result<()> {
        let tile = self.task.variant.tile();
        let step = Step { from_partials: scratch.partials.is_some(), totals, folded: scratch.folds.is_some() };
        let holes = holes(self.task, step);
        let program = program(self.task, step, scratch.results.is_some(), &operands.signature, &holes);
        let kernel = self.wgpu.program("scan", &program)?;
        let window = if step.from_partials { n } else { operands.span(self.limits, n, tile, true) };
        chunks(n, window, |at, count| {
            // An exclusive scan stores an element further on, the last one of a window into the next.
            let room = if program.first { (count + 1).min(n - at) } else { count };
            let blocks = count.div_ceil(tile);
            let words = [count, blocks, at / tile, room].map(|w| w as u32);
            let mut launch = Launch::new(at, &words);
            if let (true, ScanKind::Exclusive { first }) = (program.first, &self.task.scan.kind) {
                push_bits(&mut launch, first, &self.task.scan.parts());
            }
            operands.bind(self.limits, Span::of(at, count), Span::of(at, room), &mut launch.bindings, &mut launch.args)?;
            for buffer in [scratch.partials, scratch.results, scratch.folds].into_iter().flatten() {
                launch.bindings.push(Binding { buffer, offset_bytes: 0, size_bytes: buffer.size_bytes() });
            }
            self.wgpu.launch(&kernel, &launch, blocks)
        })
    }

    fn scratch(&self, count: u64) -> Result<Buffer> {
        let (requested, limit) = (count * self.stride, self.wgpu.caps().max_binding_bytes);
        if requested > limit {
            return Err(Error::TooLarge { what: "bytes of a scan's totals", requested, limit });
        }
        self.wgpu.allocate_bytes(requested)
    }
}

/// The template's holes.
pub(super) fn holes(task: &ScanVariantTask, step: Step) -> [(&'static str, u32); 7] {
    let is = |v: ScanVariant| u32::from(task.variant == v);
    let to_outputs = !step.totals && !step.from_partials;
    [
        ("tile", task.variant.tile() as u32),
        ("kogge_stone", is(ScanVariant::KoggeStone)),
        ("brent_kung", is(ScanVariant::BrentKung)),
        ("totals", step.totals.into()),
        ("folded", step.folded.into()),
        ("exclusive", (to_outputs && task.scan.kind != ScanKind::Inclusive).into()),
        ("vectors", (to_outputs && stores_vectors(task)).into()),
    ]
}

/// A launch of a step that writes accumulators or the task's outputs.
pub(super) fn program<'a>(
    task: &'a ScanVariantTask,
    step: Step,
    to_results: bool,
    signature: &'a Signature,
    holes: &'a [(&'static str, u32)],
) -> Program<'a> {
    let (load, finish): (&Func, &Func) = (&task.scan.load, &task.scan.finish);
    Program {
        template: SCAN_VARIANTS,
        entry: "scan_variant",
        constants: holes,
        operators: program::Operators::Tree {
            source: if step.from_partials { Source::Partials } else { Source::Leaves(load) },
            combine: &task.scan.combine,
            sink: if to_results { Sink::Results } else { Sink::Outs(finish) },
        },
        signature,
        numerics: task.scan.numerics,
        first: holes.contains(&("exclusive", 1)),
    }
}
