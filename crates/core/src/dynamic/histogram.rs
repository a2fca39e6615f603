//! Histograms.

use super::{DynBuffer, cast, with_dtype};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element, Ty};
use crate::error::{Error, Result};
use crate::patterns::{Bins, Edges, Histogram as _, HistogramTask, MapTask, between, even};

/// What bins there are.
#[derive(Clone, Copy, Debug)]
pub enum DynBins<'a, B: crate::backend::Backend> {
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

/// The number of samples in each bin (`u32`, or `u64` where there are more than 2^32 - 1), or the sum of their weights in the weights' type (`u8` in
/// `u32`, `f16` in `f32`).
///
/// # Errors
/// As [`Histogram`](crate::patterns::Histogram); [`Error::InvalidArgument`] for bounds that are no numbers of the samples' type, and for `f64` weights.
pub fn histogram<B: Run<HistogramTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
    bins: DynBins<'_, B>,
    weights: Option<&DynBuffer<B>>,
) -> Result<DynBuffer<B>> {
    with_dtype!(x.dtype, T => {
        let x = x.typed::<T>()?;
        match bins {
            DynBins::Even { lower, upper, bins } => {
                let (lower, upper) = (bound::<<T as Element>::Reg>(lower, T::DTYPE)?, bound(upper, T::DTYPE)?);
                sums(device, (&even(&x, lower, upper, bins), x.len()), weights)
            }
            DynBins::Edges(edges) => sums(device, (&between(&x, &Edges::from_buffer(edges.typed::<T>()?)?), x.len()), weights),
        }
    })
}

fn bound<T: std::str::FromStr>(text: &str, dtype: DType) -> Result<T> {
    let wrong = |_| Error::InvalidArgument { what: "bounds", reason: format!("`{text}` is no bound of {dtype} samples") };
    text.trim().parse().map_err(wrong)
}

fn sums<B: Run<HistogramTask> + Run<MapTask>>(
    device: &B,
    (bins, n): (&dyn Bins<B>, u64),
    weights: Option<&DynBuffer<B>>,
) -> Result<DynBuffer<B>> {
    let Some(weights) = weights else {
        if n > u64::from(u32::MAX) {
            let out: Buffer<B, u64> = device.buffer(bins.bins()?)?;
            device.histogram_into(bins, &out)?;
            return Ok(out.into());
        }
        return device.histogram(bins).map(DynBuffer::from);
    };
    let weights = cast(device, weights, weights.dtype.ty().dtype())?;
    macro_rules! weighted {
        ($t:ty) => {
            device.histogram_weighted(bins, &weights.typed::<$t>()?).map(DynBuffer::from)
        };
    }
    match weights.dtype.ty() {
        Ty::U32 | Ty::Bool => weighted!(u32),
        Ty::I32 => weighted!(i32),
        Ty::U64 => weighted!(u64),
        Ty::I64 => weighted!(i64),
        Ty::F32 => weighted!(f32),
        Ty::F64 => {
            let reason = "they are f64, whose exact sum has no form yet; f32 and integers have".to_owned();
            Err(Error::InvalidArgument { what: "weights", reason })
        }
    }
}
