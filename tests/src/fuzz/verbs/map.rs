//! Up to four operators over views of up to four inputs, stored in the middle of memory that has to stay as it was.

use super::{length, output, palette, viewed};
use crate::case::{Output, Target};
use crate::fuzz::lower::{Places, RESULTS, Results, Source, Sources, upload};
use crate::fuzz::random::{Maker, stored_as};
use crate::fuzz::rules::{self, Reads};
use crate::fuzz::tree::Tree;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::backend::Backend;
use isowarp::dynamic::DynBuffer;
use isowarp::element::DType;
use isowarp::prelude::*;

/// Value that memory holds before anything is written.
const BEFORE: u64 = 0x5A5A_5A5A_5A5A_5A5A;

/// Elements after the last that is written.
const AFTER: u64 = 3;

pub(super) fn trial(r: &mut Random) -> Trial {
    let (dtypes, wide) = palette(r);
    let n = length(r);
    let inputs: Vec<Array> = (0..1 + r.below(4))
        .map(|_| {
            let dtype = r.pick(dtypes);
            viewed(dtype, n, r)
        })
        .collect();
    let of: Vec<DType> = inputs.iter().map(|a| a.dtype).collect();
    let depth = 1 + r.below(6);
    let nodes = r.pick(&[4, 8, 16, 32, 64]);
    let mut maker = Maker::new(r, &of, wide).within(nodes);
    let trees: Vec<Tree> = (0..RESULTS).map(|_| maker.any(depth)).collect();
    let trees = trees.into_iter().map(|t| (r.pick(&stored_as(t.ty())), t)).map(|(d, t)| (t, d)).collect();
    let numbers = if r.chance(20) { vec![("lead".to_owned(), r.below(6) as u64)] } else { Vec::new() };
    Trial { verb: Verb::Map, n, numbers, inputs, trees }
}

pub(super) fn check(trial: &Trial) -> std::result::Result<(), String> {
    if trial.trees.is_empty() || trial.trees.len() > RESULTS {
        return Err(format!("a map has from one to {RESULTS} operators"));
    }
    match trial.inputs.iter().position(|a| !a.holds(trial.n)) {
        Some(k) => Err(format!("input {k} has too few elements")),
        None => Ok(()),
    }
}

pub(super) fn shorter(trial: &Trial) -> Vec<Trial> {
    let n = trial.n;
    let part = |from: usize, to: usize| {
        let inputs = trial.inputs.iter().map(|a| Array::plain(a.dtype, a.seen(n)[from..to].to_vec())).collect();
        Trial { n: to - from, inputs, ..trial.clone() }
    };
    let mut all = Vec::new();
    // From halves down to a sixteenth, and each by itself in the end.
    for pieces in [2, 4, 16] {
        if n >= pieces {
            all.extend((0..pieces).map(|k| part(n * k / pieces, n * (k + 1) / pieces)));
        }
    }
    if (2..16).contains(&n) {
        all.extend((0..n).map(|k| part(k, k + 1)));
    }
    all
}

/// The inputs of a trial on a device.
pub(super) fn sources<B: Backend>(trial: &Trial, device: &B) -> Result<Vec<Source<B>>> {
    let one = |a: &Array| {
        let (lead, len) = (a.lead, a.bits.len() as u64);
        let all: Vec<u64> = std::iter::repeat_n(BEFORE, lead as usize).chain(a.bits.iter().copied()).collect();
        let memory = upload(device, a.dtype, &all)?;
        let buffer = DynBuffer::from_raw(device, memory.raw().clone(), a.dtype, lead, len)?;
        Ok(Source { buffer, start: a.start, stride: a.stride })
    };
    trial.inputs.iter().map(one).collect()
}

/// Returns the elements that the operators of a trial read, for plain loops.
pub(super) fn reads(trial: &Trial) -> Reads {
    Reads {
        dtypes: trial.dtypes(),
        at: trial.inputs.iter().map(|a| if a.holds(trial.n) { a.seen(trial.n) } else { Vec::new() }).collect(),
        arrays: trial.inputs.iter().map(|a| a.bits.clone()).collect(),
    }
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let sources = sources(trial, device)?;
    let operators = trial.operators();
    let places = Places::of(&operators, &trial.dtypes());
    let (n, lead) = (trial.n as u64, trial.number("lead"));
    let memory: Vec<DynBuffer<B>> =
        trial.trees.iter().map(|(_, d)| upload(device, *d, &vec![BEFORE; (lead + n + AFTER) as usize])).collect::<Result<_>>()?;
    let outs: Vec<DynBuffer<B>> =
        memory.iter().map(|m| DynBuffer::from_raw(device, m.raw().clone(), m.dtype(), lead, n)).collect::<Result<_>>()?;
    let inputs = Sources { device: device.clone(), places: &places, all: &sources, n };
    device.map_into(inputs, |places| Results::of(&operators, &places), &outs[..])?;
    memory.iter().map(|m| Ok(Output { dtype: m.dtype(), bytes: m.read_blocking()? })).collect()
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let reads = reads(trial);
    let around = |n: u64, dtype: DType| std::iter::repeat_n(BEFORE & (u64::MAX >> (64 - 8 * dtype.size_bytes())), n as usize);
    trial
        .trees
        .iter()
        .map(|(tree, dtype)| {
            let values = rules::values(tree, &reads, trial.n).into_iter().map(|b| rules::narrow(*dtype, tree.ty(), b));
            output(*dtype, around(trial.number("lead"), *dtype).chain(values).chain(around(AFTER, *dtype)))
        })
        .collect()
}
