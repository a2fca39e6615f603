//! The checks of moves by shape, and what they enqueue.

use super::{Axis, LayoutTask, TransposeTask};
use crate::backend::{Leaf, Out, Run};
use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::require;
use crate::patterns::check_aliasing;

pub(super) fn pitch(elements: u64) -> Result<i64> {
    i64::try_from(elements).map_err(|_| Error::TooLarge { what: "pitch", requested: elements, limit: i64::MAX as u64 })
}

/// The axes of a permuted row-major array, in the result's order.
pub(super) fn permuted(shape: &[u64], order: &[usize], len: u64) -> Result<Vec<Axis>> {
    let mut seen = vec![false; shape.len()];
    let valid = order.len() == shape.len() && order.iter().all(|&k| seen.get_mut(k).is_some_and(|s| !core::mem::replace(s, true)));
    if !valid {
        let reason = format!("{order:?} is no permutation of {} axes", shape.len());
        return Err(Error::InvalidArgument { what: "order of axes", reason });
    }
    let expected = shape.iter().try_fold(1u64, |a, &b| a.checked_mul(b)).unwrap_or(u64::MAX);
    if expected != len {
        return Err(Error::LengthMismatch { what: "elements of the shape", expected, found: len });
    }
    let mut from = vec![1i64; shape.len()];
    for k in (1..shape.len()).rev() {
        from[k - 1] = from[k].wrapping_mul(shape[k] as i64);
    }
    let mut axes: Vec<Axis> = order.iter().map(|&k| Axis { n: shape[k], from: from[k], to: 1 }).collect();
    for k in (1..axes.len()).rev() {
        axes[k - 1].to = axes[k].to.wrapping_mul(axes[k].n);
    }
    Ok(axes)
}

/// Checks and enqueues a strided copy.
pub(crate) fn copy<B: Run<LayoutTask>, T: Element>(
    device: &B,
    pattern: &'static str,
    axes: &[Axis],
    (x, from): (&Buffer<B, T>, u64),
    (out, to): (&Buffer<B, T>, u64),
) -> Result<()> {
    require(device, pattern, T::DTYPE)?;
    x.check_device(device, "the input")?;
    out.check_device(device, "the output")?;
    if axes.iter().any(|a| a.n == 0) {
        return Ok(());
    }
    let (low, high) = LayoutTask::source_reach(axes);
    let (first, last) = (i128::from(from).saturating_add(low), i128::from(from).saturating_add(high));
    let end = i128::from(to).saturating_add(LayoutTask::destination_reach(axes));
    let outside = |what, first: i128, last: i128, len| {
        let cut = |v: i128| u64::try_from(v.max(0)).unwrap_or(u64::MAX);
        Err(Error::OutOfRange { what, start: cut(first), end: cut(last.saturating_add(1)), len })
    };
    if first < 0 || last >= i128::from(x.len()) {
        return outside("elements of the input", first, last, x.len());
    }
    if end >= i128::from(out.len()) {
        return outside("elements of the output", to.into(), end, out.len());
    }
    let task = LayoutTask::new(axes)?;
    let leaf = |offset| Leaf::Elements { raw: x.raw().clone(), dtype: T::DTYPE, offset, stride: 1 };
    let dst = Out { raw: out.raw().clone(), dtype: T::DTYPE, offset: out.offset() + to };
    let read = leaf(x.offset() + first as u64);
    check_aliasing(pattern, &[read], (last - first) as u64 + 1, &[(dst.clone(), (end - i128::from(to)) as u64 + 1)], false)?;
    device.run(&task, &[leaf(x.offset() + from)], &[dst])
}

/// Enqueues transpositions of `planes` matrices of these rows and columns, from an array into another, which were checked.
pub(crate) fn transposed<B: Run<LayoutTask>>(
    device: &B,
    [planes, rows, columns]: [u64; 3],
    from: &Leaf<B::Raw>,
    to: &Out<B::Raw>,
) -> Result<()> {
    let task = LayoutTask::new(&permuted(&[planes, rows, columns], &[0, 2, 1], planes * rows * columns)?)?;
    device.run(&task, core::slice::from_ref(from), core::slice::from_ref(to))
}

/// Checks and enqueues transpositions of `planes` squares where they lie.
pub(super) fn turned<B: Run<TransposeTask>, T: Element>(device: &B, x: &Buffer<B, T>, planes: u64, side: u64) -> Result<()> {
    require(device, "transpose_in_place", T::DTYPE)?;
    x.check_device(device, "the matrix")?;
    permuted(&[planes, side, side], &[0, 2, 1], x.len())?;
    if planes == 0 || side < 2 {
        return Ok(());
    }
    let out = Out { raw: x.raw().clone(), dtype: T::DTYPE, offset: x.offset() };
    device.run(&TransposeTask { planes, side }, &[], &[out])
}
