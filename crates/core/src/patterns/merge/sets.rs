//! Sorted arrays as multisets.

use super::lazy_sets::{self, two};
use super::{Count, Merge, Search};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{Input, Stored, index};
use crate::ir::Expr;
use crate::patterns::{Map as _, Select, Selected, SortOrder, check_aliasing};

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
/// Elements compare as in a [sort](super::super::Sort#order), so equal ones have the same bits and "which" shows in no result; arrays without
/// repetitions are sets. Both arrays have to be sorted in the order that is asked for; where one is not, what the results hold is not
/// determined. [`is_sorted`](super::super::Sort::is_sorted) asks first, as for [searches](Search). An `f16` that is NaN becomes the
/// canonical one, as in a [selection](super::super::Select).
///
/// Counts stay on the device. What lies behind the elements that are written stays as it was. Outputs may not overlap inputs. Each array has less
/// than 2^32 elements, and so have both together. Work O((m + n) log(m + n)): every element is searched in both arrays, and then a selection keeps it
/// or does not; scratch is eight bytes to an element of `a`, and in unions and symmetric differences of `b` too, beside the merged elements with
/// a flag of four bytes.
///
/// The `_from` forms take what operators make of any [inputs](crate::input::Source), which lies in no memory but in the merged elements of unions and
/// symmetric differences: it is computed for every search, and again where it is kept. Keys are those of [merges](super::super::Merge) of inputs.
///
/// Source: `std::set_union`, `std::set_intersection`, `std::set_difference`, `std::set_symmetric_difference` of C++.
pub trait Sets: Merge + Search + Select {
    /// The elements of either array.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 2, 2, 5])?, dev.upload(&[2u32, 2, 2, 4])?);
    /// assert_eq!(dev.union(&a, &b, SortOrder::Ascending)?.read_blocking()?, [1, 2, 2, 2, 4, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::WrongDevice`].
    fn union<K: Element>(&self, a: &Buffer<Self, K>, b: &Buffer<Self, K>, order: SortOrder) -> Result<Selected<Self, Buffer<Self, K>>> {
        let (values, count) = (self.buffer(a.len() + b.len())?, self.buffer::<u32>(1)?);
        self.union_into(a, b, order, &values, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Sets::union`], into the caller's buffers: room for the elements of both, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[3i32, 1])?, dev.upload(&[2i32, 1])?);
    /// let (out, count) = (dev.upload(&[9i32; 4])?, dev.buffer::<u32>(1)?);
    /// dev.union_into(&a, &b, SortOrder::Descending, &out, &count)?;
    /// assert_eq!((out.read_blocking()?, count.read_blocking()?), (vec![3, 2, 1, 9], vec![3]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::union`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn union_into<K: Element, C: Count>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
        out: &Buffer<Self, K>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        both(self, (a, b), (order, false), (out, count))
    }

    /// The elements of either input: what `f` makes of that of `a`, and `g` of that of `b`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let found = dev.union_from((counting(4), |i| i * 2), (counting(3), |i| i * 3), SortOrder::Ascending)?;
    /// assert_eq!(found.read_blocking()?, [0, 2, 3, 4, 6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::union`] and [`MergeCall::run`](super::MergeCall::run).
    fn union_from<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
    ) -> Result<Selected<Self, Buffer<Self, K::Element>>> {
        let two = two(self, a, b)?;
        let (values, count) = (self.buffer(two[0].n + two[1].n)?, self.buffer::<u32>(1)?);
        lazy_sets::both(self, &two, (order, false), (&values, &count))?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Sets::union_from`], into the caller's buffers: room for the elements of both, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (out, count) = (dev.buffer(5)?, dev.buffer::<u64>(1)?);
    /// dev.union_from_into((counting(3), |i| i), (counting(2), |i| i * 5), SortOrder::Ascending, &out, &count)?;
    /// assert_eq!((out.slice(..4)?.read_blocking()?, count.read_blocking()?), (vec![0, 1, 2, 5], vec![4]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::union_from`] and [`Sets::union_into`].
    fn union_from_into<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>, C: Count>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
        out: &Buffer<Self, K::Element>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        lazy_sets::both(self, &two(self, a, b)?, (order, false), (out, count))
    }

    /// The elements of both arrays.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 2, 2, 5])?, dev.upload(&[2u32, 2, 2, 4])?);
    /// assert_eq!(dev.intersection(&a, &b, SortOrder::Ascending)?.read_blocking()?, [2, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::union`].
    fn intersection<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
    ) -> Result<Selected<Self, Buffer<Self, K>>> {
        let (values, count) = (self.buffer(a.len())?, self.buffer::<u32>(1)?);
        self.intersection_into(a, b, order, &values, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Sets::intersection`], into the caller's buffers: room for the elements of `a`, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(b"aabcc")?, dev.upload(b"abbd")?);
    /// let (out, count) = (dev.upload(b".....")?, dev.buffer::<u32>(1)?);
    /// dev.intersection_into(&a, &b, SortOrder::Ascending, &out, &count)?;
    /// assert_eq!((out.read_blocking()?, count.read_blocking()?), (b"ab...".to_vec(), vec![2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::union_into`].
    fn intersection_into<K: Element, C: Count>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
        out: &Buffer<Self, K>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        one(self, (a, b), (order, true), (out, count))
    }

    /// The elements of both inputs, as in [`Sets::union_from`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // The squares among the multiples of three.
    /// let found = dev.intersection_from((counting(40), |i| i * 3), (counting(11), |i| i * i), SortOrder::Ascending)?;
    /// assert_eq!(found.read_blocking()?, [0, 9, 36, 81]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::intersection`] and [`MergeCall::run`](super::MergeCall::run).
    fn intersection_from<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
    ) -> Result<Selected<Self, Buffer<Self, K::Element>>> {
        let two = two(self, a, b)?;
        let (values, count) = (self.buffer(two[0].n)?, self.buffer::<u32>(1)?);
        lazy_sets::one(self, &two, (order, true), (&values, &count))?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Sets::intersection_from`], into the caller's buffers: room for the elements of `a`, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (out, count) = (dev.buffer(5)?, dev.buffer::<u64>(1)?);
    /// dev.intersection_from_into((counting(5), |i| i * 2), (counting(3), |i| i + 3), SortOrder::Ascending, &out, &count)?;
    /// assert_eq!((out.slice(..1)?.read_blocking()?, count.read_blocking()?), (vec![4], vec![1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::intersection_from`] and [`Sets::union_into`].
    fn intersection_from_into<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>, C: Count>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
        out: &Buffer<Self, K::Element>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        lazy_sets::one(self, &two(self, a, b)?, (order, true), (out, count))
    }

    /// The elements of `a` without those of `b`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 2, 2, 2, 5])?, dev.upload(&[2u32, 2, 4])?);
    /// assert_eq!(dev.difference(&a, &b, SortOrder::Ascending)?.read_blocking()?, [1, 2, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::union`].
    fn difference<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
    ) -> Result<Selected<Self, Buffer<Self, K>>> {
        let (values, count) = (self.buffer(a.len())?, self.buffer::<u32>(1)?);
        self.difference_into(a, b, order, &values, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Sets::difference`], into the caller's buffers: room for the elements of `a`, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[0.5f32, 1.5])?, dev.upload(&[1.5f32])?);
    /// let (out, count) = (dev.buffer(2)?, dev.buffer::<u32>(1)?);
    /// dev.difference_into(&a, &b, SortOrder::Ascending, &out, &count)?;
    /// assert_eq!((out.slice(..1)?.read_blocking()?, count.read_blocking()?), (vec![0.5], vec![1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::union_into`].
    fn difference_into<K: Element, C: Count>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
        out: &Buffer<Self, K>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        one(self, (a, b), (order, false), (out, count))
    }

    /// The elements of the first input without those of the second, as in [`Sets::union_from`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // What a sorted array lacks of the numbers below eight.
    /// let x = dev.upload(&[1u32, 2, 5])?;
    /// let found = dev.difference_from((counting(8), |i| i), (&x, |x| x), SortOrder::Ascending)?;
    /// assert_eq!(found.read_blocking()?, [0, 3, 4, 6, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::difference`] and [`MergeCall::run`](super::MergeCall::run).
    fn difference_from<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
    ) -> Result<Selected<Self, Buffer<Self, K::Element>>> {
        let two = two(self, a, b)?;
        let (values, count) = (self.buffer(two[0].n)?, self.buffer::<u32>(1)?);
        lazy_sets::one(self, &two, (order, false), (&values, &count))?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Sets::difference_from`], into the caller's buffers: room for the elements of `a`, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (out, count) = (dev.buffer(4)?, dev.buffer::<u64>(1)?);
    /// dev.difference_from_into((counting(4), |i| i), (counting(2), |i| i * 2), SortOrder::Ascending, &out, &count)?;
    /// assert_eq!((out.slice(..2)?.read_blocking()?, count.read_blocking()?), (vec![1, 3], vec![2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::difference_from`] and [`Sets::union_into`].
    fn difference_from_into<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>, C: Count>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
        out: &Buffer<Self, K::Element>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        lazy_sets::one(self, &two(self, a, b)?, (order, false), (out, count))
    }

    /// The elements that one array has more often than the other, as often as it has more.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 2, 2, 5])?, dev.upload(&[2u32, 4, 5])?);
    /// assert_eq!(dev.symmetric_difference(&a, &b, SortOrder::Ascending)?.read_blocking()?, [1, 2, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::union`].
    fn symmetric_difference<K: Element>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
    ) -> Result<Selected<Self, Buffer<Self, K>>> {
        let (values, count) = (self.buffer(a.len() + b.len())?, self.buffer::<u32>(1)?);
        self.symmetric_difference_into(a, b, order, &values, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Sets::symmetric_difference`], into the caller's buffers: room for the elements of both, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u64, 2])?, dev.upload(&[2u64, 3])?);
    /// let (out, count) = (dev.buffer(4)?, dev.buffer::<u32>(1)?);
    /// dev.symmetric_difference_into(&a, &b, SortOrder::Ascending, &out, &count)?;
    /// assert_eq!((out.slice(..2)?.read_blocking()?, count.read_blocking()?), (vec![1, 3], vec![2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::union_into`].
    fn symmetric_difference_into<K: Element, C: Count>(
        &self,
        a: &Buffer<Self, K>,
        b: &Buffer<Self, K>,
        order: SortOrder,
        out: &Buffer<Self, K>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        both(self, (a, b), (order, true), (out, count))
    }

    /// The elements that one input has more often than the other, as in [`Sets::union_from`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let found = dev.symmetric_difference_from((counting(5), |i| i * 2), (counting(4), |i| i * 3), SortOrder::Ascending)?;
    /// assert_eq!(found.read_blocking()?, [2, 3, 4, 8, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::symmetric_difference`] and [`MergeCall::run`](super::MergeCall::run).
    fn symmetric_difference_from<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
    ) -> Result<Selected<Self, Buffer<Self, K::Element>>> {
        let two = two(self, a, b)?;
        let (values, count) = (self.buffer(two[0].n + two[1].n)?, self.buffer::<u32>(1)?);
        lazy_sets::both(self, &two, (order, true), (&values, &count))?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Sets::symmetric_difference_from`], into the caller's buffers: room for the elements of both, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (out, count) = (dev.buffer(8)?, dev.buffer::<u64>(1)?);
    /// dev.symmetric_difference_from_into((counting(4), |i| i), (counting(4), |i| i + 2), SortOrder::Ascending, &out, &count)?;
    /// assert_eq!((out.slice(..4)?.read_blocking()?, count.read_blocking()?), (vec![0, 1, 4, 5], vec![4]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sets::symmetric_difference_from`] and [`Sets::union_into`].
    fn symmetric_difference_from_into<I: Input<Self>, J: Input<Self>, K: Stored, L: Stored<Element = K::Element>, C: Count>(
        &self,
        a: (I, impl FnOnce(I::Exprs) -> K),
        b: (J, impl FnOnce(J::Exprs) -> L),
        order: SortOrder,
        out: &Buffer<Self, K::Element>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        lazy_sets::both(self, &two(self, a, b)?, (order, true), (out, count))
    }
}
impl<B: Merge + Search + Select> Sets for B {}

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
    Ok((device.lower_bound(a, a, order)?, device.count_equal(b, a, order)?))
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
