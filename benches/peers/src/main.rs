//! Lampshade beside isowarp: a copy of ours, and each library's sum and inclusive scan of u32, on one device, by one clock.
//!
//! Lampshade takes an application's device and records into its encoder, so both run on the device that isowarp opened, and both are timed by
//! timestamp queries around a batch of calls that are enqueued together. Where the adapter has no timestamps, the host's clock is read around
//! the batch and a wait for it. Every result is compared with the processor's.

mod clock;
mod table;

use clap::Parser;
use clock::Clock;
use isowarp::prelude::*;
use isowarp::{Wgpu, backend::Backend as _};
use lampshade::{Reducer, Scanner, U32Reduction};
use std::process::ExitCode;
use table::{Report, Row};

type Failure = Box<dyn std::error::Error>;

/// Measures lampshade beside isowarp on the best wgpu adapter.
#[derive(Parser)]
struct Cli {
    /// Elements, as numbers or powers
    #[arg(long, value_delimiter = ',', default_value = "2^16,2^20,2^24", value_parser = parse_size)]
    sizes: Vec<u32>,
    /// Batches of which the median is taken
    #[arg(long, default_value_t = 15)]
    samples: usize,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

fn parse_size(text: &str) -> Result<u32, String> {
    let size = match text.trim().strip_prefix("2^") {
        Some(k) => k.parse().ok().and_then(|k: u32| 1u32.checked_shl(k)),
        None => text.trim().parse().ok(),
    };
    // Lampshade binds its input whole, and a sum of more than this many takes minutes on a software adapter.
    size.filter(|n| (1..=1 << 28).contains(n)).ok_or_else(|| format!("`{text}` is no size from 1 to 2^28"))
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<(), Failure> {
    let dev = Wgpu::new_blocking()?;
    let clock = Clock::new(&dev);
    let mut report = Report::new(&dev, clock.on_device());
    for &n in &cli.sizes {
        let case = Case::new(&dev, &clock, n, cli.samples.max(1))?;
        report.rows.extend([case.copy()?, case.our_sum()?, case.their_sum()?, case.our_scan()?, case.their_scan()?]);
    }
    println!("{}", if cli.json { serde_json::to_string_pretty(&report)? } else { report.text() });
    if report.rows.iter().all(|r| r.right) { Ok(()) } else { Err("a result is not the processor's".into()) }
}

/// One size: the same input for everybody.
struct Case<'a> {
    dev: &'a Wgpu,
    clock: &'a Clock,
    n: u32,
    samples: usize,
    /// Calls in a batch: enough to see past the clock's resolution, few enough for a software adapter.
    calls: u32,
    host: Vec<u32>,
    input: Buffer<Wgpu, u32>,
    output: Buffer<Wgpu, u32>,
}

impl<'a> Case<'a> {
    fn new(dev: &'a Wgpu, clock: &'a Clock, n: u32, samples: usize) -> Result<Self, Failure> {
        let host: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect();
        let (input, output) = (dev.upload(&host)?, dev.buffer(n.into())?);
        Ok(Self { dev, clock, n, samples, calls: ((1 << 24) / n).clamp(1, 16), host, input, output })
    }

    fn sum(&self) -> u32 {
        self.host.iter().fold(0, |sum, v| sum.wrapping_add(*v))
    }

    fn prefixes(&self) -> Vec<u32> {
        let add = |sum: &mut u32, v: &u32| {
            *sum = sum.wrapping_add(*v);
            Some(*sum)
        };
        self.host.iter().scan(0, add).collect()
    }

    fn row(&self, library: &'static str, pattern: &'static str, bytes: u64, seconds: f64, right: bool) -> Row {
        let gb_per_second = bytes as f64 / seconds / 1e9;
        Row { library, pattern, elements: self.n, bytes, seconds, gb_per_second, right }
    }

    /// The median time of one of our calls.
    fn ours(&self, mut call: impl FnMut() -> isowarp::Result<()>) -> Result<f64, Failure> {
        let mut batch = || (0..self.calls).try_for_each(|_| call());
        batch()?;
        self.dev.synchronize()?;
        let times: Vec<f64> = (0..self.samples).map(|_| self.clock.ours(self.dev, &mut batch)).collect::<Result<_, Failure>>()?;
        Ok(clock::median(times) / f64::from(self.calls))
    }

    /// The median time of one of lampshade's calls, recorded into our encoder.
    fn theirs(&self, mut record: impl FnMut(&mut wgpu::CommandEncoder) -> Result<(), lampshade::Error>) -> Result<f64, Failure> {
        let mut batch = |encoder: &mut wgpu::CommandEncoder| (0..self.calls).try_for_each(|_| record(encoder));
        self.clock.theirs(self.dev, &mut batch)?;
        let times: Vec<f64> = (0..self.samples).map(|_| self.clock.theirs(self.dev, &mut batch)).collect::<Result<_, Failure>>()?;
        Ok(clock::median(times) / f64::from(self.calls))
    }

    fn copy(&self) -> Result<Row, Failure> {
        let seconds = self.ours(|| self.dev.copy_into(&self.input, &self.output))?;
        let right = self.output.read_blocking()? == self.host;
        Ok(self.row("isowarp", "copy", 8 * u64::from(self.n), seconds, right))
    }

    fn our_sum(&self) -> Result<Row, Failure> {
        let one = self.dev.buffer(1)?;
        let seconds = self.ours(|| self.dev.reduce_into(&self.input, Sum, &one))?;
        Ok(self.row("isowarp", "sum", 4 * u64::from(self.n), seconds, one.read_blocking()? == [self.sum()]))
    }

    fn their_sum(&self) -> Result<Row, Failure> {
        let one: Buffer<Wgpu, u32> = self.dev.buffer(1)?;
        let mut reducer = Reducer::new(self.dev.device(), self.dev.queue());
        let (from, to) = (self.input.raw().as_wgpu(), one.raw().as_wgpu());
        let seconds = self.theirs(|encoder| reducer.record_reduce(encoder, from, to, self.n, U32Reduction::Sum))?;
        Ok(self.row("lampshade", "sum", 4 * u64::from(self.n), seconds, one.read_blocking()? == [self.sum()]))
    }

    fn our_scan(&self) -> Result<Row, Failure> {
        let seconds = self.ours(|| self.dev.scan_inclusive_into(&self.input, Sum, &self.output))?;
        let right = self.output.read_blocking()? == self.prefixes();
        Ok(self.row("isowarp", "inclusive scan", 8 * u64::from(self.n), seconds, right))
    }

    fn their_scan(&self) -> Result<Row, Failure> {
        self.dev.fill(&self.output, 0)?;
        // With subgroups where lampshade trusts the adapter's: its faster form.
        let mut scanner = Scanner::new_for_adapter(self.dev.device(), self.dev.queue(), &self.dev.device().adapter_info());
        let (from, to) = (self.input.raw().as_wgpu(), self.output.raw().as_wgpu());
        let seconds = self.theirs(|encoder| scanner.record_scan(encoder, from, to, self.n))?;
        let right = self.output.read_blocking()? == self.prefixes();
        Ok(self.row("lampshade", "inclusive scan", 8 * u64::from(self.n), seconds, right))
    }
}
