//! Integrals of functions of one variable.

use super::Reduce;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::error::{Error, Result};
use crate::input::{Source as _, counting, scalar};
use crate::ir::{self, Expr};
use crate::ops::Sum;
use crate::patterns::Map as _;
use core::fmt;

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
    /// let area = dev.trapezoid(0.0, 2.0, 4, |x| x * x).run()?; // 0.5 * (0 + 0.25 + 1 + 2.25 + 4 / 2)
    /// assert_eq!(area.read_blocking()?, 2.75);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn trapezoid<F: Fn(Expr<f32>) -> Expr<f32>>(&self, a: f32, b: f32, intervals: u32, f: F) -> Integral<'_, Self, F> {
        Integral { device: self, bounds: (a, b), intervals, f, rule: Rule::Trapezoid }
    }

    /// As [`Quadrature::trapezoid`] by Simpson's rule: weights 1, 4, 2, 4, ..., 4, 1 and the sum times `h / 3`; `intervals` is even.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let area = dev.simpson(0.0, 6.0, 2, |x| x * x).run()?; // (0 + 4 * 9 + 36) * 3 / 3
    /// assert_eq!(area.read_blocking()?, 72.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn simpson<F: Fn(Expr<f32>) -> Expr<f32>>(&self, a: f32, b: f32, intervals: u32, f: F) -> Integral<'_, Self, F> {
        Integral { device: self, bounds: (a, b), intervals, f, rule: Rule::Simpson }
    }
}
impl<B: Reduce> Quadrature for B {}

/// A rule of quadrature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    Trapezoid,
    Simpson,
}

/// A call that integrates a function: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. See [`Quadrature::trapezoid`].
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct Integral<'d, B, F> {
    device: &'d B,
    bounds: (f32, f32),
    intervals: u32,
    f: F,
    rule: Rule,
}

impl<B, F> fmt::Debug for Integral<'_, B, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bounds, intervals, rule, .. } = self;
        f.debug_struct("Integral").field("bounds", bounds).field("intervals", intervals).field("rule", rule).finish_non_exhaustive()
    }
}

impl<B: Reduce, F: Fn(Expr<f32>) -> Expr<f32>> Integral<'_, B, F> {
    /// Enqueues the call into new memory, which it returns.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no intervals or more than 2^24, or, by Simpson's rule, an odd number of them; as
    /// [`Call::run`](crate::call::Call::run).
    pub fn run(self) -> Result<DeviceScalar<B, f32>> {
        let out = self.device.buffer(1)?;
        self.write_to(&out)?;
        DeviceScalar::from_buffer(out)
    }

    /// Enqueues the call into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer(1)?;
    /// dev.simpson(0.0, 6.0, 2, |x| x * x * x).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [324.0]); // exact for cubics
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::BufferTooSmall`], [`Error::WrongDevice`].
    pub fn write_to(self, out: &Buffer<B, f32>) -> Result<()> {
        let Self { device, bounds, intervals, f, rule } = self;
        let bounds = (bounds.0, bounds.1, intervals);
        if rule == Rule::Trapezoid {
            return integral(device, bounds, f, |i, n, y| ir::select(i.eq(0) | i.eq(n), y.mul_rn(0.5), y), 1.0, out);
        }
        if !intervals.is_multiple_of(2) {
            return Err(Error::InvalidArgument { what: "intervals", reason: format!("{intervals} is odd") });
        }
        let weigh = |i: Expr<u32>, n: Expr<u32>, y: Expr<f32>| {
            let inner = ir::select((i & 1u32).eq(1), y.mul_rn(4.0), y.mul_rn(2.0));
            ir::select(i.eq(0) | i.eq(n), y, inner)
        };
        integral(device, bounds, f, weigh, 3.0, out)
    }
}

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
