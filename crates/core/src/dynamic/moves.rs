//! Moves: of raw bits, whatever the element type.

use super::{DynBuffer, Operator, cast, widened, with_dtype, with_register};
use crate::backend::Backend;
use crate::element::DType;
use crate::error::{Error, Result};
use crate::patterns::{Atomics, Layout, Map as _, Move, Overflow, ScatterOp, Segmented, Sort};

/// Runs `$body` with the elements of a buffer as indices.
macro_rules! with_index {
    ($x:expr, $indices:ident => $body:expr) => {
        match $x.dtype() {
            DType::U32 => with_index!(@ $x, $indices, u32 => $body),
            DType::I32 => with_index!(@ $x, $indices, i32 => $body),
            DType::U64 => with_index!(@ $x, $indices, u64 => $body),
            DType::I64 => with_index!(@ $x, $indices, i64 => $body),
            DType::U8 => with_index!(@ $x, $indices, u8 => $body),
            DType::I8 => with_index!(@ $x, $indices, i8 => $body),
            DType::U16 => with_index!(@ $x, $indices, u16 => $body),
            DType::I16 => with_index!(@ $x, $indices, i16 => $body),
            other => Err(Error::InvalidArgument { what: "indices", reason: format!("{other} elements are no indices") }),
        }
    };
    (@ $x:expr, $indices:ident, $t:ty => $body:expr) => {{
        let $indices = $x.typed::<$t>()?;
        $body
    }};
}

pub(super) use with_index;

/// The elements at these indices (integers of any size), which are checked.
///
/// # Errors
/// As a checked [`Move::gather`]; [`Error::InvalidArgument`] for indices that are no integers.
pub fn gather<B: Move>(device: &B, values: &DynBuffer<B>, indices: &DynBuffer<B>) -> Result<DynBuffer<B>> {
    with_index!(indices, at => with_dtype!(values.dtype, T => device.gather(&values.typed::<T>()?, &at).checked().run().map(DynBuffer::from)))
}

/// `target` with its elements at these indices replaced by `values`, or combined with them; indices are checked, and nothing is written to
/// `target` itself.
///
/// # Errors
/// As a checked [`Move::scatter`]; [`Error::InvalidArgument`] for indices that are no integers, values of another type than the target's, and
/// for combining elements of other than 32 and 64 bits, or floats by what there is for integers only.
pub fn scatter<B: Move>(
    device: &B,
    values: &DynBuffer<B>,
    indices: &DynBuffer<B>,
    op: ScatterOp,
    target: &DynBuffer<B>,
) -> Result<DynBuffer<B>> {
    of_one_type(values, target)?;
    with_index!(indices, at => {
        crate::patterns::moves::check_indices(device, "scatter", &at, target.len)?;
        macro_rules! combined {
            ($t:ty) => {{
                let out = device.copy(&target.typed::<$t>()?)?;
                device.scatter(&values.typed::<$t>()?, &at).reduce(op).write_to(&out)?;
                Ok(out.into())
            }};
        }
        match (op, target.dtype) {
            (ScatterOp::Store, dtype) => with_dtype!(dtype, T => {
                let out = device.copy(&target.typed::<T>()?)?;
                device.scatter(&values.typed::<T>()?, &at).write_to(&out)?;
                Ok(out.into())
            }),
            (_, DType::U32) => combined!(u32),
            (_, DType::I32) => combined!(i32),
            (_, DType::U64) => combined!(u64),
            (_, DType::I64) => combined!(i64),
            (_, DType::F32) => combined!(f32),
            (_, DType::F64) => combined!(f64),
            (_, dtype) => {
                let reason = format!("{} of {dtype} elements; there are those of 32 and 64 bits", op.name());
                Err(Error::InvalidArgument { what: "operator", reason })
            }
        }
    })
}

/// `target`, an array of `i32` or `i64`, and the sums of `f32` values as fixed-point numbers of so many digits; indices are checked, and nothing is
/// written to `target` itself.
///
/// # Errors
/// As [`Atomics::scatter_fixed_into`]; [`Error::InvalidArgument`] for indices that are no integers, values that are not `f32`, and targets of another
/// type; [`Error::IndexOutOfRange`].
pub fn scatter_fixed<B: Move + Atomics>(
    device: &B,
    values: &DynBuffer<B>,
    indices: &DynBuffer<B>,
    (digits, overflow): (i32, Overflow),
    target: &DynBuffer<B>,
) -> Result<DynBuffer<B>> {
    if values.dtype != DType::F32 {
        return Err(Error::InvalidArgument {
            what: "values",
            reason: format!("fixed-point sums are of f32, and these are {}", values.dtype),
        });
    }
    let values = &values.typed::<f32>()?;
    with_index!(indices, at => {
        crate::patterns::moves::check_indices(device, "scatter", &at, target.len)?;
        macro_rules! summed {
            ($t:ty) => {{
                let out = device.copy(&target.typed::<$t>()?)?;
                device.scatter_fixed_into(values, &at, digits, overflow, &out)?;
                Ok(out.into())
            }};
        }
        match target.dtype {
            DType::I32 => summed!(i32),
            DType::I64 => summed!(i64),
            dtype => Err(Error::InvalidArgument { what: "targets", reason: format!("fixed-point sums are i32 or i64, and these are {dtype}") }),
        }
    })
}

fn of_one_type<B: Backend>(values: &DynBuffer<B>, target: &DynBuffer<B>) -> Result<()> {
    if values.dtype == target.dtype {
        return Ok(());
    }
    let reason = format!("they are {}, the target is {}", values.dtype, target.dtype);
    Err(Error::InvalidArgument { what: "values", reason })
}

/// As [`scatter`] by an operator that is combined in the order of the sources, as [`ScatterCall::combine`](crate::patterns::ScatterCall::combine) says; it gives elements of the target's type.
///
/// # Errors
/// As [`scatter`]; [`Error::InvalidArgument`] for indices that are no integers, values of another type than the
/// target's, and operators that count.
pub fn scatter_combine<B: Move + Sort + Segmented>(
    device: &B,
    values: &DynBuffer<B>,
    indices: &DynBuffer<B>,
    op: &Operator,
    target: &DynBuffer<B>,
) -> Result<DynBuffer<B>> {
    of_one_type(values, target)?;
    let dtype = target.dtype;
    if op.result.is_some() {
        let reason = format!("{} says what is true of elements; write one of x and y", op.name());
        return Err(Error::InvalidArgument { what: "operator", reason });
    }
    let prepared = op.prepare(dtype.ty(), dtype)?;
    let (values, target) = (widened(device, values)?, widened(device, target)?);
    let combined: DynBuffer<B> = with_index!(indices, at => with_register!(dtype.ty(), T => {
        let out = device.copy(&target.typed::<T>()?)?;
        device.scatter(&values.typed::<T>()?, &at).combine(&prepared).checked().write_to(&out)?;
        Ok(out.into())
    }))?;
    cast(device, &combined, dtype)
}

/// The array with its axes in another order, as [`Layout::permute_axes`].
///
/// # Errors
/// As [`Layout::permute_axes`].
pub fn permute_axes<B: Layout>(device: &B, x: &DynBuffer<B>, shape: &[u64], order: &[usize]) -> Result<DynBuffer<B>> {
    with_dtype!(x.dtype, T => device.permute_axes(&x.typed::<T>()?, shape, order).run().map(DynBuffer::from))
}

/// The elements of a row-major array in Morton order, as [`Layout::to_morton`].
///
/// # Errors
/// As [`Layout::to_morton`].
pub fn to_morton<B: Layout>(device: &B, x: &DynBuffer<B>, shape: &[u64]) -> Result<DynBuffer<B>> {
    with_dtype!(x.dtype, T => device.to_morton(&x.typed::<T>()?, shape).run().map(DynBuffer::from))
}

/// The inverse of [`to_morton`].
///
/// # Errors
/// As [`to_morton`].
pub fn from_morton<B: Layout>(device: &B, x: &DynBuffer<B>, shape: &[u64]) -> Result<DynBuffer<B>> {
    with_dtype!(x.dtype, T => device.from_morton(&x.typed::<T>()?, shape).run().map(DynBuffer::from))
}

/// The elements from last to first.
///
/// # Errors
/// As [`Move::reverse`].
pub fn reverse<B: Move>(device: &B, x: &DynBuffer<B>) -> Result<DynBuffer<B>> {
    with_dtype!(x.dtype, T => device.reverse(&x.typed::<T>()?).run().map(DynBuffer::from))
}

/// The elements moved up by `by` places, as [`Move::rotate`].
///
/// # Errors
/// As [`Move::rotate`].
pub fn rotate<B: Move>(device: &B, x: &DynBuffer<B>, by: i64) -> Result<DynBuffer<B>> {
    with_dtype!(x.dtype, T => device.rotate(&x.typed::<T>()?, by).run().map(DynBuffer::from))
}
