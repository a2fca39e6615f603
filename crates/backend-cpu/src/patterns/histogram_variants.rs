//! P06 histogram, the rungs of the ladder: counts have no order, so one definition serves them all.

use crate::Cpu;
use crate::memory::HostBuffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::HistogramVariantTask;

impl Run<HistogramVariantTask> for Cpu {
    fn run(&self, task: &HistogramVariantTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        self.run(&task.histogram, leaves, outs)
    }
}
