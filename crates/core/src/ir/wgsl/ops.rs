//! The expression of each operation.

use super::{Form, WgslFma, Writer, wgsl_literal};
use crate::caps::Numerics;
use crate::element::Ty;
use crate::ir::node::{BinOp, Func, Id, Node, UnOp};

impl Writer<'_> {
    pub(super) fn expression(&mut self, node: Node, ty: Ty) -> String {
        if let Some(op) = self.f.operation(&node, ty).filter(|&op| self.options.repairs.contains(op)) {
            let mut operands = Vec::new();
            Func::operands(&node, |id| operands.push(id));
            let args: Vec<String> = operands.into_iter().map(|id| self.value(id)).collect();
            return self.call(&format!("iw_exact_{op}"), &args);
        }
        match node {
            Node::Un(op, a) => self.un(op, a),
            Node::Bin(op, a, b) => self.bin(op, a, b),
            Node::Fma(a, b, c) => {
                let args = [self.value(a), self.value(b), self.value(c)];
                match ty {
                    Ty::F64 => self.call("iw_fma64", &args),
                    _ => match self.options.fma {
                        WgslFma::Native => format!("fma({})", args.join(", ")),
                        WgslFma::Guarded if self.stays_normal(a, b, c) => self.call("iw_fma_native", &args),
                        WgslFma::Guarded | WgslFma::Prelude => self.call("iw_fma", &args),
                    },
                }
            }
            Node::Select(c, a, b) => format!("select({}, {}, {})", self.value(b), self.value(a), self.value(c)),
            Node::Cast(a) => self.cast(a, ty),
            Node::Bitcast(a) => {
                let (from, v) = (self.ty(a), self.value(a));
                let v = match from {
                    Ty::F32 => self.call("iw_canonical", &[v]),
                    Ty::F64 => self.call("iw_canonical64", &[v]),
                    _ if ty.is_float() => return self.float_of_bits(from, ty, &v),
                    _ => v,
                };
                format!("bitcast<{}>({v})", self.spelt(ty))
            }
            Node::Reinterpret(a) => format!("bitcast<{}>({})", self.spelt(ty), self.value(a)),
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
                let index = match (t, self.f.nodes[a as usize]) {
                    (Ty::U32, _) => v,
                    // naga converts a constant itself, and refuses one that is outside.
                    (_, Node::Const(bits)) => {
                        let negative = t == Ty::I32 && (bits as u32 as i32) < 0;
                        self.literal(Ty::U32, &format!("{}u", if negative { u32::MAX } else { u32::try_from(bits).unwrap_or(u32::MAX) }))
                    }
                    (Ty::I64 | Ty::U64, _) => format!("select(0xffffffffu, u32({v}), u64({v}) < 0xfffffffflu)"),
                    // Of more than 2^31 elements, what is below zero would be inside.
                    _ if t.is_signed_int() => {
                        let (outside, zero) = (self.literal(Ty::U32, "0xffffffffu"), self.literal(t, "0i"));
                        format!("select({outside}, {}({v}), {v} >= {zero})", self.spelt(Ty::U32))
                    }
                    _ => format!("{}({v})", self.spelt(Ty::U32)),
                };
                match self.form {
                    Form::Single => format!("{}_fetch{k}({index})", self.name),
                    Form::Joint { .. } => self.fetched_4(k, a, &index),
                }
            }
            Node::Param(_) | Node::Const(_) | Node::Branch { .. } | Node::Carried { .. } | Node::Loop { .. } => String::new(),
        }
    }

    /// Whether WGSL has the function, which `Fast` takes.
    pub(super) fn is_builtin(name: &str) -> bool {
        matches!(name, "exp" | "exp2" | "log" | "log2")
    }

    fn elementary(&mut self, name: &str, args: &[String]) -> String {
        if self.options.numerics == Numerics::Fast && Self::is_builtin(name) {
            return format!("{name}({})", args.join(", "));
        }
        self.call(&format!("iw_{name}"), args)
    }

    fn un(&mut self, op: UnOp, a: Id) -> String {
        let (t, v) = (self.ty(a), self.value(a));
        let fast = self.options.numerics == Numerics::Fast;
        match op {
            UnOp::Neg if t.is_int() => self.negated(t, &v),
            UnOp::Neg => format!("(-{v})"),
            UnOp::Abs if t.is_float() => self.size(t, &v),
            UnOp::Abs if t.is_signed_int() => self.opaque(t, &format!("abs({v})")),
            UnOp::Abs => v,
            UnOp::Not if t == Ty::Bool => format!("(!{v})"),
            UnOp::Not if t.words() == 1 => self.opaque(t, &format!("(~{v})")),
            UnOp::Not => format!("(~{v})"),
            UnOp::Sqrt if t == Ty::F64 => self.call("iw_sqrt64", &[v]),
            UnOp::Sqrt if !fast => self.call("iw_sqrt", &[v]),
            UnOp::Sqrt | UnOp::SqrtApprox => format!("sqrt({v})"),
            UnOp::RcpApprox => format!("({} / {v})", self.literal(t, "1.0f")),
            UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint if !t.is_float() => v,
            UnOp::Floor => format!("floor({v})"),
            UnOp::Ceil => format!("ceil({v})"),
            UnOp::Trunc => format!("trunc({v})"),
            UnOp::Rint => format!("round({v})"),
            UnOp::IsNan if t == Ty::F64 => self.call("iw_is_nan64", &[v]),
            UnOp::IsNan => self.call("iw_is_nan", &[v]),
            UnOp::CountOnes if t.words() == 2 => self.call("iw_count_ones64", &[format!("u64({v})")]),
            UnOp::CountOnes => format!("{}(countOneBits({v}))", self.spelt(Ty::U32)),
            UnOp::LeadingZeros if t.words() == 2 => self.call("iw_leading_zeros64", &[format!("u64({v})")]),
            UnOp::LeadingZeros => format!("countLeadingZeros(bitcast<{}>({v}))", self.spelt(Ty::U32)),
            UnOp::ReverseBits if t.words() == 2 => {
                let r = self.call("iw_reverse_bits64", &[format!("u64({v})")]);
                format!("{}({r})", self.spelt(t))
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
            // NVIDIA finds `x + x < 1` false for -85, in kernels that call its function for quotients or roots of f64.
            BinOp::Add if a == b && t.is_int() && t.words() == 2 => format!("({x} + {})", self.opaque(t, &y)),
            BinOp::Add => infix("+"),
            BinOp::Sub if t.is_int() => self.difference(t, (a, b), [&x, &y]),
            BinOp::Sub => infix("-"),
            BinOp::Mul | BinOp::MulRn if t.is_int() => self.product(t, (a, b), [&x, &y]),
            BinOp::Mul | BinOp::MulRn => infix("*"),
            BinOp::DivApprox => infix("/"),
            BinOp::Div if t == Ty::F32 && fast => infix("/"),
            BinOp::Div if t == Ty::F32 => self.call("iw_div", &[x, y]),
            BinOp::Div if t == Ty::F64 => self.call("iw_div64", &[x, y]),
            BinOp::Div if t == Ty::I32 => self.quotient(t, b, x, y),
            BinOp::Div => self.call(&format!("iw_div_{}", t.name()), &[x, y]),
            BinOp::Rem => self.call(&format!("iw_rem_{}", t.name()), &[x, y]),
            BinOp::Min | BinOp::Max if t.is_float() => {
                let name = if op == BinOp::Min { "iw_min" } else { "iw_max" };
                self.call(&format!("{name}{}", if t == Ty::F64 { "64" } else { "" }), &[x, y])
            }
            BinOp::Min => format!("min({x}, {y})"),
            BinOp::Max if t == Ty::U32 => self.greatest((a, b), [x, y]),
            BinOp::Max => format!("max({x}, {y})"),
            BinOp::And => infix("&"),
            BinOp::Or => infix("|"),
            BinOp::Xor if t.words() == 1 && [a, b].iter().any(|&id| self.may_set_all(id)) => self.opaque(t, &infix("^")),
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
    /// comparison of a value with itself is left to no compiler. Zeros are no literals here either: Mesa makes `sign` of `i32(0 < x) - i32(x < 0)`,
    /// whatever NaN gives.
    fn compare(&mut self, op: BinOp, a: Id, b: Id) -> String {
        let (t, x) = (self.ty(a), self.value(a));
        if a == b && op != BinOp::Lt {
            let is_nan = self.call(if t == Ty::F64 { "iw_is_nan64" } else { "iw_is_nan" }, &[x]);
            return if op == BinOp::Ne { is_nan } else { format!("(!{is_nan})") };
        }
        let y = self.value(b);
        match op {
            BinOp::Lt => format!("({x} < {y})"),
            BinOp::Le => format!("({x} <= {y})"),
            BinOp::Eq => format!("({x} == {y})"),
            _ => format!("(!({x} == {y}))"),
        }
    }

    /// A shift's amount, modulo the width.
    fn amount(&mut self, ty: Ty, by: Id) -> String {
        let mask = ty.words() as u64 * 32 - 1;
        match self.f.nodes[by as usize] {
            Node::Const(n) if mask == 63 => self.opaque(Ty::U32, &format!("{}u", n & mask)),
            Node::Const(n) => self.literal(Ty::U32, &format!("{}u", n & mask)),
            _ => format!("({} & {})", self.value(by), self.literal(Ty::U32, &format!("{mask}u"))),
        }
    }

    /// A conversion by value. Drivers know what it can give, and use that: they derive that `f32(y & 0)` is the literal zero, which they then fold
    /// as if it had no sign, negate integers where a float was to be negated, and compare in narrow integers what was widened. So what becomes a float
    /// or 64 bits wide goes through a function that they cannot see through.
    fn cast(&mut self, a: Id, to: Ty) -> String {
        let (from, v) = (self.ty(a), self.value(a));
        match (from, to) {
            (Ty::Bool, Ty::F32) => {
                let bits = format!("select({}, {}, {v})", self.literal(Ty::U32, "0u"), self.literal(Ty::U32, "0x3f800000u"));
                self.call("iw_bits", &[bits])
            }
            (Ty::Bool, Ty::F64) => self.call("iw_bits64", &[format!("select(0lu, 0x3ff0000000000000lu, {v})")]),
            (Ty::Bool, Ty::I64 | Ty::U64) => self.widened(to, &format!("select(0lu, 1lu, {v})")),
            (Ty::Bool, _) => {
                format!("select({}, {}, {v})", self.literal(to, &wgsl_literal(to, 0)), self.literal(to, &wgsl_literal(to, 1)))
            }
            // By its bits: NVIDIA's compiler takes a comparison of an f64 with zero for that of the f32 it was widened from, on the other side of a choice too.
            (Ty::F64, Ty::Bool) => {
                let (size, zero) = [u64::MAX >> 1, 0].map(|bits| self.literal(Ty::U64, &wgsl_literal(Ty::U64, bits))).into();
                format!("((bitcast<{}>({v}) & {size}) != {zero})", self.spelt(Ty::U64))
            }
            (_, Ty::Bool) => format!("(!({v} == {}))", self.literal(from, &wgsl_literal(from, 0))),
            (Ty::I32 | Ty::U32, Ty::F32) => {
                let bits = format!("bitcast<{}>({}({v}))", self.spelt(Ty::U32), self.spelt(to));
                self.call("iw_bits", &[bits])
            }
            (Ty::I32 | Ty::U32, Ty::F64) => self.call("iw_bits64", &[format!("bitcast<u64>(f64({v}))")]),
            (Ty::F32 | Ty::F64, t) if t.is_int() => self.call(&format!("iw_{}_to_{}", from.name(), to.name()), &[v]),
            (Ty::I64 | Ty::U64, Ty::F32 | Ty::F64) => self.call(&format!("iw_{}_to_{}", from.name(), to.name()), &[v]),
            // Widening follows the source's sign, but naga takes the target's: so widen first, then change the sign.
            (Ty::I32, Ty::I64 | Ty::U64) => self.widened(to, &format!("bitcast<u64>(i64({v}))")),
            (Ty::U32, Ty::I64 | Ty::U64) => self.widened(to, &format!("u64({v})")),
            (Ty::I64 | Ty::U64, t) if t.is_int() && t.words() == 1 => self.opaque(to, &format!("{}({v})", self.spelt(to))),
            (Ty::I32 | Ty::U32, t) if t.is_int() && t.words() == 1 => format!("bitcast<{}>({v})", self.spelt(to)),
            _ => format!("{}({v})", self.spelt(to)),
        }
    }
}

/// Writes an operation on truth values, without `&&` and `||`: vectors have neither, and naga makes branches of them, which a compiler has to take
/// back wherever a function is inlined. SwiftShader's takes minutes and gigabytes for a scan with a hundred of them.
fn bool_bin(op: BinOp, x: &str, y: &str) -> String {
    match op {
        BinOp::And | BinOp::Min | BinOp::Mul | BinOp::MulRn => format!("({x} & {y})"),
        BinOp::Or | BinOp::Max => format!("({x} | {y})"),
        BinOp::Lt => format!("(!{x} & {y})"),
        BinOp::Le => format!("(!{x} | {y})"),
        BinOp::Eq => format!("({x} == {y})"),
        _ => format!("({x} != {y})"),
    }
}
