//! P08 merge: two sorted arrays become one, and what is found in sorted arrays.

mod call;
mod checked;
mod lazy;
mod lazy_sets;
mod search;
mod sets;
mod task;

pub use checked::CheckedMerge;
pub use lazy::{CoRankFromTask, MergeFromTask, SearchFromTask, Sides};
pub use search::{Search, SearchCall, SearchDomain};
pub(super) use sets::Kept;
pub use sets::{SetCall, SetDomain, Sets};
pub use task::{CoRankTask, MergePlaces, MergeTask, Place, SearchKind, SearchTask, co_rank};

use super::select::Count;
use super::sort::{SortOrder, check_sorted};
use super::{MapTask, ReduceTask};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::input::{Input, Stored};
use crate::ir::Traced;
pub(super) use call::merge_by;
use call::{co_ranks, merge};
use lazy::Side;

/// Keys, and the values that travel with them.
pub type Pairs<'a, B, K, V> = (&'a Buffer<B, K>, &'a Buffer<B, V>);

/// Stable merges of sorted arrays of every element type.
///
/// # Order
/// Keys compare as in a [sort](super::Sort#order): integers by value, floats in IEEE 754's total order, every bit kept. Of equal keys those of `a` go
/// first, and each array's own keep their order, so there is one result: that of a stable sort of `a` followed by `b`.
///
/// Both arrays have to be sorted in the order that is asked for. Where one is not, what the result holds is not
/// determined, and no access leaves a buffer; the `_checked` forms, of which [`CheckedMerge`] has those of pairs and of inputs, wait for the device and
/// return [`Error::NotSorted`](crate::Error::NotSorted) instead, having written nothing. Before co-ranks [`is_sorted`](super::Sort::is_sorted)
/// asks, as before [searches](Search).
///
/// The arrays may have any lengths, unequal ones and none too. Work O(m + n); scratch is eight bytes to a tile of some thousand elements. Through
/// wgpu, arrays above the binding limit are merged by searching every element's place, which takes O((m + n) log(m + n)) and four bytes an
/// element. Outputs may not overlap inputs.
///
/// The `_from` forms merge what operators make of any [inputs](crate::input::Source): views, counted numbers, constants, arrays that are fetched from,
/// several of these together. What they make is computed where it is read, once an element (some twenty pairs to a tile again, to find where it begins),
/// and lies in no memory. Through wgpu, inputs above the binding limit, and ones of more buffers than a kernel binds, are made into arrays first; so are
/// those of more than eight leaves on CUDA. Keys and values that an operator only passes on keep their bits (an `f16` that is NaN becomes the canonical
/// one); what it computes has canonical NaN.
///
/// Source: Green, McColl and Bader, *GPU merge path: a GPU merging algorithm* (2012); Siebert and Träff, *Efficient MPI implementation of a
/// parallel, stable merge algorithm* (2012); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 12.
pub trait Merge: Run<MergeTask> + Run<MergeFromTask> + Run<CoRankTask> + Run<CoRankFromTask> + Run<ReduceTask> + Run<MapTask> {
    /// The elements of both arrays in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 7, 8, 9, 10])?, dev.upload(&[7u32, 10, 10, 12])?);
    /// assert_eq!(dev.merge(&a, &b, SortOrder::Ascending)?.read_blocking()?, [1, 7, 7, 8, 9, 10, 10, 10, 12]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice), [`Error::TooLarge`](crate::Error::TooLarge).
    fn merge<K: Element>(&self, a: &Buffer<Self, K>, b: &Buffer<Self, K>, order: SortOrder) -> Result<Buffer<Self, K>> {
        let out = self.buffer(a.len() + b.len())?;
        self.merge_into(a, b, order, &out)?;
        Ok(out)
    }

    /// As [`Merge::merge`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b, out) = (dev.upload(&[2.0f32, 0.0])?, dev.upload(&[9.0f32, -0.0])?, dev.buffer(4)?);
    /// dev.merge_into(&a, &b, SortOrder::Descending, &out)?;
    /// assert_eq!(out.read_blocking()?, [9.0, 2.0, 0.0, -0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    fn merge_into<K: Element>(&self, a: &Buffer<Self, K>, b: &Buffer<Self, K>, order: SortOrder, out: &Buffer<Self, K>) -> Result<()> {
        merge::<Self, K, K>(self, (a, None), (b, None), order, (out, None))
    }

    /// As [`Merge::merge`]; an array that is not sorted is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1i32, 2])?, dev.upload(&[3i32, 5, 4])?);
    /// let error = dev.merge_checked(&a, &b, SortOrder::Ascending).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the second array", index: 2, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge`], and [`Error::NotSorted`](crate::Error::NotSorted) with the first index whose key comes before its left neighbour.
    fn merge_checked<K: Element>(&self, a: &Buffer<Self, K>, b: &Buffer<Self, K>, order: SortOrder) -> Result<Buffer<Self, K>> {
        let out = self.buffer(a.len() + b.len())?;
        self.merge_checked_into(a, b, order, &out)?;
        Ok(out)
    }

    /// As [`Merge::merge_checked`], into the caller's buffer, which stays as it was where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b, out) = (dev.upload(&[2u8, 1])?, dev.upload(&[3u8])?, dev.upload(b"...")?);
    /// assert!(dev.merge_checked_into(&a, &b, SortOrder::Ascending, &out).is_err());
    /// assert_eq!(out.read_blocking()?, *b"...");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge_checked`] and [`Merge::merge_into`].
    fn merge_checked_into<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        check_sorted(self, "merge", "the first array", a, &order.into())?;
        check_sorted(self, "merge", "the second array", b, &order.into())?;
        self.merge_into(a, b, order, out)
    }

    /// The keys of both arrays in order, and the values that travel with them.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, v) = (dev.upload(&[1u64, 7, 7])?, dev.upload(b"abc")?);
    /// let (b, w) = (dev.upload(&[7u64, 9])?, dev.upload(b"de")?);
    /// let (keys, values) = dev.merge_pairs((&a, &v), (&b, &w), SortOrder::Ascending)?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![1, 7, 7, 7, 9], b"abcde".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge`], and [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn merge_pairs<K: Element, V: Element>(
        &self,
        a: Pairs<'_, Self, K, V>,
        b: Pairs<'_, Self, K, V>,
        order: SortOrder,
    ) -> Result<(Buffer<Self, K>, Buffer<Self, V>)> {
        let n = a.0.len() + b.0.len();
        let out = (self.buffer(n)?, self.buffer(n)?);
        self.merge_pairs_into(a, b, order, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`Merge::merge_pairs`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, v) = (dev.upload(&[0.5f32])?, dev.upload(&[10i64])?);
    /// let (b, w) = (dev.upload(&[0.25f32])?, dev.upload(&[20i64])?);
    /// let (keys, values) = (dev.buffer(2)?, dev.buffer(2)?);
    /// dev.merge_pairs_into((&a, &v), (&b, &w), SortOrder::Ascending, (&keys, &values))?;
    /// assert_eq!(values.read_blocking()?, [20, 10]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge_pairs`] and [`Merge::merge_into`].
    fn merge_pairs_into<K: Element, V: Element>(
        &self,
        a: Pairs<'_, Self, K, V>,
        b: Pairs<'_, Self, K, V>,
        order: SortOrder,
        out: Pairs<'_, Self, K, V>,
    ) -> Result<()> {
        merge(self, (a.0, Some(a.1)), (b.0, Some(b.1)), order, (out.0, Some(out.1)))
    }

    /// What `f` makes of the inputs of `a`, and `g` of those of `b`, in order: as [`Merge::merge`] of arrays that nobody stores. Either may give a
    /// number or one [stored as](crate::ir::Expr::store_as) a narrower element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // The even numbers below ten, and the squares of an array.
    /// let x = dev.upload(&[1u32, 2, 4])?;
    /// let merged = dev.merge_from((counting(5), |i| i * 2), (&x, |x| x * x), SortOrder::Ascending)?;
    /// assert_eq!(merged.read_blocking()?, [0, 1, 2, 4, 4, 6, 8, 16]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge`], [`Error::Op`](crate::Error::Op), [`Error::LengthMismatch`](crate::Error::LengthMismatch) for inputs of one side that have
    /// different lengths.
    fn merge_from<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
    ) -> Result<Buffer<Self, K::Element>> {
        let sides = sides::<Self, K::Element, _, _, _, _>(self, a, b)?;
        let out = self.buffer(sides[0].len() + sides[1].len())?;
        lazy::merge::<Self, K::Element, K::Element>(self, sides, order, (&out, None))?;
        Ok(out)
    }

    /// As [`Merge::merge_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // An array that falls, read from its end, and a constant.
    /// let (x, out) = (dev.upload(&[9i32, 5, 1])?, dev.buffer(5)?);
    /// dev.merge_from_into((&x.reversed(), |x| x), ((counting(2), scalar(6i32)), |(_, k)| k), SortOrder::Ascending, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 5, 6, 6, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge_from`] and [`Merge::merge_into`]: an output that an input reads is one, too.
    fn merge_from_into<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
        out: &Buffer<Self, K::Element>,
    ) -> Result<()> {
        lazy::merge::<Self, K::Element, K::Element>(self, sides::<Self, K::Element, _, _, _, _>(self, a, b)?, order, (out, None))
    }

    /// As [`Merge::merge_from`] of keys and values: the operators give both. Values are computed where they are stored.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Keys without values get their places.
    /// let (x, y) = (dev.upload(&[0.25f32, 0.5])?, dev.upload(&[0.375f32])?);
    /// let (keys, places) = dev.merge_pairs_from(((&x, index()), |x| x), ((&y, index()), |(y, i)| (y, i + 100)), SortOrder::Ascending)?;
    /// assert_eq!((keys.read_blocking()?, places.read_blocking()?), (vec![0.25, 0.375, 0.5], vec![0, 100, 1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge_from`].
    fn merge_pairs_from<
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
        let n = sides[0].len() + sides[1].len();
        let (keys, values) = (self.buffer(n)?, self.buffer(n)?);
        lazy::merge(self, sides, order, (&keys, Some(&values)))?;
        Ok((keys, values))
    }

    /// As [`Merge::merge_pairs_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.buffer(5)?, dev.buffer(5)?);
    /// let side = |step: u32, name: u32| (counting(u64::from(5 - step)), move |i: Expr<u32>| (i * step, lit(name).store_as::<u8>()));
    /// dev.merge_pairs_from_into(side(3, 97), side(2, 98), SortOrder::Ascending, (&keys, &values))?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![0, 0, 2, 3, 4], b"abbab".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge_from_into`].
    fn merge_pairs_from_into<
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
        lazy::merge(self, pairs::<Self, K::Element, V::Element, _, _, _, _>(self, a, b)?, order, (out.0, Some(out.1)))
    }

    /// For each rank `k` how many of the first `k` merged keys are of `a`; the other `k - i` are of `b`. So a merge can be cut into parts of known
    /// lengths: for other kernels, other devices, or memory that does not hold all of it. On the host: [`co_rank`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 7, 8, 9, 10])?, dev.upload(&[7u32, 10, 10, 12])?);
    /// let cuts = dev.upload(&[0u32, 3, 6, 9])?;
    /// assert_eq!(dev.co_ranks(&a, &b, SortOrder::Ascending, &cuts)?.read_blocking()?, [0, 2, 5, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::merge`]; [`Error::TooLarge`](crate::Error::TooLarge) for ranks of `u32` where there may be higher ones, and through wgpu for arrays
    /// above the binding limit.
    fn co_ranks<K: Element, P: Count>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
        ranks: &Buffer<Self, P>,
    ) -> Result<Buffer<Self, P>> {
        let out = self.buffer(ranks.len())?;
        self.co_ranks_into(a, b, order, ranks, &out)?;
        Ok(out)
    }

    /// As [`Merge::co_ranks`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[9i32, 4])?, dev.upload(&[5i32])?);
    /// let (cuts, out) = (dev.upload(&[1u64, 2])?, dev.buffer(2)?);
    /// dev.co_ranks_into(&a, &b, SortOrder::Descending, &cuts, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::co_ranks`] and [`Merge::merge_into`].
    fn co_ranks_into<K: Element, P: Count>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
        ranks: &Buffer<Self, P>,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        co_ranks(self, a, b, order, ranks, out)
    }

    /// As [`Merge::co_ranks`] of what `f` makes of the inputs of `a`, and `g` of those of `b`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Of the even and the odd numbers, half of each begin the merge.
    /// let cuts = dev.upload(&[0u32, 10, 20])?;
    /// let of_even = dev.co_ranks_from((counting(10), |i| i * 2), (counting(10), |i| i * 2 + 1), SortOrder::Ascending, &cuts)?;
    /// assert_eq!(of_even.read_blocking()?, [0, 5, 10]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::co_ranks`] and [`Merge::merge_from`].
    fn co_ranks_from<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>, P: Count>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
        ranks: &Buffer<Self, P>,
    ) -> Result<Buffer<Self, P>> {
        let out = self.buffer(ranks.len())?;
        self.co_ranks_from_into(a, b, order, ranks, &out)?;
        Ok(out)
    }

    /// As [`Merge::co_ranks_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, cuts, out) = (dev.upload(&[2i64, 4, 6])?, dev.upload(&[3u64])?, dev.buffer(1)?);
    /// dev.co_ranks_from_into((&x, |x| x), (&x, |x| x + 1), SortOrder::Ascending, &cuts, &out)?;
    /// assert_eq!(out.read_blocking()?, [2]); // 2, 3, 4
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Merge::co_ranks_from`] and [`Merge::merge_into`].
    fn co_ranks_from_into<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>, P: Count>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
        ranks: &Buffer<Self, P>,
        out: &Buffer<Self, P>,
    ) -> Result<()> {
        let types = [K::Element::DTYPE];
        let sides = [Side::new(self, "co_ranks", a, &types)?, Side::new(self, "co_ranks", b, &types)?];
        lazy::co_ranks::<Self, K::Element, P>(self, sides, order, ranks, out)
    }
}

/// Both inputs of a merge of keys.
fn sides<B: Backend, K: Element, I: Input<B>, J: Input<B>, R: Stored, S: Stored>(
    device: &B,
    a: (I, impl FnOnce(I::Exprs) -> R),
    b: (J, impl FnOnce(J::Exprs) -> S),
) -> Result<[Side<B>; 2]> {
    Ok([Side::new(device, "merge", a, &[K::DTYPE])?, Side::new(device, "merge", b, &[K::DTYPE])?])
}

/// Both inputs of a merge of pairs.
fn pairs<B: Backend, K: Element, V: Element, I: Input<B>, J: Input<B>, R: Traced, S: Traced>(
    device: &B,
    a: (I, impl FnOnce(I::Exprs) -> R),
    b: (J, impl FnOnce(J::Exprs) -> S),
) -> Result<[Side<B>; 2]> {
    let types = [K::DTYPE, V::DTYPE];
    Ok([Side::new(device, "merge", a, &types)?, Side::new(device, "merge", b, &types)?])
}
impl<B: Run<MergeTask> + Run<MergeFromTask> + Run<CoRankTask> + Run<CoRankFromTask> + Run<ReduceTask> + Run<MapTask>> Merge for B {}
