//! P07 merge sort by the caller's order: a dispatch that sorts tiles, then two to each doubling of the runs: where the tiles of the result begin,
//! and what is in them.

use super::Launch;
use super::operands::Signature;
use super::place::{Place, most};
use super::program::{Operators, Program, Writer};
use crate::buffer::Buffer;
use crate::device::Wgpu;
use crate::pipeline::Kernel;
use isowarp_core::backend::{Backend as _, Leaf, Out, Run};
use isowarp_core::buffer::Memory as _;
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Func;
use isowarp_core::patterns::merge::Place as Array;
use isowarp_core::patterns::{MergeByTask, MergeSortTask, MergeTiling, SortPayload};
use isowarp_shaders::kernels::MERGE_SORT;
use std::fmt::Write as _;
use std::sync::Arc;

/// Invocations of a workgroup.
const THREADS: u32 = 256;
/// Bytes of a value, or an index.
const PAYLOAD: u64 = 4;
/// A shift that leaves one pair of runs.
const ONE_PAIR: u32 = 31;
/// How often a kernel that is written out repeats an operator.
const REPEATED: u32 = 32;

/// Which kernel of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Tiles,
    Cuts,
    /// Whether the result is one tile.
    Merge {
        alone: bool,
    },
}

/// What a kernel's text depends on, besides the order.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Bytes of a key where it is read.
    pub(super) key_bytes: u64,
    pub(super) payload: SortPayload,
    pub(super) writes_keys: bool,
    /// Whether what is done to each key of an invocation is a loop.
    pub(super) rolled: bool,
}

pub(super) fn holes(step: Step, form: Form) -> Vec<(&'static str, u32)> {
    let Form { key_bytes, payload, writes_keys, rolled } = form;
    let is = |yes: bool| u32::from(yes);
    let wide = key_bytes == 8;
    let (second, moves) = (step != Step::Tiles, step != Step::Cuts);
    let values = moves && payload == SortPayload::Values;
    vec![
        ("threads", THREADS),
        ("part", if wide { 8 } else { 16 }),
        ("key_bytes", key_bytes as u32),
        ("wide", is(wide)),
        ("tiles", is(step == Step::Tiles)),
        ("cuts", is(step == Step::Cuts)),
        ("alone", is(step == Step::Merge { alone: true })),
        ("pairs", is(moves && payload != SortPayload::Nothing)),
        ("indices", is(moves && payload == SortPayload::Indices)),
        ("writes_keys", is(moves && writes_keys)),
        ("rolled", is(moves && rolled)),
        ("reads_words", is(!wide)),
        ("reads_pairs", is(wide)),
        ("reads_second_words", is(second && !wide)),
        ("reads_second_pairs", is(second && wide)),
        ("reads_values", is(values)),
        ("reads_second_values", is(values && second)),
        ("reads_cuts", is(step == Step::Merge { alone: false })),
        ("writes_words", is(moves && writes_keys && !wide)),
        ("writes_pairs", is(moves && writes_keys && wide)),
    ]
}

pub(super) fn program<'a>(
    step: Step,
    (before, dtype, numerics): (&'a Func, DType, Numerics),
    signature: &'a Signature,
    holes: &'a [(&'static str, u32)],
) -> Program<'a> {
    Program {
        template: MERGE_SORT,
        entry: match step {
            Step::Tiles => "sort_by_tile",
            Step::Cuts => "sort_by_cuts",
            Step::Merge { .. } => "sort_by_merge",
        },
        constants: holes,
        operators: Operators::Order { before, dtype },
        signature,
        numerics,
        first: false,
    }
}

impl Writer<'_> {
    /// `before(x, y)` of two keys' bits.
    pub(super) fn order(&mut self, before: &Func, dtype: DType) {
        self.function(before, "op_before");
        let ty = dtype.ty();
        let word = if ty.words() == 2 { "vec2<u32>" } else { "u32" };
        let value = |key: &str| match dtype {
            DType::F16 => format!("iw_f16_to_f32({key})"),
            _ if ty.words() == 2 => super::access::from_words(ty, &format!("{key}.x"), &format!("{key}.y")),
            _ => super::access::from_words(ty, key, ""),
        };
        if dtype == DType::F16 {
            self.calls.insert("iw_f16_to_f32".to_owned());
        }
        let _ =
            writeln!(self.text, "fn before(x: {word}, y: {word}) -> bool {{\n    return op_before({}, {});\n}}", value("x"), value("y"));
    }
}

/// Keys and payload where a pass finds or leaves them.
#[derive(Clone, Copy)]
struct Side<'a> {
    keys: Option<Place<'a>>,
    payload: Option<Place<'a>>,
}

/// A sort, or a merge, and what its passes share.
struct Order<'a> {
    wgpu: &'a Wgpu,
    before: &'a Func,
    dtype: DType,
    numerics: Numerics,
    n: u64,
    rolled: bool,
}

/// Two runs of a pass, the first ones of all pairs: keys, values, and keys of a run.
struct Runs<'a> {
    keys: [Place<'a>; 2],
    values: Option<[Place<'a>; 2]>,
    lengths: [u64; 2],
    /// Elements that are bound from where each begins.
    bound: [u64; 2],
    shift: u32,
}

/// The parameters, by their places behind the first element's index.
const N: usize = 0;
const RUN_A: usize = 1;
const RUN_B: usize = 2;
const SHIFT: usize = 3;
const BLOCKS: usize = 4;
const SECOND: usize = 5;
const SKIP_A: usize = 6;
const SKIP_B: usize = 7;
const SKIP_V: usize = 8;
const SKIP_W: usize = 9;
const SKIP_KEYS: usize = 10;
const SKIP_VALUES: usize = 11;

type Bindings<'a> = arrayvec::ArrayVec<crate::binds::Binding<'a>, { super::MAX }>;

impl<'a> Order<'a> {
    fn new(wgpu: &'a Wgpu, before: &'a Func, dtype: DType, numerics: Numerics, n: u64) -> Result<Self> {
        let limit = most(wgpu.window_limits(), dtype.size_bytes().max(PAYLOAD));
        if n > limit {
            return Err(Error::TooLarge { what: "elements of a sort by an order of your own", requested: n, limit });
        }
        let tuning = wgpu.tuning();
        let rolled = wgpu.patterns().rolls_merges(tuning) || tuning.rows(REPEATED, before.weight()) < REPEATED;
        Ok(Self { wgpu, before, dtype, numerics, n, rolled })
    }

    /// The first of these kernels, and where that is new, those that follow it.
    fn kernel(&self, kernels: &[(Step, Form)]) -> Result<Arc<Kernel>> {
        let signature = Signature::default();
        let holes: Vec<_> = kernels.iter().map(|&(step, form)| holes(step, form)).collect();
        let order = (self.before, self.dtype, self.numerics);
        let programs: Vec<_> = kernels.iter().zip(&holes).map(|(&(step, _), holes)| program(step, order, &signature, holes)).collect();
        match &programs[..] {
            [first, next @ ..] => self.wgpu.program_before("sort_by", first, next),
            [] => Err(Error::InvalidArgument { what: "sort_by", reason: "it has no kernel".to_owned() }),
        }
    }

    fn tiles(&self) -> u64 {
        self.n.div_ceil(MergeTiling::of(self.dtype).tile)
    }

    fn bind<'b>(&self, (words, bindings): (&mut [u32; 12], &mut Bindings<'b>), skip: usize, place: Place<'b>, len: u64) -> Result<()> {
        let (window, binding) = place.bind(self.wgpu.window_limits(), 0, len)?;
        words[skip] = window.skip as u32;
        bindings.push(binding);
        Ok(())
    }

    fn outputs<'b>(&self, words: &mut [u32; 12], bindings: &mut Bindings<'b>, to: Side<'b>) -> Result<()> {
        for (place, skip) in [(to.keys, SKIP_KEYS), (to.payload, SKIP_VALUES)] {
            if let Some(place) = place {
                self.bind((words, bindings), skip, place, self.n)?;
            }
        }
        Ok(())
    }

    fn launch(&self, kernels: &[(Step, Form)], words: &[u32; 12], bindings: Bindings<'_>, groups: u64) -> Result<()> {
        let mut launch = Launch::new(0, words);
        launch.bindings = bindings;
        self.wgpu.launch(&*self.kernel(kernels)?, &launch, groups)
    }

    /// Sorts every tile by itself; `next` are the kernels that follow.
    fn sort_tiles(&self, payload: SortPayload, from: Side<'_>, to: Side<'_>, next: &[(Step, Form)]) -> Result<()> {
        let Some(keys) = from.keys else { return Ok(()) };
        let form = Form { key_bytes: keys.size, payload, writes_keys: to.keys.is_some(), rolled: self.rolled };
        let kernels = [&[(Step::Tiles, form)][..], next].concat();
        let (mut words, mut bindings) = ([0; 12], Bindings::new());
        (words[N], words[BLOCKS]) = (self.n as u32, self.tiles() as u32);
        self.bind((&mut words, &mut bindings), SKIP_A, keys, self.n)?;
        if let (SortPayload::Values, Some(values)) = (payload, from.payload) {
            self.bind((&mut words, &mut bindings), SKIP_V, values, self.n)?;
        }
        self.outputs(&mut words, &mut bindings, to)?;
        self.launch(&kernels, &words, bindings, self.tiles())
    }

    /// Merges pairs of runs; `cuts` has room for a number to a tile.
    fn merge(&self, payload: SortPayload, runs: &Runs<'_>, cuts: Option<&Buffer>, to: Side<'_>) -> Result<()> {
        let form = Form { key_bytes: runs.keys[0].size, payload, writes_keys: to.keys.is_some(), rolled: self.rolled };
        let (mut words, mut bindings) = ([0; 12], Bindings::new());
        (words[N], words[SHIFT], words[BLOCKS]) = (self.n as u32, runs.shift, self.tiles() as u32);
        [words[RUN_A], words[RUN_B]] = runs.lengths.map(|len| len as u32);
        words[SECOND] = runs.lengths[0] as u32;
        for (k, skip) in [SKIP_A, SKIP_B].into_iter().enumerate() {
            self.bind((&mut words, &mut bindings), skip, runs.keys[k], runs.bound[k])?;
        }
        let merge = [(Step::Merge { alone: cuts.is_none() }, form)];
        let whole = cuts.map(|raw| Place { raw, offset: 0, size: 4 });
        if let Some(cuts) = whole {
            let mut bindings = bindings.clone();
            bindings.push(cuts.bind(self.wgpu.window_limits(), 0, self.tiles())?.1);
            self.launch(&[(Step::Cuts, form), merge[0]], &words, bindings, self.tiles().div_ceil(THREADS.into()))?;
        }
        if let Some(values) = runs.values {
            for (k, skip) in [SKIP_V, SKIP_W].into_iter().enumerate() {
                self.bind((&mut words, &mut bindings), skip, values[k], runs.bound[k])?;
            }
        }
        if let Some(cuts) = whole {
            bindings.push(cuts.bind(self.wgpu.window_limits(), 0, self.tiles())?.1);
        }
        self.outputs(&mut words, &mut bindings, to)?;
        self.launch(&merge, &words, bindings, self.tiles())
    }
}

fn place((raw, offset): Array<'_, Buffer>, size: u64) -> Place<'_> {
    Place { raw, offset, size }
}

fn result(out: &Out<Buffer>) -> Place<'_> {
    Place { raw: &out.raw, offset: out.offset, size: out.dtype.size_bytes() }
}

fn whole(raw: Option<&Buffer>, size: u64) -> Option<Place<'_>> {
    raw.map(|raw| Place { raw, offset: 0, size })
}

/// The runs of a pair of which the second is so far behind the first.
fn halves(first: Place<'_>, run: u64) -> [Place<'_>; 2] {
    [first, Place { offset: first.offset + run, ..first }]
}

impl Run<MergeSortTask> for Wgpu {
    fn run(&self, task: &MergeSortTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let (n, size, payload) = (task.n, task.dtype.size_bytes(), task.payload);
        let (narrow, pairs, passes) = (size < 4, payload != SortPayload::Nothing, task.tiling().passes(n));
        let order = Order::new(self, &task.before, task.dtype, task.numerics, n)?;
        // The last pass writes home, the one before away, and so on; narrow keys are words there, which are packed at the end.
        let word = size.max(4);
        let room = |wanted: bool, size: u64| if wanted { self.allocate_bytes(n * size).map(Some) } else { Ok(None) };
        let [lent, more] = [places.keys_lent, places.more_keys_lent].map(|lent| lent.filter(|_| !narrow));
        let own_home = room(if task.keys_out { narrow } else { more.is_none() && passes > 1 }, word)?;
        let own_away = room(lent.is_none() && passes > 0, word)?;
        let own_payload = room(pairs && places.payload_lent.is_none() && passes > 0, PAYLOAD)?;
        let cuts = if passes > 0 { Some(self.buffer::<u32>(order.tiles())?) } else { None };
        let home_keys = whole(own_home.as_ref(), word).or(places.keys_out.or(more).map(result));
        let home = Side { keys: home_keys, payload: places.payload_out.map(result) };
        let away = Side {
            keys: whole(own_away.as_ref(), word).or(lent.map(result)),
            payload: whole(own_payload.as_ref(), PAYLOAD).or(places.payload_lent.map(result)),
        };

        let side = |pass: u32| {
            let side = if (passes - pass).is_multiple_of(2) { home } else { away };
            if pass == passes && !task.keys_out { Side { keys: None, ..side } } else { side }
        };
        let source = Side { keys: Some(place(places.keys[0], size)), payload: places.values.map(|[v]| place(v, PAYLOAD)) };
        let travels = if pairs { SortPayload::Values } else { SortPayload::Nothing };
        let form = Form { key_bytes: word, payload: travels, writes_keys: task.keys_out || passes > 1, rolled: order.rolled };
        let next = [(Step::Cuts, form), (Step::Merge { alone: false }, form)];
        order.sort_tiles(payload, source, side(0), if passes > 0 { &next } else { &[] })?;
        for pass in 1..=passes {
            let (run, from) = (task.tiling().tile << (pass - 1), side(pass - 1));
            let Some(keys) = from.keys else { continue };
            let runs = Runs {
                keys: halves(keys, run),
                values: from.payload.map(|payload| halves(payload, run)),
                lengths: [run; 2],
                bound: [n, n - run],
                shift: pass,
            };
            order.merge(travels, &runs, cuts.as_ref().map(isowarp_core::buffer::Buffer::raw), side(pass))?;
        }
        match (places.keys_out, &own_home) {
            (Some(out), Some(words)) if narrow => self.pack(words, n, out),
            _ => Ok(()),
        }
    }
}

impl Run<MergeByTask> for Wgpu {
    fn run(&self, task: &MergeByTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let (total, size) = (task.total(), task.dtype.size_bytes());
        let order = Order::new(self, &task.before, task.dtype, task.numerics, total)?;
        let narrow = size < 4;
        let own = if narrow { Some(self.allocate_bytes(total * 4)?) } else { None };
        let cuts = if order.tiles() > 1 { Some(self.buffer::<u32>(order.tiles())?) } else { None };
        let lengths = [task.m, task.n];
        let runs = Runs {
            keys: places.keys.map(|keys| place(keys, size)),
            values: places.values.map(|values| values.map(|v| place(v, PAYLOAD))),
            lengths,
            bound: lengths,
            shift: ONE_PAIR,
        };
        let keys = whole(own.as_ref(), 4).or(places.keys_out.map(result));
        let to = Side { keys, payload: places.payload_out.map(result) };
        order.merge(task.payload, &runs, cuts.as_ref().map(isowarp_core::buffer::Buffer::raw), to)?;
        match (places.keys_out, &own) {
            (Some(out), Some(words)) => self.pack(words, total, out),
            _ => Ok(()),
        }
    }
}
