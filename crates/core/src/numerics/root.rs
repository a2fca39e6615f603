//! Square root, reciprocal square root and cube root.

use super::arith::Arith;
use super::parts::{c, f, flip, inf, magnitude, nan, sign_bit, signed_like};

/// Half of the bits subtracted from this give x^(-1/2) to 3.5 %; the constant minimises the largest relative error.
const RSQRT_SEED: u32 = 0x5f37_4800;

/// The square root, correctly rounded for all inputs, without a square root instruction.
///
/// - Domain: x ≥ 0. √-0 is -0, √inf is inf, √x for x < 0 is NaN.
/// - Error: at most 0.5 ULP, subnormal operands included; the bits of the hardware's square root.
/// - Source: a seed by integer arithmetic on the exponent, third-order Newton steps for 1/√x, then Markstein's
///   correction through the exact residual `fma(-s, s, x)` (Markstein 1990; Muller et al., *Handbook of
///   Floating-Point Arithmetic*, 2nd ed. 2018, section 4.8). Up to powers of four there are 2^24 inputs: the rounding
///   of each was checked.
#[inline(always)]
pub fn soft_sqrt<A: Arith>(x: A::F) -> A::F {
    // From 2^-100 up the residual of the correction stays normal.
    let above = A::u_sub(A::f_to_bits(x), A::u32(27 << 23));
    let safe = A::u_lt(above, A::u32(228 << 23));
    let common = sqrt_core::<A>(x);
    A::branch(safe, || common, || sqrt_anywhere::<A>(x))
}

#[inline(always)]
fn sqrt_core<A: Arith>(x: A::F) -> A::F {
    let y = rsqrt_near::<A>(x);
    let h = A::mul(y, f::<A>(0.5));
    let s = A::mul(x, y);
    let s = A::fma(A::fma(A::neg(s), s, x), h, s);
    A::fma(A::fma(A::neg(s), s, x), h, s)
}

#[inline(always)]
fn rsqrt_seed<A: Arith>(x: A::F) -> A::F {
    let half = A::u_shr(A::f_to_bits(x), A::u32(1));
    A::f_from_bits(A::u_sub(A::u32(RSQRT_SEED), half))
}

/// With e = 1 - x·y², the root 1/√x is y·(1 + e/2 + 3e²/8 + …).
#[inline(always)]
fn rsqrt_step<A: Arith>(x: A::F, y: A::F) -> A::F {
    let e = A::fma(A::neg(A::mul(x, y)), y, f::<A>(1.0));
    A::fma(A::mul(y, e), A::fma(e, f::<A>(0.375), f::<A>(0.5)), y)
}

/// All operands below 2^64, and those that are no positive numbers.
#[inline(always)]
pub(crate) fn sqrt_anywhere<A: Arith>(x: A::F) -> A::F {
    // 2^64 lifts the smallest subnormal into the safe range; its root 2^32 comes off exactly.
    let lifted = A::mul(x, c::<A>(0x5f80_0000));
    let s = A::mul(sqrt_core::<A>(lifted), c::<A>(0x2f80_0000));
    let s = A::select_f(A::eq(x, inf::<A>()), x, s);
    let s = A::select_f(A::eq(x, f::<A>(0.0)), x, s);
    let undefined = A::b_or(A::is_nan(x), A::lt(x, f::<A>(0.0)));
    A::select_f(undefined, nan::<A>(), s)
}

/// The reciprocal square root 1/√x.
///
/// - Domain: x > 0. 1/√±0 is ±inf, 1/√inf is 0, and x < 0 gives NaN.
/// - Error: see the table in [the module](super).
/// - Source: as [`soft_sqrt`], the last step with x·y² in two floats (Handbook, section 4.8).
#[inline(always)]
pub fn rsqrt<A: Arith>(x: A::F) -> A::F {
    let above = A::u_sub(A::f_to_bits(x), A::u32(1 << 23));
    let normal = A::u_lt(above, A::u32(254 << 23));
    let common = rsqrt_core::<A>(x);
    A::branch(normal, || common, || rsqrt_anywhere::<A>(x))
}

/// 1/√x to an ULP or two, for normal x > 0.
#[inline(always)]
pub(super) fn rsqrt_near<A: Arith>(x: A::F) -> A::F {
    rsqrt_step::<A>(x, rsqrt_step::<A>(x, rsqrt_seed::<A>(x)))
}

#[inline(always)]
fn rsqrt_core<A: Arith>(x: A::F) -> A::F {
    let y = rsqrt_near::<A>(x);
    // s is near √x, so neither it nor its rounding error leaves the normal range by much.
    let s = A::mul(x, y);
    let lost = A::fma(x, y, A::neg(s));
    let e = A::fma(A::neg(s), y, f::<A>(1.0));
    let e = A::fma(A::neg(lost), y, e);
    A::fma(A::mul(y, f::<A>(0.5)), e, y)
}

#[inline(always)]
fn rsqrt_anywhere<A: Arith>(x: A::F) -> A::F {
    // Subnormals: 2^24 makes them normal, and 2^12 undoes it.
    let lifted = A::mul(x, f::<A>(16_777_216.0));
    let y = A::mul(rsqrt_core::<A>(lifted), f::<A>(4096.0));
    let y = A::select_f(A::eq(x, inf::<A>()), f::<A>(0.0), y);
    let pole = flip::<A>(inf::<A>(), sign_bit::<A>(x));
    let y = A::select_f(A::eq(x, f::<A>(0.0)), pole, y);
    let undefined = A::b_or(A::is_nan(x), A::lt(x, f::<A>(0.0)));
    A::select_f(undefined, nan::<A>(), y)
}

/// This minus a third of the bits gives x^(-1/3) to 3.6 %.
const RCBRT_SEED: u32 = 0x54a1_f000;

/// The cube root.
///
/// - Domain: all of f32; odd. ∛±0 is ±0, ∛±inf is ±inf.
/// - Error: see the table in [the module](super).
/// - Source: as [`rsqrt`]: third-order steps for x^(-1/3), then one Newton step for ∛x with the residual x - c³ in
///   two floats.
#[inline(always)]
pub fn cbrt<A: Arith>(x: A::F) -> A::F {
    let size = A::abs(x);
    // Below 2^-60 the residual would leave the normal range: lift by 2^96 and take 2^32 off.
    let small = A::lt(size, c::<A>(0x2180_0000));
    let lifted = A::select_f(small, A::mul(size, c::<A>(0x6f80_0000)), size);
    let root = cbrt_core::<A>(lifted);
    let root = A::select_f(small, A::mul(root, c::<A>(0x2f80_0000)), root);
    let bits = magnitude::<A>(x);
    let special = A::b_or(A::u_ge(bits, A::u32(0x7f80_0000)), A::u_eq(bits, A::u32(0)));
    A::select_f(special, x, signed_like::<A>(root, x))
}

#[inline(always)]
fn cbrt_core<A: Arith>(x: A::F) -> A::F {
    let third = A::u_mul_hi(A::f_to_bits(x), A::u32(0x5555_5556));
    let seed = A::f_from_bits(A::u_sub(A::u32(RCBRT_SEED), third));
    let y = rcbrt_step::<A>(x, rcbrt_step::<A>(x, seed));
    let square = A::mul(y, y);
    let root = A::mul(x, square);
    let power = A::mul(root, root);
    let lost = A::fma(root, root, A::neg(power));
    let rest = A::fma(A::neg(lost), root, A::fma(A::neg(power), root, x));
    A::fma(rest, A::mul(square, c::<A>(0x3eaa_aaab)), root)
}

/// With e = 1 - x·y³, the root x^(-1/3) is y·(1 + e/3 + 2e²/9 + …).
#[inline(always)]
fn rcbrt_step<A: Arith>(x: A::F, y: A::F) -> A::F {
    let e = A::fma(A::neg(A::mul(x, y)), A::mul(y, y), f::<A>(1.0));
    A::fma(A::mul(y, e), A::fma(e, c::<A>(0x3e63_8e39), c::<A>(0x3eaa_aaab)), y)
}
