//! Segments, keys and neighbours.

use super::pairs::{bits, fetched, of_bits, same_length};
use super::{DynBuffer, DynInputs, DynPairs, Operator, cast, with_dtype, with_register};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Ty};
use crate::error::{Error, Result};
use crate::expression;
use crate::input::Source as _;
use crate::ops::{Max, Min};
use crate::patterns::{
    Difference as _, GatherTask, MapTask, Move, Ordered as _, Reduce as _, ReduceByKeyTask, ReduceTask, Scan as _, ScanTask, ScatterTask,
    Segmented, SegmentedReduceTask, SegmentedSortTask, SelectTask, Selected, Sort as _, SortOrder, SortTask,
};

/// Offsets as an array of `u32` or `u64`: those of signed types are converted, and a negative one is then above every limit.
fn unsigned<B: Run<MapTask>>(device: &B, offsets: &DynBuffer<B>) -> Result<DynBuffer<B>> {
    match offsets.dtype() {
        DType::U32 | DType::U64 => Ok(offsets.clone()),
        DType::I32 => cast(device, offsets, DType::U32),
        DType::I64 => cast(device, offsets, DType::U64),
        other => Err(Error::InvalidArgument { what: "offsets", reason: format!("they are integers of 32 or 64 bits, not {other}") }),
    }
}

macro_rules! with_offsets {
    ($offsets:expr, $O:ident => $body:expr) => {
        if $offsets.dtype() == DType::U64 {
            type $O = u64;
            $body
        } else {
            type $O = u32;
            $body
        }
    };
}

/// Every segment combined, of [`Operator::result`]'s type. The offsets are checked.
///
/// # Errors
/// As [`Call::run`](crate::call::Call::run); [`Error::InvalidArgument`] for an operator without identity.
pub fn segmented_reduce<B: Run<SegmentedReduceTask> + Run<ReduceByKeyTask> + Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
    offsets: &DynBuffer<B>,
    op: &Operator,
) -> Result<DynBuffer<B>> {
    let offsets = unsigned(device, offsets)?;
    let load = op.load(x.dtype())?;
    let ty = super::single(&load)?;
    let ty = if ty == Ty::Bool { Ty::U32 } else { ty };
    let prepared = op.prepare(ty, x.dtype())?;
    prepared.require_identity("segmented reduction")?;
    let inputs = DynInputs { params: &load.params, buffers: &[x] };
    let combined: DynBuffer<B> = with_register!(ty, T => with_offsets!(offsets, O => {
        let offsets = offsets.typed::<O>()?;
        device.reduce(inputs.map(|args| super::inlined::<T>(&load, &args)), &prepared).segments(&offsets).checked().run()?.into()
    }));
    cast(device, &combined, op.result(x.dtype()))
}

macro_rules! extreme {
    ($(#[$doc:meta])* $name:ident, $op:expr) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// As [`Call::run`](crate::call::Call::run).
        pub fn $name<B: Segmented + Run<SegmentedReduceTask>>(device: &B, x: &DynBuffer<B>, offsets: &DynBuffer<B>) -> Result<DynBuffer<B>> {
            let offsets = unsigned(device, offsets)?;
            let load = expression::parse("x", &[x.dtype().ty()], None, None)?;
            let inputs = DynInputs { params: &load.params, buffers: &[x] };
            with_register!(x.dtype().ty(), T => with_offsets!(offsets, O => {
                let offsets = offsets.typed::<O>()?;
                device.reduce(inputs.map(|args| super::inlined::<T>(&load, &args)), $op).segments(&offsets).checked().index().run().map(DynBuffer::from)
            }))
        }
    };
}

extreme!(
    /// The lowest index of the least element of each segment, as `u32` from the start of the array; `u32::MAX` for one without elements. The offsets
    /// are checked.
    segmented_argmin,
    Min
);
extreme!(
    /// The same of the greatest element.
    segmented_argmax,
    Max
);

/// The first key of each run of equal neighbours, and the run's values combined, of [`Operator::result`]'s type.
///
/// # Errors
/// As [`Call::run`](crate::call::Call::run).
pub fn reduce_by_key<B: Run<SelectTask> + Run<SegmentedReduceTask> + Run<ReduceByKeyTask> + Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    values: &DynBuffer<B>,
    op: &Operator,
) -> Result<Selected<B, (DynBuffer<B>, DynBuffer<B>)>> {
    let load = op.load(values.dtype())?;
    let ty = super::single(&load)?;
    let ty = if ty == Ty::Bool { Ty::U32 } else { ty };
    let prepared = op.prepare(ty, values.dtype())?;
    let inputs = DynInputs { params: &load.params, buffers: &[values] };
    let (found, combined) = (DynBuffer::new(device, keys.dtype(), keys.len())?, DynBuffer::new(device, ty.dtype(), values.len())?);
    let count: Buffer<B, u32> = device.buffer(1)?;
    with_dtype!(keys.dtype(), K => with_register!(ty, T => {
        let out = (&found.typed::<K>()?, &combined.typed::<T>()?);
        device.reduce(inputs.map(|args| super::inlined::<T>(&load, &args)), &prepared).by_key(&keys.typed::<K>()?).write_to((out, &count))?;
    }));
    let combined = cast(device, &combined, op.result(values.dtype()))?;
    Ok(Selected { values: (found, combined), count: crate::buffer::DeviceScalar::from_buffer(count)? })
}

/// Every segment scanned; exclusive: of the elements before. The offsets are checked.
///
/// # Errors
/// As [`Call::run`](crate::call::Call::run); [`Error::NotSorted`], [`Error::IndexOutOfRange`]; [`Error::InvalidArgument`] for an operator without identity.
pub fn segmented_scan<B>(device: &B, x: &DynBuffer<B>, offsets: &DynBuffer<B>, op: &Operator, exclusive: bool) -> Result<DynBuffer<B>>
where
    B: Run<SegmentedReduceTask> + Run<ReduceByKeyTask> + Run<ReduceTask> + Run<MapTask> + Run<ScanTask> + Run<ScatterTask>,
{
    let offsets = unsigned(device, offsets)?;
    let load = op.load(x.dtype())?;
    let ty = super::single(&load)?;
    let prepared = op.prepare(ty, x.dtype())?;
    if exclusive {
        prepared.require_identity("exclusive scan")?;
    }
    let inputs = DynInputs { params: &load.params, buffers: &[x] };
    let scanned: DynBuffer<B> = with_register!(ty, T => with_offsets!(offsets, O => {
        let (loaded, offsets) = (inputs.map(|args| super::inlined::<T>(&load, &args)), offsets.typed::<O>()?);
        device.scan(loaded, &prepared).segments(&offsets).checked().exclusive_if(exclusive).run()?.into()
    }));
    cast(device, &scanned, op.result(x.dtype()))
}

/// The keys, every segment in order, or their indices. The offsets are checked.
///
/// # Errors
/// As [`SortCall::run`](crate::patterns::SortCall::run); [`Error::NotSorted`], [`Error::IndexOutOfRange`].
pub fn segmented_sort<B>(device: &B, x: &DynBuffer<B>, offsets: &DynBuffer<B>, order: SortOrder, indices: bool) -> Result<DynBuffer<B>>
where
    B: Run<SortTask> + Run<SegmentedSortTask> + Run<ScanTask> + Run<GatherTask> + Run<ReduceTask> + Run<MapTask>,
{
    let offsets = unsigned(device, offsets)?;
    with_dtype!(x.dtype(), K => with_offsets!(offsets, O => {
        let (x, offsets) = (x.typed::<K>()?, offsets.typed::<O>()?);
        if indices {
            device.argsort(&x).order(order).segments(&offsets).checked().run().map(DynBuffer::from)
        } else {
            device.sort(&x).order(order).segments(&offsets).checked().run().map(DynBuffer::from)
        }
    }))
}

/// The keys, every segment in order, and the values that travel with them. The offsets are checked.
///
/// # Errors
/// As [`SortCall::run`](crate::patterns::SortCall::run).
pub fn segmented_sort_pairs<B>(
    device: &B,
    (keys, values): DynPairs<'_, B>,
    offsets: &DynBuffer<B>,
    order: SortOrder,
) -> Result<(DynBuffer<B>, DynBuffer<B>)>
where
    B: Run<SortTask> + Run<SegmentedSortTask> + Run<ScanTask> + Run<GatherTask> + Run<ReduceTask> + Run<MapTask> + Move,
{
    same_length((keys, values))?;
    if values.dtype().size_bytes() != 4 {
        // What is wider or narrower than a word is fetched at the end in the pattern, too.
        let places = segmented_sort(device, keys, offsets, order, true)?;
        return Ok((fetched(device, keys, &places)?, fetched(device, values, &places)?));
    }
    let offsets = unsigned(device, offsets)?;
    with_dtype!(keys.dtype(), K => with_offsets!(offsets, O => {
        let (keys, offsets) = (keys.typed::<K>()?, offsets.typed::<O>()?);
        let (sorted, carried) = device.sort(&keys).with_values(&bits::<B, u32>(values)?).order(order).segments(&offsets).checked().run()?;
        Ok((sorted.into(), of_bits(carried, values.dtype())))
    }))
}

/// Each element less its neighbour, the left one or the right one; the element at the end stays.
///
/// # Errors
/// As [`Difference::adjacent_difference`](crate::patterns::Difference::adjacent_difference).
pub fn adjacent_difference<B: Run<MapTask>>(device: &B, x: &DynBuffer<B>, right: bool) -> Result<DynBuffer<B>> {
    with_dtype!(x.dtype(), T => {
        let x = x.typed::<T>()?;
        let difference = device.adjacent_difference(&x);
        if right { difference.right() } else { difference }.run().map(DynBuffer::from)
    })
}
