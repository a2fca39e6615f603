//! Scatters: values stored at indices, and what becomes of several that have one target.

use super::computed::{Sources, check_combining};
use super::enqueue::{check_indices, check_scatter, check_unique, gather, last_sources, scatter_to};
use super::gather::check_operand;
use super::{IndexElement, IndexScalar, Move, ScatterOp, combine, floats};
use crate::backend::Backend;
use crate::buffer::Buffer;
use crate::caps::Capability;
use crate::element::{DType, Element, Num, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Lent, Numbers, Stored, TypedOutputs, Values};
use crate::ir::{Expr, Func};
use crate::ops::Combine;
use crate::patterns::map::{collect, trace};
use crate::patterns::{Segmented, Sort};
use core::fmt;
use std::sync::Arc;

/// Sources of a scatter: an index and a value to each.
pub trait ScatterSources<B: Backend> {
    /// The elements that name targets.
    type Index: IndexElement;
    /// The elements that targets hold.
    type Element: Element;

    /// The buffers that they are, values and indices, if they are some.
    #[doc(hidden)]
    fn plain(&self) -> Option<(&Buffer<B, Self::Element>, &Buffer<B, Self::Index>)>;

    /// An operator of index and value, and its leaves.
    #[doc(hidden)]
    fn traced(&self, device: &B, pattern: &'static str) -> Result<(Collector<B>, Arc<Func>)>;
}

/// Values and indices that are inputs of their own.
#[derive(Clone, Copy, Debug)]
pub struct Apart<V, H> {
    pub(super) values: V,
    pub(super) indices: H,
}

impl<B: Backend, V: Values<B, Out: Stored>, H: Numbers<B, Element: IndexElement>> ScatterSources<B> for Apart<V, H> {
    type Index = H::Element;
    type Element = <V::Out as TypedOutputs>::First;

    fn plain(&self) -> Option<(&Buffer<B, Self::Element>, &Buffer<B, H::Element>)> {
        self.values.plain().zip(self.indices.plain())
    }

    fn traced(&self, device: &B, pattern: &'static str) -> Result<(Collector<B>, Arc<Func>)> {
        let inputs = (Lent(&self.indices), Lent(&self.values));
        let c = collect(device, pattern, &inputs)?;
        let func = trace(&inputs, &c, |(at, x)| (at, V::out(x)))?;
        Ok((c, func))
    }
}

/// Pairs of an index and a value, of one input.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<P>(pub(super) P);

impl<B: Backend, I: IndexScalar, R: Stored, P: Input<B, Exprs = (Expr<I>, R)>> ScatterSources<B> for Pairs<P> {
    type Index = I;
    type Element = R::First;

    fn plain(&self) -> Option<(&Buffer<B, R::First>, &Buffer<B, I>)> {
        None
    }

    fn traced(&self, device: &B, pattern: &'static str) -> Result<(Collector<B>, Arc<Func>)> {
        let c = collect(device, pattern, &self.0)?;
        let func = trace(&self.0, &c, |pair| pair)?;
        Ok((c, func))
    }
}

/// The register of an index of these sources.
type At<B, S> = <<S as ScatterSources<B>>::Index as Element>::Reg;

/// Sources whose operator was traced.
fn sources<B: Move, S: ScatterSources<B>>(
    device: &B,
    pattern: &'static str,
    of: &S,
) -> Result<Sources<B, At<B, S>, <S::Element as Element>::Reg>> {
    let (c, func) = of.traced(device, pattern)?;
    Sources::of(pattern, c, func)
}

/// Rule for several sources that have one target.
pub trait Meeting<B: Backend, S: ScatterSources<B>> {
    /// Checks and enqueues the call.
    #[doc(hidden)]
    fn write(&self, device: &B, of: &S, checked: bool, out: &Buffer<B, S::Element>) -> Result<()>;
}

/// Keeps the last of them.
#[derive(Clone, Copy, Debug)]
pub struct Last;

/// Takes it that there are none.
#[derive(Clone, Copy, Debug)]
pub struct Unique;

/// Combines them with the target's value, in any order.
#[derive(Clone, Copy, Debug)]
pub struct Reduced(ScatterOp);

/// Combines them in their order, behind the target's value.
#[derive(Clone, Copy, Debug)]
pub struct Combined<C>(C);

impl<B: Move, S: ScatterSources<B>> Meeting<B, S> for Last {
    fn write(&self, device: &B, of: &S, checked: bool, out: &Buffer<B, S::Element>) -> Result<()> {
        const PATTERN: &str = "scatter";
        if let Some((values, indices)) = of.plain() {
            check_scatter(device, PATTERN, values, indices, out)?;
            if checked {
                check_indices(device, PATTERN, indices, out.len())?;
            }
            if indices.is_empty() || out.is_empty() {
                return Ok(());
            }
            let last = last_sources(device, indices, out.len())?;
            return gather(device, values, &last, out, true);
        }
        let sources = sources(device, PATTERN, of)?;
        let something = sources.check(device, out)?;
        if checked {
            check_operand(device, PATTERN, &sources.indices(device)?, out.len())?;
        }
        if something { sources.store_last(device, out, None) } else { Ok(()) }
    }
}

impl<B: Move, S: ScatterSources<B>> Meeting<B, S> for Unique {
    fn write(&self, device: &B, of: &S, checked: bool, out: &Buffer<B, S::Element>) -> Result<()> {
        const PATTERN: &str = "scatter_unique";
        if let Some((values, indices)) = of.plain() {
            check_scatter(device, PATTERN, values, indices, out)?;
            if checked {
                check_indices(device, PATTERN, indices, out.len())?;
                check_unique(device, PATTERN, indices, out.len())?;
            }
            return scatter_to(device, Some(values), indices, out, ScatterOp::Store);
        }
        let sources = sources(device, PATTERN, of)?;
        let something = sources.check(device, out)?;
        if checked {
            check_operand(device, PATTERN, &sources.indices(device)?, out.len())?;
        }
        if !something {
            return Ok(());
        }
        if checked {
            sources.check_unique(device, out.len())?;
        }
        sources.store(device, out, None)
    }
}

impl<B: Move, S: ScatterSources<B>> Meeting<B, S> for Reduced
where
    S::Element: Element<Reg = S::Element> + Scalar + Num,
{
    fn write(&self, device: &B, of: &S, checked: bool, out: &Buffer<B, S::Element>) -> Result<()> {
        const PATTERN: &str = "scatter_reduce";
        let (op, dtype) = (self.0, S::Element::DTYPE);
        check_combining(op, dtype)?;
        if let Some((values, indices)) = of.plain() {
            check_scatter(device, PATTERN, values, indices, out)?;
            if checked {
                check_indices(device, PATTERN, indices, out.len())?;
            }
            if matches!(dtype, DType::F32 | DType::F64) {
                return floats::scatter_floats(device, values, indices, op, out);
            }
            return match scatter_to(device, Some(values), indices, out, op) {
                Err(Error::Unsupported { capability: Capability::Atomics64, .. }) => {
                    floats::wide_extremes(device, (values, indices), op, out)
                }
                result => result,
            };
        }
        let sources = sources(device, PATTERN, of)?;
        let something = sources.check(device, out)?;
        if checked {
            check_operand(device, PATTERN, &sources.indices(device)?, out.len())?;
        }
        if something { sources.combine(device, op, out) } else { Ok(()) }
    }
}

impl<B: Move + Sort + Segmented, S: ScatterSources<B>, C: Combine<S::Element>> Meeting<B, S> for Combined<C>
where
    S::Element: Element<Reg = S::Element> + Scalar,
{
    fn write(&self, device: &B, of: &S, checked: bool, out: &Buffer<B, S::Element>) -> Result<()> {
        if let Some((values, indices)) = of.plain() {
            if checked {
                check_scatter(device, combine::PATTERN, values, indices, out)?;
                check_indices(device, combine::PATTERN, indices, out.len())?;
            }
            return combine::combine(device, values, indices, &self.0, out, true);
        }
        let (c, func) = of.traced(device, combine::PATTERN)?;
        combine::combine_traced::<B, S::Element, At<B, S>>(device, (c, func), &self.0, checked, (out, true))
    }
}

/// A scatter that is described: [`write_to`](Self::write_to) enqueues it. Where several sources have one target, the last of them stays, or what
/// one of these says: [`unique`](Self::unique), [`reduce`](Self::reduce), [`combine`](Self::combine).
///
/// ```compile_fail,E0599
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// # let (x, at, out) = (dev.upload(&[1u32])?, dev.upload(&[0u32])?, dev.upload(&[0u32])?);
/// dev.scatter(&x, &at).unique().reduce(ScatterOp::Sum).write_to(&out)?; // there is nothing to combine
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is stored before `write_to`"]
pub struct ScatterCall<'d, B, S, M = Last> {
    device: &'d B,
    sources: S,
    meeting: M,
    checked: bool,
}

impl<B, S: fmt::Debug, M: fmt::Debug> fmt::Debug for ScatterCall<'_, B, S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScatterCall").field("meeting", &self.meeting).field("checked", &self.checked).finish_non_exhaustive()
    }
}

impl<'d, B, S> ScatterCall<'d, B, S> {
    pub(super) fn new(device: &'d B, sources: S) -> Self {
        Self { device, sources, meeting: Last, checked: false }
    }

    /// Says that no two indices are equal, which saves the pass that looks for the last of them. Where two are, the target's bits are not determined;
    /// nothing else is touched. [`checked`](Self::checked) makes it an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at, out) = (dev.upload(&[1u8, 2, 3])?, dev.upload(&[2u32, 0, 1])?, dev.buffer(3)?);
    /// dev.scatter(&x, &at).unique().write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [2, 3, 1]);
    /// let error = dev.scatter(&x, index().map(|i| i % 2)).unique().checked().write_to(&out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::DuplicateIndex { position: 2, index: 0, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn unique(self) -> ScatterCall<'d, B, S, Unique> {
        self.meet(Unique)
    }

    /// Stores `op(out[k], s)` for every source `s` whose index is `k`: the same bits in whatever order.
    ///
    /// Integers are taken all operations of; sums and differences wrap. Where a device has no atomic minimum and maximum of 64 bits, these take two passes
    /// and 24 bytes of scratch to a source and to a target. Of floats:
    /// - Sums and differences are exact, rounded once to the nearest float of the type, ties to even: a sum beyond the range is infinite; a NaN, or
    ///   infinities of both signs, make it NaN, else an infinity stays. A zero is +0. Scratch: 44 bytes a target, of `f64` 272.
    /// - Minima and maxima are those of reductions: NaN propagates, and -0 is below +0. Scratch: the size of targets, and of sources that are a buffer.
    /// - A target that is the result already keeps its bits: so one without sources, a NaN (a result that is NaN is the canonical one elsewhere), and a
    ///   sum that is zero where -0 was.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (ones, bins) = (dev.upload(&[1u32; 6])?, dev.upload(&[0u32, 2, 2, 1, 2, 0])?);
    /// let histogram = dev.upload(&[0u32; 3])?;
    /// dev.scatter(&ones, &bins).reduce(ScatterOp::Sum).write_to(&histogram)?;
    /// assert_eq!(histogram.read_blocking()?, [2, 1, 3]);
    ///
    /// let (x, sums) = (dev.upload(&[1e30f32, 1.0, -1e30])?, dev.upload(&[0.5f32; 2])?);
    /// dev.scatter(&x, index().map(|_| lit(1u32))).reduce(ScatterOp::Sum).write_to(&sums)?;
    /// assert_eq!(sums.read_blocking()?, [0.5, 1.5]); // exact, rounded once
    /// let greatest = dev.upload(&[0u32; 3])?;
    /// dev.scatter_pairs(counting(10).map(|i| (i % 3, i * i))).reduce(ScatterOp::Max).write_to(&greatest)?;
    /// assert_eq!(greatest.read_blocking()?, [81, 49, 64]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for [`ScatterOp::Store`], and for bit operations on floats; [`Error::TooLarge`] for sums of `f32` into more than
    /// 390 million targets, and of `f64` into more than 63 million.
    pub fn reduce(self, op: ScatterOp) -> ScatterCall<'d, B, S, Reduced> {
        self.meet(Reduced(op))
    }

    /// Stores `op(out[k], s)`, where `s` is all values whose index is `k`, combined in their order by any associative operator. It need not commute.
    ///
    /// # Order
    /// Sources of one target are combined as [`Call::run`](crate::call::Call::run) combines an array of them, in the order of their positions: in the
    /// canonical order, whatever the others are. What the target held comes before that result, in one step more. A target without sources keeps
    /// every bit. Floats are combined as the operator says, each step rounded, where [`reduce`](Self::reduce) has exact sums.
    ///
    /// Work: a stable sort of the targets' numbers with their positions, by as many bits as the number of targets has; a reduction by key, which
    /// fetches values where they lie; and one store a target. Scratch for `n` sources: that of the sort, and beside it 16 bytes a source and two
    /// elements; of sources that are computed one element and four bytes more. Where [`reduce`](Self::reduce) has the operator it is quicker, in one
    /// pass over the sources.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Digits written after each other: an operator that does not commute.
    /// let after = Op::associative(0u32, |a, b| select(b.lt(10), a * 10 + b, select(b.lt(100), a * 100 + b, a * 1000 + b)));
    /// let (digits, at) = (dev.upload(&[1u32, 2, 3, 4])?, dev.upload(&[1u32, 0, 1, 9])?);
    /// let out = dev.upload(&[5u32, 6, 7])?;
    /// dev.scatter(&digits, &at).combine(after).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [52, 613, 7]); // 9 names no element
    ///
    /// // The greatest value of each key, and the first place where it is: place after value in one number.
    /// let (keys, x) = (dev.upload(&[2u32, 0, 2, 2])?, dev.upload(&[5u32, 9, 7, 7])?);
    /// let best = Op::associative(0u64, |a, b| select((b >> 32).gt(a >> 32), b, a));
    /// let values = (&x, index()).map(|(x, i)| x.cast::<u64>() << 32 | i.cast::<u64>());
    /// let found = dev.scatter(values, &keys).combine(best).run(3)?;
    /// assert_eq!(found.read_blocking()?, [9 << 32 | 1, 0, 7 << 32 | 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn combine<C>(self, op: C) -> ScatterCall<'d, B, S, Combined<C>> {
        self.meet(Combined(op))
    }

    fn meet<M>(self, meeting: M) -> ScatterCall<'d, B, S, M> {
        ScatterCall { device: self.device, sources: self.sources, meeting, checked: self.checked }
    }
}

impl<B, S, M> ScatterCall<'_, B, S, M> {
    /// Checks indices first, which waits for the device: one that names no target is an error, as is, of [`unique`](ScatterCall::unique) ones, one
    /// that was there before, and nothing was written.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at, out) = (dev.upload(&[1u32, 2])?, dev.upload(&[0i32, -1])?, dev.upload(&[9u32; 3])?);
    /// let error = dev.scatter(&x, &at).checked().write_to(&out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 1, index: -1, .. }));
    /// assert_eq!(out.read_blocking()?, [9; 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn checked(mut self) -> Self {
        self.checked = true;
        self
    }
}

impl<B: Backend, S: ScatterSources<B>, M: Meeting<B, S>> ScatterCall<'_, B, S, M> {
    /// Enqueues the scatter to these targets. Those that no index names keep every bit.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if there are not as many values as indices; [`Error::TooLarge`] above 2^31 - 1 of them, and for 2^32 targets of sources
    /// that are computed; [`Error::Op`], [`Error::NotStrict`], [`Error::Unsupported`], [`Error::Aliasing`], [`Error::OutOfMemory`],
    /// [`Error::WrongDevice`]; of a checked call [`Error::IndexOutOfRange`] with the first offending position, and [`Error::DuplicateIndex`] with the
    /// first position whose index was there before.
    pub fn write_to(self, out: &Buffer<B, S::Element>) -> Result<()> {
        self.meeting.write(self.device, &self.sources, self.checked, out)
    }
}

impl<B: Move + Sort + Segmented, S: ScatterSources<B>, C: Combine<S::Element>> ScatterCall<'_, B, S, Combined<C>>
where
    S::Element: Element<Reg = S::Element> + Scalar,
{
    /// Enqueues the scatter into a new array of `targets` elements, each all values whose index it is, combined in their order; the operator's identity
    /// where there are none.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at) = (dev.upload(&[3.0f32, -1.0, 2.0, 8.0])?, dev.upload(&[2u64, 0, 2, 0])?);
    /// let sizes = Op::associative(0.0, |a: Expr<f32>, b: Expr<f32>| (a * a + b * b).sqrt());
    /// assert_eq!(dev.scatter(&x, &at).combine(sizes).run(3)?.read_blocking()?[1..], [0.0, 13.0f32.sqrt()]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`write_to`](ScatterCall::write_to).
    pub fn run(self, targets: u64) -> Result<Buffer<B, S::Element>> {
        let Self { device, sources, meeting: Combined(op), checked } = self;
        let out = combine::identities(device, &op, targets)?;
        match sources.plain() {
            Some((values, indices)) => {
                if checked {
                    check_scatter(device, combine::PATTERN, values, indices, &out)?;
                    check_indices(device, combine::PATTERN, indices, targets)?;
                }
                combine::combine(device, values, indices, &op, &out, false)?;
            }
            None => {
                let traced = sources.traced(device, combine::PATTERN)?;
                combine::combine_traced::<B, S::Element, At<B, S>>(device, traced, &op, checked, (&out, false))?;
            }
        }
        Ok(out)
    }
}
