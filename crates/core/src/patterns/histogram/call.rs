//! The call of a histogram, and what it is of.

use super::task::Call;
use super::{Between, Binned, Bins, CountedBins, Even, HistogramTask, Ruled, Weight};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::call::{ByVariant, Variant, run_variant};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::input::Input;
use crate::ir::Expr;
use crate::patterns::MapTask;
use crate::patterns::select::Count;
use core::fmt;

/// Samples and their bins: any [`Bins`], or those of [channels](super::channels_alike).
pub trait Binning<B: Backend> {
    /// The number of bins.
    #[doc(hidden)]
    fn all_bins(&self) -> Result<u64>;

    /// Inputs and bins, and weights where there are any.
    #[doc(hidden)]
    fn call<I: Input<B, Exprs = Expr<W>>, W: Weight>(&self, device: &B, weights: Option<&I>) -> Result<Call<B>>;
}

macro_rules! binning {
    ($([$($of:tt)*] $bins:ty;)*) => {$(
        impl<$($of)* Bk: Backend> Binning<Bk> for $bins
        where
            $bins: Bins<Bk>,
        {
            fn all_bins(&self) -> Result<u64> {
                self.bins()
            }

            fn call<J: Input<Bk, Exprs = Expr<W>>, W: Weight>(&self, device: &Bk, weights: Option<&J>) -> Result<Call<Bk>> {
                match weights {
                    Some(weights) => Call::weighted::<Self, W, J>(device, self, weights),
                    None => Call::new(device, self.bins()?, |c| self.collect(c, false), || Ok(vec![self.bin(&mut 0, false)?.value()])),
                }
            }
        }
    )*};
}
binning! {
    ['a, N: ?Sized,] &'a N;
    [I, R,] Even<I, R>;
    [I, R,] Ruled<I, R>;
    ['a, I, B: Backend, T,] Between<'a, I, B, T>;
    [I, F,] Binned<I, F>;
    ['a, N, B: Backend,] CountedBins<'a, N, B>;
    [M, N,] (M, N);
    [L, M, N,] (L, M, N);
}

/// Samples are counted.
#[derive(Clone, Copy, Debug)]
pub struct Counts;

/// Weights of samples are added up.
#[derive(Clone, Copy, Debug)]
pub struct Weights<I>(I);

/// A histogram that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. It counts samples, or adds up their
/// [weights](Self::weighted).
#[derive(Clone)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct HistogramCall<'d, B, N, M = Counts> {
    pub(in crate::patterns) device: &'d B,
    pub(in crate::patterns) bins: N,
    pub(in crate::patterns) mode: M,
}

impl<B, N: fmt::Debug, M: fmt::Debug> fmt::Debug for HistogramCall<'_, B, N, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HistogramCall").field("bins", &self.bins).field("mode", &self.mode).finish_non_exhaustive()
    }
}

impl<'d, B, N> HistogramCall<'d, B, N> {
    pub(super) fn new(device: &'d B, bins: N) -> Self {
        Self { device, bins, mode: Counts }
    }

    /// Adds up weights, one of each sample: the sum of those in each bin.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, w) = (dev.upload(&[0u32, 1, 1, 1])?, dev.upload(&[2.0f32, 1e30, 3.0, -1e30])?);
    /// assert_eq!(dev.histogram(even_bins(&x, 0, 2, 2)).weighted(&w).run()?.read_blocking()?, [2.0, 3.0]);
    /// let out = dev.buffer::<i32>(2)?;
    /// dev.histogram(even_bins(&x, 0, 2, 2)).weighted(x.map(|x| x.cast::<i32>() - 3)).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [-3, -6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn weighted<I>(self, weights: I) -> HistogramCall<'d, B, N, Weights<I>> {
        HistogramCall { device: self.device, bins: self.bins, mode: Weights(weights) }
    }

    /// Counts in another way than the pattern's, in 32 bits: by a [`Variant`], such as a textbook's algorithm of the crate `isowarp-textbook`. Samples and
    /// bins are the pattern's.
    pub fn variant<P>(self, variant: P) -> HistogramCall<'d, B, N, ByVariant<P>> {
        HistogramCall { device: self.device, bins: self.bins, mode: ByVariant(variant) }
    }
}

impl<'d, B: Backend, N, M> HistogramCall<'d, B, N, M> {
    /// Takes the first samples only, as many as a number on the device says, or all, if there are fewer. Nothing waits for the number. Later samples are
    /// looked at and dropped: the work is that of all. Bounds of even bins are constants of the kernel then. Channels have no length.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let kept = dev.select(&dev.upload(&[0.25f32, -1.0, 0.75, 0.5])?, |x| x.ge(0.0)).run()?;
    /// let counts = dev.histogram(even_bins(&kept.values, 0.0, 1.0, 2)).length(&kept.count).run()?;
    /// assert_eq!(counts.read_blocking()?, [1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn length(self, length: &'d DeviceScalar<B, u32>) -> HistogramCall<'d, B, CountedBins<'d, N, B>, M> {
        HistogramCall { device: self.device, bins: CountedBins::new(self.bins, length), mode: self.mode }
    }
}

impl<B: Run<HistogramTask> + Run<MapTask>, N: Binning<B>> HistogramCall<'_, B, N> {
    /// Enqueues the histogram into new memory: counts of 32 bits.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for bounds without room or no bins, [`Error::TooLarge`] for more than 2^20 bins or 2^32 - 1 samples (which a buffer of
    /// `u64` counts), [`Error::LengthMismatch`], [`Error::Unsupported`], [`Error::Op`], [`Error::OutOfMemory`], [`Error::WrongDevice`].
    pub fn run(self) -> Result<Buffer<B, u32>> {
        let out = self.device.buffer(self.bins.all_bins()?)?;
        self.write_to(&out)?;
        Ok(out)
    }

    /// Enqueues the histogram into the caller's buffer, of `u32`, or of `u64` for more samples than a `u32` can count.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(b"hello")?, dev.buffer::<u64>(26)?);
    /// dev.histogram(even_bins(&x, 97, 123, 26)).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?[11], 2);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    pub fn write_to<C: Count>(self, out: &Buffer<B, C>) -> Result<()> {
        self.bins.call(self.device, None::<&&Buffer<B, u32>>)?.enqueue(self.device, out)
    }
}

impl<B, N: Binning<B>, W: Weight, I: Input<B, Exprs = Expr<W>>> HistogramCall<'_, B, N, Weights<I>>
where
    B: Run<HistogramTask> + Run<MapTask>,
{
    /// Enqueues the histogram into new memory: sums of the weights' type.
    ///
    /// # Errors
    /// As of one that counts.
    pub fn run(self) -> Result<Buffer<B, W>> {
        let out = self.device.buffer(self.bins.all_bins()?)?;
        self.write_to(&out)?;
        Ok(out)
    }

    /// Enqueues the histogram into the caller's buffer.
    ///
    /// # Errors
    /// As of one that counts.
    pub fn write_to(self, out: &Buffer<B, W>) -> Result<()> {
        self.bins.call(self.device, Some(&self.mode.0))?.enqueue(self.device, out)
    }
}

impl<B: Run<MapTask>, N: Binning<B> + Bins<B>, P: Variant<B, HistogramTask>> HistogramCall<'_, B, N, ByVariant<P>> {
    /// Enqueues the histogram into new memory: counts of 32 bits.
    ///
    /// # Errors
    /// As of one without a variant, and the variant's own.
    pub fn run(self) -> Result<Buffer<B, u32>> {
        let out = self.device.buffer(self.bins.bins()?)?;
        self.write_to(&out)?;
        Ok(out)
    }

    /// Enqueues the histogram into the caller's buffer, whose elements after the bins stay as they were.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    pub fn write_to(self, out: &Buffer<B, u32>) -> Result<()> {
        let call = self.bins.call(self.device, None::<&&Buffer<B, u32>>)?;
        call.counted(self.device, out, |task, leaves, outs| run_variant(&self.mode.0, self.device, &task, (leaves, outs)))
    }
}
