//! Fused multiply-adds that are computed right by a device that takes subnormal numbers for zeros.

use super::Writer;
use crate::element::Ty;
use crate::ir::node::{Id, Node};

impl Writer<'_> {
    /// Whether `a * b + c` of f32 has the same bits where subnormal operands and results are taken for zeros, whatever its variables are.
    ///
    /// It has if c is a constant of at least 2^-60, and the product is a square, or has a constant factor of at most 2^24, or two factors of which neither can be
    /// larger. A subnormal operand is then worth less than 2^-102, and leaves of the sum c, as zero does. And a sum near zero is a multiple of the last places of
    /// product and c, which are near 2^-60 · 2^-48 then: none is subnormal.
    pub(super) fn stays_normal(&self, a: Id, b: Id, c: Id) -> bool {
        let within = |id: Id, least: i32, most: i32| {
            let size = self.constant(id).map(f32::abs);
            size.is_some_and(|s| s >= 2_f32.powi(least) && s <= 2_f32.powi(most))
        };
        let is_small = |id: Id| self.exponents.get(id as usize).copied().flatten().is_some_and(|e| e <= 24);
        within(c, -60, 127) && (a == b || within(a, -126, 24) || within(b, -126, 24) || is_small(a) && is_small(b))
    }

    fn constant(&self, id: Id) -> Option<f32> {
        match self.f.nodes[id as usize] {
            Node::Const(bits) if self.ty(id) == Ty::F32 => Some(f32::from_bits(bits as u32)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::caps::Numerics;
    use crate::ir::{Expr, OpError, Operations, WgslFma, WgslOptions, trace, wgsl_function};
    use std::collections::BTreeSet;

    type F = Expr<f32>;

    fn is_bare(f: Result<crate::ir::Func, OpError>) -> bool {
        let options = WgslOptions { fma: WgslFma::Guarded, numerics: Numerics::Strict, repairs: Operations::NONE };
        wgsl_function(&f.expect("operator"), "op", options, &mut BTreeSet::new()).contains("iw_fma_native(")
    }

    #[test]
    fn sums_that_stay_normal_need_no_guard() {
        assert!(is_bare(trace(|x: F| x * x + 1.0)));
        assert!(is_bare(trace(|x: F| x * -3.0 + 1e-15)));
        assert!(!is_bare(trace(|(x, y): (F, F)| x * y + 1.0)));
        let small = |x: Expr<u32>| x.cast::<f32>() * 1e-3;
        assert!(is_bare(trace(|(x, y): (Expr<u32>, Expr<u32>)| small(x) * small(y) + 1.0)));
        assert!(!is_bare(trace(|(x, y): (Expr<u32>, Expr<u32>)| small(x) * y.cast::<f32>() + 1.0)));
        assert!(!is_bare(trace(|(x, y): (F, Expr<u32>)| x * small(y) + 1.0)));
        assert!(!is_bare(trace(|x: F| x * x + 1e-20)));
        assert!(!is_bare(trace(|x: F| x * 1e8 + 1.0)));
        assert!(!is_bare(trace(|(x, y): (F, F)| x * 2.0 + y)));
    }

    fn flush(v: f32) -> f32 {
        if v.is_subnormal() { 0_f32.copysign(v) } else { v }
    }

    #[test]
    fn bare_sums_have_the_same_bits_where_subnormal_numbers_are_zeros() {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        };
        for i in 0..400_000_u32 {
            let x = f32::from_bits(if i % 3 == 0 { next() & 0x80ff_ffff } else { next() });
            let size = 2_f32.powi(-60) * (1.0 + (next() & 0x7f_ffff) as f32 / 8_388_608.0) * 2_f32.powi((next() % 180) as i32);
            let c = if next() & 1 == 0 { size } else { -size };
            let k = f32::from_bits(next() % 0x4b80_0000).max(f32::MIN_POSITIVE);
            // Sums that all but cancel, too.
            let near = f32::from_bits((c.abs() / k).to_bits().wrapping_add(next() % 5)) * -c.signum();
            let root = f32::from_bits(c.abs().sqrt().to_bits().wrapping_add(next() % 5));
            // Two variables, neither above 2^24.
            let (p, q) = (f32::from_bits(next() % 0x4b80_0000), f32::from_bits(next() % 0x4b80_0001));
            for (a, b) in [(x, x), (x, k), (near, k), (root, root), (p, q), (p, -q)] {
                let (exact, flushing) = (a.mul_add(b, c), flush(flush(a).mul_add(flush(b), c)));
                assert!(exact.to_bits() == flushing.to_bits() || exact.is_nan() && flushing.is_nan(), "{a:e} * {b:e} + {c:e}");
            }
        }
    }
}
