//! Moves by shape: tiles where rows become columns, elements one by one elsewhere. What a kernel does not see at once is cut in halves, or goes by way of
//! blocks.

use super::MAX_AXES;
use super::task::{Axis, LayoutTask, Plane, TileTransposeTask, TransposeTask};
use crate::backend::{Leaf, Out};
use crate::error::{Error, Result};
use crate::launch::kernels::{
    LAYOUT, LayoutParams, SWAP_SQUARE, SquareParams, TRANSPOSE, TRANSPOSE_SQUARE, TRANSPOSE_TILES, TileParams, TransposeParams,
};
use crate::launch::{Array, Choice, Groups, KernelSpec, Launcher, Planned, Work};

/// Shortest side of a plane that is worth tiles.
const LEAST_SIDE: u64 = 8;
/// Units of a side of a tile.
const UNITS: u64 = 16;
/// Bytes of a block of a square, or of tiles, that no kernel sees at once; two such blocks are taken.
const BLOCK_BYTES: u64 = 16 << 20;

/// Elements of a unit.
const fn per_unit(size: u64) -> u64 {
    if size == 8 { 2 } else { 4 }
}

/// One side of a copy: memory and its first element.
struct Side<'a, R> {
    raw: &'a R,
    offset: u64,
}

impl<R> Clone for Side<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R> Copy for Side<'_, R> {}

impl<R> Side<'_, R> {
    const fn at(self, elements: u64) -> Self {
        Self { offset: self.offset + elements, ..self }
    }
}

/// A device, and the size of the elements that it moves.
struct Mover<'a, B: Launcher> {
    device: &'a B,
    size: u64,
    /// Elements that a kernel sees at once.
    most: u64,
}

impl<'a, B: Launcher> Mover<'a, B> {
    fn new(device: &'a B, size: u64) -> Self {
        Self { device, size, most: device.tuning().most(size) }
    }

    /// Whether elements lie at whole units of `bytes`.
    fn aligned(&self, side: Side<'_, B::Raw>, bytes: u64) -> Result<bool> {
        Ok(self.device.phase(side.raw, side.offset * self.size)?.is_multiple_of(bytes))
    }

    /// Cuts the longest axis in half until a kernel sees both sides. Halves are whole tiles.
    fn copy(&self, axes: Vec<Axis>, from: Side<'_, B::Raw>, to: Side<'_, B::Raw>) -> Result<()> {
        let source: u64 = axes.iter().map(|a| (a.n - 1) * a.from.unsigned_abs()).sum();
        let target: u64 = axes.iter().map(|a| (a.n - 1) * a.to).sum();
        if source < self.most && target < self.most {
            return self.piece(axes, from, to, (source, target));
        }
        let reach = |a: &Axis| (a.n - 1) * a.from.unsigned_abs().max(a.to);
        let longest = (0..axes.len()).max_by_key(|&k| reach(&axes[k]));
        let Some(k) = longest.filter(|&k| axes[k].n > 1) else {
            return Err(Error::TooLarge { what: "bytes of an element", requested: self.size, limit: self.most * self.size });
        };
        let half = axes[k].n.div_ceil(2);
        let tile = UNITS * 4;
        let half = if axes[k].n > tile { half.next_multiple_of(tile) } else { half };
        let (mut low, mut high) = (axes.clone(), axes);
        low[k].n = half;
        high[k].n -= half;
        let next = |s: Side<'_, B::Raw>, step: i64| s.offset.wrapping_add_signed((half as i64).wrapping_mul(step));
        let (f, t) = (next(from, low[k].from), next(to, low[k].to as i64));
        self.copy(low, from, to)?;
        self.copy(high, Side { offset: f, ..from }, Side { offset: t, ..to })
    }

    fn piece(&self, axes: Vec<Axis>, from: Side<'_, B::Raw>, to: Side<'_, B::Raw>, (source, target): (u64, u64)) -> Result<()> {
        let task = LayoutTask { axes: axes.into_iter().filter(|a| a.n > 1).collect() };
        // The source begins at the lowest element that is read.
        let below: u64 = task.axes.iter().filter(|a| a.from < 0).map(|a| (a.n - 1) * a.from.unsigned_abs()).sum();
        if let Some(plane) = task.plane(LEAST_SIDE) {
            let v = per_unit(self.size);
            let vector = in_units(&task, plane, v) && self.aligned(from, v * self.size)? && self.aligned(to, v * self.size)?;
            if vector || self.size >= 4 || self.device.tuning().stores_narrow {
                return self.planes(&task, plane, vector, (from, source, below), (to, target));
            }
        }
        // By the largest unit that rows and both sides' beginnings are made of.
        let mut wider = None;
        for unit in [16, 8, 4, 2].into_iter().filter(|&unit| unit > self.size) {
            if self.aligned(from, unit)? && self.aligned(to, unit)? {
                wider = task.in_units(unit / self.size).map(|task| (task, unit));
            }
            if wider.is_some() {
                break;
            }
        }
        let (task, unit) = wider.unwrap_or((task, self.size));
        let per = unit / self.size;
        let arrays = [
            Array::of((from.raw, (from.offset - below) / per), unit, (source + 1).div_ceil(per)).from_element(below / per),
            Array::of((to.raw, to.offset / per), unit, (target + 1).div_ceil(per)),
        ];
        let n = |k: usize| task.axes.get(k).map_or(1, |a| a.n);
        let params = LayoutParams { n0: n(0), n1: n(1), n2: n(2), n3: n(3), n4: n(4), n5: n(5), rank: task.axes.len() as u32 };
        let steps: Vec<(i64, i64)> = task.axes.iter().take(MAX_AXES).map(|a| (a.from, a.to as i64)).collect();
        let choices = task.choices(unit);
        let spec = KernelSpec::new(&LAYOUT, &params, &choices, &arrays).stepping(&steps);
        self.device.launch(&spec, Work::whole(task.elements(), &|_| 0).by(Groups::Elements(1)))
    }

    /// Planes in tiles, with the other axes as a batch.
    fn planes(
        &self,
        task: &LayoutTask,
        plane: Plane,
        vector: bool,
        (from, source, below): (Side<'_, B::Raw>, u64, u64),
        (to, target): (Side<'_, B::Raw>, u64),
    ) -> Result<()> {
        let batch: Vec<Axis> = others(task, plane).collect();
        let (p, q) = (task.axes[plane.from], task.axes[plane.to]);
        let side = UNITS * per_unit(self.size);
        let planes = batch.iter().fold(1u64, |planes, a| planes.saturating_mul(a.n));
        let blocks = p.n.div_ceil(side).saturating_mul(q.n.div_ceil(side)).saturating_mul(planes);
        let n = |k: usize| batch.get(k).map_or(1, |a| a.n as u32);
        let params = TransposeParams {
            rows: q.n,
            columns: p.n,
            n0: n(0),
            n1: n(1),
            n2: n(2),
            n3: n(3),
            batch: batch.len() as u32,
            from_pitch: q.from as u32,
            to_pitch: p.to as u32,
        };
        let steps: Vec<(i64, i64)> = std::iter::once((q.from, p.to as i64)).chain(batch.iter().map(|a| (a.from, a.to as i64))).collect();
        let arrays = [
            Array::of((from.raw, from.offset - below), self.size, source + 1).from_element(below),
            Array::of((to.raw, to.offset), self.size, target + 1),
        ];
        let choices = plane_choices(self.size, vector, batch.len());
        let spec = KernelSpec::new(&TRANSPOSE, &params, &choices, &arrays).stepping(&steps);
        self.device.launch(&spec, Work::whole(1, &|_| blocks))
    }

    /// Squares that a kernel sees at once.
    fn squares(&self, TransposeTask { planes, side }: TransposeTask, x: Side<'_, B::Raw>) -> Result<()> {
        let (n, v) = (planes * side * side, per_unit(self.size));
        let vector = side.is_multiple_of(v) && self.aligned(x, v * self.size)?;
        let each = side < LEAST_SIDE || (self.size < 4 && !vector && !self.device.tuning().stores_narrow);
        let tiles = side.div_ceil(UNITS * v);
        let even = tiles.next_multiple_of(2);
        let pairs = if tiles == 1 { 1 } else { even / 2 * (even + 1) };
        let [rows, across, of_pairs] = [side, tiles, pairs].map(|x| x as u32);
        let params = SquareParams { side, across, pairs: of_pairs, rows, columns: rows, from_pitch: rows, to_pitch: rows };
        let arrays = [Array::of((x.raw, x.offset), self.size, n)];
        let choices = plane_choices(self.size, vector, 0);
        let groups = |n: u64| if each { n.div_ceil(256) } else { pairs.saturating_mul(planes) };
        let kernel = if each { &SWAP_SQUARE } else { &TRANSPOSE_SQUARE };
        self.device.launch(&KernelSpec::new(kernel, &params, &choices, &arrays), Work::whole(n, &groups))
    }

    /// A square that no kernel sees at once: pairs of blocks that change places, each turned on its way through memory of its size.
    fn square_in_blocks(&self, side: u64, x: Side<'_, B::Raw>) -> Result<()> {
        let block = 1 << ((self.most.min(BLOCK_BYTES / self.size)).ilog2() / 2);
        let memory = || self.device.allocate_bytes(block * block * self.size);
        let turned = [memory()?, memory()?];
        let [above, below] = [&turned[0], &turned[1]].map(|raw| Side { raw, offset: 0 });
        let step = |n, from: u64, to| Axis { n, from: from as i64, to };
        for top in (0..side).step_by(block as usize) {
            for left in (top..side).step_by(block as usize) {
                let (rows, columns) = (block.min(side - top), block.min(side - left));
                let (upper, lower) = (x.at(top * side + left), x.at(left * side + top));
                let turn = |rows, columns, from, to| self.copy(vec![step(columns, 1, rows), step(rows, side, 1)], from, to);
                let back = |rows, columns, from, to| self.copy(vec![step(rows, columns, side), step(columns, 1, 1)], from, to);
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

    /// Grids of tiles that a kernel sees at once.
    fn tiles(&self, task: TileTransposeTask, x: Side<'_, B::Raw>) -> Result<()> {
        let lengths = [task.pitch, task.width, task.step].map(|x| x * self.size);
        let mut unit = self.size;
        for wider in [2, 4, 8, 16] {
            if wider > self.size && self.aligned(x, wider)? && lengths.iter().all(|x| x.is_multiple_of(wider)) {
                unit = wider;
            }
        }
        let [pitch, width, step] = lengths.map(|x| x / unit);
        let (pairs, tile) = (task.pairs_of_tiles(), task.rows * width);
        let each = tile.div_ceil(self.device.elements_of_group(TRANSPOSE_TILES.def()));
        let [side, of_pairs, of_each] = [task.side, pairs, each].map(|x| x as u32);
        let params = TileParams { pitch, width, step, down: task.rows * pitch, tile, side, pairs: of_pairs, each: of_each };
        let per = unit / self.size;
        let arrays = [Array::of((x.raw, x.offset / per), unit, task.reach().div_ceil(per))];
        let blocks = task.planes.saturating_mul(pairs).saturating_mul(each);
        let choices = [("unit", unit as u32)];
        self.device.launch(&KernelSpec::new(&TRANSPOSE_TILES, &params, &choices, &arrays), Work::whole(task.reach(), &|_| blocks))
    }

    /// A grid of tiles that no kernel sees at once: what lies right of the diagonal and what lies below it change places by way of two blocks.
    fn tiles_in_blocks(&self, task: TileTransposeTask, x: Side<'_, B::Raw>) -> Result<()> {
        let TileTransposeTask { side, rows, pitch, width, .. } = task;
        let most = self.most.min(BLOCK_BYTES / self.size).max(1);
        let across = width.min(most);
        let down = rows.min(most / across);
        let count = (side - 1).min(most / (across * down));
        let block = || self.device.allocate_bytes((count * down * across * self.size).next_multiple_of(16));
        let (right, below) = (block()?, block()?);
        let step = |n, from: u64, to| Axis { n, from: from as i64, to };
        for i in 0..side {
            for first in (i + 1..side).step_by(count as usize) {
                for top in (0..rows).step_by(down as usize) {
                    for left in (0..width).step_by(across as usize) {
                        let n = [count.min(side - first), down.min(rows - top), across.min(width - left)];
                        let place = |i: u64, j: u64| x.at((i * rows + top) * pitch + j * width + left);
                        let dense = [n[1] * n[2], n[2], 1];
                        let sides = [(place(i, first), [width, pitch, 1], &right), (place(first, i), [rows * pitch, pitch, 1], &below)];
                        for (from, steps, raw) in sides {
                            let axes = (0..3).map(|k| step(n[k], steps[k], dense[k])).collect();
                            self.copy(axes, from, Side { raw, offset: 0 })?;
                        }
                        for ((to, steps, _), raw) in sides.into_iter().zip([&below, &right]) {
                            let mut axes: Vec<Axis> = (0..3).map(|k| step(n[k], dense[k], steps[k])).collect();
                            axes.sort_by_key(|a| core::cmp::Reverse(a.to));
                            self.copy(axes, Side { raw, offset: 0 }, to)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether every row of either side is whole units of `v` elements.
fn in_units(task: &LayoutTask, plane: Plane, v: u64) -> bool {
    let (p, q) = (task.axes[plane.from], task.axes[plane.to]);
    let whole = |x: u64| x.is_multiple_of(v);
    [p.n, q.n, p.to, q.from.unsigned_abs()].into_iter().all(whole)
        && others(task, plane).all(|a| whole(a.from.unsigned_abs()) && whole(a.to))
}

/// The axes of the batch, the fastest of the destination first.
fn others(task: &LayoutTask, plane: Plane) -> impl Iterator<Item = Axis> + '_ {
    (0..task.axes.len()).rev().filter(move |&k| k != plane.from && k != plane.to).map(|k| task.axes[k])
}

/// Returns the parameters of the text of a kernel that turns planes of elements of this size, by units or not, with so many axes of a batch.
#[must_use]
pub fn plane_choices(size: u64, vector: bool, batch: usize) -> [Choice; 4] {
    [("size", size as u32), ("v", per_unit(size) as u32), ("vector", vector.into()), ("batch", batch as u32)]
}

impl LayoutTask {
    /// Returns the parameters of the text of a kernel that moves so many bytes at once.
    #[must_use]
    pub fn choices(&self, unit: u64) -> [Choice; 3] {
        let atomic = unit < 4 && !self.is_dense();
        [("size", unit as u32), ("rank", self.axes.len() as u32), ("atomic", atomic.into())]
    }
}

impl<B: Launcher> Planned<B> for LayoutTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let ([Leaf::Elements { raw, dtype, offset, .. }], [out]) = (leaves, outs) else {
            return Err(Error::InvalidArgument { what: "layout", reason: "it has one input and one output".to_owned() });
        };
        let (from, to) = (Side { raw, offset: *offset }, Side { raw: &out.raw, offset: out.offset });
        Mover::new(device, dtype.size_bytes()).copy(self.axes.clone(), from, to)
    }
}

/// The output that is written where it lies.
fn in_place<'a, R>(what: &'static str, leaves: &[Leaf<R>], outs: &'a [Out<R>]) -> Result<(u64, Side<'a, R>)> {
    match (leaves, outs) {
        ([], [out]) => Ok((out.dtype.size_bytes(), Side { raw: &out.raw, offset: out.offset })),
        _ => Err(Error::InvalidArgument { what, reason: "it has one output".to_owned() }),
    }
}

impl<B: Launcher> Planned<B> for TransposeTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let (size, x) = in_place("transpose", leaves, outs)?;
        let mover = Mover::new(device, size);
        let plane = self.side * self.side;
        let together = mover.most / plane;
        if together == 0 {
            return (0..self.planes).try_for_each(|k| mover.square_in_blocks(self.side, x.at(k * plane)));
        }
        let mut first = 0;
        while first < self.planes {
            let planes = together.min(self.planes - first);
            mover.squares(TransposeTask { planes, ..*self }, x.at(first * plane))?;
            first += planes;
        }
        Ok(())
    }
}

impl<B: Launcher> Planned<B> for TileTransposeTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let (size, x) = in_place("transpose of tiles", leaves, outs)?;
        let mover = Mover::new(device, size);
        let one = Self { planes: 1, step: 0, ..*self };
        if one.reach() > mover.most {
            return (0..self.planes).try_for_each(|k| mover.tiles_in_blocks(one, x.at(k * self.step)));
        }
        let together = if self.planes > 1 { 1 + (mover.most - one.reach()) / self.step } else { 1 };
        let mut first = 0;
        while first < self.planes {
            let planes = together.min(self.planes - first);
            mover.tiles(Self { planes, ..*self }, x.at(first * self.step))?;
            first += planes;
        }
        Ok(())
    }
}
