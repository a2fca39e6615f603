//! Scans.

use super::operator::Prepared;
use super::{DynBuffer, DynInputs, Operator, cast, map_into, with_register};
use crate::backend::{Backend, Run};
use crate::element::{DType, Ty};
use crate::error::{Error, Result};
use crate::expression;
use crate::input::Source as _;
use crate::ir::graph::Value;
use crate::ir::{Expr, Func};
use crate::patterns::{MapTask, Scan as _, ScanTask, ScanVariant, ScanVariantTask};

/// Every prefix combined, of [`Operator::result`]'s type; exclusive: of the elements before.
///
/// # Errors
/// As [`Call::run`](crate::call::Call::run); [`Error::InvalidArgument`] for an exclusive scan by an operator without
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
    let Setup { load, ty, prepared, wide } = setup(device, x, op, exclusive, out)?;
    let inputs = DynInputs { params: &load.params, buffers: &[x] };
    with_register!(ty, T => {
        let loaded = inputs.map(|args| super::inlined::<T>(&load, &args));
        device.scan(loaded, &prepared).exclusive_if(exclusive).write_to(&wide.typed::<T>()?)?;
    });
    narrow(device, &wide, out)
}

/// As [`scan`] by a certain algorithm.
///
/// # Errors
/// As [`scan`].
pub fn scan_variant<B: Run<ScanTask> + Run<ScanVariantTask> + Run<MapTask>>(
    device: &B,
    variant: ScanVariant,
    x: &DynBuffer<B>,
    op: &Operator,
    exclusive: bool,
) -> Result<DynBuffer<B>> {
    let out = DynBuffer::new(device, op.result(x.dtype()), x.len())?;
    scan_variant_into(device, variant, x, op, exclusive, &out)?;
    Ok(out)
}

/// As [`scan_variant`], into the caller's buffer.
///
/// # Errors
/// As [`scan_into`].
pub fn scan_variant_into<B: Run<ScanTask> + Run<ScanVariantTask> + Run<MapTask>>(
    device: &B,
    variant: ScanVariant,
    x: &DynBuffer<B>,
    op: &Operator,
    exclusive: bool,
    out: &DynBuffer<B>,
) -> Result<()> {
    let Setup { load, ty, prepared, wide } = setup(device, x, op, exclusive, out)?;
    let inputs = DynInputs { params: &load.params, buffers: &[x] };
    with_register!(ty, T => {
        let loaded = inputs.map(|args| super::inlined::<T>(&load, &args));
        device.scan(loaded, &prepared).variant(variant).exclusive_if(exclusive).write_to(&wide.typed::<T>()?)?;
    });
    narrow(device, &wide, out)
}

/// What a scan runs with.
struct Setup<B: Backend> {
    load: Func,
    ty: Ty,
    prepared: Prepared,
    /// Where the prefixes go: the output, or elements of their own type.
    wide: DynBuffer<B>,
}

fn setup<B: Run<MapTask>>(device: &B, x: &DynBuffer<B>, op: &Operator, exclusive: bool, out: &DynBuffer<B>) -> Result<Setup<B>> {
    let dtype = op.result(x.dtype());
    if out.dtype() != dtype {
        return Err(Error::InvalidArgument { what: "the output", reason: format!("it holds {}, not {dtype}", out.dtype()) });
    }
    let load = op.load(x.dtype())?;
    let ty = super::single(&load)?;
    let prepared = op.prepare(ty, x.dtype())?;
    if exclusive {
        prepared.require_identity("exclusive scan")?;
    }
    let wide = if ty.dtype() == dtype { out.clone() } else { DynBuffer::new(device, ty.dtype(), x.len())? };
    Ok(Setup { load, ty, prepared, wide })
}

/// Prefixes of another type than the output's go there converted.
fn narrow<B: Run<MapTask>>(device: &B, wide: &DynBuffer<B>, out: &DynBuffer<B>) -> Result<()> {
    if wide.dtype() == out.dtype() {
        return Ok(());
    }
    map_into(device, &same(wide.dtype())?, &[wide], out)
}

fn same(dtype: DType) -> Result<crate::ir::Func> {
    Ok(expression::parse("x", &[dtype.ty()], None, None)?)
}

/// Every line along `axis` of a row-major array of this shape scanned on its own.
///
/// # Errors
/// As [`Call::run`](crate::call::Call::run), and as [`scan`].
pub fn scan_axis<B: Run<ScanTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
    shape: &[u64],
    axis: usize,
    op: &Operator,
    exclusive: bool,
) -> Result<DynBuffer<B>> {
    let load = op.load(x.dtype())?;
    let ty = super::single(&load)?;
    let prepared = op.prepare(ty, x.dtype())?;
    if exclusive {
        prepared.require_identity("exclusive scan")?;
    }
    let inputs = DynInputs { params: &load.params, buffers: &[x] };
    let scanned: DynBuffer<B> = with_register!(ty, T => {
        let loaded = inputs.map(|args| super::inlined::<T>(&load, &args));
        device.scan(loaded, &prepared).axis(shape, axis).exclusive_if(exclusive).run()?.into()
    });
    cast(device, &scanned, op.result(x.dtype()))
}

/// Every prefix of each run of equal neighbours among the keys combined, of [`Operator::result`]'s type; exclusive: of the elements before.
///
/// # Errors
/// As [`Call::run`](crate::call::Call::run), and as [`scan`].
pub fn scan_by_key<B: Run<ScanTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    x: &DynBuffer<B>,
    op: &Operator,
    exclusive: bool,
) -> Result<DynBuffer<B>> {
    if keys.len() != x.len() {
        return Err(Error::LengthMismatch { what: "values", expected: keys.len(), found: x.len() });
    }
    let (load, key) = (op.load(x.dtype())?, same(keys.dtype())?);
    let ty = super::single(&load)?;
    let prepared = op.prepare(ty, x.dtype())?;
    if exclusive {
        prepared.require_identity("exclusive scan")?;
    }
    let (of_keys, inputs) = (DynInputs { params: &key.params, buffers: &[keys] }, DynInputs { params: &load.params, buffers: &[x] });
    let scanned: DynBuffer<B> = with_register!(keys.dtype().ty(), K => with_register!(ty, T => {
        // Keys are compared by value, so in their register type.
        let keys = of_keys.map(|args: Vec<Value>| -> Expr<K> { super::inlined(&key, &args) });
        let loaded = inputs.map(|args| super::inlined::<T>(&load, &args));
        device.scan(loaded, &prepared).by_key(keys).exclusive_if(exclusive).run()?.into()
    }));
    cast(device, &scanned, op.result(x.dtype()))
}
