//! P09 move, by index: one pass over the indices for every window of what they name.

use super::Launch;
use super::layout::program;
use super::operands::{Operands, Signature, Span};
use super::place::{Place, most};
use super::program::{Operators, Program};
use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Backend as _, Leaf, Out, Run};
use isowarp_core::caps::Capability;
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::{GatherTask, ScatterFromTask, ScatterOp, ScatterTask};
use isowarp_shaders::kernels::{GATHER, SCATTER, SCATTER_FROM};

/// The hole that says what an index is.
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

pub(super) fn gather_holes(size: u64, index: DType) -> [(&'static str, u32); 2] {
    [("size", size as u32), ("index", index_kind(index))]
}

/// What the text depends on beside what an index is, and whether values are read, positions, or computed with their targets.
fn holes(op: ScatterOp, dtype: DType, index: u32, (elements, positions, computed): (bool, bool, bool)) -> [(&'static str, u32); 9] {
    let size = dtype.size_bytes();
    let is_signed = is_ordered(op) && dtype == DType::I32;
    let plain = op == ScatterOp::Store && size >= 4;
    [
        ("size", size as u32),
        ("index", index),
        ("op", op as u32),
        ("positions", positions.into()),
        ("elements", elements.into()),
        ("computed", computed.into()),
        ("plain", plain.into()),
        ("atomic", (!plain && !is_signed).into()),
        ("is_signed", is_signed.into()),
    ]
}

pub(super) fn scatter_holes(task: &ScatterTask, dtype: DType, index: DType) -> [(&'static str, u32); 9] {
    holes(task.op, dtype, index_kind(index), (!task.positions, task.positions, false))
}

pub(super) fn computed_holes(task: &ScatterFromTask, dtype: DType) -> [(&'static str, u32); 9] {
    holes(task.op, dtype, 0, (false, false, true))
}

pub(super) fn computed_program<'a>(task: &'a ScatterFromTask, signature: &'a Signature, holes: &'a [(&'static str, u32)]) -> Program<'a> {
    let operators = Operators::Words(&task.func);
    Program { template: SCATTER_FROM, entry: "scatter", constants: holes, operators, signature, numerics: task.numerics, first: false }
}

/// Kernels number elements with 32 bits.
fn numbered(what: &'static str, n: u64) -> Result<()> {
    let limit = u32::MAX.into();
    if n > limit { Err(Error::TooLarge { what, requested: n, limit }) } else { Ok(()) }
}

impl Run<GatherTask> for Wgpu {
    fn run(&self, task: &GatherTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([Leaf::Array { raw, dtype, offset, len }, Leaf::Elements { raw: to, dtype: of_index, offset: first, .. }], [out]) =
            (leaves, outs)
        else {
            return Err(operands());
        };
        numbered("elements of a gather's values", *len)?;
        let limits = self.window_limits();
        let size = dtype.size_bytes();
        let values = Place { raw, offset: *offset, size };
        let indices = Place { raw: to, offset: *first, size: of_index.size_bytes() };
        let result = Place { raw: &out.raw, offset: out.offset, size };
        let holes = gather_holes(size, *of_index);
        let signature = Signature::default();
        let kernel = self.program("gather", &program(GATHER, "gather", &holes, &signature))?;
        let (step, room) = (most(limits, size.max(indices.size)), most(limits, size));
        for at in (0..task.n).step_by(step as usize) {
            let n = step.min(task.n - at);
            let (w_out, b_out) = result.bind(limits, at, n)?;
            let (w_to, b_to) = indices.bind(limits, at, n)?;
            let per = (4 / size).max(1);
            let groups = if size < 4 { (w_out.skip % per + n).div_ceil(per * 256) } else { n.div_ceil(1024) };
            let mut from = 0;
            loop {
                let seen = room.min(len - from);
                let (w, b) = values.bind(limits, from, seen)?;
                let zeros = u64::from(from == 0 && !task.keep);
                let words = [n, w_out.skip, w_to.skip, w.skip, *len, from, seen, zeros].map(|w| w as u32);
                let mut launch = Launch::new(at, &words);
                launch.bindings.extend([b_out, b_to, b]);
                self.launch(&kernel, &launch, groups)?;
                from += seen;
                if from >= *len {
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Run<ScatterTask> for Wgpu {
    fn run(&self, task: &ScatterTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([values, Leaf::Elements { raw: to, dtype: of_index, offset: first, .. }], [out]) = (leaves, outs) else {
            return Err(operands());
        };
        numbered("targets of a scatter", task.targets)?;
        let limits = self.window_limits();
        let size = out.dtype.size_bytes();
        self.no_wide_extremes(task.op, size)?;
        let values = match values {
            Leaf::Elements { raw, offset, .. } if !task.positions => Some(Place { raw, offset: *offset, size }),
            _ => None,
        };
        let indices = Place { raw: to, offset: *first, size: of_index.size_bytes() };
        let result = Place { raw: &out.raw, offset: out.offset, size };
        let holes = scatter_holes(task, out.dtype, *of_index);
        let signature = Signature::default();
        let kernel = self.program("scatter", &program(SCATTER, "scatter", &holes, &signature))?;
        let (step, room) = (most(limits, size.max(indices.size)), most(limits, size));
        for at in (0..task.n).step_by(step as usize) {
            let n = step.min(task.n - at);
            let (w_to, b_to) = indices.bind(limits, at, n)?;
            let from = values.map(|v| v.bind(limits, at, n)).transpose()?;
            for target in (0..task.targets).step_by(room as usize) {
                let seen = room.min(task.targets - target);
                let (w, b) = result.bind(limits, target, seen)?;
                let skip = from.as_ref().map_or(0, |(w, _)| w.skip);
                let words = [n, w.skip, w_to.skip, skip, task.targets, target, seen].map(|w| w as u32);
                let mut launch = Launch::new(at, &words);
                launch.bindings.extend([b, b_to]);
                if let Some((_, b)) = &from {
                    launch.bindings.push(*b);
                }
                self.launch(&kernel, &launch, n.div_ceil(256))?;
            }
        }
        Ok(())
    }
}

impl Run<ScatterFromTask> for Wgpu {
    fn run(&self, task: &ScatterFromTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let [out] = outs else { return Err(operands()) };
        numbered("targets of a scatter", task.targets)?;
        let (limits, size) = (self.window_limits(), out.dtype.size_bytes());
        self.no_wide_extremes(task.op, size)?;
        let operands = Operands::plan(limits, &task.func.params, leaves, &[], true, false, task.n)?;
        let holes = computed_holes(task, out.dtype);
        let kernel = self.program("scatter", &computed_program(task, &operands.signature, &holes))?;
        let result = Place { raw: &out.raw, offset: out.offset, size };
        let (step, room) = (operands.span(limits, task.n, 1024, false), most(limits, size));
        for at in (0..task.n).step_by(step as usize) {
            let span = Span::of(at, step.min(task.n - at));
            for target in (0..task.targets).step_by(room as usize) {
                let seen = room.min(task.targets - target);
                let (w, binding) = result.bind(limits, target, seen)?;
                let mut launch = Launch::new(at, &[span.len, w.skip, target, seen].map(|w| w as u32));
                operands.bind(limits, span, span, &mut launch.bindings, &mut launch.args)?;
                launch.bindings.push(binding);
                self.launch(&kernel, &launch, span.len.div_ceil(256))?;
            }
        }
        Ok(())
    }
}

impl Wgpu {
    /// WGSL has no atomic minimum or maximum of 64 bits.
    fn no_wide_extremes(&self, op: ScatterOp, size: u64) -> Result<()> {
        if size < 8 || !is_ordered(op) {
            return Ok(());
        }
        Err(Error::Unsupported { pattern: "scatter_reduce", capability: Capability::Atomics64, device: self.caps().device.clone() })
    }
}
