//! One size: the same inputs for everybody, and the processor's results.

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
    /// 0, 1, 2, ...
    pub(crate) places: Vec<u32>,
    /// Calls in a batch: enough to see past the clock's resolution, few enough for a software adapter.
    pub(crate) calls: u32,
}

impl Host {
    pub(crate) fn new(n: u32) -> Self {
        let word = |i: u32| {
            let h = (i ^ (i >> 16)).wrapping_mul(0x85EB_CA6B);
            let h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
            h ^ (h >> 16)
        };
        let words: Vec<u32> = (0..n).map(word).collect();
        Self {
            n,
            flags: words.iter().map(|w| w >> 7 & 1).collect(),
            bytes: words.iter().map(|w| w & 0xFF).collect(),
            places: (0..n).collect(),
            words,
            calls: ((1 << 26) / n).clamp(4, 64),
        }
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

    pub(crate) fn sorted(&self) -> Vec<u32> {
        let mut sorted = self.words.clone();
        sorted.sort_unstable();
        sorted
    }

    /// Where the words were, in the order of the sorted ones; equal words in their order.
    pub(crate) fn order(&self) -> Vec<u32> {
        let mut order = self.places.clone();
        order.sort_by_key(|&i| self.words[i as usize]);
        order
    }

    /// How many of the bytes have each value.
    pub(crate) fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; 256];
        self.bytes.iter().for_each(|&b| counts[b as usize] += 1);
        counts
    }

    /// A figure; `bytes` to an element are read and written once.
    pub(crate) fn row(&self, library: &'static str, pattern: &'static str, bytes: u64, seconds: f64, right: bool) -> Row {
        let bytes = bytes * u64::from(self.n);
        let gb_per_second = bytes as f64 / seconds / 1e9;
        Row { library, pattern, elements: self.n, bytes, seconds, gb_per_second, right }
    }
}
