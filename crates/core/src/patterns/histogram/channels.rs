//! Interleaved channels, and where their bins lie.

use super::sample::{Next, Rule};
use super::task::{Call, weight_bits};
use super::{Binning, Edges, HistogramTask, MAX_BINS, Sample, Weight, even_bins};
use crate::backend::{Backend, Leaf, Run};
use crate::buffer::Buffer;
use crate::element::{DType, Element, Num, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, array};
use crate::ir::graph::Value;
use crate::ir::{Expr, Param, Traced, select};
use crate::patterns::MapTask;
use crate::patterns::select::Count;

pub(super) fn no_channels(reason: String) -> Error {
    Error::InvalidArgument { what: "channels", reason }
}

/// Fails unless one to four of the channels are counted.
pub(crate) fn check_active(channels: u32, active: u64) -> Result<()> {
    if active == 0 || active > channels.min(4).into() {
        return Err(no_channels(format!("{active} active ones of {channels}; one to four of them can be")));
    }
    Ok(())
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
        check_active(channels, active.into())?;
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
    channels: (u32, u32),
    rule: (&Rule, u32),
    weights: Option<&I>,
    out: &Buffer<B, O>,
) -> Result<()>
where
    B: Run<HistogramTask> + Run<MapTask>,
    T::Reg: Sample,
{
    alike_call(x, channels, rule, weights)?.enqueue(x.device(), out)
}

fn alike_call<B: Backend, T: Element<Reg: Sample>, I: Input<B, Exprs = Expr<W>>, W: Weight>(
    x: &Buffer<B, T>,
    (channels, active): (u32, u32),
    (rule, bins): (&Rule, u32),
    weights: Option<&I>,
) -> Result<Call<B>> {
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
    Ok(if weights.is_some() { call.sums_of::<W>() } else { call })
}

/// Counts of the first channels, each by bins of a rule of its own, whose numbers are constants.
pub(crate) fn each<B, T: Element, C: Count>(x: &Buffer<B, T>, channels: u32, of: &[(Rule, u32)], out: &Buffer<B, C>) -> Result<()>
where
    B: Run<HistogramTask> + Run<MapTask>,
    T::Reg: Sample,
{
    each_call(x, channels, of, None::<&&Buffer<B, u32>>)?.enqueue(x.device(), out)
}

fn each_call<B: Backend, T: Element<Reg: Sample>, I: Input<B, Exprs = Expr<W>>, W: Weight>(
    x: &Buffer<B, T>,
    channels: u32,
    of: &[(Rule, u32)],
    weights: Option<&I>,
) -> Result<Call<B>> {
    let samples = Channels::new(x, channels, of.len() as u32)?;
    let collect = |c: &mut Collector<B>| {
        samples.collect(c)?;
        weights.map_or(Ok(()), |w| w.collect(c))?;
        of.iter().try_for_each(|(rule, _)| rule.collect::<B, T::Reg>(c, true))
    };
    let trace = || {
        let mut next = 0;
        let (samples, weight) = (samples.exprs(&mut next), weights.map(|w| w.exprs(&mut next)));
        let bins = samples.into_iter().zip(of).map(|(x, (rule, bins))| (T::Reg::bin(x, rule, &mut Next::constants(&mut next)), *bins));
        let mut results = behind_each_other(bins);
        results.extend(weight.map(weight_bits));
        Ok(results)
    };
    let bins = all_bins(of.iter().map(|o| Ok(o.1.into())))?;
    let call = Call::new(x.device(), bins, collect, trace)?;
    Ok(if weights.is_some() { call.sums_of::<W>() } else { call })
}

/// See [`channels_alike`].
#[derive(Clone, Copy, Debug)]
pub struct AlikeChannels<'a, B: Backend, T: Element> {
    x: &'a Buffer<B, T>,
    channels: (u32, u32),
    bounds: (T::Reg, T::Reg),
    bins: u32,
}

/// Even bins of the first `active` channels of interleaved samples, `channels` to a pixel (RGBA: 4): `bins` counts of the first channel, then
/// those of the second, and so on. A weight, where there are any, is one of a pixel, which is added to the bin of each of its active channels; pixels and
/// weights are read once.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let rgba = dev.upload(&[255u8, 0, 7, 255, 128, 0, 200, 255])?;
/// let counts = dev.histogram(channels_alike(&rgba, (4, 3), 0, 256, 2)).run()?;
/// assert_eq!(counts.read_blocking()?, [0, 2, 2, 0, 1, 1]);
/// // Colours weighted by the area that each covers.
/// let area = dev.upload(&[0.5f32, 0.25])?;
/// let sums = dev.histogram(channels_alike(&rgba, (4, 3), 0, 256, 2)).weighted(&area).run()?;
/// assert_eq!(sums.read_blocking()?, [0.0, 0.75, 0.75, 0.0, 0.5, 0.25]);
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// # Errors
/// Of the histogram: [`Error::InvalidArgument`] for samples that are no whole pixels, and for active channels that are not one to four of those that
/// there are; [`Error::LengthMismatch`] for other than a weight to each pixel.
pub fn channels_alike<B: Backend, T: Element<Reg: Sample>>(
    x: &Buffer<B, T>,
    (channels, active): (u32, u32),
    lower: T::Reg,
    upper: T::Reg,
    bins: u32,
) -> AlikeChannels<'_, B, T> {
    AlikeChannels { x, channels: (channels, active), bounds: (lower, upper), bins }
}

impl<B: Backend, T: Element<Reg: Sample>> Binning<B> for AlikeChannels<'_, B, T> {
    fn all_bins(&self) -> Result<u64> {
        Ok(u64::from(self.channels.1.min(4)) * u64::from(self.bins))
    }

    fn call<I: Input<B, Exprs = Expr<W>>, W: Weight>(&self, device: &B, weights: Option<&I>) -> Result<Call<B>> {
        self.x.check_device(device, "an input")?;
        let rule = even_bins((), self.bounds.0, self.bounds.1, self.bins).rule()?;
        alike_call(self.x, self.channels, (&rule, self.bins), weights)
    }
}

/// See [`channels_even`].
#[derive(Clone, Copy, Debug)]
pub struct EvenChannels<'a, B: Backend, T: Element> {
    x: &'a Buffer<B, T>,
    channels: u32,
    of: &'a [(T::Reg, T::Reg, u32)],
}

/// As [`channels_alike`], where each channel has bounds and a number of bins of its own: `(lower, upper, bins)` of the first channel, of the second, and so
/// on, for one to four of `channels` (CUB's `MultiHistogramEven`). The counts of a channel lie after those of the one before it; there are up to
/// 2^20 bins of all channels. Bounds are constants of the kernel here.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// // Hue of 360 degrees, saturation and value in percent.
/// let hsv = dev.upload(&[350.0f32, 10.0, 99.0, 120.0, 60.0, 20.0])?;
/// let counts = dev.histogram(channels_even(&hsv, 3, &[(0.0, 360.0, 3), (0.0, 100.0, 2)])).run()?;
/// assert_eq!(counts.read_blocking()?, [0, 1, 1, 1, 1]);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub fn channels_even<'a, B: Backend, T: Element<Reg: Sample>>(
    x: &'a Buffer<B, T>,
    channels: u32,
    of: &'a [(T::Reg, T::Reg, u32)],
) -> EvenChannels<'a, B, T> {
    EvenChannels { x, channels, of }
}

impl<B: Backend, T: Element<Reg: Sample>> Binning<B> for EvenChannels<'_, B, T> {
    fn all_bins(&self) -> Result<u64> {
        all_bins(self.of.iter().map(|o| Ok(o.2.into())))
    }

    fn call<I: Input<B, Exprs = Expr<W>>, W: Weight>(&self, device: &B, weights: Option<&I>) -> Result<Call<B>> {
        self.x.check_device(device, "an input")?;
        let rules = self.of.iter().map(|&(lower, upper, bins)| Ok((even_bins((), lower, upper, bins).rule()?, bins)));
        each_call(self.x, self.channels, &rules.collect::<Result<Vec<_>>>()?, weights)
    }
}

/// See [`channels_between`].
#[derive(Clone, Copy, Debug)]
pub struct BetweenChannels<'a, B: Backend, T> {
    x: &'a Buffer<B, T>,
    channels: u32,
    edges: &'a [&'a Edges<B, T>],
}

/// As [`channels_even`], with bins [`bins_between`](super::bins_between) edges of a channel's own (CUB's `MultiHistogramRange`).
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let pairs = dev.upload(&[1i32, -5, 30, 5, 2, 0])?;
/// let edges = (Edges::new(&dev, &[0, 2, 10, 100])?, Edges::new(&dev, &[-10, 0, 10])?);
/// let counts = dev.histogram(channels_between(&pairs, 2, &[&edges.0, &edges.1])).run()?;
/// assert_eq!(counts.read_blocking()?, [1, 1, 1, 1, 2]);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub fn channels_between<'a, B: Backend, T: Element>(
    x: &'a Buffer<B, T>,
    channels: u32,
    edges: &'a [&'a Edges<B, T>],
) -> BetweenChannels<'a, B, T> {
    BetweenChannels { x, channels, edges }
}

impl<B: Backend, T: Element<Reg: Num> + PartialOrd> Binning<B> for BetweenChannels<'_, B, T> {
    fn all_bins(&self) -> Result<u64> {
        all_bins(self.edges.iter().map(|e| e.bins()))
    }

    fn call<I: Input<B, Exprs = Expr<W>>, W: Weight>(&self, device: &B, weights: Option<&I>) -> Result<Call<B>> {
        let edges = self.edges;
        let samples = Channels::new(self.x, self.channels, edges.len() as u32)?;
        let collect = |c: &mut Collector<B>| {
            samples.collect(c)?;
            weights.map_or(Ok(()), |w| w.collect(c))?;
            edges.iter().try_for_each(|e| array(e.buffer()).collect(c))
        };
        let trace = || {
            let mut next = 0;
            let (samples, weight) = (samples.exprs(&mut next), weights.map(|w| w.exprs(&mut next)));
            let bins = samples.into_iter().zip(edges).map(|(x, edges)| edges.bin(x, &mut next, true));
            let of = edges.iter().map(|e| e.bins().map(|n| n as u32)).collect::<Result<Vec<_>>>()?;
            let mut results = behind_each_other(bins.zip(of));
            results.extend(weight.map(weight_bits));
            Ok(results)
        };
        let call = Call::new(device, self.all_bins()?, collect, trace)?;
        Ok(if weights.is_some() { call.sums_of::<W>() } else { call })
    }
}

/// See [`channels_of`].
#[derive(Clone, Copy, Debug)]
pub struct ComputedChannels<I, R> {
    inputs: I,
    bounds: (R, R),
    bins: u32,
}

/// As [`channels_alike`] of samples that an operator gives: an array of one to four of each pixel, which is an element of the inputs.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// // The bytes of words, and of their neighbours' differences.
/// let (x, y) = (dev.upload(&[3u32, 200, 90])?, dev.upload(&[100u32, 10, 100])?);
/// let both = (&x, &y).map(|(x, y)| [x, x.max(y) - x.min(y)]);
/// assert_eq!(dev.histogram(channels_of(both, 0, 256, 2)).run()?.read_blocking()?, [2, 1, 2, 1]);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub fn channels_of<I, R: Sample>(inputs: I, lower: R, upper: R, bins: u32) -> ComputedChannels<I, R> {
    ComputedChannels { inputs, bounds: (lower, upper), bins }
}

impl<B: Backend, S: Input<B, Exprs = [Expr<R>; N]>, R: Sample, const N: usize> Binning<B> for ComputedChannels<S, R> {
    fn all_bins(&self) -> Result<u64> {
        Ok(N.min(4) as u64 * u64::from(self.bins))
    }

    fn call<I: Input<B, Exprs = Expr<W>>, W: Weight>(&self, device: &B, weights: Option<&I>) -> Result<Call<B>> {
        if !(1..=4).contains(&N) {
            return Err(no_channels(format!("there are {N}; one to four can be")));
        }
        let rule = even_bins((), self.bounds.0, self.bounds.1, self.bins).rule()?;
        let collect = |c: &mut Collector<B>| {
            self.inputs.collect(c)?;
            weights.map_or(Ok(()), |w| w.collect(c))?;
            rule.collect_for_channels::<B, R>(c)
        };
        let trace = || {
            let mut next = 0;
            let (samples, weight) = (self.inputs.exprs(&mut next), weights.map(|w| w.exprs(&mut next)));
            let mut results = channels_bins(&samples, &rule, next, self.bins);
            results.extend(weight.map(weight_bits));
            Ok(results)
        };
        let call = Call::new(device, u64::from(self.bins) * N as u64, collect, trace)?;
        Ok(if weights.is_some() { call.sums_of::<W>() } else { call })
    }
}
