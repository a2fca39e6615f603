//! Accuracy: results that isowarp did not compute. Closed forms, published figures, and bounds against f64; on every device.

use crate::common::each;
use isowarp::Error;
use isowarp::backend::Backend as _;
use isowarp::element::DType;
use isowarp::prelude::*;
use isowarp_conformance::data::{self, Fill};
use isowarp_conformance::patterns::UNARY;

#[test]
fn the_sum_of_the_first_whole_numbers_is_the_closed_form() {
    each(|d| {
        for n in [1u64, 2, 255, 256, 1000, 65_537] {
            let sum = d.reduce(counting(n), Sum).run().unwrap().read_blocking().unwrap();
            assert_eq!(u64::from(sum), n * (n - 1) / 2 % (1 << 32));
            // In floats too, as long as every partial sum is below 2^24.
            if n <= 4096 {
                let sum = d.reduce(counting(n).map(isowarp::prelude::Expr::cast::<f32>), Sum).run().unwrap().read_blocking().unwrap();
                assert_eq!(sum, (n * (n - 1) / 2) as f32);
            }
        }
    });
}

#[test]
fn prefix_sums_of_the_whole_numbers_are_the_triangular_numbers() {
    each(|d| {
        let x = d.iota(30_000, 0u32, 1).unwrap();
        let inclusive = d.cumsum(&x).unwrap().read_blocking().unwrap();
        let exclusive = d.scan(&x, Sum).exclusive().run().unwrap().read_blocking().unwrap();
        for (i, (a, b)) in (0u32..).zip(inclusive.iter().zip(&exclusive)) {
            assert_eq!((*a, *b), (i * (i + 1) / 2, i * i.saturating_sub(1) / 2));
        }
    });
}

#[test]
fn powers_of_a_matrix_are_fibonacci_numbers() {
    each(|d| {
        type M = (Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>);
        let product = |p: M, q: M| (p.0 * q.0 + p.1 * q.2, p.0 * q.1 + p.1 * q.3, p.2 * q.0 + p.3 * q.2, p.2 * q.1 + p.3 * q.3);
        let ones = d.upload(&[1u32; 40]).unwrap();
        let (_, f, _, _) = d.reduce_by(ones.map(|one| (one, one, one, one - 1)), product).run().unwrap();
        assert_eq!(f.read_blocking().unwrap(), 102_334_155, "the 40th");
    });
}

#[test]
fn prefix_products_of_a_matrix_are_all_fibonacci_numbers() {
    each(|d| {
        type M = (Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>);
        let product = |p: M, q: M| (p.0 * q.0 + p.1 * q.2, p.0 * q.1 + p.1 * q.3, p.2 * q.0 + p.3 * q.2, p.2 * q.1 + p.3 * q.3);
        let ones = d.upload(&[1u32; 20_000]).unwrap();
        let f =
            d.scan_by(ones.map(|one| (one, one, one, one - 1)), product).identity((1, 0, 0, 1)).exclusive().finish(|m| m.1).run().unwrap();
        let mut next = (0u32, 1u32);
        for (i, f) in f.read_blocking().unwrap().into_iter().enumerate() {
            assert_eq!(f, next.0, "number {i}");
            next = (next.1, next.0.wrapping_add(next.1));
        }
    });
}

#[test]
fn the_integral_of_the_sine_over_half_a_period_is_two() {
    each(|d| {
        let area = d.trapezoid(0.0, core::f32::consts::PI, 4096, Expr::sin).run().unwrap().read_blocking().unwrap();
        assert!((area - 2.0).abs() < 2e-6, "{area}");
        let area = d.simpson(0.0, core::f32::consts::PI, 256, Expr::sin).run().unwrap().read_blocking().unwrap();
        // The rule itself is 3e-10 off.
        assert_eq!(format!("{area:.6}"), "2.000000");
    });
}

#[test]
fn the_integral_of_the_power_series_of_log_is_the_published_one() {
    // Ansorge, Programming in Parallel with CUDA, example 10.1: 100 terms give 0.386245 over [0, 1] and 0.688172 at 1.
    each(|d| {
        let steps = 65_536u64;
        let x = d.generate(steps, (index(), scalar(1.0 / (steps as f32 - 1.0))), |(i, h)| i.cast::<f32>() * h).unwrap();
        // Eleven terms at a time, by one kernel: a software adapter's compiler takes minutes over a hundred divisions.
        let (mut power, mut y) = (d.map(&x, |x| x).unwrap(), d.map(&x, |x| x).unwrap());
        for first in (2..=100u8).step_by(11) {
            let terms = (&x, &power, &y, scalar(f32::from(first)));
            (power, y) = d
                .map(terms, |(x, power, sum, k)| {
                    (0..11u8).fold((power, sum), |(power, sum), j| (power * -x, sum + power * -x / (k + f32::from(j))))
                })
                .unwrap();
        }
        let ends = [y.slice(..1).unwrap(), y.slice(steps - 1..).unwrap()].map(|e| e.read_blocking().unwrap()[0]);
        assert_eq!(format!("{:.6}", ends[1]), "0.688172");
        let sum = d.sum(&y).unwrap().read_blocking().unwrap();
        let area = (sum - 0.5 * (ends[0] + ends[1])) / (steps as f32 - 1.0);
        assert!((area - 0.386_245).abs() < 2e-6, "{area}");
    });
}

#[test]
fn the_sum_of_the_mersenne_twister_is_the_published_one() {
    // Ansorge, example 2.5: 2^24 numbers of MT19937 seeded with 12345678, over 2^32, sum to 8388314.9 in f64.
    let x: Vec<f32> = crate::common::mt19937(12_345_678, 1 << 24).into_iter().map(|u| (f64::from(u) / 4_294_967_296.0) as f32).collect();
    let exact: f64 = x.iter().map(|v| f64::from(*v)).sum();
    assert!((exact - 8_388_314.9).abs() < 0.1, "{exact}");
    each(|d| {
        let sum = d.sum(&d.upload(&x).unwrap()).unwrap().read_blocking().unwrap();
        assert!((f64::from(sum) - exact).abs() <= 1.0, "{sum}: pairwise, so within two steps of f32");
    });
}

#[test]
fn textbook_transforms_give_the_printed_results() {
    each(|d| {
        let x = d.iota(10, 0i32, 1).unwrap();
        let z = d.map(&x, |x| x % 2).unwrap();
        assert_eq!(d.replace(&z, 1, 10).unwrap().read_blocking().unwrap(), [0, 10, 0, 10, 0, 10, 0, 10, 0, 10]);
        let v = d.upload(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(d.norm2(&v).unwrap().read_blocking().unwrap(), 5.477_226);
        let negated = d.reduce(d.upload(&[10i32, 20, 30]).unwrap().map(|x| -x), Sum).run().unwrap();
        assert_eq!(negated.read_blocking().unwrap(), -60);
        let rank = d.generate(2 * 4, index(), |i| (i / 4, i % 4)).unwrap();
        assert_eq!(
            (rank.0.read_blocking().unwrap(), rank.1.read_blocking().unwrap()),
            (vec![0, 0, 0, 0, 1, 1, 1, 1], vec![0, 1, 2, 3, 0, 1, 2, 3])
        );
        let id = d.generate(1, index(), |i| i + 1_234_567).unwrap();
        let cell = d.map(&id, |i| (i / (512 * 512), (i / 512) % 512, i % 512, i.cast::<f32>().sqrt())).unwrap();
        let cell = (
            cell.0.read_blocking().unwrap(),
            cell.1.read_blocking().unwrap(),
            cell.2.read_blocking().unwrap(),
            cell.3.read_blocking().unwrap(),
        );
        assert_eq!(cell, (vec![4], vec![363], vec![135], vec![1_111.110_7]));
    });
}

#[test]
fn f32_sums_are_within_the_bound_of_pairwise_summation() {
    each(|d| {
        for (fill, n) in [(Fill::Plain, 100_003u64), (Fill::Cancel, 30_001), (Fill::Sorted, 65_536)] {
            let x: Vec<f32> = data::data(fill, n, 5);
            let exact: f64 = x.iter().map(|v| f64::from(*v)).sum();
            let magnitude: f64 = x.iter().map(|v| f64::from(v.abs())).sum();
            let sum = f64::from(d.sum(&d.upload(&x).unwrap()).unwrap().read_blocking().unwrap());
            let bound = (n as f64).log2().ceil() * f64::from(f32::EPSILON) / 2.0 * magnitude;
            assert!((sum - exact).abs() <= bound, "{fill:?}: {sum} against {exact}, bound {bound}");
        }
    });
}

#[test]
fn log_sum_exp_is_near_the_f64_value() {
    each(|d| {
        let x: Vec<f32> = data::data::<f32>(Fill::Plain, 10_000, 9).into_iter().map(|v| 200.0 * v - 100.0).collect();
        let exact = f64::from(100.0f32) + x.iter().map(|v| (f64::from(*v) - 100.0).exp()).sum::<f64>().ln();
        let lse = Op::associative(f32::NEG_INFINITY, |a, b| a.max(b) + (-(a - b).abs()).exp().ln_1p());
        let found = d.reduce(&d.upload(&x[..]).unwrap(), lse).run().unwrap().read_blocking().unwrap();
        // 14 levels of a tree, none of which enlarges the errors below it: a sum below 128 rounded, and a logarithm below 1 whose operand is.
        let bound = 14.0 * (2f64.powi(-18) + 2f64.powi(-21));
        assert!((f64::from(found) - exact).abs() <= bound, "{found} against {exact}, bound {bound}");
    });
}

type Reference = fn(f64) -> f64;

/// Functions of one argument, what they are in f64, and a range.
const REFERENCES: [(&str, Reference, f32, f32); 14] = [
    ("exp", f64::exp, -80.0, 80.0),
    ("exp2", f64::exp2, -120.0, 120.0),
    ("expm1", f64::exp_m1, -10.0, 80.0),
    ("log", f64::ln, 1e-30, 1e30),
    ("log1p", f64::ln_1p, -0.9, 1e10),
    ("sin", f64::sin, -1e4, 1e4),
    ("cos", f64::cos, -1e4, 1e4),
    ("tan", f64::tan, -1e3, 1e3),
    ("asin", f64::asin, -1.0, 1.0),
    ("acos", f64::acos, -1.0, 1.0),
    ("atan", f64::atan, -1e3, 1e3),
    ("tanh", f64::tanh, -9.0, 9.0),
    ("cbrt", f64::cbrt, -1e20, 1e20),
    ("sqrt", f64::sqrt, 0.0, 1e30),
];

/// Functions that `Fast` takes from the hardware.
const FAST: [&str; 6] = ["exp", "exp2", "log", "log2", "sqrt", "rsqrt"];

/// From one float of this size to the next.
fn ulp(exact: f64) -> f64 {
    let size = (exact as f32).abs();
    f64::from(size.next_up()) - f64::from(size)
}

#[test]
fn elementary_functions_are_within_one_ulp_of_f64() {
    each(|d| {
        for (name, reference, low, high) in REFERENCES {
            let f = UNARY.iter().find(|u| u.0 == name).expect("the function is in the table").1;
            let x: Vec<f32> = data::data::<f32>(Fill::Plain, 20_000, 3).into_iter().map(|u| low + u * (high - low)).collect();
            let given = d.upload(&x).unwrap();
            // Functions that `Fast` does not take from the hardware stay as they are.
            let ways = if FAST.contains(&name) { &[Numerics::Strict][..] } else { &[Numerics::Strict, Numerics::Fast] };
            for &numerics in ways {
                let y = d.with_numerics(numerics).map(&given, f).unwrap().read_blocking().unwrap();
                for (x, y) in x.iter().zip(y) {
                    let exact = reference(f64::from(*x));
                    assert!((f64::from(y) - exact).abs() <= ulp(exact), "{numerics:?} {name}({x:e}) = {y:e}, exactly {exact:e}");
                }
            }
        }
    });
}

/// The bound of docs/numerics.md on the error of a function in `Fast`.
fn fast_bound(backend: &str, name: &str, x: f64, exact: f64) -> f64 {
    let near_one = (0.5..=2.0).contains(&x);
    match (backend, name) {
        ("cuda", "log" | "log2") if near_one => 2f64.powi(-22),
        (_, "log") if !near_one && backend != "cpu" => 3.4 * ulp(exact),
        ("cuda", "log2") => 2.4 * ulp(exact),
        ("cuda", "exp") => (2.1 + 1.23 * x.abs()) * ulp(exact),
        ("cuda", "exp2" | "division") => 2.1 * ulp(exact),
        ("cuda", "rsqrt") => 1.6 * ulp(exact),
        ("wgpu", "log" | "log2") if near_one => 2f64.powi(-21),
        ("wgpu", "log2") => 3.0 * ulp(exact),
        ("wgpu", "exp" | "exp2") => (4.0 + 2.0 * x.abs()) * ulp(exact),
        ("wgpu", "sqrt") => 2f64.powf(-20.8) * exact,
        ("wgpu", "division") => 2.5 * ulp(exact),
        _ => ulp(exact),
    }
}

/// Bit patterns of normal numbers above zero, evenly spread: as many of every exponent.
fn normal(n: u64, seed: u64) -> Vec<f32> {
    const LEAST: u64 = 0x0080_0000;
    (0..n).map(|i| f32::from_bits((LEAST + data::bits(seed, i) % (0x7f80_0000 - LEAST)) as u32)).collect()
}

#[test]
fn fast_functions_are_within_their_stated_bounds() {
    const N: u64 = 1 << 18;
    let even =
        |low: f32, high: f32| -> Vec<f32> { data::data::<f32>(Fill::Plain, N, 17).into_iter().map(|u| low + u * (high - low)).collect() };
    let references: [(&str, Reference, Vec<Vec<f32>>); 6] = [
        ("exp", f64::exp, vec![even(-87.0, 88.5), even(-1.0, 1.0)]),
        ("exp2", f64::exp2, vec![even(-125.9, 127.9), even(-1.0, 1.0), even(-0.07, -0.06)]),
        ("log", f64::ln, vec![normal(N, 18), even(0.5, 2.0), even(0.999, 1.001)]),
        ("log2", f64::log2, vec![normal(N, 19), even(0.5, 2.0), even(0.999, 1.001)]),
        ("sqrt", f64::sqrt, vec![normal(N, 20), even(0.5, 2.0)]),
        ("rsqrt", |x| 1.0 / x.sqrt(), vec![normal(N, 21), even(0.5, 2.0)]),
    ];
    let (x, y) = (normal(4 * N, 22), normal(4 * N, 23));
    // Quotients and divisors at which the bound holds.
    let holds = |(x, y): (&f32, &f32)| (2f32.powi(-126)..=2f32.powi(126)).contains(y) && (x / y).is_normal();
    let (x, y): (Vec<f32>, Vec<f32>) = x.iter().zip(&y).filter(|&(x, y)| holds((x, y))).map(|(x, y)| (*x, -*y)).unzip();
    each(|d| {
        let (fast, backend) = (d.with_numerics(Numerics::Fast), d.caps().backend);
        for (name, reference, samples) in &references {
            let f = UNARY.iter().find(|u| u.0 == *name).expect("the function is in the table").1;
            for x in samples {
                let found = fast.map(&fast.upload(x).unwrap(), f).unwrap().read_blocking().unwrap();
                let exact = x.iter().map(|x| (f64::from(*x), reference(f64::from(*x))));
                within(backend, name, exact.zip(found));
            }
        }
        let found = fast.map((&fast.upload(&x).unwrap(), &fast.upload(&y).unwrap()), |(x, y)| x / y).unwrap().read_blocking().unwrap();
        let exact = x.iter().zip(&y).map(|(x, y)| (f64::from(*y), f64::from(*x) / f64::from(*y)));
        within(backend, "division", exact.zip(found));
    });
}

/// Arguments with exact results, and what was found: the worst is within its bound.
fn within(backend: &str, name: &str, results: impl Iterator<Item = ((f64, f64), f32)>) {
    let share = |&((x, exact), found): &((f64, f64), f32)| (f64::from(found) - exact).abs() / fast_bound(backend, name, x, exact);
    let worst = results.max_by(|a, b| share(a).total_cmp(&share(b))).expect("samples");
    let ((x, exact), found) = worst;
    println!("{backend}: {name}({x:e}) = {found:e}, exactly {exact:e}: {} of its bound", share(&worst));
    assert!(share(&worst) <= 1.0, "{backend}: {name}({x:e}) = {found:e}, exactly {exact:e}: {} of its bound", share(&worst));
}

#[test]
fn a_ripple_is_white_in_its_centre_and_never_wraps() {
    each(|d| {
        let dim = 64u32;
        let grey = d
            .generate(u64::from(dim * dim), index(), |i| {
                let (x, y) = ((i % dim).cast::<f32>() - 32.0, (i / dim).cast::<f32>() - 32.0);
                let r = (x * x + y * y).sqrt();
                ((r / 10.0).cos() * 127.0 / (r / 10.0 + 1.0) + 128.0).cast::<u32>()
            })
            .unwrap()
            .read_blocking()
            .unwrap();
        assert_eq!(grey[32 * 64 + 32], 255);
        assert!(grey.iter().all(|g| (1..=255).contains(g)));
    });
}

/// Compares with what NumPy 1.24 gives of `i * 2654435761 % 2^32 / 2^32 * 1000 - 300`.
#[test]
fn variances_and_percentiles_are_those_of_numpy() {
    each(|d| {
        if !d.caps().supports(DType::F64) {
            return;
        }
        let host: Vec<f64> = (0..1001u64).map(|i| (i * 2_654_435_761 % (1 << 32)) as f64 / 4_294_967_296.0 * 1000.0 - 300.0).collect();
        let x = d.upload(&host).unwrap();
        // Sums of 1001 positive terms, in ten levels here and in NumPy's runs of 128 there, and a few roundings of each term.
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() <= 64.0 * 2f64.powi(-53) * expected.abs(), "{found} for {expected}");
        };
        near(d.variance(&x, 0).unwrap().read_blocking().unwrap(), 83483.81571502518);
        near(d.variance(&x, 1).unwrap().read_blocking().unwrap(), 83567.2995307402);
        near(d.std_dev(&x, 0).unwrap().read_blocking().unwrap(), 288.9356601650706);
        let percents = [0.0, 12.5, 33.0, 50.0, 90.0, 99.9, 100.0];
        let numpy =
            [-300.0, -175.38823811337352, 28.88875575736165, 199.17897814884782, 599.3253642693162, 698.813012847677, 699.5449434500188];
        let found = d.percentiles(&x, &percents).unwrap().read_blocking().unwrap();
        found.into_iter().zip(numpy).for_each(|(found, expected)| near(found, expected));
        near(d.median(&x.slice(..1000).unwrap()).unwrap().read_blocking().unwrap(), 199.77247172500938);
    });
}

#[test]
fn percentiles_of_infinities_and_nan_are_what_is_documented() {
    each(|d| {
        let of = |x: &[f32], percents: &[f64]| d.percentiles(&d.upload(x).unwrap(), percents).unwrap().read_blocking().unwrap();
        let infinite = [1.0, f32::INFINITY, f32::NEG_INFINITY, 3.0];
        assert_eq!(
            of(&infinite, &[0.0, 20.0, 50.0, 70.0, 100.0]),
            [f32::NEG_INFINITY, f32::NEG_INFINITY, 2.0, f32::INFINITY, f32::INFINITY]
        );
        for nan in [f32::NAN, -f32::NAN] {
            assert!(of(&[1.0, nan, 2.0], &[0.0, 50.0]).iter().all(|x| x.is_nan()));
        }
        assert_eq!(of(&[7.0], &[0.0, 31.0, 100.0]), [7.0; 3]);
        assert_eq!(of(&[7.0], &[]), [0.0f32; 0]);
        let x = d.upload(&[1.0f32]).unwrap();
        for wrong in [-0.1, 100.5, f64::NAN] {
            assert!(matches!(d.percentiles(&x, &[50.0, wrong]), Err(Error::InvalidArgument { what: "percents", .. })));
        }
        assert!(matches!(d.median(&d.upload::<f32>(&[]).unwrap()), Err(Error::Empty { .. })));
        assert!(matches!(d.variance(&d.upload::<f32>(&[]).unwrap(), 0), Err(Error::Empty { .. })));
        assert!(d.variance(&x, 1).unwrap().read_blocking().unwrap().is_nan());
    });
}
