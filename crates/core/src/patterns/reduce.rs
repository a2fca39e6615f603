//! P02 reduce: all elements combined into one value, or those of every line, segment, or run of equal keys.

mod call;
mod domain;
mod quadrature;
mod statistics;
mod task;

pub(crate) use call::check_count;
pub use quadrature::{Integral, Quadrature};
pub use statistics::Statistics;
pub use task::ReduceTask;

use super::map::{MapTask, collect};
use crate::backend::Run;
use crate::buffer::DeviceScalar;
use crate::call::{ByClosure, ByOperator, Call, Unchanged, Whole};
use crate::element::{Element, Num, Scalar};
use crate::error::Result;
use crate::input::Input;
use crate::ir::Expr;
use crate::ops::{Combine, Max, Min, Sum};

/// Reductions of a whole array, of lines along an axis, of segments, and of runs of equal keys. Those with names of their own are in [`Statistics`] and
/// [`Quadrature`].
///
/// # Order of evaluation
/// The *aligned binary tree*, a function of the number of elements alone: node (k, j) covers the elements `j * 2^k .. (j + 1) * 2^k`
/// that exist; a node with an empty right half is its left half (no identity is put in); any other is
/// `combine(left, right)`, the left operand from lower indices. So an operator has to be associative, but need not commute, and float
/// sums are pairwise: the error grows with log2(n), not with n.
///
/// Elements are combined in every type that operators compute in; narrow ones are loaded as `f32`, `i32` or `u32`. An
/// accumulator has at most four 32-bit words. Work O(n), scratch at most 1 % of the input (or 512 KiB). Results stay on the device; outputs may not overlap inputs.
///
/// [Segments](Call::segments) and [runs of equal keys](Call::by_key) are reduced as arrays of their own: by the tree that is counted from their start.
/// [`Segmented`](super::Segmented) has what else holds of them.
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, chapters 1 to 3; Blelloch, *Prefix sums and their applications* (1990).
pub trait Reduce: Run<ReduceTask> + Run<MapTask> {
    /// Reduces by an associative operator: all elements combined.
    ///
    /// The result of a whole array stays on the device as a [`DeviceScalar`]; those of [lines](Call::axis) and [segments](Call::segments) are a buffer, and
    /// those of [runs of equal keys](Call::by_key) the runs' keys and a buffer, with their number on the device. Nothing has the operator's identity; a minimum
    /// or maximum of nothing is [`Error::Empty`](crate::Error::Empty), but of an empty segment the identity, since only the device knows that it is empty.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3.0f32, 1.0, 2.0])?;
    /// assert_eq!(dev.reduce(&x, Sum).run()?.read_blocking()?, 6.0);
    /// assert_eq!(dev.reduce(&x, Min).run()?.read_blocking()?, 1.0);
    /// // Any input; it is fused into the reduction.
    /// assert_eq!(dev.reduce((&x, index()).map(|(x, i)| x * i.cast::<f32>()), Max).run()?.read_blocking()?, 4.0);
    /// // Your own operator: which of two is farther from zero.
    /// let farther = Op::associative(0.0f32, |a, b| a.abs().ge(b.abs()).select(a, b));
    /// assert_eq!(dev.reduce(&dev.upload(&[2.0f32, -5.0, 4.0])?, farther).run()?.read_blocking()?, -5.0);
    /// // Sums of runs of equal keys.
    /// let sums = dev.reduce(&x, Sum).by_key(&dev.upload(&[7u8, 7, 2])?).run()?;
    /// let n = sums.len_blocking()?;
    /// assert_eq!(sums.values.0.slice(..n)?.read_blocking()?, [7, 2]);
    /// assert_eq!(sums.values.1.slice(..n)?.read_blocking()?, [4.0, 2.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn reduce<I: Input<Self, Exprs = Expr<T>>, T: Scalar, C: Combine<T>>(
        &self,
        inputs: I,
        op: C,
    ) -> ReduceCall<'_, Self, I, ByOperator<C>> {
        Call::new(self, inputs, ByOperator(op))
    }

    /// Reduces by a closure of accumulators, which may have several parts: the input's values. The left operand always comes from lower indices.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Sum and sum of squares in one pass.
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0])?;
    /// let (sum, squares) = dev.reduce_by(x.map(|x| (x, x * x)), |a, b| (a.0 + b.0, a.1 + b.1)).run()?;
    /// assert_eq!((sum.read_blocking()?, squares.read_blocking()?), (6.0, 14.0));
    /// // One result of both: the root mean square of each segment.
    /// let offsets = dev.upload(&[0u32, 2, 2, 3])?;
    /// let of = dev.reduce_by(x.map(|x| (x * x, lit(1u32))), |a, b| (a.0 + b.0, a.1 + b.1)).segments(&offsets);
    /// let rms = of.identity((0.0, 0)).finish(|(sum, n)| (sum / n.max(1).cast::<f32>()).sqrt()).run()?;
    /// assert_eq!(rms.read_blocking()?, [2.5f32.sqrt(), 0.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn reduce_by<I: Input<Self>, F: Fn(I::Exprs, I::Exprs) -> I::Exprs>(
        &self,
        inputs: I,
        combine: F,
    ) -> ReduceCall<'_, Self, I, ByClosure<F>> {
        Call::new(self, inputs, ByClosure(combine))
    }

    /// Sum of all elements, in their type's [register type](Element::Reg); integers wrap.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[2u32, 3, 5])?;
    /// assert_eq!(dev.sum(&x)?.read_blocking()?, 10);
    /// assert_eq!(dev.sum(x.map(|x| x * x))?.read_blocking()?, 38);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`].
    fn sum<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Num>(&self, inputs: I) -> Result<DeviceScalar<Self, T>> {
        self.reduce(inputs, Sum).run()
    }

    /// Least element (floats: IEEE 754-2019 minimum).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// assert_eq!(dev.min(&dev.upload(&[2i32, -3, 5])?)?.read_blocking()?, -3);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`].
    fn min<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Num>(&self, inputs: I) -> Result<DeviceScalar<Self, T>> {
        self.reduce(inputs, Min).run()
    }

    /// Greatest element (floats: IEEE 754-2019 maximum).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// assert_eq!(dev.max(&dev.upload(&[2i32, -3, 5])?)?.read_blocking()?, 5);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`].
    fn max<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Num>(&self, inputs: I) -> Result<DeviceScalar<Self, T>> {
        self.reduce(inputs, Max).run()
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
    /// As [`Call::run`]; [`Error::TooLarge`](crate::Error::TooLarge) for more than 2^32 - 1 elements: sum up
    /// conditions that are cast to `u64` of these, `dev.reduce(x.map(|x| x.gt(0.0).cast::<u64>()), Sum)`.
    fn count<I: Input<Self>>(&self, inputs: I, f: impl Fn(I::Exprs) -> Expr<bool>) -> Result<DeviceScalar<Self, u32>> {
        check_count(collect(self, "reduce", &inputs)?.len()?)?;
        self.reduce(inputs.map(|x| f(x).cast::<u32>()), Sum).run()
    }
}
impl<B: Run<ReduceTask> + Run<MapTask>> Reduce for B {}

/// The verb of reductions.
#[derive(Clone, Copy, Debug)]
pub struct Reducing;

/// A reduction that is described; see [`Reduce`] and the modifiers of [`Call`].
pub type ReduceCall<'d, B, I, O, F = Unchanged, P = Whole> = Call<'d, Reducing, B, I, O, F, P>;
