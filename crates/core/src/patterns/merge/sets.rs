//! Sorted arrays as multisets.

use super::lazy_sets::{self, two};
use super::{Count, Merge, Search};
use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::call::Whole;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{Collector, Elements, index, require, scalar};
use crate::ir::Expr;
use crate::patterns::map::collect;
use crate::patterns::merge_sort;
use crate::patterns::sort::{By, InMemory};
use crate::patterns::{Map as _, Ordered, Select, Selected, SortOrder, check_aliasing, check_ops};
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
/// Both are any [inputs](Elements). What is computed lies in no memory but in the merged elements of unions and symmetric differences: it is computed for
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
    fn union<I: Elements<Self>, J: Elements<Self, Element = I::Element>>(&self, a: I, b: J) -> SetCall<'_, Self, I, J> {
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
    fn intersection<I: Elements<Self>, J: Elements<Self, Element = I::Element>>(&self, a: I, b: J) -> SetCall<'_, Self, I, J> {
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
    fn difference<I: Elements<Self>, J: Elements<Self, Element = I::Element>>(&self, a: I, b: J) -> SetCall<'_, Self, I, J> {
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
    fn symmetric_difference<I: Elements<Self>, J: Elements<Self, Element = I::Element>>(&self, a: I, b: J) -> SetCall<'_, Self, I, J> {
        SetCall::new(self, a, b, Kept::Differing)
    }
}
impl<B: Merge + Search + Select> Sets for B {}

/// Elements of two inputs that are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
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
    const fn merges(self) -> bool {
        matches!(self, Self::Either | Self::Differing)
    }

    /// Whether elements that both inputs have are looked for: to be kept in an intersection, to be left out of `a` in a symmetric difference.
    const fn takes_shared(self) -> bool {
        matches!(self, Self::Both | Self::Differing)
    }

    /// The elements that a result of inputs of so many has room for, which a word numbers together.
    fn room(self, m: u64, n: u64) -> Result<u64> {
        let (requested, limit) = (m.saturating_add(n), u32::MAX.into());
        if requested > limit {
            return Err(Error::TooLarge { what: "elements of two sets", requested, limit });
        }
        Ok(if self.merges() { requested } else { m })
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
#[derive(Clone)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct SetCall<'d, B, I, J, P = Whole> {
    device: &'d B,
    a: I,
    b: J,
    kept: Kept,
    order: SortOrder,
    domain: P,
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

/// The register that a comparator compares elements in.
type Reg<B, I> = <<I as Elements<B>>::Element as Element>::Reg;

impl<'d, B: Backend, I: Elements<B>, J> SetCall<'d, B, I, J> {
    /// Compares by a comparator: whether one element comes before another. It has to be a [strict weak order](super::super::Sort#comparators), and both
    /// inputs sorted by it. Elements are equal where neither comes before the other, so which of them a result holds shows: the table of [`Sets`] says it.
    /// Inputs that are no arrays are stored first.
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
    /// // Of the even numbers those whose tens are none of the array's.
    /// let found = dev.difference(counting(20).map(|i| i.cast::<i32>() * 2), b.map(|b| b * 10)).by(|a, b| (a.abs() / 10).lt(b.abs() / 10)).run()?;
    /// assert_eq!(found.read_blocking()?, [0, 2, 4, 6, 8, 12, 14, 16, 18, 22, 24, 26, 28, 30, 32, 34, 36, 38]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn by<F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>>(self, before: F) -> SetCall<'d, B, I, J, By<F>> {
        let Self { device, a, b, kept, order, .. } = self;
        SetCall { device, a, b, kept, order, domain: By(before) }
    }
}

impl<B, I, J, P> Ordered for SetCall<'_, B, I, J, P> {
    type By = SortOrder;
    fn by_mut(&mut self) -> &mut SortOrder {
        &mut self.order
    }
}

impl<B: Backend, I: Elements<B>, J, P: SetDomain<B, I, J>> SetCall<'_, B, I, J, P> {
    /// Enqueues the operation into new memory, which it returns: room for the elements of both inputs, or of `a`, and how many were written.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for 2^32 elements together, [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::WrongDevice`]; [`Error::Op`] for operators,
    /// [`Error::LengthMismatch`] for inputs of one side that have different lengths.
    pub fn run(self) -> Result<Selected<B, Buffer<B, I::Element>>> {
        let values = self.device.buffer(P::room(&self)?)?;
        let count = self.device.buffer::<u32>(1)?;
        P::write(&self, (&values, &count))?;
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
    pub fn write_to<C: Count>(self, out: (&Buffer<B, I::Element>, &Buffer<B, C>)) -> Result<()> {
        P::write(&self, out)
    }
}

/// The order that elements are compared in by a set operation: their bits, or a comparator.
pub trait SetDomain<B: Backend, I: Elements<B>, J>: Sized {
    /// The elements that there has to be room for.
    #[doc(hidden)]
    fn room(call: &SetCall<'_, B, I, J, Self>) -> Result<u64>;

    /// Checks and enqueues the operation.
    #[doc(hidden)]
    fn write<C: Count>(call: &SetCall<'_, B, I, J, Self>, out: Outs<'_, B, I::Element, C>) -> Result<()>;
}

impl<B: Sets, I: Elements<B>, J: Elements<B, Element = I::Element>> SetDomain<B, I, J> for Whole {
    fn room(call: &SetCall<'_, B, I, J, Self>) -> Result<u64> {
        let len = |c: Result<Collector<B>>| c?.len();
        call.kept.room(len(collect(call.device, PATTERN, &call.a))?, len(collect(call.device, PATTERN, &call.b))?)
    }

    fn write<C: Count>(call: &SetCall<'_, B, I, J, Self>, out: Outs<'_, B, I::Element, C>) -> Result<()> {
        let SetCall { device, kept, order, .. } = *call;
        let Some((a, b)) = call.a.plain().zip(call.b.plain()) else {
            let two = two(device, &call.a, &call.b)?;
            let how = (order, kept.takes_shared());
            return if kept.merges() { lazy_sets::both(device, &two, how, out) } else { lazy_sets::one(device, &two, how, out) };
        };
        check(device, kept, (a, b), out)?;
        let among = |own: &Buffer<B, I::Element>, other: &Buffer<B, I::Element>| {
            Ok((device.lower_bound(own, own).order(order).run()?, device.count_equal(other, own).order(order).run()?))
        };
        let merge = |of_a, of_b| device.merge(a, b).with_values(&of_a, &of_b).order(order).run();
        of_arrays(device, kept, (a, b), among, merge, out)
    }
}

impl<B, I, J, F> SetDomain<B, I, J> for By<F>
where
    B: Sets,
    I: Elements<B>,
    J: Elements<B, Element = I::Element>,
    F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>,
{
    fn room(call: &SetCall<'_, B, I, J, Self>) -> Result<u64> {
        call.kept.room(collect(call.device, PATTERN, &call.a)?.len()?, collect(call.device, PATTERN, &call.b)?.len()?)
    }

    fn write<C: Count>(call: &SetCall<'_, B, I, J, Self>, out: Outs<'_, B, I::Element, C>) -> Result<()> {
        let SetCall { device, kept, order, .. } = *call;
        let f = &call.domain.0;
        check_ops(device, PATTERN, device.numerics(), &[&*merge_sort::order(order, f)?])?;
        let (of_a, of_b) = (InMemory::new(device, &call.a, None::<&I>, None)?, InMemory::new(device, &call.b, None::<&J>, None)?);
        let (a, b) = (of_a.keys.clone(), of_b.keys.clone());
        check(device, kept, (&a, &b), out)?;
        let required = kept.room(a.len(), b.len())?;
        for (leaves, n) in [(of_a.leaves(), a.len()), (of_b.leaves(), b.len())] {
            check_aliasing(PATTERN, leaves, n, &[(out.0.out(), required), (out.1.out(), 1)], false)?;
        }
        of_a.store(device)?;
        of_b.store(device)?;
        let among = |own: &Buffer<B, I::Element>, other: &Buffer<B, I::Element>| {
            let first = device.lower_bound(own, own).by(f).order(order).run()?;
            Ok((first, device.count_equal(other, own).by(f).order(order).run()?))
        };
        let merge = |of_a, of_b| device.merge(&a, &b).by(f).with_values(&of_a, &of_b).order(order).run();
        of_arrays(device, kept, (&a, &b), among, merge, out)
    }
}

const PATTERN: &str = "a set operation";

/// Two arrays.
type Two<'a, B, K> = (&'a Buffer<B, K>, &'a Buffer<B, K>);
/// Elements and their number.
type Outs<'a, B, K, C> = (&'a Buffer<B, K>, &'a Buffer<B, C>);

fn check<B: Sets, K: Element, C: Count>(device: &B, kept: Kept, (a, b): Two<'_, B, K>, (out, count): Outs<'_, B, K, C>) -> Result<()> {
    let required = kept.room(a.len(), b.len())?;
    [a, b].into_iter().try_for_each(|keys| keys.check_device(device, "an input"))?;
    out.check_device(device, "the output")?;
    count.check_device(device, "the count")?;
    [K::DTYPE, C::DTYPE].into_iter().try_for_each(|dtype| require(device, PATTERN, dtype))?;
    for (what, required, available) in [("the output", required, out.len()), ("the count", 1, count.len())] {
        if available < required {
            return Err(Error::BufferTooSmall { what, required, available });
        }
    }
    let leaves = [super::call::leaf(a), super::call::leaf(b)];
    check_aliasing(PATTERN, &leaves, 0, &[(out.out(), required), (count.out(), 1)], false)
}

/// The operation on arrays. `among` gives, for each element of an array, the index of the first that is equal to it, and how many of the other array are:
/// an element is shared if it is one of so many first ones. `merge` merges both arrays with a flag to each element.
fn of_arrays<B: Sets, K: Element, C: Count>(
    device: &B,
    kept: Kept,
    (a, b): Two<'_, B, K>,
    among: impl Fn(&Buffer<B, K>, &Buffer<B, K>) -> Result<(Buffer<B, u32>, Buffer<B, u32>)>,
    merge: impl FnOnce(Buffer<B, u32>, Buffer<B, u32>) -> Result<(Buffer<B, K>, Buffer<B, u32>)>,
    out: Outs<'_, B, K, C>,
) -> Result<()> {
    let is_shared = |first: Expr<u32>, others: Expr<u32>, i: Expr<u32>| (i - first).lt(others);
    if !kept.merges() {
        let (first, others) = among(a, b)?;
        let keeps = |(_, first, others, i): (Expr<K::Reg>, Expr<u32>, Expr<u32>, Expr<u32>)| {
            let shared = is_shared(first, others, i);
            if kept.takes_shared() { shared } else { !shared }
        };
        return device.select((a, &first, &others, index()), keeps).finish(|(x, ..)| x.store_as::<K>()).write_to(out);
    }
    let stays = |own, other| {
        let (first, others) = among(own, other)?;
        device.map((&first, &others, index()), |(first, others, i)| (!is_shared(first, others, i)).cast::<u32>())
    };
    // First, so that an order that is refused has enqueued nothing.
    let of_b = stays(b, a)?;
    let of_a = if kept.takes_shared() { stays(a, b)? } else { device.generate(a.len(), scalar(1u32), |one| one)? };
    let (keys, flags) = merge(of_a, of_b)?;
    device.select_flagged(&keys, &flags).write_to(out)
}
