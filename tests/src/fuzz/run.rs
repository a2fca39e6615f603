//! Runs trials on every device until the time is over, and says what it found.

use super::shrink::shrink;
use super::{Trial, Verb, seed_of, trial};
use crate::case::Output;
use crate::devices::{self, Again, Present};
use crate::report::difference;
use crate::run::{caught, excused};
use isowarp::backend::Backend as _;
use isowarp::caps::DeviceKind;
use isowarp::{Device, Result, Selector};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Duration, unless `trials` are done before.
    pub time: Duration,
    /// Number of trials at most; 0: as many as there is time for.
    pub trials: u64,
    /// Seed that decides all of them.
    pub seed: u64,
    /// The patterns; all if empty.
    pub verbs: Vec<Verb>,
    /// Backends; every device of the machine if empty. One that is named and missing is an error.
    pub backends: Vec<String>,
    /// Whether devices are opened again in other forms, as a full run of the suite does.
    pub forms: bool,
    /// Number of trials that may run at once, each on devices opened for it; 0: as many as there are cores, at most 8.
    pub jobs: usize,
    /// Steps that shrink a difference.
    pub shrinks: usize,
    /// Whether the seed of each trial is printed before it runs: the last line names what ended the process.
    pub verbose: bool,
}

/// Findings of a run on one device.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Trials compared.
    pub compared: u64,
    /// Trials that differ.
    pub different: u64,
    /// Trials that the device may refuse, by reason.
    pub refused: BTreeMap<String, u64>,
}

/// A difference.
#[derive(Clone, Debug)]
pub struct Find {
    /// The device, or the CPU where it differs from plain loops.
    pub device: String,
    /// The seed of the trial.
    pub seed: u64,
    /// Where it differs, and which bits.
    pub what: String,
    /// The smallest trial that still differs.
    pub trial: Trial,
}

/// Findings of a run.
#[derive(Clone, Debug, Default)]
pub struct Fuzzed {
    /// By pattern, its trials.
    pub trials: BTreeMap<&'static str, u64>,
    /// Operators of all trials.
    pub operators: u64,
    /// Elements of all results of the CPU.
    pub elements: u64,
    /// By device, the CPU first: that one is compared with plain loops, the others with it.
    pub lines: Vec<(String, Line)>,
    /// One difference of each kind.
    pub finds: Vec<Find>,
    /// Why further devices are not here.
    pub absent: Vec<String>,
    kinds: BTreeSet<(String, String)>,
}

/// Differences that are shrunk; further ones are counted.
const SHRUNK: usize = 24;

/// Trials after which a thread opens its devices anew, software adapters and others: they keep what they have compiled as long as they are open.
const ANEW: [u64; 2] = [150, 1500];

const MAX_JOBS: usize = 8;

impl Fuzzed {
    /// Trials that differ, anywhere.
    #[must_use]
    pub fn different(&self) -> u64 {
        self.lines.iter().map(|(_, l)| l.different).sum()
    }

    /// Comparisons, those with plain loops and those of devices.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.lines.iter().map(|(_, l)| l.compared).sum()
    }

    /// The report for people, without the differences.
    #[must_use]
    pub fn text(&self, seed: u64) -> String {
        let mut out = String::new();
        let trials: u64 = self.trials.values().sum();
        let verbs: Vec<String> = self.trials.iter().map(|(verb, n)| format!("{verb} {n}")).collect();
        let _ =
            writeln!(out, "seed {seed}: {trials} trials, {} operators, {} elements ({})", self.operators, self.elements, verbs.join(", "));
        for a in &self.absent {
            let _ = writeln!(out, "  not here: {}", a.replace('\n', " "));
        }
        for (k, (label, line)) in self.lines.iter().enumerate() {
            let with = if k == 0 { "plain loops" } else { "the CPU" };
            let _ = writeln!(out, "  {label}: {} compared with {with}, {} differ", line.compared, line.different);
            for (reason, n) in &line.refused {
                let _ = writeln!(out, "    {n} left out: {reason}");
            }
        }
        let _ = write!(out, "{} comparisons, {} differ", self.compared(), self.different());
        out
    }

    fn line(&mut self, k: usize) -> &mut Line {
        &mut self.lines[k].1
    }
}

impl Find {
    /// The difference with what runs it again.
    #[must_use]
    pub fn text(&self) -> String {
        let backend = self.device.split(':').next().unwrap_or_default();
        let only = if backend == "cpu" { String::new() } else { format!(" --backend {backend}") };
        let verb = self.trial.verb.name();
        let mut out = format!("DIFFERENT on {}: {}\n", self.device, self.what);
        let _ = writeln!(out, "  isowarp-conformance fuzz{only} --pattern {verb} --trials 1 --seed {}", self.seed);
        let _ = writeln!(out, "  isowarp-conformance fuzz{only} --case '{}'", self.trial);
        if let Some(command) = self.trial.command(backend) {
            let _ = writeln!(out, "  {command}");
        }
        out
    }
}

/// Runs trials until the time is over; `progress` is called with each difference as it is found.
///
/// # Errors
/// No device of a backend that was asked for by name; a device that cannot be opened again.
pub fn fuzz(options: &Options, progress: impl Fn(&Find) + Sync) -> Result<Fuzzed> {
    let again = if options.forms { Again::All } else { Again::Never };
    let open = || devices::present(&options.backends, again);
    let cpu = Device::open(Selector::Cpu)?;
    let (first, absent) = open()?;
    let mut found = Fuzzed { absent, ..Fuzzed::default() };
    found.lines.push((format!("cpu: {}", cpu.caps().device), Line::default()));
    found.lines.extend(first.iter().map(|d| (d.label(), Line::default())));
    let software = first.iter().any(|d| d.device.caps().kind == DeviceKind::Cpu);
    let anew = if software { ANEW[0] } else { ANEW[1] };
    let jobs =
        if options.jobs > 0 { options.jobs } else { std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_JOBS) };

    let run =
        Run { options, cpu, found: Mutex::new(found), next: AtomicU64::new(0), end: Instant::now() + options.time, progress: &progress };
    // Not every driver bears that several open at once.
    let opening = Mutex::new(());
    let opened = |old: Vec<Present>| {
        let _alone = opening.lock().unwrap_or_else(PoisonError::into_inner);
        drop(old);
        Ok::<_, isowarp::Error>(open()?.0)
    };
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let mut sets = vec![Some(first)];
        sets.resize_with(jobs, || None);
        let work = |set: Option<Vec<Present>>| {
            let (run, opened) = (&run, &opened);
            move || {
                let mut devices = set.map_or_else(|| opened(Vec::new()), Ok)?;
                let mut since = 0;
                while run.one(&devices) {
                    since += 1;
                    if since == anew {
                        since = 0;
                        devices = opened(devices)?;
                    }
                }
                Ok(())
            }
        };
        let threads: Vec<_> = sets.into_iter().map(|set| scope.spawn(work(set))).collect();
        threads.into_iter().map(|t| t.join().unwrap_or(Ok(()))).collect()
    });
    results.into_iter().collect::<Result<()>>()?;
    Ok(run.found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A run that several threads share.
struct Run<'a, P> {
    options: &'a Options,
    cpu: Device,
    found: Mutex<Fuzzed>,
    next: AtomicU64,
    end: Instant,
    progress: &'a P,
}

impl<P: Fn(&Find) + Sync> Run<'_, P> {
    /// The next trial, or nothing if there is no more time.
    fn one(&self, devices: &[Present]) -> bool {
        let k = self.next.fetch_add(1, Ordering::Relaxed);
        if Instant::now() >= self.end || (self.options.trials > 0 && k >= self.options.trials) {
            return false;
        }
        let seed = seed_of(self.options.seed, k);
        let verbs = if self.options.verbs.is_empty() { Verb::ALL } else { &self.options.verbs[..] };
        let trial = trial(seed, verbs);
        if self.options.verbose {
            println!("{} {seed}: {trial}", trial.verb.name());
        }
        self.compare(&trial, seed, devices);
        true
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Fuzzed> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compare(&self, trial: &Trial, seed: u64, devices: &[Present]) {
        let cpu = caught(|| trial.run(&self.cpu));
        let by_rules = difference(&expected(trial), &cpu);
        {
            let mut found = self.locked();
            *found.trials.entry(trial.verb.name()).or_default() += 1;
            found.operators += trial.trees.len() as u64;
            found.elements += cpu.iter().flatten().map(|o| o.len() as u64).sum::<u64>();
            found.line(0).compared += 1;
        }
        if let Some(what) = by_rules {
            self.differs(0, trial, seed, what, |t| difference(&expected(t), &caught(|| t.run(&self.cpu))));
        }
        for (k, present) in devices.iter().enumerate() {
            let device = &present.device;
            let refused = |reason: String| *self.locked().line(k + 1).refused.entry(reason).or_default() += 1;
            if let Some(missing) = trial.needs().iter().find(|d| !device.caps().supports(**d)) {
                refused(format!("the device has no {missing}"));
                continue;
            }
            let on_device = caught(|| trial.run(device));
            if let (Ok(_), Err(e)) = (&cpu, &on_device)
                && excused(e, device)
            {
                refused(e.to_string().lines().next().unwrap_or_default().to_owned());
                continue;
            }
            self.locked().line(k + 1).compared += 1;
            if let Some(what) = difference(&cpu, &on_device) {
                self.differs(k + 1, trial, seed, what, |t| difference(&caught(|| t.run(&self.cpu)), &caught(|| t.run(device))));
            }
        }
    }

    /// Counts a difference, and shrinks it if there is none of its kind yet.
    fn differs(&self, line: usize, trial: &Trial, seed: u64, what: String, differs: impl Fn(&Trial) -> Option<String>) {
        let device = {
            let mut found = self.locked();
            found.line(line).different += 1;
            if found.finds.len() >= SHRUNK {
                return;
            }
            found.lines[line].0.clone()
        };
        let small = shrink(trial.clone(), self.options.shrinks, |t| differs(t).is_some());
        let what = differs(&small).unwrap_or(what);
        let find = Find { device, seed, what, trial: small };
        let mut found = self.locked();
        if found.kinds.insert((find.device.clone(), find.trial.signature())) && found.finds.len() < SHRUNK {
            (self.progress)(&find);
            found.finds.push(find);
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is compared with results")]
fn expected(trial: &Trial) -> Result<Vec<Output>> {
    Ok(trial.expected())
}

/// Compares one trial on every device, and returns what differs, as text.
///
/// # Errors
/// As [`fuzz`].
pub fn compare(trial: &Trial, backends: &[String]) -> Result<(u64, Vec<String>)> {
    let cpu = Device::open(Selector::Cpu)?;
    let on_cpu = caught(|| trial.run(&cpu));
    let mut different: Vec<String> =
        difference(&expected(trial), &on_cpu).map(|d| format!("cpu, from plain loops: {d}")).into_iter().collect();
    let mut compared = 1;
    for present in devices::present(backends, Again::Never)?.0 {
        let found = caught(|| trial.run(&present.device));
        if let Err(e) = &found
            && excused(e, &present.device)
        {
            continue;
        }
        compared += 1;
        different.extend(difference(&on_cpu, &found).map(|d| format!("{}: {d}", present.label())));
    }
    Ok((compared, different))
}
