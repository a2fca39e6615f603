//! Random numbers that are drawn with a loop: Poisson, binomial and gamma, against exact probabilities and moments at fixed seeds.

use crate::common::each;
use isowarp::Error;
use isowarp::prelude::*;
use isowarp::random::PoissonTable;

/// Counts against probabilities of 0, 1, 2, ...: Pearson's statistic over those of which some are expected, six deviations from its mean at most.
fn has_probabilities(what: &str, counts: &[u32], probability: impl Fn(u32) -> f64) {
    let n = counts.len() as f64;
    let last = counts.iter().max().copied().unwrap_or(0);
    let mut found = vec![0f64; last as usize + 1];
    counts.iter().for_each(|&k| found[k as usize] += 1.0);
    let (mut statistic, mut cells, mut rest) = (0.0, 0f64, (n, n));
    for (k, found) in found.iter().enumerate() {
        let expected = n * probability(k as u32);
        if expected > 8.0 {
            statistic += (found - expected).powi(2) / expected;
            cells += 1.0;
            rest = (rest.0 - found, rest.1 - expected);
        }
    }
    if rest.1 > 1.0 {
        statistic += (rest.0 - rest.1).powi(2) / rest.1;
    } else {
        cells -= 1.0;
        assert!(rest.0 < 12.0, "{what}: {} outside", rest.0);
    }
    let bound = cells + 6.0 * (2.0 * cells).sqrt() + 12.0;
    assert!(statistic < bound, "{what}: {statistic} of {cells} degrees of freedom");
}

/// Logarithm of `k!`.
fn log_factorial(k: u32) -> f64 {
    (2..=k).map(|k| f64::from(k).ln()).sum()
}

#[test]
fn counts_are_as_likely_as_poissons_formula_says() {
    each(|d| {
        for mean in [0.0f32, 0.3, 4.0, 9.99, 10.0, 12.5, 60.0] {
            let exact = f64::from(mean);
            let of = |k: u32| {
                if mean == 0.0 { f64::from(u8::from(k == 0)) } else { (f64::from(k) * exact.ln() - exact - log_factorial(k)).exp() }
            };
            let counts = d.map(Random::new(11).poisson(40_000, mean), |k| k).unwrap().read_blocking().unwrap();
            has_probabilities(&format!("Poisson of {mean}"), &counts, of);
            let means = d.upload(&vec![mean; 40_000]).unwrap();
            let of_each = d.map(Random::new(11).poisson_of(40_000, &means), |k| k).unwrap().read_blocking().unwrap();
            assert_eq!(of_each, counts, "means of an array are those of a number");
        }
        // So many that probabilities are too small to count: mean and variance, in deviations of their own.
        for mean in [5000.0f32, 1e6, 1.6e7] {
            let counts = d.map(Random::new(12).poisson(40_000, mean), |k| k).unwrap().read_blocking().unwrap();
            let away: Vec<f64> = counts.iter().map(|&k| (f64::from(k) - f64::from(mean)) / f64::from(mean).sqrt()).collect();
            let moment = |p: i32| away.iter().map(|z| z.powi(p)).sum::<f64>() / 40_000.0;
            assert!(
                moment(1).abs() < 0.025 && (moment(2) - 1.0).abs() < 0.04 && moment(3).abs() < 0.1,
                "{mean}: {} {}",
                moment(1),
                moment(2)
            );
        }
    });
}

/// Draws that are long enough for a table of their mean, beside those of an array of means, which search and reject in every element.
#[test]
fn long_draws_of_one_mean_are_those_of_an_array_of_means() {
    each(|d| {
        for (mean, n) in [(0.0f32, 1_032_200usize), (0.7, 1_033_001), (9.999_999, 1_033_001), (10.75, 1_600_003)] {
            let means = d.upload(&vec![mean; n]).unwrap();
            let r = Random { position: 3, ..Random::new(23).stream(5) };
            let of_each = d.map(r.poisson_of(n as u64, &means), |k| k).unwrap().read_blocking().unwrap();
            let counts = d.map(r.poisson(n as u64, mean), |k| k).unwrap().read_blocking().unwrap();
            assert!(counts == of_each, "a mean of {mean}");
            let sum = d.reduce(r.poisson(n as u64, mean), Sum).run().unwrap().read_blocking().unwrap();
            assert_eq!(sum, of_each.iter().sum::<u32>(), "fused into a sum, a mean of {mean}");
        }
    });
}

#[test]
fn counts_of_a_table_are_as_likely_as_poissons_formula_says() {
    each(|d| {
        for mean in [0.0f64, 0.3, 4.0, 12.5, 100.0] {
            let of = |k: u32| {
                if mean == 0.0 { f64::from(u8::from(k == 0)) } else { (f64::from(k) * mean.ln() - mean - log_factorial(k)).exp() }
            };
            let table = PoissonTable::new(d, mean).unwrap();
            let counts = d.map(Random::new(21).poisson_table(200_000, &table), |k| k).unwrap().read_blocking().unwrap();
            has_probabilities(&format!("Poisson of {mean} by its table"), &counts, of);
        }
        for mean in [5000.0f64, 65_536.0] {
            let table = PoissonTable::new(d, mean).unwrap();
            let counts = d.map(Random::new(22).poisson_table(40_000, &table), |k| k).unwrap().read_blocking().unwrap();
            let away: Vec<f64> = counts.iter().map(|&k| (f64::from(k) - mean) / mean.sqrt()).collect();
            let moment = |p: i32| away.iter().map(|z| z.powi(p)).sum::<f64>() / 40_000.0;
            assert!(moment(1).abs() < 0.025 && (moment(2) - 1.0).abs() < 0.04 && moment(3).abs() < 0.1, "{mean}: {}", moment(1));
        }
        let table = PoissonTable::new(d, 30.0).unwrap();
        let r = Random { position: 3, ..Random::new(17) };
        let all = d.map(r.poisson_table(300, &table), |k| k).unwrap().read_blocking().unwrap();
        let later = d.map(r.skip(101).unwrap().poisson_table(20, &table), |k| k).unwrap().read_blocking().unwrap();
        assert_eq!(later, all[101..121], "a count is a function of its place");
        for mean in [-1.0, f64::NAN, f64::INFINITY, 65_537.0] {
            let error = PoissonTable::new(d, mean).err();
            assert!(matches!(error, Some(Error::InvalidArgument { what: "mean", .. })), "{mean}: {error:?}");
        }
    });
}

#[test]
fn successes_are_as_likely_as_the_binomial_formula_says() {
    each(|d| {
        for (trials, probability) in [(10u32, 0.5f32), (40, 0.1), (100, 0.3), (1000, 0.9), (1000, 0.004), (5, 0.0), (5, 1.0), (0, 0.5)] {
            let p = f64::from(probability);
            let of = |k: u32| match (k <= trials, p == 0.0 || p == 1.0) {
                (false, _) => 0.0,
                (_, true) => f64::from(u8::from(f64::from(k) == f64::from(trials) * p)),
                _ => {
                    let ways = log_factorial(trials) - log_factorial(k) - log_factorial(trials - k);
                    (ways + f64::from(k) * p.ln() + f64::from(trials - k) * (-p).ln_1p()).exp()
                }
            };
            let counts = d.map(Random::new(13).binomial(40_000, trials, probability), |k| k).unwrap().read_blocking().unwrap();
            has_probabilities(&format!("{trials} of {probability}"), &counts, of);
        }
        let many = d.map(Random::new(14).binomial(40_000, 1 << 24, 0.25), |k| k).unwrap().read_blocking().unwrap();
        let deviation = (f64::from(1 << 24) * 0.1875).sqrt();
        let away: Vec<f64> = many.iter().map(|&k| (f64::from(k) - f64::from(1 << 22)) / deviation).collect();
        let moment = |p: i32| away.iter().map(|z| z.powi(p)).sum::<f64>() / 40_000.0;
        assert!(moment(1).abs() < 0.025 && (moment(2) - 1.0).abs() < 0.04, "{} {}", moment(1), moment(2));
    });
}

#[test]
fn gamma_numbers_have_erlangs_distribution_and_the_moments_of_every_shape() {
    each(|d| {
        for shape in [1u32, 3, 20] {
            let mut drawn = d.map(Random::new(15).gamma(40_000, shape as f32, 2.0), |x| x).unwrap().read_blocking().unwrap();
            drawn.sort_by(f32::total_cmp);
            // 1 - e^-x (1 + x + ... + x^(k-1) / (k-1)!), and Kolmogorov's distance: above 1.95 / sqrt(n) in one of a thousand samples.
            let below = |x: f64| {
                1.0 - (0..shape).scan((-x).exp(), |term, k| Some(std::mem::replace(term, *term * x / f64::from(k + 1)))).sum::<f64>()
            };
            let distance = drawn.iter().enumerate().map(|(k, &x)| (below(f64::from(x) / 2.0) - (k as f64 + 0.5) / 40_000.0).abs());
            assert!(distance.fold(0.0, f64::max) < 1.95 / 200.0, "shape {shape}");
        }
        for shape in [0.1f32, 0.5, 1e5] {
            let drawn = d.map(Random::new(16).gamma(40_000, shape, 1.0), |x| x).unwrap().read_blocking().unwrap();
            let of = f64::from(shape);
            let moment = |p: i32| drawn.iter().map(|&x| ((f64::from(x) - of) / of.sqrt()).powi(p)).sum::<f64>() / 40_000.0;
            assert!(moment(1).abs() < 0.025 && (moment(2) - 1.0).abs() < 0.15, "shape {shape}: {} {}", moment(1), moment(2));
        }
    });
}

#[test]
fn draws_with_a_loop_are_functions_of_their_place_too() {
    each(|d| {
        let r = Random { position: 3, ..Random::new(17) };
        let all = d.map(r.poisson(300, 30.0), |k| k).unwrap().read_blocking().unwrap();
        assert_eq!(d.map(r.poisson(20, 30.0), |k| k).unwrap().read_blocking().unwrap(), all[..20]);
        // The first element starts at word 64.
        let later = Random::new(17).skip(64 * 101).unwrap();
        assert_eq!(d.map(later.poisson(200, 30.0), |k| k).unwrap().read_blocking().unwrap(), all[100..]);
        let sum = d.reduce(r.poisson(300, 30.0), Sum).run().unwrap().read_blocking().unwrap();
        assert_eq!(sum, all.iter().sum::<u32>());
        for (error, what) in [
            (d.map(r.poisson(3, -1.0), |k| k).err(), "mean"),
            (d.map(r.poisson(3, f32::NAN), |k| k).err(), "mean"),
            (d.map(r.poisson(3, f32::INFINITY), |k| k).err(), "mean"),
            (d.map(r.binomial(3, 5, 1.5), |k| k).err(), "probability"),
            (d.map(r.binomial(3, u32::MAX, 0.5), |k| k).err(), "trials"),
            (d.map(Random { position: u64::MAX - 100, ..r }.poisson(3, 1.0), |k| k).err(), "position"),
        ] {
            assert!(matches!(error, Some(Error::InvalidArgument { what: found, .. }) if found == what), "{error:?}");
        }
        for (shape, scale, what) in [(0.0, 1.0, "shape"), (f32::NAN, 1.0, "shape"), (1.0, -1.0, "scale"), (1.0, f32::INFINITY, "scale")] {
            let error = d.map(r.gamma(3, shape, scale), |x| x).err();
            assert!(matches!(error, Some(Error::InvalidArgument { what: found, .. }) if found == what), "{error:?}");
        }
    });
}

#[test]
fn draws_with_a_loop_that_cannot_be_are_refused_and_change_nothing() {
    each(|d| {
        let (r, counts, out) = (Random::new(1), d.upload(&[7u32; 4]).unwrap(), d.upload(&[7.0f32; 4]).unwrap());
        let refused = |result: isowarp::Result<()>, argument: &str, value: f32| match result {
            Err(Error::InvalidArgument { what, .. }) => assert_eq!(what, argument, "{value}"),
            other => panic!("{argument} of {value}: {other:?}"),
        };
        for bad in [-0.5, -f32::from_bits(1), 1f32.next_up(), f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            refused(d.map_into(r.binomial(4, 5, bad), |k| k, &counts), "probability", bad);
        }
        for bad in [0.0, -0.0, -1.0, -f32::from_bits(1), f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            refused(d.map_into(r.gamma(4, bad, 1.0), |x| x, &out), "shape", bad);
        }
        for bad in [-1.0, -f32::from_bits(1), f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            refused(d.map_into(r.gamma(4, 1.0, bad), |x| x, &out), "scale", bad);
            refused(d.map_into(r.poisson(4, bad), |k| k, &counts), "mean", bad);
        }
        assert_eq!((counts.read_blocking().unwrap(), out.read_blocking().unwrap()), (vec![7; 4], vec![7.0; 4]));
    });
}
