//! Branches and loops: nodes whose blocks are traced one after the other and see no value of each other.

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

/// A loop of up to so many turns over values that it carries. The closure gives their next values, whether another turn follows, and whether
/// they keep the values that they have if none does.
pub(crate) fn repeat(turns: u32, init: &[(Value, Ty)], body: impl FnOnce(&[Value]) -> (Vec<Value>, Value, bool)) -> Vec<Value> {
    // No carried value is a product to a sum; nor is it one without a turn.
    if turns == 0 {
        let rounded = |&(v, ty): &(Value, Ty)| {
            with(|g| {
                let id = g.id(v, ty);
                g.rounded(id)
            })
        };
        return init.iter().map(rounded).collect();
    }
    let mut carried = Vec::with_capacity(init.len());
    let node = with(|g| {
        let init: Vec<(Id, Ty)> = init.iter().map(|&(v, ty)| (g.id(v, ty), ty)).collect();
        let of = (g.nodes.len() + init.len()) as Id;
        for (init, ty) in init {
            carried.push(Value { trace: g.serial, id: g.nodes.len() as Id });
            g.nodes.push(Node::Carried { init, next: 0, of });
            g.types.push(ty);
        }
        g.nodes.push(Node::Loop { turns, end: 0, go: 0, keeps: false });
        g.types.push(Ty::Bool);
        g.open_block();
        of
    });
    carried.resize(init.len(), node);
    let (next, more, if_more) = body(&carried);
    with(|g| {
        let next: Vec<Id> = next.iter().zip(init).map(|(&v, &(_, ty))| g.id(v, ty)).collect();
        let more = g.id(more, Ty::Bool);
        let closed = g.close_block();
        for (value, id) in carried.iter().zip(next) {
            if let Some(Node::Carried { next, .. }) = g.nodes.get_mut(value.id as usize) {
                *next = id;
            }
        }
        if let Some(Node::Loop { end, go, keeps, .. }) = g.nodes.get_mut(node.id as usize) {
            (*end, *go, *keeps) = (closed, more, if_more);
        }
        node.id
    });
    carried
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
