//! Lowering to CUDA C++: the header of elementary functions that hand-written kernels include.
//!
//! Every float operation is an intrinsic with its rounding in its name, so that no compiler flag decides about contraction; signed
//! integers wrap by way of unsigned ones.

use super::node::{BinOp, Func, Id, Node, Param, UnOp};
use crate::element::Ty;
use core::fmt::Write as _;

/// The CUDA C++ name of a type.
#[must_use]
pub fn cuda_type(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::F32 => "float",
        Ty::I32 => "int",
        Ty::U32 => "unsigned int",
        Ty::F64 => "double",
        Ty::I64 => "long long",
        Ty::U64 => "unsigned long long",
    }
}

fn unsigned(ty: Ty) -> Ty {
    if ty.words() == 2 { Ty::U64 } else { Ty::U32 }
}

/// A constant, exact to the bit.
fn literal(ty: Ty, bits: u64) -> String {
    match ty {
        Ty::Bool => (bits != 0).to_string(),
        Ty::U32 => format!("{}u", bits as u32),
        Ty::I32 if bits as u32 == 0x8000_0000 => "(-2147483647 - 1)".to_owned(),
        Ty::I32 => (bits as u32 as i32).to_string(),
        Ty::U64 => format!("{bits}ull"),
        Ty::I64 if bits == 1 << 63 => "(-9223372036854775807ll - 1)".to_owned(),
        Ty::I64 => format!("{}ll", bits as i64),
        Ty::F32 => {
            let v = f32::from_bits(bits as u32);
            if v.is_normal() || bits == 0 { format!("{v:?}f") } else { format!("__uint_as_float(0x{:08x}u)", bits as u32) }
        }
        Ty::F64 => {
            let v = f64::from_bits(bits);
            if v.is_normal() || bits == 0 { format!("{v:?}") } else { format!("__longlong_as_double(0x{bits:016x}ull)") }
        }
    }
}

/// Writes `f` as a device function `name` whose parameters are its value and index parameters `p0`, `p1`, ... and whose result is a
/// value, or a structure `name_result` with members `r0`, `r1`, ... Array parameter `k` is fetched with `{name}_fetch{k}(index)`, and
/// elementary functions are called as `iw_exp(x)`; both the caller supplies.
#[must_use]
pub fn cuda_function(f: &Func, name: &str) -> String {
    let mut w = Writer { f, name, text: String::new() };
    let types = f.result_types();
    let result = if let [one] = types[..] { cuda_type(one).to_owned() } else { format!("{name}_result") };
    if types.len() != 1 {
        let members: String = types.iter().enumerate().map(|(i, &t)| format!("{} r{i}; ", cuda_type(t))).collect();
        let _ = writeln!(w.text, "struct {name}_result {{ {members}}};");
    }
    let params: Vec<String> = f
        .params
        .iter()
        .enumerate()
        .filter_map(|(k, p)| match p {
            Param::Value(t) | Param::Index(t) => Some(format!("{} p{k}", cuda_type(*t))),
            Param::Array(_) => None,
        })
        .collect();
    let _ = writeln!(w.text, "__device__ __forceinline__ {result} {name}({}) {{", params.join(", "));
    w.range(0, f.nodes.len() as Id, 1);
    let results: Vec<String> = f.results.iter().map(|&r| w.value(r)).collect();
    let _ = match &results[..] {
        [one] => writeln!(w.text, "    return {one};\n}}"),
        all => writeln!(w.text, "    return {result}{{{}}};\n}}", all.join(", ")),
    };
    w.text
}

struct Writer<'a> {
    f: &'a Func,
    name: &'a str,
    text: String,
}

impl Writer<'_> {
    fn ty(&self, id: Id) -> Ty {
        self.f.types[id as usize]
    }

    /// Parameters and constants are written where they are used.
    fn value(&self, id: Id) -> String {
        match self.f.nodes[id as usize] {
            Node::Param(k) => format!("p{k}"),
            Node::Const(bits) => literal(self.ty(id), bits),
            _ => format!("v{id}"),
        }
    }

    /// A shift's amount, modulo the width.
    fn amount(&self, ty: Ty, by: Id) -> String {
        let mask = ty.words() as u64 * 32 - 1;
        match self.f.nodes[by as usize] {
            Node::Const(n) => format!("{}u", n & mask),
            _ => format!("({} & {mask}u)", self.value(by)),
        }
    }

    fn range(&mut self, from: Id, to: Id, depth: usize) {
        let pad = "    ".repeat(depth);
        let mut i = from;
        while i < to {
            let ty = cuda_type(self.ty(i));
            match self.f.nodes[i as usize] {
                Node::Param(_) | Node::Const(_) => {}
                Node::Branch { cond, then_end, then_result, else_end, else_result } => {
                    let _ = writeln!(self.text, "{pad}{ty} v{i};\n{pad}if ({}) {{", self.value(cond));
                    self.range(i + 1, then_end, depth + 1);
                    let _ = writeln!(self.text, "{pad}    v{i} = {};\n{pad}}} else {{", self.value(then_result));
                    self.range(then_end, else_end, depth + 1);
                    let _ = writeln!(self.text, "{pad}    v{i} = {};\n{pad}}}", self.value(else_result));
                    i = else_end;
                    continue;
                }
                Node::Carried { init, .. } => {
                    let _ = writeln!(self.text, "{pad}{ty} v{i} = {};", self.value(init));
                }
                Node::Loop { turns, end, go, keeps } => {
                    let _ = writeln!(self.text, "{pad}for (unsigned int t{i} = 0u; t{i} < {turns}u; ++t{i}) {{");
                    self.range(i + 1, end, depth + 1);
                    let leave = format!("{pad}    if (!({})) break;\n", self.value(go));
                    self.text.push_str(if keeps { &leave } else { "" });
                    let carried = Func::carried(&self.f.nodes, i);
                    for (id, next) in carried.clone() {
                        let _ = writeln!(self.text, "{pad}    const {} n{id} = {};", cuda_type(self.ty(id)), self.value(next));
                    }
                    for (id, _) in carried {
                        let _ = writeln!(self.text, "{pad}    v{id} = n{id};");
                    }
                    self.text.push_str(if keeps { "" } else { &leave });
                    let _ = writeln!(self.text, "{pad}}}");
                    i = end;
                    continue;
                }
                node => {
                    let e = self.expression(node, self.ty(i));
                    let _ = writeln!(self.text, "{pad}const {ty} v{i} = {e};");
                }
            }
            i += 1;
        }
    }

    fn expression(&self, node: Node, ty: Ty) -> String {
        let v = |id: Id| self.value(id);
        match node {
            Node::Un(op, a) => un(op, self.ty(a), &v(a)),
            Node::Bin(op @ (BinOp::Shl | BinOp::Shr), a, b) => shift(op, self.ty(a), &v(a), &self.amount(self.ty(a), b)),
            Node::Bin(op, a, b) => bin(op, self.ty(a), &v(a), &v(b)),
            Node::Fma(a, b, c) if ty == Ty::F64 => format!("__fma_rn({}, {}, {})", v(a), v(b), v(c)),
            Node::Fma(a, b, c) => format!("__fmaf_rn({}, {}, {})", v(a), v(b), v(c)),
            Node::Select(c, a, b) => format!("{} ? {} : {}", v(c), v(a), v(b)),
            Node::Cast(a) => cast(self.ty(a), ty, &v(a)),
            Node::Bitcast(a) => {
                let from = self.ty(a);
                let x = v(a);
                let x = if from.is_float() { format!("({} ? {} : {x})", is_nan(from, &x), nan(from)) } else { x };
                reinterpret(from, ty, &x)
            }
            Node::Reinterpret(a) => reinterpret(self.ty(a), ty, &v(a)),
            Node::Call1(f, a) => format!("iw_{}({})", f.name(), v(a)),
            Node::Call2(f, a, b) => format!("iw_{}({}, {})", f.name(), v(a), v(b)),
            Node::Fetch(k, a) => format!("{}_fetch{k}({})", self.name, v(a)),
            Node::Param(_) | Node::Const(_) | Node::Branch { .. } | Node::Carried { .. } | Node::Loop { .. } => String::new(),
        }
    }
}

fn nan(ty: Ty) -> String {
    literal(ty, super::eval::canonical_nan(ty, u64::MAX >> if ty == Ty::F64 { 0 } else { 32 }))
}

/// On the bits, which no fast-math flag touches.
fn is_nan(ty: Ty, x: &str) -> String {
    if ty == Ty::F64 {
        format!("((__double_as_longlong({x}) & 0x7fffffffffffffffll) > 0x7ff0000000000000ll)")
    } else {
        format!("((__float_as_uint({x}) & 0x7fffffffu) > 0x7f800000u)")
    }
}

fn reinterpret(from: Ty, to: Ty, x: &str) -> String {
    match (from, to) {
        (Ty::F32, Ty::U32) => format!("__float_as_uint({x})"),
        (Ty::F32, Ty::I32) => format!("__float_as_int({x})"),
        (Ty::U32, Ty::F32) => format!("__uint_as_float({x})"),
        (Ty::I32, Ty::F32) => format!("__int_as_float({x})"),
        (Ty::F64, Ty::U64 | Ty::I64) => format!("({})__double_as_longlong({x})", cuda_type(to)),
        (Ty::U64 | Ty::I64, Ty::F64) => format!("__longlong_as_double((long long){x})"),
        _ if from == to => x.to_owned(),
        _ => format!("({}){x}", cuda_type(to)),
    }
}

/// An expression computed in the unsigned type of the same width, where wrapping is defined.
fn wrapping(ty: Ty, text: impl FnOnce(&dyn Fn(&str) -> String) -> String) -> String {
    if ty.is_signed_int() {
        let u = cuda_type(unsigned(ty));
        format!("({})({})", cuda_type(ty), text(&|x| format!("({u}){x}")))
    } else {
        text(&str::to_owned)
    }
}

fn un(op: UnOp, ty: Ty, x: &str) -> String {
    let wide = ty.words() == 2;
    let suffix = if ty == Ty::F64 { "" } else { "f" };
    match op {
        UnOp::Neg if ty.is_float() => format!("-{x}"),
        UnOp::Neg => wrapping(ty, |u| format!("{} - {}", literal(unsigned(ty), 0), u(x))),
        UnOp::Abs if ty.is_float() => format!("fabs{suffix}({x})"),
        UnOp::Abs if ty.is_signed_int() => format!("{x} < 0 ? {} : {x}", un(UnOp::Neg, ty, x)),
        UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint | UnOp::Abs if !ty.is_float() => x.to_owned(),
        UnOp::Not if ty == Ty::Bool => format!("!{x}"),
        UnOp::Not => format!("~{x}"),
        UnOp::Sqrt | UnOp::SqrtApprox => format!("__{}sqrt_rn({x})", if wide { "d" } else { "f" }),
        UnOp::RcpApprox => format!("__fdividef(1.0f, {x})"),
        UnOp::Floor => format!("floor{suffix}({x})"),
        UnOp::Ceil => format!("ceil{suffix}({x})"),
        UnOp::Trunc => format!("trunc{suffix}({x})"),
        UnOp::Rint => format!("rint{suffix}({x})"),
        UnOp::Abs => x.to_owned(),
        UnOp::IsNan => is_nan(ty, x),
        UnOp::CountOnes => format!("(unsigned int)__popc{}({x})", if wide { "ll" } else { "" }),
        UnOp::LeadingZeros => format!("(unsigned int)__clz{}({x})", if wide { "ll" } else { "" }),
        UnOp::ReverseBits => format!("({})__brev{}({x})", cuda_type(ty), if wide { "ll" } else { "" }),
    }
}

fn bin(op: BinOp, ty: Ty, x: &str, y: &str) -> String {
    let infix = |o: &str| format!("{x} {o} {y}");
    if ty == Ty::Bool {
        return match op {
            BinOp::And | BinOp::Min | BinOp::Mul | BinOp::MulRn => infix("&&"),
            BinOp::Or | BinOp::Max => infix("||"),
            BinOp::Lt => format!("!{x} && {y}"),
            BinOp::Le => format!("!{x} || {y}"),
            BinOp::Eq => infix("=="),
            _ => infix("!="),
        };
    }
    let rounded = |name: &str| format!("__{}{name}_rn({x}, {y})", if ty == Ty::F64 { "d" } else { "f" });
    let float = ty.is_float();
    match op {
        BinOp::Add if float => rounded("add"),
        BinOp::Sub if float => rounded("sub"),
        BinOp::Mul | BinOp::MulRn if float => rounded("mul"),
        BinOp::Div | BinOp::DivApprox if float => rounded("div"),
        BinOp::Min | BinOp::Max if float => {
            let name = if op == BinOp::Min { "fmin" } else { "fmax" };
            let suffix = if ty == Ty::F64 { "" } else { "f" };
            format!("{} || {} ? {} : {name}{suffix}({x}, {y})", is_nan(ty, x), is_nan(ty, y), nan(ty))
        }
        BinOp::Add => wrapping(ty, |u| format!("{} + {}", u(x), u(y))),
        BinOp::Sub => wrapping(ty, |u| format!("{} - {}", u(x), u(y))),
        BinOp::Mul | BinOp::MulRn => wrapping(ty, |u| format!("{} * {}", u(x), u(y))),
        BinOp::MulHi => format!("__umulhi({x}, {y})"),
        BinOp::Div | BinOp::Rem | BinOp::DivApprox => {
            let zero = literal(ty, 0);
            let overflow = format!(" || ({x} == {} && {y} == -1)", literal(ty, if ty == Ty::I64 { 1 << 63 } else { 1 << 31 }));
            let special = format!("{y} == {zero}{}", if ty.is_signed_int() { &overflow } else { "" });
            let sign = if op == BinOp::Rem { "%" } else { "/" };
            format!("{x} {sign} ({special} ? {} : {y})", literal(ty, 1))
        }
        BinOp::Min => format!("{x} < {y} ? {x} : {y}"),
        BinOp::Max => format!("{x} > {y} ? {x} : {y}"),
        BinOp::And => infix("&"),
        BinOp::Or => infix("|"),
        BinOp::Xor => infix("^"),
        BinOp::Shl | BinOp::Shr => shift(op, ty, x, y),
        BinOp::Lt => infix("<"),
        BinOp::Le => infix("<="),
        BinOp::Eq => infix("=="),
        BinOp::Ne => infix("!="),
    }
}

fn shift(op: BinOp, ty: Ty, x: &str, by: &str) -> String {
    if op == BinOp::Shl { wrapping(ty, |u| format!("{} << {by}", u(x))) } else { format!("{x} >> {by}") }
}

fn cast(from: Ty, to: Ty, x: &str) -> String {
    let long = |ty: Ty| match ty {
        Ty::F32 => "float",
        Ty::F64 => "double",
        Ty::I32 => "int",
        Ty::U32 => "uint",
        Ty::I64 => "ll",
        _ => "ull",
    };
    match (from, to) {
        (Ty::Bool, _) => format!("{x} ? {} : {}", literal(to, one(to)), literal(to, 0)),
        (_, Ty::Bool) => format!("{x} != {}", literal(from, 0)),
        (Ty::F32, Ty::F64) => format!("(double){x}"),
        (Ty::F64, Ty::F32) => format!("__double2float_rn({x})"),
        // The hardware saturates, but gives NaN its own value where 64 bits are involved.
        (Ty::F32 | Ty::F64, _) => format!("{} ? {} : __{}2{}_rz({x})", is_nan(from, x), literal(to, 0), long(from), long(to)),
        (_, Ty::F64) if from.words() == 1 => format!("(double){x}"),
        (_, Ty::F32 | Ty::F64) => format!("__{}2{}_rn({x})", long(from), long(to)),
        _ => format!("({}){x}", cuda_type(to)),
    }
}

fn one(ty: Ty) -> u64 {
    match ty {
        Ty::F32 => u64::from(1f32.to_bits()),
        Ty::F64 => 1f64.to_bits(),
        _ => 1,
    }
}
