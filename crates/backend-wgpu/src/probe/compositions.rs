//! Compositions that some compiler got wrong, or is free to: sums in another order, constants that meet, zeros that a driver derives, conversions that
//! it looks through.

#![allow(clippy::eq_op, clippy::erasing_op, reason = "operators that are known to give zero are what is asked for")]

use super::operations::Subject;
use isowarp_core::ir::{Expr, OpError, Traced, select, trace};

type F = Expr<f32>;
type D = Expr<f64>;
type I = Expr<i32>;
type U = Expr<u32>;
type L = Expr<i64>;

/// A composition that does not trace is none: the tests count them.
fn add<A: Traced, R: Traced>(all: &mut Vec<Subject>, name: &str, f: impl FnOnce(A) -> R) {
    let traced: Result<_, OpError> = trace(f);
    all.extend(traced.ok().map(|func| Subject::new(name, func)));
}

/// Number of compositions.
#[cfg(test)]
pub(super) const COUNT: usize = 73;

pub(super) fn all() -> Vec<Subject> {
    let mut list = Vec::with_capacity(64);
    sums(&mut list);
    zeros(&mut list);
    conversions(&mut list);
    wide(&mut list);
    doubles(&mut list);
    list
}

fn sums(all: &mut Vec<Subject>) {
    add(all, "(a + b) + c", |(a, b, c): (F, F, F)| (a + b) + c);
    add(all, "a + (b + c)", |(a, b, c): (F, F, F)| a + (b + c));
    add(all, "(a * b) * c", |(a, b, c): (F, F, F)| a.mul_rn(b).mul_rn(c));
    add(all, "(a + b) - a", |(a, b): (F, F)| (a + b) - a);
    add(all, "(a - b) + b", |(a, b): (F, F)| (a - b) + b);
    add(all, "(a * 0.1) * 3", |a: F| a.mul_rn(0.1).mul_rn(3.0));
    add(all, "(a + 0.1) + 3", |a: F| (a + 0.1) + 3.0);
    add(all, "(a + 0.1) - 0.1", |a: F| (a + 0.1) - 0.1);
    add(all, "(a * 3) * (1/3)", |a: F| a.mul_rn(3.0).mul_rn(0.333_333_34));
    add(all, "a * 1", |a: F| a.mul_rn(1.0));
    add(all, "a - a", |a: F| a - a);
    add(all, "!(a >= b)", |(a, b): (F, F)| !a.ge(b));
    add(all, "!(a == a)", |a: F| !a.eq(a));
    add(all, "a < b ? a : b", |(a, b): (F, F)| select(a.lt(b), a, b));
    add(all, "(a < b) || (a < c)", |(a, b, c): (F, F, F)| a.lt(b) | a.lt(c));
    add(all, "i32(0 < a) - i32(a < 0)", |a: F| a.gt(0.0).cast::<i32>() - a.lt(0.0).cast::<i32>());
    add(all, "min(-a, b)", |(a, b): (F, F)| (-a).min(b));
    add(all, "floor(abs(a))", |a: F| a.abs().floor());
    add(all, "abs(a) >= 0", |a: F| a.abs().ge(0.0));
    add(all, "abs(a) > -2.5", |a: F| a.abs().gt(-2.5));
    add(all, "a * a >= 0", |a: F| (a * a).ge(0.0));
    // Open products, which compilers contract.
    add(all, "(a * b) + c", |(a, b, c): (F, F, F)| a.mul_rn(b) + c);
    add(all, "a * b - b * c", |(a, b, c): (F, F, F)| a * b - b * c);
    add(all, "a * a - a * a", |a: F| a * a - -a * -a);
}

/// Zeros, literal and derived, have a sign, and meet NaN and infinity.
fn zeros(all: &mut Vec<Subject>) {
    add(all, "a + 0", |a: F| a + 0.0);
    add(all, "0 - a", |a: F| F::from(0.0) - a);
    add(all, "a * 0", |a: F| a.mul_rn(0.0));
    add(all, "a + f32(i & 0)", |(a, i): (F, I)| a + (i & 0).cast::<f32>());
    add(all, "f32(i & 0) - a", |(a, i): (F, I)| (i & 0).cast::<f32>() - a);
    add(all, "a * f32(i - i)", |(a, i): (F, I)| a.mul_rn((i - i).cast::<f32>()));
    add(all, "a * f32(u < 0)", |(a, u): (F, U)| a.mul_rn(u.lt(0).cast::<f32>()));
    add(all, "a + bits(u ^ u)", |(a, u): (F, U)| a + (u ^ u).bitcast::<f32>());
    add(all, "fma(a, f32(i & 0), a)", |(a, i): (F, I)| a.mul_add((i & 0).cast::<f32>(), a));
    add(all, "((a - a) * a) - f32(a < b)", |(a, b): (F, F)| ((a - a) * a) - a.lt(b).cast::<f32>());
    add(all, "-f32(a < b)", |(a, b): (F, F)| -(a.lt(b).cast::<f32>()));
    add(all, "-f32(i)", |i: I| -(i.cast::<f32>()));
    add(all, "-f32(u & 1)", |u: U| -((u & 1).cast::<f32>()));
    add(all, "f32(a < b) - f32(b < a)", |(a, b): (F, F)| a.lt(b).cast::<f32>() - b.lt(a).cast::<f32>());
    add(all, "f32(0 < a) - f32(a < 0)", |a: F| a.gt(0.0).cast::<f32>() - a.lt(0.0).cast::<f32>());
}

fn conversions(all: &mut Vec<Subject>) {
    // The words of one product.
    add(all, "u * k ^ mul_hi(u, k)", |u: U| (u * 0xd251_1f53) ^ u.mul_hi(0xd251_1f53));
    add(all, "mul_hi(u, k) + mul_hi(u * k, k)", |u: U| u.mul_hi(0xcd9e_8d57) + (u * 0xcd9e_8d57).mul_hi(0xcd9e_8d57));
    add(all, "max(i, abs(i))", |i: I| i.max(i.abs()));
    add(all, "max(abs(i), j)", |(i, j): (I, I)| i.abs().max(j));
    add(all, "max(i, max(i, -i))", |i: I| i.max(i.max(-i)));
    add(all, "max(max(i, -j), k)", |(i, j, k): (I, I, I)| i.max(-j).max(k));
    add(all, "min(min(i, j * -1), k)", |(i, j, k): (I, I, I)| i.min(j * -1).min(k));
    add(all, "abs(i) < 0", |i: I| i.abs().lt(0));
    add(all, "f32(u32(i))", |i: I| i.cast::<u32>().cast::<f32>());
    add(all, "f32(i8)", |u: U| ((u.cast::<i32>() << 24u32) >> 24u32).cast::<f32>());
    add(all, "u32(f32(i))", |i: I| i.cast::<f32>().cast::<u32>());
    add(all, "abs(f32(i))", |i: I| i.cast::<f32>().abs());
    add(all, "f32(i) < 0.5", |i: I| i.cast::<f32>().lt(0.5));
    add(all, "(i << 16) >> 16", |i: I| (i << 16u32) >> 16u32);
    add(all, "min(i, 100) < 50", |i: I| i.min(100).lt(50));
}

fn wide(all: &mut Vec<Subject>) {
    add(all, "i64(i) < 100", |i: I| i.cast::<i64>().lt(100));
    add(all, "i64(i) >= -5", |i: I| i.cast::<i64>().ge(-5));
    add(all, "100 <= i64(i)", |i: I| L::from(100).le(i.cast::<i64>()));
    add(all, "i64(i) < 2^40", |i: I| i.cast::<i64>().lt(1 << 40));
    add(all, "f32(i64(i))", |i: I| i.cast::<i64>().cast::<f32>());
    add(all, "i64(u) << 16", |u: U| u.cast::<i64>() << 16u32);
    add(all, "i64(u32(i)) << 16", |i: I| i.cast::<u32>().cast::<i64>() << 16u32);
    add(all, "u64(i64(i)) << 9", |i: I| i.cast::<i64>().cast::<u64>() << 9u32);
    add(all, "(l << 47) >= 2^57", |l: L| (l << 47u32).ge(1 << 57));
    add(all, "(l << 31) * 3 + 100", |l: L| (l << 31u32) * 3 + 100);
    add(all, "max(max(i, i32(-l)), j)", |(i, j, l): (I, I, L)| i.max((-l).cast::<i32>()).max(j));
    add(all, "i32(i64(i) >> 3)", |i: I| (i.cast::<i64>() >> 3u32).cast::<i32>());
}

fn doubles(all: &mut Vec<Subject>) {
    add(all, "(d + e) - d", |(a, b): (D, D)| (a + b) - a);
    add(all, "(d * 0.1) * 3", |a: D| a.mul_rn(0.1).mul_rn(3.0));
    add(all, "d * f64(i & 0)", |(a, i): (D, I)| a.mul_rn((i & 0).cast::<f64>()));
    add(all, "(d * e) + d", |(a, b): (D, D)| a.mul_rn(b) + a);
    add(all, "d * d - e * e", |(a, b): (D, D)| a * a - b * b);
    add(all, "d + f64(i & 0)", |(a, i): (D, I)| a + (i & 0).cast::<f64>());
    add(all, "-f64(d < e)", |(a, b): (D, D)| -(a.lt(b).cast::<f64>()));
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_composition_traces() {
        assert_eq!(super::all().len(), super::COUNT);
    }
}
