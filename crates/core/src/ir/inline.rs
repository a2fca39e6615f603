//! A finished operator put into the graph that is being traced.

use crate::ir::graph::{self, Graph, Value};
use crate::ir::{Func, Id, Node, OpError};
use std::cell::RefCell;

/// The results of `func` over these arguments. Array parameters keep their numbers.
pub(crate) fn inline(func: &Func, args: &[Value]) -> Vec<Value> {
    inline_behind(func, args, 0)
}

/// As [`inline`], over arrays whose numbers are higher by `arrays`.
pub(crate) fn inline_behind(func: &Func, args: &[Value], arrays: u16) -> Vec<Value> {
    let inliner = Inliner { func, args, arrays, done: RefCell::new(vec![None; func.nodes.len()]) };
    inliner.range(0, func.nodes.len() as Id);
    func.results.iter().map(|&r| inliner.value(r)).collect()
}

struct Inliner<'a> {
    func: &'a Func,
    args: &'a [Value],
    arrays: u16,
    done: RefCell<Vec<Option<Value>>>,
}

impl Inliner<'_> {
    /// The value of a node that has been inlined. A node that has not (a malformed operator) is an error of the trace.
    fn value(&self, id: Id) -> Value {
        let found = self.done.borrow().get(id as usize).copied().flatten();
        found.unwrap_or_else(|| {
            graph::with(|g| {
                g.fail(OpError::ForeignValue);
                g.constant(crate::element::Ty::U32, 0)
            })
        })
    }

    fn range(&self, from: Id, to: Id) {
        let mut i = from;
        while i < to {
            let node = self.func.nodes[i as usize];
            let (value, next) = if let Node::Branch { cond, then_end, then_result, else_end, else_result } = node {
                let block = |from, to, result| {
                    self.range(from, to);
                    self.value(result)
                };
                let then = || block(i + 1, then_end, then_result);
                let otherwise = || block(then_end, else_end, else_result);
                (graph::branch(self.value(cond), self.func.types[i as usize], then, otherwise), else_end)
            } else if let Node::Carried { of, .. } = node {
                i = self.repeat(i, of);
                continue;
            } else {
                (self.node(node, i), i + 1)
            };
            self.done.borrow_mut()[i as usize] = Some(value);
            i = next;
        }
    }

    /// Inlines the loop at node `of`, whose first carried value is `first`; returns where its nodes end.
    fn repeat(&self, first: Id, of: Id) -> Id {
        let Node::Loop { turns, end, go } = self.func.nodes[of as usize] else { return of };
        let carried = Func::carried(&self.func.nodes, of);
        let init: Vec<_> = (first..of).map(|id| (self.init(id), self.func.types[id as usize])).collect();
        let put = |values: &[Value]| (first..of).zip(values).for_each(|(id, &v)| self.done.borrow_mut()[id as usize] = Some(v));
        let last = graph::repeat(turns, &init, |values| {
            put(values);
            self.range(of + 1, end);
            (carried.map(|(_, next)| self.value(next)).collect(), self.value(go))
        });
        put(&last);
        end
    }

    fn init(&self, carried: Id) -> Value {
        self.value(if let Node::Carried { init, .. } = self.func.nodes[carried as usize] { init } else { Id::MAX })
    }

    fn node(&self, node: Node, at: Id) -> Value {
        let ty = self.func.types[at as usize];
        if let Node::Param(k) = node {
            return self.args.get(usize::from(k)).copied().unwrap_or_else(|| self.value(Id::MAX));
        }
        let mut operands = Vec::with_capacity(3);
        Func::operands(&node, |id| operands.push((self.value(id), self.func.types[id as usize])));
        graph::with(|g| {
            let ids: Vec<Id> = operands.iter().map(|&(v, t)| g.id(v, t)).collect();
            match (node, &ids[..]) {
                (Node::Fetch(k, _), &[at]) => g.fetch(k + self.arrays, at),
                _ => build(g, node, ty, &ids),
            }
        })
    }
}

fn build(g: &mut Graph, node: Node, ty: crate::element::Ty, ids: &[Id]) -> Id {
    match (node, ids) {
        (Node::Const(bits), _) => g.constant(ty, bits),
        (Node::Un(op, _), &[a]) => g.un(op, a),
        (Node::Bin(op, ..), &[a, b]) => g.bin(op, a, b),
        (Node::Fma(..), &[a, b, c]) => g.fma(a, b, c),
        (Node::Select(..), &[c, a, b]) => g.select(c, a, b),
        (Node::Cast(_), &[a]) => g.cast(a, ty),
        (Node::Bitcast(_), &[a]) => g.bitcast(a, ty),
        (Node::Reinterpret(_), &[a]) => g.reinterpret(a, ty),
        (Node::Call1(f, _), &[a]) => g.call1(f, a),
        (Node::Call2(f, ..), &[a, b]) => g.call2(f, a, b),
        _ => {
            g.fail(OpError::ForeignValue);
            g.constant(ty, 0)
        }
    }
}
