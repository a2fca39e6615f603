//! The instructions of each operation.

use super::{Ptx, PtxValue};
use crate::caps::Numerics;
use crate::element::Ty;
use crate::ir::node::{BinOp, UnOp};

impl Ptx {
    pub(super) fn un(&mut self, op: UnOp, a: &PtxValue, ty: Ty) -> PtxValue {
        let (t, n) = (a.ty.name(), a.ty);
        let b = bits(n);
        let int = int_name(n);
        let x = &a.reg;
        match op {
            UnOp::Neg if n.is_float() => self.emit(ty, |o| format!("neg.{t} {o}, {x}")),
            UnOp::Neg => self.negated(a),
            UnOp::Abs if n.is_float() => self.size(a),
            UnOp::Abs if n.is_signed_int() => {
                let m = self.negated(a);
                self.emit(ty, |o| format!("max.{int} {o}, {x}, {}", m.reg))
            }
            UnOp::Abs => a.clone(),
            UnOp::Not => self.emit(ty, |o| format!("not.{b} {o}, {x}")),
            UnOp::Sqrt if self.numerics == Numerics::Fast && n == Ty::F32 => self.emit(ty, |o| format!("sqrt.approx.f32 {o}, {x}")),
            UnOp::Sqrt => self.emit(ty, |o| format!("sqrt.rn.{t} {o}, {x}")),
            UnOp::SqrtApprox => self.emit(ty, |o| format!("sqrt.approx.f32 {o}, {x}")),
            UnOp::RcpApprox => self.emit(ty, |o| format!("rcp.approx.f32 {o}, {x}")),
            UnOp::Floor => self.round(a, "rmi"),
            UnOp::Ceil => self.round(a, "rpi"),
            UnOp::Trunc => self.round(a, "rzi"),
            UnOp::Rint => self.round(a, "rni"),
            UnOp::IsNan => self.emit(ty, |o| format!("setp.nan.{t} {o}, {x}, {x}")),
            UnOp::CountOnes => self.emit(ty, |o| format!("popc.{b} {o}, {x}")),
            UnOp::LeadingZeros => self.emit(ty, |o| format!("clz.{b} {o}, {x}")),
            UnOp::ReverseBits => self.emit(ty, |o| format!("brev.{b} {o}, {x}")),
        }
    }

    fn round(&mut self, a: &PtxValue, mode: &str) -> PtxValue {
        if !a.ty.is_float() {
            return a.clone();
        }
        let t = a.ty.name();
        self.emit(a.ty, |o| format!("cvt.{mode}.{t}.{t} {o}, {}", a.reg))
    }

    pub(super) fn bin(&mut self, op: BinOp, a: &PtxValue, b: &PtxValue, ty: Ty) -> PtxValue {
        if a.ty == Ty::Bool {
            return self.bool_bin(op, a, b);
        }
        let (x, y) = (&a.reg, &b.reg);
        let float = a.ty.is_float();
        let t = a.ty.name();
        let int = int_name(a.ty);
        let b_ty = bits(a.ty);
        let fast = self.numerics == Numerics::Fast;
        let mut go = |text: String| self.emit(ty, |o| text.replace("$o", o));
        match op {
            BinOp::Add if float => go(format!("add.rn.{t} $o, {x}, {y}")),
            BinOp::Sub if float => go(format!("sub.rn.{t} $o, {x}, {y}")),
            BinOp::Mul | BinOp::MulRn if float => go(format!("mul.rn.{t} $o, {x}, {y}")),
            BinOp::Div if fast && ty == Ty::F32 => go(format!("div.full.f32 $o, {x}, {y}")),
            BinOp::Div if float => go(format!("div.rn.{t} $o, {x}, {y}")),
            BinOp::DivApprox => go(format!("div.full.f32 $o, {x}, {y}")),
            BinOp::Min | BinOp::Max if float => self.float_min_max(op, a, b),
            BinOp::Add => go(format!("add.{int} $o, {x}, {y}")),
            BinOp::Sub => go(format!("sub.{int} $o, {x}, {y}")),
            BinOp::Mul | BinOp::MulRn => go(format!("mul.lo.{int} $o, {x}, {y}")),
            BinOp::MulHi => go(format!("mul.hi.{int} $o, {x}, {y}")),
            BinOp::Min => go(format!("min.{int} $o, {x}, {y}")),
            BinOp::Max => go(format!("max.{int} $o, {x}, {y}")),
            BinOp::And => go(format!("and.{b_ty} $o, {x}, {y}")),
            BinOp::Or => go(format!("or.{b_ty} $o, {x}, {y}")),
            BinOp::Xor => go(format!("xor.{b_ty} $o, {x}, {y}")),
            BinOp::Div | BinOp::Rem => self.int_division(op, a, b),
            BinOp::Shl | BinOp::Shr => {
                let width = a.ty.words() as u32 * 32 - 1;
                let mut n = self.emit(Ty::U32, |o| format!("and.b32 {o}, {y}, {width}"));
                if op == BinOp::Shl && width == 63 {
                    n = self.unknown(&n);
                }
                let name = if op == BinOp::Shl { format!("shl.{b_ty}") } else { format!("shr.{int}") };
                self.emit(ty, |o| format!("{name} {o}, {x}, {}", n.reg))
            }
            BinOp::Lt | BinOp::Le | BinOp::Eq | BinOp::Ne => {
                let name = match op {
                    BinOp::Lt => "lt",
                    BinOp::Le => "le",
                    BinOp::Eq => "eq",
                    _ if float => "neu",
                    _ => "ne",
                };
                go(format!("setp.{name}.{} $o, {x}, {y}", if float { t } else { int }))
            }
        }
    }

    fn float_min_max(&mut self, op: BinOp, a: &PtxValue, b: &PtxValue) -> PtxValue {
        let t = a.ty.name();
        let name = if op == BinOp::Min { "min" } else { "max" };
        let nan = if a.ty == Ty::F64 { "0x7FF8000000000000" } else { "0x7FC00000" };
        // The instruction orders -0 below +0 but drops a NaN.
        let m = self.emit(a.ty, |o| format!("{name}.{t} {o}, {}, {}", a.reg, b.reg));
        let p = self.emit(Ty::Bool, |o| format!("setp.nan.{t} {o}, {}, {}", a.reg, b.reg));
        self.emit(a.ty, |o| format!("selp.{} {o}, {nan}, {}, {}", bits(a.ty), m.reg, p.reg))
    }

    /// Division by zero and `MIN / -1` divide by one instead: `x / 1 = x` and `x % 1 = 0` are the results wanted.
    fn int_division(&mut self, op: BinOp, a: &PtxValue, b: &PtxValue) -> PtxValue {
        let int = int_name(a.ty);
        let mut special = self.emit(Ty::Bool, |o| format!("setp.eq.{int} {o}, {}, 0", b.reg));
        if a.ty.is_signed_int() {
            let min = if a.ty == Ty::I32 { "0x80000000" } else { "0x8000000000000000" };
            let p = self.emit(Ty::Bool, |o| format!("setp.eq.{int} {o}, {}, {min}", a.reg));
            let q = self.emit(Ty::Bool, |o| format!("setp.eq.{int} {o}, {}, -1", b.reg));
            let r = self.emit(Ty::Bool, |o| format!("and.pred {o}, {}, {}", p.reg, q.reg));
            special = self.emit(Ty::Bool, |o| format!("or.pred {o}, {}, {}", special.reg, r.reg));
        }
        let d = self.emit(a.ty, |o| format!("selp.{} {o}, 1, {}, {}", bits(a.ty), b.reg, special.reg));
        let name = if op == BinOp::Div { "div" } else { "rem" };
        self.emit(a.ty, |o| format!("{name}.{int} {o}, {}, {}", a.reg, d.reg))
    }

    fn bool_bin(&mut self, op: BinOp, a: &PtxValue, b: &PtxValue) -> PtxValue {
        let (x, y) = (&a.reg, &b.reg);
        let mut go = |text: String| self.emit(Ty::Bool, |o| text.replace("$o", o));
        match op {
            BinOp::And | BinOp::Min | BinOp::Mul | BinOp::MulRn => go(format!("and.pred $o, {x}, {y}")),
            BinOp::Or | BinOp::Max => go(format!("or.pred $o, {x}, {y}")),
            BinOp::Lt | BinOp::Le => {
                let n = go(format!("not.pred $o, {x}"));
                let name = if op == BinOp::Lt { "and" } else { "or" };
                self.emit(Ty::Bool, |o| format!("{name}.pred {o}, {}, {y}", n.reg))
            }
            BinOp::Eq => {
                let v = go(format!("xor.pred $o, {x}, {y}"));
                self.emit(Ty::Bool, |o| format!("not.pred {o}, {}", v.reg))
            }
            _ => go(format!("xor.pred $o, {x}, {y}")),
        }
    }

    /// `a` where `c` holds, else `b`.
    pub fn select(&mut self, c: &PtxValue, a: &PtxValue, b: &PtxValue) -> PtxValue {
        if a.ty != Ty::Bool {
            return self.emit(a.ty, |o| format!("selp.{} {o}, {}, {}, {}", bits(a.ty), a.reg, b.reg, c.reg));
        }
        let x = self.emit(Ty::Bool, |o| format!("and.pred {o}, {}, {}", c.reg, a.reg));
        let n = self.emit(Ty::Bool, |o| format!("not.pred {o}, {}", c.reg));
        let y = self.emit(Ty::Bool, |o| format!("and.pred {o}, {}, {}", n.reg, b.reg));
        self.emit(Ty::Bool, |o| format!("or.pred {o}, {}, {}", x.reg, y.reg))
    }

    /// Conversion by value.
    pub fn cast(&mut self, a: &PtxValue, to: Ty) -> PtxValue {
        let from = a.ty;
        let x = &a.reg;
        if from == to {
            return a.clone();
        }
        if from == Ty::Bool {
            let one = match to {
                Ty::F32 => "0x3F800000",
                Ty::F64 => "0x3FF0000000000000",
                _ => "1",
            };
            return self.emit(to, |o| format!("selp.{} {o}, {one}, 0, {x}", bits(to)));
        }
        if to == Ty::Bool {
            return match from {
                Ty::F32 => self.emit(to, |o| format!("setp.neu.f32 {o}, {x}, 0f00000000")),
                Ty::F64 => self.emit(to, |o| format!("setp.neu.f64 {o}, {x}, 0d0000000000000000")),
                _ => self.emit(to, |o| format!("setp.ne.{} {o}, {x}, 0", int_name(from))),
            };
        }
        match (from.is_float(), to.is_float()) {
            (true, true) if to == Ty::F32 => self.emit(to, |o| format!("cvt.rn.f32.f64 {o}, {x}")),
            (true, true) => self.emit(to, |o| format!("cvt.f64.f32 {o}, {x}")),
            (false, true) => self.emit(to, |o| format!("cvt.rn.{}.{} {o}, {x}", to.name(), int_name(from))),
            (false, false) if (from, to) == (Ty::I32, Ty::U32) => self.unknown(&PtxValue { reg: a.reg.clone(), ty: to }),
            (false, false) if from.words() == to.words() => PtxValue { reg: a.reg.clone(), ty: to },
            (false, false) if to.words() == 1 => self.emit(to, |o| format!("cvt.u32.u64 {o}, {x}")),
            (false, false) => {
                let sign = if from.is_signed_int() { 's' } else { 'u' };
                self.emit(to, |o| format!("cvt.{sign}64.{sign}32 {o}, {x}"))
            }
            (true, false) => {
                let v = self.emit(to, |o| format!("cvt.rzi.{}.{} {o}, {x}", int_name(to), from.name()));
                if from == Ty::F32 && to.words() == 1 {
                    return v;
                }
                // Conversions that involve 64 bits give NaN another value than zero.
                let p = self.emit(Ty::Bool, |o| format!("setp.nan.{0} {o}, {x}, {x}", from.name()));
                self.emit(to, |o| format!("selp.{} {o}, 0, {}, {}", bits(to), v.reg, p.reg))
            }
        }
    }
}

pub(super) fn bits(ty: Ty) -> &'static str {
    match (ty, ty.words()) {
        (Ty::Bool, _) => "pred",
        (_, 1) => "b32",
        _ => "b64",
    }
}

pub(super) fn int_name(ty: Ty) -> &'static str {
    match ty {
        Ty::I32 => "s32",
        Ty::I64 => "s64",
        Ty::U64 | Ty::F64 => "u64",
        _ => "u32",
    }
}
