//! The ends of the order of each segment, and where they are.

use super::Segmented;
use crate::buffer::Buffer;
use crate::element::{Element, Num};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::input::{Input, index};
use crate::ir::Expr;
use crate::patterns::extreme::{End, segments, segments_into};
use crate::patterns::map::same;
use crate::patterns::select::Count;

/// The least and the greatest element of each segment, and where it is.
///
/// Segments are [those of reductions](Segmented#segments), and the ends of the order those of [`Statistics`](crate::patterns::Statistics): NaN wins, -0 is
/// below 0, and of equal elements the first one. Indices are counted from the start of the array, which has at most 2^32 elements; a segment without
/// elements has the operator's identity (infinity, or the type's greatest or least value) and the index `u32::MAX`.
pub trait SegmentedExtremes: Segmented {
    /// The least element of each segment and its lowest index.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[4.0f32, 1.0, 1.0, 7.0, f32::NAN])?, dev.upload(&[0u32, 3, 3, 5])?);
    /// let (least, at) = dev.segmented_min_with_index(&x, &offsets)?;
    /// assert_eq!((least.read_blocking()?[..2].to_vec(), at.read_blocking()?), (vec![1.0, f32::INFINITY], vec![1, u32::MAX, 4]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce`].
    fn segmented_min_with_index<T: Element<Reg = T> + Num, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
    ) -> Result<(Buffer<Self, T>, Buffer<Self, u32>)> {
        segments(self, (x, index()), |(x, i)| (x, i), offsets, End::Least, |x, i| (x, i))
    }

    /// As [`SegmentedExtremes::segmented_min_with_index`], into the caller's buffers, with an element to each segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[4i64, 1, 1, 7])?, dev.upload(&[0u32, 3, 4])?);
    /// let (least, at) = (dev.upload(&[0i64; 3])?, dev.upload(&[9u32; 3])?);
    /// dev.segmented_min_with_index_into(&x, &offsets, (&least, &at))?;
    /// assert_eq!((least.read_blocking()?, at.read_blocking()?), (vec![1, 7, 0], vec![1, 3, 9]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedExtremes::segmented_min_with_index`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn segmented_min_with_index_into<T: Element<Reg = T> + Num, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        out: (&Buffer<Self, T>, &Buffer<Self, u32>),
    ) -> Result<()> {
        segments_into(self, ((x, index()), |(x, i)| (x, i)), offsets, End::Least, |x, i| (x, i), out)
    }

    /// The greatest element of each segment and its lowest index.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[-4i32, 9, 9, -7])?, dev.upload(&[0u64, 3, 4, 4])?);
    /// let (greatest, at) = dev.segmented_max_with_index(&x, &offsets)?;
    /// assert_eq!((greatest.read_blocking()?, at.read_blocking()?), (vec![9, -7, i32::MIN], vec![1, 3, u32::MAX]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce`].
    fn segmented_max_with_index<T: Element<Reg = T> + Num, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
    ) -> Result<(Buffer<Self, T>, Buffer<Self, u32>)> {
        segments(self, (x, index()), |(x, i)| (x, i), offsets, End::Greatest, |x, i| (x, i))
    }

    /// As [`SegmentedExtremes::segmented_max_with_index`], into the caller's buffers, with an element to each segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[4i64, 1, 1, 7])?, dev.upload(&[0u32, 3, 4])?);
    /// let (greatest, at) = (dev.upload(&[0i64; 3])?, dev.upload(&[9u32; 3])?);
    /// dev.segmented_max_with_index_into(&x, &offsets, (&greatest, &at))?;
    /// assert_eq!((greatest.read_blocking()?, at.read_blocking()?), (vec![4, 7, 0], vec![0, 3, 9]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedExtremes::segmented_max_with_index`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn segmented_max_with_index_into<T: Element<Reg = T> + Num, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        out: (&Buffer<Self, T>, &Buffer<Self, u32>),
    ) -> Result<()> {
        segments_into(self, ((x, index()), |(x, i)| (x, i)), offsets, End::Greatest, |x, i| (x, i), out)
    }

    /// The lowest index of the least element of each segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[3u32, 1, 2, 0])?, dev.upload(&[0u32, 3, 4])?);
    /// assert_eq!(dev.segmented_argmin(&x, &offsets)?.read_blocking()?, [1, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce`].
    fn segmented_argmin<T: Element<Reg = T> + Num, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
    ) -> Result<Buffer<Self, u32>> {
        self.segmented_argmin_from(x, same, offsets)
    }

    /// As [`SegmentedExtremes::segmented_argmin`], into the caller's buffer, with an element to each segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets, at) = (dev.upload(&[3.0f32, 1.0, 2.0, 0.5])?, dev.upload(&[0u32, 3, 3, 4])?, dev.upload(&[9u32; 4])?);
    /// dev.segmented_argmin_into(&x, &offsets, &at)?;
    /// assert_eq!(at.read_blocking()?, [1, u32::MAX, 3, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedExtremes::segmented_argmin`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn segmented_argmin_into<T: Element<Reg = T> + Num, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        out: &Buffer<Self, u32>,
    ) -> Result<()> {
        self.segmented_argmin_from_into(x, same, offsets, out)
    }

    /// The lowest index of the greatest element of each segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[0.5f32, f32::NAN, 9.0])?, dev.upload(&[0u32, 2, 3])?);
    /// assert_eq!(dev.segmented_argmax(&x, &offsets)?.read_blocking()?, [1, 2]); // NaN wins
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce`].
    fn segmented_argmax<T: Element<Reg = T> + Num, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
    ) -> Result<Buffer<Self, u32>> {
        self.segmented_argmax_from(x, same, offsets)
    }

    /// As [`SegmentedExtremes::segmented_argmax`], into the caller's buffer, with an element to each segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets, at) = (dev.upload(&[3.0f32, 1.0, 2.0, 0.5])?, dev.upload(&[0u32, 3, 3, 4])?, dev.upload(&[9u32; 4])?);
    /// dev.segmented_argmax_into(&x, &offsets, &at)?;
    /// assert_eq!(at.read_blocking()?, [0, u32::MAX, 3, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedExtremes::segmented_argmax`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn segmented_argmax_into<T: Element<Reg = T> + Num, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        out: &Buffer<Self, u32>,
    ) -> Result<()> {
        self.segmented_argmax_from_into(x, same, offsets, out)
    }

    /// As [`SegmentedExtremes::segmented_argmin`] of `f` of the inputs, which never lies in memory.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // The nearest point of each group to 3.
    /// let (x, offsets) = (dev.upload(&[1.0f32, 2.5, 9.0, 8.0])?, dev.upload(&[0u32, 2, 4])?);
    /// assert_eq!(dev.segmented_argmin_from(&x, |x| (x - 3.0).abs(), &offsets)?.read_blocking()?, [1, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce_from`].
    fn segmented_argmin_from<I: Input<Self>, T: Element<Reg = T> + Num, O: Count>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        offsets: &Buffer<Self, O>,
    ) -> Result<Buffer<Self, u32>> {
        segments(self, (inputs, index()), |(x, i)| (f(x), i), offsets, End::Least, |_, i| i)
    }

    /// As [`SegmentedExtremes::segmented_argmin_from`], into the caller's buffer, with an element to each segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (offsets, at) = (dev.upload(&[0u32, 5, 10])?, dev.buffer(2)?);
    /// dev.segmented_argmin_from_into(counting(10), |i| (i * 7) % 10, &offsets, &at)?;
    /// assert_eq!(at.read_blocking()?, [0, 6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedExtremes::segmented_argmin_from`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn segmented_argmin_from_into<I: Input<Self>, T: Element<Reg = T> + Num, O: Count>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        offsets: &Buffer<Self, O>,
        out: &Buffer<Self, u32>,
    ) -> Result<()> {
        segments_into(self, ((inputs, index()), |(x, i)| (f(x), i)), offsets, End::Least, |_, i| i, out)
    }

    /// As [`SegmentedExtremes::segmented_argmax`] of `f` of the inputs, which never lies in memory.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let offsets = dev.upload(&[0u32, 5, 10])?;
    /// assert_eq!(dev.segmented_argmax_from(counting(10), |i| (i * 7) % 10, &offsets)?.read_blocking()?, [4, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce_from`].
    fn segmented_argmax_from<I: Input<Self>, T: Element<Reg = T> + Num, O: Count>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        offsets: &Buffer<Self, O>,
    ) -> Result<Buffer<Self, u32>> {
        segments(self, (inputs, index()), |(x, i)| (f(x), i), offsets, End::Greatest, |_, i| i)
    }

    /// As [`SegmentedExtremes::segmented_argmax_from`], into the caller's buffer, with an element to each segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (offsets, at) = (dev.upload(&[0u32, 5, 10])?, dev.buffer(2)?);
    /// dev.segmented_argmax_from_into(counting(10), |i| (i * 7) % 10, &offsets, &at)?;
    /// assert_eq!(at.read_blocking()?, [4, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedExtremes::segmented_argmax_from`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn segmented_argmax_from_into<I: Input<Self>, T: Element<Reg = T> + Num, O: Count>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        offsets: &Buffer<Self, O>,
        out: &Buffer<Self, u32>,
    ) -> Result<()> {
        segments_into(self, ((inputs, index()), |(x, i)| (f(x), i)), offsets, End::Greatest, |_, i| i, out)
    }
}
impl<B: Segmented> SegmentedExtremes for B {}
