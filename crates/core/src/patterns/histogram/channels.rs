//! Interleaved channels, and where their bins lie.

use super::sample::{Next, Rule};
use super::task::{Call, weight_bits};
use super::{HistogramTask, MAX_BINS, Sample, Weight};
use crate::backend::{Backend, Leaf, Run};
use crate::buffer::Buffer;
use crate::element::{DType, Element, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Input};
use crate::ir::graph::Value;
use crate::ir::{Expr, Param, Traced, select};
use crate::patterns::MapTask;
use crate::patterns::select::Count;

pub(super) fn no_channels(reason: String) -> Error {
    Error::InvalidArgument { what: "channels", reason }
}

/// The first channels of interleaved samples.
pub(super) struct Channels<'a, B: Backend, T> {
    x: &'a Buffer<B, T>,
    channels: u32,
    active: u32,
    /// Whether the samples of a pixel are read as one word.
    words: bool,
}

impl<'a, B: Backend, T: Element> Channels<'a, B, T> {
    /// One to four of `channels`, and whole pixels.
    pub(super) fn new(x: &'a Buffer<B, T>, channels: u32, active: u32) -> Result<Self> {
        if active == 0 || active > channels.min(4) {
            return Err(no_channels(format!("{active} active ones of {channels}; one to four of them can be")));
        }
        if !x.len().is_multiple_of(channels.into()) {
            return Err(no_channels(format!("{} samples are no whole pixels of {channels}", x.len())));
        }
        // Four bytes are one word.
        let words = T::DTYPE == DType::U8 && channels == 4 && x.offset().is_multiple_of(4);
        Ok(Self { x, channels, active, words })
    }

    pub(super) fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        let (x, pixels) = (self.x, self.x.len() / u64::from(self.channels));
        if !self.words {
            let each = |k: u64| x.strided(k.min(x.len()), pixels, self.channels.into())?.collect(c);
            return (0..u64::from(self.active)).try_for_each(each);
        }
        let leaf = Leaf::Elements { raw: x.raw().clone(), dtype: DType::U32, offset: x.offset() / 4, stride: 1 };
        c.length(pixels)?;
        c.push(Some(x.device()), DType::U32, Param::Value(Ty::U32), leaf)
    }

    /// A pixel's samples, by parameters from `next` on.
    pub(super) fn exprs(&self, next: &mut u16) -> Vec<Expr<T::Reg>> {
        let first = *next;
        if self.words {
            *next += 1;
            let word = <Expr<u32> as Traced>::params(first);
            return (0..self.active).map(|k| ((word >> (8 * k)) & 0xff).same_as::<T::Reg>()).collect();
        }
        *next += self.active as u16;
        (first..*next).map(Traced::params).collect()
    }
}

/// The bins of all channels.
pub(super) fn all_bins(each: impl Iterator<Item = Result<u64>>) -> Result<u64> {
    let requested = each.sum::<Result<u64>>()?;
    if requested > MAX_BINS { Err(Error::TooLarge { what: "bins of all channels", requested, limit: MAX_BINS }) } else { Ok(requested) }
}

/// The places of samples by their bins, and how many bins each channel has: those of a channel lie behind those of the one before it.
pub(super) fn behind_each_other(bins: impl Iterator<Item = (Expr<u32>, u32)>) -> Vec<Value> {
    let mut start = 0;
    let place = |(bin, bins): (Expr<u32>, u32)| {
        let place = if start == 0 { bin } else { bin + start };
        start += bins;
        select(bin.lt(bins), place, u32::MAX).value()
    };
    bins.map(place).collect()
}

/// The places of samples, one of a channel, where all channels have the bins of one rule. Its numbers are parameters from `next` on, as
/// [`Rule::collect_for_channels`] adds them.
pub(super) fn channels_bins<R: Sample>(samples: &[Expr<R>], rule: &Rule, next: u16, bins: u32) -> Vec<Value> {
    let bin = |&x: &Expr<R>| {
        let mut next = next;
        let mut next = if rule.is_constant_for_channels() { Next::constants(&mut next) } else { Next::params(&mut next) };
        (R::bin(x, rule, &mut next), bins)
    };
    behind_each_other(samples.iter().map(bin))
}

/// Counts of the first channels by bins of one rule, or the sums of their pixels' weights.
pub(crate) fn alike<B, T: Element, O: Element, I: Input<B, Exprs = Expr<W>>, W: Weight>(
    x: &Buffer<B, T>,
    (channels, active): (u32, u32),
    (rule, bins): (&Rule, u32),
    weights: Option<&I>,
    out: &Buffer<B, O>,
) -> Result<()>
where
    B: Run<HistogramTask> + Run<MapTask>,
    T::Reg: Sample,
{
    let samples = Channels::new(x, channels, active)?;
    let collect = |c: &mut Collector<B>| {
        samples.collect(c)?;
        weights.map_or(Ok(()), |w| w.collect(c))?;
        rule.collect_for_channels::<B, T::Reg>(c)
    };
    let trace = || {
        let mut next = 0;
        let (samples, weight) = (samples.exprs(&mut next), weights.map(|w| w.exprs(&mut next)));
        let mut results = channels_bins(&samples, rule, next, bins);
        results.extend(weight.map(weight_bits));
        Ok(results)
    };
    let call = Call::new(x.device(), u64::from(bins) * u64::from(active), collect, trace)?;
    if weights.is_some() { call.sums_of::<W>().enqueue(x.device(), out) } else { call.enqueue(x.device(), out) }
}

/// Counts of the first channels, each by bins of a rule of its own, whose numbers are constants.
pub(crate) fn each<B, T: Element, C: Count>(x: &Buffer<B, T>, channels: u32, of: &[(Rule, u32)], out: &Buffer<B, C>) -> Result<()>
where
    B: Run<HistogramTask> + Run<MapTask>,
    T::Reg: Sample,
{
    let samples = Channels::new(x, channels, of.len() as u32)?;
    let collect = |c: &mut Collector<B>| {
        samples.collect(c)?;
        of.iter().try_for_each(|(rule, _)| rule.collect::<B, T::Reg>(c, true))
    };
    let trace = || {
        let mut next = 0;
        let samples = samples.exprs(&mut next);
        let bins = samples.into_iter().zip(of).map(|(x, (rule, bins))| (T::Reg::bin(x, rule, &mut Next::constants(&mut next)), *bins));
        Ok(behind_each_other(bins))
    };
    let bins = all_bins(of.iter().map(|o| Ok(o.1.into())))?;
    Call::new(x.device(), bins, collect, trace)?.enqueue(x.device(), out)
}
