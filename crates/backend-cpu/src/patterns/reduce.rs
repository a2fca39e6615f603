//! P02 reduce: the aligned binary tree, level by level.

use super::accumulators::{Accumulators, Combiner, finish};
use crate::Cpu;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::Func;
use isowarp_core::patterns::ReduceTask;
use rayon::prelude::*;

/// Elements whose subtree one thread takes: a power of two, so that it is a node of the tree.
const SUBTREE: u64 = 1 << 15;

impl Run<ReduceTask> for Cpu {
    fn run(&self, task: &ReduceTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let operands = Operands::lock(leaves);
        let lines = task.lines;
        let parts = task.load.results.len();
        host::room(2 * 8 * parts as u64 * lines.count())?;
        let with_next = |mut roots: Accumulators, line: u64| {
            let (o, i) = (line / lines.inner, line % lines.inner);
            let first = o * lines.n * lines.inner + i;
            roots.push(&root(&task.load, &task.combine, &operands, (first, lines.inner), lines.n), 0);
            roots
        };
        // Some lines in order, and those that follow.
        let all: Vec<Accumulators> = (0..lines.count()).into_par_iter().fold(|| Accumulators::new(parts), with_next).collect();
        let mut pending = Pending::of(outs, lines.count())?;
        let mut line = 0;
        for roots in &all {
            finish(&task.finish, roots, |out, i, v| pending[out].put(line + i as u64, v));
            line += roots.len() as u64;
        }
        drop(operands);
        pending.iter().zip(outs).try_for_each(|(p, o)| p.write(o))
    }
}

/// The root over `n` elements from the first place on, one every so many.
pub(super) fn root(load: &Func, combine: &Func, operands: &Operands<'_>, (first, step): (u64, u64), n: u64) -> Accumulators {
    let subtree = |s: u64| {
        let count = SUBTREE.min(n - s * SUBTREE) as usize;
        tree(combine, Accumulators::load(operands, load, first + s * SUBTREE * step, step, count))
    };
    if n <= SUBTREE {
        return subtree(0);
    }
    let subtrees: Vec<Accumulators> = (0..n.div_ceil(SUBTREE)).into_par_iter().map(subtree).collect();
    let mut level = Accumulators::new(load.results.len());
    subtrees.iter().for_each(|s| level.push(s, 0));
    tree(combine, level)
}

/// Combines neighbours, lower index on the left, until one is left; one without a neighbour moves up as it is.
fn tree(combine: &Func, mut level: Accumulators) -> Accumulators {
    let mut combiner = Combiner::new(combine);
    while level.len() > 1 {
        let pairs = level.len() / 2;
        let mut next = Accumulators::new(level.parts.len());
        combiner.pairs(&level, &level, pairs, |l| (2 * l, 2 * l + 1), |part, _, v| next.parts[part].push(v));
        if level.len() % 2 == 1 {
            next.push(&level, level.len() - 1);
        }
        level = next;
    }
    level
}
