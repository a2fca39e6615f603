//! P07 sort: the indices of each row, or segment, sorted by a stable sort, and what lies at them.

use crate::Cpu;
use crate::memory::{HostBuffer, collected, gathered};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::patterns::{SegmentedSortTask, SortPlaces, SortTask};
use rayon::prelude::*;

impl Run<SortTask> for Cpu {
    fn run(&self, task: &SortTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let keys = Keys::read(task, &places)?;
        let n = task.n as usize;
        let mut order = identity(task)?;
        order.par_chunks_exact_mut(n).for_each(|row| keys.sort(row));
        let in_row = |i: u32| i % task.n as u32;
        keys.write(task, &places, &order, in_row)
    }
}

impl Run<SegmentedSortTask> for Cpu {
    fn run(&self, task: &SegmentedSortTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        let bounds: Vec<usize> = task.bounds(self, &places)?.read_blocking()?.into_iter().map(|b| b as usize).collect();
        let keys = Keys::read(&task.sort, &places.sort)?;
        host::room(16 * task.parts)?;
        let mut order = identity(&task.sort)?;
        // What lies before the first bound and behind the last is in no segment.
        let mut rest = &mut order[bounds[0]..];
        let mut segments = Vec::new();
        for bounds in bounds.windows(2) {
            let (segment, others) = rest.split_at_mut(bounds[1] - bounds[0]);
            segments.push(segment);
            rest = others;
        }
        segments.into_par_iter().for_each(|segment| keys.sort(segment));
        keys.write(&task.sort, &places.sort, &order, |i| i)
    }
}

/// The place of every key.
fn identity(task: &SortTask) -> Result<Vec<u32>> {
    let order = host::listed(task.elements(), 0..task.elements() as u32)?;
    // A stable sort takes as much again.
    host::room(4 * task.elements())?;
    Ok(order)
}

/// What is sorted: the keys, and what they compare by.
struct Keys {
    bytes: Vec<u8>,
    mapped: Vec<u64>,
}

impl Keys {
    fn read(task: &SortTask, places: &SortPlaces<'_, HostBuffer>) -> Result<Self> {
        let (size, (raw, offset)) = (task.dtype.size_bytes(), places.keys);
        let bytes = raw.read(offset * size, task.elements() * size)?;
        let compared = (task.bits.start..task.bits.end).fold(0, |mask, bit| mask | 1u64 << bit);
        let mapped = collected(bytes.par_chunks_exact(size as usize).map(|key| task.key_bits().of(word(key)) & compared))?;
        Ok(Self { bytes, mapped })
    }

    /// Puts places in the order of what lies there.
    fn sort(&self, places: &mut [u32]) {
        places.sort_by_key(|&i| self.mapped[i as usize]);
    }

    /// The outputs of a sort whose keys come from these places.
    fn write(
        &self,
        task: &SortTask,
        places: &SortPlaces<'_, HostBuffer>,
        order: &[u32],
        index: impl Fn(u32) -> u32 + Sync + Send,
    ) -> Result<()> {
        let gathered = |bytes: &[u8], size: u64| gathered(bytes, size, order.iter().map(|&i| i as usize));
        let size = task.dtype.size_bytes();
        if let Some(out) = places.keys_out {
            out.raw.write(out.offset * size, &gathered(&self.bytes, size)?)?;
        }
        if let Some(out) = places.payload_out {
            let size = places.payload_bytes;
            let at = out.offset * size;
            match places.values {
                Some((raw, offset)) => out.raw.write(at, &gathered(&raw.read(offset * size, task.elements() * size)?, size)?)?,
                None => out.raw.write(at, bytemuck::cast_slice(&collected(order.par_iter().map(|&i| index(i)))?))?,
            }
        }
        Ok(())
    }
}

/// A key's bits, zero-extended.
pub(super) fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b))
}
