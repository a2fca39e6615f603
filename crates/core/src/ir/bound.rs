//! Bounds that an operator's results cannot exceed.

use super::node::{BinOp, Func, Id, Node, UnOp};
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

    /// Of each value of `f32` an `e` of which its magnitude is at most 2^e, whatever the parameters are; `None` where none is known, or it may be NaN.
    pub(crate) fn exponents(&self) -> Vec<Option<i32>> {
        let mut known: Vec<Option<i32>> = Vec::with_capacity(self.nodes.len());
        for (node, &ty) in self.nodes.iter().zip(&self.types) {
            let of = |id: Id| known.get(id as usize).copied().flatten();
            let both = |a: Id, b: Id| Some((of(a)?, of(b)?));
            let found = match *node {
                _ if ty != Ty::F32 => None,
                Node::Const(bits) => {
                    Some(f32::from_bits(bits as u32).abs()).filter(|c| c.is_finite()).map(|c| c.log2().floor().max(-126.0) as i32 + 1)
                }
                Node::Cast(a) => match self.types[a as usize] {
                    Ty::Bool => Some(0),
                    Ty::I32 => Some(31),
                    Ty::U32 => Some(32),
                    Ty::I64 => Some(63),
                    Ty::U64 => Some(64),
                    _ => None,
                },
                Node::Un(UnOp::Neg | UnOp::Abs, a) => of(a),
                Node::Bin(BinOp::Mul | BinOp::MulRn, a, b) => both(a, b).map(|(a, b)| a + b),
                Node::Bin(BinOp::Add | BinOp::Sub, a, b) => both(a, b).map(|(a, b)| a.max(b) + 1),
                Node::Bin(BinOp::Min | BinOp::Max, a, b) | Node::Select(_, a, b) => both(a, b).map(|(a, b)| a.max(b)),
                Node::Fma(a, b, c) => both(a, b).zip(of(c)).map(|((a, b), c)| (a + b).max(c) + 1),
                _ => None,
            };
            known.push(found.filter(|&e| e <= 127));
        }
        known
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

    #[test]
    fn magnitudes_of_floats_are_bounded_by_those_of_what_they_are_made_of() {
        let of = |f: Result<crate::ir::Func, crate::ir::OpError>| {
            let known = f.expect("an operator").exponents();
            *known.last().expect("an operator has a result, so it has values")
        };
        let small = |x: Expr<i32>| x.cast::<f32>().mul_rn(0.000_976_562_5);
        assert_eq!(of(trace(|x: Expr<i32>| small(x))), Some(31 - 9));
        assert_eq!(of(trace(|x: Expr<i32>| small(x) + 3.0)), Some(31 - 9 + 1));
        assert_eq!(of(trace(|x: Expr<i32>| small(x).mul_rn(small(x)).abs())), Some(2 * (31 - 9)));
        assert_eq!(of(trace(|(x, y): (Expr<u32>, Expr<u32>)| x.cast::<f32>().mul_add(y.cast::<f32>(), 1e30))), Some(101));
        // Unknown, or infinite.
        assert_eq!(of(trace(|x: Expr<f32>| x + 1.0)), None);
        assert_eq!(of(trace(|x: Expr<u64>| x.cast::<f32>().mul_rn(x.cast::<f32>()))), None);
        assert_eq!(of(trace(|x: Expr<u32>| x.cast::<f32>() / 2.0)), None);
    }
}
