//! Exact dot products of `f64`: sums of whole numbers, rounded once.

use super::{edges, length, output};
use crate::case::{Output, Target};
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::element::DType;
use isowarp::prelude::*;

/// The exponent of a sum's first bit: that of the least product.
const LEAST: i32 = -2148;
/// Words of a sum: exponents up to 2^2048, and the carries of many products.
const WORDS: usize = 70;

/// Elements at the edges, of all exponents, or few of them, so that sums cancel.
fn elements(n: usize, r: &mut Random) -> Vec<u64> {
    if r.chance(20) {
        return edges(DType::F64, n, r);
    }
    let (first, of) = r.pick(&[(0u64, 2047usize), (0, 3), (1000, 40), (1, 600), (1500, 547)]);
    // Of a mantissa of few bits sums are often half-way between two numbers.
    let mantissa = r.pick(&[!0u64 >> 12, 0xf << 48, 1, 0x8_0000_0000_0001]);
    (0..n).map(|_| (r.below(2) as u64) << 63 | (first + r.below(of) as u64) << 52 | r.word() & mantissa).collect()
}

pub(super) fn trial(r: &mut Random) -> Trial {
    let n = length(r).max(1);
    let x = elements(n, r);
    // The other factor, or one that takes half of the products back.
    let y = if r.chance(25) { x.iter().rev().map(|bits| bits ^ 1 << 63).collect() } else { elements(n, r) };
    let columns = if r.chance(50) { 1 + r.below(40) } else { 1 + r.below(n) };
    let numbers = [("lines", r.below(3)), ("columns", columns)].map(|(name, value)| (name.to_owned(), value as u64)).to_vec();
    Trial { verb: Verb::ExactDot, n, numbers, inputs: vec![Array::plain(DType::F64, x), Array::plain(DType::F64, y)], trees: Vec::new() }
}

/// Rows, and elements of each.
fn shape(trial: &Trial) -> [usize; 2] {
    let columns = (trial.number("columns") as usize).clamp(1, trial.n);
    [trial.n / columns, columns]
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let input = |k: usize| -> Vec<f64> { trial.inputs[k].bits.iter().map(|&bits| f64::from_bits(bits)).collect() };
    let [rows, columns] = shape(trial);
    let lines = trial.number("lines") % 3;
    let used = if lines == 0 { trial.n } else { rows * columns };
    let (x, y) = (device.upload(&input(0)[..used])?, device.upload(&input(1)[..used])?);
    let call = device.exact_dot((&x, &y));
    let shape = [rows as u64, columns as u64];
    let sums = match lines {
        0 => vec![call.run()?.read_blocking()?],
        1 => call.axis(&shape, 1).run()?.read_blocking()?,
        _ => call.axis(&shape, 0).run()?.read_blocking()?,
    };
    Ok(vec![output(DType::F64, sums.into_iter().map(f64::to_bits))])
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let [x, y] = [0, 1].map(|k| &trial.inputs[k].bits);
    let [rows, columns] = shape(trial);
    let sum = |places: &mut dyn Iterator<Item = usize>| dot(places.map(|i| (x[i], y[i])));
    let sums = match trial.number("lines") % 3 {
        0 => vec![sum(&mut (0..trial.n))],
        1 => (0..rows).map(|row| sum(&mut (row * columns..(row + 1) * columns))).collect(),
        _ => (0..columns).map(|column| sum(&mut (0..rows).map(|row| row * columns + column))).collect(),
    };
    vec![output(DType::F64, sums)]
}

/// A mantissa and its exponent.
fn parts(bits: u64) -> (u64, i32) {
    let (exponent, mantissa) = ((bits >> 52 & 0x7ff) as i32, bits & (!0 >> 12));
    if exponent == 0 { (mantissa, -1074) } else { (mantissa | 1 << 52, exponent - 1075) }
}

/// The sum of products, one for positive and one for negative ones.
fn dot(products: impl Iterator<Item = (u64, u64)>) -> u64 {
    let mut sums = [[0u64; WORDS]; 2];
    let (mut infinite, mut is_nan) = ([false; 2], false);
    for (a, b) in products {
        let sign = ((a ^ b) >> 63) as usize;
        let [x, y] = [a, b].map(f64::from_bits);
        if !(x.is_finite() && y.is_finite()) {
            let is_none = x.is_nan() || y.is_nan() || x == 0.0 || y == 0.0;
            is_nan |= is_none;
            infinite[sign] |= !is_none;
            continue;
        }
        let ((m, e), (n, f)) = (parts(a), parts(b));
        let (product, at) = (u128::from(m) * u128::from(n), (e + f - LEAST) as usize);
        let sum = &mut sums[sign];
        let mut carry = false;
        for (k, total) in sum[at / 64..].iter_mut().enumerate() {
            // Bits of the product that lie in this word.
            let part = match k {
                0 => (product as u64) << (at % 64),
                1 => (product >> (64 - at % 64)) as u64,
                2 if at % 64 > 0 => (product >> 64 >> (64 - at % 64)) as u64,
                _ if !carry => break,
                _ => 0,
            };
            let (word, first) = total.overflowing_add(part);
            let (word, second) = word.overflowing_add(carry.into());
            (*total, carry) = (word, first | second);
        }
    }
    match (is_nan, infinite) {
        (true, _) | (_, [true, true]) => f64::NAN.to_bits(),
        (_, [true, _]) => f64::INFINITY.to_bits(),
        (_, [_, true]) => f64::NEG_INFINITY.to_bits(),
        _ => {
            let [positive, negative] = &sums;
            let is_less = positive.iter().rev().lt(negative.iter().rev());
            let (greater, less) = if is_less { (negative, positive) } else { (positive, negative) };
            u64::from(is_less) << 63 | rounded(&difference(greater, less))
        }
    }
}

fn difference(greater: &[u64; WORDS], less: &[u64; WORDS]) -> [u64; WORDS] {
    let mut borrow = false;
    std::array::from_fn(|k| {
        let (word, first) = greater[k].overflowing_sub(less[k]);
        let (word, second) = word.overflowing_sub(borrow.into());
        borrow = first | second;
        word
    })
}

/// The nearest float of a sum, ties to even.
fn rounded(sum: &[u64; WORDS]) -> u64 {
    let bit = |k: usize| sum[k / 64] >> (k % 64) & 1;
    let Some(top) = (0..64 * WORDS).rev().find(|&k| bit(k) == 1) else { return 0 };
    // The last bit that a float has: the 53rd, or that of subnormal numbers.
    let subnormal = (-1074 - LEAST) as usize;
    let last = top.saturating_sub(52).max(subnormal);
    let kept = (last..=top.max(last)).rev().fold(0, |kept, k| kept << 1 | bit(k));
    let (half, more) = (bit(last - 1) == 1, (0..last - 1).any(|k| bit(k) == 1));
    let up = half && (more || kept & 1 == 1);
    // A carry out of the mantissa goes to the exponent.
    (kept + u64::from(up) + (((last - subnormal) as u64) << 52)).min(f64::INFINITY.to_bits())
}
