//! The error function.

use super::arith::Arith;
use super::exp::expm1_of;
use super::parts::{at_most, f, flip, poly, power_of_two, sign_bit};

/// erf x / x - 1 in x², on |x| ≤ 1; relative error of erf 2^-29.4.
const ERF: [u32; 7] = [
    0x3e03_75d4, // 0.12837917
    0xbec0_939f, // -0.37612626
    0x3de7_1673, // 0.11283579
    0xbcdb_fb8d, // -0.026853347
    0x3ba9_f912, // 0.005187162
    0xba51_a8af, // -0.0007997853
    0x38a3_b8ff, // 7.806904e-5
];

/// ln(1 - erf x) on 1 ≤ x ≤ 3.95; the error of 1 - erf x is 2^-29.8.
const LOG_ERFC: [u32; 7] = [
    0xb9b9_7505, // -0.00035373136
    0xbf90_42d9, // -1.12704
    0xbf23_62c1, // -0.6382256
    0xbdd3_0552, // -0.10303749
    0x3cb2_a142, // 0.02180541
    0xbb40_a6ec, // -0.0029396368
    0x3942_978d, // 0.00018557739
];

/// The error function erf x = 2/√π ∫₀ˣ e^(-t²) dt.
///
/// - Domain: all of f32; odd. erf ±0 is ±0, erf ±inf is ±1.
/// - Error: see the table in [the module](super).
/// - Source: definition as in Abramowitz & Stegun 7.1.1 and NIST DLMF 7.2.1. A minimax polynomial up to 1; above
///   that 1 - e^p(x), where p is a minimax polynomial for ln(1 - erf x), and the error of the small second term
///   shrinks against 1.
#[inline(always)]
pub fn erf<A: Arith>(x: A::F) -> A::F {
    let size = A::abs(x);
    let near = A::fma(size, poly::<A>(A::mul(size, size), &ERF), size);
    // From 3.84 on the result rounds to 1.
    let (n, p) = expm1_of::<A>(poly::<A>(at_most::<A>(size, 3.95), &LOG_ERFC));
    // 1 - 2^n · (1 + p), where 1 - 2^n is exact
    let power = power_of_two::<A>(A::f_to_i(n));
    let far = A::fma(A::neg(power), p, A::sub(f::<A>(1.0), power));
    let y = A::select_f(A::gt(size, f::<A>(1.0)), far, near);
    flip::<A>(y, sign_bit::<A>(x))
}
