//! The checks of reductions.

use super::ReduceTask;
use crate::backend::{Backend, Out};
use crate::error::{Error, Result};
use crate::input::{Collector, require};
use crate::patterns::map::check_index;
use crate::patterns::{check_accumulators, check_aliasing, check_ops};

/// The outputs of a reduction that keeps what backends rely on.
pub(in crate::patterns) fn checked<B: Backend>(
    device: &B,
    c: &Collector<B>,
    task: &ReduceTask,
    outs: &[(Out<B::Raw>, u64)],
) -> Result<Vec<Out<B::Raw>>> {
    for (o, _) in outs {
        require(device, "reduce", o.dtype)?;
    }
    check_accumulators(&task.load, &task.combine, &task.finish)?;
    check_ops(device, "reduce", task.numerics, &[&task.load, &task.combine, &task.finish])?;
    check_index(c, task.lines.elements())?;
    check_aliasing("reduce", &c.leaves, task.lines.elements(), outs, false)?;
    Ok(outs.iter().map(|(o, _)| o.clone()).collect())
}

/// A `u32` counts no more.
pub(crate) fn check_count(n: u64) -> Result<()> {
    let limit = u64::from(u32::MAX);
    if n > limit {
        return Err(Error::TooLarge { what: "elements to count", requested: n, limit });
    }
    Ok(())
}
