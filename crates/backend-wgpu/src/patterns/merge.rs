//! P08 merge: a dispatch says where the tiles of the result begin, and one merges them. Searches, window by window.

mod lazy;

use super::Launch;
use super::operands::{Args, Limits, Signature, padded};
use super::place::{Place, most};
use super::program::{Program, of_bits as program};
use super::reduce::chunks;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::buffer::Memory as _;
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::input::index;
use isowarp_core::patterns::merge::Place as Array;
use isowarp_core::patterns::{CoRankTask, KeyBits, Map as _, MergePlaces, MergeTask, ScatterOp, ScatterTask, SearchKind, SearchTask};
use isowarp_shaders::kernels::{MERGE, SEARCH};
use lazy::Lazy;

/// Invocations of a workgroup.
const THREADS: u32 = 256;

/// Parameters of a merging kernel's text.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Bytes of a key, and of a value; 0 for none.
    pub(super) key_bytes: u64,
    pub(super) payload_bytes: u64,
    pub(super) writes_keys: bool,
    /// Whether the result is one tile.
    pub(super) alone: bool,
    /// Whether what is done to each key of an invocation is a loop.
    pub(super) rolled: bool,
    /// Whether keys and values are computed where they are read.
    pub(super) lazy: bool,
    /// Whether keys, of four bytes, are written four at a time.
    pub(super) quads: bool,
}

/// Keys of an invocation, odd, so that invocations start in different banks. On an H200 2^28 keys of 4 bytes take 890 us with 9, 897 with 11, 927 with 7, and
/// 909 with 15, which is what 16 KiB hold: fewer leave registers for more workgroups. Pairs 1163, 1194, 1179 and 1247.
const fn items(key_bytes: u64) -> u32 {
    if key_bytes == 8 { 7 } else { 9 }
}

pub(super) fn merge_holes(form: Form) -> Vec<(&'static str, u32)> {
    let Form { key_bytes, payload_bytes, writes_keys, alone, rolled, lazy, quads } = form;
    let is = |yes: bool| u32::from(yes);
    let (wide, wide_values) = (key_bytes == 8, payload_bytes == 8);
    vec![
        ("threads", THREADS),
        ("items", items(key_bytes)),
        ("key_bytes", key_bytes as u32),
        ("payload_bytes", payload_bytes as u32),
        ("writes_keys", is(writes_keys)),
        ("alone", is(alone)),
        ("rolled", is(rolled)),
        ("lazy", is(lazy)),
        ("co_ranks", 0),
        ("reads_words", is(!wide && !lazy)),
        ("reads_pairs", is(wide && !lazy)),
        ("quads", is(quads)),
        ("writes_words", is(writes_keys && !wide && !quads)),
        ("writes_pairs", is(writes_keys && wide)),
        ("reads_values_words", is(payload_bytes > 0 && !wide_values && !lazy)),
        ("reads_values_pairs", is(wide_values && !lazy)),
        ("writes_values_words", is(payload_bytes > 0 && !wide_values)),
        ("writes_values_pairs", is(wide_values)),
        ("reads_cuts", is(!alone)),
    ]
}

/// Of given ranks of one or two words, or of where tiles begin; `bracketed`: between those of the workgroup's first and last tile.
pub(super) fn co_rank_holes(key_bytes: u64, given: u32, lazy: bool, bracketed: bool) -> [(&'static str, u32); 10] {
    let wide = key_bytes == 8;
    [
        ("lazy", u32::from(lazy)),
        ("bracketed", u32::from(bracketed)),
        ("threads", THREADS),
        ("items", items(key_bytes)),
        ("key_bytes", key_bytes as u32),
        ("co_ranks", 1),
        ("given", given),
        ("reads_ranks", u32::from(given > 0)),
        ("reads_words", u32::from(!wide && !lazy)),
        ("reads_pairs", u32::from(wide && !lazy)),
    ]
}

pub(super) fn search_holes(key_bytes: u64, kind: SearchKind, found: DType, lazy: bool) -> [(&'static str, u32); 6] {
    let wide = key_bytes == 8;
    [
        ("lazy", u32::from(lazy)),
        ("key_bytes", key_bytes as u32),
        ("kind", kind as u32),
        ("wide", u32::from(found == DType::U64)),
        ("reads_words", u32::from(!wide && !lazy)),
        ("reads_pairs", u32::from(wide && !lazy)),
    ]
}

pub(super) fn merge_program<'a>(holes: &'a [(&'static str, u32)], signature: &'a Signature) -> Program<'a> {
    program(MERGE, if holes.contains(&("co_ranks", 1)) { "merge_co_ranks" } else { "merge_tiles" }, holes, signature)
}

pub(super) fn search_program<'a>(holes: &'a [(&'static str, u32)], signature: &'a Signature) -> Program<'a> {
    program(SEARCH, "search", holes, signature)
}

pub(super) fn place((raw, offset): Array<'_, Buffer>, size: u64) -> Place<'_> {
    Place { raw, offset, size }
}

pub(super) fn result(out: &Out<Buffer>) -> Place<'_> {
    Place { raw: &out.raw, offset: out.offset, size: out.dtype.size_bytes() }
}

pub(super) fn masks(map: KeyBits) -> [u32; 4] {
    [map.negative as u32, (map.negative >> 32) as u32, map.flip as u32, (map.flip >> 32) as u32]
}

/// The parameters of a merging kernel, and its bindings as they are added.
struct Call<'a> {
    limits: Limits,
    words: [u32; 14],
    /// Of what is computed.
    operands: Args,
    bindings: arrayvec::ArrayVec<crate::binds::Binding<'a>, { super::MAX }>,
}

const BLOCKS: usize = 0;
const PHASE: usize = 3;
const SKIP_A: usize = 4;
const SKIP_B: usize = 5;
const SKIP_V: usize = 6;
const SKIP_W: usize = 7;
const SKIP_KEYS: usize = 8;
const SKIP_VALUES: usize = 9;

impl<'a> Call<'a> {
    fn new(limits: Limits, (m, n): (u64, u64), map: KeyBits) -> Self {
        let [a, b, c, d] = masks(map);
        let words = [0, m as u32, n as u32, 0, 0, 0, 0, 0, 0, 0, a, b, c, d];
        Self { limits, words, operands: Args::default(), bindings: arrayvec::ArrayVec::new() }
    }

    /// Binds a whole array, and says in a parameter how far into the binding it starts.
    fn bind(&mut self, skip: usize, place: Place<'a>, len: u64) -> Result<()> {
        let (window, binding) = place.bind(self.limits, 0, len)?;
        self.words[skip] = window.skip as u32;
        self.bindings.push(binding);
        Ok(())
    }

    fn launch(self) -> Launch<'a> {
        let mut launch = Launch::new(0, &self.words);
        launch.args.extend(&self.operands);
        launch.bindings = self.bindings;
        launch
    }
}

impl Run<MergeTask> for Wgpu {
    fn run(&self, task: &MergeTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let limits = self.window_limits();
        let (size, payload) = (task.dtype.size_bytes(), places.values.as_ref().map_or(0, |(_, out)| out.dtype.size_bytes()));
        if task.total() > most(limits, size.max(payload)) {
            return self.merge_by_places(task, &places);
        }
        let values = places.values.as_ref().map(|(values, out)| (Reads::Arrays(*values), *out));
        self.merge_all(task, Reads::Arrays(places.keys), places.keys_out, values)
    }
}

/// Where a merge finds the keys of both sides, or their values.
#[derive(Clone, Copy)]
enum Reads<'a> {
    Arrays([Array<'a, Buffer>; 2]),
    Computed(&'a Lazy<'a>),
}

impl<'a> Reads<'a> {
    /// Binds what is read of both sides, elements of this size.
    fn bind(self, call: &mut Call<'a>, task: &MergeTask, size: u64, skips: [usize; 2]) -> Result<()> {
        match self {
            Self::Arrays([a, b]) => {
                call.bind(skips[0], place(a, size), task.m)?;
                call.bind(skips[1], place(b, size), task.n)
            }
            Self::Computed(lazy) => lazy.bind(call),
        }
    }

    /// The program over these; `none` are the operands of arrays.
    fn program<'b>(self, holes: &'b [(&'static str, u32)], none: &'b Signature) -> Program<'b>
    where
        'a: 'b,
    {
        match self {
            Self::Arrays(_) => merge_program(holes, none),
            Self::Computed(lazy) => lazy.program(merge_program(holes, none)),
        }
    }

    fn weight(self) -> u32 {
        match self {
            Self::Arrays(_) => 0,
            Self::Computed(lazy) => lazy.weight(),
        }
    }
}

impl Wgpu {
    /// Merges of arrays that bindings hold. What computes pairs where it reads them has the values' reads in the keys' own.
    fn merge_all(
        &self,
        task: &MergeTask,
        keys: Reads<'_>,
        keys_out: &Out<Buffer>,
        values: Option<(Reads<'_>, &Out<Buffer>)>,
    ) -> Result<()> {
        let payload = values.map_or(0, |(_, out)| out.dtype.size_bytes());
        // Tiles begin with a word of narrow elements, so there is one output of these to a dispatch.
        if task.dtype.size_bytes() < 4 && 0 < payload && payload < 4 {
            self.merge_tiles(task, keys, Some(keys_out), None)?;
            return self.merge_tiles(task, keys, None, values);
        }
        self.merge_tiles(task, keys, Some(keys_out), values)
    }

    fn merge_tiles(
        &self,
        task: &MergeTask,
        keys: Reads<'_>,
        keys_out: Option<&Out<Buffer>>,
        values: Option<(Reads<'_>, &Out<Buffer>)>,
    ) -> Result<()> {
        let limits = self.window_limits();
        let (size, total) = (task.dtype.size_bytes(), task.total());
        let payload = values.map_or(0, |(_, out)| out.dtype.size_bytes());
        let writes_keys = keys_out.is_some();
        let none = Signature::default();
        // Outlives what binds it.
        let begins_of_tiles;
        let mut call = Call::new(limits, (task.m, task.n), task.key_bits());
        // Computations of values compute keys, too.
        let (all, lazy) = match (values, keys) {
            (Some((Reads::Computed(_), _)), _) => (values.map_or(keys, |(all, _)| all), true),
            (_, Reads::Computed(_)) => (keys, true),
            _ => (keys, false),
        };
        all.bind(&mut call, task, size, [SKIP_A, SKIP_B])?;
        let narrow = |size: u64| 0 < size && size < 4;
        let quads = size == 4 && !narrow(payload) && keys_out.is_some_and(|out| padded(&out.raw, out.offset + total, size));
        if let Some(out) = keys_out {
            call.bind(SKIP_KEYS, result(out), total)?;
            if let (true, Some(binding)) = (quads, call.bindings.last_mut()) {
                binding.size_bytes = binding.size_bytes.next_multiple_of(16);
            }
        }
        if let Some((reads, out)) = values {
            if !lazy {
                reads.bind(&mut call, task, payload, [SKIP_V, SKIP_W])?;
            }
            call.bind(SKIP_VALUES, result(out), total)?;
        }
        let phase = if quads {
            call.words[SKIP_KEYS] % 4
        } else if writes_keys && narrow(size) {
            call.words[SKIP_KEYS] % (4 / size as u32)
        } else if narrow(payload) {
            call.words[SKIP_VALUES] % (4 / payload as u32)
        } else {
            0
        };
        let tiles = (total + u64::from(phase)).div_ceil(u64::from(THREADS * items(size)));
        (call.words[BLOCKS], call.words[PHASE]) = (tiles as u32, phase);
        let alone = tiles == 1;
        let heavy = self.tuning().rolls(all.weight());
        let rolled = self.patterns().rolls_merges(self.tuning()) || heavy;
        let holes = merge_holes(Form { key_bytes: size, payload_bytes: payload, writes_keys, alone, rolled, lazy, quads });
        let kernel = self.program("merge", &all.program(&holes, &none))?;
        if alone {
            return self.launch(&kernel, &call.launch(), tiles);
        }
        begins_of_tiles = self.buffer::<u32>(tiles + 1)?;
        let cuts = Place { raw: begins_of_tiles.raw(), offset: 0, size: 4 };
        let mut begins = Call::new(limits, (task.m, task.n), task.key_bits());
        (begins.words[BLOCKS], begins.words[PHASE]) = (tiles as u32 + 1, phase);
        keys.bind(&mut begins, task, size, [SKIP_A, SKIP_B])?;
        let (_, binding) = cuts.bind(limits, 0, tiles + 1)?;
        begins.bindings.push(binding);
        let holes = co_rank_holes(size, 0, lazy, !heavy && tiles >= self.tuning().merge_bracketed_from);
        let co_ranks = self.program("merge", &keys.program(&holes, &none))?;
        self.launch(&co_ranks, &begins.launch(), (tiles + 1).div_ceil(THREADS.into()))?;
        call.bindings.push(binding);
        self.launch(&kernel, &call.launch(), tiles)
    }

    /// For arrays that no binding holds: every element's place is its own index and how many elements of the other array are before it.
    fn merge_by_places(&self, task: &MergeTask, places: &MergePlaces<'_, Buffer>) -> Result<()> {
        let limit = u64::from(u32::MAX / 2);
        if task.total() > limit {
            return Err(Error::TooLarge { what: "elements of a merge", requested: task.total(), limit });
        }
        let sides = [(0, task.m, task.n, SearchKind::Lower), (1, task.n, task.m, SearchKind::Upper)];
        for (side, len, others, kind) in sides {
            if len == 0 {
                continue;
            }
            let elements = |(raw, offset): Array<'_, Buffer>, dtype| Leaf::Elements { raw: raw.clone(), dtype, offset, stride: 1 };
            let (raw, offset) = places.keys[1 - side];
            let sorted = Leaf::Array { raw: raw.clone(), dtype: task.dtype, offset, len: others };
            let keys = elements(places.keys[side], task.dtype);
            let to = self.buffer::<u32>(len)?;
            let indices = || Leaf::Elements { raw: to.raw().clone(), dtype: DType::U32, offset: 0, stride: 1 };
            let found = Out { raw: to.raw().clone(), dtype: DType::U32, offset: 0 };
            let search = SearchTask { dtype: task.dtype, order: task.order, n: others, needles: len, kind };
            self.run(&search, &[sorted, keys.clone()], &[found])?;
            self.map_into((&to, index()), |(before, i)| before + i, &to)?;
            let scatter = ScatterTask { n: len, targets: task.total(), op: ScatterOp::Store, positions: false };
            self.run(&scatter, &[keys, indices()], std::slice::from_ref(places.keys_out))?;
            if let Some((values, out)) = &places.values {
                self.run(&scatter, &[elements(values[side], out.dtype), indices()], std::slice::from_ref(*out))?;
            }
        }
        Ok(())
    }
}

impl Run<CoRankTask> for Wgpu {
    fn run(&self, task: &CoRankTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([a, b, ranks], out) = task.places(leaves, outs)?;
        let limits = self.window_limits();
        let (size, position) = (task.dtype.size_bytes(), out.dtype.size_bytes());
        let (longest, limit) = (task.m.max(task.n), most(limits, size).min(u64::from(u32::MAX / 2)));
        if longest > limit {
            return Err(Error::TooLarge { what: "elements of an array with co-ranks", requested: longest, limit });
        }
        let holes = co_rank_holes(size, position as u32 / 4, false, false);
        let signature = Signature::default();
        let kernel = self.program("co_ranks", &merge_program(&holes, &signature))?;
        chunks(task.ranks, most(limits, position), |first, count| {
            let mut call = Call::new(limits, (task.m, task.n), task.key_bits());
            call.words[BLOCKS] = count as u32;
            call.bind(SKIP_A, place(a, size), task.m)?;
            call.bind(SKIP_B, place(b, size), task.n)?;
            call.bind(SKIP_V, Place { offset: ranks.1 + first, ..place(ranks, position) }, count)?;
            call.bind(SKIP_KEYS, Place { offset: out.offset + first, ..result(out) }, count)?;
            self.launch(&kernel, &call.launch(), count.div_ceil(THREADS.into()))
        })
    }
}

impl Run<SearchTask> for Wgpu {
    fn run(&self, task: &SearchTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([sorted, needles], out) = task.places(leaves, outs)?;
        let limits = self.window_limits();
        let (size, position) = (task.dtype.size_bytes(), out.dtype.size_bytes());
        let limit = u64::from(u32::MAX);
        if task.n > limit {
            return Err(Error::TooLarge { what: "elements of a sorted array", requested: task.n, limit });
        }
        let (sorted, needles, found) = (place(sorted, size), place(needles, size), result(out));
        let holes = search_holes(size, task.kind, out.dtype, false);
        let signature = Signature::default();
        let kernel = self.program("search", &search_program(&holes, &signature))?;
        let [a, b, c, d] = masks(task.key_bits());
        chunks(task.needles, most(limits, size.max(position)), |first, count| {
            let (w_needles, b_needles) = needles.bind(limits, first, count)?;
            let (w_found, b_found) = found.bind(limits, first, count)?;
            let window = |at: u64, n: u64| {
                let (w, b_sorted) = sorted.bind(limits, at, n)?;
                let skips = [w.skip, w_needles.skip, w_found.skip].map(|s| s as u32);
                let words = [n as u32, count as u32, skips[0], skips[1], skips[2], u32::from(at > 0), a, b, c, d];
                let mut launch = Launch::new(0, &words);
                launch.bindings.extend([b_sorted, b_needles, b_found]);
                self.launch(&kernel, &launch, count.div_ceil(THREADS.into()))
            };
            if task.n == 0 { window(0, 0) } else { chunks(task.n, most(limits, size), window) }
        })
    }
}
