//! Distances in units in the last place: closed forms, NumPy's spacings, and plain loops over integers.

use crate::common::{each, each_with};
use isowarp::element::DType;
use isowarp::patterns::UlpDistances;
use isowarp::prelude::*;
use isowarp::{Cpu, Error};

/// A float's place in their order, by its bits.
fn place(x: f32) -> i64 {
    let bits = i64::from(x.to_bits());
    if bits >> 31 == 1 { (1 << 31) - bits } else { bits }
}

fn place_of_f64(x: f64) -> i128 {
    let bits = i128::from(x.to_bits());
    if bits >> 63 == 1 { (1 << 63) - bits } else { bits }
}

/// All that the pattern says, by a loop over distances, where `None` is NaN and a number.
fn expected(distances: impl Iterator<Item = Option<u64>>, bits: u32) -> UlpDistances {
    let mut all = UlpDistances { elements: 0, max: 0, at: 0, sum: 0, counts: vec![0; bits as usize + 2] };
    for (i, distance) in distances.enumerate() {
        all.elements += 1;
        let bin = distance.map_or(bits + 1, |d| u64::BITS - d.leading_zeros());
        all.counts[bin as usize] += 1;
        let distance = distance.unwrap_or(0);
        all.sum += u128::from(distance);
        if distance > all.max {
            (all.max, all.at) = (distance, i as u32);
        }
    }
    all
}

fn distance<T>(nan: (bool, bool), apart: impl Fn() -> T) -> Option<u64>
where
    u64: TryFrom<T>,
{
    match nan {
        (true, true) => Some(0),
        (false, false) => u64::try_from(apart()).ok(),
        _ => None,
    }
}

/// Pairs of any bits, near ones and equal ones.
fn words(n: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..n).map(|i| {
        let a = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let b = (a ^ a >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        match i % 5 {
            0 => (a, b),
            1 => (a, a),
            2 => (a, a ^ 1 << 63),
            _ => (a, a.wrapping_add(((b >> 20) >> (b % 43)) << (32 * (i % 2)))),
        }
    })
}

#[test]
fn distances_are_those_of_a_loop_over_integers() {
    let special = [0.0f32, f32::from_bits(1), f32::MIN_POSITIVE, 1.0, f32::MAX, f32::INFINITY, f32::NAN];
    let special: Vec<f32> = special.iter().flat_map(|x| [*x, -x]).collect();
    let pairs = special.iter().flat_map(|x| special.iter().map(move |y| (*x, *y)));
    let pairs: Vec<(f32, f32)> =
        pairs.chain(words(40_007).map(|(a, b)| (f32::from_bits((a >> 32) as u32), f32::from_bits((b >> 32) as u32)))).collect();
    let (x, y): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
    let of = |(x, y): &(f32, f32)| distance((x.is_nan(), y.is_nan()), || place(*x).abs_diff(place(*y)));
    each(|d| {
        let (x, y) = (d.upload(&x).unwrap(), d.upload(&y).unwrap());
        for n in [1, 2, 196, 1025, x.len()] {
            let found = d.ulp(&x.slice(..n).unwrap(), &y.slice(..n).unwrap()).unwrap().read_blocking().unwrap();
            assert_eq!(found, expected(pairs[..n as usize].iter().map(of), 32), "{n}");
        }
    });
    let pairs: Vec<(f64, f64)> = words(20_011).map(|(a, b)| (f64::from_bits(a), f64::from_bits(b))).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let of = |(x, y): &(f64, f64)| distance((x.is_nan(), y.is_nan()), || place_of_f64(*x).abs_diff(place_of_f64(*y)));
    each_with(&[DType::F64], |d| {
        let found = d.ulp(&d.upload(&x).unwrap(), &d.upload(&y).unwrap()).unwrap().read_blocking().unwrap();
        assert_eq!(found, expected(pairs.iter().map(of), 64));
    });
}

/// `np.spacing` of some numbers is the distance to the next one.
#[test]
fn a_spacing_of_numpys_is_a_unit() {
    const SPACINGS: [(f32, f32); 7] = [
        (1.0, 1.192_092_9e-7),
        (0.1, 7.450_581e-9),
        (3.3, 2.384_185_8e-7),
        (1e30, 7.555_786_4e22),
        (1.1754944e-38, 1e-45),
        (0.0, 1e-45),
        (16_777_215.0, 1.0),
    ];
    let (x, next): (Vec<f32>, Vec<f32>) = SPACINGS.iter().map(|(x, by)| (*x, x + by)).unzip();
    each(|d| {
        let found = d.ulp(&d.upload(&x).unwrap(), &d.upload(&next).unwrap()).unwrap().read_blocking().unwrap();
        assert_eq!((found.max, found.at, found.sum, found.differing(), found.nan()), (1, 0, 7, 7, 0));
        assert_eq!(found.mean(), 1.0);
    });
}

#[test]
fn an_error_against_an_f64_is_a_fraction_of_a_unit() {
    let exact = [1.0 + 2f64.powi(-25), 0.1, 1e-40, 3e38, 1e39, f64::INFINITY, f64::NAN, 2.0 - 2f64.powi(-30), -5.0, 0.0, 1.0];
    let x = [1.0f32, 0.1, 1e-40, 3e38, f32::INFINITY, f32::INFINITY, f32::NAN, 2.0, -5.000_000_5, 1e-45, f32::NAN];
    each_with(&[DType::F64], |d| {
        let (x, exact) = (d.upload(&x).unwrap(), d.upload(&exact).unwrap());
        let found = d.map((&x, &exact), |(x, exact)| x.ulp_error(exact)).unwrap().read_blocking().unwrap();
        let unit = |power: i32| 2f64.powi(23 - power);
        let error = |x: f32, exact: f64, power: i32| (f64::from(x) - exact).abs() * unit(power);
        let near = [0.25, error(0.1, 0.1, -4), error(1e-40, 1e-40, -126), error(3e38, 3e38, 127), 0.0, 0.0, 0.0, 2f64.powi(-7), 1.0, 1.0];
        assert_eq!(found[..10], near);
        assert!(found[10].is_nan() && found[1] < 0.5 && found[2] < 0.5 && found[3] < 0.5);
    });
}

#[test]
fn distances_of_what_does_not_fit_are_refused() {
    let d = Cpu::new();
    let (x, none) = (d.upload(&[1f32, 2.0]).unwrap(), d.buffer::<f32>(0).unwrap());
    assert!(matches!(d.ulp(&none, &none), Err(Error::Empty { pattern: "ulp" })));
    assert!(matches!(d.ulp(&x, &x.slice(..1).unwrap()), Err(Error::LengthMismatch { .. })));
    let many = || counting(1 << 32).map(Expr::cast::<f32>);
    assert!(matches!(d.ulp(many(), many()), Err(Error::TooLarge { .. })));
}
