//! P07 sort: keys, and with them the indices of what travels, by a radix sort; each row, or segment, by itself.

use crate::memory::{HostBuffer, write_gathered};
use crate::{Cpu, outputs};
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
/// Bytes of items that a processor's second cache holds twice.
const IN_CACHE: usize = 1 << 19;
/// Items of a cache line, at most.
const LINE: usize = 16;
/// Items that one thread reads or writes at a time.
const CHUNK: usize = 1 << 14;
/// Items that several threads sort together, at least.
const MANY: usize = 1 << 16;

impl Run<SortTask> for Cpu {
    fn run(&self, task: &SortTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        host::room(8 * task.rows)?;
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
        // Elements before the first bound and behind the last are in no segment.
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
        } else if by_digits(&digits, part, room, rayon::current_num_threads()) {
            part.copy_from_slice(room);
        }
    }
    let compared = task.bits.clone().fold(0, |mask, bit| mask | 1u64 << bit);
    alone.into_par_iter().for_each(|(part, room)| match part.len() {
        ..FEW => part.sort_by_key(|item| item.key() & compared),
        _ => {
            if by_digits(&digits, part, room, 1) {
                part.copy_from_slice(room);
            }
        }
    });

    if let Some(out) = places.payload_out {
        let size = places.payload_bytes;
        match places.values {
            // Values are read before keys are written, which may be in their place.
            Some((raw, offset)) => {
                let travelled = items.par_iter().map(|item| item.index() as usize);
                write_gathered(out, &raw.read(offset * size, task.elements() * size)?, travelled)?;
            }
            None => write(out, &items, |item| index(item.index()))?,
        }
    }
    let Some(out) = places.keys_out else { return Ok(()) };
    let key_bits = task.key_bits();
    match task.dtype.size_bytes() {
        1 => write(out, &items, |item| key_bits.back(item.key()) as u8),
        2 => write(out, &items, |item| key_bits.back(item.key()) as u16),
        4 => write(out, &items, |item| key_bits.back(item.key()) as u32),
        _ => write(out, &items, |item| key_bits.back(item.key())),
    }
}

/// Reads all keys, in order.
fn read<T: Item>(task: &SortTask, places: &SortPlaces<'_, HostBuffer>) -> Result<Vec<T>> {
    fn of<S: Pod + Sync, T: Item>(words: &[u64], task: &SortTask, first: u64, word: impl Fn(S) -> u64 + Send + Sync) -> Result<Vec<T>> {
        let keys = &bytemuck::cast_slice::<_, S>(words)[first as usize..][..task.elements() as usize];
        let (key_bits, mut items) = (task.key_bits(), host::zeroed(task.elements())?);
        items.par_chunks_mut(CHUNK).zip(keys.par_chunks(CHUNK)).enumerate().for_each(|(c, (items, keys)): (usize, (&mut [T], _))| {
            for (i, (item, &key)) in items.iter_mut().zip(keys).enumerate() {
                *item = T::new(key_bits.of(word(key)), (c * CHUNK + i) as u32);
            }
        });
        Ok(items)
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

/// Writes what `of` makes of the items.
fn write<T: Item, D: Pod + Send>(out: &Out<HostBuffer>, items: &[T], of: impl Fn(T) -> D + Sync) -> Result<()> {
    outputs::write(&[], std::slice::from_ref(out), items.len() as u64, false, |_, mut results| {
        let elements = bytemuck::cast_slice_mut::<_, D>(results.remove(0));
        elements.par_chunks_mut(CHUNK).zip(items.par_chunks(CHUNK)).for_each(|(to, items)| {
            to.iter_mut().zip(items).for_each(|(o, &item)| *o = of(item));
        });
    })
}

/// Sorts by digits, the highest last, by so many threads; `spare` is as long, and has the result where this returns true.
///
/// Sorts an array that fits no cache by its highest digit first, and then each of that digit's values by itself, in a cache.
fn by_digits<T: Item>(digits: &[Digit], items: &mut [T], spare: &mut [T], threads: usize) -> bool {
    if let [rest @ .., highest] = digits
        && !rest.is_empty()
        && size_of_val(items) > IN_CACHE
    {
        let Some(counts) = pass(*highest, items, spare, threads) else { return by_digits(rest, items, spare, threads) };
        let (mut items, mut spare) = (items, spare);
        let mut parts = Vec::with_capacity(VALUES);
        for n in counts.into_iter().filter(|&n| n > 0) {
            parts.push((spare.split_off_mut(..n).unwrap_or_default(), items.split_off_mut(..n).unwrap_or_default()));
        }
        parts.into_par_iter().for_each(|(items, spare)| {
            let threads = if size_of_val(items) > IN_CACHE { threads } else { 1 };
            if !by_digits(rest, items, spare, threads) {
                spare.copy_from_slice(items);
            }
        });
        return false;
    }
    let (mut from, mut to, mut swapped) = (items, spare, false);
    for &digit in digits {
        if pass(digit, from, to, threads).is_some() {
            (from, to, swapped) = (to, from, !swapped);
        }
    }
    swapped
}

/// Puts items in the order of a digit, and those with the same one in the order that they have, and returns how many have each value; where all have the
/// same one, nothing.
fn pass<T: Item>(digit: Digit, from: &[T], to: &mut [T], threads: usize) -> Option<Vec<usize>> {
    let value = |item: T| (item.key() >> digit.shift) as usize & ((1 << digit.bits) - 1) & (VALUES - 1);
    let share = from.len().div_ceil(threads);
    let count = |part: &[T]| {
        let mut counts = [0; VALUES];
        part.iter().for_each(|&item| counts[value(item)] += 1);
        counts
    };
    let counts: Vec<[usize; VALUES]> = from.par_chunks(share).map(count).collect();
    let all: Vec<usize> = (0..VALUES).map(|v| counts.iter().map(|of| of[v]).sum()).collect();
    if all[value(from[0])] == from.len() {
        return None;
    }
    // Where each part's items of each value go: values in order, and of each value the parts.
    let mut rest = to;
    let mut places: Vec<[&mut [T]; VALUES]> = counts.iter().map(|_| std::array::from_fn(|_| Default::default())).collect();
    for v in 0..VALUES {
        for (places, counts) in places.iter_mut().zip(&counts) {
            places[v] = rest.split_off_mut(..counts[v]).unwrap_or_default();
        }
    }
    from.par_chunks(share).zip(places).for_each(|(part, places)| move_by(part, places, value));
    Some(all)
}

/// Moves items to the places of their values, many by whole cache lines: each value's next items are collected in one that stays in the first cache.
fn move_by<T: Item>(part: &[T], mut places: [&mut [T]; VALUES], value: impl Fn(T) -> usize) {
    if part.len() < LINE * VALUES {
        let mut places = places.map(|place| place.iter_mut());
        return part.iter().for_each(|&item| {
            if let Some(place) = places[value(item) % VALUES].next() {
                *place = item;
            }
        });
    }
    let most = 64 / size_of::<T>();
    let (mut lines, mut held) = ([[T::zeroed(); LINE]; VALUES], [0u8; VALUES]);
    for &item in part {
        let v = value(item) % VALUES;
        lines[v][usize::from(held[v]) % LINE] = item;
        held[v] += 1;
        if usize::from(held[v]) == most {
            let (now, later) = std::mem::take(&mut places[v]).split_at_mut(most);
            now.copy_from_slice(&lines[v][..most]);
            (places[v], held[v]) = (later, 0);
        }
    }
    for ((place, line), held) in places.iter_mut().zip(&lines).zip(held) {
        place.copy_from_slice(&line[..held.into()]);
    }
}

/// A key's bits, zero-extended.
pub(super) fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts by all digits of some bits, and compares with a stable sort by comparisons.
    fn check<T: Item + PartialEq + std::fmt::Debug>(bits: u32, key: impl Fn(u64) -> u64, n: usize, threads: usize) {
        let digits: Vec<Digit> = (0..bits).step_by(8).map(|shift| Digit { shift, bits: DIGIT }).collect();
        let random = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let mut items: Vec<T> = (0..n).map(|i| T::new(key(random(i)), i as u32)).collect();
        let (mut expected, mut spare) = (items.clone(), vec![T::zeroed(); n]);
        expected.sort_by_key(|item| item.key());
        let sorted = if by_digits(&digits, &mut items, &mut spare, threads) { spare } else { items };
        assert_eq!(sorted, expected);
    }

    #[test]
    fn digits_sort_stably_below_and_above_a_cache() {
        for n in [256, 5000, 300_000] {
            for threads in [1, 3] {
                check::<u32>(32, |r| r & 0xFFFF_FFFF, n, threads);
                check::<[u32; 2]>(32, |r| r & 0xFFFF_FFFF, n, threads);
                check::<[u64; 2]>(64, |r| r, n, threads);
                check::<u64>(64, |r| r, n, threads);
                // One value of the highest digit, of all digits, and two of one.
                check::<[u32; 2]>(32, |r| r & 0xFF_FFFF, n, threads);
                check::<[u32; 2]>(32, |_| 7, n, threads);
                check::<[u32; 2]>(32, |r| (r & 1) << 16, n, threads);
            }
        }
    }
}
