//! Merges, searches and sets.

use super::moves::with_index;
use super::pairs::bits;
use super::{DynBuffer, widened, with_dtype};
use crate::backend::Run;
use crate::element::DType;
use crate::error::{Error, Result};
use crate::patterns::moves::check_indices;
use crate::patterns::sort::check_sorted;
use crate::patterns::{
    MapTask, Merge, MergeVariant, MergeVariantTask, MergeVariants as _, Move, Ordered as _, ReduceTask, Search, SearchKind, Selected, Sets,
    SortOrder,
};

/// The elements of both arrays in order. That both are sorted is checked.
///
/// # Errors
/// As [`MergeCall::run`](crate::patterns::MergeCall::run); [`Error::InvalidArgument`] for arrays of two types.
pub fn merge<B: Merge>(device: &B, a: &DynBuffer<B>, b: &DynBuffer<B>, order: SortOrder) -> Result<DynBuffer<B>> {
    with_dtype!(a.dtype(), K => device.merge(&a.typed::<K>()?, &b.typed::<K>()?).order(order).checked().run().map(DynBuffer::from))
}

/// As [`merge`], into the caller's buffer, and without a check.
///
/// # Errors
/// As [`MergeCall::write_to`](crate::patterns::MergeCall::write_to); [`Error::InvalidArgument`] for arrays of two types.
pub fn merge_into<B: Merge>(device: &B, a: &DynBuffer<B>, b: &DynBuffer<B>, order: SortOrder, out: &DynBuffer<B>) -> Result<()> {
    with_dtype!(a.dtype(), K => device.merge(&a.typed::<K>()?, &b.typed::<K>()?).order(order).write_to(&out.typed()?))
}

/// As [`merge`], by a rung of the textbook's ladder.
///
/// # Errors
/// As [`merge`]; [`Error::InvalidArgument`] for elements that the rungs do not take: they take `u32`, `i32` and `f32`.
pub fn merge_variant<B: Merge + Run<MergeVariantTask>>(
    device: &B,
    variant: MergeVariant,
    a: &DynBuffer<B>,
    b: &DynBuffer<B>,
    order: SortOrder,
) -> Result<DynBuffer<B>> {
    with_dtype!(a.dtype(), K => for (what, x) in [("the first array", a), ("the second array", b)] {
        check_sorted(device, "merge", what, &x.typed::<K>()?, &order.into())?;
    });
    macro_rules! merged {
        ($K:ty) => {
            device.merge_variant(variant, &a.typed::<$K>()?, &b.typed()?, order).map(DynBuffer::from)
        };
    }
    match a.dtype() {
        DType::U32 => merged!(u32),
        DType::I32 => merged!(i32),
        DType::F32 => merged!(f32),
        other => {
            let reason = format!("a textbook's merge takes u32, i32 and f32, not {other}");
            Err(Error::InvalidArgument { what: "keys", reason })
        }
    }
}

/// For each needle what is found in the sorted array, as `u32`, or as `u64` where that is longer. That it is sorted is checked.
///
/// # Errors
/// As [`SearchCall::run`](crate::patterns::SearchCall::run), [`Error::NotSorted`];
/// [`Error::InvalidArgument`] for needles of another type.
pub fn search<B: Search + Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    sorted: &DynBuffer<B>,
    needles: &DynBuffer<B>,
    kind: SearchKind,
    order: SortOrder,
) -> Result<DynBuffer<B>> {
    with_dtype!(sorted.dtype(), K => check_sorted(device, "search", "the sorted array", &sorted.typed::<K>()?, &order.into())?);
    let positions = if sorted.len() > u32::MAX.into() { DType::U64 } else { DType::U32 };
    let out = DynBuffer::new(device, positions, needles.len())?;
    search_into(device, sorted, needles, kind, order, &out)?;
    Ok(out)
}

/// As [`search`], into the caller's buffer of `u32` or `u64`, and without a check.
///
/// # Errors
/// As [`SearchCall::write_to`](crate::patterns::SearchCall::write_to);
/// [`Error::InvalidArgument`] for needles, or an output, of another type.
pub fn search_into<B: Search>(
    device: &B,
    sorted: &DynBuffer<B>,
    needles: &DynBuffer<B>,
    kind: SearchKind,
    order: SortOrder,
    out: &DynBuffer<B>,
) -> Result<()> {
    macro_rules! found {
        ($K:ty, $P:ty) => {{
            let (sorted, needles, out) = (sorted.typed::<$K>()?, needles.typed::<$K>()?, out.typed::<$P>()?);
            match kind {
                SearchKind::Lower => device.lower_bound(&sorted, &needles).order(order).write_to(&out),
                SearchKind::Upper => device.upper_bound(&sorted, &needles).order(order).write_to(&out),
                SearchKind::Equal => device.count_equal(&sorted, &needles).order(order).write_to(&out),
            }
        }};
    }
    with_dtype!(sorted.dtype(), K => if out.dtype() == DType::U64 { found!(K, u64) } else { found!(K, u32) })
}

/// For each rank how many of so many first merged elements are of `a`, as `u32`, or as `u64` for ranks of eight bytes. That both arrays are sorted, and that there
/// are so many elements, is checked.
///
/// # Errors
/// As [`CoRanksCall::run`](crate::patterns::CoRanksCall::run), [`Error::NotSorted`], [`Error::IndexOutOfRange`]; [`Error::InvalidArgument`] for arrays of two types, and for ranks
/// that are no integers.
pub fn co_ranks<B: Merge + Move>(
    device: &B,
    a: &DynBuffer<B>,
    b: &DynBuffer<B>,
    order: SortOrder,
    ranks: &DynBuffer<B>,
) -> Result<DynBuffer<B>> {
    let limit = a.len().saturating_add(b.len()).saturating_add(1);
    with_index!(ranks, at => check_indices(device, "co_ranks", &at, limit))?;
    let ranks = &widened(device, ranks)?;
    with_dtype!(a.dtype(), K => {
        let (a, b) = (a.typed::<K>()?, b.typed::<K>()?);
        check_sorted(device, "co_ranks", "the first array", &a, &order.into())?;
        check_sorted(device, "co_ranks", "the second array", &b, &order.into())?;
        // None is negative, so signed ones are what they are as unsigned ones.
        if ranks.dtype().size_bytes() == 8 {
            device.co_ranks(&a, &b, &bits::<B, u64>(ranks)?).order(order).run().map(DynBuffer::from)
        } else {
            device.co_ranks(&a, &b, &bits::<B, u32>(ranks)?).order(order).run().map(DynBuffer::from)
        }
    })
}

/// What becomes of two sorted arrays as multisets: see [`Sets`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetOp {
    /// The elements of either.
    Union,
    /// The elements of both.
    Intersection,
    /// Those of the first without those of the second.
    Difference,
    /// Those that one has more often than the other.
    SymmetricDifference,
}

/// The result of a set operation. That both arrays are sorted is checked.
///
/// # Errors
/// As [`SetCall::run`](crate::patterns::SetCall::run), [`Error::NotSorted`]; [`Error::InvalidArgument`] for arrays of two
/// types.
pub fn set_operation<B: Sets>(
    device: &B,
    op: SetOp,
    a: &DynBuffer<B>,
    b: &DynBuffer<B>,
    order: SortOrder,
) -> Result<Selected<B, DynBuffer<B>>> {
    with_dtype!(a.dtype(), K => {
        let (a, b) = (a.typed::<K>()?, b.typed::<K>()?);
        check_sorted(device, "a set operation", "the first array", &a, &order.into())?;
        check_sorted(device, "a set operation", "the second array", &b, &order.into())?;
        let found = match op {
            SetOp::Union => device.union(&a, &b).order(order).run(),
            SetOp::Intersection => device.intersection(&a, &b).order(order).run(),
            SetOp::Difference => device.difference(&a, &b).order(order).run(),
            SetOp::SymmetricDifference => device.symmetric_difference(&a, &b).order(order).run(),
        }?;
        Ok(Selected { values: found.values.into(), count: found.count })
    })
}
