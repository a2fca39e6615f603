//! One size: the same inputs for everybody, and the processor's results.

use crate::clock::{Plan, Times};
use crate::table::Row;

/// Inputs and results of one size.
pub(crate) struct Host {
    pub(crate) n: u32,
    /// Pseudo-random words.
    pub(crate) words: Vec<u32>,
    /// 0 or 1, half of each.
    pub(crate) flags: Vec<u32>,
    /// Words below 256.
    pub(crate) bytes: Vec<u32>,
    /// Words below 4: three of four differ from the one before.
    pub(crate) few: Vec<u32>,
    /// Keys in runs of 4 on average.
    pub(crate) runs: Vec<u32>,
    /// The first half of the words, sorted, and the second.
    pub(crate) halves: (Vec<u32>, Vec<u32>),
    /// 0, 1, 2, ...
    pub(crate) places: Vec<u32>,
}

impl Host {
    pub(crate) fn new(n: u32) -> Self {
        let word = |i: u32| {
            let h = (i ^ (i >> 16)).wrapping_mul(0x85EB_CA6B);
            let h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
            h ^ (h >> 16)
        };
        let words: Vec<u32> = (0..n).map(word).collect();
        let (first, second) = words.split_at(words.len() / 2);
        let next = |run: &mut u32, w: &u32| {
            *run += u32::from(w >> 9 & 3 == 0);
            Some(*run)
        };
        Self {
            n,
            flags: words.iter().map(|w| w >> 7 & 1).collect(),
            bytes: words.iter().map(|w| w & 0xFF).collect(),
            few: words.iter().map(|w| w & 3).collect(),
            runs: words.iter().scan(0, next).collect(),
            halves: (sorted(first), sorted(second)),
            places: (0..n).collect(),
            words,
        }
    }

    /// Calls in a batch: enough to see past the clock's resolution, few enough for a software adapter.
    pub(crate) fn plan(&self, samples: usize) -> Plan {
        Plan { samples, calls: ((1 << 26) / self.n).clamp(4, 64) }
    }

    pub(crate) fn sum(&self) -> u32 {
        self.words.iter().fold(0, |sum, v| sum.wrapping_add(*v))
    }

    pub(crate) fn prefixes(&self) -> Vec<u32> {
        let add = |sum: &mut u32, v: &u32| {
            *sum = sum.wrapping_add(*v);
            Some(*sum)
        };
        self.words.iter().scan(0, add).collect()
    }

    /// The words whose flag is 1.
    pub(crate) fn kept(&self) -> Vec<u32> {
        self.words.iter().zip(&self.flags).filter(|(_, f)| **f == 1).map(|(w, _)| *w).collect()
    }

    /// The few, each run of them once.
    pub(crate) fn unique(&self) -> Vec<u32> {
        let mut unique = self.few.clone();
        unique.dedup();
        unique
    }

    /// Each run's key, and the sum of its words.
    pub(crate) fn sums_by_key(&self) -> (Vec<u32>, Vec<u32>) {
        let of = |run: &[(u32, u32)]| (run[0].0, run.iter().fold(0, |sum: u32, (_, w)| sum.wrapping_add(*w)));
        let pairs: Vec<(u32, u32)> = self.runs.iter().copied().zip(self.words.iter().copied()).collect();
        pairs.chunk_by(|a, b| a.0 == b.0).map(of).unzip()
    }

    pub(crate) fn sorted(&self) -> Vec<u32> {
        sorted(&self.words)
    }

    /// Where the words were, in the order of the sorted ones; equal words in their order.
    pub(crate) fn order(&self) -> Vec<u32> {
        let mut order = self.places.clone();
        order.sort_by_key(|&i| self.words[i as usize]);
        order
    }

    /// Counts the bytes of each value.
    pub(crate) fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; 256];
        self.bytes.iter().for_each(|&b| counts[b as usize] += 1);
        counts
    }

    /// A figure; `bytes` to an element are read and written once.
    pub(crate) fn row(&self, library: &'static str, pattern: &'static str, bytes: u64, times: Times, right: bool) -> Row {
        let bytes = bytes * u64::from(self.n);
        let Times { device: seconds, host: host_seconds } = times;
        let gb_per_second = bytes as f64 / seconds.unwrap_or(host_seconds) / 1e9;
        Row { library, pattern, elements: self.n, bytes, seconds, host_seconds, gb_per_second, right }
    }
}

fn sorted(words: &[u32]) -> Vec<u32> {
    let mut sorted = words.to_vec();
    sorted.sort_unstable();
    sorted
}
