//! Reductions of segments as data.

use crate::backend::Leaf;
use crate::caps::Numerics;
use crate::element::{DType, Ty};
use crate::error::{Error, Result};
use crate::ir::Func;
use std::sync::Arc;

/// A reduction of every segment as data. Segment `k` is the elements from bound `k` to bound `k + 1`. The leaves are those of `load`, then the bounds
/// (an array, `u32` or `u64`), then, where the segments are counted on the device, their number (one `u32`); see [`SegmentedReduceTask::places`].
#[derive(Clone, Debug)]
pub struct SegmentedReduceTask {
    /// One parameter a leaf; its results are the accumulator's parts.
    pub load: Arc<Func>,
    /// The left accumulator's parts, then the right one's; results: the combined parts.
    pub combine: Arc<Func>,
    /// The accumulator's parts; one result an output.
    pub finish: Arc<Func>,
    /// The accumulator of an empty segment: bits, one entry a part.
    pub nothing: Vec<u64>,
    /// Elements. A bound above that is that.
    pub n: u64,
    /// Segments; where they are counted on the device, at most so many.
    pub segments: u64,
    /// Whether the device knows how many segments there are. Then there is one bound less: the last segment ends with the last element.
    pub counted: bool,
    /// Strict or fast.
    pub numerics: Numerics,
}

/// Leaves of a task, by what they are.
#[derive(Clone, Copy, Debug)]
pub struct SegmentPlaces<'a, R> {
    /// Leaves of `load`.
    pub leaves: &'a [Leaf<R>],
    /// The bounds, their first one, and their type.
    pub bounds: (&'a R, u64, DType),
    /// Number of segments.
    pub count: Option<(&'a R, u64)>,
}

impl SegmentedReduceTask {
    /// The types of the accumulator's parts.
    #[must_use]
    pub fn parts(&self) -> Vec<Ty> {
        self.load.result_types()
    }

    /// Bounds of so many segments.
    #[must_use]
    pub const fn bounds(&self, segments: u64) -> u64 {
        if self.counted { segments } else { segments + 1 }
    }

    /// The leaves by what they are.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where they are not those of this task.
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>]) -> Result<SegmentPlaces<'a, R>> {
        let fail = || Error::InvalidArgument { what: "segments", reason: "their operands do not fit".to_owned() };
        let (leaves, rest) = leaves.split_at_checked(self.load.params.len()).ok_or_else(fail)?;
        match (rest, self.counted) {
            ([Leaf::Array { raw, dtype, offset, .. }], false) => Ok(SegmentPlaces { leaves, bounds: (raw, *offset, *dtype), count: None }),
            ([Leaf::Array { raw, dtype, offset, .. }, Leaf::Elements { raw: count, offset: at, .. }], true) => {
                Ok(SegmentPlaces { leaves, bounds: (raw, *offset, *dtype), count: Some((count, *at)) })
            }
            _ => Err(fail()),
        }
    }
}
