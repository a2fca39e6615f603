//! Random numbers against the words that the contract names, closed forms, and SciPy's values and tests at fixed seeds.

use crate::common::{each, each_with};
use crate::units::{self, is_within};
use isowarp::Error;
use isowarp::element::DType;
use isowarp::prelude::*;
use isowarp::random::{Discrete, Generator, Sobol};
use std::ops::Range;

/// Words of a stream, by the host's own block function.
fn words(r: Random, n: u64) -> Vec<u32> {
    (0..n).map(|k| r.skip(k).unwrap().word()).collect()
}

/// Pairs of words, of which each starts at an even place.
fn pairs(r: Random, n: u64) -> Vec<(u32, u32)> {
    let r = r.skip(r.position % 2).unwrap();
    words(r, 2 * n).chunks(2).map(|pair| (pair[0], pair[1])).collect()
}

fn generators() -> Vec<Random> {
    let long = Random { stream: 0xdead_beef_0123_4567, ..Random::new(0x0123_4567_89ab_cdef) };
    let start = [Random::new(0), Random::new(5).by(Generator::Threefry), long, long.by(Generator::Threefry)];
    // In a block, at its ends, and where the low word of its number carries.
    let positions = [0, 1, 2, 3, 4, 7, 1001, (1 << 34) - 6, (1 << 34) - 5, u64::MAX - 4000];
    start.into_iter().flat_map(|r| positions.map(|position| Random { position, ..r })).collect()
}

#[test]
fn the_stream_begins_as_the_contract_says() {
    each(|d| {
        let first = d.map(Random::new(0).uniform::<u32>(8), |x| x).unwrap().read_blocking().unwrap();
        assert_eq!(first, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8, 0xf8e4_cca4, 0x5cb2_00db, 0xb1a5_74eb, 0x097e_ff67]);
    });
}

#[test]
fn every_word_is_that_of_its_place_whatever_is_drawn_with_it() {
    each(|d| {
        for r in generators() {
            for n in [0, 1, 3, 4, 1030] {
                let found = d.map(r.uniform::<u32>(n), |x| x).unwrap().read_blocking().unwrap();
                assert_eq!(found, words(r, n), "{r:?}, {n}");
            }
            let range = 7u32..4_000_000_007;
            let found = d.map(r.integers(77, range.clone()), |x| x).unwrap().read_blocking().unwrap();
            let length = u128::from(range.end - range.start);
            let of = |(high, low): (u32, u32)| (((u128::from(high) << 32 | u128::from(low)) * length) >> 64) as u32 + range.start;
            assert_eq!(found, pairs(r, 77).into_iter().map(of).collect::<Vec<_>>(), "{r:?}");
        }
    });
}

#[test]
fn uniform_floats_are_exact_fractions_of_their_words() {
    each(|d| {
        for r in generators() {
            let (found, open) = (d.map(r.uniform::<f32>(900), |x| x).unwrap(), d.map(r.uniform_open::<f32>(900), |x| x).unwrap());
            let of = |word: u32| (f64::from(word >> 8) / 16_777_216.0) as f32;
            assert_eq!(found.read_blocking().unwrap(), words(r, 900).into_iter().map(of).collect::<Vec<_>>());
            let of = |word: u32| ((f64::from(word >> 9) + 0.5) / 8_388_608.0) as f32;
            assert_eq!(open.read_blocking().unwrap(), words(r, 900).into_iter().map(of).collect::<Vec<_>>());
        }
    });
    each_with(&[DType::F64], |d| {
        for r in generators() {
            let (found, open) = (d.map(r.uniform::<f64>(300), |x| x).unwrap(), d.map(r.uniform_open::<f64>(300), |x| x).unwrap());
            let wide = |(high, low): (u32, u32)| u64::from(high) << 32 | u64::from(low);
            let of = |pair| (wide(pair) >> 11) as f64 / 2f64.powi(53);
            assert_eq!(found.read_blocking().unwrap(), pairs(r, 300).into_iter().map(of).collect::<Vec<_>>());
            let of = |pair| ((wide(pair) >> 12) as f64 + 0.5) / 2f64.powi(52);
            assert_eq!(open.read_blocking().unwrap(), pairs(r, 300).into_iter().map(of).collect::<Vec<_>>());
        }
    });
    each_with(&[DType::U64], |d| {
        for r in generators() {
            let found = d.map(r.uniform::<u64>(300), |x| x).unwrap().read_blocking().unwrap();
            let wide = |(high, low): (u32, u32)| u64::from(high) << 32 | u64::from(low);
            assert_eq!(found, pairs(r, 300).into_iter().map(wide).collect::<Vec<_>>());
        }
    });
}

#[test]
fn the_ends_of_the_intervals_are_as_documented() {
    let exact = |x: f32| f64::from(x);
    assert_eq!(exact((f64::from(u32::MAX >> 8) / 16_777_216.0) as f32), 1.0 - 2f64.powi(-24));
    assert_eq!(((f64::from(u32::MAX >> 9) + 0.5) / 8_388_608.0) as f32, 1.0 - f32::EPSILON / 2.0);
}

#[track_caller]
fn near(found: f32, exact: f64, units: f64, what: &str) {
    assert!(is_within(found, exact, units), "{what}: {found} for {exact}");
}

fn fraction(word: u32) -> f64 {
    (f64::from(word) + 0.5) / 4_294_967_296.0
}

#[test]
fn normal_numbers_are_box_and_mullers_of_their_pair_of_words() {
    each(|d| {
        for r in generators().into_iter().filter(|r| r.position < 1 << 40) {
            let found = d.map(r.normal(500, 0.0, 1.0), |x| x).unwrap().read_blocking().unwrap();
            let pair = |position: u64| {
                let even = Random { position: position / 2 * 2, ..r };
                (even.word(), even.skip(1).unwrap().word())
            };
            for (k, &found) in found.iter().enumerate() {
                let position = r.position + k as u64;
                let (radius, turn) = pair(position);
                let (radius, angle) = ((-2.0 * fraction(radius).ln()).sqrt(), f64::from(turn) / 4_294_967_296.0 * std::f64::consts::TAU);
                near(found, radius * if position.is_multiple_of(2) { angle.cos() } else { angle.sin() }, units::normal(radius), "normal");
            }
            let scaled = d.map(r.normal(500, 3.0, 0.25), |x| x).unwrap().read_blocking().unwrap();
            assert!(scaled.iter().zip(&found).all(|(s, z)| *s == z.mul_add(0.25, 3.0)));
            let logs = d.map(r.log_normal(500, 3.0, 0.25), |x| x).unwrap().read_blocking().unwrap();
            logs.iter().zip(&scaled).for_each(|(x, s)| near(*x, f64::from(*s).exp(), 2.0 * f64::from(*s).exp(), "log-normal"));
        }
    });
}

/// `scipy.stats.norm.ppf((word + 0.5) / 2**32)` of the first words of seed 0.
#[test]
fn quantiles_are_those_of_scipy() {
    const SCIPY: [f64; 12] = [
        -0.25581597043298154,
        1.1775912391721355,
        0.6301836563560436,
        0.26756224939052003,
        1.9148032732736497,
        -0.35287489689493245,
        0.5070237396471203,
        -1.785451192234432,
        -2.065255359490441,
        -0.4692491799542722,
        -1.0760761191920312,
        -0.60753793812541,
    ];
    each(|d| {
        let found = d.map(Random::new(0).normal_by_quantile(12, 0.0, 1.0), |x| x).unwrap().read_blocking().unwrap();
        for (found, exact) in found.iter().zip(SCIPY) {
            assert!((f64::from(*found) / exact - 1.0).abs() < 4e-7, "{found} for {exact}");
        }
    });
}

#[test]
fn exponential_numbers_and_directions_are_functions_of_their_words() {
    each(|d| {
        let r = Random::new(11).stream(3);
        let found = d.map(r.exponential(2000, 2.5), |x| x).unwrap().read_blocking().unwrap();
        for (found, word) in found.iter().zip(words(r, 2000)) {
            let size = -fraction(word).ln();
            near(*found, size * 2.5, (units::log(size) + size) * 2.5, "exponential");
        }
        let (x, y) = d.map(r.circle(500), |(x, y)| (x, y)).unwrap();
        for ((x, y), word) in x.read_blocking().unwrap().into_iter().zip(y.read_blocking().unwrap()).zip(words(r, 500)) {
            let angle = f64::from(word) / 4_294_967_296.0 * std::f64::consts::TAU;
            near(x, angle.cos(), units::TURN, "x");
            near(y, angle.sin(), units::TURN, "y");
        }
        let (x, y, z) = d.map(r.sphere(500), |(x, y, z)| (x, y, z)).unwrap();
        let found = [x, y, z].map(|part| part.read_blocking().unwrap());
        for (k, (height, turn)) in pairs(r, 500).into_iter().enumerate() {
            let z = (f64::from(height as i32) + 0.5) / 2_147_483_648.0;
            let (radius, angle) = ((1.0 - z * z).sqrt(), f64::from(turn) / 4_294_967_296.0 * std::f64::consts::TAU);
            near(found[0][k], radius * angle.cos(), units::sphere(radius), "x of the sphere");
            near(found[1][k], radius * angle.sin(), units::sphere(radius), "y of the sphere");
            near(found[2][k], z, 2.0 * z.abs(), "z of the sphere");
        }
    });
}

/// Pearson's statistic of counts against equal probabilities.
fn chi_square(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum()
}

/// `scipy.stats.norm.ppf(k / 32)` and `scipy.stats.expon.ppf(k / 32)` for k from 1 to 31.
#[allow(clippy::excessive_precision, reason = "digits as SciPy prints them")]
const NORMAL_EDGES: [f32; 31] = [
    -1.862_731_9,
    -1.534_120_5,
    -1.318_010_9,
    -1.150_349_4,
    -1.009_990_2,
    -0.887_146_56,
    -0.776_421_76,
    -0.674_489_75,
    -0.579_132_16,
    -0.488_776_41,
    -0.402_250_07,
    -0.318_639_36,
    -0.237_202_11,
    -0.157_310_69,
    -0.078_412_413,
    0.0,
    0.078_412_413,
    0.157_310_69,
    0.237_202_11,
    0.318_639_36,
    0.402_250_07,
    0.488_776_41,
    0.579_132_16,
    0.674_489_75,
    0.776_421_76,
    0.887_146_56,
    1.009_990_2,
    1.150_349_4,
    1.318_010_9,
    1.534_120_5,
    1.862_731_9,
];
#[allow(clippy::excessive_precision, clippy::approx_constant, reason = "digits as SciPy prints them")]
const EXPONENTIAL_EDGES: [f32; 31] = [
    0.031_748_698,
    0.064_538_521,
    0.098_440_073,
    0.133_531_39,
    0.169_899_04,
    0.207_639_37,
    0.246_860_08,
    0.287_682_07,
    0.330_241_69,
    0.374_693_45,
    0.421_213_47,
    0.470_003_63,
    0.521_296_92,
    0.575_364_15,
    0.632_522_56,
    0.693_147_18,
    0.757_685_7,
    0.826_678_57,
    0.900_786_55,
    0.980_829_25,
    1.067_840_6,
    1.163_150_8,
    1.268_511_3,
    1.386_294_4,
    1.519_825_8,
    1.673_976_4,
    1.856_298,
    2.079_441_5,
    2.367_123_6,
    2.772_588_7,
    3.465_735_9,
];

/// 31 degrees of freedom: `scipy.stats.chi2.ppf([1e-4, 1 - 1e-4], 31)`.
const FITS_32: core::ops::Range<f64> = 9.79..69.11;

#[test]
fn distributions_pass_chi_square_tests_at_fixed_seeds() {
    each(|d| {
        let n = 1 << 18;
        for (k, r) in [Random::new(1), Random::new(1).by(Generator::Threefry), Random::new(1).split(7)].into_iter().enumerate() {
            let edges = Edges::new(d, &[&[f32::MIN], &NORMAL_EDGES[..], &[f32::MAX]].concat()).unwrap();
            let test = |counts: Buffer<Device, u32>, what: &str| {
                let found = chi_square(&counts.read_blocking().unwrap());
                assert!(FITS_32.contains(&found), "{what} {k}: {found}");
            };
            test(d.histogram(even_bins(r.uniform::<f32>(n), 0.0, 1.0, 32)).run().unwrap(), "uniform");
            test(d.histogram(binned(r.integers(n, 0u32..96), 32, |x| x / 3)).run().unwrap(), "integers");
            test(d.histogram(bins_between(r.normal(n, 0.0, 1.0), &edges)).run().unwrap(), "normal");
            test(d.histogram(bins_between(r.normal_by_quantile(n, 0.0, 1.0), &edges)).run().unwrap(), "quantile");
            let edges = Edges::new(d, &[&[0.0], &EXPONENTIAL_EDGES[..], &[f32::MAX]].concat()).unwrap();
            test(d.histogram(bins_between(r.exponential(n, 1.0), &edges)).run().unwrap(), "exponential");
            test(d.histogram(even_bins(r.sphere(n).map(|(x, _, _)| x), -1.0, 1.0, 32)).run().unwrap(), "sphere");
            // Pairs of neighbours: what one word says of the next.
            let uniform = d.map(r.uniform::<f32>(n), |x| x).unwrap();
            let (even_ones, odd_ones) = (uniform.strided(0, n / 2, 2).unwrap(), uniform.strided(1, n / 2, 2).unwrap());
            let cells = (even_ones, odd_ones).map(|(x, y)| (x * 8.0).cast::<u32>() * 4 + (y * 4.0).cast::<u32>());
            test(d.histogram(binned(cells, 32, |x| x)).run().unwrap(), "pairs");
        }
    });
}

#[test]
fn moments_are_those_of_the_distributions() {
    each(|d| {
        let (r, n) = (Random::new(20), 1u64 << 20);
        let moment = |power: i32| {
            let z = r.normal(n, 0.0, 1.0).map(move |z| (1..power).fold(z, |x, _| x.mul_rn(z)));
            f64::from(d.reduce(z, Sum).run().unwrap().read_blocking().unwrap()) / n as f64
        };
        // Standard deviations of the k-th moments' means: root of (m_2k - m_k^2) / n; six of them.
        for (k, expected, spread) in [(1, 0.0, 1.0f64), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            assert!((moment(k) - expected).abs() < 6.0 * (spread / n as f64).sqrt(), "moment {k}: {}", moment(k));
        }
    });
}

/// The greatest distance of the empirical distribution from the uniform one: Kolmogorov and Smirnov's statistic times root n. `scipy.stats.kstwobign.isf(1e-4)`
/// is 2.2253.
#[test]
fn uniform_numbers_pass_kolmogorov_and_smirnovs_test() {
    each(|d| {
        let n = 1u64 << 16;
        for seed in 0..4 {
            let x = d.sort(Random::new(seed).uniform::<f32>(n)).run().unwrap();
            let apart = d.reduce(
                (&x, index()).map(move |(x, i)| {
                    let i = i.cast::<f32>() / n as f32;
                    (x - i).abs().max((i + 1.0 / n as f32 - x).abs())
                }),
                Max,
            );
            let statistic = f64::from(apart.run().unwrap().read_blocking().unwrap()) * (n as f64).sqrt();
            assert!((0.3..2.2253).contains(&statistic), "seed {seed}: {statistic}");
        }
    });
}

#[test]
fn draws_are_fused_into_every_pattern_with_the_bits_that_are_stored() {
    each(|d| {
        for (r, n) in [(Random::new(9), 100_003), (Random { position: 3, ..Random::new(9) }, 4099)] {
            let x = d.map(r.normal(n, 1.0, 2.0), |x| x).unwrap();
            let sum = |sum: DeviceScalar<Device, f32>| sum.read_blocking().unwrap().to_bits();
            assert_eq!(sum(d.reduce(r.normal(n, 1.0, 2.0), Sum).run().unwrap()), sum(d.reduce(&x, Sum).run().unwrap()));
            let bits = |x: Buffer<Device, f32>| x.read_blocking().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(d.scan(r.normal(n, 1.0, 2.0), Sum).run().unwrap()), bits(d.scan(&x, Sum).run().unwrap()));
            assert_eq!(bits(d.sort(r.normal(n, 1.0, 2.0)).run().unwrap()), bits(d.sort(&x).run().unwrap()));
            let fused = d.select(r.normal(n, 1.0, 2.0), |x| x.gt(2.0)).run().unwrap().read_blocking().unwrap();
            assert_eq!(fused, d.select(&x, |x| x.gt(2.0)).run().unwrap().read_blocking().unwrap());
            let at = d.upload(&[n as u32 - 1, 0, 5]).unwrap();
            assert_eq!(bits(d.gather(r.normal(n, 1.0, 2.0), &at).run().unwrap()), bits(d.gather(&x, &at).run().unwrap()));
            let both = d.map((&x, r.stream(1).uniform::<f32>(n)), |(x, u)| x * u).unwrap();
            let u = d.map(r.stream(1).uniform::<f32>(n), |u| u).unwrap();
            assert_eq!(bits(both), bits(d.map((&x, &u), |(x, u)| x * u).unwrap()));
        }
    });
}

#[test]
fn streams_and_split_generators_are_apart() {
    let r = Random::new(1);
    let mut seen = std::collections::BTreeSet::new();
    let mut add = |r: Random| assert!(seen.insert(words(r, 2)), "{r:?} was there");
    for k in 0..100u32 {
        add(r.stream(k.into()));
        add(r.split(k));
        add(r.split(k).split(1));
        add(r.stream(1).split(k));
        add(r.skip(4).unwrap().split(k));
        add(Random::new(k.into()).by(Generator::Threefry));
    }
}

#[test]
fn discrete_draws_follow_their_weights() {
    each(|d| {
        let weights: Vec<f64> = (0..33).map(|k| f64::from(k % 5)).collect();
        let (table, n) = (Discrete::new(d, &weights).unwrap(), 1u64 << 18);
        let counts = d.histogram(binned(Random::new(4).discrete(n, &table), 33, |x| x)).run().unwrap().read_blocking().unwrap();
        let sum: f64 = weights.iter().sum();
        let statistic: f64 = counts
            .iter()
            .zip(&weights)
            .filter(|(_, w)| **w > 0.0)
            .map(|(&c, w)| {
                let expected = w / sum * n as f64;
                (f64::from(c) - expected).powi(2) / expected
            })
            .sum();
        // 25 degrees of freedom.
        assert!((6.7..60.1).contains(&statistic), "{statistic}");
        assert!(counts.iter().zip(&weights).all(|(&c, w)| (c == 0) == (*w == 0.0)));
    });
}

#[test]
fn permutations_are_argsorts_of_keys_of_64_bits() {
    each(|d| {
        for (r, n) in
            [(Random::new(8), 0u64), (Random::new(8), 1), (Random::new(8), 1000), (Random { position: 5, ..Random::new(1) }, 70_001)]
        {
            let mut expected: Vec<u32> = (0..n as u32).collect();
            let keys = pairs(r, n);
            expected.sort_by_key(|&i| keys[i as usize]);
            assert_eq!(d.permutation(r, n).unwrap().read_blocking().unwrap(), expected);
            let k = n / 3;
            assert_eq!(d.sample(r, n, k).unwrap().read_blocking().unwrap(), expected[..k as usize]);
        }
        // All orders of four are as likely: 23 degrees of freedom.
        let mut counts = [0u32; 24];
        for k in 0..600 {
            let order = d.permutation(Random::new(2).stream(k), 4).unwrap().read_blocking().unwrap();
            let rank = (0..4).fold(0, |rank, i| rank * (4 - i) + order[i + 1..].iter().filter(|&&x| x < order[i]).count());
            counts[rank] += 1;
        }
        assert!((5.7..57.1).contains(&chi_square(&counts)), "{counts:?}");
    });
}

#[test]
fn draws_that_cannot_be_are_refused_and_change_nothing() {
    each(|d| {
        let out = d.upload(&[7.0f32; 4]).unwrap();
        let r = Random::new(1);
        let refused = |result: isowarp::Result<()>, argument: &str| match result {
            Err(Error::InvalidArgument { what, .. }) => assert_eq!(what, argument),
            other => panic!("{argument}: {other:?}"),
        };
        for bad in [-1.0, f32::NAN, f32::INFINITY] {
            refused(d.map_into(r.normal(4, 0.0, bad), |x| x, &out), "deviation");
            refused(d.map_into(r.log_normal(4, 0.0, bad), |x| x, &out), "deviation");
            refused(d.map_into(r.normal_by_quantile(4, 0.0, bad), |x| x, &out), "deviation");
            refused(d.map_into(r.exponential(4, bad), |x| x, &out), "mean");
        }
        refused(d.map_into(r.normal(4, f32::NAN, 1.0), |x| x, &out), "mean");
        refused(d.map_into(r.integers(4, 3u32..3), Expr::cast::<f32>, &out), "range");
        refused(d.map_into(r.integers(4, Range { start: 3i32, end: -3 }), Expr::cast::<f32>, &out), "range");
        let last = Random { position: u64::MAX - 2, ..r };
        refused(d.map_into(last.uniform::<f32>(4), |x| x, &out), "position");
        refused(d.map_into(last.integers(2, 0u32..9), Expr::cast::<f32>, &out), "position");
        refused(d.permutation(last, 2).map(drop), "position");
        refused(r.skip(1).unwrap().skip(u64::MAX).map(drop), "position");
        refused(d.sample(r, 3, 4).map(drop), "sample");
        refused(Discrete::new(d, &[1.0, -1.0]).map(drop), "weights");
        refused(Discrete::new(d, &[]).map(drop), "weights");
        for bad in [[f64::NAN, 1.0], [1.0, f64::INFINITY], [0.0, 0.0], [-0.0, 0.0], [f64::MAX, f64::MAX]] {
            refused(Discrete::new(d, &bad).map(drop), "weights");
        }
        assert_eq!(out.read_blocking().unwrap(), [7.0; 4]);
        d.map_into(last.uniform::<f32>(3), |x| x, &out.slice(..3).unwrap()).unwrap();
        assert_eq!(d.map(last.uniform::<u32>(0), |x| x).unwrap().len(), 0);
    });
}

/// `scipy.stats.qmc.Sobol(d, scramble=False, bits=32)`: the first points of six dimensions, and coordinates of point 999 of 1024.
#[test]
fn sobol_points_are_those_of_scipy() {
    const FIRST: [[u32; 6]; 8] = [
        [0; 6],
        [0x8000_0000; 6],
        [0xc000_0000, 0x4000_0000, 0x4000_0000, 0x4000_0000, 0xc000_0000, 0xc000_0000],
        [0x4000_0000, 0xc000_0000, 0xc000_0000, 0xc000_0000, 0x4000_0000, 0x4000_0000],
        [0x6000_0000, 0x6000_0000, 0xa000_0000, 0xe000_0000, 0x6000_0000, 0x2000_0000],
        [0xe000_0000, 0xe000_0000, 0x2000_0000, 0x6000_0000, 0xe000_0000, 0xa000_0000],
        [0xa000_0000, 0x2000_0000, 0xe000_0000, 0xa000_0000, 0xa000_0000, 0xe000_0000],
        [0x2000_0000, 0xa000_0000, 0x6000_0000, 0x2000_0000, 0x2000_0000, 0x6000_0000],
    ];
    const LATE: [(usize, u32); 7] = [
        (0, 0x2840_0000),
        (1, 0xe8c0_0000),
        (2, 0x14c0_0000),
        (10, 0x05c0_0000),
        (100, 0xb4c0_0000),
        (500, 0xa9c0_0000),
        (1023, 0x06c0_0000),
    ];
    each(|d| {
        let found = d.map(Sobol::new(d, 6).unwrap().uniform::<u32>(8), |x| x).unwrap().read_blocking().unwrap();
        assert_eq!(found, FIRST.concat());
        let points = Sobol::new(d, 1024).unwrap().from(999);
        let found = d.map(points.uniform::<u32>(1), |x| x).unwrap().read_blocking().unwrap();
        assert!(LATE.iter().all(|&(j, word)| found[j] == word));
        let floats = d.map(points.uniform::<f32>(1), |x| x).unwrap().read_blocking().unwrap();
        assert!(found.iter().zip(floats).all(|(word, x)| (word >> 8) as f32 / 16_777_216.0 == x));
    });
}

#[test]
fn scrambled_points_stay_one_to_a_cell() {
    each(|d| {
        for points in [Sobol::scrambled(d, 7, Random::new(3)).unwrap(), Sobol::shifted(d, 7, Random::new(3)).unwrap()] {
            let found = d.map(points.uniform::<u32>(256), |x| x).unwrap().read_blocking().unwrap();
            for j in 0..7 {
                let mut cells: Vec<u32> = found.iter().skip(j).step_by(7).map(|word| word >> 24).collect();
                cells.sort_unstable();
                assert!(cells.iter().copied().eq(0..256), "dimension {j}");
            }
            // A later start is the same points.
            let late = d.map(points.clone().from(100).uniform::<u32>(156), |x| x).unwrap().read_blocking().unwrap();
            assert_eq!(late, found[700..]);
        }
        let refused = |result: isowarp::Result<()>| assert!(matches!(result, Err(Error::TooLarge { requested: 1025, limit: 1024, .. })));
        refused(Sobol::new(d, 1025).map(drop));
        assert!(matches!(Sobol::new(d, 0), Err(Error::InvalidArgument { what: "dimensions", .. })));
        let points = Sobol::new(d, 2).unwrap().from(u32::MAX);
        assert!(matches!(d.map(points.uniform::<f32>(2), |x| x), Err(Error::TooLarge { what: "Sobol points", .. })));
    });
}
