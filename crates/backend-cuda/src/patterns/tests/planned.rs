//! Every choice of every kernel that all GPUs have names an entry.

use super::check_planned;
use isowarp_core::element::DType;
use isowarp_core::launch::Operators;
use isowarp_core::launch::kernels::{
    self, GATHER, LAYOUT, SCATTER, SCATTER_REDUCE, SWAP_SQUARE, TRANSPOSE, TRANSPOSE_SQUARE, TRANSPOSE_TILES,
};
use isowarp_core::patterns::layout::plan::plane_choices;
use isowarp_core::patterns::{GatherTask, ScatterOp, ScatterTask};
use isowarp_kernels::Source;

#[test]
fn moves_of_every_type_and_index_have_a_kernel() {
    for (dtype, index) in DType::ALL.into_iter().flat_map(|dtype| [DType::U32, DType::I32, DType::U64].map(|index| (dtype, index))) {
        check_planned(GATHER.def(), Operators::Nothing, &GatherTask::choices(dtype, index), (&[], &[]));
        let scatter = |op| ScatterTask { n: 1, targets: 1, op, positions: false }.choices(dtype, index);
        check_planned(SCATTER.def(), Operators::Nothing, &scatter(ScatterOp::Store), (&[], &[]));
        if dtype.size_bytes() >= 4 {
            check_planned(SCATTER_REDUCE.def(), Operators::Nothing, &scatter(ScatterOp::Sum), (&[], &[]));
        }
    }
}

#[test]
fn moves_by_shape_have_a_kernel_for_units_of_every_size() {
    for size in [1, 2, 4, 8, 16] {
        let copy = [("size", size as u32), ("rank", 1), ("atomic", 0)];
        check_planned(LAYOUT.def(), Operators::Nothing, &copy, (&[], &[]));
        check_planned(TRANSPOSE_TILES.def(), Operators::Nothing, &[("unit", size as u32)], (&[], &[]));
        for vector in [false, true].into_iter().filter(|_| size < 16) {
            for plane in [TRANSPOSE.def(), TRANSPOSE_SQUARE.def(), SWAP_SQUARE.def()] {
                check_planned(plane, Operators::Nothing, &plane_choices(size, vector, 1), (&[], &[]));
            }
        }
    }
}

#[test]
fn every_step_of_a_top_k_has_a_kernel_for_keys_of_every_size() {
    for step in kernels::all().into_iter().filter(|def| def.pattern == "top_k" && def.entry().is_some()) {
        for size in [1, 2, 4, 8] {
            check_planned(step, Operators::Nothing, &[("size", size)], (&[], &[]));
        }
    }
}

#[test]
fn names_of_entries_are_unique_and_kernels_that_all_gpus_have_are_there() {
    let entries = Source::ALL.iter().flat_map(|source| source.builds()[0].entries.iter().map(|entry| entry.name));
    let mut names: Vec<&str> = entries.collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    for def in kernels::all() {
        let stem = |name: &'static str| name.split('{').next().expect("a first part");
        assert!(def.entry().is_none_or(|entry| names.iter().any(|name| name.starts_with(stem(entry.name)))), "{def:?}");
    }
}
