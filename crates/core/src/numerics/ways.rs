//! Arithmetic for loops over lanes: no instance of it takes a branch, so the loops vectorise.

use super::arith::{Arith, Native};

/// The CPU's arithmetic without branches. With `BOTH`, both ways of a branch are computed, and one is selected; without, only the first, which is the
/// common one everywhere, and [`Of`] says where that was wrong. `FUSED` says that the processor has an instruction for [`Arith::fma`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways<const FUSED: bool, const BOTH: bool>;

/// A value, and whether all branches that it comes from go the first way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Of<T>(pub(crate) T, pub(crate) bool);

macro_rules! ways {
    (
        literals { $($literal:ident: $v:ident;)* }
        one { $($un:ident: $x:ident -> $r:ident;)* }
        two { $($bin:ident: $a:ident, $b:ident -> $s:ident;)* }
        choice { $($select:ident: $t:ident;)* }
    ) => {
        $(#[inline(always)] fn $literal(v: $v) -> Of<$v> { Of(v, true) })*
        $(#[inline(always)] fn $un(a: Of<$x>) -> Of<$r> { Of(Native::$un(a.0), a.1) })*
        $(#[inline(always)] fn $bin(a: Of<$a>, b: Of<$b>) -> Of<$s> { Of(Native::$bin(a.0, b.0), a.1 & b.1) })*
        $(
            #[inline(always)]
            fn $select(c: Of<bool>, a: Of<$t>, b: Of<$t>) -> Of<$t> { Of(Native::$select(c.0, a.0, b.0), c.1 & a.1 & b.1) }
        )*
    };
}

impl<const FUSED: bool, const BOTH: bool> Arith for Ways<FUSED, BOTH> {
    type F = Of<f32>;
    type I = Of<i32>;
    type U = Of<u32>;
    type B = Of<bool>;

    ways! {
        literals { f32: f32; i32: i32; u32: u32; }
        one {
            sqrt: f32 -> f32; neg: f32 -> f32; abs: f32 -> f32; rint: f32 -> f32; trunc: f32 -> f32;
            f_to_bits: f32 -> u32; f_from_bits: u32 -> f32; u_to_i: u32 -> i32; i_to_u: i32 -> u32;
            i_to_f: i32 -> f32; u_to_f: u32 -> f32;
            i_not: i32 -> i32; u_not: u32 -> u32; b_not: bool -> bool;
        }
        two {
            add: f32, f32 -> f32; sub: f32, f32 -> f32; mul: f32, f32 -> f32; div: f32, f32 -> f32;
            lt: f32, f32 -> bool; le: f32, f32 -> bool; gt: f32, f32 -> bool; ge: f32, f32 -> bool; eq: f32, f32 -> bool; ne: f32, f32 -> bool;
            i_add: i32, i32 -> i32; i_sub: i32, i32 -> i32; i_mul: i32, i32 -> i32;
            i_and: i32, i32 -> i32; i_or: i32, i32 -> i32; i_xor: i32, i32 -> i32; i_shl: i32, u32 -> i32; i_shr: i32, u32 -> i32;
            i_lt: i32, i32 -> bool; i_le: i32, i32 -> bool; i_gt: i32, i32 -> bool; i_ge: i32, i32 -> bool;
            i_eq: i32, i32 -> bool; i_ne: i32, i32 -> bool;
            u_add: u32, u32 -> u32; u_sub: u32, u32 -> u32; u_mul: u32, u32 -> u32; u_mul_hi: u32, u32 -> u32;
            u_and: u32, u32 -> u32; u_or: u32, u32 -> u32; u_xor: u32, u32 -> u32; u_shl: u32, u32 -> u32; u_shr: u32, u32 -> u32;
            u_lt: u32, u32 -> bool; u_le: u32, u32 -> bool; u_gt: u32, u32 -> bool; u_ge: u32, u32 -> bool;
            u_eq: u32, u32 -> bool; u_ne: u32, u32 -> bool;
            b_and: bool, bool -> bool; b_or: bool, bool -> bool;
        }
        choice { select_f: f32; select_i: i32; select_u: u32; }
    }

    #[inline(always)]
    fn fma(a: Of<f32>, b: Of<f32>, c: Of<f32>) -> Of<f32> {
        Of(if FUSED { a.0.mul_add(b.0, c.0) } else { Native::fma(a.0, b.0, c.0) }, a.1 & b.1 & c.1)
    }

    #[inline(always)]
    fn f_to_i(a: Of<f32>) -> Of<i32> {
        Of(f32_to_i32(a.0), a.1)
    }

    #[inline(always)]
    fn branch(cond: Of<bool>, then: impl FnOnce() -> Of<f32>, otherwise: impl FnOnce() -> Of<f32>) -> Of<f32> {
        let then = then();
        if BOTH {
            return Self::select_f(cond, then, otherwise());
        }
        Of(then.0, cond.0 & cond.1 & then.1)
    }
}

/// `x as i32`, as compilers vectorise it.
#[inline(always)]
pub(crate) fn f32_to_i32(x: f32) -> i32 {
    const ABOVE: f32 = 2_147_483_648.0;
    let near = if x > -ABOVE { x } else { -ABOVE };
    let near = if near < ABOVE { near } else { -ABOVE };
    // SAFETY: a number from -2^31 on, below 2^31: NaN is not above anything.
    let whole = unsafe { near.to_int_unchecked::<i32>() };
    let whole = if x >= ABOVE { i32::MAX } else { whole };
    if x.is_nan() { 0 } else { whole }
}

/// `x as u32`, as compilers vectorise it.
#[inline(always)]
pub(crate) fn f32_to_u32(x: f32) -> u32 {
    const HALF: f32 = 2_147_483_648.0;
    // From 2^31 on floats are whole, and the difference is exact.
    let high = f32_to_i32(x - HALF) as u32 ^ 1 << 31;
    let high = if x >= 2.0 * HALF { u32::MAX } else { high };
    let low = f32_to_i32(x);
    let low = if low < 0 { 0 } else { low as u32 };
    if x >= HALF { high } else { low }
}
