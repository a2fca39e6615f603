//! Reductions and scans.

use super::call::{Job, Question, Results, Variants};
use super::operator::Prepared;
use super::{DynBuffer, DynInputs, Operator, Over, inlined, same, single, widened, with_dtype, with_offsets, with_register};
use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{DType, Scalar, Ty};
use crate::error::{Error, Result};
use crate::expression;
use crate::input::{Input, Source as _};
use crate::ir::{Expr, Func, OpError};
use crate::ops::Combine;
use crate::patterns::reduce::check_count;
use crate::patterns::{End, Find as _, Lines, Patterns, Reduce as _, Scan as _, Statistics as _, Window as _, window};

/// Norm of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Norm {
    /// Sum of the absolute values.
    One,
    /// Square root of the sum of the squares.
    #[default]
    Two,
    /// Greatest absolute value.
    Inf,
}

/// An operator on elements of one type.
struct Fold {
    load: Func,
    /// The type of what is combined.
    ty: Ty,
    op: Prepared,
    /// The results' type.
    dtype: DType,
}

impl Fold {
    fn new(op: &Operator, of: DType) -> Result<Self> {
        let load = op.load(of)?;
        let ty = single(&load)?.dtype().ty();
        Ok(Self { op: op.prepare(ty, of)?, ty, dtype: op.result(of), load })
    }

    /// One that needs an identity.
    fn with_identity(op: &Operator, of: DType, what: Option<&'static str>) -> Result<Self> {
        let fold = Self::new(op, of)?;
        what.map_or(Ok(()), |what| fold.op.require_identity(what))?;
        Ok(fold)
    }

    /// The elements that are combined.
    fn of<'a, B: Backend, T: Scalar>(&'a self, x: &'a [&'a DynBuffer<B>]) -> impl Input<B, Exprs = Expr<T>> + Clone + 'a {
        DynInputs { params: &self.load.params, buffers: x, start: 0 }.map(|args| inlined::<T>(&self.load, &args))
    }
}

/// Fails for more elements than a count holds.
fn counts_fit(op: &Operator, n: u64) -> Result<()> {
    if op.counts_in_words() { check_count(n) } else { Ok(()) }
}

/// Runs `$body` with a call over lines or segments of its elements.
macro_rules! over {
    ($of:expr, $call:expr, $over:ident => $body:expr) => {
        match $of {
            Parts::Whole => {
                let $over = $call;
                $body
            }
            Parts::Lines(shape, axis) => {
                let $over = $call.axis(shape, *axis);
                $body
            }
            Parts::Segments(offsets) => with_offsets!(offsets, offsets => {
                let $over = $call.segments(&offsets).checked();
                $body
            }),
        }
    };
}
pub(super) use over;

/// The elements that are taken together, of a call that has no runs by key.
pub(super) enum Parts<'a, B: Backend> {
    Whole,
    Lines(&'a [u64], usize),
    Segments(DynBuffer<B>),
}

impl<B: Patterns> Job<'_, B> {
    /// The lines or segments of the first input, how many there are, and how many elements a line has.
    pub(super) fn parts<'o>(&self, over: &'o Over) -> Result<(Parts<'o, B>, u64, u64)> {
        match over {
            Over::Whole => self.take::<1>().map(|[x]| (Parts::Whole, 1, x.len())),
            Over::Axis(shape, axis) => {
                self.take::<1>()?;
                let lines = Lines::along(shape, *axis)?;
                Ok((Parts::Lines(shape, *axis), lines.count(), lines.n))
            }
            Over::Segments => {
                let [_, offsets] = self.take()?;
                let offsets = match offsets.dtype() {
                    DType::U32 | DType::U64 => offsets.clone(),
                    // A negative one is then above every limit.
                    DType::I32 => super::cast(self.device, offsets, DType::U32)?,
                    DType::I64 => super::cast(self.device, offsets, DType::U64)?,
                    other => {
                        let reason = format!("they are integers of 32 or 64 bits, not {other}");
                        return Err(Error::InvalidArgument { what: "offsets", reason });
                    }
                };
                let (segments, longest) = (offsets.len().saturating_sub(1), self.first()?.len());
                Ok((Parts::Segments(offsets), segments, longest))
            }
            Over::Keys => Err(Error::InvalidArgument { what: "keys", reason: "the pattern has no runs by key".to_owned() }),
        }
    }

    pub(super) fn reduce(&self, op: &Operator, over: &Over) -> Result<Results<B>> {
        if *over == Over::Keys {
            return self.reduce_by_key(op);
        }
        let (parts, results, n) = self.parts(over)?;
        counts_fit(op, n)?;
        let needed = (*over == Over::Segments).then_some("segmented reduction");
        let f = Fold::with_identity(op, self.first()?.dtype(), needed)?;
        with_register!(f.ty, T => over!(&parts, self.device.reduce(f.of::<B, T>(&self.inputs[..1]), &f.op), reduced => {
            self.cast::<T>(f.dtype, results, |out| reduced.write_to(out))
        }))
    }

    fn reduce_by_key(&self, op: &Operator) -> Result<Results<B>> {
        let ([keys, values], device) = (self.take()?, self.device);
        let f = Fold::new(op, values.dtype())?;
        let (found, combined) = (DynBuffer::new(device, keys.dtype(), keys.len())?, DynBuffer::new(device, f.ty.dtype(), values.len())?);
        let count: Buffer<B, u32> = device.buffer(1)?;
        with_dtype!(keys.dtype(), K => with_register!(f.ty, T => {
            let out = (&found.typed::<K>()?, &combined.typed::<T>()?);
            device.reduce(f.of::<B, T>(&self.inputs[1..]), &f.op).by_key(&keys.typed::<K>()?).write_to((out, &count))?;
        }));
        let combined = super::cast(device, &combined, f.dtype)?;
        Ok(Results::counted(vec![found, combined], DeviceScalar::from_buffer(count)?))
    }

    pub(super) fn reduce_by(&self, op: &Operator, variant: &dyn Variants<B>) -> Result<Results<B>> {
        let [x] = self.take()?;
        counts_fit(op, x.len())?;
        let f = Fold::new(op, x.dtype())?;
        with_register!(f.ty, T => {
            self.cast::<T>(f.dtype, 1, |out| self.device.reduce(f.of::<B, T>(self.inputs), &f.op).variant(variant).write_to(out))
        })
    }

    pub(super) fn fold(&self, load: &Func, op: &Operator) -> Result<Results<B>> {
        let ty = single(load)?.dtype().ty();
        let f = Fold { op: op.prepare(ty, ty.dtype())?, ty, dtype: ty.dtype(), load: load.clone() };
        with_register!(ty, T => self.into::<T>(1, |out| self.device.reduce(f.of::<B, T>(self.inputs), &f.op).write_to(out)))
    }

    pub(super) fn scan(&self, op: &Operator, over: &Over, exclusive: bool) -> Result<Results<B>> {
        let needed = exclusive.then_some("exclusive scan");
        if *over == Over::Keys {
            let [keys, x] = self.take()?;
            super::order::same_length(keys, x)?;
            let f = Fold::with_identity(op, x.dtype(), needed)?;
            // Keys are compared by value, so in their register type.
            let key = same(keys.dtype())?;
            let of_keys = DynInputs { params: &key.params, buffers: &self.inputs[..1], start: self.start };
            return with_register!(keys.dtype().ty(), K => with_register!(f.ty, T => self.cast::<T>(f.dtype, x.len(), |out| {
                let keys = of_keys.map(|args| inlined::<K>(&key, &args));
                self.device.scan(f.of::<B, T>(&self.inputs[1..]), &f.op).by_key(keys).exclusive_if(exclusive).write_to(out)
            })));
        }
        let ((parts, ..), x) = (self.parts(over)?, self.first()?);
        let f = Fold::with_identity(op, x.dtype(), needed)?;
        with_register!(f.ty, T => over!(&parts, self.device.scan(f.of::<B, T>(&self.inputs[..1]), &f.op), prefixes => {
            self.cast::<T>(f.dtype, x.len(), |out| prefixes.exclusive_if(exclusive).write_to(out))
        }))
    }

    pub(super) fn scan_by(&self, op: &Operator, exclusive: bool, variant: &dyn Variants<B>) -> Result<Results<B>> {
        let [x] = self.take()?;
        let f = Fold::with_identity(op, x.dtype(), exclusive.then_some("exclusive scan"))?;
        with_register!(f.ty, T => self.cast::<T>(f.dtype, x.len(), |out| {
            self.device.scan(f.of::<B, T>(self.inputs), &f.op).variant(variant).exclusive_if(exclusive).write_to(out)
        }))
    }

    pub(super) fn window(&self, op: &Operator, over: &Over, len: u64, step: u64) -> Result<Results<B>> {
        let ((parts, lines, n), x) = (self.parts(over)?, self.first()?);
        let f = Fold::new(op, x.dtype())?;
        with_register!(f.ty, T => {
            let call = self.device.window(f.of::<B, T>(&self.inputs[..1]), len, &f.op).step(step);
            let call = match parts {
                Parts::Whole => call,
                Parts::Lines(shape, axis) => call.axis(shape, axis),
                Parts::Segments(_) => {
                    return Err(Error::InvalidArgument { what: "offsets", reason: "windows go over lines, not over segments".to_owned() });
                }
            };
            self.cast::<T>(f.dtype, lines * window::count(n, len, step), |out| call.write_to(out))
        })
    }

    pub(super) fn extreme<E>(&self, pattern: &'static str, over: &Over, end: E) -> Result<Results<B>>
    where
        E: End + Combine<f32> + Combine<f64> + Combine<i32> + Combine<u32> + Combine<i64> + Combine<u64>,
    {
        let ((parts, results, _), x) = (self.parts(over)?, self.first()?);
        let load = same(x.dtype())?;
        let loaded = DynInputs { params: &load.params, buffers: &self.inputs[..1], start: self.start };
        let found = with_register!(x.dtype().ty(), T => {
            over!(&parts, self.device.reduce(loaded.map(|args| inlined::<T>(&load, &args)), end), found => {
                self.into(results, |out| found.index().write_to(out))
            })
        });
        // The typed pattern names the one that it is made of.
        found.map_err(|e| if matches!(e, Error::Empty { .. }) { Error::Empty { pattern } } else { e })
    }

    pub(super) fn dot(&self) -> Result<Results<B>> {
        let [x, y] = self.take()?;
        let (a, b) = (x.dtype(), y.dtype());
        if a != b {
            return Err(OpError::Signature { what: "inputs of `dot`", expected: format!("{a}, {a}"), found: format!("{a}, {b}") }.into());
        }
        let load = expression::parse("x * y", &[a.ty(), b.ty()], None, None)?;
        let f = Fold { load, ..Fold::new(&Operator::sum(), a)? };
        with_register!(f.ty, T => self.cast::<T>(a, 1, |out| self.device.reduce(f.of::<B, T>(self.inputs), &f.op).write_to(out)))
    }

    pub(super) fn norm(&self, which: Norm) -> Result<Results<B>> {
        let [x] = self.take()?;
        let wide = self.floats(x, "norm")?;
        macro_rules! of {
            ($t:ty) => {{
                let x = wide.typed::<$t>()?;
                let norm = match which {
                    Norm::One => self.device.norm1(&x)?,
                    Norm::Two => self.device.norm2(&x)?,
                    Norm::Inf => self.device.norm_inf(&x)?,
                };
                DynBuffer::from(norm.buffer().clone())
            }};
        }
        let norm = if wide.dtype() == DType::F64 { of!(f64) } else { of!(f32) };
        super::cast(self.device, &norm, x.dtype()).map(Results::from)
    }

    pub(super) fn mean(&self) -> Result<Results<B>> {
        let [x] = self.take()?;
        let wide = self.floats(x, "mean")?;
        let mean: DynBuffer<B> = match wide.dtype() {
            DType::F64 => self.device.mean(&wide.typed::<f64>()?)?.buffer().clone().into(),
            _ => self.device.mean(&wide.typed::<f32>()?)?.buffer().clone().into(),
        };
        super::cast(self.device, &mean, x.dtype()).map(Results::from)
    }

    /// Floats in the type that computes.
    fn floats(&self, x: &DynBuffer<B>, what: &'static str) -> Result<DynBuffer<B>> {
        if x.dtype().ty().is_float() {
            return widened(self.device, x);
        }
        let reason = format!("it is defined for floats, not {}; convert the input first", x.dtype());
        Err(Error::InvalidArgument { what, reason })
    }

    pub(super) fn ask(&self, question: Question, condition: &Func) -> Result<Results<B>> {
        single(condition)?;
        let inputs = self.operands(condition);
        let holds = |args: Vec<_>| inlined::<bool>(condition, &args);
        let answer = match question {
            Question::Any => self.device.any(inputs, holds),
            Question::All => self.device.all(inputs, holds),
            Question::Count => self.device.count(inputs, holds),
            Question::First => self.device.find_if(inputs, holds).run(),
        };
        answer.map(Results::from)
    }
}
