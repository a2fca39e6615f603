//! Values that four neighbours have in common.

use super::node::{BinOp, Func, Id, Node, Param};

/// A value of four elements whose first index is a multiple of four.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OfFour {
    /// One to each of them.
    Own,
    /// The same for all.
    Shared,
    /// The same for the first two, and for the last two.
    Paired,
    /// The element's place among the four, of which these bits are taken.
    Place(u32),
}

impl Func {
    /// The values of the nodes where an index is divided by four or more, so that they share what is computed of the quotient, as the block of a
    /// counter-based generator; else nothing. `shared` says of value parameters whether all elements have the same, and of an index whether the first one is a
    /// multiple of four.
    pub(super) fn of_four(&self, shared: &[bool]) -> Vec<OfFour> {
        let is_index = |id: Id| match self.nodes[id as usize] {
            Node::Param(k) => matches!(self.params.get(usize::from(k)), Some(Param::Index(_))) && shared.get(usize::from(k)) == Some(&true),
            _ => false,
        };
        let constant = |id: Id| if let Node::Const(bits) = self.nodes[id as usize] { Some(bits) } else { None };
        let mut values: Vec<OfFour> = Vec::with_capacity(self.nodes.len());
        let (mut divided, mut block) = (false, 0);
        for (i, node) in self.nodes.iter().enumerate() {
            let value = match *node {
                Node::Branch { else_end, .. } => {
                    block = block.max(else_end);
                    OfFour::Own
                }
                Node::Loop { end, .. } => {
                    block = block.max(end);
                    OfFour::Own
                }
                _ if (i as Id) < block => OfFour::Own,
                Node::Carried { .. } => OfFour::Own,
                Node::Param(k) => match self.params.get(usize::from(k)) {
                    Some(Param::Value(_)) if shared.get(usize::from(k)) == Some(&true) => OfFour::Shared,
                    _ => OfFour::Own,
                },
                Node::Fetch(_, at) if values[at as usize] != OfFour::Shared => OfFour::Own,
                Node::Bin(BinOp::Shr, a, by) if is_index(a) && constant(by).is_some_and(|by| (2..32).contains(&by)) => {
                    divided = true;
                    OfFour::Shared
                }
                Node::Bin(BinOp::And, a, mask) if is_index(a) && self.types[i].words() == 1 => match constant(mask) {
                    Some(mask @ 0..4) => OfFour::Place(mask as u32),
                    _ => OfFour::Own,
                },
                Node::Bin(BinOp::And, a, mask) if matches!((values[a as usize], constant(mask)), (OfFour::Place(_), Some(0..4))) => {
                    match (values[a as usize], constant(mask)) {
                        (OfFour::Place(bits), Some(mask)) => OfFour::Place(bits & mask as u32),
                        _ => OfFour::Own,
                    }
                }
                _ => {
                    let (mut shared, mut paired) = (true, true);
                    Self::operands(node, |id| {
                        let of = values[id as usize];
                        shared &= of == OfFour::Shared;
                        paired &= matches!(of, OfFour::Shared | OfFour::Paired | OfFour::Place(0 | 2));
                    });
                    match (shared, paired) {
                        (true, _) => OfFour::Shared,
                        (_, true) => OfFour::Paired,
                        _ => OfFour::Own,
                    }
                }
            };
            values.push(value);
        }
        if divided { values } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::Numerics;
    use crate::element::{DType, Ty};
    use crate::input::Source as _;
    use crate::ir::{Expr, Operations, Ptx, PtxValue, Traced, WgslFma, WgslOptions, array_expr, pack, wgsl_function_4};
    use crate::random::Random;
    use std::collections::BTreeSet;

    /// A draw from a place of the stream: six numbers of the launch, then the index.
    fn draw(position: u64) -> Func {
        let params = [Param::Value(Ty::U32); 6].into_iter().chain([Param::Index(Ty::U32)]).collect();
        pack(params, || Random { position, ..Random::new(1) }.uniform::<f32>(100).exprs(&mut 0)).expect("a draw")
    }

    fn products_in_ptx(f: &Func, shared: &[bool]) -> usize {
        let mut p = Ptx::new(Numerics::Strict, "args+0");
        let numbers: Vec<PtxValue> = (0..6).map(|_| p.fresh(Ty::U32)).collect();
        let args: Vec<Vec<PtxValue>> = (0..4).map(|_| numbers.iter().cloned().chain([p.fresh(Ty::U32)]).collect()).collect();
        p.call_four(f, &args, shared, &mut |p, _| p.constant(Ty::U32, 0));
        p.finish().matches("mul.wide.u32").count()
    }

    fn products_in_wgsl(f: &Func, shared: &[bool]) -> usize {
        let options = WgslOptions { fma: WgslFma::Native, numerics: Numerics::Strict, repairs: Operations::NONE };
        let text = wgsl_function_4(f, "op", options, (&[], shared), &mut BTreeSet::new());
        text.matches("iw_mul_wide(").count() + 4 * text.matches("iw_mul_wide_4(").count()
    }

    #[test]
    fn four_neighbours_share_the_block_of_their_words() {
        // Ten rounds of two products.
        for (f, shared, times) in [(draw(8), true, 1), (draw(8), false, 4), (draw(9), true, 4)] {
            let shared = [[true; 6].as_slice(), &[shared]].concat();
            assert_eq!((products_in_ptx(&f, &shared), products_in_wgsl(&f, &shared)), (20 * times, 20 * times));
        }
        // The radius of a pair of normal numbers is that of both, and so are polynomials of degree 3 and 4 of its angle.
        let params = [Param::Value(Ty::U32); 6].into_iter().chain([Param::Index(Ty::U32)]).chain([Param::Value(Ty::F32); 2]).collect();
        let normal = pack(params, || Random::new(1).normal(100, 0.0, 1.0).exprs(&mut 0)).expect("a draw");
        let mut p = Ptx::new(Numerics::Strict, "args+0");
        let numbers: Vec<PtxValue> =
            normal.params.iter().map(|param| p.fresh(if let Param::Value(ty) = param { *ty } else { Ty::U32 })).collect();
        p.call_four(&normal, &vec![numbers; 4], &[true; 9], &mut |p, _| p.constant(Ty::U32, 0));
        assert_eq!(p.finish().matches("sqrt.rn.f32").count(), 2);
        let options = WgslOptions { fma: WgslFma::Native, numerics: Numerics::Strict, repairs: Operations::NONE };
        let text = wgsl_function_4(&normal, "op", options, (&[], &[true; 9]), &mut BTreeSet::new());
        assert_eq!(["iw_log(", "iw_sqrt("].map(|call| text.matches(call).count()), [2, 2], "{text}");
        // The number above 0, then both polynomials, for two pairs; and the mean and deviation of the four.
        assert_eq!(text.matches("fma(").count(), 2 * (1 + 3 + 4) + 1, "{text}");
        assert!(draw(9).of_four(&[true; 7]).is_empty(), "the index is not divided before something is added to it");
    }

    #[test]
    fn an_element_at_a_place_of_four_neighbours_is_fetched_once() {
        let f = pack(vec![Param::Array(DType::U32), Param::Index(Ty::U32)], || {
            let (x, i) = (array_expr::<u32>(0), <Expr<u32> as Traced>::params(1));
            x.at(i >> 5) + x.at(i >> 1)
        })
        .expect("an operator");
        let mut p = Ptx::new(Numerics::Strict, "args+0");
        let args: Vec<Vec<PtxValue>> = (0..4).map(|_| vec![p.fresh(Ty::U32), p.fresh(Ty::U32)]).collect();
        let mut fetched = Vec::new();
        p.call_four(&f, &args, &[false, true], &mut |p, at| {
            fetched.push(at.lane);
            p.constant(Ty::U32, 0)
        });
        assert_eq!(fetched, [0, 0, 1, 2, 3]);
        let options = WgslOptions { fma: WgslFma::Native, numerics: Numerics::Strict, repairs: Operations::NONE };
        let text = wgsl_function_4(&f, "op", options, (&[], &[false, true]), &mut BTreeSet::new());
        assert_eq!(text.matches("op_fetch0(").count(), 5, "{text}");
    }
}
