//! Arrays that the device or the host does not hold at once: sorts, histograms, scans and selections chunk by chunk.

mod histogram;
mod keys;
mod merge;
mod runs;
mod scan;
mod select;
mod sort;

use super::Outputs;
use super::options::RunArgs;
use super::plan::Plan;
use crate::failure::{Failure, Result};
use crate::npy::{Array, Reader};
use crate::output::Output;
use crate::progress::Progress;
use crate::stats::{self, Chunked};
use isowarp::backend::Backend as _;
use isowarp::caps::DeviceKind;
use isowarp::dynamic::{Call, Order, Over, Sorted};
use isowarp::{Device, Error, host};
use std::path::PathBuf;
use std::time::Instant;

/// Memory of devices and hosts that do not tell theirs.
const UNKNOWN: u64 = 4 << 30;
/// The share of the memory that is planned with, in quarters.
const QUARTERS: u64 = 3;
/// Chunks of an array at most: each takes a fraction of a millisecond whatever it holds, and every run of a merge has a block of memory.
const MAX_CHUNKS: u64 = 1 << 14;
/// Memory that allocations below the least of `give_back_at_once` take, of all threads, where a size of chunks is given.
const SMALL_THINGS: u64 = 4 << 20;
/// Memory of chunks that nothing is taken from for them.
const LEAST_WORK: u64 = 768 << 10;
/// Keys of one sort: its indices are `u32`.
const KEYS: u64 = u32::MAX as u64;

/// Whether chunks of the array give what the whole does.
fn possible(device: &Device, call: &Call) -> bool {
    match call {
        Call::Sort { over: Over::Axis(shape, axis), .. } if axis + 1 < shape.len() => false,
        Call::Sort { over: Over::Segments, .. } | Call::Scan { over: Over::Keys | Over::Segments, .. } => false,
        Call::Sort { order, .. } => keys::is_exact(order, device),
        Call::Histogram(of) => of.channels.is_none(),
        call => matches!(call, Call::Scan { .. }) || select::streams(call),
    }
}

/// Elements of a chunk, where the array is to be taken in chunks: because the memory for it was given, or because it is too large for this device.
pub(super) fn wanted(args: &RunArgs, device: &Device, plan: &Plan, inputs: &[Array]) -> Result<Option<u64>> {
    let Some(array) = inputs.first() else { return Ok(None) };
    if plan.variant.is_some() || !possible(device, &plan.call) {
        return match args.chunk_size {
            Some(_) if args.nan_last && array.dtype.ty().is_float() => Err(Failure::usage(
                "chunks are not merged with NaN last",
                "leave out --nan-last, which ascending orders have without it, or --chunk-size",
            )),
            Some(_) if matches!(plan.call, Call::Sort { over: Over::Axis(..), .. }) && args.op.is_none() => Err(Failure::usage(
                "lines along this axis lie in each other, and are not taken in chunks",
                "sort along the last axis, or leave --chunk-size out",
            )),
            Some(_) if args.op.is_some() => Err(Failure::usage(
                "chunks are merged by the definition of the arithmetic, from which this order of your own may differ on this device",
                "leave out --numerics fast, or --chunk-size, or compare integers",
            )),
            _ => Ok(None),
        };
    }
    let each = Each::of(device, plan, inputs);
    let most = match &args.chunk_size {
        Some(text) => {
            let bytes = crate::bench::size(text)?;
            let worked_in = worked_in(bytes);
            let fit = each.fit(device, worked_in, worked_in);
            each.enough(text, fit.max(scan::least(&plan.call)), array.len())?;
            fit
        }
        None if select::streams(&plan.call) => most(device, &each).min(each.fit(device, select::MEMORY, select::MEMORY)),
        None => most(device, &each),
    };
    let chunk = (array.len() > most).then_some(most.max(1));
    match chunk {
        Some(chunk) if !scan::fits(&plan.call, chunk) => match args.chunk_size {
            Some(_) => Err(Failure::usage(
                "the lines along this axis do not fit, and lie in each other",
                "raise --chunk-size, or scan along the last axis",
            )),
            None => Ok(None),
        },
        chunk => Ok(chunk),
    }
}

/// Memory that chunks may take, of a size of them. Small sizes are for who wants many chunks: no memory is that small.
fn worked_in(bytes: u64) -> u64 {
    bytes - bytes.saturating_sub(LEAST_WORK).min(SMALL_THINGS)
}

/// Fails where arrays in Fortran order, which are turned as a whole, do not fit a size of chunks with their copies.
pub(super) fn check_turned(size: &str, inputs: &[Reader]) -> Result<()> {
    let promised = crate::bench::size(size)?.max(SMALL_THINGS);
    let turned = inputs.iter().filter(|r| r.fortran_axes().is_some()).map(Reader::head);
    // The file's elements, those in another order, and both on the device.
    let needed = turned.map(|a| a.len().saturating_mul(4 * a.dtype.size_bytes())).fold(0, u64::saturating_add);
    if needed <= promised {
        return Ok(());
    }
    Err(Failure::usage(
        format!("an array in Fortran order is turned as a whole, which takes {needed} bytes, and not in chunks of {size}"),
        "give --chunk-size as much, leave it out, or save the array in C order, as np.ascontiguousarray gives it",
    ))
}

/// Has freed memory go back to the system from 64 KiB on, where chunks may take so much and no more: glibc raises its limit, of 128 KiB at first, to
/// the largest allocation that was freed, up to 32 MiB, cuts a heap where twice as much is free at its end, and has a heap for each thread. To be
/// called before a device is opened, since drivers' threads keep the heaps that they have, and what drivers compile raises the limits.
pub(super) fn give_back_at_once() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (what, value) in [(libc::M_MMAP_THRESHOLD, 64 << 10), (libc::M_TRIM_THRESHOLD, 64 << 10), (libc::M_ARENA_MAX, 1)] {
        // SAFETY: it sets a number of the allocator's, under its own lock.
        unsafe {
            libc::mallopt(what, value);
        }
    }
}

/// Bytes that an element takes at most while its chunk is worked on.
struct Each {
    host: u64,
    device: u64,
    /// In the largest buffer.
    buffer: u64,
    /// Elements that may be taken at once.
    limit: u64,
}

impl Each {
    /// Elements that are selected from.
    fn selected(device: &Device, call: &Call, inputs: &[Array]) -> Self {
        let sizes: Vec<u64> = inputs.iter().map(|a| a.dtype.size_bytes()).collect();
        let (read, stored) = (sizes.iter().sum::<u64>(), select::stored(call, &sizes));
        let beside = match device.caps() {
            // Each thread has what it found beside the whole, in blocks that have room for more. Elements of later parts wait until the first one is whole.
            caps if caps.backend == "cpu" => read + 2 * stored + 4 + if matches!(call, Call::Partition(..)) { stored } else { 0 },
            caps if matches!(caps.kind, DeviceKind::Cpu | DeviceKind::Integrated) => 2 * (read + stored) + 16,
            _ => 0,
        };
        let largest = sizes.iter().fold(4, |a, &b| a.max(b));
        Self { host: read + stored + 2 + beside, device: read + stored + 4, buffer: largest, limit: KEYS }
    }

    fn of(device: &Device, plan: &Plan, inputs: &[Array]) -> Self {
        if select::streams(&plan.call) {
            return Self::selected(device, &plan.call, inputs);
        }
        let size = inputs.first().map_or(1, |a| a.dtype.size_bytes());
        // Prefixes may be wider than elements.
        let stored = match (&plan.call, inputs.first()) {
            (Call::Scan { op, .. }, Some(x)) => op.result(x.dtype).size_bytes(),
            _ => size,
        };
        // Some devices sort narrow keys as words, and prefixes are combined as words.
        let word = size.max(stored).max(4);
        // Values that travel with the keys; narrow ones are fetched by indices.
        let values = match &plan.call {
            Call::Sort { .. } => inputs.get(1).map_or(0, |a| a.dtype.size_bytes()),
            // Samples of other dimensions.
            Call::Histogram(of) => inputs.iter().take(of.arrays).skip(1).map(|a| a.dtype.size_bytes()).sum(),
            _ => 0,
        };
        let (device_bytes, buffer, limit) = match plan.call {
            // Keys, sorted keys and those of the passes between; and the same of indices.
            Call::Sort { gives: Sorted::Keys, .. } => (2 * size + 2 * word, word, KEYS),
            Call::Sort { .. } => (2 * size + 2 * word + 12 + 4 * values, word.max(values), KEYS),
            // Elements, what each of them becomes, prefixes, and these as they are stored.
            Call::Scan { .. } => (size + stored + 2 * word, word, KEYS),
            // Samples, and weights of at most eight bytes, which may be converted.
            _ => (size + values + if inputs.len() > 1 { 16 } else { 0 }, size.max(values), u64::MAX),
        };
        let caps = device.caps();
        let beside = match (caps.kind, &plan.call) {
            // The processor's sorts take keys as numbers, their order and room to change it, and gather what is sorted.
            (DeviceKind::Cpu, Call::Histogram(_)) if caps.backend == "cpu" => device_bytes,
            (DeviceKind::Cpu, Call::Scan { .. }) if caps.backend == "cpu" => device_bytes + stored + word,
            (DeviceKind::Cpu, _) if caps.backend == "cpu" => device_bytes + size + 16 + word.max(values),
            // Data on the way to such a device and back are in the same memory, as is what its pool keeps for the next chunk.
            (DeviceKind::Cpu | DeviceKind::Integrated, _) => device_bytes + size + values + 16,
            _ => 0,
        };
        // As it was read, as it comes back, and what the allocator keeps between.
        Self { host: size + stored + 2 * values + 8 + beside, device: device_bytes, buffer, limit }
    }

    /// Refuses a size of chunks, as it was said, by which an array of so many elements is cut into too many.
    fn enough(&self, text: &str, chunk: u64, elements: u64) -> Result {
        let least = elements.div_ceil(MAX_CHUNKS);
        // One element is taken in any case.
        if chunk.max(1) >= least {
            return Ok(());
        }
        let message =
            format!("--chunk-size {} is too small for {elements} elements, which it cuts into more than {MAX_CHUNKS} chunks", text.trim());
        let worked_in = least * self.host.max(self.device);
        let size = if worked_in > LEAST_WORK { worked_in + SMALL_THINGS } else { worked_in };
        Err(Failure::usage(message, format!("raise it to {size} at least; more is faster")))
    }

    /// Elements that fit memory of the host and of the device.
    fn fit(&self, device: &Device, host: u64, memory: u64) -> u64 {
        [host / self.host, memory / self.device, device.caps().max_buffer_bytes / self.buffer, self.limit]
            .into_iter()
            .fold(u64::MAX, u64::min)
    }
}

/// Elements that may be taken at once.
fn most(device: &Device, each: &Each) -> u64 {
    let memory = match device.caps().memory_bytes {
        0 => UNKNOWN,
        memory => memory,
    };
    let share = |memory: u64| memory / 4 * QUARTERS;
    each.fit(device, share(host::available().unwrap_or(UNKNOWN)), share(memory))
}

/// Whether a smaller chunk may fit where this error came of.
fn too_large(e: &Error) -> bool {
    matches!(e, Error::OutOfMemory { .. } | Error::TooLarge { .. })
}

/// Whether the array may fit in chunks that did not fit at once.
pub(super) fn may_fit(device: &Device, plan: &Plan, chunk: u64, failure: &Failure) -> bool {
    plan.variant.is_none()
        && possible(device, &plan.call)
        && scan::fits(&plan.call, chunk)
        && matches!(failure, Failure::Library(e) if too_large(e))
}

/// State that every step of the work needs.
struct Job<'a> {
    device: &'a Device,
    progress: Progress,
    /// Where temporary files go.
    temp: PathBuf,
    /// Elements of a chunk; halved where they do not fit.
    chunk: u64,
    /// Seconds of the device, where they are asked for, and whether its own clock said so.
    seconds: Option<f64>,
    on_device: bool,
    chunks: u64,
    /// Bytes of the largest chunk.
    chunk_bytes: u64,
    merges: u32,
}

impl Job<'_> {
    /// Does work on the device and takes its time.
    fn time<T>(&mut self, work: impl FnOnce() -> isowarp::Result<T>) -> isowarp::Result<T> {
        let Some(seconds) = &mut self.seconds else { return work() };
        let (mut work, mut done, host) = (Some(work), None, Instant::now());
        let taken = self.device.time(&mut || {
            if let Some(work) = work.take() {
                done = Some(work()?);
            }
            Ok(())
        })?;
        self.on_device &= taken.is_some();
        *seconds += taken.unwrap_or_else(|| host.elapsed().as_secs_f64());
        done.ok_or(Error::InvalidArgument { what: "work", reason: "it was not done".to_owned() })
    }

    /// Counts a chunk of so many elements of so many bytes.
    fn took(&mut self, elements: u64, bytes: u64) {
        self.chunks += 1;
        self.chunk_bytes = self.chunk_bytes.max(elements * bytes);
    }

    /// Halves chunks after one of `rows` rows of `n` elements did not fit, or returns the error where there is nothing to halve.
    fn halve(&mut self, (rows, n): (u64, u64), e: Error) -> Result {
        if !too_large(&e) || rows < 2 {
            return Err(e.into());
        }
        self.chunk = self.chunk.min(rows.div_ceil(2) * n);
        Ok(())
    }
}

/// The folder of temporary files, looked at before any work is done.
pub(super) fn folder(args: &RunArgs, output: &Output) -> Result<PathBuf> {
    let Some(folder) = &args.temp_dir else { return Ok(output.folder()) };
    tempfile::tempfile_in(folder).map_err(|e| runs::unwritable(folder, &e))?;
    Ok(folder.clone())
}

/// Computes and writes the result, chunk by chunk.
pub(super) fn run(args: &RunArgs, device: &Device, plan: &Plan, inputs: Vec<Reader>, chunk: u64, outputs: &Outputs) -> Result {
    let start = Instant::now();
    let temp = folder(args, &outputs.result)?;
    let elements = inputs.first().map_or(0, |r| r.head().len());
    let read: u64 = inputs.iter().map(|r| r.head().len() * r.head().dtype.size_bytes()).sum();
    let mut job = Job {
        device,
        progress: Progress::new(format!("{} in chunks on {}", args.verb.name, crate::device::label(device.caps())), 0),
        temp,
        chunk,
        seconds: args.stats.then_some(0.0),
        on_device: true,
        chunks: 0,
        chunk_bytes: 0,
        merges: 0,
    };
    let mut parts = Vec::new();
    let written = match &plan.call {
        call if select::streams(call) => {
            let (written, counts) = select::select(&mut job, plan, inputs, outputs)?;
            parts = counts;
            written
        }
        Call::Sort { order, over, gives } => {
            let n = if let Over::Axis(shape, _) = over { shape.last().copied().unwrap_or(1) } else { elements };
            sort::sort(&mut job, plan, inputs, (n, order, *gives == Sorted::Indices), outputs)?
        }
        Call::Scan { op, over, exclusive } => scan::scan(&mut job, plan, inputs, (op, over, *exclusive), &outputs.result)?,
        _ => histogram::histogram(&mut job, plan, inputs, &outputs.result)?,
    };
    let Job { progress, seconds, on_device, chunks, chunk_bytes, merges, .. } = job;
    drop(progress);
    let Some(seconds) = seconds else { return Ok(()) };
    let peak_bytes = stats::peak_bytes();
    let chunked = Chunked { chunks, chunk_bytes, merges, peak_bytes, total_seconds: start.elapsed().as_secs_f64() };
    let time = stats::Time { seconds, on_device, runs: 1 };
    stats::report_chunks(device, args.verb.name, (elements, read + written, parts), (args.json, outputs.result.is_stdout()), time, chunked)
}

/// Sort of a row: its elements, their order, and whether their indices are wanted.
type Rows<'a> = (u64, &'a Order, bool);

#[cfg(test)]
mod tests {
    use super::*;
    use isowarp::dynamic::Histogram;
    use isowarp::element::{DType, Ty};
    use isowarp::patterns::SortOrder;

    fn plan(call: Call) -> Plan {
        Plan::new(call, vec![1])
    }

    #[test]
    fn arrays_are_taken_in_chunks_where_memory_does_not_hold_them() {
        let device = Device::open("cpu".parse().expect("a backend")).expect("the CPU");
        let of = |n: u64| [Array { shape: vec![n], dtype: DType::F32, boolean: false, bytes: Vec::new() }];
        let before = || isowarp::expression::parse("x < y", &[Ty::F32, Ty::F32], None, Some(Ty::Bool)).expect("an order");
        let sort = |order, gives| Call::Sort { order, over: Over::Whole, gives };
        let orders = || [SortOrder::Ascending.into(), Order::Own(before())];
        let sorts =
            [Sorted::Keys, Sorted::Indices, Sorted::KeysAndValues].into_iter().flat_map(|gives| orders().map(|order| sort(order, gives)));
        for call in sorts.chain([Call::Histogram(Histogram::default())]) {
            assert!(possible(&device, &call));
            let each = Each::of(&device, &plan(call), &of(1 << 50));
            // Of more than any memory holds a chunk is what fits, with its copies.
            let chunk = most(&device, &each);
            assert!(chunk >= 1000 && each.fit(&device, 1 << 20, 1 << 20) * each.host <= 1 << 20);
            assert!(chunk < 1 << 40 && 4 * chunk < device.caps().memory_bytes.max(UNKNOWN), "{chunk}");
        }
        let plan = plan(sort(SortOrder::Ascending.into(), Sorted::Keys));
        assert!(Each::of(&device, &plan, &of(1 << 40)).fit(&device, u64::MAX, u64::MAX) <= KEYS, "indices of a sort are u32");
        assert!(too_large(&Error::OutOfMemory { requested: 1, available: None }) && !too_large(&Error::Empty { pattern: "sort" }));
    }

    #[test]
    fn the_least_size_of_chunks_that_a_refusal_names_is_taken_and_a_byte_less_is_not() {
        let device = Device::open("cpu".parse().expect("a backend")).expect("the CPU");
        let sort = plan(Call::Sort { order: SortOrder::Ascending.into(), over: Over::Whole, gives: Sorted::Keys });
        for elements in [16_385, 1 << 30] {
            let each = Each::of(&device, &sort, &[Array { shape: vec![elements], dtype: DType::F32, boolean: false, bytes: Vec::new() }]);
            let of = |bytes: u64| each.enough("1", each.fit(&device, worked_in(bytes), worked_in(bytes)), elements);
            let Err(refused) = of(1) else { panic!("a byte is not enough for {elements}") };
            let text = refused.to_string();
            let least =
                text.split_once("raise it to ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<u64>().ok()).expect("a number");
            assert!(text.contains("--chunk-size 1 is too small") && of(least).is_ok() && of(least - 1).is_err(), "{text}");
        }
        let each = Each::of(&device, &sort, &[Array { shape: vec![1], dtype: DType::F32, boolean: false, bytes: Vec::new() }]);
        assert!(each.enough("1", 0, MAX_CHUNKS).is_ok(), "one element to a chunk");
    }

    #[test]
    fn chunks_that_do_not_fit_are_halved_down_to_one_row() {
        let device = Device::open("cpu".parse().expect("a backend")).expect("the CPU");
        let mut job = Job {
            device: &device,
            progress: Progress::new("", 0),
            temp: PathBuf::new(),
            chunk: 1000,
            seconds: None,
            on_device: true,
            chunks: 0,
            chunk_bytes: 0,
            merges: 0,
        };
        let full = || Error::OutOfMemory { requested: 1, available: None };
        assert!(job.halve((9, 100), full()).is_ok());
        assert_eq!(job.chunk, 500);
        assert!(job.halve((900, 1), full()).is_ok());
        assert_eq!(job.chunk, 450);
        assert!(job.halve((1, 450), full()).is_err() && job.halve((9, 1), Error::DeviceLost { reason: String::new() }).is_err());
    }
}
