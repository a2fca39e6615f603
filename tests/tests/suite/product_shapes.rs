//! Products of random shapes: a row, a column and a product of a batch have the bits that they have alone, on every device.

use crate::common::each_with;
use half::f16;
use isowarp::Device;
use isowarp::buffer::Buffer;
use isowarp::element::{Element, Scalar};
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
    fill: Fill,
    seed: u64,
    product: Index,
    rows: [Index; 2],
    columns: [Index; 2],
}

/// Shapes of one tile and of a few, those with sums of several blocks, and long rows: how many of each are looked at.
fn shapes() -> [(u32, BoxedStrategy<[u64; 4]>); 3] {
    [
        (7, (1u64..131, 1u64..131, 1u64..131, 1u64..4).prop_map(|(m, n, k, batch)| [m, n, k, batch]).boxed()),
        (3, (1u64..25, 1u64..25, 513u64..1200, 1u64..3).prop_map(|(m, n, k, batch)| [m, n, k, batch]).boxed()),
        (2, (1u64..12, 1u64..12, 1u64..3).prop_map(|(m, k, batch)| [m, 4096, k, batch]).boxed()),
    ]
}

fn cases(shapes: impl Strategy<Value = [u64; 4]>) -> impl Strategy<Value = Case> {
    let fill = prop_oneof![2 => Just(Fill::Plain), 3 => Just(Fill::Cancel), 1 => Just(Fill::Wide)];
    let places = (any::<Index>(), any::<[Index; 2]>(), any::<[Index; 2]>());
    (shapes, any::<bool>(), fill, any::<u64>(), places).prop_map(|(shape, shares, fill, seed, (product, rows, columns))| Case {
        shape,
        shares,
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

/// Compares parts of a product with the products of those parts.
fn parts_are_those_alone<T: Element<Reg: Factor>>(d: &Device, order: ProductOrder, case: &Case) -> TestCaseResult {
    let [m, n, k, batch] = case.shape;
    let a = d.upload(&data::data::<T>(case.fill, m * k * batch, case.seed)).unwrap();
    let b = d.upload(&data::data::<T>(case.fill, k * n * if case.shares { 1 } else { batch }, !case.seed)).unwrap();
    let right = if case.shares { matrix(&b, k, n) } else { matrix(&b, k, n).batch(batch) };
    let all = words(&d.gemm(matrix(&a, m, k).batch(batch), right).order(order).run().unwrap());
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
}

/// Tiles are so many here that the blocks of a sum are not computed apart, as those of one row or column are.
#[test]
fn parts_of_a_hundred_products_of_many_terms_are_those_alone() {
    let shapes = (9u64..14, 9u64..14, 513u64..560, 97u64..101).prop_map(|(m, n, k, batch)| [m, n, k, batch]);
    look_at::<f32>(&[ProductOrder::Blocks], 1, &shapes.boxed());
}
