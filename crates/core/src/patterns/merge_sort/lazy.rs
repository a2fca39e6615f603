//! Merges of what is computed, by an order of the caller's.

use super::call::order;
use super::found::{check_total, merge};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::{Input, Outputs};
use crate::ir::{Expr, Traced};
use crate::patterns::MapTask;
use crate::patterns::before::Elsewhere;

const PATTERN: &str = "merge_by";

/// [Merges by an order of the caller's](super::MergeSort::merge_by) of what operators make of any [inputs](crate::input::Source): views, counted numbers,
/// constants, arrays that are fetched from, several of these together. It lies in no memory.
///
/// Both inputs have to be sorted in the order, which has to be [strict and weak](super::MergeSort#order); the result is then that of a merge of arrays that a
/// [map](crate::patterns::Map) would store. Where they are not, it is the same on every device, and no access leaves a buffer.
///
/// Work O((m + n) log(min(m, n))): one launch, in which each element of the result is searched for, so operators are computed some fifty times for it where
/// inputs are long. An order that arrays have to be merged by often is quicker by [`MergeSort::merge_by`](super::MergeSort::merge_by), once they are stored.
/// No scratch. There are less than 2^32 elements together. No output may overlap an input.
pub trait MergeByFrom: Run<MapTask> {
    /// What `f` makes of the inputs of `a`, and `g` of those of `b`, in order; where neither comes before the other, that of `a` first.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // By size, whatever the sign.
    /// let (x, size) = (dev.upload(&[1i32, 2, 4])?, |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs()));
    /// let merged = dev.merge_by_from((counting(3), |i| -i.cast::<i32>() * 2), (&x, |x| x), size)?;
    /// assert_eq!(merged.read_blocking()?, [0, 1, -2, 2, -4, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`](crate::patterns::Map::map); [`Error::TooLarge`](crate::Error::TooLarge) for 2^32 elements together, and for more than eight leaves.
    fn merge_by_from<I: Input<Self>, J: Input<Self>, K: Element<Reg = K> + Scalar>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> Expr<K>),
        b: (J, impl FnOnce(J::Exprs) -> Expr<K>),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
    ) -> Result<Buffer<Self, K>> {
        let (both, order) = (both::<Self, I, J, Expr<K>>(self, a, b)?, order::<K>(before)?);
        let out = self.buffer(check_total([both[0].len, both[1].len])?)?;
        merge::<Self, Expr<K>>(self, &both, &order, &out)?;
        Ok(out)
    }

    /// As [`MergeByFrom::merge_by_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y, out) = (dev.upload(&[9.0f32, 4.0])?, dev.upload(&[1.0f32, 5.0])?, dev.upload(&[0.5f32; 5])?);
    /// dev.merge_by_from_into((&x, |x| x), (&y.reversed(), |y| y), |a, b| a.gt(b), &out)?;
    /// assert_eq!(out.read_blocking()?, [9.0, 5.0, 4.0, 1.0, 0.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeByFrom::merge_by_from`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    fn merge_by_from_into<I: Input<Self>, J: Input<Self>, K: Element<Reg = K> + Scalar>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> Expr<K>),
        b: (J, impl FnOnce(J::Exprs) -> Expr<K>),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        merge::<Self, Expr<K>>(self, &both::<Self, I, J, Expr<K>>(self, a, b)?, &order::<K>(before)?, out)
    }

    /// As [`MergeByFrom::merge_by_from`] of keys and what goes with them: the operators give both, the key and a value or a tuple of up to three.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Which input keys come from, and where they were.
    /// let (x, y) = (dev.upload(&[0.25f32, 0.5])?, dev.upload(&[0.375f32])?);
    /// let of = |which: u32| move |(x, i): (Expr<f32>, Expr<u32>)| (x, (i, lit(which).store_as::<u8>()));
    /// let (keys, (places, from)) = dev.merge_pairs_by_from(((&x, index()), of(97)), ((&y, index()), of(98)), |a, b| a.lt(b))?;
    /// assert_eq!((keys.read_blocking()?, places.read_blocking()?, from.read_blocking()?), (vec![0.25, 0.375, 0.5], vec![0, 0, 1], b"aba".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeByFrom::merge_by_from`].
    fn merge_pairs_by_from<I: Input<Self>, J: Input<Self>, K: Element<Reg = K> + Scalar, R: Outputs>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> (Expr<K>, R)),
        b: (J, impl FnOnce(J::Exprs) -> (Expr<K>, R)),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
    ) -> Result<(Buffer<Self, K>, R::Buffers<Self>)> {
        let (both, order) = (both::<Self, I, J, (Expr<K>, R)>(self, a, b)?, order::<K>(before)?);
        let n = check_total([both[0].len, both[1].len])?;
        let out = (self.buffer(n)?, R::allocate(self, n)?);
        merge::<Self, (Expr<K>, R)>(self, &both, &order, (&out.0, R::refs(&out.1)))?;
        Ok(out)
    }

    /// As [`MergeByFrom::merge_pairs_by_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.buffer(5)?, dev.buffer(5)?);
    /// let side = |n: u64, step: u32| (counting(n), move |i: Expr<u32>| (i * step, lit(step)));
    /// dev.merge_pairs_by_from_into(side(2, 3), side(3, 2), |a, b| a.lt(b), (&keys, &values))?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![0, 0, 2, 3, 4], vec![3, 2, 2, 3, 2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeByFrom::merge_by_from_into`].
    fn merge_pairs_by_from_into<'a, I: Input<Self>, J: Input<Self>, K: Element<Reg = K> + Scalar, R: Outputs>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> (Expr<K>, R)),
        b: (J, impl FnOnce(J::Exprs) -> (Expr<K>, R)),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
        out: (&'a Buffer<Self, K>, R::Refs<'a, Self>),
    ) -> Result<()> {
        merge::<Self, (Expr<K>, R)>(self, &both::<Self, I, J, (Expr<K>, R)>(self, a, b)?, &order::<K>(before)?, out)
    }
}
impl<B: Run<MapTask>> MergeByFrom for B {}

/// Both inputs of a merge.
fn both<B: Run<MapTask>, I: Input<B>, J: Input<B>, R: Traced>(
    device: &B,
    a: (I, impl FnOnce(I::Exprs) -> R),
    b: (J, impl FnOnce(J::Exprs) -> R),
) -> Result<[Elsewhere<B>; 2]> {
    Ok([Elsewhere::new(device, PATTERN, &a.0, a.1)?, Elsewhere::new(device, PATTERN, &b.0, b.1)?])
}
