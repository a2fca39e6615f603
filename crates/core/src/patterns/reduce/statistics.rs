//! Reductions that have names of their own: extremes and where they stand, means, norms.

use super::Reduce;
use super::call::one;
use crate::buffer::{Buffer, DeviceScalar};
use crate::element::{Element, Float, Num};
use crate::error::{Error, Result};
use crate::input::{Input, Source as _, scalar};
use crate::ir::Expr;
use crate::ops::{Max, Min, Sum};
use crate::patterns::Map as _;

type Pair<T> = (Expr<T>, Expr<T>);

/// Extremes, means, norms and distances of all elements.
///
/// Everything here is a [`Reduce`]: in its order of evaluation, with its work, scratch and sources. The `_into` forms write the first element of the
/// caller's buffers, which may not overlap the inputs. Extremes take every type that can be added, the others floats; types narrower than 32 bits are
/// [cast](crate::patterns::Map::cast) first, or mapped to `f32`.
pub trait Statistics: Reduce {
    /// The lowest index of the least element; see [`with_index`](crate::call::Call::with_index).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.5f32, f32::INFINITY, -2.0, -2.0])?;
    /// assert_eq!(dev.argmin(&x)?.read_blocking()?, 2);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty input; [`Error::TooLarge`] for more than 2^32 elements; as [`Call::run`](crate::call::Call::run).
    fn argmin<I: Input<Self, Exprs = Expr<T>>, T: Num>(&self, inputs: I) -> Result<DeviceScalar<Self, u32>> {
        self.reduce(inputs, Min).index().run()
    }

    /// The lowest index of the greatest element; see [`with_index`](crate::call::Call::with_index).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.5f32, f32::NAN, 9.0, f32::NAN])?;
    /// assert_eq!(dev.argmax(&x)?.read_blocking()?, 1); // NaN wins
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty input; [`Error::TooLarge`] for more than 2^32 elements; as [`Call::run`](crate::call::Call::run).
    fn argmax<I: Input<Self, Exprs = Expr<T>>, T: Num>(&self, inputs: I) -> Result<DeviceScalar<Self, u32>> {
        self.reduce(inputs, Max).index().run()
    }

    /// The least and the greatest element, in one pass. NaN, if there is one, is both.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3i32, -8, 5])?;
    /// let (low, high) = dev.minmax(&x)?;
    /// assert_eq!((low.read_blocking()?, high.read_blocking()?), (-8, 5));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty input; as [`Call::run`](crate::call::Call::run).
    fn minmax<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<(DeviceScalar<Self, T>, DeviceScalar<Self, T>)> {
        self.reduce_by(x.map(twice), ends).run()
    }

    /// As [`Statistics::minmax`], into buffers of the caller's with at least one element each.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, ends) = (dev.upload(&[0.5f32, 2.5, 1.0])?, dev.buffer(2)?);
    /// dev.minmax_into(&x, (&ends.slice(..1)?, &ends.slice(1..)?))?;
    /// assert_eq!(ends.read_blocking()?, [0.5, 2.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Statistics::minmax`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn minmax_into<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>, out: (&Buffer<Self, T>, &Buffer<Self, T>)) -> Result<()> {
        self.reduce_by(x.map(twice), ends).write_to(out)
    }

    /// Sum divided by the number of elements (converted to `T`, rounding to nearest even).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 6.0, 7.0])?;
    /// assert_eq!(dev.mean(&x)?.read_blocking()?, 4.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty input; as [`Call::run`](crate::call::Call::run).
    fn mean<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        one(self, |out| self.mean_into(x, out))
    }

    /// As [`Statistics::mean`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1.0f64, 2.0])?, dev.buffer(1)?);
    /// dev.mean_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, [1.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Statistics::mean`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn mean_into<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        if x.is_empty() {
            return Err(Error::Empty { pattern: "mean" });
        }
        self.reduce(x, Sum).write_to(out)?;
        let out = out.slice(..1)?;
        self.map_into((&out, scalar(crate::ops::count_as::<T>(x.len()))), |(sum, n)| sum / n, &out)
    }

    /// Sum of the products of elements at the same index: every product is rounded, then summed in the tree's order. Integers wrap.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[1u32, 2, 3])?, dev.upload(&[4u32, 5, 6])?);
    /// assert_eq!(dev.dot(&x, &y)?.read_blocking()?, 32);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    fn dot<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>, y: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce((x, y).map(|(x, y)| x * y), Sum).run()
    }

    /// As [`Statistics::dot`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y, out) = (dev.upload(&[1.0f32, 2.0])?, dev.upload(&[0.5f32, -1.0])?, dev.buffer(1)?);
    /// dev.dot_into(&x, &y, &out)?;
    /// assert_eq!(out.read_blocking()?, [-1.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::write_to`](crate::call::Call::write_to).
    fn dot_into<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>, y: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        self.reduce((x, y).map(|(x, y)| x * y), Sum).write_to(out)
    }

    /// Sum of the absolute values; 0 for an empty input.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3.0f32, -4.0])?;
    /// assert_eq!(dev.norm1(&x)?.read_blocking()?, 7.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    fn norm1<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce(x.map(Expr::abs), Sum).run()
    }

    /// As [`Statistics::norm1`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[3.0f32, -4.0])?, dev.buffer(1)?);
    /// dev.norm1_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, [7.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::write_to`](crate::call::Call::write_to).
    fn norm1_into<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        self.reduce(x.map(Expr::abs), Sum).write_to(out)
    }

    /// Square root of the sum of the squares, each square rounded; no scaling, so squares may overflow. 0 for an empty input.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3.0f32, -4.0])?;
    /// assert_eq!(dev.norm2(&x)?.read_blocking()?, 5.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    fn norm2<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        one(self, |out| self.norm2_into(x, out))
    }

    /// As [`Statistics::norm2`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[6.0f64, 8.0])?, dev.buffer(1)?);
    /// dev.norm2_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, [10.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::write_to`](crate::call::Call::write_to).
    fn norm2_into<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        if x.is_empty() {
            return self.reduce(x, Sum).write_to(out);
        }
        self.reduce_by(x.map(|x| x * x), |a, b| a + b).finish(Expr::sqrt).write_to(out)
    }

    /// Greatest absolute value; 0 for an empty input.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3.0f32, -4.0])?;
    /// assert_eq!(dev.norm_inf(&x)?.read_blocking()?, 4.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    fn norm_inf<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        one(self, |out| self.norm_inf_into(x, out))
    }

    /// As [`Statistics::norm_inf`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[0.25f32, -0.5])?, dev.buffer(1)?);
    /// dev.norm_inf_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, [0.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::write_to`](crate::call::Call::write_to).
    fn norm_inf_into<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        if x.is_empty() {
            return self.reduce(x, Sum).write_to(out);
        }
        self.reduce(x.map(Expr::abs), Max).write_to(out)
    }

    /// Greatest absolute difference of elements at the same index: the test of an iteration's convergence.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[1.0f32, 5.0])?, dev.upload(&[1.5f32, 2.0])?);
    /// assert_eq!(dev.max_abs_diff(&x, &y)?.read_blocking()?, 3.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run); [`Error::Empty`] for empty inputs.
    fn max_abs_diff<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>, y: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce((x, y).map(|(x, y)| (x - y).abs()), Max).run()
    }

    /// As [`Statistics::max_abs_diff`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y, out) = (dev.upload(&[1.0f32, 5.0])?, dev.upload(&[1.5f32, 5.0])?, dev.buffer(1)?);
    /// dev.max_abs_diff_into(&x, &y, &out)?;
    /// assert_eq!(out.read_blocking()?, [0.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Statistics::max_abs_diff`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn max_abs_diff_into<T: Element<Reg = T> + Float + Num>(
        &self,
        x: &Buffer<Self, T>,
        y: &Buffer<Self, T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        self.reduce((x, y).map(|(x, y)| (x - y).abs()), Max).write_to(out)
    }
}
impl<B: Reduce> Statistics for B {}

/// An element as the least and the greatest of itself.
fn twice<T: Num>(x: Expr<T>) -> Pair<T> {
    (x, x)
}

/// The least and the greatest of two.
fn ends<T: Num>(a: Pair<T>, b: Pair<T>) -> Pair<T> {
    (a.0.min(b.0), a.1.max(b.1))
}
