//! Weights of samples added up by bins: exact sums of floats, rounded once, and integers that wrap.

use super::{bins, computed, dot, edges, output, picked, picks};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::rules;
use crate::fuzz::tree::Op;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::dynamic::{Call, Histogram};
use isowarp::element::Ty;

pub(super) fn trial(r: &mut Random) -> Trial {
    let mut of = match r.below(3) {
        0 => picks::trial(Verb::Histogram, r),
        1 => bins::trial(Verb::HistogramBetween, r),
        _ => bins::trial(Verb::HistogramFloats, r),
    };
    of.verb = Verb::HistogramWeighted;
    of.inputs[0].lead = 0;
    if !of.numbers.iter().any(|(name, _)| name == "flow") {
        of.numbers.push(("flow".to_owned(), r.below(2) as u64));
    }
    let dtype = picked(r);
    let weights = if dtype.ty().is_float() { dot::stored(dtype, of.n, r) } else { edges(dtype, of.n, r) };
    of.inputs.insert(1, Array::plain(dtype, weights));
    of
}

/// Edges that are given.
fn given(trial: &Trial) -> Option<Vec<f64>> {
    trial.inputs.get(2).map(bins::given)
}

/// The same as they are stored.
pub(super) fn sorted_edges(trial: &Trial) -> Option<Vec<u64>> {
    given(trial).map(|edges| edges.into_iter().map(|edge| bins::bits_of(trial.inputs[0].dtype, edge)).collect())
}

/// Even bins: their bounds as text, and how many.
pub(super) fn even(trial: &Trial) -> (String, String, u32) {
    let dtype = trial.inputs[0].dtype;
    if dtype.ty().is_float() {
        let (lower, upper, count) = bins::bounds(trial, dtype);
        return (lower.to_string(), upper.to_string(), count);
    }
    let (lower, upper) = picks::range(trial);
    (lower.to_string(), upper.to_string(), picks::bins(trial))
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let [samples, weights] = [0, 1].map(|k| &trial.inputs[k]);
    let (x, y) = (upload(device, samples.dtype, &samples.bits)?, upload(device, weights.dtype, &weights.bits)?);
    let of = Histogram { arrays: 1, weighted: true, flow: bins::flow(trial), ..Histogram::default() };
    if let Some(edges) = sorted_edges(trial) {
        return computed(device, &Call::Histogram(of), &[&x, &y, &upload(device, samples.dtype, &edges)?]);
    }
    computed(device, &Call::Histogram(Histogram { even: vec![even(trial)], ..of }), &[&x, &y])
}

/// For each sample its bin, of which one is before the first and one after the last; and how many there are in all.
pub(super) fn places(trial: &Trial) -> (Vec<usize>, usize) {
    let samples = &trial.inputs[0];
    if samples.dtype.ty().is_float() {
        let edges = given(trial).unwrap_or_else(|| bins::even(trial, samples.dtype));
        return (samples.bits.iter().map(|&bits| bins::place(samples.dtype, bits, &edges)).collect(), edges.len() + 1);
    }
    let ((low, high), count) = (picks::range(trial), i128::from(picks::bins(trial)));
    let place = |&bits: &u64| match picks::whole(samples.dtype, rules::widen(samples.dtype, bits)) {
        x if x < low => 0,
        x if x >= high => count as usize + 1,
        x => 1 + ((x - low) * count / (high - low)) as usize,
    };
    (samples.bits.iter().map(place).collect(), count as usize + 2)
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let (places, count) = places(trial);
    let inner = if bins::flow(trial) { 0..count } else { 1..count - 1 };
    let cells = places.iter().map(|place| inner.contains(place).then(|| place - inner.start));
    vec![added(&trial.inputs[1], cells, inner.len())]
}

/// Weights added up in so many cells, each in the one of its sample if that has one.
pub(super) fn added(weights: &Array, cells: impl IntoIterator<Item = Option<usize>>, count: usize) -> Output {
    let ty = weights.dtype.ty();
    let mut all = vec![Vec::new(); count];
    for (cell, &bits) in cells.into_iter().zip(&weights.bits) {
        if let Some(cell) = cell {
            all[cell].push(bits);
        }
    }
    let sum = |of: &Vec<u64>| match ty {
        _ if of.is_empty() => 0,
        Ty::F32 | Ty::F64 => {
            let one = 1f64.to_bits();
            dot::total(of.iter().map(|&bits| (dot::as_f64(weights.dtype, bits), one))).rounded(ty.dtype(), 1)
        }
        _ => of.iter().fold(0, |sum, &bits| rules::one(Op::Add, ty, ty, [sum, rules::widen(weights.dtype, bits), 0])),
    };
    output(ty.dtype(), all.iter().map(sum))
}
