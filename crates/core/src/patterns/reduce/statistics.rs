//! Reductions that have names of their own: extremes and where they stand, means, norms.

use super::Reduce;
use super::call::one;
use crate::buffer::{Buffer, DeviceScalar};
use crate::element::{Element, Float, Num};
use crate::error::{Error, Result};
use crate::input::scalar;
use crate::ir::Expr;
use crate::ops::{Max, Sum};
use crate::patterns::Map as _;
use crate::patterns::extreme::{End, extreme, extreme_into};

type Pair<T> = (Expr<T>, Expr<T>);

/// The traces that `argmin`, `argmax` and their kin are kept under: what they load, combine and give.
const LEAST: [&str; 3] = ["least", "least of two", "least and its index"];
const LEAST_AT: [&str; 3] = ["least", "least of two", "index of the least"];
const GREATEST: [&str; 3] = ["greatest", "greatest of two", "greatest and its index"];
const GREATEST_AT: [&str; 3] = ["greatest", "greatest of two", "index of the greatest"];

/// Extremes, means, norms and distances of all elements.
///
/// Everything here is a [`Reduce`]: in its order of evaluation, with its work, scratch and sources. The `_into` forms write the first element of the
/// caller's buffers, which may not overlap the inputs. Extremes take every type that can be added, the others floats; types narrower than 32 bits are
/// [cast](crate::patterns::Map::cast) first, or reduced by [`Reduce::reduce_from`].
pub trait Statistics: Reduce {
    /// The least element and the lowest index at which it stands. -0 is below +0; the first NaN wins.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[4.0f32, -1.0, 7.0, -1.0])?;
    /// let (least, place) = dev.min_with_index(&x)?;
    /// assert_eq!((least.read_blocking()?, place.read_blocking()?), (-1.0, 1));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty input; [`Error::TooLarge`] for more than 2^32 elements; as [`Reduce::reduce`].
    fn min_with_index<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<(DeviceScalar<Self, T>, DeviceScalar<Self, u32>)> {
        let (v, i) = extreme(self, x, End::Least, LEAST, |v, i| (v, i))?;
        Ok((DeviceScalar::from_buffer(v)?, DeviceScalar::from_buffer(i)?))
    }

    /// As [`Statistics::min_with_index`], into buffers of the caller's with at least one element each.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, least, place) = (dev.upload(&[4i32, -1, 7])?, dev.buffer(1)?, dev.buffer(1)?);
    /// dev.min_with_index_into(&x, (&least, &place))?;
    /// assert_eq!((least.read_blocking()?, place.read_blocking()?), (vec![-1], vec![1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Statistics::min_with_index`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn min_with_index_into<T: Element<Reg = T> + Num>(
        &self,
        x: &Buffer<Self, T>,
        out: (&Buffer<Self, T>, &Buffer<Self, u32>),
    ) -> Result<()> {
        extreme_into(self, x, End::Least, LEAST, |v, i| (v, i), out)
    }

    /// The greatest element and the lowest index at which it stands. +0 is above -0; the first NaN wins.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[4u64, 1, 7, 7])?;
    /// let (greatest, place) = dev.max_with_index(&x)?;
    /// assert_eq!((greatest.read_blocking()?, place.read_blocking()?), (7, 2));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Statistics::min_with_index`].
    fn max_with_index<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<(DeviceScalar<Self, T>, DeviceScalar<Self, u32>)> {
        let (v, i) = extreme(self, x, End::Greatest, GREATEST, |v, i| (v, i))?;
        Ok((DeviceScalar::from_buffer(v)?, DeviceScalar::from_buffer(i)?))
    }

    /// As [`Statistics::max_with_index`], into buffers of the caller's with at least one element each.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, greatest, place) = (dev.upload(&[-0.0f32, 0.0])?, dev.buffer(1)?, dev.buffer(1)?);
    /// dev.max_with_index_into(&x, (&greatest, &place))?;
    /// assert_eq!(place.read_blocking()?, [1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Statistics::max_with_index`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn max_with_index_into<T: Element<Reg = T> + Num>(
        &self,
        x: &Buffer<Self, T>,
        out: (&Buffer<Self, T>, &Buffer<Self, u32>),
    ) -> Result<()> {
        extreme_into(self, x, End::Greatest, GREATEST, |v, i| (v, i), out)
    }

    /// The lowest index of the least element; see [`Statistics::min_with_index`].
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
    /// As [`Statistics::min_with_index`].
    fn argmin<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, u32>> {
        DeviceScalar::from_buffer(extreme(self, x, End::Least, LEAST_AT, |_, i| i)?)
    }

    /// As [`Statistics::argmin`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[3u32, 1, 2])?, dev.upload(&[9u32; 3])?);
    /// dev.argmin_into(&x, &out.slice(1..)?)?;
    /// assert_eq!(out.read_blocking()?, [9, 1, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Statistics::min_with_index_into`].
    fn argmin_into<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, u32>) -> Result<()> {
        extreme_into(self, x, End::Least, LEAST_AT, |_, i| i, out)
    }

    /// The lowest index of the greatest element; see [`Statistics::max_with_index`].
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
    /// As [`Statistics::min_with_index`].
    fn argmax<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, u32>> {
        DeviceScalar::from_buffer(extreme(self, x, End::Greatest, GREATEST_AT, |_, i| i)?)
    }

    /// As [`Statistics::argmax`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[3i64, 1, 2])?, dev.buffer(1)?);
    /// dev.argmax_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, [0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Statistics::min_with_index_into`].
    fn argmax_into<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, u32>) -> Result<()> {
        extreme_into(self, x, End::Greatest, GREATEST_AT, |_, i| i, out)
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
    /// [`Error::Empty`] for an empty input; as [`Reduce::reduce`].
    fn minmax<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<(DeviceScalar<Self, T>, DeviceScalar<Self, T>)> {
        let (low, high) = self.reduce_parts(x, twice, ends, |a| a)?;
        Ok((DeviceScalar::from_buffer(low)?, DeviceScalar::from_buffer(high)?))
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
        self.reduce_parts_into(x, twice, ends, |a: Pair<T>| a, out)
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
    /// [`Error::Empty`] for an empty input; as [`Reduce::reduce`].
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
        self.reduce_into(x, Sum, out)?;
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
    /// As [`Reduce::reduce_from`].
    fn dot<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>, y: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce_from((x, y), |(x, y)| x * y, Sum)
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
    /// As [`Reduce::reduce_from_into`].
    fn dot_into<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>, y: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        self.reduce_from_into((x, y), |(x, y)| x * y, Sum, out)
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
    /// As [`Reduce::reduce`].
    fn norm1<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce_from(x, Expr::abs, Sum)
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
    /// As [`Reduce::reduce_into`].
    fn norm1_into<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        self.reduce_from_into(x, Expr::abs, Sum, out)
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
    /// As [`Reduce::reduce`].
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
    /// As [`Reduce::reduce_into`].
    fn norm2_into<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        if x.is_empty() {
            return self.reduce_into(x, Sum, out);
        }
        self.reduce_parts_into(x, |x| x * x, |a, b| a + b, Expr::sqrt, out)
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
    /// As [`Reduce::reduce`].
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
    /// As [`Reduce::reduce_into`].
    fn norm_inf_into<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        if x.is_empty() {
            return self.reduce_into(x, Sum, out);
        }
        self.reduce_from_into(x, Expr::abs, Max, out)
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
    /// As [`Reduce::reduce_from`]; [`Error::Empty`] for empty inputs.
    fn max_abs_diff<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>, y: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce_from((x, y), |(x, y)| (x - y).abs(), Max)
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
        self.reduce_from_into((x, y), |(x, y)| (x - y).abs(), Max, out)
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
