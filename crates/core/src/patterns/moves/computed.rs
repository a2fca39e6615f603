//! Scatters of what is computed: the sources as an operator of a target and a value, and what becomes of them.

use super::enqueue::{MOST_SOURCES, first_repeated};
use super::floats::{add_exactly, check_operator, f32_of_key, f64_of_key, key_of_f32, key_of_f64, target_word};
use super::gather::gather;
use super::{IndexScalar, Move, ScatterFromTask, ScatterOp, raw_as};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::caps::Capability;
use crate::element::{DType, Element, Num, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Source, array, counting, index, require, scalar};
use crate::ir::graph;
use crate::ir::{self, ArrayExpr, Expr, Func, Traced, lit, select};
use crate::patterns::before::{Elsewhere, all_own};
use crate::patterns::map::{check_index, collect, store, trace};
use crate::patterns::operand::Operand;
use crate::patterns::{HistogramSum, HistogramTask, Map as _, MapTask, check_aliasing, check_ops, stored};
use std::sync::Arc;

/// Sources of a scatter: an operator whose first result is an index, of type `I`, and whose second one a value, of type `T`.
pub(super) struct Sources<B: Backend, I, T> {
    c: Collector<B>,
    func: Arc<Func>,
    pub(super) n: u64,
    pattern: &'static str,
    of: core::marker::PhantomData<(I, T)>,
}

impl<B: Move + Run<ScatterFromTask>, I: Scalar, T: Scalar> Sources<B, I, T> {
    /// The value is whatever register type the stored one has.
    pub(super) fn new<X: Input<B>, R: Traced>(
        device: &B,
        pattern: &'static str,
        inputs: &X,
        f: impl FnOnce(X::Exprs) -> (Expr<I>, R),
    ) -> Result<Self> {
        let c = collect(device, pattern, inputs)?;
        let func = trace(inputs, &c, f)?;
        Self::of(pattern, c, func)
    }

    /// Wraps leaves that were collected, and the operator that was traced over them.
    pub(super) fn of(pattern: &'static str, c: Collector<B>, func: Arc<Func>) -> Result<Self> {
        let n = c.len()?;
        if n > MOST_SOURCES {
            return Err(Error::TooLarge { what: "sources of a scatter", requested: n, limit: MOST_SOURCES });
        }
        Ok(Self { c, func, n, pattern, of: core::marker::PhantomData })
    }

    /// Everything but what the elements are combined by. There is nothing to do where this is false.
    pub(super) fn check<O: Element>(&self, device: &B, out: &Buffer<B, O>) -> Result<bool> {
        out.check_device(device, "the output")?;
        require(device, self.pattern, O::DTYPE)?;
        check_ops(device, self.pattern, device.numerics(), &[&self.func])?;
        check_index(&self.c, self.n)?;
        let limit = u32::MAX.into();
        if out.len() > limit {
            return Err(Error::TooLarge { what: "targets of a scatter", requested: out.len(), limit });
        }
        if self.n > 0 {
            check_aliasing(self.pattern, &self.c.leaves, self.n, &[(out.out(), out.len())], false)?;
        }
        Ok(self.n > 0 && !out.is_empty())
    }

    /// The leaves again.
    fn leaves(&self, device: &B) -> Result<Collector<B>> {
        let mut c = Collector::new(device, self.pattern);
        c.append(&self.c)?;
        Ok(c)
    }

    /// One of the results by itself.
    fn result(&self, k: usize) -> Arc<Func> {
        let f = &self.func;
        Arc::new(Func::new(f.params.clone(), f.nodes.clone(), f.types.clone(), vec![f.results[k]]))
    }

    /// The indices.
    pub(super) fn indices(&self, device: &B) -> Result<Operand<B, I>> {
        Ok(Operand::new(self.leaves(device)?, self.result(0)))
    }

    /// Other sources, of index and value of these.
    fn map<J: Scalar, U: Scalar>(&self, device: &B, g: impl FnOnce(Expr<I>, Expr<T>) -> (Expr<J>, Expr<U>)) -> Result<Sources<B, J, U>> {
        self.over(self.leaves(device)?, g)
    }

    /// Other sources, of index and value of these, and of more inputs.
    pub(super) fn with<X: Input<B>, J: Scalar, U: Scalar>(
        &self,
        device: &B,
        more: &X,
        g: impl FnOnce(Expr<I>, Expr<T>, X::Exprs) -> (Expr<J>, Expr<U>),
    ) -> Result<Sources<B, J, U>> {
        let mut c = self.leaves(device)?;
        more.collect(&mut c)?;
        self.over(c, |i, value| g(i, value, more.exprs(&mut { self.c.leaves.len() as u16 })))
    }

    /// Other sources, of leaves whose first ones are those of these.
    fn over<J: Scalar, U: Scalar>(
        &self,
        c: Collector<B>,
        g: impl FnOnce(Expr<I>, Expr<T>) -> (Expr<J>, Expr<U>),
    ) -> Result<Sources<B, J, U>> {
        let build = || {
            let args = all_own(&c.params, self.c.params.len() as u16, 0);
            let found = crate::ir::inline(&self.func, &args);
            let of = |k: usize| found.get(k).copied().unwrap_or_else(|| lit(0u32).value());
            g(Expr::from_value(of(0)), Expr::from_value(of(1)))
        };
        let func = Arc::new(ir::pack(c.params.clone(), build)?);
        Ok(Sources { c, func, n: self.n, pattern: self.pattern, of: core::marker::PhantomData })
    }
}

/// Sources whose indices are words, and whose values are bits.
type Bits<B, W> = Sources<B, u32, W>;

impl<B: Move + Run<ScatterFromTask>, I: IndexScalar, T: Scalar> Sources<B, I, T> {
    /// The last source of each target stays; a target without sources stays as it is, or gets a value.
    pub(super) fn store_last<O: Element<Reg = T>>(&self, device: &B, out: &Buffer<B, O>, others: Option<O>) -> Result<()> {
        let values = Elsewhere::of(device, self.pattern, self.leaves(device)?, self.result(1))?;
        let last = self.chosen(device, ScatterOp::Max, -1, out.len())?;
        if let Some(value) = others {
            device.fill(out, value)?;
        }
        match O::DTYPE.size_bytes() {
            4 => fetch_last::<B, u32>(device, &values, &last, &raw_as(out)?),
            8 => fetch_last::<B, u64>(device, &values, &last, &raw_as(out)?),
            size => {
                let bytes = Buffer::from_raw(device, out.raw().clone(), out.offset() * size, out.len() * size)?;
                fetch_last_bytes(device, &values, &last, O::DTYPE, &bytes)
            }
        }
    }

    /// Stored where no two have one target; a target without sources stays as it is, or gets a value. Kernels store words: of narrower elements the last source
    /// is looked for first.
    pub(super) fn store<O: Element<Reg = T>>(&self, device: &B, out: &Buffer<B, O>, others: Option<O>) -> Result<()> {
        let size = O::DTYPE.size_bytes();
        if let Some(value) = others.filter(|_| size >= 4) {
            device.fill(out, value)?;
        }
        match size {
            4 => self.bits::<u32>(device, out.len())?.scatter(device, ScatterOp::Store, out),
            8 => self.bits::<u64>(device, out.len())?.scatter(device, ScatterOp::Store, out),
            _ => self.store_last(device, out, others),
        }
    }

    /// For each target the least or the greatest position of its sources.
    fn chosen(&self, device: &B, op: ScatterOp, none: i32, targets: u64) -> Result<Buffer<B, i32>> {
        let chosen = device.buffer::<i32>(targets)?;
        device.fill(&chosen, none)?;
        let positions = self.with(device, &index(), |i, _, position| (target_word(i, targets), position))?;
        positions.scatter(device, op, &chosen)?;
        Ok(chosen)
    }

    /// Fails for the first index that was there before. All are below `targets`, and there are some.
    pub(super) fn check_unique(&self, device: &B, targets: u64) -> Result<()> {
        let (indices, first) = (self.indices(device)?, self.chosen(device, ScatterOp::Min, i32::MAX, targets)?);
        match first_repeated(device, (&indices, array(&first), index()))? {
            u32::MAX => Ok(()),
            found => {
                let (position, index) = (found.into(), value_at(device, self.pattern, &indices, found)?);
                Err(Error::DuplicateIndex { pattern: self.pattern, position, index })
            }
        }
    }

    /// As bits of four bytes, or of eight, for so many targets.
    fn bits<W: Scalar>(&self, device: &B, targets: u64) -> Result<Bits<B, W>> {
        self.map(device, |i, value| (target_word(i, targets), value.bitcast::<W>()))
    }
}

impl<B: Move + Run<ScatterFromTask>, I: IndexScalar, T: Element<Reg = T> + Scalar> Sources<B, I, T> {
    /// Combined with what is there.
    pub(super) fn combine(&self, device: &B, op: ScatterOp, out: &Buffer<B, T>) -> Result<()>
    where
        T: Num,
    {
        let targets = out.len();
        let (sums, least) = (matches!(op, ScatterOp::Sum | ScatterOp::Sub), op == ScatterOp::Min);
        let negate = op == ScatterOp::Sub;
        match (T::DTYPE, sums) {
            (DType::F32, true) => {
                let flip = if negate { 1 << 31 } else { 0 };
                let bits = self.bits::<u32>(device, targets)?.map(device, |i, bits| (i, bits ^ flip))?;
                add_exactly::<B, u32>(device, (&bits.c, bits.func, self.n), &raw_as(out)?)
            }
            (DType::F64, true) => {
                let flip = if negate { 1 << 63 } else { 0 };
                let bits = self.bits::<u64>(device, targets)?.map(device, |i, bits| (i, bits ^ flip))?;
                add_exactly::<B, u64>(device, (&bits.c, bits.func, self.n), &raw_as(out)?)
            }
            (DType::F32, false) => {
                by_keys(device, &self.bits::<u32>(device, targets)?, op, |x| key_of_f32(x, least), f32_of_key, &raw_as(out)?)
            }
            (DType::F64, false) => {
                by_keys(device, &self.bits::<u64>(device, targets)?, op, |x| key_of_f64(x, least), f64_of_key, &raw_as(out)?)
            }
            (DType::I32 | DType::U32, _) => self.bits::<u32>(device, targets)?.integers(device, op, out),
            _ => {
                let bits = self.bits::<u64>(device, targets)?;
                match bits.integers(device, op, out) {
                    Err(Error::Unsupported { capability: Capability::Atomics64, .. }) => {
                        let turned = if T::DTYPE == DType::I64 { 1 << 63 } else { 0 };
                        by_keys(device, &bits, op, |x| x ^ turned, |x| x ^ turned, &raw_as(out)?)
                    }
                    result => result,
                }
            }
        }
    }
}

impl<B: Move, I: Element<Reg = I> + Scalar, T: Element<Reg = T> + Scalar> Sources<B, I, T> {
    /// Indices and values, in new memory.
    pub(super) fn stored(self, device: &B) -> Result<(Buffer<B, I>, Buffer<B, T>)> {
        let (indices, values) = (device.buffer(self.n)?, device.buffer(self.n)?);
        let outs = vec![(indices.out(), self.n), (values.out(), self.n)];
        store(device, "map", (&self.c, self.n, &self.func), outs, true)?;
        Ok((indices, values))
    }
}

impl<B: Move + Run<ScatterFromTask>, W: Scalar> Bits<B, W> {
    /// Enqueues the task; all was checked.
    pub(super) fn scatter<T: Element>(&self, device: &B, op: ScatterOp, out: &Buffer<B, T>) -> Result<()> {
        let task = ScatterFromTask { func: Arc::clone(&self.func), n: self.n, targets: out.len(), op, numerics: device.numerics() };
        device.run(&task, &self.c.leaves, &[out.out()])
    }

    /// Stored, or combined as integers. They are added as a histogram does: there is no other order to show.
    pub(super) fn integers<T: Element>(&self, device: &B, op: ScatterOp, out: &Buffer<B, T>) -> Result<()>
    where
        W: Element<Reg = W>,
        Expr<W>: core::ops::Sub<Output = Expr<W>>,
    {
        match op {
            ScatterOp::Sum => self.add(device, &raw_as(out)?),
            ScatterOp::Sub => self.map(device, |i, x| (i, lit(W::from_bits64(0)) - x))?.add(device, &raw_as(out)?),
            _ => self.scatter(device, op, out),
        }
    }

    fn add(&self, device: &B, out: &Buffer<B, W>) -> Result<()>
    where
        W: Element<Reg = W>,
    {
        let sum = if W::TY.words() == 1 { HistogramSum::Word } else { HistogramSum::Wide };
        sum.check("targets of a sum", out.len())?;
        let (func, numerics) = (Arc::clone(&self.func), device.numerics());
        let task = HistogramTask { func, n: self.n, bins: out.len(), sum, clears: false, numerics };
        Run::<HistogramTask>::run(device, &task, &self.c.leaves, &[out.out()])
    }
}

/// The value of each target's last source; of one without sources what is there, every bit.
fn fetch_last<B: Run<MapTask>, W: Element<Reg = W> + Scalar>(
    device: &B,
    values: &Elsewhere<B>,
    last: &Buffer<B, i32>,
    out: &Buffer<B, W>,
) -> Result<()> {
    let mut c = Collector::new(device, "scatter");
    c.append(&values.c)?;
    let first = c.leaves.len() as u16;
    let rest = (last, out);
    rest.collect(&mut c)?;
    let build = || {
        let (last, old) = Source::exprs(&rest, &mut { first });
        let (types, found) = (values.types(), values.results(&c.params, last.bitcast::<u32>()));
        let value = match (found.first(), types.first()) {
            (Some(&value), Some(&ty)) => Expr::<W>::from_value(graph::with(|g| {
                let id = g.id(value, ty);
                if ty == W::TY { id } else { g.bitcast(id, W::TY) }
            })),
            _ => old,
        };
        select(last.ge(0), value, old)
    };
    let func = Arc::new(ir::pack(c.params.clone(), build)?);
    let n = out.len();
    store(device, "scatter", (&c, n, &func), vec![(out.out(), n)], true)
}

/// The same of elements that are narrower than a word: byte by byte, so that what is there stays as it is.
fn fetch_last_bytes<B: Run<MapTask>>(
    device: &B,
    values: &Elsewhere<B>,
    last: &Buffer<B, i32>,
    dtype: DType,
    out: &Buffer<B, u8>,
) -> Result<()> {
    let mut c = Collector::new(device, "scatter");
    c.append(&values.c)?;
    let first = c.leaves.len() as u16;
    let rest = (array(last), out, index());
    rest.collect(&mut c)?;
    let size = dtype.size_bytes() as u32;
    let build = || {
        let (last, old, i) = Source::exprs(&rest, &mut { first });
        let last = last.at(i / size);
        let (types, found) = (values.types(), values.results(&c.params, last.bitcast::<u32>()));
        let byte = match (found.first(), types.first()) {
            (Some(&value), Some(&ty)) => (stored::word(value, ty, dtype) >> ((i % size) * 8)) & 0xFFu32,
            _ => old,
        };
        select(last.ge(0), byte, old)
    };
    let func = Arc::new(ir::pack(c.params.clone(), build)?);
    let n = out.len();
    store(device, "scatter", (&c, n, &func), vec![(out.out(), n)], true)
}

/// Keys of sources and targets are combined as integers; a target whose key stays is left as it is.
fn by_keys<B: Move + Run<ScatterFromTask>, W: Element<Reg = W> + Scalar>(
    device: &B,
    sources: &Bits<B, W>,
    op: ScatterOp,
    key: impl Fn(Expr<W>) -> Expr<W>,
    bits: impl Fn(Expr<W>) -> Expr<W>,
    out: &Buffer<B, W>,
) -> Result<()> {
    let to: Buffer<B, W> = device.map(out, &key)?;
    let keys = sources.map(device, |i, x| (i, key(x)))?;
    match keys.scatter(device, op, &to) {
        Err(Error::Unsupported { capability: Capability::Atomics64, .. }) => in_halves(device, &keys, op, &to)?,
        result => result?,
    }
    device.map_into((&to, out), |(found, old)| select(found.eq(key(old)), old, bits(found)), out)
}

/// Minima and maxima of 64-bit integers where a device has no atomic ones: of the upper halves, and then of the lower halves of those that have
/// the upper one which was found.
fn in_halves<B: Move + Run<ScatterFromTask>, W: Element<Reg = W> + Scalar>(
    device: &B,
    keys: &Bits<B, W>,
    op: ScatterOp,
    to: &Buffer<B, W>,
) -> Result<()> {
    let high = |x: Expr<W>| (x.same_as::<u64>() >> 32).cast::<u32>();
    let low = |x: Expr<W>| x.same_as::<u64>().cast::<u32>();
    let (before, rest): (Buffer<B, u32>, Buffer<B, u32>) = device.map(to, |x| (high(x), low(x)))?;
    let found = device.copy(&before)?;
    keys.map(device, |i, x| (i, high(x)))?.scatter(device, op, &found)?;
    let neutral = if op == ScatterOp::Min { u32::MAX } else { 0 };
    device.map_into((&before, &found, &rest), |(before, found, rest)| select(before.eq(found), rest, neutral), &rest)?;
    let among = |i: Expr<u32>, x: Expr<W>, found: ArrayExpr<u32>| (select(found.at(i).eq(high(x)), i, u32::MAX), low(x));
    keys.with(device, &array(&found), among)?.scatter(device, op, &rest)?;
    let joined = |(high, low): (Expr<u32>, Expr<u32>)| ((high.cast::<u64>() << 32) | low.cast::<u64>()).same_as::<W>();
    device.map_into((&found, &rest), joined, to)
}

/// The index at a position.
pub(super) fn value_at<B: Move, I: IndexScalar>(device: &B, pattern: &'static str, indices: &Operand<B, I>, position: u32) -> Result<i128> {
    let of = Elsewhere::new(device, pattern, &indices, |i: Expr<I>| i)?;
    let place = Operand::traced(device, pattern, &(counting(1), scalar(position)), |(_, place)| place)?;
    let out = device.buffer::<I>(1)?;
    gather::<B, Expr<I>, u32>(device, of, &place, &out, &|| Ok(()))?;
    Ok(out.read_blocking()?.first().map_or(0, |i| i.number()))
}

/// Refuses the operators that a combining scatter of these elements does not take.
pub(super) fn check_combining(op: ScatterOp, dtype: DType) -> Result<()> {
    if op == ScatterOp::Store {
        return Err(Error::InvalidArgument { what: "operator", reason: "storing combines nothing; leave out `reduce`".to_owned() });
    }
    check_operator(op, dtype)
}
