//! Random numbers of a distribution that is known at run time.

use super::DynBuffer;
use super::call::{Job, Results};
use crate::element::{DType, Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Input, Source as _, array, counting};
use crate::ir::{Expr, select};
use crate::patterns::{Map as _, Patterns, Permutation as _};
use crate::random::{Discrete, Halton, Mrg32k3a, PoissonTable, Random, Sobol, Xorwow};

/// A distribution: see [`Random`].
#[derive(Clone, PartialEq, Debug)]
pub enum Distribution {
    /// All values of `u32` and `u64`, `f32` and `f64` in \[0, 1).
    Uniform,
    /// `f32` and `f64` in (0, 1).
    UniformOpen,
    /// `u32` or `i32` from the first to before the second.
    Integers(i64, i64),
    /// `f32` or `f64` of this mean and deviation.
    Normal(f64, f64),
    /// The same by the quantile function.
    NormalByQuantile(f64, f64),
    /// `f32` whose logarithms have this mean and deviation.
    LogNormal(f32, f32),
    /// `f32` or `f64` of this mean.
    Exponential(f64),
    /// `u32` counts of events of which so many are expected.
    Poisson(f32),
    /// The same from a [`PoissonTable`], which are other counts.
    PoissonTable(f64),
    /// `u32` counts of successes in so many trials of this probability.
    Binomial(u32, f32),
    /// `f32` of this shape and scale.
    Gamma(f32, f32),
    /// `u32` indices of these weights.
    Discrete(Vec<f64>),
    /// The `u32` indices in random order.
    Permutation,
    /// Points of the unit circle, `f32`, one after the other.
    Circle,
    /// Points of the unit sphere.
    Sphere,
    /// Points of [`Sobol`]'s sequence in so many dimensions, from that of the position's number on, `f32`, `f64` or words; scrambled by the seed's stream,
    /// or not.
    Sobol(u32, bool),
    /// Points of [`Halton`]'s sequence likewise; shifted, or not.
    Halton(u32, bool),
    /// Numbers of [`Mrg32k3a`] from this state on, `f32` and `f64` in \[0, 1) or words, in the stream and from the position of the start.
    Mrg32k3a([u32; 6]),
    /// Numbers of [`Xorwow`] as cuRAND's with this seed, in the subsequence of the start's stream and from its position.
    Xorwow {
        /// The seed.
        seed: u64,
        /// Whether they are in the order of `curandGenerate`, whose positions are multiples of [`Xorwow::LANES`].
        interleaved: bool,
        /// `f32` and `f64` in \[0, 1) or words, where it is uniform; else `f32`, normal in one of three ways or exponential.
        of: Box<Self>,
    },
}

impl Distribution {
    /// The element types that it has, of which the first goes without saying.
    #[must_use]
    pub fn dtypes(&self) -> &'static [DType] {
        match self {
            Self::Uniform => &[DType::F32, DType::F64, DType::U32, DType::U64],
            Self::Xorwow { of, .. } if **of != Self::Uniform => &[DType::F32],
            Self::Sobol(..) | Self::Halton(..) | Self::Mrg32k3a(_) | Self::Xorwow { .. } => &[DType::F32, DType::F64, DType::U32],
            Self::Circle | Self::Sphere => &[DType::F32],
            Self::UniformOpen | Self::Normal(..) | Self::NormalByQuantile(..) | Self::Exponential(_) => &[DType::F32, DType::F64],
            Self::Integers(..) => &[DType::I32, DType::U32],
            Self::LogNormal(..) | Self::Gamma(..) => &[DType::F32],
            Self::Poisson(_) | Self::PoissonTable(_) | Self::Binomial(..) | Self::Discrete(_) | Self::Permutation => &[DType::U32],
        }
    }

    /// Numbers of an element: the coordinates of a point.
    #[must_use]
    pub const fn coordinates(&self) -> Option<u32> {
        match self {
            Self::Circle => Some(2),
            Self::Sphere => Some(3),
            Self::Sobol(dimensions, _) | Self::Halton(dimensions, _) => Some(*dimensions),
            _ => None,
        }
    }
}

/// A bound of integers in their type.
fn bound<T: TryFrom<i64>>(x: i64) -> Result<T> {
    T::try_from(x).map_err(|_| Error::InvalidArgument { what: "range", reason: format!("{x} is not of the element type") })
}

/// The start of the stream that scrambles points, and the number of the first point.
fn start(random: Random) -> Result<(Random, u32)> {
    let too_great = |_| Error::TooLarge { what: "number of the first point", requested: random.position, limit: u32::MAX.into() };
    Ok((random.stream(random.stream), random.position.try_into().map_err(too_great)?))
}

fn refused<T>(of: &Distribution, dtype: DType) -> Result<T> {
    Err(Error::InvalidArgument { what: "dtype", reason: format!("the distribution has {:?}, not {dtype}", of.dtypes()) })
}

impl<B: Patterns> Job<'_, B> {
    pub(super) fn random(&self, random: Random, of: &Distribution, n: u64, dtype: DType) -> Result<Results<B>> {
        let [] = self.take()?;
        // Coordinates of the points of a sequence, with its random form.
        macro_rules! coordinates {
            ($sequence:ident, $random:ident, $dimensions:expr, $is_random:expr) => {{
                let (start, first) = start(random)?;
                let points =
                    if $is_random { $sequence::$random(self.device, $dimensions, start) } else { $sequence::new(self.device, $dimensions) };
                let (points, len) = (points?.from(first), n.saturating_mul($dimensions.into()));
                match dtype {
                    DType::F32 => self.stored(len, points.uniform::<f32>(n)),
                    DType::F64 => self.stored(len, points.uniform::<f64>(n)),
                    DType::U32 => self.stored(len, points.uniform::<u32>(n)),
                    _ => refused(of, dtype),
                }
            }};
        }
        match (of, dtype) {
            (Distribution::Uniform, DType::F32) => self.stored(n, random.uniform::<f32>(n)),
            (Distribution::Uniform, DType::F64) => self.stored(n, random.uniform::<f64>(n)),
            (Distribution::Uniform, DType::U32) => self.stored(n, random.uniform::<u32>(n)),
            (Distribution::Uniform, DType::U64) => self.stored(n, random.uniform::<u64>(n)),
            (Distribution::UniformOpen, DType::F32) => self.stored(n, random.uniform_open::<f32>(n)),
            (Distribution::UniformOpen, DType::F64) => self.stored(n, random.uniform_open::<f64>(n)),
            (&Distribution::Integers(low, high), DType::I32) => self.stored(n, random.integers(n, bound::<i32>(low)?..bound(high)?)),
            (&Distribution::Integers(low, high), DType::U32) => self.stored(n, random.integers(n, bound::<u32>(low)?..bound(high)?)),
            (&Distribution::Normal(mean, deviation), DType::F32) => self.stored(n, random.normal(n, mean as f32, deviation as f32)),
            (&Distribution::Normal(mean, deviation), DType::F64) => self.stored(n, random.normal_f64(n, mean, deviation)),
            (&Distribution::NormalByQuantile(mean, deviation), DType::F32) => {
                self.stored(n, random.normal_by_quantile(n, mean as f32, deviation as f32))
            }
            (&Distribution::NormalByQuantile(mean, deviation), DType::F64) => {
                self.stored(n, random.normal_by_quantile_f64(n, mean, deviation))
            }
            (&Distribution::LogNormal(mean, deviation), DType::F32) => self.stored(n, random.log_normal(n, mean, deviation)),
            (&Distribution::Exponential(mean), DType::F32) => self.stored(n, random.exponential(n, mean as f32)),
            (&Distribution::Exponential(mean), DType::F64) => self.stored(n, random.exponential_f64(n, mean)),
            (&Distribution::Poisson(mean), DType::U32) => self.stored(n, random.poisson(n, mean)),
            (&Distribution::PoissonTable(mean), DType::U32) => {
                let table = PoissonTable::new(self.device, mean)?;
                self.stored(n, random.poisson_table(n, &table))
            }
            (&Distribution::Binomial(trials, probability), DType::U32) => self.stored(n, random.binomial(n, trials, probability)),
            (&Distribution::Gamma(shape, scale), DType::F32) => self.stored(n, random.gamma(n, shape, scale)),
            (Distribution::Discrete(weights), DType::U32) => {
                let table = Discrete::new(self.device, weights)?;
                self.stored(n, random.discrete(n, &table))
            }
            (Distribution::Circle, DType::F32) => {
                let (x, y) = self.device.map(random.circle(n), |point| point)?;
                let points = (counting(n.saturating_mul(2)), array(&x), array(&y));
                self.stored(n.saturating_mul(2), points.map(|(i, x, y)| select((i & 1).eq(0), x.at(i >> 1), y.at(i >> 1))))
            }
            (Distribution::Sphere, DType::F32) => {
                let (x, y, z) = self.device.map(random.sphere(n), |point| point)?;
                let points = (counting(n.saturating_mul(3)), array(&x), array(&y), array(&z));
                self.stored(
                    n.saturating_mul(3),
                    points.map(|(i, x, y, z)| {
                        let point = i / 3;
                        let at = i - point * 3;
                        select(at.eq(0), x.at(point), select(at.eq(1), y.at(point), z.at(point)))
                    }),
                )
            }
            (&Distribution::Sobol(dimensions, is_random), _) => coordinates!(Sobol, scrambled, dimensions, is_random),
            (&Distribution::Halton(dimensions, is_random), _) => coordinates!(Halton, shifted, dimensions, is_random),
            (&Distribution::Mrg32k3a(state), _) => {
                let from = Mrg32k3a::new(self.device, state)?.stream(random.stream).skip(random.position);
                match dtype {
                    DType::F32 => self.stored(n, from.uniform::<f32>(n)),
                    DType::F64 => self.stored(n, from.uniform::<f64>(n)),
                    DType::U32 => self.stored(n, from.uniform::<u32>(n)),
                    _ => refused(of, dtype),
                }
            }
            (Distribution::Xorwow { seed, interleaved, of }, _) => self.xorwow(random, (*seed, *interleaved), of, n, dtype),
            (Distribution::Permutation, DType::U32) => Ok(DynBuffer::from(self.device.permutation(random, n)?).into()),
            _ => refused(of, dtype),
        }
    }

    fn xorwow(&self, random: Random, (seed, interleaved): (u64, bool), of: &Distribution, n: u64, dtype: DType) -> Result<Results<B>> {
        let lanes = if interleaved { Xorwow::<B>::LANES } else { 1 };
        if !random.position.is_multiple_of(lanes) {
            let reason = format!("numbers of {lanes} subsequences in turn begin at a multiple of {lanes}, not at {}", random.position);
            return Err(Error::InvalidArgument { what: "position", reason });
        }
        let from = Xorwow::new(self.device, seed)?.subsequence(random.stream).skip(random.position / lanes);
        let from = if interleaved { from.interleaved() } else { from };
        match (of, dtype) {
            (Distribution::Uniform, DType::F32) => self.stored(n, from.uniform::<f32>(n)?),
            (Distribution::Uniform, DType::F64) => self.stored(n, from.uniform::<f64>(n)?),
            (Distribution::Uniform, DType::U32) => self.stored(n, from.uniform::<u32>(n)?),
            (&Distribution::Normal(mean, deviation), DType::F32) => self.stored(n, from.normal(n, mean as f32, deviation as f32)?),
            (&Distribution::NormalByQuantile(mean, deviation), DType::F32) => {
                self.stored(n, from.normal_by_quantile(n, mean as f32, deviation as f32)?)
            }
            (&Distribution::LogNormal(mean, deviation), DType::F32) => self.stored(n, from.log_normal(n, mean, deviation)?),
            (&Distribution::Exponential(mean), DType::F32) => self.stored(n, from.exponential(n, mean as f32)?),
            _ => refused(of, dtype),
        }
    }

    pub(super) fn stored<I: Input<B, Exprs = Expr<T>>, T: Scalar + Element<Reg = T>>(&self, n: u64, draw: I) -> Result<Results<B>> {
        self.into(n, |out| self.device.map_into(draw, |x| x, out))
    }
}
