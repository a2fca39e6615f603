//! Main job of `isowarp`, with no subcommand: shows in a minute and on one screen that this machine's devices return the same bits.

mod photograph;
mod summary;

use crate::failure::Result;
use crate::screen::say;
use crate::validate;
use isowarp_conformance::Level;
use std::time::Duration;

/// Time in which comparisons are begun: with the photograph they take less than a minute, also where a driver has to compile every kernel.
const TIME: Duration = Duration::from_secs(45);

/// Validates, then filters the photograph on every device and compares the results.
pub(crate) fn main_job(verbose: bool) -> Result {
    // Whoever waits sees why, also through a pipe.
    say(format!("isowarp {}: comparing this machine's devices, bit for bit, for up to a minute\n", env!("CARGO_PKG_VERSION")))?;
    let report = validate::compare(Level::Quick, &[], Some(TIME))?;
    if verbose || report.different() > 0 {
        say(format!("{}\n", report.text()))?;
    }
    say(format!("{}\n", summary::text(&report)))?;
    if report.different() > 0 {
        return Err(validate::differs(report.different()));
    }
    photograph::filter_everywhere(verbose)?;
    if !verbose {
        say(format!(
            "\n{}",
            summary::folded("More: `isowarp --verbose` (every pattern), `isowarp validate --full` (every case), `isowarp --help`")
        ))?;
    }
    Ok(())
}
