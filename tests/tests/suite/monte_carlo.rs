//! Estimates, integrals, prices and walks against loops over the words of the contract, closed forms, and what is refused.

use crate::common::{cpu, each};
use isowarp::Error;
use isowarp::monte_carlo::{Average, Barrier, Contract, Estimate, Kind, MonteCarlo as _, Right, gaussian_walk, lattice_walk};
use isowarp::prelude::*;
use isowarp::random::Generator;
use std::f64::consts::PI;

#[track_caller]
fn agrees(found: Estimate, exact: f64, most: f64) {
    assert!((found.mean - exact).abs() < 4.0 * found.standard_error && found.standard_error < most, "{found:?}, not {exact}");
}

#[test]
fn means_and_errors_are_those_of_f64() {
    let samples: Vec<f32> = (0..70_001u32).map(|k| 1000.0 + (k.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0).collect();
    let n = samples.len() as f64;
    let mean = samples.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
    let variance = samples.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let squares = samples.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
    each(|d| {
        let x = d.upload(&samples).unwrap();
        let found = d.estimate(&x).unwrap();
        // The sum has 41 bits and is exact, so the mean is that of f64; sums in f32 would give six digits of it, and none of the error.
        assert_eq!((found.mean, found.n), (mean, 70_001));
        assert_eq!(found, cpu().estimate(&cpu().upload(&samples).unwrap()).unwrap(), "one result on every device");
        // Squares have 53 bits and their sums 48, of which the difference from the square of the mean leaves some: half a unit of theirs in the root.
        assert_eq!(found.standard_error.to_bits(), 0x3f51_e05c_8347_32bc, "{found:?}");
        let unit = 2f64.powi(-48) * squares / (variance * (n - 1.0));
        assert!((found.standard_error / (variance / n).sqrt() - 1.0).abs() <= unit / 2.0, "{found:?}, unit {unit:e}");
        let one = d.estimate(&x.slice(..1).unwrap()).unwrap();
        assert_eq!((one.mean, one.standard_error), (f64::from(samples[0]), f64::INFINITY));
        assert!(matches!(d.estimate(&x.slice(..0).unwrap()), Err(Error::Empty { pattern: "estimate" })));
        let nan = d.upload(&[1.0f32, f32::NAN]).unwrap();
        let nan = d.estimate(&nan).unwrap();
        assert!(nan.mean.is_nan() && nan.standard_error.is_nan());
        // Squares that no f32 holds give no error, and none of zero.
        let far = d.estimate(&d.upload(&[1e19f32, 3e19]).unwrap()).unwrap();
        assert!(far.mean == f64::from(1e19f32) / 2.0 + f64::from(3e19f32) / 2.0 && !far.standard_error.is_finite(), "{far:?}");
    });
}

#[test]
fn pi_is_the_same_on_every_device() {
    let pi = |d: &isowarp::Device| {
        let inside = |p: &[Expr<f32>]| (p[0] * p[0] + p[1] * p[1]).lt(1.0).select(1.0, 0.0);
        d.integrate(&[(-1.0, 1.0); 2], 1 << 18, Random::new(4), inside).unwrap()
    };
    agrees(pi(&cpu()), PI, 0.004);
    each(|d| assert_eq!(pi(d), pi(&cpu())));
}

/// The integral of the cosine of the sum of so many coordinates from 0 to 1.
fn cosine(dimensions: u32) -> f64 {
    (2.0 * 0.5f64.sin()).powi(dimensions as i32) * (f64::from(dimensions) / 2.0).cos()
}

#[test]
fn integrals_are_their_closed_forms() {
    let sum = |x: &[Expr<f32>]| x.iter().skip(1).fold(x[0], |sum, &x| sum + x);
    each(|d| {
        let r = Random::new(8);
        agrees(d.integrate(&[(-1.0, 3.0)], 40_000, r, |x| x[0] * x[0]).unwrap(), 28.0 / 3.0, 0.06);
        for dimensions in [2, 4, 5, 13] {
            let bounds = vec![(0.0, 1.0); dimensions as usize];
            let random = d.integrate(&bounds, 1 << 15, r.by(Generator::Threefry), |x| sum(x).cos()).unwrap();
            agrees(random, cosine(dimensions), 0.01);
            let even = d.integrate_sobol(&bounds, 1 << 11, 16, r, |x| sum(x).cos()).unwrap();
            // Of many dimensions fewer are filled evenly.
            let gain = if dimensions > 5 { 1.5 } else { 4.0 };
            agrees(even, cosine(dimensions), random.standard_error / gain);
            assert_eq!(even.n, 1 << 15);
        }
    });
}

#[test]
fn boxes_that_are_none_are_refused() {
    each(|d| {
        let refused = |bounds: &[(f32, f32)]| {
            let one = |_: &[Expr<f32>]| lit(1f32);
            let found = [d.integrate(bounds, 9, Random::new(0), one), d.integrate_sobol(bounds, 9, 2, Random::new(0), one)];
            assert!(found.iter().all(|f| matches!(f, Err(Error::InvalidArgument { what: "bounds", .. }))), "{bounds:?}: {found:?}");
        };
        refused(&[]);
        refused(&[(0.0, f32::NAN)]);
        refused(&[(0.0, 1.0), (f32::NEG_INFINITY, 0.0)]);
        refused(&[(f32::MIN, f32::MAX)]);
        refused(&[(0.0, 1.0); 1025]);
        let none = d.integrate_sobol(&[(0.0, 1.0)], 9, 0, Random::new(0), |x| x[0]);
        assert!(matches!(none, Err(Error::Empty { .. })));
        let end = Random { position: u64::MAX - 30, ..Random::new(0) };
        assert!(matches!(d.integrate(&[(0.0, 1.0)], 9, end, |x| x[0]), Err(Error::InvalidArgument { what: "position", .. })));
    });
}

/// Hull's example, chapter 15.
fn hull(kind: Kind, right: Right) -> Contract {
    Contract { kind, right, spot: 42.0, strike: 40.0, rate: 0.1, volatility: 0.2, years: 0.5 }
}

#[test]
fn european_prices_are_black_and_scholes() {
    for (right, published) in [(Right::Call, 4.76), (Right::Put, 0.81)] {
        let of = hull(Kind::European, right);
        let exact = of.closed_form().unwrap().unwrap();
        assert!((exact - published).abs() < 0.005, "{exact}");
        each(|d| agrees(d.price(&of, 60_000, Random::new(3)).unwrap(), exact, 0.03));
    }
}

#[test]
fn asian_prices_agree_with_the_geometric_closed_form_and_with_plain_means() {
    for (right, steps) in [(Right::Call, 7), (Right::Put, 12)] {
        let geometric = hull(Kind::Asian(Average::Geometric, steps), right);
        let exact = geometric.closed_form().unwrap().unwrap();
        let arithmetic = hull(Kind::Asian(Average::Arithmetic, steps), right);
        assert_eq!(arithmetic.closed_form().unwrap(), None);
        each(|d| {
            agrees(d.price(&geometric, 40_000, Random::new(5)).unwrap(), exact, 0.02);
            let controlled = d.price(&arithmetic, 40_000, Random::new(5)).unwrap();
            let call = isowarp::dynamic::Simulation::Payments { of: arithmetic, paths: 40_000, from: Random::new(6) };
            let paid = isowarp::dynamic::Call::Simulate(call).run(d, &[]).unwrap().one();
            let plain = d.estimate(&paid.typed::<f32>().unwrap()).unwrap().scaled((-0.05f64).exp(), 0.0);
            let error = plain.standard_error.hypot(controlled.standard_error);
            assert!((plain.mean - controlled.mean).abs() < 4.0 * error, "{plain:?} {controlled:?}");
            assert!(controlled.standard_error < 0.05 * plain.standard_error, "{plain:?} {controlled:?}");
        });
    }
}

#[test]
fn barriers_are_reiner_and_rubinsteins_with_the_correction_for_steps() {
    for right in [Right::Call, Right::Put] {
        let plain = hull(Kind::European, right).closed_form().unwrap().unwrap();
        for (out, back, level) in [
            (Barrier::DownAndOut, Barrier::DownAndIn, 38.0),
            (Barrier::DownAndOut, Barrier::DownAndIn, 41.0),
            (Barrier::UpAndOut, Barrier::UpAndIn, 48.0),
            (Barrier::UpAndOut, Barrier::UpAndIn, 43.0),
        ] {
            let of = |barrier| hull(Kind::Barrier(barrier, level, 50), right);
            let exact = |barrier| of(barrier).closed_form().unwrap().unwrap();
            assert!(exact(back) >= 0.0, "{right:?} {level}");
            assert_eq!(exact(out), (plain - exact(back)).max(0.0), "{right:?} {level}");
            for barrier in [out, back] {
                let found = cpu().price(&of(barrier), 200_000, Random::new(9)).unwrap();
                let most = 4.0 * found.standard_error + 0.01;
                assert!((found.mean - exact(barrier)).abs() < most, "{right:?} {barrier:?} {level}: {found:?} {}", exact(barrier));
            }
        }
    }
    let of = hull(Kind::Barrier(Barrier::DownAndOut, 41.0, 13), Right::Call);
    each(|d| assert_eq!(d.price(&of, 10_007, Random::new(1)).unwrap(), cpu().price(&of, 10_007, Random::new(1)).unwrap()));
}

#[test]
fn options_that_are_none_are_refused() {
    let of = hull(Kind::European, Right::Call);
    let wrong = [-1.0, 0.0, f64::NAN, f64::INFINITY];
    let mut all: Vec<(&str, Contract)> = Vec::new();
    for x in wrong {
        all.push(("spot", Contract { spot: x, ..of }));
        all.push(("strike", Contract { strike: x, ..of }));
        all.push(("years", Contract { years: x, ..of }));
        all.push(("barrier", hull(Kind::Barrier(Barrier::UpAndIn, x, 3), Right::Put)));
    }
    for x in [-0.1, f64::NAN, f64::INFINITY] {
        all.push(("volatility", Contract { volatility: x, ..of }));
    }
    all.push(("rate", Contract { rate: f64::NAN, ..of }));
    all.push(("steps", hull(Kind::Asian(Average::Arithmetic, 0), Right::Call)));
    all.push(("steps", hull(Kind::Barrier(Barrier::UpAndIn, 50.0, 0), Right::Call)));
    for (name, of) in all {
        let found = [of.closed_form().map(drop), cpu().price(&of, 10, Random::new(0)).map(drop)];
        for found in found {
            assert!(matches!(found, Err(Error::InvalidArgument { what, .. }) if what == name), "{name}: {found:?}");
        }
    }
    // Where a formula's numbers leave those of f64, it has no price.
    for (volatility, rate, kind) in [(1e200, 0.1, Kind::Asian(Average::Geometric, 12)), (0.2, 1e5, Kind::European)] {
        let found = Contract { volatility, rate, kind, ..of }.closed_form();
        assert!(matches!(found, Err(Error::InvalidArgument { what: "closed form", .. })), "{kind:?}: {found:?}");
    }
    // One that only approximates is none then.
    let barrier = Contract { volatility: 1e-170, rate: 0.0, kind: Kind::Barrier(Barrier::UpAndIn, 50.0, 3), ..of };
    assert_eq!(barrier.closed_form().unwrap(), None);
    let arithmetic = Contract { volatility: 1e200, kind: Kind::Asian(Average::Arithmetic, 12), ..of };
    assert!(matches!(cpu().price(&arithmetic, 10, Random::new(0)), Err(Error::InvalidArgument { what: "closed form", .. })));
    let long = hull(Kind::Asian(Average::Geometric, 65_537), Right::Call);
    assert!(matches!(cpu().price(&long, 10, Random::new(0)), Err(Error::TooLarge { limit: 65_536, .. })));
    assert!(matches!(cpu().price(&of, 0, Random::new(0)), Err(Error::Empty { .. })));
    // Without volatility every path is the same.
    let certain = Contract { volatility: 0.0, ..of };
    let sure = cpu().price(&certain, 10, Random::new(0)).unwrap();
    each(|d| assert_eq!(d.price(&certain, 10, Random::new(0)).unwrap(), sure));
    // The price of real numbers, 42 - 40 exp(-0.05), but for half a unit in the last place of an f32 path near 44.
    assert_eq!((sure.mean.to_bits(), sure.standard_error), (0x400f_9b48_a86c_ca83, 0.0), "{sure:?}");
    assert!((sure.mean - (42.0 - 40.0 * (-0.05f64).exp())).abs() <= 2f64.powi(-19), "{sure:?}");
}

#[test]
fn walks_on_lattices_are_those_of_a_loop_over_words() {
    let r = Random { position: 9, ..Random::new(2).by(Generator::Threefry).stream(3) };
    each(|d| {
        for (dimensions, steps) in [(1, 0), (1, 1), (2, 4), (3, 7), (3, 100)] {
            let (x, y, z) = d.map(lattice_walk(r, 203, steps, dimensions), |place| place).unwrap();
            let found = [x, y, z].map(|x| x.read_blocking().unwrap());
            let words = u64::from(steps.div_ceil(4).max(1).next_power_of_two()) * 4;
            let start = r.position.next_multiple_of(words);
            for walker in 0..203u64 {
                let mut place = [0i32; 3];
                for step in 0..u64::from(steps) {
                    let word = Random { position: start + words * walker + step, ..r }.word();
                    let direction = (u64::from(word) * u64::from(2 * dimensions)) >> 32;
                    place[direction as usize / 2] += if direction % 2 == 1 { 1 } else { -1 };
                }
                assert_eq!(found.each_ref().map(|x| x[walker as usize]), place, "{dimensions} {steps} {walker}");
            }
        }
    });
}

#[test]
fn squares_of_distances_grow_with_the_number_of_steps() {
    each(|d| {
        for dimensions in 1..=3u32 {
            let squares = lattice_walk(Random::new(1), 20_000, 60, dimensions).map(|(x, y, z)| (x * x + y * y + z * z).cast::<f32>());
            agrees(d.estimate(squares).unwrap(), 60.0, 1.0);
            let squares = gaussian_walk(Random::new(2), 20_000, 31, dimensions).map(|(x, y, z)| x * x + y * y + z * z);
            agrees(d.estimate(squares).unwrap(), 31.0 * f64::from(dimensions), 1.0);
        }
        for dimensions in [0, 4] {
            let found = d.map(lattice_walk(Random::new(0), 5, 3, dimensions), |place| place);
            assert!(matches!(found, Err(Error::InvalidArgument { what: "dimensions", .. })));
            let found = d.map(gaussian_walk(Random::new(0), 5, 3, dimensions), |place| place);
            assert!(matches!(found, Err(Error::InvalidArgument { what: "dimensions", .. })));
        }
        let found = d.map(lattice_walk(Random::new(0), 5, u32::MAX, 1), |place| place);
        assert!(matches!(found, Err(Error::InvalidArgument { what: "steps", .. })));
    });
}
