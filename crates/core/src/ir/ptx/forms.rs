//! Forms of operations that NVIDIA's assembler gets right.
//!
//! PTX defines every instruction, but `ptxas` makes one machine instruction of several, or of other ones, and has been wrong in doing so. An
//! operation that was seen to go wrong beside others is written so that there is nothing to join: with 64 bits that are zero whenever the kernel
//! runs and of which the assembler knows nothing. They lie in the constant bank, so that most instructions take them for nothing.
//!
//! | seen, of ptxas 12.4 and 13.0 | written |
//! |---|---|
//! | `max(a, max(b, -c))` of words becomes `VIMNMX3` and loses the sign (13.0, `sm_90` and `sm_100`); `-c` may be found in `0 - c`, `c * -1`, `c / -1`, `c * (d \| -1)`, the low word of either in 64 bits | a sign is changed by a difference to the zero, and a difference whose first operand may be zero is the sum with that; a product of words that may be by -1 has the zero added, and a quotient is joined with it; the low word of what was computed in 64 bits is joined with it |
//! | `max(min(max(x, 5), x), 0) == x` of signed words is false for 1 (13.0, `sm_90`), where `max(.., 0)` is part of the machine's instruction | the constant of a least or greatest word of what was computed is joined with the zero |
//! | `abs.f32(x) >= 0` is taken to hold for NaN too (13.0), and `abs.f32(x) > -2.5` | the sign bit is taken off, and the rest joined with the zero |
//! | `abs.s32(x) < 0` is taken to be false, and the remainder of one for that of a number without sign | the greater of `x` and `-x` |
//! | `shl.b64` by a constant of `cvt.s64.u32` extends a sign (12.4 and 13.0, `sm_70` and up) | a conversion has the signedness of its operand on both sides, as compilers write it: `cvt.u64.u32`, `cvt.s64.s32` |
//! | `(x << 31) * 3 + c`, `(x * 65537) * 65537 + c` in 64 bits: the constants' product loses its high word (both, `sm_70` and up) | shifts to the left in 64 bits are by an amount joined with the zero; the constant of a product whose other factor was computed is |
//! | `cvt.rn.f32.u32` of a byte that was loaded four at once with its sign becomes `I2F.S8` (both) | a signed word becomes an unsigned one by an `or` with the zero |
//! | `not` or `xor` with -1 of a word, under `and`, `or` or `xor`, in a block that is entered where `setp.ne` of the word and a constant is false: the constant is taken without the inversion (12.4 and 13.0, `sm_80` and up) | what a block is entered by is the truth value's exclusive or with one that is false when the kernel runs |
//! | `cvt.rzi.u32.f32` of `selp.b32 1, 0` becomes the word 1, which is no float above a half (12.9 and 13.0, `sm_70` and up), where four bytes were loaded at once | bits of a float that were a truth value are joined with the zero |
//! | a conversion of 64 bits to a float or an integer is taken for the one before it, whose high word stood in the same register, where the low words are equal: the zeros of `selp.b64 1.0, 0` (both, `sm_90` and `sm_100`) | the low word of 64 bits that were computed has the high word's `and` with the zero added |

use super::{Ptx, PtxValue};
use crate::element::Ty;
use crate::ir::node::{BinOp, Func, Id, Node, Param, UnOp};

/// The registers that are zero when the kernel runs, and their types.
pub(super) const ZEROS: [(&str, &str); 2] = [("%izero", "b32"), ("%izeros", "b64")];

impl Ptx {
    /// The register that is zero when the kernel runs, of as many words as the type.
    pub(super) fn zero(&mut self, ty: Ty) -> &'static str {
        let at = ty.words() - 1;
        self.zero.1[at] = true;
        ZEROS[at].0
    }

    /// A value of whose bits the assembler knows nothing.
    pub(super) fn unknown(&mut self, a: &PtxValue) -> PtxValue {
        let zero = self.zero(a.ty);
        self.emit(a.ty, |o| format!("or.{} {o}, {}, {zero}", super::ops::bits(a.ty), a.reg))
    }

    /// A truth value that tells nothing of what it was made from to the assembler, which puts constants in a block's words by what it is entered by.
    pub(super) fn untold(&mut self, p: &PtxValue) -> PtxValue {
        let zero = self.zero(Ty::U32);
        self.emit(Ty::Bool, |o| format!("setp.ne.xor.b32 {o}, {zero}, 0, {}", p.reg))
    }

    /// An integer with its sign changed, which is no negation to the assembler.
    pub(super) fn negated(&mut self, a: &PtxValue) -> PtxValue {
        let zero = self.zero(a.ty);
        self.emit(a.ty, |o| format!("sub.{} {o}, {zero}, {}", super::ops::int_name(a.ty), a.reg))
    }

    /// The float without its sign, of which the assembler does not know that it is not below zero, which it takes for an answer where it is NaN.
    pub(super) fn size(&mut self, a: &PtxValue) -> PtxValue {
        let mask = if a.ty == Ty::F64 { "0x7FFFFFFFFFFFFFFF" } else { "0x7FFFFFFF" };
        let size = self.emit(a.ty, |o| format!("and.{} {o}, {}, {mask}", super::ops::bits(a.ty), a.reg));
        self.unknown(&size)
    }

    /// The difference of the integers `a` and `b`, which are the values of nodes `x` and `y`: a negation where the assembler finds that the first
    /// is zero, or adds a constant that takes it away: `(5 - y) - 5`.
    pub(super) fn difference(&mut self, f: &Func, (x, y): (Id, Id), a: &PtxValue, b: &PtxValue) -> PtxValue {
        let int = super::ops::int_name(a.ty);
        let is_constant = |id: Id| matches!(f.nodes[id as usize], Node::Const(_));
        let open = !is_constant(y) && (is_constant(x) || self.is_computed(f, x));
        if !open {
            return self.emit(a.ty, |o| format!("sub.{int} {o}, {}, {}", a.reg, b.reg));
        }
        let n = self.negated(b);
        self.emit(a.ty, |o| format!("add.{int} {o}, {}, {}", a.reg, n.reg))
    }

    /// The least or greatest of the integers `a` and `b`, which are the values of nodes `x` and `y`.
    pub(super) fn extreme(&mut self, f: &Func, op: BinOp, (x, y): (Id, Id), a: &PtxValue, b: &PtxValue) -> PtxValue {
        let is_constant = |id: Id| matches!(f.nodes[id as usize], Node::Const(_));
        let joined = a.ty.is_signed_int() && (self.is_computed(f, x) || self.is_computed(f, y));
        let of = |ptx: &mut Self, id: Id, v: &PtxValue| if joined && is_constant(id) { ptx.unknown(v) } else { v.clone() };
        let (a, b) = (of(self, x, a), of(self, y, b));
        self.bin(op, &a, &b, a.ty)
    }

    /// The operand of a conversion or rounding to a type, the value of node `a`: 64 bits that the assembler shares no word of with others.
    pub(super) fn converted(&mut self, f: &Func, a: Id, v: &PtxValue, to: Ty) -> PtxValue {
        if v.ty.words() != 2 || to == Ty::Bool || !(v.ty.is_float() || to.is_float()) || !self.is_computed(f, a) {
            return v.clone();
        }
        let zero = self.zero(Ty::U32);
        let (low, high) = (self.fresh(Ty::U32), self.fresh(Ty::U32));
        self.line(format!("mov.b64 {{{}, {}}}, {}", low.reg, high.reg, v.reg));
        let own = self.emit(Ty::U32, |o| format!("and.b32 {o}, {}, {zero}", high.reg));
        let low = self.emit(Ty::U32, |o| format!("or.b32 {o}, {}, {}", low.reg, own.reg));
        self.emit(v.ty, |o| format!("mov.b64 {o}, {{{}, {}}}", low.reg, high.reg))
    }

    /// The product of the integers `a` and `b`, which are the values of nodes `x` and `y`.
    pub(super) fn product(&mut self, f: &Func, (x, y): (Id, Id), a: &PtxValue, b: &PtxValue) -> PtxValue {
        let (mut a, mut b) = (a.clone(), b.clone());
        let int = super::ops::int_name(a.ty);
        let constant = |id: Id| if let Node::Const(bits) = f.nodes[id as usize] { Some(bits) } else { None };
        let computed = self.is_computed(f, x) || self.is_computed(f, y);
        if a.ty.words() == 2 {
            match (constant(x), constant(y)) {
                (Some(_), _) if computed => a = self.unknown(&a),
                (_, Some(_)) if computed => b = self.unknown(&b),
                _ => {}
            }
        } else if self.may_negate(f, (x, y)) {
            let zero = self.zero(a.ty);
            return self.emit(a.ty, |o| format!("mad.lo.{int} {o}, {}, {}, {zero}", a.reg, b.reg));
        }
        self.emit(a.ty, |o| format!("mul.lo.{int} {o}, {}, {}", a.reg, b.reg))
    }

    /// The quotient of `a` and `b`, the value of node `y`: a negation where the assembler finds that it is by -1.
    pub(super) fn quotient(&mut self, f: &Func, y: Id, a: &PtxValue, b: &PtxValue) -> PtxValue {
        let quotient = self.bin(BinOp::Div, a, b, a.ty);
        if self.may_negate(f, (y, y)) { self.unknown(&quotient) } else { quotient }
    }

    /// The low and the high word of the product of two words, the values of nodes `x` and `y`: one instruction, which the assembler does not make of two.
    pub(super) fn wide_product(&mut self, f: &Func, (x, y): (Id, Id), a: &PtxValue, b: &PtxValue) -> (PtxValue, PtxValue) {
        let wide = if self.may_negate(f, (x, y)) {
            let zero = self.zero(Ty::U64);
            self.emit(Ty::U64, |o| format!("mad.wide.u32 {o}, {}, {}, {zero}", a.reg, b.reg))
        } else {
            self.emit(Ty::U64, |o| format!("mul.wide.u32 {o}, {}, {}", a.reg, b.reg))
        };
        let (low, high) = (self.fresh(Ty::U32), self.fresh(Ty::U32));
        self.line(format!("mov.b64 {{{}, {}}}, {}", low.reg, high.reg, wide.reg));
        (low, high)
    }

    /// Whether a product of words may be by -1 as far as the assembler sees.
    fn may_negate(&self, f: &Func, (x, y): (Id, Id)) -> bool {
        let constant = |id: Id| if let Node::Const(bits) = f.nodes[id as usize] { Some(bits) } else { None };
        let computed = self.is_computed(f, x) || self.is_computed(f, y);
        constant(x).or(constant(y)).map_or(computed, |bits| bits == u64::from(u32::MAX))
    }

    /// Whether the assembler may see what a node's value was made of.
    fn is_computed(&self, f: &Func, id: Id) -> bool {
        match f.nodes[id as usize] {
            Node::Param(k) => !self.loaded || matches!(f.params.get(usize::from(k)), Some(Param::Index(_))),
            Node::Const(_) | Node::Fetch(..) => false,
            _ => true,
        }
    }
}

impl Func {
    /// Of a product of two words the node before `end` that is its other word: the high one of the low one, or the low one of the high one.
    pub(in crate::ir) fn other_word(&self, id: Id, end: Id) -> Option<Id> {
        let is_word = |id: Id| self.types[id as usize] == Ty::U32;
        let (other, a, b) = match self.nodes[id as usize] {
            Node::Bin(BinOp::Mul, a, b) if is_word(id) => (BinOp::MulHi, a, b),
            Node::Bin(BinOp::MulHi, a, b) => (BinOp::Mul, a, b),
            _ => return None,
        };
        let is_other = |&at: &Id| [Node::Bin(other, a, b), Node::Bin(other, b, a)].contains(&self.nodes[at as usize]) && is_word(at);
        (id + 1..end).find(is_other)
    }
}

/// Whether an operation rounds to a whole number.
pub(super) fn rounds(op: UnOp) -> bool {
    matches!(op, UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint)
}

/// Whether each node is a truth value that may tell, where it holds or does not, which integer another node is.
fn tells(f: &Func) -> Vec<bool> {
    let mut tells = vec![false; f.nodes.len()];
    for (k, node) in f.nodes.iter().enumerate() {
        let is_int = |a: Id| f.types[a as usize].is_int();
        let told = |a: Id| tells[a as usize];
        tells[k] = f.types[k] == Ty::Bool
            && match *node {
                Node::Cast(a) => is_int(a) || told(a),
                Node::Bin(op, a, b) => (matches!(op, BinOp::Eq | BinOp::Ne) && is_int(a)) || told(a) || told(b),
                Node::Un(_, a) => told(a),
                Node::Select(c, a, b) => told(c) || told(a) || told(b),
                Node::Branch { .. } | Node::Carried { .. } => true,
                _ => false,
            };
    }
    tells
}

/// The results that are truth values of which kernels may make branches, and that tell which integer another value is.
pub(super) fn telling(f: &Func) -> Vec<bool> {
    if !f.results.iter().any(|&r| f.types[r as usize] == Ty::Bool) {
        return vec![false; f.results.len()];
    }
    let tells = tells(f);
    f.results.iter().map(|&r| tells[r as usize]).collect()
}

/// Whether the bits of integer node `a` are a truth value to the assembler.
pub(super) fn is_truth(f: &Func, a: Id) -> bool {
    let one_bit = |id: Id| matches!(f.nodes[id as usize], Node::Const(bits) if bits <= 1) || is_truth(f, id);
    match f.nodes[a as usize] {
        Node::Cast(of) | Node::Bitcast(of) => f.types[of as usize] == Ty::Bool || (f.types[of as usize].is_int() && is_truth(f, of)),
        Node::Select(_, x, y) => one_bit(x) && one_bit(y),
        Node::Bin(BinOp::And, x, y) => one_bit(x) || one_bit(y),
        Node::Bin(BinOp::Or | BinOp::Xor | BinOp::Min | BinOp::Max | BinOp::Mul, x, y) => one_bit(x) && one_bit(y),
        _ => false,
    }
}

/// Whether a conversion of node `a` to `to` takes the low word of an integer that was computed in 64 bits.
pub(super) fn is_low_word(f: &Func, a: Id, to: Ty) -> bool {
    let from = f.types[a as usize];
    from.is_int() && from.words() == 2 && to.is_int() && to.words() == 1 && !matches!(f.nodes[a as usize], Node::Param(_) | Node::Fetch(..))
}
