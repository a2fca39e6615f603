//! P09 move, by index.

use super::{bind, blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::{Args, Grid};
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::{DType, Ty};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Param;
use isowarp_core::patterns::{GatherTask, ScatterOp, ScatterTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::moves::*;

/// Threads of a block of `moves.cu`, and elements of one: of gathers and scatters that combine, and of scatters that store.
const THREADS: u32 = 256;
const SEVERAL: u64 = 4;
const ONE: u64 = 1;

/// Kernels by the element's bytes (1, 2, 4, 8) and the index's type (u32, i32, u64).
const GATHER: [[Kernel; 3]; 4] = [
    [GATHER_B1_U32, GATHER_B1_I32, GATHER_B1_U64],
    [GATHER_B2_U32, GATHER_B2_I32, GATHER_B2_U64],
    [GATHER_B4_U32, GATHER_B4_I32, GATHER_B4_U64],
    [GATHER_B8_U32, GATHER_B8_I32, GATHER_B8_U64],
];
const SCATTER: [[Kernel; 3]; 4] = [
    [SCATTER_B1_U32, SCATTER_B1_I32, SCATTER_B1_U64],
    [SCATTER_B2_U32, SCATTER_B2_I32, SCATTER_B2_U64],
    [SCATTER_B4_U32, SCATTER_B4_I32, SCATTER_B4_U64],
    [SCATTER_B8_U32, SCATTER_B8_I32, SCATTER_B8_U64],
];
/// Of words of 4 and 8 bytes.
const SCATTER_REDUCE: [[Kernel; 3]; 2] = [
    [SCATTER_REDUCE_B4_U32, SCATTER_REDUCE_B4_I32, SCATTER_REDUCE_B4_U64],
    [SCATTER_REDUCE_B8_U32, SCATTER_REDUCE_B8_I32, SCATTER_REDUCE_B8_U64],
];

/// Numbers of `moves.cu`: signed comparisons follow the operations.
const SIGNED: u32 = 6;

fn index_kind(leaf: &Leaf<Buffer>) -> usize {
    match leaf {
        Leaf::Elements { dtype: DType::I32, .. } => 1,
        Leaf::Elements { dtype: DType::U64, .. } => 2,
        _ => 0,
    }
}

fn operands() -> Error {
    Error::InvalidArgument { what: "move", reason: "it has values, indices and one output".to_owned() }
}

impl Cuda {
    fn over_indices(&self, kernel: Kernel, n: u64, of_thread: u64, mut args: Args) -> Result<()> {
        args.n = n;
        let kernel = self.kernel((kernel, 0), &[])?;
        let grid = Grid::linear(blocks(n.div_ceil(of_thread * u64::from(THREADS)))?, THREADS);
        // SAFETY: the task's contract: there are `n` indices (and values or results); every index is compared with what it names.
        unsafe { self.launch(&kernel, grid, &args) }
    }
}

impl Run<GatherTask> for Cuda {
    fn run(&self, task: &GatherTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([Leaf::Array { dtype, .. }, to], [_]) = (leaves, outs) else { return Err(operands()) };
        let mut args = bind(self, ("gather", 0), &[Param::Array(*dtype), Param::Value(Ty::U32)], leaves, outs)?.args;
        args.u[0] = task.keep.into();
        self.over_indices(GATHER[dtype.size_bytes().ilog2() as usize][index_kind(to)], task.n, SEVERAL, args)
    }
}

impl Run<ScatterTask> for Cuda {
    fn run(&self, task: &ScatterTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let ([_, to], [out]) = (leaves, outs) else { return Err(operands()) };
        let mut args = bind(self, ("scatter", 0), &[Param::Value(Ty::U32); 2], leaves, outs)?.args;
        put_wide(&mut args.u, 0, task.targets);
        let size = out.dtype.size_bytes().ilog2() as usize;
        if task.op == ScatterOp::Store && !task.positions {
            return self.over_indices(SCATTER[size][index_kind(to)], task.n, ONE, args);
        }
        let Some(kernels) = size.checked_sub(2).and_then(|k| SCATTER_REDUCE.get(k)) else { return Err(operands()) };
        let ordered = matches!(task.op, ScatterOp::Min | ScatterOp::Max);
        let signed = matches!(out.dtype, DType::I32 | DType::I64);
        args.u[2] = task.op as u32 + if ordered && signed { SIGNED } else { 0 };
        args.u[3] = task.positions.into();
        self.over_indices(kernels[index_kind(to)], task.n, SEVERAL, args)
    }
}
