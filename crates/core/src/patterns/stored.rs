//! Values as the bits that they are stored as, in operators: where these are compared, or stored byte by byte.

use crate::element::{DType, Scalar, Ty};
use crate::ir::graph::{self, Value};
use crate::ir::{Expr, lit, select};

/// The same bits under the name of another type of the same width; of a float a NaN is made canonical first.
fn bits<W: Scalar>(value: Value, ty: Ty) -> Expr<W> {
    Expr::from_value(graph::with(|g| {
        let id = g.id(value, ty);
        if ty == W::TY { id } else { g.bitcast(id, W::TY) }
    }))
}

/// The bits of a value of type `ty` that is stored as an element of at most four bytes, above them zeros.
pub(super) fn word(value: Value, ty: Ty, dtype: DType) -> Expr<u32> {
    match dtype {
        DType::U8 | DType::I8 => bits::<u32>(value, ty) & 0xFFu32,
        DType::U16 | DType::I16 => bits::<u32>(value, ty) & 0xFFFFu32,
        DType::F16 => f16_bits(bits::<u32>(value, ty)),
        DType::F32 | DType::I32 | DType::U32 | DType::F64 | DType::I64 | DType::U64 => bits(value, ty),
    }
}

/// The bits of a value of eight bytes.
pub(super) fn wide(value: Value, ty: Ty) -> Expr<u64> {
    bits(value, ty)
}

/// The `f16` that an `f32` of these bits is stored as: the nearest one, ties to even, and one NaN. Of integers alone, so that nothing else rounds.
pub(super) fn f16_bits(bits: Expr<u32>) -> Expr<u32> {
    let (sign, size) = ((bits >> 16) & 0x8000u32, bits & 0x7FFF_FFFFu32);
    // Ties go to the neighbour whose last bit is 0: a half less one is added, and one more where the last bit that stays is 1.
    let normal = (size + 0xFFFu32 + ((size >> 13) & 1u32) - 0x3800_0000u32) >> 13;
    // Below 2^-14 an f16 counts steps of 2^-24; what is below 2^-25 counts none.
    let exponent = size >> 23;
    let mantissa = (size & 0x7F_FFFFu32) | 0x80_0000u32;
    let by = lit(126u32) - exponent.clamp(101u32, 112u32);
    let steps = (mantissa + ((lit(1u32) << (by - 1u32)) - 1u32) + ((mantissa >> by) & 1u32)) >> by;
    let small = select(exponent.lt(102u32), 0, steps);
    let finite = select(size.lt(0x3880_0000u32), small, normal);
    // From 65520 on the nearest one is infinite.
    let bounded = select(size.lt(0x477F_F000u32), finite, 0x7C00);
    select(size.gt(0x7F80_0000u32), 0x7E00, sign | bounded)
}

#[cfg(test)]
mod tests {
    use super::f16_bits;
    use crate::element::Element as _;
    use crate::ir::{Evaluator, Expr, trace};
    use half::f16;

    /// Every `f16`, what lies halfway between two, the neighbours of both, and what a generator gives.
    #[test]
    fn every_f16_is_what_an_element_narrows_to() {
        let mut tried: Vec<u32> = Vec::new();
        for h in 0..=u16::MAX {
            let exact = f16::from_bits(h).to_f32().to_bits();
            for near in [exact, exact.wrapping_add(0x1000)] {
                tried.extend([near.wrapping_sub(1), near, near.wrapping_add(1)]);
            }
            // Halves between those that are no normal numbers.
            let half = (f16::from_bits(h & 0x3FF).to_f32() + 2f32.powi(-25)).to_bits();
            tried.extend([half - 1, half, half + 1]);
        }
        let mut state = 1u32;
        tried.extend((0..1 << 16).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state
        }));
        let func = trace(|x: Expr<u32>| f16_bits(x)).expect("an operator");
        let mut evaluator = Evaluator::new(&func);
        for lanes in tried.chunks(64) {
            evaluator.eval(lanes.len(), |_, out| out.iter_mut().zip(lanes).for_each(|(o, &x)| *o = x.into()), |_, _| 0);
            for (&x, &found) in lanes.iter().zip(&evaluator.result(0)[..lanes.len()]) {
                assert_eq!(found, u64::from(f16::narrow(f32::from_bits(x)).to_bits()), "{x:#x}");
            }
        }
    }
}
