//! Ordered sums of segments: parts of each, of which as many are computed as there are at most, or a lane a segment.

use super::super::moves::IndexScalar;
use super::super::segments::{Segments, check_offsets};
use super::super::select::Count;
use super::super::{Map as _, Patterns, Reduce as _, Scan as _, Search as _, check_aliasing};
use super::{BLOCK, MOST, OrderedSumCall, PATTERN, RegOf, SumOrder, TURNS, half, next_of, pairs_from, part_of, stored, zero};
use crate::buffer::{Buffer, Memory as _};
use crate::call::{Checked, Offsets};
use crate::element::{Element, Float, Num};
use crate::error::{Error, Result};
use crate::input::{Lent, Numbers, Outputs as _, Source as _, array, counting, scalar};
use crate::ir::{ArrayExpr, Expr, lit, next_while, repeat, select};
use crate::ops::{Max, Sum};
use crate::patterns::map::collect;

impl<'d, B: Patterns, I: Numbers<B>> OrderedSumCall<'d, B, I>
where
    RegOf<B, I>: Float + Num + Element<Reg = RegOf<B, I>>,
{
    /// The sum of each segment, as of an array of its own; offsets are those of [`Call::segments`](crate::call::Call::segments). Pairwise sums have a lane for
    /// each part of up to 256 elements, whatever the lengths, a number and a sum in scratch each, and nothing waits. Others are one lane's work for each segment,
    /// and the call waits for the device to know the longest.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[1.0f32, 1e-8, 1e-8, 3.0])?, dev.upload(&[0u32, 3, 3, 4])?);
    /// assert_eq!(dev.ordered_sum(&x, SumOrder::Pairwise).segments(&offsets).run()?.read_blocking()?, [1.0, 0.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn segments<T: Count + IndexScalar>(self, offsets: &'d Buffer<B, T>) -> OrderedSumCall<'d, B, I, Offsets<'d, B, T>> {
        let Self { device, x, order, .. } = self;
        OrderedSumCall { device, x, order, over: Offsets(offsets) }
    }
}

impl<'d, B: Patterns, I: Numbers<B>, T: Count + IndexScalar> OrderedSumCall<'d, B, I, Offsets<'d, B, T>>
where
    RegOf<B, I>: Float + Num + Element<Reg = RegOf<B, I>>,
{
    /// Looks at the offsets first, and waits for the device: where one falls, or is above the number of elements, nothing is written.
    ///
    /// The call's errors are also [`Error::NotSorted`] and [`Error::IndexOutOfRange`].
    pub fn checked(self) -> OrderedSumCall<'d, B, I, Checked<Offsets<'d, B, T>>> {
        let Self { device, x, order, over } = self;
        OrderedSumCall { device, x, order, over: Checked(over) }
    }

    /// Enqueues the sums into new memory, one a segment.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] without an offset, [`Error::TooLarge`] for more than 2^32 - 1 elements; as [`map`](super::super::Map::map).
    pub fn run(self) -> Result<Buffer<B, RegOf<B, I>>> {
        let out = self.device.buffer(segments(self.over.0)?)?;
        self.write_to(&out)?;
        Ok(out)
    }

    /// Enqueues the sums into the caller's memory.
    ///
    /// # Errors
    /// As [`run`](Self::run); [`Error::BufferTooSmall`], [`Error::WrongDevice`], [`Error::Aliasing`].
    pub fn write_to(self, out: &Buffer<B, RegOf<B, I>>) -> Result<()> {
        enqueue(self.device, &self.x, self.order, self.over.0, out, |_| Ok(()))
    }
}

impl<'d, B: Patterns, I: Numbers<B>, T: Count + IndexScalar> OrderedSumCall<'d, B, I, Checked<Offsets<'d, B, T>>>
where
    RegOf<B, I>: Float + Num + Element<Reg = RegOf<B, I>>,
{
    /// Enqueues the sums into new memory, one a segment.
    ///
    /// # Errors
    /// As without the check; [`Error::NotSorted`], [`Error::IndexOutOfRange`].
    pub fn run(self) -> Result<Buffer<B, RegOf<B, I>>> {
        let out = self.device.buffer(segments(self.over.0.0)?)?;
        self.write_to(&out)?;
        Ok(out)
    }

    /// Enqueues the sums into the caller's memory.
    ///
    /// # Errors
    /// As [`run`](Self::run); [`Error::BufferTooSmall`], [`Error::WrongDevice`], [`Error::Aliasing`].
    pub fn write_to(self, out: &Buffer<B, RegOf<B, I>>) -> Result<()> {
        let (device, offsets) = (self.device, self.over.0.0);
        enqueue(device, &self.x, self.order, offsets, out, |n| check_offsets(device, PATTERN, offsets, n))
    }
}

/// The number of segments between offsets.
fn segments<B: Patterns, T: Count>(offsets: &Buffer<B, T>) -> Result<u64> {
    Segments { bounds: offsets, count: None }.most()
}

/// The first element of a segment and their number; of wrong offsets none outside of `n`.
fn bounds<T: Count + IndexScalar>(offsets: ArrayExpr<T>, segment: Expr<u32>, n: Expr<u32>) -> (Expr<u32>, Expr<u32>) {
    let at = |k: Expr<u32>| offsets.at(k).min(T::from_bits64(MOST)).cast::<u32>().min(n);
    let (first, end) = (at(segment), at(segment + 1));
    (first, select(first.lt(end), end - first, 0u32))
}

fn enqueue<B: Patterns, I: Numbers<B>, T: Count + IndexScalar>(
    device: &B,
    x: &I,
    order: SumOrder,
    offsets: &Buffer<B, T>,
    out: &Buffer<B, RegOf<B, I>>,
    before: impl FnOnce(u64) -> Result<()>,
) -> Result<()>
where
    RegOf<B, I>: Float + Num + Element<Reg = RegOf<B, I>>,
{
    let groups = segments(offsets)?;
    offsets.check_device(device, "the array of offsets")?;
    let c = collect(device, PATTERN, &Lent(x))?;
    let n = c.len()?;
    if n > MOST || groups > MOST {
        return Err(Error::TooLarge { what: "elements to sum in an order", requested: n.max(groups), limit: MOST });
    }
    let mut outs = Vec::new();
    Expr::<RegOf<B, I>>::outs(device, out, groups, &mut outs)?;
    check_aliasing(PATTERN, &c.leaves, n, &outs, false)?;
    check_aliasing(PATTERN, &[offsets.leaf()], offsets.len(), &outs, false)?;
    before(n)?;
    let out = &out.slice(..groups)?;
    if groups == 0 {
        return Ok(());
    }
    let x = stored(device, x)?;
    match order {
        SumOrder::Pairwise => pairwise(device, &x, offsets, out),
        _ => in_turn(device, &x, order, offsets, out),
    }
}

/// One lane a segment; `out` holds the sums between launches.
fn in_turn<B: Patterns, T: Element<Reg = R>, R, O>(
    device: &B,
    x: &Buffer<B, T>,
    order: SumOrder,
    offsets: &Buffer<B, O>,
    out: &Buffer<B, R>,
) -> Result<()>
where
    R: Float + Num + Element<Reg = R>,
    O: Count + IndexScalar,
{
    let (groups, n) = (out.len(), scalar(x.len() as u32));
    let lengths = (counting(groups), array(offsets), n).map(|(k, offsets, n)| bounds(offsets, k, n).1);
    let longest = device.reduce(lengths, Max).run()?.read_blocking()?;
    if longest == 0 {
        return device.map_into(counting(groups), |_| zero::<R>(false), out);
    }
    let corrections = device.buffer::<R>(groups)?;
    for first in (0..longest).step_by(TURNS as usize) {
        let add = |(k, (x, offsets), (first, n), s, c): (_, (ArrayExpr<T>, ArrayExpr<O>), (Expr<u32>, Expr<u32>), _, _)| {
            let begins = first.eq(0);
            let (at, len) = bounds(offsets, k, n);
            let state = (select(begins, zero(false), s), select(begins, zero(false), c), first);
            let (s, c, _) = repeat(TURNS, state, |(s, c, i)| {
                let (s, c) = next_of(order, s, c, x.at(at + i));
                next_while(i.lt(len), (s, c, i + 1))
            });
            (s, c)
        };
        let inputs = (counting(groups), (array(x), array(offsets)), (scalar(first), n), out, &corrections);
        device.map_into(inputs, add, (out, &corrections))?;
    }
    if order == SumOrder::Neumaier {
        device.map_into((out, &corrections), |(s, c)| s + c, out)?;
    }
    Ok(())
}

/// Halvings of a segment that make its parts, as [`halvings`](super::halvings) less the last one.
fn levels(len: Expr<u32>) -> Expr<u32> {
    let (_, count) = repeat(u32::BITS, (len, lit(0u32)), |(len, count)| next_while(len.gt(BLOCK), (len - half(len), count + 1)));
    count.max(1u32) - 1
}

/// A lane for each part of a segment, of which there are at most as many as segments and 64ths of elements, and the tree of each segment's parts.
fn pairwise<B: Patterns, T: Element<Reg = R>, R, O>(device: &B, x: &Buffer<B, T>, offsets: &Buffer<B, O>, out: &Buffer<B, R>) -> Result<()>
where
    R: Float + Num + Element<Reg = R>,
    O: Count + IndexScalar,
{
    let (groups, n) = (out.len(), scalar(x.len() as u32));
    let parts = groups + x.len() / (u64::from(BLOCK) / 2);
    if parts > MOST {
        return Err(Error::TooLarge { what: "parts of segments", requested: parts, limit: MOST });
    }
    let count = (counting(groups + 1), array(offsets), n, scalar(groups as u32)).map(|(k, offsets, n, groups)| {
        let (_, len) = bounds(offsets, k, n);
        select(k.lt(groups), lit(1u32) << levels(len), 0u32)
    });
    let of_parts = device.scan(count, Sum).exclusive().run()?;
    // The number of bounds up to a part is one more than that of its segment.
    let after = device.upper_bound(&of_parts, counting(parts)).run()?;
    let sum = |(part, after, (x, offsets, of_parts), (n, groups)): Part<T, O>| {
        let segment = after - 1;
        let (first, len) = bounds(offsets, segment, n);
        let (at, len) = part_of(part - of_parts.at(segment), len, levels(len));
        pairs_from(x, first + at, select(segment.lt(groups), len, 0u32), lit(1))
    };
    let partials = device.buffer::<R>(parts)?;
    let arrays = (array(x), array(offsets), array(&of_parts));
    device.map_into((counting(parts), &after, arrays, (n, scalar(groups as u32))), sum, &partials)?;
    device.reduce(&partials, Sum).segments(&of_parts).finish(|sum| sum + zero(false)).write_to(out)
}

type Part<T, O> = (Expr<u32>, Expr<u32>, (ArrayExpr<T>, ArrayExpr<O>, ArrayExpr<u32>), (Expr<u32>, Expr<u32>));
