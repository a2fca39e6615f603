//! Merges that are described, with their modifiers.

use super::domain::MergeDomain;
use crate::backend::Backend;
use crate::buffer::Buffer;
use crate::call::{ByVariant, Whole};
use crate::element::Element;
use crate::error::Result;
use crate::input::{Elements, Input, Outputs};
use crate::ir::Expr;
use crate::patterns::Ordered;
use crate::patterns::sort::{By, KeysAlone, SortOrder};
use core::fmt;

/// A register that keys are compared in.
type Reg<B, I> = <<I as Elements<B>>::Element as Element>::Reg;

/// Values that go with the keys of either input.
#[derive(Clone, Copy, Debug)]
pub struct BothValues<V, W>(pub(super) V, pub(super) W);

/// Tuples of values that go with the keys of either input.
#[derive(Clone, Copy, Debug)]
pub struct BothTuples<V, W>(pub(super) V, pub(super) W);

/// A merge that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. It is made by [`merge`](super::Merge::merge).
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let (a, v) = (dev.upload(&[1u64, 7, 7])?, dev.upload(b"abc")?);
/// let (b, w) = (dev.upload(&[7u64, 9])?, dev.upload(b"de")?);
/// let (keys, values) = dev.merge(&a, &b).with_values(&v, &w).run()?;
/// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![1, 7, 7, 7, 9], b"abcde".to_vec()));
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// # let x = dev.upload(&[1u32])?;
/// dev.merge(&x, &x).with_values(&x, &x).with_values(&x, &x).run()?; // values are given once
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct MergeCall<'d, B, I, J, W = KeysAlone, P = Whole> {
    pub(super) device: &'d B,
    pub(super) a: I,
    pub(super) b: J,
    pub(super) order: SortOrder,
    pub(super) checked: bool,
    pub(super) with: W,
    pub(super) domain: P,
}

impl<B, I, J, W, P> fmt::Debug for MergeCall<'_, B, I, J, W, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MergeCall").field("order", &self.order).field("checked", &self.checked).finish_non_exhaustive()
    }
}

impl<'d, B, I, J> MergeCall<'d, B, I, J> {
    pub(super) const fn new(device: &'d B, a: I, b: J) -> Self {
        Self { device, a, b, order: SortOrder::Ascending, checked: false, with: KeysAlone, domain: Whole }
    }
}

impl<B, I, J, W, P> MergeCall<'_, B, I, J, W, P> {
    /// Asks first whether both inputs are sorted, which waits for the device: one that is not is an error, and nothing was written. An input is sorted where no
    /// key comes before its left neighbour.
    ///
    /// Work is a pass over all keys more. What is computed is computed twice more for that, and the element before is
    /// fetched from arrays and views, of at most 2^32 elements from the first to the last; each such input has less than 2^32.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b, out) = (dev.upload(&[1i32, 2])?, dev.upload(&[3i32, 5, 4])?, dev.upload(&[7i32; 5])?);
    /// let error = dev.merge(&a, &b).checked().write_to(&out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the second array", index: 2, .. }));
    /// assert_eq!(out.read_blocking()?, [7; 5]);
    /// let error = dev.merge(b.map(|x| x + 1), &a).by(|a, b| a.lt(b)).checked().run().unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { what: "the first input", index: 2, .. }));
    /// dev.merge(&a, b.slice(..2)?.map(|x| x)).checked().write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [1, 2, 3, 5, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn checked(mut self) -> Self {
        self.checked = true;
        self
    }
}

impl<B, I, J, W, P> Ordered for MergeCall<'_, B, I, J, W, P> {
    type By = SortOrder;
    fn by_mut(&mut self) -> &mut SortOrder {
        &mut self.order
    }
}

impl<'d, B: Backend, I: Elements<B>, J, W> MergeCall<'d, B, I, J, W> {
    /// Merges in another way than the pattern's: by a [`Variant`](crate::call::Variant), such as a textbook's algorithm of the crate `isowarp-textbook`. It is
    /// there for arrays of keys, alone or with arrays of values.
    pub fn variant<P>(self, variant: P) -> MergeCall<'d, B, I, J, W, ByVariant<P>> {
        let Self { device, a, b, order, checked, with, domain: Whole } = self;
        MergeCall { device, a, b, order, checked, with, domain: ByVariant(variant) }
    }

    /// Merges by a comparator: whether one key comes before another. It has to be a [strict weak order](super::Merge#comparators), and inputs sorted by it.
    /// Keys that are computed are values, not ones that are stored narrower.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[-1i32, 4, -7])?, dev.upload(&[1i32, -2, 9])?);
    /// assert_eq!(dev.merge(&a, &b).by(|a, b| a.abs().lt(b.abs())).run()?.read_blocking()?, [-1, 1, -2, 4, -7, 9]);
    /// let x = dev.upload(&[1i32, 2, 4])?;
    /// let merged = dev.merge(counting(3).map(|i| -i.cast::<i32>() * 2), &x).by(|a, b| a.abs().lt(b.abs())).run()?;
    /// assert_eq!(merged.read_blocking()?, [0, 1, -2, 2, -4, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn by<F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>>(self, before: F) -> MergeCall<'d, B, I, J, W, By<F>> {
        let Self { device, a, b, order, checked, with, domain: Whole } = self;
        MergeCall { device, a, b, order, checked, with, domain: By(before) }
    }
}

impl<'d, B: Backend, I, J, P> MergeCall<'d, B, I, J, KeysAlone, P> {
    /// Moves values with their keys: those of the first input, and those of the second. Results are the keys and the values. Values are any input, of as many
    /// elements; ones that are no arrays are computed where they are stored.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Keys without values get their places.
    /// let (x, y) = (dev.upload(&[0.25f32, 0.5])?, dev.upload(&[0.375f32])?);
    /// let (keys, places) = dev.merge(&x, &y).with_values(index(), index().map(|i| i + 100)).run()?;
    /// assert_eq!((keys.read_blocking()?, places.read_blocking()?), (vec![0.25, 0.375, 0.5], vec![0, 100, 1]));
    /// // By the last digit.
    /// let (a, v) = (dev.upload(&[10u32, 21])?, dev.upload(b"ab")?);
    /// let (b, w) = (dev.upload(&[40u32, 12])?, dev.upload(b"cd")?);
    /// let (keys, values) = dev.merge(&a, &b).by(|a, b| (a % 10).lt(b % 10)).with_values(&v, &w).run()?;
    /// assert_eq!((keys.read_blocking()?, values.read_blocking()?), (vec![10, 40, 21, 12], b"acbd".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn with_values<V: Elements<B>, X: Elements<B, Element = V::Element>>(
        self,
        of_a: V,
        of_b: X,
    ) -> MergeCall<'d, B, I, J, BothValues<V, X>, P> {
        self.with(BothValues(of_a, of_b))
    }

    fn with<X>(self, with: X) -> MergeCall<'d, B, I, J, X, P> {
        let Self { device, a, b, order, checked, domain, .. } = self;
        MergeCall { device, a, b, order, checked, with, domain }
    }
}

impl<'d, B: Backend, I, J, F> MergeCall<'d, B, I, J, KeysAlone, By<F>> {
    /// As [`with_values`](Self::with_values) of several values to a key: what is mapped to tuples of up to four. The results are the keys and a tuple of
    /// buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Which input keys come from, and where they were.
    /// let (x, y) = (dev.upload(&[0.25f32, 0.5])?, dev.upload(&[0.375f32])?);
    /// let of = |which: u32| index().map(move |i: Expr<u32>| (i, lit(which).store_as::<u8>()));
    /// let (keys, (places, from)) = dev.merge(&x, &y).by(|a, b| a.lt(b)).with_tuples(of(97), of(98)).run()?;
    /// assert_eq!((keys.read_blocking()?, places.read_blocking()?, from.read_blocking()?), (vec![0.25, 0.375, 0.5], vec![0, 0, 1], b"aba".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn with_tuples<V, X, R: Outputs>(self, of_a: V, of_b: X) -> MergeCall<'d, B, I, J, BothTuples<V, X>, By<F>>
    where
        V: Input<B, Exprs = R>,
        X: Input<B, Exprs = R>,
    {
        self.with(BothTuples(of_a, of_b))
    }
}

impl<B: Backend, I, J, W, P: MergeDomain<B, I, J, W>> MergeCall<'_, B, I, J, W, P> {
    /// Enqueues the merge into new memory, which it returns.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice), [`Error::TooLarge`](crate::Error::TooLarge), also for inputs of more than eight leaves that are merged
    /// by a comparator; [`Error::LengthMismatch`](crate::Error::LengthMismatch) for values that are not as many as their keys, and for what is zipped of
    /// different lengths; [`Error::Op`](crate::Error::Op), [`Error::NotStrict`](crate::Error::NotStrict) for operators;
    /// [`Error::NotSorted`](crate::Error::NotSorted), with the first index whose key comes before its left neighbour, where inputs are checked.
    pub fn run(self) -> Result<<P::Out as Outputs>::Buffers<B>> {
        let out = P::Out::allocate(self.device, P::total(&self)?)?;
        P::write(&self, P::Out::refs(&out))?;
        Ok(out)
    }

    /// Enqueues the merge into the caller's buffers, which hold at least as many elements as both inputs; later ones stay as they are. They may not overlap
    /// inputs.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, v) = (dev.upload(&[0.5f32])?, dev.upload(&[10i64])?);
    /// let (b, w) = (dev.upload(&[0.25f32])?, dev.upload(&[20i64])?);
    /// let (keys, values) = (dev.buffer(2)?, dev.upload(&[7i64; 3])?);
    /// dev.merge(&a, &b).with_values(&v, &w).write_to((&keys, &values))?;
    /// assert_eq!(values.read_blocking()?, [20, 10, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MergeCall::run`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    pub fn write_to(self, out: <P::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        P::write(&self, out)
    }
}

impl<B: Backend, I: Elements<B>, J: Elements<B, Element = I::Element>, W, P> MergeCall<'_, B, I, J, W, P> {
    /// The buffers that both inputs are, if they are some.
    #[allow(clippy::type_complexity, reason = "two buffers that may be there")]
    pub(super) fn plain(&self) -> Option<(&Buffer<B, I::Element>, &Buffer<B, I::Element>)> {
        self.a.plain().zip(self.b.plain())
    }
}
