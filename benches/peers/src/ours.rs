//! isowarp's side.

use crate::Failure;
use crate::clock::{Clock, warm_median};
use crate::host::Host;
use crate::table::Row;
use isowarp::Wgpu;
use isowarp::prelude::*;

const US: &str = "isowarp";

/// Calls into buffers that are there, enqueued together.
pub(crate) fn rows(dev: &Wgpu, clock: &Clock, host: &Host, samples: usize) -> Result<Vec<Row>, Failure> {
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
