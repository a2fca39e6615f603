//! P07 sort by an order of the caller's: a stable merge sort; and merges by such an order.

mod call;
mod checked;
mod checked_from;
mod found;
mod from;
mod lazy;
mod search;
mod sets;
mod sorted;
mod task;

pub use checked::CheckedMergeSort;
pub use checked_from::CheckedMergeByFrom;
pub use from::MergeSortFrom;
pub use lazy::MergeByFrom;
pub use search::SearchBy;
pub use sets::SetsBy;
pub(crate) use sorted::check_sorted_by;
pub use task::{MergeByTask, MergeSortPlaces, MergeSortTask, MergeTiling};

use super::merge::Pairs;
use super::{GatherTask, MapTask, Payload};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::ir::Expr;
use call::{argsort, merge, order, sort, sort_with};

/// Stable sorts and merges by an order of the caller's, over every element type.
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
/// and others be there twice. For the keys that are compared depend on their number and type alone ([`MergeTiling`]):
/// - parts of 16 keys (of eight bytes: 8) are sorted by as many rounds of odd-even transposition, the first from the first key on; neighbours change
///   places where the right one comes before the left;
/// - runs are merged in pairs, twice as long ones every time, to tiles of 256 parts and on to one run. Of a merge, parts of the result begin where
///   [`co_rank`](super::merge::co_rank) says, the first of two elements going first unless the second comes before it, and are merged one by one. In
///   runs of a tile and longer, tiles begin so, and in each what belongs to it is merged so.
///
/// Work O(n log n); passes over all keys and what travels: one, and one more for each doubling beyond a tile. Scratch is the size of keys, unless it
/// is lent, and of what travels, and eight bytes a tile. Values of four bytes travel with their keys, other ones are fetched by indices at the end, which takes four
/// bytes an element, and as much as the values in place. Keys of one and two bytes take words on wgpu.
///
/// The order is compiled into the kernels: a number that it captures is part of them. Through wgpu, 2^31 elements and more are
/// [`Error::TooLarge`](crate::Error::TooLarge), and so, with values or indices, are 2^32 and more everywhere; runs above the binding limit are merged
/// window by window there, with the same comparisons. Outputs may not overlap inputs; the forms in place have none.
///
/// Source: Green, McColl and Bader, *GPU merge path: a GPU merging algorithm* (2012); Satish, Harris and Garland, *Designing efficient sorting
/// algorithms for manycore GPUs* (2009); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapters 12 and 13.
pub trait MergeSort: Run<MergeSortTask> + Run<MergeByTask> + Run<GatherTask> + Run<MapTask> {
    /// The keys in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3i32, -1, 2, -3, 1])?;
    /// // By size, and where that is equal as they were.
    /// assert_eq!(dev.sort_by(&keys, |a, b| a.abs().lt(b.abs()))?.read_blocking()?, [-1, 1, 2, 3, -3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Op`](crate::Error::Op), [`Error::NotStrict`](crate::Error::NotStrict),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::TooLarge`](crate::Error::TooLarge).
    fn sort_by<K: Element>(
        &self,
        keys: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Buffer<Self, K>> {
        let out = self.buffer(keys.len())?;
        self.sort_by_into(keys, before, &out)?;
        Ok(out)
    }

    /// As [`MergeSort::sort_by`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(&[0.5f32, f32::NAN, -2.0])?, dev.buffer(3)?);
    /// dev.sort_by_into(&keys, |a, b| a.lt(b) | (b.is_nan() & !a.is_nan()), &out)?;
    /// assert_eq!(out.read_blocking()?[..2], [-2.0, 0.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::sort_by`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice).
    fn sort_by_into<K: Element>(
        &self,
        keys: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        sort::<Self, K, K>(self, (keys, None), order::<K>(before)?, (out, None), false)
    }

    /// As [`MergeSort::sort_by`], where the keys lie.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[120u32, 310, 20, 111])?;
    /// dev.sort_by_in_place(&keys, |a, b| (a % 100).lt(b % 100))?;
    /// assert_eq!(keys.read_blocking()?, [310, 111, 120, 20]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::sort_by`].
    fn sort_by_in_place<K: Element>(
        &self,
        keys: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<()> {
        sort::<Self, K, K>(self, (keys, None), order::<K>(before)?, (keys, None), true)
    }

    /// As [`MergeSort::sort_by_into`], with memory for the passes between: a double buffer, whose contents are undefined afterwards. Narrow keys (of 8
    /// or 16 bits) take memory of their own on some devices.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[-3i32, 1, 2])?;
    /// let (lent, out) = (dev.buffer(3)?, dev.buffer(3)?);
    /// dev.sort_by_with(&keys, |a, b| a.abs().lt(b.abs()), &lent, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 2, -3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::sort_by_into`].
    fn sort_by_with<K: Element>(
        &self,
        keys: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        lent: &Buffer<Self, K>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        sort_with::<Self, K, K>(self, (keys, None), order::<K>(before)?, (lent, None), (out, None))
    }

    /// The keys in order, and the values of any type that go with them.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[2u8, 9, 3, 8])?, dev.upload(b"abcd")?);
    /// // Even keys first.
    /// let (keys, values) = dev.sort_pairs_by(&keys, &values, |a, b| (a & 1u32).lt(b & 1u32))?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![2, 8, 9, 3], b"adbc".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::sort_by`], and [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn sort_pairs_by<K: Element, V: Element>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<(Buffer<Self, K>, Buffer<Self, V>)> {
        let out = (self.buffer(keys.len())?, self.buffer(keys.len())?);
        self.sort_pairs_by_into(keys, values, before, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`MergeSort::sort_pairs_by`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[1u32, 2])?, dev.upload(&[10i64, 20])?);
    /// let (k, v) = (dev.buffer(2)?, dev.buffer(2)?);
    /// dev.sort_pairs_by_into(&keys, &values, |a, b| a.gt(b), (&k, &v))?;
    /// assert_eq!(v.read_blocking()?, [20, 10]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::sort_by_into`], and [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn sort_pairs_by_into<K: Element, V: Element>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: Pairs<'_, Self, K, V>,
    ) -> Result<()> {
        sort(self, (keys, Some(values)), order::<K>(before)?, (out.0, Some(out.1)), false)
    }

    /// As [`MergeSort::sort_pairs_by`], where keys and values lie.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[1.0f32, -2.0])?, dev.upload(&[0.5f64, 1.5])?);
    /// dev.sort_pairs_by_in_place(&keys, &values, |a, b| a.abs().gt(b.abs()))?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![-2.0, 1.0], vec![1.5, 0.5]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::sort_pairs_by`].
    fn sort_pairs_by_in_place<K: Element, V: Element>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<()> {
        sort(self, (keys, Some(values)), order::<K>(before)?, (keys, Some(values)), true)
    }

    /// As [`MergeSort::sort_pairs_by_into`], with memory for the passes between: see [`MergeSort::sort_by_with`]. Values of eight bytes are fetched at the
    /// end, and their indices go to and fro in what is lent for them; values of one and two bytes do not fit that, for which there is
    /// [`MergeSort::argsort_by_with`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[-3i32, 1, 2])?, dev.upload(&[0.3f64, 0.1, 0.2])?);
    /// let (lent, out) = ((dev.buffer(3)?, dev.buffer(3)?), (dev.buffer(3)?, dev.buffer(3)?));
    /// dev.sort_pairs_by_with(&keys, &values, |a, b| a.abs().lt(b.abs()), (&lent.0, &lent.1), (&out.0, &out.1))?;
    /// assert_eq!((out.0.read_blocking()?, out.1.read_blocking()?), (vec![1, 2, -3], vec![0.1, 0.2, 0.3]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::sort_pairs_by_into`].
    fn sort_pairs_by_with<K: Element, V: Payload>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        lent: Pairs<'_, Self, K, V>,
        out: Pairs<'_, Self, K, V>,
    ) -> Result<()> {
        sort_with(self, (keys, Some(values)), order::<K>(before)?, (lent.0, Some(lent.1)), (out.0, Some(out.1)))
    }

    /// The indices of the keys in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let points = dev.upload(&[0x0203u32, 0x0101, 0x0102, 0x0201])?;
    /// // By the low byte; of equal ones the greatest first.
    /// let order = dev.argsort_by(&points, |a, b| (a & 255u32).lt(b & 255u32) | ((a & 255u32).eq(b & 255u32) & a.gt(b)))?;
    /// assert_eq!(order.read_blocking()?, [3, 1, 2, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::sort_by`].
    fn argsort_by<K: Element>(
        &self,
        keys: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(keys.len())?;
        self.argsort_by_into(keys, before, &out)?;
        Ok(out)
    }

    /// As [`MergeSort::argsort_by`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(&[5u64, 7, 6])?, dev.buffer(3)?);
    /// dev.argsort_by_into(&keys, |a, b| a.gt(b), &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 2, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::sort_by_into`].
    fn argsort_by_into<K: Element>(
        &self,
        keys: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, u32>,
    ) -> Result<()> {
        argsort(self, keys, order::<K>(before)?, None, out)
    }

    /// As [`MergeSort::argsort_by_into`], with memory for the passes between: see [`MergeSort::sort_by_with`]. Sorted keys are no result here, so they
    /// go to and fro between two buffers, and indices between a third and the output.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(&[5u64, 7, 6])?, dev.buffer(3)?);
    /// let (lent, more, indices) = (dev.buffer(3)?, dev.buffer(3)?, dev.buffer(3)?);
    /// dev.argsort_by_with(&keys, |a, b| a.gt(b), ([&lent, &more], &indices), &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 2, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeSort::argsort_by_into`].
    fn argsort_by_with<K: Element>(
        &self,
        keys: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        lent: ([&Buffer<Self, K>; 2], &Buffer<Self, u32>),
        out: &Buffer<Self, u32>,
    ) -> Result<()> {
        argsort(self, keys, order::<K>(before)?, Some(lent), out)
    }

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
    /// As [`MergeSort::sort_by`].
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
    /// As [`MergeSort::sort_by_into`].
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
    /// As [`MergeSort::sort_pairs_by`].
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
    /// As [`MergeSort::sort_pairs_by_into`].
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
