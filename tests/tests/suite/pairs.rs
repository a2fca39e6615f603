//! Pairs of operations and what the fuzzer found, on the CPU, against plain loops that follow the documented rules.

use crate::common::cpu;
use isowarp_conformance::fuzz::Trial;
use isowarp_conformance::patterns::{found, pairs_of_operations};
use isowarp_conformance::report::difference;
use rayon::prelude::*;

/// Describes what differs between the CPU and plain loops.
fn differs(name: &str, trial: &Trial) -> Option<String> {
    let found = difference(&Ok(trial.expected()), &trial.run(&cpu()));
    found.map(|what| format!("{name}: {what}\n  {trial}"))
}

#[test]
fn pairs_of_operations_are_those_of_loops() {
    let all = pairs_of_operations();
    assert!(all.len() > 400, "only {} kernels", all.len());
    let wrong: Vec<String> = all.par_iter().filter_map(|(name, trial)| differs(name, trial)).collect();
    assert!(wrong.is_empty(), "{} differ, the first: {}", wrong.len(), wrong[0]);
}

#[test]
fn what_the_fuzzer_found_is_what_loops_say() {
    for (name, trial) in found() {
        let trial = trial.unwrap_or_else(|e| panic!("{name} in found.txt: {e}"));
        assert_eq!(differs(&name, &trial), None);
        assert_eq!(Trial::parse(&trial.to_string()), Ok(trial), "{name} is read back as it was");
    }
}

/// Names are keys of digests.
#[test]
fn kept_cases_have_names_of_their_own() {
    let mut names: Vec<String> = found().into_iter().map(|(name, _)| name).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all);
}
