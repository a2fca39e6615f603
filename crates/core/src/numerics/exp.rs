//! Exponential functions.

use super::arith::Arith;
use super::parts::{c, clamp, f, keep_zero, poly, power_of_two, scale};

pub(super) const LOG2_E: u32 = 0x3fb8_aa3b; // 1.442695
/// ln 2 in two floats; the first has 15 bits, so that its products with integers up to 2^9 are exact.
pub(super) const LN2_HI: u32 = 0x3f31_7200; // 0.69314575
pub(super) const LN2_LO: u32 = 0x35bf_be8e; // 1.4286068e-6

/// (e^r - 1 - r) / r² on |r| ≤ ln 2 / 2, minimax for the relative error of e^r (2^-28.2).
const EXP: [u32; 5] = [
    0x3eff_fffe, // 0.49999994
    0x3e2a_aa46, // 0.16666517
    0x3d2a_ac2c, // 0.041668102
    0x3c09_1ed4, // 0.008369166
    0x3ab5_60b8, // 0.0013838029
];

/// (2^r - 1) / r on |r| ≤ 1/2, minimax for the relative error of 2^r (2^-27.5).
const EXP2: [u32; 6] = [
    0x3f31_7219, // 0.69314724
    0x3e75_fdf3, // 0.24022655
    0x3d63_56d4, // 0.055502728
    0x3c1d_90e0, // 0.00961706
    0x3aaf_de81, // 0.0013417752
    0x3925_f5b5, // 0.0001582716
];

/// (e^r - 1 - r - r²/2) / r³ on |r| ≤ ln 2 / 2; relative error of e^r - 1 2^-31.0.
const EXPM1: [u32; 5] = [
    0x3e2a_aaaa, // 0.16666666
    0x3d2a_aa75, // 0.041666467
    0x3c08_89d6, // 0.008333644
    0x3ab6_a63f, // 0.0013935043
    0x394e_2d7c, // 0.00019662635
];

/// x = n · ln 2 + r + low with |r| ≤ ln 2 / 2 and a little, |low| at most half an ULP of r (Cody & Waite's two-part
/// reduction; the first step is exact).
pub(super) struct Reduced<A: Arith> {
    pub(super) n: A::F,
    pub(super) r: A::F,
    pub(super) low: A::F,
}

#[inline(always)]
pub(super) fn reduce<A: Arith>(x: A::F) -> Reduced<A> {
    let n = A::rint(A::mul(x, c::<A>(LOG2_E)));
    let first = A::fma(A::neg(n), c::<A>(LN2_HI), x);
    let r = A::fma(A::neg(n), c::<A>(LN2_LO), first);
    let low = A::fma(A::neg(n), c::<A>(LN2_LO), A::sub(first, r));
    Reduced { n, r, low }
}

/// e^x as (y, n) with e^x = y · 2^n.
#[inline(always)]
pub(super) fn exp_parts<A: Arith>(x: A::F) -> (A::F, A::I) {
    let Reduced { n, r, .. } = reduce::<A>(x);
    let tail = A::fma(r, poly::<A>(r, &EXP), f::<A>(1.0));
    (A::fma(r, tail, f::<A>(1.0)), A::f_to_i(n))
}

/// y · 2^n where the result is known to be normal: the exponent field is moved.
#[inline(always)]
fn shift_exponent<A: Arith>(y: A::F, n: A::I) -> A::F {
    let moved = A::i_add(A::u_to_i(A::f_to_bits(y)), A::i_shl(n, A::u32(23)));
    A::f_from_bits(A::i_to_u(moved))
}

/// The exponential e^x.
///
/// - Domain: all of f32. e^-inf is 0, e^inf is inf; above 88.72 the result overflows to inf, below -103.97 it is 0.
/// - Error: see the table in [the module](super); subnormal results included.
/// - Source: Cody & Waite, *Software Manual for the Elementary Functions*, 1980, chapter 6, with a minimax polynomial
///   in place of their rational function.
#[inline(always)]
pub fn exp<A: Arith>(x: A::F) -> A::F {
    let (y, n) = exp_parts::<A>(x);
    let common = shift_exponent::<A>(y, n);
    let in_range = A::le(A::abs(x), f::<A>(87.0));
    A::branch(in_range, || common, || exp_far::<A>(x))
}

#[inline(always)]
pub(super) fn exp_far<A: Arith>(x: A::F) -> A::F {
    let (y, n) = exp_parts::<A>(clamp::<A>(x, -110.0, 90.0));
    scale::<A>(y, n)
}

/// The power 2^x.
///
/// - Domain: all of f32. 2^-inf is 0, 2^inf is inf; from 128 on the result overflows to inf, below -150 it is 0.
///   Exact where x is an integer.
/// - Error: see the table in [the module](super).
/// - Source: as [`exp`]; the reduction x - rint(x) is exact.
#[inline(always)]
pub fn exp2<A: Arith>(x: A::F) -> A::F {
    let (y, n) = exp2_parts::<A>(x);
    let common = shift_exponent::<A>(y, n);
    let in_range = A::le(A::abs(x), f::<A>(125.0));
    A::branch(
        in_range,
        || common,
        || {
            let (y, n) = exp2_parts::<A>(clamp::<A>(x, -160.0, 130.0));
            scale::<A>(y, n)
        },
    )
}

#[inline(always)]
fn exp2_parts<A: Arith>(x: A::F) -> (A::F, A::I) {
    let n = A::rint(x);
    let r = A::sub(x, n);
    (A::fma(r, poly::<A>(r, &EXP2), f::<A>(1.0)), A::f_to_i(n))
}

/// e^x - 1, without cancellation near 0.
///
/// - Domain: all of f32. expm1 ±0 is ±0, expm1 -inf is -1; above 88.72 the result overflows to inf.
/// - Error: see the table in [the module](super).
/// - Source: reduction as [`exp`]; 2^n · r + (2^n - 1) is kept in two floats.
#[inline(always)]
pub fn expm1<A: Arith>(x: A::F) -> A::F {
    let common = expm1_near::<A>(x);
    let in_range = A::le(A::abs(x), f::<A>(87.0));
    A::branch(in_range, || common, || A::select_f(A::lt(x, f::<A>(0.0)), f::<A>(-1.0), exp_far::<A>(x)))
}

/// n and e^x · 2^-n - 1, rounded once.
#[inline(always)]
pub(super) fn expm1_of<A: Arith>(x: A::F) -> (A::F, A::F) {
    let Reduced { n, r, low } = reduce::<A>(x);
    (n, A::add(r, expm1_tail::<A>(r, low)))
}

/// e^(r + low) - 1 - r.
#[inline(always)]
fn expm1_tail<A: Arith>(r: A::F, low: A::F) -> A::F {
    A::fma(A::mul(r, r), A::fma(r, poly::<A>(r, &EXPM1), f::<A>(0.5)), low)
}

#[inline(always)]
fn expm1_near<A: Arith>(x: A::F) -> A::F {
    let Reduced { n, r, low } = reduce::<A>(x);
    let one = f::<A>(1.0);
    let t = expm1_tail::<A>(r, low);
    let power = power_of_two::<A>(A::f_to_i(n));
    let base = A::sub(power, one);
    let lost = A::sub(A::sub(power, base), one);
    let y = A::fma(power, r, base);
    let rest = A::fma(power, r, A::sub(base, y));
    keep_zero::<A>(x, A::add(y, A::fma(power, t, A::add(rest, lost))))
}
