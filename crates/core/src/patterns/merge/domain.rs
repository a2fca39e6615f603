//! What merges go by, and which results they have.

use super::lazy::{self, Side};
use super::verb::{BothTuples, BothValues, MergeCall};
use super::{Merge, call};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::call::Whole;
use crate::element::Element;
use crate::error::Result;
use crate::input::{Collector, Input, Narrow, Outputs};
use crate::ir::{Expr, Func, Traced};
use crate::patterns::before::{Elsewhere, Neighbours};
use crate::patterns::map::{collect, trace};
use crate::patterns::merge_sort::{self, check_neighbours, check_sorted_by, check_total, comparison, merge_computed};
use crate::patterns::sort::{By, KeysAlone, SortKeys, SortOrder, check_len, check_sorted};
use crate::patterns::{MapTask, ReduceTask};
use std::sync::Arc;

/// A register that keys are compared in.
type Reg<B, I> = <<I as SortKeys<B>>::Element as Element>::Reg;

/// What keys of two inputs are merged by (their bits, or a comparator), with what goes with them.
pub trait MergeDomain<B: Backend, I, J, W>: Sized {
    /// Results in new memory.
    type New;
    /// The caller's buffers.
    type Refs<'a>: Copy;

    /// Enqueues the merge into new memory.
    #[doc(hidden)]
    fn run(call: MergeCall<'_, B, I, J, W, Self>) -> Result<Self::New>;

    /// Enqueues the merge into the caller's buffers.
    #[doc(hidden)]
    fn write(call: MergeCall<'_, B, I, J, W, Self>, out: Self::Refs<'_>) -> Result<()>;
}

/// Both inputs of a merge of what is computed, checked where that was asked for.
fn sides<B: Merge, K: Element, I: Input<B>, J: Input<B>, R: Traced, S: Traced>(
    (device, order, checked): (&B, SortOrder, bool),
    a: (I, impl FnOnce(I::Exprs) -> R),
    b: (J, impl FnOnce(J::Exprs) -> S),
    types: &[crate::element::DType],
) -> Result<[Side<B>; 2]> {
    let sides = [Side::new(device, "merge", a, types)?, Side::new(device, "merge", b, types)?];
    if checked {
        sides[0].check_sorted(device, "the first input", K::DTYPE, order)?;
        sides[1].check_sorted(device, "the second input", K::DTYPE, order)?;
    }
    Ok(sides)
}

/// Fails for an array that is not sorted, where that was asked for.
fn check_arrays<B: Merge, K: Element>(device: &B, a: &Buffer<B, K>, b: &Buffer<B, K>, order: SortOrder, checked: bool) -> Result<()> {
    if checked {
        check_sorted(device, "merge", "the first array", a, &order.into())?;
        check_sorted(device, "merge", "the second array", b, &order.into())?;
    }
    Ok(())
}

impl<B, I, J> MergeDomain<B, I, J, KeysAlone> for Whole
where
    B: Merge,
    I: SortKeys<B>,
    J: SortKeys<B, Element = I::Element>,
{
    type New = Buffer<B, I::Element>;
    type Refs<'a> = &'a Buffer<B, I::Element>;

    fn run(call: MergeCall<'_, B, I, J, KeysAlone, Self>) -> Result<Self::New> {
        let device = call.device;
        if let Some((a, b)) = call.plain() {
            let out = device.buffer(a.len() + b.len())?;
            Self::write(call, &out)?;
            return Ok(out);
        }
        let (order, checked, types) = (call.order, call.checked, [I::Element::DTYPE]);
        let sides = sides::<B, I::Element, _, _, _, _>((device, order, checked), (call.a, I::key), (call.b, J::key), &types)?;
        let out = device.buffer(sides[0].len() + sides[1].len())?;
        lazy::merge::<B, I::Element, I::Element>(device, sides, order, (&out, None))?;
        Ok(out)
    }

    fn write(call: MergeCall<'_, B, I, J, KeysAlone, Self>, out: Self::Refs<'_>) -> Result<()> {
        let (device, order, checked, types) = (call.device, call.order, call.checked, [I::Element::DTYPE]);
        if let Some((a, b)) = call.plain() {
            check_arrays(device, a, b, order, checked)?;
            return call::merge::<B, I::Element, I::Element>(device, (a, None), (b, None), order, (out, None));
        }
        let sides = sides::<B, I::Element, _, _, _, _>((device, order, checked), (call.a, I::key), (call.b, J::key), &types)?;
        lazy::merge::<B, I::Element, I::Element>(device, sides, order, (out, None))
    }
}

impl<B, I, J, V, W> MergeDomain<B, I, J, BothValues<V, W>> for Whole
where
    B: Merge,
    I: SortKeys<B>,
    J: SortKeys<B, Element = I::Element>,
    V: SortKeys<B>,
    W: SortKeys<B, Element = V::Element>,
{
    type New = (Buffer<B, I::Element>, Buffer<B, V::Element>);
    type Refs<'a> = (&'a Buffer<B, I::Element>, &'a Buffer<B, V::Element>);

    fn run(call: MergeCall<'_, B, I, J, BothValues<V, W>, Self>) -> Result<Self::New> {
        let (device, order) = (call.device, call.order);
        if let (Some((a, b)), Some(_), Some(_)) = (call.plain(), call.with.0.plain(), call.with.1.plain()) {
            let n = a.len() + b.len();
            let out = (device.buffer(n)?, device.buffer(n)?);
            Self::write(call, (&out.0, &out.1))?;
            return Ok(out);
        }
        let sides = pairs(call)?;
        let n = sides[0].len() + sides[1].len();
        let (keys, values) = (device.buffer(n)?, device.buffer(n)?);
        lazy::merge(device, sides, order, (&keys, Some(&values)))?;
        Ok((keys, values))
    }

    fn write(call: MergeCall<'_, B, I, J, BothValues<V, W>, Self>, out: Self::Refs<'_>) -> Result<()> {
        let (device, order) = (call.device, call.order);
        if let (Some((a, b)), Some(v), Some(w)) = (call.plain(), call.with.0.plain(), call.with.1.plain()) {
            check_arrays(device, a, b, order, call.checked)?;
            return call::merge(device, (a, Some(v)), (b, Some(w)), order, (out.0, Some(out.1)));
        }
        lazy::merge(device, pairs(call)?, order, (out.0, Some(out.1)))
    }
}

/// Both inputs of a merge of keys and values that are computed.
fn pairs<B, I, J, V, W>(call: MergeCall<'_, B, I, J, BothValues<V, W>>) -> Result<[Side<B>; 2]>
where
    B: Merge,
    I: SortKeys<B>,
    J: SortKeys<B, Element = I::Element>,
    V: SortKeys<B>,
    W: SortKeys<B, Element = V::Element>,
{
    let BothValues(v, w) = call.with;
    let types = [I::Element::DTYPE, V::Element::DTYPE];
    let of_a = ((call.a, v), |(key, value): (I::Exprs, V::Exprs)| (I::key(key), V::key(value)));
    let of_b = ((call.b, w), |(key, value): (J::Exprs, W::Exprs)| (J::key(key), W::key(value)));
    sides::<B, I::Element, _, _, _, _>((call.device, call.order, call.checked), of_a, of_b, &types)
}

/// The comparator of keys of type `K` as it is compiled.
fn before<K: Element>(order: SortOrder, f: impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>) -> Result<Arc<Func>> {
    merge_sort::order::<K>(|a, b| if order == SortOrder::Descending { f(b, a) } else { f(a, b) })
}

const BY: &str = "merge_by";

/// Fails for an array that is not sorted by a comparator, where that was asked for.
fn check_arrays_by<B: Merge, K: Element>(device: &B, a: &Buffer<B, K>, b: &Buffer<B, K>, before: &Func, checked: bool) -> Result<()> {
    if checked {
        check_sorted_by(device, BY, "the first array", a, comparison(before))?;
        check_sorted_by(device, BY, "the second array", b, comparison(before))?;
    }
    Ok(())
}

/// An input of a merge by a comparator, whose first result is the key, of type `K`.
fn elsewhere<B: Run<ReduceTask> + Run<MapTask>, K: Element, I: Input<B>, R: Traced>(
    device: &B,
    what: &'static str,
    (inputs, f): (I, impl FnOnce(I::Exprs) -> R),
    before: &Func,
    checked: bool,
) -> Result<Elsewhere<B>> {
    if !checked {
        return Elsewhere::new(device, BY, &inputs, f);
    }
    let c = collect(device, BY, &inputs)?;
    let value = trace(&inputs, &c, f)?;
    check_len(c.len()?)?;
    let mut again = Collector::new(device, BY);
    again.append(&c)?;
    check_neighbours(device, (BY, what), Neighbours::of(again, Arc::clone(&value))?, comparison::<K::Reg>(before))?;
    Elsewhere::of(device, BY, c, value)
}

impl<B, I, J, F> MergeDomain<B, I, J, KeysAlone> for By<F>
where
    B: Merge,
    I: SortKeys<B> + Input<B, Exprs = Expr<Reg<B, I>>>,
    J: SortKeys<B, Element = I::Element> + Input<B, Exprs = Expr<Reg<B, I>>>,
    F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>,
{
    type New = Buffer<B, I::Element>;
    type Refs<'a> = &'a Buffer<B, I::Element>;

    fn run(call: MergeCall<'_, B, I, J, KeysAlone, Self>) -> Result<Self::New> {
        let device = call.device;
        if let Some((a, b)) = call.plain() {
            let out = device.buffer(a.len() + b.len())?;
            Self::write(call, &out)?;
            return Ok(out);
        }
        let (both, before) = keys_by(call)?;
        let out = device.buffer(check_total([both[0].len, both[1].len])?)?;
        merge_computed::<B, Narrow<I::Element>>(device, &both, &before, &out)?;
        Ok(out)
    }

    fn write(call: MergeCall<'_, B, I, J, KeysAlone, Self>, out: Self::Refs<'_>) -> Result<()> {
        let device = call.device;
        if let Some((a, b)) = call.plain() {
            let before = before::<I::Element>(call.order, &call.domain.0)?;
            check_arrays_by(device, a, b, &before, call.checked)?;
            return merge_sort::merge::<B, I::Element, I::Element>(device, (a, None), (b, None), before, (out, None));
        }
        let (both, before) = keys_by(call)?;
        merge_computed::<B, Narrow<I::Element>>(device, &both, &before, out)
    }
}

/// Both inputs of a merge by a comparator, and that.
type Computed<B> = ([Elsewhere<B>; 2], Arc<Func>);

fn keys_by<B, I, J, F>(call: MergeCall<'_, B, I, J, KeysAlone, By<F>>) -> Result<Computed<B>>
where
    B: Merge,
    I: SortKeys<B>,
    J: SortKeys<B, Element = I::Element>,
    F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>,
{
    let before = before::<I::Element>(call.order, call.domain.0)?;
    let a = elsewhere::<B, I::Element, _, _>(call.device, "the first input", (call.a, I::key), &before, call.checked)?;
    let b = elsewhere::<B, I::Element, _, _>(call.device, "the second input", (call.b, J::key), &before, call.checked)?;
    Ok(([a, b], before))
}

impl<B, I, J, V, W, F> MergeDomain<B, I, J, BothValues<V, W>> for By<F>
where
    B: Merge,
    I: SortKeys<B> + Input<B, Exprs = Expr<Reg<B, I>>>,
    J: SortKeys<B, Element = I::Element> + Input<B, Exprs = Expr<Reg<B, I>>>,
    V: SortKeys<B>,
    W: SortKeys<B, Element = V::Element>,
    F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>,
{
    type New = (Buffer<B, I::Element>, Buffer<B, V::Element>);
    type Refs<'a> = (&'a Buffer<B, I::Element>, &'a Buffer<B, V::Element>);

    fn run(call: MergeCall<'_, B, I, J, BothValues<V, W>, Self>) -> Result<Self::New> {
        let device = call.device;
        if let (Some((a, b)), Some(_), Some(_)) = (call.plain(), call.with.0.plain(), call.with.1.plain()) {
            let n = a.len() + b.len();
            let out = (device.buffer(n)?, device.buffer(n)?);
            Self::write(call, (&out.0, &out.1))?;
            return Ok(out);
        }
        let (both, before) = pairs_by(call, |with| (with.0, with.1), V::key, W::key)?;
        let n = check_total([both[0].len, both[1].len])?;
        let out = (device.buffer(n)?, device.buffer(n)?);
        merge_computed::<B, (Narrow<I::Element>, Narrow<V::Element>)>(device, &both, &before, (&out.0, &out.1))?;
        Ok(out)
    }

    fn write(call: MergeCall<'_, B, I, J, BothValues<V, W>, Self>, out: Self::Refs<'_>) -> Result<()> {
        let device = call.device;
        if let (Some((a, b)), Some(v), Some(w)) = (call.plain(), call.with.0.plain(), call.with.1.plain()) {
            let before = before::<I::Element>(call.order, &call.domain.0)?;
            check_arrays_by(device, a, b, &before, call.checked)?;
            return merge_sort::merge(device, (a, Some(v)), (b, Some(w)), before, (out.0, Some(out.1)));
        }
        let (both, before) = pairs_by(call, |with| (with.0, with.1), V::key, W::key)?;
        merge_computed::<B, (Narrow<I::Element>, Narrow<V::Element>)>(device, &both, &before, out)
    }
}

/// As [`keys_by`], of keys with values.
fn pairs_by<B, I, J, X, V, W, F, R: Traced, S: Traced>(
    call: MergeCall<'_, B, I, J, X, By<F>>,
    values: impl FnOnce(X) -> (V, W),
    of_a: impl FnOnce(V::Exprs) -> R,
    of_b: impl FnOnce(W::Exprs) -> S,
) -> Result<Computed<B>>
where
    B: Merge,
    I: SortKeys<B>,
    J: SortKeys<B, Element = I::Element>,
    V: Input<B>,
    W: Input<B>,
    F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>,
{
    let MergeCall { device, a, b, order, checked, with, domain } = call;
    let (before, (v, w)) = (before::<I::Element>(order, domain.0)?, values(with));
    let of_a = ((a, v), |(key, value): (I::Exprs, V::Exprs)| (I::key(key), of_a(value)));
    let of_b = ((b, w), |(key, value): (J::Exprs, W::Exprs)| (J::key(key), of_b(value)));
    let a = elsewhere::<B, I::Element, _, _>(device, "the first input", of_a, &before, checked)?;
    let b = elsewhere::<B, I::Element, _, _>(device, "the second input", of_b, &before, checked)?;
    Ok(([a, b], before))
}

impl<B, I, J, V, W, F, R> MergeDomain<B, I, J, BothTuples<V, W>> for By<F>
where
    B: Merge,
    I: SortKeys<B> + Input<B, Exprs = Expr<Reg<B, I>>>,
    J: SortKeys<B, Element = I::Element> + Input<B, Exprs = Expr<Reg<B, I>>>,
    V: Input<B, Exprs = R>,
    W: Input<B, Exprs = R>,
    R: Outputs,
    F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>,
{
    type New = (Buffer<B, I::Element>, R::Buffers<B>);
    type Refs<'a> = (&'a Buffer<B, I::Element>, R::Refs<'a, B>);

    fn run(call: MergeCall<'_, B, I, J, BothTuples<V, W>, Self>) -> Result<Self::New> {
        let device = call.device;
        let (both, before) = pairs_by(call, |with| (with.0, with.1), |v| v, |w| w)?;
        let n = check_total([both[0].len, both[1].len])?;
        let out = (device.buffer(n)?, R::allocate(device, n)?);
        merge_computed::<B, (Narrow<I::Element>, R)>(device, &both, &before, (&out.0, R::refs(&out.1)))?;
        Ok(out)
    }

    fn write(call: MergeCall<'_, B, I, J, BothTuples<V, W>, Self>, out: Self::Refs<'_>) -> Result<()> {
        let device = call.device;
        let (both, before) = pairs_by(call, |with| (with.0, with.1), |v| v, |w| w)?;
        merge_computed::<B, (Narrow<I::Element>, R)>(device, &both, &before, out)
    }
}
