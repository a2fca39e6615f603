//! Tables for people, JSON for programs.

use crate::failure::{Failure, Result};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

/// A table with a header; the columns listed in `numbers` are aligned to the right.
pub(crate) fn table(header: &[&str], numbers: &[usize], rows: &[Vec<String>]) -> String {
    let mut t = Table::new();
    t.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Dynamic).set_header(header);
    for row in rows {
        t.add_row(row.iter().enumerate().map(|(k, text)| {
            let alignment = if numbers.contains(&k) { CellAlignment::Right } else { CellAlignment::Left };
            Cell::new(text).set_alignment(alignment)
        }));
    }
    t.to_string()
}

/// Rows as one JSON array, indented.
pub(crate) fn json(rows: &(impl Serialize + ?Sized)) -> Result<String> {
    serde_json::to_string_pretty(rows).map_err(|e| Failure::defect(format!("cannot write JSON: {e}")))
}

/// Bytes with a binary unit.
pub(crate) fn bytes(n: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{value:.1} {}", units[unit]) }
}

/// Seconds with a unit that leaves a few digits before the point.
pub(crate) fn seconds(s: f64) -> String {
    match s {
        _ if s >= 1.0 => format!("{s:.2} s"),
        _ if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        _ => format!("{:.1} us", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_readable_units() {
        assert_eq!([bytes(0), bytes(1023), bytes(1536), bytes(3 << 40)], ["0 B", "1023 B", "1.5 KiB", "3.0 TiB"]);
        assert_eq!([seconds(2.5), seconds(0.0021), seconds(4.2e-6)], ["2.50 s", "2.10 ms", "4.2 us"]);
    }
}
