//! Selections, partitions and runs: chunks are selected one after the other, and each one's results are written behind those before.
//!
//! A run that goes over the end of a chunk is one run: the next chunk begins with the last element of the one before, whose run is the first that is found.

use super::{Job, runs};
use crate::failure::{Failure, Result};
use crate::npy::{self, Reader};
use crate::output::{self, Writing};
use crate::progress::Progress;
use crate::run::Outputs;
use crate::run::plan::{Part, Plan, truths};
use isowarp::dynamic::{Call, DynBuffer};
use isowarp::element::DType;
use isowarp::{Device, Error};
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};

/// Memory that is worked in where nothing else is said, so that no array makes the command grow: more makes no device faster.
pub(super) const MEMORY: u64 = 1 << 30;
/// Bytes that the later parts of a partition are copied by.
const PIECE: u64 = 64 << 10;

/// Whether chunks of the call's array are selected by themselves.
pub(super) fn streams(call: &Call) -> bool {
    matches!(call, Call::Select { .. } | Call::Partition(..) | Call::Unique | Call::RunLengthEncode)
}

/// Whether the call finds runs, which may go over the end of a chunk.
fn finds_runs(call: &Call) -> bool {
    matches!(call, Call::Unique | Call::RunLengthEncode)
}

/// Bytes of an element's results on a device, for inputs of these sizes.
pub(super) fn stored(call: &Call, sizes: &[u64]) -> u64 {
    match (call, sizes) {
        (Call::Select { indices: true, .. } | Call::RunLengthEncode, [size, ..]) => size + 4,
        // Values that are narrower than a word are fetched by their places.
        (Call::Unique, [key, value]) => key + value + if *value < 4 { 12 } else { 0 },
        (_, [size, ..]) => *size,
        _ => 1,
    }
}

/// A result on its way to its file.
struct Sink<'a> {
    part: Part,
    to: Writing<'a>,
    dtype: DType,
    boolean: bool,
    elements: u64,
}

impl Sink<'_> {
    /// Adds elements.
    fn put(&mut self, mut bytes: Vec<u8>) -> Result {
        self.elements += bytes.len() as u64 / self.dtype.size_bytes();
        if self.boolean {
            truths(&mut bytes, self.dtype);
        }
        self.to.put(&bytes)
    }

    fn written(&self) -> u64 {
        self.elements * if self.boolean { 1 } else { self.dtype.size_bytes() }
    }
}

/// Results of the chunks so far.
struct Results<'a> {
    outputs: &'a Outputs,
    sinks: Vec<Sink<'a>>,
    /// Whether keys are truth values.
    boolean: bool,
    /// Length of the run that the last chunk ended in.
    open: u64,
    /// Later parts of a partition, which wait until the first one is whole, and elements of all parts but the last.
    later: Vec<File>,
    counts: Vec<u64>,
}

impl<'a> Results<'a> {
    fn new(job: &Job<'_>, plan: &Plan, boolean: bool, outputs: &'a Outputs) -> Result<Self> {
        let parts = if let Call::Partition(_, second) = &plan.call { 1 + usize::from(second.is_some()) } else { 0 };
        let file = |_| tempfile::tempfile_in(&job.temp).map_err(|e| runs::unwritable(&job.temp, &e));
        let later = (0..parts).map(file).collect::<Result<_>>()?;
        Ok(Self { outputs, sinks: Vec::new(), boolean, open: 0, later, counts: vec![0; parts] })
    }

    /// The file of a part, which the first of its elements begins, if it is wanted.
    fn sink(&mut self, job: &Job<'_>, plan: &Plan, part: Part, dtype: DType) -> Result<Option<&mut Sink<'a>>> {
        let known = self.sinks.iter().position(|s| s.part == part);
        let at = match (known, if part == Part::Result { Some(&self.outputs.result) } else { self.outputs.of(part) }) {
            (Some(at), _) => at,
            (None, None) => return Ok(None),
            (None, Some(output)) => {
                let boolean = if part == Part::Result { plan.boolean } else { self.boolean && part == Part::Keys };
                let mut to = output.begin(&job.temp)?;
                // Room for the header of any length.
                to.put(&npy::header_of(&[0], dtype, boolean)?)?;
                self.sinks.push(Sink { part, to, dtype, boolean, elements: 0 });
                self.sinks.len() - 1
            }
        };
        Ok(self.sinks.get_mut(at))
    }

    /// Adds the results of a chunk; of runs the first is that of the element before where `goes_on`.
    fn put(&mut self, job: &Job<'_>, plan: &Plan, found: Vec<(DType, Vec<u8>)>, goes_on: bool) -> Result {
        let mut parts = plan.parts().iter().copied().zip(found);
        if matches!(plan.call, Call::Partition(..)) {
            let (Some((_, (dtype, elements))), Some((_, (_, counts)))) = (parts.next(), parts.next()) else { return Ok(()) };
            return self.put_parts(job, plan, (dtype, elements), &counts);
        }
        for (part, (dtype, mut bytes)) in parts {
            if part == Part::Lengths {
                bytes = self.closed(&bytes, goes_on)?;
            } else if goes_on {
                bytes.drain(..dtype.size_bytes() as usize);
            }
            if let Some(sink) = self.sink(job, plan, part, dtype)? {
                sink.put(bytes)?;
            }
        }
        Ok(())
    }

    /// Lengths of runs that have ended; the last one may go on.
    fn closed(&mut self, lengths: &[u8], goes_on: bool) -> Result<Vec<u8>> {
        let mut closed = Vec::with_capacity(lengths.len());
        for (k, length) in lengths.chunks_exact(4).enumerate() {
            let length = u64::from(u32::from_le_bytes([length[0], length[1], length[2], length[3]]));
            if k == 0 && goes_on {
                self.open += length - 1;
                continue;
            }
            closed.extend(self.last()?.into_iter().flatten());
            self.open = length;
        }
        Ok(closed)
    }

    /// The length of the run that is open, if there is one.
    fn last(&mut self) -> Result<Option<[u8; 4]>> {
        let length = std::mem::take(&mut self.open);
        Ok(if length > 0 { Some(word("elements of a run", length)?) } else { None })
    }

    /// Adds the parts of a chunk.
    fn put_parts(&mut self, job: &Job<'_>, plan: &Plan, (dtype, mut elements): (DType, Vec<u8>), counts: &[u8]) -> Result {
        let counts: Vec<u64> = counts.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]).into()).collect();
        let mut end = elements.len();
        // From the last part on, what lies before it is those before.
        let before = |k: usize| (counts[..=k].iter().sum::<u64>() * dtype.size_bytes()) as usize;
        for (k, file) in self.later.iter_mut().enumerate().rev() {
            file.write_all(&elements[before(k)..end]).map_err(|e| runs::unwritable(&job.temp, &e))?;
            end = before(k);
        }
        self.counts.iter_mut().zip(&counts).for_each(|(all, count)| *all += count);
        elements.truncate(end);
        let Some(sink) = self.sink(job, plan, Part::Result, dtype)? else { return Ok(()) };
        sink.put(elements)
    }

    /// Ends what is open, and gives the results their places. Returns their bytes.
    fn finish(mut self, job: &Job<'_>, plan: &Plan) -> Result<u64> {
        if let Some(length) = self.last()?
            && let Some(sink) = self.sink(job, plan, Part::Lengths, DType::U32)?
        {
            sink.put(length.to_vec())?;
        }
        for mut file in std::mem::take(&mut self.later) {
            file.rewind().map_err(|e| runs::unwritable(&job.temp, &e))?;
            loop {
                let mut bytes = Vec::new();
                (&file).take(PIECE).read_to_end(&mut bytes).map_err(|e| runs::unwritable(&job.temp, &e))?;
                match self.sinks.iter_mut().find(|s| s.part == Part::Result) {
                    Some(sink) if !bytes.is_empty() => sink.put(bytes)?,
                    _ => break,
                }
            }
        }
        for count in std::mem::take(&mut self.counts) {
            if let Some(sink) = self.sink(job, plan, Part::Count, DType::U32)? {
                sink.put(word("elements of a part", count)?.to_vec())?;
            }
        }
        let written = self.sinks.iter().map(Sink::written).sum();
        let end = |mut sink: Sink<'a>| {
            let shape = if sink.part == Part::Result { plan.shape(sink.elements) } else { vec![sink.elements] };
            sink.to.put_first(&npy::header_of(&shape, sink.dtype, sink.boolean)?)?;
            Ok(sink.to)
        };
        output::finish(self.sinks.into_iter().map(end).collect::<Result<_>>()?)?;
        Ok(written)
    }
}

/// A count as it is written.
fn word(what: &'static str, count: u64) -> Result<[u8; 4]> {
    let too_large = |_| Error::TooLarge { what, requested: count, limit: u32::MAX.into() };
    Ok(u32::try_from(count).map_err(too_large)?.to_le_bytes())
}

/// Arrays, chunk by chunk.
struct Chunks {
    inputs: Vec<Reader>,
    /// Elements of each, those before the chunk's own with them.
    bytes: Vec<Vec<u8>>,
    /// Index of the first of them.
    first: u64,
}

impl Chunks {
    /// Reads the chunk that begins at `at`, behind the element before it where `lead`.
    fn next(&mut self, (at, elements): (u64, u64), lead: bool, progress: &Progress) -> Result {
        self.first = if lead { at - 1 } else { at };
        for (from, bytes) in self.inputs.iter_mut().zip(&mut self.bytes) {
            let size = from.head().dtype.size_bytes();
            let before = if lead { bytes[bytes.len() - size as usize..].to_vec() } else { Vec::new() };
            *bytes = Vec::new();
            *bytes = from.next_behind(&before, elements * size, progress)?;
        }
        Ok(())
    }

    /// Uploads elements `start..end` of the arrays.
    fn upload(&self, device: &Device, start: u64, end: u64) -> isowarp::Result<Vec<DynBuffer<Device>>> {
        let of = |(from, bytes): (&Reader, &Vec<u8>)| {
            let dtype = from.head().dtype;
            let at = |k: u64| ((k - self.first) * dtype.size_bytes()) as usize;
            DynBuffer::upload(device, dtype, &bytes[at(start)..at(end)])
        };
        self.inputs.iter().zip(&self.bytes).map(of).collect()
    }
}

/// Selects from the elements of arrays. Returns the bytes of the results, and how many elements are in the first parts.
pub(super) fn select(job: &mut Job<'_>, plan: &Plan, inputs: Vec<Reader>, outputs: &Outputs) -> Result<(u64, Vec<u64>)> {
    let head = inputs.first().ok_or_else(|| Failure::defect("a selection without an input"))?.head();
    let (n, boolean) = (head.len(), head.boolean);
    if matches!(plan.call, Call::Select { indices: true, .. }) && n > 1 << 32 {
        return Err(Error::TooLarge { what: "elements with indices", requested: n, limit: 1 << 32 }.into());
    }
    let each: u64 = inputs.iter().map(|r| r.head().dtype.size_bytes()).sum();
    job.progress.expect(n * each);
    let (device, runs) = (job.device, finds_runs(&plan.call));
    let mut results = Results::new(job, plan, boolean, outputs)?;
    let mut chunks = Chunks { bytes: vec![Vec::new(); inputs.len()], inputs, first: 0 };
    let mut at = 0;
    while at < n {
        let taken = job.chunk.min(n - at);
        chunks.next((at, taken), runs && at > 0, &job.progress)?;
        let mut waiting = vec![(at, at + taken)];
        while let Some((start, end)) = waiting.pop() {
            let goes_on = runs && start > 0;
            let first = start - u64::from(goes_on);
            let run = |x: Vec<DynBuffer<Device>>| plan.call.run_from(device, &x.iter().collect::<Vec<_>>(), first)?.trimmed();
            let bytes = |x: DynBuffer<Device>| Ok((x.dtype(), x.read_blocking()?));
            let read = |found: Vec<DynBuffer<Device>>| found.into_iter().map(bytes).collect::<isowarp::Result<Vec<_>>>();
            match chunks.upload(device, first, end).and_then(|x| job.time(|| run(x))).and_then(read) {
                Ok(found) => {
                    job.took(end - start, each);
                    results.put(job, plan, found, goes_on)?;
                }
                Err(e) => {
                    job.halve((end - start, 1), e)?;
                    let middle = start.midpoint(end);
                    waiting.extend([(middle, end), (start, middle)]);
                }
            }
        }
        at += taken;
    }
    // Closed before their places are taken, which may be their own.
    drop(chunks);
    let counts = results.counts.clone();
    Ok((results.finish(job, plan)?, counts))
}
