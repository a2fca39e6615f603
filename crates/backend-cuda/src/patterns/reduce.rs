//! P02 reduce: one launch, whichever way the lines lie.

use super::lines::Operators;
use super::scratch::Use;
use super::tuning::TUNING;
use super::{Bound, blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::Grid;
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::{Lines, ReduceTask};
use isowarp_kernels::reduce::*;

const THREADS: u32 = 256;
/// Elements that a block takes in one pass, by words of the accumulator.
const PASS: [u64; 4] = [8192, 4096, 2048, 2048];
const COL_THREADS: u32 = 128;
/// Elements of a column that a thread of `reduce_cols_w*` has in flight.
const COL_RUN: u64 = 8;
/// Bytes of partials of columns that are nobody's concern.
const SMALL_SCRATCH: u64 = 256 << 10;
/// Passes of a tile that shared memory has slots for.
const MAX_PASSES: u64 = 32;
const COLS_FROM_SCRATCH: u32 = 1;
const COLS_TO_SCRATCH: u32 = 2;

impl Run<ReduceTask> for Cuda {
    fn run(&self, task: &ReduceTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let operators = Operators { load: &task.load, combine: &task.combine, finish: &task.finish, numerics: task.numerics };
        let mut bound = operators.bind(self, ("reduce", task.lines.elements()), leaves, outs)?;
        let w = operators.words();
        let lines = task.lines;
        if lines.inner > 1 {
            columns(self, &operators, &mut bound, lines, w)
        } else if lines.outer == 1 {
            all(self, &operators, &mut bound, lines.n, w)
        } else if lines.outer < u64::from(self.info().multiprocessors) * 8 && lines.n >= 2 * PASS[w - 1] {
            few_rows(self, &operators, &mut bound, lines, w)
        } else {
            many_rows(self, &operators, &mut bound, lines)
        }
    }
}

/// Passes of a tile, a power of two: few enough tiles, whose partials fit the last block's own tile.
fn passes(n: u64, w: usize) -> u64 {
    let limit = TUNING.reduce_tiles.min(MAX_PASSES * PASS[w - 1]);
    let mut passes = 1;
    while n.div_ceil(passes * PASS[w - 1]) > limit && passes < MAX_PASSES {
        passes *= 2;
    }
    passes
}

fn all(cuda: &Cuda, operators: &Operators<'_>, bound: &mut Bound, n: u64, w: usize) -> Result<()> {
    let pass = PASS[w - 1];
    let passes = passes(n, w);
    let tiles = n.div_ceil(passes * pass);
    if tiles > MAX_PASSES * pass {
        let limit = MAX_PASSES * pass * MAX_PASSES * pass;
        return Err(isowarp_core::Error::TooLarge { what: "elements of a reduction", requested: n, limit });
    }
    bound.args.u[0] = passes as u32;
    bound.args.u[1] = tiles as u32;
    if tiles > 1 {
        let scratch = cuda.stream().scratch();
        bound.args.scratch[0] = scratch.get(cuda, Use::Partials, tiles * 4 * w as u64)?;
        bound.args.scratch[1] = scratch.get(cuda, Use::Counters, 4)?;
    }
    let table = [REDUCE_W1, REDUCE_W2, REDUCE_W4, REDUCE_W4];
    let kernel = operators.kernel(cuda, &table, bound)?;
    let resident = u64::from(cuda.info().multiprocessors * TUNING.reduce_blocks[w - 1]);
    let grid = Grid::linear(blocks(tiles.min(resident))?, THREADS);
    // SAFETY: the task's contract (views are inside their buffers); scratch has room for a partial per tile.
    unsafe { cuda.launch(&kernel, grid, &bound.args) }
}

/// A block to each tile of each row; the last one of a row combines its partials.
fn few_rows(cuda: &Cuda, operators: &Operators<'_>, bound: &mut Bound, lines: Lines, w: usize) -> Result<()> {
    let pass = PASS[w - 1];
    let passes = passes(lines.n, w);
    let tiles = lines.n.div_ceil(passes * pass);
    bound.args.u[0] = passes as u32;
    put_wide(&mut bound.args.u, 2, lines.n);
    bound.args.u[4] = blocks(tiles)?;
    let scratch = cuda.stream().scratch();
    bound.args.scratch[0] = scratch.get(cuda, Use::Partials, lines.outer * tiles.next_multiple_of(4) * 4 * w as u64)?;
    bound.args.scratch[1] = scratch.get(cuda, Use::Counters, lines.outer * 4)?;
    let table = [REDUCE_ROWS_SPLIT_W1, REDUCE_ROWS_SPLIT_W2, REDUCE_ROWS_SPLIT_W4, REDUCE_ROWS_SPLIT_W4];
    let kernel = operators.kernel(cuda, &table, bound)?;
    let grid = Grid::linear(blocks(lines.outer * tiles)?, THREADS);
    // SAFETY: as in `all`, with partials and a counter for each row.
    unsafe { cuda.launch(&kernel, grid, &bound.args) }
}

/// A warp, or a part of one, to each row.
fn many_rows(cuda: &Cuda, operators: &Operators<'_>, bound: &mut Bound, lines: Lines) -> Result<()> {
    let lanes = lines.n.div_ceil(4).next_power_of_two().min(32);
    bound.args.u[0] = lanes as u32;
    put_wide(&mut bound.args.u, 2, lines.n);
    put_wide(&mut bound.args.u, 6, lines.outer);
    let table = [REDUCE_ROWS_W1, REDUCE_ROWS_W2, REDUCE_ROWS_W4, REDUCE_ROWS_W4];
    let kernel = operators.kernel(cuda, &table, bound)?;
    let grid = Grid::linear(blocks((lines.outer * lanes).div_ceil(THREADS.into()))?, THREADS);
    // SAFETY: as in `all`; rows need no scratch.
    unsafe { cuda.launch(&kernel, grid, &bound.args) }
}

/// A thread to each column, or to each of its parts where there are few columns: then a second launch combines the parts.
fn columns(cuda: &Cuda, operators: &Operators<'_>, bound: &mut Bound, lines: Lines, w: usize) -> Result<()> {
    let columns = lines.count();
    let wanted = u64::from(cuda.info().multiprocessors) * 2048;
    let mut part = lines.n.next_power_of_two().max(COL_RUN);
    let bytes = |part: u64| columns * lines.n.div_ceil(part) * 4 * w as u64;
    // Scratch grows in powers of two; what is small anyway may be more than a hundredth.
    let most = (bytes(1) / 100).max(SMALL_SCRATCH);
    while columns * lines.n.div_ceil(part) < wanted && part / 2 >= TUNING.column_part && bytes(part / 2).next_power_of_two() <= most {
        part /= 2;
    }
    let parts = lines.n.div_ceil(part);
    if parts > 1 {
        // Partials lie as [parts][columns].
        bound.args.scratch[0] = cuda.stream().scratch().get(cuda, Use::Partials, bytes(part))?;
    }
    let table = [REDUCE_COLS_W1, REDUCE_COLS_W2, REDUCE_COLS_W4, REDUCE_COLS_W4];
    let kernel = operators.kernel(cuda, &table, bound)?;
    put_wide(&mut bound.args.u, 6, columns);
    let mut go = |flags: u32, n: u64, inner: u64, part: u64| {
        let u = &mut bound.args.u;
        u[1] = flags;
        put_wide(u, 2, n);
        put_wide(u, 4, inner);
        u[8] = part as u32;
        let levels = 1 + (part / COL_RUN).ilog2();
        let grid = Grid::linear(blocks((columns * n.div_ceil(part)).div_ceil(COL_THREADS.into()))?, COL_THREADS);
        let grid = grid.shared(COL_THREADS * 4 * w as u32 * levels);
        // SAFETY: as in `all`; scratch holds a partial for each part of each column.
        unsafe { cuda.launch(&kernel, grid, &bound.args) }
    };
    if parts == 1 {
        return go(0, lines.n, lines.inner, part);
    }
    go(COLS_TO_SCRATCH, lines.n, lines.inner, part)?;
    go(COLS_FROM_SCRATCH, parts, columns, parts.next_power_of_two().max(COL_RUN))
}
