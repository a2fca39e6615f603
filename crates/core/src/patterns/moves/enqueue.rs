//! The checks of moves by index, and what they enqueue.

use super::{GatherTask, IndexElement, IndexScalar, Move, ScatterOp, ScatterTask, narrow};
use crate::backend::{Backend, Leaf, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element};
use crate::error::{Error, Result};
use crate::input::{Input, Source as _, array, index, index64, require, scalar};
use crate::ir::{ArrayExpr, Expr, select};
use crate::ops::Min;
use crate::patterns::layout::{self, Axis};
use crate::patterns::{Map as _, Reduce as _, check_aliasing};

/// The same memory under the name of another type of the same size.
pub(crate) fn raw_as<B: Backend, T: Element, U: Element>(x: &Buffer<B, T>) -> Result<Buffer<B, U>> {
    Buffer::from_raw(x.device(), x.raw().clone(), x.offset(), x.len())
}

pub(super) fn same_length(expected: u64, found: u64) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::LengthMismatch { what: "indices", expected, found }) }
}

pub(super) fn enough<B: Backend, T: Element>(out: &Buffer<B, T>, required: u64) -> Result<()> {
    let available = out.len();
    if available < required { Err(Error::BufferTooSmall { what: "the output", required, available }) } else { Ok(()) }
}

/// As many bytes, four to a word.
pub(super) fn enough_bytes<B: Backend>(words: &Buffer<B, u32>, n: u64) -> Result<()> {
    let len = words.len().saturating_mul(4);
    if n > len { Err(Error::OutOfRange { what: "bytes of the words", start: 0, end: n, len }) } else { Ok(()) }
}

/// Two copies, when both were checked.
pub(super) fn rotate<B: Move, T: Element>(device: &B, x: &Buffer<B, T>, by: i64, out: &Buffer<B, T>) -> Result<()> {
    let n = x.len();
    if out.len() != n {
        return Err(Error::LengthMismatch { what: "the output", expected: n, found: out.len() });
    }
    if n == 0 {
        return device.copy_into(x, out);
    }
    check_aliasing("rotate", &[x.leaf()], n, &[(out.out(), n)], false)?;
    let by = i128::from(by).rem_euclid(i128::from(n)) as u64;
    device.copy_into(&x.slice(..n - by)?, &out.slice(by..)?)?;
    device.copy_into(&x.slice(n - by..)?, &out.slice(..by)?)
}

/// Copies elements in reverse order, as words of their size.
pub(super) fn reverse<B: Move, T: Element>(device: &B, x: &Buffer<B, T>, out: &Buffer<B, T>) -> Result<()> {
    enough(out, x.len())?;
    macro_rules! mapped {
        ($word:ty) => {{
            let (x, out) = (raw_as::<B, T, $word>(x)?, raw_as::<B, T, $word>(out)?);
            device.map_into(&x.reversed(), Expr::store_as::<$word>, &out)
        }};
    }
    match T::DTYPE.size_bytes() {
        1 => mapped!(u8),
        4 => mapped!(u32),
        8 => mapped!(u64),
        _ => layout::copy(device, "reverse", &[Axis { n: x.len(), from: -1, to: 1 }], (x, x.len().saturating_sub(1)), (out, 0)),
    }
}

/// Gathers by indices of any size.
pub(super) fn gather_at<B: Move, T: Element, I: IndexElement>(
    device: &B,
    values: &Buffer<B, T>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
) -> Result<()> {
    if narrow::is_narrow::<I>() && check_gather(device, values, indices, out)? {
        return narrow::gather_narrow(device, values, indices, out);
    }
    gather(device, values, indices, out, false)
}

/// Gathers by indices that kernels know: of 32 and 64 bits.
pub(crate) fn gather<B: Run<GatherTask>, T: Element, I: IndexElement>(
    device: &B,
    values: &Buffer<B, T>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
    keep: bool,
) -> Result<()> {
    if !check_gather(device, values, indices, out)? {
        return Ok(());
    }
    device.run(&GatherTask { n: indices.len(), keep }, &[array_leaf(values), index_leaf(indices)], &[out.out()])
}

/// Whether there is anything to do.
pub(super) fn check_gather<B: Run<GatherTask>, T: Element, I: IndexElement>(
    device: &B,
    values: &Buffer<B, T>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
) -> Result<bool> {
    values.check_device(device, "the values")?;
    indices.check_device(device, "the indices")?;
    out.check_device(device, "the output")?;
    require(device, "gather", T::DTYPE)?;
    require(device, "gather", I::DTYPE)?;
    let n = indices.len();
    enough(out, n)?;
    check_aliasing("gather", &[array_leaf(values), indices.leaf()], n, &[(out.out(), n)], false)?;
    Ok(n > 0)
}

fn array_leaf<B: Backend, T: Element>(x: &Buffer<B, T>) -> Leaf<B::Raw> {
    Leaf::Array { raw: x.raw().clone(), dtype: T::DTYPE, offset: x.offset(), len: x.len() }
}

/// Indices as kernels know them: an `i64` is the `u64` of its bits, and a negative one beyond every length.
fn index_leaf<B: Backend, I: IndexElement>(indices: &Buffer<B, I>) -> Leaf<B::Raw> {
    let dtype = if I::DTYPE == DType::I64 { DType::U64 } else { I::DTYPE };
    Leaf::Elements { raw: indices.raw().clone(), dtype, offset: indices.offset(), stride: 1 }
}

pub(super) fn check_scatter<B: Run<ScatterTask>, T: Element, I: IndexElement>(
    device: &B,
    pattern: &'static str,
    values: &Buffer<B, T>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
) -> Result<()> {
    values.check_device(device, "the values")?;
    indices.check_device(device, "the indices")?;
    out.check_device(device, "the output")?;
    require(device, pattern, T::DTYPE)?;
    require(device, pattern, I::DTYPE)?;
    let n = indices.len();
    same_length(values.len(), n)?;
    if n > MOST_SOURCES {
        return Err(Error::TooLarge { what: "sources of a scatter", requested: n, limit: MOST_SOURCES });
    }
    let leaves = [values.leaf(), indices.leaf()];
    if n > 0 {
        check_aliasing(pattern, &leaves, n, &[(out.out(), out.len())], false)?;
    }
    Ok(())
}

/// Positions of sources are kept as `i32`.
pub(super) const MOST_SOURCES: u64 = i32::MAX as u64;

/// Enqueues a scatter by indices of any size, whose operands were checked; without values, of the sources' positions.
pub(super) fn scatter_to<B: Move, T: Element, I: IndexElement>(
    device: &B,
    values: Option<&Buffer<B, T>>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
    op: ScatterOp,
) -> Result<()> {
    if narrow::is_narrow::<I>() && !indices.is_empty() && !out.is_empty() {
        return narrow::scatter(device, values, indices, out, op);
    }
    scatter(device, values, indices, out, op)
}

/// The same by indices that kernels know: of 32 and 64 bits.
pub(crate) fn scatter<B: Run<ScatterTask>, T: Element, I: IndexElement>(
    device: &B,
    values: Option<&Buffer<B, T>>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
    op: ScatterOp,
) -> Result<()> {
    let task = ScatterTask { n: indices.len(), targets: out.len(), op, positions: values.is_none() };
    if task.n == 0 || task.targets == 0 {
        return Ok(());
    }
    let values = values.map_or(Leaf::Value { bits: 0 }, Buffer::leaf);
    device.run(&task, &[values, index_leaf(indices)], &[out.out()])
}

/// For every target the position of its last source, or -1.
pub(super) fn last_sources<B: Move, I: IndexElement>(device: &B, indices: &Buffer<B, I>, targets: u64) -> Result<Buffer<B, i32>> {
    let last = device.buffer::<i32>(targets)?;
    device.fill(&last, -1)?;
    scatter_to(device, None, indices, &last, ScatterOp::Max)?;
    Ok(last)
}

/// Whether an index is outside `0..limit`, as an expression.
fn outside<I: IndexScalar>(i: Expr<I>, limit: Expr<I>) -> Expr<bool> {
    i.ge(limit) | i.lt(I::from_bits64(0))
}

/// The number that an index has to be below, of its own type; none where no index of the type reaches it.
pub(super) fn below<I: IndexScalar>(limit: u64) -> Option<I> {
    let most = match I::DTYPE {
        DType::I32 => i32::MAX as u64,
        DType::U32 => u32::MAX.into(),
        DType::I64 => i64::MAX as u64,
        _ => u64::MAX,
    };
    (limit <= most).then(|| I::from_bits64(limit))
}

/// Fails for the first index that is outside `0..limit`.
pub(crate) fn check_indices<B: Move, I: IndexElement>(device: &B, pattern: &'static str, indices: &Buffer<B, I>, limit: u64) -> Result<()> {
    check_inputs(device, pattern, (indices, indices.len()), limit, |position| value_at(indices, position))
}

/// The same of `n` indices that are an input; `value_at` reads one.
pub(super) fn check_inputs<B: Move, I: IndexScalar, H: Input<B, Exprs = Expr<I>> + Copy>(
    device: &B,
    pattern: &'static str,
    (indices, n): (H, u64),
    limit: u64,
    value_at: impl FnOnce(u64) -> Result<i128>,
) -> Result<()> {
    let below = below::<I>(limit);
    if n == 0 || (below.is_none() && !I::TY.is_signed_int()) {
        return Ok(());
    }
    // A signed index is below any limit above its range unless it is negative.
    let outside = |i: Expr<I>, bound: Expr<I>| if below.is_some() { outside(i, bound) } else { i.lt(I::from_bits64(0)) };
    match first_position(device, (indices, n), outside, below.unwrap_or(I::from_bits64(0)))? {
        None => Ok(()),
        Some(position) => Err(Error::IndexOutOfRange { pattern, position, index: value_at(position)?, limit }),
    }
}

fn value_at<B: Backend, I: IndexElement>(indices: &Buffer<B, I>, position: u64) -> Result<i128> {
    let one = indices.slice(position..=position)?.read_blocking()?;
    Ok(one.first().map_or(0, |i| i.widen().number()))
}

/// The first position whose index meets the condition.
fn first_position<B: Move, I: IndexScalar, H: Input<B, Exprs = Expr<I>> + Copy>(
    device: &B,
    (indices, n): (H, u64),
    meets: impl Fn(Expr<I>, Expr<I>) -> Expr<bool>,
    bound: I,
) -> Result<Option<u64>> {
    let bound = scalar(bound);
    if n < u32::MAX.into() {
        let none = u32::MAX;
        let f = |(x, bound, i): (Expr<I>, Expr<I>, Expr<u32>)| select(meets(x, bound), i, none);
        let found = device.reduce((indices, bound, index()).map(f), Min).run()?.read_blocking()?;
        return Ok((found != none).then_some(found.into()));
    }
    let f = |(x, bound, i): (Expr<I>, Expr<I>, Expr<u64>)| select(meets(x, bound), i, u64::MAX);
    let found = device.reduce((indices, bound, index64()).map(f), Min).run()?.read_blocking()?;
    Ok((found != u64::MAX).then_some(found))
}

/// Fails for the first index that was there before. All are below `targets`.
pub(super) fn check_unique<B: Move, I: IndexElement>(
    device: &B,
    pattern: &'static str,
    indices: &Buffer<B, I>,
    targets: u64,
) -> Result<()> {
    if indices.is_empty() {
        return Ok(());
    }
    let first = device.buffer::<i32>(targets)?;
    device.fill(&first, i32::MAX)?;
    scatter_to(device, None, indices, &first, ScatterOp::Min)?;
    let found = first_repeated(device, (indices, array(&first), index()))?;
    if found == u32::MAX {
        return Ok(());
    }
    Err(Error::DuplicateIndex { pattern, position: found.into(), index: value_at(indices, found.into())? })
}

/// The first of the positions whose index another one before it has, or the greatest number: indices, the first position of each, and positions.
pub(super) fn first_repeated<B: Move, I: IndexScalar, H: Input<B, Exprs = (Expr<I>, ArrayExpr<i32>, Expr<u32>)>>(
    device: &B,
    inputs: H,
) -> Result<u32> {
    let repeated = |(x, first, i): (Expr<I>, ArrayExpr<i32>, Expr<u32>)| select(first.at(x).cast::<u32>().ne(i), i, u32::MAX);
    device.reduce(inputs.map(repeated), Min).run()?.read_blocking()
}
