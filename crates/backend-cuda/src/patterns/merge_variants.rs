//! P08 merge, the rungs of the ladder: one launch.

use super::blocks;
use super::merge::order;
use crate::backend::Cuda;
use crate::launch::Grid;
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::merge_variants::LANES;
use isowarp_core::patterns::{MergeVariant, MergeVariantTask};
use isowarp_kernels::merge_variants::*;

/// Bytes of keys and values.
const SIZE: u64 = 4;

impl Run<MergeVariantTask> for Cuda {
    fn run(&self, task: &MergeVariantTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let (variant, task) = (task.variant, &task.merge);
        let kernel = match variant {
            MergeVariant::MergePath => return self.run(task, leaves, outs),
            MergeVariant::Basic => MERGE_BASIC,
            MergeVariant::Tiled => MERGE_TILED,
            MergeVariant::CircularBuffer => MERGE_CIRCULAR,
            other => {
                return Err(Error::InvalidArgument { what: "variant", reason: format!("`{}` has no kernel of its own", other.name()) });
            }
        };
        let places = task.places(leaves, outs)?;
        let mut args = order(task.key_bits());
        args.inputs[0] = self.array(places.keys[0], task.m, SIZE)?;
        args.inputs[1] = self.array(places.keys[1], task.n, SIZE)?;
        args.out[0] = self.result(places.keys_out)?;
        if let Some(([v, w], out)) = places.values {
            args.inputs[2] = self.array(v, task.m, SIZE)?;
            args.inputs[3] = self.array(w, task.n, SIZE)?;
            args.out[1] = self.result(out)?;
        }
        let kernel = self.kernel((kernel, 0), &[])?;
        let grid = Grid::linear(blocks(variant.blocks(task.total()))?, LANES as u32);
        // SAFETY: the task's contract: the arrays have `m` and `n` keys of four bytes, the outputs hold `m + n` elements, and blocks stay inside
        // arrays that are not sorted, too.
        unsafe { self.launch(&kernel, grid, &args) }
    }
}
