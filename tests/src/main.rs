//! `isowarp-conformance`: the suite as a program that needs no Rust, for machines that only run it.

use clap::{Args, Parser, Subcommand};
use isowarp_conformance::recorded::Kept;
use isowarp_conformance::{Level, Options, coverage, fuzz, recorded, run};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

/// Compares every device of this machine with the CPU definition, bit for bit.
#[derive(Parser)]
#[command(name = "isowarp-conformance", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare every device with the CPU and with the recorded digests; exit status 1 if any bit differs
    Validate {
        #[command(flatten)]
        select: Select,
        /// Compare with the digests of this file, or of the folder that `record` wrote, instead of those built in
        #[arg(long)]
        digests: Option<PathBuf>,
        /// Write into this file which cases each device ran and which it left out, beside what it says of other devices
        #[arg(long, value_name = "FILE")]
        devices: Option<PathBuf>,
        /// Print the report as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the digests of every device to a folder, with the names of device and driver
    Record {
        #[command(flatten)]
        select: Select,
        /// Where to write them
        #[arg(long, default_value = "digests")]
        out: PathBuf,
    },
    /// Put what `record` wrote on any machine into the file that keeps every digest once; the CPU, which defines them, is left out
    Keep {
        /// The folder that `record` wrote
        folder: PathBuf,
        /// The file, which is made if it is not there
        #[arg(long, default_value = "digests.json")]
        file: PathBuf,
    },
    /// Try random operators and patterns: the CPU against plain loops, every device against the CPU; exit status 1 if any bit differs
    Fuzz(Fuzz),
    /// List the cases
    List,
}

#[derive(Args)]
struct Fuzz {
    /// Duration in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Stop after so many trials
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    trials: u64,
    /// Number that decides every trial [default: the time]
    #[arg(long)]
    seed: Option<u64>,
    /// Only this pattern; may be given several times
    #[arg(long = "pattern", value_name = "NAME")]
    patterns: Vec<String>,
    /// Only this backend (wgpu or cuda), which then must be there; may be given several times
    #[arg(long = "backend", value_name = "NAME")]
    backends: Vec<String>,
    /// Open devices again in other forms, as a full run of the cases does
    #[arg(long)]
    forms: bool,
    /// Number of trials that may run at once, each on devices opened for it [default: as many as there are cores, at most 8]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Steps that make a difference smaller before it is printed
    #[arg(long, default_value_t = 400)]
    shrink: usize,
    /// Print each trial, and its seed, before it runs
    #[arg(long)]
    verbose: bool,
    /// Run one trial, a line that an earlier run printed, and nothing else
    #[arg(long, value_name = "LINE")]
    case: Option<String>,
}

#[derive(Args)]
struct Select {
    /// A part that takes less than a minute (default for `validate`)
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Every case (default for `record`)
    #[arg(long)]
    full: bool,
    /// Only this pattern, or cases whose name starts so; may be given several times
    #[arg(long = "pattern", value_name = "NAME")]
    patterns: Vec<String>,
    /// Only this backend (wgpu or cuda), which then must be there; may be given several times
    #[arg(long = "backend", value_name = "NAME")]
    backends: Vec<String>,
    /// Open wgpu adapters once, where a full run does so again in other forms: subgroups or shared memory, and without optional features
    #[arg(long)]
    no_narrow: bool,
    /// Number of cases that may run at once, each on devices opened for it [default: as many as there are cores, at most 8]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    jobs: usize,
}

impl Select {
    fn options(self, default: Level, recordings: Vec<recorded::Recording>) -> Options {
        let level = match (self.quick, self.full) {
            (true, _) => Level::Quick,
            (_, true) => Level::Full,
            _ => default,
        };
        Options {
            level,
            patterns: self.patterns,
            backends: self.backends,
            narrow: !self.no_narrow,
            recordings,
            jobs: self.jobs,
            time: None,
        }
    }
}

fn main() -> ExitCode {
    match execute(Cli::parse().command) {
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

fn execute(command: Command) -> Result<bool, Box<dyn std::error::Error>> {
    match command {
        Command::Validate { select, digests, devices, json } => {
            let recordings = digests.map_or_else(|| recorded::built_in().map_err(Into::into), |folder| recorded::from_path(&folder))?;
            let report = run(&select.options(Level::Quick, recordings), progress)?.report;
            clear();
            let said = say(if json { serde_json::to_string_pretty(&report)? } else { report.text() });
            if let Some(path) = devices {
                coverage::write(report.coverage(), &path).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
            }
            // Also where nobody reads the report.
            if report.different() > 0 {
                return Ok(false);
            }
            Ok(said.map(|()| true)?)
        }
        Command::Record { select, out } => {
            let ran = run(&select.options(Level::Full, Vec::new()), progress)?;
            clear();
            say(ran.report.text())?;
            for recording in ran.recordings {
                say(format!("{} cases: {}", recording.cases.len(), recording.write(&out)?.display()))?;
            }
            Ok(ran.report.different() == 0)
        }
        Command::Keep { folder, file } => {
            let kept = if file.exists() { Kept::read(&file)? } else { Kept::default() };
            let new = recorded::from_path(&folder)?.into_iter().filter(|r| r.backend != "cpu").collect();
            let table = isowarp_conformance::table::<isowarp::Device>().into_iter().map(|case| case.name).collect();
            let kept = kept.with(new, &table)?;
            kept.write(&file)?;
            for recording in kept.recordings() {
                say(format!("{} cases: {}", recording.cases.len(), recording.label()))?;
            }
            Ok(true)
        }
        Command::Fuzz(options) => options.run(),
        Command::List => {
            for case in isowarp_conformance::table::<isowarp::Device>() {
                say(format!("{}{}", case.name, if case.quick { "" } else { "  (full)" }))?;
            }
            Ok(true)
        }
    }
}

impl Fuzz {
    fn run(self) -> Result<bool, Box<dyn std::error::Error>> {
        if let Some(line) = &self.case {
            let (compared, different) = fuzz::compare(&fuzz::Trial::parse(line)?, &self.backends)?;
            let lines = different.iter().map(|d| format!("DIFFERENT on {d}\n")).collect::<String>();
            let said = say(format!("{lines}{compared} comparisons, {} differ", different.len()));
            return if different.is_empty() { Ok(said.map(|()| true)?) } else { Ok(false) };
        }
        let verb = |name: &String| fuzz::Verb::named(name).ok_or_else(|| format!("`{name}` is no pattern; known: {}", fuzz::Verb::names()));
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
        // Short enough to be typed again.
        let seed = self.seed.unwrap_or(clock.as_nanos() as u64 % 1_000_000_007);
        say(format!("seed {seed}"))?;
        let options = fuzz::Options {
            time: std::time::Duration::from_secs(self.seconds),
            trials: self.trials,
            seed,
            verbs: self.patterns.iter().map(verb).collect::<Result<_, _>>()?,
            backends: self.backends,
            forms: self.forms,
            jobs: self.jobs,
            shrinks: self.shrink,
            verbose: self.verbose,
        };
        // A find that nobody reads is still one: the exit status says it.
        let found = fuzz::fuzz(&options, |find| drop(say(find.text().trim_end())))?;
        let said = say(found.text(seed));
        if found.different() > 0 { Ok(false) } else { Ok(said.map(|()| true)?) }
    }
}

/// One line on a terminal; elsewhere, cases that took long.
fn progress(done: usize, all: usize, case: &str, seconds: f64) {
    const LONG: f64 = 2.0;
    let mut to = io::stderr();
    // A report is what was asked for; that nobody sees how far it is spoils nothing.
    let _ = if to.is_terminal() {
        write!(to, "\r\x1b[K{done}/{all} {case}").and_then(|()| to.flush())
    } else if seconds > LONG {
        writeln!(to, "{case} took {seconds:.1} s")
    } else {
        Ok(())
    };
}

fn clear() {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}
