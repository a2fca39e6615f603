//! Segments sorted: by key, then by segment, both stably.

use super::scan::flags;
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{DType, Element};
use crate::error::{Error, Result};
use crate::input::index;
use crate::ir::{Expr, select};
use crate::ops::Sum;
use crate::patterns::moves::gather;
use crate::patterns::select::Count;
use crate::patterns::sort::check_len;
use crate::patterns::{
    GatherTask, IndexElement, KeyBits, Map as _, MapTask, Scan as _, ScanTask, ScatterTask, Sort as _, SortBy, SortOrder, SortTask,
    check_aliasing,
};

/// Stable sorts of every segment by itself. Segments are bounded as for [`Segmented`](super::Segmented#segments); elements in none stay where they are.
///
/// # Order
/// Keys compare as in a [sort](crate::patterns::Sort#order), and equal keys keep their order, so there is one result: that of a sort of each slice.
///
/// Keys of at most 32 bits are sorted as one with the number of their segment above them; others, and those with values or a range of bits, are sorted
/// together with their indices, and these then by segment, and keys and values follow. So work is O(n (bits of a key + log s)), whatever the segments'
/// lengths, and scratch at most 24 bytes an element. Arrays have less than 2^32 elements. Outputs may not overlap inputs.
///
/// Source: Satish, Harris and Garland, *Designing efficient sorting algorithms for manycore GPUs* (2009); Knuth, *The Art of Computer Programming*, volume
/// 3, section 5.2.5 (the lowest digit first).
pub trait SegmentedSort: Run<SortTask> + Run<ScanTask> + Run<ScatterTask> + Run<GatherTask> + Run<MapTask> {
    /// The keys, every segment in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[9u32, 3, 1, 2, 8, 7, 0])?;
    /// let offsets = dev.upload(&[1u32, 4, 4, 6])?;
    /// assert_eq!(dev.segmented_sort(&keys, &offsets, SortOrder::Ascending)?.read_blocking()?, [9, 1, 2, 3, 7, 8, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort`](crate::patterns::Sort::sort); [`Error::InvalidArgument`] where there is no offset at all.
    fn segmented_sort<K: Element, O: Count + IndexElement>(
        &self,
        keys: &Buffer<Self, K>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
    ) -> Result<Buffer<Self, K>> {
        let out = self.buffer(keys.len())?;
        self.segmented_sort_into(keys, offsets, by, &out)?;
        Ok(out)
    }

    /// As [`SegmentedSort::segmented_sort`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, offsets, out) = (dev.upload(&[0.5f32, -0.0, 0.0, 2.0])?, dev.upload(&[0u32, 3, 4])?, dev.buffer(4)?);
    /// dev.segmented_sort_into(&keys, &offsets, SortOrder::Descending, &out)?;
    /// assert_eq!(out.read_blocking()?, [0.5, 0.0, -0.0, 2.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSort::segmented_sort`] and [`Sort::sort_into`](crate::patterns::Sort::sort_into).
    fn segmented_sort_into<K: Element, O: Count + IndexElement>(
        &self,
        keys: &Buffer<Self, K>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        check_output(self, keys, out)?;
        let by = by.into();
        let whole = |size: u64| K::DTYPE.size_bytes() == size && by.bits.is_none() && self.caps().supports(DType::U64);
        if whole(4) {
            return with_segments::<Self, K, u32, O>(self, keys, offsets, by.order, out);
        }
        if whole(1) {
            return with_segments::<Self, K, u8, O>(self, keys, offsets, by.order, out);
        }
        let order = self.segmented_argsort(keys, offsets, by)?;
        gather(self, keys, &order, &out.slice(..keys.len())?, false)
    }

    /// The keys, every segment in order, and values of any type that travel with them.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values, offsets) = (dev.upload(&[2i32, 1, 5, 4])?, dev.upload(b"abcd")?, dev.upload(&[0u64, 2, 4])?);
    /// let (keys, values) = dev.segmented_sort_pairs(&keys, &values, &offsets, SortOrder::Ascending)?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![1, 2, 4, 5], b"badc".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSort::segmented_sort`], and [`Error::LengthMismatch`].
    fn segmented_sort_pairs<K: Element, V: Element, O: Count + IndexElement>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
    ) -> Result<(Buffer<Self, K>, Buffer<Self, V>)> {
        let out = (self.buffer(keys.len())?, self.buffer(keys.len())?);
        self.segmented_sort_pairs_into(keys, values, offsets, by, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`SegmentedSort::segmented_sort_pairs`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values, offsets) = (dev.upload(&[2u8, 1, 2])?, dev.upload(&[0.5f64, 1.5, 2.5])?, dev.upload(&[0u32, 3])?);
    /// let (k, v) = (dev.buffer(3)?, dev.buffer(3)?);
    /// dev.segmented_sort_pairs_into(&keys, &values, &offsets, SortOrder::Descending, (&k, &v))?;
    /// assert_eq!(v.read_blocking()?, [0.5, 2.5, 1.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSort::segmented_sort_pairs`] and [`SegmentedSort::segmented_sort_into`].
    fn segmented_sort_pairs_into<K: Element, V: Element, O: Count + IndexElement>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()> {
        let n = keys.len();
        if values.len() != n {
            return Err(Error::LengthMismatch { what: "values", expected: n, found: values.len() });
        }
        check_output(self, keys, out.0)?;
        check_output(self, values, out.1)?;
        let outs = [(out.0.out(), n), (out.1.out(), n)];
        check_aliasing("segmented sort", &[keys.leaf(), values.leaf()], n, &outs, false)?;
        let order = self.segmented_argsort(keys, offsets, by)?;
        gather(self, keys, &order, &out.0.slice(..n)?, false)?;
        gather(self, values, &order, &out.1.slice(..n)?, false)
    }

    /// The indices, in the whole array, of every segment's keys in order; an element in no segment has its own. So a gather by them sorts other arrays
    /// alike.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, offsets) = (dev.upload(&[9u32, 3, 1, 2])?, dev.upload(&[1u32, 4])?);
    /// assert_eq!(dev.segmented_argsort(&keys, &offsets, SortOrder::Ascending)?.read_blocking()?, [0, 2, 3, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSort::segmented_sort`].
    fn segmented_argsort<K: Element, O: Count + IndexElement>(
        &self,
        keys: &Buffer<Self, K>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
    ) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(keys.len())?;
        self.segmented_argsort_into(keys, offsets, by, &out)?;
        Ok(out)
    }

    /// As [`SegmentedSort::segmented_argsort`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, offsets, out) = (dev.upload(&[1i64, 2, 4, 3])?, dev.upload(&[0u32, 2, 4])?, dev.buffer(4)?);
    /// dev.segmented_argsort_into(&keys, &offsets, SortOrder::Descending, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 0, 2, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSort::segmented_sort_into`].
    fn segmented_argsort_into<K: Element, O: Count + IndexElement>(
        &self,
        keys: &Buffer<Self, K>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
        out: &Buffer<Self, u32>,
    ) -> Result<()> {
        let n = keys.len();
        let (first, end) = ends(self, offsets)?;
        out.check_device(self, "the output")?;
        if out.len() < n {
            return Err(Error::BufferTooSmall { what: "the output", required: n, available: out.len() });
        }
        check_aliasing("segmented sort", &[keys.leaf()], n, &[(out.out(), n)], false)?;
        check_aliasing("segmented sort", &[offsets.leaf()], offsets.len(), &[(out.out(), n)], false)?;
        let by_key = self.argsort(keys, by)?;
        if n == 0 {
            return Ok(());
        }
        let segments = numbers(self, n, offsets)?;
        let of_key = self.buffer(n)?;
        gather(self, &segments, &by_key, &of_key, false)?;
        let sorted = self.sort_pairs(&of_key, &by_key, SortOrder::Ascending.bits(0..number_bits(n, offsets)))?;
        // Elements in no segment were sorted too, among themselves.
        self.map_into(
            (&sorted.1, index(), &first, &end),
            |(sorted, i, first, end)| {
                let at = i.cast::<O>();
                select(at.ge(first) & at.lt(end), sorted, i)
            },
            out,
        )
    }
}
impl<B: Run<SortTask> + Run<ScanTask> + Run<ScatterTask> + Run<GatherTask> + Run<MapTask>> SegmentedSort for B {}

type Ends<B, O> = (DeviceScalar<B, O>, DeviceScalar<B, O>);

/// The first and the last offset.
fn ends<B: Backend, O: Count>(device: &B, offsets: &Buffer<B, O>) -> Result<Ends<B, O>> {
    offsets.check_device(device, "the offsets")?;
    let Some(last) = offsets.len().checked_sub(1) else {
        return Err(Error::InvalidArgument { what: "offsets", reason: "there are none; one more than segments are needed".to_owned() });
    };
    let bound = |k: u64| DeviceScalar::from_buffer(offsets.slice(k..=k)?);
    Ok((bound(0)?, bound(last)?))
}

/// For every element how many starts there are before or at it: a number that grows from segment to segment.
fn numbers<B, O: Count + IndexElement>(device: &B, n: u64, offsets: &Buffer<B, O>) -> Result<Buffer<B, u32>>
where
    B: Run<ScanTask> + Run<ScatterTask> + Run<MapTask>,
{
    device.scan_inclusive(&flags(device, n, offsets)?, Sum)
}

/// Bits of the highest of these numbers.
fn number_bits<B: Backend, O: Count>(n: u64, offsets: &Buffer<B, O>) -> u32 {
    (u64::BITS - offsets.len().min(n).leading_zeros()).min(32)
}

/// Sorts keys of at most 32 bits, as words `W`, below the numbers of their segments: one sort without a payload, and nothing to gather.
fn with_segments<B: SegmentedSort, K: Element, W: Element<Reg = u32>, O: Count + IndexElement>(
    device: &B,
    keys: &Buffer<B, K>,
    offsets: &Buffer<B, O>,
    order: SortOrder,
    out: &Buffer<B, K>,
) -> Result<()> {
    let n = keys.len();
    let (first, end) = ends(device, offsets)?;
    check_aliasing("segmented sort", &[offsets.leaf()], offsets.len(), &[(out.out(), n)], false)?;
    check_len(n)?;
    if n == 0 {
        return Ok(());
    }
    // Nothing may convert a float: its bits are what is moved.
    let words = |b: &Buffer<B, K>| Buffer::<B, W>::from_raw(device, b.raw().clone(), b.offset(), n);
    let (words, out) = (words(keys)?, words(out)?);
    let map = KeyBits::new(K::DTYPE, order);
    let (sign, flip) = (map.width - 1, map.flip as u32);
    let negative = |k: Expr<u32>| select((k >> sign).ne(0), Expr::from(map.negative as u32), Expr::from(0));
    let joined = device
        .map((&words, &numbers(device, n, offsets)?), |(k, s)| (s.cast::<u64>() << map.width) | (k ^ negative(k) ^ flip).cast::<u64>())?;
    let sorted = device.sort(&joined, SortOrder::Ascending.bits(0..map.width + number_bits(n, offsets)))?;
    let inputs = (&sorted, &words, index(), &first, &end);
    device.map_into(
        inputs,
        |(sorted, word, i, first, end)| {
            let key = sorted.cast::<u32>() & (u64::MAX >> (64 - map.width)) as u32;
            let key = key ^ flip;
            let at = i.cast::<O>();
            // Elements in no segment were sorted too, among themselves.
            select(at.ge(first) & at.lt(end), key ^ negative(key), word).store_as::<W>()
        },
        &out,
    )
}

/// Room, and the right device, before anything is enqueued.
fn check_output<B: Backend, T: Element>(device: &B, x: &Buffer<B, T>, out: &Buffer<B, T>) -> Result<()> {
    out.check_device(device, "the output")?;
    x.check_device(device, "an input")?;
    let (required, available) = (x.len(), out.len());
    if available < required {
        return Err(Error::BufferTooSmall { what: "the output", required, available });
    }
    check_aliasing("segmented sort", &[x.leaf()], required, &[(out.out(), required)], false)
}
