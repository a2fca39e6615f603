//! The evaluator: what every operation means, bit for bit. The CPU backend runs operators through it, lane blocks at a time.
//!
//! Values travel as zero-extended bits in `u64` lanes.

use super::node::{BinOp, Func, Id, Node, UnOp};
use crate::element::{Scalar, Ty};
use crate::numerics::{Arith as _, Native};

/// The NaN that results show: quiet, positive, no payload.
#[must_use]
pub const fn canonical_nan(ty: Ty, bits: u64) -> u64 {
    match ty {
        Ty::F32 if (bits as u32 & 0x7FFF_FFFF) > 0x7F80_0000 => 0x7FC0_0000,
        Ty::F64 if (bits & 0x7FFF_FFFF_FFFF_FFFF) > 0x7FF0_0000_0000_0000 => 0x7FF8_0000_0000_0000,
        _ => bits,
    }
}

fn map1<A: Scalar, R: Scalar>(a: &[u64], out: &mut [u64], f: impl Fn(A) -> R) {
    for (o, &x) in out.iter_mut().zip(a) {
        *o = f(A::from_bits64(x)).to_bits64();
    }
}

fn map2<A: Scalar, B: Scalar, R: Scalar>(a: &[u64], b: &[u64], out: &mut [u64], f: impl Fn(A, B) -> R) {
    for ((o, &x), &y) in out.iter_mut().zip(a).zip(b) {
        *o = f(A::from_bits64(x), B::from_bits64(y)).to_bits64();
    }
}

fn nothing(out: &mut [u64]) {
    out.fill(0);
}

macro_rules! float_un {
    ($t:ty, $op:expr, $a:expr, $out:expr) => {
        match $op {
            UnOp::Neg => map1($a, $out, |x: $t| -x),
            UnOp::Abs => map1($a, $out, <$t>::abs),
            UnOp::Sqrt | UnOp::SqrtApprox => map1($a, $out, <$t>::sqrt),
            UnOp::Floor => map1($a, $out, <$t>::floor),
            UnOp::Ceil => map1($a, $out, <$t>::ceil),
            UnOp::Trunc => map1($a, $out, <$t>::trunc),
            UnOp::Rint => map1($a, $out, <$t>::round_ties_even),
            UnOp::IsNan => map1($a, $out, <$t>::is_nan),
            UnOp::RcpApprox => map1($a, $out, |x: $t| 1.0 / x),
            UnOp::Not | UnOp::CountOnes | UnOp::LeadingZeros | UnOp::ReverseBits => nothing($out),
        }
    };
}

macro_rules! int_un {
    ($t:ty, $op:expr, $a:expr, $out:expr, $neg:expr, $abs:expr) => {
        match $op {
            UnOp::Neg => map1($a, $out, $neg),
            UnOp::Abs => map1($a, $out, $abs),
            UnOp::Not => map1($a, $out, |x: $t| !x),
            UnOp::CountOnes => map1($a, $out, <$t>::count_ones),
            UnOp::LeadingZeros => map1($a, $out, <$t>::leading_zeros),
            UnOp::ReverseBits => map1($a, $out, <$t>::reverse_bits),
            UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => out_copy($a, $out),
            UnOp::IsNan | UnOp::Sqrt | UnOp::SqrtApprox | UnOp::RcpApprox => nothing($out),
        }
    };
}

fn out_copy(a: &[u64], out: &mut [u64]) {
    out.copy_from_slice(&a[..out.len()]);
}

/// One-operand operation on lanes of type `ty`.
pub(super) fn un(op: UnOp, ty: Ty, a: &[u64], out: &mut [u64]) {
    match ty {
        Ty::Bool => map1(a, out, |x: bool| !x),
        Ty::F32 => float_un!(f32, op, a, out),
        Ty::F64 => float_un!(f64, op, a, out),
        Ty::I32 => int_un!(i32, op, a, out, i32::wrapping_neg, i32::wrapping_abs),
        Ty::I64 => int_un!(i64, op, a, out, i64::wrapping_neg, i64::wrapping_abs),
        Ty::U32 => int_un!(u32, op, a, out, u32::wrapping_neg, |x: u32| x),
        Ty::U64 => int_un!(u64, op, a, out, u64::wrapping_neg, |x: u64| x),
    }
}

macro_rules! float_min_max {
    ($min:ident, $max:ident, $t:ty) => {
        /// IEEE 754-2019 minimum: NaN propagates, -0 is below +0.
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
    ($t:ty, $op:expr, $a:expr, $b:expr, $out:expr, $min:expr, $max:expr) => {
        match $op {
            BinOp::Add => map2($a, $b, $out, |x: $t, y: $t| x + y),
            BinOp::Sub => map2($a, $b, $out, |x: $t, y: $t| x - y),
            BinOp::Mul | BinOp::MulRn => map2($a, $b, $out, |x: $t, y: $t| x * y),
            BinOp::Div | BinOp::DivApprox => map2($a, $b, $out, |x: $t, y: $t| x / y),
            BinOp::Min => map2($a, $b, $out, $min),
            BinOp::Max => map2($a, $b, $out, $max),
            BinOp::Lt => map2($a, $b, $out, |x: $t, y: $t| x < y),
            BinOp::Le => map2($a, $b, $out, |x: $t, y: $t| x <= y),
            BinOp::Eq => map2($a, $b, $out, |x: $t, y: $t| x == y),
            BinOp::Ne => map2($a, $b, $out, |x: $t, y: $t| x != y),
            BinOp::Rem | BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr | BinOp::MulHi => nothing($out),
        }
    };
}

macro_rules! int_bin {
    ($t:ty, $op:expr, $a:expr, $b:expr, $out:expr) => {
        match $op {
            BinOp::Add => map2($a, $b, $out, <$t>::wrapping_add),
            BinOp::Sub => map2($a, $b, $out, <$t>::wrapping_sub),
            BinOp::Mul | BinOp::MulRn => map2($a, $b, $out, <$t>::wrapping_mul),
            BinOp::Div | BinOp::DivApprox => map2($a, $b, $out, |x: $t, y: $t| if y == 0 { x } else { x.wrapping_div(y) }),
            BinOp::Rem => map2($a, $b, $out, |x: $t, y: $t| if y == 0 { 0 } else { x.wrapping_rem(y) }),
            BinOp::Min => map2($a, $b, $out, |x: $t, y: $t| x.min(y)),
            BinOp::Max => map2($a, $b, $out, |x: $t, y: $t| x.max(y)),
            BinOp::And => map2($a, $b, $out, |x: $t, y: $t| x & y),
            BinOp::Or => map2($a, $b, $out, |x: $t, y: $t| x | y),
            BinOp::Xor => map2($a, $b, $out, |x: $t, y: $t| x ^ y),
            BinOp::Shl => map2($a, $b, $out, |x: $t, y: u32| x.wrapping_shl(y)),
            BinOp::Shr => map2($a, $b, $out, |x: $t, y: u32| x.wrapping_shr(y)),
            BinOp::MulHi => map2($a, $b, $out, |x: u32, y: u32| ((u64::from(x) * u64::from(y)) >> 32) as u32),
            BinOp::Lt => map2($a, $b, $out, |x: $t, y: $t| x < y),
            BinOp::Le => map2($a, $b, $out, |x: $t, y: $t| x <= y),
            BinOp::Eq => map2($a, $b, $out, |x: $t, y: $t| x == y),
            BinOp::Ne => map2($a, $b, $out, |x: $t, y: $t| x != y),
        }
    };
}

/// Two-operand operation on lanes whose first operand has type `ty`.
pub(super) fn bin(op: BinOp, ty: Ty, a: &[u64], b: &[u64], out: &mut [u64]) {
    match ty {
        Ty::Bool => map2(a, b, out, |x: bool, y: bool| match op {
            BinOp::And | BinOp::Min | BinOp::Mul | BinOp::MulRn => x & y,
            BinOp::Or | BinOp::Max => x | y,
            BinOp::Lt => !x & y,
            BinOp::Le => !x | y,
            BinOp::Eq => x == y,
            _ => x ^ y,
        }),
        Ty::F32 => float_bin!(f32, op, a, b, out, minimum32, maximum32),
        Ty::F64 => float_bin!(f64, op, a, b, out, minimum64, maximum64),
        Ty::I32 => int_bin!(i32, op, a, b, out),
        Ty::U32 => int_bin!(u32, op, a, b, out),
        Ty::I64 => int_bin!(i64, op, a, b, out),
        Ty::U64 => int_bin!(u64, op, a, b, out),
    }
}

fn fma(ty: Ty, a: &[u64], b: &[u64], c: &[u64], out: &mut [u64]) {
    for (i, o) in out.iter_mut().enumerate() {
        *o = fma1(ty, a[i], b[i], c[i]);
    }
}

pub(super) fn fma1(ty: Ty, a: u64, b: u64, c: u64) -> u64 {
    if ty == Ty::F64 {
        f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits()
    } else {
        Native::fma(f32::from_bits64(a), f32::from_bits64(b), f32::from_bits64(c)).to_bits64()
    }
}

fn cast(from: Ty, to: Ty, a: &[u64], out: &mut [u64]) {
    macro_rules! arms {
        ($($ft:ident $fv:ident),*) => {
            match (from, to) {
                $(
                    (Ty::$fv, Ty::F32) => map1(a, out, |x: $ft| x as f32),
                    (Ty::$fv, Ty::F64) => map1(a, out, |x: $ft| x as f64),
                    (Ty::$fv, Ty::I32) => map1(a, out, |x: $ft| x as i32),
                    (Ty::$fv, Ty::U32) => map1(a, out, |x: $ft| x as u32),
                    (Ty::$fv, Ty::I64) => map1(a, out, |x: $ft| x as i64),
                    (Ty::$fv, Ty::U64) => map1(a, out, |x: $ft| x as u64),
                    (Ty::$fv, Ty::Bool) => map1(a, out, |x: $ft| x != (0 as $ft)),
                )*
                (Ty::Bool, Ty::F32) => map1(a, out, |x: bool| f32::from(u8::from(x))),
                (Ty::Bool, Ty::F64) => map1(a, out, |x: bool| f64::from(u8::from(x))),
                (Ty::Bool, _) => out_copy(a, out),
            }
        };
    }
    arms!(f32 F32, f64 F64, i32 I32, u32 U32, i64 I64, u64 U64);
}

pub(super) fn un1(op: UnOp, ty: Ty, a: u64) -> u64 {
    let mut o = [0];
    un(op, ty, &[a], &mut o);
    o[0]
}

pub(super) fn bin1(op: BinOp, ty: Ty, a: u64, b: u64) -> u64 {
    let mut o = [0];
    bin(op, ty, &[a], &[b], &mut o);
    o[0]
}

pub(super) fn cast1(from: Ty, to: Ty, a: u64) -> u64 {
    let mut o = [0];
    cast(from, to, &[a], &mut o);
    o[0]
}

/// Lanes that [`Evaluator::eval`] computes at once.
pub const LANES: usize = 128;

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
        self.range(0, end, lanes.min(LANES), &mut load, &mut fetch);
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

    /// Lanes of a node: of one in a branch's block that no lane took, those of an earlier evaluation.
    #[must_use]
    pub fn node(&self, id: Id) -> &[u64; LANES] {
        &self.registers[id as usize]
    }

    fn range(&mut self, from: Id, to: Id, lanes: usize, load: &mut impl FnMut(u16, &mut [u64]), fetch: &mut impl FnMut(u16, u64) -> u64) {
        let mut i = from;
        while i < to {
            let node = self.func.nodes[i as usize];
            if let Node::Branch { cond, then_end, then_result, else_end, else_result } = node {
                let cond = self.registers[cond as usize];
                let taken = cond[..lanes].iter().filter(|&&c| c != 0).count();
                if taken > 0 {
                    self.range(i + 1, then_end, lanes, load, fetch);
                }
                if taken < lanes {
                    self.range(then_end, else_end, lanes, load, fetch);
                }
                let (a, b) = (self.registers[then_result as usize], self.registers[else_result as usize]);
                let out = &mut self.registers[i as usize];
                for l in 0..lanes {
                    out[l] = if cond[l] != 0 { a[l] } else { b[l] };
                }
                i = else_end;
                continue;
            }
            self.step(i, node, lanes, load, fetch);
            i += 1;
        }
    }

    fn step(&mut self, i: Id, node: Node, lanes: usize, load: &mut impl FnMut(u16, &mut [u64]), fetch: &mut impl FnMut(u16, u64) -> u64) {
        let types = &self.func.types;
        let (before, rest) = self.registers.split_at_mut(i as usize);
        let out = &mut rest[0][..lanes];
        let r = |a: Id| &before[a as usize][..lanes];
        let t = |a: Id| types[a as usize];
        match node {
            Node::Param(k) => load(k, out),
            Node::Const(_) | Node::Branch { .. } => {}
            Node::Un(op, a) => un(op, t(a), r(a), out),
            Node::Bin(op, a, b) => bin(op, t(a), r(a), r(b), out),
            Node::Fma(a, b, c) => fma(t(a), r(a), r(b), r(c), out),
            Node::Select(c, a, b) => {
                let (c, a, b) = (r(c), r(a), r(b));
                for (l, o) in out.iter_mut().enumerate() {
                    *o = if c[l] != 0 { a[l] } else { b[l] };
                }
            }
            Node::Cast(a) => cast(t(a), types[i as usize], r(a), out),
            Node::Bitcast(a) => {
                for (o, &x) in out.iter_mut().zip(r(a)) {
                    *o = canonical_nan(t(a), x);
                }
            }
            Node::Reinterpret(a) => out_copy(r(a), out),
            Node::Call1(f, a) => map1(r(a), out, |x: f32| f.eval1(x)),
            Node::Call2(f, a, b) => map2(r(a), r(b), out, |x: f32, y: f32| f.eval2(x, y)),
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
