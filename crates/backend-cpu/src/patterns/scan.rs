//! P03 scan: Sklansky's prefixes inside a tile, a strict left fold of the tiles' totals.

use super::accumulators::{Accumulators, Combiner, Places, finish};
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending, store};
use crate::{Cpu, outputs, threads};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::Blocks;
use isowarp_core::patterns::plan::SCAN_TILE;
use isowarp_core::patterns::{ScanKind, ScanTask};

/// Columns of the matrix that a tile is while its neighbours are combined.
const COLUMNS: usize = 64;

impl Run<ScanTask> for Cpu {
    fn run(&self, task: &ScanTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let lines = task.lines;
        host::room(2 * 8 * task.load.results.len() as u64 * (round() * SCAN_TILE).min(lines.elements()))?;
        if lines.inner == 1 {
            return outputs::write(leaves, outs, lines.elements(), false, |operands, results| scan(task, operands, outs, results));
        }
        // One line after the other, and then each element where it belongs.
        let mut scanned = Pending::of(outs, lines.elements())?;
        scan(task, &Operands::lock(leaves), outs, scanned.iter_mut().map(Pending::bytes).collect());
        let mut pending = Pending::of(outs, lines.elements())?;
        for ((from, to), out) in scanned.iter_mut().zip(&mut pending).zip(outs) {
            let size = out.dtype.size_bytes() as usize;
            let (from, to) = (from.bytes(), to.bytes());
            for (line, elements) in from.chunks_exact(lines.n as usize * size).enumerate() {
                for (i, element) in elements.chunks_exact(size).enumerate() {
                    let at = (base(task, line as u64) + i as u64 * lines.inner) as usize * size;
                    to[at..at + size].copy_from_slice(element);
                }
            }
        }
        pending.iter_mut().zip(outs).try_for_each(|(p, out)| p.write(out))
    }
}

/// Tiles whose prefixes are in memory at a time, as accumulators: some for each thread.
fn round() -> u64 {
    8 * rayon::current_num_threads() as u64
}

/// The first element of a line.
fn base(task: &ScanTask, line: u64) -> u64 {
    let lines = task.lines;
    line / lines.inner * lines.n * lines.inner + line % lines.inner
}

/// Prefixes of all lines, one line behind the other; on a thread of the pool where there are many, which then waits for nobody between rounds.
fn scan(task: &ScanTask, operands: &Operands<'_>, outs: &[Out<HostBuffer>], results: Vec<&mut [u8]>) {
    match task.lines.elements() {
        ..=SCAN_TILE => rounds(task, operands, outs, results),
        _ => rayon::scope(|_| rounds(task, operands, outs, results)),
    }
}

fn rounds(task: &ScanTask, operands: &Operands<'_>, outs: &[Out<HostBuffer>], mut results: Vec<&mut [u8]>) {
    let lines = task.lines;
    let (load, mut combiner, finishing) = (Blocks::new(&task.load), Combiner::new(&task.combine), Blocks::new(&task.finish));
    let shift = u64::from(task.kind != ScanKind::Inclusive);
    let per_line = lines.n.div_ceil(SCAN_TILE);
    let all = lines.count() * per_line;
    let mut fold = None;
    for first in (0..all).step_by(round() as usize) {
        let count = round().min(all - first);
        let tiles = threads::map(count, &(load.clone(), combiner.clone()), |(load, combiner), k| {
            let (line, t) = ((first + k) / per_line, (first + k) % per_line);
            let count = SCAN_TILE.min(lines.n - t * SCAN_TILE) as usize;
            let begin = base(task, line) + t * SCAN_TILE * lines.inner;
            combiner.sklansky(Accumulators::load(operands, &task.load, load, begin, lines.inner, count))
        });
        let parts = (first..).zip(tiles).map(|(k, tile)| {
            let t = k % per_line;
            let before = if t == 0 { None } else { fold.take() };
            let total = (&tile, Places::Row(tile.len() - 1));
            fold = Some(match &before {
                Some(before) => combiner.combine((before, Places::Row(0)), total, 1),
                None => tile.part(tile.len() - 1, 1),
            });
            // Of exclusive prefixes the first one comes before a line's first tile, and the last one is left out.
            let elements = lines.n.min((t + 1) * SCAN_TILE + shift) - if t == 0 { 0 } else { t * SCAN_TILE + shift };
            let parts = results.iter_mut().zip(outs);
            let part = parts.map(|(bytes, out)| bytes.split_off_mut(..(elements * out.dtype.size_bytes()) as usize).unwrap_or_default());
            (tile, before, part.collect::<Vec<_>>())
        });
        threads::each(
            parts.collect(),
            &(combiner.clone(), finishing.clone()),
            |(combiner, finishing), _, (mut tile, before, mut results)| {
                let mut begin = 0;
                if let Some(before) = before {
                    tile = combiner.prepend_all((&before, 0), tile);
                } else if let ScanKind::Exclusive { first } = &task.kind {
                    put(finishing, &Accumulators::one(&task.load, first), outs, &mut results, 0);
                    begin = 1;
                }
                put(finishing, &tile, outs, &mut results, begin);
            },
        );
    }
}

/// Finishes prefixes and stores them from an element on, as far as there is room.
fn put(finishing: &mut Blocks, prefixes: &Accumulators, outs: &[Out<HostBuffer>], results: &mut [&mut [u8]], begin: usize) {
    finish(finishing, outs.len(), prefixes, |k, first, lanes| {
        let size = outs[k].dtype.size_bytes() as usize;
        let room = &mut results[k][(begin + first) * size..];
        let end = room.len().min(lanes.len() * size);
        store(outs[k].dtype, lanes, &mut room[..end]);
    });
}

impl Combiner {
    /// Inclusive prefixes of one tile: for every bit, an element whose index has it is put behind the last one of the block before.
    fn sklansky(&mut self, mut tile: Accumulators) -> Accumulators {
        let n = tile.len();
        if let Some((binary, lanes)) = self.one(&mut tile) {
            binary.prefixes(lanes);
            return tile;
        }
        // Near neighbours by whole columns of a matrix; rows that end early are filled up with elements that nobody looks at.
        let columns = n.next_power_of_two().min(COLUMNS);
        let rows = n.div_ceil(columns);
        tile.resize(rows * columns);
        tile = tile.transposed(columns);
        for half in doubles(1, columns) {
            for block in (0..columns).step_by(2 * half) {
                let left = Places::Again((block + half - 1) * rows, rows);
                self.prepend(&mut tile, left, (block + half) * rows, half * rows);
            }
        }
        tile = tile.transposed(rows);
        tile.resize(n);
        for half in doubles(columns, n) {
            for first in (half..n).step_by(2 * half) {
                self.prepend(&mut tile, Places::Again(first - 1, 1), first, half.min(n - first));
            }
        }
        tile
    }

    /// Combines `left` with each of `count` elements from `first` on, in place.
    fn prepend(&mut self, x: &mut Accumulators, left: Places<'_>, first: usize, count: usize) {
        let made = self.combine((x, left), (x, Places::Row(first)), count);
        x.set_row(first, &made);
    }
}

/// `from`, twice that, ... below `n`.
fn doubles(from: usize, n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(from), |half| Some(2 * half)).take_while(move |&half| half < n)
}
