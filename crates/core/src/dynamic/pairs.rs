//! Keys, and values of any element type that travel with them. Values are moved as the bits that they are.

use super::merge_sort::order;
use super::{DynBuffer, argsort, argsort_by, map, single, sort_with_indices, with_dtype};
use crate::backend::{Backend, Run};
use crate::buffer::Buffer;
use crate::element::{DType, Element, Ty};
use crate::error::{Error, Result};
use crate::expression;
use crate::input::index;
use crate::ir::{Expr, Func, select};
use crate::patterns::merge_sort::check_sorted_by;
use crate::patterns::sort::check_sorted;
use crate::patterns::{
    GatherTask, LayoutTask, Map as _, MapTask, Merge, MergeSortTask, Move, Ordered as _, ReduceTask, Select as _, SelectTask, Selected,
    Sort as _, SortBy, SortOrder, SortTask, TopKTask,
};

/// Keys, and what travels with them.
pub type DynPairs<'a, B> = (&'a DynBuffer<B>, &'a DynBuffer<B>);

type Pair<B> = (DynBuffer<B>, DynBuffer<B>);

/// The memory of elements as that of others of their size.
pub(super) fn bits<B: Backend, T: Element>(x: &DynBuffer<B>) -> Result<Buffer<B, T>> {
    Buffer::from_raw(&x.device, x.raw.clone(), x.offset, x.len)
}

/// And back.
pub(super) fn of_bits<B: Backend, T: Element>(x: Buffer<B, T>, dtype: DType) -> DynBuffer<B> {
    DynBuffer { dtype, ..DynBuffer::from(x) }
}

pub(super) fn same_length<B: Backend>((keys, values): DynPairs<'_, B>) -> Result<()> {
    if keys.len == values.len {
        return Ok(());
    }
    Err(Error::LengthMismatch { what: "values", expected: keys.len, found: values.len })
}

/// The elements at indices that are known to name some.
pub(super) fn fetched<B: Move>(device: &B, x: &DynBuffer<B>, at: &DynBuffer<B>) -> Result<DynBuffer<B>> {
    with_dtype!(x.dtype, T => {
        let x = x.typed::<T>()?;
        if at.dtype == DType::U64 { device.gather(&x, &at.typed::<u64>()?).run() } else { device.gather(&x, &at.typed::<u32>()?).run() }.map(DynBuffer::from)
    })
}

/// Places in rows of `n` elements, `k` of each row, as places in the array, which are `u64` where it is that long.
fn in_array<B: Run<MapTask>>(device: &B, places: &DynBuffer<B>, n: u64, k: u64) -> Result<DynBuffer<B>> {
    let rows = places.len.checked_div(k).unwrap_or(0);
    if rows < 2 {
        return Ok(places.clone());
    }
    let (from, index) = if rows.saturating_mul(n) > 1 << 32 { ("u64(x)", Ty::U64) } else { ("x", Ty::U32) };
    let places_in_array = expression::parse(&format!("{from} + i / {k} * {n}"), &[Ty::U32], Some(index), None)?;
    map(device, &places_in_array, &[places], index.dtype())
}

/// The keys in order, every row of `n` by itself, and the values that travel with them; an array of one dimension is one row.
///
/// # Errors
/// As [`SortCall::run`](crate::patterns::SortCall::run).
pub fn sort_pairs<B: Run<SortTask> + Run<MapTask> + Move>(
    device: &B,
    keys: &DynBuffer<B>,
    values: &DynBuffer<B>,
    n: u64,
    by: impl Into<SortBy>,
) -> Result<Pair<B>> {
    same_length((keys, values))?;
    let by = by.into();
    macro_rules! travelling {
        ($V:ty) => {
            with_dtype!(keys.dtype, K => {
                let (sorted, carried) = device.sort(&keys.typed::<K>()?).with_values(&bits::<B, $V>(values)?).order(by).run()?;
                Ok((sorted.into(), of_bits(carried, values.dtype)))
            })
        };
    }
    match values.dtype.size_bytes() {
        _ if n != keys.len => {
            let places = in_array(device, &argsort(device, keys, n, by)?, n, n)?;
            Ok((fetched(device, keys, &places)?, fetched(device, values, &places)?))
        }
        4 => travelling!(u32),
        8 => travelling!(u64),
        _ => {
            let (sorted, places) = sort_with_indices(device, keys, by)?;
            Ok((sorted, fetched(device, values, &places)?))
        }
    }
}

/// As [`sort_pairs`] of one row by an order of the caller's, as [`super::sort_by`].
///
/// # Errors
/// As [`SortCall::run`](crate::patterns::SortCall::run); [`crate::ir::OpError::Signature`] if the keys do not fit the operator.
pub fn sort_pairs_by<B: Run<SortTask> + Run<MergeSortTask> + Run<GatherTask> + Run<MapTask> + Move>(
    device: &B,
    keys: &DynBuffer<B>,
    values: &DynBuffer<B>,
    before: &Func,
) -> Result<Pair<B>> {
    same_length((keys, values))?;
    if values.dtype.size_bytes() != 4 {
        // What is wider or narrower than a word is fetched at the end in the pattern, too.
        let places = argsort_by(device, keys, before)?;
        return Ok((fetched(device, keys, &places)?, fetched(device, values, &places)?));
    }
    single(before)?;
    with_dtype!(keys.dtype, K => {
        let (sorted, carried) = device.sort(&keys.typed::<K>()?).by(order::<K>(before)).with_values(&bits::<B, u32>(values)?).run()?;
        Ok((sorted.into(), of_bits(carried, values.dtype)))
    })
}

/// Runs `$body` with `$V` standing for a type of the values' size; a merge moves every bit.
macro_rules! with_bits {
    ($values:expr, $V:ident => $body:expr) => {
        match $values.dtype.size_bytes() {
            1 => with_bits!(@ u8, $V => $body),
            2 => with_bits!(@ half::f16, $V => $body),
            4 => with_bits!(@ u32, $V => $body),
            _ => with_bits!(@ u64, $V => $body),
        }
    };
    (@ $t:ty, $V:ident => $body:expr) => {{
        type $V = $t;
        $body
    }};
}

fn values_of_one_type<B: Backend>(a: DynPairs<'_, B>, b: DynPairs<'_, B>) -> Result<()> {
    same_length(a)?;
    same_length(b)?;
    let (first, second) = (a.1.dtype, b.1.dtype);
    if first == second {
        return Ok(());
    }
    Err(Error::InvalidArgument { what: "values", reason: format!("those of the first array are {first}, of the second {second}") })
}

/// The keys of both arrays in order, and the values that travel with them. That both are sorted is checked.
///
/// # Errors
/// As [`MergeCall::run`](crate::patterns::MergeCall::run), [`Error::NotSorted`]; [`Error::InvalidArgument`] for keys, or values, of two types.
pub fn merge_pairs<B: Merge>(device: &B, a: DynPairs<'_, B>, b: DynPairs<'_, B>, order: SortOrder) -> Result<Pair<B>> {
    values_of_one_type(a, b)?;
    with_dtype!(a.0.dtype, K => {
        let (x, y) = (a.0.typed::<K>()?, b.0.typed::<K>()?);
        check_sorted(device, "merge", "the first array", &x, &order.into())?;
        check_sorted(device, "merge", "the second array", &y, &order.into())?;
        with_bits!(a.1, V => {
            let (keys, values) = device.merge(&x, &y).with_values(&bits::<B, V>(a.1)?, &bits::<B, V>(b.1)?).order(order).run()?;
            Ok((keys.into(), of_bits(values, a.1.dtype)))
        })
    })
}

/// As [`merge_pairs`] by an order of the caller's, as [`super::merge_by`].
///
/// # Errors
/// As [`MergeCall::run`](crate::patterns::MergeCall::run), and [`merge_pairs`]; [`crate::ir::OpError::Signature`] if the keys do not fit the operator.
pub fn merge_pairs_by<B>(device: &B, a: DynPairs<'_, B>, b: DynPairs<'_, B>, before: &Func) -> Result<Pair<B>>
where
    B: Merge,
{
    values_of_one_type(a, b)?;
    single(before)?;
    with_dtype!(a.0.dtype, K => {
        let (x, y) = (a.0.typed::<K>()?, b.0.typed::<K>()?);
        check_sorted_by(device, "merge_by", "the first array", &x, order::<K>(before))?;
        check_sorted_by(device, "merge_by", "the second array", &y, order::<K>(before))?;
        with_bits!(a.1, V => {
            let (keys, values) = device.merge(&x, &y).by(order::<K>(before)).with_values(&bits::<B, V>(a.1)?, &bits::<B, V>(b.1)?).run()?;
            Ok((keys.into(), of_bits(values, a.1.dtype)))
        })
    })
}

/// The first key of each run of equal neighbours, and its value.
///
/// # Errors
/// As [`Select::unique`](crate::patterns::Select::unique) with keys.
pub fn unique_by_key<B>(device: &B, keys: &DynBuffer<B>, values: &DynBuffer<B>) -> Result<Selected<B, Pair<B>>>
where
    B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask> + Move,
{
    same_length((keys, values))?;
    macro_rules! travelling {
        ($V:ty) => {
            with_dtype!(keys.dtype, K => {
                let found = device.unique(&bits::<B, $V>(values)?).by_key(&keys.typed::<K>()?).run()?;
                Ok(Selected { values: (found.values.0.into(), of_bits(found.values.1, values.dtype)), count: found.count })
            })
        };
    }
    match values.dtype.size_bytes() {
        4 => return travelling!(u32),
        8 => return travelling!(u64),
        _ => {}
    }
    // What is narrower is fetched, since a selection does not keep the bits of every f16. What lies behind the places is undefined: the first
    // element stands there.
    let firsts = device.iota::<u32>(keys.len, 0, 1)?;
    let (found, places, count) = with_dtype!(keys.dtype, K => {
        let found = device.unique(&firsts).by_key(&keys.typed::<K>()?).run()?;
        (DynBuffer::from(found.values.0), found.values.1, found.count)
    });
    let at = device.map((&places, index(), &count), |(at, i, n): (Expr<u32>, Expr<u32>, Expr<u32>)| select(i.lt(n), at, 0))?;
    Ok(Selected { values: (found, fetched(device, values, &at.into())?), count })
}

/// The first `k` keys of every row of `n` in order, the values that travel with them, and where they were in their row as `u32`.
///
/// # Errors
/// As [`super::top_k`]; [`Error::LengthMismatch`].
pub fn top_k_pairs<B: Run<TopKTask> + Run<SortTask> + Run<GatherTask> + Run<LayoutTask> + Run<MapTask> + Move>(
    device: &B,
    keys: &DynBuffer<B>,
    values: &DynBuffer<B>,
    (n, k): (u64, u64),
    by: impl Into<SortBy>,
) -> Result<(Pair<B>, DynBuffer<B>)> {
    same_length((keys, values))?;
    let (first, places) = super::top_k(device, keys, n, k, by)?;
    let carried = fetched(device, values, &in_array(device, &places, n, k)?)?;
    Ok(((first, carried), places))
}
