//! Names of `isowarp bench`: the verbs of `isowarp run`, and some of what their expressions and the image filters make.

use crate::run::registry;
use isowarp_benches::{Work, works};
use std::iter;

/// A benchmark by its name on the command line.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
}

/// Benchmarks after those of the verbs; the copy goes before.
const OTHERS: [(&str, &str); 5] =
    [("exp", "map/exp"), ("axpy", "map/axpy"), ("gaussian5", "filter/gaussian5"), ("sobel", "filter/sobel"), ("median", "filter/median3")];

/// Benchmarks that are run where no pattern is named.
pub(super) const USUAL: [&str; 14] =
    ["copy", "map", "exp", "axpy", "reduce", "argmax", "scan", "sort", "merge", "select", "histogram", "gaussian5", "sobel", "median"];

/// Every case, in the order of the table. Floats where floats are usual, else u32: the first benchmark of its name of elements of four bytes.
pub(crate) fn cases() -> Vec<Case> {
    let all = works();
    let verbs = registry::all().map(|verb| (verb.name, verb.bench));
    let found = iter::once(("copy", "copy")).chain(verbs).chain(OTHERS).filter_map(|(name, bench)| {
        let first = |wide: bool| all.iter().find(|work| work.name == bench && (!wide || work.dtype.size_bytes() == 4));
        first(true).or(first(false)).map(|work| Case { name, work: *work })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use isowarp::Device;
    use isowarp_benches::works::Shape;

    #[test]
    fn every_pattern_that_can_be_run_can_be_measured() {
        let names: Vec<&str> = cases().iter().map(|c| c.name).collect();
        for name in registry::all().map(|verb| verb.name).chain(OTHERS.map(|other| other.0)).chain(USUAL) {
            assert!(names.contains(&name), "{name} is not measured");
        }
    }

    #[test]
    fn every_case_runs_at_every_size() {
        let device = Device::open(isowarp::Selector::Cpu).expect("the CPU");
        for n in [1u64, 2, 31, 1000] {
            for case in cases() {
                let n = if case.work.is_square() { n.isqrt().pow(2) } else { n };
                let ready = case.work.ready(&device, &Shape { n, copies: 1, seed: 1 });
                ready.and_then(|ready| ready.round_trip()).unwrap_or_else(|e| panic!("{} of {n}: {e}", case.name));
            }
        }
    }
}
