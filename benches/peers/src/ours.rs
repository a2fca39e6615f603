//! isowarp's side.

use crate::Failure;
#[cfg(feature = "massively")]
use crate::clock::median;
use crate::clock::{Clock, warm_median};
use crate::host::Host;
use crate::table::Row;
use isowarp::Wgpu;
use isowarp::prelude::*;
#[cfg(feature = "massively")]
use std::time::Instant;

const US: &str = "isowarp";

/// Calls into buffers that are there, enqueued together.
pub(crate) fn by_the_device(dev: &Wgpu, clock: &Clock, host: &Host, samples: usize) -> Result<Vec<Row>, Failure> {
    let n = u64::from(host.n);
    let time = |call: &dyn Fn() -> isowarp::Result<()>| -> Result<f64, Failure> {
        let mut batch = || (0..host.calls).try_for_each(|_| call());
        Ok(warm_median(samples, || clock.ours(dev, &mut batch))? / f64::from(host.calls))
    };
    let (words, flags, bytes, places) =
        (dev.upload(&host.words)?, dev.upload(&host.flags)?, dev.upload(&host.bytes)?, dev.upload(&host.places)?);
    let (out, second): (Buffer<Wgpu, u32>, Buffer<Wgpu, u32>) = (dev.buffer(n)?, dev.buffer(n)?);
    let (one, counts): (Buffer<Wgpu, u32>, Buffer<Wgpu, u32>) = (dev.buffer(1)?, dev.buffer(256)?);
    let mut rows = Vec::new();

    let seconds = time(&|| dev.copy_into(&words, &out))?;
    rows.push(host.row(US, "copy", 8, seconds, out.read_blocking()? == host.words));
    let seconds = time(&|| dev.reduce_into(&words, Sum, &one))?;
    rows.push(host.row(US, "sum", 4, seconds, one.read_blocking()? == [host.sum()]));
    let seconds = time(&|| dev.scan_inclusive_into(&words, Sum, &out))?;
    rows.push(host.row(US, "inclusive scan", 8, seconds, out.read_blocking()? == host.prefixes()));
    let seconds = time(&|| dev.select_from_into((&words, &flags), |(w, f)| (f.ne(0), w), &out, &one))?;
    let kept = host.kept();
    let right = one.read_blocking()? == [kept.len() as u32] && out.slice(..kept.len() as u64)?.read_blocking()? == kept;
    rows.push(host.row(US, "select by flags", 10, seconds, right));
    let seconds = time(&|| dev.histogram_into(binned(&bytes, 256, |b| b), &counts))?;
    rows.push(host.row(US, "histogram, 256 bins", 4, seconds, counts.read_blocking()? == host.counts()));
    let seconds = time(&|| dev.sort_into(&words, SortOrder::Ascending, &out))?;
    rows.push(host.row(US, "sort keys", 8, seconds, out.read_blocking()? == host.sorted()));
    let seconds = time(&|| dev.sort_pairs_into(&words, &places, SortOrder::Ascending, (&out, &second)))?;
    let right = out.read_blocking()? == host.sorted() && second.read_blocking()? == host.order();
    rows.push(host.row(US, "sort pairs", 16, seconds, right));
    Ok(rows)
}

/// Calls that allocate their results, each waited for.
#[cfg(feature = "massively")]
pub(crate) fn end_to_end(dev: &Wgpu, host: &Host, samples: usize) -> Result<Vec<Row>, Failure> {
    let (words, flags, places) = (dev.upload(&host.words)?, dev.upload(&host.flags)?, dev.upload(&host.places)?);
    let mut rows = Vec::new();

    let (sum, seconds) = waited_for(samples, || Ok(dev.reduce(&words, Sum)?.read_blocking()?))?;
    rows.push(host.row(US, "sum, read", 4, seconds, sum == host.sum()));
    let (prefixes, seconds) = waited_for(samples, || done(dev, dev.scan_inclusive(&words, Sum)?))?;
    rows.push(host.row(US, "inclusive scan", 8, seconds, prefixes.read_blocking()? == host.prefixes()));
    let (kept, seconds) = waited_for(samples, || done(dev, dev.select_from((&words, &flags), |(w, f)| (f.ne(0), w))?))?;
    rows.push(host.row(US, "select by flags", 10, seconds, kept.read_blocking()? == host.kept()));
    let (order, seconds) = waited_for(samples, || done(dev, dev.sort_pairs(&words, &places, SortOrder::Ascending)?.1))?;
    rows.push(host.row(US, "sort values by key", 16, seconds, order.read_blocking()? == host.order()));
    let (sorted, seconds) = waited_for(samples, || done(dev, dev.sort_by(&words, Expr::lt)?))?;
    rows.push(host.row(US, "sort by an order", 8, seconds, sorted.read_blocking()? == host.sorted()));
    Ok(rows)
}

/// What a call returns, once the device is done.
#[cfg(feature = "massively")]
fn done<T>(dev: &Wgpu, result: T) -> Result<T, Failure> {
    dev.synchronize()?;
    Ok(result)
}

/// The last result of a call and the median of its times by the host's clock, after one that is not counted.
#[cfg(feature = "massively")]
pub(crate) fn waited_for<T>(samples: usize, mut call: impl FnMut() -> Result<T, Failure>) -> Result<(T, f64), Failure> {
    let mut result = call()?;
    let mut times = Vec::with_capacity(samples);
    for _ in 0..samples {
        let start = Instant::now();
        let next = call()?;
        times.push(start.elapsed().as_secs_f64());
        // What the call before returned is freed outside of what is timed.
        result = next;
    }
    Ok((result, median(times)))
}
