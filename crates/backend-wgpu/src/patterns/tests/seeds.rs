//! Division and square root that start from the adapter's approximations: the probe's check of these, and the bits of maps that use
//! them, over an `fma` that is made to be fused.

use super::guarded::{over_exact_fma, over_flushing_fma};
use super::texts::NATIVE;
use super::{Bits, Sample, both, device, own_device, same_bits};
use crate::context::Options;
use crate::patterns::Dialect;
use crate::pipeline::Pipelines;
use crate::probe::seeds::{RANGES, Range, measure, wgsl};
use crate::probe::{Seed, Seeds};
use isowarp_core::backend::Backend as _;
use isowarp_core::caps::{DeviceKind, FmaKind};
use isowarp_core::ir::Expr;
use isowarp_core::patterns::Map as _;
use isowarp_cpu::Cpu;
use std::collections::BTreeSet;
use std::sync::Arc;

const CLOSE: Seeds = Seeds { reciprocal: Some(Seed::Close), root: true, byte_root: true };
const COARSE: Seeds = Seeds { reciprocal: Some(Seed::Coarse), root: true, byte_root: false };

/// The check of a binade of reciprocals, two of roots, and the roots of bytes.
const FEW: [Range; 3] = [RANGES[1], RANGES[5], RANGES[8]];

fn found(ranges: &[Range], text: &str) -> Seeds {
    let context = device().context();
    pollster::block_on(measure(context, &Arc::new(Pipelines::default()), text, ranges)).expect("measured")
}

/// Returns what the check finds where the adapter gives these bits for the `bits` of its approximations.
fn found_with(change: &str) -> Seeds {
    let mut text = over_exact_fma(&wgsl(FEW.len()).expect("text"));
    for seed in ["1.0f / b", "inverseSqrt(x)"] {
        let change = change.replace("bits", &format!("bitcast<u32>({seed})"));
        let over = text.replace(seed, &format!("bitcast<f32>({change})"));
        assert_ne!(over, text);
        text = over;
    }
    found(&FEW, &text)
}

#[test]
fn accurate_approximations_are_found_good() {
    assert_eq!(found(&RANGES, &over_exact_fma(&wgsl(RANGES.len()).expect("text"))), CLOSE);
    // The ends of the ranges, where differences are smallest.
    let ends = [RANGES[0], RANGES[2], RANGES[4]];
    assert_eq!(found(&ends, &over_flushing_fma(&wgsl(ends.len()).expect("text"))), CLOSE);
}

#[test]
fn approximations_that_are_a_float_off_are_close() {
    assert_eq!(found_with("bits - 1u"), CLOSE);
    // Up to 1.5 ULP above the reciprocal, one step goes wrong for a few.
    assert_eq!(found_with("bits + 1u"), Seeds { reciprocal: Some(Seed::Coarse), ..CLOSE });
    assert_eq!(found_with("bits + 2u"), Seeds { reciprocal: Some(Seed::Coarse), ..CLOSE });
    assert_eq!(found_with("bits + 64u"), COARSE);
}

#[test]
fn coarse_approximations_are_refined_or_refused() {
    // A step squares the error.
    assert_eq!(found_with("bits & 0xfffffc00u"), COARSE);
    assert_eq!(found_with("bits & 0xfffe0000u"), Seeds::NONE);
    let text = over_exact_fma(&wgsl(FEW.len()).expect("text"));
    let unrounded = text.replace("(-b, r, 1.0f)", "(-b, r, 1.00001f)").replace("(-nearer, nearer, x)", "(-near, near, x)");
    assert_ne!(unrounded, text);
    assert_eq!(found(&FEW, &unrounded), Seeds { byte_root: true, ..Seeds::NONE });
}

#[test]
fn a_check_that_did_not_run_proves_nothing() {
    assert_eq!(found(&FEW, &over_exact_fma(&wgsl(0).expect("text"))), Seeds::NONE);
}

#[test]
fn software_adapters_are_not_asked() {
    if device().caps().kind == DeviceKind::Cpu {
        assert_eq!(device().report().seeds, Seeds::NONE);
    }
}

#[test]
fn only_what_is_proven_starts_from_a_seed() {
    let text = |seeds: Seeds, fma: FmaKind| {
        let dialect = Dialect { fma, seeds, ..NATIVE };
        let calls = BTreeSet::from(["iw_div", "iw_sqrt"].map(str::to_owned));
        isowarp_shaders::prelude(&calls, &mut |name| dialect.resolve(name)).expect("a prelude")
    };
    let seeded = |text: &str| (text.contains("1.0f / b"), text.contains("inverseSqrt("));
    for fma in [FmaKind::Native, FmaKind::Guarded] {
        assert_eq!(seeded(&text(Seeds::NONE, fma)), (false, false));
        assert_eq!(seeded(&text(Seeds { root: false, ..CLOSE }, fma)), (true, false));
        assert_eq!(seeded(&text(Seeds { reciprocal: None, ..CLOSE }, fma)), (false, true));
        let steps = |seeds| text(seeds, fma).matches("(-b, r, 1.0f)").count();
        assert_eq!((steps(CLOSE), steps(COARSE)), (1, 2));
        assert!(fma == FmaKind::Native || !text(COARSE, fma).contains("iw_fma("), "no guard is needed");
    }
}

/// Numbers at which division and root take another way, or round next to a tie, and their neighbours.
fn hard() -> Vec<f32> {
    let mut bits = vec![0, 1, 2, 0x007f_ffff, 0x0080_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000, 0x7f80_0001, 0x7fff_ffff];
    // The ends of the fast forms' ranges.
    for end in [0x2080_0000_u32, 0x5e80_0000, 0x1880_0000, 0x0d80_0000] {
        bits.extend([end - 1, end, end + 1]);
    }
    // Powers of two, and mantissas of all ones, of one and of a half.
    for exponent in (1..255).step_by(9) {
        bits.extend([0, 1, 0x40_0000, 0x7f_fffe, 0x7f_ffff].map(|m| exponent << 23 | m));
    }
    bits.iter().flat_map(|&b| [b, b | 0x8000_0000]).map(f32::from_bits).collect()
}

#[test]
fn seeded_maps_have_the_cpus_bits() {
    let gpu = own_device(&Options::default());
    let hard = hard();
    let (mut a, mut b): (Vec<f32>, Vec<f32>) = hard.iter().flat_map(|&a| hard.iter().map(move |&b| (a, b))).unzip();
    let mut bits = Bits(21);
    a.extend((0..60_000).map(|_| f32::from_bits(bits.next() as u32)));
    b.extend((0..60_000).map(|_| f32::from_bits(bits.next() as u32)));
    a.extend(f32::samples(60_000, 22));
    b.extend(f32::samples(60_000, 23));
    let ((ca, ga), (cb, gb)) = (both(&gpu, &a), both(&gpu, &b));
    let op = |(a, b): (Expr<f32>, Expr<f32>)| (a / b, a.sqrt());
    let expected = Cpu::new().map((&ca, &cb), op).expect("cpu");
    for fma in [FmaKind::Native, FmaKind::Guarded] {
        for seeds in [CLOSE, COARSE] {
            gpu.emulate(fma, seeds);
            let found = gpu.map((&ga, &gb), op).expect("gpu");
            same_bits(&format!("quotients, {fma:?}, {seeds:?}"), &expected.0, &found.0);
            same_bits(&format!("roots, {fma:?}, {seeds:?}"), &expected.1, &found.1);
        }
    }
}
