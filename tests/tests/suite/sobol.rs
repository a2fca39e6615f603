//! Direction numbers of Sobol's points against SciPy's, and quantiles of chosen words, which points have, against mpmath's (`data/sobol.py`).

use crate::common::each;
use isowarp::prelude::*;
use isowarp::random::Sobol;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

fn found() -> Value {
    serde_json::from_str(include_str!("../../data/sobol.json")).expect("JSON")
}

#[test]
fn all_direction_numbers_are_those_of_scipy() {
    let found = found();
    let digests: Vec<&str> = found["directions"].as_array().expect("a list").iter().map(|x| x.as_str().expect("text")).collect();
    let together = found["dimensions of a digest"].as_u64().expect("a number") as usize;
    assert_eq!(digests.len() * together, 1024);
    each(|d| {
        let points = Sobol::new(d, 1024).unwrap();
        // The reflected binary code of 2^(k+1) - 1 is the bit k alone.
        let of_bit = |k: u32| d.map(points.clone().from(u32::MAX >> (31 - k)).uniform::<u32>(1), |x| x).unwrap().read_blocking().unwrap();
        let columns: Vec<Vec<u32>> = (0..32).map(of_bit).collect();
        let rows: Vec<[u32; 32]> = (0..1024).map(|j| std::array::from_fn(|k| columns[k][j])).collect();
        for (part, (rows, digest)) in rows.chunks(together).zip(&digests).enumerate() {
            let bytes: Vec<u8> = rows.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
            let of_rows: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(of_rows, *digest, "dimensions from {} on", part * together);
        }
    });
}

/// The number of the point of one dimension that is this word: the word is the reversed bits of the number's reflected binary code.
fn point(word: u32) -> u32 {
    let gray = word.reverse_bits();
    (0..32).fold(0, |i, k| i ^ gray >> k)
}

/// Words from both ends, and the quantiles of `(word + 1/2) 2^-32`.
fn quantiles() -> (Vec<u32>, Vec<f64>) {
    let lower: Vec<(u32, f64)> = serde_json::from_value(found()["quantiles"].clone()).expect("pairs");
    assert!(lower.len() > 80);
    lower.into_iter().flat_map(|(word, z)| [(word, z), (!word, -z)]).unzip()
}

/// Units in the last place of the exact number's place as an `f32`.
fn units(found: f32, exact: f64) -> f64 {
    let nearest = (exact as f32).abs();
    let unit = f64::from(nearest.next_up()) - f64::from(nearest);
    (f64::from(found) - exact).abs() / unit
}

#[test]
fn quantiles_of_the_ends_and_the_middle_are_those_of_mpmath() {
    let (words, exact) = quantiles();
    each(|d| {
        let points = Sobol::new(d, 1).unwrap();
        let numbers = d.upload(&words.iter().map(|word| point(*word)).collect::<Vec<_>>()).unwrap();
        assert_eq!(d.gather(points.uniform::<u32>(1 << 32), &numbers).run().unwrap().read_blocking().unwrap(), words);
        let normal = d.gather(points.normal(1 << 32), &numbers).run().unwrap().read_blocking().unwrap();
        for ((word, found), exact) in words.iter().zip(normal).zip(&exact) {
            assert!(units(found, *exact) <= 5.0, "{word:x}: {found} for {exact}, {} units", units(found, *exact));
        }
    });
}
