//! One operation alone, over whole columns: what trees and prefixes of sums, minima and the like are made of.

use super::super::eval::{Apply, Lane};
use super::super::node::{BinOp, Node};
use super::typed::{CHUNK, Instructions};
use super::{Blocks, Lanes, LanesMut};
use crate::element::Ty;

/// Operation of two operands that an operator consists of.
#[derive(Clone, Copy, Debug)]
pub struct Binary {
    op: BinOp,
    ty: Ty,
    instructions: Instructions,
}

impl Blocks {
    /// The operation that the operator is, applied to its two parameters, if it is one alone.
    #[must_use]
    pub fn binary(&self) -> Option<Binary> {
        let plan = &self.plan;
        match (&*plan.nodes, &*plan.results) {
            (&[Node::Param(0), Node::Param(1), Node::Bin(op, 0, 1)], [2]) if plan.types.iter().all(|&ty| ty == plan.types[0]) => {
                Some(Binary { op, ty: plan.types[0], instructions: self.instructions })
            }
            _ => None,
        }
    }

    /// Whether the operator gives its parameters as they are.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        let plan = &self.plan;
        plan.nodes.len() == plan.results.len()
            && plan.nodes.iter().zip(0..).all(|(&node, k)| node == Node::Param(k))
            && plan.results.iter().zip(0..).all(|(&result, k)| result == k)
    }
}

impl Binary {
    /// Combines neighbours: lane `i` of the result is lanes `2 i` and `2 i + 1`.
    pub fn pairs(self, from: Lanes<'_>, to: LanesMut<'_>) {
        self.instructions.bin(self.op, self.ty, Pairs { from: from.bytes(), to: to.bytes() });
    }

    /// Combines one value, on the left, with every lane.
    pub fn prepend(self, left: u64, to: LanesMut<'_>) {
        self.instructions.bin(self.op, self.ty, Prepend { left, to: to.bytes() });
    }

    /// Sklansky's inclusive prefixes: for every bit from the lowest on, a lane whose index has it is combined with the last lane of the aligned block
    /// before its own.
    pub fn prefixes(self, to: LanesMut<'_>) {
        self.instructions.bin(self.op, self.ty, Prefixes { to: to.bytes() });
    }
}

/// Implements the operations of other numbers of operands, which no [`BinOp`] is.
macro_rules! of_two_only {
    () => {
        #[inline(always)]
        fn map1<A: Lane, R: Lane>(self, _: impl Fn(A) -> R) {}
        #[inline(always)]
        fn map3<A: Lane, B: Lane, C: Lane, R: Lane>(self, _: impl Fn(A, B, C) -> R) {}
    };
}

struct Pairs<'a> {
    from: &'a [u8],
    to: &'a mut [u8],
}

impl Apply for Pairs<'_> {
    of_two_only!();

    #[inline(always)]
    fn map2<A: Lane, B: Lane, R: Lane>(self, f: impl Fn(A, B) -> R) {
        let (left, right) = (bytemuck::cast_slice::<_, [A::Bits; 2]>(self.from), bytemuck::cast_slice::<_, [B::Bits; 2]>(self.from));
        for ((o, x), y) in bytemuck::cast_slice_mut::<_, R::Bits>(self.to).iter_mut().zip(left).zip(right) {
            *o = f(A::of_lane(x[0]), B::of_lane(y[1])).to_lane();
        }
    }
}

struct Prepend<'a> {
    left: u64,
    to: &'a mut [u8],
}

impl Apply for Prepend<'_> {
    of_two_only!();

    #[inline(always)]
    fn map2<A: Lane, B: Lane, R: Lane>(self, f: impl Fn(A, B) -> R) {
        prepend(B::from_bits64(self.left), bytemuck::cast_slice_mut(self.to), &of_one_type(f));
    }
}

struct Prefixes<'a> {
    to: &'a mut [u8],
}

impl Apply for Prefixes<'_> {
    of_two_only!();

    #[inline(always)]
    fn map2<A: Lane, B: Lane, R: Lane>(self, f: impl Fn(A, B) -> R) {
        let (f, x) = (of_one_type(f), bytemuck::cast_slice_mut::<_, B::Bits>(self.to));
        let n = x.len();
        let (chunks, rest) = x.as_chunks_mut();
        for chunk in chunks {
            let prefixes = near::<8, B>(near::<4, B>(near::<2, B>(near::<1, B>(chunk.map(B::of_lane), &f), &f), &f), &f);
            *chunk = prefixes.map(B::to_lane);
        }
        for half in doubles(1, rest.len()) {
            for first in (half..rest.len()).step_by(2 * half) {
                block(rest, first, half, &f);
            }
        }
        for half in doubles(CHUNK, n) {
            for first in (half..n).step_by(2 * half) {
                block(x, first, half, &f);
            }
        }
    }
}

/// The operation on values of one type, which the three types are.
#[inline(always)]
fn of_one_type<A: Lane, B: Lane, R: Lane>(f: impl Fn(A, B) -> R) -> impl Fn(B, B) -> B {
    move |x, y| B::from_bits64(f(A::from_bits64(x.to_bits64()), y).to_bits64())
}

/// `from`, twice that, ... below `n`.
#[inline(always)]
fn doubles(from: usize, n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(from), |half| Some(2 * half)).take_while(move |&half| half < n)
}

/// Combines the lane before `first` with each of up to `count` lanes from `first` on.
#[inline(always)]
fn block<T: Lane>(x: &mut [T::Bits], first: usize, count: usize, f: &impl Fn(T, T) -> T) {
    let (before, here) = x.split_at_mut(first);
    let count = count.min(here.len());
    prepend(T::of_lane(before[first - 1]), &mut here[..count], f);
}

#[inline(always)]
fn prepend<T: Lane>(left: T, to: &mut [T::Bits], f: &impl Fn(T, T) -> T) {
    for o in to {
        *o = f(left, T::of_lane(*o)).to_lane();
    }
}

/// One step of the prefixes of a chunk; lanes that stay as they are go through the operation too, so that all of a register do. Plain loops: this is
/// compiled for every operation and type.
#[inline(always)]
fn near<const HALF: usize, T: Lane>(x: [T; CHUNK], f: &impl Fn(T, T) -> T) -> [T; CHUNK] {
    let (mut left, mut made) = (x, x);
    for l in 0..CHUNK {
        left[l] = x[(l & !(HALF - 1)).saturating_sub(1)];
    }
    for l in 0..CHUNK {
        made[l] = f(left[l], x[l]);
    }
    for l in 0..CHUNK {
        if l & HALF == 0 {
            made[l] = x[l];
        }
    }
    made
}
