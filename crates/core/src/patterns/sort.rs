//! P07 sort: stable, by the bits of the keys.

mod call;
mod computed;
mod from;
mod sorted;
mod task;
mod top_k;
mod top_k_from;
mod top_k_rows;

pub use from::{Keyed, SortFrom};
pub use task::{Digit, KeyBits, SortBy, SortOrder, SortPayload, SortPlaces, SortTask};
pub use top_k::{TopK, TopKTask};
pub use top_k_from::TopKFrom;
pub use top_k_rows::TopKRows;

use super::{MapTask, ReduceTask};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
pub(super) use call::Call;
pub(super) use computed::Computed;
pub(crate) use sorted::check_sorted;
pub(super) use sorted::check_sorted_from;

/// Elements that travel with keys: those of four and eight bytes. What is wider, or narrower, is fetched by the indices of an
/// [argsort](Sort::argsort).
pub trait Payload: Element {}
impl Payload for f32 {}
impl Payload for i32 {}
impl Payload for u32 {}
impl Payload for f64 {}
impl Payload for i64 {}
impl Payload for u64 {}

/// Stable sorts of every element type.
///
/// # Order
/// Integers compare by value. Floats compare in IEEE 754's total order, -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN, NaNs by their payload; every
/// bit of a key is kept. Equal keys keep their order, ascending and descending alike, so there is one result: it depends on no tile, digit or
/// device. With a range of [bits](SortBy::bits), keys are equal that agree in it.
///
/// Work O(n * bits), in passes of up to eight bits over keys and payload; scratch is the size of keys and payload, less where it is lent. Arrays have
/// less than 2^32 elements. Outputs may not overlap inputs; the forms in place have none.
///
/// Source: Satish, Harris and Garland, *Designing efficient sorting algorithms for manycore GPUs* (2009); Adinets and Merrill, *Onesweep: a faster
/// least significant digit radix sort for GPUs* (2022); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 13.
pub trait Sort: Run<SortTask> {
    /// The keys in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3.0f32, f32::NAN, -0.0, 0.0, -7.5])?;
    /// let sorted = dev.sort(&keys, SortOrder::Ascending)?.read_blocking()?;
    /// assert_eq!(sorted[..4], [-7.5, -0.0, 0.0, 3.0]);
    /// assert!(sorted[1].is_sign_negative() && sorted[4].is_nan());
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::TooLarge`]; [`Error::InvalidArgument`] for bits that the type does not have.
    fn sort<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>) -> Result<Buffer<Self, K>> {
        let out = self.buffer(keys.len())?;
        self.sort_into(keys, by, &out)?;
        Ok(out)
    }

    /// As [`Sort::sort`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(&[3u64, 1, 2])?, dev.buffer(3)?);
    /// dev.sort_into(&keys, SortOrder::Descending, &out)?;
    /// assert_eq!(out.read_blocking()?, [3, 2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort`], and [`Error::BufferTooSmall`], [`Error::Aliasing`], [`Error::WrongDevice`].
    fn sort_into<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>, out: &Buffer<Self, K>) -> Result<()> {
        Call::new(self, keys, by)?.keys_to(out)?.run(keys.len())
    }

    /// As [`Sort::sort`], where the keys lie.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3i32, -1, 2])?;
    /// dev.sort_in_place(&keys, SortOrder::Ascending)?;
    /// assert_eq!(keys.read_blocking()?, [-1, 2, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort`].
    fn sort_in_place<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>) -> Result<()> {
        Call::new(self, keys, by)?.in_place().keys_to(keys)?.run(keys.len())
    }

    /// As [`Sort::sort_into`], with memory for the passes between: a double buffer, whose contents are undefined afterwards. Narrow keys (of 8 or 16 bits) take
    /// memory of their own on some devices.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3u32, 1, 2])?;
    /// let (lent, out) = (dev.buffer(3)?, dev.buffer(3)?);
    /// dev.sort_with(&keys, SortOrder::Ascending, &lent, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 2, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort_into`].
    fn sort_with<K: Element>(
        &self,
        keys: &Buffer<Self, K>,
        by: impl Into<SortBy>,
        lent: &Buffer<Self, K>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        Call::new(self, keys, by)?.keys_to(out)?.lends(lent)?.run(keys.len())
    }

    /// The keys in order, and the values that travel with them.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[2u8, 1, 2, 1])?, dev.upload(&[0.5f32, 1.5, 2.5, 3.5])?);
    /// let (keys, values) = dev.sort_pairs(&keys, &values, SortOrder::Ascending)?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![1, 1, 2, 2], vec![1.5, 3.5, 0.5, 2.5]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort`], and [`Error::LengthMismatch`].
    fn sort_pairs<K: Element, V: Payload>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        by: impl Into<SortBy>,
    ) -> Result<(Buffer<Self, K>, Buffer<Self, V>)> {
        let out = (self.buffer(keys.len())?, self.buffer(keys.len())?);
        self.sort_pairs_into(keys, values, by, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`Sort::sort_pairs`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[2u32, 1])?, dev.upload(&[20i64, 10])?);
    /// let (k, v) = (dev.buffer(2)?, dev.buffer(2)?);
    /// dev.sort_pairs_into(&keys, &values, SortOrder::Ascending, (&k, &v))?;
    /// assert_eq!(v.read_blocking()?, [10, 20]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort_into`], and [`Error::LengthMismatch`].
    fn sort_pairs_into<K: Element, V: Payload>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()> {
        Call::new(self, keys, by)?.values(values)?.keys_to(out.0)?.payload_to(out.1)?.run(keys.len())
    }

    /// As [`Sort::sort_pairs`], where keys and values lie.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[2.0f32, 1.0])?, dev.upload(&[20u32, 10])?);
    /// dev.sort_pairs_in_place(&keys, &values, SortOrder::Ascending)?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![1.0, 2.0], vec![10, 20]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort_pairs`].
    fn sort_pairs_in_place<K: Element, V: Payload>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        by: impl Into<SortBy>,
    ) -> Result<()> {
        Call::new(self, keys, by)?.in_place().values(values)?.keys_to(keys)?.payload_to(values)?.run(keys.len())
    }

    /// As [`Sort::sort_pairs_into`], with memory for the passes between: see [`Sort::sort_with`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[2u32, 1])?, dev.upload(&[20u32, 10])?);
    /// let (lent, out) = ((dev.buffer(2)?, dev.buffer(2)?), (dev.buffer(2)?, dev.buffer(2)?));
    /// dev.sort_pairs_with(&keys, &values, SortOrder::Ascending, (&lent.0, &lent.1), (&out.0, &out.1))?;
    /// assert_eq!(out.1.read_blocking()?, [10, 20]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort_pairs_into`].
    fn sort_pairs_with<K: Element, V: Payload>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        by: impl Into<SortBy>,
        lent: (&Buffer<Self, K>, &Buffer<Self, V>),
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()> {
        Call::new(self, keys, by)?.values(values)?.keys_to(out.0)?.payload_to(out.1)?.lends(lent.0)?.lends(lent.1)?.run(keys.len())
    }

    /// The indices of the keys in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[30u32, 10, 30, 20])?;
    /// assert_eq!(dev.argsort(&keys, SortOrder::Ascending)?.read_blocking()?, [1, 3, 0, 2]);
    /// assert_eq!(dev.argsort(&keys, SortOrder::Descending)?.read_blocking()?, [0, 2, 3, 1]); // equal keys keep their order
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort`].
    fn argsort<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(keys.len())?;
        self.argsort_into(keys, by, &out)?;
        Ok(out)
    }

    /// As [`Sort::argsort`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(&[30u32, 10, 20])?, dev.buffer(3)?);
    /// dev.argsort_into(&keys, SortOrder::Ascending.bits(0..3), &out)?; // 6, 2, 4
    /// assert_eq!(out.read_blocking()?, [1, 2, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort_into`].
    fn argsort_into<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>, out: &Buffer<Self, u32>) -> Result<()> {
        Call::new(self, keys, by)?.indices().payload_to(out)?.run(keys.len())
    }

    /// The keys in order, and where they were.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[0.5f64, -2.0, 1.0])?;
    /// let (sorted, places) = dev.sort_with_indices(&keys, SortOrder::Ascending)?;
    /// assert_eq!((sorted.read_blocking()?, places.read_blocking()?), (vec![-2.0, 0.5, 1.0], vec![1, 0, 2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort`].
    fn sort_with_indices<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>) -> Result<(Buffer<Self, K>, Buffer<Self, u32>)> {
        let out = (self.buffer(keys.len())?, self.buffer(keys.len())?);
        Call::new(self, keys, by)?.indices().keys_to(&out.0)?.payload_to(&out.1)?.run(keys.len())?;
        Ok(out)
    }

    /// Every row of `n` keys in order, by itself: a batch of sorts.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3u8, 1, 2, 9, 8, 7])?;
    /// assert_eq!(dev.sort_rows(&keys, 3, SortOrder::Ascending)?.read_blocking()?, [1, 2, 3, 7, 8, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort`]; [`Error::LengthMismatch`] unless the rows are whole, [`Error::InvalidArgument`] for rows of no keys.
    fn sort_rows<K: Element>(&self, keys: &Buffer<Self, K>, n: u64, by: impl Into<SortBy>) -> Result<Buffer<Self, K>> {
        let out = self.buffer(keys.len())?;
        self.sort_rows_into(keys, n, by, &out)?;
        Ok(out)
    }

    /// As [`Sort::sort_rows`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(&[3u32, 1, 9, 8])?, dev.buffer(4)?);
    /// dev.sort_rows_into(&keys, 2, SortOrder::Ascending, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 3, 8, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort_rows`] and [`Sort::sort_into`].
    fn sort_rows_into<K: Element>(&self, keys: &Buffer<Self, K>, n: u64, by: impl Into<SortBy>, out: &Buffer<Self, K>) -> Result<()> {
        Call::new(self, keys, by)?.keys_to(out)?.run(n)
    }

    /// The indices, within its row, of every row of `n` keys in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3u32, 1, 2, 7, 8, 9])?;
    /// assert_eq!(dev.argsort_rows(&keys, 3, SortOrder::Ascending)?.read_blocking()?, [1, 2, 0, 0, 1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort_rows`].
    fn argsort_rows<K: Element>(&self, keys: &Buffer<Self, K>, n: u64, by: impl Into<SortBy>) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(keys.len())?;
        self.argsort_rows_into(keys, n, by, &out)?;
        Ok(out)
    }

    /// As [`Sort::argsort_rows`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(&[3i64, 1, 8, 9])?, dev.buffer(4)?);
    /// dev.argsort_rows_into(&keys, 2, SortOrder::Descending, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 1, 1, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort_rows`] and [`Sort::sort_into`].
    fn argsort_rows_into<K: Element>(&self, keys: &Buffer<Self, K>, n: u64, by: impl Into<SortBy>, out: &Buffer<Self, u32>) -> Result<()> {
        Call::new(self, keys, by)?.indices().payload_to(out)?.run(n)
    }

    /// 1 where no key comes before its left neighbour, else 0.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[1.0f32, 2.0, 2.0])?;
    /// assert_eq!(dev.is_sorted(&keys, SortOrder::Ascending)?.read_blocking()?, 1);
    /// assert_eq!(dev.is_sorted(&keys, SortOrder::Descending)?.read_blocking()?, 0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::TooLarge`], [`Error::InvalidArgument`].
    fn is_sorted<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>) -> Result<DeviceScalar<Self, u32>>
    where
        Self: Run<ReduceTask> + Run<MapTask>,
    {
        let out = self.buffer(1)?;
        self.is_sorted_into(keys, by, &out)?;
        DeviceScalar::from_buffer(out)
    }

    /// As [`Sort::is_sorted`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(b"abba")?, dev.upload(&[7u32, 7])?);
    /// dev.is_sorted_into(&keys, SortOrder::Ascending, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::is_sorted`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn is_sorted_into<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>, out: &Buffer<Self, u32>) -> Result<()>
    where
        Self: Run<ReduceTask> + Run<MapTask>,
    {
        let by = by.into();
        Call::new(self, keys, by.clone())?;
        sorted::is_sorted(self, keys, &by, out)
    }

    /// Fails for keys that are not in order, naming the first that comes before its left neighbour. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[1i64, 2, 2, 1, 0])?;
    /// let error = dev.check_sorted(&keys, SortOrder::Ascending).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { index: 3, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotSorted`]; [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::InvalidArgument`].
    fn check_sorted<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>) -> Result<()>
    where
        Self: Run<ReduceTask> + Run<MapTask>,
    {
        let by = by.into();
        Call::new(self, keys, by.clone())?;
        check_sorted(self, "check_sorted", "the array", keys, &by)
    }
}
impl<B: Run<SortTask>> Sort for B {}

/// Most keys of a sort: its indices are `u32`.
const MOST: u64 = u32::MAX as u64;

pub(crate) fn check_len(keys: u64) -> Result<()> {
    if keys > MOST { Err(Error::TooLarge { what: "elements of a sort", requested: keys, limit: MOST }) } else { Ok(()) }
}
