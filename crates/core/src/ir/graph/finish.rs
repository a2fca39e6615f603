//! Sealing a traced graph: what no result needs is removed, the rest is numbered anew.

use super::{Graph, Value};
use crate::element::Ty;
use crate::ir::OpError;
use crate::ir::node::{Func, Id, Node};
use std::cell::RefCell;

thread_local! {
    /// Where each node goes; kept from trace to trace.
    static PLACE: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
}

/// The place of a node that nothing needs.
const UNUSED: Id = Id::MAX;

impl Graph {
    /// The graph of the results. The builder keeps its vectors for the next trace.
    pub(super) fn finish(&mut self, results: &[Value]) -> Result<Func, OpError> {
        let mut results: Vec<Id> = results.iter().map(|&v| self.id(v, Ty::F32)).collect();
        if let Some(e) = self.error.take() {
            return Err(e);
        }
        // A closure of a block that unwound and was caught leaves its block open.
        if !self.scopes.is_empty() {
            return Err(OpError::ForeignValue);
        }
        // Products of constants that met no sum.
        for i in 0..self.nodes.len() {
            if let Some(bits) = self.bits(i as Id) {
                self.nodes[i] = Node::Const(bits);
            }
        }
        PLACE.with_borrow_mut(|place| {
            self.mark(&results, place);
            let (nodes, types) = self.renumber(place);
            for r in &mut results {
                *r = place[*r as usize];
            }
            Ok(Func::new(std::mem::take(&mut self.params), nodes, types, results))
        })
    }

    /// Zero for what some result needs, `UNUSED` for the rest.
    fn mark(&self, results: &[Id], place: &mut Vec<Id>) {
        place.clear();
        place.resize(self.nodes.len(), UNUSED);
        for &r in results {
            place[r as usize] = 0;
        }
        // A branch or a loop is numbered before its blocks, whose nodes it uses: each level of nesting takes one more round.
        loop {
            let mut late = false;
            for i in (0..self.nodes.len()).rev() {
                if place[i] == 0 {
                    Func::operands(&self.nodes[i], |o| {
                        let o = o as usize;
                        late |= o > i && place[o] != 0;
                        place[o] = 0;
                    });
                }
            }
            if !late {
                break;
            }
        }
    }

    /// Copies what is marked, and replaces the marks by the new numbers.
    fn renumber(&self, place: &mut [Id]) -> (Vec<Node>, Vec<Ty>) {
        // The end of a block is the number of nodes before it, needed or not.
        let mut before = 0;
        let has_blocks = !self.closed.is_empty();
        let mut ends = Vec::new();
        for p in place.iter_mut() {
            if has_blocks {
                ends.push(before);
            }
            if *p == 0 {
                *p = before;
                before += 1;
            }
        }
        ends.push(before);
        let at = |i: Id| place[i as usize];
        let end = |i: Id| ends[i as usize];
        let mut nodes = Vec::with_capacity(before as usize);
        let mut types = Vec::with_capacity(before as usize);
        for ((&node, &ty), _) in self.nodes.iter().zip(&self.types).zip(place.iter()).filter(|(_, p)| **p != UNUSED) {
            nodes.push(node.renumbered(at, end));
            types.push(ty);
        }
        (nodes, types)
    }
}
