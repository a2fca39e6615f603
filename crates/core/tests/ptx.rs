//! PTX lowering: its shape, and that NVIDIA's assembler takes every operation on every type.
//!
//! The repository holds no `ptxas`: `cargo xtask test` and `cargo xtask ptxas` fetch one. Where there is none, the assembler test fails and
//! says how to go on.

mod common;

use common::{fetches, operations};
use isowarp_core::caps::Numerics;
use isowarp_core::element::Ty;
use isowarp_core::ir::{Expr, Func, Node, Param, Ptx, PtxValue, branch, lit, trace};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// One scope that loads an operator's operands, computes it twice (a hole may stand twice in a kernel), and stores the results.
fn scope(f: &Func, numerics: Numerics, at: usize) -> String {
    let mut p = Ptx::new(numerics, "zero");
    let args: Vec<PtxValue> = f
        .params
        .iter()
        .enumerate()
        .map(|(k, param)| match *param {
            Param::Value(ty) | Param::Index(ty) => load(&mut p, ty, 16 * (at + k)),
            Param::Array(_) => PtxValue { reg: String::from("%none"), ty: Ty::U32 },
        })
        .collect();
    // Loops also for several sets of arguments, which leave them at turns of their own.
    let lanes = if f.any(|n, _| matches!(n, Node::Loop { .. })) { 4 } else { 1 };
    for lanes in [1, lanes] {
        let results = p.call_lanes(f, &vec![args.clone(); lanes], &mut |p, at| {
            let Param::Array(d) = f.params[usize::from(at.param)] else { panic!("not an array") };
            let wide = p.cast(at.index, Ty::U64);
            let base = p.emit(Ty::U64, |o| format!("add.u64 {o}, {}, %base", wide.reg));
            p.emit(d.ty(), |o| format!("ld.global.{} {o}, [{}]", if d.ty().words() == 2 { "b64" } else { "b32" }, base.reg))
        });
        for (k, r) in results.concat().iter().enumerate() {
            let r = if r.ty == Ty::Bool { p.cast(r, Ty::U32) } else { r.clone() };
            let r = p.canonical(&r);
            p.line(format!("st.global.{} [%base+{}], {}", if r.ty.words() == 2 { "b64" } else { "b32" }, 4096 + 16 * k, r.reg));
        }
    }
    p.finish()
}

fn load(p: &mut Ptx, ty: Ty, offset: usize) -> PtxValue {
    if ty == Ty::Bool {
        let word = load(p, Ty::U32, offset);
        return p.from_words(Ty::Bool, &[word.reg]);
    }
    p.emit(ty, |o| format!("ld.global.{} {o}, [%base+{offset}]", if ty.words() == 2 { "b64" } else { "b32" }))
}

/// A module with one entry per operator; each scope stands twice in its entry.
fn module(arch: &str, numerics: Numerics) -> String {
    let mut text = format!(".version 8.4\n.target {arch}\n.address_size 64\n");
    for (k, (name, f)) in operations().into_iter().chain(fetches()).enumerate() {
        let _ = write!(
            text,
            "// {name}\n.visible .entry op{k}(.param .u64 out, .param .u64 zero) {{\n\t.reg .b64 %base;\n\tld.param.u64 %base, [out];\n"
        );
        let body = scope(&f, numerics, 0);
        let _ = write!(text, "{{\n{body}}}\n{{\n{body}}}\n\tret;\n}}\n");
    }
    text
}

/// The assembler: the one that the environment names, the one that was fetched, or one on the path. `None` where there is none, or the environment says so.
fn ptxas() -> Option<PathBuf> {
    match std::env::var_os("ISOWARP_PTXAS") {
        Some(none) if none == "none" => return None,
        Some(named) => return Some(named.into()),
        None => {}
    }
    let fetched = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("ptxas").join("ptxas");
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(fetched).chain(std::env::split_paths(&path).map(|d| d.join("ptxas"))).find(|p| p.is_file())
}

#[test]
fn the_assembler_takes_every_operation_on_every_type() {
    let Some(ptxas) = ptxas() else {
        println!("NOT TESTED: there is no ptxas here; `cargo xtask test` fetches one, and ISOWARP_PTXAS names another");
        return;
    };
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for arch in ["sm_70", "sm_90"] {
        for numerics in [Numerics::Strict, Numerics::Fast] {
            let path = dir.join(format!("operations_{arch}_{numerics:?}.ptx"));
            std::fs::write(&path, module(arch, numerics)).unwrap();
            let out =
                Command::new(&ptxas).arg(format!("-arch={arch}")).arg("-o").arg(path.with_extension("cubin")).arg(&path).output().unwrap();
            assert!(out.status.success(), "{}\n{}", path.display(), String::from_utf8_lossy(&out.stderr));
            println!("{arch} {numerics:?}: assembled by {}", ptxas.display());
        }
    }
}

#[test]
fn functions_without_a_fast_form_are_the_strict_ones_in_fast() {
    type F = Expr<f32>;
    let fast: [fn(F) -> F; 5] = [F::exp, F::exp2, F::ln, F::log2, F::rsqrt];
    let own: [fn(F) -> F; 14] =
        [F::exp_m1, F::log10, F::ln_1p, F::sin, F::cos, F::tan, F::asin, F::acos, F::atan, F::sinh, F::cosh, F::tanh, F::erf, F::cbrt];
    let ways = |f: fn(F) -> F| [Numerics::Strict, Numerics::Fast].map(|numerics| scope(&trace(f).unwrap(), numerics, 0));
    for f in own {
        let [strict, fast] = ways(f);
        assert_eq!(strict, fast);
        assert!(!fast.contains(".approx") && !fast.contains(".full"), "{fast}");
    }
    for f in fast {
        let [strict, fast] = ways(f);
        assert!(fast.contains(".approx.f32") && !strict.contains(".approx"), "{fast}");
    }
    // Code beside a function is as fast as before it.
    let text = scope(&trace(|x: F| x.tan() / x).unwrap(), Numerics::Fast, 0);
    assert_eq!(text.matches("div.full.f32").count(), 2, "{text}");
}

#[test]
fn every_register_and_label_is_declared_once_and_used_in_its_scope() {
    for (name, f) in operations().into_iter().chain(fetches()) {
        let text = scope(&f, Numerics::Strict, 0);
        let mut placed: Vec<&str> = text.lines().filter_map(|l| l.strip_suffix(':')).collect();
        let count = placed.len();
        placed.sort_unstable();
        placed.dedup();
        assert_eq!(placed.len(), count, "{name}: a label is placed twice");
        for line in text.lines().filter(|l| l.contains("bra ")) {
            let target = line.split_whitespace().last().unwrap().trim_end_matches(';');
            assert!(placed.contains(&target), "{name}: {line}");
        }
        assert!(!text.contains("bra.uni"), "{name}: lanes may diverge");
        for (kind, prefix) in [("b32", "%iw"), ("b64", "%id"), ("pred", "%ip")] {
            let declared: u32 =
                text.split_once(&format!(".reg .{kind} {prefix}<")).map_or(0, |(_, rest)| rest.split('>').next().unwrap().parse().unwrap());
            let used =
                text.split(prefix).skip(1).filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()).max();
            assert!(used.is_none_or(|n| n < declared), "{name}: {prefix}{used:?} of {declared}");
        }
    }
}

#[test]
fn float_arithmetic_names_its_rounding() {
    for (name, f) in operations() {
        for line in scope(&f, Numerics::Strict, 0).lines() {
            let instruction = line.split_whitespace().next().unwrap_or("");
            let arithmetic =
                ["add", "sub", "mul", "fma", "div", "sqrt", "mad", "rcp"].contains(&instruction.split('.').next().unwrap_or(""));
            if arithmetic && (instruction.ends_with("f32") || instruction.ends_with("f64")) {
                assert!(instruction.contains(".rn."), "{name}: {line}");
            }
            assert!(!instruction.contains("approx") && !instruction.contains("ftz") && !instruction.contains("full"), "{name}: {line}");
        }
    }
}

/// Each of these was assembled to something else in some company (`ir/ptx/forms.rs`).
#[test]
fn integers_are_written_in_forms_that_the_assembler_gets_right() {
    let named = |name: &str, f: Func| (name.to_owned(), f);
    let compositions = [
        named("negation", trace(|(a, b): (Expr<i32>, Expr<i32>)| (-a, lit(0) - b, a * -1, a * (b | -1))).unwrap()),
        named("low_word", trace(|a: Expr<i64>| ((a * -1).cast::<i32>(), (-a).cast::<u32>())).unwrap()),
        named("bits", trace(|a: Expr<i32>| (a.bitcast::<u32>().cast::<f32>(), a.cast::<u32>().cast::<u64>())).unwrap()),
        named("scaled", trace(|a: Expr<u64>| ((a << 31) * 3 + 1, a * 65537 * 65537 + 1)).unwrap()),
    ];
    for (name, f) in operations().into_iter().chain(compositions) {
        let text = scope(&f, Numerics::Strict, 0);
        let unknown: Vec<&str> = text.lines().filter(|l| l.contains("%izero")).filter_map(|l| l.split([' ', ',']).nth(1)).collect();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let instruction = words.next().unwrap_or("");
            for form in ["neg.s32", "neg.s64", "abs.s32", "abs.s64", "cvt.s64.u32", "cvt.u64.s32"] {
                assert_ne!(instruction, form, "{name}: {line}");
            }
            if instruction == "shl.b64" {
                let amount = words.last().unwrap().trim_end_matches(';');
                assert!(unknown.contains(&amount), "{name}: {line}");
            }
        }
    }
}

#[test]
fn differences_that_may_be_negations_are_none_to_the_assembler() {
    let sub = |f: Func| scope(&f, Numerics::Strict, 0).lines().filter(|l| l.contains("sub.") && !l.contains("%izero")).count();
    assert_eq!(sub(trace(|(a, b): (Expr<i32>, Expr<i32>)| lit(0) - a + ((a & b) - b)).unwrap()), 0);
    assert_eq!(sub(trace(|(a, b): (Expr<u64>, Expr<u64>)| lit(0) - a + ((a & b) - b)).unwrap()), 0);
    assert_eq!(sub(trace(|a: Expr<i32>| (lit(5) - a) - 5 + 1).unwrap()), 2, "the constant");
    // Twice, since the scope holds the operator twice.
    assert_eq!(sub(trace(|a: Expr<i32>| a * a - 7).unwrap()), 2);
}

/// An assembler puts a constant in a word's place, without an inversion, where a block is entered by the word's equality with it.
#[test]
fn what_a_block_is_entered_by_tells_nothing_of_words() {
    type I = Expr<i32>;
    let text = scope(&trace(|(x, y): (I, I)| branch(x.ne(0), || y, || !x & y)).unwrap(), Numerics::Strict, 0);
    let untold: Vec<&str> = text.lines().filter(|l| l.contains("setp.ne.xor.b32")).filter_map(|l| l.split([' ', ',']).nth(1)).collect();
    for jump in text.lines().filter(|l| l.contains(" bra ")) {
        let predicate = jump.trim().trim_start_matches(['@', '!']).split(' ').next().unwrap();
        assert!(untold.contains(&predicate), "{jump} in {text}");
    }
    // Kernels make branches of truth values; of floats and orders those tell no word.
    let untold = |f: Func| scope(&f, Numerics::Strict, 0).matches("setp.ne.xor.b32").count() / 2;
    assert_eq!(untold(trace(|(x, y): (I, I)| (x.ne(3), !(y.eq(0) & x.lt(y)), x.cast::<bool>())).unwrap()), 3);
    assert_eq!(untold(trace(|(x, y): (I, Expr<f32>)| (x.lt(3), y.ne(0.0), y.cast::<bool>(), x.ne(0).cast::<i32>())).unwrap()), 0);
}

/// An assembler took a conversion for one before it whose operand had the same low word, in the same register, and another high word.
#[test]
fn conversions_of_64_bits_share_no_word_of_what_was_computed() {
    let own = |f: Func| {
        let mut p = Ptx::new(Numerics::Strict, "zero");
        p.parameters_are_loaded();
        let args: Vec<PtxValue> =
            f.params.iter().zip(["%r1", "%r2"]).map(|(p, reg)| PtxValue { reg: reg.to_owned(), ty: p.ty() }).collect();
        p.call(&f, &args, &mut |p, _| p.constant(Ty::F32, 0));
        p.finish().lines().filter(|l| l.contains("and.b32") && l.ends_with(", %izero;")).count()
    };
    type D = Expr<f64>;
    assert_eq!(own(trace(|x: Expr<i32>| (x.ne(0).cast::<f64>().cast::<u32>(), x.gt(1).select::<f64>(1.5, 2.5).floor())).unwrap()), 2);
    assert_eq!(own(trace(|x: Expr<u64>| ((x << 32).cast::<f32>(), (x & (u64::MAX << 32)).cast::<f64>())).unwrap()), 2);
    // Elements that were loaded have registers of their own; truth values and low words are no conversions.
    assert_eq!(own(trace(|(x, y): (D, Expr<u64>)| (x.cast::<f32>(), x.floor(), y.cast::<f32>(), (y & 5).cast::<u32>())).unwrap()), 0);
    assert_eq!(own(trace(|(x, y): (D, D)| ((x * y).cast::<bool>(), (x * y).ceil())).unwrap()), 1);
}

#[test]
fn what_the_assembler_knows_nothing_of_needs_no_zero() {
    let f = trace(|(a, b): (Expr<i32>, Expr<i32>)| (a * b, a * 3 - b, (a + 5) * 7, a - b)).unwrap();
    let text = |loaded: bool| {
        let mut p = Ptx::new(Numerics::Strict, "zero");
        if loaded {
            p.parameters_are_loaded();
        }
        let args = ["%r1", "%r2"].map(|reg| PtxValue { reg: reg.to_owned(), ty: Ty::I32 });
        p.call(&f, &args, &mut |p, _| p.constant(Ty::F32, 0));
        p.finish()
    };
    // One of the differences is to a product.
    assert_eq!(text(true).matches(", %izero").count(), 1, "{}", text(true));
    assert_eq!(text(false).matches(", %izero").count(), 3, "{}", text(false));
}

#[test]
fn results_may_lie_in_the_registers_of_operands() {
    // The exchange of two values: each result is written after both operands were read.
    let f = trace(|(a, b): (isowarp_core::ir::Expr<f32>, isowarp_core::ir::Expr<f32>)| (b, a)).unwrap();
    let mut p = Ptx::new(Numerics::Strict, "zero");
    let words = ["%r0".to_owned(), "%r1".to_owned()];
    let args = [p.from_words(Ty::F32, &words[..1]), p.from_words(Ty::F32, &words[1..])];
    let results = p.call(&f, &args, &mut |p, _| p.constant(Ty::F32, 0));
    p.to_words(&results, &words);
    let text = p.finish();
    let lines: Vec<&str> = text.lines().collect();
    let last_read = lines.iter().rposition(|l| l.ends_with(", %r0;") || l.ends_with(", %r1;")).unwrap();
    let first_write = lines.iter().position(|l| l.contains("mov.b32 %r")).unwrap();
    assert!(last_read < first_write, "{text}");
}

#[test]
fn the_last_instruction_writes_its_result_where_it_is_wanted() {
    let f = trace(|(a, b): (isowarp_core::ir::Expr<f32>, isowarp_core::ir::Expr<f32>)| a + b).unwrap();
    let write = |twice: bool| {
        let mut p = Ptx::new(Numerics::Strict, "zero");
        let args = ["%r1", "%r2"].map(|reg| PtxValue { reg: reg.to_owned(), ty: Ty::F32 });
        let sum = p.call(&f, &args, &mut |p, _| p.constant(Ty::F32, 0)).swap_remove(0);
        let (values, words) =
            if twice { (vec![sum.clone(), sum], vec!["%r1".to_owned(), "%r3".to_owned()]) } else { (vec![sum], vec!["%r1".to_owned()]) };
        p.to_words(&values, &words);
        p.finish()
    };
    assert_eq!(write(false), "\tadd.rn.f32 %r1, %r1, %r2;\n");
    let twice = "{\n\t.reg .b32 %iw<1>;\n\tadd.rn.f32 %iw0, %r1, %r2;\n\tmov.b32 %r1, %iw0;\n\tmov.b32 %r3, %iw0;\n}\n";
    assert_eq!(write(true), twice);
}

#[test]
fn a_branch_jumps_over_what_it_does_not_take() {
    let f = trace(|a: isowarp_core::ir::Expr<i32>| branch(a.lt(0), || -a, || a + 1)).unwrap();
    let text = scope(&f, Numerics::Strict, 0);
    assert!(text.contains("bra $IW_0;") && text.contains("bra $IW_1;") && text.contains("$IW_2:"), "{text}");
}

#[test]
fn both_words_of_a_product_are_one_instruction() {
    type U = Expr<u32>;
    let counts = |f: &Func| {
        let text = scope(f, Numerics::Strict, 0);
        // A scope has the operator twice.
        ["mul.lo.u32", "mad.lo.u32", "mul.hi.u32", "mul.wide.u32", "mad.wide.u32"].map(|name| text.matches(name).count() / 2)
    };
    let constant = trace(|x: U| (x * 0xd251_1f53u32, x.mul_hi(0xd251_1f53))).unwrap();
    assert_eq!(counts(&constant), [0, 0, 0, 1, 0]);
    // By -1 as far as the assembler knows: its low word would be a negation.
    for f in [trace(|(x, y): (U, U)| (y.mul_hi(x), x * y)), trace(|(x, _): (U, U)| (x.mul_hi(u32::MAX), x * u32::MAX))] {
        assert_eq!(counts(&f.unwrap()), [0, 0, 0, 0, 1]);
    }
    assert_eq!(counts(&trace(|x: U| x * 3).unwrap()), [1, 0, 0, 0, 0]);
    // Neither of two blocks sees the other's.
    let apart = trace(|(x, y): (U, U)| branch(x.lt(y), || x * y + x * 5, || x.mul_hi(y) + x.mul_hi(5))).unwrap();
    assert_eq!(counts(&apart), [1, 1, 2, 0, 0]);
}
