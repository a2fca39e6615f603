//! P07 sort: the indices of each row, sorted by a stable sort, and what lies at them.

use crate::Cpu;
use crate::memory::HostBuffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::patterns::SortTask;
use rayon::prelude::*;

impl Run<SortTask> for Cpu {
    fn run(&self, task: &SortTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let read = |(raw, offset): (&HostBuffer, u64), size: u64| raw.read(offset * size, task.elements() * size);
        let size = task.dtype.size_bytes();
        let keys = read(places.keys, size)?;
        let compared = (task.bits.start..task.bits.end).fold(0, |mask, bit| mask | 1u64 << bit);
        let mapped: Vec<u64> = keys.par_chunks_exact(size as usize).map(|key| task.key_bits().of(word(key)) & compared).collect();
        // The indices of every row, in order.
        let mut order: Vec<u32> = (0..task.rows).flat_map(|_| 0..task.n as u32).collect();
        let rows = order.par_chunks_exact_mut(task.n as usize).zip(mapped.par_chunks_exact(task.n as usize));
        rows.for_each(|(order, mapped)| order.sort_by_key(|&i| mapped[i as usize]));

        let gathered = |bytes: &[u8], size: u64| -> Vec<u8> {
            let (size, n) = (size as usize, task.n as usize);
            let rows = order.chunks_exact(n).zip(bytes.chunks_exact(n * size));
            rows.flat_map(|(order, row)| order.iter().flat_map(move |&i| &row[i as usize * size..][..size])).copied().collect()
        };
        if let Some(out) = places.keys_out {
            out.raw.write(out.offset * size, &gathered(&keys, size))?;
        }
        if let Some(out) = places.payload_out {
            let size = places.payload_bytes;
            let payload = match places.values {
                Some(values) => gathered(&read(values, size)?, size),
                None => bytemuck::cast_slice(&order).to_vec(),
            };
            out.raw.write(out.offset * size, &payload)?;
        }
        Ok(())
    }
}

/// A key's bits, zero-extended.
pub(super) fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b))
}
