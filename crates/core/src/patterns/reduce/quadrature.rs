//! Integrals of functions of one variable.

use super::Reduce;
use super::call::one;
use crate::buffer::{Buffer, DeviceScalar};
use crate::error::{Error, Result};
use crate::input::{Source as _, counting, scalar};
use crate::ir::{self, Expr};
use crate::ops::Sum;
use crate::patterns::Map as _;

/// Quadrature: integrals as sums of a function's values, which never lie in memory.
///
/// # Order of evaluation
/// With `h = (b - a) / intervals` (rounded) and `x_i = fma(i, h, a)`, the weighted values are summed in the order of [`Reduce`], and the sum is
/// multiplied by `h` (trapezoid) or `h / 3` (Simpson), rounded. Work O(intervals), in `f32`; scratch as [`Reduce`].
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, chapter 1.
pub trait Quadrature: Reduce {
    /// The integral of `f` from `a` to `b` by the trapezoid rule: the sum of `f(x_i)`, the ends weighted by one half, times `h`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let area = dev.trapezoid(0.0, 2.0, 4, |x| x * x)?; // 0.5 * (0 + 0.25 + 1 + 2.25 + 4 / 2)
    /// assert_eq!(area.read_blocking()?, 2.75);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no intervals or more than 2^24; as [`Call::run`](crate::call::Call::run).
    fn trapezoid(&self, a: f32, b: f32, intervals: u32, f: impl Fn(Expr<f32>) -> Expr<f32>) -> Result<DeviceScalar<Self, f32>> {
        one(self, |out| self.trapezoid_into(a, b, intervals, f, out))
    }

    /// As [`Quadrature::trapezoid`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer(1)?;
    /// dev.trapezoid_into(-1.0, 1.0, 8, |x| x * 3.0 + 0.5, &out)?;
    /// assert_eq!(out.read_blocking()?, [1.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Quadrature::trapezoid`], and [`Error::BufferTooSmall`], [`Error::WrongDevice`].
    fn trapezoid_into(&self, a: f32, b: f32, intervals: u32, f: impl Fn(Expr<f32>) -> Expr<f32>, out: &Buffer<Self, f32>) -> Result<()> {
        integral(self, (a, b, intervals), f, |i, n, y| ir::select(i.eq(0) | i.eq(n), y.mul_rn(0.5), y), 1.0, out)
    }

    /// As [`Quadrature::trapezoid`] by Simpson's rule: weights 1, 4, 2, 4, ..., 4, 1 and the sum times `h / 3`; `intervals` is even.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let area = dev.simpson(0.0, 6.0, 2, |x| x * x)?; // (0 + 4 * 9 + 36) * 3 / 3
    /// assert_eq!(area.read_blocking()?, 72.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Quadrature::trapezoid`], and [`Error::InvalidArgument`] for an odd number of intervals.
    fn simpson(&self, a: f32, b: f32, intervals: u32, f: impl Fn(Expr<f32>) -> Expr<f32>) -> Result<DeviceScalar<Self, f32>> {
        one(self, |out| self.simpson_into(a, b, intervals, f, out))
    }

    /// As [`Quadrature::simpson`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer(1)?;
    /// dev.simpson_into(0.0, 6.0, 2, |x| x * x * x, &out)?;
    /// assert_eq!(out.read_blocking()?, [324.0]); // exact for cubics
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Quadrature::simpson`], and [`Error::BufferTooSmall`], [`Error::WrongDevice`].
    fn simpson_into(&self, a: f32, b: f32, intervals: u32, f: impl Fn(Expr<f32>) -> Expr<f32>, out: &Buffer<Self, f32>) -> Result<()> {
        if !intervals.is_multiple_of(2) {
            return Err(Error::InvalidArgument { what: "intervals", reason: format!("{intervals} is odd") });
        }
        let weigh = |i: Expr<u32>, n: Expr<u32>, y: Expr<f32>| {
            let inner = ir::select((i & 1u32).eq(1), y.mul_rn(4.0), y.mul_rn(2.0));
            ir::select(i.eq(0) | i.eq(n), y, inner)
        };
        integral(self, (a, b, intervals), f, weigh, 3.0, out)
    }
}
impl<B: Reduce> Quadrature for B {}

fn integral<B: Reduce>(
    device: &B,
    (a, b, intervals): (f32, f32, u32),
    f: impl Fn(Expr<f32>) -> Expr<f32>,
    weigh: impl Fn(Expr<u32>, Expr<u32>, Expr<f32>) -> Expr<f32>,
    divisor: f32,
    out: &Buffer<B, f32>,
) -> Result<()> {
    // Above 2^24 an index is no longer exact in f32.
    if intervals == 0 || intervals > 1 << 24 {
        return Err(Error::InvalidArgument { what: "intervals", reason: format!("{intervals} is not in 1..=16777216") });
    }
    let h = (b - a) / intervals as f32;
    let inputs = (counting(u64::from(intervals) + 1), scalar(a), scalar(h), scalar(intervals));
    let points = inputs.map(move |(i, a, h, n)| weigh(i, n, f(i.cast::<f32>() * h + a)));
    device.reduce(points, Sum).write_to(out)?;
    let out = out.slice(..1)?;
    device.map_into((&out, scalar(h / divisor)), |(sum, w)| sum.mul_rn(w), &out)
}
