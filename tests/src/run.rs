//! Running the table: every case on the CPU and on every device, compared.

use crate::case::{Case, Output, digest};
use crate::devices::{self, Again, Present};
use crate::patterns::table;
use crate::recorded::Recording;
use crate::report::{DeviceLine, Report, Row, difference};
use isowarp::backend::Backend as _;
use isowarp::caps::{Capability, DeviceKind, NumericsVerdict};
use isowarp::{Device, Error, Result, Selector};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Extent of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// A part that takes less than a minute on two cores with a software adapter.
    #[default]
    Quick,
    /// Every case.
    Full,
}

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Extent of the run.
    pub level: Level,
    /// Patterns (or prefixes of case names); all if empty.
    pub patterns: Vec<String>,
    /// Backends; every device of the machine if empty. One that is named and missing is an error.
    pub backends: Vec<String>,
    /// Whether a full run opens devices again: wgpu's adapters with the other form of kernels that come in subgroups and in shared memory,
    /// and without optional features; CUDA's with launch numbers that soon start over, and without cooperative launches.
    pub narrow: bool,
    /// Digests of other devices to compare with.
    pub recordings: Vec<Recording>,
    /// Number of cases that may run at once, each on devices opened for it; 0: as many as the machine has cores, at most 8.
    pub jobs: usize,
    /// Time after which no case is begun, where there is a limit: patterns then take turns, so that as many as there is time for have had one.
    pub time: Option<Duration>,
}

/// A driver's compiler is what takes time, and some compile on one thread for each device.
const MOST_JOBS: usize = 8;

/// Results that a run computed.
#[derive(Debug)]
pub struct Ran {
    /// Findings of the run.
    pub report: Report,
    /// The digests of every device, the CPU first.
    pub recordings: Vec<Recording>,
}

/// Runs the cases asked for; `progress(done, all, case, seconds)` is called after each, with the time that it took.
///
/// # Errors
/// No device of a backend that was asked for by name; no case of a pattern that was asked for.
pub fn run(options: &Options, mut progress: impl FnMut(usize, usize, &str, f64)) -> Result<Ran> {
    let started = Instant::now();
    let cpu = Device::open(Selector::Cpu)?;
    let again = if options.narrow && options.level == Level::Full { Again::All } else { Again::Never };
    let cases = selected(options)?;
    let mut groups = groups(&cases);
    if options.time.is_some() {
        take_turns(&cases, &mut groups);
    }
    let (devices, absent) = devices::present(&options.backends, again)?;
    let mut report = Report { absent, ..Report::default() };
    report.devices.push(line("cpu".to_owned(), &cpu));
    report.devices.extend(devices.iter().map(|d| line(d.label(), &d.device)));
    let mut recordings = vec![Recording::of(&cpu, "default")];
    recordings.extend(devices.iter().map(|d| Recording::of(&d.device, d.form)));
    let labels: Vec<String> = devices.iter().map(Present::label).collect();

    let count = if devices.is_empty() { 1 } else { jobs(options.jobs).min(groups.len()).max(1) };
    let software = devices.iter().any(|d| d.backend == "wgpu" && d.device.caps().kind == DeviceKind::Cpu);
    let opening = Mutex::new(|| Ok::<_, Error>(devices::present(&options.backends, again)?.0));
    let mut sets = vec![devices];
    while sets.len() < count {
        sets.push(open(&opening, Vec::new())?);
    }
    // A software adapter keeps what it has compiled as long as it is open: gigabytes for all patterns together.
    let anew = software && options.level == Level::Full;
    let mut done = 0;
    let end = options.time.and_then(|time| started.checked_add(time));
    let results = compare_all((&cases, end), &groups, &cpu, sets, (&opening, anew), |case, seconds| {
        done += 1;
        progress(done, cases.len(), case, seconds);
    })?;

    report.not_begun = (cases.len() - results.len()) as u32;
    for (k, result) in results {
        let case = &cases[k];
        for ((label, recording), compared) in labels.iter().zip(&mut recordings[1..]).zip(result.devices) {
            if let Some(compared) = compared {
                let row = Report::row(&mut report.devices_rows, label, case.pattern());
                compared.enter(&case.name, row, recording);
            }
        }
        for recorded in &options.recordings {
            let row = Report::row(&mut report.recorded_rows, &format!("recorded: {}", recorded.label()), case.pattern());
            match recorded.cases.get(&case.name) {
                Some(there) if *there == result.key => row.equal(),
                Some(there) => row.different(&case.name, format!("digest {there} was recorded, the CPU gives {}", result.key)),
                None => row.skip(&case.name, "not recorded".to_owned()),
            }
        }
        recordings[0].cases.insert(case.name.clone(), result.key);
    }
    report.machines = options.recordings.iter().map(|r| (format!("recorded: {}", r.label()), r.machine())).collect();
    note_stale(options, &mut report);
    report.devices_rows.sort_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
    report.recorded_rows.sort_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
    report.seconds = started.elapsed().as_secs_f64();
    Ok(Ran { report, recordings })
}

fn jobs(asked: usize) -> usize {
    if asked > 0 { asked } else { std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MOST_JOBS) }
}

/// Runs of cases of one operation, which share kernels: `pattern/variant/dtype`.
fn groups(cases: &[Case<Device>]) -> Vec<Range<usize>> {
    let group = |case: &Case<Device>| case.name.splitn(4, '/').take(3).map(ToOwned::to_owned).collect::<Vec<_>>();
    let mut groups: Vec<Range<usize>> = Vec::new();
    for k in 0..cases.len() {
        match groups.last_mut() {
            Some(last) if group(&cases[last.start]) == group(&cases[k]) => last.end = k + 1,
            _ => groups.push(k..k + 1),
        }
    }
    groups
}

/// Puts the first group of each pattern first, then the second ones, and so on.
fn take_turns(cases: &[Case<Device>], groups: &mut Vec<Range<usize>>) {
    let mut turns: BTreeMap<&str, u32> = BTreeMap::new();
    let mut numbered: Vec<_> = groups
        .drain(..)
        .map(|group| {
            let turn = turns.entry(cases[group.start].pattern()).or_default();
            *turn += 1;
            (*turn, group)
        })
        .collect();
    numbered.sort_by_key(|(turn, _)| *turn);
    groups.extend(numbered.into_iter().map(|(_, group)| group));
}

/// Outcome of a case.
struct CaseResult {
    /// The digest of the CPU's results.
    key: String,
    /// By device; `None` where the device does not take part in the pattern.
    devices: Vec<Option<Compared>>,
}

/// Opens a set of devices after closing another. One thread at a time: not every driver bears more.
fn open<F: Fn() -> Result<Vec<Present>>>(opening: &Mutex<F>, old: Vec<Present>) -> Result<Vec<Present>> {
    let open = opening.lock().unwrap_or_else(PoisonError::into_inner);
    drop(old);
    open()
}

/// The cases of these groups that are begun before the end on every device, several at once, each thread with a set of devices, which it opens anew for
/// each pattern where that is asked for; the results are in the order of the cases, which they name.
fn compare_all<F: Fn() -> Result<Vec<Present>> + Send>(
    (cases, end): (&[Case<Device>], Option<Instant>),
    groups: &[Range<usize>],
    cpu: &Device,
    sets: Vec<Vec<Present>>,
    (opening, anew): (&Mutex<F>, bool),
    mut progress: impl FnMut(&str, f64),
) -> Result<Vec<(usize, CaseResult)>> {
    let (next, (sender, receiver)) = (AtomicUsize::new(0), mpsc::channel());
    let (threads, sets) = (sets.len(), Mutex::new(sets));
    let work = |sender| take_cases((cases, groups, end), cpu, (&next, &sets), (opening, anew), &sender);
    let mut results: Vec<(usize, CaseResult)> = std::thread::scope(|scope| {
        let start = |_: &usize| {
            let sender = sender.clone();
            std::thread::Builder::new().spawn_scoped(scope, || work(sender)).is_ok()
        };
        // Where the system grants no thread, this one does the work.
        if (0..threads).filter(start).count() == 0 {
            work(sender.clone());
        }
        drop(sender);
        let received = receiver.iter().map(|sent| {
            let (k, result, seconds) = sent?;
            progress(&cases[k].name, seconds);
            Ok((k, result))
        });
        received.collect::<Result<_>>()
    })?;
    results.sort_by_key(|(k, _)| *k);
    Ok(results)
}

/// The result of a case, and how long it took.
type Sent = Result<(usize, CaseResult, f64)>;

/// Takes groups of cases until none is left or the end has come, on a set of devices that nobody else has.
fn take_cases<F: Fn() -> Result<Vec<Present>> + Send>(
    (cases, groups, end): (&[Case<Device>], &[Range<usize>], Option<Instant>),
    cpu: &Device,
    (next, sets): (&AtomicUsize, &Mutex<Vec<Vec<Present>>>),
    (opening, anew): (&Mutex<F>, bool),
    sender: &mpsc::Sender<Sent>,
) {
    let Some(mut devices) = sets.lock().unwrap_or_else(PoisonError::into_inner).pop() else { return };
    let mut pattern = None;
    while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
        let last = pattern.replace(cases[group.start].pattern());
        if anew && last.is_some() && last != pattern {
            match open(opening, std::mem::take(&mut devices)) {
                Ok(opened) => devices = opened,
                Err(error) => {
                    next.store(groups.len(), Ordering::Relaxed);
                    // The receiver outlives this thread.
                    let _ = sender.send(Err(error));
                    break;
                }
            }
        }
        for k in group.clone() {
            let started = Instant::now();
            if end.is_some_and(|end| started >= end) {
                break;
            }
            let result = compare(&cases[k], cpu, &devices);
            let _ = sender.send(Ok((k, result, started.elapsed().as_secs_f64())));
        }
    }
    let _alone = opening.lock();
    drop(devices);
}

fn compare(case: &Case<Device>, cpu: &Device, devices: &[Present]) -> CaseResult {
    let expected = caught(|| case.run(cpu));
    let key = digest(&expected);
    let devices = devices.iter().map(|d| d.runs(case).then(|| one(case, d, &expected, &key))).collect();
    CaseResult { key, devices }
}

fn selected(options: &Options) -> Result<Vec<Case<Device>>> {
    let mut cases = table::<Device>();
    let wanted =
        |name: &str, p: &String| name == p || name.strip_prefix(p.as_str()).is_some_and(|rest| p.ends_with('/') || rest.starts_with('/'));
    for p in &options.patterns {
        if !cases.iter().any(|c| wanted(&c.name, p)) {
            let known: BTreeSet<_> = cases.iter().map(Case::pattern).collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(Error::InvalidArgument { what: "pattern", reason: format!("`{p}` has no cases; known: {known}") });
        }
    }
    cases.retain(|c| {
        (options.level == Level::Full || c.quick) && (options.patterns.is_empty() || options.patterns.iter().any(|p| wanted(&c.name, p)))
    });
    Ok(cases)
}

fn line(label: String, device: &Device) -> DeviceLine {
    let caps = device.caps();
    DeviceLine { label, driver: caps.driver.clone(), numerics: caps.numerics.to_string(), fma: format!("{:?}", caps.fma) }
}

/// A panic is a result too: of a library that promises none, and worth more in a report than a run that ended.
pub(crate) fn caught(work: impl FnOnce() -> Result<Vec<Output>>) -> Result<Vec<Output>> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(Error::Driver { call: "panic", message: text.unwrap_or_default() })
    })
}

/// A case on a device, compared with the CPU.
enum Compared {
    /// Why it did not run, or what the device may refuse.
    Skipped { reason: String, seconds: f64 },
    /// Where it differs from the CPU, if it does.
    Ran { difference: Option<String>, digest: String, seconds: f64 },
}

impl Compared {
    fn enter(self, name: &str, row: &mut Row, recording: &mut Recording) {
        match self {
            Self::Skipped { reason, seconds } => {
                row.seconds += seconds;
                row.skip(name, reason);
            }
            Self::Ran { difference, digest, seconds } => {
                row.seconds += seconds;
                match difference {
                    None => row.equal(),
                    Some(what) => row.different(name, what),
                }
                recording.cases.insert(name.to_owned(), digest);
            }
        }
    }
}

fn one(case: &Case<Device>, present: &Present, expected: &Result<Vec<Output>>, key: &str) -> Compared {
    let caps = present.device.caps();
    let skipped = |reason| Compared::Skipped { reason, seconds: 0.0 };
    if let Some(missing) = case.needs.iter().find(|d| !caps.supports(**d)) {
        return skipped(format!("the device has no {missing}"));
    }
    if case.bytes > caps.max_buffer_bytes {
        return skipped(format!("needs a buffer of {} MiB, above the device's {}", case.bytes >> 20, caps.max_buffer_bytes >> 20));
    }
    let started = Instant::now();
    let found = caught(|| case.run(&present.device));
    let seconds = started.elapsed().as_secs_f64();
    if expected.is_ok()
        && let Err(e) = &found
        && excused(e, &present.device)
    {
        return Compared::Skipped { reason: e.to_string().lines().next().unwrap_or_default().to_owned(), seconds };
    }
    let digest = if &found == expected { key.to_owned() } else { digest(&found) };
    let unanswered = || case.unanswered(expected).map(|error| format!("the CPU refuses the case: {error}"));
    Compared::Ran { difference: difference(expected, &found).or_else(unanswered), digest, seconds }
}

/// Whether a device may refuse: what it says that it lacks, it has to lack.
pub(crate) fn excused(error: &Error, device: &Device) -> bool {
    let caps = device.caps();
    match error {
        Error::Unsupported { capability: Capability::DType(d), .. } => !caps.supports(*d),
        Error::Unsupported { capability: Capability::StorageBuffers(n), .. } => *n > caps.max_storage_buffers,
        Error::Unsupported { capability: Capability::WorkgroupSize { needed, .. }, .. } => *needed > caps.max_workgroup_size,
        Error::Unsupported { capability: Capability::WorkgroupMemory { needed, .. }, .. } => *needed > caps.workgroup_memory_bytes,
        Error::Unsupported { capability: Capability::Instructions { needed, .. }, .. } => {
            caps.kernel_instructions.is_some_and(|limit| *needed > limit)
        }
        Error::NotStrict { .. } => matches!(caps.numerics, NumericsVerdict::Unproven { .. }),
        _ => false,
    }
}

fn note_stale(options: &Options, report: &mut Report) {
    let names: BTreeSet<String> = table::<Device>().into_iter().map(|c| c.name).collect();
    for recorded in &options.recordings {
        let stale = recorded.cases.keys().filter(|name| !names.contains(*name)).count() as u32;
        if stale > 0 {
            report.stale.insert(recorded.label(), stale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_turns_where_time_is_short() {
        let cases = selected(&Options::default()).expect("all patterns have cases");
        let (mut turns, in_order) = (groups(&cases), groups(&cases));
        take_turns(&cases, &mut turns);
        let patterns: BTreeSet<_> = cases.iter().map(Case::pattern).collect();
        let first: BTreeSet<_> = turns.iter().take(patterns.len()).map(|group| cases[group.start].pattern()).collect();
        assert_eq!(first, patterns, "each pattern has its turn");
        turns.sort_by_key(|group| group.start);
        assert_eq!(turns, in_order, "no group is lost");
    }
}
