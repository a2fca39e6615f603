//! The textbooks' algorithms: up the levels with the tiles' totals, down again with what comes before each tile.

use super::ScanVariant;
use crate::kernels::{SCAN_VARIANT, ScanVariantParams};
use isowarp_core::backend::{Leaf, Out};
use isowarp_core::call::Variant;
use isowarp_core::error::Result;
use isowarp_core::launch::{Array, Choice, Code, KernelSpec, Operators, Work};
use isowarp_core::patterns::{Patterns, ScanKind, ScanTask};

const FROM_PARTIALS: u32 = 1;
const TOTALS: u32 = 2;
const FOLDED: u32 = 4;
const EXCLUSIVE: u32 = 8;

/// Step of the algorithm, a kernel each.
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

    /// Whether a launch of a task gives exclusive prefixes.
    fn is_exclusive(self, task: &ScanTask) -> bool {
        !self.to_results() && task.kind != ScanKind::Inclusive
    }

    /// The choices that the kernel's text depends on.
    #[must_use]
    pub fn choices(self, variant: ScanVariant, task: &ScanTask) -> [Choice; 7] {
        [
            ("rung", variant as u32),
            ("words", task.load.result_words() as u32),
            ("tile", variant.tile() as u32),
            ("totals", self.totals.into()),
            ("folded", self.folded.into()),
            ("exclusive", self.is_exclusive(task).into()),
            ("vectors", (!self.to_results() && stores_vectors(variant, task)).into()),
        ]
    }

    /// The operators of a launch.
    #[must_use]
    pub fn operators(self, task: &ScanTask) -> Operators<'_> {
        let ScanTask { load, combine, finish, lines, kind, .. } = task;
        let first = match kind {
            ScanKind::Exclusive { first } if self.is_exclusive(task) => Some(&first[..]),
            _ => None,
        };
        let (from_partials, to_results) = (self.from_partials, self.to_results());
        Operators::Tree { load, combine, finish, elements: lines.n, from_partials, to_results, first }
    }
}

/// Whether prefixes go to the outputs four at a time.
fn stores_vectors(variant: ScanVariant, task: &ScanTask) -> bool {
    variant == ScanVariant::Coarsened && task.kind == ScanKind::Inclusive
}

impl<B: Patterns> Variant<B, ScanTask> for ScanVariant {
    fn run(&self, device: &B, task: &ScanTask, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let variant = *self;
        if variant == Self::SinglePass {
            return device.run(task, leaves, outs);
        }
        if device.code() == Code::Rust {
            return super::host::run(variant, device, task, leaves, outs);
        }
        let lengths = variant.levels(task.lines.n);
        let (top, tile) = (lengths.len() - 1, variant.tile());
        let each = device.accumulator_bytes(&task.load.result_types());
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
                | flag(step.is_exclusive(task), EXCLUSIVE);
            let choices = step.choices(variant, task);
            let spec = KernelSpec::new(&SCAN_VARIANT, &ScanVariantParams { flags, count: n }, &choices, &arrays);
            // Only whole vectors are stored by lanes that own their words.
            let spec = spec.with(step.operators(task), task.numerics, leaves, outs).writing_single(!stores_vectors(variant, task));
            // An exclusive scan stores an element further on, the last one of a window into the next.
            let overhang = step.is_exclusive(task).into();
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
