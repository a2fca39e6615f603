//! Sorted arrays as multisets.

use super::lazy_sets::{self, two};
use super::{Count, Merge, Search};
use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::call::Whole;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::index;
use crate::ir::Expr;
use crate::patterns::sort::{By, SortKeys};
use crate::patterns::{Map as _, Select, Selected, SortOrder, check_aliasing};
use core::fmt;

/// Union, intersection and differences of sorted arrays of every element type, as C++'s algorithms define them for multisets.
///
/// Where `a` holds an element `x` times and `b` holds it `y` times, the results hold, in the order that is asked for:
///
/// | result | how often | which |
/// |---|---|---|
/// | union | `max(x, y)` | all `x` of `a`, then the last `y - x` of `b` |
/// | intersection | `min(x, y)` | the first of `a` |
/// | difference | `max(x - y, 0)` | the last of `a` |
/// | symmetric difference | `abs(x - y)` | the last of whichever has more |
///
/// Elements compare as in a [sort](super::super::Sort#order), so equal ones have the same bits and "which" shows in no result, but where they compare
/// [by a comparator](SetCall::by); arrays without repetitions are sets. Both arrays have to be sorted in the order that is asked for; where one is not, what
/// the results hold is not determined, and no access leaves a buffer. [`is_sorted`](super::super::Sort::is_sorted) asks first, as for [searches](Search). An
/// `f16` that is NaN becomes the canonical one, as in a [selection](super::super::Select).
///
/// Counts stay on the device. What lies behind the elements that are written stays as it was. Outputs may not overlap inputs. Each array has less
/// than 2^32 elements, and so have both together. Work O((m + n) log(m + n)): every element is searched in both arrays, and then a selection keeps it
/// or does not; scratch is eight bytes to an element of `a`, and in unions and symmetric differences of `b` too, beside the merged elements with
/// a flag of four bytes.
///
/// Both are any [inputs](SortKeys). What is computed lies in no memory but in the merged elements of unions and symmetric differences: it is computed for
/// every search, and again where it is kept. Keys are those of [merges](super::super::Merge) of inputs.
///
/// Source: `std::set_union`, `std::set_intersection`, `std::set_difference`, `std::set_symmetric_difference` of C++.
pub trait Sets: Merge + Search + Select {
    /// The elements of either input.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 2, 2, 5])?, dev.upload(&[2u32, 2, 2, 4])?);
    /// assert_eq!(dev.union(&a, &b).run()?.read_blocking()?, [1, 2, 2, 2, 4, 5]);
    /// let found = dev.union(counting(4).map(|i| i * 2), counting(3).map(|i| i * 3)).run()?;
    /// assert_eq!(found.read_blocking()?, [0, 2, 3, 4, 6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn union<I: SortKeys<Self>, J: SortKeys<Self, Element = I::Element>>(&self, a: I, b: J) -> SetCall<'_, Self, I, J> {
        SetCall::new(self, a, b, Kept::Either)
    }

    /// The elements of both inputs.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 2, 2, 5])?, dev.upload(&[2u32, 2, 2, 4])?);
    /// assert_eq!(dev.intersection(&a, &b).run()?.read_blocking()?, [2, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn intersection<I: SortKeys<Self>, J: SortKeys<Self, Element = I::Element>>(&self, a: I, b: J) -> SetCall<'_, Self, I, J> {
        SetCall::new(self, a, b, Kept::Both)
    }

    /// The elements of `a` that remain when those of `b` are taken away.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 2, 2, 5])?, dev.upload(&[2u32, 4])?);
    /// assert_eq!(dev.difference(&a, &b).run()?.read_blocking()?, [1, 2, 5]);
    /// // The numbers below eight without an array's.
    /// assert_eq!(dev.difference(counting(8), &a).run()?.read_blocking()?, [0, 3, 4, 6, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn difference<I: SortKeys<Self>, J: SortKeys<Self, Element = I::Element>>(&self, a: I, b: J) -> SetCall<'_, Self, I, J> {
        SetCall::new(self, a, b, Kept::First)
    }

    /// The elements that one input has more often than the other.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 2, 2, 5])?, dev.upload(&[2u32, 4, 5])?);
    /// assert_eq!(dev.symmetric_difference(&a, &b).run()?.read_blocking()?, [1, 2, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn symmetric_difference<I: SortKeys<Self>, J: SortKeys<Self, Element = I::Element>>(&self, a: I, b: J) -> SetCall<'_, Self, I, J> {
        SetCall::new(self, a, b, Kept::Differing)
    }
}
impl<B: Merge + Search + Select> Sets for B {}

/// Which elements of two inputs are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::patterns) enum Kept {
    /// The union.
    Either,
    /// The intersection.
    Both,
    /// The difference.
    First,
    /// The symmetric difference.
    Differing,
}

impl Kept {
    /// Whether the result may hold elements of both inputs.
    pub(in crate::patterns) const fn merges(self) -> bool {
        matches!(self, Self::Either | Self::Differing)
    }

    /// The elements that a result of inputs of so many has room for.
    pub(in crate::patterns) const fn room(self, m: u64, n: u64) -> u64 {
        if self.merges() { m + n } else { m }
    }
}

/// A set operation that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. It is made by [`union`](Sets::union),
/// [`intersection`](Sets::intersection), [`difference`](Sets::difference) and [`symmetric_difference`](Sets::symmetric_difference).
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let (a, b) = (dev.upload(&[3i32, 1])?, dev.upload(&[2i32, 1])?);
/// assert_eq!(dev.union(&a, &b).descending().run()?.read_blocking()?, [3, 2, 1]);
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// # let a = dev.upload(&[3i32, 1])?;
/// dev.union(&a, a.reversed()).by(|a, b| a.lt(b)).run()?; // by a comparator, arrays alone
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct SetCall<'d, B, I, J, P = Whole> {
    pub(in crate::patterns) device: &'d B,
    pub(in crate::patterns) a: I,
    pub(in crate::patterns) b: J,
    pub(in crate::patterns) kept: Kept,
    pub(in crate::patterns) order: SortOrder,
    pub(in crate::patterns) domain: P,
}

impl<B, I, J, P: fmt::Debug> fmt::Debug for SetCall<'_, B, I, J, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("SetCall");
        call.field("kept", &self.kept).field("order", &self.order).field("domain", &self.domain).finish_non_exhaustive()
    }
}

impl<'d, B, I, J> SetCall<'d, B, I, J> {
    fn new(device: &'d B, a: I, b: J, kept: Kept) -> Self {
        Self { device, a, b, kept, order: SortOrder::Ascending, domain: Whole }
    }
}

impl<'d, B: Backend, K: Element, J> SetCall<'d, B, &'d Buffer<B, K>, J> {
    /// Compares by a comparator: whether one element comes before another. It has to be a [strict weak order](super::super::Sort#comparators), and both
    /// arrays sorted by it. Elements are equal where neither comes before the other, so which of them a result holds shows: the table of [`Sets`] says it.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[-1i32, 2, -2, -5])?, dev.upload(&[1i32, -2, 4])?);
    /// let size = |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs());
    /// assert_eq!(dev.union(&a, &b).by(size).run()?.read_blocking()?, [-1, 2, -2, 4, -5]);
    /// assert_eq!(dev.intersection(&a, &b).by(size).run()?.read_blocking()?, [-1, 2]);
    /// assert_eq!(dev.difference(&a, &b).by(size).run()?.read_blocking()?, [-2, -5]);
    /// assert_eq!(dev.symmetric_difference(&a, &b).by(size).run()?.read_blocking()?, [-2, 4, -5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn by<F: Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>>(self, before: F) -> SetCall<'d, B, &'d Buffer<B, K>, J, By<F>> {
        let Self { device, a, b, kept, order, .. } = self;
        SetCall { device, a, b, kept, order, domain: By(before) }
    }
}

impl<B, I, J, P> SetCall<'_, B, I, J, P> {
    /// Takes inputs whose greatest element comes first, and gives such a result; by a comparator, what it puts last comes first.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[9u32, 1])?, dev.upload(&[5u32, 1])?);
    /// assert_eq!(dev.symmetric_difference(&a, &b).descending().run()?.read_blocking()?, [9, 5]);
    /// assert_eq!(dev.symmetric_difference(&a, &b).by(|a, b| a.lt(b)).descending().run()?.read_blocking()?, [9, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn descending(self) -> Self {
        self.order(SortOrder::Descending)
    }

    /// Compares in this order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(b"aabcc")?, dev.upload(b"abbd")?);
    /// assert_eq!(dev.intersection(&a, &b).order(SortOrder::Ascending).run()?.read_blocking()?, *b"ab");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn order(mut self, order: SortOrder) -> Self {
        self.order = order;
        self
    }
}

impl<B: Backend, I: SortKeys<B>, J, P: SetDomain<B, I, J>> SetCall<'_, B, I, J, P> {
    /// Enqueues the operation into new memory, which it returns: room for the elements of both inputs, or of `a`, and how many were written.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for 2^32 elements together, [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::WrongDevice`]; [`Error::Op`] for operators,
    /// [`Error::LengthMismatch`] for inputs of one side that have different lengths.
    pub fn run(self) -> Result<Selected<B, Buffer<B, I::Element>>> {
        let (values, count) = P::write(&self, |n| Ok((self.device.buffer(n)?, self.device.buffer::<u32>(1)?)))?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// Enqueues the operation into the caller's buffers: room for the elements of both inputs in unions and symmetric differences, else for those of `a`, and
    /// their number, as `u32` or `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(b"aabcc")?, dev.upload(b"abbd")?);
    /// let (out, count) = (dev.upload(b".....")?, dev.buffer::<u64>(1)?);
    /// dev.intersection(&a, &b).write_to((&out, &count))?;
    /// assert_eq!((out.read_blocking()?, count.read_blocking()?), (b"ab...".to_vec(), vec![2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SetCall::run`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    pub fn write_to<C: Count>(self, (out, count): (&Buffer<B, I::Element>, &Buffer<B, C>)) -> Result<()> {
        P::write(&self, |_| Ok((out.clone(), count.clone()))).map(drop)
    }
}

/// Memory for elements, and for their number.
type Memory<B, K, C> = (Buffer<B, K>, Buffer<B, C>);

/// What elements are compared by in a set operation: their bits, or a comparator.
pub trait SetDomain<B: Backend, I: SortKeys<B>, J>: Sized {
    /// Enqueues the operation into the memory that is given for so many elements.
    #[doc(hidden)]
    #[allow(clippy::type_complexity, reason = "elements, and their number")]
    fn write<C: Count>(
        call: &SetCall<'_, B, I, J, Self>,
        memory: impl FnOnce(u64) -> Result<(Buffer<B, I::Element>, Buffer<B, C>)>,
    ) -> Result<(Buffer<B, I::Element>, Buffer<B, C>)>;
}

impl<B: Sets, I: SortKeys<B>, J: SortKeys<B, Element = I::Element>> SetDomain<B, I, J> for Whole {
    fn write<C: Count>(
        call: &SetCall<'_, B, I, J, Self>,
        memory: impl FnOnce(u64) -> Result<Memory<B, I::Element, C>>,
    ) -> Result<Memory<B, I::Element, C>> {
        let (device, kept) = (call.device, call.kept);
        // Of elements that are kept or not: the shared ones, or all but them.
        let how = (call.order, matches!(kept, Kept::Both | Kept::Differing));
        if let (Some(a), Some(b)) = (call.a.plain(), call.b.plain()) {
            let of = memory(kept.room(a.len(), b.len()))?;
            let (two, out) = ((a, b), (&of.0, &of.1));
            if kept.merges() {
                both(device, two, how, out)?;
            } else {
                one(device, two, how, out)?;
            }
            return Ok(of);
        }
        let two = two(device, &call.a, &call.b)?;
        let of = memory(kept.room(two[0].n, two[1].n))?;
        let out = (&of.0, &of.1);
        if kept.merges() {
            lazy_sets::both(device, &two, how, out)?;
        } else {
            lazy_sets::one(device, &two, how, out)?;
        }
        Ok(of)
    }
}

/// Two inputs.
type Two<'a, B, K> = (&'a Buffer<B, K>, &'a Buffer<B, K>);
/// Elements and their number.
type Outs<'a, B, K, C> = (&'a Buffer<B, K>, &'a Buffer<B, C>);

fn check<B: Sets, K: Element, C: Count>(device: &B, (a, b): Two<'_, B, K>, (out, count): Outs<'_, B, K, C>, required: u64) -> Result<()> {
    let limit = u32::MAX.into();
    if a.len() + b.len() > limit {
        return Err(Error::TooLarge { what: "elements of two sets", requested: a.len() + b.len(), limit });
    }
    [a, b].into_iter().try_for_each(|keys| keys.check_device(device, "an input"))?;
    out.check_device(device, "the output")?;
    count.check_device(device, "the count")?;
    for (what, required, available) in [("the output", required, out.len()), ("the count", 1, count.len())] {
        if available < required {
            return Err(Error::BufferTooSmall { what, required, available });
        }
    }
    let leaves = [super::call::leaf(a), super::call::leaf(b)];
    check_aliasing("a set operation", &leaves, 0, &[(out.out(), required), (count.out(), 1)], false)
}

/// For each element of `a` the index of the first that is equal to it, and how many of `b` are.
fn among<B: Search, K: Element>(device: &B, (a, b): Two<'_, B, K>, order: SortOrder) -> Result<(Buffer<B, u32>, Buffer<B, u32>)> {
    Ok((device.lower_bound(a, a).order(order).run()?, device.count_equal(b, a).order(order).run()?))
}

/// Whether an element is one of so many that the other array has too: the first ones are.
fn is_shared(first: Expr<u32>, others: Expr<u32>, i: Expr<u32>) -> Expr<bool> {
    (i - first).lt(others)
}

/// Of `a`, the elements that `b` has too, or those that it has not.
fn one<B: Sets, K: Element, C: Count>(
    device: &B,
    (a, b): Two<'_, B, K>,
    (order, shared): (SortOrder, bool),
    (out, count): Outs<'_, B, K, C>,
) -> Result<()> {
    check(device, (a, b), (out, count), a.len())?;
    let (first, others) = among(device, (a, b), order)?;
    let keeps = move |(_, first, others, i): (Expr<K::Reg>, Expr<u32>, Expr<u32>, Expr<u32>)| {
        let keep = is_shared(first, others, i);
        if shared { keep } else { !keep }
    };
    device.select((a, &first, &others, index()), keeps).finish(|(x, ..)| x.store_as::<K>()).write_to((out, count))
}

/// The merge of both arrays, without the elements of `b` that `a` has too, and possibly without those of `a` that `b` has.
fn both<B: Sets, K: Element, C: Count>(
    device: &B,
    (a, b): Two<'_, B, K>,
    (order, symmetric): (SortOrder, bool),
    (out, count): Outs<'_, B, K, C>,
) -> Result<()> {
    let total = a.len() + b.len();
    check(device, (a, b), (out, count), total)?;
    let kept = |a: &Buffer<B, K>, b: &Buffer<B, K>| {
        let (first, others) = among(device, (a, b), order)?;
        device.map((&first, &others, index()), |(first, others, i)| (!is_shared(first, others, i)).cast::<u32>())
    };
    let of_a = if symmetric {
        kept(a, b)?
    } else {
        let all = device.buffer(a.len())?;
        device.fill(&all, 1)?;
        all
    };
    let (keys, flags) = device.merge(a, b).with_values(&of_a, &kept(b, a)?).order(order).run()?;
    device.select_flagged(&keys, &flags).write_to((out, count))
}
