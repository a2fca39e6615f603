//! The documented rules in plain Rust loops: what an operator gives, without anything of the library's evaluator or graphs.
//!
//! Integers wrap; `x / 0 = x`, `x % 0 = 0`, `MIN / -1 = MIN`; amounts of shifts are taken modulo the width; conversions are Rust's `as`; minimum and
//! maximum are those of IEEE 754-2019; an array gives zero outside; a NaN that is stored or whose bits are taken is canonical. [`fuse`] applies the
//! rule of fusion. Elementary functions alone are the library's own definitions: their accuracy is tested elsewhere, against other sources.

use super::tree::{Op, Tree};
use half::f16;
use isowarp::element::{DType, Ty};

/// The bits of a value with the one NaN that is ever seen.
#[must_use]
pub(super) fn canonical(ty: Ty, bits: u64) -> u64 {
    match ty {
        Ty::F32 if f32::from_bits(bits as u32).is_nan() => 0x7FC0_0000,
        Ty::F64 if f64::from_bits(bits).is_nan() => 0x7FF8_0000_0000_0000,
        _ => bits,
    }
}

/// Returns an element's stored bits as they are once they are loaded.
#[must_use]
pub(super) fn widen(dtype: DType, bits: u64) -> u64 {
    match dtype {
        DType::F16 => u64::from(f16::from_bits(bits as u16).to_f32().to_bits()),
        DType::I8 => u64::from(bits as i8 as i32 as u32),
        DType::I16 => u64::from(bits as i16 as i32 as u32),
        DType::U8 => bits & 0xFF,
        DType::U16 => bits & 0xFFFF,
        DType::F32 | DType::I32 | DType::U32 => bits & 0xFFFF_FFFF,
        _ => bits,
    }
}

/// The bits that a value is stored as.
#[must_use]
pub(super) fn narrow(dtype: DType, ty: Ty, bits: u64) -> u64 {
    let bits = canonical(ty, bits);
    match dtype {
        DType::F16 => match f32::from_bits(bits as u32) {
            v if v.is_nan() => 0x7E00,
            v => u64::from(f16::from_f32(v).to_bits()),
        },
        _ => bits & (u64::MAX >> (64 - 8 * dtype.size_bytes())),
    }
}

/// Elements that a tree reads: of each input those at the indices, as they are stored, and its whole array.
#[derive(Clone, Debug, Default)]
pub(super) struct Reads {
    /// Element types.
    pub(super) dtypes: Vec<DType>,
    /// By input, the stored bits at each index.
    pub(super) at: Vec<Vec<u64>>,
    /// By input, the stored bits of the array.
    pub(super) arrays: Vec<Vec<u64>>,
}

/// The value of a tree at the indices `0..n`, as bits of its type, with one NaN.
#[must_use]
pub(super) fn values(tree: &Tree, reads: &Reads, n: usize) -> Vec<u64> {
    let mut out = column(&fuse(tree), reads, n, &[]);
    out.iter_mut().for_each(|b| *b = canonical(tree.ty(), *b));
    out
}

/// The values of a tree, in a loop that carries these.
fn column(tree: &Tree, reads: &Reads, n: usize, carried: &[u64]) -> Vec<u64> {
    match tree {
        Tree::Input(k, _) => {
            let k = usize::from(*k);
            reads.at[k][..n].iter().map(|&b| widen(reads.dtypes[k], b)).collect()
        }
        Tree::Index => (0..n as u64).collect(),
        Tree::Const(_, bits) => vec![*bits; n],
        Tree::Carried(_) => carried.to_vec(),
        Tree::Node(Op::Repeat(turns), _, args) => {
            let mut it = column(&args[0], reads, n, carried);
            let mut on = vec![true; n];
            for _ in 0..*turns {
                let (go, next) = (column(&args[1], reads, n, &it), column(&args[2], reads, n, &it));
                for i in 0..n {
                    on[i] &= go[i] != 0;
                    it[i] = if on[i] { next[i] } else { it[i] };
                }
            }
            it
        }
        Tree::Node(Op::At(k), _, args) => {
            let (k, signed) = (usize::from(*k), args[0].ty() == Ty::I32);
            let at = |i: u64| if signed { i as u32 as i32 as i64 as u64 } else { i };
            let found = |i: u64| usize::try_from(at(i)).ok().and_then(|i| reads.arrays[k].get(i)).map_or(0, |&b| widen(reads.dtypes[k], b));
            column(&args[0], reads, n, carried).into_iter().map(found).collect()
        }
        Tree::Node(op, ty, args) => {
            let of = args[0].ty();
            let columns: Vec<Vec<u64>> = args.iter().map(|a| column(a, reads, n, carried)).collect();
            let mut operands = [0; 3];
            (0..n)
                .map(|i| {
                    operands.iter_mut().zip(&columns).for_each(|(o, c)| *o = c[i]);
                    one(*op, of, *ty, operands)
                })
                .collect()
        }
    }
}

/// One operation on operands of which the first has type `of`.
pub(super) fn one(op: Op, of: Ty, to: Ty, [a, b, c]: [u64; 3]) -> u64 {
    match op {
        Op::Select | Op::Branch => return if a != 0 { b } else { c },
        Op::Cast(_) => return cast(of, to, a),
        Op::Bitcast(_) => return canonical(of, a),
        Op::Call(f) => {
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            return u64::from((if f.arity() == 1 { f.eval1(x) } else { f.eval2(x, y) }).to_bits());
        }
        _ => {}
    }
    match of {
        Ty::Bool => truth(op, a != 0, b != 0).into(),
        Ty::F32 => {
            let of_f64 = |v: f64| u64::from((v as f32).to_bits());
            let [x, y, z] = [a, b, c].map(|v| f32::from_bits(v as u32));
            // A sum, product, quotient or root of f32 in f64 is rounded to the same f32 as the exact one.
            let wide = f64::from(x);
            match op {
                Op::Add => of_f64(wide + f64::from(y)),
                Op::Sub => of_f64(wide - f64::from(y)),
                Op::Mul | Op::MulRn => of_f64(wide * f64::from(y)),
                Op::Div => of_f64(wide / f64::from(y)),
                Op::Sqrt => of_f64(wide.sqrt()),
                Op::Fma => u64::from(x.mul_add(y, z).to_bits()),
                Op::Neg => a ^ 1 << 31,
                Op::Abs => a & !(1 << 31),
                Op::Floor => of_f64(wide.floor()),
                Op::Ceil => of_f64(wide.ceil()),
                Op::Trunc => of_f64(wide.trunc()),
                Op::Round => of_f64(wide.round_ties_even()),
                // Every f32 is an f64: comparisons, minimum and maximum are those of f64.
                Op::Min | Op::Max => of_f64(f64::from_bits(double(op, wide, f64::from(y), 0.0))),
                _ => double(op, wide, f64::from(y), 0.0),
            }
        }
        Ty::F64 => {
            let [x, y, z] = [a, b, c].map(f64::from_bits);
            double(op, x, y, z)
        }
        Ty::I32 => integer(op, 32, i128::from(a as i32), i128::from(b as i32), b),
        Ty::U32 => integer(op, 32, i128::from(a as u32), i128::from(b as u32), b),
        Ty::I64 => integer(op, 64, i128::from(a as i64), i128::from(b as i64), b),
        Ty::U64 => integer(op, 64, i128::from(a), i128::from(b), b),
    }
}

fn truth(op: Op, a: bool, b: bool) -> bool {
    match op {
        Op::Not => !a,
        Op::And => a && b,
        Op::Or => a || b,
        Op::Eq => a == b,
        // Exclusive or is "not equal".
        _ => a != b,
    }
}

fn double(op: Op, x: f64, y: f64, z: f64) -> u64 {
    let nan = x.is_nan() || y.is_nan();
    let value = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul | Op::MulRn => x * y,
        Op::Div => x / y,
        Op::Fma => x.mul_add(y, z),
        Op::Sqrt => x.sqrt(),
        Op::Neg => f64::from_bits(x.to_bits() ^ 1 << 63),
        Op::Abs => f64::from_bits(x.to_bits() & !(1 << 63)),
        Op::Floor => x.floor(),
        Op::Ceil => x.ceil(),
        Op::Trunc => x.trunc(),
        Op::Round => x.round_ties_even(),
        Op::Min | Op::Max if nan => f64::NAN,
        // -0 is below +0.
        Op::Min => {
            if x < y || (x == y && x.is_sign_negative()) {
                x
            } else {
                y
            }
        }
        Op::Max => {
            if x > y || (x == y && x.is_sign_positive()) {
                x
            } else {
                y
            }
        }
        Op::IsNan => return x.is_nan().into(),
        Op::Lt => return (x < y).into(),
        Op::Le => return (x <= y).into(),
        Op::Gt => return (x > y).into(),
        Op::Ge => return (x >= y).into(),
        Op::Eq => return (x == y).into(),
        _ => return (x != y).into(),
    };
    value.to_bits()
}

/// Integers of a width as whole numbers: the result's low bits are the wrapped ones. `amount` is the second operand's bits.
fn integer(op: Op, width: u32, x: i128, y: i128, amount: u64) -> u64 {
    let mask = u64::MAX >> (64 - width);
    let by = (amount as u32) % width;
    let bits = x as u64 & mask;
    let value = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x.wrapping_mul(y),
        Op::Div => {
            if y == 0 {
                x
            } else {
                x / y
            }
        }
        Op::Rem => {
            if y == 0 {
                0
            } else {
                x % y
            }
        }
        Op::Min => x.min(y),
        Op::Max => x.max(y),
        Op::And => x & y,
        Op::Or => x | y,
        Op::Xor => x ^ y,
        Op::Not => !x,
        Op::Neg => -x,
        Op::Abs => x.abs(),
        Op::Shl => x << by,
        // Of a negative number the whole one is shifted, which is the arithmetic shift.
        Op::Shr => x >> by,
        Op::MulHi => (x * y) >> 32,
        Op::Popcount => return bits.count_ones().into(),
        Op::Clz => return u64::from(bits.leading_zeros()) - u64::from(64 - width),
        Op::ReverseBits => return bits.reverse_bits() >> (64 - width),
        Op::Lt => return (x < y).into(),
        Op::Le => return (x <= y).into(),
        Op::Gt => return (x > y).into(),
        Op::Ge => return (x >= y).into(),
        Op::Eq => return (x == y).into(),
        _ => return (x != y).into(),
    };
    value as u64 & mask
}

fn cast(from: Ty, to: Ty, bits: u64) -> u64 {
    macro_rules! to {
        ($v:expr, $not_zero:expr) => {
            match to {
                Ty::Bool => u64::from($not_zero),
                Ty::F32 => u64::from(($v as f32).to_bits()),
                Ty::F64 => ($v as f64).to_bits(),
                Ty::I32 => u64::from($v as i32 as u32),
                Ty::U32 => u64::from($v as u32),
                Ty::I64 => $v as i64 as u64,
                Ty::U64 => $v as u64,
            }
        };
    }
    match from {
        Ty::Bool => to!(bits as u8, bits != 0),
        Ty::F32 => to!(f32::from_bits(bits as u32), f32::from_bits(bits as u32) != 0.0),
        Ty::F64 => to!(f64::from_bits(bits), f64::from_bits(bits) != 0.0),
        Ty::I32 => to!(bits as u32 as i32, bits != 0),
        Ty::U32 => to!(bits as u32, bits != 0),
        Ty::I64 => to!(bits as i64, bits != 0),
        Ty::U64 => to!(bits, bits != 0),
    }
}

/// The bits of a tree that is a constant: one, or a product of two that a sum may still take.
fn known(tree: &Tree) -> Option<u64> {
    match tree {
        Tree::Const(_, bits) => Some(*bits),
        Tree::Node(Op::Mul, ty, args) => match args[..] {
            [Tree::Const(_, a), Tree::Const(_, b)] => Some(canonical(*ty, one(Op::Mul, *ty, *ty, [a, b, 0]))),
            _ => None,
        },
        _ => None,
    }
}

fn settled(tree: Tree) -> Tree {
    match known(&tree) {
        Some(bits) => Tree::Const(tree.ty(), bits),
        None => tree,
    }
}

fn product(tree: &Tree) -> Option<(Tree, Tree)> {
    match tree {
        Tree::Node(Op::Mul, ty, args) if ty.is_float() => Some((args[0].clone(), args[1].clone())),
        _ => None,
    }
}

fn made(op: Op, ty: Ty, args: Vec<Tree>) -> Tree {
    Tree::Node(op, ty, args)
}

fn negative(tree: Tree) -> Tree {
    let ty = tree.ty();
    match tree {
        Tree::Node(Op::Neg, _, mut args) => args.remove(0),
        Tree::Node(Op::Mul, _, mut args) if ty.is_float() => {
            let q = args.remove(1);
            made(Op::Mul, ty, vec![negative(args.remove(0)), q])
        }
        other => fold(Op::Neg, ty, vec![other]),
    }
}

/// An operation whose operands' values are known has its own; others stay.
fn fold(op: Op, ty: Ty, args: Vec<Tree>) -> Tree {
    let bits: Option<Vec<u64>> = args.iter().map(known).collect();
    match bits {
        Some(bits) if !matches!(op, Op::At(_)) => {
            let mut operands = [0; 3];
            operands[..bits.len()].copy_from_slice(&bits);
            Tree::Const(ty, canonical(ty, one(op, args[0].ty(), ty, operands)))
        }
        _ => made(op, ty, args),
    }
}

/// The tree with products fused into sums by the documented rule. What is known when the operator is built is settled first: operations on constants,
/// conversions to the same type, choices by a constant or between equal things, double negation; a product that stays of it is a product to a sum.
/// A product of two constants stays one for the sum that it may meet.
#[must_use]
pub(super) fn fuse(tree: &Tree) -> Tree {
    let Tree::Node(op, ty, args) = tree else { return tree.clone() };
    let (op, ty) = (*op, *ty);
    let mut args: Vec<Tree> = args.iter().map(fuse).collect();
    let is_float = args[0].ty().is_float();
    match op {
        Op::Neg if matches!(ty, Ty::U32 | Ty::U64) => fold(Op::Sub, ty, vec![Tree::Const(ty, 0), args.remove(0)]),
        Op::Neg => negative(args.remove(0)),
        Op::Mul if is_float && args.iter().all(|a| known(a).is_some()) => made(op, ty, args.into_iter().map(settled).collect()),
        Op::Add | Op::Sub if is_float => sum(op, ty, args),
        Op::Gt | Op::Ge => {
            args.swap(0, 1);
            fold(if op == Op::Gt { Op::Lt } else { Op::Le }, ty, args)
        }
        Op::Clamp => {
            let above = fold(Op::Max, ty, args[..2].to_vec());
            fold(Op::Min, ty, vec![above, args.remove(2)])
        }
        Op::Recip => {
            let one = if ty == Ty::F32 { 0x3F80_0000 } else { 0x3FF0_0000_0000_0000 };
            fold(Op::Div, ty, vec![Tree::Const(ty, one), args.remove(0)])
        }
        Op::Select | Op::Branch => match known(&args[0]) {
            Some(bits) => settled(args.remove(if bits != 0 { 1 } else { 2 })),
            // Blocks of branches and loops share nothing, so two that read alike are not one.
            None if op == Op::Select && args[1] == args[2] && !args[1].any(has_blocks) => args.remove(1),
            None => made(op, ty, args),
        },
        Op::Repeat(_) => made(op, ty, args),
        Op::Cast(to) if args[0].ty() == to => args.remove(0),
        _ => fold(op, ty, args),
    }
}

fn has_blocks(tree: &Tree) -> bool {
    matches!(tree, Tree::Node(Op::Branch | Op::Repeat(_), ..))
}

/// A float sum or difference: one product as an operand makes it a fused multiply-add, two are rounded each by itself.
fn sum(op: Op, ty: Ty, mut args: Vec<Tree>) -> Tree {
    let (b, a) = (args.remove(1), args.remove(0));
    match (product(&a), product(&b)) {
        (Some((p, q)), None) => {
            let c = if op == Op::Sub { negative(b) } else { b };
            fold(Op::Fma, ty, vec![p, q, c])
        }
        (None, Some((p, q))) => {
            let p = if op == Op::Sub { negative(p) } else { p };
            fold(Op::Fma, ty, vec![p, q, a])
        }
        _ => fold(op, ty, vec![a, b]),
    }
}
