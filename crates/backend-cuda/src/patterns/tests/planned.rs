//! Every choice of every kernel that all GPUs have names an entry.

use super::super::holes::{Shape, places};
use super::{check_map, check_planned, check_planned_on};
use isowarp_core::element::{DType, Ty};
use isowarp_core::input::Source as _;
use isowarp_core::ir::{self, Expr, Param, Traced as _};
use isowarp_core::launch::kernels::{
    self, CONTRACT, CONTRACT_FIXED, CONTRACT_FOLD, CONTRACT_GREATEST, CONTRACT_PACK, CONTRACT_PACKED, CONTRACT_THIN, CONTRACT_TILES,
    CONTRACT_TILES_WIDE, CONTRACT_WARPGROUP, CONVOLVE, CONVOLVE_LAYER, Def, FFT, GATHER, LAYOUT, SCATTER, SCATTER_REDUCE, SWAP_SQUARE,
    TRANSPOSE, TRANSPOSE_SQUARE, TRANSPOSE_TILES,
};
use isowarp_core::launch::{Choice, Operators};
use isowarp_core::patterns::layout::plan::plane_choices;
use isowarp_core::patterns::product::Packing;
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
fn products_of_every_type_and_packing_fill_their_holes() {
    let check = |capability, kernel: &Def, packing, dtype: DType, choices: &[Choice]| {
        let params = vec![Param::Value(dtype.ty()); 2];
        let with_sum = vec![Param::Value(dtype.ty()); 3];
        let func = |params: &[Param], k: u16| match dtype.ty() {
            Ty::F64 => ir::pack(params.to_vec(), || Expr::<f64>::params(k)),
            Ty::I32 => ir::pack(params.to_vec(), || Expr::<i32>::params(k)),
            Ty::U32 => ir::pack(params.to_vec(), || Expr::<u32>::params(k)),
            _ => ir::pack(params.to_vec(), || Expr::<f32>::params(k)),
        };
        let (a, b, finish) = (func(&params, 0).unwrap(), func(&params, 1).unwrap(), func(&with_sum, 2).unwrap());
        let operators = Operators::Product { a: &a, b: &b, finish: &finish, extents: [1; 3], packing };
        for shape in [Shape::Vector(dtype), Shape::Strided(dtype)] {
            check_planned_on(capability, kernel, operators, choices, (&[shape; 2], &[Shape::Vector(dtype.ty().dtype())]));
        }
    };
    for (ty, dtypes) in [(0, &[DType::F32, DType::F16][..]), (1, &[DType::F64]), (2, &[DType::I8, DType::U16, DType::I32])] {
        for &dtype in dtypes {
            let thin = (0..3).map(|reads| (CONTRACT_THIN.def(), reads));
            for (kernel, reads) in [(CONTRACT.def(), 0), (CONTRACT_FOLD.def(), 0)].into_iter().chain(thin) {
                check((7, 0), kernel, None, dtype, &[("type", ty), ("reads", reads)]);
            }
            // Entries of a type: of planes, of lines and of slices, and of f32 for few taps.
            let few = if ty == 0 { 9..14 } else { 0..0 };
            for kind in [ty, 3 + ty, 6 + ty].into_iter().chain(few) {
                check((7, 0), CONVOLVE.def(), None, dtype, &[("kind", kind)]);
            }
            check((8, 0), CONTRACT.def(), None, dtype, &[("type", ty)]);
        }
    }
    let packings = [
        (Packing::Signed, DType::I8),
        (Packing::Unsigned, DType::U8),
        (Packing::Half, DType::F16),
        (Packing::Brain, DType::F32),
        (Packing::Tensor, DType::F32),
    ];
    for (packing, dtype) in packings {
        check((7, 0), CONTRACT_PACK.def(), Some(packing), dtype, &[]);
        check((8, 0), CONTRACT_PACKED.def(), Some(packing), dtype, &[]);
        check((9, 0), CONTRACT_WARPGROUP.def(), Some(packing), dtype, &[]);
    }
    check((8, 0), CONTRACT_TILES.def(), Some(Packing::Tiles), DType::F32, &[]);
    for kernel in [CONTRACT_PACK.def(), CONTRACT_TILES_WIDE.def()] {
        check((9, 0), kernel, Some(Packing::WideTiles), DType::F64, &[("type", 1), ("kind", 2)]);
    }
    check((7, 0), CONVOLVE_LAYER.def(), None, DType::F32, &[]);
    for capability in [(7, 0), (8, 0)] {
        for kernel in [CONTRACT_GREATEST.def(), CONTRACT_PACK.def(), CONTRACT_FIXED.def()] {
            check(capability, kernel, Some(Packing::Digits), DType::F32, &[("kind", 1)]);
        }
    }
}

/// Windows of an image with zeros around it: 3 x 3 taps of 56 x 56 elements.
#[test]
fn windows_of_an_image_fill_a_product() {
    let params = vec![Param::Value(Ty::F32), Param::Array(DType::F32), Param::Index(Ty::U32)];
    let a = ir::pack(params.clone(), || Expr::<f32>::params(0)).expect("an element traces");
    let b = ir::pack(params.clone(), || {
        let i = Expr::<u32>::params(2);
        let (window, tap, plane) = (i % 3136, i / 3136 % 9, i / 3136 / 9);
        let (y, x) = (window / 56 + tap / 3 - 1, window % 56 + tap % 3 - 1);
        (y.lt(56) & x.lt(56)).select(ir::array_expr::<f32>(1).at(plane * 3136 + y * 56 + x), 0.0)
    });
    let b = b.expect("a window traces");
    let with_sum = [&params[..], &[Param::Value(Ty::F32)]].concat();
    let finish = ir::pack(with_sum, || Expr::<f32>::params(3)).expect("a sum traces");
    let operators = Operators::Product { a: &a, b: &b, finish: &finish, extents: [1; 3], packing: None };
    let leaves = [Shape::Strided(DType::F32), Shape::Array(DType::F32, None), Shape::Index(Ty::U32)];
    check_planned(CONTRACT.def(), operators, &[("type", 0)], (&leaves, &[Shape::Vector(DType::F32)]));
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
