//! The elements that a scan takes together.

use super::enqueue::enqueue;
use super::shifted::exclusive_load;
use super::{Described, ScanTask};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::call::{Accumulate, Axis, Checked, Finish, Flags, Keys, Offsets, Whole};
use crate::element::Scalar;
use crate::error::Result;
use crate::input::{Input, Outputs};
use crate::ir::{self, Accumulator, Expr};
use crate::patterns::before::Neighbours;
use crate::patterns::map::{collect, collect_lines, trace};
use crate::patterns::moves::scatter;
use crate::patterns::operand::Operand;
use crate::patterns::segments::check_offsets;
use crate::patterns::select::Count;
use crate::patterns::{IndexScalar, Lines, Map as _, MapTask, ReduceTask, ScatterOp, ScatterTask};
use core::convert::identity;
use std::sync::Arc;

/// The elements that a scan takes together, on a device that can do it: [`Whole`], [`Axis`], [`Flags`], [`Keys`] or [`Offsets`].
pub trait ScanDomain<B: Backend> {
    /// Elements of the result.
    #[doc(hidden)]
    fn len<I: Input<B>>(&self, device: &B, inputs: &I) -> Result<u64>;

    /// Checks that wait for the device.
    #[doc(hidden)]
    fn check<I: Input<B>>(&self, _device: &B, _inputs: &I) -> Result<()> {
        Ok(())
    }

    /// Checks and enqueues the scan.
    #[doc(hidden)]
    fn enqueue<I, O, F>(&self, scan: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>;
}

impl<B: Run<ScanTask>> ScanDomain<B> for Whole {
    fn len<I: Input<B>>(&self, device: &B, inputs: &I) -> Result<u64> {
        collect(device, "scan", inputs)?.len()
    }

    fn enqueue<I, O, F>(&self, scan: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let (device, c, task) = scan.line()?;
        enqueue::<B, F::Out>(device, &c, &task, out)
    }
}

impl<B: Run<ScanTask>> ScanDomain<B> for Axis {
    fn len<I: Input<B>>(&self, device: &B, inputs: &I) -> Result<u64> {
        let lines = Lines::along(&self.shape, self.axis)?;
        collect_lines(device, "scan", inputs, &lines)?.len()
    }

    fn enqueue<I, O, F>(&self, scan: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let lines = Lines::along(&self.shape, self.axis)?;
        let c = collect_lines(scan.device, "scan", &scan.inputs, &lines)?;
        let load = trace(&scan.inputs, &c, identity)?;
        enqueue::<B, F::Out>(scan.device, &c, &scan.task::<I::Exprs>(lines, load)?, out)
    }
}

impl<B: Run<ScanTask>, H: Input<B, Exprs = Expr<u32>>> ScanDomain<B> for Flags<H> {
    fn len<I: Input<B>>(&self, device: &B, inputs: &I) -> Result<u64> {
        let mut c = collect(device, "scan", inputs)?;
        self.0.collect(&mut c)?;
        c.len()
    }

    fn enqueue<I, O, F>(&self, scan: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        by_flags(scan, &self.0, out)
    }
}

impl<B: Run<ScanTask>, K: Scalar, J: Input<B, Exprs = Expr<K>>> ScanDomain<B> for Keys<J> {
    fn len<I: Input<B>>(&self, device: &B, inputs: &I) -> Result<u64> {
        let mut c = collect(device, "scan", inputs)?;
        self.0.collect(&mut c)?;
        c.len()
    }

    fn enqueue<I, O, F>(&self, scan: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        by_flags(scan, &&starts(scan.device, &self.0)?, out)
    }
}

impl<B, T: Count + IndexScalar> ScanDomain<B> for Offsets<'_, B, T>
where
    B: Run<ScanTask> + Run<ScatterTask> + Run<MapTask>,
{
    fn len<I: Input<B>>(&self, device: &B, inputs: &I) -> Result<u64> {
        collect(device, "scan", inputs)?.len()
    }

    fn enqueue<I, O, F>(&self, scan: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let n = collect(scan.device, "scan", &scan.inputs)?.len()?;
        by_flags(scan, &&flags(scan.device, n, self.0)?, out)
    }
}

impl<B, T: Count + IndexScalar> ScanDomain<B> for Checked<Offsets<'_, B, T>>
where
    B: Run<ScanTask> + Run<ScatterTask> + Run<MapTask> + Run<ReduceTask>,
{
    fn len<I: Input<B>>(&self, device: &B, inputs: &I) -> Result<u64> {
        self.0.len(device, inputs)
    }

    fn check<I: Input<B>>(&self, device: &B, inputs: &I) -> Result<()> {
        check_offsets(device, "segments", self.0.0, self.0.len(device, inputs)?)
    }

    fn enqueue<I, O, F>(&self, scan: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        self.0.enqueue(scan, out)
    }
}

fn by_flags<B, H, I, O, F>(scan: &Described<'_, B, I, O, F>, flags: &H, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
where
    B: Run<ScanTask>,
    H: Input<B, Exprs = Expr<u32>>,
    I: Input<B, Exprs: Accumulator>,
    O: Accumulate<I::Exprs>,
    F: Finish<I::Exprs>,
{
    let mut c = collect(scan.device, "scan", &scan.inputs)?;
    let load = match scan.first() {
        Some(first) => exclusive_load(&mut c, &scan.inputs, flags, &first)?,
        None => {
            flags.collect(&mut c)?;
            Arc::new(ir::pack(c.params.clone(), || {
                let next = &mut 0;
                let x = scan.inputs.exprs(next);
                (flags.exprs(next), x)
            })?)
        }
    };
    let task = scan.task_of_pairs::<I::Exprs>(c.len()?, load)?;
    enqueue::<B, F::Out>(scan.device, &c, &task, out)
}

/// Flags where runs of equal neighbours start.
fn starts<B: Backend, K: Scalar>(device: &B, keys: &impl Input<B, Exprs = Expr<K>>) -> Result<Operand<B, u32>> {
    let found = Neighbours::new(device, "scan", keys, identity)?;
    let func = found.trace(|before: Expr<K>, key, i| (i.eq(0) | key.ne(before)).cast::<u32>())?;
    Ok(Operand::new(found.c, func))
}

/// 1 where a segment starts, and where the last one ends, else 0.
pub(in crate::patterns) fn flags<B, T: Count + IndexScalar>(device: &B, n: u64, offsets: &Buffer<B, T>) -> Result<Buffer<B, u32>>
where
    B: Run<ScatterTask> + Run<MapTask>,
{
    offsets.check_device(device, "the offsets")?;
    let flags = device.buffer(n)?;
    device.fill(&flags, 0)?;
    let ones = device.buffer(offsets.len())?;
    device.fill(&ones, 1)?;
    // Empty segments start where others do: whichever is stored, it is 1. An offset after the end is stored nowhere.
    scatter(device, Some(&ones), offsets, &flags, ScatterOp::Store)?;
    Ok(flags)
}
