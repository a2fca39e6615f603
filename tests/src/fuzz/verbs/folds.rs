//! Reductions and scans, of everything, of segments, by key and of windows: in the documented order, which shows in floats.

use super::{arrays, choice, computed, edges, few, length, narrowed, operator, output, picked};
use crate::case::{Output, Target};
use crate::fuzz::random::Maker;
use crate::fuzz::rules;
use crate::fuzz::tree::Op;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::{Random, nearest_f16};
use crate::fuzz::verbs::{Verb, flagged, map};
use isowarp::Result;
use isowarp::dynamic::{Call, DynBuffer, Operator, Over};
use isowarp::element::{DType, Ty};

/// Elements of a tile of a scan: part of its contract.
pub(super) const TILE: usize = 8192;

pub(super) const COMBINING: [(&str, Op); 7] =
    [("sum", Op::Add), ("min", Op::Min), ("max", Op::Max), ("product", Op::Mul), ("and", Op::And), ("or", Op::Or), ("xor", Op::Xor)];

/// Types that elements are converted to before they are combined, of those that every device has.
const INTO: [DType; 8] = [DType::F32, DType::I32, DType::U32, DType::F16, DType::I8, DType::U8, DType::I16, DType::U16];

/// The type that a trial's elements are converted to, if they are.
fn into(trial: &Trial) -> Option<DType> {
    trial.number("into").checked_sub(1).map(|k| INTO[k as usize % INTO.len()])
}

/// The stored bits of an element as another type: rounded once, and of integers the low bits.
fn converted(from: DType, to: DType, bits: u64) -> u64 {
    let (of, value) = (from.ty(), rules::widen(from, bits));
    match to {
        _ if from == to => bits,
        DType::F16 if of == Ty::F64 => rules::narrow(to, Ty::F32, f32::from(nearest_f16(f64::from_bits(value))).to_bits().into()),
        _ => rules::narrow(to, to.ty(), rules::one(Op::Cast(to.ty()), of, to.ty(), [value, 0, 0])),
    }
}

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let dtype = picked(r);
    let n = if verb == Verb::Scan && r.chance(10) { TILE - 3 + r.below(9000) } else { length(r).max(1) };
    let mut numbers = vec![("op".to_owned(), r.below(COMBINING.len()) as u64)];
    let mut inputs = vec![Array { lead: r.below(4) as u64, ..Array::plain(dtype, edges(dtype, n, r)) }];
    let mut trees = Vec::new();
    match verb {
        Verb::Reduce => {
            if r.chance(50) {
                inputs.push(Array::plain(dtype, edges(dtype, n, r)));
            }
            let dtypes: Vec<DType> = inputs.iter().map(|a| a.dtype).collect();
            let mut maker = Maker::new(r, &dtypes, dtype.ty().words() == 2).within(6);
            maker.fetches = false;
            trees.push((maker.tree(dtype.ty(), 3), dtype.ty().dtype()));
        }
        Verb::ReduceByKey => inputs.insert(0, few(dtype, n, r)),
        Verb::SegmentedReduce | Verb::SegmentedScan => {
            let segments = 1 + r.below(60);
            inputs.push(Array::plain(DType::U32, (0..segments).map(|_| r.below(n + 1) as u64).collect()));
        }
        Verb::Window => {
            let len = if r.chance(50) { r.pick(&[1, 2, 7, 15, 16, 17, 100, 255, 256, 257, 1000]) } else { 1 + r.below(n) };
            numbers.extend([("len".to_owned(), len as u64), ("step".to_owned(), if r.chance(60) { 1 } else { 1 + r.below(40) as u64 })]);
        }
        _ => {}
    }
    if verb != Verb::Reduce && r.chance(40) {
        numbers.push(("into".to_owned(), 1 + r.below(INTO.len()) as u64));
    }
    if matches!(verb, Verb::Scan | Verb::SegmentedScan) {
        numbers.push(("exclusive".to_owned(), r.below(2) as u64));
    }
    Trial { verb, n, numbers, inputs, trees }
}

/// Returns an operator that combines elements of a type: bits only of integers.
pub(super) fn combining(trial: &Trial, ty: Ty) -> (&'static str, Op) {
    choice(trial, "op", if ty.is_float() { &COMBINING[..4] } else { &COMBINING })
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let all = arrays(trial, device)?;
    let values = if trial.verb == Verb::ReduceByKey { &all[1] } else { &all[0] };
    let (name, _) = combining(trial, into(trial).unwrap_or(values.dtype()).ty());
    let op = Operator::named(name).unwrap_or_else(|| Operator::custom(name, None));
    let op = into(trial).map_or(op.clone(), |dtype| op.accumulate_in(dtype));
    let exclusive = trial.number("exclusive") % 2 == 1;
    // Elements in no segment are undefined: the first starts at 0 and the last ends at the end.
    let segments = || offsets(trial, device);
    match trial.verb {
        Verb::Reduce => {
            let load = operator(&trial.trees[0].0, &trial.dtypes())?;
            computed(device, &Call::Fold { load, op }, &all.iter().collect::<Vec<_>>())
        }
        Verb::Scan => computed(device, &Call::Scan { op, over: Over::Whole, exclusive }, &[values]),
        Verb::Window => {
            let [len, step] = ["len", "step"].map(|name| trial.number(name).max(1));
            computed(device, &Call::Window { op, over: Over::Whole, len, step }, &[values])
        }
        Verb::SegmentedReduce => computed(device, &Call::Reduce { op, over: Over::Segments }, &[values, &segments()?]),
        Verb::SegmentedScan => computed(device, &Call::Scan { op, over: Over::Segments, exclusive }, &[values, &segments()?]),
        _ => computed(device, &Call::Reduce { op, over: Over::Keys }, &[&all[0], values]),
    }
}

/// Ascending offsets from 0 to the end, whatever numbers a trial has in their place.
pub(super) fn bounds(trial: &Trial) -> Vec<u64> {
    let n = trial.n as u64;
    let mut all: Vec<u64> = trial.inputs[1].bits.iter().map(|b| b % (n + 1)).collect();
    all.sort_unstable();
    all.insert(0, 0);
    all.push(n);
    all
}

pub(super) fn offsets<B: Target>(trial: &Trial, device: &B) -> Result<DynBuffer<B>> {
    crate::fuzz::lower::upload(device, DType::U32, &bounds(trial))
}

pub(super) fn combine(op: Op, ty: Ty, a: u64, b: u64) -> u64 {
    rules::one(op, ty, ty, [a, b, 0])
}

/// Returns the identity, which leaves others as they are, in the values of an element type.
pub(super) fn identity(op: Op, dtype: DType) -> u64 {
    let ty = dtype.ty();
    let bits = 8 * dtype.size_bytes() as u32;
    let all = u64::MAX >> (64 - 32 * ty.words() as u32);
    let signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
    match (op, ty.is_float()) {
        (Op::Mul, true) => rules::widen(ty.dtype(), if ty == Ty::F32 { 0x3F80_0000 } else { 0x3FF0_0000_0000_0000 }),
        (Op::Min, true) => {
            if ty == Ty::F32 {
                0x7F80_0000
            } else {
                0x7FF0_0000_0000_0000
            }
        }
        (Op::Max, true) => {
            if ty == Ty::F32 {
                0xFF80_0000
            } else {
                0xFFF0_0000_0000_0000
            }
        }
        (Op::Mul, false) => 1,
        (Op::Min, false) if signed => (1u64 << (bits - 1)) - 1,
        (Op::Max, false) if signed => rules::widen(dtype, 1 << (bits - 1)),
        (Op::Min | Op::And, false) => all,
        _ => 0,
    }
}

/// The aligned binary tree: neighbours, then pairs of them, and so on; what has no neighbour stays.
pub(super) fn tree(op: Op, ty: Ty, mut values: Vec<u64>) -> Option<u64> {
    while values.len() > 1 {
        values = values.chunks(2).map(|c| if let [a, b] = *c { combine(op, ty, a, b) } else { c[0] }).collect();
    }
    values.first().copied()
}

/// Sklansky's prefixes in tiles, whose totals are folded from left to right.
pub(super) fn prefixes(op: Op, ty: Ty, values: Vec<u64>) -> Vec<u64> {
    prefixes_of(|a, b| combine(op, ty, a, b), values)
}

/// The same of any values.
pub(super) fn prefixes_of<V: Copy>(combine: impl Fn(V, V) -> V, mut values: Vec<V>) -> Vec<V> {
    let mut fold: Option<V> = None;
    for tile in values.chunks_mut(TILE) {
        let mut step = 1;
        while step < tile.len() {
            for i in 0..tile.len() {
                if i & step != 0 {
                    tile[i] = combine(tile[(i & !(step - 1)) - 1], tile[i]);
                }
            }
            step *= 2;
        }
        let total = tile[tile.len() - 1];
        if let Some(fold) = fold {
            tile.iter_mut().for_each(|v| *v = combine(fold, *v));
        }
        fold = Some(fold.map_or(total, |f| combine(f, total)));
    }
    values
}

/// A window's blocks, as many elements each as the powers of two of its length, the smallest first, folded from left to right.
pub(super) fn window(op: Op, ty: Ty, mut values: &[u64]) -> Option<u64> {
    let mut fold = None;
    while !values.is_empty() {
        let (block, rest) = values.split_at(1 << values.len().trailing_zeros());
        let block = tree(op, ty, block.to_vec())?;
        fold = Some(fold.map_or(block, |f| combine(op, ty, f, block)));
        values = rest;
    }
    fold
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let at = usize::from(trial.verb == Verb::ReduceByKey);
    let array = &trial.inputs[at];
    let dtype = into(trial).unwrap_or(array.dtype);
    let ty = dtype.ty();
    let (_, op) = combining(trial, ty);
    let values: Vec<u64> = array.bits.iter().map(|&b| rules::widen(dtype, converted(array.dtype, dtype, b))).collect();
    let none = identity(op, dtype);
    let scanned = || {
        let mut all = prefixes(op, ty, values.clone());
        if trial.number("exclusive") % 2 == 1 && !all.is_empty() {
            all.rotate_right(1);
            all[0] = none;
        }
        all
    };
    let segments = |bounds: &[u64]| bounds.windows(2).map(|w| w[0] as usize..w[1] as usize).collect::<Vec<_>>();
    match trial.verb {
        Verb::Reduce => {
            let (load, stored) = &trial.trees[0];
            // Results of an operator of its own are reduced in its type.
            let loaded = rules::values(load, &map::reads(trial), trial.n);
            vec![output(*stored, narrowed(*stored, ty, tree(op, ty, loaded)))]
        }
        Verb::Scan => vec![output(dtype, narrowed(dtype, ty, scanned()))],
        Verb::Window => {
            let [len, step] = ["len", "step"].map(|name| trial.number(name).max(1) as usize);
            let all = values.windows(len).step_by(step).filter_map(|w| window(op, ty, w));
            vec![output(dtype, narrowed(dtype, ty, all))]
        }
        Verb::SegmentedReduce => {
            let all = segments(&bounds(trial)).into_iter().map(|s| tree(op, ty, values[s].to_vec()).unwrap_or(none));
            vec![output(dtype, narrowed(dtype, ty, all))]
        }
        Verb::SegmentedScan => {
            let mut flags = vec![false; trial.n];
            segments(&bounds(trial)).into_iter().filter(|s| s.start < trial.n).for_each(|s| flags[s.start] = true);
            let all = flagged::scanned(op, dtype, &values, &flags, trial.number("exclusive") % 2 == 1);
            vec![output(dtype, narrowed(dtype, ty, all))]
        }
        _ => {
            let keys = &trial.inputs[0];
            let starts = super::picks::run_starts(keys.dtype, &keys.bits);
            let ends = starts.iter().skip(1).copied().chain([keys.bits.len()]);
            let sums = starts.iter().zip(ends).filter_map(|(&a, b)| tree(op, ty, values[a..b].to_vec()));
            let firsts = starts.iter().map(|&s| super::picks::kept(keys.dtype, keys.bits[s]));
            vec![output(keys.dtype, firsts), output(dtype, narrowed(dtype, ty, sums))]
        }
    }
}
