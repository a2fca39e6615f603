//! Statistics of all elements: means, variances, norms, distances, extremes and percentiles, by the trees of sums that they are made of.

use super::dense::{Arithmetic, elements};
use super::folds::tree;
use super::{choice, inexact, length, output, parts, picks};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::rules;
use crate::fuzz::tree::Op;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::element::{DType, Ty};
use isowarp::prelude::*;

/// A statistic.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    ArgMin,
    ArgMax,
    MinMax,
    Dot,
    Mean,
    Variance,
    StdDev,
    Norm1,
    Norm2,
    NormInf,
    MaxAbsDiff,
    Median,
    Percentiles,
}

/// Every one: first those of all types, then those of floats.
const ALL: [Of; 13] = [
    Of::ArgMin,
    Of::ArgMax,
    Of::MinMax,
    Of::Dot,
    Of::Mean,
    Of::Variance,
    Of::StdDev,
    Of::Norm1,
    Of::Norm2,
    Of::NormInf,
    Of::MaxAbsDiff,
    Of::Median,
    Of::Percentiles,
];
/// Statistics that integers have.
const OF_INTEGERS: usize = 4;
const TYPES: [DType; 8] = [DType::F32, DType::F32, DType::F64, DType::F16, DType::I32, DType::U32, DType::I8, DType::U8];

pub(super) fn trial(r: &mut Random) -> Trial {
    let dtype = r.pick(&TYPES);
    let n = length(r).max(1);
    let inputs = (0..2).map(|_| Array::plain(dtype, if r.chance(60) { inexact(dtype, n, r) } else { elements(dtype, n, r) })).collect();
    let mut numbers = vec![("of".to_owned(), r.below(ALL.len()) as u64), ("freedom".to_owned(), r.below(3) as u64)];
    for k in 0..1 + r.below(5) {
        let thousandths = if r.chance(40) { r.pick(&[0, 25_000, 50_000, 75_000, 99_999, 100_000]) } else { r.below(100_001) };
        numbers.push((format!("p{k}"), thousandths as u64));
    }
    Trial { verb: Verb::Statistics, n, numbers, inputs, trees: Vec::new() }
}

fn of(trial: &Trial) -> Of {
    choice(trial, "of", if trial.inputs[0].dtype.ty().is_float() { &ALL } else { &ALL[..OF_INTEGERS] })
}

/// Numbers from 0 to 100.
fn percents(trial: &Trial) -> Vec<f64> {
    let given = trial.numbers.iter().filter(|(name, _)| name.starts_with('p'));
    let all: Vec<f64> = given.map(|(_, thousandths)| (thousandths % 100_001) as f64 / 1000.0).collect();
    if all.is_empty() { vec![50.0] } else { all }
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let [x, y] = [0, 1].map(|k| upload(device, trial.inputs[k].dtype, &trial.inputs[k].bits));
    let (x, y) = (x?, y?);
    macro_rules! one {
        ($scalar:expr) => {
            parts(&[$scalar?.buffer().clone().into()])
        };
    }
    macro_rules! any {
        ($x:expr, $y:expr) => {
            match of(trial) {
                Of::ArgMin => one!(device.argmin($x)),
                Of::ArgMax => one!(device.argmax($x)),
                Of::MinMax => {
                    let (least, greatest) = device.minmax($x)?;
                    parts(&[least.buffer().clone().into(), greatest.buffer().clone().into()])
                }
                _ => one!(device.dot($x, $y)),
            }
        };
    }
    macro_rules! integers {
        ($t:ty) => {{
            let (x, y) = (x.typed::<$t>()?, y.typed::<$t>()?);
            any!(&x, &y)
        }};
    }
    macro_rules! floats {
        ($t:ty) => {{
            let (x, y) = (x.typed::<$t>()?, y.typed::<$t>()?);
            match of(trial) {
                Of::Mean => one!(device.mean(&x)),
                Of::Variance => one!(device.variance(&x, trial.number("freedom"))),
                Of::StdDev => one!(device.std_dev(&x, trial.number("freedom"))),
                Of::Norm1 => one!(device.norm1(&x)),
                Of::Norm2 => one!(device.norm2(&x)),
                Of::NormInf => one!(device.norm_inf(&x)),
                Of::MaxAbsDiff => one!(device.max_abs_diff(&x, &y)),
                Of::Median => one!(device.median(&x)),
                Of::Percentiles => parts(&[device.percentiles(&x, &percents(trial))?.into()]),
                _ => any!(&x, &y),
            }
        }};
    }
    match x.dtype() {
        DType::F64 => floats!(f64),
        DType::F16 => floats!(half::f16),
        DType::I32 => integers!(i32),
        DType::U32 => integers!(u32),
        DType::I8 => integers!(i8),
        DType::U8 => integers!(u8),
        _ => floats!(f32),
    }
}

fn number(ty: Ty, x: f64) -> u64 {
    if ty == Ty::F64 { x.to_bits() } else { (x as f32).to_bits().into() }
}

/// A whole number that is in the order of the values, every NaN above infinity.
pub(super) fn rank(ty: Ty, bits: u64) -> i128 {
    let bits = rules::canonical(ty, bits);
    match ty {
        Ty::F32 if bits >> 31 == 1 => -1 - i128::from(bits & 0x7fff_ffff),
        Ty::F64 if bits >> 63 == 1 => -1 - i128::from(bits & !(1 << 63)),
        _ => picks::whole(ty.dtype(), bits),
    }
}

fn is_nan(ty: Ty, bits: u64) -> bool {
    match ty {
        Ty::F32 => f32::from_bits(bits as u32).is_nan(),
        Ty::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

/// The lowest place of the least or of the greatest value; the first NaN wins.
pub(super) fn extreme(ty: Ty, values: &[u64], greatest: bool) -> u64 {
    let mut found = 0;
    for (i, &bits) in values.iter().enumerate() {
        let (a, b) = (rank(ty, bits), rank(ty, values[found]));
        let wins = is_nan(ty, bits) || if greatest { a > b } else { a < b };
        if wins && !is_nan(ty, values[found]) {
            found = i;
        }
    }
    found as u64
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let dtype = trial.inputs[0].dtype;
    let ty = dtype.ty();
    let by = Arithmetic(ty);
    let [x, y] = [0, 1].map(|k| trial.inputs[k].bits.iter().map(|&bits| rules::widen(dtype, bits)).collect::<Vec<u64>>());
    let folded = |op: Op, values: Vec<u64>| tree(op, ty, values).unwrap_or(0);
    let each = |f: &dyn Fn(u64, u64) -> u64| x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect::<Vec<u64>>();
    let two = |op: Op, a: u64, b: u64| by.of(op, [a, b, 0]);
    let abs = |a: u64| by.of(Op::Abs, [a, 0, 0]);
    let root = |a: u64| by.of(Op::Sqrt, [a, 0, 0]);
    let variance = || {
        let mean = two(Op::Div, folded(Op::Add, x.clone()), number(ty, trial.n as f64));
        let square = |x: u64| two(Op::Mul, two(Op::Sub, x, mean), two(Op::Sub, x, mean));
        let left = number(ty, (trial.n as u64).saturating_sub(trial.number("freedom")) as f64);
        two(Op::Div, folded(Op::Add, x.iter().map(|&x| square(x)).collect()), left)
    };
    let stored = |bits: u64| output(ty.dtype(), [rules::narrow(ty.dtype(), ty, bits)]);
    let all = match of(trial) {
        of @ (Of::ArgMin | Of::ArgMax) => return vec![output(DType::U32, [extreme(ty, &x, of == Of::ArgMax)])],
        Of::MinMax => return vec![stored(folded(Op::Min, x.clone())), stored(folded(Op::Max, x))],
        Of::Dot => folded(Op::Add, each(&|x, y| two(Op::Mul, x, y))),
        Of::Mean => two(Op::Div, folded(Op::Add, x), number(ty, trial.n as f64)),
        Of::Variance => variance(),
        Of::StdDev => root(variance()),
        Of::Norm1 => folded(Op::Add, each(&|x, _| abs(x))),
        Of::Norm2 => root(folded(Op::Add, each(&|x, _| two(Op::Mul, x, x)))),
        Of::NormInf => folded(Op::Max, each(&|x, _| abs(x))),
        Of::MaxAbsDiff => folded(Op::Max, each(&|x, y| abs(two(Op::Sub, x, y)))),
        Of::Median => percentile(by, &x, 50.0),
        Of::Percentiles => {
            let all = percents(trial).into_iter().map(|p| rules::narrow(ty.dtype(), ty, percentile(by, &x, p)));
            return vec![output(ty.dtype(), all)];
        }
    };
    vec![stored(all)]
}

/// The value `p` hundredths of the way from the least to the greatest.
fn percentile(by: Arithmetic, values: &[u64], p: f64) -> u64 {
    let ty = by.0;
    if values.iter().any(|&bits| is_nan(ty, bits)) {
        return by.nan();
    }
    let mut all = values.to_vec();
    all.sort_by_key(|&bits| rank(ty, bits));
    let h = p / 100.0 * (all.len() - 1) as f64;
    let below = h.floor() as usize;
    let (a, b, t) = (all[below], all[(below + 1).min(all.len() - 1)], number(ty, h - h.floor()));
    let infinite = |bits: u64| by.magnitude(bits) == by.magnitude(number(ty, f64::INFINITY));
    let equal = rules::one(Op::Eq, ty, Ty::Bool, [a, b, 0]) != 0;
    if t == 0 || equal || infinite(a) {
        return a;
    }
    if infinite(b) {
        return b;
    }
    let way = by.of(Op::Sub, [b, a, 0]);
    let is_first_half = rules::one(Op::Lt, ty, Ty::Bool, [t, number(ty, 0.5), 0]) != 0;
    if is_first_half { by.fused(way, t, a) } else { by.minus(way, by.of(Op::Sub, [by.one(), t, 0]), b) }
}
