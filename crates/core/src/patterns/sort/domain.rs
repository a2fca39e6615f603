//! Domains of sorts, and the tasks that they enqueue.

use super::call::{Call, check_rows};
use super::computed::{ComputedKeys, ComputedPairs, room};
use super::nan_last::OrderedKeys;
use super::travel::{GivesKeys, KeysAlone, LentMemory, Scratch, Travels, WithValues};
use super::verb::{InScratch, SortCall};
use super::{Payload, SortTask};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::call::{Along, ByVariant, Variant, Whole, run_variant};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{Elements, Input as _, Values};
use crate::patterns::layout::LayoutTask;
use crate::patterns::map::collect;
use crate::patterns::{Lines, MapTask, Prepare};
use core::cell::Cell;

/// Domain of a sort: all keys, by their bits or by a comparator, lines, segments, or the first ones. `I` are the keys, `W` is what travels.
pub trait SortDomain<B: Backend, I: Elements<B>, W: Travels<B>>: Sized {
    /// Checks and enqueues the sort.
    #[doc(hidden)]
    fn write(call: &SortCall<'_, B, I, W, Self>, out: W::Refs<'_, I::Element>) -> Result<()>;
}

/// A [`SortDomain`] whose results may lie in new memory.
pub trait SortRun<B: Backend, I: Elements<B>, W: Travels<B>>: SortDomain<B, I, W> {
    /// The results.
    type New;

    /// Checks and enqueues the sort, into new memory.
    #[doc(hidden)]
    fn run(call: &SortCall<'_, B, I, W, Self>) -> Result<Self::New>;
}

/// A [`SortDomain`] whose keys of type `K` may be sorted where they lie.
pub trait SortInPlace<B: Backend, K: Element, W>: Sized {
    /// Checks and enqueues the sort.
    #[doc(hidden)]
    fn in_place(call: &SortCall<'_, B, &Buffer<B, K>, W, Self>) -> Result<()>;
}

/// Values that travel with keys that are sorted in place.
pub trait TravelsInPlace<B: Backend> {
    /// Its type.
    type Value: Element;

    /// Where it lies.
    #[doc(hidden)]
    fn array(&self) -> Option<&Buffer<B, Self::Value>>;
}

impl<B: Backend> TravelsInPlace<B> for KeysAlone {
    type Value = u32;
    fn array(&self) -> Option<&Buffer<B, u32>> {
        None
    }
}

impl<B: Backend, V: Element> TravelsInPlace<B> for WithValues<&Buffer<B, V>> {
    type Value = V;
    fn array(&self) -> Option<&Buffer<B, V>> {
        Some(self.0)
    }
}

/// Enqueues a sort into new memory, of so many elements where its inputs have no length.
pub(in crate::patterns) fn fresh<B: Backend, I: Elements<B>, W: Travels<B>, P: SortDomain<B, I, W>>(
    call: &SortCall<'_, B, I, W, P>,
    elements: Option<u64>,
) -> Result<W::New<I::Element>> {
    let n = len(call.device, &call.keys, &call.with, elements)?;
    let out = W::allocate(call.device, n)?;
    P::write(call, W::refs(&out))?;
    Ok(out)
}

/// The number of keys.
pub(super) fn len<B: Backend, I: Elements<B>, W: Travels<B>>(device: &B, keys: &I, with: &W, elements: Option<u64>) -> Result<u64> {
    if let Some(keys) = keys.plain() {
        return Ok(keys.len());
    }
    let mut c = collect(device, "sort", keys)?;
    match (c.len(), elements, with.of(None)) {
        (Err(_), Some(n), _) => return Ok(n),
        (Err(_), None, Some(of)) => of.collect(&mut c)?,
        _ => {}
    }
    c.len()
}

impl Along {
    /// The lines of a sort.
    pub(super) fn lines(&self) -> Result<Lines> {
        Lines::along(&self.shape, self.axis)
    }
}

/// The lines of so many keys: these, or one.
pub(super) fn lines_of(lines: Option<Lines>, keys: u64) -> Result<Lines> {
    let Some(lines) = lines else { return Ok(Lines::one(keys)) };
    if lines.n == 0 {
        check_rows(keys, 0)?;
    }
    if keys == lines.elements() {
        return Ok(lines);
    }
    Err(Error::LengthMismatch { what: "keys of whole rows", expected: lines.elements(), found: keys })
}

impl<B, I, W> SortDomain<B, I, W> for Whole
where
    B: Run<SortTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B, Value: Payload>,
{
    fn write(call: &SortCall<'_, B, I, W, Self>, out: W::Refs<'_, I::Element>) -> Result<()> {
        lines(call, (None, Call::run_rows), None, out)
    }
}

impl<B, I, W> SortRun<B, I, W> for Whole
where
    B: Run<SortTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B, Value: Payload>,
{
    type New = W::New<I::Element>;

    fn run(call: &SortCall<'_, B, I, W, Self>) -> Result<Self::New> {
        fresh(call, None)
    }
}

impl<B, I, W> SortDomain<B, I, W> for Along
where
    B: Run<SortTask> + Run<LayoutTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B, Value: Payload>,
{
    fn write(call: &SortCall<'_, B, I, W, Self>, out: W::Refs<'_, I::Element>) -> Result<()> {
        lines(call, (Some(call.domain.lines()?), Call::run_lines), None, out)
    }
}

impl<B, I, W> SortRun<B, I, W> for Along
where
    B: Run<SortTask> + Run<LayoutTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B, Value: Payload>,
{
    type New = W::New<I::Element>;

    fn run(call: &SortCall<'_, B, I, W, Self>) -> Result<Self::New> {
        fresh(call, Some(call.domain.lines()?.elements()))
    }
}

impl<B, I, W> SortDomain<B, I, W> for InScratch<'_, B, I::Element, W::Value, Whole>
where
    B: Run<SortTask> + Run<MapTask>,
    I: Elements<B>,
    W: Scratch<B, Value: Payload> + GivesKeys,
{
    fn write(call: &SortCall<'_, B, I, W, Self>, out: W::Refs<'_, I::Element>) -> Result<()> {
        lines(call, (None, Call::run_rows), Some(&call.domain.memory), out)
    }
}

impl<B, I, W, P> SortRun<B, I, W> for InScratch<'_, B, I::Element, W::Value, P>
where
    B: Backend,
    I: Elements<B>,
    W: Scratch<B>,
    Self: SortDomain<B, I, W>,
{
    type New = W::New<I::Element>;

    fn run(call: &SortCall<'_, B, I, W, Self>) -> Result<Self::New> {
        fresh(call, None)
    }
}

impl<'k, B, K, W, V, P> SortDomain<B, &'k Buffer<B, K>, W> for ByVariant<P>
where
    B: Backend,
    K: Element,
    W: Travels<B, Value = V> + TravelsInPlace<B, Value = V>,
    V: Payload,
    P: Variant<B, SortTask>,
{
    fn write(call: &SortCall<'_, B, &'k Buffer<B, K>, W, Self>, out: W::Refs<'_, K>) -> Result<()> {
        if OrderedKeys::new(&call.keys, &call.by)?.plain().is_none() {
            let reason = "a variant sorts in the total order of keys, without NaN last".to_owned();
            return Err(Error::InvalidArgument { what: "the order", reason });
        }
        let mut sort = Call::new(call.device, call.keys, call.by.clone())?;
        if let Some(values) = call.with.array() {
            sort = sort.values(values)?;
        }
        let (keys_out, payload_out) = W::split(out);
        if let Some(out) = keys_out {
            sort = sort.keys_to(out)?;
        }
        if let Some(out) = payload_out {
            sort = sort.payload_to(out)?;
        }
        sort.checked(call.keys.len(), |device, task, leaves, outs| run_variant(&call.domain.0, device, &task, (leaves, outs)))
    }
}

impl<'k, B: Backend, K: Element, W: Travels<B>, P> SortRun<B, &'k Buffer<B, K>, W> for ByVariant<P>
where
    Self: SortDomain<B, &'k Buffer<B, K>, W>,
{
    type New = W::New<K>;

    fn run(call: &SortCall<'_, B, &'k Buffer<B, K>, W, Self>) -> Result<Self::New> {
        fresh(call, None)
    }
}

/// Enqueues a sort of lines, after what is called once all is checked.
type Enqueue<'d, B> = fn(Call<'d, B>, Lines, Prepare<'_>) -> Result<()>;

/// A sort by bits, put together.
fn lines<'d, B, I, W, P>(
    call: &SortCall<'d, B, I, W, P>,
    (lines, enqueue): (Option<Lines>, Enqueue<'d, B>),
    memory: Option<&LentMemory<'_, B, I::Element, W::Value>>,
    out: W::Refs<'_, I::Element>,
) -> Result<()>
where
    B: Run<SortTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B, Value: Payload>,
{
    let device = call.device;
    let compared = OrderedKeys::new(&call.keys, &call.by)?;
    let by = &compared.by;
    let (keys_out, payload_out) = W::split(out);
    let of = call.with.of(lines);
    let elements = lines.map(|lines| lines.elements());
    let values = of.as_ref().and_then(Values::plain);
    if let Some(keys) = compared.plain().filter(|_| W::INDICES || of.is_some() == values.is_some()) {
        let mut sort = Call::new(device, keys, by.clone())?;
        if W::INDICES {
            sort = sort.indices();
        }
        if let Some(values) = values {
            sort = sort.values(values)?;
        }
        if let Some(out) = keys_out {
            sort = sort.keys_to(out)?;
        }
        if let Some(out) = payload_out {
            sort = sort.payload_to(out)?;
        }
        return enqueue(sort.lent(memory)?, lines_of(lines, keys.len())?, &|| Ok(()));
    }
    // Computed elements are stored where they are then sorted.
    let (Some(of), Some(payload)) = (of, payload_out) else {
        let Some(out) = keys_out else { return Ok(()) };
        let of = ComputedKeys::new(device, &compared, elements)?;
        let keys = room(out, of.n)?;
        let sort = Call::new(device, &keys, by.clone())?.in_place().keys_to(&keys)?.lent(memory)?;
        let lines = lines_of(lines, of.n)?;
        sort.apart_from(of.leaves())?;
        of.store::<OrderedKeys<'_, B, I>>(device, &keys)?;
        enqueue(sort, lines, &|| Ok(()))?;
        return compared.restore(device, &keys);
    };
    let of = ComputedPairs::new(device, &compared, &of, elements)?;
    let keys = match keys_out {
        Some(keys) => room(keys, of.n)?,
        None => device.buffer(of.n)?,
    };
    let payload = room(payload, of.n)?;
    let sort = Call::new(device, &keys, by.clone())?.in_place().values(&payload)?.keys_to(&keys)?.payload_to(&payload)?;
    let (sort, lines) = (sort.lent(memory)?, lines_of(lines, of.n)?);
    sort.apart_from(of.leaves())?;
    of.store(device, (&keys, &payload))?;
    enqueue(sort, lines, &|| Ok(()))?;
    if keys_out.is_some() { compared.restore(device, &keys) } else { Ok(()) }
}

impl<B: Run<SortTask> + Run<MapTask>, K: Element, W: TravelsInPlace<B, Value: Payload>> SortInPlace<B, K, W> for Whole {
    fn in_place(call: &SortCall<'_, B, &Buffer<B, K>, W, Self>) -> Result<()> {
        lines_in_place(call, Lines::one(call.keys.len()), Call::run_rows)
    }
}

impl<B, K, W> SortInPlace<B, K, W> for Along
where
    B: Run<SortTask> + Run<LayoutTask> + Run<MapTask>,
    K: Element,
    W: TravelsInPlace<B, Value: Payload>,
{
    fn in_place(call: &SortCall<'_, B, &Buffer<B, K>, W, Self>) -> Result<()> {
        lines_in_place(call, lines_of(Some(call.domain.lines()?), call.keys.len())?, Call::run_lines)
    }
}

fn lines_in_place<'d, B: Run<SortTask> + Run<MapTask>, K: Element, W: TravelsInPlace<B, Value: Payload>, P>(
    call: &SortCall<'d, B, &Buffer<B, K>, W, P>,
    lines: Lines,
    enqueue: Enqueue<'d, B>,
) -> Result<()> {
    let (device, keys) = (call.device, call.keys);
    let compared = OrderedKeys::new(&call.keys, &call.by)?;
    let sort = Call::new(device, keys, compared.by.clone())?.in_place();
    let sort = match call.with.array() {
        Some(values) => sort.values(values)?.keys_to(keys)?.payload_to(values)?,
        None => sort.keys_to(keys)?,
    };
    let prepared = Cell::new(false);
    let enqueued = enqueue(sort, lines, &|| {
        compared.prepare_in_place(device)?;
        prepared.set(true);
        Ok(())
    });
    // Keys get their signs back, also where there was no memory to sort them.
    let restored = if prepared.get() { compared.restore(device, keys) } else { Ok(()) };
    enqueued.and(restored)
}
