//! Histograms: chunks are added to the same cells on the device, so sums of floats stay exact from the first chunk to the last.

use super::Job;
use crate::failure::{Failure, Result};
use crate::npy::{self, Array, Reader};
use crate::output::Output;
use crate::run::plan::Plan;
use isowarp::dynamic::{Call, DynBuffer, HistogramTotal};
use isowarp::element::DType;
use isowarp::{Device, Error};

/// Counts the elements of the arrays, or adds their weights, and returns the bytes of the result.
pub(super) fn histogram(job: &mut Job<'_>, plan: &Plan, inputs: Vec<Reader>, output: &Output) -> Result<u64> {
    let Call::Histogram(of) = &plan.call else { return Err(Failure::defect("no histogram")) };
    let mut inputs = inputs.into_iter();
    let mut samples: Vec<Reader> = inputs.by_ref().take(of.arrays).collect();
    let n = samples.first().ok_or_else(|| Failure::defect("a histogram without an input"))?.head().len();
    let types: Vec<DType> = samples.iter().map(|x| x.head().dtype).collect();
    let mut weights = if of.weighted { inputs.next() } else { None };
    if let Some(found) = weights.as_ref().map(|w| w.head().len()).filter(|&found| found != n) {
        return Err(Error::LengthMismatch { what: "an input", expected: n, found }.into());
    }
    let device = job.device;
    let edges = inputs.map(Reader::all).collect::<Result<Vec<Array>>>()?;
    let edges = edges.iter().map(|e| DynBuffer::upload(device, e.dtype, &e.bytes)).collect::<isowarp::Result<Vec<_>>>()?;
    let edges: Vec<_> = edges.iter().collect();
    let of_weights = weights.as_ref().map(|w| w.head().dtype);
    let mut total = HistogramTotal::new(device, &types, (of, &edges), n, of_weights)?;
    let sizes: u64 = types.iter().map(|t| t.size_bytes()).sum();
    let each = sizes + of_weights.map_or(0, DType::size_bytes);
    job.progress.expect(n * each);
    let mut at = 0;
    while at < n {
        let taken = job.chunk.min(n - at);
        let read = samples.iter_mut().zip(&types).map(|(x, dtype)| Ok((x.next(taken * dtype.size_bytes(), &job.progress)?, *dtype)));
        let x = read.collect::<Result<Vec<_>>>()?;
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
            let uploaded = || -> isowarp::Result<(Vec<DynBuffer<Device>>, Option<DynBuffer<Device>>)> {
                let x = x.iter().map(|(x, dtype)| part(x, *dtype)).collect::<isowarp::Result<_>>()?;
                Ok((x, w.as_ref().map(|(w, dtype)| part(w, *dtype)).transpose()?))
            };
            // Once something may have been added, an error is the end.
            match uploaded() {
                Ok((x, w)) => {
                    job.time(|| total.add(&x.iter().collect::<Vec<_>>(), w.as_ref()))?;
                    job.took(end - start, sizes);
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
    let result = Array { shape: plan.shape(found.len()), dtype: found.dtype(), boolean: false, bytes: found.read_blocking()? };
    // Closed before their places are taken.
    drop((samples, weights));
    npy::write(&[(output, &result)])?;
    Ok(found.size_bytes())
}
