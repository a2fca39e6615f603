//! The lowered text of a dozen operators, pinned: a change to a lowering shows in its diff.

use isowarp_core::caps::Numerics;
use isowarp_core::element::Ty;
use isowarp_core::ir::{
    ArrayExpr, Expr, Func, Operations, Param, Ptx, PtxValue, Traced, WgslFma, WgslOptions, array_expr, branch, cuda_function, lit,
    numerics_of_4, pack, select, trace, wgsl_function, wgsl_function_4,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;

type F = Expr<f32>;

fn all(f: &Func) -> String {
    let mut out = String::new();
    for native_fma in [true, false] {
        let mut calls = BTreeSet::new();
        let text = wgsl_function(
            f,
            "op",
            WgslOptions {
                fma: if native_fma { WgslFma::Native } else { WgslFma::Prelude },
                numerics: Numerics::Strict,
                repairs: Operations::NONE,
            },
            &mut calls,
        );
        let fused = if native_fma { "native fma" } else { "iw_fma" };
        if native_fma || text.contains("iw_fma(") {
            let _ = writeln!(out, "// WGSL, {fused}; calls {calls:?}\n{text}");
        }
    }
    let mut calls = BTreeSet::new();
    let text = wgsl_function_4(
        f,
        "op",
        WgslOptions { fma: WgslFma::Guarded, numerics: Numerics::Strict, repairs: Operations::NONE },
        (&[], &[]),
        &mut calls,
    );
    let _ = writeln!(out, "// WGSL, four elements, guarded fma; calls {calls:?}\n{text}");
    let _ = writeln!(out, "// PTX\n{}", ptx(f, Numerics::Strict));
    let _ = write!(out, "// CUDA C++\n{}", cuda_function(f, "op"));
    out
}

fn ptx(f: &Func, numerics: Numerics) -> String {
    let mut p = Ptx::new(numerics, "kernel_param_0+264");
    let args: Vec<PtxValue> = f
        .params
        .iter()
        .enumerate()
        .map(|(k, param)| match *param {
            Param::Value(ty) | Param::Index(ty) => PtxValue { reg: format!("%p{k}"), ty },
            Param::Array(d) => PtxValue { reg: String::new(), ty: d.ty() },
        })
        .collect();
    let results = p.call(f, &args, &mut |p, at| p.emit(Ty::F32, |o| format!("// fetch {o} = array {} at {}", at.param, at.index.reg)));
    for (k, r) in results.iter().enumerate() {
        p.line(format!("// result {k} in {}", r.reg));
    }
    p.finish()
}

#[test]
fn lowered_text_is_as_reviewed() {
    let fetch = pack(vec![Param::Value(Ty::I32), Param::Array(isowarp_core::element::DType::F32)], || {
        let array: ArrayExpr<f32> = array_expr(1);
        let i = <Expr<i32> as Traced>::params(0);
        array.at(i - 1) + array.at(i)
    });
    let operators: [(&str, Func); 13] = [
        ("axpy", trace(|(a, x, y): (F, F, F)| a * x + y).unwrap()),
        ("difference_of_products", trace(|(a, b, c, d): (F, F, F, F)| a * b - c * d).unwrap()),
        ("argmin", trace(|(a, i, b, j): (F, Expr<u32>, F, Expr<u32>)| (a.min(b), select(a.le(b), i, j))).unwrap()),
        ("order_with_nan_last", trace(|(a, b): (F, F)| a.lt(b) | (b.is_nan() & !a.is_nan())).unwrap()),
        ("maximum_f64", trace(|(a, b): (Expr<f64>, Expr<f64>)| a.max(b)).unwrap()),
        ("nested_branch", trace(|x: F| branch(x.lt(0.0), || -x, || branch(x.gt(1.0), || x.mul_rn(0.5), || x))).unwrap()),
        ("casts", trace(|x: F| (x.cast::<i32>(), x.cast::<u64>(), x.is_nan().cast::<u32>())).unwrap()),
        ("widening", trace(|(x, y): (Expr<i32>, Expr<u32>)| (x.cast::<u64>(), y.cast::<i64>())).unwrap()),
        ("f64", trace(|(x, y): (Expr<f64>, Expr<f64>)| x * y + (x / y).sqrt()).unwrap()),
        ("i64", trace(|(x, y): (Expr<i64>, Expr<i64>)| (x / y).abs() % 10 + (x >> 40u32)).unwrap()),
        ("fetch", fetch.unwrap()),
        ("elementary", trace(|x: F| x.rsqrt()).unwrap()),
        (
            "awkward_constants",
            trace(|x: F| select(x.eq(-0.0), lit(f32::NEG_INFINITY), select(x.lt(1e-45), lit(f32::NAN), x + f32::MAX))).unwrap(),
        ),
    ];
    for (name, f) in &operators {
        insta::assert_snapshot!(*name, all(f));
    }
    insta::assert_snapshot!("sine_of_four", numerics_of_4("iw_sin").unwrap().0);
    insta::assert_snapshot!("fast_ptx", ptx(&trace(|x: F| (x / 3.0).exp() + x.sqrt()).unwrap(), Numerics::Fast));
}

#[test]
fn neighbours_that_the_four_hold_are_not_fetched() {
    let f = pack(vec![Param::Value(Ty::F32), Param::Array(isowarp_core::element::DType::F32), Param::Index(Ty::U32)], || {
        let (x, all, i): (F, _, Expr<u32>) = (Traced::params(0), array_expr::<f32>(1), Traced::params(2));
        x - all.at(i - 2u32) + all.at(i + 1u32)
    })
    .unwrap();
    let text = |twins: &[Option<u8>]| {
        wgsl_function_4(
            &f,
            "op",
            WgslOptions { fma: WgslFma::Native, numerics: Numerics::Strict, repairs: Operations::NONE },
            (twins, &[]),
            &mut BTreeSet::new(),
        )
    };
    let fetches = |text: &str| text.matches("op_fetch1(").count();
    // Elements behind another may not have been loaded.
    let (plain, with) = (text(&[]), text(&[None, Some(0), None]));
    assert_eq!((fetches(&plain), fetches(&with)), (8, 6));
    assert!(with.contains("bitcast<f32>(p0.x), bitcast<f32>(p0.y))"), "{with}");
}
