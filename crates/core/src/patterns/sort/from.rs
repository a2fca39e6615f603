//! Sorts of what is computed: evaluated once, where it is then sorted.

use super::call::bits_of;
use super::{Computed, Payload, SortBy, SortTask, sorted};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::input::{Input, Outputs, Stored, index, scalar};
use crate::ir::Expr;
use crate::patterns::before::Neighbours;
use crate::patterns::{MapTask, ReduceTask};

/// [Sorts](super::Sort) of keys, and values, that an operator computes of inputs: what is counted, constant, zipped, permuted, reversed, or computed.
///
/// The order is [`Sort`](super::Sort#order)'s, of what a [map](crate::patterns::Map) would store: a NaN is the canonical one, and keys may be stored as
/// `f16` or integers of 8 or 16 bits ([`Expr::store_as`](crate::ir::Expr::store_as)).
///
/// A sort goes over its keys once for every digit, and its result needs their memory, so the operator is evaluated once, straight into the outputs, and
/// sorted there: a write and a read of keys and what travels more than a sort that computed nothing. Scratch is that of a sort in place; an argsort's
/// keys lie where other argsorts have theirs between the passes. No output may overlap an input. Arrays have less than 2^32 elements.
pub trait SortFrom: Run<SortTask> + Run<MapTask> {
    /// `f` of the inputs, in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[3.0f32, -1.0, 2.0])?, dev.upload(&[1.0f32, 5.0, 0.0])?);
    /// assert_eq!(dev.sort_from((&x, &y), |(x, y)| x * y, SortOrder::Ascending)?.read_blocking()?, [-5.0, 0.0, 3.0]);
    /// let bytes = dev.sort_from(counting(4), |i| (i * 100).store_as::<u8>(), SortOrder::Descending)?; // 0, 100, 200, 44
    /// assert_eq!(bytes.read_blocking()?, [200, 100, 44, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::sort`](super::Sort::sort) and [`Map::map`](crate::patterns::Map::map).
    fn sort_from<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        by: impl Into<SortBy>,
    ) -> Result<Buffer<Self, K>> {
        let of = Computed::new(self, &inputs, f)?;
        let out = self.buffer(of.n)?;
        of.sort::<K, R>(self, by, &out, None, None)?;
        Ok(out)
    }

    /// As [`SortFrom::sort_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.upload(&[7u32; 6])?;
    /// dev.sort_from_into(counting(5), |i| (i * 3) % 5, SortOrder::Ascending, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 1, 2, 3, 4, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_from`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing), [`Error::WrongDevice`](crate::Error::WrongDevice).
    fn sort_from_into<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        by: impl Into<SortBy>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        let of = Computed::new(self, &inputs, f)?;
        of.sort::<K, R>(self, by, out, None, None)
    }

    /// As [`SortFrom::sort_from_into`], with memory for the passes between: see [`Sort::sort_with`](super::Sort::sort_with).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, lent, out) = (dev.upload(&[3i32, -4, 1])?, dev.buffer(3)?, dev.buffer(3)?);
    /// dev.sort_from_with(&x, |x| x.abs(), SortOrder::Ascending, &lent, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 3, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_from_into`].
    fn sort_from_with<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        by: impl Into<SortBy>,
        lent: &Buffer<Self, K>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        let of = Computed::new(self, &inputs, f)?;
        of.sort::<K, R>(self, by, out, Some(lent), None)
    }

    /// The keys and values that `f` gives of the inputs, the keys in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.5f32, -2.0, 1.0])?;
    /// // By distance from one, the elements from the last to the first.
    /// let (distances, x) = dev.sort_pairs_from(&x.reversed(), |x| ((x - 1.0).abs(), x), SortOrder::Ascending)?;
    /// assert_eq!((distances.read_blocking()?, x.read_blocking()?), (vec![0.0, 0.5, 3.0], vec![1.0, 0.5, -2.0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_from`].
    fn sort_pairs_from<I: Input<Self>, K: Element, V: Payload, R: Outputs<Buffers<Self> = Keyed<Self, K, V>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        by: impl Into<SortBy>,
    ) -> Result<Keyed<Self, K, V>> {
        let of = Computed::new(self, &inputs, f)?;
        let out = (self.buffer(of.n)?, self.buffer(of.n)?);
        of.sort_pairs::<K, V, R>(self, by, (&out.0, &out.1), None, None)?;
        Ok(out)
    }

    /// As [`SortFrom::sort_pairs_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (k, v) = (dev.buffer(3)?, dev.buffer(3)?);
    /// dev.sort_pairs_from_into(counting(3), |i| (i, i * i), SortOrder::Descending, (&k, &v))?;
    /// assert_eq!(v.read_blocking()?, [4, 1, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_from_into`].
    fn sort_pairs_from_into<I: Input<Self>, K: Element, V: Payload, R: Outputs<Buffers<Self> = Keyed<Self, K, V>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()> {
        let of = Computed::new(self, &inputs, f)?;
        of.sort_pairs::<K, V, R>(self, by, out, None, None)
    }

    /// As [`SortFrom::sort_pairs_from_into`], with memory for the passes between: see [`Sort::sort_with`](super::Sort::sort_with).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (lent, out) = ((dev.buffer(3)?, dev.buffer(3)?), (dev.buffer(3)?, dev.buffer(3)?));
    /// dev.sort_pairs_from_with(counting(3), |i| ((i * 2) % 3, i), SortOrder::Ascending, (&lent.0, &lent.1), (&out.0, &out.1))?;
    /// assert_eq!(out.1.read_blocking()?, [0, 2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_from_into`].
    fn sort_pairs_from_with<I: Input<Self>, K: Element, V: Payload, R: Outputs<Buffers<Self> = Keyed<Self, K, V>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        by: impl Into<SortBy>,
        lent: (&Buffer<Self, K>, &Buffer<Self, V>),
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()> {
        let of = Computed::new(self, &inputs, f)?;
        of.sort_pairs::<K, V, R>(self, by, out, Some(lent), None)
    }

    /// The indices of `f` of the inputs in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, order) = (dev.upload(&[30u32, 10, 20])?, dev.upload(&[2u32, 2, 0, 1])?);
    /// assert_eq!(dev.argsort_from(permuted(&x, &order), |x| x, SortOrder::Descending)?.read_blocking()?, [2, 0, 1, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_from`].
    fn argsort_from<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        by: impl Into<SortBy>,
    ) -> Result<Buffer<Self, u32>> {
        Ok(self.sort_with_indices_from(inputs, f, by)?.1)
    }

    /// As [`SortFrom::argsort_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[-3i64, 1, 2])?, dev.buffer(3)?);
    /// dev.argsort_from_into(&x, |x| x * x, SortOrder::Ascending, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 2, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_from_into`].
    fn argsort_from_into<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        by: impl Into<SortBy>,
        out: &Buffer<Self, u32>,
    ) -> Result<()> {
        let of = Computed::new(self, &(inputs, index()), |(x, i)| (f(x), i))?;
        let keys = self.buffer(of.n)?;
        of.sort_pairs::<K, u32, (R, Expr<u32>)>(self, by, (&keys, out), None, None)
    }

    /// `f` of the inputs in order, and the indices that it had.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.5f64, -2.0, 1.0])?;
    /// let (sorted, places) = dev.sort_with_indices_from(&x, |x| x.abs(), SortOrder::Ascending)?;
    /// assert_eq!((sorted.read_blocking()?, places.read_blocking()?), (vec![0.5, 1.0, 2.0], vec![0, 2, 1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_from`].
    fn sort_with_indices_from<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        by: impl Into<SortBy>,
    ) -> Result<Keyed<Self, K, u32>> {
        let of = Computed::new(self, &(inputs, index()), |(x, i)| (f(x), i))?;
        let out = (self.buffer(of.n)?, self.buffer(of.n)?);
        of.sort_pairs::<K, u32, (R, Expr<u32>)>(self, by, (&out.0, &out.1), None, None)?;
        Ok(out)
    }

    /// As [`SortFrom::sort_with_indices_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, places) = (dev.buffer(3)?, dev.buffer(3)?);
    /// dev.sort_with_indices_from_into(counting(3), |i| i ^ 1, SortOrder::Ascending, (&keys, &places))?;
    /// assert_eq!((keys.read_blocking()?, places.read_blocking()?), (vec![0, 1, 3], vec![1, 0, 2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_from_into`].
    fn sort_with_indices_from_into<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, u32>),
    ) -> Result<()> {
        let of = Computed::new(self, &(inputs, index()), |(x, i)| (f(x), i))?;
        of.sort_pairs::<K, u32, (R, Expr<u32>)>(self, by, out, None, None)
    }

    /// `f` of the inputs, every row of `n` in order by itself.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// assert_eq!(dev.sort_rows_from(counting(6), |i| (i * 5) % 7, 3, SortOrder::Ascending)?.read_blocking()?, [0, 3, 5, 1, 4, 6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_from`] and [`Sort::sort_rows`](super::Sort::sort_rows).
    fn sort_rows_from<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        n: u64,
        by: impl Into<SortBy>,
    ) -> Result<Buffer<Self, K>> {
        let of = Computed::new(self, &inputs, f)?;
        let out = self.buffer(of.n)?;
        of.sort::<K, R>(self, by, &out, None, Some(n))?;
        Ok(out)
    }

    /// As [`SortFrom::sort_rows_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1i32, 4, -3, 2])?, dev.upload(&[9i32; 5])?);
    /// dev.sort_rows_from_into(&x, |x| x * x, 2, SortOrder::Descending, &out)?;
    /// assert_eq!(out.read_blocking()?, [16, 1, 9, 4, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_rows_from`] and [`SortFrom::sort_from_into`].
    fn sort_rows_from_into<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        n: u64,
        by: impl Into<SortBy>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        let of = Computed::new(self, &inputs, f)?;
        of.sort::<K, R>(self, by, out, None, Some(n))
    }

    /// The indices, within its row, of every row of `n` of `f` of the inputs in order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// assert_eq!(dev.argsort_rows_from(counting(6), |i| (i * 5) % 7, 3, SortOrder::Ascending)?.read_blocking()?, [0, 2, 1, 0, 2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortFrom::sort_rows_from`].
    fn argsort_rows_from<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        n: u64,
        by: impl Into<SortBy>,
    ) -> Result<Buffer<Self, u32>> {
        // Rows that are longer than all keys are none.
        let row = scalar(n.min(u32::MAX.into()) as u32);
        let of = Computed::new(self, &(inputs, index(), row), |(x, i, n)| (f(x), i % n))?;
        let out = (self.buffer::<K>(of.n)?, self.buffer(of.n)?);
        of.sort_pairs::<K, u32, (R, Expr<u32>)>(self, by, (&out.0, &out.1), None, Some(n))?;
        Ok(out.1)
    }

    /// 1 where `f` of the inputs is in order, as it would be stored, else 0. It never lies in memory: it is computed for an element and for the one
    /// before, which is fetched from arrays and views, of at most 2^32 elements from the first to the last.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[-3.0f32, 2.0, -1.0])?;
    /// assert_eq!(dev.is_sorted_from(&x, |x| x * x, SortOrder::Descending)?.read_blocking()?, 1);
    /// assert_eq!(dev.is_sorted_from(&x.reversed(), |x| x, SortOrder::Ascending)?.read_blocking()?, 0);
    /// // 0, 100, 200, 44: a byte keeps the low eight bits.
    /// assert_eq!(dev.is_sorted_from(counting(4), |i| (i * 100).store_as::<u8>(), SortOrder::Ascending)?.read_blocking()?, 0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sort::is_sorted`](super::Sort::is_sorted), and [`Error::LengthMismatch`](crate::Error::LengthMismatch), [`Error::Op`](crate::Error::Op).
    fn is_sorted_from<I: Input<Self>, R: Stored>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        by: impl Into<SortBy>,
    ) -> Result<DeviceScalar<Self, u32>>
    where
        Self: Run<ReduceTask>,
    {
        let by = by.into();
        bits_of(R::Element::DTYPE, &by)?;
        sorted::is_sorted_from(self, Neighbours::new(self, "is_sorted", &inputs, f)?, R::Element::DTYPE, &by)
    }

    /// Fails where `f` of the inputs is not in order, as it would be stored, naming the first element that comes before its left neighbour. Waits for
    /// the device. Computed as in [`SortFrom::is_sorted_from`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1i32, -2, 3, -1])?;
    /// let error = dev.check_sorted_from(&x, |x| x.abs(), SortOrder::Ascending).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { index: 3, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotSorted`](crate::Error::NotSorted), and as [`SortFrom::is_sorted_from`].
    fn check_sorted_from<I: Input<Self>, R: Stored>(&self, inputs: I, f: impl FnOnce(I::Exprs) -> R, by: impl Into<SortBy>) -> Result<()>
    where
        Self: Run<ReduceTask>,
    {
        let by = by.into();
        bits_of(R::Element::DTYPE, &by)?;
        let found = Neighbours::new(self, "check_sorted", &inputs, f)?;
        sorted::check_sorted_from(self, ("check_sorted", "the input"), found, R::Element::DTYPE, &by)
    }
}
impl<B: Run<SortTask> + Run<MapTask>> SortFrom for B {}

/// Keys, and what travels with them.
pub type Keyed<B, K, V> = (Buffer<B, K>, Buffer<B, V>);
