//! Results that atomic operations build, against loops: exact sums of floats, minima, tickets, counters, fixed-point numbers. On every device.

use crate::common::{each, each_with, mt19937};
use isowarp::element::{DType, Element};
use isowarp::prelude::*;
use std::collections::HashMap;

/// Well-mixed indices, of which some are outside the targets.
fn indices(n: usize, targets: u32) -> Vec<u32> {
    mt19937(4711, n).into_iter().map(|r| r % (targets + 3)).collect()
}

/// Terms of one magnitude and their sums, which an `f64` holds exactly, so that one rounding of it is the nearest `f32`.
#[test]
fn scattered_sums_are_rounded_once() {
    for (n, targets) in [(1, 1), (5000, 7), (70_001, 1), (70_001, 9001)] {
        let (at, r) = (indices(n, targets), mt19937(5, n));
        let x: Vec<f32> = r.iter().map(|&r| (f64::from(r >> 8) - 8_000_000.0) as f32 * 2f32.powi((r % 13) as i32 - 30)).collect();
        let old: Vec<f32> = (0..targets).map(|t| t as f32 - 3.5).collect();
        let (mut sums, mut less): (Vec<f64>, Vec<f64>) = (old.iter().map(|&v| v.into()).collect(), old.iter().map(|&v| v.into()).collect());
        for (&x, &t) in x.iter().zip(&at).filter(|(_, t)| **t < targets) {
            sums[t as usize] += f64::from(x);
            less[t as usize] -= f64::from(x);
        }
        each(|d| {
            let (dx, dat) = (d.upload(&x).unwrap(), d.upload(&at).unwrap());
            for (op, want) in [(ScatterOp::Sum, &sums), (ScatterOp::Sub, &less)] {
                let out = d.upload(&old).unwrap();
                d.scatter(&dx, &dat).reduce(op).write_to(&out).unwrap();
                let want: Vec<u32> = want.iter().map(|&v| (v as f32).to_bits()).collect();
                assert_eq!(out.read_blocking().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>(), want, "{op:?} {n}");
            }
        });
    }
}

/// Whole numbers times one power of two, whose sums an `i128` holds, so that one rounding of it is the nearest `f64`.
#[test]
fn scattered_sums_of_wide_floats_are_rounded_once() {
    for (n, targets, scale) in [(1, 1, 0), (5000, 7, -1074), (20_001, 1, 900), (20_001, 9001, -600)] {
        let (at, r) = (indices(n, targets), mt19937(5, 2 * n));
        let whole = |i: usize| {
            let x = (i64::from(r[i] as i32) << 20 | i64::from(r[n + i] >> 12)) >> (r[n + i] % 40);
            i128::from(x) << (if scale < -1000 { 0 } else { r[i] % 50 })
        };
        // In two steps, of which the first is exact and the second, down to the least float, too.
        let float = |x: i128| x as f64 * 2f64.powi(scale / 2) * 2f64.powi(scale - scale / 2);
        let mut sums: Vec<i128> = (0..targets).map(|t| i128::from(t) - 3).collect();
        let old: Vec<f64> = sums.iter().map(|&v| float(v)).collect();
        let x: Vec<f64> = (0..n).map(|i| float(whole(i))).collect();
        let mut less = sums.clone();
        for (i, &t) in at.iter().enumerate().filter(|(_, t)| **t < targets) {
            sums[t as usize] += whole(i);
            less[t as usize] -= whole(i);
        }
        each_with(&[DType::F64, DType::U64], |d| {
            let dx = d.upload(&x).unwrap();
            let dat = d.upload(&at).unwrap();
            for (op, want) in [(ScatterOp::Sum, &sums), (ScatterOp::Sub, &less)] {
                let out = d.upload(&old).unwrap();
                d.scatter(&dx, &dat).reduce(op).write_to(&out).unwrap();
                let found = out.read_blocking().unwrap();
                assert!(found.iter().zip(want).all(|(f, &w)| f.to_bits() == float(w).to_bits()), "{op:?} {n} {scale}");
            }
        });
    }
}

#[test]
fn special_floats_follow_the_rules() {
    const NAN: u32 = 0x7FC0_0000;
    let (inf, nan) = (f32::INFINITY, f32::from_bits(0xFFC1_2345));
    // Sources of each target, what was there, and what becomes of it by a sum, a minimum and a maximum.
    let all: [(&[f32], f32, [u32; 3]); 10] = [
        (&[], nan, [nan.to_bits(); 3]),
        (&[], -0.0, [(-0.0f32).to_bits(); 3]),
        (&[0.0], -0.0, [(-0.0f32).to_bits(), (-0.0f32).to_bits(), 0]),
        (&[-0.0], 0.0, [0, (-0.0f32).to_bits(), 0]),
        (&[1.0, nan, 2.0], 5.0, [NAN; 3]),
        (&[inf, 1.0], 1.0, [inf.to_bits(), 1f32.to_bits(), inf.to_bits()]),
        (&[inf], -inf, [NAN, (-inf).to_bits(), inf.to_bits()]),
        (&[1.0], nan, [nan.to_bits(); 3]),
        (&[f32::MAX, f32::MAX, -f32::MAX], 0.0, [f32::MAX.to_bits(), (-f32::MAX).to_bits(), f32::MAX.to_bits()]),
        (&[f32::MAX, 1e-45], f32::MAX, [inf.to_bits(), 1e-45f32.to_bits(), f32::MAX.to_bits()]),
    ];
    let (x, at): (Vec<f32>, Vec<i32>) = all.iter().enumerate().flat_map(|(t, a)| a.0.iter().map(move |&x| (x, t as i32))).unzip();
    let old: Vec<f32> = all.iter().map(|a| a.1).collect();
    each(|d| {
        let (x, at) = (d.upload(&x).unwrap(), d.upload(&at).unwrap());
        for (k, op) in [ScatterOp::Sum, ScatterOp::Min, ScatterOp::Max].into_iter().enumerate() {
            let out = d.upload(&old).unwrap();
            d.scatter(&x, &at).reduce(op).write_to(&out).unwrap();
            for (t, (found, a)) in out.read_blocking().unwrap().into_iter().zip(&all).enumerate() {
                assert_eq!(found.to_bits(), a.2[k], "{op:?} of {:?} into {}, target {t}: {found}", a.0, a.1);
            }
        }
    });
}

#[test]
fn wide_minima_are_those_of_a_loop() {
    let (at, r) = (indices(20_000, 300), mt19937(9, 40_000));
    // Many have the upper half in common.
    let x: Vec<i64> = (0..20_000).map(|i| i64::from(r[i] as i32 % 3) << 32 | i64::from(r[20_000 + i])).collect();
    let old = vec![-5i64; 300];
    let (mut least, mut most) = (old.clone(), old.clone());
    for (&x, &t) in x.iter().zip(&at).filter(|(_, t)| **t < 300) {
        least[t as usize] = least[t as usize].min(x);
        most[t as usize] = most[t as usize].max(x);
    }
    each_with(&[DType::I64, DType::F64], |d| {
        let dx = d.upload(&x).unwrap();
        let (dat, low, high) = (d.upload(&at).unwrap(), d.upload(&old).unwrap(), d.upload(&old).unwrap());
        d.scatter(&dx, &dat).reduce(ScatterOp::Min).write_to(&low).unwrap();
        d.scatter(&dx, &dat).reduce(ScatterOp::Max).write_to(&high).unwrap();
        assert_eq!((low.read_blocking().unwrap(), high.read_blocking().unwrap()), (least.clone(), most.clone()));
        // The same numbers as floats, all of which an f64 holds.
        let floats: Vec<f64> = x.iter().map(|&v| v as f64).collect();
        let (fx, out) = (d.upload(&floats).unwrap(), d.upload(&[-5f64; 300]).unwrap());
        d.scatter(&fx, &dat).reduce(ScatterOp::Min).write_to(&out).unwrap();
        assert_eq!(out.read_blocking().unwrap(), least.iter().map(|&v| v as f64).collect::<Vec<_>>());
    });
}

#[test]
fn tickets_are_handed_out_in_order() {
    for n in [0, 1, 33, 5000, 70_001] {
        let keys: Vec<u32> = mt19937(3, n).into_iter().map(|r| if r % 3 == 0 { r } else { r % 50 }).collect();
        let mut counts: HashMap<u32, u32> = HashMap::new();
        let tickets: Vec<u32> = keys
            .iter()
            .map(|&k| {
                let next = counts.entry(k).or_default();
                *next += 1;
                *next - 1
            })
            .collect();
        let totals: Vec<u32> = keys.iter().map(|k| counts[k]).collect();
        each(|d| {
            let (ticket, total) = d.tickets(&d.upload(&keys).unwrap()).run().unwrap();
            assert_eq!((ticket.read_blocking().unwrap(), total.read_blocking().unwrap()), (tickets.clone(), totals.clone()));
        });
    }
}

#[test]
fn counters_wrap_as_a_loop_of_atomics_does() {
    for limit in [0, 1, 5, 100, u32::MAX - 1, u32::MAX] {
        let at = indices(5000, 40);
        let old: Vec<u32> = mt19937(8, 40).into_iter().map(|r| if r % 2 == 0 { r } else { r % 9 }).collect();
        let (mut up, mut down) = (old.clone(), old.clone());
        for &t in at.iter().filter(|t| **t < 40) {
            let (u, v) = (&mut up[t as usize], &mut down[t as usize]);
            *u = if *u >= limit { 0 } else { *u + 1 };
            *v = if *v == 0 || *v > limit { limit } else { *v - 1 };
        }
        each(|d| {
            let (dat, a, b) = (d.upload(&at).unwrap(), d.upload(&old).unwrap(), d.upload(&old).unwrap());
            d.scatter_inc_into(&dat, limit, &a).unwrap();
            d.scatter_dec_into(&dat, limit, &b).unwrap();
            assert_eq!((a.read_blocking().unwrap(), b.read_blocking().unwrap()), (up.clone(), down.clone()), "{limit}");
        });
    }
}

/// Sums of numbers of this type against the same in a wider one.
macro_rules! fixed_point_sums {
    ($t:ty, $wide:ty, $seed:expr, $scaled:expr) => {
        for (digits, overflow) in $scaled {
            let (at, r) = (indices(20_000, 40), mt19937($seed, 20_000));
            let x: Vec<f32> = r.iter().map(|&r| if r % 97 == 0 { f32::NAN } else { (f64::from(r) / 3e7 - 60.0) as f32 }).collect();
            let old: Vec<$t> = (0..40).map(|t| (t - 20) << (<$t>::BITS - 6)).collect();
            let mut sums: Vec<$wide> = old.iter().map(|&v| v.into()).collect();
            for (&x, &t) in x.iter().zip(&at).filter(|(_, t)| **t < 40) {
                // Exact in an f64: 24 bits, and the nearest whole number of it.
                let scaled = f64::from(x) * 2f64.powi(digits);
                sums[t as usize] += <$wide>::from(scaled.round_ties_even() as $t);
            }
            let nearest = |s: $wide| s.clamp(<$t>::MIN.into(), <$t>::MAX.into());
            let want: Vec<$t> = sums.iter().map(|&s| if overflow == Overflow::Wrap { s as $t } else { nearest(s) as $t }).collect();
            each_with(&[<$t as Element>::DTYPE], |d| {
                let out = d.upload(&old).unwrap();
                d.scatter_fixed_into(&d.upload(&x).unwrap(), &d.upload(&at).unwrap(), digits, overflow, &out).unwrap();
                assert_eq!(out.read_blocking().unwrap(), want, "{digits} {overflow:?}");
                let floats = d.fixed_to_float(&out, digits).run().unwrap().read_blocking().unwrap();
                let exact: Vec<f32> = want.iter().map(|&v| v as f32 * 2f32.powi(-digits)).collect();
                assert_eq!(floats, exact);
            });
        }
    };
}

#[test]
fn fixed_point_sums_are_those_of_whole_numbers() {
    use Overflow::{Saturate, Wrap};
    fixed_point_sums!(i64, i128, 21, [(0, Wrap), (20, Wrap), (20, Saturate), (55, Saturate), (-3, Wrap)]);
    fixed_point_sums!(i32, i64, 22, [(0, Wrap), (20, Wrap), (20, Saturate), (16, Saturate), (26, Saturate), (-3, Wrap)]);
}

/// More sources than the sum of a byte has room for: sums go far beyond 32 bits and come back, and each byte is all ones.
#[test]
fn many_fixed_point_numbers_do_not_saturate_on_their_way() {
    const N: u64 = (1 << 24) + 4099;
    let (falling, turns) = (|_: u64| -1i64, |i: u64| ((i / 3_000_000 % 2) as i64 * 2 - 1) << 30);
    let sum = |term: &dyn Fn(u64) -> i64| (0..N).map(term).sum::<i64>().clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    let want = [sum(&falling), sum(&turns)];
    each(|d| {
        let x = d.iota(N, -1.0f32, 0.0).unwrap();
        let at = d.iota(N, 0u32, 0).unwrap();
        let [a, b] = [0, 0].map(|old: i32| d.upload(&[old]).unwrap());
        d.scatter_fixed_into(&x, &at, 0, Overflow::Saturate, &a).unwrap();
        d.generate_into(N, index(), |i| ((i / 3_000_000u32) % 2u32).cast::<f32>() * 2.0 - 1.0, &x).unwrap();
        d.scatter_fixed_into(&x, &at, 30, Overflow::Saturate, &b).unwrap();
        assert_eq!([a, b].map(|sum| sum.read_blocking().unwrap()[0]), want);
    });
}

#[test]
fn bad_operands_are_refused_and_nothing_is_written() {
    each(|d| {
        let (x, at) = (d.upload(&[1.0f32; 8]).unwrap(), d.upload(&[1u32; 8]).unwrap());
        let out = d.upload(&[7.0f32; 8]).unwrap();
        let refused = [
            d.scatter(&x, &at).reduce(ScatterOp::Store).write_to(&out),
            d.scatter(&x, &at).reduce(ScatterOp::Xor).write_to(&out),
            d.scatter(&x, &at.slice(..7).unwrap()).reduce(ScatterOp::Sum).write_to(&out),
            d.scatter(&x, &at).reduce(ScatterOp::Sum).write_to(&x),
            d.scatter_inc_into(&at, 3, &at),
            d.tickets(&at).write_to((&at.slice(..4).unwrap(), &at)),
        ];
        let kinds = ["InvalidArgument", "InvalidArgument", "LengthMismatch", "Aliasing", "Aliasing", "BufferTooSmall"];
        for (result, kind) in refused.into_iter().zip(kinds) {
            let text = format!("{:?}", result.unwrap_err());
            assert!(text.starts_with(kind), "{text}");
        }
        assert_eq!((out.read_blocking().unwrap(), at.read_blocking().unwrap()), (vec![7.0; 8], vec![1; 8]));
        let narrow = d.upload(&[1i32; 8]).unwrap();
        assert!(matches!(
            d.scatter_fixed_into(&x, &at, -121, Overflow::Saturate, &narrow),
            Err(isowarp::Error::InvalidArgument { what: "digits", .. })
        ));
        let short = at.slice(..7).unwrap();
        assert!(matches!(d.scatter_fixed_into(&x, &short, 0, Overflow::Wrap, &narrow), Err(isowarp::Error::LengthMismatch { .. })));
        assert_eq!(narrow.read_blocking().unwrap(), [1; 8]);
        if let Ok(wide) = d.upload(&[1i64; 8]) {
            let error = d.scatter_fixed_into(&x, &at, 121, Overflow::Wrap, &wide).unwrap_err();
            assert!(matches!(error, isowarp::Error::InvalidArgument { what: "digits", .. }), "{error}");
            assert_eq!(wide.read_blocking().unwrap(), [1; 8]);
        }
    });
}
