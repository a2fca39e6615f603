//! Sine, cosine and tangent.

use super::arith::Arith;
use super::parts::{f, flip, nan, poly, reciprocal, sign_bit};
use super::reduce::{Angle, is_near, reduce_far, reduce_near};

/// (sin r - r) / r³ in r², on |r| ≤ π/4 and a little; relative error of sin 2^-27.8.
const SIN: [u32; 3] = [
    0xbe2a_aaa2, // -0.16666654
    0x3c08_8363, // 0.0083321063
    0xb94c_8e13, // -0.00019507883
];

/// (cos r - 1) / r² in r², likewise; 2^-33.0.
const COS: [u32; 4] = [
    0xbf00_0000, // -0.5
    0x3d2a_aaa5, // 0.041666646
    0xbab6_0613, // -0.0013887308
    0x37cc_f38a, // 2.4432102e-5
];

/// (tan r - r) / r³ in r², likewise; 2^-29.5.
const TAN: [u32; 7] = [
    0x3eaa_aab0, // 0.3333335
    0x3e08_86cb, // 0.1333267
    0x3d5d_6dfe, // 0.054059975
    0x3cae_5215, // 0.021279374
    0x3c31_baed, // 0.010847789
    0x3892_54b9, // 6.977603e-5
    0x3b8f_c7f6, // 0.004387851
];

/// The sine and the cosine of hi + low, without the quadrant.
#[inline(always)]
fn kernel<A: Arith>(angle: &Angle<A>) -> (A::F, A::F) {
    let (r, low) = (angle.hi, angle.low);
    let square = A::fma(r, r, A::mul(A::add(r, r), low));
    let cube = A::mul(r, square);
    let sin = A::add(r, A::fma(cube, poly::<A>(square, &SIN), low));
    let cos = A::fma(square, poly::<A>(square, &COS), f::<A>(1.0));
    (sin, cos)
}

/// The sine of (angle turned by `quadrants` right angles).
#[inline(always)]
fn turned_sine<A: Arith>((sin, cos): (A::F, A::F), quadrant: A::U) -> A::F {
    let odd = A::u_ne(A::u_and(quadrant, A::u32(1)), A::u32(0));
    let sign = A::u_shl(A::u_and(quadrant, A::u32(2)), A::u32(30));
    flip::<A>(A::select_f(odd, cos, sin), sign)
}

#[inline(always)]
fn next_quadrant<A: Arith>(quadrant: A::U) -> A::U {
    A::u_add(quadrant, A::u32(1))
}

#[inline(always)]
fn far_sine<A: Arith>(size: A::F, turn: impl FnOnce(A::U) -> A::U) -> A::F {
    let angle = reduce_far::<A>(size);
    let y = turned_sine::<A>(kernel::<A>(&angle), turn(angle.quadrant));
    A::select_f(A::lt(size, f::<A>(f32::INFINITY)), y, nan::<A>())
}

/// The sine of x, in radians.
///
/// - Domain: all finite f32. sin ±0 is ±0; ±inf gives NaN.
/// - Error: see the table in [the module](super); arguments of any size are reduced exactly enough.
/// - Source: Cody & Waite 1980, chapter 8, for |x| ≤ 8192; above that Payne & Hanek, *Radian reduction for
///   trigonometric functions*, SIGNUM Newsletter 18(1), 1983. Minimax polynomials on |r| ≤ π/4.
#[inline(always)]
pub fn sin<A: Arith>(x: A::F) -> A::F {
    let size = A::abs(x);
    let angle = reduce_near::<A>(size);
    let common = turned_sine::<A>(kernel::<A>(&angle), angle.quadrant);
    let y = A::branch(is_near::<A>(size), || common, || far_sine::<A>(size, |q| q));
    flip::<A>(y, sign_bit::<A>(x))
}

/// The cosine of x, in radians.
///
/// - Domain: all finite f32. cos ±0 is 1; ±inf gives NaN.
/// - Error: see the table in [the module](super).
/// - Source: as [`sin`].
#[inline(always)]
pub fn cos<A: Arith>(x: A::F) -> A::F {
    let size = A::abs(x);
    let angle = reduce_near::<A>(size);
    let common = turned_sine::<A>(kernel::<A>(&angle), next_quadrant::<A>(angle.quadrant));
    A::branch(is_near::<A>(size), || common, || far_sine::<A>(size, next_quadrant::<A>))
}

/// The sine and the cosine of x from one reduction; the same bits as [`sin`] and [`cos`].
#[inline(always)]
pub fn sincos<A: Arith>(x: A::F) -> (A::F, A::F) {
    let size = A::abs(x);
    let near = is_near::<A>(size);
    let angle = reduce_near::<A>(size);
    let both = kernel::<A>(&angle);
    let sin = turned_sine::<A>(both, angle.quadrant);
    let cos = turned_sine::<A>(both, next_quadrant::<A>(angle.quadrant));
    let sin = A::branch(near, || sin, || far_sine::<A>(size, |q| q));
    let cos = A::branch(near, || cos, || far_sine::<A>(size, next_quadrant::<A>));
    (flip::<A>(sin, sign_bit::<A>(x)), cos)
}

/// The tangent of x, in radians.
///
/// - Domain: all finite f32. tan ±0 is ±0; ±inf gives NaN. No f32 is a pole.
/// - Error: see the table in [the module](super).
/// - Source: reduction as [`sin`]; in odd quadrants tan x = -1/tan r, with tan r and the reciprocal in two floats.
#[inline(always)]
pub fn tan<A: Arith>(x: A::F) -> A::F {
    let size = A::abs(x);
    let common = tan_kernel::<A>(&reduce_near::<A>(size));
    let y = A::branch(
        is_near::<A>(size),
        || common,
        || {
            let y = tan_kernel::<A>(&reduce_far::<A>(size));
            A::select_f(A::lt(size, f::<A>(f32::INFINITY)), y, nan::<A>())
        },
    );
    flip::<A>(y, sign_bit::<A>(x))
}

#[inline(always)]
fn tan_kernel<A: Arith>(angle: &Angle<A>) -> A::F {
    let (r, low) = (angle.hi, angle.low);
    let square = A::mul(r, r);
    // low · (1 + tan² r), with r² + r⁴ for tan² r
    let low = A::fma(low, A::fma(square, square, square), low);
    // The part that rounding r² lost, times the derivative of the polynomial part, which is near 0.55 where that matters.
    let lost = A::mul(A::fma(r, r, A::neg(square)), r);
    let low = A::fma(lost, f::<A>(0.55), low);
    let t = A::fma(A::mul(r, square), poly::<A>(square, &TAN), low);
    let even = A::add(r, t);
    let back = A::sub(even, r);
    let lost = A::add(A::sub(r, A::sub(even, back)), A::sub(t, back));
    let y = reciprocal::<A>(even);
    let e = A::fma(A::neg(even), y, f::<A>(1.0));
    let e = A::fma(A::neg(lost), y, e);
    let odd = A::neg(A::fma(y, e, y));
    let is_odd = A::u_ne(A::u_and(angle.quadrant, A::u32(1)), A::u32(0));
    A::select_f(is_odd, odd, even)
}
