//! P08 merge, the rungs of the ladder: one dispatch.

use super::Launch;
use super::layout::program as calls;
use super::merge::{masks, place, result};
use super::operands::Signature;
use super::place::most;
use super::program::Program;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::merge_variants::{ITEMS, LANES, SECTION, TILE};
use isowarp_core::patterns::{MergeVariant, MergeVariantTask};
use isowarp_shaders::kernels::MERGE_VARIANTS;

/// Bytes of keys and values.
const SIZE: u64 = 4;
/// Parameters, by their places behind the first element's index: three numbers, two masks, then what is skipped of each binding.
const WORDS: usize = 11;
const SKIPS: usize = 5;
const SKIP_KEYS_OUT: usize = 9;

impl Run<MergeVariantTask> for Wgpu {
    fn run(&self, task: &MergeVariantTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let (variant, task) = (task.variant, &task.merge);
        if variant == MergeVariant::MergePath {
            return self.run(task, leaves, outs);
        }
        let places = task.places(leaves, outs)?;
        let limits = self.window_limits();
        // Kernels bind whole arrays.
        let (requested, limit) = (task.total(), most(limits, SIZE));
        if requested > limit {
            return Err(Error::TooLarge { what: "keys of a textbook's merge", requested, limit });
        }
        let blocks = variant.blocks(task.total());
        let [negative, _, flip, _] = masks(task.key_bits());
        let mut words = [0; WORDS];
        words[..SKIPS].copy_from_slice(&[task.m as u32, task.n as u32, blocks as u32, negative, flip]);
        let mut launch = Launch::new(0, &[]);
        let sides = places.keys.into_iter().chain(places.values.iter().flat_map(|(values, _)| *values));
        let read = sides.zip([task.m, task.n].into_iter().cycle()).zip(SKIPS..).map(|((array, len), skip)| (place(array, SIZE), len, skip));
        let outs = [Some(places.keys_out), places.values.map(|(_, out)| out)].into_iter().flatten();
        let written = outs.zip(SKIP_KEYS_OUT..).map(|(out, skip)| (result(out), task.total(), skip));
        for (place, len, skip) in read.chain(written) {
            let (window, binding) = place.bind(limits, 0, len)?;
            words[skip] = window.skip as u32;
            launch.bindings.push(binding);
        }
        words.iter().for_each(|&w| launch.args.push(w));
        let (signature, holes) = (Signature::default(), holes(variant, task.pairs));
        let kernel = self.program("merge", &program(variant, &holes, &signature))?;
        self.launch(&kernel, &launch, blocks)
    }
}

pub(super) fn holes(variant: MergeVariant, pairs: bool) -> [(&'static str, u32); 7] {
    [
        ("threads", LANES as u32),
        ("items", ITEMS as u32),
        ("tile", TILE as u32),
        ("section", SECTION as u32),
        ("basic", u32::from(variant == MergeVariant::Basic)),
        ("circular", u32::from(variant == MergeVariant::CircularBuffer)),
        ("pairs", u32::from(pairs)),
    ]
}

pub(super) fn program<'a>(variant: MergeVariant, holes: &'a [(&'static str, u32)], signature: &'a Signature) -> Program<'a> {
    let entry = match variant {
        MergeVariant::Basic => "merge_basic",
        MergeVariant::Tiled => "merge_tiled",
        _ => "merge_circular",
    };
    calls(MERGE_VARIANTS, entry, holes, signature)
}
