//! Merges of what is computed, by an order of the caller's, that ask first.

use super::call::order;
use super::checked::{check_neighbours, comparison};
use super::found::{check_total, merge};
use super::lazy::MergeByFrom;
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::{Collector, Input, Outputs};
use crate::ir::{Expr, Func, Traced};
use crate::patterns::ReduceTask;
use crate::patterns::before::{Elsewhere, Neighbours};
use crate::patterns::map::{collect, trace};
use crate::patterns::sort::check_len;
use std::sync::Arc;

const PATTERN: &str = "merge_by";

/// [Merges of inputs by an order of the caller's](MergeByFrom) with the question asked first whether they are sorted: one that is not is
/// [`Error::NotSorted`](crate::Error::NotSorted) with the first index whose key comes before its left neighbour, and nothing was written.
///
/// Work is a pass over each input more, in which an operator is computed for an element and for the one before; the device is waited for.
pub trait CheckedMergeByFrom: MergeByFrom + Run<ReduceTask> {
    /// As [`MergeByFrom::merge_by_from`]; an input that is not sorted is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[-3i32, 4, 2])?;
    /// let (size, of_x) = (|a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs()), |x: Expr<i32>| x * 2);
    /// let error = dev.merge_by_checked_from((&x, of_x), (&x, |x| x), size).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the first input", index: 2, .. }));
    /// let merged = dev.merge_by_checked_from((&x.slice(..2)?, of_x), (counting(2), |i| i.cast::<i32>() - 8), |a, b| a.lt(b))?;
    /// assert_eq!(merged.read_blocking()?, [-8, -7, -6, 8]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeByFrom::merge_by_from`], and [`Error::NotSorted`](crate::Error::NotSorted).
    fn merge_by_checked_from<I: Input<Self>, J: Input<Self>, K: Element<Reg = K> + Scalar>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> Expr<K>),
        b: (J, impl FnOnce(J::Exprs) -> Expr<K>),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
    ) -> Result<Buffer<Self, K>> {
        let order = order::<K>(before)?;
        let both = both::<Self, I, J, K, Expr<K>>(self, a, b, &order)?;
        let out = self.buffer(check_total([both[0].len, both[1].len])?)?;
        merge::<Self, Expr<K>>(self, &both, &order, &out)?;
        Ok(out)
    }

    /// As [`CheckedMergeByFrom::merge_by_checked_from`], into the caller's buffer, which stays as it was where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1.0f32, 5.0])?, dev.upload(&[0.5f32; 4])?);
    /// assert!(dev.merge_by_checked_from_into((&x, |x| x), (&x, |x| x), |a, b| a.gt(b), &out).is_err());
    /// assert_eq!(out.read_blocking()?, [0.5; 4]);
    /// dev.merge_by_checked_from_into((&x.reversed(), |x| x), (&x, |x| -x), |a, b| a.gt(b), &out)?;
    /// assert_eq!(out.read_blocking()?, [5.0, 1.0, -1.0, -5.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMergeByFrom::merge_by_checked_from`] and [`MergeByFrom::merge_by_from_into`].
    fn merge_by_checked_from_into<I: Input<Self>, J: Input<Self>, K: Element<Reg = K> + Scalar>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> Expr<K>),
        b: (J, impl FnOnce(J::Exprs) -> Expr<K>),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        let order = order::<K>(before)?;
        merge::<Self, Expr<K>>(self, &both::<Self, I, J, K, Expr<K>>(self, a, b, &order)?, &order, out)
    }

    /// As [`MergeByFrom::merge_pairs_by_from`]; an input whose keys are not sorted is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[12u32, 31])?, dev.upload(&[21u32, 40])?);
    /// let (tens, ones) = (|a: Expr<u32>, b: Expr<u32>| (a / 10).lt(b / 10), |a: Expr<u32>, b: Expr<u32>| (a % 10).lt(b % 10));
    /// let (_, places) = dev.merge_pairs_by_checked_from(((&x, index()), |x| x), ((&y, index()), |y| y), tens)?;
    /// assert_eq!(places.read_blocking()?, [0, 0, 1, 1]);
    /// let error = dev.merge_pairs_by_checked_from(((&y.reversed(), index()), |x| x), ((&y, index()), |y| y), ones).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the second input", index: 1, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMergeByFrom::merge_by_checked_from`].
    fn merge_pairs_by_checked_from<I: Input<Self>, J: Input<Self>, K: Element<Reg = K> + Scalar, R: Outputs>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> (Expr<K>, R)),
        b: (J, impl FnOnce(J::Exprs) -> (Expr<K>, R)),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
    ) -> Result<(Buffer<Self, K>, R::Buffers<Self>)> {
        let order = order::<K>(before)?;
        let both = both::<Self, I, J, K, (Expr<K>, R)>(self, a, b, &order)?;
        let n = check_total([both[0].len, both[1].len])?;
        let out = (self.buffer(n)?, R::allocate(self, n)?);
        merge::<Self, (Expr<K>, R)>(self, &both, &order, (&out.0, R::refs(&out.1)))?;
        Ok(out)
    }

    /// As [`CheckedMergeByFrom::merge_pairs_by_checked_from`], into the caller's buffers, which stay as they were where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[7u32; 5])?, dev.upload(&[9u32; 5])?);
    /// let side = |n: u64, step: u32| (counting(n), move |i: Expr<u32>| (i * step, lit(step)));
    /// let falls = dev.merge_pairs_by_checked_from_into(side(2, 0), side(3, 2), |a, b| a.gt(b), (&keys, &values)).unwrap_err();
    /// assert!(matches!(falls, isowarp::Error::NotSorted { what: "the second input", index: 1, .. }));
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![7; 5], vec![9; 5]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMergeByFrom::merge_pairs_by_checked_from`] and [`MergeByFrom::merge_pairs_by_from_into`].
    fn merge_pairs_by_checked_from_into<'a, I: Input<Self>, J: Input<Self>, K: Element<Reg = K> + Scalar, R: Outputs>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> (Expr<K>, R)),
        b: (J, impl FnOnce(J::Exprs) -> (Expr<K>, R)),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
        out: (&'a Buffer<Self, K>, R::Refs<'a, Self>),
    ) -> Result<()> {
        let order = order::<K>(before)?;
        merge::<Self, (Expr<K>, R)>(self, &both::<Self, I, J, K, (Expr<K>, R)>(self, a, b, &order)?, &order, out)
    }
}
impl<B: MergeByFrom + Run<ReduceTask>> CheckedMergeByFrom for B {}

/// Both inputs of a merge, which are sorted by the first results of their operators.
fn both<B: CheckedMergeByFrom, I: Input<B>, J: Input<B>, K: Scalar, R: Traced>(
    device: &B,
    a: (I, impl FnOnce(I::Exprs) -> R),
    b: (J, impl FnOnce(J::Exprs) -> R),
    order: &Func,
) -> Result<[Elsewhere<B>; 2]> {
    let a = side::<B, I, K, R>(device, "the first input", a, order)?;
    Ok([a, side::<B, J, K, R>(device, "the second input", b, order)?])
}

fn side<B: CheckedMergeByFrom, I: Input<B>, K: Scalar, R: Traced>(
    device: &B,
    what: &'static str,
    (inputs, f): (I, impl FnOnce(I::Exprs) -> R),
    order: &Func,
) -> Result<Elsewhere<B>> {
    let c = collect(device, PATTERN, &inputs)?;
    let value = trace(&inputs, &c, f)?;
    check_len(c.len()?)?;
    let mut again = Collector::new(device, PATTERN);
    again.append(&c)?;
    check_neighbours(device, (PATTERN, what), Neighbours::of(again, Arc::clone(&value))?, comparison::<K>(order))?;
    Elsewhere::of(device, PATTERN, c, value)
}
