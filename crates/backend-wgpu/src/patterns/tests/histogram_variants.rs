//! The rungs of P06: their texts, and their counts.

use super::texts::{NUMERICS, SHARED, accept_planned, signature};
use super::{both, device, own_device, same_bits};
use crate::context::Options;
use isowarp_core::backend::Backend as _;
use isowarp_core::element::DType;
use isowarp_core::ir::{self, Expr};
use isowarp_core::launch::Operators;
use isowarp_core::patterns::{Histogram as _, binned, even_bins};
use isowarp_cpu::Cpu;
use isowarp_textbook::HistogramVariant;
use isowarp_textbook::kernels::HISTOGRAM_VARIANT;
use std::sync::Arc;

fn rungs() -> impl Iterator<Item = HistogramVariant> {
    HistogramVariant::ALL.into_iter().filter(|v| *v != HistogramVariant::Replicated)
}

#[test]
fn texts_of_every_rung_fit_webgpu() {
    let all = [
        (ir::trace(|x: Expr<u32>| x >> 24), DType::U32),
        (ir::trace(|x: Expr<u32>| (x - 97) / 4), DType::U8),
        (ir::trace(|x: Expr<f32>| (x * 256.0).cast::<u32>()), DType::F32),
        (ir::trace(|x: Expr<u64>| x.cast::<u32>()), DType::U64),
    ];
    for (func, dtype) in all {
        let func = Arc::new(func.expect("operator"));
        for numerics in NUMERICS {
            for variant in rungs() {
                let operators = (Operators::Words(&func), numerics);
                let shared = accept_planned(HISTOGRAM_VARIANT.def(), operators, &variant.choices(), &signature(&[(dtype, 0)], &[]));
                assert!(shared <= SHARED, "{variant:?}: {shared} bytes of shared memory");
            }
        }
    }
}

#[test]
fn every_rung_counts_what_there_is() {
    let gpu = device();
    for n in [1u32, 31, 255, 257, 4095, 4097, 20_011] {
        let x: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> (i & 15)).collect();
        let (a, b) = both(gpu, &x);
        for variant in HistogramVariant::ALL {
            for bins in [1, 7, 256, 4096] {
                let expected = Cpu::new().histogram(even_bins(&a, 1000, 3_000_000_000, bins)).variant(variant).run().expect("cpu");
                let found = gpu.histogram(even_bins(&b, 1000, 3_000_000_000, bins)).variant(variant).run().expect("gpu");
                same_bits(&format!("{variant:?} of {n} in {bins} bins"), &expected, &found);
            }
        }
    }
}

#[test]
fn windows_of_elements_and_of_bins_add_up() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(1 << 14);
    for n in [33_001u32, 100_003] {
        let x: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) ^ (i >> 3)).collect();
        let (a, b) = both(&gpu, &x);
        for variant in rungs() {
            for bins in [4000, 70_000].into_iter().filter(|&bins| variant.most_bins().is_none_or(|most| bins <= most as u32)) {
                let expected =
                    Cpu::new().histogram(binned(&a, bins, move |x: Expr<u32>| x % (bins + 100))).variant(variant).run().expect("cpu");
                let found = gpu.histogram(binned(&b, bins, move |x: Expr<u32>| x % (bins + 100))).variant(variant).run().expect("gpu");
                same_bits(&format!("{variant:?} of {n} in {bins} bins"), &expected, &found);
            }
        }
    }
}

#[test]
fn a_loop_allocates_nothing() {
    let gpu = own_device(&Options::default());
    let (_, x) = both(&gpu, &(0..50_000u32).collect::<Vec<_>>());
    let (_, out) = both(&gpu, &[0u32; 256]);
    for variant in HistogramVariant::ALL {
        let count = || gpu.histogram(even_bins(&x, 0, 50_000, 256)).variant(variant).write_to(&out).expect("histogram");
        (0..3).for_each(|_| count());
        let before = gpu.usage().settled();
        (0..5).for_each(|_| count());
        assert_eq!(gpu.usage().settled(), before, "{variant:?}");
        gpu.synchronize().expect("done");
    }
}
