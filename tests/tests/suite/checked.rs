//! Checked forms: they name the first element that is wrong and leave their outputs as they were; of good input they are the others. On every device.

use crate::common::{each, each_with, mt19937};
use half::f16;
use isowarp::element::{DType, Element};
use isowarp::prelude::*;
use isowarp::{Device, Error};

const UP: SortOrder = SortOrder::Ascending;
const DOWN: SortOrder = SortOrder::Descending;

fn beyond(pattern: &'static str, position: u64, index: i128, limit: u64) -> Error {
    Error::IndexOutOfRange { pattern, position, index, limit }
}

fn twice(pattern: &'static str, position: u64, index: i128) -> Error {
    Error::DuplicateIndex { pattern, position, index }
}

fn unsorted(pattern: &'static str, what: &'static str, index: u64) -> Error {
    Error::NotSorted { pattern, what, index }
}

fn host<T: Element>(x: &Buffer<Device, T>) -> Vec<T> {
    x.read_blocking().unwrap()
}

#[test]
fn indices_are_checked_by_themselves() {
    each(|d| {
        let at = d.upload(&[3i32, 0, -1, 7]).unwrap();
        assert_eq!(d.check_indices(&at, 4).unwrap_err(), beyond("check_indices", 2, -1, 4));
        assert_eq!(d.check_indices(&at, 3).unwrap_err(), beyond("check_indices", 0, 3, 3));
        // Above an i32's range only the negative ones are wrong.
        assert_eq!(d.check_indices(&at, 1 << 40).unwrap_err(), beyond("check_indices", 2, -1, 1 << 40));
        d.check_indices(&at.slice(..2).unwrap(), 4).unwrap();
        d.check_indices(&at.slice(..0).unwrap(), 0).unwrap();
        let words = d.upload(&[u32::MAX, 0]).unwrap();
        d.check_indices(&words, 1 << 32).unwrap();
        assert_eq!(d.check_indices(&words, u32::MAX.into()).unwrap_err(), beyond("check_indices", 0, u32::MAX.into(), u32::MAX.into()));
        // The first of several in a long array, and of what is computed.
        let n = 70_001;
        let long = d.generate(n, index(), |i| (i.eq(40_000) | i.eq(65_537)).select(i + 1_000_000, i)).unwrap();
        assert_eq!(d.check_indices(&long, n).unwrap_err(), beyond("check_indices", 40_000, 1_040_000, n));
        assert_eq!(d.check_indices(long.reversed().map(|i| i), n).unwrap_err(), beyond("check_indices", 70_000 - 65_537, 1_065_537, n));
        assert_eq!(d.check_indices(counting(n).map(|i| i / 3), 20_000).unwrap_err(), beyond("check_indices", 60_000, 20_000, 20_000));
        d.check_indices((counting(n), scalar(3u32)).map(|(i, k)| i / k), 23_334).unwrap();
    });
    each_with(&[DType::U64], |d| {
        let at = d.upload(&[1u64 << 40, 5, u64::MAX]).unwrap();
        assert_eq!(d.check_indices(&at, 1 << 41).unwrap_err(), beyond("check_indices", 2, u64::MAX.into(), 1 << 41));
        assert_eq!(d.check_indices(at.map(|i| i + 1), 6).unwrap_err(), beyond("check_indices", 0, (1 << 40) + 1, 6));
    });
}

#[test]
fn moves_that_are_checked_write_nothing_for_a_wrong_index() {
    each(|d| {
        let (x, out) = (d.iota(4, 1u32, 1).unwrap(), d.iota(5, 7u32, 0).unwrap());
        let far = d.upload(&[0u32, 4, 1, 9]).unwrap();
        assert_eq!(d.gather(&x, &far).checked().write_to(&out).unwrap_err(), beyond("gather", 1, 4, 4));
        assert_eq!(d.gather(x.map(|x| x * 2), far.map(|i| i)).checked().write_to(&out).unwrap_err(), beyond("gather", 1, 4, 4));
        for op in ScatterOp::COMBINING {
            let targets = out.slice(..4).unwrap();
            assert_eq!(d.scatter(&x, &far).reduce(op).checked().write_to(&targets).unwrap_err(), beyond("scatter_reduce", 1, 4, 4));
            let sources = |(x, i): (Expr<u32>, Expr<u32>)| (i * 3, x);
            let found = d.scatter_pairs((&x, index()).map(sources)).reduce(op).checked().write_to(&out).unwrap_err();
            assert_eq!(found, beyond("scatter_reduce", 2, 6, 5));
        }
        assert!(matches!(d.scatter(&x, &far).reduce(ScatterOp::Store).checked().write_to(&out), Err(Error::InvalidArgument { .. })));
        let sources = |k: u32| move |(x, i): (Expr<u32>, Expr<u32>)| (i * k % 6, x);
        let scattered = |k: u32| d.scatter_pairs((&x, index()).map(sources(k))).unique().checked().write_to(&out).unwrap_err();
        assert_eq!(scattered(5), beyond("scatter_unique", 1, 5, 5));
        assert_eq!(scattered(3), twice("scatter_unique", 2, 0));
        let orders = [(vec![1u32, 0, 4, 2], beyond("permute", 2, 4, 4)), (vec![1, 3, 3, 1], twice("permute", 2, 3))];
        for (order, wrong) in orders {
            let order = d.upload(&order).unwrap();
            assert_eq!(d.permute(&x, &order).checked().run().unwrap_err(), wrong);
            assert_eq!(d.permute(&x, &order).checked().write_to(&out).unwrap_err(), wrong);
            let wrong = match wrong {
                Error::IndexOutOfRange { position, index, limit, .. } => beyond("permute_inverse", position, index, limit),
                Error::DuplicateIndex { position, index, .. } => twice("permute_inverse", position, index),
                other => panic!("{other}"),
            };
            assert_eq!(d.permute(&x, &order).inverse().checked().run().unwrap_err(), wrong);
            assert_eq!(d.permute(&x, &order).inverse().checked().write_to(&out).unwrap_err(), wrong);
        }
        let order = d.upload(&[3i32, 1, 0, 2]).unwrap();
        let small = out.slice(..3).unwrap();
        assert!(matches!(d.permute(&x, &order).checked().write_to(&small), Err(Error::BufferTooSmall { required: 4, available: 3, .. })));
        assert!(matches!(d.permute(&x, &order).inverse().checked().write_to(&small), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.permute(&x, &order).inverse().checked().write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.permute(&x.slice(1..).unwrap(), &order).checked().run(), Err(Error::LengthMismatch { .. })));
        assert_eq!((host(&out), host(&x)), (vec![7; 5], vec![1, 2, 3, 4]));
        assert_eq!(host(&d.permute(&x, &order).checked().run().unwrap()), [4, 2, 1, 3]);
        assert_eq!(host(&d.permute(&d.permute(&x, &order).run().unwrap(), &order).inverse().checked().run().unwrap()), host(&x));
    });
}

#[test]
fn moves_that_are_checked_are_the_others_where_nothing_is_wrong() {
    each(|d| {
        for n in [0, 1, 300, 70_001] {
            let x = d.generate(n, index(), |i| (i * 2_654_435_761) >> 7).unwrap();
            let order = d.argsort(&x).run().unwrap();
            let out = d.buffer(n).unwrap();
            d.gather(&x, &order).checked().write_to(&out).unwrap();
            assert_eq!(host(&out), host(&d.permute(&x, &order).run().unwrap()), "{n}");
            d.gather(x.map(|x| x + 1), order.map(|i| i)).checked().write_to(&out).unwrap();
            assert_eq!(host(&out), host(&d.gather(x.map(|x| x + 1), order.map(|i| i)).run().unwrap()), "{n}");
            d.permute(&x, &order).inverse().checked().write_to(&out).unwrap();
            assert_eq!(host(&out), host(&d.permute(&x, &order).inverse().run().unwrap()), "{n}");
            d.scatter_pairs((&order, &x).map(|(i, x)| (i, x ^ 5))).unique().checked().write_to(&out).unwrap();
            assert_eq!(host(&out), host(&d.map(&d.permute(&x, &order).inverse().run().unwrap(), |x| x ^ 5).unwrap()), "{n}");
            let (sums, more) = (d.iota(10, 0u32, 1).unwrap(), d.iota(10, 0u32, 1).unwrap());
            let digit = d.map(&x, |x| x % 10).unwrap();
            d.scatter(&x, &digit).reduce(ScatterOp::Sum).checked().write_to(&sums).unwrap();
            d.scatter_pairs(x.map(|x| (x % 10, x))).reduce(ScatterOp::Sum).checked().write_to(&more).unwrap();
            let expected = d.iota(10, 0u32, 1).unwrap();
            d.scatter(&x, &digit).reduce(ScatterOp::Sum).write_to(&expected).unwrap();
            assert_eq!((host(&sums), host(&more)), (host(&expected), host(&expected)), "{n}");
        }
    });
}

/// The first key that comes before its left neighbour.
fn first_wrong<T: Copy>(x: &[T], before: impl Fn(T, T) -> bool) -> Option<u64> {
    x.windows(2).position(|w| before(w[1], w[0])).map(|i| i as u64 + 1)
}

#[test]
fn orders_of_the_callers_are_checked() {
    each(|d| {
        let by = |a: Expr<u32>, b: Expr<u32>| (a % 1000).lt(b % 1000);
        for (n, places) in [(0, vec![]), (1, vec![]), (2, vec![1]), (300, vec![7, 299]), (70_001, vec![65_536, 40_000, 70_000])] {
            let mut x: Vec<u32> = (0..n as u32).map(|i| (i / 80) % 1000 + 5000 * (i % 7)).collect();
            let good = d.upload(&x).unwrap();
            assert_eq!(d.is_sorted(&good).by(by).run().unwrap().read_blocking().unwrap(), 1, "{n}");
            assert_eq!(d.is_sorted((&good, scalar(0u32)).map(|(x, k)| x + k)).by(by).run().unwrap().read_blocking().unwrap(), 1, "{n}");
            d.is_sorted(&good).by(by).check().unwrap();
            d.is_sorted(good.map(|x| x + 1000)).by(by).check().unwrap();
            for place in places {
                // The first wrong one is this, or the one behind it.
                x[place] = if x[place - 1].is_multiple_of(1000) { 999 } else { 1000 };
                let wrong = first_wrong(&x, |a, b| a % 1000 < b % 1000);
                let bad = d.upload(&x).unwrap();
                let found = d.is_sorted(&bad).by(by).run().unwrap().read_blocking().unwrap();
                assert_eq!(found, u32::from(wrong.is_none()), "{n} {place}");
                assert_eq!(d.is_sorted(bad.map(|x| x)).by(by).run().unwrap().read_blocking().unwrap(), found, "{n} {place}");
                assert_eq!(d.is_sorted(&bad).by(by).check().err(), wrong.map(|at| unsorted("check_sorted", "the array", at)));
                assert_eq!(d.is_sorted(bad.map(|x| x)).by(by).check().err(), wrong.map(|at| unsorted("check_sorted", "the input", at)));
            }
        }
        // NaN come last in an order that says so; a view is read from its end.
        let x = d.upload(&[0.5f32, f32::NAN, -1.0]).unwrap();
        let nan_last = |a: Expr<f32>, b: Expr<f32>| a.lt(b) | (b.is_nan() & !a.is_nan());
        assert_eq!(d.is_sorted(&x).by(nan_last).check().unwrap_err(), unsorted("check_sorted", "the array", 2));
        let error = d.is_sorted(x.reversed()).by(nan_last).check().unwrap_err();
        assert_eq!(error, unsorted("check_sorted", "the input", 2));
        d.is_sorted(permuted(&x, &d.upload(&[2u32, 0, 1]).unwrap())).by(nan_last).check().unwrap();
        // Halves and bytes are compared as what they widen to.
        let bytes = d.upload(&[3u8, 2, 250, 0]).unwrap();
        assert_eq!(d.is_sorted(&bytes).by(Expr::gt).check().unwrap_err(), unsorted("check_sorted", "the array", 2));
        let halves = d.upload(&[1.0, -0.0, 0.0].map(f16::from_f32)).unwrap();
        assert_eq!(d.is_sorted(&halves).by(Expr::gt).run().unwrap().read_blocking().unwrap(), 1);
        let far = (counting(1 << 33), |i: Expr<u32>| i);
        assert!(matches!(d.is_sorted(far.0.map(far.1)).by(by).run(), Err(Error::TooLarge { .. })));
    });
}

/// Checks that an operator's results are compared as they would be stored: an array of them says where they are not in order.
#[test]
fn inputs_are_in_order_where_their_stored_array_is() {
    fn same<T: Element, R: isowarp::input::Outputs<Buffers<Device> = Buffer<Device, T>> + isowarp::input::Stored<First = T>>(
        d: &Device,
        x: &Buffer<Device, u32>,
        f: impl Fn(Expr<u32>) -> R,
        bys: &[SortBy],
    ) {
        let array: Buffer<Device, T> = d.map(x, &f).unwrap();
        for by in bys {
            let place = |error: Error| match error {
                Error::NotSorted { pattern: "check_sorted", index, .. } => index,
                other => panic!("{other}"),
            };
            let expected = d.is_sorted(&array).order(by.clone()).check().err().map(place);
            assert_eq!(d.is_sorted(x.map(&f)).order(by.clone()).check().err().map(place), expected, "{:?} {by:?}", T::DTYPE);
            let sorted = d.is_sorted(x.map(&f)).order(by.clone()).run().unwrap().read_blocking().unwrap();
            assert_eq!(sorted, u32::from(expected.is_none()), "{:?} {by:?}", T::DTYPE);
        }
    }
    let noise = mt19937(5, 3000);
    for x in [vec![], vec![9], noise.clone(), (0..70_000).collect(), (0..300).chain(0..5000).rev().collect()] {
        each(|d| {
            let x = d.upload(&x).unwrap();
            let (up, both) = ([SortBy::from(UP)], [SortBy::from(UP), SortBy::from(DOWN)]);
            same::<u32, _>(d, &x, |x| x / 3, &[DOWN.into(), UP.bits(2..7)]);
            same::<i32, _>(d, &x, |x| x.cast::<i32>() * -5, &up);
            same::<f32, _>(d, &x, Expr::bitcast::<f32>, &both);
            same::<u8, _>(d, &x, |x| (x >> 4).store_as::<u8>(), &both);
            same::<f16, _>(d, &x, |x| (x.cast::<f32>() * 0.25).store_as::<f16>(), &both);
            same::<f16, _>(d, &x, |x| x.bitcast::<f32>().store_as::<f16>(), &up);
            same::<f16, _>(d, &x, |x| (x.cast::<f32>() * -1e-9).store_as::<f16>(), &up);
        });
        each_with(&[DType::F64, DType::I64], |d| {
            let x = d.upload(&x).unwrap();
            same::<f64, _>(d, &x, |x| x.cast::<f64>() * 0.1 - 7.0, &[DOWN.into()]);
            same::<i64, _>(d, &x, |x| x.cast::<i64>() * -3, &[UP.into()]);
        });
    }
    each(|d| {
        let bits = (counting(9), |i: Expr<u32>| i.store_as::<u8>());
        assert!(matches!(d.is_sorted(bits.0.map(bits.1)).bits(0..9).check(), Err(Error::InvalidArgument { what: "bits", .. })));
        assert!(matches!(d.is_sorted(counting(1 << 33)).run(), Err(Error::TooLarge { .. })));
    });
}

#[test]
fn merges_that_are_checked_write_nothing_for_what_is_not_sorted() {
    each(|d| {
        let mut x: Vec<u32> = (0..9000).collect();
        let a = d.upload(&x).unwrap();
        x[8000] = 7990;
        let b = d.upload(&x).unwrap();
        let (out, places) = (d.iota(18_000, 7u32, 0).unwrap(), d.iota(18_000, 7u32, 0).unwrap());
        let outs = (&out, &places);
        let array = |second: bool| unsorted("merge", if second { "the second array" } else { "the first array" }, 8000);
        let input = |second: bool| unsorted("merge", if second { "the second input" } else { "the first input" }, 8000);
        for second in [false, true] {
            let (p, q) = if second { (&a, &b) } else { (&b, &a) };
            assert_eq!(d.merge(p, q).with_values(p, q).checked().run().unwrap_err(), array(second));
            assert_eq!(d.merge(p, q).with_values(p, q).checked().write_to(outs).unwrap_err(), array(second));
            let (f, g) = (|x: Expr<u32>| x * 2, |x: Expr<u32>| x + 1);
            assert_eq!(d.merge(p.map(f), q.map(g)).checked().run().unwrap_err(), input(second));
            assert_eq!(d.merge(p.map(f), q.map(g)).checked().write_to(&out).unwrap_err(), input(second));
            assert_eq!(d.merge(p, q).with_values(index(), index()).checked().run().unwrap_err(), input(second));
            let found = d.merge(p, q).with_values(index(), index()).checked().write_to(outs).unwrap_err();
            assert_eq!(found, input(second));
            let by = |a: Expr<u32>, b: Expr<u32>| (a >> 1).lt(b >> 1);
            let array = |second| match array(second) {
                Error::NotSorted { what, index, .. } => unsorted("merge_by", what, index),
                other => other,
            };
            assert_eq!(d.merge(p, q).by(by).checked().run().unwrap_err(), array(second));
            assert_eq!(d.merge(p, q).by(by).checked().write_to(&out).unwrap_err(), array(second));
            assert_eq!(d.merge(p, q).by(by).with_values(p, q).checked().run().unwrap_err(), array(second));
            assert_eq!(d.merge(p, q).by(by).with_values(p, q).checked().write_to(outs).unwrap_err(), array(second));
        }
        // A passed-on NaN is ordered by its bits, as the merge orders it; a computed byte by what is left of it.
        let nans = d.upload(&[f32::INFINITY, f32::from_bits(0x7FC0_0001), f32::NAN]).unwrap();
        let same = |x: Expr<f32>| x;
        assert_eq!(d.merge(nans.map(same), nans.map(same)).checked().run().unwrap_err(), unsorted("merge", "the first input", 2));
        let byte = |i: Expr<u32>| (i * 100).store_as::<u8>();
        let found = d.merge(counting(3).map(byte), counting(5).map(byte)).checked().run().unwrap_err();
        assert_eq!(found, unsorted("merge", "the second input", 3));
        let small = out.slice(..17_999).unwrap();
        assert!(matches!(d.merge(&a, &a).with_values(&a, &a).checked().write_to((&small, &places)), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.merge(a.map(|x| x), a.map(|x| x)).checked().write_to(&small), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.merge(&a, &a).by(Expr::lt).checked().write_to(&small), Err(Error::BufferTooSmall { .. })));
        assert_eq!((host(&out), host(&places)), (vec![7; 18_000], vec![7; 18_000]));
    });
}

#[test]
fn merges_that_are_checked_are_the_others_where_all_is_sorted() {
    each(|d| {
        for (m, n) in [(0, 0), (1, 0), (300, 701), (9000, 5003)] {
            let sorted =
                |n: u64, seed: u32| d.sort(&d.generate(n, index(), |i| ((i + seed) * 2_654_435_761) >> 20).unwrap()).run().unwrap();
            let (a, b) = (sorted(m, 1), sorted(n, 99));
            let (v, w) = (d.iota(m, 0u32, 1).unwrap(), d.iota(n, m as u32, 1).unwrap());
            let pair = |(x, v): (Buffer<Device, u32>, Buffer<Device, u32>)| (host(&x), host(&v));
            let expected = pair(d.merge(&a, &b).with_values(&v, &w).run().unwrap());
            assert!(pair(d.merge(&a, &b).with_values(&v, &w).checked().run().unwrap()) == expected, "{m} {n}");
            assert!(pair(d.merge(&a, &b).by(Expr::lt).with_values(&v, &w).checked().run().unwrap()) == expected, "{m} {n}");
            let same = |x: Expr<u32>| x;
            let computed = d.merge(a.map(same), b.map(same)).with_values(v.map(same), w.map(same)).checked().run();
            assert!(pair(computed.unwrap()) == expected, "{m} {n}");
            assert!(host(&d.merge(a.map(|x| x), b.map(|x| x)).checked().run().unwrap()) == expected.0, "{m} {n}");
            assert!(host(&d.merge(&a, &b).by(Expr::lt).checked().run().unwrap()) == expected.0, "{m} {n}");
        }
    });
}

#[test]
fn segments_that_are_checked_name_the_offset_and_write_nothing() {
    each(|d| {
        let (x, out, more) = (d.iota(9000, 0u32, 1).unwrap(), d.iota(9000, 7u32, 0).unwrap(), d.iota(9000, 7u32, 0).unwrap());
        for (offsets, wrong) in [
            (vec![0u32, 8000, 7999, 9000], unsorted("segments", "the array of offsets", 2)),
            (vec![0, 9000, 9001, u32::MAX], beyond("segments", 2, 9001, 9001)),
        ] {
            let at = d.upload(&offsets).unwrap();
            assert_eq!(d.scan(&x, Sum).segments(&at).checked().run().unwrap_err(), wrong);
            assert_eq!(d.scan(&x, Sum).segments(&at).checked().write_to(&out).unwrap_err(), wrong);
            assert_eq!(d.scan(&x, Sum).segments(&at).checked().exclusive().run().unwrap_err(), wrong);
            assert_eq!(d.scan(&x, Sum).segments(&at).checked().exclusive().write_to(&out).unwrap_err(), wrong);
            assert_eq!(d.sort(&x).segments(&at).checked().descending().run().unwrap_err(), wrong);
            assert_eq!(d.sort(&x).segments(&at).checked().descending().write_to(&out).unwrap_err(), wrong);
            assert_eq!(d.sort(&x).with_values(&x).segments(&at).checked().descending().run().unwrap_err(), wrong);
            assert_eq!(d.sort(&x).with_values(&x).segments(&at).checked().descending().write_to((&out, &more)).unwrap_err(), wrong);
        }
        assert_eq!((host(&out), host(&more)), (vec![7; 9000], vec![7; 9000]));
        let at = d.upload(&[5u32, 5, 300, 8999]).unwrap();
        assert_eq!(host(&d.scan(&x, Sum).segments(&at).checked().run().unwrap()), host(&d.scan(&x, Sum).segments(&at).run().unwrap()));
        let (found, expected) =
            (d.scan(&x, Max).segments(&at).checked().exclusive().run(), d.scan(&x, Max).segments(&at).exclusive().run());
        assert_eq!(host(&found.unwrap()), host(&expected.unwrap()));
        let expected = host(&d.sort(&x).segments(&at).descending().run().unwrap());
        assert_eq!(host(&d.sort(&x).segments(&at).checked().descending().run().unwrap()), expected);
        let (keys, values) = d.sort(&x).with_values(&x).segments(&at).checked().descending().run().unwrap();
        assert_eq!((host(&keys), host(&values)), (expected.clone(), expected));
    });
}

/// Elements narrower than a word: the last of several stays, and what nothing is scattered to keeps every bit.
#[test]
fn bytes_and_halves_are_scattered_as_a_loop_does() {
    fn of<T: Element, R: isowarp::input::Stored<First = T>>(
        d: &Device,
        n: usize,
        targets: usize,
        (given, store): (impl Fn(u32) -> T, impl Fn(Expr<u32>) -> R),
        bits: impl Fn(T) -> u16,
    ) {
        let x = mt19937(n as u32, n);
        let indices: Vec<u32> = x.iter().map(|x| (x >> 8) % (targets as u32 + 3)).collect();
        // Every bit pattern, NaN with payloads too.
        let old: Vec<T> = (0..targets as u32 + 5).map(|i| given(i.wrapping_mul(40_503))).collect();
        let mut expected = old.clone();
        for (&x, &at) in x.iter().zip(&indices) {
            if (at as usize) < targets {
                expected[at as usize + 3] = given(x & 0xFF);
            }
        }
        let (x, indices) = (d.upload(&x).unwrap(), d.upload(&indices).unwrap());
        // Inside a buffer, at an odd place.
        let out = d.upload(&old).unwrap();
        let inside = out.slice(3..targets as u64 + 3).unwrap();
        d.scatter_pairs((&indices, &x).map(|(i, x)| (i, store(x & 0xFFu32)))).write_to(&inside).unwrap();
        let same = |found: Vec<T>, expected: &[T]| found.iter().map(|&v| bits(v)).eq(expected.iter().map(|&v| bits(v)));
        assert!(same(host(&out), &expected), "{} {n} {targets}", T::DTYPE);
        let out = d.upload(&old).unwrap();
        let inside = out.slice(3..targets as u64 + 3).unwrap();
        if n > 0 {
            let error = d.scatter_pairs(indices.map(|i| (i + targets as u32, store(i)))).checked().write_to(&inside).unwrap_err();
            assert!(matches!(error, Error::IndexOutOfRange { pattern: "scatter", position: 0, .. }));
        }
        assert!(same(host(&out), &old));
        // A permutation, by the form for such.
        let count = targets.min(n) as u64;
        let last = scalar(targets as u32);
        d.scatter_pairs((counting(count), last).map(|(i, last)| (last - 1 - i, store(i & 0xFFu32)))).unique().write_to(&inside).unwrap();
        let mut expected = old;
        for i in 0..count as usize {
            expected[targets - 1 - i + 3] = given(i as u32 & 0xFF);
        }
        assert!(same(host(&out), &expected), "{} {n} {targets}", T::DTYPE);
    }
    for (n, targets) in [(0, 5), (1, 1), (7, 4), (300, 1001), (40_003, 9000)] {
        each(|d| {
            let byte = |v: u32| v as u8;
            of(d, n, targets, (byte, Expr::store_as::<u8>), u16::from);
            let half = |v: u32| if v < 256 { f16::from_f32(v as f32 * 0.3 - 9.0) } else { f16::from_bits((v >> 3) as u16) };
            of(d, n, targets, (half, |x: Expr<u32>| (x.cast::<f32>().mul_rn(0.3f32) - 9.0).store_as::<f16>()), |v: f16| v.to_bits());
        });
    }
    each(|d| {
        let out = d.upload(&[1u8; 4]).unwrap();
        let twice_given =
            d.scatter_pairs(counting(3).map(|i| (i & 1u32, i.store_as::<u8>()))).unique().checked().write_to(&out).unwrap_err();
        assert_eq!(twice_given, twice("scatter_unique", 2, 0));
        assert!(matches!(d.scatter_pairs(out.map(|x| (x, x.store_as::<u8>()))).write_to(&out), Err(Error::Aliasing { .. })));
        assert_eq!(host(&out), [1; 4]);
    });
}
