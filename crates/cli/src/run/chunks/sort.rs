//! Sorts: rows that a chunk holds are sorted as they are read; of longer ones chunks are sorted, and then merged.

use super::keys::Keys;
use super::merge;
use super::runs::{Runs, Writer};
use super::{Job, KEYS, Sorted};
use crate::failure::{Failure, Result};
use crate::npy::{self, Array, Reader};
use crate::output::{Halted, Output};
use crate::run::plan::Plan;
use isowarp::Error;
use isowarp::dynamic::DynBuffer;
use isowarp::element::DType;
use std::io::Write;

/// Sorts the rows of an array, and returns the bytes of the result.
pub(super) fn sort(job: &mut Job<'_>, plan: &Plan, inputs: Vec<Reader>, (n, order, indices): Sorted<'_>, output: &Output) -> Result<u64> {
    let mut from = inputs.into_iter().next().ok_or_else(|| Failure::defect("a sort without an input"))?;
    let (elements, dtype) = (from.head().len(), from.head().dtype);
    if indices && n > KEYS {
        return Err(Error::TooLarge { what: "elements of a sort", requested: n, limit: KEYS }.into());
    }
    let sizes = if indices { vec![dtype.size_bytes(), 4] } else { vec![dtype.size_bytes()] };
    let keys = Keys { dtype, order, sizes };
    let out = if indices { DType::U32 } else { dtype };
    let header = npy::header_of(&plan.shape, out, plan.boolean)?;
    let passes = if n > job.chunk { merge::passes(job, &keys, n.div_ceil(job.chunk)) } else { 0 };
    job.progress.expect(elements * keys.sizes[0] * (1 + u64::from(passes)));
    let temp = job.temp.clone();
    output.stream(&temp, |w| {
        w.write_all(&header)?;
        let mut left = elements;
        let mut put = |bytes: Vec<u8>| put(w, bytes, plan.boolean);
        while left > 0 {
            left -= if n > job.chunk {
                row(job, &keys, &mut from, n, &mut put)?;
                n
            } else {
                rows(job, &keys, &mut from, (n, left), &mut put)?
            };
        }
        // Closed before its place is taken, which may be its own.
        drop(from);
        Ok(())
    })?;
    Ok(elements * out.size_bytes())
}

/// Writes a piece of the result.
fn put(w: &mut dyn Write, mut bytes: Vec<u8>, boolean: bool) -> Result<(), Halted> {
    if boolean {
        bytes.iter_mut().for_each(|b| *b = u8::from(*b != 0));
    }
    Ok(w.write_all(&bytes)?)
}

/// Sorts as many whole rows as a chunk holds, of `left` elements, and returns how many elements that were.
fn rows(
    job: &mut Job<'_>,
    keys: &Keys<'_>,
    from: &mut Reader,
    (n, left): (u64, u64),
    put: &mut impl FnMut(Vec<u8>) -> Result<(), Halted>,
) -> Result<u64, Halted> {
    job.progress.say("sorting rows");
    let (device, size) = (job.device, keys.sizes[0]);
    let taken = (job.chunk / n * n).min(left);
    let mut waiting = vec![from.next(taken * size, &job.progress)?];
    while let Some(mut bytes) = waiting.pop() {
        let rows = bytes.len() as u64 / size / n;
        let sorted = DynBuffer::upload(device, keys.dtype, &bytes)
            .and_then(|x| job.time(|| if keys.indices() { keys.argsort(device, &x, n) } else { keys.sort(device, &x, n) }));
        match sorted.and_then(|sorted| sorted.read_blocking()) {
            Ok(found) => {
                job.took(rows * n, size);
                put(found)?;
            }
            Err(e) if rows == 1 => {
                // From now on rows are sorted in parts.
                job.halve((n, 1), e)?;
                let array = Array { shape: vec![n], dtype: keys.dtype, boolean: false, bytes };
                row(job, keys, &mut Reader::from(array), n, put)?;
            }
            Err(e) => {
                job.halve((rows, n), e)?;
                let rest = bytes.split_off((rows / 2 * n * size) as usize);
                waiting.extend([rest, bytes]);
            }
        }
    }
    Ok(taken)
}

/// Sorts a row that is longer than a chunk.
fn row(
    job: &mut Job<'_>,
    keys: &Keys<'_>,
    from: &mut Reader,
    n: u64,
    put: &mut impl FnMut(Vec<u8>) -> Result<(), Halted>,
) -> Result<(), Halted> {
    job.progress.say("sorting chunks");
    let runs = chunks(job, keys, from, n)?;
    job.progress.say("merging");
    merge::merge(job, keys, runs, |mut parts| put(parts.swap_remove(usize::from(keys.indices()))))
}

/// Sorts a row's chunks into runs.
fn chunks(job: &mut Job<'_>, keys: &Keys<'_>, from: &mut Reader, n: u64) -> Result<Runs> {
    let (folder, size) = (job.temp.clone(), keys.sizes[0]);
    let mut writer = Writer::new(&folder, &keys.sizes)?;
    let mut at = 0;
    while at < n {
        let taken = job.chunk.min(n - at);
        let mut waiting = vec![from.next(taken * size, &job.progress)?];
        while let Some(mut bytes) = waiting.pop() {
            let elements = bytes.len() as u64 / size;
            match run(job, keys, &bytes, at) {
                Ok(parts) => {
                    job.took(elements, size);
                    writer.write(&parts)?;
                    writer.end();
                    at += elements;
                }
                Err(e) => {
                    job.halve((elements, 1), e)?;
                    let rest = bytes.split_off((elements / 2 * size) as usize);
                    waiting.extend([rest, bytes]);
                }
            }
        }
    }
    writer.done()
}

/// Sorts the keys from `at` on; and their indices, where there are any.
fn run(job: &mut Job<'_>, keys: &Keys<'_>, bytes: &[u8], at: u64) -> isowarp::Result<Vec<Vec<u8>>> {
    let device = job.device;
    let x = DynBuffer::upload(device, keys.dtype, bytes)?;
    if !keys.indices() {
        return Ok(vec![job.time(|| keys.sort(device, &x, x.len()))?.read_blocking()?]);
    }
    let (sorted, places) = job.time(|| keys.sort_with_indices(device, &x))?;
    let mut places = places.read_blocking()?;
    for place in places.chunks_exact_mut(4) {
        let index = u32::from_le_bytes([place[0], place[1], place[2], place[3]]) + at as u32;
        place.copy_from_slice(&index.to_le_bytes());
    }
    Ok(vec![sorted.read_blocking()?, places])
}
