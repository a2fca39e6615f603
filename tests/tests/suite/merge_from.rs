//! Merges and searches of inputs: those of the arrays that the inputs stand for, closed forms, and what becomes of bad input.

use crate::common::each;
use isowarp::ir::ArrayExpr;
use isowarp::prelude::*;
use isowarp::{Device, Error, Result};

#[test]
fn merges_and_searches_of_inputs_are_those_of_arrays() {
    each(|d| {
        for (m, n) in [(0, 700), (700, 0), (257, 9001), (5000, 4000)] {
            let noise = d.generate(m, index(), |i| (i * 2_654_435_761) >> 9).unwrap();
            let (order, falling) = (d.argsort(&noise).run().unwrap(), d.generate(n, index(), |i| 0u32 - i * 1000).unwrap());
            let back = falling.reversed();
            let permuted = ((&order, array(&noise)), |(i, x): (Expr<u32>, ArrayExpr<u32>)| x.at(i));
            let computed = ((&back, scalar(9u32), counting(n)), |(x, s, i): (Expr<u32>, Expr<u32>, Expr<u32>)| (x >> s) + i);
            let places = || index().map(|i| i * 3);
            let (a, b) = (d.map(permuted.0.clone(), permuted.1).unwrap(), d.map(computed.0, computed.1).unwrap());
            let same = |found: Result<Buffer<Device, u32>>, expected: Result<Buffer<Device, u32>>| {
                assert!(found.unwrap().read_blocking().unwrap() == expected.unwrap().read_blocking().unwrap(), "{m} and {n}");
            };
            same(d.merge(permuted.0.clone().map(permuted.1), computed.0.map(computed.1)).run(), d.merge(&a, &b).run());
            same(d.merge(computed.0.map(computed.1), permuted.0.clone().map(permuted.1)).run(), d.merge(&b, &a).run());
            same(d.lower_bound(permuted.0.clone().map(permuted.1), computed.0.map(computed.1)).run(), d.lower_bound(&a, &b).run());
            same(d.upper_bound(computed.0.map(computed.1), permuted.0.clone().map(permuted.1)).run(), d.upper_bound(&b, &a).run());
            same(d.count_equal(permuted.0.clone().map(permuted.1), permuted.0.clone().map(permuted.1)).run(), d.count_equal(&a, &a).run());
            let ranks = d.iota(m + n + 3, 0u32, 1).unwrap();
            same(d.co_ranks(permuted.0.map(permuted.1), computed.0.map(computed.1), &ranks).run(), d.co_ranks(&a, &b, &ranks).run());
            let values = |n: u64| d.iota(n, 0u32, 3).unwrap();
            let (keys, found) = d.merge(&a, &b).with_values(places(), places()).run().unwrap();
            let (expected_keys, expected) = d.merge(&a, &b).with_values(&values(m), &values(n)).run().unwrap();
            same(Ok(keys), Ok(expected_keys));
            same(Ok(found), Ok(expected));
        }
    });
}

#[test]
fn the_even_and_the_odd_numbers_merge_to_all() {
    each(|d| {
        for n in [1, 2, 3839, 3841, 4353, 100_001] {
            let all = d.merge(counting(n - n / 2).map(|i| i * 2), counting(n / 2).map(|i| i * 2 + 1)).run().unwrap();
            assert!(all.read_blocking().unwrap().into_iter().eq(0..n as u32), "{n}");
        }
    });
}

#[test]
fn roots_are_places_among_squares() {
    each(|d| {
        let n = 1_000_003;
        let roots = d.upper_bound(counting(1 << 16).map(|i| i * i), counting(n).map(|i| i)).run().unwrap().read_blocking().unwrap();
        assert!(roots.into_iter().zip(0..n).all(|(above, x)| u64::from(above - 1) == x.isqrt()));
    });
}

#[test]
fn inputs_of_no_elements_merge_to_nothing_in_any_order() {
    each(|d| {
        let none = d.buffer::<u32>(0).unwrap();
        let by_tens = |a: Expr<u32>, b: Expr<u32>| (a / 10).lt(b / 10);
        let merged = d.merge(none.map(|x| x), counting(0).map(|i| i * 2)).by(by_tens).run().unwrap();
        assert!(merged.read_blocking().unwrap().is_empty());
        let (keys, values) = d.merge(&none, &none).by(by_tens).with_values(index(), index().map(|i| i + 1)).checked().run().unwrap();
        assert_eq!((keys.read_blocking().unwrap(), values.read_blocking().unwrap()), (vec![], vec![]));
        assert_eq!(d.merge(none.map(|x| x), none.map(|x| x)).run().unwrap().len(), 0);
        // Of its kind: others that fetch computed elements, of which there are none.
        let out = d.upload(&[7u32, 8]).unwrap();
        d.scatter(none.map(|x| x + 1), &none).write_to(&out).unwrap();
        d.scatter(none.map(|x| x + 1), none.map(|i| i)).write_to(&out).unwrap();
        assert_eq!(out.read_blocking().unwrap(), [7, 8]);
    });
}

#[test]
fn sets_of_inputs_are_those_of_arrays() {
    each(|d| {
        for (m, n) in [(0, 9), (9, 0), (1000, 777), (20_000, 301)] {
            let x = d.generate(m, index(), |i| i / 3 * 4).unwrap();
            let (a, b) = ((&x, |x: Expr<u32>| x + 8), (counting(n), |i: Expr<u32>| (i >> 1) + (i >> 2)));
            let (p, q) = (d.map(a.0, a.1).unwrap(), d.map(b.0, b.1).unwrap());
            type Found = Result<Selected<Device, Buffer<Device, u32>>>;
            let same = |found: Found, expected: Found| {
                assert!(found.unwrap().read_blocking().unwrap() == expected.unwrap().read_blocking().unwrap(), "{m} and {n}");
            };
            same(d.union(a.0.map(a.1), b.0.map(b.1)).run(), d.union(&p, &q).run());
            same(d.intersection(a.0.map(a.1), b.0.map(b.1)).run(), d.intersection(&p, &q).run());
            same(d.difference(a.0.map(a.1), b.0.map(b.1)).run(), d.difference(&p, &q).run());
            same(d.symmetric_difference(a.0.map(a.1), b.0.map(b.1)).run(), d.symmetric_difference(&p, &q).run());
        }
    });
}

#[test]
fn keys_that_are_passed_on_keep_their_bits_and_computed_ones_have_one_nan() {
    each(|d| {
        let nan = |bits: u32| f32::from_bits(bits);
        let (x, y) = (d.upload(&[nan(0xff80_0001), -0.0, 0.0, nan(0x7fff_ffff)]).unwrap(), d.upload(&[1.0f32, nan(0x7fc0_0123)]).unwrap());
        let merged = d.merge(x.map(|x| x), y.map(|y| y + 1.0)).run().unwrap().read_blocking().unwrap();
        let bits: Vec<u32> = merged.into_iter().map(f32::to_bits).collect();
        assert_eq!(bits, [0xff80_0001, 0x8000_0000, 0, 0x4000_0000, 0x7fc0_0000, 0x7fff_ffff]);
    });
}

#[test]
fn inputs_that_are_not_sorted_do_no_harm_elsewhere() {
    each(|d| {
        for n in [100, 20_000] {
            let noise = |seed: u32| move |i: Expr<u32>| ((i + seed) * 2_654_435_761) >> 3;
            let (out, values) = (d.iota(2 * n + 20, 7u32, 0).unwrap(), d.iota(2 * n + 20, 7u32, 0).unwrap());
            let inside = |x: &Buffer<Device, u32>| x.slice(10..2 * n + 10).unwrap();
            let (a, b) = ((counting(n), noise(1)), (counting(n), noise(1 << 20)));
            let merge = d.merge(a.0.map(a.1), b.0.map(b.1)).with_values(index(), index());
            merge.write_to((&inside(&out), &inside(&values))).unwrap();
            for x in [&out, &values] {
                let x = x.read_blocking().unwrap();
                assert!(x[..10].iter().chain(&x[x.len() - 10..]).all(|&v| v == 7));
            }
            for found in [
                d.lower_bound(a.0.map(a.1), b.0.map(b.1)).run(),
                d.upper_bound(a.0.map(a.1), b.0.map(b.1)).run(),
                d.count_equal(a.0.map(a.1), b.0.map(b.1)).run(),
            ] {
                assert!(found.unwrap().read_blocking().unwrap().iter().all(|&at| u64::from(at) <= n));
            }
        }
    });
}

#[test]
fn merges_of_inputs_refuse_what_does_not_fit() {
    each(|d| {
        let x = d.iota(100, 0u32, 1).unwrap();
        let (low, high) = (x.slice(..40).unwrap(), x.slice(40..).unwrap());
        let (out, small) = (d.iota(100, 7u32, 0).unwrap(), d.iota(99, 7u32, 0).unwrap());
        let same = |x: Expr<u32>| x;
        let (a, b) = ((&low, same), (&high, same));
        // Buffers that an input reads, by elements or at computed indices.
        assert!(matches!(d.merge(a.0.map(a.1), b.0.map(b.1)).write_to(&x), Err(Error::Aliasing { .. })));
        let fetched = ((counting(40), array(&out)), |(i, all): (Expr<u32>, ArrayExpr<u32>)| all.at(i));
        assert!(matches!(d.merge(fetched.0.clone().map(fetched.1), b.0.map(b.1)).write_to(&out), Err(Error::Aliasing { .. })));
        assert!(matches!(d.lower_bound(a.0.map(a.1), b.0.map(b.1)).write_to(&high), Err(Error::Aliasing { .. })));
        assert!(matches!(d.co_ranks(a.0.map(a.1), b.0.map(b.1), &low).write_to(&high), Err(Error::Aliasing { .. })));
        let pairs = d.merge(low.map(same), high.map(same)).with_values(low.map(same), high.map(same));
        assert!(matches!(pairs.write_to((&out, &out)), Err(Error::Aliasing { .. })));
        assert!(matches!(
            d.merge(a.0.map(a.1), b.0.map(b.1)).write_to(&small),
            Err(Error::BufferTooSmall { required: 100, available: 99, .. })
        ));
        assert!(matches!(d.upper_bound(a.0.map(a.1), x.map(same)).write_to(&small), Err(Error::BufferTooSmall { .. })));
        let unequal = ((&low, &high), |(x, y): (Expr<u32>, Expr<u32>)| x + y);
        assert!(matches!(
            d.merge(unequal.0.map(unequal.1), b.0.map(b.1)).write_to(&out),
            Err(Error::LengthMismatch { expected: 40, found: 60, .. })
        ));
        assert!(matches!(d.merge(scalar(1u32).map(same), b.0.map(b.1)).write_to(&out), Err(Error::InvalidArgument { .. })));
        let escaped = std::cell::Cell::new(None);
        d.map(&low, |x| {
            escaped.set(Some(x));
            x
        })
        .unwrap();
        assert!(matches!(d.merge(low.map(|x| escaped.get().unwrap_or(x)), b.0.map(b.1)).write_to(&out), Err(Error::Op(_))));
        let count = d.iota(1, 7u32, 0).unwrap();
        assert!(matches!(d.union(a.0.map(a.1), b.0.map(b.1)).write_to((&small, &count)), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.difference(a.0.map(a.1), b.0.map(b.1)).write_to((&high, &count)), Err(Error::Aliasing { .. })));
        assert!(matches!(d.intersection(a.0.map(a.1), b.0.map(b.1)).write_to((&out, &out)), Err(Error::Aliasing { .. })));
        assert_eq!(count.read_blocking().unwrap(), [7]);
        let far = (counting(1 << 33), same);
        assert!(matches!(d.lower_bound(far.0.map(far.1), b.0.map(b.1)).write_to(&out), Err(Error::TooLarge { .. })));
        assert_eq!((out.read_blocking().unwrap(), small.read_blocking().unwrap()), (vec![7; 100], vec![7; 99]));
        assert!(x.read_blocking().unwrap().into_iter().eq(0..100));
    });
}
