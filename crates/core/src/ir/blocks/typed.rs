//! Evaluation of one node over columns, in loops over chunks of lanes.

use super::super::eval::{self, Apply, Lane};
use super::super::node::Node;
use crate::element::Ty;
use bytemuck::Pod;

/// Lanes of one turn of a loop: some registers of any processor.
pub(super) const CHUNK: usize = 16;

/// A column, or one chunk of a constant.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub(super) words: &'a [u64],
    pub(super) ty: Ty,
}

/// Instruction set that the loops are compiled for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instructions {
    /// Set only where the processor has both.
    avx2_and_fma: bool,
}

impl Instructions {
    pub(super) fn portable() -> Self {
        Self { avx2_and_fma: false }
    }

    pub(super) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        let avx2_and_fma = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
        #[cfg(not(target_arch = "x86_64"))]
        let avx2_and_fma = false;
        Self { avx2_and_fma }
    }

    /// Evaluates a node that computes, in chunks of lanes; those after the last lane come to anything.
    pub(super) fn step(self, node: Node, ty: Ty, operands: [Operand<'_>; 3], out: &mut [u64], chunks: usize) {
        #[cfg(target_arch = "x86_64")]
        if self.avx2_and_fma {
            // SAFETY: the processor was found to have both.
            return unsafe { with_avx2_and_fma(node, ty, operands, out, chunks) };
        }
        step(node, ty, operands, out, chunks, false);
    }
}

/// Compiles the same loops for wider registers: sums, products and fused products are rounded alike on every processor.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2_and_fma(node: Node, ty: Ty, operands: [Operand<'_>; 3], out: &mut [u64], chunks: usize) {
    step(node, ty, operands, out, chunks, true);
}

#[inline(always)]
fn step(node: Node, ty: Ty, [a, b, c]: [Operand<'_>; 3], out: &mut [u64], chunks: usize, fused: bool) {
    let to = Columns { a: a.words, b: b.words, c: c.words, out, chunks };
    match node {
        Node::Un(op, _) => eval::un(op, a.ty, to),
        Node::Bin(op, ..) => eval::bin(op, a.ty, to),
        Node::Fma(..) => eval::fma(ty, fused, to),
        Node::Select(..) | Node::Branch { .. } => eval::select(ty, to),
        Node::Cast(_) => eval::cast(a.ty, ty, to),
        Node::Bitcast(_) => eval::bits(a.ty, true, to),
        Node::Reinterpret(_) => eval::bits(a.ty, false, to),
        Node::Param(_) | Node::Const(_) | Node::Fetch(..) | Node::Call1(..) | Node::Call2(..) => {}
    }
}

struct Columns<'a> {
    a: &'a [u64],
    b: &'a [u64],
    c: &'a [u64],
    out: &'a mut [u64],
    chunks: usize,
}

/// Chunk `i` of a column; of a constant, the only one.
#[inline(always)]
fn chunk<T: Lane>(words: &[u64], i: usize) -> [T; CHUNK] {
    let all: &[[T::Bits; CHUNK]] = bytemuck::cast_slice(words);
    let varies = if words.len() == CHUNK { 0 } else { usize::MAX };
    all[i & varies].map(T::of_lane)
}

#[inline(always)]
fn put<T: Lane>(to: &mut [T::Bits; CHUNK], f: impl Fn(usize) -> T) {
    for (l, o) in to.iter_mut().enumerate() {
        *o = f(l).to_lane();
    }
}

#[inline(always)]
fn chunks<T: Pod>(out: &mut [u64], chunks: usize) -> impl Iterator<Item = (usize, &mut [T; CHUNK])> {
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
