//! Massively's side, through CubeCL's wgpu runtime.
//!
//! It runs on the device and the queue that isowarp opened. Every call allocates its scratch from CubeCL's pool (and its result, but for a
//! copy's), and uploads small tables, before each of which CubeCL submits what is recorded; `reduce` alone waits for the device in each
//! call, because it returns its result to the host.

use crate::Failure;
use crate::clock::{Clock, Times};
use crate::host::Host;
use crate::table::Row;
use cubecl::prelude::*;
use cubecl::wgpu::{RuntimeOptions, WgpuRuntime, WgpuSetup, init_device};
use isowarp::Wgpu;
use massively::op::{BinaryPredicateOp, ReductionOp};
use massively::{Error, Executor, MFlag, flag, vector, zip2};

struct Add;
struct Equal;
struct Less;

#[cubecl::cube]
impl ReductionOp<u32> for Add {
    fn apply(lhs: u32, rhs: u32) -> u32 {
        lhs + rhs
    }
}

#[cubecl::cube]
impl BinaryPredicateOp<u32> for Equal {
    fn apply(lhs: u32, rhs: u32) -> MFlag {
        flag::from_bool(lhs == rhs)
    }
}

#[cubecl::cube]
impl BinaryPredicateOp<u32> for Less {
    fn apply(lhs: u32, rhs: u32) -> MFlag {
        flag::from_bool(lhs < rhs)
    }
}

/// Gives CubeCL isowarp's device.
pub(crate) fn executor(dev: &Wgpu) -> Result<Executor<WgpuRuntime>, Failure> {
    let info = dev.device().adapter_info();
    let adapters = pollster::block_on(isowarp::wgpu::adapters(info.backend.into()));
    let adapter = adapters.into_iter().find(|a| a.info == info).ok_or("the device's adapter is not there any more")?;
    // Kept beside the device and not asked for anything, so it loads no driver.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let (device, queue, backend) = (dev.device().clone(), dev.queue().clone(), info.backend);
    let setup = WgpuSetup { instance, adapter: adapter.handle, device, queue, backend };
    Ok(Executor::new(init_device(setup, RuntimeOptions::default())))
}

pub(crate) fn rows(exec: &Executor<WgpuRuntime>, dev: &Wgpu, clock: &Clock, host: &Host, samples: usize) -> Result<Vec<Row>, Failure> {
    const IT: &str = "massively";
    let plan = host.plan(samples);
    let time = |call: &dyn Fn() -> Result<(), Error>| -> Result<Times, Failure> {
        // Returns when everything has reached the queue.
        let mut submit = || {
            (0..plan.calls).try_for_each(|_| call())?;
            exec.client().flush().map_err(|e| format!("CubeCL: {e:?}"))?;
            Ok(())
        };
        plan.times(&mut || clock.submitted(dev, &mut submit), &mut || {
            (0..plan.calls).try_for_each(|_| call())?;
            Ok(exec.sync()?)
        })
    };
    let up = |values: &[u32]| exec.to_device(values);
    let (words, flags, places, few, runs) = (up(&host.words), up(&host.flags), up(&host.places), up(&host.few), up(&host.runs));
    let (first, second, out) = (up(&host.halves.0), up(&host.halves.1), exec.alloc::<u32>(host.n));
    let mut rows = Vec::new();

    let times = time(&|| vector::copy(exec, words.slice(..), out.slice_mut(..)))?;
    rows.push(host.row(IT, "copy", 8, times, exec.to_host(&out)? == host.words));
    let sum = || vector::reduce(exec, words.slice(..), 0, Add);
    let times = plan.waiting(&mut || Ok((0..plan.calls).try_for_each(|_| sum().map(drop))?))?;
    rows.push(host.row(IT, "sum, read back", 4, times, sum()? == host.sum()));
    let scan = || vector::inclusive_scan(exec, words.slice(..), Add);
    let times = time(&|| scan().map(drop))?;
    rows.push(host.row(IT, "inclusive scan", 8, times, exec.to_host(&scan()?)? == host.prefixes()));
    let select = || vector::copy_where(exec, words.slice(..), flags.slice(..));
    let times = time(&|| select().map(drop))?;
    rows.push(host.row(IT, "select by flags", 10, times, exec.to_host(&select()?)? == host.kept()));
    let unique = || vector::unique(exec, few.slice(..), Equal);
    let times = time(&|| unique().map(drop))?;
    rows.push(host.row(IT, "unique, 3 of 4", 7, times, exec.to_host(&unique()?)? == host.unique()));
    let by_key = || vector::reduce_by_key(exec, runs.slice(..), words.slice(..), Equal, 0, Add);
    let times = time(&|| by_key().map(drop))?;
    let (keys, sums) = by_key()?;
    let right = (exec.to_host(&keys)?, exec.to_host(&sums)?) == host.sums_by_key();
    rows.push(host.row(IT, "reduce by key, runs of 4", 10, times, right));
    let merge = || vector::merge(exec, first.slice(..), second.slice(..), Less);
    let times = time(&|| merge().map(drop))?;
    rows.push(host.row(IT, "merge of halves", 8, times, exec.to_host(&merge()?)? == host.sorted()));
    // Its radix sort carries values and returns those alone: the keys are their own values, or go along with them.
    let sort = || vector::radix_sort_by_key(exec, words.slice(..), words.slice(..));
    let times = time(&|| sort().map(drop))?;
    rows.push(host.row(IT, "sort keys", 8, times, exec.to_host(&sort()?)? == host.sorted()));
    let sort = || vector::sort(exec, words.slice(..), Less);
    let times = time(&|| sort().map(drop))?;
    rows.push(host.row(IT, "sort by an order", 8, times, exec.to_host(&sort()?)? == host.sorted()));
    let sort = || vector::radix_sort_by_key(exec, words.slice(..), zip2(words.slice(..), places.slice(..)));
    let times = time(&|| sort().map(drop))?;
    let (keys, values) = massively::MStorage::into_columns(sort()?);
    let right = exec.to_host(&keys)? == host.sorted() && exec.to_host(&values)? == host.order();
    rows.push(host.row(IT, "sort pairs", 16, times, right));
    Ok(rows)
}
