//! Whether arrays are in an order of the caller's, and merges that ask first.

use super::call::{merge, order};
use super::sorted::check_sorted_by;
use super::{MergeSort, Pairs};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Input, Source as _, array, counting};
use crate::ir::{ArrayExpr, Expr, Func, select};
use crate::ops::Min;
use crate::patterns::before::{Neighbours, inlined};
use crate::patterns::operand::Operand;
use crate::patterns::sort::check_len;
use crate::patterns::{MapTask, Reduce as _, ReduceTask};

/// Whether arrays are in an order of the caller's, which is what [`MergeSort::sort_by`] takes, and the merges of [`MergeSort`] with that question asked
/// first: an array that is not sorted is [`Error::NotSorted`], and nothing was written.
///
/// An array is sorted where no element comes before its left neighbour. Work O(n), in one pass, whose result the `is_` forms leave on the device; the
/// others wait for it. They go before whatever else takes what is sorted by an order: [searches](super::SearchBy), [sets](super::SetsBy), and
/// [merges of inputs](super::MergeByFrom), which have [checked forms](super::CheckedMergeByFrom) too.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let (sorted, needles) = (dev.upload(&[-10i32, 30, 20])?, dev.upload(&[20i32])?);
/// let size = |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs());
/// let error = dev.check_sorted_by(&sorted, size).and_then(|()| dev.lower_bound_by(&sorted, &needles, size)).unwrap_err();
/// assert!(matches!(error, isowarp::Error::NotSorted { index: 2, .. }));
/// # Ok::<(), isowarp::Error>(())
/// ```
pub trait CheckedMergeSort: MergeSort + Run<ReduceTask> {
    /// 1 where no key comes before its left neighbour, else 0.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[310u32, 111, 120, 20])?;
    /// assert_eq!(dev.is_sorted_by(&keys, |a, b| (a % 10).lt(b % 10))?.read_blocking()?, 0);
    /// assert_eq!(dev.is_sorted_by(&keys, |a, b| (a % 100).lt(b % 100))?.read_blocking()?, 1);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::Op`], [`Error::NotStrict`], [`Error::OutOfMemory`], [`Error::WrongDevice`]; [`Error::TooLarge`] for 2^32 keys
    /// and more.
    fn is_sorted_by<K: Element>(
        &self,
        keys: &Buffer<Self, K>,
        before: impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<DeviceScalar<Self, u32>> {
        let n = keys.len();
        check_len(n)?;
        if n < 2 {
            return self.upload_scalar(1);
        }
        let fits = |(k, i): (ArrayExpr<K>, Expr<u32>)| (!before(k.at(i + 1), k.at(i))).cast::<u32>();
        self.reduce((array(keys), counting(n - 1)).map(fits), Min).run()
    }

    /// As [`CheckedMergeSort::is_sorted_by`] of `f` of the inputs, which never lies in memory: it is computed for an element and for the one before,
    /// which is fetched from arrays and views, of at most 2^32 elements from the first to the last.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3i32, -2, 1])?;
    /// let by_size = |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs());
    /// assert_eq!(dev.is_sorted_by_from(&x.reversed(), |x| x, by_size)?.read_blocking()?, 1);
    /// assert_eq!(dev.is_sorted_by_from((&x, index()), |(x, i)| x + i.cast::<i32>() * 4, by_size)?.read_blocking()?, 0); // 3, 2, 9
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMergeSort::is_sorted_by`], and [`Error::LengthMismatch`].
    fn is_sorted_by_from<I: Input<Self>, T: Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        before: impl Fn(Expr<T>, Expr<T>) -> Expr<bool>,
    ) -> Result<DeviceScalar<Self, u32>> {
        let found = Neighbours::new(self, "is_sorted", &inputs, f)?;
        let n = found.c.len()?;
        check_len(n)?;
        if n < 2 {
            return self.upload_scalar(1);
        }
        let func = found.trace(|left, key, i| (i.eq(0) | !before(key, left)).cast::<u32>())?;
        self.reduce(&Operand::<_, u32>::new(found.c, func), Min).run()
    }

    /// Fails for keys that are not in order, naming the first that comes before its left neighbour. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[1i64, -2, 3, -1])?;
    /// let error = dev.check_sorted_by(&keys, |a, b| a.abs().lt(b.abs())).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { index: 3, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotSorted`]; [`Error::Unsupported`], [`Error::Op`], [`Error::NotStrict`], [`Error::OutOfMemory`], [`Error::WrongDevice`].
    fn check_sorted_by<K: Element>(&self, keys: &Buffer<Self, K>, before: impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>) -> Result<()> {
        let before = order::<K>(before)?;
        check_sorted_by(self, "check_sorted", "the array", keys, comparison(&before))
    }

    /// As [`CheckedMergeSort::check_sorted_by`] of `f` of the inputs, computed as in [`CheckedMergeSort::is_sorted_by_from`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let error = dev.check_sorted_by_from(counting(9), |i| i * 40, |a, b| (a % 100).lt(b % 100)).unwrap_err(); // 0, 40, 80, 120
    /// assert!(matches!(error, isowarp::Error::NotSorted { index: 3, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotSorted`], and as [`CheckedMergeSort::is_sorted_by_from`].
    fn check_sorted_by_from<I: Input<Self>, T: Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        before: impl Fn(Expr<T>, Expr<T>) -> Expr<bool>,
    ) -> Result<()> {
        let found = Neighbours::new(self, "check_sorted", &inputs, f)?;
        check_len(found.c.len()?)?;
        check_neighbours(self, ("check_sorted", "the input"), found, before)
    }

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
pub(super) fn comparison<T: Scalar>(before: &Func) -> impl Fn(Expr<T>, Expr<T>) -> Expr<bool> {
    |a, b| inlined(before, &[a.value(), b.value()], 0)
}

/// Fails for the first element of an input that comes before its left neighbour. Waits for the device.
pub(super) fn check_neighbours<B: Run<ReduceTask> + Run<MapTask>, T: Scalar>(
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
