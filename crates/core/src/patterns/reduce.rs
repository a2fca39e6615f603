//! P02 reduce: all elements combined into one value, or all elements of every line along an axis.

mod call;
mod quadrature;
mod statistics;
mod task;

pub(crate) use call::check_count;
pub(super) use call::{Parts, checked};
pub use quadrature::Quadrature;
pub use statistics::Statistics;
pub use task::ReduceTask;

use super::Lines;
use super::map::{MapTask, collect, collect_lines, same, trace};
use super::select::Count;
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{Element, Num, Scalar};
use crate::error::Result;
use crate::input::{Input, Outputs};
use crate::ir::{Expr, Traced};
use crate::ops::{Combine, Sum, identity};
use call::{lines_into, one};

/// Reductions. Those with names of their own are in [`Statistics`] and [`Quadrature`].
///
/// # Order of evaluation
/// The *aligned binary tree*, a function of the number of elements alone: node (k, j) covers the elements `j * 2^k .. (j + 1) * 2^k`
/// that exist; a node with an empty right half is its left half (no identity is put in); any other is
/// `combine(left, right)`, the left operand from lower indices. So an operator has to be associative, but need not commute, and float
/// sums are pairwise: the error grows with log2(n), not with n.
///
/// Elements are combined in every type that operators compute in; narrow ones are loaded as `f32`, `i32` or `u32` ([`Reduce::reduce_from`]). An
/// accumulator has at most four 32-bit words. Work O(n), scratch at most 1 % of the input (or 512 KiB). Results stay on the device; outputs may not overlap inputs.
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, chapters 1 to 3; Blelloch, *Prefix sums and their applications* (1990).
pub trait Reduce: Run<ReduceTask> + Run<MapTask> {
    /// All elements combined.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3.0f32, 1.0, 2.0])?;
    /// assert_eq!(dev.reduce(&x, Sum)?.read_blocking()?, 6.0);
    /// assert_eq!(dev.reduce(&x, Min)?.read_blocking()?, 1.0);
    /// // Your own operator: which of two is farther from zero.
    /// let farther = Op::associative(0.0f32, |a, b| a.abs().ge(b.abs()).select(a, b));
    /// assert_eq!(dev.reduce(&dev.upload(&[2.0f32, -5.0, 4.0])?, farther)?.read_blocking()?, -5.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty) where nothing has no value (a minimum), [`Error::Unsupported`](crate::Error::Unsupported),
    /// [`Error::Op`](crate::Error::Op), [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::WrongDevice`](crate::Error::WrongDevice).
    fn reduce<T: Element<Reg = T> + Scalar>(&self, x: &Buffer<Self, T>, op: impl Combine<T>) -> Result<DeviceScalar<Self, T>> {
        one(self, |out| self.reduce_into(x, op, out))
    }

    /// As [`Reduce::reduce`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[5u32, 6, 7])?, dev.upload(&[0u32; 3])?);
    /// dev.reduce_into(&x, Product, &out.slice(1..)?)?;
    /// assert_eq!(out.read_blocking()?, [0, 210, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    fn reduce_into<T: Element<Reg = T> + Scalar>(&self, x: &Buffer<Self, T>, op: impl Combine<T>, out: &Buffer<Self, T>) -> Result<()> {
        let c = collect(self, "reduce", &x)?;
        lines_into(self, c, Lines::one(x.len()), identity::<T>()?, &op, out)
    }

    /// `f` of the inputs, element by element, combined; nothing lies in memory in between.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[0.5f32, -1.0, 0.25])?, dev.upload(&[0.5f32, 0.5, 0.75])?);
    /// let inside = dev.reduce_from((&x, &y), |(x, y)| (x * x + y * y).le(1.0).cast::<u32>(), Sum)?;
    /// assert_eq!(inside.read_blocking()?, 2);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce`], and [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn reduce_from<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
    ) -> Result<DeviceScalar<Self, T>> {
        let n = collect(self, "reduce", &inputs)?.len()?;
        self.reduce_range(n, inputs, f, op)
    }

    /// As [`Reduce::reduce_from`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (bytes, out) = (dev.upload(b"abc")?, dev.buffer(1)?);
    /// dev.reduce_from_into(&bytes, |b| b, Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [97 + 98 + 99]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce_from`] and [`Reduce::reduce_into`].
    fn reduce_from_into<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let n = collect(self, "reduce", &inputs)?.len()?;
        self.reduce_range_into(n, inputs, f, op, out)
    }

    /// As [`Reduce::reduce_from`] over the indices below `n`, for inputs without a length of their own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let squares = dev.reduce_range(10, index(), |i| i * i, Sum)?;
    /// assert_eq!(squares.read_blocking()?, 285);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce_from`].
    fn reduce_range<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        n: u64,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
    ) -> Result<DeviceScalar<Self, T>> {
        one(self, |out| self.reduce_range_into(n, inputs, f, op, out))
    }

    /// As [`Reduce::reduce_range`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer(1)?;
    /// dev.reduce_range_into(5, (index(), scalar(10u32)), |(i, k)| i + k, Max, &out)?;
    /// assert_eq!(out.read_blocking()?, [14]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce_from_into`].
    fn reduce_range_into<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        n: u64,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let mut c = collect(self, "reduce", &inputs)?;
        c.length(n)?;
        let load = trace(&inputs, &c, f)?;
        lines_into(self, c, Lines::one(n), load, &op, out)
    }

    /// Reduces every line along `axis` of a row-major array of this shape; the result has the other axes.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0, 40.0, 50.0, 60.0])?; // two rows of three
    /// assert_eq!(dev.reduce_axis(&x, &[2, 3], 1, Sum)?.read_blocking()?, [6.0, 150.0]);
    /// assert_eq!(dev.reduce_axis(&x, &[2, 3], 0, Max)?.read_blocking()?, [40.0, 50.0, 60.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce`]; [`Error::InvalidArgument`](crate::Error::InvalidArgument) for an axis that is not there,
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn reduce_axis<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        shape: &[u64],
        axis: usize,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(Lines::along(shape, axis)?.count())?;
        self.reduce_axis_into(x, shape, axis, op, &out)?;
        Ok(out)
    }

    /// As [`Reduce::reduce_axis`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1u32, 2, 3, 4])?, dev.buffer(2)?);
    /// dev.reduce_axis_into(&x, &[2, 2], 0, Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [4, 6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce_axis`] and [`Reduce::reduce_into`].
    fn reduce_axis_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        shape: &[u64],
        axis: usize,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let lines = Lines::along(shape, axis)?;
        let c = collect_lines(self, "reduce", &x, &lines)?;
        lines_into(self, c, lines, identity::<T>()?, &op, out)
    }

    /// As [`Reduce::reduce_axis`] of `f` of the inputs, along an axis of a shape; it never lies in memory. Inputs without a length of their own have as many elements as the shape.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, -2.0, 3.0, -4.0])?;
    /// assert_eq!(dev.reduce_axis_from(&x, |x| x.abs(), (&[2, 2], 1), Sum)?.read_blocking()?, [3.0, 7.0]);
    /// // Sums of the rows of a table of products, without the table.
    /// let sums = dev.reduce_axis_from(index(), |i| (i / 3) * (i % 3), (&[3, 3], 1), Sum)?;
    /// assert_eq!(sums.read_blocking()?, [0, 3, 6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce_axis`] and [`Reduce::reduce_from`].
    fn reduce_axis_from<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        (shape, axis): (&[u64], usize),
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(Lines::along(shape, axis)?.count())?;
        self.reduce_axis_from_into(inputs, f, (shape, axis), op, &out)?;
        Ok(out)
    }

    /// As [`Reduce::reduce_axis_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (image, out) = (dev.upload(&[1u8, 2, 3, 250, 251, 252])?, dev.buffer(3)?);
    /// dev.reduce_axis_from_into(&image, |x| x, (&[2, 3], 0), Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [251, 253, 255]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce_axis_from`] and [`Reduce::reduce_into`].
    fn reduce_axis_from_into<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        (shape, axis): (&[u64], usize),
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let lines = Lines::along(shape, axis)?;
        let c = collect_lines(self, "reduce", &inputs, &lines)?;
        let load = trace(&inputs, &c, f)?;
        lines_into(self, c, lines, load, &op, out)
    }

    /// The general form: accumulators of several parts. `load` gives the accumulator of an element, `combine` merges two (lower
    /// indices first), `finish` gives the values to store.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Mean and variance in one pass: number, sum and sum of squares.
    /// let x = dev.upload(&[2.0f32, 4.0, 6.0, 8.0])?;
    /// let (mean, variance) = dev.reduce_parts(
    ///     &x,
    ///     |x| (lit(1.0f32), x, x * x),
    ///     |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2),
    ///     |(n, sum, squares)| (sum / n, squares / n - (sum / n) * (sum / n)),
    /// )?;
    /// assert_eq!((mean.read_blocking()?, variance.read_blocking()?), (vec![5.0], vec![5.0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce_from`]; an empty input is [`Error::Empty`](crate::Error::Empty), an accumulator of more than four words
    /// [`Error::TooLarge`](crate::Error::TooLarge).
    fn reduce_parts<I: Input<Self>, A: Traced, R: Outputs>(
        &self,
        inputs: I,
        load: impl FnOnce(I::Exprs) -> A,
        combine: impl FnOnce(A, A) -> A,
        finish: impl FnOnce(A) -> R,
    ) -> Result<R::Buffers<Self>> {
        let c = collect(self, "reduce", &inputs)?;
        Parts::new(trace(&inputs, &c, load)?, combine, finish)?.reduce::<Self, R>(self, c)
    }

    /// As [`Reduce::reduce_parts`], into buffers of the caller's with at least one element each.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // x -> a x + b, composed from left to right: an operator that does not commute.
    /// let (a, b) = (dev.upload(&[2u32, 3, 5])?, dev.upload(&[1u32, 1, 1])?);
    /// let (slope, shift) = (dev.buffer(1)?, dev.buffer(1)?);
    /// dev.reduce_parts_into((&a, &b), |f| f, |f, g| (f.0 * g.0, f.1 * g.0 + g.1), |f| f, (&slope, &shift))?;
    /// assert_eq!((slope.read_blocking()?, shift.read_blocking()?), (vec![30], vec![21]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce_parts`] and [`Reduce::reduce_into`].
    fn reduce_parts_into<I: Input<Self>, A: Traced, R: Outputs>(
        &self,
        inputs: I,
        load: impl FnOnce(I::Exprs) -> A,
        combine: impl FnOnce(A, A) -> A,
        finish: impl FnOnce(A) -> R,
        out: R::Refs<'_, Self>,
    ) -> Result<()> {
        let c = collect(self, "reduce", &inputs)?;
        Parts::new(trace(&inputs, &c, load)?, combine, finish)?.reduce_into::<Self, R>(self, c, out)
    }

    /// Sum of all elements; integers wrap.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[u32::MAX, 1, 41])?;
    /// assert_eq!(dev.sum(&x)?.read_blocking()?, 41);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce`].
    fn sum<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce(x, Sum)
    }

    /// As [`Reduce::sum`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[0.5f64, 0.25])?, dev.buffer(1)?);
    /// dev.sum_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, [0.75]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce_into`].
    fn sum_into<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        self.reduce_into(x, Sum, out)
    }

    /// Sum of `f16` elements in `f32`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x: Vec<_> = [60_000.0, 60_000.0, 0.5].map(half::f16::from_f32).to_vec(); // 120,000 is above what f16 holds
    /// assert_eq!(dev.sum_wide(&dev.upload(&x)?)?.read_blocking()?, 120_000.5);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce`].
    fn sum_wide<T: Element<Reg = f32>>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, f32>> {
        self.reduce_from(x, same, Sum)
    }

    /// As [`Reduce::sum_wide`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[half::f16::from_f32(1.5); 4])?, dev.buffer(1)?);
    /// dev.sum_wide_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, [6.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce_into`].
    fn sum_wide_into<T: Element<Reg = f32>>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, f32>) -> Result<()> {
        self.reduce_from_into(x, same, Sum, out)
    }

    /// Number of elements for which `f` holds.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.5f32, -1.0, f32::NAN, 2.0])?;
    /// assert_eq!(dev.count(&x, |x| x.gt(0.0))?.read_blocking()?, 2);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce_from`]; [`Error::TooLarge`](crate::Error::TooLarge) for more than 2^32 - 1 elements (see [`Reduce::count_into`]).
    fn count<I: Input<Self>>(&self, inputs: I, f: impl FnOnce(I::Exprs) -> Expr<bool>) -> Result<DeviceScalar<Self, u32>> {
        one(self, |out| self.count_into(inputs, f, out))
    }

    /// As [`Reduce::count`], into a buffer of the caller's with at least one element; a `u64` counts more than 2^32 - 1.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y, out) = (dev.upload(&[1u32, 2, 3])?, dev.upload(&[1u32, 5, 3])?, dev.buffer::<u64>(1)?);
    /// dev.count_into((&x, &y), |(x, y)| x.eq(y), &out)?;
    /// assert_eq!(out.read_blocking()?, [2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::count`] and [`Reduce::reduce_from_into`].
    fn count_into<I: Input<Self>, C: Count + Element<Reg = C> + Num>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<bool>,
        out: &Buffer<Self, C>,
    ) -> Result<()> {
        if C::DTYPE.size_bytes() == 4 {
            check_count(collect(self, "reduce", &inputs)?.len()?)?;
        }
        self.reduce_from_into(inputs, |x| f(x).cast::<C>(), Sum, out)
    }
}
impl<B: Run<ReduceTask> + Run<MapTask>> Reduce for B {}
