//! The evaluator against Rust's own semantics, on boundary values.

mod common;

use common::samples;
use isowarp_core::element::{Scalar, Ty};
use isowarp_core::ir::{Evaluator, Expr, Func, trace};

fn eval(f: &Func, args: &[u64]) -> u64 {
    let mut e = Evaluator::new(f);
    e.eval_one(args);
    e.result(0)[0]
}

macro_rules! int_tables {
    ($($t:ident),*) => {$(
        #[test]
        fn $t() {
            type X = Expr<core::primitive::$t>;
            type T = core::primitive::$t;
            let values: Vec<T> = samples(T::TY).into_iter().map(T::from_bits64).collect();
            let table: Vec<(&str, Func, fn(T, T) -> T)> = vec![
                ("add", trace(|(a, b): (X, X)| a + b).unwrap(), T::wrapping_add),
                ("sub", trace(|(a, b): (X, X)| a - b).unwrap(), T::wrapping_sub),
                ("mul", trace(|(a, b): (X, X)| a * b).unwrap(), T::wrapping_mul),
                ("div", trace(|(a, b): (X, X)| a / b).unwrap(), |a, b| if b == 0 { a } else { a.wrapping_div(b) }),
                ("rem", trace(|(a, b): (X, X)| a % b).unwrap(), |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) }),
                ("shl", trace(|(a, b): (X, X)| a << b.cast::<u32>()).unwrap(), |a, b| a.wrapping_shl(b as u32)),
                ("shr", trace(|(a, b): (X, X)| a >> b.cast::<u32>()).unwrap(), |a, b| a.wrapping_shr(b as u32)),
                ("min", trace(|(a, b): (X, X)| a.min(b)).unwrap(), Ord::min),
                ("max", trace(|(a, b): (X, X)| a.max(b)).unwrap(), Ord::max),
                ("lt", trace(|(a, b): (X, X)| a.lt(b).cast::<T>()).unwrap(), |a, b| T::from(a < b)),
                ("ge", trace(|(a, b): (X, X)| a.ge(b).cast::<T>()).unwrap(), |a, b| T::from(a >= b)),
            ];
            for (name, f, rust) in &table {
                for &a in &values {
                    for &b in &values {
                        assert_eq!(T::from_bits64(eval(f, &[a.to_bits64(), b.to_bits64()])), rust(a, b), "{a} {name} {b}");
                    }
                }
            }
        }
    )*};
}
int_tables!(i32, u32, i64, u64);

#[test]
fn division_has_its_edge_cases() {
    let div = trace(|(a, b): (Expr<i32>, Expr<i32>)| (a / b, a % b)).unwrap();
    let mut e = Evaluator::new(&div);
    for (a, b, q, r) in [(i32::MIN, -1, i32::MIN, 0), (i32::MIN, 0, i32::MIN, 0), (7, 0, 7, 0), (-7, 2, -3, -1), (7, -2, -3, 1)] {
        e.eval_one(&[a.to_bits64(), b.to_bits64()]);
        assert_eq!((i32::from_bits64(e.result(0)[0]), i32::from_bits64(e.result(1)[0])), (q, r), "{a} by {b}");
    }
}

macro_rules! cast_table {
    ($($from:ty => $($to:ty),*;)*) => {
        #[test]
        fn casts_are_rusts_as() {
            $($({
                let f = trace(|x: Expr<$from>| x.cast::<$to>()).unwrap();
                for bits in samples(<$from as Scalar>::TY) {
                    let x = <$from>::from_bits64(bits);
                    let (got, rust) = (eval(&f, &[bits]), (x as $to).to_bits64());
                    let nan = <$to as Scalar>::TY.is_float() && x != x;
                    assert!(got == rust || nan, "{x:?} as {}: {got:x}, not {rust:x}", <$to as Scalar>::TY);
                }
            })*)*
        }
    };
}
#[allow(clippy::eq_op, reason = "integers too are asked whether they are NaN")]
mod casts {
    use super::*;
    cast_table! {
        f32 => f64, i32, u32, i64, u64;
        f64 => f32, i32, u32, i64, u64;
        i32 => f32, f64, u32, i64, u64;
        u32 => f32, f64, i32, i64, u64;
        i64 => f32, f64, i32, u32, u64;
        u64 => f32, f64, i32, u32, i64;
    }
}

#[test]
fn floats_saturate_and_nan_gives_zero() {
    let f = trace(|x: Expr<f32>| (x.cast::<i32>(), x.cast::<u32>(), x.cast::<i64>(), x.cast::<bool>())).unwrap();
    let mut e = Evaluator::new(&f);
    for (x, i, u, l, t) in [
        (f32::NAN, 0, 0, 0, true),
        (f32::INFINITY, i32::MAX, u32::MAX, i64::MAX, true),
        (f32::NEG_INFINITY, i32::MIN, 0, i64::MIN, true),
        (1e20, i32::MAX, u32::MAX, i64::MAX, true),
        (-1.9, -1, 0, -1, true),
        (-0.0, 0, 0, 0, false),
    ] {
        e.eval_one(&[x.to_bits64()]);
        assert_eq!(e.result(0)[0], i.to_bits64(), "{x}");
        assert_eq!(e.result(1)[0], u.to_bits64(), "{x}");
        assert_eq!(e.result(2)[0], l.to_bits64(), "{x}");
        assert_eq!(e.result(3)[0], u64::from(t), "{x}");
    }
}

#[test]
fn minimum_and_maximum_propagate_nan_and_order_zeros() {
    let f = trace(|(a, b): (Expr<f32>, Expr<f32>)| (a.min(b), a.max(b))).unwrap();
    let mut e = Evaluator::new(&f);
    for a in samples(Ty::F32) {
        for b in samples(Ty::F32) {
            let (x, y) = (f32::from_bits64(a), f32::from_bits64(b));
            e.eval_one(&[a, b]);
            let (low, high) = if x.total_cmp(&y).is_le() { (a, b) } else { (b, a) };
            let (low, high) = if x.is_nan() || y.is_nan() { (0x7FC0_0000, 0x7FC0_0000) } else { (low, high) };
            assert_eq!((e.result(0)[0], e.result(1)[0]), (low, high), "{x:?} {y:?}");
        }
    }
}

#[test]
fn bits_are_taken_of_the_canonical_nan() {
    let f = trace(|x: Expr<f32>| x.bitcast::<u32>()).unwrap();
    assert_eq!(eval(&f, &[0xFFC1_2345]), 0x7FC0_0000);
    assert_eq!(eval(&f, &[0x8000_0000]), 0x8000_0000);
}
