//! Sorts by a comparator.

use super::computed::{ComputedKeys, ComputedPairs, InMemory, room};
use super::domain::{SortDomain, SortInPlace, SortRun, TravelsInPlace, fresh};
use super::travel::{Scratch, Travels};
use super::verb::{By, InScratch, SortCall};
use super::{Payload, SortBy};
use crate::backend::{Backend, Run, both_of};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{Elements, Values};
use crate::ir::{Expr, Func};
use crate::patterns::merge_sort::{argsort, order, sort, sort_with};
use crate::patterns::{GatherTask, MapTask, MergeSortTask, check_aliasing, check_ops};
use std::sync::Arc;

/// The comparator of keys of type `K` as it is compiled.
pub(super) fn before<K: Element>(by: &SortBy, f: impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>) -> Result<Arc<Func>> {
    if by.bits.is_some() {
        return Err(Error::InvalidArgument { what: "bits", reason: "a comparator compares whole keys".to_owned() });
    }
    check_nan(by.nan_last)?;
    order(by.order, f)
}

/// Comparators say where NaN go.
pub(in crate::patterns) fn check_nan(nan_last: bool) -> Result<()> {
    let reason = || "a comparator says where NaN go: `a.lt(b) | (b.is_nan() & !a.is_nan())` has them last".to_owned();
    if nan_last { Err(Error::InvalidArgument { what: "nan_last", reason: reason() }) } else { Ok(()) }
}

impl<B, I, W, F> SortDomain<B, I, W> for By<F>
where
    B: Run<MergeSortTask> + Run<GatherTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B>,
    F: Fn(Expr<<I::Element as Element>::Reg>, Expr<<I::Element as Element>::Reg>) -> Expr<bool>,
{
    fn write(call: &SortCall<'_, B, I, W, Self>, out: W::Refs<'_, I::Element>) -> Result<()> {
        let (device, before) = (call.device, before::<I::Element>(&call.by, &call.domain.0)?);
        let (keys_out, payload_out) = W::split(out);
        let of = call.with.of(None);
        let values = of.as_ref().and_then(Values::plain);
        match (call.keys.plain(), keys_out, payload_out, &of) {
            (Some(keys), keys_out, Some(out), _) if W::INDICES => argsort(device, keys, before, None, (keys_out, out), &|| Ok(())),
            (Some(keys), Some(keys_out), out, of) if of.is_some() == values.is_some() => {
                sort(device, (keys, values), before, (keys_out, out), false, &|| Ok(()))
            }
            // Computed elements are stored where they are then sorted.
            (_, keys_out, Some(payload), Some(of)) => {
                let of = ComputedPairs::new(device, &call.keys, of, None)?;
                let keys = match keys_out {
                    Some(keys) => room(keys, of.n)?,
                    None => device.buffer(of.n)?,
                };
                let payload = room(payload, of.n)?;
                keys.check_device(device, "the output")?;
                payload.check_device(device, "the output")?;
                check_ops(device, "sort_by", device.numerics(), &[&before])?;
                check_aliasing("sort_by", of.leaves(), of.n, &[(keys.out(), of.n), (payload.out(), of.n)], false)?;
                let lie = (&keys, Some(&payload));
                sort(device, lie, before, lie, true, &|| of.store(device, (&keys, &payload)))
            }
            (_, Some(out), ..) => {
                let of = ComputedKeys::new(device, &call.keys, None)?;
                let keys = room(out, of.n)?;
                keys.check_device(device, "the output")?;
                check_ops(device, "sort_by", device.numerics(), &[&before])?;
                check_aliasing("sort_by", of.leaves(), of.n, &[(keys.out(), of.n)], false)?;
                let lie = (&keys, None::<&Buffer<B, u32>>);
                sort(device, lie, before, lie, true, &|| of.store::<I>(device, &keys))
            }
            _ => Ok(()),
        }
    }
}

impl<B: Backend, I: Elements<B>, W: Travels<B>, F> SortRun<B, I, W> for By<F>
where
    Self: SortDomain<B, I, W>,
{
    type New = W::New<I::Element>;

    fn run(call: &SortCall<'_, B, I, W, Self>) -> Result<Self::New> {
        fresh(call, None)
    }
}

impl<B, I, W, F> SortDomain<B, I, W> for InScratch<'_, B, I::Element, W::Value, By<F>>
where
    B: Run<MergeSortTask> + Run<GatherTask> + Run<MapTask>,
    I: Elements<B>,
    W: Scratch<B, Value: Payload>,
    F: Fn(Expr<<I::Element as Element>::Reg>, Expr<<I::Element as Element>::Reg>) -> Expr<bool>,
{
    fn write(call: &SortCall<'_, B, I, W, Self>, out: W::Refs<'_, I::Element>) -> Result<()> {
        let (device, before) = (call.device, before::<I::Element>(&call.by, &call.domain.of.0)?);
        let (keys_out, payload_out) = W::split(out);
        let (of, memory) = (call.with.of(None), &call.domain.memory);
        let of = InMemory::new(device, &call.keys, of.as_ref().filter(|_| !W::INDICES), None)?;
        let outs = both_of(keys_out.map(Buffer::out), payload_out.map(Buffer::out), of.keys.len());
        check_aliasing("sort_by", of.leaves(), of.keys.len(), &outs, false)?;
        let (keys, values) = (of.keys.clone(), of.values.clone());
        let store = || of.store(device);
        match (keys_out, payload_out, memory.home, memory.payload) {
            (None, Some(out), Some(home), Some(indices)) => {
                argsort(device, &keys, before, Some(([memory.keys, home], indices)), (None, out), &store)
            }
            (Some(keys_out), out, ..) => {
                sort_with(device, (&keys, values.as_ref()), before, (memory.keys, memory.payload), (keys_out, out), &store)
            }
            _ => Ok(()),
        }
    }
}

impl<B, K, W, F> SortInPlace<B, K, W> for By<F>
where
    B: Run<MergeSortTask> + Run<GatherTask> + Run<MapTask>,
    K: Element,
    W: TravelsInPlace<B>,
    F: Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
{
    fn in_place(call: &SortCall<'_, B, &Buffer<B, K>, W, Self>) -> Result<()> {
        let lie = (call.keys, call.with.array());
        sort(call.device, lie, before::<K>(&call.by, &call.domain.0)?, lie, true, &|| Ok(()))
    }
}
