//! Selections.

use super::pairs::{bits, fetched, of_bits};
use super::{DynBuffer, DynInputs, inlined, single, with_dtype};
use crate::backend::{Backend, Run};
use crate::buffer::{DeviceScalar, Memory as _};
use crate::element::Ty;
use crate::error::{Error, Result};
use crate::input::index;
use crate::ir::graph::Value;
use crate::ir::{self, Func};
use crate::patterns::{Map as _, MapTask, Move, ReduceTask, RunLengths as _, ScanTask, Select as _, SelectTask, Selected};

/// A buffer with room for every element, and how many it holds.
type Kept<B> = Result<Selected<B, DynBuffer<B>>>;

impl<B: Backend> Selected<B, DynBuffer<B>> {
    /// Waits for the count, and gives the buffer of that many elements.
    ///
    /// # Errors
    /// As [`crate::buffer::Buffer::read`].
    pub fn trimmed(&self) -> Result<DynBuffer<B>> {
        first(&self.values, &self.count)
    }
}

/// The first `count` elements of a buffer; waits for the count.
///
/// # Errors
/// As [`crate::buffer::Buffer::read`].
pub fn first<B: Backend>(x: &DynBuffer<B>, count: &DeviceScalar<B, u32>) -> Result<DynBuffer<B>> {
    let len = u64::from(count.read_blocking()?).min(x.len);
    Ok(DynBuffer { len, ..x.clone() })
}

/// The elements of `x` for which `keep` is not zero: an operator of `x` and, if it likes, the index.
///
/// # Errors
/// As [`Select::select`](crate::patterns::Select::select); [`crate::ir::OpError::Signature`] if the buffer does not fit the operator.
pub fn select<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>, keep: &Func) -> Kept<B> {
    select_from(device, x, keep, &[x])
}

/// The elements of `x` for which `keep` of these inputs, flags for instance, is not zero.
///
/// # Errors
/// As [`select`], and [`Error::LengthMismatch`].
pub fn select_from<B>(device: &B, x: &DynBuffer<B>, keep: &Func, inputs: &[&DynBuffer<B>]) -> Kept<B>
where
    B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>,
{
    single(keep)?;
    let inputs = DynInputs { params: &keep.params, buffers: inputs };
    with_dtype!(x.dtype, T => {
        let kept = device.select((inputs, &x.typed::<T>()?), |(args, _)| inlined::<bool>(keep, &args)).finish(|(_, x)| x.store_as::<T>()).run()?;
        Ok(Selected { values: kept.values.into(), count: kept.count })
    })
}

/// As [`select_from`], and where in `x` the elements were, as `u32`.
///
/// # Errors
/// As [`select_from`].
pub fn select_with_indices<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
    keep: &Func,
    inputs: &[&DynBuffer<B>],
) -> Result<Selected<B, (DynBuffer<B>, DynBuffer<B>)>> {
    single(keep)?;
    let inputs = DynInputs { params: &keep.params, buffers: inputs };
    with_dtype!(x.dtype, T => {
        let x = x.typed::<T>()?;
        let kept = device.select((inputs, &x, index()), |(args, ..)| inlined::<bool>(keep, &args));
        let kept = kept.finish(|(_, x, i)| (x.store_as::<T>(), i)).run()?;
        Ok(Selected { values: (kept.values.0.into(), kept.values.1.into()), count: kept.count })
    })
}

/// All elements of `x`, those first for which `first` is not zero.
///
/// # Errors
/// As [`select`].
pub fn partition<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>, first: &Func) -> Kept<B> {
    partition_from(device, x, first, &[x])
}

/// All elements of `x`, those first for which `first` of these inputs is not zero.
///
/// # Errors
/// As [`select_from`].
pub fn partition_from<B>(device: &B, x: &DynBuffer<B>, first: &Func, inputs: &[&DynBuffer<B>]) -> Kept<B>
where
    B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>,
{
    single(first)?;
    let inputs = DynInputs { params: &first.params, buffers: inputs };
    with_dtype!(x.dtype, T => {
        let (values, count) = (DynBuffer::new(device, x.dtype, x.len)?, device.buffer::<u32>(1)?);
        let (x, out) = (x.typed::<T>()?, values.typed::<T>()?);
        let parts = device.partition((inputs, &x), |(args, _)| inlined::<bool>(first, &args));
        parts.finish(|(_, x)| x.store_as::<T>()).write_to((&out, &count))?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    })
}

/// All elements of `x`: those for which `first` of these inputs is not zero, of the others those for which `second` is, the rest. And how many are in
/// the first part and in the second, as `u32`.
///
/// # Errors
/// As [`select_from`].
pub fn partition_three<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
    (first, second): (&Func, &Func),
    inputs: &[&DynBuffer<B>],
) -> Result<(DynBuffer<B>, DynBuffer<B>)> {
    single(first)?;
    single(second)?;
    let [one, two] = [first, second].map(|f| DynInputs { params: &f.params, buffers: inputs });
    with_dtype!(x.dtype, T => {
        let (values, counts) = (DynBuffer::new(device, x.dtype, x.len)?, device.buffer::<u32>(2)?);
        let part = |one: &[Value], two: &[Value]| ir::select(inlined::<bool>(first, one), 0, ir::select(inlined::<bool>(second, two), 1, 2));
        let (x, out) = (x.typed::<T>()?, values.typed::<T>()?);
        let parts = device.partition_three((one, two, &x), |(one, two, _)| part(&one, &two));
        parts.finish(|(.., x)| x.store_as::<T>()).write_to((&out, &counts))?;
        Ok((values, counts.into()))
    })
}

/// The first of each run of equal neighbours.
///
/// # Errors
/// As [`Select::unique`](crate::patterns::Select::unique).
pub fn unique<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>) -> Kept<B> {
    with_dtype!(x.dtype, T => {
        let kept = device.unique(&x.typed::<T>()?).run()?;
        Ok(Selected { values: kept.values.into(), count: kept.count })
    })
}

/// The first element of each run of equal neighbours, and the runs' lengths (`u32`).
///
/// # Errors
/// As [`RunLengths::run_length_encode`](crate::patterns::RunLengths::run_length_encode).
pub fn run_length_encode<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
) -> Result<Selected<B, (DynBuffer<B>, DynBuffer<B>)>> {
    with_dtype!(x.dtype, T => {
        let runs = device.run_length_encode(&x.typed::<T>()?).run()?;
        Ok(Selected { values: (runs.values.0.into(), runs.values.1.into()), count: runs.count })
    })
}

/// Each value as often as its length says, in order; lengths are integers. Waits for the device.
///
/// # Errors
/// As [`RunLengths::run_length_decode`](crate::patterns::RunLengths::run_length_decode); [`Error::InvalidArgument`] for lengths that are no
/// integers, or below zero, [`Error::TooLarge`] for more than 2^32 - 1 elements.
pub fn run_length_decode<B>(device: &B, values: &DynBuffer<B>, lengths: &DynBuffer<B>) -> Result<DynBuffer<B>>
where
    B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask> + Run<ScanTask> + Move,
{
    if lengths.len != values.len {
        return Err(Error::LengthMismatch { what: "lengths", expected: values.len, found: lengths.len });
    }
    let Ok(runs) = u32::try_from(values.len) else {
        return Err(Error::TooLarge { what: "runs to decode", requested: values.len, limit: u32::MAX.into() });
    };
    let size = lengths.dtype.size_bytes() as usize;
    if lengths.dtype.ty().is_float() {
        return Err(Error::InvalidArgument { what: "lengths", reason: format!("they are integers, not {}", lengths.dtype) });
    }
    // How many elements there will be is for the host to know; the lengths are read for it.
    let signed = matches!(lengths.dtype.ty(), Ty::I32 | Ty::I64);
    let (mut words, mut total) = (Vec::new(), 0u64);
    for (k, bytes) in lengths.read_blocking()?.chunks_exact(size).enumerate() {
        if signed && bytes[size - 1] >> 7 == 1 {
            return Err(Error::InvalidArgument { what: "lengths", reason: format!("that at position {k} is below zero") });
        }
        let length = bytes.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b));
        total = total.saturating_add(length);
        words.push(length as u32);
    }
    if total > u32::MAX.into() {
        return Err(Error::TooLarge { what: "elements of all runs", requested: total, limit: u32::MAX.into() });
    }
    let (lengths, runs) = (device.upload(&words)?, device.upload_scalar(runs)?);
    match values.dtype.size_bytes() {
        4 => Ok(of_bits(device.run_length_decode(&bits::<B, u32>(values)?, &lengths, total).length(&runs).run()?, values.dtype)),
        8 => Ok(of_bits(device.run_length_decode(&bits::<B, u64>(values)?, &lengths, total).length(&runs).run()?, values.dtype)),
        // What is narrower is fetched, since what is read into an operator does not keep the bits of every f16.
        _ => {
            let places = device.run_length_decode(&device.iota::<u32>(values.len, 0, 1)?, &lengths, total).length(&runs).run()?;
            fetched(device, values, &places.into())
        }
    }
}
