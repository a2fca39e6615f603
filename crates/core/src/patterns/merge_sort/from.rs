//! Sorts of what is computed by an order of the caller's: evaluated once, where it is then sorted.

use super::MergeSort;
use super::call::{order, sort};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::input::{Input, Outputs, index};
use crate::ir::{Expr, Func};
use crate::patterns::sort::{Computed, Keyed};
use crate::patterns::{check_aliasing, check_ops};
use std::sync::Arc;

/// [Sorts by an order of the caller's](MergeSort) of keys, and values, that an operator computes of inputs: what is counted, constant, zipped, permuted,
/// reversed, or computed.
///
/// The order is [`MergeSort`](MergeSort#order)'s, of what a [map](crate::patterns::Map) would store. The operator is evaluated once, straight into the
/// outputs, and sorted there: a write and a read of keys and what travels more than a sort that computed nothing. Scratch is that of a sort in place;
/// an argsort's keys lie where other argsorts have theirs between the passes. No output may overlap an input. Arrays have less than 2^32 elements.
pub trait MergeSortFrom: MergeSort {
    /// `f` of the inputs, in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // 0, 3, 6, 9, 12 by the last digit.
    /// assert_eq!(dev.sort_by_from(counting(5), |i| i * 3, |a, b| (a % 10).lt(b % 10))?.read_blocking()?, [0, 12, 3, 6, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::sort_by`] and [`Map::map`](crate::patterns::Map::map).
    fn sort_by_from<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Buffer<Self, K>> {
        let of = Computed::new(self, &inputs, f)?;
        let out = self.buffer(of.n)?;
        keys::<Self, K, R>(self, of, order::<K>(before)?, &out)?;
        Ok(out)
    }

    /// As [`MergeSortFrom::sort_by_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[0.5f32, -4.0, 2.0])?, dev.buffer(3)?);
    /// dev.sort_by_from_into(&x.reversed(), |x| x * 2.0, |a, b| a.abs().gt(b.abs()), &out)?;
    /// assert_eq!(out.read_blocking()?, [-8.0, 4.0, 1.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSortFrom::sort_by_from`] and [`MergeSort::sort_by_into`].
    fn sort_by_from_into<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        keys::<Self, K, R>(self, Computed::new(self, &inputs, f)?, order::<K>(before)?, out)
    }

    /// The keys and values of any type that `f` gives of the inputs, the keys in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Even keys first.
    /// let even = |a: Expr<u32>, b: Expr<u32>| (a & 1u32).lt(b & 1u32);
    /// let (keys, bytes) = dev.sort_pairs_by_from(counting(4), |i| (i, (i * 9).store_as::<u8>()), even)?;
    /// assert_eq!((keys.read_blocking()?, bytes.read_blocking()?), (vec![0, 2, 1, 3], vec![0, 18, 9, 27]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSortFrom::sort_by_from`].
    fn sort_pairs_by_from<I: Input<Self>, K: Element, V: Element, R: Outputs<Buffers<Self> = Keyed<Self, K, V>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Keyed<Self, K, V>> {
        let of = Computed::new(self, &inputs, f)?;
        let out = (self.buffer(of.n)?, self.buffer(of.n)?);
        pairs::<Self, K, V, R>(self, of, order::<K>(before)?, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`MergeSortFrom::sort_pairs_by_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (k, v) = (dev.buffer(3)?, dev.buffer(3)?);
    /// dev.sort_pairs_by_from_into(counting(3), |i| (i, i.cast::<f64>() * 0.5), |a, b| a.gt(b), (&k, &v))?;
    /// assert_eq!(v.read_blocking()?, [1.0, 0.5, 0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSortFrom::sort_by_from_into`].
    fn sort_pairs_by_from_into<I: Input<Self>, K: Element, V: Element, R: Outputs<Buffers<Self> = Keyed<Self, K, V>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()> {
        pairs::<Self, K, V, R>(self, Computed::new(self, &inputs, f)?, order::<K>(before)?, out)
    }

    /// The indices of `f` of the inputs in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[3i32, -1, 2])?, dev.upload(&[-1i32, 4, 3])?);
    /// assert_eq!(dev.argsort_by_from((&x, &y), |(x, y)| x * y, |a, b| a.abs().lt(b.abs()))?.read_blocking()?, [0, 1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSortFrom::sort_by_from`].
    fn argsort_by_from<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Buffer<Self, u32>> {
        let of = Computed::new(self, &(inputs, index()), |(x, i)| (f(x), i))?;
        let out = (self.buffer::<K>(of.n)?, self.buffer(of.n)?);
        pairs::<Self, K, u32, (R, Expr<u32>)>(self, of, order::<K>(before)?, (&out.0, &out.1))?;
        Ok(out.1)
    }

    /// As [`MergeSortFrom::argsort_by_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer(3)?;
    /// dev.argsort_by_from_into(counting(3), |i| i ^ 1, |a, b| a.lt(b), &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 0, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSortFrom::sort_by_from_into`].
    fn argsort_by_from_into<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, u32>,
    ) -> Result<()> {
        let of = Computed::new(self, &(inputs, index()), |(x, i)| (f(x), i))?;
        let keys = self.buffer::<K>(of.n)?;
        pairs::<Self, K, u32, (R, Expr<u32>)>(self, of, order::<K>(before)?, (&keys, out))
    }
}
impl<B: MergeSort> MergeSortFrom for B {}

/// Computes keys where they are sorted. All is checked before anything is written.
fn keys<B: MergeSort, K: Element, R: Outputs<Buffers<B> = Buffer<B, K>>>(
    device: &B,
    of: Computed<B>,
    before: Arc<Func>,
    out: &Buffer<B, K>,
) -> Result<()> {
    let keys = of.room(out)?;
    out.check_device(device, "the output")?;
    check_ops(device, "sort_by", device.numerics(), &[&before])?;
    check_aliasing("sort_by", &of.c.leaves, of.n, &[(keys.out(), of.n)], false)?;
    of.store::<R>(device, R::refs(&keys))?;
    sort::<B, K, K>(device, (&keys, None), before, (&keys, None), true)
}

/// The same of keys and the values that go with them.
fn pairs<B: MergeSort, K: Element, V: Element, R: Outputs<Buffers<B> = Keyed<B, K, V>>>(
    device: &B,
    of: Computed<B>,
    before: Arc<Func>,
    out: (&Buffer<B, K>, &Buffer<B, V>),
) -> Result<()> {
    let both = (of.room(out.0)?, of.room(out.1)?);
    out.0.check_device(device, "the output")?;
    out.1.check_device(device, "the output")?;
    check_ops(device, "sort_by", device.numerics(), &[&before])?;
    check_aliasing("sort_by", &of.c.leaves, of.n, &[(both.0.out(), of.n), (both.1.out(), of.n)], false)?;
    of.store::<R>(device, R::refs(&both))?;
    sort(device, (&both.0, Some(&both.1)), before, (&both.0, Some(&both.1)), true)
}
