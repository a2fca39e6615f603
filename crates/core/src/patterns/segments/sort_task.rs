//! Sorts of segments as data.

use crate::backend::{Leaf, Out, Run};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::dynamic::with_dtype;
use crate::element::DType;
use crate::error::{Error, Result};
use crate::input::{Source as _, index, scalar};
use crate::ir::select;
use crate::ops::{Max, Sum};
use crate::patterns::moves::gather;
use crate::patterns::scan::flags;
use crate::patterns::select::Count;
use crate::patterns::{
    GatherTask, IndexScalar, Map as _, MapTask, Ordered as _, Scan as _, ScanTask, ScatterTask, Sort as _, SortPayload, SortPlaces,
    SortTask,
};

/// Stable sorts of parts of an array as data. The leaves are those of [`SegmentedSortTask::sort`], then the bounds, one less than there are parts: an array of
/// `u32` which never falls nor is above the number of keys, or [offsets](SegmentedSortTask::given) that stand for one. Part `p` is the keys from bound `p - 1`
/// to bound `p`; the first part begins with the first key, the last one ends with the last. These two are in no segment, and are not sorted. Indices count
/// from the array's start. Nothing is lent, no output is an input, and what travels has at most 4 bytes.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct SegmentedSortTask {
    /// Sort of the keys, and of what travels; one row of all keys.
    pub sort: SortTask,
    /// Parts, of which two are in no segment.
    pub parts: u64,
    /// Whether the bounds are offsets as they were given, of `u32` or `u64`: bound `k` is the largest of offsets 0 to `k`, or the number of keys where that
    /// is less. [`SegmentedSortTask::bounds`] makes the ones of the others.
    pub given: bool,
    /// Whether these two are written as they are. Else what lies there in the outputs is undefined, and costs no work.
    pub keeps_rest: bool,
}

/// Operands of a task, by what they are.
#[derive(Clone, Copy, Debug)]
pub struct SegmentedSortPlaces<'a, R> {
    /// Operands of the sort.
    pub sort: SortPlaces<'a, R>,
    /// The bounds: where they lie, the first of them, and their type.
    pub bounds: (&'a R, u64, DType),
}

impl SegmentedSortTask {
    /// The operands by what they are.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where they are not those of this task.
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Result<SegmentedSortPlaces<'a, R>> {
        match leaves {
            [sort @ .., Leaf::Array { raw, offset, dtype, .. }] => {
                Ok(SegmentedSortPlaces { sort: self.sort.places(sort, outs)?, bounds: (raw, *offset, *dtype) })
            }
            _ => Err(Error::InvalidArgument { what: "segmented sort", reason: "its operands do not fit".to_owned() }),
        }
    }

    /// The bounds as `u32` that never fall nor are above the number of keys, whatever was given.
    ///
    /// # Errors
    /// Those of a scan.
    pub fn bounds<B: Run<ScanTask>>(&self, device: &B, places: &SegmentedSortPlaces<'_, B::Raw>) -> Result<Buffer<B, u32>> {
        let ((raw, offset, dtype), n, len) = (places.bounds, self.sort.n, self.parts - 1);
        match (self.given, dtype) {
            (false, _) => Buffer::from_raw(device, raw.clone(), offset, len),
            (true, DType::U64) => rising(device, n, &Buffer::<B, u64>::from_raw(device, raw.clone(), offset, len)?),
            (true, _) => rising(device, n, &Buffer::<B, u32>::from_raw(device, raw.clone(), offset, len)?),
        }
    }

    /// Sorts by key, then by the number of the part, and fetches what lies there: for backends, and numbers of parts, for which nothing else is there.
    ///
    /// # Errors
    /// Those of the sorts.
    pub fn in_steps<B>(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()>
    where
        B: Run<SortTask> + Run<ScanTask> + Run<ScatterTask> + Run<GatherTask> + Run<MapTask>,
    {
        let places = self.places(leaves, outs)?;
        let n = self.sort.n;
        let bounds = self.bounds(device, &places)?;
        let by_key = device.buffer::<u32>(n)?;
        let indices = SortTask { payload: SortPayload::Indices, keys_out: false, ..self.sort.clone() };
        device.run(&indices, &leaves[..1], &[by_key.out()])?;
        let (numbers, of_key) = (device.scan(&flags(device, n, &bounds)?, Sum).run()?, device.buffer(n)?);
        gather(device, &numbers, &by_key, &of_key, false)?;
        let bits = u64::BITS - self.parts.min(n).leading_zeros();
        let (_, order) = device.sort(&of_key).with_values(&by_key).bits(0..bits.min(32)).run()?;
        // Keys of the first part and of the last were sorted, too.
        let bound = |k: u64| DeviceScalar::from_buffer(bounds.slice(k..=k)?);
        let ends = (bound(0)?, bound(self.parts - 2)?);
        let order = device.map((&order, index(), &ends.0, &ends.1), |(at, i, first, end)| select(i.ge(first) & i.lt(end), at, i))?;
        let fetch = |(raw, offset): (&B::Raw, u64), dtype: DType, out: &Out<B::Raw>| {
            with_dtype!(dtype, T => {
                let of = |raw: &B::Raw, offset| Buffer::<B, T>::from_raw(device, raw.clone(), offset, n);
                gather(device, &of(raw, offset)?, &order, &of(&out.raw, out.offset)?, false)
            })
        };
        if let Some(out) = places.sort.keys_out {
            fetch(places.sort.keys, self.sort.dtype, out)?;
        }
        match (places.sort.payload_out, places.sort.values) {
            (Some(out), Some(values)) => fetch(values, DType::U32, out),
            (Some(out), None) => device.map_into(&order, |at| at, &Buffer::from_raw(device, out.raw.clone(), out.offset, n)?),
            (None, _) => Ok(()),
        }
    }
}

/// Bounds that never fall nor are above `n`, of any offsets.
fn rising<B: Run<ScanTask>, O: Count + IndexScalar>(device: &B, n: u64, offsets: &Buffer<B, O>) -> Result<Buffer<B, u32>> {
    device.scan((offsets, scalar(n as u32)).map(|(offset, n)| offset.min(n.cast::<O>()).cast::<u32>()), Max).run()
}
