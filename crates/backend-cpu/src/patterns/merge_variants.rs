//! P08 merge, the rungs of the ladder: there is one stable merge, so one definition serves them all.

use crate::Cpu;
use crate::memory::HostBuffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::MergeVariantTask;

impl Run<MergeVariantTask> for Cpu {
    fn run(&self, task: &MergeVariantTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        self.run(&task.merge, leaves, outs)
    }
}
