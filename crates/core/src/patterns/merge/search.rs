//! Where elements belong in a sorted array.

use super::call::search;
use super::{Count, SearchKind, SearchTask};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::patterns::SortOrder;

/// Searches for many elements (needles) in a sorted array, by halving.
///
/// Keys compare as in a [sort](super::super::Sort#order). The array has to be sorted in the order that is asked for; where it is not, the positions
/// are not determined, and none is above the array's length. [`Sort::check_sorted`](super::super::Sort::check_sorted) asks first. Needles may have
/// any order; those that are sorted themselves find what they read in the cache.
///
/// Positions are `u32`; the `_into` forms also give `u64`, for longer arrays. Outputs may not overlap inputs. Work O(needles * log n), no scratch.
///
/// Source: `std::lower_bound` and `std::upper_bound` of C++; NumPy's `searchsorted`.
pub trait Search: Run<SearchTask> {
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
}
impl<B: Run<SearchTask>> Search for B {}
