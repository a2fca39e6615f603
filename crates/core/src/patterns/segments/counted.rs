//! Patterns over as many elements as the device has counted.

use super::SegmentedSort;
use super::sort::{check_output, pairs, run_parts};
use crate::backend::{Leaf, Run};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{DType, Element};
use crate::error::Result;
use crate::input::{counting, scalar};
use crate::ir::select;
use crate::patterns::select::Count;
use crate::patterns::sort::Call;
use crate::patterns::{IndexScalar, Map as _, MapTask, Selected, SortBy, check_aliasing};

/// Patterns over what a selection leaves: the first elements of a buffer, as many as a count on the device says. Nothing waits for the count, and the
/// work follows it, not the room: kernels take tiles as long as there are. A count above the buffer's length is that.
///
/// They are the patterns of one [segment](super::Segmented#segments) from the start to the count, so results are those of [`Sort`](crate::patterns::Sort) and
/// [`Reduce`](crate::patterns::Reduce) of the slice, bit for bit. What lies behind the count in a sort's outputs is undefined. Scratch is that of
/// [`SegmentedSort`] and [`Segmented`](super::Segmented) for the whole room. Buffers hold less than 2^32 elements.
///
/// Selections, runs and reductions by key have a [`length`](crate::patterns::Selection::length), and histograms [such bins](crate::patterns::counted), whose
/// work is that of the room. What has none looks at the count by itself: `(&kept.values, index(), &kept.count)` and a comparison are inputs of every pattern that takes any.
/// Maps and scans need not: what they make of elements behind the count is behind it, too.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let x = dev.upload(&[5.0f32, -1.0, 3.0, -2.0, 4.0])?;
/// // A selection, a sort of what it keeps, and the sum of that: nothing is read back in between.
/// let kept = dev.select(&x, |x| x.gt(0.0)).run()?;
/// let sorted = dev.sort_counted(&kept, SortOrder::Ascending)?;
/// let sum = dev.reduce(&sorted.values, Sum).length(&sorted.count).run()?;
/// assert_eq!((sorted.read_blocking()?, sum.read_blocking()?), (vec![3.0, 4.0, 5.0], 12.0));
/// # Ok::<(), isowarp::Error>(())
/// ```
pub trait Counted: SegmentedSort + Run<MapTask> {
    /// The keys in order, as many as are counted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let kept = dev.select(&dev.upload(&[4u32, 9, 2, 7])?, |x| x.lt(9)).run()?;
    /// assert_eq!(dev.sort_counted(&kept, SortOrder::Descending)?.read_blocking()?, [7, 4, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort`](crate::patterns::Sort::sort), and [`Error::WrongDevice`](crate::Error::WrongDevice).
    fn sort_counted<K: Element>(
        &self,
        keys: &Selected<Self, Buffer<Self, K>>,
        by: impl Into<SortBy>,
    ) -> Result<Selected<Self, Buffer<Self, K>>> {
        let values = self.buffer(keys.values.len())?;
        self.sort_counted_into(&keys.values, &keys.count, by, &values)?;
        Ok(Selected { values, count: keys.count.clone() })
    }

    /// As [`Counted::sort_counted`], into the caller's buffer, which has room for all keys. The count may be any element of a buffer, `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, count, out) = (dev.upload(&[3i32, -1, 2, 99])?, dev.upload_scalar(3u64)?, dev.buffer(4)?);
    /// dev.sort_counted_into(&keys, &count, SortOrder::Ascending, &out)?;
    /// assert_eq!(out.slice(..3)?.read_blocking()?, [-1, 2, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Counted::sort_counted`] and [`Sort::sort_into`](crate::patterns::Sort::sort_into).
    fn sort_counted_into<K: Element, C: Count + IndexScalar>(
        &self,
        keys: &Buffer<Self, K>,
        count: &DeviceScalar<Self, C>,
        by: impl Into<SortBy>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        check_output(self, keys, out)?;
        run(Call::new(self, keys, by)?.keys_to(out)?, count)
    }

    /// The keys in order, and values of any type that travel with them, as many as are counted.
    /// Values of four bytes travel; others are fetched by indices, over all of the room.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[7u32, 7, 3, 3, 5])?, dev.upload(&[1.0f32, 2.0, 4.0, 8.0, 16.0])?);
    /// let sums = dev.reduce(&values, Sum).by_key(&keys).run()?;
    /// let sorted = dev.sort_pairs_counted(&sums, SortOrder::Ascending)?;
    /// let n = sorted.len_blocking()?;
    /// assert_eq!(sorted.values.0.slice(..n)?.read_blocking()?, [3, 5, 7]);
    /// assert_eq!(sorted.values.1.slice(..n)?.read_blocking()?, [12.0, 16.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Counted::sort_counted`], and [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    #[allow(clippy::type_complexity, reason = "two buffers of a selection")]
    fn sort_pairs_counted<K: Element, V: Element>(
        &self,
        pairs: &Selected<Self, (Buffer<Self, K>, Buffer<Self, V>)>,
        by: impl Into<SortBy>,
    ) -> Result<Selected<Self, (Buffer<Self, K>, Buffer<Self, V>)>> {
        let (keys, values) = &pairs.values;
        let out = (self.buffer(keys.len())?, self.buffer(keys.len())?);
        self.sort_pairs_counted_into((keys, values), &pairs.count, by, (&out.0, &out.1))?;
        Ok(Selected { values: out, count: pairs.count.clone() })
    }

    /// As [`Counted::sort_pairs_counted`], into the caller's buffers: see [`Counted::sort_counted_into`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values, count) = (dev.upload(&[2u8, 1, 0])?, dev.upload(&[20u64, 10, 0])?, dev.upload_scalar(2u32)?);
    /// let (k, v) = (dev.buffer(3)?, dev.buffer(3)?);
    /// dev.sort_pairs_counted_into((&keys, &values), &count, SortOrder::Ascending, (&k, &v))?;
    /// assert_eq!(v.slice(..2)?.read_blocking()?, [10, 20]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Counted::sort_pairs_counted`] and [`Counted::sort_counted_into`].
    fn sort_pairs_counted_into<K: Element, V: Element, C: Count + IndexScalar>(
        &self,
        (keys, values): (&Buffer<Self, K>, &Buffer<Self, V>),
        count: &DeviceScalar<Self, C>,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()> {
        pairs(self, (keys, values), by, out, |call| run(call, count))
    }

    /// The indices of the keys in order, as many as are counted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let kept = dev.select(&dev.upload(&[4u32, 9, 2, 7])?, |x| x.lt(9)).run()?;
    /// assert_eq!(dev.argsort_counted(&kept, SortOrder::Ascending)?.read_blocking()?, [1, 0, 2]); // of 4, 2, 7
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Counted::sort_counted`].
    fn argsort_counted<K: Element>(
        &self,
        keys: &Selected<Self, Buffer<Self, K>>,
        by: impl Into<SortBy>,
    ) -> Result<Selected<Self, Buffer<Self, u32>>> {
        let values = self.buffer(keys.values.len())?;
        self.argsort_counted_into(&keys.values, &keys.count, by, &values)?;
        Ok(Selected { values, count: keys.count.clone() })
    }

    /// As [`Counted::argsort_counted`], into the caller's buffer: see [`Counted::sort_counted_into`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, count, out) = (dev.upload(&[0.5f64, -0.5, 9.0])?, dev.upload_scalar(2u32)?, dev.buffer(3)?);
    /// dev.argsort_counted_into(&keys, &count, SortOrder::Ascending, &out)?;
    /// assert_eq!(out.slice(..2)?.read_blocking()?, [1, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Counted::sort_counted_into`].
    fn argsort_counted_into<K: Element, C: Count + IndexScalar>(
        &self,
        keys: &Buffer<Self, K>,
        count: &DeviceScalar<Self, C>,
        by: impl Into<SortBy>,
        out: &Buffer<Self, u32>,
    ) -> Result<()> {
        run(Call::new(self, keys, by)?.indices().payload_to(out)?, count)
    }
}
impl<B: SegmentedSort + Run<MapTask>> Counted for B {}

/// The offsets of one segment of as many elements as are counted.
pub(in crate::patterns) fn bounds<B: Run<MapTask>, C: Count + IndexScalar>(device: &B, count: &DeviceScalar<B, C>) -> Result<Buffer<B, C>> {
    device.map((counting(2), count), |(i, count)| select(i.eq(0), C::from_bits64(0), count))
}

/// Sorts the first keys of a call, as many as are counted.
fn run<B: Counted, C: Count + IndexScalar>(call: Call<'_, B>, count: &DeviceScalar<B, C>) -> Result<()> {
    count.buffer().check_device(call.device(), "the count")?;
    check_aliasing("sort", &[count.buffer().leaf()], 1, call.outs(), false)?;
    run_parts(call, (3, false, false), |device, n| {
        let most = scalar(C::from_bits64(n));
        let bounds = device.map((counting(2), count, most), |(i, count, n)| select(i.eq(0), 0, count.min(n).cast::<u32>()))?;
        Ok(Leaf::Array { raw: bounds.raw().clone(), dtype: DType::U32, offset: bounds.offset(), len: bounds.len() })
    })
}
