//! Every operation on every type, as operators of their own: what lowerings are tested on.

#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod random;

use isowarp_core::element::{DType, Element, Scalar, Ty};
use isowarp_core::ir::{
    ArrayExpr, Expr, Func, Param, Traced, array_expr, branch, lit, next_until, next_while, pack, repeat, select, trace,
};

/// An operator with a name that says what it is made of.
pub(crate) type Named = (String, Func);

fn one<A: Traced, R: Traced>(all: &mut Vec<Named>, name: String, f: impl FnOnce(A) -> R) {
    all.push((name.clone(), trace(f).unwrap_or_else(|e| panic!("{name}: {e}"))));
}

macro_rules! table {
    ($all:ident, $t:ty; unary { $($un:ident: $f1:expr;)* } binary { $($bi:ident: $f2:expr;)* }) => {
        $(one($all, format!("{}_{}", stringify!($un), <$t as Scalar>::TY), |a: Expr<$t>| { let f = $f1; f(a) });)*
        $(one($all, format!("{}_{}", stringify!($bi), <$t as Scalar>::TY), |(a, b): (Expr<$t>, Expr<$t>)| { let f = $f2; f(a, b) });)*
    };
}

macro_rules! numbers {
    ($all:ident, $($t:ty),*) => {$(
        table!($all, $t; unary {
            abs: |a: Expr<$t>| a.abs();
        } binary {
            add: |a, b| a + b;
            sub: |a, b| a - b;
            mul: |a, b| a * b;
            div: |a, b| a / b;
            min: |a: Expr<$t>, b| a.min(b);
            max: |a: Expr<$t>, b| a.max(b);
            lt: |a: Expr<$t>, b| a.lt(b);
            le: |a: Expr<$t>, b| a.le(b);
            gt: |a: Expr<$t>, b| a.gt(b);
            ge: |a: Expr<$t>, b| a.ge(b);
            eq: |a: Expr<$t>, b| a.eq(b);
            ne: |a: Expr<$t>, b| a.ne(b);
            select: |a: Expr<$t>, b: Expr<$t>| select(a.lt(b), b, a);
            fused: |a: Expr<$t>, b: Expr<$t>| a * b + a;
            two_products: |a: Expr<$t>, b: Expr<$t>| a * a - b * b;
            branch: |a: Expr<$t>, b: Expr<$t>| branch(a.lt(b), || a + b, || branch(a.eq(b), || a * b, || a - b));
            loop_while: |a: Expr<$t>, b: Expr<$t>| repeat(9, (a, b, lit(0u32)), |(x, y, k)| next_while(x.lt(y), (y, x + b * b, k + 1)));
            loop_of_loops: |a: Expr<$t>, b: Expr<$t>| repeat(3, (a, a.lt(b)), |(x, on)| {
                let y = repeat(2, x, |x| branch(on, || x * b, || x - a));
                next_until(y.eq(x), (y, !on))
            });
            branch_of_truth: |a: Expr<$t>, b: Expr<$t>| branch(a.lt(b), || (a + b).lt(a), || a.eq(b));
            argmin: |a: Expr<$t>, b: Expr<$t>| (a.min(b), select(a.le(b), lit(0u32), lit(1u32)));
        });
    )*};
}

macro_rules! floats {
    ($all:ident, $($t:ty),*) => {$(
        table!($all, $t; unary {
            neg: |a: Expr<$t>| -a;
            sqrt: |a: Expr<$t>| a.sqrt();
            recip: |a: Expr<$t>| a.recip();
            floor: |a: Expr<$t>| a.floor();
            ceil: |a: Expr<$t>| a.ceil();
            trunc: |a: Expr<$t>| a.trunc();
            round: |a: Expr<$t>| a.round_ties_even();
            is_nan: |a: Expr<$t>| a.is_nan();
        } binary {
            mul_rn: |a: Expr<$t>, b| a.mul_rn(b);
            mul_add: |a: Expr<$t>, b: Expr<$t>| a.mul_add(b, -b);
        });
    )*};
}

macro_rules! ints {
    ($all:ident, $($t:ty),*) => {$(
        table!($all, $t; unary {
            not: |a: Expr<$t>| !a;
            count_ones: |a: Expr<$t>| a.count_ones();
            leading_zeros: |a: Expr<$t>| a.leading_zeros();
            reverse_bits: |a: Expr<$t>| a.reverse_bits();
            shl_constant: |a: Expr<$t>| a << 69u32;
            shr_constant: |a: Expr<$t>| a >> 3u32;
        } binary {
            rem: |a, b| a % b;
            and: |a, b| a & b;
            or: |a, b| a | b;
            xor: |a, b| a ^ b;
            shl: |a: Expr<$t>, b: Expr<$t>| a << b.cast::<u32>();
            shr: |a: Expr<$t>, b: Expr<$t>| a >> b.cast::<u32>();
        });
    )*};
}

macro_rules! casts {
    ($all:ident, $from:ty => $($to:ty),*) => {$(
        one($all, format!("cast_{}_{}", <$from as Scalar>::TY, <$to as Scalar>::TY), |a: Expr<$from>| a.cast::<$to>());
    )*};
}

macro_rules! bitcasts {
    ($all:ident, $($from:ty => $to:ty),*) => {$(
        one($all, format!("bitcast_{}_{}", <$from as Scalar>::TY, <$to as Scalar>::TY), |a: Expr<$from>| a.bitcast::<$to>());
    )*};
}

/// The operation `x + c` or, where bits would be lost, a choice of `c`, for every awkward constant.
fn constants(all: &mut Vec<Named>) {
    for bits in [0u32, 1, 0x007F_FFFF, 0x0080_0000, 0x3F80_0000, 0x7F7F_FFFF, 0x7F80_0000, 0x7FC0_0000, 0x3DCC_CCCD, 0x3727_C5AC] {
        for bits in [bits, bits | 0x8000_0000] {
            let v = f32::from_bits(bits);
            one(all, format!("constant_f32_{bits:08x}"), move |a: Expr<f32>| select(a.lt(0.5), v, a - v));
        }
    }
    for bits in
        [0u64, 1, (1 << 52) - 1, 1 << 52, 0x7FEF_FFFF_FFFF_FFFF, 0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000, 0x3FB9_9999_9999_999A]
    {
        for bits in [bits, bits | 1 << 63] {
            let v = f64::from_bits(bits);
            one(all, format!("constant_f64_{bits:016x}"), move |a: Expr<f64>| select(a.lt(0.5), v, a - v));
        }
    }
    for v in [0, 1, -1, i32::MIN, i32::MAX, -7] {
        one(all, format!("constant_i32_{v:08x}"), move |a: Expr<i32>| select(a.lt(3), v, a - v));
        one(all, format!("constant_u32_{v:08x}"), move |a: Expr<u32>| select(a.lt(3), v as u32, a - v as u32));
    }
    for v in [0, 1, -1, i64::MIN, i64::MAX, 1 << 40] {
        one(all, format!("constant_i64_{v:016x}"), move |a: Expr<i64>| select(a.lt(3), v, a - v));
        one(all, format!("constant_u64_{v:016x}"), move |a: Expr<u64>| select(a.lt(3), v as u64, a - v as u64));
    }
}

fn truths(all: &mut Vec<Named>) {
    one(all, "and_bool".into(), |(a, b): (Expr<bool>, Expr<bool>)| a & b);
    one(all, "or_bool".into(), |(a, b): (Expr<bool>, Expr<bool>)| a | b);
    one(all, "xor_bool".into(), |(a, b): (Expr<bool>, Expr<bool>)| a ^ b);
    one(all, "eq_bool".into(), |(a, b): (Expr<bool>, Expr<bool>)| a.eq(b));
    one(all, "ne_bool".into(), |(a, b): (Expr<bool>, Expr<bool>)| a.ne(b));
    one(all, "not_bool".into(), |a: Expr<bool>| !a);
    one(all, "select_bool".into(), |(a, b): (Expr<bool>, Expr<bool>)| select(a, b, !b));
    one(all, "constant_bool".into(), |a: Expr<bool>| branch(a, || lit(true), || lit(false)));
}

/// All operations that the builders offer, on all types, and every elementary function.
pub(crate) fn operations() -> Vec<Named> {
    let mut list = Vec::new();
    let all = &mut list;
    numbers!(all, f32, f64, i32, u32, i64, u64);
    floats!(all, f32, f64);
    ints!(all, i32, u32, i64, u64);
    table!(all, i32; unary { neg: |a: Expr<i32>| -a; } binary {});
    table!(all, i64; unary { neg: |a: Expr<i64>| -a; } binary {});
    table!(all, u32; unary {} binary { mul_hi: |a: Expr<u32>, b| a.mul_hi(b); });
    casts!(all, bool => f32, f64, i32, u32, i64, u64);
    casts!(all, f32 => bool, f64, i32, u32, i64, u64);
    casts!(all, f64 => bool, f32, i32, u32, i64, u64);
    casts!(all, i32 => bool, f32, f64, u32, i64, u64);
    casts!(all, u32 => bool, f32, f64, i32, i64, u64);
    casts!(all, i64 => bool, f32, f64, i32, u32, u64);
    casts!(all, u64 => bool, f32, f64, i32, u32, i64);
    bitcasts!(all, f32 => u32, f32 => i32, u32 => f32, i32 => f32, i32 => u32, u32 => i32);
    bitcasts!(all, f64 => u64, f64 => i64, u64 => f64, i64 => f64, i64 => u64, u64 => i64);
    truths(all);
    constants(all);
    elementary(all);
    loops(all);
    list
}

fn loops(all: &mut Vec<Named>) {
    one(all, "loop_of_calls".into(), |(a, b): (Expr<f32>, Expr<f32>)| {
        repeat(6, (a, b), |(x, y)| next_while(x.gt(y), (x.ln() + (-y).exp(), y + x.sin().sqrt())))
    });
    one(all, "loop_of_all_its_turns".into(), |(a, b): (Expr<f32>, Expr<f64>)| {
        let (x, y) = repeat(7, (a, b), |(x, y)| (x * y.cast::<f32>(), y + 1.0));
        (x, repeat(1, y, |y| y / b), repeat(0, a * a, |x| x + 1.0) + a)
    });
    one(all, "loop_of_swaps".into(), |(a, b, c): (Expr<u64>, Expr<u64>, Expr<bool>)| {
        repeat(5, (a, b, c, !c), |(a, b, c, d)| next_until(a.lt(b) & c, (b, a, d, c)))
    });
}

macro_rules! functions {
    ($all:ident, $($f:ident),*) => {
        $(one($all, format!("{}_f32", stringify!($f)), |a: Expr<f32>| a.$f());)*
    };
}

fn elementary(all: &mut Vec<Named>) {
    functions!(all, exp, exp2, exp_m1, ln, log2, log10, ln_1p, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, erf, cbrt, rsqrt);
    one(all, "powf_f32".into(), |(a, b): (Expr<f32>, Expr<f32>)| a.powf(b));
    one(all, "atan2_f32".into(), |(a, b): (Expr<f32>, Expr<f32>)| a.atan2(b));
}

fn fetch<T: Element, I: isowarp_core::element::Int>(list: &mut Vec<Named>) {
    let params = vec![Param::Value(I::TY), Param::Array(T::DTYPE)];
    let f = pack(params, || {
        let array: ArrayExpr<T> = array_expr(1);
        array.at(<Expr<I> as Traced>::params(0))
    });
    list.push((format!("fetch_{}_{}", T::DTYPE, I::TY), f.unwrap()));
}

/// Fetches of every element type by every type of index; the array is parameter 1.
pub(crate) fn fetches() -> Vec<Named> {
    let mut list = Vec::new();
    macro_rules! by { ($($t:ty),*) => {$(
        fetch::<$t, u32>(&mut list);
        fetch::<$t, i32>(&mut list);
        fetch::<$t, u64>(&mut list);
        fetch::<$t, i64>(&mut list);
    )*}; }
    by!(f32, i32, u32, f64, i64, u64, half::f16, u8, i16);
    list
}

/// Values of a type to try: boundaries and the awkward.
pub(crate) fn samples(ty: Ty) -> Vec<u64> {
    let ints = |bits: u32| {
        let mut v: Vec<u64> = vec![0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 255, 1000, 0x5555_5555];
        v.extend([bits - 8, bits - 2, bits - 1].map(|n| 1u64 << n));
        v.extend(v.clone().iter().map(|x| x.wrapping_neg()).chain([(1u64 << (bits - 1)) - 1, (1 << (bits - 1)) + 1]));
        v.iter().map(|x| if bits == 32 { x & 0xFFFF_FFFF } else { *x }).collect()
    };
    match ty {
        Ty::Bool => vec![0, 1],
        Ty::I32 | Ty::U32 => ints(32),
        Ty::I64 | Ty::U64 => ints(64),
        Ty::F32 => [
            0.0f32,
            1.0,
            1.5,
            0.5,
            2.5,
            3.0,
            1e-40,
            f32::MIN_POSITIVE,
            f32::MAX,
            2_147_483_648.0,
            4_294_967_296.0,
            1.8e19,
            9.3e18,
            1e10,
            87.3,
            123_456.79,
            0.1,
        ]
        .iter()
        .flat_map(|v| [v.to_bits(), v.to_bits() | 0x8000_0000])
        .chain([0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0xFFC0_0000, 0x7F80_0001, 0x4EFF_FFFF, 0x3F7F_FFFF])
        .map(u64::from)
        .collect(),
        Ty::F64 => [
            0.0f64,
            1.0,
            1.5,
            0.5,
            2.5,
            3.0,
            1e-310,
            f64::MIN_POSITIVE,
            f64::MAX,
            2_147_483_647.5,
            4_294_967_295.5,
            1.8e19,
            9.3e18,
            1e10,
            1e39,
            1e-46,
            0.1,
        ]
        .iter()
        .flat_map(|v| [v.to_bits(), v.to_bits() | 1 << 63])
        .chain([0x7FF0_0000_0000_0000, 0xFFF0_0000_0000_0000, 0x7FF8_0000_0000_0000, 0x7FF0_0000_0000_0001, 0x3FEF_FFFF_FFFF_FFFF])
        .collect(),
    }
}

/// The types of an operator's values and indices.
pub(crate) fn value_types(f: &Func) -> Vec<Ty> {
    f.params
        .iter()
        .map(|p| match *p {
            Param::Value(t) | Param::Index(t) => t,
            Param::Array(d) => d.ty(),
        })
        .collect()
}

/// Every combination of samples for an operator of one or two values.
pub(crate) fn arguments(f: &Func) -> Vec<Vec<u64>> {
    let types = value_types(f);
    let mut all = vec![vec![]];
    for &t in &types {
        all = all.into_iter().flat_map(|head: Vec<u64>| samples(t).into_iter().map(move |v| [head.clone(), vec![v]].concat())).collect();
    }
    all
}

/// An element type's own bits, widened, fit its register type.
pub(crate) fn is_stored_narrow(d: DType) -> bool {
    DType::STORED.contains(&d)
}
