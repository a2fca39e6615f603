//! Histograms.

use super::{DynBuffer, cast, with_dtype};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element, Ty};
use crate::error::{Error, Result};
use crate::patterns::histogram::{Ruled, alike_into, each_into, rule_of_text};
use crate::patterns::{
    Bins, Edges, Histogram, HistogramTask, HistogramTotal as Total, HistogramVariant, HistogramVariantTask, MapTask, Sample, between,
    channels_between,
};

/// What bins there are.
#[derive(Clone, Copy, Debug)]
pub enum DynBins<'a, B: Backend> {
    /// As [`even`](crate::patterns::even) of samples of their stored type; bounds are decimal numbers as text. Bins are those of the real line, whatever the samples' type: an
    /// integer is in the one that it lies in, so bounds may have a fraction (`-0.5` to `255.5`) or be above the greatest of the type (`0` to `4294967296`).
    /// Edges of floats are made of the bounds in `f64`, and rounded to the samples' type.
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
    let mut total = HistogramTotal::new(device, &[x.dtype], &[bins], x.len, weights.map(DynBuffer::dtype))?;
    total.add(&[x], weights)?;
    total.result()
}

/// The same of one to three arrays of one length, each with bins of its own: an array of as many dimensions, row-major, as tuples of
/// [`Bins`] have it.
///
/// # Errors
/// As [`histogram`]; [`Error::InvalidArgument`] for no array, more than three, and bins of fewer or more of them.
pub fn histogram_joint<B: Run<HistogramTask> + Run<MapTask>>(
    device: &B,
    x: &[&DynBuffer<B>],
    bins: &[DynBins<'_, B>],
    weights: Option<&DynBuffer<B>>,
) -> Result<DynBuffer<B>> {
    let types: Vec<DType> = x.iter().map(|x| x.dtype).collect();
    let mut total = HistogramTotal::new(device, &types, bins, x.first().map_or(0, |x| x.len), weights.map(DynBuffer::dtype))?;
    total.add(x, weights)?;
    total.result()
}

/// The counts (`u32`) of one to three arrays, as [`histogram_joint`] has them, by a rung of the textbook's ladder.
///
/// # Errors
/// As [`histogram_joint`] and [`HistogramCall::variant`](crate::patterns::HistogramCall::variant); [`Error::TooLarge`] for more samples than 32 bits count.
pub fn histogram_variant<B: Run<HistogramTask> + Run<HistogramVariantTask> + Run<MapTask>>(
    device: &B,
    variant: HistogramVariant,
    x: &[&DynBuffer<B>],
    bins: &[DynBins<'_, B>],
) -> Result<DynBuffer<B>> {
    let mut counts = None;
    with_all(x, bins, &[], &mut |bins| {
        counts = Some(device.histogram(bins).variant(variant).run()?);
        Ok(())
    })?;
    let none = || Error::InvalidArgument { what: "bins", reason: "there are none".to_owned() };
    counts.map(DynBuffer::from).ok_or_else(none)
}

/// Interleaved samples counted by channel, `channels` to a pixel: those of the first channel by the first bins, and so on, one channel's counts
/// behind another's (`u32`, or `u64` where a channel has more than 2^32 - 1 samples). Bins are all even or all between edges. With weights, one to a
/// pixel, the result holds their sums, and all channels have the same even bins.
///
/// # Errors
/// As [`Histogram::histogram`] of [channels](crate::patterns::channels_alike);
/// [`Error::InvalidArgument`] for bins of both kinds, for weights and bins that are not the same even ones, and as [`histogram`].
pub fn histogram_channels<B: Run<HistogramTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
    channels: u32,
    bins: &[DynBins<'_, B>],
    weights: Option<&DynBuffer<B>>,
) -> Result<DynBuffer<B>> {
    if let Some(weights) = weights {
        return channels_weighted(device, x, channels, bins, &cast(device, weights, weights.dtype.ty().dtype())?);
    }
    let many = x.len.checked_div(channels.into()).unwrap_or(0) > u64::from(u32::MAX);
    macro_rules! counted {
        ($count:expr, |$out:ident| $into:expr) => {
            if many {
                let $out = &device.buffer::<u64>($count)?;
                $into?;
                Ok($out.clone().into())
            } else {
                let $out = &device.buffer::<u32>($count)?;
                $into?;
                Ok($out.clone().into())
            }
        };
    }
    with_dtype!(x.dtype, T => {
        let x = x.typed::<T>()?;
        let (mut evens, mut edges) = (Vec::new(), Vec::new());
        for bins in bins {
            match *bins {
                DynBins::Even { lower, upper, bins } => {
                    evens.push((rule_of_text::<<T as Element>::Reg>([lower, upper], bins, T::DTYPE)?, bins));
                }
                DynBins::Edges(of) => edges.push(Edges::from_buffer(of.typed::<T>()?)?),
            }
        }
        if !evens.is_empty() && !edges.is_empty() {
            return Err(Error::InvalidArgument { what: "bins", reason: "even ones and ones between edges have kernels of their own".to_owned() });
        }
        if edges.is_empty() {
            counted!(evens.iter().map(|e| u64::from(e.1)).sum(), |out| each_into(&x, channels, &evens, out))
        } else {
            let of: Vec<_> = edges.iter().collect();
            counted!(edges.iter().map(|e| e.buffer().len() - 1).sum(), |out| device.histogram(channels_between(&x, channels, &of)).write_to(out))
        }
    })
}

/// Weights of a type that computes, added to the bins that all channels have.
fn channels_weighted<B: Run<HistogramTask> + Run<MapTask>>(
    device: &B,
    x: &DynBuffer<B>,
    channels: u32,
    bins: &[DynBins<'_, B>],
    weights: &DynBuffer<B>,
) -> Result<DynBuffer<B>> {
    let evens = bins.iter().map(|of| match *of {
        DynBins::Even { lower, upper, bins } => Some((lower, upper, bins)),
        DynBins::Edges(_) => None,
    });
    let evens: Option<Vec<_>> = evens.collect();
    let (lower, upper, count) = match evens.as_deref() {
        Some([first, others @ ..]) if others.iter().all(|of| of == first) => *first,
        _ => {
            let reason = "weights of channels are added to even bins, the same of each channel".to_owned();
            return Err(Error::InvalidArgument { what: "bins", reason });
        }
    };
    with_dtype!(x.dtype, T => {
        let (x, rule) = (x.typed::<T>()?, rule_of_text::<<T as Element>::Reg>([lower, upper], count, T::DTYPE)?);
        macro_rules! summed {
            ($w:ty) => {{
                let active = bins.len() as u32;
                let out = device.buffer::<$w>(u64::from(active) * u64::from(count))?;
                alike_into(&x, (channels, active), (&rule, count), Some(&&weights.typed::<$w>()?), &out)?;
                Ok(out.into())
            }};
        }
        match weights.dtype.ty() {
            Ty::U32 | Ty::Bool => summed!(u32),
            Ty::I32 => summed!(i32),
            Ty::U64 => summed!(u64),
            Ty::I64 => summed!(i64),
            Ty::F32 => summed!(f32),
            Ty::F64 => summed!(f64),
        }
    })
}

/// Calls `f` with the bins of these samples.
fn with_bins<B: Backend, T: Element + PartialOrd, R>(
    x: &Buffer<B, T>,
    bins: &DynBins<'_, B>,
    f: impl FnOnce(&dyn Bins<B>) -> Result<R>,
) -> Result<R>
where
    T::Reg: Sample,
{
    match *bins {
        DynBins::Even { lower, upper, bins } => f(&Ruled::new(x, rule_of_text::<T::Reg>([lower, upper], bins, T::DTYPE)?, bins)),
        DynBins::Edges(edges) => f(&between(x, &Edges::from_buffer(edges.typed::<T>()?)?)),
    }
}

/// Calls `f` with the joint bins of these arrays, behind those that were found before.
fn with_all<B: Backend>(
    x: &[&DynBuffer<B>],
    bins: &[DynBins<'_, B>],
    found: &[&dyn Bins<B>],
    f: &mut dyn FnMut(&dyn Bins<B>) -> Result<()>,
) -> Result<()> {
    match (x, bins, found) {
        ([x, rest @ ..], [of, bins @ ..], _) => with_dtype!(x.dtype, T => {
            with_bins(&x.typed::<T>()?, of, |one| with_all(rest, bins, &[found, &[one]].concat(), f))
        }),
        ([], [], &[a]) => f(a),
        ([], [], &[a, b]) => f(&(a, b)),
        ([], [], &[a, b, c]) => f(&(a, b, c)),
        _ => {
            let reason = format!("there are {} of {} arrays; one to three have one each", found.len() + bins.len(), found.len() + x.len());
            Err(Error::InvalidArgument { what: "bins", reason })
        }
    }
}

/// A histogram whose samples come in pieces: see [`crate::patterns::HistogramTotal`]. Counts and sums have the types that [`histogram`] gives them.
#[derive(Debug)]
pub struct HistogramTotal<'a, B: Backend> {
    device: B,
    bins: Vec<DynBins<'a, B>>,
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
    /// Of `samples` samples in all, of these types of one to three arrays with bins of their own, counted or with weights of a type: nothing
    /// yet.
    ///
    /// # Errors
    /// As [`histogram_joint`].
    pub fn new(device: &B, types: &[DType], bins: &[DynBins<'a, B>], samples: u64, weights: Option<DType>) -> Result<Self> {
        let nothing = types.iter().map(|&dtype| DynBuffer::new(device, dtype, 0)).collect::<Result<Vec<_>>>()?;
        let mut count = 0;
        with_all(&nothing.iter().collect::<Vec<_>>(), bins, &[], &mut |bins| {
            count = bins.bins()?;
            Ok(())
        })?;
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
        Ok(Self { device: device.clone(), bins: bins.to_vec(), cells })
    }

    /// Adds samples, of each array as many, and their weights where there are any.
    ///
    /// # Errors
    /// As [`histogram_joint`] and [`crate::patterns::HistogramTotal::add`].
    pub fn add(&mut self, x: &[&DynBuffer<B>], weights: Option<&DynBuffer<B>>) -> Result<()> {
        let weights = weights.map(|w| cast(&self.device, w, w.dtype.ty().dtype())).transpose()?;
        let missing = || Error::InvalidArgument { what: "weights", reason: "there are none".to_owned() };
        let weights = || weights.as_ref().ok_or_else(missing);
        let cells = &mut self.cells;
        with_all(x, &self.bins, &[], &mut |bins| match cells {
            Cells::Few(total) => total.add(bins),
            Cells::Many(total) => total.add(bins),
            Cells::U32(total) => total.add_weighted(bins, &weights()?.typed::<u32>()?),
            Cells::I32(total) => total.add_weighted(bins, &weights()?.typed::<i32>()?),
            Cells::U64(total) => total.add_weighted(bins, &weights()?.typed::<u64>()?),
            Cells::I64(total) => total.add_weighted(bins, &weights()?.typed::<i64>()?),
            Cells::F32(total) => total.add_weighted(bins, &weights()?.typed::<f32>()?),
            Cells::F64(total) => total.add_weighted(bins, &weights()?.typed::<f64>()?),
        })
    }

    /// Counts or sums of what was added.
    ///
    /// # Errors
    /// As [`crate::patterns::HistogramTotal::result`].
    pub fn result(&self) -> Result<DynBuffer<B>> {
        each!(&self.cells, total => total.result().map(DynBuffer::from))
    }
}
