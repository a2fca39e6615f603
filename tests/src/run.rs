//! Running the table: every case on the CPU and on every device, compared.

use crate::case::{Case, Output, digest};
use crate::devices::{self, Again, Present};
use crate::patterns::table;
use crate::recorded::Recording;
use crate::report::{DeviceLine, Report, difference};
use isowarp::backend::Backend as _;
use isowarp::caps::{Capability, NumericsVerdict};
use isowarp::{Device, Error, Result, Selector};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// How much to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// A part that takes less than a minute on two cores with a software adapter.
    #[default]
    Quick,
    /// Every case.
    Full,
}

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much.
    pub level: Level,
    /// Patterns (or prefixes of case names); all if empty.
    pub patterns: Vec<String>,
    /// Backends; every device of the machine if empty. One that is named and missing is an error.
    pub backends: Vec<String>,
    /// Whether wgpu adapters are opened again: with the other form of kernels that come in subgroups and in shared memory, and in a full
    /// run without optional features.
    pub narrow: bool,
    /// Digests of other devices to compare with.
    pub recordings: Vec<Recording>,
}

/// What a run computed.
#[derive(Debug)]
pub struct Ran {
    /// What it found.
    pub report: Report,
    /// The digests of every device, the CPU first.
    pub recordings: Vec<Recording>,
}

/// Runs the cases asked for; `progress(done, all, case)` is called before each.
///
/// # Errors
/// No device of a backend that was asked for by name; no case of a pattern that was asked for.
pub fn run(options: &Options, mut progress: impl FnMut(usize, usize, &str)) -> Result<Ran> {
    let started = Instant::now();
    let cpu = Device::open(Selector::Cpu)?;
    let again = match (options.narrow, options.level) {
        (false, _) => Again::Never,
        (true, Level::Quick) => Again::Forms,
        (true, Level::Full) => Again::FormsAndNarrow,
    };
    let (devices, absent) = devices::present(&options.backends, again)?;
    let cases = selected(options)?;

    let mut report = Report { absent, ..Report::default() };
    report.devices.push(line("cpu".to_owned(), &cpu));
    report.devices.extend(devices.iter().map(|d| line(d.label(), &d.device)));
    let mut recordings = vec![Recording::of(&cpu, "default")];
    recordings.extend(devices.iter().map(|d| Recording::of(&d.device, d.form)));

    for (k, case) in cases.iter().enumerate() {
        progress(k, cases.len(), &case.name);
        let expected = guarded(case, &cpu);
        let key = digest(&expected);
        for (device, recording) in devices.iter().zip(&mut recordings[1..]).filter(|(d, _)| d.runs(case.pattern())) {
            one(case, device, &expected, &key, &mut report, recording);
        }
        for recorded in &options.recordings {
            let row = Report::row(&mut report.recorded_rows, &format!("recorded: {}", recorded.label()), case.pattern());
            match recorded.cases.get(&case.name) {
                Some(there) if *there == key => row.equal(),
                Some(there) => row.different(&case.name, format!("digest {there} was recorded, the CPU gives {key}")),
                None => row.skip("not recorded".to_owned()),
            }
        }
        recordings[0].cases.insert(case.name.clone(), key);
    }
    note_stale(options, &mut report);
    report.devices_rows.sort_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
    report.recorded_rows.sort_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
    report.seconds = started.elapsed().as_secs_f64();
    Ok(Ran { report, recordings })
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
fn guarded(case: &Case<Device>, device: &Device) -> Result<Vec<Output>> {
    catch_unwind(AssertUnwindSafe(|| case.run(device))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(Error::Driver { call: "panic", message: text.unwrap_or_default() })
    })
}

fn one(case: &Case<Device>, present: &Present, expected: &Result<Vec<Output>>, key: &str, report: &mut Report, recording: &mut Recording) {
    let row = Report::row(&mut report.devices_rows, &present.label(), case.pattern());
    let caps = present.device.caps();
    if let Some(missing) = case.needs.iter().find(|d| !caps.supports(**d)) {
        return row.skip(format!("the device has no {missing}"));
    }
    if case.bytes > caps.max_buffer_bytes {
        return row.skip(format!("needs a buffer of {} MiB, above the device's {}", case.bytes >> 20, caps.max_buffer_bytes >> 20));
    }
    let started = Instant::now();
    let found = guarded(case, &present.device);
    row.seconds += started.elapsed().as_secs_f64();
    if expected.is_ok()
        && let Err(e) = &found
        && excused(e, &present.device)
    {
        return row.skip(e.to_string().lines().next().unwrap_or_default().to_owned());
    }
    match difference(expected, &found) {
        None => row.equal(),
        Some(what) => row.different(&case.name, what),
    }
    let found = if &found == expected { key.to_owned() } else { digest(&found) };
    recording.cases.insert(case.name.clone(), found);
}

/// Whether a device may refuse: what it says that it lacks, it has to lack.
fn excused(error: &Error, device: &Device) -> bool {
    let caps = device.caps();
    match error {
        Error::Unsupported { capability: Capability::DType(d), .. } => !caps.supports(*d),
        Error::Unsupported { capability: Capability::StorageBuffers(n), .. } => *n > caps.max_storage_buffers,
        Error::Unsupported { capability: Capability::UncontractedProducts, .. } => true,
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
