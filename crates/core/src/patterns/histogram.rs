//! P06 histogram: samples counted, or their weights added up, by bins.

mod bins;
mod bounds;
mod call;
mod channels;
mod even_floats;
mod exact;
mod sample;
mod task;
mod total;

pub use bins::{Between, Binned, Bins, CountedBins, Edges, Even, MAX_BINS, binned, bins_between, even_bins};
pub(crate) use bins::{Ruled, rule_of_text};
pub use call::{Binning, Counts, HistogramCall, Weights};
pub use channels::{
    AlikeChannels, BetweenChannels, ComputedChannels, EvenChannels, channels_alike, channels_between, channels_even, channels_of,
};
pub(crate) use channels::{alike as alike_into, check_active, each as each_into};
pub(crate) use exact::Exact;
pub use exact::{LIMBS, WIDE_LIMBS};
pub use sample::Sample;
pub(crate) use task::words_as;
pub use task::{HistogramSum, HistogramTask, Weight};
pub use total::HistogramTotal;

use super::MapTask;
use crate::backend::Run;

/// Number of samples that fall into each bin, or the sum of their weights.
///
/// Samples are a buffer or any other input, computed where they are counted. What bins there are is said by [`even_bins`], [`bins_between`] edges, or an
/// operator of your own ([`binned`]), or by [channels](channels_alike) of pixels; a tuple of two or three of these has the bins of an array in row-major order. There are up to 2^20 bins.
/// A sample in no bin is dropped, or counted in [one of two bins more](Even::with_flow).
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
/// let counts = dev.histogram(even_bins(&x, -1.0, 1.0, 8)).run()?;
/// let of_squares = dev.histogram(even_bins(x.map(|x| x * x), 0.0, 4.0, 8)).run()?;
/// # let _ = (counts, of_squares); Ok(()) }
/// ```
///
/// Source: Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 9.
pub trait Histogram: Run<HistogramTask> + Run<MapTask> {
    /// The number of samples in each bin. Modifiers: [`weighted`](HistogramCall::weighted), [`variant`](HistogramCall::variant).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[0u32, 5, 9, 12])?, dev.upload(&[0.5f32, 0.5, 1.5, 0.5])?);
    /// assert_eq!(dev.histogram(even_bins(&x, 0, 10, 2)).run()?.read_blocking()?, [1, 2]);
    /// // Two dimensions: rows by x, columns by y.
    /// let table = dev.histogram((even_bins(&x, 0, 10, 2), even_bins(&y, 0.0, 2.0, 2))).run()?;
    /// assert_eq!(table.read_blocking()?, [1, 0, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`HistogramCall::run`].
    fn histogram<N: Binning<Self>>(&self, bins: N) -> HistogramCall<'_, Self, N> {
        HistogramCall::new(self, bins)
    }
}
impl<B: Run<HistogramTask> + Run<MapTask>> Histogram for B {}
