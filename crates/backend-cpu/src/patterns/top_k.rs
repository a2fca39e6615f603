//! P07 top-k: the first of all pairs of a key and its index, in the order of their indices.

use super::sort::word;
use crate::Cpu;
use crate::memory::{HostBuffer, collected};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::TopKTask;
use rayon::prelude::*;

impl Run<TopKTask> for Cpu {
    fn run(&self, task: &TopKTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let ((raw, offset), out) = task.places(leaves, outs)?;
        let size = task.dtype.size_bytes();
        let keys = raw.read(offset * size, task.n * size)?;
        let compared = task.bits.clone().fold(0, |mask, bit| mask | 1u64 << bit);
        let mapped = keys.par_chunks_exact(size as usize).map(|key| task.key_bits().of(word(key)) & compared);
        let mut pairs: Vec<(u64, u32)> = collected(mapped.zip(0..task.n as u32))?;
        if task.k < task.n {
            // No two pairs are equal, so those before the next one are the first k.
            pairs.select_nth_unstable(task.k as usize);
            pairs.truncate(task.k as usize);
        }
        let mut places: Vec<u32> = isowarp_core::host::listed(task.k, pairs.into_iter().map(|(_, place)| place))?;
        places.sort_unstable();
        out.raw.write(out.offset * 4, bytemuck::cast_slice(&places))
    }
}
