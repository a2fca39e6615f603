//! P07 sort: stable, by the bits of the keys.

use super::sort_task::{SortBy, SortPayload, SortTask};
use super::{MapTask, Reduce as _, ReduceTask, check_aliasing};
use crate::backend::{Backend, Leaf, Out, Run};
use crate::buffer::{Buffer, DeviceScalar, Memory};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{array, index, require};
use crate::ir::{ArrayExpr, Expr, select};
use crate::ops::Min;

/// Elements that travel with keys: those of four and eight bytes. What is wider, or narrower, is fetched by the indices of an
/// [argsort](Sort::argsort).
pub trait Payload: Element {}
impl Payload for f32 {}
impl Payload for i32 {}
impl Payload for u32 {}
impl Payload for f64 {}
impl Payload for i64 {}
impl Payload for u64 {}

/// Stable sorts of every element type.
///
/// # Order
/// Integers compare by value. Floats compare in IEEE 754's total order, -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN, NaNs by their payload; every
/// bit of a key is kept. Equal keys keep their order, ascending and descending alike, so there is one result: it depends on no tile, digit or
/// device. With a range of [bits](SortBy::bits), keys are equal that agree in it.
///
/// Work O(n * bits), in passes of up to eight bits over keys and payload; scratch is the size of keys and payload, less where it is lent. Arrays have
/// less than 2^32 elements. Outputs may not overlap inputs; the forms in place have none.
///
/// Source: Satish, Harris and Garland, *Designing efficient sorting algorithms for manycore GPUs* (2009); Adinets and Merrill, *Onesweep: a faster
/// least significant digit radix sort for GPUs* (2022); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 13.
pub trait Sort: Run<SortTask> {
    /// The keys in order.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::TooLarge`]; [`Error::InvalidArgument`] for bits that the type does not have.
    fn sort<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>) -> Result<Buffer<Self, K>> {
        let out = self.buffer(keys.len())?;
        self.sort_into(keys, by, &out)?;
        Ok(out)
    }

    /// As [`Sort::sort`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Sort::sort`], and [`Error::BufferTooSmall`], [`Error::Aliasing`], [`Error::WrongDevice`].
    fn sort_into<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>, out: &Buffer<Self, K>) -> Result<()> {
        Call::new(self, keys, by)?.keys_to(out)?.run(keys.len())
    }

    /// As [`Sort::sort`], where the keys lie.
    ///
    /// # Errors
    /// As [`Sort::sort`].
    fn sort_in_place<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>) -> Result<()> {
        Call { in_place: true, ..Call::new(self, keys, by)? }.keys_to(keys)?.run(keys.len())
    }

    /// As [`Sort::sort_into`], with memory for the passes between: a double buffer, whose contents are undefined afterwards. Narrow keys (`u8`, `f16`) take
    /// memory of their own on some devices.
    ///
    /// # Errors
    /// As [`Sort::sort_into`].
    fn sort_with<K: Element>(
        &self,
        keys: &Buffer<Self, K>,
        by: impl Into<SortBy>,
        lent: &Buffer<Self, K>,
        out: &Buffer<Self, K>,
    ) -> Result<()> {
        Call::new(self, keys, by)?.keys_to(out)?.lends(lent)?.run(keys.len())
    }

    /// The keys in order, and the values that travel with them.
    ///
    /// # Errors
    /// As [`Sort::sort`], and [`Error::LengthMismatch`].
    fn sort_pairs<K: Element, V: Payload>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        by: impl Into<SortBy>,
    ) -> Result<(Buffer<Self, K>, Buffer<Self, V>)> {
        let out = (self.buffer(keys.len())?, self.buffer(keys.len())?);
        self.sort_pairs_into(keys, values, by, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`Sort::sort_pairs`], into the caller's buffers.
    ///
    /// # Errors
    /// As [`Sort::sort_into`], and [`Error::LengthMismatch`].
    fn sort_pairs_into<K: Element, V: Payload>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()> {
        Call::new(self, keys, by)?.values(values)?.keys_to(out.0)?.payload_to(out.1)?.run(keys.len())
    }

    /// As [`Sort::sort_pairs`], where keys and values lie.
    ///
    /// # Errors
    /// As [`Sort::sort_pairs`].
    fn sort_pairs_in_place<K: Element, V: Payload>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        by: impl Into<SortBy>,
    ) -> Result<()> {
        let call = Call { in_place: true, ..Call::new(self, keys, by)? };
        call.values(values)?.keys_to(keys)?.payload_to(values)?.run(keys.len())
    }

    /// As [`Sort::sort_pairs_into`], with memory for the passes between: see [`Sort::sort_with`].
    ///
    /// # Errors
    /// As [`Sort::sort_pairs_into`].
    fn sort_pairs_with<K: Element, V: Payload>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        by: impl Into<SortBy>,
        lent: (&Buffer<Self, K>, &Buffer<Self, V>),
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()> {
        Call::new(self, keys, by)?.values(values)?.keys_to(out.0)?.payload_to(out.1)?.lends(lent.0)?.lends(lent.1)?.run(keys.len())
    }

    /// The indices of the keys in order.
    ///
    /// # Errors
    /// As [`Sort::sort`].
    fn argsort<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(keys.len())?;
        self.argsort_into(keys, by, &out)?;
        Ok(out)
    }

    /// As [`Sort::argsort`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Sort::sort_into`].
    fn argsort_into<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>, out: &Buffer<Self, u32>) -> Result<()> {
        Call::new(self, keys, by)?.indices().payload_to(out)?.run(keys.len())
    }

    /// The keys in order, and where they were.
    ///
    /// # Errors
    /// As [`Sort::sort`].
    fn sort_with_indices<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>) -> Result<(Buffer<Self, K>, Buffer<Self, u32>)> {
        let out = (self.buffer(keys.len())?, self.buffer(keys.len())?);
        Call::new(self, keys, by)?.indices().keys_to(&out.0)?.payload_to(&out.1)?.run(keys.len())?;
        Ok(out)
    }

    /// The first `k` keys in order (of all, where there are fewer) and where they were: the greatest, where the order is descending.
    ///
    /// # Errors
    /// As [`Sort::sort`].
    fn top_k<K: Element>(&self, keys: &Buffer<Self, K>, k: u64, by: impl Into<SortBy>) -> Result<(Buffer<Self, K>, Buffer<Self, u32>)> {
        let (sorted, indices) = self.sort_with_indices(keys, by)?;
        let k = k.min(keys.len());
        Ok((sorted.slice(..k)?, indices.slice(..k)?))
    }

    /// Every row of `n` keys in order, by itself: a batch of sorts.
    ///
    /// # Errors
    /// As [`Sort::sort`]; [`Error::LengthMismatch`] unless the rows are whole.
    fn sort_rows<K: Element>(&self, keys: &Buffer<Self, K>, n: u64, by: impl Into<SortBy>) -> Result<Buffer<Self, K>> {
        let out = self.buffer(keys.len())?;
        self.sort_rows_into(keys, n, by, &out)?;
        Ok(out)
    }

    /// As [`Sort::sort_rows`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Sort::sort_rows`] and [`Sort::sort_into`].
    fn sort_rows_into<K: Element>(&self, keys: &Buffer<Self, K>, n: u64, by: impl Into<SortBy>, out: &Buffer<Self, K>) -> Result<()> {
        Call::new(self, keys, by)?.keys_to(out)?.run(n)
    }

    /// The indices, within its row, of every row of `n` keys in order.
    ///
    /// # Errors
    /// As [`Sort::sort_rows`].
    fn argsort_rows<K: Element>(&self, keys: &Buffer<Self, K>, n: u64, by: impl Into<SortBy>) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(keys.len())?;
        self.argsort_rows_into(keys, n, by, &out)?;
        Ok(out)
    }

    /// As [`Sort::argsort_rows`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Sort::sort_rows`] and [`Sort::sort_into`].
    fn argsort_rows_into<K: Element>(&self, keys: &Buffer<Self, K>, n: u64, by: impl Into<SortBy>, out: &Buffer<Self, u32>) -> Result<()> {
        Call::new(self, keys, by)?.indices().payload_to(out)?.run(n)
    }

    /// 1 where no key comes before its left neighbour, else 0.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::InvalidArgument`].
    fn is_sorted<K: Element>(&self, keys: &Buffer<Self, K>, by: impl Into<SortBy>) -> Result<DeviceScalar<Self, u32>>
    where
        Self: Run<ReduceTask> + Run<MapTask>,
    {
        let task = Call::new(self, keys, by)?.task;
        let (n, raw) = (keys.len(), keys.raw());
        if n < 2 {
            return self.upload_scalar(1);
        }
        let map = task.key_bits();
        let compared = low_bits(task.bits.end) ^ low_bits(task.bits.start);
        // The keys' words as they lie: nothing may convert a float.
        let ordered = |raw: &Self::Raw| -> Result<DeviceScalar<Self, u32>> {
            if map.width == 64 {
                let words = Buffer::<Self, u64>::from_raw(self, raw.clone(), keys.offset(), n)?;
                let mapped = |k: Expr<u64>| {
                    let negative = select((k >> 63).ne(0), Expr::from(map.negative), Expr::from(0));
                    (k ^ negative ^ map.flip) & compared
                };
                return self.reduce_range(
                    n - 1,
                    (array(&words), index()),
                    |(k, i)| mapped(k.at(i)).le(mapped(k.at(i + 1))).cast::<u32>(),
                    Min,
                );
            }
            let mapped = |k: Expr<u32>| {
                let negative = select((k >> (map.width - 1)).ne(0), Expr::from(map.negative as u32), Expr::from(0));
                (k ^ negative ^ map.flip as u32) & compared as u32
            };
            if map.width == 32 {
                let words = Buffer::<Self, u32>::from_raw(self, raw.clone(), keys.offset(), n)?;
                let fits = |(k, i): (ArrayExpr<u32>, Expr<u32>)| mapped(k.at(i)).le(mapped(k.at(i + 1))).cast::<u32>();
                return self.reduce_range(n - 1, (array(&words), index()), fits, Min);
            }
            let size = u64::from(map.width / 8);
            let bytes = Buffer::<Self, u8>::from_raw(self, raw.clone(), keys.offset() * size, n * size)?;
            let key = |k: ArrayExpr<u8>, i: Expr<u32>| if size == 1 { k.at(i) } else { k.at(i * 2) | (k.at(i * 2 + 1) << 8) };
            let fits = |(k, i): (ArrayExpr<u8>, Expr<u32>)| mapped(key(k, i)).le(mapped(key(k, i + 1))).cast::<u32>();
            self.reduce_range(n - 1, (array(&bytes), index()), fits, Min)
        };
        ordered(raw)
    }
}
impl<B: Run<SortTask>> Sort for B {}

/// The lowest bits.
const fn low_bits(count: u32) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (64 - count) }
}

/// A sort as it is put together.
struct Call<'a, B: Backend> {
    device: &'a B,
    task: SortTask,
    elements: u64,
    in_place: bool,
    leaves: Vec<Leaf<B::Raw>>,
    outs: Vec<(Out<B::Raw>, u64)>,
}

impl<'a, B: Run<SortTask>> Call<'a, B> {
    fn new<K: Element>(device: &'a B, keys: &Buffer<B, K>, by: impl Into<SortBy>) -> Result<Self> {
        require(device, "sort", K::DTYPE)?;
        let by = by.into();
        let width = 8 * K::DTYPE.size_bytes() as u32;
        let bits = by.bits.unwrap_or(0..width);
        if bits.start > bits.end || bits.end > width {
            return Err(Error::InvalidArgument {
                what: "bits",
                reason: format!("{bits:?} is no range of the {width} bits of {}", K::DTYPE),
            });
        }
        let task =
            SortTask { dtype: K::DTYPE, order: by.order, bits, rows: 1, n: 0, payload: SortPayload::Nothing, keys_out: false, lent: false };
        let call = Self { device, task, elements: keys.len(), in_place: false, leaves: vec![keys.leaf()], outs: Vec::new() };
        call.own(keys, "an input")
    }

    fn own<T: Element>(self, buffer: &Buffer<B, T>, what: &'static str) -> Result<Self> {
        if buffer.device().same_device(self.device) { Ok(self) } else { Err(Error::WrongDevice { what }) }
    }

    fn values<V: Payload>(mut self, values: &Buffer<B, V>) -> Result<Self> {
        require(self.device, "sort", V::DTYPE)?;
        if values.len() != self.elements {
            return Err(Error::LengthMismatch { what: "values", expected: self.elements, found: values.len() });
        }
        self.task.payload = SortPayload::Values;
        self.leaves.push(values.leaf());
        self.own(values, "an input")
    }

    fn indices(mut self) -> Self {
        self.task.payload = SortPayload::Indices;
        self
    }

    fn output<T: Element>(mut self, out: &Buffer<B, T>, what: &'static str) -> Result<Self> {
        if out.len() < self.elements {
            return Err(Error::BufferTooSmall { what, required: self.elements, available: out.len() });
        }
        self.outs.push((out.out(), self.elements));
        self.own(out, what)
    }

    fn keys_to<K: Element>(mut self, out: &Buffer<B, K>) -> Result<Self> {
        self.task.keys_out = true;
        self.output(out, "the output")
    }

    fn payload_to<V: Element>(self, out: &Buffer<B, V>) -> Result<Self> {
        self.output(out, "the output")
    }

    fn lends<T: Element>(mut self, lent: &Buffer<B, T>) -> Result<Self> {
        self.task.lent = true;
        self.output(lent, "the memory for the passes between")
    }

    /// Enqueues the sort of rows of `n` keys.
    fn run(mut self, n: u64) -> Result<()> {
        let limit = u64::from(u32::MAX);
        if self.elements > limit {
            return Err(Error::TooLarge { what: "elements of a sort", requested: self.elements, limit });
        }
        check_aliasing("sort", &self.leaves, self.elements, &self.outs, self.in_place)?;
        if self.elements == 0 {
            return Ok(());
        }
        if n == 0 || !self.elements.is_multiple_of(n) {
            return Err(Error::LengthMismatch {
                what: "keys of whole rows",
                expected: self.elements.next_multiple_of(n.max(1)),
                found: self.elements,
            });
        }
        (self.task.rows, self.task.n) = (self.elements / n, n);
        let outs: Vec<Out<B::Raw>> = self.outs.into_iter().map(|(out, _)| out).collect();
        self.device.run(&self.task, &self.leaves, &outs)
    }
}
