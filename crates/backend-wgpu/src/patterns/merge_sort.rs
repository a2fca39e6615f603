//! P07 merge sort by the caller's order: a dispatch that sorts tiles, then two to each doubling of the runs: where the tiles of the result begin,
//! and what is in them. Of arrays that no binding holds, parts of whole pairs are merged so, and longer pairs by windows onto their runs.

mod windows;

use super::Launch;
use super::operands::Signature;
use super::place::{Place, most};
use super::program::{Operators, Program, Writer};
use super::reduce::chunks;
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
use isowarp_shaders::kernels::{MERGE_SORT, MERGE_SORT_WINDOWS};
use std::fmt::Write as _;
use std::sync::Arc;

/// Invocations of a workgroup.
const THREADS: u32 = 256;
/// Bytes of a value, or an index.
const PAYLOAD: u64 = 4;
/// A shift that leaves one pair of runs.
const ONE_PAIR: u32 = 31;
/// Number of repetitions of an operator in a kernel that is written out.
const REPEATED: u32 = 32;

/// Kernel of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Tiles,
    Cuts,
    /// Whether the result is one tile.
    Merge {
        alone: bool,
    },
}

/// Parameters of a kernel's text, besides the order.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Bytes of a key where it is read.
    pub(super) key_bytes: u64,
    pub(super) payload: SortPayload,
    pub(super) writes_keys: bool,
    /// Whether what is done to each key of an invocation is a loop.
    pub(super) rolled: bool,
    /// Whether runs are seen through windows; of tiles, whether the first index is a parameter.
    pub(super) windows: bool,
}

pub(super) fn holes(step: Step, form: Form) -> Vec<(&'static str, u32)> {
    let Form { key_bytes, payload, writes_keys, rolled, windows } = form;
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
        ("windows", is(windows)),
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
    let second_run = step != Step::Tiles;
    Program {
        template: if second_run && holes.contains(&("windows", 1)) { MERGE_SORT_WINDOWS } else { MERGE_SORT },
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
        let word = if dtype.ty().words() == 2 { "vec2<u32>" } else { "u32" };
        let [x, y] = ["x", "y"].map(|key| super::access::from_key(dtype, key, &mut self.calls));
        let _ = writeln!(self.text, "fn before(x: {word}, y: {word}) -> bool {{\n    return op_before({x}, {y});\n}}");
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
    rolled: bool,
    /// The most elements of any operand that a binding surely holds.
    most: u64,
    tiling: MergeTiling,
}

/// Two runs of a pass, the first ones of all pairs: keys of all, keys, values, and keys of a run.
struct Runs<'a> {
    n: u64,
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
        let (limits, tiling) = (wgpu.window_limits(), MergeTiling::of(dtype));
        let size = dtype.size_bytes().max(PAYLOAD);
        let held = most(limits, size);
        // A window holds a tile of either run from any key on; what is known of the search for every tile is bound whole.
        let least = 2 * tiling.tile;
        if n > held && held < least {
            let (requested, limit) = (least * size, limits.window_bytes);
            return Err(Error::TooLarge { what: "bytes of two tiles of a sort by an order of your own", requested, limit });
        }
        let limit = held.max(most(limits, PAYLOAD) / 2 * tiling.tile).min(u64::from(u32::MAX / 2));
        if n > limit {
            return Err(Error::TooLarge { what: "elements of a sort by an order of your own", requested: n, limit });
        }
        let tuning = wgpu.tuning();
        let rolled = wgpu.patterns().rolls_merges(tuning) || tuning.rows(REPEATED, before.weight()) < REPEATED;
        Ok(Self { wgpu, before, dtype, numerics, rolled, most: held, tiling })
    }

    fn kernel(&self, step: Step, form: Form) -> Result<Arc<Kernel>> {
        let order = (self.before, self.dtype, self.numerics);
        self.wgpu.program("sort_by", &program(step, order, &Signature::default(), &holes(step, form)))
    }

    fn tiles(&self, n: u64) -> u64 {
        n.div_ceil(self.tiling.tile)
    }

    /// Room for where the tiles of a merge begin; through windows, for what is left of the search, too.
    fn cuts(&self, n: u64) -> Result<isowarp_core::buffer::Buffer<Wgpu, u32>> {
        self.wgpu.buffer(if n > self.most { 2 * self.tiles(n) } else { self.tiles(n) })
    }

    /// Binds `len` elements from `first` on, and says in a parameter how far into the binding they start.
    fn bind<'b>(
        &self,
        (words, bindings): (&mut [u32], &mut Bindings<'b>),
        skip: usize,
        place: Place<'b>,
        (first, len): (u64, u64),
    ) -> Result<()> {
        let (window, binding) = place.bind(self.wgpu.window_limits(), first, len)?;
        words[skip] = window.skip as u32;
        bindings.push(binding);
        Ok(())
    }

    fn outputs<'b>(
        &self,
        words: &mut [u32],
        bindings: &mut Bindings<'b>,
        skips: [usize; 2],
        to: Side<'b>,
        elements: (u64, u64),
    ) -> Result<()> {
        for (place, skip) in [to.keys, to.payload].into_iter().zip(skips) {
            if let Some(place) = place {
                self.bind((words, bindings), skip, place, elements)?;
            }
        }
        Ok(())
    }

    fn launch(&self, (step, form): (Step, Form), base: u64, words: &[u32], bindings: Bindings<'_>, groups: u64) -> Result<()> {
        let mut launch = Launch::new(base, words);
        launch.bindings = bindings;
        self.wgpu.launch(&*self.kernel(step, form)?, &launch, groups)
    }

    /// Sorts every tile by itself.
    fn sort_tiles(&self, n: u64, payload: SortPayload, from: Side<'_>, to: Side<'_>) -> Result<()> {
        let Some(keys) = from.keys else { return Ok(()) };
        let windows = n > self.most && payload == SortPayload::Indices;
        let form = Form { key_bytes: keys.size, payload, writes_keys: to.keys.is_some(), rolled: self.rolled, windows };
        let step = if n > self.most { self.most / self.tiling.tile * self.tiling.tile } else { n };
        chunks(n, step, |first, len| {
            let (mut words, mut bindings) = ([0; 12], Bindings::new());
            (words[N], words[BLOCKS]) = (len as u32, self.tiles(len) as u32);
            self.bind((&mut words, &mut bindings), SKIP_A, keys, (first, len))?;
            if let (SortPayload::Values, Some(values)) = (payload, from.payload) {
                self.bind((&mut words, &mut bindings), SKIP_V, values, (first, len))?;
            }
            self.outputs(&mut words, &mut bindings, [SKIP_KEYS, SKIP_VALUES], to, (first, len))?;
            self.launch((Step::Tiles, form), first, &words, bindings, self.tiles(len))
        })
    }

    /// A pass of a sort of `n` keys: merges runs of `tile << (pass - 1)` keys in pairs, as many pairs at a time as a binding holds.
    fn pass(&self, pass: u32, n: u64, payload: SortPayload, from: Side<'_>, to: Side<'_>, cuts: Option<&Buffer>) -> Result<()> {
        let run = self.tiling.tile << (pass - 1);
        let pair = 2 * run;
        let step = if n > self.most { (self.most / pair).max(1) * pair } else { n };
        chunks(n, step, |first, len| {
            let from = from.behind(first);
            let Some(keys) = from.keys else { return Ok(()) };
            let runs = Runs {
                n: len,
                keys: halves(keys, run),
                values: from.payload.map(|payload| halves(payload, run)),
                lengths: [run; 2],
                bound: [len, len.saturating_sub(run)],
                shift: pass,
            };
            self.merge(payload, &runs, cuts, to.behind(first))
        })
    }

    /// Merges pairs of runs; `cuts` has room for a number to a tile, or two.
    fn merge(&self, payload: SortPayload, runs: &Runs<'_>, cuts: Option<&Buffer>, to: Side<'_>) -> Result<()> {
        if let (true, Some(cuts)) = (runs.n > self.most, cuts) {
            return self.merge_through_windows(payload, runs, cuts, to);
        }
        let (tiles, all) = (self.tiles(runs.n), (0, runs.n));
        let form = Form { key_bytes: runs.keys[0].size, payload, writes_keys: to.keys.is_some(), rolled: self.rolled, windows: false };
        let (mut words, mut bindings) = ([0; 12], Bindings::new());
        (words[N], words[SHIFT], words[BLOCKS]) = (runs.n as u32, runs.shift, tiles as u32);
        [words[RUN_A], words[RUN_B]] = runs.lengths.map(|len| len as u32);
        words[SECOND] = runs.lengths[0] as u32;
        for (k, skip) in [SKIP_A, SKIP_B].into_iter().enumerate() {
            self.bind((&mut words, &mut bindings), skip, runs.keys[k], (0, runs.bound[k]))?;
        }
        let whole = cuts.map(|raw| Place { raw, offset: 0, size: 4 });
        if let Some(cuts) = whole {
            let mut bindings = bindings.clone();
            bindings.push(cuts.bind(self.wgpu.window_limits(), 0, tiles)?.1);
            self.launch((Step::Cuts, form), 0, &words, bindings, tiles.div_ceil(THREADS.into()))?;
        }
        if let Some(values) = runs.values {
            for (k, skip) in [SKIP_V, SKIP_W].into_iter().enumerate() {
                self.bind((&mut words, &mut bindings), skip, values[k], (0, runs.bound[k]))?;
            }
        }
        if let Some(cuts) = whole {
            bindings.push(cuts.bind(self.wgpu.window_limits(), 0, tiles)?.1);
        }
        self.outputs(&mut words, &mut bindings, [SKIP_KEYS, SKIP_VALUES], to, all)?;
        self.launch((Step::Merge { alone: cuts.is_none() }, form), 0, &words, bindings, tiles)
    }
}

impl Side<'_> {
    /// Returns the side that begins so many elements behind.
    fn behind(self, first: u64) -> Self {
        let [keys, payload] = [self.keys, self.payload].map(|place| place.map(|p| Place { offset: p.offset + first, ..p }));
        Self { keys, payload }
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
        let cuts = if passes > 0 { Some(order.cuts(n)?) } else { None };
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
        order.sort_tiles(n, payload, source, side(0))?;
        for pass in 1..=passes {
            order.pass(pass, n, travels, side(pass - 1), side(pass), cuts.as_ref().map(isowarp_core::buffer::Buffer::raw))?;
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
        let cuts = if order.tiles(total) > 1 { Some(order.cuts(total)?) } else { None };
        let lengths = [task.m, task.n];
        let runs = Runs {
            n: total,
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
