//! The ends of the order, with the index: what `argmin`, `argmax` and their kin combine.

use super::map::collect;
use super::reduce::{Parts, Reduce};
use super::segments::Segmented;
use super::select::Count;
use crate::buffer::Buffer;
use crate::element::{Element, Num, Scalar, Ty};
use crate::error::Result;
use crate::input::{Collector, Input, Outputs, Source, index};
use crate::ir::{self, Expr, Traced, lit};
use crate::ops::{Combine, Max, Min, kept};

/// Which end of the order wins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Least,
    Greatest,
}

/// Of two (key, index) pairs the one whose key wins; the left one (of lower indices) of equals.
fn best<K: Num>(a: (Expr<K>, Expr<u32>), b: (Expr<K>, Expr<u32>), end: End) -> (Expr<K>, Expr<u32>) {
    let keep = match end {
        End::Least => a.0.le(b.0),
        End::Greatest => a.0.ge(b.0),
    };
    (ir::select(keep, a.0, b.0), ir::select(keep, a.1, b.1))
}

/// A float's place in the order as a signed integer: -0 below +0, and NaN at the end that wins. Integers compare in one
/// instruction, where IEEE minimum and the test which operand it was take ten.
fn key32(x: Expr<f32>, end: End) -> Expr<i32> {
    let bits = x.bitcast::<i32>();
    let key = bits ^ ((bits >> 31) & i32::MAX);
    // A canonical NaN is above infinity as it is.
    if end == End::Least { ir::select(x.is_nan(), i32::MIN, key) } else { key }
}

/// The float of a key.
fn float32(key: Expr<i32>, end: End) -> Expr<f32> {
    let value = (key ^ ((key >> 31) & i32::MAX)).bitcast::<f32>();
    if end == End::Least { ir::select(key.eq(i32::MIN), f32::NAN, value) } else { value }
}

/// As [`key32`].
fn key64(x: Expr<f64>, end: End) -> Expr<i64> {
    let bits = x.bitcast::<i64>();
    let key = bits ^ ((bits >> 63) & i64::MAX);
    if end == End::Least { ir::select(x.is_nan(), i64::MIN, key) } else { key }
}

/// As [`float32`].
fn float64(key: Expr<i64>, end: End) -> Expr<f64> {
    let value = (key ^ ((key >> 63) & i64::MAX)).bitcast::<f64>();
    if end == End::Least { ir::select(key.eq(i64::MIN), f64::NAN, value) } else { value }
}

/// An end of the order in new buffers: `finish` is told the value and the index.
pub(super) fn extreme<B: Reduce, T: Element<Reg = T> + Num, R: Outputs>(
    device: &B,
    x: &Buffer<B, T>,
    end: End,
    names: [&'static str; 3],
    finish: impl FnOnce(Expr<T>, Expr<u32>) -> R,
) -> Result<R::Buffers<B>> {
    let (c, parts) = prepared(device, x, end, names, finish)?;
    parts.reduce::<B, R>(device, c)
}

/// The same, into the caller's buffers.
pub(super) fn extreme_into<B: Reduce, T: Element<Reg = T> + Num, R: Outputs>(
    device: &B,
    x: &Buffer<B, T>,
    end: End,
    names: [&'static str; 3],
    finish: impl FnOnce(Expr<T>, Expr<u32>) -> R,
    out: R::Refs<'_, B>,
) -> Result<()> {
    let (c, parts) = prepared(device, x, end, names, finish)?;
    parts.reduce_into::<B, R>(device, c, out)
}

/// An end of the order of each segment: `f` gives an element and its index.
pub(super) fn segments<B: Segmented, I: Input<B>, T: Element<Reg = T> + Num, R: Outputs, O: Count>(
    device: &B,
    inputs: I,
    f: impl FnOnce(I::Exprs) -> (Expr<T>, Expr<u32>),
    offsets: &Buffer<B, O>,
    end: End,
    finish: impl FnOnce(Expr<T>, Expr<u32>) -> R,
) -> Result<R::Buffers<B>> {
    let out = R::allocate(device, offsets.len().saturating_sub(1))?;
    segments_into(device, (inputs, f), offsets, end, finish, R::refs(&out))?;
    Ok(out)
}

/// The same, into the caller's buffers.
pub(super) fn segments_into<B: Segmented, I: Input<B>, T: Element<Reg = T> + Num, R: Outputs, O: Count>(
    device: &B,
    (inputs, f): (I, impl FnOnce(I::Exprs) -> (Expr<T>, Expr<u32>)),
    offsets: &Buffer<B, O>,
    end: End,
    finish: impl FnOnce(Expr<T>, Expr<u32>) -> R,
    out: R::Refs<'_, B>,
) -> Result<()> {
    let nothing: T = if end == End::Least { Combine::identity(&Min) } else { Combine::identity(&Max) };
    macro_rules! reduce {
        ($key:expr, $value:expr) => {{
            let key = |x: Expr<T>| $key(x.same_as(), end);
            let load = |x| {
                let (x, i) = f(x);
                (key(x), i)
            };
            let value = |(k, i)| finish($value(k, end).same_as(), i);
            device.segmented_reduce_parts_into(
                inputs,
                offsets,
                load,
                || (key(lit(nothing)), lit(u32::MAX)),
                |a, b| best(a, b, end),
                value,
                out,
            )
        }};
    }
    match T::TY {
        Ty::F32 => reduce!(key32, float32),
        Ty::F64 => reduce!(key64, float64),
        _ => reduce!(itself::<T>, itself::<T>),
    }
}

fn itself<T: Num>(x: Expr<T>, _: End) -> Expr<T> {
    x
}

fn prepared<B: Reduce, T: Element<Reg = T> + Num, R: Outputs>(
    device: &B,
    x: &Buffer<B, T>,
    end: End,
    names: [&'static str; 3],
    finish: impl FnOnce(Expr<T>, Expr<u32>) -> R,
) -> Result<(Collector<B>, Parts)> {
    // The type is known where this is compiled, so each arm but one is never run; values change their name, not their bits.
    match T::TY {
        Ty::F32 => kept_parts(
            device,
            x,
            names,
            |(x, i)| (key32(x.same_as(), end), i),
            |a, b| best(a, b, end),
            |(k, i)| finish(float32(k, end).same_as(), i),
        ),
        Ty::F64 => kept_parts(
            device,
            x,
            names,
            |(x, i)| (key64(x.same_as(), end), i),
            |a, b| best(a, b, end),
            |(k, i)| finish(float64(k, end).same_as(), i),
        ),
        _ => kept_parts(device, x, names, |p| p, |a, b| best(a, b, end), |(value, i)| finish(value, i)),
    }
}

/// The operators of a reduction of a buffer and its indices, which are [`kept`] by these names.
fn kept_parts<B: Reduce, T: Element<Reg = T> + Scalar, A: Traced, R: Outputs>(
    device: &B,
    x: &Buffer<B, T>,
    [load_name, combine_name, finish_name]: [&'static str; 3],
    load: impl FnOnce((Expr<T>, Expr<u32>)) -> A,
    combine: impl FnOnce(A, A) -> A,
    finish: impl FnOnce(A) -> R,
) -> Result<(Collector<B>, Parts)> {
    let inputs = (x, index());
    let c = collect(device, "reduce", &inputs)?;
    let params = || c.params.clone();
    let load = kept::<T>(load_name, || ir::pack(params(), || load(Source::exprs(&inputs, &mut 0))))?;
    let combine = kept::<T>(combine_name, || ir::trace(|(a, b): (A, A)| combine(a, b)))?;
    let finish = kept::<T>(finish_name, || ir::trace(finish))?;
    Ok((c, Parts { load, combine, finish }))
}
