//! Numbers of XORWOW: Marsaglia's loop, and jumps by squares of its matrix.

use super::{edges, length, output};
use crate::case::{Output, Target};
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::element::DType;
use isowarp::prelude::*;
use isowarp::random::Xorwow;
use std::sync::OnceLock;

/// Subsequences in turn.
const LANES: usize = 4096;
/// Numbers of a subsequence, as a power of two.
const SUBSEQUENCE: usize = 67;

pub(super) fn trial(r: &mut Random) -> Trial {
    let n = if r.chance(15) { LANES - 2 + r.below(9000) } else { length(r).max(1) };
    let far = |r: &mut Random| if r.chance(30) { r.word() >> r.below(64) } else { r.below(5000) as u64 };
    let numbers = [
        ("seed", if r.chance(20) { 0 } else { r.word() }),
        ("rocrand", r.below(2) as u64),
        ("skip", far(r)),
        ("subsequence", far(r)),
        ("interleaved", u64::from(r.chance(30))),
    ];
    let numbers = numbers.map(|(name, value)| (name.to_owned(), value)).to_vec();
    Trial { verb: Verb::Xorwow, n, numbers, inputs: vec![Array::plain(DType::U32, edges(DType::U32, n, r))], trees: Vec::new() }
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let x: Vec<u32> = trial.inputs[0].bits.iter().map(|&bits| bits as u32).collect();
    let (x, n, seed) = (device.upload(&x)?, trial.n as u64, trial.number("seed"));
    let r = if trial.number("rocrand") % 2 == 1 { Xorwow::rocrand(device, seed)? } else { Xorwow::new(device, seed)? };
    let r = r.subsequence(trial.number("subsequence")).skip(trial.number("skip"));
    let r = if trial.number("interleaved") % 2 == 1 { r.interleaved() } else { r };
    // Fused with an array, and by itself.
    let words = device.map((&x, r.uniform::<u32>(n)?), |(x, word)| x ^ word)?.read_blocking()?;
    let floats = device.map(r.uniform_above_zero(n)?, |x| x)?.read_blocking()?;
    Ok(vec![output(DType::U32, words.into_iter().map(u64::from)), output(DType::F32, floats.into_iter().map(|x| u64::from(x.to_bits())))])
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let (state, weyl) = start(trial);
    let mut words = vec![0; trial.n];
    let lanes = if trial.number("interleaved") % 2 == 1 { LANES } else { 1 };
    let mut first = state;
    for lane in 0..lanes.min(trial.n) {
        let (mut v, mut weyl) = (first, weyl);
        for word in words.iter_mut().skip(lane).step_by(lanes) {
            v = step(v);
            weyl = weyl.wrapping_add(362_437);
            *word = weyl.wrapping_add(v[4]);
        }
        if lanes > 1 {
            first = image(&squares()[SUBSEQUENCE], first);
        }
    }
    let float = |word: u32| word as f32 / 4_294_967_296.0 + 0.5 / 4_294_967_296.0;
    vec![
        output(DType::U32, words.iter().zip(&trial.inputs[0].bits).map(|(word, x)| u64::from(*word) ^ x)),
        output(DType::F32, words.iter().map(|&word| u64::from(float(word).to_bits()))),
    ]
}

/// The state and the word of the Weyl sequence that the first number follows, as cuRAND and rocRAND make them of a seed.
fn start(trial: &Trial) -> ([u32; 5], u32) {
    let seed = trial.number("seed");
    let [x, y] = [seed as u32, (seed >> 32) as u32];
    let [s, t] = match trial.number("rocrand") % 2 {
        0 => [(x ^ 0xaad2_6b49).wrapping_mul(1_099_087_573), (y ^ 0xf7dc_efdd).wrapping_mul(2_591_861_531)],
        _ => [(x ^ 0x2c7f_967f).wrapping_mul(1_228_688_033), (y ^ 0xa036_97cb).wrapping_mul(2_073_658_381)],
    };
    let mut v =
        [123_456_789u32.wrapping_add(s), 362_436_069 ^ s, 521_288_629u32.wrapping_add(t), 88_675_123 ^ t, 5_783_321u32.wrapping_add(s)];
    for (number, from) in [(trial.number("subsequence"), SUBSEQUENCE), (trial.number("skip"), 0)] {
        for bit in (0..64).filter(|bit| number >> bit & 1 == 1) {
            v = image(&squares()[from + bit], v);
        }
    }
    let skipped = 362_437u32.wrapping_mul(trial.number("skip") as u32);
    (v, 6_615_241u32.wrapping_add(s).wrapping_add(t).wrapping_add(skipped))
}

fn step([a, b, c, d, e]: [u32; 5]) -> [u32; 5] {
    let t = a ^ (a >> 2);
    [b, c, d, e, (e ^ (e << 4)) ^ (t ^ (t << 1))]
}

/// Images of the 160 bits of a state.
type Matrix = Vec<[u32; 5]>;

fn image(matrix: &Matrix, v: [u32; 5]) -> [u32; 5] {
    let mut sum = [0; 5];
    for (k, column) in matrix.iter().enumerate() {
        if v[k / 32] >> (k % 32) & 1 == 1 {
            sum.iter_mut().zip(column).for_each(|(sum, part)| *sum ^= part);
        }
    }
    sum
}

/// Matrices of 1, 2, 4, ... steps.
fn squares() -> &'static [Matrix] {
    static SQUARES: OnceLock<Vec<Matrix>> = OnceLock::new();
    SQUARES.get_or_init(|| {
        let unit = |k: usize| std::array::from_fn(|word| if word == k / 32 { 1u32 << (k % 32) } else { 0 });
        let one: Matrix = (0..160).map(|k| step(unit(k))).collect();
        let square = |m: &Matrix| Some(m.iter().map(|&column| image(m, column)).collect());
        std::iter::successors(Some(one), square).take(SUBSEQUENCE + 64).collect()
    })
}
