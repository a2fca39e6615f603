//! Sorts by an order of the caller's.

use super::{DynBuffer, inlined, single, with_dtype};
use crate::element::{DType, Element};
use crate::error::Result;
use crate::ir::{Expr, Func};
use crate::patterns::MergeSort;

/// A finished operator as the closure that traces it again.
fn order<K: Element>(before: &Func) -> impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool> + '_ {
    |a, b| inlined(before, &[a.value(), b.value()])
}

/// The keys in order: `before`, an operator of two keys, is not zero where the first comes before the second.
///
/// # Errors
/// As [`MergeSort::sort_by`]; [`crate::ir::OpError::Signature`] if the keys do not fit the operator.
pub fn sort_by<B: MergeSort>(device: &B, keys: &DynBuffer<B>, before: &Func) -> Result<DynBuffer<B>> {
    let out = DynBuffer::new(device, keys.dtype(), keys.len())?;
    sort_by_into(device, keys, before, &out)?;
    Ok(out)
}

/// As [`sort_by`], into the caller's buffer.
///
/// # Errors
/// As [`sort_by`] and [`MergeSort::sort_by_into`].
pub fn sort_by_into<B: MergeSort>(device: &B, keys: &DynBuffer<B>, before: &Func, out: &DynBuffer<B>) -> Result<()> {
    single(before)?;
    with_dtype!(keys.dtype(), K => device.sort_by_into(&keys.typed::<K>()?, order::<K>(before), &out.typed()?))
}

/// The indices, as `u32`, of the keys in order.
///
/// # Errors
/// As [`sort_by`].
pub fn argsort_by<B: MergeSort>(device: &B, keys: &DynBuffer<B>, before: &Func) -> Result<DynBuffer<B>> {
    let out = DynBuffer::new(device, DType::U32, keys.len())?;
    argsort_by_into(device, keys, before, &out)?;
    Ok(out)
}

/// As [`argsort_by`], into the caller's buffer.
///
/// # Errors
/// As [`sort_by_into`].
pub fn argsort_by_into<B: MergeSort>(device: &B, keys: &DynBuffer<B>, before: &Func, out: &DynBuffer<B>) -> Result<()> {
    single(before)?;
    with_dtype!(keys.dtype(), K => device.argsort_by_into(&keys.typed::<K>()?, order::<K>(before), &out.typed()?))
}
