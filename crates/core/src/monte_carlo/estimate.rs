//! Means of samples, with their errors.

use super::options::Contract;
use crate::buffer::Memory as _;
use crate::error::{Error, Result};
use crate::input::{Input, Source as _, array};
use crate::ir::{ArrayExpr, Expr, lit};
use crate::patterns::map::collect;
use crate::patterns::{Map, Reduce};
use crate::random::{Attempts, Random, Sobol, fraction};

/// A mean and its error.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The mean; NaN of no samples.
    pub mean: f64,
    /// Standard deviation of the mean, as estimated; infinite of fewer than two samples. Squares of samples are numbers of `f32`: of samples above 1e19 it is
    /// not finite, of ones below 1e-22 zero.
    pub standard_error: f64,
    /// Samples.
    pub n: u64,
}

impl Estimate {
    /// Of the sum of samples and of their squares.
    fn of_sums(n: u64, sum: f64, squares: f64) -> Self {
        let count = n as f64;
        let mean = sum / count;
        let squares = squares - sum * mean;
        // Below zero by its rounding; NaN where squares leave their range.
        let variance = if squares < 0.0 { 0.0 } else { squares } / (count - 1.0);
        Self { mean, standard_error: if n < 2 { f64::INFINITY } else { (variance / count).sqrt() }, n }
    }

    /// The mean of independent estimates that have errors of one size, by how far they lie apart.
    #[must_use]
    pub fn of_means(means: &[f64]) -> Self {
        let sum: f64 = means.iter().sum();
        let mean = sum / means.len() as f64;
        // Distances from the mean, whose squares are small.
        let squares: f64 = means.iter().map(|x| (x - mean).powi(2)).sum();
        Self { mean, ..Self::of_sums(means.len() as u64, 0.0, squares) }
    }

    /// A linear function of it.
    #[must_use]
    pub fn scaled(self, factor: f64, plus: f64) -> Self {
        Self { mean: self.mean * factor + plus, standard_error: self.standard_error * factor.abs(), ..self }
    }
}

/// `(high, low)`: their sum is the value, and `high` that rounded.
type Double = (Expr<f32>, Expr<f32>);

/// Rounded sum, and what rounding took off (Knuth).
fn exact_sum(a: Expr<f32>, b: Expr<f32>) -> Double {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

fn add(a: Double, b: Double) -> Double {
    let (high, low) = exact_sum(a.0, b.0);
    let low = low + (a.1 + b.1);
    let sum = high + low;
    (sum, low - (sum - high))
}

/// Estimates of expected values.
///
/// Samples are inputs of `f32`, such as functions of [random numbers](crate::random), computed where they are read: nothing is stored. They and their squares,
/// which are exact, are summed in one reduction, each as the unrounded sum of two `f32`, in the order of a [`Reduce`]: 48 digits on every device, whether or
/// not it has `f64`. Mean and error are made of the sums in `f64` on the host. Work O(n), scratch as a reduction.
///
/// Source: Knuth, *The Art of Computer Programming*, volume 2, 4.2.2; Dekker, *A floating-point technique for extending the available precision* (1971).
pub trait MonteCarlo: Reduce + Map {
    /// Mean and standard error of independent samples, which are waited for. Two draws of different streams are more numbers than some devices take in a
    /// kernel; [`integrate`](Self::integrate) draws points at once.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// use isowarp::monte_carlo::MonteCarlo;
    /// # let dev = isowarp::Cpu::new();
    /// // The mean of a log-normal distribution is the root of e.
    /// let found = dev.estimate(Random::new(4).normal(1 << 20, 0.0, 1.0).map(|z| z.exp()))?;
    /// assert!((found.mean - 0.5f64.exp()).abs() < 3.0 * found.standard_error && found.standard_error < 0.003, "{found:?}");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] of no samples; as [`Call::run`](crate::call::Call::run).
    fn estimate<I: Input<Self, Exprs = Expr<f32>>>(&self, samples: I) -> Result<Estimate> {
        let n = collect(self, "estimate", &samples)?.len()?;
        if n == 0 {
            return Err(Error::Empty { pattern: "estimate" });
        }
        let parts = samples.map(|x| {
            let square = x.mul_rn(x);
            ((x, lit(0f32)), (square, x.mul_add(x, -square)))
        });
        let sums = self.buffer::<f32>(4)?;
        let [a, b, c, d] = [sums.slice(..1)?, sums.slice(1..2)?, sums.slice(2..3)?, sums.slice(3..)?];
        self.reduce_by(parts, |a, b| (add(a.0, b.0), add(a.1, b.1))).write_to(((&a, &b), (&c, &d)))?;
        let sums: Vec<f64> = sums.read_blocking()?.into_iter().map(f64::from).collect();
        Ok(Estimate::of_sums(n, sums[0] + sums[1], sums[2] + sums[3]))
    }

    /// The integral of `f` over a box of up to 64 dimensions, from `n` points in it at random. The coordinates of point `i` are uniform `f32` in \[0, 1) of the
    /// first words of the `i`-th of `n` elements of 4, 8, 16, 32 or 64 words, as many as are needed.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// use isowarp::monte_carlo::MonteCarlo;
    /// # let dev = isowarp::Cpu::new();
    /// // Volume of the ball of radius 1 in five dimensions.
    /// let inside = |x: &[Expr<f32>]| x.iter().fold(lit(0f32), |sum, &x| sum + x * x).lt(1.0).select(1.0, 0.0);
    /// let found = dev.integrate(&[(-1.0, 1.0); 5], 1 << 18, Random::new(1), inside)?;
    /// assert!((found.mean - 8.0 / 15.0 * std::f64::consts::PI.powi(2)).abs() < 3.0 * found.standard_error);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for bounds that are not finite, no dimension or more than 64, and a stream that ends; as [`estimate`](Self::estimate).
    fn integrate(&self, bounds: &[(f32, f32)], n: u64, random: Random, f: impl Fn(&[Expr<f32>]) -> Expr<f32>) -> Result<Estimate> {
        check_bounds(bounds, 64)?;
        let dimensions = bounds.len() as u32;
        let blocks = dimensions.div_ceil(4).next_power_of_two();
        let draw = Attempts::new(random, n, blocks.ilog2());
        let place = self.upload(&placed(bounds))?;
        let values = (draw, array(&place)).map(|(blocks, place)| {
            let words = (0..dimensions.div_ceil(4)).flat_map(|k| blocks.block(lit(k)));
            let point: Vec<_> = (0..dimensions).zip(words).map(|(j, word)| inside(fraction(word), place, j)).collect();
            f(&point)
        });
        Ok(self.estimate(values)?.scaled(volume(bounds), 0.0))
    }

    /// The integral of `f` over a box of up to 1024 dimensions, from `n` points of [scrambled](Sobol::scrambled) Sobol sequences, of which there are
    /// `scrambles`, of the generators that are [split](Random::split) off. The error is that of their means, which are independent: it falls almost as 1/n where
    /// `f` is smooth, and points are best powers of two.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// use isowarp::monte_carlo::MonteCarlo;
    /// # let dev = isowarp::Cpu::new();
    /// let product = |x: &[Expr<f32>]| x[0] * x[1] * x[2];
    /// let found = dev.integrate_sobol(&[(0.0, 2.0); 3], 1 << 10, 8, Random::new(1), product)?;
    /// assert!((found.mean - 8.0).abs() < 4.0 * found.standard_error && found.standard_error < 0.005, "{found:?}");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate), and of no scrambles [`Error::Empty`]; [`Error::TooLarge`] for more than 2^32 points.
    fn integrate_sobol(
        &self,
        bounds: &[(f32, f32)],
        n: u64,
        scrambles: u32,
        random: Random,
        f: impl Fn(&[Expr<f32>]) -> Expr<f32>,
    ) -> Result<Estimate> {
        check_bounds(bounds, crate::random::MAX_DIMENSIONS as usize)?;
        if scrambles == 0 {
            return Err(Error::Empty { pattern: "integrate_sobol" });
        }
        let place = self.upload(&placed(bounds))?;
        let mean = |k: u32| {
            let sobol = Sobol::scrambled(self, bounds.len() as u32, random.split(k))?;
            let values = (sobol.points(n), array(&place)).map(|(point, place)| {
                let point: Vec<_> = (0..bounds.len() as u32).map(|j| inside(fraction(point.looped(j)), place, j)).collect();
                f(&point)
            });
            self.estimate(values).map(|of| of.mean)
        };
        let means = (0..scrambles).map(mean).collect::<Result<Vec<f64>>>()?;
        Ok(Estimate { n: n * u64::from(scrambles), ..Estimate::of_means(&means).scaled(volume(bounds), 0.0) })
    }

    /// The price of an option, from so many paths; see [`options`](super::options). That of an arithmetic average has the
    /// [formula](Contract::closed_form) of the geometric one in it, with the host's last digits.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers that are negative, NaN or infinite, also as `f32`, no steps, and a stream that ends; [`Error::TooLarge`] for more
    /// than 2^16 steps; as [`estimate`](Self::estimate).
    fn price(&self, option: &Contract, paths: u64, random: Random) -> Result<Estimate> {
        super::options::price(self, *option, paths, random)
    }
}
impl<B: Reduce + Map> MonteCarlo for B {}

fn check_bounds(bounds: &[(f32, f32)], limit: usize) -> Result<()> {
    let refuse = |reason: String| Err(Error::InvalidArgument { what: "bounds", reason });
    if bounds.is_empty() || bounds.len() > limit {
        return refuse(format!("{} dimensions; there is one at least, and {limit} at most", bounds.len()));
    }
    match bounds.iter().position(|(low, high)| !(low.is_finite() && high.is_finite() && (high - low).is_finite())) {
        Some(j) => refuse(format!("those of dimension {j} are {:?}", bounds[j])),
        None => Ok(()),
    }
}

/// Lower ends and widths.
fn placed(bounds: &[(f32, f32)]) -> Vec<f32> {
    bounds.iter().flat_map(|&(low, high)| [low, high - low]).collect()
}

/// The coordinate of a fraction of a side.
fn inside(fraction: Expr<f32>, place: ArrayExpr<f32>, j: u32) -> Expr<f32> {
    fraction.mul_add(place.at(lit(2 * j + 1)), place.at(lit(2 * j)))
}

/// The volume of the box of widths that are rounded.
fn volume(bounds: &[(f32, f32)]) -> f64 {
    bounds.iter().map(|&(low, high)| f64::from(high - low)).product()
}
