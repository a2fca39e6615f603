//! Sorts, the first of many, merges and searches: stable, in the total order of the keys' bits or in one of an operator.

use super::{arrays, choice, computed, edges, few, length, operator, output, parts, picked};
use crate::case::{Output, Target};
use crate::fuzz::random::Maker;
use crate::fuzz::rules::{self, Reads};
use crate::fuzz::tree::{Op, Tree};
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::{Verb, folds, picks};
use isowarp::Result;
use isowarp::dynamic::{Call, DynBuffer, Order, Over, SetOp, Sorted};
use isowarp::element::{DType, Ty};
use isowarp::patterns::{SearchKind, SortOrder};

const SETS: [SetOp; 4] = [SetOp::Union, SetOp::Intersection, SetOp::Difference, SetOp::SymmetricDifference];
const SEARCHES: [SearchKind; 3] = [SearchKind::Lower, SearchKind::Upper, SearchKind::Equal];

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let dtype = picked(r);
    let n = length(r).max(1);
    let keys = |n: usize, r: &mut Random| if r.chance(50) { few(dtype, n, r) } else { Array::plain(dtype, edges(dtype, n, r)) };
    let mut inputs = vec![keys(n, r)];
    inputs[0].lead = r.below(4) as u64;
    let mut numbers = vec![("descending".to_owned(), r.below(2) as u64)];
    let mut trees = Vec::new();
    match verb {
        Verb::Sort => {
            let bits = 8 * dtype.size_bytes();
            let low = if r.chance(30) { r.below(bits as usize) as u64 } else { 0 };
            let high = if r.chance(30) { low + 1 + r.below((bits - low) as usize) as u64 } else { bits };
            numbers.extend([("low".to_owned(), low), ("high".to_owned(), high)]);
        }
        Verb::TopK => numbers.push(("k".to_owned(), r.below(n + 1) as u64)),
        Verb::SortBy => {
            // A key of an integer type has a total order: floats that are compared by their bits are among them.
            let mut maker = Maker::new(r, &[dtype], dtype.ty().words() == 2).within(4);
            (maker.fetches, maker.index) = (false, false);
            let ty = if dtype.ty().words() == 2 { Ty::I64 } else { Ty::I32 };
            let key = maker.tree(ty, 2);
            let mut other = key.clone();
            other.renumber(&|_| 1);
            let before = Tree::Node(r.pick(&[Op::Lt, Op::Gt]), Ty::Bool, vec![key, other]);
            trees.push((before, DType::U32));
            inputs.push(Array::plain(dtype, Vec::new()));
        }
        Verb::SegmentedSort => inputs.push(Array::plain(DType::U32, (0..1 + r.below(60)).map(|_| r.below(n + 1) as u64).collect())),
        _ => {
            let m = length(r).max(1);
            inputs.push(keys(m, r));
            numbers.push(("op".to_owned(), r.below(4) as u64));
        }
    }
    Trial { verb, n, numbers, inputs, trees }
}

fn order(trial: &Trial) -> SortOrder {
    choice(trial, "descending", &[SortOrder::Ascending, SortOrder::Descending])
}

/// The bits of a key as a whole number in the order of the sort.
fn rank(dtype: DType, bits: u64, order: SortOrder) -> u64 {
    let sign = 1u64 << (8 * dtype.size_bytes() - 1);
    let all = sign | (sign - 1);
    let up = match dtype {
        DType::F16 | DType::F32 | DType::F64 => {
            if bits & sign != 0 {
                !bits
            } else {
                bits | sign
            }
        }
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => bits ^ sign,
        _ => bits,
    };
    (if order == SortOrder::Descending { !up } else { up }) & all
}

/// The keys that merges and searches take: in order, whatever a trial has.
fn in_order(trial: &Trial, k: usize) -> Vec<u64> {
    let a = &trial.inputs[k];
    let mut bits = a.bits.clone();
    bits.sort_by_key(|&b| rank(a.dtype, b, order(trial)));
    bits
}

/// The range of bits that a sort compares.
fn digits(trial: &Trial) -> std::ops::Range<u32> {
    let bits = 8 * trial.inputs[0].dtype.size_bytes() as u32;
    let low = trial.number("low") as u32 % bits;
    let high = trial.number("high") as u32;
    low..high.clamp(low + 1, bits)
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let all = arrays(trial, device)?;
    let (keys, n, by) = (&all[0], trial.n as u64, order(trial));
    let sorted = |k: usize| crate::fuzz::lower::upload(device, trial.inputs[k].dtype, &in_order(trial, k));
    let both = |order: Order, over: Over, inputs: &[&DynBuffer<B>]| {
        let sorts = [Sorted::Keys, Sorted::Indices].map(|gives| Call::Sort { order: order.clone(), over: over.clone(), gives });
        parts(&[sorts[0].run(device, inputs)?.one(), sorts[1].run(device, inputs)?.one()])
    };
    match trial.verb {
        Verb::Sort => both(by.bits(digits(trial)).into(), Over::rows(keys.len(), n), &[keys]),
        Verb::TopK => {
            let call = Call::TopK { k: trial.number("k").min(n), by: by.into(), over: Over::rows(keys.len(), n) };
            computed(device, &call, &[keys])
        }
        Verb::SortBy => both(Order::Own(operator(&trial.trees[0].0, &trial.dtypes())?), Over::Whole, &[keys]),
        Verb::SegmentedSort => both(by.into(), Over::Segments, &[keys, &folds::offsets(trial, device)?]),
        Verb::Merge => computed(device, &Call::Merge(by.into()), &[&sorted(0)?, &sorted(1)?]),
        Verb::Search => computed(device, &Call::Search(choice(trial, "op", &SEARCHES), by.into()), &[&sorted(0)?, &all[1]]),
        _ => computed(device, &Call::Sets(choice(trial, "op", &SETS), by.into()), &[&sorted(0)?, &sorted(1)?]),
    }
}

/// Places in the order of these ranks; equal ones stay as they are.
fn places(ranks: &[u64]) -> Vec<u64> {
    let mut all: Vec<u64> = (0..ranks.len() as u64).collect();
    all.sort_by_key(|&i| ranks[i as usize]);
    all
}

/// Elements, and where they were.
fn moved(dtype: DType, bits: &[u64], places: &[u64], from: u64) -> [Output; 2] {
    [output(dtype, places.iter().map(|&i| bits[i as usize])), output(DType::U32, places.iter().map(|&i| i + from))]
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let (dtype, bits, by) = (trial.inputs[0].dtype, &trial.inputs[0].bits, order(trial));
    let ranks = |bits: &[u64]| bits.iter().map(|&b| rank(dtype, b, by)).collect::<Vec<u64>>();
    match trial.verb {
        Verb::Sort => {
            let digits = digits(trial);
            let cut = |r: u64| (r >> digits.start) & (u64::MAX >> (64 - digits.len() as u32));
            let ranks: Vec<u64> = ranks(bits).into_iter().map(cut).collect();
            moved(dtype, bits, &places(&ranks), 0).to_vec()
        }
        Verb::TopK => {
            let k = (trial.number("k") as usize).min(trial.n);
            moved(dtype, bits, &places(&ranks(bits))[..k], 0).to_vec()
        }
        Verb::SortBy => {
            let Tree::Node(op, _, keys) = &trial.trees[0].0 else { return Vec::new() };
            let reads = Reads { dtypes: vec![dtype], at: vec![bits.clone()], arrays: Vec::new() };
            let signed = |ty: Ty, v: u64| if ty == Ty::I32 { i64::from(v as i32) } else { v as i64 };
            let ranks: Vec<u64> = rules::values(&keys[0], &reads, trial.n)
                .into_iter()
                .map(|v| signed(keys[0].ty(), v) as u64 ^ 1 << 63)
                .map(|v| if *op == Op::Gt { !v } else { v })
                .collect();
            moved(dtype, bits, &places(&ranks), 0).to_vec()
        }
        Verb::SegmentedSort => {
            let (mut keys, mut indices) = (Vec::new(), Vec::new());
            for w in folds::bounds(trial).windows(2) {
                let part = &bits[w[0] as usize..w[1] as usize];
                let [k, i] = moved(dtype, part, &places(&ranks(part)), w[0]);
                keys.extend(k.bytes);
                indices.extend(i.bytes);
            }
            vec![Output { dtype, bytes: keys }, Output { dtype: DType::U32, bytes: indices }]
        }
        Verb::Merge => {
            let all = [in_order(trial, 0), in_order(trial, 1)].concat();
            vec![moved(dtype, &all, &places(&ranks(&all)), 0)[0].clone()]
        }
        Verb::Search => {
            let sorted = ranks(&in_order(trial, 0));
            let counted = |r: u64| match choice(trial, "op", &SEARCHES) {
                SearchKind::Lower => sorted.iter().filter(|&&s| s < r).count(),
                SearchKind::Upper => sorted.iter().filter(|&&s| s <= r).count(),
                SearchKind::Equal => sorted.iter().filter(|&&s| s == r).count(),
            };
            vec![output(DType::U32, ranks(&trial.inputs[1].bits).into_iter().map(|r| counted(r) as u64))]
        }
        _ => {
            let found = set(choice(trial, "op", &SETS), &in_order(trial, 0), &in_order(trial, 1), &|b| rank(dtype, b, by));
            vec![output(dtype, found.into_iter().map(|b| picks::kept(dtype, b)))]
        }
    }
}

/// As C++ has it for multisets: of an element that `a` has `m` times and `b` `k` times, the union has max(m, k), of which m are of `a`.
fn set(op: SetOp, a: &[u64], b: &[u64], rank: &dyn Fn(u64) -> u64) -> Vec<u64> {
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    let (in_a, in_b, in_both) = match op {
        SetOp::Union => (true, true, true),
        SetOp::Intersection => (false, false, true),
        SetOp::Difference => (true, false, false),
        SetOp::SymmetricDifference => (true, true, false),
    };
    while i < a.len() || j < b.len() {
        let (x, y) = (a.get(i).map(|&v| rank(v)), b.get(j).map(|&v| rank(v)));
        if x == y {
            out.extend(in_both.then(|| a[i]));
            (i, j) = (i + 1, j + 1);
        } else if y.is_none() || (x.is_some() && x < y) {
            out.extend(in_a.then(|| a[i]));
            i += 1;
        } else {
            out.extend(in_b.then(|| b[j]));
            j += 1;
        }
    }
    out
}
