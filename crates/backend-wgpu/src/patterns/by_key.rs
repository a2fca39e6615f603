//! P05 by key: where runs begin, what comes before each tile, and the runs of tiles; then those that are long, as segments are.

use super::Launch;
use super::access;
use super::accumulator::Accumulator;
use super::operands::{Limits, Operands, Signature, Span};
use super::program::{Operators, Program, SUBGROUPS, Sink, Source, Writer, Written, identity, value_params};
use super::segments::{MOST, SHORT, Segments, whole};
use crate::buffer::Buffer;
use crate::device::Wgpu;
use crate::pipeline::Kernel;
use arrayvec::ArrayVec;
use isowarp_core::backend::{Backend as _, Leaf, Out, Run};
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::ir::{self, Expr, Func, Param, wgsl_type};
use isowarp_core::patterns::{ByKeyPlaces, Lines, ReduceByKeyTask, ScanKind, ScanTask};
use isowarp_shaders::kernels::{BY_KEY, BY_KEY_HEADS};
use std::fmt::Write as _;
use std::sync::Arc;

/// Invocations of a workgroup.
const THREADS: u32 = 256;
/// Elements of which a workgroup finds where runs begin: eight rows of four to an invocation.
const BLOCK: u64 = 32 * THREADS as u64;
/// Runs whose places a tile knows at once.
const CHUNK: u32 = 1024;
/// Tiles that a workgroup takes one after the other, at most. On an H200 2^28 elements in runs of four take 1620 us with 8, 1637 with 4, 1690 with 2 and
/// 1840 with one.
const TURNS: u64 = 8;
/// Tiles up to which each sums up by itself what comes before it.
const FEW_TILES: u64 = THREADS as u64;
/// Words of an accumulator of which a tile fits into shared memory; no element type has more.
const MOST_WORDS: u32 = 2;
/// Marks, of four bytes, between two places at which a binding may start.
const MARK_ALIGN: u64 = 64;

/// Parameters of the kernels' text besides the task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// Rows of four elements that an invocation of a tile holds, one or two.
    pub(super) rows: u32,
    /// Rows of four keys that an invocation has on their way: a divisor of eight.
    pub(super) head_rows: u32,
    /// Whether runs may be long.
    pub(super) lists: bool,
    /// Whether what comes before a tile is summed up.
    pub(super) folded: bool,
}

impl Form {
    /// Elements of a tile.
    const fn tile(self) -> u64 {
        4 * (self.rows * THREADS) as u64
    }
}

/// Rows of a tile, by the words of an accumulator: what fits 16 KiB.
pub(super) const fn rows(words: u32) -> u32 {
    if words == 1 { 2 } else { 1 }
}

pub(super) fn holes(heads: bool, form: Form) -> [(&'static str, u32); 8] {
    [
        ("threads", THREADS),
        ("heads", heads.into()),
        ("rows", if heads { form.head_rows } else { form.rows }),
        ("tile", form.tile() as u32),
        ("chunk", CHUNK),
        ("lists", form.lists.into()),
        ("folded", form.folded.into()),
        (SUBGROUPS, 0),
    ]
}

pub(super) fn heads_program<'a>(task: &'a ReduceByKeyTask, signature: &'a Signature, holes: &'a [(&'static str, u32)]) -> Program<'a> {
    Program {
        template: BY_KEY_HEADS,
        entry: "by_key_heads",
        constants: holes,
        operators: Operators::Own(&*task.runs.func),
        signature,
        numerics: task.runs.numerics,
        first: false,
    }
}

pub(super) fn program<'a>(task: &'a ReduceByKeyTask, signature: &'a Signature, holes: &'a [(&'static str, u32)]) -> Program<'a> {
    Program {
        template: BY_KEY,
        entry: "by_key",
        constants: holes,
        operators: Operators::Own(task),
        signature,
        numerics: task.values.numerics,
        first: false,
    }
}

/// State that the dispatches of a task share.
struct ByKey<'a> {
    wgpu: &'a Wgpu,
    task: &'a ReduceByKeyTask,
    limits: Limits,
    /// Of the keys, and of the values, the keys and all outputs.
    heads: Operands<'a>,
    all: Operands<'a>,
    form: Form,
}

impl Run<ReduceByKeyTask> for Wgpu {
    fn run(&self, task: &ReduceByKeyTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let (keys, found) = places.keys_in_words();
        let values: Vec<Leaf<Buffer>> = places.values.iter().chain(&keys[..1]).cloned().collect();
        match ByKey::plan(self, task, &places, (&keys, &values, &found)) {
            Some(by_key) => by_key.run(&places),
            None => task.in_steps(self, leaves, outs),
        }
    }
}

impl<'a> ByKey<'a> {
    /// The dispatches' operands; nothing where the call takes two steps.
    fn plan(
        wgpu: &'a Wgpu,
        task: &'a ReduceByKeyTask,
        places: &ByKeyPlaces<'a, Buffer>,
        (keys, values, found): (&'a [Leaf<Buffer>], &'a [Leaf<Buffer>], &'a Out<Buffer>),
    ) -> Option<Self> {
        let (n, tuning) = (task.values.n, wgpu.tuning());
        let words = Accumulator::new(task.values.parts()).words();
        let weight = task.values.load.weight() + task.values.combine.weight();
        // An operator that has to stand in loops does so in the kernels of segments.
        if n > MOST || words > MOST_WORDS || tuning.rolls(weight) {
            return None;
        }
        let limits = wgpu.window_limits();
        let outs: Vec<(&Out<Buffer>, u64)> = places.results.iter().chain([found]).map(|out| (out, n)).chain([(places.count, 1)]).collect();
        let params: Vec<Param> = task.values.load.params.iter().chain(&task.runs.func.params[..1]).copied().collect();
        // Operands too many for these kernels may not be too many for those of the two steps, which say so if they are.
        let heads = Operands::plan(limits, &task.runs.func.params, keys, &[], true, false, n).ok()?;
        let all = Operands::plan_scattering(limits, &params, values, &outs, n).ok()?;
        let one_window = |operands: &Operands<'_>| operands.span(limits, n, 1, false) >= n;
        if !one_window(&heads) || !one_window(&all) {
            return None;
        }
        let mut form = Form {
            rows: tuning.rows(rows(words), weight),
            head_rows: tuning.rows(8.min(wgpu.patterns().select_rows(tuning)), task.runs.func.weight()),
            lists: n > SHORT,
            folded: false,
        };
        form.folded = n.div_ceil(form.tile()) > FEW_TILES;
        let most = wgpu.caps().max_storage_buffers;
        let fits = heads_program(task, &heads.signature, &holes(true, form)).buffers() <= most
            && program(task, &all.signature, &holes(false, form)).buffers() <= most;
        fits.then_some(Self { wgpu, task, limits, heads, all, form })
    }

    fn run(&self, places: &ByKeyPlaces<'_, Buffer>) -> Result<()> {
        let (wgpu, values, form) = (self.wgpu, &self.task.values, self.form);
        let segments = Segments::new(wgpu, values, places.values, places.results)?;
        let listed = if form.lists { Some(segments.list()?) } else { None };
        let (blocks, tiles) = (values.n.div_ceil(BLOCK), values.n.div_ceil(form.tile()));
        let (infos, pitch) = (blocks * u64::from(THREADS), (blocks * BLOCK / form.tile()).next_multiple_of(MARK_ALIGN));
        let words = wgpu.allocate_bytes(8 * (infos + pitch))?;
        let marks = wgpu.allocate_bytes(2 * 4 * pitch)?;
        let holes = [holes(true, form), holes(false, form)];
        let first = heads_program(self.task, &self.heads.signature, &holes[0]);
        let then = program(self.task, &self.all.signature, &holes[1]);
        let n = Span::of(0, values.n);

        let kernel = wgpu.program("reduction by key", &first)?;
        let list = listed.as_ref().map(|l| &l.list);
        self.launch(&kernel, (&self.heads, n, Span::of(0, 0)), &[n.len, blocks, infos, pitch], (&words, &marks, list), blocks)?;

        let folds = if form.folded { wgpu.fold_marks(&marks, tiles, pitch)? } else { marks };
        let kernel = wgpu.program("reduction by key", &then)?;
        let joins = listed.as_ref().map_or(0, |l| l.joins);
        let turns = (tiles / wgpu.tuning().by_key_groups).clamp(1, TURNS);
        let args = [n.len, tiles, infos, pitch, segments.tile, joins, turns];
        self.launch(&kernel, (&self.all, n, n), &args, (&words, &folds, list), tiles.div_ceil(turns))?;
        listed.as_ref().map_or(Ok(()), |listed| segments.reduce_listed(listed))
    }

    fn launch(
        &self,
        kernel: &Kernel,
        (operands, inputs, outputs): (&Operands<'_>, Span, Span),
        words: &[u64],
        (of_words, of_tiles, list): (&Buffer, &Buffer, Option<&Buffer>),
        groups: u64,
    ) -> Result<()> {
        let words: ArrayVec<u32, 8> = words.iter().map(|&w| w as u32).collect();
        let mut launch = Launch::new(0, &words);
        operands.bind(self.limits, inputs, outputs, &mut launch.bindings, &mut launch.args)?;
        launch.bindings.extend([of_words, of_tiles].into_iter().chain(list).map(whole));
        self.wgpu.launch(kernel, &launch, groups)
    }
}

impl Wgpu {
    /// The runs that begin before each tile, and behind these the latest of their beginnings.
    fn fold_marks(&self, marks: &Buffer, tiles: u64, pitch: u64) -> Result<Buffer> {
        type Mark = (Expr<u32>, Expr<u32>);
        let kept = &self.patterns().marks;
        let task = match kept.get() {
            Some(task) => task,
            None => {
                let same = Arc::new(ir::trace(|mark: Mark| mark)?);
                let combine = ir::trace(|(a, b): (Mark, Mark)| (a.0 + b.0, a.1.max(b.1)))?;
                let kind = ScanKind::Exclusive { first: vec![0, 0] };
                let (combine, lines) = (Arc::new(combine), Lines::one(0));
                kept.get_or_init(|| ScanTask { load: Arc::clone(&same), combine, finish: same, lines, kind, numerics: Numerics::Strict })
            }
        };
        let folds = self.allocate_bytes(2 * 4 * pitch)?;
        let leaf = |offset| Leaf::Elements { raw: marks.clone(), dtype: DType::U32, offset, stride: 1 };
        let out = |offset| Out { raw: folds.clone(), dtype: DType::U32, offset };
        self.run(&ScanTask { lines: Lines::one(tiles), ..task.clone() }, &[leaf(0), leaf(pitch)], &[out(0), out(pitch)])?;
        Ok(folds)
    }
}

/// Whether runs begin: part 0 of a selection of where they do.
impl Written for Func {
    fn identity(&self) -> u128 {
        identity("heads", &[self], &[])
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.heads(self);
    }
}

/// Runs of equal keys: a tree from the leaves of the values to their outputs, behind which the keys and their number follow.
impl Written for ReduceByKeyTask {
    fn identity(&self) -> u128 {
        identity("by_key", &[&self.values.load, &self.values.combine, &self.values.finish], &[])
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.by_key(self);
    }
}

impl Writer<'_> {
    /// `load1` and `load4`: 0 where a run begins.
    fn heads(&mut self, f: &Func) {
        self.leaves(f, "op_load");
        self.function(f, "op_load");
        let args: Vec<String> = value_params(f).map(|k| format!("leaf{k}_1(i)")).collect();
        let _ = writeln!(self.text, "fn load1(i: u32) -> u32 {{\n    return op_load({}).r0;\n}}", args.join(", "));
        self.load_four(f, "u32", |part| part(0));
    }

    /// Writes what a tree has, of the values; and `Key`, `key_of`, `store_key` and `store_count`.
    fn by_key(&mut self, task: &ReduceByKeyTask) {
        let values = &task.values;
        let parts = Accumulator::new(values.parts());
        self.tree(Source::Leaves(&values.load), &values.combine, Sink::Outs(&values.finish), &parts, &mut Vec::new());
        let (leaf, found, count) = (values.load.params.len(), values.finish.results.len(), values.finish.results.len() + 1);
        let ty = self.signature.outs[found].dtype.ty();
        for (k, ty) in [(found, ty), (count, isowarp_core::element::Ty::U32)] {
            let text = access::out(self.signature, k, ty, &mut self.calls);
            self.text.push_str(&text);
        }
        let t = wgsl_type(ty);
        let _ = writeln!(self.text, "alias Key = {t};\nfn key_of(i: u32) -> Key {{\n    return leaf{leaf}_1(i);\n}}");
        let _ = writeln!(self.text, "fn store_key(i: u32, v: Key) {{\n    out{found}_1(i, v);\n}}");
        let _ = writeln!(self.text, "fn store_count(v: u32) {{\n    out{count}_1(0u, v);\n}}");
    }
}
