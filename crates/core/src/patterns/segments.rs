//! P05 by key and segmented: one result for each segment of an array, or each run of equal keys.

mod by_key;
mod call;
mod counted;
mod counted_runs;
mod difference;
mod extreme;
mod lazy_keys;
mod sort;
mod sort_from;
mod sort_rows;
mod sort_task;
mod task;

pub use by_key::{ByKeyPlaces, ReduceByKeyTask};
pub use counted::Counted;
pub use counted_runs::CountedRuns;
pub use difference::Difference;
pub use extreme::SegmentedExtremes;
pub use lazy_keys::LazyKeys;
pub use sort::SegmentedSort;
pub use sort_from::SegmentedSortFrom;
pub use sort_task::{SegmentedSortPlaces, SegmentedSortTask};
pub use task::{SegmentPlaces, SegmentedReduceTask};

use super::map::{collect, same, trace};
use super::select::Count;
use super::{MapTask, ReduceTask, Selected};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Input, Outputs};
use crate::ir::{self, Expr, Traced};
use crate::ops::{Combine, combine_func, identity};
pub(super) use call::check_offsets;
use call::{Operators, Segments, enqueue};
use std::sync::Arc;

/// Reductions of segments; [`ScanCall::segments`](super::ScanCall::segments) is their scan.
///
/// # Segments
/// `s + 1` offsets on the device, `u32` or `u64`, bound `s` segments: segment `k` is the elements `offsets[k]..offsets[k + 1]`. Segments may be empty
/// and of any lengths; elements before the first offset and from the last one on are in none. Offsets must not fall, nor be above the number of elements.
/// Where they do, what the results hold is not determined, and no access leaves a buffer; the `_checked` forms wait for the device and return
/// [`Error::NotSorted`] or [`Error::IndexOutOfRange`] instead, having written nothing.
///
/// # Order of evaluation
/// Each segment is reduced as an array of its own: the aligned binary tree of [`Reduce`](super::Reduce), counted from the segment's start. So a result is that of
/// `reduce` of the slice, wherever the slice lies. An empty segment gives the operator's identity: zero for a sum, and what a minimum or maximum starts
/// from (infinity, or the type's greatest or least value), since only the device knows that it is empty.
///
/// Work O(n + s), whatever the lengths: short segments are reduced many to a workgroup, long ones by many workgroups. Scratch is at most 48 bytes to each
/// 1024 elements, and by key four bytes an element more (on CUDA 32 bytes to each 4096 instead, through wgpu 280 to each 1024). There are at most 2^32 - 1 segments; through wgpu they have at most 2^31 elements together.
///
/// Source: Blelloch, *Prefix sums and their applications* (1990), section 1.5; Merrill and Garland, *Merge-based parallel sparse matrix-vector
/// multiplication* (2016); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapters 10 and 14.
pub trait Segmented: Run<SegmentedReduceTask> + Run<ReduceByKeyTask> + Run<ReduceTask> + Run<MapTask> {
    /// Every segment combined.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0])?;
    /// let offsets = dev.upload(&[0u32, 2, 2, 5])?;
    /// assert_eq!(dev.segmented_reduce(&x, &offsets, Sum)?.read_blocking()?, [3.0, 0.0, 12.0]);
    /// assert_eq!(dev.segmented_reduce(&x, &offsets, Min)?.read_blocking()?, [1.0, f32::INFINITY, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::Op`], [`Error::OutOfMemory`], [`Error::WrongDevice`], [`Error::TooLarge`]; [`Error::InvalidArgument`] where
    /// there is no offset at all.
    fn segmented_reduce<T: Element<Reg = T> + Scalar, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        self.segmented_reduce_from(x, same, offsets, op)
    }

    /// As [`Segmented::segmented_reduce`], into a buffer of the caller's with an element to each segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[7u32, 5, 9])?, dev.upload(&[1u64, 3])?);
    /// let out = dev.buffer(1)?;
    /// dev.segmented_reduce_into(&x, &offsets, Max, &out)?;
    /// assert_eq!(out.read_blocking()?, [9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn segmented_reduce_into<T: Element<Reg = T> + Scalar, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let c = collect(self, "segmented reduction", &x)?;
        let ops = Operators { load: identity::<T>()?, ..operators(&op)? };
        enqueue::<Self, Expr<T>, O>(self, c, ops, &Segments { bounds: offsets, count: None }, out)
    }

    /// As [`Segmented::segmented_reduce`]; offsets that fall or reach behind the array are an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 2, 3])?;
    /// let falls = dev.segmented_reduce_checked(&x, &dev.upload(&[0u32, 2, 1])?, Sum).unwrap_err();
    /// assert!(matches!(falls, isowarp::Error::NotSorted { index: 2, .. }));
    /// let beyond = dev.segmented_reduce_checked(&x, &dev.upload(&[0u32, 3, 4])?, Sum).unwrap_err();
    /// assert!(matches!(beyond, isowarp::Error::IndexOutOfRange { position: 2, index: 4, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce`]; [`Error::NotSorted`] and [`Error::IndexOutOfRange`] with the first offset that is wrong.
    fn segmented_reduce_checked<T: Element<Reg = T> + Scalar, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        self.check_offsets(offsets, x.len())?;
        self.segmented_reduce(x, offsets, op)
    }

    /// As [`Segmented::segmented_reduce_checked`], into the caller's buffer, which stays as it was where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1i64, 2])?, dev.upload(&[-1i64])?);
    /// assert!(dev.segmented_reduce_checked_into(&x, &dev.upload(&[2u32, 0])?, Sum, &out).is_err());
    /// assert_eq!(out.read_blocking()?, [-1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce_checked`] and [`Segmented::segmented_reduce_into`].
    fn segmented_reduce_checked_into<T: Element<Reg = T> + Scalar, O: Count>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        self.check_offsets(offsets, x.len())?;
        self.segmented_reduce_into(x, offsets, op, out)
    }

    /// Fails for offsets that do not bound segments of `n` elements, naming the first that is wrong. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let offsets = dev.upload(&[0u32, 3, 3, 7])?;
    /// assert!(dev.check_offsets(&offsets, 7).is_ok());
    /// assert!(matches!(dev.check_offsets(&offsets, 5), Err(isowarp::Error::IndexOutOfRange { position: 3, .. })));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotSorted`], [`Error::IndexOutOfRange`]; [`Error::Unsupported`], [`Error::OutOfMemory`].
    fn check_offsets<O: Count>(&self, offsets: &Buffer<Self, O>, n: u64) -> Result<()> {
        check_offsets(self, "segments", offsets, n)
    }

    /// `f` of the inputs, element by element, combined in each segment; nothing lies in memory in between.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // A sparse matrix in rows times a vector.
    /// let (values, columns) = (dev.upload(&[2.0f32, 3.0, 4.0])?, dev.upload(&[0u32, 2, 1])?);
    /// let (rows, v) = (dev.upload(&[0u32, 2, 3])?, dev.upload(&[1.0f32, 10.0, 100.0])?);
    /// let y = dev.segmented_reduce_from((&values, &columns, array(&v)), |(a, k, v)| a * v.at(k), &rows, Sum)?;
    /// assert_eq!(y.read_blocking()?, [302.0, 40.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce`], and [`Error::LengthMismatch`].
    fn segmented_reduce_from<I: Input<Self>, T: Element<Reg = T> + Scalar, O: Count>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(Segments { bounds: offsets, count: None }.most()?)?;
        self.segmented_reduce_from_into(inputs, f, offsets, op, &out)?;
        Ok(out)
    }

    /// As [`Segmented::segmented_reduce_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets, out) = (dev.upload(&[3i32, -4, 5])?, dev.upload(&[0u32, 1, 3])?, dev.buffer(2)?);
    /// dev.segmented_reduce_from_into(&x, |x| x.abs(), &offsets, Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [3, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce_from`] and [`Segmented::segmented_reduce_into`].
    fn segmented_reduce_from_into<I: Input<Self>, T: Element<Reg = T> + Scalar, O: Count>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let c = collect(self, "segmented reduction", &inputs)?;
        let ops = Operators { load: trace(&inputs, &c, f)?, ..operators(&op)? };
        enqueue::<Self, Expr<T>, O>(self, c, ops, &Segments { bounds: offsets, count: None }, out)
    }

    /// The general form: accumulators of several parts. `load` gives the accumulator of an element, `nothing` that of an empty segment, `combine` merges
    /// two (lower indices first), `finish` gives the values to store.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[4.0f32, 1.0, 7.0])?, dev.upload(&[0u32, 2, 2, 3])?);
    /// let (low, mean) = dev.segmented_reduce_parts(
    ///     &x,
    ///     &offsets,
    ///     |x| (x, x, lit(1u32)),
    ///     || (lit(f32::INFINITY), lit(0.0f32), lit(0u32)),
    ///     |a, b| (a.0.min(b.0), a.1 + b.1, a.2 + b.2),
    ///     |(low, sum, n)| (low, sum / n.max(1).cast::<f32>()),
    /// )?;
    /// assert_eq!(low.read_blocking()?, [1.0, f32::INFINITY, 7.0]);
    /// assert_eq!(mean.read_blocking()?, [2.5, 0.0, 7.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce_from`].
    fn segmented_reduce_parts<I: Input<Self>, A: Traced, R: Outputs, O: Count>(
        &self,
        inputs: I,
        offsets: &Buffer<Self, O>,
        load: impl FnOnce(I::Exprs) -> A,
        nothing: impl FnOnce() -> A,
        combine: impl FnOnce(A, A) -> A,
        finish: impl FnOnce(A) -> R,
    ) -> Result<R::Buffers<Self>> {
        let out = R::allocate(self, Segments { bounds: offsets, count: None }.most()?)?;
        self.segmented_reduce_parts_into(inputs, offsets, load, nothing, combine, finish, R::refs(&out))?;
        Ok(out)
    }

    /// As [`Segmented::segmented_reduce_parts`], into the caller's buffers with an element to each segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[4u32, 1, 7])?, dev.upload(&[0u32, 2, 2, 3])?);
    /// let (low, high) = (dev.buffer(3)?, dev.buffer(3)?);
    /// let both = |a: (Expr<u32>, Expr<u32>), b: (Expr<u32>, Expr<u32>)| (a.0.min(b.0), a.1.max(b.1));
    /// let nothing = || (lit(u32::MAX), lit(0u32));
    /// dev.segmented_reduce_parts_into(&x, &offsets, |x| (x, x), nothing, both, |both| both, (&low, &high))?;
    /// assert_eq!((low.read_blocking()?, high.read_blocking()?), (vec![1, u32::MAX, 7], vec![4, 0, 7]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce_parts`] and [`Segmented::segmented_reduce_into`].
    #[expect(clippy::too_many_arguments, reason = "the four operators of a reduction by parts")]
    fn segmented_reduce_parts_into<I: Input<Self>, A: Traced, R: Outputs, O: Count>(
        &self,
        inputs: I,
        offsets: &Buffer<Self, O>,
        load: impl FnOnce(I::Exprs) -> A,
        nothing: impl FnOnce() -> A,
        combine: impl FnOnce(A, A) -> A,
        finish: impl FnOnce(A) -> R,
        out: R::Refs<'_, Self>,
    ) -> Result<()> {
        let c = collect(self, "segmented reduction", &inputs)?;
        let ops = Operators {
            load: trace(&inputs, &c, load)?,
            combine: Arc::new(ir::trace(|(a, b): (A, A)| combine(a, b))?),
            finish: Arc::new(ir::trace(finish)?),
            nothing: super::constants(&ir::pack(Vec::new(), nothing)?),
        };
        enqueue::<Self, R, O>(self, c, ops, &Segments { bounds: offsets, count: None }, out)
    }

    /// The first key of each run of equal neighbours (as [`Select::unique`](super::Select::unique) compares them), and the run's values combined in the order of [`Reduce`](super::Reduce),
    /// counted from the run's start. How many runs there are stays on the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[7u32, 7, 9, 7])?, dev.upload(&[0.5f32, 1.5, 2.5, 4.0])?);
    /// let sums = dev.reduce_by_key(&keys, &values, Sum)?;
    /// let n = sums.len_blocking()?;
    /// assert_eq!(sums.values.0.slice(..n)?.read_blocking()?, [7, 9, 7]);
    /// assert_eq!(sums.values.1.slice(..n)?.read_blocking()?, [2.0, 2.5, 4.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::segmented_reduce_from`]; [`Error::TooLarge`] for more than 2^32 - 1 elements.
    fn reduce_by_key<K: Element, T: Element<Reg = T> + Scalar>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, T>,
        op: impl Combine<T>,
    ) -> Result<Selected<Self, (Buffer<Self, K>, Buffer<Self, T>)>> {
        self.reduce_by_key_from(keys, values, same, op)
    }

    /// As [`Segmented::reduce_by_key`], into the caller's buffers, with room for as many keys and results as there are elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(b"aab")?, dev.upload(&[1u32, 2, 3])?);
    /// let (k, v, count) = (dev.upload(b"...")?, dev.buffer(3)?, dev.buffer(1)?);
    /// dev.reduce_by_key_into(&keys, &values, Max, (&k, &v), &count)?;
    /// assert_eq!((count.read_blocking()?, k.read_blocking()?), (vec![2], b"ab.".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::reduce_by_key`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn reduce_by_key_into<K: Element, T: Element<Reg = T> + Scalar>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, T>,
        op: impl Combine<T>,
        out: (&Buffer<Self, K>, &Buffer<Self, T>),
        count: &Buffer<Self, u32>,
    ) -> Result<()> {
        self.reduce_by_key_from_into(keys, values, same, op, out, count)
    }

    /// As [`Segmented::reduce_by_key`] of `f` of the inputs, which never lies in memory.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // How long runs are.
    /// let keys = dev.upload(&[7u32, 7, 9, 7])?;
    /// let runs = dev.reduce_by_key_from(&keys, counting(4), |_| lit(1u32), Sum)?;
    /// assert_eq!(runs.values.1.slice(..runs.len_blocking()?)?.read_blocking()?, [2, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::reduce_by_key`], and [`Error::LengthMismatch`].
    fn reduce_by_key_from<K: Element, I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        keys: &Buffer<Self, K>,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
    ) -> Result<Selected<Self, (Buffer<Self, K>, Buffer<Self, T>)>> {
        let out = (self.buffer(keys.len())?, self.buffer(keys.len())?);
        let count = self.buffer(1)?;
        self.reduce_by_key_from_into(keys, inputs, f, op, (&out.0, &out.1), &count)?;
        Ok(Selected { values: out, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Segmented::reduce_by_key_into`] of `f` of the inputs, which never lies in memory.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, x) = (dev.upload(&[1u32, 1, 2])?, dev.upload(&[2.0f32, 3.0, 4.0])?);
    /// let (k, v, count) = (dev.buffer(3)?, dev.buffer(3)?, dev.buffer(1)?);
    /// dev.reduce_by_key_from_into(&keys, &x, |x| x * x, Sum, (&k, &v), &count)?;
    /// assert_eq!(v.slice(..2)?.read_blocking()?, [13.0, 16.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::reduce_by_key_into`], and [`Error::LengthMismatch`].
    fn reduce_by_key_from_into<K: Element, I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        keys: &Buffer<Self, K>,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        out: (&Buffer<Self, K>, &Buffer<Self, T>),
        count: &Buffer<Self, u32>,
    ) -> Result<()> {
        let c = collect(self, "reduction by key", &inputs)?;
        let n = c.len()?;
        if keys.len() != n {
            return Err(Error::LengthMismatch { what: "keys", expected: n, found: keys.len() });
        }
        let ops = Operators { load: trace(&inputs, &c, f)?, ..operators(&op)? };
        by_key::enqueue(self, keys, c, ops, out, count)
    }
}
impl<B: Run<SegmentedReduceTask> + Run<ReduceByKeyTask> + Run<ReduceTask> + Run<MapTask>> Segmented for B {}

/// What reduces by an operator; elements are loaded as they are.
fn operators<T: Element<Reg = T> + Scalar>(op: &impl Combine<T>) -> Result<Operators> {
    let same = identity::<T>()?;
    Ok(Operators { load: same.clone(), combine: combine_func(op)?, finish: same, nothing: vec![op.identity().to_bits64()] })
}
