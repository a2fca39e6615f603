//! The rungs of the textbook's histogram: against its example, against a loop, against each other, and what they refuse. On every device.

use crate::common::each;
use isowarp::prelude::*;
use isowarp::{Device, Error};
use isowarp_conformance::data::{self, Fill};
use isowarp_textbook::HistogramVariant;
use isowarp_textbook::histogram::SHARED_BINS;

/// Counts of letters, four to a bin: a sample that is no letter is in no bin.
fn letters(d: &Device, variant: HistogramVariant, text: &[u8]) -> Vec<u32> {
    let text = d.upload(text).unwrap();
    d.histogram(binned(&text, 7, |x| select(x.lt(123), (x - 97) / 4, u32::MAX))).variant(variant).run().unwrap().read_blocking().unwrap()
}

#[test]
fn letters_of_the_textbooks_title_are_counted_by_four() {
    // The text of Kirk, Hwu and El Hajj, 9.1, counted by hand: a-d, e-h, i-l, m-p, q-t, u-x, y-z.
    each(|d| {
        for variant in HistogramVariant::ALL {
            assert_eq!(letters(d, variant, b"programming massively parallel processors"), [5, 5, 6, 10, 10, 1, 1], "{}", variant.name());
        }
    });
}

#[test]
fn counts_are_those_of_a_loop() {
    // Bytes of all kinds, text with runs, and one letter only.
    let texts: [Vec<u8>; 3] = [
        data::data(Fill::Plain, 20_011, 7),
        (0..9001u32).map(|i| b"a bb cccc dddddddd "[(i * i / 977 % 19) as usize]).collect(),
        vec![b'q'; 4097],
    ];
    each(|d| {
        for text in &texts {
            let mut expected = [0; 7];
            text.iter().filter(|x| x.is_ascii_lowercase()).for_each(|x| expected[usize::from((x - b'a') / 4)] += 1);
            for variant in HistogramVariant::ALL {
                assert_eq!(letters(d, variant, text), expected, "{}", variant.name());
            }
        }
    });
}

#[test]
fn every_sample_is_counted_once_at_every_edge() {
    each(|d| {
        for n in [0u64, 1, 255, 256, 257, 4095, 4096, 4097, 65_537] {
            let numbers = d.iota(n, 0u32, 1).unwrap();
            for variant in HistogramVariant::ALL {
                // Each bin has the numbers of one remainder.
                let counts = d.histogram(binned(&numbers, 10, |i| i % 10)).variant(variant).run().unwrap().read_blocking().unwrap();
                assert!(counts.iter().zip(0..).all(|(&c, r)| u64::from(c) == (n + 9 - r) / 10), "{} of {n}: {counts:?}", variant.name());
            }
        }
    });
}

#[test]
fn bad_input_is_refused_on_every_rung_and_nothing_is_written() {
    each(|d| {
        let (x, out) = (d.upload(&[7u32; 100]).unwrap(), d.upload(&[7u32; 99]).unwrap());
        for variant in HistogramVariant::ALL {
            let expected = Error::BufferTooSmall { what: "the output", required: 100, available: 99 };
            assert_eq!(d.histogram(even_bins(&x, 0, 100, 100)).variant(variant).write_to(&out).unwrap_err(), expected);
            assert!(matches!(d.histogram(even_bins(&x, 0, 100, 100)).variant(variant).write_to(&x), Err(Error::Aliasing { .. })));
            assert!(matches!(d.histogram(even_bins(&x, 5, 5, 2)).variant(variant).run(), Err(Error::InvalidArgument { .. })));
            assert!(matches!(d.histogram(even_bins(&x, 0, 9, 0)).variant(variant).run(), Err(Error::InvalidArgument { .. })));
            let many = d.histogram(even_bins(&x, 0, 1 << 20, SHARED_BINS as u32 + 1)).variant(variant).run();
            match variant.most_bins() {
                None => assert_eq!(many.unwrap().read_blocking().unwrap().iter().sum::<u32>(), 100),
                Some(limit) => assert!(matches!(many, Err(Error::TooLarge { requested: 4097, limit: l, .. }) if l == limit), "{many:?}"),
            }
        }
        for b in [&x, &out] {
            assert!(b.read_blocking().unwrap().iter().all(|v| *v == 7), "a buffer was changed by a call that failed");
        }
    });
}
