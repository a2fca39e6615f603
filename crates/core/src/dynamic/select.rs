//! Selections.

use super::{DynBuffer, DynInputs, inlined, single, with_dtype};
use crate::backend::{Backend, Run};
use crate::buffer::DeviceScalar;
use crate::element::Element;
use crate::error::Result;
use crate::ir::Func;
use crate::patterns::{MapTask, ReduceTask, RunLengths as _, Select as _, SelectTask, Selected};

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
    single(keep)?;
    let inputs = DynInputs { params: &keep.params, buffers: &[x] };
    with_dtype!(x.dtype, T => {
        let kept = device.select_from((inputs, &x.typed::<T>()?), |(args, x)| (inlined::<bool>(keep, &args), x.store_as::<T>()))?;
        Ok(Selected { values: kept.values.into(), count: kept.count })
    })
}

/// All elements of `x`, those first for which `first` is not zero.
///
/// # Errors
/// As [`select`].
pub fn partition<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>, first: &Func) -> Kept<B> {
    single(first)?;
    let inputs = DynInputs { params: &first.params, buffers: &[x] };
    with_dtype!(x.dtype, T => {
        let (values, count) = (DynBuffer::new(device, x.dtype, x.len)?, crate::buffer::Memory::buffer::<u32>(device, 1)?);
        let f = |(args, x): (Vec<crate::ir::graph::Value>, crate::ir::Expr<<T as Element>::Reg>)| (inlined::<bool>(first, &args), x.store_as::<T>());
        device.partition_from_into((inputs, &x.typed::<T>()?), f, &values.typed::<T>()?, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    })
}

/// The first of each run of equal neighbours.
///
/// # Errors
/// As [`Select::unique`](crate::patterns::Select::unique).
pub fn unique<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>>(device: &B, x: &DynBuffer<B>) -> Kept<B> {
    with_dtype!(x.dtype, T => {
        let kept = device.unique(&x.typed::<T>()?)?;
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
        let runs = device.run_length_encode(&x.typed::<T>()?)?;
        Ok(Selected { values: (runs.values.0.into(), runs.values.1.into()), count: runs.count })
    })
}
