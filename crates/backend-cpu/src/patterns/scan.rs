//! P03 scan: Sklansky's prefixes inside a tile, a strict left fold of the tiles' totals.

use super::accumulators::{Accumulators, Combiner, finish};
use crate::Cpu;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::patterns::plan::SCAN_TILE;
use isowarp_core::patterns::{ScanKind, ScanTask};
use rayon::prelude::*;
use std::ops::Range;

/// Elements whose prefixes are in memory at a time, as accumulators: some tiles for each thread.
fn round() -> u64 {
    8 * SCAN_TILE * rayon::current_num_threads() as u64
}

impl Run<ScanTask> for Cpu {
    fn run(&self, task: &ScanTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let operands = Operands::lock(leaves);
        let (lines, round) = (task.lines, round());
        let mut pending = Pending::of(outs, lines.elements())?;
        host::room(2 * 8 * task.load.results.len() as u64 * round.min(lines.elements()))?;
        // Lines that fit beside each other, or tiles of one that does not.
        let tiles = lines.n.div_ceil(SCAN_TILE);
        let abreast = (round / lines.n.max(1)).max(1) as usize;
        for first in (0..lines.count()).step_by(abreast) {
            let mut folds = vec![None; abreast.min((lines.count() - first) as usize)];
            for begin in (0..tiles).step_by((round / SCAN_TILE) as usize) {
                let some = begin..tiles.min(begin + round / SCAN_TILE);
                let of = |(k, fold): (usize, &mut Option<Accumulators>)| line(task, &operands, first + k as u64, some.clone(), fold);
                let scanned: Vec<Vec<Accumulators>> = folds.par_iter_mut().enumerate().map(of).collect();
                for (k, tiles) in scanned.iter().enumerate() {
                    put(task, first + k as u64, (begin, tiles), &mut pending);
                }
            }
        }
        drop(operands);
        pending.iter().zip(outs).try_for_each(|(p, o)| p.write(o))
    }
}

/// The first element of a line.
fn base(task: &ScanTask, line: u64) -> u64 {
    let lines = task.lines;
    line / lines.inner * lines.n * lines.inner + line % lines.inner
}

/// Inclusive prefixes of some tiles of a line, behind the fold of all tiles before.
fn line(task: &ScanTask, operands: &Operands<'_>, line: u64, tiles: Range<u64>, fold: &mut Option<Accumulators>) -> Vec<Accumulators> {
    let (lines, base) = (task.lines, base(task, line));
    let tile = |t: u64| {
        let first = t * SCAN_TILE;
        let count = SCAN_TILE.min(lines.n - first) as usize;
        sklansky(task, Accumulators::load(operands, &task.load, base + first * lines.inner, lines.inner, count))
    };
    let mut tiles: Vec<Accumulators> = tiles.into_par_iter().map(tile).collect();
    fold_tiles(task, &mut tiles, fold);
    tiles
}

/// Puts the prefixes of a line from its tile `begin` on where they belong.
fn put(task: &ScanTask, line: u64, (begin, tiles): (u64, &[Accumulators]), pending: &mut [Pending]) {
    let (lines, base) = (task.lines, base(task, line));
    let shift = match &task.kind {
        ScanKind::Inclusive => 0,
        ScanKind::Exclusive { first } => {
            let start = Accumulators { parts: first.iter().map(|&b| vec![b]).collect() };
            if begin == 0 {
                finish(&task.finish, &start, |out, _, v| pending[out].put(base, v));
            }
            1
        }
    };
    for (t, tile) in (begin..).zip(tiles) {
        finish(&task.finish, tile, |out, i, v| {
            let i = t * SCAN_TILE + i as u64 + shift;
            if i < lines.n {
                pending[out].put(base + i * lines.inner, v);
            }
        });
    }
}

/// Inclusive prefixes of one tile.
fn sklansky(task: &ScanTask, mut tile: Accumulators) -> Accumulators {
    let mut combiner = Combiner::new(&task.combine);
    let n = tile.len();
    let mut half = 1;
    while half < n {
        // The elements whose index has this bit set, in order, and the last element of the block before each.
        let right: Vec<usize> = (0..n).filter(|i| i & half != 0).collect();
        let left = |i: usize| (i & !(half - 1)) - 1;
        let mut combined = tile.clone();
        combiner.pairs(&tile, &tile, right.len(), |l| (left(right[l]), right[l]), |part, l, v| combined.parts[part][right[l]] = v);
        tile = combined;
        half *= 2;
    }
    tile
}

/// Puts the left fold of the totals before each tile in front of its elements, and leaves that of all.
fn fold_tiles(task: &ScanTask, tiles: &mut [Accumulators], fold: &mut Option<Accumulators>) {
    let mut combiner = Combiner::new(&task.combine);
    for tile in tiles {
        let last = tile.len() - 1;
        let mut total = Accumulators::new(tile.parts.len());
        total.push(tile, last);
        let Some(before) = fold.replace(total) else { continue };
        let mut folded = tile.clone();
        combiner.pairs(&before, tile, tile.len(), |l| (0, l), |part, l, v| folded.parts[part][l] = v);
        let mut total = Accumulators::new(tile.parts.len());
        total.push(&folded, last);
        *fold = Some(total);
        *tile = folded;
    }
}
