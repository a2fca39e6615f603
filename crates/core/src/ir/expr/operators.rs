//! Rust's operators on symbolic values.

use super::{Expr, lit};
use crate::element::{Int, Num};
use crate::ir::node::{BinOp, UnOp};
use core::ops;

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident $bound:ident;)*) => {$(
        impl<T: $bound> ops::$trait for Expr<T> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.bin(BinOp::$op, other)
            }
        }
        impl<T: $bound> ops::$trait<T> for Expr<T> {
            type Output = Self;
            fn $method(self, other: T) -> Self {
                self.bin(BinOp::$op, lit(other))
            }
        }
    )*};
}
operators! {
    Add add Add Num;
    Sub sub Sub Num;
    Mul mul Mul Num;
    Div div Div Num;
    Rem rem Rem Int;
}

macro_rules! literal_first {
    ($($t:ident),*) => {$(
        impl ops::Add<Expr<$t>> for $t {
            type Output = Expr<$t>;
            fn add(self, other: Expr<$t>) -> Expr<$t> { lit(self) + other }
        }
        impl ops::Sub<Expr<$t>> for $t {
            type Output = Expr<$t>;
            fn sub(self, other: Expr<$t>) -> Expr<$t> { lit(self) - other }
        }
        impl ops::Mul<Expr<$t>> for $t {
            type Output = Expr<$t>;
            fn mul(self, other: Expr<$t>) -> Expr<$t> { lit(self) * other }
        }
        impl ops::Div<Expr<$t>> for $t {
            type Output = Expr<$t>;
            fn div(self, other: Expr<$t>) -> Expr<$t> { lit(self) / other }
        }
    )*};
}
literal_first!(f32, f64, i32, u32, i64, u64);

macro_rules! bit_operators {
    ($($t:ident),*) => {$(
        impl ops::BitAnd for Expr<$t> {
            type Output = Self;
            fn bitand(self, other: Self) -> Self { self.bin(BinOp::And, other) }
        }
        impl ops::BitOr for Expr<$t> {
            type Output = Self;
            fn bitor(self, other: Self) -> Self { self.bin(BinOp::Or, other) }
        }
        impl ops::BitXor for Expr<$t> {
            type Output = Self;
            fn bitxor(self, other: Self) -> Self { self.bin(BinOp::Xor, other) }
        }
        impl ops::BitAnd<$t> for Expr<$t> {
            type Output = Self;
            fn bitand(self, other: $t) -> Self { self.bin(BinOp::And, lit(other)) }
        }
        impl ops::BitOr<$t> for Expr<$t> {
            type Output = Self;
            fn bitor(self, other: $t) -> Self { self.bin(BinOp::Or, lit(other)) }
        }
        impl ops::BitXor<$t> for Expr<$t> {
            type Output = Self;
            fn bitxor(self, other: $t) -> Self { self.bin(BinOp::Xor, lit(other)) }
        }
        impl ops::Not for Expr<$t> {
            type Output = Self;
            fn not(self) -> Self { self.un(UnOp::Not) }
        }
    )*};
}
bit_operators!(bool, i32, u32, i64, u64);

impl<T: Int> ops::Shl<Expr<u32>> for Expr<T> {
    type Output = Self;
    fn shl(self, amount: Expr<u32>) -> Self {
        self.bin(BinOp::Shl, amount)
    }
}
impl<T: Int> ops::Shr<Expr<u32>> for Expr<T> {
    type Output = Self;
    fn shr(self, amount: Expr<u32>) -> Self {
        self.bin(BinOp::Shr, amount)
    }
}
impl<T: Int> ops::Shl<u32> for Expr<T> {
    type Output = Self;
    fn shl(self, amount: u32) -> Self {
        self.bin(BinOp::Shl, lit(amount))
    }
}
impl<T: Int> ops::Shr<u32> for Expr<T> {
    type Output = Self;
    fn shr(self, amount: u32) -> Self {
        self.bin(BinOp::Shr, lit(amount))
    }
}

macro_rules! negate {
    ($($t:ident),*) => {$(
        impl ops::Neg for Expr<$t> {
            type Output = Self;
            fn neg(self) -> Self { self.un(UnOp::Neg) }
        }
    )*};
}
negate!(f32, f64, i32, i64);
