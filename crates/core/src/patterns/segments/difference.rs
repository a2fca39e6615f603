//! Neighbours combined: a map that fetches the one beside.

use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Num, Scalar};
use crate::error::Result;
use crate::input::{Input, array, index, scalar};
use crate::ir::{Expr, select};
use crate::patterns::before::Neighbours;
use crate::patterns::map::{apart, collect};
use crate::patterns::{Map, MapTask};

/// Differences of neighbours, and other functions of two of them.
///
/// Every result depends on two elements, so there is no order to state. Results are stored as a [map](Map) stores them: integers wrap, and a NaN is the
/// canonical one. Outputs may not overlap inputs. Work O(n), no scratch.
///
/// Source: NVIDIA's CUB (`DeviceAdjacentDifference`); NumPy's `diff`.
pub trait Difference: Run<MapTask> {
    /// `x[i] - x[i - 1]`; the first element stays as it is, so that an inclusive sum gives integers back.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1i32, 4, 9, 16])?;
    /// let d = dev.adjacent_difference(&x)?;
    /// assert_eq!(d.read_blocking()?, [1, 3, 5, 7]);
    /// assert_eq!(dev.cumsum(&d)?.read_blocking()?, [1, 4, 9, 16]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`]; [`Error::TooLarge`](crate::Error::TooLarge) for more than 2^32 elements.
    fn adjacent_difference<T: Element>(&self, x: &Buffer<Self, T>) -> Result<Buffer<Self, T>>
    where
        T::Reg: Num,
    {
        let out = self.buffer(x.len())?;
        self.adjacent_difference_into(x, &out)?;
        Ok(out)
    }

    /// As [`Difference::adjacent_difference`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[5u8, 3, 4])?, dev.buffer(3)?);
    /// dev.adjacent_difference_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, [5, 254, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Difference::adjacent_difference`] and [`Map::map_into`].
    fn adjacent_difference_into<T: Element>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()>
    where
        T::Reg: Num,
    {
        self.adjacent_into(x, |before, x| x - before, out)
    }

    /// `x[i] - x[i + 1]`; the last element stays as it is.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 4.0, 9.0])?;
    /// assert_eq!(dev.adjacent_difference_right(&x)?.read_blocking()?, [-3.0, -5.0, 9.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Difference::adjacent_difference`].
    fn adjacent_difference_right<T: Element>(&self, x: &Buffer<Self, T>) -> Result<Buffer<Self, T>>
    where
        T::Reg: Num,
    {
        let out = self.buffer(x.len())?;
        self.adjacent_difference_right_into(x, &out)?;
        Ok(out)
    }

    /// As [`Difference::adjacent_difference_right`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[7u64, 2])?, dev.buffer(2)?);
    /// dev.adjacent_difference_right_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, [5, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Difference::adjacent_difference_into`].
    fn adjacent_difference_right_into<T: Element>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()>
    where
        T::Reg: Num,
    {
        self.adjacent_right_into(x, |x, behind| x - behind, out)
    }

    /// `f(x[i - 1], x[i])`; the first element stays as it is.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[2.0f32, 3.0, 12.0])?;
    /// assert_eq!(dev.adjacent(&x, |before, x| x / before)?.read_blocking()?, [2.0, 1.5, 4.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Difference::adjacent_difference`].
    fn adjacent<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        f: impl FnOnce(Expr<T::Reg>, Expr<T::Reg>) -> Expr<T::Reg>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.adjacent_into(x, f, &out)?;
        Ok(out)
    }

    /// As [`Difference::adjacent`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[3u32, 1, 2])?, dev.buffer(3)?);
    /// dev.adjacent_into(&x, |before, x| before.max(x), &out)?;
    /// assert_eq!(out.read_blocking()?, [3, 3, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Difference::adjacent_difference_into`].
    fn adjacent_into<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        f: impl FnOnce(Expr<T::Reg>, Expr<T::Reg>) -> Expr<T::Reg>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        self.map_into((x, array(x), index()), |(x, all, i)| select(i.eq(0), x, f(all.at(i - 1), x)).store_as::<T>(), out)
    }

    /// As [`Difference::adjacent`] of `f` of the inputs, which never lies in memory: `g` takes what `f` gives for the element before, and for its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[1.0f32, 2.0, 3.0])?, dev.upload(&[5.0f32, 7.0, 4.0])?);
    /// let steps = dev.adjacent_from((&x, &y), |(x, y)| x * y, |before, xy| xy - before)?;
    /// assert_eq!(steps.read_blocking()?, [5.0, 9.0, -2.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Difference::adjacent_difference`].
    fn adjacent_from<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        g: impl FnOnce(Expr<T>, Expr<T>) -> Expr<T>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(collect(self, "map", &inputs)?.len()?)?;
        self.adjacent_from_into(inputs, f, g, &out)?;
        Ok(out)
    }

    /// As [`Difference::adjacent_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer(4)?;
    /// dev.adjacent_from_into(counting(4), |i| i * i, |before, x| x - before, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 1, 3, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Difference::adjacent_difference_into`].
    fn adjacent_from_into<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        g: impl FnOnce(Expr<T>, Expr<T>) -> Expr<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let found = Neighbours::new(self, "map", &inputs, f)?;
        let func = found.trace(|before, x, i| select(i.eq(0), x, g(before, x)))?;
        apart::<Self, Expr<T>>(self, "map", (found.c, func), out)
    }

    /// `f(x[i], x[i + 1])`; the last element stays as it is.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1i64, 2, 4])?;
    /// assert_eq!(dev.adjacent_right(&x, |x, behind| x * 10 + behind)?.read_blocking()?, [12, 24, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Difference::adjacent_difference`].
    fn adjacent_right<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        f: impl FnOnce(Expr<T::Reg>, Expr<T::Reg>) -> Expr<T::Reg>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.adjacent_right_into(x, f, &out)?;
        Ok(out)
    }

    /// As [`Difference::adjacent_right`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[3.0f64, 1.0])?, dev.buffer(2)?);
    /// dev.adjacent_right_into(&x, |x, behind| x.max(behind), &out)?;
    /// assert_eq!(out.read_blocking()?, [3.0, 1.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Difference::adjacent_difference_into`].
    fn adjacent_right_into<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        f: impl FnOnce(Expr<T::Reg>, Expr<T::Reg>) -> Expr<T::Reg>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let inputs = (x, array(x), index(), scalar(last(x.len())));
        self.map_into(inputs, |(x, all, i, last)| select(i.eq(last), x, f(x, all.at(i + 1))).store_as::<T>(), out)
    }

    /// As [`Difference::adjacent_right`] of `f` of the inputs, which never lies in memory: `g` takes what `f` gives for an element, and for the one behind.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 4.0])?;
    /// assert_eq!(dev.adjacent_right_from(&x, |x| x * x, |x, behind| behind - x)?.read_blocking()?, [3.0, 12.0, 16.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Difference::adjacent_difference`].
    fn adjacent_right_from<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        g: impl FnOnce(Expr<T>, Expr<T>) -> Expr<T>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(collect(self, "map", &inputs)?.len()?)?;
        self.adjacent_right_from_into(inputs, f, g, &out)?;
        Ok(out)
    }

    /// As [`Difference::adjacent_right_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer(4)?;
    /// dev.adjacent_right_from_into(counting(4), |i| i * i, |x, behind| behind - x, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 3, 5, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Difference::adjacent_difference_into`].
    fn adjacent_right_from_into<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        g: impl FnOnce(Expr<T>, Expr<T>) -> Expr<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let end = scalar(last(collect(self, "map", &inputs)?.len()?));
        let both = (inputs, end);
        let found = Neighbours::new(self, "map", &both, |(x, last)| (f(x), last))?;
        let func = found.trace_right(|x, behind, i| select(i.eq(found.own(1)), x, g(x, behind)))?;
        apart::<Self, Expr<T>>(self, "map", (found.c, func), out)
    }
}
impl<B: Run<MapTask>> Difference for B {}

/// The last index, which of 2^32 elements is all ones.
fn last(n: u64) -> u32 {
    n.saturating_sub(1).min(u32::MAX.into()) as u32
}
