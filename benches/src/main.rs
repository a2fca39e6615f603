//! `isowarp-bench`: measures the patterns on every GPU backend of this machine, without Rust or criterion, and renders results.

use clap::{Args, Parser, Subcommand};
use isowarp::backend::Backend as _;
use isowarp::{Device, Selector};
use isowarp_benches::first::{self, Host};
use isowarp_benches::results::{Opened, open};
use isowarp_benches::{Measured, Results, Settings, Work, criterion, measure, parse_size, render, works};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

/// Measures isowarp's patterns.
#[derive(Parser)]
#[command(name = "isowarp-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure, print a table and write the results
    Run(RunArgs),
    /// Measure first calls: each pattern in a process of its own, from host memory, print a table and write the results. Drivers keep on the
    /// disk what they compiled: with CUDA_CACHE_DISABLE=1 __GL_SHADER_DISK_CACHE=0 NVIDIA's do not
    First(FirstArgs),
    /// One first call, as JSON: what `first` runs in a process of its own
    #[command(hide = true)]
    FirstCall { backend: Selector, case: usize, n: u64 },
    /// Render results as a Markdown table and a drawing
    Render {
        /// Files that `run` and `first` wrote
        #[arg(required_unless_present = "criterion")]
        results: Vec<PathBuf>,
        /// The folder of what `cargo bench` measured, such as target/criterion
        #[arg(long, value_name = "FOLDER")]
        criterion: Option<PathBuf>,
        /// Where to write the table
        #[arg(long)]
        markdown: Option<PathBuf>,
        /// Where to write the drawing
        #[arg(long)]
        svg: Option<PathBuf>,
    },
}

#[derive(Args)]
struct RunArgs {
    /// Only this backend (cuda, wgpu or cpu); may be given several times. Default: CUDA and wgpu, as far as they are here
    #[arg(long = "backend", value_name = "NAME")]
    backends: Vec<Selector>,
    /// Only patterns whose name starts so; may be given several times. Default: all but the ladders (reduce_variants, scan_variants, ...)
    #[arg(long = "pattern", value_name = "NAME")]
    patterns: Vec<String>,
    /// Elements, as a number or a power; may be given several times
    #[arg(long = "size", value_name = "2^K", value_parser = parse_size, default_values = ["2^16", "2^20", "2^24", "2^28"])]
    sizes: Vec<u64>,
    /// Side of the square images; may be given several times
    #[arg(long = "side", value_name = "PIXELS", default_values = ["1024", "8192"])]
    sides: Vec<u64>,
    /// Measurements per figure
    #[arg(long, default_value_t = 15)]
    samples: usize,
    /// Seed of the inputs; default: the time
    #[arg(long)]
    seed: Option<u32>,
    /// Where to write the results
    #[arg(long, default_value = "isowarp-bench.json")]
    json: PathBuf,
}

#[derive(Args)]
struct FirstArgs {
    /// Only this backend (cuda, wgpu or cpu); may be given several times. Default: CUDA and wgpu, as far as they are here
    #[arg(long = "backend", value_name = "NAME")]
    backends: Vec<Selector>,
    /// Only patterns whose name starts so; may be given several times
    #[arg(long = "pattern", value_name = "NAME")]
    patterns: Vec<String>,
    /// Elements, as a number or a power; may be given several times
    #[arg(long = "size", value_name = "2^K", value_parser = parse_size, default_values = ["2^16", "2^24"])]
    sizes: Vec<u64>,
    /// Processes per figure, of which the median is shown
    #[arg(long, default_value_t = 3)]
    samples: usize,
    /// Where to write the results
    #[arg(long, default_value = "isowarp-first.json")]
    json: PathBuf,
}

fn main() -> ExitCode {
    // `RUST_LOG=trace` shows where a first call's time goes.
    let start = Instant::now();
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("off"))
        .format(move |out, record| writeln!(out, "{:>10} us {} {}", start.elapsed().as_micros(), record.target(), record.args()))
        .init();
    let done = match Cli::parse().command {
        Command::Run(args) => run(&args),
        Command::First(args) => first_calls(&args).map(|()| true),
        Command::FirstCall { backend, case, n } => first_call(backend, case, n).map(|()| true),
        Command::Render { results, criterion, markdown, svg } => render_files(&results, criterion.as_deref(), markdown, svg).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // Nobody reads any more.
        Err(e) if e.downcast_ref().is_some_and(|e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe) => ExitCode::SUCCESS,
        Err(e) => {
            // Where that cannot be said, the exit status alone says it.
            let _ = writeln!(io::stderr(), "error: {e}");
            ExitCode::from(2)
        }
    }
}

/// Says something on standard output, and ends the line.
fn say(text: impl std::fmt::Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

fn run(args: &RunArgs) -> Result<bool, Failure> {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    let seed = args.seed.unwrap_or(clock.subsec_nanos() ^ clock.as_secs() as u32);
    let settings = Settings { samples: args.samples.max(1), seed, ..Settings::default() };
    let mut results = Results { version: env!("CARGO_PKG_VERSION").to_owned(), seed, ..Results::default() };
    let mut digests = Vec::new();
    for Opened { device, machine } in devices(&args.backends)? {
        say(render::machine(&machine))?;
        results.machines.push(machine);
        say(render::HEADER)?;
        for work in works() {
            let wanted = if args.patterns.is_empty() { !work.is_rung() } else { args.patterns.iter().any(|p| work.is_meant_by(p)) };
            if wanted {
                on_device(args, &device, &work, &settings, &mut results, &mut digests)?;
            }
        }
    }
    compare(&mut results, &digests)?;
    results.relate_to_copy();
    say(render::markdown(std::slice::from_ref(&results)))?;
    std::fs::write(&args.json, serde_json::to_string_pretty(&results)? + "\n")?;
    say(format!("wrote {}; outputs {}", args.json.display(), if results.all_equal() { "equal" } else { "DIFFERENT" }))?;
    Ok(results.all_equal())
}

/// Every pattern in processes of its own, one at a time.
fn first_calls(args: &FirstArgs) -> Result<(), Failure> {
    let mut results = Results { version: env!("CARGO_PKG_VERSION").to_owned(), seed: FIRST_SEED, ..Results::default() };
    // None stays open while others measure.
    results.machines = devices(&args.backends)?.into_iter().map(|opened| opened.machine).collect();
    let wanted = |name: &str| args.patterns.is_empty() || args.patterns.iter().any(|p| name.starts_with(p.as_str()));
    let backends: Vec<String> = results.machines.iter().map(|m| m.backend.clone()).collect();
    let program = std::env::current_exe()?;
    for n in &args.sizes {
        for (place, case) in first::cases().iter().enumerate().filter(|(_, c)| wanted(c.name)) {
            for backend in &backends {
                for _ in 0..args.samples.max(1) {
                    let mut alone = std::process::Command::new(&program);
                    let run = alone.args(["first-call", backend, &place.to_string(), &n.to_string()]).stderr(Stdio::inherit()).output()?;
                    if run.status.success() {
                        results.first_calls.push(serde_json::from_slice(&run.stdout)?);
                    } else {
                        // As in a run: what one case lacks is no reason to lose the others.
                        say(format!("{} {} n={n} on {backend}: {}", case.name, case.dtype, run.status))?;
                    }
                }
            }
        }
    }
    say(render::markdown(std::slice::from_ref(&results)))?;
    std::fs::write(&args.json, serde_json::to_string_pretty(&results)? + "\n")?;
    say(format!("wrote {}", args.json.display()))?;
    Ok(())
}

fn first_call(backend: Selector, case: usize, n: u64) -> Result<(), Failure> {
    let case = first::cases().into_iter().nth(case).ok_or("there is no such case")?;
    let call = first::first_call(backend, &case, &Host::new(n, FIRST_SEED))?;
    say(serde_json::to_string(&call)?)?;
    Ok(())
}

/// Seed of the inputs of first calls.
const FIRST_SEED: u32 = 0x1505_A9B7;

/// One device of each backend asked for, opened one after the other.
fn devices(backends: &[Selector]) -> Result<Vec<Opened>, Failure> {
    let asked = if backends.is_empty() { vec![Selector::Cuda, Selector::Wgpu] } else { backends.to_vec() };
    let mut devices = Vec::new();
    for selector in asked {
        match open(selector) {
            Ok(opened) => devices.push(opened),
            Err(e) if backends.is_empty() => say(format!("not measured: {e}"))?,
            Err(e) => return Err(e.into()),
        }
    }
    if devices.is_empty() {
        return Err("no GPU backend is available; `--backend cpu` measures the processor".into());
    }
    Ok(devices)
}

/// The digest of an output: (index of the figure, pattern, element type, elements, digest).
type Digest = (usize, &'static str, &'static str, u64, u32);

fn on_device(
    args: &RunArgs,
    device: &Device,
    work: &Work,
    settings: &Settings,
    results: &mut Results,
    digests: &mut Vec<Digest>,
) -> Result<(), Failure> {
    let sizes: Vec<u64> = if work.is_image() { args.sides.iter().map(|s| s * s).collect() } else { args.sizes.clone() };
    for (k, &n) in sizes.iter().enumerate() {
        match measure(device, work, n, k == 0, settings) {
            Ok((mut measured, digest)) => {
                if n <= 1 << 20 && device.caps().backend != "cpu" {
                    measured.checked.push(("cpu".to_owned(), on_cpu(work, n, settings)? == digest));
                }
                say(render::line(&measured))?;
                digests.push((results.measured.len(), work.name, work.dtype.name(), n, digest));
                results.measured.push(measured);
            }
            // Too little memory for a size is no reason to lose the others.
            Err(e) => say(format!("{} {} n={n}: {e}", work.name, work.dtype))?,
        }
    }
    Ok(())
}

fn on_cpu(work: &Work, n: u64, settings: &Settings) -> Result<u32, Failure> {
    let cpu = Device::open(Selector::Cpu)?;
    Ok(work.ready(&cpu, &isowarp_benches::works::Shape { n, copies: 1, seed: settings.seed })?.digest()?)
}

/// Compares outputs of the same input across backends.
fn compare(results: &mut Results, digests: &[Digest]) -> io::Result<()> {
    for &(at, name, dtype, n, digest) in digests {
        let own = results.measured[at].backend.clone();
        let others: Vec<(String, bool)> = digests
            .iter()
            .filter(|d| (d.1, d.2, d.3) == (name, dtype, n) && d.0 != at)
            .map(|d| (results.measured[d.0].backend.clone(), d.4 == digest))
            .filter(|(backend, _)| *backend != own)
            .collect();
        results.measured[at].checked.extend(others);
    }
    let different: Vec<&Measured> = results.measured.iter().filter(|m| m.checked.iter().any(|c| !c.1)).collect();
    for m in different {
        say(format!("DIFFERENT: {} {} n={} on {}: {:?}", m.name, m.dtype, m.n, m.backend, m.checked))?;
    }
    Ok(())
}

fn render_files(files: &[PathBuf], folder: Option<&Path>, markdown: Option<PathBuf>, svg: Option<PathBuf>) -> Result<(), Failure> {
    let mut results: Vec<Results> =
        files.iter().map(|f| Ok(serde_json::from_str(&std::fs::read_to_string(f)?)?)).collect::<Result<_, Failure>>()?;
    results.extend(folder.map(criterion::read).transpose()?);
    let table = render::markdown(&results);
    match markdown {
        Some(path) => std::fs::write(path, table)?,
        None => say(table)?,
    }
    if let Some(path) = svg {
        std::fs::write(path, render::svg(&results)?)?;
    }
    Ok(())
}
