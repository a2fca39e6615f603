//! P06 histogram, the rungs of the ladder: one dispatch to a window of the inputs and one of the output, after one that clears the output.

use super::Launch;
use super::operands::{Operands, Signature, Span};
use super::place::{Place, most};
use super::program::{Operators, Program};
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Backend as _, Leaf, Out, RawBuffer as _, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::histogram_variants::{COARSE, LANES, SHARED_BINS};
use isowarp_core::patterns::{HistogramTask, HistogramVariant, HistogramVariantTask};
use isowarp_shaders::kernels::HISTOGRAM_VARIANTS;

impl Run<HistogramVariantTask> for Wgpu {
    fn run(&self, task: &HistogramVariantTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let (variant, task) = (task.variant, &task.histogram);
        if variant == HistogramVariant::Replicated {
            return self.run(task, leaves, outs);
        }
        let [out] = outs else {
            return Err(Error::InvalidArgument { what: "histogram", reason: "it has one output".to_owned() });
        };
        if task.clears {
            task.clear(self, out)?;
        }
        let limits = self.window_limits();
        let operands = Operands::plan(limits, &task.func.params, leaves, &[], true, false, task.n)?;
        let place = Place { raw: &out.raw, offset: out.offset, size: 4 };
        let room = most(limits, 4).min(task.bins);
        let holes = holes(variant);
        let kernel = self.program("histogram", &program(task, &operands.signature, &holes))?;
        let step = operands.span(limits, task.n, 1024, false);
        let cells = match variant {
            HistogramVariant::PrivateMemory => Some(self.allocate_bytes(4 * room * variant.blocks(step.min(task.n), room))?),
            _ => None,
        };
        for at in (0..task.n).step_by(step as usize) {
            let span = Span::of(at, step.min(task.n - at));
            for first in (0..task.bins).step_by(room as usize) {
                let bins = room.min(task.bins - first);
                let groups = variant.blocks(span.len, room);
                let (w, binding) = place.bind(limits, first, bins)?;
                let mut launch = Launch::new(at, &[span.len, groups, first, bins, w.skip].map(|w| w as u32));
                operands.bind(limits, span, span, &mut launch.bindings, &mut launch.args)?;
                launch.bindings.push(binding);
                if let Some(cells) = &cells {
                    launch.bindings.push(Binding { buffer: cells, offset_bytes: 0, size_bytes: cells.size_bytes() });
                }
                self.launch(&kernel, &launch, groups)?;
            }
        }
        Ok(())
    }
}

pub(super) fn holes(variant: HistogramVariant) -> [(&'static str, u32); 8] {
    let is = |those: &[HistogramVariant]| u32::from(those.contains(&variant));
    [
        ("threads", LANES as u32),
        ("coarse", COARSE as u32),
        ("shared_bins", SHARED_BINS as u32),
        ("in_memory", is(&[HistogramVariant::PrivateMemory])),
        ("in_shared", variant.most_bins().is_some().into()),
        ("contiguous", is(&[HistogramVariant::CoarsenedContiguous])),
        ("interleaved", is(&[HistogramVariant::CoarsenedInterleaved, HistogramVariant::PrivateMemory])),
        ("aggregated", is(&[HistogramVariant::Aggregated])),
    ]
}

pub(super) fn program<'a>(task: &'a HistogramTask, signature: &'a Signature, holes: &'a [(&'static str, u32)]) -> Program<'a> {
    Program {
        template: HISTOGRAM_VARIANTS,
        entry: "histogram_variants",
        constants: holes,
        operators: Operators::Histogram { task },
        signature,
        numerics: task.numerics,
        first: false,
    }
}
