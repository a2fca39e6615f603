//! Small parts that several functions share.

use super::arith::Arith;

/// A literal.
#[inline(always)]
pub(super) fn f<A: Arith>(v: f32) -> A::F {
    A::f32(v)
}

/// A literal by its bits.
#[inline(always)]
pub(super) fn c<A: Arith>(bits: u32) -> A::F {
    A::f32(f32::from_bits(bits))
}

#[inline(always)]
pub(super) fn nan<A: Arith>() -> A::F {
    c::<A>(0x7fc0_0000)
}

#[inline(always)]
pub(super) fn inf<A: Arith>() -> A::F {
    c::<A>(0x7f80_0000)
}

/// The bits of |x|.
#[inline(always)]
pub(super) fn magnitude<A: Arith>(x: A::F) -> A::U {
    A::u_and(A::f_to_bits(x), A::u32(0x7fff_ffff))
}

/// The biased exponent field of |x|.
#[inline(always)]
pub(super) fn exponent<A: Arith>(x: A::F) -> A::I {
    A::u_to_i(A::u_shr(magnitude::<A>(x), A::u32(23)))
}

/// The sign bit of x, alone.
#[inline(always)]
pub(super) fn sign_bit<A: Arith>(x: A::F) -> A::U {
    A::u_and(A::f_to_bits(x), A::u32(0x8000_0000))
}

/// x with its sign flipped where `sign` has the top bit set.
#[inline(always)]
pub(super) fn flip<A: Arith>(x: A::F, sign: A::U) -> A::F {
    A::f_from_bits(A::u_xor(A::f_to_bits(x), sign))
}

/// `size`, which has no sign, with the sign of `x`.
#[inline(always)]
pub(super) fn signed_like<A: Arith>(size: A::F, x: A::F) -> A::F {
    flip::<A>(size, sign_bit::<A>(x))
}

/// 2^n for -126 ≤ n ≤ 127.
#[inline(always)]
pub(super) fn power_of_two<A: Arith>(n: A::I) -> A::F {
    A::f_from_bits(A::i_to_u(A::i_shl(A::i_add(n, A::i32(127)), A::u32(23))))
}

/// y · 2^n with one rounding into the subnormal range, for 2^-2 < y < 2^2 and -252 ≤ n ≤ 254: the first factor keeps y
/// normal, so only the second one rounds.
#[inline(always)]
pub(super) fn scale<A: Arith>(y: A::F, n: A::I) -> A::F {
    let half = A::i_shr(n, A::u32(1));
    let rest = A::i_sub(n, half);
    A::mul(A::mul(y, power_of_two::<A>(half)), power_of_two::<A>(rest))
}

/// Horner's rule; the coefficients are bits, lowest degree first.
#[inline(always)]
pub(super) fn poly<A: Arith>(x: A::F, coefficients: &[u32]) -> A::F {
    let mut descending = coefficients.iter().rev();
    let top = c::<A>(descending.next().copied().unwrap_or(0));
    descending.fold(top, |sum, &bits| A::fma(sum, x, c::<A>(bits)))
}

/// This minus the bits of b is 1/b, or too large by up to 12.5 %: the exponent is negated, the mantissa is approximated
/// by a chord. A seed that is never too small makes the iteration approach from above, and that decides the one close
/// case: without it, the reciprocal of the mantissa of all ones ends on the wrong side of a tie.
const RECIPROCAL_SEED: u32 = 0x7f00_0000;

/// 1/b within an ULP, for 2^-120 < |b| < 2^120: two steps of Newton's iteration of third order, y·(1 + e + e²) with
/// e = 1 - b·y.
#[inline(always)]
pub(super) fn reciprocal<A: Arith>(b: A::F) -> A::F {
    // Subtracting the sign bit flips it, so the seed has the sign of b.
    let y = A::f_from_bits(A::u_sub(A::u32(RECIPROCAL_SEED), A::f_to_bits(b)));
    (0..2).fold(y, |y, _| {
        let e = A::fma(A::neg(b), y, f::<A>(1.0));
        A::fma(y, A::fma(e, e, e), y)
    })
}

/// x limited to at most `high`; NaN stays.
#[inline(always)]
pub(super) fn at_most<A: Arith>(x: A::F, high: f32) -> A::F {
    A::select_f(A::gt(x, f::<A>(high)), f::<A>(high), x)
}

/// x limited to [low, high]; NaN stays.
#[inline(always)]
pub(super) fn clamp<A: Arith>(x: A::F, low: f32, high: f32) -> A::F {
    at_most::<A>(A::select_f(A::lt(x, f::<A>(low)), f::<A>(low), x), high)
}

/// `value` at zeros of `x`, where it would lose the sign: x itself there.
#[inline(always)]
pub(super) fn keep_zero<A: Arith>(x: A::F, value: A::F) -> A::F {
    A::select_f(A::eq(x, f::<A>(0.0)), x, value)
}
