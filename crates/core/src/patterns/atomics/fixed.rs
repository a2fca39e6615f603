//! Sums of fixed-point numbers.

use super::super::moves::target_word;
use super::super::{Histogram, HistogramSum, HistogramTask, IndexElement, Map as _, check_ops};
use super::Overflow;
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::call::Arrays;
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Source, scalar};
use crate::ir::{Expr, graph, select};
use crate::patterns::MapTask;
use crate::patterns::map::collect;
use std::ops::Range;
use std::sync::Arc;

/// Fixed-point numbers have no more binary digits behind the point, or before it: so no power of two that scales is subnormal.
const MOST_DIGITS: u32 = 120;
/// Sources whose bytes, summed up by themselves, do not leave 32 bits.
const MOST_BYTES: u64 = 1 << 24;

/// An integer that holds a fixed-point number: `i64`, or `i32`, which every device has.
pub trait FixedPoint: Scalar + Element<Reg = Self> {
    /// The same bits, as histograms add them.
    #[doc(hidden)]
    type Bits: Scalar;
    #[doc(hidden)]
    const SUM: HistogramSum;
    #[doc(hidden)]
    fn add_saturating<B: Histogram, I: IndexElement>(sources: &Sources<'_, B, I>, out: &Buffer<B, Self>) -> Result<()>;
}

/// Values that are scaled, rounded and added, and where they are added.
pub struct Sources<'a, B: Histogram, I: IndexElement> {
    pub(super) device: &'a B,
    pub(super) values: &'a Buffer<B, f32>,
    pub(super) indices: &'a Buffer<B, I>,
    pub(super) scale: f32,
}

impl<B: Histogram, I: IndexElement> Sources<'_, B, I> {
    pub(super) fn add<A: FixedPoint>(&self, overflow: Overflow, out: &Buffer<B, A>) -> Result<()> {
        match overflow {
            Overflow::Wrap => self.sum(0..self.indices.len(), Expr::<A>::bitcast, out, false),
            Overflow::Saturate => A::add_saturating(self, out),
        }
    }

    /// Adds a part of each of these numbers to what is there, or to nothing; wrapping.
    fn sum<A: FixedPoint>(
        &self,
        range: Range<u64>,
        part: impl FnOnce(Expr<A>) -> Expr<A::Bits>,
        to: &Buffer<B, A>,
        clears: bool,
    ) -> Result<()> {
        let n = range.end - range.start;
        let (indices, values) = (self.indices.slice(range.clone())?, self.values.slice(range)?);
        let inputs = (&indices, &values, scalar(self.scale));
        let c = collect(self.device, "scatter_fixed", &inputs)?;
        let targets = to.len();
        let func = graph::trace(c.params.clone(), || {
            let (to, x, scale): (Expr<I::Reg>, Expr<f32>, Expr<f32>) = Source::exprs(&inputs, &mut 0);
            vec![target_word(to, targets).value(), part((x * scale).round_ties_even().cast()).value()]
        })?;
        let numerics = self.device.numerics();
        check_ops(self.device, "scatter_fixed", numerics, &[&func])?;
        let task = HistogramTask { func: Arc::new(func), n, bins: to.len(), sum: A::SUM, clears, numerics };
        Run::<HistogramTask>::run(self.device, &task, &c.leaves, &[to.out()])
    }

    fn buffers<T: Element, const N: usize>(&self, n: u64) -> Result<[Buffer<B, T>; N]> {
        let all: Vec<Buffer<B, T>> = (0..N).map(|_| self.device.buffer(n)).collect::<Result<_>>()?;
        Ok(all.try_into().unwrap_or_else(|_| unreachable!("as many as there are")))
    }
}

impl FixedPoint for i64 {
    type Bits = u64;
    const SUM: HistogramSum = HistogramSum::Wide;

    /// Sums of the upper and of the lower halves: neither leaves its 64 bits.
    fn add_saturating<B: Histogram, I: IndexElement>(sources: &Sources<'_, B, I>, out: &Buffer<B, Self>) -> Result<()> {
        let all = 0..sources.indices.len();
        let [high, low] = sources.buffers::<Self, 2>(out.len())?;
        sources.sum(all.clone(), |v: Expr<Self>| (v >> 32).bitcast(), &high, true)?;
        sources.sum(all, |v: Expr<Self>| v.bitcast::<u64>() & 0xffff_ffff, &low, true)?;
        sources.device.map_into((&high, &low, out), |(high, low, old)| saturated(high, low.bitcast(), old), out)
    }
}

impl FixedPoint for i32 {
    type Bits = u32;
    const SUM: HistogramSum = HistogramSum::Word;

    /// Sums of the four bytes of so many sources that none leaves its 32 bits, added to numbers of two words.
    fn add_saturating<B: Histogram, I: IndexElement>(sources: &Sources<'_, B, I>, out: &Buffer<B, Self>) -> Result<()> {
        let (device, n) = (sources.device, sources.indices.len());
        let [b0, b1, b2] = sources.buffers::<Self, 3>(out.len())?;
        let [b3, high] = sources.buffers::<Self, 2>(out.len())?;
        let [low] = sources.buffers::<u32, 1>(out.len())?;
        device.map_into(out, |old| (old.bitcast::<u32>(), old >> 31), (&low, &high))?;
        for first in (0..n).step_by(MOST_BYTES as usize) {
            let some = first..n.min(first + MOST_BYTES);
            for (to, shift) in [(&b0, 0), (&b1, 8), (&b2, 16)] {
                sources.sum(some.clone(), |v: Expr<Self>| (v.bitcast::<u32>() >> shift) & 0xff, to, true)?;
            }
            sources.sum(some, |v: Expr<Self>| (v >> 24).bitcast(), &b3, true)?;
            let inputs = (&b0, &b1, &b2, &b3, &low, &high);
            device.map_into(inputs, |(b0, b1, b2, b3, low, high)| with_bytes([b0, b1, b2, b3], low, high), (&low, &high))?;
        }
        let nearest = |(low, high): (Expr<u32>, Expr<Self>)| {
            let sum = low.bitcast::<Self>();
            select(high.eq(sum >> 31), sum, select(high.lt(0), Self::MIN, Self::MAX))
        };
        device.map_into((&low, &high), nearest, out)
    }
}

/// `high * 2^32 + low` and the sums of four bytes, of which the last has a sign.
fn with_bytes(bytes: [Expr<i32>; 4], low: Expr<u32>, high: Expr<i32>) -> (Expr<u32>, Expr<i32>) {
    let [b0, b1, b2, b3] = bytes;
    let unsigned = |b: Expr<i32>, shift: u32| ((b.bitcast::<u32>() >> (32 - shift)).bitcast::<i32>(), b.bitcast::<u32>() << shift);
    [(Expr::from(0), b0.bitcast()), unsigned(b1, 8), unsigned(b2, 16), (b3 >> 8, b3.bitcast::<u32>() << 24)].into_iter().fold(
        (low, high),
        |(low, high), (above, below)| {
            let sum = low + below;
            (sum, high + above + sum.lt(low).cast::<i32>())
        },
    )
}

/// `high * 2^32 + low + old`, or the nearest number of 64 bits.
fn saturated(high: Expr<i64>, low: Expr<u64>, old: Expr<i64>) -> Expr<i64> {
    let half = 0xffff_ffffu64;
    let below = (low & half) + (old.bitcast::<u64>() & half);
    let above = high + (old >> 32) + (low >> 32).bitcast::<i64>() + (below >> 32).bitcast::<i64>();
    let sum = (above << 32) | (below & half).bitcast::<i64>();
    select(above.gt(i64::from(i32::MAX)), i64::MAX, select(above.lt(i64::from(i32::MIN)), i64::MIN, sum))
}

pub(super) fn power_of_two(digits: i32) -> Result<f32> {
    if digits.unsigned_abs() > MOST_DIGITS {
        let reason = format!("{digits} binary digits; there are {MOST_DIGITS} at most, before or behind the point");
        return Err(Error::InvalidArgument { what: "digits", reason });
    }
    Ok(f32::from_bits(((127 + digits) as u32) << 23))
}

/// Fixed-point numbers that become floats.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct FixedToFloat<'a, B: Backend, A> {
    pub(super) x: &'a Buffer<B, A>,
    pub(super) digits: i32,
}

impl<B: Run<MapTask>, A: FixedPoint> Arrays<B> for FixedToFloat<'_, B, A> {
    type Out = Expr<f32>;

    fn elements(&self, _: &B) -> Result<u64> {
        Ok(self.x.len())
    }

    fn write(&self, device: &B, out: &Buffer<B, f32>) -> Result<()> {
        let scale = power_of_two(-self.digits)?;
        device.map_into((self.x, scalar(scale)), |(x, scale)| x.cast::<f32>() * scale, out)
    }
}
