//! Histograms of floats: even bins and bins between edges, of which a loop looks at every edge.

use super::{computed, edges, output, palette};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::{Random, nearest_f16};
use crate::fuzz::verbs::{Verb, length};
use isowarp::Result;
use isowarp::dynamic::{Call, Histogram};
use isowarp::element::DType;

/// Bounds where bins are as numbers are dense, and others.
const BOUNDS: [(f64, f64); 10] = [
    (0.0, 1.0),
    (-1.0, 1.0),
    (-2.5, 3.1),
    (1.0, 1.001),
    (0.0, 1e-4),
    (-128.0, 128.0),
    (-60_000.0, 60_000.0),
    (1000.0, 1001.0),
    (-0.1, 0.7),
    (16.0, 4096.0),
];

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let (types, _) = palette(r);
    let dtype =
        r.pick(if types.contains(&DType::F64) { &[DType::F32, DType::F16, DType::F64] } else { &[DType::F32, DType::F32, DType::F16] });
    let n = length(r).max(1);
    let bins = if r.chance(20) { r.pick(&[1, 2, 255, 256, 257, 2048, 5000]) } else { 1 + r.below(300) };
    let (lower, upper) = if r.chance(75) {
        r.pick(&BOUNDS)
    } else {
        let x = (r.below(20_001) as f64 - 10_000.0) / 64.0;
        (x, x + (1 + r.below(30_000)) as f64 / 128.0)
    };
    let of = Trial {
        verb,
        n,
        numbers: [("lower", lower.to_bits()), ("upper", upper.to_bits()), ("bins", bins as u64), ("flow", r.below(2) as u64)]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
        inputs: Vec::new(),
        trees: Vec::new(),
    };
    let even = even(&of, dtype);
    // Samples at edges, beside them, between them, and any.
    let sample = |r: &mut Random| {
        let at = r.below(even.len());
        let between = lower + (upper - lower) * (r.below(1 << 24) as f64 / f64::from(1 << 24));
        match r.below(10) {
            0..=2 => bits_of(dtype, even[at]),
            3 | 4 => bits_of(dtype, even[at]).wrapping_add(r.pick(&[1, u64::MAX])) & (u64::MAX >> (64 - 8 * dtype.size_bytes())),
            5..=8 => bits_of(dtype, between),
            _ => edges(dtype, 1, r)[0],
        }
    };
    let samples = (0..n).map(|_| sample(r)).collect();
    let mut inputs = vec![Array::plain(dtype, samples)];
    if verb == Verb::HistogramBetween {
        inputs.push(Array::plain(dtype, (0..=bins.min(600)).map(|_| sample(r)).collect()));
    }
    Trial { inputs, ..of }
}

fn value_of(dtype: DType, bits: u64) -> f64 {
    match dtype {
        DType::F64 => f64::from_bits(bits),
        DType::F32 => f32::from_bits(bits as u32).into(),
        _ => half::f16::from_bits(bits as u16).into(),
    }
}

pub(super) fn bits_of(dtype: DType, x: f64) -> u64 {
    match dtype {
        DType::F64 => x.to_bits(),
        DType::F32 => (x as f32).to_bits().into(),
        _ => nearest_f16(x).to_bits().into(),
    }
}

/// Bounds that have a width in the type, and the number of bins.
pub(super) fn bounds(trial: &Trial, dtype: DType) -> (f64, f64, u32) {
    let [lower, upper] = ["lower", "upper"].map(|name| f64::from_bits(trial.number(name)));
    let bins = trial.number("bins").clamp(1, 1 << 14) as u32;
    let [low, high] = [lower, upper].map(|x| value_of(dtype, bits_of(dtype, x)));
    let is_usual = [low, high].iter().all(|x| x.abs() < 1e5) && high - low > 1e-5;
    if is_usual { (lower, upper, bins) } else { (0.0, 1.0, bins) }
}

/// The edges of even bins.
pub(super) fn even(trial: &Trial, dtype: DType) -> Vec<f64> {
    let (lower, upper, bins) = bounds(trial, dtype);
    let step = (upper - lower) / f64::from(bins);
    let inner = (0..bins).map(|k| (lower + f64::from(k) * step).min(upper));
    inner.chain([upper]).map(|x| value_of(dtype, bits_of(dtype, x))).collect()
}

/// Edges that are given, in order and without NaN: two of them at least.
pub(super) fn given(array: &Array) -> Vec<f64> {
    let mut all: Vec<f64> = array.bits.iter().map(|&bits| value_of(array.dtype, bits)).filter(|x| !x.is_nan()).collect();
    all.sort_by(f64::total_cmp);
    all.resize(all.len().max(2), f64::INFINITY);
    all
}

pub(super) fn flow(trial: &Trial) -> bool {
    trial.number("flow") % 2 == 1
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let samples = &trial.inputs[0];
    let x = upload(device, samples.dtype, &samples.bits)?;
    if trial.verb == Verb::HistogramBetween {
        let call = Call::Histogram(Histogram { arrays: 1, flow: flow(trial), ..Histogram::default() });
        let edges: Vec<u64> = given(&trial.inputs[1]).into_iter().map(|x| bits_of(samples.dtype, x)).collect();
        return computed(device, &call, &[&x, &upload(device, samples.dtype, &edges)?]);
    }
    let (lower, upper, bins) = bounds(trial, samples.dtype);
    let even = vec![(lower.to_string(), upper.to_string(), bins)];
    computed(device, &Call::Histogram(Histogram { arrays: 1, even, flow: flow(trial), ..Histogram::default() }), &[&x])
}

/// The bin of a sample between edges: the one before the first is that of samples below, the one after the last that of others outside, and of NaN.
pub(super) fn place(dtype: DType, bits: u64, edges: &[f64]) -> usize {
    let x = value_of(dtype, bits);
    if x.is_nan() { edges.len() } else { edges.iter().filter(|&&edge| edge <= x).count() }
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let samples = &trial.inputs[0];
    let edges = if trial.verb == Verb::HistogramBetween { given(&trial.inputs[1]) } else { even(trial, samples.dtype) };
    let bins = edges.len() - 1;
    let mut counts = vec![0u64; bins + 2];
    for &bits in &samples.bits {
        counts[place(samples.dtype, bits, &edges)] += 1;
    }
    let counts = if flow(trial) { counts } else { counts[1..=bins].to_vec() };
    vec![output(DType::U32, counts)]
}
