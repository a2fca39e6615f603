//! The criterion groups, written once: `pattern/dtype/size` with two functions a backend, its wall time and its device time.

#![allow(dead_code, reason = "each bench takes the group of its own pattern")]

use criterion::{BenchmarkId, Criterion, Throughput};
use isowarp::backend::Backend as _;
use isowarp::{Device, Selector};
use isowarp_benches::works::{Shape, copies, works};
use std::time::{Duration, Instant};

/// Sizes of arrays, and sides of images.
const SIZES: [u64; 2] = [1 << 16, 1 << 20];
const SIDES: [u64; 1] = [1024];

/// The devices of this machine, one a backend.
fn devices() -> Vec<Device> {
    [Selector::Cuda, Selector::Wgpu, Selector::Cpu].into_iter().filter_map(|s| Device::open(s).ok()).collect()
}

fn pattern(c: &mut Criterion, name: &str) {
    let devices = devices();
    for work in works().into_iter().filter(|w| w.pattern() == name) {
        let sizes: Vec<u64> = if work.is_image() { SIDES.map(|s| s * s).to_vec() } else { SIZES.to_vec() };
        for n in sizes.into_iter().filter(|&n| work.takes(n)) {
            let mut group = c.benchmark_group(format!("{}/{}/{n}", work.name, work.dtype));
            group.throughput(Throughput::Bytes(n * work.bytes)).sample_size(15).measurement_time(Duration::from_secs(2));
            for device in &devices {
                let backend = device.caps().backend;
                let shape = Shape { n, copies: copies(device, n, work.dtype), seed: 1 };
                let ready = work.ready(device, &shape).expect("the inputs fit");
                let run = |calls: u64| (0..calls).try_for_each(|turn| ready.enqueue(turn)).expect("the pattern runs");
                group.bench_function(BenchmarkId::new(backend, "wall"), |b| {
                    b.iter_custom(|calls| {
                        device.synchronize().expect("the device works");
                        let start = Instant::now();
                        run(calls);
                        device.synchronize().expect("the device works");
                        start.elapsed()
                    });
                });
                if device.caps().timestamps && backend != "cpu" {
                    group.bench_function(BenchmarkId::new(backend, "device"), |b| {
                        b.iter_custom(|calls| {
                            let taken = device.time(&mut || (0..calls).try_for_each(|turn| ready.enqueue(turn))).expect("the pattern runs");
                            Duration::from_secs_f64(taken.expect("the device has a clock"))
                        });
                    });
                }
            }
            group.finish();
        }
    }
}

/// Groups of the copy, which rates are compared with, and of the maps.
pub(crate) fn map(c: &mut Criterion) {
    pattern(c, "copy");
    pattern(c, "map");
}

/// Group of the reductions.
pub(crate) fn reduce(c: &mut Criterion) {
    pattern(c, "reduce");
}

/// Group of the scans.
pub(crate) fn scan(c: &mut Criterion) {
    pattern(c, "scan");
}

/// Group of the selections.
pub(crate) fn select(c: &mut Criterion) {
    pattern(c, "select");
}

/// Group of what goes by key and by segments.
pub(crate) fn segmented(c: &mut Criterion) {
    pattern(c, "segmented");
}

/// Groups of groups and atomics.
pub(crate) fn groups(c: &mut Criterion) {
    pattern(c, "groups");
    pattern(c, "atomics");
}

/// Group of the histograms.
pub(crate) fn histogram(c: &mut Criterion) {
    pattern(c, "histogram");
}

/// Group of the sorts.
pub(crate) fn sort(c: &mut Criterion) {
    pattern(c, "sort");
}

/// Group of the merges, searches and sets.
pub(crate) fn merge(c: &mut Criterion) {
    pattern(c, "merge");
}

/// Group of the moves, by index and by shape.
pub(crate) fn moves(c: &mut Criterion) {
    pattern(c, "move");
}

/// Group of the image filters.
pub(crate) fn filter(c: &mut Criterion) {
    pattern(c, "filter");
}

/// Groups of the rungs of the ladders.
pub(crate) fn variants(c: &mut Criterion) {
    pattern(c, "reduce_variants");
    pattern(c, "scan_variants");
    pattern(c, "sort_variants");
    pattern(c, "histogram_variants");
    pattern(c, "merge_variants");
}
