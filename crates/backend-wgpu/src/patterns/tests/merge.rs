//! Merges of arrays that no binding holds, and searches window by window.

use super::{Sample, both, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use half::f16;
use isowarp_core::patterns::{KeyBits, Merge as _, Search as _, SortOrder};
use isowarp_cpu::Cpu;
use std::sync::atomic::Ordering;

const ORDER: SortOrder = SortOrder::Descending;

fn sorted<K: Sample>(n: usize, seed: u64) -> Vec<K> {
    let mut keys = K::samples(n, seed);
    let map = KeyBits::new(K::DTYPE, ORDER);
    keys.sort_by_key(|k| map.of(bytemuck::bytes_of(k).iter().rev().fold(0, |word, &b| word << 8 | u64::from(b))));
    keys
}

fn check<K: Sample>(gpu: &Wgpu, m: usize, n: usize) {
    let cpu = Cpu::new();
    let ((a, x), (b, y)) = (both(gpu, &sorted::<K>(m, 1)), both(gpu, &sorted::<K>(n, 2)));
    let what = |what: &str| format!("{what} of {m} and {n} {}", K::DTYPE);
    same_bits(&what("merge"), &cpu.merge(&a, &b, ORDER).expect("cpu"), &gpu.merge(&x, &y, ORDER).expect("gpu"));
    let ((v, s), (w, t)) = (both(gpu, &u8::samples(m, 3)), both(gpu, &u8::samples(n, 4)));
    let cpu_pairs = cpu.merge_pairs((&a, &v), (&b, &w), ORDER).expect("cpu");
    let gpu_pairs = gpu.merge_pairs((&x, &s), (&y, &t), ORDER).expect("gpu");
    same_bits(&what("keys"), &cpu_pairs.0, &gpu_pairs.0);
    same_bits(&what("values"), &cpu_pairs.1, &gpu_pairs.1);
    let (z, c) = (gpu.count_equal(&x, &y, ORDER).expect("gpu"), cpu.count_equal(&a, &b, ORDER).expect("cpu"));
    same_bits(&what("counts"), &c, &z);
    same_bits(&what("search"), &cpu.upper_bound(&b, &a, ORDER).expect("cpu"), &gpu.upper_bound(&y, &x, ORDER).expect("gpu"));
}

#[test]
fn small_windows_do_not_show() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(40 << 10);
    check::<u32>(&gpu, 20_011, 9_000);
    check::<u32>(&gpu, 12_000, 0);
    check::<u8>(&gpu, 30_000, 40_001);
    check::<f16>(&gpu, 30_000, 7);
    check::<i64>(&gpu, 3, 9_001);
}

#[test]
fn keys_written_out_or_in_loops_merge_alike() {
    for written_out in [false, true] {
        let gpu = own_device(&Options::default());
        gpu.patterns().written_out.store(written_out, Ordering::Relaxed);
        check::<f64>(&gpu, 5_000, 6_000);
        check::<f32>(&gpu, 5_000, 6_000);
        check::<f16>(&gpu, 5_000, 6_000);
        check::<u8>(&gpu, 700, 600);
    }
}
