//! Every kernel's holes are filled for representative operators. With `PTXAS` naming an assembler, the texts are assembled too.

mod planned;
mod textbook;

use super::holes::{Holes, Shape, combine};
use super::keys::{self, Held};
use super::lines::room;
use super::{by_key, histogram, launcher, merge, merge_sort, select};
use crate::splice::{Fill, Site, splice};
use isowarp_core::caps::Numerics;
use isowarp_core::element::{DType, Element, Ty};
use isowarp_core::ir::{self, Expr, Func, Param};
use isowarp_core::launch::kernels::{BALLOT, Def, MAP, PEERS, SCATTER_FROM};
use isowarp_core::launch::{Choice, Operators};
use isowarp_core::numerics::Func as Elementary;
use isowarp_core::patterns::{
    HistogramSum, HistogramTask, Peers, PeersTask, ReduceByKeyTask, ScatterFromTask, ScatterOp, SegmentedReduceTask, SelectKind,
    SelectTask, Sides,
};
use isowarp_kernels::Source;
use std::process::Command;
use std::sync::Arc;

fn one<A: ir::Traced, R: ir::Traced>(f: impl FnOnce(A) -> R) -> Func {
    ir::trace(f).expect("a plain operator traces")
}

/// Fills the entry of a source and, if asked to, assembles it.
fn check(source: Source, entry: &str, fills: &[Fill<'_>]) {
    check_text(source.builds()[0].template(entry).unwrap_or_default(), entry, fills);
}

/// Fills the entry of a text and, if asked to, assembles it for the oldest and a current architecture.
fn check_text(template: &str, entry: &str, fills: &[Fill<'_>]) {
    let text = splice(template, entry, fills).unwrap_or_else(|e| panic!("{entry}: {e}"));
    assert!(!text.contains("@op."), "{entry}: a hole is left");
    let Some(ptxas) = std::env::var_os("PTXAS") else { return };
    let dir = std::env::temp_dir();
    let name = format!("isowarp-{}-{:?}", entry, std::thread::current().id()).replace(['(', ')'], "");
    let path = dir.join(format!("{name}.ptx"));
    std::fs::write(&path, &text).expect("the temporary folder can be written");
    // The one that it is for, and a current one; what is for one alone runs on no other.
    let oldest = text.lines().find_map(|line| line.strip_prefix(".target ")).expect("a target");
    for arch in [oldest, if oldest.ends_with('a') { oldest } else { "sm_90" }] {
        let out =
            Command::new(&ptxas).args(["-arch", arch, "-o", "/dev/null", "-v"]).arg(&path).output().expect("PTXAS names an assembler");
        let log = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{entry} {arch}: {log}\n{text}");
        assert!(!log.contains("are serialized"), "{entry} {arch}: {log}");
        println!("{} {arch}: {}", entry, log.lines().filter(|l| l.contains("registers") || l.contains("spill")).collect::<String>());
    }
}

/// Checks the entry of a plan's kernel that choices name.
fn check_planned(def: &Def, operators: Operators<'_>, choices: &[Choice], shapes: (&[Shape], &[Shape])) {
    check_planned_on((7, 0), def, operators, choices, shapes);
}

/// Checks the entry that a device of this compute capability runs.
fn check_planned_on(capability: (u32, u32), def: &Def, operators: Operators<'_>, choices: &[Choice], shapes: (&[Shape], &[Shape])) {
    let choice = |name: &str| choices.iter().find(|(of, _)| *of == name).map_or(0, |c| c.1);
    let entry = launcher::entry(def.entry().expect("a kernel of its own"), choice).expect("an entry to every choice");
    let template = entry.template(capability).expect("a build for the architecture");
    for numerics in [Numerics::Strict, Numerics::Fast] {
        launcher::with_fills(&entry.holes(), &operators, shapes, numerics, |fills| check_text(template, entry.name(), fills));
    }
}

fn check_map(func: &Func, leaves: &[Shape], outs: &[Shape]) {
    for vector in [0, 1] {
        check_planned(MAP.def(), Operators::Body(func), &[("aligned", vector)], (leaves, outs));
    }
}

#[test]
fn maps_of_every_element_type_and_shape_fill_their_holes() {
    for d in DType::ALL {
        let ty = d.ty();
        let params = vec![Param::Value(ty); 4];
        let shapes = [Shape::Vector(d), Shape::Strided(d), Shape::Broadcast(d), Shape::Value(ty)];
        let func = match ty {
            Ty::F32 => one(|(a, b, c, d): (Expr<f32>, Expr<f32>, Expr<f32>, Expr<f32>)| a * b + c.max(d)),
            Ty::F64 => one(|(a, b, c, d): (Expr<f64>, Expr<f64>, Expr<f64>, Expr<f64>)| (a * b + c.max(d)).sqrt() / a),
            Ty::I32 => one(|(a, b, c, d): (Expr<i32>, Expr<i32>, Expr<i32>, Expr<i32>)| a / b + c.max(d) % a),
            Ty::I64 => one(|(a, b, c, d): (Expr<i64>, Expr<i64>, Expr<i64>, Expr<i64>)| a / b + c.max(d) % a),
            Ty::U64 => one(|(a, b, c, d): (Expr<u64>, Expr<u64>, Expr<u64>, Expr<u64>)| (a / b + (c.max(d) % a)) << 3),
            _ => one(|(a, b, c, d): (Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>)| (a / b + (c.max(d) % a)) << 3),
        };
        assert_eq!(func.params, params);
        check_map(&func, &shapes, &[Shape::Vector(d)]);
        check_map(&func, &shapes, &[Shape::Strided(d)]);
    }
}

#[test]
fn every_elementary_function_fills_a_map() {
    for &f in Elementary::ALL {
        let func = ir::definition(f);
        let leaves = vec![Shape::Vector(DType::F32); f.arity()];
        check_map(&func, &leaves, &[Shape::Vector(DType::F32)]);
    }
}

#[test]
fn index_and_fetches_fill_a_map() {
    let params = vec![Param::Array(DType::U8), Param::Index(Ty::U32), Param::Array(DType::F16)];
    let func = ir::pack(params, || {
        let (a, b) = (ir::array_expr::<u8>(0), ir::array_expr::<half::f16>(2));
        let i = <Expr<u32> as ir::Traced>::params(1);
        (a.at(i - 1u32), b.at(i.cast::<i32>() - 1))
    })
    .expect("a plain operator traces");
    let leaves = [Shape::Array(DType::U8, None), Shape::Index(Ty::U32), Shape::Array(DType::F16, None)];
    check_map(&func, &leaves, &[Shape::Vector(DType::U32), Shape::Vector(DType::F16)]);
}

/// The body of a map's hole, for so many neighbours.
fn body(load: &Func, leaves: &[Shape], out: Shape, (count, name): (usize, &'static str)) -> String {
    let site = Site { entry: "map_vec", param: "p0", name, regs: vec!["%rd1"], index: 0 };
    Holes { load, leaves, outs: &[out], numerics: Numerics::Strict }.body(count, &site).expect("a plain operator has a body")
}

#[test]
fn narrow_integers_are_loaded_with_their_sign_and_compared_with_it() {
    let (signed, unsigned) = (one(|x: Expr<i32>| x), one(|x: Expr<u32>| x));
    let holes = |dtype: DType, shape: Shape, count: usize, name: &'static str| {
        body(if dtype.ty() == Ty::I32 { &signed } else { &unsigned }, &[shape], shape, (count, name))
    };
    for (dtype, load, store) in [(DType::I8, "s8", "u8"), (DType::I16, "s16", "u16"), (DType::U8, "u8", "u8"), (DType::U16, "u16", "u16")] {
        let four = holes(dtype, Shape::Vector(dtype), 4, "body4");
        assert!(four.contains(&format!("ld.global.v4.{load} ")) && four.contains("prmt.b32"), "{four}");
        let single = holes(dtype, Shape::Strided(dtype), 1, "body1");
        assert!(single.contains(&format!("ld.global.{load} ")) && single.contains(&format!("st.global.{store} ")), "{single}");
        // Kernels hand an order the bits of its keys, without a sign.
        let order = match dtype.ty() {
            Ty::I32 => one(|(a, b): (Expr<i32>, Expr<i32>)| a.lt(b)),
            _ => one(|(a, b): (Expr<u32>, Expr<u32>)| a.lt(b)),
        };
        let site = Site { entry: "sort_by_tile_k4_p0", param: "p0", name: "before", regs: vec!["%r1", "%r2", "%r3"], index: 0 };
        let text = super::holes::before(&order, dtype, Numerics::Strict, &site).expect("a plain order");
        assert_eq!(text.matches(&format!("cvt.s32.{load} ")).count(), if dtype.ty() == Ty::I32 { 2 } else { 0 }, "{text}");
    }
}

#[test]
fn a_neighbour_that_the_group_has_loaded_is_not_fetched_again() {
    let params = vec![Param::Value(Ty::F32), Param::Array(DType::F32), Param::Index(Ty::U32)];
    let func = ir::pack(params, || {
        let (x, all) = (<Expr<f32> as ir::Traced>::params(0), ir::array_expr::<f32>(1));
        let i = <Expr<u32> as ir::Traced>::params(2);
        all.at(i - 1u32) - x + all.at(i + 2)
    })
    .expect("a plain operator traces");
    let loads = |twin| {
        let leaves = [Shape::Vector(DType::F32), Shape::Array(DType::F32, twin), Shape::Index(Ty::U32)];
        let text = body(&func, &leaves, Shape::Vector(DType::F32), (4, "body4"));
        text.matches("ld.global.b32").count()
    };
    // Of the elements before four the first is outside them, and of those two behind them the last two.
    assert_eq!((loads(None), loads(Some(0))), (8, 3));
    let leaves = [Shape::Vector(DType::F32), Shape::Array(DType::F32, Some(0)), Shape::Index(Ty::U32)];
    check_map(&func, &leaves, &[Shape::Vector(DType::F32)]);
}

#[test]
fn an_element_that_four_neighbours_share_is_fetched_once() {
    let params = vec![Param::Array(DType::U32), Param::Value(Ty::U32), Param::Index(Ty::U32)];
    let func = ir::pack(params, || {
        let (all, i) = (ir::array_expr::<u32>(0), <Expr<u32> as ir::Traced>::params(2));
        let state = (i >> 5) * 5;
        all.at(state) + (all.at(state + 1) ^ <Expr<u32> as ir::Traced>::params(1)) * (i & 3) + all.at(i >> 1)
    })
    .expect("a plain operator traces");
    let leaves = [Shape::Array(DType::U32, None), Shape::Value(Ty::U32), Shape::Index(Ty::U32)];
    let text = body(&func, &leaves, Shape::Vector(DType::U32), (4, "body4"));
    assert_eq!(text.matches("ld.global.b32").count(), 2 + 4, "{text}");
    check_map(&func, &leaves, &[Shape::Vector(DType::U32)]);
}

/// One accumulator: load, combination, finish, leaves.
type Case = (Func, Func, Func, Vec<Shape>);

/// Accumulators of 1 to 4 words.
fn accumulators() -> Vec<Case> {
    type Indexed = (Expr<f64>, Expr<u32>);
    type Two = (Expr<f64>, Expr<f64>);
    type Affine = (Expr<f32>, Expr<f32>);
    type Matrix = (Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>);
    let f64_index = ir::pack(vec![Param::Value(Ty::F64), Param::Index(Ty::U32)], || <Indexed as ir::Traced>::params(0));
    let least = |(a, b): (Indexed, Indexed)| {
        let keep = a.0.le(b.0);
        (ir::select(keep, a.0, b.0), ir::select(keep, a.1, b.1))
    };
    vec![
        (one(|x: Expr<f32>| x), one(|(a, b): (Expr<f32>, Expr<f32>)| a + b), one(|x: Expr<f32>| x), vec![Shape::Vector(DType::F32)]),
        (one(|x: Expr<f64>| x), one(|(a, b): (Expr<f64>, Expr<f64>)| a + b), one(|x: Expr<f64>| x), vec![Shape::Vector(DType::F64)]),
        (
            f64_index.expect("a plain operator traces"),
            one(least),
            one(|p: Indexed| p),
            vec![Shape::Vector(DType::F64), Shape::Index(Ty::U32)],
        ),
        (
            one(|x: Expr<f64>| (x, x)),
            one(|(a, b): (Two, Two)| (a.0.min(b.0), a.1.max(b.1))),
            one(|p: Two| p),
            vec![Shape::Strided(DType::F64)],
        ),
        (
            one(|(a, b): (Expr<f32>, Expr<f32>)| (a, b)),
            one(|(f, g): (Affine, Affine)| (f.0 * g.0, f.1 * g.0 + g.1)),
            one(|f: Affine| f),
            vec![Shape::Vector(DType::F32); 2],
        ),
        (
            one(|(a, b): (Expr<u32>, Expr<u32>)| (a, b, b ^ 5, a ^ 3)),
            one(|(p, q): (Matrix, Matrix)| (p.0 * q.0 + p.1 * q.2, p.0 * q.1 + p.1 * q.3, p.2 * q.0 + p.3 * q.2, p.2 * q.1 + p.3 * q.3)),
            one(|m: Matrix| m),
            vec![Shape::Vector(DType::U32), Shape::Strided(DType::U8)],
        ),
    ]
}

#[test]
fn line_kernels_of_every_width_fill_their_holes() {
    for (load, op, finish, leaves) in accumulators() {
        let parts = load.result_types();
        let outs: Vec<Shape> = parts.iter().map(|t| Shape::Vector(t.dtype())).collect();
        let holes = Holes { load: &load, leaves: &leaves, outs: &outs, numerics: Numerics::Strict };
        let load4 = |s: &Site<'_>| holes.load(4, s);
        let load1 = |s: &Site<'_>| holes.load(1, s);
        let merge = |s: &Site<'_>| combine(&op, Numerics::Strict, s);
        let store1 = |s: &Site<'_>| holes.store(&finish, &parts, 1, s);
        let store4 = |s: &Site<'_>| holes.store(&finish, &parts, 4, s);
        let all = [
            Fill { name: "load4", body: &load4 },
            Fill { name: "load1", body: &load1 },
            Fill { name: "combine", body: &merge },
            Fill { name: "finish", body: &store1 },
            Fill { name: "store1", body: &store1 },
            Fill { name: "store4", body: &store4 },
        ];
        let mut filled = 0;
        for source in [Source::Reduce, Source::Scan, Source::Segments, Source::SegmentsEach] {
            for entry in source.builds()[0].entries.iter().filter(|e| e.name.ends_with(&format!("_w{}", room(load.result_words())))) {
                let fills: Vec<Fill<'_>> = all.iter().filter(|f| entry.holes.contains(&f.name)).copied().collect();
                check(source, entry.name, &fills);
                filled += 1;
            }
        }
        assert!(filled >= 13, "only {filled} entries of this width");
    }
}

#[test]
fn reductions_by_key_of_both_widths_fill_their_holes() {
    fn all<K: Element>() {
        // Wider ones are reduced in two steps.
        for (load, op, finish, mut leaves) in accumulators().into_iter().filter(|(load, ..)| load.result_words() <= 2) {
            let (load, combine, finish) = (Arc::new(load), Arc::new(op), Arc::new(finish));
            let mut outs: Vec<Shape> = finish.result_types().iter().map(|t| Shape::Vector(t.dtype())).collect();
            let words = load.result_words();
            let values = SegmentedReduceTask {
                load,
                combine,
                finish,
                nothing: vec![],
                n: 9,
                segments: 9,
                counted: true,
                numerics: Numerics::Strict,
            };
            let task = ReduceByKeyTask::new::<K>(values).expect("a plain operator traces");
            let twin = leaves.len() as u8;
            leaves.extend([Shape::Vector(K::DTYPE), Shape::Array(K::DTYPE, Some(twin)), Shape::Index(Ty::U32)]);
            outs.extend([Shape::Strided(K::DTYPE), Shape::Strided(DType::U32)]);
            for form in ["_served", "_joint"] {
                by_key::with_fills(&task, &leaves, &outs, |fills| check(Source::ByKey, &format!("by_key{form}_w{words}"), fills));
            }
        }
    }
    all::<u8>();
    all::<half::f16>();
    all::<i8>();
    all::<i16>();
    all::<u32>();
    all::<f32>();
    all::<f64>();
}

/// An element's part and values of 1 to 4 words, and the identity on these.
fn selections() -> Vec<(Func, Func, Vec<DType>)> {
    type Pair<T> = (Expr<T>, Expr<u32>);
    let keep = |x: Expr<u32>| ir::select((x & 1u32).eq(0), 0, 1);
    let wide = |x: Expr<u64>| ir::select((x & 1u64).eq(0), 0, 1);
    vec![
        (one(|x: Expr<u32>| (keep(x), x)), one(|x: Expr<u32>| x), vec![DType::U32]),
        (one(|x: Expr<u32>| (keep(x), x)), one(|x: Expr<u32>| x), vec![DType::U8]),
        (one(|x: Expr<i32>| (keep(x.cast()), x)), one(|x: Expr<i32>| x), vec![DType::I16]),
        (one(|x: Expr<f32>| (keep(x.bitcast()), x)), one(|x: Expr<f32>| x), vec![DType::F16]),
        (one(|x: Expr<u64>| (wide(x), x)), one(|x: Expr<u64>| x), vec![DType::U64]),
        (one(|(x, y): Pair<u64>| (wide(x), x, y)), one(|p: Pair<u64>| p), vec![DType::U64, DType::U8]),
        (one(|(x, y): (Expr<u64>, Expr<u64>)| (wide(x), x, y)), one(|p: (Expr<u64>, Expr<u64>)| p), vec![DType::U64, DType::U64]),
    ]
}

#[test]
fn selections_of_every_kind_and_width_fill_their_holes() {
    type Two = (Expr<u32>, Expr<u32>);
    let add = Arc::new(one(|(a, b): (Expr<u32>, Expr<u32>)| a + b));
    let add_wide = Arc::new(one(|(a, b): (Expr<u64>, Expr<u64>)| a + b));
    let add_two = Arc::new(one(|(a, b): (Two, Two)| (a.0 + b.0, a.1 + b.1)));
    let kinds = [
        (SelectKind::Keep, "select", &add, 1 << 20),
        (SelectKind::TwoWays, "select_two", &add, 1 << 20),
        (SelectKind::Keep, "select_wide", &add_wide, 1 << 33),
        (SelectKind::ThreeWays, "select_three", &add_two, 1 << 20),
        (SelectKind::Runs, "select_runs", &add_two, 1 << 20),
    ];
    for (func, store, dtypes) in selections() {
        let (func, store) = (Arc::new(func), Arc::new(store));
        for (kind, name, combine, n) in kinds {
            let (source, forms): (Source, &[&str]) = match name {
                "select_two" | "select_three" => (Source::Partition, &["_served", "_joint"]),
                "select_wide" => (Source::Select, &["_served"]),
                _ => (Source::Select, &["", "_served"]),
            };
            for (count, form) in [DType::U32, DType::U64].into_iter().flat_map(|c| forms.iter().map(move |f| (c, f))) {
                let (func, store, combine) = (Arc::clone(&func), Arc::clone(&store), Arc::clone(combine));
                let task = SelectTask { func, store, combine, n, kind, count, numerics: Numerics::Strict };
                let leaves: Vec<Shape> = dtypes.iter().map(|&d| Shape::Vector(d)).collect();
                let mut outs = leaves.clone();
                if kind == SelectKind::Runs {
                    outs.push(Shape::Vector(DType::U32));
                }
                outs.push(Shape::Strided(count));
                let entry = format!("{name}{form}_w{}", room(task.store.result_words()));
                let known = source.builds()[0].entries.iter().find(|e| e.name == entry).expect("an entry to each width");
                select::with_fills(&task, &leaves, &outs, known.holes, |fills| check(source, &entry, fills));
            }
        }
    }
}

#[test]
fn histograms_of_every_kind_fill_their_holes() {
    type E = Expr<u32>;
    let bytes = |n: u32| move |x: E| (0..4).map(|k| (x >> (8 * k.min(n - 1))) & 0xff).collect::<Vec<_>>();
    let all = [
        (one(|x: E| x >> 24), HistogramSum::Count, DType::U32),
        (one(|x: E| x), HistogramSum::Count, DType::U8),
        (one(|x: E| x), HistogramSum::Count, DType::U16),
        (one(|x: Expr<i32>| (x + 128).cast::<u32>()), HistogramSum::Count, DType::I8),
        (one(|x: Expr<f32>| (x * 256.0).cast::<u32>()), HistogramSum::Count, DType::F32),
        (one(|x: E| (bytes(2)(x)[0], bytes(2)(x)[1])), HistogramSum::Count, DType::U32),
        (one(|x: E| (bytes(3)(x)[0], bytes(3)(x)[1], bytes(3)(x)[2])), HistogramSum::Count, DType::U32),
        (one(|x: E| (bytes(4)(x)[0], bytes(4)(x)[1], bytes(4)(x)[2], bytes(4)(x)[3])), HistogramSum::Count, DType::U32),
        (one(|x: E| (x, x * 3)), HistogramSum::Word, DType::U32),
        (one(|x: Expr<u64>| (x.cast::<u32>(), x)), HistogramSum::Wide, DType::U64),
        (one(|x: Expr<f32>| (x.cast::<u32>(), x.bitcast::<u32>())), HistogramSum::Exact, DType::F32),
        (one(|x: Expr<f64>| (x.cast::<u32>(), x.bitcast::<u64>())), HistogramSum::ExactWide, DType::F64),
        (one(|x: E| (x, x + 1, x * 3)), HistogramSum::Word, DType::U32),
        (one(|x: Expr<u64>| (x.cast::<u32>(), (x >> 9).cast::<u32>(), x)), HistogramSum::Wide, DType::U64),
        (one(|x: Expr<f32>| (x.cast::<u32>(), (x * 2.0).cast::<u32>(), x.bitcast::<u32>())), HistogramSum::Exact, DType::F32),
        (one(|x: Expr<f64>| (x.cast::<u32>(), (x * 2.0).cast::<u32>(), x.bitcast::<u64>())), HistogramSum::ExactWide, DType::F64),
    ];
    for (func, sum, dtype) in all {
        let task = HistogramTask { func: Arc::new(func), n: 1, bins: 256, sum, clears: false, numerics: Numerics::Strict };
        let task = histogram::padded(&task);
        for shape in [Shape::Vector(dtype), Shape::Strided(dtype)] {
            for fits in [true, false] {
                let kernel = histogram::kernel(&task, fits);
                let operators = Operators::Words(&task.func);
                launcher::with_fills(kernel.holes(), &operators, (&[shape], &[]), task.numerics, |fills| {
                    check(Source::Histogram, kernel.entry(), fills);
                });
            }
        }
    }
}

#[test]
fn scatters_fill_their_holes() {
    let all = [
        (one(|x: Expr<u32>| (x >> 9, x * 3)), DType::U32),
        (one(|x: Expr<f32>| ((x * 256.0).cast::<u32>(), x.sin().bitcast::<u32>())), DType::F32),
        (one(|x: Expr<f64>| (x.cast::<u32>(), (x * x).bitcast::<u64>())), DType::F64),
    ];
    for (func, dtype) in all {
        let task = ScatterFromTask { func: Arc::new(func), n: 1, targets: 1, op: ScatterOp::Store, numerics: Numerics::Strict };
        for shape in [Shape::Vector(dtype), Shape::Strided(dtype)] {
            let target = [DType::U32, DType::U64][task.func.result_words() - 2];
            check_planned(SCATTER_FROM.def(), Operators::Words(&task.func), &task.choices(target), (&[shape], &[]));
        }
    }
}

#[test]
fn groups_fill_their_holes() {
    let conditions = [
        (one(|x: Expr<u32>| x & 1u32), DType::U32),
        (one(|x: Expr<u32>| x & 1u32), DType::U8),
        (one(|x: Expr<f32>| (x * 2.0 + 1.0).exp().gt(3.0).cast::<u32>()), DType::F32),
        (one(|x: Expr<u64>| x * 3), DType::U64),
    ];
    for (func, dtype) in conditions {
        let func = Arc::new(func);
        for shape in [Shape::Vector(dtype), Shape::Strided(dtype)] {
            let shapes: (&[Shape], &[Shape]) = (&[shape], &[]);
            if func.result_words() == 1 {
                check_planned(BALLOT.def(), Operators::Words(&func), &[], shapes);
            }
            let peers = PeersTask { func: Arc::clone(&func), n: 1, width: 32, peers: Peers::Mask, numerics: Numerics::Strict };
            check_planned(PEERS.def(), Operators::Words(&func), &peers.choices(), shapes);
        }
    }
}

#[test]
fn elements_of_every_width_are_moved() {
    let mut filled = 0;
    for source in [Source::Sort, Source::SegmentedSort, Source::SegmentedShort, Source::Merge] {
        let moves = |name: &&'static str| name.starts_with("key_") || name.starts_with("value_");
        for entry in source.builds()[0].entries.iter().filter(|entry| entry.holes.iter().any(moves)) {
            for size in [1, 2, 4] {
                keys::with_fills(entry.holes, (Held::high(size), Held::low(size)), &[], |fills| check(source, entry.name, fills));
                filled += 1;
            }
        }
    }
    assert!(filled >= 30, "only {filled} kernels");
}

#[test]
fn orders_of_every_type_fill_their_holes() {
    fn all<K: Element>(order: fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>) {
        let func = one(|(a, b): (Expr<K::Reg>, Expr<K::Reg>)| order(a, b));
        for kernel in merge_sort::kernels(K::DTYPE) {
            merge_sort::with_fills(kernel, &func, K::DTYPE, Numerics::Strict, |fills| check(Source::MergeSort, kernel.entry(), fills));
        }
    }
    all::<u8>(|a, b| (a & 7u32).gt(b & 7u32));
    all::<half::f16>(|a, b| a.abs().lt(b.abs()));
    all::<i8>(Expr::lt);
    all::<i16>(|a, b| (a % 100).lt(b % 100));
    all::<u16>(Expr::gt);
    all::<u32>(Expr::lt);
    all::<i32>(|a, b| (a % 100).lt(b % 100));
    all::<f32>(|a, b| a.exp().lt(b.exp()) | (b.is_nan() & !a.is_nan()));
    all::<u64>(|a, b| (a >> 3).gt(b >> 3));
    all::<i64>(|a, b| a.abs().lt(b.abs()));
    all::<f64>(|a, b| a.abs().lt(b.abs()));
}

#[test]
fn merges_of_what_is_computed_fill_their_holes() {
    // An array that is fetched from at computed indices, and elements beside a value and the index.
    fn sides<K: Element, V: Element>(f: fn(Expr<K::Reg>) -> Expr<K::Reg>) -> Sides {
        let params = vec![Param::Array(K::DTYPE), Param::Index(Ty::U32), Param::Value(V::DTYPE.ty())];
        let a = ir::pack(params, || {
            let i = <Expr<u32> as ir::Traced>::params(1);
            (f(ir::array_expr::<K>(0).at(i * 3)), <Expr<V::Reg> as ir::Traced>::params(2))
        });
        let b = one(|(x, v, i): (Expr<K::Reg>, Expr<V::Reg>, Expr<u32>)| (x, i.lt(7).select(v, v)));
        Sides { each: [Arc::new(a.expect("a plain operator traces")), Arc::new(b)], numerics: Numerics::Strict }
    }
    fn all<K: Element, V: Element>(f: fn(Expr<K::Reg>) -> Expr<K::Reg>) {
        let (k, v) = (K::DTYPE, V::DTYPE);
        let leaves = [
            Shape::Array(k, Some(3)),
            Shape::Index(Ty::U32),
            Shape::Strided(v),
            Shape::Vector(k),
            Shape::Value(v.ty()),
            Shape::Index(Ty::U32),
        ];
        let (row, column) = (4 * k.ty().words(), 4 * v.ty().words());
        let of = sides::<K, V>(f);
        for (entry, value) in [
            (format!("merge_from_co_ranks_k{row}"), None),
            (format!("search_from_k{row}"), None),
            (format!("merge_from_k{row}_p0"), None),
            (format!("merge_from_k{row}_p{column}"), Some(v)),
        ] {
            let known = Source::MergeFrom.builds()[0].entries.iter().find(|e| e.name == entry).expect("an entry to each width");
            let filled = merge::lazy::with_fills(&of, (k, value), &leaves, known.holes, |fills| check(Source::MergeFrom, &entry, fills));
            filled.expect("plain operators are joined");
        }
    }
    all::<u8, half::f16>(|x| x + 1);
    all::<half::f16, u8>(|x| x * 2.0);
    all::<i8, i16>(|x| x - 1);
    all::<i16, u16>(|x| x / 3);
    all::<u16, i8>(|x| x << 1);
    all::<u32, u64>(|x| x << 1);
    all::<f32, f32>(Expr::exp);
    all::<i64, u32>(|x| x / 3);
    all::<f64, f64>(Expr::sqrt);
}
