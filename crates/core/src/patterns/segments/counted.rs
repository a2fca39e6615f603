//! Patterns over as many elements as the device has counted.

use super::sort::{Parts, run_parts, sort_parts};
use super::sort_task::SegmentedSortTask;
use crate::backend::{Leaf, Out, Run};
use crate::buffer::{Buffer, DeviceScalar};
use crate::call::Counted;
use crate::element::DType;
use crate::error::Result;
use crate::input::{Elements, counting, scalar};
use crate::ir::select;
use crate::patterns::select::Count;
use crate::patterns::sort::{Call, SortCall, SortDomain, SortRun, Travels, fresh};
use crate::patterns::{GatherTask, IndexScalar, Map as _, MapTask, Prepare, Selected, check_aliasing};

/// The offsets of one segment of as many elements as are counted.
pub(in crate::patterns) fn bounds<B: Run<MapTask>, C: Count + IndexScalar>(device: &B, count: &DeviceScalar<B, C>) -> Result<Buffer<B, C>> {
    device.map((counting(2), count), |(i, count)| select(i.eq(0), C::from_bits64(0), count))
}

impl<B: Run<SegmentedSortTask> + Run<MapTask>, C: Count + IndexScalar> Parts<B> for Counted<'_, B, C> {
    fn check(&self, device: &B, _: u64, outs: &[(Out<B::Raw>, u64)]) -> Result<()> {
        self.0.buffer().check_device(device, "the count")?;
        check_aliasing("sort", &[self.0.buffer().leaf()], 1, outs, false)
    }

    fn enqueue(&self, sort: Call<'_, B>, prepare: Prepare<'_>) -> Result<()> {
        let count = self.0;
        run_parts(sort, (3, false, false), |device, n| {
            prepare()?;
            let most = scalar(C::from_bits64(n));
            let bounds = device.map((counting(2), count, most), |(i, count, n)| select(i.eq(0), 0, count.min(n).cast::<u32>()))?;
            Ok(Leaf::Array { raw: bounds.raw().clone(), dtype: DType::U32, offset: bounds.offset(), len: bounds.len() })
        })
    }
}

impl<B, I, W, C> SortDomain<B, I, W> for Counted<'_, B, C>
where
    B: Run<SegmentedSortTask> + Run<GatherTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B>,
    C: Count + IndexScalar,
{
    fn write(call: &SortCall<'_, B, I, W, Self>, out: W::Refs<'_, I::Element>) -> Result<()> {
        sort_parts(call, out)
    }
}

impl<B, I, W> SortRun<B, I, W> for Counted<'_, B, u32>
where
    B: Run<SegmentedSortTask> + Run<GatherTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B>,
{
    type New = Selected<B, W::New<I::Element>>;

    fn run(call: &SortCall<'_, B, I, W, Self>) -> Result<Self::New> {
        Ok(Selected { values: fresh(call, None)?, count: call.domain.0.clone() })
    }
}
