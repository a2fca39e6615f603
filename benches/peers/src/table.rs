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
    /// Whether the device's own clock was read.
    device_clock: bool,
    pub(crate) rows: Vec<Row>,
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
            device_clock,
            rows: Vec::new(),
        }
    }

    /// A Markdown table, each of lampshade's rows with how many times faster ours is.
    pub(crate) fn text(&self) -> String {
        let clock = if self.device_clock { "timestamp queries" } else { "the host's clock" };
        let (device, driver, numerics, rows) = (&self.device, &self.driver, &self.numerics, table(&self.rows));
        format!("{device} ({driver}), numerics {numerics}, by {clock}\n\n{rows}")
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
