//! P06 histogram: samples counted, or their weights added up, by bins.

mod bins;
mod bounds;
mod channels;
mod even_floats;
mod exact;
mod sample;
mod task;
mod total;

pub use bins::{Between, Binned, Bins, CountedBins, Edges, Even, MAX_BINS, between, binned, counted, even};
pub(crate) use bins::{Ruled, rule_of_text};
pub(crate) use channels::{alike as channels_alike, each as channels_each};
pub(crate) use exact::Exact;
pub use exact::{LIMBS, WIDE_LIMBS};
pub use sample::Sample;
pub(super) use task::Call;
pub(crate) use task::words_as;
pub use task::{HistogramSum, HistogramTask, Weight};
pub use total::HistogramTotal;

use super::MapTask;
use super::select::Count;
use crate::backend::Run;
use crate::buffer::{Buffer, Memory};
use crate::element::{Element, Num};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::input::{Collector, Input, array};
use crate::ir::Expr;
use channels::{Channels, all_bins, behind_each_other, channels_bins, no_channels};

/// How many samples fall into each bin, or what their weights come to.
///
/// Samples are a buffer or any other input, computed where they are counted. What bins there are is said by [`even`], [`between`] edges, or an
/// operator of your own ([`binned`]); a tuple of two or three of these has the bins of an array in row-major order. There are up to 2^20 bins.
/// A sample in no bin is dropped.
///
/// Counts are exact and integer weights wrap, so order is no question. The sum of float weights is the exact one, rounded once to the nearest float of
/// their type, ties to even: it does not depend on order either. A sum of zeroes is +0; beyond the range of the type it is infinite; a NaN among the weights of
/// a bin, or infinities of both signs, make it NaN, else an infinity stays.
///
/// Outputs hold an element for each bin; elements behind these stay as they were. Outputs may not overlap inputs.
///
/// Work O(n + bins); inputs are read once. Scratch: none, but for `f32` weights, 44 bytes to a bin, and for `f64` 272.
///
/// ```
/// # use isowarp_core::patterns::*;
/// # fn example<B: Histogram>(dev: &B) -> isowarp_core::Result<()> {
/// # use isowarp_core::{buffer::Memory, input::Source as _};
/// let x = dev.upload(&[0.5f32, 2.0, -0.1, 0.3])?;
/// let counts = dev.histogram(even(&x, -1.0, 1.0, 8))?;
/// let of_squares = dev.histogram(even(x.map(|x| x * x), 0.0, 4.0, 8))?;
/// # let _ = (counts, of_squares); Ok(()) }
/// ```
///
/// Source: Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 9.
pub trait Histogram: Run<HistogramTask> + Run<MapTask> {
    /// The number of samples in each bin.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[0u32, 5, 9, 12])?, dev.upload(&[0.5f32, 0.5, 1.5, 0.5])?);
    /// assert_eq!(dev.histogram(even(&x, 0, 10, 2))?.read_blocking()?, [1, 2]);
    /// // Two dimensions: rows by x, columns by y.
    /// let table = dev.histogram((even(&x, 0, 10, 2), even(&y, 0.0, 2.0, 2)))?;
    /// assert_eq!(table.read_blocking()?, [1, 0, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for bounds without room or no bins, [`Error::TooLarge`] for more than 2^20 bins or 2^32 - 1 samples (see
    /// [`Histogram::histogram_into`]), [`Error::LengthMismatch`], [`Error::Unsupported`], [`Error::Op`], [`Error::OutOfMemory`],
    /// [`Error::WrongDevice`].
    fn histogram<N: Bins<Self>>(&self, bins: N) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(bins.bins()?)?;
        self.histogram_into(bins, &out)?;
        Ok(out)
    }

    /// As [`Histogram::histogram`], into the caller's buffer; of `u64` for more samples than a `u32` can count.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(b"hello")?, dev.buffer::<u64>(26)?);
    /// dev.histogram_into(even(&x, 97, 123, 26), &out)?;
    /// assert_eq!(out.read_blocking()?[11], 2);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn histogram_into<N: Bins<Self>, C: Count>(&self, bins: N, out: &Buffer<Self, C>) -> Result<()> {
        let collect = |c: &mut Collector<Self>| bins.collect(c, false);
        Call::new(self, bins.bins()?, collect, || Ok(vec![bins.bin(&mut 0, false)?.value()]))?.enqueue(self, out)
    }

    /// The sum of the weights of the samples in each bin.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, w) = (dev.upload(&[0u32, 1, 1, 1])?, dev.upload(&[2.0f32, 1e30, 3.0, -1e30])?);
    /// assert_eq!(dev.histogram_weighted(even(&x, 0, 2, 2), &w)?.read_blocking()?, [2.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram`].
    fn histogram_weighted<N: Bins<Self>, W: Weight, I: Input<Self, Exprs = Expr<W>>>(
        &self,
        bins: N,
        weights: I,
    ) -> Result<Buffer<Self, W>> {
        let out = self.buffer(bins.bins()?)?;
        self.histogram_weighted_into(bins, weights, &out)?;
        Ok(out)
    }

    /// As [`Histogram::histogram_weighted`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[0u32, 1, 1])?, dev.buffer::<i32>(2)?);
    /// dev.histogram_weighted_into(even(&x, 0, 2, 2), x.map(|x| x.cast::<i32>() - 3), &out)?;
    /// assert_eq!(out.read_blocking()?, [-3, -4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram_into`].
    fn histogram_weighted_into<N: Bins<Self>, W: Weight, I: Input<Self, Exprs = Expr<W>>>(
        &self,
        bins: N,
        weights: I,
        out: &Buffer<Self, W>,
    ) -> Result<()> {
        Call::weighted::<N, W, I>(self, &bins, &weights)?.enqueue(self, out)
    }

    /// Even bins of the first `active` channels of interleaved samples, `channels` to a pixel (RGBA: 4): `bins` counts of the first channel, then
    /// those of the second, and so on.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let rgba = dev.upload(&[255u8, 0, 7, 255, 128, 0, 9, 255])?;
    /// let counts = dev.histogram_channels(&rgba, (4, 3), 0, 256, 2)?;
    /// assert_eq!(counts.read_blocking()?, [0, 2, 2, 0, 2, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram`]; [`Error::InvalidArgument`] for samples that are no whole pixels, and for active channels that are not one to
    /// four of those that there are.
    fn histogram_channels<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        (channels, active): (u32, u32),
        lower: T::Reg,
        upper: T::Reg,
        bins: u32,
    ) -> Result<Buffer<Self, u32>>
    where
        T::Reg: Sample,
    {
        let out = self.buffer(u64::from(active.min(4)) * u64::from(bins))?;
        self.histogram_channels_into(x, (channels, active), lower, upper, bins, &out)?;
        Ok(out)
    }

    /// As [`Histogram::histogram_channels`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (grey_alpha, out) = (dev.upload(&[9u8, 255, 200, 0])?, dev.buffer::<u64>(4)?);
    /// dev.histogram_channels_into(&grey_alpha, (2, 2), 0, 256, 2, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 1, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram_channels`] and [`Histogram::histogram_into`].
    fn histogram_channels_into<T: Element, C: Count>(
        &self,
        x: &Buffer<Self, T>,
        (channels, active): (u32, u32),
        lower: T::Reg,
        upper: T::Reg,
        bins: u32,
        out: &Buffer<Self, C>,
    ) -> Result<()>
    where
        T::Reg: Sample,
    {
        x.check_device(self, "an input")?;
        let rule = even((), lower, upper, bins).rule()?;
        channels_alike(x, (channels, active), (&rule, bins), None::<&&Buffer<Self, u32>>, out)
    }

    /// As [`Histogram::histogram_channels`], with the sums of weights in the place of counts: a pixel has one weight, which is added to the bin of each of its
    /// active channels. The sums are those of [`Histogram::histogram_weighted`] over each channel by itself; pixels and weights are read once.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Colours weighted by the area that each covers.
    /// let rgba = dev.upload(&[255u8, 0, 7, 255, 128, 0, 200, 255])?;
    /// let area = dev.upload(&[0.5f32, 0.25])?;
    /// let sums = dev.histogram_channels_weighted(&rgba, (4, 3), 0, 256, 2, &area)?;
    /// assert_eq!(sums.read_blocking()?, [0.0, 0.75, 0.75, 0.0, 0.5, 0.25]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram_channels`], and [`Error::LengthMismatch`] for other than a weight to each pixel.
    fn histogram_channels_weighted<T: Element, W: Weight, I: Input<Self, Exprs = Expr<W>>>(
        &self,
        x: &Buffer<Self, T>,
        (channels, active): (u32, u32),
        lower: T::Reg,
        upper: T::Reg,
        bins: u32,
        weights: I,
    ) -> Result<Buffer<Self, W>>
    where
        T::Reg: Sample,
    {
        let out = self.buffer(u64::from(active.min(4)) * u64::from(bins))?;
        self.histogram_channels_weighted_into(x, (channels, active), lower, upper, bins, weights, &out)?;
        Ok(out)
    }

    /// As [`Histogram::histogram_channels_weighted`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (grey_alpha, out) = (dev.upload(&[9u8, 255, 200, 0])?, dev.buffer::<i32>(4)?);
    /// dev.histogram_channels_weighted_into(&grey_alpha, (2, 2), 0, 256, 2, counting(2).map(|i| lit(7) - i.cast::<i32>()), &out)?;
    /// assert_eq!(out.read_blocking()?, [7, 6, 6, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram_channels_weighted`] and [`Histogram::histogram_into`].
    #[expect(clippy::too_many_arguments, reason = "those of histogram_channels_into, and the weights")]
    fn histogram_channels_weighted_into<T: Element, W: Weight, I: Input<Self, Exprs = Expr<W>>>(
        &self,
        x: &Buffer<Self, T>,
        (channels, active): (u32, u32),
        lower: T::Reg,
        upper: T::Reg,
        bins: u32,
        weights: I,
        out: &Buffer<Self, W>,
    ) -> Result<()>
    where
        T::Reg: Sample,
    {
        x.check_device(self, "an input")?;
        let rule = even((), lower, upper, bins).rule()?;
        channels_alike(x, (channels, active), (&rule, bins), Some(&weights), out)
    }

    /// As [`Histogram::histogram_channels`], where each channel has bounds and a number of bins of its own: `(lower, upper, bins)` of the first
    /// channel, of the second, and so on, for one to four of `channels` (CUB's `MultiHistogramEven`). The counts of a channel lie behind those of
    /// the one before it. Bounds are constants of the kernel here.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Hue of 360 degrees, saturation and value in percent.
    /// let hsv = dev.upload(&[350.0f32, 10.0, 99.0, 120.0, 60.0, 20.0])?;
    /// let counts = dev.histogram_channels_even(&hsv, 3, &[(0.0, 360.0, 3), (0.0, 100.0, 2)])?;
    /// assert_eq!(counts.read_blocking()?, [0, 1, 1, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram_channels`]; [`Error::TooLarge`] for more than 2^20 bins of all channels.
    fn histogram_channels_even<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        channels: u32,
        of: &[(T::Reg, T::Reg, u32)],
    ) -> Result<Buffer<Self, u32>>
    where
        T::Reg: Sample,
    {
        let out = self.buffer(all_bins(of.iter().map(|o| Ok(o.2.into())))?)?;
        self.histogram_channels_even_into(x, channels, of, &out)?;
        Ok(out)
    }

    /// As [`Histogram::histogram_channels_even`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (grey_alpha, out) = (dev.upload(&[9u8, 255, 200, 0])?, dev.buffer::<u64>(6)?);
    /// dev.histogram_channels_even_into(&grey_alpha, 2, &[(0, 256, 4), (0, 256, 2)], &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 0, 0, 1, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram_channels_even`] and [`Histogram::histogram_into`].
    fn histogram_channels_even_into<T: Element, C: Count>(
        &self,
        x: &Buffer<Self, T>,
        channels: u32,
        of: &[(T::Reg, T::Reg, u32)],
        out: &Buffer<Self, C>,
    ) -> Result<()>
    where
        T::Reg: Sample,
    {
        x.check_device(self, "an input")?;
        let rules = of.iter().map(|&(lower, upper, bins)| Ok((even((), lower, upper, bins).rule()?, bins)));
        channels_each(x, channels, &rules.collect::<Result<Vec<_>>>()?, out)
    }

    /// As [`Histogram::histogram_channels_even`], with bins [`between`] edges of a channel's own (CUB's `MultiHistogramRange`).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let pairs = dev.upload(&[1i32, -5, 30, 5, 2, 0])?;
    /// let edges = (Edges::new(&dev, &[0, 2, 10, 100])?, Edges::new(&dev, &[-10, 0, 10])?);
    /// assert_eq!(dev.histogram_channels_between(&pairs, 2, &[&edges.0, &edges.1])?.read_blocking()?, [1, 1, 1, 1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram_channels_even`].
    fn histogram_channels_between<T: Element + PartialOrd>(
        &self,
        x: &Buffer<Self, T>,
        channels: u32,
        edges: &[&Edges<Self, T>],
    ) -> Result<Buffer<Self, u32>>
    where
        T::Reg: Num,
    {
        let out = self.buffer(all_bins(edges.iter().map(|e| e.bins()))?)?;
        self.histogram_channels_between_into(x, channels, edges, &out)?;
        Ok(out)
    }

    /// As [`Histogram::histogram_channels_between`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (rgba, out) = (dev.upload(&[255u8, 0, 7, 255, 128, 0, 9, 255])?, dev.buffer::<u32>(3)?);
    /// let edges = (Edges::new(&dev, &[0u8, 200, 255])?, Edges::new(&dev, &[0u8, 1])?);
    /// dev.histogram_channels_between_into(&rgba, 4, &[&edges.0, &edges.1], &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 0, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram_channels_between`] and [`Histogram::histogram_into`].
    fn histogram_channels_between_into<T: Element + PartialOrd, C: Count>(
        &self,
        x: &Buffer<Self, T>,
        channels: u32,
        edges: &[&Edges<Self, T>],
        out: &Buffer<Self, C>,
    ) -> Result<()>
    where
        T::Reg: Num,
    {
        let samples = Channels::new(x, channels, edges.len() as u32)?;
        let collect = |c: &mut Collector<Self>| {
            samples.collect(c)?;
            edges.iter().try_for_each(|e| array(e.buffer()).collect(c))
        };
        let trace = || {
            let mut next = 0;
            let samples = samples.exprs(&mut next);
            let bins = samples.into_iter().zip(edges).map(|(x, edges)| edges.bin(x, &mut next, true));
            let of = edges.iter().map(|e| e.bins().map(|n| n as u32)).collect::<Result<Vec<_>>>()?;
            Ok(behind_each_other(bins.zip(of)))
        };
        Call::new(self, all_bins(edges.iter().map(|e| e.bins()))?, collect, trace)?.enqueue(self, out)
    }

    /// As [`Histogram::histogram_channels`] of what `f` gives of the inputs, a sample of each of up to four channels, which never lies in memory.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Sums and differences of two channels, in two bins each.
    /// let (x, y) = (dev.upload(&[1.0f32, 2.0, 7.0])?, dev.upload(&[1.0f32, 4.0, 1.0])?);
    /// let counts = dev.histogram_channels_from((&x, &y), |(x, y)| [x + y, x - y], -10.0, 10.0, 2)?;
    /// assert_eq!(counts.read_blocking()?, [0, 3, 1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram`]; [`Error::InvalidArgument`] for no channel and for more than four.
    fn histogram_channels_from<I: Input<Self>, R: Sample, const N: usize>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> [Expr<R>; N],
        lower: R,
        upper: R,
        bins: u32,
    ) -> Result<Buffer<Self, u32>> {
        let out = self.buffer(N.min(4) as u64 * u64::from(bins))?;
        self.histogram_channels_from_into(inputs, f, lower, upper, bins, &out)?;
        Ok(out)
    }

    /// As [`Histogram::histogram_channels_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.buffer::<u64>(6)?;
    /// dev.histogram_channels_from_into(counting(100), |i| [i, i % 10, i * 3], 0, 60, 2, &out)?;
    /// assert_eq!(out.read_blocking()?, [30, 30, 100, 0, 10, 10]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Histogram::histogram_channels_from`] and [`Histogram::histogram_into`].
    fn histogram_channels_from_into<I: Input<Self>, R: Sample, C: Count, const N: usize>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> [Expr<R>; N],
        lower: R,
        upper: R,
        bins: u32,
        out: &Buffer<Self, C>,
    ) -> Result<()> {
        if !(1..=4).contains(&N) {
            return Err(no_channels(format!("there are {N}; one to four can be")));
        }
        let rule = even((), lower, upper, bins).rule()?;
        let collect = |c: &mut Collector<Self>| {
            inputs.collect(c)?;
            rule.collect_for_channels::<Self, R>(c)
        };
        let trace = || {
            let mut next = 0;
            let samples = f(inputs.exprs(&mut next));
            Ok(channels_bins(&samples, &rule, next, bins))
        };
        Call::new(self, u64::from(bins) * N as u64, collect, trace)?.enqueue(self, out)
    }
}
impl<B: Run<HistogramTask> + Run<MapTask>> Histogram for B {}
