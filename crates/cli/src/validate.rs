//! `isowarp validate`: every pattern on every device against the CPU definition and the recorded digests.

use crate::args::ValidateArgs;
use crate::failure::{Failure, Result};
use crate::progress::Progress;
use crate::screen::say;
use crate::table;
use isowarp_conformance::{Level, Options, Report, recorded, run};
use std::time::Duration;

/// Runs the conformance suite and prints its report; an error if any bit differs.
pub(crate) fn validate(args: &ValidateArgs) -> Result {
    let level = if args.full { Level::Full } else { Level::Quick };
    let report = compare(level, &args.patterns, None)?;
    let mut text = if args.json { table::json(&report)? } else { report.text() };
    if report.equal() + report.different() == 0 && !args.json {
        text += "\nnothing was compared: this machine has the CPU only, and no recorded digests fit";
    }
    let said = say(text);
    match report.different() {
        0 => said,
        // Also where nobody reads the report.
        n => Err(differs(n)),
    }
}

/// Runs the suite, with its progress, for so long where that is said.
pub(crate) fn compare(level: Level, patterns: &[String], time: Option<Duration>) -> Result<Report> {
    let recordings = recorded::built_in().map_err(|e| Failure::defect(format!("the recorded digests cannot be read: {e}")))?;
    let options = Options { level, patterns: patterns.to_vec(), narrow: true, recordings, time, ..Options::default() };
    let progress = Progress::new("opening devices", 0);
    let mut counted = false;
    let ran = run(&options, |_, all, case, _| {
        if !std::mem::replace(&mut counted, true) {
            progress.expect(all as u64);
        }
        progress.say(case);
        progress.advance(1);
    })?;
    Ok(ran.report)
}

/// The failure of a run in which bits differ.
pub(crate) fn differs(comparisons: u32) -> Failure {
    Failure::failed(
        format!("{comparisons} comparisons differ"),
        "the report above names the first case of each pattern; run it alone with --pattern, after updating the device's driver",
    )
}
