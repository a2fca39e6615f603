//! P25 groups: one launch each.

use super::holes::{Holes, Shape};
use super::{Bound, bind, blocks};
use crate::backend::Cuda;
use crate::launch::Grid;
use crate::memory::Buffer;
use crate::splice::{Fill, Site};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::caps::Numerics;
use isowarp_core::error::Result;
use isowarp_core::ir::Func;
use isowarp_core::patterns::{BallotTask, PeersTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::groups::*;

/// Threads of a block of `groups.cu`, and elements of a block's ballots.
const THREADS: u32 = 256;
const BALLOTS: u64 = 8192;
/// Lanes of a warp, and keys of a lane.
const WARP: u64 = 32;
const KEYS: u64 = 4;

impl Run<BallotTask> for Cuda {
    fn run(&self, task: &BallotTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let bound = bind(self, ("group_ballot", task.n), &task.func.params, leaves, outs)?;
        self.over_groups(GROUPS_BALLOT, &task.func, task.numerics, task.n.div_ceil(BALLOTS), bound)
    }
}

impl Run<PeersTask> for Cuda {
    fn run(&self, task: &PeersTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let mut bound = bind(self, ("group_match", task.n), &task.func.params, leaves, outs)?;
        bound.args.u[..2].copy_from_slice(&[task.width, task.peers as u32]);
        let width = u64::from(task.width);
        let block = u64::from(THREADS) / WARP * KEYS * (WARP / width * width);
        self.over_groups(peers_kernel(&task.func), &task.func, task.numerics, task.n.div_ceil(block), bound)
    }
}

/// The kernel of keys of so many words.
pub(super) fn peers_kernel(func: &Func) -> Kernel {
    if func.result_words() == 2 { GROUPS_PEERS_W2 } else { GROUPS_PEERS_W1 }
}

impl Cuda {
    fn over_groups(&self, entry: Kernel, func: &Func, numerics: Numerics, grid: u64, mut bound: Bound) -> Result<()> {
        bound.key = bound.key.func(func).word(numerics as u64);
        let key = (entry, bound.key.0);
        let kernel = match self.known_kernel(&key) {
            Some(kernel) => kernel,
            None => with_fills(entry, func, numerics, &bound.shapes[..func.params.len()], |fills| self.kernel(key, fills))?,
        };
        let grid = Grid::linear(blocks(grid)?, THREADS);
        // SAFETY: the tasks' contracts (views are inside their buffers; an output holds a word to 32 elements, or to each).
        unsafe { self.launch(&kernel, grid, &bound.args) }
    }
}

/// Calls `f` with what fills the holes of a kernel.
pub(super) fn with_fills<R>(entry: Kernel, load: &Func, numerics: Numerics, leaves: &[Shape], f: impl FnOnce(&[Fill<'_>]) -> R) -> R {
    let holes = Holes { load, leaves, outs: &[], numerics };
    let load4 = |s: &Site<'_>| holes.load(4, s);
    let load1 = |s: &Site<'_>| holes.load(1, s);
    let all = [Fill { name: "load1", body: &load1 }, Fill { name: "load4", body: &load4 }];
    let there = if entry.holes().contains(&"load4") { 2 } else { 1 };
    f(&all[..there])
}
