//! Solves and factorisations: the chains of the contract, 60 digits, closed forms, blocks and batches that do not show, singular systems, what is refused.

use crate::common::{bits, cpu, each, each_with, uniform};
use isowarp::backend::{Backend as _, Leaf, Out, Run as _};
use isowarp::buffer::Buffer;
use isowarp::element::{DType, Element};
use isowarp::patterns::product::Steps;
use isowarp::patterns::solve::{SolveKind, SolveTask};
use isowarp::patterns::{Pivoting, SolveScalar};
use isowarp::prelude::*;
use isowarp::{Device, Error};
use serde_json::Value;

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../../data/solves.json")).expect("the fixtures are JSON")
}

/// Element (i, j) of the factors of a matrix whose rows are in order, by itself.
fn factors(a: &[f32], n: usize) -> Vec<f32> {
    let mut lu = a.to_vec();
    for i in 0..n {
        for j in 0..n {
            let chain = (0..i.min(j)).fold(a[i * n + j], |sum, k| (-lu[i * n + k]).mul_add(lu[k * n + j], sum));
            lu[i * n + j] = if i > j { chain / lu[j * n + j] } else { chain };
        }
    }
    lu
}

#[test]
fn factors_and_solutions_are_the_chains_of_the_contract() {
    for n in [1usize, 4, 33, 71] {
        let (x, y) = (uniform(n * n, 5), uniform(n, 6));
        each(|d| {
            let (a, b) = (d.upload(&x).unwrap(), d.upload(&y).unwrap());
            let m = matrix(&a, n as u64, n as u64);
            let (lu, permutation, status) = d.lu(m).run().unwrap();
            let rows: Vec<usize> = permutation.read_blocking().unwrap().into_iter().map(|row| row as usize).collect();
            let ordered: Vec<f32> = rows.iter().flat_map(|&row| x[row * n..][..n].to_vec()).collect();
            let expected = factors(&ordered, n);
            assert_eq!(status.read_blocking().unwrap(), [0]);
            assert_eq!(bits(&lu), expected.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), "LU of {n}");
            // Partial pivots: no multiplier is above one.
            assert!((0..n * n).all(|at| at / n <= at % n || expected[at].abs() <= 1.0));
            let mut z: Vec<f32> = rows.iter().map(|&row| y[row]).collect();
            for i in 0..n {
                z[i] = (0..i).fold(z[i], |sum, k| (-expected[i * n + k]).mul_add(z[k], sum));
            }
            for i in (0..n).rev() {
                z[i] = (i + 1..n).rev().fold(z[i], |sum, k| (-expected[i * n + k]).mul_add(z[k], sum)) / expected[i * n + i];
            }
            let (solved, _) = d.solve(m, matrix(&b, n as u64, 1)).run().unwrap();
            assert_eq!(bits(&solved), z.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), "the solution of {n}");
            let swapped = (0..n).fold((rows.clone(), false), |(mut rows, odd), i| {
                let at = rows.iter().position(|&row| row == i).unwrap();
                rows.swap(i, at);
                (rows, odd != (at != i))
            });
            let product = (1..n).fold(expected[0], |product, k| product * expected[k * n + k]);
            let determinant = d.determinant(m).run().unwrap().read_blocking().unwrap()[0];
            assert_eq!(determinant, if swapped.1 { -product } else { product });
        });
    }
}

#[test]
fn cholesky_and_triangles_are_the_chains_of_the_contract() {
    for n in [1usize, 5, 34, 75] {
        let noise = uniform(n * n, 7);
        // Symmetric, with a diagonal that outweighs the rest; the upper triangle holds what nobody reads.
        let a: Vec<f32> = (0..n * n).map(|at| if at / n == at % n { n as f32 + noise[at] } else { noise[at] }).collect();
        let mut l = vec![0.0f32; n * n];
        for j in 0..n {
            for i in j..n {
                let chain = (0..j).fold(a[i * n + j], |sum, k| (-l[i * n + k]).mul_add(l[j * n + k], sum));
                l[i * n + j] = if i == j { chain.sqrt() } else { chain / l[j * n + j] };
            }
        }
        let y = uniform(n * 3, 8);
        each(|d| {
            let buffer = d.upload(&a).unwrap();
            let side = n as u64;
            let (factor, status) = d.cholesky(matrix(&buffer, side, side)).run().unwrap();
            assert_eq!(status.read_blocking().unwrap(), [0]);
            assert_eq!(bits(&factor), l.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), "the factor of {n}");
            let b = d.upload(&y).unwrap();
            let (half, _) = d.triangular_solve(matrix(&factor, side, side), matrix(&b, side, 3)).run().unwrap();
            let mut expected = y.clone();
            for j in 0..3 {
                for i in 0..n {
                    let chain = (0..i).fold(expected[i * 3 + j], |sum, k| (-l[i * n + k]).mul_add(expected[k * 3 + j], sum));
                    expected[i * 3 + j] = chain / l[i * n + i];
                }
            }
            assert_eq!(bits(&half), expected.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), "the half solved {n}");
            // From the right: the transposes' system.
            let turned: Vec<f32> = (0..3 * n).map(|at| y[at % n * 3 + at / n]).collect();
            let b = d.upload(&turned).unwrap();
            let call = d.triangular_solve(matrix(&factor, side, side).transposed(), matrix(&b, 3, side));
            let found = bits(&call.upper().right().run().unwrap().0);
            assert!((0..3 * n).all(|at| found[at] == expected[at % n * 3 + at / n].to_bits()));
        });
    }
}

fn near<T: SolveScalar>(d: &Device, case: &Value, of: impl Fn(f32) -> T, to: impl Fn(T) -> f64, unit: f64) {
    let [n, r] = ["n", "r"].map(|name| case[name].as_u64().unwrap());
    let values = |len: u64, seed: u64| uniform(len, (seed + n) as u32).into_iter().map(&of).collect::<Vec<T>>();
    let (a, b) = (d.upload(&values(n * n, 3)).unwrap(), d.upload(&values(n * r, 4)).unwrap());
    let (x, status) = d.solve(matrix(&a, n, n), matrix(&b, n, r)).run().unwrap();
    assert_eq!(status.read_blocking().unwrap(), [0]);
    let bound = case["bound"].as_f64().unwrap() * unit;
    let expected = case["x"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap());
    let worst = x.read_blocking().unwrap().into_iter().zip(expected).map(|(x, e)| (to(x) - e).abs()).fold(0.0, f64::max);
    assert!(worst <= bound, "{n}: {worst:e} of at most {bound:e}");
    let determinant = to(d.determinant(matrix(&a, n, n)).run().unwrap().read_blocking().unwrap()[0]);
    let (exact, bound) = (case["determinant"].as_f64().unwrap(), case["determinant_bound"].as_f64().unwrap() * unit);
    assert!((determinant - exact).abs() <= bound, "{n}: {determinant:e} for {exact:e}");
}

#[test]
fn solutions_and_determinants_are_as_near_to_those_of_60_digits_as_elimination_is() {
    let of = fixtures();
    for case in of["systems"].as_array().unwrap() {
        each(|d| near::<f32>(d, case, |x| x, f64::from, 2f64.powi(-24)));
        each_with(&[DType::F64], |d| near::<f64>(d, case, f64::from, |x| x, 2f64.powi(-53)));
    }
}

/// A shell under load, and a reservoir, of condition 3e6 and 2e6: from the Harwell-Boeing collection.
#[test]
fn systems_of_applications_are_solved_within_the_bounds_of_their_factors() {
    let all: Value = serde_json::from_str(include_str!("../../data/matrices.json")).expect("the fixtures are JSON");
    for case in all["matrices"].as_array().unwrap() {
        let n = case["n"].as_u64().unwrap();
        let of = |name: &str| case[name].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<f64>>();
        let (mut dense, is_symmetric) = (vec![0.0; (n * n) as usize], case["symmetric"].as_bool().unwrap());
        for entry in case["entries"].as_array().unwrap() {
            let [i, j] = [0, 1].map(|k| entry[k].as_u64().unwrap());
            let value = entry[2].as_f64().unwrap();
            dense[(i * n + j) as usize] = value;
            if is_symmetric {
                dense[(j * n + i) as usize] = value;
            }
        }
        let [b, exact, bounds] = ["b", "x", "bounds"].map(of);
        let near = |what: &str, x: &Buffer<Device, f64>| {
            for ((x, exact), bound) in x.read_blocking().unwrap().iter().zip(&exact).zip(&bounds) {
                assert!((x - exact).abs() <= bound * 2f64.powi(-53), "{}, {what}: {x:e} for {exact:e}", case["name"]);
            }
        };
        each_with(&[DType::F64], |d| {
            let (a, b) = (d.upload(&dense).unwrap(), d.upload(&b).unwrap());
            for pivoting in [Pivoting::Partial, Pivoting::Full] {
                near("elimination", &d.solve(matrix(&a, n, n), matrix(&b, n, 1)).pivoting(pivoting).run().unwrap().0);
            }
            if is_symmetric {
                let (l, status) = d.cholesky(matrix(&a, n, n)).run().unwrap();
                assert_eq!(status.read_blocking().unwrap(), [0]);
                let (y, _) = d.triangular_solve(matrix(&l, n, n), matrix(&b, n, 1)).run().unwrap();
                near("Cholesky", &d.triangular_solve(matrix(&l, n, n).transposed(), matrix(&y, n, 1)).upper().run().unwrap().0);
                return;
            }
            let found = d.determinant(matrix(&a, n, n)).run().unwrap().read_blocking().unwrap()[0];
            let exact = case["determinant"][0].as_f64().unwrap() * 2f64.powi(case["determinant"][1].as_i64().unwrap() as i32);
            let bound = exact.abs() * case["determinant_bound"].as_f64().unwrap() * 2f64.powi(-53);
            assert!((found - exact).abs() <= bound, "{}: {found:e} for {exact:e}, within {bound:e}", case["name"]);
        });
    }
}

/// `b` less the products, as if with twice the digits.
fn residual(b: f64, products: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, rest) = products.fold((b, 0.0), |(sum, rest), (x, y)| {
        let product = -x * y;
        let next = sum + product;
        let of_product = next - sum;
        (next, rest + (-x).mul_add(y, -product) + ((sum - (next - of_product)) + (product - of_product)))
    });
    sum + rest
}

/// The greatest sum of magnitudes of a row.
fn norm(a: &[f64], columns: usize) -> f64 {
    a.chunks(columns).map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

/// Tests that X solves a system that is as near to A X = B as rounding is. Bounds have no factor of n, as those of the worst case do.
fn solves_a_near_one(what: &str, a: &[f64], x: &[f64], b: impl Fn(usize, usize) -> f64, n: usize, unit: f64) {
    let rights = x.len() / n;
    for j in 0..rights {
        let size = (0..n).map(|k| x[k * rights + j].abs()).fold(0.0, f64::max);
        let bound = 4.0 * unit * norm(a, n) * size;
        for i in 0..n {
            let error = residual(b(i, j), (0..n).map(|k| (a[i * n + k], x[k * rights + j]))).abs();
            assert!(error <= bound, "{what} of {n}, ({i}, {j}): {error:e} of at most {bound:e}");
        }
    }
}

/// Solves, factors and inverts a matrix that has no zero pivot, but is as near to a singular one as rounding is.
fn is_backward_stable<T: SolveScalar>(d: &Device, rows: &[f64], of: fn(f64) -> T, to: fn(T) -> f64, unit: f64) {
    let n = rows.len().isqrt();
    let (side, read) = (n as u64, |x: &Buffer<Device, T>| x.read_blocking().unwrap().into_iter().map(to).collect::<Vec<f64>>());
    let a = d.upload(&rows.iter().map(|&x| of(x)).collect::<Vec<_>>()).unwrap();
    let m = matrix(&a, side, side);
    let exact = read(&a);
    // A solution of ones, about, and one as large as the condition is.
    let noise = uniform(n, 17);
    let b: Vec<T> = exact.chunks(n).zip(noise).flat_map(|(row, noise)| [of(row.iter().sum()), of(noise.into())]).collect();
    let b = d.upload(&b).unwrap();
    let of_b = read(&b);
    for pivoting in [Pivoting::Partial, Pivoting::Full] {
        let (x, status) = d.solve(m, matrix(&b, side, 2)).pivoting(pivoting).run().unwrap();
        assert_eq!(status.read_blocking().unwrap(), [0], "{pivoting:?} of {n}");
        solves_a_near_one(&format!("the solution, {pivoting:?}"), &exact, &read(&x), |i, j| of_b[2 * i + j], n, unit);
        let (inverse, status) = d.inverse(m).pivoting(pivoting).run().unwrap();
        assert_eq!(status.read_blocking().unwrap(), [0], "{pivoting:?} of {n}");
        solves_a_near_one(&format!("the inverse, {pivoting:?}"), &exact, &read(&inverse), |i, j| f64::from(u8::from(i == j)), n, unit);
    }
    let (lu, permutation, status) = d.lu(m).run().unwrap();
    assert_eq!(status.read_blocking().unwrap(), [0], "LU of {n}");
    let lu = read(&lu);
    for (i, row) in permutation.read_blocking().unwrap().into_iter().enumerate() {
        for j in 0..n {
            // Elements of L and of U.
            let products = (0..=i.min(j)).map(|k| (if k == i { 1.0 } else { lu[i * n + k] }, lu[k * n + j]));
            let bound = 4.0 * unit * products.clone().map(|(l, u)| (l * u).abs()).sum::<f64>();
            let error = residual(exact[row as usize * n + j], products).abs();
            assert!(error <= bound, "LU of {n}, ({i}, {j}): {error:e} of at most {bound:e}");
        }
    }
}

#[test]
fn matrices_that_are_nearly_singular_are_solved_for_a_matrix_next_to_them() {
    let hilbert = |n: usize| (0..n * n).map(|at| 1.0 / (at / n + at % n + 1) as f64).collect::<Vec<f64>>();
    // Products of a column and a row, and this much more on the diagonal; there is nothing else.
    let rank_one = |n: usize, more: f64| {
        let (x, y) = (uniform(n, 15), uniform(n, 16));
        let of = |at: usize| f64::from(x[at / n]) * f64::from(y[at % n]) + if at / n == at % n { more } else { 0.0 };
        (0..n * n).map(of).collect::<Vec<f64>>()
    };
    // Conditions by sums of rows: 3e7 to 3e9, and 3e8 to 2e10.
    let narrow: Vec<Vec<f64>> = [6, 7, 8].map(hilbert).into_iter().chain([3, 20, 75].map(|n| rank_one(n, 1e-7))).collect();
    // From 4e13 to 4e16, and from 2e17 to 2e19.
    let wide: Vec<Vec<f64>> = [10, 11, 12].map(hilbert).into_iter().chain([3, 20, 60].map(|n| rank_one(n, 2e-16))).collect();
    each(|d| narrow.iter().for_each(|a| is_backward_stable::<f32>(d, a, |x| x as f32, f64::from, 2f64.powi(-24))));
    each_with(&[DType::F64], |d| wide.iter().for_each(|a| is_backward_stable::<f64>(d, a, |x| x, |x| x, 2f64.powi(-53))));
}

#[test]
fn matrices_with_closed_forms_have_them() {
    each(|d| {
        // Pascal's matrices have whole pivots, factors, inverses and the determinant 1.
        let n = 9u64;
        let mut pascal = vec![1.0f32; (n * n) as usize];
        for at in (0..(n * n) as usize).filter(|at| at / n as usize > 0 && at % n as usize > 0) {
            pascal[at] = pascal[at - 1] + pascal[at - n as usize];
        }
        let a = d.upload(&pascal).unwrap();
        let m = matrix(&a, n, n);
        assert_eq!(d.determinant(m).pivoting(Pivoting::None).run().unwrap().read_blocking().unwrap(), [1.0]);
        let (l, _) = d.cholesky(m).run().unwrap();
        let binomial = |i: u64, j: u64| (0..j).fold(1.0, |b, k| b * (i - k) as f32 / (k + 1) as f32);
        let expected: Vec<f32> = (0..n * n).map(|at| if at % n > at / n { 0.0 } else { binomial(at / n, at % n) }).collect();
        assert_eq!(l.read_blocking().unwrap(), expected);
        let (inverse, _) = d.inverse(m).pivoting(Pivoting::None).run().unwrap();
        let unit = d.gemm(m, matrix(&inverse, n, n)).run().unwrap().read_blocking().unwrap();
        assert!(unit.iter().enumerate().all(|(at, &v)| v == f32::from(u8::from(at as u64 / n == at as u64 % n))));
        // Wilkinson's: ties keep rows where they are, and the last column doubles.
        for n in [20u64, 90] {
            let wilkinson = d
                .map(counting(n * n), move |i| {
                    let (i, j) = (i / n as u32, i % n as u32);
                    select(i.eq(j) | j.eq(n as u32 - 1), 1.0f32, select(i.gt(j), -1.0, 0.0))
                })
                .unwrap();
            let (lu, permutation, _) = d.lu(matrix(&wilkinson, n, n)).run().unwrap();
            let lu = lu.read_blocking().unwrap();
            assert!((0..n).all(|i| lu[(i * n + n - 1) as usize] == 2f32.powi(i as i32)));
            assert_eq!(permutation.read_blocking().unwrap(), (0..n as u32).collect::<Vec<_>>());
        }
        // Permutations.
        for n in [7u64, 83] {
            let a = d.map(counting(n * n), move |i| select(((i / n as u32 * 5 + 3) % n as u32).eq(i % n as u32), 1.0f32, 0.0)).unwrap();
            let b = d.upload(&uniform(n, 1)).unwrap();
            for pivoting in [Pivoting::Partial, Pivoting::Full] {
                let (x, _) = d.solve(matrix(&a, n, n), matrix(&b, n, 1)).pivoting(pivoting).run().unwrap();
                let (x, b) = (x.read_blocking().unwrap(), b.read_blocking().unwrap());
                assert!((0..n).all(|i| x[((i * 5 + 3) % n) as usize] == b[i as usize]), "{n}");
            }
            assert_eq!(d.determinant(matrix(&a, n, n)).run().unwrap().read_blocking().unwrap()[0].abs(), 1.0);
        }
    });
    each_with(&[DType::F64], |d| {
        // Hilbert's: their inverses are whole numbers.
        let n = 6u64;
        let a: Vec<f64> = (0..n * n).map(|at| 1.0 / (at / n + at % n + 1) as f64).collect();
        let a = d.upload(&a).unwrap();
        let (inverse, _) = d.inverse(matrix(&a, n, n)).run().unwrap();
        let choose = |n: u64, k: u64| (0..k).fold(1.0, |b, q| b * (n - q) as f64 / (q + 1) as f64);
        for (at, x) in (0..).zip(inverse.read_blocking().unwrap()) {
            let (i, j) = (at / n + 1, at % n + 1);
            let sign = if (i + j) % 2 == 0 { 1.0 } else { -1.0 };
            let exact = sign * (i + j - 1) as f64 * choose(n + i - 1, n - j) * choose(n + j - 1, n - i) * choose(i + j - 2, i - 1).powi(2);
            // Their condition is 1.5e7.
            assert!((x - exact).abs() <= 1.5e7 * 2f64.powi(-53) * 6.0 * 4_410_000.0, "{x} for {exact}");
        }
    });
}

fn leaf<T: Element>(of: &Buffer<Device, T>) -> Leaf<<Device as isowarp::backend::Backend>::Raw> {
    Leaf::Elements { raw: of.raw().clone(), dtype: T::DTYPE, offset: of.offset(), stride: 1 }
}

fn out<T: Element>(of: &Buffer<Device, T>) -> Out<<Device as isowarp::backend::Backend>::Raw> {
    Out { raw: of.raw().clone(), dtype: T::DTYPE, offset: of.offset() }
}

#[test]
fn blocks_of_any_width_and_shared_memory_give_the_same_bits() {
    let dense = |rows: u64, columns: u64| Steps { row: columns, column: 1, batch: rows * columns };
    for (n, rights, batch) in [(9u64, 2u64, 3u64), (50, 3, 2), (97, 1, 1)] {
        let (x, y) = (uniform(n * n * batch, 11), uniform(n * rights * batch, 12));
        each(|d| {
            let (a, b) = (d.upload(&x).unwrap(), d.upload(&y).unwrap());
            let heavy = d.map((index(), &a), move |(i, a)| a + select((i % (n * n) as u32 % (n as u32 + 1)).eq(0), n as f32, 0.0)).unwrap();
            let kinds = [
                (SolveKind::Solve, n * rights),
                (SolveKind::Inverse, n * n),
                (SolveKind::Lu, n * n),
                (SolveKind::Cholesky, n * n),
                (SolveKind::Determinant, 1),
                (SolveKind::Triangular { upper: true, unit: false }, n * rights),
                (SolveKind::Triangular { upper: false, unit: true }, n * rights),
            ];
            for (kind, values) in kinds {
                let of = |block: u64| {
                    let results = d.buffer::<f32>(values * batch).unwrap();
                    let (permutation, status) = (d.buffer::<u32>(n * batch).unwrap(), d.buffer::<u32>(batch).unwrap());
                    let (a_steps, b_steps) = (dense(n, n), dense(n, rights));
                    let (dtype, pivoting) = (DType::F32, Pivoting::Partial);
                    let task = SolveTask { kind, pivoting, dtype, n, rights, batch, a_steps, b_steps, x_steps: b_steps, block };
                    let outs = match kind {
                        SolveKind::Lu => vec![out(&results), out(&permutation), out(&status)],
                        SolveKind::Determinant => vec![out(&results)],
                        _ => vec![out(&results), out(&status)],
                    };
                    let leaves = match kind {
                        SolveKind::Solve | SolveKind::Triangular { .. } => vec![leaf(&heavy), leaf(&b)],
                        _ => vec![leaf(&heavy)],
                    };
                    d.run(&task, &leaves, &outs).unwrap();
                    bits(&results)
                };
                let expected = of(0);
                for block in [1, 7, 32, 64] {
                    assert!(of(block) == expected, "{kind:?} of {n} in blocks of {block}");
                }
            }
        });
    }
}

#[test]
fn a_system_alone_is_that_of_a_batch_and_singular_ones_disturb_nobody() {
    for n in [6u64, 70] {
        let batch = 5u64;
        let mut x = uniform(n * n * batch, 13);
        let y = uniform(n * batch, 14);
        let size = (n * n) as usize;
        // The second system is zero, the fourth has a NaN, the fifth an infinity.
        x[size..2 * size].fill(0.0);
        x[3 * size] = f32::NAN;
        x[4 * size + 2] = f32::INFINITY;
        each(|d| {
            let (a, b) = (d.upload(&x).unwrap(), d.upload(&y).unwrap());
            let (all, statuses) = d.solve(matrix(&a, n, n).batch(batch), matrix(&b, n, 1).batch(batch)).run().unwrap();
            let (all, statuses) = (bits(&all), statuses.read_blocking().unwrap());
            for p in 0..batch {
                let (a, b) = (a.slice(p * n * n..(p + 1) * n * n).unwrap(), b.slice(p * n..(p + 1) * n).unwrap());
                let (alone, status) = d.solve(matrix(&a, n, n), matrix(&b, n, 1)).run().unwrap();
                assert_eq!(bits(&alone), all[(p * n) as usize..][..n as usize], "system {p} of {n}");
                assert_eq!(status.read_blocking().unwrap(), [statuses[p as usize]]);
            }
            assert_eq!((statuses[0], statuses[1], statuses[2], statuses[3]), (0, 1, 0, 1));
            assert!(statuses[4] > 0);
            let is_nan = |p: u64| all[(p * n) as usize..][..n as usize].iter().all(|&x| x == 0x7fc0_0000);
            assert_eq!([0, 1, 2, 3, 4].map(is_nan), [false, true, false, true, true]);
            let determinants = d.determinant(matrix(&a, n, n).batch(batch)).run().unwrap().read_blocking().unwrap();
            assert!(determinants[0] != 0.0 && determinants[1].to_bits() == 0 && determinants[3].to_bits() == 0x7fc0_0000);
            let (_, sound) = d.cholesky(matrix(&a, n, n).batch(batch)).run().unwrap();
            assert_eq!(sound.read_blocking().unwrap()[1], 1);
            // A triangle with a zero on its diagonal.
            let (x, found) = d.triangular_solve(matrix(&a, n, n).batch(batch), matrix(&b, n, 1).batch(batch)).run().unwrap();
            assert_eq!(found.read_blocking().unwrap()[..4], [0, 1, 0, 1]);
            assert!(bits(&x)[n as usize..][..n as usize].iter().all(|&x| x == 0x7fc0_0000));
        });
    }
}

#[test]
fn systems_that_do_not_fit_are_refused_and_nothing_is_written() {
    each(|d| {
        let (a, b) = (d.upload(&[1.0f32; 18]).unwrap(), d.upload(&[1.0f32; 6]).unwrap());
        let (x, status) = (d.upload(&[5.0f32; 18]).unwrap(), d.upload(&[5u32; 9]).unwrap());
        let m = |rows, columns| matrix(&a, rows, columns);
        let solve = |a, b| d.solve(a, b).write_to((&x, &status)).unwrap_err();
        assert!(matches!(solve(m(3, 2), matrix(&b, 3, 1)), Error::LengthMismatch { expected: 3, found: 2, .. }));
        assert!(matches!(solve(m(3, 3), matrix(&b, 2, 1)), Error::LengthMismatch { expected: 3, found: 2, .. }));
        assert!(matches!(solve(m(3, 3).batch(2), matrix(&b, 3, 1).batch(1)), Error::LengthMismatch { .. }));
        assert!(matches!(solve(m(3, 3).batch(3), matrix(&b, 3, 1)), Error::BufferTooSmall { required: 27, available: 18, .. }));
        assert!(matches!(solve(m(3, 3), matrix(&b, 3, 3)), Error::BufferTooSmall { required: 9, available: 6, .. }));
        for step in [0, 2] {
            assert!(matches!(solve(m(3, 3).leading(step), matrix(&b, 3, 1)), Error::InvalidArgument { .. }));
        }
        let refused = |result: Result<(), Error>| result.unwrap_err();
        let short = d.solve(m(3, 3), matrix(&b, 3, 2)).write_to((&x.slice(..5).unwrap(), &status));
        assert!(matches!(refused(short), Error::BufferTooSmall { required: 6, .. }));
        let over = d.solve(m(3, 3), matrix(&b, 3, 1)).write_to((&a.slice(4..8).unwrap(), &status));
        assert!(matches!(refused(over), Error::Aliasing { .. }));
        assert!(matches!(refused(d.inverse(m(3, 3)).write_to((&a, &status))), Error::Aliasing { .. }));
        let both = d.lu(m(2, 2)).write_to((&x, &status.slice(..2).unwrap(), &status.slice(1..).unwrap()));
        assert!(matches!(refused(both), Error::Aliasing { .. }));
        assert!(matches!(refused(d.lu(m(2, 2)).pivoting(Pivoting::Full).write_to((&x, &status, &status))), Error::InvalidArgument { .. }));
        assert!(matches!(refused(d.determinant(m(2, 3)).write_to(&x)), Error::LengthMismatch { .. }));
        let right = d.triangular_solve(m(3, 3), matrix(&b, 3, 2)).right().write_to((&x, &status));
        assert!(matches!(refused(right), Error::LengthMismatch { expected: 3, found: 2, .. }));
        assert!(matches!(refused(d.determinant(m(1 << 33, 1 << 33)).write_to(&x)), Error::TooLarge { .. } | Error::BufferTooSmall { .. }));
        assert_eq!(x.read_blocking().unwrap(), [5.0; 18]);
        assert_eq!((a.read_blocking().unwrap(), status.read_blocking().unwrap()), (vec![1.0; 18], vec![5; 9]));
        // Matrices of nothing.
        let (none, one) = (d.upload::<f32>(&[]).unwrap(), d.determinant(matrix(&a, 0, 0).batch(2)).run().unwrap());
        assert_eq!(one.read_blocking().unwrap(), [1.0, 1.0]);
        let (x, status) = d.solve(matrix(&none, 0, 0).batch(2), matrix(&none, 0, 1).batch(2)).run().unwrap();
        assert_eq!((x.len(), status.read_blocking().unwrap()), (0, vec![0, 0]));
    });
}

/// A device that ends long loops refuses what it would cut.
#[test]
fn long_eliminations_and_triangles_are_whole_or_refused() {
    let rest = |n: usize, rights: usize, d: &Device, cpu: &Device| {
        let run = |d: &Device| {
            let (a, b) = (d.upload(&uniform(n * n, 7)).unwrap(), d.upload(&uniform(n * rights, 8)).unwrap());
            let call = d.solve(matrix(&a, n as u64, n as u64), matrix(&b, n as u64, rights as u64));
            call.pivoting(Pivoting::Full).run().map(|(x, _)| bits(&x))
        };
        match run(d) {
            Ok(found) => assert_eq!(found, run(cpu).unwrap(), "{n} x {n} with {rights}"),
            Err(e) => {
                assert!(matches!(e, Error::TooLarge { .. }) && d.caps().loop_turns.is_some() && n * rights > 200, "{n}, {rights}: {e}");
            }
        }
    };
    let cpu = cpu();
    let n = 4200u64;
    let mut lower = uniform(n * n, 9);
    lower.iter_mut().enumerate().for_each(|(at, v)| *v = if at as u64 / n == at as u64 % n { 2.0 } else { *v * 0.02 });
    let triangle = |d: &Device| {
        let (a, b) = (d.upload(&lower).unwrap(), d.upload(&uniform(n * 64, 10)).unwrap());
        bits(&d.triangular_solve(matrix(&a, n, n), matrix(&b, n, 64)).run().unwrap().0)
    };
    let expected = triangle(&cpu);
    each(|d| {
        for (n, rights) in [(190, 1), (230, 1), (58, 30_000), (2, 1_100_000)] {
            rest(n, rights, d, &cpu);
        }
        assert!(triangle(d) == expected, "a triangle of {n}");
    });
}
