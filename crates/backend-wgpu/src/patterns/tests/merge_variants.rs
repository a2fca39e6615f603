//! The rungs of P08: their texts, and their bits.

use super::texts::{BITS, SHARED, accept_planned};
use super::{both, device, own_device, same_bits};
use crate::context::Options;
use crate::patterns::operands::Signature;
use isowarp_core::backend::Backend as _;
use isowarp_core::error::Error;
use isowarp_core::patterns::{Merge as _, Ordered as _, SortOrder};
use isowarp_cpu::Cpu;
use isowarp_textbook::MergeVariant;
use isowarp_textbook::kernels::MERGE_VARIANT;

fn rungs() -> impl Iterator<Item = MergeVariant> {
    MergeVariant::ALL.into_iter().filter(|v| *v != MergeVariant::MergePath)
}

#[test]
fn texts_of_every_rung_fit_webgpu() {
    let signature = Signature::default();
    for variant in rungs() {
        for pairs in [false, true] {
            let shared = accept_planned(MERGE_VARIANT.def(), BITS, &variant.choices(pairs), &signature);
            assert!(shared <= SHARED, "{variant:?}: {shared} bytes of shared memory");
        }
    }
}

/// Keys in order, of few values or of many.
fn side(n: usize, most: u32, seed: u32) -> Vec<u32> {
    let mut keys: Vec<u32> = (0..n as u32).map(|i| ((i + seed).wrapping_mul(2_654_435_761) ^ (i >> 3)) % most).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn every_rung_merges() {
    let gpu = device();
    for (m, n) in [(1, 0), (0, 1), (5, 4), (1023, 2), (2048, 2049), (3000, 1097), (1, 8191), (20_011, 9001)] {
        for most in [3, 1 << 30] {
            let ((a, x), (b, y)) = (both(gpu, &side(m, most, 1)), both(gpu, &side(n, most, 2)));
            let places = |first: u32, n: usize| (first..first + n as u32).collect::<Vec<_>>();
            let ((v, p), (w, q)) = (both(gpu, &places(0, m)), both(gpu, &places(m as u32, n)));
            for variant in MergeVariant::ALL {
                let what = format!("{variant:?} of {m} and {n} below {most}");
                let up = SortOrder::Ascending;
                same_bits(
                    &what,
                    &Cpu::new().merge(&a, &b).order(up).variant(variant).run().expect("cpu"),
                    &gpu.merge(&x, &y).order(up).variant(variant).run().expect("gpu"),
                );
                let expected = Cpu::new().merge(&a, &b).with_values(&v, &w).order(up).variant(variant).run().expect("cpu");
                let found = gpu.merge(&x, &y).with_values(&p, &q).order(up).variant(variant).run().expect("gpu");
                same_bits(&what, &expected.0, &found.0);
                same_bits(&what, &expected.1, &found.1);
            }
        }
    }
}

#[test]
fn arrays_above_the_binding_limit_are_refused_and_nothing_is_written() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(40_000);
    let ((_, x), (_, out)) = (both(&gpu, &side(10_000, 1 << 30, 1)), both(&gpu, &[7u32; 20_000]));
    for variant in rungs() {
        let found = gpu.merge(&x, &x).variant(variant).write_to(&out);
        assert!(matches!(found, Err(Error::TooLarge { requested: 20_000, .. })), "{found:?}");
    }
    assert!(out.read_blocking().expect("read").iter().all(|&x| x == 7));
}

#[test]
fn a_loop_allocates_nothing() {
    let gpu = own_device(&Options::default());
    let ((_, x), (_, y), (_, out)) = (both(&gpu, &side(9000, 99, 1)), both(&gpu, &side(5000, 99, 2)), both(&gpu, &[0u32; 14_000]));
    for variant in MergeVariant::ALL {
        let merge = || gpu.merge(&x, &y).variant(variant).write_to(&out).expect("merge");
        (0..3).for_each(|_| merge());
        let before = gpu.usage().settled();
        (0..5).for_each(|_| merge());
        assert_eq!(gpu.usage().settled(), before, "{variant:?}");
        gpu.synchronize().expect("done");
    }
}
