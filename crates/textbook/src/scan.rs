//! Scans. [`Scan`](isowarp_core::patterns::Scan) is what to use.

mod host;
mod plan;

pub use plan::Step;

use isowarp_core::patterns::plan::SCAN_TILE;

/// Lanes of a tile: what one workgroup scans.
pub const LANES: u64 = 256;
/// Neighbouring elements that a lane of [`ScanVariant::Coarsened`] scans by itself.
pub const SECTION: u64 = 4;

/// An algorithm, with an order of evaluation of its own, taken by the modifier [`variant`](isowarp_core::call::Call::variant) of a scan.
///
/// All but the pattern itself cut the array into tiles of [`ScanVariant::tile`] elements, a workgroup each. The totals of the tiles (their last
/// prefixes) are an array that is scanned in the same way, tiles of tiles, and every element of tile `t > 0` becomes
/// `combine(scanned total of tile t - 1, itself)`. Left operands always come from lower indices.
///
/// # Order of evaluation
/// A function of the number of elements alone: the same bits on every device. Integers give the bits of the pattern. An exclusive scan moves the inclusive
/// one by an element and starts with the identity. Two launches a level (totals, then prefixes); memory traffic 3n, scratch n / 256 accumulators or fewer.
///
/// Source: Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 11.
///
/// ```
/// # use isowarp::prelude::*;
/// # use isowarp_textbook::ScanVariant;
/// # let dev = isowarp::Cpu::new();
/// let x = dev.upload(&[2u32, 1, 3])?;
/// assert_eq!(dev.scan(&x, Sum).variant(ScanVariant::BrentKung).run()?.read_blocking()?, [2, 3, 6]);
/// assert_eq!(dev.scan(&x, Sum).variant(ScanVariant::KoggeStone).exclusive().run()?.read_blocking()?, [0, 2, 3]);
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum ScanVariant {
    /// A lane to an element: for s = 1, 2, 4, ..., 128 every `x[i]` with `i >= s` becomes `combine(x[i - s], x[i])`, all at once. The fewest steps,
    /// 8 for 256 elements, and the most combinations, O(n log n).
    ///
    /// Source: Kogge and Stone, *A parallel algorithm for the efficient solution of a general class of recurrence equations* (1973); Kirk, Hwu and
    /// El Hajj, section 11.2.
    KoggeStone,
    /// Two elements to a lane: a tree up, for s = 1, 2, ..., 256 every `x[i]` at `i = 2 s k - 1` becomes `combine(x[i - s], x[i])`; and a tree down, for
    /// s = 128, 64, ..., 1 every `x[i + s]` with `i = 2 s k - 1` becomes `combine(x[i], x[i + s])`. Twice the steps, O(n) combinations.
    ///
    /// Source: Brent and Kung, *A regular layout for parallel adders* (1982); Kirk, Hwu and El Hajj, section 11.4.
    BrentKung,
    /// Three phases with four neighbouring elements (a section) to a lane: each lane scans its section from left to right; the sections' totals are scanned
    /// by Kogge-Stone; each lane puts the scanned total before its section in front of its first three elements, and the fourth is the scanned total itself.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 11.5.
    Coarsened,
    /// The pattern itself, [`Scan`](isowarp_core::patterns::Scan): Sklansky's prefixes inside a tile of 8192, a left fold across tiles, in one pass with look-back where
    /// the device allows it.
    SinglePass,
}

impl ScanVariant {
    /// Every algorithm, the pattern last.
    pub const ALL: [Self; 4] = [Self::KoggeStone, Self::BrentKung, Self::Coarsened, Self::SinglePass];

    /// Its name: `kogge-stone`, `brent-kung`, ...
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::KoggeStone => "kogge-stone",
            Self::BrentKung => "brent-kung",
            Self::Coarsened => "coarsened",
            Self::SinglePass => "single-pass",
        }
    }

    /// The algorithm of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name)
    }

    /// Elements of a tile: part of the order.
    #[must_use]
    pub const fn tile(self) -> u64 {
        match self {
            Self::KoggeStone => LANES,
            Self::BrentKung => 2 * LANES,
            Self::Coarsened => SECTION * LANES,
            Self::SinglePass => SCAN_TILE,
        }
    }

    /// The lengths of the arrays that are scanned, the elements' first: each holds the totals of the tiles before the last of the one before it.
    /// The pattern itself has no such levels.
    #[must_use]
    pub fn levels(self, n: u64) -> Vec<u64> {
        let tile = self.tile();
        std::iter::successors(Some(n), |&n| (n > tile).then(|| n.div_ceil(tile) - 1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for v in ScanVariant::ALL {
            assert_eq!(ScanVariant::named(v.name()), Some(v));
        }
        assert_eq!(ScanVariant::named("sklansky"), None);
    }

    #[test]
    fn levels_hold_the_totals_of_all_tiles_but_the_last() {
        assert_eq!(ScanVariant::KoggeStone.levels(256), [256]);
        assert_eq!(ScanVariant::KoggeStone.levels(257), [257, 1]);
        assert_eq!(ScanVariant::BrentKung.levels(512 * 512), [512 * 512, 511]);
        assert_eq!(ScanVariant::Coarsened.levels(1 << 21), [1 << 21, 2047, 1]);
    }
}
