//! `isowarp bench`: device and end-to-end times of patterns on every device, beside the rate of a copy.

mod cases;
mod plot;

use crate::args::BenchArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::progress::Progress;
use crate::screen::{say, say_beside};
use crate::{device, stats, table};
use cases::{Case, USUAL, cases};
use isowarp::backend::Backend as _;
use isowarp::{Device, Error};
use isowarp_benches::works::Shape;
use serde::Serialize;
use std::collections::BTreeMap;
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

/// The rates of copies on one device, by bytes: patterns share them.
type Copies = BTreeMap<u64, f64>;

/// Measures and prints.
pub(crate) fn bench(args: &BenchArgs) -> Result {
    let cases = chosen(&args.patterns)?;
    let sizes = args.sizes.iter().map(|s| size(s)).collect::<Result<Vec<u64>>>()?;
    let plot = args.plot.as_deref().map(Output::new).transpose()?;
    let progress = Progress::new("opening devices", 0);
    let (devices, refused) = device::all(args.backend.as_deref())?;
    let mut rows = Vec::new();
    let mut left_out = Vec::new();
    progress.expect((devices.len() * cases.len() * sizes.len()) as u64);
    let mut copies: Vec<Copies> = devices.iter().map(|_| Copies::new()).collect();
    for case in &cases {
        for &n in &sizes {
            let n = if case.work.is_square() { n.isqrt().pow(2) } else { n };
            for (d, copies) in devices.iter().zip(&mut copies) {
                progress.say(format!("{} of {n} on {}", case.name, d.caps().backend));
                match row(d, case, n, copies) {
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
    if rows.is_empty() {
        let why = left_out.first().map_or("there is no device", String::as_str);
        return Err(Failure::failed(
            format!("nothing was measured: {}", why.lines().next().unwrap_or_default()),
            "ask for smaller --sizes",
        ));
    }
    let drawn_here = plot.as_ref().is_some_and(Output::is_stdout);
    if let Some(output) = plot {
        let svg = plot::svg(&rows)?;
        output.write(|w| w.write_all(svg.as_bytes()))?;
    }
    print(args, (&rows, drawn_here), &left_out, refused)
}

/// Prints the table, beside a drawing on standard output.
fn print(args: &BenchArgs, (rows, drawn_here): (&[Row], bool), left_out: &[String], refused: Vec<Error>) -> Result {
    let say: fn(String) -> Result = if drawn_here { say_beside } else { say };
    say(if args.json { table::json(rows)? } else { text(rows) })?;
    for line in left_out {
        say_beside(format!("left out: {}", line.lines().next().unwrap_or_default()))?;
    }
    if args.backend.is_none() && !args.json {
        for e in refused {
            say(Failure::from(e).to_string().replacen("error: ", "not there: ", 1))?;
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

fn row(device: &Device, case: &Case, n: u64, copies: &mut Copies) -> isowarp::Result<Row> {
    let bytes = case.work.bytes * n;
    let ready = case.work.ready(device, &Shape { n, copies: 1, seed: 1 })?;
    let time = stats::measure(device, BUDGET, &mut || ready.enqueue(0))?;
    let end_to_end_seconds = end_to_end(|| ready.round_trip())?;
    drop(ready);
    let copy = match copies.get(&bytes) {
        Some(&rate) => rate,
        None => stats::copy_rate(device, bytes, BUDGET)?,
    };
    copies.insert(bytes, copy);
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
        end_to_end_seconds,
    })
}

/// Host memory to host memory, median; the first run warms up.
fn end_to_end(work: impl Fn() -> isowarp::Result<()>) -> isowarp::Result<f64> {
    work()?;
    let mut times = Vec::new();
    let start = Instant::now();
    while times.is_empty() || (times.len() < 51 && start.elapsed() < BUDGET) {
        let run = Instant::now();
        work()?;
        times.push(run.elapsed().as_secs_f64());
    }
    Ok(stats::median(&mut times))
}

/// The cases that were asked for, in the order of the table; `all` is every one.
fn chosen(names: &[String]) -> Result<Vec<Case>> {
    let all = cases();
    let known = |name: &str| name == "all" || all.iter().any(|c| c.name == name);
    if let Some(name) = names.iter().find(|n| !known(n)) {
        let names = all.iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(
            format!("unknown pattern `{name}`; known: {names}"),
            "name known ones, or `all`, or none for the usual ones",
        ));
    }
    let wanted = |c: &Case| names.iter().any(|n| n == c.name || n == "all") || (names.is_empty() && USUAL.contains(&c.name));
    Ok(all.into_iter().filter(wanted).collect())
}

/// A number of elements, or bytes: `1000`, `2^20`, `64K`, `1M`, `1G` (the letters are powers of 1024).
pub(crate) fn size(text: &str) -> Result<u64> {
    let wrong = || Failure::usage(format!("`{text}` is no size"), "write a number above 0 such as 2^20, 1M or 1048576");
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
    fn none_named_are_the_usual_ones_and_all_is_every_one() {
        let names = |asked: &[&str]| {
            let asked: Vec<String> = asked.iter().map(|&n| n.to_owned()).collect();
            chosen(&asked).map(|cases| cases.iter().map(|c| c.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["sort", "copy"]).ok(), Some(vec!["copy", "sort"]));
        assert_eq!(names(&["all", "copy"]).map(|n| n.len()).ok(), Some(cases().len()));
        assert!(names(&[]).is_ok_and(|n| n.contains(&"select") && !n.contains(&"tickets")));
        let unknown = names(&["copy", "sorts"]).expect_err("there is no such pattern").to_string();
        assert!(cases().iter().all(|c| unknown.contains(c.name)), "{unknown}");
    }

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
