//! P02 reduce, the rungs of the ladder: a launch to a level of tiles, or of halves.

use super::Launch;
use super::accumulator::Accumulator;
use super::operands::{Limits, Operands, Signature, Span};
use super::program::{self, Program, Sink, Source};
use super::reduce::chunks;
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Backend as _, Leaf, Out, RawBuffer as _, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Func;
use isowarp_core::patterns::reduce_variants::LANES;
use isowarp_core::patterns::{ReduceVariant, ReduceVariantTask};
use isowarp_shaders::kernels::{REDUCE_FOLD, REDUCE_VARIANTS};

impl Run<ReduceVariantTask> for Wgpu {
    fn run(&self, task: &ReduceVariantTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        if task.variant == ReduceVariant::AlignedTree {
            return self.run(&task.reduce, leaves, outs);
        }
        let reduce = &task.reduce;
        let n = reduce.lines.n;
        // The result is stored by itself, so that its word may have several owners.
        let limits = self.window_limits();
        let plan = |outs| Operands::plan(limits, &reduce.load.params, leaves, outs, true, true, n);
        let ends = [plan(&[])?, plan(outs)?, Operands::plan(limits, &[], &[], outs, false, true, 1)?, Operands::none()];
        let stride = Accumulator::new(reduce.combine.result_types()).stride();
        let ladder = Ladder { wgpu: self, task, limits, stride, ends };
        match task.variant.tile() {
            None => ladder.fold_in_half(n),
            Some(tile) => ladder.tiles(n, tile),
        }
    }
}

/// A reduction and what its launches share.
struct Ladder<'a> {
    wgpu: &'a Wgpu,
    task: &'a ReduceVariantTask,
    limits: Limits,
    /// Bytes of an accumulator.
    stride: u64,
    /// The operands of a launch that is the first, the first and the last, the last, neither.
    ends: [Operands<'a>; 4],
}

impl<'a> Ladder<'a> {
    /// The operands of a launch: elements where there are no partials, outputs where there are no results.
    fn operands(&self, partials: Option<&Buffer>, results: Option<&Buffer>) -> &Operands<'a> {
        &self.ends[match (partials, results) {
            (None, Some(_)) => 0,
            (None, None) => 1,
            (Some(_), None) => 2,
            (Some(_), Some(_)) => 3,
        }]
    }

    fn launch(&self, from: Option<&Buffer>, to: Option<&Buffer>, inputs: Span, words: &[u64], groups: u64) -> Result<()> {
        let operands = self.operands(from, to);
        let holes = holes(self.task.variant);
        let kernel = self.wgpu.program("reduce", &program(self.task, from.is_some(), to.is_some(), &operands.signature, &holes))?;
        let words: Vec<u32> = words.iter().map(|&w| w as u32).collect();
        let mut launch = Launch::new(inputs.first, &words);
        operands.bind(self.limits, inputs, Span::of(0, 1), &mut launch.bindings, &mut launch.args)?;
        for buffer in [from, to].into_iter().flatten() {
            launch.bindings.push(Binding { buffer, offset_bytes: 0, size_bytes: buffer.size_bytes() });
        }
        self.wgpu.launch(&kernel, &launch, groups)
    }

    /// Room for the results of a launch, where it is not the last.
    fn results(&self, count: u64) -> Result<Option<Buffer>> {
        if count == 1 {
            return Ok(None);
        }
        let (requested, limit) = (count * self.stride, self.wgpu.caps().max_binding_bytes);
        if requested > limit {
            return Err(Error::TooLarge { what: "bytes of a reduction's partial results", requested, limit });
        }
        self.wgpu.allocate_bytes(requested).map(Some)
    }

    fn tiles(&self, mut n: u64, tile: u64) -> Result<()> {
        let mut results = self.results(n.div_ceil(tile))?;
        let step = self.operands(None, results.as_ref()).span(self.limits, n, tile, true);
        chunks(n, step, |at, count| {
            let blocks = count.div_ceil(tile);
            self.launch(None, results.as_ref(), Span::of(at, count), &[count, blocks, at / tile], blocks)
        })?;
        while let Some(partials) = results {
            n = n.div_ceil(tile);
            let blocks = n.div_ceil(tile);
            results = self.results(blocks)?;
            self.launch(Some(&partials), results.as_ref(), Span::of(0, 0), &[n, blocks, 0], blocks)?;
        }
        Ok(())
    }

    fn fold_in_half(&self, mut n: u64) -> Result<()> {
        let mut results = self.results(n.div_ceil(2))?;
        let operands = self.operands(None, results.as_ref());
        let step = operands.span(self.limits, n, 1, true);
        if step < n {
            // An element and its partner half the array away would lie in two windows.
            let size = operands.widest();
            return Err(Error::TooLarge { what: "bytes of an array that is folded in half", requested: n * size, limit: step * size });
        }
        let fold = |n: u64, from: Option<&Buffer>, to: Option<&Buffer>, inputs| {
            let half = n.div_ceil(2);
            self.launch(from, to, inputs, &[n, half], half.div_ceil(LANES))
        };
        fold(n, None, results.as_ref(), Span::of(0, n))?;
        while let Some(partials) = results {
            n = n.div_ceil(2);
            results = self.results(n.div_ceil(2))?;
            fold(n, Some(&partials), results.as_ref(), Span::of(0, 0))?;
        }
        Ok(())
    }
}

/// The template's holes.
pub(super) fn holes(variant: ReduceVariant) -> [(&'static str, u32); 7] {
    let is = |those: &[ReduceVariant]| u32::from(those.contains(&variant));
    use ReduceVariant::{Coarsened, Convergent, FirstCombine, FoldInHalf, Interleaved, Sequential, Unrolled, Vectorised};
    [
        ("per_lane", variant.tile().map_or(1, |t| (t / LANES) as u32)),
        ("fold", is(&[FoldInHalf])),
        ("vectors", is(&[Vectorised])),
        ("interleaved", is(&[Interleaved])),
        ("convergent", is(&[Convergent])),
        ("sequential", is(&[Sequential, FirstCombine, Coarsened])),
        ("unrolled", is(&[Unrolled])),
    ]
}

/// A launch that reads partial results or the task's elements, and writes partial results or the task's outputs.
pub(super) fn program<'a>(
    task: &'a ReduceVariantTask,
    from_partials: bool,
    to_results: bool,
    signature: &'a Signature,
    holes: &'a [(&'static str, u32)],
) -> Program<'a> {
    let (load, finish): (&Func, &Func) = (&task.reduce.load, &task.reduce.finish);
    let source = if from_partials { Source::Partials } else { Source::Leaves(load) };
    let sink = if to_results { Sink::Results } else { Sink::Outs(finish) };
    let fold = task.variant == ReduceVariant::FoldInHalf;
    Program {
        template: if fold { REDUCE_FOLD } else { REDUCE_VARIANTS },
        entry: if fold { "reduce_fold" } else { "reduce_variant" },
        constants: holes,
        operators: program::Operators::Tree { source, combine: &task.reduce.combine, sink },
        signature,
        numerics: task.reduce.numerics,
        first: false,
    }
}
