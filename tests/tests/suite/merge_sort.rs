//! Sorts and merges by an order of the caller's against the standard library's stable sort, and what becomes of bad input and of orders that are none.

use crate::common::each;
use isowarp::backend::Backend as _;
use isowarp::element::DType;
use isowarp::prelude::*;
use isowarp::{Device, Error};
use isowarp_conformance::data::{self, Fill};

/// Of no pass, one, two and three.
const LENGTHS: [u64; 8] = [0, 1, 2, 300, 4096, 5000, 12_300, 20_011];

/// Keys of `n` and their numbers, in the order of `before`.
fn sorted<K: Copy>(keys: &[K], before: impl Fn(K, K) -> bool) -> (Vec<K>, Vec<u32>) {
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    let at = |i: u32| keys[i as usize];
    order.sort_by(|&a, &b| match (before(at(a), at(b)), before(at(b), at(a))) {
        (true, _) => std::cmp::Ordering::Less,
        (_, true) => std::cmp::Ordering::Greater,
        _ => std::cmp::Ordering::Equal,
    });
    (order.iter().map(|&i| at(i)).collect(), order)
}

#[test]
fn sorts_by_an_order_are_the_standard_librarys() {
    each(|d| {
        for n in LENGTHS {
            let keys: Vec<u32> = data::data(Fill::Plain, n, 1);
            let (expected, order) = sorted(&keys, |a, b| a % 10 < b % 10);
            let x = d.upload(&keys).unwrap();
            assert!(d.sort(&x).by(|a, b| (a % 10).lt(b % 10)).run().unwrap().read_blocking().unwrap() == expected, "{n}");
            assert!(d.argsort(&x).by(|a, b| (a % 10).lt(b % 10)).run().unwrap().read_blocking().unwrap() == order, "{n}");
            // Values of any size come with their keys.
            let bytes: Vec<u8> = (0..n).map(|i| (i * 7) as u8).collect();
            let wide: Vec<u64> = (0..n).map(|i| i * i).collect();
            let by = |a: Expr<u32>, b: Expr<u32>| (a % 10).lt(b % 10);
            let (k, v) = d.sort(&x).with_values(&d.upload(&bytes).unwrap()).by(by).run().unwrap();
            assert!(k.read_blocking().unwrap() == expected, "{n}");
            assert!(v.read_blocking().unwrap().into_iter().eq(order.iter().map(|&i| bytes[i as usize])), "{n}");
            if d.caps().supports(DType::U64) {
                let (k, v) = (d.upload(&keys).unwrap(), d.upload(&wide).unwrap());
                d.sort(&k).with_values(&v).by(by).in_place().unwrap();
                assert!(k.read_blocking().unwrap() == expected, "{n}");
                assert!(v.read_blocking().unwrap().into_iter().eq(order.iter().map(|&i| wide[i as usize])), "{n}");
            }

            let (lent, out) = (|| d.iota(n, 9u32, 0).unwrap(), d.iota(n, 9u32, 0).unwrap());
            d.argsort(&x).by(by).scratch(([&lent(), &lent()], &lent())).write_to(&out).unwrap();
            assert!(out.read_blocking().unwrap() == order, "{n}");
            let numbers = d.iota(n, 0u32, 1).unwrap();
            let (k, v) = (lent(), lent());
            d.sort(&x).with_values(&numbers).by(by).scratch((&lent(), &lent())).write_to((&k, &v)).unwrap();
            assert!(k.read_blocking().unwrap() == expected && v.read_blocking().unwrap() == order, "{n}");
            if d.caps().supports(DType::U64) {
                let (lent, out) = ((lent(), d.buffer(n).unwrap()), (k, d.buffer(n).unwrap()));
                d.sort(&x).with_values(&d.upload(&wide).unwrap()).by(by).scratch((&lent.0, &lent.1)).write_to((&out.0, &out.1)).unwrap();
                assert!(out.0.read_blocking().unwrap() == expected, "{n}");
                assert!(out.1.read_blocking().unwrap().into_iter().eq(order.iter().map(|&i| wide[i as usize])), "{n}");
            }

            let floats: Vec<f32> = data::data(Fill::Wide, n, 2);
            let (expected, order) = sorted(&floats, |a, b| a.abs() > b.abs());
            let y = d.upload(&floats).unwrap();
            assert!(d.argsort(&y).by(|a, b| a.abs().gt(b.abs())).run().unwrap().read_blocking().unwrap() == order, "{n}");
            d.sort(&y).by(|a, b| a.abs().gt(b.abs())).in_place().unwrap();
            assert!(y.read_blocking().unwrap() == expected, "{n}");
        }
    });
}

#[test]
fn merges_by_an_order_are_stable_sorts_of_one_array_behind_the_other() {
    each(|d| {
        for (m, n) in [(0, 9), (300, 0), (1000, 1001), (9000, 3), (3, 9000), (5000, 7001)] {
            let last = |k: u32| k % 10;
            let of = |n: u64, seed: u64| sorted(&data::data::<u32>(Fill::Plain, n, seed), |a, b| last(a) < last(b)).0;
            let (a, b) = (of(m, 1), of(n, 2));
            let (expected, order) = sorted(&[a.clone(), b.clone()].concat(), |a, b| last(a) < last(b));
            let (a, b) = (d.upload(&a).unwrap(), d.upload(&b).unwrap());
            let (v, w) = (d.iota(m, 0u32, 1).unwrap(), d.iota(n, m as u32, 1).unwrap());
            let (keys, values) = d.merge(&a, &b).by(|a, b| (a % 10).lt(b % 10)).with_values(&v, &w).run().unwrap();
            assert!(keys.read_blocking().unwrap() == expected && values.read_blocking().unwrap() == order, "{m} and {n}");
        }
    });
}

#[test]
fn orders_that_are_none_do_no_harm_elsewhere() {
    each(|d| {
        for n in [100, 20_000] {
            let x = d.generate(n, index(), |i| (i * 2_654_435_761) >> 3).unwrap();
            let known = x.read_blocking().unwrap();
            let out = d.iota(n + 20, 7u32, 0).unwrap();
            let values = d.iota(n + 20, 7u32, 0).unwrap();
            let inside = |x: &Buffer<Device, u32>| x.slice(10..n + 10).unwrap();
            let order = |a: Expr<u32>, b: Expr<u32>| ((a ^ (b * 40_503)) >> 9 & 1u32).eq(1);
            d.sort(&x).with_values(&x).by(order).write_to((&inside(&out), &inside(&values))).unwrap();
            let (out, values) = (out.read_blocking().unwrap(), values.read_blocking().unwrap());
            for x in [&out, &values] {
                assert!(x[..10].iter().chain(&x[x.len() - 10..]).all(|&v| v == 7));
            }
            // Keys that come out went in, and values stay with their keys.
            let inner = 10..n as usize + 10;
            assert!(out[inner.clone()] == values[inner.clone()]);
            let known: std::collections::HashSet<u32> = known.into_iter().collect();
            assert!(out[inner].iter().all(|k| known.contains(k)));
        }
    });
}

#[test]
fn sorts_by_an_order_refuse_what_does_not_fit() {
    each(|d| {
        let up = |a: Expr<u32>, b: Expr<u32>| a.lt(b);
        let x = d.iota(100, 0u32, 1).unwrap();
        let (low, high) = (x.slice(..40).unwrap(), x.slice(40..).unwrap());
        let (out, small) = (d.iota(100, 7u32, 0).unwrap(), d.iota(99, 7u32, 0).unwrap());
        assert!(matches!(d.sort(&x).by(up).write_to(&small), Err(Error::BufferTooSmall { required: 100, available: 99, .. })));
        assert!(matches!(d.sort(&x).by(up).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x.slice(1..40).unwrap()).by(up).write_to(&x.slice(30..).unwrap()), Err(Error::Aliasing { .. })));
        let (lent, other) = (d.buffer(x.len()).unwrap(), d.buffer(x.len()).unwrap());
        assert!(matches!(d.sort(&x).by(up).scratch(&small).write_to(&out), Err(Error::BufferTooSmall { available: 99, .. })));
        assert!(matches!(d.sort(&x).by(up).scratch(&lent).write_to(&small), Err(Error::BufferTooSmall { what: "the output", .. })));
        assert!(matches!(d.sort(&x).by(up).scratch(&x).write_to(&out), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x).by(up).scratch(&out).write_to(&out), Err(Error::Aliasing { .. })));
        let (pairs, twice) = ((&out, &lent), (&lent, &lent));
        assert!(matches!(
            d.sort(&x).with_values(&x).by(up).scratch((&lent, &small)).write_to(pairs),
            Err(Error::BufferTooSmall { available: 99, .. })
        ));
        assert!(matches!(d.sort(&x).with_values(&x).by(up).scratch(twice).write_to((&out, &other)), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x).with_values(&x).by(up).scratch((&other, &x)).write_to(pairs), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x).with_values(&low).by(up).scratch((&other, &low)).write_to(pairs), Err(Error::LengthMismatch { .. })));
        assert!(matches!(
            d.argsort(&x).by(up).scratch(([&lent, &other], &small)).write_to(&out),
            Err(Error::BufferTooSmall { available: 99, .. })
        ));
        assert!(matches!(d.argsort(&x).by(up).scratch(([&lent, &lent], &other)).write_to(&out), Err(Error::Aliasing { .. })));
        assert!(matches!(d.argsort(&x).by(up).scratch(([&lent, &out], &other)).write_to(&out), Err(Error::Aliasing { .. })));
        assert!(matches!(d.argsort(&x).by(up).write_to(&small), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.argsort(&x).by(up).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x).with_values(&low).by(up).run(), Err(Error::LengthMismatch { expected: 100, found: 40, .. })));
        assert!(matches!(d.sort(&x).with_values(&x).by(up).write_to((&out, &out)), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x).with_values(&x).by(up).in_place(), Err(Error::Aliasing { .. })));
        assert!(matches!(d.merge(&low, &high).by(up).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.merge(&low, &high).by(up).write_to(&small), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(
            d.merge(&low, &high).by(up).with_values(&low, &low).run(),
            Err(Error::LengthMismatch { expected: 60, found: 40, .. })
        ));
        // The same of values that are fetched, whose sort would be enqueued before they are.
        let bytes = d.upload(&[9u8; 100]).unwrap();
        assert!(matches!(
            d.sort(&x).with_values(&bytes).by(up).write_to((&out, &bytes.slice(..99).unwrap())),
            Err(Error::BufferTooSmall { .. })
        ));
        assert!(matches!(d.sort(&x).with_values(&bytes).by(up).write_to((&out, &bytes)), Err(Error::Aliasing { .. })));
        assert!(matches!(
            d.sort(&x).with_values(&bytes.slice(1..).unwrap()).by(up).write_to((&out, &bytes)),
            Err(Error::LengthMismatch { .. })
        ));
        assert_eq!((out.read_blocking().unwrap(), small.read_blocking().unwrap()), (vec![7; 100], vec![7; 99]));
        assert!(x.read_blocking().unwrap().into_iter().eq(0..100));
    });
}
