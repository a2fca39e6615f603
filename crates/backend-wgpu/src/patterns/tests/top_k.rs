//! The first keys of a sort: every step on arrays of any size, which callers would have sorted whole, and in windows.

use super::texts::{BITS, SHARED, accept_planned};
use super::{Sample, both, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use crate::patterns::operands::Signature;
use half::f16;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::element::DType;
use isowarp_core::launch::kernels;
use isowarp_core::patterns::{SortBy, SortOrder, TopKTask};
use isowarp_cpu::Cpu;

/// The indices of the first keys, without a sort of many.
fn found<B: Run<TopKTask>, K: Sample>(device: &B, keys: &Buffer<B, K>, k: u64, by: &SortBy) -> Buffer<B, u32> {
    let out = device.buffer(k).expect("memory");
    let bits = by.bits.clone().unwrap_or(0..8 * K::DTYPE.size_bytes() as u32);
    let task = TopKTask { dtype: K::DTYPE, order: by.order, bits, n: keys.len(), k };
    let leaf = Leaf::Elements { raw: keys.raw().clone(), dtype: K::DTYPE, offset: keys.offset(), stride: 1 };
    device.run(&task, &[leaf], &[Out { raw: out.raw().clone(), dtype: DType::U32, offset: 0 }]).expect("it runs");
    out
}

fn check<K: Sample>(gpu: &Wgpu, what: &str, keys: &[K], orders: &[SortBy]) {
    let (a, b) = both(gpu, keys);
    let n = keys.len() as u64;
    for by in orders {
        for k in [1, 2, n / 100, n / 8, n - 1, n] {
            if k == 0 || k > n {
                continue;
            }
            let (cpu, gpu) = (found(&Cpu::new(), &a, k, by), found(gpu, &b, k, by));
            same_bits(&format!("{what}: first {k} of {n} {} {by:?}", K::DTYPE), &cpu, &gpu);
        }
    }
}

fn both_ways() -> [SortBy; 2] {
    [SortOrder::Ascending.into(), SortOrder::Descending.into()]
}

#[test]
fn the_first_keys_of_every_type_are_found() {
    let gpu = own_device(&Options::default());
    for n in [1, 2, 257, 4096, 4097, 70_001] {
        check(&gpu, "samples", &u8::samples(n, 3), &both_ways());
        check(&gpu, "samples", &u32::samples(n, 3), &both_ways());
        check(&gpu, "samples", &f32::samples(n, 3), &both_ways());
        check(&gpu, "samples", &i64::samples(n, 3), &both_ways());
    }
    check(&gpu, "samples", &f16::samples(70_001, 3), &both_ways());
    check(&gpu, "samples", &i32::samples(70_001, 3), &both_ways());
    check(&gpu, "samples", &u64::samples(70_001, 3), &both_ways());
    check(&gpu, "samples", &f64::samples(70_001, 3), &both_ways());
}

/// Keys of which all are equal, few differ, or the last ones wanted are equal to others: the lowest indices are taken.
#[test]
fn of_equal_keys_the_lowest_indices_are_taken() {
    let gpu = own_device(&Options::default());
    let n = 70_001u32;
    check(&gpu, "equal", &vec![7u32; n as usize], &both_ways());
    check(&gpu, "equal", &vec![7u64 << 40; n as usize], &both_ways());
    check(&gpu, "three values", &(0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 9 & 3).collect::<Vec<_>>(), &both_ways());
    check(&gpu, "rising", &(0..n).collect::<Vec<_>>(), &both_ways());
    check(&gpu, "steps", &(0..n).map(|i| u64::from(i / 500) << 30).collect::<Vec<_>>(), &both_ways());
    let ranges = [0..0, 0..5, 7..20, 31..32].map(|bits| SortOrder::Descending.bits(bits));
    check(&gpu, "bits", &u32::samples(20_011, 4), &ranges);
    let ranges = [0..0, 3..40, 20..64, 63..64].map(|bits| SortOrder::Ascending.bits(bits));
    check(&gpu, "bits", &u64::samples(20_011, 4), &ranges);
}

/// Samples lie where an outlier's are, or where none is: the source is read again.
#[test]
fn samples_that_mislead_do_not_show() {
    let gpu = own_device(&Options::default());
    let n = 300_007u32;
    // One key in a hundred is not the greatest, and all of those lie together.
    check(&gpu, "apart", &(0..n).map(|i| if i < n / 100 { i ^ 0x155 } else { u32::MAX }).collect::<Vec<_>>(), &both_ways());
    check(&gpu, "apart", &(0..n).map(|i| if i >= n - 40 { -f64::from(i) } else { 1.0 }).collect::<Vec<_>>(), &both_ways());
}

#[test]
fn small_windows_do_not_show() {
    for bytes in [40 << 10, 100 << 10] {
        let gpu = own_device(&Options::default());
        gpu.limit_windows(bytes);
        check(&gpu, "windows", &u32::samples(40_011, 5), &both_ways());
        check(&gpu, "windows", &u8::samples(100_011, 5), &both_ways());
        check(&gpu, "windows", &f16::samples(60_013, 5), &both_ways());
        check(&gpu, "windows", &f64::samples(9_001, 5), &both_ways());
        check(&gpu, "windows", &vec![3u32; 40_011], &both_ways());
    }
}

#[test]
fn texts_of_every_step_and_width_fit_webgpu() {
    for step in kernels::all().into_iter().filter(|def| def.pattern == "top_k") {
        for bytes in [1, 2, 4, 8] {
            assert!(accept_planned(step, BITS, &[("size", bytes)], &Signature::default()) <= SHARED);
        }
    }
}
