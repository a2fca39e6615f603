//! Findings of a run of the suite, in a few lines.

use isowarp_conformance::Report;
use isowarp_conformance::report::Row;
use std::collections::BTreeSet;

/// Reasons that are shown; `--verbose` has all.
const MAX_REASONS: usize = 3;

/// Columns of a terminal that has not been widened.
const COLUMNS: usize = 80;

/// Devices with the number of comparisons, what was left out and why, and in words what is proven.
pub(crate) fn text(report: &Report) -> String {
    let mut lines = vec!["Results with the bits of the CPU, which defines them:".to_owned()];
    for device in &report.devices {
        let found = if device.label == "cpu" { "the definition".to_owned() } else { counts(&report.devices_rows, |l| l == device.label) };
        lines.push(format!("  {found:<ROOM$}  {}", device.label));
    }
    let recorded = recorded(report);
    if !recorded.is_empty() {
        lines.push("Results recorded on other machines:".to_owned());
    }
    for of in &recorded {
        lines.push(format!("  {:<ROOM$}  {of}", counts(&report.recorded_rows, |label| machine(report, label) == *of)));
    }
    lines.extend(report.absent.iter().map(|why| format!("Not here: {}", why.lines().next().unwrap_or_default())));
    // Cases that were not recorded are counted above.
    let reasons: Vec<_> = report.reasons().into_iter().filter(|(label, ..)| report.devices.iter().any(|d| d.label == *label)).collect();
    lines.extend(reasons.iter().take(MAX_REASONS).map(|(label, reason, n)| format!("Left out: {n} on {label}: {reason}")));
    if reasons.len() > MAX_REASONS {
        lines.push(format!("Left out: {} more reasons, shown by --verbose", reasons.len() - MAX_REASONS));
    }
    if report.not_begun > 0 {
        lines.push(format!("Not in this minute: {} more cases, which `isowarp validate` compares", report.not_begun));
    }
    lines.push(verdict(report));
    lines.iter().map(|line| folded(line)).collect::<Vec<_>>().join("\n")
}

/// Characters of most counts.
const ROOM: usize = 14;

/// A line of text in as many as a terminal needs.
pub(super) fn folded(line: &str) -> String {
    textwrap::fill(line, textwrap::Options::new(COLUMNS).subsequent_indent("    ").break_words(false))
}

/// A recording's device with its driver, whatever form it was opened in.
fn machine<'a>(report: &'a Report, label: &'a str) -> &'a str {
    report.machines.get(label).map_or(label, String::as_str)
}

/// The devices of recordings, in order of appearance.
fn recorded(report: &Report) -> Vec<&str> {
    let mut machines = Vec::new();
    for (label, ..) in &report.recorded_rows {
        let machine = machine(report, label);
        if !machines.contains(&machine) {
            machines.push(machine);
        }
    }
    machines
}

/// Says how many comparisons of a device, or of its recordings, were equal.
fn counts(rows: &[(String, String, Row)], of: impl Fn(&str) -> bool) -> String {
    let rows = || rows.iter().filter(|(label, ..)| of(label)).map(|(.., row)| row);
    let (equal, cases) = rows().fold((0, 0), |(equal, cases), row| (equal + row.equal, cases + row.cases));
    if equal == cases { format!("{equal} of {cases}") } else { format!("{equal} of {cases}: DIFFERENT") }
}

/// Says what the numbers mean.
fn verdict(report: &Report) -> String {
    let (equal, different, seconds) = (report.equal(), report.different(), report.seconds);
    if different > 0 {
        return format!("NOT PROVEN: {different} of {} comparisons differ ({seconds:.0} s)", equal + different);
    }
    let patterns = report.devices_rows.iter().chain(&report.recorded_rows).map(|(_, pattern, _)| pattern).collect::<BTreeSet<_>>().len();
    let here = match report.devices.len() {
        1 => "This machine has the CPU only".to_owned(),
        n => format!("{patterns} patterns return the same bits on the {n} devices of this machine"),
    };
    let elsewhere = match recorded(report).len() {
        0 => String::new(),
        _ if report.devices.len() == 1 => format!(", on which {patterns} patterns return the bits that the GPUs above returned elsewhere"),
        _ => ", and those that the GPUs above returned elsewhere".to_owned(),
    };
    format!("Proven: {here}{elsewhere}: {equal} comparisons, all equal ({seconds:.0} s).")
}

#[cfg(test)]
mod tests {
    use super::*;
    use isowarp_conformance::report::DeviceLine;

    const GPU: &str = "wgpu: a GPU";
    const H200: &str = "recorded: cuda: NVIDIA H200 (580.1)";
    const APART: &str = "recorded: cuda: NVIDIA H200 (580.1, blocks apart)";

    fn report(labels: &[&str]) -> Report {
        let line = |label: &&str| DeviceLine {
            label: (*label).to_owned(),
            driver: "1.2".to_owned(),
            numerics: "strict".to_owned(),
            fma: "Native".to_owned(),
        };
        Report { devices: labels.iter().map(line).collect(), seconds: 41.2, ..Report::default() }
    }

    #[test]
    fn what_was_compared_is_counted_by_device_and_said_in_words() {
        let mut report = report(&["cpu", GPU]);
        for pattern in ["map", "scan"] {
            Report::row(&mut report.devices_rows, GPU, pattern).equal();
            Report::row(&mut report.recorded_rows, H200, pattern).equal();
        }
        Report::row(&mut report.recorded_rows, APART, "scan").equal();
        Report::row(&mut report.recorded_rows, APART, "map").skip("map/exp", "not recorded".to_owned());
        for k in 0..5 {
            Report::row(&mut report.devices_rows, GPU, "map").skip("map/exp", format!("the device has no type {k}"));
        }
        report.machines = [H200, APART].map(|label| (label.to_owned(), "cuda: NVIDIA H200 (580.1)".to_owned())).into();
        report.absent.push("backend `cuda` is not available\n  help: install it".to_owned());
        report.not_begun = 1234;
        let text = text(&report);
        for part in [
            "  the definition  cpu\n",
            "  2 of 2          wgpu: a GPU\n",
            "  3 of 3          cuda: NVIDIA H200 (580.1)\n",
            "Not here: backend `cuda` is not available\n",
            "Left out: 1 on wgpu: a GPU: the device has no type 2\n",
            "Left out: 2 more reasons, shown by --verbose\n",
            "Not in this minute: 1234 more cases, which `isowarp validate` compares\n",
            "Proven: 2 patterns return the same bits on the 2 devices of this machine, and\n    those that the GPUs above returned elsewhere: 5 comparisons, \
             all equal (41\n    s).",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        assert!(text.lines().count() <= 15 && text.lines().all(|line| line.len() <= COLUMNS), "{text}");
    }

    #[test]
    fn a_difference_is_no_proof_and_the_cpu_alone_is_named() {
        let mut differs = report(&["cpu", GPU]);
        Report::row(&mut differs.devices_rows, GPU, "map").different("map/exp", "bits".to_owned());
        Report::row(&mut differs.devices_rows, GPU, "map").equal();
        let text = text(&differs);
        assert!(text.contains("1 of 2: DIFFERENT") && text.contains("NOT PROVEN: 1 of 2 comparisons differ"), "{text}");
        let mut alone = report(&["cpu"]);
        Report::row(&mut alone.recorded_rows, H200, "map").equal();
        let text = super::text(&alone);
        assert!(text.contains("Proven: This machine has the CPU only, on which 1 patterns return the bits that"), "{text}");
    }
}
