//! The elements that a scan takes together.

use super::enqueue::{checked, enqueue};
use super::shifted::exclusive_load;
use super::{ScanTask, Scanning};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::call::{
    Accumulate, Along, ByVariant, Checked, Described, Domain, Finish, Flag, Flags, Keys, Offsets, Variant, Whole, run_variant,
};
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::{Input, Outputs};
use crate::ir::{self, Accumulator, Expr, lit};
use crate::patterns::before::Neighbours;
use crate::patterns::map::{collect, collect_lines, trace};
use crate::patterns::moves::scatter;
use crate::patterns::operand::Operand;
use crate::patterns::segments::check_offsets;
use crate::patterns::select::Count;
use crate::patterns::{IndexScalar, Lines, Map as _, MapTask, ReduceTask, ScatterOp, ScatterTask, check_aliasing};
use core::convert::identity;
use std::sync::Arc;

/// The elements that a scan takes together, on a device that can do it: [`Whole`], [`Along`], [`Flags`], [`Keys`] or [`Offsets`].
pub trait ScanDomain<B: Backend> {
    /// Elements of the result.
    #[doc(hidden)]
    fn len<I: Input<B>>(&self, device: &B, inputs: &I) -> Result<u64>;

    /// Checks and enqueues the scan.
    #[doc(hidden)]
    fn enqueue<I, O, F>(&self, scan: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>;
}

impl<B: Backend, P: ScanDomain<B>> Domain<Scanning, B> for P {
    type New<R: Outputs> = R::Buffers<B>;
    type Refs<'a, R: Outputs> = R::Refs<'a, B>;

    fn run<I, O, F>(&self, scan: &Described<'_, B, I, O, F>) -> Result<<F::Out as Outputs>::Buffers<B>>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let out = F::Out::allocate(scan.device, self.len(scan.device, &scan.inputs)?)?;
        self.enqueue(scan, F::Out::refs(&out))?;
        Ok(out)
    }

    fn write<I, O, F>(&self, scan: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        self.enqueue(scan, out)
    }
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

impl<B: Backend, P: Variant<B, ScanTask>> ScanDomain<B> for ByVariant<P> {
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
        let mut outs = Vec::new();
        F::Out::outs(device, out, task.lines.n, &mut outs)?;
        let outs = checked(device, &c, &task, &outs)?;
        if task.lines.n == 0 { Ok(()) } else { run_variant(&self.0, device, &task, (&c.leaves, &outs)) }
    }
}

impl<B: Run<ScanTask>> ScanDomain<B> for Along {
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

impl<B: Run<ScanTask>, H: Input<B, Exprs: Flag>> ScanDomain<B> for Flags<H> {
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
        let n = self.len(scan.device, &scan.inputs)?;
        by_flags(scan, &&starts(scan.device, &self.0, n)?, out)
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
        let n = check_before_offsets(scan, self.0, out)?;
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

    fn enqueue<I, O, F>(&self, scan: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let n = check_before_offsets(scan, self.0.0, out)?;
        check_offsets(scan.device, "segments", self.0.0, n)?;
        self.0.enqueue(scan, out)
    }
}

/// The number of elements, after all checks that need neither flags nor the offsets' values: nothing is enqueued for a call that is refused.
fn check_before_offsets<B, T, I, O, F>(
    scan: &Described<'_, B, I, O, F>,
    offsets: &Buffer<B, T>,
    out: <F::Out as Outputs>::Refs<'_, B>,
) -> Result<u64>
where
    B: Backend,
    T: Element,
    I: Input<B, Exprs: Accumulator>,
    O: Accumulate<I::Exprs>,
    F: Finish<I::Exprs>,
{
    offsets.check_device(scan.device, "the offsets")?;
    let c = collect(scan.device, "scan", &scan.inputs)?;
    let n = c.len()?;
    let load = trace(&scan.inputs, &c, |x| (lit(0u32), x))?;
    let task = scan.task_of_pairs::<I::Exprs>(n, load)?;
    let mut outs = Vec::new();
    F::Out::outs(scan.device, out, n, &mut outs)?;
    checked(scan.device, &c, &task, &outs)?;
    check_aliasing("scan", &[offsets.leaf()], offsets.len(), &outs, false)?;
    Ok(n)
}

fn by_flags<B, H, I, O, F>(scan: &Described<'_, B, I, O, F>, flags: &H, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
where
    B: Run<ScanTask>,
    H: Input<B, Exprs: Flag>,
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
                (flags.exprs(next).word(), x)
            })?)
        }
    };
    let task = scan.task_of_pairs::<I::Exprs>(c.len()?, load)?;
    enqueue::<B, F::Out>(scan.device, &c, &task, out)
}

/// Flags where runs of equal neighbours start among `n` keys.
fn starts<B: Backend, K: Scalar>(device: &B, keys: &impl Input<B, Exprs = Expr<K>>, n: u64) -> Result<Operand<B, u32>> {
    let mut c = collect(device, "scan", keys)?;
    c.length(n)?;
    let value = trace(keys, &c, identity)?;
    let found = Neighbours::of(c, value)?;
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
