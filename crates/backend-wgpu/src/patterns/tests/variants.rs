//! The textbooks' reductions and scans: their texts, and their bits.

use super::texts::{SHARED, accept_planned, signature};
use super::trees::trees_both_ways;
use super::{Sample, both, device, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use half::f16;
use isowarp_core::buffer::Memory as _;
use isowarp_core::element::{Element, Num, Scalar};
use isowarp_core::error::Error;
use isowarp_core::input::{Source as _, index};
use isowarp_core::ops::{Combine, Max, Op, Sum};
use isowarp_core::patterns::{Lines, Reduce as _, ReduceTask, Scan as _, ScanKind, ScanTask};
use isowarp_cpu::Cpu;
use isowarp_textbook::kernels::{REDUCE_VARIANT, SCAN_VARIANT};
use isowarp_textbook::scan::Step;
use isowarp_textbook::{ReduceVariant, ScanVariant, reduce};
use std::sync::Arc;

const SIZES: [usize; 18] = [1, 2, 3, 31, 32, 33, 255, 256, 257, 511, 513, 1023, 1025, 3072, 4095, 4097, 9001, 70_001];

#[test]
fn texts_of_every_rung_type_and_operator_fit_webgpu() {
    for (t, numerics) in trees_both_ways() {
        let (load, combine, finish) = (Arc::clone(&t.load), Arc::clone(&t.combine), Arc::clone(&t.finish));
        let task = ReduceTask { load, combine, finish, lines: Lines::one(1), numerics };
        for variant in ReduceVariant::ALL.into_iter().filter(|v| *v != ReduceVariant::AlignedTree) {
            for (from, to) in [(false, false), (false, true), (true, false), (true, true)] {
                let leaves = [(t.dtype, usize::from(to))];
                let outs = [(t.dtype, 1)];
                let signature = signature(if from { &[] } else { &leaves }, if to { &[] } else { &outs });
                let shared = accept_planned(
                    REDUCE_VARIANT.def(),
                    (reduce::operators(&task, from, to), numerics),
                    &reduce::choices(variant, &task),
                    &signature,
                );
                assert!(shared <= SHARED, "{variant:?}: {shared} bytes of shared memory");
            }
        }
    }
}

#[test]
fn texts_of_every_scan_type_and_operator_fit_webgpu() {
    for (t, numerics) in trees_both_ways() {
        for kind in [ScanKind::Inclusive, ScanKind::Exclusive { first: vec![0; t.combine.results.len()] }] {
            let (load, combine, finish) = (Arc::clone(&t.load), Arc::clone(&t.combine), Arc::clone(&t.finish));
            let task = ScanTask { load, combine, finish, lines: Lines::one(1), kind, numerics };
            for variant in ScanVariant::ALL.into_iter().filter(|v| *v != ScanVariant::SinglePass) {
                for (from_partials, totals, folded) in [
                    (false, true, false),
                    (true, true, false),
                    (true, false, false),
                    (true, false, true),
                    (false, false, false),
                    (false, false, true),
                ] {
                    let step = Step { from_partials, totals, folded };
                    let to_results = totals || from_partials;
                    let (leaves, outs) = ([(t.dtype, 0)], [(t.dtype, usize::from(!folded))]);
                    let signature = signature(if from_partials { &[] } else { &leaves }, if to_results { &[] } else { &outs });
                    let shared =
                        accept_planned(SCAN_VARIANT.def(), (step.operators(&task), numerics), &step.choices(variant, &task), &signature);
                    assert!(shared <= SHARED, "{variant:?} {step:?}: {shared} bytes of shared memory");
                }
            }
        }
    }
}

fn check<T: Sample + Element<Reg = T> + Scalar + Num>(gpu: &Wgpu, sizes: &[usize], op: impl Combine<T> + Copy) {
    for &n in sizes {
        let (cx, gx) = both(gpu, &T::samples(n, 31));
        for variant in ReduceVariant::ALL {
            let expected = Cpu::new().reduce(&cx, op).variant(variant).run().expect("cpu");
            let found = gpu.reduce(&gx, op).variant(variant).run().expect("gpu");
            same_bits(&format!("{variant:?} {} of {n} {}", op.name(), T::DTYPE), expected.buffer(), found.buffer());
        }
        for variant in ScanVariant::ALL {
            for exclusive in [false, true] {
                let expected = Cpu::new().scan(&cx, op).variant(variant).exclusive_if(exclusive).run().expect("cpu");
                let found = gpu.scan(&gx, op).variant(variant).exclusive_if(exclusive).run().expect("gpu");
                same_bits(&format!("{variant:?} {} of {n} {}, exclusive: {exclusive}", op.name(), T::DTYPE), &expected, &found);
            }
        }
    }
}

#[test]
fn every_rung_gives_its_own_order() {
    let gpu = device();
    check::<f32>(gpu, &SIZES, Sum);
    check::<f64>(gpu, &[1, 257, 9001], Sum);
    // Not associative: only the contract's own order gives these bits.
    check::<f32>(gpu, &[2, 33, 257, 9001, 70_001], Op::associative(0.0, |a, b| a - b * 0.5));
}

#[test]
fn arrays_above_the_binding_limit_are_cut() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(40_000);
    for variant in ReduceVariant::ALL {
        for n in [8193, 20_000, 70_001] {
            let (cx, gx) = both(&gpu, &f32::samples(n, 32));
            let found = gpu.reduce(&gx, Sum).variant(variant).run();
            if variant == ReduceVariant::FoldInHalf && n > 10_000 {
                assert!(matches!(found, Err(Error::TooLarge { .. })), "{found:?}");
                continue;
            }
            let expected = Cpu::new().reduce(&cx, Sum).variant(variant).run().expect("cpu");
            same_bits(&format!("{variant:?} of {n}"), expected.buffer(), found.expect("gpu").buffer());
        }
    }
    for variant in ScanVariant::ALL {
        for n in [8193, 20_000, 70_001] {
            let (cx, gx) = both(&gpu, &f32::samples(n, 33));
            for exclusive in [false, true] {
                let expected = Cpu::new().scan(&cx, Sum).variant(variant).exclusive_if(exclusive).run().expect("cpu");
                let found = gpu.scan(&gx, Sum).variant(variant).exclusive_if(exclusive).run().expect("gpu");
                same_bits(&format!("{variant:?} of {n}"), &expected, &found);
            }
        }
    }
}

#[test]
fn inputs_and_outputs_of_any_form() {
    let gpu = device();
    let n = 9001_u64;
    let (cx, gx) = both(gpu, &f16::samples(n as usize + 5, 34));
    macro_rules! on {
        ($d:expr, $x:expr, $variant:expr) => {{
            let out = $d.upload(&vec![7.0_f32; n as usize + 8]).expect("upload");
            let view = $x.slice(3..3 + n).expect("slice").reversed();
            let load = |(x, i): (isowarp_core::ir::Expr<f32>, isowarp_core::ir::Expr<u32>)| x + i.cast::<f32>();
            $d.scan((&view, index()).map(load), Max).variant($variant).exclusive().write_to(&out.slice(5..).expect("slice")).expect("scan");
            out
        }};
    }
    for variant in ScanVariant::ALL {
        same_bits(&format!("{variant:?}"), &on!(Cpu::new(), cx, variant), &on!(gpu, gx, variant));
    }
}

#[test]
fn a_loop_allocates_nothing() {
    let gpu = own_device(&Options::default());
    let (_, x) = both(&gpu, &f32::samples(100_000, 35));
    let (_, out) = both(&gpu, &vec![0.0_f32; 100_000]);
    let steady = |what: &str, work: &dyn Fn()| {
        (0..3).for_each(|_| work());
        let before = gpu.usage().settled();
        (0..5).for_each(|_| work());
        assert_eq!(gpu.usage().settled(), before, "{what}");
    };
    for v in ReduceVariant::ALL {
        steady(v.name(), &|| gpu.reduce(&x, Sum).variant(v).write_to(&out).expect("reduce"));
    }
    for v in ScanVariant::ALL {
        steady(v.name(), &|| gpu.scan(&x, Sum).variant(v).exclusive().write_to(&out).expect("scan"));
    }
}
