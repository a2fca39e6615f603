//! Output of the command: everything that goes to standard output or standard error as text.

use crate::failure::{Failure, Result};
use std::fmt::Display;
use std::io::{self, Write};

/// Says something on standard output, and ends the line. An error is that of a full disk, or [`Failure::Closed`] where nobody reads any more.
pub(crate) fn say(text: impl Display) -> Result {
    line(io::stdout().lock(), text).map_err(|e| Failure::stream("write standard output", &e))
}

/// The same on standard error, for what was asked for while standard output carries data.
pub(crate) fn say_beside(text: impl Display) -> Result {
    line(io::stderr().lock(), text).map_err(|e| Failure::stream("write standard error", &e))
}

/// Says what went wrong. Where that cannot be said, the exit status alone says it.
pub(crate) fn complain(text: impl Display) {
    let _ = line(io::stderr().lock(), text);
}

fn line(mut to: impl Write, text: impl Display) -> io::Result<()> {
    writeln!(to, "{text}")?;
    to.flush()
}
