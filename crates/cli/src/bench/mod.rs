//! `isowarp bench`: device and end-to-end times of patterns on every device, beside the rate of a copy.

mod cases;
mod plot;

use crate::args::BenchArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::progress::Progress;
use crate::{device, stats, table};
use cases::{CASES, Case};
use isowarp::backend::Backend as _;
use isowarp::{Device, Error};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Time for one measurement.
const BUDGET: Duration = Duration::from_millis(200);

/// One pattern at one size on one device.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) pattern: &'static str,
    pub(crate) elements: u64,
    pub(crate) backend: &'static str,
    pub(crate) device: String,
    /// Bytes read and written on the device.
    pub(crate) bytes: u64,
    pub(crate) device_seconds: f64,
    /// Whether the device's own clock was read.
    pub(crate) device_clock: bool,
    pub(crate) runs: usize,
    pub(crate) gb_per_second: f64,
    /// The rate beside a copy's of as many bytes on the same device.
    pub(crate) ratio_to_copy: f64,
    /// With upload and download.
    pub(crate) end_to_end_seconds: f64,
}

/// Measures and prints.
pub(crate) fn bench(args: &BenchArgs) -> Result {
    let cases = chosen(&args.patterns)?;
    let sizes = args.sizes.iter().map(|s| size(s)).collect::<Result<Vec<u64>>>()?;
    let plot = args.plot.as_deref().map(Output::new).transpose()?;
    let (devices, refused) = device::all(args.backend.as_deref())?;
    let mut rows = Vec::new();
    let mut left_out = Vec::new();
    let progress = Progress::new("measuring", (devices.len() * cases.len() * sizes.len()) as u64);
    for case in &cases {
        for &n in &sizes {
            for d in &devices {
                progress.say(format!("{} of {n} on {}", case.name, d.caps().backend));
                match row(d, case, n) {
                    Ok(r) => rows.push(r),
                    // A device without room for this size leaves the others' rows.
                    Err(e @ (Error::OutOfMemory { .. } | Error::TooLarge { .. } | Error::Unsupported { .. })) => {
                        left_out.push(format!("{} of {n} on {}: {e}", case.name, device::label(d.caps())));
                    }
                    Err(e) => return Err(e.into()),
                }
                progress.advance(1);
            }
        }
    }
    drop(progress);
    if let Some(output) = plot {
        let svg = plot::svg(&rows)?;
        output.write(|w| w.write_all(svg.as_bytes()))?;
    }
    print(args, &rows, &left_out, refused)
}

fn print(args: &BenchArgs, rows: &[Row], left_out: &[String], refused: Vec<Error>) -> Result {
    if args.json {
        println!("{}", table::json(rows)?);
    } else {
        println!("{}", text(rows));
    }
    for line in left_out {
        eprintln!("left out: {}", line.lines().next().unwrap_or_default());
    }
    if args.backend.is_none() && !args.json {
        for e in refused {
            println!("{}", Failure::from(e).to_string().replacen("error: ", "not there: ", 1));
        }
    }
    Ok(())
}

fn text(rows: &[Row]) -> String {
    let header = ["pattern", "elements", "device", "device time", "GB/s", "of copy", "end to end"];
    let body: Vec<Vec<String>> = rows
        .iter()
        .map(|r| {
            let host = if r.device_clock { "" } else { " (host clock)" };
            vec![
                r.pattern.to_owned(),
                power(r.elements),
                format!("{} ({})", r.backend, r.device),
                format!("{}{host}", table::seconds(r.device_seconds)),
                format!("{:.2}", r.gb_per_second),
                format!("{:.2}", r.ratio_to_copy),
                table::seconds(r.end_to_end_seconds),
            ]
        })
        .collect();
    table::table(&header, &[1, 3, 4, 5, 6], &body)
}

/// A count, as a power of two where it is one.
pub(crate) fn power(n: u64) -> String {
    if n > 512 && n.is_power_of_two() { format!("2^{}", n.trailing_zeros()) } else { n.to_string() }
}

fn row(device: &Device, case: &Case, n: u64) -> isowarp::Result<Row> {
    let n = (case.elements)(n);
    let bytes = (case.bytes)(n);
    let mut work = (case.on_device)(device, n)?;
    let time = stats::measure(device, BUDGET, &mut *work)?;
    drop(work);
    let copy = stats::copy_rate(device, bytes, BUDGET)?;
    let rate = stats::rate(bytes, time.seconds);
    let caps = device.caps();
    Ok(Row {
        pattern: case.name,
        elements: n,
        backend: caps.backend,
        device: caps.device.clone(),
        bytes,
        device_seconds: time.seconds,
        device_clock: time.on_device,
        runs: time.runs,
        gb_per_second: rate / 1e9,
        ratio_to_copy: if copy > 0.0 { rate / copy } else { 0.0 },
        end_to_end_seconds: end_to_end(device, case, n)?,
    })
}

/// Host memory to host memory, median; the first run warms up.
fn end_to_end(device: &Device, case: &Case, n: u64) -> isowarp::Result<f64> {
    let mut work = (case.end_to_end)(n);
    work(device)?;
    let mut times = Vec::new();
    let start = Instant::now();
    while times.is_empty() || (times.len() < 51 && start.elapsed() < BUDGET) {
        let run = Instant::now();
        work(device)?;
        times.push(run.elapsed().as_secs_f64());
    }
    Ok(stats::median(&mut times))
}

fn chosen(names: &[String]) -> Result<Vec<&'static Case>> {
    if names.is_empty() {
        return Ok(CASES.iter().collect());
    }
    let find = |name: &String| {
        CASES.iter().find(|c| c.name == name).ok_or_else(|| {
            let known = CASES.iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
            Failure::usage(format!("unknown pattern `{name}`; known: {known}"))
        })
    };
    names.iter().map(find).collect()
}

/// A number of elements: `1000`, `2^20`, `64K`, `1M`, `1G` (the letters are powers of 1024).
fn size(text: &str) -> Result<u64> {
    let wrong = || Failure::usage(format!("`{text}` is no size; write 2^20, 1M or 1048576"));
    let t = text.trim();
    let number = |s: &str| s.trim().parse::<u64>().map_err(|_| wrong());
    let (base, factor) = match t.char_indices().last() {
        Some((at, 'k' | 'K')) => (&t[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&t[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&t[..at], 1 << 30),
        _ => (t, 1),
    };
    let value = match base.split_once('^') {
        Some((b, e)) => u32::try_from(number(e)?).ok().and_then(|e| number(b).ok()?.checked_pow(e)),
        None => Some(number(base)?),
    };
    // Enough to keep byte counts far from overflow; the device has the last word.
    value.and_then(|v| v.checked_mul(factor)).filter(|&v| v > 0 && v <= 1 << 48).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_letters_or_numbers() {
        for (text, n) in [("2^16", 65_536), ("1M", 1 << 20), ("64k", 65_536), (" 3 ", 3), ("10^3", 1000), ("1G", 1 << 30)] {
            assert_eq!(size(text).ok(), Some(n), "{text}");
        }
        for text in ["", "M", "2^", "^2", "2^99", "-1", "0", "1.5M", "9999999999999999999", "é"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert_eq!([power(1 << 20), power(1000), power(256)], ["2^20", "1000", "256"]);
    }
}
