//! Reductions.

use super::{DynBuffer, DynInputs, Operator, cast, widened, with_register};
use crate::backend::{Backend, Run};
use crate::element::{DType, Ty};
use crate::error::{Error, Result};
use crate::expression;
use crate::input::Source as _;
use crate::ir::{Func, OpError};
use crate::ops::{Combine, Max, Min};
use crate::patterns::reduce::check_count;
use crate::patterns::{End, MapTask, Reduce as _, ReduceTask, ReduceVariant, ReduceVariantTask, Statistics as _};

/// All elements combined into one, of [`Operator::result`]'s type.
///
/// # Errors
/// As [`Call::run`](crate::call::Call::run).
pub fn reduce<B: Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>, op: &Operator) -> Result<DynBuffer<B>> {
    counts_fit(op, x.len())?;
    let combined = reduce_from(device, &op.load(x.dtype())?, &[x], op)?;
    cast(device, &combined, op.result(x.dtype()))
}

/// As [`reduce`] by a certain rung.
///
/// # Errors
/// As [`Call::run`](crate::call::Call::run).
pub fn reduce_variant<B: Run<ReduceTask> + Run<ReduceVariantTask> + Run<MapTask>>(
    device: &B,
    variant: ReduceVariant,
    x: &DynBuffer<B>,
    op: &Operator,
) -> Result<DynBuffer<B>> {
    counts_fit(op, x.len())?;
    let load = op.load(x.dtype())?;
    let ty = super::single(&load)?;
    let ty = if ty == Ty::Bool { Ty::U32 } else { ty };
    let prepared = op.prepare(ty, x.dtype())?;
    let out = DynBuffer::new(device, ty.dtype(), 1)?;
    let inputs = DynInputs { params: &load.params, buffers: &[x] };
    with_register!(ty, T => {
        device.reduce(inputs.map(|args| super::inlined::<T>(&load, &args)), &prepared).variant(variant).write_to(&out.typed::<T>()?)?;
    });
    cast(device, &out, op.result(x.dtype()))
}

/// `load` of the inputs, element by element, combined; nothing lies in memory in between. The result has the type of `load`'s.
///
/// # Errors
/// As [`Call::run`](crate::call::Call::run).
pub fn reduce_from<B: Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    load: &Func,
    inputs: &[&DynBuffer<B>],
    op: &Operator,
) -> Result<DynBuffer<B>> {
    let ty = super::single(load)?;
    let ty = if ty == Ty::Bool { Ty::U32 } else { ty };
    let prepared = op.prepare(ty, ty.dtype())?;
    let inputs = DynInputs { params: &load.params, buffers: inputs };
    with_register!(ty, T => {
        let r = device.reduce(inputs.map(|args| super::inlined::<T>(load, &args)), &prepared).run()?;
        Ok(r.buffer().clone().into())
    })
}

/// Every line along `axis` of a row-major array of this shape combined; the result has the other axes.
///
/// # Errors
/// As [`Call::run`](crate::call::Call::run).
pub fn reduce_axis<B: Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
    shape: &[u64],
    axis: usize,
    op: &Operator,
) -> Result<DynBuffer<B>> {
    counts_fit(op, shape.get(axis).copied().unwrap_or(0))?;
    let load = op.load(x.dtype())?;
    let ty = super::single(&load)?;
    let ty = if ty == Ty::Bool { Ty::U32 } else { ty };
    let prepared = op.prepare(ty, x.dtype())?;
    let inputs = DynInputs { params: &load.params, buffers: &[x] };
    let combined: DynBuffer<B> = with_register!(ty, T => {
        device.reduce(inputs.map(|args| super::inlined::<T>(&load, &args)), &prepared).axis(shape, axis).run()?.into()
    });
    cast(device, &combined, op.result(x.dtype()))
}

/// Fails for more elements than a count holds.
fn counts_fit(op: &Operator, n: u64) -> Result<()> {
    if op.counts_in_words() { check_count(n) } else { Ok(()) }
}

/// The lowest index of the least element, a `u32`. -0 is below +0; the first NaN wins.
///
/// # Errors
/// [`Error::Empty`] for an empty input; as [`Statistics::argmin`](crate::patterns::Statistics::argmin).
pub fn argmin<B: Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>) -> Result<DynBuffer<B>> {
    not_empty("argmin", x)?;
    let x = widened(device, x)?;
    with_register!(x.dtype().ty(), T => Ok(device.argmin(&x.typed::<T>()?)?.buffer().clone().into()))
}

/// The lowest index of the greatest element, a `u32`. +0 is above -0; the first NaN wins.
///
/// # Errors
/// As [`argmin`].
pub fn argmax<B: Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>) -> Result<DynBuffer<B>> {
    not_empty("argmax", x)?;
    let x = widened(device, x)?;
    with_register!(x.dtype().ty(), T => Ok(device.argmax(&x.typed::<T>()?)?.buffer().clone().into()))
}

/// The typed pattern would name the one it is made of.
/// The index of the least element of each line along `axis` of a row-major array of this shape, in its line, as `u32`: of equal ones the first.
///
/// # Errors
/// [`Error::Empty`] for lines without elements; as [`Call::run`](crate::call::Call::run).
pub fn argmin_axis<B: Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>, shape: &[u64], axis: usize) -> Result<DynBuffer<B>> {
    extreme_axis(device, x, shape, axis, Min)
}

/// As [`argmin_axis`], of the greatest element.
///
/// # Errors
/// As [`argmin_axis`].
pub fn argmax_axis<B: Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>, shape: &[u64], axis: usize) -> Result<DynBuffer<B>> {
    extreme_axis(device, x, shape, axis, Max)
}

fn extreme_axis<B, E>(device: &B, x: &DynBuffer<B>, shape: &[u64], axis: usize, end: E) -> Result<DynBuffer<B>>
where
    B: Run<ReduceTask> + Run<MapTask>,
    E: End + Combine<f32> + Combine<f64> + Combine<i32> + Combine<u32> + Combine<i64> + Combine<u64>,
{
    let load = expression::parse("x", &[x.dtype().ty()], None, None)?;
    let inputs = DynInputs { params: &load.params, buffers: &[x] };
    with_register!(x.dtype().ty(), T => {
        Ok(device.reduce(inputs.map(|args| super::inlined::<T>(&load, &args)), end).axis(shape, axis).index().run()?.into())
    })
}

fn not_empty<B: Backend>(pattern: &'static str, x: &DynBuffer<B>) -> Result<()> {
    if x.is_empty() { Err(Error::Empty { pattern }) } else { Ok(()) }
}

/// Sum of the products of elements at the same index: every product is rounded, then summed in the tree's order.
///
/// # Errors
/// [`OpError::Signature`] unless the element types are the same; as [`Statistics::dot`](crate::patterns::Statistics::dot).
pub fn dot<B: Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>, y: &DynBuffer<B>) -> Result<DynBuffer<B>> {
    let (a, b) = (x.dtype(), y.dtype());
    if a != b {
        return Err(OpError::Signature { what: "inputs of `dot`", expected: format!("{a}, {a}"), found: format!("{a}, {b}") }.into());
    }
    let products = expression::parse("x * y", &[a.ty(), b.ty()], None, None)?;
    cast(device, &reduce_from(device, &products, &[x, y], &sum()?)?, a)
}

/// Which norm.
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

/// A norm of float elements.
///
/// # Errors
/// [`Error::InvalidArgument`] for integers; as [`Statistics::norm2`](crate::patterns::Statistics::norm2).
pub fn norm<B: Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>, which: Norm) -> Result<DynBuffer<B>> {
    macro_rules! of {
        ($t:ty, $x:expr) => {{
            let x = $x.typed::<$t>()?;
            match which {
                Norm::One => device.norm1(&x)?,
                Norm::Two => device.norm2(&x)?,
                Norm::Inf => device.norm_inf(&x)?,
            }
            .buffer()
            .clone()
            .into()
        }};
    }
    let wide = floats(device, x, "norm")?;
    let result: DynBuffer<B> = if wide.dtype() == DType::F64 { of!(f64, wide) } else { of!(f32, wide) };
    cast(device, &result, x.dtype())
}

/// Sum of float elements divided by their number.
///
/// # Errors
/// [`Error::InvalidArgument`] for integers; as [`Statistics::mean`](crate::patterns::Statistics::mean).
pub fn mean<B: Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>) -> Result<DynBuffer<B>> {
    let wide = floats(device, x, "mean")?;
    let result: DynBuffer<B> = if wide.dtype() == DType::F64 {
        device.mean(&wide.typed::<f64>()?)?.buffer().clone().into()
    } else {
        device.mean(&wide.typed::<f32>()?)?.buffer().clone().into()
    };
    cast(device, &result, x.dtype())
}

fn floats<B: Run<MapTask>>(device: &B, x: &DynBuffer<B>, what: &'static str) -> Result<DynBuffer<B>> {
    if !x.dtype().ty().is_float() {
        return Err(Error::InvalidArgument {
            what,
            reason: format!("it is defined for floats, not {}; convert the input first", x.dtype()),
        });
    }
    widened(device, x)
}

fn sum() -> Result<Operator> {
    Operator::named("sum").ok_or(Error::InvalidArgument { what: "operator", reason: "unknown name".to_owned() })
}
