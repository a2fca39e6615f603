//! The checks of segmented reductions, and what they enqueue.

use super::SegmentedReduceTask;
use crate::backend::{Backend, Leaf, Out, Run, places};
use crate::buffer::{Buffer, DeviceScalar};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Outputs, require};
use crate::ir::Func;
use crate::patterns::map::check_index;
use crate::patterns::select::Count;
use crate::patterns::{check_accumulators, check_aliasing, check_ops};
use std::sync::Arc;

/// The operators of a segmented reduction.
pub(in crate::patterns) struct Operators {
    pub(in crate::patterns) load: Arc<Func>,
    pub(in crate::patterns) combine: Arc<Func>,
    pub(in crate::patterns) finish: Arc<Func>,
    pub(in crate::patterns) nothing: Vec<u64>,
}

/// The bounds of the segments.
pub(in crate::patterns) struct Segments<'a, B: Backend, O> {
    pub(in crate::patterns) bounds: &'a Buffer<B, O>,
    /// Number of segments, where the device knows it.
    pub(in crate::patterns) count: Option<&'a DeviceScalar<B, u32>>,
}

impl<B: Backend, O: Count> Segments<'_, B, O> {
    /// Segments, or the most that there may be.
    pub(in crate::patterns) fn most(&self) -> Result<u64> {
        match (self.count, self.bounds.len()) {
            (Some(_), n) => Ok(n),
            (None, 0) => {
                Err(Error::InvalidArgument { what: "offsets", reason: "there are none; one more than segments are needed".to_owned() })
            }
            (None, n) => Ok(n - 1),
        }
    }
}

/// Segments that 32 bits number, and so tiles.
const MOST_SEGMENTS: u64 = u32::MAX as u64;

const PATTERN: &str = "segmented reduction";

/// Checks all of the operators and the results of so many segments that can be checked before their bounds are known; returns the results' places.
pub(super) fn check<B: Backend, R: Outputs>(
    device: &B,
    c: &Collector<B>,
    ops: &Operators,
    out: R::Refs<'_, B>,
    most: u64,
) -> Result<Vec<(Out<B::Raw>, u64)>> {
    if most > MOST_SEGMENTS {
        return Err(Error::TooLarge { what: "segments", requested: most, limit: MOST_SEGMENTS });
    }
    let mut outs: Vec<(Out<B::Raw>, u64)> = Vec::new();
    R::outs(device, out, most, &mut outs)?;
    for (o, _) in &outs {
        require(device, PATTERN, o.dtype)?;
    }
    check_accumulators(&ops.load, &ops.combine, &ops.finish)?;
    check_ops(device, PATTERN, device.numerics(), &[&ops.load, &ops.combine, &ops.finish])?;
    check_index(c, c.len()?)?;
    Ok(outs)
}

/// The operands of a reduction of segments, and the results, after all checks but of the offsets' values.
#[allow(clippy::type_complexity, reason = "two lists of operands")]
pub(in crate::patterns) fn check_all<B: Run<SegmentedReduceTask>, R: Outputs, O: Count>(
    device: &B,
    c: &Collector<B>,
    ops: &Operators,
    segments: &Segments<'_, B, O>,
    out: R::Refs<'_, B>,
) -> Result<(Vec<Leaf<B::Raw>>, Vec<(Out<B::Raw>, u64)>)> {
    segments.bounds.check_device(device, "the offsets")?;
    require(device, PATTERN, O::DTYPE)?;
    let outs = check::<B, R>(device, c, ops, out, segments.most()?)?;
    let b = segments.bounds;
    let mut leaves = c.leaves.clone();
    leaves.push(Leaf::Array { raw: b.raw().clone(), dtype: O::DTYPE, offset: b.offset(), len: b.len() });
    if let Some(count) = segments.count {
        count.buffer().check_device(device, "the number of segments")?;
        leaves.push(Leaf::Elements { raw: count.buffer().raw().clone(), dtype: u32::DTYPE, offset: count.buffer().offset(), stride: 0 });
    }
    check_aliasing(PATTERN, &leaves, c.len()?, &outs, false)?;
    Ok((leaves, outs))
}

/// Checks a reduction of segments, and enqueues it.
pub(in crate::patterns) fn enqueue<B: Run<SegmentedReduceTask>, R: Outputs, O: Count>(
    device: &B,
    c: Collector<B>,
    ops: Operators,
    segments: &Segments<'_, B, O>,
    out: R::Refs<'_, B>,
) -> Result<()> {
    let (leaves, outs) = check_all::<B, R, O>(device, &c, &ops, segments, out)?;
    let (n, most, numerics) = (c.len()?, segments.most()?, device.numerics());
    if most == 0 {
        return Ok(());
    }
    let Operators { load, combine, finish, nothing } = ops;
    let counted = segments.count.is_some();
    let task = SegmentedReduceTask { load, combine, finish, nothing, n, segments: most, counted, numerics };
    let outs = places(outs);
    device.run(&task, &leaves, &outs)
}

/// Fails for the first offset that is below the one before it, or above `n`. Waits for the device.
pub(in crate::patterns) fn check_offsets<B, O: Count>(device: &B, pattern: &'static str, offsets: &Buffer<B, O>, n: u64) -> Result<()>
where
    B: Run<crate::patterns::ReduceTask> + Run<crate::patterns::MapTask>,
{
    crate::patterns::sort::check_sorted(device, pattern, "the array of offsets", offsets, &crate::patterns::SortOrder::Ascending.into())?;
    let of = |o: &O| o.widen().to_bits64();
    let Some(last) = offsets.len().checked_sub(1) else { return Ok(()) };
    if offsets.slice(last..)?.read_blocking()?.iter().all(|o| of(o) <= n) {
        return Ok(());
    }
    // None falls, so those above the end come last.
    let all = offsets.read_blocking()?;
    let position = all.partition_point(|o| of(o) <= n);
    let index = all.get(position).map_or(0, of).into();
    Err(Error::IndexOutOfRange { pattern, position: position as u64, index, limit: n + 1 })
}
