//! Histograms of two and three dimensions, counted and with weights: the bin of a sample in each, by loops.

use super::{bins, choice, computed, edges, output, picks, weights};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::dynamic::{Call, Histogram};
use isowarp::element::DType;

/// Bins of a dimension at most: a million of them in three, with those of samples outside.
const BINS: u64 = 99;

/// The third input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Third {
    Unused,
    Weights,
    Dimension,
}

const THIRDS: [Third; 3] = [Third::Unused, Third::Weights, Third::Dimension];

pub(super) fn trial(r: &mut Random) -> Trial {
    let mut of = Trial { verb: Verb::HistogramJoint, n: 0, numbers: Vec::new(), inputs: Vec::new(), trees: Vec::new() };
    for k in 0..3 {
        let mut one = match r.below(2) {
            0 => picks::trial(Verb::Histogram, r),
            _ => bins::trial(Verb::HistogramFloats, r),
        };
        one.numbers.retain(|(name, _)| name != "flow");
        of.numbers.extend(one.numbers.into_iter().map(|(name, value)| (format!("{name}{k}"), value)));
        of.inputs.push(Array::plain(one.inputs[0].dtype, std::mem::take(&mut one.inputs[0].bits)));
    }
    // As many samples of each as of the one that has the fewest.
    of.n = of.inputs.iter().map(|a| a.bits.len()).min().unwrap_or(0);
    of.inputs.iter_mut().for_each(|a| a.bits.truncate(of.n));
    of.numbers.extend([("third", r.below(3) as u64), ("flow", r.below(2) as u64)].map(|(name, value)| (name.to_owned(), value)));
    // The last dimension between edges, of floats.
    let last = dimensions(&of) - 1;
    let dtype = of.inputs[last].dtype;
    if dtype.ty().is_float() && r.chance(60) {
        let sample = |r: &mut Random| if r.chance(80) { r.pick(&of.inputs[last].bits) } else { edges(dtype, 1, r)[0] };
        let bits = (0..2 + r.below(30)).map(|_| sample(r)).collect();
        of.inputs.push(Array::plain(dtype, bits));
    }
    of
}

fn third(trial: &Trial) -> Third {
    choice(trial, "third", &THIRDS)
}

fn dimensions(trial: &Trial) -> usize {
    if third(trial) == Third::Dimension { 3 } else { 2 }
}

/// A dimension as a trial of its own, with edges if they are its.
fn one(trial: &Trial, k: usize) -> Trial {
    let named = |name: &str| (name.to_owned(), trial.number(&format!("{name}{k}")));
    let (name, count) = named("bins");
    let numbers = vec![named("lower"), named("upper"), (name, count.clamp(1, BINS))];
    // Weights stand between samples and edges there.
    let mut inputs = vec![trial.inputs[k].clone(), Array::plain(DType::U32, Vec::new())];
    if k + 1 == dimensions(trial) && inputs[0].dtype.ty().is_float() {
        let last = |edges: &Array| Array::plain(inputs[0].dtype, edges.bits.iter().take(BINS as usize).copied().collect());
        if let Some(edges) = trial.inputs.get(3).map(last) {
            inputs.push(edges);
        }
    }
    Trial { verb: Verb::HistogramWeighted, n: trial.n, numbers, inputs, trees: Vec::new() }
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let dimensions = dimensions(trial);
    let array = |a: &Array| upload(device, a.dtype, &a.bits);
    let mut inputs = trial.inputs[..dimensions].iter().map(array).collect::<Result<Vec<_>>>()?;
    let weighted = third(trial) == Third::Weights;
    if weighted {
        inputs.push(array(&trial.inputs[2])?);
    }
    let mut even = Vec::new();
    for k in 0..dimensions {
        let one = one(trial, k);
        match weights::sorted_edges(&one) {
            Some(edges) => inputs.push(upload(device, one.inputs[0].dtype, &edges)?),
            None => even.push(weights::even(&one)),
        }
    }
    let call = Call::Histogram(Histogram { arrays: dimensions, even, weighted, flow: bins::flow(trial), ..Histogram::default() });
    computed(device, &call, &inputs.iter().collect::<Vec<_>>())
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let flow = bins::flow(trial);
    let all: Vec<(Vec<usize>, usize)> = (0..dimensions(trial)).map(|k| weights::places(&one(trial, k))).collect();
    // Without a bin before the first and one after the last, samples outside of any dimension are in none.
    let cells = |count: usize| if flow { count } else { count - 2 };
    let total = all.iter().map(|(_, count)| cells(*count)).product();
    let cell = |i: usize| {
        all.iter().try_fold(0, |cell, (places, count)| {
            let place = if flow { Some(places[i]) } else { places[i].checked_sub(1).filter(|&at| at < count - 2) };
            place.map(|at| cell * cells(*count) + at)
        })
    };
    let cells = (0..trial.n).map(cell);
    if third(trial) == Third::Weights {
        return vec![weights::added(&trial.inputs[2], cells, total)];
    }
    let mut counts = vec![0u64; total];
    cells.flatten().for_each(|cell| counts[cell] += 1);
    vec![output(DType::U32, counts)]
}
