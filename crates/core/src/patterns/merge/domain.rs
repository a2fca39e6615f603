//! The order that merges go by, bits of keys or a comparator, and what goes with the keys.

use super::lazy::{self, Side};
use super::verb::{BothTuples, BothValues, MergeCall};
use super::{Merge, MergeTask, call};
use crate::backend::{Backend, Run};
use crate::buffer::Buffer;
use crate::call::{ByVariant, Variant, Whole, run_variant};
use crate::element::Element;
use crate::error::Result;
use crate::input::{Collector, Elements, Input, Lent, Narrow, Numbers, Outputs, TypedOutputs as _};
use crate::ir::{Expr, Func, Traced};
use crate::patterns::before::{Elsewhere, Neighbours};
use crate::patterns::map::{collect, trace};
use crate::patterns::merge_sort::{self, check_neighbours, check_sorted_by, check_total, comparison, merge_computed};
use crate::patterns::sort::{By, KeysAlone, check_len, check_sorted};
use crate::patterns::{MapTask, ReduceTask};
use std::sync::Arc;

/// The register that keys are compared in.
type Reg<B, I> = <<I as Elements<B>>::Element as Element>::Reg;

/// The order that keys of two inputs are merged by (their bits, or a comparator), with what goes with them.
pub trait MergeDomain<B: Backend, I, J, W>: Sized {
    /// The results: keys, and what goes with them.
    type Out: Outputs;

    /// Elements of the results.
    #[doc(hidden)]
    fn total(call: &MergeCall<'_, B, I, J, W, Self>) -> Result<u64>;

    /// Checks and enqueues the merge.
    #[doc(hidden)]
    fn write(call: &MergeCall<'_, B, I, J, W, Self>, out: <Self::Out as Outputs>::Refs<'_, B>) -> Result<()>;
}

/// Elements of both inputs.
fn lens<B: Backend, I: Input<B>, J: Input<B>, W, P>(call: &MergeCall<'_, B, I, J, W, P>) -> Result<[u64; 2]> {
    Ok([collect(call.device, "merge", &call.a)?.len()?, collect(call.device, "merge", &call.b)?.len()?])
}

fn sum([a, b]: [u64; 2]) -> u64 {
    a.saturating_add(b)
}

/// Fails for an array that is not sorted, where that was asked for.
fn check_arrays<B: Merge, K: Element, I, J, W, P>(call: &MergeCall<'_, B, I, J, W, P>, a: &Buffer<B, K>, b: &Buffer<B, K>) -> Result<()> {
    if call.checked {
        check_sorted(call.device, "merge", "the first array", a, &call.order.into())?;
        check_sorted(call.device, "merge", "the second array", b, &call.order.into())?;
    }
    Ok(())
}

impl<B, I, J> MergeDomain<B, I, J, KeysAlone> for Whole
where
    B: Merge,
    I: Elements<B>,
    J: Elements<B, Element = I::Element>,
{
    type Out = I::Out;

    fn total(call: &MergeCall<'_, B, I, J, KeysAlone, Self>) -> Result<u64> {
        Ok(sum(lens(call)?))
    }

    fn write(call: &MergeCall<'_, B, I, J, KeysAlone, Self>, out: <I::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        let (device, out) = (call.device, (I::Out::first(out), None::<&Buffer<B, I::Element>>));
        if let Some((a, b)) = call.plain() {
            return call::merge(device, (a, None), (b, None), call.order, out, &|| check_arrays(call, a, b));
        }
        let types = [I::Element::DTYPE];
        let a = Side::new(device, "merge", (Lent(&call.a), I::out), &types)?;
        let b = Side::new(device, "merge", (Lent(&call.b), J::out), &types)?;
        lazy::merge(device, [a, b], call.order, out, call.checked)
    }
}

impl<B, I, J, V, W> MergeDomain<B, I, J, BothValues<V, W>> for Whole
where
    B: Merge,
    I: Elements<B>,
    J: Elements<B, Element = I::Element>,
    V: Elements<B>,
    W: Elements<B, Element = V::Element>,
{
    type Out = (I::Out, V::Out);

    fn total(call: &MergeCall<'_, B, I, J, BothValues<V, W>, Self>) -> Result<u64> {
        Ok(sum(lens(call)?))
    }

    fn write(call: &MergeCall<'_, B, I, J, BothValues<V, W>, Self>, out: <Self::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        let (device, BothValues(v, w)) = (call.device, &call.with);
        let out = (I::Out::first(out.0), Some(V::Out::first(out.1)));
        if let (Some((a, b)), Some(v), Some(w)) = (call.plain(), v.plain(), w.plain()) {
            return call::merge(device, (a, Some(v)), (b, Some(w)), call.order, out, &|| check_arrays(call, a, b));
        }
        let types = [I::Element::DTYPE, V::Element::DTYPE];
        let of_a = ((Lent(&call.a), Lent(v)), |(key, value): (I::Exprs, V::Exprs)| (I::out(key), V::out(value)));
        let of_b = ((Lent(&call.b), Lent(w)), |(key, value): (J::Exprs, W::Exprs)| (J::out(key), W::out(value)));
        let sides = [Side::new(device, "merge", of_a, &types)?, Side::new(device, "merge", of_b, &types)?];
        lazy::merge(device, sides, call.order, out, call.checked)
    }
}

impl<'a, 'b, B, K, P> MergeDomain<B, &'a Buffer<B, K>, &'b Buffer<B, K>, KeysAlone> for ByVariant<P>
where
    B: Merge,
    K: Element,
    P: Variant<B, MergeTask>,
{
    type Out = Narrow<K>;

    fn total(call: &MergeCall<'_, B, &'a Buffer<B, K>, &'b Buffer<B, K>, KeysAlone, Self>) -> Result<u64> {
        Ok(sum(lens(call)?))
    }

    fn write(
        call: &MergeCall<'_, B, &'a Buffer<B, K>, &'b Buffer<B, K>, KeysAlone, Self>,
        out: <Self::Out as Outputs>::Refs<'_, B>,
    ) -> Result<()> {
        let out = (Narrow::<K>::first(out), None::<&Buffer<B, K>>);
        by_variant(call, (call.a, None), (call.b, None), out)
    }
}

impl<'a, 'b, B, K, V, P> MergeDomain<B, &'a Buffer<B, K>, &'b Buffer<B, K>, BothValues<&'a Buffer<B, V>, &'b Buffer<B, V>>> for ByVariant<P>
where
    B: Merge,
    K: Element,
    V: Element,
    P: Variant<B, MergeTask>,
{
    type Out = (Narrow<K>, Narrow<V>);

    fn total(
        call: &MergeCall<'_, B, &'a Buffer<B, K>, &'b Buffer<B, K>, BothValues<&'a Buffer<B, V>, &'b Buffer<B, V>>, Self>,
    ) -> Result<u64> {
        Ok(sum(lens(call)?))
    }

    fn write(
        call: &MergeCall<'_, B, &'a Buffer<B, K>, &'b Buffer<B, K>, BothValues<&'a Buffer<B, V>, &'b Buffer<B, V>>, Self>,
        out: <Self::Out as Outputs>::Refs<'_, B>,
    ) -> Result<()> {
        let BothValues(v, w) = call.with;
        let out = (Narrow::<K>::first(out.0), Some(Narrow::<V>::first(out.1)));
        by_variant(call, (call.a, Some(v)), (call.b, Some(w)), out)
    }
}

/// Merges arrays, and the values that may travel with them, by a variant.
fn by_variant<B: Merge, K: Element, V: Element, W, P: Variant<B, MergeTask>>(
    call: &MergeCall<'_, B, &Buffer<B, K>, &Buffer<B, K>, W, ByVariant<P>>,
    a: (&Buffer<B, K>, Option<&Buffer<B, V>>),
    b: (&Buffer<B, K>, Option<&Buffer<B, V>>),
    out: (&Buffer<B, K>, Option<&Buffer<B, V>>),
) -> Result<()> {
    call::merge_by(call.device, a, b, call.order, out, |task, leaves, outs| {
        check_arrays(call, a.0, b.0)?;
        run_variant(&call.domain.0, call.device, &task, (leaves, outs))
    })
}

const BY: &str = "merge_by";

/// Merges arrays by a comparator, which are checked before that where it was asked for.
fn merge_arrays<B: Merge, K: Element, V: Element, I, J, W, P>(
    call: &MergeCall<'_, B, I, J, W, P>,
    before: Arc<Func>,
    [a, b]: [(&Buffer<B, K>, Option<&Buffer<B, V>>); 2],
    out: (&Buffer<B, K>, Option<&Buffer<B, V>>),
) -> Result<()> {
    let compared = Arc::clone(&before);
    merge_sort::merge(call.device, a, b, before, out, &|| {
        if call.checked {
            check_sorted_by(call.device, BY, "the first array", a.0, comparison(&compared))?;
            check_sorted_by(call.device, BY, "the second array", b.0, comparison(&compared))?;
        }
        Ok(())
    })
}

/// An input of a merge by a comparator, whose first result is the key, and its neighbours, where these are to be checked.
fn elsewhere<B: Backend, I: Input<B>, R: Traced>(
    device: &B,
    (inputs, f): (I, impl FnOnce(I::Exprs) -> R),
    checked: bool,
) -> Result<(Elsewhere<B>, Option<Neighbours<B>>)> {
    let c = collect(device, BY, &inputs)?;
    let value = trace(&inputs, &c, f)?;
    if !checked {
        return Ok((Elsewhere::of(device, BY, c, value)?, None));
    }
    check_len(c.len()?)?;
    let mut again = Collector::new(device, BY);
    again.append(&c)?;
    let neighbours = Neighbours::of(again, Arc::clone(&value))?;
    Ok((Elsewhere::of(device, BY, c, value)?, Some(neighbours)))
}

/// Merges what is computed by a comparator of keys of type `K`.
fn merge_inputs<B: Run<ReduceTask> + Run<MapTask>, K: Element, R: Outputs>(
    device: &B,
    before: &Arc<Func>,
    [a, b]: [(Elsewhere<B>, Option<Neighbours<B>>); 2],
    out: R::Refs<'_, B>,
) -> Result<()> {
    let check = |what, keys: &Option<_>| {
        keys.as_ref().map_or(Ok(()), |keys| check_neighbours(device, (BY, what), keys, comparison::<K::Reg>(before)))
    };
    merge_computed::<B, R>(device, &[a.0, b.0], before, out, &|| {
        check("the first input", &a.1)?;
        check("the second input", &b.1)
    })
}

impl<B, I, J, F> MergeDomain<B, I, J, KeysAlone> for By<F>
where
    B: Merge,
    I: Numbers<B>,
    J: Numbers<B> + Elements<B, Element = I::Element>,
    F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>,
{
    type Out = I::Out;

    fn total(call: &MergeCall<'_, B, I, J, KeysAlone, Self>) -> Result<u64> {
        if call.plain().is_some() { Ok(sum(lens(call)?)) } else { check_total(lens(call)?) }
    }

    fn write(call: &MergeCall<'_, B, I, J, KeysAlone, Self>, out: <I::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        let before = merge_sort::order(call.order, &call.domain.0)?;
        if let Some((a, b)) = call.plain() {
            let no_values = None::<&Buffer<B, I::Element>>;
            return merge_arrays(call, before, [(a, no_values), (b, no_values)], (I::Out::first(out), no_values));
        }
        let a = elsewhere(call.device, (Lent(&call.a), I::out), call.checked)?;
        let b = elsewhere(call.device, (Lent(&call.b), J::out), call.checked)?;
        merge_inputs::<B, I::Element, I::Out>(call.device, &before, [a, b], out)
    }
}

impl<B, I, J, V, W, F> MergeDomain<B, I, J, BothValues<V, W>> for By<F>
where
    B: Merge,
    I: Numbers<B>,
    J: Numbers<B> + Elements<B, Element = I::Element>,
    V: Elements<B>,
    W: Elements<B, Element = V::Element>,
    F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>,
{
    type Out = (I::Out, V::Out);

    fn total(call: &MergeCall<'_, B, I, J, BothValues<V, W>, Self>) -> Result<u64> {
        let plain = call.plain().is_some() && call.with.0.plain().is_some() && call.with.1.plain().is_some();
        if plain { Ok(sum(lens(call)?)) } else { check_total(lens(call)?) }
    }

    fn write(call: &MergeCall<'_, B, I, J, BothValues<V, W>, Self>, out: <Self::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        let BothValues(v, w) = &call.with;
        let before = merge_sort::order(call.order, &call.domain.0)?;
        if let (Some((a, b)), Some(v), Some(w)) = (call.plain(), v.plain(), w.plain()) {
            let out = (I::Out::first(out.0), Some(V::Out::first(out.1)));
            return merge_arrays(call, before, [(a, Some(v)), (b, Some(w))], out);
        }
        let of_a = ((Lent(&call.a), Lent(v)), |(key, value): (I::Exprs, V::Exprs)| (I::out(key), V::out(value)));
        let of_b = ((Lent(&call.b), Lent(w)), |(key, value): (J::Exprs, W::Exprs)| (J::out(key), W::out(value)));
        let both = [elsewhere(call.device, of_a, call.checked)?, elsewhere(call.device, of_b, call.checked)?];
        merge_inputs::<B, I::Element, Self::Out>(call.device, &before, both, out)
    }
}

impl<B, I, J, V, W, F, R> MergeDomain<B, I, J, BothTuples<V, W>> for By<F>
where
    B: Merge,
    I: Numbers<B>,
    J: Numbers<B> + Elements<B, Element = I::Element>,
    V: Input<B, Exprs = R>,
    W: Input<B, Exprs = R>,
    R: Outputs,
    F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>,
{
    type Out = (I::Out, R);

    fn total(call: &MergeCall<'_, B, I, J, BothTuples<V, W>, Self>) -> Result<u64> {
        check_total(lens(call)?)
    }

    fn write(call: &MergeCall<'_, B, I, J, BothTuples<V, W>, Self>, out: <Self::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        let BothTuples(v, w) = &call.with;
        let before = merge_sort::order(call.order, &call.domain.0)?;
        let of_a = ((Lent(&call.a), Lent(v)), |(key, value): (I::Exprs, R)| (I::out(key), value));
        let of_b = ((Lent(&call.b), Lent(w)), |(key, value): (J::Exprs, R)| (J::out(key), value));
        let both = [elsewhere(call.device, of_a, call.checked)?, elsewhere(call.device, of_b, call.checked)?];
        merge_inputs::<B, I::Element, Self::Out>(call.device, &before, both, out)
    }
}
