//! P05 sorts of segments: short ones in shared memory, with their neighbours; long ones by the passes of a radix sort, over tiles that lie in one each.

use super::Launch;
use super::operands::Signature;
use super::place::most;
use super::program::{Operators, Program};
use super::reduce::chunks;
use super::sort::{self, Form, Side, Sort, THREADS, tile};
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::buffer::{Buffer as Typed, Memory as _};
use isowarp_core::caps::Numerics;
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::{SegmentedSortTask, SortPayload, SortTask};
use isowarp_shaders::kernels::SEGMENTED_SORT;

/// Arrays of numbers that say where tiles lie.
const TABLE_ROWS: u64 = 4;
/// Marks the size of a tile whose keys stay where they are.
pub(super) const STAYS: u32 = 1 << 31;

/// Parameters of a kernel of short parts beside a sort's form: whether all bits of keys are compared.
#[derive(Clone, Copy)]
pub(super) struct Short {
    pub(super) key_bytes: u64,
    pub(super) travels: bool,
    pub(super) all_bits: bool,
}

impl Short {
    pub(super) fn of(task: &SortTask) -> Self {
        let key_bytes = task.dtype.size_bytes();
        let all_bits = u64::from(task.bits.end - task.bits.start) == 8 * key_bytes;
        Self { key_bytes, travels: task.payload != SortPayload::Nothing, all_bits }
    }

    /// Words of what is sorted in shared memory: a key and, where it says more than the compared bits, its place, which fits beside a narrow key.
    const fn words(self) -> u32 {
        let placed = self.travels || !self.all_bits;
        match self.key_bytes {
            8 => 2 + placed as u32,
            4 => 1 + placed as u32,
            _ => 1,
        }
    }

    /// Keys of a window to an invocation: with the list of runs, what 16 KiB hold.
    const fn sure(self) -> u32 {
        [8, 5, 3][self.words() as usize - 1]
    }

    /// Keys of a window.
    pub(super) const fn span(self) -> u64 {
        (THREADS * self.sure()) as u64
    }

    /// Keys of a short part at most. Of the parts before one that begins at a window's end, each 17 keys have two runs: 240 of 2048, and 16 are left.
    pub(super) const fn room(self) -> u64 {
        self.span() + 240
    }
}

impl Run<SegmentedSortTask> for Wgpu {
    fn run(&self, task: &SegmentedSortTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let sort = &task.sort;
        // The bounds are bound whole.
        if task.parts * 4 > self.window_limits().window_bytes {
            return task.in_steps(self, leaves, outs);
        }
        let (short, window) = (Short::of(sort).room(), Short::of(sort).span());
        // Every part has one tile that is not full, at most, and more keys than the short ones.
        let tiles = if sort.n > short { sort.n / tile(sort::ITEMS) + task.parts.min(sort.n / (short + 1)) + 1 } else { 0 };
        let form = Form { parts: true, ..self.sort_form(sort, places.sort.payload_bytes, tiles, tiles > 0)? };
        let counts = if tiles > 0 { Some(self.sort_counts(form, tiles)?) } else { None };
        let parts = Parts {
            parts: task.parts,
            keeps_rest: task.keeps_rest,
            listed: self.buffer(1)?,
            table: self.buffer(TABLE_ROWS * tiles.max(1))?,
            bounds: task.bounds(self, &places)?,
            starts: self.buffer(sort.n.div_ceil(window) + 1)?,
        };
        Sort { wgpu: self, task: sort, form, tiles, parts: Some(parts), counts }.run(&places.sort)
    }
}

/// Parts of an array.
pub(super) struct Parts {
    parts: u64,
    keeps_rest: bool,
    /// Number of tiles of the long parts.
    pub(super) listed: Typed<Wgpu, u32>,
    /// Where these lie.
    pub(super) table: Typed<Wgpu, u32>,
    bounds: Typed<Wgpu, u32>,
    /// Number of parts that begin before each window.
    starts: Typed<Wgpu, u32>,
}

impl Parts {
    /// Sorts the short parts, and lists the tiles of the others.
    pub(super) fn sort_short(&self, sort: &Sort<'_>, from: Side<'_>, to: Side<'_>) -> Result<()> {
        let (task, wgpu) = (sort.task, sort.wgpu);
        let Some(keys) = from.keys else { return Ok(()) };
        let indices = task.payload == SortPayload::Indices;
        let rolled = wgpu.patterns().rolls_merges(wgpu.tuning());
        let form = Form { key_bytes: keys.size, indices, writes_keys: to.keys.is_some(), rolled, ..sort.form };
        let of = Short::of(task);
        let (short, window) = (of.room(), of.span());
        self.find_windows(wgpu, form, of, task.n)?;
        let (signature, holes) = (Signature::default(), holes(Step::Short, form, of));
        let kernel = wgpu.program("segmented sort", &program(Step::Short, &signature, &holes))?;
        let limits = wgpu.window_limits();
        let widest = [from.keys, from.payload, to.keys, to.payload].into_iter().flatten().map(|p| p.size).max().unwrap_or(4);
        // A part that begins in the last window may end in the next.
        let sight = most(limits, widest);
        let step = if task.n <= sight { task.n.div_ceil(window) } else { sight.saturating_sub(short) / window };
        if step == 0 {
            return Err(Error::TooLarge { what: "bytes of a tile", requested: (window + short) * widest, limit: limits.window_bytes });
        }
        let map = task.key_bits();
        let compared = (task.bits.start..task.bits.end).fold(0u64, |mask, bit| mask | 1 << bit);
        chunks(task.n.div_ceil(window), step, |first, count| {
            let begin = first * window;
            let len = (count * window + short).min(task.n - begin);
            let mut at = [
                task.n as u32,
                self.parts as u32,
                first as u32,
                (first + count) as u32,
                begin as u32,
                sort.tiles as u32,
                0,
                0,
                0,
                0,
                (map.width - 1) & 31,
                map.negative as u32,
                (map.negative >> 32) as u32,
                map.flip as u32,
                (map.flip >> 32) as u32,
                compared as u32,
                (compared >> 32) as u32,
                u32::from(!self.keeps_rest),
            ];
            let mut bindings = arrayvec::ArrayVec::new();
            for (place, skip) in [(from.keys, 6), (from.payload, 7), (to.keys, 8), (to.payload, 9)] {
                let Some(place) = place else { continue };
                let (window, binding) = place.bind(limits, begin, len)?;
                at[skip] = window.skip as u32;
                bindings.push(binding);
            }
            bindings.extend([&self.listed, &self.table, &self.starts, &self.bounds].map(numbers));
            let mut launch = Launch::new(0, &at);
            launch.bindings = bindings;
            wgpu.launch(&kernel, &launch, count)
        })
    }

    fn find_windows(&self, wgpu: &Wgpu, form: Form, of: Short, n: u64) -> Result<()> {
        let (signature, holes) = (Signature::default(), holes(Step::Windows, form, of));
        let kernel = wgpu.program("segmented sort", &program(Step::Windows, &signature, &holes))?;
        let mut at = [0; 18];
        (at[0], at[1]) = (n as u32, self.parts as u32);
        let mut launch = Launch::new(0, &at);
        launch.bindings.extend([&self.starts, &self.listed, &self.bounds].map(numbers));
        wgpu.launch(&kernel, &launch, self.starts.len().div_ceil(THREADS.into()))
    }
}

/// All of an array.
fn numbers(of: &Typed<Wgpu, u32>) -> Binding<'_> {
    Binding { buffer: of.raw(), offset_bytes: 0, size_bytes: of.len() * 4 }
}

/// Kernel of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Windows,
    Short,
}

pub(super) fn holes(step: Step, form: Form, of: Short) -> Vec<(&'static str, u32)> {
    let Form { rolled, key_bytes, payload_bytes, indices, writes_keys, .. } = form;
    let is = |yes: bool| u32::from(yes);
    let sorts = step == Step::Short;
    vec![
        ("threads", THREADS),
        ("sure", of.sure()),
        ("room", of.room() as u32),
        ("words", of.words()),
        ("all_bits", is(of.all_bits)),
        ("tile", tile(form.items) as u32),
        ("stays", STAYS),
        ("windows", is(!sorts)),
        ("short", is(sorts)),
        ("narrow", [0, 1, 2, 0][key_bytes.min(3) as usize]),
        ("key_words", if key_bytes == 8 { 2 } else { 1 }),
        ("travels", is(payload_bytes > 0)),
        ("indices", is(indices)),
        ("write_keys", is(writes_keys)),
        ("rolled", is(rolled)),
        ("reads_words", is(sorts && key_bytes < 8)),
        ("reads_pairs", is(sorts && key_bytes == 8)),
        ("reads_payload", is(sorts && payload_bytes > 0 && !indices)),
        ("writes_words", is(sorts && writes_keys && key_bytes < 8)),
        ("writes_pairs", is(sorts && writes_keys && key_bytes == 8)),
        ("writes_payload", is(sorts && payload_bytes > 0)),
    ]
}

pub(super) fn program<'a>(step: Step, signature: &'a Signature, holes: &'a [(&'static str, u32)]) -> Program<'a> {
    Program {
        template: SEGMENTED_SORT,
        entry: if step == Step::Short { "segmented_short" } else { "segmented_windows" },
        constants: holes,
        operators: Operators::Calls(&[]),
        signature,
        numerics: Numerics::Strict,
        first: false,
    }
}
