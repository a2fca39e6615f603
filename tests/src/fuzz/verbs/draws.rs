//! Random numbers from any place of any stream: words by the rounds of the two generators, and what distributions make of them.

use super::{computed, edges, length, near, on_cpu, output};
use crate::case::{Output, Target};
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::dynamic::{Call, Distribution};
use isowarp::element::DType;
use isowarp::prelude::*;
use isowarp::random::Generator;
use std::f64::consts::TAU;

/// Distributions, each with the type of its numbers.
const KINDS: usize = 26;

/// Means of counts, some below and some above the step from inversion to rejection.
const MEANS: [f32; 7] = [0.0, 0.3, 2.0, 9.5, 11.0, 60.0, 5000.0];

pub(super) fn trial(r: &mut Random) -> Trial {
    let n = if r.chance(10) { 4000 + r.below(3000) } else { length(r).max(1) };
    // Places inside of blocks, and where the low word of a block's number carries.
    let position = match r.below(4) {
        0 => r.below(9) as u64,
        1 => (1 << r.pick(&[32u64, 34, 62])) - r.below(5000) as u64,
        _ => r.word() >> (2 + r.below(60)),
    };
    let numbers = [
        ("kind", r.below(KINDS) as u64),
        ("seed", r.word()),
        ("stream", r.word() >> r.below(64)),
        ("position", position),
        ("threefry", r.below(2) as u64),
        ("first", r.word()),
        ("second", r.word()),
    ];
    let numbers = numbers.map(|(name, value)| (name.to_owned(), value)).to_vec();
    Trial { verb: Verb::Random, n, numbers, inputs: vec![Array::plain(DType::U32, edges(DType::U32, n, r))], trees: Vec::new() }
}

fn generator(trial: &Trial) -> isowarp::random::Random {
    let from = isowarp::random::Random::new(trial.number("seed")).stream(trial.number("stream"));
    let from = if trial.number("threefry") % 2 == 1 { from.by(Generator::Threefry) } else { from };
    // A stream ends after 2^64 words, of which an element may have 64.
    isowarp::random::Random { position: trial.number("position") >> 1, ..from }
}

/// Two whole numbers, the first one less.
fn range(trial: &Trial, least: i64, most: i64) -> (i64, i64) {
    let [a, b] = ["first", "second"].map(|name| least + (trial.number(name) % (most - least) as u64) as i64);
    (a.min(b), a.max(b) + 1)
}

/// Two numbers of moderate size, the second one not below zero.
fn parameters(trial: &Trial) -> (f64, f64) {
    let [a, b] = ["first", "second"].map(|name| (trial.number(name) % 4096) as f64 / 256.0);
    (a - 8.0, b)
}

fn mean(trial: &Trial) -> f32 {
    super::choice(trial, "first", &MEANS)
}

/// Words of MRG32k3a's state, whatever numbers a trial has.
fn state(trial: &Trial) -> [u32; 6] {
    let [a, b] = ["first", "second"].map(|name| trial.number(name));
    [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32, (a ^ b) as u32, ((a ^ b) >> 32) as u32].map(|word| word % 4_000_000_000 + 1)
}

fn distribution(trial: &Trial) -> (Distribution, DType) {
    let ((a, b), whole) = (parameters(trial), mean(trial));
    match trial.number("kind") % KINDS as u64 {
        0 => (Distribution::Uniform, DType::U32),
        1 => (Distribution::Uniform, DType::U64),
        2 => (Distribution::Uniform, DType::F32),
        3 => (Distribution::Uniform, DType::F64),
        4 => (Distribution::UniformOpen, DType::F32),
        5 => (Distribution::UniformOpen, DType::F64),
        6 => {
            let (low, high) = range(trial, 0, u32::MAX.into());
            (Distribution::Integers(low, high), DType::U32)
        }
        7 => {
            let (low, high) = range(trial, i32::MIN.into(), i32::MAX.into());
            (Distribution::Integers(low, high), DType::I32)
        }
        8 => (Distribution::Normal(a, b), DType::F32),
        9 => (Distribution::Normal(a, b), DType::F64),
        10 => (Distribution::NormalByQuantile(a, b), DType::F32),
        11 => (Distribution::NormalByQuantile(a, b), DType::F64),
        12 => (Distribution::LogNormal(a as f32 / 8.0, b as f32 / 16.0), DType::F32),
        13 => (Distribution::Exponential(b), DType::F32),
        14 => (Distribution::Exponential(b), DType::F64),
        15 => (Distribution::Circle, DType::F32),
        16 => (Distribution::Sphere, DType::F32),
        17 => (Distribution::Permutation, DType::U32),
        18 => (Distribution::Mrg32k3a(state(trial)), DType::U32),
        19 => (Distribution::Halton(dimensions(trial), false), DType::U32),
        20 => (Distribution::Sobol(dimensions(trial), trial.number("second") % 2 == 1), DType::U32),
        21 => (Distribution::Poisson(whole), DType::U32),
        22 => (Distribution::PoissonTable(whole.into()), DType::U32),
        23 => (Distribution::Binomial(1 + (trial.number("second") % 2000) as u32, (b / 16.0) as f32), DType::U32),
        24 => (Distribution::Gamma(whole.max(0.1), 0.5 + b as f32), DType::F32),
        _ => {
            let weights = (1..=1 + trial.number("first") % 200).map(|k| (k * k % 17) as f64 + 1.0).collect();
            (Distribution::Discrete(weights), DType::U32)
        }
    }
}

fn dimensions(trial: &Trial) -> u32 {
    1 + (trial.number("first") % 20) as u32
}

/// The start of a draw: of points a word has their number.
fn start(trial: &Trial, of: &Distribution) -> isowarp::random::Random {
    let from = generator(trial);
    let is_sequence = matches!(of, Distribution::Halton(..) | Distribution::Sobol(..));
    if is_sequence { isowarp::random::Random { position: from.position % 1_000_003, ..from } } else { from }
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let (of, dtype) = distribution(trial);
    let (from, n) = (start(trial, &of), trial.n as u64);
    let mut all = computed(device, &Call::Random { from, of: of.clone(), n, dtype }, &[])?;
    // Fused with an array as well.
    if (of, dtype) == (Distribution::Uniform, DType::U32) {
        let x: Vec<u32> = trial.inputs[0].bits.iter().map(|&bits| bits as u32).collect();
        let words = device.map((&device.upload(&x)?, from.uniform::<u32>(n)), |(x, word)| x ^ word)?.read_blocking()?;
        all.push(output(DType::U32, words.into_iter().map(u64::from)));
    }
    Ok(all)
}

/// Words of a stream, so many an element.
struct Stream {
    from: isowarp::random::Random,
    each: u64,
}

impl Stream {
    fn of(trial: &Trial, each: u64) -> Self {
        let from = generator(trial);
        let position = from.position.next_multiple_of(each);
        Self { from: isowarp::random::Random { position, ..from }, each }
    }

    /// Word `k` after the first one of an element, or before it.
    fn word(&self, i: usize, k: i64) -> u32 {
        let place = (self.from.position + self.each * i as u64).wrapping_add_signed(k);
        let (seed, stream) = (halves(self.from.seed), halves(self.from.stream));
        let [low, high] = halves(place / 4);
        let block = match self.from.generator {
            Generator::Philox => philox(seed, [low, high, stream[0], stream[1]]),
            Generator::Threefry => threefry([seed[0], seed[1], stream[0], stream[1]], [low, high, 0, 0]),
        };
        block[(place % 4) as usize]
    }

    /// Two words as one, the first one high.
    fn pair(&self, i: usize) -> u64 {
        u64::from(self.word(i, 0)) << 32 | u64::from(self.word(i, 1))
    }
}

fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

fn philox(mut key: [u32; 2], mut x: [u32; 4]) -> [u32; 4] {
    for _ in 0..10 {
        let [p, q] = [u64::from(x[0]) * 0xd251_1f53, u64::from(x[2]) * 0xcd9e_8d57];
        x = [(q >> 32) as u32 ^ x[1] ^ key[0], q as u32, (p >> 32) as u32 ^ x[3] ^ key[1], p as u32];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    x
}

fn threefry(key: [u32; 4], mut x: [u32; 4]) -> [u32; 4] {
    const TURNS: [[u32; 2]; 8] = [[10, 26], [11, 21], [13, 27], [23, 5], [6, 20], [17, 11], [25, 10], [18, 20]];
    let [a, b, c, d] = key;
    let keys = [a, b, c, d, 0x1bd1_1bda ^ a ^ b ^ c ^ d];
    for round in 0..=20 {
        if round % 4 == 0 {
            (0..4).for_each(|k| x[k] = x[k].wrapping_add(keys[(round / 4 + k) % 5]));
            x[3] = x[3].wrapping_add(round as u32 / 4);
        }
        if round == 20 {
            break;
        }
        let [first, second] = TURNS[round % 8];
        let (p, q) = if round % 2 == 0 { (1, 3) } else { (3, 1) };
        x[0] = x[0].wrapping_add(x[p]);
        x[p] = x[p].rotate_left(first) ^ x[0];
        x[2] = x[2].wrapping_add(x[q]);
        x[q] = x[q].rotate_left(second) ^ x[2];
    }
    x
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let (of, dtype) = distribution(trial);
    let (one, two) = (Stream::of(trial, 1), Stream::of(trial, 2));
    let all = |value: &dyn Fn(usize) -> u64| vec![output(dtype, (0..trial.n).map(value))];
    let [f32_of, f64_of] = [|x: f64| u64::from((x as f32).to_bits()), f64::to_bits];
    match (of, dtype) {
        (Distribution::Uniform, DType::U32) => {
            let fused = trial.inputs[0].bits.iter().enumerate().map(|(i, x)| u64::from(one.word(i, 0)) ^ x);
            [all(&|i| one.word(i, 0).into()), vec![output(dtype, fused)]].concat()
        }
        (Distribution::Uniform, DType::U64) => all(&|i| two.pair(i)),
        (Distribution::Uniform, DType::F32) => all(&|i| f32_of(f64::from(one.word(i, 0) >> 8) * 2f64.powi(-24))),
        (Distribution::Uniform, _) => all(&|i| f64_of((two.pair(i) >> 11) as f64 * 2f64.powi(-53))),
        (Distribution::UniformOpen, DType::F32) => all(&|i| f32_of((f64::from(one.word(i, 0) >> 9) + 0.5) * 2f64.powi(-23))),
        (Distribution::UniformOpen, _) => all(&|i| f64_of(((two.pair(i) >> 12) as f64 + 0.5) * 2f64.powi(-52))),
        (Distribution::Integers(low, high), _) => {
            let scaled = |i: usize| ((u128::from(two.pair(i)) * (high - low) as u128) >> 64) as i64;
            all(&|i| (low + scaled(i)) as u64)
        }
        (Distribution::Permutation, _) => {
            let mut order: Vec<usize> = (0..trial.n).collect();
            order.sort_by_key(|&i| two.pair(i));
            vec![output(dtype, order.into_iter().map(|i| i as u64))]
        }
        (Distribution::Mrg32k3a(state), _) => mrg(trial, state),
        (Distribution::Halton(dimensions, _), _) => vec![output(dtype, halton(trial, dimensions))],
        (of, _) => real(trial, &of, dtype, [&one, &two]),
    }
}

/// Reals near to what their definitions give. What rejection draws, numbers by quantiles and Sobol's points are the CPU's, which other tests look at.
fn real(trial: &Trial, of: &Distribution, dtype: DType, [one, two]: [&Stream; 2]) -> Vec<Output> {
    let wide = dtype == DType::F64;
    let unit = if wide { f64::EPSILON } else { f32::EPSILON.into() };
    // A uniform number above zero, of the words before or after an element's first.
    let above_zero = |i: usize, k: i64| {
        if wide {
            let (high, low) = (two.word(i, k), two.word(i, k + 1));
            (f64::from(high) + (f64::from(low) + 0.5) * 2f64.powi(-32)) * 2f64.powi(-32)
        } else {
            (f64::from(one.word(i, k)) + 0.5) * 2f64.powi(-32)
        }
    };
    // Box and Muller's number of an element, and how far from it one may be whose uniform number was rounded.
    let normal = |i: usize| {
        let (place, step) = if wide { (two.from.position / 2 + i as u64, 2) } else { (one.from.position + i as u64, 1) };
        let is_odd = place % 2 == 1;
        let first = if is_odd { -step } else { 0 };
        let log = -above_zero(i, first).ln();
        let (radius, angle) = ((2.0 * log).sqrt(), TAU * above_zero(i, first + step));
        let of_radius = (4.0 * unit).sqrt().min(4.0 * unit * (1.0 + log) / radius);
        (radius * if is_odd { angle.sin() } else { angle.cos() }, of_radius + 16.0 * unit * (1.0 + radius))
    };
    let moved = |mean: f64, deviation: f64, (x, bound): (f64, f64)| {
        let value = mean + deviation * x;
        (value, deviation * bound + 4.0 * unit * (value.abs() + (deviation * x).abs()))
    };
    // Means and deviations are numbers of the type.
    let all: Vec<(f64, f64)> = match *of {
        Distribution::Normal(mean, deviation) => (0..trial.n).map(|i| moved(mean, deviation, normal(i))).collect(),
        Distribution::LogNormal(mean, deviation) => {
            let exp = |(x, bound): (f64, f64)| (x.exp(), x.exp() * (2.0 * bound + 8.0 * unit));
            (0..trial.n).map(|i| exp(moved(mean.into(), deviation.into(), normal(i)))).collect()
        }
        Distribution::Exponential(mean) => {
            let value = |log: f64| (mean * log, mean * 8.0 * unit * (1.0 + log));
            (0..trial.n).map(|i| value(-above_zero(i, 0).ln())).collect()
        }
        Distribution::Circle => {
            let angle = |i: usize| TAU * f64::from(one.word(i, 0)) * 2f64.powi(-32);
            (0..2 * trial.n).map(|at| (if at % 2 == 0 { angle(at / 2).cos() } else { angle(at / 2).sin() }, 8.0 * unit)).collect()
        }
        Distribution::Sphere => {
            let coordinate = |at: usize| {
                let i = at / 3;
                let z = (f64::from(two.word(i, 0) as i32) + 0.5) * 2f64.powi(-31);
                let (radius, angle) = ((1.0 - z * z).sqrt(), TAU * f64::from(two.word(i, 1)) * 2f64.powi(-32));
                let bound = 8.0 * unit + (4.0 * unit).sqrt().min(4.0 * unit / radius);
                ([radius * angle.cos(), radius * angle.sin(), z][at % 3], bound)
            };
            (0..3 * trial.n).map(coordinate).collect()
        }
        _ => return on_cpu(trial),
    };
    near(trial, dtype, &all)
}

/// Both recurrences of MRG32k3a, after jumps by squares of their matrices.
fn mrg(trial: &Trial, state: [u32; 6]) -> Vec<Output> {
    const MODULI: [u64; 2] = [4_294_967_087, 4_294_944_443];
    type Matrix = [[u64; 3]; 3];
    let steps: [Matrix; 2] =
        [[[0, 1, 0], [0, 0, 1], [MODULI[0] - 810_728, 1_403_580, 0]], [[0, 1, 0], [0, 0, 1], [MODULI[1] - 1_370_589, 0, 527_612]]];
    let image = |m: &Matrix, v: [u64; 3], k: usize| -> [u64; 3] {
        m.map(|row| row.iter().zip(v).fold(0, |sum, (a, b)| (sum + a * b % MODULI[k]) % MODULI[k]))
    };
    let turned = |m: &Matrix| -> Matrix { std::array::from_fn(|i| std::array::from_fn(|j| m[j][i])) };
    let square = |m: &Matrix, k: usize| -> Matrix { turned(&turned(m).map(|column| image(m, column, k))) };
    let from = generator(trial);
    let mut states: [[u64; 3]; 2] = std::array::from_fn(|k| std::array::from_fn(|j| state[3 * k + j].into()));
    for (k, state) in states.iter_mut().enumerate() {
        let mut power = steps[k];
        for bit in 0..127 + 64 {
            let in_stream = bit >= 127 && from.stream >> (bit - 127) & 1 == 1;
            let skipped = bit < 64 && from.position >> bit & 1 == 1;
            if in_stream || skipped {
                *state = image(&power, *state, k);
            }
            power = square(&power, k);
        }
    }
    let mut word = || {
        for (k, state) in states.iter_mut().enumerate() {
            *state = image(&steps[k], *state, k);
        }
        let [a, b] = [states[0][2], states[1][2]];
        if a <= b { a + MODULI[0] - b } else { a - b }
    };
    vec![output(DType::U32, (0..trial.n).map(|_| word()))]
}

/// Words of points: digits of their numbers in prime bases, by weights of 64 bits.
fn halton(trial: &Trial, dimensions: u32) -> Vec<u64> {
    let primes: Vec<u64> = (2u64..).filter(|p| (2..*p).all(|d| p % d != 0)).take(dimensions as usize).collect();
    let first = start(trial, &Distribution::Halton(dimensions, false)).position;
    let word = |at: usize| {
        let base = primes[at % primes.len()];
        let (mut left, mut weight, mut sum) = (first + (at / primes.len()) as u64, 1u128 << 64, 0u64);
        while left > 0 {
            weight /= u128::from(base);
            sum = sum.wrapping_add((left % base).wrapping_mul(weight as u64));
            left /= base;
        }
        sum >> 32
    };
    (0..trial.n * primes.len()).map(word).collect()
}
