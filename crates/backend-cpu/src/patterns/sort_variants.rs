//! P07 sort, the textbooks' algorithms, as they are stated.

use super::sort::word;
use crate::Cpu;
use crate::memory::{HostBuffer, write_gathered};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::patterns::sort_variants::network::{Network, NetworkStep, TILE};
use isowarp_core::patterns::sort_variants::sample::SamplePlan;
use isowarp_core::patterns::{SortVariant, SortVariantTask};
use rayon::prelude::*;

/// What is compared of a key, and where the key was.
type Item = (u64, u32);

impl Run<SortVariantTask> for Cpu {
    fn run(&self, task: &SortVariantTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        if task.variant == SortVariant::Radix {
            return self.run(&task.sort, leaves, outs);
        }
        let sort = &task.sort;
        let places = sort.places(leaves, outs)?;
        let size = sort.dtype.size_bytes();
        let keys = places.keys.0.read(places.keys.1 * size, sort.n * size)?;
        let compared = (sort.bits.start..sort.bits.end).fold(0, |mask, bit| mask | 1u64 << bit);
        let of = |(key, i): (&[u8], u32)| (sort.key_bits().of(word(key)) & compared, i);
        let mut items: Vec<Item> = host::listed(sort.n, keys.chunks_exact(size as usize).zip(0..).map(of))?;
        // Buckets, or zeros and ones, and both together.
        host::room(2 * size_of::<Item>() as u64 * sort.n)?;
        match (task.variant, task.variant.network()) {
            (_, Some(network)) => exchange(network, &mut items),
            (SortVariant::Sample, _) => sample(&mut items),
            _ => sort.bits.clone().for_each(|bit| split(&mut items, bit)),
        }

        let order = || items.par_iter().map(|&(_, i)| i as usize);
        if let Some(out) = places.keys_out {
            write_gathered(out, &keys, order())?;
        }
        if let (Some(out), Some((raw, offset))) = (places.payload_out, places.values) {
            let size = places.payload_bytes;
            write_gathered(out, &raw.read(offset * size, sort.n * size)?, order())?;
        }
        Ok(())
    }
}

/// The steps of a network, pair by pair. Two rounds of a transposition sort that change nothing leave nothing to do.
fn exchange(network: Network, items: &mut [Item]) {
    let n = items.len() as u64;
    let mut idle = 0;
    for step in NetworkStep::all(network, n) {
        let mut changed = false;
        for (x, y) in (0..step.pairs(n)).filter_map(|q| step.pair(q)) {
            let (x, y) = (x as usize, y as usize);
            if y < items.len() && items[y].0 < items[x].0 {
                items.swap(x, y);
                changed = true;
            }
        }
        idle = if changed { 0 } else { idle + 1 };
        if network == Network::Transposition && idle == 2 {
            break;
        }
    }
}

/// Sorted tiles, samples of them, buckets between splitters, and these sorted. No two items are equal: where they were tells them apart.
fn sample(items: &mut Vec<Item>) {
    items.par_chunks_mut(TILE as usize).for_each(<[Item]>::sort_unstable);
    if items.len() as u64 <= TILE {
        return;
    }
    let plan = SamplePlan::new(items.len() as u64);
    let mut samples: Vec<Item> = (0..plan.samples).map(|k| items[plan.place(k) as usize]).collect();
    samples.par_sort_unstable();
    let splitters: Vec<Item> = (1..plan.buckets).map(|b| samples[plan.splitter(b) as usize]).collect();
    let mut buckets: Vec<Vec<Item>> = vec![Vec::new(); plan.buckets as usize];
    for &item in items.iter() {
        buckets[splitters.partition_point(|s| *s <= item)].push(item);
    }
    buckets.par_iter_mut().for_each(|bucket| bucket.sort_unstable());
    *items = buckets.concat();
}

/// Zeros to the front, ones behind them, both in their order.
fn split(items: &mut Vec<Item>, bit: u32) {
    let (ones, zeros): (Vec<Item>, Vec<Item>) = items.iter().partition(|item| item.0 >> bit & 1 == 1);
    *items = [zeros, ones].concat();
}
