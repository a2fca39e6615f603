//! Lowering to WGSL: a graph becomes one function; operations that WGSL leaves loose are calls of the numerics prelude (`iw_...`).

use super::node::{BinOp, Func, Id, Node, Param, UnOp};
use crate::caps::Numerics;
use crate::element::{DType, Ty};
use core::fmt::Write as _;
use std::collections::BTreeSet;

/// How a graph is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WgslOptions {
    /// Whether the device's `fma` is fused; otherwise `iw_fma` is called.
    pub native_fma: bool,
    /// Strict calls the numerics prelude for division, square root and elementary functions, Fast the built-ins.
    pub numerics: Numerics,
}

/// The WGSL name of a type.
#[must_use]
pub fn wgsl_type(ty: Ty) -> &'static str {
    ty.name()
}

/// A constant in WGSL, exact to the bit. Numbers that WGSL has no literal for come from their bits at run time.
#[must_use]
pub fn wgsl_literal(ty: Ty, bits: u64) -> String {
    match ty {
        Ty::Bool => (bits != 0).to_string(),
        Ty::U32 => format!("{}u", bits as u32),
        Ty::I32 if bits as u32 == 0x8000_0000 => "(-2147483647i - 1i)".to_owned(),
        Ty::I32 => format!("{}i", bits as u32 as i32),
        Ty::F32 => {
            let v = f32::from_bits(bits as u32);
            if v.is_normal() || bits == 0 { format!("{v:?}f") } else { format!("iw_bits({}u)", bits as u32) }
        }
        Ty::U64 => format!("{bits}lu"),
        Ty::I64 if bits == 1 << 63 => "(-9223372036854775807li - 1li)".to_owned(),
        Ty::I64 => format!("{}li", bits as i64),
        Ty::F64 => {
            let v = f64::from_bits(bits);
            if v.is_normal() || bits == 0 { format!("{v:?}lf") } else { format!("iw_bits64({bits}lu)") }
        }
    }
}

/// Writes `f` as a WGSL function `name` whose parameters are its value and index parameters `p0`, `p1`, ... and whose result is a
/// value, or a structure `name_result` with members `r0`, `r1`, ... Array parameter `k` is fetched with `{name}_fetch{k}(u32)`, which the caller
/// supplies. The names of the prelude's functions that it calls are added to `calls`.
#[must_use]
pub fn wgsl_function(f: &Func, name: &str, options: WgslOptions, calls: &mut BTreeSet<String>) -> String {
    let mut w = Writer { f, name, options, text: String::new(), calls };
    let types = f.result_types();
    let result = if let [one] = types[..] { wgsl_type(one).to_owned() } else { format!("{name}_result") };
    if types.len() != 1 {
        let members: Vec<String> = types.iter().enumerate().map(|(i, &t)| format!("r{i}: {}", wgsl_type(t))).collect();
        let _ = writeln!(w.text, "struct {name}_result {{ {} }}", members.join(", "));
    }
    let params: Vec<String> = f
        .params
        .iter()
        .enumerate()
        .filter_map(|(k, p)| match p {
            Param::Value(t) | Param::Index(t) => Some(format!("p{k}: {}", wgsl_type(*t))),
            Param::Array(_) => None,
        })
        .collect();
    let _ = writeln!(w.text, "fn {name}({}) -> {result} {{", params.join(", "));
    w.range(0, f.nodes.len() as Id, 1);
    let results: Vec<String> = f.results.iter().map(|&r| w.value(r)).collect();
    let _ = if types.len() == 1 {
        writeln!(w.text, "    return {};\n}}", results[0])
    } else {
        writeln!(w.text, "    return {result}({});\n}}", results.join(", "))
    };
    w.text
}

struct Writer<'a> {
    f: &'a Func,
    name: &'a str,
    options: WgslOptions,
    text: String,
    calls: &'a mut BTreeSet<String>,
}

impl Writer<'_> {
    fn ty(&self, id: Id) -> Ty {
        self.f.types[id as usize]
    }

    /// Parameters and constants are written where they are used. Zeros come from their bits: drivers fold `x + 0.0`, `0.0 - x` and
    /// `x * 0.0` as if zero had no sign and NaN did not exist, so where they do, a backend brings an `iw_bits` that they cannot see
    /// through.
    fn value(&mut self, id: Id) -> String {
        match self.f.nodes[id as usize] {
            Node::Param(k) => format!("p{k}"),
            Node::Const(0) if self.ty(id) == Ty::F32 => self.call("iw_bits", &["0u".to_owned()]),
            Node::Const(0) if self.ty(id) == Ty::F64 => self.call("iw_bits64", &["0lu".to_owned()]),
            Node::Const(bits) => {
                let text = wgsl_literal(self.ty(id), bits);
                if let Some((function, _)) = text.split_once('(').filter(|(f, _)| f.starts_with("iw_")) {
                    self.calls.insert(function.to_owned());
                }
                text
            }
            _ => format!("v{id}"),
        }
    }

    fn call(&mut self, function: &str, args: &[String]) -> String {
        self.calls.insert(function.to_owned());
        format!("{function}({})", args.join(", "))
    }

    fn range(&mut self, from: Id, to: Id, depth: usize) {
        let pad = "    ".repeat(depth);
        let mut i = from;
        while i < to {
            match self.f.nodes[i as usize] {
                Node::Param(_) | Node::Const(_) => {}
                Node::Branch { cond, then_end, then_result, else_end, else_result } => {
                    let cond = self.value(cond);
                    let ty = wgsl_type(self.ty(i));
                    let _ = writeln!(self.text, "{pad}var v{i}: {ty};\n{pad}if ({cond}) {{");
                    self.range(i + 1, then_end, depth + 1);
                    let a = self.value(then_result);
                    let _ = writeln!(self.text, "{pad}    v{i} = {a};\n{pad}}} else {{");
                    self.range(then_end, else_end, depth + 1);
                    let b = self.value(else_result);
                    let _ = writeln!(self.text, "{pad}    v{i} = {b};\n{pad}}}");
                    i = else_end;
                    continue;
                }
                node => {
                    let e = self.expression(node, self.ty(i));
                    let _ = writeln!(self.text, "{pad}let v{i} = {e};");
                }
            }
            i += 1;
        }
    }

    fn expression(&mut self, node: Node, ty: Ty) -> String {
        match node {
            Node::Un(op, a) => self.un(op, a),
            Node::Bin(op, a, b) => self.bin(op, a, b),
            Node::Fma(a, b, c) => {
                let args = [self.value(a), self.value(b), self.value(c)];
                match ty {
                    Ty::F64 => self.call("iw_fma64", &args),
                    _ if self.options.native_fma => format!("fma({})", args.join(", ")),
                    _ => self.call("iw_fma", &args),
                }
            }
            Node::Select(c, a, b) => format!("select({}, {}, {})", self.value(b), self.value(a), self.value(c)),
            Node::Cast(a) => self.cast(a, ty),
            Node::Bitcast(a) => {
                let (from, v) = (self.ty(a), self.value(a));
                let v = match from {
                    Ty::F32 => self.call("iw_canonical", &[v]),
                    Ty::F64 => self.call("iw_canonical64", &[v]),
                    _ => v,
                };
                format!("bitcast<{}>({v})", wgsl_type(ty))
            }
            Node::Reinterpret(a) => format!("bitcast<{}>({})", wgsl_type(ty), self.value(a)),
            Node::Call1(f, a) => {
                let v = self.value(a);
                self.elementary(f.name(), &[v])
            }
            Node::Call2(f, a, b) => {
                let (x, y) = (self.value(a), self.value(b));
                self.elementary(f.name(), &[x, y])
            }
            Node::Fetch(k, a) => {
                let (t, v) = (self.ty(a), self.value(a));
                let index = match t {
                    Ty::U32 => v,
                    Ty::I64 | Ty::U64 => format!("select(0xffffffffu, u32({v}), u64({v}) < 0xfffffffflu)"),
                    _ => format!("u32({v})"),
                };
                format!("{}_fetch{k}({index})", self.name)
            }
            Node::Param(_) | Node::Const(_) | Node::Branch { .. } => String::new(),
        }
    }

    fn elementary(&mut self, name: &str, args: &[String]) -> String {
        let builtin = matches!(name, "exp" | "exp2" | "log" | "log2");
        if self.options.numerics == Numerics::Fast && builtin {
            return format!("{name}({})", args.join(", "));
        }
        self.call(&format!("iw_{name}"), args)
    }

    fn un(&mut self, op: UnOp, a: Id) -> String {
        let (t, v) = (self.ty(a), self.value(a));
        let fast = self.options.numerics == Numerics::Fast;
        match op {
            UnOp::Neg if matches!(t, Ty::U32 | Ty::U64) => format!("({} - {v})", wgsl_literal(t, 0)),
            UnOp::Neg => format!("(-{v})"),
            UnOp::Abs if matches!(t, Ty::U32 | Ty::U64 | Ty::Bool) => v,
            UnOp::Abs => format!("abs({v})"),
            UnOp::Not if t == Ty::Bool => format!("(!{v})"),
            UnOp::Not => format!("(~{v})"),
            UnOp::Sqrt if t == Ty::F64 => self.call("iw_sqrt64", &[v]),
            UnOp::Sqrt if !fast => self.call("iw_sqrt", &[v]),
            UnOp::Sqrt | UnOp::SqrtApprox => format!("sqrt({v})"),
            UnOp::RcpApprox => format!("(1.0f / {v})"),
            UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint if !t.is_float() => v,
            UnOp::Floor => format!("floor({v})"),
            UnOp::Ceil => format!("ceil({v})"),
            UnOp::Trunc => format!("trunc({v})"),
            UnOp::Rint => format!("round({v})"),
            UnOp::IsNan if t == Ty::F64 => self.call("iw_is_nan64", &[v]),
            UnOp::IsNan => self.call("iw_is_nan", &[v]),
            UnOp::CountOnes if t.words() == 2 => self.call("iw_count_ones64", &[format!("u64({v})")]),
            UnOp::CountOnes => format!("u32(countOneBits({v}))"),
            UnOp::LeadingZeros if t.words() == 2 => self.call("iw_leading_zeros64", &[format!("u64({v})")]),
            UnOp::LeadingZeros => format!("countLeadingZeros(bitcast<u32>({v}))"),
            UnOp::ReverseBits if t.words() == 2 => {
                let r = self.call("iw_reverse_bits64", &[format!("u64({v})")]);
                format!("{}({r})", wgsl_type(t))
            }
            UnOp::ReverseBits => format!("reverseBits({v})"),
        }
    }

    fn bin(&mut self, op: BinOp, a: Id, b: Id) -> String {
        let t = self.ty(a);
        if t.is_float() && matches!(op, BinOp::Lt | BinOp::Le | BinOp::Eq | BinOp::Ne) {
            return self.compare(op, a, b);
        }
        let (x, y) = (self.value(a), self.value(b));
        if t == Ty::Bool {
            return bool_bin(op, &x, &y);
        }
        let infix = |o: &str| format!("({x} {o} {y})");
        let fast = self.options.numerics == Numerics::Fast;
        match op {
            BinOp::Add => infix("+"),
            BinOp::Sub => infix("-"),
            BinOp::Mul | BinOp::MulRn => infix("*"),
            BinOp::DivApprox => infix("/"),
            BinOp::Div if t == Ty::F32 && fast => infix("/"),
            BinOp::Div if t == Ty::F32 => self.call("iw_div", &[x, y]),
            BinOp::Div if t == Ty::F64 => self.call("iw_div64", &[x, y]),
            BinOp::Div => self.call(&format!("iw_div_{}", t.name()), &[x, y]),
            BinOp::Rem => self.call(&format!("iw_rem_{}", t.name()), &[x, y]),
            BinOp::Min | BinOp::Max if t.is_float() => {
                let name = if op == BinOp::Min { "iw_min" } else { "iw_max" };
                self.call(&format!("{name}{}", if t == Ty::F64 { "64" } else { "" }), &[x, y])
            }
            BinOp::Min => format!("min({x}, {y})"),
            BinOp::Max => format!("max({x}, {y})"),
            BinOp::And => infix("&"),
            BinOp::Or => infix("|"),
            BinOp::Xor => infix("^"),
            BinOp::Shl => format!("({x} << {})", self.amount(t, b)),
            BinOp::Shr => format!("({x} >> {})", self.amount(t, b)),
            BinOp::MulHi => self.call("iw_mul_hi", &[x, y]),
            BinOp::Lt => infix("<"),
            BinOp::Le => infix("<="),
            BinOp::Eq => infix("=="),
            // naga writes `!=` as an ordered comparison, which is false with NaN.
            BinOp::Ne if t.is_float() => format!("(!({x} == {y}))"),
            BinOp::Ne => infix("!="),
        }
    }

    /// A comparison of floats that holds what IEEE says of NaN: naga writes `!=` as the comparison that fails for NaN on Vulkan, and a
    /// comparison of a value with itself is left to no compiler. Zeros are literals here, since there is nothing to fold.
    fn compare(&mut self, op: BinOp, a: Id, b: Id) -> String {
        let (t, x) = (self.ty(a), self.literal_or_value(a));
        if a == b && op != BinOp::Lt {
            let is_nan = self.call(if t == Ty::F64 { "iw_is_nan64" } else { "iw_is_nan" }, &[x]);
            return if op == BinOp::Ne { is_nan } else { format!("(!{is_nan})") };
        }
        let y = self.literal_or_value(b);
        match op {
            BinOp::Lt => format!("({x} < {y})"),
            BinOp::Le => format!("({x} <= {y})"),
            BinOp::Eq => format!("({x} == {y})"),
            _ => format!("(!({x} == {y}))"),
        }
    }

    fn literal_or_value(&mut self, id: Id) -> String {
        match self.f.nodes[id as usize] {
            Node::Const(0) => wgsl_literal(self.ty(id), 0),
            _ => self.value(id),
        }
    }

    /// A shift's amount, modulo the width.
    fn amount(&mut self, ty: Ty, by: Id) -> String {
        let mask = ty.words() as u64 * 32 - 1;
        match self.f.nodes[by as usize] {
            Node::Const(n) => format!("{}u", n & mask),
            _ => format!("({} & {mask}u)", self.value(by)),
        }
    }

    fn cast(&mut self, a: Id, to: Ty) -> String {
        let (from, v) = (self.ty(a), self.value(a));
        match (from, to) {
            (Ty::Bool, _) => format!("select({}, {}, {v})", wgsl_literal(to, 0), one(to)),
            (Ty::F32 | Ty::F64, Ty::Bool) => format!("(!({v} == {}))", wgsl_literal(from, 0)),
            (_, Ty::Bool) => format!("(!({v} == {}))", wgsl_literal(from, 0)),
            (Ty::F32 | Ty::F64, t) if t.is_int() => self.call(&format!("iw_{}_to_{}", from.name(), to.name()), &[v]),
            (Ty::I64 | Ty::U64, Ty::F32 | Ty::F64) => self.call(&format!("iw_{}_to_{}", from.name(), to.name()), &[v]),
            // Widening follows the source's sign, but naga takes the target's: so widen first, then change the sign.
            (Ty::I32, Ty::U64) => format!("bitcast<u64>(i64({v}))"),
            (Ty::U32, Ty::I64) => format!("bitcast<i64>(u64({v}))"),
            (Ty::I32 | Ty::U32, t) if t.is_int() && t.words() == 1 => format!("bitcast<{}>({v})", wgsl_type(to)),
            _ => format!("{}({v})", wgsl_type(to)),
        }
    }
}

fn one(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "true",
        Ty::F32 => "1.0f",
        Ty::F64 => "1.0lf",
        Ty::I32 => "1i",
        Ty::U32 => "1u",
        Ty::I64 => "1li",
        Ty::U64 => "1lu",
    }
}

fn bool_bin(op: BinOp, x: &str, y: &str) -> String {
    match op {
        BinOp::And | BinOp::Min | BinOp::Mul | BinOp::MulRn => format!("({x} && {y})"),
        BinOp::Or | BinOp::Max => format!("({x} || {y})"),
        BinOp::Lt => format!("(!{x} && {y})"),
        BinOp::Le => format!("(!{x} || {y})"),
        BinOp::Eq => format!("({x} == {y})"),
        _ => format!("({x} != {y})"),
    }
}

/// Element types that a kernel with this graph loads from arrays.
impl Func {
    /// The array parameters, with their element types.
    pub fn arrays(&self) -> impl Iterator<Item = (u16, DType)> + '_ {
        self.params.iter().enumerate().filter_map(|(k, p)| match p {
            Param::Array(d) => Some((k as u16, *d)),
            _ => None,
        })
    }
}
