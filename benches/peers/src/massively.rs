//! Massively's side.

use crate::Failure;
use crate::host::Host;
use crate::ours::waited_for;
use crate::table::Row;
use cubecl::prelude::*;
use cubecl::wgpu::{WgpuDevice, WgpuRuntime};
use massively::Executor;
use massively::op::{BinaryPredicateOp, ReductionOp};
use massively::vector;

struct Add;

#[cubecl::cube]
impl ReductionOp<u32> for Add {
    fn apply(a: u32, b: u32) -> u32 {
        a + b
    }
}

struct Less;

#[cubecl::cube]
impl BinaryPredicateOp<u32> for Less {
    fn apply(a: u32, b: u32) -> massively::MFlag {
        massively::flag::from_bool(a < b)
    }
}

/// Massively opens a device of its own and allocates what it returns, so the host's clock is read around a call and a wait for it.
pub(crate) fn rows(host: &Host, samples: usize) -> Result<Vec<Row>, Failure> {
    const IT: &str = "massively";
    let exec = Executor::<WgpuRuntime>::new(WgpuDevice::DefaultDevice);
    let (words, flags, places) = (exec.to_device(&host.words), exec.to_device(&host.flags), exec.to_device(&host.places));
    let failed = |e: massively::Error| Failure::from(format!("{e:?}"));
    let done = || exec.sync().map_err(failed);
    let mut rows = Vec::new();

    let (sum, seconds) = waited_for(samples, || vector::reduce(&exec, words.slice(..), 0, Add).map_err(failed))?;
    rows.push(host.row(IT, "sum, read", 4, seconds, sum == host.sum()));
    let (prefixes, seconds) = waited_for(samples, || {
        let prefixes = vector::inclusive_scan(&exec, words.slice(..), Add).map_err(failed)?;
        done().map(|()| prefixes)
    })?;
    rows.push(host.row(IT, "inclusive scan", 8, seconds, exec.to_host(&prefixes).map_err(failed)? == host.prefixes()));
    let (kept, seconds) = waited_for(samples, || {
        let kept = vector::copy_where(&exec, words.slice(..), flags.slice(..)).map_err(failed)?;
        done().map(|()| kept)
    })?;
    rows.push(host.row(IT, "select by flags", 10, seconds, exec.to_host(&kept).map_err(failed)? == host.kept()));
    let (order, seconds) = waited_for(samples, || {
        let order = vector::radix_sort_by_key(&exec, words.slice(..), places.slice(..)).map_err(failed)?;
        done().map(|()| order)
    })?;
    rows.push(host.row(IT, "sort values by key", 16, seconds, exec.to_host(&order).map_err(failed)? == host.order()));
    let (sorted, seconds) = waited_for(samples, || {
        let sorted = vector::sort(&exec, words.slice(..), Less).map_err(failed)?;
        done().map(|()| sorted)
    })?;
    rows.push(host.row(IT, "sort by an order", 8, seconds, exec.to_host(&sorted).map_err(failed)? == host.sorted()));
    Ok(rows)
}
