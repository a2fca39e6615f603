//! The checks of merges, co-ranks and searches, and what they enqueue.

use super::{CoRankTask, Count, MergeTask, SearchKind, SearchTask};
use crate::backend::{Backend, Leaf, Out, Run, places};
use crate::buffer::Buffer;
use crate::element::{DType, Element};
use crate::error::{Error, Result};
use crate::input::require;
use crate::patterns::{Prepare, SortOrder, check_aliasing};

/// An array as a leaf that knows its length.
pub(super) fn leaf<B: Backend, T: Element>(x: &Buffer<B, T>) -> Leaf<B::Raw> {
    Leaf::Array { raw: x.raw().clone(), dtype: T::DTYPE, offset: x.offset(), len: x.len() }
}

pub(super) fn check_output<B: Backend, T: Element>(device: &B, out: &Buffer<B, T>, required: u64) -> Result<()> {
    out.check_device(device, "the output")?;
    let available = out.len();
    if available < required { Err(Error::BufferTooSmall { what: "the output", required, available }) } else { Ok(()) }
}

/// Keys, and the values that may travel with them.
type Side<'a, B, K, V> = (&'a Buffer<B, K>, Option<&'a Buffer<B, V>>);

/// Merges keys, and the values that may travel with them. `prepare` is called after all checks.
pub(super) fn merge<B: Run<MergeTask>, K: Element, V: Element>(
    device: &B,
    a: Side<'_, B, K, V>,
    b: Side<'_, B, K, V>,
    order: SortOrder,
    out: Side<'_, B, K, V>,
    prepare: Prepare<'_>,
) -> Result<()> {
    merge_by(device, a, b, order, out, |task, leaves, outs| {
        prepare()?;
        device.run(&task, leaves, outs)
    })
}

/// Checks a merge and hands it to `run`.
pub(super) fn merge_by<B: Backend, K: Element, V: Element>(
    device: &B,
    a: Side<'_, B, K, V>,
    b: Side<'_, B, K, V>,
    order: SortOrder,
    out: Side<'_, B, K, V>,
    run: impl FnOnce(MergeTask, &[Leaf<B::Raw>], &[Out<B::Raw>]) -> Result<()>,
) -> Result<()> {
    require(device, "merge", K::DTYPE)?;
    let (m, n) = (a.0.len(), b.0.len());
    let total = m + n;
    let mut leaves = Vec::with_capacity(4);
    for keys in [a.0, b.0] {
        keys.check_device(device, "an input")?;
        leaves.push(leaf(keys));
    }
    check_output(device, out.0, total)?;
    let mut outs = vec![(out.0.out(), total)];
    if let (Some(v), Some(w), Some(to)) = (a.1, b.1, out.1) {
        require(device, "merge", V::DTYPE)?;
        for (values, expected) in [(v, m), (w, n)] {
            values.check_device(device, "an input")?;
            if values.len() != expected {
                return Err(Error::LengthMismatch { what: "values", expected, found: values.len() });
            }
            leaves.push(leaf(values));
        }
        check_output(device, to, total)?;
        outs.push((to.out(), total));
    }
    check_aliasing("merge", &leaves, 0, &outs, false)?;
    if total == 0 {
        return Ok(());
    }
    let task = MergeTask { dtype: K::DTYPE, order, m, n, pairs: outs.len() == 2 };
    let outs = places(outs);
    run(task, &leaves, &outs)
}

/// Fails where positions up to `most` do not fit into the type.
pub(super) fn check_positions<P: Count>(most: u64) -> Result<()> {
    if P::DTYPE == DType::U32 && most > u32::MAX.into() {
        return Err(Error::TooLarge { what: "elements that a u32 counts", requested: most, limit: u32::MAX.into() });
    }
    Ok(())
}

pub(super) fn co_ranks<B: Run<CoRankTask>, K: Element, P: Count>(
    device: &B,
    a: &Buffer<B, K>,
    b: &Buffer<B, K>,
    order: SortOrder,
    ranks: &Buffer<B, P>,
    out: &Buffer<B, P>,
) -> Result<()> {
    require(device, "co_ranks", K::DTYPE)?;
    require(device, "co_ranks", P::DTYPE)?;
    [a, b].into_iter().try_for_each(|keys| keys.check_device(device, "an input"))?;
    ranks.check_device(device, "the ranks")?;
    check_positions::<P>(a.len() + b.len())?;
    let n = ranks.len();
    check_output(device, out, n)?;
    let leaves = [leaf(a), leaf(b), ranks.leaf()];
    check_aliasing("co_ranks", &leaves, n, &[(out.out(), n)], false)?;
    if n == 0 {
        return Ok(());
    }
    device.run(&CoRankTask { dtype: K::DTYPE, order, m: a.len(), n: b.len(), ranks: n }, &leaves, &[out.out()])
}

pub(super) fn search<B: Run<SearchTask>, K: Element, P: Count>(
    device: &B,
    sorted: &Buffer<B, K>,
    needles: &Buffer<B, K>,
    (kind, order): (SearchKind, SortOrder),
    out: &Buffer<B, P>,
) -> Result<()> {
    require(device, "search", K::DTYPE)?;
    require(device, "search", P::DTYPE)?;
    sorted.check_device(device, "the sorted array")?;
    needles.check_device(device, "the needles")?;
    check_positions::<P>(sorted.len())?;
    let n = needles.len();
    check_output(device, out, n)?;
    let leaves = [leaf(sorted), needles.leaf()];
    check_aliasing("search", &leaves, n, &[(out.out(), n)], false)?;
    if n == 0 {
        return Ok(());
    }
    device.run(&SearchTask { dtype: K::DTYPE, order, n: sorted.len(), needles: n, kind }, &leaves, &[out.out()])
}
