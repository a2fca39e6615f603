//! `isowarp validate`: every pattern on every device against the CPU definition and the recorded digests.

use crate::args::ValidateArgs;
use crate::failure::{Failure, Result};
use crate::progress::Progress;
use crate::table;
use isowarp_conformance::{Level, Options, recorded, run};

/// Runs the conformance suite and prints its report; an error if any bit differs.
pub(crate) fn validate(args: &ValidateArgs) -> Result {
    let level = if args.full { Level::Full } else { Level::Quick };
    let recordings = recorded::built_in().map_err(|e| Failure::defect(format!("the recorded digests cannot be read: {e}")))?;
    let options = Options { level, patterns: args.patterns.clone(), narrow: true, recordings, ..Options::default() };
    let progress = Progress::new("opening devices", 0);
    let mut counted = false;
    let report = run(&options, |_, all, case, _| {
        if !std::mem::replace(&mut counted, true) {
            progress.expect(all as u64);
        }
        progress.say(case);
        progress.advance(1);
    })?
    .report;
    drop(progress);
    println!("{}", if args.json { table::json(&report)? } else { report.text() });
    if report.equal() + report.different() == 0 && !args.json {
        println!("nothing was compared: this machine has the CPU only, and no recorded digests fit");
    }
    match report.different() {
        0 => Ok(()),
        n => Err(Failure::failed(
            format!("{n} comparisons differ"),
            "the report above names the first case of each pattern; run it alone with --pattern, after updating the device's driver",
        )),
    }
}

/// The quick run of the main job.
pub(crate) fn quick() -> Result {
    validate(&ValidateArgs { quick: true, full: false, patterns: Vec::new(), json: false })
}
