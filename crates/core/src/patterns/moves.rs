//! P09 move, by index: gather, scatter, scatter-reduce, permutations, reversal, rotation, packing.

mod checked;
mod combine;
mod computed;
mod enqueue;
mod floats;
mod from;
mod narrow;
mod task;

pub use checked::CheckedMove;
pub use combine::ScatterCombine;
pub(crate) use enqueue::{check_indices, raw_as};
pub(super) use enqueue::{gather, scatter};
pub(crate) use floats::target_word;
pub use from::MoveFrom;
pub use task::{GatherTask, IndexElement, IndexScalar, ScatterFromTask, ScatterOp, ScatterTask};

use super::layout::LayoutTask;
use super::map::Map;
use super::reduce::ReduceTask;
use super::{HistogramTask, MapTask};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::caps::Capability;
use crate::element::{DType, Element, Num};
use crate::error::{Error, Result};
use crate::input::{array, index};
use crate::ir::{ArrayExpr, Expr};
use enqueue::{check_scatter, check_unique, enough, enough_bytes, gather_at, last_sources, rotate, same_length, scatter_to};

/// Elements moved by index. Elements of any type move as raw bits: NaN payloads and the sign of zero stay.
///
/// Indices are integers of 8, 16, 32 or 64 bits. No access leaves a buffer, whatever they are: a gather of an index out of range, such as a negative
/// one, gives zero bits, a scatter to one writes nothing. The `_checked` forms, of which [`CheckedMove`] has those of permutations and of what is
/// combined, wait for the device and return [`Error::IndexOutOfRange`] instead, having changed nothing.
///
/// # Duplicates
/// Where several sources of [`Move::scatter_into`] have one target, the last of them (the highest position) stays, as in NumPy and as in a loop.
/// That costs a pass over the targets; [`Move::scatter_unique_into`] asks for indices without duplicates and is one pass over the sources.
/// [`Move::scatter_reduce_into`] combines all of them by an operation whose order cannot show.
///
/// No output may overlap an input. Work O(indices), and O(targets) in [`Move::scatter_into`], which also takes four bytes of scratch a target.
///
/// Source: NVIDIA's Thrust (gather, scatter); NumPy's `take` and index assignment.
pub trait Move:
    Run<GatherTask> + Run<ScatterTask> + Run<ScatterFromTask> + Run<LayoutTask> + Run<MapTask> + Run<ReduceTask> + Run<HistogramTask>
{
    /// `values[indices[i]]` for every `i`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at) = (dev.upload(&[10.0f32, 20.0, 30.0])?, dev.upload(&[2u32, 0, 2, 9])?);
    /// assert_eq!(dev.gather(&x, &at)?.read_blocking()?, [30.0, 10.0, 30.0, 0.0]); // 9 names no element
    /// // Indices are integers of any size.
    /// assert_eq!(dev.gather(&x, &dev.upload(&[1i8, -1])?)?.read_blocking()?, [20.0, 0.0]);
    /// assert_eq!(dev.gather(&x, &dev.upload(&[2i64, -1])?)?.read_blocking()?, [30.0, 0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::WrongDevice`], [`Error::TooLarge`].
    fn gather<T: Element, I: IndexElement>(&self, values: &Buffer<Self, T>, indices: &Buffer<Self, I>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(indices.len())?;
        self.gather_into(values, indices, &out)?;
        Ok(out)
    }

    /// As [`Move::gather`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at, out) = (dev.upload(&[10u8, 20, 30])?, dev.upload(&[1i32, -1])?, dev.buffer(2)?);
    /// dev.gather_into(&x, &at, &out)?;
    /// assert_eq!(out.read_blocking()?, [20, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::gather`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn gather_into<T: Element, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        gather_at(self, values, indices, out)
    }

    /// As [`Move::gather`]; an index out of range is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at) = (dev.upload(&[10i64, 20])?, dev.upload(&[1u32, 2])?);
    /// let error = dev.gather_checked(&x, &at).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 1, index: 2, limit: 2, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::gather`], and [`Error::IndexOutOfRange`] with the first offending position.
    fn gather_checked<T: Element, I: IndexElement>(&self, values: &Buffer<Self, T>, indices: &Buffer<Self, I>) -> Result<Buffer<Self, T>> {
        check_indices(self, "gather", indices, values.len())?;
        self.gather(values, indices)
    }

    /// `out[indices[i]] = values[i]` for every `i`; of several with one target the last stays. Other elements of `out` stay as they are.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at, out) = (dev.upload(&[1.0f32, 2.0, 3.0])?, dev.upload(&[4u32, 0, 4])?, dev.upload(&[9.0f32; 5])?);
    /// dev.scatter_into(&x, &at, &out)?;
    /// assert_eq!(out.read_blocking()?, [2.0, 9.0, 9.0, 9.0, 3.0]); // two go to place 4: the last stays
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if there are not as many values as indices; [`Error::TooLarge`] above 2^31 - 1 of them;
    /// [`Error::Unsupported`], [`Error::Aliasing`], [`Error::OutOfMemory`], [`Error::WrongDevice`].
    fn scatter_into<T: Element, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_scatter(self, "scatter", values, indices, out)?;
        if indices.is_empty() || out.is_empty() {
            return Ok(());
        }
        let last = last_sources(self, indices, out.len())?;
        gather(self, values, &last, out, true)
    }

    /// As [`Move::scatter_into`]; an index out of range is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at, out) = (dev.upload(&[1u32, 2])?, dev.upload(&[0i32, -1])?, dev.upload(&[9u32; 3])?);
    /// let error = dev.scatter_checked_into(&x, &at, &out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 1, index: -1, .. }));
    /// assert_eq!(out.read_blocking()?, [9; 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::scatter_into`], and [`Error::IndexOutOfRange`] with the first offending position.
    fn scatter_checked_into<T: Element, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_scatter(self, "scatter", values, indices, out)?;
        check_indices(self, "scatter", indices, out.len())?;
        self.scatter_into(values, indices, out)
    }

    /// As [`Move::scatter_into`] in one pass, for indices of which no two are equal. Where two are, the target's bits are not determined; nothing
    /// else is touched.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at, out) = (dev.upload(&[1u8, 2, 3])?, dev.upload(&[2u32, 0, 1])?, dev.buffer(3)?);
    /// dev.scatter_unique_into(&x, &at, &out)?;
    /// assert_eq!(out.read_blocking()?, [2, 3, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::scatter_into`].
    fn scatter_unique_into<T: Element, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_scatter(self, "scatter_unique", values, indices, out)?;
        scatter_to(self, Some(values), indices, out, ScatterOp::Store)
    }

    /// As [`Move::scatter_unique_into`]; an index out of range and one that was there before are errors. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at, out) = (dev.upload(&[1u32, 2, 3])?, dev.upload(&[2u32, 0, 2])?, dev.upload(&[9u32; 3])?);
    /// let error = dev.scatter_unique_checked_into(&x, &at, &out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::DuplicateIndex { position: 2, index: 2, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::scatter_into`], [`Error::IndexOutOfRange`], and [`Error::DuplicateIndex`] with the first position whose index was there before.
    fn scatter_unique_checked_into<T: Element, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_scatter(self, "scatter_unique", values, indices, out)?;
        check_indices(self, "scatter_unique", indices, out.len())?;
        check_unique(self, "scatter_unique", indices, out.len())?;
        self.scatter_unique_into(values, indices, out)
    }

    /// `out[indices[i]] = op(out[indices[i]], values[i])` for every `i`: the same bits in whatever order.
    ///
    /// Integers are taken all operations of; sums and differences wrap. Where a device has no atomic minimum and maximum of 64 bits, these take two passes
    /// and 24 bytes of scratch to a source and to a target. Of floats:
    /// - Sums and differences are exact, rounded once to the nearest float of the type, ties to even: a sum beyond the range is infinite; a NaN, or
    ///   infinities of both signs, make it NaN, else an infinity stays. A zero is +0. Scratch: 44 bytes a target, of `f64` 272.
    /// - Minima and maxima are those of reductions: NaN propagates, and -0 is below +0. Scratch: the size of sources and targets.
    /// - A target that is the result already keeps its bits: so one without sources, a NaN (a result that is NaN is the canonical one elsewhere), and a
    ///   sum that is zero where -0 was.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (ones, bins) = (dev.upload(&[1u32; 6])?, dev.upload(&[0u32, 2, 2, 1, 2, 0])?);
    /// let histogram = dev.upload(&[0u32; 3])?;
    /// dev.scatter_reduce_into(&ones, &bins, ScatterOp::Sum, &histogram)?;
    /// assert_eq!(histogram.read_blocking()?, [2, 1, 3]);
    ///
    /// let (x, at, sums) = (dev.upload(&[1e30f32, 1.0, -1e30])?, dev.upload(&[1u32; 3])?, dev.upload(&[0.5f32; 2])?);
    /// dev.scatter_reduce_into(&x, &at, ScatterOp::Sum, &sums)?;
    /// assert_eq!(sums.read_blocking()?, [0.5, 1.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::scatter_into`]; [`Error::InvalidArgument`] for [`ScatterOp::Store`], and for bit operations on floats;
    /// [`Error::TooLarge`] for sums of `f32` into more than 390 million targets, and of `f64` into more than 63 million.
    fn scatter_reduce_into<T: Element<Reg = T> + Num, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        op: ScatterOp,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        computed::check_combining(op, T::DTYPE)?;
        check_scatter(self, "scatter_reduce", values, indices, out)?;
        match T::DTYPE {
            DType::F32 | DType::F64 => floats::scatter_floats(self, values, indices, op, out),
            _ => match scatter_to(self, Some(values), indices, out, op) {
                Err(Error::Unsupported { capability: Capability::Atomics64, .. }) => {
                    floats::wide_extremes(self, (values, indices), op, out)
                }
                result => result,
            },
        }
    }

    /// `x[order[i]]` for every `i`: NumPy's `x[order]`. As many indices as elements; an index out of range gives zero bits.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, order) = (dev.upload(&[10u32, 20, 30])?, dev.upload(&[2u32, 0, 1])?);
    /// assert_eq!(dev.permute(&x, &order)?.read_blocking()?, [30, 10, 20]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::gather`], and [`Error::LengthMismatch`].
    fn permute<T: Element, I: IndexElement>(&self, x: &Buffer<Self, T>, order: &Buffer<Self, I>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.permute_into(x, order, &out)?;
        Ok(out)
    }

    /// As [`Move::permute`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, order, out) = (dev.upload(b"abc")?, dev.upload(&[2i32, 0, 1])?, dev.upload(b"....")?);
    /// dev.permute_into(&x, &order, &out)?;
    /// assert_eq!(out.read_blocking()?, *b"cab.");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::permute`] and [`Move::gather_into`].
    fn permute_into<T: Element, I: IndexElement>(&self, x: &Buffer<Self, T>, order: &Buffer<Self, I>, out: &Buffer<Self, T>) -> Result<()> {
        same_length(x.len(), order.len())?;
        self.gather_into(x, order, out)
    }

    /// The inverse of [`Move::permute`]: element `order[i]` of the result is `x[i]`. For permutations; other indices leave zero bits where none
    /// points.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, order) = (dev.upload(&[10u32, 20, 30])?, dev.upload(&[2u32, 0, 1])?);
    /// let there_and_back = dev.permute_inverse(&dev.permute(&x, &order)?, &order)?;
    /// assert_eq!(there_and_back.read_blocking()?, [10, 20, 30]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::permute`].
    fn permute_inverse<T: Element, I: IndexElement>(&self, x: &Buffer<Self, T>, order: &Buffer<Self, I>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.permute_inverse_into(x, order, &out)?;
        Ok(out)
    }

    /// As [`Move::permute_inverse`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, order, out) = (dev.upload(&[10i64, 20, 30])?, dev.upload(&[2u32, 0, 1])?, dev.upload(&[7i64; 4])?);
    /// dev.permute_inverse_into(&x, &order, &out)?;
    /// assert_eq!(out.read_blocking()?, [20, 30, 10, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::permute_inverse`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn permute_inverse_into<T: Element, I: IndexElement>(
        &self,
        x: &Buffer<Self, T>,
        order: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        enough(out, x.len())?;
        let out = out.slice(..x.len())?;
        check_scatter(self, "permute_inverse", x, order, &out)?;
        self.fill(&out, T::zeroed())?;
        scatter_to(self, Some(x), order, &out, ScatterOp::Store)
    }

    /// The elements from last to first.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0])?;
    /// assert_eq!(dev.reverse(&x)?.read_blocking()?, [3.0, 2.0, 1.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`].
    fn reverse<T: Element>(&self, x: &Buffer<Self, T>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.reverse_into(x, &out)?;
        Ok(out)
    }

    /// As [`Move::reverse`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(b"warp")?, dev.upload(b"____!")?);
    /// dev.reverse_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, *b"praw!");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map_into`].
    fn reverse_into<T: Element>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        enqueue::reverse(self, x, out)
    }

    /// The elements moved up by `by` places, those that leave at the end coming back at the start: element `i` goes to `(i + by) mod n`
    /// (NumPy's `roll`).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 2, 3, 4])?;
    /// assert_eq!(dev.rotate(&x, 1)?.read_blocking()?, [4, 1, 2, 3]);
    /// assert_eq!(dev.rotate(&x, -1)?.read_blocking()?, [2, 3, 4, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::copy`].
    fn rotate<T: Element>(&self, x: &Buffer<Self, T>, by: i64) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.rotate_into(x, by, &out)?;
        Ok(out)
    }

    /// As [`Move::rotate`], into the caller's buffer of the same length.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (mut a, mut b) = (dev.upload(&[1u32, 0, 0])?, dev.buffer(3)?);
    /// for _ in 0..4 {
    ///     dev.rotate_into(&a, 1, &b)?;
    ///     std::mem::swap(&mut a, &mut b);
    /// }
    /// assert_eq!(a.read_blocking()?, [0, 1, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::copy_into`].
    fn rotate_into<T: Element>(&self, x: &Buffer<Self, T>, by: i64, out: &Buffer<Self, T>) -> Result<()> {
        rotate(self, x, by, out)
    }

    /// The low eight bits of every element, four to a word, the first lowest; what is missing to the last word is zero.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0x11u32, 0x22, 0x33, 0x44, 0x155])?;
    /// assert_eq!(dev.pack_u8(&x)?.read_blocking()?, [0x4433_2211, 0x55]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`].
    fn pack_u8(&self, x: &Buffer<Self, u32>) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(x.len().div_ceil(4))?;
        self.pack_u8_into(x, &out)?;
        Ok(out)
    }

    /// As [`Move::pack_u8`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1u32, 2, 3])?, dev.upload(&[7u32; 2])?);
    /// dev.pack_u8_into(&x, &out)?;
    /// assert_eq!(out.read_blocking()?, [0x0003_0201, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map_into`].
    fn pack_u8_into(&self, x: &Buffer<Self, u32>, out: &Buffer<Self, u32>) -> Result<()> {
        let word = |(x, i): (ArrayExpr<u32>, Expr<u32>)| {
            let byte = |k: u32| (x.at(i * 4 + k) & 0xFFu32) << (8 * k);
            byte(0) | byte(1) | byte(2) | byte(3)
        };
        self.generate_into(x.len().div_ceil(4), (array(x), index()), word, out)
    }

    /// The inverse of [`Move::pack_u8`]: the first `n` bytes of the words, each as an element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let words = dev.upload(&[0x4433_2211u32, 0x55])?;
    /// assert_eq!(dev.unpack_u8(&words, 5)?.read_blocking()?, [0x11, 0x22, 0x33, 0x44, 0x55]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`], and [`Error::OutOfRange`] for more bytes than there are.
    fn unpack_u8(&self, words: &Buffer<Self, u32>, n: u64) -> Result<Buffer<Self, u32>> {
        enough_bytes(words, n)?;
        let out = self.buffer(n)?;
        self.unpack_u8_into(words, n, &out)?;
        Ok(out)
    }

    /// As [`Move::unpack_u8`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (words, out) = (dev.upload(&[0x4433_2211u32])?, dev.upload(&[7u32; 4])?);
    /// dev.unpack_u8_into(&words, 3, &out)?;
    /// assert_eq!(out.read_blocking()?, [0x11, 0x22, 0x33, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::unpack_u8`] and [`Map::map_into`].
    fn unpack_u8_into(&self, words: &Buffer<Self, u32>, n: u64, out: &Buffer<Self, u32>) -> Result<()> {
        enough_bytes(words, n)?;
        self.generate_into(n, (array(words), index()), |(w, i)| (w.at(i / 4) >> ((i % 4) * 8)) & 0xFFu32, out)
    }
}
impl<B: Run<GatherTask> + Run<ScatterTask> + Run<ScatterFromTask> + Run<LayoutTask> + Run<MapTask> + Run<ReduceTask> + Run<HistogramTask>>
    Move for B
{
}
