//! P09 move, of what is computed to where that says: one launch.

use super::holes::{Holes, Shape};
use super::{bind, blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::Grid;
use crate::memory::Buffer;
use crate::splice::{Fill, Site};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::{ScatterFromTask, ScatterOp};
use isowarp_kernels::Kernel;
use isowarp_kernels::scatter::*;

/// Threads of a block of `scatter.cu`, and its elements.
const THREADS: u32 = 256;
const BLOCK: u64 = 4 * THREADS as u64;
/// Numbers of `scatter.cu`: signed comparisons follow the operations.
const SIGNED: u32 = 6;

/// The kernel of values of so many words.
pub(super) fn kernel(task: &ScatterFromTask) -> Kernel {
    if task.func.result_words() == 2 { SCATTER_B4 } else { SCATTER_B8 }
}

impl Run<ScatterFromTask> for Cuda {
    fn run(&self, task: &ScatterFromTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let [out] = outs else {
            return Err(Error::InvalidArgument { what: "scatter", reason: "it has one output".to_owned() });
        };
        let mut bound = bind(self, ("scatter", task.n), &task.func.params, leaves, outs)?;
        bound.key = bound.key.func(&task.func).word(task.numerics as u64);
        let key = (kernel(task), bound.key.0);
        let compiled = match self.known_kernel(&key) {
            Some(kernel) => kernel,
            None => with_fills(task, &bound.shapes[..task.func.params.len()], |fills| self.kernel(key, fills))?,
        };
        let ordered = matches!(task.op, ScatterOp::Min | ScatterOp::Max);
        let signed = matches!(out.dtype, DType::I32 | DType::I64);
        put_wide(&mut bound.args.u, 0, task.targets);
        bound.args.u[2] = task.op as u32 + if ordered && signed { SIGNED } else { 0 };
        let grid = Grid::linear(blocks(task.n.div_ceil(BLOCK))?, THREADS);
        // SAFETY: the task's contract (views are inside their buffers, the output holds the targets); every target is compared with their number.
        unsafe { self.launch(&compiled, grid, &bound.args) }
    }
}

/// Calls `f` with what fills the holes.
pub(super) fn with_fills<R>(task: &ScatterFromTask, leaves: &[Shape], f: impl FnOnce(&[Fill<'_>]) -> R) -> R {
    let holes = Holes { load: &task.func, leaves, outs: &[], numerics: task.numerics };
    let load4 = |s: &Site<'_>| holes.load(4, s);
    let load1 = |s: &Site<'_>| holes.load(1, s);
    f(&[Fill { name: "load4", body: &load4 }, Fill { name: "load1", body: &load1 }])
}
