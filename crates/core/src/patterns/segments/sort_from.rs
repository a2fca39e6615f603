//! Segments of what is computed, sorted each by itself.

use super::SegmentedSort;
use crate::backend::{Out, Run};
use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::Result;
use crate::input::{Input, Outputs};
use crate::patterns::select::Count;
use crate::patterns::sort::{Computed, Keyed};
use crate::patterns::{IndexScalar, MapTask, SortBy, check_aliasing};

/// [Sorts of segments](SegmentedSort) of keys, and values, that an operator computes of inputs: what is counted, constant, zipped, permuted, reversed,
/// or computed.
///
/// The order is [`SegmentedSort`](SegmentedSort#order)'s, of what a [map](crate::patterns::Map) would store. A sort of segments is none in place, so
/// the operator is evaluated once into memory that is taken for it: scratch is the size of keys and values more than that of [`SegmentedSort`], and
/// these are written and read once more. No output may overlap an input.
pub trait SegmentedSortFrom: SegmentedSort + Run<MapTask> {
    /// `f` of the inputs, every segment in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let offsets = dev.upload(&[1u32, 4, 4, 6])?;
    /// let sorted = dev.segmented_sort_from(counting(7), |i| (i * 5) % 7, &offsets, SortOrder::Ascending)?; // of 0, 5, 3, 1, 6, 4, 2
    /// assert_eq!(sorted.read_blocking()?, [0, 1, 3, 5, 4, 6, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSort::segmented_sort`] and [`Map::map`](crate::patterns::Map::map).
    fn segmented_sort_from<I, K, R, O>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
    ) -> Result<Buffer<Self, K>>
    where
        I: Input<Self>,
        K: Element,
        R: Outputs<Buffers<Self> = Buffer<Self, K>>,
        O: Count + IndexScalar,
    {
        self.segmented_sort(&computed::<Self, R>(self, Computed::new(self, &inputs, f)?, &[])?, offsets, by)
    }

    /// As [`SegmentedSortFrom::segmented_sort_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets, out) = (dev.upload(&[0.5f32, 3.0, 1.0, 2.0])?, dev.upload(&[0u32, 3, 4])?, dev.buffer(4)?);
    /// dev.segmented_sort_from_into(&x.reversed(), |x| -x, &offsets, SortOrder::Ascending, &out)?;
    /// assert_eq!(out.read_blocking()?, [-3.0, -2.0, -1.0, -0.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSortFrom::segmented_sort_from`] and [`SegmentedSort::segmented_sort_into`].
    fn segmented_sort_from_into<I, K, R, O>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
        out: &Buffer<Self, K>,
    ) -> Result<()>
    where
        I: Input<Self>,
        K: Element,
        R: Outputs<Buffers<Self> = Buffer<Self, K>>,
        O: Count + IndexScalar,
    {
        let keys = computed::<Self, R>(self, Computed::new(self, &inputs, f)?, &[out.out()])?;
        self.segmented_sort_into(&keys, offsets, by, out)
    }

    /// The keys and values of any type that `f` gives of the inputs, the keys of every segment in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[2i32, -1, 5, 4])?, dev.upload(&[0u64, 2, 4])?);
    /// let (squares, x) = dev.segmented_sort_pairs_from(&x, |x| (x * x, x), &offsets, SortOrder::Ascending)?;
    /// assert_eq!((squares.read_blocking()?, x.read_blocking()?), (vec![1, 4, 16, 25], vec![-1, 2, 4, 5]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSortFrom::segmented_sort_from`].
    fn segmented_sort_pairs_from<I, K, V, R, O>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
    ) -> Result<Keyed<Self, K, V>>
    where
        I: Input<Self>,
        K: Element,
        V: Element,
        R: Outputs<Buffers<Self> = Keyed<Self, K, V>>,
        O: Count + IndexScalar,
    {
        let (keys, values) = computed::<Self, R>(self, Computed::new(self, &inputs, f)?, &[])?;
        self.segmented_sort_pairs(&keys, &values, offsets, by)
    }

    /// As [`SegmentedSortFrom::segmented_sort_pairs_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (offsets, k, v) = (dev.upload(&[0u32, 3])?, dev.buffer(3)?, dev.buffer(3)?);
    /// dev.segmented_sort_pairs_from_into(counting(3), |i| (i, i * 10), &offsets, SortOrder::Descending, (&k, &v))?;
    /// assert_eq!(v.read_blocking()?, [20, 10, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSortFrom::segmented_sort_from_into`].
    fn segmented_sort_pairs_from_into<I, K, V, R, O>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()>
    where
        I: Input<Self>,
        K: Element,
        V: Element,
        R: Outputs<Buffers<Self> = Keyed<Self, K, V>>,
        O: Count + IndexScalar,
    {
        let (keys, values) = computed::<Self, R>(self, Computed::new(self, &inputs, f)?, &[out.0.out(), out.1.out()])?;
        self.segmented_sort_pairs_into(&keys, &values, offsets, by, out)
    }

    /// The indices, in the whole array, of every segment of `f` of the inputs in order; an element in no segment has its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[9.0f32, -3.0, 1.0, 2.0])?, dev.upload(&[1u32, 4])?);
    /// assert_eq!(dev.segmented_argsort_from(&x, |x| x.abs(), &offsets, SortOrder::Ascending)?.read_blocking()?, [0, 2, 3, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSortFrom::segmented_sort_from`].
    fn segmented_argsort_from<I, K, R, O>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
    ) -> Result<Buffer<Self, u32>>
    where
        I: Input<Self>,
        K: Element,
        R: Outputs<Buffers<Self> = Buffer<Self, K>>,
        O: Count + IndexScalar,
    {
        self.segmented_argsort(&computed::<Self, R>(self, Computed::new(self, &inputs, f)?, &[])?, offsets, by)
    }

    /// As [`SegmentedSortFrom::segmented_argsort_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (offsets, out) = (dev.upload(&[0u32, 2, 4])?, dev.buffer(4)?);
    /// dev.segmented_argsort_from_into(counting(4), |i| i * 3, &offsets, SortOrder::Descending, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 0, 3, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedSortFrom::segmented_sort_from_into`].
    fn segmented_argsort_from_into<I, K, R, O>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        offsets: &Buffer<Self, O>,
        by: impl Into<SortBy>,
        out: &Buffer<Self, u32>,
    ) -> Result<()>
    where
        I: Input<Self>,
        K: Element,
        R: Outputs<Buffers<Self> = Buffer<Self, K>>,
        O: Count + IndexScalar,
    {
        let keys = computed::<Self, R>(self, Computed::new(self, &inputs, f)?, &[out.out()])?;
        self.segmented_argsort_into(&keys, offsets, by, out)
    }
}
impl<B: SegmentedSort + Run<MapTask>> SegmentedSortFrom for B {}

/// What is computed, for outputs that are none of its inputs.
fn computed<B: Run<MapTask>, R: Outputs>(device: &B, of: Computed<B>, outs: &[Out<B::Raw>]) -> Result<R::Buffers<B>> {
    let outs: Vec<_> = outs.iter().map(|out| (out.clone(), of.n)).collect();
    check_aliasing("segmented sort", &of.c.leaves, of.n, &outs, false)?;
    let to = R::allocate(device, of.n)?;
    of.store::<R>(device, R::refs(&to))?;
    Ok(to)
}
