//! What `isowarp` does with no subcommand: shows in a minute and on one screen that this machine's devices return the same bits.

mod photograph;
mod summary;

use crate::failure::Result;
use crate::validate;
use isowarp_conformance::Level;
use std::io::Write as _;

/// Validates, then filters the photograph on every device and compares the results.
pub(crate) fn main_job(verbose: bool) -> Result {
    println!("isowarp {}: comparing the devices of this machine, bit for bit, for up to a minute\n", env!("CARGO_PKG_VERSION"));
    // Whoever waits sees why, also through a pipe.
    let _ = std::io::stdout().flush();
    let report = validate::compare(Level::Quick, &[])?;
    if verbose || report.different() > 0 {
        println!("{}\n", report.text());
    }
    println!("{}\n", summary::text(&report));
    if report.different() > 0 {
        return Err(validate::differs(report.different()));
    }
    photograph::filter_everywhere(verbose)?;
    if !verbose {
        println!("\nMore: `isowarp --verbose` (every pattern), `isowarp validate --full` (every case), `isowarp --help`");
    }
    Ok(())
}
