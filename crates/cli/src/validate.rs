//! `isowarp validate`: every pattern on every device against the CPU definition and the recorded digests.

use crate::args::ValidateArgs;
use crate::failure::{Failure, Result};
use crate::progress::Progress;
use crate::table;
use isowarp_conformance::{Level, Options, recorded, run};

/// Runs the conformance suite and prints its report; an error if any bit differs.
pub(crate) fn validate(args: &ValidateArgs) -> Result {
    let level = if args.full { Level::Full } else { Level::Quick };
    let recordings = recorded::built_in().map_err(|e| Failure::failed(format!("the recorded digests cannot be read: {e}")))?;
    let options = Options { level, patterns: args.patterns.clone(), narrow: true, recordings, ..Options::default() };
    let mut progress: Option<Progress> = None;
    let report = run(&options, |_, all, case, _| {
        let bar = progress.get_or_insert_with(|| Progress::new("validating", all as u64));
        bar.say(case);
        bar.advance(1);
    })?
    .report;
    drop(progress);
    println!("{}", if args.json { table::json(&report)? } else { report.text() });
    if report.equal() + report.different() == 0 && !args.json {
        println!("nothing was compared: this machine has the CPU only, and no recorded digests fit");
    }
    match report.different() {
        0 => Ok(()),
        n => Err(Failure::with_help(format!("{n} comparisons differ"), "the table above names the first case of each pattern")),
    }
}

/// The quick run of the main job.
pub(crate) fn quick() -> Result {
    validate(&ValidateArgs { quick: true, full: false, patterns: Vec::new(), json: false })
}
