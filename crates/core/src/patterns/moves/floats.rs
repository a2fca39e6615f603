//! Floats combined where they are scattered to: sums as whole numbers, minima and maxima by the order of integers.

use super::enqueue::{raw_as, scatter_to};
use super::{IndexElement, IndexScalar, Move, ScatterOp};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::caps::Capability;
use crate::element::{DType, Element, Scalar, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, array, index};
use crate::ir::{ArrayExpr, Expr, Func, graph, lit, select};
use crate::patterns::histogram::{Exact, words_as};
use crate::patterns::map::collect;
use crate::patterns::{HistogramTask, Map as _};
use std::sync::Arc;

/// Refuses the operators that floats are not combined by.
pub(super) fn check_operator(op: ScatterOp, dtype: DType) -> Result<()> {
    let reason = match (dtype, op) {
        (DType::F32 | DType::F64, ScatterOp::And | ScatterOp::Or | ScatterOp::Xor) => {
            format!("{} is of bits, and the elements are {dtype}", op.name())
        }
        _ => return Ok(()),
    };
    Err(Error::InvalidArgument { what: "operator", reason })
}

/// Floats whose operator and operands were checked.
pub(super) fn scatter_floats<B: Move, T: Element, I: IndexElement>(
    device: &B,
    values: &Buffer<B, T>,
    indices: &Buffer<B, I>,
    op: ScatterOp,
    out: &Buffer<B, T>,
) -> Result<()> {
    if indices.is_empty() || out.is_empty() {
        return Ok(());
    }
    let least = op == ScatterOp::Min;
    match (T::DTYPE, op) {
        (DType::F32, ScatterOp::Sum | ScatterOp::Sub) => {
            exact_sums::<B, u32, I>(device, (&raw_as(values)?, indices), op == ScatterOp::Sub, &raw_as(out)?)
        }
        (_, ScatterOp::Sum | ScatterOp::Sub) => {
            exact_sums::<B, u64, I>(device, (&raw_as(values)?, indices), op == ScatterOp::Sub, &raw_as(out)?)
        }
        (DType::F32, _) => {
            let key = |x| key_of_f32(x, least);
            by_keys::<B, u32, I>(device, (&raw_as::<B, T, u32>(values)?, indices), op, key, f32_of_key, &raw_as::<B, T, u32>(out)?)
        }
        _ => {
            let key = |x| key_of_f64(x, least);
            by_keys::<B, u64, I>(device, (&raw_as::<B, T, u64>(values)?, indices), op, key, f64_of_key, &raw_as::<B, T, u64>(out)?)
        }
    }
}

/// The target that an index names, as a word, of so many, at most 2^32 - 1; any that is not below their number is none.
pub(crate) fn target_word<I: IndexScalar>(i: Expr<I>, targets: u64) -> Expr<u32> {
    if I::TY.words() == 2 {
        let wide = if I::TY == Ty::U64 { i.same_as::<u64>() } else { i.bitcast::<u64>() };
        return select((wide >> 32).eq(0), wide.cast::<u32>(), u32::MAX);
    }
    let word = i.bitcast::<u32>();
    // A negative index is a word from 2^31 on, which names a target where there are more.
    if I::TY == Ty::I32 && targets > 1 << 31 { select(word.lt(1u32 << 31), word, u32::MAX) } else { word }
}

/// Floats as bits.
fn exact_sums<B: Move, W: Exact, I: IndexElement>(
    device: &B,
    (values, indices): (&Buffer<B, W>, &Buffer<B, I>),
    negate: bool,
    out: &Buffer<B, W>,
) -> Result<()>
where
    Expr<W>: core::ops::BitXor<Output = Expr<W>>,
{
    let c = collect(device, "scatter_reduce", &(indices, values))?;
    let func = graph::trace(c.params.clone(), || {
        let (to, bits): (Expr<I::Reg>, Expr<W>) = crate::input::Source::exprs(&(indices, values), &mut 0);
        vec![target_word(to, out.len()).value(), if negate { bits ^ lit(W::SIGN) } else { bits }.value()]
    })?;
    add_exactly(device, (&c, Arc::new(func), indices.len()), out)
}

/// Adds the bits of floats that an operator gives, behind their target, to what is there.
pub(super) fn add_exactly<B: Move, W: Exact>(device: &B, (c, func, n): (&Collector<B>, Arc<Func>, u64), out: &Buffer<B, W>) -> Result<()> {
    let (targets, words) = (out.len(), W::words());
    W::SUM.check("targets of exact sums", targets)?;
    let sums: Buffer<B, u32> = device.buffer(targets * words)?;
    let parts = || (0..targets).step_by(W::IN_A_MAP as usize).map(|at| at..targets.min(at + W::IN_A_MAP));
    // The element that is already there is the first summand.
    for part in parts() {
        let to = sums.slice(part.start * words..part.end * words)?;
        let word = |(i, out): (Expr<u32>, ArrayExpr<W>)| {
            let target = i / words as u32;
            W::word(out.at(target), i - target * words as u32)
        };
        device.generate_into(to.len(), (index(), array(&out.slice(part)?)), word, &to)?;
    }
    let task = HistogramTask { func, n, bins: targets, sum: W::SUM, clears: false, numerics: device.numerics() };
    Run::<HistogramTask>::run(device, &task, &c.leaves, &[sums.out()])?;
    for part in parts() {
        let sums: Buffer<B, W> = words_as(&sums.slice(part.start * words..part.end * words)?)?;
        let out = out.slice(part)?;
        let rounded = |(i, sums, old): (Expr<u32>, ArrayExpr<W>, Expr<W>)| {
            let sum = W::rounded(i, sums);
            let zeros = sum.eq(lit(W::from_bits64(0))) & old.eq(lit(W::SIGN));
            select(zeros | (sum.eq(lit(W::NAN)) & W::is_nan(old)), old, sum)
        };
        device.map_into((index(), array(&sums), &out), rounded, &out)?;
    }
    Ok(())
}

/// Integers in the order of floats: negative ones turned round, and NaN before, or behind, all others.
pub(super) fn key_of_f32(bits: Expr<u32>, nan_first: bool) -> Expr<u32> {
    let ordered = select((bits >> 31).ne(0), bits ^ u32::MAX, bits | 0x8000_0000);
    select(Exact::is_nan(bits), if nan_first { 0 } else { u32::MAX }, ordered)
}

pub(super) fn f32_of_key(key: Expr<u32>) -> Expr<u32> {
    let bits = select((key >> 31).ne(0), key ^ 0x8000_0000, key ^ u32::MAX);
    select(key.eq(0) | key.eq(u32::MAX), <u32 as Exact>::NAN, bits)
}

pub(super) fn key_of_f64(bits: Expr<u64>, nan_first: bool) -> Expr<u64> {
    let ordered = select((bits >> 63).ne(0), bits ^ u64::MAX, bits | (1 << 63));
    select(Exact::is_nan(bits), if nan_first { 0 } else { u64::MAX }, ordered)
}

pub(super) fn f64_of_key(key: Expr<u64>) -> Expr<u64> {
    let bits = select((key >> 63).ne(0), key ^ lit(1 << 63), key ^ u64::MAX);
    select(key.eq(0) | key.eq(u64::MAX), <u64 as Exact>::NAN, bits)
}

/// Keys of sources and targets are combined as integers; a target whose key stays is left as it is.
fn by_keys<B: Move, W: Element<Reg = W> + Scalar, I: IndexElement>(
    device: &B,
    (values, indices): (&Buffer<B, W>, &Buffer<B, I>),
    op: ScatterOp,
    key: impl Fn(Expr<W>) -> Expr<W>,
    bits: impl Fn(Expr<W>) -> Expr<W>,
    out: &Buffer<B, W>,
) -> Result<()> {
    let (from, to): (Buffer<B, W>, Buffer<B, W>) = (device.buffer(values.len())?, device.buffer(out.len())?);
    device.map_into(values, &key, &from)?;
    device.map_into(out, &key, &to)?;
    match scatter_to(device, Some(&from), indices, &to, op) {
        Err(Error::Unsupported { capability: Capability::Atomics64, .. }) => in_halves(device, (&from, indices), op, &to)?,
        result => result?,
    }
    device.map_into((&to, out), |(found, old)| select(found.eq(key(old)), old, bits(found)), out)
}

/// Minima and maxima of 64-bit integers where a device has no atomic ones: of the upper halves, and then of the lower halves of those that have
/// the upper one which was found.
pub(super) fn wide_extremes<B: Move, T: Element, I: IndexElement>(
    device: &B,
    (values, indices): (&Buffer<B, T>, &Buffer<B, I>),
    op: ScatterOp,
    out: &Buffer<B, T>,
) -> Result<()> {
    let turned = if T::DTYPE == DType::I64 { 1 << 63 } else { 0 };
    let key = |x: Expr<u64>| x ^ turned;
    by_keys::<B, u64, I>(device, (&raw_as::<B, T, u64>(values)?, indices), op, key, key, &raw_as::<B, T, u64>(out)?)
}

fn in_halves<B: Move, W: Element<Reg = W> + Scalar, I: IndexElement>(
    device: &B,
    (keys, indices): (&Buffer<B, W>, &Buffer<B, I>),
    op: ScatterOp,
    to: &Buffer<B, W>,
) -> Result<()> {
    let halves = |x: Expr<W>| {
        let wide = x.same_as::<u64>();
        ((wide >> 32).cast::<u32>(), wide.cast::<u32>())
    };
    let (high, low): (Buffer<B, u32>, Buffer<B, u32>) = device.map(keys, halves)?;
    let (before, rest): (Buffer<B, u32>, Buffer<B, u32>) = device.map(to, halves)?;
    let found = device.copy(&before)?;
    scatter_to(device, Some(&high), indices, &found, op)?;
    let of_found = |(i, high, found): (Expr<I::Reg>, Expr<u32>, ArrayExpr<u32>)| {
        let target = target_word(i, to.len());
        select(found.at(target).eq(high), target, u32::MAX)
    };
    let among = device.map((indices, &high, array(&found)), of_found)?;
    let neutral = if op == ScatterOp::Min { u32::MAX } else { 0 };
    device.map_into((&before, &found, &rest), |(before, found, rest)| select(before.eq(found), rest, neutral), &rest)?;
    scatter_to(device, Some(&low), &among, &rest, op)?;
    let joined = |(high, low): (Expr<u32>, Expr<u32>)| ((high.cast::<u64>() << 32) | low.cast::<u64>()).same_as::<W>();
    device.map_into((&found, &rest), joined, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Evaluator;

    #[test]
    fn a_negative_index_names_no_target_however_many_there_are() {
        let of = |func: &Func, i: u64| {
            let mut e = Evaluator::new(func);
            e.eval_one(&[i]);
            e.result(0)[0]
        };
        for targets in [5, 1 << 31, (1 << 31) + 16, u64::from(u32::MAX)] {
            let (narrow, wide) =
                (crate::ir::trace(|i: Expr<i32>| target_word(i, targets)), crate::ir::trace(|i: Expr<i64>| target_word(i, targets)));
            let (narrow, wide) = (narrow.expect("an operator"), wide.expect("an operator"));
            for i in [0, 4, i64::from(i32::MAX)] {
                assert_eq!([of(&narrow, i as u64), of(&wide, i as u64)], [i as u64; 2], "{i} of {targets}");
            }
            for i in [-1, i64::from(i32::MIN), i64::from(i32::MIN) + 7] {
                assert!(of(&narrow, u64::from(i as u32)) >= targets && of(&wide, i as u64) >= targets, "{i} of {targets}");
            }
        }
    }
}
