//! Distances of two arrays of floats in units in the last place: the greatest, the mean, how many differ, and how they are distributed.

use super::map::collect;
use super::reduce::check_count;
use super::{Histogram, Reduce, binned};
use crate::buffer::{Buffer, Memory as _};
use crate::error::{Error, Result};
use crate::input::{Input, Lent, Source as _, index};
use crate::ir::{Expr, Ulp, lit, select_each};

type Words = (Expr<u32>, Expr<u32>, Expr<u32>);

/// Words before the counts.
const HEAD: u64 = 6;

/// Distances between the elements of two arrays.
///
/// A pair's distance is that of [`ulp_distance`](Expr::ulp_distance): the number of floats from one to the other. Pairs of NaN and a number are counted
/// apart, as 0 in all else. All results are integers, so they are exact. Three passes over the inputs; scratch is that of a reduction and of a histogram
/// of 66 bins.
pub trait Ulps: Reduce + Histogram {
    /// The distances of all pairs at the same index, of `f32` or `f64`, in sum.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, reference) = (dev.upload(&[1.0f32, 2.000_000_2, 3.0, f32::NAN])?, dev.upload(&[1.0f32, 2.0, 3.000_001, 0.0])?);
    /// let found = dev.ulp(&x, &reference)?.read_blocking()?;
    /// assert_eq!((found.max, found.at, found.differing(), found.nan()), (4, 2, 2, 1));
    /// assert_eq!(found.mean(), 5.0 / 4.0);
    /// // Of distance 0, 1, 2 or 3, 4 to 7, ...
    /// assert_eq!(found.counts[..4], [1, 1, 0, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] for empty inputs, [`Error::TooLarge`] for more than 2^32 - 1 elements; as [`Call::run`](crate::call::Call::run).
    fn ulp<I, J, T>(&self, x: I, reference: J) -> Result<UlpWords<Self>>
    where
        I: Input<Self, Exprs = Expr<T>>,
        J: Input<Self, Exprs = Expr<T>>,
        T: Ulp,
    {
        let pairs = || (Lent(&x), Lent(&reference));
        let n = collect(self, "ulp", &pairs())?.len()?;
        if n == 0 {
            return Err(Error::Empty { pattern: "ulp" });
        }
        check_count(n)?;
        let words = self.buffer(HEAD + u64::from(T::BITS) + 2)?;
        let at = |k: u64| words.slice(k..=k);
        let halves = || pairs().map(|(x, y)| T::halves(x, y));
        let greatest = (halves(), index()).map(|((low, high), i)| (low, high, i));
        self.reduce_by(greatest, greater).write_to((&at(0)?, &at(1)?, &at(2)?))?;
        self.reduce_by(halves().map(|(low, high)| (low, high, lit(0))), carried).write_to((&at(3)?, &at(4)?, &at(5)?))?;
        self.histogram(binned(pairs(), T::BITS + 2, |(x, y)| T::bin(x, y))).write_to(&words.slice(HEAD..)?)?;
        Ok(UlpWords { words, n })
    }
}
impl<B: Reduce + Histogram> Ulps for B {}

/// The one with the greater distance, else the first.
fn greater(a: Words, b: Words) -> Words {
    select_each(b.1.gt(a.1) | (b.1.eq(a.1) & b.0.gt(a.0)), b, a)
}

/// The sum of integers of three words.
fn carried(a: Words, b: Words) -> Words {
    let low = a.0 + b.0;
    let middle = a.1 + b.1;
    let sum = middle + low.lt(b.0).cast::<u32>();
    let carries = middle.lt(b.1).cast::<u32>() + sum.lt(middle).cast::<u32>();
    (low, sum, a.2 + b.2 + carries)
}

/// Results of [`Ulps::ulp`] on the device.
#[derive(Clone, Debug)]
pub struct UlpWords<B: crate::backend::Backend> {
    words: Buffer<B, u32>,
    n: u64,
}

impl<B: crate::backend::Backend> UlpWords<B> {
    /// The greatest distance (two words, the low one first), its index, the distances' sum (three words), and the counts of
    /// [`UlpDistances::counts`].
    #[must_use]
    pub fn words(&self) -> &Buffer<B, u32> {
        &self.words
    }

    /// Copies the results to the host.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub async fn read(&self) -> Result<UlpDistances> {
        Ok(UlpDistances::from_words(self.n, &self.words.read().await?))
    }

    /// The same, waiting for them.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub fn read_blocking(&self) -> Result<UlpDistances> {
        Ok(UlpDistances::from_words(self.n, &self.words.read_blocking()?))
    }
}

/// Distances of pairs of floats.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UlpDistances {
    /// Pairs.
    pub elements: u64,
    /// The greatest distance.
    pub max: u64,
    /// The lowest index that has it.
    pub at: u32,
    /// Sum of the distances.
    pub sum: u128,
    /// Pairs of distance 0, 1, 2 or 3, 4 to 7 and so on, `2^(k-1)` to below `2^k`; the last one counts those of NaN and a number.
    pub counts: Vec<u32>,
}

impl UlpDistances {
    /// The results that [`UlpWords::words`] of so many pairs are.
    #[must_use]
    pub fn from_words(elements: u64, words: &[u32]) -> Self {
        let number = |words: &[u32]| words.iter().rev().fold(0u128, |all, word| all << 32 | u128::from(*word));
        let (max, sum) = (number(&words[..2]) as u64, number(&words[3..HEAD as usize]));
        Self { elements, max, at: words[2], sum, counts: words[HEAD as usize..].to_vec() }
    }

    /// The mean distance.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.elements as f64
    }

    /// Pairs with a distance.
    #[must_use]
    pub fn differing(&self) -> u64 {
        self.elements - u64::from(self.counts.first().copied().unwrap_or(0)) - self.nan()
    }

    /// Pairs of NaN and a number.
    #[must_use]
    pub fn nan(&self) -> u64 {
        self.counts.last().copied().unwrap_or(0).into()
    }
}
