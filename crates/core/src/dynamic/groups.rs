//! Groups of neighbours, and tickets.

use super::{DynBuffer, DynInputs, inlined, single, with_dtype};
use crate::error::Result;
use crate::input::Source as _;
use crate::ir::Func;
use crate::patterns::{Atomics, Groups};

/// For each group of `width` elements the bits of whether `holds`, an operator of `x` and, if it likes, the index, is not zero.
///
/// # Errors
/// As [`Groups::group_ballot`]; [`crate::ir::OpError::Signature`] if the buffer does not fit the operator.
pub fn group_ballot<B: Groups>(device: &B, x: &DynBuffer<B>, width: u64, holds: &Func) -> Result<DynBuffer<B>> {
    single(holds)?;
    let inputs = DynInputs { params: &holds.params, buffers: &[x] };
    device.group_ballot(inputs.map(|args| inlined::<bool>(holds, &args)), width).run().map(DynBuffer::from)
}

/// For each element the lowest place in its group of `width` that has an element of the same bits, and how many have.
///
/// # Errors
/// As [`Groups::group_match`].
pub fn group_match<B: Groups>(device: &B, x: &DynBuffer<B>, width: u64) -> Result<(DynBuffer<B>, DynBuffer<B>)> {
    with_dtype!(x.dtype, T => {
        let (first, count) = device.group_match(&x.typed::<T>()?, width).run()?;
        Ok((first.into(), count.into()))
    })
}

/// For each element how many of the same bits come before it, and how many there are.
///
/// # Errors
/// As [`Atomics::tickets`].
pub fn tickets<B: Atomics>(device: &B, x: &DynBuffer<B>) -> Result<(DynBuffer<B>, DynBuffer<B>)> {
    with_dtype!(x.dtype, T => {
        let (ticket, count) = device.tickets(&x.typed::<T>()?).run()?;
        Ok((ticket.into(), count.into()))
    })
}
