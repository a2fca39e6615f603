//! Plan of a block: a column for every node of the operator while its value is in use.

use super::super::node::{Func, Id, Node};
use super::BLOCK;
use super::loops::Body;
use super::typed::CHUNK;
use crate::element::Ty;
use std::cmp::Reverse;

/// Column of a node that has none.
const NONE: u32 = u32::MAX;

/// Nodes, and which column each has.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) nodes: Vec<Node>,
    pub(super) types: Vec<Ty>,
    pub(super) results: Vec<Id>,
    pub(super) column: Vec<u32>,
    /// Nodes that need a column of their own with every lane in it: results, indices, conditions of branches, constants as arguments.
    pub(super) whole: Vec<bool>,
    /// Columns that hold lanes; those of constants follow.
    shared: u32,
}

impl Plan {
    pub(super) fn new(func: &Func, loops: &[Body]) -> Self {
        let mut plan = Self { nodes: func.nodes.clone(), types: func.types.clone(), results: func.results.clone(), ..Self::default() };
        plan.share(loops);
        plan
    }

    /// Gives every node a column that no node in use at the same time has. The nodes of loops have theirs elsewhere.
    fn share(&mut self, loops: &[Body]) {
        let n = self.nodes.len();
        // A branch is done when its blocks are: between two nodes.
        let when = |i: usize| match self.nodes[i] {
            Node::Branch { else_end, .. } => 2 * else_end,
            _ => 2 * i as Id + 1,
        };
        let inside = |i: usize| loops.iter().any(|body| (body.at + 1..body.end).contains(&(i as Id)));
        let constant = |i: usize| matches!(self.nodes[i], Node::Const(_)) && !inside(i);
        let mut last: Vec<Id> = (0..n).map(when).collect();
        let mut whole = vec![false; n];
        for (i, node) in self.nodes.iter().enumerate().filter(|&(i, _)| !inside(i)) {
            let now = when(i);
            let mut read = |a: Id| last[a as usize] = last[a as usize].max(now);
            match *node {
                Node::Carried { init, .. } => read(init),
                Node::Loop { .. } => loops.iter().filter(|body| body.at == i as Id).flat_map(|body| &body.from).for_each(|&a| read(a)),
                _ => Func::operands(node, read),
            }
            // Operands that are read lane by lane need whole columns, even constants.
            match *node {
                Node::Fetch(_, a) | Node::Branch { cond: a, .. } => whole[a as usize] = true,
                Node::Call1(..) | Node::Call2(..) => Func::operands(node, |a| whole[a as usize] |= constant(a as usize)),
                _ => {}
            }
        }
        self.results.iter().for_each(|&r| whole[r as usize] = true);
        self.results.iter().for_each(|&r| last[r as usize] = Id::MAX);
        (0..n).filter(|&i| constant(i) && whole[i]).for_each(|i| last[i] = Id::MAX);
        // Constants that are results, or read lane by lane, have whole columns from the beginning on.
        let constants = (0..n).filter(|&i| constant(i) && last[i] == Id::MAX);
        let mut computed: Vec<usize> = (0..n).filter(|&i| !constant(i) && !inside(i)).collect();
        // Of branches that end at the same place the inner one is the later node.
        computed.sort_by_key(|&i| (when(i), Reverse(i)));
        let mut column = vec![NONE; n];
        let (mut used, mut free): (Vec<usize>, Vec<u32>) = (Vec::new(), Vec::new());
        for i in constants.chain(computed) {
            let now = when(i);
            used.retain(|&u| {
                if last[u] < now {
                    free.push(column[u]);
                }
                last[u] >= now
            });
            column[i] = free.pop().unwrap_or_else(|| {
                self.shared += 1;
                self.shared - 1
            });
            used.push(i);
        }
        for (next, i) in (self.shared..).zip((0..n).filter(|&i| constant(i) && last[i] != Id::MAX)) {
            column[i] = next;
        }
        (self.column, self.whole) = (column, whole);
    }

    /// Columns with the constants in them.
    pub(super) fn columns(&self) -> Vec<Box<[u64]>> {
        let mut columns = vec![vec![0; BLOCK].into_boxed_slice(); self.shared as usize];
        let constants = self.nodes.iter().zip(&self.types).zip(&self.column).filter(|(_, column)| (self.shared..NONE).contains(column));
        columns.extend(constants.map(|((_, ty), _)| vec![0; CHUNK / 2 * ty.words()].into_boxed_slice()));
        for (i, node) in self.nodes.iter().enumerate() {
            if let Node::Const(bits) = *node
                && self.column[i] != NONE
            {
                let words = &mut columns[self.column[i] as usize];
                match self.types[i].words() {
                    1 => bytemuck::cast_slice_mut::<_, u32>(words).fill(bits as u32),
                    _ => words.fill(bits),
                }
            }
        }
        columns
    }
}
