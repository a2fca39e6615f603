//! Inverse trigonometric functions.

use super::arith::Arith;
use super::parts::{at_most, c, f, flip, nan, poly, reciprocal, sign_bit, signed_like};
use super::root::rsqrt_near;

/// π/2 in two floats; twice these are π.
const HALF_PI: u32 = 0x3fc9_0fdb; // 1.5707964
const HALF_PI_LOW: u32 = 0xb33b_bd2e; // -4.371139e-8
const PI: u32 = 0x4049_0fdb; // 3.1415927
const PI_LOW: u32 = 0xb3bb_bd2e; // -8.742278e-8

/// (atan z - z) / z³ in z², on |z| ≤ 1; relative error of atan 2^-28.5.
const ATAN: [u32; 9] = [
    0xbeaa_aa9f, // -0.333333
    0x3e4c_c8f2, // 0.1999853
    0xbe12_1043, // -0.14264016
    0x3de0_4628, // 0.10950881
    0xbdac_0498, // -0.08399314
    0x3d6d_1553, // 0.057881664
    0xbcfe_c01e, // -0.031097468
    0x3c32_1444, // 0.0108690895
    0xbae9_b1ec, // -0.0017829514
];

/// (asin z - z) / z³ in z², on |z| ≤ 1/2; relative error of asin 2^-27.6.
const ASIN: [u32; 5] = [
    0x3e2a_aae4, // 0.16666752
    0x3d99_8102, // 0.074953094
    0x3d3a_3ddd, // 0.045469154
    0x3cc6_1f15, // 0.024184743
    0x3d2c_ae46, // 0.042158388
];

/// hi + low - (z + t) with one rounding that counts, for |z + t| ≤ hi or hi = 0.
#[inline(always)]
fn minus<A: Arith>(hi: A::F, low: A::F, z: A::F, t: A::F) -> A::F {
    let y = A::sub(hi, z);
    let lost = A::sub(A::sub(hi, y), z);
    A::add(y, A::add(lost, A::sub(low, t)))
}

/// atan(z + low) - z for |z| ≤ 1.
#[inline(always)]
fn atan_tail<A: Arith>(z: A::F, low: A::F) -> A::F {
    let square = A::mul(z, z);
    // The part that rounding z² lost, times the derivative of the polynomial part, which is near -0.16 where that matters.
    let lost = A::mul(A::fma(z, z, A::neg(square)), z);
    // low / (1 + z²), for which low · (1 - z²/2) is near enough
    let low = A::fma(A::mul(low, f::<A>(-0.5)), square, low);
    let low = A::fma(lost, f::<A>(-0.16), low);
    let cube = A::mul(z, square);
    // The last step of Horner's rule in two floats: next to 1 its rounding would cost an eighth of an ULP.
    let inner = poly::<A>(square, &ATAN[1..]);
    let lead = c::<A>(ATAN[0]);
    let p = A::fma(square, inner, lead);
    let p_low = A::fma(square, inner, A::sub(lead, p));
    A::fma(cube, p, A::fma(cube, p_low, low))
}

/// The arc tangent, in radians.
///
/// - Domain: all of f32; odd. atan ±0 is ±0, atan ±inf is ±π/2.
/// - Error: see the table in [the module](super).
/// - Source: Cody & Waite 1980, chapter 11: from 1 on as π/2 - atan(1/x), with the reciprocal and π/2 in two floats.
#[inline(always)]
pub fn atan<A: Arith>(x: A::F) -> A::F {
    let size = A::abs(x);
    let inverted = A::ge(size, f::<A>(1.0));
    // Above 2^26 the result is π/2 rounded, so the reciprocal need not go further.
    let bounded = at_most::<A>(size, 1.0e9);
    let y = reciprocal::<A>(bounded);
    let lost = A::mul(y, A::fma(A::neg(bounded), y, f::<A>(1.0)));
    let z = A::select_f(inverted, y, size);
    let t = atan_tail::<A>(z, A::select_f(inverted, lost, f::<A>(0.0)));
    let far = minus::<A>(c::<A>(HALF_PI), c::<A>(HALF_PI_LOW), z, t);
    flip::<A>(A::select_f(inverted, far, A::add(z, t)), sign_bit::<A>(x))
}

/// The angle of the point (x, y) from the positive x axis, in radians, in [-π, π].
///
/// - Domain: all of f32². For y = ±0 the result is ±0 where x ≥ +0 and ±π where x ≤ -0; on the y axis it is ±π/2;
///   with both infinite it is ±π/4 or ±3π/4.
/// - Error: see the table in [the module](super); subnormal quotients are rounded once.
/// - Source: as [`atan`], with the quotient of the smaller by the larger in two floats.
#[inline(always)]
pub fn atan2<A: Arith>(y: A::F, x: A::F) -> A::F {
    let (height, width) = (A::abs(y), A::abs(x));
    let steep = A::ge(height, width);
    let large = A::select_f(steep, height, width);
    let small = A::select_f(steep, width, height);
    let common = atan2_quotient::<A>(x, steep, large, small);
    // A quotient from 2^-40 on, of finite numbers that are not 0. NaN fails both comparisons.
    let near = A::ge(small, A::mul(large, c::<A>(0x2b80_0000)));
    let finite = A::b_and(A::lt(large, f::<A>(f32::INFINITY)), A::gt(small, f::<A>(0.0)));
    let size = A::branch(A::b_and(near, finite), || common, || atan2_flat::<A>(height, width, x));
    flip::<A>(size, sign_bit::<A>(y))
}

#[inline(always)]
fn atan2_quotient<A: Arith>(x: A::F, steep: A::B, large: A::F, small: A::F) -> A::F {
    // Scale so that neither the reciprocal nor the residual leaves the normal range.
    let one = f::<A>(1.0);
    let down = A::select_f(A::gt(large, c::<A>(0x5d80_0000)), c::<A>(0x1c80_0000), one);
    let factor = A::select_f(A::lt(large, c::<A>(0x2180_0000)), c::<A>(0x6c80_0000), down);
    let (large, small) = (A::mul(large, factor), A::mul(small, factor));
    let inverse = reciprocal::<A>(large);
    let q = A::mul(small, inverse);
    let z = A::fma(A::fma(A::neg(q), large, small), inverse, q);
    let low = A::mul(A::fma(A::neg(z), large, small), inverse);
    let t = atan_tail::<A>(z, low);
    // atan, π/2 - atan, π/2 + atan and π - atan
    let left = A::lt(x, f::<A>(0.0));
    let turned = A::b_or(steep, left);
    let backwards = A::b_and(left, A::b_not(steep));
    let hi = A::select_f(backwards, c::<A>(PI), c::<A>(HALF_PI));
    let low = A::select_f(backwards, c::<A>(PI_LOW), c::<A>(HALF_PI_LOW));
    let outward = A::b_and(left, steep);
    let signed_z = A::select_f(outward, A::neg(z), z);
    let signed_t = A::select_f(outward, A::neg(t), t);
    let from_axis = minus::<A>(hi, low, signed_z, signed_t);
    A::select_f(turned, from_axis, A::add(z, t))
}

/// |atan2| where the point is on an axis, at infinity, or within 2^-40 of an axis.
#[inline(always)]
fn atan2_flat<A: Arith>(height: A::F, width: A::F, x: A::F) -> A::F {
    let zero = f::<A>(0.0);
    let infinity = f::<A>(f32::INFINITY);
    let leftward = A::u_ne(sign_bit::<A>(x), A::u32(0));
    let origin = A::eq(A::select_f(A::gt(height, width), height, width), zero);
    let right = A::select_f(origin, zero, A::div(height, width));
    let y = A::select_f(leftward, c::<A>(PI), right);
    let y = A::select_f(A::gt(height, width), c::<A>(HALF_PI), y);
    let diagonal = A::select_f(leftward, c::<A>(0x4016_cbe4), c::<A>(0x3f49_0fdb)); // 3π/4, π/4
    let corner = A::b_and(A::eq(height, infinity), A::eq(width, infinity));
    let y = A::select_f(corner, diagonal, y);
    A::select_f(A::b_or(A::is_nan(height), A::is_nan(width)), nan::<A>(), y)
}

/// asin z - z for |z| ≤ 1/2, where z + low is the argument.
#[inline(always)]
fn asin_tail<A: Arith>(z: A::F, low: A::F, square: A::F) -> A::F {
    A::fma(A::mul(z, square), poly::<A>(square, &ASIN), low)
}

/// For 1/2 < size ≤ 1: (s, t) with s + t = asin √((1 - size)/2) = acos(size) / 2.
#[inline(always)]
fn half_acos<A: Arith>(size: A::F) -> (A::F, A::F) {
    let half = A::fma(f::<A>(-0.5), size, f::<A>(0.5));
    let y = rsqrt_near::<A>(half);
    let s = A::mul(half, y);
    let low = A::mul(A::fma(A::neg(s), s, half), A::mul(y, f::<A>(0.5)));
    (s, asin_tail::<A>(s, low, half))
}

/// The arc sine, in radians.
///
/// - Domain: |x| ≤ 1; odd. asin ±0 is ±0, and |x| > 1 gives NaN.
/// - Error: see the table in [the module](super).
/// - Source: Cody & Waite 1980, chapter 10: above 1/2 as π/2 - 2 asin √((1 - x)/2), the root and π/2 in two floats.
#[inline(always)]
pub fn asin<A: Arith>(x: A::F) -> A::F {
    let size = A::abs(x);
    let near = A::add(size, asin_tail::<A>(size, f::<A>(0.0), A::mul(size, size)));
    let (s, t) = half_acos::<A>(size);
    let lead = A::fma(f::<A>(-2.0), s, c::<A>(HALF_PI));
    let lost = A::fma(f::<A>(-2.0), s, A::sub(c::<A>(HALF_PI), lead));
    let rest = A::add(lost, A::fma(f::<A>(-2.0), t, c::<A>(HALF_PI_LOW)));
    let y = A::select_f(A::gt(size, f::<A>(0.5)), A::add(lead, rest), near);
    let y = A::select_f(A::gt(size, f::<A>(1.0)), nan::<A>(), y);
    signed_like::<A>(y, x)
}

/// The arc cosine, in radians.
///
/// - Domain: |x| ≤ 1. acos 1 is +0, acos -1 is π, and |x| > 1 gives NaN.
/// - Error: see the table in [the module](super).
/// - Source: as [`asin`]: π/2 - asin x, 2 asin √((1 - x)/2) for x > 1/2, and π less that of -x for x < -1/2.
#[inline(always)]
pub fn acos<A: Arith>(x: A::F) -> A::F {
    let size = A::abs(x);
    let tail = asin_tail::<A>(x, f::<A>(0.0), A::mul(x, x));
    let near = minus::<A>(c::<A>(HALF_PI), c::<A>(HALF_PI_LOW), x, tail);
    let (s, t) = half_acos::<A>(size);
    let two = f::<A>(2.0);
    let right = A::fma(two, t, A::mul(two, s));
    let lead = A::fma(f::<A>(-2.0), s, c::<A>(PI));
    let lost = A::fma(f::<A>(-2.0), s, A::sub(c::<A>(PI), lead));
    let left = A::add(lead, A::add(lost, A::fma(f::<A>(-2.0), t, c::<A>(PI_LOW))));
    let far = A::select_f(A::lt(x, f::<A>(0.0)), left, right);
    let y = A::select_f(A::gt(size, f::<A>(0.5)), far, near);
    A::select_f(A::gt(size, f::<A>(1.0)), nan::<A>(), y)
}
