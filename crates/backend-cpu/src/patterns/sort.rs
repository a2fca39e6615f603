//! P07 sort: keys, and with them the indices of what travels, by a radix sort from the lowest digit on; each row, or segment, by itself.

use crate::Cpu;
use crate::memory::{HostBuffer, collected, write_gathered};
use bytemuck::Pod;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::patterns::{Digit, SegmentedSortTask, SortPayload, SortPlaces, SortTask};
use rayon::prelude::*;

/// Bits of a digit, at most.
const DIGIT: u32 = 8;
const VALUES: usize = 1 << DIGIT;
/// Items from which on digits are faster than comparisons.
const FEW: usize = 256;
/// Items that several threads sort together, at least.
const MANY: usize = 1 << 16;

impl Run<SortTask> for Cpu {
    fn run(&self, task: &SortTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let rows = vec![task.n as usize; task.rows as usize];
        sort(task, &task.places(leaves, outs)?, (0, &rows), |i| i % task.n as u32)
    }
}

impl Run<SegmentedSortTask> for Cpu {
    fn run(&self, task: &SegmentedSortTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let bounds = task.bounds(self, &places)?.read_blocking()?;
        host::room(16 * task.parts)?;
        let segments: Vec<usize> = bounds.windows(2).map(|b| (b[1] - b[0]) as usize).collect();
        // What lies before the first bound and behind the last is in no segment.
        sort(&task.sort, &places.sort, (bounds[0] as usize, &segments), |i| i)
    }
}

/// Item of a sort: its key as the unsigned integer that it compares as, and its index where a payload follows.
trait Item: Pod + Send + Sync {
    fn new(key: u64, index: u32) -> Self;
    fn key(self) -> u64;
    fn index(self) -> u32;
}

macro_rules! items {
    ($($word:ident)*) => {$(
        impl Item for $word {
            fn new(key: u64, _: u32) -> Self {
                key as $word
            }
            fn key(self) -> u64 {
                self.into()
            }
            fn index(self) -> u32 {
                0
            }
        }
        impl Item for [$word; 2] {
            fn new(key: u64, index: u32) -> Self {
                [key as $word, index.into()]
            }
            fn key(self) -> u64 {
                self[0].into()
            }
            fn index(self) -> u32 {
                self[1] as u32
            }
        }
    )*};
}
items!(u32 u64);

/// Sorts consecutive parts, given by their lengths, from the first key on.
fn sort(
    task: &SortTask,
    places: &SortPlaces<'_, HostBuffer>,
    parts: (usize, &[usize]),
    index: impl Fn(u32) -> u32 + Sync + Send,
) -> Result<()> {
    let sort = match (task.dtype.size_bytes(), task.payload) {
        (8, SortPayload::Nothing) => sort_items::<u64, _>,
        (8, _) => sort_items::<[u64; 2], _>,
        (_, SortPayload::Nothing) => sort_items::<u32, _>,
        _ => sort_items::<[u32; 2], _>,
    };
    sort(task, places, parts, index)
}

fn sort_items<T: Item, I: Fn(u32) -> u32 + Sync + Send>(
    task: &SortTask,
    places: &SortPlaces<'_, HostBuffer>,
    (first, parts): (usize, &[usize]),
    index: I,
) -> Result<()> {
    let mut items: Vec<T> = read(task, places)?;
    let mut spare = host::zeroed(task.elements())?;
    let digits: Vec<Digit> = task.digits(DIGIT);
    let (mut items_left, mut spare_left, mut alone) = (&mut items[first..], &mut spare[first..], Vec::new());
    for &n in parts {
        let (part, room) = (items_left.split_off_mut(..n).unwrap_or_default(), spare_left.split_off_mut(..n).unwrap_or_default());
        if n < MANY {
            alone.push((part, room));
        } else {
            by_digits(&digits, part, room, rayon::current_num_threads());
        }
    }
    let compared = task.bits.clone().fold(0, |mask, bit| mask | 1u64 << bit);
    alone.into_par_iter().for_each(|(part, room)| match part.len() {
        ..FEW => part.sort_by_key(|item| item.key() & compared),
        _ => by_digits(&digits, part, room, 1),
    });

    let travelled = || items.par_iter().map(|item| item.index());
    if let Some(out) = places.payload_out {
        let size = places.payload_bytes;
        match places.values {
            // Values are read before keys are written, which may be in their place.
            Some((raw, offset)) => {
                write_gathered(out, &raw.read(offset * size, task.elements() * size)?, travelled().map(|i| i as usize))?;
            }
            None => out.raw.write(out.offset * size, bytemuck::cast_slice(&collected(travelled().map(index))?))?,
        }
    }
    let Some(out) = places.keys_out else { return Ok(()) };
    let (size, key_bits) = (task.dtype.size_bytes(), task.key_bits());
    let keys = items.par_iter().map(|item| key_bits.back(item.key()));
    let at = out.offset * size;
    match size {
        1 => out.raw.write(at, &collected(keys.map(|key| key as u8))?),
        2 => out.raw.write(at, bytemuck::cast_slice(&collected(keys.map(|key| key as u16))?)),
        4 => out.raw.write(at, bytemuck::cast_slice(&collected(keys.map(|key| key as u32))?)),
        _ => out.raw.write(at, bytemuck::cast_slice(&collected(keys)?)),
    }
}

/// Reads all keys, in order.
fn read<T: Item>(task: &SortTask, places: &SortPlaces<'_, HostBuffer>) -> Result<Vec<T>> {
    fn of<S: Pod + Sync, T: Item>(words: &[u64], task: &SortTask, first: u64, word: impl Fn(S) -> u64 + Send + Sync) -> Result<Vec<T>> {
        let keys = &bytemuck::cast_slice::<_, S>(words)[first as usize..][..task.elements() as usize];
        let key_bits = task.key_bits();
        collected(keys.par_iter().zip(0..task.elements() as u32).map(|(&key, i)| T::new(key_bits.of(word(key)), i)))
    }
    let (raw, first) = places.keys;
    let words = raw.lock();
    match task.dtype.size_bytes() {
        1 => of(&words, task, first, |key: u8| key.into()),
        2 => of(&words, task, first, |key: u16| key.into()),
        4 => of(&words, task, first, |key: u32| key.into()),
        _ => of(&words, task, first, |key: u64| key),
    }
}

/// Sorts by one digit after the other, by so many threads; `spare` is as long.
fn by_digits<T: Item>(digits: &[Digit], items: &mut [T], spare: &mut [T], threads: usize) {
    let (mut from, mut to, mut swapped) = (items, spare, false);
    for &digit in digits {
        if pass(digit, from, to, threads) {
            (from, to, swapped) = (to, from, !swapped);
        }
    }
    if swapped {
        to.copy_from_slice(from);
    }
}

/// Puts items in the order of a digit, and those with the same one in the order that they have; where all have the same one, says so instead.
fn pass<T: Item>(digit: Digit, from: &[T], to: &mut [T], threads: usize) -> bool {
    let value = |item: T| (item.key() >> digit.shift) as usize & ((1 << digit.bits) - 1) & (VALUES - 1);
    let share = from.len().div_ceil(threads);
    let count = |part: &[T]| {
        let mut counts = [0; VALUES];
        part.iter().for_each(|&item| counts[value(item)] += 1);
        counts
    };
    let counts: Vec<[usize; VALUES]> = from.par_chunks(share).map(count).collect();
    let all_of = |v: usize| counts.iter().map(|of| of[v]).sum::<usize>() == from.len();
    if all_of(value(from[0])) {
        return false;
    }
    // Where each part's items of each value go: values in order, and of each value the parts.
    let mut rest = to;
    let mut places: Vec<[&mut [T]; VALUES]> = counts.iter().map(|_| std::array::from_fn(|_| Default::default())).collect();
    for v in 0..VALUES {
        for (places, counts) in places.iter_mut().zip(&counts) {
            places[v] = rest.split_off_mut(..counts[v]).unwrap_or_default();
        }
    }
    from.par_chunks(share).zip(places).for_each(|(part, places)| {
        let mut places = places.map(|place| place.iter_mut());
        for &item in part {
            if let Some(place) = places[value(item)].next() {
                *place = item;
            }
        }
    });
    true
}

/// A key's bits, zero-extended.
pub(super) fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b))
}
