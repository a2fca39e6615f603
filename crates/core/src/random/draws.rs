//! Distributions: functions of an element's words.

use super::turns::Turn;
use super::words::{Block, Each, Words};
use super::{Discrete, PoissonTable, Random, poisson_table};
use crate::backend::Backend;
use crate::element::{Element, Float, Int, Scalar};
use crate::input::{Array, HostScalar, Mapped, Source as _, array, scalar};
use crate::ir::{ArrayExpr, Expr, select};
use core::ops::Range;

/// A draw without parameters, as an input.
pub type Draws<R> = Mapped<Words, fn(Block) -> R>;

/// A draw with parameters `P`, whose values are `X`, as an input.
pub type DrawsOf<P, X, R> = Mapped<(Words, P), fn((Block, X)) -> R>;

/// A draw of floats with two parameters.
type Scaled = DrawsOf<Parameters, (Expr<f32>, Expr<f32>), Expr<f32>>;

/// A mean and a deviation.
pub(super) type Parameters = (HostScalar<f32>, HostScalar<f32>);

/// A function of an element's words and of two parameters.
pub(super) type Function = fn((Block, (Expr<f32>, Expr<f32>))) -> Expr<f32>;

/// Types of [`Random::uniform`]: all values of `u32` and `u64`, `f32` and `f64` in \[0, 1).
pub trait Uniform: Element<Reg = Self> + Scalar {
    /// The draw.
    #[doc(hidden)]
    fn draws(random: Random, n: u64) -> Draws<Expr<Self>>;
}

/// Types of [`Random::uniform_open`].
pub trait Fraction: Float + Uniform {
    /// The draw.
    #[doc(hidden)]
    fn draws_open(random: Random, n: u64) -> Draws<Expr<Self>>;
}

/// Types of [`Random::integers`].
pub trait Bounded: Int + Element<Reg = Self> + PartialOrd {
    /// The range's bits as those of a `u32`.
    #[doc(hidden)]
    fn word(self) -> u32;
}

impl Bounded for u32 {
    fn word(self) -> u32 {
        self
    }
}

impl Bounded for i32 {
    fn word(self) -> u32 {
        self as u32
    }
}

fn draws<R>(random: Random, n: u64, each: Each, f: fn(Block) -> R) -> Draws<R> {
    Words::new(random, n, each).map(f)
}

impl Uniform for u32 {
    fn draws(random: Random, n: u64) -> Draws<Expr<u32>> {
        draws(random, n, Each::One, Block::word)
    }
}

impl Uniform for u64 {
    fn draws(random: Random, n: u64) -> Draws<Expr<u64>> {
        draws(random, n, Each::Two, |block| {
            let (high, low) = block.pair();
            high.cast::<u64>() << 32 | low.cast::<u64>()
        })
    }
}

impl Uniform for f32 {
    fn draws(random: Random, n: u64) -> Draws<Expr<f32>> {
        draws(random, n, Each::One, |block| fraction(block.word()))
    }
}

impl Uniform for f64 {
    fn draws(random: Random, n: u64) -> Draws<Expr<f64>> {
        // Both products and their sum are exact.
        draws(random, n, Each::Two, |block| {
            let (high, low) = block.pair();
            high.cast::<f64>() * power64(-32) + (low >> 11).cast::<f64>() * power64(-53)
        })
    }
}

impl Fraction for f32 {
    fn draws_open(random: Random, n: u64) -> Draws<Expr<f32>> {
        draws(random, n, Each::One, |block| (block.word() >> 9).cast::<f32>() * power(-23) + power(-24))
    }
}

impl Fraction for f64 {
    fn draws_open(random: Random, n: u64) -> Draws<Expr<f64>> {
        draws(random, n, Each::Two, |block| {
            let (high, low) = block.pair();
            high.cast::<f64>() * power64(-32) + ((low >> 12).cast::<f64>() * power64(-52) + power64(-53))
        })
    }
}

/// `2^k`.
fn power(k: i32) -> f32 {
    f32::from_bits(((127 + k) as u32) << 23)
}

pub(super) fn power64(k: i32) -> f64 {
    f64::from_bits(((1023 + k) as u64) << 52)
}

/// `(word >> 8) 2^-24`.
pub(crate) fn fraction(word: Expr<u32>) -> Expr<f32> {
    (word >> 8).cast::<f32>() * power(-24)
}

/// `(word + 1/2) 2^-32`, rounded: above 0, and 1 at most. The least are those of 2^-33, so that tails are long.
pub(super) fn above_zero(word: Expr<u32>) -> Expr<f32> {
    word.cast::<f32>().mul_add(power(-32), power(-33))
}

/// `(word + 1/2) 2^-31` of the word as a signed one: from -1 to 1.
pub(super) fn signed(word: Expr<u32>) -> Expr<f32> {
    word.bitcast::<i32>().cast::<f32>().mul_add(power(-31), power(-32))
}

/// The radius of a word.
fn radius(word: Expr<u32>) -> Expr<f32> {
    (above_zero(word).ln().abs() * 2.0).sqrt()
}

/// Box and Muller's pair: the first word is a radius, the second an angle; the even element is the cosine's, the odd one the sine's.
fn box_muller(block: Block) -> Expr<f32> {
    let (first, turn) = block.pair();
    radius(first) * Turn::of(turn).sine_if(block.is_odd())
}

pub(super) fn normal((block, (mean, deviation)): (Block, (Expr<f32>, Expr<f32>))) -> Expr<f32> {
    box_muller(block).mul_add(deviation, mean)
}

pub(super) fn normal_by_quantile((block, (mean, deviation)): (Block, (Expr<f32>, Expr<f32>))) -> Expr<f32> {
    quantile(block.word()).mul_add(deviation, mean)
}

pub(super) fn log_normal(of: (Block, (Expr<f32>, Expr<f32>))) -> Expr<f32> {
    normal(of).exp()
}

pub(super) fn exponential((block, mean): (Block, Expr<f32>)) -> Expr<f32> {
    above_zero(block.word()).ln().abs().mul_rn(mean)
}

/// All four normal numbers of a block, rounded.
pub(crate) fn normals([a, b, c, d]: [Expr<u32>; 4]) -> [Expr<f32>; 4] {
    let ((first, second), (b, d)) = ((radius(a), radius(c)), (Turn::of(b), Turn::of(d)));
    [first.mul_rn(b.cosine()), first.mul_rn(b.sine()), second.mul_rn(d.cosine()), second.mul_rn(d.sine())]
}

/// The standard normal quantile over `x = 2 p - 1`, where `w = -ln(1 - x^2)` is below 5, in `w - 2.5`, the highest power first; relative error 2^-27.
const CENTRE: [f32; 10] = [
    -1.243_243e-8,
    3.285_592e-8,
    6.592_648_6e-7,
    -4.897_004e-6,
    -7.019_233_6e-6,
    0.000_308_785_67,
    -0.001_771_644_6,
    -0.005_907_717,
    0.348_802_03,
    2.123_313_4,
];
/// The same above, in `sqrt(w) - 3.5`, as far as 2^-33 is; relative error 2^-23.4.
const TAIL: [f32; 10] = [
    6.389_467e-5,
    3.326_470_3e-5,
    -0.000_456_649_96,
    0.000_700_484_6,
    -0.000_849_214_44,
    0.001_504_119,
    -0.002_953_983_4,
    0.004_640_897_7,
    1.424_637_9,
    4.717_089,
];

/// The standard normal quantile of `(word + 1/2) 2^-32`, within 5 ULP, by polynomials in the variable of Giles, *Approximating the erfinv function* (2010).
///
/// `1 - x^2 = 4 p (1 - p)` is taken of the nearer end, and `x` of the distance to the middle, so that neither loses digits.
pub(super) fn quantile(word: Expr<u32>) -> Expr<f32> {
    let x = signed(word ^ (1u32 << 31));
    let p = above_zero(word.min(!word));
    let w = (p * 4.0 * (1.0 - p)).ln().abs();
    let far = w.ge(5.0);
    let from = select(far, w.sqrt() - 3.5, w - 2.5);
    let mut value: Expr<f32> = select(far, TAIL[0], CENTRE[0]);
    for (tail, centre) in TAIL.into_iter().zip(CENTRE).skip(1) {
        value = value.mul_add(from, select(far, tail, centre));
    }
    value * x
}

/// The integer and the following 32 binary digits of `(high:low) range / 2^64`.
fn scaled((high, low): (Expr<u32>, Expr<u32>), range: Expr<u32>) -> (Expr<u32>, Expr<u32>) {
    let carried = low.mul_hi(range);
    let digits = high * range + carried;
    (high.mul_hi(range) + digits.lt(carried).cast::<u32>(), digits)
}

impl Random {
    /// `n` uniform numbers: all values of `u32` and `u64`, or floats in \[0, 1), which are multiples of 2^-24 and 2^-53.
    #[must_use]
    pub fn uniform<T: Uniform>(self, n: u64) -> Draws<Expr<T>> {
        T::draws(self, n)
    }

    /// `n` uniform floats in (0, 1): odd multiples of 2^-24 and 2^-53, so that their mean is 1/2.
    #[must_use]
    pub fn uniform_open<T: Fraction>(self, n: u64) -> Draws<Expr<T>> {
        T::draws_open(self, n)
    }

    /// The two words of each `u64`.
    pub(crate) fn uniform_words(self, n: u64) -> Draws<(Expr<u32>, Expr<u32>)> {
        draws(self, n, Each::Two, Block::pair)
    }

    /// `n` integers of a range, which may not be empty. Each is the integer part of the range's length times a fraction of 64 bits: two words and no rejection,
    /// so that element `i` depends on nothing but `i`. No value is more likely than another by more than 2^-64, a part in 2^32 of its probability at most.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let dice = dev.map(Random::new(3).integers(600, 1u32..7), |x| x)?;
    /// let counts = dev.histogram(binned(&dice, 6, |x| x - 1)).run()?.read_blocking()?;
    /// assert!(counts.iter().all(|&n| n.abs_diff(100) < 40), "{counts:?}");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn integers<T: Bounded>(
        self,
        n: u64,
        range: Range<T>,
    ) -> DrawsOf<(HostScalar<u32>, HostScalar<u32>), (Expr<u32>, Expr<u32>), Expr<T>> {
        let (low, length) = (range.start.word(), range.end.word().wrapping_sub(range.start.word()));
        let words = Words::new(self, n, Each::Two).require(range.start < range.end, "range", "it is empty");
        (words, (scalar(low), scalar(length))).map(|(block, (low, length))| (scaled(block.pair(), length).0 + low).bitcast())
    }

    /// `n` normal numbers of this mean and standard deviation, by Box and Muller's pairs: up to 6.8 deviations from the mean.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let heights = Random::new(5).normal(10_000, 170.0, 8.0);
    /// assert!((dev.mean(&dev.map(heights, |x| x)?)?.read_blocking()? - 170.0).abs() < 0.3);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn normal(self, n: u64, mean: f32, deviation: f32) -> Scaled {
        self.scaled(n, mean, deviation, normal)
    }

    /// The same by the quantile function: a monotone function of each word, and up to 6.3 deviations from the mean.
    #[must_use]
    pub fn normal_by_quantile(self, n: u64, mean: f32, deviation: f32) -> Scaled {
        self.scaled(n, mean, deviation, normal_by_quantile)
    }

    /// `n` numbers whose logarithms are [normal](Self::normal), of this mean and deviation.
    #[must_use]
    pub fn log_normal(self, n: u64, mean: f32, deviation: f32) -> Scaled {
        self.scaled(n, mean, deviation, log_normal)
    }

    fn scaled(self, n: u64, mean: f32, deviation: f32, f: Function) -> Scaled {
        let words = Words::new(self, n, Each::One).require(mean.is_finite(), "mean", "it is not finite").require(
            deviation.is_finite() && deviation >= 0.0,
            "deviation",
            "it is negative or not finite",
        );
        (words, (scalar(mean), scalar(deviation))).map(f)
    }

    /// `n` exponential numbers of this mean, the reciprocal of the rate: up to 22.9 times the mean.
    #[must_use]
    pub fn exponential(self, n: u64, mean: f32) -> DrawsOf<HostScalar<f32>, Expr<f32>, Expr<f32>> {
        let holds = mean.is_finite() && mean >= 0.0;
        let words = Words::new(self, n, Each::One).require(holds, "mean", "it is negative or not finite");
        (words, scalar(mean)).map(exponential)
    }

    /// `n` indices of a table's weights, each as likely as its weight says.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # use isowarp::random::Discrete;
    /// # let dev = isowarp::Cpu::new();
    /// let table = Discrete::new(&dev, &[1.0, 0.0, 3.0])?;
    /// let drawn = dev.map(Random::new(1).discrete(1000, &table), |x| x)?.read_blocking()?;
    /// let count = |k| drawn.iter().filter(|&&x| x == k).count();
    /// assert!(count(1) == 0 && count(0).abs_diff(250) < 60 && count(0) + count(2) == 1000);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    #[allow(clippy::type_complexity, reason = "an input's type says what it reads")]
    pub fn discrete<B: Backend>(
        self,
        n: u64,
        table: &Discrete<B>,
    ) -> DrawsOf<(Array<'_, B, u32>, HostScalar<u32>), (ArrayExpr<u32>, Expr<u32>), Expr<u32>> {
        let words = Words::new(self, n, Each::Two);
        (words, (array(table.columns()), scalar(table.len()))).map(|(block, (columns, length))| {
            let (column, fraction) = scaled(block.pair(), length);
            let (threshold, alias) = (columns.at(column * 2), columns.at(column * 2 + 1));
            select(fraction.lt(threshold), column, alias)
        })
    }

    /// `n` counts of events, of which so many are expected as the table was made for: one word and one fetch each, where [`poisson`](Self::poisson) has 64 words
    /// and a loop. The counts are other ones than its.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # use isowarp::random::PoissonTable;
    /// # let dev = isowarp::Cpu::new();
    /// let table = PoissonTable::new(&dev, 3.5)?;
    /// let counts = dev.map(Random::new(4).poisson_table(10_000, &table), |k| k)?;
    /// let mean = f64::from(dev.reduce(&counts, Sum).run()?.read_blocking()?) / 10_000.0;
    /// assert!((mean - 3.5).abs() < 0.1);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    #[allow(clippy::type_complexity, reason = "an input's type says what it reads")]
    pub fn poisson_table<B: Backend>(
        self,
        n: u64,
        table: &PoissonTable<B>,
    ) -> DrawsOf<(Array<'_, B, u32>, HostScalar<u32>, HostScalar<u32>), (ArrayExpr<u32>, Expr<u32>, Expr<u32>), Expr<u32>> {
        let of = (array(table.columns()), scalar(table.place()), scalar(table.first()));
        (Words::new(self, n, Each::One), of).map(|(block, of)| poisson_table::count(block.word(), of))
    }

    /// `n` points of the unit circle: `(x, y)`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = dev.map(Random::new(2).circle(100), |(x, y)| (x, y))?;
    /// let radii = dev.map((&x, &y), |(x, y)| (x * x + y * y).sqrt())?.read_blocking()?;
    /// assert!(radii.iter().all(|r| (r - 1.0).abs() < 1e-6));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn circle(self, n: u64) -> Draws<(Expr<f32>, Expr<f32>)> {
        draws(self, n, Each::One, |block| {
            let turn = Turn::of(block.word());
            (turn.cosine(), turn.sine())
        })
    }

    /// `n` points of the unit sphere: `(x, y, z)`, of which `z` is uniform in (-1, 1) as Archimedes found.
    #[must_use]
    pub fn sphere(self, n: u64) -> Draws<(Expr<f32>, Expr<f32>, Expr<f32>)> {
        draws(self, n, Each::Two, |block| {
            let (height, turn) = block.pair();
            let z = signed(height);
            let (radius, turn) = (((1.0 - z) * (1.0 + z)).sqrt(), Turn::of(turn));
            (radius.mul_rn(turn.cosine()), radius.mul_rn(turn.sine()), z)
        })
    }
}
