//! P09 move, by shape: tiles where rows become columns, elements one by one elsewhere.

use super::Launch;
use super::operands::{Limits, Signature};
use super::program::{Operators, Program};
use crate::binds::Binding;
use crate::buffer::{Buffer, window};
use crate::device::Wgpu;
use isowarp_core::backend::{Backend as _, Leaf, Out, Run};
use isowarp_core::caps::Numerics;
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::layout::{MAX_AXES, Plane};
use isowarp_core::patterns::{Axis, LayoutTask, TileTransposeTask, TransposeTask};
use isowarp_shaders::kernels::{LAYOUT, TRANSPOSE, TRANSPOSE_SQUARE, TRANSPOSE_TILES, Template};

/// Shortest side of a plane that is worth tiles.
const LEAST_SIDE: u64 = 8;
/// Units of a side of a tile.
const UNITS: u64 = 16;

/// Bytes of a block of a square, or of tiles, that no binding holds; two such blocks are taken.
const BLOCK_BYTES: u64 = 16 << 20;

/// One side of a copy.
#[derive(Clone, Copy)]
struct Side<'a> {
    raw: &'a Buffer,
    offset: u64,
}

impl Run<LayoutTask> for Wgpu {
    fn run(&self, task: &LayoutTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([Leaf::Elements { raw, dtype, offset, .. }], [out]) = (leaves, outs) else {
            return Err(Error::InvalidArgument { what: "layout", reason: "it has one input and one output".to_owned() });
        };
        let (from, to) = (Side { raw, offset: *offset }, Side { raw: &out.raw, offset: out.offset });
        self.pieces(self.window_limits(), dtype.size_bytes(), task.axes.clone(), from, to)
    }
}

impl Run<TransposeTask> for Wgpu {
    fn run(&self, task: &TransposeTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([], [out]) = (leaves, outs) else {
            return Err(Error::InvalidArgument { what: "transpose", reason: "it has one output".to_owned() });
        };
        let (limits, size) = (self.window_limits(), out.dtype.size_bytes());
        let most = limits.window_bytes.min(1 << 31).saturating_sub(limits.align + 16) / size;
        let plane = task.side * task.side;
        let at = |k: u64| Side { raw: &out.raw, offset: out.offset + k * plane };
        let together = most / plane;
        if together == 0 {
            return (0..task.planes).try_for_each(|k| self.square_in_blocks(limits, size, task.side, at(k)));
        }
        for first in (0..task.planes).step_by(together as usize) {
            let planes = together.min(task.planes - first);
            self.squares(limits, size, TransposeTask { planes, ..*task }, at(first))?;
        }
        Ok(())
    }
}

impl Run<TileTransposeTask> for Wgpu {
    fn run(&self, task: &TileTransposeTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([], [out]) = (leaves, outs) else {
            return Err(Error::InvalidArgument { what: "transpose of tiles", reason: "it has one output".to_owned() });
        };
        let (limits, size) = (self.window_limits(), out.dtype.size_bytes());
        let most = limits.window_bytes.min(1 << 31).saturating_sub(limits.align + 16) / size;
        let at = |k: u64| Side { raw: &out.raw, offset: out.offset + k * task.step };
        let one = TileTransposeTask { planes: 1, step: 0, ..*task };
        if one.reach() > most {
            return (0..task.planes).try_for_each(|k| self.tiles_in_blocks(limits, size, one, at(k)));
        }
        let together = if task.planes > 1 { 1 + (most - one.reach()) / task.step } else { 1 };
        for first in (0..task.planes).step_by(together as usize) {
            let planes = together.min(task.planes - first);
            self.tiles(limits, size, TileTransposeTask { planes, ..*task }, at(first))?;
        }
        Ok(())
    }
}

/// Elements from the first to the last that an axis steps over.
fn reach(a: &Axis) -> u64 {
    (a.n - 1) * a.from.unsigned_abs().max(a.to)
}

impl Wgpu {
    /// Cuts the longest axis in half until both sides fit into a binding. Halves are whole tiles.
    fn pieces(&self, limits: Limits, size: u64, axes: Vec<Axis>, from: Side<'_>, to: Side<'_>) -> Result<()> {
        let most = limits.window_bytes.min(1 << 31).saturating_sub(limits.align + 16) / size;
        let source: u64 = axes.iter().map(|a| (a.n - 1) * a.from.unsigned_abs()).sum();
        let target: u64 = axes.iter().map(|a| (a.n - 1) * a.to).sum();
        if source < most && target < most {
            return self.piece(limits, size, axes, from, to);
        }
        let longest = (0..axes.len()).max_by_key(|&k| reach(&axes[k]));
        let Some(k) = longest.filter(|&k| axes[k].n > 1) else {
            return Err(Error::TooLarge { what: "bytes of an element", requested: size, limit: limits.window_bytes });
        };
        let half = axes[k].n.div_ceil(2);
        let tile = UNITS * 4;
        let half = if axes[k].n > tile { half.next_multiple_of(tile) } else { half };
        let (mut low, mut high) = (axes.clone(), axes);
        low[k].n = half;
        high[k].n -= half;
        let next = |s: Side<'_>, step: i64| s.offset.wrapping_add_signed((half as i64).wrapping_mul(step));
        let (f, t) = (next(from, low[k].from), next(to, low[k].to as i64));
        self.pieces(limits, size, low, from, to)?;
        self.pieces(limits, size, high, Side { offset: f, ..from }, Side { offset: t, ..to })
    }

    fn piece(&self, limits: Limits, size: u64, axes: Vec<Axis>, from: Side<'_>, to: Side<'_>) -> Result<()> {
        let task = LayoutTask { axes: axes.into_iter().filter(|a| a.n > 1).collect() };
        // The source's binding starts at the lowest element that is read.
        let below: u64 = task.axes.iter().filter(|a| a.from < 0).map(|a| (a.n - 1) * a.from.unsigned_abs()).sum();
        let source: u64 = task.axes.iter().map(|a| (a.n - 1) * a.from.unsigned_abs()).sum();
        let target: u64 = task.axes.iter().map(|a| (a.n - 1) * a.to).sum();
        let read = window(from.offset - below, source + 1, size, limits.align, limits.window_bytes)?;
        let written = window(to.offset, target + 1, size, limits.align, limits.window_bytes)?;
        let skips = [(read.skip + below) as u32, written.skip as u32];
        // Where units are more than a word, both sides end with a whole one.
        let bindings = |unit: u64| {
            let whole = |bytes: u64| bytes.next_multiple_of(unit);
            [
                Binding { buffer: to.raw, offset_bytes: written.offset_bytes, size_bytes: whole(written.size_bytes) },
                Binding { buffer: from.raw, offset_bytes: read.offset_bytes, size_bytes: whole(read.size_bytes) },
            ]
        };
        let v = per_unit(size);
        if let Some(plane) = task.plane(LEAST_SIDE).filter(|_| task.axes.len() <= MAX_AXES) {
            let vector = in_units(&task, plane, v, skips);
            if vector || size >= 4 {
                let batch: Vec<Axis> = others(&task, plane);
                let (p, q) = (task.axes[plane.from], task.axes[plane.to]);
                let side = UNITS * v;
                let planes: u64 = batch.iter().map(|a| a.n).product();
                let blocks = p.n.div_ceil(side) * q.n.div_ceil(side) * planes;
                let mut words = vec![blocks as u32, skips[0], skips[1], q.n as u32, p.n as u32, q.from as u32, p.to as u32];
                put_axes(&mut words, &batch, 4);
                let mut launch = Launch::new(0, &words);
                launch.bindings.extend(bindings(unit_bytes(size, vector)));
                let holes = transpose_holes(size, vector, batch.len());
                let signature = Signature::default();
                let kernel = self.program("layout", &program(TRANSPOSE, "transpose", &holes, &signature))?;
                return self.launch(&kernel, &launch, blocks);
            }
        }
        // By four words, or by the word, where rows and both sides' beginnings are made of them.
        let wider = [16, 4].into_iter().filter(|&unit| unit > size).find_map(|unit| {
            let per = unit / size;
            let whole = skips.iter().all(|&s| u64::from(s).is_multiple_of(per));
            task.in_units(per).filter(|_| whole).map(|task| (task, unit, skips.map(|s| s / per as u32)))
        });
        let (task, size, skips) = wider.unwrap_or((task, size, skips));
        let n = task.elements();
        let mut words = vec![n as u32, skips[0], skips[1]];
        put_axes(&mut words, &task.axes, MAX_AXES);
        let mut launch = Launch::new(0, &words);
        launch.bindings.extend(bindings(if size == 16 { 16 } else { 4 }));
        let atomic = size < 4 && !task.is_dense();
        let holes = layout_holes(size, task.axes.len(), atomic);
        let signature = Signature::default();
        let kernel = self.program("layout", &program(LAYOUT, "copy_axes", &holes, &signature))?;
        let per = if size < 4 && !atomic { 4 / size } else { 1 };
        let lead = u64::from(skips[1]) % per;
        self.launch(&kernel, &launch, (lead + n).div_ceil(per).div_ceil(256))
    }
}

impl Wgpu {
    /// Squares that a binding holds.
    fn squares(&self, limits: Limits, size: u64, task: TransposeTask, x: Side<'_>) -> Result<()> {
        let TransposeTask { planes, side } = task;
        let n = planes * side * side;
        let window = window(x.offset, n, size, limits.align, limits.window_bytes)?;
        let v = per_unit(size);
        let vector = side.is_multiple_of(v) && window.skip.is_multiple_of(v);
        let each = side < LEAST_SIDE || (size < 4 && !vector);
        let tiles = side.div_ceil(UNITS * v);
        let even = tiles.next_multiple_of(2);
        let pairs = if tiles == 1 { 1 } else { even / 2 * (even + 1) };
        let blocks = if each { n } else { pairs * planes };
        let words = [blocks, window.skip, side, side, side, side, tiles, pairs].map(|w| w as u32);
        let mut launch = Launch::new(0, &words);
        launch.bindings.push(Binding { buffer: x.raw, offset_bytes: window.offset_bytes, size_bytes: window.size_bytes });
        let (entry, groups) = if each { ("swap", n.div_ceil(256)) } else { ("turn", blocks) };
        let (holes, signature) = (square_holes(size, vector, each), Signature::default());
        let kernel = self.program("transpose_in_place", &program(TRANSPOSE_SQUARE, entry, &holes, &signature))?;
        self.launch(&kernel, &launch, groups)
    }

    /// A square above a binding: pairs of blocks that change places, each turned on its way through memory of its size.
    fn square_in_blocks(&self, limits: Limits, size: u64, side: u64, x: Side<'_>) -> Result<()> {
        let block = 1 << ((limits.window_bytes.min(BLOCK_BYTES) / size).ilog2() / 2);
        let turned = [self.allocate_bytes(block * block * size)?, self.allocate_bytes(block * block * size)?];
        let [above, below] = [&turned[0], &turned[1]].map(|raw| Side { raw, offset: 0 });
        let step = |n, from: u64, to| Axis { n, from: from as i64, to };
        for top in (0..side).step_by(block as usize) {
            for left in (top..side).step_by(block as usize) {
                let (rows, columns) = (block.min(side - top), block.min(side - left));
                let upper = Side { offset: x.offset + top * side + left, ..x };
                let lower = Side { offset: x.offset + left * side + top, ..x };
                let turn = |rows, columns, from, to| self.pieces(limits, size, vec![step(columns, 1, rows), step(rows, side, 1)], from, to);
                let back =
                    |rows, columns, from, to| self.pieces(limits, size, vec![step(rows, columns, side), step(columns, 1, 1)], from, to);
                turn(rows, columns, upper, above)?;
                if top != left {
                    turn(columns, rows, lower, below)?;
                    back(rows, columns, below, upper)?;
                }
                back(columns, rows, above, lower)?;
            }
        }
        Ok(())
    }
}

impl Wgpu {
    /// Grids of tiles that a binding holds.
    fn tiles(&self, limits: Limits, size: u64, task: TileTransposeTask, x: Side<'_>) -> Result<()> {
        let window = window(x.offset, task.reach(), size, limits.align, limits.window_bytes)?;
        let lengths = [window.skip, task.pitch, task.width, task.step].map(|x| x * size);
        let unit = [16, 4].into_iter().find(|unit| lengths.iter().all(|x| x.is_multiple_of(*unit))).unwrap_or(size);
        let [skip, pitch, width, step] = lengths.map(|x| x / unit);
        let (pairs, tile) = (task.pairs_of_tiles(), task.rows * width);
        let each = tile.div_ceil(256);
        let blocks = task.planes * pairs * each;
        let words = [blocks, skip, task.side, pitch, width, step, task.rows * pitch, tile, pairs, each].map(|w| w as u32);
        let mut launch = Launch::new(0, &words);
        launch.bindings.push(Binding { buffer: x.raw, offset_bytes: window.offset_bytes, size_bytes: window.size_bytes });
        let (holes, signature) = (tile_holes(size, unit), Signature::default());
        let kernel = self.program("transpose_in_place", &program(TRANSPOSE_TILES, "exchange", &holes, &signature))?;
        self.launch(&kernel, &launch, blocks)
    }

    /// A grid of tiles above a binding: what lies right of the diagonal and what lies below it change places by way of two blocks.
    fn tiles_in_blocks(&self, limits: Limits, size: u64, task: TileTransposeTask, x: Side<'_>) -> Result<()> {
        let TileTransposeTask { side, rows, pitch, width, .. } = task;
        let most = (limits.window_bytes.min(BLOCK_BYTES) / size).max(1);
        let across = width.min(most);
        let down = rows.min(most / across);
        let count = (side - 1).min(most / (across * down));
        let block = || self.allocate_bytes((count * down * across * size).next_multiple_of(16));
        let (right, below) = (block()?, block()?);
        let step = |n, from: u64, to| Axis { n, from: from as i64, to };
        for i in 0..side {
            for first in (i + 1..side).step_by(count as usize) {
                for top in (0..rows).step_by(down as usize) {
                    for left in (0..width).step_by(across as usize) {
                        let n = [count.min(side - first), down.min(rows - top), across.min(width - left)];
                        let place = |i: u64, j: u64| Side { offset: x.offset + (i * rows + top) * pitch + j * width + left, ..x };
                        let dense = [n[1] * n[2], n[2], 1];
                        let sides = [(place(i, first), [width, pitch, 1], &right), (place(first, i), [rows * pitch, pitch, 1], &below)];
                        for (from, steps, raw) in sides {
                            let axes = (0..3).map(|k| step(n[k], steps[k], dense[k])).collect();
                            self.pieces(limits, size, axes, from, Side { raw, offset: 0 })?;
                        }
                        for ((to, steps, _), raw) in sides.into_iter().zip([&below, &right]) {
                            let mut axes: Vec<Axis> = (0..3).map(|k| step(n[k], dense[k], steps[k])).collect();
                            axes.sort_by_key(|a| core::cmp::Reverse(a.to));
                            self.pieces(limits, size, axes, Side { raw, offset: 0 }, to)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Elements of a unit.
fn per_unit(size: u64) -> u64 {
    if size == 8 { 2 } else { 4 }
}

/// Bytes that an access of `transpose` takes.
fn unit_bytes(size: u64, vector: bool) -> u64 {
    if vector { size * per_unit(size) } else { 4 }
}

pub(super) fn transpose_holes(size: u64, vector: bool, batch: usize) -> [(&'static str, u32); 7] {
    let unit = unit_bytes(size, vector);
    [
        ("size", size as u32),
        ("v", per_unit(size) as u32),
        ("vector", vector.into()),
        ("batch", batch as u32),
        ("words", (unit == 4).into()),
        ("pairs", (unit == 8).into()),
        ("quads", (unit == 16).into()),
    ]
}

pub(super) fn square_holes(size: u64, vector: bool, each: bool) -> [(&'static str, u32); 8] {
    let narrow = each && size < 4;
    let unit = if each { 4 } else { unit_bytes(size, vector) };
    [
        ("size", size as u32),
        ("v", per_unit(size) as u32),
        ("vector", vector.into()),
        ("each", each.into()),
        ("words", (unit == 4 && !narrow).into()),
        ("pairs", (unit == 8).into()),
        ("quads", (unit == 16).into()),
        ("atomic", narrow.into()),
    ]
}

pub(super) fn tile_holes(size: u64, unit: u64) -> [(&'static str, u32); 4] {
    [("size", size as u32), ("words", (unit == 4).into()), ("quads", (unit == 16).into()), ("atomic", (unit < 4).into())]
}

/// Holes of a copy of `size` bytes at once.
pub(super) fn layout_holes(size: u64, rank: usize, atomic: bool) -> [(&'static str, u32); 6] {
    let quads = size == 16;
    [
        ("size", size as u32),
        ("rank", rank as u32),
        ("atomic", atomic.into()),
        ("plain", (!atomic && !quads).into()),
        ("words", (!quads).into()),
        ("quads", quads.into()),
    ]
}

/// Whether every row of either side is whole, aligned units of `v` elements.
fn in_units(task: &LayoutTask, plane: Plane, v: u64, skips: [u32; 2]) -> bool {
    let (p, q) = (task.axes[plane.from], task.axes[plane.to]);
    let whole = |x: u64| x.is_multiple_of(v);
    [p.n, q.n, p.to, q.from.unsigned_abs(), skips[0].into(), skips[1].into()].into_iter().all(whole)
        && others(task, plane).iter().all(|a| whole(a.from.unsigned_abs()) && whole(a.to))
}

/// The axes of the batch, the fastest of the destination first.
fn others(task: &LayoutTask, plane: Plane) -> Vec<Axis> {
    (0..task.axes.len()).rev().filter(|&k| k != plane.from && k != plane.to).map(|k| task.axes[k]).collect()
}

/// Lengths and steps, modulo 2^32 as the kernels compute.
fn put_axes(words: &mut Vec<u32>, axes: &[Axis], room: usize) {
    let one = Axis { n: 1, from: 0, to: 0 };
    for k in 0..room {
        let a = axes.get(k).unwrap_or(&one);
        words.extend([a.n as u32, a.from as u32, a.to as u32]);
    }
}

/// A kernel of raw bits, with no operator and no operands but its own buffers.
pub(super) fn program<'a>(
    template: Template,
    entry: &'static str,
    holes: &'a [(&'static str, u32)],
    signature: &'a Signature,
) -> Program<'a> {
    let operators = Operators::Calls(&[]);
    Program { template, entry, constants: holes, operators, signature, numerics: Numerics::Strict, first: false }
}
