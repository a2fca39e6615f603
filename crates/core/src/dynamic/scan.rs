//! Scans.

use super::reduce::loaded;
use super::{DynBuffer, Operator, cast, map_into, with_register};
use crate::backend::Run;
use crate::element::DType;
use crate::error::{Error, Result};
use crate::expression;
use crate::patterns::{MapTask, Scan as _, ScanTask};

/// Every prefix combined, of [`Operator::result`]'s type; exclusive: of the elements before.
///
/// # Errors
/// As [`Scan::scan_inclusive`](crate::patterns::Scan::scan_inclusive); [`Error::InvalidArgument`] for an exclusive scan by an operator without
/// identity.
pub fn scan<B: Run<ScanTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>, op: &Operator, exclusive: bool) -> Result<DynBuffer<B>> {
    let out = DynBuffer::new(device, op.result(x.dtype()), x.len())?;
    scan_into(device, x, op, exclusive, &out)?;
    Ok(out)
}

/// As [`scan`], into the caller's buffer.
///
/// # Errors
/// As [`scan`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
pub fn scan_into<B: Run<ScanTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
    op: &Operator,
    exclusive: bool,
    out: &DynBuffer<B>,
) -> Result<()> {
    let dtype = op.result(x.dtype());
    if out.dtype() != dtype {
        return Err(Error::InvalidArgument { what: "the output", reason: format!("it holds {}, not {dtype}", out.dtype()) });
    }
    let load = op.load(x.dtype())?;
    let ty = super::single(&load)?;
    let prepared = op.prepare(ty)?;
    if exclusive {
        prepared.require_identity()?;
    }
    let narrow = ty.dtype() != dtype;
    let wide = if narrow { DynBuffer::new(device, ty.dtype(), x.len())? } else { out.clone() };
    let inputs = super::DynInputs { params: &load.params, buffers: &[x] };
    with_register!(ty, T => {
        device.scan_from_into(inputs, |args| super::inlined::<T>(&load, &args), &prepared, exclusive, &wide.typed::<T>()?)?;
    });
    if narrow { map_into(device, &same(wide.dtype())?, &[&wide], out) } else { Ok(()) }
}

fn same(dtype: DType) -> Result<crate::ir::Func> {
    Ok(expression::parse("x", &[dtype.ty()], None, None)?)
}

/// Every line along `axis` of a row-major array of this shape scanned on its own.
///
/// # Errors
/// As [`Scan::scan_axis`](crate::patterns::Scan::scan_axis), and as [`scan`].
pub fn scan_axis<B: Run<ScanTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
    shape: &[u64],
    axis: usize,
    op: &Operator,
    exclusive: bool,
) -> Result<DynBuffer<B>> {
    let loaded = loaded(device, x, op)?;
    let prepared = op.prepare(loaded.dtype().ty())?;
    if exclusive {
        prepared.require_identity()?;
    }
    let scanned: DynBuffer<B> = with_register!(loaded.dtype().ty(), T => {
        device.scan_axis(&loaded.typed::<T>()?, shape, axis, &prepared, exclusive)?.into()
    });
    cast(device, &scanned, op.result(x.dtype()))
}
