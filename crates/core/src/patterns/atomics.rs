//! P26 atomics: what programs build of atomic operations, with one result: tickets, counters that wrap, sums of fixed-point numbers.

mod fixed;

pub use fixed::{FixedPoint, FixedToFloat};

use super::groups::{MatchCall, Matching, Peers};
use super::moves::target_word;
use super::{Groups, Histogram, HistogramSum, HistogramTask, IndexElement, Map as _, check_aliasing};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::call::ArrayCall;
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, require, scalar};
use crate::ir::{Expr, graph, select};
use crate::patterns::map::collect;
use fixed::{Sources, power_of_two};
use std::sync::Arc;

/// Treatment of a fixed-point sum outside the bits that it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Overflow {
    /// It is taken modulo 2^64 or 2^32. No scratch.
    Wrap,
    /// The exact sum is taken to the nearest number that there is. Scratch: 16 bytes a target of 64 bits, 24 one of 32. Sources are read twice, for
    /// targets of 32 bits four times.
    Saturate,
}

/// Targets have less than 2^31 indices, so that negative ones are none of them.
const MOST_TARGETS: u64 = i32::MAX as u64;

/// Atomic operations as array patterns. An atomic operation's old value, and a float's sum, depend on which thread comes first; these do not.
///
/// - Sums, differences, minima, maxima and bit operations, also of floats, where programs loop over compare-and-swap:
///   [`ScatterCall::reduce`](super::ScatterCall::reduce).
/// - Tickets, which `atomicAdd` on a counter hands out in any order: here in the order of the elements.
/// - Counters that wrap at a limit (CUDA's `atomicInc` and `atomicDec`): how often they are counted up says all.
/// - Sums of floats as fixed-point numbers, which programs take for an order that does not show.
///
/// An index outside the targets counts for nothing. Outputs may not overlap inputs.
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, appendix B.
pub trait Atomics: Groups + Histogram {
    /// For each element how many before it have the same key, and how many have it in all. All NaN are one key; -0 and +0 are two.
    ///
    /// Work: a sort by the key. Scratch: some 32 bytes an element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let queues = dev.upload(&[3u32, 1, 3, 3, 1])?;
    /// let (ticket, length) = dev.tickets(&queues).run()?;
    /// assert_eq!(ticket.read_blocking()?, [0, 0, 1, 2, 1]);
    /// assert_eq!(length.read_blocking()?, [3, 2, 3, 3, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::LengthMismatch`], [`Error::Unsupported`], [`Error::Op`], [`Error::OutOfMemory`], [`Error::WrongDevice`].
    fn tickets<K: Scalar, I: Input<Self, Exprs = Expr<K>>>(&self, keys: I) -> MatchCall<'_, Self, I> {
        ArrayCall::new(self, Matching { keys, width: None, pattern: "tickets", peers: Peers::Rank })
    }

    /// `out[indices[i]]` becomes 0 where it is `limit` or above, else one more, for every `i`: CUDA's `atomicInc`. Scratch: 4 bytes a target.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (at, out) = (dev.upload(&[0u32, 1, 1, 1, 2])?, dev.upload(&[5u32, 1, 9, 9])?);
    /// dev.scatter_inc_into(&at, 2, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 1, 0, 9]); // 1, 2, 0, 1 in the second place; nothing happens in the last
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`] above 2^31 - 1 targets or indices; [`Error::Unsupported`], [`Error::Aliasing`], [`Error::OutOfMemory`],
    /// [`Error::WrongDevice`].
    fn scatter_inc_into<I: IndexElement>(&self, indices: &Buffer<Self, I>, limit: u32, out: &Buffer<Self, u32>) -> Result<()> {
        let up = |(count, old, limit): (Expr<u32>, Expr<u32>, Expr<u32>)| {
            // Above the limit the first step leads to 0.
            let above = old.gt(limit);
            let (from, steps) = (select(above, 0, old), select(above, count - 1u32, count));
            select(count.eq(0), old, around(from, steps, limit))
        };
        counted(self, "scatter_inc", indices, limit, up, out)
    }

    /// `out[indices[i]]` becomes `limit` where it is 0 or above `limit`, else one less, for every `i`: CUDA's `atomicDec`. Scratch: 4 bytes a target.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (at, out) = (dev.upload(&[0u32, 1, 1, 1, 2])?, dev.upload(&[5u32, 1, 0, 9])?);
    /// dev.scatter_dec_into(&at, 7, &out)?;
    /// assert_eq!(out.read_blocking()?, [4, 6, 7, 9]); // 1, 0, 7, 6 in the second place
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Atomics::scatter_inc_into`].
    fn scatter_dec_into<I: IndexElement>(&self, indices: &Buffer<Self, I>, limit: u32, out: &Buffer<Self, u32>) -> Result<()> {
        let down = |(count, old, limit): (Expr<u32>, Expr<u32>, Expr<u32>)| {
            let above = old.gt(limit);
            // Steps down from a place are steps up from its distance to the limit.
            let (from, steps) = (select(above, 0, limit - old), select(above, count - 1u32, count));
            select(count.eq(0), old, limit - around(from, steps, limit))
        };
        counted(self, "scatter_dec", indices, limit, down, out)
    }

    /// `out[indices[i]] += values[i] * 2^digits`, each product rounded to the nearest whole number, ties to even, for every `i`. A product outside the
    /// 64 or 32 bits of the targets is taken for the nearest number that there is, a NaN for 0.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at) = (dev.upload(&[0.5f32, 0.25, -3.0, 1e9])?, dev.upload(&[0u32, 0, 1, 2])?);
    /// let sums = dev.upload(&[0i64, 0, i64::MAX])?;
    /// dev.scatter_fixed_into(&x, &at, 16, Overflow::Saturate, &sums)?;
    /// assert_eq!(sums.read_blocking()?, [3 << 14, -3 << 16, i64::MAX]);
    /// assert_eq!(dev.fixed_to_float(&sums.slice(..2)?, 16).run()?.read_blocking()?, [0.75, -3.0]);
    /// // Where a device has no 64-bit integers:
    /// let sums = dev.upload(&[0i32, 0, i32::MAX])?;
    /// dev.scatter_fixed_into(&x, &at, 16, Overflow::Saturate, &sums)?;
    /// assert_eq!(sums.read_blocking()?, [3 << 14, -3 << 16, i32::MAX]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more than 120 digits before or behind the point; [`Error::LengthMismatch`]; [`Error::TooLarge`] above 2^31 - 1
    /// targets or sources; [`Error::Unsupported`] for `i64` where a device has no 64-bit integers; [`Error::Aliasing`], [`Error::OutOfMemory`],
    /// [`Error::WrongDevice`].
    fn scatter_fixed_into<I: IndexElement, A: FixedPoint>(
        &self,
        values: &Buffer<Self, f32>,
        indices: &Buffer<Self, I>,
        digits: i32,
        overflow: Overflow,
        out: &Buffer<Self, A>,
    ) -> Result<()> {
        let sources = Sources { device: self, values, indices, scale: power_of_two(digits)? };
        check_targets(self, "scatter_fixed", &collect(self, "scatter_fixed", &(indices, values))?, out)?;
        if indices.is_empty() || out.is_empty() {
            return Ok(());
        }
        sources.add(overflow, out)
    }

    /// `x * 2^-digits`, the integer rounded to the nearest `f32`, ties to even.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more than 120 digits before or behind the point; as [`Map::map`](super::Map::map).
    fn fixed_to_float<'a, A: FixedPoint>(&'a self, x: &'a Buffer<Self, A>, digits: i32) -> ArrayCall<'a, Self, FixedToFloat<'a, Self, A>> {
        ArrayCall::new(self, FixedToFloat { x, digits })
    }
}
impl<B: Groups + Histogram> Atomics for B {}

/// So many steps up from a place that is not above the limit, where a step from the limit leads to 0.
fn around(from: Expr<u32>, steps: Expr<u32>, limit: Expr<u32>) -> Expr<u32> {
    let places = limit + 1u32;
    let whole = places.eq(0);
    // A limit of 2^32 - 1 is that of the type, whose sums come around by themselves.
    let steps = select(whole, steps, steps % select(whole, 1u32, places));
    let left = limit - from;
    select(steps.gt(left), steps - left - 1u32, from + steps)
}

/// Targets and sources that are scattered to by index.
fn check_targets<B: Backend, T: Element>(device: &B, pattern: &'static str, c: &Collector<B>, out: &Buffer<B, T>) -> Result<()> {
    let n = c.len()?;
    out.check_device(device, "the output")?;
    require(device, pattern, T::DTYPE)?;
    for (what, requested) in [("sources of a scatter", n), ("targets of a scatter", out.len())] {
        if requested > MOST_TARGETS {
            return Err(Error::TooLarge { what, requested, limit: MOST_TARGETS });
        }
    }
    check_aliasing(pattern, &c.leaves, n, &[(out.out(), out.len())], false)
}

/// `then` of how often each target is named, what is there, and the limit.
fn counted<B: Atomics, I: IndexElement>(
    device: &B,
    pattern: &'static str,
    indices: &Buffer<B, I>,
    limit: u32,
    then: impl FnOnce((Expr<u32>, Expr<u32>, Expr<u32>)) -> Expr<u32>,
    out: &Buffer<B, u32>,
) -> Result<()> {
    let c = collect(device, pattern, &indices)?;
    check_targets(device, pattern, &c, out)?;
    let (n, targets) = (indices.len(), out.len());
    if n == 0 || targets == 0 {
        return Ok(());
    }
    let func =
        Arc::new(graph::trace(c.params.clone(), || vec![target_word(<Expr<I::Reg> as crate::ir::Traced>::params(0), targets).value()])?);
    let counts: Buffer<B, u32> = device.buffer(targets)?;
    let task = HistogramTask { func, n, bins: targets, sum: HistogramSum::Count, clears: true, numerics: device.numerics() };
    Run::<HistogramTask>::run(device, &task, &c.leaves, &[counts.out()])?;
    device.map_into((&counts, out, scalar(limit)), then, out)
}
