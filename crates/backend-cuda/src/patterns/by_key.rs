//! P05 by key: one launch that reads its input once, and where runs may be long those that reduce them; of few elements none besides.

use super::holes::{Holes, Shape, combine, copy, param_u64, scope};
use super::lines::Operators;
use super::scan::{EPOCHS, HEADER_WORDS};
use super::scratch::Use;
use super::{bind, blocks};
use crate::backend::Cuda;
use crate::launch::{Args, Grid, MAX_INPUTS, MAX_OUTPUTS};
use crate::memory::Buffer;
use crate::splice::{Fill, Site};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::ReduceByKeyTask;
use isowarp_kernels::Kernel;
use isowarp_kernels::by_key::*;
use std::mem::offset_of;
use std::sync::atomic::Ordering;

/// Threads of a block: those of a tile, and a warp that looks back.
const THREADS: u32 = 288;
/// Elements of a tile.
const TILE: u64 = 4096;
/// Numbers that a tile hands on.
const MARKS: u64 = 2;

/// By words of the accumulator.
const SERVED: [Kernel; 2] = [BY_KEY_SERVED_W1, BY_KEY_SERVED_W2];
/// Of few elements: it reduces long runs, too.
const JOINT: [Kernel; 2] = [BY_KEY_JOINT_W1, BY_KEY_JOINT_W2];

impl Run<ReduceByKeyTask> for Cuda {
    fn run(&self, task: &ReduceByKeyTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let places = task.places(leaves, outs)?;
        let values = &task.values;
        let (n, words) = (values.n, values.load.result_words());
        // One kernel binds what two have between them; and a single value has two words at most.
        if leaves.len() > MAX_INPUTS || outs.len() > MAX_OUTPUTS || words > SERVED.len() {
            return task.in_steps(self, leaves, outs);
        }
        let operators = Operators { load: &values.load, combine: &values.combine, finish: &values.finish, numerics: values.numerics };
        let mut bound = bind(self, ("reduction by key", n), &task.load.params, leaves, outs)?;
        bound.key = bound.key.func(&task.load).func(&values.combine).func(&values.finish).word(values.numerics as u64);
        let list = self.list_of_segments(n, words, &mut bound.args)?;
        let tiles = n.div_ceil(TILE);
        let joint = list.is_some() && self.reduces_its_list(n, &mut bound.args)?;
        // One tile asks for nothing.
        let servers = u64::from(!joint);
        bound.args.scratch[2] = self.stream().scratch().get(self, Use::Scan, 8 * (HEADER_WORDS + (1 + servers) * tiles * MARKS))?;
        bound.args.u[EPOCHS] = self.device().launch_numbers.load(Ordering::Relaxed);
        let entry = if joint { JOINT } else { SERVED }[words - 1];
        let kernel = match self.known_kernel(&(entry, bound.key.0)) {
            Some(kernel) => kernel,
            None => {
                let (leaves, outs) = bound.shapes.split_at(leaves.len());
                with_fills(task, leaves, outs, |fills| self.kernel((entry, bound.key.0), fills))?
            }
        };
        let resident = u64::from(self.info().multiprocessors * kernel.resident_blocks(THREADS, 0)?.max(1));
        let grid = Grid::linear(blocks((tiles + servers).min(resident))?, THREADS);
        // SAFETY: the task's contract (views are inside their buffers, outputs hold `n` elements and the count); scratch holds the header, a state or two
        // per tile, and the list.
        unsafe { if joint { self.launch_together(&kernel, grid, &bound.args)? } else { self.launch(&kernel, grid, &bound.args)? } };
        let Some(list) = list.filter(|_| !joint) else { return Ok(()) };
        let mut listed = operators.bind(self, ("reduction by key", n), places.values, places.results)?;
        (listed.args.scratch, listed.args.u) = (bound.args.scratch, bound.args.u);
        self.reduce_listed(&operators, &mut listed, &list)
    }
}

/// Calls `f` with what fills the holes.
pub(super) fn with_fills<R>(task: &ReduceByKeyTask, leaves: &[Shape], outs: &[Shape], f: impl FnOnce(&[Fill<'_>]) -> R) -> R {
    let values = &task.values;
    let numerics = values.numerics;
    let (of_values, results) = (values.load.params.len(), values.finish.results.len());
    let parts = values.parts();
    let holes = Holes { load: &task.load, leaves, outs: &outs[..results], numerics };
    let alone = Holes { load: &values.load, leaves: &leaves[..of_values], ..holes };
    let key = task.keys();
    let load4 = |s: &Site<'_>| holes.load(4, s);
    let load1 = |s: &Site<'_>| holes.load(1, s);
    let value1 = |s: &Site<'_>| alone.load(1, s);
    let merge = |s: &Site<'_>| combine(&values.combine, numerics, s);
    let finish = |s: &Site<'_>| alone.store(&values.finish, &parts, 1, s);
    let keys = |s: &Site<'_>| copy(key, (of_values, results), numerics, s);
    let count = |s: &Site<'_>| Ok(store_count(task, s, results + 1));
    f(&[
        Fill { name: "load4", body: &load4 },
        Fill { name: "load1", body: &load1 },
        Fill { name: "value1", body: &value1 },
        Fill { name: "combine", body: &merge },
        Fill { name: "finish", body: &finish },
        Fill { name: "keys", body: &keys },
        Fill { name: "count", body: &count },
    ])
}

/// The number of runs to its output.
fn store_count(task: &ReduceByKeyTask, site: &Site<'_>, out: usize) -> String {
    let mut p = scope(task.values.numerics, site);
    if let [v] = site.regs[..] {
        let base = param_u64(&mut p, site.param, offset_of!(Args, out) + 8 * out);
        p.line(format!("st.global.b32 [{}], {v}", base.reg));
    }
    p.finish()
}
