//! P03 scan, the textbooks' algorithms: prefixes inside tiles, and in front of them the scanned totals of the tiles.

use super::accumulators::{Accumulators, Combiner, Places, finish};
use crate::Cpu;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Blocks;
use isowarp_core::patterns::scan_variants::SECTION;
use isowarp_core::patterns::{ScanKind, ScanVariant, ScanVariantTask};
use rayon::prelude::*;

impl Run<ScanVariantTask> for Cpu {
    fn run(&self, task: &ScanVariantTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let scan = &task.scan;
        if task.variant == ScanVariant::SinglePass {
            return self.run(scan, leaves, outs);
        }
        let operands = Operands::lock(leaves);
        let n = scan.lines.n;
        isowarp_core::host::room(2 * 8 * scan.load.results.len() as u64 * n)?;
        let loading = Blocks::new(&scan.load);
        let load = |first: u64, count: u64| Accumulators::load(&operands, &scan.load, &mut loading.clone(), first, 1, count as usize);
        let tiles = prefixes(task, n, &load)?;
        drop(operands);
        let mut pending = Pending::of(outs, n)?;
        let mut finishing = Blocks::new(&scan.finish);
        let mut at = 0;
        if let ScanKind::Exclusive { first } = &scan.kind {
            finish(&mut finishing, outs.len(), &Accumulators::one(&scan.load, first), |out, _, lanes| pending[out].put(0, lanes));
            at = 1;
        }
        for tile in &tiles {
            let stored = tile.part(0, tile.len().min((n - at) as usize));
            finish(&mut finishing, outs.len(), &stored, |out, first, lanes| pending[out].put(at + first as u64, lanes));
            at += stored.len() as u64;
        }
        pending.iter_mut().zip(outs).try_for_each(|(p, o)| p.write(o))
    }
}

/// The inclusive prefixes of an array whose elements `of(first, count)` gives, tile by tile.
fn prefixes(task: &ScanVariantTask, n: u64, of: &(dyn Fn(u64, u64) -> Accumulators + Sync)) -> Result<Vec<Accumulators>> {
    let size = task.variant.tile();
    let combiner = Combiner::new(&task.scan.combine);
    let mut tiles: Vec<Accumulators> = (0..n.div_ceil(size))
        .into_par_iter()
        .map(|t| {
            let mut tile = of(t * size, size.min(n - t * size));
            one_tile(task.variant, &mut combiner.clone(), &mut tile)?;
            Ok(tile)
        })
        .collect::<Result<_>>()?;
    let Some((_, all_but_last)) = tiles.split_last() else { return Ok(tiles) };
    if all_but_last.is_empty() {
        return Ok(tiles);
    }
    let mut totals = Accumulators::of(&task.scan.load);
    all_but_last.iter().for_each(|t| totals.push(t, t.len() - 1));
    let above = |first: u64, count: u64| totals.part(first as usize, count as usize);
    let folds = prefixes(task, totals.len() as u64, &above)?;
    tiles[1..].par_iter_mut().enumerate().for_each(|(t, tile)| {
        let (fold, at) = (&folds[t / size as usize], t % size as usize);
        *tile = combiner.clone().combine((fold, Places::Again(at, 1)), (tile, Places::Row(0)), tile.len());
    });
    Ok(tiles)
}

fn one_tile(variant: ScanVariant, c: &mut Combiner, x: &mut Accumulators) -> Result<()> {
    match variant {
        ScanVariant::KoggeStone => kogge_stone(c, x),
        ScanVariant::BrentKung => brent_kung(c, x),
        ScanVariant::Coarsened => coarsened(c, x),
        other => return Err(Error::InvalidArgument { what: "variant", reason: format!("`{}` has no such tiles", other.name()) }),
    }
    Ok(())
}

/// `x[b]` becomes `combine(x[a], x[b])` for every pair (a, b), all at once.
fn prepend(c: &mut Combiner, x: &mut Accumulators, pairs: impl Iterator<Item = (usize, usize)>) {
    c.merge(x, &pairs.collect::<Vec<_>>(), |(_, b)| b);
}

fn kogge_stone(c: &mut Combiner, x: &mut Accumulators) {
    let n = x.len();
    for s in doubles(n) {
        prepend(c, x, (s..n).map(|i| (i - s, i)));
    }
}

fn brent_kung(c: &mut Combiner, x: &mut Accumulators) {
    let n = x.len();
    let steps: Vec<usize> = doubles(n).collect();
    for &s in &steps {
        prepend(c, x, (2 * s - 1..n).step_by(2 * s).map(|i| (i - s, i)));
    }
    for &s in steps.iter().rev() {
        prepend(c, x, (2 * s - 1..n.saturating_sub(s)).step_by(2 * s).map(|i| (i, i + s)));
    }
}

fn coarsened(c: &mut Combiner, x: &mut Accumulators) {
    const S: usize = SECTION as usize;
    let n = x.len();
    for e in 1..S {
        prepend(c, x, (e..n).step_by(S).map(|i| (i - 1, i)));
    }
    let lasts = (S - 1..n).step_by(S);
    let mut totals = x.picked(Places::List(&lasts.clone().collect::<Vec<_>>()), lasts.len());
    kogge_stone(c, &mut totals);
    // The last element of a section takes its scanned total; the others are put behind that of the section before.
    x.set(lasts, &totals);
    prepend(c, x, (S..n).filter(|i| i % S != S - 1).map(|i| (i / S * S - 1, i)));
}

/// 1, 2, 4, ... below `n`.
fn doubles(n: usize) -> impl Iterator<Item = usize> {
    (0..).map(|k| 1 << k).take_while(move |&s| s < n)
}
