//! Reductions. [`Reduce`](isowarp_core::patterns::Reduce) is what to use.

mod host;
mod plan;

pub use plan::{choices, operators};

/// Lanes of a tile: what one workgroup combines.
pub const LANES: u64 = 256;
/// Lanes of a logical group, whatever the width of the device's subgroups.
pub const GROUP: u64 = 32;
/// Elements that a lane of the coarsened variants combines by itself.
pub const SERIAL: u64 = 16;

/// A way to reduce, with an order of evaluation of its own, taken by the modifier [`variant`](isowarp_core::call::Call::variant) of a reduction.
///
/// # Order of evaluation
/// A function of the number of elements alone: the same bits on every device. Integers give the bits of the pattern. Floats give them where the order is the
/// same. Work O(n); scratch n / 256 accumulators or fewer, for [`ReduceVariant::FoldInHalf`] n / 2. Through wgpu that one answers
/// [`Error::TooLarge`](isowarp_core::Error::TooLarge) above the binding limit.
///
/// All but two cut the array into tiles of [`ReduceVariant::tile`] elements, a workgroup each. A lane first combines the elements that
/// fall to it, then the lanes' values are combined by a tree, and the tiles' results are an array that is reduced in the same way, until one
/// is left. What does not exist is skipped; nothing is padded. In the orders below `x[i]` is a lane's value, and `s` is a step of the tree.
///
/// Sources: Ansorge, *Programming in Parallel with CUDA*, chapters 2 and 3; Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 10.
///
/// ```
/// # use isowarp::prelude::*;
/// # use isowarp_textbook::ReduceVariant;
/// # let dev = isowarp::Cpu::new();
/// let x = dev.upload(&[2u32, 1, 3])?;
/// assert_eq!(dev.reduce(&x, Sum).variant(ReduceVariant::Sequential).run()?.read_blocking()?, 6);
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum ReduceVariant {
    /// No tiles, and a launch for every level: `x[i]` becomes `combine(x[i], x[i + half])`, where `half` is half the length, rounded up.
    ///
    /// Source: Ansorge, example 2.5, `reduce0`.
    FoldInHalf,
    /// A lane to an element; neighbours first: for s = 1, 2, 4, ... lane `i`, a multiple of `2 s`, takes `combine(x[i], x[i + s])`. Working and
    /// idle lanes alternate, so that subgroups diverge. The aligned binary tree: the bits of the pattern.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 10.3.
    Interleaved,
    /// The pairs of [`ReduceVariant::Interleaved`], and so its bits, given to the lanes without gaps: lane `l` works on `i = 2 s l`.
    ///
    /// Source: Harris, *Optimizing parallel reduction in CUDA* (2007), second kernel.
    Convergent,
    /// A lane to an element; far ones first: for s = 128, 64, ..., 1 lane `i < s` takes `combine(x[i], x[i + s])`. Working lanes and their operands
    /// lie side by side.
    ///
    /// Source: Ansorge, examples 2.7 and 2.8, `reduce2` and `reduce3`; Kirk, Hwu and El Hajj, sections 10.4 to 10.6.
    Sequential,
    /// As [`ReduceVariant::Sequential`] with two elements to a lane, `i` and `i + 256`, combined as they are loaded.
    ///
    /// Source: Harris, fourth kernel.
    FirstCombine,
    /// The order of [`ReduceVariant::FirstCombine`], and so its bits, with the steps written out; on CUDA the last ones synchronise a warp only.
    ///
    /// Source: Ansorge, examples 2.9 and 3.1, `reduce4` and `reduce5`.
    Unrolled,
    /// As [`ReduceVariant::Sequential`] with 16 elements to a lane, `i`, `i + 256`, ..., `i + 3840`, folded from left to right.
    ///
    /// Source: Ansorge, example 2.6, `reduce1` (with a fixed stride, since a grid's would make the order the device's); Kirk, Hwu and El Hajj,
    /// section 10.8.
    Coarsened,
    /// The lanes of [`ReduceVariant::Coarsened`]; then, in groups of 32, s = 16, 8, ..., 1, and over the groups' values s = 4, 2, 1. On CUDA the
    /// lanes of a group exchange their values without shared memory.
    ///
    /// Source: Ansorge, examples 3.4 to 3.6, `reduce6` to `reduce8` (whose atomic sums of the groups would have no order).
    Shuffle,
    /// The tree of [`ReduceVariant::Shuffle`] over lanes that load vectors: lane `l` folds the vectors of four `l`, `l + 256`, `l + 512`, `l + 768`
    /// component by component, and then its four components from left to right.
    ///
    /// Source: Ansorge, example 3.7, `reduce7_vl`.
    Vectorised,
    /// The pattern itself: [`Reduce`](isowarp_core::patterns::Reduce).
    AlignedTree,
}

impl ReduceVariant {
    /// Every variant, the pattern last.
    pub const ALL: [Self; 10] = [
        Self::FoldInHalf,
        Self::Interleaved,
        Self::Convergent,
        Self::Sequential,
        Self::FirstCombine,
        Self::Unrolled,
        Self::Coarsened,
        Self::Shuffle,
        Self::Vectorised,
        Self::AlignedTree,
    ];

    /// Its name: `fold-in-half`, `interleaved`, ...
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FoldInHalf => "fold-in-half",
            Self::Interleaved => "interleaved",
            Self::Convergent => "convergent",
            Self::Sequential => "sequential",
            Self::FirstCombine => "first-combine",
            Self::Unrolled => "unrolled",
            Self::Coarsened => "coarsened",
            Self::Shuffle => "shuffle",
            Self::Vectorised => "vectorised",
            Self::AlignedTree => "aligned-tree",
        }
    }

    /// The variant of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name)
    }

    /// Elements of a tile, where there are tiles.
    #[must_use]
    pub const fn tile(self) -> Option<u64> {
        match self {
            Self::FoldInHalf | Self::AlignedTree => None,
            Self::Interleaved | Self::Convergent | Self::Sequential => Some(LANES),
            Self::FirstCombine | Self::Unrolled => Some(2 * LANES),
            Self::Coarsened | Self::Shuffle | Self::Vectorised => Some(SERIAL * LANES),
        }
    }

    /// Whether left operands always come from lower indices than right ones. Only then does an operator that does not commute give what the
    /// pattern gives; the other variants are for operators that commute.
    #[must_use]
    pub const fn keeps_order(self) -> bool {
        matches!(self, Self::Interleaved | Self::Convergent | Self::AlignedTree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for v in ReduceVariant::ALL {
            assert_eq!(ReduceVariant::named(v.name()), Some(v));
        }
        assert_eq!(ReduceVariant::named("reduce7"), None);
    }

    #[test]
    fn tiles_are_whole_rows_of_lanes_and_vectors() {
        for tile in ReduceVariant::ALL.into_iter().filter_map(ReduceVariant::tile) {
            assert!(tile.is_power_of_two() && tile.is_multiple_of(LANES));
        }
    }
}
