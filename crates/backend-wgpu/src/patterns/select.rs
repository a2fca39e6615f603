//! P04 select: one dispatch to a window of the inputs, which looks back for the places of its elements.

use super::Launch;
use super::access;
use super::accumulator::Accumulator;
use super::operands::{Limits, Operands, Signature, Span};
use super::program::{Operators, Program, SUBGROUPS, Writer, Written, identity, member, value_params};
use super::scan::{PATIENCE, SERVED_FROM_GROUPS, Single, TICKETS_BYTES};
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use crate::pipeline::Kernel;
use isowarp_core::backend::{Leaf, Out, RawBuffer as _, Run};
use isowarp_core::element::{DType, Ty};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Func;
use isowarp_core::patterns::{SelectKind, SelectTask};
use isowarp_shaders::kernels::SELECT;
use std::fmt::Write as _;

/// Invocations of a workgroup.
const THREADS: u32 = 256;
/// Words that an invocation holds of its elements, four to a row.
const WORDS: u32 = 8;
/// Words of shared memory for elements on their way, and where an operator looks at several to keep one. On an H200 2^28 u32 take, with 1024 and 2048 of them,
/// 515 and 539 us where half are kept, 912 and 976 in partitions, 960 and 1034 as runs; 619 and 597 where three quarters differ from their left neighbours,
/// 1186 and 1108 with values; 4096 take a quarter to a half more.
const STAGED_WORDS: u32 = 1024;
const STAGED_OF_SEVERAL: u32 = 2048;
/// Tiles of a group of a look-back whose sums fit into 16 KiB beside the rest.
pub(super) const MOST_GROUP: u32 = 64;
/// Numbers from dispatch to dispatch: two each, behind the ticket.
const MOST_WINDOWS: u64 = TICKETS_BYTES / 8 - 1;
/// Elements that 32 bits number with room for a tile.
const MOST: u64 = 1 << 31;

/// Parameters of a kernel's text besides the task.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) rows: u32,
    /// Whether the operator stands in loops.
    pub(super) rolled: bool,
    /// Tiles of a group of a look-back.
    pub(super) group: u32,
    /// Whether the adapter has 64-bit atomics.
    pub(super) wide: bool,
    /// Whether a workgroup serves the others.
    pub(super) served: bool,
}

impl Form {
    /// Tiles of so many elements.
    fn tiles(self, n: u64) -> u64 {
        n.div_ceil(u64::from(self.rows * THREADS * 4))
    }
}

impl Run<SelectTask> for Wgpu {
    fn run(&self, task: &SelectTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        if task.n > MOST {
            return Err(Error::TooLarge { what: "elements of a selection on this backend", requested: task.n, limit: MOST });
        }
        task.count_first(self, leaves, outs)?;
        let limits = self.window_limits();
        let sizes: Vec<(&Out<Buffer>, u64)> =
            outs.iter().enumerate().map(|(k, out)| (out, if k + 1 == outs.len() { task.kind.counts() } else { task.n })).collect();
        let operands = Operands::plan_scattering(limits, &task.func.params, leaves, &sizes, task.n)?;
        let tuning = self.tuning();
        let step = operands.span(limits, task.n, 1024, false);
        let mut form = Form {
            rows: tuning.rows(rows(task).min(self.patterns().select_rows(tuning)), task.func.weight()),
            rolled: tuning.rolls(task.func.weight()),
            group: tuning.look_back_group.clamp(2, MOST_GROUP),
            wide: self.has_wide_atomics(),
            served: false,
        };
        // All windows alike: the last one may be short.
        form.served = form.tiles(step.min(task.n)) > SERVED_FROM_GROUPS * u64::from(form.group);
        let holes = holes(task, form);
        let kernel = self.program("select", &program(task, &operands.signature, &holes))?;
        let windows = task.n.div_ceil(step);
        if windows > MOST_WINDOWS {
            return Err(Error::TooLarge { what: "windows of a selection", requested: windows, limit: MOST_WINDOWS });
        }
        // A window hands on its counts in memory that all selections share: none of another thread comes between, and it stays the same memory.
        let mut kept = self.patterns().single.lock();
        let mut single = Single::ready(kept.take(), self, state_bytes(task, form.tiles(step.min(task.n))), windows)?;
        for window in 0..windows {
            let first = window * step;
            let span = Span::of(first, step.min(task.n - first));
            single = single.next();
            one(self, &single, &kernel, (&operands, limits), form, (window, window + 1 == windows, span))?;
        }
        // After an error it is not known whether the tickets were drawn, so nothing is kept.
        *kept = Some(single);
        Ok(())
    }
}

/// Bytes of the states of so many tiles: a total and a fold to each, each word in 64 bits or two halves.
fn state_bytes(task: &SelectTask, tiles: u64) -> u64 {
    2 * tiles * task.kind.counters() as u64 * 8
}

/// One dispatch, over one window of the inputs.
fn one(
    wgpu: &Wgpu,
    single: &Single,
    kernel: &Kernel,
    (operands, limits): (&Operands<'_>, Limits),
    form: Form,
    (window, ends, span): (u64, bool, Span),
) -> Result<()> {
    let tiles = form.tiles(span.len);
    // There is no other form, so that tests that ask for one get this.
    let patience = wgpu.patterns().patience().filter(|_| !wgpu.patterns().never_looks_back()).unwrap_or(PATIENCE);
    let words = [span.len as u32, tiles as u32, tiles as u32, single.epoch, patience, window as u32, ends.into()];
    let mut launch = Launch::new(span.first, &words);
    operands.bind(limits, span, span, &mut launch.bindings, &mut launch.args)?;
    for buffer in [&single.tickets, &single.status] {
        launch.bindings.push(Binding { buffer, offset_bytes: 0, size_bytes: buffer.size_bytes() });
    }
    wgpu.launch(kernel, &launch, tiles + u64::from(form.served))
}

/// 32-bit words of an element's values.
fn words(task: &SelectTask) -> u32 {
    Accumulator::new(task.values()).words()
}

/// Rows of four elements that an invocation holds.
pub(super) fn rows(task: &SelectTask) -> u32 {
    (WORDS / words(task)).max(1).next_power_of_two().min(8)
}

pub(super) fn holes(task: &SelectTask, form: Form) -> Vec<(&'static str, u32)> {
    let kind = task.kind;
    let words = words(task);
    let runs = kind == SelectKind::Runs;
    let several = kind == SelectKind::Keep && task.func.params.len() > 1;
    let staged = if several { STAGED_OF_SEVERAL } else { STAGED_WORDS };
    let chunk = (1 << (staged / (words + u32::from(runs))).ilog2()).min(form.rows * THREADS * 4);
    vec![
        ("threads", THREADS),
        ("rows", form.rows),
        ("rolled", form.rolled.into()),
        ("chunk", chunk),
        ("value_words", words),
        ("sets", 1 + u32::from(kind == SelectKind::ThreeWays)),
        ("parts", if kind.counts_first() { kind.counters() as u32 + 1 } else { 1 }),
        ("three", (kind == SelectKind::ThreeWays).into()),
        ("runs", runs.into()),
        ("pairs", (kind.counters() == 2).into()),
        ("words", kind.counters() as u32),
        ("group", form.group),
        ("served", form.served.into()),
        ("narrow_status", (!form.wide).into()),
        ("wide_status", form.wide.into()),
        (SUBGROUPS, 0),
    ]
}

pub(super) fn program<'a>(task: &'a SelectTask, signature: &'a Signature, holes: &'a [(&'static str, u32)]) -> Program<'a> {
    Program {
        template: SELECT,
        entry: "select_tiles",
        constants: holes,
        operators: Operators::Own(task),
        signature,
        numerics: task.numerics,
        first: false,
    }
}

/// Parts and values of elements, and what tiles hand on.
impl Written for SelectTask {
    fn identity(&self) -> u128 {
        identity("select", &[&self.func], &[self.kind as u64, self.count as u64])
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.select(self);
    }
}

impl Writer<'_> {
    /// `Acc` and `combine` of what tiles hand on; `Item`, `load1`, `load4` of an element's part and the words of its values; `store_value`,
    /// `store_length`, `store_count` and `count_of`.
    fn select(&mut self, task: &SelectTask) {
        self.function(&task.combine, "op_combine");
        let acc = Accumulator::new(task.combine.result_types());
        self.text.push_str(&acc.text());
        self.text.push_str(&acc.word_functions());
        self.items(&task.func);

        let values = task.values();
        let outs = self.signature.outs.len();
        let mut out = |k: usize, ty: Ty| {
            let text = access::out(self.signature, k, ty, &mut self.calls);
            self.text.push_str(&text);
        };
        values.iter().enumerate().for_each(|(k, &ty)| out(k, ty));
        if task.kind == SelectKind::Runs {
            out(values.len(), Ty::U32);
        }
        let count = if task.count == DType::U64 { Ty::U64 } else { Ty::U32 };
        if task.kind.counts_first() {
            self.text.push_str(&access::count_of(self.signature, outs - 1));
        } else {
            out(outs - 1, count);
            let value = if count == Ty::U64 { "u64(v)" } else { "v" };
            let _ = writeln!(self.text, "fn store_count(v: u32) {{\n    out{}_1(0u, {value});\n}}", outs - 1);
        }
        if task.kind == SelectKind::Runs {
            let _ = writeln!(self.text, "fn store_length(i: u32, v: u32) {{\n    out{}_1(i, v);\n}}", values.len());
        }
        let words = Accumulator::new(values.clone()).words();
        let _ = writeln!(self.text, "fn store_value(i: u32, w: array<u32, {words}>) {{");
        let mut at = 0;
        for (k, &ty) in values.iter().enumerate() {
            let value = access::from_words(if ty == Ty::Bool { Ty::U32 } else { ty }, &format!("w[{at}]"), &format!("w[{}]", at + 1));
            let value = if ty == Ty::Bool { format!("({value} != 0u)") } else { value };
            let _ = writeln!(self.text, "    out{k}_1(i, {value});");
            at += ty.words();
        }
        self.text.push_str("}\n");
    }

    /// `Item`, and elements as such.
    fn items(&mut self, f: &Func) {
        let types = f.result_types();
        let n = types[1..].iter().map(|t| t.words()).sum::<usize>();
        let _ = writeln!(self.text, "struct Item {{ part: u32, v: array<u32, {n}> }}");
        self.leaves(f, "op_load");
        self.function(f, "op_load");
        let item = |result: &dyn Fn(usize) -> String| {
            let words: Vec<String> = types.iter().enumerate().skip(1).flat_map(|(r, &ty)| words_of(ty, &result(r))).collect();
            format!("Item({}, array<u32, {n}>({}))", result(0), words.join(", "))
        };
        let args: Vec<String> = value_params(f).map(|k| format!("leaf{k}_1(i)")).collect();
        let _ = writeln!(self.text, "fn load1(i: u32) -> Item {{\n    let v = op_load({});", args.join(", "));
        let _ = writeln!(self.text, "    return {};\n}}", item(&|r| member("v", r, types.len())));
        self.load_four(f, "Item", item);
    }
}

/// The words of a value.
pub(super) fn words_of(ty: Ty, v: &str) -> Vec<String> {
    match (ty, ty.words()) {
        (Ty::Bool, _) => vec![format!("select(0u, 1u, {v})")],
        (Ty::U32, _) => vec![v.to_owned()],
        (_, 1) => vec![format!("bitcast<u32>({v})")],
        _ => vec![format!("u32(bitcast<u64>({v}) & 0xfffffffflu)"), format!("u32(bitcast<u64>({v}) >> 32u)")],
    }
}
