//! P04 select: one launch that reads its input once; of a partition of many elements one that counts, before it.

use super::holes::{Holes, Shape, combine, param_u64, scope};
use super::scan::{EPOCHS, GROUP, HEADER_WORDS};
use super::scratch::Use;
use super::tuning::TUNING;
use super::{bind, blocks};
use crate::backend::Cuda;
use crate::launch::{Args, Grid};
use crate::memory::Buffer;
use crate::splice::{Fill, Site};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::{DType, Ty};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{Ptx, PtxValue};
use isowarp_core::patterns::{SelectKind, SelectTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::{partition::*, select::*};
use std::mem::offset_of;
use std::sync::atomic::Ordering;

/// Threads of a block: those of a tile, and a warp that looks back.
const THREADS: u32 = 288;
/// Elements of a tile, by words of an element's values; fewer where their places are kept beside them.
const TILE: [u64; 4] = [8192, 4096, 2048, 2048];
const RUNS_TILE: [u64; 4] = [7168, 4096, 2048, 2048];
/// 32-bit words that an element's values may have.
const MOST_WORDS: usize = 4;

impl Run<SelectTask> for Cuda {
    fn run(&self, task: &SelectTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let words = task.store.result_words();
        if words == 0 || words > MOST_WORDS {
            let (requested, limit) = (words as u64, MOST_WORDS as u64);
            return Err(Error::TooLarge { what: "32-bit words of an element's values", requested, limit });
        }
        let mut bound = bind(self, ("select", task.n), &task.func.params, leaves, outs)?;
        bound.key = bound.key.func(&task.func).word(task.kind as u64).word(task.count as u64).word(task.numerics as u64);
        let tile = if task.kind == SelectKind::Runs { RUNS_TILE } else { TILE };
        let tiles = task.n.div_ceil(tile[words - 1]);
        // A ticket is 32 bits, and every block draws one more than there are tiles.
        let limit = u64::from(u32::MAX / 2);
        if tiles > limit {
            return Err(Error::TooLarge { what: "tiles of a selection", requested: tiles, limit });
        }
        let few = tiles <= GROUP;
        // Few tiles of a partition have a kernel of their own, where they can meet.
        let served = !few || task.kind.counts_first();
        let servers = u64::from(served);
        let states = (1 + servers) * tiles * task.combine.result_words() as u64;
        bound.args.scratch[0] = self.stream().scratch().get(self, Use::Scan, 8 * (HEADER_WORDS + states))?;
        bound.args.u[0] = task.kind as u32;
        bound.args.u[EPOCHS] = self.device().launch_numbers.load(Ordering::Relaxed);
        if task.kind.counts_first() {
            if let (true, Some(joint)) = (few && self.may_meet(), joint(task)) {
                let kernel = self.select_kernel(task, joint[words - 1], &bound)?;
                if tiles <= u64::from(self.info().multiprocessors * kernel.resident_blocks(THREADS, 0)?) {
                    // SAFETY: as below; there is a block to each tile, and all of them run at the same time.
                    return unsafe { self.launch_together(&kernel, Grid::linear(blocks(tiles)?, THREADS), &bound.args) };
                }
            }
            task.count_first(self, leaves, outs)?;
        }
        let kernel = self.select_kernel(task, entries(task, served)[words - 1], &bound)?;
        let light = task.combine.result_words() == 1 || (task.kind == SelectKind::Runs && words == 1);
        let resident = u64::from(self.info().multiprocessors * TUNING.select_blocks[if light { words - 1 } else { 3 }]);
        let grid = Grid::linear(blocks((tiles + servers).min(resident))?, THREADS);
        // SAFETY: the task's contract (views are inside their buffers, outputs hold `n` elements and the counts); scratch holds the header and a
        // state per tile.
        unsafe { self.launch(&kernel, grid, &bound.args) }
    }
}

/// The kernels by words of an element's values.
fn entries(task: &SelectTask, served: bool) -> [Kernel; 4] {
    match (task.kind, served) {
        (SelectKind::Runs, false) => [SELECT_RUNS_W1, SELECT_RUNS_W2, SELECT_RUNS_W4, SELECT_RUNS_W4],
        (SelectKind::Runs, true) => [SELECT_RUNS_SERVED_W1, SELECT_RUNS_SERVED_W2, SELECT_RUNS_SERVED_W4, SELECT_RUNS_SERVED_W4],
        (SelectKind::ThreeWays, _) => [SELECT_THREE_SERVED_W1, SELECT_THREE_SERVED_W2, SELECT_THREE_SERVED_W4, SELECT_THREE_SERVED_W4],
        // So many elements have many tiles.
        _ if task.wide() => [SELECT_WIDE_SERVED_W1, SELECT_WIDE_SERVED_W2, SELECT_WIDE_SERVED_W4, SELECT_WIDE_SERVED_W4],
        (SelectKind::TwoWays, _) => [SELECT_TWO_SERVED_W1, SELECT_TWO_SERVED_W2, SELECT_TWO_SERVED_W4, SELECT_TWO_SERVED_W4],
        (_, false) => [SELECT_W1, SELECT_W2, SELECT_W4, SELECT_W4],
        (_, true) => [SELECT_SERVED_W1, SELECT_SERVED_W2, SELECT_SERVED_W4, SELECT_SERVED_W4],
    }
}

/// The kernels of partitions of few elements, which count them, by words of an element's values.
pub(super) fn joint(task: &SelectTask) -> Option<[Kernel; 4]> {
    match task.kind {
        SelectKind::TwoWays if !task.wide() => Some([SELECT_TWO_JOINT_W1, SELECT_TWO_JOINT_W2, SELECT_TWO_JOINT_W4, SELECT_TWO_JOINT_W4]),
        SelectKind::ThreeWays => Some([SELECT_THREE_JOINT_W1, SELECT_THREE_JOINT_W2, SELECT_THREE_JOINT_W4, SELECT_THREE_JOINT_W4]),
        _ => None,
    }
}

impl Cuda {
    /// The kernel with its holes filled.
    fn select_kernel(&self, task: &SelectTask, entry: Kernel, bound: &super::Bound) -> Result<crate::module::Kernel> {
        if let Some(kernel) = self.known_kernel(&(entry, bound.key.0)) {
            return Ok(kernel);
        }
        let (leaves, outs) = bound.shapes.split_at(task.func.params.len());
        with_fills(task, leaves, outs, entry.holes(), |fills| self.kernel((entry, bound.key.0), fills))
    }
}

/// Calls `f` with what fills the holes of these names.
pub(super) fn with_fills<R>(task: &SelectTask, leaves: &[Shape], outs: &[Shape], wanted: &[&str], f: impl FnOnce(&[Fill<'_>]) -> R) -> R {
    let values = task.values();
    let holes = Holes { load: &task.func, leaves, outs: &outs[..values.len()], numerics: task.numerics };
    let (lengths, count) = (values.len(), outs.len() - 1);
    let load4 = |s: &Site<'_>| holes.load(4, s);
    let load1 = |s: &Site<'_>| holes.load(1, s);
    let merge = |s: &Site<'_>| combine(&task.combine, task.numerics, s);
    let store1 = |s: &Site<'_>| holes.store(&task.store, &values, 1, s);
    let store4 = |s: &Site<'_>| holes.store(&task.store, &values, 4, s);
    let length = |s: &Site<'_>| Ok(store_length(task, s, lengths));
    let length4 = |s: &Site<'_>| Ok(store_lengths(task, s, lengths, outs[lengths]));
    let store = |s: &Site<'_>| Ok(store_count(task, s, count));
    let both = |s: &Site<'_>| Ok(store_counts(task, s, count));
    let count0 = |s: &Site<'_>| Ok(count_of(task, s, count, 0));
    let count1 = |s: &Site<'_>| Ok(count_of(task, s, count, 1));
    let all = [
        Fill { name: "load4", body: &load4 },
        Fill { name: "load1", body: &load1 },
        Fill { name: "combine", body: &merge },
        Fill { name: "store1", body: &store1 },
        Fill { name: "store4", body: &store4 },
        Fill { name: "length", body: &length },
        Fill { name: "length4", body: &length4 },
        Fill { name: "count", body: &store },
        Fill { name: "counts", body: &both },
        Fill { name: "count0", body: &count0 },
        Fill { name: "count1", body: &count1 },
    ];
    let fills: Vec<Fill<'_>> = all.into_iter().filter(|f| wanted.contains(&f.name)).collect();
    f(&fills)
}

/// The address of an output's first element.
fn base(p: &mut Ptx, site: &Site<'_>, out: usize) -> PtxValue {
    param_u64(p, site.param, offset_of!(Args, out) + 8 * out)
}

/// Register 1 to element register 0 of the lengths.
fn store_length(task: &SelectTask, site: &Site<'_>, out: usize) -> String {
    let mut p = scope(task.numerics, site);
    if let [i, v] = site.regs[..] {
        let base = base(&mut p, site, out);
        let address = p.emit(Ty::U64, |o| format!("mad.lo.u64 {o}, {i}, 4, {}", base.reg));
        p.line(format!("st.global.b32 [{}], {v}", address.reg));
    }
    p.finish()
}

/// Registers 1 to 4 to element register 0 of the lengths and those behind it; its number is a multiple of four.
fn store_lengths(task: &SelectTask, site: &Site<'_>, out: usize, shape: Shape) -> String {
    let mut p = scope(task.numerics, site);
    if let [i, a, b, c, d] = site.regs[..] {
        let base = base(&mut p, site, out);
        let address = p.emit(Ty::U64, |o| format!("mad.lo.u64 {o}, {i}, 4, {}", base.reg));
        if let Shape::Vector(_) = shape {
            p.line(format!("st.global.v4.b32 [{}], {{{a}, {b}, {c}, {d}}}", address.reg));
        } else {
            for (k, v) in [a, b, c, d].iter().enumerate() {
                p.line(format!("st.global.b32 [{}+{}], {v}", address.reg, 4 * k));
            }
        }
    }
    p.finish()
}

/// The count, where this task finds it out.
fn store_count(task: &SelectTask, site: &Site<'_>, out: usize) -> String {
    let mut p = scope(task.numerics, site);
    if let ([v], false) = (&site.regs[..], task.kind.counts_first()) {
        let base = base(&mut p, site, out);
        if task.count == DType::U64 {
            p.line(format!("st.global.b64 [{}], {v}", base.reg));
        } else {
            let low = p.emit(Ty::U32, |o| format!("cvt.u32.u64 {o}, {v}"));
            p.line(format!("st.global.b32 [{}], {}", base.reg, low.reg));
        }
    }
    p.finish()
}

/// The counts, as many as the kind has.
fn store_counts(task: &SelectTask, site: &Site<'_>, out: usize) -> String {
    let mut p = scope(task.numerics, site);
    let base = base(&mut p, site, out);
    for (k, v) in site.regs.iter().take(task.kind.counts() as usize).enumerate() {
        if task.count == DType::U64 {
            let wide = p.emit(Ty::U64, |o| format!("cvt.u64.u32 {o}, {v}"));
            p.line(format!("st.global.b64 [{}+{}], {}", base.reg, 8 * k, wide.reg));
        } else {
            p.line(format!("st.global.b32 [{}+{}], {v}", base.reg, 4 * k));
        }
    }
    p.finish()
}

/// A count that is there already.
fn count_of(task: &SelectTask, site: &Site<'_>, out: usize, k: u64) -> String {
    let mut p = scope(task.numerics, site);
    if let [v] = site.regs[..] {
        let base = base(&mut p, site, out);
        if task.count == DType::U64 {
            p.line(format!("ld.global.b64 {v}, [{}+{}]", base.reg, 8 * k));
        } else {
            p.line(format!("ld.global.u32 {v}, [{}+{}]", base.reg, 4 * k));
        }
    }
    p.finish()
}
