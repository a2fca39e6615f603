//! Distributions whose elements take as many attempts as they need: a loop over an element's own words, so that each is a function of its place all the same.

use super::Random;
use super::attempts::{Attempts, Blocks, SIXTEEN};
use super::draws::{above_zero, signed};
use super::one_mean::PoissonCounts;
use super::turns::Turn;
use crate::input::{HostScalar, Mapped, Source, scalar};
use crate::ir::{Expr, branch, lit, next_until, next_while, repeat, select};

/// A draw with parameters `P`, whose values are `X`, as an input.
pub type AttemptsOf<P, X, R> = Mapped<(Attempts, P), fn((Blocks, X)) -> R>;

/// Expected counts below which they are found by inversion.
pub(super) const FEW: f32 = 10.0;

/// Turns of an inversion, which needs some sixty at most.
pub(super) const SEARCHED: u32 = 128;

/// Attempts of two words, and of a block. Of either one in 10^20 draws takes more, and keeps its last.
pub(super) const PAIRS: u32 = 32;
const TRIPLES: u32 = 15;

/// The greatest parameter of counts: whole numbers up to here are `f32`.
const MOST: f32 = 16_777_216.0;

/// Inversion: how many probabilities, beginning with `first`, a uniform number is above the sum of. `ratio` gives the next probability over the one of `k - 1`.
/// A tail of less than 2^-32 is one count.
fn inverted(u: Expr<f32>, first: Expr<f32>, mean: Expr<f32>, ratio: impl Fn(Expr<f32>) -> Expr<f32>) -> Expr<u32> {
    let (k, ..) = repeat(SEARCHED, (lit(0f32), first, u), |(k, p, u)| {
        let go = u.gt(p) & (k.lt(mean) | p.gt(2f32.powi(-32)));
        let next = k + 1.0;
        next_while(go, (next, p.mul_rn(ratio(next)), u - p))
    });
    k.cast()
}

/// The two words of an attempt.
fn pair(blocks: &Blocks, attempt: Expr<u32>) -> (Expr<u32>, Expr<u32>) {
    let [a, b, c, d] = blocks.block(attempt >> 1);
    let second = (attempt & 1).ne(0);
    (select(second, c, a), select(second, d, b))
}

/// `ln(k!) - ln(sqrt(2 pi k) (k/e)^k)` by Stirling's series.
fn stirling(k: Expr<f32>) -> Expr<f32> {
    let r = 1.0 / k;
    let rr = r * r;
    r * (rr * (rr * (1.0 / 1260.0) - 1.0 / 360.0) + 1.0 / 12.0)
}

/// Loader's deviance `k ln(k/x) + x - k` of `k = x + d`, without the difference of large numbers that this is written as.
fn deviance(k: Expr<f32>, x: Expr<f32>, d: Expr<f32>) -> Expr<f32> {
    let v = d / (k + x);
    branch(
        v.abs().lt(0.1),
        || {
            let vv = v * v;
            let series = vv * (vv * (vv * (vv * (1.0 / 9.0) + 1.0 / 7.0) + 1.0 / 5.0) + 1.0 / 3.0);
            d.mul_rn(v) + (k * v * 2.0) * series
        },
        || k * (k / x).ln() - d,
    )
}

/// Hörmann's transformed rejection: the first of the attempts' `d = floor((2 a / us + b) u + shift)` that is taken at once or by the logarithm of the density at
/// `d`, as a part of that of the hat's middle.
pub(super) struct Transformed {
    a: Expr<f32>,
    b: Expr<f32>,
    /// Constant of the hat.
    alpha: Expr<f32>,
    /// Bound of `v` below which it is taken at once.
    inside: Expr<f32>,
    shift: Expr<f32>,
}

/// An attempt.
pub(super) struct Attempt {
    /// The outcome, less the middle's.
    pub(super) d: Expr<f32>,
    /// Whether it is taken without a look at the density.
    pub(super) at_once: Expr<bool>,
    /// Whether it may be taken at all.
    pub(super) possible: Expr<bool>,
    /// Bound of the density whose logarithm is compared.
    pub(super) bound: Expr<f32>,
}

impl Transformed {
    /// The hat over a Poisson distribution.
    pub(super) fn poisson(rate: Expr<f32>) -> Self {
        let b = rate.sqrt() * 2.53 + 0.931;
        let a = b * 0.02483 - 0.059;
        Self { a, b, alpha: 1.1328 / (b - 3.4) + 1.1239, inside: 0.9277 - 3.6224 / (b - 2.0), shift: rate - rate.floor() + 0.43 }
    }

    /// The attempt of two words, which are Hörmann's `u` in (-1/2, 1/2) and `v` in (0, 1].
    pub(super) fn attempt(&self, (first, second): (Expr<u32>, Expr<u32>)) -> Attempt {
        let (u, v) = (signed(first) * 0.5, above_zero(second));
        let us = 0.5 - u.abs();
        Attempt {
            d: ((self.a * 2.0 / us + self.b) * u + self.shift).floor(),
            at_once: us.ge(0.07) & v.le(self.inside),
            possible: !(us.lt(0.013) & v.gt(us)),
            bound: v * self.alpha / (self.a / (us * us) + self.b),
        }
    }

    fn draw(&self, blocks: &Blocks, range: impl Fn(Expr<f32>) -> Expr<bool>, density: impl Fn(Expr<f32>) -> Expr<f32>) -> Expr<f32> {
        let (_, d) = repeat(PAIRS, (lit(0u32), lit(0f32)), |(attempt, _)| {
            let Attempt { d, at_once, possible, bound } = self.attempt(pair(blocks, attempt));
            let possible = range(d) & possible;
            let taken = branch(at_once, || lit(1u32), || (possible & bound.ln().le(density(d))).cast());
            next_until(taken.ne(0), (attempt + 1, d))
        });
        d
    }
}

/// Logarithm of the Poisson distribution's density at `floor(rate) + d`.
pub(super) fn poisson_density(rate: Expr<f32>, d: Expr<f32>) -> Expr<f32> {
    let base = rate.floor();
    let k = (base + d).max(1.0);
    let by_series = (k * core::f32::consts::TAU).ln() * -0.5 - stirling(k) - deviance(k, rate, d - (rate - base));
    select((base + d).ge(1.0), by_series, -rate)
}

/// The Poisson number of a word.
pub(super) fn inversion(word: Expr<u32>, rate: Expr<f32>) -> Expr<u32> {
    inverted(above_zero(word), (-rate).exp(), rate, |k| rate / k)
}

pub(super) fn poisson((blocks, rate): (Blocks, Expr<f32>)) -> Expr<u32> {
    let few = || inversion(blocks.block(lit(0))[0], rate);
    let many = || {
        let base = rate.floor();
        let d = Transformed::poisson(rate).draw(&blocks, |d| (base + d).ge(0.0), |d| poisson_density(rate, d));
        (base + d).cast()
    };
    branch(rate.lt(FEW), few, many)
}

fn binomial((blocks, (trials, probability)): (Blocks, (Expr<f32>, Expr<f32>))) -> Expr<u32> {
    // Of the outcome that is less likely.
    let flipped = probability.gt(0.5);
    let (p, q) = (select(flipped, 1.0 - probability, probability), select(flipped, probability, 1.0 - probability));
    let mean = trials * p;
    let few = || {
        let [word, ..] = blocks.block(lit(0));
        let odds = p / q;
        inverted(above_zero(word), (trials * (-p).ln_1p()).exp(), mean, |k| (trials - k + 1.0) / k * odds).cast()
    };
    let many = || {
        let spread = (mean * q).sqrt();
        let b = spread * 2.53 + 1.15;
        let a = b * 0.0248 + p * 0.01 - 0.0873;
        let base = mean.floor();
        let (part, rest) = (mean - base, trials * q);
        // Logarithm of the density, but for what is the same for all counts.
        let density = |d: Expr<f32>| {
            let (k, others) = ((base + d).max(1.0), (trials - base - d).max(1.0));
            let away = d - part;
            (k * (others / trials)).ln() * -0.5 - stirling(k) - stirling(others) - deviance(k, mean, away) - deviance(others, rest, -away)
        };
        let mode = ((trials + 1.0) * p).floor() - base;
        let at_mode = density(mode);
        let hat = Transformed { a, b, alpha: (5.1 / b + 2.83) * spread, inside: 0.92 - 4.2 / b, shift: part + 0.5 };
        let inside = |d: Expr<f32>| (base + d).ge(0.0) & (base + d).le(trials);
        base + hat.draw(&blocks, inside, |d| density(d) - at_mode)
    };
    let k = branch(mean.lt(FEW), few, many);
    select(flipped, trials - k, k).cast()
}

/// Marsaglia and Tsang's method; of shapes below 1 the draw of a shape that is 1 more, times a power of a uniform number.
fn gamma((blocks, (shape, scale)): (Blocks, (Expr<f32>, Expr<f32>))) -> Expr<f32> {
    let boosted = shape.lt(1.0);
    let d = select(boosted, shape + 1.0, shape) - 1.0 / 3.0;
    let c = 1.0 / (d * 9.0).sqrt();
    let (_, v) = repeat(TRIPLES, (lit(0u32), lit(1f32)), |(attempt, _)| {
        let [radius, turn, word, _] = blocks.block(attempt);
        let x = ((above_zero(radius).ln().abs() * 2.0).sqrt()).mul_rn(Turn::of(turn).sine());
        let root = c.mul_rn(x) + 1.0;
        let v = root.mul_rn(root).mul_rn(root);
        // ln(v) where there is none is not looked at.
        let bound = x.mul_rn(x) * 0.5 + d.mul_rn(1.0 - v + v.max(f32::MIN_POSITIVE).ln());
        let taken = root.gt(0.0) & above_zero(word).ln().lt(bound);
        next_until(taken, (attempt + 1, v))
    });
    let whole = d.mul_rn(v).mul_rn(scale);
    branch(
        boosted,
        || {
            let [.., word] = blocks.block(lit(TRIPLES));
            whole.mul_rn((above_zero(word).ln() / shape).exp())
        },
        || whole,
    )
}

impl Random {
    /// `n` counts of events of which this many are expected, up to 2^24: by inversion below 10, by Hörmann's transformed rejection (*PTRS*, 1993) above. An
    /// element has 64 words.
    ///
    /// Long draws compare with a table of the mean, of 256 bytes and some, which the host makes; their counts are the same.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let counts = dev.map(Random::new(4).poisson(10_000, 3.5), |k| k)?;
    /// let mean = f64::from(dev.reduce(&counts, Sum).run()?.read_blocking()?) / 10_000.0;
    /// assert!((mean - 3.5).abs() < 0.1);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn poisson(self, n: u64, mean: f32) -> PoissonCounts {
        let words =
            Attempts::new(self, n, SIXTEEN).require((0.0..=MOST).contains(&mean), "mean", "it is negative, not a number, or above 2^24");
        PoissonCounts::new(words, n, mean)
    }

    /// The same of an input's means, one to an element: noise of an image that counts photons, for instance. Of a mean that is negative, not a number, or above
    /// 2^24 the count is not determined, and the same on every device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let light = dev.upload(&[0.0f32, 2.0, 1000.0])?;
    /// let seen = dev.map(Random::new(8).poisson_of(3, &light), |k| k)?.read_blocking()?;
    /// assert!(seen[0] == 0 && seen[1] < 20 && seen[2].abs_diff(1000) < 200);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn poisson_of<I: Source<Exprs = Expr<f32>>>(self, n: u64, means: I) -> AttemptsOf<I, Expr<f32>, Expr<u32>> {
        (Attempts::new(self, n, SIXTEEN), means).map(poisson)
    }

    /// `n` counts of successes in so many trials, at most 2^24, each of this probability: by inversion where fewer than 10 are expected of the rarer outcome,
    /// by Hörmann's transformed rejection (*BTRS*, 1993) else. An element has 64 words.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let heads = dev.map(Random::new(6).binomial(1000, 40, 0.5), |k| k)?.read_blocking()?;
    /// assert!(heads.iter().all(|&k| k <= 40) && heads.iter().sum::<u32>().abs_diff(20_000) < 500);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    #[allow(clippy::type_complexity, reason = "an input's type says what it reads")]
    pub fn binomial(
        self,
        n: u64,
        trials: u32,
        probability: f32,
    ) -> AttemptsOf<(HostScalar<f32>, HostScalar<f32>), (Expr<f32>, Expr<f32>), Expr<u32>> {
        let words = Attempts::new(self, n, SIXTEEN).require(trials <= MOST as u32, "trials", "there are more than 2^24").require(
            (0.0..=1.0).contains(&probability),
            "probability",
            "it is not in [0, 1]",
        );
        (words, (scalar(trials as f32), scalar(probability))).map(binomial)
    }

    /// `n` numbers of the gamma distribution of this shape and scale, whose mean is their product: by Marsaglia and Tsang's method (2000). An element has 64
    /// words.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let waits = dev.map(Random::new(9).gamma(10_000, 2.5, 2.0), |x| x)?;
    /// assert!((dev.mean(&waits)?.read_blocking()? - 5.0).abs() < 0.2);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    #[allow(clippy::type_complexity, reason = "an input's type says what it reads")]
    pub fn gamma(
        self,
        n: u64,
        shape: f32,
        scale: f32,
    ) -> AttemptsOf<(HostScalar<f32>, HostScalar<f32>), (Expr<f32>, Expr<f32>), Expr<f32>> {
        let words = Attempts::new(self, n, SIXTEEN)
            .require(shape.is_finite() && shape > 0.0, "shape", "it is not above zero, or not finite")
            .require(scale.is_finite() && scale >= 0.0, "scale", "it is negative or not finite");
        (words, (scalar(shape), scalar(scale))).map(gamma)
    }
}
