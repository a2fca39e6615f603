//! Random numbers in f64: against the words that the contract names, closed forms, moments, and Kolmogorov and Smirnov's test at fixed seeds.

use crate::common::{cpu, each_with};
use isowarp::element::DType;
use isowarp::prelude::*;
use isowarp::{Cpu, Error};

/// The elements' words as one of 64 bits each, the first one high, from an even place on.
fn words(r: Random, n: u64) -> Vec<u64> {
    let word = |k: u64| u64::from(r.skip(k).unwrap().word());
    (0..n).map(|k| word(2 * k) << 32 | word(2 * k + 1)).collect()
}

fn fraction(word: u64) -> f64 {
    (word as f64 + 0.5) / 2f64.powi(64)
}

/// A unit in the last place.
fn unit(x: f64) -> f64 {
    f64::from_bits(x.abs().to_bits() + 1) - x.abs()
}

/// The standard normal distribution by Marsaglia's series, whose error in the middle is some 1e-15.
fn below(x: f64) -> f64 {
    let (mut term, mut sum, mut k) = (x, 0.0, 1.0);
    while sum + term != sum {
        sum += term;
        k += 2.0;
        term *= x * x / k;
    }
    0.5 + sum * (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt()
}

#[test]
fn numbers_in_f64_are_functions_of_their_words() {
    each_with(&[DType::F64], |d| {
        for r in [Random::new(0), Random { stream: 7, position: (1 << 34) - 20, ..Random::new(0x0123_4567_89ab_cdef) }] {
            let all = words(r, 2000);
            let normal = d.map(r.normal_f64(2000, 0.0, 1.0), |x| x).unwrap().read_blocking().unwrap();
            for (two, of) in normal.chunks(2).zip(all.chunks(2)) {
                // The angle's product with 2 pi loses some of its last bits.
                let (radius, angle) = ((-2.0 * fraction(of[0]).ln()).sqrt(), of[1] as i64 as f64 / 2f64.powi(64) * std::f64::consts::TAU);
                for (found, exact) in two.iter().zip([radius * angle.cos(), radius * angle.sin()]) {
                    assert!((found - exact).abs() <= 4.0 * unit(radius), "{found} for {exact}");
                }
            }
            let scaled = d.map(r.normal_f64(2000, -0.1, 3.0), |x| x).unwrap().read_blocking().unwrap();
            assert!(scaled.iter().zip(&normal).all(|(s, z)| *s == z.mul_add(3.0, -0.1)));
            let exponential = d.map(r.exponential_f64(2000, 2.5), |x| x).unwrap().read_blocking().unwrap();
            let quantile = d.map(r.normal_by_quantile_f64(2000, 0.0, 1.0), |x| x).unwrap().read_blocking().unwrap();
            // Every device has the definition's bits.
            let of = cpu();
            assert_eq!(normal, of.map(r.normal_f64(2000, 0.0, 1.0), |x| x).unwrap().read_blocking().unwrap());
            assert_eq!(exponential, of.map(r.exponential_f64(2000, 2.5), |x| x).unwrap().read_blocking().unwrap());
            assert_eq!(quantile, of.map(r.normal_by_quantile_f64(2000, 0.0, 1.0), |x| x).unwrap().read_blocking().unwrap());
            for ((x, z), word) in exponential.iter().zip(&quantile).zip(&all) {
                // A logarithm has 0.741 units at most, the host's one, and the products half of one each.
                assert!((x + fraction(*word).ln() * 2.5).abs() <= 2.0 * unit(*x), "{x}");
                // A quantile has 5 units at most; the sum that leads back has some roundings of numbers near 1.
                let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
                assert!((below(*z) - fraction(*word)).abs() <= density * 5.0 * unit(*z) + 4.0 * unit(0.5), "{z}");
            }
            // An element is a function of its place, also where the first is the second of a block.
            let later = r.skip(2 * 101).unwrap();
            assert_eq!(d.map(later.normal_f64(300, 0.0, 1.0), |x| x).unwrap().read_blocking().unwrap(), normal[101..401]);
            assert_eq!(d.map(later.exponential_f64(300, 2.5), |x| x).unwrap().read_blocking().unwrap(), exponential[101..401]);
        }
    });
}

/// Kolmogorov and Smirnov's statistic times root n; `scipy.stats.kstwobign.isf(1e-4)` is 2.2253.
fn statistic(mut x: Vec<f64>, below: impl Fn(f64) -> f64) -> f64 {
    x.sort_by(f64::total_cmp);
    let n = x.len() as f64;
    let apart = |(k, x): (usize, &f64)| (below(*x) - k as f64 / n).abs().max((below(*x) - (k + 1) as f64 / n).abs());
    x.iter().enumerate().map(apart).fold(0.0, f64::max) * n.sqrt()
}

#[test]
fn numbers_in_f64_pass_kolmogorov_and_smirnovs_test_and_have_their_moments() {
    each_with(&[DType::F64], |d| {
        let n = 1u64 << 16;
        for seed in 0..3 {
            let r = Random::new(seed);
            let normal = d.map(r.normal_f64(n, 0.0, 1.0), |x| x).unwrap().read_blocking().unwrap();
            let quantile = d.map(r.normal_by_quantile_f64(n, 0.0, 1.0), |x| x).unwrap().read_blocking().unwrap();
            let exponential = d.map(r.exponential_f64(n, 0.25), |x| x).unwrap().read_blocking().unwrap();
            for z in [&normal, &quantile] {
                let moment = |p: i32| z.iter().map(|z| z.powi(p)).sum::<f64>() / n as f64;
                // Six deviations of the means of powers.
                for (k, expected, spread) in [(1, 0.0, 1.0f64), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
                    assert!((moment(k) - expected).abs() < 6.0 * (spread / n as f64).sqrt(), "moment {k}: {}", moment(k));
                }
            }
            let found = [statistic(normal, below), statistic(quantile, below), statistic(exponential, |x| -(-4.0 * x).exp_m1())];
            assert!(found.iter().all(|s| (0.3..2.2253).contains(s)), "seed {seed}: {found:?}");
        }
    });
}

#[test]
fn draws_in_f64_that_cannot_be_are_refused() {
    let (d, r) = (Cpu::new(), Random::new(1));
    let out = d.upload(&[7f64; 4]).unwrap();
    let refused = |result: isowarp::Result<()>, argument: &str| match result {
        Err(Error::InvalidArgument { what, .. }) => assert_eq!(what, argument),
        other => panic!("{argument}: {other:?}"),
    };
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        refused(d.map_into(r.normal_f64(4, 0.0, bad), |x| x, &out), "deviation");
        refused(d.map_into(r.normal_by_quantile_f64(4, 0.0, bad), |x| x, &out), "deviation");
        refused(d.map_into(r.exponential_f64(4, bad), |x| x, &out), "mean");
    }
    refused(d.map_into(r.normal_f64(4, f64::NAN, 1.0), |x| x, &out), "mean");
    let last = Random { position: u64::MAX - 5, ..r };
    refused(d.map_into(last.normal_f64(4, 0.0, 1.0), |x| x, &out), "position");
    assert_eq!(out.read_blocking().unwrap(), [7.0; 4]);
}
