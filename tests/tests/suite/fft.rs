//! Transforms: sums in long double, the stated order of evaluation in NumPy's arithmetic, what follows from the definition, and what is refused.

use crate::common::{cpu, each, each_with};
use isowarp::backend::Backend as _;
use isowarp::buffer::{Buffer, Memory as _};
use isowarp::element::DType;
use isowarp::patterns::FftScalar;
use isowarp::prelude::*;
use isowarp::{Device, Error};
use serde_json::Value;

/// The points of `fft.py`.
fn points<T: FftScalar>(n: u64, seed: u64) -> Vec<T> {
    let mut word = seed as u32;
    let next = |_| {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        T::rounded(f64::from(word >> 20) / 4096.0 - 0.5)
    };
    (0..2 * n).map(next).collect()
}

fn rows() -> Vec<Value> {
    serde_json::from_str(include_str!("../../data/fft.json")).expect("the data are JSON")
}

/// Bits of floats, each times its place, zeros without a sign.
fn digest<T: FftScalar>(x: &[T]) -> u64 {
    let bits = |x: T| if x == T::rounded(0.0) { 0 } else { x.to_bits64() };
    (1u64..).zip(x).fold(0, |sum, (place, &x)| sum.wrapping_add(bits(x).wrapping_mul(place)))
}

fn wide<T: FftScalar>(x: T) -> f64 {
    if T::DTYPE == DType::F32 { f32::from_bits(x.to_bits64() as u32).into() } else { f64::from_bits(x.to_bits64()) }
}

/// Results of the definition.
fn on_the_cpu(f: impl Fn(&Device) -> isowarp::Result<Buffer<Device, f32>>) -> Vec<f32> {
    f(&cpu()).unwrap().read_blocking().unwrap()
}

/// The largest difference of two arrays.
fn distance<T: FftScalar>(x: &[T], y: &[T]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(&a, &b)| (wide(a) - wide(b)).abs()).fold(0.0, f64::max)
}

/// Cosine transforms are transforms of even points: the first kind of n numbers one of 2 (n - 1) points, the second of 4 n points, every second of them 0.
fn cosines<T: FftScalar>(d: &Device, unit: f64) {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../../data/cosines.json")).expect("the data are JSON");
    for row in rows {
        let [kind, n] = ["type", "n"].map(|name| row[name].as_u64().expect("a number") as usize);
        let length = if kind == 1 { 2 * (n - 1) } else { 4 * n };
        let mut z = vec![T::rounded(0.0); 2 * length];
        for j in 0..n {
            let at = if kind == 1 { j } else { 2 * j + 1 };
            z[2 * at] = T::rounded(j as f64);
            z[2 * ((length - at) % length)] = T::rounded(j as f64);
        }
        let found = d.fft(&d.upload(&z).unwrap()).run().unwrap().read_blocking().unwrap();
        // Root of the sum of squares, and the levels of the transform; Bluestein's lengths take three.
        let bound = unit * (2.0 * (n as f64).powi(3) / 3.0).sqrt() * (length as f64).sqrt() * 3.0 * (2.0 + (length as f64).log2());
        for (bin, value) in row["bins"].as_array().unwrap().iter().zip(row["values"].as_array().unwrap()) {
            let at = 2 * bin.as_u64().unwrap() as usize;
            for (part, exact) in [(0, value.as_f64().unwrap()), (1, 0.0)] {
                let error = (wide(found[at + part]) - exact).abs();
                assert!(error <= bound, "type {kind}, {n} numbers, bin {bin}: {error:e} above {bound:e}");
            }
        }
    }
}

#[test]
fn transforms_of_even_points_are_fftws_cosine_transforms_in_long_double() {
    each(|d| cosines::<f32>(d, 2f64.powi(-24)));
    each_with(&[DType::F64], |d| cosines::<f64>(d, 2f64.powi(-53)));
}

fn transforms_are_those_of_the_data<T: FftScalar>(d: &Device, name: &str, unit: f64) {
    for row in rows() {
        let n = row["n"].as_u64().expect("a length");
        let z = points::<T>(n, n);
        let found = d.fft(&d.upload(&z).unwrap()).run().unwrap().read_blocking().unwrap();
        if let Some(expected) = row[name].as_u64() {
            assert_eq!(digest(&found), expected, "{name}, {n} points");
        }
        // Points have a mean square of 1/6, so that results are about this large; Bluestein's lengths take three transforms.
        let size = (n as f64 / 6.0).sqrt().max(1.0);
        let bound = unit * size * (2.0 + (n as f64).log2()) * if row[name].is_null() { 4.0 } else { 1.0 };
        for (bin, value) in row["bins"].as_array().unwrap().iter().zip(row["values"].as_array().unwrap()) {
            let at = 2 * bin.as_u64().unwrap() as usize;
            for part in 0..2 {
                let (found, expected) = (wide(found[at + part]), value[part].as_f64().unwrap());
                assert!((found - expected).abs() <= bound, "{name}, {n} points, bin {bin}: {found} for {expected}, bound {bound}");
            }
        }
    }
}

#[test]
fn transforms_are_sums_in_long_double_and_have_the_bits_of_the_stated_order() {
    each(|d| transforms_are_those_of_the_data::<f32>(d, "f32", 1.2e-7));
    each_with(&[DType::F64], |d| transforms_are_those_of_the_data::<f64>(d, "f64", 2.3e-16));
}

#[test]
fn a_line_has_the_bits_that_it_has_alone_along_any_axis_and_in_any_batch() {
    each(|d| {
        for n in [8u64, 60, 210, 1024, 2048, 4096, 26] {
            let lines = 7;
            let z = d.upload(&points::<f32>(lines * n, 5)).unwrap();
            let rows = d.fft(&z).axis(&[lines, n], 1).run().unwrap().read_blocking().unwrap();
            for line in [0, lines - 1] {
                let part = 2 * line * n..2 * (line + 1) * n;
                let alone = d.fft(&z.slice(part.clone()).unwrap()).run().unwrap().read_blocking().unwrap();
                assert_eq!(digest(&alone), digest(&rows[part.start as usize..part.end as usize]), "row {line} of {n}");
            }
            let turned = d.permute_axes(&z, &[lines, n, 2], &[1, 0, 2]).run().unwrap();
            let columns = d.fft(&turned).axis(&[n, lines], 0).run().unwrap();
            let back = d.permute_axes(&columns, &[n, lines, 2], &[1, 0, 2]).run().unwrap().read_blocking().unwrap();
            assert_eq!(digest(&back), digest(&rows), "columns of {n}");
        }
    });
}

#[test]
fn inverses_are_transforms_of_points_whose_parts_change_places_and_lead_back() {
    each(|d| {
        for n in [1u64, 6, 77, 1000, 4096, 1009, 40_000] {
            let z = points::<f32>(n, 3);
            let of = d.upload(&z).unwrap();
            let plan = d.fft_plan::<f32>(n).unwrap();
            let there = d.fft(&of).plan(&plan).run().unwrap();
            let back = d.fft(&there).plan(&plan).inverse().run().unwrap().read_blocking().unwrap();
            // By the contract, bit for bit: the transform of points with their parts changed, changed back and multiplied by 1 / n.
            let swapped = |x: &[f32]| x.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect::<Vec<_>>();
            let turned = d.fft(&d.upload(&swapped(&there.read_blocking().unwrap())).unwrap()).plan(&plan).run().unwrap();
            let factor = (1.0 / n as f64) as f32;
            let expected: Vec<f32> = swapped(&turned.read_blocking().unwrap()).iter().map(|x| x * factor).collect();
            assert_eq!(digest(&back), digest(&expected), "{n}");
            assert_eq!(digest(&there.read_blocking().unwrap()), digest(&on_the_cpu(|d| d.fft(&d.upload(&z).unwrap()).run())), "{n}");
            // A unit in the last place of 1 for each level that a point goes through, there and back, is more than any of them has lost.
            let unit = f64::from(f32::EPSILON) / 2.0;
            assert!(distance(&back, &z) <= unit * (2.0 * n as f64).log2().ceil(), "{n}: {}", distance(&back, &z));
        }
    });
}

#[test]
fn impulses_and_constants_have_exact_transforms() {
    each(|d| {
        for n in [2u64, 9, 64, 420, 3125, 4096, 8192] {
            let mut z = vec![0.0f32; 2 * n as usize];
            z[0] = 1.0;
            let found = d.fft(&d.upload(&z).unwrap()).run().unwrap().read_blocking().unwrap();
            assert!(found.chunks(2).all(|pair| pair == [1.0, 0.0]), "{n}");
            // A constant is an impulse, exactly where butterflies cancel without constants that are rounded.
            if n.is_power_of_two() {
                let ones: Vec<f32> = (0..2 * n).map(|i| if i % 2 == 0 { 1.0 } else { 0.0 }).collect();
                let found = d.fft(&d.upload(&ones).unwrap()).run().unwrap().read_blocking().unwrap();
                assert!(found[0] == n as f32 && found[1..].iter().all(|&x| x == 0.0), "{n}");
            }
        }
    });
}

/// exp(-2 pi i m / n), by an angle of at most pi / 4 from the nearest axis.
fn root(m: u64, n: u64) -> [f64; 2] {
    let quarter = (8 * m + n) / (2 * n);
    let (sin, cos) = (std::f64::consts::FRAC_PI_2 * (4 * m as i64 - (quarter * n) as i64) as f64 / n as f64).sin_cos();
    [[cos, -sin], [-sin, -cos], [-cos, sin], [sin, cos]][quarter as usize % 4]
}

/// The transforms of one at each of these places, a line each, and their inverses.
fn of_impulses<T: FftScalar>(d: &Device, n: u64, places: &[u64]) -> [Vec<T>; 2] {
    let at = |line: usize, i: u64| if 2 * places[line] == i { 1.0 } else { 0.0 };
    let z: Vec<T> =
        (0..places.len()).flat_map(|line| (0..2 * n).map(move |i| (line, i))).map(|(line, i)| T::rounded(at(line, i))).collect();
    let (z, shape) = (d.upload(&z).unwrap(), [places.len() as u64, n]);
    let there = d.fft(&z).axis(&shape, 1).run().unwrap().read_blocking().unwrap();
    [there, d.fft(&z).axis(&shape, 1).inverse().run().unwrap().read_blocking().unwrap()]
}

fn impulses_are_roots_of_one<T: FftScalar>(d: &Device, unit: f64) {
    for n in [2u64, 3, 5, 7, 16, 26, 60, 210, 331, 1009, 1024, 2048, 4096, 6561] {
        let places: Vec<u64> = if n <= 16 { (0..n).collect() } else { vec![1, 2, n / 3, n / 2, n - 1] };
        let [there, back] = of_impulses::<T>(d, n, &places);
        // Every level multiplies by a root, rounded. Bluestein's lengths take three transforms.
        let has_large_factors = [2, 3, 5, 7].iter().fold(n, |rest, p| (0..64).fold(rest, |m, _| if m % p == 0 { m / p } else { m })) > 1;
        let bound = unit * (2.0 + (n as f64).log2()) * if has_large_factors { 4.0 } else { 1.0 };
        for (line, j) in places.into_iter().enumerate() {
            for k in 0..n {
                let (at, [re, im]) = (2 * (line as u64 * n + k) as usize, root(j * k % n, n));
                let error = |x: &[T], im: f64, scale: f64| (wide(x[at]) * scale - re).hypot(wide(x[at + 1]) * scale - im);
                let (there, back) = (error(&there, im, 1.0), error(&back, -im, n as f64));
                assert!(there.max(back) <= bound, "one at {j} of {n}, point {k}: {there:e}, the inverse {back:e}, bound {bound:e}");
            }
        }
    }
}

fn short_impulses_are_exact<T: FftScalar>(d: &Device) {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let eighths = [[1.0, 0.0], [half, -half], [0.0, -1.0], [-half, -half], [-1.0, 0.0], [-half, half], [0.0, 1.0], [half, half]];
    for n in [4u64, 8] {
        let [there, back] = of_impulses::<T>(d, n, &(0..n).collect::<Vec<_>>());
        for (at, (there, back)) in (0..).zip(there.chunks(2).zip(back.chunks(2))) {
            let [re, im] = eighths[(at / n * (at % n) * (8 / n) % 8) as usize].map(|x| wide(T::rounded(x)));
            assert_eq!((wide(there[0]), wide(there[1])), (re, im), "one at {} of {n}, point {}", at / n, at % n);
            // A quotient by a power of two is exact.
            assert_eq!((wide(back[0]) * n as f64, wide(back[1]) * n as f64), (re, -im), "the inverse of one at {} of {n}", at / n);
        }
    }
}

#[test]
fn impulses_anywhere_have_roots_of_one_for_their_transforms() {
    each(|d| impulses_are_roots_of_one::<f32>(d, 2f64.powi(-24)));
    each_with(&[DType::F64], |d| impulses_are_roots_of_one::<f64>(d, 2f64.powi(-53)));
}

#[test]
fn impulses_in_four_and_eight_points_have_exact_transforms_and_inverses() {
    each(short_impulses_are_exact::<f32>);
    each_with(&[DType::F64], short_impulses_are_exact::<f64>);
}

/// The sum of squares, in pairs.
fn energy<T: FftScalar>(x: &[T]) -> f64 {
    match x.split_at(x.len() / 2) {
        (first, second) if x.len() > 8 => energy(first) + energy(second),
        _ => x.iter().map(|&x| wide(x) * wide(x)).sum(),
    }
}

fn energies_stay<T: FftScalar>(d: &Device, unit: f64) {
    let shapes: [&[u64]; 17] = [
        &[1],
        &[2],
        &[12],
        &[49],
        &[97],
        &[210],
        &[1009],
        &[1024],
        &[2187],
        &[4096],
        &[5003],
        &[8192],
        &[6, 10],
        &[64, 48],
        &[31, 7],
        &[13, 101],
        &[5, 6, 7],
    ];
    for shape in shapes {
        let n: u64 = shape.iter().product();
        let z = points::<T>(n, n + 7);
        let (of, axes) = (d.upload(&z).unwrap(), (0..shape.len()).collect::<Vec<_>>());
        let there = energy(&d.fft(&of).axes(shape, &axes).run().unwrap().read_blocking().unwrap()) / n as f64;
        let back = energy(&d.fft(&of).axes(shape, &axes).inverse().run().unwrap().read_blocking().unwrap()) * n as f64;
        // Errors of points are independent, and mostly cancel; a factor 1 / n that is rounded loses once as much for all of them.
        let (energy, bound) = (energy(&z), unit * (2.0 + (n as f64).log2()));
        for found in [there, back] {
            let error = (found / energy - 1.0).abs();
            assert!(error <= bound, "{shape:?}: {error:e} above {bound:e}");
        }
    }
}

#[test]
fn transforms_keep_the_sum_of_squares() {
    each(|d| energies_stay::<f32>(d, 2f64.powi(-24)));
    each_with(&[DType::F64], |d| energies_stay::<f64>(d, 2f64.powi(-53)));
}

#[test]
fn axes_are_transformed_one_after_the_other() {
    each(|d| {
        let shape = [6, 10, 16];
        let z = d.upload(&points::<f32>(960, 9)).unwrap();
        let once = d.fft(&z).axes(&shape, &[0, 1, 2]).run().unwrap().read_blocking().unwrap();
        let mut steps = z.clone();
        for axis in [2, 1, 0] {
            steps = d.fft(&steps).axis(&shape, axis).run().unwrap();
        }
        assert_eq!(digest(&once), digest(&steps.read_blocking().unwrap()));
        let there = d.upload(&once).unwrap();
        let back = d.fft(&there).axes(&shape, &[0, 1, 2]).inverse().run().unwrap().read_blocking().unwrap();
        let mut steps = there;
        for axis in [2, 1, 0] {
            steps = d.fft(&steps).axis(&shape, axis).inverse().run().unwrap();
        }
        assert_eq!(digest(&back), digest(&steps.read_blocking().unwrap()));
    });
}

#[test]
fn transforms_of_real_numbers_are_halves_of_those_of_points() {
    each(|d| {
        for n in [1u64, 2, 3, 4, 7, 10, 22, 27, 100, 1024, 1009] {
            let x: Vec<f32> = points::<f32>(n, 4)[..n as usize].to_vec();
            let z: Vec<f32> = x.iter().flat_map(|&x| [x, 0.0]).collect();
            let (x_on, z) = (d.upload(&x).unwrap(), d.upload(&z).unwrap());
            let half = d.rfft(&x_on).run().unwrap();
            assert_eq!(half.len(), 2 * (n / 2 + 1));
            let whole = d.fft(&z).run().unwrap().slice(..half.len()).unwrap().read_blocking().unwrap();
            let bound = 3e-7 * (n as f64).sqrt() * (2.0 + (n as f64).log2());
            assert!(distance(&half.read_blocking().unwrap(), &whole) <= bound, "{n}");
            let plan = d.rfft_plan::<f32>(n).unwrap();
            let back = d.irfft(&half, n).plan(&plan).run().unwrap().read_blocking().unwrap();
            assert!(distance(&back, &x) < 2e-6, "{n}");
            // Columns have the bits of rows.
            let three: Vec<f32> = x.iter().flat_map(|&x| [x, x, -x]).collect();
            let columns = d.rfft(&d.upload(&three).unwrap()).axis(&[n, 3], 0).run().unwrap();
            let first = d.permute_axes(&columns, &[n / 2 + 1, 3, 2], &[1, 0, 2]).run().unwrap().slice(..half.len()).unwrap();
            assert_eq!(digest(&first.read_blocking().unwrap()), digest(&half.read_blocking().unwrap()), "{n}");
            let points = half.len() / 2;
            let lines = d.irfft(&columns, n).axis(&[points, 3], 0).run().unwrap();
            let first = d.permute_axes(&lines, &[n, 3], &[1, 0]).run().unwrap().slice(..n).unwrap().read_blocking().unwrap();
            assert_eq!(digest(&first), digest(&back), "{n}");
        }
    });
}

#[test]
fn real_numbers_are_transformed_along_the_last_axis_and_their_points_along_the_others() {
    each(|d| {
        for (shape, axes) in [([6u64, 10, 16], vec![0, 1, 2]), ([6, 11, 9], vec![2, 0, 1]), ([5, 3, 8], vec![1, 2])] {
            let (last, n) = (axes[axes.len() - 1], shape.iter().product::<u64>());
            let x = d.upload(&points::<f32>(n / 2 + 1, 9)[..n as usize]).unwrap();
            let mut halves = shape;
            halves[last] = shape[last] / 2 + 1;
            let once = d.rfft(&x).axes(&shape, &axes).run().unwrap();
            let mut steps = d.rfft(&x).axis(&shape, last).run().unwrap();
            for &axis in axes.iter().rev().skip(1) {
                steps = d.fft(&steps).axis(&halves, axis).run().unwrap();
            }
            assert_eq!(digest(&once.read_blocking().unwrap()), digest(&steps.read_blocking().unwrap()), "{shape:?}, {axes:?}");
            let back = d.irfft(&once, shape[last]).axes(&halves, &axes).run().unwrap().read_blocking().unwrap();
            for &axis in axes.iter().take(axes.len() - 1) {
                steps = d.fft(&steps).axis(&halves, axis).inverse().run().unwrap();
            }
            let last_step = d.irfft(&steps, shape[last]).axis(&halves, last).run().unwrap().read_blocking().unwrap();
            assert_eq!(digest(&back), digest(&last_step), "{shape:?}, {axes:?}");
            // No number is above a half; a unit in the last place of it for each level, there and back, is more than any of them has lost.
            let bound = f64::from(f32::EPSILON) / 4.0 * 2.0 * (n as f64).log2().ceil();
            let error = distance(&back, &x.read_blocking().unwrap());
            assert!(error <= bound, "{shape:?}, {axes:?}: {error:e} above {bound:e}");
        }
    });
}

/// NumPy's `fft.rfftn` of `i * i % 11` for i below 24, as an array of `[2, 3, 4]`.
#[rustfmt::skip]
const NUMPY: [f64; 36] = [
    89.0, 0.0, 0.0, 13.0, -1.0, 0.0,
    5.0, -13.856406460551018, -7.607695154586736, 17.392304845413264, -7.0, 10.392304845413264,
    5.0, 13.856406460551018, -28.392304845413264, -3.392304845413264, -7.0, -10.392304845413264,
    -1.0, 0.0, 12.0, -1.0, 1.0, 0.0,
    -7.0, 10.392304845413264, 0.0, 11.0, -11.0, 0.0,
    -7.0, -10.392304845413264, 0.0, 11.0, -11.0, 0.0,
];

fn has_numpys_points<T: FftScalar>(d: &Device, unit: f64) {
    let x: Vec<T> = (0..24).map(|i| T::rounded(f64::from(i * i % 11))).collect();
    // A point is the sum of all numbers at most, with a rounding for each of six levels, of those that pack real numbers too.
    let bound = unit * x.iter().map(|&x| wide(x)).sum::<f64>() * 6.0;
    let there_and_back = |d: &Device, shape: [u64; 3]| {
        let there = d.rfft(&d.upload(&x).unwrap()).axes(&shape, &[0, 1, 2]).run().unwrap();
        let halves = [shape[0], shape[1], shape[2] / 2 + 1];
        let back = d.irfft(&there, shape[2]).axes(&halves, &[0, 1, 2]).run().unwrap();
        [there, back].map(|x| x.read_blocking().unwrap())
    };
    let [found, _] = there_and_back(d, [2, 3, 4]);
    assert_eq!(found.len(), NUMPY.len());
    for (k, (&found, expected)) in found.iter().zip(NUMPY).enumerate() {
        assert!((wide(found) - expected).abs() <= bound, "{k}: {} for {expected}, bound {bound:e}", wide(found));
    }
    // There and back, of an odd length too: a mean of 24 sums with that error at most, and as many levels again.
    for shape in [[2u64, 3, 4], [2, 4, 3]] {
        let found = there_and_back(d, shape);
        assert_eq!(found.each_ref().map(|x| digest(x)), there_and_back(&cpu(), shape).each_ref().map(|x| digest(x)), "{shape:?}");
        let error = distance(&found[1], &x);
        assert!(error <= unit * 10.0 * 2.0 * 6.0, "{shape:?}: {error:e}");
    }
}

#[test]
fn real_numbers_of_three_axes_have_the_points_of_numpys_rfftn() {
    each(|d| has_numpys_points::<f32>(d, 2f64.powi(-24)));
    each_with(&[DType::F64], |d| has_numpys_points::<f64>(d, 2f64.powi(-53)));
}

#[test]
fn halves_change_places_and_back() {
    each(|d| {
        let x: Vec<u32> = (0..35).collect();
        let of = d.upload(&x).unwrap();
        let found = d.fft_shift(&of, &[5, 7], &[0, 1]).run().unwrap().read_blocking().unwrap();
        let expected: Vec<u32> = (0..35).map(|i| (i / 7 + 3) % 5 * 7 + (i % 7 + 4) % 7).collect();
        assert_eq!(found, expected);
        let back = d.ifft_shift(&d.upload(&found).unwrap(), &[5, 7], &[1, 0]).run().unwrap();
        assert_eq!(back.read_blocking().unwrap(), x);
    });
}

#[test]
fn transforms_that_do_not_fit_are_refused_and_nothing_is_written() {
    each(|d| {
        let (z, out) = (d.upload(&[1.0f32; 24]).unwrap(), d.upload(&[5.0f32; 24]).unwrap());
        let part = |n: u64| z.slice(..n).unwrap();
        let refused = |result: Result<(), Error>| result.unwrap_err();
        let invalid = |result: Result<(), Error>| assert!(matches!(refused(result), Error::InvalidArgument { .. }));
        invalid(d.fft(&part(7)).write_to(&out));
        invalid(d.fft(&part(0)).write_to(&out));
        invalid(d.fft(&part(0)).axis(&[5, 0], 1).write_to(&out));
        invalid(d.fft(&z).axis(&[3, 4], 2).write_to(&out));
        invalid(d.fft(&z).axes(&[3, 4], &[1, 1]).write_to(&out));
        assert!(matches!(refused(d.fft(&z).axis(&[5, 2], 1).write_to(&out)), Error::LengthMismatch { expected: 10, found: 12, .. }));
        assert!(matches!(refused(d.fft(&z).write_to(&out.slice(..22).unwrap())), Error::BufferTooSmall { required: 24, .. }));
        assert!(matches!(refused(d.fft(&z).write_to(&z)), Error::Aliasing { .. }));
        assert!(matches!(refused(d.rfft(&z).write_to(&out)), Error::BufferTooSmall { required: 26, .. }));
        assert!(matches!(refused(d.rfft(&z).axis(&[5, 5], 1).write_to(&out)), Error::LengthMismatch { .. }));
        invalid(d.rfft(&part(0)).write_to(&out));
        invalid(d.rfft(&z).axes(&[24], &[]).write_to(&out));
        invalid(d.rfft(&z).axes(&[6, 4], &[1, 1]).write_to(&out));
        invalid(d.rfft(&z).axes(&[6, 4], &[2, 1]).write_to(&out));
        invalid(d.rfft(&part(0)).axes(&[0, 4], &[0, 1]).write_to(&out));
        assert!(matches!(refused(d.rfft(&z).axes(&[6, 4], &[0, 1]).write_to(&out)), Error::BufferTooSmall { required: 36, .. }));
        assert!(matches!(
            refused(d.irfft(&z, 4).axes(&[5, 3], &[0, 1]).write_to(&out)),
            Error::LengthMismatch { expected: 30, found: 24, .. }
        ));
        invalid(d.irfft(&z, 4).axes(&[3, 4], &[0, 1]).write_to(&out));
        invalid(d.irfft(&z, 24).axis(&[12], 0).write_to(&out));
        assert!(matches!(refused(d.irfft(&z, 25).write_to(&out)), Error::LengthMismatch { expected: 26, found: 24, .. }));
        assert!(matches!(refused(d.irfft(&part(22), 20).write_to(&out.slice(..19).unwrap())), Error::BufferTooSmall { .. }));
        invalid(d.fft_shift(&z, &[24], &[0, 0]).write_to(&out));
        assert!(matches!(d.fft_shift(&z, &[25], &[0]).run().unwrap_err(), Error::LengthMismatch { .. }));
        assert!(matches!(d.fft_plan::<f32>(1 << 33).unwrap_err(), Error::TooLarge { .. }));
        invalid(d.fft_plan::<f32>(0).map(|_| ()));
        if !d.caps().supports(DType::F64) {
            assert!(matches!(d.fft_plan::<f64>(8).unwrap_err(), Error::Unsupported { .. }));
        }
        assert_eq!(out.read_blocking().unwrap(), [5.0; 24]);
        // Halves of an array that change places in it, and in an array that begins in its other half.
        let numbers = d.iota(8, 0u32, 1).unwrap();
        for (from, to) in [(0..4, 0..4), (0..5, 3..8)] {
            let (x, y) = (numbers.slice(from).unwrap(), numbers.slice(to).unwrap());
            assert!(matches!(d.fft_shift(&x, &[x.len()], &[0]).write_to(&y), Err(Error::Aliasing { .. })));
        }
        assert_eq!(numbers.read_blocking().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        let axes: Vec<usize> = (0..33).collect();
        assert_eq!(d.ifft_shift(&d.upload(&[7u32]).unwrap(), &[1; 33], &axes).run().unwrap().read_blocking().unwrap(), [7]);
        let other: Buffer<Device, f32> = d.upload(&[0.0; 2]).unwrap();
        assert_eq!(d.fft(&other).run().unwrap().read_blocking().unwrap(), [0.0, 0.0]);
    });
}
