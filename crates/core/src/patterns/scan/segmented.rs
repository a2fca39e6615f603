//! Scans that start anew inside an array.

use super::call::enqueue;
use super::shifted::exclusive_into;
use super::{ScanKind, ScanTask};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::{Collector, Inputs};
use crate::ir::{self, Expr, Func};
use crate::ops::Combine;
use crate::patterns::Lines;
use crate::patterns::before::Neighbours;
use crate::patterns::map::{collect, same, trace};
use crate::patterns::operand::Operand;
use std::sync::Arc;

/// Scans of segments that flags or keys bound; [`OffsetScan`](crate::patterns::OffsetScan) has those that offsets bound.
///
/// # Order of evaluation
/// That of [`Scan`](super::Scan) over the whole array, of pairs of a flag and a value: `combine` of two pairs has the right value where the right flag
/// is set, else both values combined. So float results depend on where in the array a segment lies.
///
/// Element types as in [`Scan`](super::Scan), with the flag's word in the accumulator. There are at most 2^32 elements where keys or an exclusive scan fetch
/// their neighbours. Work, traffic and scratch as there. Outputs may not overlap inputs.
///
/// Source: Blelloch, *Prefix sums and their applications* (1990), section 1.5.
pub trait SegmentedScan: Run<ScanTask> {
    /// Inclusive scan that starts anew at every element whose flag is not zero.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(&[1u32, 2, 3, 4, 5])?, dev.upload(&[0u32, 0, 1, 0, 1])?);
    /// assert_eq!(dev.scan_segmented(&x, &flags, Sum)?.read_blocking()?, [1, 3, 3, 7, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`](super::Scan::scan_inclusive), and [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn scan_segmented<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        flags: &Buffer<Self, u32>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        self.scan_segmented_from(x, same, flags, op)
    }

    /// As [`SegmentedScan::scan_segmented`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags, out) = (dev.upload(&[2.0f32, 1.0, 3.0])?, dev.upload(&[1u32, 0, 1])?, dev.buffer(3)?);
    /// dev.scan_segmented_into(&x, &flags, Max, &out)?;
    /// assert_eq!(out.read_blocking()?, [2.0, 2.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    fn scan_segmented_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        flags: &Buffer<Self, u32>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        self.scan_segmented_from_into(x, same, flags, op, out)
    }

    /// As [`SegmentedScan::scan_segmented`] of `f` of the inputs, which never lies in memory, nor need the flags.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(&[1.0f32, -2.0, -3.0])?, dev.upload(&[1u32, 0, 1])?);
    /// assert_eq!(dev.scan_segmented_from(&x, |x| x * x, &flags, Sum)?.read_blocking()?, [1.0, 5.0, 9.0]);
    /// let thirds = lazy(counting(5), |i: Expr<u32>| (i % 3).eq(0).cast::<u32>());
    /// assert_eq!(dev.scan_segmented_from(counting(5), |i| i, thirds, Sum)?.read_blocking()?, [0, 1, 3, 3, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented`].
    fn scan_segmented_from<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        flags: impl Inputs<Self, Exprs = Expr<u32>>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        segmented(self, (inputs, flags), |(x, flag)| (flag, f(x)), &op)
    }

    /// As [`SegmentedScan::scan_segmented_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (bytes, flags, out) = (dev.upload(b"abc")?, dev.upload(&[0u32, 1, 0])?, dev.buffer(3)?);
    /// dev.scan_segmented_from_into((&bytes, index()), |(b, i)| b * i, &flags, Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 98, 98 + 2 * 99]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented_into`].
    fn scan_segmented_from_into<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        flags: impl Inputs<Self, Exprs = Expr<u32>>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        segmented_into(self, (inputs, flags), |(x, flag)| (flag, f(x)), &op, out)
    }

    /// Exclusive scan that starts anew, with the operator's identity, at every element whose flag is not zero: inside a segment the identity is the
    /// first operand of all. It fetches the element before its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(&[1u32, 2, 3, 4, 5])?, dev.upload(&[0u32, 0, 1, 0, 1])?);
    /// assert_eq!(dev.scan_segmented_exclusive(&x, &flags, Sum)?.read_blocking()?, [0, 1, 0, 3, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented`].
    fn scan_segmented_exclusive<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        flags: &Buffer<Self, u32>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        self.scan_segmented_exclusive_from(x, same, flags, op)
    }

    /// As [`SegmentedScan::scan_segmented_exclusive`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags, out) = (dev.upload(&[2i32, 3, 4])?, dev.upload(&[0u32, 0, 1])?, dev.buffer(3)?);
    /// dev.scan_segmented_exclusive_into(&x, &flags, Product, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented_into`].
    fn scan_segmented_exclusive_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        flags: &Buffer<Self, u32>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        self.scan_segmented_exclusive_from_into(x, same, flags, op, out)
    }

    /// As [`SegmentedScan::scan_segmented_exclusive`] of `f` of the inputs, which never lies in memory: `f` is computed for the element before, so
    /// what is read element by element is fetched from there, and an index is one less. A view may span at most 2^32 elements. The flags are those of
    /// an element itself, of any inputs.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(&[1.0f32, -2.0, -3.0, 2.0])?, dev.upload(&[1u32, 0, 1, 0])?);
    /// assert_eq!(dev.scan_segmented_exclusive_from(&x, |x| x * x, &flags, Sum)?.read_blocking()?, [0.0, 1.0, 0.0, 9.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented`].
    fn scan_segmented_exclusive_from<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        flags: impl Inputs<Self, Exprs = Expr<u32>>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(common_len(self, &inputs, &flags)?)?;
        self.scan_segmented_exclusive_from_into(inputs, f, flags, op, &out)?;
        Ok(out)
    }

    /// As [`SegmentedScan::scan_segmented_exclusive_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (bytes, flags, out) = (dev.upload(b"abc")?, dev.upload(&[0u32, 1, 0])?, dev.buffer(3)?);
    /// dev.scan_segmented_exclusive_from_into((&bytes, index()), |(b, i)| b * i, &flags, Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 0, 98]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented_into`].
    fn scan_segmented_exclusive_from_into<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        flags: impl Inputs<Self, Exprs = Expr<u32>>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        exclusive_into(self, flags, (inputs, f), &op, out)
    }

    /// Inclusive scan that starts anew wherever the key differs from the one before (compared by value: NaN differs from
    /// everything).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, x) = (dev.upload(b"aabba")?, dev.upload(&[1u32, 2, 3, 4, 5])?);
    /// assert_eq!(dev.scan_by_key(&keys, &x, Sum)?.read_blocking()?, [1, 3, 3, 7, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented`].
    fn scan_by_key<K: Element, T: Element<Reg = T> + Scalar>(
        &self,
        keys: &Buffer<Self, K>,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        self.scan_by_key_from(keys, x, same, op)
    }

    /// As [`SegmentedScan::scan_by_key`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, x, out) = (dev.upload(&[0.5f32, 0.5, 0.75])?, dev.upload(&[2u32, 3, 4])?, dev.buffer(3)?);
    /// dev.scan_by_key_into(&keys, &x, Product, &out)?;
    /// assert_eq!(out.read_blocking()?, [2, 6, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented_into`].
    fn scan_by_key_into<K: Element, T: Element<Reg = T> + Scalar>(
        &self,
        keys: &Buffer<Self, K>,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        self.scan_by_key_from_into(keys, x, same, op, out)
    }

    /// As [`SegmentedScan::scan_by_key`] of `f` of the inputs, which never lies in memory, nor need the keys: what is computed of them is computed for an
    /// element and for the one before, which is fetched from arrays and views, of at most 2^32 elements from the first to the last.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // The place of each element in its run.
    /// let keys = dev.upload(&[7u32, 7, 7, 9, 7])?;
    /// let places = dev.scan_by_key_from(&keys, scalar(1u32), |one| one, Sum)?;
    /// assert_eq!(places.read_blocking()?, [1, 2, 3, 1, 1]);
    /// // Of keys that are computed: sums over each ten.
    /// let x = dev.upload(&[10u32, 12, 23, 27, 14])?;
    /// let tens = lazy(&x, |x: Expr<u32>| x / 10);
    /// assert_eq!(dev.scan_by_key_from(tens, &x, |x| x, Sum)?.read_blocking()?, [10, 22, 23, 50, 14]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented`].
    fn scan_by_key_from<K: Scalar, I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        keys: impl Inputs<Self, Exprs = Expr<K>>,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        segmented(self, (&starts(self, &keys)?, inputs), |(flag, x)| (flag, f(x)), &op)
    }

    /// As [`SegmentedScan::scan_by_key_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, x, out) = (dev.upload(&[1u8, 1, 2])?, dev.upload(&[3.0f32, -4.0, 5.0])?, dev.buffer(3)?);
    /// dev.scan_by_key_from_into(&keys, &x, |x| x.abs(), Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [3.0, 7.0, 5.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented_into`].
    fn scan_by_key_from_into<K: Scalar, I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        keys: impl Inputs<Self, Exprs = Expr<K>>,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        segmented_into(self, (&starts(self, &keys)?, inputs), |(flag, x)| (flag, f(x)), &op, out)
    }

    /// Exclusive scan that starts anew, with the operator's identity, wherever the key differs from the one before; otherwise as
    /// [`SegmentedScan::scan_segmented_exclusive`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, x) = (dev.upload(b"aabba")?, dev.upload(&[1u32, 2, 3, 4, 5])?);
    /// assert_eq!(dev.scan_by_key_exclusive(&keys, &x, Sum)?.read_blocking()?, [0, 1, 0, 3, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented`].
    fn scan_by_key_exclusive<K: Element, T: Element<Reg = T> + Scalar>(
        &self,
        keys: &Buffer<Self, K>,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        self.scan_by_key_exclusive_from(keys, x, same, op)
    }

    /// As [`SegmentedScan::scan_by_key_exclusive`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, x, out) = (dev.upload(&[1u64, 1, 2])?, dev.upload(&[5i32, 6, 7])?, dev.buffer(3)?);
    /// dev.scan_by_key_exclusive_into(&keys, &x, Max, &out)?;
    /// assert_eq!(out.read_blocking()?, [i32::MIN, 5, i32::MIN]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented_into`].
    fn scan_by_key_exclusive_into<K: Element, T: Element<Reg = T> + Scalar>(
        &self,
        keys: &Buffer<Self, K>,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        self.scan_by_key_exclusive_from_into(keys, x, same, op, out)
    }

    /// As [`SegmentedScan::scan_by_key_exclusive`] of `f` of the inputs, which never lies in memory: see
    /// [`SegmentedScan::scan_segmented_exclusive_from`], and for the keys [`SegmentedScan::scan_by_key_from`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // How many there are before each element in its run.
    /// let keys = dev.upload(&[7u32, 7, 7, 9, 7])?;
    /// let places = dev.scan_by_key_exclusive_from(&keys, scalar(1u32), |one| one, Sum)?;
    /// assert_eq!(places.read_blocking()?, [0, 1, 2, 0, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented`].
    fn scan_by_key_exclusive_from<K: Scalar, I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        keys: impl Inputs<Self, Exprs = Expr<K>>,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(common_len(self, &inputs, &keys)?)?;
        self.scan_by_key_exclusive_from_into(keys, inputs, f, op, &out)?;
        Ok(out)
    }

    /// As [`SegmentedScan::scan_by_key_exclusive_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, x, out) = (dev.upload(&[1u8, 1, 2])?, dev.upload(&[3.0f32, -4.0, 5.0])?, dev.buffer(3)?);
    /// dev.scan_by_key_exclusive_from_into(&keys, &x, |x| x.abs(), Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [0.0, 3.0, 0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SegmentedScan::scan_segmented_into`].
    fn scan_by_key_exclusive_from_into<K: Scalar, I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        keys: impl Inputs<Self, Exprs = Expr<K>>,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        exclusive_into(self, &starts(self, &keys)?, (inputs, f), &op, out)
    }
}
impl<B: Run<ScanTask>> SegmentedScan for B {}

/// 1 where a segment starts: at the first element, and where a key differs from the one before, which is computed beside it.
fn starts<B: Backend, K: Scalar>(device: &B, keys: &impl Inputs<B, Exprs = Expr<K>>) -> Result<Operand<B, u32>> {
    let found = Neighbours::new(device, "scan", keys, same)?;
    let func = found.trace(|before: Expr<K>, key, i| (i.eq(0) | key.ne(before)).cast::<u32>())?;
    Ok(Operand::new(found.c, func))
}

/// How many there are of two inputs.
fn common_len<B: Backend>(device: &B, inputs: &impl Inputs<B>, heads: &impl Inputs<B>) -> Result<u64> {
    let mut c = collect(device, "scan", inputs)?;
    heads.collect(&mut c)?;
    c.len()
}

/// As [`segmented_into`], into a new buffer.
fn segmented<B: Run<ScanTask>, I: Inputs<B>, T: Element<Reg = T> + Scalar>(
    device: &B,
    inputs: I,
    load: impl FnOnce(I::Exprs) -> (Expr<u32>, Expr<T>),
    op: &impl Combine<T>,
) -> Result<Buffer<B, T>> {
    let out = device.buffer(collect(device, "scan", &inputs)?.len()?)?;
    segmented_into(device, inputs, load, op, &out)?;
    Ok(out)
}

/// Scan of (flag, value) pairs, where a flag on the right operand hides the left one: associative, as Blelloch (1990) showed.
fn segmented_into<B: Run<ScanTask>, I: Inputs<B>, T: Element<Reg = T> + Scalar>(
    device: &B,
    inputs: I,
    load: impl FnOnce(I::Exprs) -> (Expr<u32>, Expr<T>),
    op: &impl Combine<T>,
    out: &Buffer<B, T>,
) -> Result<()> {
    let c = collect(device, "scan", &inputs)?;
    let n = c.len()?;
    let load = trace(&inputs, &c, load)?;
    enqueue_pairs(device, &c, (n, load), op, out)
}

/// A flag and a value.
pub(super) type Pair<T> = (Expr<u32>, Expr<T>);

/// As [`segmented_into`], of `n` pairs that are loaded so.
pub(super) fn enqueue_pairs<B: Run<ScanTask>, T: Element<Reg = T> + Scalar>(
    device: &B,
    c: &Collector<B>,
    (n, load): (u64, Arc<Func>),
    op: &impl Combine<T>,
    out: &Buffer<B, T>,
) -> Result<()> {
    let combine = ir::trace(|(a, b): (Pair<T>, Pair<T>)| {
        let starts = b.0.ne(0);
        (a.0 | b.0, ir::select(starts, b.1, op.combine(a.1, b.1)))
    })?;
    let finish = ir::trace(|(_, v): Pair<T>| v)?;
    let task = ScanTask {
        load,
        combine: Arc::new(combine),
        finish: Arc::new(finish),
        lines: Lines::one(n),
        kind: ScanKind::Inclusive,
        numerics: device.numerics(),
    };
    enqueue::<B, Expr<T>>(device, c, task, out)
}
