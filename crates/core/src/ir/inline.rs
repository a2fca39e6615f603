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
        let Node::Loop { turns, end, go, keeps } = self.func.nodes[of as usize] else { return of };
        let carried = Func::carried(&self.func.nodes, of);
        let init: Vec<_> = (first..of).map(|id| (self.init(id), self.func.types[id as usize])).collect();
        let put = |values: &[Value]| (first..of).zip(values).for_each(|(id, &v)| self.done.borrow_mut()[id as usize] = Some(v));
        let last = graph::repeat(turns, &init, |values| {
            put(values);
            self.range(of + 1, end);
            (carried.map(|(_, next)| self.value(next)).collect(), self.value(go), keeps)
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

#[cfg(test)]
mod tests {
    use super::inline;
    use crate::element::Ty;
    use crate::ir::{Evaluator, Expr, Func, branch, graph, lit, next_until, next_while, repeat, trace};

    type U = Expr<u32>;

    fn eval(f: &Func, args: &[u64]) -> Vec<u64> {
        let mut e = Evaluator::new(f);
        e.eval_one(args);
        (0..f.results.len()).map(|k| e.result(k)[0]).collect()
    }

    #[test]
    fn an_inlined_operator_keeps_its_loops() {
        let f = trace(|(x, y): (U, U)| {
            let inner = |x: U| repeat(3, x, |x| branch(x.lt(y), || repeat(2, x, |x| x + 5), || x >> 1));
            let (a, b) = repeat(7, (x, y), |(a, b)| next_while(a.ne(b), (b, inner(a))));
            (a, repeat(4, b, |b| next_until((b & 3).eq(0), b + 1)))
        })
        .expect("operator");
        // Twice in one graph, the second time over results of the first, in the block of a branch, and in a loop.
        let of = |a: U, b: U| {
            let values = inline(&f, &[a.value(), b.value()]);
            (Expr::from_value(values[0]), Expr::from_value(values[1]))
        };
        let thrice = trace(|(x, y): (U, U)| {
            let (a, b) = of(x, y);
            repeat(3, (a, branch(a.lt(b), || of(b, a).0, || b)), |(a, b)| of(a, b))
        })
        .expect("operator");
        for (x, y) in [(0u32, 0u32), (1, 9), (40, 3), (1000, 1), (17, 17), (u32::MAX, 6)] {
            let of = |a: u64, b: u64| {
                let found = eval(&f, &[a, b]);
                (found[0], found[1])
            };
            let (a, b) = of(x.into(), y.into());
            let first = (a, if a < b { of(b, a).0 } else { b });
            let (a, b) = (0..3).fold(first, |(a, b), _| of(a, b));
            assert_eq!(eval(&thrice, &[x.into(), y.into()]), [a, b], "{x}, {y}");
        }
        // Over constants: the loops stay, and compute the same.
        let known = trace(|_: U| of(lit(40), lit(3))).expect("operator");
        assert_eq!(eval(&known, &[0]), eval(&f, &[40, 3]));
        let inlined = graph::trace(Vec::new(), || inline(&f, &[lit(1u32).value(), lit(9u32).value()])).expect("operator");
        assert_eq!((eval(&inlined, &[]), inlined.result_types()), (eval(&f, &[1, 9]), vec![Ty::U32; 2]));
    }
}
