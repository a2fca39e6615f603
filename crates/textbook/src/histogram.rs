//! Histograms. [`Histogram`](isowarp_core::patterns::Histogram) is what to use.

mod plan;

use isowarp_core::error::{Error, Result};

/// Lanes of a workgroup.
pub const LANES: u64 = 256;
/// Samples of a lane of the coarsened variants.
pub const COARSE: u64 = 16;
/// Bins, at most, of a workgroup's own in shared memory: 16 KiB, which every device has.
pub const SHARED_BINS: u64 = 4096;
/// Words, at most, of all workgroups' own bins in memory: 16 MiB.
pub const MEMORY_CELLS: u64 = 1 << 22;

/// An algorithm: who counts which sample, and where. It is taken by the modifier [`variant`](isowarp_core::patterns::HistogramCall::variant) of a histogram.
///
/// Counts have no order, so all of them give the pattern's result. A workgroup has [`LANES`] lanes. The output is cleared in a launch of its own, and samples
/// are counted in a second one, which reads them once. More bins than [`most_bins`](Self::most_bins) are [`Error::TooLarge`].
///
/// Source: Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 9.
///
/// ```
/// # use isowarp::prelude::*;
/// # use isowarp_textbook::HistogramVariant;
/// # let dev = isowarp::Cpu::new();
/// // Letters of a text, four to a bin.
/// let text = dev.upload(b"programming massively parallel processors")?;
/// let letters = || dev.histogram(binned(&text, 7, |x| (x - 97) / 4));
/// let counts = letters().variant(HistogramVariant::PrivateShared).run()?;
/// assert_eq!(counts.read_blocking()?, [5, 5, 6, 10, 10, 1, 1]);
/// assert_eq!(letters().run()?.read_blocking()?, counts.read_blocking()?);
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum HistogramVariant {
    /// A lane to a sample, which is added to its bin in memory atomically. Samples of one bin wait for each other, whoever has them.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 9.2.
    Atomic,
    /// Each workgroup counts its samples in bins of its own in memory, then adds these to the output: samples of one bin wait only for those of
    /// their workgroup. Above [`MEMORY_CELLS`] words of own bins there are fewer workgroups, each with more samples.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 9.4.
    PrivateMemory,
    /// The same with the workgroup's own bins in shared memory, [`SHARED_BINS`] of them at most.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 9.4.
    PrivateShared,
    /// The same, and a lane takes [`COARSE`] neighbouring samples: fewer workgroups clear bins and add them to the output. Neighbouring lanes read far
    /// from each other.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 9.5.
    CoarsenedContiguous,
    /// The same, and a lane takes samples that are as far apart as there are lanes in all: neighbouring lanes read neighbouring samples.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 9.5.
    CoarsenedInterleaved,
    /// The same, and a lane adds up equal samples that follow each other before it adds them to their bin.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 9.6.
    Aggregated,
    /// The pattern itself, [`Histogram`](isowarp_core::patterns::Histogram): a workgroup's own bins in several copies, or as many of them as shared memory has room for.
    Replicated,
}

impl HistogramVariant {
    /// Every variant, the pattern last.
    pub const ALL: [Self; 7] = [
        Self::Atomic,
        Self::PrivateMemory,
        Self::PrivateShared,
        Self::CoarsenedContiguous,
        Self::CoarsenedInterleaved,
        Self::Aggregated,
        Self::Replicated,
    ];

    /// Its name: `atomic`, `private-memory`, ...
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Atomic => "atomic",
            Self::PrivateMemory => "private-memory",
            Self::PrivateShared => "private-shared",
            Self::CoarsenedContiguous => "coarsened-contiguous",
            Self::CoarsenedInterleaved => "coarsened-interleaved",
            Self::Aggregated => "aggregated",
            Self::Replicated => "replicated",
        }
    }

    /// The variant of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name)
    }

    /// Bins, at most, that it counts in; where there is no such limit, there are those of the pattern.
    #[must_use]
    pub const fn most_bins(self) -> Option<u64> {
        match self {
            Self::Atomic | Self::PrivateMemory | Self::Replicated => None,
            Self::PrivateShared | Self::CoarsenedContiguous | Self::CoarsenedInterleaved | Self::Aggregated => Some(SHARED_BINS),
        }
    }

    /// Workgroups that count `n` samples in so many bins.
    #[must_use]
    pub fn blocks(self, n: u64, bins: u64) -> u64 {
        match self {
            Self::PrivateMemory => n.div_ceil(LANES).min((MEMORY_CELLS / bins.max(1)).max(1)),
            Self::Atomic | Self::PrivateShared | Self::Replicated => n.div_ceil(LANES),
            Self::CoarsenedContiguous | Self::CoarsenedInterleaved | Self::Aggregated => n.div_ceil(LANES * COARSE),
        }
    }

    fn check(self, bins: u64) -> Result<()> {
        match self.most_bins() {
            Some(limit) if bins > limit => Err(Error::TooLarge { what: "bins of a workgroup's own", requested: bins, limit }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for v in HistogramVariant::ALL {
            assert_eq!(HistogramVariant::named(v.name()), Some(v));
        }
        assert_eq!(HistogramVariant::named("sorted"), None);
    }

    #[test]
    fn own_bins_in_memory_are_bounded_whatever_there_is_to_count() {
        for n in [1, 257, 1 << 20, u64::from(u32::MAX)] {
            for bins in [1, 7, 256, 4097, 1 << 20] {
                let blocks = HistogramVariant::PrivateMemory.blocks(n, bins);
                assert!(blocks >= 1 && blocks * bins <= MEMORY_CELLS, "{n} samples in {bins} bins: {blocks} workgroups");
            }
        }
        assert_eq!(HistogramVariant::PrivateMemory.blocks(100_000, 7), 391, "a lane to a sample where there is room");
        assert_eq!(HistogramVariant::Aggregated.blocks(4097, 7), 2);
    }
}
