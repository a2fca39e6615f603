//! Sorts in both forms, in subgroups of any width, and in windows.

use super::{Sample, both, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use half::f16;
use isowarp_core::patterns::{Ordered as _, Sort as _, SortOrder};
use isowarp_cpu::Cpu;
use std::sync::atomic::Ordering;

const SIZES: [usize; 16] = [1, 2, 31, 257, 3327, 3328, 3329, 3839, 3840, 3841, 5887, 5888, 5889, 7681, 20_011, 70_001];

fn check<K: Sample>(gpu: &Wgpu, sizes: &[usize]) {
    let cpu = Cpu::new();
    for &n in sizes {
        let (a, b) = both(gpu, &K::samples(n, 5));
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            let what = format!("{} {order:?} {n}", K::DTYPE);
            same_bits(&what, &cpu.sort(&a).order(order).run().expect("cpu"), &gpu.sort(&b).order(order).run().expect("gpu"));
            same_bits(&what, &cpu.argsort(&a).order(order).run().expect("cpu"), &gpu.argsort(&b).order(order).run().expect("gpu"));
        }
        let (v, w) = both(gpu, &f64::samples(n, 6));
        let by = || SortOrder::Ascending.bits(1..6);
        let found =
            (cpu.sort(&a).with_values(&v).order(by()).run().expect("cpu"), gpu.sort(&b).with_values(&w).order(by()).run().expect("gpu"));
        same_bits(&format!("keys of {n} pairs"), &found.0.0, &found.1.0);
        same_bits(&format!("values of {n} pairs"), &found.0.1, &found.1.1);
        // After one pass, and after two or three, of the keys as they are now.
        for bits in [1..4, 0..8] {
            let what = format!("{n} pairs of {} in place by {bits:?}", K::DTYPE);
            cpu.sort(&a).with_values(&v).descending().bits(bits.clone()).in_place().expect("cpu");
            gpu.sort(&b).with_values(&w).descending().bits(bits).in_place().expect("gpu");
            same_bits(&what, &a, &b);
            same_bits(&what, &v, &w);
        }
    }
}

fn device(subgroups: bool, width: u32) -> Wgpu {
    let gpu = own_device(&Options { subgroups: Some(subgroups), ..Options::default() });
    assert_eq!(gpu.tuning().sort_in_subgroups, subgroups, "{:?}", gpu.report().subgroup);
    gpu.patterns().width.store(width, Ordering::Relaxed);
    gpu
}

#[test]
fn both_forms_sort_every_type() {
    for subgroups in [true, false] {
        let gpu = device(subgroups, 0);
        check::<u8>(&gpu, &SIZES[5..8]);
        check::<f16>(&gpu, &SIZES[5..8]);
        check::<i8>(&gpu, &SIZES[6..7]);
        check::<i16>(&gpu, &SIZES[6..7]);
        check::<u16>(&gpu, &SIZES[6..7]);
        check::<u32>(&gpu, &SIZES);
        check::<f32>(&gpu, &SIZES[6..]);
        check::<i64>(&gpu, &SIZES[6..9]);
        check::<f64>(&gpu, &SIZES[6..9]);
    }
}

#[test]
fn subgroups_of_any_width_sort_alike() {
    for width in [4, 32, 128] {
        check::<f32>(&device(true, width), &[3841]);
    }
}

#[test]
fn small_windows_do_not_show() {
    for bytes in [40 << 10, 100 << 10] {
        let gpu = device(true, 0);
        gpu.limit_windows(bytes);
        check::<u32>(&gpu, &[3840, 20_011]);
        check::<u8>(&gpu, &[20_011]);
        check::<i16>(&gpu, &[20_011]);
        check::<i64>(&gpu, &[9_001]);
    }
}
