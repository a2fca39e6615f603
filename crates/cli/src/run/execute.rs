//! A plan on a device.

use super::plan::{Counted, Plan, Question, Work};
use crate::failure::Result;
use crate::npy::Array;
use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::buffer::Memory as _;
use isowarp::dynamic::{self, DynBuffer};
use isowarp::element::DType;
use isowarp::patterns::Selected;

type Buffer = DynBuffer<Device>;

/// What there may be beside a result, in a file of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Beside {
    /// How many there are of each element.
    Lengths,
    /// The keys that the result's values belong to.
    Keys,
    /// Where the result's elements were.
    Indices,
    /// How many elements there are in parts of the result.
    Count,
}

/// A result, and what there is beside it.
pub(crate) type Found = (Buffer, Vec<(Beside, Buffer)>);

/// Values with their keys.
fn keyed((keys, values): (Buffer, Buffer)) -> Result<Found> {
    Ok((values, vec![(Beside::Keys, keys)]))
}

/// As many of both buffers as were found.
fn trimmed(found: &Selected<Device, (Buffer, Buffer)>) -> Result<(Buffer, Buffer)> {
    Ok((dynamic::first(&found.values.0, &found.count)?, dynamic::first(&found.values.1, &found.count)?))
}

/// Computes the plan's result, and what there is beside it.
pub(crate) fn execute(device: &Device, plan: &Plan, inputs: &[Buffer]) -> Result<Found> {
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
        (Work::ScanByKey { op, exclusive }, &[keys, x]) => dynamic::scan_by_key(device, keys, x, op, *exclusive)?,
        (Work::Argmin(None), &[x]) => dynamic::argmin(device, x)?,
        (Work::Argmin(Some((shape, axis))), &[x]) => dynamic::argmin_axis(device, x, shape, *axis)?,
        (Work::Argmax(None), &[x]) => dynamic::argmax(device, x)?,
        (Work::Argmax(Some((shape, axis))), &[x]) => dynamic::argmax_axis(device, x, shape, *axis)?,
        (Work::Dot, &[x, y]) => dynamic::dot(device, x, y)?,
        (Work::Norm(which), &[x]) => dynamic::norm(device, x, *which)?,
        (Work::Mean, &[x]) => dynamic::mean(device, x)?,
        (Work::Gather, &[x, at]) => dynamic::gather(device, x, at)?,
        (Work::Scatter(op), &[x, at, target]) => dynamic::scatter(device, x, at, *op, target)?,
        (Work::ScatterFixed(digits, overflow), &[x, at, target]) => dynamic::scatter_fixed(device, x, at, (*digits, *overflow), target)?,
        (Work::ScatterCombine(op), &[x, at, target]) => dynamic::scatter_combine(device, x, at, op, target)?,
        (Work::Transpose(shape, order), &[x]) => dynamic::permute_axes(device, x, shape, order)?,
        (Work::ToMorton(shape), &[x]) => dynamic::to_morton(device, x, shape)?,
        (Work::FromMorton(shape), &[x]) => dynamic::from_morton(device, x, shape)?,
        (Work::Reverse, &[x]) => dynamic::reverse(device, x)?,
        (Work::Rotate(by), &[x]) => dynamic::rotate(device, x, *by)?,
        (Work::Sort { n, by }, &[x]) => dynamic::sort(device, x, *n, by.clone())?,
        (Work::SortVariant { variant, by }, &[x]) => dynamic::sort_variant(device, *variant, x, by.clone())?,
        (Work::Argsort { n, by }, &[x]) => dynamic::argsort(device, x, *n, by.clone())?,
        (Work::TopK { n, k, by }, &[x]) => {
            let (first, places) = dynamic::top_k(device, x, *n, *k, by.clone())?;
            return Ok((first, vec![(Beside::Indices, places)]));
        }
        (Work::TopKPairs { n, k, by }, &[keys, values]) => {
            let ((first, carried), places) = dynamic::top_k_pairs(device, keys, values, (*n, *k), by.clone())?;
            return Ok((carried, vec![(Beside::Keys, first), (Beside::Indices, places)]));
        }
        (Work::SortPairs { n, by }, &[keys, values]) => return keyed(dynamic::sort_pairs(device, keys, values, *n, by.clone())?),
        (Work::SortPairsBy(before), &[keys, values]) => return keyed(dynamic::sort_pairs_by(device, keys, values, before)?),
        (Work::SortBy(before), &[x]) => dynamic::sort_by(device, x, before)?,
        (Work::ArgsortBy(before), &[x]) => dynamic::argsort_by(device, x, before)?,
        (Work::Merge(order), &[a, b]) => dynamic::merge(device, a, b, *order)?,
        (Work::MergeVariant { variant, order }, &[a, b]) => dynamic::merge_variant(device, *variant, a, b, *order)?,
        (Work::MergeBy(before), &[a, b]) => dynamic::merge_by(device, a, b, before)?,
        (Work::MergePairs(order), &[a, v, b, w]) => return keyed(dynamic::merge_pairs(device, (a, v), (b, w), *order)?),
        (Work::MergePairsBy(before), &[a, v, b, w]) => return keyed(dynamic::merge_pairs_by(device, (a, v), (b, w), before)?),
        (Work::Search(kind, order), &[x, needles]) => dynamic::search(device, x, needles, *kind, *order)?,
        (Work::SearchBy(kind, before), &[x, needles]) => dynamic::search_by(device, x, needles, *kind, before)?,
        (Work::Sets(op, order), &[a, b]) => dynamic::set_operation(device, *op, a, b, *order)?.trimmed()?,
        (Work::SetsBy(op, before), &[a, b]) => dynamic::set_operation_by(device, *op, a, b, before)?.trimmed()?,
        (Work::CoRanks(order), &[a, b, ranks]) => dynamic::co_ranks(device, a, b, *order, ranks)?,
        (Work::IsSorted(by), &[x]) => dynamic::is_sorted(device, x, by.clone())?.buffer().clone().into(),
        (Work::IsSortedBy(before), &[x]) => dynamic::is_sorted_by(device, x, before)?.buffer().clone().into(),
        (Work::Select { keep, indices: false }, &[x, ..]) => dynamic::select_from(device, x, keep, &all)?.trimmed()?,
        (Work::Select { keep, .. }, &[x, ..]) => {
            let (kept, places) = trimmed(&dynamic::select_with_indices(device, x, keep, &all)?)?;
            return Ok((kept, vec![(Beside::Indices, places)]));
        }
        (Work::Partition(first), &[x, ..]) => {
            let parts = dynamic::partition_from(device, x, first, &all)?;
            return Ok((parts.values, vec![(Beside::Count, parts.count.buffer().clone().into())]));
        }
        (Work::PartitionThree(first, second), &[x, ..]) => {
            let (parts, counts) = dynamic::partition_three(device, x, (first, second), &all)?;
            return Ok((parts, vec![(Beside::Count, counts)]));
        }
        (Work::Ask(question, holds), _) => {
            let answer = match question {
                Question::Any => dynamic::any(device, holds, &all)?,
                Question::All => dynamic::all(device, holds, &all)?,
                Question::Count => dynamic::count(device, holds, &all)?,
            };
            answer.buffer().clone().into()
        }
        (Work::Find(holds), &[x, ..]) => {
            let place = dynamic::find_if(device, holds, &all)?;
            // What is nowhere is at the end: then there is no place.
            let found = u32::from(u64::from(place.read_blocking()?) < x.len());
            dynamic::first(&place.buffer().clone().into(), &device.upload_scalar(found)?)?
        }
        (Work::Unique, &[x]) => dynamic::unique(device, x)?.trimmed()?,
        (Work::Runs, &[x]) => {
            let (values, lengths) = trimmed(&dynamic::run_length_encode(device, x)?)?;
            return Ok((values, vec![(Beside::Lengths, lengths)]));
        }
        (Work::RunsBack, &[x, lengths]) => dynamic::run_length_decode(device, x, lengths)?,
        (Work::UniqueByKey, &[keys, values]) => return keyed(trimmed(&dynamic::unique_by_key(device, keys, values)?)?),
        (Work::ReduceByKey(op), &[keys, values]) => return keyed(trimmed(&dynamic::reduce_by_key(device, keys, values, op)?)?),
        (Work::SegmentedReduce(op), &[x, offsets]) => dynamic::segmented_reduce(device, x, offsets, op)?,
        (Work::SegmentedArgmin, &[x, offsets]) => dynamic::segmented_argmin(device, x, offsets)?,
        (Work::SegmentedArgmax, &[x, offsets]) => dynamic::segmented_argmax(device, x, offsets)?,
        (Work::SegmentedScan { op, exclusive }, &[x, offsets]) => dynamic::segmented_scan(device, x, offsets, op, *exclusive)?,
        (Work::SegmentedSort { order, indices }, &[x, offsets]) => dynamic::segmented_sort(device, x, offsets, *order, *indices)?,
        (Work::SegmentedSortPairs(order), &[keys, values, offsets]) => {
            return keyed(dynamic::segmented_sort_pairs(device, (keys, values), offsets, *order)?);
        }
        (Work::AdjacentDifference { right }, &[x]) => dynamic::adjacent_difference(device, x, *right)?,
        (Work::Histogram(of), all) => histogram(device, of, all)?,
        (Work::Ballot(holds, width), &[x]) => dynamic::group_ballot(device, x, *width, holds)?,
        (Work::Match(width), &[x]) => {
            let (first, count) = dynamic::group_match(device, x, *width)?;
            return Ok((first, vec![(Beside::Lengths, count)]));
        }
        (Work::Tickets, &[x]) => {
            let (ticket, count) = dynamic::tickets(device, x)?;
            return Ok((ticket, vec![(Beside::Lengths, count)]));
        }
        (_, inputs) => return Err(crate::failure::Failure::defect(format!("{} inputs do not fit {}", inputs.len(), plan.name))),
    };
    Ok((result, Vec::new()))
}

/// Arrays, and weights and edges behind them.
fn histogram(device: &Device, of: &Counted, all: &[&Buffer]) -> isowarp::Result<Buffer> {
    let (samples, rest) = all.split_at(of.arrays.min(all.len()));
    let (weights, edges) = rest.split_at(usize::from(of.weighted).min(rest.len()));
    let bins = of.bins(edges);
    if let Some(variant) = of.variant {
        return dynamic::histogram_variant(device, variant, samples, &bins);
    }
    match (of.channels, samples) {
        (Some((channels, _)), &[x]) => dynamic::histogram_channels(device, x, channels, &bins, weights.first().copied()),
        _ => dynamic::histogram_joint(device, samples, &bins, weights.first().copied()),
    }
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
        (Work::Sort { n, by }, &[x]) => dynamic::sort_into(device, x, *n, by.clone(), result),
        (Work::SortVariant { variant, by }, &[x]) => dynamic::sort_variant_into(device, *variant, x, by.clone(), result),
        (Work::Argsort { n, by }, &[x]) => dynamic::argsort_into(device, x, *n, by.clone(), result),
        (Work::TopK { n, k, by }, &[x]) => dynamic::top_k(device, x, *n, *k, by.clone()).map(drop),
        (Work::SortBy(before), &[x]) => dynamic::sort_by_into(device, x, before, result),
        (Work::ArgsortBy(before), &[x]) => dynamic::argsort_by_into(device, x, before, result),
        (Work::Merge(order), &[a, b]) => dynamic::merge_into(device, a, b, *order, result),
        (Work::MergeBy(before), &[a, b]) => dynamic::merge_by_into(device, a, b, before, result),
        (Work::Search(kind, order), &[x, needles]) => dynamic::search_into(device, x, needles, *kind, *order, result),
        (Work::Argmin(None), &[x]) => dynamic::argmin(device, x).map(drop),
        (Work::Argmax(None), &[x]) => dynamic::argmax(device, x).map(drop),
        (Work::Dot, &[x, y]) => dynamic::dot(device, x, y).map(drop),
        (Work::Norm(which), &[x]) => dynamic::norm(device, x, *which).map(drop),
        (Work::Mean, &[x]) => dynamic::mean(device, x).map(drop),
        (Work::Select { keep, indices: false }, &[x, ..]) => dynamic::select_from(device, x, keep, &all).map(drop),
        (Work::Select { keep, .. }, &[x, ..]) => dynamic::select_with_indices(device, x, keep, &all).map(drop),
        (Work::Partition(first), &[x, ..]) => dynamic::partition_from(device, x, first, &all).map(drop),
        (Work::Find(holds), _) => dynamic::find_if(device, holds, &all).map(drop),
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

/// The result's shape and type in a file.
pub(crate) fn head(plan: &Plan, result: &Buffer) -> Array {
    // How many elements are kept, or bins there are, is known here at the earliest.
    let shape = if plan.work.counts() { vec![result.len()] } else { plan.shape.clone() };
    of_file(result, shape, plan.boolean)
}

/// The same of what there is beside a result of some shape; keys may be truth values.
pub(crate) fn head_beside(what: Beside, found: &Buffer, shape: &[u64], boolean: bool) -> Array {
    let shape = if matches!(what, Beside::Lengths | Beside::Count) { vec![found.len()] } else { shape.to_vec() };
    of_file(found, shape, boolean && what == Beside::Keys)
}

fn of_file(found: &Buffer, shape: Vec<u64>, boolean: bool) -> Array {
    let dtype = if boolean { DType::U8 } else { found.dtype() };
    Array { shape, dtype, boolean, bytes: Vec::new() }
}

/// Truth values of a byte in the place of elements.
pub(crate) fn truths(bytes: &mut Vec<u8>, dtype: DType) {
    let size = dtype.size_bytes() as usize;
    let elements = bytes.len() / size;
    for k in 0..elements {
        bytes[k] = u8::from(bytes[k * size..][..size].iter().any(|&b| b != 0));
    }
    bytes.truncate(elements);
}
