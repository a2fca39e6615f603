//! The checks of scans, and what they enqueue.

use super::{ScanKind, ScanTask};
use crate::backend::{Backend, Out, Run};
use crate::buffer::Buffer;
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::{Collector, Outputs, require};
use crate::ir::{Expr, Func};
use crate::ops::{Combine, combine_func, identity};
use crate::patterns::map::check_index;
use crate::patterns::{Lines, check_accumulators, check_aliasing, check_ops};
use std::sync::Arc;

/// Every line scanned by an operator.
pub(super) fn lines_into<B: Run<ScanTask>, T: Element<Reg = T> + Scalar>(
    device: &B,
    c: Collector<B>,
    lines: Lines,
    load: Arc<Func>,
    op: &impl Combine<T>,
    exclusive: bool,
    out: &Buffer<B, T>,
) -> Result<()> {
    let kind = if exclusive { ScanKind::Exclusive { first: vec![op.identity().to_bits64()] } } else { ScanKind::Inclusive };
    let task = ScanTask { load, combine: combine_func(op)?, finish: identity::<T>()?, lines, kind, numerics: device.numerics() };
    enqueue::<B, Expr<T>>(device, &c, task, out)
}

pub(super) fn enqueue<B: Run<ScanTask>, R: Outputs>(device: &B, c: &Collector<B>, task: ScanTask, out: R::Refs<'_, B>) -> Result<()> {
    let mut outs: Vec<(Out<B::Raw>, u64)> = Vec::new();
    R::outs(device, out, task.lines.elements(), &mut outs)?;
    let outs = checked(device, c, &task, &outs)?;
    if task.lines.elements() == 0 {
        return Ok(());
    }
    device.run(&task, &c.leaves, &outs)
}

/// The outputs of a scan that keeps what backends rely on.
pub(in crate::patterns) fn checked<B: Backend>(
    device: &B,
    c: &Collector<B>,
    task: &ScanTask,
    outs: &[(Out<B::Raw>, u64)],
) -> Result<Vec<Out<B::Raw>>> {
    for (o, _) in outs {
        require(device, "scan", o.dtype)?;
    }
    check_accumulators(&task.load, &task.combine, &task.finish)?;
    check_ops(device, "scan", task.numerics, &[&task.load, &task.combine, &task.finish])?;
    check_index(c, task.lines.elements())?;
    check_aliasing("scan", &c.leaves, task.lines.elements(), outs, false)?;
    Ok(outs.iter().map(|(o, _)| o.clone()).collect())
}
