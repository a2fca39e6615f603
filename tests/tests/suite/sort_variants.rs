//! The textbooks' sorts: against printed tables, against the networks as the books define them, against each other, and what they refuse. On every
//! device.

use crate::common::{cpu, each};
use isowarp::prelude::*;
use isowarp::{Device, Error};
use isowarp_conformance::data::{self, Fill};
use isowarp_textbook::SortVariant;
use isowarp_textbook::sort::TRANSPOSED;

fn keys(d: &Device, variant: SortVariant, keys: &[u32], by: impl Into<SortBy>) -> Vec<u32> {
    d.sort(&d.upload(keys).unwrap()).order(by).variant(variant).run().unwrap().read_blocking().unwrap()
}

/// Where the keys were.
fn places(d: &Device, variant: SortVariant, keys: &[u32], by: impl Into<SortBy>) -> Vec<u32> {
    let pairs = d.sort(&d.upload(keys).unwrap()).with_values(&d.iota(keys.len() as u64, 0u32, 1).unwrap()).order(by).variant(variant).run();
    pairs.unwrap().1.read_blocking().unwrap()
}

#[test]
fn the_textbooks_sixteen_keys_pass_by_pass() {
    // Kirk, Hwu and El Hajj, sections 13.3 to 13.5: keys of four bits, after each pass of one bit.
    let start = [12, 3, 6, 9, 15, 8, 5, 10, 9, 6, 11, 13, 4, 10, 7, 0];
    let passes = [
        [12, 6, 8, 10, 6, 4, 10, 0, 3, 9, 15, 5, 9, 11, 13, 7],
        [12, 8, 4, 0, 9, 5, 9, 13, 6, 10, 6, 10, 3, 15, 11, 7],
        [8, 0, 9, 9, 10, 10, 3, 11, 12, 4, 5, 13, 6, 6, 15, 7],
        [0, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 10, 11, 12, 13, 15],
    ];
    // Where the first pass puts each key.
    let targets = [0, 8, 1, 9, 10, 2, 11, 3, 12, 4, 13, 14, 5, 6, 15, 7u32];
    each(|d| {
        for variant in SortVariant::ALL {
            let up = SortOrder::Ascending;
            assert_eq!(keys(d, variant, &start, up), passes[3], "{}", variant.name());
            assert_eq!(keys(d, variant, &start, up.bits(0..4)), passes[3], "{}", variant.name());
            let mut falling = passes[3];
            falling.reverse();
            assert_eq!(keys(d, variant, &start, SortOrder::Descending), falling, "{}", variant.name());
            if variant.is_stable() {
                for (bit, after) in (1..).zip(passes) {
                    // Sort keys of the passes so far: their bits, the last one's first.
                    assert_eq!(keys(d, variant, &start, up.bits(0..bit)), after, "{} by {bit} bits", variant.name());
                }
                let from = places(d, variant, &start, up.bits(0..1));
                assert!((0..16).all(|i| from[targets[i] as usize] == i as u32), "{}: {from:?}", variant.name());
            }
        }
    });
}

#[test]
fn the_textbooks_people_are_sorted_by_income() {
    let (age, income) = ([30, 32, 22, 29u32], [150, 80, 45, 80u32]);
    each(|d| {
        for variant in SortVariant::ALL {
            assert_eq!(keys(d, variant, &[5, 2, 7, 1, 3, 2, 8], SortOrder::Ascending), [1, 2, 2, 3, 5, 7, 8], "{}", variant.name());
            let (income, age) = (d.upload(&income).unwrap(), d.upload(&age).unwrap());
            let (income, age) = d.sort(&income).with_values(&age).descending().variant(variant).run().unwrap();
            assert_eq!(income.read_blocking().unwrap(), [150, 80, 80, 45], "{}", variant.name());
            let age = age.read_blocking().unwrap();
            assert!(age == [30, 32, 29, 22] || !variant.is_stable() && age == [30, 29, 32, 22], "{}: {age:?}", variant.name());
        }
    });
}

#[test]
fn keys_are_the_radix_sorts_bit_for_bit_and_stable_sorts_its_pairs() {
    each(|d| {
        for (fill, n) in [(Fill::Bits, 3001), (Fill::Wide, 1025), (Fill::Equal, 2000), (Fill::Sorted, 5000)] {
            let host: Vec<f32> = data::data(fill, n, 4);
            let (x, at) = (d.upload(&host).unwrap(), d.iota(n, 0u32, 1).unwrap());
            for order in [SortOrder::Ascending, SortOrder::Descending] {
                let bits = |x: Buffer<Device, f32>| x.read_blocking().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>();
                let expected = bits(d.sort(&x).order(order).run().unwrap());
                let argsort = d.argsort(&x).order(order).run().unwrap().read_blocking().unwrap();
                for variant in SortVariant::ALL {
                    assert!(bits(d.sort(&x).order(order).variant(variant).run().unwrap()) == expected, "{} {fill:?}", variant.name());
                    let (sorted, from) = d.sort(&x).with_values(&at).order(order).variant(variant).run().unwrap();
                    let from = from.read_blocking().unwrap();
                    assert!(bits(sorted) == expected, "{} {fill:?}", variant.name());
                    assert!(from.iter().zip(&expected).all(|(&i, &b)| host[i as usize].to_bits() == b), "{} {fill:?}", variant.name());
                    assert!(!variant.is_stable() || from == argsort, "{} {fill:?}", variant.name());
                }
            }
        }
    });
}

/// Comparators of Batcher's odd-even merge of the places `low + k * step` of `n`, as Batcher defines it: the odd ones, the even ones, then neighbours.
fn odd_even_merge(low: usize, n: usize, step: usize, found: &mut Vec<(usize, usize)>) {
    if 2 * step < n {
        odd_even_merge(low, n, 2 * step, found);
        odd_even_merge(low + step, n, 2 * step, found);
        found.extend((low + step..low + n - step).step_by(2 * step).map(|x| (x, x + step)));
    } else {
        found.push((low, low + step));
    }
}

/// Comparators of a merge of a run that rises and one that falls, which is looked at from its end.
fn bitonic_merge(low: usize, n: usize, found: &mut Vec<(usize, usize)>) {
    fn halves(low: usize, n: usize, found: &mut Vec<(usize, usize)>) {
        if n > 1 {
            found.extend((low..low + n / 2).map(|x| (x, x + n / 2)));
            halves(low, n / 2, found);
            halves(low + n / 2, n / 2, found);
        }
    }
    found.extend((0..n / 2).map(|r| (low + r, low + n - 1 - r)));
    halves(low, n / 2, found);
    halves(low + n / 2, n / 2, found);
}

/// Both halves sorted, then merged.
fn merge_sort(low: usize, n: usize, merge: &impl Fn(usize, usize, &mut Vec<(usize, usize)>), found: &mut Vec<(usize, usize)>) {
    if n > 1 {
        merge_sort(low, n / 2, merge, found);
        merge_sort(low + n / 2, n / 2, merge, found);
        merge(low, n, found);
    }
}

/// Where keys come from that these comparators sort.
fn compared(keys: &[u32], comparators: &[(usize, usize)]) -> Vec<u32> {
    let mut at: Vec<u32> = (0..keys.len() as u32).collect();
    for &(x, y) in comparators {
        if y < at.len() && keys[at[y] as usize] < keys[at[x] as usize] {
            at.swap(x, y);
        }
    }
    at
}

#[test]
fn networks_make_the_comparisons_of_the_books_and_no_others() {
    let d = cpu();
    // Of few values, so that every exchange too many or too few shows in the order of equal keys.
    let host: Vec<u32> = data::data::<u32>(Fill::Plain, 4096, 5).into_iter().map(|k| k % 5).collect();
    for n in [2, 3, 7, 16, 100, 512, 1000, 1024, 1025, 2048, 3000] {
        let (x, whole) = (&host[..n], n.next_power_of_two());
        let network = |merge: &dyn Fn(usize, usize, &mut Vec<(usize, usize)>)| {
            let mut found = Vec::new();
            merge_sort(0, whole, &|low, n, found: &mut Vec<_>| merge(low, n, found), &mut found);
            compared(x, &found)
        };
        let found = |variant| places(&d, variant, x, SortOrder::Ascending);
        assert_eq!(found(SortVariant::OddEvenMerge), network(&|low, n, found| odd_even_merge(low, n, 1, found)), "{n}");
        assert_eq!(found(SortVariant::Bitonic), network(&bitonic_merge), "{n}");
    }
}

#[test]
fn a_transposition_sort_ends_where_neither_phase_swaps() {
    let mut x: Vec<u32> = data::data::<u32>(Fill::Plain, 700, 6).into_iter().map(|k| k % 50).collect();
    let start = x.clone();
    loop {
        let mut swapped = false;
        for phase in 0..2 {
            for i in (phase..x.len() - 1).step_by(2) {
                if x[i] > x[i + 1] {
                    x.swap(i, i + 1);
                    swapped = true;
                }
            }
        }
        if !swapped {
            break;
        }
    }
    each(|d| assert_eq!(keys(d, SortVariant::OddEvenTransposition, &start, SortOrder::Ascending), x));
}

#[test]
fn only_networks_change_the_order_of_equal_keys() {
    each(|d| {
        for variant in SortVariant::ALL {
            let from = places(d, variant, &[1; 64], SortOrder::Ascending);
            assert!(from.is_sorted(), "{}: nothing is out of place", variant.name());
            let mut moved = vec![1; 64];
            moved[63] = 0;
            let from = places(d, variant, &moved, SortOrder::Ascending);
            assert_eq!(from[1..].is_sorted(), variant.is_stable(), "{}: {from:?}", variant.name());
        }
    });
}

#[test]
fn bad_input_is_refused_by_every_variant_and_nothing_is_written() {
    each(|d| {
        let (x, small, nothing) = (d.upload(&[7.0f32; 100]).unwrap(), d.upload(&[7.0f32; 99]).unwrap(), d.upload::<f32>(&[]).unwrap());
        let (values, few) = (d.upload(&[7u32; 100]).unwrap(), d.upload(&[7u32; 99]).unwrap());
        let up = SortOrder::Ascending;
        for variant in SortVariant::ALL {
            let expected = Error::BufferTooSmall { what: "the output", required: 100, available: 99 };
            assert_eq!(d.sort(&x).order(up).variant(variant).write_to(&small).unwrap_err(), expected);
            assert!(matches!(d.sort(&x).order(up).variant(variant).write_to(&x), Err(Error::Aliasing { .. })));
            assert_eq!(
                d.sort(&x).with_values(&few).order(up).variant(variant).run().unwrap_err(),
                Error::LengthMismatch { what: "values", expected: 100, found: 99 }
            );
            let out = d.buffer::<f32>(100).unwrap();
            assert!(matches!(
                d.sort(&x).with_values(&values).order(up).variant(variant).write_to((&out, &values)),
                Err(Error::Aliasing { .. })
            ));
            assert!(matches!(d.sort(&x).order(up.bits(0..33)).variant(variant).run(), Err(Error::InvalidArgument { what: "bits", .. })));
            assert!(d.sort(&nothing).order(up).variant(variant).run().unwrap().read_blocking().unwrap().is_empty());
        }
        let many = d.buffer::<u8>(TRANSPOSED + 1).unwrap();
        let found = d.sort(&many).order(up).variant(SortVariant::OddEvenTransposition).run();
        assert!(matches!(found, Err(Error::TooLarge { requested: 65_537, limit: 65_536, .. })), "{found:?}");
        for b in [&x, &small] {
            assert!(b.read_blocking().unwrap().iter().all(|v| *v == 7.0), "a buffer was changed by a call that failed");
        }
        for b in [&values, &few] {
            assert!(b.read_blocking().unwrap().iter().all(|v| *v == 7), "a buffer was changed by a call that failed");
        }
    });
}
