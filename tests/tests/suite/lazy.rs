//! Inputs that never lie in memory against the same patterns over arrays, and what bad input gets. On every device.

use crate::common::{each, mt19937};
use isowarp::ir::ArrayExpr;
use isowarp::prelude::*;
use isowarp::{Device, Error};

fn words(b: &Buffer<Device, f32>) -> Vec<u32> {
    b.read_blocking().unwrap().into_iter().map(f32::to_bits).collect()
}

#[test]
fn sorts_of_what_is_computed_are_those_of_arrays() {
    for n in [0usize, 1, 2, 300, 20_003] {
        let x = mt19937(51, n);
        each(|d| {
            let (x, order) = (d.upload(&x).unwrap(), d.generate(n as u64, index(), |i| (i * 7) ^ 1).unwrap());
            // Floats of every kind, zipped with what is permuted, reversed and counted.
            let back = x.reversed();
            let inputs = || (permuted(&x, &order), &back, counting(n as u64));
            let f = |(a, b, i): (Expr<u32>, Expr<u32>, Expr<u32>)| (a ^ (b << 3) ^ i).bitcast::<f32>();
            let array = d.map(inputs(), f).unwrap();
            for by in [SortBy::from(SortOrder::Ascending), SortOrder::Descending.bits(5..30)] {
                let expected = d.sort(&array).with_indices().order(by.clone()).run().unwrap();
                assert_eq!(words(&d.sort(inputs().map(f)).order(by.clone()).run().unwrap()), words(&expected.0));
                let places = expected.1.read_blocking().unwrap();
                assert_eq!(d.argsort(inputs().map(f)).order(by.clone()).run().unwrap().read_blocking().unwrap(), places);
                let found = d.sort(inputs().map(f)).with_indices().order(by.clone()).run().unwrap();
                assert_eq!((words(&found.0), found.1.read_blocking().unwrap()), (words(&expected.0), places.clone()));
                let pairs = d.sort(inputs().map(f)).with_values(index().map(|i| i * 3)).order(by.clone()).run().unwrap();
                let tripled: Vec<u32> = places.iter().map(|p| p * 3).collect();
                assert_eq!((words(&pairs.0), pairs.1.read_blocking().unwrap()), (words(&expected.0), tripled));
                let sorted = |x: &Buffer<Device, f32>| d.is_sorted(x).order(by.clone()).run().unwrap().read_blocking().unwrap();
                let sorted_from = d.is_sorted(inputs().map(f)).order(by.clone()).run().unwrap().read_blocking().unwrap();
                assert_eq!(sorted_from, sorted(&array), "{n}");
                assert_eq!(d.is_sorted(permuted(&array, &expected.1)).order(by.clone()).run().unwrap().read_blocking().unwrap(), 1, "{n}");
            }
            let k = n as u64 / 3;
            let expected = d.top_k(&array, k).with_indices().run().unwrap();
            let found = d.top_k(inputs().map(f), k).with_indices().run().unwrap();
            assert_eq!((words(&found.0), found.1.read_blocking().unwrap()), (words(&expected.0), expected.1.read_blocking().unwrap()));
            let last = |a: Expr<f32>, b: Expr<f32>| a.abs().gt(b.abs()) | (b.is_nan() & !a.is_nan());
            assert_eq!(words(&d.sort(inputs().map(f)).by(last).run().unwrap()), words(&d.sort(&array).by(last).run().unwrap()));
            let expected = d.argsort(&array).by(last).run().unwrap().read_blocking().unwrap();
            assert_eq!(d.argsort(inputs().map(f)).by(last).run().unwrap().read_blocking().unwrap(), expected);
            let offsets = d.upload(&[0, n as u32 / 3, n as u32 / 3, n as u32]).unwrap();
            let expected = d.sort(&array).segments(&offsets).descending().run().unwrap();
            assert_eq!(words(&d.sort(inputs().map(f)).segments(&offsets).descending().run().unwrap()), words(&expected));
        });
    }
}

#[test]
fn sorts_of_counted_squares_are_known_without_a_sort() {
    each(|d| {
        // (i - 600)^2 for i below 1000: from both ends inward, equal ones in their order.
        let f = |i: Expr<u32>| (i - 600) * (i - 600);
        let sorted = d.sort(counting(1000).map(f)).run().unwrap().read_blocking().unwrap();
        let mut expected: Vec<u32> = (0..1000u32).map(|i| i.abs_diff(600).pow(2)).collect();
        expected.sort_unstable();
        assert_eq!(sorted, expected);
        let order = d.argsort(counting(1000).map(f)).run().unwrap().read_blocking().unwrap();
        assert_eq!((&order[..5], order[999]), (&[600, 599, 601, 598, 602][..], 0));
        let rows = d.sort(counting(6).map(|i| i * 5 % 6)).axis(&[3, 2], 1).descending().run().unwrap();
        assert_eq!(rows.read_blocking().unwrap(), [5, 0, 4, 3, 2, 1]);
        assert_eq!(d.argsort(counting(6).map(|i| i * 5 % 6)).axis(&[3, 2], 1).run().unwrap().read_blocking().unwrap(), [0, 1, 1, 0, 1, 0]);
    });
}

#[test]
fn gathers_of_what_is_computed_are_those_of_arrays() {
    for (len, n) in [(1usize, 5u64), (300, 0), (300, 1), (1, 300), (5003, 20_003)] {
        let x = mt19937(61, len);
        each(|d| {
            let x = d.upload(&x).unwrap();
            let third = x.strided(0, len as u64 / 3, 3).unwrap();
            let f = |(x, i): (Expr<u32>, Expr<u32>)| (x.cast::<f32>() * 1e-3 + i.cast::<f32>()).sin();
            let g = |i: Expr<u32>| (i * 37) % (len as u32 + 2);
            let at = d.generate(n, index(), g).unwrap();
            for view in [x.reversed(), third] {
                let array = d.map((&view, index()), f).unwrap();
                let found = d.gather((&view, index()).map(f), counting(n).map(g)).run().unwrap();
                assert_eq!(words(&found), words(&d.gather(&array, &at).run().unwrap()), "{len} {n}");
                let found = d.gather(array.map(|x| x), at.map(|at| at.bitcast::<i32>() - 1)).run().unwrap();
                let signed = d.map(&at, |at| at.bitcast::<i32>() - 1).unwrap();
                assert_eq!(words(&found), words(&d.gather(&array, &signed).run().unwrap()), "{len} {n}");
            }
        });
    }
}

#[test]
fn scatters_of_what_is_computed_are_those_of_arrays() {
    for (n, targets) in [(0usize, 5u64), (1, 1), (300, 7), (5003, 4000), (20_003, 1)] {
        let (x, old) = (mt19937(81, n), mt19937(82, targets as usize));
        each(|d| {
            let x = d.upload(&x).unwrap();
            let back = x.reversed();
            let place = |i: Expr<u32>| (i * 2_654_435_761) % (targets as u32 + 2);
            let value = |x: Expr<u32>| (x.cast::<f32>() - 2e9) * 1e-3;
            let at = d.generate(n as u64, index(), place).unwrap();
            let array = d.map(&back, value).unwrap();
            let fresh = || d.upload(&old.iter().map(|&b| f32::from_bits(b)).collect::<Vec<_>>()).unwrap();
            let (found, expected) = (fresh(), fresh());
            d.scatter_pairs((&back, index()).map(|(x, i)| (place(i), value(x)))).write_to(&found).unwrap();
            d.scatter(&array, &at).write_to(&expected).unwrap();
            assert_eq!(words(&found), words(&expected), "{n} {targets}");
            for op in [ScatterOp::Sum, ScatterOp::Sub, ScatterOp::Min, ScatterOp::Max] {
                let (found, expected) = (fresh(), fresh());
                d.scatter_pairs((&back, index()).map(|(x, i)| (place(i), value(x)))).reduce(op).write_to(&found).unwrap();
                d.scatter(&array, &at).reduce(op).write_to(&expected).unwrap();
                assert_eq!(words(&found), words(&expected), "{n} {targets} {op:?}");
            }
            for op in ScatterOp::COMBINING {
                let (found, expected) = (d.upload(&old).unwrap(), d.upload(&old).unwrap());
                d.scatter_pairs((&back, &at).map(|(x, at)| (at.bitcast::<i32>(), x))).reduce(op).write_to(&found).unwrap();
                d.scatter(&d.reverse(&x).run().unwrap(), &at).reduce(op).write_to(&expected).unwrap();
                assert_eq!(found.read_blocking().unwrap(), expected.read_blocking().unwrap(), "{n} {targets} {op:?}");
            }
        });
    }
}

#[test]
fn segments_begin_where_computed_flags_and_keys_say() {
    for n in [0, 1, 300, 9001] {
        each(|d| {
            let x = d.upload(&mt19937(71, n)).unwrap();
            let n = n as u64;
            let key = |i: Expr<u32>| (i / 7) ^ (i / 100);
            let keys = d.generate(n, index(), key).unwrap();
            let flags = d.generate(n, index(), |i| (i % 13).eq(0).cast::<u32>()).unwrap();
            let f = |x: Expr<u32>| (x >> 9).cast::<f32>();
            let array = d.map(&x, f).unwrap();
            let lazy_keys = || counting(n).map(key);
            let lazy_flags = || counting(n).map(|i| (i % 13).eq(0).cast::<u32>());
            assert_eq!(
                words(&d.scan(x.map(f), Sum).by_key(lazy_keys()).run().unwrap()),
                words(&d.scan(&array, Sum).by_key(&keys).run().unwrap())
            );
            let expected = d.scan(&array, Sum).by_key(&keys).exclusive().run().unwrap();
            assert_eq!(words(&d.scan(x.map(f), Sum).by_key(lazy_keys()).exclusive().run().unwrap()), words(&expected));
            let expected = d.scan(&array, Sum).by_flags(&flags).run().unwrap();
            assert_eq!(words(&d.scan(x.map(f), Sum).by_flags(lazy_flags()).run().unwrap()), words(&expected));
            let expected = d.scan(&array, Sum).by_flags(&flags).exclusive().run().unwrap();
            assert_eq!(words(&d.scan(x.map(f), Sum).by_flags(lazy_flags()).exclusive().run().unwrap()), words(&expected));
            // Keys that are read backwards, and through indices.
            let mirrored = d.reverse(&keys).run().unwrap();
            let expected = words(&d.scan(&array, Sum).by_key(&mirrored).run().unwrap());
            assert_eq!(words(&d.scan(x.map(f), Sum).by_key(&keys.reversed()).run().unwrap()), expected);
            let order = d.generate(n, (index(), scalar(n as u32)), |(i, n)| n - i - 1).unwrap();
            assert_eq!(words(&d.scan(x.map(f), Sum).by_key(permuted(&keys, &order)).run().unwrap()), expected);
        });
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused_and_nothing_is_written() {
    each(|d| {
        let (x, out, places) = (d.iota(100, 1u32, 1).unwrap(), d.iota(100, 7u32, 0).unwrap(), d.iota(100, 7u32, 0).unwrap());
        let (short, up) = (d.buffer::<u32>(99).unwrap(), SortOrder::Ascending);
        let few = x.slice(..60).unwrap();
        assert!(matches!(
            d.sort((&x, &few).map(|(x, _)| x)).order(up).write_to(&out),
            Err(Error::LengthMismatch { expected: 100, found: 60, .. })
        ));
        assert!(matches!(d.sort(index()).order(up).write_to(&out), Err(Error::InvalidArgument { .. })), "no length");
        assert!(matches!(d.sort(x.map(|x| x)).order(up).write_to(&short), Err(Error::BufferTooSmall { required: 100, available: 99, .. })));
        assert!(matches!(d.sort(x.map(|x| x)).order(up).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(permuted(&x, counting(50))).order(up).write_to(&x.slice(50..).unwrap()), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(x.map(|x| x)).order(up).scratch(&x).write_to(&out), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(x.map(|x| x)).order(up).scratch(&out).write_to(&out), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(x.map(|x| x)).order(up.bits(4..40)).write_to(&out), Err(Error::InvalidArgument { what: "bits", .. })));
        assert!(matches!(d.is_sorted(x.map(|x| x)).order(up.bits(4..40)).run(), Err(Error::InvalidArgument { what: "bits", .. })));
        assert!(matches!(d.sort(&x).with_values(&x).order(up).write_to((&out, &out)), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x).with_values(&x).order(up).write_to((&out, &short)), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.argsort(x.map(|x| x)).order(up).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(x.map(|x| x)).axis(&[x.len() / 7, 7], 1).order(up).run(), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.sort(x.map(|x| x)).axis(&[0, 0], 1).order(up).run(), Err(Error::InvalidArgument { .. })));
        assert!(matches!(d.sort(x.map(|x| x)).by(Expr::lt).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(x.map(|x| x)).by(Expr::lt).write_to(&short), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.sort(&x).with_values(&x).by(Expr::lt).write_to((&out, &x)), Err(Error::Aliasing { .. })));
        assert!(matches!(
            d.top_k(x.map(|x| x), 101).order(up).with_indices().run(),
            Err(Error::TooLarge { requested: 101, limit: 100, .. })
        ));
        assert!(matches!(d.top_k(x.map(|x| x), 9).order(up).with_indices().write_to((&x, &out)), Err(Error::Aliasing { .. })));
        assert!(matches!(d.top_k(x.map(|x| x), 100).order(up).write_to(&short), Err(Error::BufferTooSmall { .. })));
        let offsets = d.upload(&[0u32, 100]).unwrap();
        assert!(matches!(d.sort(x.map(|x| x)).segments(&offsets).order(up).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(x.map(|x| x)).segments(&offsets).order(up).write_to(&short), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.gather(x.map(|x| x), few.map(|i| i)).write_to(&short.slice(..59).unwrap()), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.gather(x.map(|x| x), few.map(|i| i)).write_to(&few), Err(Error::Aliasing { .. })));
        assert!(matches!(d.gather(index().map(|i| i), few.map(|i| i)).run(), Err(Error::InvalidArgument { .. })), "no length");
        let far = d.gather(x.map(|x| x), counting(70).map(|i| i * 2 - 4)).checked().run().unwrap_err();
        assert_eq!(far, Error::IndexOutOfRange { pattern: "gather", position: 0, index: i128::from(u32::MAX - 3), limit: 100 });
        let all = |i: Expr<u32>| (i, i);
        assert!(matches!(d.scatter_pairs(x.map(all)).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.scatter_pairs(permuted(&x, &few).map(all)).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.scatter_pairs(x.map(all)).unique().write_to(&few), Err(Error::Aliasing { .. })));
        assert!(matches!(d.scatter_pairs((&x, &few).map(|(i, _)| (i, i))).write_to(&out), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.scatter_pairs(index().map(all)).write_to(&out), Err(Error::InvalidArgument { .. })), "no length");
        assert!(matches!(d.scatter_pairs(x.map(all)).reduce(ScatterOp::Store).write_to(&out), Err(Error::InvalidArgument { .. })));
        let floats = d.iota(100, 0.0f32, 1.0).unwrap();
        let xor = d.scatter_pairs(x.map(|i| (i, i.cast::<f32>()))).reduce(ScatterOp::Xor).write_to(&floats);
        assert!(matches!(xor, Err(Error::InvalidArgument { what: "operator", .. })));
        assert!(matches!(
            d.scatter_pairs(floats.map(|x| (lit(0u32), x))).reduce(ScatterOp::Sum).write_to(&floats),
            Err(Error::Aliasing { .. })
        ));
        let most = 1 << 31;
        let many = d.scatter_pairs(counting(most).map(all)).write_to(&out);
        assert!(matches!(many, Err(Error::TooLarge { requested, .. }) if requested == most), "{many:?}");
        let wrong = Error::IndexOutOfRange { pattern: "scatter", position: 50, index: 100, limit: 100 };
        assert_eq!(d.scatter_pairs(counting(70).map(|i| (i * 2, i))).checked().write_to(&out).unwrap_err(), wrong);
        let flags = || few.map(|f| f & 1u32);
        assert!(matches!(d.scan(&x, Sum).by_flags(flags()).write_to(&out), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.scan(&x, Sum).by_key(flags()).exclusive().write_to(&out), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.scan(&x, Sum).by_key(permuted(&out, &x)).write_to(&out), Err(Error::Aliasing { .. })));
        assert_eq!((out.read_blocking().unwrap(), places.read_blocking().unwrap()), (vec![7; 100], vec![7; 100]));
        assert_eq!(x.read_blocking().unwrap(), (1..=100).collect::<Vec<u32>>());
    });
}

#[test]
fn elements_and_an_array_of_another_type_over_them_are_not_one() {
    each(|d| {
        let signed = d.upload(&[-1i8; 9]).unwrap();
        let plain: Buffer<Device, u8> = Buffer::from_raw(d, signed.raw().clone(), signed.offset(), 9).unwrap();
        let of = |(x, i, all): (Expr<i32>, Expr<u32>, ArrayExpr<u8>)| (all.at(i - 1), x);
        let (left, own) = d.map((&signed, index(), array(&plain)), of).unwrap();
        assert_eq!(left.read_blocking().unwrap(), [0, 255, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(own.read_blocking().unwrap(), [-1; 9]);
        let halves = d.upload(&[half::f16::from_f32(-1.5); 9]).unwrap();
        let words: Buffer<Device, u16> = Buffer::from_raw(d, halves.raw().clone(), halves.offset(), 9).unwrap();
        let of = |(x, i, all): (Expr<f32>, Expr<u32>, ArrayExpr<u16>)| (all.at(i - 1), x);
        let (left, own) = d.map((&halves, index(), array(&words)), of).unwrap();
        assert_eq!(left.read_blocking().unwrap()[1..], [0xbe00; 8]);
        assert_eq!(own.read_blocking().unwrap(), [-1.5; 9]);
    });
}
