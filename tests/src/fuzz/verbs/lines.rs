//! Lines along an axis, combined, scanned, by windows and by their extremes; and sums in the orders of other programs, also of segments.

use super::dense::{Arithmetic, elements};
use super::folds::{combine, combining, identity, prefixes, tree, window};
use super::{choice, computed, inexact, length, output, picked, statistics};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::rules;
use crate::fuzz::tree::Op;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::dynamic::{Call, Operator, Over};
use isowarp::element::{DType, Ty};
use isowarp::patterns::SumOrder;

const ORDERS: [SumOrder; 4] = [SumOrder::Sequential, SumOrder::Pairwise, SumOrder::Kahan, SumOrder::Neumaier];

/// Results of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Reduced,
    Scanned,
    Windows,
    ArgMin,
    ArgMax,
}

const ALL: [Of; 5] = [Of::Reduced, Of::Scanned, Of::Windows, Of::ArgMin, Of::ArgMax];

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let dtype = if verb == Verb::OrderedSum { r.pick(&[DType::F32, DType::F32, DType::F64, DType::F16]) } else { picked(r) };
    // Lines are short, or a few long ones, beyond a tile of a scan.
    let n = if r.chance(10) { 8000 + r.below(9000) } else { length(r).max(1) };
    let line = match r.below(3) {
        0 => 1 + r.below(40),
        1 => 1 + r.below(n),
        _ => n,
    };
    let bits = if r.chance(60) { inexact(dtype, n, r) } else { elements(dtype, n, r) };
    let mut numbers = vec![("line", line), ("inner", if r.chance(50) { 1 } else { 1 + r.below(20) })];
    if verb == Verb::OrderedSum {
        numbers.extend([("order", r.below(ORDERS.len())), ("segments", r.below(2))]);
    } else {
        let len = if r.chance(50) { r.pick(&[1, 2, 7, 16, 17, 100, 256, 257]) } else { 1 + r.below(line) };
        let step = if r.chance(60) { 1 } else { 1 + r.below(20) };
        numbers.extend([("of", r.below(ALL.len())), ("op", r.below(7)), ("exclusive", r.below(2)), ("len", len), ("step", step)]);
    }
    let numbers = numbers.into_iter().map(|(name, value)| (name.to_owned(), value as u64)).collect();
    Trial { verb, n, numbers, inputs: vec![Array::plain(dtype, bits)], trees: Vec::new() }
}

/// Arrays of lines, elements of a line, and lines that lie side by side.
fn shape(trial: &Trial) -> [usize; 3] {
    let line = (trial.number("line") as usize).clamp(1, trial.n);
    let inner = (trial.number("inner") as usize).clamp(1, trial.n / line);
    [trial.n / line / inner, line, inner]
}

/// Offsets of segments: some have none, one or two elements, and others many.
fn offsets(trial: &Trial) -> Vec<u64> {
    let line = (trial.number("line") as usize).clamp(1, trial.n);
    let ends = (0..).map(|k| if k % 3 == 0 { k / 3 * line } else { k / 3 * line + k % 3 });
    let mut all: Vec<u64> = ends.take_while(|&end| end < trial.n).map(|end| end as u64).collect();
    all.push(trial.n as u64);
    all.sort_unstable();
    all
}

fn is_segmented(trial: &Trial) -> bool {
    trial.verb == Verb::OrderedSum && trial.number("segments") % 2 == 1
}

/// The lines' elements, in the order of the results.
fn lines(trial: &Trial) -> Vec<Vec<u64>> {
    let array = &trial.inputs[0];
    let at = |i: usize| rules::widen(array.dtype, array.bits[i]);
    if is_segmented(trial) {
        return offsets(trial).windows(2).map(|w| (w[0] as usize..w[1] as usize).map(at).collect()).collect();
    }
    let [outer, line, inner] = shape(trial);
    (0..outer * inner).map(|k| (0..line).map(|i| at((k / inner * line + i) * inner + k % inner)).collect()).collect()
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let array = &trial.inputs[0];
    let shape = shape(trial);
    let used = if is_segmented(trial) { trial.n } else { shape.iter().product() };
    let x = upload(device, array.dtype, &array.bits[..used])?;
    if is_segmented(trial) {
        let call = Call::OrderedSum(choice(trial, "order", &ORDERS), Over::Segments);
        return computed(device, &call, &[&x, &upload(device, DType::U32, &offsets(trial))?]);
    }
    let over = if shape[1] == used { Over::Whole } else { Over::Axis(shape.map(|n| n as u64).to_vec(), 1) };
    if trial.verb == Verb::OrderedSum {
        return computed(device, &Call::OrderedSum(choice(trial, "order", &ORDERS), over), &[&x]);
    }
    let (name, _) = combining(trial, array.dtype.ty());
    let op = Operator::named(name).unwrap_or_else(|| Operator::custom(name, None));
    let call = match choice(trial, "of", &ALL) {
        Of::Reduced => Call::Reduce { op, over },
        Of::Scanned => Call::Scan { op, over, exclusive: trial.number("exclusive") % 2 == 1 },
        Of::Windows => {
            let [len, step] = sizes(trial).map(|size| size as u64);
            Call::Window { op, over, len, step }
        }
        Of::ArgMin => Call::Argmin(over),
        Of::ArgMax => Call::Argmax(over),
    };
    computed(device, &call, &[&x])
}

/// Elements of a window, which a line has, and from one to the next.
fn sizes(trial: &Trial) -> [usize; 2] {
    let [_, line, _] = shape(trial);
    [(trial.number("len") as usize).clamp(1, line), (trial.number("step") as usize).max(1)]
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let (dtype, lines) = (trial.inputs[0].dtype, lines(trial));
    let ty = dtype.ty();
    let stored = |all: Vec<u64>| vec![output(dtype, all.into_iter().map(|bits| rules::narrow(dtype, ty, bits)))];
    if trial.verb == Verb::OrderedSum {
        let order = choice(trial, "order", &ORDERS);
        return stored(lines.iter().map(|line| ordered(Arithmetic(ty), order, line)).collect());
    }
    let (_, op) = combining(trial, ty);
    let of = choice(trial, "of", &ALL);
    let results: Vec<Vec<u64>> = lines
        .into_iter()
        .map(|line| match of {
            Of::Reduced => tree(op, ty, line).into_iter().collect(),
            Of::Scanned => {
                let mut all = prefixes(op, ty, line);
                if trial.number("exclusive") % 2 == 1 {
                    all.rotate_right(1);
                    all[0] = identity(op, dtype);
                }
                all
            }
            Of::Windows => {
                let [len, step] = sizes(trial);
                line.windows(len).step_by(step).filter_map(|w| window(op, ty, w)).collect()
            }
            Of::ArgMin | Of::ArgMax => vec![statistics::extreme(ty, &line, of == Of::ArgMax)],
        })
        .collect();
    // Lines that lie side by side have their results side by side.
    let [outer, _, inner] = shape(trial);
    let each = results[0].len();
    let all: Vec<u64> = (0..outer * each * inner).map(|i| results[i / inner / each * inner + i % inner][i / inner % each]).collect();
    if matches!(of, Of::ArgMin | Of::ArgMax) { vec![output(DType::U32, all)] } else { stored(all) }
}

/// The sum of a line, from +0 on.
fn ordered(by: Arithmetic, order: SumOrder, line: &[u64]) -> u64 {
    let plus = |a: u64, b: u64| combine(Op::Add, by.0, a, b);
    let minus = |a: u64, b: u64| combine(Op::Sub, by.0, a, b);
    let (mut sum, mut lost) = (0, 0);
    for &x in line {
        match order {
            SumOrder::Pairwise => return plus(pairwise(by, line), 0),
            SumOrder::Sequential => sum = plus(sum, x),
            SumOrder::Kahan => {
                let y = minus(x, lost);
                let next = plus(sum, y);
                (sum, lost) = (next, minus(minus(next, sum), y));
            }
            SumOrder::Neumaier => {
                let next = plus(sum, x);
                let abs = |a: u64| by.of(Op::Abs, [a, 0, 0]);
                let is_greater = rules::one(Op::Le, by.0, Ty::Bool, [abs(x), abs(sum), 0]) != 0;
                let less = if is_greater { plus(minus(sum, next), x) } else { plus(minus(x, next), sum) };
                (sum, lost) = (next, plus(lost, less));
            }
        }
    }
    if order == SumOrder::Neumaier { plus(sum, lost) } else { sum }
}

/// NumPy's halves, down to blocks with eight sums each; of nothing it is -0.
fn pairwise(by: Arithmetic, line: &[u64]) -> u64 {
    let plus = |a: u64, b: u64| combine(Op::Add, by.0, a, b);
    let n = line.len();
    if n > 128 {
        let (left, right) = line.split_at(n / 2 / 8 * 8);
        return plus(pairwise(by, left), pairwise(by, right));
    }
    let (eights, rest) = line.split_at(n / 8 * 8);
    let mut sums: Vec<u64> = eights.iter().take(8).copied().collect();
    eights.iter().enumerate().skip(8).for_each(|(i, &x)| sums[i % 8] = plus(sums[i % 8], x));
    let none = by.of(Op::Neg, [0; 3]);
    rest.iter().fold(tree(Op::Add, by.0, sums).unwrap_or(none), |sum, &x| plus(sum, x))
}
