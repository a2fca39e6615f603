//! Parts of a loop's body: nodes that its condition needs, and those that its last turn leaves out.

use super::node::{Func, Id, Node};
use core::ops::Range;

impl Func {
    /// The body of the loop at node `at` as runs of nodes: what its condition needs, and the rest, which the turn that it ends in need not compute. Where the
    /// state changes in that turn too, or a loop is inside, all is needed.
    pub(super) fn turn(&self, at: Id) -> [Vec<Range<Id>>; 2] {
        let Node::Loop { end, go, keeps, .. } = self.nodes[at as usize] else { return Default::default() };
        let body = at + 1..end;
        let nodes = |ids: &Range<Id>| &self.nodes[ids.start as usize..ids.end as usize];
        if !keeps || nodes(&body).iter().any(|node| matches!(node, Node::Loop { .. })) {
            return [vec![body], Vec::new()];
        }
        // Nodes of a branch go together.
        let unit = |from: Id| match self.nodes.get(from as usize) {
            Some(Node::Branch { else_end, .. }) => from..*else_end,
            _ => from..from + 1,
        };
        let all: Vec<Range<Id>> =
            std::iter::successors(Some(unit(body.start)), |last| Some(unit(last.end))).take_while(|u| u.start < end).collect();
        let mut needed = vec![false; all.len()];
        let need = |needed: &mut Vec<bool>, id: Id| {
            if body.contains(&id) {
                needed[all.partition_point(|unit| unit.end <= id)] = true;
            }
        };
        need(&mut needed, go);
        for (k, unit) in all.iter().enumerate().rev() {
            if needed[k] {
                nodes(unit).iter().for_each(|node| Self::operands(node, |id| need(&mut needed, id)));
            }
        }
        let mut runs: [Vec<Range<Id>>; 2] = Default::default();
        for (unit, needed) in all.into_iter().zip(needed) {
            let runs = &mut runs[usize::from(!needed)];
            match runs.last_mut() {
                Some(last) if last.end == unit.start => last.end = unit.end,
                _ => runs.push(unit),
            }
        }
        runs
    }
}
