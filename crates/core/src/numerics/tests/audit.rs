//! An arithmetic that computes as [`Native`] does, counts operations, and refuses a product as an operand of a sum.

use std::cell::Cell;

use super::super::{Arith, Native};

thread_local! {
    static OPERATIONS: Cell<u32> = const { Cell::new(0) };
}

/// The operations that `work` did; selects, comparisons and integer operations count, literals do not.
pub(super) fn operations(work: impl FnOnce()) -> u32 {
    OPERATIONS.set(0);
    work();
    OPERATIONS.get()
}

fn count() {
    OPERATIONS.set(OPERATIONS.get() + 1);
}

/// A float that knows whether it is the result of a multiplication.
#[derive(Clone, Copy)]
pub(super) struct Tagged {
    pub(super) value: f32,
    product: bool,
}

impl Tagged {
    pub(super) fn new(value: f32) -> Self {
        Self { value, product: false }
    }

    fn term(self) -> f32 {
        assert!(!self.product, "a product feeds a sum");
        self.value
    }
}

pub(super) struct Audit;

macro_rules! forward {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty;)*) => {
        $(fn $name($($arg: $ty),*) -> $out { count(); Native::$name($($arg),*) })*
    };
}

macro_rules! forward_f {
    ($($name:ident($($arg:ident),*) -> $out:ident $make:expr;)*) => {
        $(fn $name($($arg: Tagged),*) -> $out { count(); $make(Native::$name($($arg.value),*)) })*
    };
}

impl Arith for Audit {
    type F = Tagged;
    type I = i32;
    type U = u32;
    type B = bool;

    fn f32(v: f32) -> Tagged {
        Tagged::new(v)
    }
    fn i32(v: i32) -> i32 {
        v
    }
    fn u32(v: u32) -> u32 {
        v
    }
    fn add(a: Tagged, b: Tagged) -> Tagged {
        count();
        Tagged::new(a.term() + b.term())
    }
    fn sub(a: Tagged, b: Tagged) -> Tagged {
        count();
        Tagged::new(a.term() - b.term())
    }
    fn mul(a: Tagged, b: Tagged) -> Tagged {
        count();
        Tagged { value: a.value * b.value, product: true }
    }
    // Sign changes are operand modifiers on GPUs: they cost nothing, and do not hide a product.
    fn neg(a: Tagged) -> Tagged {
        Tagged { value: -a.value, ..a }
    }
    fn abs(a: Tagged) -> Tagged {
        Tagged { value: a.value.abs(), ..a }
    }
    fn f_to_bits(a: Tagged) -> u32 {
        a.value.to_bits()
    }
    fn f_from_bits(a: u32) -> Tagged {
        Tagged::new(f32::from_bits(a))
    }
    fn u_to_i(a: u32) -> i32 {
        a.cast_signed()
    }
    fn i_to_u(a: i32) -> u32 {
        a.cast_unsigned()
    }
    fn select_f(cond: bool, if_true: Tagged, if_false: Tagged) -> Tagged {
        count();
        let product = if_true.product || if_false.product;
        Tagged { value: if cond { if_true.value } else { if_false.value }, product }
    }
    fn branch(cond: bool, then: impl FnOnce() -> Tagged, otherwise: impl FnOnce() -> Tagged) -> Tagged {
        count();
        if cond { then() } else { otherwise() }
    }

    forward_f! {
        fma(a, b, c) -> Tagged Tagged::new;
        div(a, b) -> Tagged Tagged::new;
        sqrt(a) -> Tagged Tagged::new;
        rint(a) -> Tagged Tagged::new;
        trunc(a) -> Tagged Tagged::new;
        lt(a, b) -> bool std::convert::identity;
        le(a, b) -> bool std::convert::identity;
        gt(a, b) -> bool std::convert::identity;
        ge(a, b) -> bool std::convert::identity;
        eq(a, b) -> bool std::convert::identity;
        ne(a, b) -> bool std::convert::identity;
        f_to_i(a) -> i32 std::convert::identity;
    }

    fn i_to_f(a: i32) -> Tagged {
        count();
        Tagged::new(a as f32)
    }
    fn u_to_f(a: u32) -> Tagged {
        count();
        Tagged::new(a as f32)
    }

    forward! {
        i_add(a: i32, b: i32) -> i32;
        i_sub(a: i32, b: i32) -> i32;
        i_mul(a: i32, b: i32) -> i32;
        i_and(a: i32, b: i32) -> i32;
        i_or(a: i32, b: i32) -> i32;
        i_xor(a: i32, b: i32) -> i32;
        i_not(a: i32) -> i32;
        i_shl(a: i32, by: u32) -> i32;
        i_shr(a: i32, by: u32) -> i32;
        i_lt(a: i32, b: i32) -> bool;
        i_le(a: i32, b: i32) -> bool;
        i_gt(a: i32, b: i32) -> bool;
        i_ge(a: i32, b: i32) -> bool;
        i_eq(a: i32, b: i32) -> bool;
        i_ne(a: i32, b: i32) -> bool;
        u_add(a: u32, b: u32) -> u32;
        u_sub(a: u32, b: u32) -> u32;
        u_mul(a: u32, b: u32) -> u32;
        u_mul_hi(a: u32, b: u32) -> u32;
        u_and(a: u32, b: u32) -> u32;
        u_or(a: u32, b: u32) -> u32;
        u_xor(a: u32, b: u32) -> u32;
        u_not(a: u32) -> u32;
        u_shl(a: u32, by: u32) -> u32;
        u_shr(a: u32, by: u32) -> u32;
        u_lt(a: u32, b: u32) -> bool;
        u_le(a: u32, b: u32) -> bool;
        u_gt(a: u32, b: u32) -> bool;
        u_ge(a: u32, b: u32) -> bool;
        u_eq(a: u32, b: u32) -> bool;
        u_ne(a: u32, b: u32) -> bool;
        b_and(a: bool, b: bool) -> bool;
        b_or(a: bool, b: bool) -> bool;
        b_not(a: bool) -> bool;
        select_i(cond: bool, if_true: i32, if_false: i32) -> i32;
        select_u(cond: bool, if_true: u32, if_false: u32) -> u32;
    }
}
