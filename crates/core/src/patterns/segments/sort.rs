//! Segments sorted, each by itself.

use super::call::check_offsets as check_bounds;
use super::sort_task::SegmentedSortTask;
use crate::backend::{Backend, Leaf, Out, Run, both_of};
use crate::buffer::{Buffer, Memory as _};
use crate::call::{Checked, Offsets};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::Elements;
use crate::patterns::moves::gather;
use crate::patterns::select::Count;
use crate::patterns::sort::{Call, InMemory, OrderedKeys, SortCall, SortDomain, SortRun, Travels, fresh};
use crate::patterns::{GatherTask, IndexScalar, MapTask, Prepare, ReduceTask, ScanTask, SortBy, check_aliasing};

/// Parts of the keys of a sort.
pub(super) trait Parts<B: Backend> {
    /// Checks where they are, for so many keys and these results.
    fn check(&self, device: &B, n: u64, outs: &[(Out<B::Raw>, u64)]) -> Result<()>;

    /// Enqueues the sort, after `prepare`, which is called once all is checked.
    fn enqueue(&self, sort: Call<'_, B>, prepare: Prepare<'_>) -> Result<()>;
}

impl<B: Run<SegmentedSortTask>, O: Count + IndexScalar> Parts<B> for Offsets<'_, B, O> {
    fn check(&self, device: &B, _: u64, outs: &[(Out<B::Raw>, u64)]) -> Result<()> {
        check_offsets(device, self.0, outs)
    }

    fn enqueue(&self, sort: Call<'_, B>, prepare: Prepare<'_>) -> Result<()> {
        let offsets = self.0;
        let bounds = Leaf::Array { raw: offsets.raw().clone(), dtype: O::DTYPE, offset: offsets.offset(), len: offsets.len() };
        run_parts(sort, (offsets.len() + 1, true, true), |_, _| prepare().map(|()| bounds))
    }
}

impl<B: Run<SegmentedSortTask> + Run<ReduceTask> + Run<MapTask>, O: Count + IndexScalar> Parts<B> for Checked<Offsets<'_, B, O>> {
    fn check(&self, device: &B, n: u64, outs: &[(Out<B::Raw>, u64)]) -> Result<()> {
        self.0.check(device, n, outs)
    }

    fn enqueue(&self, sort: Call<'_, B>, prepare: Prepare<'_>) -> Result<()> {
        let (device, n) = (sort.device(), sort.elements());
        let check = || check_bounds(device, "segments", self.0.0, n);
        if n == 0 {
            check()?;
        }
        self.0.enqueue(sort, &|| check().and_then(|()| prepare()))
    }
}

/// Checks a sort of parts, and enqueues it.
pub(super) fn sort_parts<B, I, W, P>(call: &SortCall<'_, B, I, W, P>, out: W::Refs<'_, I::Element>) -> Result<()>
where
    B: Run<SegmentedSortTask> + Run<GatherTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B>,
    P: Parts<B>,
{
    let (device, parts) = (call.device, &call.domain);
    let compared = OrderedKeys::new(&call.keys, &call.by)?;
    let by = compared.by.clone();
    let (keys_out, payload_out) = W::split(out);
    let of = call.with.of(None);
    let of = InMemory::new(device, &compared, of.as_ref().filter(|_| !W::INDICES), None)?;
    let (keys, values, n) = (of.keys.clone(), of.values.clone(), of.keys.len());
    let outs = both_of(keys_out.map(Buffer::out), payload_out.map(Buffer::out), n);
    check_aliasing("segmented sort", of.leaves(), n, &outs, false)?;
    if let Some(out) = keys_out {
        check_output(device, &keys, out)?;
    }
    let prepare = || of.store(device);
    let restore = || keys_out.map_or(Ok(()), |out| compared.restore(device, &out.slice(..n)?));
    parts.check(device, n, &outs)?;
    if let (Some(values), Some(keys_out), Some(out)) = (values, keys_out, payload_out) {
        pairs(device, (&keys, &values), by, (keys_out, out), |sort| parts.enqueue(sort, &prepare))?;
        return restore();
    }
    let mut sort = Call::new(device, &keys, by)?;
    if W::INDICES {
        sort = sort.indices();
    }
    if let Some(out) = keys_out {
        sort = sort.keys_to(out)?;
    }
    if let Some(out) = payload_out {
        sort = sort.payload_to(out)?;
    }
    parts.enqueue(sort, &prepare)?;
    restore()
}

macro_rules! parts {
    ($parts:ty $(, $more:path)?) => {
        impl<B, I, W, O> SortDomain<B, I, W> for $parts
        where
            B: Run<SegmentedSortTask> + Run<ScanTask> + Run<GatherTask> + Run<MapTask> $(+ $more)?,
            I: Elements<B>,
            W: Travels<B>,
            O: Count + IndexScalar,
        {
            fn write(call: &SortCall<'_, B, I, W, Self>, out: W::Refs<'_, I::Element>) -> Result<()> {
                sort_parts(call, out)
            }
        }

        impl<B: Backend, I: Elements<B>, W: Travels<B>, O> SortRun<B, I, W> for $parts
        where
            Self: SortDomain<B, I, W>,
        {
            type New = W::New<I::Element>;

            fn run(call: &SortCall<'_, B, I, W, Self>) -> Result<Self::New> {
                fresh(call, None)
            }
        }
    };
}
parts!(Offsets<'_, B, O>);
parts!(Checked<Offsets<'_, B, O>>, Run<ReduceTask>);

/// Sorts parts of the keys of a sort, with their bounds; `given` and `keeps_rest` are [the task's](SegmentedSortTask).
pub(super) fn run_parts<B: Run<SegmentedSortTask>>(
    call: Call<'_, B>,
    (parts, given, keeps_rest): (u64, bool, bool),
    bounds: impl FnOnce(&B, u64) -> Result<Leaf<B::Raw>>,
) -> Result<()> {
    let n = call.elements();
    call.checked(n, |device, sort, leaves, outs| {
        let leaves = [leaves, &[bounds(device, n)?]].concat();
        device.run(&SegmentedSortTask { sort, parts, given, keeps_rest }, &leaves, outs)
    })
}

/// Sorts keys by `run`, and values with them: four bytes travel, others are fetched by indices.
fn pairs<B: Run<GatherTask>, K: Element, V: Element>(
    device: &B,
    (keys, values): (&Buffer<B, K>, &Buffer<B, V>),
    by: SortBy,
    out: (&Buffer<B, K>, &Buffer<B, V>),
    run: impl FnOnce(Call<'_, B>) -> Result<()>,
) -> Result<()> {
    let n = keys.len();
    if values.len() != n {
        return Err(Error::LengthMismatch { what: "values", expected: n, found: values.len() });
    }
    check_output(device, keys, out.0)?;
    check_output(device, values, out.1)?;
    let outs = [(out.0.out(), n), (out.1.out(), n)];
    check_aliasing("segmented sort", &[keys.leaf(), values.leaf()], n, &outs, false)?;
    let call = Call::new(device, keys, by)?.keys_to(out.0)?;
    if V::DTYPE.size_bytes() == 4 {
        // As words, which nothing converts.
        let words = |b: &Buffer<B, V>| Buffer::<B, u32>::from_raw(device, b.raw().clone(), b.offset(), b.len());
        return run(call.values(&words(values)?)?.payload_to(&words(out.1)?)?);
    }
    let order = device.buffer::<u32>(n)?;
    run(call.indices().payload_to(&order)?)?;
    gather(device, values, &order, &out.1.slice(..n)?, false)
}

/// At least one offset, not too many, on the right device, and not where something is written.
fn check_offsets<B: Backend, O: Count>(device: &B, offsets: &Buffer<B, O>, outs: &[(Out<B::Raw>, u64)]) -> Result<()> {
    offsets.check_device(device, "the offsets")?;
    if offsets.is_empty() {
        return Err(Error::InvalidArgument { what: "offsets", reason: "there are none; one more than segments are needed".to_owned() });
    }
    if offsets.len() > MOST_OFFSETS {
        return Err(Error::TooLarge { what: "offsets of a segmented sort", requested: offsets.len(), limit: MOST_OFFSETS });
    }
    check_aliasing("segmented sort", &[offsets.leaf()], offsets.len(), outs, false)
}

/// Bounds of all parts are counted by a `u32`.
const MOST_OFFSETS: u64 = u32::MAX as u64 - 2;

/// Room, and the right device, before anything is enqueued.
fn check_output<B: Backend, T: Element>(device: &B, x: &Buffer<B, T>, out: &Buffer<B, T>) -> Result<()> {
    out.check_device(device, "the output")?;
    x.check_device(device, "an input")?;
    let (required, available) = (x.len(), out.len());
    if available < required {
        return Err(Error::BufferTooSmall { what: "the output", required, available });
    }
    check_aliasing("segmented sort", &[x.leaf()], required, &[(out.out(), required)], false)
}
