//! The rungs: one launch over whole arrays.

use super::{ITEMS, LANES, MergeVariant, MergeVariantTask, SECTION, TILE};
use crate::backend::{Leaf, Out, Run};
use crate::error::{Error, Result};
use crate::launch::kernels::{MERGE_VARIANT, MergeVariantParams};
use crate::launch::{Array, Choice, KernelSpec, Launcher, Planned, Work};
use crate::patterns::MergeTask;

/// Bytes of keys and values.
const SIZE: u64 = 4;

impl MergeVariant {
    /// What the kernel's text depends on.
    #[must_use]
    pub fn choices(self, pairs: bool) -> [Choice; 6] {
        let [threads, items, tile, section] = [LANES, ITEMS, TILE, SECTION].map(|x| x as u32);
        [("rung", self as u32), ("pairs", pairs.into()), ("threads", threads), ("items", items), ("tile", tile), ("section", section)]
    }
}

impl<B: Launcher + Run<MergeTask>> Planned<B> for MergeVariantTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let (variant, task) = (self.variant, &self.merge);
        if variant == MergeVariant::MergePath {
            return device.run(task, leaves, outs);
        }
        let places = task.places(leaves, outs)?;
        let (requested, limit) = (task.total(), device.tuning().most(SIZE));
        if requested > limit {
            return Err(Error::TooLarge { what: "keys of a textbook's merge", requested, limit });
        }
        let side = |array, len| Array::of(array, SIZE, len);
        let [v, w] = places.values.map_or([Array::NONE; 2], |([v, w], _)| [side(v, task.m), side(w, task.n)]);
        let values_out = places.values.map_or(Array::NONE, |(_, out)| Array::out(out, requested));
        let [a, b] = [side(places.keys[0], task.m), side(places.keys[1], task.n)];
        let arrays = [a, b, v, w, Array::out(places.keys_out, requested), values_out];
        let map = task.key_bits();
        let params = MergeVariantParams { negative: map.negative, flip: map.flip, a_len: task.m as u32, b_len: task.n as u32 };
        let choices = variant.choices(task.pairs);
        device.launch(&KernelSpec::new(&MERGE_VARIANT, &params, &choices, &arrays), Work::whole(requested, &|n| variant.blocks(n)))
    }
}
