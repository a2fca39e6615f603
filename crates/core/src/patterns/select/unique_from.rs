//! Runs of equal neighbours among what is computed, with what belongs to their first elements.

use super::task::{Call, enqueue};
use super::{Count, Select, SelectKind, Selected, kept_or_not};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::{Input, Outputs, Stored, index};
use crate::ir::graph::Value;
use crate::ir::{Expr, Traced};
use crate::patterns::before::Neighbours;
use crate::patterns::map::collect;

const PATTERN: &str = "select";

/// What [`Select::unique_with`] and [`Select::unique_by_key`] are to buffers, of inputs that never lie in memory, and runs of more than one element.
///
/// Equality, bits, counts and outputs are those of [`Select`]. What an operator gives is computed for an element and for the one before, which is fetched
/// from arrays and views, of at most 2^32 elements from the first to the last.
pub trait UniqueFrom: Select {
    /// The first of each run of what `f` gives of the inputs, where `equal` says whether an element is as the one before it.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[3.0f32, 0.0, 6.0])?, dev.upload(&[4.0f32, 5.5, 8.0])?);
    /// let steps = dev.unique_with_from((&x, &y), |(x, y)| (x * x + y * y).sqrt(), |a, b| (b - a).lt(1.0))?;
    /// assert_eq!(steps.read_blocking()?, [5.0, 10.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`].
    fn unique_with_from<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        equal: impl FnOnce(Expr<T>, Expr<T>) -> Expr<bool>,
    ) -> Result<Selected<Self, Buffer<Self, T>>> {
        let (values, count) = (self.buffer(collect(self, PATTERN, &inputs)?.len()?)?, self.buffer::<u32>(1)?);
        self.unique_with_from_into(inputs, f, equal, &values, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`UniqueFrom::unique_with_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (out, count) = (dev.buffer(9)?, dev.buffer::<u64>(1)?);
    /// dev.unique_with_from_into(counting(9), |i| i, |a, b| (a / 4).eq(b / 4), &out, &count)?;
    /// assert_eq!((count.read_blocking()?, out.slice(..3)?.read_blocking()?), (vec![3], vec![0, 4, 8]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from_into`].
    fn unique_with_from_into<I: Input<Self>, T: Element<Reg = T> + Scalar, C: Count>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        equal: impl FnOnce(Expr<T>, Expr<T>) -> Expr<bool>,
        out: &Buffer<Self, T>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        let call = firsts(self, &inputs, f, equal)?;
        enqueue::<Self, Expr<T>, C>(self, call, out, None, count)
    }

    /// The first key of each run of equal keys, and what goes with it: `f` gives both of the inputs, the key and a value or a tuple of up to three.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Where each ten begins.
    /// let x = dev.upload(&[10u32, 12, 23, 27, 14])?;
    /// let tens = dev.unique_by_key_from((&x, index()), |(x, i)| (x / 10, i))?;
    /// let n = tens.len_blocking()?;
    /// assert_eq!(tens.values.0.slice(..n)?.read_blocking()?, [1, 2, 1]);
    /// assert_eq!(tens.values.1.slice(..n)?.read_blocking()?, [0, 2, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`].
    #[allow(clippy::type_complexity, reason = "buffers of a selection")]
    fn unique_by_key_from<I: Input<Self>, K: Element<Reg = K> + Scalar, R: Outputs>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> (Expr<K>, R),
    ) -> Result<Selected<Self, (Buffer<Self, K>, R::Buffers<Self>)>> {
        let n = collect(self, PATTERN, &inputs)?.len()?;
        let (keys, values, count) = (self.buffer(n)?, R::allocate(self, n)?, self.buffer::<u32>(1)?);
        self.unique_by_key_from_into(inputs, f, (&keys, R::refs(&values)), &count)?;
        Ok(Selected { values: (keys, values), count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`UniqueFrom::unique_by_key_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values, count) = (dev.buffer(6)?, dev.upload(b"......")?, dev.buffer::<u32>(1)?);
    /// dev.unique_by_key_from_into(counting(6), |i| (i / 3, (i + 97).store_as::<u8>()), (&keys, &values), &count)?;
    /// assert_eq!((count.read_blocking()?, values.read_blocking()?), (vec![2], b"ad....".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from_into`].
    fn unique_by_key_from_into<'a, I: Input<Self>, K: Stored + Outputs, R: Outputs, C: Count>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> (K, R),
        out: (K::Refs<'a, Self>, R::Refs<'a, Self>),
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        let call = firsts::<Self, I, <K::Element as Element>::Reg, (K, R)>(self, &inputs, f, Expr::eq)?;
        enqueue::<Self, (K, R), C>(self, call, out, None, count)
    }

    /// Where runs of two equal neighbours and more begin, and how long they are: the runs of [`RunLengths`](super::RunLengths) without those of one element.
    ///
    /// Two selections: of all runs, and of those that are long enough among as many as the device has counted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let runs = dev.non_trivial_runs(&dev.upload(b"aabcccd")?, |x| x)?;
    /// let n = runs.len_blocking()?;
    /// assert_eq!(runs.values.0.slice(..n)?.read_blocking()?, [0, 3]);
    /// assert_eq!(runs.values.1.slice(..n)?.read_blocking()?, [2, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`].
    #[allow(clippy::type_complexity, reason = "two buffers of a selection")]
    fn non_trivial_runs<I: Input<Self>, T: Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
    ) -> Result<Selected<Self, (Buffer<Self, u32>, Buffer<Self, u32>)>> {
        let n = collect(self, PATTERN, &inputs)?.len()?;
        let (starts, lengths, count) = (self.buffer(n)?, self.buffer(n)?, self.buffer(1)?);
        self.non_trivial_runs_into(inputs, f, (&starts, &lengths), &count)?;
        Ok(Selected { values: (starts, lengths), count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`UniqueFrom::non_trivial_runs`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (starts, lengths, count) = (dev.buffer(7)?, dev.buffer(7)?, dev.buffer(1)?);
    /// dev.non_trivial_runs_into(counting(7), |i| i / 3, (&starts, &lengths), &count)?;
    /// assert_eq!((count.read_blocking()?, starts.slice(..2)?.read_blocking()?), (vec![2], vec![0, 3]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from_into`].
    fn non_trivial_runs_into<I: Input<Self>, T: Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        out: (&Buffer<Self, u32>, &Buffer<Self, u32>),
        count: &Buffer<Self, u32>,
    ) -> Result<()> {
        let found = Neighbours::new(self, PATTERN, &inputs, f)?;
        let n = found.c.len()?;
        let func = found.trace_all::<T>(|before, ours, i| vec![starts(before, ours[0], i, Expr::eq), i.value()])?;
        let (begins, lengths, runs) = (self.buffer(n)?, self.buffer(n)?, self.buffer::<u32>(1)?);
        enqueue::<Self, Expr<u32>, u32>(self, Call { c: found.c, func, kind: SelectKind::Runs }, &begins, Some(&lengths), &runs)?;
        let runs = DeviceScalar::from_buffer(runs)?;
        let long = |(begin, length, k, runs): (Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>)| (k.lt(runs) & length.gt(1), (begin, length));
        self.select_from_into((&begins, &lengths, index(), &runs), long, out, count)
    }
}
impl<B: Select> UniqueFrom for B {}

/// Part 0 for what its first result is not equal to that of the element before, or the first of all.
fn starts<T: Scalar>(before: Expr<T>, own: Value, i: Expr<u32>, equal: impl FnOnce(Expr<T>, Expr<T>) -> Expr<bool>) -> Value {
    kept_or_not(i.eq(0) | !equal(before, Expr::from_value(own))).value()
}

/// The selection of the first of each run of what an operator gives first.
fn firsts<B: Select, I: Input<B>, T: Scalar, R: Traced>(
    device: &B,
    inputs: &I,
    f: impl FnOnce(I::Exprs) -> R,
    equal: impl FnOnce(Expr<T>, Expr<T>) -> Expr<bool>,
) -> Result<Call<B>> {
    let found = Neighbours::new(device, PATTERN, inputs, f)?;
    let func = found.trace_all::<T>(|before, ours, i| [vec![starts(before, ours[0], i, equal)], ours].concat())?;
    Ok(Call { c: found.c, func, kind: SelectKind::Keep })
}
