//! P07 sort by an order of the caller's: a stable merge sort; and merges by such an order.

mod call;
mod checked;
mod checked_from;
mod found;
mod lazy;
mod search;
mod sets;
mod sorted;
mod task;

pub(super) use call::{argsort, order, sort, sort_with};
pub use checked::CheckedMergeSort;
pub(super) use checked::{check_neighbours, comparison};
pub use checked_from::CheckedMergeByFrom;
pub use lazy::MergeByFrom;

pub(crate) use sorted::check_sorted_by;
pub use task::{MergeByTask, MergeSortPlaces, MergeSortTask, MergeTiling};

use super::merge::Pairs;
use super::{GatherTask, MapTask};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::ir::Expr;
use call::merge;

/// Stable merges by an order of the caller's, over every element type. Sorts by one are [`Sort::sort`](super::Sort::sort)'s.
///
/// # Order
/// `before(a, b)` says whether `a` comes before `b`. Where it is a strict weak order (nothing comes before itself; what is before a third comes before
/// whatever that comes before; and so for keys of which neither is before the other) a stable sort has one result: keys that are neither before nor
/// behind each other keep their order. Every bit of a key is kept.
///
/// `<` of floats is no such order where there are NaN, which are before nothing and behind nothing. `a.lt(b) | (b.is_nan() & !a.is_nan())` is one,
/// with NaN last; [`Sort`](super::Sort) orders floats totally.
///
/// What a closure makes that is no such order is the same on every device, too, and no access leaves a buffer; but elements may be missing from it,
/// and others be there twice: see [comparators](super::Sort#comparators).
///
/// Work O(n). Values of four bytes travel with their keys, other ones are fetched by indices at the end, which takes four bytes an element. Keys of one and
/// two bytes take words on wgpu.
///
/// The order is compiled into the kernels: a number that it captures is part of them. Through wgpu, 2^31 elements and more are
/// [`Error::TooLarge`](crate::Error::TooLarge), and so, with values or indices, are 2^32 and more everywhere; runs above the binding limit are merged
/// window by window there, with the same comparisons. Outputs may not overlap inputs.
///
/// Source: Green, McColl and Bader, *GPU merge path: a GPU merging algorithm* (2012); Satish, Harris and Garland, *Designing efficient sorting
/// algorithms for manycore GPUs* (2009); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapters 12 and 13.
pub trait MergeSort: Run<MergeSortTask> + Run<MergeByTask> + Run<GatherTask> + Run<MapTask> {
    /// The elements of two arrays that are sorted in this order, in order; where neither comes before the other, those of `a` first.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[-1i32, 4, -7])?, dev.upload(&[1i32, -2, 9])?);
    /// assert_eq!(dev.merge_by(&a, &b, |a, b| a.abs().lt(b.abs()))?.read_blocking()?, [-1, 1, -2, 4, -7, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortCall::run`](super::SortCall::run).
    fn merge_by<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Buffer<Self, K>> {
        let out = self.buffer(a.len() + b.len())?;
        self.merge_by_into(a, b, before, &out)?;
        Ok(out)
    }

    /// As [`MergeSort::merge_by`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b, out) = (dev.upload(&[9.0f64, 1.0])?, dev.upload(&[4.0f64])?, dev.buffer(3)?);
    /// dev.merge_by_into(&a, &b, |a, b| a.gt(b), &out)?;
    /// assert_eq!(out.read_blocking()?, [9.0, 4.0, 1.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortCall::write_to`](super::SortCall::write_to).
    fn merge_by_into<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        merge::<Self, K, K>(self, (a, None), (b, None), order::<K>(before)?, (out, None))
    }

    /// The keys of both arrays in order, and the values of any type that go with them.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, v) = (dev.upload(&[10u32, 21])?, dev.upload(b"ab")?);
    /// let (b, w) = (dev.upload(&[40u32, 12])?, dev.upload(b"cd")?);
    /// let (keys, values) = dev.merge_pairs_by((&a, &v), (&b, &w), |a, b| (a % 10).lt(b % 10))?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![10, 40, 21, 12], b"acbd".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortCall::run`](super::SortCall::run).
    fn merge_pairs_by<K: Element, V: Element>(
        &self,
        a: Pairs<'_, Self, K, V>,
        b: Pairs<'_, Self, K, V>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<(Buffer<Self, K>, Buffer<Self, V>)> {
        let n = a.0.len() + b.0.len();
        let out = (self.buffer(n)?, self.buffer(n)?);
        self.merge_pairs_by_into(a, b, before, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`MergeSort::merge_pairs_by`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, v) = (dev.upload(&[5i32])?, dev.upload(&[0.5f32])?);
    /// let (b, w) = (dev.upload(&[7i32])?, dev.upload(&[0.7f32])?);
    /// let (keys, values) = (dev.buffer(2)?, dev.buffer(2)?);
    /// dev.merge_pairs_by_into((&a, &v), (&b, &w), |a, b| a.gt(b), (&keys, &values))?;
    /// assert_eq!(values.read_blocking()?, [0.7, 0.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortCall::write_to`](super::SortCall::write_to).
    fn merge_pairs_by_into<K: Element, V: Element>(
        &self,
        a: Pairs<'_, Self, K, V>,
        b: Pairs<'_, Self, K, V>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: Pairs<'_, Self, K, V>,
    ) -> Result<()> {
        merge(self, (a.0, Some(a.1)), (b.0, Some(b.1)), order::<K>(before)?, (out.0, Some(out.1)))
    }
}
impl<B: Run<MergeSortTask> + Run<MergeByTask> + Run<GatherTask> + Run<MapTask>> MergeSort for B {}
