//! Rectangles transposed where they lie, through memory of a bounded size.

use super::copy::{permuted, turned};
use super::{Axis, Layout, LayoutTask, TileTransposeTask, copy};
use crate::backend::Out;
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::input::require;
use crate::patterns::Map as _;

/// Bytes through which an array goes that is longer: about what second-level caches hold.
pub(super) const THROUGH: u64 = 32 << 20;

/// A side of the grid of tiles is at most so many times as long as it has to be.
const SEARCHED: u64 = 16;

/// Transposes `batch` matrices where they lie, through `bytes` or a little more.
pub(super) fn in_place<B: Layout, T: Element>(device: &B, x: &Buffer<B, T>, [batch, rows, columns]: [u64; 3], bytes: u64) -> Result<()> {
    if rows == columns {
        return turned(device, x, batch, rows);
    }
    require(device, "transpose_in_place", T::DTYPE)?;
    x.check_device(device, "the matrix")?;
    permuted(&[batch, rows, columns], &[0, 2, 1], x.len())?;
    if batch == 0 || rows < 2 || columns < 2 {
        return Ok(());
    }
    let plan = Plan::new(batch, [rows, columns], T::DTYPE.size_bytes(), bytes);
    let scratch = device.buffer::<T>(plan.memory())?;
    for step in plan.steps() {
        match step {
            Step::Copy { axes, way: Way::Out, from, to } => moved(device, &axes, (x, from), (&scratch, to))?,
            Step::Copy { axes, way: Way::Back, from, to } => moved(device, &axes, (&scratch, from), (x, to))?,
            Step::Tiles { task, at } => {
                let out = Out { raw: x.raw().clone(), dtype: T::DTYPE, offset: x.offset() + at };
                device.run(&task, &[], &[out])?;
            }
        }
    }
    Ok(())
}

fn moved<B: Layout, T: Element>(device: &B, axes: &[Axis], (x, from): (&Buffer<B, T>, u64), (out, to): (&Buffer<B, T>, u64)) -> Result<()> {
    match LayoutTask::new(axes)?.axes[..] {
        [Axis { n, from: 1, to: 1 }] => device.copy_into(&x.slice(from..from + n)?, &out.slice(to..to + n)?),
        _ => copy(device, "transpose_in_place", axes, (x, from), (out, to)),
    }
}

/// Whether a copy goes from the array to the memory beside it, or back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Out,
    Back,
}

/// Step that is enqueued, places being elements from the array's start and the memory's.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Step {
    Copy { axes: Vec<Axis>, way: Way, from: u64, to: u64 },
    Tiles { task: TileTransposeTask, at: u64 },
}

/// Plan by which matrices of `m` rows and `n` columns are transposed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Plan {
    batch: u64,
    m: u64,
    n: u64,
    /// Whole matrices that go through memory together; none where a matrix does not fit.
    together: u64,
    cut: Cut,
}

/// A matrix as `side` x `side` tiles, which change places as wholes, and what is left of it at its ends. Of the shorter axis a tile has `short`, of
/// the longer one `parts * part`; `parts`, a power of the side, are what of a slab (a row of tiles) goes through memory by itself where that does
/// not hold a slab: each is a matrix whose shorter axis is the side, and a slab is transposed as they are. With more than one part, `short` is 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Cut {
    side: u64,
    short: u64,
    parts: u64,
    part: u64,
    /// Slabs, or parts of one, that go through memory together.
    group: u64,
    /// Rest of the shorter axis, and of the longer one.
    left: [u64; 2],
}

impl Cut {
    fn new([short, long]: [u64; 2], side: u64, parts: u64, unit: u64, room: u64) -> Self {
        // Tiles begin with whole units, where rows of the longer axis do and tiles are not small.
        let unit = unit.min(1 << long.trailing_zeros());
        let part = long / side / parts;
        let part = if part >= 8 * unit { part / unit * unit } else { part };
        let one = Self { side, short: short / side, parts, part, group: 1, left: [short % side, long - side * parts * part] };
        let among = if parts > 1 { parts } else { side };
        Self { group: (room / one.piece().max(1)).clamp(1, among), ..one }
    }

    /// Elements of what goes through memory by itself.
    fn piece(&self) -> u64 {
        self.side * self.short * self.part
    }

    /// Places the rests in memory after the pieces, that of the shorter axis first.
    fn places(&self, long: u64) -> [u64; 3] {
        let pieces = (self.piece() * self.group).next_multiple_of(64);
        let first = pieces + (self.left[0] * long).next_multiple_of(64);
        [pieces, first, first + self.left[1] * self.side * self.short]
    }

    fn tile(&self) -> u64 {
        self.parts * self.part
    }

    /// The cut of a matrix that `room` elements do not hold: with few passes over it, in few pieces, through not much more than that.
    fn of(sides: [u64; 2], unit: u64, room: u64) -> Self {
        let [short, long] = sides;
        let least = (short * long).div_ceil(room).max(2).min(short);
        let memory = |c: &Self| c.places(long)[2];
        let whole = (least..=short.min(least.saturating_mul(SEARCHED))).map(|side| Self::new(sides, side, 1, unit, room));
        let deeper = core::iter::successors(Some(short), |parts| parts.checked_mul(short));
        let deeper = deeper.take_while(|parts| long / short / parts > 0).map(|parts| Self::new(sides, short, parts, unit, room));
        let mut best = Self::new(sides, least, 1, unit, room);
        for cut in whole.chain(deeper) {
            if memory(&cut) < memory(&best) {
                best = cut;
            }
            if memory(&best) <= room + room / 4 {
                break;
            }
        }
        best
    }
}

impl Plan {
    fn new(batch: u64, [m, n]: [u64; 2], size: u64, bytes: u64) -> Self {
        let (room, plane) = ((bytes / size).max(1), m * n);
        let all = Self { batch, m, n, together: (room / plane).clamp(1, batch), cut: Cut::default() };
        if plane <= room {
            return all;
        }
        let cut = Self { together: 0, cut: Cut::of([m.min(n), m.max(n)], 16 / size, room), ..all };
        if cut.memory() < plane { cut } else { all }
    }

    /// Elements of memory beside the array.
    fn memory(&self) -> u64 {
        if self.together > 0 { self.together * self.m * self.n } else { self.cut.places(self.m.max(self.n))[2] }
    }

    fn steps(&self) -> Vec<Step> {
        let plane = self.m * self.n;
        if self.together == 0 {
            return (0..self.batch).flat_map(|b| self.matrix(b * plane)).collect();
        }
        let firsts = (0..self.batch).step_by(self.together as usize);
        firsts.flat_map(|first| self.whole(first * plane, self.together.min(self.batch - first))).collect()
    }

    /// Whole matrices through memory.
    fn whole(&self, at: u64, count: u64) -> [Step; 2] {
        let (m, n) = (self.m, self.n);
        let out = vec![axis(count, m * n, m * n), axis(n, 1, m), axis(m, n, 1)];
        let back = vec![axis(count * m * n, 1, 1)];
        [Step::Copy { axes: out, way: Way::Out, from: at, to: 0 }, Step::Copy { axes: back, way: Way::Back, from: 0, to: at }]
    }

    /// One matrix. What is left at its ends goes to memory first and to its place last. Pieces go to where the result has them, which is before
    /// where they come from or behind it, for all of them, so that none is written over that is still to be read.
    fn matrix(&self, at: u64) -> Vec<Step> {
        let (cut, tall) = (&self.cut, self.m > self.n);
        let mut steps = Vec::new();
        let ends = self.ends();
        steps.extend(ends.iter().filter_map(|e| self.end(e, at, Way::Out)));
        if !tall {
            steps.extend(self.levels(at));
        }
        let mut firsts = Vec::new();
        for slab in 0..if cut.parts > 1 { cut.side } else { 1 } {
            let among = if cut.parts > 1 { cut.parts } else { cut.side };
            firsts.extend((0..among).step_by(cut.group as usize).map(|k| (slab, k, cut.group.min(among - k))));
        }
        let [from, to] = if tall { [cut.tile() * self.n, cut.short * self.m] } else { [cut.short * self.n, cut.tile() * self.m] };
        if from < to {
            firsts.reverse();
        }
        steps.extend(firsts.into_iter().flat_map(|first| self.pieces(at, first)));
        if tall {
            steps.extend(self.levels(at).into_iter().rev());
        }
        steps.extend(ends.iter().filter_map(|e| self.end(e, at, Way::Back)));
        steps
    }

    /// Tiles that change places: those of the matrix first, then those of every slab, and so on.
    fn levels(&self, at: u64) -> Vec<Step> {
        let (cut, long) = (&self.cut, self.m.max(self.n));
        let mut width = cut.tile();
        let task = TileTransposeTask { planes: 1, step: 0, side: cut.side, rows: cut.short, pitch: long, width };
        let mut steps = vec![Step::Tiles { task, at }];
        let mut planes = 1;
        while width > cut.part {
            let task = TileTransposeTask { planes, step: cut.side * width, side: cut.side, rows: 1, pitch: width, width: width / cut.side };
            steps.extend((0..cut.side).map(|slab| Step::Tiles { task, at: at + slab * long }));
            planes *= cut.side;
            width /= cut.side;
        }
        steps
    }

    /// `count` slabs, or parts of a slab, to memory and to their places.
    fn pieces(&self, at: u64, (slab, first, count): (u64, u64, u64)) -> [Step; 2] {
        let (cut, m, n) = (&self.cut, self.m, self.n);
        let Cut { side, short, part, .. } = *cut;
        let (piece, tile) = (cut.piece(), cut.tile());
        let (out, back, from, to) = if m > n {
            // Rows become columns on the way out; on the way back tiles come to lie beside each other.
            let (step, place) = if cut.parts > 1 { (part * n, side * part) } else { (tile * n, short * m) };
            let out = vec![axis(count, step, piece), axis(side * short, 1, part), axis(part, n, 1)];
            let back = vec![axis(count, piece, place), axis(side, short * part, part), axis(short, part, m), axis(part, 1, 1)];
            (out, back, slab * tile * n + first * step, slab * short * m + first * place)
        } else {
            let (step, place) = if cut.parts > 1 { (side * part, part * m) } else { (short * n, tile * m) };
            let out = vec![axis(count, step, piece), axis(side, part, short * part), axis(short, n, part), axis(part, 1, 1)];
            let back = vec![axis(count, piece, place), axis(part, 1, m), axis(side * short, part, 1)];
            (out, back, slab * short * n + first * step, slab * tile * m + first * place)
        };
        [Step::Copy { axes: out, way: Way::Out, from: at + from, to: 0 }, Step::Copy { axes: back, way: Way::Back, from: 0, to: at + to }]
    }

    /// Returns the parts that tiles leave out: where each begins (row and column), its rows and columns, where it lies in memory.
    fn ends(&self) -> [([u64; 2], [u64; 2], u64); 2] {
        let (cut, m, n) = (&self.cut, self.m, self.n);
        let (short, long) = (cut.side * cut.short, cut.side * cut.tile());
        let places = cut.places(m.max(n));
        if m > n {
            [([0, short], [m, cut.left[0]], places[0]), ([long, 0], [cut.left[1], short], places[1])]
        } else {
            [([short, 0], [cut.left[0], n], places[0]), ([0, long], [short, cut.left[1]], places[1])]
        }
    }

    fn end(&self, &([row, column], [rows, columns], place): &([u64; 2], [u64; 2], u64), at: u64, way: Way) -> Option<Step> {
        let (axes, from, to) = match way {
            Way::Out => (vec![axis(columns, 1, rows), axis(rows, self.n, 1)], at + row * self.n + column, place),
            Way::Back => (vec![axis(columns, rows, self.m), axis(rows, 1, 1)], place, at + column * self.m + row),
        };
        (rows > 0 && columns > 0).then_some(Step::Copy { axes, way, from, to })
    }
}

fn axis(n: u64, from: u64, to: u64) -> Axis {
    Axis { n, from: from as i64, to }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(axes: &[Axis], x: &[u32], from: usize, out: &mut [u32], to: usize) {
        let Some((a, inner)) = axes.split_first() else {
            out[to] = x[from];
            return;
        };
        for i in 0..a.n as usize {
            copied(inner, x, from + i * a.from as usize, out, to + i * a.to as usize);
        }
    }

    /// Walks a plan over an array, and says how much memory and how many steps it took.
    fn walked(batch: u64, m: u64, n: u64, room: u64) -> (u64, usize) {
        let plan = Plan::new(batch, [m, n], 4, room * 4);
        let mut x: Vec<u32> = (0..(batch * m * n) as u32).collect();
        let mut scratch = vec![u32::MAX; plan.memory() as usize];
        let steps = plan.steps();
        for step in &steps {
            match step {
                Step::Copy { axes, way, from, to } => {
                    LayoutTask::new(axes).expect("no place twice");
                    match way {
                        Way::Out => copied(axes, &x, *from as usize, &mut scratch, *to as usize),
                        Way::Back => copied(axes, &scratch, *from as usize, &mut x, *to as usize),
                    }
                }
                Step::Tiles { task, at } => task.pairs(|a, b| x.swap((at + a) as usize, (at + b) as usize)),
            }
        }
        let right = (0..batch).flat_map(|b| (0..n).flat_map(move |j| (0..m).map(move |i| (b * m * n + i * n + j) as u32)));
        assert!(x.iter().copied().eq(right), "{batch} of {m} x {n} through {room}: {plan:?}");
        (plan.memory(), steps.len())
    }

    #[test]
    fn every_small_rectangle_is_transposed_through_any_memory() {
        for m in 2..=24 {
            for n in (2..=24).filter(|&n| n != m) {
                for room in [1, 5, 16, 37, 100, 300] {
                    let (memory, _) = walked(2, m, n, room);
                    assert!(memory <= (2 * m * n).min(room.max(m * n)), "{m} x {n} through {room}: {memory}");
                }
            }
        }
    }

    #[test]
    fn long_and_large_rectangles_take_little_more_than_they_are_given() {
        let shapes = [
            (2, 9001),
            (3, 6561),
            (5, 4096),
            (7, 2401),
            (13, 1009),
            (31, 961),
            (64, 512),
            (97, 389),
            (100, 300),
            (127, 128),
            (128, 256),
            (191, 193),
            (180, 240),
        ];
        for (m, n) in shapes {
            for parts in [2, 5, 16, 40] {
                let room = m * n / parts;
                for (rows, columns) in [(m, n), (n, m)] {
                    let (memory, _) = walked(1, rows, columns, room);
                    assert!(memory <= (m * n).min(room + m * n / 8 + 256), "{rows} x {columns} through {room}: {memory}");
                }
            }
        }
    }

    #[test]
    fn arrays_of_devices_take_a_hundredth_more_than_they_go_through() {
        for size in [1, 2, 4, 8] {
            for bytes in [40u64 << 20, 1 << 30, 3 << 30, 17 << 30, 80 << 30] {
                for short in (2..2000).chain([2047, 2048, 2049, 4093, 9973, 10_000, 16_384, 20_011, 32_749]) {
                    let long = bytes / size / short;
                    if long <= short {
                        continue;
                    }
                    for long in [long, long - 1, long | 1] {
                        let plan = Plan::new(1, [short, long], size, THROUGH);
                        let memory = plan.memory() * size;
                        assert!(memory <= THROUGH * 5 / 4 + bytes / 100, "{short} x {long} of {size} bytes: {memory} by {:?}", plan.cut);
                    }
                }
            }
        }
    }
}
