//! The definition, on the processor: prefixes inside tiles, and in front of them the scanned totals of the tiles.

use super::{SECTION, ScanVariant};
use crate::columns::{Columns, Combiner};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::{MapTask, ScanKind, ScanTask};
use rayon::prelude::*;

pub(super) fn run<B: Run<MapTask>>(
    variant: ScanVariant,
    device: &B,
    task: &ScanTask,
    leaves: &[Leaf<B::Raw>],
    outs: &[Out<B::Raw>],
) -> Result<()> {
    let x = Columns::load(device, &task.load, (task.lines.n, task.numerics), leaves)?;
    let mut found = prefixes(variant, task, &x);
    if let ScanKind::Exclusive { first } = &task.kind {
        found = Columns::joined(&[Columns::one(first), found.part(0, x.len() - 1)]);
    }
    found.store(device, &task.finish, task.numerics, outs)
}

/// The inclusive prefixes of an array that is not empty.
fn prefixes(variant: ScanVariant, task: &ScanTask, x: &Columns) -> Columns {
    let size = variant.tile() as usize;
    let combiner = || Combiner::new(&task.combine);
    let tile = |c: &mut Combiner<'_>, t: usize| {
        let mut tile = x.part(t * size, size.min(x.len() - t * size));
        one_tile(variant, c, &mut tile);
        tile
    };
    let mut tiles: Vec<Columns> = (0..x.len().div_ceil(size)).into_par_iter().map_init(combiner, tile).collect();
    if let [all_but_last @ .., _] = &tiles[..]
        && !all_but_last.is_empty()
    {
        let totals: Vec<Columns> = all_but_last.iter().map(|tile| tile.part(tile.len() - 1, 1)).collect();
        let folds = prefixes(variant, task, &Columns::joined(&totals));
        let prepended =
            |c: &mut Combiner<'_>, (t, tile): (usize, &mut Columns)| *tile = c.combine((&folds, |_| t), (tile, |k| k), tile.len());
        tiles[1..].par_iter_mut().enumerate().for_each_init(combiner, prepended);
    }
    Columns::joined(&tiles)
}

fn one_tile(variant: ScanVariant, c: &mut Combiner<'_>, x: &mut Columns) {
    match variant {
        ScanVariant::KoggeStone => kogge_stone(c, x),
        ScanVariant::BrentKung => brent_kung(c, x),
        ScanVariant::Coarsened => coarsened(c, x),
        // The pattern's tiles are its own.
        ScanVariant::SinglePass => {}
    }
}

/// `x[b]` becomes `combine(x[a], x[b])` for every pair (a, b), all at once.
fn prepend(c: &mut Combiner<'_>, x: &mut Columns, pairs: impl Iterator<Item = (usize, usize)>) {
    c.merge(x, &pairs.collect::<Vec<_>>(), |(_, b)| b);
}

fn kogge_stone(c: &mut Combiner<'_>, x: &mut Columns) {
    let n = x.len();
    for s in doubles(n) {
        prepend(c, x, (s..n).map(|i| (i - s, i)));
    }
}

fn brent_kung(c: &mut Combiner<'_>, x: &mut Columns) {
    let n = x.len();
    let steps: Vec<usize> = doubles(n).collect();
    for &s in &steps {
        prepend(c, x, (2 * s - 1..n).step_by(2 * s).map(|i| (i - s, i)));
    }
    for &s in steps.iter().rev() {
        prepend(c, x, (2 * s - 1..n.saturating_sub(s)).step_by(2 * s).map(|i| (i, i + s)));
    }
}

fn coarsened(c: &mut Combiner<'_>, x: &mut Columns) {
    const S: usize = SECTION as usize;
    let n = x.len();
    for e in 1..S {
        prepend(c, x, (e..n).step_by(S).map(|i| (i - 1, i)));
    }
    let mut totals = x.every(S - 1, S);
    kogge_stone(c, &mut totals);
    // The last element of a section takes its scanned total; the others are put behind that of the section before.
    x.put((S - 1..n).step_by(S), &totals);
    prepend(c, x, (S..n).filter(|i| i % S != S - 1).map(|i| (i / S * S - 1, i)));
}

/// 1, 2, 4, ... below `n`.
fn doubles(n: usize) -> impl Iterator<Item = usize> {
    (0..).map(|k| 1 << k).take_while(move |&s| s < n)
}
