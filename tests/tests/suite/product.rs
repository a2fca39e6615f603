//! Products of matrices: the chain of the contract, NumPy's long double, whole numbers, rows that do not depend on their neighbours, what is refused.

use crate::common::{bits, each, each_with, uniform};
use half::f16;
use isowarp::Error;
use isowarp::backend::Backend as _;
use isowarp::element::DType;
use isowarp::patterns::{FactorFormat, ProductOrder};
use isowarp::prelude::*;
use serde_json::Value;

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../../data/products.json")).expect("the fixtures are JSON")
}

/// The contract, element by element.
pub(crate) fn chains(a: impl Fn(usize, usize) -> f32, b: impl Fn(usize, usize) -> f32, [m, n, k]: [usize; 3], block: usize) -> Vec<u32> {
    let element = |i: usize, j: usize| {
        let chain = |start: usize| (start..k.min(start + block)).fold(0.0f32, |sum, q| a(i, q).mul_add(b(q, j), sum));
        let first = chain(0);
        (1..k.div_ceil(block)).fold(first, |total, part| total + chain(part * block)).to_bits()
    };
    (0..m * n).map(|at| element(at / n, at % n)).collect()
}

#[test]
fn a_product_is_a_chain_of_fused_steps_in_blocks_of_512_terms() {
    let [m, n, k] = [37, 70, 1300];
    let (x, y) = (uniform(m * k, 1), uniform(k * n, 2));
    let expected = [512, k].map(|block| chains(|i, q| x[i * k + q], |q, j| y[q * n + j], [m, n, k], block));
    let shape = [m as u64, n as u64, k as u64];
    each(|d| {
        let (a, b) = (d.upload(&x).unwrap(), d.upload(&y).unwrap());
        let [m, n, k] = shape;
        let call = || d.gemm(matrix(&a, m, k), matrix(&b, k, n));
        assert_eq!(bits(&call().run().unwrap()), expected[0]);
        assert_eq!(bits(&call().order(ProductOrder::Chain).run().unwrap()), expected[1]);
    });
}

#[test]
fn products_are_as_near_to_numpys_long_double_as_blocks_of_chains_are() {
    let of = fixtures();
    for case in of["f32"].as_array().unwrap() {
        let side = |name: &str| case[name].as_u64().unwrap();
        let ([m, n, k], bound) = (["m", "n", "k"].map(side), case["bound"].as_f64().unwrap());
        let expected: Vec<f64> = case["c"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        let (x, y) = (uniform(m * k, 3), uniform(k * n, 4));
        each(|d| {
            let (a, b) = (d.upload(&x).unwrap(), d.upload(&y).unwrap());
            let found = d.gemm(matrix(&a, m, k), matrix(&b, k, n)).run().unwrap().read_blocking().unwrap();
            let worst = found.iter().zip(&expected).map(|(&c, e)| (f64::from(c) - e).abs()).fold(0.0, f64::max);
            assert!(worst <= bound, "{m}x{n}x{k}: {worst:e} of at most {bound:e}");
        });
        each_with(&[DType::F64], |d| {
            let wide = |x: &[f32]| d.upload(&x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>()).unwrap();
            let (a, b) = (wide(&x), wide(&y));
            let found = d.gemm(matrix(&a, m, k), matrix(&b, k, n)).run().unwrap().read_blocking().unwrap();
            // The fixtures are rounded to f64 themselves.
            let worst = found.iter().zip(&expected).map(|(c, e)| (c - e).abs() - e.abs() * 2f64.powi(-53)).fold(0.0, f64::max);
            assert!(worst <= bound * 2f64.powi(-29), "{m}x{n}x{k}: {worst:e}");
        });
    }
}

#[test]
fn fixed_point_products_have_the_bits_of_whole_numbers_and_fractions() {
    let of = fixtures();
    for case in of["fixed"].as_array().unwrap() {
        let side = |name: &str| case[name].as_u64().unwrap();
        let [m, n, k, spread] = ["m", "n", "k", "spread"].map(side);
        let expected: Vec<u32> = case["bits"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect();
        let scale = |q: u64| if spread > 0 { 2f32.powi(-((q % spread) as i32)) } else { 1.0 };
        let of_a = |(at, x): (usize, f32)| x * scale(at as u64 % k);
        let of_b = |(at, x): (usize, f32)| x * scale(at as u64 / n);
        let x: Vec<f32> = uniform(m * k, 7).into_iter().enumerate().map(of_a).collect();
        let y: Vec<f32> = uniform(k * n, 8).into_iter().enumerate().map(of_b).collect();
        each(|d| {
            let (a, b) = (d.upload(&x).unwrap(), d.upload(&y).unwrap());
            let found = bits(&d.gemm(matrix(&a, m, k), matrix(&b, k, n)).order(ProductOrder::Fixed30).run().unwrap());
            assert_eq!(found, expected, "{m}x{n}x{k}, spread {spread}");
        });
    }
}

/// Sums that are far below and above all others, at the ends of what there is, and rows that are not finite.
#[test]
fn fixed_point_products_are_rounded_once_and_rows_that_are_not_finite_are_nan() {
    let least = f32::from_bits(1);
    let cases: [(Vec<f32>, Vec<f32>, f32); 9] = [
        (vec![1.0, 2f32.powi(-24)], vec![1.0, 1.0], 1.0),
        (vec![1.0, 2f32.powi(-23)], vec![1.0, 0.5], 1.0),
        (vec![1.0, 3.0 * 2f32.powi(-24)], vec![1.0, 1.0], 1.0 + 2f32.powi(-22)),
        (vec![2f32.powi(-100)], vec![2f32.powi(-49)], least),
        (vec![3.0 * 2f32.powi(-100)], vec![2f32.powi(-50)], 2.0 * least),
        (vec![2f32.powi(-100)], vec![2f32.powi(-50)], 0.0),
        (vec![least, 0.0], vec![2.0, 1.0], 2.0 * least),
        (vec![2f32.powi(127), 2f32.powi(127)], vec![1.0, 1.0], f32::INFINITY),
        (vec![1.0, -1.0], vec![1.0, 1.0], 0.0),
    ];
    each(|d| {
        for (x, y, expected) in &cases {
            let k = x.len() as u64;
            let (a, b) = (d.upload(x).unwrap(), d.upload(y).unwrap());
            let found = bits(&d.gemm(matrix(&a, 1, k), matrix(&b, k, 1)).order(ProductOrder::Fixed30).run().unwrap());
            assert_eq!(found, [expected.to_bits()], "{x:?} {y:?}");
        }
        let (a, b) = (d.upload(&[1.0, f32::INFINITY, 2.0, 3.0, f32::NAN, 1.0]).unwrap(), d.upload(&[1.0f32, 0.0]).unwrap());
        let found = d.gemm(matrix(&a, 3, 2), matrix(&b, 2, 1)).order(ProductOrder::Fixed30).run().unwrap();
        assert_eq!(bits(&found), [0x7fc0_0000, 2f32.to_bits(), 0x7fc0_0000]);
        // Sums of 64 bits hold so many.
        let (limit, one) = (1 << 26, |rows, columns| matrix(scalar(1f32), rows, columns).steps(0, 0));
        let found = d.gemm(one(1, limit + 1), one(limit + 1, 1)).order(ProductOrder::Fixed30).run().unwrap_err();
        assert_eq!(found, Error::TooLarge { what: "terms of a fixed-point sum", requested: limit + 1, limit });
    });
}

/// The bound that `ProductOrder::Fixed30` states, where the places that are left out are as great as they get: a bound of half as much would not hold.
#[test]
fn fixed_point_products_keep_their_bound() {
    let (of_x, of_y) = (528_449_408i64, (31 << 24) + (127 << 16) + (127 << 8));
    let [x, y] = [of_x, of_y].map(|whole| whole as f32 / 2f32.powi(29));
    for pairs in [1usize, 200, 2000] {
        let k = 2 + 2 * pairs as u64;
        // A one in each, so that both are scaled by one.
        let (left, right) = ([vec![1.0, 0.0], [x, x].repeat(pairs)].concat(), [vec![0.0, 1.0], [x, -y].repeat(pairs)].concat());
        let exact = (of_x * (of_x - of_y)) as f64 * pairs as f64 * 2f64.powi(-58);
        each(|d| {
            let (a, b) = (d.upload(&left).unwrap(), d.upload(&right).unwrap());
            let found = d.gemm(matrix(&a, 1, k), matrix(&b, k, 1)).order(ProductOrder::Fixed30).run().unwrap().read_blocking().unwrap()[0];
            let (error, bound) = ((f64::from(found) - exact).abs(), k as f64 * 2f64.powi(-26) + exact.abs() * 2f64.powi(-24));
            assert!(error <= bound, "{pairs} pairs: {error:e} of at most {bound:e}");
            assert!(pairs < 2000 || error > k as f64 * 2f64.powi(-27), "{pairs} pairs: {error:e}");
        });
    }
}

/// The bound that `ProductOrder::Fast` states, of factors that are rounded as the formats say.
#[test]
fn fast_products_keep_their_bound_and_elsewhere_are_blocks_of_rounded_factors() {
    let [m, n, k] = [96usize, 130, 1100];
    let (x, y) = (uniform(m * k, 9), uniform(k * n, 10));
    let cut = |bits: u32, low: u32| (bits + ((1 << (low - 1)) - 1) + (bits >> low & 1)) >> low << low;
    for format in [FactorFormat::F16, FactorFormat::Bf16, FactorFormat::Tf32] {
        let round = |v: &f32| match format {
            FactorFormat::F16 => f16::from_f32(*v).to_f32(),
            FactorFormat::Bf16 => f32::from_bits(cut(v.to_bits(), 16)),
            FactorFormat::Tf32 => f32::from_bits(cut(v.to_bits(), 13)),
        };
        let (x16, y16): (Vec<f32>, Vec<f32>) = (x.iter().map(round).collect(), y.iter().map(round).collect());
        let sums = |of: &dyn Fn(f64, f64) -> f64, i: usize, j: usize| -> f64 {
            (0..k).map(|q| of(f64::from(x16[i * k + q]), f64::from(y16[q * n + j]))).sum()
        };
        let blocks = chains(|i, q| x16[i * k + q], |q, j| y16[q * n + j], [m, n, k], 512);
        each(|d| {
            let (a, b) = (d.upload(&x).unwrap(), d.upload(&y).unwrap());
            let [m, n, k] = [m as u64, n as u64, k as u64];
            let found =
                d.gemm(matrix(&a, m, k), matrix(&b, k, n)).order(ProductOrder::Fast(format)).run().unwrap().read_blocking().unwrap();
            for (at, &c) in found.iter().enumerate() {
                let (i, j) = (at / n as usize, at % n as usize);
                let bound = k as f64 * 2f64.powi(-22) * sums(&|a, b| (a * b).abs(), i, j);
                let error = (f64::from(c) - sums(&|a, b| a * b, i, j)).abs();
                assert!(error <= bound, "{format:?}: {error:e} of at most {bound:e}");
            }
            // Vulkan's drivers may have matrix instructions for `f16`.
            if d.caps().backend == "cpu" || (d.caps().backend == "wgpu" && format != FactorFormat::F16) {
                assert!(found.iter().map(|c| c.to_bits()).eq(blocks.iter().copied()), "{format:?}");
            }
        });
    }
}

/// Factors that `f16` has as subnormal numbers, and infinite ones and NaN, in products of so many elements that matrix instructions take them.
#[test]
fn factors_of_fast_products_may_be_subnormal_or_infinite() {
    let [m, n, k] = [96u64, 64, 256];
    let value = |row: u64| match row {
        0 => f32::INFINITY,
        1 => f32::NAN,
        2 => 65_519.0,
        3 => 65_520.0,
        // 2^-24 is the least number.
        row => 2f32.powi(-24 + (row % 30) as i32) * if row % 2 == 0 { 1.0 } else { -1.0 },
    };
    let x: Vec<f32> = (0..m * k).map(|i| value(i / k)).collect();
    each(|d| {
        let (a, b) = (d.upload(&x).unwrap(), d.upload(&vec![0.25f32; (k * n) as usize]).unwrap());
        let found = d.gemm(matrix(&a, m, k), matrix(&b, k, n)).order(ProductOrder::Fast(FactorFormat::F16)).run().unwrap();
        for (at, c) in found.read_blocking().unwrap().into_iter().enumerate() {
            // 256 times a quarter, exactly: of a power of two all sums are.
            let factor = f16::from_f32(value(at as u64 / n)).to_f32();
            assert!(c == factor * 64.0 || (c.is_nan() && factor.is_nan()), "row {}: {c:e}, not {:e}", at as u64 / n, factor * 64.0);
        }
    });
}

/// A product with 1 is the factor, rounded: every exponent, ties and their neighbours, numbers that become infinite or zero, NaN.
#[test]
fn factors_of_fast_products_are_rounded_to_the_nearest_f16() {
    let mantissas =
        [0u32, 1, 0xfff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x3001, 0x12_3456, 0x7f_dfff, 0x7f_efff, 0x7f_f000, 0x7f_f001, 0x7f_ffff];
    let of = |exponent: u32| mantissas.iter().map(move |m| f32::from_bits(exponent << 23 | m));
    let powers = (100..126u32)
        .flat_map(|e| (0..23).flat_map(move |bit| [-1i32, 0, 1].map(|by| f32::from_bits(((e << 23 | 1 << bit) as i32 + by) as u32))));
    let x: Vec<f32> = (0..=255).flat_map(of).chain(powers).flat_map(|x| [x, -x]).collect();
    each(|d| {
        let m = x.len() as u64;
        let (a, b) = (d.upload(&x).unwrap(), d.upload(&[1f32]).unwrap());
        let call = d.gemm(matrix(&a, m, 1), matrix(&b, 1, 1)).order(ProductOrder::Fast(FactorFormat::F16));
        let found = call.run().unwrap().read_blocking().unwrap();
        for (x, y) in x.iter().zip(found) {
            // The chain begins with +0.
            let expected = f16::from_f32(*x).to_f32() + 0.0;
            assert!(y.to_bits() == expected.to_bits() || (x.is_nan() && y.is_nan()), "{x:e}: {y:e}, not {expected:e}");
        }
    });
}

#[test]
fn orders_of_f32_alone_are_refused_for_other_sums() {
    each(|d| {
        let (a, b) = (d.upload(&[1i32; 4]).unwrap(), d.upload(&[1i32; 4]).unwrap());
        for order in [ProductOrder::Fixed30, ProductOrder::Fast(FactorFormat::Tf32)] {
            let found = d.gemm(matrix(&a, 2, 2), matrix(&b, 2, 2)).order(order).run().map(|_| ());
            assert!(matches!(found, Err(Error::InvalidArgument { what: "order of a product", .. })), "{found:?}");
        }
    });
}

#[test]
fn products_of_whole_numbers_are_exact_in_every_type() {
    let [m, n, k] = [33usize, 65, 700];
    let value = |i: usize, seed: usize| ((i * 7919 + seed * 31) % 255) as i64 - 127;
    let exact: Vec<i64> = (0..m * n).map(|at| (0..k).map(|q| value(at / n * k + q, 1) * value(q * n + at % n, 2)).sum::<i64>()).collect();
    each(|d| {
        let shape = [m as u64, n as u64, k as u64];
        let [m, n, k] = shape;
        let of = |len: usize, seed: usize| (0..len).map(|i| value(i, seed)).collect::<Vec<_>>();
        let (x, y) = (of((m * k) as usize, 1), of((k * n) as usize, 2));
        let bytes = |v: &[i64]| d.upload(&v.iter().map(|&v| v as i8).collect::<Vec<_>>()).unwrap();
        let found = d.gemm(matrix(&bytes(&x), m, k), matrix(&bytes(&y), k, n)).run().unwrap().read_blocking().unwrap();
        assert!(found.iter().zip(&exact).all(|(&c, &e)| i64::from(c) == e));
        let halves = |v: &[i64]| d.upload(&v.iter().map(|&v| f16::from_f32(v as f32)).collect::<Vec<_>>()).unwrap();
        let found = d.gemm(matrix(&halves(&x), m, k), matrix(&halves(&y), k, n)).run().unwrap().read_blocking().unwrap();
        assert!(found.iter().zip(&exact).all(|(&c, &e)| c == e as f32));
        let positive = |v: &[i64]| d.upload(&v.iter().map(|&v| (v + 127) as u8).collect::<Vec<_>>()).unwrap();
        let found = d.gemm(matrix(&positive(&x), m, k), matrix(&positive(&y), k, n)).run().unwrap().read_blocking().unwrap();
        let sums =
            (0..m * n).map(|at| (0..k).map(|q| (x[(at / n * k + q) as usize] + 127) * (y[(q * n + at % n) as usize] + 127)).sum::<i64>());
        assert!(found.iter().zip(sums).all(|(&c, e)| i64::from(c) == e));
    });
}

#[test]
fn a_row_of_a_product_is_the_row_alone_whatever_is_beside_it() {
    let [m, n, k] = [300u64, 130, 1100];
    each(|d| {
        let (a, b) = (d.upload(&uniform(m * k, 5)).unwrap(), d.upload(&uniform(k * n, 6)).unwrap());
        let all = bits(&d.gemm(matrix(&a, m, k), matrix(&b, k, n)).run().unwrap());
        for (first, rows) in [(0, 1), (17, 1), (299, 1), (100, 64), (5, 129)] {
            let part = a.slice(first * k..(first + rows) * k).unwrap();
            let alone = bits(&d.gemm(matrix(&part, rows, k), matrix(&b, k, n)).run().unwrap());
            assert_eq!(alone, all[(first * n) as usize..((first + rows) * n) as usize], "rows {first}.. ({rows})");
        }
        // Columns by themselves, as vectors; the transpose of the product of transposes; every row as a product of a batch.
        let columns: Vec<u32> =
            (0..3).flat_map(|j| bits(&d.gemv(matrix(&a, m, k), b.strided(j, k, n as i64).unwrap()).run().unwrap())).collect();
        assert!(columns.iter().enumerate().all(|(at, &c)| c == all[at % m as usize * n as usize + at / m as usize]));
        let turned = bits(&d.gemm(matrix(&b, k, n).transposed(), matrix(&a, m, k).transposed()).run().unwrap());
        assert!(turned.iter().enumerate().all(|(at, &c)| c == all[at % m as usize * n as usize + at / m as usize]));
        assert_eq!(bits(&d.gemm(matrix(&a, 1, k).batch(m), matrix(&b, k, n)).run().unwrap()), all);
    });
}

#[test]
fn special_values_and_signs_of_zero_come_out_of_products_as_the_chain_says() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    each(|d| {
        let dot = |a: &[f32], b: &[f32]| {
            let k = a.len() as u64;
            bits(&d.gemm(matrix(&d.upload(a).unwrap(), 1, k), matrix(&d.upload(b).unwrap(), k, 1)).run().unwrap())[0]
        };
        assert_eq!(dot(&[], &[]), 0);
        assert_eq!([dot(&[-0.0], &[1.0]), dot(&[0.0, -0.0], &[-1.0, 5.0])], [0, 0]);
        // Underflow below zero is -0, and stays that behind zeros and behind the last term.
        assert_eq!(dot(&[-1e-30], &[1e-30]), 0x8000_0000);
        assert_eq!(dot(&[-1e-30, -0.0, 0.0], &[1e-30, 1.0, -1.0]), 0x8000_0000);
        assert_eq!(dot(&[1e-20, 3.0], &[1e-20, 1e-45]), 3f32.mul_add(1e-45, 1e-20f32.mul_add(1e-20, 0.0)).to_bits());
        assert_eq!([dot(&[inf, 1.0], &[1.0, 1.0]), dot(&[f32::MAX, 1.0], &[2.0, 1.0])], [inf.to_bits(); 2]);
        assert_eq!([dot(&[inf, inf], &[1.0, -1.0]), dot(&[0.0], &[inf]), dot(&[nan], &[1.0])], [0x7fc0_0000; 3]);
    });
}

#[test]
fn epilogues_are_what_maps_after_the_product_are() {
    let [m, n, k] = [70u64, 36, 520];
    each(|d| {
        let (a, b) = (d.upload(&uniform(m * k, 7)).unwrap(), d.upload(&uniform(k * n, 8)).unwrap());
        let (old, bias) = (d.upload(&uniform(m * n, 9)).unwrap(), d.upload(&uniform(n, 10)).unwrap());
        let call = || d.gemm(matrix(&a, m, k), matrix(&b, k, n));
        let sums = call().run().unwrap();
        let expected = d.map((&sums, &old), |(c, old)| c.mul_add(1.7, old * -0.3)).unwrap();
        assert_eq!(bits(&call().alpha(1.7).add(-0.3, &old).run().unwrap()), bits(&expected));
        let scaled = d.map(&sums, |c| c * 1.7).unwrap();
        assert_eq!(bits(&call().alpha(1.7).run().unwrap()), bits(&scaled));
        // The factor 1 is the same, said or not.
        assert_eq!(bits(&call().add(-0.3, &old).run().unwrap()), bits(&call().alpha(1.0).add(-0.3, &old).run().unwrap()));
        let of_columns = || bias.broadcast(&[n], &[m, n]);
        let layer = d.map((&sums, of_columns()), |(c, bias)| ((c + bias).tanh(), c.max(bias))).unwrap();
        let fused = call().epilogue(of_columns(), |c, bias| ((c + bias).tanh(), c.max(bias))).run().unwrap();
        assert_eq!((bits(&fused.0), bits(&fused.1)), (bits(&layer.0), bits(&layer.1)));
        // An operator over elements of A is the product of what it makes.
        let squares = d.map(&a, |x| x * x).unwrap();
        let stored = d.gemm(matrix(&squares, m, k), matrix(&b, k, n)).run().unwrap();
        assert_eq!(bits(&d.gemm(matrix(a.map(|x| x * x), m, k), matrix(&b, k, n)).run().unwrap()), bits(&stored));
        // Between rows that are further apart, and behind them, elements stay.
        let out = d.upload(&vec![9.0f32; (m * (n + 3)) as usize]).unwrap();
        call().leading(n + 3).write_to(&out).unwrap();
        let (found, plain) = (out.read_blocking().unwrap(), sums.read_blocking().unwrap());
        for (row, expected) in found.chunks((n + 3) as usize).zip(plain.chunks(n as usize)) {
            assert_eq!((&row[..n as usize], &row[n as usize..]), (expected, &[9.0; 3][..]));
        }
    });
}

#[test]
fn products_that_do_not_fit_are_refused_and_nothing_is_written() {
    each(|d| {
        let (a, b) = (d.upload(&[1.0f32; 12]).unwrap(), d.upload(&[1.0f32; 12]).unwrap());
        let out = d.upload(&[5.0f32; 9]).unwrap();
        let refused = |result: Result<(), Error>| result.unwrap_err();
        let of = |rows, columns| matrix(&a, rows, columns);
        let by = |rows, columns| matrix(&b, rows, columns);
        assert!(matches!(refused(d.gemm(of(3, 4), by(3, 4)).write_to(&out)), Error::LengthMismatch { expected: 4, found: 3, .. }));
        assert!(matches!(refused(d.gemm(of(3, 4), by(4, 4)).write_to(&out)), Error::BufferTooSmall { required: 16, available: 12, .. }));
        assert!(matches!(refused(d.gemm(of(3, 4).leading(5), by(4, 3)).write_to(&out)), Error::BufferTooSmall { required: 14, .. }));
        for step in [0, 1, 3] {
            let left = refused(d.gemm(of(3, 4).leading(step), by(4, 3)).write_to(&out));
            let turned = refused(d.gemm(of(4, 3), by(3, 4).leading(step).transposed()).write_to(&out));
            for error in [left, turned] {
                assert!(matches!(error, Error::InvalidArgument { .. } | Error::LengthMismatch { .. }), "{step}: {error}");
            }
        }
        assert!(matches!(refused(d.gemm(of(4, 1).leading(0), by(1, 2)).write_to(&out)), Error::InvalidArgument { .. }));
        assert!(matches!(refused(d.gemm(of(3, 4), by(4, 3)).leading(2).write_to(&out)), Error::InvalidArgument { .. }));
        assert!(matches!(refused(d.gemm(of(3, 4), by(4, 3)).leading(4).write_to(&out)), Error::BufferTooSmall { required: 11, .. }));
        for (row, column) in [(1, 2), (2, 1), (1, 1), (6, 2), (0, 1), (3, 3)] {
            assert!(matches!(refused(d.gemm(of(3, 4), by(4, 3)).steps(row, column).write_to(&out)), Error::InvalidArgument { .. }));
        }
        assert!(matches!(refused(d.gemm(of(3, 4), by(4, 1)).steps(0, 3).write_to(&out)), Error::InvalidArgument { .. }));
        assert!(matches!(refused(d.gemm(of(1, 4), by(4, 3)).steps(7, 0).write_to(&out)), Error::InvalidArgument { .. }));
        assert!(matches!(refused(d.gemm(of(1, 2).batch(6), by(2, 1)).batch_step(0).write_to(&out)), Error::InvalidArgument { .. }));
        assert!(matches!(refused(d.gemm(of(2, 2).batch(2), by(2, 2)).batch_step(3).write_to(&out)), Error::InvalidArgument { .. }));
        assert!(matches!(
            refused(d.gemm(of(2, 2).batch(2), by(2, 2)).batch_step(6).write_to(&out)),
            Error::BufferTooSmall { required: 10, .. }
        ));
        assert!(matches!(refused(d.gemm(of(3, 4), by(4, 3)).write_to(&out.slice(..8).unwrap())), Error::BufferTooSmall { .. }));
        assert!(matches!(refused(d.gemm(of(1, 2).batch(6), by(2, 1).batch(5)).write_to(&out)), Error::LengthMismatch { .. }));
        assert!(matches!(refused(d.gemm(of(1, 2).batch(7), by(2, 1)).write_to(&out)), Error::BufferTooSmall { required: 14, .. }));
        assert!(matches!(refused(d.gemm(of(2, 2), by(2, 2)).write_to(&a.slice(2..6).unwrap())), Error::Aliasing { .. }));
        // Behind the elements that a matrix has, its buffer may be written.
        let (row, behind) = (a.slice(..2).unwrap(), a.slice(2..8).unwrap());
        d.gemm(matrix(&row, 1, 2), by(2, 6)).write_to(&behind).unwrap();
        assert_eq!(a.read_blocking().unwrap()[1..], [1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0]);
        d.fill(&behind, 1.0).unwrap();
        assert!(matches!(refused(d.gemm(of(2, 2), by(2, 2)).add(1.0, &out).write_to(&out)), Error::LengthMismatch { .. }));
        assert!(matches!(refused(d.gemv(of(3, 4), &out.slice(..3).unwrap()).write_to(&b)), Error::BufferTooSmall { required: 4, .. }));
        assert!(matches!(refused(d.gemm(of(1 << 33, 0), by(0, 1)).write_to(&out)), Error::TooLarge { .. }));
        assert_eq!(out.read_blocking().unwrap(), [5.0; 9]);
        assert_eq!(a.read_blocking().unwrap(), [1.0; 12]);
    });
}

#[test]
fn a_product_with_its_own_transpose_is_symmetric_and_has_the_bits_of_the_product() {
    for [n, k] in [[1usize, 1], [37, 530], [70, 9]] {
        let x = uniform(n * k, 12);
        let expected = chains(|i, q| x[i * k + q], |q, j| x[j * k + q], [n, n, k], 512);
        let of_columns = chains(|i, q| x[q * n + i], |q, j| x[q * n + j], [n, n, k], 512);
        each(|d| {
            let (a, [n, k]) = (d.upload(&x).unwrap(), [n as u64, k as u64]);
            let m = matrix(&a, n, k);
            let found = bits(&d.syrk(m).run().unwrap());
            assert_eq!(found, expected, "{n}x{k}");
            assert!((0..n * n).all(|at| found[at as usize] == found[(at % n * n + at / n) as usize]));
            assert_eq!(bits(&d.syrk(matrix(&a, k, n).transposed()).run().unwrap()), of_columns, "{n}x{k}, transposed");
            for order in [ProductOrder::Chain, ProductOrder::Fixed30] {
                let product = bits(&d.gemm(m, m.transposed()).order(order).run().unwrap());
                assert_eq!(bits(&d.syrk(m).order(order).run().unwrap()), product, "{n}x{k}, {order:?}");
            }
            // BLAS's, over what was there.
            let old = uniform(n * n, 13);
            let (c, by_gemm) = (d.upload(&old).unwrap(), d.upload(&old).unwrap());
            d.syrk(m).alpha(0.7).add(-1.5, &c).write_to(&c).unwrap();
            d.gemm(m, m.transposed()).alpha(0.7).add(-1.5, &by_gemm).write_to(&by_gemm).unwrap();
            let added = |(sum, old): (&u32, &f32)| 0.7f32.mul_add(f32::from_bits(*sum), old * -1.5).to_bits();
            assert_eq!(bits(&c), expected.iter().zip(&old).map(added).collect::<Vec<_>>());
            assert_eq!(bits(&c), bits(&by_gemm));
            // Rows alone, each a matrix of a batch.
            let squares = bits(&d.syrk(matrix(&a, 1, k).batch(n)).run().unwrap());
            assert!((0..n).all(|i| squares[i as usize] == expected[(i * (n + 1)) as usize]));
            let bytes: Vec<i8> = x.iter().map(|x| (x * 128.0) as i8).collect();
            let sum =
                |at: u64| (0..k).map(|q| [at / n, at % n].map(|row| i32::from(bytes[(row * k + q) as usize]))).map(|[x, y]| x * y).sum();
            let of_bytes = d.syrk(matrix(&d.upload(&bytes).unwrap(), n, k)).run().unwrap().read_blocking().unwrap();
            assert_eq!(of_bytes, (0..n * n).map(sum).collect::<Vec<i32>>(), "{n}x{k}, bytes");
        });
    }
}

#[test]
fn outer_products_are_rounded_once_and_are_added_as_ger_does() {
    for [m, n] in [[1usize, 1], [3, 70], [65, 33], [130, 4]] {
        let (mut x, y, old) = (uniform(m, 14), uniform(n, 15), uniform(m * n, 16));
        x[0] = -0.0;
        each(|d| {
            let (on_x, on_y) = (d.upload(&x).unwrap(), d.upload(&y).unwrap());
            let call = || d.outer(&on_x, m as u64, &on_y, n as u64);
            // The chain begins with +0.
            let products: Vec<f32> = (0..m * n).map(|at| x[at / n].mul_add(y[at % n], 0.0)).collect();
            let words = |of: &dyn Fn(usize) -> f32| (0..m * n).map(|at| of(at).to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&call().run().unwrap()), words(&|at| products[at]), "{m}x{n}");
            let columns = d.gemm(matrix(&on_x, m as u64, 1), matrix(&on_y, 1, n as u64)).run().unwrap();
            assert_eq!(bits(&call().run().unwrap()), bits(&columns));
            assert_eq!(bits(&call().alpha(-1.3).run().unwrap()), words(&|at| products[at] * -1.3));
            let a = d.upload(&old).unwrap();
            call().alpha(-1.3).add(1.0, &a).write_to(&a).unwrap();
            assert_eq!(bits(&a), words(&|at| (-1.3f32).mul_add(products[at], old[at])), "{m}x{n}, added");
            let doubled = d.outer(on_x.map(|x| x + x), m as u64, on_y.reversed(), n as u64).run().unwrap();
            assert_eq!(bits(&doubled), words(&|at| (x[at / n] + x[at / n]).mul_add(y[n - 1 - at % n], 0.0)));
        });
        each_with(&[DType::F64], |d| {
            let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x) / 3.0).collect::<Vec<_>>();
            let (x, y) = (wide(&x), wide(&y));
            let found = d.outer(&d.upload(&x).unwrap(), m as u64, &d.upload(&y).unwrap(), n as u64).run().unwrap();
            assert_eq!(found.read_blocking().unwrap(), (0..m * n).map(|at| x[at / n] * y[at % n]).collect::<Vec<_>>(), "{m}x{n}");
        });
    }
    each(|d| {
        let (x, y) = (d.upload(&[u32::MAX, 3, 1 << 31]).unwrap(), d.upload(&[2u32, 1 << 31]).unwrap());
        assert_eq!(d.outer(&x, 3, &y, 2).run().unwrap().read_blocking().unwrap(), [u32::MAX - 1, 1 << 31, 6, 1 << 31, 0, 0]);
        let short = d.outer(&x, 4, &y, 2).run().map(|_| ()).unwrap_err();
        assert!(matches!(short, Error::BufferTooSmall { required: 4, available: 3, .. }), "{short}");
    });
}

#[test]
fn results_of_one_product_or_convolution_that_overlap_are_refused_and_nothing_is_written() {
    each(|d| {
        let (a, b) = (d.upload(&[1.0f32; 256]).unwrap(), d.upload(&[2.0f32; 240]).unwrap());
        let (few, one) = (a.slice(..20).unwrap(), b.slice(..1).unwrap());
        let (out, count) = (d.upload(&[5.0f32; 300]).unwrap(), d.upload(&[5u32; 24]).unwrap());
        let refused = |result: Result<(), Error>| matches!(result, Err(Error::Aliasing { what: "an output", .. }));
        let part = |start: u64, len: u64| out.slice(start..start + len).unwrap();
        let call = || d.gemm(matrix(&a, 3, 5), matrix(&b, 5, 4));
        let plane = || d.convolve(grid(&a, &[4, 64]), grid(&one, &[1, 1]));
        let layer = || d.convolve(grid(&few, &[1, 10]).channels(2), grid(&b, &[1, 10]).channels(2).batch(12));
        // Twelve elements each, or those of a plane: twice the same ones, one at the end of the others, and more of them.
        for [first, second] in [[0, 0], [0, 11], [11, 0], [20, 25]] {
            let (x, y) = (part(first, 12), part(second, 12));
            assert!(refused(call().finish(|c| (c, c + 1.0)).write_to((&x, &y))), "{first} and {second}");
            assert!(refused(call().epilogue(index(), |c, i| (c, i.cast::<f32>())).write_to((&x, &y))), "{first} and {second}");
            assert!(refused(call().alpha(2.0).add(1.0, &x).finish(|c| (c, -c)).write_to((&x, &y))), "{first} and {second}");
            assert!(refused(call().order(ProductOrder::Fixed30).finish(|c| (c, c, c)).write_to((&x, &part(40, 12), &y))));
            // Of a plane, of many filters, and of windows that reach beyond the image.
            let planes = (&part(first, 256), &part(second, 256));
            assert!(refused(plane().finish(|c| (c, c * 2.0)).write_to(planes)), "{first} and {second}");
            assert!(refused(layer().finish(|c| (c, c * 2.0)).write_to((&x, &y))), "{first} and {second}");
            assert!(refused(layer().order(ProductOrder::Fixed30).epilogue(index(), |c, i| (c, i.cast::<f32>())).write_to((&x, &y))));
            let beyond = layer().padding(&[0, 1]).stride(&[1, 3]).border(Border::Clamp);
            assert!(refused(beyond.finish(|c| (c, c)).write_to((&x, &y))), "{first} and {second}");
        }
        assert_eq!((out.read_blocking().unwrap(), count.read_blocking().unwrap()), (vec![5.0; 300], vec![5; 24]));
        assert_eq!((a.read_blocking().unwrap(), b.read_blocking().unwrap()), (vec![1.0; 256], vec![2.0; 240]));
        // Next to each other, and in other memory, they are written.
        call().finish(|c| (c, c + 1.0, c.cast::<u32>())).write_to((&part(12, 12), &part(0, 12), &count.slice(12..).unwrap())).unwrap();
        let found = out.read_blocking().unwrap();
        assert_eq!((&found[..12], &found[12..24], &found[24..]), (&[11.0; 12][..], &[10.0; 12][..], &[5.0; 276][..]));
        assert_eq!(count.read_blocking().unwrap(), [[5; 12], [10; 12]].concat());
    });
}
