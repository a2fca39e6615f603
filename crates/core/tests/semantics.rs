//! The evaluator against Rust's own semantics, on boundary values.

mod common;

use common::samples;
use isowarp_core::element::{Element as _, Scalar, Ty};
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

/// NumPy's `float64` to `float16`, of which two roundings give another for seven.
#[test]
fn f64_is_stored_as_f16_with_one_rounding() {
    let table: [(u64, u16); 15] = [
        (0x3ff0_0200_0000_1000, 0x3c01),
        (0xbff0_0200_0000_1000, 0xbc01),
        (0x3ff0_05ff_ffff_f000, 0x3c01),
        (0x3e60_0000_0002_0000, 0x0001),
        (0x3e78_0000_0000_0040, 0x0002),
        (0x40ef_fdff_ffff_ff80, 0x7bff),
        (0x40ef_fdff_ffeb_074a, 0x7bff),
        (0x40a0_0200_0003_5afe, 0x6801),
        (0x3fb9_9999_9999_999a, 0x2e66),
        (0x3fd5_5555_5555_5555, 0x3555),
        (0x3e45_798e_e230_8c3a, 0x0000),
        (0x7e37_e43c_8800_759c, 0x7c00),
        (0x81a5_6e1f_c2f8_f359, 0x8000),
        (0x3e68_0000_0000_0000, 0x0001),
        (0x3f0f_fffa_98d0_7ab3, 0x0400),
    ];
    let f = trace(|x: Expr<f64>| x.store_as_f16()).unwrap();
    let stored = |x: u64| half::f16::narrow(f32::from_bits(eval(&f, &[x]) as u32)).to_bits();
    for (x, expected) in table {
        assert_eq!(stored(x), expected, "{:e}", f64::from_bits(x));
    }
    for special in [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0, 65504.0, 65520.0, 5.960_464_477_539_063e-8] {
        assert_eq!(stored(special.to_bits()), half::f16::from_f64(special).to_bits(), "{special}");
    }
    assert_eq!(stored(f64::NAN.to_bits()), 0x7e00);
}
