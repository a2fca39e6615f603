//! Operators over blocks: one node after the other, each over a column of lanes in its own type, in loops that the compiler vectorises. The bits are
//! those of [`super::Evaluator`].

mod binary;
mod loops;
mod plan;
mod typed;

use super::node::{Func, Id, Node};
use crate::element::Ty;
pub use binary::Binary;
use loops::Body;
use plan::Plan;
use std::sync::Arc;
pub use typed::visible;
use typed::{CHUNK, Instructions, Operand};

/// Lanes of a block, at most: columns of some nodes fit a processor's first cache.
pub const BLOCK: usize = 1024;

/// Lanes of one value: bits of a type of 32 bits, or a truth value as 0 or 1; or bits of a type of 64.
#[derive(Clone, Copy, Debug)]
pub enum Lanes<'a> {
    /// Lanes of `f32`, `i32`, `u32`, `bool`.
    Narrow(&'a [u32]),
    /// Lanes of `f64`, `i64`, `u64`.
    Wide(&'a [u64]),
}

/// Lanes to be filled; see [`Lanes`].
#[derive(Debug)]
pub enum LanesMut<'a> {
    /// Lanes of `f32`, `i32`, `u32`, `bool`.
    Narrow(&'a mut [u32]),
    /// Lanes of `f64`, `i64`, `u64`.
    Wide(&'a mut [u64]),
}

impl<'a> Lanes<'a> {
    fn new(ty: Ty, column: &'a [u64], lanes: usize) -> Self {
        match ty.words() {
            1 => Self::Narrow(&bytemuck::cast_slice(column)[..lanes]),
            _ => Self::Wide(&column[..lanes]),
        }
    }

    fn bytes(self) -> &'a [u8] {
        match self {
            Self::Narrow(all) => bytemuck::cast_slice(all),
            Self::Wide(all) => bytemuck::cast_slice(all),
        }
    }

    /// The first of them.
    #[must_use]
    pub fn first(self, lanes: usize) -> Self {
        match self {
            Self::Narrow(all) => Self::Narrow(&all[..lanes]),
            Self::Wide(all) => Self::Wide(&all[..lanes]),
        }
    }

    /// Bits of one lane, zero-extended.
    #[must_use]
    pub fn get(self, lane: usize) -> u64 {
        match self {
            Self::Narrow(all) => all[lane].into(),
            Self::Wide(all) => all[lane],
        }
    }

    /// Number of lanes.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::Narrow(all) => all.len(),
            Self::Wide(all) => all.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl<'a> LanesMut<'a> {
    fn new(ty: Ty, column: &'a mut [u64], lanes: usize) -> Self {
        match ty.words() {
            1 => Self::Narrow(&mut bytemuck::cast_slice_mut(column)[..lanes]),
            _ => Self::Wide(&mut column[..lanes]),
        }
    }

    fn bytes(self) -> &'a mut [u8] {
        match self {
            Self::Narrow(all) => bytemuck::cast_slice_mut(all),
            Self::Wide(all) => bytemuck::cast_slice_mut(all),
        }
    }

    /// Fills lanes with some of others, of the same width.
    fn pick(self, from: Lanes<'_>, lanes: impl Iterator<Item = usize>) {
        match (self, from) {
            (Self::Narrow(to), Lanes::Narrow(from)) => to.iter_mut().zip(lanes).for_each(|(o, lane)| *o = from[lane]),
            (Self::Wide(to), Lanes::Wide(from)) => to.iter_mut().zip(lanes).for_each(|(o, lane)| *o = from[lane]),
            _ => {}
        }
    }

    /// Fills every lane with the same bits.
    pub fn fill(self, bits: u64) {
        match self {
            Self::Narrow(all) => all.fill(bits as u32),
            Self::Wide(all) => all.fill(bits),
        }
    }
}

/// Source of an operator's parameters.
pub trait Source {
    /// Fills the lanes of a value or index parameter.
    fn load(&self, param: u16, lanes: LanesMut<'_>);
    /// Lends so many lanes of a value parameter that lie in memory as lanes do; what is not lent is loaded.
    fn lend(&self, _param: u16, _lanes: usize) -> Option<Lanes<'_>> {
        None
    }
    /// Reads an array parameter at indices of a type; outside the array it gives zero.
    fn fetch(&self, param: u16, ty: Ty, indices: Lanes<'_>, lanes: LanesMut<'_>);
}

/// An operator made ready for blocks. Threads that evaluate it clone this, each for its own columns.
#[derive(Clone, Debug)]
pub struct Blocks {
    plan: Arc<Plan>,
    instructions: Instructions,
    columns: Vec<Box<[u64]>>,
    /// The loops that are in no other loop.
    loops: Vec<Body>,
    lanes: usize,
}

impl Blocks {
    /// Columns for `func`, evaluated with the best instructions of this processor.
    #[must_use]
    pub fn new(func: &Func) -> Self {
        Self::with(func, Instructions::best())
    }

    /// Columns for `func`, evaluated with the instructions that every processor of the architecture has.
    #[must_use]
    pub fn portable(func: &Func) -> Self {
        Self::with(func, Instructions::Portable)
    }

    fn with(func: &Func, instructions: Instructions) -> Self {
        let loops = Body::all(func, instructions);
        let plan = Plan::new(func, &loops);
        let columns = plan.columns();
        Self { plan: Arc::new(plan), instructions, columns, loops, lanes: 0 }
    }

    /// Evaluates up to [`BLOCK`] lanes; the results are then read with [`Blocks::result`].
    pub fn eval(&mut self, lanes: usize, source: &impl Source) {
        self.lanes = lanes.min(BLOCK);
        self.range(0, self.plan.nodes.len() as Id, source);
    }

    /// Lanes of result `k`.
    #[must_use]
    pub fn result(&self, k: usize) -> Lanes<'_> {
        let id = self.plan.results[k] as usize;
        Lanes::new(self.plan.types[id], &self.columns[self.plan.column[id] as usize], self.lanes)
    }

    fn range(&mut self, from: Id, to: Id, source: &dyn Source) {
        let mut i = from;
        while i < to {
            let node = self.plan.nodes[i as usize];
            if let Node::Branch { cond, then_end, else_end, .. } = node {
                let cond = &bytemuck::cast_slice::<_, u32>(&self.columns[self.plan.column[cond as usize] as usize])[..self.lanes];
                let taken = cond.iter().filter(|&&c| c != 0).count();
                if taken > 0 {
                    self.range(i + 1, then_end, source);
                }
                if taken < self.lanes {
                    self.range(then_end, else_end, source);
                }
                self.step(i, node, source);
                i = else_end;
                continue;
            }
            if let Node::Loop { end, .. } = node {
                let mut loops = std::mem::take(&mut self.loops);
                if let Some(body) = loops.iter_mut().find(|body| body.at == i) {
                    body.run(self, source);
                }
                self.loops = loops;
                i = end;
                continue;
            }
            self.step(i, node, source);
            i += 1;
        }
    }

    /// Lanes of a value that is no constant, in whole chunks: lent, or where they lie.
    fn value<'a>(&'a self, id: Id, source: &'a dyn Source) -> Lanes<'a> {
        let (plan, lanes) = (&self.plan, self.lanes.div_ceil(CHUNK) * CHUNK);
        let lent = match plan.nodes[id as usize] {
            Node::Param(k) if !plan.whole[id as usize] => source.lend(k, lanes),
            _ => None,
        };
        lent.unwrap_or_else(|| Lanes::new(plan.types[id as usize], &self.columns[plan.column[id as usize] as usize], lanes))
    }

    fn step(&mut self, i: Id, node: Node, source: &dyn Source) {
        // Its first value; the others are put there by the loop.
        let node = if let Node::Carried { init, .. } = node { Node::Reinterpret(init) } else { node };
        let plan = &self.plan;
        let (column, ty) = (plan.column[i as usize] as usize, plan.types[i as usize]);
        // Never the column of an operand: those are in use until the node is done.
        let mut out = std::mem::take(&mut self.columns[column]);
        let chunks = self.lanes.div_ceil(CHUNK);
        let lent = |id: Id| match plan.nodes[id as usize] {
            Node::Param(k) if !plan.whole[id as usize] => source.lend(k, chunks * CHUNK),
            _ => None,
        };
        let operand = |id: Id| &*self.columns[plan.column[id as usize] as usize];
        match node {
            Node::Const(_) | Node::Loop { .. } => {}
            Node::Param(k) => {
                if lent(i).is_none() {
                    source.load(k, LanesMut::new(ty, &mut out, self.lanes));
                }
            }
            Node::Fetch(k, at) => {
                let of = plan.types[at as usize];
                source.fetch(k, of, Lanes::new(of, operand(at), self.lanes), LanesMut::new(ty, &mut out, self.lanes));
            }
            _ => {
                let mut operands = [Operand { bytes: &[], ty }; 3];
                let mut k = 0;
                Func::operands(&node, |id| {
                    let bytes = lent(id).map_or_else(|| bytemuck::cast_slice(operand(id)), Lanes::bytes);
                    operands[k] = Operand { bytes, ty: plan.types[id as usize] };
                    k += 1;
                });
                self.instructions.step(node, ty, operands, bytemuck::cast_slice_mut(&mut out), chunks);
            }
        }
        self.columns[column] = out;
    }
}
