//! Plan of a block: the operator with the functions that it calls inlined, and a column for every node while its value is in use.

use super::super::node::{Func, Id, Node};
use super::super::symbolic::definition;
use super::BLOCK;
use super::typed::CHUNK;
use crate::element::Ty;
use crate::numerics::Func as Elementary;
use std::cmp::Reverse;

/// Nodes without calls, and which column each has.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) nodes: Vec<Node>,
    pub(super) types: Vec<Ty>,
    pub(super) results: Vec<Id>,
    pub(super) column: Vec<u32>,
    /// Columns that hold lanes; those of constants follow.
    shared: u32,
}

impl Plan {
    pub(super) fn new(func: &Func) -> Self {
        let mut plan = Self::default();
        plan.results = plan.write_out(func, None);
        plan.share();
        plan
    }

    /// Appends the nodes of `func`, whose parameters are these nodes if it is called, and returns those of its results.
    fn write_out(&mut self, func: &Func, args: Option<&[Id]>) -> Vec<Id> {
        // Where each node's nodes begin, and which of them has its value.
        let (mut begin, mut value, mut branches) = (Vec::new(), Vec::<Id>::new(), Vec::new());
        for (node, &ty) in func.nodes.iter().zip(&func.types) {
            begin.push(self.nodes.len() as Id);
            let of = |id: Id| value[id as usize];
            let node = match (*node, args) {
                (Node::Param(k), Some(args)) => {
                    value.push(args[usize::from(k)]);
                    continue;
                }
                (Node::Call1(f, a), _) => {
                    let called = self.call(f, &[of(a)]);
                    value.push(called);
                    continue;
                }
                (Node::Call2(f, a, b), _) => {
                    let called = self.call(f, &[of(a), of(b)]);
                    value.push(called);
                    continue;
                }
                (Node::Un(op, a), _) => Node::Un(op, of(a)),
                (Node::Bin(op, a, b), _) => Node::Bin(op, of(a), of(b)),
                (Node::Fma(a, b, c), _) => Node::Fma(of(a), of(b), of(c)),
                (Node::Select(c, a, b), _) => Node::Select(of(c), of(a), of(b)),
                (Node::Cast(a), _) => Node::Cast(of(a)),
                (Node::Bitcast(a), _) => Node::Bitcast(of(a)),
                (Node::Reinterpret(a), _) => Node::Reinterpret(of(a)),
                (Node::Fetch(k, a), _) => Node::Fetch(k, of(a)),
                (node @ Node::Branch { .. }, _) => {
                    // Its blocks come after it.
                    branches.push(value.len());
                    node
                }
                (node @ (Node::Param(_) | Node::Const(_)), _) => node,
            };
            value.push(self.nodes.len() as Id);
            self.nodes.push(node);
            self.types.push(ty);
        }
        begin.push(self.nodes.len() as Id);
        for at in branches {
            if let Node::Branch { cond, then_end, then_result, else_end, else_result } = func.nodes[at] {
                let [cond, then_result, else_result] = [cond, then_result, else_result].map(|id| value[id as usize]);
                let [then_end, else_end] = [then_end, else_end].map(|id| begin[id as usize]);
                self.nodes[value[at] as usize] = Node::Branch { cond, then_end, then_result, else_end, else_result };
            }
        }
        func.results.iter().map(|&r| value[r as usize]).collect()
    }

    fn call(&mut self, f: Elementary, args: &[Id]) -> Id {
        self.write_out(&definition(f), Some(args))[0]
    }

    /// Gives every node a column that no node in use at the same time has.
    fn share(&mut self) {
        let n = self.nodes.len();
        // A branch is done when its blocks are: between two nodes.
        let when = |i: usize| match self.nodes[i] {
            Node::Branch { else_end, .. } => 2 * else_end,
            _ => 2 * i as Id + 1,
        };
        let mut last: Vec<Id> = (0..n).map(when).collect();
        let mut whole = vec![false; n];
        for (i, node) in self.nodes.iter().enumerate() {
            let now = when(i);
            Func::operands(node, |a| last[a as usize] = last[a as usize].max(now));
            // What is read lane by lane needs a whole column, even of a constant.
            if let Node::Fetch(_, a) | Node::Branch { cond: a, .. } = *node {
                whole[a as usize] = true;
            }
        }
        self.results.iter().for_each(|&r| whole[r as usize] = true);
        let constant = |i: usize| matches!(self.nodes[i], Node::Const(_));
        self.results.iter().for_each(|&r| last[r as usize] = Id::MAX);
        (0..n).filter(|&i| constant(i) && whole[i]).for_each(|i| last[i] = Id::MAX);
        // Constants that are results, or read lane by lane, have whole columns from the beginning on.
        let whole = (0..n).filter(|&i| constant(i) && last[i] == Id::MAX);
        let mut computed: Vec<usize> = (0..n).filter(|&i| !constant(i)).collect();
        // Of branches that end at the same place the inner one is the later node.
        computed.sort_by_key(|&i| (when(i), Reverse(i)));
        let mut column = vec![0; n];
        let (mut used, mut free): (Vec<usize>, Vec<u32>) = (Vec::new(), Vec::new());
        for i in whole.chain(computed) {
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
        self.column = column;
    }

    /// Columns with the constants in them.
    pub(super) fn columns(&self) -> Vec<Box<[u64]>> {
        let constants = self.column.iter().max().map_or(0, |&most| (most + 1).saturating_sub(self.shared));
        let lanes = std::iter::repeat_n(BLOCK, self.shared as usize).chain(std::iter::repeat_n(CHUNK, constants as usize));
        let mut columns: Vec<Box<[u64]>> = lanes.map(|lanes| vec![0; lanes].into_boxed_slice()).collect();
        for (i, node) in self.nodes.iter().enumerate() {
            if let Node::Const(bits) = *node {
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
