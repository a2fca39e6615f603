//! Kernels of a crate that is none of the library's: every choice of the textbooks' names an entry of their images, whose holes are filled.

use super::super::holes::Shape;
use super::super::launcher;
use super::super::lines::room;
use super::{accumulators, check_planned, one};
use isowarp_core::element::DType;
use isowarp_core::ir::Expr;
use isowarp_core::launch::{Def, Operators};
use isowarp_textbook::kernels::{self, HISTOGRAM_VARIANT, MERGE_VARIANT, REDUCE_VARIANT, SCAN_VARIANT};
use isowarp_textbook::sort::plan::Form;
use isowarp_textbook::{HistogramVariant, MergeVariant, ReduceVariant, ScanVariant};

#[test]
fn every_rung_has_kernels_of_every_width() {
    let entry = |def: &Def, rung: u32, words: u32| {
        let choice = |name: &str| if name == "rung" { rung } else { words };
        launcher::entry(def.entry().expect("a kernel of its own"), choice).expect("an entry to every choice")
    };
    for words in 1..=4 {
        let reductions = ReduceVariant::ALL.into_iter().filter(|v| *v != ReduceVariant::AlignedTree);
        let scans = ScanVariant::ALL.into_iter().filter(|v| *v != ScanVariant::SinglePass);
        let reductions = reductions.map(|v| entry(REDUCE_VARIANT.def(), v as u32, words));
        for kernel in reductions.chain(scans.map(|v| entry(SCAN_VARIANT.def(), v as u32, words))) {
            assert!(kernel.name().ends_with(&format!("_w{}", room(words as usize))), "{}", kernel.name());
        }
    }
    for variant in MergeVariant::ALL.into_iter().filter(|v| *v != MergeVariant::MergePath) {
        check_planned(MERGE_VARIANT.def(), Operators::Nothing, &variant.choices(false), (&[], &[]));
    }
}

#[test]
fn reductions_and_scans_of_every_width_fill_their_holes() {
    for (load, combine, finish, leaves) in accumulators() {
        let outs: Vec<Shape> = load.result_types().iter().map(|t| Shape::Vector(t.dtype())).collect();
        let operators = Operators::Tree {
            load: &load,
            combine: &combine,
            finish: &finish,
            elements: 1,
            from_partials: false,
            to_results: false,
            first: None,
        };
        let words = load.result_words() as u32;
        for (def, rungs) in [(REDUCE_VARIANT.def(), ReduceVariant::ALL.len()), (SCAN_VARIANT.def(), ScanVariant::ALL.len())] {
            // All but the pattern, the last.
            for rung in 0..rungs as u32 - 1 {
                check_planned(def, operators, &[("rung", rung), ("words", words)], (&leaves, &outs));
            }
        }
    }
}

#[test]
fn histograms_take_one_element_at_a_time() {
    let all = [
        (one(|x: Expr<u32>| x >> 24), DType::U32),
        (one(|x: Expr<u32>| x), DType::U8),
        (one(|x: Expr<u32>| x), DType::U16),
        (one(|x: Expr<i32>| (x + 128).cast::<u32>()), DType::I8),
        (one(|x: Expr<f32>| (x * 256.0).cast::<u32>()), DType::F32),
    ];
    for (func, dtype) in all {
        for shape in [Shape::Vector(dtype), Shape::Strided(dtype)] {
            for variant in HistogramVariant::ALL.into_iter().filter(|v| *v != HistogramVariant::Replicated) {
                check_planned(HISTOGRAM_VARIANT.def(), Operators::Words(&func), &variant.choices(), (&[shape], &[]));
            }
        }
    }
}

#[test]
fn every_launch_of_a_textbooks_sort_has_a_kernel_for_keys_of_every_size() {
    for step in kernels::all().into_iter().filter(|def| def.name.starts_with("sort_")) {
        for (key_bytes, items) in [1, 2, 4, 8].into_iter().flat_map(|bytes| [1, 4].map(|items| (bytes, items))) {
            let form = Form { key_bytes, items, ..Form::default() };
            check_planned(step, Operators::Nothing, &form.choices(), (&[], &[]));
        }
    }
}
