//! Geometry of a lattice of packed spins: where a site's bit lies, and where those of its neighbours lie.

use crate::error::{Error, Result};
use crate::ir::{ArrayExpr, Expr, lit, select};

/// Sides of a periodic lattice of two or three axes, as planes of rows of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Lattice {
    pub(super) axes: u32,
    planes: u32,
    rows: u32,
    columns: u32,
}

/// A word among those of its colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    word: Expr<u32>,
    /// The word's number in its row.
    column: Expr<u32>,
    row: Expr<u32>,
    plane: Expr<u32>,
    /// 1 where the sites of this colour are in odd columns.
    odd: Expr<u32>,
}

impl Lattice {
    pub(super) fn new(shape: &[u32]) -> Result<Self> {
        let refuse = |reason: String| Err(Error::InvalidArgument { what: "lattice", reason });
        let (planes, rows, columns) = match *shape {
            [rows, columns] => (1, rows, columns),
            [planes, rows, columns] => (planes, rows, columns),
            _ => return refuse(format!("{} axes; it has two or three", shape.len())),
        };
        if let Some(side) = shape.iter().find(|&side| side % 2 == 1 || *side == 0) {
            return refuse(format!("a side of {side}; sides are even, so that neighbours have two colours"));
        }
        let of = Self { axes: shape.len() as u32, planes, rows, columns };
        // Sums over the lattice are u32.
        let (bonds, limit) = (of.bonds(), u64::from(u32::MAX));
        if bonds > u128::from(limit) {
            return Err(Error::TooLarge { what: "bonds of a lattice", requested: bonds.try_into().unwrap_or(u64::MAX), limit });
        }
        Ok(of)
    }

    fn bonds(&self) -> u128 {
        [self.planes, self.rows, self.columns, self.axes].map(u128::from).iter().product()
    }

    pub(super) fn shape(&self) -> Vec<u64> {
        let all = [self.planes, self.rows, self.columns].map(u64::from);
        all[3 - self.axes as usize..].to_vec()
    }

    pub(super) fn sites(&self) -> u64 {
        u64::from(self.planes * self.rows) * u64::from(self.columns)
    }

    /// Words of a row of one colour.
    fn row_words(&self) -> u32 {
        self.columns.div_ceil(64)
    }

    /// Words of a colour.
    pub(super) fn words(&self) -> u32 {
        self.planes * self.rows * self.row_words()
    }

    /// Sites in the last word of a row.
    fn last_bits(&self) -> u32 {
        self.columns / 2 - 32 * (self.row_words() - 1)
    }

    pub(super) fn place(&self, word: Expr<u32>, colour: Expr<u32>) -> Place {
        let (column, line) = divided(word, self.row_words());
        let (row, plane) = divided(line, self.rows);
        Place { word, column, row, plane, odd: (row + plane + colour) & 1 }
    }

    /// The bits of a word that are sites.
    pub(super) fn mask(&self, at: &Place) -> Expr<u32> {
        match self.last_bits() {
            32 => lit(u32::MAX),
            bits => select(at.column.eq(self.row_words() - 1), (1u32 << bits) - 1, u32::MAX),
        }
    }

    /// Words of the other colour whose bits are the neighbours of the sites of a word: two along each axis.
    pub(super) fn neighbours(&self, other: ArrayExpr<u32>, at: &Place) -> Vec<Expr<u32>> {
        let (length, bits) = (self.row_words(), self.last_bits());
        let (is_first, is_last) = (at.column.eq(0), at.column.eq(length - 1));
        let (before, after) = around(at.word, (is_first, is_last), length, 1);
        let is_odd = at.odd.ne(0);
        // Sites in odd columns lie between theirs and the next of the other colour, those in even ones between the one before and theirs.
        let (same, beside) = (other.at(at.word), other.at(select(is_odd, after, before)));
        let along = if bits == 32 {
            select(is_odd, same >> 1 | beside << 31, same << 1 | beside >> 31)
        } else {
            let (end, before) = (select(is_last, bits - 1, 31u32), select(is_first, bits - 1, 31u32));
            select(is_odd, same >> 1 | (beside & 1) << end, same << 1 | (beside >> before & 1))
        };
        let mut all = vec![same, along];
        let mut across = |place: Expr<u32>, side: u32, step: u32| {
            let (before, after) = around(at.word, (place.eq(0), place.eq(side - 1)), side, step);
            all.extend([other.at(before), other.at(after)]);
        };
        across(at.row, self.rows, length);
        if self.axes == 3 {
            across(at.plane, self.planes, length * self.rows);
        }
        all
    }

    /// Colour, word and bit of a site.
    pub(super) fn site(&self, i: Expr<u32>) -> (Expr<u32>, Expr<u32>, Expr<u32>) {
        let (column, line) = divided(i, self.columns);
        let (row, plane) = divided(line, self.rows);
        let of = column >> 1;
        ((column + row + plane) & 1, line * self.row_words() + (of >> 5), of & 31)
    }

    /// The site of a bit of a word, and whether there is one.
    pub(super) fn of_bit(&self, at: &Place, bit: Expr<u32>) -> (Expr<u32>, Expr<bool>) {
        let of = (at.column << 5) + bit;
        ((at.plane * self.rows + at.row) * self.columns + of * 2 + at.odd, of.lt(self.columns / 2))
    }
}

/// Remainder and quotient.
fn divided(x: Expr<u32>, by: u32) -> (Expr<u32>, Expr<u32>) {
    if by.is_power_of_two() { (x & (by - 1), x >> by.ilog2()) } else { (x % by, x / by) }
}

/// The words before and after one along an axis that ends where it begins.
fn around(word: Expr<u32>, (is_first, is_last): (Expr<bool>, Expr<bool>), side: u32, step: u32) -> (Expr<u32>, Expr<u32>) {
    let back = (side - 1) * step;
    (select(is_first, word + back, word - step), select(is_last, word - back, word + step))
}
