//! The plan of a transform: its levels, which are a function of its length alone, its table, and its passes.

use super::FftScalar;
use super::circle::Circle;
use crate::error::Result;
use crate::host;

/// Radices of the levels of `n` points in their order: fours, then at most one two, threes, fives and sevens. `None` where `n` has another prime factor.
#[must_use]
pub fn radices(n: u64) -> Option<Vec<u32>> {
    let (mut rest, mut levels) = (n, Vec::new());
    for radix in [4u32, 2, 3, 5, 7] {
        while rest > 0 && rest.is_multiple_of(u64::from(radix)) {
            rest /= u64::from(radix);
            levels.push(radix);
        }
    }
    (rest == 1).then_some(levels)
}

/// The table of `n` points, as pairs: 1 / n, then of each level of radix `r` after `l` points those of its turns, cos and -sin of 2 pi j k / (l r) at
/// `j l + k`, for j from 1 to r - 1 and k below l.
pub(super) fn table<T: FftScalar>(n: u64) -> Result<Vec<T>> {
    let circle = Circle::new(n);
    let mut table = host::reserved(2 * n)?;
    table.extend([T::rounded(1.0 / n as f64), T::rounded(0.0)]);
    let mut l = 1;
    for radix in radices(n).unwrap_or_default() {
        let unit = n / (l * u64::from(radix));
        for j in 1..u64::from(radix) {
            for k in 0..l {
                let (c, s) = circle.at(j * k * unit);
                table.extend([T::rounded(c), T::rounded(-s)]);
            }
        }
        l *= u64::from(radix);
    }
    Ok(table)
}

/// The chirp of `n` points: cos and -sin of pi i^2 / n.
pub(super) fn chirp<T: FftScalar>(n: u64) -> Result<Vec<T>> {
    let circle = Circle::new(2 * n);
    let mut all = host::reserved(2 * n)?;
    for i in 0..n {
        let (c, s) = circle.at((u128::from(i) * u128::from(i) % u128::from(2 * n)) as u64);
        all.extend([T::rounded(c), T::rounded(-s)]);
    }
    Ok(all)
}

/// Levels that a launch computes in shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pass {
    /// Points that the levels before it have joined.
    pub before: u64,
    /// Its radices.
    pub radices: Vec<u32>,
}

impl Pass {
    /// Points that it joins: the product of its radices.
    #[must_use]
    pub fn points(&self) -> u64 {
        self.radices.iter().map(|&r| u64::from(r)).product()
    }
}

/// Levels in as few passes of at most `most` points as there may be, and these about as long as each other. Bits do not depend on it.
#[must_use]
pub fn passes(radices: &[u32], most: u64) -> Vec<Pass> {
    let cut = |most: u64| {
        let mut passes = vec![Pass { before: 1, radices: Vec::new() }];
        let mut before = 1;
        for &radix in radices {
            if passes.last().is_none_or(|p| p.points() * u64::from(radix) > most) {
                passes.push(Pass { before, radices: Vec::new() });
            }
            if let Some(last) = passes.last_mut() {
                last.radices.push(radix);
            }
            before *= u64::from(radix);
        }
        passes
    };
    let fewest = cut(most).len();
    let (mut low, mut high) = (7.min(most), most);
    while low < high {
        let middle = low.midpoint(high);
        if cut(middle).len() > fewest { low = middle + 1 } else { high = middle }
    }
    cut(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_a_function_of_the_length() {
        assert_eq!(radices(1), Some(vec![]));
        assert_eq!(radices(32), Some(vec![4, 4, 2]));
        assert_eq!(radices(2520), Some(vec![4, 2, 3, 3, 5, 7]));
        assert_eq!((radices(0), radices(22)), (None, None));
    }

    #[test]
    fn a_table_has_as_many_entries_as_there_are_points() {
        for n in [1u64, 2, 12, 35, 1024] {
            assert_eq!(table::<f64>(n).expect("memory").len() as u64, 2 * n);
        }
        assert_eq!(table::<f32>(4).expect("memory"), [0.25, 0.0, 1.0, -0.0, 1.0, -0.0, 1.0, -0.0]);
    }

    #[test]
    fn passes_are_few_and_alike() {
        let points = |n: u64, most| passes(&radices(n).expect("a plan"), most).iter().map(Pass::points).collect::<Vec<_>>();
        assert_eq!(points(1 << 24, 512), [256, 256, 256]);
        assert_eq!(points(1 << 20, 1024), [1024, 1024]);
        assert_eq!(points(4096, 4096), [4096]);
        assert_eq!(points(1, 512), [1]);
        assert_eq!(points(2 * 3 * 5 * 7 * 7 * 7, 512).iter().product::<u64>(), 2 * 3 * 5 * 343);
        let cut = passes(&[4, 4, 2, 3, 5], 64);
        assert_eq!(cut.iter().map(|p| p.before).collect::<Vec<_>>(), [1, 16]);
    }
}
