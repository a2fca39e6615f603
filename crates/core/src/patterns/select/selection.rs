//! Selections and partitions as calls.

use super::task::{Call, enqueue};
use super::{Count, Parted, Select, SelectKind, Selected, kept_or_not};
use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::call::{Finished, Flag};
use crate::error::Result;
use crate::input::{Collector, Input, Outputs, Source as _, Values, index};
use crate::ir::{self, Expr};
use crate::patterns::map::collect;
use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

/// The values of the inputs are stored as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Each;

/// The values that are stored of an element: its own ([`Each`]), or those of a closure ([`Finished`]).
pub trait StoredOf<B: Backend, I: Input<B>> {
    /// The stored values.
    type Out: Outputs;

    /// The stored values of an element.
    #[doc(hidden)]
    fn stored(self, x: I::Exprs) -> Self::Out;
}

impl<B: Backend, I: Values<B>> StoredOf<B, I> for Each {
    type Out = I::Out;
    fn stored(self, x: I::Exprs) -> I::Out {
        I::out(x)
    }
}

impl<B: Backend, I: Input<B>, R: Outputs, F: FnOnce(I::Exprs) -> R> StoredOf<B, I> for Finished<F> {
    type Out = R;
    fn stored(self, x: I::Exprs) -> R {
        (self.0)(x)
    }
}

/// Condition by which an element is kept, or goes to the first part: an operator on it ([`Where`]), or flags beside it ([`Flagged`]).
pub trait Condition<B: Backend, X> {
    /// Adds the leaves of flags.
    #[doc(hidden)]
    fn collect(&self, c: &mut Collector<B>) -> Result<()>;

    /// Whether it holds; parameters of flags are from `next` on.
    #[doc(hidden)]
    fn holds(self, x: X, next: &mut u16) -> Expr<bool>;
}

/// A condition on elements.
#[derive(Clone, Copy, Debug)]
pub struct Where<F>(pub(super) F);

impl<B: Backend, X, F: FnOnce(X) -> Expr<bool>> Condition<B, X> for Where<F> {
    fn collect(&self, _: &mut Collector<B>) -> Result<()> {
        Ok(())
    }
    fn holds(self, x: X, _: &mut u16) -> Expr<bool> {
        (self.0)(x)
    }
}

/// Flags beside elements.
#[derive(Clone, Copy, Debug)]
pub struct Flagged<H>(pub(super) H);

impl<B: Backend, X, H: Input<B, Exprs: Flag>> Condition<B, X> for Flagged<H> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.0.collect(c)
    }
    fn holds(self, _: X, next: &mut u16) -> Expr<bool> {
        self.0.exprs(next).holds()
    }
}

/// A call that keeps elements.
#[derive(Clone, Copy, Debug)]
pub struct Kept;

/// A call that parts elements in two.
#[derive(Clone, Copy, Debug)]
pub struct InTwo;

/// Where elements go of which a condition holds, and where the others: [`Kept`] or [`InTwo`].
pub trait Ways {
    #[doc(hidden)]
    const PATTERN: &'static str;
    #[doc(hidden)]
    const KIND: SelectKind;
}

impl Ways for Kept {
    const PATTERN: &'static str = "select";
    const KIND: SelectKind = SelectKind::Keep;
}

impl Ways for InTwo {
    const PATTERN: &'static str = "partition";
    const KIND: SelectKind = SelectKind::TwoWays;
}

/// A selection or a partition in two that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. See [`Select::select`].
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct Selection<'d, B: Backend, I, P, S = Each, W = Kept> {
    device: &'d B,
    inputs: I,
    condition: P,
    stored: S,
    length: Option<&'d DeviceScalar<B, u32>>,
    ways: PhantomData<W>,
}

impl<B: Backend, I, P, S, W> fmt::Debug for Selection<'_, B, I, P, S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection").field("ways", &core::any::type_name::<W>()).finish_non_exhaustive()
    }
}

impl<'d, B: Backend, I, P, W> Selection<'d, B, I, P, Each, W> {
    /// A call without modifiers.
    pub(super) fn new(device: &'d B, inputs: I, condition: P) -> Self {
        Self { device, inputs, condition, stored: Each, length: None, ways: PhantomData }
    }

    /// Stores what `finish` makes of each element: a value, or a tuple of up to four, each in a buffer of its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Where the elements lie that are above a half, and their squares.
    /// let x = dev.upload(&[0.25f32, 0.75, 1.0])?;
    /// let found = dev.select((&x, index()), |(x, _)| x.gt(0.5)).finish(|(x, i)| (i, x * x)).run()?;
    /// let n = found.len_blocking()?;
    /// assert_eq!(found.values.0.slice(..n)?.read_blocking()?, [1, 2]);
    /// assert_eq!(found.values.1.slice(..n)?.read_blocking()?, [0.5625, 1.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn finish<R: Outputs, F: FnOnce(I::Exprs) -> R>(self, finish: F) -> Selection<'d, B, I, P, Finished<F>, W>
    where
        I: Input<B>,
    {
        let Self { device, inputs, condition, length, ways, .. } = self;
        Selection { device, inputs, condition, stored: Finished(finish), length, ways }
    }
}

impl<'d, B: Backend, I, P> Selection<'d, B, I, P, Each, InTwo> {
    /// Parts the others too: those for which `second` holds come before the rest. The two counts are those of the first two parts.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[5i32, -3, 0, 8, 0, -1])?;
    /// let (parts, counts) = dev.partition(&x, |x| x.lt(0)).three_way(|x| x.eq(0)).run()?;
    /// assert_eq!((parts.read_blocking()?, counts.read_blocking()?), (vec![-3, -1, 0, 0, 5, 8], vec![2, 2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn three_way<F: FnOnce(I::Exprs) -> Expr<bool>>(self, second: F) -> InThree<'d, B, I, OneOf<P, F>>
    where
        I: Input<B>,
    {
        InThree::new(self.device, self.inputs, OneOf(self.condition, second))
    }
}

impl<'d, B: Backend, I, P, S> Selection<'d, B, I, P, S> {
    /// Takes the first elements only, as many as a number on the device says, or all, if there are fewer. Nothing waits for the number. Later elements are
    /// looked at and dropped: the work is that of all.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let small = dev.select(&dev.upload(&[4u32, 9, 2, 7])?, |x| x.lt(9)).run()?;
    /// assert_eq!(dev.select(&small.values, |x| x.gt(2)).length(&small.count).run()?.read_blocking()?, [4, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn length(mut self, length: &'d DeviceScalar<B, u32>) -> Self {
        self.length = Some(length);
        self
    }
}

impl<B, I, P, S, W> Selection<'_, B, I, P, S, W>
where
    B: Select,
    I: Input<B>,
    P: Condition<B, I::Exprs>,
    S: StoredOf<B, I>,
    W: Ways,
{
    /// Enqueues the call into new memory, which it returns with the count.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Op`](crate::Error::Op), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice), [`Error::LengthMismatch`](crate::Error::LengthMismatch);
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for inputs without a length; [`Error::TooLarge`](crate::Error::TooLarge) for more than
    /// 2^32 - 1 elements (see [`write_to`](Self::write_to)).
    pub fn run(self) -> Result<Selected<B, <S::Out as Outputs>::Buffers<B>>> {
        let device = self.device;
        let (values, count) = (S::Out::allocate(device, self.collected()?.len()?)?, device.buffer::<u32>(1)?);
        self.write_to((S::Out::refs(&values), &count))?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// Enqueues the call into the caller's buffers: elements, and their number. They hold as many elements as the inputs and one, and may not overlap inputs;
    /// elements after those that are written stay as they are. The count may be a `u64`, for more elements than a `u32` can number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out, count) = (dev.iota::<u32>(6, 0, 1)?, dev.upload(&[99u32; 6])?, dev.upload(&[0u64])?);
    /// dev.select(&x, |x| (x & 1u32).eq(1)).write_to((&out, &count))?;
    /// assert_eq!((out.read_blocking()?, count.read_blocking()?), (vec![1, 3, 5, 99, 99, 99], vec![3]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    pub fn write_to<C: Count>(self, (out, count): (<S::Out as Outputs>::Refs<'_, B>, &Buffer<B, C>)) -> Result<()> {
        let c = self.collected()?;
        let Self { device, inputs, condition, stored, length, .. } = self;
        let func = ir::pack(c.params.clone(), || {
            let next = &mut 0;
            let mut holds = condition.holds(inputs.exprs(next), next);
            if let Some(length) = length {
                let (i, length) = (index(), length).exprs(next);
                holds = holds & i.lt(length);
            }
            Parted(kept_or_not(holds), stored.stored(inputs.exprs(&mut 0)))
        })?;
        enqueue::<B, S::Out, C>(device, Call { c, func: Arc::new(func), kind: W::KIND }, out, None, count)
    }

    /// The leaves: of the inputs, of flags, and of the length.
    fn collected(&self) -> Result<Collector<B>> {
        let mut c = collect(self.device, W::PATTERN, &self.inputs)?;
        self.condition.collect(&mut c)?;
        if let Some(length) = self.length {
            (index(), length).collect(&mut c)?;
        }
        Ok(c)
    }
}

/// Choice of one of three parts for an element: a number ([`Numbered`]), or two conditions ([`OneOf`]).
pub trait PartOf<B: Backend, I: Input<B>> {
    /// Adds the leaves of flags.
    #[doc(hidden)]
    fn collect(&self, c: &mut Collector<B>) -> Result<()>;

    /// The part of an element; parameters of flags are from `next` on.
    #[doc(hidden)]
    fn part(self, inputs: &I, next: &mut u16) -> Expr<u32>;
}

/// The number of an element's part.
#[derive(Clone, Copy, Debug)]
pub struct Numbered<F>(pub(super) F);

impl<B: Backend, I: Input<B>, F: FnOnce(I::Exprs) -> Expr<u32>> PartOf<B, I> for Numbered<F> {
    fn collect(&self, _: &mut Collector<B>) -> Result<()> {
        Ok(())
    }
    fn part(self, inputs: &I, next: &mut u16) -> Expr<u32> {
        (self.0)(inputs.exprs(next))
    }
}

/// Conditions of the first and of the second part.
#[derive(Clone, Copy, Debug)]
pub struct OneOf<P, F>(P, F);

impl<B: Backend, I: Input<B>, P: Condition<B, I::Exprs>, F: FnOnce(I::Exprs) -> Expr<bool>> PartOf<B, I> for OneOf<P, F> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.0.collect(c)
    }
    fn part(self, inputs: &I, next: &mut u16) -> Expr<u32> {
        let first = self.0.holds(inputs.exprs(next), next);
        ir::select(first, 0, ir::select((self.1)(inputs.exprs(&mut 0)), 1, 2))
    }
}

/// A partition in three that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. See [`Select::partition_three`].
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct InThree<'d, B: Backend, I, P, S = Each> {
    device: &'d B,
    inputs: I,
    part: P,
    stored: S,
}

impl<B: Backend, I, P, S> fmt::Debug for InThree<'_, B, I, P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InThree").finish_non_exhaustive()
    }
}

impl<'d, B: Backend, I, P> InThree<'d, B, I, P> {
    pub(super) fn new(device: &'d B, inputs: I, part: P) -> Self {
        Self { device, inputs, part, stored: Each }
    }

    /// Stores what `finish` makes of each element: a value, or a tuple of up to four, each in a buffer of its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out, counts) = (dev.iota::<u32>(6, 0, 1)?, dev.buffer::<u32>(6)?, dev.buffer::<u32>(2)?);
    /// dev.partition_three(&x, |x| x % 3).finish(|x| x * 10).write_to((&out, &counts))?;
    /// assert_eq!(out.read_blocking()?, [0, 30, 10, 40, 20, 50]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn finish<R: Outputs, F: FnOnce(I::Exprs) -> R>(self, finish: F) -> InThree<'d, B, I, P, Finished<F>>
    where
        I: Input<B>,
    {
        InThree { device: self.device, inputs: self.inputs, part: self.part, stored: Finished(finish) }
    }
}

impl<B: Select, I: Input<B>, P: PartOf<B, I>, S: StoredOf<B, I>> InThree<'_, B, I, P, S> {
    /// Enqueues the call into new memory, which it returns: the elements, and the counts of the first two parts.
    ///
    /// # Errors
    /// As [`Selection::run`].
    #[allow(clippy::type_complexity, reason = "buffers of results")]
    pub fn run(self) -> Result<(<S::Out as Outputs>::Buffers<B>, Buffer<B, u32>)> {
        let device = self.device;
        let (values, counts) = (S::Out::allocate(device, self.collected()?.len()?)?, device.buffer::<u32>(2)?);
        self.write_to((S::Out::refs(&values), &counts))?;
        Ok((values, counts))
    }

    /// Enqueues the call into the caller's buffers: the elements, and the counts of the first two parts.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out, counts) = (dev.upload(&[5i32, -3, 0, 8])?, dev.buffer(4)?, dev.buffer(2)?);
    /// dev.partition(&x, |x| x.lt(0)).three_way(|x| x.eq(0)).write_to((&out, &counts))?;
    /// assert_eq!((out.read_blocking()?, counts.read_blocking()?), (vec![-3, 0, 5, 8], vec![1, 1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Selection::write_to`].
    pub fn write_to(self, (out, counts): (<S::Out as Outputs>::Refs<'_, B>, &Buffer<B, u32>)) -> Result<()> {
        let c = self.collected()?;
        let Self { device, inputs, part, stored } = self;
        let func = ir::pack(c.params.clone(), || {
            let part = part.part(&inputs, &mut 0);
            Parted(part, stored.stored(inputs.exprs(&mut 0)))
        })?;
        enqueue::<B, S::Out, u32>(device, Call { c, func: Arc::new(func), kind: SelectKind::ThreeWays }, out, None, counts)
    }

    /// The leaves: of the inputs, and of flags.
    fn collected(&self) -> Result<Collector<B>> {
        let mut c = collect(self.device, InTwo::PATTERN, &self.inputs)?;
        self.part.collect(&mut c)?;
        Ok(c)
    }
}
