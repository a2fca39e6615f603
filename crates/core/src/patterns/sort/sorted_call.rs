//! Whether keys are in order: the call, with its modifiers.

use super::by::before;
use super::call::{Call, bits_of};
use super::sorted::{self, check_sorted, check_sorted_from};
use super::verb::By;
use super::{OrderedKeys, SortBy, check_len};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::call::Whole;
use crate::element::Element;
use crate::error::Result;
use crate::input::{Elements, Input, Source as _, Values as _, array, counting, scalar};
use crate::ir::{ArrayExpr, Expr};
use crate::ops::Min;
use crate::patterns::before::Neighbours;
use crate::patterns::merge_sort::{check_neighbours, check_sorted_by, comparison};
use crate::patterns::operand::Operand;
use crate::patterns::{Map as _, MapTask, Ordered, Reduce as _, ReduceTask};
use core::convert::identity;
use core::fmt;

/// A register that keys are compared in.
type Reg<B, I> = <<I as Elements<B>>::Element as Element>::Reg;

/// The question whether keys are in order, which [`run`](Self::run), [`write_to`](Self::write_to) and [`check`](Self::check) ask. It is made by
/// [`is_sorted`](super::Sort::is_sorted).
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let keys = dev.upload(&[310u32, 111, 120, 20])?;
/// assert_eq!(dev.is_sorted(&keys).run()?.read_blocking()?, 0);
/// assert_eq!(dev.is_sorted(&keys).by(|a, b| (a % 100).lt(b % 100)).run()?.read_blocking()?, 1);
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is computed before `run`, `write_to` or `check`"]
pub struct SortedCall<'d, B, I, P = Whole> {
    device: &'d B,
    keys: I,
    by: SortBy,
    domain: P,
}

impl<B, I, P: fmt::Debug> fmt::Debug for SortedCall<'_, B, I, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedCall").field("by", &self.by).field("domain", &self.domain).finish_non_exhaustive()
    }
}

impl<'d, B, I> SortedCall<'d, B, I> {
    pub(super) fn new(device: &'d B, keys: I) -> Self {
        Self { device, keys, by: SortBy::default(), domain: Whole }
    }
}

impl<'d, B: Backend, I: Elements<B>> SortedCall<'d, B, I> {
    /// Compares by a comparator: whether one key comes before another. Keys are values, not ones that are stored narrower.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3i32, -2, 1])?;
    /// assert_eq!(dev.is_sorted(x.reversed()).by(|a, b| a.abs().lt(b.abs())).run()?.read_blocking()?, 1);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn by<F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>>(self, before: F) -> SortedCall<'d, B, I, By<F>> {
        SortedCall { device: self.device, keys: self.keys, by: self.by, domain: By(before) }
    }
}

impl<B, I, P> Ordered for SortedCall<'_, B, I, P> {
    type By = SortBy;
    fn by_mut(&mut self) -> &mut SortBy {
        &mut self.by
    }
}

impl<B: Backend, I: Elements<B>, P: SortedDomain<B, I>> SortedCall<'_, B, I, P> {
    /// Enqueues the question; the answer, 1 or 0, stays on the device.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice), [`Error::LengthMismatch`](crate::Error::LengthMismatch),
    /// [`Error::Op`](crate::Error::Op), [`Error::NotStrict`](crate::Error::NotStrict); [`Error::TooLarge`](crate::Error::TooLarge) for 2^32 keys and more;
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for bits that the type or a comparator does not have.
    pub fn run(self) -> Result<DeviceScalar<B, u32>> {
        let out = self.device.buffer(1)?;
        P::write(&self, &out)?;
        DeviceScalar::from_buffer(out)
    }

    /// Enqueues the question; the answer is the first element of the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(b"abba")?, dev.upload(&[7u32, 7])?);
    /// dev.is_sorted(&keys).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [0, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SortedCall::run`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    pub fn write_to(self, out: &Buffer<B, u32>) -> Result<()> {
        P::write(&self, out)
    }

    /// Fails for keys that are not in order, naming the first that comes before its left neighbour. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[1i64, 2, 2, 1, 0])?;
    /// let error = dev.is_sorted(&keys).check().unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { index: 3, .. }));
    /// // Before what takes keys that are in order.
    /// let (sorted, needles) = (dev.upload(&[-10i32, 30, 20])?, dev.upload(&[20i32])?);
    /// let size = |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs());
    /// let error = dev.is_sorted(&sorted).by(size).check().and_then(|()| dev.lower_bound(&sorted, &needles).by(size).run()).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::NotSorted { index: 2, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotSorted`](crate::Error::NotSorted), and as [`SortedCall::run`].
    pub fn check(self) -> Result<()> {
        P::check(&self)
    }
}

/// Comparison of keys that are to be in order: by their bits, or by a comparator.
pub trait SortedDomain<B: Backend, I: Elements<B>>: Sized {
    /// Enqueues the question.
    #[doc(hidden)]
    fn write(call: &SortedCall<'_, B, I, Self>, out: &Buffer<B, u32>) -> Result<()>;

    /// Asks and waits.
    #[doc(hidden)]
    fn check(call: &SortedCall<'_, B, I, Self>) -> Result<()>;
}

impl<B, I> SortedDomain<B, I> for Whole
where
    B: Run<ReduceTask> + Run<MapTask>,
    I: Elements<B>,
{
    fn write(call: &SortedCall<'_, B, I, Self>, out: &Buffer<B, u32>) -> Result<()> {
        let (device, dtype) = (call.device, I::Element::DTYPE);
        let compared = OrderedKeys::new(&call.keys, &call.by)?;
        let by = &compared.by;
        if let Some(keys) = compared.plain() {
            Call::new(device, keys, by.clone())?;
            return sorted::is_sorted(device, keys, by, out);
        }
        bits_of(dtype, by)?;
        sorted::is_sorted_from(device, Neighbours::new(device, "is_sorted", &compared, identity)?, dtype, by, out)
    }

    fn check(call: &SortedCall<'_, B, I, Self>) -> Result<()> {
        let (device, dtype) = (call.device, I::Element::DTYPE);
        let compared = OrderedKeys::new(&call.keys, &call.by)?;
        let by = &compared.by;
        if let Some(keys) = compared.plain() {
            Call::new(device, keys, by.clone())?;
            return check_sorted(device, "check_sorted", "the array", keys, by);
        }
        bits_of(dtype, by)?;
        check_sorted_from(device, ("check_sorted", "the input"), Neighbours::new(device, "check_sorted", &compared, identity)?, dtype, by)
    }
}

impl<B, I, F> SortedDomain<B, I> for By<F>
where
    B: Run<ReduceTask> + Run<MapTask>,
    I: Elements<B> + Input<B, Exprs = Expr<Reg<B, I>>>,
    F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>,
{
    fn write(call: &SortedCall<'_, B, I, Self>, out: &Buffer<B, u32>) -> Result<()> {
        let (device, func) = (call.device, before::<I::Element>(&call.by, &call.domain.0)?);
        let before = comparison::<Reg<B, I>>(&func);
        let one = || device.generate_into(1, scalar(1u32), |one| one, out);
        if let Some(keys) = call.keys.plain() {
            let n = keys.len();
            check_len(n)?;
            if n < 2 {
                return one();
            }
            let fits = |(k, i): (ArrayExpr<I::Element>, Expr<u32>)| (!before(k.at(i + 1), k.at(i))).cast::<u32>();
            return device.reduce((array(keys), counting(n - 1)).map(fits), Min).write_to(out);
        }
        let found = Neighbours::new(device, "is_sorted", &call.keys, identity)?;
        let n = found.c.len()?;
        check_len(n)?;
        if n < 2 {
            return one();
        }
        let func = found.trace(|left, key, i| (i.eq(0) | !before(key, left)).cast::<u32>())?;
        device.reduce(&Operand::<_, u32>::new(found.c, func), Min).write_to(out)
    }

    fn check(call: &SortedCall<'_, B, I, Self>) -> Result<()> {
        let (device, func) = (call.device, before::<I::Element>(&call.by, &call.domain.0)?);
        let before = comparison::<Reg<B, I>>(&func);
        if let Some(keys) = call.keys.plain() {
            return check_sorted_by(device, "check_sorted", "the array", keys, before);
        }
        let found = Neighbours::new(device, "check_sorted", &call.keys, identity)?;
        check_len(found.c.len()?)?;
        check_neighbours(device, ("check_sorted", "the input"), &found, before)
    }
}
