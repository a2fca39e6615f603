//! Histograms.

use super::{DynBuffer, cast, with_dtype};
use crate::backend::{Backend, Run};
use crate::buffer::Buffer;
use crate::element::{DType, Element, Ty};
use crate::error::{Error, Result};
use crate::patterns::{Bins, Edges, HistogramTask, HistogramTotal as Total, MapTask, Sample, between, even};

/// What bins there are.
#[derive(Clone, Copy, Debug)]
pub enum DynBins<'a, B: Backend> {
    /// As [`even`]; bounds are numbers as text, which the samples' type decides.
    Even {
        /// Where the first bin starts.
        lower: &'a str,
        /// Where the last bin ends.
        upper: &'a str,
        /// How many there are.
        bins: u32,
    },
    /// As [`between`], of the samples' type.
    Edges(&'a DynBuffer<B>),
}

/// The number of samples in each bin (`u32`, or `u64` where there are more than 2^32 - 1), or the sum of their weights in the weights' type (of 8 or
/// 16 bits in that which computes).
///
/// # Errors
/// As [`Histogram`](crate::patterns::Histogram); [`Error::InvalidArgument`] for bounds that are no numbers of the samples' type.
pub fn histogram<B: Run<HistogramTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
    bins: DynBins<'_, B>,
    weights: Option<&DynBuffer<B>>,
) -> Result<DynBuffer<B>> {
    let mut total = HistogramTotal::new(device, x.dtype, bins, x.len, weights.map(DynBuffer::dtype))?;
    total.add(x, weights)?;
    total.result()
}

/// Calls `f` with the bins of these samples.
fn with_bins<B: Backend, T: Element + PartialOrd, R>(
    x: &Buffer<B, T>,
    bins: &DynBins<'_, B>,
    f: impl FnOnce(&dyn Bins<B>) -> Result<R>,
) -> Result<R>
where
    T::Reg: Sample + std::str::FromStr,
{
    match *bins {
        DynBins::Even { lower, upper, bins } => f(&even(x, bound::<T::Reg>(lower, T::DTYPE)?, bound(upper, T::DTYPE)?, bins)),
        DynBins::Edges(edges) => f(&between(x, &Edges::from_buffer(edges.typed::<T>()?)?)),
    }
}

fn bound<T: std::str::FromStr>(text: &str, dtype: DType) -> Result<T> {
    let wrong = |_| Error::InvalidArgument { what: "bounds", reason: format!("`{text}` is no bound of {dtype} samples") };
    text.trim().parse().map_err(wrong)
}

/// A histogram whose samples come in pieces: see [`crate::patterns::HistogramTotal`]. Counts and sums have the types that [`histogram`] gives them.
#[derive(Debug)]
pub struct HistogramTotal<'a, B: Backend> {
    device: B,
    bins: DynBins<'a, B>,
    cells: Cells<B>,
}

/// By what is added up.
#[derive(Debug)]
enum Cells<B: Backend> {
    Few(Total<B, u32>),
    Many(Total<B, u64>),
    U32(Total<B, u32>),
    I32(Total<B, i32>),
    U64(Total<B, u64>),
    I64(Total<B, i64>),
    F32(Total<B, f32>),
    F64(Total<B, f64>),
}

/// Calls `$body` with the total of whichever type.
macro_rules! each {
    ($cells:expr, $total:ident => $body:expr) => {
        match $cells {
            Cells::Few($total) | Cells::U32($total) => $body,
            Cells::Many($total) | Cells::U64($total) => $body,
            Cells::I32($total) => $body,
            Cells::I64($total) => $body,
            Cells::F32($total) => $body,
            Cells::F64($total) => $body,
        }
    };
}

impl<'a, B: Run<HistogramTask> + Run<MapTask>> HistogramTotal<'a, B> {
    /// Of `samples` samples of type `dtype` in all, counted or with weights of a type: nothing yet.
    ///
    /// # Errors
    /// As [`histogram`].
    pub fn new(device: &B, dtype: DType, bins: DynBins<'a, B>, samples: u64, weights: Option<DType>) -> Result<Self> {
        let nothing = DynBuffer::new(device, dtype, 0)?;
        let count = with_dtype!(dtype, T => with_bins(&nothing.typed::<T>()?, &bins, |bins| bins.bins()))?;
        let cells = match weights.map(DType::ty) {
            None if samples > u64::from(u32::MAX) => Cells::Many(Total::counts(device, count)?),
            None => Cells::Few(Total::counts(device, count)?),
            Some(Ty::U32 | Ty::Bool) => Cells::U32(Total::sums(device, count)?),
            Some(Ty::I32) => Cells::I32(Total::sums(device, count)?),
            Some(Ty::U64) => Cells::U64(Total::sums(device, count)?),
            Some(Ty::I64) => Cells::I64(Total::sums(device, count)?),
            Some(Ty::F32) => Cells::F32(Total::sums(device, count)?),
            Some(Ty::F64) => Cells::F64(Total::sums(device, count)?),
        };
        Ok(Self { device: device.clone(), bins, cells })
    }

    /// Adds samples, and their weights where there are any.
    ///
    /// # Errors
    /// As [`histogram`] and [`crate::patterns::HistogramTotal::add`].
    pub fn add(&mut self, x: &DynBuffer<B>, weights: Option<&DynBuffer<B>>) -> Result<()> {
        let weights = weights.map(|w| cast(&self.device, w, w.dtype.ty().dtype())).transpose()?;
        let missing = || Error::InvalidArgument { what: "weights", reason: "there are none".to_owned() };
        let weights = || weights.as_ref().ok_or_else(missing);
        let cells = &mut self.cells;
        with_dtype!(x.dtype, T => with_bins(&x.typed::<T>()?, &self.bins, |bins| match cells {
            Cells::Few(total) => total.add(bins),
            Cells::Many(total) => total.add(bins),
            Cells::U32(total) => total.add_weighted(bins, &weights()?.typed::<u32>()?),
            Cells::I32(total) => total.add_weighted(bins, &weights()?.typed::<i32>()?),
            Cells::U64(total) => total.add_weighted(bins, &weights()?.typed::<u64>()?),
            Cells::I64(total) => total.add_weighted(bins, &weights()?.typed::<i64>()?),
            Cells::F32(total) => total.add_weighted(bins, &weights()?.typed::<f32>()?),
            Cells::F64(total) => total.add_weighted(bins, &weights()?.typed::<f64>()?),
        }))
    }

    /// Counts or sums of what was added.
    ///
    /// # Errors
    /// As [`crate::patterns::HistogramTotal::result`].
    pub fn result(&self) -> Result<DynBuffer<B>> {
        each!(&self.cells, total => total.result().map(DynBuffer::from))
    }
}
