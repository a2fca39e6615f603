//! P05 segmented: each segment reduced as an array of its own, neighbouring short ones level by level together.

use super::accumulators::{Accumulators, Places, finish};
use super::reduce::Tree;
use super::sort::word;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use crate::{Cpu, threads};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::Blocks;
use isowarp_core::patterns::{ReduceByKeyTask, SegmentPlaces, SegmentedReduceTask};

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
        let tree = Tree::new(&task.load, &task.combine);
        let chunks = threads::map(segments.div_ceil(CHUNK as u64), &tree, |tree, c| {
            let first = c as usize * CHUNK;
            roots(task, tree, &operands, &segments_of[first..segments_of.len().min(first + CHUNK)])
        });
        let mut all = Accumulators::of(&task.load);
        chunks.iter().for_each(|chunk| all.extend(chunk));
        let mut pending = Pending::of(outs, segments)?;
        finish(&mut Blocks::new(&task.finish), outs.len(), &all, |out, first, lanes| pending[out].put(first as u64, lanes));
        drop(operands);
        pending.iter_mut().zip(outs).try_for_each(|(p, o)| p.write(o))
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
fn roots(task: &SegmentedReduceTask, tree: &mut Tree<'_>, operands: &Operands<'_>, segments: &[Segment]) -> Accumulators {
    let mut all = Accumulators::of(&task.load);
    let mut rest = segments;
    while let [(begin, end), ..] = *rest {
        if end - begin > SHORT {
            all.extend(&tree.root(operands, (begin, 1), end - begin));
            rest = &rest[1..];
            continue;
        }
        let mut elements = 0;
        let fits = |&&(begin, end): &&Segment| {
            elements += (end - begin) as usize;
            end - begin <= SHORT && elements <= TOGETHER
        };
        let count = rest.iter().take_while(fits).count();
        together(task, tree, operands, &rest[..count], &mut all);
        rest = &rest[count..];
    }
    all
}

/// Adds the accumulators of short segments: their trees grow side by side.
fn together(task: &SegmentedReduceTask, tree: &mut Tree<'_>, operands: &Operands<'_>, segments: &[Segment], all: &mut Accumulators) {
    let mut level = Accumulators::of(&task.load);
    let mut at = 0;
    while at < segments.len() {
        // As many as follow each other without a gap.
        let run = 1 + segments[at..].windows(2).take_while(|s| s[0].1 == s[1].0).count();
        let (begin, end) = (segments[at].0, segments[at + run - 1].1);
        level.extend(&tree.load(operands, (begin, 1), (end - begin) as usize));
        at += run;
    }
    let mut sizes: Vec<usize> = segments.iter().map(|(begin, end)| (end - begin) as usize).collect();
    while sizes.iter().any(|&size| size > 1) {
        // Every pair's left element, and where each segment's own results and its element without a neighbour go: that one moves up as it is.
        let (mut left, mut kept, mut to, mut over) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut first, mut next) = (0, 0);
        for size in &mut sizes {
            let pairs = *size / 2;
            left.extend((0..pairs).map(|j| first + 2 * j));
            to.extend(next..next + pairs);
            if *size % 2 == 1 {
                kept.push(first + *size - 1);
                over.push(next + pairs);
            }
            first += *size;
            *size = size.div_ceil(2);
            next += *size;
        }
        let right: Vec<usize> = left.iter().map(|i| i + 1).collect();
        let made = tree.combiner.combine((&level, Places::List(&left)), (&level, Places::List(&right)), left.len());
        let kept = level.picked(Places::List(&kept), kept.len());
        level.resize(next);
        level.set(to.into_iter(), &made);
        level.set(over.into_iter(), &kept);
    }
    let mut first = 0;
    for size in sizes {
        if size == 0 {
            all.push_bits(&task.nothing);
        } else {
            all.push(&level, first);
        }
        first += size;
    }
}
