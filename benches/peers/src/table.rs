//! What is printed.

use isowarp::Wgpu;
use isowarp::backend::Backend as _;
use serde::Serialize;
use std::fmt::Write as _;

/// Everything of a run.
#[derive(Serialize)]
pub(crate) struct Report {
    device: String,
    driver: String,
    numerics: String,
    lampshade: &'static str,
    massively: &'static str,
    /// Whether the device's own clock was read.
    device_clock: bool,
    /// Calls into buffers that are there, in a batch.
    pub(crate) by_the_device: Vec<Row>,
    /// Calls that allocate their results, each waited for, by the host's clock.
    pub(crate) end_to_end: Vec<Row>,
}

/// One figure.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) library: &'static str,
    pub(crate) pattern: &'static str,
    pub(crate) elements: u32,
    /// Elements read and written once, in bytes.
    pub(crate) bytes: u64,
    /// Of one call, the median.
    pub(crate) seconds: f64,
    pub(crate) gb_per_second: f64,
    /// Whether the result was the processor's.
    pub(crate) right: bool,
}

impl Report {
    pub(crate) fn new(dev: &Wgpu, device_clock: bool) -> Self {
        let caps = dev.caps();
        Self {
            device: caps.device.clone(),
            driver: caps.driver.clone(),
            numerics: caps.numerics.to_string(),
            lampshade: "0.13",
            massively: "0.97",
            device_clock,
            by_the_device: Vec::new(),
            end_to_end: Vec::new(),
        }
    }

    /// All figures.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.by_the_device.iter().chain(&self.end_to_end)
    }

    /// Markdown tables, each of the others' rows with how many times faster ours is.
    pub(crate) fn text(&self) -> String {
        let clock = if self.device_clock { "timestamp queries" } else { "the host's clock" };
        let mut out = format!("{} ({}), numerics {}\n", self.device, self.driver, self.numerics);
        for (title, rows) in [(format!("In batches, by {clock}"), &self.by_the_device), ("From end to end".to_owned(), &self.end_to_end)] {
            if !rows.is_empty() {
                // Writing to a text cannot fail.
                let _ = writeln!(out, "\n{title}:\n\n{}", table(rows));
            }
        }
        out
    }
}

fn table(rows: &[Row]) -> String {
    let mut out =
        String::from("| pattern | elements | library | us | GB/s | isowarp is faster by | result |\n|---|---|---|---|---|---|---|\n");
    for row in rows {
        let ours = rows.iter().find(|r| r.library == "isowarp" && r.pattern == row.pattern && r.elements == row.elements);
        let faster = ours.filter(|_| row.library != "isowarp").map_or_else(String::new, |o| format!("{:.2}x", row.seconds / o.seconds));
        let result = if row.right { "right" } else { "WRONG" };
        let (us, rate) = (row.seconds * 1e6, row.gb_per_second);
        // Writing to a text cannot fail.
        let _ = writeln!(out, "| {} | {} | {} | {us:.1} | {rate:.2} | {faster} | {result} |", row.pattern, row.elements, row.library);
    }
    out
}
