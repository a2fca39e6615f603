//! The definitions, on the processor, as they are stated.

use super::SortVariant;
use super::network::{Network, NetworkStep, TILE};
use super::sample::SamplePlan;
use isowarp_core::backend::Backend;
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::patterns::{SortPlaces, SortTask};
use rayon::prelude::*;

/// Compared bits of a key, and its index.
type Item = (u64, u32);

pub(super) fn run<B: Backend>(variant: SortVariant, device: &B, task: &SortTask, places: &SortPlaces<'_, B::Raw>) -> Result<()> {
    let size = task.dtype.size_bytes();
    let elements = |(raw, offset): (&B::Raw, u64), size: u64| device.read_bytes_blocking(raw, offset * size, task.n * size);
    let keys = elements(places.keys, size)?;
    let compared = task.bits.clone().fold(0, |mask, bit| mask | 1u64 << bit);
    let word = |key: &[u8]| key.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let of = |(key, i): (&[u8], u32)| (task.key_bits().of(word(key)) & compared, i);
    let mut items: Vec<Item> = host::listed(task.n, keys.chunks_exact(size as usize).zip(0..).map(of))?;
    // Buckets, or zeros and ones, and both together; then the results.
    host::room((2 * size_of::<Item>() as u64 + 16) * task.n)?;
    match (variant, variant.network()) {
        (_, Some(network)) => exchange(network, &mut items),
        (SortVariant::Sample, _) => sample(&mut items),
        _ => task.bits.clone().for_each(|bit| split(&mut items, bit)),
    }

    let gathered = |bytes: &[u8], size: u64| {
        let size = size as usize;
        items.iter().flat_map(|&(_, i)| &bytes[i as usize * size..][..size]).copied().collect::<Vec<u8>>()
    };
    if let Some(out) = places.keys_out {
        device.write_bytes(&out.raw, out.offset * size, &gathered(&keys, size))?;
    }
    if let (Some(out), Some(values)) = (places.payload_out, places.values) {
        let size = places.payload_bytes;
        device.write_bytes(&out.raw, out.offset * size, &gathered(&elements(values, size)?, size))?;
    }
    Ok(())
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
