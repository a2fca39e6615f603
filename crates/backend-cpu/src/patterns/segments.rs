//! P05 segmented: each segment reduced as an array of its own, neighbouring short ones level by level together.

use super::accumulators::{Accumulators, Combiner, finish};
use super::reduce::root;
use super::sort::word;
use crate::Cpu;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::patterns::{ReduceByKeyTask, SegmentPlaces, SegmentedReduceTask};
use rayon::prelude::*;

/// Segments that one thread takes at a time.
const CHUNK: usize = 1024;
/// Elements of a segment that is reduced together with others, at most, and of all of these.
const SHORT: u64 = 1 << 12;
const TOGETHER: usize = 1 << 15;

/// Where a segment begins and ends.
type Segment = (u64, u64);

impl Run<ReduceByKeyTask> for Cpu {
    fn run(&self, task: &ReduceByKeyTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        task.in_steps(self, leaves, outs)
    }
}

impl Run<SegmentedReduceTask> for Cpu {
    fn run(&self, task: &SegmentedReduceTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let places = task.places(leaves)?;
        let segments = match places.count {
            Some((raw, offset)) => word(&raw.read(offset * 4, 4)?).min(task.segments),
            None => task.segments,
        };
        // Bounds, and accumulators by chunks and together.
        host::room(segments * (32 + 2 * 8 * task.load.results.len() as u64))?;
        let segments_of = bounds(task, &places, segments)?;
        let operands = Operands::lock(places.leaves);
        let chunks: Vec<Accumulators> = segments_of.par_chunks(CHUNK).map(|chunk| roots(task, &operands, chunk)).collect();
        let mut all = Accumulators::new(task.load.results.len());
        for chunk in &chunks {
            all.parts.iter_mut().zip(&chunk.parts).for_each(|(to, from)| to.extend_from_slice(from));
        }
        let mut pending = Pending::of(outs, segments)?;
        finish(&task.finish, &all, |out, i, v| pending[out].put(i as u64, v));
        drop(operands);
        pending.iter().zip(outs).try_for_each(|(p, o)| p.write(o))
    }
}

/// Where each segment begins and ends.
fn bounds(task: &SegmentedReduceTask, places: &SegmentPlaces<'_, HostBuffer>, segments: u64) -> Result<Vec<Segment>> {
    let (raw, offset, dtype) = places.bounds;
    let size = dtype.size_bytes();
    let bytes = raw.read(offset * size, task.bounds(segments) * size)?;
    let mut bounds: Vec<u64> = bytes.chunks_exact(size as usize).map(|b| word(b).min(task.n)).collect();
    if task.counted {
        bounds.push(task.n);
    }
    Ok(bounds.windows(2).map(|b| (b[0], b[1].max(b[0]))).collect())
}

/// The accumulator of every segment.
fn roots(task: &SegmentedReduceTask, operands: &Operands<'_>, segments: &[Segment]) -> Accumulators {
    let mut all = Accumulators::new(task.load.results.len());
    let mut rest = segments;
    while let [(begin, end), ..] = *rest {
        if end - begin > SHORT {
            all.push(&root(&task.load, &task.combine, operands, (begin, 1), end - begin), 0);
            rest = &rest[1..];
            continue;
        }
        let mut elements = 0;
        let fits = |&&(begin, end): &&Segment| {
            elements += (end - begin) as usize;
            end - begin <= SHORT && elements <= TOGETHER
        };
        let count = rest.iter().take_while(fits).count();
        together(task, operands, &rest[..count], &mut all);
        rest = &rest[count..];
    }
    all
}

/// Adds the accumulators of short segments: their trees grow side by side.
fn together(task: &SegmentedReduceTask, operands: &Operands<'_>, segments: &[Segment], all: &mut Accumulators) {
    let parts = task.load.results.len();
    let mut level = Accumulators::new(parts);
    let mut at = 0;
    while at < segments.len() {
        // As many as follow each other without a gap.
        let run = 1 + segments[at..].windows(2).take_while(|s| s[0].1 == s[1].0).count();
        let (begin, end) = (segments[at].0, segments[at + run - 1].1);
        let loaded = Accumulators::load(operands, &task.load, begin, 1, (end - begin) as usize);
        level.parts.iter_mut().zip(&loaded.parts).for_each(|(to, from)| to.extend_from_slice(from));
        at += run;
    }
    let mut sizes: Vec<usize> = segments.iter().map(|(begin, end)| (end - begin) as usize).collect();
    let mut combiner = Combiner::new(&task.combine);
    while sizes.iter().any(|&size| size > 1) {
        let firsts = sizes.iter().scan(0, |first, &size| Some(std::mem::replace(first, *first + size)));
        let pairs: Vec<usize> = firsts.zip(&sizes).flat_map(|(first, &size)| (0..size / 2).map(move |j| first + 2 * j)).collect();
        let mut made = Accumulators::new(parts);
        combiner.pairs(&level, &level, pairs.len(), |l| (pairs[l], pairs[l] + 1), |part, _, v| made.parts[part].push(v));
        let mut next = Accumulators::new(parts);
        let (mut first, mut done) = (0, 0);
        for size in &mut sizes {
            (done..done + *size / 2).for_each(|k| next.push(&made, k));
            done += *size / 2;
            // One without a neighbour moves up as it is.
            if *size % 2 == 1 {
                next.push(&level, first + *size - 1);
            }
            first += *size;
            *size = size.div_ceil(2);
        }
        level = next;
    }
    let mut first = 0;
    for size in sizes {
        if size == 0 {
            all.parts.iter_mut().zip(&task.nothing).for_each(|(part, &v)| part.push(v));
        } else {
            all.push(&level, first);
        }
        first += size;
    }
}
