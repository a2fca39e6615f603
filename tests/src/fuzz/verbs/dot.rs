//! Exact sums, means and dot products, of lines, segments and runs by key: sums of whole numbers, rounded once.

use super::{choice, edges, few, length, output, parts, picks};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
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

/// Elements of a type of which sums are interesting: those of `f64` or their nearest ones.
pub(super) fn stored(dtype: DType, n: usize, r: &mut Random) -> Vec<u64> {
    if r.chance(30) {
        return edges(dtype, n, r);
    }
    match dtype {
        DType::F64 => elements(n, r),
        DType::F32 => elements(n, r).into_iter().map(|bits| bits >> 32 ^ bits & 0xff).collect(),
        _ => elements(n, r).into_iter().map(|bits| bits >> 48 ^ bits & 0xf).collect(),
    }
}

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let is_dot = verb == Verb::ExactDot || (verb == Verb::ExactByKey && r.chance(30));
    let dtype = match verb {
        _ if is_dot => r.pick(&[DType::F64, DType::F64, DType::F32]),
        _ => r.pick(&[DType::F32, DType::F32, DType::F64, DType::F16]),
    };
    // Rows with groups of threads of their own have 1024 elements and more.
    let n = if r.chance(15) { 4000 + r.below(6000) } else { length(r).max(1) };
    let x = stored(dtype, n, r);
    let sign = 8 * dtype.size_bytes() - 1;
    // The other half takes a part of the sum back.
    let back = |x: &[u64]| x.iter().rev().map(|bits| bits ^ 1 << sign).collect::<Vec<u64>>();
    let mut inputs = vec![Array::plain(dtype, x)];
    if verb == Verb::ExactByKey {
        inputs.push(few(r.pick(&[DType::U8, DType::I32, DType::F32, DType::F16]), n, r));
    }
    if is_dot {
        let y = if r.chance(25) { back(&inputs[0].bits) } else { stored(dtype, n, r) };
        inputs.push(Array::plain(dtype, y));
    } else if r.chance(25) {
        let x = &mut inputs[0].bits;
        let half = back(&x[..n / 2]);
        x[n - n / 2..].copy_from_slice(&half);
    }
    let columns = if r.chance(50) { 1 + r.below(40) } else { 1 + r.below(n) };
    let numbers = [("lines", r.below(4)), ("columns", columns), ("mean", if is_dot { 0 } else { r.below(2) })];
    let numbers = numbers.map(|(name, value)| (name.to_owned(), value as u64)).to_vec();
    Trial { verb, n, numbers, inputs, trees: Vec::new() }
}

/// Elements that are summed together.
#[derive(Clone, Copy)]
enum Lines {
    Whole,
    Rows,
    Columns,
    Segments,
}

fn lines(trial: &Trial) -> Lines {
    choice(trial, "lines", &[Lines::Whole, Lines::Rows, Lines::Columns, Lines::Segments])
}

/// Rows, and elements of each.
fn shape(trial: &Trial) -> [usize; 2] {
    let columns = (trial.number("columns") as usize).clamp(1, trial.n);
    [trial.n / columns, columns]
}

/// Offsets of segments: none, then of so many elements and ever more, then what is left.
fn offsets(trial: &Trial) -> Vec<u32> {
    let columns = (trial.number("columns") as usize).clamp(1, trial.n);
    let ends = (0..).map(|k| k * (k + 1) / 2 * columns).take_while(|end| *end < trial.n);
    [0].into_iter().chain(ends).chain([trial.n]).map(|at| at as u32).collect()
}

/// Whether sums are divided by the number of elements.
fn is_mean(trial: &Trial) -> bool {
    let is_dot = trial.verb == Verb::ExactDot || trial.inputs.len() == 3;
    !is_dot && trial.number("mean") % 2 == 1
}

fn by_key<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let input = |k: usize| upload(device, trial.inputs[k].dtype, &trial.inputs[k].bits);
    let (x, keys) = (input(0)?, input(1)?);
    macro_rules! runs {
        ($call:expr, $k:ty) => {{
            let found = $call.by_key(&keys.typed::<$k>()?).run()?;
            let n = found.len_blocking()?;
            parts(&[found.values.0.slice(..n)?.into(), found.values.1.slice(..n)?.into()])
        }};
    }
    macro_rules! sums {
        ($call:expr) => {
            match keys.dtype() {
                DType::U8 => runs!($call, u8),
                DType::I32 => runs!($call, i32),
                DType::F32 => runs!($call, f32),
                _ => runs!($call, half::f16),
            }
        };
    }
    macro_rules! of {
        ($t:ty) => {{
            let x = x.typed::<$t>()?;
            if is_mean(trial) { sums!(device.exact_mean(&x)) } else { sums!(device.exact_sum(&x)) }
        }};
    }
    macro_rules! dots {
        ($t:ty) => {{
            let (x, y) = (x.typed::<$t>()?, input(2)?.typed::<$t>()?);
            sums!(device.exact_dot((&x, &y)))
        }};
    }
    match (trial.inputs.len() == 3, x.dtype()) {
        (true, DType::F64) => dots!(f64),
        (true, _) => dots!(f32),
        (_, DType::F64) => of!(f64),
        (_, DType::F32) => of!(f32),
        _ => of!(half::f16),
    }
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    if trial.verb == Verb::ExactByKey {
        return by_key(trial, device);
    }
    let [rows, columns] = shape(trial);
    let used = if matches!(lines(trial), Lines::Rows | Lines::Columns) { rows * columns } else { trial.n };
    let shape = [rows as u64, columns as u64];
    let offsets = device.upload(&offsets(trial))?;
    macro_rules! sums {
        ($call:expr) => {{
            let call = $call;
            match lines(trial) {
                Lines::Whole => vec![call.run()?.read_blocking()?],
                Lines::Rows => call.axis(&shape, 1).run()?.read_blocking()?,
                Lines::Columns => call.axis(&shape, 0).run()?.read_blocking()?,
                Lines::Segments => call.segments(&offsets).run()?.read_blocking()?,
            }
        }};
    }
    macro_rules! of {
        ($t:ty, $word:ty, $result:ident) => {{
            let input = |k: usize| trial.inputs[k].bits[..used].iter().map(|&bits| <$t>::from_bits(bits as $word)).collect::<Vec<_>>();
            let x = device.upload(&input(0))?;
            let sums = if is_mean(trial) { sums!(device.exact_mean(&x)) } else { sums!(device.exact_sum(&x)) };
            Ok(vec![output(DType::$result, sums.into_iter().map(|sum| sum.to_bits().into()))])
        }};
    }
    macro_rules! dots {
        ($t:ty, $word:ty, $result:ident) => {{
            let input = |k: usize| trial.inputs[k].bits[..used].iter().map(|&bits| <$t>::from_bits(bits as $word)).collect::<Vec<_>>();
            let (x, y) = (device.upload(&input(0))?, device.upload(&input(1))?);
            let sums = sums!(device.exact_dot((&x, &y)));
            Ok(vec![output(DType::$result, sums.into_iter().map(|sum| sum.to_bits().into()))])
        }};
    }
    match (trial.verb, trial.inputs[0].dtype) {
        (Verb::ExactDot, DType::F64) => dots!(f64, u64, F64),
        (Verb::ExactDot, _) => dots!(f32, u32, F32),
        (_, DType::F64) => of!(f64, u64, F64),
        (_, DType::F32) => of!(f32, u32, F32),
        _ => of!(half::f16, u16, F32),
    }
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let (dtype, [rows, columns]) = (trial.inputs[0].dtype, shape(trial));
    let keys = if trial.verb == Verb::ExactByKey { Some(&trial.inputs[1]) } else { None };
    let factors = trial.inputs.iter().enumerate().filter(|(k, _)| keys.is_none() || *k != 1);
    let wide: Vec<Vec<u64>> = factors.map(|(_, array)| array.bits.iter().map(|&bits| as_f64(dtype, bits)).collect()).collect();
    let factor = |i: usize| wide.get(1).map_or(1f64.to_bits(), |y| y[i]);
    let result = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let sum = |places: &mut dyn Iterator<Item = usize>| {
        let mut n = 0;
        let total = total(places.inspect(|_| n += 1).map(|i| (wide[0][i], factor(i))));
        total.rounded(result, if is_mean(trial) { n } else { 1 })
    };
    if let Some(keys) = keys {
        let starts = picks::run_starts(keys.dtype, &keys.bits);
        let ends = starts.iter().skip(1).copied().chain([trial.n]);
        let sums: Vec<u64> = starts.iter().zip(ends).map(|(&start, end)| sum(&mut (start..end))).collect();
        let firsts = starts.iter().map(|&start| picks::kept(keys.dtype, keys.bits[start]));
        return vec![output(keys.dtype, firsts), output(result, sums)];
    }
    let sums = match lines(trial) {
        Lines::Whole => vec![sum(&mut (0..trial.n))],
        Lines::Rows => (0..rows).map(|row| sum(&mut (row * columns..(row + 1) * columns))).collect(),
        Lines::Columns => (0..columns).map(|column| sum(&mut (0..rows).map(|row| row * columns + column))).collect(),
        Lines::Segments => offsets(trial).windows(2).map(|w| sum(&mut (w[0] as usize..w[1] as usize))).collect(),
    };
    vec![output(result, sums)]
}

/// The bits of the `f64` of an element's value.
pub(super) fn as_f64(dtype: DType, bits: u64) -> u64 {
    match dtype {
        DType::F64 => bits,
        DType::F32 => f64::from(f32::from_bits(bits as u32)).to_bits(),
        _ => half::f16::from_bits(bits as u16).to_f64().to_bits(),
    }
}

/// A mantissa and its exponent.
fn fraction(bits: u64) -> (u64, i32) {
    let (exponent, mantissa) = ((bits >> 52 & 0x7ff) as i32, bits & (!0 >> 12));
    if exponent == 0 { (mantissa, -1074) } else { (mantissa | 1 << 52, exponent - 1075) }
}

/// A sum that is not rounded yet.
pub(super) enum Total {
    Nan,
    Infinite {
        negative: bool,
    },
    /// A magnitude, and whether it is below zero.
    Finite(Box<[u64; WORDS]>, bool),
}

/// The sum of products, one for positive and one for negative ones.
pub(super) fn total(products: impl Iterator<Item = (u64, u64)>) -> Total {
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
        let ((m, e), (n, f)) = (fraction(a), fraction(b));
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
        (true, _) | (_, [true, true]) => Total::Nan,
        (_, [true, _]) => Total::Infinite { negative: false },
        (_, [_, true]) => Total::Infinite { negative: true },
        _ => {
            let [positive, negative] = &sums;
            let is_less = positive.iter().rev().lt(negative.iter().rev());
            let (greater, less) = if is_less { (negative, positive) } else { (positive, negative) };
            Total::Finite(Box::new(difference(greater, less)), is_less)
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

impl Total {
    /// The nearest float of the sum over a number, ties to even; a mean of nothing is NaN.
    pub(super) fn rounded(self, dtype: DType, over: u64) -> u64 {
        let (sign, infinity) =
            if dtype == DType::F64 { (1 << 63, f64::INFINITY.to_bits()) } else { (1 << 31, f32::INFINITY.to_bits().into()) };
        match self {
            _ if over == 0 => infinity | quiet(dtype),
            Self::Nan => infinity | quiet(dtype),
            Self::Infinite { negative } => infinity | if negative { sign } else { 0 },
            Self::Finite(sum, is_less) => rounded(&sum, dtype, over).min(infinity) | if is_less { sign } else { 0 },
        }
    }
}

/// The highest bit of a mantissa, which NaN has.
fn quiet(dtype: DType) -> u64 {
    if dtype == DType::F64 { 1 << 51 } else { 1 << 22 }
}

/// The nearest float of a sum over a number.
fn rounded(sum: &[u64; WORDS], dtype: DType, over: u64) -> u64 {
    // Long division; what is left is far below half of the least float.
    let mut left = 0u128;
    let mut quotient = [0u64; WORDS];
    for k in (0..WORDS).rev() {
        left = left << 64 | u128::from(sum[k]);
        quotient[k] = (left / u128::from(over)) as u64;
        left %= u128::from(over);
    }
    let bit = |k: usize| quotient[k / 64] >> (k % 64) & 1;
    let Some(top) = (0..64 * WORDS).rev().find(|&k| bit(k) == 1) else { return 0 };
    // The last bit that a float has: the 53rd or 24th, or that of subnormal numbers.
    let (mantissa, least) = if dtype == DType::F64 { (52, -1074) } else { (23, -149) };
    let subnormal = (least - LEAST) as usize;
    let last = top.saturating_sub(mantissa).max(subnormal);
    let kept = (last..=top.max(last)).rev().fold(0, |kept, k| kept << 1 | bit(k));
    let (half, more) = (bit(last - 1) == 1, left != 0 || (0..last - 1).any(|k| bit(k) == 1));
    let up = half && (more || kept & 1 == 1);
    // A carry out of the mantissa goes to the exponent.
    kept + u64::from(up) + (((last - subnormal) as u64) << mantissa)
}
