//! P03 scan: Sklansky's prefixes inside a tile, a strict left fold of the tiles' totals.

use super::accumulators::{Accumulators, Combiner, finish};
use crate::Cpu;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::plan::SCAN_TILE;
use isowarp_core::patterns::{ScanKind, ScanTask};
use rayon::prelude::*;

impl Run<ScanTask> for Cpu {
    fn run(&self, task: &ScanTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let operands = Operands::lock(leaves);
        let lines = task.lines;
        let mut pending: Vec<Pending> = outs.iter().map(|o| Pending::new(o.dtype, lines.elements())).collect();
        let scanned: Vec<Vec<Accumulators>> = (0..lines.count())
            .into_par_iter()
            .map(|line| {
                let base = line / lines.inner * lines.n * lines.inner + line % lines.inner;
                let tiles = (0..lines.n.div_ceil(SCAN_TILE)).into_par_iter();
                let mut tiles: Vec<Accumulators> = tiles
                    .map(|t| {
                        let first = t * SCAN_TILE;
                        let count = SCAN_TILE.min(lines.n - first) as usize;
                        sklansky(task, Accumulators::load(&operands, &task.load, base + first * lines.inner, lines.inner, count))
                    })
                    .collect();
                fold_tiles(task, &mut tiles);
                tiles
            })
            .collect();
        drop(operands);
        for (line, tiles) in scanned.iter().enumerate() {
            let line = line as u64;
            let base = line / lines.inner * lines.n * lines.inner + line % lines.inner;
            let shift = match &task.kind {
                ScanKind::Inclusive => 0,
                ScanKind::Exclusive { first } => {
                    let start = Accumulators { parts: first.iter().map(|&b| vec![b]).collect() };
                    finish(&task.finish, &start, |out, _, v| pending[out].put(base, v));
                    1
                }
            };
            for (t, tile) in tiles.iter().enumerate() {
                finish(&task.finish, tile, |out, i, v| {
                    let i = t as u64 * SCAN_TILE + i as u64 + shift;
                    if i < lines.n {
                        pending[out].put(base + i * lines.inner, v);
                    }
                });
            }
        }
        pending.iter().zip(outs).try_for_each(|(p, o)| p.write(o))
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

/// Puts the left fold of the totals before each tile in front of its elements.
fn fold_tiles(task: &ScanTask, tiles: &mut [Accumulators]) {
    let mut combiner = Combiner::new(&task.combine);
    let mut fold: Option<Accumulators> = None;
    for tile in tiles {
        let last = tile.len() - 1;
        let mut total = Accumulators::new(tile.parts.len());
        total.push(tile, last);
        let Some(before) = fold.replace(total) else { continue };
        let mut folded = tile.clone();
        combiner.pairs(&before, tile, tile.len(), |l| (0, l), |part, l, v| folded.parts[part][l] = v);
        let mut total = Accumulators::new(tile.parts.len());
        total.push(&folded, last);
        fold = Some(total);
        *tile = folded;
    }
}
