//! The checks of scans, and the tasks that they enqueue.

use super::{ScanKind, ScanTask};
use crate::backend::{Backend, Out, Run};
use crate::call::{Accumulate, Described, Finish};
use crate::error::Result;
use crate::input::{Collector, Input, Outputs, require};
use crate::ir::{self, Accumulator, Expr, Func, Traced, select_each};
use crate::patterns::map::{check_index, collect, trace};
use crate::patterns::{Lines, check_accumulators, check_aliasing, check_ops};
use core::convert::identity;
use std::sync::Arc;

/// A flag that starts a segment, and a value.
pub(super) type Pair<A> = (Expr<u32>, A);

impl<B, I, O, F> Described<'_, B, I, O, F> {
    /// The first result of a line, if it is none of the elements.
    pub(super) fn first<A: Traced>(&self) -> Option<Vec<u64>>
    where
        O: Accumulate<A>,
    {
        self.exclusive.then(|| self.op.identity_bits())
    }

    /// The task of a scan of lines of these accumulators.
    pub(super) fn task<A: Accumulator>(&self, lines: Lines, load: Arc<Func>) -> Result<ScanTask>
    where
        B: Backend,
        O: Accumulate<A>,
        F: Finish<A>,
    {
        let kind = self.first().map_or(ScanKind::Inclusive, |first| ScanKind::Exclusive { first });
        let (combine, finish) = (self.op.combine_func()?, self.stored_func()?);
        Ok(ScanTask { load, combine, finish, lines, kind, numerics: self.device.numerics() })
    }

    /// The device, the inputs, and the task of a scan of all elements as one line.
    pub(super) fn line(&self) -> Result<(&B, Collector<B>, ScanTask)>
    where
        B: Backend,
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let c = collect(self.device, "scan", &self.inputs)?;
        let load = trace(&self.inputs, &c, identity)?;
        let task = self.task::<I::Exprs>(Lines::one(c.len()?), load)?;
        Ok((self.device, c, task))
    }

    /// The task of a scan of `n` pairs of a flag and an accumulator, which is inclusive: an exclusive one loads the element before.
    pub(super) fn task_of_pairs<A: Accumulator>(&self, n: u64, load: Arc<Func>) -> Result<ScanTask>
    where
        B: Backend,
        O: Accumulate<A>,
        F: Finish<A>,
    {
        // Errors of the operator itself come first.
        self.op.combine_func()?;
        let combine = ir::trace(|(a, b): (Pair<A>, Pair<A>)| {
            let starts = b.0.ne(0);
            (a.0 | b.0, select_each(starts, b.1, self.op.accumulate(a.1, b.1)))
        })?;
        let finish = ir::trace(|(_, v): Pair<A>| self.stored(v))?;
        let (combine, finish) = (Arc::new(combine), Arc::new(finish));
        Ok(ScanTask { load, combine, finish, lines: Lines::one(n), kind: ScanKind::Inclusive, numerics: self.device.numerics() })
    }
}

/// Checks a task and its operands, and enqueues it.
pub(super) fn enqueue<B: Run<ScanTask>, R: Outputs>(device: &B, c: &Collector<B>, task: &ScanTask, out: R::Refs<'_, B>) -> Result<()> {
    let mut outs: Vec<(Out<B::Raw>, u64)> = Vec::new();
    R::outs(device, out, task.lines.elements(), &mut outs)?;
    let outs = checked(device, c, task, &outs)?;
    if task.lines.elements() == 0 {
        return Ok(());
    }
    device.run(task, &c.leaves, &outs)
}

/// The outputs of a scan, after its checks.
pub(super) fn checked<B: Backend>(device: &B, c: &Collector<B>, task: &ScanTask, outs: &[(Out<B::Raw>, u64)]) -> Result<Vec<Out<B::Raw>>> {
    for (o, _) in outs {
        require(device, "scan", o.dtype)?;
    }
    check_accumulators(&task.load, &task.combine, &task.finish)?;
    check_ops(device, "scan", task.numerics, &[&task.load, &task.combine, &task.finish])?;
    check_index(c, task.lines.elements())?;
    check_aliasing("scan", &c.leaves, task.lines.elements(), outs, false)?;
    Ok(outs.iter().map(|(o, _)| o.clone()).collect())
}
