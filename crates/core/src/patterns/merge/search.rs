//! Where elements belong in a sorted array.

use super::call::search;
use super::lazy::{self, Side};
use super::{Count, SearchFromTask, SearchKind, SearchTask};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::input::{Input, Stored};
use crate::patterns::SortOrder;

/// Searches for many elements (needles) in a sorted array, by halving.
///
/// Keys compare as in a [sort](super::super::Sort#order). The array has to be sorted in the order that is asked for; where it is not, the positions
/// are not determined, and none is above the array's length. [`is_sorted`](super::super::Sort::is_sorted) asks first.
/// Needles may have any order; those that are sorted themselves find what
/// they read in the cache.
///
/// Positions are `u32`; the `_into` forms also give `u64`, for longer arrays. Outputs may not overlap inputs. Work O(needles * log n), no scratch.
///
/// The `_from` forms search what an operator makes of any [inputs](crate::input::Source), for needles that another makes: a function that rises is
/// inverted without a table of it. Both are computed where they are read, an element of the sorted input as often as a search looks at it; keys, and where
/// arrays are made first after all, are as in [merges](super::super::Merge).
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// # let up = SortOrder::Ascending;
/// let (sorted, needles) = (dev.upload(&[10u32, 30, 20])?, dev.upload(&[20u32])?);
/// let error = dev.is_sorted(&sorted).check().and_then(|()| dev.lower_bound(&sorted, &needles, up)).unwrap_err();
/// assert!(matches!(error, isowarp::Error::NotSorted { index: 2, .. }));
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// Source: `std::lower_bound` and `std::upper_bound` of C++; NumPy's `searchsorted`.
pub trait Search: Run<SearchTask> + Run<SearchFromTask> {
    /// For each needle the number of elements that come before it: the first place where it may be inserted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles) = (dev.upload(&[10u32, 20, 20, 30])?, dev.upload(&[20u32, 5, 31])?);
    /// assert_eq!(dev.lower_bound(&sorted, &needles, SortOrder::Ascending)?.read_blocking()?, [1, 0, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) for an array of 2^32 elements or more, [`Error::Unsupported`](crate::Error::Unsupported),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::WrongDevice`](crate::Error::WrongDevice).
    fn lower_bound<K: Element>(&self, sorted: &Buffer<Self, K>, needles: &Buffer<Self, K>, order: SortOrder) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(needles.len())?;
        self.lower_bound_into(sorted, needles, order, &out)?;
        Ok(out)
    }

    /// As [`Search::lower_bound`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles, out) = (dev.upload(&[9i32, 3, -4])?, dev.upload(&[3i32, 0])?, dev.buffer::<u64>(2)?);
    /// dev.lower_bound_into(&sorted, &needles, SortOrder::Descending, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Search::lower_bound`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    fn lower_bound_into<K: Element, P: Count>(
        &self,
        sorted: &Buffer<Self, K>,
        needles: &Buffer<Self, K>,
        order: SortOrder,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        search(self, sorted, needles, (SearchKind::Lower, order), out)
    }

    /// As [`Search::lower_bound`] of what `f` makes of the inputs of `needles`, in what the other operator makes of those of `sorted`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // The integer square roots of an array, rounded up: where its numbers belong among the squares.
    /// let x = dev.upload(&[0u32, 1, 2, 4, 99, 100])?;
    /// let roots = dev.lower_bound_from((counting(1 << 16), |i| i * i), (&x, |x| x), SortOrder::Ascending)?;
    /// assert_eq!(roots.read_blocking()?, [0, 1, 2, 2, 10, 10]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Search::lower_bound`], [`Error::Op`](crate::Error::Op), [`Error::LengthMismatch`](crate::Error::LengthMismatch) for inputs of one side that have
    /// different lengths.
    fn lower_bound_from<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> K),
        needles: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
    ) -> Result<Buffer<Self, u32>> {
        let sides = sides(self, sorted, needles)?;
        let out = self.buffer(sides[1].len())?;
        lazy::search::<Self, K::Element, u32>(self, sides, (SearchKind::Lower, order), &out)?;
        Ok(out)
    }

    /// As [`Search::lower_bound_from`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[30.0f32, 20.0, 10.0])?, dev.buffer::<u64>(2)?);
    /// let needles = (counting(2), |i: Expr<u32>| i.cast::<f32>() * 20.0);
    /// dev.lower_bound_from_into((&x.reversed(), |x| x), needles, SortOrder::Ascending, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Search::lower_bound_from`] and [`Search::lower_bound_into`]: an output that an input reads is one, too.
    fn lower_bound_from_into<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>, P: Count>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> K),
        needles: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        lazy::search::<Self, K::Element, P>(self, sides(self, sorted, needles)?, (SearchKind::Lower, order), out)
    }

    /// For each needle the number of elements that come before it or are equal to it: the last place where it may be inserted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles) = (dev.upload(&[-0.0f32, 0.0, 1.0])?, dev.upload(&[-0.0f32, f32::NAN])?);
    /// assert_eq!(dev.upper_bound(&sorted, &needles, SortOrder::Ascending)?.read_blocking()?, [1, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Search::lower_bound`].
    fn upper_bound<K: Element>(&self, sorted: &Buffer<Self, K>, needles: &Buffer<Self, K>, order: SortOrder) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(needles.len())?;
        self.upper_bound_into(sorted, needles, order, &out)?;
        Ok(out)
    }

    /// As [`Search::upper_bound`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles, out) = (dev.upload(b"aabbz")?, dev.upload(b"abc")?, dev.buffer::<u32>(3)?);
    /// dev.upper_bound_into(&sorted, &needles, SortOrder::Ascending, &out)?;
    /// assert_eq!(out.read_blocking()?, [2, 4, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Search::lower_bound_into`].
    fn upper_bound_into<K: Element, P: Count>(
        &self,
        sorted: &Buffer<Self, K>,
        needles: &Buffer<Self, K>,
        order: SortOrder,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        search(self, sorted, needles, (SearchKind::Upper, order), out)
    }

    /// As [`Search::upper_bound`], of inputs as in [`Search::lower_bound_from`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Which segment an element lies in: how many offsets are not behind it, less one.
    /// let offsets = dev.upload(&[0u32, 2, 2, 5])?;
    /// let ends = dev.upper_bound_from((&offsets, |x| x), (counting(5), |i| i), SortOrder::Ascending)?;
    /// assert_eq!(ends.read_blocking()?, [1, 1, 3, 3, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Search::upper_bound`], [`Error::Op`](crate::Error::Op), [`Error::LengthMismatch`](crate::Error::LengthMismatch) for inputs of one side that have
    /// different lengths.
    fn upper_bound_from<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> K),
        needles: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
    ) -> Result<Buffer<Self, u32>> {
        let sides = sides(self, sorted, needles)?;
        let out = self.buffer(sides[1].len())?;
        lazy::search::<Self, K::Element, u32>(self, sides, (SearchKind::Upper, order), &out)?;
        Ok(out)
    }

    /// As [`Search::upper_bound_from`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(b"abc")?, dev.buffer::<u32>(3)?);
    /// let upper = |c: Expr<u32>| (c - 32u32).store_as::<u8>();
    /// dev.upper_bound_from_into((&x, upper), (counting(3), |i| (i + 65u32).store_as::<u8>()), SortOrder::Ascending, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 2, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Search::upper_bound_from`] and [`Search::upper_bound_into`]: an output that an input reads is one, too.
    fn upper_bound_from_into<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>, P: Count>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> K),
        needles: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        lazy::search::<Self, K::Element, P>(self, sides(self, sorted, needles)?, (SearchKind::Upper, order), out)
    }

    /// For each needle the number of elements that are equal to it, bit for bit.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles) = (dev.upload(&[1u64, 1, 1, 4])?, dev.upload(&[1u64, 2, 4])?);
    /// assert_eq!(dev.count_equal(&sorted, &needles, SortOrder::Ascending)?.read_blocking()?, [3, 0, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Search::lower_bound`].
    fn count_equal<K: Element>(&self, sorted: &Buffer<Self, K>, needles: &Buffer<Self, K>, order: SortOrder) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(needles.len())?;
        self.count_equal_into(sorted, needles, order, &out)?;
        Ok(out)
    }

    /// As [`Search::count_equal`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles, out) = (dev.upload(&[5i32, 5])?, dev.upload(&[5i32, -5])?, dev.buffer::<u32>(2)?);
    /// dev.count_equal_into(&sorted, &needles, SortOrder::Ascending, &out)?;
    /// assert_eq!(out.read_blocking()?, [2, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Search::lower_bound_into`].
    fn count_equal_into<K: Element, P: Count>(
        &self,
        sorted: &Buffer<Self, K>,
        needles: &Buffer<Self, K>,
        order: SortOrder,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        search(self, sorted, needles, (SearchKind::Equal, order), out)
    }

    /// As [`Search::count_equal`], of inputs as in [`Search::lower_bound_from`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // How many of the first ten numbers have each quotient by four.
    /// let found = dev.count_equal_from((counting(10), |i| i / 4), (counting(4), |i| i), SortOrder::Ascending)?;
    /// assert_eq!(found.read_blocking()?, [4, 4, 2, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Search::count_equal`], [`Error::Op`](crate::Error::Op), [`Error::LengthMismatch`](crate::Error::LengthMismatch) for inputs of one side that have
    /// different lengths.
    fn count_equal_from<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> K),
        needles: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
    ) -> Result<Buffer<Self, u32>> {
        let sides = sides(self, sorted, needles)?;
        let out = self.buffer(sides[1].len())?;
        lazy::search::<Self, K::Element, u32>(self, sides, (SearchKind::Equal, order), &out)?;
        Ok(out)
    }

    /// As [`Search::count_equal_from`], into the caller's buffer of `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (order, x) = (dev.upload(&[2u32, 0, 1])?, dev.upload(&[5i64, 9, 5])?);
    /// let out = dev.buffer::<u64>(2)?;
    /// // An array in the order of its sorted indices, which is looked at through them.
    /// let needles = x.slice(..2)?;
    /// dev.count_equal_from_into(((&order, array(&x)), |(i, x)| x.at(i)), (&needles, |x| x), SortOrder::Ascending, &out)?;
    /// assert_eq!(out.read_blocking()?, [2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Search::count_equal_from`] and [`Search::count_equal_into`]: an output that an input reads is one, too.
    fn count_equal_from_into<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>, P: Count>(
        &self,
        sorted: (I, impl FnOnce(I::Exprs) -> K),
        needles: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        lazy::search::<Self, K::Element, P>(self, sides(self, sorted, needles)?, (SearchKind::Equal, order), out)
    }
}
impl<B: Run<SearchTask> + Run<SearchFromTask>> Search for B {}

/// Both inputs of a search.
fn sides<B: Backend, I: Input<B>, J: Input<B>, K: Stored, L: Stored<Element = K::Element>>(
    device: &B,
    sorted: (I, impl FnOnce(I::Exprs) -> K),
    needles: (J, impl FnOnce(J::Exprs) -> L),
) -> Result<[Side<B>; 2]> {
    let types = [K::Element::DTYPE];
    Ok([Side::new(device, "search", sorted, &types)?, Side::new(device, "search", needles, &types)?])
}
