//! What an operator's results cannot exceed.

use super::node::{BinOp, Func, Id, Node};
use crate::element::Ty;

impl Func {
    /// A number that no value of result `k` is above, of an operator whose value parameters are not above `of_param(p)`; the type's greatest where nothing
    /// better is known, and `u64::MAX` for results that are not unsigned integers.
    #[must_use]
    pub fn greatest(&self, k: usize, of_param: impl Fn(u16) -> u64) -> u64 {
        let mut bounds = Vec::with_capacity(self.nodes.len());
        for id in 0..self.nodes.len() {
            bounds.push(self.bound(id as Id, &bounds, &of_param));
        }
        self.results.get(k).map_or(u64::MAX, |&id| bounds[id as usize])
    }

    fn bound(&self, id: Id, known: &[u64], of_param: &impl Fn(u16) -> u64) -> u64 {
        let most = match self.types[id as usize] {
            Ty::U32 => u64::from(u32::MAX),
            Ty::U64 => u64::MAX,
            Ty::Bool => 1,
            _ => return u64::MAX,
        };
        let of = |id: Id| known[id as usize];
        let constant = |id: Id| if let Node::Const(c) = self.nodes[id as usize] { Some(c) } else { None };
        let unsigned = |id: Id| matches!(self.types[id as usize], Ty::U32 | Ty::U64 | Ty::Bool);
        let found = match self.nodes[id as usize] {
            Node::Param(p) => of_param(p),
            Node::Const(c) => c,
            Node::Bin(BinOp::And | BinOp::Min, a, b) => of(a).min(of(b)),
            // No bit above those that either has.
            Node::Bin(BinOp::Or | BinOp::Xor, a, b) => u64::MAX.checked_shr((of(a) | of(b)).leading_zeros()).unwrap_or(0),
            Node::Bin(BinOp::Max, a, b) => of(a).max(of(b)),
            Node::Bin(BinOp::Add, a, b) => of(a).saturating_add(of(b)),
            Node::Bin(BinOp::Mul, a, b) => of(a).saturating_mul(of(b)),
            Node::Bin(BinOp::Shr, a, b) => constant(b).map_or(of(a), |by| of(a) >> (by % (64 - u64::from(most.leading_zeros())))),
            Node::Bin(BinOp::Div, a, _) => of(a),
            Node::Bin(BinOp::Rem, a, b) => constant(b).filter(|&b| b > 0).map_or(of(a), |b| of(a).min(b - 1)),
            Node::Select(c, a, b) => match self.nodes[c as usize] {
                // Always true.
                Node::Bin(BinOp::Lt, x, y) if unsigned(x) && constant(y).is_some_and(|y| of(x) < y) => of(a),
                _ => of(a).max(of(b)),
            },
            Node::Cast(a) if unsigned(a) => of(a),
            _ => u64::MAX,
        };
        // A sum or product that wraps may be anything.
        if found > most { most } else { found }
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{Expr, Traced, lit, select, trace};

    const ANY: u64 = u32::MAX as u64;

    #[track_caller]
    fn is<R: Traced>(greatest: u64, of_param: u64, f: impl Fn(Expr<u32>) -> R) {
        let func = trace(f).expect("a plain operator traces");
        assert_eq!(func.greatest(0, |_| of_param), greatest);
    }

    #[test]
    fn bounds_are_those_of_bytes_masks_and_shifts() {
        is(255, 255, |x| x);
        is(255, ANY, |x| x >> 24u32);
        is(255, ANY, |x| (x >> 8u32) & 0xffu32);
        is(767, ANY, |x| (x & 0xffu32) + 512u32);
        is(9, ANY, |x| x % 10u32);
        is(0x1ff, 255, |x| (x * 2u32) | 1u32);
        is(255, 255, |x| select(x.lt(256u32), x, lit(u32::MAX)));
        is(ANY, 255, |x| select(x.lt(255u32), x, lit(u32::MAX)));
    }

    #[test]
    fn bounds_of_wide_integers_reach_to_the_top() {
        let greatest = |bound: u64| {
            let func = trace(|(x, y): (Expr<u64>, Expr<u64>)| (x | y, x ^ y)).expect("a plain operator traces");
            [0, 1].map(|k| func.greatest(k, |_| bound))
        };
        for (bound, expected) in [(0, 0), (1, 1), (4, 7), ((1 << 63) - 1, (1 << 63) - 1), (1 << 63, u64::MAX), (u64::MAX, u64::MAX)] {
            assert_eq!(greatest(bound), [expected; 2], "{bound:#x}");
        }
    }

    #[test]
    fn what_may_wrap_or_is_signed_has_no_bound() {
        is(ANY, ANY, |x| x + 1u32);
        is(ANY, 1, |x| x - 1u32);
        is(ANY, 255, |x| x << 1u32);
        is(ANY, ANY, |x| x * 2u32);
        is(u64::MAX, 255, Expr::bitcast::<i32>);
        is(ANY, 255, |x| x.cast::<f32>().cast::<u32>());
        is(ANY, 255, |x| x.bitcast::<i32>().cast::<u32>());
    }
}
