//! Launches of the variants: one to a level of tiles, or of halves.

use super::{LANES, ReduceVariant};
use crate::kernels::{REDUCE_VARIANT, ReduceVariantParams};
use isowarp_core::backend::{Leaf, Out};
use isowarp_core::call::Variant;
use isowarp_core::error::Result;
use isowarp_core::launch::{Array, Choice, Code, KernelSpec, Operators, Work};
use isowarp_core::patterns::{Patterns, ReduceTask};

const FROM_PARTIALS: u32 = 1;
const TO_RESULTS: u32 = 2;

/// The choices that the kernel's text depends on.
#[must_use]
pub fn choices(variant: ReduceVariant, task: &ReduceTask) -> [Choice; 3] {
    let words = task.load.result_words() as u32;
    [("rung", variant as u32), ("words", words), ("per_lane", variant.tile().map_or(1, |tile| (tile / LANES) as u32))]
}

/// The operators of a launch from and to accumulators, or elements and the result.
#[must_use]
pub fn operators(task: &ReduceTask, from_partials: bool, to_results: bool) -> Operators<'_> {
    let ReduceTask { load, combine, finish, lines, .. } = task;
    Operators::Tree { load, combine, finish, elements: lines.n, from_partials, to_results, first: None }
}

impl<B: Patterns> Variant<B, ReduceTask> for ReduceVariant {
    fn run(&self, device: &B, task: &ReduceTask, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        if *self == Self::AlignedTree {
            return device.run(task, leaves, outs);
        }
        if device.code() == Code::Rust {
            return super::host::run(*self, device, task, leaves, outs);
        }
        let choices = choices(*self, task);
        let tile = self.tile();
        let results = |n: u64| n.div_ceil(tile.unwrap_or(2));
        let groups = |n: u64| tile.map_or(n.div_ceil(2).div_ceil(LANES), |tile| n.div_ceil(tile));
        let bytes = device.accumulator_bytes(&task.load.result_types());
        let mut n = task.lines.n;
        // Partial results of the odd levels, and of the even ones.
        let first = results(n);
        let turns = if first > 1 { device.scratch(&[first * bytes, results(first) * bytes])? } else { Vec::new() };
        let piece = |k: usize| turns.get(k).map_or(Array::NONE, Array::piece);
        for level in 0.. {
            let (from, to) = (level > 0, results(n) > 1);
            let arrays = [if from { piece((level + 1) % 2) } else { Array::NONE }, if to { piece(level % 2) } else { Array::NONE }];
            let flags = if from { FROM_PARTIALS } else { 0 } | if to { TO_RESULTS } else { 0 };
            let spec = KernelSpec::new(&REDUCE_VARIANT, &ReduceVariantParams { flags, count: n }, &choices, &arrays);
            // The result is stored by itself, so that its word may have several owners.
            let spec = spec.with(operators(task, from, to), task.numerics, leaves, outs).writing_single(true);
            // Halves are far from each other.
            let work = Work { step: tile, results: Some(1), ..Work::whole(n, &groups) };
            device.launch(&spec, work)?;
            if !to {
                break;
            }
            n = results(n);
        }
        Ok(())
    }
}
