//! Powers.

use super::arith::Arith;
use super::log::split;
use super::parts::{c, clamp, f, flip, magnitude, nan, poly, reciprocal, scale};

/// 2 / ln 2 and a third of it, in two floats each.
const C1: u32 = 0x4038_aa3b; // 2.88539
const C1_LOW: u32 = 0x3325_7060; // 3.851926e-8
const C3: u32 = 0x3f76_384f; // 0.9617967
const C3_LOW: u32 = 0xb1f1_7f01; // -7.0284618e-9

/// The rest of log2((1 + s) / (1 - s)) / s, divided by s⁴, in s², on s² ≤ 0.0384; error 2^-41.6 of the whole.
const LOG2_TAIL: [u32; 4] = [
    0x3f13_bb61, // 0.5770779
    0x3ed3_0dd7, // 0.41221496
    0x3ea3_a17c, // 0.3195914
    0x3e93_6379, // 0.2878683
];

/// ln 2 in two floats.
const LN2: u32 = 0x3f31_7218; // 0.6931472
const LN2_LOW: u32 = 0xb102_e308; // -1.9046542e-9

/// (2^r - 1 - r ln 2) / r² on |r| ≤ 1/2; relative error of 2^r 2^-28.2.
const EXP2: [u32; 5] = [
    0x3e75_fdee, // 0.24022648
    0x3d63_57c1, // 0.05550361
    0x3c1d_96d3, // 0.009618479
    0x3aaf_8442, // 0.0013390856
    0x3920_dd83, // 0.00015341309
];

/// log2(2^k · (1 + m)) as the unevaluated sum of two floats, with a relative error of at most 2^-31.5, for m near 0.35; elsewhere it is mostly smaller.
#[inline(always)]
fn log2_pair<A: Arith>(k: A::F, m: A::F) -> (A::F, A::F) {
    // s = m / (m + 2) and the sum m + 2, both in two floats
    let two = f::<A>(2.0);
    let sum = A::add(m, two);
    let sum_low = A::sub(m, A::sub(sum, two));
    let inverse = reciprocal::<A>(sum);
    let s = A::mul(m, inverse);
    let rest = A::fma(A::neg(s), sum_low, A::fma(A::neg(s), sum, m));
    let s_low = A::mul(rest, inverse);
    // the square of s, in two floats
    let w = A::mul(s, s);
    let w_low = A::fma(A::mul(s, f::<A>(2.0)), s_low, A::fma(s, s, A::neg(w)));
    // v + v_low = 2/ln 2 · (1 + w/3 + w²/5 + …)
    let v = A::fma(w, c::<A>(C3), c::<A>(C1));
    let v_low = A::fma(w, c::<A>(C3), A::sub(c::<A>(C1), v));
    let tail = A::fma(w, c::<A>(C3_LOW), A::fma(w_low, c::<A>(C3), c::<A>(C1_LOW)));
    let tail = A::fma(A::mul(w, w), poly::<A>(w, &LOG2_TAIL), tail);
    let v_low = A::add(v_low, tail);
    // k + (s + s_low) · (v + v_low). The rounding of `kept` is taken back exactly, by Sterbenz's lemma.
    let hi = A::fma(s, v, k);
    let kept = A::sub(hi, k);
    let lost = A::sub(A::add(kept, k), hi);
    let low = A::add(A::fma(s, v, A::neg(kept)), lost);
    (hi, A::fma(s_low, v, A::fma(s, v_low, low)))
}

/// 2^(z + low), for finite or infinite z.
#[inline(always)]
fn exp2_pair<A: Arith>(z: A::F, low: A::F) -> A::F {
    let bounded = clamp::<A>(z, -160.0, 130.0);
    let low = A::select_f(A::eq(z, bounded), low, f::<A>(0.0));
    let n = A::rint(bounded);
    let fraction = A::sub(bounded, n);
    let r = A::add(fraction, low);
    let low = A::add(A::sub(fraction, r), low);
    let one = f::<A>(1.0);
    let y = A::fma(r, c::<A>(LN2), one);
    let lost = A::fma(r, c::<A>(LN2), A::sub(one, y));
    let lost = A::fma(low, c::<A>(LN2), A::fma(r, c::<A>(LN2_LOW), lost));
    let y = A::add(y, A::fma(A::mul(r, r), poly::<A>(r, &EXP2), lost));
    scale::<A>(y, A::f_to_i(n))
}

/// (2^k · (1 + m))^y.
#[inline(always)]
fn power<A: Arith>(k: A::F, m: A::F, y: A::F) -> A::F {
    let (hi, low) = log2_pair::<A>(k, m);
    // The product comes out of an fma, so that no compiler can contract it into what follows.
    let z = A::fma(y, hi, A::mul(y, low));
    let z_low = A::fma(y, low, A::fma(y, hi, A::neg(z)));
    exp2_pair::<A>(z, z_low)
}

/// The power x^y.
///
/// - Domain: all of f32². x^±0 = 1^y = 1 for every x and y, NaN included; otherwise a NaN argument gives NaN. A
///   negative finite x gives NaN unless y is an integer, and the sign of x where y is odd. (±0)^y is 0 or ±0 for
///   y > 0, inf or ±inf for y < 0, the sign where y is an odd integer, and (±inf)^y is the other way round.
///   (-1)^±inf is 1; otherwise |x|^±inf is 0 or inf. This is table 9.1 of IEEE 754-2019 and Annex F of C.
/// - Error: see the table in [the module](super).
/// - Source: 2^(y · log2 x) with the logarithm and the product in two floats (Cody & Waite 1980, chapter 7, for the
///   need of it; the area hyperbolic tangent series in the arithmetic of Dekker 1971).
#[inline(always)]
pub fn pow<A: Arith>(x: A::F, y: A::F) -> A::F {
    let (k, m) = split::<A>(x);
    let common = power::<A>(k, m, y);
    let above = A::u_sub(A::f_to_bits(x), A::u32(1 << 23));
    let normal = A::u_lt(above, A::u32(254 << 23));
    let finite = A::u_lt(magnitude::<A>(y), A::u32(0x7f80_0000));
    A::branch(A::b_and(normal, finite), || common, || pow_special::<A>(x, y))
}

/// Any x and y; the size from [`power`], the exceptional cases from the table.
#[inline(always)]
fn pow_special<A: Arith>(x: A::F, y: A::F) -> A::F {
    let (zero, one, inf) = (f::<A>(0.0), f::<A>(1.0), f::<A>(f32::INFINITY));
    let size = A::abs(x);
    let small = A::lt(size, f::<A>(f32::MIN_POSITIVE));
    let lifted = A::select_f(small, A::mul(size, f::<A>(16_777_216.0)), size);
    let (k, m) = split::<A>(lifted);
    let k = A::select_f(small, A::sub(k, f::<A>(24.0)), k);
    let result = power::<A>(k, m, y);

    // The ends: |x| is 0 or inf, or y is infinite.
    let to_inf = A::b_or(A::b_and(A::gt(size, one), A::gt(y, zero)), A::b_and(A::lt(size, one), A::lt(y, zero)));
    let x_end = A::b_or(A::eq(size, zero), A::eq(size, inf));
    let end = A::b_or(x_end, A::eq(A::abs(y), inf));
    let result = A::select_f(end, A::select_f(to_inf, inf, zero), result);

    let half = A::mul(y, f::<A>(0.5));
    let integer = A::eq(A::trunc(y), y);
    let odd = A::b_and(integer, A::ne(A::trunc(half), half));
    let negative = A::u_and(A::f_to_bits(x), A::u32(0x8000_0000));
    let result = flip::<A>(result, A::select_u(odd, negative, A::u32(0)));
    let inside = A::b_and(A::lt(x, zero), A::lt(size, inf));
    let undefined = A::b_and(inside, A::b_not(integer));
    let undefined = A::b_or(undefined, A::b_or(A::is_nan(x), A::is_nan(y)));
    let result = A::select_f(undefined, nan::<A>(), result);
    let unit = A::b_and(A::eq(x, f::<A>(-1.0)), A::eq(A::abs(y), inf));
    let unit = A::b_or(unit, A::b_or(A::eq(x, one), A::eq(y, zero)));
    A::select_f(unit, one, result)
}
