//! Merges, searches and sets against figures from elsewhere and against loops, and what becomes of bad input.

use crate::common::each;
use isowarp::prelude::*;
use isowarp::{Device, Error};

/// Kirk, Hwu and El Hajj, chapter 12: the example of the text and exercises 12.1 and 12.2.
#[test]
fn the_textbooks_arrays_merge_and_split_as_it_says() {
    each(|d| {
        let (a, b) = (d.upload(&[1u32, 7, 8, 9, 10]).unwrap(), d.upload(&[7u32, 10, 10, 12]).unwrap());
        let (v, w) = (d.upload(b"ABCDE").unwrap(), d.upload(b"abcd").unwrap());
        let (keys, values) = d.merge(&a, &b).with_values(&v, &w).run().unwrap();
        assert_eq!(keys.read_blocking().unwrap(), [1, 7, 7, 8, 9, 10, 10, 10, 12]);
        assert_eq!(values.read_blocking().unwrap(), *b"ABaCDEbcd");
        let ranks = d.iota(10, 0u32, 1).unwrap();
        assert_eq!(d.co_ranks(&a, &b, &ranks).run().unwrap().read_blocking().unwrap(), [0, 1, 2, 2, 3, 4, 5, 5, 5, 5]);
        // Three threads merge three elements each; the second one takes nothing of b.
        let whole = d.buffer::<u32>(9).unwrap();
        for (k, i) in [(0u64, [0u64, 2]), (3, [2, 5]), (6, [5, 5])] {
            let j = [k - i[0], k + 3 - i[1]];
            let part = |x: &Buffer<Device, u32>, [from, to]: [u64; 2]| x.slice(from..to).unwrap();
            d.merge(&part(&a, i), &part(&b, j)).write_to(&whole.slice(k..k + 3).unwrap()).unwrap();
        }
        assert_eq!(whole.read_blocking().unwrap(), keys.read_blocking().unwrap());
    });
}

/// Numbers below `most`, in order, from a generator.
fn rising(state: &mut u64, n: u64, most: u64) -> Vec<u32> {
    let mut next = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*state >> 33) % most) as u32
    };
    let mut v: Vec<u32> = (0..n).map(|_| next()).collect();
    v.sort_unstable();
    v
}

const SHAPES: [(u64, u64, u64); 6] = [(0, 5, 9), (300, 0, 9), (1000, 1000, 40), (9000, 3, 100_000), (3, 9000, 2), (5000, 7001, 1 << 30)];

#[test]
fn a_merge_is_a_stable_sort_of_one_array_behind_the_other() {
    each(|d| {
        let mut state = 1;
        for (m, n, most) in SHAPES {
            let (a, b) = (rising(&mut state, m, most), rising(&mut state, n, most));
            let mut expected: Vec<(u32, u32)> = a.iter().chain(&b).copied().zip(0..).collect();
            expected.sort_by_key(|&(key, _)| key);
            let (v, w) = (d.iota(m, 0u32, 1).unwrap(), d.iota(n, m as u32, 1).unwrap());
            let (keys, values) = d.merge(&d.upload(&a).unwrap(), &d.upload(&b).unwrap()).with_values(&v, &w).run().unwrap();
            let found: Vec<(u32, u32)> = keys.read_blocking().unwrap().into_iter().zip(values.read_blocking().unwrap()).collect();
            assert!(found == expected, "{m} and {n} of {most}");
        }
    });
}

#[test]
fn searches_are_those_of_slices() {
    each(|d| {
        let mut state = 2;
        for (m, n, most) in SHAPES {
            let (sorted, mut needles) = (rising(&mut state, m, most), rising(&mut state, n, most + 2));
            needles.reverse();
            let (x, y) = (d.upload(&sorted).unwrap(), d.upload(&needles).unwrap());
            let lower: Vec<u32> = needles.iter().map(|k| sorted.partition_point(|s| s < k) as u32).collect();
            let upper: Vec<u32> = needles.iter().map(|k| sorted.partition_point(|s| s <= k) as u32).collect();
            let equal: Vec<u32> = upper.iter().zip(&lower).map(|(u, l)| u - l).collect();
            assert!(d.lower_bound(&x, &y).run().unwrap().read_blocking().unwrap() == lower, "{m} and {n} of {most}");
            assert!(d.upper_bound(&x, &y).run().unwrap().read_blocking().unwrap() == upper, "{m} and {n} of {most}");
            assert!(d.count_equal(&x, &y).run().unwrap().read_blocking().unwrap() == equal, "{m} and {n} of {most}");
        }
    });
}

#[test]
fn sets_hold_elements_as_often_as_cpp_says() {
    each(|d| {
        let mut state = 3;
        for (m, n, most) in SHAPES {
            let (a, b) = (rising(&mut state, m, most), rising(&mut state, n, most));
            let of = |times: fn(usize, usize) -> usize| -> Vec<u32> {
                let mut values = [a.clone(), b.clone()].concat();
                values.sort_unstable();
                values.dedup();
                let count = |x: &[u32], v: u32| x.partition_point(|&k| k <= v) - x.partition_point(|&k| k < v);
                values.iter().flat_map(|&v| std::iter::repeat_n(v, times(count(&a, v), count(&b, v)))).collect()
            };
            let (x, y) = (d.upload(&a).unwrap(), d.upload(&b).unwrap());
            let what = format!("{m} and {n} of {most}");
            assert!(d.union(&x, &y).run().unwrap().read_blocking().unwrap() == of(usize::max), "union of {what}");
            assert!(d.intersection(&x, &y).run().unwrap().read_blocking().unwrap() == of(usize::min), "intersection of {what}");
            assert!(d.difference(&x, &y).run().unwrap().read_blocking().unwrap() == of(usize::saturating_sub), "difference of {what}");
            let differ = d.symmetric_difference(&x, &y).run().unwrap().read_blocking().unwrap();
            assert!(differ == of(usize::abs_diff), "symmetric difference of {what}");
        }
    });
}

#[test]
fn arrays_that_are_not_sorted_are_named_and_nothing_is_written() {
    each(|d| {
        let (a, b) = (d.iota(9000, 0u32, 1).unwrap(), d.iota(9000, 0u32, 1).unwrap());
        let out = d.iota(18_000, 7u32, 0).unwrap();
        d.fill(&b.slice(8000..8001).unwrap(), 5).unwrap();
        let wrong = |pattern, what, index| Error::NotSorted { pattern, what, index };
        assert_eq!(d.merge(&a, &b).checked().write_to(&out).unwrap_err(), wrong("merge", "the second array", 8000));
        assert_eq!(d.merge(&b, &a).checked().write_to(&out).unwrap_err(), wrong("merge", "the first array", 8000));
        assert_eq!(d.is_sorted(&a).descending().check().unwrap_err(), wrong("check_sorted", "the array", 1));
        assert_eq!(out.read_blocking().unwrap(), [7; 18_000]);
        d.is_sorted(&a.slice(..1).unwrap()).descending().check().unwrap();
        // By order, not by value: 0 comes behind -0.
        let zeros = d.upload(&[0.0f32, -0.0]).unwrap();
        assert_eq!(d.is_sorted(&zeros).check().unwrap_err(), wrong("check_sorted", "the array", 1));
        let halves = d.upload(&[1.0f32, 2.0, 1.5].map(half::f16::from_f32)).unwrap();
        assert_eq!(d.is_sorted(&halves).check().unwrap_err(), wrong("check_sorted", "the array", 2));
        d.is_sorted(&d.upload(&[3u64, 2, 2]).unwrap()).descending().check().unwrap();
    });
}

#[test]
fn arrays_that_are_not_sorted_do_no_harm_elsewhere() {
    each(|d| {
        for n in [100, 20_000] {
            let noise = |seed: u32| d.generate(n, (index(), scalar(seed)), |(i, s)| ((i + s) * 2_654_435_761) >> 3).unwrap();
            let out = d.iota(2 * n + 20, 7u32, 0).unwrap();
            let values = d.iota(2 * n + 20, 7u32, 0).unwrap();
            let inside = |x: &Buffer<Device, u32>| x.slice(10..2 * n + 10).unwrap();
            let (a, b) = (noise(1), noise(1 << 20));
            d.merge(&a, &b).with_values(&b, &a).write_to((&inside(&out), &inside(&values))).unwrap();
            for x in [&out, &values] {
                let x = x.read_blocking().unwrap();
                assert!(x[..10].iter().chain(&x[x.len() - 10..]).all(|&v| v == 7));
            }
            for found in
                [d.lower_bound(&a, &b).run(), d.upper_bound(&a, &b).run(), d.count_equal(&a, &b).run(), d.co_ranks(&a, &b, &a).run()]
            {
                assert!(found.unwrap().read_blocking().unwrap().iter().all(|&at| u64::from(at) <= n));
            }
        }
    });
}

#[test]
fn merges_refuse_what_does_not_fit() {
    each(|d| {
        let x = d.iota(100, 0u32, 1).unwrap();
        let (low, high) = (x.slice(..40).unwrap(), x.slice(40..).unwrap());
        let (out, count) = (d.iota(100, 7u32, 0).unwrap(), d.iota(1, 7u32, 0).unwrap());
        assert!(matches!(d.merge(&low, &high).write_to(&x), Err(Error::Aliasing { .. })));
        let small = d.buffer(99).unwrap();
        assert!(matches!(d.merge(&low, &high).write_to(&small), Err(Error::BufferTooSmall { required: 100, available: 99, .. })));
        assert!(matches!(d.merge(&low, &high).with_values(&low, &low).run(), Err(Error::LengthMismatch { expected: 60, found: 40, .. })));
        assert!(matches!(d.merge(&low, &high).with_values(&low, &high).write_to((&out, &out)), Err(Error::Aliasing { .. })));
        assert!(matches!(d.lower_bound(&low, &high).write_to(&high), Err(Error::Aliasing { .. })));
        assert!(matches!(d.upper_bound(&low, &x).write_to(&small), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.co_ranks(&low, &high, &x).write_to(&small), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.union(&low, &high).write_to((&small, &count)), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.difference(&low, &high).write_to((&high, &count)), Err(Error::Aliasing { .. })));
        assert!(matches!(d.intersection(&low, &high).write_to((&out, &out)), Err(Error::Aliasing { .. })));
        assert_eq!((out.read_blocking().unwrap(), count.read_blocking().unwrap()), (vec![7; 100], vec![7]));
        assert!(x.read_blocking().unwrap().into_iter().eq(0..100));
    });
}
