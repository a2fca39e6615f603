//! Operators over blocks give the bits of the plain evaluator: every operation, every function, random operators; with this processor's best instructions
//! and with those that every one has.

mod common;

use common::random::{PARAMS, operator, programs};
use isowarp_core::element::Ty;
use isowarp_core::ir::{
    BLOCK, Blocks, Evaluator, Expr, Func, LANES, Lanes, LanesMut, Operation, Param, Source, array_expr, canonical_nan, definition, lit,
    trace,
};
use isowarp_core::numerics::Func as Elementary;
use proptest::prelude::*;

/// Values of every parameter, and an array.
struct Columns {
    params: Vec<Vec<u64>>,
    array: Vec<u64>,
}

impl Columns {
    fn fetched(&self, ty: Ty, index: u64) -> u64 {
        let index = if ty == Ty::I32 { i64::from(index as u32 as i32) as u64 } else { index };
        usize::try_from(index).ok().and_then(|i| self.array.get(i)).copied().unwrap_or(0)
    }
}

fn fill(lanes: LanesMut<'_>, of: impl Fn(usize) -> u64) {
    match lanes {
        LanesMut::Narrow(all) => all.iter_mut().enumerate().for_each(|(l, o)| *o = of(l) as u32),
        LanesMut::Wide(all) => all.iter_mut().enumerate().for_each(|(l, o)| *o = of(l)),
    }
}

impl Source for Columns {
    fn load(&self, param: u16, lanes: LanesMut<'_>) {
        fill(lanes, |l| self.params[usize::from(param)][l]);
    }

    fn fetch(&self, _: u16, ty: Ty, indices: Lanes<'_>, lanes: LanesMut<'_>) {
        fill(lanes, |l| self.fetched(ty, indices.get(l)));
    }
}

/// The results of the plain evaluator, as they are stored.
fn plain(f: &Func, columns: &Columns, lanes: usize, index: Ty) -> Vec<Vec<u64>> {
    let mut e = Evaluator::new(f);
    let mut all = vec![Vec::new(); f.results.len()];
    for at in (0..lanes).step_by(LANES) {
        let count = LANES.min(lanes - at);
        let load = |k: u16, out: &mut [u64]| out.copy_from_slice(&columns.params[usize::from(k)][at..at + count]);
        e.eval(count, load, |_, i| columns.fetched(index, i));
        for (k, ty) in f.result_types().into_iter().enumerate() {
            all[k].extend(e.result(k)[..count].iter().map(|&bits| canonical_nan(ty, bits)));
        }
    }
    all
}

fn check(f: &Func, columns: &Columns, lanes: usize, index: Ty, what: &str) {
    let expected = plain(f, columns, lanes, index);
    for (name, mut blocks) in [("best", Blocks::new(f)), ("portable", Blocks::portable(f))] {
        // Twice, and few lanes between: nothing is left over from one block to the next.
        for lanes in [lanes, 1, lanes] {
            blocks.eval(lanes, columns);
            for (k, ty) in f.result_types().into_iter().enumerate() {
                let result = blocks.result(k);
                assert_eq!(result.len(), lanes);
                let found: Vec<u64> = (0..lanes).map(|l| canonical_nan(ty, result.get(l))).collect();
                assert_eq!(found, expected[k][..lanes], "{what}, {name} instructions, result {k} of {lanes} lanes: {f:?}");
            }
        }
    }
}

/// Bits of a type: those with which operations differ, and any.
fn bits(ty: Ty, state: &mut u64) -> u64 {
    let mut next = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    };
    const SPECIAL_32: [u32; 20] = [
        0,
        1,
        2,
        31,
        32,
        33,
        0x7F80_0000,
        0xFF80_0000,
        0x7FC0_0000,
        0xFFC0_0001,
        0x7F80_0001,
        0x8000_0000,
        0x8000_0001,
        0x7FFF_FFFF,
        0xFFFF_FFFF,
        0x0080_0000,
        0x3F80_0000,
        0xBF80_0000,
        0x4F00_0000,
        0x4B80_0001,
    ];
    const SPECIAL_64: [u64; 16] = [
        0,
        1,
        63,
        64,
        0x7FF0 << 48,
        0xFFF0 << 48,
        0x7FF8 << 48,
        0xFFF8 << 48 | 1,
        0x7FF0 << 48 | 1,
        1 << 63,
        u64::MAX,
        i64::MAX as u64,
        0x3FF0 << 48,
        0xBFF0 << 48,
        0x43E0 << 48,
        0x41E0 << 48,
    ];
    let (kind, any) = (next() % 4, next() << 32 | next());
    match (ty, kind) {
        (Ty::Bool, _) => any & 1,
        (_, 0) if ty.words() == 1 => SPECIAL_32[any as usize % SPECIAL_32.len()].into(),
        (_, 0) => SPECIAL_64[any as usize % SPECIAL_64.len()],
        (Ty::F32, 1) => ((any % 4000) as f32 / 100.0 - 20.0).to_bits().into(),
        (Ty::F64, 1) => ((any % 4000) as f64 / 100.0 - 20.0).to_bits(),
        (_, 1) if ty.words() == 1 => any % 100,
        (_, 1) => any % 100,
        (_, _) if ty.words() == 1 => any & 0xFFFF_FFFF,
        _ => any,
    }
}

fn columns(f: &Func, lanes: usize, mut state: u64) -> Columns {
    let params = f.params.iter().map(|p| (0..lanes).map(|_| bits(p.ty(), &mut state)).collect()).collect();
    Columns { params, array: (0..50).map(|i| 1000 + i).collect() }
}

#[test]
fn every_operation_has_the_bits_of_the_plain_evaluator() {
    for &op in Operation::all() {
        let f = op.func().unwrap();
        check(&f, &columns(&f, BLOCK, 7), BLOCK, Ty::U32, &op.to_string());
    }
}

#[test]
fn pairs_and_prefixes_of_one_operation_have_the_bits_of_the_plain_evaluator() {
    let mut operations = 0;
    for &op in Operation::all() {
        let f = op.func().unwrap();
        let mut plain = Evaluator::new(&f);
        for blocks in [Blocks::new(&f), Blocks::portable(&f)] {
            let Some(binary) = blocks.binary() else { continue };
            operations += 1;
            let ty = f.params[0].ty();
            let mut combine = |a: u64, b: u64| {
                plain.eval_one(&[a, b]);
                plain.result(0)[0]
            };
            for n in [1, 2, 15, 16, 17, 40, 1000] {
                let mut state = n as u64;
                let x: Vec<u64> = (0..n).map(|_| bits(ty, &mut state)).collect();
                let run = |x: &[u64], len: usize, work: &dyn Fn(Lanes<'_>, LanesMut<'_>)| -> Vec<u64> {
                    let narrow: Vec<u32> = x.iter().map(|&x| x as u32).collect();
                    let (mut a, mut b) = (narrow[..len].to_vec(), x[..len].to_vec());
                    match ty.words() {
                        1 => work(Lanes::Narrow(&narrow), LanesMut::Narrow(&mut a)),
                        _ => work(Lanes::Wide(x), LanesMut::Wide(&mut b)),
                    }
                    let made = if ty.words() == 1 { a.into_iter().map(u64::from).collect() } else { b };
                    made.into_iter().map(|bits| canonical_nan(ty, bits)).collect()
                };
                let pairs: Vec<u64> = x.chunks_exact(2).map(|p| canonical_nan(ty, combine(p[0], p[1]))).collect();
                assert_eq!(run(&x[..n / 2 * 2], n / 2, &|from, to| binary.pairs(from, to)), pairs, "{op}, {n} lanes");
                let prepended: Vec<u64> = x.iter().map(|&b| canonical_nan(ty, combine(x[0], b))).collect();
                assert_eq!(run(&x, n, &|_, to| binary.prepend(x[0], to)), prepended, "{op}, {n} lanes");
                let mut prefixes = x.clone();
                for half in (0..).map(|bit| 1 << bit).take_while(|&half| half < n) {
                    for i in (0..n).filter(|i| i & half != 0) {
                        prefixes[i] = combine(prefixes[i / half * half - 1], prefixes[i]);
                    }
                }
                let prefixes: Vec<u64> = prefixes.into_iter().map(|bits| canonical_nan(ty, bits)).collect();
                assert_eq!(run(&x, n, &|_, to| binary.prefixes(to)), prefixes, "{op}, {n} lanes");
            }
        }
    }
    assert!(operations > 60, "{operations} operations were single ones");
}

#[test]
fn every_function_has_the_bits_of_its_definition() {
    for &function in Elementary::ALL {
        let name = function.name();
        let called = match function.arity() {
            1 => trace(|x: Expr<f32>| call(function, &[x])).unwrap(),
            _ => trace(|(x, y): (Expr<f32>, Expr<f32>)| call(function, &[x, y])).unwrap(),
        };
        for seed in 0..8 {
            check(&called, &columns(&called, BLOCK, seed), BLOCK, Ty::U32, name);
            let f = definition(function);
            check(&f, &columns(&f, BLOCK, seed), BLOCK, Ty::U32, name);
        }
    }
}

fn call(function: Elementary, args: &[Expr<f32>]) -> Expr<f32> {
    use Elementary as E;
    let x = args[0];
    match function {
        E::Exp => x.exp(),
        E::Exp2 => x.exp2(),
        E::Expm1 => x.exp_m1(),
        E::Log => x.ln(),
        E::Log2 => x.log2(),
        E::Log10 => x.log10(),
        E::Log1p => x.ln_1p(),
        E::Sin => x.sin(),
        E::Cos => x.cos(),
        E::Tan => x.tan(),
        E::Asin => x.asin(),
        E::Acos => x.acos(),
        E::Atan => x.atan(),
        E::Sinh => x.sinh(),
        E::Cosh => x.cosh(),
        E::Tanh => x.tanh(),
        E::Erf => x.erf(),
        E::Rsqrt => x.rsqrt(),
        E::Cbrt => x.cbrt(),
        E::Pow => x.powf(args[1]),
        E::Atan2 => x.atan2(args[1]),
    }
}

#[test]
fn fetches_at_indices_of_every_type_give_zero_outside_the_array() {
    use isowarp_core::element::DType;
    macro_rules! of {
        ($($t:ident $ty:ident)*) => {$(
            let f = isowarp_core::ir::pack(vec![Param::Value(Ty::$ty), Param::Array(DType::U32)], || {
                let i = <Expr<$t> as isowarp_core::ir::Traced>::params(0);
                array_expr::<u32>(1).at(i)
            })
            .unwrap();
            check(&f, &columns(&f, BLOCK, 3), BLOCK, Ty::$ty, stringify!($t));
            let f = isowarp_core::ir::pack(vec![Param::Array(DType::U32)], || array_expr::<u32>(0).at(lit::<$t>(7))).unwrap();
            check(&f, &columns(&f, BLOCK, 3), BLOCK, Ty::$ty, "a constant");
        )*};
    }
    of!(u32 U32 i32 I32 u64 U64 i64 I64);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_operators_have_the_bits_of_the_plain_evaluator(program in programs(), lanes in 1..=BLOCK, seed in any::<u64>()) {
        let f = operator(&program, false).unwrap();
        assert_eq!(f.params.len(), PARAMS);
        let mut columns = columns(&f, lanes, seed);
        // The program's own arguments in every lane of some parameters: branches that all lanes take alike.
        for (k, column) in columns.params.iter_mut().enumerate().filter(|(k, _)| seed >> k & 1 == 1) {
            column.fill(program.1[k]);
        }
        check(&f, &columns, lanes, Ty::U32, "program");
        let constant = operator(&program, true).unwrap();
        check(&constant, &columns, lanes, Ty::U32, "constants");
    }
}
