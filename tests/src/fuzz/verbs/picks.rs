//! Trials of selections, runs, histograms, gathers, scatters, groups and tickets: elements that are kept, counted, moved or told apart.

use super::{arrays, choice, computed, edges, few, length, operator, output, parts, picked};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::random::Maker;
use crate::fuzz::rules;
use crate::fuzz::tree::Op;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::{Verb, map};
use isowarp::Result;
use isowarp::dynamic::{Call, Histogram, Over, Scattering};
use isowarp::element::{DType, Ty};
use isowarp::patterns::ScatterOp;

const COMBINING: [(ScatterOp, Op); 7] = [
    (ScatterOp::Min, Op::Min),
    (ScatterOp::Max, Op::Max),
    (ScatterOp::Sum, Op::Add),
    (ScatterOp::Sub, Op::Sub),
    (ScatterOp::And, Op::And),
    (ScatterOp::Or, Op::Or),
    (ScatterOp::Xor, Op::Xor),
];

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let mut dtype = picked(r);
    let n = length(r).max(1);
    if verb == Verb::Scatter {
        dtype = dtype.ty().dtype();
    }
    if verb == Verb::Histogram {
        dtype = r.pick(&[DType::U8, DType::I8, DType::U16, DType::I16, DType::U32, DType::I32]);
    }
    let few_values = matches!(verb, Verb::Unique | Verb::Runs | Verb::Match | Verb::Tickets) && r.chance(80);
    let mut inputs = vec![if few_values { few(dtype, n, r) } else { Array::plain(dtype, edges(dtype, n, r)) }];
    inputs[0].lead = r.below(4) as u64;
    let (mut numbers, mut trees) = (Vec::new(), Vec::new());
    match verb {
        Verb::Select | Verb::Partition | Verb::Ballot => {
            let mut maker = Maker::new(r, &[dtype], dtype.ty().words() == 2).within(6);
            maker.fetches = false;
            trees.push((maker.tree(Ty::Bool, 3), DType::U32));
        }
        Verb::Gather => inputs.push(Array::plain(DType::U32, (0..length(r)).map(|_| r.below(n) as u64).collect())),
        Verb::Scatter => {
            let m = 1 + r.below(200);
            inputs.push(Array::plain(DType::U32, (0..n).map(|_| r.below(m) as u64).collect()));
            inputs.push(Array::plain(dtype, edges(dtype, m, r)));
            numbers.push(("op".to_owned(), r.below(7) as u64));
        }
        Verb::Histogram => {
            let whole = |name: &str, r: &mut Random| (name.to_owned(), r.word() >> r.below(64));
            numbers.extend([whole("lower", r), whole("upper", r), ("bins".to_owned(), 1 + r.below(300) as u64)]);
        }
        Verb::Rotate => numbers.push(("by".to_owned(), r.below(3 * n) as u64)),
        _ => {}
    }
    if matches!(verb, Verb::Ballot | Verb::Match) {
        numbers.push(("width".to_owned(), r.pick(&[1, 2, 3, 4, 7, 8, 16, 17, 31, 32])));
    }
    Trial { verb, n, numbers, inputs, trees }
}

fn width(trial: &Trial) -> usize {
    (trial.number("width") as usize).clamp(1, 32)
}

/// Indices inside an array, whatever numbers a trial has.
fn indices(trial: &Trial, len: usize) -> Vec<u64> {
    trial.inputs[1].bits.iter().map(|b| b % len.max(1) as u64).collect()
}

/// The least and the greatest bound of a histogram, as whole numbers of the samples' type that leave room for a bin.
pub(super) fn range(trial: &Trial) -> (i128, i128) {
    let dtype = trial.inputs[0].dtype;
    let signed = |b: u64| whole(dtype, rules::widen(dtype, b & (u64::MAX >> (64 - 8 * dtype.size_bytes()))));
    let (a, b) = (signed(trial.number("lower")), signed(trial.number("upper")));
    match (a.min(b), a.max(b)) {
        (low, high) if low < high => (low, high),
        (same, _) => {
            if same > 0 {
                (same - 1, same)
            } else {
                (same, same + 1)
            }
        }
    }
}

/// As many bins as the range has room for, at most.
pub(super) fn bins(trial: &Trial) -> u32 {
    let (low, high) = range(trial);
    (trial.number("bins").max(1) as i128).min(high - low) as u32
}

pub(super) fn whole(dtype: DType, value: u64) -> i128 {
    match dtype.ty() {
        Ty::I32 => i128::from(value as i32),
        Ty::I64 => i128::from(value as i64),
        _ => i128::from(value),
    }
}

fn scattering(trial: &Trial) -> (ScatterOp, Op) {
    // Sums of floats are exact, which plain loops here are not.
    choice(trial, "op", if trial.inputs[0].dtype.ty().is_float() { &COMBINING[..2] } else { &COMBINING })
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let all = arrays(trial, device)?;
    let x = &all[0];
    let condition = || operator(&trial.trees[0].0, &trial.dtypes());
    match trial.verb {
        Verb::Select => computed(device, &Call::Select { keep: condition()?, indices: false }, &[x]),
        Verb::Partition => computed(device, &Call::Partition(condition()?, None), &[x]),
        Verb::Unique => computed(device, &Call::Unique, &[x]),
        Verb::Runs => {
            let mut runs = Call::RunLengthEncode.run(device, &[x])?.trimmed()?;
            runs.push(Call::RunLengthDecode.run(device, &[&runs[0], &runs[1]])?.one());
            parts(&runs)
        }
        Verb::Histogram => {
            let (low, high) = range(trial);
            let even = vec![(low.to_string(), high.to_string(), bins(trial))];
            computed(device, &Call::Histogram(Histogram { arrays: 1, even, ..Histogram::default() }), &[x])
        }
        Verb::Gather => computed(device, &Call::Gather(Over::Whole), &[x, &upload(device, DType::U32, &indices(trial, trial.n))?]),
        Verb::Scatter => {
            let at = upload(device, DType::U32, &indices(trial, trial.inputs[2].bits.len()))?;
            computed(device, &Call::Scatter(Scattering::By(scattering(trial).0)), &[x, &at, &all[2]])
        }
        Verb::Rotate => {
            let rotated = Call::Rotate(trial.number("by") as i64).run(device, &[x])?.one();
            parts(&[rotated, Call::Reverse.run(device, &[x])?.one()])
        }
        Verb::Ballot => computed(device, &Call::Ballot(condition()?, width(trial) as u64), &[x]),
        Verb::Match => computed(device, &Call::Match(width(trial) as u64), &[x]),
        _ => computed(device, &Call::Tickets, &[x]),
    }
}

/// Where runs of equal neighbours begin: equal as values, so NaN differs from everything and -0 equals 0.
pub(super) fn run_starts(dtype: DType, bits: &[u64]) -> Vec<usize> {
    let ty = dtype.ty();
    let equal = |a: u64, b: u64| rules::one(Op::Eq, ty, Ty::Bool, [rules::widen(dtype, a), rules::widen(dtype, b), 0]) != 0;
    (0..bits.len()).filter(|&i| i == 0 || !equal(bits[i - 1], bits[i])).collect()
}

/// The bits that a selection stores: all of them, but for an `f16` that is NaN, which becomes the canonical one.
pub(super) fn kept(dtype: DType, bits: u64) -> u64 {
    if dtype == DType::F16 { rules::narrow(dtype, Ty::F32, rules::widen(dtype, bits)) } else { bits }
}

/// For each element how many equal ones there are before it in its part of this width, the first of them, and how many in all.
fn peers(keys: &[u64], width: usize) -> Vec<[u64; 3]> {
    let of = |part: &[u64], i: usize| {
        let same: Vec<usize> = (0..part.len()).filter(|&k| part[k] == part[i]).collect();
        [same.iter().filter(|&&k| k < i).count() as u64, same[0] as u64, same.len() as u64]
    };
    keys.chunks(width).flat_map(|part| (0..part.len()).map(move |i| of(part, i)).collect::<Vec<_>>()).collect()
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let (dtype, bits) = (trial.inputs[0].dtype, &trial.inputs[0].bits);
    let holds = || rules::values(&trial.trees[0].0, &map::reads(trial), trial.n);
    let words = |all: Vec<u64>| output(DType::U32, all);
    match trial.verb {
        Verb::Select => {
            let holds = holds();
            vec![output(dtype, bits.iter().zip(holds).filter(|(_, h)| *h != 0).map(|(&b, _)| kept(dtype, b)))]
        }
        Verb::Partition => {
            let holds = holds();
            let of = |which: bool| bits.iter().zip(&holds).filter(move |(_, h)| (**h != 0) == which).map(|(&b, _)| kept(dtype, b));
            vec![output(dtype, of(true).chain(of(false))), words(vec![of(true).count() as u64])]
        }
        Verb::Unique | Verb::Runs => {
            let starts = run_starts(dtype, bits);
            let values = output(dtype, starts.iter().map(|&s| kept(dtype, bits[s])));
            if trial.verb == Verb::Unique {
                return vec![values];
            }
            let ends = starts.iter().skip(1).copied().chain([bits.len()]);
            let lengths: Vec<u64> = starts.iter().zip(ends).map(|(&a, b)| (b - a) as u64).collect();
            let again = starts.iter().zip(&lengths).flat_map(|(&s, &n)| std::iter::repeat_n(kept(dtype, bits[s]), n as usize));
            vec![values, words(lengths.clone()), output(dtype, again.collect::<Vec<_>>())]
        }
        Verb::Histogram => {
            let ((low, high), bins) = (range(trial), bins(trial));
            let mut counts = vec![0u64; bins as usize];
            for &b in bits {
                let x = whole(dtype, rules::widen(dtype, b));
                if (low..high).contains(&x) {
                    counts[((x - low) * i128::from(bins) / (high - low)) as usize] += 1;
                }
            }
            vec![words(counts)]
        }
        Verb::Gather => vec![output(dtype, indices(trial, trial.n).into_iter().map(|i| bits[i as usize]))],
        Verb::Scatter => {
            let (mut target, (_, op), ty) = (trial.inputs[2].bits.clone(), scattering(trial), dtype.ty());
            for (i, &b) in indices(trial, target.len()).into_iter().zip(bits) {
                let (old, new) = (target[i as usize], rules::one(op, ty, ty, [target[i as usize], b, 0]));
                // A target that is the result already keeps its bits: a NaN all of them.
                let same = rules::canonical(ty, old) == rules::canonical(ty, new);
                target[i as usize] = if same { old } else { rules::canonical(ty, new) };
            }
            vec![output(dtype, target)]
        }
        Verb::Rotate => {
            let mut moved = bits.clone();
            moved.rotate_right((trial.number("by") % trial.n.max(1) as u64) as usize);
            vec![output(dtype, moved), output(dtype, bits.iter().rev().copied())]
        }
        Verb::Ballot => vec![words(holds().chunks(width(trial)).map(|c| c.iter().rev().fold(0, |word, &h| word << 1 | h)).collect())],
        _ => {
            let keys: Vec<u64> = bits.iter().map(|&b| rules::canonical(dtype.ty(), rules::widen(dtype, b))).collect();
            let all = peers(&keys, if trial.verb == Verb::Match { width(trial) } else { keys.len().max(1) });
            let which = if trial.verb == Verb::Match { 1 } else { 0 };
            vec![words(all.iter().map(|p| p[which]).collect()), words(all.iter().map(|p| p[2]).collect())]
        }
    }
}
