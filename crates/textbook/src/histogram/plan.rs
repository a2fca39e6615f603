//! Launches of the variants: one, after one that clears the output.

use super::{COARSE, HistogramVariant, LANES, SHARED_BINS};
use crate::kernels::{HISTOGRAM_VARIANT, HistogramVariantParams};
use isowarp_core::backend::{Leaf, Out};
use isowarp_core::call::Variant;
use isowarp_core::error::{Error, Result};
use isowarp_core::launch::{Array, Choice, Code, KernelSpec, Operators, Work};
use isowarp_core::patterns::{HistogramTask, Patterns};

impl HistogramVariant {
    /// The choices that the kernel's text depends on.
    #[must_use]
    pub fn choices(self) -> [Choice; 4] {
        [("rung", self as u32), ("threads", LANES as u32), ("coarse", COARSE as u32), ("shared_bins", SHARED_BINS as u32)]
    }
}

impl<B: Patterns> Variant<B, HistogramTask> for HistogramVariant {
    fn run(&self, device: &B, task: &HistogramTask, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let variant = *self;
        variant.check(task.bins)?;
        // Counts have no order, so one definition serves all.
        if variant == Self::Replicated || device.code() == Code::Rust {
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
            Self::PrivateMemory => device.scratch(&[4 * bins * variant.blocks(task.n, bins)])?,
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
