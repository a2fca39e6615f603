//! Order statistics: the median and percentiles.

use super::{Sort, SortTask};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{Element, Float, Num};
use crate::error::{Error, Result};
use crate::input::{Input, array, scalar};
use crate::ir::{Expr, lit, select};
use crate::ops::float_as;
use crate::patterns::{Map as _, MapTask};

/// Medians and percentiles.
///
/// They are read off a [sort](Sort::sort): what lies between two elements is interpolated. With x of n elements in order, the percentile p is at
/// `h = p / 100 * (n - 1)`, computed in `f64`: with `t` the part of h behind the point, rounded to the element's type, and a, b the elements on either
/// side, it is `a + (b - a) * t` fused as every product beside a sum, `b - (b - a) * (1 - t)` for t from 1/2 on, and a where t is 0 or a = b. Of two neighbours of which one is
/// infinite it is the infinite one, of two infinities the lower. If any element is NaN, so is every percentile. This is the method `linear` of NumPy.
///
/// Work and scratch are those of the sort, and a copy of the input.
///
/// Source: Hyndman and Fan, *Sample quantiles in statistical packages* (1996), definition 7.
pub trait Quantiles: Sort + Run<MapTask> {
    /// The median: the middle element of those in order, or what is halfway between the middle two.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[9.0f32, 1.0, 4.0, 2.0])?;
    /// assert_eq!(dev.median(&x)?.read_blocking()?, 3.0);
    /// assert_eq!(dev.median(x.map(|x| x * x))?.read_blocking()?, 10.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Quantiles::percentiles`].
    fn median<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Float + Num>(&self, x: I) -> Result<DeviceScalar<Self, T>> {
        DeviceScalar::from_buffer(self.percentiles(x, &[50.0])?)
    }

    /// Percentiles of all elements, one for each number in `percents`, which are from 0 to 100 and in any order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[50.0f64, 10.0, 30.0, 20.0, 40.0])?;
    /// assert_eq!(dev.percentiles(&x, &[0.0, 90.0, 100.0])?.read_blocking()?, [10.0, 46.0, 50.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty input; [`Error::InvalidArgument`] for a number that is no percentage; as [`SortCall::run`](super::SortCall::run).
    fn percentiles<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Float + Num>(
        &self,
        x: I,
        percents: &[f64],
    ) -> Result<Buffer<Self, T>> {
        if let Some(p) = percents.iter().find(|p| !(0.0..=100.0).contains(*p)) {
            return Err(Error::InvalidArgument { what: "percents", reason: format!("{p} is not from 0 to 100") });
        }
        let values = self.map(x, |x| x)?;
        if values.is_empty() {
            return Err(Error::Empty { pattern: "percentiles" });
        }
        self.sort(&values).in_place()?;
        // A sort has less than 2^32 elements.
        let last = values.len() - 1;
        let places: Vec<f64> = percents.iter().map(|p| p / 100.0 * last as f64).collect();
        let below: Vec<u32> = places.iter().map(|h| h.floor() as u32).collect();
        let part: Vec<T> = places.iter().map(|h| float_as(h.fract())).collect();
        let (below, part) = (self.upload(&below)?, self.upload(&part)?);
        self.map((&below, &part, array(&values), scalar(last as u32)), |(i, t, x, last)| {
            let (a, b) = (x.at(i), x.at((i + 1u32).min(last)));
            // In order, NaN stand at either end.
            let any_nan = x.at(0u32).is_nan() | x.at(last).is_nan();
            select(any_nan, lit(float_as::<T>(f64::NAN)), between(a, b, t))
        })
    }
}
impl<B: Run<SortTask> + Run<MapTask>> Quantiles for B {}

/// Interpolates: the part `t` of the way from `a` to `b`, which is not less.
fn between<T: Float + Num>(a: Expr<T>, b: Expr<T>, t: Expr<T>) -> Expr<T> {
    let of = |x: f64| lit(float_as::<T>(x));
    let way = b - a;
    let inside = select(t.lt(of(0.5)), a + way * t, b - way * (of(1.0) - t));
    let infinite = |x: Expr<T>| x.abs().eq(of(f64::INFINITY));
    let at_end = t.eq(of(0.0)) | a.eq(b) | infinite(a);
    select(at_end, a, select(infinite(b), b, inside))
}
