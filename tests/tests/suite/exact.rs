//! Exact sums, means and dot products: the results of Python's integers, of any order, of special values, and what is refused.

use crate::common::{each, each_with};
use isowarp::backend::Backend as _;
use isowarp::buffer::Buffer;
use isowarp::element::{DType, Element, Scalar};
use isowarp::patterns::ExactCall;
use isowarp::prelude::*;
use isowarp::{Device, Error};
use serde_json::Value;

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../../data/exact.json")).expect("the fixtures are JSON")
}

fn numbers(v: &Value) -> Vec<u64> {
    v.as_array().expect("a list").iter().map(|x| x.as_u64().expect("bits")).collect()
}

fn words(n: usize, mut seed: u32) -> Vec<u32> {
    let next = |_| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed
    };
    (0..n).map(next).collect()
}

/// The inputs of `exact.py`.
fn f32s(n: usize, seed: u32, near: u32) -> Vec<f32> {
    let of = |word: u32| match (near, word >> 23 & 0xff) {
        (0, 255) => word ^ 0x4000_0000,
        (0, _) => word,
        (near, exponent) => word & 0x807f_ffff | (120 + exponent % near) << 23,
    };
    words(n, seed).into_iter().map(|word| f32::from_bits(of(word))).collect()
}

fn f64s(n: usize, seed: u32, near: u32) -> Vec<f64> {
    let of = |high: u32| match (near, high >> 20 & 0x7ff) {
        (0, 2047) => high ^ 0x4000_0000,
        (0, _) => high,
        (near, exponent) => high & 0x800f_ffff | (1000 + exponent % near) << 20,
    };
    words(2 * n, seed).chunks(2).map(|two| f64::from_bits(u64::from(of(two[0])) << 32 | u64::from(two[1]))).collect()
}

fn bits<T: Element + Scalar>(x: &Buffer<Device, T>) -> Vec<u64> {
    x.read_blocking().unwrap().into_iter().map(Scalar::to_bits64).collect()
}

/// Sums, means, rows and columns of both types, in a macro since calls of different types are different types.
macro_rules! check {
    ($d:ident, $of:ident, $x:ident) => {{
        let lengths = numbers(&fixtures()["lengths"]);
        for (k, &n) in lengths.iter().enumerate() {
            let part = $x.slice(..n).unwrap();
            let sum = $d.exact_sum(&part).run().unwrap().read_blocking().unwrap();
            assert_eq!(sum.to_bits64(), numbers(&$of["sums"])[k], "sum of {n}");
            let mean = $d.exact_mean(&part).run().unwrap().read_blocking().unwrap();
            if n == 0 {
                assert!(mean.is_nan());
            } else {
                assert_eq!(mean.to_bits64(), numbers(&$of["means"])[k - 1], "mean of {n}");
            }
        }
        let rows = |n: u64, of: u64| $x.slice(..n * of).unwrap();
        assert_eq!(bits(&$d.exact_sum(&rows(19, 1031)).axis(&[19, 1031], 1).run().unwrap()), numbers(&$of["rows"]));
        assert_eq!(bits(&$d.exact_sum(&rows(500, 7)).axis(&[500, 7], 1).run().unwrap()), numbers(&$of["short rows"]));
        assert_eq!(bits(&$d.exact_sum(&rows(501, 13)).axis(&[501, 13], 0).run().unwrap()), numbers(&$of["columns"]));
        assert_eq!(bits(&$d.exact_mean(&rows(501, 13)).axis(&[501, 13], 0).run().unwrap()), numbers(&$of["column means"]));
        // The same rows as segments, of which one more is empty, and as runs of equal keys.
        let mut offsets: Vec<u32> = (0..=500).map(|k| 7 * k).collect();
        offsets.insert(3, offsets[3]);
        let mut expected = numbers(&$of["short rows"]);
        let short = rows(500, 7);
        let keys: Vec<u8> = (0..3500).map(|i| (i / 7) as u8).collect();
        let runs = $d.exact_sum(&short).by_key(&$d.upload(&keys).unwrap()).run().unwrap();
        assert_eq!(runs.len_blocking().unwrap(), 500);
        assert_eq!(bits(&runs.values.1.slice(..500).unwrap()), expected);
        let means = $d.exact_mean(&short).by_key(&$d.upload(&keys).unwrap()).run().unwrap();
        let of_rows = bits(&$d.exact_mean(&short).axis(&[500, 7], 1).run().unwrap());
        assert_eq!(bits(&means.values.1.slice(..500).unwrap()), of_rows);
        expected.insert(3, 0);
        assert_eq!(bits(&$d.exact_sum(&short).segments(&$d.upload(&offsets).unwrap()).run().unwrap()), expected);
        let means = $d.exact_mean(&short).segments(&$d.upload(&offsets).unwrap()).run().unwrap().read_blocking().unwrap();
        assert!(means[3].is_nan());
        assert_eq!(means[4].to_bits64(), of_rows[3]);
    }};
}

/// Dot products of the first elements, as many as the fixtures' lengths say.
macro_rules! dots {
    ($d:expr, $fixtures:expr, $of:expr, $x:expr, $y:expr) => {
        for (n, expected) in numbers(&$fixtures["lengths"]).into_iter().zip(numbers(&$of["dots"])) {
            let dot = $d.exact_dot((&$x.slice(..n).unwrap(), &$y.slice(..n).unwrap())).run().unwrap().read_blocking().unwrap();
            assert_eq!(dot.to_bits64(), expected, "{n}");
        }
    };
}

/// Dot products of rows and columns, and of the short rows as runs of equal keys and as segments, of which one more is empty.
macro_rules! dots_of_parts {
    ($d:expr, $of:expr, $x:expr, $y:expr) => {{
        let part = |n: u64| ($x.slice(..n).unwrap(), $y.slice(..n).unwrap());
        let lines = |rows: u64, columns: u64, axis| {
            let (x, y) = part(rows * columns);
            bits(&$d.exact_dot((&x, &y)).axis(&[rows, columns], axis).run().unwrap())
        };
        let mut short = numbers(&$of["dots of short rows"]);
        assert_eq!(lines(19, 1031, 1), numbers(&$of["dots of rows"]));
        assert_eq!(lines(500, 7, 1), short);
        assert_eq!(lines(501, 13, 0), numbers(&$of["dots of columns"]));
        let (x, y) = part(3500);
        let keys = $d.generate(3500, index(), |i| i / 7).unwrap();
        let runs = $d.exact_dot((&x, &y)).by_key(&keys).run().unwrap();
        assert_eq!((runs.len_blocking().unwrap(), bits(&runs.values.1.slice(..500).unwrap())), (500, short.clone()));
        let mut offsets: Vec<u32> = (0..=500).map(|k| 7 * k).collect();
        offsets.insert(3, offsets[3]);
        short.insert(3, 0);
        let offsets = $d.upload(&offsets).unwrap();
        assert_eq!(bits(&$d.exact_dot((&x, &y)).segments(&offsets).run().unwrap()), short);
        assert_eq!(bits(&$d.exact_dot((&x, &y)).segments(&offsets).checked().run().unwrap()), short);
    }};
}

#[test]
fn exact_sums_of_f32_are_those_of_pythons_integers() {
    let f = fixtures();
    each(|d| {
        for near in [0, 9] {
            let (of, x) = (&f[format!("f32 near {near}")], d.upload(&f32s(20_011, 7 + near, near)).unwrap());
            check!(d, of, x);
        }
    });
}

#[test]
fn exact_sums_of_f64_are_those_of_pythons_integers() {
    let f = fixtures();
    each_with(&[DType::F64], |d| {
        for near in [0, 9] {
            let (of, x) = (&f[format!("f64 near {near}")], d.upload(&f64s(20_011, 7 + near, near)).unwrap());
            check!(d, of, x);
        }
    });
}

#[test]
fn exact_dot_products_are_those_of_pythons_integers() {
    let f = fixtures();
    each_with(&[DType::F64], |d| {
        for near in [0, 9] {
            let x = f32s(20_011, 7 + near, near);
            let reversed: Vec<f32> = x.iter().rev().copied().collect();
            let (x, y, of) = (d.upload(&x).unwrap(), d.upload(&reversed).unwrap(), &f[format!("f32 near {near}")]);
            dots!(d, f, of, x, y);
            dots_of_parts!(d, of, x, y);
        }
    });
}

#[test]
fn exact_dot_products_of_f64_are_those_of_pythons_integers() {
    let f = fixtures();
    each_with(&[DType::F64], |d| {
        for near in [0, 9] {
            let x = f64s(20_011, 7 + near, near);
            let reversed: Vec<f64> = x.iter().rev().copied().collect();
            let (x, y, of) = (d.upload(&x).unwrap(), d.upload(&reversed).unwrap(), &f[format!("f64 near {near}")]);
            dots!(d, f, of, x, y);
            dots_of_parts!(d, of, x, y);
        }
    });
}

#[test]
fn products_of_f64_above_and_below_all_floats_are_exact() {
    let f = fixtures();
    each_with(&[DType::F64], |d| {
        // All lists as segments of one array, and some of them alone.
        let lists = f["edges"].as_array().expect("a list");
        let of = |name: &str| -> Vec<Vec<f64>> {
            lists.iter().map(|list| numbers(&list[name]).into_iter().map(f64::from_bits).collect()).collect()
        };
        let (x, y) = (of("x"), of("y"));
        let expected: Vec<u64> = lists.iter().map(|list| list["dot"].as_u64().expect("bits")).collect();
        let ends = x.iter().scan(0, |end, list| {
            *end += list.len() as u32;
            Some(*end)
        });
        let offsets = d.upload(&[0].into_iter().chain(ends).collect::<Vec<u32>>()).unwrap();
        let (all_x, all_y) = (d.upload(&x.concat()).unwrap(), d.upload(&y.concat()).unwrap());
        assert_eq!(bits(&d.exact_dot((&all_x, &all_y)).segments(&offsets).run().unwrap()), expected);
        let few = (0..24).chain((24..x.len()).step_by(17));
        for k in few {
            let (x, y) = (d.upload(&x[k]).unwrap(), d.upload(&y[k]).unwrap());
            assert_eq!(d.exact_dot((&x, &y)).run().unwrap().read_blocking().unwrap().to_bits(), expected[k], "{k}");
        }
    });
}

#[test]
fn special_factors_have_products_of_their_own() {
    let (inf, nan, least) = (f64::INFINITY, f64::NAN, f64::from_bits(1));
    each_with(&[DType::F64], |d| {
        let dot = |x: &[f64], y: &[f64]| {
            let (x, y) = (d.upload(x).unwrap(), d.upload(y).unwrap());
            d.exact_dot((&x, &y)).run().unwrap().read_blocking().unwrap()
        };
        for x in [0.0, -0.0, nan] {
            assert!(dot(&[1.0, x], &[1.0, inf]).is_nan() && dot(&[-inf, 2.0], &[x, 1.0]).is_nan());
        }
        assert!(dot(&[nan], &[0.0]).is_nan() && dot(&[1.0], &[-nan]).is_nan() && dot(&[inf, inf], &[1.0, -least]).is_nan());
        assert_eq!((dot(&[inf, f64::MIN], &[least, f64::MAX]), dot(&[-inf, 1.0], &[inf, 1.0])), (inf, -inf));
        assert_eq!((dot(&[-inf, -inf], &[-inf, -2.0]), dot(&[3.0, 2.0], &[-inf, 1.0])), (inf, -inf));
        let zeros = [dot(&[], &[]), dot(&[-0.0], &[1.0]), dot(&[0.0, -0.0], &[-3.0, 2.0]), dot(&[3.0, -3.0], &[least, least])];
        assert_eq!(zeros.map(f64::to_bits), [0; 4]);
        assert_eq!(dot(&[f64::MAX; 2], &[f64::MAX; 2]), inf);
        assert_eq!(dot(&[-least], &[least]).to_bits(), 1 << 63);
    });
}

#[test]
fn special_values_and_zeros_have_sums_of_their_own() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    each(|d| {
        let sum = |x: &[f32]| d.exact_sum(&d.upload(x).unwrap()).run().unwrap().read_blocking().unwrap();
        let mean = |x: &[f32]| d.exact_mean(&d.upload(x).unwrap()).run().unwrap().read_blocking().unwrap();
        assert!(sum(&[1.0, nan]).is_nan() && sum(&[inf, -inf]).is_nan() && mean(&[inf, 1.0, -inf]).is_nan());
        assert_eq!((sum(&[inf, f32::MIN]), sum(&[1.0, -inf, -inf])), (inf, -inf));
        assert_eq!((mean(&[inf, f32::MIN]), mean(&[1.0, -inf, -inf])), (inf, -inf));
        assert_eq!([sum(&[]), sum(&[-0.0]), sum(&[0.0, -0.0]), sum(&[3.0, -3.0])].map(f32::to_bits), [0; 4]);
        assert_eq!((sum(&[f32::MAX, f32::MAX]), sum(&[f32::MAX, f32::MAX, f32::MIN])), (inf, f32::MAX));
        assert_eq!(mean(&[f32::MAX, f32::MAX]), f32::MAX);
        // Half of the least number is even zero, whose sign stays; three of four are one.
        let least = f32::from_bits(1);
        assert_eq!(mean(&[-least, 0.0]).to_bits(), 0x8000_0000);
        assert_eq!(mean(&[least, least, least, 0.0]), least);
    });
}

#[test]
fn exact_sums_do_not_depend_on_order_and_take_any_input() {
    each(|d| {
        let x = d.upload(&f32s(40_000, 3, 60)).unwrap();
        let order = d.permutation(Random::new(5), 40_000).unwrap();
        let sum = |of: &Buffer<Device, f32>| d.exact_sum(of).run().unwrap().read_blocking().unwrap().to_bits();
        let expected = sum(&x);
        assert_eq!(sum(&d.permute(&x, &order).run().unwrap()), expected);
        let doubled = d.exact_sum(x.map(|x| x + x)).run().unwrap().read_blocking().unwrap();
        assert_eq!(doubled, 2.0 * f32::from_bits(expected));
        let out = d.upload(&[9.0f32; 4]).unwrap();
        d.exact_sum(&x).write_to(&out.slice(1..2).unwrap()).unwrap();
        assert_eq!(out.read_blocking().unwrap(), [9.0, f32::from_bits(expected), 9.0, 9.0]);
        // Elements behind the runs stay.
        let (keys, sums, count) = (d.buffer::<u32>(4).unwrap(), d.upload(&[7.0f32; 4]).unwrap(), d.buffer(1).unwrap());
        let part = d.upload(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
        d.exact_sum(&part).by_key(&d.upload(&[1u32, 1, 2, 2]).unwrap()).write_to(((&keys, &sums), &count)).unwrap();
        assert_eq!((sums.read_blocking().unwrap(), count.read_blocking().unwrap()), (vec![3.0, 7.0, 7.0, 7.0], vec![2]));
    });
}

#[test]
fn exact_sums_that_do_not_fit_are_refused_and_nothing_is_written() {
    each(|d| {
        let (x, y, out) = (d.upload(&[1.0f32; 8]).unwrap(), d.upload(&[1.0f32; 7]).unwrap(), d.upload(&[5.0f32; 2]).unwrap());
        let refused = |result: Result<(), Error>| result.unwrap_err();
        assert!(matches!(refused(d.exact_sum(&x).write_to(&out.slice(..0).unwrap())), Error::BufferTooSmall { required: 1, .. }));
        assert!(matches!(refused(d.exact_sum(&x).axis(&[4, 2], 1).write_to(&out)), Error::BufferTooSmall { required: 4, .. }));
        assert!(matches!(refused(d.exact_sum(&x).axis(&[3, 3], 1).write_to(&out)), Error::LengthMismatch { expected: 9, found: 8, .. }));
        assert!(d.exact_sum(&x).axis(&[4, 2], 2).run().is_err());
        assert!(matches!(refused(d.exact_sum(&x).write_to(&x.slice(2..3).unwrap())), Error::Aliasing { .. }));
        let none = d.buffer::<u32>(0).unwrap();
        assert!(matches!(d.exact_sum(&x).segments(&none).run().unwrap_err(), Error::InvalidArgument { .. }));
        assert!(matches!(d.exact_sum(&x).by_key(&y).run().unwrap_err(), Error::LengthMismatch { .. }));
        if d.caps().supports(DType::F64) {
            assert!(matches!(d.exact_dot((&x, &y)).run().unwrap_err(), Error::LengthMismatch { .. }));
            let (x, y) = (d.upload(&[1.0f64; 8]).unwrap(), d.upload(&[1.0f64; 7]).unwrap());
            assert!(matches!(d.exact_dot((&x, &y)).run().unwrap_err(), Error::LengthMismatch { .. }));
            assert!(matches!(refused(d.exact_dot((&x, &x)).write_to(&y.slice(..0).unwrap())), Error::BufferTooSmall { required: 1, .. }));
            assert!(matches!(
                refused(d.exact_dot((&x, &y.slice(..7).unwrap())).axis(&[7, 1], 1).write_to(&y)),
                Error::LengthMismatch { .. }
            ));
            assert!(matches!(refused(d.exact_dot((&x, &x)).write_to(&x.slice(2..3).unwrap())), Error::Aliasing { .. }));
        } else {
            assert!(matches!(d.exact_dot((&x, &x)).run().unwrap_err(), Error::Unsupported { .. }));
        }
        let none: ExactCall<'_, _, _, _> = d.exact_sum(counting64(1 << 33).map(Expr::cast::<f32>));
        assert!(matches!(none.axis(&[2, 1 << 32], 1).run().unwrap_err(), Error::TooLarge { .. }));
        assert_eq!(out.read_blocking().unwrap(), [5.0; 2]);
    });
}

/// NIST's Statistical Reference Datasets SmLs01 to SmLs09 (Simon and Lesage 1989): nine treatments of as many tenths above a large constant, whose certified sums
/// of squares have 15 digits, of which sums of floats in any order lose all where the constant has 13.
#[test]
fn analyses_of_variance_have_nists_certified_digits() {
    const FIRST: [u64; 9] = [4, 3, 5, 3, 5, 3, 5, 3, 5];
    // Replicates, and in hundredths the sums of squares between treatments and within them.
    const CERTIFIED: [(u64, f64, f64); 3] = [(21, 168.0, 180.0), (201, 1608.0, 1800.0), (2001, 16_008.0, 18_000.0)];
    each_with(&[DType::F64], |d| {
        for (constant, (replicates, between, within)) in [1, 1_000_000, 1_000_000_000_000].iter().flat_map(|&c| CERTIFIED.map(|of| (c, of)))
        {
            // The first replicate is followed by one below and one above it, in turns.
            let of_treatment = |first: u64| (0..replicates).map(move |k| 10 * constant + first + if k == 0 { 0 } else { 1 } - 2 * (k % 2));
            let tenths: Vec<u64> = FIRST.iter().flat_map(|&first| of_treatment(first)).collect();
            let squares = |unit: f64| {
                let y = d.upload(&tenths.iter().map(|&y| y as f64 / unit).collect::<Vec<_>>()).unwrap();
                let means = d.exact_mean(&y).axis(&[9, replicates], 1).run().unwrap();
                let mean = d.exact_mean(&y).run().unwrap().read_blocking().unwrap();
                let size = replicates as u32;
                let rest = d.map((&y, index(), array(&means)), move |(y, i, means)| y - means.at(i / size)).unwrap();
                let within = d.exact_dot((&rest, &rest)).run().unwrap().read_blocking().unwrap();
                let between: f64 = means.read_blocking().unwrap().into_iter().map(|of| (of - mean) * (of - mean)).sum();
                (between * replicates as f64, within)
            };
            assert_eq!(squares(1.0), (between, within), "{replicates} of {constant}");
            // Written with a point, a number is half a place off when it is read, and so is a mean of such numbers.
            let (found_between, found_within) = squares(10.0);
            let half_a_place = (constant as f64).next_up() - constant as f64;
            let most = (half_a_place + f64::EPSILON) * ((9 * replicates) as f64).sqrt();
            for (found, certified) in [(found_between, between / 100.0), (found_within, within / 100.0)] {
                assert!((found.sqrt() - certified.sqrt()).abs() <= most, "{replicates} of {constant}: {found} for {certified}");
            }
        }
    });
}

/// A mean of numbers of one exponent, by whole numbers of their unit in the last place: the nearest one, ties to even, which is the nearest `f64`.
fn mean_of_one_exponent(x: &[f64]) -> f64 {
    let exponent = x[0].to_bits() >> 52;
    let whole = |x: f64| i128::from(x.to_bits() & ((1 << 52) - 1) | 1 << 52);
    assert!(x.iter().all(|x| x.to_bits() >> 52 == exponent));
    let (sum, n) = (x.iter().map(|x| whole(*x)).sum::<i128>(), x.len() as i128);
    let (mean, rest) = (sum / n, sum % n);
    let mean = mean + i128::from(2 * rest > n || (2 * rest == n && mean % 2 == 1));
    f64::from_bits(exponent << 52 | mean as u64 & ((1 << 52) - 1))
}

/// NIST's Statistical Reference Datasets NumAcc1 to NumAcc4: numbers in turns below and above a mean that is certified to be exact, by a tenth, and by
/// one in the first set.
#[test]
fn means_of_numbers_near_each_other_are_nists() {
    let in_turns = |first: f64, below: f64, above: f64| [vec![first], [below, above].repeat(500)].concat();
    let sets = [
        (vec![10_000_001.0, 10_000_003.0, 10_000_002.0], 10_000_002.0),
        (in_turns(1.2, 1.1, 1.3), 1.2),
        (in_turns(1_000_000.2, 1_000_000.1, 1_000_000.3), 1_000_000.2),
        (in_turns(10_000_000.2, 10_000_000.1, 10_000_000.3), 10_000_000.2f64),
    ];
    let of_python = numbers(&fixtures()["means of NumAcc"]);
    assert_eq!(of_python.len(), sets.len());
    each_with(&[DType::F64], |d| {
        for ((x, certified), of_python) in sets.iter().zip(&of_python) {
            let mean = d.exact_mean(&d.upload(x).unwrap()).run().unwrap().read_blocking().unwrap();
            assert_eq!((mean.to_bits(), mean), (*of_python, mean_of_one_exponent(x)), "{certified}");
            assert!(mean.to_bits().abs_diff(certified.to_bits()) <= 1, "{mean} for {certified}");
            let rows = [x.clone(), x.clone(), x.clone()].concat();
            let means = d.exact_mean(&d.upload(&rows).unwrap()).axis(&[3, x.len() as u64], 1).run().unwrap();
            assert_eq!(means.read_blocking().unwrap(), [mean; 3]);
        }
    });
}
