//! MRG32k3a against L'Ecuyer's published numbers and a plain loop.

use crate::common::{each, each_with};
use isowarp::element::DType;
use isowarp::prelude::*;
use isowarp::random::Mrg32k3a;
use isowarp::{Cpu, Error};

/// L'Ecuyer's recurrence (1999), in integers.
fn words(seed: [u32; 6], n: usize) -> Vec<u32> {
    const M: [i64; 2] = [4_294_967_087, 4_294_944_443];
    let mut s = seed.map(i64::from);
    let mut next = || {
        let p = (1_403_580 * s[1] - 810_728 * s[0]).rem_euclid(M[0]);
        let q = (527_612 * s[5] - 1_370_589 * s[3]).rem_euclid(M[1]);
        s = [s[1], s[2], p, s[4], s[5], q];
        (if p > q { p - q } else { p - q + M[0] }) as u32
    };
    (0..n).map(|_| next()).collect()
}

#[test]
fn numbers_are_those_of_the_recurrence_at_every_place() {
    let seeds =
        [[12_345; 6], [1, 0, 0, 0, 0, 1], [4_294_967_086, 4_294_967_086, 4_294_967_086, 4_294_944_442, 4_294_944_442, 4_294_944_442]];
    each(|d| {
        for seed in seeds {
            let r = Mrg32k3a::new(d, seed).unwrap();
            let host = words(seed, 70_003);
            for n in [0usize, 1, 16, 17, 1025, 70_003] {
                let found = d.map(r.uniform::<u32>(n as u64), |x| x).unwrap().read_blocking().unwrap();
                assert_eq!(found, host[..n], "{seed:?}, {n}");
            }
            for skipped in [1u64, 15, 16, 4097, 69_000] {
                let found = d.map(r.skip(skipped).uniform::<u32>(1000), |x| x).unwrap().read_blocking().unwrap();
                assert_eq!(found, host[skipped as usize..][..1000], "{seed:?} after {skipped}");
            }
            let floats = d.map(r.uniform::<f32>(1000), |x| x).unwrap().read_blocking().unwrap();
            assert!(floats.iter().zip(&host).all(|(x, word)| *x == ((word - 1) >> 8) as f32 / 16_777_216.0));
            // Two halves of a jump are the whole.
            let parts = (r.stream(3).stream(4), r.substream(1 << 51), r.skip(u64::MAX).skip(1));
            let whole = (r.stream(7), r.stream(1), (0..16).fold(r.clone(), |r, _| r.skip(1 << 60)));
            let first = |r: &Mrg32k3a<_>| d.map(r.uniform::<u32>(9), |x| x).unwrap().read_blocking().unwrap();
            assert_eq!([first(&parts.0), first(&parts.1), first(&parts.2)], [first(&whole.0), first(&whole.1), first(&whole.2)]);
        }
    });
}

/// The first numbers of `RngStreams`, with its default seed.
#[test]
fn the_first_numbers_are_lecuyers() {
    const FIRST: [f64; 5] = [0.12701112204657714, 0.3185275653967945, 0.3091860155832701, 0.8258468629271136, 0.2216299157820229];
    each_with(&[DType::F64], |d| {
        let found = d.map(Mrg32k3a::new(d, [12_345; 6]).unwrap().uniform::<f64>(5), |x| x).unwrap().read_blocking().unwrap();
        assert_eq!(found, FIRST);
    });
}

/// Numbers that cuRAND's headers computed on the host (`data/mrg.py`).
#[test]
fn numbers_of_curands_seeds_subsequences_and_offsets_are_curands() {
    let cases: Vec<serde_json::Value> = serde_json::from_str(include_str!("../../data/mrg.json")).expect("JSON");
    assert_eq!(cases.len(), 9);
    each(|d| {
        for case in &cases {
            let of = |name: &str| case[name].as_u64().expect("a number");
            let words: Vec<u32> = serde_json::from_value(case["words"].clone()).expect("words");
            let r = Mrg32k3a::curand(d, of("seed")).unwrap().substream(of("subsequence")).skip(of("offset"));
            let found = d.map(r.uniform::<u32>(words.len() as u64), |x| x).unwrap().read_blocking().unwrap();
            assert_eq!(found, words, "{} {} {}", of("seed"), of("subsequence"), of("offset"));
        }
    });
}

#[test]
fn seeds_that_are_none_are_refused() {
    let d = Cpu::new();
    assert!(matches!(Mrg32k3a::curand(&d, 0xaaaa_aaaa_5555_5555), Err(Error::InvalidArgument { what: "seed", .. })));
    for seed in [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [4_294_967_087, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 4_294_944_443]] {
        assert!(matches!(Mrg32k3a::new(&d, seed), Err(Error::InvalidArgument { what: "seed", .. })), "{seed:?}");
    }
    let many = Mrg32k3a::new(&d, [1; 6]).unwrap();
    assert!(matches!(d.map(many.uniform::<u32>((1 << 32) + 1), |x| x), Err(Error::TooLarge { what: "numbers of a draw", .. })));
}
