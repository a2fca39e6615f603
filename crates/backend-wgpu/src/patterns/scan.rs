//! P03 scan: tiles' totals, their left fold, then every tile with what comes before it.

use super::Launch;
use super::accumulator::Accumulator;
use super::operands::{Args, Limits, Operands, Span};
use super::program::{Operators, Program, SUBGROUPS, Sink, Source};
use super::reduce::{COLS, Reduction, chunks, groups};
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use crate::pipeline::Kernel;
use isowarp_core::backend::{Backend as _, Leaf, Out, RawBuffer as _, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::plan::SCAN_TILE;
use isowarp_core::patterns::{Lines, ScanKind, ScanTask};
use isowarp_shaders::kernels::{SCAN, SCAN_COLS, SCAN_ROWS};
use std::sync::Arc;

/// Invocations of a workgroup.
const THREADS: u32 = 256;
/// Rows up to this length share a workgroup.
const SHORT: u64 = 4 * THREADS as u64;
/// Accumulators, of four bytes or more, between two places at which a binding may start.
const ROW_ALIGN: u64 = 64;
/// Columns that fill a device, one to an invocation.
const MANY_COLUMNS: u64 = 2048;

/// Vectors of four elements that an invocation holds, by the size of an accumulator: what fits 16 KiB.
pub(super) fn rows(bytes: u64) -> Result<u32> {
    match bytes {
        0..=4 => Ok(8),
        5..=12 => Ok(4),
        13..=24 => Ok(2),
        25..=52 => Ok(1),
        _ => Err(Error::TooLarge { what: "bytes of an accumulator", requested: bytes, limit: 52 }),
    }
}

/// Kernel of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Totals,
    Fold,
    Apply {
        folded: bool,
    },
    /// All in one launch; whether the adapter has 64-bit atomics, and whether a workgroup serves the others.
    Single {
        wide: bool,
        served: bool,
    },
    Rows,
    Columns,
    /// Columns of an array of accumulators, to another.
    Accumulators,
}

/// A scan and what its dispatches share.
struct Scan<'a> {
    wgpu: &'a Wgpu,
    task: &'a ScanTask,
    limits: Limits,
    form: Form,
}

/// Parameters of a kernel's text besides its step and the task.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Vectors of four elements that an invocation holds.
    pub(super) rows: u32,
    pub(super) strided: bool,
    /// Whether trees are walked in subgroups.
    pub(super) subgroups: bool,
    /// Whether the operator stands in loops.
    pub(super) rolled: bool,
    /// Tiles of a group of a look-back.
    pub(super) group: u32,
    /// Invocations of a workgroup that looks back by groups.
    pub(super) look_back_threads: u32,
}

impl Form {
    /// Invocations of a workgroup of a kernel.
    fn threads(self, step: Step) -> u32 {
        if matches!(step, Step::Single { served: false, .. }) { self.look_back_threads } else { THREADS }
    }
}

impl Run<ScanTask> for Wgpu {
    fn run(&self, task: &ScanTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let acc = Accumulator::new(task.parts());
        let (stride, tuning) = (acc.stride(), self.tuning());
        let lines = task.lines;
        let strided = lines.inner > 1;
        let weight = task.load.weight() + task.combine.weight();
        // Where the operator stands in loops there are fewer of them without subgroups.
        let subgroups = acc.shuffles() && tuning.scan_in_subgroups && !tuning.rolls(weight);
        let form = Form {
            rows: tuning.rows(rows(stride)?, weight),
            strided,
            subgroups,
            rolled: tuning.rolls(weight),
            group: tuning.look_back_group.clamp(2, THREADS),
            look_back_threads: self.look_back_threads(),
        };
        let scan = Scan { wgpu: self, task, limits: self.window_limits(), form };
        let aligned = !strided && (lines.outer == 1 || lines.n.is_multiple_of(4));
        let plan = |outs| Operands::plan(scan.limits, &task.load.params, leaves, outs, aligned, strided, lines.elements());
        let all = plan(outs)?;
        let tiles = lines.n.div_ceil(SCAN_TILE);
        let fits = all.span(scan.limits, lines.elements(), 1, true) >= lines.n * lines.inner;
        if fits && !strided && lines.outer > 1 && lines.n <= SHORT {
            return scan.short_rows(&all);
        }
        if fits && strided && (tiles == 1 || lines.count() >= MANY_COLUMNS) {
            return scan.columns(&all);
        }
        let memory = Single::shared_bytes(stride, form);
        if fits
            && !strided
            && tiles >= tuning.look_back_from_tiles
            && tuning.looks_back(weight)
            && stride <= 8
            && !self.patterns().never_looks_back()
            && memory <= self.caps().workgroup_memory_bytes.into()
        {
            return Single::run(&scan, &all, tiles);
        }
        if strided && !fits && all.span(scan.limits, lines.elements(), 1, true) / lines.inner < SCAN_TILE {
            return scan.in_windows(&plan(&[])?, &all, &Operands::plan(scan.limits, &[], &[], outs, false, true, lines.elements())?);
        }
        if tiles == 1 {
            let kernel = scan.kernel(Step::Apply { folded: false }, &all)?;
            return scan.over(&kernel, &all, tiles, None);
        }
        let totals = self.allocate_bytes(lines.count() * tiles * stride)?;
        let sources = plan(&[])?;
        scan.over(&*scan.kernel(Step::Totals, &sources)?, &sources, tiles, Some(&totals))?;
        scan.fold(&totals, tiles)?;
        scan.over(&*scan.kernel(Step::Apply { folded: true }, &all)?, &all, tiles, Some(&totals))
    }
}

impl Wgpu {
    /// Invocations of a workgroup that looks back by groups.
    fn look_back_threads(&self) -> u32 {
        #[cfg(test)]
        if let Some(threads) = *self.patterns().look_back_threads.lock() {
            return threads;
        }
        self.threads(self.tuning().look_back_threads)
    }
}

impl Scan<'_> {
    fn kernel(&self, step: Step, operands: &Operands<'_>) -> Result<Arc<Kernel>> {
        self.wgpu.program("scan", &program(self.task, step, &operands.signature, &holes(self.task, step, self.form)))
    }

    /// Runs a kernel over all tiles of all lines, in as many dispatches as windows ask for.
    fn over(&self, kernel: &Kernel, operands: &Operands<'_>, tiles: u64, folds: Option<&Buffer>) -> Result<()> {
        let Lines { outer, n, inner } = self.task.lines;
        let slab = n * inner;
        let step = operands.span(self.limits, outer * slab, 1, true);
        let dispatch = |at: u64, lines: u64, first_line: u64, first_tile: u64, len: u64| {
            let here = len.div_ceil(SCAN_TILE);
            let blocks = lines * here;
            let words = [len, inner, here, blocks, first_tile, first_line * tiles, tiles, 0, 0].map(|w| w as u32);
            let mut launch = Launch::new(at, &words);
            if let ScanKind::Exclusive { first } = &self.task.kind
                && kernel.name() == "scan"
            {
                push_bits(&mut launch.args, first, &self.task.parts());
            }
            let span = Span::of(at, lines / inner.min(lines) * len * inner);
            operands.bind(self.limits, span, span, &mut launch.bindings, &mut launch.args)?;
            if let Some(buffer) = folds {
                launch.bindings.push(Binding { buffer, offset_bytes: 0, size_bytes: buffer.size_bytes() });
            }
            self.wgpu.launch(kernel, &launch, blocks)
        };
        if slab <= step {
            return chunks(outer, step / slab, |o, count| dispatch(o * slab, count * inner, o * inner, 0, n));
        }
        let window = step / inner / SCAN_TILE * SCAN_TILE;
        if window == 0 {
            return Err(Error::TooLarge {
                what: "bytes of a tile of every line",
                requested: SCAN_TILE * inner * operands.widest(),
                limit: self.limits.window_bytes,
            });
        }
        for o in 0..outer {
            chunks(n, window, |at, len| dispatch(o * slab + at * inner, inner, o * inner, at / SCAN_TILE, len))?;
        }
        Ok(())
    }

    /// Many rows to a workgroup.
    fn short_rows(&self, operands: &Operands<'_>) -> Result<()> {
        let Lines { outer, n, .. } = self.task.lines;
        let kernel = self.kernel(Step::Rows, operands)?;
        let lanes = n.div_ceil(4).next_power_of_two();
        let rows = operands.span(self.limits, outer * n, 1, true) / n;
        chunks(outer, rows, |at, count| {
            let span = Span::of(at * n, count * n);
            let words = [n, count, lanes].map(|w| w as u32);
            self.whole_lines(&kernel, operands, span, &words, (count * lanes).div_ceil(THREADS.into()))
        })
    }

    /// A column to an invocation.
    fn columns(&self, operands: &Operands<'_>) -> Result<()> {
        let Lines { outer, n, inner } = self.task.lines;
        let kernel = self.kernel(Step::Columns, operands)?;
        let slab = n * inner;
        let slabs = operands.span(self.limits, outer * slab, 1, true) / slab;
        chunks(outer, slabs, |at, count| {
            let span = Span::of(at * slab, count * slab);
            let words = [n, inner, count * inner].map(|w| w as u32);
            self.whole_lines(&kernel, operands, span, &words, (count * inner).div_ceil(THREADS.into()))
        })
    }

    /// Columns of which a window does not hold a tile: so many at a time that two arrays of accumulators hold them. They are loaded into one,
    /// scanned from there to the other, and stored from there, as many rows at a time as a window holds.
    fn in_windows(&self, sources: &Operands<'_>, all: &Operands<'_>, results: &Operands<'_>) -> Result<()> {
        let task = self.task;
        let Lines { outer, n, inner } = task.lines;
        let reduction = Reduction::new(self.wgpu, "scan", &task.combine, task.numerics, task.load.weight() + task.combine.weight())?;
        let step = all.span(self.limits, task.lines.elements(), 1, true);
        // Rows of an array start where a binding may.
        let most = self.limits.window_bytes / (n * reduction.stride) / ROW_ALIGN * ROW_ALIGN;
        if most == 0 {
            let (requested, limit) = (ROW_ALIGN * n * reduction.stride, self.limits.window_bytes);
            return Err(Error::TooLarge { what: "bytes of a line's accumulators", requested, limit });
        }
        let width = inner.min(step).min(most);
        let pitch = width.next_multiple_of(ROW_ALIGN);
        let rows = (step - width) / inner + 1;
        let (loaded, scanned) = (reduction.scratch(n * pitch)?, reduction.scratch(n * pitch)?);
        let load = reduction.stage(COLS, (Source::Leaves(&task.load), None), (Sink::Results, Some(&loaded)), sources)?;
        let store = reduction.stage(COLS, (Source::Partials, Some(&scanned)), (Sink::Outs(&task.finish), None), results)?;
        let none = Operands::none();
        let scan = self.kernel(Step::Accumulators, &none)?;
        for o in 0..outer {
            chunks(inner, width, |column, count| {
                let place = |row: u64, len: u64| Span::of((o * n + row) * inner + column, (len - 1) * inner + count);
                chunks(n, rows, |row, len| {
                    let words = [len, inner, count, 1, len, row * pitch, pitch].map(|w| w as u32);
                    reduction.enqueue(&load, place(row, len), Span::of(0, 0), &words, groups(count, len))
                })?;
                let mut launch = Launch::new(0, &[n, pitch, count].map(|w| w as u32));
                if let ScanKind::Exclusive { first } = &task.kind {
                    push_bits(&mut launch.args, first, &task.parts());
                }
                for buffer in [&loaded, &scanned] {
                    launch.bindings.push(Binding { buffer, offset_bytes: 0, size_bytes: buffer.size_bytes() });
                }
                self.wgpu.launch(&scan, &launch, groups(count, 1))?;
                chunks(n, rows, |row, len| {
                    let words = [len, pitch, count, 1, len, 0, inner].map(|w| w as u32);
                    let from_bytes = row * pitch * reduction.stride;
                    reduction.enqueue_from(&store, from_bytes, Span::of(0, 0), place(row, len), &words, groups(count, len))
                })
            })?;
        }
        Ok(())
    }

    fn whole_lines(&self, kernel: &Kernel, operands: &Operands<'_>, span: Span, words: &[u32], groups: u64) -> Result<()> {
        let mut launch = Launch::new(span.first, words);
        if let ScanKind::Exclusive { first } = &self.task.kind {
            push_bits(&mut launch.args, first, &self.task.parts());
        }
        operands.bind(self.limits, span, span, &mut launch.bindings, &mut launch.args)?;
        self.wgpu.launch(kernel, &launch, groups)
    }

    /// Turns every line's totals into the left folds of those before.
    fn fold(&self, totals: &Buffer, tiles: u64) -> Result<()> {
        let nothing = Operands::none();
        let kernel = self.kernel(Step::Fold, &nothing)?;
        let lines = self.task.lines.count();
        let words = [tiles, 1, 1, lines, 0, 0, tiles, 0, 0].map(|w| w as u32);
        let mut launch = Launch::new(0, &words);
        launch.bindings.push(Binding { buffer: totals, offset_bytes: 0, size_bytes: totals.size_bytes() });
        self.wgpu.launch(&kernel, &launch, lines)
    }
}

/// State that single-launch scans of a device keep between launches: the numbers that tell one launch's words from another's are drawn here,
/// so launches are enqueued in the order of their numbers.
#[derive(Debug)]
pub(super) struct Single {
    pub(super) tickets: Buffer,
    pub(super) status: Buffer,
    pub(super) epoch: u32,
}

/// The counter of tickets, and behind it what a selection hands from dispatch to dispatch.
pub(super) const TICKETS_BYTES: u64 = 4096;

/// Polls after which a workgroup computes a missing total itself; many times what a tile takes.
pub(super) const PATIENCE: u32 = 64;
/// Groups of tiles of a line up to which a fold goes from group to group; longer lines are served. On an H200 two groups of 64 took 8.4 us
/// and served 9.0, 32 took 51.5 and 49.0.
pub(super) const SERVED_FROM_GROUPS: u64 = 4;
/// Epochs fill 16 bits of a status word.
const LAST_EPOCH: u32 = 0xffff;

impl Single {
    /// Shared memory of a workgroup: slots, in shared memory's form with their gaps, the window, single values.
    fn shared_bytes(stride: u64, form: Form) -> u64 {
        let slots = if form.subgroups { u64::from(form.look_back_threads) } else { 2048 / 8 * 9 };
        (slots + u64::from(form.group) + 2) * stride + 16
    }

    /// One dispatch over all tiles of as many lines as a window holds, which is one at least.
    fn run(scan: &Scan<'_>, operands: &Operands<'_>, tiles: u64) -> Result<()> {
        let Lines { outer, n, .. } = scan.task.lines;
        let lines = operands.span(scan.limits, outer * n, 1, true) / n;
        chunks(outer, lines, |first, count| Self::lines(scan, operands, tiles, (first, count)))
    }

    /// One dispatch over all tiles of `lines` lines from one on.
    fn lines(scan: &Scan<'_>, operands: &Operands<'_>, tiles: u64, (line, lines): (u64, u64)) -> Result<()> {
        let n = scan.task.lines.n;
        let wide = scan.wgpu.has_wide_atomics();
        let served = tiles > SERVED_FROM_GROUPS * u64::from(scan.form.group);
        let kernel = scan.kernel(Step::Single { wide, served }, operands)?;
        let blocks = lines * tiles;
        let mut kept = scan.wgpu.patterns().single.lock();
        // A total and a fold to a tile, each word of an accumulator in 64 bits or two halves.
        let bytes = 2 * blocks * u64::from(Accumulator::new(scan.task.parts()).words()) * 8;
        let single = Self::ready(kept.take(), scan.wgpu, bytes, 1)?.next();
        let patience = scan.wgpu.patterns().patience().unwrap_or(PATIENCE);
        let words = [n as u32, 1, tiles as u32, blocks as u32, 0, 0, tiles as u32, single.epoch, patience];
        let mut launch = Launch::new(line * n, &words);
        if let ScanKind::Exclusive { first } = &scan.task.kind {
            push_bits(&mut launch.args, first, &scan.task.parts());
        }
        let span = Span::of(line * n, lines * n);
        operands.bind(scan.limits, span, span, &mut launch.bindings, &mut launch.args)?;
        for buffer in [&single.tickets, &single.status] {
            launch.bindings.push(Binding { buffer, offset_bytes: 0, size_bytes: buffer.size_bytes() });
        }
        // After an error it is not known whether the tickets were drawn, so nothing is kept.
        scan.wgpu.launch(&kernel, &launch, blocks + u64::from(served))?;
        drop(launch);
        *kept = Some(single);
        Ok(())
    }

    /// The status words, at least as many bytes, with numbers left for so many launches.
    pub(super) fn ready(kept: Option<Self>, wgpu: &Wgpu, bytes: u64, launches: u64) -> Result<Self> {
        let usable = kept.filter(|s| s.status.size_bytes() >= bytes && u64::from(s.epoch) + launches <= u64::from(LAST_EPOCH));
        if let Some(s) = usable {
            return Ok(s);
        }
        let bytes = bytes.next_power_of_two();
        let made = Self { tickets: wgpu.allocate_bytes(TICKETS_BYTES)?, status: wgpu.allocate_bytes(bytes)?, epoch: 0 };
        wgpu.clear(&made.tickets, 0, 4)?;
        wgpu.clear(&made.status, 0, bytes)?;
        Ok(made)
    }

    /// The same with a number that no earlier launch had.
    pub(super) fn next(self) -> Self {
        Self { epoch: self.epoch + 1, ..self }
    }
}

/// Adds an accumulator to the parameters.
pub(super) fn push_bits(args: &mut Args, first: &[u64], parts: &[isowarp_core::element::Ty]) {
    for (&bits, ty) in first.iter().zip(parts) {
        args.push(bits as u32);
        if ty.words() == 2 {
            args.push((bits >> 32) as u32);
        }
    }
}

pub(super) fn holes(task: &ScanTask, step: Step, form: Form) -> Vec<(&'static str, u32)> {
    let stores = !matches!(step, Step::Totals | Step::Fold);
    let exclusive = stores && matches!(task.kind, ScanKind::Exclusive { .. });
    let threads = form.threads(step);
    let rows = match step {
        Step::Rows => 1,
        Step::Single { .. } => SCAN_TILE as u32 / (4 * threads),
        _ => form.rows,
    };
    let columns = matches!(step, Step::Columns | Step::Accumulators);
    let walks = step != Step::Fold && !columns;
    let quads = rows * threads;
    vec![
        ("threads", threads),
        ("rows", rows),
        ("quads", quads),
        ("batches", SCAN_TILE as u32 / (4 * quads)),
        ("lane_bits", threads.ilog2()),
        ("strided", form.strided.into()),
        ("rolled", form.rolled.into()),
        ("exclusive", exclusive.into()),
        ("totals", (step == Step::Totals).into()),
        ("fold", (step == Step::Fold).into()),
        ("apply", matches!(step, Step::Apply { .. } | Step::Single { .. }).into()),
        ("single", matches!(step, Step::Single { .. }).into()),
        ("served", matches!(step, Step::Single { served: true, .. }).into()),
        ("narrow_status", matches!(step, Step::Single { wide: false, .. }).into()),
        ("wide_status", matches!(step, Step::Single { wide: true, .. }).into()),
        ("group", form.group),
        ("words", Accumulator::new(task.parts()).words()),
        ("folded", (step == Step::Apply { folded: true }).into()),
        ("packed", (step == Step::Rows).into()),
        ("columns", columns.into()),
        ("rows_in_lanes", (step == Step::Totals).into()),
        (SUBGROUPS, (walks && form.subgroups).into()),
    ]
}

pub(super) fn program<'a>(
    task: &'a ScanTask,
    step: Step,
    signature: &'a super::operands::Signature,
    holes: &'a [(&'static str, u32)],
) -> Program<'a> {
    let ends = (Source::Leaves(&task.load), Sink::Outs(&task.finish));
    let (template, entry, (source, sink)) = match step {
        Step::Totals => (SCAN, "scan_totals", (Source::Leaves(&task.load), Sink::Results)),
        Step::Fold => (SCAN, "scan_fold", (Source::Nothing, Sink::Results)),
        Step::Apply { .. } | Step::Single { .. } => (SCAN, "scan", ends),
        Step::Rows => (SCAN_ROWS, "scan_rows", ends),
        Step::Columns => (SCAN_COLS, "scan_cols", ends),
        Step::Accumulators => (SCAN_COLS, "scan_cols", (Source::Partials, Sink::Results)),
    };
    Program {
        template,
        entry,
        constants: holes,
        operators: Operators::Tree { source, combine: &task.combine, sink },
        signature,
        numerics: task.numerics,
        first: holes.contains(&("exclusive", 1)),
    }
}
