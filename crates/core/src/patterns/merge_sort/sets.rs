//! Arrays that are sorted by an order of the caller's as multisets.

use super::call::{merge, order};
use super::found::{End, check_total, search};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{index, require, scalar};
use crate::ir::{Expr, Func};
use crate::patterns::before::Elsewhere;
use crate::patterns::map::same;
use crate::patterns::operand::Operand;
use crate::patterns::select::Count;
use crate::patterns::{Map as _, Merge, Select, Selected, check_aliasing, check_ops};
use std::sync::Arc;

/// [Sets](crate::patterns::Sets) of arrays that are sorted by an order of the caller's, as C++'s algorithms define them for multisets.
///
/// Elements are equal where neither comes before the other, so which of them a result holds shows: the table of [`Sets`](crate::patterns::Sets) says it. Where
/// the order is not [strict and weak](Merge#comparators), or an array is not sorted by it, results are not determined, and no access leaves a buffer.
///
/// Counts stay on the device. What lies behind the elements that are written stays as it was. Outputs may not overlap inputs. Both arrays have less than
/// 2^32 elements together. Work O((m + n) log(m + n)); scratch is eight bytes to an element of `a`, and in unions and symmetric differences of `b` too,
/// beside the merged elements with a flag of four bytes.
///
/// Source: as [`Sets`](crate::patterns::Sets).
pub trait SetsBy: Merge + Select {
    /// The elements of either array: of those that are equal all of `a`, and of `b` the last ones that it has more.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[-1i32, 2, -5])?, dev.upload(&[1i32, -2, 2, 4])?);
    /// let size = |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs());
    /// assert_eq!(dev.union_by(&a, &b, size)?.read_blocking()?, [-1, 2, 2, 4, -5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeCall::run`](crate::patterns::MergeCall::run); [`Error::TooLarge`] for 2^32 elements together.
    fn union_by<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Selected<Self, Buffer<Self, K>>> {
        let (values, count) = (self.buffer(a.len() + b.len())?, self.buffer::<u32>(1)?);
        self.union_by_into(a, b, before, &values, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`SetsBy::union_by`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b, out, count) = (dev.upload(&[9u8, 1])?, dev.upload(&[5u8, 1])?, dev.upload(b"....")?, dev.buffer::<u32>(1)?);
    /// dev.union_by_into(&a, &b, |a, b| a.gt(b), &out, &count)?;
    /// assert_eq!((out.slice(..3)?.read_blocking()?, count.read_blocking()?), (vec![9, 5, 1], vec![3]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SetsBy::union_by`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn union_by_into<K: Element, C: Count>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, K>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        both(self, (a, b), (order::<K>(before)?, false), (out, count))
    }

    /// The elements of both arrays: of those that are equal the first ones of `a`, as many as the array with fewer has.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[-1i32, 2, -2, -5])?, dev.upload(&[1i32, -2, 4])?);
    /// let size = |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs());
    /// assert_eq!(dev.intersection_by(&a, &b, size)?.read_blocking()?, [-1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeCall::run`](crate::patterns::MergeCall::run); [`Error::TooLarge`] for 2^32 elements together.
    fn intersection_by<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Selected<Self, Buffer<Self, K>>> {
        let (values, count) = (self.buffer(a.len())?, self.buffer::<u32>(1)?);
        self.intersection_by_into(a, b, before, &values, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`SetsBy::intersection_by`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b, out, count) = (dev.upload(&[9u32, 1])?, dev.upload(&[5u32, 1])?, dev.buffer(2)?, dev.buffer::<u64>(1)?);
    /// dev.intersection_by_into(&a, &b, |a, b| a.gt(b), &out, &count)?;
    /// assert_eq!((out.slice(..1)?.read_blocking()?, count.read_blocking()?), (vec![1], vec![1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SetsBy::intersection_by`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn intersection_by_into<K: Element, C: Count>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, K>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        one(self, (a, b), (order::<K>(before)?, true), (out, count))
    }

    /// The elements of `a` that remain when those of `b` are taken away: of those that are equal the last ones.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[-1i32, 2, -2, -5])?, dev.upload(&[1i32, -2, 4])?);
    /// let size = |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs());
    /// assert_eq!(dev.difference_by(&a, &b, size)?.read_blocking()?, [-2, -5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeCall::run`](crate::patterns::MergeCall::run); [`Error::TooLarge`] for 2^32 elements together.
    fn difference_by<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Selected<Self, Buffer<Self, K>>> {
        let (values, count) = (self.buffer(a.len())?, self.buffer::<u32>(1)?);
        self.difference_by_into(a, b, before, &values, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`SetsBy::difference_by`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b, out, count) = (dev.upload(&[9u32, 1])?, dev.upload(&[5u32, 1])?, dev.buffer(2)?, dev.buffer::<u64>(1)?);
    /// dev.difference_by_into(&a, &b, |a, b| a.gt(b), &out, &count)?;
    /// assert_eq!((out.slice(..1)?.read_blocking()?, count.read_blocking()?), (vec![9], vec![1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SetsBy::difference_by`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn difference_by_into<K: Element, C: Count>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, K>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        one(self, (a, b), (order::<K>(before)?, false), (out, count))
    }

    /// The elements that one array has more than the other: of those that are equal the last ones.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[-1i32, 2, -2, -5])?, dev.upload(&[1i32, -2, 4])?);
    /// let size = |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs());
    /// assert_eq!(dev.symmetric_difference_by(&a, &b, size)?.read_blocking()?, [-2, 4, -5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeCall::run`](crate::patterns::MergeCall::run); [`Error::TooLarge`] for 2^32 elements together.
    fn symmetric_difference_by<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Selected<Self, Buffer<Self, K>>> {
        let (values, count) = (self.buffer(a.len() + b.len())?, self.buffer::<u32>(1)?);
        self.symmetric_difference_by_into(a, b, before, &values, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`SetsBy::symmetric_difference_by`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b, out, count) = (dev.upload(&[9u32, 1])?, dev.upload(&[5u32, 1])?, dev.buffer(4)?, dev.buffer::<u32>(1)?);
    /// dev.symmetric_difference_by_into(&a, &b, |a, b| a.gt(b), &out, &count)?;
    /// assert_eq!((out.slice(..2)?.read_blocking()?, count.read_blocking()?), (vec![9, 5], vec![2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SetsBy::symmetric_difference_by`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn symmetric_difference_by_into<K: Element, C: Count>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, K>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        both(self, (a, b), (order::<K>(before)?, true), (out, count))
    }
}
impl<B: Merge + Select> SetsBy for B {}

const PATTERN: &str = "a set operation";

type Two<'a, B, K> = (&'a Buffer<B, K>, &'a Buffer<B, K>);
/// Elements and their number.
type Outs<'a, B, K, C> = (&'a Buffer<B, K>, &'a Buffer<B, C>);

fn check<B: SetsBy, K: Element, C: Count>(
    device: &B,
    (a, b): Two<'_, B, K>,
    order: &Arc<Func>,
    (out, count): Outs<'_, B, K, C>,
    required: u64,
) -> Result<()> {
    check_total([a.len(), b.len()])?;
    check_ops(device, PATTERN, device.numerics(), &[order])?;
    for x in [a, b] {
        x.check_device(device, "an input")?;
    }
    out.check_device(device, "the output")?;
    count.check_device(device, "the count")?;
    for dtype in [K::DTYPE, C::DTYPE] {
        require(device, PATTERN, dtype)?;
    }
    for (what, len, required) in [("the output", out.len(), required), ("the count", count.len(), 1)] {
        if len < required {
            return Err(Error::BufferTooSmall { what, required, available: len });
        }
    }
    let outs = [(out.out(), required), (count.out(), 1)];
    [a, b].into_iter().try_for_each(|x| check_aliasing(PATTERN, &[x.leaf()], x.len(), &outs, false))
}

/// For each element of an array how many come before it there, and how many of the other are equal to it.
fn among<B: SetsBy, K: Element>(
    device: &B,
    own: &Buffer<B, K>,
    other: &Buffer<B, K>,
    order: &Arc<Func>,
) -> Result<(Buffer<B, u32>, Buffer<B, u32>)> {
    let found = (device.buffer(own.len())?, device.buffer(own.len())?);
    let in_array = |array: &Buffer<B, K>, ends: &[End], out: &Buffer<B, u32>| {
        let needles = Operand::<B, K::Reg>::traced(device, PATTERN, &own, same)?;
        search(device, &Elsewhere::new(device, PATTERN, &array, same)?, &needles, order, ends, out)
    };
    in_array(own, &[End::Lower], &found.0)?;
    in_array(other, &[End::Lower, End::Upper], &found.1)?;
    Ok(found)
}

/// Of the first array the elements that the second has too, or those that it has not.
fn one<B: SetsBy, K: Element, C: Count>(
    device: &B,
    (a, b): Two<'_, B, K>,
    (order, shared): (Arc<Func>, bool),
    (out, count): Outs<'_, B, K, C>,
) -> Result<()> {
    check(device, (a, b), &order, (out, count), a.len())?;
    let (first, others) = among(device, a, b, &order)?;
    let keep = |(_, i, first, others): (Expr<K::Reg>, Expr<u32>, Expr<u32>, Expr<u32>)| {
        let is_shared = (i - first).lt(others);
        if shared { is_shared } else { !is_shared }
    };
    device.select((a, index(), &first, &others), keep).finish(|(x, ..)| x.store_as::<K>()).write_to((out, count))
}

/// The merge of both arrays, without the elements of the second that the first has too, and possibly without those of the first that the second has.
/// Whether an element stays is its value in the merge.
fn both<B: SetsBy, K: Element, C: Count>(
    device: &B,
    (a, b): Two<'_, B, K>,
    (order, symmetric): (Arc<Func>, bool),
    (out, count): Outs<'_, B, K, C>,
) -> Result<()> {
    let total = a.len() + b.len();
    check(device, (a, b), &order, (out, count), total)?;
    let stays = |own: &Buffer<B, K>, other: &Buffer<B, K>| {
        let (first, others) = among(device, own, other, &order)?;
        device.map((&first, &others, index()), |(first, others, i)| (i - first).ge(others).cast::<u32>())
    };
    let of_a = if symmetric { stays(a, b)? } else { device.generate(a.len(), scalar(1u32), |one| one)? };
    let of_b = stays(b, a)?;
    let (keys, flags) = (device.buffer::<K>(total)?, device.buffer::<u32>(total)?);
    merge(device, (a, Some(&of_a)), (b, Some(&of_b)), order, (&keys, Some(&flags)))?;
    device.select_flagged(&keys, &flags).write_to((out, count))
}
