//! P03 scan: every prefix of a line combined.

mod call;
mod segmented;
mod shifted;
mod task;

pub(super) use call::checked;
pub use segmented::SegmentedScan;
pub use task::{ScanKind, ScanTask};

use super::map::{collect, collect_lines, trace};
use super::{Lines, constants};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Num, Scalar};
use crate::error::Result;
use crate::input::{Inputs, Outputs};
use crate::ir::{self, Expr, Traced};
use crate::ops::{Combine, Sum, identity};
use call::{enqueue, lines_into};
use std::sync::Arc;

/// Prefix sums and their kin. Those that start anew inside an array are in [`SegmentedScan`].
///
/// # Order of evaluation
/// A line is cut into tiles of [`SCAN_TILE`](super::plan::SCAN_TILE) elements. Inside a tile the prefixes are Sklansky's: for k = 0, 1, ... every
/// element whose index has bit k set becomes `combine(last element of the aligned block of 2^k before its own, itself)`. The tiles' totals are folded
/// strictly from left to right, and every element becomes `combine(fold of the tiles before, itself)` (in the first tile: itself). An exclusive scan
/// moves the inclusive one by an element and starts with the identity. Operators have to be associative, but need not commute.
///
/// Elements are combined in every type that operators compute in; narrow ones are loaded as `f32`, `i32` or `u32` ([`Scan::scan_from`]). An accumulator
/// has at most four 32-bit words. Work O(n log tile), memory traffic 2n, scratch below 1 % of the input. Outputs may not overlap inputs.
///
/// Source: Sklansky, *Conditional-sum addition logic* (1960); Merrill and Garland, *Single-pass parallel prefix scan with decoupled look-back*
/// (2016); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 11.
pub trait Scan: Run<ScanTask> {
    /// `out[i]` combines the elements `0..=i`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3.0f32, 1.0, 2.0])?;
    /// assert_eq!(dev.scan_inclusive(&x, Sum)?.read_blocking()?, [3.0, 4.0, 6.0]);
    /// // Your own operator, which does not commute: the last element that is not zero.
    /// let last = Op::associative(0u32, |a, b| select(b.ne(0), b, a));
    /// let x = dev.upload(&[7u32, 0, 0, 5, 0])?;
    /// assert_eq!(dev.scan_inclusive(&x, last)?.read_blocking()?, [7, 7, 7, 5, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Op`](crate::Error::Op), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice).
    fn scan_inclusive<T: Element<Reg = T> + Scalar>(&self, x: &Buffer<Self, T>, op: impl Combine<T>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.scan_inclusive_into(x, op, &out)?;
        Ok(out)
    }

    /// As [`Scan::scan_inclusive`], into the caller's buffer, which holds at least as many elements; later ones stay as they are.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[2i32, 3, 4])?, dev.upload(&[-1i32; 4])?);
    /// dev.scan_inclusive_into(&x, Product, &out)?;
    /// assert_eq!(out.read_blocking()?, [2, 6, 24, -1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    fn scan_inclusive_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let c = collect(self, "scan", &x)?;
        lines_into(self, c, Lines::one(x.len()), identity::<T>()?, &op, false, out)
    }

    /// `out[i]` combines the elements `0..i`; `out[0]` is the operator's identity.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let lengths = dev.upload(&[3u32, 0, 2])?;
    /// assert_eq!(dev.scan_exclusive(&lengths, Sum)?.read_blocking()?, [0, 3, 3]);
    /// assert_eq!(dev.scan_exclusive(&lengths, Min)?.read_blocking()?, [u32::MAX, 3, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`].
    fn scan_exclusive<T: Element<Reg = T> + Scalar>(&self, x: &Buffer<Self, T>, op: impl Combine<T>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.scan_exclusive_into(x, op, &out)?;
        Ok(out)
    }

    /// As [`Scan::scan_exclusive`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (lengths, offsets) = (dev.upload(&[3u32, 0, 2])?, dev.upload(&[0u32; 4])?);
    /// dev.scan_inclusive_into(&lengths, Sum, &offsets.slice(1..)?)?;
    /// assert_eq!(offsets.read_blocking()?, [0, 3, 3, 5]); // bounds of segments
    /// dev.scan_exclusive_into(&lengths, Max, &offsets)?;
    /// assert_eq!(offsets.read_blocking()?, [0, 3, 3, 5]); // the last one is not written
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive_into`].
    fn scan_exclusive_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let c = collect(self, "scan", &x)?;
        lines_into(self, c, Lines::one(x.len()), identity::<T>()?, &op, true, out)
    }

    /// A scan of `f` of the inputs, which never lies in memory.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.5f32, -1.0, 2.0, 0.25])?;
    /// // Where each positive element goes among the positive ones.
    /// let places = dev.scan_from(&x, |x| x.gt(0.0).cast::<u32>(), Sum, true)?;
    /// assert_eq!(places.read_blocking()?, [0, 1, 1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`], and [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn scan_from<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        exclusive: bool,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(collect(self, "scan", &inputs)?.len()?)?;
        self.scan_from_into(inputs, f, op, exclusive, &out)?;
        Ok(out)
    }

    /// As [`Scan::scan_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y, out) = (dev.upload(&[1.0f32, 2.0])?, dev.upload(&[10.0f32, 20.0])?, dev.buffer(2)?);
    /// dev.scan_from_into((&x, &y), |(x, y)| x * y, Sum, false, &out)?;
    /// assert_eq!(out.read_blocking()?, [10.0, 50.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_from`] and [`Scan::scan_inclusive_into`].
    fn scan_from_into<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        exclusive: bool,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let c = collect(self, "scan", &inputs)?;
        let (lines, load) = (Lines::one(c.len()?), trace(&inputs, &c, f)?);
        lines_into(self, c, lines, load, &op, exclusive, out)
    }

    /// Scans every line along `axis` of a row-major array of this shape, each as an array of its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 2, 3, 40, 50, 60])?; // two rows of three
    /// assert_eq!(dev.scan_axis(&x, &[2, 3], 1, Sum, false)?.read_blocking()?, [1, 3, 6, 40, 90, 150]);
    /// assert_eq!(dev.scan_axis(&x, &[2, 3], 0, Sum, true)?.read_blocking()?, [0, 0, 0, 1, 2, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`]; [`Error::InvalidArgument`](crate::Error::InvalidArgument) for an axis that is not there,
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn scan_axis<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        shape: &[u64],
        axis: usize,
        op: impl Combine<T>,
        exclusive: bool,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.scan_axis_into(x, shape, axis, op, exclusive, &out)?;
        Ok(out)
    }

    /// As [`Scan::scan_axis`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[5.0f32, 7.0, 6.0, 1.0])?, dev.buffer(4)?);
    /// dev.scan_axis_into(&x, &[2, 2], 0, Max, false, &out)?;
    /// assert_eq!(out.read_blocking()?, [5.0, 7.0, 6.0, 7.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_axis`] and [`Scan::scan_inclusive_into`].
    fn scan_axis_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        shape: &[u64],
        axis: usize,
        op: impl Combine<T>,
        exclusive: bool,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let lines = Lines::along(shape, axis)?;
        let c = collect_lines(self, "scan", &x, &lines)?;
        lines_into(self, c, lines, identity::<T>()?, &op, exclusive, out)
    }

    /// As [`Scan::scan_axis`] of `f` of the inputs, along an axis of a shape; it never lies in memory. Inputs without a length of their own have as many elements as the shape.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // A summed-area table of a picture of bytes: along the rows, then along the columns.
    /// let picture = dev.upload(&[1u8, 2, 3, 4, 5, 6])?;
    /// let rows = dev.scan_axis_from(&picture, |x| x, (&[2, 3], 1), Sum, false)?;
    /// assert_eq!(dev.scan_axis(&rows, &[2, 3], 0, Sum, false)?.read_blocking()?, [1, 3, 6, 5, 12, 21]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_axis`] and [`Scan::scan_from`].
    fn scan_axis_from<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        (shape, axis): (&[u64], usize),
        op: impl Combine<T>,
        exclusive: bool,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(Lines::along(shape, axis)?.elements())?;
        self.scan_axis_from_into(inputs, f, (shape, axis), op, exclusive, &out)?;
        Ok(out)
    }

    /// As [`Scan::scan_axis_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer(4)?;
    /// dev.scan_axis_from_into(index(), |i| i * 10, (&[2, 2], 1), Sum, false, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 10, 20, 50]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_axis_from`] and [`Scan::scan_inclusive_into`].
    fn scan_axis_from_into<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        (shape, axis): (&[u64], usize),
        op: impl Combine<T>,
        exclusive: bool,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let lines = Lines::along(shape, axis)?;
        let c = collect_lines(self, "scan", &inputs, &lines)?;
        let load = trace(&inputs, &c, f)?;
        lines_into(self, c, lines, load, &op, exclusive, out)
    }

    /// The general form: accumulators of several parts. `load` gives the accumulator of an element, `combine` merges two (lower
    /// indices first), `finish` gives the values to store: `out[i]` those of the elements `0..=i`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // The greatest element so far and where it stands.
    /// let x = dev.upload(&[2.0f32, 5.0, 1.0, 5.0, 9.0])?;
    /// let (greatest, place) = dev.scan_parts(
    ///     (&x, index()),
    ///     |(x, i)| (x, i),
    ///     |a, b| (a.0.max(b.0), select(a.0.ge(b.0), a.1, b.1)),
    ///     |best| best,
    /// )?;
    /// assert_eq!(greatest.read_blocking()?, [2.0, 5.0, 5.0, 5.0, 9.0]);
    /// assert_eq!(place.read_blocking()?, [0, 1, 1, 1, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_from`]; [`Error::TooLarge`](crate::Error::TooLarge) for an accumulator of more than four words.
    fn scan_parts<I: Inputs<Self>, A: Traced, R: Outputs>(
        &self,
        inputs: I,
        load: impl FnOnce(I::Exprs) -> A,
        combine: impl FnOnce(A, A) -> A,
        finish: impl FnOnce(A) -> R,
    ) -> Result<R::Buffers<Self>> {
        let out = R::allocate(self, collect(self, "scan", &inputs)?.len()?)?;
        self.scan_parts_into(inputs, load, combine, finish, R::refs(&out))?;
        Ok(out)
    }

    /// As [`Scan::scan_parts`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // y = a y + b, step by step: affine maps composed from left to right, applied to y = 1.
    /// let (a, b, y) = (dev.upload(&[2.0f32, 0.5, 3.0])?, dev.upload(&[1.0f32, 0.5, -1.0])?, dev.buffer(3)?);
    /// dev.scan_parts_into((&a, &b), |f| f, |f, g| (f.0 * g.0, f.1 * g.0 + g.1), |f| f.0 + f.1, &y)?;
    /// assert_eq!(y.read_blocking()?, [3.0, 2.0, 5.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_parts`] and [`Scan::scan_inclusive_into`].
    fn scan_parts_into<I: Inputs<Self>, A: Traced, R: Outputs>(
        &self,
        inputs: I,
        load: impl FnOnce(I::Exprs) -> A,
        combine: impl FnOnce(A, A) -> A,
        finish: impl FnOnce(A) -> R,
        out: R::Refs<'_, Self>,
    ) -> Result<()> {
        parts_into::<Self, I, A, R>(self, inputs, load, ScanKind::Inclusive, (combine, finish), out)
    }

    /// As [`Scan::scan_parts`], exclusive: `out[i]` are the values of the elements `0..i`, `out[0]` those of the accumulator `first`, which should leave others
    /// unchanged: it is no operand of `combine`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // The product of the complex numbers before each.
    /// let (re, im) = (dev.upload(&[0.0f32, 2.0, 1.0])?, dev.upload(&[1.0f32, 1.0, 0.0])?);
    /// let (re, im) = dev.scan_parts_exclusive(
    ///     (&re, &im),
    ///     |z| z,
    ///     || (lit(1.0f32), lit(0.0f32)),
    ///     |a, b| (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0),
    ///     |z| z,
    /// )?;
    /// assert_eq!((re.read_blocking()?, im.read_blocking()?), (vec![1.0, 0.0, -1.0], vec![0.0, 1.0, 2.0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_parts`].
    fn scan_parts_exclusive<I: Inputs<Self>, A: Traced, R: Outputs>(
        &self,
        inputs: I,
        load: impl FnOnce(I::Exprs) -> A,
        first: impl FnOnce() -> A,
        combine: impl FnOnce(A, A) -> A,
        finish: impl FnOnce(A) -> R,
    ) -> Result<R::Buffers<Self>> {
        let out = R::allocate(self, collect(self, "scan", &inputs)?.len()?)?;
        self.scan_parts_exclusive_into(inputs, load, first, combine, finish, R::refs(&out))?;
        Ok(out)
    }

    /// As [`Scan::scan_parts_exclusive`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // The mean of the elements before each, 0 before the first.
    /// let (x, out) = (dev.upload(&[4.0f32, 2.0, 6.0])?, dev.buffer(3)?);
    /// let sum = |a: (Expr<f32>, Expr<u32>), b: (Expr<f32>, Expr<u32>)| (a.0 + b.0, a.1 + b.1);
    /// dev.scan_parts_exclusive_into(&x, |x| (x, lit(1)), || (lit(0.0), lit(0)), sum, |(x, n)| x / n.max(1).cast::<f32>(), &out)?;
    /// assert_eq!(out.read_blocking()?, [0.0, 4.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_parts_exclusive`] and [`Scan::scan_inclusive_into`].
    fn scan_parts_exclusive_into<I: Inputs<Self>, A: Traced, R: Outputs>(
        &self,
        inputs: I,
        load: impl FnOnce(I::Exprs) -> A,
        first: impl FnOnce() -> A,
        combine: impl FnOnce(A, A) -> A,
        finish: impl FnOnce(A) -> R,
        out: R::Refs<'_, Self>,
    ) -> Result<()> {
        let first = constants(&ir::pack(Vec::new(), first)?);
        parts_into::<Self, I, A, R>(self, inputs, load, ScanKind::Exclusive { first }, (combine, finish), out)
    }

    /// Inclusive sum; integers wrap.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u64, 10, 100])?;
    /// assert_eq!(dev.cumsum(&x)?.read_blocking()?, [1, 11, 111]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`].
    fn cumsum<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<Buffer<Self, T>> {
        self.scan_inclusive(x, Sum)
    }

    /// As [`Scan::cumsum`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1.5f32, -0.5])?, dev.buffer(2)?);
    /// dev.cumsum_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, [1.5, 1.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive_into`].
    fn cumsum_into<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        self.scan_inclusive_into(x, Sum, out)
    }
}
impl<B: Run<ScanTask>> Scan for B {}

/// One line of accumulators of several parts.
fn parts_into<B: Run<ScanTask>, I: Inputs<B>, A: Traced, R: Outputs>(
    device: &B,
    inputs: I,
    load: impl FnOnce(I::Exprs) -> A,
    kind: ScanKind,
    (combine, finish): (impl FnOnce(A, A) -> A, impl FnOnce(A) -> R),
    out: R::Refs<'_, B>,
) -> Result<()> {
    let c = collect(device, "scan", &inputs)?;
    let lines = Lines::one(c.len()?);
    let load = trace(&inputs, &c, load)?;
    let combine = Arc::new(ir::trace(|(a, b): (A, A)| combine(a, b))?);
    let finish = Arc::new(ir::trace(finish)?);
    enqueue::<B, R>(device, &c, ScanTask { load, combine, finish, lines, kind, numerics: device.numerics() }, out)
}
