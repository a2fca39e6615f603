//! Special values as IEEE 754-2019 and Annex F of C, and digits published elsewhere.

use super::super::{Func, Native, sincos};
use super::reference::ulp_error;
use super::same_bits;

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const TINY: f32 = 1.0e-45;

/// (function, argument, exact result)
#[rustfmt::skip]
const ONE: &[(Func, f32, f32)] = &[
    (Func::Exp, 0.0, 1.0), (Func::Exp, -0.0, 1.0), (Func::Exp, INF, INF), (Func::Exp, -INF, 0.0), (Func::Exp, NAN, NAN),
    (Func::Exp, 88.73, INF), (Func::Exp, -104.0, 0.0), (Func::Exp, f32::MAX, INF), (Func::Exp, f32::MIN, 0.0), (Func::Exp, TINY, 1.0),
    (Func::Exp2, 0.0, 1.0), (Func::Exp2, 10.0, 1024.0), (Func::Exp2, -149.0, TINY), (Func::Exp2, 128.0, INF), (Func::Exp2, INF, INF),
    (Func::Exp2, -INF, 0.0), (Func::Exp2, NAN, NAN), (Func::Exp2, 127.0, 1.7014118e38), (Func::Exp2, -151.0, 0.0),
    (Func::Expm1, 0.0, 0.0), (Func::Expm1, -0.0, -0.0), (Func::Expm1, INF, INF), (Func::Expm1, -INF, -1.0), (Func::Expm1, NAN, NAN),
    (Func::Expm1, TINY, TINY), (Func::Expm1, -TINY, -TINY),
    (Func::Log, 1.0, 0.0), (Func::Log, 0.0, -INF), (Func::Log, -0.0, -INF), (Func::Log, INF, INF), (Func::Log, -1.0, NAN),
    (Func::Log, -INF, NAN), (Func::Log, NAN, NAN), (Func::Log, -TINY, NAN),
    (Func::Log2, 1.0, 0.0), (Func::Log2, 8.0, 3.0), (Func::Log2, TINY, -149.0), (Func::Log2, 0.0, -INF), (Func::Log2, INF, INF),
    (Func::Log2, -1.0, NAN), (Func::Log2, NAN, NAN),
    (Func::Log10, 1.0, 0.0), (Func::Log10, 1000.0, 3.0), (Func::Log10, 1.0e10, 10.0), (Func::Log10, -0.0, -INF),
    (Func::Log10, INF, INF), (Func::Log10, -1.0, NAN), (Func::Log10, NAN, NAN),
    (Func::Log1p, 0.0, 0.0), (Func::Log1p, -0.0, -0.0), (Func::Log1p, -1.0, -INF), (Func::Log1p, INF, INF), (Func::Log1p, -1.5, NAN),
    (Func::Log1p, NAN, NAN), (Func::Log1p, TINY, TINY), (Func::Log1p, -TINY, -TINY),
    (Func::Sin, 0.0, 0.0), (Func::Sin, -0.0, -0.0), (Func::Sin, INF, NAN), (Func::Sin, -INF, NAN), (Func::Sin, NAN, NAN),
    (Func::Sin, TINY, TINY), (Func::Sin, -TINY, -TINY),
    (Func::Cos, 0.0, 1.0), (Func::Cos, -0.0, 1.0), (Func::Cos, INF, NAN), (Func::Cos, -INF, NAN), (Func::Cos, NAN, NAN),
    (Func::Tan, 0.0, 0.0), (Func::Tan, -0.0, -0.0), (Func::Tan, INF, NAN), (Func::Tan, NAN, NAN), (Func::Tan, -TINY, -TINY),
    (Func::Asin, 0.0, 0.0), (Func::Asin, -0.0, -0.0), (Func::Asin, 1.0000001, NAN), (Func::Asin, -INF, NAN), (Func::Asin, NAN, NAN),
    (Func::Asin, 1.0, 1.5707964), (Func::Asin, -1.0, -1.5707964), (Func::Asin, TINY, TINY),
    (Func::Acos, 1.0, 0.0), (Func::Acos, -1.0, 3.1415927), (Func::Acos, 0.0, 1.5707964), (Func::Acos, 1.0000001, NAN),
    (Func::Acos, INF, NAN), (Func::Acos, NAN, NAN),
    (Func::Atan, 0.0, 0.0), (Func::Atan, -0.0, -0.0), (Func::Atan, INF, 1.5707964), (Func::Atan, -INF, -1.5707964),
    (Func::Atan, 1.0, 0.7853982), (Func::Atan, NAN, NAN), (Func::Atan, -TINY, -TINY),
    (Func::Sinh, 0.0, 0.0), (Func::Sinh, -0.0, -0.0), (Func::Sinh, INF, INF), (Func::Sinh, -INF, -INF), (Func::Sinh, NAN, NAN),
    (Func::Sinh, 89.5, INF), (Func::Sinh, -TINY, -TINY),
    (Func::Cosh, 0.0, 1.0), (Func::Cosh, -0.0, 1.0), (Func::Cosh, INF, INF), (Func::Cosh, -INF, INF), (Func::Cosh, NAN, NAN),
    (Func::Cosh, -89.5, INF),
    (Func::Tanh, 0.0, 0.0), (Func::Tanh, -0.0, -0.0), (Func::Tanh, INF, 1.0), (Func::Tanh, -INF, -1.0), (Func::Tanh, NAN, NAN),
    (Func::Tanh, TINY, TINY), (Func::Tanh, 10.0, 1.0),
    (Func::Erf, 0.0, 0.0), (Func::Erf, -0.0, -0.0), (Func::Erf, INF, 1.0), (Func::Erf, -INF, -1.0), (Func::Erf, NAN, NAN),
    (Func::Rsqrt, 4.0, 0.5), (Func::Rsqrt, 0.0, INF), (Func::Rsqrt, -0.0, -INF), (Func::Rsqrt, INF, 0.0), (Func::Rsqrt, -1.0, NAN),
    (Func::Rsqrt, -INF, NAN), (Func::Rsqrt, NAN, NAN),
    (Func::Cbrt, 0.0, 0.0), (Func::Cbrt, -0.0, -0.0), (Func::Cbrt, INF, INF), (Func::Cbrt, -INF, -INF), (Func::Cbrt, NAN, NAN),
    (Func::Cbrt, 27.0, 3.0), (Func::Cbrt, -8.0, -2.0),
];

#[test]
fn special_values_of_one_argument() {
    for &(func, x, want) in ONE {
        let got = func.eval1(x);
        assert!(same_bits(got, want), "{} {x:e} is {got:e}, not {want:e}", func.name());
    }
}

/// (x, y, x^y)
#[rustfmt::skip]
const POWERS: &[(f32, f32, f32)] = &[
    (0.0, -3.0, INF), (-0.0, -3.0, -INF), (0.0, -2.0, INF), (-0.0, -2.0, INF), (-0.0, -2.5, INF), (0.0, -INF, INF), (-0.0, -INF, INF),
    (0.0, 3.0, 0.0), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-0.0, 2.5, 0.0), (0.0, INF, 0.0), (-0.0, INF, 0.0),
    (-1.0, INF, 1.0), (-1.0, -INF, 1.0), (1.0, NAN, 1.0), (1.0, INF, 1.0), (1.0, 0.3, 1.0), (NAN, 0.0, 1.0), (NAN, -0.0, 1.0),
    (INF, 0.0, 1.0), (0.0, 0.0, 1.0), (-0.0, -0.0, 1.0), (-2.0, 0.5, NAN), (-TINY, 1.5, NAN), (-f32::MAX, -0.1, NAN),
    (0.5, -INF, INF), (2.0, -INF, 0.0), (-0.5, -INF, INF), (-2.0, -INF, 0.0), (0.5, INF, 0.0), (2.0, INF, INF), (-3.0, INF, INF),
    (-INF, -3.0, -0.0), (-INF, -2.0, 0.0), (-INF, -2.5, 0.0), (-INF, 3.0, -INF), (-INF, 2.0, INF), (-INF, 2.5, INF),
    (INF, -0.1, 0.0), (INF, 0.1, INF), (NAN, 1.0, NAN), (2.0, NAN, NAN), (-1.0, NAN, NAN), (0.0, NAN, NAN), (INF, INF, INF),
    (INF, -INF, 0.0), (-INF, INF, INF), (-INF, -INF, 0.0),
    (2.0, 10.0, 1024.0), (-2.0, 3.0, -8.0), (-2.0, -3.0, -0.125), (3.0, 4.0, 81.0), (10.0, 10.0, 1.0e10), (2.0, -149.0, TINY),
    (-2.0, -149.0, -TINY), (2.0, 128.0, INF), (-2.0, 129.0, -INF), (2.0, -151.0, 0.0), (-2.0, -151.0, -0.0),
    (TINY, 1.0, TINY), (TINY, -1.0, INF), (f32::MAX, 1.0, f32::MAX), (-1.0, 16777215.0, -1.0), (-1.0, 16777216.0, 1.0),
    (1.0000001, f32::MAX, INF), (0.9999999, f32::MAX, 0.0), (1.0000001, f32::MIN, 0.0), (2.0, TINY, 1.0), (5.0, 1.0, 5.0),
];

#[test]
fn special_values_of_pow() {
    for &(x, y, want) in POWERS {
        let got = Func::Pow.eval2(x, y);
        assert!(same_bits(got, want), "pow({x:e}, {y:e}) is {got:e}, not {want:e}");
    }
}

const PI: f32 = std::f32::consts::PI;
const HALF_PI: f32 = std::f32::consts::FRAC_PI_2;
const QUARTER_PI: f32 = std::f32::consts::FRAC_PI_4;

/// (y, x, angle), y ≥ +0; the negated y must give the negated angle.
#[rustfmt::skip]
const ANGLES: &[(f32, f32, f32)] = &[
    (0.0, 0.0, 0.0), (0.0, -0.0, PI), (0.0, 1.0, 0.0), (0.0, -1.0, PI), (0.0, INF, 0.0), (0.0, -INF, PI), (1.0, 0.0, HALF_PI),
    (1.0, -0.0, HALF_PI), (TINY, 0.0, HALF_PI), (TINY, -0.0, HALF_PI), (1.0, INF, 0.0), (1.0, -INF, PI), (INF, 1.0, HALF_PI),
    (INF, -1.0, HALF_PI), (INF, INF, QUARTER_PI), (INF, -INF, 2.3561945), (1.0, 1.0, QUARTER_PI), (1.0, -1.0, 2.3561945),
    (TINY, TINY, QUARTER_PI), (f32::MAX, f32::MAX, QUARTER_PI), (TINY, 1.0, TINY), (TINY, f32::MAX, 0.0), (f32::MAX, TINY, HALF_PI),
    (TINY, -1.0, PI), (NAN, 1.0, NAN), (1.0, NAN, NAN), (NAN, INF, NAN), (0.0, NAN, NAN), (NAN, 0.0, NAN), (3.0e-45, 2.0, TINY),
];

#[test]
fn special_values_of_atan2() {
    for &(y, x, want) in ANGLES {
        for (y, want) in [(y, want), (-y, -want)] {
            let got = Func::Atan2.eval2(y, x);
            assert!(same_bits(got, want), "atan2({y:e}, {x:e}) is {got:e}, not {want:e}");
        }
    }
}

/// (function, argument, published digits, source)
const PUBLISHED: &[(Func, f32, f64, &str)] = &[
    (Func::Exp, 1.0, 2.718_281_828_459_045, "DLMF 4.2.11"),
    (Func::Expm1, 1.0, 1.718_281_828_459_045, "DLMF 4.2.11, less 1"),
    (Func::Log, 2.0, 0.693_147_180_559_945_3, "Abramowitz & Stegun table 1.1"),
    (Func::Log, 10.0, 2.302_585_092_994_046, "Abramowitz & Stegun table 1.1"),
    (Func::Log10, 2.0, 0.301_029_995_663_981_2, "Abramowitz & Stegun table 1.1"),
    (Func::Log2, 10.0, 3.321_928_094_887_362, "OEIS A020862"),
    (Func::Log1p, 1.0, 0.693_147_180_559_945_3, "Abramowitz & Stegun table 1.1"),
    (Func::Exp2, 0.5, 1.414_213_562_373_095, "Abramowitz & Stegun table 1.1"),
    (Func::Sin, 1.0, 0.841_470_984_807_896_5, "Abramowitz & Stegun table 4.6"),
    (Func::Cos, 1.0, 0.540_302_305_868_139_7, "Abramowitz & Stegun table 4.6"),
    (Func::Tan, 1.0, 1.557_407_724_654_902_3, "OEIS A049471"),
    (Func::Sinh, 1.0, 1.175_201_193_643_801_4, "OEIS A073742"),
    (Func::Cosh, 1.0, 1.543_080_634_815_243_7, "OEIS A073743"),
    (Func::Tanh, 1.0, 0.761_594_155_955_764_9, "OEIS A073744"),
    (Func::Atan, 1.0, 0.785_398_163_397_448_3, "DLMF 3.12.1, a quarter"),
    (Func::Asin, 0.5, 0.523_598_775_598_298_9, "DLMF 3.12.1, a sixth"),
    (Func::Acos, 0.5, 1.047_197_551_196_597_7, "DLMF 3.12.1, a third"),
    (Func::Erf, 0.5, 0.520_499_877_813_046_5, "Abramowitz & Stegun table 7.1"),
    (Func::Erf, 1.0, 0.842_700_792_949_714_9, "Abramowitz & Stegun table 7.1"),
    (Func::Erf, 2.0, 0.995_322_265_018_952_7, "Abramowitz & Stegun table 7.1"),
    (Func::Cbrt, 2.0, 1.259_921_049_894_873_2, "Abramowitz & Stegun table 1.1"),
    (Func::Rsqrt, 2.0, 0.707_106_781_186_547_6, "Abramowitz & Stegun table 1.1, half of √2"),
];

#[test]
fn published_digits_are_met() {
    for &(func, x, want, source) in PUBLISHED {
        let error = ulp_error(func.eval1(x), want);
        assert!(error <= 1.0, "{} {x} against {source}: {error} ULP", func.name());
    }
}

#[test]
fn sincos_is_sin_and_cos() {
    for bits in (0..=u32::MAX).step_by(100_003) {
        let x = f32::from_bits(bits);
        let (sin, cos) = sincos::<Native>(x);
        assert!(same_bits(sin, Func::Sin.eval1(x)) && same_bits(cos, Func::Cos.eval1(x)), "at {x:e}");
    }
}
