//! Launches of the variants: one over whole arrays.

use super::{ITEMS, LANES, MergeVariant, SECTION, TILE};
use crate::kernels::{MERGE_VARIANT, MergeVariantParams};
use isowarp_core::backend::{Leaf, Out};
use isowarp_core::call::Variant;
use isowarp_core::error::{Error, Result};
use isowarp_core::launch::{Array, Choice, Code, KernelSpec, Work};
use isowarp_core::patterns::{MergeTask, Patterns};

/// Bytes of keys and values.
const SIZE: u64 = 4;

impl MergeVariant {
    /// The choices that the kernel's text depends on.
    #[must_use]
    pub fn choices(self, pairs: bool) -> [Choice; 6] {
        let [threads, items, tile, section] = [LANES, ITEMS, TILE, SECTION].map(|x| x as u32);
        [("rung", self as u32), ("pairs", pairs.into()), ("threads", threads), ("items", items), ("tile", tile), ("section", section)]
    }
}

/// Fails for keys or values of another size.
fn check(task: &MergeTask, outs: &[Out<impl Sized>]) -> Result<()> {
    let invalid = |what, reason| Err(Error::InvalidArgument { what, reason });
    match outs {
        _ if task.dtype.size_bytes() != SIZE => invalid("keys", format!("a textbook's merge takes u32, i32 and f32, not {}", task.dtype)),
        [_, values] if values.dtype.size_bytes() != SIZE => {
            invalid("values", format!("a textbook's merge takes four bytes, not {}", values.dtype))
        }
        _ => Ok(()),
    }
}

impl<B: Patterns> Variant<B, MergeTask> for MergeVariant {
    fn run(&self, device: &B, task: &MergeTask, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let variant = *self;
        check(task, outs)?;
        // There is one stable merge, so one definition serves all.
        if variant == Self::MergePath || device.code() == Code::Rust {
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
