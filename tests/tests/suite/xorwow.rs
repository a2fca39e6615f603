//! XORWOW against the headers of cuRAND and rocRAND and a plain loop. `data/xorwow.py` wrote the numbers.

use crate::common::{each, each_with};
use crate::units::{self, is_within};
use isowarp::buffer::Buffer;
use isowarp::element::{DType, Element};
use isowarp::prelude::*;
use isowarp::random::Xorwow;
use isowarp::{Cpu, Device, Error};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../../data/xorwow.json")).expect("the fixtures are JSON")
}

fn number(v: &Value) -> u64 {
    v.as_u64().expect("an integer")
}

fn words(v: &Value) -> Vec<u32> {
    v.as_array().expect("a list").iter().map(|x| number(x) as u32).collect()
}

fn read<T: Element>(x: isowarp::Result<Buffer<Device, T>>) -> Vec<T> {
    x.expect("a draw").read_blocking().expect("the device computes it")
}

#[test]
fn numbers_are_those_of_curand_and_rocrand() {
    let fixtures = fixtures();
    let cases = fixtures["places"].as_array().expect("a list");
    each(|d| {
        for case in cases {
            let [seed, subsequence, offset] = ["seed", "subsequence", "offset"].map(|name| number(&case[name]));
            let at = |r: Xorwow<Device>| r.subsequence(subsequence).skip(offset);
            let (ours, theirs) = (at(Xorwow::new(d, seed).unwrap()), at(Xorwow::rocrand(d, seed).unwrap()));
            for (name, r) in [("curand", &ours), ("rocrand", &theirs)] {
                let expected = words(&case[name]);
                let n = expected.len() as u64;
                assert_eq!(read(d.map(r.uniform::<u32>(n).unwrap(), |x| x)), expected, "{name}, {case}");
            }
            // Floats as `curand_uniform`'s, of the numbers after those.
            let floats: Vec<f32> = words(&case["curand_uniform"]).into_iter().map(f32::from_bits).collect();
            let after = ours.skip(words(&case["curand"]).len() as u64);
            assert_eq!(read(d.map(after.uniform_above_zero(floats.len() as u64).unwrap(), |x| x)), floats, "{case}");
        }
    });
}

#[test]
fn interleaved_numbers_are_in_the_order_of_curands_library() {
    let fixtures = fixtures();
    let calls = fixtures["generated"].as_array().expect("a list");
    let sha = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect::<String>();
    each(|d| {
        for call in calls {
            let [seed, offset, n] = ["seed", "offset", "n"].map(|name| number(&call[name]));
            let r = Xorwow::new(d, seed).unwrap().skip(offset / 4096).interleaved();
            let words = read(d.map(r.uniform::<u32>(n).unwrap(), |x| x));
            let floats = read(d.map(r.uniform_above_zero(n).unwrap(), |x| x));
            assert_eq!(call["words"], sha(bytemuck::cast_slice(&words)), "{call}");
            assert_eq!(call["uniform"], sha(bytemuck::cast_slice(&floats)), "{call}");
        }
    });
}

/// Marsaglia's program (2003), from a state on.
fn plain(mut v: [u32; 5], mut weyl: u32) -> impl Iterator<Item = u32> {
    std::iter::repeat_with(move || {
        let t = v[0] ^ (v[0] >> 2);
        v = [v[1], v[2], v[3], v[4], (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1))];
        weyl = weyl.wrapping_add(362_437);
        weyl.wrapping_add(v[4])
    })
}

#[test]
fn numbers_are_those_of_the_recurrence_at_every_place() {
    let host: Vec<u32> = plain([1, 2, 3, 4, u32::MAX], 5).take(300_000).collect();
    each(|d| {
        let r = Xorwow::from_state(d, [1, 2, 3, 4, u32::MAX], 5).unwrap();
        // Around spans, and around what the host, one launch and two compute the states of.
        for n in [0usize, 1, 4, 31, 32, 33, 8192, 8193, 70_003, 131_072, 131_073, 300_000] {
            assert_eq!(read(d.map(r.uniform::<u32>(n as u64).unwrap(), |x| x)), host[..n], "{n}");
        }
        for skipped in [1u64, 31, 32, 4097, 290_000] {
            let found = read(d.map(r.skip(skipped).uniform::<u32>(9000).unwrap(), |x| x));
            assert_eq!(found, host[skipped as usize..][..9000], "after {skipped}");
        }
        let floats = read(d.map(r.uniform::<f32>(1000).unwrap(), |x| x));
        assert!(floats.iter().zip(&host).all(|(x, word)| *x == (word >> 8) as f32 / 16_777_216.0));
        // Two halves of a jump are the whole.
        let parts = (r.subsequence(3).subsequence(4), r.skip(u64::MAX).skip(1));
        let whole = (r.subsequence(7), (0..16).fold(r.clone(), |r, _| r.skip(1 << 60)));
        let eight = (0..8).fold(whole.1.clone(), |r, _| (0..16).fold(r, |r, _| r.skip(1 << 60)));
        let first = |r: &Xorwow<_>| read(d.map(r.uniform::<u32>(9).unwrap(), |x| x));
        assert_eq!([first(&parts.0), first(&parts.1)], [first(&whole.0), first(&whole.1)]);
        // 2^67 numbers after 2^64 are a subsequence further.
        assert_eq!(first(&eight), first(&whole.1.subsequence(1)));
    });
    each_with(&[DType::F64], |d| {
        let r = Xorwow::from_state(d, [1, 2, 3, 4, u32::MAX], 5).unwrap();
        let found = read(d.map(r.uniform::<f64>(1000).unwrap(), |x| x));
        assert!(found.iter().zip(&host).all(|(x, word)| *x == f64::from(*word) / 4_294_967_296.0));
    });
}

/// Normal and exponential numbers by Rust's f64 functions of the words, within the roundings of their definitions.
#[test]
fn normal_and_exponential_numbers_are_those_of_the_words() {
    let near = |found: &[f32], exact: &dyn Fn(usize) -> f64, units: &dyn Fn(usize) -> f64| {
        found.iter().enumerate().all(|(i, &x)| is_within(x, exact(i), units(i)))
    };
    each(|d| {
        let r = Xorwow::new(d, 12_345).unwrap();
        for (r, n) in [(r.clone(), 3001u64), (r.skip(9).interleaved(), 20_001)] {
            // Of the last pair both words.
            let words = read(d.map(r.uniform::<u32>(n + 8192).unwrap(), |x| x));
            let unit = |i: usize| (f64::from(words[i]) + 0.5) / 4_294_967_296.0;
            let lanes = if n > 4096 { 4096 } else { 1 };
            // Neighbours of a subsequence are a pair.
            let pair = |i: usize| (i - i / lanes % 2 * lanes, i + (1 - i / lanes % 2) * lanes);
            let radius = |i: usize| (-2.0 * unit(pair(i).0).ln()).sqrt();
            let normal = |i: usize| {
                let angle = core::f64::consts::TAU * f64::from(words[pair(i).1]) / 4_294_967_296.0;
                radius(i) * if (i / lanes).is_multiple_of(2) { angle.cos() } else { angle.sin() }
            };
            let of_normal = |i: usize| units::normal(radius(i));
            let log_normal = |i: usize| (normal(i) * 0.25 + 0.5).exp();
            let exponential = |i: usize| -3.0 * unit(i).ln();
            let draw = |x: isowarp::Result<Buffer<Device, f32>>| read(x);
            let found = draw(d.map(r.normal(n, 0.0, 1.0).unwrap(), |x| x));
            assert!(near(&found, &normal, &of_normal), "normal");
            let found = draw(d.map(r.log_normal(n, 0.5, 0.25).unwrap(), |x| x));
            let of_log_normal = |i: usize| log_normal(i) * (of_normal(i) * 0.25 + (normal(i) * 0.25 + 0.5).abs() + 2.0);
            assert!(near(&found, &log_normal, &of_log_normal), "log-normal");
            let found = draw(d.map(r.exponential(n, 3.0).unwrap(), |x| x));
            assert!(near(&found, &exponential, &|i| units::log(exponential(i) / 3.0) * 3.0 + exponential(i)), "exponential");
            // The quantile is monotone in the word, and of a word and its complement of two signs.
            let mut pairs: Vec<(u32, f32)> =
                words.iter().copied().zip(draw(d.map(r.normal_by_quantile(n, 0.0, 1.0).unwrap(), |x| x))).collect();
            pairs.sort_unstable_by_key(|pair| pair.0);
            assert!(pairs.is_sorted_by_key(|pair| pair.1) && pairs.iter().all(|(word, x)| (*word >= 1 << 31) == (*x > 0.0)), "quantile");
        }
        for (mean, deviation) in [(f32::NAN, 1.0), (0.0, -1.0), (0.0, f32::INFINITY)] {
            assert!(matches!(r.normal(3, mean, deviation), Err(Error::InvalidArgument { .. })));
        }
        assert!(matches!(r.exponential(3, -1.0), Err(Error::InvalidArgument { what: "mean", .. })));
    });
}

#[test]
fn states_and_draws_that_are_none_are_refused() {
    let d = Cpu::new();
    assert!(matches!(Xorwow::from_state(&d, [0; 5], 1), Err(Error::InvalidArgument { what: "state", .. })));
    let r = Xorwow::new(&d, 1).unwrap();
    assert!(matches!(r.uniform::<u32>((1 << 32) + 1), Err(Error::TooLarge { what: "numbers of a draw", .. })));
}
