//! P02 reduce: the aligned binary tree, level by level.

use super::accumulators::{Accumulators, Combiner, finish};
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use crate::{Cpu, threads};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::{Blocks, Func};
use isowarp_core::patterns::ReduceTask;

/// Elements whose subtree one thread takes: a power of two, so that it is a node of the tree.
const SUBTREE: u64 = 1 << 13;
/// Lines that one thread takes at a time.
const LINES: u64 = 8;

/// The operators of a reduction, with the columns of one thread.
#[derive(Clone)]
pub(super) struct Tree<'a> {
    load: &'a Func,
    loading: Blocks,
    pub(super) combiner: Combiner,
}

impl Run<ReduceTask> for Cpu {
    fn run(&self, task: &ReduceTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let operands = Operands::lock(leaves);
        let lines = task.lines;
        // Results, and the roots of a long line's subtrees.
        let roots = lines.n.div_ceil(SUBTREE).saturating_mul(size_of::<Accumulators>() as u64);
        host::room((2 * 8 * task.load.results.len() as u64 * lines.count()).saturating_add(roots))?;
        let tree = Tree::new(&task.load, &task.combine);
        let some = |tree: &mut Tree<'_>, chunk: u64| {
            let mut roots = Accumulators::of(&task.load);
            for line in chunk * LINES..lines.count().min((chunk + 1) * LINES) {
                let (o, i) = (line / lines.inner, line % lines.inner);
                roots.extend(&tree.root(&operands, (o * lines.n * lines.inner + i, lines.inner), lines.n));
            }
            roots
        };
        let all = threads::map(lines.count().div_ceil(LINES), &tree, some);
        let mut pending = Pending::of(outs, lines.count())?;
        let (mut line, mut finishing) = (0, Blocks::new(&task.finish));
        for roots in &all {
            finish(&mut finishing, outs.len(), roots, |out, first, lanes| pending[out].put(line + first as u64, lanes));
            line += roots.len() as u64;
        }
        drop(operands);
        pending.iter_mut().zip(outs).try_for_each(|(p, o)| p.write(o))
    }
}

impl<'a> Tree<'a> {
    pub(super) fn new(load: &'a Func, combine: &Func) -> Self {
        Self { load, loading: Blocks::new(load), combiner: Combiner::new(combine) }
    }

    /// Loads `count` elements from index `first` on, `step` apart.
    pub(super) fn load(&mut self, operands: &Operands<'_>, (first, step): (u64, u64), count: usize) -> Accumulators {
        Accumulators::load(operands, self.load, &mut self.loading, first, step, count)
    }

    /// The root over `n` elements from the first place on, one every so many.
    pub(super) fn root(&mut self, operands: &Operands<'_>, (first, step): (u64, u64), n: u64) -> Accumulators {
        let subtree = |tree: &mut Self, s: u64| {
            let count = SUBTREE.min(n - s * SUBTREE) as usize;
            let begin = first + s * SUBTREE * step;
            let as_they_are = if step == 1 { operands.as_they_are(tree.load, begin, count) } else { None };
            let level = match as_they_are.and_then(|lanes| tree.combiner.pairs_of(lanes)) {
                Some(pairs) => pairs,
                None => tree.load(operands, (begin, step), count),
            };
            tree.combiner.tree(level)
        };
        if n <= SUBTREE {
            return subtree(self, 0);
        }
        let mut level = Accumulators::of(self.load);
        threads::map(n.div_ceil(SUBTREE), self, subtree).iter().for_each(|root| level.extend(root));
        self.combiner.tree(level)
    }
}

impl Combiner {
    /// Combines neighbours, lower index on the left, until one is left; one without a neighbour moves up as it is.
    fn tree(&mut self, mut level: Accumulators) -> Accumulators {
        while level.len() > 1 {
            level = self.pairs(&level);
        }
        level
    }
}
