//! P08 merge: the lesser of two heads, one after the other; searches by halving. What is computed is made into arrays first.

use super::sort::word;
use crate::Cpu;
use crate::memory::{HostBuffer, collected};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::patterns::merge::{Place, co_rank};
use isowarp_core::patterns::{CoRankFromTask, CoRankTask, KeyBits, MergeFromTask, MergeTask, SearchFromTask, SearchKind, SearchTask};
use rayon::prelude::*;

fn read((raw, offset): Place<'_, HostBuffer>, n: u64, size: u64) -> Result<Vec<u8>> {
    raw.read(offset * size, n * size)
}

/// Keys as unsigned integers that compare as they do.
fn mapped(map: KeyBits, bytes: &[u8]) -> Result<Vec<u64>> {
    collected(bytes.par_chunks_exact(map.width as usize / 8).map(|key| map.of(word(key))))
}

/// Writes numbers as elements of the output's type.
fn write(out: &Out<HostBuffer>, numbers: &[u64]) -> Result<()> {
    let size = out.dtype.size_bytes();
    match out.dtype {
        DType::U32 => {
            let narrow = host::listed(numbers.len() as u64, numbers.iter().map(|&v| v as u32))?;
            out.raw.write(out.offset * size, bytemuck::cast_slice(&narrow))
        }
        _ => out.raw.write(out.offset * size, bytemuck::cast_slice(numbers)),
    }
}

impl Run<MergeTask> for Cpu {
    fn run(&self, task: &MergeTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let (m, n, size) = (task.m as usize, task.n as usize, task.dtype.size_bytes());
        let (a, b) = (read(places.keys[0], task.m, size)?, read(places.keys[1], task.n, size)?);
        // Where each element comes from, those of b behind those of a.
        let (x, y) = (mapped(task.key_bits(), &a)?, mapped(task.key_bits(), &b)?);
        let (mut i, mut j) = (0, 0);
        let next = |_| {
            let of_a = j == n || i < m && x[i] <= y[j];
            if of_a {
                i += 1;
            } else {
                j += 1;
            }
            if of_a { i - 1 } else { m + j - 1 }
        };
        let from: Vec<usize> = host::listed((m + n) as u64, (0..m + n).map(next))?;

        let merge = |a: &[u8], b: &[u8], out: &Out<HostBuffer>| {
            let size = out.dtype.size_bytes() as usize;
            let element = |&k: &usize| if k < m { &a[k * size..][..size] } else { &b[(k - m) * size..][..size] };
            let mut merged = host::reserved((from.len() * size) as u64)?;
            from.iter().for_each(|k| merged.extend_from_slice(element(k)));
            out.raw.write(out.offset * size as u64, &merged)
        };
        merge(&a, &b, places.keys_out)?;
        if let Some(([v, w], out)) = places.values {
            let size = out.dtype.size_bytes();
            merge(&read(v, task.m, size)?, &read(w, task.n, size)?, out)?;
        }
        Ok(())
    }
}

impl Run<CoRankTask> for Cpu {
    fn run(&self, task: &CoRankTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let ([a, b, ranks], out) = task.places(leaves, outs)?;
        let size = task.dtype.size_bytes();
        let (x, y) = (mapped(task.key_bits(), &read(a, task.m, size)?)?, mapped(task.key_bits(), &read(b, task.n, size)?)?);
        let ranks = read(ranks, task.ranks, out.dtype.size_bytes())?;
        let of = |rank: &[u8]| co_rank(word(rank), task.m, task.n, |i, j| x[i as usize] <= y[j as usize]);
        let found = collected(ranks.par_chunks_exact(out.dtype.size_bytes() as usize).map(of))?;
        write(out, &found)
    }
}

impl Run<SearchTask> for Cpu {
    fn run(&self, task: &SearchTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let ([sorted, needles], out) = task.places(leaves, outs)?;
        let size = task.dtype.size_bytes();
        let map = task.key_bits();
        let sorted = mapped(map, &read(sorted, task.n, size)?)?;
        let needles = mapped(map, &read(needles, task.needles, size)?)?;
        let find = |needle: &u64| {
            let (lower, upper) = (|| sorted.partition_point(|k| k < needle), || sorted.partition_point(|k| k <= needle));
            let found = match task.kind {
                SearchKind::Lower => lower(),
                SearchKind::Upper => upper(),
                SearchKind::Equal => upper().saturating_sub(lower()),
            };
            found as u64
        };
        write(out, &collected(needles.par_iter().map(find))?)
    }
}

impl Run<MergeFromTask> for Cpu {
    fn run(&self, task: &MergeFromTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        task.by_arrays(self, leaves, outs)
    }
}

impl Run<CoRankFromTask> for Cpu {
    fn run(&self, task: &CoRankFromTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        task.by_arrays(self, leaves, outs)
    }
}

impl Run<SearchFromTask> for Cpu {
    fn run(&self, task: &SearchFromTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        task.by_arrays(self, leaves, outs)
    }
}
