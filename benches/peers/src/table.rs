//! Printed results of a run.

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
    /// Who was measured beside isowarp.
    peers: Vec<&'static str>,
    /// Whether the device has a clock.
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
    /// Of one call by the device's clock, the median; none where the device has no clock or the call waits for it.
    pub(crate) seconds: Option<f64>,
    /// Of one call by the host's clock, the median.
    pub(crate) host_seconds: f64,
    /// By the device's clock, else by the host's.
    pub(crate) gb_per_second: f64,
    /// Whether the result was the processor's.
    pub(crate) right: bool,
}

impl Report {
    pub(crate) fn new(dev: &Wgpu, peers: Vec<&'static str>, device_clock: bool) -> Self {
        let caps = dev.caps();
        let (device, driver, numerics) = (caps.device.clone(), caps.driver.clone(), caps.numerics.to_string());
        Self { device, driver, numerics, peers, device_clock, rows: Vec::new() }
    }

    /// A Markdown table, each row of a peer with how many times faster ours is, by either clock.
    pub(crate) fn text(&self) -> String {
        let clock = if self.device_clock { "timestamp queries and the host's clock" } else { "the host's clock" };
        let (device, driver, numerics, rows) = (&self.device, &self.driver, &self.numerics, table(&self.rows));
        format!("{device} ({driver}), numerics {numerics}, by {clock}, beside {}\n\n{rows}", self.peers.join(", "))
    }
}

const HEAD: &str = "\
| pattern | elements | library | device us | GB/s | isowarp is faster by, device | host us | isowarp is faster by, host | result |
|---|---|---|---|---|---|---|---|---|
";

fn table(rows: &[Row]) -> String {
    let mut out = HEAD.to_owned();
    for row in rows {
        let same = |r: &&Row| r.library == "isowarp" && r.pattern == row.pattern && r.elements == row.elements;
        let ours = rows.iter().find(same).filter(|_| row.library != "isowarp");
        let times = |quotient: Option<f64>| quotient.map_or_else(String::new, |q| format!("{q:.2}x"));
        let by_device = times(ours.and_then(|o| Some(row.seconds? / o.seconds?)));
        let by_host = times(ours.map(|o| row.host_seconds / o.host_seconds));
        let us = row.seconds.map_or_else(|| "-".to_owned(), |s| format!("{:.1}", s * 1e6));
        let result = if row.right { "right" } else { "WRONG" };
        let (Row { pattern, elements, library, gb_per_second: rate, .. }, host_us) = (row, row.host_seconds * 1e6);
        // Writing to a text cannot fail.
        let _ =
            writeln!(out, "| {pattern} | {elements} | {library} | {us} | {rate:.2} | {by_device} | {host_us:.1} | {by_host} | {result} |");
    }
    out
}
