//! Branches: nodes whose blocks are traced one after the other and see no value of each other.

use super::{DESK, Graph, Value, with};
use crate::element::Ty;
use crate::ir::node::{Id, Node};

impl Graph {
    /// Opens the branch node: its blocks follow.
    fn open_branch(&mut self, cond: Id, ty: Ty) -> Id {
        let id = self.nodes.len() as Id;
        self.nodes.push(Node::Branch { cond, then_end: 0, then_result: 0, else_end: 0, else_result: 0 });
        self.types.push(ty);
        self.open_block();
        id
    }

    fn open_block(&mut self) {
        self.scopes.push((self.nodes.len() as Id, self.visible.len()));
    }

    fn close_block(&mut self) -> Id {
        let end = self.nodes.len() as Id;
        if let Some((start, shared)) = self.scopes.pop() {
            for i in self.visible.drain(shared.min(self.visible.len())..) {
                self.table.remove(&(self.nodes[i as usize], self.types[i as usize]));
            }
            let apart = self.closed.partition_point(|block| block.end <= start);
            self.closed.truncate(apart);
            self.closed.push(start..end);
        }
        end
    }
}

/// A branch whose blocks are traced by the two closures.
pub(crate) fn branch(cond: Value, ty: Ty, then: impl FnOnce() -> Value, otherwise: impl FnOnce() -> Value) -> Value {
    let known = DESK.with_borrow_mut(|desk| {
        desk.open.last_mut().and_then(|g| {
            let c = g.id(cond, Ty::Bool);
            g.bits(c)
        })
    });
    if let Some(bits) = known {
        let chosen = if bits != 0 { then() } else { otherwise() };
        return with(|g| {
            let id = g.id(chosen, ty);
            g.settled(id)
        });
    }
    let node = with(|g| {
        let c = g.id(cond, Ty::Bool);
        g.open_branch(c, ty)
    });
    let close = |v: Value| {
        let mut end = (0, 0);
        with(|g| {
            let r = g.id(v, ty);
            end = (r, g.close_block());
            0
        });
        end
    };
    let (a, a_end) = close(then());
    with(|g| {
        g.open_block();
        0
    });
    let (b, b_end) = close(otherwise());
    with(|g| {
        if let Some(Node::Branch { then_end, then_result, else_end, else_result, .. }) = g.nodes.get_mut(node.id as usize) {
            (*then_end, *then_result, *else_end, *else_result) = (a_end, a, b_end, b);
        }
        node.id
    })
}
