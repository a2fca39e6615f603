//! Histograms: chunks are added to the same cells on the device, so sums of floats stay exact from the first chunk to the last.

use super::Job;
use crate::failure::{Failure, Result};
use crate::npy::{self, Array, Reader};
use crate::output::Output;
use crate::run::plan::{Plan, Work};
use isowarp::dynamic::{DynBins, DynBuffer, HistogramTotal};
use isowarp::element::DType;
use isowarp::{Device, Error};

/// Counts the elements of the first input, or adds the weights of the second one, and returns the bytes of the result.
pub(super) fn histogram(job: &mut Job<'_>, plan: &Plan, inputs: Vec<Reader>, output: &Output) -> Result<u64> {
    let Work::Histogram { bins, weighted } = &plan.work else { return Err(Failure::defect("no histogram")) };
    let mut inputs = inputs.into_iter();
    let mut samples = inputs.next().ok_or_else(|| Failure::defect("a histogram without an input"))?;
    let mut weights = if *weighted { inputs.next() } else { None };
    let (n, dtype) = (samples.head().len(), samples.head().dtype);
    if let Some(found) = weights.as_ref().map(|w| w.head().len()).filter(|&found| found != n) {
        return Err(Error::LengthMismatch { what: "an input", expected: n, found }.into());
    }
    let device = job.device;
    let edges = inputs.next().map(Reader::all).transpose()?.map(|e: Array| DynBuffer::upload(device, e.dtype, &e.bytes)).transpose()?;
    let bins = match (bins, &edges) {
        (Some((lower, upper, bins)), _) => DynBins::Even { lower, upper, bins: *bins },
        (None, Some(edges)) => DynBins::Edges(edges),
        (None, None) => return Err(Failure::defect("a histogram without bins")),
    };
    let of_weights = weights.as_ref().map(|w| w.head().dtype);
    let mut total = HistogramTotal::new(device, dtype, bins, n, of_weights)?;
    let each = dtype.size_bytes() + of_weights.map_or(0, DType::size_bytes);
    job.progress.expect(n * each);
    let mut at = 0;
    while at < n {
        let taken = job.chunk.min(n - at);
        let x = samples.next(taken * dtype.size_bytes(), &job.progress)?;
        let w = match (&mut weights, of_weights) {
            (Some(weights), Some(dtype)) => Some((weights.next(taken * dtype.size_bytes(), &job.progress)?, dtype)),
            _ => None,
        };
        let mut waiting = vec![(0, taken)];
        while let Some((start, end)) = waiting.pop() {
            let part = |bytes: &[u8], dtype: DType| {
                let size = dtype.size_bytes();
                DynBuffer::upload(device, dtype, &bytes[(start * size) as usize..(end * size) as usize])
            };
            let uploaded = || -> isowarp::Result<(DynBuffer<Device>, Option<DynBuffer<Device>>)> {
                Ok((part(&x, dtype)?, w.as_ref().map(|(w, dtype)| part(w, *dtype)).transpose()?))
            };
            // Once something may have been added, an error is the end.
            match uploaded() {
                Ok((x, w)) => {
                    job.time(|| total.add(&x, w.as_ref()))?;
                    job.took(end - start, dtype.size_bytes());
                }
                Err(e) => {
                    job.halve((end - start, 1), e)?;
                    let middle = start.midpoint(end);
                    waiting.extend([(middle, end), (start, middle)]);
                }
            }
        }
        at += taken;
    }
    let found = total.result()?;
    let result = Array { shape: vec![found.len()], dtype: found.dtype(), boolean: false, bytes: found.read_blocking()? };
    // Closed before their places are taken.
    drop((samples, weights));
    npy::write(output, &result)?;
    Ok(found.size_bytes())
}
