//! From a checked tree to an operator's graph.

use super::check::whole;
use super::names::{Builtin, Constant};
use super::tree::{Form, Infix, Item, Kind, Number, Prefix, Tree, What};
use crate::element::{Scalar as _, Ty};
use crate::ir::graph::{self, Graph};
use crate::ir::{BinOp, Func, Id, OpError, Param, UnOp};

/// The graph of a tree.
pub(super) fn emit(tree: &Tree, inputs: &[Ty], index: Option<Ty>) -> Result<Func, OpError> {
    let mut params: Vec<Param> = inputs.iter().map(|&t| Param::Value(t)).collect();
    let uses_index = tree.items.iter().any(|i| i.what == What::Index);
    if let (Some(ty), true) = (index, uses_index) {
        params.push(Param::Index(ty));
    }
    let index_param = inputs.len() as u16;
    graph::trace(params, || {
        let result = graph::with(|g| {
            // As a traced closure does, so that equal operators have equal graphs.
            for k in 0..index_param + u16::from(uses_index) {
                g.param(k);
            }
            let mut ids: Vec<Id> = Vec::with_capacity(tree.items.len());
            for item in &tree.items {
                let id = node(g, item, &ids, index_param);
                ids.push(id);
            }
            ids.last().copied().unwrap_or(0)
        });
        vec![result]
    })
}

fn node(g: &mut Graph, item: &Item, ids: &[Id], index_param: u16) -> Id {
    let ty = item.ty;
    match &item.what {
        What::Number(n) => g.constant(ty, number(n, ty)),
        What::Constant(c) => g.constant(ty, constant(*c, ty)),
        What::Truth(t) => g.constant(Ty::Bool, u64::from(*t)),
        What::Input(k) => g.param(*k),
        What::Index => {
            let i = g.param(index_param);
            g.cast(i, ty)
        }
        // Not every shading language negates unsigned integers.
        What::Prefix(Prefix::Neg, a) if matches!(ty, Ty::U32 | Ty::U64) => {
            let zero = g.constant(ty, 0);
            g.bin(BinOp::Sub, zero, ids[*a])
        }
        What::Prefix(Prefix::Neg, a) => g.un(UnOp::Neg, ids[*a]),
        What::Prefix(Prefix::Not, a) => g.un(UnOp::Not, ids[*a]),
        // False is below true.
        What::Infix(op, a, b) if op.is_comparison() && item.operands == Kind::Is(Ty::Bool) => {
            let [a, b] = [*a, *b].map(|k| g.cast(ids[k], Ty::U32));
            infix(g, *op, a, b)
        }
        What::Infix(op, a, b) => infix(g, *op, ids[*a], ids[*b]),
        What::Select(c, a, b) => g.select(ids[*c], ids[*a], ids[*b]),
        What::Call(function, args) => {
            let args: Vec<Id> = args.iter().map(|&a| ids[a]).collect();
            call(g, *function, &args, ty)
        }
    }
}

fn infix(g: &mut Graph, op: Infix, a: Id, b: Id) -> Id {
    let (op, a, b) = match op {
        Infix::Add => (BinOp::Add, a, b),
        Infix::Sub => (BinOp::Sub, a, b),
        Infix::Mul => (BinOp::Mul, a, b),
        Infix::Div => (BinOp::Div, a, b),
        Infix::Rem => (BinOp::Rem, a, b),
        Infix::BitAnd | Infix::And => (BinOp::And, a, b),
        Infix::BitOr | Infix::Or => (BinOp::Or, a, b),
        Infix::BitXor => (BinOp::Xor, a, b),
        Infix::Shl => (BinOp::Shl, a, g.cast(b, Ty::U32)),
        Infix::Shr => (BinOp::Shr, a, g.cast(b, Ty::U32)),
        Infix::Lt => (BinOp::Lt, a, b),
        Infix::Le => (BinOp::Le, a, b),
        Infix::Gt => (BinOp::Lt, b, a),
        Infix::Ge => (BinOp::Le, b, a),
        Infix::Eq => (BinOp::Eq, a, b),
        Infix::Ne => (BinOp::Ne, a, b),
    };
    g.bin(op, a, b)
}

fn call(g: &mut Graph, function: Builtin, args: &[Id], ty: Ty) -> Id {
    match (function, args) {
        (Builtin::Abs, &[a]) => g.un(UnOp::Abs, a),
        (Builtin::Float(op) | Builtin::Count(op) | Builtin::Bits(op), &[a]) => g.un(op, a),
        (Builtin::IsNan, &[a]) => g.un(UnOp::IsNan, a),
        (Builtin::Cast(to), &[a]) => g.cast(a, to),
        (Builtin::Saturate(to), &[a]) => g.saturate(a, to),
        (Builtin::Elementary(f), &[a]) => g.call1(f, a),
        (Builtin::Elementary(f), &[a, b]) => g.call2(f, a, b),
        (Builtin::Pick(op), &[a, b]) => g.bin(op, a, b),
        (Builtin::MulRn, &[a, b]) => g.bin(BinOp::MulRn, a, b),
        (Builtin::Fma, &[a, b, c]) => g.fma(a, b, c),
        (Builtin::Select, &[c, a, b]) => g.select(c, a, b),
        (Builtin::Clamp, &[a, low, high]) => {
            let above = g.bin(BinOp::Max, a, low);
            g.bin(BinOp::Min, above, high)
        }
        // The parser has counted the arguments.
        _ => {
            g.fail(OpError::ForeignValue);
            g.constant(ty, 0)
        }
    }
}

/// The bits of a literal; `check` has seen that it fits. Decimal digits are read in the target type, so that they are rounded once.
fn number(n: &Number, ty: Ty) -> u64 {
    let signed = |v: f64| if n.negative { -v } else { v };
    match (ty, n.form) {
        (Ty::F32, Form::Bits(radix)) => {
            let v = u64::from_str_radix(&n.digits, radix).unwrap_or(0) as f32;
            (if n.negative { -v } else { v }).to_bits64()
        }
        (Ty::F64, Form::Bits(radix)) => signed(u64::from_str_radix(&n.digits, radix).unwrap_or(0) as f64).to_bits64(),
        (Ty::F32, _) => {
            let v: f32 = n.digits.parse().unwrap_or(f32::NAN);
            (if n.negative { -v } else { v }).to_bits64()
        }
        (Ty::F64, _) => signed(n.digits.parse().unwrap_or(f64::NAN)).to_bits64(),
        _ => whole(n, ty).unwrap_or(0),
    }
}

fn constant(c: Constant, ty: Ty) -> u64 {
    if ty == Ty::F64 { c.f64().to_bits64() } else { c.f32().to_bits64() }
}
