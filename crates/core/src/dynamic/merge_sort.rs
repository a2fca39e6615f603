//! Sorts by an order of the caller's, and what takes arrays that are sorted so.

use super::{DynBuffer, SetOp, inlined, single, with_dtype};
use crate::backend::Run;
use crate::buffer::DeviceScalar;
use crate::element::{DType, Element};
use crate::error::Result;
use crate::ir::{Expr, Func};
use crate::patterns::merge_sort::check_sorted_by;
use crate::patterns::{GatherTask, MapTask, Merge, MergeSortTask, ReduceTask, Search, SearchKind, Selected, Sets, Sort as _, SortTask};

/// A finished operator as the closure that traces it again.
pub(super) fn order<K: Element>(before: &Func) -> impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool> + '_ {
    |a, b| inlined(before, &[a.value(), b.value()])
}

/// The keys in order: `before`, an operator of two keys, is not zero where the first comes before the second.
///
/// # Errors
/// As [`SortCall::run`](crate::patterns::SortCall::run); [`crate::ir::OpError::Signature`] if the keys do not fit the operator.
pub fn sort_by<B: Run<SortTask> + Run<MergeSortTask> + Run<GatherTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    before: &Func,
) -> Result<DynBuffer<B>> {
    let out = DynBuffer::new(device, keys.dtype(), keys.len())?;
    sort_by_into(device, keys, before, &out)?;
    Ok(out)
}

/// As [`sort_by`], into the caller's buffer.
///
/// # Errors
/// As [`sort_by`] and [`SortCall::write_to`](crate::patterns::SortCall::write_to).
pub fn sort_by_into<B: Run<SortTask> + Run<MergeSortTask> + Run<GatherTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    before: &Func,
    out: &DynBuffer<B>,
) -> Result<()> {
    single(before)?;
    with_dtype!(keys.dtype(), K => device.sort(&keys.typed::<K>()?).by(order::<K>(before)).write_to(&out.typed()?))
}

/// The indices, as `u32`, of the keys in order.
///
/// # Errors
/// As [`sort_by`].
pub fn argsort_by<B: Run<SortTask> + Run<MergeSortTask> + Run<GatherTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    before: &Func,
) -> Result<DynBuffer<B>> {
    let out = DynBuffer::new(device, DType::U32, keys.len())?;
    argsort_by_into(device, keys, before, &out)?;
    Ok(out)
}

/// As [`argsort_by`], into the caller's buffer.
///
/// # Errors
/// As [`sort_by_into`].
pub fn argsort_by_into<B: Run<SortTask> + Run<MergeSortTask> + Run<GatherTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    before: &Func,
    out: &DynBuffer<B>,
) -> Result<()> {
    single(before)?;
    with_dtype!(keys.dtype(), K => device.argsort(&keys.typed::<K>()?).by(order::<K>(before)).write_to(&out.typed()?))
}

/// The elements of both arrays in order. That no element of either comes before its left neighbour is checked.
///
/// # Errors
/// As [`MergeCall::run`](crate::patterns::MergeCall::run), and [`Error::NotSorted`](crate::Error::NotSorted);
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for arrays of two types.
pub fn merge_by<B: Merge>(device: &B, a: &DynBuffer<B>, b: &DynBuffer<B>, before: &Func) -> Result<DynBuffer<B>> {
    single(before)?;
    with_dtype!(a.dtype(), K => {
        let (x, y) = (a.typed::<K>()?, b.typed::<K>()?);
        check_sorted_by(device, "merge_by", "the first array", &x, order::<K>(before))?;
        check_sorted_by(device, "merge_by", "the second array", &y, order::<K>(before))?;
        device.merge(&x, &y).by(order::<K>(before)).run().map(DynBuffer::from)
    })
}

/// As [`merge_by`], into the caller's buffer, and without a check.
///
/// # Errors
/// As [`MergeCall::write_to`](crate::patterns::MergeCall::write_to); [`Error::InvalidArgument`](crate::Error::InvalidArgument) for arrays of two types.
pub fn merge_by_into<B: Merge>(device: &B, a: &DynBuffer<B>, b: &DynBuffer<B>, before: &Func, out: &DynBuffer<B>) -> Result<()> {
    single(before)?;
    with_dtype!(a.dtype(), K => device.merge(&a.typed::<K>()?, &b.typed::<K>()?).by(order::<K>(before)).write_to(&out.typed()?))
}

/// Whether no element comes before its left neighbour: 1 or 0.
///
/// # Errors
/// As [`SortedCall::run`](crate::patterns::SortedCall::run); [`crate::ir::OpError::Signature`] if the keys do not fit the operator.
pub fn is_sorted_by<B: Run<SortTask> + Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    before: &Func,
) -> Result<DeviceScalar<B, u32>> {
    single(before)?;
    with_dtype!(keys.dtype(), K => device.is_sorted(&keys.typed::<K>()?).by(order::<K>(before)).run())
}

/// For each needle what is found in the array, which is sorted by the order, as `u32`. That it is so is checked.
///
/// # Errors
/// As [`SearchCall::run`](crate::patterns::SearchCall::run), and [`Error::NotSorted`](crate::Error::NotSorted); [`Error::InvalidArgument`](crate::Error::InvalidArgument) for needles
/// of another type.
pub fn search_by<B: Search + Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    sorted: &DynBuffer<B>,
    needles: &DynBuffer<B>,
    kind: SearchKind,
    before: &Func,
) -> Result<DynBuffer<B>> {
    single(before)?;
    with_dtype!(sorted.dtype(), K => {
        let (sorted, needles) = (sorted.typed::<K>()?, needles.typed::<K>()?);
        check_sorted_by(device, "search_by", "the sorted array", &sorted, order::<K>(before))?;
        let found = match kind {
            SearchKind::Lower => device.lower_bound(&sorted, &needles).by(order::<K>(before)).run(),
            SearchKind::Upper => device.upper_bound(&sorted, &needles).by(order::<K>(before)).run(),
            SearchKind::Equal => device.count_equal(&sorted, &needles).by(order::<K>(before)).run(),
        };
        found.map(DynBuffer::from)
    })
}

/// The result of a set operation on arrays that are sorted by the order. That both are so is checked.
///
/// # Errors
/// As [`SetCall::run`](crate::patterns::SetCall::run), and [`Error::NotSorted`](crate::Error::NotSorted); [`Error::InvalidArgument`](crate::Error::InvalidArgument) for arrays of two
/// types.
pub fn set_operation_by<B: Sets + Merge>(
    device: &B,
    op: SetOp,
    a: &DynBuffer<B>,
    b: &DynBuffer<B>,
    before: &Func,
) -> Result<Selected<B, DynBuffer<B>>> {
    single(before)?;
    with_dtype!(a.dtype(), K => {
        let (a, b) = (a.typed::<K>()?, b.typed::<K>()?);
        check_sorted_by(device, "a set operation by an order", "the first array", &a, order::<K>(before))?;
        check_sorted_by(device, "a set operation by an order", "the second array", &b, order::<K>(before))?;
        let found = match op {
            SetOp::Union => device.union(&a, &b).by(order::<K>(before)).run(),
            SetOp::Intersection => device.intersection(&a, &b).by(order::<K>(before)).run(),
            SetOp::Difference => device.difference(&a, &b).by(order::<K>(before)).run(),
            SetOp::SymmetricDifference => device.symmetric_difference(&a, &b).by(order::<K>(before)).run(),
        }?;
        Ok(Selected { values: found.values.into(), count: found.count })
    })
}
