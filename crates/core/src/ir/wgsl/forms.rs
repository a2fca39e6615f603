//! Forms of operations that compilers get right.
//!
//! Compilers of drivers derive what a value can be, and have been wrong in using it: NVIDIA's has the faults for Vulkan that its assembler has for
//! CUDA (`ir/ptx/forms.rs` has them), Mesa's has others. So an operation that was seen to go wrong beside others is joined with a zero of which
//! no compiler knows anything (`iw_zero`).
//!
//! | seen | written |
//! |---|---|
//! | `abs(x) > -2.5` is taken to hold, for NaN too (NVIDIA) | the sign bit is taken off, and the rest joined with the zero |
//! | `abs(x) < 0` of the least integer is taken to be false (NVIDIA) | `abs(x)` is joined with the zero |
//! | `max(max(x, -y), z)` of words loses the sign, however it was written: `0 - y`, `y * -1`, `y / -1`, `~y + 1`, `~(y - 1)`, the low word of either (NVIDIA) | `-y` is the difference to the zero, `x - y` the sum with that, a product has the zero added, a quotient that may be by -1, an inversion of all bits and an exclusive or that may be one are joined with it, the low word of 64 bits is joined with it |
//! | `min(i32(1), as_i32(max(u32(99), x)))` is taken to be no less than 0, and so not masked where a byte of it is stored (NVIDIA) | the constant of a maximum of words without sign is joined with the zero |
//! | `(x << 47) >= c` in 64 bits (NVIDIA) | the amount of a shift is joined with the zero |
//! | `x + x < 1` in 64 bits, beside a quotient or root of f64 (NVIDIA) | one of the two is joined with the zero |
//! | `x * 65537 * 65537` in 64 bits (NVIDIA, for CUDA) | the constant of a product is joined with it |
//! | `v * (w & 1)` in 64 bits is v where w is 0, beside a remainder or root in 64 bits (NVIDIA) | factors that were computed are joined with the zero |
//! | `/` and `%` in 64 bits give other high words, or a number that stood elsewhere, where there are several (NVIDIA) | they are made of words (`iw_div_u64`) |
//! | `x % 1 == 0` is false, `~(x % 1)` zero, of words without sign (SwiftShader) | the remainder is joined with the zero (`iw_rem_u32`) |
//! | `it = min(-4, it)` of integers in a loop that begins with a constant keeps the constant (SwiftShader) | the constant is joined with the zero |
//! | `i64(x) < 100` is compared in 32 bits (Mesa), `-f32(x < y)` is negated as an integer (NVIDIA), `x * f32(y & 0)` is zero (Mesa) | what becomes a float, or 64 bits wide, is joined with the zero |
//! | `as_f32(x - x)`, whose bits are `(x + (zero - x)) ^ zero`, is the literal zero, of which the row above tells (Mesa) | bits of floats are joined with a zero of their own (`iw_zero_of_floats`) |

use super::{Form, Writer};
use crate::element::Ty;
use crate::ir::neighbours::OfFour;
use crate::ir::node::{BinOp, Id, Node};
use crate::ir::operation::Operation;
use core::fmt::Write as _;

impl Writer<'_> {
    /// A value of a type as the words without sign that hold it.
    fn words(&self, ty: Ty, v: &str) -> String {
        let words = if ty.words() == 2 { Ty::U64 } else { Ty::U32 };
        if ty == words { v.to_owned() } else { format!("bitcast<{}>({v})", self.spelt(words)) }
    }

    /// An integer by the words without sign that hold it.
    fn integer(&self, ty: Ty, words: String) -> String {
        if ty.is_signed_int() { format!("bitcast<{}>({words})", self.spelt(ty)) } else { words }
    }

    /// An integer of which a compiler knows nothing. What is written may be a literal of one element.
    pub(super) fn opaque(&mut self, ty: Ty, v: &str) -> String {
        let words = self.words(ty, v);
        let joined = self.call(if ty.words() == 2 { "iw_opaque64" } else { "iw_opaque" }, &[words]);
        self.integer(ty, joined)
    }

    /// A 64-bit integer of which a compiler does not know which bits are zero, though it may have been joined with the zero before: twice is not never.
    fn joined64(&mut self, ty: Ty, v: &str) -> String {
        let words = self.words(ty, v);
        let joined = self.call("iw_joined64", &[words]);
        self.integer(ty, joined)
    }

    /// The value, node `init`, with which one that a loop carries begins.
    pub(super) fn carried(&mut self, ty: Ty, init: Id) -> String {
        let value = self.value(init);
        let is_extreme = |node: &Node, ty: Ty| matches!(node, Node::Bin(BinOp::Min | BinOp::Max, ..)) && !ty.is_float();
        if ty == Ty::Bool || ty.is_float() || !self.is_constant(init) || !self.f.any(|node, ty| is_extreme(node, ty)) {
            return value;
        }
        self.opaque(ty, &value)
    }

    /// A 64-bit integer of these bits, an expression that widens.
    pub(super) fn widened(&mut self, to: Ty, bits: &str) -> String {
        let opaque = self.call("iw_opaque64", &[bits.to_owned()]);
        self.integer(to, opaque)
    }

    /// An integer with its sign changed, which is no negation to a compiler.
    pub(super) fn negated(&mut self, ty: Ty, v: &str) -> String {
        let words = self.words(ty, v);
        let minus = self.call(if ty.words() == 2 { "iw_minus64" } else { "iw_minus" }, &[words]);
        self.integer(ty, minus)
    }

    /// A float without its sign, of which a compiler does not know that it is not below zero.
    pub(super) fn size(&mut self, ty: Ty, v: &str) -> String {
        let words = self.words(ty, v);
        if ty == Ty::F64 {
            return self.call("iw_bits64", &[format!("({words} & 0x7ffffffffffffffflu)")]);
        }
        let mask = self.literal(Ty::U32, "0x7fffffffu");
        self.call("iw_bits", &[format!("({words} & {mask})")])
    }

    /// The difference of integers `x - y`, the values of nodes `a` and `b`: a negation where a compiler finds that the first is zero.
    pub(super) fn difference(&mut self, ty: Ty, (a, b): (Id, Id), [x, y]: [&str; 2]) -> String {
        if self.is_constant(b) || self.is_loaded(a) {
            return format!("({x} - {y})");
        }
        let minus = self.negated(ty, y);
        format!("({x} + {minus})")
    }

    /// The product of integers `x * y`, the values of nodes `a` and `b`.
    pub(super) fn product(&mut self, ty: Ty, (a, b): (Id, Id), [x, y]: [&str; 2]) -> String {
        let [one, other] = [a, b].map(|id| self.is_constant(id));
        let computed = !self.is_loaded(a) && !one || !self.is_loaded(b) && !other;
        if ty.words() == 2 {
            return match (computed, one, other) {
                (true, true, _) => format!("({} * {y})", self.opaque(ty, x)),
                (true, _, true) => format!("({x} * {})", self.opaque(ty, y)),
                _ => {
                    let [x, y] = [(a, x), (b, y)].map(|(id, v)| if self.is_loaded(id) { v.to_owned() } else { self.joined64(ty, v) });
                    format!("({x} * {y})")
                }
            };
        }
        if self.is_minus_one(a, b) || computed && !one && !other {
            self.calls.insert("iw_zero".to_owned());
            let zero = self.integer(ty, self.literal(Ty::U32, "iw_zero()"));
            return format!("({x} * {y} + {zero})");
        }
        format!("({x} * {y})")
    }

    /// The greatest of two words without sign, the values of nodes `a` and `b`.
    pub(super) fn greatest(&mut self, (a, b): (Id, Id), [x, y]: [String; 2]) -> String {
        let mut hidden = |id, v: String| if self.is_constant(id) { self.opaque(Ty::U32, &v) } else { v };
        let [x, y] = [hidden(a, x), hidden(b, y)];
        format!("max({x}, {y})")
    }

    /// Whether one of two words is the constant all of whose bits are set.
    pub(super) fn is_minus_one(&self, a: Id, b: Id) -> bool {
        [a, b].iter().any(|&id| matches!(self.f.nodes[id as usize], Node::Const(bits) if bits as u32 == u32::MAX))
    }

    /// Whether a compiler may find that all bits of a word are set, which makes an inversion of an exclusive or with it. Products with a constant,
    /// shifts by one and masked bits, of which hashes, random numbers and signs of floats are made, are no such words, and exclusive ors have been asked
    /// themselves.
    pub(super) fn may_set_all(&self, id: Id) -> bool {
        let is_other = |id: Id| self.is_constant(id) && !self.is_minus_one(id, id);
        match self.f.nodes[id as usize] {
            Node::Const(_) => !is_other(id),
            Node::Fetch(..) | Node::Bin(BinOp::Xor, ..) => false,
            Node::Select(_, a, b) => self.may_set_all(a) || self.may_set_all(b),
            Node::Bitcast(a) | Node::Reinterpret(a) => !self.ty(a).is_float() && self.may_set_all(a),
            Node::Bin(BinOp::Mul | BinOp::MulHi | BinOp::And, a, b) => !is_other(a) && !is_other(b),
            Node::Bin(op @ (BinOp::Shl | BinOp::Shr), _, by) => {
                let moves = matches!(self.f.nodes[by as usize], Node::Const(n) if n % 32 != 0);
                !moves || op == BinOp::Shr && self.ty(id).is_signed_int()
            }
            _ => true,
        }
    }

    /// The quotient of words with signs `x / y`, y the value of node `b`: a negation where a compiler finds that it is by -1.
    pub(super) fn quotient(&mut self, ty: Ty, b: Id, x: String, y: String) -> String {
        let by_minus_one = self.is_minus_one(b, b) || !self.is_constant(b) && !self.is_loaded(b);
        let quotient = self.call(&format!("iw_div_{}", ty.name()), &[x, y]);
        if by_minus_one { self.opaque(ty, &quotient) } else { quotient }
    }

    /// Writes both words of a product with a constant where node `i` is one and the other comes before the next branch or loop. With 64-bit integers both are
    /// one product of a device.
    pub(super) fn wide_product(&mut self, i: Id, to: Id, pad: &str) -> bool {
        let Node::Bin(op @ (BinOp::Mul | BinOp::MulHi), a, b) = self.f.nodes[i as usize] else { return false };
        let is_factor = |id: Id| matches!(self.f.nodes[id as usize], Node::Const(bits) if bits as u32 != u32::MAX);
        let repaired = |op| self.options.repairs.contains(Operation::Bin(op, Ty::U32));
        if is_factor(a) == is_factor(b) || self.is_constant(a) && self.is_constant(b) || repaired(BinOp::Mul) || repaired(BinOp::MulHi) {
            return false;
        }
        let end = (i + 1..to).find(|&k| matches!(self.f.nodes[k as usize], Node::Branch { .. } | Node::Loop { .. })).unwrap_or(to);
        let of_four = self.of_four(i);
        let Some(other) = self.f.other_word(i, end).filter(|&other| self.of_four(other) == of_four) else { return false };
        let form = match of_four {
            OfFour::Own => self.form,
            OfFour::Shared => Form::Single,
            OfFour::Paired | OfFour::Place(_) => return false,
        };
        let form = std::mem::replace(&mut self.form, form);
        let args = [self.value(a), self.value(b)];
        let words = self.call("iw_mul_wide", &args);
        self.form = form;
        let (low, high) = if op == BinOp::Mul { (i, other) } else { (other, i) };
        let _ = writeln!(self.text, "{pad}let w{i} = {words};\n{pad}let v{low} = w{i}.low;\n{pad}let v{high} = w{i}.high;");
        self.written.insert(other);
        true
    }

    /// A float by its bits, which may be ones that the driver derives.
    pub(super) fn float_of_bits(&mut self, from: Ty, to: Ty, v: &str) -> String {
        let words = self.words(from, v);
        self.call(if to == Ty::F64 { "iw_bits64" } else { "iw_bits" }, &[words])
    }

    fn is_constant(&self, id: Id) -> bool {
        matches!(self.f.nodes[id as usize], Node::Const(_))
    }

    /// Whether it comes from memory as it is, so that a compiler knows nothing of it. Of parameters that is not known.
    fn is_loaded(&self, id: Id) -> bool {
        matches!(self.f.nodes[id as usize], Node::Fetch(..))
    }
}
