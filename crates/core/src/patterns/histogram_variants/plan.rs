//! The rungs: one launch, after one that clears the output.

use super::{COARSE, HistogramVariant, HistogramVariantTask, LANES, SHARED_BINS};
use crate::backend::{Leaf, Out, Run};
use crate::error::{Error, Result};
use crate::launch::kernels::{HISTOGRAM_VARIANT, HistogramVariantParams};
use crate::launch::{Array, Choice, KernelSpec, Launcher, Operators, Planned, Work};
use crate::patterns::{HistogramTask, MapTask};

impl HistogramVariant {
    /// What the kernel's text depends on.
    #[must_use]
    pub fn choices(self) -> [Choice; 4] {
        [("rung", self as u32), ("threads", LANES as u32), ("coarse", COARSE as u32), ("shared_bins", SHARED_BINS as u32)]
    }
}

impl<B: Launcher + Run<HistogramTask> + Run<MapTask>> Planned<B> for HistogramVariantTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let (variant, task) = (self.variant, &self.histogram);
        if variant == HistogramVariant::Replicated {
            return device.run(task, leaves, outs);
        }
        let [out] = outs else {
            return Err(Error::InvalidArgument { what: "histogram", reason: "it has one output".to_owned() });
        };
        if task.clears {
            task.clear(device, out)?;
        }
        // Bins that a launch sees.
        let bins = device.tuning().most(4).min(task.bins);
        let cells = match variant {
            HistogramVariant::PrivateMemory => device.scratch(&[4 * bins * variant.blocks(task.n, bins)])?,
            _ => Vec::new(),
        };
        let arrays = [Array::out(out, task.bins), cells.first().map_or(Array::NONE, Array::piece)];
        let (params, choices) = (HistogramVariantParams { bins: task.bins as u32 }, variant.choices());
        let spec = KernelSpec::new(&HISTOGRAM_VARIANT, &params, &choices, &arrays);
        let shared_bytes = if variant.most_bins().is_some() { 4 * task.bins } else { 0 };
        let groups = |n| variant.blocks(n, bins);
        let work = Work { step: Some(1024), shared_bytes, ..Work::whole(task.n, &groups) };
        device.launch(&spec.with(Operators::Words(&task.func), task.numerics, leaves, &[]), work)
    }
}
