//! Moves by shape: axes in other orders, transposes in new memory and in place, Morton order, gathers along axes, and scatters of which the last stays.

use super::{arrays, computed, edges, output, parts, picked};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::{Verb, length};
use half::f16;
use isowarp::Result;
use isowarp::dynamic::{Call, DynBuffer, Over, Scattering};
use isowarp::element::DType;
use isowarp::patterns::ScatterOp;
use isowarp::prelude::*;

/// Axes of an array that is permuted.
const AXES: usize = 5;
const INDICES: [DType; 8] = [DType::U32, DType::I32, DType::U64, DType::I64, DType::U16, DType::I16, DType::U8, DType::I8];

/// Sides whose product is not above.
fn sides(count: usize, most: usize, r: &mut Random) -> Vec<usize> {
    let mut left = most;
    (0..count)
        .map(|_| {
            let side = if r.chance(20) { r.pick(&[1, 4, 8, 16, 31, 32, 33, 64, 65]) } else { 1 + r.below(9) };
            let side = side.min(left);
            left /= side;
            side
        })
        .collect()
}

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let dtype = picked(r);
    let number = |name: &str, value: usize| (name.to_owned(), value as u64);
    let (mut numbers, mut inputs) = (Vec::new(), Vec::new());
    let mut n = length(r).max(1);
    match verb {
        Verb::PermuteAxes => {
            let sides = sides(AXES, 20_000, r);
            n = sides.iter().product();
            numbers.extend(sides.iter().enumerate().map(|(k, &side)| number(&format!("side{k}"), side)));
            numbers.push(number("order", r.below(120)));
        }
        Verb::Transpose => {
            let sides =
                if r.chance(40) { vec![1 + r.below(140); 2] } else { sides(2, 20_000, r).iter().map(|s| s * (1 + r.below(5))).collect() };
            let batch = 1 + r.below(if sides[0] * sides[1] > 3000 { 2 } else { 9 });
            n = batch * sides[0] * sides[1];
            numbers.extend([number("rows", sides[0]), number("columns", sides[1])]);
        }
        Verb::Morton => {
            let axes = [r.below(9), r.below(6), r.below(4)];
            n = 1 << axes.iter().sum::<usize>().min(14);
            numbers.extend([number("rows", axes[0]), number("columns", axes[1]), number("axes", r.below(3))]);
        }
        Verb::GatherAxis => {
            let sides = sides(3, 6000, r);
            n = sides.iter().product();
            let axis = r.below(3);
            let at = n / sides[axis] * (1 + r.below(7));
            numbers.extend([number("rows", sides[0]), number("columns", sides[1]), number("axis", axis)]);
            let of = r.pick(&INDICES);
            inputs.push(Array::plain(of, (0..at).map(|_| r.below(100_000) as u64 & (u64::MAX >> (64 - 8 * of.size_bytes()))).collect()));
        }
        _ => {
            let m = 1 + r.below(300);
            let of = r.pick(&INDICES);
            inputs.push(Array::plain(of, (0..n).map(|_| r.below(m) as u64 & (u64::MAX >> (64 - 8 * of.size_bytes()))).collect()));
            inputs.push(Array::plain(dtype, edges(dtype, m, r)));
        }
    }
    let lead = if matches!(verb, Verb::PermuteAxes | Verb::Transpose | Verb::Morton) { r.below(4) as u64 } else { 0 };
    inputs.insert(0, Array { lead, ..Array::plain(dtype, edges(dtype, n, r)) });
    Trial { verb, n, numbers, inputs, trees: Vec::new() }
}

/// The sides that are named, as far as there are elements; the last one has what is left.
fn shape(trial: &Trial, names: &[&str]) -> Vec<usize> {
    let mut left = trial.n;
    let mut shape: Vec<usize> = names
        .iter()
        .map(|name| {
            let side = (trial.number(name) as usize).clamp(1, left);
            left /= side;
            side
        })
        .collect();
    shape.push(left);
    shape
}

/// The permutation of so many axes that has this number.
fn order(mut number: usize, axes: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..axes).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        order.push(left.remove(number % left.len()));
        number /= left.len() + 1;
    }
    order
}

fn permuted(trial: &Trial) -> (Vec<usize>, Vec<usize>) {
    (shape(trial, &["side0", "side1", "side2", "side3"]), order(trial.number("order") as usize, AXES))
}

/// Sides of one to three axes that are powers of two.
fn morton(trial: &Trial) -> Vec<usize> {
    let mut left = trial.n.ilog2();
    let axes = (trial.number("axes") % 3) as usize;
    let mut bits: Vec<u32> = ["rows", "columns"][..axes]
        .iter()
        .map(|name| {
            let bits = (trial.number(name) as u32).min(left);
            left -= bits;
            bits
        })
        .collect();
    bits.push(left);
    bits.into_iter().map(|bits| 1 << bits).collect()
}

/// Indices below a limit, whatever numbers a trial has.
fn indices(trial: &Trial, limit: usize) -> Vec<u64> {
    let array = &trial.inputs[1];
    // The greatest index that the type has.
    let most = match array.dtype {
        DType::I8 => 0x7f,
        DType::U8 => 0xff,
        DType::I16 => 0x7fff,
        DType::U16 => 0xffff,
        _ => 0x7fff_ffff,
    };
    array.bits.iter().map(|bits| bits % (limit.max(1) as u64).min(most + 1)).collect()
}

/// The shape of a gather, its axis, and how many indices a line has.
fn along(trial: &Trial) -> (Vec<usize>, usize, usize) {
    let mut shape = shape(trial, &["rows", "columns"]);
    let axis = (trial.number("axis") % 3) as usize;
    let at = trial.inputs[1].bits.len();
    // Fewer lines where indices are not enough for all.
    if shape.iter().product::<usize>() / shape[axis] > at {
        shape = vec![1, 1, trial.n];
    }
    let axis = if shape.iter().product::<usize>() / shape[axis] > at { 2 } else { axis };
    let lines = shape.iter().product::<usize>() / shape[axis];
    (shape, axis, at / lines)
}

macro_rules! with_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        with_type!(@ $dtype, $T => $body; F32 f32, I32 i32, U32 u32, F64 f64, I64 i64, U64 u64, F16 f16, I8 i8, U8 u8, I16 i16, U16 u16)
    };
    (@ $dtype:expr, $T:ident => $body:expr; $($d:ident $t:ty),*) => {
        match $dtype {
            $(DType::$d => { type $T = $t; $body })*
            other => Err(isowarp::Error::InvalidArgument { what: "type", reason: format!("plain loops have no {other}") }),
        }
    };
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let all = arrays(trial, device)?;
    let used = |shape: &[usize]| {
        let (x, len) = (&all[0], shape.iter().product::<usize>() as u64);
        DynBuffer::from_raw(device, x.raw().clone(), x.dtype(), trial.inputs[0].lead, len)
    };
    let wide = |shape: &[usize]| shape.iter().map(|&side| side as u64).collect::<Vec<u64>>();
    match trial.verb {
        Verb::PermuteAxes => {
            let (shape, order) = permuted(trial);
            computed(device, &Call::PermuteAxes(wide(&shape), order), &[&used(&shape)?])
        }
        Verb::Transpose => {
            let shape = shape(trial, &["rows", "columns"]);
            let (x, [rows, columns, batch]) = (used(&shape)?, [0, 1, 2].map(|k| shape[k] as u64));
            with_type!(x.dtype(), T => {
                let x = x.typed::<T>()?;
                let new = device.transpose(&x, rows, columns).batch(batch).run()?;
                device.transpose(&x, rows, columns).batch(batch).in_place()?;
                // The whole memory, of which only the matrices have moved.
                parts(&[new.into(), all[0].clone()])
            })
        }
        Verb::Morton => {
            let shape = morton(trial);
            let x = used(&shape)?;
            let [there, back] = [Call::ToMorton(wide(&shape)), Call::FromMorton(wide(&shape))].map(|call| computed(device, &call, &[&x]));
            Ok([there?, back?].concat())
        }
        Verb::GatherAxis => {
            let (shape, axis, count) = along(trial);
            let lines = shape.iter().product::<usize>() / shape[axis];
            let at = upload(device, trial.inputs[1].dtype, &indices(trial, shape[axis])[..count * lines])?;
            computed(device, &Call::Gather(Over::Axis(wide(&shape), axis)), &[&used(&shape)?, &at])
        }
        _ => {
            let at: DynBuffer<B> = upload(device, trial.inputs[1].dtype, &indices(trial, trial.inputs[2].bits.len()))?;
            computed(device, &Call::Scatter(Scattering::By(ScatterOp::Store)), &[&all[0], &at, &all[2]])
        }
    }
}

/// The index of the element at these places of a row-major array.
fn flat(shape: &[usize], at: &[usize]) -> usize {
    shape.iter().zip(at).fold(0, |flat, (side, at)| flat * side + at)
}

/// The places of all elements of a row-major array.
fn places(shape: &[usize]) -> Vec<Vec<usize>> {
    let split = |flat: usize| (0..shape.len()).map(|k| flat / shape[k + 1..].iter().product::<usize>() % shape[k]).collect();
    (0..shape.iter().product()).map(split).collect()
}

/// The index of an element in Morton order: bits of the axes in turn, the last axis lowest, as long as each has some.
fn interleaved(shape: &[usize], at: &[usize]) -> usize {
    let (mut index, mut to) = (0, 0);
    for level in 0..usize::BITS {
        for (_, at) in shape.iter().zip(at).rev().filter(|(side, _)| level < side.ilog2()) {
            index |= (at >> level & 1) << to;
            to += 1;
        }
    }
    index
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let (dtype, bits) = (trial.inputs[0].dtype, &trial.inputs[0].bits);
    match trial.verb {
        Verb::PermuteAxes => {
            let (shape, order) = permuted(trial);
            let turned: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
            let from = |at: Vec<usize>| {
                let mut of = vec![0; AXES];
                order.iter().zip(at).for_each(|(&axis, at)| of[axis] = at);
                bits[flat(&shape, &of)]
            };
            vec![output(dtype, places(&turned).into_iter().map(from))]
        }
        Verb::Transpose => {
            let shape = shape(trial, &["rows", "columns"]);
            let [rows, columns, batch] = [0, 1, 2].map(|k| shape[k]);
            let new: Vec<u64> =
                places(&[batch, columns, rows]).into_iter().map(|at| bits[flat(&[batch, rows, columns], &[at[0], at[2], at[1]])]).collect();
            vec![output(dtype, new.iter().copied()), output(dtype, new.iter().chain(&bits[new.len()..]).copied())]
        }
        Verb::Morton => {
            let shape = morton(trial);
            let at: Vec<usize> = places(&shape).iter().map(|at| interleaved(&shape, at)).collect();
            let mut there = vec![0; at.len()];
            at.iter().zip(bits).for_each(|(&to, &bits)| there[to] = bits);
            vec![output(dtype, there), output(dtype, at.iter().map(|&from| bits[from]))]
        }
        Verb::GatherAxis => {
            let (shape, axis, count) = along(trial);
            let found = indices(trial, shape[axis]);
            let mut of = shape.clone();
            of[axis] = count;
            let value = |at: Vec<usize>| {
                let mut from = at.clone();
                from[axis] = found[flat(&of, &at)] as usize;
                bits[flat(&shape, &from)]
            };
            vec![output(dtype, places(&of).into_iter().map(value))]
        }
        _ => {
            let mut target = trial.inputs[2].bits.clone();
            indices(trial, target.len()).into_iter().zip(bits).for_each(|(to, &bits)| target[to as usize] = bits);
            vec![output(dtype, target)]
        }
    }
}
