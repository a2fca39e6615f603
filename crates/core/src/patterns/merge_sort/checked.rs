//! Whether arrays are in an order of the caller's, and merges that ask first.

use super::call::{merge, order};
use super::sorted::check_sorted_by;
use super::{MergeSort, Pairs};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::ir::{Expr, Func, select};
use crate::ops::Min;
use crate::patterns::before::{Neighbours, inlined};
use crate::patterns::operand::Operand;
use crate::patterns::{MapTask, Reduce as _, ReduceTask};

/// The merges of [`MergeSort`] with the question asked first whether arrays are in order: one that is not sorted is [`Error::NotSorted`], and nothing was
/// written. That is asked by itself by [`is_sorted`](crate::patterns::Sort::is_sorted).
///
/// An array is sorted where no element comes before its left neighbour. Work O(n), in one pass, which is waited for.
pub trait CheckedMergeSort: MergeSort + Run<ReduceTask> {
    /// As [`MergeSort::merge_by`]; an array that is not sorted is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[-1i32, 4])?, dev.upload(&[1i32, -9, 2])?);
    /// let error = dev.merge_by_checked(&a, &b, |a, b| a.abs().lt(b.abs())).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the second array", index: 2, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::merge_by`], and [`Error::NotSorted`] with the first index whose key comes before its left neighbour.
    fn merge_by_checked<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Buffer<Self, K>> {
        let out = self.buffer(a.len() + b.len())?;
        self.merge_by_checked_into(a, b, before, &out)?;
        Ok(out)
    }

    /// As [`CheckedMergeSort::merge_by_checked`], into the caller's buffer, which stays as it was where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b, out) = (dev.upload(&[2u8, 3])?, dev.upload(&[9u8])?, dev.upload(b"...")?);
    /// assert!(dev.merge_by_checked_into(&a, &b, |a, b| a.gt(b), &out).is_err());
    /// assert_eq!(out.read_blocking()?, *b"...");
    /// dev.merge_by_checked_into(&b, &a, |a, b| a.lt(b), &out)?;
    /// assert_eq!(out.read_blocking()?, [2, 3, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMergeSort::merge_by_checked`] and [`MergeSort::merge_by_into`].
    fn merge_by_checked_into<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        let before = order::<K>(before)?;
        both_sorted(self, (a, b), &before)?;
        merge::<Self, K, K>(self, (a, None), (b, None), before, (out, None))
    }

    /// As [`MergeSort::merge_pairs_by`]; an array of keys that is not sorted is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, v) = (dev.upload(&[10u32, 21])?, dev.upload(b"ab")?);
    /// let (b, w) = (dev.upload(&[40u32, 12])?, dev.upload(b"cd")?);
    /// let (_, values) = dev.merge_pairs_by_checked((&a, &v), (&b, &w), |a, b| (a % 10).lt(b % 10))?;
    /// assert_eq!(values.read_blocking()?, *b"acbd");
    /// assert!(dev.merge_pairs_by_checked((&a, &v), (&b, &w), |a, b| a.lt(b)).is_err());
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::merge_pairs_by`] and [`CheckedMergeSort::merge_by_checked`].
    fn merge_pairs_by_checked<K: Element, V: Element>(
        &self,
        a: Pairs<'_, Self, K, V>,
        b: Pairs<'_, Self, K, V>,
        before: impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<(Buffer<Self, K>, Buffer<Self, V>)> {
        let n = a.0.len() + b.0.len();
        let out = (self.buffer(n)?, self.buffer(n)?);
        self.merge_pairs_by_checked_into(a, b, before, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`CheckedMergeSort::merge_pairs_by_checked`], into the caller's buffers, which stay as they were where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, v) = (dev.upload(&[5i32, 6])?, dev.upload(&[0.5f32, 0.6])?);
    /// let (keys, values) = (dev.upload(&[0i32; 4])?, dev.upload(&[0.0f32; 4])?);
    /// let error = dev.merge_pairs_by_checked_into((&a, &v), (&a, &v), |a, b| a.gt(b), (&keys, &values)).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the first array", index: 1, .. }));
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![0; 4], vec![0.0; 4]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMergeSort::merge_pairs_by_checked`] and [`MergeSort::merge_pairs_by_into`].
    fn merge_pairs_by_checked_into<K: Element, V: Element>(
        &self,
        a: Pairs<'_, Self, K, V>,
        b: Pairs<'_, Self, K, V>,
        before: impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: Pairs<'_, Self, K, V>,
    ) -> Result<()> {
        let before = order::<K>(before)?;
        both_sorted(self, (a.0, b.0), &before)?;
        merge(self, (a.0, Some(a.1)), (b.0, Some(b.1)), before, (out.0, Some(out.1)))
    }
}
impl<B: MergeSort + Run<ReduceTask>> CheckedMergeSort for B {}

/// An order that was traced, in another operator.
pub(in crate::patterns) fn comparison<T: Scalar>(before: &Func) -> impl Fn(Expr<T>, Expr<T>) -> Expr<bool> {
    |a, b| inlined(before, &[a.value(), b.value()], 0)
}

/// Fails for the first element of an input that comes before its left neighbour. Waits for the device.
pub(in crate::patterns) fn check_neighbours<B: Run<ReduceTask> + Run<MapTask>, T: Scalar>(
    device: &B,
    (pattern, what): (&'static str, &'static str),
    found: Neighbours<B>,
    before: impl Fn(Expr<T>, Expr<T>) -> Expr<bool>,
) -> Result<()> {
    if found.c.len()? < 2 {
        return Ok(());
    }
    let func = found.trace(|left, key, i| select(i.eq(0) | !before(key, left), u32::MAX, i))?;
    match device.reduce(&Operand::<_, u32>::new(found.c, func), Min).run()?.read_blocking()? {
        u32::MAX => Ok(()),
        index => Err(Error::NotSorted { pattern, what, index: index.into() }),
    }
}

fn both_sorted<B: CheckedMergeSort, K: Element>(device: &B, (a, b): (&Buffer<B, K>, &Buffer<B, K>), before: &Func) -> Result<()> {
    check_sorted_by(device, "merge_by", "the first array", a, comparison(before))?;
    check_sorted_by(device, "merge_by", "the second array", b, comparison(before))
}
