//! Sorts. [`Sort`](isowarp_core::patterns::Sort) is what to use.

mod host;
pub mod network;
pub mod plan;
pub mod sample;

use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::SortTask;
use network::Network;

/// Keys, at most, of an [odd-even transposition sort](SortVariant::OddEvenTransposition), which compares n^2 / 2 pairs: 2^31 of these.
pub const TRANSPOSED: u64 = 1 << 16;

/// Keys of a tile of [`SortVariant::RadixLocal`] and [`SortVariant::RadixDigits`]: a lane to a key.
pub const LOCAL_TILE: u64 = 256;
/// Keys of a tile of [`SortVariant::RadixCoarsened`].
pub const COARSE_TILE: u64 = 4 * LOCAL_TILE;
/// Bits of a digit of [`SortVariant::RadixDigits`] and [`SortVariant::RadixCoarsened`].
pub const DIGIT_BITS: u32 = 4;

/// An algorithm that sorts, taken by the modifier [`variant`](isowarp_core::patterns::SortCall::variant) of a sort of an array: keys of every type, by all bits
/// or some, ascending or descending, alone or with values of four bytes.
///
/// # Order
/// Keys compare as [`Sort`](isowarp_core::patterns::Sort) compares them. Where all their bits are compared, equal keys are the same bits, and every algorithm gives the
/// same array. Which of the values of equal keys comes first (and of keys, where only some bits are compared) is where they differ: stable ones keep
/// the order that there was; for the others it follows from their comparisons, which the number of keys alone decides.
///
/// Scratch is twice the keys, as words of four or eight bytes, and eight bytes more for each value. A sample sort has those eight without values, too,
/// and three or less for samples and tables; a split eight for bits; the radix sorts of tiles have tables of three numbers to a bucket and a tile. Nothing is
/// read back, and no workgroup waits for another. Through wgpu, arrays above the binding limit are [`Error::TooLarge`].
///
/// Source: Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 13.
///
/// ```
/// # use isowarp::prelude::*;
/// # use isowarp_textbook::SortVariant;
/// # let dev = isowarp::Cpu::new();
/// let keys = dev.upload(&[5u32, 2, 7, 1, 3, 2, 8])?;
/// assert_eq!(dev.sort(&keys).variant(SortVariant::Bitonic).run()?.read_blocking()?, [1, 2, 2, 3, 5, 7, 8]);
/// let (income, age) = (dev.upload(&[150u32, 80, 45, 80])?, dev.upload(&[30u32, 32, 22, 29])?);
/// let (income, age) = dev.sort(&income).with_values(&age).descending().variant(SortVariant::Sample).run()?;
/// assert_eq!((income.read_blocking()?, age.read_blocking()?), (vec![150, 80, 80, 45], vec![30, 32, 29, 22]));
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum SortVariant {
    /// Neighbours change places where the right one comes before the left, `x[2i]` and `x[2i + 1]` in even rounds, `x[2i + 1]` and `x[2i + 2]` in
    /// odd ones: n rounds, n^2 / 2 comparisons. Stable. More than [`TRANSPOSED`] keys are [`Error::TooLarge`].
    ///
    /// Source: Knuth, *The Art of Computer Programming*, volume 3, section 5.3.4; Kirk, Hwu and El Hajj, section 13.8.
    OddEvenTransposition,
    /// Batcher's network of bitonic merges: for runs of s = 1, 2, 4, ... keys first `x[i]` meets `x[i ^ (2s - 1)]`, then `x[i ^ d]` for
    /// d = s / 2, s / 4, ..., 1; a pair changes places where the higher place holds the key that comes first. Places behind the end stand for keys
    /// that come last, so any n is the network of the next power of two. O(n log^2 n) comparisons. Not stable.
    ///
    /// Source: Batcher, *Sorting networks and their applications* (1968); Kirk, Hwu and El Hajj, section 13.8.
    Bitonic,
    /// Batcher's network of odd-even merges: for runs of s = 1, 2, 4, ... keys first `x[i]` meets `x[i + s]` in the other run of its pair, then
    /// for d = s / 2, s / 4, ..., 1 each `x[i]` whose bit d is set meets `x[i + d]`, if that is in the same pair of runs; exchanges and any n as
    /// above. Fewer comparisons than the bitonic network has. Not stable.
    ///
    /// Source: as above; Knuth, volume 3, section 5.2.2, algorithm M.
    OddEvenMerge,
    /// Tiles are sorted; every 16th key of them is a sample; samples are sorted, and those at equal distances part the keys into at most 128
    /// buckets, which are sorted by themselves. Equal keys are told apart by where they were, in samples too, so no bucket exceeds a bound that
    /// n alone decides ([`SamplePlan::most`](sample::SamplePlan::most)), however skewed the keys. Stable.
    ///
    /// Source: Frazer and McKellar, *Samplesort* (1970); Shi and Schaeffer, *Parallel sorting by regular sampling* (1992); Dehne and Zaboli,
    /// *Deterministic sample sort for GPUs* (2012).
    Sample,
    /// A pass to each bit from the lowest on: keys whose bit is 0 go to the front in their order, those whose bit is 1 behind them, by an
    /// exclusive scan of the bits. Stable.
    ///
    /// Source: Blelloch, *Prefix sums and their applications* (1990); Kirk, Hwu and El Hajj, section 13.3.
    RadixSplit,
    /// The same bit by bit, but workgroups sort tiles of [`LOCAL_TILE`] keys by the bit in shared memory first, and say in a table, bit by tile, how many
    /// keys there are of each kind. A scan of the table says where they go; neighbours write neighbours. Stable.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 13.4; Satish, Harris and Garland, *Designing efficient sorting algorithms for manycore GPUs* (2009).
    RadixLocal,
    /// The same with digits of [`DIGIT_BITS`] bits: a fourth of the passes, and a table of 16 rows. A tile is sorted by a digit as by its bits, one after
    /// the other. Stable.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 13.5.
    RadixDigits,
    /// The same with four neighbouring keys to a lane, so with tiles of [`COARSE_TILE`] keys: a fourth of the table, and longer runs of neighbours. Stable.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 13.6.
    RadixCoarsened,
    /// The pattern itself, [`Sort`](isowarp_core::patterns::Sort): digits of eight bits, in one launch each where the device allows it. Stable.
    Radix,
}

impl SortVariant {
    /// Every algorithm, the pattern last.
    pub const ALL: [Self; 9] = [
        Self::OddEvenTransposition,
        Self::Bitonic,
        Self::OddEvenMerge,
        Self::Sample,
        Self::RadixSplit,
        Self::RadixLocal,
        Self::RadixDigits,
        Self::RadixCoarsened,
        Self::Radix,
    ];

    /// Its name: `odd-even-transposition`, `bitonic`, ...
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OddEvenTransposition => "odd-even-transposition",
            Self::Bitonic => "bitonic",
            Self::OddEvenMerge => "odd-even-merge",
            Self::Sample => "sample",
            Self::RadixSplit => "radix-split",
            Self::RadixLocal => "radix-local",
            Self::RadixDigits => "radix-digits",
            Self::RadixCoarsened => "radix-coarsened",
            Self::Radix => "radix",
        }
    }

    /// The algorithm of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name)
    }

    /// Whether equal keys keep their order.
    #[must_use]
    pub const fn is_stable(self) -> bool {
        !matches!(self, Self::Bitonic | Self::OddEvenMerge)
    }

    /// Its network, if it is one.
    #[must_use]
    pub const fn network(self) -> Option<Network> {
        match self {
            Self::OddEvenTransposition => Some(Network::Transposition),
            Self::Bitonic => Some(Network::Bitonic),
            Self::OddEvenMerge => Some(Network::OddEvenMerge),
            _ => None,
        }
    }

    /// Bits of a digit and keys of a tile, if it sorts tiles by digits.
    #[must_use]
    pub const fn digits(self) -> Option<(u32, u64)> {
        match self {
            Self::RadixLocal => Some((1, LOCAL_TILE)),
            Self::RadixDigits => Some((DIGIT_BITS, LOCAL_TILE)),
            Self::RadixCoarsened => Some((DIGIT_BITS, COARSE_TILE)),
            _ => None,
        }
    }

    /// Fails for more keys than it sorts, and for values that it does not move.
    fn check(self, task: &SortTask, payload_bytes: u64) -> Result<()> {
        if self == Self::OddEvenTransposition && task.n > TRANSPOSED {
            return Err(Error::TooLarge { what: "keys of an odd-even transposition sort", requested: task.n, limit: TRANSPOSED });
        }
        if ![0, 4].contains(&payload_bytes) {
            return Err(Error::InvalidArgument {
                what: "values",
                reason: format!("a textbook's sort moves four bytes, not {payload_bytes}"),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isowarp_core::element::DType;
    use isowarp_core::patterns::{SortOrder, SortPayload};

    #[test]
    fn names_are_unique_and_lead_back() {
        for v in SortVariant::ALL {
            assert_eq!(SortVariant::named(v.name()), Some(v));
        }
        assert_eq!(SortVariant::named("bogo"), None);
    }

    #[test]
    fn only_the_quadratic_sort_is_bounded() {
        let (dtype, payload) = (DType::U32, SortPayload::Nothing);
        let of = |n| SortTask { dtype, order: SortOrder::Ascending, bits: 0..32, rows: 1, n, payload, keys_out: true, lent: false };
        for v in SortVariant::ALL {
            assert_eq!(v.check(&of(TRANSPOSED + 1), 0).is_err(), v == SortVariant::OddEvenTransposition, "{v:?}");
            assert!(v.check(&of(TRANSPOSED), 4).is_ok() && v.check(&of(1), 8).is_err(), "{v:?}");
        }
    }
}
