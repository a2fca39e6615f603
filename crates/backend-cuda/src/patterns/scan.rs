//! P03 scan: one launch that reads its input once.

use super::lines::Operators;
use super::scratch::Use;
use super::tuning::TUNING;
use super::{Bound, blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::Grid;
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::plan::{SCAN_TILE, tiles};
use isowarp_core::patterns::{Lines, ScanKind, ScanTask};
use isowarp_kernels::scan::*;
use std::sync::atomic::Ordering;

/// 64-bit words before the tiles' states.
pub(super) const HEADER_WORDS: u64 = 16;
/// Threads of a block of `scan_w*`.
const THREADS: u32 = 512;
/// Threads of a block of `scan_parked_w1` and `scan_served_w1`: those of a tile, and a warp that looks back.
const PARKED_THREADS: u32 = 288;
/// Longest line that `scan_rows_w*` takes.
const SHORT_LINE: [u64; 4] = [1024, 512, 256, 256];
/// Tiles of a line above which it is `scan_served_w1`, with a block that serves the others and two states to a tile.
pub(super) const GROUP: u64 = 128;
const LINE_THREADS: u32 = 128;
const COL_THREADS: u32 = 64;
const EXCLUSIVE: u32 = 1;
/// Word of `u`: launches after which their numbers start over.
pub(super) const EPOCHS: usize = 12;
/// Word of `u`: tiles of all lines.
const TILES: usize = 13;
/// Aggregates of aligned blocks that a thread of `scan_cols_w*` keeps.
const COL_LEVELS: u32 = 14;

impl Run<ScanTask> for Cuda {
    fn run(&self, task: &ScanTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let operators = Operators { load: &task.load, combine: &task.combine, finish: &task.finish, numerics: task.numerics };
        let mut bound = operators.bind(self, ("scan", task.lines.elements()), leaves, outs)?;
        let lines = task.lines;
        let w = operators.words();
        put_wide(&mut bound.args.u, 2, lines.n);
        if let ScanKind::Exclusive { first } = &task.kind {
            bound.args.u[0] = EXCLUSIVE;
            put_first(&mut bound.args.u[4..8], task, first);
        }
        if lines.inner > 1 {
            columns(self, &operators, &mut bound, lines, w)
        } else if lines.outer > 1 && lines.n <= SHORT_LINE[w - 1] {
            short_lines(self, &operators, &mut bound, lines)
        } else {
            long_lines(self, &operators, &mut bound, lines, w)
        }
    }
}

/// Writes the value that an exclusive scan starts with, as the accumulator's words.
pub(super) fn put_first(words: &mut [u32], task: &ScanTask, first: &[u64]) {
    let mut at = 0;
    for (ty, bits) in task.parts().iter().zip(first) {
        words[at] = *bits as u32;
        if ty.words() == 2 {
            words[at + 1] = (bits >> 32) as u32;
        }
        at += ty.words();
    }
}

fn long_lines(cuda: &Cuda, operators: &Operators<'_>, bound: &mut Bound, lines: Lines, w: usize) -> Result<()> {
    let tiles_per_line = tiles(lines.n, SCAN_TILE);
    let tiles = lines.outer * tiles_per_line;
    // A ticket is 32 bits, and every block draws one more than there are tiles.
    let limit = u64::from(u32::MAX / 2);
    if tiles > limit {
        return Err(Error::TooLarge { what: "tiles of a scan", requested: tiles, limit });
    }
    let multiprocessors = cuda.info().multiprocessors;
    let parked = w == 1 && tiles > TUNING.parked_from * u64::from(multiprocessors);
    let servers = u64::from(parked && tiles_per_line > GROUP);
    let bytes = 8 * (HEADER_WORDS + (1 + servers) * tiles * w as u64);
    bound.args.scratch[0] = cuda.stream().scratch().get(cuda, Use::Scan, bytes)?;
    bound.args.u[TILES] = tiles as u32;
    bound.args.u[EPOCHS] = cuda.device().launch_numbers.load(Ordering::Relaxed);
    let (table, resident, threads) = if parked {
        ([if servers > 0 { SCAN_SERVED_W1 } else { SCAN_PARKED_W1 }; 4], TUNING.parked_blocks, PARKED_THREADS)
    } else {
        ([SCAN_W1, SCAN_W2, SCAN_W4, SCAN_W4], TUNING.scan_blocks[w - 1], THREADS)
    };
    let kernel = operators.kernel(cuda, &table, bound)?;
    let grid = Grid::linear(blocks((tiles + servers).min(u64::from(multiprocessors * resident)))?, threads);
    // SAFETY: the task's contract (views are inside their buffers); scratch holds the header and a state per tile.
    unsafe { cuda.launch(&kernel, grid, &bound.args) }
}

/// A warp, or a part of one, to each line.
fn short_lines(cuda: &Cuda, operators: &Operators<'_>, bound: &mut Bound, lines: Lines) -> Result<()> {
    let lanes = lines.n.div_ceil(4).next_power_of_two().min(32);
    bound.args.u[1] = lanes as u32;
    put_wide(&mut bound.args.u, 8, lines.outer);
    let kernel = operators.kernel(cuda, &[SCAN_ROWS_W1, SCAN_ROWS_W2, SCAN_ROWS_W4, SCAN_ROWS_W4], bound)?;
    let grid = Grid::linear(blocks((lines.outer * lanes).div_ceil(LINE_THREADS.into()))?, LINE_THREADS);
    // SAFETY: as in `long_lines`; no scratch.
    unsafe { cuda.launch(&kernel, grid, &bound.args) }
}

/// A thread to each column.
fn columns(cuda: &Cuda, operators: &Operators<'_>, bound: &mut Bound, lines: Lines, w: usize) -> Result<()> {
    put_wide(&mut bound.args.u, 8, lines.inner);
    put_wide(&mut bound.args.u, 10, lines.count());
    let kernel = operators.kernel(cuda, &[SCAN_COLS_W1, SCAN_COLS_W2, SCAN_COLS_W4, SCAN_COLS_W4], bound)?;
    let grid = Grid::linear(blocks(lines.count().div_ceil(COL_THREADS.into()))?, COL_THREADS);
    let grid = grid.shared(COL_THREADS * 4 * w as u32 * COL_LEVELS);
    // SAFETY: as in `long_lines`; no scratch.
    unsafe { cuda.launch(&kernel, grid, &bound.args) }
}
