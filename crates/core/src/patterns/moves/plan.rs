//! Gathers and scatters by index: a launch each. Narrow words that several invocations write are the kernels' concern.

use super::{GatherTask, ScatterFromTask, ScatterOp, ScatterTask};
use crate::backend::{Leaf, Out};
use crate::caps::Capability;
use crate::element::DType;
use crate::error::{Error, Result};
use crate::launch::kernels::{GATHER, GatherParams, SCATTER, SCATTER_FROM, SCATTER_REDUCE, ScatterParams};
use crate::launch::{Array, Choice, KernelSpec, Launcher, Operators, Planned, Work};

/// Returns a kernel's number for an index of this type.
fn index_kind(dtype: DType) -> u32 {
    match dtype {
        DType::I32 => 1,
        DType::U64 => 2,
        _ => 0,
    }
}

fn operands() -> Error {
    Error::InvalidArgument { what: "move", reason: "it has values, indices and one output".to_owned() }
}

fn is_ordered(op: ScatterOp) -> bool {
    matches!(op, ScatterOp::Min | ScatterOp::Max)
}

impl GatherTask {
    /// Returns the parameters of the kernel's text, for elements of this type.
    #[must_use]
    pub fn choices(dtype: DType, index: DType) -> [Choice; 2] {
        [("size", dtype.size_bytes() as u32), ("index", index_kind(index))]
    }
}

impl<B: Launcher> Planned<B> for GatherTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let ([Leaf::Array { raw, dtype, offset, len }, Leaf::Elements { raw: to, dtype: index, offset: first, .. }], [out]) =
            (leaves, outs)
        else {
            return Err(operands());
        };
        device.tuning().check_numbered("elements of a gather's values", *len)?;
        let arrays = [
            Array::of((raw, *offset), dtype.size_bytes(), *len),
            Array::of((to, *first), index.size_bytes(), self.n),
            Array::out(out, self.n),
        ];
        let params = GatherParams { keep: self.keep.into(), values: *len };
        device.launch(&KernelSpec::new(&GATHER, &params, &Self::choices(*dtype, *index), &arrays), Work::elements(self.n, 1))
    }
}

/// Returns the parameters of a scatter's text.
fn scatter_choices(op: ScatterOp, dtype: DType, index: u32, positions: bool) -> [Choice; 5] {
    [
        ("size", dtype.size_bytes() as u32),
        ("index", index),
        ("op", op as u32),
        ("positions", positions.into()),
        ("is_signed", (is_ordered(op) && dtype == DType::I32).into()),
    ]
}

/// The parameters, where the device has what the operation takes.
fn scatter_params<B: Launcher>(device: &B, op: ScatterOp, out: DType, targets: u64, positions: bool) -> Result<ScatterParams> {
    /// Offset of the minima and maxima of signed integers, which follow the operations.
    const SIGNED: u32 = 6;
    device.tuning().check_numbered("targets of a scatter", targets)?;
    if is_ordered(op) && out.size_bytes() == 8 && !device.tuning().wide_extremes {
        let (capability, device) = (Capability::Atomics64, device.caps().device.clone());
        return Err(Error::Unsupported { pattern: "scatter_reduce", capability, device });
    }
    let is_signed = is_ordered(op) && matches!(out, DType::I32 | DType::I64);
    Ok(ScatterParams { targets, op: op as u32 + if is_signed { SIGNED } else { 0 }, positions: positions.into() })
}

impl ScatterTask {
    /// Returns the parameters of the kernel's text, for elements of this type.
    #[must_use]
    pub fn choices(&self, dtype: DType, index: DType) -> [Choice; 5] {
        scatter_choices(self.op, dtype, index_kind(index), self.positions)
    }
}

impl<B: Launcher> Planned<B> for ScatterTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let ([values, Leaf::Elements { raw: to, dtype: index, offset: first, .. }], [out]) = (leaves, outs) else {
            return Err(operands());
        };
        let size = out.dtype.size_bytes();
        let params = scatter_params(device, self.op, out.dtype, self.targets, self.positions)?;
        let values = match values {
            Leaf::Elements { raw, offset, .. } if !self.positions => Array::of((raw, *offset), size, self.n),
            _ => Array::NONE,
        };
        let indices = Array::of((to, *first), index.size_bytes(), self.n);
        let arrays = [values, indices, Array::out(out, self.targets)];
        let kernel = match self.op {
            ScatterOp::Store if !self.positions => &SCATTER,
            _ if size < 4 => return Err(operands()),
            _ => &SCATTER_REDUCE,
        };
        device.launch(&KernelSpec::new(kernel, &params, &self.choices(out.dtype, *index), &arrays), Work::elements(self.n, 1))
    }
}

impl ScatterFromTask {
    /// Returns the parameters of the kernel's text, for targets of this type.
    #[must_use]
    pub fn choices(&self, dtype: DType) -> [Choice; 5] {
        scatter_choices(self.op, dtype, 0, false)
    }
}

impl<B: Launcher> Planned<B> for ScatterFromTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let [out] = outs else {
            return Err(Error::InvalidArgument { what: "scatter", reason: "it has one output".to_owned() });
        };
        let params = scatter_params(device, self.op, out.dtype, self.targets, false)?;
        let arrays = [Array::out(out, self.targets)];
        let choices = self.choices(out.dtype);
        let spec = KernelSpec::new(&SCATTER_FROM, &params, &choices, &arrays);
        device.launch(&spec.with(Operators::Words(&self.func), self.numerics, leaves, &[]), Work::elements(self.n, 1024))
    }
}
