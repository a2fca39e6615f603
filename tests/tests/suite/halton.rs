//! Halton's points: SciPy's values, and the fractions of their digits in integers.

use crate::common::each;
use isowarp::prelude::*;
use isowarp::random::{Halton, MAX_HALTON_DIMENSIONS};
use isowarp::{Cpu, Error};

fn primes(n: usize) -> Vec<u32> {
    (2u32..).filter(|p| (2..*p).all(|q| p % q != 0)).take(n).collect()
}

/// A word of the contract, and the exact fraction of 2^32, rounded down.
fn words(mut point: u32, base: u32) -> (u32, u32) {
    let (mut sum, mut weight, mut reversed, mut power) = (0u64, 1u128 << 64, 0u128, 1u128);
    while point > 0 {
        weight /= u128::from(base);
        sum += u64::from(point % base) * weight as u64;
        (reversed, power) = (reversed * u128::from(base) + u128::from(point % base), power * u128::from(base));
        point /= base;
    }
    ((sum >> 32) as u32, ((reversed << 32) / power) as u32)
}

#[test]
fn halton_points_have_the_digits_of_their_number_reversed() {
    each(|d| {
        for (dimensions, first, leap, n) in
            [(1, 0, 1, 1025), (2, u32::MAX - 8, 1, 8), (7, 999_999_937, 1, 301), (128, 0, 409, 33), (3, 5, 1 << 26, 60)]
        {
            let points = Halton::new(d, dimensions).unwrap().from(first).leaped(leap);
            let found = d.map(points.uniform::<u32>(n), |x| x).unwrap().read_blocking().unwrap();
            let bases = primes(dimensions as usize);
            for (i, point) in found.chunks(dimensions as usize).enumerate() {
                for (word, base) in point.iter().zip(&bases) {
                    let (expected, exact) = words(first + i as u32 * leap, *base);
                    assert_eq!(*word, expected, "point {i} from {first} in base {base}");
                    assert!(exact - expected <= 1);
                }
            }
        }
    });
}

/// `scipy.stats.qmc.Halton(d, scramble=False)`: the first points of six dimensions, and coordinates of point 12345 of 128.
#[test]
fn halton_points_are_those_of_scipy() {
    const FIRST: [[f64; 6]; 8] = [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.5, 0.3333333333333333, 0.2, 0.14285714285714285, 0.09090909090909091, 0.07692307692307693],
        [0.25, 0.6666666666666666, 0.4, 0.2857142857142857, 0.18181818181818182, 0.15384615384615385],
        [0.75, 0.1111111111111111, 0.6000000000000001, 0.42857142857142855, 0.2727272727272727, 0.23076923076923078],
        [0.125, 0.4444444444444444, 0.8, 0.5714285714285714, 0.36363636363636365, 0.3076923076923077],
        [0.625, 0.7777777777777777, 0.04, 0.7142857142857142, 0.4545454545454546, 0.38461538461538464],
        [0.375, 0.2222222222222222, 0.24000000000000002, 0.8571428571428571, 0.5454545454545454, 0.46153846153846156],
        [0.875, 0.5555555555555556, 0.44, 0.02040816326530612, 0.6363636363636364, 0.5384615384615385],
    ];
    const FAR: [(usize, f64); 6] = [
        (0, 0.60955810546875),
        (1, 0.24635472234923536),
        (2, 0.190272),
        (50, 0.9837904547882628),
        (99, 0.8189291412835135),
        (127, 0.1697129957579005),
    ];
    let near = |word: u32, exact: f64| assert!((f64::from(word) / 4_294_967_296.0 - exact).abs() < 2f64.powi(-32), "{word} for {exact}");
    each(|d| {
        let found = d.map(Halton::new(d, 6).unwrap().uniform::<u32>(8), |x| x).unwrap().read_blocking().unwrap();
        found.iter().zip(FIRST.as_flattened()).for_each(|(word, exact)| near(*word, *exact));
        let points = Halton::new(d, 128).unwrap().from(12_345);
        let found = d.map(points.uniform::<u32>(1), |x| x).unwrap().read_blocking().unwrap();
        FAR.iter().for_each(|(k, exact)| near(found[*k], *exact));
        let floats = d.map(points.uniform::<f32>(1), |x| x).unwrap().read_blocking().unwrap();
        assert!(floats.iter().zip(&found).all(|(x, word)| *x == (word >> 8) as f32 / 16_777_216.0));
    });
}

#[test]
fn shifted_points_are_moved_by_the_words_of_their_dimension() {
    each(|d| {
        let (plain, shifted) = (Halton::new(d, 5).unwrap(), Halton::shifted(d, 5, Random::new(9)).unwrap());
        let words = |points: &Halton<_>| d.map(points.uniform::<u32>(257), |x| x).unwrap().read_blocking().unwrap();
        for (k, (moved, word)) in words(&shifted).iter().zip(words(&plain)).enumerate() {
            assert_eq!(*moved, word.wrapping_add(Random::new(9).skip(k as u64 % 5).unwrap().word()));
        }
    });
}

#[test]
fn halton_points_that_are_none_are_refused() {
    let d = Cpu::new();
    assert!(matches!(Halton::new(&d, 0), Err(Error::InvalidArgument { what: "dimensions", .. })));
    let beyond = MAX_HALTON_DIMENSIONS + 1;
    assert!(matches!(Halton::new(&d, beyond), Err(Error::TooLarge { what: "dimensions of Halton points", .. })));
    let last = Random { position: u64::MAX, ..Random::new(1) };
    assert!(matches!(Halton::shifted(&d, 2, last), Err(Error::InvalidArgument { what: "position", .. })));
    let refused = |points: Halton<Cpu>, n| match d.map(points.uniform::<f32>(n), |x| x) {
        Err(Error::TooLarge { what, .. }) => what,
        other => panic!("{:?}", other.map(drop)),
    };
    let points = || Halton::new(&d, 2).unwrap();
    assert_eq!(refused(points().from(u32::MAX), 2), "Halton points");
    assert_eq!(refused(points().leaped(1 << 20), 4098), "Halton points");
    assert_eq!(refused(points(), (1 << 31) + 1), "coordinates of Halton points");
}
