//! Sorts of long segments as data, and the tiles that backends cut them into.

use crate::backend::{Leaf, Out, Run};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::input::scalar;
use crate::ops::Max;
use crate::patterns::select::Count;
use crate::patterns::{IndexElement, Scan as _, ScanTask, SortPlaces, SortTask};

/// Stable sorts of parts of an array as data. The leaves are those of [`SegmentedSortTask::sort`], then the bounds: an array of `u32`, from the start of its
/// memory on, one less than there are parts, which never falls nor is above the number of keys. Part `p` is the keys from bound `p - 1` to bound `p`; the first
/// part begins with the first key, the last one ends with the last. These two stay as they are: they are in no segment. Indices count from the array's
/// start. Nothing is lent, no output is an input, and what travels has at most 4 bytes.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct SegmentedSortTask {
    /// What is sorted by, and what travels; one row of all keys.
    pub sort: SortTask,
    /// Parts, of which two are in no segment.
    pub parts: u64,
}

/// Which operand of a task is what.
#[derive(Clone, Copy, Debug)]
pub struct SegmentedSortPlaces<'a, R> {
    /// Those of the sort.
    pub sort: SortPlaces<'a, R>,
    /// The bounds.
    pub bounds: &'a R,
}

impl SegmentedSortTask {
    /// The operands by what they are.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where they are not those of this task.
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Result<SegmentedSortPlaces<'a, R>> {
        match leaves {
            [sort @ .., Leaf::Array { raw, offset: 0, .. }] => Ok(SegmentedSortPlaces { sort: self.sort.places(sort, outs)?, bounds: raw }),
            _ => Err(Error::InvalidArgument { what: "segmented sort", reason: "its operands do not fit".to_owned() }),
        }
    }
}

/// The bounds of the parts that offsets cut `n` keys into. They never fall, whatever the offsets are.
pub(super) fn bounds<B, O: Count + IndexElement>(device: &B, n: u64, offsets: &Buffer<B, O>) -> Result<Buffer<B, u32>>
where
    B: Run<ScanTask>,
{
    device.scan_from((offsets, scalar(n as u32)), |(offset, n)| offset.min(n.cast::<O>()).cast::<u32>(), Max, false)
}
