//! `isowarp devices`, `bench`, `validate`, and the main job.

mod common;

use common::{backends, isowarp, stderr, stdout, succeeded};
use std::fs;

fn json(args: &[&str]) -> serde_json::Value {
    let run = isowarp(args);
    succeeded(&run);
    serde_json::from_slice(&run.stdout).expect("JSON")
}

#[test]
fn devices_lists_the_cpu_with_its_verdict() {
    let run = isowarp(&["devices"]);
    succeeded(&run);
    let text = stdout(&run);
    assert!(text.contains("| cpu ") && text.contains("strict") && text.contains("f64"), "{text}");
    let report = json(&["devices", "--json"]);
    let devices = report["devices"].as_array().expect("a list");
    let cpu = devices.iter().find(|d| d["backend"] == "cpu").expect("the CPU");
    assert_eq!(cpu["numerics"], "strict");
    assert!(cpu.get("copy_gb_per_second").is_none(), "only --measure measures");
}

#[test]
fn devices_are_measured_when_asked() {
    let report = json(&["devices", "--measure", "--json"]);
    let devices = report["devices"].as_array().expect("a list");
    assert!(!devices.is_empty() && devices.iter().all(|d| d["copy_gb_per_second"].as_f64().is_some_and(|rate| rate > 0.0)), "{report}");
    for key in ["backend", "device", "driver", "dtypes", "subgroup", "max_buffer_bytes", "max_binding_bytes", "numerics", "fma"] {
        assert!(devices.iter().all(|d| !d[key].is_null()), "{key}");
    }
    let run = isowarp(&["devices", "--measure"]);
    succeeded(&run);
    assert!(stdout(&run).contains("copy GB/s"), "{}", stdout(&run));
}

#[test]
fn devices_names_every_adapter_of_the_machine() {
    let report = json(&["devices", "--json"]);
    let found: Vec<&str> = report["devices"].as_array().expect("a list").iter().filter_map(|d| d["backend"].as_str()).collect();
    for backend in backends() {
        assert!(found.contains(&backend.as_str()), "{backend} is not among {found:?}");
    }
    // Devices that are not there are named with the reason.
    let missing = report["unavailable"].as_array().expect("a list");
    assert!(found.contains(&"cuda") || missing.iter().any(|m| m.as_str().is_some_and(|m| m.contains("`cuda`"))), "{report}");
}

#[test]
fn bench_measures_the_patterns_asked_for() {
    let dir = tempfile::tempdir().expect("a directory");
    let plot = dir.path().join("plot.svg");
    let args =
        ["bench", "copy", "reduce", "sobel", "--sizes", "2^10,1000", "--backend", "cpu", "--json", "--plot", plot.to_str().expect("text")];
    let rows = json(&args);
    let rows = rows.as_array().expect("a list");
    assert_eq!(rows.len(), 6);
    assert!(
        rows.iter()
            .all(|r| r["device_seconds"].as_f64().is_some_and(|s| s > 0.0) && r["end_to_end_seconds"].as_f64().is_some_and(|s| s > 0.0))
    );
    assert_eq!(rows[5]["elements"], 961, "the largest square image of at most 1000 pixels");
    let svg = fs::read_to_string(plot).expect("the plot");
    assert!(svg.starts_with("<svg") && svg.contains("sobel") && svg.contains("GB/s"));
    let table = isowarp(&["bench", "map", "--sizes", "64", "--backend", "cpu"]);
    succeeded(&table);
    assert!(stdout(&table).contains("end to end"));
}

#[test]
fn bench_refuses_what_it_does_not_know() {
    for (args, what) in [
        (&["bench", "sorts"][..], "unknown pattern `sorts`; known: copy, map, zip, generate, cast, reduce, sum, ulp, argmin"),
        (&["bench", "--sizes", "2^x"], "`2^x` is no size"),
        (&["bench", "--backend", "gpu"], "unknown backend `gpu`"),
        (&["bench", "copy", "--plot", "/nowhere/at/all.svg"], "cannot write"),
    ] {
        let run = isowarp(args);
        assert!(!run.status.success() && stderr(&run).contains(what) && stderr(&run).contains("\n  help: "), "{}", stderr(&run));
    }
}

#[test]
fn validate_refuses_a_pattern_without_cases() {
    let run = isowarp(&["validate", "--pattern", "nonsense"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(stderr(&run).contains("`nonsense` has no cases"), "{}", stderr(&run));
}

#[test]
fn validate_reports_as_json() {
    for level in ["--quick", "--full"] {
        let report = json(&["validate", level, "--pattern", "memory/overwrite/u32", "--json"]);
        assert!(report["devices"].as_array().is_some_and(|d| d.len() >= backends().len()), "{report}");
    }
    let table = isowarp(&["validate", "--pattern", "memory/overwrite/u32", "--pattern", "memory/overwrite/f32"]);
    succeeded(&table);
    assert!(stdout(&table).contains("memory"), "{}", stdout(&table));
    assert_eq!(isowarp(&["validate", "--quick", "--full"]).status.code(), Some(2), "one or the other");
}

#[test]
fn a_bench_that_measures_nothing_fails_and_draws_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let plot = dir.path().join("plot.svg");
    fs::write(&plot, "as it was").expect("a file");
    let run = isowarp(&["bench", "copy", "--sizes", "2^45", "--backend", "cpu", "--plot", plot.to_str().expect("text")]);
    assert_eq!(run.status.code(), Some(1));
    assert!(stderr(&run).contains("nothing was measured: copy of"), "{}", stderr(&run));
    assert_eq!(fs::read_to_string(&plot).expect("the file"), "as it was");
}
