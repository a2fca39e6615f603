//! An arithmetic whose `fma` flushes subnormal numbers, as NVIDIA's does through Vulkan even where sums and products keep them.

use super::{Arith, Native};

/// As [`Native`], but `fma` takes subnormal operands as zeros of their sign and gives zeros for subnormal results: for those whose
/// exact value is below the normal range where `EARLY`, else for those that still are after rounding.
pub(crate) struct Flushing<const EARLY: bool>;

const LEAST: u32 = 0x0080_0000;
const SIZE: u32 = 0x7fff_ffff;

fn flushed(v: f32) -> f32 {
    if v.to_bits() & SIZE < LEAST { f32::from_bits(v.to_bits() & !SIZE) } else { v }
}

/// Whether a sum that rounds to the least normal number is below it. The product is exact in f64, the sum rounds.
fn rounded_up(a: f32, b: f32, c: f32) -> bool {
    let (product, addend) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + addend;
    let back = sum - product;
    let rest = (product - (sum - back)) + (addend - back);
    let least = f64::from(f32::MIN_POSITIVE);
    sum.abs() < least || (sum.abs() == least && rest * sum < 0.0)
}

fn fma<const EARLY: bool>(a: f32, b: f32, c: f32) -> f32 {
    let (a, b, c) = (flushed(a), flushed(b), flushed(c));
    let r = Native::fma(a, b, c);
    if EARLY && r.to_bits() & SIZE == LEAST && rounded_up(a, b, c) { 0.0_f32.copysign(r) } else { flushed(r) }
}

macro_rules! forward {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty;)*) => {
        $(#[inline] fn $name($($arg: $ty),*) -> $out { Native::$name($($arg),*) })*
    };
}

impl<const EARLY: bool> Arith for Flushing<EARLY> {
    type F = f32;
    type I = i32;
    type U = u32;
    type B = bool;

    #[inline]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        fma::<EARLY>(a, b, c)
    }

    forward! {
        f32(v: f32) -> f32; i32(v: i32) -> i32; u32(v: u32) -> u32;
        add(a: f32, b: f32) -> f32; sub(a: f32, b: f32) -> f32; mul(a: f32, b: f32) -> f32;
        div(a: f32, b: f32) -> f32; sqrt(a: f32) -> f32;
        neg(a: f32) -> f32; abs(a: f32) -> f32; rint(a: f32) -> f32; trunc(a: f32) -> f32;
        lt(a: f32, b: f32) -> bool; le(a: f32, b: f32) -> bool; gt(a: f32, b: f32) -> bool;
        ge(a: f32, b: f32) -> bool; eq(a: f32, b: f32) -> bool; ne(a: f32, b: f32) -> bool;
        f_to_bits(a: f32) -> u32; f_from_bits(a: u32) -> f32; u_to_i(a: u32) -> i32; i_to_u(a: i32) -> u32;
        f_to_i(a: f32) -> i32; i_to_f(a: i32) -> f32; u_to_f(a: u32) -> f32;
        i_add(a: i32, b: i32) -> i32; i_sub(a: i32, b: i32) -> i32; i_mul(a: i32, b: i32) -> i32;
        i_and(a: i32, b: i32) -> i32; i_or(a: i32, b: i32) -> i32; i_xor(a: i32, b: i32) -> i32; i_not(a: i32) -> i32;
        i_shl(a: i32, by: u32) -> i32; i_shr(a: i32, by: u32) -> i32;
        i_lt(a: i32, b: i32) -> bool; i_le(a: i32, b: i32) -> bool; i_gt(a: i32, b: i32) -> bool;
        i_ge(a: i32, b: i32) -> bool; i_eq(a: i32, b: i32) -> bool; i_ne(a: i32, b: i32) -> bool;
        u_add(a: u32, b: u32) -> u32; u_sub(a: u32, b: u32) -> u32; u_mul(a: u32, b: u32) -> u32;
        u_mul_hi(a: u32, b: u32) -> u32;
        u_and(a: u32, b: u32) -> u32; u_or(a: u32, b: u32) -> u32; u_xor(a: u32, b: u32) -> u32; u_not(a: u32) -> u32;
        u_shl(a: u32, by: u32) -> u32; u_shr(a: u32, by: u32) -> u32;
        u_lt(a: u32, b: u32) -> bool; u_le(a: u32, b: u32) -> bool; u_gt(a: u32, b: u32) -> bool;
        u_ge(a: u32, b: u32) -> bool; u_eq(a: u32, b: u32) -> bool; u_ne(a: u32, b: u32) -> bool;
        b_and(a: bool, b: bool) -> bool; b_or(a: bool, b: bool) -> bool; b_not(a: bool) -> bool;
        select_f(cond: bool, if_true: f32, if_false: f32) -> f32;
        select_i(cond: bool, if_true: i32, if_false: i32) -> i32;
        select_u(cond: bool, if_true: u32, if_false: u32) -> u32;
    }

    #[inline]
    fn branch(cond: bool, then: impl FnOnce() -> f32, otherwise: impl FnOnce() -> f32) -> f32 {
        if cond { then() } else { otherwise() }
    }
}
