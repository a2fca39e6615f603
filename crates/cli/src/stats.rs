//! Device time, and what it means beside the rate of a copy.

use crate::failure::Result;
use crate::progress::Progress;
use crate::screen::{say, say_beside};
use crate::table;
use isowarp::backend::Backend as _;
use isowarp::buffer::Memory as _;
use isowarp::patterns::Map as _;
use isowarp::{Device, Error};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Time that a measurement may take.
const BUDGET: Duration = Duration::from_millis(500);

/// A measurement.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Time {
    /// Median, in seconds.
    pub(crate) seconds: f64,
    /// Whether the device's own clock was read; else the host's, around work and wait.
    pub(crate) on_device: bool,
    /// Runs that the median is of.
    pub(crate) runs: usize,
}

/// Measures the time that `work` takes the device: two runs to warm up, then the median of as many as fit the budget (at least 3, at most 101).
pub(crate) fn measure(device: &Device, budget: Duration, work: &mut dyn FnMut() -> isowarp::Result<()>) -> isowarp::Result<Time> {
    work()?;
    device.synchronize()?;
    let start = Instant::now();
    work()?;
    device.synchronize()?;
    // A slow case is not run three times over the budget.
    let least = if start.elapsed() > budget { 1 } else { 3 };
    let mut times = Vec::new();
    let mut on_device = true;
    let start = Instant::now();
    while times.len() < least || (times.len() < 101 && start.elapsed() < budget) {
        let host = Instant::now();
        let taken = device.time(work)?;
        on_device &= taken.is_some();
        times.push(taken.unwrap_or_else(|| host.elapsed().as_secs_f64()));
    }
    Ok(Time { seconds: median(&mut times), on_device, runs: times.len() })
}

/// The middle of some times, or 0 of none.
pub(crate) fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

/// Bytes a second of a copy that moves `traffic` bytes (half of them read, half written).
pub(crate) fn copy_rate(device: &Device, traffic: u64, budget: Duration) -> isowarp::Result<f64> {
    let words = (traffic / 8).max(1);
    let (a, b) = (device.buffer::<u32>(words)?, device.buffer::<u32>(words)?);
    device.fill(&a, 1)?;
    let time = measure(device, budget, &mut || device.copy_into(&a, &b))?;
    Ok(rate(words * 8, time.seconds))
}

/// Bytes a second.
pub(crate) fn rate(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 / seconds } else { 0.0 }
}

/// Statistics of an array that was taken in chunks.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Chunked {
    pub(crate) chunks: u64,
    /// Of the largest one.
    pub(crate) chunk_bytes: u64,
    /// Passes over all elements that merged chunks.
    pub(crate) merges: u32,
    /// The most memory that the command took, where the system tells: with what it takes by itself, and its device's driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peak_bytes: Option<u64>,
    /// With reading and writing, on the host's clock.
    pub(crate) total_seconds: f64,
}

/// The most memory that this process had so far, where the system tells.
pub(crate) fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib: u64 = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Report that `--stats` prints.
#[derive(Debug, Serialize)]
struct Stats {
    backend: &'static str,
    device: String,
    numerics: String,
    pattern: String,
    elements: u64,
    bytes: u64,
    device_seconds: f64,
    /// Whether the device's own clock was read.
    device_clock: bool,
    runs: usize,
    gb_per_second: f64,
    copy_gb_per_second: f64,
    share_of_copy: f64,
    /// Elements in the first parts of a partition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<u64>,
    #[serde(flatten)]
    chunked: Option<Chunked>,
}

/// Measures `work`, which moves `bytes` bytes over `elements` elements, and prints the result, with how many elements were in the first parts of a
/// partition; to standard error where standard output carries the data.
pub(crate) fn report(
    device: &Device,
    pattern: &str,
    (elements, bytes, parts): (u64, u64, Vec<u64>),
    to: (bool, bool),
    work: &mut dyn FnMut() -> isowarp::Result<()>,
) -> Result {
    let progress = Progress::new(format!("measuring {pattern}"), 0);
    let time = measure(device, BUDGET, work)?;
    drop(progress);
    print(device, pattern, (elements, bytes, parts), (to, bytes), time, None)
}

/// Prints what was measured while an array was taken in chunks: the device's time of all of them together.
pub(crate) fn report_chunks(
    device: &Device,
    pattern: &str,
    (elements, bytes, parts): (u64, u64, Vec<u64>),
    to: (bool, bool),
    time: Time,
    chunked: Chunked,
) -> Result {
    print(device, pattern, (elements, bytes, parts), (to, 2 * chunked.chunk_bytes), time, Some(chunked))
}

/// Measures a copy that moves `copied` bytes, and prints the result.
fn print(
    device: &Device,
    pattern: &str,
    (elements, bytes, parts): (u64, u64, Vec<u64>),
    ((json, to_stderr), copied): ((bool, bool), u64),
    time: Time,
    chunked: Option<Chunked>,
) -> Result {
    let progress = Progress::new("measuring a copy", 0);
    // A copy of the same size, so that both live in the same level of the memory; without room for it the share is unknown.
    let copy = match copy_rate(device, copied, BUDGET) {
        Err(Error::OutOfMemory { .. } | Error::TooLarge { .. }) => 0.0,
        other => other?,
    };
    drop(progress);
    let rate = rate(bytes, time.seconds);
    let caps = device.caps();
    let stats = Stats {
        backend: caps.backend,
        device: caps.device.clone(),
        numerics: format!("{:?}", device.numerics()).to_lowercase(),
        pattern: pattern.to_owned(),
        elements,
        bytes,
        device_seconds: time.seconds,
        device_clock: time.on_device,
        runs: time.runs,
        gb_per_second: rate / 1e9,
        copy_gb_per_second: copy / 1e9,
        share_of_copy: if copy > 0.0 { rate / copy } else { 0.0 },
        parts,
        chunked,
    };
    let text = if json { table::json(&stats)? } else { people(&stats, time) };
    if to_stderr { say_beside(text) } else { say(text) }
}

fn people(s: &Stats, time: Time) -> String {
    let clock = if s.device_clock { "device" } else { "host" };
    let share = if s.copy_gb_per_second > 0.0 {
        format!("{:.1} % of a copy's {:.2} GB/s", 100.0 * s.share_of_copy, s.copy_gb_per_second)
    } else {
        "no room to measure a copy".to_owned()
    };
    let times = match &s.chunked {
        None => format!("{clock} time, median of {} runs", s.runs),
        Some(c) => {
            let merges = if c.merges > 0 { format!(", merged in {}", passes(c.merges)) } else { String::new() };
            let (size, all) = (table::bytes(c.chunk_bytes), table::seconds(c.total_seconds));
            let peak = c.peak_bytes.map_or(String::new(), |peak| format!(", with at most {} of memory", table::bytes(peak)));
            format!("{clock} time of {} chunks of up to {size}{merges}; {all} with reading and writing{peak}", c.chunks)
        }
    };
    let parts = match s.parts[..] {
        [] => String::new(),
        [first] => format!("\n{first} elements in the first part"),
        _ => format!("\n{} elements in the first parts", s.parts.iter().map(u64::to_string).collect::<Vec<_>>().join(" and ")),
    };
    format!(
        "{} of {} elements on {} ({}), {}\n{} read and written in {} ({times}): {:.2} GB/s, {share}{parts}",
        s.pattern,
        s.elements,
        s.backend,
        s.device,
        s.numerics,
        table::bytes(s.bytes),
        table::seconds(time.seconds),
        s.gb_per_second,
    )
}

fn passes(n: u32) -> String {
    if n == 1 { "one pass".to_owned() } else { format!("{n} passes") }
}
