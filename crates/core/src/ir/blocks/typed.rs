//! Evaluation of one node over columns, in loops over chunks of lanes.

use super::super::eval::{self, Apply, Lane, canonical_nan};
use super::super::node::{BinOp, Node};
use super::Lanes;
use crate::element::Ty;
use crate::numerics::{Func as Elementary, Of, OverLanes, Ways, f32_to_i32, f32_to_u32};
use bytemuck::Pod;

/// Lanes of one turn of a loop: some registers of any processor.
pub(super) const CHUNK: usize = 16;

/// A column, or one chunk of a constant.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) ty: Ty,
}

/// Instruction set that the loops are compiled for; only one that the processor was found to have is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instructions {
    /// Instructions that every processor of the architecture has.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    pub(super) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            let wide = std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512vl");
            let whole = wide && std::is_x86_feature_detected!("avx512dq") && std::is_x86_feature_detected!("avx512bw");
            return if whole { Self::Avx512 } else { Self::Avx2 };
        }
        Self::Portable
    }

    /// Evaluates a node that computes, in chunks of lanes; those after the last lane come to anything.
    pub(super) fn step(self, node: Node, ty: Ty, operands: [Operand<'_>; 3], out: &mut [u8], chunks: usize) {
        match self {
            Self::Portable => step::<false>(node, ty, operands, out, chunks),
            // SAFETY: the processor has them.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { with_avx2(node, ty, operands, out, chunks) },
            // SAFETY: the processor has them.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { with_avx512(node, ty, operands, out, chunks) },
        }
    }

    /// Goes over lanes with an operation of two operands.
    pub(super) fn bin(self, op: BinOp, ty: Ty, to: impl Apply) {
        match self {
            Self::Portable => eval::bin(op, ty, to),
            // SAFETY: the processor has them.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { bin_with_avx2(op, ty, to) },
            // SAFETY: the processor has them.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { bin_with_avx512(op, ty, to) },
        }
    }
}

/// Compiles the same loops for wider registers: sums, products and fused products are rounded alike on every processor.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2(node: Node, ty: Ty, operands: [Operand<'_>; 3], out: &mut [u8], chunks: usize) {
    step::<true>(node, ty, operands, out, chunks);
}

/// As [`with_avx2`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn with_avx512(node: Node, ty: Ty, operands: [Operand<'_>; 3], out: &mut [u8], chunks: usize) {
    step::<true>(node, ty, operands, out, chunks);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn bin_with_avx2(op: BinOp, ty: Ty, to: impl Apply) {
    eval::bin(op, ty, to);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn bin_with_avx512(op: BinOp, ty: Ty, to: impl Apply) {
    eval::bin(op, ty, to);
}

#[inline(always)]
fn step<const FUSED: bool>(node: Node, ty: Ty, [a, b, c]: [Operand<'_>; 3], out: &mut [u8], chunks: usize) {
    let to = Columns { a: a.bytes, b: b.bytes, c: c.bytes, out, chunks };
    match node {
        Node::Un(op, _) => eval::un(op, a.ty, to),
        Node::Bin(op, ..) => eval::bin(op, a.ty, to),
        Node::Fma(..) => eval::fma(ty, FUSED, to),
        Node::Select(..) | Node::Branch { .. } => eval::select(ty, to),
        Node::Cast(_) => match (a.ty, ty) {
            (Ty::F32, Ty::I32) => to.map1(f32_to_i32),
            (Ty::F32, Ty::U32) => to.map1(f32_to_u32),
            _ => eval::cast(a.ty, ty, to),
        },
        Node::Bitcast(_) => eval::bits(a.ty, true, to),
        Node::Reinterpret(_) => eval::bits(a.ty, false, to),
        Node::Call1(f, _) => call::<FUSED>(f, [a.bytes; 2], to.out, chunks),
        Node::Call2(f, ..) => call::<FUSED>(f, [a.bytes, b.bytes], to.out, chunks),
        Node::Param(_) | Node::Const(_) | Node::Fetch(..) | Node::Carried { .. } | Node::Loop { .. } => {}
    }
}

struct Columns<'a> {
    a: &'a [u8],
    b: &'a [u8],
    c: &'a [u8],
    out: &'a mut [u8],
    chunks: usize,
}

/// Chunk `i` of a column; of a constant, the only one.
#[inline(always)]
fn chunk<T: Lane>(bytes: &[u8], i: usize) -> [T; CHUNK] {
    let all: &[[T::Bits; CHUNK]] = bytemuck::cast_slice(bytes);
    let varies = if all.len() == 1 { 0 } else { usize::MAX };
    all[i & varies].map(T::of_lane)
}

#[inline(always)]
fn put<T: Lane>(to: &mut [T::Bits; CHUNK], f: impl Fn(usize) -> T) {
    for (l, o) in to.iter_mut().enumerate() {
        *o = f(l).to_lane();
    }
}

#[inline(always)]
fn chunks<T: Pod>(out: &mut [u8], chunks: usize) -> impl Iterator<Item = (usize, &mut [T; CHUNK])> {
    bytemuck::cast_slice_mut(out).iter_mut().take(chunks).enumerate()
}

impl Apply for Columns<'_> {
    #[inline(always)]
    fn map1<A: Lane, R: Lane>(self, f: impl Fn(A) -> R) {
        for (i, o) in chunks::<R::Bits>(self.out, self.chunks) {
            let x = chunk::<A>(self.a, i);
            put(o, |l| f(x[l]));
        }
    }

    #[inline(always)]
    fn map2<A: Lane, B: Lane, R: Lane>(self, f: impl Fn(A, B) -> R) {
        for (i, o) in chunks::<R::Bits>(self.out, self.chunks) {
            let (x, y) = (chunk::<A>(self.a, i), chunk::<B>(self.b, i));
            put(o, |l| f(x[l], y[l]));
        }
    }

    #[inline(always)]
    fn map3<A: Lane, B: Lane, C: Lane, R: Lane>(self, f: impl Fn(A, B, C) -> R) {
        for (i, o) in chunks::<R::Bits>(self.out, self.chunks) {
            let (x, y, z) = (chunk::<A>(self.a, i), chunk::<B>(self.b, i), chunk::<C>(self.c, i));
            put(o, |l| f(x[l], y[l], z[l]));
        }
    }
}

/// Applies an elementary function: in its common way, and if a lane needs another one, in all of them.
#[inline(always)]
fn call<const FUSED: bool>(f: Elementary, args: [&[u8]; 2], out: &mut [u8], chunks: usize) {
    let lanes = chunks * CHUNK;
    let args = args.map(|bytes| &bytemuck::cast_slice(bytes)[..lanes]);
    let out = &mut bytemuck::cast_slice_mut(out)[..lanes];
    let mut usual = true;
    f.over::<Ways<FUSED, false>>(Args { args, out, usual: &mut usual });
    if !usual {
        f.over::<Ways<FUSED, true>>(Args { args, out, usual: &mut usual });
    }
}

/// Lanes of a function's arguments and results, and whether all went the common way.
struct Args<'a> {
    args: [&'a [f32]; 2],
    out: &'a mut [f32],
    usual: &'a mut bool,
}

impl<const FUSED: bool, const BOTH: bool> OverLanes<Ways<FUSED, BOTH>> for Args<'_> {
    #[inline(always)]
    fn each(self, f: impl Fn(Of<f32>, Of<f32>) -> Of<f32>) {
        let [xs, ys] = self.args;
        let mut usual = true;
        for ((o, &x), &y) in self.out.iter_mut().zip(xs).zip(ys) {
            let done = f(Of(x, true), Of(y, true));
            *o = done.0;
            usual &= done.1;
        }
        *self.usual = usual;
    }
}

/// Writes lanes as elements of their type, with canonical NaN, as many as there is room for.
pub fn visible(ty: Ty, lanes: Lanes<'_>, to: &mut [u8]) {
    let size = 4 * ty.words();
    let lanes = lanes.first(lanes.len().min(to.len() / size));
    let (bytes, chunks) = (lanes.bytes(), lanes.len() / CHUNK);
    let (whole, rest) = to[..bytes.len()].split_at_mut(chunks * CHUNK * size);
    let operand = Operand { bytes: &bytes[..whole.len()], ty };
    Instructions::best().step(Node::Bitcast(0), ty, [operand; 3], whole, chunks);
    for (lane, to) in (chunks * CHUNK..).zip(rest.chunks_exact_mut(size)) {
        to.copy_from_slice(&canonical_nan(ty, lanes.get(lane)).to_le_bytes()[..size]);
    }
}
