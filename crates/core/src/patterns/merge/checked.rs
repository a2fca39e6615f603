//! Merges that ask first whether what they merge is sorted.

use super::{Merge, Pairs, Side, lazy, pairs, sides};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element};
use crate::error::Result;
use crate::input::{Input, Stored};
use crate::patterns::sort::check_sorted;
use crate::patterns::{MapTask, ReduceTask, SortOrder};

/// The [merges](Merge) of pairs and of inputs with the question asked first whether both are sorted: what is not is
/// [`Error::NotSorted`](crate::Error::NotSorted), and nothing was written. [`Merge::merge_checked`] is that of keys.
///
/// Work is a pass over all keys more, and the device is waited for. What operators make is computed twice more for that, and the element before is
/// fetched from arrays and views, of at most 2^32 elements from the first to the last; each input has less than 2^32.
pub trait CheckedMerge: Merge {
    /// As [`Merge::merge_pairs`]; an array of keys that is not sorted is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, v) = (dev.upload(&[1u64, 7, 7])?, dev.upload(b"abc")?);
    /// let (b, w) = (dev.upload(&[9u64, 7])?, dev.upload(b"de")?);
    /// let error = dev.merge_pairs_checked((&a, &v), (&b, &w), SortOrder::Ascending).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the second array", index: 1, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge_pairs`], and [`Error::NotSorted`](crate::Error::NotSorted) with the first index whose key comes before its left neighbour.
    fn merge_pairs_checked<K: Element, V: Element>(
        &self,
        a: Pairs<'_, Self, K, V>,
        b: Pairs<'_, Self, K, V>,
        order: SortOrder,
    ) -> Result<(Buffer<Self, K>, Buffer<Self, V>)> {
        let n = a.0.len() + b.0.len();
        let out = (self.buffer(n)?, self.buffer(n)?);
        self.merge_pairs_checked_into(a, b, order, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`CheckedMerge::merge_pairs_checked`], into the caller's buffers, which stay as they were where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, v) = (dev.upload(&[0.5f32, 0.0])?, dev.upload(&[10i64, 11])?);
    /// let (keys, values) = (dev.upload(&[7.0f32; 4])?, dev.upload(&[7i64; 4])?);
    /// assert!(dev.merge_pairs_checked_into((&a, &v), (&a, &v), SortOrder::Ascending, (&keys, &values)).is_err());
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![7.0; 4], vec![7; 4]));
    /// dev.merge_pairs_checked_into((&a, &v), (&a, &v), SortOrder::Descending, (&keys, &values))?;
    /// assert_eq!(values.read_blocking()?, [10, 10, 11, 11]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMerge::merge_pairs_checked`] and [`Merge::merge_into`].
    fn merge_pairs_checked_into<K: Element, V: Element>(
        &self,
        a: Pairs<'_, Self, K, V>,
        b: Pairs<'_, Self, K, V>,
        order: SortOrder,
        out: Pairs<'_, Self, K, V>,
    ) -> Result<()> {
        check_sorted(self, "merge", "the first array", a.0, &order.into())?;
        check_sorted(self, "merge", "the second array", b.0, &order.into())?;
        self.merge_pairs_into(a, b, order, out)
    }

    /// As [`Merge::merge_from`]; an input that is not sorted is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3i32, 1, 2])?;
    /// let error = dev.merge_checked_from((counting(5), |i| i.cast::<i32>()), (&x.reversed(), |x| x - 1), SortOrder::Ascending).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the second input", index: 1, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge_from`], and [`Error::NotSorted`](crate::Error::NotSorted) with the first index whose key comes before its left neighbour;
    /// [`Error::TooLarge`](crate::Error::TooLarge) for an input of 2^32 elements.
    fn merge_checked_from<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
    ) -> Result<Buffer<Self, K::Element>> {
        let sides = sides::<Self, K::Element, _, _, _, _>(self, a, b)?;
        both_sorted(self, &sides, K::Element::DTYPE, order)?;
        let out = self.buffer(sides[0].len() + sides[1].len())?;
        lazy::merge::<Self, K::Element, K::Element>(self, sides, order, (&out, None))?;
        Ok(out)
    }

    /// As [`CheckedMerge::merge_checked_from`], into the caller's buffer, which stays as it was where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.upload(&[7u32; 8])?;
    /// let low_bits = |bits: u32| move |i: Expr<u32>| i & bits;
    /// let up = SortOrder::Ascending;
    /// let error = dev.merge_checked_from_into((counting(4), low_bits(1)), (counting(4), low_bits(3)), up, &out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the first input", index: 2, .. }));
    /// assert_eq!(out.read_blocking()?, [7; 8]);
    /// dev.merge_checked_from_into((counting(4), low_bits(7)), (counting(4), low_bits(3)), up, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 0, 1, 1, 2, 2, 3, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMerge::merge_checked_from`] and [`Merge::merge_from_into`].
    fn merge_checked_from_into<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
        out: &Buffer<Self, K::Element>,
    ) -> Result<()> {
        let sides = sides::<Self, K::Element, _, _, _, _>(self, a, b)?;
        both_sorted(self, &sides, K::Element::DTYPE, order)?;
        lazy::merge::<Self, K::Element, K::Element>(self, sides, order, (out, None))
    }

    /// As [`Merge::merge_pairs_from`]; an input whose keys are not sorted is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[0.25f32, 0.5])?, dev.upload(&[0.375f32, 0.125])?);
    /// let error = dev.merge_pairs_checked_from(((&x, index()), |x| x), ((&y, index()), |y| y), SortOrder::Ascending).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the second input", index: 1, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMerge::merge_checked_from`].
    fn merge_pairs_checked_from<
        I: Input<Self>,
        J: Input<Self>,
        K: Stored,
        V: Stored,
        L: Stored<Element = K::Element>,
        W: Stored<Element = V::Element>,
    >(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> (K, V)),
        b: (J, impl FnOnce(J::Exprs) -> (L, W)),
        order: SortOrder,
    ) -> Result<(Buffer<Self, K::Element>, Buffer<Self, V::Element>)> {
        let sides = pairs::<Self, K::Element, V::Element, _, _, _, _>(self, a, b)?;
        both_sorted(self, &sides, K::Element::DTYPE, order)?;
        let n = sides[0].len() + sides[1].len();
        let (keys, values) = (self.buffer(n)?, self.buffer(n)?);
        lazy::merge(self, sides, order, (&keys, Some(&values)))?;
        Ok((keys, values))
    }

    /// As [`CheckedMerge::merge_pairs_checked_from`], into the caller's buffers, which stay as they were where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(b"....")?, dev.upload(&[7u32; 4])?);
    /// // Bytes: 0 and 200, and 100 and 44.
    /// let side = |first: u32| (counting(2), move |i: Expr<u32>| ((i * 200 + first).store_as::<u8>(), i));
    /// let error = dev.merge_pairs_checked_from_into(side(0), side(100), SortOrder::Ascending, (&keys, &values)).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the second input", index: 1, .. }));
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (b"....".to_vec(), vec![7; 4]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMerge::merge_checked_from_into`].
    fn merge_pairs_checked_from_into<
        I: Input<Self>,
        J: Input<Self>,
        K: Stored,
        V: Stored,
        L: Stored<Element = K::Element>,
        W: Stored<Element = V::Element>,
    >(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> (K, V)),
        b: (J, impl FnOnce(J::Exprs) -> (L, W)),
        order: SortOrder,
        out: Pairs<'_, Self, K::Element, V::Element>,
    ) -> Result<()> {
        let sides = pairs::<Self, K::Element, V::Element, _, _, _, _>(self, a, b)?;
        both_sorted(self, &sides, K::Element::DTYPE, order)?;
        lazy::merge(self, sides, order, (out.0, Some(out.1)))
    }
}
impl<B: Merge> CheckedMerge for B {}

fn both_sorted<B: Run<ReduceTask> + Run<MapTask>>(device: &B, [a, b]: &[Side<B>; 2], dtype: DType, order: SortOrder) -> Result<()> {
    a.check_sorted(device, "the first input", dtype, order)?;
    b.check_sorted(device, "the second input", dtype, order)
}
