//! P07 top-k of what is computed.

use super::computed::Computed;
use super::top_k::check_outputs;
use super::top_k_rows::check_matrix;
use super::{Keyed, SortBy, SortTask, TopK, TopKRows};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{Input, Outputs};
use crate::patterns::{MapTask, check_aliasing};

/// The [first keys in order](TopK) of what an operator computes of inputs: what is counted, constant, zipped, permuted, reversed, or computed.
///
/// The result is [`TopK`]'s, of what a [map](crate::patterns::Map) would store. The operator is evaluated once into memory that is taken for it, since
/// keys are read again where a sample misled and where the first ones are fetched: scratch is the size of all keys more than that of [`TopK`], and they
/// are written and read once more. No output may overlap an input.
pub trait TopKFrom: TopK + Run<SortTask> + Run<MapTask> {
    /// The first `k` of `f` of the inputs in order and where they were: the greatest, where the order is descending.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[3.0f32, 0.0, 1.0])?, dev.upload(&[4.0f32, 2.0, 1.0])?);
    /// // The two points that are farthest away.
    /// let (far, places) = dev.top_k_from((&x, &y), |(x, y)| x * x + y * y, 2, SortOrder::Descending)?;
    /// assert_eq!((far.read_blocking()?, places.read_blocking()?), (vec![25.0, 4.0], vec![0, 1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopK::top_k`] and [`Map::map`](crate::patterns::Map::map).
    fn top_k_from<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        k: u64,
        by: impl Into<SortBy>,
    ) -> Result<Keyed<Self, K, u32>> {
        self.top_k(&keys::<Self, K, R>(self, Computed::new(self, &inputs, f)?, k, (None, None))?, k, by)
    }

    /// As [`TopKFrom::top_k_from`], into the caller's buffers. What lies behind the first `k` elements of them stays as it was.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (first, places) = (dev.buffer(2)?, dev.buffer(2)?);
    /// dev.top_k_from_into(counting(10), |i| (i * 7) % 10, 2, SortOrder::Ascending, (&first, &places))?;
    /// assert_eq!((first.read_blocking()?, places.read_blocking()?), (vec![0, 1], vec![0, 3]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopKFrom::top_k_from`] and [`TopK::top_k_into`].
    fn top_k_from_into<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        k: u64,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, u32>),
    ) -> Result<()> {
        let keys = keys::<Self, K, R>(self, Computed::new(self, &inputs, f)?, k, (Some(out.0), Some(out.1)))?;
        self.top_k_into(&keys, k, by, out)
    }

    /// The first `k` of `f` of the inputs in order, without where they were.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3i64, -9, 2])?;
    /// assert_eq!(dev.top_k_keys_from(&x.reversed(), |x| x.abs(), 2, SortOrder::Descending)?.read_blocking()?, [9, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopKFrom::top_k_from`].
    fn top_k_keys_from<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        k: u64,
        by: impl Into<SortBy>,
    ) -> Result<Buffer<Self, K>> {
        self.top_k_keys(&keys::<Self, K, R>(self, Computed::new(self, &inputs, f)?, k, (None, None))?, k, by)
    }

    /// As [`TopKFrom::top_k_keys_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.upload(&[7u32; 3])?;
    /// dev.top_k_keys_from_into(counting(9), |i| i ^ 5, 2, SortOrder::Descending, &out)?;
    /// assert_eq!(out.read_blocking()?, [13, 7, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopKFrom::top_k_from_into`].
    fn top_k_keys_from_into<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        k: u64,
        by: impl Into<SortBy>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        let keys = keys::<Self, K, R>(self, Computed::new(self, &inputs, f)?, k, (Some(out), None))?;
        self.top_k_keys_into(&keys, k, by, out)
    }

    /// The first `k` of `f` of the inputs in every row of `n`, and where they were in it: see [`TopKRows`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Two rows: 0, 7, 4, 1 and 8, 5, 2, 9.
    /// let (best, places) = dev.top_k_rows_from(counting(8), |i| (i * 7) % 10, 4, 2, SortOrder::Descending)?;
    /// assert_eq!((best.read_blocking()?, places.read_blocking()?), (vec![7, 4, 9, 8], vec![1, 2, 3, 0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopKRows::top_k_rows`] and [`Map::map`](crate::patterns::Map::map).
    fn top_k_rows_from<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        n: u64,
        k: u64,
        by: impl Into<SortBy>,
    ) -> Result<Keyed<Self, K, u32>>
    where
        Self: TopKRows,
    {
        let (of, by) = (Computed::new(self, &inputs, f)?, by.into());
        let results = check_matrix::<Self, K>(self, of.n, (n, k), &by)?;
        let out = (self.buffer(results)?, self.buffer(results)?);
        let keys = stored::<Self, K, R>(self, of, results, (Some(&out.0), Some(&out.1)))?;
        self.top_k_rows_into(&keys, n, k, by, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`TopKFrom::top_k_rows_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, first, places) = (dev.upload(&[3i32, -5, 1, 2])?, dev.buffer(2)?, dev.buffer(2)?);
    /// dev.top_k_rows_from_into(&x, |x| x.abs(), 2, 1, SortOrder::Descending, (&first, &places))?;
    /// assert_eq!((first.read_blocking()?, places.read_blocking()?), (vec![5, 2], vec![1, 1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopKFrom::top_k_rows_from`] and [`TopKRows::top_k_rows_into`].
    fn top_k_rows_from_into<I: Input<Self>, K: Element, R: Outputs<Buffers<Self> = Buffer<Self, K>>>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        n: u64,
        k: u64,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, u32>),
    ) -> Result<()>
    where
        Self: TopKRows,
    {
        let (of, by) = (Computed::new(self, &inputs, f)?, by.into());
        let results = check_matrix::<Self, K>(self, of.n, (n, k), &by)?;
        let keys = stored::<Self, K, R>(self, of, results, (Some(out.0), Some(out.1)))?;
        self.top_k_rows_into(&keys, n, k, by, out)
    }
}
impl<B: TopK + Run<SortTask> + Run<MapTask>> TopKFrom for B {}

/// The keys, once what can be checked without them was.
fn keys<B: Run<MapTask>, K: Element, R: Outputs<Buffers<B> = Buffer<B, K>>>(
    device: &B,
    of: Computed<B>,
    k: u64,
    (first, places): (Option<&Buffer<B, K>>, Option<&Buffer<B, u32>>),
) -> Result<Buffer<B, K>> {
    if k > of.n {
        return Err(Error::TooLarge { what: "k of a top-k, by the number of keys", requested: k, limit: of.n });
    }
    stored::<B, K, R>(device, of, k, (first, places))
}

/// The keys, in memory that is taken for them, once outputs for so many results were checked.
fn stored<B: Run<MapTask>, K: Element, R: Outputs<Buffers<B> = Buffer<B, K>>>(
    device: &B,
    of: Computed<B>,
    results: u64,
    (first, places): (Option<&Buffer<B, K>>, Option<&Buffer<B, u32>>),
) -> Result<Buffer<B, K>> {
    let keys = R::allocate(device, of.n)?;
    check_outputs(device, &keys, results, first, places)?;
    let outs: Vec<_> = first.map(Buffer::out).into_iter().chain(places.map(Buffer::out)).map(|out| (out, results)).collect();
    check_aliasing("top_k", &of.c.leaves, of.n, &outs, false)?;
    of.store::<R>(device, R::refs(&keys))?;
    Ok(keys)
}
