//! Lampshade's side.

use crate::Failure;
use crate::clock::{Clock, Times};
use crate::host::Host;
use crate::table::Row;
use isowarp::Wgpu;
use isowarp::buffer::{Buffer, Memory as _};
use lampshade::{Compactor, Histogram, KeyValueSorter, Reducer, Scanner, Sorter, U32Reduction};

/// Lampshade takes an application's device and records into its encoder, so it runs on the device that isowarp opened, in its faster form for the
/// adapter where it has one.
pub(crate) fn rows(dev: &Wgpu, clock: &Clock, host: &Host, samples: usize) -> Result<Vec<Row>, Failure> {
    const IT: &str = "lampshade";
    let n = host.n;
    let plan = host.plan(samples);
    let time = |record: &mut dyn FnMut(&mut wgpu::CommandEncoder) -> Result<(), lampshade::Error>| -> Result<Times, Failure> {
        let batch = std::cell::RefCell::new(|encoder: &mut wgpu::CommandEncoder| -> Result<(), Failure> {
            Ok((0..plan.calls).try_for_each(|_| record(encoder))?)
        });
        plan.times(&mut || clock.recorded(dev, &mut *batch.borrow_mut()), &mut || {
            let mut encoder = dev.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            (*batch.borrow_mut())(&mut encoder)?;
            dev.queue().submit([encoder.finish()]);
            dev.device().poll(wgpu::PollType::wait_indefinitely())?;
            Ok(())
        })
    };
    let (device, queue, info) = (dev.device(), dev.queue(), dev.device().adapter_info());
    let pairs: Vec<u32> = host.words.iter().zip(&host.places).flat_map(|(w, p)| [*w, *p]).collect();
    let (words, flags, bytes) = (dev.upload(&host.words)?, dev.upload(&host.flags)?, dev.upload(&host.bytes)?);
    let (out, one, counts): (Buffer<Wgpu, u32>, Buffer<Wgpu, u32>, Buffer<Wgpu, u32>) =
        (dev.buffer(n.into())?, dev.buffer(1)?, dev.buffer(256)?);
    let (pairs, pairs_out): (_, Buffer<Wgpu, u32>) = (dev.upload(&pairs)?, dev.buffer(2 * u64::from(n))?);
    let raw = |b: &Buffer<Wgpu, u32>| b.raw().as_wgpu().clone();
    let (x, y, single) = (raw(&words), raw(&out), raw(&one));
    let mut rows = Vec::new();

    let mut reducer = Reducer::new(device, queue);
    let times = time(&mut |encoder| reducer.record_reduce(encoder, &x, &single, n, U32Reduction::Sum))?;
    rows.push(host.row(IT, "sum", 4, times, one.read_blocking()? == [host.sum()]));
    let mut scanner = Scanner::new_for_adapter(device, queue, &info);
    let times = time(&mut |encoder| scanner.record_scan(encoder, &x, &y, n))?;
    rows.push(host.row(IT, "inclusive scan", 8, times, out.read_blocking()? == host.prefixes()));
    let mut compactor = Compactor::new(device, queue);
    let times = time(&mut |encoder| compactor.record_compact(encoder, &x, &raw(&flags), &y, &single, n))?;
    let kept = host.kept();
    let right = one.read_blocking()? == [kept.len() as u32] && out.slice(..kept.len() as u64)?.read_blocking()? == kept;
    rows.push(host.row(IT, "select by flags", 10, times, right));
    let histogram = Histogram::new(device, queue);
    let times = time(&mut |encoder| histogram.record_histogram(encoder, &raw(&bytes), &raw(&counts), n, 256))?;
    rows.push(host.row(IT, "histogram, 256 bins", 4, times, counts.read_blocking()? == host.counts()));
    let mut sorter = Sorter::new_for_adapter(device, queue, &info);
    let times = time(&mut |encoder| sorter.record_sort(encoder, &x, &y, n))?;
    rows.push(host.row(IT, "sort keys", 8, times, out.read_blocking()? == host.sorted()));
    let mut sorter = KeyValueSorter::new_for_adapter(device, queue, &info);
    let times = time(&mut |encoder| sorter.record_sort(encoder, &raw(&pairs), &raw(&pairs_out), n))?;
    let expected = host.sorted().into_iter().zip(host.order()).flat_map(|(w, p)| [w, p]);
    rows.push(host.row(IT, "sort pairs", 16, times, pairs_out.read_blocking()?.into_iter().eq(expected)));
    Ok(rows)
}
