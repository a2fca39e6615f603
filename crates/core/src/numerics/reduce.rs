//! Angles reduced to a quadrant and a remainder, for any finite argument.

use super::arith::Arith;
use super::parts::{c, f};

const TWO_OVER_PI: u32 = 0x3f22_f983; // 0.63661975
/// π/2 = P1 + P2 + P3 (+ 8.3e-20). P1 has 24 bits: `fma(-n, P1, x)` is exact, since n is the nearest integer. P2 has
/// 10 bits: its products with n < 2^14 are exact, which the rounding error of the second step needs.
const P1: u32 = 0x3fc9_0fdb; // 1.5707964
const P2: u32 = 0xb33b_c000; // -4.3713953e-8
const P3: u32 = 0x2c34_611a; // 2.563344e-12
/// π/2 - P1, rounded.
const P1_LOW: u32 = 0xb33b_bd2e; // -4.371139e-8

/// 1.5 · 2^23, whose last bits are zero.
const ROUNDING: f32 = 12_582_912.0;

/// Up to here n · P2 is exact and the unused rest of π/2 does not show in the result.
const LARGE: f32 = 8192.0;

/// 2/π in binary, after a word of zeros for the digits before the point.
const TWO_OVER_PI_BITS: [u32; 8] = [0, 0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041, 0xfe51_63ab];

/// A reduced angle: |x| = quadrant · π/2 + hi + low with |hi| ≤ π/4 and a little, |low| far below |hi| where that is
/// not tiny. The quadrant counts modulo 4.
pub(super) struct Angle<A: Arith> {
    pub(super) hi: A::F,
    pub(super) low: A::F,
    pub(super) quadrant: A::U,
}

/// Cody & Waite's reduction with three parts of π/2, for |x| ≤ LARGE.
#[inline(always)]
pub(super) fn reduce_near<A: Arith>(size: A::F) -> Angle<A> {
    // In [2^23, 2^24) floats are whole numbers: adding the constant rounds, and leaves n in the low bits. Cheaper than two
    // conversions.
    let shifted = A::fma(size, c::<A>(TWO_OVER_PI), f::<A>(ROUNDING));
    let n = A::sub(shifted, f::<A>(ROUNDING));
    let minus_n = A::neg(n);
    let first = A::fma(minus_n, c::<A>(P1), size);
    let hi = A::fma(minus_n, c::<A>(P2), first);
    let lost = A::fma(minus_n, c::<A>(P2), A::sub(first, hi));
    Angle { hi, low: A::fma(minus_n, c::<A>(P3), lost), quadrant: A::f_to_bits(shifted) }
}

#[inline(always)]
pub(super) fn is_near<A: Arith>(size: A::F) -> A::B {
    A::le(size, f::<A>(LARGE))
}

/// Payne & Hanek's reduction for any larger |x|: the mantissa times 96 bits of 2/π, of which the bits worth
/// multiples of 4 are left out, gives the quadrant and 62 bits of the fraction.
#[inline(always)]
pub(super) fn reduce_far<A: Arith>(size: A::F) -> Angle<A> {
    let bits = A::f_to_bits(size);
    let mantissa = A::u_or(A::u_and(bits, A::u32(0x007f_ffff)), A::u32(0x0080_0000));
    let [w2, w1, w0] = two_over_pi_window::<A>(A::u_shr(bits, A::u32(23)));
    let middle = A::u_mul(mantissa, w1);
    let low = A::u_add(middle, A::u_mul_hi(mantissa, w0));
    let carry = A::select_u(A::u_lt(low, middle), A::u32(1), A::u32(0));
    let high = A::u_add(A::u_mul(mantissa, w2), A::u_add(A::u_mul_hi(mantissa, w1), carry));
    // high:low is x · 2/π modulo 4, in units of 2^-62; take off the nearest integer.
    let quadrant = A::u_shr(A::u_add(high, A::u32(0x2000_0000)), A::u32(30));
    let fraction = A::u_to_i(A::u_sub(high, A::u_shl(quadrant, A::u32(30))));
    times_half_pi::<A>(fraction, low, quadrant)
}

/// The 96 bits of 2/π that start 24 places before the exponent of x, as words, highest first.
#[inline(always)]
fn two_over_pi_window<A: Arith>(biased_exponent: A::U) -> [A::U; 3] {
    let start = A::u_sub(biased_exponent, A::u32(127 - 7));
    let bit = |n: u32| A::u_ne(A::u_and(start, A::u32(1 << n)), A::u32(0));
    let (b5, b6, b7) = (bit(5), bit(6), bit(7));
    let t = TWO_OVER_PI_BITS.map(A::u32);
    // Choose words start/32 and the three after it. start/32 is at most 4, and then the lower two bits are 0.
    let a: [A::U; 6] = std::array::from_fn(|i| A::select_u(b5, t[i + 1], t[i]));
    let b: [A::U; 4] = std::array::from_fn(|i| A::select_u(b6, a[i + 2], a[i]));
    let w: [A::U; 4] = std::array::from_fn(|i| A::select_u(b7, t[i + 4], b[i]));
    let left = A::u_and(start, A::u32(31));
    let right = A::u_sub(A::u32(31), left);
    std::array::from_fn(|i| {
        // In two steps, since a shift by 32 is not defined.
        let from_next = A::u_shr(A::u_shr(w[i + 1], A::u32(1)), right);
        A::u_or(A::u_shl(w[i], left), from_next)
    })
}

/// (fraction:low · 2^-62) · π/2 in two floats.
#[inline(always)]
fn times_half_pi<A: Arith>(fraction: A::I, low: A::U, quadrant: A::U) -> Angle<A> {
    // 24 + 24 + 14 bits, each exact as a float.
    let a = A::i_to_f(A::i_shr(fraction, A::u32(6)));
    let middle = A::u_shl(A::u_and(A::i_to_u(fraction), A::u32(63)), A::u32(18));
    let b = A::u_to_f(A::u_or(middle, A::u_shr(low, A::u32(14))));
    let rest = A::u_to_f(A::u_and(low, A::u32(0x3fff)));
    let (unit_a, unit_b, unit_rest) = (c::<A>(0x3380_0000), c::<A>(0x2780_0000), c::<A>(0x2080_0000));
    let hi = A::fma(a, unit_a, A::mul(b, unit_b));
    let lo = A::fma(b, unit_b, A::fma(a, unit_a, A::neg(hi)));
    let lo = A::fma(rest, unit_rest, lo);
    // hi · P1 + tail in two floats; the sum comes out of an fma, so that no compiler can contract what follows.
    let tail = A::fma(lo, c::<A>(P1), A::mul(hi, c::<A>(P1_LOW)));
    let r = A::fma(hi, c::<A>(P1), tail);
    let low = A::add(A::fma(hi, c::<A>(P1), A::neg(r)), tail);
    Angle { hi: r, low, quadrant }
}
