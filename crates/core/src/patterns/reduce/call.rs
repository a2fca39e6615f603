//! The checks of reductions, and what they enqueue.

use super::ReduceTask;
use crate::backend::{Backend, Out, Run};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Outputs, require};
use crate::ir::{self, Expr, Func, Traced};
use crate::ops::{Combine, combine_func, identity};
use crate::patterns::map::{Map as _, MapTask, check_index};
use crate::patterns::{Lines, check_accumulators, check_aliasing, check_ops};
use std::sync::Arc;

/// The operators of a reduction.
pub(in crate::patterns) struct Parts {
    pub(in crate::patterns) load: Arc<Func>,
    pub(in crate::patterns) combine: Arc<Func>,
    pub(in crate::patterns) finish: Arc<Func>,
}

impl Parts {
    pub(super) fn new<A: Traced, R: Traced>(load: Arc<Func>, combine: impl FnOnce(A, A) -> A, finish: impl FnOnce(A) -> R) -> Result<Self> {
        let combine = Arc::new(ir::trace(|(a, b): (A, A)| combine(a, b))?);
        Ok(Self { load, combine, finish: Arc::new(ir::trace(finish)?) })
    }

    /// One value of several parts, in new buffers.
    pub(in crate::patterns) fn reduce<B: Run<ReduceTask>, R: Outputs>(self, device: &B, c: Collector<B>) -> Result<R::Buffers<B>> {
        not_empty(&c)?;
        let out = R::allocate(device, 1)?;
        self.reduce_into::<B, R>(device, c, R::refs(&out))?;
        Ok(out)
    }

    /// The same, into the caller's buffers.
    pub(in crate::patterns) fn reduce_into<B: Run<ReduceTask>, R: Outputs>(
        self,
        device: &B,
        c: Collector<B>,
        out: R::Refs<'_, B>,
    ) -> Result<()> {
        let lines = Lines::one(not_empty(&c)?);
        let mut outs = Vec::new();
        R::outs(device, out, 1, &mut outs)?;
        enqueue(device, &c, self, lines, &outs)
    }
}

/// The number of elements, of which there is one at least.
fn not_empty<B: Backend>(c: &Collector<B>) -> Result<u64> {
    match c.len()? {
        0 => Err(Error::Empty { pattern: "reduce" }),
        n => Ok(n),
    }
}

/// A new device scalar that `fill` writes.
pub(super) fn one<B: Backend, T: Element>(device: &B, fill: impl FnOnce(&Buffer<B, T>) -> Result<()>) -> Result<DeviceScalar<B, T>> {
    let out = device.buffer(1)?;
    fill(&out)?;
    DeviceScalar::from_buffer(out)
}

/// Every line combined by an operator.
pub(super) fn lines_into<B: Run<ReduceTask> + Run<MapTask>, T: Element<Reg = T> + Scalar>(
    device: &B,
    c: Collector<B>,
    lines: Lines,
    load: Arc<Func>,
    op: &impl Combine<T>,
    out: &Buffer<B, T>,
) -> Result<()> {
    let mut outs = Vec::new();
    Expr::<T>::outs(device, out, lines.count(), &mut outs)?;
    if lines.count() == 0 {
        return Ok(());
    }
    if lines.n == 0 {
        let Some(v) = op.of_nothing() else { return Err(Error::Empty { pattern: op.name() }) };
        return device.fill(&out.slice(..lines.count())?, v);
    }
    let parts = Parts { load, combine: combine_func(op)?, finish: identity::<T>()? };
    enqueue(device, &c, parts, lines, &outs)
}

fn enqueue<B: Run<ReduceTask>>(device: &B, c: &Collector<B>, parts: Parts, lines: Lines, outs: &[(Out<B::Raw>, u64)]) -> Result<()> {
    let Parts { load, combine, finish } = parts;
    let task = ReduceTask { load, combine, finish, lines, numerics: device.numerics() };
    let outs = checked(device, c, &task, outs)?;
    device.run(&task, &c.leaves, &outs)
}

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
