use super::*;
use crate::element::Scalar;
use crate::ir::{BinOp, Evaluator, Expr, Node, Param, trace};
use crate::numerics::Func as Elementary;
use proptest::prelude::*;

const F: Ty = Ty::F32;

fn eval(text: &str, inputs: &[(Ty, u64)]) -> (Ty, u64) {
    let types: Vec<Ty> = inputs.iter().map(|i| i.0).collect();
    let func = parse(text, &types, None, None).unwrap_or_else(|e| panic!("{e}"));
    let args: Vec<u64> = inputs.iter().map(|i| i.1).collect();
    let mut e = Evaluator::new(&func);
    e.eval_one(&args);
    (func.result_types()[0], e.result(0)[0])
}

fn f32s(text: &str, inputs: &[f32]) -> f32 {
    let (ty, bits) = eval(text, &inputs.iter().map(|v| (F, v.to_bits64())).collect::<Vec<_>>());
    assert_eq!(ty, F, "{text}");
    f32::from_bits64(bits)
}

fn u32s(text: &str, inputs: &[u32]) -> u32 {
    let (ty, bits) = eval(text, &inputs.iter().map(|v| (Ty::U32, u64::from(*v))).collect::<Vec<_>>());
    assert_eq!(ty, Ty::U32, "{text}");
    bits as u32
}

fn i32s(text: &str, inputs: &[i32]) -> i32 {
    let (ty, bits) = eval(text, &inputs.iter().map(|v| (Ty::I32, v.to_bits64())).collect::<Vec<_>>());
    assert_eq!(ty, Ty::I32, "{text}");
    i32::from_bits64(bits)
}

fn truth(text: &str, x: f32) -> bool {
    let (ty, bits) = eval(text, &[(F, x.to_bits64())]);
    assert_eq!(ty, Ty::Bool, "{text}");
    bits != 0
}

/// The message, and the column of the caret.
fn fault(text: &str, inputs: &[Ty], index: Option<Ty>) -> (String, usize) {
    match parse(text, inputs, index, None) {
        Err(OpError::Parse { message, caret, text: shown }) => {
            assert!(!shown.contains('\n') && caret.ends_with('^'));
            (message, caret.len() - 1)
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn precedence_is_rusts() {
    assert_eq!(f32s("1 + x*2 - 3/4", &[5.0]), 10.25);
    assert_eq!(f32s("-x*x", &[3.0]), -9.0);
    assert_eq!(f32s("-(x - 1)/2", &[3.0]), -1.0);
    assert_eq!(f32s("x - 1 - 1", &[3.0]), 1.0);
    assert_eq!(f32s("2*x < 7 && x > 1 ? x : -x", &[3.0]), 3.0);
    assert_eq!(f32s("x < 1 ? x : x < 2 ? 2 : x < 4 ? 4 : 8", &[3.0]), 4.0);
    assert_eq!(u32s("x & 3 == 2 ? x : 20", &[6]), 6, "& binds tighter than ==, as in Rust");
    assert_eq!(u32s("x << x + 1 | 1", &[3]), 49);
    assert_eq!(u32s("x ^ 1 & 2 | 8", &[3]), 11);
    assert!(truth("x == 1 || x == 2 && x != 2", 1.0));
    assert!(truth("!(x > 1) != true", 2.0));
}

#[test]
fn literals_take_the_type_of_what_they_meet() {
    assert_eq!(f32s("x + 1/2", &[1.0]), 1.5);
    assert_eq!(f32s("x + 0x10", &[0.0]), 16.0);
    assert_eq!(f32s("x * .5 + 1_0.0e-1", &[2.0]), 2.0);
    assert_eq!(eval("x + 0.1", &[(Ty::F64, 0f64.to_bits())]).1, 0.1f64.to_bits());
    assert_eq!(f32s("x + 0.1", &[0.0]).to_bits(), 0.1f32.to_bits());
    assert_eq!(eval("x + pi", &[(Ty::F64, 0f64.to_bits())]).1, core::f64::consts::PI.to_bits());
    assert_eq!(i32s("x + -2147483648", &[0]), i32::MIN);
    assert_eq!(i32s("x ^ 0x80000000", &[0]), i32::MIN);
    assert_eq!(u32s("x + -1", &[0]), u32::MAX);
    assert_eq!(eval("x + 5000000000", &[(Ty::I64, 1)]), (Ty::I64, 5_000_000_001));
    assert_eq!(f32s("f32(7/2)", &[]), 3.5);
    assert_eq!(u32s("u32(3.9)", &[]), 3);
    assert_eq!(u32s("u32(-1)", &[]), u32::MAX);
    assert!(f32s("nan", &[]).is_nan());
    assert_eq!(f32s("-inf", &[]), f32::NEG_INFINITY);
    assert_eq!(f32s("max(x, 2)", &[1.0]), 2.0);
}

#[test]
fn the_least_and_the_greatest_literals_are_taken() {
    assert_eq!(f32s("x + 3.4028235e38", &[0.0]), f32::MAX);
    // Halfway to the next power of two is the first that would be infinite; NumPy's float32("3.4028235677973365e38") is the greatest, too.
    assert_eq!(f32s("x + 3.4028235677973365e38", &[0.0]), f32::MAX);
    assert_eq!(f32s("x + 1e-45", &[0.0]).to_bits(), 1);
    assert_eq!(f32s("x + 8e-46", &[0.0]).to_bits(), 1);
    assert_eq!(f32s("x + 0e-400", &[1.0]), 1.0);
    assert_eq!(f32s("x * -0.0", &[1.0]).to_bits(), 1 << 31);
    assert_eq!(eval("x + 1e308", &[(Ty::F64, 0f64.to_bits())]).1, 1e308f64.to_bits());
    assert_eq!(eval("x + 5e-324", &[(Ty::F64, 0f64.to_bits())]).1, 1);
    // A literal has the type of what it meets: f64's are not f32's.
    assert_eq!(eval("x * 1e200", &[(Ty::F64, 1f64.to_bits())]).1, 1e200f64.to_bits());
}

#[test]
fn a_text_of_literals_alone_takes_the_result_type() {
    let ty = |text: &str, result| parse(text, &[F], Some(Ty::U32), result).expect("parses").result_types()[0];
    assert_eq!(ty("x > 0 ? 1 : 0", None), Ty::I32);
    assert_eq!(ty("x > 0 ? 1 : 0", Some(Ty::U64)), Ty::U64);
    assert_eq!(ty("1", Some(Ty::F64)), Ty::F64);
    assert_eq!(ty("1.5", Some(Ty::F64)), Ty::F64);
    assert_eq!(ty("1.5", Some(Ty::U32)), Ty::F32, "a fraction stays a float; the caller converts");
    assert_eq!(ty("i", None), Ty::U32);
    assert_eq!(ty("i", Some(Ty::F32)), Ty::U32, "the index stays an integer; the caller converts");
    assert_eq!(ty("i*i", Some(Ty::I64)), Ty::I64);
    assert_eq!(ty("i*0.5", Some(Ty::F32)), Ty::F32);
    assert_eq!(ty("x", Some(Ty::U32)), Ty::F32);
}

#[test]
fn the_index_is_a_parameter_only_where_it_is_used() {
    let with = parse("x + i", &[F], Some(Ty::U32), None).expect("parses");
    assert_eq!(with.params, [Param::Value(F), Param::Index(Ty::U32)]);
    let mut e = Evaluator::new(&with);
    e.eval_one(&[2.5f32.to_bits64(), 4]);
    assert_eq!(f32::from_bits64(e.result(0)[0]), 6.5);
    let without = parse("x + 1", &[F], Some(Ty::U32), None).expect("parses");
    assert_eq!(without.params, [Param::Value(F)]);
    let wrapping = parse("f32(i * 2 % 10)", &[], Some(Ty::U32), None).expect("parses");
    let mut e = Evaluator::new(&wrapping);
    e.eval_one(&[7]);
    assert_eq!(f32::from_bits64(e.result(0)[0]), 4.0);
}

#[test]
fn truth_values_are_operands() {
    let of = |text: &str, x: bool, y: bool| eval(text, &[(Ty::Bool, x.into()), (Ty::Bool, y.into())]);
    for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
        let is = |text: &str, wanted: bool| assert_eq!(of(text, x, y), (Ty::Bool, wanted.into()), "{text} of {x} and {y}");
        let logic = [("!x", !x), ("~x", !x), ("x && y", x && y), ("x || y", x || y), ("x & y", x & y), ("x | y", x | y), ("x ^ y", x ^ y)];
        let compared =
            [("x == y", x == y), ("x != y", x != y), ("x < y", !x & y), ("x <= y", x <= y), ("x > y", x & !y), ("x >= y", x >= y)];
        let literals = [("x == 0", !x), ("x != 0", x), ("1 == x", x), ("x != 0x1", !x), ("x > false", x), ("x ? y : !y", x == y)];
        logic.into_iter().chain(compared).chain(literals).for_each(|(text, wanted)| is(text, wanted));
        assert_eq!(of("u32(x) + u32(y)", x, y), (Ty::U32, u64::from(x) + u64::from(y)));
    }
    for text in ["x + y", "x == 2", "x == 1.0", "x * 2", "-x", "x < 1", "abs(x)", "x << 1"] {
        assert!(parse(text, &[Ty::Bool, Ty::Bool], None, None).is_err(), "{text}");
    }
}

#[test]
fn saturating_casts_keep_to_the_range_of_their_type() {
    assert_eq!([-1, 7, 300].map(|x| u32s_of("sat_u8(x)", x)), [0, 7, 255]);
    assert_eq!([-70_000, -3, 70_000].map(|x| i32s("sat_i16(x)", &[x])), [-32_768, -3, 32_767]);
    assert_eq!(eval("sat_i8(x * 2)", &[(F, 99.5f32.to_bits64())]), (Ty::I32, 127));
    assert_eq!(eval("sat_u64(x)", &[(Ty::I64, u64::MAX)]), (Ty::U64, 0));
    assert_eq!(eval("sat_i64(x)", &[(Ty::U64, u64::MAX)]), (Ty::I64, i64::MAX as u64));
    assert_eq!(eval("sat_u16(x)", &[(F, f32::NAN.to_bits64())]), (Ty::U32, 0));
    assert_eq!(u32s_of("sat_u8(300)", 0), 255);
    assert_eq!(u32s_of("u32(sat_i8(0.5)) + sat_u32(x)", -5), 0);
    let (said, at) = fault("sat_u8(x < 1)", &[Ty::I32], None);
    assert!(said.contains("it takes numbers") && at == 0, "{said} {at}");
}

fn u32s_of(text: &str, x: i32) -> u32 {
    let (ty, bits) = eval(text, &[(Ty::I32, x.to_bits64())]);
    assert_eq!(ty, Ty::U32, "{text}");
    bits as u32
}

#[test]
fn functions_and_casts_compute() {
    assert_eq!(f32s("sqrt(x) + abs(-x) + floor(1.5) + ceil(x/8) + trunc(-2.5)", &[4.0]), 2.0 + 4.0 + 1.0 + 1.0 - 2.0);
    assert_eq!(f32s("round(x) + round(x + 1)", &[2.5]), 6.0, "ties go to even");
    assert_eq!(f32s("clamp(x, 0, 1)", &[3.0]), 1.0);
    assert_eq!(f32s("select(x > y, x, y)", &[3.0, 4.0]), 4.0);
    assert_eq!(f32s("fma(x, y, z) + w", &[2.0, 3.0, 4.0, 5.0]), 15.0);
    assert_eq!(i32s("min(x, 3) / -2", &[9]), -1);
    assert_eq!(u32s("popcount(x) + clz(x)", &[255]), 32);
    assert_eq!(u32s("reverse_bits(x) >> 31", &[1]), 1);
    assert_eq!(u32s("~x", &[0]), u32::MAX);
    assert_eq!(u32s("-x", &[1]), u32::MAX);
    assert_eq!(u32s("x / 0 + x % 0", &[7]), 7);
    assert_eq!(i32s("x >> 1", &[-4]), -2);
    assert_eq!(u32s("u32(f32(x) * 0.5)", &[7]), 3);
    assert_eq!(u32s("u32(f32(x) > 1)", &[7]), 1);
    assert_eq!(i32s("i32(-1.9)", &[]), -1);
    assert!(truth("isnan(x)", f32::NAN));
    assert!(truth("bool(x)", 0.5));
}

#[test]
fn every_elementary_function_has_its_name() {
    for &f in Elementary::ALL {
        let args = &["x", "y"][..f.arity()];
        let text = format!("{}({})", f.name(), args.join(", "));
        let inputs = [0.75f32, 0.5];
        let want = if f.arity() == 1 { f.eval1(0.75) } else { f.eval2(0.75, 0.5) };
        assert_eq!(f32s(&text, &inputs[..f.arity()]).to_bits(), want.to_bits(), "{text}");
        assert_eq!(applied(f.name(), f.arity()), text);
    }
    assert_eq!(f32s("ln(x)", &[2.0]), f32s("log(x)", &[2.0]));
    assert_eq!(applied("max", 2), "max(x, y)");
    assert_eq!(applied("max", 1), "max");
    assert_eq!(applied("x + 1", 1), "x + 1");
}

#[test]
fn a_text_is_the_same_graph_as_the_closure() {
    let text = parse("exp(-x*x) + 0.5*y", &[F, F], None, None).expect("parses");
    let closure = trace(|(x, y): (Expr<f32>, Expr<f32>)| (-x * x).exp() + 0.5 * y).expect("traces");
    assert_eq!(text.hash128(), closure.hash128());
    let fused = parse("x*y + z", &[F; 3], None, None).expect("parses");
    let rounded = parse("mul_rn(x, y) + z", &[F; 3], None, None).expect("parses");
    assert!(fused.any(|n, _| matches!(n, Node::Fma(..))));
    assert!(!rounded.any(|n, _| matches!(n, Node::Fma(..))));
}

#[test]
fn texts_fold_as_closures_do() {
    let fuses = |text: &str| parse(text, &[F; 3], None, None).expect("parses").any(|n, _| matches!(n, Node::Fma(..)));
    for text in [
        "x + (true ? x*x : x)",
        "(x < y ? x*x : x*x) - z",
        "f32(x*x) - z",
        "select(1 < 2, x*x, x) + z",
        "z - -(-(x*x))",
        "(false ? x : x*y) + z",
        "((x)*(y)) + z",
    ] {
        assert!(fuses(text), "{text}");
    }
    for text in ["(x < y ? x*x : y) - z", "f32(f64(x)*f64(x)) - z", "mul_rn(x, y) + z", "abs(x*x) + z", "max(x*x, y) + z"] {
        assert!(!fuses(text), "{text}");
    }
    // x*x is rounded to 1.0009766 and the difference is 0; fused it is what the rounding took.
    assert_eq!(f32s("x*x - y", &[1.000_488_3, 1.000_976_8]).to_bits(), f32s("f32(x*x) - y", &[1.000_488_3, 1.000_976_8]).to_bits());
}

#[test]
fn faults_point_at_their_place() {
    let cases: &[(&str, &[Ty], &str, usize)] = &[
        ("", &[F], "empty", 0),
        ("x +", &[F], "ends here", 3),
        ("x + * 2", &[F], "before `*`", 4),
        ("(x", &[F], "expected `)`", 2),
        ("x)", &[F], "closes nothing", 1),
        ("x y", &[F, F], "expected an operator", 2),
        ("2x", &[F], "needs an operator", 1),
        ("1.2.3", &[F], "needs an operator", 3),
        ("x $ 2", &[F], "`$` has no meaning", 2),
        ("x = 2", &[F], "write `==`", 2),
        ("x**2", &[F], "write pow", 1),
        ("1 < x < 2", &[F], "do not chain", 6),
        ("0xzz", &[F], "not a number", 0),
        ("x + foo", &[F], "unknown name `foo`", 4),
        ("x + sn(x)", &[F], "did you mean `sin`", 4),
        ("flor(x)", &[F], "did you mean `floor`", 0),
        ("x + sin", &[F], "write sin(...)", 4),
        ("clamp(x, 1)", &[F], "takes 3 arguments, not 2", 0),
        ("sin()", &[F], "takes 1 argument, not 0", 0),
        ("x + y", &[F], "the only input is `x`", 4),
        ("x + w", &[F, F], "the inputs are `x` to `y`", 4),
        ("x + i", &[F], "no index", 4),
        ("x + y", &[F, Ty::U32], "`+` of f32 and u32; convert one of them", 2),
        ("x * 0.5", &[Ty::I32], "literal with a fraction; write f32(...) around the i32", 2),
        ("1 + sin(x)", &[Ty::U32], "`sin` is not defined for u32; write sin(f32(...))", 4),
        ("sin(x)", &[Ty::F64], "`sin` is not defined for f64", 0),
        ("x + sin(1)", &[Ty::F64], "`sin` is not defined for f64", 4),
        ("x % 2", &[F], "`%` is not defined for f32", 2),
        ("~x", &[F], "`~` is not defined for f32; compare it first", 0),
        ("!x", &[F], "`!` is not defined for f32; compare it first", 0),
        ("1.0 + ~(1.5)", &[], "`~` is not defined for a literal with a fraction", 6),
        ("x + ~1", &[F], "`~` is not defined for f32; write f32(...)", 4),
        ("-(x > 1)", &[F], "`-` is not defined for bool", 0),
        ("ln(x)", &[Ty::U32], "`ln` is not defined for u32; write ln(f32(...))", 0),
        ("log(x)", &[Ty::F64], "`log` is not defined for f64; write f64(log(f32(...)))", 0),
        ("x + ln(1)", &[Ty::F64], "`ln` is not defined for f64; write f64(ln(f32(...)))", 4),
        ("x ^ 2", &[F], "write pow(a, b)", 2),
        ("x && y", &[F, F], "compare first", 2),
        ("x ? 1 : 2", &[F], "condition must be a comparison", 2),
        ("(x > 1) + 1", &[F], "around the truth value", 8),
        ("x > 1 ? x : (x > 2)", &[F], "`? :` of f32 and bool", 6),
        ("x + 3000000000", &[Ty::I32], "3000000000 does not fit i32", 4),
        ("x + 5000000000", &[Ty::U32], "does not fit u32", 4),
        ("x + 1e400", &[F], "1e400 does not fit f32; write inf", 4),
        ("x + 3.4028236e38", &[F], "does not fit f32", 4),
        ("x * -1e39", &[F], "-1e39 does not fit f32; write -inf", 5),
        ("x + 1e309", &[Ty::F64], "1e309 does not fit f64", 4),
        ("x + 7e-46", &[F], "7e-46 is too small for f32, which rounds it to zero; write 0.0", 4),
        ("x - 1e-400", &[Ty::F64], "too small for f64", 4),
        ("u32(1e300)", &[], "1e300 does not fit f32", 4),
        ("x << 1.5", &[Ty::U32], "`<<` is not defined for a literal with a fraction", 2),
        ("popcount(x)", &[F], "it takes an integer", 0),
        ("x ? 1", &[Ty::Bool], "expected `:`", 5),
        ("max(x y)", &[F, F], "expected `,` or `)`", 6),
        ("é + x", &[F], "`é` has no meaning", 0),
    ];
    for &(text, inputs, message, column) in cases {
        let found = fault(text, inputs, None);
        assert!(found.0.contains(message), "{text}: {}", found.0);
        assert_eq!(found.1, column, "{text}: {}", found.0);
    }
    let (message, column) = fault("x + i % 3", &[F], Some(Ty::U32));
    assert!(message.contains("write f32(...) around") && column == 6, "{message} {column}");
    // Characters, not bytes, are counted.
    assert_eq!(fault("x +\u{a0}\u{a0}foo", &[F], None).1, 5);
}

#[test]
fn what_is_too_deep_or_too_long_is_refused() {
    let deep = format!("{}x{}", "(".repeat(6000), ")".repeat(6000));
    assert!(fault(&deep, &[F], None).0.contains("nested more than"));
    assert!(fault(&"-".repeat(5000), &[F], None).0.contains("nested more than"));
    assert!(fault(&"x+".repeat(MAX_TEXT), &[F], None).0.contains("longer than"));
    let long = format!("{}x", "x+".repeat(MAX_TEXT / 2 - 1));
    assert_eq!(f32s(&long, &[1.0]), (MAX_TEXT / 2) as f32);
    assert!(parse("x", &[F; 5], None, None).is_err());
}

fn token() -> impl Strategy<Value = &'static str> {
    let words = "x y z w i 1 2.5 0xff 1e9 99999999999 true pi nan sin( max( clamp( select( f32( u64( cbrt( ( ) , ? : + - * / % & | ^ ! ~ << >> < <= \
                 == != && || = $";
    prop::sample::select(words.split_whitespace().collect::<Vec<_>>())
}

/// Operand types agree, so that every lowering has a meaning for every node.
fn well_typed(f: &crate::ir::Func) -> bool {
    let ty = |id: crate::ir::Id| f.types[id as usize];
    f.nodes.iter().zip(&f.types).all(|(node, &t)| match *node {
        Node::Bin(BinOp::Shl | BinOp::Shr, a, b) => ty(b) == Ty::U32 && ty(a) == t,
        Node::Bin(op, a, b) => ty(a) == ty(b) && t == if op.is_comparison() { Ty::Bool } else { ty(a) },
        Node::Fma(a, b, c) => t.is_float() && [a, b, c].into_iter().all(|o| ty(o) == t),
        Node::Select(c, a, b) => ty(c) == Ty::Bool && ty(a) == t && ty(b) == t,
        Node::Call1(_, a) => t == F && ty(a) == F,
        _ => true,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn parsing_never_panics(text in "\\PC*") {
        let _ = parse(&text, &[F, Ty::U32], Some(Ty::U32), None);
    }

    #[test]
    fn words_of_the_language_give_a_fault_or_a_well_typed_graph(words in prop::collection::vec(token(), 0..24), ty in 0usize..7) {
        let ty = [Ty::F32, Ty::I32, Ty::U32, Ty::F64, Ty::I64, Ty::U64, Ty::Bool][ty];
        for result in [None, Some(ty)] {
            if let Ok(f) = parse(&words.join(" "), &[ty, ty], Some(Ty::U32), result) {
                prop_assert!(well_typed(&f), "{:?}", f);
                Evaluator::new(&f).eval_one(&[1, 2, 3]);
            }
        }
    }

    #[test]
    fn a_sum_of_products_is_what_rust_computes(a in -100i32..100, b in -100i32..100, x in any::<i32>()) {
        let text = format!("({a} - x) * {b} + x / 3 - x % 7");
        let want = a.wrapping_sub(x).wrapping_mul(b).wrapping_add(x / 3).wrapping_sub(x % 7);
        prop_assert_eq!(i32s(&text, &[x]), want);
    }
}
