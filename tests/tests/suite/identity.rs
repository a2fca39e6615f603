//! Identity: the quick part of the table on every device of this machine, against the CPU definition and the recorded digests; a test a pattern.

use isowarp_conformance::{Level, Options, recorded, run};
use std::time::Duration;

fn identical(pattern: &str) {
    let backends = std::env::var(crate::common::DEVICES).ok().map(|n| n.split(',').map(str::to_owned).collect()).unwrap_or_default();
    let options = Options {
        level: Level::Quick,
        patterns: vec![pattern.to_owned()],
        backends,
        recordings: recorded::built_in().expect("the recordings can be read"),
        // The runner has a thread for each test already.
        jobs: 1,
        ..Options::default()
    };
    let devices = crate::common::devices().len();
    let report = run(&options, |_, _, _, _| ()).expect("the devices that were asked for are here").report;
    println!("{}", report.text());
    assert!(report.devices.len() >= devices, "every device took part");
    assert_eq!(report.different(), 0, "{}", report.text());
}

#[test]
fn memory_is_the_same_on_every_device() {
    identical("memory");
}

#[test]
fn map_is_the_same_on_every_device() {
    identical("map");
}

#[test]
fn elementary_functions_are_the_same_on_every_device() {
    identical("elementary");
}

#[test]
fn textbook_kernels_are_the_same_on_every_device() {
    identical("examples");
}

#[test]
fn reduce_is_the_same_on_every_device() {
    identical("reduce");
}

#[test]
fn scan_is_the_same_on_every_device() {
    identical("scan");
}

#[test]
fn histogram_is_the_same_on_every_device() {
    identical("histogram");
}

#[test]
fn atomics_are_the_same_on_every_device() {
    identical("atomics");
}

#[test]
fn groups_are_the_same_on_every_device() {
    identical("groups");
}

#[test]
fn segments_are_the_same_on_every_device() {
    identical("segmented");
}

#[test]
fn reductions_by_key_are_the_same_on_every_device() {
    identical("by_key");
}

#[test]
fn merge_is_the_same_on_every_device() {
    identical("merge");
}

#[test]
fn sort_is_the_same_on_every_device() {
    identical("sort");
}

#[test]
fn sorts_and_merges_by_an_order_are_the_same_on_every_device() {
    identical("sort_by");
    identical("merge_by");
}

#[test]
fn rungs_of_reduce_are_the_same_on_every_device() {
    identical("reduce_variants");
}

#[test]
fn algorithms_of_scan_are_the_same_on_every_device() {
    identical("scan_variants");
}

#[test]
fn textbooks_sorts_are_the_same_on_every_device() {
    identical("sort_variants");
}

#[test]
fn rungs_of_histogram_are_the_same_on_every_device() {
    identical("histogram_variants");
}

#[test]
fn rungs_of_merge_are_the_same_on_every_device() {
    identical("merge_variants");
}

#[test]
fn select_is_the_same_on_every_device() {
    identical("select");
}

#[test]
fn filter_is_the_same_on_every_device() {
    identical("filter");
}

#[test]
fn a_pattern_without_cases_is_an_error_that_names_the_patterns() {
    let options = Options { patterns: vec!["sacn".to_owned()], ..Options::default() };
    let error = run(&options, |_, _, _, _| ()).expect_err("there is no such pattern").to_string();
    assert!(error.contains("`sacn` has no cases") && error.contains("scan"), "{error}");
}

#[test]
fn a_run_without_time_begins_no_case_and_says_so() {
    let options = |time| Options { patterns: vec!["map".to_owned()], backends: vec!["cpu".to_owned()], time, ..Options::default() };
    let report = run(&options(Some(Duration::ZERO)), |_, _, _, _| ()).expect("the CPU is here").report;
    assert_eq!((report.equal(), report.different()), (0, 0));
    let all = run(&options(Some(Duration::from_secs(3600))), |_, _, _, _| ()).expect("the CPU is here");
    assert_eq!((all.report.not_begun, all.recordings[0].cases.len()), (0, report.not_begun as usize));
}
