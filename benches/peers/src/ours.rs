//! isowarp's side.

use crate::Failure;
use crate::clock::Times;
use crate::host::Host;
use crate::table::Row;
use isowarp::Wgpu;
use isowarp::backend::Backend as _;
use isowarp::prelude::*;

const US: &str = "isowarp";

/// Calls into buffers that are there, enqueued together.
pub(crate) fn rows(dev: &Wgpu, device_clock: bool, host: &Host, samples: usize) -> Result<Vec<Row>, Failure> {
    let n = u64::from(host.n);
    let plan = host.plan(samples);
    let time = |call: &dyn Fn() -> isowarp::Result<()>| -> Result<Times, Failure> {
        let mut batch = || (0..plan.calls).try_for_each(|_| call());
        let mut marked = || Ok(if device_clock { dev.time(&mut batch)? } else { None });
        plan.times(&mut marked, &mut || {
            (0..plan.calls).try_for_each(|_| call())?;
            Ok(dev.synchronize()?)
        })
    };
    let up = |values: &[u32]| dev.upload(values);
    let (words, flags, bytes, places) = (up(&host.words)?, up(&host.flags)?, up(&host.bytes)?, up(&host.places)?);
    let (few, runs, halves) = (up(&host.few)?, up(&host.runs)?, (up(&host.halves.0)?, up(&host.halves.1)?));
    let (out, second): (Buffer<Wgpu, u32>, Buffer<Wgpu, u32>) = (dev.buffer(n)?, dev.buffer(n)?);
    let (one, counts): (Buffer<Wgpu, u32>, Buffer<Wgpu, u32>) = (dev.buffer(1)?, dev.buffer(256)?);
    let begins = |buffer: &Buffer<Wgpu, u32>, expected: &[u32]| -> isowarp::Result<bool> {
        Ok(one.read_blocking()? == [expected.len() as u32] && buffer.slice(..expected.len() as u64)?.read_blocking()? == expected)
    };
    let mut rows = Vec::new();

    let times = time(&|| dev.copy_into(&words, &out))?;
    rows.push(host.row(US, "copy", 8, times, out.read_blocking()? == host.words));
    let times = time(&|| dev.reduce(&words, Sum).write_to(&one))?;
    rows.push(host.row(US, "sum", 4, times, one.read_blocking()? == [host.sum()]));
    let times = plan.waiting(&mut || {
        (0..plan.calls).try_for_each(|_| {
            dev.reduce(&words, Sum).write_to(&one)?;
            one.read_blocking().map(drop)
        })?;
        Ok(())
    })?;
    rows.push(host.row(US, "sum, read back", 4, times, one.read_blocking()? == [host.sum()]));
    let times = time(&|| dev.scan(&words, Sum).write_to(&out))?;
    rows.push(host.row(US, "inclusive scan", 8, times, out.read_blocking()? == host.prefixes()));
    let times = time(&|| dev.select_flagged(&words, &flags).write_to((&out, &one)))?;
    rows.push(host.row(US, "select by flags", 10, times, begins(&out, &host.kept())?));
    let times = time(&|| dev.unique(&few).write_to((&out, &one)))?;
    rows.push(host.row(US, "unique, 3 of 4", 7, times, begins(&out, &host.unique())?));
    let times = time(&|| dev.reduce(&words, Sum).by_key(&runs).write_to(((&out, &second), &one)))?;
    let (keys, sums) = host.sums_by_key();
    rows.push(host.row(US, "reduce by key, runs of 4", 10, times, begins(&out, &keys)? && begins(&second, &sums)?));
    let times = time(&|| dev.histogram(binned(&bytes, 256, |b| b)).write_to(&counts))?;
    rows.push(host.row(US, "histogram, 256 bins", 4, times, counts.read_blocking()? == host.counts()));
    let times = time(&|| dev.merge(&halves.0, &halves.1).write_to(&out))?;
    rows.push(host.row(US, "merge of halves", 8, times, out.read_blocking()? == host.sorted()));
    let times = time(&|| dev.sort(&words).write_to(&out))?;
    rows.push(host.row(US, "sort keys", 8, times, out.read_blocking()? == host.sorted()));
    let times = time(&|| dev.sort(&words).by(|a, b| a.lt(b)).write_to(&out))?;
    rows.push(host.row(US, "sort by an order", 8, times, out.read_blocking()? == host.sorted()));
    let times = time(&|| dev.sort(&words).with_values(&places).write_to((&out, &second)))?;
    let right = out.read_blocking()? == host.sorted() && second.read_blocking()? == host.order();
    rows.push(host.row(US, "sort pairs", 16, times, right));
    Ok(rows)
}
