//! Strided copies as data.

use crate::error::{Error, Result};

/// One axis of a copy: how many elements, and how far apart they lie on either side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Axis {
    /// Elements along it.
    pub n: u64,
    /// Elements from one to the next in the source; negative ones walk backwards, 0 repeats.
    pub from: i64,
    /// Elements from one to the next in the destination.
    pub to: u64,
}

/// A strided copy as data: for every index `(i_0, i_1, ...)` below the axes' lengths, destination element `sum i_k * to_k` is source element
/// `sum i_k * from_k`, counted from the operands' offsets. Raw bits of the leaf's element size move; no element is written twice.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct LayoutTask {
    /// The axes, the one with the largest steps in the destination first; none has fewer than two elements, and none could be joined with the
    /// one after it. At most [`MAX_AXES`].
    pub axes: Vec<Axis>,
}

/// Squares transposed where they lie, as data: in each of `planes` planes, one after the other from the output's offset, elements
/// `i * side + j` and `j * side + i` change places. Raw bits of the output's element size move. There is no leaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct TransposeTask {
    /// Number of planes; at least one.
    pub planes: u64,
    /// Rows and columns of each; at least two.
    pub side: u64,
}

/// Tiles of square grids that change places as they are, as data: in each of `planes` planes, `step` elements apart from the output's offset on,
/// element `(i * rows + u) * pitch + j * width + v` and the one with `i` and `j` exchanged change places, for all `i` and `j` below `side`, `u`
/// below `rows` and `v` below `width`. Raw bits of the output's element size move. There is no leaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct TileTransposeTask {
    /// Number of grids; at least one.
    pub planes: u64,
    /// Elements from one to the next; not less than they are long.
    pub step: u64,
    /// Tiles of a side; at least two.
    pub side: u64,
    /// Rows of a tile; at least one.
    pub rows: u64,
    /// Elements from row to row; at least `side * width`.
    pub pitch: u64,
    /// Elements of a tile's row; at least one.
    pub width: u64,
}

impl TileTransposeTask {
    /// Elements from the first to the one after the last.
    #[must_use]
    pub fn reach(&self) -> u64 {
        (self.planes - 1) * self.step + (self.side * self.rows - 1) * self.pitch + self.side * self.width
    }

    /// Pairs of tiles of a plane.
    #[must_use]
    pub fn pairs_of_tiles(&self) -> u64 {
        self.side * (self.side - 1) / 2
    }

    /// Calls `swap` with the places of every two elements that change places.
    pub fn pairs(&self, mut swap: impl FnMut(u64, u64)) {
        for plane in 0..self.planes {
            for (i, j) in (0..self.side).flat_map(|i| (0..i).map(move |j| (i, j))) {
                for u in 0..self.rows {
                    let at = |i: u64, j: u64| plane * self.step + (i * self.rows + u) * self.pitch + j * self.width;
                    (0..self.width).for_each(|v| swap(at(i, j) + v, at(j, i) + v));
                }
            }
        }
    }
}

/// Axes that are left when those that can be joined are.
pub const MAX_AXES: usize = 6;

/// The plane of a copy that is worth cutting into tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plane {
    /// The axis along which source elements are neighbours.
    pub from: usize,
    /// The axis along which destination elements are neighbours: the last.
    pub to: usize,
}

impl LayoutTask {
    /// Orders the axes by the destination and joins those that are one.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more axes than kernels take, [`Error::InvalidArgument`] where two indices have one destination.
    pub fn new(axes: &[Axis]) -> Result<Self> {
        let mut all: Vec<Axis> = axes.iter().copied().filter(|a| a.n > 1).collect();
        all.sort_by_key(|a| core::cmp::Reverse(a.to));
        // Where each step is beyond all that the smaller ones reach, no two places are one.
        let mut reach = 0u64;
        for a in all.iter().rev() {
            if a.to <= reach {
                return Err(Error::InvalidArgument {
                    what: "strides of the output",
                    reason: "two elements would share a place".to_owned(),
                });
            }
            reach = reach.saturating_add((a.n - 1).saturating_mul(a.to));
        }
        let mut joined: Vec<Axis> = Vec::new();
        for a in all {
            match joined.last_mut() {
                Some(o) if o.to == a.to * a.n && o.from == a.from.wrapping_mul(a.n as i64) => *o = Axis { n: o.n * a.n, ..a },
                _ => joined.push(a),
            }
        }
        if joined.len() > MAX_AXES {
            return Err(Error::TooLarge { what: "axes that cannot be joined", requested: joined.len() as u64, limit: MAX_AXES as u64 });
        }
        Ok(Self { axes: joined })
    }

    /// Elements that are copied.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.axes.iter().map(|a| a.n).product()
    }

    /// Whether destination elements lie one after the other without a gap.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        let mut step = 1;
        self.axes.iter().rev().all(|a| {
            let fits = a.to == step;
            step *= a.n;
            fits
        })
    }

    /// The same copy of units of `per` neighbouring elements each, where both sides have whole ones wherever it goes; that their offsets are units, too,
    /// is for the caller to see.
    #[must_use]
    pub fn in_units(&self, per: u64) -> Option<Self> {
        let (last, others) = self.axes.split_last()?;
        let whole = |a: &Axis| a.from.unsigned_abs().is_multiple_of(per) && a.to.is_multiple_of(per);
        if (last.from, last.to) != (1, 1) || !last.n.is_multiple_of(per) || !others.iter().all(whole) {
            return None;
        }
        let wider = |a: &Axis| Axis { n: a.n, from: a.from / per as i64, to: a.to / per };
        let axes = others.iter().map(wider).chain(core::iter::once(Axis { n: last.n / per, from: 1, to: 1 }));
        Some(Self { axes: axes.filter(|a| a.n > 1).collect() })
    }

    /// The plane to cut into tiles: rows of the source along one axis, rows of the destination along another, both at least `least` long.
    #[must_use]
    pub fn plane(&self, least: u64) -> Option<Plane> {
        let to = self.axes.len().checked_sub(1)?;
        let from = self.axes.iter().position(|a| a.from == 1)?;
        let (p, q) = (self.axes[from], self.axes[to]);
        (from != to && q.to == 1 && p.n >= least && q.n >= least && q.from > 0).then_some(Plane { from, to })
    }

    /// The lowest and the highest element of the source that is read, relative to its offset.
    pub(super) fn source_reach(axes: &[Axis]) -> (i128, i128) {
        let ends = axes.iter().filter(|a| a.n > 0).map(|a| i128::from(a.n - 1) * i128::from(a.from));
        ends.fold((0i128, 0i128), |(low, high), e| (low.saturating_add(e.min(0)), high.saturating_add(e.max(0))))
    }

    pub(super) fn destination_reach(axes: &[Axis]) -> i128 {
        let ends = axes.iter().filter(|a| a.n > 0).map(|a| i128::from(a.n - 1).saturating_mul(a.to.into()));
        ends.fold(0, i128::saturating_add)
    }
}
