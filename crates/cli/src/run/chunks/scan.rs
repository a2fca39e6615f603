//! Scans: lines that a chunk holds are scanned as they are read; longer ones part by part, each behind the fold of what came before.

use super::Job;
use crate::failure::{Failure, Result};
use crate::npy::{self, Reader};
use crate::output::{self, Output, Writing};
use crate::run::plan::{Plan, truths};
use isowarp::dynamic::{Call, DynBuffer, Operator, Over, ScanTotal};
use isowarp::element::DType;
use isowarp::{Cpu, Device};

/// Elements of every part but the last.
const STEP: u64 = ScanTotal::<Cpu>::STEP;

/// The operator, whether elements themselves are left out, and whether the result is truth values.
type Scanned<'a> = (&'a Operator, bool, bool);

/// The elements of a line, and of those that lie beside each other.
fn line_of(over: &Over, elements: u64) -> (u64, u64) {
    if let Over::Axis(shape, axis) = over { (shape[*axis], shape[axis + 1..].iter().product()) } else { (elements, 1) }
}

/// Whether a chunk of so many elements holds whole lines, or parts of one.
pub(super) fn fits(call: &Call, chunk: u64) -> bool {
    let Call::Scan { over, .. } = call else { return true };
    let (n, inner) = line_of(over, u64::MAX);
    inner == 1 || n.saturating_mul(inner) <= chunk
}

/// Elements that a chunk has at least: those of a part of a line, or a line that is shorter.
pub(super) fn least(call: &Call) -> u64 {
    let Call::Scan { over, .. } = call else { return 1 };
    line_of(over, u64::MAX).0.min(STEP)
}

/// Scans the lines of an array, and returns the bytes of the result.
pub(super) fn scan(
    job: &mut Job<'_>,
    plan: &Plan,
    inputs: Vec<Reader>,
    (op, over, exclusive): (&Operator, &Over, bool),
    output: &Output,
) -> Result<u64> {
    let mut from = inputs.into_iter().next().ok_or_else(|| Failure::defect("a scan without an input"))?;
    let (elements, dtype) = (from.head().len(), from.head().dtype);
    let (n, inner) = line_of(over, elements);
    job.progress.expect(elements * dtype.size_bytes());
    let result = op.result(dtype);
    let mut to = output.begin(&job.temp)?;
    to.put(&npy::header_of(&plan.shape(elements), result, plan.boolean)?)?;
    let of = (op, exclusive, plan.boolean);
    let mut left = elements;
    while left > 0 {
        left -= if n * inner > job.chunk {
            line(job, &mut from, of, n, &mut to)?;
            n
        } else {
            lines(job, &mut from, of, ((n, inner), left), &mut to)?
        };
    }
    // Closed before its place is taken, which may be its own.
    drop(from);
    output::finish(vec![to])?;
    Ok(elements * if plan.boolean { 1 } else { result.size_bytes() })
}

/// Writes a piece of the result.
fn put(to: &mut Writing<'_>, mut bytes: Vec<u8>, (dtype, boolean): (DType, bool)) -> Result {
    if boolean {
        truths(&mut bytes, dtype);
    }
    to.put(&bytes)
}

/// Scans as many whole lines as a chunk holds, of `left` elements, and returns how many elements that were.
fn lines(
    job: &mut Job<'_>,
    from: &mut Reader,
    (op, exclusive, boolean): Scanned<'_>,
    ((n, inner), left): ((u64, u64), u64),
    to: &mut Writing<'_>,
) -> Result<u64> {
    let (device, dtype, slab) = (job.device, from.head().dtype, n * inner);
    let taken = (job.chunk / slab * slab).min(left);
    let mut waiting = vec![from.next(taken * dtype.size_bytes(), &job.progress)?];
    while let Some(mut bytes) = waiting.pop() {
        let slabs = bytes.len() as u64 / dtype.size_bytes() / slab;
        let call = Call::Scan { op: op.clone(), over: Over::Axis(vec![slabs, n, inner], 1), exclusive };
        let scanned = DynBuffer::upload(device, dtype, &bytes)
            .and_then(|x| job.time(|| call.run(device, &[&x])))
            .and_then(|found| found.one().read_blocking());
        match scanned {
            Ok(found) => {
                job.took(slabs * slab, dtype.size_bytes());
                put(to, found, (op.result(dtype), boolean))?;
            }
            Err(e) => {
                job.halve((slabs, slab), e)?;
                let rest = bytes.split_off((slabs / 2 * slab * dtype.size_bytes()) as usize);
                waiting.extend([rest, bytes]);
            }
        }
    }
    Ok(taken)
}

/// Scans a line that is longer than a chunk.
fn line(job: &mut Job<'_>, from: &mut Reader, (op, exclusive, boolean): Scanned<'_>, n: u64, to: &mut Writing<'_>) -> Result {
    let (device, dtype): (&Device, _) = (job.device, from.head().dtype);
    let mut total = ScanTotal::new(device, op, exclusive);
    let mut left = n;
    while left > 0 {
        let taken = ((job.chunk / STEP).max(1) * STEP).min(left);
        left -= taken;
        let mut waiting = vec![from.next(taken * dtype.size_bytes(), &job.progress)?];
        while let Some(mut bytes) = waiting.pop() {
            let elements = bytes.len() as u64 / dtype.size_bytes();
            let scanned = DynBuffer::upload(device, dtype, &bytes).and_then(|x| job.time(|| total.next(&x)));
            match scanned {
                Ok(found) => {
                    job.took(elements, dtype.size_bytes());
                    put(to, found.read_blocking()?, (found.dtype(), boolean))?;
                }
                Err(e) => {
                    let steps = elements.div_ceil(STEP);
                    job.halve((steps, STEP), e)?;
                    let rest = bytes.split_off((steps / 2 * STEP * dtype.size_bytes()) as usize);
                    waiting.extend([rest, bytes]);
                }
            }
        }
    }
    Ok(())
}
