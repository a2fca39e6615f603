//! The suite's own program: a difference is found, named, and ends in a status that a script sees.

use isowarp_conformance::recorded::{self, Recording};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const CASE: &str = "memory/overwrite/u32";

fn conformance(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isowarp-conformance")).args(args).output().expect("the program starts")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

fn stdout(run: &Output) -> String {
    String::from_utf8_lossy(&run.stdout).into_owned()
}

/// A folder with what this machine's devices recorded of one case.
fn recorded_here() -> (tempfile::TempDir, Vec<Recording>) {
    let folder = tempfile::tempdir().expect("a folder");
    let run = conformance(&["record", "--pattern", CASE, "--no-narrow", "--out", text(folder.path())]);
    assert!(run.status.success(), "{}{}", stdout(&run), String::from_utf8_lossy(&run.stderr));
    let recordings = recorded::from_path(folder.path()).expect("recordings");
    (folder, recordings)
}

#[test]
fn a_recording_names_its_device_and_driver_and_agrees_with_the_next_run() {
    let (folder, recordings) = recorded_here();
    let cpu = recordings.iter().find(|r| r.backend == "cpu").expect("the CPU's");
    assert!(!cpu.device.is_empty() && cpu.driver.starts_with("isowarp-cpu "));
    for recording in &recordings {
        assert_eq!(recording.cases, cpu.cases, "{}", recording.label());
        assert_eq!(recording.cases.keys().collect::<Vec<_>>(), [CASE]);
    }
    let again = conformance(&["validate", "--full", "--pattern", CASE, "--digests", text(folder.path())]);
    assert_eq!(again.status.code(), Some(0), "{}", stdout(&again));
}

#[test]
fn a_digest_that_differs_is_named_and_fails_the_run() {
    let (folder, mut recordings) = recorded_here();
    let forged = &mut recordings[0];
    forged.cases.insert(CASE.to_owned(), "0".repeat(32));
    forged.write(folder.path()).expect("written");
    let run = conformance(&["validate", "--full", "--pattern", CASE, "--digests", text(folder.path())]);
    assert_eq!(run.status.code(), Some(1), "{}", stdout(&run));
    assert!(stdout(&run).contains(CASE) && stdout(&run).contains(&"0".repeat(32)), "{}", stdout(&run));
    let json = conformance(&["validate", "--full", "--pattern", CASE, "--digests", text(folder.path()), "--json"]);
    assert_eq!(json.status.code(), Some(1));
    serde_json::from_slice::<Value>(&json.stdout).expect("JSON");
}

#[test]
fn a_comparison_with_no_recordings_is_an_error() {
    let empty = tempfile::tempdir().expect("a folder");
    let nowhere = empty.path().join("nowhere");
    std::fs::write(empty.path().join("readme.txt"), "no recording").expect("a file");
    for folder in [empty.path(), &nowhere] {
        let run = conformance(&["validate", "--pattern", CASE, "--digests", text(folder)]);
        assert_eq!(run.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&run.stderr).starts_with("error: "));
    }
    std::fs::write(empty.path().join("broken.json"), "{").expect("a file");
    assert_eq!(conformance(&["validate", "--pattern", CASE, "--digests", text(empty.path())]).status.code(), Some(2));
}

#[test]
fn a_backend_that_was_asked_for_and_is_missing_fails_the_run() {
    let run = conformance(&["validate", "--pattern", CASE, "--backend", "abacus"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("unknown backend `abacus`"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_isowarp-conformance"));
    command.args(["validate", "--pattern", CASE, "--backend", "cuda"]).env("CUDA_VISIBLE_DEVICES", "-1");
    let run = command.output().expect("the program starts");
    assert_eq!(run.status.code(), Some(2), "{}", stdout(&run));
    assert!(String::from_utf8_lossy(&run.stderr).contains("backend `cuda` is not available"));
}

#[test]
fn cases_are_listed_with_the_runs_that_they_belong_to() {
    let run = conformance(&["list"]);
    let list = stdout(&run);
    assert!(run.status.success() && list.lines().any(|l| l == CASE));
    assert!(list.lines().any(|l| l.starts_with("map/above_binding_limit/") && l.ends_with("(full)")));
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_quietly_and_a_full_disk_is_an_error() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let program = || Command::new(env!("CARGO_BIN_EXE_isowarp-conformance"));
    let closed = program().arg("list").stdout(writer).stderr(std::process::Stdio::piped()).output().expect("the program starts");
    assert!(closed.status.success() && closed.stderr.is_empty(), "{closed:?}");
    if let Ok(full) = std::fs::File::options().write(true).open("/dev/full") {
        let full = program().arg("list").stdout(full).stderr(std::process::Stdio::piped()).output().expect("the program starts");
        let said = String::from_utf8_lossy(&full.stderr);
        assert!(full.status.code() == Some(2) && said.starts_with("error: No space left on device"), "{full:?}");
    }
}
