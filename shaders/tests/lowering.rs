//! WGSL lowering of every operation on every type: it validates with its prelude, and an interpreter of what naga made of it gives the
//! bits of the evaluator.

mod common;
#[path = "../../crates/core/tests/common/mod.rs"]
mod operations;

use common::interp::{V, call, flushing};
use isowarp_core::caps::Numerics;
use isowarp_core::element::Ty;
use isowarp_core::input::Source as _;
use isowarp_core::ir::{
    Evaluator, Expr, Func, Operation, Operations, Param, UnOp, WgslFma, WgslOptions, branch, canonical_nan, numerics_of_4, pack, repeat,
    trace, wgsl_function, wgsl_function_4, wgsl_type,
};
use isowarp_core::random::Random;
use operations::random::{operator, programs};
use operations::{arguments, fetches, is_stored_narrow, operations, value_types};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn lower(f: &Func, native_fma: bool, numerics: Numerics) -> String {
    let mut calls = BTreeSet::new();
    let text = wgsl_function(
        f,
        "op",
        WgslOptions { fma: if native_fma { WgslFma::Native } else { WgslFma::Prelude }, numerics, repairs: Operations::NONE },
        &mut calls,
    );
    format!("{}{text}", isowarp_shaders::prelude(&calls, &mut common::native).unwrap())
}

/// The form for four elements at once, and the single one, which operators of 64 bits call.
fn lower_4(f: &Func, fma: WgslFma, shared: &[bool]) -> String {
    let (mut calls, options) = (BTreeSet::new(), WgslOptions { fma, numerics: Numerics::Strict, repairs: Operations::NONE });
    let text = [wgsl_function(f, "op", options, &mut calls), wgsl_function_4(f, "op", options, (&[], shared), &mut calls)].concat();
    let mut resolve = |name: &str| common::native(name).or_else(|| numerics_of_4(name.strip_suffix("_4")?));
    format!("{}{text}", isowarp_shaders::prelude(&calls, &mut resolve).unwrap())
}

fn value(ty: Ty, bits: u64) -> V {
    match ty {
        Ty::Bool => V::Bool(bits != 0),
        Ty::F32 => V::F32(bits as u32),
        Ty::F64 => V::F64(bits),
        Ty::I32 => V::I32(bits as u32 as i32),
        Ty::U32 => V::U32(bits as u32),
        Ty::I64 => V::I64(bits as i64),
        Ty::U64 => V::U64(bits),
    }
}

#[test]
fn every_operation_gives_the_bits_of_the_evaluator() {
    for (name, f) in operations() {
        let text = lower(&f, false, Numerics::Strict);
        let module = common::validated(&text);
        let wide = f.any(|_, t| t.words() == 2);
        // Conversions to and from 64 bits and fetches aside, nothing needs the 64-bit capabilities but 64-bit operators.
        assert_eq!(common::uses_64_bits(&module), wide, "{name}:\n{text}");
        for args in arguments(&f) {
            assert_eq!(interpreted(&module, &f, &args), evaluated(&f, &args), "{name} of {args:x?}:\n{text}");
        }
    }
}

#[test]
fn every_operation_on_four_elements_gives_each_the_bits_of_the_evaluator() {
    for (name, f) in operations() {
        for fma in [WgslFma::Native, WgslFma::Guarded] {
            let text = lower_4(&f, fma, &[]);
            let module = common::validated(&text);
            let all: Vec<Vec<u64>> = arguments(&f);
            // Neighbours in the list are alike; those that are far apart take different ways.
            let apart = all.len().div_ceil(4);
            for i in 0..apart {
                let four: [&[u64]; 4] = std::array::from_fn(|k| all[(i + k * apart) % all.len()].as_slice());
                assert_eq!(interpreted_4(&module, &f, four), four.map(|args| evaluated(&f, args)), "{name} of {four:x?}:\n{text}");
            }
        }
    }
}

#[test]
fn values_that_neighbours_share_have_the_bits_of_the_evaluator() {
    let numbers = [Param::Value(Ty::U32); 6].into_iter().chain([Param::Index(Ty::U32)]).chain([Param::Value(Ty::F32); 2]);
    // A block of words for all four, and the radius of each pair.
    let f = pack(numbers.collect(), || Random::new(1).normal(100, 0.0, 1.0).exprs(&mut 0)).unwrap();
    for fma in [WgslFma::Native, WgslFma::Guarded] {
        let text = lower_4(&f, fma, &[true; 9]);
        let module = common::validated(&text);
        for i in (0..400).step_by(4) {
            let args = [0, 1, 2, 3].map(|k| [7, 9, 1, 0, 3, 2, i + k, u64::from(0.5f32.to_bits()), u64::from(3f32.to_bits())]);
            let four = args.each_ref().map(<[u64; 9]>::as_slice);
            assert_eq!(interpreted_4(&module, &f, four), four.map(|args| evaluated(&f, args)), "{i}:\n{text}");
        }
    }
}

#[test]
fn both_words_of_a_product_have_the_bits_of_the_evaluator() {
    type U = Expr<u32>;
    // Where both are wanted, next to each other, in either order, in a turn of a loop, and where a block comes between them.
    let f = trace(|(x, y): (U, U)| {
        let inside = branch(x.lt(y), || x * 0xcd9e_8d57, || y);
        let (_, turned) = repeat(3, (x, y), |(a, b)| ((a * 0xd251_1f53) ^ b, a.mul_hi(0xd251_1f53)));
        (x * 0xd251_1f53, x.mul_hi(0xd251_1f53), y.mul_hi(7) ^ (y * 7), inside ^ x.mul_hi(0xcd9e_8d57), turned)
    })
    .unwrap();
    let values = [0u64, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff, 0x1234_5678, 0xffff, 0x1_0000, 0x9e37_79b9];
    let args: Vec<[u64; 2]> = values.iter().flat_map(|&x| values.map(|y| [x, y])).collect();
    for native in [false, true] {
        let mut resolve = |name: &str| match name {
            "iw_mul_hi" | "iw_mul_wide" if native => isowarp_shaders::snippet(&format!("{name}@u64")),
            _ => common::native(name),
        };
        let (mut calls, options) =
            (BTreeSet::new(), WgslOptions { fma: WgslFma::Native, numerics: Numerics::Strict, repairs: Operations::NONE });
        let text = [wgsl_function(&f, "op", options, &mut calls), wgsl_function_4(&f, "op", options, (&[], &[]), &mut calls)].concat();
        assert_eq!((text.matches("iw_mul_wide(").count(), text.matches("iw_mul_wide_4(").count()), (3, 3), "{text}");
        let text = format!("{}{text}", isowarp_shaders::prelude(&calls, &mut resolve).unwrap());
        let module = common::validated(&text);
        assert_eq!(common::uses_64_bits(&module), native);
        for four in args.chunks_exact(4) {
            let four: [&[u64]; 4] = std::array::from_fn(|k| four[k].as_slice());
            let expected = four.map(|args| evaluated(&f, args));
            assert_eq!(interpreted_4(&module, &f, four), expected, "{four:x?}:\n{text}");
            assert_eq!(four.map(|args| interpreted(&module, &f, args)), expected, "{four:x?}:\n{text}");
        }
    }
}

fn interpreted_4(module: &naga::Module, f: &Func, args: [&[u64]; 4]) -> [Vec<u64>; 4] {
    let vector = |(k, t): (usize, Ty)| V::Struct(args.iter().map(|a| value(t, a[k])).collect());
    let values: Vec<V> = value_types(f).into_iter().enumerate().map(vector).collect();
    let types = f.result_types();
    let results = match call(module, "op_4", &values) {
        V::Struct(members) if types.len() > 1 => members,
        single => vec![single],
    };
    let bits = |k: usize| {
        let of = |(r, &ty): (&V, &Ty)| match r {
            V::Struct(parts) => canonical_nan(ty, parts[k].bits()),
            other => panic!("{other:?} is no vector"),
        };
        results.iter().zip(&types).map(of).collect()
    };
    std::array::from_fn(bits)
}

/// The bits of the results, NaN canonical.
fn interpreted(module: &naga::Module, f: &Func, args: &[u64]) -> Vec<u64> {
    let values: Vec<V> = args.iter().zip(value_types(f)).map(|(&b, t)| value(t, b)).collect();
    let results = match call(module, "op", &values) {
        V::Struct(members) => members,
        single => vec![single],
    };
    results.iter().zip(f.result_types()).map(|(r, ty)| canonical_nan(ty, r.bits())).collect()
}

fn evaluated(f: &Func, args: &[u64]) -> Vec<u64> {
    let mut evaluator = Evaluator::new(f);
    evaluator.eval_one(args);
    f.result_types().into_iter().enumerate().map(|(k, ty)| canonical_nan(ty, evaluator.result(k)[0])).collect()
}

/// The operations that have exact forms, each as an operator, lowered to that.
fn exact_forms() -> impl Iterator<Item = (Operation, Func, naga::Module)> {
    let has_one = |op: &Operation| isowarp_shaders::snippet(&format!("iw_exact_{op}")).is_some();
    Operation::all().iter().copied().filter(has_one).map(|op| {
        let f = op.func().unwrap();
        let mut calls = BTreeSet::new();
        let options = WgslOptions { fma: WgslFma::Native, numerics: Numerics::Strict, repairs: Operations::from_iter([op]) };
        let text = wgsl_function(&f, "op", options, &mut calls);
        assert!(calls.contains(&format!("iw_exact_{op}")), "{op}:\n{text}");
        // On a device that flushes f64, its `fma` is that of integers.
        let mut resolve = |name: &str| match name {
            "iw_fma64" => isowarp_shaders::snippet("iw_fma64@integer"),
            _ => common::native(name),
        };
        let module = common::validated(&format!("{}{text}", isowarp_shaders::prelude(&calls, &mut resolve).unwrap()));
        (op, f, module)
    })
}

#[test]
fn exact_forms_give_the_bits_of_the_evaluator_on_a_device_that_flushes() {
    let mut state = 11_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 29) as u32
    };
    let mut count = 0;
    for (op, f, module) in exact_forms() {
        let types = value_types(&f);
        // Small numbers, whose sums and products are near the least normal one, numbers that are near each other, and any.
        let mut random = |k: u32| -> Vec<u64> {
            let first = next();
            let of = |(p, ty): (usize, &Ty)| match (ty, k % 4, p) {
                (Ty::Bool, ..) => u64::from(next() & 1),
                (Ty::F64, 0, _) => u64::from(next() & 0x803f_ffff) << 32 | u64::from(next()),
                (Ty::F64, 1, _) => u64::from(first ^ (next() << 31)) << 32 | u64::from(next() % 64),
                (Ty::F64, 2, _) => u64::from((next() & 0x800f_ffff) | ((460 + next() % 100) << 20)) << 32 | u64::from(next()),
                (Ty::F64, ..) => (u64::from(next()) << 32 | u64::from(next())) >> (next() % 64),
                (_, 0, _) => u64::from(next() & 0x81ff_ffff),
                (_, 1, _) => u64::from(first.wrapping_add(next() % 64) ^ (next() << 31)),
                (_, 2, _) => u64::from((next() & 0x807f_ffff) | ((40 + next() % 50) << 23)),
                _ => u64::from(next() >> (next() % 32)),
            };
            types.iter().enumerate().map(of).collect()
        };
        let tried: Vec<Vec<u64>> = (0..4000).map(&mut random).collect();
        for args in arguments(&f).into_iter().chain(tried) {
            let found = flushing(|| interpreted(&module, &f, &args));
            assert_eq!(found, evaluated(&f, &args), "{op} of {args:x?}");
        }
        count += 1;
    }
    assert!(count >= 40, "{count} exact forms");
}

#[test]
fn four_elements_in_a_loop_are_those_of_the_single_form() {
    let f = isowarp_core::ir::trace(|(a, b): (Expr<f32>, Expr<i32>)| ((a / 3.0).floor() + a, a.lt(0.5) & b.gt(2), b)).unwrap();
    let repairs = Operations::from_iter([Operation::Un(UnOp::Floor, Ty::F32)]);
    let options = WgslOptions { fma: WgslFma::Prelude, numerics: Numerics::Strict, repairs };
    let mut calls = BTreeSet::new();
    let text = [wgsl_function(&f, "op", options, &mut calls), wgsl_function_4(&f, "op", options, (&[], &[]), &mut calls)].concat();
    assert!(text.contains("for (var k = 0u"), "{text}");
    let module = common::validated(&format!("{}{text}", isowarp_shaders::prelude(&calls, &mut common::native).unwrap()));
    let all: Vec<Vec<u64>> = arguments(&f);
    for four in all.chunks_exact(4) {
        let four: [&[u64]; 4] = std::array::from_fn(|k| four[k].as_slice());
        assert_eq!(interpreted_4(&module, &f, four), four.map(|args| evaluated(&f, args)), "{four:x?}:\n{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_operators_give_the_bits_of_the_evaluator(program in programs()) {
        let f = operator(&program, false).unwrap();
        let text = lower(&f, false, Numerics::Strict);
        let module = common::validated(&text);
        prop_assert_eq!(interpreted(&module, &f, &program.1), evaluated(&f, &program.1), "{}", text);
        let text = lower_4(&f, WgslFma::Guarded, &[]);
        let module = common::validated(&text);
        let others: [Vec<u64>; 3] = [1, 0x8000_0000, 0x0F0F_0F0F].map(|flip| {
            program.1.iter().zip(value_types(&f)).map(|(&bits, ty)| if ty == Ty::Bool { bits } else { bits ^ flip }).collect()
        });
        let four = [&program.1[..], &others[0], &others[1], &others[2]];
        prop_assert_eq!(interpreted_4(&module, &f, four), four.map(|args| evaluated(&f, args)), "{}", text);
    }
}

#[test]
fn every_operation_validates_in_fast_form() {
    for (name, f) in operations() {
        let text = lower(&f, true, Numerics::Fast);
        common::validated(&text);
        assert!(!text.contains("iw_exp("), "{name} has a built-in:\n{text}");
    }
}

#[test]
fn fetches_validate_with_the_function_that_the_caller_supplies() {
    for (name, f) in fetches() {
        let (_, dtype) = f.arrays().next().unwrap();
        let ty = wgsl_type(dtype.ty());
        assert!(!is_stored_narrow(dtype) || matches!(dtype.ty(), Ty::F32 | Ty::U32 | Ty::I32));
        let fetch = format!("fn op_fetch1(i: u32) -> {ty} {{ return {ty}(i); }}\n");
        common::validated(&format!("{fetch}{}", lower(&f, true, Numerics::Strict)));
        assert!(lower(&f, true, Numerics::Strict).contains("op_fetch1("), "{name}");
    }
}

#[test]
fn an_index_past_32_bits_is_outside_every_array() {
    for (name, f) in fetches() {
        let ty = value_types(&f)[0];
        let element = f.arrays().next().unwrap().1.ty();
        // The caller's function sees the index.
        let fetch = format!("fn op_fetch1(i: u32) -> {0} {{ return {0}(i); }}\n", wgsl_type(element));
        let module = common::validated(&format!("{fetch}{}", lower(&f, true, Numerics::Strict)));
        if element != Ty::U32 {
            continue;
        }
        let seen = |bits: u64| call(&module, "op", &[value(ty, bits)]).bits();
        assert_eq!(seen(5), 5, "{name}");
        if ty.words() == 2 {
            for far in [1 << 32, u64::MAX, 1 << 63, (1 << 32) + 5] {
                assert_eq!(seen(far), 0xFFFF_FFFF, "{name} at {far:x}");
            }
        } else {
            assert_eq!(seen(0xFFFF_FFFF), 0xFFFF_FFFF, "{name}");
        }
    }
}

/// Operators of more calls than are written one behind the other, with what outlives a call: chains, sums, and values that wait for the end.
fn of_many_calls() -> Vec<(&'static str, Func)> {
    use isowarp_core::ir::{Expr, select, trace};
    type F = Expr<f32>;
    type D = Expr<f64>;
    let chain = trace(|x: F| (0..40).fold(x, |v, _| v.sin())).unwrap();
    let kinds = trace(|(x, y): (F, F)| (0..13).fold(x, |v, k| if k % 2 == 0 { (v * y).exp() / (v.abs() + 1.0) } else { v.sqrt().powf(y) }))
        .unwrap();
    let sum = trace(|(x, y): (F, F)| (0..20).fold(y, |sum, k| sum + (x * k as f32).cos() * sum)).unwrap();
    let kept = trace(|(x, y): (F, F)| {
        let (first, quotient) = (x.sin(), x / y);
        let last = (0..14).fold(first, |v, k| select(v.lt(y), v.tan(), quotient + k as f32).atan());
        (last, first - quotient, x.lt(y), last)
    })
    .unwrap();
    let wide = trace(|(x, y): (D, D)| (0..14).fold(x, |v, _| (v / y + x).abs().sqrt())).unwrap();
    vec![("a chain", chain), ("functions of several kinds", kinds), ("a sum", sum), ("values that wait", kept), ("wide ones", wide)]
}

#[test]
fn operators_of_many_calls_give_the_bits_of_the_evaluator() {
    for (name, f) in of_many_calls() {
        let all = arguments(&f);
        let single = common::validated(&lower(&f, true, Numerics::Strict));
        let four = common::validated(&lower_4(&f, WgslFma::Native, &[]));
        for k in 0..all.len().min(60) {
            let at = |j: usize| all[(k * 7 + j * 13) % all.len()].as_slice();
            assert_eq!(interpreted(&single, &f, at(0)), evaluated(&f, at(0)), "{name} of {:x?}", at(0));
            let args: [&[u64]; 4] = std::array::from_fn(at);
            assert_eq!(interpreted_4(&four, &f, args), args.map(|args| evaluated(&f, args)), "{name} of {args:x?}");
        }
    }
}

#[test]
fn operators_of_many_calls_hold_each_function_once() {
    for (name, f) in of_many_calls() {
        let (mut calls, options) =
            (BTreeSet::new(), WgslOptions { fma: WgslFma::Native, numerics: Numerics::Strict, repairs: Operations::NONE });
        let text = wgsl_function(&f, "op", options, &mut calls);
        for function in ["iw_sin(", "iw_exp(", "iw_div(", "iw_cos(", "iw_tan(", "iw_sqrt(", "iw_div64(", "iw_sqrt64("] {
            assert!(text.matches(function).count() <= 1, "{name}: {text}");
        }
    }
}
