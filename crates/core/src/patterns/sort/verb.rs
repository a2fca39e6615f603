//! Sorts that are described, with their modifiers.

use super::SortBy;
use super::domain::{SortDomain, SortInPlace, SortRun};
use super::travel::{IndicesAlone, KeysAlone, LentMemory, Scratch, Travels, WithIndices, WithValues};
use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar};
use crate::call::{Along, ByVariant, Checked, Counted, Offsets, Whole};
use crate::element::Element;
use crate::error::Result;
use crate::input::Elements;
use crate::ir::Expr;
use crate::patterns::select::Count;
use crate::patterns::{IndexScalar, Ordered};
use core::fmt;

/// The whole array, by a comparator of the caller's.
#[derive(Clone, Copy, Debug)]
pub struct By<F>(pub(in crate::patterns) F);

/// A sort whose passes use memory of the caller's.
#[doc(hidden)]
#[derive(Debug)]
pub struct InScratch<'s, B: Backend, K, V, P> {
    pub(super) of: P,
    pub(super) memory: LentMemory<'s, B, K, V>,
}

/// The register that a comparator compares keys in.
type Compared<B, I> = Expr<<<I as Elements<B>>::Element as Element>::Reg>;

/// A sort that is described: [`run`](Self::run), [`write_to`](Self::write_to) and [`in_place`](Self::in_place) enqueue it. It is made by
/// [`sort`](super::Sort::sort) and [`argsort`](super::Sort::argsort).
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let (keys, values) = (dev.upload(&[3u32, 1, 2])?, dev.upload(&[30.0f32, 10.0, 20.0])?);
/// let (keys, values) = dev.sort(&keys).descending().with_values(&values).run()?;
/// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![3, 2, 1], vec![30.0, 20.0, 10.0]));
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// # let (x, offsets) = (dev.upload(&[1u32])?, dev.upload(&[0u32, 1])?);
/// dev.sort(&x).segments(&offsets).by(|a, b| a.lt(b)).run()?; // comparators sort whole arrays
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is computed before `run`, `write_to` or `in_place`"]
pub struct SortCall<'d, B, I, W = KeysAlone, P = Whole> {
    pub(in crate::patterns) device: &'d B,
    pub(in crate::patterns) keys: I,
    pub(in crate::patterns) by: SortBy,
    pub(in crate::patterns) with: W,
    pub(in crate::patterns) domain: P,
}

impl<B, I, W: fmt::Debug, P: fmt::Debug> fmt::Debug for SortCall<'_, B, I, W, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortCall").field("by", &self.by).field("domain", &self.domain).finish_non_exhaustive()
    }
}

impl<'d, B, I> SortCall<'d, B, I> {
    pub(super) fn new(device: &'d B, keys: I) -> Self {
        Self { device, keys, by: SortBy::default(), with: KeysAlone, domain: Whole }
    }
}

impl<'d, B, I, W, P> SortCall<'d, B, I, W, P> {
    pub(super) fn with<X>(self, with: X) -> SortCall<'d, B, I, X, P> {
        SortCall { device: self.device, keys: self.keys, by: self.by, with, domain: self.domain }
    }

    fn over<Q>(self, domain: impl FnOnce(P) -> Q) -> SortCall<'d, B, I, W, Q> {
        SortCall { device: self.device, keys: self.keys, by: self.by, with: self.with, domain: domain(self.domain) }
    }
}

impl<B, I, W, P> Ordered for SortCall<'_, B, I, W, P> {
    type By = SortBy;
    fn by_mut(&mut self) -> &mut SortBy {
        &mut self.by
    }
}

impl<'d, B: Backend, I, P> SortCall<'d, B, I, KeysAlone, P> {
    /// Moves values with their keys; results are the keys and the values. Values are any input, of as many elements: those of four and of eight bytes where
    /// arrays and [rows](Self::axis) are sorted, of every type where [segments](SortCall::segments) are, first [elements](SortCall::length), or by a
    /// [comparator](SortCall::by). Others are fetched by the indices of an [`argsort`](super::Sort::argsort).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[2u8, 1, 2, 1])?, dev.upload(&[0.5f32, 1.5, 2.5, 3.5])?);
    /// let (sorted, with) = dev.sort(&keys).with_values(&values).run()?;
    /// assert_eq!((sorted.read_blocking()?, with.read_blocking()?), (vec![1, 1, 2, 2], vec![1.5, 3.5, 0.5, 2.5]));
    /// // By distance from one, the elements from the last to the first.
    /// let x = dev.upload(&[0.5f32, -2.0, 1.0])?;
    /// let (_, x) = dev.sort(x.reversed().map(|x| (x - 1.0).abs())).with_values(x.reversed()).run()?;
    /// assert_eq!(x.read_blocking()?, [1.0, 0.5, -2.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn with_values<J: Elements<B>>(self, values: J) -> SortCall<'d, B, I, WithValues<J>, P> {
        self.with(WithValues(values))
    }

    /// Gives the indices that keys had, too; results are the keys and the indices.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[0.5f64, -2.0, 1.0])?;
    /// let (sorted, indices) = dev.sort(&keys).with_indices().run()?;
    /// assert_eq!((sorted.read_blocking()?, indices.read_blocking()?), (vec![-2.0, 0.5, 1.0], vec![1, 0, 2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn with_indices(self) -> SortCall<'d, B, I, WithIndices, P> {
        self.with(WithIndices)
    }
}

impl<'d, B, I> SortCall<'d, B, I> {
    /// Gives indices alone.
    pub(super) fn indices(self) -> SortCall<'d, B, I, IndicesAlone> {
        self.with(IndicesAlone)
    }
}

/// Choice of what is sorted together: one of these, or all keys as one line.
impl<'d, B: Backend, I: Elements<B>, W: Travels<B>> SortCall<'d, B, I, W> {
    /// Sorts every line along `axis` of a row-major array of this shape on its own. Indices are those in the line. Along another axis than the last, lines are
    /// transposed to rows first, and back: two moves of all keys and of what travels more, and scratch of twice their size.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3u8, 1, 2, 9, 8, 7])?; // two rows
    /// assert_eq!(dev.sort(&keys).axis(&[2, 3], 1).run()?.read_blocking()?, [1, 2, 3, 7, 8, 9]);
    /// assert_eq!(dev.argsort(&keys).axis(&[2, 3], 1).run()?.read_blocking()?, [1, 2, 0, 2, 1, 0]);
    /// assert_eq!(dev.sort(&keys).axis(&[2, 3], 0).descending().run()?.read_blocking()?, [9, 8, 7, 3, 1, 2]); // each column
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn axis(self, shape: &[u64], axis: usize) -> SortCall<'d, B, I, W, Along> {
        self.over(|_| Along { shape: shape.to_vec(), axis })
    }

    /// Sorts the elements `offsets[k]..offsets[k + 1]` as segment `k`, each by itself. Segments are bounded as for
    /// [`Segmented`](crate::patterns::Segmented#segments); elements in none stay where they are. Indices count from the array's start, so that a gather by
    /// them sorts other arrays alike.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[9u32, 3, 1, 2, 8, 7, 0])?;
    /// let offsets = dev.upload(&[1u32, 4, 4, 6])?;
    /// assert_eq!(dev.sort(&keys).segments(&offsets).run()?.read_blocking()?, [9, 1, 2, 3, 7, 8, 0]);
    /// assert_eq!(dev.argsort(&keys).segments(&offsets).run()?.read_blocking()?, [0, 2, 3, 1, 5, 4, 6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn segments<O: Count + IndexScalar>(self, offsets: &'d Buffer<B, O>) -> SortCall<'d, B, I, W, Offsets<'d, B, O>> {
        self.over(|_| Offsets(offsets))
    }

    /// Sorts the first elements, as many as a number on the device says; the work follows it, not the inputs' length, which limits it. What lies after them
    /// in the results is undefined. [`run`](Self::run) gives the results with that number; of a `u64` there is `write_to` alone.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[5.0f32, -1.0, 3.0, -2.0, 4.0])?;
    /// // A selection, a sort of what it keeps, and the sum of that: nothing is read back in between.
    /// let kept = dev.select(&x, |x| x.gt(0.0)).run()?;
    /// let sorted = dev.sort(&kept.values).length(&kept.count).run()?;
    /// let sum = dev.reduce(&sorted.values, Sum).length(&sorted.count).run()?;
    /// assert_eq!((sorted.read_blocking()?, sum.read_blocking()?), (vec![3.0, 4.0, 5.0], 12.0));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn length<C: Count + IndexScalar>(self, length: &'d DeviceScalar<B, C>) -> SortCall<'d, B, I, W, Counted<'d, B, C>> {
        self.over(|_| Counted(length))
    }

    /// Sorts in another way than the pattern's: by a [`Variant`](crate::call::Variant), such as a textbook's algorithm of the crate `isowarp-textbook`. It is
    /// there for arrays of keys, alone or with an array of values.
    pub fn variant<P>(self, variant: P) -> SortCall<'d, B, I, W, ByVariant<P>> {
        self.over(|_| ByVariant(variant))
    }

    /// Sorts by a comparator: whether one key comes before another. It has to be a [strict weak order](super::Sort#comparators).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3i32, -1, 2, -3, 1])?;
    /// // By size, and where that is equal as they were.
    /// assert_eq!(dev.sort(&keys).by(|a, b| a.abs().lt(b.abs())).run()?.read_blocking()?, [-1, 1, 2, 3, -3]);
    /// // Even keys first, and values of any type with them.
    /// let (keys, values) = (dev.upload(&[2u8, 9, 3, 8])?, dev.upload(b"abcd")?);
    /// let (_, values) = dev.sort(&keys).by(|a, b| (a & 1u32).lt(b & 1u32)).with_values(&values).run()?;
    /// assert_eq!(values.read_blocking()?, *b"adbc");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn by<F: Fn(Compared<B, I>, Compared<B, I>) -> Expr<bool>>(self, before: F) -> SortCall<'d, B, I, W, By<F>> {
        self.over(|_| By(before))
    }
}

impl<'d, B: Backend, I, W, O> SortCall<'d, B, I, W, Offsets<'d, B, O>> {
    /// Checks offsets first, which waits for the device: one that is below the one before, or above the number of elements, is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3u32, 1, 2])?;
    /// let falls = dev.sort(&keys).segments(&dev.upload(&[0u32, 2, 1])?).checked().run().unwrap_err();
    /// assert!(matches!(falls, isowarp::Error::NotSorted { index: 2, .. }));
    /// let sorted = dev.sort(&keys).segments(&dev.upload(&[0u32, 2, 3])?).checked().run()?;
    /// assert_eq!(sorted.read_blocking()?, [1, 3, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn checked(self) -> SortCall<'d, B, I, W, Checked<Offsets<'d, B, O>>> {
        self.over(Checked)
    }
}

/// Memory for the passes, for loops that allocate nothing.
impl<'d, B: Backend, I: Elements<B>, W: Scratch<B>, P> SortCall<'d, B, I, W, P> {
    /// Lends memory for the passes between: a double buffer, whose contents are undefined afterwards. Narrow keys (of 8 or 16 bits) take memory of their own
    /// on some devices. It goes after other modifiers, and is there for whole arrays: keys and values of four and eight bytes.
    ///
    /// By a comparator, values of eight bytes are fetched at the end, and their indices go to and fro in what is lent for them; narrower ones do not fit that.
    /// Its `argsort` takes two buffers of keys and one of indices: sorted keys are no result there, so they go to and fro between the two.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3u32, 1, 2])?;
    /// let (memory, out) = (dev.buffer(3)?, dev.buffer(3)?);
    /// dev.sort(&keys).scratch(&memory).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [1, 2, 3]);
    /// let (more, indices) = (dev.buffer(3)?, dev.buffer(3)?);
    /// dev.argsort(&keys).by(|a, b| a.gt(b)).scratch(([&memory, &more], &indices)).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [0, 2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[allow(clippy::type_complexity, reason = "the type is none that callers write")]
    pub fn scratch<'s>(self, memory: W::Memory<'s, I::Element>) -> SortCall<'d, B, I, W, InScratch<'s, B, I::Element, W::Value, P>> {
        self.over(|of| InScratch { of, memory: W::lent(memory) })
    }
}

impl<B: Backend, I: Elements<B>, W: Travels<B>, P: SortRun<B, I, W>> SortCall<'_, B, I, W, P> {
    /// Enqueues the sort into new memory, which it returns.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice), [`Error::LengthMismatch`](crate::Error::LengthMismatch);
    /// [`Error::TooLarge`](crate::Error::TooLarge) for 2^32 keys and more; [`Error::InvalidArgument`](crate::Error::InvalidArgument) for bits that the type or a
    /// comparator does not have, an axis that is not there, no offset at all; [`Error::Op`](crate::Error::Op),
    /// [`Error::NotStrict`](crate::Error::NotStrict) for operators;
    /// [`Error::NotSorted`](crate::Error::NotSorted), [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange) where offsets are checked.
    pub fn run(self) -> Result<P::New> {
        P::run(&self)
    }
}

impl<B: Backend, I: Elements<B>, W: Travels<B>, P: SortDomain<B, I, W>> SortCall<'_, B, I, W, P> {
    /// Enqueues the sort into the caller's buffers, which hold at least as many elements; later ones stay as they are. They may not overlap inputs.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(&[3u64, 1, 2])?, dev.upload(&[9u64; 4])?);
    /// dev.sort(&keys).descending().write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [3, 2, 1, 9]);
    /// // What is computed is never stored but there.
    /// let (k, v) = (dev.buffer(3)?, dev.buffer(3)?);
    /// dev.sort(keys.map(|k| k * k)).with_values(counting(3)).write_to((&k, &v))?;
    /// assert_eq!((k.read_blocking()?, v.read_blocking()?), (vec![1, 4, 9], vec![1, 2, 0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortCall::run`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    pub fn write_to(self, out: W::Refs<'_, I::Element>) -> Result<()> {
        P::write(&self, out)
    }
}

impl<B: Backend, K: Element, W, P: SortInPlace<B, K, W>> SortCall<'_, B, &Buffer<B, K>, W, P> {
    /// Enqueues the sort where keys, and values, lie. There has to be an array of each, and nothing else is given.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[3i32, -1, 2])?, dev.upload(&[30u32, 10, 20])?);
    /// dev.sort(&keys).with_values(&values).in_place()?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![-1, 2, 3], vec![10, 20, 30]));
    /// dev.sort(&keys).by(|a, b| (a & 1).lt(b & 1)).in_place()?;
    /// assert_eq!(keys.read_blocking()?, [2, -1, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortCall::run`].
    pub fn in_place(self) -> Result<()> {
        P::in_place(&self)
    }
}
