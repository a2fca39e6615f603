//! The evaluator: what every operation means, bit for bit, and the plain way to evaluate an operator: zero-extended bits in `u64` lanes, elementary
//! functions by their definitions. [`super::Blocks`] gives the same bits faster.

use super::node::{BinOp, Func, Id, Node, UnOp};
use crate::element::{Scalar, Ty};
use crate::numerics::{Arith as _, Native};
use bytemuck::Pod;

/// The NaN that results show: quiet, positive, no payload.
#[must_use]
pub const fn canonical_nan(ty: Ty, bits: u64) -> u64 {
    match ty {
        Ty::F32 if (bits as u32 & 0x7FFF_FFFF) > 0x7F80_0000 => 0x7FC0_0000,
        Ty::F64 if (bits & 0x7FFF_FFFF_FFFF_FFFF) > 0x7FF0_0000_0000_0000 => 0x7FF8_0000_0000_0000,
        _ => bits,
    }
}

/// A value of a register type as its lane holds it in a column: in 32 bits (a truth value too) or in 64.
pub(super) trait Lane: Scalar {
    /// `u32` or `u64`.
    type Bits: Pod;
    /// The lane.
    fn to_lane(self) -> Self::Bits;
    /// The value.
    fn of_lane(bits: Self::Bits) -> Self;
}

macro_rules! lanes {
    ($($t:ident $bits:ident)*) => {$(
        impl Lane for $t {
            type Bits = $bits;
            #[inline(always)]
            fn to_lane(self) -> $bits {
                self.to_bits64() as $bits
            }
            #[inline(always)]
            fn of_lane(bits: $bits) -> Self {
                Self::from_bits64(bits.into())
            }
        }
    )*};
}
lanes!(bool u32 f32 u32 i32 u32 u32 u32 f64 u64 i64 u64 u64 u64);

/// Lanes of operands and of a result that one operation goes over. What every operation means is written once, over this.
pub(super) trait Apply {
    /// Applies `f` to lanes of one operand.
    fn map1<A: Lane, R: Lane>(self, f: impl Fn(A) -> R);
    /// Applies `f` to lanes of two operands.
    fn map2<A: Lane, B: Lane, R: Lane>(self, f: impl Fn(A, B) -> R);
    /// Applies `f` to lanes of three operands.
    fn map3<A: Lane, B: Lane, C: Lane, R: Lane>(self, f: impl Fn(A, B, C) -> R);
}

/// Zero-extended bits, one lane after the other.
struct Plain<'a> {
    a: &'a [u64],
    b: &'a [u64],
    c: &'a [u64],
    out: &'a mut [u64],
}

impl<'a> Plain<'a> {
    fn new(operands: [&'a [u64]; 3], out: &'a mut [u64]) -> Self {
        let [a, b, c] = operands;
        Self { a, b, c, out }
    }
}

impl Apply for Plain<'_> {
    fn map1<A: Lane, R: Lane>(self, f: impl Fn(A) -> R) {
        for (o, &x) in self.out.iter_mut().zip(self.a) {
            *o = f(A::from_bits64(x)).to_bits64();
        }
    }

    fn map2<A: Lane, B: Lane, R: Lane>(self, f: impl Fn(A, B) -> R) {
        for ((o, &x), &y) in self.out.iter_mut().zip(self.a).zip(self.b) {
            *o = f(A::from_bits64(x), B::from_bits64(y)).to_bits64();
        }
    }

    fn map3<A: Lane, B: Lane, C: Lane, R: Lane>(self, f: impl Fn(A, B, C) -> R) {
        for (((o, &x), &y), &z) in self.out.iter_mut().zip(self.a).zip(self.b).zip(self.c) {
            *o = f(A::from_bits64(x), B::from_bits64(y), C::from_bits64(z)).to_bits64();
        }
    }
}

/// An operation that its type does not have.
#[inline(always)]
fn nothing<A: Lane>(to: impl Apply) {
    to.map1(|_: A| 0u64);
}

macro_rules! float_un {
    ($t:ty, $op:expr, $to:expr) => {
        match $op {
            UnOp::Neg => $to.map1(|x: $t| -x),
            UnOp::Abs => $to.map1(|x: $t| x.abs()),
            UnOp::Sqrt | UnOp::SqrtApprox => $to.map1(|x: $t| x.sqrt()),
            UnOp::Floor => $to.map1(|x: $t| x.floor()),
            UnOp::Ceil => $to.map1(|x: $t| x.ceil()),
            UnOp::Trunc => $to.map1(|x: $t| x.trunc()),
            UnOp::Rint => $to.map1(|x: $t| x.round_ties_even()),
            UnOp::IsNan => $to.map1(|x: $t| x.is_nan()),
            UnOp::RcpApprox => $to.map1(|x: $t| 1.0 / x),
            UnOp::Not | UnOp::CountOnes | UnOp::LeadingZeros | UnOp::ReverseBits => nothing::<$t>($to),
        }
    };
}

macro_rules! int_un {
    ($t:ty, $op:expr, $to:expr, $abs:expr) => {
        match $op {
            UnOp::Neg => $to.map1(|x: $t| x.wrapping_neg()),
            UnOp::Abs => $to.map1($abs),
            UnOp::Not => $to.map1(|x: $t| !x),
            UnOp::CountOnes => $to.map1(|x: $t| x.count_ones()),
            UnOp::LeadingZeros => $to.map1(|x: $t| x.leading_zeros()),
            UnOp::ReverseBits => $to.map1(|x: $t| x.reverse_bits()),
            UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => $to.map1(|x: $t| x),
            UnOp::IsNan | UnOp::Sqrt | UnOp::SqrtApprox | UnOp::RcpApprox => nothing::<$t>($to),
        }
    };
}

/// One-operand operation on lanes of type `ty`.
#[inline(always)]
pub(super) fn un(op: UnOp, ty: Ty, to: impl Apply) {
    match ty {
        Ty::Bool => to.map1(|x: bool| !x),
        Ty::F32 => float_un!(f32, op, to),
        Ty::F64 => float_un!(f64, op, to),
        Ty::I32 => int_un!(i32, op, to, |x: i32| x.wrapping_abs()),
        Ty::I64 => int_un!(i64, op, to, |x: i64| x.wrapping_abs()),
        Ty::U32 => int_un!(u32, op, to, |x: u32| x),
        Ty::U64 => int_un!(u64, op, to, |x: u64| x),
    }
}

macro_rules! float_min_max {
    ($min:ident, $max:ident, $t:ty) => {
        /// IEEE 754-2019 minimum: NaN propagates, -0 is below +0.
        #[inline(always)]
        fn $min(a: $t, b: $t) -> $t {
            if a.is_nan() || b.is_nan() {
                <$t>::NAN
            } else if a == b {
                <$t>::from_bits(a.to_bits() | b.to_bits())
            } else if a < b {
                a
            } else {
                b
            }
        }
        /// IEEE 754-2019 maximum: NaN propagates, +0 is above -0.
        #[inline(always)]
        fn $max(a: $t, b: $t) -> $t {
            if a.is_nan() || b.is_nan() {
                <$t>::NAN
            } else if a == b {
                <$t>::from_bits(a.to_bits() & b.to_bits())
            } else if a > b {
                a
            } else {
                b
            }
        }
    };
}
float_min_max!(minimum32, maximum32, f32);
float_min_max!(minimum64, maximum64, f64);

macro_rules! float_bin {
    ($t:ty, $op:expr, $to:expr, $min:expr, $max:expr) => {
        match $op {
            BinOp::Add => $to.map2(|x: $t, y: $t| x + y),
            BinOp::Sub => $to.map2(|x: $t, y: $t| x - y),
            BinOp::Mul | BinOp::MulRn => $to.map2(|x: $t, y: $t| x * y),
            BinOp::Div | BinOp::DivApprox => $to.map2(|x: $t, y: $t| x / y),
            BinOp::Min => $to.map2(|x: $t, y: $t| $min(x, y)),
            BinOp::Max => $to.map2(|x: $t, y: $t| $max(x, y)),
            BinOp::Lt => $to.map2(|x: $t, y: $t| x < y),
            BinOp::Le => $to.map2(|x: $t, y: $t| x <= y),
            BinOp::Eq => $to.map2(|x: $t, y: $t| x == y),
            BinOp::Ne => $to.map2(|x: $t, y: $t| x != y),
            BinOp::Rem | BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr | BinOp::MulHi => nothing::<$t>($to),
        }
    };
}

macro_rules! int_bin {
    ($t:ty, $op:expr, $to:expr) => {
        match $op {
            BinOp::Add => $to.map2(|x: $t, y: $t| x.wrapping_add(y)),
            BinOp::Sub => $to.map2(|x: $t, y: $t| x.wrapping_sub(y)),
            BinOp::Mul | BinOp::MulRn => $to.map2(|x: $t, y: $t| x.wrapping_mul(y)),
            BinOp::Div | BinOp::DivApprox => $to.map2(|x: $t, y: $t| if y == 0 { x } else { x.wrapping_div(y) }),
            BinOp::Rem => $to.map2(|x: $t, y: $t| if y == 0 { 0 } else { x.wrapping_rem(y) }),
            BinOp::Min => $to.map2(|x: $t, y: $t| x.min(y)),
            BinOp::Max => $to.map2(|x: $t, y: $t| x.max(y)),
            BinOp::And => $to.map2(|x: $t, y: $t| x & y),
            BinOp::Or => $to.map2(|x: $t, y: $t| x | y),
            BinOp::Xor => $to.map2(|x: $t, y: $t| x ^ y),
            BinOp::Shl => $to.map2(|x: $t, y: u32| x.wrapping_shl(y)),
            BinOp::Shr => $to.map2(|x: $t, y: u32| x.wrapping_shr(y)),
            BinOp::MulHi => $to.map2(|x: u32, y: u32| ((u64::from(x) * u64::from(y)) >> 32) as u32),
            BinOp::Lt => $to.map2(|x: $t, y: $t| x < y),
            BinOp::Le => $to.map2(|x: $t, y: $t| x <= y),
            BinOp::Eq => $to.map2(|x: $t, y: $t| x == y),
            BinOp::Ne => $to.map2(|x: $t, y: $t| x != y),
        }
    };
}

/// Two-operand operation on lanes whose first operand has type `ty`.
#[inline(always)]
pub(super) fn bin(op: BinOp, ty: Ty, to: impl Apply) {
    match ty {
        Ty::Bool => match op {
            BinOp::And | BinOp::Min | BinOp::Mul | BinOp::MulRn => to.map2(|x: bool, y: bool| x & y),
            BinOp::Or | BinOp::Max => to.map2(|x: bool, y: bool| x | y),
            BinOp::Lt => to.map2(|x: bool, y: bool| !x & y),
            BinOp::Le => to.map2(|x: bool, y: bool| !x | y),
            BinOp::Eq => to.map2(|x: bool, y: bool| x == y),
            _ => to.map2(|x: bool, y: bool| x ^ y),
        },
        Ty::F32 => float_bin!(f32, op, to, minimum32, maximum32),
        Ty::F64 => float_bin!(f64, op, to, minimum64, maximum64),
        Ty::I32 => int_bin!(i32, op, to),
        Ty::U32 => int_bin!(u32, op, to),
        Ty::I64 => int_bin!(i64, op, to),
        Ty::U64 => int_bin!(u64, op, to),
    }
}

/// `a * b + c`, rounded once; `fused` says that the lanes' processor has an instruction for it.
#[inline(always)]
pub(super) fn fma(ty: Ty, fused: bool, to: impl Apply) {
    match (ty, fused) {
        (Ty::F64, _) => to.map3(|x: f64, y: f64, z: f64| x.mul_add(y, z)),
        (_, true) => to.map3(|x: f32, y: f32, z: f32| x.mul_add(y, z)),
        (_, false) => to.map3(Native::fma),
    }
}

/// The second operand where the first is true, else the third.
#[inline(always)]
pub(super) fn select(ty: Ty, to: impl Apply) {
    match ty.words() {
        1 => to.map3(|c: bool, x: u32, y: u32| if c { x } else { y }),
        _ => to.map3(|c: bool, x: u64, y: u64| if c { x } else { y }),
    }
}

/// Conversion by value.
#[inline(always)]
pub(super) fn cast(from: Ty, ty: Ty, to: impl Apply) {
    macro_rules! arms {
        ($($ft:ident $fv:ident),*) => {
            match (from, ty) {
                $(
                    (Ty::$fv, Ty::F32) => to.map1(|x: $ft| x as f32),
                    (Ty::$fv, Ty::F64) => to.map1(|x: $ft| x as f64),
                    (Ty::$fv, Ty::I32) => to.map1(|x: $ft| x as i32),
                    (Ty::$fv, Ty::U32) => to.map1(|x: $ft| x as u32),
                    (Ty::$fv, Ty::I64) => to.map1(|x: $ft| x as i64),
                    (Ty::$fv, Ty::U64) => to.map1(|x: $ft| x as u64),
                    (Ty::$fv, Ty::Bool) => to.map1(|x: $ft| x != (0 as $ft)),
                )*
                (Ty::Bool, Ty::F32) => to.map1(|x: bool| f32::from(u8::from(x))),
                (Ty::Bool, Ty::F64) => to.map1(|x: bool| f64::from(u8::from(x))),
                (Ty::Bool, Ty::I64 | Ty::U64) => to.map1(|x: bool| u64::from(x)),
                (Ty::Bool, _) => to.map1(|x: bool| x),
            }
        };
    }
    arms!(f32 F32, f64 F64, i32 I32, u32 U32, i64 I64, u64 U64);
}

/// Copies bits, with NaN made canonical where `visible`.
#[inline(always)]
pub(super) fn bits(ty: Ty, visible: bool, to: impl Apply) {
    match (ty, ty.words()) {
        (Ty::F32, _) if visible => to.map1(|x: f32| if x.is_nan() { f32::NAN } else { x }),
        (Ty::F64, _) if visible => to.map1(|x: f64| if x.is_nan() { f64::NAN } else { x }),
        (_, 1) => to.map1(|x: u32| x),
        _ => to.map1(|x: u64| x),
    }
}

pub(super) fn un1(op: UnOp, ty: Ty, a: u64) -> u64 {
    one([a, 0, 0], |to| un(op, ty, to))
}

pub(super) fn bin1(op: BinOp, ty: Ty, a: u64, b: u64) -> u64 {
    one([a, b, 0], |to| bin(op, ty, to))
}

pub(super) fn fma1(ty: Ty, a: u64, b: u64, c: u64) -> u64 {
    one([a, b, c], |to| fma(ty, false, to))
}

pub(crate) fn cast1(from: Ty, ty: Ty, a: u64) -> u64 {
    one([a, 0, 0], |to| cast(from, ty, to))
}

fn one(operands: [u64; 3], op: impl FnOnce(Plain<'_>)) -> u64 {
    let mut out = [0];
    op(Plain::new(operands.each_ref().map(std::slice::from_ref), &mut out));
    out[0]
}

/// Lanes that [`Evaluator::eval`] computes at once.
pub const LANES: usize = 128;

/// Loads of parameters, and fetches from arrays.
type Memory<'a> = (&'a mut dyn FnMut(u16, &mut [u64]), &'a mut dyn FnMut(u16, u64) -> u64);

/// Registers for one operator; reuse it from call to call on one thread.
#[derive(Debug)]
pub struct Evaluator<'f> {
    func: &'f Func,
    registers: Vec<[u64; LANES]>,
}

impl<'f> Evaluator<'f> {
    /// Room for `func`.
    #[must_use]
    pub fn new(func: &'f Func) -> Self {
        let mut registers = vec![[0; LANES]; func.nodes.len()];
        for (r, n) in registers.iter_mut().zip(&func.nodes) {
            if let Node::Const(b) = *n {
                r.fill(b);
            }
        }
        Self { func, registers }
    }

    /// Evaluates up to [`LANES`] lanes. `load(k, lanes)` fills value or index parameter `k`; `fetch(k, index)` reads array
    /// parameter `k` and gives zero outside it. The results are then read with [`Evaluator::result`].
    pub fn eval(&mut self, lanes: usize, mut load: impl FnMut(u16, &mut [u64]), mut fetch: impl FnMut(u16, u64) -> u64) {
        let end = self.func.nodes.len() as Id;
        self.range(0, end, None, lanes.min(LANES), (&mut load, &mut fetch));
    }

    /// Evaluates one lane.
    pub fn eval_one(&mut self, args: &[u64]) {
        self.eval(1, |k, out| out.fill(args.get(usize::from(k)).copied().unwrap_or(0)), |_, _| 0);
    }

    /// Lanes of result `k`.
    #[must_use]
    pub fn result(&self, k: usize) -> &[u64; LANES] {
        &self.registers[self.func.results[k] as usize]
    }

    /// Lanes of a node: of one in a branch's block that no lane took, or a loop that a lane has left, those of an earlier evaluation.
    #[must_use]
    pub fn node(&self, id: Id) -> &[u64; LANES] {
        &self.registers[id as usize]
    }

    /// Evaluates nodes for the lanes that the loop around them is still in, whose register has them: others come to anything.
    fn range(&mut self, from: Id, to: Id, on: Option<Id>, lanes: usize, (load, fetch): Memory<'_>) {
        let mut i = from;
        while i < to {
            let node = self.func.nodes[i as usize];
            if let Node::Branch { cond, then_end, then_result, else_end, else_result } = node {
                let cond = self.registers[cond as usize];
                let on_lanes = on.map(|of| self.registers[of as usize]);
                let any = |way: bool| (0..lanes).any(|l| (cond[l] != 0) == way && on_lanes.is_none_or(|on| on[l] != 0));
                if any(true) {
                    self.range(i + 1, then_end, on, lanes, (&mut *load, &mut *fetch));
                }
                if any(false) {
                    self.range(then_end, else_end, on, lanes, (&mut *load, &mut *fetch));
                }
                let (a, b) = (self.registers[then_result as usize], self.registers[else_result as usize]);
                let out = &mut self.registers[i as usize];
                for l in 0..lanes {
                    out[l] = if cond[l] != 0 { a[l] } else { b[l] };
                }
                i = else_end;
                continue;
            }
            if let Node::Loop { end, .. } = node {
                self.repeat(i, on, lanes, (&mut *load, &mut *fetch));
                i = end;
                continue;
            }
            self.step(i, node, lanes, (&mut *load, &mut *fetch));
            i += 1;
        }
    }

    /// Evaluates a loop. Its own register has the lanes that are still in it; the others keep their values.
    fn repeat(&mut self, i: Id, on: Option<Id>, lanes: usize, (load, fetch): Memory<'_>) {
        let func = self.func;
        let Node::Loop { turns, end, go, keeps } = func.nodes[i as usize] else { return };
        let mut active = on.map_or([1; LANES], |of| self.registers[of as usize]);
        for _ in 0..turns {
            self.registers[i as usize] = active;
            self.range(i + 1, end, Some(i), lanes, (&mut *load, &mut *fetch));
            let go = self.registers[go as usize];
            let more: [u64; LANES] = std::array::from_fn(|l| u64::from(active[l] != 0 && go[l] != 0));
            let changes = if keeps { more } else { active };
            let carried = Func::carried(&func.nodes, i);
            let next: Vec<[u64; LANES]> = carried.clone().map(|(_, next)| self.registers[next as usize]).collect();
            for ((id, _), next) in carried.zip(next) {
                let out = &mut self.registers[id as usize];
                (0..lanes).filter(|&l| changes[l] != 0).for_each(|l| out[l] = next[l]);
            }
            active = more;
            if active[..lanes].iter().all(|&a| a == 0) {
                break;
            }
        }
    }

    fn step(&mut self, i: Id, node: Node, lanes: usize, (load, fetch): Memory<'_>) {
        let types = &self.func.types;
        let (before, rest) = self.registers.split_at_mut(i as usize);
        let out = &mut rest[0][..lanes];
        let r = |a: Id| &before[a as usize][..lanes];
        let t = |a: Id| types[a as usize];
        let ty = types[i as usize];
        match node {
            Node::Param(k) => load(k, out),
            Node::Const(_) | Node::Branch { .. } | Node::Loop { .. } => {}
            Node::Carried { init, .. } => out.copy_from_slice(r(init)),
            Node::Un(op, a) => un(op, t(a), Plain::new([r(a), &[], &[]], out)),
            Node::Bin(op, a, b) => bin(op, t(a), Plain::new([r(a), r(b), &[]], out)),
            Node::Fma(a, b, c) => fma(t(a), false, Plain::new([r(a), r(b), r(c)], out)),
            Node::Select(c, a, b) => select(ty, Plain::new([r(c), r(a), r(b)], out)),
            Node::Cast(a) => cast(t(a), ty, Plain::new([r(a), &[], &[]], out)),
            Node::Bitcast(a) => bits(t(a), true, Plain::new([r(a), &[], &[]], out)),
            Node::Reinterpret(a) => bits(t(a), false, Plain::new([r(a), &[], &[]], out)),
            Node::Call1(f, a) => Plain::new([r(a), &[], &[]], out).map1(|x: f32| f.eval1(x)),
            Node::Call2(f, a, b) => Plain::new([r(a), r(b), &[]], out).map2(|x: f32, y: f32| f.eval2(x, y)),
            Node::Fetch(k, a) => {
                // A negative i32 or i64 index is outside every array.
                let signed = t(a).is_signed_int();
                for (o, &x) in out.iter_mut().zip(r(a)) {
                    let x = if signed && t(a) == Ty::I32 { x as u32 as i32 as i64 as u64 } else { x };
                    *o = fetch(k, x);
                }
            }
        }
    }
}
