//! P08 merge, the rungs of the textbook's ladder: kept for teaching and for benchmarks. [`Merge`](super::Merge) is what to use.

mod plan;

use super::merge::{Pairs, merge_by};
use super::{MergeTask, SortOrder};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory};
use crate::element::Element;
use crate::error::Result;

/// Lanes of a workgroup.
pub const LANES: u64 = 256;
/// Neighbouring keys of the result that a lane of [`MergeVariant::Basic`] merges.
pub const ITEMS: u64 = 8;
/// Keys of either array that a workgroup of the other rungs holds in shared memory: 8 KiB together.
pub const TILE: u64 = 1024;
/// Keys of the result that such a workgroup merges, a tile after the other.
pub const SECTION: u64 = 4 * TILE;

/// A rung of the ladder. All of them give the pattern's result: there is one stable merge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum MergeVariant {
    /// A lane to [`ITEMS`] neighbouring keys of the result: it finds by halving how many keys of either array lie before them (the co-rank), and
    /// merges one by one, all in memory. Neighbouring lanes read and write far from each other.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 12.5.
    Basic,
    /// A workgroup to [`SECTION`] keys of the result, of which it finds the co-ranks once. It loads a tile of either array into shared memory, neighbours
    /// by neighbours; lanes find their co-ranks there and merge [`TILE`] keys together; and both tiles are loaded again from where the merge got to. Half of
    /// what is loaded is not used.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 12.6.
    Tiled,
    /// The same, and what was loaded stays until it is used: tiles are rings, of which only what was merged is loaded anew.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 12.7.
    CircularBuffer,
    /// The pattern itself, [`Merge`](super::Merge): tiles whose co-ranks are found first, so that exactly what is used is loaded.
    MergePath,
}

impl MergeVariant {
    /// Every rung, the pattern last.
    pub const ALL: [Self; 4] = [Self::Basic, Self::Tiled, Self::CircularBuffer, Self::MergePath];

    /// Its name: `basic`, `tiled`, ...
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Tiled => "tiled",
            Self::CircularBuffer => "circular-buffer",
            Self::MergePath => "merge-path",
        }
    }

    /// The rung of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name)
    }

    /// Workgroups that merge so many keys.
    #[must_use]
    pub const fn blocks(self, total: u64) -> u64 {
        total.div_ceil(match self {
            Self::Basic | Self::MergePath => LANES * ITEMS,
            Self::Tiled | Self::CircularBuffer => SECTION,
        })
    }
}

/// A merge by a certain rung, as data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct MergeVariantTask {
    /// Which rung.
    pub variant: MergeVariant,
    /// What to merge: keys of four bytes, with values of four or none.
    pub merge: MergeTask,
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for i32 {}
    impl Sealed for f32 {}
}

/// Keys of the ladder's merges: `u32`, `i32` and `f32`.
pub trait LadderKey: Element + sealed::Sealed {}
impl LadderKey for u32 {}
impl LadderKey for i32 {}
impl LadderKey for f32 {}

/// Merges by the rungs of the textbook's ladder.
///
/// # Order
/// That of [`Merge`](super::Merge), whose result every rung gives: keys in IEEE 754's total order, ascending or descending; of equal keys those of `a`
/// first. Arrays that are not sorted give what is not determined, and no access leaves a buffer.
///
/// One launch, no scratch. Through wgpu, arrays above the binding limit are [`Error::TooLarge`](crate::Error::TooLarge). Outputs may not overlap inputs.
///
/// Source: Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 12.
pub trait MergeVariants: Run<MergeVariantTask> {
    /// The elements of both arrays in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 7, 8, 9, 10])?, dev.upload(&[7u32, 10, 10, 12])?);
    /// let merged = dev.merge_variant(MergeVariant::CircularBuffer, &a, &b, SortOrder::Ascending)?;
    /// assert_eq!(merged.read_blocking()?, [1, 7, 7, 8, 9, 10, 10, 10, 12]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeCall::run`](super::MergeCall::run).
    fn merge_variant<K: LadderKey>(
        &self,
        variant: MergeVariant,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
    ) -> Result<Buffer<Self, K>> {
        let out = self.buffer(a.len() + b.len())?;
        self.merge_variant_into(variant, a, b, order, &out)?;
        Ok(out)
    }

    /// As [`MergeVariants::merge_variant`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b, out) = (dev.upload(&[2.0f32, 0.0])?, dev.upload(&[9.0f32, -0.0])?, dev.buffer(4)?);
    /// dev.merge_variant_into(MergeVariant::Tiled, &a, &b, SortOrder::Descending, &out)?;
    /// assert_eq!(out.read_blocking()?, [9.0, 2.0, 0.0, -0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeCall::write_to`](super::MergeCall::write_to).
    fn merge_variant_into<K: LadderKey>(
        &self,
        variant: MergeVariant,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        let run = |merge, leaves: &[_], outs: &[_]| self.run(&MergeVariantTask { variant, merge }, leaves, outs);
        merge_by::<Self, K, u32>(self, (a, None), (b, None), order, (out, None), run)
    }

    /// The keys of both arrays in order, and the values that travel with them.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, v) = (dev.upload(&[1i32, 7, 7])?, dev.upload(&[10u32, 11, 12])?);
    /// let (b, w) = (dev.upload(&[7i32, 9])?, dev.upload(&[20u32, 21])?);
    /// let (keys, values) = dev.merge_pairs_variant(MergeVariant::Basic, (&a, &v), (&b, &w), SortOrder::Ascending)?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![1, 7, 7, 7, 9], vec![10, 11, 12, 20, 21]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeCall::run`](super::MergeCall::run).
    fn merge_pairs_variant<K: LadderKey>(
        &self,
        variant: MergeVariant,
        a: Pairs<'_, Self, K, u32>,
        b: Pairs<'_, Self, K, u32>,
        order: SortOrder,
    ) -> Result<(Buffer<Self, K>, Buffer<Self, u32>)> {
        let n = a.0.len() + b.0.len();
        let out = (self.buffer(n)?, self.buffer(n)?);
        self.merge_pairs_variant_into(variant, a, b, order, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`MergeVariants::merge_pairs_variant`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, v) = (dev.upload(&[0.5f32])?, dev.upload(&[10u32])?);
    /// let (b, w) = (dev.upload(&[0.25f32])?, dev.upload(&[20u32])?);
    /// let (keys, values) = (dev.buffer(2)?, dev.buffer(2)?);
    /// dev.merge_pairs_variant_into(MergeVariant::Tiled, (&a, &v), (&b, &w), SortOrder::Ascending, (&keys, &values))?;
    /// assert_eq!(values.read_blocking()?, [20, 10]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeCall::write_to`](super::MergeCall::write_to).
    fn merge_pairs_variant_into<K: LadderKey>(
        &self,
        variant: MergeVariant,
        a: Pairs<'_, Self, K, u32>,
        b: Pairs<'_, Self, K, u32>,
        order: SortOrder,
        out: Pairs<'_, Self, K, u32>,
    ) -> Result<()> {
        let run = |merge, leaves: &[_], outs: &[_]| self.run(&MergeVariantTask { variant, merge }, leaves, outs);
        merge_by(self, (a.0, Some(a.1)), (b.0, Some(b.1)), order, (out.0, Some(out.1)), run)
    }
}
impl<B: Run<MergeVariantTask>> MergeVariants for B {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for v in MergeVariant::ALL {
            assert_eq!(MergeVariant::named(v.name()), Some(v));
        }
        assert_eq!(MergeVariant::named("bubble"), None);
    }

    #[test]
    fn tiles_are_shared_by_all_lanes_and_rings_are_masked() {
        assert!(TILE.is_power_of_two() && TILE.is_multiple_of(LANES) && SECTION.is_multiple_of(TILE));
        assert_eq!(MergeVariant::Tiled.blocks(64_000), 16);
    }
}
