//! Hyperbolic functions.

use super::arith::Arith;
use super::exp::{Reduced, exp_parts, expm1_of, reduce};
use super::parts::{at_most, f, flip, keep_zero, poly, power_of_two, reciprocal, scale, sign_bit};

/// (sinh r - r) / r³ in r², on |r| ≤ ln 2 / 2; relative error of sinh 2^-34.3.
const SINH: [u32; 3] = [
    0x3e2a_aaab, // 0.16666667
    0x3c08_87df, // 0.008333175
    0x3951_7188, // 0.00019974087
];

/// (cosh r - 1) / r² in r², likewise; 2^-33.3.
const COSH: [u32; 3] = [
    0x3f00_0000, // 0.5
    0x3d2a_aa73, // 0.04166646
    0x3ab6_a79e, // 0.0013935452
];

/// (tanh x - x) / x³ in x², on |x| ≤ 1; relative error of tanh 2^-27.7.
const TANH: [u32; 7] = [
    0xbeaa_aa9e, // -0.33333296
    0x3e08_85f2, // 0.13332346
    0xbd5c_b11d, // -0.053879846
    0x3cb0_04d3, // 0.021486675
    0xbc02_2ffa, // -0.007946009
    0x3b16_d00e, // 0.0023012194
    0xb9bb_e6a0, // -0.00035839248
];

/// Parts that sinh and cosh share. With x = n · ln 2 + r and a = 2^(n-1), b = 2^(-n-1):
/// sinh x = (a - b) · cosh r + (a + b) · sinh r, and cosh x has a - b and a + b exchanged.
struct Halves<A: Arith> {
    a: A::F,
    b: A::F,
    r: A::F,
    /// sinh r - r
    sinh: A::F,
    /// cosh r - 1
    cosh: A::F,
}

#[inline(always)]
fn halves<A: Arith>(x: A::F) -> Halves<A> {
    let Reduced { n, r, low } = reduce::<A>(x);
    let n = A::f_to_i(n);
    let square = A::mul(r, r);
    let sinh = A::fma(A::mul(r, square), poly::<A>(square, &SINH), low);
    let cosh = A::fma(square, poly::<A>(square, &COSH), A::mul(r, low));
    let a = power_of_two::<A>(A::i_sub(n, A::i32(1)));
    let b = power_of_two::<A>(A::i_sub(A::i32(-1), n));
    Halves { a, b, r, sinh, cosh }
}

/// e^size / 2, for |x| above the range of [`halves`].
#[inline(always)]
fn half_exp<A: Arith>(size: A::F) -> A::F {
    let (y, n) = exp_parts::<A>(at_most::<A>(size, 91.0));
    scale::<A>(y, A::i_sub(n, A::i32(1)))
}

/// The hyperbolic sine.
///
/// - Domain: all of f32; odd. sinh ±0 is ±0; from 89.42 on the result overflows to inf.
/// - Error: see the table in [the module](super).
/// - Source: the addition theorem over the reduction of [`exp`](super::exp), which needs no division and does not
///   cancel near 0; the leading terms are kept in two floats.
#[inline(always)]
pub fn sinh<A: Arith>(x: A::F) -> A::F {
    let size = A::abs(x);
    let Halves { a, b, r, sinh, cosh } = halves::<A>(size);
    let (sum, difference) = (A::add(a, b), A::sub(a, b));
    let lost = A::sub(A::sub(a, difference), b);
    let lead = A::fma(sum, r, difference);
    let rest = A::add(A::fma(sum, r, A::sub(difference, lead)), lost);
    let rest = A::fma(A::sub(b, A::sub(sum, a)), r, rest);
    let common = A::add(lead, A::fma(sum, sinh, A::fma(difference, cosh, rest)));
    let y = A::branch(A::le(size, f::<A>(87.0)), || common, || half_exp::<A>(size));
    keep_zero::<A>(x, flip::<A>(y, sign_bit::<A>(x)))
}

/// The hyperbolic cosine.
///
/// - Domain: all of f32; even. cosh ±0 is 1; from 89.42 on the result overflows to inf.
/// - Error: see the table in [the module](super).
/// - Source: as [`sinh`].
#[inline(always)]
pub fn cosh<A: Arith>(x: A::F) -> A::F {
    let size = A::abs(x);
    let Halves { a, b, r, sinh, cosh } = halves::<A>(size);
    let (sum, difference) = (A::add(a, b), A::sub(a, b));
    let lost = A::add(A::sub(a, sum), b);
    let lead = A::fma(difference, r, sum);
    let rest = A::add(A::fma(difference, r, A::sub(sum, lead)), lost);
    let common = A::add(lead, A::fma(difference, sinh, A::fma(sum, cosh, rest)));
    A::branch(A::le(size, f::<A>(87.0)), || common, || half_exp::<A>(size))
}

/// The hyperbolic tangent.
///
/// - Domain: all of f32; odd. tanh ±0 is ±0, tanh ±inf is ±1.
/// - Error: see the table in [the module](super).
/// - Source: a minimax polynomial up to 1; above that 1 - 2/(e^2x + 1), where the quotient is below 1/4 and its
///   error shrinks accordingly.
#[inline(always)]
pub fn tanh<A: Arith>(x: A::F) -> A::F {
    let size = A::abs(x);
    let square = A::mul(size, size);
    let near = A::fma(A::mul(size, square), poly::<A>(square, &TANH), size);
    // From 9.02 on the result rounds to 1.
    let bounded = at_most::<A>(size, 10.0);
    let (n, p) = expm1_of::<A>(A::add(bounded, bounded));
    let power = power_of_two::<A>(A::f_to_i(n));
    let denominator = A::fma(power, p, A::add(power, f::<A>(1.0)));
    let far = A::fma(f::<A>(-2.0), reciprocal::<A>(denominator), f::<A>(1.0));
    let y = A::select_f(A::gt(size, f::<A>(1.0)), far, near);
    flip::<A>(y, sign_bit::<A>(x))
}
