//! Sorts.

use super::{DynBuffer, with_dtype};
use crate::backend::Run;
use crate::element::DType;
use crate::error::Result;
use crate::patterns::{
    GatherTask, LayoutTask, MapTask, Ordered as _, Sort as _, SortBy, SortTask, SortVariant, SortVariantTask, SortVariants as _, TopKTask,
};

/// The shape of an array of rows of `n`, the last of which may lack keys.
const fn rows(len: u64, n: u64) -> [u64; 2] {
    [if n == 0 { 0 } else { len.div_ceil(n) }, n]
}

/// The keys in order, every row of `n` by itself; an array of one dimension is one row.
///
/// # Errors
/// As [`SortCall::run`](crate::patterns::SortCall::run).
pub fn sort<B: Run<SortTask> + Run<LayoutTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    n: u64,
    by: impl Into<SortBy>,
) -> Result<DynBuffer<B>> {
    let out = DynBuffer::new(device, keys.dtype(), keys.len())?;
    sort_into(device, keys, n, by, &out)?;
    Ok(out)
}

/// As [`sort`], into the caller's buffer.
///
/// # Errors
/// As [`sort`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
pub fn sort_into<B: Run<SortTask> + Run<LayoutTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    n: u64,
    by: impl Into<SortBy>,
    out: &DynBuffer<B>,
) -> Result<()> {
    with_dtype!(keys.dtype(), K => device.sort(&keys.typed::<K>()?).order(by).axis(&rows(keys.len(), n), 1).write_to(&out.typed()?))
}

/// The indices, as `u32` and within its row, of every row of `n` keys in order.
///
/// # Errors
/// As [`sort`].
pub fn argsort<B: Run<SortTask> + Run<LayoutTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    n: u64,
    by: impl Into<SortBy>,
) -> Result<DynBuffer<B>> {
    let out = DynBuffer::new(device, DType::U32, keys.len())?;
    argsort_into(device, keys, n, by, &out)?;
    Ok(out)
}

/// As [`argsort`], into the caller's buffer.
///
/// # Errors
/// As [`sort_into`].
pub fn argsort_into<B: Run<SortTask> + Run<LayoutTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    n: u64,
    by: impl Into<SortBy>,
    out: &DynBuffer<B>,
) -> Result<()> {
    with_dtype!(keys.dtype(), K => device.argsort(&keys.typed::<K>()?).order(by).axis(&rows(keys.len(), n), 1).write_to(&out.typed()?))
}

/// The first `k` keys of every row of `n` in order, and where they were in it as `u32`; an array of one dimension is one row.
///
/// # Errors
/// As [`TopKCall::run`](crate::patterns::TopKCall::run).
pub fn top_k<B: Run<TopKTask> + Run<SortTask> + Run<GatherTask> + Run<LayoutTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    n: u64,
    k: u64,
    by: impl Into<SortBy>,
) -> Result<(DynBuffer<B>, DynBuffer<B>)> {
    with_dtype!(keys.dtype(), K => {
        let (first, places) = device.top_k(&keys.typed::<K>()?, k).order(by).axis(&rows(keys.len(), n), 1).with_indices().run()?;
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
/// As [`SortCall::run`](crate::patterns::SortCall::run).
pub fn sort_with_indices<B: Run<SortTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    by: impl Into<SortBy>,
) -> Result<(DynBuffer<B>, DynBuffer<B>)> {
    with_dtype!(keys.dtype(), K => {
        let (keys, places) = device.sort(&keys.typed::<K>()?).order(by).with_indices().run()?;
        Ok((keys.into(), places.into()))
    })
}
