//! The elements that a reduction takes together, and the tasks that it enqueues.

use super::call::checked;
use super::{ReduceTask, Reducing};
use crate::backend::{Backend, Out, Run};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::call::{
    Accumulate, Along, ByVariant, Checked, Counted, CountedKeys, Described, Domain, Finish, Keys, Offsets, Variant, Whole, constant,
    run_variant,
};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Numbers, Outputs, Source, counting, scalar};
use crate::ir::{self, Accumulator, Func, Traced};
use crate::patterns::map::{collect, collect_lines, trace};
use crate::patterns::segments::{self, Operators, Segments, check_offsets};
use crate::patterns::select::Count;
use crate::patterns::{IndexScalar, Lines, Map as _, MapTask, ReduceByKeyTask, SegmentedReduceTask, SelectTask, Selected};
use core::convert::identity;
use std::sync::Arc;

impl<B, I, O, F> Described<'_, B, I, O, F> {
    /// The accumulator of an empty line, and whether the initial value is in it.
    fn of_nothing<A: Accumulator>(&self) -> Result<(Vec<u64>, bool)>
    where
        O: Accumulate<A>,
    {
        match &self.initial {
            Some(bits) => Ok((bits.clone(), true)),
            None => Ok((self.op.of_nothing_bits().ok_or(Error::Empty { pattern: self.op.name() })?, false)),
        }
    }

    /// The operators of a reduction of segments.
    pub(in crate::patterns) fn operators<A: Accumulator>(&self, load: Arc<Func>) -> Result<Operators>
    where
        O: Accumulate<A>,
        F: Finish<A>,
    {
        let nothing = self.op.identity_bits();
        if nothing.is_empty() {
            let reason = "segments may be empty; name the value of nothing by `identity`".to_owned();
            return Err(Error::InvalidArgument { what: "closure without an identity", reason });
        }
        Ok(Operators { load, combine: self.op.combine_func()?, finish: self.stored_func()?, nothing })
    }

    /// Inputs and operators of a reduction of segments.
    fn loaded(&self, pattern: &'static str) -> Result<(Collector<B>, Operators)>
    where
        B: Backend,
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let c = collect(self.device, pattern, &self.inputs)?;
        let load = trace(&self.inputs, &c, identity)?;
        let operators = self.operators::<I::Exprs>(load)?;
        Ok((c, operators))
    }
}

/// Checks a reduction of lines, and enqueues it by `enqueue`.
fn reduce_lines<B: Run<MapTask>, I, O, F>(
    call: &Described<'_, B, I, O, F>,
    c: &Collector<B>,
    (lines, load): (Lines, Arc<Func>),
    out: <F::Out as Outputs>::Refs<'_, B>,
    enqueue: impl FnOnce(&B, ReduceTask, &[Out<B::Raw>]) -> Result<()>,
) -> Result<()>
where
    I: Input<B, Exprs: Accumulator>,
    O: Accumulate<I::Exprs>,
    F: Finish<I::Exprs>,
{
    let device = call.device;
    let mut outs = Vec::new();
    F::Out::outs(device, out, lines.count(), &mut outs)?;
    if lines.count() == 0 {
        return Ok(());
    }
    if lines.n == 0 {
        let (bits, has_initial) = call.of_nothing::<I::Exprs>()?;
        let value = |_| if has_initial { call.finish.finish(constant(&bits)) } else { call.stored(constant(&bits)) };
        return device.map_into(counting(lines.count()), value, out);
    }
    let (combine, finish) = (call.op.combine_func()?, call.stored_func()?);
    let task = ReduceTask { load, combine, finish, lines, numerics: device.numerics() };
    let outs = checked(device, c, &task, &outs)?;
    enqueue(device, task, &outs)
}

impl<B: Run<MapTask>, P: Variant<B, ReduceTask>> Domain<Reducing, B> for ByVariant<P> {
    type New<R: Outputs> = R::Scalars<B>;
    type Refs<'a, R: Outputs> = R::Refs<'a, B>;

    fn run<I, O, F>(&self, call: &Described<'_, B, I, O, F>) -> Result<<F::Out as Outputs>::Scalars<B>>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let out = F::Out::allocate(call.device, 1)?;
        self.write(call, F::Out::refs(&out))?;
        F::Out::scalars(out)
    }

    fn write<I, O, F>(&self, call: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let c = collect(call.device, "reduce", &call.inputs)?;
        let load = trace(&call.inputs, &c, identity)?;
        let run = |device: &B, task: ReduceTask, outs: &[_]| run_variant(&self.0, device, &task, (&c.leaves, outs));
        reduce_lines(call, &c, (Lines::one(c.len()?), load), out, run)
    }
}

impl<B: Run<ReduceTask> + Run<MapTask>> Domain<Reducing, B> for Whole {
    type New<R: Outputs> = R::Scalars<B>;
    type Refs<'a, R: Outputs> = R::Refs<'a, B>;

    fn run<I, O, F>(&self, call: &Described<'_, B, I, O, F>) -> Result<<F::Out as Outputs>::Scalars<B>>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        if collect(call.device, "reduce", &call.inputs)?.len()? == 0 {
            call.of_nothing::<I::Exprs>()?;
        }
        let out = F::Out::allocate(call.device, 1)?;
        self.write(call, F::Out::refs(&out))?;
        F::Out::scalars(out)
    }

    fn write<I, O, F>(&self, call: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let c = collect(call.device, "reduce", &call.inputs)?;
        let load = trace(&call.inputs, &c, identity)?;
        let lines = Lines::one(c.len()?);
        reduce_lines(call, &c, (lines, load), out, |device, task, outs| device.run(&task, &c.leaves, outs))
    }
}

impl<B: Run<ReduceTask> + Run<MapTask>> Domain<Reducing, B> for Along {
    type New<R: Outputs> = R::Buffers<B>;
    type Refs<'a, R: Outputs> = R::Refs<'a, B>;

    fn run<I, O, F>(&self, call: &Described<'_, B, I, O, F>) -> Result<<F::Out as Outputs>::Buffers<B>>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let out = F::Out::allocate(call.device, Lines::along(&self.shape, self.axis)?.count())?;
        self.write(call, F::Out::refs(&out))?;
        Ok(out)
    }

    fn write<I, O, F>(&self, call: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let lines = Lines::along(&self.shape, self.axis)?;
        let mut c = collect_lines(call.device, "reduce", &call.inputs, &lines)?;
        let load = if I::Exprs::INDEXED {
            // An index is one in the line. Elements that 32 bits do not number are refused; 2^32 are one line.
            let place = (scalar(lines.inner.max(1) as u32), scalar(lines.n.max(1) as u32));
            let whole = lines.n > u32::MAX.into();
            place.collect(&mut c)?;
            let inputs = |next: &mut u16| {
                let candidate = call.inputs.exprs(next);
                let (inner, n) = Source::exprs(&place, next);
                candidate.reindexed(|i| if whole { i } else { i / inner % n })
            };
            Arc::new(ir::pack(c.params.clone(), || inputs(&mut 0))?)
        } else {
            trace(&call.inputs, &c, identity)?
        };
        reduce_lines(call, &c, (lines, load), out, |device, task, outs| device.run(&task, &c.leaves, outs))
    }
}

impl<B: Run<SegmentedReduceTask>, T: Count> Domain<Reducing, B> for Offsets<'_, B, T> {
    type New<R: Outputs> = R::Buffers<B>;
    type Refs<'a, R: Outputs> = R::Refs<'a, B>;

    fn run<I, O, F>(&self, call: &Described<'_, B, I, O, F>) -> Result<<F::Out as Outputs>::Buffers<B>>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let out = F::Out::allocate(call.device, Segments { bounds: self.0, count: None }.most()?)?;
        self.write(call, F::Out::refs(&out))?;
        Ok(out)
    }

    fn write<I, O, F>(&self, call: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let (c, operators) = call.loaded("segmented reduction")?;
        segments::enqueue::<B, F::Out, T>(call.device, c, operators, &Segments { bounds: self.0, count: None }, out)
    }
}

impl<B, T: Count> Domain<Reducing, B> for Checked<Offsets<'_, B, T>>
where
    B: Run<SegmentedReduceTask> + Run<ReduceTask> + Run<MapTask>,
{
    type New<R: Outputs> = R::Buffers<B>;
    type Refs<'a, R: Outputs> = R::Refs<'a, B>;

    fn run<I, O, F>(&self, call: &Described<'_, B, I, O, F>) -> Result<<F::Out as Outputs>::Buffers<B>>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let out = F::Out::allocate(call.device, Segments { bounds: self.0.0, count: None }.most()?)?;
        self.write(call, F::Out::refs(&out))?;
        Ok(out)
    }

    fn write<I, O, F>(&self, call: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let (c, operators) = call.loaded("segmented reduction")?;
        let segments = Segments { bounds: self.0.0, count: None };
        segments::check_all::<B, F::Out, T>(call.device, &c, &operators, &segments, out)?;
        check_offsets(call.device, "segments", self.0.0, c.len()?)?;
        segments::enqueue::<B, F::Out, T>(call.device, c, operators, &segments, out)
    }
}

impl<B: Run<SegmentedReduceTask> + Run<MapTask>, C: Count + IndexScalar> Domain<Reducing, B> for Counted<'_, B, C> {
    type New<R: Outputs> = R::Scalars<B>;
    type Refs<'a, R: Outputs> = R::Refs<'a, B>;

    fn run<I, O, F>(&self, call: &Described<'_, B, I, O, F>) -> Result<<F::Out as Outputs>::Scalars<B>>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let out = F::Out::allocate(call.device, 1)?;
        self.write(call, F::Out::refs(&out))?;
        F::Out::scalars(out)
    }

    fn write<I, O, F>(&self, call: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let (c, operators) = call.loaded("reduction")?;
        let bounds = segments::bounds(call.device, self.0)?;
        segments::enqueue::<B, F::Out, C>(call.device, c, operators, &Segments { bounds: &bounds, count: None }, out)
    }
}

impl<B, J: Numbers<B>> Domain<Reducing, B> for Keys<J>
where
    B: Run<ReduceByKeyTask> + Run<SelectTask> + Run<SegmentedReduceTask> + Run<ReduceTask> + Run<MapTask>,
{
    type New<R: Outputs> = Selected<B, (Buffer<B, J::Element>, R::Buffers<B>)>;
    type Refs<'a, R: Outputs> = ((&'a Buffer<B, J::Element>, R::Refs<'a, B>), &'a Buffer<B, u32>);

    fn run<I, O, F>(&self, call: &Described<'_, B, I, O, F>) -> Result<Self::New<F::Out>>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let n = collect(call.device, segments::BY_KEY, &call.inputs)?.len()?;
        let (keys, values, count) = (call.device.buffer(n)?, F::Out::allocate(call.device, n)?, call.device.buffer(1)?);
        self.write(call, ((&keys, F::Out::refs(&values)), &count))?;
        Ok(Selected { values: (keys, values), count: DeviceScalar::from_buffer(count)? })
    }

    fn write<I, O, F>(&self, call: &Described<'_, B, I, O, F>, ((keys, values), count): Self::Refs<'_, F::Out>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let (c, operators) = call.loaded(segments::BY_KEY)?;
        let n = c.len()?;
        let one_kernel = F::UNCHANGED && call.initial.is_none() && <I::Exprs as Traced>::types().len() == 1;
        match self.0.plain() {
            Some(of) if of.len() != n => Err(Error::LengthMismatch { what: "keys", expected: n, found: of.len() }),
            Some(of) if one_kernel => segments::by_array::<B, _, F::Out>(call.device, of, c, operators, (keys, values), count),
            _ => segments::by_input::<B, J, F::Out>(call.device, &self.0, c, operators, (keys, values), (count, None)),
        }
    }
}

impl<B, J: Numbers<B>> Domain<Reducing, B> for CountedKeys<'_, B, J>
where
    B: Run<ReduceByKeyTask> + Run<SelectTask> + Run<SegmentedReduceTask> + Run<ReduceTask> + Run<MapTask>,
{
    type New<R: Outputs> = Selected<B, (Buffer<B, J::Element>, R::Buffers<B>)>;
    type Refs<'a, R: Outputs> = ((&'a Buffer<B, J::Element>, R::Refs<'a, B>), &'a Buffer<B, u32>);

    fn run<I, O, F>(&self, call: &Described<'_, B, I, O, F>) -> Result<Self::New<F::Out>>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let n = collect(call.device, segments::BY_KEY, &call.inputs)?.len()?;
        let (keys, values, count) = (call.device.buffer(n)?, F::Out::allocate(call.device, n)?, call.device.buffer(1)?);
        self.write(call, ((&keys, F::Out::refs(&values)), &count))?;
        Ok(Selected { values: (keys, values), count: DeviceScalar::from_buffer(count)? })
    }

    fn write<I, O, F>(&self, call: &Described<'_, B, I, O, F>, ((keys, values), count): Self::Refs<'_, F::Out>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let (c, operators) = call.loaded(segments::BY_KEY)?;
        segments::by_input::<B, J, F::Out>(call.device, &self.keys.0, c, operators, (keys, values), (count, Some(self.length)))
    }
}
