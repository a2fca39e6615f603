//! Samples of a sample sort, and the largest size of a bucket.

use super::network::TILE;

/// Every so many keys of a sorted tile one is a sample.
pub const APART: u64 = 16;
/// Buckets, at most.
const MOST_BUCKETS: u64 = 128;

/// The numbers of a sample sort of more keys than a tile: they depend on the number of keys alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SamplePlan {
    /// Keys.
    pub n: u64,
    /// Tiles of [`TILE`] keys, which are sorted first.
    pub tiles: u64,
    /// Samples: of the sorted tiles, one after another, every [`APART`]-th key.
    pub samples: u64,
    /// Buckets: a power of two.
    pub buckets: u64,
}

impl SamplePlan {
    /// For `n` keys.
    #[must_use]
    pub const fn new(n: u64) -> Self {
        let tiles = n.div_ceil(TILE);
        let wanted = tiles.next_power_of_two();
        let buckets = if wanted < 2 {
            2
        } else if wanted > MOST_BUCKETS {
            MOST_BUCKETS
        } else {
            wanted
        };
        Self { n, tiles, samples: n / APART, buckets }
    }

    /// Index of sample `k` in the array of sorted tiles.
    #[must_use]
    pub const fn place(self, k: u64) -> u64 {
        k * APART + APART - 1
    }

    /// Rank of the sorted sample that is the least key of bucket `b`, from 1 on: samples at equal distances.
    #[must_use]
    pub const fn splitter(self, b: u64) -> u64 {
        self.samples / self.buckets * b + self.samples % self.buckets * b / self.buckets
    }

    /// Keys of a bucket, at most, whatever the keys are: of a tile with `k` samples in the bucket, less than `k + 1` times their distance is in it.
    #[must_use]
    pub const fn most(self) -> u64 {
        let bound = APART * (self.samples.div_ceil(self.buckets) + 1) + self.tiles * (APART - 1);
        if bound < self.n { bound } else { self.n }
    }

    /// Entries of the tables that have one for each bucket and tile.
    #[must_use]
    pub const fn table(self) -> u64 {
        self.buckets * self.tiles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of the buckets of these keys, which are told apart by their places.
    fn sizes(keys: &[u64]) -> (SamplePlan, Vec<u64>) {
        let plan = SamplePlan::new(keys.len() as u64);
        let mut sorted: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
        sorted.chunks_mut(TILE as usize).for_each(<[_]>::sort_unstable);
        let mut samples: Vec<(u64, usize)> = (0..plan.samples).map(|k| sorted[plan.place(k) as usize]).collect();
        samples.sort_unstable();
        let splitters: Vec<_> = (1..plan.buckets).map(|b| samples[plan.splitter(b) as usize]).collect();
        let mut sizes = vec![0; plan.buckets as usize];
        sorted.iter().for_each(|key| sizes[splitters.partition_point(|s| s <= key)] += 1);
        (plan, sizes)
    }

    #[test]
    fn no_keys_make_a_bucket_larger_than_the_bound() {
        let mixed = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        for n in [1025, 1500, 2048, 2049, 5000, 16_385, 70_001, 200_000] {
            // Equal keys; sorted; all but one equal; tiles whose keys between samples are in one bucket; keys of all powers of two.
            let inputs: [&dyn Fn(u64) -> u64; 7] = [
                &|_| 7,
                &|i| i,
                &|i| n - i,
                &mixed,
                &|i| u64::from(i == n / 2),
                &|i| if i % APART < APART - 1 { 1 << 40 | mixed(i) } else { i },
                &|i| 1 << (mixed(i) % 44),
            ];
            for (k, f) in inputs.iter().enumerate() {
                let (plan, sizes) = sizes(&(0..n).map(f).collect::<Vec<_>>());
                assert_eq!(sizes.iter().sum::<u64>(), n);
                assert!(sizes.iter().all(|&size| size <= plan.most()), "input {k} of {n}: {sizes:?} above {}", plan.most());
            }
        }
    }

    #[test]
    fn splitters_rise_and_are_samples() {
        for n in [1025, 1 << 20, (1 << 32) - 1] {
            let plan = SamplePlan::new(n);
            assert!((1..plan.buckets).all(|b| plan.splitter(b - 1) < plan.splitter(b) && plan.splitter(b) < plan.samples));
            assert!(plan.place(plan.samples - 1) < n);
            assert!(plan.most() < n / 20 + 2 * TILE || n < 1 << 16, "{n}: {}", plan.most());
        }
    }
}
