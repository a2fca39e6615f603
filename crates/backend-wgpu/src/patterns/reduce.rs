//! P02 reduce: tiles of the aligned tree, then the tree over their results, until one is left.

use super::Launch;
use super::accumulator::Accumulator;
use super::operands::{Limits, Operands, Span};
use super::program::{Operators, Program, SUBGROUPS, Sink, Source};
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use crate::pipeline::Kernel;
use isowarp_core::backend::{Backend as _, Leaf, Out, RawBuffer as _, Run};
use isowarp_core::caps::Numerics;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Func;
use isowarp_core::launch::Template;
use isowarp_core::patterns::{Lines, ReduceTask};
use isowarp_shaders::kernels::{REDUCE, REDUCE_COLS, REDUCE_ROWS};
use std::sync::Arc;

/// Part of a tile that a workgroup holds, by the size of an accumulator: what fits 16 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    threads: u32,
    /// Vectors of four elements that an invocation has in flight.
    rows: u32,
    /// Most passes of a tile.
    passes: u32,
    /// Whether the operator stands in loops.
    rolled: bool,
}

impl Shape {
    pub(super) fn of(bytes: u64) -> Result<Self> {
        let (threads, rows, passes) = match bytes {
            0..=4 => (256, 8, 8),
            5..=8 => (256, 4, 8),
            9..=12 => (256, 2, 8),
            13..=20 => (256, 1, 4),
            21..=40 => (128, 1, 4),
            41..=80 => (64, 1, 4),
            _ => return Err(Error::TooLarge { what: "bytes of an accumulator", requested: bytes, limit: 80 }),
        };
        Ok(Self { threads, rows, passes, rolled: false })
    }

    /// Another workgroup than the table's.
    #[cfg(test)]
    pub(super) const fn new(threads: u32, rows: u32, passes: u32) -> Self {
        Self { threads, rows, passes, rolled: false }
    }

    /// With the operator in loops.
    #[cfg(test)]
    pub(super) const fn rolled(self) -> Self {
        Self { rolled: true, ..self }
    }

    /// Elements of a pass.
    pub(super) fn pass(self) -> u64 {
        u64::from(self.threads * 4 * self.rows)
    }

    /// Slots for totals: a node for each pass of each subgroup of at least 4 lanes, or for each run of 8.
    fn totals(self, subgroups: bool) -> u32 {
        self.passes * self.threads / if subgroups { 4 } else { 8 }
    }
}

/// The template's holes.
pub(super) fn form_holes(form: Form, shape: Shape, subgroups: bool) -> [(&'static str, u32); 9] {
    let is = |other: Form| u32::from(form.entry == other.entry);
    let threads = if is(TILES) == 1 { shape.threads } else { THREADS };
    [
        ("threads", threads),
        ("rows", shape.rows),
        ("totals", shape.totals(subgroups)),
        ("tiles", is(TILES)),
        ("rows_short", is(ROWS)),
        ("columns", is(COLS)),
        ("rows_in_lanes", is(TILES)),
        ("rolled", shape.rolled.into()),
        (SUBGROUPS, u32::from(subgroups && is(COLS) == 0)),
    ]
}

/// Invocations of a workgroup over rows or columns; an accumulator of 64 bytes still fits.
const THREADS: u32 = 256;
/// Rows up to this length share a workgroup.
const SHORT: u64 = 4 * THREADS as u64;
/// Workgroups that fill a large device several times over.
const FILL: u64 = 1024;

/// State that the dispatches of a reduction share.
pub(super) struct Reduction<'a> {
    pub(super) wgpu: &'a Wgpu,
    pub(super) pattern: &'static str,
    pub(super) combine: &'a Func,
    pub(super) numerics: Numerics,
    pub(super) limits: Limits,
    /// Bytes of an accumulator.
    pub(super) stride: u64,
    pub(super) shape: Shape,
    /// Whether tiles and short rows are walked in subgroups.
    subgroups: bool,
}

/// One kernel of a reduction, with what it reads and writes.
pub(super) struct Stage<'a> {
    kernel: Arc<Kernel>,
    operands: &'a Operands<'a>,
    partials: Option<&'a Buffer>,
    results: Option<&'a Buffer>,
}

/// Template and entry point of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) template: Template,
    pub(super) entry: &'static str,
}

pub(super) const TILES: Form = Form { template: REDUCE, entry: "reduce" };
pub(super) const ROWS: Form = Form { template: REDUCE_ROWS, entry: "reduce_rows" };
pub(super) const COLS: Form = Form { template: REDUCE_COLS, entry: "reduce_cols" };

impl Run<ReduceTask> for Wgpu {
    fn run(&self, task: &ReduceTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let lines = task.lines;
        let weight = task.load.weight() + task.combine.weight();
        let reduction = Reduction::new(self, "reduce", &task.combine, task.numerics, weight)?;
        // Results are stored one by one, so that their words may have several owners.
        let aligned = lines.inner == 1 && (lines.outer == 1 || lines.n.is_multiple_of(4));
        let limits = self.window_limits();
        let plan = |outs| Operands::plan(limits, &task.load.params, leaves, outs, aligned, true, lines.elements());
        let ends = Ends {
            load: &task.load,
            finish: &task.finish,
            sources: plan(&[])?,
            direct: plan(outs)?,
            results: Operands::plan(limits, &[], &[], outs, false, true, lines.count())?,
            lines,
        };
        if lines.inner > 1 {
            reduction.columns(&ends)
        } else if lines.outer > 1 && lines.n <= SHORT.min(ends.step(reduction.limits)) {
            reduction.short_rows(&ends)
        } else {
            reduction.tiles(&ends)
        }
    }
}

/// Both ends of a reduction: where elements come from and results go.
struct Ends<'a> {
    load: &'a Func,
    finish: &'a Func,
    sources: Operands<'a>,
    /// Leaves and outputs, for a reduction of one dispatch.
    direct: Operands<'a>,
    results: Operands<'a>,
    lines: Lines,
}

impl Ends<'_> {
    /// Elements that one dispatch can read.
    fn step(&self, limits: Limits) -> u64 {
        self.sources.span(limits, self.lines.elements(), 1, true)
    }

    /// Results that one dispatch can write.
    fn result_step(&self, limits: Limits) -> u64 {
        self.results.span(limits, self.lines.count(), 1, true)
    }
}

impl<'a> Reduction<'a> {
    /// `weight` is that of the operators which a row repeats.
    pub(super) fn new(wgpu: &'a Wgpu, pattern: &'static str, combine: &'a Func, numerics: Numerics, weight: u32) -> Result<Self> {
        let acc = Accumulator::new(combine.result_types());
        let (stride, limits) = (acc.stride(), wgpu.window_limits());
        let subgroups = acc.shuffles() && wgpu.tuning().reduces_in_subgroups(acc.words());
        let asked = *wgpu.patterns().reduce_shape.lock();
        let shape = asked.map_or_else(|| Shape::of(stride), Ok)?;
        let tuning = wgpu.tuning();
        let shape = Shape { rows: tuning.rows(shape.rows, weight), rolled: shape.rolled || tuning.rolls(weight), ..shape };
        Ok(Self { wgpu, pattern, combine, numerics, limits, stride, shape, subgroups })
    }

    pub(super) fn stage<'b>(
        &self,
        form: Form,
        (source, partials): (Source<'_>, Option<&'b Buffer>),
        (sink, results): (Sink<'_>, Option<&'b Buffer>),
        operands: &'b Operands<'b>,
    ) -> Result<Stage<'b>> {
        let holes = form_holes(form, self.shape, self.subgroups);
        let program = self.program(form, &holes, source, sink, operands);
        Ok(Stage { kernel: self.wgpu.program(self.pattern, &program)?, operands, partials, results })
    }

    fn program<'b>(
        &'b self,
        form: Form,
        holes: &'b [(&'static str, u32)],
        source: Source<'b>,
        sink: Sink<'b>,
        operands: &'b Operands<'_>,
    ) -> Program<'b> {
        Program {
            template: form.template,
            entry: form.entry,
            constants: holes,
            operators: Operators::Tree { source, combine: self.combine, sink },
            signature: &operands.signature,
            numerics: self.numerics,
            first: false,
        }
    }

    /// Enqueues a stage over these elements and results.
    pub(super) fn enqueue(&self, stage: &Stage<'_>, inputs: Span, outputs: Span, words: &[u32], groups: u64) -> Result<()> {
        self.enqueue_from(stage, 0, inputs, outputs, words, groups)
    }

    /// The same for a stage whose accumulators start at this byte of their array, a multiple of 256.
    pub(super) fn enqueue_from(
        &self,
        stage: &Stage<'_>,
        from_bytes: u64,
        inputs: Span,
        outputs: Span,
        words: &[u32],
        groups: u64,
    ) -> Result<()> {
        let mut launch = Launch::new(inputs.first, words);
        stage.operands.bind(self.limits, inputs, outputs, &mut launch.bindings, &mut launch.args)?;
        for (buffer, offset_bytes) in [(stage.partials, from_bytes), (stage.results, 0)] {
            launch.bindings.extend(buffer.map(|buffer| Binding { buffer, offset_bytes, size_bytes: buffer.size_bytes() - offset_bytes }));
        }
        self.wgpu.launch(&stage.kernel, &launch, groups)
    }

    pub(super) fn scratch(&self, accumulators: u64) -> Result<Buffer> {
        self.wgpu.allocate_bytes(accumulators * self.stride)
    }

    /// Passes of a tile, so that the tiles of all lines fill the device, and what is left fits few further dispatches.
    fn passes(&self, n: u64, lines: u64, from_scratch: bool) -> u64 {
        let (most, passes) = (u64::from(self.shape.passes), n.div_ceil(self.shape.pass()));
        if passes <= if from_scratch { most } else { 2 } {
            return passes.next_power_of_two();
        }
        let wanted = (passes.saturating_mul(lines) / FILL).clamp(1, most);
        1 << wanted.ilog2()
    }

    /// One line, or long rows.
    fn tiles(&self, ends: &Ends<'_>) -> Result<()> {
        let Lines { outer, n, .. } = ends.lines;
        let step = ends.step(self.limits);
        let window = if n <= step { n.next_power_of_two() } else { 1 << step.ilog2() };
        let passes = self.passes(n, outer, false);
        let tile = (passes * self.shape.pass()).min(window);
        let tiles = n.div_ceil(tile);
        if tiles == 1 {
            let stage = self.stage(TILES, (Source::Leaves(ends.load), None), (Sink::Outs(ends.finish), None), &ends.direct)?;
            let rows = (step / n).min(ends.result_step(self.limits));
            return chunks(outer, rows, |at, count| {
                let words = [n as u32, 1, passes as u32, count as u32, 0];
                self.enqueue(&stage, Span::of(at * n, count * n), Span::of(at, count), &words, count)
            });
        }
        let scratch = self.scratch(outer * tiles)?;
        let stage = self.stage(TILES, (Source::Leaves(ends.load), None), (Sink::Results, Some(&scratch)), &ends.sources)?;
        let none = Span::of(0, 0);
        if n <= step {
            chunks(outer, step / n, |at, count| {
                let blocks = count * tiles;
                let words = [n as u32, tiles as u32, passes as u32, blocks as u32, (at * tiles) as u32];
                self.enqueue(&stage, Span::of(at * n, count * n), none, &words, blocks)
            })?;
        } else {
            for line in 0..outer {
                chunks(n, window, |at, len| {
                    let blocks = len.div_ceil(tile);
                    let words = [len as u32, blocks as u32, passes as u32, blocks as u32, (line * tiles + at / tile) as u32];
                    self.enqueue(&stage, Span::of(line * n + at, len), none, &words, blocks)
                })?;
            }
        }
        self.fold_tiles(ends, scratch, tiles)
    }

    /// The tree over the results of tiles, level by level.
    fn fold_tiles(&self, ends: &Ends<'_>, mut partials: Buffer, mut n: u64) -> Result<()> {
        let lines = ends.lines.count();
        let nothing = Operands::none();
        loop {
            let passes = self.passes(n, lines, true);
            let tiles = n.div_ceil(passes * self.shape.pass());
            let blocks = lines * tiles;
            let words = [n as u32, tiles as u32, passes as u32, blocks as u32, 0];
            let (inputs, outputs) = (Span::of(0, 0), Span::of(0, lines));
            if tiles == 1 {
                let from = (Source::Partials, Some(&partials));
                let stage = self.stage(TILES, from, (Sink::Outs(ends.finish), None), &ends.results)?;
                return self.enqueue(&stage, inputs, outputs, &words, blocks);
            }
            let next = self.scratch(blocks)?;
            let stage = self.stage(TILES, (Source::Partials, Some(&partials)), (Sink::Results, Some(&next)), &nothing)?;
            self.enqueue(&stage, inputs, outputs, &words, blocks)?;
            (partials, n) = (next, tiles);
        }
    }

    /// Many rows to a workgroup.
    fn short_rows(&self, ends: &Ends<'_>) -> Result<()> {
        let Lines { outer, n, .. } = ends.lines;
        let stage = self.stage(ROWS, (Source::Leaves(ends.load), None), (Sink::Outs(ends.finish), None), &ends.direct)?;
        let lanes = n.div_ceil(4).next_power_of_two();
        let rows = (ends.step(self.limits) / n).min(ends.result_step(self.limits));
        chunks(outer, rows, |at, count| {
            let words = [n as u32, count as u32, lanes as u32];
            self.enqueue(&stage, Span::of(at * n, count * n), Span::of(at, count), &words, (count * lanes).div_ceil(THREADS.into()))
        })
    }

    /// Lines that are not contiguous: an invocation walks a part of a line.
    fn columns(&self, ends: &Ends<'_>) -> Result<()> {
        let Lines { outer, n, inner } = ends.lines;
        let (slab, columns) = (n * inner, ends.lines.count());
        let (step, results) = (ends.step(self.limits), ends.result_step(self.limits));
        if slab > step || inner > results {
            return self.columns_in_windows(ends);
        }
        let part = part_len(n, columns);
        let parts = n.div_ceil(part);
        if parts == 1 {
            let stage = self.stage(COLS, (Source::Leaves(ends.load), None), (Sink::Outs(ends.finish), None), &ends.direct)?;
            let slabs = (step / slab).min(results / inner);
            return chunks(outer, slabs, |at, count| {
                let columns = count * inner;
                let words = [n as u32, inner as u32, columns as u32, part as u32, 1, 0, 0];
                self.enqueue(&stage, Span::of(at * slab, count * slab), Span::of(at * inner, columns), &words, groups(columns, 1))
            });
        }
        let scratch = self.scratch(parts * columns)?;
        let stage = self.stage(COLS, (Source::Leaves(ends.load), None), (Sink::Results, Some(&scratch)), &ends.sources)?;
        let none = Span::of(0, 0);
        chunks(outer, step / slab, |at, count| {
            let width = count * inner;
            let first = at * inner;
            let words = [n as u32, inner as u32, width as u32, part as u32, parts as u32, first as u32, columns as u32];
            self.enqueue(&stage, Span::of(at * slab, count * slab), none, &words, groups(width, parts))
        })?;
        self.fold_parts(ends, &scratch, parts, Span::of(0, columns))
    }

    /// Columns that take more than a window: so many at a time, and so many rows of these, that elements, parts and results all fit.
    fn columns_in_windows(&self, ends: &Ends<'_>) -> Result<()> {
        let Lines { outer, n, inner } = ends.lines;
        let step = ends.step(self.limits);
        let room = self.limits.window_bytes / self.stride;
        // Rows of so many columns that a window holds, and those of a part.
        let rows_and_part = |width: u64| {
            let most = (step - width) / inner + 1;
            let rows = if n <= most { n.next_power_of_two() } else { 1 << most.ilog2() };
            (rows, part_len(n, width).min(rows))
        };
        let fits = |width: u64| {
            let parts = n.div_ceil(rows_and_part(width).1);
            parts == 1 || parts * width <= room
        };
        let mut width = inner.min(step).min(ends.result_step(self.limits));
        while width > 1 && !fits(width) {
            width = width.div_ceil(2);
        }
        let (rows, part) = rows_and_part(width);
        let parts = n.div_ceil(part);
        if !fits(width) {
            let (requested, limit) = (parts * self.stride, self.limits.window_bytes);
            return Err(Error::TooLarge { what: "bytes of the parts of a line", requested, limit });
        }
        let scratch = if parts == 1 { None } else { Some(self.scratch(parts * width)?) };
        let stage = match &scratch {
            None => self.stage(COLS, (Source::Leaves(ends.load), None), (Sink::Outs(ends.finish), None), &ends.direct)?,
            Some(scratch) => self.stage(COLS, (Source::Leaves(ends.load), None), (Sink::Results, Some(scratch)), &ends.sources)?,
        };
        for o in 0..outer {
            chunks(inner, width, |column, count| {
                let results = Span::of(o * inner + column, count);
                chunks(n, rows, |at, len| {
                    let (here, first) = (len.div_ceil(part), at / part * count);
                    let words = [len, inner, count, part, here, first, count].map(|w| w as u32);
                    let inputs = Span::of((o * n + at) * inner + column, (len - 1) * inner + count);
                    self.enqueue(&stage, inputs, results, &words, groups(count, here))
                })?;
                scratch.as_ref().map_or(Ok(()), |scratch| self.fold_parts(ends, scratch, parts, results))
            })?;
        }
        Ok(())
    }

    /// The tree over the parts of columns, level by level, to these results.
    fn fold_parts(&self, ends: &Ends<'_>, partials: &Buffer, mut n: u64, results: Span) -> Result<()> {
        let columns = results.len;
        let nothing = Operands::none();
        let mut held: Option<Buffer> = None;
        loop {
            let partials = held.as_ref().unwrap_or(partials);
            let part = part_len(n, columns);
            let parts = n.div_ceil(part);
            let words = [n, columns, columns, part, parts, 0, columns].map(|w| w as u32);
            let inputs = Span::of(0, 0);
            if parts == 1 {
                let from = (Source::Partials, Some(partials));
                let stage = self.stage(COLS, from, (Sink::Outs(ends.finish), None), &ends.results)?;
                return self.enqueue(&stage, inputs, results, &words, groups(columns, parts));
            }
            let next = self.scratch(parts * columns)?;
            let stage = self.stage(COLS, (Source::Partials, Some(partials)), (Sink::Results, Some(&next)), &nothing)?;
            self.enqueue(&stage, inputs, results, &words, groups(columns, parts))?;
            (held, n) = (Some(next), parts);
        }
    }
}

/// Workgroups over so many parts of so many columns.
pub(super) fn groups(columns: u64, parts: u64) -> u64 {
    (columns * parts).div_ceil(THREADS.into())
}

/// Elements of a column that one invocation takes: all, unless there are too few columns to fill the device.
fn part_len(n: u64, columns: u64) -> u64 {
    if n <= 64 || columns >= 32 * FILL {
        return n.next_power_of_two();
    }
    (n * columns / (64 * FILL)).max(32).next_power_of_two()
}

/// Calls `work(first, count)` for `0..n`, at most `step` at a time.
pub(super) fn chunks(n: u64, step: u64, mut work: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
    let step = step.max(1);
    let mut at = 0;
    while at < n {
        let count = step.min(n - at);
        work(at, count)?;
        at += count;
    }
    Ok(())
}
