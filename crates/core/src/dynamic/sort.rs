//! Sorts.

use super::{DynBuffer, with_dtype};
use crate::backend::Run;
use crate::element::DType;
use crate::error::Result;
use crate::patterns::{
    GatherTask, LayoutTask, MapTask, Sort as _, SortBy, SortTask, SortVariant, SortVariantTask, SortVariants as _, TopKRows as _, TopKTask,
};

/// The keys in order, every row of `n` by itself; an array of one dimension is one row.
///
/// # Errors
/// As [`Sort::sort_rows`](crate::patterns::Sort::sort_rows).
pub fn sort<B: Run<SortTask>>(device: &B, keys: &DynBuffer<B>, n: u64, by: impl Into<SortBy>) -> Result<DynBuffer<B>> {
    let out = DynBuffer::new(device, keys.dtype(), keys.len())?;
    sort_into(device, keys, n, by, &out)?;
    Ok(out)
}

/// As [`sort`], into the caller's buffer.
///
/// # Errors
/// As [`sort`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
pub fn sort_into<B: Run<SortTask>>(device: &B, keys: &DynBuffer<B>, n: u64, by: impl Into<SortBy>, out: &DynBuffer<B>) -> Result<()> {
    with_dtype!(keys.dtype(), K => device.sort_rows_into(&keys.typed::<K>()?, n, by, &out.typed()?))
}

/// The indices, as `u32` and within its row, of every row of `n` keys in order.
///
/// # Errors
/// As [`sort`].
pub fn argsort<B: Run<SortTask>>(device: &B, keys: &DynBuffer<B>, n: u64, by: impl Into<SortBy>) -> Result<DynBuffer<B>> {
    let out = DynBuffer::new(device, DType::U32, keys.len())?;
    argsort_into(device, keys, n, by, &out)?;
    Ok(out)
}

/// As [`argsort`], into the caller's buffer.
///
/// # Errors
/// As [`sort_into`].
pub fn argsort_into<B: Run<SortTask>>(device: &B, keys: &DynBuffer<B>, n: u64, by: impl Into<SortBy>, out: &DynBuffer<B>) -> Result<()> {
    with_dtype!(keys.dtype(), K => device.argsort_rows_into(&keys.typed::<K>()?, n, by, &out.typed()?))
}

/// The first `k` keys of every row of `n` in order, and where they were in it as `u32`; an array of one dimension is one row.
///
/// # Errors
/// As [`TopKRows::top_k_rows`](crate::patterns::TopKRows::top_k_rows).
pub fn top_k<B: Run<TopKTask> + Run<SortTask> + Run<GatherTask> + Run<LayoutTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    n: u64,
    k: u64,
    by: impl Into<SortBy>,
) -> Result<(DynBuffer<B>, DynBuffer<B>)> {
    with_dtype!(keys.dtype(), K => {
        let (first, places) = device.top_k_rows(&keys.typed::<K>()?, n, k, by)?;
        Ok((DynBuffer::from(first), DynBuffer::from(places)))
    })
}

/// The keys of one row in order, by a certain algorithm.
///
/// # Errors
/// As [`SortVariants::sort_variant`](crate::patterns::SortVariants::sort_variant).
pub fn sort_variant<B: Run<SortVariantTask>>(
    device: &B,
    variant: SortVariant,
    keys: &DynBuffer<B>,
    by: impl Into<SortBy>,
) -> Result<DynBuffer<B>> {
    with_dtype!(keys.dtype(), K => Ok(device.sort_variant(variant, &keys.typed::<K>()?, by)?.into()))
}

/// As [`sort_variant`], into the caller's buffer.
///
/// # Errors
/// As [`sort_variant`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
pub fn sort_variant_into<B: Run<SortVariantTask>>(
    device: &B,
    variant: SortVariant,
    keys: &DynBuffer<B>,
    by: impl Into<SortBy>,
    out: &DynBuffer<B>,
) -> Result<()> {
    with_dtype!(keys.dtype(), K => device.sort_variant_into(variant, &keys.typed::<K>()?, by, &out.typed()?))
}

/// The keys of one row in order, and where they were, as `u32`.
///
/// # Errors
/// As [`Sort::sort_with_indices`](crate::patterns::Sort::sort_with_indices).
pub fn sort_with_indices<B: Run<SortTask>>(device: &B, keys: &DynBuffer<B>, by: impl Into<SortBy>) -> Result<(DynBuffer<B>, DynBuffer<B>)> {
    with_dtype!(keys.dtype(), K => {
        let (keys, places) = device.sort_with_indices(&keys.typed::<K>()?, by)?;
        Ok((keys.into(), places.into()))
    })
}
