//! Random operators: a program for a machine that has a pile of values of each type.

use isowarp_core::element::{Float, Int, Num, Scalar};
use isowarp_core::ir::{Expr, Func, OpError, Param, Traced, TracedValue, branch, lit, next_until, next_while, pack, repeat, select};
use proptest::prelude::*;

/// One instruction: which operation, on which of the values so far.
pub(crate) type Step = (u8, u8, u8, u8);

/// A program and the arguments of its parameters: two each of bool, f32, i32, u32, f64, i64, u64.
pub(crate) type Program = (Vec<Step>, Vec<u64>);

pub(crate) const PARAMS: usize = 14;

pub(crate) fn programs() -> impl Strategy<Value = Program> {
    let bits = prop_oneof![any::<u64>(), 0u64..4, Just(u64::MAX), Just(1 << 63), Just(1 << 31), any::<f64>().prop_map(f64::to_bits)];
    let narrow = prop_oneof![bits.clone(), any::<f32>().prop_map(|v| u64::from(v.to_bits()))];
    (prop::collection::vec(any::<Step>(), 1..40), prop::collection::vec(prop_oneof![bits, narrow], PARAMS))
        .prop_map(|(steps, args)| (steps, args.iter().enumerate().map(|(k, &b)| mask(k, b)).collect()))
}

/// The argument's bits in its type's width.
fn mask(k: usize, bits: u64) -> u64 {
    match k / 2 {
        0 => bits & 1,
        1..=3 => bits & 0xFFFF_FFFF,
        _ => bits,
    }
}

#[derive(Default)]
struct Piles {
    bools: Vec<Expr<bool>>,
    f32s: Vec<Expr<f32>>,
    i32s: Vec<Expr<i32>>,
    u32s: Vec<Expr<u32>>,
    f64s: Vec<Expr<f64>>,
    i64s: Vec<Expr<i64>>,
    u64s: Vec<Expr<u64>>,
}

fn at<T: Copy>(pile: &[T], k: u8) -> T {
    pile[usize::from(k) % pile.len()]
}

fn number<T: Num>(op: u8, a: Expr<T>, b: Expr<T>, c: Expr<T>, t: Expr<bool>) -> Expr<T> {
    match op % 11 {
        0 => a + b,
        1 => a - b,
        2 => a * b,
        3 => a / b,
        4 => a.min(b),
        5 => a.max(b),
        6 => select(t, a, b),
        7 => branch(t, || a * b + c, || branch(a.lt(b), || a - c * b, || c)),
        8 => {
            let turn =
                |(x, y, on, k): (Expr<T>, Expr<T>, Expr<bool>, Expr<u32>)| next_while((x + c).lt(b) | on, (y * x, x, t & !on, k + 1));
            let (x, y, on, k) = repeat(5, (a * a, b, t, lit(0u32)), turn);
            select(on | k.lt(3), x + c, y)
        }
        9 => {
            repeat(3, (a, b), |(x, y)| {
                let inner = repeat(4, x, |x| next_until(x.lt(y) & t, branch(x.le(b), || x + y, || x * c)));
                next_until(inner.eq(x), (inner - y * b, x))
            })
            .0
        }
        _ => a.abs(),
    }
}

fn float<T: Float + Num>(op: u8, a: Expr<T>, b: Expr<T>, c: Expr<T>, t: Expr<bool>) -> Expr<T>
where
    Expr<T>: core::ops::Neg<Output = Expr<T>>,
{
    match op % 20 {
        0 => a.mul_add(b, c),
        1 => a.mul_rn(b),
        2 => a.sqrt(),
        3 => a.floor(),
        4 => a.ceil(),
        5 => a.trunc(),
        6 => a.round_ties_even(),
        7 => -a,
        8 => a.recip(),
        other => number(other - 9, a, b, c, t),
    }
}

fn int<T: Int + Num>(op: u8, a: Expr<T>, b: Expr<T>, c: Expr<T>, t: Expr<bool>, n: Expr<u32>) -> Expr<T> {
    match op % 16 {
        0 => a % b,
        1 => a << n,
        2 => a >> n,
        3 => a.reverse_bits(),
        4 => select(a.count_ones().lt(b.leading_zeros()), a, b),
        other => number(other - 5, a, b, c, t),
    }
}

/// Values of two parameters, as symbols, or as constants if `constant`.
fn pair<T: Scalar>(k: usize, args: &[u64], constant: bool) -> Vec<Expr<T>> {
    let one = |i: usize| if constant { lit(T::from_bits64(args[i])) } else { <Expr<T> as Traced>::params(i as u16) };
    vec![one(2 * k), one(2 * k + 1)]
}

/// All the values at the end, so that nothing is dead.
#[derive(Clone, Copy)]
struct Ends(bool, [TracedValue; 7]);

impl Traced for Ends {
    fn types() -> Vec<isowarp_core::element::Ty> {
        Vec::new()
    }
    fn params(_: u16) -> Self {
        unreachable!("results only")
    }
    fn push_values(self, out: &mut Vec<TracedValue>) {
        out.extend(self.1);
    }
}

/// The operator of a program, over its parameters or over its arguments as constants.
pub(crate) fn operator((steps, args): &Program, constant: bool) -> Result<Func, OpError> {
    let types = {
        use isowarp_core::element::Ty::{Bool, F32, F64, I32, I64, U32, U64};
        [Bool, F32, I32, U32, F64, I64, U64]
    };
    let params = types.iter().flat_map(|&t| [Param::Value(t), Param::Value(t)]).collect();
    pack(params, || {
        let mut p = Piles {
            bools: pair(0, args, constant),
            f32s: pair(1, args, constant),
            i32s: pair(2, args, constant),
            u32s: pair(3, args, constant),
            f64s: pair(4, args, constant),
            i64s: pair(5, args, constant),
            u64s: pair(6, args, constant),
        };
        for &step in steps {
            run(&mut p, step);
        }
        let mut ends = Vec::new();
        macro_rules! last { ($($pile:ident),*) => { $(at(&p.$pile, (p.$pile.len() - 1) as u8).push_values(&mut ends);)* }; }
        last!(bools, f32s, i32s, u32s, f64s, i64s, u64s);
        Ends(true, [ends[0], ends[1], ends[2], ends[3], ends[4], ends[5], ends[6]])
    })
}

fn run(p: &mut Piles, (kind, x, y, z): Step) {
    let t = at(&p.bools, z);
    let n = at(&p.u32s, z);
    let op = kind / 8;
    macro_rules! three {
        ($pile:ident) => {
            (at(&p.$pile, x), at(&p.$pile, y), at(&p.$pile, z))
        };
    }
    match kind % 8 {
        0 => {
            let (a, b, c) = three!(f32s);
            p.f32s.push(float(op, a, b, c, t));
        }
        1 => {
            let (a, b, c) = three!(i32s);
            p.i32s.push(int(op, a, b, c, t, n));
        }
        2 => {
            let (a, b, c) = three!(u32s);
            p.u32s.push(if op % 17 == 16 { a.mul_hi(b) } else { int(op, a, b, c, t, n) });
        }
        3 => {
            let (a, b, c) = three!(f64s);
            p.f64s.push(float(op, a, b, c, t));
        }
        4 => {
            let (a, b, c) = three!(i64s);
            p.i64s.push(int(op, a, b, c, t, n));
        }
        5 => {
            let (a, b, c) = three!(u64s);
            p.u64s.push(int(op, a, b, c, t, n));
        }
        6 => truth(p, op, x, y, t),
        _ => convert(p, op, x),
    }
}

fn truth(p: &mut Piles, op: u8, x: u8, y: u8, t: Expr<bool>) {
    let b = at(&p.bools, x);
    p.bools.push(match op % 10 {
        0 => at(&p.f32s, x).lt(at(&p.f32s, y)),
        1 => at(&p.f64s, x).le(at(&p.f64s, y)),
        2 => at(&p.i32s, x).gt(at(&p.i32s, y)),
        3 => at(&p.u64s, x).ge(at(&p.u64s, y)),
        4 => at(&p.f32s, x).ne(at(&p.f32s, y)),
        5 => at(&p.i64s, x).eq(at(&p.i64s, y)),
        6 => at(&p.f32s, x).is_nan() & t,
        7 => !b | t,
        8 => b ^ t,
        _ => branch(t, || b.eq(t), || b & t),
    });
}

fn convert(p: &mut Piles, op: u8, x: u8) {
    match op % 16 {
        0 => p.f32s.push(at(&p.f64s, x).cast()),
        1 => p.f32s.push(at(&p.u64s, x).cast()),
        2 => p.f32s.push(at(&p.u32s, x).bitcast()),
        3 => p.i32s.push(at(&p.f32s, x).cast()),
        4 => p.i32s.push(at(&p.i64s, x).cast()),
        5 => p.u32s.push(at(&p.f64s, x).cast()),
        6 => p.u32s.push(at(&p.f32s, x).bitcast()),
        7 => p.f64s.push(at(&p.f32s, x).cast()),
        8 => p.f64s.push(at(&p.i64s, x).cast()),
        9 => p.f64s.push(at(&p.u64s, x).bitcast()),
        10 => p.i64s.push(at(&p.u32s, x).cast()),
        11 => p.i64s.push(at(&p.f64s, x).cast()),
        12 => p.u64s.push(at(&p.i32s, x).cast()),
        13 => p.u64s.push(at(&p.f64s, x).bitcast()),
        14 => p.i32s.push(at(&p.bools, x).cast()),
        _ => p.bools.push(at(&p.f32s, x).cast()),
    }
}
