//! P07 sort: a pass over each digit. Workgroups may wait for nobody, so a pass counts, scans the counts, and scatters.

use super::Launch;
use super::operands::Signature;
use super::place::{Place, most};
use super::program::{Operators, Program, SUBGROUPS};
use super::reduce::chunks;
use super::segmented_sort::{Parts, STAYS, Short};
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use crate::pipeline::Kernel;
use isowarp_core::backend::{Backend as _, Leaf, Out, RawBuffer as _, Run};
use isowarp_core::caps::Numerics;
use isowarp_core::error::{Error, Result};
use isowarp_core::ops::Sum;
use isowarp_core::patterns::{Digit, Scan as _, SortPayload, SortPlaces, SortTask};
use isowarp_shaders::kernels::SORT;
use std::sync::Arc;

/// Invocations of a workgroup.
pub(super) const THREADS: u32 = 256;
/// Keys of an invocation: with the digits' places, what 16 KiB hold.
pub(super) const ITEMS: u32 = 15;
/// Keys of an invocation for pairs where the adapter has 24 KiB, and for wide keys. On an H200 2^28 pairs of 4 bytes take 10.6 ms with 23 and
/// 12.1 with 15, 10.8 with 21, 15.0 with 27; keys of 8 bytes 34.8 with 13, 39.4 with 15, 37.0 with 11; keys of 4 bytes 7.86 with 15, 8.4 and more
/// with 13 and 17.
const ITEMS_OF_PAIRS: u32 = 23;
const WIDE_ITEMS: u32 = 13;
/// Values of a digit, at most.
const RADIX: u32 = 256;
/// Counters of a workgroup, of all its subgroups together.
const COUNTERS: u32 = 2048;
/// Bits of a digit that is ranked in shared memory: sixteen values, in 16 bits each, for every invocation.
const NARROW_DIGIT: u32 = 4;
/// Counters of a workgroup that counts.
const COPIES: u32 = 4;
/// Workgroups that take tiles of parts, at most.
const PART_GROUPS: u64 = 16_384;
/// Parameters of a dispatch.
const WORDS: usize = 19;

/// Keys and payload where a pass finds or leaves them.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) keys: Option<Place<'a>>,
    pub(super) payload: Option<Place<'a>>,
}

/// Input of a dispatch: blocks, and the elements that they begin in, and those bound. Blocks of parts begin elsewhere, too, and are left out then.
#[derive(Clone, Copy)]
struct Window {
    block: u64,
    blocks: u64,
    first: u64,
    len: u64,
    bound: u64,
}

impl Side<'_> {
    /// Returns the side that the last pass writes: no keys where only what travels is wanted.
    fn written(self, task: &SortTask) -> Self {
        if task.keys_out { self } else { Self { keys: None, ..self } }
    }
}

/// The most rows that have a workgroup each, however few keys they have: a sort of segments takes more launches.
const ROWS_APART: u64 = 1024;

/// Kernel of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Count,
    Scatter { alone: bool },
    Pack,
}

/// Keys of a tile.
pub(super) const fn tile(items: u32) -> u64 {
    (THREADS * items) as u64
}

/// Parameters of a kernel's text.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Keys of an invocation.
    pub(super) items: u32,
    /// Bits of a digit.
    pub(super) digit_bits: u32,
    /// Whether keys are ranked in subgroups, and whether these may have more than 32 lanes.
    pub(super) subgroups: bool,
    pub(super) wide: bool,
    /// Whether what is done to each key of an invocation is a loop.
    pub(super) rolled: bool,
    /// Bytes of a key where the pass reads it.
    pub(super) key_bytes: u64,
    /// Bytes of a payload; 0 for none.
    pub(super) payload_bytes: u64,
    /// Whether the payload is made rather than read.
    pub(super) indices: bool,
    pub(super) writes_keys: bool,
    /// Whether rows are parts of any lengths, with a table of tiles.
    pub(super) parts: bool,
}

/// A sort and what its passes share.
pub(super) struct Sort<'a> {
    pub(super) wgpu: &'a Wgpu,
    pub(super) task: &'a SortTask,
    pub(super) form: Form,
    /// Tiles of a row; of parts, at most of all.
    pub(super) tiles: u64,
    /// Where the tiles of parts lie, and what sorts the parts that are none.
    pub(super) parts: Option<Parts>,
    /// Counts of a pass and where they lead; none where a row is one tile.
    pub(super) counts: Option<[isowarp_core::buffer::Buffer<Wgpu, u32>; 2]>,
}

impl Run<SortTask> for Wgpu {
    fn run(&self, task: &SortTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        if task.rows > ROWS_APART && task.is_of_short_rows(&places, Short::of(task).room()) {
            return task.rows_as_segments(self, leaves, outs);
        }
        let items = self.sort_items(task.dtype.size_bytes(), places.payload_bytes);
        let tiles = task.n.div_ceil(tile(items));
        let form = Form { items, ..self.sort_form(task, places.payload_bytes, task.rows * tiles, tiles > 1)? };
        let counts = if tiles > 1 { Some(self.sort_counts(form, task.rows * tiles)?) } else { None };
        Sort { wgpu: self, task, form, tiles, parts: None, counts }.run(&places)
    }
}

impl Sort<'_> {
    pub(super) fn run(&self, places: &SortPlaces<'_, Buffer>) -> Result<()> {
        let (task, wgpu) = (self.task, self.wgpu);
        let (elements, size) = (task.elements(), task.dtype.size_bytes());
        let (narrow, travels) = (size < 4, task.payload != SortPayload::Nothing);
        let source = |(raw, offset), size| Place { raw, offset, size };
        let result = |out: &'_ Out<Buffer>| -> (u64, u64) { (out.offset, out.dtype.size_bytes()) };
        // Of short parts alone there are no tiles.
        let digits = if self.tiles > 0 { task.digits(self.form.digit_bits) } else { Vec::new() };

        // The last pass writes home, the one before away, and so on; where that would be the source, the roles are swapped. Narrow keys have a home of
        // their own, what travels with them has not.
        let in_place = places.keys_out.is_some_and(|o| o.raw.same(places.keys.0) && o.offset == places.keys.1);
        let swapped = in_place && digits.len() % 2 == 1;
        let swapped_keys = swapped && !narrow;
        let word = size.max(4);
        let passes = digits.len();
        let room = |wanted: bool, size: u64| if wanted { wgpu.allocate_bytes(elements * size).map(Some) } else { Ok(None) };
        let lent_keys = places.keys_lent.filter(|_| !narrow);
        let own_home = room(narrow && task.keys_out || !task.keys_out && passes > 2, word)?;
        let own_away = room(lent_keys.is_none() && (passes > 1 || swapped_keys), word)?;
        let own_payload = room(travels && places.payload_lent.is_none() && (passes > 1 || swapped), places.payload_bytes)?;
        let lent = |own: &'_ Option<Buffer>, out: Option<&'_ Out<Buffer>>, size: u64| -> Option<(Buffer, u64, u64)> {
            match (own, out) {
                (Some(raw), _) => Some((raw.clone(), 0, size)),
                (None, Some(out)) => Some((out.raw.clone(), result(out).0, size)),
                (None, None) => None,
            }
        };
        let home_keys = lent(&own_home, places.keys_out.filter(|_| !narrow), word);
        let away_keys = lent(&own_away, lent_keys, word);
        let home_payload = lent(&None, places.payload_out, places.payload_bytes);
        let away_payload = lent(&own_payload, places.payload_lent, places.payload_bytes);
        fn place(held: &Option<(Buffer, u64, u64)>) -> Option<Place<'_>> {
            held.as_ref().map(|(raw, offset, size)| Place { raw, offset: *offset, size: *size })
        }
        let mut home = Side { keys: place(&home_keys), payload: place(&home_payload) };
        let mut away = Side { keys: place(&away_keys), payload: place(&away_payload) };
        if swapped_keys {
            std::mem::swap(&mut home.keys, &mut away.keys);
        }
        if swapped {
            std::mem::swap(&mut home.payload, &mut away.payload);
        }

        let mut from = Side { keys: Some(source(places.keys, size)), payload: places.values.map(|v| source(v, places.payload_bytes)) };
        if let Some(parts) = &self.parts {
            parts.sort_short(self, from, home.written(task))?;
        }
        for (k, &digit) in digits.iter().enumerate() {
            let to = if (passes - 1 - k).is_multiple_of(2) { home } else { away };
            let last = k + 1 == passes;
            let to = if last { to.written(task) } else { to };
            self.pass(digit, from, to)?;
            from = to;
        }
        for (swapped, from, to) in [(swapped_keys, home.keys, away.keys), (swapped, home.payload, away.payload)] {
            if let (true, Some(from), Some(to)) = (swapped, from, to) {
                wgpu.copy_bytes(from.raw, from.offset * from.size, to.raw, to.offset * to.size, elements * to.size)?;
            }
        }
        if let (true, Some(out)) = (narrow, places.keys_out) {
            return wgpu.pack(home.keys.map_or(places.keys.0, |p| p.raw), elements, out);
        }
        Ok(())
    }
}

impl Wgpu {
    /// Counts of so many tiles, and where they lead.
    pub(super) fn sort_counts(&self, form: Form, tiles: u64) -> Result<[isowarp_core::buffer::Buffer<Self, u32>; 2]> {
        let counts = || isowarp_core::buffer::Memory::buffer::<u32>(self, tiles << form.digit_bits);
        Ok([counts()?, counts()?])
    }

    /// Keys of an invocation, by bytes of a key and of a payload.
    fn sort_items(&self, key_bytes: u64, payload_bytes: u64) -> u32 {
        let fits = |items: u32| 4 * (THREADS * items + RADIX) <= self.limits().max_compute_workgroup_storage_size;
        match (key_bytes, payload_bytes) {
            _ if !self.tuning().sort_in_subgroups => ITEMS,
            (8, _) => WIDE_ITEMS,
            (_, 4) if fits(ITEMS_OF_PAIRS) => ITEMS_OF_PAIRS,
            _ => ITEMS,
        }
    }

    pub(super) fn sort_form(&self, task: &SortTask, payload_bytes: u64, tiles: u64, counts: bool) -> Result<Form> {
        let (narrowest, widest) = self.subgroup_widths();
        let subgroups = self.tuning().sort_in_subgroups;
        // Every subgroup has a counter for each value.
        let mut digit_bits = if subgroups { (COUNTERS / (THREADS / narrowest.max(1))).ilog2().min(RADIX.ilog2()) } else { NARROW_DIGIT };
        // The table of counts is bound whole.
        let limits = self.window_limits();
        let table = |bits: u32| (tiles << bits) * 4;
        while digit_bits > 1 && counts && table(digit_bits) > limits.window_bytes {
            digit_bits -= 1;
        }
        let requested = table(digit_bits);
        if counts && requested > limits.window_bytes {
            return Err(Error::TooLarge { what: "bytes of a sort's counts", requested, limit: limits.window_bytes });
        }
        Ok(Form {
            items: ITEMS,
            digit_bits,
            subgroups,
            wide: widest > 32,
            rolled: self.tuning().sort_rolled,
            key_bytes: task.dtype.size_bytes(),
            payload_bytes,
            indices: false,
            writes_keys: true,
            parts: false,
        })
    }
}

impl Sort<'_> {
    fn kernel(&self, step: Step, form: Form) -> Result<Arc<Kernel>> {
        let (signature, holes) = (Signature::default(), holes(step, form));
        self.wgpu.program("sort", &program(step, &signature, &holes))
    }

    /// Sorts by one digit.
    fn pass(&self, digit: Digit, from: Side<'_>, to: Side<'_>) -> Result<()> {
        let Some(keys) = from.keys else { return Ok(()) };
        let travels = self.task.payload != SortPayload::Nothing;
        let form = Form { key_bytes: keys.size, indices: travels && from.payload.is_none(), writes_keys: to.keys.is_some(), ..self.form };
        let elements = self.task.elements();
        let limits = self.wgpu.window_limits();
        // Elements that all windows of one side hold.
        let span = |side: Side<'_>| {
            let sizes = [side.keys, side.payload].into_iter().flatten().map(|p| p.size).max().unwrap_or(4);
            most(limits, sizes)
        };
        let most = span(to);
        let windows = self.windows(span(from), keys.size)?;
        if let Some([counts, offsets]) = &self.counts {
            let kernel = self.kernel(Step::Count, form)?;
            for &window in &windows {
                let mut at = self.words(window, (0, 0), digit);
                let from = Side { payload: None, ..from };
                let launch = self.launch(&mut at, window, from, Side { keys: None, payload: None }, Some(counts))?;
                self.wgpu.launch(&kernel, &launch, window.blocks)?;
            }
            self.wgpu.scan(counts, Sum).exclusive().write_to(offsets)?;
        }
        let kernel = self.kernel(Step::Scatter { alone: self.counts.is_none() }, form)?;
        for &window in &windows {
            // Keys go anywhere: where not all places are in sight, each window of them is a dispatch of its own.
            chunks(elements, most, |place, len| {
                let mut at = self.words(window, (place, len), digit);
                let offsets = self.counts.as_ref().map(|[_, offsets]| offsets);
                let launch = self.launch(&mut at, window, from, to, offsets)?;
                self.wgpu.launch(&kernel, &launch, window.blocks)
            })?;
        }
        Ok(())
    }

    /// Where a pass reads, if it has at most `reach` elements in sight.
    fn windows(&self, reach: u64, key_bytes: u64) -> Result<Vec<Window>> {
        let elements = self.task.elements();
        // Workgroups that take tiles of parts take several.
        let blocks = if self.parts.is_some() { self.tiles.min(PART_GROUPS) } else { self.tiles * self.task.rows };
        if elements <= reach {
            return Ok(vec![Window { block: 0, blocks, first: 0, len: elements, bound: elements }]);
        }
        let mut windows = Vec::new();
        // The host does not know which tiles of parts lie in a window, so all are asked; each belongs to the one that it begins in.
        let tile = tile(self.form.items);
        let step = if self.parts.is_some() { reach.saturating_sub(tile) } else { reach / tile };
        if step == 0 {
            return Err(Error::TooLarge {
                what: "bytes of a tile",
                requested: tile * key_bytes,
                limit: self.wgpu.window_limits().window_bytes,
            });
        }
        if self.parts.is_some() {
            chunks(elements, step, |first, len| {
                windows.push(Window { block: 0, blocks, first, len, bound: (len + tile).min(elements - first) });
                Ok(())
            })?;
        } else {
            chunks(blocks, step, |block, blocks| {
                let first = self.element(block);
                let len = self.element(block + blocks) - first;
                windows.push(Window { block, blocks, first, len, bound: len });
                Ok(())
            })?;
        }
        Ok(windows)
    }

    /// First element of a block, or the end of all.
    fn element(&self, block: u64) -> u64 {
        (block / self.tiles * self.task.n + block % self.tiles * tile(self.form.items)).min(self.task.elements())
    }

    /// The parameters of a dispatch over some blocks into some places, the skips of its windows left at 0.
    fn words(&self, from: Window, (out_first, out_len): (u64, u64), digit: Digit) -> [u32; WORDS] {
        let map = self.task.key_bits();
        let mask = ((1u64 << digit.bits) - 1) as u32;
        [
            self.task.n as u32,
            self.tiles as u32,
            from.block as u32,
            (from.block + from.blocks) as u32,
            from.first as u32,
            0,
            0,
            out_first as u32,
            out_len as u32,
            0,
            0,
            digit.shift,
            mask,
            (map.width - 1) & 31,
            map.negative as u32,
            (map.negative >> 32) as u32,
            map.flip as u32,
            (map.flip >> 32) as u32,
            from.len as u32,
        ]
    }

    /// Binds the windows that the parameters name, in the order of the template, then counts or what they lead to, and the table of tiles.
    fn launch<'b>(
        &'b self,
        at: &mut [u32; WORDS],
        window: Window,
        from: Side<'b>,
        to: Side<'b>,
        counts: Option<&'b isowarp_core::buffer::Buffer<Wgpu, u32>>,
    ) -> Result<Launch<'b>> {
        let limits = self.wgpu.window_limits();
        let (out_first, out_len) = (u64::from(at[7]), u64::from(at[8]));
        let mut bindings = arrayvec::ArrayVec::new();
        let sides = [
            (from.keys, window.first, window.bound, 5),
            (from.payload, window.first, window.bound, 6),
            (to.keys, out_first, out_len, 9),
            (to.payload, out_first, out_len, 10),
        ];
        for (place, first, len, skip) in sides {
            let Some(p) = place else { continue };
            let (window, binding) = p.bind(limits, first, len)?;
            at[skip] = window.skip as u32;
            bindings.push(binding);
        }
        let parts = self.parts.as_ref();
        let numbers = [counts, parts.map(|parts| &parts.table), parts.map(|parts| &parts.listed)];
        for buffer in numbers.into_iter().flatten().map(isowarp_core::buffer::Buffer::raw) {
            bindings.push(Binding { buffer, offset_bytes: 0, size_bytes: buffer.size_bytes() });
        }
        let mut launch = Launch::new(0, at);
        launch.bindings = bindings;
        Ok(launch)
    }
}

impl Wgpu {
    /// Words become the narrow elements, `n` of them, that they hold.
    pub(super) fn pack(&self, words: &Buffer, n: u64, out: &Out<Buffer>) -> Result<()> {
        let limits = self.window_limits();
        let size = out.dtype.size_bytes();
        let form = Form {
            items: ITEMS,
            digit_bits: NARROW_DIGIT,
            subgroups: false,
            wide: false,
            rolled: false,
            key_bytes: size,
            payload_bytes: 0,
            indices: false,
            writes_keys: true,
            parts: false,
        };
        let (signature, holes) = (Signature::default(), holes(Step::Pack, form));
        let kernel = self.program("sort", &program(Step::Pack, &signature, &holes))?;
        let step = most(limits, 4) / 64 * 64;
        chunks(n, step.max(64), |first, len| {
            let (source, from) = Place { raw: words, offset: 0, size: 4 }.bind(limits, first, len)?;
            let (target, to) = Place { raw: &out.raw, offset: out.offset, size }.bind(limits, first, len)?;
            let mut at = [0; WORDS];
            (at[0], at[5], at[9]) = (len as u32, source.skip as u32, target.skip as u32);
            let mut launch = Launch::new(0, &at);
            launch.bindings.extend([from, to]);
            self.launch(&kernel, &launch, (target.skip + len).div_ceil(4 / size).div_ceil(THREADS.into()))
        })
    }
}

pub(super) fn holes(step: Step, form: Form) -> Vec<(&'static str, u32)> {
    let scatters = matches!(step, Step::Scatter { .. });
    let Form { items, digit_bits, subgroups, wide, rolled, key_bytes, payload_bytes, indices, writes_keys, parts } = form;
    let (reads, travels) = (step != Step::Pack, scatters && payload_bytes > 0);
    let counters = if subgroups { COUNTERS } else { THREADS << (digit_bits - 1) };
    let is = |yes: bool| u32::from(yes);
    vec![
        ("threads", THREADS),
        ("items", items),
        ("digit_bits", digit_bits),
        ("copies", COPIES),
        ("counters", counters),
        ("words", THREADS * items),
        ("count", is(step == Step::Count)),
        ("pack", is(step == Step::Pack)),
        ("alone", is(step == Step::Scatter { alone: true })),
        ("narrow", [0, 1, 2, 0][key_bytes.min(3) as usize]),
        ("key_words", if key_bytes == 8 { 2 } else { 1 }),
        ("payload_words", if travels { (payload_bytes / 4) as u32 } else { 0 }),
        ("indices", is(indices)),
        ("write_keys", is(writes_keys)),
        ("wide", is(wide)),
        ("rolled", is(rolled)),
        ("parts", is(parts && reads)),
        ("stays", STAYS),
        ("reads_words", is(key_bytes < 8)),
        ("reads_pairs", is(key_bytes == 8)),
        ("payload_reads_words", is(travels && reads && !indices && payload_bytes == 4)),
        ("payload_reads_pairs", is(travels && reads && !indices && payload_bytes == 8)),
        ("writes_words", is(scatters && writes_keys && key_bytes < 8)),
        ("writes_pairs", is(scatters && writes_keys && key_bytes == 8)),
        ("payload_writes_words", is(travels && payload_bytes == 4)),
        ("payload_writes_pairs", is(travels && payload_bytes == 8)),
        ("reads_offsets", is(step == Step::Scatter { alone: false })),
        (SUBGROUPS, is(scatters && subgroups)),
    ]
}

pub(super) fn program<'a>(step: Step, signature: &'a Signature, holes: &'a [(&'static str, u32)]) -> Program<'a> {
    Program {
        template: SORT,
        entry: match step {
            Step::Count => "sort_count",
            Step::Scatter { .. } => "sort_scatter",
            Step::Pack => "sort_pack",
        },
        constants: holes,
        operators: Operators::Calls(&[]),
        signature,
        numerics: Numerics::Strict,
        first: false,
    }
}
