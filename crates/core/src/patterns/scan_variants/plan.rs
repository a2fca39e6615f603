//! The textbooks' algorithms: up the levels with the tiles' totals, down again with what comes before each tile.

use super::{ScanVariant, ScanVariantTask};
use crate::backend::{Leaf, Out, Run};
use crate::error::Result;
use crate::launch::kernels::{SCAN_VARIANT, ScanVariantParams};
use crate::launch::{Array, Choice, KernelSpec, Launcher, Operators, Planned, Work};
use crate::patterns::{ScanKind, ScanTask};

const FROM_PARTIALS: u32 = 1;
const TOTALS: u32 = 2;
const FOLDED: u32 = 4;
const EXCLUSIVE: u32 = 8;

/// Which kernel of the algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// From the totals of a level below, or the task's elements.
    pub from_partials: bool,
    /// The tiles' totals only.
    pub totals: bool,
    /// With what comes before each tile.
    pub folded: bool,
}

impl Step {
    const fn to_results(self) -> bool {
        self.totals || self.from_partials
    }
}

impl ScanVariantTask {
    fn is_exclusive(&self, step: Step) -> bool {
        !step.to_results() && self.scan.kind != ScanKind::Inclusive
    }

    /// Whether prefixes go to the outputs four at a time.
    fn stores_vectors(&self) -> bool {
        self.variant == ScanVariant::Coarsened && self.scan.kind == ScanKind::Inclusive
    }

    /// What the kernel's text depends on.
    #[must_use]
    pub fn choices(&self, step: Step) -> [Choice; 7] {
        [
            ("rung", self.variant as u32),
            ("words", self.scan.load.result_words() as u32),
            ("tile", self.variant.tile() as u32),
            ("totals", step.totals.into()),
            ("folded", step.folded.into()),
            ("exclusive", self.is_exclusive(step).into()),
            ("vectors", (!step.to_results() && self.stores_vectors()).into()),
        ]
    }

    /// What a launch computes with.
    #[must_use]
    pub fn operators(&self, step: Step) -> Operators<'_> {
        let ScanTask { load, combine, finish, lines, kind, .. } = &self.scan;
        let first = match kind {
            ScanKind::Exclusive { first } if self.is_exclusive(step) => Some(&first[..]),
            _ => None,
        };
        let (from_partials, to_results) = (step.from_partials, step.to_results());
        Operators::Tree { load, combine, finish, elements: lines.n, from_partials, to_results, first }
    }
}

impl<B: Launcher + Run<ScanTask>> Planned<B> for ScanVariantTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        if self.variant == ScanVariant::SinglePass {
            return device.run(&self.scan, leaves, outs);
        }
        let lengths = self.variant.levels(self.scan.lines.n);
        let (top, tile) = (lengths.len() - 1, self.variant.tile());
        let each = device.accumulator_bytes(&self.scan.load.result_types());
        // Totals of every level above the first, and their prefixes.
        let bytes: Vec<u64> = [&lengths[1..], &lengths[1..]].concat().iter().map(|n| n * each).collect();
        let pieces = if bytes.is_empty() { Vec::new() } else { device.scratch(&bytes)? };
        let totals = |k: usize| k.checked_sub(1).map_or(Array::NONE, |k| Array::piece(&pieces[k]));
        let prefixes = |k: usize| if k > top { Array::NONE } else { Array::piece(&pieces[top + k - 1]) };
        let launch = |step: Step, n: u64, arrays: [Array<'_, B::Raw>; 3]| {
            let flag = |is: bool, bit: u32| if is { bit } else { 0 };
            let flags = flag(step.from_partials, FROM_PARTIALS)
                | flag(step.totals, TOTALS)
                | flag(step.folded, FOLDED)
                | flag(self.is_exclusive(step), EXCLUSIVE);
            let choices = self.choices(step);
            let spec = KernelSpec::new(&SCAN_VARIANT, &ScanVariantParams { flags, count: n }, &choices, &arrays);
            // Only whole vectors are stored by lanes that own their words.
            let spec = spec.with(self.operators(step), self.scan.numerics, leaves, outs).writing_single(!self.stores_vectors());
            // An exclusive scan stores an element further on, the last one of a window into the next.
            let overhang = self.is_exclusive(step).into();
            device.launch(&spec, Work { step: Some(tile), overhang, ..Work::whole(n, &|n| n.div_ceil(tile)) })
        };
        for (k, n) in lengths.iter().enumerate().skip(1) {
            let step = Step { from_partials: k > 1, totals: true, folded: false };
            launch(step, n * tile, [totals(k - 1), totals(k), Array::NONE])?;
        }
        for k in (1..=top).rev() {
            let step = Step { from_partials: true, totals: false, folded: k < top };
            launch(step, lengths[k], [totals(k), prefixes(k), prefixes(k + 1)])?;
        }
        let step = Step { from_partials: false, totals: false, folded: top > 0 };
        launch(step, lengths[0], [Array::NONE, Array::NONE, prefixes(1)])
    }
}
