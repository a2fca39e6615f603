//! Scans of runs of equal keys and of segments that flags start: prefixes of pairs, of a flag and a value, in the documented order.

use super::folds::{self, COMBINING, TILE};
use super::{arrays, choice, computed, edges, few, length, narrowed, output, parts, picked, picks};
use crate::case::{Output, Target};
use crate::fuzz::rules;
use crate::fuzz::tree::Op;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::dynamic::{Call, DynBuffer, Operator, Over};
use isowarp::element::{DType, Element, Num};
use isowarp::prelude::*;

/// Types of values that flags part: floats of each size, signed and unsigned integers, narrow ones.
const VALUES: [DType; 6] = [DType::F32, DType::F16, DType::F64, DType::I32, DType::U32, DType::U8];

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let n = if r.chance(10) { TILE - 3 + r.below(9000) } else { length(r).max(1) };
    let dtype = if verb == Verb::ScanByKey { picked(r) } else { r.pick(&VALUES) };
    let parting = if verb == Verb::ScanByKey {
        few(picked(r), n, r)
    } else {
        // Few segments, or many.
        let percent = r.pick(&[0, 1, 5, 50, 100]);
        let flag = |r: &mut Random| if r.chance(percent) { r.word() | 1 } else { 0 };
        Array::plain(DType::U32, (0..n).map(|_| flag(r) & u64::from(u32::MAX)).collect())
    };
    let numbers = [("op", r.below(COMBINING.len())), ("exclusive", r.below(2)), ("condition", r.below(2))];
    let numbers = numbers.map(|(name, value)| (name.to_owned(), value as u64)).to_vec();
    Trial { verb, n, numbers, inputs: vec![parting, Array::plain(dtype, edges(dtype, n, r))], trees: Vec::new() }
}

fn combining(trial: &Trial) -> (&'static str, Op) {
    let bits = trial.verb == Verb::ScanByKey && !trial.inputs[1].dtype.ty().is_float();
    choice(trial, "op", if bits { &COMBINING } else { &COMBINING[..4] })
}

fn is_exclusive(trial: &Trial) -> bool {
    trial.number("exclusive") % 2 == 1
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let all = arrays(trial, device)?;
    if trial.verb == Verb::ScanByKey {
        let (name, _) = combining(trial);
        let op = Operator::named(name).unwrap_or_else(|| Operator::custom(name, None));
        return computed(device, &Call::Scan { op, over: Over::Keys, exclusive: is_exclusive(trial) }, &[&all[0], &all[1]]);
    }
    let found = match all[1].dtype() {
        DType::F16 => by_flags::<B, half::f16>(trial, device, &all)?,
        DType::F64 => by_flags::<B, f64>(trial, device, &all)?,
        DType::I32 => by_flags::<B, i32>(trial, device, &all)?,
        DType::U32 => by_flags::<B, u32>(trial, device, &all)?,
        DType::U8 => by_flags::<B, u8>(trial, device, &all)?,
        _ => by_flags::<B, f32>(trial, device, &all)?,
    };
    parts(&[found])
}

fn by_flags<B: Target, T: Element<Reg: Num + Element<Reg = T::Reg>>>(
    trial: &Trial,
    device: &B,
    all: &[DynBuffer<B>],
) -> Result<DynBuffer<B>> {
    let (flags, x) = (all[0].typed::<u32>()?, all[1].typed::<T>()?);
    let (is_condition, is_exclusive) = (trial.number("condition") % 2 == 1, is_exclusive(trial));
    macro_rules! scanned {
        ($op:expr) => {{
            let scan = device.scan(&x, $op);
            let scan = if is_exclusive { scan.exclusive() } else { scan };
            if is_condition { scan.by_flags(flags.map(|flag| flag.ne(0))).run()?.into() } else { scan.by_flags(&flags).run()?.into() }
        }};
    }
    Ok(match combining(trial).1 {
        Op::Add => scanned!(Sum),
        Op::Min => scanned!(Min),
        Op::Max => scanned!(Max),
        _ => scanned!(Product),
    })
}

/// A scan of segments that start where a flag is set, in the values that are combined; the exclusive one is that of the elements moved up by one, with the
/// identity where a segment starts.
pub(super) fn scanned(op: Op, dtype: DType, values: &[u64], flags: &[bool], exclusive: bool) -> Vec<u64> {
    let ty = dtype.ty();
    let value = |i: usize| match (exclusive, i == 0 || flags[i]) {
        (true, true) => folds::identity(op, dtype),
        (true, false) => values[i - 1],
        _ => values[i],
    };
    let pairs = (0..values.len()).map(|i| (flags[i], value(i))).collect();
    let combine = |a: (bool, u64), b: (bool, u64)| (a.0 || b.0, if b.0 { b.1 } else { folds::combine(op, ty, a.1, b.1) });
    folds::prefixes_of(combine, pairs).into_iter().map(|(_, value)| value).collect()
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let (parting, array) = (&trial.inputs[0], &trial.inputs[1]);
    let (dtype, ty) = (array.dtype, array.dtype.ty());
    let values: Vec<u64> = array.bits.iter().map(|&bits| rules::widen(dtype, bits)).collect();
    let by_key = trial.verb == Verb::ScanByKey;
    let mut flags: Vec<bool> = parting.bits.iter().map(|&flag| !by_key && flag != 0).collect();
    if by_key {
        picks::run_starts(parting.dtype, &parting.bits).into_iter().for_each(|start| flags[start] = true);
    }
    // By flags the values are combined, and start, in their register type, which results have too.
    let stored = if by_key { dtype } else { ty.dtype() };
    let all = scanned(combining(trial).1, stored, &values, &flags, is_exclusive(trial));
    vec![output(stored, narrowed(stored, ty, all))]
}
