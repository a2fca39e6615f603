//! Other libraries beside isowarp, on one device and queue in one run. Every result is compared with the processor's.

mod clock;
mod host;
mod lampshade;
mod massively;
mod ours;
mod table;

use clap::{Parser, ValueEnum};
use clock::Clock;
use host::Host;
use isowarp::Wgpu;
use std::process::ExitCode;
use table::Report;

type Failure = Box<dyn std::error::Error>;

/// Measures other libraries beside isowarp on the best wgpu adapter.
#[derive(Parser)]
struct Cli {
    /// Elements, as numbers or powers
    #[arg(long, value_delimiter = ',', default_value = "2^16,2^20,2^24", value_parser = parse_size)]
    sizes: Vec<u32>,
    /// Libraries beside isowarp
    #[arg(long = "peer", value_delimiter = ',', default_values_t = Peer::ALL, value_enum)]
    peers: Vec<Peer>,
    /// Batches of which the median is taken
    #[arg(long, default_value_t = 15)]
    samples: usize,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Libraries that are measured beside isowarp.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Peer {
    Lampshade,
    Massively,
}

impl Peer {
    const ALL: [Self; 2] = [Self::Lampshade, Self::Massively];

    fn version(self) -> &'static str {
        match self {
            Self::Lampshade => "lampshade 0.13",
            Self::Massively => "massively 0.97 (CubeCL 0.11.0-pre.3, WGSL)",
        }
    }
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
    let samples = cli.samples.max(1);
    let asked = |peer: &Peer| cli.peers.contains(peer);
    let massively = Some(Peer::Massively).filter(asked).map(|_| massively::executor(&dev)).transpose()?;
    let peers = Peer::ALL.into_iter().filter(asked).map(Peer::version).collect();
    let mut report = Report::new(&dev, peers, clock.on_device());
    for &n in &cli.sizes {
        let host = Host::new(n);
        report.rows.extend(ours::rows(&dev, clock.on_device(), &host, samples)?);
        if asked(&Peer::Lampshade) {
            report.rows.extend(lampshade::rows(&dev, &clock, &host, samples)?);
        }
        if let Some(exec) = &massively {
            report.rows.extend(massively::rows(exec, &dev, &clock, &host, samples)?);
        }
    }
    println!("{}", if cli.json { serde_json::to_string_pretty(&report)? } else { report.text() });
    if report.rows.iter().all(|r| r.right) { Ok(()) } else { Err("a result is not the processor's".into()) }
}
