//! Which fused multiply-adds a device that takes subnormal numbers for zeros computes right.

use super::Writer;
use crate::element::Ty;
use crate::ir::node::{Id, Node};

impl Writer<'_> {
    /// Whether `a * b + c` of f32 has the same bits where subnormal operands and results are taken for zeros, whatever its variables are.
    ///
    /// It has if c is a constant of at least 2^-60, and the product is a square or has a constant factor of at most 2^24. A subnormal
    /// variable is then worth less than 2^-102, and leaves of the sum c, as zero does. And a sum near zero is a multiple of the last
    /// places of product and c, which are near 2^-60 · 2^-48 then: none is subnormal.
    pub(super) fn stays_normal(&self, a: Id, b: Id, c: Id) -> bool {
        let within = |id: Id, least: i32, most: i32| {
            let size = self.constant(id).map(f32::abs);
            size.is_some_and(|s| s >= 2_f32.powi(least) && s <= 2_f32.powi(most))
        };
        within(c, -60, 127) && (a == b || within(a, -126, 24) || within(b, -126, 24))
    }

    fn constant(&self, id: Id) -> Option<f32> {
        match self.f.nodes[id as usize] {
            Node::Const(bits) if self.ty(id) == Ty::F32 => Some(f32::from_bits(bits as u32)),
            _ => None,
        }
    }
}
