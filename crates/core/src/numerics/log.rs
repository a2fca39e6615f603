//! Logarithms.

use super::arith::Arith;
use super::exp::{LN2_HI, LN2_LO, LOG2_E};
use super::parts::{c, f, inf, keep_zero, nan, poly, power_of_two};

/// (ln(1 + f) - f) / f² on 0.673 ≤ 1 + f ≤ 1.347, near minimax for the relative error of ln(1 + f) (2^-27.2).
const LOG: [u32; 9] = [
    0xbf00_0000, // -0.5
    0x3eaa_aa82, // 0.33333212
    0xbe80_0021, // -0.25000098
    0x3e4c_e875, // 0.2001055
    0xbe2a_a9c0, // -0.16666317
    0x3e0f_694c, // 0.14005011
    0xbdfd_e3bf, // -0.12396955
    0x3e0f_2b32, // 0.13981321
    0xbdf3_79e1, // -0.11888481
];

/// (log2(1 + f) - f · log2 e) / f², likewise; 2^-27.7.
const LOG2: [u32; 9] = [
    0xbf38_aa3b, // -0.7213475
    0x3ef6_3814, // 0.4808966
    0xbeb8_aa6b, // -0.3606752
    0x3e93_cf56, // 0.28869122
    0xbe76_36fc, // -0.24044412
    0x3e4e_e617, // 0.2020496
    0xbe37_2485, // -0.17885025
    0x3e4e_8c7f, // 0.20170783
    0xbe2f_a181, // -0.17151453
];

/// (log10(1 + f) - f · log10 e) / f², likewise; 2^-26.5.
const LOG10: [u32; 9] = [
    0xbe5e_5bd9, // -0.21714725
    0x3e14_3d1b, // 0.14476435
    0xbdde_5c4b, // -0.10857447
    0x3db1_fa30, // 0.086902976
    0xbd94_3e6b, // -0.07238468
    0x3d79_185a, // 0.06081424
    0xbd5b_2111, // -0.05349833
    0x3d79_a891, // 0.060951773
    0xbd5d_cc1b, // -0.05414973
];

/// log2 e - LOG2_E.
const LOG2_E_LOW: u32 = 0x32a5_7060; // 1.925963e-8
/// log10 e in two floats.
const LOG10_E: u32 = 0x3ede_5bd9; // 0.4342945
const LOG10_E_LOW: u32 = 0xb22d_91af; // -1.010305e-8
/// log10 2 in two floats; the first has 12 bits.
const LOG10_2_HI: u32 = 0x3e9a_2000; // 0.30102539
const LOG10_2_LO: u32 = 0x369a_84fc; // 4.605039e-6

/// Mantissas are taken from here, 0.6730957, to its double: then |f · log2 e| < 1/2, and the two-float sums in [`log2`]
/// and [`log10`] are exact.
const LOWEST: u32 = 0x3f2c_5000;

/// x = 2^k · (1 + f) with 0.673 ≤ 1 + f < 1.347, for normal x > 0. Returns k (as a float) and f, both exact.
#[inline(always)]
pub(super) fn split<A: Arith>(x: A::F) -> (A::F, A::F) {
    let bits = A::u_to_i(A::f_to_bits(x));
    let above = A::i_sub(bits, A::i32(LOWEST.cast_signed()));
    let k = A::i_shr(above, A::u32(23));
    let m = A::f_from_bits(A::i_to_u(A::i_sub(bits, A::i_shl(k, A::u32(23)))));
    (A::i_to_f(k), A::sub(m, f::<A>(1.0)))
}

/// The frame of every logarithm: `core(k, f)` gives the result for 2^k · (1 + f).
#[inline(always)]
fn by_parts<A: Arith>(x: A::F, core: impl Fn(A::F, A::F) -> A::F) -> A::F {
    let (k, m) = split::<A>(x);
    let common = core(k, m);
    let above = A::u_sub(A::f_to_bits(x), A::u32(1 << 23));
    let normal = A::u_lt(above, A::u32(254 << 23));
    A::branch(
        normal,
        || common,
        || {
            // Subnormals are lifted by 2^24.
            let (k, m) = split::<A>(A::mul(x, f::<A>(16_777_216.0)));
            let y = core(A::sub(k, f::<A>(24.0)), m);
            let y = A::select_f(A::eq(x, inf::<A>()), x, y);
            let y = A::select_f(A::eq(x, f::<A>(0.0)), f::<A>(f32::NEG_INFINITY), y);
            let undefined = A::b_or(A::is_nan(x), A::lt(x, f::<A>(0.0)));
            A::select_f(undefined, nan::<A>(), y)
        },
    )
}

/// The natural logarithm ln x.
///
/// - Domain: x ≥ 0. ln ±0 is -inf, ln inf is inf, ln 1 is +0, and x < 0 gives NaN.
/// - Error: see the table in [the module](super); subnormal x included.
/// - Source: the reduction of Cody & Waite 1980, chapter 5; k · ln 2 + f is kept in two floats (Dekker's fast
///   two-sum), so that cancellation at k = ±1 costs nothing.
#[inline(always)]
pub fn log<A: Arith>(x: A::F) -> A::F {
    by_parts::<A>(x, |k, m| {
        let (s, t) = log_parts::<A>(k, m);
        A::add(s, t)
    })
}

/// k · ln 2 + ln(1 + m) as the unevaluated sum of two floats.
#[inline(always)]
fn log_parts<A: Arith>(k: A::F, m: A::F) -> (A::F, A::F) {
    let (ln2_hi, ln2_lo) = (c::<A>(LN2_HI), c::<A>(LN2_LO));
    let s = A::fma(k, ln2_hi, m);
    let lost = A::sub(m, A::fma(A::neg(k), ln2_hi, s));
    let q = poly::<A>(m, &LOG);
    let t = A::fma(A::mul(m, m), q, A::fma(k, ln2_lo, lost));
    (s, t)
}

/// The binary logarithm log2 x.
///
/// - Domain: as [`log`]. Exact where x is a power of two.
/// - Error: see the table in [the module](super).
/// - Source: as [`log`], with log2 e in two floats.
#[inline(always)]
pub fn log2<A: Arith>(x: A::F) -> A::F {
    by_parts::<A>(x, |k, m| {
        let s = A::fma(m, c::<A>(LOG2_E), k);
        let lost = A::fma(m, c::<A>(LOG2_E), A::sub(k, s));
        let lost = A::fma(m, c::<A>(LOG2_E_LOW), lost);
        A::add(s, A::fma(A::mul(m, m), poly::<A>(m, &LOG2), lost))
    })
}

/// The decimal logarithm log10 x.
///
/// - Domain: as [`log`].
/// - Error: see the table in [the module](super).
/// - Source: as [`log`], with log10 e and log10 2 in two floats.
#[inline(always)]
pub fn log10<A: Arith>(x: A::F) -> A::F {
    by_parts::<A>(x, |k, m| {
        let s = A::fma(m, c::<A>(LOG10_E), A::mul(k, c::<A>(LOG10_2_HI)));
        let lost = A::fma(m, c::<A>(LOG10_E), A::fma(k, c::<A>(LOG10_2_HI), A::neg(s)));
        let lost = A::fma(m, c::<A>(LOG10_E_LOW), lost);
        let lost = A::fma(k, c::<A>(LOG10_2_LO), lost);
        A::add(s, A::fma(A::mul(m, m), poly::<A>(m, &LOG10), lost))
    })
}

/// ln(1 + x), without cancellation near 0.
///
/// - Domain: x ≥ -1. log1p ±0 is ±0, log1p -1 is -inf, log1p inf is inf, and x < -1 gives NaN.
/// - Error: see the table in [the module](super).
/// - Source: as [`log`]; (1 + x) · 2^-k - 1 is kept in two floats (Knuth's two-sum).
#[inline(always)]
pub fn log1p<A: Arith>(x: A::F) -> A::F {
    let one = f::<A>(1.0);
    let common = log1p_near::<A>(x);
    let near = A::b_and(A::gt(x, f::<A>(-1.0)), A::lt(x, f::<A>(1.0e18)));
    A::branch(near, || common, || log::<A>(A::add(x, one)))
}

#[inline(always)]
fn log1p_near<A: Arith>(x: A::F) -> A::F {
    let one = f::<A>(1.0);
    let (k, _) = split::<A>(A::add(x, one));
    let unit = power_of_two::<A>(A::f_to_i(A::neg(k)));
    // m + low = x · 2^-k + (2^-k - 1); the product is exact.
    let base = A::sub(unit, one);
    let m = A::fma(x, unit, base);
    let from_x = A::sub(m, base);
    let low = A::add(A::fma(x, unit, A::neg(from_x)), A::sub(base, A::sub(m, from_x)));
    let (s, t) = log_parts::<A>(k, m);
    // The derivative of the logarithm is 1/(1 + m), near enough 1 - m + m².
    let slope = A::fma(m, A::sub(m, one), one);
    keep_zero::<A>(x, A::add(s, A::fma(low, slope, t)))
}
