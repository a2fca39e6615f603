//! The symbolic instance of [`Arith`]: running a definition over it records the definition's graph.

use super::OpError;
use super::expr::{self, Expr};
use super::graph;
use super::node::{BinOp, Func, Param, UnOp};
use crate::element::{Scalar, Ty};
use crate::numerics::{Arith, Func as Elementary, div_anywhere, soft_div, soft_reciprocal, soft_sqrt, sqrt_anywhere};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// [`Arith`] over symbolic values.
#[derive(Clone, Copy, Debug)]
pub struct Symbolic;

type F = Expr<f32>;
type I = Expr<i32>;
type U = Expr<u32>;
type B = Expr<bool>;

fn reinterpret<A: Scalar, R: Scalar>(a: Expr<A>) -> Expr<R> {
    Expr::from_value(graph::with(|g| {
        let id = g.id(a.value(), A::TY);
        g.reinterpret(id, R::TY)
    }))
}

fn un<A: Scalar, R: Scalar>(op: UnOp, a: Expr<A>) -> Expr<R> {
    Expr::from_value(graph::with(|g| {
        let id = g.id(a.value(), A::TY);
        g.un(op, id)
    }))
}

fn bin<A: Scalar, R: Scalar>(op: BinOp, a: Expr<A>, b: Expr<A>) -> Expr<R> {
    Expr::from_value(graph::with(|g| {
        let (x, y) = (g.id(a.value(), A::TY), g.id(b.value(), A::TY));
        g.bin(op, x, y)
    }))
}

macro_rules! ops {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty = $body:expr;)*) => {
        $(fn $name($($arg: $ty),*) -> $out { $body })*
    };
}

impl Arith for Symbolic {
    type F = F;
    type I = I;
    type U = U;
    type B = B;

    ops! {
        f32(v: f32) -> F = expr::lit(v);
        i32(v: i32) -> I = expr::lit(v);
        u32(v: u32) -> U = expr::lit(v);

        add(a: F, b: F) -> F = bin(BinOp::Add, a, b);
        sub(a: F, b: F) -> F = bin(BinOp::Sub, a, b);
        mul(a: F, b: F) -> F = a.mul_rn(b);
        fma(a: F, b: F, c: F) -> F = a.mul_add(b, c);
        div(a: F, b: F) -> F = bin(BinOp::Div, a, b);
        sqrt(a: F) -> F = a.sqrt();
        neg(a: F) -> F = -a;
        abs(a: F) -> F = a.abs();
        rint(a: F) -> F = a.round_ties_even();
        trunc(a: F) -> F = a.trunc();

        lt(a: F, b: F) -> B = a.lt(b);
        le(a: F, b: F) -> B = a.le(b);
        gt(a: F, b: F) -> B = a.gt(b);
        ge(a: F, b: F) -> B = a.ge(b);
        eq(a: F, b: F) -> B = a.eq(b);
        ne(a: F, b: F) -> B = a.ne(b);

        f_to_bits(a: F) -> U = reinterpret(a);
        f_from_bits(a: U) -> F = reinterpret(a);
        u_to_i(a: U) -> I = reinterpret(a);
        i_to_u(a: I) -> U = reinterpret(a);
        f_to_i(a: F) -> I = a.cast();
        i_to_f(a: I) -> F = a.cast();
        u_to_f(a: U) -> F = a.cast();

        i_add(a: I, b: I) -> I = a + b;
        i_sub(a: I, b: I) -> I = a - b;
        i_mul(a: I, b: I) -> I = a * b;
        i_and(a: I, b: I) -> I = a & b;
        i_or(a: I, b: I) -> I = a | b;
        i_xor(a: I, b: I) -> I = a ^ b;
        i_not(a: I) -> I = !a;
        i_shl(a: I, by: U) -> I = a << by;
        i_shr(a: I, by: U) -> I = a >> by;
        i_lt(a: I, b: I) -> B = a.lt(b);
        i_le(a: I, b: I) -> B = a.le(b);
        i_gt(a: I, b: I) -> B = a.gt(b);
        i_ge(a: I, b: I) -> B = a.ge(b);
        i_eq(a: I, b: I) -> B = a.eq(b);
        i_ne(a: I, b: I) -> B = a.ne(b);

        u_add(a: U, b: U) -> U = a + b;
        u_sub(a: U, b: U) -> U = a - b;
        u_mul(a: U, b: U) -> U = a * b;
        u_mul_hi(a: U, b: U) -> U = a.mul_hi(b);
        u_and(a: U, b: U) -> U = a & b;
        u_or(a: U, b: U) -> U = a | b;
        u_xor(a: U, b: U) -> U = a ^ b;
        u_not(a: U) -> U = !a;
        u_shl(a: U, by: U) -> U = a << by;
        u_shr(a: U, by: U) -> U = a >> by;
        u_lt(a: U, b: U) -> B = a.lt(b);
        u_le(a: U, b: U) -> B = a.le(b);
        u_gt(a: U, b: U) -> B = a.gt(b);
        u_ge(a: U, b: U) -> B = a.ge(b);
        u_eq(a: U, b: U) -> B = a.eq(b);
        u_ne(a: U, b: U) -> B = a.ne(b);

        b_and(a: B, b: B) -> B = a & b;
        b_or(a: B, b: B) -> B = a | b;
        b_not(a: B) -> B = !a;

        select_f(cond: B, if_true: F, if_false: F) -> F = expr::select(cond, if_true, if_false);
        select_i(cond: B, if_true: I, if_false: I) -> I = expr::select(cond, if_true, if_false);
        select_u(cond: B, if_true: U, if_false: U) -> U = expr::select(cond, if_true, if_false);
    }

    fn is_nan(a: F) -> B {
        un(UnOp::IsNan, a)
    }

    fn branch(cond: B, then: impl FnOnce() -> F, otherwise: impl FnOnce() -> F) -> F {
        expr::branch(cond, then, otherwise)
    }
}

/// The graph of an elementary function, traced once.
#[must_use]
pub fn definition(f: Elementary) -> Arc<Func> {
    static TRACED: OnceLock<Mutex<Vec<(Elementary, Arc<Func>)>>> = OnceLock::new();
    let mut all = TRACED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, d)) = all.iter().find(|(g, _)| *g == f) {
        return d.clone();
    }
    let d = Arc::new(trace_definition(f).unwrap_or_else(|_| Func::new(Vec::new(), Vec::new(), Vec::new(), Vec::new())));
    all.push((f, d.clone()));
    d
}

fn trace_definition(f: Elementary) -> Result<Func, OpError> {
    let params = vec![Param::Value(Ty::F32); f.arity()];
    expr::pack(params, || {
        let args: Vec<F> = (0..f.arity() as u16).map(|k| F::from_value(graph::with(|g| g.param(k)))).collect();
        f.apply::<Symbolic>(&args)
    })
}

/// Division and square root without the device's own, their ways for operands that are out of range, and the reciprocal.
pub(super) const SOFTWARE: [&str; 5] = ["div", "div_anywhere", "reciprocal", "sqrt", "sqrt_anywhere"];

/// The graph of one of [`SOFTWARE`], traced once.
pub(super) fn software(name: &str) -> Option<Arc<Func>> {
    static TRACED: OnceLock<Vec<Arc<Func>>> = OnceLock::new();
    let traced = TRACED.get_or_init(|| trace_software().unwrap_or_default().into_iter().map(Arc::new).collect());
    traced.get(SOFTWARE.iter().position(|n| *n == name)?).cloned()
}

fn trace_software() -> Result<Vec<Func>, OpError> {
    Ok(vec![
        expr::trace(|(a, b): (F, F)| soft_div::<Symbolic>(a, b))?,
        expr::trace(|(a, b): (F, F)| div_anywhere::<Symbolic>(a, b))?,
        expr::trace(|b: F| soft_reciprocal::<Symbolic>(b))?,
        expr::trace(|x: F| soft_sqrt::<Symbolic>(x))?,
        expr::trace(|x: F| sqrt_anywhere::<Symbolic>(x))?,
    ])
}
