//! The rungs of the textbook's merge: against its example and its launch, against a stable sort on the host, and what they refuse. On every device.

use crate::common::each;
use isowarp::element::Element;
use isowarp::prelude::*;
use isowarp::{Device, Error};
use isowarp_conformance::data::{self, Fill};
use isowarp_textbook::MergeVariant;

const UP: SortOrder = SortOrder::Ascending;

/// Keys, and where they came from: those of `b` behind those of `a`.
fn merged<K: Element>(d: &Device, variant: MergeVariant, a: &[K], b: &[K], order: SortOrder) -> (Vec<K>, Vec<u32>) {
    let (m, n) = (a.len() as u64, b.len() as u64);
    let (v, w) = (d.iota(m, 0u32, 1).unwrap(), d.iota(n, m as u32, 1).unwrap());
    let (a, b) = (d.upload(a).unwrap(), d.upload(b).unwrap());
    let (keys, from) = d.merge(&a, &b).with_values(&v, &w).order(order).variant(variant).run().unwrap();
    (keys.read_blocking().unwrap(), from.read_blocking().unwrap())
}

/// Returns what a stable sort of one array behind the other gives.
fn expected(a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut all: Vec<(u32, u32)> = a.iter().chain(b).copied().zip(0..).collect();
    all.sort_by_key(|&(key, _)| key);
    all.into_iter().unzip()
}

#[test]
fn the_textbooks_arrays_are_merged_with_those_of_the_first_in_front() {
    // Kirk, Hwu and El Hajj, exercise 12.1.
    each(|d| {
        for variant in MergeVariant::ALL {
            let (keys, from) = merged(d, variant, &[1u32, 7, 8, 9, 10], &[7, 10, 10, 12], UP);
            assert_eq!(keys, [1, 7, 7, 8, 9, 10, 10, 10, 12], "{}", variant.name());
            assert_eq!(from, [0, 1, 5, 2, 3, 4, 6, 7, 8], "{}", variant.name());
        }
    });
}

#[test]
fn the_textbooks_launch_is_merged() {
    // 33,000 and 31,000 keys, of which a workgroup has several tiles; of few values, and of many.
    for most in [3, 1000, u32::MAX] {
        let side = |n: u64, seed| {
            let mut keys: Vec<u32> = data::data::<u32>(Fill::Plain, n, seed).into_iter().map(|k| k % most).collect();
            keys.sort_unstable();
            keys
        };
        let (a, b) = (side(33_000, 1), side(31_000, 2));
        let expected = expected(&a, &b);
        each(|d| {
            for variant in MergeVariant::ALL {
                assert!(merged(d, variant, &a, &b, UP) == expected, "{} of keys below {most}", variant.name());
            }
        });
    }
}

#[test]
fn a_side_that_ends_in_the_midst_of_a_section_leaves_nothing_behind() {
    // The printed tiled kernel counts what earlier tiles left in shared memory once a side has ended: one side ends in each tile of a section.
    each(|d| {
        for end in [1, 500, 1023, 1024, 1025, 1700, 2049, 3000, 4095] {
            let short: Vec<u32> = (0..end).map(|i| 2 * i).collect();
            let long: Vec<u32> = (0..9000).map(|i| 2 * i + 1).collect();
            for (a, b) in [(&short, &long), (&long, &short)] {
                let expected = expected(a, b);
                for variant in MergeVariant::ALL {
                    assert!(merged(d, variant, a, b, UP) == expected, "{} of {} and {} keys", variant.name(), a.len(), b.len());
                }
            }
        }
    });
}

#[test]
fn floats_are_ordered_totally_and_keep_their_bits() {
    each(|d| {
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            let side = |n, seed| {
                let mut keys: Vec<f32> = data::data(Fill::Bits, n, seed);
                keys.sort_by(f32::total_cmp);
                if order == SortOrder::Descending {
                    keys.reverse();
                }
                keys
            };
            let (a, b) = (side(3001, 3), side(2500, 4));
            let mut all: Vec<f32> = a.iter().chain(&b).copied().collect();
            all.sort_by(f32::total_cmp);
            if order == SortOrder::Descending {
                all.reverse();
            }
            for variant in MergeVariant::ALL {
                let (keys, _) = merged(d, variant, &a, &b, order);
                assert!(keys.iter().map(|k| k.to_bits()).eq(all.iter().map(|k| k.to_bits())), "{} {order:?}", variant.name());
            }
        }
    });
}

#[test]
fn arrays_that_are_not_sorted_do_no_harm_elsewhere() {
    each(|d| {
        let (x, y) = (data::data::<u32>(Fill::Bits, 9001, 5), data::data::<u32>(Fill::Bits, 7001, 6));
        let (x, y) = (d.upload(&x).unwrap(), d.upload(&y).unwrap());
        for variant in MergeVariant::ALL {
            let out = d.upload(&vec![7u32; 16_100]).unwrap();
            d.merge(&x, &y).order(UP).variant(variant).write_to(&out.slice(50..16_052).unwrap()).unwrap();
            let out = out.read_blocking().unwrap();
            assert!(out[..50].iter().chain(&out[16_052..]).all(|&k| k == 7), "{}", variant.name());
        }
    });
}

#[test]
fn bad_input_is_refused_on_every_rung_and_nothing_is_written() {
    each(|d| {
        let (x, small, nothing) = (d.upload(&[7u32; 100]).unwrap(), d.upload(&[7u32; 99]).unwrap(), d.upload::<u32>(&[]).unwrap());
        for variant in MergeVariant::ALL {
            let short = d.merge(&x, &nothing).order(UP).variant(variant).write_to(&small).unwrap_err();
            assert_eq!(short, Error::BufferTooSmall { what: "the output", required: 100, available: 99 });
            assert!(matches!(d.merge(&x, &nothing).order(UP).variant(variant).write_to(&x), Err(Error::Aliasing { .. })));
            let values = d.merge(&x, &nothing).with_values(&small, &nothing).order(UP).variant(variant).run().unwrap_err();
            assert_eq!(values, Error::LengthMismatch { what: "values", expected: 100, found: 99 });
            assert!(d.merge(&nothing, &nothing).order(UP).variant(variant).run().unwrap().read_blocking().unwrap().is_empty());
        }
        for b in [&x, &small] {
            assert!(b.read_blocking().unwrap().iter().all(|v| *v == 7), "a buffer was changed by a call that failed");
        }
    });
}
