//! Poisson numbers of one mean by a table on the device, whose entries say where the operator of [`poisson_of`](super::Random::poisson_of) decides otherwise:
//! the same counts without its loop over probabilities, or without its densities.

use super::attempts::{Attempts, Blocks};
use super::rejection::{FEW, PAIRS, SEARCHED, Transformed, poisson, poisson_density};
use crate::backend::Backend;
use crate::buffer::Memory as _;
use crate::element::Element;
use crate::error::Result;
use crate::input::{Collector, Input, Source, array, scalar};
use crate::ir::{ArrayExpr, Evaluator, Expr, Func, LANES, array_expr, lit, next_until, repeat, select, trace};
use crate::numerics::Func as Elementary;
use std::sync::{Arc, LazyLock};

/// Halvings of a search, and the words that it looks at.
const HALVINGS: u32 = 6;
const LIMITS: usize = (1 << HALVINGS) - 1;

/// Elements that pay for an entry of a table: making one takes the host up to a microsecond, in which a GPU draws so many.
const WORTH: u64 = 16_384;

/// The greatest mean with a table of densities: counts are far from 2^24, up to where all are `f32`.
const MOST: f32 = 1_048_576.0;

/// Entries of a table of densities that come before those of the counts: the mean, the first count, and what all counts before that have.
const HEAD: usize = 3;

/// Logarithm of a density below which no attempt is taken: bounds are at least `e^-37`.
const LEAST: f32 = -50.0;

/// Poisson numbers of one mean, as an input.
#[derive(Clone, Debug)]
pub struct PoissonCounts {
    blocks: Attempts,
    mean: f32,
    table: Table,
}

#[derive(Clone, Debug)]
enum Table {
    /// Few elements, or a mean too great for one.
    None,
    /// Greatest words of the counts 0, 1, 2, ..., as many as a search looks at.
    Limits(Constants<u32>),
    /// The [`HEAD`], and for each count the greatest bound whose logarithm is not above the density's.
    Densities(Constants<f32>),
}

impl PoissonCounts {
    pub(super) fn new(blocks: Attempts, n: u64, mean: f32) -> Self {
        let pays = |entries: f32| n / WORTH >= entries as u64;
        let table = if (0.0..FEW).contains(&mean) && pays(LIMITS as f32) {
            limits(mean).map_or(Table::None, |all| Table::Limits(all.into()))
        } else if (FEW..=MOST).contains(&mean) && pays(2.0 * reach(mean)) {
            Table::Densities(densities(mean).into())
        } else {
            Table::None
        };
        Self { blocks, mean, table }
    }
}

impl Source for PoissonCounts {
    type Exprs = Expr<u32>;

    fn exprs(&self, next: &mut u16) -> Expr<u32> {
        let blocks = self.blocks.exprs(next);
        match &self.table {
            Table::None => poisson((blocks, scalar(self.mean).exprs(next))),
            Table::Limits(limits) => searched(&blocks, limits.exprs(next)),
            Table::Densities(densities) => rejected(&blocks, densities.exprs(next)),
        }
    }
}

impl<B: Backend> Input<B> for PoissonCounts {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.blocks.collect(c)?;
        match &self.table {
            Table::None => scalar(self.mean).collect(c),
            Table::Limits(limits) => limits.collect(c),
            Table::Densities(densities) => densities.collect(c),
        }
    }
}

/// Values of the host as an array to fetch from, which the device has for as long as the call that reads it takes.
#[derive(Clone, Debug)]
struct Constants<T>(Arc<[T]>);

impl<T> From<Vec<T>> for Constants<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values.into())
    }
}

impl<T: Element> Source for Constants<T> {
    type Exprs = ArrayExpr<T>;

    fn exprs(&self, next: &mut u16) -> ArrayExpr<T> {
        *next += 1;
        array_expr(*next - 1)
    }
}

impl<B: Backend, T: Element> Input<B> for Constants<T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        let buffer = c.device().upload(&self.0)?;
        array(&buffer).collect(c)
    }
}

/// Counts the limits that the first word is above.
fn searched(blocks: &Blocks, limits: ArrayExpr<u32>) -> Expr<u32> {
    let [word, ..] = blocks.block(lit(0));
    (0..HALVINGS).rev().fold(lit(0u32), |count, halving| {
        let part = 1u32 << halving;
        count + select(word.gt(limits.at(count + (part - 1))), lit(part), lit(0u32))
    })
}

/// For each count the last word that the search for it from 0 on ends at, or before. `None` where there are too many.
///
/// A count grows with its word: each of the search's differences is rounded, and roundings keep an order.
fn limits(mean: f32) -> Option<Vec<u32>> {
    let mut probabilities = Vec::new();
    let (mut k, mut p) = (0f32, Elementary::Exp.eval1(-mean));
    while probabilities.len() < SEARCHED as usize && (k < mean || p > 2f32.powi(-32)) {
        probabilities.push(p);
        k += 1.0;
        p *= mean / k;
    }
    let is_above = |word: u64, counts: &[f32]| {
        let mut u = word as f32 * 2f32.powi(-32) + 2f32.powi(-33);
        counts.iter().all(|&p| {
            let above = u > p;
            u -= p;
            above
        })
    };
    let mut limits = Vec::with_capacity(LIMITS);
    for count in 1..=probabilities.len() {
        let (mut low, mut high) = (limits.last().map_or(0, |&limit| u64::from(limit)), 1u64 << 32);
        // The first word of at least so many.
        while low < high {
            let middle = (low + high) / 2;
            if is_above(middle, &probabilities[..count]) { high = middle } else { low = middle + 1 }
        }
        if low > u64::from(u32::MAX) {
            break;
        }
        limits.push(low.checked_sub(1)? as u32);
    }
    (limits.len() <= LIMITS).then(|| {
        limits.resize(LIMITS, u32::MAX);
        limits
    })
}

/// The first of the attempts that is taken, of which each block has two. Counts without an entry are not: there the density is less than every bound.
fn rejected(blocks: &Blocks, densities: ArrayExpr<f32>) -> Expr<u32> {
    let [rate, first] = [0u32, 1].map(|k| densities.at(lit(k)));
    let (hat, base) = (Transformed::poisson(rate), rate.floor());
    let tried = |words| {
        let attempt = hat.attempt(words);
        let entry = (base + attempt.d - first).max(-1.0) + HEAD as f32;
        let taken = attempt.at_once | (attempt.possible & attempt.bound.le(densities.at(entry.cast::<u32>())));
        (attempt.d, taken)
    };
    let (_, d) = repeat(PAIRS / 2, (lit(0u32), lit(0f32)), |(block, _)| {
        let [a, b, c, d] = blocks.block(block);
        let (one, other) = (tried((a, b)), tried((c, d)));
        next_until(one.1 | other.1, (block + 1, select(one.1, one.0, other.0)))
    });
    (base + d).cast()
}

/// Returns how far from a mean counts have an entry: beyond, densities are less than the least bounds.
fn reach(mean: f32) -> f32 {
    (8.0 * mean.sqrt() + 20.0).ceil()
}

/// A table of densities, by the operator that they are the values of.
fn densities(mean: f32) -> Vec<f32> {
    static DENSITY: LazyLock<Option<Func>> = LazyLock::new(|| trace(|(rate, d)| poisson_density(rate, d)).ok());
    let (base, reach) = (mean.floor(), reach(mean));
    let (first, last) = ((base - reach).max(0.0), base + reach);
    let mut table = vec![mean, first, 0.0];
    let Some(density) = &*DENSITY else { return table };
    let mut evaluator = Evaluator::new(density);
    for begin in (first as u32..=last as u32).step_by(LANES) {
        let lanes = ((last as u32 - begin) as usize + 1).min(LANES);
        let load = |parameter: u16, out: &mut [u64]| match parameter {
            0 => out.fill(mean.to_bits().into()),
            _ => out.iter_mut().zip(begin..).for_each(|(out, count)| *out = (count as f32 - base).to_bits().into()),
        };
        evaluator.eval(lanes, load, |_, _| 0);
        table.extend(evaluator.result(0)[..lanes].iter().map(|&bits| greatest(f32::from_bits(bits as u32))));
    }
    table
}

/// The greatest number whose logarithm is at most this one: logarithms grow with their arguments. Zero where no bound is so small.
fn greatest(log: f32) -> f32 {
    if log < LEAST {
        return 0.0;
    }
    let is_above = |bits: u32| Elementary::Log.eval1(f32::from_bits(bits)) > log;
    // The logarithm's step is up to 32 of its argument's, and its exponential has an error of one.
    let near = Elementary::Exp.eval1(log).to_bits();
    let (mut low, mut high) = (near - 256, near + 256);
    debug_assert!(!is_above(low) && is_above(high), "the logarithm of {log} ends elsewhere");
    while high - low > 1 {
        let middle = low.midpoint(high);
        if is_above(middle) { high = middle } else { low = middle }
    }
    f32::from_bits(low)
}

#[cfg(test)]
mod tests {
    use super::super::rejection::inversion;
    use super::*;

    /// Results of an operator of two arguments.
    fn values(f: &Func, args: &[(u32, f32)]) -> Vec<u32> {
        let mut evaluator = Evaluator::new(f);
        let mut all = Vec::new();
        for args in args.chunks(LANES) {
            let load = |parameter: u16, out: &mut [u64]| {
                let of = |&(word, number): &(u32, f32)| if parameter == 0 { word } else { number.to_bits() };
                out.iter_mut().zip(args).for_each(|(out, arg)| *out = of(arg).into());
            };
            evaluator.eval(args.len(), load, |_, _| 0);
            all.extend(evaluator.result(0)[..args.len()].iter().map(|&bits| bits as u32));
        }
        all
    }

    /// Means of a range at equal ratios, and those beside its ends.
    fn means(low: f32, high: f32, n: i32) -> impl Iterator<Item = f32> {
        let ratio = (high / low).powf(1.0 / n as f32);
        (0..n).map(move |k| (low * ratio.powi(k)).clamp(low, high.next_down())).chain([low, low.next_up(), high.next_down()])
    }

    #[test]
    fn counts_change_where_the_search_from_0_on_says() {
        let search = trace(|(word, mean)| inversion(word, mean)).expect("an operator");
        let special = [0.0, -0.0, f32::from_bits(1), f32::MIN_POSITIVE, 1e-20, 2f32.powi(-32), 2f32.powi(-24), 5e-8, 1e-3];
        let mut most = 0;
        for mean in special.into_iter().chain(means(1e-9, FEW, 300)).chain((1..10).map(|k| k as f32)) {
            let limits = limits(mean).expect("a table");
            let counts = limits.iter().filter(|&&limit| limit < u32::MAX).count();
            most = most.max(counts);
            assert!(limits.is_sorted() && limits.len() == LIMITS, "{mean}");
            let beside = |limit: u32| [limit.saturating_sub(1), limit, limit.saturating_add(1), limit.saturating_add(2)];
            let even = (0..64u32).map(|k| k.wrapping_mul(0x0410_4105));
            let words: Vec<u32> = limits.iter().flat_map(|&limit| beside(limit)).chain(even).chain([0, 1, u32::MAX]).collect();
            let expected = values(&search, &words.iter().map(|&word| (word, mean)).collect::<Vec<_>>());
            for (word, expected) in words.into_iter().zip(expected) {
                let found = limits.iter().filter(|&&limit| word > limit).count() as u32;
                assert_eq!(found, expected, "word {word} of mean {mean}");
            }
        }
        assert!(most <= LIMITS, "{most} counts");
    }

    /// Around the ends of the logarithm's pieces, and spread over each; all 780 million floats from 2^-90 to 8 were tried once.
    #[test]
    fn logarithms_grow_with_their_arguments() {
        for k in -90..3 {
            let joint = (0.673_095_7 * 2f32.powi(k)).to_bits();
            for around in (joint - 3000..joint + 3000).chain((0..1 << 23).step_by(9973).map(|part| joint + part)) {
                let [low, high] = [around, around + 1].map(|bits| Elementary::Log.eval1(f32::from_bits(bits)));
                assert!(low <= high, "{around:#x}");
            }
        }
    }

    #[test]
    fn bounds_are_taken_up_to_where_their_logarithms_are() {
        // As `Transformed` compares them, of a count and a bound's bits.
        let compare = |mean: f32| {
            trace(move |(bound, d): (Expr<u32>, Expr<f32>)| bound.bitcast::<f32>().ln().le(poisson_density(lit(mean), d)).cast::<u32>())
        };
        for mean in means(FEW, 1e5, 30).chain([100.0, 10.5, 4096.0]) {
            let (table, compare) = (densities(mean), compare(mean).expect("an operator"));
            let (first, base) = (table[1], mean.floor());
            let mut tried = Vec::new();
            for (count, bound) in table[HEAD..].iter().enumerate().filter(|(_, bound)| **bound > 0.0) {
                let d = first + count as f32 - base;
                let bits = bound.to_bits();
                tried.extend([(bits, d), (bits + 1, d), (bits - 40, d), (bits + 41, d)]);
            }
            let taken = values(&compare, &tried);
            assert!(taken.chunks(4).all(|way| way == [1, 0, 1, 0]), "{mean}");
        }
    }

    #[test]
    fn counts_without_an_entry_have_less_density_than_every_bound() {
        let density = |mean: f32| trace(move |(_, d): (Expr<u32>, Expr<f32>)| poisson_density(lit(mean), d)).expect("an operator");
        for mean in means(FEW, MOST, 40).chain([100.0, MOST]) {
            let (table, density, base) = (densities(mean), density(mean), mean.floor());
            // Of the counts with a bound, the first, and the one after the last.
            let has_bound = |bound: &f32| *bound > 0.0;
            let ends = (table[HEAD..].iter().position(has_bound), table[HEAD..].iter().rposition(has_bound));
            let (low, high) = (table[1] - base + ends.0.expect("a count") as f32, table[1] - base + ends.1.expect("a count") as f32 + 1.0);
            // Hörmann's hat in f64. An attempt is |d| < (2 a / us + b) / 2 - a + 2 away, its v at least 2^-33.
            let b = 0.931 + 2.53 * f64::from(mean).sqrt();
            let a = 0.02483 * b - 0.059;
            let alpha = 1.1239 + 1.1328 / (b - 3.4);
            let least = |d: f64| (2f64.powi(-33) * alpha / ((d.abs() + 2.0 * a + 3.0).powi(2) / a + b)).ln();
            // The logarithm of the density falls by more than `|d| / (2 mean + 2 |d|)` a count, the bound's by `2 / |d|` at most.
            let beyond = |k: i32| [(low - 1.0) * 1.5f32.powi(k), high * 1.5f32.powi(k)];
            for d in (0..30).flat_map(beyond).map(f32::floor).filter(|d| base + d >= 0.0) {
                let log = f32::from_bits(values(&density, &[(0, d)])[0]);
                assert!(f64::from(log) < least(d.into()) - 1.0, "{mean}: {log} at {d}, bounds from {} on", least(d.into()));
            }
        }
    }
}
