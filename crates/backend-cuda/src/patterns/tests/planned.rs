//! Every choice of every kernel that all GPUs have names an entry.

use super::super::holes::{Shape, places};
use super::{check_map, check_planned};
use isowarp_core::element::{DType, Ty};
use isowarp_core::input::Source as _;
use isowarp_core::ir::{self, Expr, Param};
use isowarp_core::launch::Operators;
use isowarp_core::launch::kernels::{
    self, FFT, GATHER, LAYOUT, SCATTER, SCATTER_REDUCE, SWAP_SQUARE, TRANSPOSE, TRANSPOSE_SQUARE, TRANSPOSE_TILES,
};
use isowarp_core::patterns::layout::plan::plane_choices;
use isowarp_core::patterns::{GatherTask, ScatterOp, ScatterTask};
use isowarp_core::random::{Generator, Random};
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
fn transforms_of_both_types_have_a_kernel() {
    for (wide, two) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        check_planned(FFT.def(), Operators::Nothing, &[("wide", wide), ("two", two)], (&[], &[]));
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

/// Numbers of the launch are more than eight leaves here.
#[test]
fn draws_and_arrays_fill_a_map() {
    let draw = [Param::Value(Ty::U32); 6].into_iter().chain([Param::Index(Ty::U32)]);
    let params: Vec<Param> = draw.clone().chain(draw).chain([Param::Value(Ty::F32), Param::Value(Ty::F32)]).collect();
    let first = Random::new(1);
    for second in [first.stream(1), Random { position: 3, ..first }.by(Generator::Threefry)] {
        let func = ir::pack(params.clone(), || {
            let (x, y) = (first.uniform::<f32>(9), second.uniform::<f32>(9)).exprs(&mut 0);
            x + y * <Expr<f32> as ir::Traced>::params(14) - <Expr<f32> as ir::Traced>::params(15)
        })
        .expect("draws trace");
        let draw = [Shape::Value(Ty::U32); 6].into_iter().chain([Shape::Index(Ty::U32)]);
        let leaves: Vec<Shape> = draw.clone().chain(draw).chain([Shape::Vector(DType::F32), Shape::Value(Ty::F32)]).collect();
        let places = places(&leaves);
        assert_eq!((places[14], places[0], places[5], places[7], places[15]), (0, 16, 56, 64, 112));
        check_map(&func, &leaves, &[Shape::Vector(DType::F32)]);
    }
}
