//! Histograms of samples that come in pieces.

use super::task::{Call, Cells};
use super::{Bins, HistogramSum, HistogramTask, Weight};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::ir::Expr;
use crate::patterns::MapTask;
use crate::patterns::select::Count;

/// A histogram whose samples come in pieces, such as those of a file that the device does not hold: [`counts`](Self::counts), or
/// [`sums`](Self::sums) of weights. What it gives is what [`Histogram`](super::Histogram) gives of all samples at once, to the bit: sums of floats
/// are kept exact until they are asked for, so how the samples were cut does not show.
///
/// ```
/// # use isowarp::prelude::*;
/// # use isowarp::patterns::HistogramTotal;
/// # let dev = isowarp::Cpu::new();
/// let mut total = HistogramTotal::<_, u64>::counts(&dev, 2)?;
/// for piece in [&[1u32, 7, 30][..], &[4, 5]] {
///     total.add(even_bins(&dev.upload(piece)?, 0, 10, 2))?;
/// }
/// assert_eq!(total.result()?.read_blocking()?, [2, 2]);
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// Scratch: an element a bin, for `f32` sums 44 bytes more, for `f64` 272.
#[derive(Clone, Debug)]
pub struct HistogramTotal<B: Backend, T> {
    device: B,
    sum: HistogramSum,
    cells: Cells<B, T>,
    /// Samples so far.
    samples: u64,
}

impl<B: Run<HistogramTask> + Run<MapTask>, T: Element> HistogramTotal<B, T> {
    /// The number of samples in each of `bins` bins: nothing yet. A `u32` counts up to 2^32 - 1 samples.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::TooLarge`], [`Error::Unsupported`].
    pub fn counts(device: &B, bins: u64) -> Result<Self>
    where
        T: Count,
    {
        Self::new(device, HistogramSum::Count, bins)
    }

    /// The sums of the weights of the samples in each of `bins` bins: nothing yet.
    ///
    /// # Errors
    /// As [`HistogramTotal::counts`].
    pub fn sums(device: &B, bins: u64) -> Result<Self>
    where
        T: Weight,
    {
        Self::new(device, T::SUM, bins)
    }

    fn new(device: &B, sum: HistogramSum, bins: u64) -> Result<Self> {
        crate::input::require(device, "histogram", T::DTYPE)?;
        let cells = Cells::new(device, sum, bins, &device.buffer(bins)?)?;
        cells.clear(device)?;
        Ok(Self { device: device.clone(), sum, cells, samples: 0 })
    }

    /// Adds the samples of these bins.
    ///
    /// # Errors
    /// As [`Histogram::histogram`](super::Histogram::histogram), whose limits hold for all samples that were added;
    /// [`Error::InvalidArgument`] for bins of another number, and where weights are added up. Then nothing is added.
    pub fn add<N: Bins<B>>(&mut self, bins: N) -> Result<()>
    where
        T: Count,
    {
        let call = Call::new(&self.device, bins.bins()?, |c| bins.collect(c, false), || Ok(vec![bins.bin(&mut 0, false)?.value()]))?;
        self.enqueue(call)
    }

    /// Adds the weights of the samples of these bins.
    ///
    /// # Errors
    /// As [`HistogramTotal::add`].
    pub fn add_weighted<N: Bins<B>, I: Input<B, Exprs = Expr<T>>>(&mut self, bins: N, weights: I) -> Result<()>
    where
        T: Weight,
    {
        self.enqueue(Call::weighted::<N, T, I>(&self.device, &bins, &weights)?)
    }

    fn enqueue(&mut self, call: Call<B>) -> Result<()> {
        let wrong = |reason: String| Err(Error::InvalidArgument { what: "bins", reason });
        if call.bins != self.cells.out.len() {
            return wrong(format!("they are {}, the histogram has {}", call.bins, self.cells.out.len()));
        }
        if call.sum != self.sum {
            return wrong("samples are counted or their weights added up, not both".to_owned());
        }
        let n = call.check(&self.device, self.samples, T::DTYPE, None)?;
        call.add(&self.device, n, &self.cells)?;
        self.samples += n;
        Ok(())
    }

    /// Counts or sums of what was added. The buffer is the histogram's own: more may be added, and shows in it.
    ///
    /// # Errors
    /// As [`Map::map`](crate::patterns::Map::map).
    pub fn result(&self) -> Result<Buffer<B, T>> {
        self.cells.rounded(&self.device)?;
        Ok(self.cells.out.clone())
    }
}
