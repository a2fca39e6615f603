//! Correctly rounded division out of multiplications, for platforms whose own division is not.

use super::arith::Arith;
use super::parts::{exponent, f, magnitude, nan, reciprocal, signed_like};

/// Operands with exponents in -62..=61 leave the quotient, and the residuals of the correction steps, normal.
const SAFE_LOW: u32 = 65 << 23;
const SAFE_SPAN: u32 = 124 << 23;

/// `a / b`, correctly rounded for all inputs, without a division instruction.
///
/// - Domain: all of f32. Special values as IEEE 754: x/0 is ±inf, 0/0 and inf/inf are NaN, x/inf is ±0.
/// - Error: at most 0.5 ULP, subnormal operands and results included; the bits of the hardware's division.
/// - Source: Newton's iteration of third order for the reciprocal, then Markstein's correction: with y the rounded
///   reciprocal and q within an ULP of the quotient, `fma(fma(-q, b, a), y, q)` is the rounded quotient (Markstein,
///   *Computation of elementary functions on the IBM RISC System/6000 processor*, IBM J. R&D 34(1), 1990; Muller et
///   al., *Handbook of Floating-Point Arithmetic*, 2nd ed. 2018, section 4.7). That the reciprocal is rounded was
///   checked for every mantissa.
#[inline(always)]
pub fn soft_div<A: Arith>(a: A::F, b: A::F) -> A::F {
    let safe = A::b_and(in_safe_range::<A>(a), in_safe_range::<A>(b));
    let common = div_core::<A>(a, b);
    A::branch(safe, || common, || div_anywhere::<A>(a, b))
}

#[inline(always)]
fn in_safe_range<A: Arith>(x: A::F) -> A::B {
    let above = A::u_sub(magnitude::<A>(x), A::u32(SAFE_LOW));
    A::u_lt(above, A::u32(SAFE_SPAN))
}

#[inline(always)]
fn div_core<A: Arith>(a: A::F, b: A::F) -> A::F {
    div_from::<A>(a, b, soft_reciprocal::<A>(b))
}

/// `1 / b`, correctly rounded for 2^-62 ≤ |b| < 2^62: what [`soft_div`] rests on there.
#[inline(always)]
pub(crate) fn soft_reciprocal<A: Arith>(b: A::F) -> A::F {
    refined::<A>(b, reciprocal::<A>(b))
}

/// One step of Newton's iteration for 1/b.
#[inline(always)]
pub(super) fn refined<A: Arith>(b: A::F, y: A::F) -> A::F {
    A::fma(y, A::fma(A::neg(b), y, f::<A>(1.0)), y)
}

/// The quotient from the rounded reciprocal of b.
#[inline(always)]
pub(super) fn div_from<A: Arith>(a: A::F, b: A::F, y: A::F) -> A::F {
    let q = A::mul(a, y);
    let q = A::fma(A::fma(A::neg(q), b, a), y, q);
    A::fma(A::fma(A::neg(q), b, a), y, q)
}

/// All operands: divides the mantissas, then rounds the quotient once, in integers, where it lands.
#[inline(always)]
pub(crate) fn div_anywhere<A: Arith>(a: A::F, b: A::F) -> A::F {
    let (ma, ea) = normalised::<A>(a);
    let (mb, eb) = normalised::<A>(b);
    let q = div_core::<A>(ma, mb);
    let rest = A::fma(A::neg(q), mb, ma);
    let e = A::i_add(exponent::<A>(q), A::i_sub(ea, eb));
    let finite = signed_like::<A>(assemble::<A>(q, rest, e), A::mul(sign_of::<A>(a), sign_of::<A>(b)));
    special_quotients::<A>(a, b, finite)
}

/// ±1.
#[inline(always)]
fn sign_of<A: Arith>(x: A::F) -> A::F {
    signed_like::<A>(f::<A>(1.0), x)
}

/// |x| as a mantissa in [1, 2) and the biased exponent it had, or would have had below the normal range.
#[inline(always)]
fn normalised<A: Arith>(x: A::F) -> (A::F, A::I) {
    let size = A::abs(x);
    let small = A::lt(size, f::<A>(f32::MIN_POSITIVE));
    let scaled = A::select_f(small, A::mul(size, f::<A>(16_777_216.0)), size);
    let e = A::i_sub(exponent::<A>(scaled), A::select_i(small, A::i32(24), A::i32(0)));
    let mantissa = A::u_and(A::f_to_bits(scaled), A::u32(0x007f_ffff));
    (A::f_from_bits(A::u_or(mantissa, A::u32(0x3f80_0000))), e)
}

/// The float nearest to (mantissa of q, nudged by the sign of `rest`) · 2^(e - 127 - 23).
///
/// Two bits below the mantissa hold the nudge: they decide every rounding, as a sticky bit does.
#[inline(always)]
fn assemble<A: Arith>(q: A::F, rest: A::F, e: A::I) -> A::F {
    let zero = f::<A>(0.0);
    let mantissa = A::u_or(A::u_and(A::f_to_bits(q), A::u32(0x007f_ffff)), A::u32(0x0080_0000));
    let up = A::select_u(A::gt(rest, zero), A::u32(1), A::u32(0));
    let down = A::select_u(A::lt(rest, zero), A::u32(1), A::u32(0));
    let wide = A::u_sub(A::u_add(A::u_shl(mantissa, A::u32(2)), up), down);
    let normal = A::i_ge(e, A::i32(1));
    let below = A::select_i(normal, A::i32(2), A::i_sub(A::i32(3), e));
    let shift = A::i_to_u(A::select_i(A::i_lt(below, A::i32(31)), below, A::i32(31)));
    let half = A::u_shl(A::u32(1), A::u_sub(shift, A::u32(1)));
    let odd = A::u_and(A::u_shr(wide, shift), A::u32(1));
    let rounded = A::u_shr(A::u_add(wide, A::u_add(A::u_sub(half, A::u32(1)), odd)), shift);
    let offset = A::i_to_u(A::i_shl(A::i_sub(e, A::i32(1)), A::u32(23)));
    let bits = A::select_u(normal, A::u_add(rounded, offset), rounded);
    A::f_from_bits(A::select_u(A::i_ge(e, A::i32(255)), A::u32(0x7f80_0000), bits))
}

#[inline(always)]
fn special_quotients<A: Arith>(a: A::F, b: A::F, finite: A::F) -> A::F {
    let (ua, ub) = (magnitude::<A>(a), magnitude::<A>(b));
    let (zero, inf) = (A::u32(0), A::u32(0x7f80_0000));
    let (a_zero, b_zero) = (A::u_eq(ua, zero), A::u_eq(ub, zero));
    let (a_inf, b_inf) = (A::u_eq(ua, inf), A::u_eq(ub, inf));
    let with_sign = |size: f32| signed_like::<A>(f::<A>(size), A::mul(sign_of::<A>(a), sign_of::<A>(b)));
    let y = A::select_f(A::b_or(a_zero, b_inf), with_sign(0.0), finite);
    let y = A::select_f(A::b_or(a_inf, b_zero), with_sign(f32::INFINITY), y);
    let undefined = A::b_or(A::b_and(a_zero, b_zero), A::b_and(a_inf, b_inf));
    let undefined = A::b_or(undefined, A::b_or(A::is_nan(a), A::is_nan(b)));
    A::select_f(undefined, nan::<A>(), y)
}
