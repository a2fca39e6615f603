//! P02 reduce: all elements combined into one value, or all elements of every line along an axis.

use super::extreme::{End, extreme};
use super::map::{Map, MapTask, check_index, collect, same, trace};
use super::{Lines, check_accumulators, check_aliasing, check_ops};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, DeviceScalar};
use crate::caps::Numerics;
use crate::element::{Element, Float, Num, Scalar, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Inputs, Outputs, index, lazy, require, scalar};
use crate::ir::{self, Expr, Func, Traced};
use crate::ops::{Combine, Max, Sum, combine_func, identity};
use std::sync::Arc;

/// A reduction as data. For every line: `load` gives an accumulator (one or more values) per element, `combine` merges two of them in
/// the order of [`Reduce`], `finish` turns the last one into the output values.
#[derive(Clone, Debug)]
pub struct ReduceTask {
    /// One parameter a leaf; its results are the accumulator's parts.
    pub load: Arc<Func>,
    /// The left accumulator's parts, then the right one's; results: the combined parts.
    pub combine: Arc<Func>,
    /// The accumulator's parts; one result an output.
    pub finish: Arc<Func>,
    /// What to reduce. At least one element along the axis.
    pub lines: Lines,
    /// Strict or fast.
    pub numerics: Numerics,
}

impl ReduceTask {
    /// The types of the accumulator's parts.
    #[must_use]
    pub fn parts(&self) -> Vec<Ty> {
        self.load.result_types()
    }
}

/// Reductions.
///
/// # Order of evaluation
/// The *aligned binary tree*, a function of the number of elements alone: node (k, j) covers the elements `j * 2^k .. (j + 1) * 2^k`
/// that exist; a node with an empty right half is its left half (no identity is put in); any other is
/// `combine(left, right)`, the left operand from lower indices. So an operator has to be associative, but need not commute, and float
/// sums are pairwise: the error grows with log2(n), not with n.
///
/// Work O(n), scratch below 1 % of the input. Results stay on the device.
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, chapters 1 to 3; Blelloch, *Prefix sums and their applications* (1990).
pub trait Reduce: Run<ReduceTask> + Run<MapTask> {
    /// All elements combined.
    ///
    /// # Errors
    /// [`Error::Empty`] where nothing has no value (a minimum), [`Error::Unsupported`], [`Error::Op`], [`Error::OutOfMemory`].
    fn reduce<T: Element<Reg = T> + Scalar>(&self, x: &Buffer<Self, T>, op: impl Combine<T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce_from(x, same, op)
    }

    /// As [`Reduce::reduce`], into a buffer of the caller's with at least one element.
    ///
    /// # Errors
    /// As [`Reduce::reduce`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn reduce_into<T: Element<Reg = T> + Scalar>(&self, x: &Buffer<Self, T>, op: impl Combine<T>, out: &Buffer<Self, T>) -> Result<()> {
        let c = collect(self, "reduce", &x)?;
        reduce_lines(self, c, Lines::one(x.len()), identity::<T>()?, &op, out)
    }

    /// `f` of the inputs, element by element, combined; nothing lies in memory in between.
    ///
    /// # Errors
    /// As [`Reduce::reduce`], and [`Error::LengthMismatch`].
    fn reduce_from<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
    ) -> Result<DeviceScalar<Self, T>> {
        let c = collect(self, "reduce", &inputs)?;
        let n = c.len()?;
        self.reduce_range(n, inputs, f, op)
    }

    /// As [`Reduce::reduce_from`], into a buffer of the caller's with at least one element.
    ///
    /// # Errors
    /// As [`Reduce::reduce_into`].
    fn reduce_from_into<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let c = collect(self, "reduce", &inputs)?;
        let lines = Lines::one(c.len()?);
        let load = trace(&inputs, &c, f)?;
        reduce_lines(self, c, lines, load, &op, out)
    }

    /// As [`Reduce::reduce_from`] over the indices below `n`, for inputs without a length of their own.
    ///
    /// # Errors
    /// As [`Reduce::reduce_from`].
    fn reduce_range<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        n: u64,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
    ) -> Result<DeviceScalar<Self, T>> {
        let mut c = collect(self, "reduce", &inputs)?;
        c.length(n)?;
        let load = trace(&inputs, &c, f)?;
        let out = crate::buffer::Memory::buffer(self, 1)?;
        reduce_lines(self, c, Lines::one(n), load, &op, &out)?;
        DeviceScalar::from_buffer(out)
    }

    /// Reduces every line along `axis` of a row-major array of this shape; the result has the other axes.
    ///
    /// # Errors
    /// As [`Reduce::reduce`]; [`Error::InvalidArgument`] for an axis that is not there, [`Error::LengthMismatch`].
    fn reduce_axis<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        shape: &[u64],
        axis: usize,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        let lines = Lines::along(shape, axis)?;
        let out = crate::buffer::Memory::buffer(self, lines.count())?;
        self.reduce_axis_into(x, shape, axis, op, &out)?;
        Ok(out)
    }

    /// As [`Reduce::reduce_axis`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Reduce::reduce_axis`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn reduce_axis_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        shape: &[u64],
        axis: usize,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let lines = Lines::along(shape, axis)?;
        let c = collect(self, "reduce", &x)?;
        if lines.elements() != x.len() {
            return Err(Error::LengthMismatch { what: "elements of the shape", expected: lines.elements(), found: x.len() });
        }
        let load = identity::<T>()?;
        reduce_lines(self, c, lines, load, &op, out)
    }

    /// The general form: accumulators of several parts. `load` gives the accumulator of an element, `combine` merges two (lower
    /// indices first), `finish` gives the values to store.
    ///
    /// # Errors
    /// As [`Reduce::reduce_from`]; an empty input is [`Error::Empty`].
    fn reduce_parts<I: Inputs<Self>, A: Traced, R: Outputs>(
        &self,
        inputs: I,
        load: impl FnOnce(I::Exprs) -> A,
        combine: impl FnOnce(A, A) -> A,
        finish: impl FnOnce(A) -> R,
    ) -> Result<R::Buffers<Self>> {
        let c = collect(self, "reduce", &inputs)?;
        let load = trace(&inputs, &c, load)?;
        let combine = Arc::new(ir::trace(|(a, b): (A, A)| combine(a, b))?);
        let finish = Arc::new(ir::trace(finish)?);
        reduce_parts::<Self, R>(self, c, load, combine, finish)
    }

    /// Sum of all elements; integers wrap.
    ///
    /// # Errors
    /// As [`Reduce::reduce`].
    fn sum<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce(x, Sum)
    }

    /// Sum of `f16` elements in `f32`.
    ///
    /// # Errors
    /// As [`Reduce::reduce`].
    fn sum_wide<T: Element<Reg = f32>>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, f32>> {
        self.reduce_from(x, same, Sum)
    }

    /// Number of elements for which `f` holds.
    ///
    /// # Errors
    /// As [`Reduce::reduce_from`].
    fn count<I: Inputs<Self>>(&self, inputs: I, f: impl FnOnce(I::Exprs) -> Expr<bool>) -> Result<DeviceScalar<Self, u32>> {
        self.reduce_from(inputs, |x| f(x).cast::<u32>(), Sum)
    }

    /// The least element and the lowest index at which it stands. -0 is below +0; the first NaN wins.
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty input; as [`Reduce::reduce`].
    fn min_with_index<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<(DeviceScalar<Self, T>, DeviceScalar<Self, u32>)> {
        let (v, i) = extreme(self, x, End::Least, ["least", "least of two", "least and its index"], |v, i| (v, i))?;
        Ok((DeviceScalar::from_buffer(v)?, DeviceScalar::from_buffer(i)?))
    }

    /// The greatest element and the lowest index at which it stands. +0 is above -0; the first NaN wins.
    ///
    /// # Errors
    /// As [`Reduce::min_with_index`].
    fn max_with_index<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<(DeviceScalar<Self, T>, DeviceScalar<Self, u32>)> {
        let (v, i) = extreme(self, x, End::Greatest, ["greatest", "greatest of two", "greatest and its index"], |v, i| (v, i))?;
        Ok((DeviceScalar::from_buffer(v)?, DeviceScalar::from_buffer(i)?))
    }

    /// The lowest index of the least element; see [`Reduce::min_with_index`].
    ///
    /// # Errors
    /// As [`Reduce::min_with_index`].
    fn argmin<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, u32>> {
        DeviceScalar::from_buffer(extreme(self, x, End::Least, ["least", "least of two", "index of the least"], |_, i| i)?)
    }

    /// The lowest index of the greatest element; see [`Reduce::max_with_index`].
    ///
    /// # Errors
    /// As [`Reduce::min_with_index`].
    fn argmax<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, u32>> {
        DeviceScalar::from_buffer(extreme(self, x, End::Greatest, ["greatest", "greatest of two", "index of the greatest"], |_, i| i)?)
    }

    /// The least and the greatest element, in one pass.
    ///
    /// # Errors
    /// As [`Reduce::min_with_index`].
    fn minmax<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<(DeviceScalar<Self, T>, DeviceScalar<Self, T>)> {
        let (low, high) = self.reduce_parts(x, |x| (x, x), |a, b| (a.0.min(b.0), a.1.max(b.1)), |a| a)?;
        Ok((DeviceScalar::from_buffer(low)?, DeviceScalar::from_buffer(high)?))
    }

    /// Sum divided by the number of elements (converted to `T`, rounding to nearest even).
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty input; as [`Reduce::reduce`].
    fn mean<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        if x.is_empty() {
            return Err(Error::Empty { pattern: "mean" });
        }
        let sum = self.sum(x)?;
        let n = crate::ops::count_as::<T>(x.len());
        DeviceScalar::from_buffer(self.generate(1, (&sum, scalar(n)), |(s, n)| s / n)?)
    }

    /// Sum of the products of elements at the same index: every product is rounded, then summed in the tree's order.
    ///
    /// # Errors
    /// As [`Reduce::reduce_from`].
    fn dot<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>, y: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce_from((x, y), |(x, y)| x * y, Sum)
    }

    /// Sum of the absolute values.
    ///
    /// # Errors
    /// As [`Reduce::reduce`].
    fn norm1<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce_from(x, Expr::abs, Sum)
    }

    /// Square root of the sum of the squares, each square rounded; no scaling, so squares may overflow.
    ///
    /// # Errors
    /// As [`Reduce::reduce`].
    fn norm2<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        if x.is_empty() {
            return self.sum(x);
        }
        DeviceScalar::from_buffer(self.reduce_parts(x, |x| x * x, |a, b| a + b, Expr::sqrt)?)
    }

    /// Greatest absolute value; 0 for an empty input.
    ///
    /// # Errors
    /// As [`Reduce::reduce`].
    fn norm_inf<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        if x.is_empty() {
            return self.sum(x);
        }
        self.reduce_from(x, Expr::abs, Max)
    }

    /// Greatest absolute difference of elements at the same index: the test of an iteration's convergence.
    ///
    /// # Errors
    /// As [`Reduce::reduce_from`]; [`Error::Empty`] for empty inputs.
    fn max_abs_diff<T: Element<Reg = T> + Float + Num>(&self, x: &Buffer<Self, T>, y: &Buffer<Self, T>) -> Result<DeviceScalar<Self, T>> {
        self.reduce_from((x, y), |(x, y)| (x - y).abs(), Max)
    }

    /// The integral of `f` from `a` to `b` by the trapezoid rule on `intervals` intervals: with `h = (b - a) / intervals` (rounded) and
    /// `x_i = fma(i, h, a)`, the sum of `f(x_i)` (the ends weighted by one half) times `h`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no intervals or more than 2^24; as [`Reduce::reduce_from`].
    fn trapezoid(&self, a: f32, b: f32, intervals: u32, f: impl Fn(Expr<f32>) -> Expr<f32>) -> Result<DeviceScalar<Self, f32>> {
        quadrature(self, a, b, intervals, f, |i, n, y| ir::select(i.eq(0) | i.eq(n), y.mul_rn(0.5), y), 1.0)
    }

    /// As [`Reduce::trapezoid`] by Simpson's rule: weights 1, 4, 2, 4, ..., 4, 1 and the sum times `h / 3`; `intervals` is even.
    ///
    /// # Errors
    /// As [`Reduce::trapezoid`], and for an odd number of intervals.
    fn simpson(&self, a: f32, b: f32, intervals: u32, f: impl Fn(Expr<f32>) -> Expr<f32>) -> Result<DeviceScalar<Self, f32>> {
        if !intervals.is_multiple_of(2) {
            return Err(Error::InvalidArgument { what: "intervals", reason: format!("{intervals} is odd") });
        }
        let weigh = |i: Expr<u32>, n: Expr<u32>, y: Expr<f32>| {
            let inner = ir::select((i & 1u32).eq(1), y.mul_rn(4.0), y.mul_rn(2.0));
            ir::select(i.eq(0) | i.eq(n), y, inner)
        };
        quadrature(self, a, b, intervals, f, weigh, 3.0)
    }
}
impl<B: Run<ReduceTask> + Run<MapTask>> Reduce for B {}

fn quadrature<B: Reduce>(
    device: &B,
    a: f32,
    b: f32,
    intervals: u32,
    f: impl Fn(Expr<f32>) -> Expr<f32>,
    weigh: impl Fn(Expr<u32>, Expr<u32>, Expr<f32>) -> Expr<f32>,
    divisor: f32,
) -> Result<DeviceScalar<B, f32>> {
    // Above 2^24 an index is no longer exact in f32.
    if intervals == 0 || intervals > 1 << 24 {
        return Err(Error::InvalidArgument { what: "intervals", reason: format!("{intervals} is not in 1..=16777216") });
    }
    let h = (b - a) / intervals as f32;
    let inputs = (index(), scalar(a), scalar(h), scalar(intervals));
    let points = lazy(inputs, move |(i, a, h, n): (Expr<u32>, Expr<f32>, Expr<f32>, Expr<u32>)| weigh(i, n, f(i.cast::<f32>() * h + a)));
    let sum = device.reduce_range(u64::from(intervals) + 1, points, same, Sum)?;
    DeviceScalar::from_buffer(device.generate(1, (&sum, scalar(h / divisor)), |(s, w)| s.mul_rn(w))?)
}

/// One value of several parts.
pub(super) fn reduce_parts<B: Run<ReduceTask>, R: Outputs>(
    device: &B,
    c: Collector<B>,
    load: Arc<Func>,
    combine: Arc<Func>,
    finish: Arc<Func>,
) -> Result<R::Buffers<B>> {
    let n = c.len()?;
    if n == 0 {
        return Err(Error::Empty { pattern: "reduce" });
    }
    let out = R::allocate(device, 1)?;
    let mut outs = Vec::new();
    R::outs(device, R::refs(&out), 1, &mut outs)?;
    enqueue(device, c, ReduceTask { load, combine, finish, lines: Lines::one(n), numerics: device.numerics() }, &outs)?;
    Ok(out)
}

fn reduce_lines<B: Run<ReduceTask> + Run<MapTask>, T: Element<Reg = T> + Scalar>(
    device: &B,
    c: Collector<B>,
    lines: Lines,
    load: Arc<Func>,
    op: &impl Combine<T>,
    out: &Buffer<B, T>,
) -> Result<()> {
    let mut outs = Vec::new();
    Expr::<T>::outs(device, out, lines.count(), &mut outs)?;
    if lines.count() == 0 {
        return Ok(());
    }
    if lines.n == 0 {
        let Some(v) = op.of_nothing() else { return Err(Error::Empty { pattern: op.name() }) };
        return device.fill(&out.slice(..lines.count())?, v);
    }
    let combine = combine_func(op)?;
    let finish = identity::<T>()?;
    enqueue(device, c, ReduceTask { load, combine, finish, lines, numerics: device.numerics() }, &outs)
}

fn enqueue<B: Run<ReduceTask>>(device: &B, c: Collector<B>, task: ReduceTask, outs: &[(crate::backend::Out<B::Raw>, u64)]) -> Result<()> {
    let outs = checked(device, &c, &task, outs)?;
    device.run(&task, &c.leaves, &outs)
}

/// The outputs of a reduction that keeps what backends rely on.
pub(super) fn checked<B: Backend>(
    device: &B,
    c: &Collector<B>,
    task: &ReduceTask,
    outs: &[(crate::backend::Out<B::Raw>, u64)],
) -> Result<Vec<crate::backend::Out<B::Raw>>> {
    for (o, _) in outs {
        require(device, "reduce", o.dtype)?;
    }
    check_accumulators(&task.load, &task.combine, &task.finish)?;
    check_ops(device, "reduce", task.numerics, &[&task.load, &task.combine, &task.finish])?;
    check_index(c, task.lines.elements())?;
    check_aliasing("reduce", &c.leaves, task.lines.elements(), outs, false)?;
    Ok(outs.iter().map(|(o, _)| o.clone()).collect())
}
