//! Reductions that have names of their own: extremes and where they stand, means, norms.

use super::Reduce;
use crate::buffer::DeviceScalar;
use crate::element::{Element, Float, Num};
use crate::error::{Error, Result};
use crate::input::{Input, Lent, Source as _, scalar};
use crate::ir::Expr;
use crate::ops::{Max, Min, Sum};
use crate::patterns::Map as _;
use crate::patterns::map::collect;

type Pair<T> = (Expr<T>, Expr<T>);

/// Extremes, means, norms and distances of all elements.
///
/// Everything here is a [`Reduce`]: in its order of evaluation, with its work, scratch and sources. Extremes take every type that can be added, the others
/// floats; types narrower than 32 bits are [cast](crate::patterns::Map::cast) first, or mapped to `f32`.
///
/// Into buffers of the caller's, along an axis or by key they are written out:
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let (x, y, out) = (dev.upload(&[3.0f32, -4.0])?, dev.upload(&[1.0f32, 2.0])?, dev.buffer::<f32>(7)?);
/// let at = |k: u64| out.slice(k..);
/// dev.reduce_by(x.map(|x| (x, x)), |a, b| (a.0.min(b.0), a.1.max(b.1))).write_to((&at(0)?, &at(1)?))?; // minmax
/// dev.reduce((&x, &y).map(|(x, y)| x * y), Sum).write_to(&at(2)?)?; // dot
/// dev.reduce(x.map(|x| x.abs()), Sum).write_to(&at(3)?)?; // norm1
/// dev.reduce(x.map(|x| x * x), Sum).finish(|sum| sum.sqrt()).write_to(&at(4)?)?; // norm2
/// dev.reduce_by(x.map(|x| x.abs()), |a, b| a.max(b)).identity(0.0).write_to(&at(5)?)?; // norm_inf
/// dev.reduce(&x, Sum).finish(|sum| sum / 2.0).write_to(&at(6)?)?; // mean of two
/// assert_eq!(out.read_blocking()?, [-4.0, 3.0, -5.0, 7.0, 5.0, 4.0, -0.5]);
/// # Ok::<(), isowarp::Error>(())
/// ```
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
    fn minmax<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Num>(
        &self,
        x: I,
    ) -> Result<(DeviceScalar<Self, T>, DeviceScalar<Self, T>)> {
        self.reduce_by(x.map(twice), ends).run()
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
    fn mean<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Float + Num>(&self, x: I) -> Result<DeviceScalar<Self, T>> {
        let n = collect(self, "mean", &x)?.len()?;
        if n == 0 {
            return Err(Error::Empty { pattern: "mean" });
        }
        let out = self.reduce(x, Sum).run()?.buffer().clone();
        self.map_into((&out, scalar(crate::ops::count_as::<T>(n))), |(sum, n)| sum / n, &out)?;
        DeviceScalar::from_buffer(out)
    }

    /// Mean of the squared distances from the [`mean`](Self::mean), with `freedom` degrees of freedom taken off the number of elements: 0 of all there are, 1 of
    /// a sample. Two passes, the second in the same order as the first: each distance and each square is rounded. Where no degree is left
    /// the sum of the squares is divided by zero, as NumPy does: NaN of equal elements, infinite of others.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 6.0, 7.0])?;
    /// assert_eq!(dev.variance(&x, 0)?.read_blocking()?, 6.5);
    /// assert_eq!(dev.variance(&x.slice(..2)?, 1)?.read_blocking()?, 0.5);
    /// assert_eq!(dev.variance(&x.slice(..2)?, 2)?.read_blocking()?, f32::INFINITY);
    /// assert!(dev.variance(&x.slice(..1)?, 1)?.read_blocking()?.is_nan());
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty input; as [`Call::run`](crate::call::Call::run).
    fn variance<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Float + Num>(
        &self,
        x: I,
        freedom: u64,
    ) -> Result<DeviceScalar<Self, T>> {
        deviation(self, x, freedom, |variance| variance)
    }

    /// Square root of the [`variance`](Self::variance).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f64, 5.0])?;
    /// assert_eq!(dev.std_dev(&x, 0)?.read_blocking()?, 2.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Statistics::variance`].
    fn std_dev<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Float + Num>(
        &self,
        x: I,
        freedom: u64,
    ) -> Result<DeviceScalar<Self, T>> {
        deviation(self, x, freedom, Expr::sqrt)
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
    fn dot<I, J, T>(&self, x: I, y: J) -> Result<DeviceScalar<Self, T>>
    where
        I: Input<Self, Exprs = Expr<T>>,
        J: Input<Self, Exprs = Expr<T>>,
        T: Element<Reg = T> + Num,
    {
        self.reduce((x, y).map(|(x, y)| x * y), Sum).run()
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
    fn norm1<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Float + Num>(&self, x: I) -> Result<DeviceScalar<Self, T>> {
        self.reduce(x.map(Expr::abs), Sum).run()
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
    fn norm2<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Float + Num>(&self, x: I) -> Result<DeviceScalar<Self, T>> {
        self.reduce(x.map(|x| x * x), Sum).finish(Expr::sqrt).run()
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
    fn norm_inf<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Float + Num>(&self, x: I) -> Result<DeviceScalar<Self, T>> {
        self.reduce_by(x.map(Expr::abs), Expr::max).identity(T::from_bits64(0)).run()
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
    fn max_abs_diff<I, J, T>(&self, x: I, y: J) -> Result<DeviceScalar<Self, T>>
    where
        I: Input<Self, Exprs = Expr<T>>,
        J: Input<Self, Exprs = Expr<T>>,
        T: Element<Reg = T> + Float + Num,
    {
        self.reduce((x, y).map(|(x, y)| (x - y).abs()), Max).run()
    }
}
impl<B: Reduce> Statistics for B {}

/// Computes a variance, and stores what `finish` makes of it.
fn deviation<B: Reduce, I: Input<B, Exprs = Expr<T>>, T: Element<Reg = T> + Float + Num>(
    device: &B,
    x: I,
    freedom: u64,
    finish: impl Fn(Expr<T>) -> Expr<T>,
) -> Result<DeviceScalar<B, T>> {
    let n = collect(device, "variance", &x)?.len()?;
    let mean = device.mean(Lent(&x))?;
    let squares = (Lent(&x), &mean).map(|(x, mean)| (x - mean) * (x - mean));
    let out = device.reduce(squares, Sum).run()?.buffer().clone();
    let left = scalar(crate::ops::count_as::<T>(n.saturating_sub(freedom)));
    device.map_into((&out, left), |(sum, left)| finish(sum / left), &out)?;
    DeviceScalar::from_buffer(out)
}

/// An element as the least and the greatest of itself.
fn twice<T: Num>(x: Expr<T>) -> Pair<T> {
    (x, x)
}

/// The least and the greatest of two.
fn ends<T: Num>(a: Pair<T>, b: Pair<T>) -> Pair<T> {
    (a.0.min(b.0), a.1.max(b.1))
}
