//! P07 merge sort: parts by odd-even transposition, then merges, of which every part of the result begins where its co-rank says. Keys that are
//! compared at the same time go through the operator together.

use super::sort::word;
use crate::Cpu;
use crate::memory::{HostBuffer, collected, write_gathered};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::{DType, Ty};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::{BLOCK, Blocks, Func, Lanes, LanesMut, Source};
use isowarp_core::patterns::merge::Place;
use isowarp_core::patterns::{MergeByTask, MergeSortTask, MergeTiling};
use rayon::prelude::*;

/// Keys as the operator takes them, and the operator.
struct Keys {
    values: Vec<u64>,
    before: Blocks,
    tiling: MergeTiling,
}

/// Pairs of keys that are compared.
struct Pairs<'a> {
    values: &'a [u64],
    pairs: &'a [[usize; 2]],
}

impl Source for Pairs<'_> {
    fn load(&self, param: u16, lanes: LanesMut<'_>) {
        let keys = self.pairs.iter().map(|pair| self.values[pair[usize::from(param)]]);
        match lanes {
            LanesMut::Narrow(all) => all.iter_mut().zip(keys).for_each(|(o, key)| *o = key as u32),
            LanesMut::Wide(all) => all.iter_mut().zip(keys).for_each(|(o, key)| *o = key),
        }
    }

    fn fetch(&self, _: u16, _: Ty, _: Lanes<'_>, lanes: LanesMut<'_>) {
        lanes.fill(0);
    }
}

/// One part of a merge: what is left of either run, and of the result's places from `at` to `end`.
struct Part<'a> {
    a: &'a [usize],
    b: &'a [usize],
    at: usize,
    end: usize,
}

impl Keys {
    fn new(bytes: &[u8], dtype: DType, before: &Func) -> Result<Self> {
        let values = collected(bytes.par_chunks_exact(dtype.size_bytes() as usize).map(|key| dtype.widen(word(key))))?;
        Ok(Self { values, before: Blocks::new(before), tiling: MergeTiling::of(dtype) })
    }

    /// For each pair of keys whether the first comes before the second.
    fn before(&self, e: &mut Blocks, pairs: &[[usize; 2]]) -> Vec<bool> {
        let mut all = Vec::with_capacity(pairs.len());
        for pairs in pairs.chunks(BLOCK) {
            e.eval(pairs.len(), &Pairs { values: &self.values, pairs });
            match e.result(0) {
                Lanes::Narrow(lanes) => all.extend(lanes.iter().map(|&yes| yes != 0)),
                Lanes::Wide(lanes) => all.extend(lanes.iter().map(|&yes| yes != 0)),
            }
        }
        all
    }

    /// Sorts parts side by side, round by round.
    fn sort_parts(&self, e: &mut Blocks, tile: &mut [usize]) {
        let part = self.tiling.part as usize;
        for round in 0..part {
            // The left one of each pair of neighbours.
            let lefts: Vec<usize> =
                (0..tile.len().saturating_sub(1)).filter(|j| j % part % 2 == round % 2 && j % part + 1 < part).collect();
            let pairs: Vec<[usize; 2]> = lefts.iter().map(|&j| [tile[j + 1], tile[j]]).collect();
            for (j, swap) in lefts.into_iter().zip(self.before(e, &pairs)) {
                if swap {
                    tile.swap(j, j + 1);
                }
            }
        }
    }

    /// Counts the keys of `a` among the first `k` merged keys: [`isowarp_core::patterns::merge::co_rank`].
    fn co_rank(&self, e: &mut Blocks, a: &[usize], b: &[usize], k: usize) -> usize {
        let first = |i: u64, j: u64| !self.before(e, &[[b[j as usize], a[i as usize]]])[0];
        isowarp_core::patterns::merge::co_rank(k as u64, a.len() as u64, b.len() as u64, first) as usize
    }

    /// Splits what a merge of `a` and `b` writes from place `at` on into parts.
    fn parts<'p>(&self, e: &mut Blocks, a: &'p [usize], b: &'p [usize], at: usize) -> Vec<Part<'p>> {
        let total = a.len() + b.len();
        let part = |k: usize| {
            let i = self.co_rank(e, a, b, k);
            Part { a: &a[i..], b: &b[k - i..], at: at + k, end: at + total.min(k + self.tiling.part as usize) }
        };
        (0..total).step_by(self.tiling.part as usize).map(part).collect()
    }

    /// Merges parts side by side, each one by one.
    fn merge_parts(&self, e: &mut Blocks, parts: &mut [Part<'_>], to: &mut [usize]) {
        for _ in 0..self.tiling.part {
            let asked = |p: &Part<'_>| p.at < p.end && !p.a.is_empty() && !p.b.is_empty();
            let pairs: Vec<[usize; 2]> = parts.iter().filter(|p| asked(p)).map(|p| [p.b[0], p.a[0]]).collect();
            let mut answers = self.before(e, &pairs).into_iter();
            for p in parts.iter_mut().filter(|p| p.at < p.end) {
                let from_b = if asked(p) { answers.next() == Some(true) } else { p.a.is_empty() };
                let run = if from_b { &mut p.b } else { &mut p.a };
                to[p.at] = run[0];
                *run = &run[1..];
                p.at += 1;
            }
        }
    }

    /// A tile, sorted.
    fn sort_tile(&self, tile: &mut [usize]) {
        let e = &mut self.before.clone();
        self.sort_parts(e, tile);
        let mut run = self.tiling.part as usize;
        while run < tile.len() {
            let from = tile.to_vec();
            let pairs = from.chunks(2 * run).enumerate();
            let mut parts: Vec<Part<'_>> = pairs
                .flat_map(|(k, pair)| {
                    let (a, b) = pair.split_at(run.min(pair.len()));
                    self.parts(e, a, b, 2 * run * k)
                })
                .collect();
            self.merge_parts(e, &mut parts, tile);
            run *= 2;
        }
    }

    /// Two runs merged, tile by tile.
    fn merge(&self, a: &[usize], b: &[usize], out: &mut [usize]) {
        let tile = self.tiling.tile as usize;
        out.par_chunks_mut(tile).enumerate().for_each(|(t, out)| {
            let e = &mut self.before.clone();
            let begin = t * tile;
            let [from, to] = [begin, begin + out.len()].map(|k| self.co_rank(e, a, b, k));
            // Of runs that are not sorted, co-ranks may fall.
            let of_a = to.saturating_sub(from).min(out.len());
            let (a, b) = (&a[from..][..of_a], &b[begin - from..][..out.len() - of_a]);
            let mut parts = self.parts(e, a, b, 0);
            self.merge_parts(e, &mut parts, out);
        });
    }

    /// Returns the places of the keys in sorted order: of the first, of the second, and so on.
    fn sorted(&self) -> Result<Vec<usize>> {
        let n = self.values.len();
        let mut order: Vec<usize> = host::listed(n as u64, 0..n)?;
        let mut run = self.tiling.tile as usize;
        order.par_chunks_mut(run).for_each(|tile| self.sort_tile(tile));
        while run < n {
            let from = host::copied(&order)?;
            for (pair, out) in from.chunks(2 * run).zip(order.chunks_mut(2 * run)) {
                let (a, b) = pair.split_at(run.min(pair.len()));
                self.merge(a, b, out);
            }
            run *= 2;
        }
        Ok(order)
    }
}

fn read((raw, offset): Place<'_, HostBuffer>, n: u64, size: u64) -> Result<Vec<u8>> {
    raw.read(offset * size, n * size)
}

/// Writes the elements of these numbers.
fn put(out: Option<&Out<HostBuffer>>, order: &[usize], elements: impl FnOnce(u64) -> Result<Vec<u8>>) -> Result<()> {
    let Some(out) = out else { return Ok(()) };
    write_gathered(out, &elements(out.dtype.size_bytes())?, order.par_iter().copied())
}

/// The numbers 0, 1, 2, ... as elements.
fn numbers(n: u64) -> Result<Vec<u8>> {
    host::listed(4 * n, (0..n as u32).flat_map(u32::to_ne_bytes))
}

impl Run<MergeSortTask> for Cpu {
    fn run(&self, task: &MergeSortTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let bytes = read(places.keys[0], task.n, task.dtype.size_bytes())?;
        let order = Keys::new(&bytes, task.dtype, &task.before)?.sorted()?;
        // Values are read before keys are written, which may be in their place.
        put(places.payload_out, &order, |size| places.values.map_or_else(|| numbers(task.n), |[v]| read(v, task.n, size)))?;
        put(places.keys_out, &order, |_| Ok(bytes))
    }
}

impl Run<MergeByTask> for Cpu {
    fn run(&self, task: &MergeByTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let both = |[a, b]: [Place<'_, HostBuffer>; 2], size: u64| -> Result<Vec<u8>> {
            let mut all = host::reserved((task.m + task.n) * size)?;
            all.extend_from_slice(&read(a, task.m, size)?);
            all.extend_from_slice(&read(b, task.n, size)?);
            Ok(all)
        };
        let bytes = both(places.keys, task.dtype.size_bytes())?;
        let keys = Keys::new(&bytes, task.dtype, &task.before)?;
        let all = host::listed(task.total(), 0..task.total() as usize)?;
        let (a, b) = all.split_at(task.m as usize);
        let mut order = host::filled(task.total(), 0)?;
        keys.merge(a, b, &mut order);
        put(places.payload_out, &order, |size| places.values.map_or_else(|| numbers(task.total()), |values| both(values, size)))?;
        put(places.keys_out, &order, |_| Ok(bytes))
    }
}
