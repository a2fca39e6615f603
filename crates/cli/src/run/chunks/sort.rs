//! Sorts: rows that a chunk holds are sorted as they are read; of longer ones chunks are sorted, and then merged. What goes with keys, their
//! indices or values, goes with them from the first chunk to the last merge.

use super::keys::{Keys, With};
use super::merge;
use super::runs::{Runs, Writer};
use super::{Job, KEYS, Rows};
use crate::failure::{Failure, Result};
use crate::npy::{self, Array, Reader};
use crate::output::{self, Writing};
use crate::progress::Progress;
use crate::run::Outputs;
use crate::run::plan::{Part, Plan};
use isowarp::dynamic::{DynBuffer, Sorted};
use isowarp::{Device, Error};
use std::iter;

/// Bytes of keys, and of what goes with them.
type Parts = Vec<Vec<u8>>;

/// Sorts the rows of an array, and returns the bytes of the result.
pub(super) fn sort(job: &mut Job<'_>, plan: &Plan, inputs: Vec<Reader>, (n, order, indices): Rows<'_>, outputs: &Outputs) -> Result<u64> {
    let mut from = inputs;
    let head = from.first().ok_or_else(|| Failure::defect("a sort without an input"))?.head();
    let (elements, dtype, truth) = (head.len(), head.dtype, head.boolean);
    if indices && n > KEYS {
        return Err(Error::TooLarge { what: "elements of a sort", requested: n, limit: KEYS }.into());
    }
    let with = match from.get(1) {
        _ if indices => With::Indices,
        Some(values) => With::Values(values.head().dtype),
        None => With::Nothing,
    };
    let keys = Keys::new(dtype, order, with);
    let out = keys.types().last().copied().unwrap_or(dtype);
    let header = npy::header_of(&plan.shape(elements), out, plan.boolean)?;
    let of_keys = npy::header_of(&plan.shape(elements), dtype, truth)?;
    let passes = if n > job.chunk { merge::passes(job, &keys, n.div_ceil(job.chunk)) } else { 0 };
    job.progress.expect(elements * (keys.read_bytes() + keys.sizes[0] * u64::from(passes)));
    let temp = job.temp.clone();
    let mut result = outputs.result.begin(&temp)?;
    result.put(&header)?;
    // Where keys go too, if values travel with them.
    let mut beside = outputs.of(Part::Keys).map(|output| output.begin(&temp)).transpose()?;
    if let Some(beside) = &mut beside {
        beside.put(&of_keys)?;
    }
    let mut left = elements;
    let mut put = |mut parts: Parts| {
        put(&mut result, parts.pop().unwrap_or_default(), plan.boolean)?;
        match (&mut beside, parts.pop()) {
            (Some(beside), Some(keys)) => put(beside, keys, truth),
            _ => Ok(()),
        }
    };
    while left > 0 {
        left -= if n > job.chunk {
            row(job, &keys, &mut from, n, &mut put)?;
            n
        } else {
            rows(job, &keys, &mut from, (n, left), &mut put)?
        };
    }
    // Closed before its place is taken, which may be its own.
    from.clear();
    let with_keys = beside.is_some();
    output::finish(iter::once(result).chain(beside).collect())?;
    let written = out.size_bytes() + if with_keys { dtype.size_bytes() } else { 0 };
    Ok(elements * written)
}

/// Writes a piece of the result.
fn put(w: &mut Writing<'_>, mut bytes: Vec<u8>, boolean: bool) -> Result {
    if boolean {
        bytes.iter_mut().for_each(|b| *b = u8::from(*b != 0));
    }
    w.put(&bytes)
}

/// So many elements of every input.
fn read(from: &mut [Reader], elements: u64, progress: &Progress) -> Result<Parts> {
    from.iter_mut().map(|r| r.next(elements * r.head().dtype.size_bytes(), progress)).collect()
}

/// Cuts what was read behind so many elements, and returns the rest.
fn split(keys: &Keys<'_>, parts: &mut Parts, elements: u64) -> Parts {
    parts.iter_mut().zip(&keys.sizes).map(|(part, size)| part.split_off((elements * size) as usize)).collect()
}

/// Uploads what was read.
fn upload(device: &Device, keys: &Keys<'_>, parts: &Parts) -> isowarp::Result<Vec<DynBuffer<Device>>> {
    parts.iter().zip(keys.types()).map(|(part, dtype)| DynBuffer::upload(device, dtype, part)).collect()
}

/// Rows of `n` elements in order, as bytes: the keys with their values, or their indices alone.
fn in_order(job: &mut Job<'_>, keys: &Keys<'_>, parts: &Parts, n: u64) -> isowarp::Result<Parts> {
    let device = job.device;
    let uploaded = upload(device, keys, parts)?;
    let gives = match keys.with {
        With::Nothing => Sorted::Keys,
        With::Indices => Sorted::Indices,
        With::Values(_) => Sorted::KeysAndValues,
    };
    let sorted = job.time(|| keys.sort(device, &uploaded.iter().collect::<Vec<_>>(), n, gives))?;
    sorted.iter().map(DynBuffer::read_blocking).collect()
}

/// Sorts as many whole rows as a chunk holds, of `left` elements, and returns how many elements that were.
fn rows(
    job: &mut Job<'_>,
    keys: &Keys<'_>,
    from: &mut [Reader],
    (n, left): (u64, u64),
    put: &mut impl FnMut(Parts) -> Result,
) -> Result<u64> {
    job.progress.say("sorting rows");
    let taken = (job.chunk / n * n).min(left);
    let mut waiting = vec![read(from, taken, &job.progress)?];
    while let Some(mut parts) = waiting.pop() {
        let rows = keys.len(&parts) as u64 / n;
        match in_order(job, keys, &parts, n) {
            Ok(found) => {
                job.took(rows * n, keys.read_bytes());
                put(found)?;
            }
            Err(e) if rows == 1 => {
                // From now on rows are sorted in parts.
                job.halve((n, 1), e)?;
                let reader = |(bytes, dtype)| Reader::from(Array { shape: vec![n], dtype, boolean: false, bytes });
                let mut again: Vec<Reader> = parts.into_iter().zip(keys.types()).map(reader).collect();
                row(job, keys, &mut again, n, put)?;
            }
            Err(e) => {
                job.halve((rows, n), e)?;
                let rest = split(keys, &mut parts, rows / 2 * n);
                waiting.extend([rest, parts]);
            }
        }
    }
    Ok(taken)
}

/// Sorts a row that is longer than a chunk.
fn row(job: &mut Job<'_>, keys: &Keys<'_>, from: &mut [Reader], n: u64, put: &mut impl FnMut(Parts) -> Result) -> Result {
    job.progress.say("sorting chunks");
    let runs = chunks(job, keys, from, n)?;
    job.progress.say("merging");
    merge::merge(job, keys, runs, put)
}

/// Sorts a row's chunks into runs.
fn chunks(job: &mut Job<'_>, keys: &Keys<'_>, from: &mut [Reader], n: u64) -> Result<Runs> {
    let folder = job.temp.clone();
    let mut writer = Writer::new(&folder, &keys.sizes)?;
    let mut at = 0;
    while at < n {
        let taken = job.chunk.min(n - at);
        let mut waiting = vec![read(from, taken, &job.progress)?];
        while let Some(mut parts) = waiting.pop() {
            let elements = keys.len(&parts) as u64;
            match run(job, keys, &parts, at) {
                Ok(sorted) => {
                    job.took(elements, keys.read_bytes());
                    writer.write(&sorted)?;
                    writer.end();
                    at += elements;
                }
                Err(e) => {
                    job.halve((elements, 1), e)?;
                    let rest = split(keys, &mut parts, elements / 2);
                    waiting.extend([rest, parts]);
                }
            }
        }
    }
    writer.done()
}

/// Sorts the keys from `at` on, and what goes with them.
fn run(job: &mut Job<'_>, keys: &Keys<'_>, parts: &Parts, at: u64) -> isowarp::Result<Parts> {
    if keys.with != With::Indices {
        return in_order(job, keys, parts, keys.len(parts) as u64);
    }
    let device = job.device;
    let x = DynBuffer::upload(device, keys.dtype, &parts[0])?;
    let found = job.time(|| keys.sort(device, &[&x], x.len(), Sorted::KeysAndIndices))?;
    let mut found = found.iter().map(DynBuffer::read_blocking).collect::<isowarp::Result<Parts>>()?;
    let mut places = found.pop().unwrap_or_default();
    for place in places.chunks_exact_mut(4) {
        let index = u32::from_le_bytes([place[0], place[1], place[2], place[3]]) + at as u32;
        place.copy_from_slice(&index.to_le_bytes());
    }
    found.push(places);
    Ok(found)
}
