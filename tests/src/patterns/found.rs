//! Cases that the fuzzer found once, kept: the lines of `fuzz/found.txt`.

use crate::case::{Cases, Target};
use crate::fuzz::Trial;

/// A name and a trial a line, as `isowarp-conformance fuzz` prints them.
const FOUND: &str = include_str!("../fuzz/found.txt");

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for (name, trial) in found() {
        let (needs, line) = (trial.as_ref().map_or_else(|_| Vec::new(), Trial::needs), trial);
        c.add(format!("found/{name}"), move |d| {
            let reason = |reason: &String| isowarp::Error::InvalidArgument { what: "a kept case", reason: reason.clone() };
            line.as_ref().map_err(reason)?.run(d)
        })
        .needs(&needs);
    }
}

/// The kept cases: their names, and what they try, or what is wrong with their line.
#[must_use]
pub fn found() -> Vec<(String, Result<Trial, String>)> {
    let lines = FOUND.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.map(|l| l.split_once(": ").unwrap_or((l, ""))).map(|(name, line)| (name.to_owned(), Trial::parse(line))).collect()
}
