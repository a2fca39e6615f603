//! Products of random shapes: a row, a column and a product of a batch have the bits that they have alone, on every device.

use crate::common::{bits, each, each_with, gpus, uniform};
use crate::product::chains;
use half::{bf16, f16};
use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::buffer::Buffer;
use isowarp::element::{Element, Scalar};
use isowarp::minifloat::BF16;
use isowarp::patterns::ProductOrder;
use isowarp::patterns::product::Factor;
use isowarp::prelude::*;
use isowarp_conformance::data::{self, Fill};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

/// A product, and the places that are looked at by themselves.
#[derive(Clone, Debug)]
struct Case {
    /// Rows, columns, terms and products.
    shape: [u64; 4],
    /// Flag: all products have the same right matrix.
    shares: bool,
    /// Flags: the left matrices, and the right ones, are transposes of what lies in memory.
    turned: [bool; 2],
    fill: Fill,
    seed: u64,
    product: Index,
    rows: [Index; 2],
    columns: [Index; 2],
}

/// Shapes of one tile and of a few, those with sums of several blocks, and long rows: how many of each are looked at.
fn shapes() -> [(u32, BoxedStrategy<[u64; 4]>); 4] {
    [
        (1, (257u64..300, 1024u64..1100, 513u64..600).prop_map(|(m, n, k)| [m, n, k, 1]).boxed()),
        (7, (1u64..131, 1u64..131, 1u64..131, 1u64..4).prop_map(|(m, n, k, batch)| [m, n, k, batch]).boxed()),
        (3, (1u64..25, 1u64..25, 513u64..1200, 1u64..3).prop_map(|(m, n, k, batch)| [m, n, k, batch]).boxed()),
        (2, (1u64..12, 1u64..12, 1u64..3).prop_map(|(m, k, batch)| [m, 4096, k, batch]).boxed()),
    ]
}

fn cases(shapes: impl Strategy<Value = [u64; 4]>) -> impl Strategy<Value = Case> {
    let fill = prop_oneof![2 => Just(Fill::Plain), 3 => Just(Fill::Cancel), 1 => Just(Fill::Wide)];
    let places = (any::<Index>(), any::<[Index; 2]>(), any::<[Index; 2]>());
    let forms = (any::<bool>(), any::<[bool; 2]>());
    (shapes, forms, fill, any::<u64>(), places).prop_map(|(shape, (shares, turned), fill, seed, (product, rows, columns))| Case {
        shape,
        shares,
        turned,
        fill,
        seed,
        product,
        rows,
        columns,
    })
}

/// The elements' bits.
fn words<T: Scalar + Element>(x: &Buffer<Device, T>) -> Vec<u64> {
    x.read_blocking().unwrap().into_iter().map(Scalar::to_bits64).collect()
}

/// So many matrices one after the other, each as its transpose.
fn transposes<T: Copy>(x: &[T], rows: u64, columns: u64) -> Vec<T> {
    let of = |matrix: &[T]| (0..rows * columns).map(|at| matrix[(at % rows * columns + at / rows) as usize]).collect::<Vec<_>>();
    x.chunks_exact((rows * columns) as usize).flat_map(of).collect()
}

/// Compares parts of a product with the products of those parts.
fn parts_are_those_alone<T: Element<Reg: Factor>>(d: &Device, order: ProductOrder, case: &Case) -> TestCaseResult {
    let [m, n, k, batch] = case.shape;
    let a = data::data::<T>(case.fill, m * k * batch, case.seed);
    let b = data::data::<T>(case.fill, k * n * if case.shares { 1 } else { batch }, !case.seed);
    let [left, right] = [(&a, m, k, case.turned[0]), (&b, k, n, case.turned[1])]
        .map(|(x, rows, columns, turned)| d.upload(&if turned { transposes(x, rows, columns) } else { x.clone() }).unwrap());
    let (a, b) = (d.upload(&a).unwrap(), d.upload(&b).unwrap());
    let left = if case.turned[0] { matrix(&left, k, m).batch(batch).transposed() } else { matrix(&left, m, k).batch(batch) };
    let right = if case.turned[1] { matrix(&right, n, k) } else { matrix(&right, k, n) };
    let right = if case.shares { right } else { right.batch(batch) };
    let right = if case.turned[1] { right.transposed() } else { right };
    let all = words(&d.gemm(left, right).order(order).run().unwrap());
    let p = case.product.index(batch as usize) as u64;
    let of_b = if case.shares { 0 } else { p * k * n };
    let (a, b) = (a.slice(p * m * k..(p + 1) * m * k).unwrap(), b.slice(of_b..of_b + k * n).unwrap());
    let all = &all[(p * m * n) as usize..((p + 1) * m * n) as usize];
    let alone = words(&d.gemm(matrix(&a, m, k), matrix(&b, k, n)).order(order).run().unwrap());
    prop_assert!(alone == all, "{order:?}: product {p}");
    let row = |i: u64| a.slice(i * k..(i + 1) * k).unwrap();
    let column = |j: u64| b.slice(j..).unwrap();
    let [rows, columns] = [(case.rows, m), (case.columns, n)].map(|(at, len)| at.map(|at| at.index(len as usize) as u64));
    for i in rows {
        let alone = words(&d.gemm(matrix(&row(i), 1, k), matrix(&b, k, n)).order(order).run().unwrap());
        prop_assert!(alone == all[(i * n) as usize..((i + 1) * n) as usize], "{order:?}: row {i} of product {p}");
    }
    for j in columns {
        let alone = words(&d.gemm(matrix(&a, m, k), matrix(&column(j), k, 1).steps(n, 1)).order(order).run().unwrap());
        prop_assert!(alone.iter().eq(all[j as usize..].iter().step_by(n as usize)), "{order:?}: column {j} of product {p}");
    }
    let [[i, _], [j, _]] = [rows, columns];
    let alone = words(&d.gemm(matrix(&row(i), 1, k), matrix(&column(j), k, 1).steps(n, 1)).order(order).run().unwrap());
    prop_assert_eq!(alone, [all[(i * n + j) as usize]], "{:?}: element ({}, {}) of product {}", order, i, j, p);
    Ok(())
}

/// Looks at so many random products of a type, in each of these orders, and at the smallest that is wrong.
fn look_at<T: Element<Reg: Factor>>(orders: &[ProductOrder], count: u32, shapes: &BoxedStrategy<[u64; 4]>) {
    each_with(&[T::DTYPE], |d| {
        for &order in orders {
            let mut runner = TestRunner::new(Config { cases: count, failure_persistence: None, ..Config::default() });
            let done = runner.run(&cases(shapes.clone()), |case| parts_are_those_alone::<T>(d, order, &case));
            assert!(done.is_ok(), "{} on {}: {}", T::DTYPE, d.describe(), done.unwrap_err());
        }
    });
}

fn parts_of_any_shape_are_those_alone<T: Element<Reg: Factor>>(orders: &[ProductOrder]) {
    for (count, shapes) in shapes() {
        look_at::<T>(orders, count, &shapes);
    }
}

#[test]
fn parts_of_products_of_f32_are_those_alone_whatever_the_shape() {
    parts_of_any_shape_are_those_alone::<f32>(&[ProductOrder::Blocks, ProductOrder::Chain]);
}

#[test]
fn parts_of_fixed_point_products_are_those_alone_whatever_the_shape() {
    parts_of_any_shape_are_those_alone::<f32>(&[ProductOrder::Fixed30]);
}

#[test]
fn parts_of_products_of_f64_are_those_alone_whatever_the_shape() {
    parts_of_any_shape_are_those_alone::<f64>(&[ProductOrder::Blocks]);
}

#[test]
fn parts_of_products_of_stored_f16_are_those_alone_whatever_the_shape() {
    parts_of_any_shape_are_those_alone::<f16>(&[ProductOrder::Blocks, ProductOrder::Chain]);
}

#[test]
fn parts_of_products_of_bytes_are_those_alone_whatever_the_shape() {
    parts_of_any_shape_are_those_alone::<i8>(&[ProductOrder::Blocks, ProductOrder::Chain]);
    parts_of_any_shape_are_those_alone::<u8>(&[ProductOrder::Blocks]);
}

/// Tiles are so many here that the blocks of a sum are not computed apart, as those of one row or column are.
#[test]
fn parts_of_a_hundred_products_of_many_terms_are_those_alone() {
    let shapes = (9u64..14, 9u64..14, 513u64..560, 97u64..101).prop_map(|(m, n, k, batch)| [m, n, k, batch]);
    look_at::<f32>(&[ProductOrder::Blocks], 1, &shapes.boxed());
}

#[test]
fn results_are_stored_by_rows_or_columns_and_batches_apart() {
    for (m, n, k) in [(70u64, 36u64, 520u64), (1, 9, 5), (9, 1, 5), (5, 4, 700), (1, 1, 3), (64, 128, 0), (130, 260, 1030)] {
        let batch = 3;
        each(|d| {
            let (a, b) = (d.upload(&uniform(batch * m * k, 7)).unwrap(), d.upload(&uniform(batch * k * n, 8)).unwrap());
            let call = || d.gemm(matrix(&a, m, k).batch(batch), matrix(&b, k, n).batch(batch));
            for order in [ProductOrder::Blocks, ProductOrder::Chain, ProductOrder::Fixed30] {
                let plain = bits(&call().order(order).run().unwrap());
                for (row, column, step) in
                    [(1, m, m * n), (1, m + 3, n * (m + 3)), (1, m + 1, n * (m + 1) + 5), (n, 1, m * n + 7), (n + 2, 1, m * (n + 2) + 1)]
                {
                    let out = d.upload(&vec![9.0f32; (batch * step) as usize]).unwrap();
                    call().order(order).steps(row, column).batch_step(step).write_to(&out).unwrap();
                    let mut expected = vec![9.0f32.to_bits(); (batch * step) as usize];
                    for (at, &value) in plain.iter().enumerate() {
                        let (p, i, j) = (at as u64 / (m * n), at as u64 % (m * n) / n, at as u64 % n);
                        expected[(p * step + i * row + j * column) as usize] = value;
                    }
                    assert_eq!(bits(&out), expected, "{m} x {n}, {k} terms, {order:?}, steps {row}, {column}, {step}");
                }
            }
            // The next matrix follows the last column.
            let by_columns = call().steps(1, m + 2).run().unwrap();
            assert_eq!(by_columns.len(), (batch - 1) * n * (m + 2) + (n - 1) * (m + 2) + m);
            // An operator of the results, and inputs at their indices.
            let old = d.upload(&uniform(batch * m * n, 9)).unwrap();
            let by_columns = call()
                .steps(1, m)
                .add(0.5, &old)
                .finish(|c| (c * 100.0).cast::<i32>().store_as::<i16>())
                .run()
                .unwrap()
                .read_blocking()
                .unwrap();
            let turned = d.gemm(matrix(&b, k, n).batch(batch).transposed(), matrix(&a, m, k).batch(batch).transposed());
            assert_eq!(
                by_columns,
                turned.add(0.5, &old).finish(|c| (c * 100.0).cast::<i32>().store_as::<i16>()).run().unwrap().read_blocking().unwrap()
            );
        });
    }
}

#[test]
fn products_with_a_vector_are_stored_with_a_step() {
    each(|d| {
        let (a, x) = (d.upload(&uniform(20 * 30, 3)).unwrap(), d.upload(&uniform(30, 4)).unwrap());
        let plain = bits(&d.gemv(matrix(&a, 20, 30), &x).run().unwrap());
        let out = d.upload(&[2.0f32; 58]).unwrap();
        d.gemv(matrix(&a, 20, 30), &x).steps(3, 7).write_to(&out).unwrap();
        for (i, found) in bits(&out).into_iter().enumerate() {
            assert_eq!(found, if i % 3 == 0 { plain[i / 3] } else { 2.0f32.to_bits() });
        }
    });
}

#[test]
fn fixed_point_products_of_many_matrices_or_a_row_take_no_more_memory_than_there_is() {
    each(|d| {
        let of = |x: &[f32], y: &[f32], [m, k, n, batch]: [u64; 4], shares: bool| {
            let (a, b) = (d.upload(x).unwrap(), d.upload(y).unwrap());
            let b = if shares { matrix(&b, k, n) } else { matrix(&b, k, n).batch(batch) };
            bits(&d.gemm(matrix(&a, m, k).batch(batch), b).order(ProductOrder::Fixed30).run().unwrap())
        };
        // A row of each product, where their elements are no vectors of four.
        let (rows, right) = (uniform(5 * 8, 1), uniform(8 * 6, 2));
        let found = of(&rows, &right, [1, 8, 6, 5], true);
        let alone: Vec<u32> = rows.chunks(8).flat_map(|row| of(row, &right, [1, 8, 6, 1], true)).collect();
        assert_eq!(found, alone);
        // Digits of more products than are seen at once.
        let batch = 9000;
        let (x, y) = (uniform(batch * 6, 3), uniform(batch * 4, 4));
        let found = of(&x, &y, [3, 2, 2, batch], false);
        for at in [0, 4095, 8000, batch as usize - 1] {
            assert_eq!(found[6 * at..][..6], of(&x[6 * at..][..6], &y[4 * at..][..4], [3, 2, 2, 1], false), "{at}");
        }
        let k = 1 << 17;
        let whole: Vec<f32> = (0..k).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        assert_eq!(of(&whole, &whole, [1, k, 1, 1], true), [(k as f32).to_bits()]);
    });
}

#[test]
fn chains_have_all_their_terms_or_are_refused() {
    each(|d| {
        for [m, k, n] in [[1, 20_000, 1], [4, 20_000, 4], [9, 5000, 9], [70, 5000, 70], [1, 200_000, 1]] {
            let ones = |elements: u64| d.upload(&vec![1.0f32; elements as usize]).unwrap();
            let (a, b) = (ones(m * k), ones(k * n));
            for order in [ProductOrder::Blocks, ProductOrder::Chain, ProductOrder::Fixed30] {
                match d.gemm(matrix(&a, m, k), matrix(&b, k, n)).order(order).run() {
                    Ok(found) => assert!(found.read_blocking().unwrap().iter().all(|&x| x == k as f32), "{order:?} {m} {k} {n}"),
                    Err(e) => assert!(
                        matches!(e, isowarp::Error::TooLarge { .. }) && d.caps().loop_turns.is_some() && order != ProductOrder::Blocks,
                        "{order:?} {m} {k} {n}: {e}"
                    ),
                }
            }
        }
    });
}

#[test]
fn factors_of_bf16_and_rows_that_a_buffer_names_are_chains_of_their_values() {
    let [m, n, k] = [21usize, 18, 1100];
    let narrow = |seed| uniform(m.max(n) * k, seed).into_iter().map(bf16::from_f32).collect::<Vec<_>>();
    let (x, y, named) = (narrow(11), narrow(12), [3u32, 0, 20, 3, 19]);
    let expected = chains(|i, q| x[i * k + q].to_f32(), |q, j| y[q * n + j].to_f32(), [m, n, k], 512);
    let of_named: Vec<u32> = named.iter().flat_map(|&row| expected[row as usize * n..][..n].to_vec()).collect();
    let shape = [m as u64, n as u64, k as u64];
    each(|d| {
        let codes = |of: &[bf16]| d.upload(&of.iter().map(|x| x.to_bits()).collect::<Vec<u16>>()).unwrap();
        let (a, b, rows) = (codes(&x), codes(&y), d.upload(&named).unwrap());
        let [m, n, k] = shape;
        let right = || matrix(b.map(|code| BF16.decode(code)), k, n);
        assert_eq!(bits(&d.gemm(matrix(a.map(|code| BF16.decode(code)), m, k), right()).run().unwrap()), expected);
        let across = k as u32;
        let gathered =
            (index(), array(&a), array(&rows)).map(move |(i, a, rows)| BF16.decode(a.at(rows.at(i / across) * across + i % across)));
        assert_eq!(bits(&d.gemm(matrix(gathered, named.len() as u64, k), right()).run().unwrap()), of_named);
    });
}

/// More blocks of terms than loops of a device may have turns.
#[test]
fn blocks_of_terms_are_all_added_or_refused() {
    let k = 34_500_000;
    each(|d| {
        let one = || scalar(1i32);
        match d.gemm(matrix(one(), 1, k).steps(0, 0), matrix(one(), k, 1).steps(0, 0)).run() {
            Ok(found) => assert_eq!(found.read_blocking().unwrap(), [k as i32]),
            Err(e) => assert!(matches!(e, isowarp::Error::TooLarge { .. }) && d.caps().loop_turns.is_some(), "{e}"),
        }
    });
}

/// On devices with large tiles of floats: sums of one chain that are -0, beyond whose terms tiles go on.
#[test]
fn long_chains_that_end_in_minus_zero_keep_it() {
    let [m, k, n] = [2560u64, 260, 1536];
    for d in gpus().into_iter().filter(|d| d.caps().backend == "cuda") {
        let tiny = |elements: u64, value: f32| d.upload(&vec![value; elements as usize]).unwrap();
        let call = d.gemm(matrix(&tiny(m * k, 1e-30), m, k), matrix(&tiny(k * n, -1e-30), k, n)).order(ProductOrder::Chain).run();
        assert!(bits(&call.unwrap()).into_iter().all(|bits| bits == 1 << 31));
    }
}
