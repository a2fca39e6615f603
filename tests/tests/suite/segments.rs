//! Segments, runs of keys and neighbours against plain Rust, and what bad input gets. On every device.

use crate::common::{each, mt19937};
use isowarp::prelude::*;
use isowarp::{Device, Error};

/// Lengths of segments from nothing to several tiles, the elements, and where they are cut.
fn cut(seed: u32, n: usize) -> (Vec<u32>, Vec<u32>) {
    cut_longer(seed, n, 1)
}

fn cut_longer(seed: u32, n: usize, times: u32) -> (Vec<u32>, Vec<u32>) {
    let (x, lengths) = (mt19937(seed, n), mt19937(seed + 1, n + 1));
    let mut offsets = vec![(n / 50) as u32];
    for r in lengths {
        let last = offsets[offsets.len() - 1];
        let length = times * if r & 7 == 0 { r >> 17 } else { (r >> 8) % [1, 2, 40, 1500][r as usize >> 3 & 3] };
        if (last + length) as usize >= n - n / 50 {
            break;
        }
        offsets.push(last + length);
    }
    (x, offsets)
}

fn slices<'a>(x: &'a [u32], offsets: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
    offsets.windows(2).map(|b| &x[b[0] as usize..b[1] as usize])
}

#[test]
fn segments_are_reduced_as_their_slices_are() {
    for n in [1, 300, 9001, 200_003] {
        let (x, offsets) = cut(5, n);
        let sums: Vec<u32> = slices(&x, &offsets).map(|s| s.iter().fold(0, |a: u32, &b| a.wrapping_add(b))).collect();
        let least: Vec<u32> = slices(&x, &offsets).map(|s| s.iter().copied().min().unwrap_or(u32::MAX)).collect();
        let longest = slices(&x, &offsets).enumerate().max_by_key(|(_, s)| s.len()).map_or(0, |(k, _)| k);
        each(|d| {
            let (x, offsets) = (d.upload(&x).unwrap(), d.upload(&offsets).unwrap());
            assert_eq!(d.reduce(&x, Sum).segments(&offsets).checked().run().unwrap().read_blocking().unwrap(), sums);
            assert_eq!(d.reduce(&x, Min).segments(&offsets).run().unwrap().read_blocking().unwrap(), least);
            // The order is the slice's own, wherever it lies.
            let noise = d.map(&x, |x| (x.cast::<f32>() * 1e-3).sin()).unwrap();
            let found = d.reduce(&noise, Sum).segments(&offsets).run().unwrap().read_blocking().unwrap();
            let bounds = offsets.read_blocking().unwrap();
            if let Some(b) = bounds.windows(2).nth(longest) {
                let alone = d.reduce(&noise.slice(u64::from(b[0])..u64::from(b[1])).unwrap(), Sum).run().unwrap().read_blocking().unwrap();
                assert_eq!(found[longest].to_bits(), alone.to_bits());
            }
        });
    }
}

#[test]
fn runs_of_keys_are_reduced_as_a_loop_does() {
    for n in [0, 1, 300, 70_001] {
        let (keys, values) = (mt19937(9, n).iter().map(|k| k >> 31).collect::<Vec<_>>(), mt19937(11, n));
        let (mut found, mut sums): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for (i, (&k, &v)) in keys.iter().zip(&values).enumerate() {
            if i == 0 || keys[i - 1] != k {
                found.push(k);
                sums.push(0);
            }
            if let Some(sum) = sums.last_mut() {
                *sum = sum.wrapping_add(v);
            }
        }
        each(|d| {
            let runs = d.reduce(&d.upload(&values).unwrap(), Sum).by_key(&d.upload(&keys).unwrap()).run().unwrap();
            let n = runs.len_blocking().unwrap();
            assert_eq!(runs.values.0.slice(..n).unwrap().read_blocking().unwrap(), found);
            assert_eq!(runs.values.1.slice(..n).unwrap().read_blocking().unwrap(), sums);
        });
    }
}

#[test]
fn exclusive_scans_of_segments_over_inputs_are_those_of_arrays() {
    for n in [0, 1, 2, 300, 8192, 20_003] {
        let (x, r) = (mt19937(31, n), mt19937(32, n));
        let f = |x: u32, i: usize| (x >> 9).wrapping_mul(i as u32 + 3);
        let starts: Vec<u32> = r.iter().map(|r| u32::from(r % 40 == 0)).collect();
        let (mut sum, mut sums) = (0u32, Vec::new());
        for (i, &x) in x.iter().enumerate() {
            sum = if starts[i] != 0 { 0 } else { sum };
            sums.push(sum);
            sum = sum.wrapping_add(f(x, i));
        }
        each(|d| {
            let (x, flags) = (d.upload(&x).unwrap(), d.upload(&starts).unwrap());
            let f = |(x, i): (Expr<u32>, Expr<u32>)| (x >> 9) * (i + 3);
            let found = d.scan((&x, index()).map(f), Sum).by_flags(&flags).exclusive().run().unwrap();
            assert_eq!(found.read_blocking().unwrap(), sums, "{n}");
            let keys = d.cumsum(&flags).unwrap();
            let found = d.scan((&x, index()).map(f), Sum).by_key(&keys).exclusive().run().unwrap();
            assert_eq!(found.read_blocking().unwrap(), sums, "{n}");
            // Of floats every bit is that of the scan of what was computed before; of a view, of one that was copied.
            let wave = |(x, i): (Expr<u32>, Expr<u32>)| (x.cast::<f32>() * 1e-3 + i.cast::<f32>()).sin() * 0.7;
            for (view, of) in [(x.reversed(), "reversed"), (x.strided(0, n as u64, 1).unwrap(), "whole")] {
                let found = d.scan((&view, index()).map(wave), Sum).by_flags(&flags).exclusive().run().unwrap().read_blocking().unwrap();
                let computed = d.map((&view, index()), wave).unwrap();
                let expected = d.scan(&computed, Sum).by_flags(&flags).exclusive().run().unwrap().read_blocking().unwrap();
                assert!(found.iter().map(|v| v.to_bits()).eq(expected.iter().map(|v| v.to_bits())), "{n} {of}");
            }
        });
    }
}

#[test]
fn scans_by_offsets_over_inputs_are_those_of_arrays() {
    for n in [0, 1, 300, 8193, 20_003] {
        let (x, offsets) = if n > 0 { cut(41, n) } else { (Vec::new(), vec![0, 0]) };
        each(|d| {
            let (x, offsets) = (d.upload(&x).unwrap(), d.upload(&offsets).unwrap());
            let bits = |b: isowarp::Result<Buffer<Device, f32>>| {
                b.unwrap().read_blocking().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            // Counted and constant inputs, a view, and elements that are fetched from elsewhere.
            let reversed = x.reversed();
            let inputs = || (counting(n as u64), scalar(1e-3f32), (&reversed).map(|x| x >> 9), array(&x));
            let wave = |(i, k, back, all): (Expr<u32>, Expr<f32>, Expr<u32>, isowarp::ir::ArrayExpr<u32>)| {
                (back.cast::<f32>() * k + i.cast::<f32>()).sin() * (all.at(i ^ 1) >> 20).cast::<f32>()
            };
            let array = d.map(inputs(), wave).unwrap();
            assert_eq!(
                bits(d.scan(inputs().map(wave), Sum).segments(&offsets).run()),
                bits(d.scan(&array, Sum).segments(&offsets).run()),
                "{n}"
            );
            let expected = d.scan(&array, Sum).segments(&offsets).exclusive().run();
            assert_eq!(bits(d.scan(inputs().map(wave), Sum).segments(&offsets).exclusive().run()), bits(expected), "{n}");
        });
    }
}

#[test]
fn neighbours_of_what_is_computed_are_those_of_arrays() {
    for n in [0, 1, 300, 20_003] {
        let x = mt19937(51, n);
        each(|d| {
            let x = d.upload(&x).unwrap();
            let reversed = x.reversed();
            // Runs, of a view from its end, of what is counted and fetched.
            let inputs = || (&reversed, counting(n as u64), array(&x));
            let few = |(back, i, all): (Expr<u32>, Expr<u32>, isowarp::ir::ArrayExpr<u32>)| {
                ((back >> 30) + (i / 5) + (all.at(i) >> 31)).cast::<f32>()
            };
            let array = d.map(inputs(), few).unwrap();
            let (found, expected) = (d.unique(inputs().map(few)).run().unwrap(), d.unique(&array).run().unwrap());
            assert_eq!(found.read_blocking().unwrap(), expected.read_blocking().unwrap(), "{n}");
            let (found, expected) = (d.run_length_encode(inputs().map(few)).run().unwrap(), d.run_length_encode(&array).run().unwrap());
            let runs = expected.len_blocking().unwrap();
            assert_eq!(found.len_blocking().unwrap(), runs);
            let first = |b: &Buffer<Device, u32>| b.slice(..runs).unwrap().read_blocking().unwrap();
            assert_eq!(first(&found.values.1), first(&expected.values.1), "{n}");
            let step = |a: Expr<f32>, b: Expr<f32>| b * 3.0 - a;
            let found = d.adjacent(inputs().map(few), step).run().unwrap().read_blocking().unwrap();
            assert_eq!(found, d.adjacent(&array, step).run().unwrap().read_blocking().unwrap(), "{n}");
        });
    }
}

#[test]
fn segments_are_sorted_and_scanned_as_their_slices_are() {
    for (n, times) in [(1, 1), (300, 1), (40_003, 1), (300_007, 8)] {
        let (x, offsets) = cut_longer(21, n, times);
        let (mut sorted, mut scanned) = (x.clone(), x.clone());
        for b in offsets.windows(2) {
            sorted[b[0] as usize..b[1] as usize].sort_unstable();
            for i in b[0] as usize + 1..b[1] as usize {
                scanned[i] = scanned[i].wrapping_add(scanned[i - 1]);
            }
        }
        let inside = offsets[0] as usize..offsets[offsets.len() - 1] as usize;
        each(|d| {
            let (x, offsets) = (d.upload(&x).unwrap(), d.upload(&offsets).unwrap());
            assert_eq!(d.sort(&x).segments(&offsets).run().unwrap().read_blocking().unwrap(), sorted);
            let order = d.argsort(&x).segments(&offsets).run().unwrap();
            assert_eq!(d.gather(&x, &order).run().unwrap().read_blocking().unwrap(), sorted);
            let found = d.scan(&x, Sum).segments(&offsets).run().unwrap().read_blocking().unwrap();
            assert_eq!(found[inside.clone()], scanned[inside.clone()]);
        });
    }
}

#[test]
fn chains_follow_counts() {
    let x = mt19937(31, 60_007);
    for most in [0u32, 1 << 20, 1 << 26, 1 << 31, u32::MAX] {
        let mut kept: Vec<u32> = x.iter().copied().filter(|&x| x < most).collect();
        let sum = kept.iter().fold(0u32, |sum, x| sum.wrapping_add(*x));
        let mut order: Vec<u32> = (0..kept.len() as u32).collect();
        order.sort_by_key(|&i| kept[i as usize]);
        kept.sort_unstable();
        each(|d| {
            let found = d.select(&d.upload(&x).unwrap(), |x| x.lt(most)).run().unwrap();
            let sorted = d.sort(&found.values).length(&found.count).run().unwrap();
            assert_eq!(sorted.read_blocking().unwrap(), kept);
            assert_eq!(d.reduce(&sorted.values, Sum).length(&sorted.count).run().unwrap().read_blocking().unwrap(), sum);
            assert_eq!(d.argsort(&found.values).length(&found.count).run().unwrap().read_blocking().unwrap(), order);
        });
    }
}

#[test]
fn what_is_counted_has_room() {
    each(|d| {
        let (x, count) = (d.upload(&[3u32, 1, 2]).unwrap(), d.upload_scalar(2u32).unwrap());
        let error = d.sort(&x).length(&count).write_to(&d.buffer(2).unwrap()).unwrap_err();
        assert_eq!(error, Error::BufferTooSmall { what: "the output", required: 3, available: 2 });
        let error = d.sort(&x).length(&count).write_to(&x).unwrap_err();
        assert!(matches!(error, Error::Aliasing { .. }), "{error}");
        let counted = d.upload(&[5u32, 2, 9, 2]).unwrap();
        let inside = isowarp::buffer::DeviceScalar::from_buffer(counted.slice(1..2).unwrap()).unwrap();
        let error = d.argsort(&x).length(&inside).write_to(&counted).unwrap_err();
        assert!(matches!(error, Error::Aliasing { .. }), "{error}");
        let error = d.sort(&x).length(&count).bits(3..33).write_to(&d.buffer(3).unwrap()).unwrap_err();
        assert!(matches!(error, Error::InvalidArgument { what: "bits", .. }), "{error}");
        assert_eq!((x.read_blocking().unwrap(), counted.read_blocking().unwrap()), (vec![3, 1, 2], vec![5, 2, 9, 2]));
        let found = d.reduce(&x, Min).length(&d.upload_scalar(0u64).unwrap()).run().unwrap();
        assert_eq!(found.read_blocking().unwrap(), u32::MAX);
    });
}

#[test]
fn differences_are_undone_by_sums() {
    let x = mt19937(3, 10_001);
    each(|d| {
        let device = d.upload(&x).unwrap();
        let back = d.cumsum(&d.adjacent_difference(&device).run().unwrap()).unwrap();
        assert_eq!(back.read_blocking().unwrap(), x);
    });
}

#[test]
fn offsets_that_are_wrong_are_named_and_nothing_is_written() {
    each(|d| {
        let (x, out) = (d.iota(9000, 0u32, 1).unwrap(), d.iota(3, 7u32, 0).unwrap());
        let check = |offsets: &[u32]| d.reduce(&x, Sum).segments(&d.upload(offsets).unwrap()).checked().write_to(&out).unwrap_err();
        let falls = Error::NotSorted { pattern: "segments", what: "the array of offsets", index: 2 };
        assert_eq!(check(&[0, 8000, 7999, 9000]), falls);
        let beyond = Error::IndexOutOfRange { pattern: "segments", position: 2, index: 9001, limit: 9001 };
        assert_eq!(check(&[0, 9000, 9001, u32::MAX]), beyond);
        assert_eq!(out.read_blocking().unwrap(), [7; 3]);
        d.check_offsets(&d.upload(&[9000u32, 9000]).unwrap(), 9000).unwrap();
    });
}

#[test]
fn offsets_that_are_wrong_do_no_harm_elsewhere() {
    each(|d| {
        let n = 50_000;
        let x = d.iota(n, 1.0f32, 0.5).unwrap();
        let wrong = d.generate(2001, index(), |i| i * 2_654_435_761u32).unwrap();
        let out = d.iota(2020, 7.0f32, 0.0).unwrap();
        d.reduce(&x, Sum).segments(&wrong).write_to(&out.slice(10..2010).unwrap()).unwrap();
        let found = out.read_blocking().unwrap();
        assert!(found[..10].iter().chain(&found[2010..]).all(|&v| v == 7.0));
        // Nothing is lost or added, wherever it is.
        let sorted = d.argsort(&x).segments(&wrong).descending().run().unwrap().read_blocking().unwrap();
        assert!(sorted.iter().all(|&i| u64::from(i) < n));
        assert_eq!(d.scan(&x, Max).segments(&wrong).run().unwrap().len(), n);
        // The next call finds everything as it should be.
        let whole = d.reduce(&x, Sum).segments(&d.upload(&[0u32, 50_000]).unwrap()).run().unwrap();
        let sum = d.sum(&x).unwrap().read_blocking().unwrap();
        assert_eq!(whole.read_blocking().unwrap()[0].to_bits(), sum.to_bits());
    });
}

#[test]
fn segments_refuse_what_does_not_fit() {
    each(|d: &Device| {
        let x = d.iota(100, 0u32, 1).unwrap();
        let offsets = d.upload(&[0u32, 40, 100]).unwrap();
        let none: Buffer<Device, u32> = d.buffer(0).unwrap();
        let (out, count) = (d.iota(100, 7u32, 0).unwrap(), d.iota(1, 7u32, 0).unwrap());
        let small = |n: u64| out.slice(..n).unwrap();
        assert!(matches!(d.reduce(&x, Sum).segments(&none).run(), Err(Error::InvalidArgument { what: "offsets", .. })));
        assert!(matches!(d.sort(&x).segments(&none).run(), Err(Error::InvalidArgument { what: "offsets", .. })));
        let short = d.reduce(&x, Sum).segments(&offsets).write_to(&small(1));
        assert!(matches!(short, Err(Error::BufferTooSmall { required: 2, available: 1, .. })));
        assert!(matches!(d.reduce(&x, Sum).segments(&offsets).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.reduce(&x, Sum).segments(&offsets).write_to(&offsets), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x).segments(&offsets).write_to(&small(99)), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.sort(&x).segments(&offsets).write_to(&x), Err(Error::Aliasing { .. })));
        let uneven = d.reduce(&small(99), Sum).by_key(&x).run();
        assert!(matches!(uneven, Err(Error::LengthMismatch { expected: 99, found: 100, .. })));
        let by_key =
            |k: &Buffer<Device, u32>, v: &Buffer<Device, u32>, c: &Buffer<Device, u32>| d.reduce(&x, Sum).by_key(&x).write_to(((k, v), c));
        let other = d.iota(100, 7u32, 0).unwrap();
        assert!(matches!(by_key(&out, &small(99), &count), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(by_key(&out, &out, &count), Err(Error::Aliasing { .. })));
        assert!(matches!(by_key(&x, &out, &count), Err(Error::Aliasing { .. })));
        assert!(matches!(by_key(&other, &x, &count), Err(Error::Aliasing { .. })));
        assert!(matches!(by_key(&other, &out, &none), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.adjacent_difference(&x).write_to(&x.slice(1..).unwrap()), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.adjacent_difference(&x).write_to(&x), Err(Error::Aliasing { .. })));
        assert_eq!((out.read_blocking().unwrap(), count.read_blocking().unwrap()), (vec![7; 100], vec![7]));
        assert!(x.read_blocking().unwrap().into_iter().eq(0..100));
    });
}
