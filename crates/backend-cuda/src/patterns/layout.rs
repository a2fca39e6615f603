//! P09 move, by shape.

use super::{bind, blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::{Grid, In};
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::Ty;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Param;
use isowarp_core::patterns::layout::MAX_AXES;
use isowarp_core::patterns::{Axis, LayoutTask, TileTransposeTask, TransposeTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::layout::*;

const THREADS: u32 = 256;
/// Elements of a block of `layout_*`, units of one of `transpose_tiles_*`.
const BLOCK: u64 = 1024;
/// Shortest side of a plane that is worth tiles, and units of a side of a tile.
const LEAST_SIDE: u64 = 8;
const UNITS: u64 = 16;

/// By the bytes that are copied at once: 1, 2, 4, 8, 16.
const LAYOUT: [Kernel; 5] = [LAYOUT_B1, LAYOUT_B2, LAYOUT_B4, LAYOUT_B8, LAYOUT_B16];
/// Kernels by the element's bytes: 1, 2, 4, 8.
const TRANSPOSE: [Kernel; 4] = [TRANSPOSE_B1, TRANSPOSE_B2, TRANSPOSE_B4, TRANSPOSE_B8];
const TRANSPOSE_ANY: [Kernel; 4] = [TRANSPOSE_B1_ANY, TRANSPOSE_B2_ANY, TRANSPOSE_B4_ANY, TRANSPOSE_B8_ANY];

const TRANSPOSE_SQUARE: [Kernel; 4] = [TRANSPOSE_SQUARE_B1, TRANSPOSE_SQUARE_B2, TRANSPOSE_SQUARE_B4, TRANSPOSE_SQUARE_B8];
const TRANSPOSE_SQUARE_ANY: [Kernel; 4] =
    [TRANSPOSE_SQUARE_B1_ANY, TRANSPOSE_SQUARE_B2_ANY, TRANSPOSE_SQUARE_B4_ANY, TRANSPOSE_SQUARE_B8_ANY];
const SWAP_SQUARE: [Kernel; 4] = [SWAP_SQUARE_B1, SWAP_SQUARE_B2, SWAP_SQUARE_B4, SWAP_SQUARE_B8];

/// By a unit's bytes: 1, 2, 4, 8, 16.
const TRANSPOSE_TILES: [Kernel; 5] = [TRANSPOSE_TILES_B1, TRANSPOSE_TILES_B2, TRANSPOSE_TILES_B4, TRANSPOSE_TILES_B8, TRANSPOSE_TILES_B16];

/// Elements of a unit.
fn per_unit(size: u64) -> u64 {
    if size == 8 { 2 } else { 4 }
}

impl Run<LayoutTask> for Cuda {
    fn run(&self, task: &LayoutTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([Leaf::Elements { dtype, .. }], [_]) = (leaves, outs) else {
            return Err(Error::InvalidArgument { what: "layout", reason: "it has one input and one output".to_owned() });
        };
        let mut args = bind(self, ("layout", 0), &[Param::Value(Ty::U32)], leaves, outs)?.args;
        let (size, kind) = (dtype.size_bytes(), dtype.size_bytes().ilog2() as usize);
        let steps = |a: &Axis| In { ptr: a.from as u64, stride: a.to as i64 };
        let Some(plane) = task.plane(LEAST_SIDE) else {
            // By units as large as rows and addresses are made of.
            let aligned = (args.inputs[0].ptr | args.out[0]).trailing_zeros().min(4) as usize;
            let wider = (kind + 1..=aligned).rev().find_map(|k| Some((k, task.in_units(1 << (k - kind))?)));
            let (kind, task) = wider.as_ref().map_or((kind, task), |(k, wider)| (*k, wider));
            for (k, a) in task.axes.iter().enumerate().take(MAX_AXES) {
                args.inputs[1 + k] = steps(a);
                put_wide(&mut args.u, 2 * k, a.n);
            }
            args.u[2 * MAX_AXES] = task.axes.len() as u32;
            args.n = task.elements();
            let kernel = self.kernel((LAYOUT[kind], 0), &[])?;
            let grid = Grid::linear(blocks(args.n.div_ceil(BLOCK))?, THREADS);
            // SAFETY: the task's contract: every index of the axes is inside source and destination.
            return unsafe { self.launch(&kernel, grid, &args) };
        };
        let v = per_unit(size);
        let (p, q) = (task.axes[plane.from], task.axes[plane.to]);
        // The fastest axis of the destination first.
        let others = (0..task.axes.len()).rev().filter(|&k| k != plane.from && k != plane.to);
        let mut planes = 1u64;
        let mut whole = [p.n, q.n, p.to, q.from.unsigned_abs()].into_iter().all(|x| x.is_multiple_of(v));
        let mut batch = 0;
        for k in others {
            let a = task.axes[k];
            args.inputs[2 + batch] = steps(&a);
            args.u[4 + batch] = blocks(a.n)?;
            whole &= a.from.unsigned_abs().is_multiple_of(v) && a.to.is_multiple_of(v);
            planes = planes.saturating_mul(a.n);
            batch += 1;
        }
        whole &= [args.inputs[0].ptr, args.out[0]].into_iter().all(|a| a.is_multiple_of(size * v));
        args.inputs[1] = In { ptr: q.from as u64, stride: p.to as i64 };
        put_wide(&mut args.u, 0, q.n);
        put_wide(&mut args.u, 2, p.n);
        args.u[8] = batch as u32;
        let side = UNITS * v;
        let tiles = p.n.div_ceil(side).saturating_mul(q.n.div_ceil(side)).saturating_mul(planes);
        let kernel = self.kernel((if whole { TRANSPOSE[kind] } else { TRANSPOSE_ANY[kind] }, 0), &[])?;
        let grid = Grid::linear(blocks(tiles)?, THREADS);
        // SAFETY: the task's contract, as above; tiles leave out what is beyond rows and columns.
        unsafe { self.launch(&kernel, grid, &args) }
    }
}

impl Run<TransposeTask> for Cuda {
    fn run(&self, task: &TransposeTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([], [Out { dtype, .. }]) = (leaves, outs) else {
            return Err(Error::InvalidArgument { what: "transpose", reason: "it has one output".to_owned() });
        };
        let TransposeTask { planes, side } = *task;
        let mut args = bind(self, ("transpose_in_place", planes * side * side), &[], leaves, outs)?.args;
        let (size, kind) = (dtype.size_bytes(), dtype.size_bytes().ilog2() as usize);
        put_wide(&mut args.u, 0, side);
        let (kernel, grid) = if side < LEAST_SIDE {
            (SWAP_SQUARE[kind], args.n.div_ceil(u64::from(THREADS)))
        } else {
            let v = per_unit(size);
            let tiles = side.div_ceil(UNITS * v);
            let even = tiles.next_multiple_of(2);
            let pairs = if tiles == 1 { 1 } else { even / 2 * (even + 1) };
            args.u[2] = blocks(tiles)?;
            args.u[3] = blocks(pairs)?;
            let whole = side.is_multiple_of(v) && args.out[0].is_multiple_of(size * v);
            (if whole { TRANSPOSE_SQUARE[kind] } else { TRANSPOSE_SQUARE_ANY[kind] }, pairs.saturating_mul(planes))
        };
        let kernel = self.kernel((kernel, 0), &[])?;
        // SAFETY: the task's contract: all planes are inside the output; tiles leave out what is beyond a side.
        unsafe { self.launch(&kernel, Grid::linear(blocks(grid)?, THREADS), &args) }
    }
}

impl Run<TileTransposeTask> for Cuda {
    fn run(&self, task: &TileTransposeTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([], [Out { dtype, .. }]) = (leaves, outs) else {
            return Err(Error::InvalidArgument { what: "transpose of tiles", reason: "it has one output".to_owned() });
        };
        let mut args = bind(self, ("transpose_in_place", task.reach()), &[], leaves, outs)?.args;
        let [pitch, width, step] = [task.pitch, task.width, task.step].map(|x| x * dtype.size_bytes());
        // The largest unit that everything begins with.
        let kind = (args.out[0] | pitch | width | step | 16).trailing_zeros();
        let tile = task.rows * (width >> kind);
        for (k, words) in [pitch >> kind, width >> kind, step >> kind, task.rows * (pitch >> kind), tile].into_iter().enumerate() {
            put_wide(&mut args.u, 2 * k, words);
        }
        let (pairs, each) = (task.pairs_of_tiles(), tile.div_ceil(BLOCK));
        args.u[10] = blocks(task.side)?;
        args.u[11] = blocks(pairs)?;
        args.u[12] = blocks(each)?;
        let grid = blocks(task.planes.saturating_mul(pairs).saturating_mul(each))?;
        let kernel = self.kernel((TRANSPOSE_TILES[kind as usize], 0), &[])?;
        // SAFETY: the task's contract: all grids are inside the output; a thread leaves out what is beyond its pair of tiles.
        unsafe { self.launch(&kernel, Grid::linear(grid, THREADS), &args) }
    }
}
