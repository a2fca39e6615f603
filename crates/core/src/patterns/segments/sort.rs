//! Segments sorted, each by itself.

use super::call::check_offsets as check_bounds;
use super::sort_task::SegmentedSortTask;
use crate::backend::{Backend, Leaf, Out, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::patterns::moves::gather;
use crate::patterns::select::Count;
use crate::patterns::sort::Call;
use crate::patterns::{GatherTask, IndexScalar, MapTask, ReduceTask, ScanTask, SortBy, check_aliasing};

/// Stable sorts of every segment by itself. Segments are bounded as for [`Segmented`](super::Segmented#segments); elements in none stay where they are.
///
/// # Order
/// Keys compare as in a [sort](crate::patterns::Sort#order), and equal keys keep their order, so there is one result: that of a sort of each slice.
///
/// Neighbouring segments of up to some thousand keys are sorted together in shared memory, by merges; longer ones digit by digit, as arrays are, each tile
/// within one segment. So work is O(n bits of a key), and O(log n) comparisons a key of short segments, whatever the lengths. Scratch is a copy of the keys
/// and of what travels with them, at most 6 bytes an element more, and 4 a segment. Arrays have less than 2^32 elements, and there are less than 2^32 - 3
/// segments. Outputs may not overlap inputs. Before other forms [`Segmented::check_offsets`](super::Segmented::check_offsets) asks what the checked ones do.
///
/// Source: Satish, Harris and Garland, *Designing efficient sorting algorithms for manycore GPUs* (2009); Knuth, *The Art of Computer Programming*, volume
/// 3, section 5.2.5 (the lowest digit first).
pub trait SegmentedSort: Run<SegmentedSortTask> + Run<ScanTask> + Run<GatherTask> {
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
    fn segmented_sort<K: Element, O: Count + IndexScalar>(
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
    fn segmented_sort_into<K: Element, O: Count + IndexScalar>(
        &self,
        keys: &Buffer<Self, K>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        check_output(self, keys, out)?;
        check_offsets(self, offsets, keys.len(), &[out.out()])?;
        by_parts(Call::new(self, keys, by)?.keys_to(out)?, offsets)
    }

    /// As [`SegmentedSort::segmented_sort`]; offsets that fall or reach behind the array are an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3u32, 1, 2])?;
    /// let falls = dev.segmented_sort_checked(&keys, &dev.upload(&[0u32, 2, 1])?, SortOrder::Ascending).unwrap_err();
    /// assert!(matches!(falls, isowarp::Error::NotSorted { index: 2, .. }));
    /// let sorted = dev.segmented_sort_checked(&keys, &dev.upload(&[0u32, 2, 3])?, SortOrder::Ascending)?;
    /// assert_eq!(sorted.read_blocking()?, [1, 3, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSort::segmented_sort`]; [`Error::NotSorted`] and [`Error::IndexOutOfRange`] with the first offset that is wrong.
    fn segmented_sort_checked<K: Element, O: Count + IndexScalar>(
        &self,
        keys: &Buffer<Self, K>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
    ) -> Result<Buffer<Self, K>>
    where
        Self: Run<ReduceTask> + Run<MapTask>,
    {
        check_bounds(self, "segments", offsets, keys.len())?;
        self.segmented_sort(keys, offsets, by)
    }

    /// As [`SegmentedSort::segmented_sort_checked`], into the caller's buffer, which stays as it was where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(b"cab")?, dev.upload(b"...")?);
    /// let beyond = dev.segmented_sort_checked_into(&keys, &dev.upload(&[0u64, 4])?, SortOrder::Ascending, &out).unwrap_err();
    /// assert!(matches!(beyond, isowarp::Error::IndexOutOfRange { position: 1, index: 4, .. }));
    /// assert_eq!(out.read_blocking()?, *b"...");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSort::segmented_sort_checked`] and [`SegmentedSort::segmented_sort_into`].
    fn segmented_sort_checked_into<K: Element, O: Count + IndexScalar>(
        &self,
        keys: &Buffer<Self, K>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
        out: &Buffer<Self, K>,
    ) -> Result<()>
    where
        Self: Run<ReduceTask> + Run<MapTask>,
    {
        check_bounds(self, "segments", offsets, keys.len())?;
        self.segmented_sort_into(keys, offsets, by, out)
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
    fn segmented_sort_pairs<K: Element, V: Element, O: Count + IndexScalar>(
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

    /// As [`SegmentedSort::segmented_sort_pairs`]; offsets that fall or reach behind the array are an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[2i32, 1, 5])?, dev.upload(b"abc")?);
    /// assert!(dev.segmented_sort_pairs_checked(&keys, &values, &dev.upload(&[2u32, 0])?, SortOrder::Ascending).is_err());
    /// let (_, values) = dev.segmented_sort_pairs_checked(&keys, &values, &dev.upload(&[0u32, 3])?, SortOrder::Ascending)?;
    /// assert_eq!(values.read_blocking()?, *b"bac");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSort::segmented_sort_pairs`] and [`SegmentedSort::segmented_sort_checked`].
    fn segmented_sort_pairs_checked<K: Element, V: Element, O: Count + IndexScalar>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
    ) -> Result<(Buffer<Self, K>, Buffer<Self, V>)>
    where
        Self: Run<ReduceTask> + Run<MapTask>,
    {
        check_bounds(self, "segments", offsets, keys.len())?;
        self.segmented_sort_pairs(keys, values, offsets, by)
    }

    /// As [`SegmentedSort::segmented_sort_pairs_checked`], into the caller's buffers, which stay as they were where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values, k, v) = (dev.upload(&[2u8, 1])?, dev.upload(&[0.5f64, 1.5])?, dev.upload(b"..")?, dev.upload(&[7.0f64; 2])?);
    /// let wrong = dev.upload(&[0u32, 3])?;
    /// assert!(dev.segmented_sort_pairs_checked_into(&keys, &values, &wrong, SortOrder::Descending, (&k, &v)).is_err());
    /// assert_eq!((k.read_blocking()?, v.read_blocking()?), (b"..".to_vec(), vec![7.0; 2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSort::segmented_sort_pairs_checked`] and [`SegmentedSort::segmented_sort_into`].
    fn segmented_sort_pairs_checked_into<K: Element, V: Element, O: Count + IndexScalar>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()>
    where
        Self: Run<ReduceTask> + Run<MapTask>,
    {
        check_bounds(self, "segments", offsets, keys.len())?;
        self.segmented_sort_pairs_into(keys, values, offsets, by, out)
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
    fn segmented_sort_pairs_into<K: Element, V: Element, O: Count + IndexScalar>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()> {
        check_offsets(self, offsets, keys.len(), &[out.0.out(), out.1.out()])?;
        pairs(self, (keys, values), by, out, |call| by_parts(call, offsets))
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
    fn segmented_argsort<K: Element, O: Count + IndexScalar>(
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
    fn segmented_argsort_into<K: Element, O: Count + IndexScalar>(
        &self,
        keys: &Buffer<Self, K>,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
        out: &Buffer<Self, u32>,
    ) -> Result<()> {
        check_offsets(self, offsets, keys.len(), &[out.out()])?;
        by_parts(Call::new(self, keys, by)?.indices().payload_to(out)?, offsets)
    }
}
impl<B: Run<SegmentedSortTask> + Run<ScanTask> + Run<GatherTask>> SegmentedSort for B {}

/// Sorts the parts that offsets cut the keys of a sort into.
fn by_parts<B: SegmentedSort, O: Count + IndexScalar>(call: Call<'_, B>, offsets: &Buffer<B, O>) -> Result<()> {
    let bounds = Leaf::Array { raw: offsets.raw().clone(), dtype: O::DTYPE, offset: offsets.offset(), len: offsets.len() };
    run_parts(call, (offsets.len() + 1, true, true), |_, _| Ok(bounds))
}

/// Sorts parts of the keys of a sort, with their bounds; `given` and `keeps_rest` are [the task's](SegmentedSortTask).
pub(super) fn run_parts<B: Run<SegmentedSortTask>>(
    call: Call<'_, B>,
    (parts, given, keeps_rest): (u64, bool, bool),
    bounds: impl FnOnce(&B, u64) -> Result<Leaf<B::Raw>>,
) -> Result<()> {
    let n = call.elements();
    call.checked(n, |device, sort, leaves, outs| {
        let leaves = [leaves, &[bounds(device, n)?]].concat();
        device.run(&SegmentedSortTask { sort, parts, given, keeps_rest }, &leaves, outs)
    })
}

/// Sorts keys by `run`, and values with them: four bytes travel, others are fetched by indices.
pub(super) fn pairs<B: SegmentedSort, K: Element, V: Element>(
    device: &B,
    (keys, values): (&Buffer<B, K>, &Buffer<B, V>),
    by: impl Into<SortBy>,
    out: (&Buffer<B, K>, &Buffer<B, V>),
    run: impl FnOnce(Call<'_, B>) -> Result<()>,
) -> Result<()> {
    let n = keys.len();
    if values.len() != n {
        return Err(Error::LengthMismatch { what: "values", expected: n, found: values.len() });
    }
    check_output(device, keys, out.0)?;
    check_output(device, values, out.1)?;
    let outs = [(out.0.out(), n), (out.1.out(), n)];
    check_aliasing("segmented sort", &[keys.leaf(), values.leaf()], n, &outs, false)?;
    let call = Call::new(device, keys, by)?.keys_to(out.0)?;
    if V::DTYPE.size_bytes() == 4 {
        // As words, which nothing converts.
        let words = |b: &Buffer<B, V>| Buffer::<B, u32>::from_raw(device, b.raw().clone(), b.offset(), b.len());
        return run(call.values(&words(values)?)?.payload_to(&words(out.1)?)?);
    }
    let order = device.buffer::<u32>(n)?;
    run(call.indices().payload_to(&order)?)?;
    gather(device, values, &order, &out.1.slice(..n)?, false)
}

/// At least one offset, not too many, on the right device, and not where something is written.
fn check_offsets<B: Backend, O: Count>(device: &B, offsets: &Buffer<B, O>, n: u64, outs: &[Out<B::Raw>]) -> Result<()> {
    offsets.check_device(device, "the offsets")?;
    if offsets.is_empty() {
        return Err(Error::InvalidArgument { what: "offsets", reason: "there are none; one more than segments are needed".to_owned() });
    }
    if offsets.len() > MOST_OFFSETS {
        return Err(Error::TooLarge { what: "offsets of a segmented sort", requested: offsets.len(), limit: MOST_OFFSETS });
    }
    let outs: Vec<_> = outs.iter().map(|out| (out.clone(), n)).collect();
    check_aliasing("segmented sort", &[offsets.leaf()], offsets.len(), &outs, false)
}

/// Bounds of all parts are counted by a `u32`.
const MOST_OFFSETS: u64 = u32::MAX as u64 - 2;

/// Room, and the right device, before anything is enqueued.
pub(super) fn check_output<B: Backend, T: Element>(device: &B, x: &Buffer<B, T>, out: &Buffer<B, T>) -> Result<()> {
    out.check_device(device, "the output")?;
    x.check_device(device, "an input")?;
    let (required, available) = (x.len(), out.len());
    if available < required {
        return Err(Error::BufferTooSmall { what: "the output", required, available });
    }
    check_aliasing("segmented sort", &[x.leaf()], required, &[(out.out(), required)], false)
}
