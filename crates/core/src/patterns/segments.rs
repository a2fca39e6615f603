//! P05 by key and segmented: one result for each segment of an array, or each run of equal keys.

mod by_key;
mod call;
mod counted;
mod difference;
mod sort;
mod sort_rows;
mod sort_task;
mod task;

pub use by_key::{ByKeyPlaces, ReduceByKeyTask};
pub use difference::{Adjacent, Difference, Less, OfNeighbours};
pub use sort_task::{SegmentedSortPlaces, SegmentedSortTask};
pub use task::{SegmentPlaces, SegmentedReduceTask};

pub(super) use by_key::{by_array, by_input};
pub(super) use call::{Operators, Segments, check_all, check_offsets, enqueue};
pub(super) use counted::bounds;

use super::select::Count;
use super::{MapTask, ReduceTask, SelectTask};
use crate::backend::Run;
use crate::buffer::Buffer;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;

/// The pattern's name in messages.
pub(super) const BY_KEY: &str = "reduction by key";

/// Segments of arrays: what [`Call::segments`](crate::call::Call::segments) takes together in reductions and scans.
///
/// # Segments
/// `s + 1` offsets on the device, `u32` or `u64`, bound `s` segments: segment `k` is the elements `offsets[k]..offsets[k + 1]`. Segments may be empty
/// and of any lengths; elements before the first offset and from the last one on are in none. Offsets must not fall, nor be above the number of elements.
/// Where they do, what the results hold is not determined, and no access leaves a buffer; [`checked`](crate::call::Call::checked) waits for the device and returns
/// [`Error::NotSorted`] or [`Error::IndexOutOfRange`] instead, having written nothing.
///
/// # Order of evaluation
/// Each segment is reduced as an array of its own: the aligned binary tree of [`Reduce`](super::Reduce), counted from the segment's start. So a result is that of
/// `reduce` of the slice, wherever the slice lies. An empty segment gives the operator's identity: zero for a sum, and what a minimum or maximum starts
/// from (infinity, or the type's greatest or least value), since only the device knows that it is empty.
///
/// Work O(n + s), whatever the lengths: short segments are reduced many to a workgroup, long ones by many workgroups. Scratch is at most 48 bytes to each
/// 1024 elements, and by key four bytes an element more (on CUDA 32 bytes to each 4096 instead, through wgpu 280 to each 1024). There are at most 2^32 - 1 segments; through wgpu they have at most 2^31 elements together.
///
/// Source: Blelloch, *Prefix sums and their applications* (1990), section 1.5; Merrill and Garland, *Merge-based parallel sparse matrix-vector
/// multiplication* (2016); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapters 10 and 14.
pub trait Segmented: Run<SegmentedReduceTask> + Run<ReduceByKeyTask> + Run<SelectTask> + Run<ReduceTask> + Run<MapTask> {
    /// Fails for offsets that do not bound segments of `n` elements, naming the first that is wrong. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let offsets = dev.upload(&[0u32, 3, 3, 7])?;
    /// assert!(dev.check_offsets(&offsets, 7).is_ok());
    /// assert!(matches!(dev.check_offsets(&offsets, 5), Err(isowarp::Error::IndexOutOfRange { position: 3, .. })));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotSorted`], [`Error::IndexOutOfRange`]; [`Error::Unsupported`], [`Error::OutOfMemory`].
    fn check_offsets<O: Count>(&self, offsets: &Buffer<Self, O>, n: u64) -> Result<()> {
        check_offsets(self, "segments", offsets, n)
    }
}
impl<B: Run<SegmentedReduceTask> + Run<ReduceByKeyTask> + Run<SelectTask> + Run<ReduceTask> + Run<MapTask>> Segmented for B {}
