//! Runs that are computed or counted, keys that are computed and the ends of segments' order, against plain Rust. On every device.

use crate::common::{each, mt19937};
use isowarp::prelude::*;
use isowarp::{Device, Error};

/// Values in runs.
fn runs(n: usize) -> Vec<u32> {
    let mut value = 0;
    mt19937(3, n).iter().map(|r| (value += u32::from(r % 3 == 0), value % 5).1).collect()
}

/// Returns the defined part of an output.
fn of<T: isowarp::element::Element>(out: &Buffer<Device, T>, count: u64) -> Vec<T> {
    out.slice(..count).unwrap().read_blocking().unwrap()
}

#[test]
fn what_is_counted_is_selected_as_the_slice_is() {
    let (n, x) = (9001, runs(9001));
    for count in [0usize, 1, 1024, 5000, 9000, 9001, 12_000] {
        let slice = &x[..count.min(n)];
        let expected: Vec<(u32, u32)> = slice.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
        let sums: Vec<u32> = slice
            .chunk_by(|a, b| a == b)
            .scan(0, |at, run| {
                let first = *at;
                *at += run.len() as u32;
                Some((first..*at).sum())
            })
            .collect();
        each(|d| {
            let of_x = Selected { values: d.upload(&x).unwrap(), count: d.upload_scalar(count as u32).unwrap() };
            let (keys, lengths): (Vec<u32>, Vec<u32>) = expected.iter().copied().unzip();
            assert_eq!(d.unique(&of_x.values).length(&of_x.count).run().unwrap().read_blocking().unwrap(), keys);
            let odd: Vec<u32> = slice.iter().copied().filter(|x| x & 1 == 1).collect();
            assert_eq!(d.select(&of_x.values, |x| (x & 1u32).eq(1)).length(&of_x.count).run().unwrap().read_blocking().unwrap(), odd);
            let found = d.run_length_encode(&of_x.values).length(&of_x.count).run().unwrap();
            let m = found.len_blocking().unwrap();
            assert_eq!((of(&found.values.0, m), of(&found.values.1, m)), (keys.clone(), lengths));
            let places = d.iota::<u32>(n as u64, 0, 1).unwrap();
            let pairs = Selected { values: (of_x.values.clone(), places), count: of_x.count.clone() };
            let by_key = d.reduce(&pairs.values.1, Sum).by_key(&pairs.values.0).length(&pairs.count).run().unwrap();
            let m = by_key.len_blocking().unwrap();
            assert_eq!((of(&by_key.values.0, m), of(&by_key.values.1, m)), (keys, sums.clone()));
            let counts = d.histogram(even_bins(&of_x.values, 0, 4, 4)).length(&of_x.count).run().unwrap();
            let wanted: Vec<u32> = (0..4).map(|k| slice.iter().filter(|&&x| x == k).count() as u32).collect();
            assert_eq!(counts.read_blocking().unwrap(), wanted);
            let (greatest, at) = d.reduce(&of_x.values, Max).length(&of_x.count).with_index().run().unwrap();
            let most = slice.iter().max().copied();
            let place = most.and_then(|m| slice.iter().position(|&x| x == m));
            assert_eq!(greatest.read_blocking().unwrap(), most.unwrap_or(0));
            assert_eq!(at.read_blocking().unwrap(), place.map_or(u32::MAX, |p| p as u32));
        });
    }
}

#[test]
fn long_runs_and_first_ones_are_found_in_what_is_computed() {
    for n in [0usize, 1, 300, 20_001] {
        let x = runs(n);
        let halves: Vec<u32> = x.iter().map(|x| x / 2).collect();
        let mut at = 0;
        let all: Vec<(u32, u32, u32)> = halves
            .chunk_by(|a, b| a == b)
            .map(|run| {
                at += run.len() as u32;
                (run[0], at - run.len() as u32, run.len() as u32)
            })
            .collect();
        let long: Vec<_> = all.iter().filter(|run| run.2 > 1).collect();
        each(|d| {
            let device = d.upload(&x).unwrap();
            let found = d.non_trivial_runs(device.map(|x| x / 2)).run().unwrap();
            let m = found.len_blocking().unwrap();
            assert_eq!(of(&found.values.0, m), long.iter().map(|run| run.1).collect::<Vec<_>>());
            assert_eq!(of(&found.values.1, m), long.iter().map(|run| run.2).collect::<Vec<_>>());
            let found = d.unique((&device, index()).map(|(x, i)| (x / 2, i))).by(|a, b| a.0.eq(b.0)).run().unwrap();
            let m = found.len_blocking().unwrap();
            assert_eq!(of(&found.values.0, m), all.iter().map(|run| run.0).collect::<Vec<_>>());
            assert_eq!(of(&found.values.1, m), all.iter().map(|run| run.1).collect::<Vec<_>>());
            let lengths = d.reduce(counting(n as u64).map(|_| lit(1u32)), Sum).by_key(device.map(|x| x / 2)).run().unwrap();
            let m = lengths.len_blocking().unwrap();
            assert_eq!(of(&lengths.values.1, m), all.iter().map(|run| run.2).collect::<Vec<_>>());
        });
    }
}

/// More than 2^32 elements in all: the first ones are still those of the first runs.
#[test]
fn lengths_beyond_32_bits_are_decoded() {
    each(|d| {
        let (values, lengths) = (d.upload(&[7u32, 8, 9]).unwrap(), d.upload(&[u32::MAX, 1, 5]).unwrap());
        let runs = d.upload_scalar(3u32).unwrap();
        let back = d.run_length_decode(&values, &lengths, 5).length(&runs).run().unwrap();
        assert_eq!(back.read_blocking().unwrap(), [7; 5]);
        let (first, lazy) = (d.upload(&[2u32, u32::MAX, u32::MAX]).unwrap(), |x| x);
        let back = d.run_length_decode(values.map(|v| v * 2), first.map(lazy), 4).length(&runs).run().unwrap();
        assert_eq!(back.read_blocking().unwrap(), [14, 14, 16, 16]);
        let (out, kept) = (d.upload(&[5u32; 3]).unwrap(), d.upload(&[1u32, 2]).unwrap());
        let error = d.run_length_decode(&values, &kept, out.len()).length(&runs).write_to(&out).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { expected: 3, found: 2, .. }), "{error}");
        assert!(matches!(d.run_length_decode(&values, &values, values.len()).length(&runs).write_to(&values), Err(Error::Aliasing { .. })));
        assert_eq!((out.read_blocking().unwrap(), values.read_blocking().unwrap()), (vec![5; 3], vec![7, 8, 9]));
    });
}

/// NaN wins at both ends, -0 is below 0, and of equals the first one: what `f32::total_cmp` says of these, NaN apart.
#[test]
fn ends_of_segments_are_those_of_the_slices() {
    let x: Vec<f32> =
        mt19937(8, 5003).iter().map(|r| [1.5, -0.0, 0.0, f32::INFINITY, -2.5, 1e-40, f32::NEG_INFINITY, 9.0][*r as usize >> 29]).collect();
    let offsets = [0u32, 0, 1, 40, 1000, 1003, 5000, 5003];
    each(|d| {
        let (x_, offsets_) = (d.upload(&x).unwrap(), d.upload(&offsets).unwrap());
        let (least, at) = d.reduce(&x_, Min).segments(&offsets_).with_index().run().unwrap();
        let greatest = d.reduce(&x_, Max).segments(&offsets_).index().run().unwrap().read_blocking().unwrap();
        let (least, at) = (least.read_blocking().unwrap(), at.read_blocking().unwrap());
        let (ends, places, short) = (d.upload(&[9.0f32; 8]).unwrap(), d.upload(&[9u32; 8]).unwrap(), d.upload(&[9u32; 6]).unwrap());
        d.reduce(&x_, Min).segments(&offsets_).with_index().write_to((&ends, &places)).unwrap();
        assert_eq!((ends.read_blocking().unwrap()[7], places.read_blocking().unwrap()), (9.0, [&at[..], &[9]].concat()));
        d.reduce(&x_, Max).segments(&offsets_).index().write_to(&places).unwrap();
        assert_eq!(places.read_blocking().unwrap(), [&greatest[..], &[9]].concat());
        let no_room = d.reduce(&x_, Min).segments(&offsets_).index().write_to(&short);
        assert!(matches!(no_room, Err(Error::BufferTooSmall { required: 7, available: 6, .. })));
        assert!(matches!(d.reduce(&x_, Min).segments(&offsets_).index().write_to(&offsets_), Err(Error::Aliasing { .. })));
        assert_eq!(short.read_blocking().unwrap(), [9; 6]);
        for (k, b) in offsets.windows(2).enumerate() {
            let segment: Vec<(f32, u32)> = (b[0]..b[1]).map(|i| (x[i as usize], i)).collect();
            let low = segment.iter().min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).copied().unwrap_or((f32::INFINITY, u32::MAX));
            let high = segment.iter().max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map_or(u32::MAX, |e| e.1);
            assert_eq!((least[k].to_bits(), at[k], greatest[k]), (low.0.to_bits(), low.1, high), "segment {k}");
        }
    });
}

#[test]
fn bins_of_wide_ranges_begin_where_arithmetic_says() {
    // Seven bins, each 2e9 wide.
    let x = [
        -5_000_000_000i64,
        -3_000_000_001,
        -3_000_000_000,
        -1,
        0,
        999_999_999,
        1_000_000_000,
        8_999_999_999,
        9_000_000_000,
        i64::MIN,
        i64::MAX,
    ];
    each(|d| {
        let x = d.upload(&x).unwrap();
        let counts = d.histogram(even_bins(&x, -5_000_000_000, 9_000_000_000, 7)).run().unwrap();
        assert_eq!(counts.read_blocking().unwrap(), [2, 1, 3, 1, 0, 0, 1]);
    });
}

#[test]
fn keys_that_do_not_fit_change_nothing() {
    each(|d| {
        let (x, out) = (d.upload(&[1u32, 2, 3]).unwrap(), (d.upload(&[9u32; 3]).unwrap(), d.upload(&[9u32; 3]).unwrap()));
        let count = d.upload(&[7u32]).unwrap();
        let short = d.reduce(&x, Sum).by_key(counting(2).map(|i| i)).write_to(((&out.0, &out.1), &count));
        assert!(matches!(short, Err(Error::LengthMismatch { what: "keys", expected: 3, found: 2 })));
        let small = d.reduce(&x, Sum).by_key(x.map(|x| x)).write_to(((&out.0, &out.1.slice(..2).unwrap()), &count));
        assert!(matches!(small, Err(Error::BufferTooSmall { .. })));
        let aliased = d.reduce(&x, Sum).by_key(out.0.map(|x| x)).write_to(((&out.0, &out.1), &count));
        assert!(matches!(aliased, Err(Error::Aliasing { .. })));
        let values = d.upload(&[1u32, 2]).unwrap();
        let error = d.top_k(&x, 1).smallest().with_values(&values).write_to((&out.0, &out.1)).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { what: "values", expected: 3, found: 2 }));
        assert!(matches!(d.top_k(&x, 4).smallest().with_values(&x).run(), Err(Error::TooLarge { .. })));
        assert!(matches!(
            d.top_k(x.map(|x| x), 1).smallest().axis(&[x.len() / 2, 2], 1).with_indices().run(),
            Err(Error::LengthMismatch { .. })
        ));
        assert!(matches!(d.top_k(x.map(|x| x), 4).smallest().axis(&[x.len() / 3, 3], 1).with_indices().run(), Err(Error::TooLarge { .. })));
        let kept = (out.0.read_blocking().unwrap(), out.1.read_blocking().unwrap(), count.read_blocking().unwrap());
        assert_eq!(kept, (vec![9; 3], vec![9; 3], vec![7]));
    });
}

/// Modifiers of selections and runs, each beside the others.
#[test]
fn modifiers_of_selections_go_together() {
    for (n, count) in [(0usize, 0usize), (1, 1), (300, 300), (300, 299), (20_001, 12_345), (20_001, 30_000)] {
        let (x, y) = (runs(n), mt19937(9, n).iter().map(|r| r % 2).collect::<Vec<u32>>());
        let m = count.min(n);
        let rows: Vec<(u32, u32)> = x.iter().copied().zip(y.iter().copied()).collect();
        each(|d| {
            let (a, b, length) = (d.upload(&x).unwrap(), d.upload(&y).unwrap(), d.upload_scalar(count as u32).unwrap());
            // Rows that differ in any part.
            let firsts: Vec<(u32, u32)> = rows[..m].chunk_by(|a, b| a == b).map(|run| run[0]).collect();
            let found = d.unique((&a, &b)).length(&length).run().unwrap();
            let len = found.len_blocking().unwrap();
            assert_eq!(of(&found.values.0, len).into_iter().zip(of(&found.values.1, len)).collect::<Vec<_>>(), firsts);
            // An equality of one's own, with counts, of what is computed, and other values stored.
            let close = |a: &u32, b: &u32| a / 2 == b / 2;
            let wanted: Vec<(u32, u32)> = x[..m].chunk_by(close).map(|run| (run[0] * 3, run.len() as u32)).collect();
            let found = d.unique(a.map(|x| x + 0u32)).by(|a, b| (a / 2).eq(b / 2)).with_counts().length(&length);
            let found = found.finish(|x| x * 3).run().unwrap();
            let len = found.len_blocking().unwrap();
            assert_eq!(of(&found.values.0, len).into_iter().zip(of(&found.values.1, len)).collect::<Vec<_>>(), wanted);
            // Values by keys that are computed are those by an equality of the first of both.
            let by_key = d.unique(&b).by_key(a.map(|x| x / 2)).length(&length).run().unwrap();
            let by = d.unique((&a, &b).map(|(x, y)| (x / 2, y))).by(|a, b| a.0.eq(b.0)).length(&length).run().unwrap();
            let len = by.len_blocking().unwrap();
            assert_eq!(by_key.len_blocking().unwrap(), len);
            assert_eq!(of(&by_key.values.0, len), of(&by.values.0, len));
            assert_eq!(of(&by_key.values.1, len), of(&by.values.1, len));
            // Flags and a length, and other values stored.
            let wanted: Vec<u32> = rows[..m].iter().filter(|row| row.1 == 1).map(|row| row.0 + 7).collect();
            let kept = d.select_flagged(&a, &b).length(&length).finish(|x| x + 7).run().unwrap();
            assert_eq!(kept.read_blocking().unwrap(), wanted);
            // Flags of the first part, and a condition of the second.
            let (parts, counts) = d.partition_flagged(&a, &b).three_way(|x| x.eq(0)).run().unwrap();
            let part = |row: &(u32, u32)| if row.1 == 1 { 0 } else { 1 + u32::from(row.0 != 0) };
            let of_part = |k: u32| rows.iter().filter(move |row| part(row) == k).map(|row| row.0);
            assert_eq!(parts.read_blocking().unwrap(), of_part(0).chain(of_part(1)).chain(of_part(2)).collect::<Vec<_>>());
            assert_eq!(counts.read_blocking().unwrap(), [of_part(0).count() as u32, of_part(1).count() as u32]);
            // Without a length all runs are decoded.
            let runs = d.run_length_encode(&a).run().unwrap();
            let len = runs.len_blocking().unwrap();
            let (values, lengths) = (runs.values.0.slice(..len).unwrap(), runs.values.1.slice(..len).unwrap());
            let back = d.run_length_decode(&values, &lengths, n as u64 + 3).run().unwrap();
            assert_eq!(back.read_blocking().unwrap(), x.iter().copied().chain([0; 3]).collect::<Vec<_>>());
        });
    }
}

/// Refuses before anything is written.
#[test]
fn reductions_by_key_of_a_length_are_refused_whole() {
    each(|d| {
        let (keys, x, length) = (d.upload(&[1u32, 1, 2]).unwrap(), d.upload(&[1u32, 2, 3]).unwrap(), d.upload_scalar(2u32).unwrap());
        let (k, v, count) = (d.upload(&[7u32; 3]).unwrap(), d.upload(&[7u32; 3]).unwrap(), d.upload(&[7u32]).unwrap());
        let none = count.slice(..0).unwrap();
        let reduce = || d.reduce(&x, Sum).by_key(&keys).length(&length);
        assert!(matches!(reduce().write_to(((&k, &v), &none)), Err(Error::BufferTooSmall { required: 1, .. })));
        assert!(matches!(reduce().write_to(((&k, &v.slice(1..).unwrap()), &count)), Err(Error::BufferTooSmall { required: 3, .. })));
        assert!(matches!(reduce().write_to(((&k.slice(1..).unwrap(), &v), &count)), Err(Error::BufferTooSmall { required: 3, .. })));
        assert!(matches!(reduce().write_to(((&k, &v), length.buffer())), Err(Error::Aliasing { .. })));
        assert!(matches!(reduce().write_to(((&k, &k), &count)), Err(Error::Aliasing { .. })));
        assert!(matches!(d.reduce(&x.slice(1..).unwrap(), Sum).by_key(&keys).length(&length).run(), Err(Error::LengthMismatch { .. })));
        assert_eq!((of(&k, 3), of(&v, 3), of(&count, 1)), (vec![7; 3], vec![7; 3], vec![7]));
        reduce().write_to(((&k, &v), &count)).unwrap();
        assert_eq!((of(&k, 1), of(&v, 1), of(&count, 1)), (vec![1], vec![3], vec![1]));
    });
}
