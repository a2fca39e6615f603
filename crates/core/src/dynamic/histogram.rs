//! Histograms.

use super::call::{Job, Results, Variants};
use super::{DynBuffer, cast, with_dtype, with_register};
use crate::backend::Backend;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element};
use crate::error::{Error, Result};
use crate::patterns::histogram::{Ruled, alike_into, check_active, each_into, rule_of_text};
use crate::patterns::{
    Bins, Edges, Histogram as _, HistogramTotal as Total, Patterns, Sample, bins_between, channels_between, select::Count,
};
use core::fmt;

/// A histogram of one to three arrays, each a dimension, or of the channels of one; of samples, then weights, then edges.
///
/// Counts are `u32`, or `u64` where there are more than 2^32 - 1; sums have the weights' type, of 8 or 16 bits that which computes. Several arrays
/// give an array of as many dimensions, channels one array's counts after another's.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Histogram {
    /// Inputs that are counted, each with bins of its own.
    pub arrays: usize,
    /// Even bins from a bound to another, and how many, of each array or channel; where there are none they lie between edges, the last inputs. Bounds are
    /// decimal numbers as text, of the real line whatever the samples' type: an integer is in the bin that it lies in. Edges of floats are made of the
    /// bounds in `f64`, and rounded to the samples' type.
    pub even: Vec<(String, String, u32)>,
    /// Whether the input after the arrays holds weights: one to a sample, or to a pixel of channels, which then have the same even bins.
    pub weighted: bool,
    /// Interleaved channels, and how many of them have bins: what is said once is said of each.
    pub channels: Option<(u32, usize)>,
    /// Whether each array has a bin more before the first and after the last, for samples outside: [`Even::with_flow`](crate::patterns::histogram::Even::with_flow).
    /// Channels have none.
    pub flow: bool,
    /// Whether the last bin has samples that equal its upper bound, or the last edge, as NumPy's has.
    pub inclusive: bool,
}

/// Bins of an array.
#[derive(Clone, Debug)]
enum Of<'a, B: Backend> {
    Even(&'a (String, String, u32)),
    Edges(&'a DynBuffer<B>),
}

impl Histogram {
    /// Whether samples that equal the last edge are in the last bin, and whether those outside have bins of their own.
    fn ends(&self) -> (bool, bool) {
        (self.inclusive, self.flow)
    }

    /// The bins, of these inputs after arrays and weights.
    fn bins<'a, B: Backend>(&'a self, edges: &[&'a DynBuffer<B>]) -> Vec<Of<'a, B>> {
        let all: Vec<_> = self.even.iter().map(Of::Even).chain(edges.iter().map(|e| Of::Edges(e))).collect();
        match (self.channels, &all[..]) {
            (Some((_, active)), [one]) => vec![one.clone(); active],
            _ => all,
        }
    }
}

fn invalid(reason: impl Into<String>) -> Error {
    Error::InvalidArgument { what: "bins", reason: reason.into() }
}

impl<B: Patterns> Job<'_, B> {
    pub(super) fn histogram_by(&self, of: &Histogram, variant: &dyn Variants<B>) -> Result<Results<B>> {
        if of.weighted || of.channels.is_some() {
            return Err(invalid("a variant counts arrays"));
        }
        let (samples, edges) = self.inputs.split_at(of.arrays.min(self.inputs.len()));
        let mut counts = None;
        with_all(samples, (&of.bins(edges), of.ends()), &[], &mut |bins| {
            counts = Some(self.device.histogram(bins).variant(variant).run()?);
            Ok(())
        })?;
        counts.map(|counts| DynBuffer::from(counts).into()).ok_or_else(|| invalid("there are none"))
    }

    pub(super) fn histogram(&self, of: &Histogram) -> Result<Results<B>> {
        let (samples, rest) = self.inputs.split_at(of.arrays.min(self.inputs.len()));
        let (weights, edges) = rest.split_at(usize::from(of.weighted).min(rest.len()));
        let weights = weights.first().copied();
        if let Some((channels, active)) = of.channels {
            check_active(channels, active as u64)?;
        }
        let found = match (of.channels, samples) {
            (Some(_), _) if of.flow => return Err(invalid("channels have none for samples outside")),
            (Some((channels, _)), [x]) => {
                with_dtype!(x.dtype, T => channels_of(self.device, &x.typed::<T>()?, channels, (&of.bins(edges), of.inclusive), weights))
            }
            _ => {
                let mut total = HistogramTotal::with_bins(
                    self.device,
                    &samples.iter().map(|x| x.dtype).collect::<Vec<_>>(),
                    (of.bins(edges), of.ends()),
                    samples.first().map_or(0, |x| x.len),
                    weights.map(DynBuffer::dtype),
                )?;
                total.add(samples, weights)?;
                total.result()
            }
        };
        found.map(Results::from)
    }
}

/// Whether bins are even, and the same of every channel.
fn all_even_alike<B: Backend>(bins: &[Of<'_, B>]) -> bool {
    bins.iter().all(|of| matches!((of, &bins[0]), (Of::Even(one), Of::Even(first)) if one == first))
}

fn edges_of<B: Backend, T: Element + PartialOrd>(buffer: Buffer<B, T>, inclusive: bool) -> Result<Edges<B, T>> {
    let edges = Edges::from_buffer(buffer)?;
    Ok(if inclusive { edges.inclusive() } else { edges })
}

/// Interleaved samples counted by channel, or weights added.
fn channels_of<B: Patterns, T: Element<Reg: Sample> + PartialOrd>(
    device: &B,
    x: &Buffer<B, T>,
    channels: u32,
    (bins, inclusive): (&[Of<'_, B>], bool),
    weights: Option<&DynBuffer<B>>,
) -> Result<DynBuffer<B>> {
    let (mut evens, mut edges) = (Vec::new(), Vec::new());
    for bins in bins {
        match bins {
            Of::Even((lower, upper, bins)) => evens.push((rule_of_text::<T::Reg>([lower, upper], *bins, inclusive, T::DTYPE)?, *bins)),
            Of::Edges(of) => edges.push(edges_of(of.typed::<T>()?, inclusive)?),
        }
    }
    if let Some(weights) = weights {
        let ([(rule, count), ..], true) = (&evens[..], all_even_alike(bins)) else {
            return Err(invalid("weights of channels are added to even bins, the same of each channel"));
        };
        let weights = cast(device, weights, weights.dtype.ty().dtype())?;
        return with_register!(weights.dtype.ty(), W => {
            let active = bins.len() as u32;
            let out = device.buffer::<W>(u64::from(active) * u64::from(*count))?;
            alike_into(x, (channels, active), (rule, *count), Some(&&weights.typed::<W>()?), &out)?;
            Ok(out.into())
        });
    }
    if !evens.is_empty() && !edges.is_empty() {
        return Err(invalid("even ones and ones between edges have kernels of their own"));
    }
    let edges: Vec<_> = edges.iter().collect();
    let count = evens.iter().map(|e| u64::from(e.1)).chain(edges.iter().map(|e| e.buffer().len() - 1)).sum();
    macro_rules! counted {
        ($C:ty) => {{
            let out = device.buffer::<$C>(count)?;
            if edges.is_empty() {
                each_into(x, channels, &evens, &out)?;
            } else {
                device.histogram(channels_between(x, channels, &edges)).write_to(&out)?;
            }
            Ok(out.into())
        }};
    }
    if x.len().checked_div(channels.into()).unwrap_or(0) > u64::from(u32::MAX) { counted!(u64) } else { counted!(u32) }
}

/// Calls `f` with the joint bins of these arrays, after those that were found before.
fn with_all<B: Backend>(
    x: &[&DynBuffer<B>],
    (bins, (inclusive, flow)): (&[Of<'_, B>], (bool, bool)),
    found: &[&dyn Bins<B>],
    f: &mut dyn FnMut(&dyn Bins<B>) -> Result<()>,
) -> Result<()> {
    match (x, bins, found) {
        ([x, rest @ ..], [of, bins @ ..], _) => with_dtype!(x.dtype, T => {
            let (x, mut next) = (x.typed::<T>()?, |one: &dyn Bins<B>| with_all(rest, (bins, (inclusive, flow)), &[found, &[one]].concat(), f));
            match of {
                Of::Even((lower, upper, bins)) => {
                    next(&Ruled::<_, <T as Element>::Reg>::new(&x, [lower, upper], *bins, T::DTYPE, (inclusive, flow))?)
                }
                Of::Edges(edges) => {
                    let edges = edges_of(edges.typed::<T>()?, inclusive)?;
                    let bins = bins_between(&x, &edges);
                    next(&if flow { bins.with_flow() } else { bins })
                }
            }
        }),
        ([], [], &[a]) => f(a),
        ([], [], &[a, b]) => f(&(a, b)),
        ([], [], &[a, b, c]) => f(&(a, b, c)),
        _ => {
            let (bins, arrays) = (found.len() + bins.len(), found.len() + x.len());
            Err(invalid(format!("there are {bins} of {arrays} arrays; one to three have one each")))
        }
    }
}

/// A histogram whose samples come in pieces: see [`crate::patterns::HistogramTotal`]. Counts and sums have the types of [`Histogram`].
#[derive(Debug)]
pub struct HistogramTotal<'a, B: Backend> {
    device: B,
    bins: Vec<Of<'a, B>>,
    ends: (bool, bool),
    cells: Box<dyn Cells<B>>,
}

/// Summands, of whichever type.
trait Cells<B: Backend>: fmt::Debug {
    fn add(&mut self, bins: &dyn Bins<B>, weights: Option<&DynBuffer<B>>) -> Result<()>;
    fn result(&self) -> Result<DynBuffer<B>>;
}

#[derive(Debug)]
struct Counts<B: Backend, T: Element>(Total<B, T>);
#[derive(Debug)]
struct Sums<B: Backend, T: Element>(Total<B, T>);

impl<B: Patterns, T: Count> Cells<B> for Counts<B, T> {
    fn add(&mut self, bins: &dyn Bins<B>, _: Option<&DynBuffer<B>>) -> Result<()> {
        self.0.add(bins)
    }

    fn result(&self) -> Result<DynBuffer<B>> {
        self.0.result().map(DynBuffer::from)
    }
}

impl<B: Patterns, T: crate::patterns::Weight> Cells<B> for Sums<B, T> {
    fn add(&mut self, bins: &dyn Bins<B>, weights: Option<&DynBuffer<B>>) -> Result<()> {
        let weights = weights.ok_or_else(|| Error::InvalidArgument { what: "weights", reason: "there are none".to_owned() })?;
        self.0.add_weighted(bins, &weights.typed::<T>()?)
    }

    fn result(&self) -> Result<DynBuffer<B>> {
        self.0.result().map(DynBuffer::from)
    }
}

impl<'a, B: Patterns> HistogramTotal<'a, B> {
    /// Of `samples` samples in all, of arrays of these types, by the bins of a histogram between these edges, if it has some; counted or with weights of a
    /// type: nothing yet.
    ///
    /// # Errors
    /// As [`Call::run`](super::Call::run).
    pub fn new(
        device: &B,
        types: &[DType],
        (of, edges): (&'a Histogram, &[&'a DynBuffer<B>]),
        samples: u64,
        weights: Option<DType>,
    ) -> Result<Self> {
        Self::with_bins(device, types, (of.bins(edges), of.ends()), samples, weights)
    }

    fn with_bins(
        device: &B,
        types: &[DType],
        (bins, ends): (Vec<Of<'a, B>>, (bool, bool)),
        samples: u64,
        weights: Option<DType>,
    ) -> Result<Self> {
        let nothing = types.iter().map(|&dtype| DynBuffer::new(device, dtype, 0)).collect::<Result<Vec<_>>>()?;
        let mut count = 0;
        with_all(&nothing.iter().collect::<Vec<_>>(), (&bins, ends), &[], &mut |bins| {
            count = bins.bins()?;
            Ok(())
        })?;
        let cells: Box<dyn Cells<B>> = match weights.map(DType::ty) {
            None if samples > u64::from(u32::MAX) => Box::new(Counts(Total::<B, u64>::counts(device, count)?)),
            None => Box::new(Counts(Total::<B, u32>::counts(device, count)?)),
            Some(ty) => with_register!(ty, W => Box::new(Sums(Total::<B, W>::sums(device, count)?))),
        };
        Ok(Self { device: device.clone(), bins, ends, cells })
    }

    /// Adds samples, of each array as many, and their weights where there are any.
    ///
    /// # Errors
    /// As [`Call::run`](super::Call::run) and [`crate::patterns::HistogramTotal::add`].
    pub fn add(&mut self, x: &[&DynBuffer<B>], weights: Option<&DynBuffer<B>>) -> Result<()> {
        let weights = weights.map(|w| cast(&self.device, w, w.dtype.ty().dtype())).transpose()?;
        let cells = &mut self.cells;
        with_all(x, (&self.bins, self.ends), &[], &mut |bins| cells.add(bins, weights.as_ref()))
    }

    /// Counts or sums of what was added.
    ///
    /// # Errors
    /// As [`crate::patterns::HistogramTotal::result`].
    pub fn result(&self) -> Result<DynBuffer<B>> {
        self.cells.result()
    }
}
