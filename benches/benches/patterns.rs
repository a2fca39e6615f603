//! Criterion groups of every pattern, `pattern/variant/dtype/size`, on every backend of this machine: the wall time, and the device's own. Ends in
//! one table with the backends side by side, which is written as Markdown, HTML and SVG too.
//!
//! `cargo bench -- reduce` measures what has that in its name. The textbook variants are measured where they are asked for: `cargo bench --
//! reduce_variants`. ISOWARP_BENCH_SIZES and ISOWARP_BENCH_SIDES ask for other sizes of arrays and images. Of calls of 50 ms and more three are measured. On a
//! software adapter what takes longer than half a second a call is left out, and named at the end.

use criterion::{BenchmarkId, Criterion, Throughput};
use isowarp::backend::Backend as _;
use isowarp::caps::DeviceKind;
use isowarp::{Device, Selector};
use isowarp_benches::results::{Opened, open};
use isowarp_benches::works::{Ready, Shape, Work, copies, works};
use isowarp_benches::{criterion as measured, page, parse_sizes, render};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Elements of arrays, and sides of square images, where nothing else is asked for.
const MEASURED: (&str, &str) = ("2^20", "1024");
/// The same where each function runs once, to see that it does.
const TESTED: (&str, &str) = ("2^10", "32");

/// The longest call on a software adapter.
const LONGEST: Duration = Duration::from_millis(500);
/// Calls from here on are long: a dozen of each, by each clock, would take most of the time of all.
const LONG: Duration = Duration::from_millis(50);
/// Long calls that are measured. Criterion takes ten samples at least: the others are these again.
const LONG_CALLS: usize = 3;

/// Measures calls, but of [`LONG`] ones no more than [`LONG_CALLS`] after the one that warms up.
fn limited(measure: impl Fn(u64) -> Duration) -> impl Fn(u64) -> Duration {
    let (long, turn) = (RefCell::new(Vec::new()), Cell::new(0));
    move |calls| {
        if calls == 1 && long.borrow().len() > LONG_CALLS {
            turn.set(turn.get() % LONG_CALLS + 1);
            return long.borrow()[turn.get()];
        }
        let taken = measure(calls);
        if calls == 1 && taken > LONG {
            long.borrow_mut().push(taken);
        }
        taken
    }
}

/// Results by criterion's names of groups and functions, the cases that failed, and those that took too long.
#[derive(Default)]
struct Log {
    /// Parts that a name has to contain, where times are measured.
    wanted: Option<Vec<String>>,
    measured: RefCell<BTreeSet<(String, String)>>,
    failed: RefCell<Vec<String>>,
    slow: RefCell<Vec<String>>,
}

impl Log {
    /// Whether a call is timed before a function is: where it is measured and may take seconds.
    fn tries_first(&self, id: &str, device: &Device) -> bool {
        let is_software = device.caps().backend == "wgpu" && device.caps().kind == DeviceKind::Cpu;
        is_software && self.wanted.as_ref().is_some_and(|wanted| wanted.iter().all(|part| id.contains(part.as_str())))
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // As criterion decides it.
    let has = |option: &str| arguments.iter().any(|a| a.split('=').next() == Some(option));
    let measuring = has("--bench") && !["--test", "--list", "--profile-time"].into_iter().any(has);
    let asked = |variable: &str, default: &str| parse_sizes(&std::env::var(variable).unwrap_or_else(|_| default.to_owned()));
    let (size, side) = if has("--bench") && !has("--test") { MEASURED } else { TESTED };
    let (sizes, sides) = (asked("ISOWARP_BENCH_SIZES", size)?, asked("ISOWARP_BENCH_SIDES", side)?);
    let folder = folder()?;
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(250))
        .nresamples(10_000)
        .output_directory(&folder)
        .configure_from_args();
    let devices: Vec<Opened> = [Selector::Cuda, Selector::Wgpu, Selector::Cpu].into_iter().filter_map(|s| open(s).ok()).collect();
    let variants = arguments.iter().any(|a| a.contains("_variants"));
    let wanted = measuring.then(|| arguments.iter().filter(|a| !a.starts_with('-')).cloned().collect());
    let log = Log { wanted, ..Log::default() };
    for work in works().into_iter().filter(|w| variants || !w.is_rung()) {
        let sizes: Vec<u64> = if work.is_image() { sides.iter().map(|s| s * s).collect() } else { sizes.clone() };
        for n in sizes.into_iter().filter(|&n| work.takes(n)) {
            group(&mut criterion, &work, n, &devices, &log);
        }
    }
    criterion.final_summary();
    if measuring && !log.measured.borrow().is_empty() {
        conclude(&folder, devices, &log)?;
    }
    log.slow.into_inner().iter().for_each(|what| println!("left out: {what}"));
    let failed = log.failed.into_inner();
    failed.iter().for_each(|what| println!("not measured: {what}"));
    Ok(failed.is_empty())
}

/// `target/criterion`: the test runner's program lies in `target/<profile>/deps`.
fn folder() -> Result<PathBuf, Box<dyn Error>> {
    if let Some(home) = std::env::var_os("CRITERION_HOME") {
        return Ok(home.into());
    }
    let program = std::env::current_exe()?;
    Ok(program.ancestors().nth(3).ok_or("the program lies in no build folder")?.join("criterion"))
}

/// A group: one pattern on elements of one type and of one number, on every device that has the type.
fn group(c: &mut Criterion, work: &Work, n: u64, devices: &[Opened], log: &Log) {
    let id = format!("{}/{}/{n}", work.name, work.dtype);
    let mut group = c.benchmark_group(&id);
    group.throughput(Throughput::Bytes(n * work.bytes));
    for Opened { device, .. } in devices.iter().filter(|d| d.device.caps().supports(work.dtype)) {
        let backend = device.caps().backend;
        // Made where a function of the device is to run.
        let made = OnceCell::new();
        let ready = || -> &Ready {
            made.get_or_init(|| {
                log.measured.borrow_mut().insert((id.clone(), backend.to_owned()));
                let shape = Shape { n, copies: copies(device, n, work.dtype), seed: 1 };
                work.ready(device, &shape).expect("the inputs fit")
            })
        };
        let calls = |calls: u64| (0..calls).try_for_each(|turn| ready().enqueue(turn));
        let wall = |calls_of_one: u64| {
            device.synchronize().expect("the device works");
            let start = Instant::now();
            calls(calls_of_one).expect("the pattern runs");
            device.synchronize().expect("the device works");
            start.elapsed()
        };
        let clock = |calls_of_one: u64| {
            let taken = device.time(&mut || calls(calls_of_one)).expect("the pattern runs");
            Duration::from_secs_f64(taken.expect("the device has a clock"))
        };
        let (wall, clock) = (limited(wall), limited(clock));
        if log.tries_first(&id, device) {
            let call = catch_unwind(AssertUnwindSafe(|| wall(1))).unwrap_or_default();
            if call > LONGEST {
                log.measured.borrow_mut().remove(&(id.clone(), backend.to_owned()));
                log.slow.borrow_mut().push(format!("{id} on {backend}, {:.1} s a call", call.as_secs_f64()));
                continue;
            }
        }
        // A case that one device cannot run, for its size say, must not lose the figures of the others.
        let done = catch_unwind(AssertUnwindSafe(|| {
            group.bench_function(BenchmarkId::new(backend, "wall"), |b| {
                ready();
                b.iter_custom(&wall);
            });
            if device.caps().timestamps && backend != "cpu" {
                group.bench_function(BenchmarkId::new(backend, "device"), |b| {
                    ready();
                    b.iter_custom(&clock);
                });
            }
        }));
        if done.is_err() {
            log.failed.borrow_mut().push(format!("{id} on {backend}"));
        }
    }
    group.finish();
}

/// Prints the table of what was measured in this run, and writes it.
fn conclude(folder: &Path, devices: Vec<Opened>, log: &Log) -> Result<(), Box<dyn Error>> {
    let mut results = measured::read(folder)?;
    let measured = log.measured.borrow();
    results.measured.retain(|m| measured.contains(&(format!("{}/{}/{}", m.name, m.dtype, m.n), m.backend.clone())));
    results.machines = devices.into_iter().map(|d| d.machine).collect();
    results.relate_to_copy();
    let results = [results];
    println!("\n{}", page::side_by_side(&results));
    let report = folder.join("isowarp");
    fs::create_dir_all(&report)?;
    let svg = render::svg(&results)?;
    for (file, text) in [("table.md", render::markdown(&results)), ("report.html", page::html(&results, &svg)), ("shares.svg", svg)] {
        fs::write(report.join(file), text)?;
    }
    println!("wrote table.md, report.html and shares.svg in {}", report.display());
    Ok(())
}
