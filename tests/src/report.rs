//! Findings of a run, as a table and as data.

use crate::case::Output;
use comfy_table::Table;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use isowarp::{Error, Result};
use serde::Serialize;
use std::collections::BTreeMap;

/// A device that took part.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceLine {
    /// Backend, device and form.
    pub label: String,
    /// Driver or API, with version.
    pub driver: String,
    /// The start-up probe's verdict.
    pub numerics: String,
    /// Method by which `fma` is computed.
    pub fma: String,
}

/// The first case in which two results differed.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The case.
    pub case: String,
    /// Where, and which bits.
    pub what: String,
}

/// One pattern on one device, or compared with one recording.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// Cases compared.
    pub cases: u32,
    /// Of these, equal in every bit.
    pub equal: u32,
    /// Of these, not equal.
    pub different: u32,
    /// Cases left out, by reason.
    pub skipped: BTreeMap<String, Vec<String>>,
    /// The first that differed.
    pub first: Option<Difference>,
    /// Every case that differed.
    pub different_cases: Vec<String>,
    /// Time that the device took, with uploads, compilation and read-back.
    pub seconds: f64,
}

impl Row {
    /// Counts an equal case.
    pub fn equal(&mut self) {
        self.cases += 1;
        self.equal += 1;
    }

    /// Counts a case that differs.
    pub fn different(&mut self, case: &str, what: String) {
        self.cases += 1;
        self.different += 1;
        self.first.get_or_insert_with(|| Difference { case: case.to_owned(), what });
        self.different_cases.push(case.to_owned());
    }

    /// Counts a case that was left out.
    pub fn skip(&mut self, case: &str, reason: String) {
        self.skipped.entry(reason).or_default().push(case.to_owned());
    }
}

/// Findings of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The devices that took part, the CPU first.
    pub devices: Vec<DeviceLine>,
    /// Why others did not.
    pub absent: Vec<String>,
    /// By (device, pattern): compared with the CPU definition.
    pub devices_rows: Vec<(String, String, Row)>,
    /// By (recording, pattern): the CPU's digests compared with those recorded elsewhere.
    pub recorded_rows: Vec<(String, String, Row)>,
    /// By recording, the device that it is of, whatever its form.
    pub machines: BTreeMap<String, String>,
    /// Cases that were not begun in the time that the run had.
    pub not_begun: u32,
    /// Recorded cases that the table no longer has, by recording.
    pub stale: BTreeMap<String, u32>,
    /// Wall time of the whole run.
    pub seconds: f64,
}

impl Report {
    /// The row of a device (or recording) and a pattern.
    pub fn row<'r>(rows: &'r mut Vec<(String, String, Row)>, label: &str, pattern: &str) -> &'r mut Row {
        let at = rows.iter().position(|(l, p, _)| l == label && p == pattern).unwrap_or_else(|| {
            rows.push((label.to_owned(), pattern.to_owned(), Row::default()));
            rows.len() - 1
        });
        &mut rows[at].2
    }

    /// Cases that differed, anywhere.
    #[must_use]
    pub fn different(&self) -> u32 {
        self.all().map(|(_, _, r)| r.different).sum()
    }

    /// Comparisons that were equal.
    #[must_use]
    pub fn equal(&self) -> u32 {
        self.all().map(|(_, _, r)| r.equal).sum()
    }

    fn all(&self) -> impl Iterator<Item = &(String, String, Row)> {
        self.devices_rows.iter().chain(&self.recorded_rows)
    }

    /// The report for people: devices, a row per pattern and device, what was left out and why, the first difference of each row.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec!["Devices:".to_owned()];
        lines.extend(self.devices.iter().map(|d| format!("  {} [{}] numerics {}, fma {}", d.label, d.driver, d.numerics, d.fma)));
        lines.extend(self.absent.iter().map(|a| format!("  not here: {}", a.replace('\n', " "))));
        let mut table = Table::new();
        table.load_style(UTF8_FULL_CONDENSED).set_header([
            "pattern",
            "compared with the CPU definition",
            "cases",
            "equal",
            "different",
            "skipped",
            "seconds",
        ]);
        for (label, pattern, r) in self.all() {
            let skipped: usize = r.skipped.values().map(Vec::len).sum();
            let seconds = if r.seconds == 0.0 { String::new() } else { format!("{:.1}", r.seconds) };
            table.add_row([
                pattern,
                label,
                &r.cases.to_string(),
                &r.equal.to_string(),
                &r.different.to_string(),
                &skipped.to_string(),
                &seconds,
            ]);
        }
        lines.push(table.to_string());
        for (label, reason, n) in self.reasons() {
            lines.push(format!("skipped {n} on {label}: {reason}"));
        }
        lines.extend(self.stale.iter().map(|(label, n)| format!("{n} recorded cases of {label} are not in the table any more")));
        for (label, _, r) in self.all() {
            if let Some(d) = &r.first {
                lines.push(format!("DIFFERENT on {label}, {} cases, first {}: {}", r.different, d.case, d.what));
            }
        }
        let verdict = if self.different() == 0 { "all equal" } else { "DIFFERENT" };
        lines.push(format!("{} comparisons equal, {} different: {verdict} ({:.1} s)", self.equal(), self.different(), self.seconds));
        lines.join("\n")
    }

    /// Why cases were left out: device (or recording), reason, number of cases.
    #[must_use]
    pub fn reasons(&self) -> Vec<(String, String, usize)> {
        let mut sums: BTreeMap<(String, String), usize> = BTreeMap::new();
        for (label, _, r) in self.all() {
            for (reason, cases) in &r.skipped {
                *sums.entry((label.clone(), reason.clone())).or_default() += cases.len();
            }
        }
        sums.into_iter().map(|((label, reason), n)| (label, reason, n)).collect()
    }
}

/// Where two results first differ, in words; `None` if they are the same.
#[must_use]
pub fn difference(expected: &Result<Vec<Output>, Error>, found: &Result<Vec<Output>, Error>) -> Option<String> {
    let (expected, found) = match (expected, found) {
        (Ok(e), Ok(f)) => (e, f),
        (Err(e), Err(f)) if e == f => return None,
        (Err(e), Err(f)) => return Some(format!("expected the error `{e}`, found the error `{f}`")),
        (Err(e), Ok(_)) => return Some(format!("expected the error `{e}`, found values")),
        (Ok(_), Err(f)) => return Some(format!("expected values, found the error `{f}`")),
    };
    if expected == found {
        return None;
    }
    if expected.len() != found.len() {
        return Some(format!("expected {} outputs, found {}", expected.len(), found.len()));
    }
    expected.iter().zip(found).enumerate().find_map(|(k, (e, f))| {
        if e.dtype != f.dtype || e.len() != f.len() {
            return Some(format!("output {k}: expected {} of {}, found {} of {}", e.len(), e.dtype, f.len(), f.dtype));
        }
        let wrong = (0..e.len()).filter(|&i| e.bits(i) != f.bits(i)).count();
        let i = (0..e.len()).find(|&i| e.bits(i) != f.bits(i))?;
        let digits = 2 * e.dtype.size_bytes() as usize;
        let (a, b) = (e.bits(i), f.bits(i));
        Some(format!(
            "output {k}, index {i} of {}: expected {a:#0w$x}, found {b:#0w$x} ({}; {wrong} elements differ)",
            e.len(),
            e.dtype,
            w = digits + 2
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use isowarp::element::DType;

    fn output(words: &[u32]) -> Result<Vec<Output>> {
        Ok(vec![Output { dtype: DType::U32, bytes: bytemuck::cast_slice(words).to_vec() }])
    }

    #[test]
    fn a_difference_names_the_first_place_and_both_bits() {
        assert_eq!(difference(&output(&[1, 2]), &output(&[1, 2])), None);
        let text = difference(&output(&[1, 2, 3]), &output(&[1, 7, 4])).expect("they differ");
        assert_eq!(text, "output 0, index 1 of 3: expected 0x00000002, found 0x00000007 (u32; 2 elements differ)");
        let text = difference(&output(&[1]), &Err(Error::Empty { pattern: "min" })).expect("they differ");
        assert_eq!(text, "expected values, found the error `min of an empty array has no value`");
    }
}
