//! The rungs: a launch to a level of tiles, or of halves.

use super::{LANES, ReduceVariant, ReduceVariantTask};
use crate::backend::{Leaf, Out, Run};
use crate::error::Result;
use crate::launch::kernels::{REDUCE_VARIANT, ReduceVariantParams};
use crate::launch::{Array, Choice, KernelSpec, Launcher, Operators, Planned, Work};
use crate::patterns::ReduceTask;

const FROM_PARTIALS: u32 = 1;
const TO_RESULTS: u32 = 2;

impl ReduceVariantTask {
    /// What the kernel's text depends on.
    #[must_use]
    pub fn choices(&self) -> [Choice; 3] {
        let words = self.reduce.load.result_words() as u32;
        [("rung", self.variant as u32), ("words", words), ("per_lane", self.variant.tile().map_or(1, |tile| (tile / LANES) as u32))]
    }

    /// What a launch computes with.
    #[must_use]
    pub fn operators(&self, from_partials: bool, to_results: bool) -> Operators<'_> {
        let ReduceTask { load, combine, finish, lines, .. } = &self.reduce;
        Operators::Tree { load, combine, finish, elements: lines.n, from_partials, to_results, first: None }
    }
}

impl<B: Launcher + Run<ReduceTask>> Planned<B> for ReduceVariantTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        if self.variant == ReduceVariant::AlignedTree {
            return device.run(&self.reduce, leaves, outs);
        }
        let choices = self.choices();
        let tile = self.variant.tile();
        let results = |n: u64| n.div_ceil(tile.unwrap_or(2));
        let groups = |n: u64| tile.map_or(n.div_ceil(2).div_ceil(LANES), |tile| n.div_ceil(tile));
        let bytes = device.accumulator_bytes(&self.reduce.load.result_types());
        let mut n = self.reduce.lines.n;
        // What the odd levels leave, and what the even ones do.
        let first = results(n);
        let turns = if first > 1 { device.scratch(&[first * bytes, results(first) * bytes])? } else { Vec::new() };
        let piece = |k: usize| turns.get(k).map_or(Array::NONE, Array::piece);
        for level in 0.. {
            let (from, to) = (level > 0, results(n) > 1);
            let arrays = [if from { piece((level + 1) % 2) } else { Array::NONE }, if to { piece(level % 2) } else { Array::NONE }];
            let flags = if from { FROM_PARTIALS } else { 0 } | if to { TO_RESULTS } else { 0 };
            let spec = KernelSpec::new(&REDUCE_VARIANT, &ReduceVariantParams { flags, count: n }, &choices, &arrays);
            // The result is stored by itself, so that its word may have several owners.
            let spec = spec.with(self.operators(from, to), self.reduce.numerics, leaves, outs).writing_single(true);
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
