//! A table of one Poisson distribution, from which a count takes one word.

use crate::backend::Backend;
use crate::buffer::{Buffer, Memory as _};
use crate::error::{Error, Result};
use crate::ir::{ArrayExpr, Expr, select};

/// The greatest mean of a [`PoissonTable`].
pub const MAX_TABLE_MEAN: f64 = 65_536.0;

/// The Poisson distribution of one mean as a table, from which [`Random::poisson_table`](super::Random::poisson_table) takes a count with one word and one
/// fetch. It is a sampler of its own: its counts are not those of [`Random::poisson`](super::Random::poisson).
///
/// Each count is drawn for a whole number of the 2^32 words, the one below or above 2^32 times its probability, so that the numbers sum to 2^32. Counts of
/// less than about 2^-33 have none: of a mean of 4 those above 22, of 100 those below 44 and above 168. A table has one word for each of the others, and at
/// most as many again: 16 KB for [`MAX_TABLE_MEAN`]. It is built on the host in operations of `f64` and of integers that have one result, so it is the same
/// everywhere.
///
/// Source: Walker, *An efficient method for generating discrete random variables with general distributions* (1977), with a power of two columns of whole
/// numbers, so that a column, and the place in it, are parts of the word.
#[derive(Clone, Debug)]
pub struct PoissonTable<B: Backend> {
    /// Of each column, below the bits of its alias, how many of its words are its own.
    columns: Buffer<B, u32>,
    first: u32,
}

impl<B: Backend> PoissonTable<B> {
    /// The table of a mean.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the mean is negative, not a number, or above [`MAX_TABLE_MEAN`].
    pub fn new(device: &B, mean: f64) -> Result<Self> {
        if !(0.0..=MAX_TABLE_MEAN).contains(&mean) {
            let reason = format!("{mean} is negative, not a number, or above {MAX_TABLE_MEAN}");
            return Err(Error::InvalidArgument { what: "mean", reason });
        }
        let (first, weights) = weights(mean);
        Ok(Self { columns: device.upload(&columns(&weights))?, first })
    }

    pub(super) fn columns(&self) -> &Buffer<B, u32> {
        &self.columns
    }

    /// The count of the first column.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Bits of a word that are a place in a column.
    pub(super) fn place(&self) -> u32 {
        32 - self.columns.len().ilog2()
    }
}

/// The count of a word.
pub(super) fn count(word: Expr<u32>, (columns, place, first): (ArrayExpr<u32>, Expr<u32>, Expr<u32>)) -> Expr<u32> {
    let column = word >> place;
    let entry = columns.at(column);
    let mask = (Expr::from(1u32) << place) - 1;
    select((word & mask).lt(entry & mask), column, entry >> place) + first
}

/// The first count that is drawn, and of how many of 2^32 words it and those after it are.
fn weights(mean: f64) -> (u32, Vec<u64>) {
    /// Where a probability, as a part of the greatest, counts no more.
    const LEAST: f64 = 1.0 / (1u64 << 60) as f64;
    let mode = mean.floor();
    let ratios = |by: &dyn Fn(f64) -> f64| {
        let next = |state: &mut (f64, f64)| {
            *state = (state.0 + 1.0, state.1 * by(state.0));
            (state.1 > LEAST).then_some(state.1)
        };
        std::iter::repeat(()).scan((0.0, 1.0), move |state, ()| next(state)).collect::<Vec<f64>>()
    };
    let below = ratios(&|k| (mode - k) / mean);
    let above = ratios(&|k| mean / (mode + k + 1.0));
    let least = mode as u32 - below.len() as u32;
    let parts: Vec<f64> = below.into_iter().rev().chain([1.0]).chain(above).collect();
    let sum: f64 = parts.iter().sum();
    let exact: Vec<f64> = parts.iter().map(|p| p / sum * 4_294_967_296.0).collect();
    let mut weights: Vec<u64> = exact.iter().map(|x| x.floor() as u64).collect();
    // Words that roundings down left go to those that lost most.
    let mut order: Vec<usize> = (0..exact.len()).collect();
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    let left = (1u64 << 32) - weights.iter().sum::<u64>();
    order.iter().take(left as usize).for_each(|&k| weights[k] += 1);
    let first = weights.iter().position(|w| *w > 0).unwrap_or(0);
    let last = weights.iter().rposition(|w| *w > 0).unwrap_or(0);
    (least + first as u32, weights[first..=last].to_vec())
}

/// An alias table of weights that sum to 2^32.
fn columns(weights: &[u64]) -> Vec<u32> {
    let size = weights.len().next_power_of_two().max(2);
    let place = 32 - size.ilog2();
    let whole = 1u64 << place;
    let mut filled: Vec<u64> = weights.iter().copied().chain(std::iter::repeat(0)).take(size).collect();
    let mut table: Vec<u32> = (0..size as u32).map(|k| k << place).collect();
    let (mut low, mut high): (Vec<usize>, Vec<usize>) = (0..size).partition(|&k| filled[k] < whole);
    while let (Some(&giver), Some(taker)) = (high.last(), low.pop()) {
        table[taker] = (giver as u32) << place | filled[taker] as u32;
        filled[giver] -= whole - filled[taker];
        if filled[giver] < whole {
            high.pop();
            low.push(giver);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of each count.
    fn words(first: u32, table: &[u32]) -> std::collections::BTreeMap<u32, u64> {
        let place = 32 - table.len().ilog2();
        let mut all = std::collections::BTreeMap::new();
        for (k, entry) in table.iter().enumerate() {
            let own = u64::from(entry & ((1 << place) - 1));
            *all.entry(first + k as u32).or_insert(0) += own;
            *all.entry(first + (entry >> place)).or_insert(0) += (1 << place) - own;
        }
        all.retain(|_, words| *words > 0);
        all
    }

    #[test]
    fn a_count_has_its_probability_of_all_words() {
        for mean in [0.0, 1e-300, 1e-9, 0.3, 0.999, 1.0, 4.0, 10.5, 100.0, 1000.0, 12_345.678, MAX_TABLE_MEAN] {
            let (first, weights) = weights(mean);
            let table = columns(&weights);
            let found = words(first, &table);
            let given = (first..).zip(weights).filter(|(_, w)| *w > 0).collect();
            assert_eq!(found, given, "{mean}");
            assert!(table.len() <= 4096 && found.values().sum::<u64>() == 1 << 32, "{mean}");
            // ln(k!) by its sum, or by Stirling's series.
            let log_factorial = |k: f64| match k < 100.0 {
                true => (2..=k as u32).map(|i| f64::from(i).ln()).sum(),
                false => k * k.ln() - k + (core::f64::consts::TAU * k).ln() / 2.0 + (1.0 / 12.0 - (1.0 / 360.0) / (k * k)) / k,
            };
            for (k, words) in &found {
                let k = f64::from(*k);
                let exact = if mean == 0.0 { 1.0 } else { (k * mean.ln() - mean - log_factorial(k)).exp() };
                assert!((*words as f64 - exact * 4_294_967_296.0).abs() < 1.1, "{mean}: {k} has {words} words");
            }
        }
        assert_eq!(words(0, &columns(&[1 << 32])), [(0, 1 << 32)].into());
    }

    /// `scipy.stats.poisson.pmf(k, mean) * 2**32`.
    #[test]
    fn words_are_those_of_scipys_probabilities() {
        let known = [
            (4.0, 0, 78_665_070.032),
            (4.0, 4, 839_094_080.346),
            (4.0, 15, 64_592.515),
            (100.0, 60, 19_201.574),
            (100.0, 100, 171_201_677.681),
            (100.0, 150, 2_796.522),
            (65_536.0, 65_000, 746_241.069),
            (65_536.0, 65_536, 6_693_132.298),
        ];
        for (mean, k, exact) in known {
            let (first, weights) = weights(mean);
            assert!((weights[(k - first) as usize] as f64 - exact).abs() < 1.1, "{mean}: {k}");
        }
    }

    #[test]
    fn counts_that_are_not_drawn_are_those_of_less_than_half_a_word() {
        let ends = |mean: f64| {
            let (first, weights) = weights(mean);
            (first, first + weights.len() as u32 - 1)
        };
        assert_eq!((ends(4.0), ends(100.0)), ((0, 22), (44, 168)));
    }
}
