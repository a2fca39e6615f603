//! The definition, on the processor: tiles of lanes, then the tiles' results in the same way.

use super::{GROUP, LANES, ReduceVariant, SERIAL};
use crate::columns::{Columns, Combiner};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::{MapTask, ReduceTask};
use rayon::prelude::*;

const L: usize = LANES as usize;
const G: usize = GROUP as usize;

pub(super) fn run<B: Run<MapTask>>(
    variant: ReduceVariant,
    device: &B,
    task: &ReduceTask,
    leaves: &[Leaf<B::Raw>],
    outs: &[Out<B::Raw>],
) -> Result<()> {
    let mut level = Columns::load(device, &task.load, (task.lines.n, task.numerics), leaves)?;
    match variant.tile() {
        None => level = fold_in_half(&mut Combiner::new(&task.combine), level),
        Some(tile) => loop {
            level = tiles(variant, task, tile as usize, &level);
            if level.len() == 1 {
                break;
            }
        },
    }
    level.store(device, &task.finish, task.numerics, outs)
}

/// The results of all tiles of a level.
fn tiles(variant: ReduceVariant, task: &ReduceTask, tile: usize, level: &Columns) -> Columns {
    let one = |c: &mut Combiner<'_>, t: usize| {
        let mut x = level.part(t * tile, tile.min(level.len() - t * tile));
        one_tile(variant, c, &mut x);
        x.part(0, 1)
    };
    let results: Vec<Columns> = (0..level.len().div_ceil(tile)).into_par_iter().map_init(|| Combiner::new(&task.combine), one).collect();
    Columns::joined(&results)
}

/// The lanes' own elements, then the tree over the lanes: the result is element 0.
fn one_tile(variant: ReduceVariant, c: &mut Combiner<'_>, x: &mut Columns) {
    match variant {
        ReduceVariant::Interleaved | ReduceVariant::Convergent => near_first(c, x),
        ReduceVariant::Sequential => far_first(c, x),
        ReduceVariant::FirstCombine | ReduceVariant::Unrolled => {
            rows(c, x, 2);
            far_first(c, x);
        }
        ReduceVariant::Coarsened => {
            rows(c, x, SERIAL as usize);
            far_first(c, x);
        }
        ReduceVariant::Shuffle => {
            rows(c, x, SERIAL as usize);
            grouped(c, x);
        }
        ReduceVariant::Vectorised => {
            vectors(c, x);
            grouped(c, x);
        }
        // They have no tiles.
        ReduceVariant::FoldInHalf | ReduceVariant::AlignedTree => {}
    }
}

/// `x[a]` becomes `combine(x[a], x[b])` for every pair (a, b) of elements that exist.
fn merge(c: &mut Combiner<'_>, x: &mut Columns, pairs: impl Iterator<Item = (usize, usize)>) {
    let count = x.len();
    let pairs: Vec<(usize, usize)> = pairs.filter(|&(_, b)| b < count).collect();
    c.merge(x, &pairs, |(a, _)| a);
}

fn fold_in_half(c: &mut Combiner<'_>, mut x: Columns) -> Columns {
    while x.len() > 1 {
        let half = x.len().div_ceil(2);
        merge(c, &mut x, (0..half).map(|i| (i, i + half)));
        x = x.part(0, half);
    }
    x
}

/// Every lane folds elements `lane`, `lane + 256`, ... from left to right.
fn rows(c: &mut Combiner<'_>, x: &mut Columns, count: usize) {
    for k in 1..count {
        merge(c, x, (0..L).map(|lane| (lane, k * L + lane)));
    }
    *x = x.part(0, x.len().min(L));
}

/// Every lane folds four vectors component by component, then its components from left to right.
fn vectors(c: &mut Combiner<'_>, x: &mut Columns) {
    for k in 1..SERIAL as usize / 4 {
        merge(c, x, (0..4 * L).map(|i| (i, k * 4 * L + i)));
    }
    *x = x.part(0, x.len().min(4 * L));
    for e in 1..4 {
        merge(c, x, (0..L).map(|lane| (4 * lane, 4 * lane + e)));
    }
    *x = x.every(0, 4);
}

fn near_first(c: &mut Combiner<'_>, x: &mut Columns) {
    for s in (0..).map(|k| 1 << k).take_while(|&s| s < L) {
        merge(c, x, (0..L).step_by(2 * s).map(|i| (i, i + s)));
    }
}

fn far_first(c: &mut Combiner<'_>, x: &mut Columns) {
    for s in halves(L) {
        merge(c, x, (0..s).map(|i| (i, i + s)));
    }
}

/// Groups of 32 lanes, then the groups' values.
fn grouped(c: &mut Combiner<'_>, x: &mut Columns) {
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
