//! Halton's points: van der Corput's sequence in a prime base for each dimension.

use super::sobol::Coordinate;
use super::{Random, draws::quantile};
use crate::backend::Backend;
use crate::buffer::{Buffer, Memory as _};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Mapped, Source, array, index, scalar};
use crate::ir::{ArrayExpr, Expr, lit, next_while, repeat};

/// Dimensions of [`Halton`], each with the next prime as its base.
pub const MAX_HALTON_DIMENSIONS: u32 = 128;

/// Digits of a point's number that are looked at: all in base 2.
const DIGITS: u32 = 32;

/// Words of a dimension: its base, what is added to it, and the weights of its digits, the high words first.
const STRIDE: u32 = 2 + 2 * DIGITS;

/// Points of Halton's sequence in `[0, 1)^d`: coordinate `j` of point `i` has the digits of `i` in base `b`, the `j`-th prime, in reverse order after the
/// point.
///
/// The digits weigh `floor(2^64 / b^(k+1))`, and a word is the upper half of their sum in 64 bits: the digits' fraction of 2^32, rounded down, or 1 less
/// where it is above an integer by less than 2^-17. So it is within 2^-32 of SciPy's `qmc.Halton(d, scramble=False)`. It is a function of `i` and `j`
/// alone. Fetches an element: two a digit. In many dimensions the first points of neighbouring ones lie on lines; leave some out by
/// [`leaped`](Self::leaped), or take [`Sobol`](super::Sobol)'s.
///
/// ```
/// # use isowarp::prelude::*;
/// # use isowarp::random::Halton;
/// # let dev = isowarp::Cpu::new();
/// let points = Halton::new(&dev, 2)?;
/// let third = 1.0 / 3.0;
/// let found = dev.map(points.uniform::<f32>(4), |x| x)?.read_blocking()?;
/// assert!(found.iter().zip([0.0, 0.0, 0.5, third, 0.25, 2.0 * third, 0.75, third / 3.0]).all(|(x, y)| (x - y).abs() < 1e-6));
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// Source: Halton, *On the efficiency of certain quasi-random sequences of points* (1960); Kocis and Whiten, *Computational investigations of
/// low-discrepancy sequences* (1997) for leaps; Cranley and Patterson, *Randomization of number theoretic methods for multiple integration* (1976) for shifts.
#[derive(Clone, Debug)]
pub struct Halton<B: Backend> {
    table: Buffer<B, u32>,
    dimensions: u32,
    first: u32,
    leap: u32,
}

impl<B: Backend> Halton<B> {
    /// The sequence itself.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more dimensions than [`MAX_HALTON_DIMENSIONS`], [`Error::InvalidArgument`] for none.
    pub fn new(device: &B, dimensions: u32) -> Result<Self> {
        Self::with(device, dimensions, |_| Ok(0))
    }

    /// The sequence with each coordinate moved by a word of its dimension, the generator's next ones, modulo 1: each is uniform, and points stay as even
    /// as they were.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::InvalidArgument`] where the stream has not as many words.
    pub fn shifted(device: &B, dimensions: u32, random: Random) -> Result<Self> {
        Self::with(device, dimensions, |j| random.skip(j).map(Random::word))
    }

    fn with(device: &B, dimensions: u32, shift: impl Fn(u64) -> Result<u32>) -> Result<Self> {
        if dimensions > MAX_HALTON_DIMENSIONS {
            let (requested, limit) = (dimensions.into(), MAX_HALTON_DIMENSIONS.into());
            return Err(Error::TooLarge { what: "dimensions of Halton points", requested, limit });
        }
        if dimensions == 0 {
            return Err(Error::InvalidArgument { what: "dimensions", reason: "points have one at least".to_owned() });
        }
        let mut table = Vec::with_capacity((dimensions * STRIDE) as usize);
        for (j, base) in primes().take(dimensions as usize).enumerate() {
            table.extend([base, shift(j as u64)?]);
            let mut weight = 1u128 << 64;
            for _ in 0..DIGITS {
                weight /= u128::from(base);
                table.extend([(weight >> 32) as u32, weight as u32]);
            }
        }
        Ok(Self { table: device.upload(&table)?, dimensions, first: 0, leap: 1 })
    }

    /// The sequence from a later point on.
    #[must_use]
    pub fn from(self, first: u32) -> Self {
        Self { first, ..self }
    }

    /// Every so many-th point of the sequence. A number that is prime to all bases, such as 409 in up to 80 dimensions, keeps the points even.
    #[must_use]
    pub fn leaped(self, leap: u32) -> Self {
        Self { leap, ..self }
    }

    /// Coordinates of `n` points, one point after the other: words for `u32`, `(word >> 8) 2^-24` for `f32`, `word 2^-32` for `f64`. There are at most 2^32
    /// coordinates, and points up to number 2^32.
    #[must_use]
    pub fn uniform<T: Coordinate>(&self, n: u64) -> Mapped<HaltonCoordinates<'_, B>, fn(Expr<u32>) -> Expr<T>> {
        HaltonCoordinates { of: self, n }.map(T::of_word)
    }

    /// The same as standard normal numbers, by the [quantile function](Random::normal_by_quantile).
    #[must_use]
    pub fn normal(&self, n: u64) -> Mapped<HaltonCoordinates<'_, B>, fn(Expr<u32>) -> Expr<f32>> {
        HaltonCoordinates { of: self, n }.map(quantile)
    }

    fn numbers(&self) -> [u32; 3] {
        [self.first, self.leap, self.dimensions]
    }
}

fn primes() -> impl Iterator<Item = u32> {
    (2u32..).filter(|p| (2..*p).take_while(|q| q * q <= *p).all(|q| !p.is_multiple_of(q)))
}

/// Coordinates as words.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct HaltonCoordinates<'a, B: Backend> {
    of: &'a Halton<B>,
    n: u64,
}

impl<B: Backend> Source for HaltonCoordinates<'_, B> {
    type Exprs = Expr<u32>;

    fn exprs(&self, next: &mut u16) -> Expr<u32> {
        let [first, leap, dimensions] = self.of.numbers().map(scalar);
        type Numbers = (ArrayExpr<u32>, Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>);
        let (table, first, leap, dimensions, i): Numbers = (array(&self.of.table), first, leap, dimensions, index()).exprs(next);
        let point = i / dimensions;
        let at = (i - point * dimensions) * STRIDE;
        let (base, shift) = (table.at(at), table.at(at + 1));
        let (high, ..) = repeat(DIGITS, (shift, lit(0u32), point * leap + first, at + 2), |(high, low, rest, at)| {
            let quotient = rest / base;
            let digit = rest - quotient * base;
            let (weight, part) = (table.at(at), table.at(at + 1));
            let sum = low + digit * part;
            let carry = sum.lt(low).cast::<u32>();
            next_while(rest.ne(0), (high + digit * weight + part.mul_hi(digit) + carry, sum, quotient, at + 2))
        });
        high
    }
}

impl<B: Backend> Input<B> for HaltonCoordinates<'_, B> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        let [first, leap, dimensions] = self.of.numbers();
        let last = u64::from(leap).saturating_mul(self.n.saturating_sub(1)).saturating_add(first.into());
        let (points, n) = (last.saturating_add(u64::from(self.n > 0)), self.n.saturating_mul(dimensions.into()));
        for (what, requested) in [("Halton points", points), ("coordinates of Halton points", n)] {
            if requested > 1 << 32 {
                return Err(Error::TooLarge { what, requested, limit: 1 << 32 });
            }
        }
        c.length(n)?;
        let [first, leap, dimensions] = [first, leap, dimensions].map(scalar);
        (array(&self.of.table), first, leap, dimensions, index()).collect(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_the_first_primes() {
        let first: Vec<u32> = primes().take(10).collect();
        assert_eq!(first, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
        assert_eq!((primes().nth(99), primes().nth(127)), (Some(541), Some(719)));
    }
}
