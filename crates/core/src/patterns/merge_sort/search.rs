//! Searches by an order of the caller's.

use super::call::traced;
use super::found::{End, search};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::Input;
use crate::ir::Expr;
use crate::patterns::MapTask;
use crate::patterns::before::Elsewhere;
use crate::patterns::map::same;
use crate::patterns::operand::Operand;
use crate::patterns::select::Count;

/// [Searches](crate::patterns::Search) for many elements (needles) in an array that is sorted by an order of the caller's.
///
/// `before(a, b)` says whether `a` comes before `b`; it has to be [strict and weak](crate::patterns::Merge#comparators), and the array sorted by it. Where either is not
/// so, positions are not determined, the same on every device, and none is above the array's length. The `_from` forms search in what an operator makes of
/// any [inputs](crate::input::Source), for needles that another makes: neither lies in memory.
///
/// Positions are `u32`; the `_into` forms also give `u64`. Outputs may not overlap inputs. Work O(needles * log n), in one launch whose steps of halving are
/// written out, so each power of two of elements to search has a kernel of its own; no scratch. The sorted input, and the views that it is made of, have less
/// than 2^32 elements.
///
/// Source: `std::lower_bound` and `std::upper_bound` of C++, with a comparison.
pub trait SearchBy: Run<MapTask> {
    /// For each needle the number of elements that come before it: the first place where it may be inserted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles) = (dev.upload(&[-10i32, 20, -20, 30])?, dev.upload(&[20i32, 5, 31])?);
    /// let by_size = dev.lower_bound_by(&sorted, &needles, |a, b| a.abs().lt(b.abs()))?;
    /// assert_eq!(by_size.read_blocking()?, [1, 0, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`](crate::patterns::Map::map); [`Error::TooLarge`](crate::Error::TooLarge) for an array of 2^32 elements.
    fn lower_bound_by<K: Element>(
        &self,
        sorted: &Buffer<Self, K>,
        needles: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(needles.len())?;
        self.lower_bound_by_into(sorted, needles, before, &out)?;
        Ok(out)
    }

    /// As [`SearchBy::lower_bound_by`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles, out) = (dev.upload(&[9u8, 3, 1])?, dev.upload(&[3u8, 0])?, dev.buffer::<u64>(2)?);
    /// dev.lower_bound_by_into(&sorted, &needles, |a, b| a.gt(b), &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SearchBy::lower_bound_by`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    fn lower_bound_by_into<K: Element, P: Count>(
        &self,
        sorted: &Buffer<Self, K>,
        needles: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        self.lower_bound_by_from_into((sorted, same), (needles, same), before, out)
    }

    /// As [`SearchBy::lower_bound_by`] of what `g` makes of the inputs of `needles`, in what `f` makes of those of `sorted`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Where a hyperbola falls below some heights.
    /// let heights = dev.upload(&[50.0f32, 10.0, 0.5])?;
    /// let falls = dev.lower_bound_by_from((counting(1000), |i| lit(100.0f32) / (i + 1).cast::<f32>()), (&heights, |h| h), |a, b| a.gt(b))?;
    /// assert_eq!(falls.read_blocking()?, [1, 9, 199]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SearchBy::lower_bound_by`].
    fn lower_bound_by_from<I: Input<Self>, J: Input<Self>, K: Scalar>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> Expr<K>),
        needles: (J, impl FnOnce(J::Exprs) -> Expr<K>),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
    ) -> Result<Buffer<Self, u32>> {
        let (sorted, needles) = inputs(self, sorted, needles)?;
        let out = self.buffer(needles.len()?)?;
        search(self, &sorted, &needles, &traced(before)?, &[End::Lower], &out)?;
        Ok(out)
    }

    /// As [`SearchBy::lower_bound_by_from`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer::<u64>(3)?;
    /// dev.lower_bound_by_from_into((counting(10), |i| i * 10), (counting(3), |i| i * 25), |a, b| a.lt(b), &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 3, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SearchBy::lower_bound_by_into`].
    fn lower_bound_by_from_into<I: Input<Self>, J: Input<Self>, K: Scalar, P: Count>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> Expr<K>),
        needles: (J, impl FnOnce(J::Exprs) -> Expr<K>),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        let (sorted, needles) = inputs(self, sorted, needles)?;
        search(self, &sorted, &needles, &traced(before)?, &[End::Lower], out)
    }

    /// For each needle the number of elements that do not come behind it: the last place where it may be inserted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles) = (dev.upload(&[-10i32, 20, -20, 30])?, dev.upload(&[20i32, 5, 31])?);
    /// let by_size = dev.upper_bound_by(&sorted, &needles, |a, b| a.abs().lt(b.abs()))?;
    /// assert_eq!(by_size.read_blocking()?, [3, 0, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`](crate::patterns::Map::map); [`Error::TooLarge`](crate::Error::TooLarge) for an array of 2^32 elements.
    fn upper_bound_by<K: Element>(
        &self,
        sorted: &Buffer<Self, K>,
        needles: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(needles.len())?;
        self.upper_bound_by_into(sorted, needles, before, &out)?;
        Ok(out)
    }

    /// As [`SearchBy::upper_bound_by`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles, out) = (dev.upload(&[9.0f64, 3.0])?, dev.upload(&[3.0f64])?, dev.buffer::<u32>(1)?);
    /// dev.upper_bound_by_into(&sorted, &needles, |a, b| a.gt(b), &out)?;
    /// assert_eq!(out.read_blocking()?, [2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SearchBy::upper_bound_by`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    fn upper_bound_by_into<K: Element, P: Count>(
        &self,
        sorted: &Buffer<Self, K>,
        needles: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        self.upper_bound_by_from_into((sorted, same), (needles, same), before, out)
    }

    /// As [`SearchBy::upper_bound_by`] of what `g` makes of the inputs of `needles`, in what `f` makes of those of `sorted`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[30u32, 21, 12])?;
    /// let by_tens = dev.upper_bound_by_from((&x.reversed(), |x| x), (counting(4), |i| i * 10), |a, b| (a / 10).lt(b / 10))?;
    /// assert_eq!(by_tens.read_blocking()?, [0, 1, 2, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SearchBy::upper_bound_by`].
    fn upper_bound_by_from<I: Input<Self>, J: Input<Self>, K: Scalar>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> Expr<K>),
        needles: (J, impl FnOnce(J::Exprs) -> Expr<K>),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
    ) -> Result<Buffer<Self, u32>> {
        let (sorted, needles) = inputs(self, sorted, needles)?;
        let out = self.buffer(needles.len()?)?;
        search(self, &sorted, &needles, &traced(before)?, &[End::Upper], &out)?;
        Ok(out)
    }

    /// As [`SearchBy::upper_bound_by_from`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer::<u64>(3)?;
    /// dev.upper_bound_by_from_into((counting(10), |i| i * 10), (counting(3), |i| i * 25), |a, b| a.lt(b), &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 3, 6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SearchBy::upper_bound_by_into`].
    fn upper_bound_by_from_into<I: Input<Self>, J: Input<Self>, K: Scalar, P: Count>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> Expr<K>),
        needles: (J, impl FnOnce(J::Exprs) -> Expr<K>),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        let (sorted, needles) = inputs(self, sorted, needles)?;
        search(self, &sorted, &needles, &traced(before)?, &[End::Upper], out)
    }

    /// For each needle the number of elements that come neither before it nor behind it.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles) = (dev.upload(&[-10i32, 20, -20, 30])?, dev.upload(&[20i32, 5, -30])?);
    /// let by_size = dev.count_equal_by(&sorted, &needles, |a, b| a.abs().lt(b.abs()))?;
    /// assert_eq!(by_size.read_blocking()?, [2, 0, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`](crate::patterns::Map::map); [`Error::TooLarge`](crate::Error::TooLarge) for an array of 2^32 elements.
    fn count_equal_by<K: Element>(
        &self,
        sorted: &Buffer<Self, K>,
        needles: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
    ) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(needles.len())?;
        self.count_equal_by_into(sorted, needles, before, &out)?;
        Ok(out)
    }

    /// As [`SearchBy::count_equal_by`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles, out) = (dev.upload(&[1u32, 12, 15, 31])?, dev.upload(&[19u32])?, dev.buffer::<u32>(1)?);
    /// dev.count_equal_by_into(&sorted, &needles, |a, b| (a / 10).lt(b / 10), &out)?;
    /// assert_eq!(out.read_blocking()?, [2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SearchBy::count_equal_by`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    fn count_equal_by_into<K: Element, P: Count>(
        &self,
        sorted: &Buffer<Self, K>,
        needles: &Buffer<Self, K>,
        before: impl FnOnce(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        self.count_equal_by_from_into((sorted, same), (needles, same), before, out)
    }

    /// As [`SearchBy::count_equal_by`] of what `g` makes of the inputs of `needles`, in what `f` makes of those of `sorted`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let by_tens = dev.count_equal_by_from((counting(100), |i| i), (counting(3), |i| i * 40), |a, b| (a / 16).lt(b / 16))?;
    /// assert_eq!(by_tens.read_blocking()?, [16, 16, 16]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SearchBy::count_equal_by`].
    fn count_equal_by_from<I: Input<Self>, J: Input<Self>, K: Scalar>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> Expr<K>),
        needles: (J, impl FnOnce(J::Exprs) -> Expr<K>),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
    ) -> Result<Buffer<Self, u32>> {
        let (sorted, needles) = inputs(self, sorted, needles)?;
        let out = self.buffer(needles.len()?)?;
        search(self, &sorted, &needles, &traced(before)?, &[End::Lower, End::Upper], &out)?;
        Ok(out)
    }

    /// As [`SearchBy::count_equal_by_from`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer::<u64>(2)?;
    /// dev.count_equal_by_from_into((counting(10), |i| i / 4), (counting(2), |i| i * 2), |a, b| a.lt(b), &out)?;
    /// assert_eq!(out.read_blocking()?, [4, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SearchBy::count_equal_by_into`].
    fn count_equal_by_from_into<I: Input<Self>, J: Input<Self>, K: Scalar, P: Count>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> Expr<K>),
        needles: (J, impl FnOnce(J::Exprs) -> Expr<K>),
        before: impl FnOnce(Expr<K>, Expr<K>) -> Expr<bool>,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        let (sorted, needles) = inputs(self, sorted, needles)?;
        search(self, &sorted, &needles, &traced(before)?, &[End::Lower, End::Upper], out)
    }
}
impl<B: Run<MapTask>> SearchBy for B {}

/// What is searched, and the needles.
fn inputs<B: Run<MapTask>, I: Input<B>, J: Input<B>, K: Scalar>(
    device: &B,
    sorted: (I, impl FnOnce(I::Exprs) -> Expr<K>),
    needles: (J, impl FnOnce(J::Exprs) -> Expr<K>),
) -> Result<(Elsewhere<B>, Operand<B, K>)> {
    Ok((Elsewhere::new(device, "search", &sorted.0, sorted.1)?, Operand::traced(device, "search", &needles.0, needles.1)?))
}
