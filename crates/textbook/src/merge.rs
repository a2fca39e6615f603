//! Merges. [`Merge`](isowarp_core::patterns::Merge) is what to use.

mod plan;

/// Lanes of a workgroup.
pub const LANES: u64 = 256;
/// Neighbouring keys of the result that a lane of [`MergeVariant::Basic`] merges.
pub const ITEMS: u64 = 8;
/// Keys of either array that a workgroup of the other variants holds in shared memory: 8 KiB together.
pub const TILE: u64 = 1024;
/// Keys of the result that such a workgroup merges, a tile after the other.
pub const SECTION: u64 = 4 * TILE;

/// An algorithm, taken by the modifier [`variant`](isowarp_core::patterns::MergeCall::variant) of a merge of arrays: keys of `u32`, `i32` and `f32`, and values
/// of four bytes.
///
/// # Order
/// All of them give the pattern's result: there is one stable merge. Keys are in IEEE 754's total order, ascending or descending; of equal keys those of the
/// first array go first. Arrays that are not sorted give what is not determined, and no access leaves a buffer.
///
/// One launch, no scratch. Through wgpu, arrays above the binding limit are [`Error::TooLarge`](isowarp_core::Error::TooLarge).
///
/// Source: Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 12.
///
/// ```
/// # use isowarp::prelude::*;
/// # use isowarp_textbook::MergeVariant;
/// # let dev = isowarp::Cpu::new();
/// let (a, v) = (dev.upload(&[1i32, 7, 7])?, dev.upload(&[10u32, 11, 12])?);
/// let (b, w) = (dev.upload(&[7i32, 9])?, dev.upload(&[20u32, 21])?);
/// let (keys, values) = dev.merge(&a, &b).with_values(&v, &w).variant(MergeVariant::Basic).run()?;
/// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![1, 7, 7, 7, 9], vec![10, 11, 12, 20, 21]));
/// let (a, b, out) = (dev.upload(&[2.0f32, 0.0])?, dev.upload(&[9.0f32, -0.0])?, dev.buffer(4)?);
/// dev.merge(&a, &b).descending().variant(MergeVariant::Tiled).write_to(&out)?;
/// assert_eq!(out.read_blocking()?, [9.0, 2.0, 0.0, -0.0]);
/// # Ok::<(), isowarp::Error>(())
/// ```
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
    /// The pattern itself, [`Merge`](isowarp_core::patterns::Merge): tiles whose co-ranks are found first, so that exactly what is used is loaded.
    MergePath,
}

impl MergeVariant {
    /// Every variant, the pattern last.
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

    /// The variant of this name.
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
