//! A plan on a device.

use super::plan::{Plan, Work};
use crate::failure::Result;
use crate::npy::Array;
use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::dynamic::{self, DynBins, DynBuffer};
use isowarp::element::DType;

type Buffer = DynBuffer<Device>;

/// Computes the plan's result, and the lengths or keys of runs.
pub(crate) fn execute(device: &Device, plan: &Plan, inputs: &[Buffer]) -> Result<(Buffer, Option<Buffer>)> {
    let all: Vec<&Buffer> = inputs.iter().collect();
    let result = match (&plan.work, &all[..]) {
        (Work::Map { func, n, dtype }, _) => {
            // Truth values need no u8 on the device.
            let dtype = if plan.boolean && !device.caps().supports(DType::U8) { DType::U32 } else { *dtype };
            dynamic::generate(device, *n, func, &all, dtype)?
        }
        (Work::Reduce { op, axis: None, variant }, &[x]) => dynamic::reduce_variant(device, *variant, x, op)?,
        (Work::Reduce { op, axis: Some((shape, axis)), .. }, &[x]) => dynamic::reduce_axis(device, x, shape, *axis, op)?,
        (Work::Scan { op, axis: None, exclusive, variant }, &[x]) => dynamic::scan_variant(device, *variant, x, op, *exclusive)?,
        (Work::Scan { op, axis: Some((shape, axis)), exclusive, .. }, &[x]) => dynamic::scan_axis(device, x, shape, *axis, op, *exclusive)?,
        (Work::Argmin, &[x]) => dynamic::argmin(device, x)?,
        (Work::Argmax, &[x]) => dynamic::argmax(device, x)?,
        (Work::Dot, &[x, y]) => dynamic::dot(device, x, y)?,
        (Work::Norm(which), &[x]) => dynamic::norm(device, x, *which)?,
        (Work::Mean, &[x]) => dynamic::mean(device, x)?,
        (Work::Gather, &[x, at]) => dynamic::gather(device, x, at)?,
        (Work::Scatter(op), &[x, at, target]) => dynamic::scatter(device, x, at, *op, target)?,
        (Work::Transpose(shape), &[x]) => {
            let order: Vec<usize> = (0..shape.len()).rev().collect();
            dynamic::permute_axes(device, x, shape, &order)?
        }
        (Work::Reverse, &[x]) => dynamic::reverse(device, x)?,
        (Work::Rotate(by), &[x]) => dynamic::rotate(device, x, *by)?,
        (Work::Sort { n, order }, &[x]) => dynamic::sort(device, x, *n, *order)?,
        (Work::SortVariant { variant, order }, &[x]) => dynamic::sort_variant(device, *variant, x, *order)?,
        (Work::Argsort { n, order }, &[x]) => dynamic::argsort(device, x, *n, *order)?,
        (Work::TopK { n, k, order }, &[x]) => {
            let (first, places) = dynamic::top_k(device, x, *n, *k, *order)?;
            return Ok((first, Some(places)));
        }
        (Work::SortBy(before), &[x]) => dynamic::sort_by(device, x, before)?,
        (Work::ArgsortBy(before), &[x]) => dynamic::argsort_by(device, x, before)?,
        (Work::Merge(order), &[a, b]) => dynamic::merge(device, a, b, *order)?,
        (Work::MergeBy(before), &[a, b]) => dynamic::merge_by(device, a, b, before)?,
        (Work::Search(kind, order), &[x, needles]) => dynamic::search(device, x, needles, *kind, *order)?,
        (Work::Sets(op, order), &[a, b]) => dynamic::set_operation(device, *op, a, b, *order)?.trimmed()?,
        (Work::Select(keep), &[x]) => dynamic::select(device, x, keep)?.trimmed()?,
        (Work::Partition(first), &[x]) => dynamic::partition(device, x, first)?.values,
        (Work::Unique, &[x]) => dynamic::unique(device, x)?.trimmed()?,
        (Work::Runs, &[x]) => {
            let runs = dynamic::run_length_encode(device, x)?;
            let [values, lengths] = [runs.values.0, runs.values.1].map(|b| dynamic::first(&b, &runs.count));
            return Ok((values?, Some(lengths?)));
        }
        (Work::ReduceByKey(op), &[keys, values]) => {
            let runs = dynamic::reduce_by_key(device, keys, values, op)?;
            let [keys, values] = [runs.values.0, runs.values.1].map(|b| dynamic::first(&b, &runs.count));
            return Ok((values?, Some(keys?)));
        }
        (Work::SegmentedReduce(op), &[x, offsets]) => dynamic::segmented_reduce(device, x, offsets, op)?,
        (Work::SegmentedScan { op, exclusive }, &[x, offsets]) => dynamic::segmented_scan(device, x, offsets, op, *exclusive)?,
        (Work::SegmentedSort { order, indices }, &[x, offsets]) => dynamic::segmented_sort(device, x, offsets, *order, *indices)?,
        (Work::AdjacentDifference { right }, &[x]) => dynamic::adjacent_difference(device, x, *right)?,
        (Work::Histogram { bins: Some((lower, upper, bins)), .. }, &[x, ref weights @ ..]) => {
            dynamic::histogram(device, x, DynBins::Even { lower, upper, bins: *bins }, weights.first().copied())?
        }
        (Work::Histogram { bins: None, weighted: true }, &[x, weights, edges]) => {
            dynamic::histogram(device, x, DynBins::Edges(edges), Some(weights))?
        }
        (Work::Histogram { bins: None, .. }, &[x, edges]) => dynamic::histogram(device, x, DynBins::Edges(edges), None)?,
        (Work::Ballot(holds, width), &[x]) => dynamic::group_ballot(device, x, *width, holds)?,
        (Work::Match(width), &[x]) => {
            let (first, count) = dynamic::group_match(device, x, *width)?;
            return Ok((first, Some(count)));
        }
        (Work::Tickets, &[x]) => {
            let (ticket, count) = dynamic::tickets(device, x)?;
            return Ok((ticket, Some(count)));
        }
        (_, inputs) => return Err(crate::failure::Failure::defect(format!("{} inputs do not fit {}", inputs.len(), plan.name))),
    };
    Ok((result, None))
}

/// The same once more, for a measurement: into the result where the pattern can.
pub(crate) fn repeat(device: &Device, plan: &Plan, inputs: &[Buffer], result: &Buffer) -> isowarp::Result<()> {
    let all: Vec<&Buffer> = inputs.iter().collect();
    match (&plan.work, &all[..]) {
        (Work::Map { func, n, .. }, _) => dynamic::generate_into(device, *n, func, &all, result),
        (Work::Scan { op, axis: None, exclusive, variant }, &[x]) => {
            dynamic::scan_variant_into(device, *variant, x, op, *exclusive, result)
        }
        (Work::Reduce { op, axis: None, variant }, &[x]) => dynamic::reduce_variant(device, *variant, x, op).map(drop),
        (Work::Reduce { op, axis: Some((shape, axis)), .. }, &[x]) => dynamic::reduce_axis(device, x, shape, *axis, op).map(drop),
        (Work::Scan { op, axis: Some((shape, axis)), exclusive, .. }, &[x]) => {
            dynamic::scan_axis(device, x, shape, *axis, op, *exclusive).map(drop)
        }
        (Work::Sort { n, order }, &[x]) => dynamic::sort_into(device, x, *n, *order, result),
        (Work::SortVariant { variant, order }, &[x]) => dynamic::sort_variant_into(device, *variant, x, *order, result),
        (Work::Argsort { n, order }, &[x]) => dynamic::argsort_into(device, x, *n, *order, result),
        (Work::TopK { n, k, order }, &[x]) => dynamic::top_k(device, x, *n, *k, *order).map(drop),
        (Work::SortBy(before), &[x]) => dynamic::sort_by_into(device, x, before, result),
        (Work::ArgsortBy(before), &[x]) => dynamic::argsort_by_into(device, x, before, result),
        (Work::Merge(order), &[a, b]) => dynamic::merge_into(device, a, b, *order, result),
        (Work::MergeBy(before), &[a, b]) => dynamic::merge_by_into(device, a, b, before, result),
        (Work::Search(kind, order), &[x, needles]) => dynamic::search_into(device, x, needles, *kind, *order, result),
        (Work::Argmin, &[x]) => dynamic::argmin(device, x).map(drop),
        (Work::Argmax, &[x]) => dynamic::argmax(device, x).map(drop),
        (Work::Dot, &[x, y]) => dynamic::dot(device, x, y).map(drop),
        (Work::Norm(which), &[x]) => dynamic::norm(device, x, *which).map(drop),
        (Work::Mean, &[x]) => dynamic::mean(device, x).map(drop),
        (Work::Select(keep), &[x]) => dynamic::select(device, x, keep).map(drop),
        (Work::Partition(first), &[x]) => dynamic::partition(device, x, first).map(drop),
        (Work::Unique, &[x]) => dynamic::unique(device, x).map(drop),
        (Work::Runs, &[x]) => dynamic::run_length_encode(device, x).map(drop),
        (Work::ReduceByKey(op), &[keys, values]) => dynamic::reduce_by_key(device, keys, values, op).map(drop),
        _ => match execute(device, plan, inputs) {
            Ok(_) => Ok(()),
            Err(crate::failure::Failure::Library(e)) => Err(e),
            Err(_) => Ok(()),
        },
    }
}

/// The result on the host.
pub(crate) fn download(plan: &Plan, result: &Buffer) -> Result<Array> {
    let mut bytes = result.read_blocking()?;
    let mut dtype = result.dtype();
    if plan.boolean {
        let size = dtype.size_bytes() as usize;
        bytes = bytes.chunks_exact(size).map(|e| u8::from(e.iter().any(|&b| b != 0))).collect();
        dtype = DType::U8;
    }
    // How many elements are kept, or bins there are, is known here at the earliest.
    let shape = if plan.work.counts() { vec![result.len()] } else { plan.shape.clone() };
    Ok(Array { shape, dtype, boolean: plan.boolean, bytes })
}

/// Lengths, counts or keys on the host, which may be truth values; or where the first elements were, in the shape that these have.
pub(crate) fn download_runs(plan: &Plan, found: &Buffer, boolean: bool) -> Result<Array> {
    let shape = if matches!(plan.work, Work::TopK { .. }) { plan.shape.clone() } else { vec![found.len()] };
    Ok(Array { shape, dtype: found.dtype(), boolean, bytes: found.read_blocking()? })
}
