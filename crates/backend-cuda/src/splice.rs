//! Fills the holes of a PTX template with an op's own PTX.
//!
//! A kernel leaves each hole as an inline-asm comment, in which the compiler has filled the registers:
//!
//! ```text
//! // @op.combine %r5, %r3, %r4;
//! ```
//!
//! The line is replaced by the body that a generator returns for those registers. Entries other than the asked one are dropped, because the
//! driver would compile them too.

use isowarp_core::error::{Error, Result};
use std::ops::Range;

/// A hole as it stands in the template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site<'a> {
    /// The hole's name, without the `@op.` prefix.
    pub name: &'a str,
    /// The operands in the order of the `asm` statement: outputs first.
    pub regs: Vec<&'a str>,
    /// The entry that the hole lies in.
    pub entry: &'a str,
    /// The entry's by-value parameter, from which leaf pointers are read.
    pub param: &'a str,
    /// Position among the entry's holes: a kernel that is unrolled has many of one name.
    pub index: usize,
}

/// A generator for the holes of one name.
#[derive(Clone, Copy)]
pub struct Fill<'a> {
    /// The hole's name, without the `@op.` prefix.
    pub name: &'a str,
    /// Returns the PTX statements that take the hole's place, in braces where they declare registers or labels.
    pub body: &'a dyn Fn(&Site<'_>) -> Result<String>,
}

/// Why a template could not be filled. Each is a defect of the kernel or of its driver, not of the user's input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SpliceError {
    /// The template has no such entry.
    NoEntry {
        /// The entry asked for.
        entry: String,
        /// The entries there.
        found: Vec<String>,
    },
    /// The template has a hole that nobody fills.
    UnknownHole {
        /// The hole's name.
        hole: String,
    },
    /// A fill was given for a hole that the entry does not have.
    MissingHole {
        /// The hole's name.
        hole: String,
        /// The holes there.
        found: Vec<String>,
    },
    /// A hole's line is not `// @op.NAME operands;`.
    Malformed {
        /// The line.
        line: String,
    },
    /// The template's braces do not match.
    Unbalanced,
    /// The generator refused.
    Body {
        /// The hole's name.
        hole: String,
        /// The generator's reason.
        error: Box<Error>,
    },
}

impl std::fmt::Display for SpliceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoEntry { entry, found } => write!(f, "no entry `{entry}` (found {found:?})"),
            Self::UnknownHole { hole } => write!(f, "nothing fills the hole `{hole}`"),
            Self::MissingHole { hole, found } => write!(f, "the kernel has no hole `{hole}` (found {found:?})"),
            Self::Malformed { line } => write!(f, "malformed hole: `{line}`"),
            Self::Unbalanced => f.write_str("unbalanced braces"),
            Self::Body { hole, error } => write!(f, "hole `{hole}`: {error}"),
        }
    }
}

impl std::error::Error for SpliceError {}

impl SpliceError {
    /// The error of the pattern that asked: the generator's own, or a kernel that does not compile.
    #[must_use]
    pub fn into_error(self, kernel: &str) -> Error {
        match self {
            Self::Body { error, .. } => *error,
            other => Error::Compile { kernel: kernel.to_owned(), log: other.to_string() },
        }
    }
}

const MARK: &str = "// @op.";

/// Text at the start of a line where an entry begins.
const ENTRY: &str = "\n.visible .entry ";

/// Returns the text of a module with one entry: what stands before all of them, and that one. `None` without such an entry.
pub(crate) fn cut(text: &str, entry: &str) -> Option<String> {
    let first = text.find(ENTRY)? + 1;
    let named = |rest: &str| rest.strip_prefix(entry).is_some_and(|rest| rest.trim_start().starts_with('('));
    let (start, _) = text.match_indices(ENTRY).find(|(at, mark)| named(&text[at + mark.len()..]))?;
    let own = &text[start + 1..];
    Some([&text[..first], own.find(ENTRY).map_or(own, |end| &own[..=end])].concat())
}

/// Names of the holes in a text, each once.
pub(crate) fn holes(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for hole in text.lines().filter_map(|line| line.trim().strip_prefix(MARK)) {
        let name = hole.split([' ', ';']).next().unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns `template` with only `entry` in it and every hole of that entry filled.
///
/// # Errors
/// A [`SpliceError`] when the entry is missing, or holes and fills do not match one to one.
pub fn splice(template: &str, entry: &str, fills: &[Fill<'_>]) -> Result<String, SpliceError> {
    let entries = find_entries(template)?;
    let Some(kept) = entries.iter().find(|found| found.name == entry) else {
        let found = entries.iter().map(|found| found.name.to_owned()).collect();
        return Err(SpliceError::NoEntry { entry: entry.to_owned(), found });
    };
    let mut out = String::with_capacity(template.len());
    let mut from = 0;
    for other in &entries {
        out.push_str(&template[from..other.span.start]);
        if other.name == kept.name {
            fill(&mut out, &template[other.span.clone()], kept.name, fills)?;
        }
        from = other.span.end;
    }
    out.push_str(&template[from..]);
    Ok(out)
}

/// Copies an entry to `out` with its holes filled.
fn fill(out: &mut String, text: &str, entry: &str, fills: &[Fill<'_>]) -> Result<(), SpliceError> {
    let mut seen: Vec<&str> = Vec::new();
    let mut index = 0;
    let param = first_parameter(text);
    for line in text.split_inclusive('\n') {
        let Some(hole) = line.trim().strip_prefix(MARK) else {
            out.push_str(line);
            continue;
        };
        let site = Site { param, index, ..parse_site(hole, entry)? };
        let Some(fill) = fills.iter().find(|fill| fill.name == site.name) else {
            return Err(SpliceError::UnknownHole { hole: site.name.to_owned() });
        };
        let body = (fill.body)(&site).map_err(|error| SpliceError::Body { hole: site.name.to_owned(), error: Box::new(error) })?;
        out.push_str(&body);
        if !seen.contains(&site.name) {
            seen.push(site.name);
        }
        index += 1;
    }
    match fills.iter().find(|fill| !seen.contains(&fill.name)) {
        Some(unused) => {
            Err(SpliceError::MissingHole { hole: unused.name.to_owned(), found: seen.into_iter().map(str::to_owned).collect() })
        }
        None => Ok(()),
    }
}

/// Parses `NAME operands;`.
fn parse_site<'a>(hole: &'a str, entry: &'a str) -> Result<Site<'a>, SpliceError> {
    let malformed = || SpliceError::Malformed { line: format!("{MARK}{hole}") };
    let statement = hole.strip_suffix(';').ok_or_else(malformed)?;
    let (name, operands) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
    let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    let operands = operands.trim();
    let regs: Vec<&str> = if operands.is_empty() { Vec::new() } else { operands.split(',').map(str::trim).collect() };
    if !named || regs.iter().any(|reg| reg.is_empty() || reg.contains(char::is_whitespace)) {
        return Err(malformed());
    }
    Ok(Site { name, regs, entry, param: "", index: 0 })
}

/// The name of an entry's first parameter; empty where it has none.
fn first_parameter(entry: &str) -> &str {
    let list = entry.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(list, _)| list);
    let first = list.split(',').next().unwrap_or_default();
    first.split('[').next().and_then(|declared| declared.split_whitespace().last()).unwrap_or_default()
}

struct Found<'a> {
    name: &'a str,
    /// From the linkage directive to the closing brace.
    span: Range<usize>,
}

/// The entry points of a module, in order.
fn find_entries(text: &str) -> Result<Vec<Found<'_>>, SpliceError> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    // Where the present top-level statement starts, and the entry that it declares.
    let mut start = None;
    let mut entry = None;
    let mut scan = Scanner { text, at: 0 };
    while let Some((at, token)) = scan.next_token() {
        match token {
            "{" => depth += 1,
            "}" => {
                depth = depth.checked_sub(1).ok_or(SpliceError::Unbalanced)?;
                if depth == 0 {
                    if let (Some(name), Some(start)) = (entry.take(), start) {
                        found.push(Found { name, span: start..at + 1 });
                    }
                    start = None;
                }
            }
            // Module directives (.version, .target, ...) end with the line instead; an entry's linkage is found below.
            ";" if depth == 0 => start = None,
            ".entry" if depth == 0 => {
                start = start.or(Some(at));
                entry = scan.next_token().map(|(_, name)| name);
            }
            ".visible" | ".weak" | ".extern" | ".common" if depth == 0 => start = Some(at),
            _ => {}
        }
    }
    if depth == 0 { Ok(found) } else { Err(SpliceError::Unbalanced) }
}

/// Cuts PTX into words and punctuation, skipping comments and strings.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn next_token(&mut self) -> Option<(usize, &'a str)> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            let rest = &self.text[self.at..];
            match byte {
                b'/' if rest.starts_with("//") => self.skip_past(rest, "\n"),
                b'/' if rest.starts_with("/*") => self.skip_past(rest, "*/"),
                b'"' => {
                    self.at += 1;
                    self.skip_past(&self.text[self.at..], "\"");
                }
                _ if is_word(byte) => {
                    let start = self.at;
                    while bytes.get(self.at).is_some_and(|&byte| is_word(byte)) {
                        self.at += 1;
                    }
                    return Some((start, &self.text[start..self.at]));
                }
                b'{' | b'}' | b';' => {
                    self.at += 1;
                    return Some((self.at - 1, &self.text[self.at - 1..self.at]));
                }
                _ => self.at += rest.chars().next().map_or(1, char::len_utf8),
            }
        }
    }

    fn skip_past(&mut self, rest: &str, end: &str) {
        self.at += rest.find(end).map_or(rest.len(), |found| found + end.len());
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$' | b'%')
}

#[cfg(test)]
#[path = "splice_tests.rs"]
mod tests;
