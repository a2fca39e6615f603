//! Findings of a run of the suite, in a few lines.

use crate::table;
use isowarp_conformance::Report;
use isowarp_conformance::report::Row;
use std::collections::BTreeSet;

/// Reasons that are shown; `--verbose` has all.
const MAX_REASONS: usize = 3;

/// Devices with the number of comparisons, what was left out and why, and in words what is proven.
pub(crate) fn text(report: &Report) -> String {
    let mut rows = Vec::new();
    for device in &report.devices {
        let found = if device.label == "cpu" { "the definition".to_owned() } else { counts(&report.devices_rows, &device.label) };
        rows.push(vec![device.label.clone(), device.driver.clone(), found]);
    }
    for label in recorded(report) {
        rows.push(vec![label.clone(), "elsewhere".to_owned(), counts(&report.recorded_rows, &label)]);
    }
    let mut lines = vec![table::table(&["device", "driver", "results equal to the CPU's in every bit"], &[], &rows)];
    lines.extend(report.absent.iter().map(|why| format!("Not here: {}", why.lines().next().unwrap_or_default())));
    let reasons = report.reasons();
    lines.extend(reasons.iter().take(MAX_REASONS).map(|(label, reason, n)| format!("Left out: {n} on {label}: {reason}")));
    if reasons.len() > MAX_REASONS {
        lines.push(format!("Left out: {} more reasons, shown by --verbose", reasons.len() - MAX_REASONS));
    }
    lines.push(verdict(report));
    lines.join("\n")
}

/// The recordings of other devices, in order of appearance.
fn recorded(report: &Report) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for (label, ..) in &report.recorded_rows {
        if !labels.contains(label) {
            labels.push(label.clone());
        }
    }
    labels
}

/// Says how many comparisons of a device or a recording were equal.
fn counts(rows: &[(String, String, Row)], label: &str) -> String {
    let (mut equal, mut cases, mut left_out) = (0, 0, 0);
    for (_, _, row) in rows.iter().filter(|(l, ..)| l == label) {
        equal += row.equal;
        cases += row.cases;
        left_out += row.skipped.values().map(Vec::len).sum::<usize>();
    }
    let left_out = if left_out == 0 { String::new() } else { format!(", {left_out} left out") };
    if equal == cases { format!("{equal} of {cases}{left_out}") } else { format!("{equal} of {cases}: DIFFERENT{left_out}") }
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
        for k in 0..5 {
            Report::row(&mut report.devices_rows, GPU, "map").skip("map/exp", format!("the device has no type {k}"));
        }
        report.absent.push("backend `cuda` is not available\n  help: install it".to_owned());
        let text = text(&report);
        for part in [
            "the definition",
            "2 of 2, 5 left out",
            H200,
            "Not here: backend `cuda` is not available\n",
            "Left out: 1 on wgpu: a GPU: the device has no type 2\n",
            "Left out: 2 more reasons, shown by --verbose\n",
            "Proven: 2 patterns return the same bits on the 2 devices of this machine, and those that the GPUs above returned elsewhere: 4 \
             comparisons, all equal (41 s).",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        assert!(text.lines().count() <= 16, "{text}");
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
        assert!(text.contains("Proven: This machine has the CPU only, on which 1 patterns return the bits"), "{text}");
    }
}
