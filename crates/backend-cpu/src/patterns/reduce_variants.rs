//! P02 reduce, the rungs of the ladder: tiles of lanes, then the tiles' results in the same way.

use super::accumulators::{Accumulators, Combiner, Places, finish};
use crate::Cpu;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Blocks;
use isowarp_core::patterns::reduce_variants::{GROUP, LANES, SERIAL};
use isowarp_core::patterns::{ReduceVariant, ReduceVariantTask};
use rayon::prelude::*;

const L: usize = LANES as usize;
const G: usize = GROUP as usize;

impl Run<ReduceVariantTask> for Cpu {
    fn run(&self, task: &ReduceVariantTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let (variant, reduce) = (task.variant, &task.reduce);
        if variant == ReduceVariant::AlignedTree {
            return self.run(reduce, leaves, outs);
        }
        let operands = Operands::lock(leaves);
        let n = reduce.lines.n;
        isowarp_core::host::room(2 * 8 * reduce.load.results.len() as u64 * variant.tile().map_or(n, |tile| n.div_ceil(tile)))?;
        let loading = Blocks::new(&reduce.load);
        let elements = |first: u64, count: u64| Accumulators::load(&operands, &reduce.load, &mut loading.clone(), first, 1, count as usize);
        let result = match variant.tile() {
            None => fold_in_half(&mut Combiner::new(&reduce.combine), elements(0, n)),
            Some(tile) => {
                let mut level = tiles(task, n, tile, elements)?;
                while level.len() > 1 {
                    let below = &level;
                    level = tiles(task, below.len() as u64, tile, |first, count| below.part(first as usize, count as usize))?;
                }
                level
            }
        };
        drop(operands);
        let mut pending = Pending::of(outs, 1)?;
        let mut finishing = Blocks::new(&reduce.finish);
        finish(&mut finishing, outs.len(), &result.part(0, 1), |out, first, lanes| pending[out].put(first as u64, lanes));
        pending.iter_mut().zip(outs).try_for_each(|(p, o)| p.write(o))
    }
}

/// The results of all tiles of a level, whose elements `of(first, count)` gives.
fn tiles(task: &ReduceVariantTask, n: u64, tile: u64, of: impl Fn(u64, u64) -> Accumulators + Sync) -> Result<Accumulators> {
    let combiner = Combiner::new(&task.reduce.combine);
    let result = |t: u64| one_tile(task, &mut combiner.clone(), of(t * tile, tile.min(n - t * tile)));
    let results: Vec<Accumulators> = (0..n.div_ceil(tile)).into_par_iter().map(result).collect::<Result<_>>()?;
    let mut level = Accumulators::of(&task.reduce.load);
    results.iter().for_each(|r| level.push(r, 0));
    Ok(level)
}

/// The lanes' own elements, then the tree over the lanes: the result is element 0.
fn one_tile(task: &ReduceVariantTask, c: &mut Combiner, mut x: Accumulators) -> Result<Accumulators> {
    let x_ = &mut x;
    match task.variant {
        ReduceVariant::Interleaved | ReduceVariant::Convergent => near_first(c, x_),
        ReduceVariant::Sequential => far_first(c, x_),
        ReduceVariant::FirstCombine | ReduceVariant::Unrolled => {
            rows(c, x_, 2);
            far_first(c, x_);
        }
        ReduceVariant::Coarsened => {
            rows(c, x_, SERIAL as usize);
            far_first(c, x_);
        }
        ReduceVariant::Shuffle => {
            rows(c, x_, SERIAL as usize);
            grouped(c, x_);
        }
        ReduceVariant::Vectorised => {
            vectors(c, x_);
            grouped(c, x_);
        }
        other => return Err(Error::InvalidArgument { what: "variant", reason: format!("`{}` has no tiles", other.name()) }),
    }
    Ok(x)
}

/// `x[a]` becomes `combine(x[a], x[b])` for every pair (a, b) of elements that exist.
fn merge(c: &mut Combiner, x: &mut Accumulators, pairs: impl Iterator<Item = (usize, usize)>) {
    let count = x.len();
    let pairs: Vec<(usize, usize)> = pairs.filter(|&(_, b)| b < count).collect();
    c.merge(x, &pairs, |(a, _)| a);
}

fn fold_in_half(c: &mut Combiner, mut x: Accumulators) -> Accumulators {
    while x.len() > 1 {
        let half = x.len().div_ceil(2);
        merge(c, &mut x, (0..half).map(|i| (i, i + half)));
        x = x.part(0, half);
    }
    x
}

/// Every lane folds elements `lane`, `lane + 256`, ... from left to right.
fn rows(c: &mut Combiner, x: &mut Accumulators, count: usize) {
    for k in 1..count {
        merge(c, x, (0..L).map(|lane| (lane, k * L + lane)));
    }
    *x = x.part(0, x.len().min(L));
}

/// Every lane folds four vectors component by component, then its components from left to right.
fn vectors(c: &mut Combiner, x: &mut Accumulators) {
    for k in 1..SERIAL as usize / 4 {
        merge(c, x, (0..4 * L).map(|i| (i, k * 4 * L + i)));
    }
    *x = x.part(0, x.len().min(4 * L));
    for e in 1..4 {
        merge(c, x, (0..L).map(|lane| (4 * lane, 4 * lane + e)));
    }
    let firsts: Vec<usize> = (0..x.len()).step_by(4).collect();
    *x = x.picked(Places::List(&firsts), firsts.len());
}

fn near_first(c: &mut Combiner, x: &mut Accumulators) {
    for s in (0..).map(|k| 1 << k).take_while(|&s| s < L) {
        merge(c, x, (0..L).step_by(2 * s).map(|i| (i, i + s)));
    }
}

fn far_first(c: &mut Combiner, x: &mut Accumulators) {
    for s in halves(L) {
        merge(c, x, (0..s).map(|i| (i, i + s)));
    }
}

/// Groups of 32 lanes, then the groups' values.
fn grouped(c: &mut Combiner, x: &mut Accumulators) {
    for s in halves(G) {
        merge(c, x, (0..L).filter(|i| i % G < s).map(|i| (i, i + s)));
    }
    for s in halves(L / G) {
        merge(c, x, (0..s).map(|g| (g * G, (g + s) * G)));
    }
}

/// `n / 2`, `n / 4`, ..., 1.
fn halves(n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(n / 2), |s| Some(s / 2)).take_while(|&s| s > 0)
}
