//! Accuracy, special values, published values and bit identities of the elementary functions.

#![expect(clippy::approx_constant, reason = "published digits and the seams next to constants are meant as they stand")]

mod audit;
mod exact;
mod flushing;
mod reference;
mod special;

use super::{Arith, Func, Native, soft_div, soft_sqrt};
use audit::{Audit, Tagged, operations};
use flushing::Flushing;
use reference::{reference, ulp_error};

/// A fixed stream of pseudo-random words (SplitMix64 by Steele, Lea and Flood).
fn words(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn same_bits(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Bit patterns around which definitions change branch, overflow, underflow or turn special.
#[rustfmt::skip]
const CENTRES: &[f32] = &[
    0.0, f32::MIN_POSITIVE, 1.0e-20, 5.9604645e-8, 2.4414062e-4, 0.346_573_6, 0.5, 0.673_095_7, 0.707_106_77, 0.785_398_2, 1.0,
    1.346_191_4, 1.414_213_5, 1.5707964, 2.0, 2.3561945, 3.1415927, 3.9, 4.0, 6.2831855, 9.0, 10.0, 17.328_68, 87.0, 88.72284, 89.41599, 103.97208,
    125.0, 126.0, 128.0, 149.0, 150.0, 8192.0, 16777216.0, 1.0e18, 1.0e30, f32::MAX,
];

fn check_accuracy(func: Func, x: f32) {
    let error = ulp_error(func.eval1(x), reference(func.name(), f64::from(x), 0.0));
    assert!(error <= 1.0, "{} at {x:e}: {error} ULP", func.name());
}

fn functions_of_one() -> impl Iterator<Item = Func> {
    Func::ALL.iter().copied().filter(|f| f.arity() == 1)
}

#[test]
fn every_function_is_within_one_ulp_on_a_stride_of_all_inputs() {
    for func in functions_of_one() {
        for bits in (0..=u32::MAX).step_by(20_011) {
            check_accuracy(func, f32::from_bits(bits));
        }
    }
}

#[test]
fn every_function_is_within_one_ulp_around_its_seams() {
    for func in functions_of_one() {
        for centre in CENTRES {
            let middle = centre.to_bits();
            for bits in middle.saturating_sub(1500)..middle + 1500 {
                check_accuracy(func, f32::from_bits(bits));
                check_accuracy(func, -f32::from_bits(bits));
            }
        }
    }
}

#[test]
fn functions_of_two_arguments_are_within_one_ulp() {
    let mut next = words(1);
    for i in 0..600_000 {
        let word = next();
        let (x, mut y) = (f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32));
        let error = ulp_error(Func::Atan2.eval2(y, x), reference("atan2", y.into(), x.into()));
        assert!(error <= 1.0, "atan2({y:e}, {x:e}): {error} ULP");
        if i % 2 == 0 {
            // Most random pairs overflow: choose y for a result anywhere in range.
            let exponent = (word >> 32) as f64 / 2f64.powi(32) * 280.0 - 151.0;
            y = (exponent / f64::from(x.abs()).log2()) as f32;
        }
        let x = if i % 3 == 0 { x } else { x.abs() };
        let error = ulp_error(Func::Pow.eval2(x, y), reference("pow", x.into(), y.into()));
        assert!(error <= 1.0, "pow({x:e}, {y:e}): {error} ULP");
    }
}

#[test]
fn atan2_is_within_one_ulp_where_the_quotient_is_moderate() {
    let mut next = words(2);
    for _ in 0..600_000 {
        let word = next();
        let x = f32::from_bits(word as u32 & 0x81ff_ffff | 0x3e00_0000);
        let y = f32::from_bits((word >> 32) as u32 & 0x81ff_ffff | 0x3e00_0000);
        let error = ulp_error(Func::Atan2.eval2(y, x), reference("atan2", y.into(), x.into()));
        assert!(error <= 1.0, "atan2({y:e}, {x:e}): {error} ULP");
    }
}

#[test]
fn powers_of_numbers_near_one_are_within_one_ulp() {
    let mut next = words(3);
    for _ in 0..300_000 {
        let word = next();
        let unit = (word >> 32) as f64 / 2f64.powi(32);
        let near_one = (f32::from_bits(0x3f80_0000 - 0x0010_0000 + (word as u32 & 0x001f_ffff)), unit * 280.0 - 151.0);
        // Great powers of numbers whose logarithm is the least exact.
        let least_exact = (f32::from_bits(0x3fac_0000 + (word as u32 & 0x0001_ffff)), if word >> 63 == 0 { 128.0 } else { -126.5 } - unit);
        for (x, exponent) in [near_one, least_exact] {
            let y = (exponent / f64::from(x).log2()) as f32;
            let error = ulp_error(Func::Pow.eval2(x, y), reference("pow", x.into(), y.into()));
            assert!(error <= 1.0, "pow({x:e}, {y:e}): {error} ULP");
        }
    }
}

#[test]
fn no_product_feeds_a_sum() {
    let mut next = words(4);
    for &func in Func::ALL {
        for _ in 0..20_000 {
            let word = next();
            let args = [f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32)];
            let audited = func.apply::<Audit>(&args.map(Tagged::new)).value;
            assert!(same_bits(audited, func.apply::<Native>(&args)), "{} at {args:?}", func.name());
        }
    }
}

#[test]
fn common_paths_stay_short() {
    let table = |func: Func| match func {
        Func::Exp | Func::Exp2 => 25,
        Func::Sin | Func::Cos => 40,
        Func::Log | Func::Log2 | Func::Log10 | Func::Rsqrt => 35,
        _ => 110,
    };
    for &func in Func::ALL {
        let args = [Tagged::new(1.7), Tagged::new(0.6)];
        let done = operations(|| {
            func.apply::<Audit>(&args[..func.arity()]);
        });
        println!("{:9} {done}", func.name());
        assert!(done <= table(func), "{} takes {done} operations", func.name());
    }
    let soft = [
        operations(|| {
            soft_div::<Audit>(Tagged::new(1.7), Tagged::new(0.6));
        }),
        operations(|| {
            soft_sqrt::<Audit>(Tagged::new(1.7));
        }),
    ];
    println!("soft_div  {}\nsoft_sqrt {}", soft[0], soft[1]);
    assert!(soft[0] <= 25 && soft[1] <= 25, "{soft:?}");
}

/// Whether a definition over either flushing arithmetic gives the bits it has over the exact one.
fn keeps_bits(func: Func, args: &[f32]) -> bool {
    let exact = func.apply::<Native>(args);
    same_bits(func.apply::<Flushing<true>>(args), exact) && same_bits(func.apply::<Flushing<false>>(args), exact)
}

/// Every 40,011th float, those around the seams, and some of the subnormal ones.
fn floats() -> impl Iterator<Item = f32> {
    let around = CENTRES.iter().flat_map(|c| c.to_bits().saturating_sub(400)..c.to_bits() + 400);
    let small = (0..0x0090_0000).step_by(331);
    let signed = around.chain(small).flat_map(|b| [b, b | 0x8000_0000]);
    (0..=u32::MAX).step_by(40_011).chain(signed).map(f32::from_bits)
}

#[test]
fn functions_keep_their_bits_over_a_flushing_fma() {
    for func in functions_of_one() {
        for x in floats() {
            if func.keeps_bits_under_flushing_fma() || (func.returns_subnormals() && !x.is_subnormal()) {
                assert!(keeps_bits(func, &[x]), "{} at {x:e}", func.name());
            } else if func.returns_subnormals() {
                assert!(same_bits(func.eval1(x), x), "{} at {x:e}", func.name());
            }
        }
        let somewhere = func.keeps_bits_under_flushing_fma() || !keeps_bits(func, &[f32::from_bits(0x0000_1234)]);
        assert!(somewhere, "{} is not marked", func.name());
    }
    for x in floats() {
        let exact = x.sqrt();
        assert!(same_bits(soft_sqrt::<Flushing<true>>(x), exact) && same_bits(soft_sqrt::<Flushing<false>>(x), exact), "sqrt at {x:e}");
    }
}

#[test]
fn functions_of_two_arguments_keep_their_bits_over_a_flushing_fma() {
    let mut next = words(5);
    let mut one = || {
        let word = next();
        let bits = word as u32;
        f32::from_bits(match word >> 61 {
            0 => bits & 0x80ff_ffff,
            1 => (bits & 0x807f_ffff) | (((word >> 32) as u32 % 30) << 23),
            2 => (bits & 0x807f_ffff) | ((110 + (word >> 32) as u32 % 20) << 23),
            3 => (bits & 0x807f_ffff) | ((220 + (word >> 32) as u32 % 35) << 23),
            _ => bits,
        })
    };
    for i in 0..200_000 {
        let (x, mut y) = (one(), one());
        let low = f64::from(i % 4000) / 100.0 - 155.0;
        for func in [Func::Pow, Func::Atan2] {
            if func == Func::Pow && i % 2 == 0 {
                // Results around the end of the range.
                y = (low / f64::from(x.abs()).log2()) as f32;
            } else if i % 4 == 1 {
                y = (f64::from(x) * low.exp2()) as f32;
            }
            assert!(keeps_bits(func, &[x, y]) && keeps_bits(func, &[y, x]), "{} at {x:e}, {y:e}", func.name());
        }
        let exact = Native::div(x, y);
        let late = soft_div::<Flushing<false>>(x, y);
        assert!(same_bits(late, exact) && same_bits(soft_div::<Flushing<true>>(x, y), exact), "{x:e} / {y:e}");
    }
}
