//! Results as one Markdown table and one drawing.

use crate::results::{FirstCall, Machine, Measured, Results};
use plotters::prelude::*;
use std::fmt::Write as _;

/// The head of the lines that a run prints while it measures.
pub const HEADER: &str =
    "pattern              dtype          n  device us   GB/s   end-to-end us  host us  batch  1st, inputs there, ms  checked";

/// One figure in a line of text.
#[must_use]
pub fn line(m: &Measured) -> String {
    let first = m.first_after_inputs_s.map_or_else(String::new, |s| format!("{:.1}", s * 1e3));
    let checked: Vec<String> = m.checked.iter().map(|(with, equal)| format!("{with}{}", if *equal { "=" } else { " DIFFERENT" })).collect();
    format!(
        "{:<20} {:<5} {:>10} {:>10.2} {:>6.0} {:>15.1} {:>8} {:>6} {:>22}  {}",
        m.name,
        m.dtype,
        size(m.n),
        m.device_s * 1e6,
        m.bytes_per_s / 1e9,
        m.end_to_end_s * 1e6,
        host(m),
        m.batch,
        first,
        checked.join(" ")
    )
}

fn host(m: &Measured) -> String {
    m.host_s.map_or_else(|| "-".to_owned(), |s| format!("{:.2}", s * 1e6))
}

/// A line about a device: what it is, and how long the driver and isowarp took to open it.
#[must_use]
pub fn machine(m: &Machine) -> String {
    let of_which = |own: f64| format!(": {:.0} the driver, {:.0} isowarp", (m.open_s - own) * 1e3, own * 1e3);
    let parts = m.own_open_s.map_or_else(String::new, of_which);
    format!("`{}`: {} ({}), numerics {}, opened in {:.0} ms{parts}", m.backend, m.device, m.driver, m.numerics, m.open_s * 1e3)
}

pub(crate) fn size(n: u64) -> String {
    let side = n.isqrt();
    if n.is_power_of_two() && n.trailing_zeros() != 26 {
        format!("2^{}", n.trailing_zeros())
    } else if side * side == n {
        format!("{side}^2")
    } else {
        n.to_string()
    }
}

/// The table: a row per pattern, element type and size, the backends side by side.
#[must_use]
pub fn markdown(all: &[Results]) -> String {
    let mut text = String::new();
    for m in all.iter().flat_map(|r| &r.machines) {
        let _ = writeln!(text, "- {}", machine(m));
    }
    let backends = distinct(all.iter().flat_map(|r| &r.measured).map(|m| m.backend.as_str()));
    if !backends.is_empty() {
        let _ = writeln!(text, "- {}", how_often(all));
        table(&mut text, all, &backends);
    }
    first_calls(&mut text, all);
    text
}

/// Says how many measurements the medians are of.
fn how_often(all: &[Results]) -> String {
    let counts = distinct(all.iter().flat_map(|r| &r.measured).map(|m| m.samples));
    let one = |n: &usize| match n {
        0 => "as many measurements as criterion took, where end to end is one of many calls that are waited for together".to_owned(),
        n => format!("{n} measurements"),
    };
    format!("medians of {}", counts.iter().map(one).collect::<Vec<_>>().join(" or "))
}

fn table(text: &mut String, all: &[Results], backends: &[&str]) {
    text.push_str("\n| pattern | dtype | n |");
    for b in backends {
        let _ = write!(text, " {b}: device us | GB/s | of copy | end to end us | host us |");
    }
    text.push_str(" outputs |\n|---|---|---|");
    text.push_str(&"---|---|---|---|---|".repeat(backends.len()));
    text.push_str("---|\n");
    for (name, dtype, n) in keys(all) {
        let _ = write!(text, "| {name} | {dtype} | {} |", size(n));
        let mut checked = Vec::new();
        for b in backends {
            match find(all, b, name, dtype, n) {
                Some(m) => {
                    let of_copy = m.of_copy.map_or_else(|| "-".to_owned(), |r| format!("{r:.3}"));
                    let (device, rate, wall) = (m.device_s * 1e6, m.bytes_per_s / 1e9, m.end_to_end_s * 1e6);
                    let _ = write!(text, " {device:.2} | {rate:.0} | {of_copy} | {wall:.1} | {} |", host(m));
                    checked
                        .extend(m.checked.iter().map(|(with, equal)| format!("{b} {} {with}", if *equal { "=" } else { "DIFFERS FROM" })));
                }
                None => text.push_str(" - | - | - | - | - |"),
            }
        }
        let _ = writeln!(text, " {} |", checked.join(", "));
    }
}

/// First calls: the median of those of one pattern and size, and what the same call takes afterwards.
fn first_calls(text: &mut String, all: &[Results]) {
    let calls: Vec<&FirstCall> = all.iter().flat_map(|r| &r.first_calls).collect();
    if calls.is_empty() {
        return;
    }
    let backends = distinct(calls.iter().map(|c| c.backend.as_str()));
    for b in &backends {
        let of = |f: fn(&FirstCall) -> f64| middle(calls.iter().filter(|c| c.backend == *b).map(|c| f(c)).collect()) * 1e3;
        let (driver, own) = (of(|c| c.open_s - c.own_open_s), of(|c| c.own_open_s));
        let _ = writeln!(text, "- `{b}`: a device is opened in {driver:.0} ms by the driver and {own:.0} ms by isowarp, medians");
    }
    text.push_str("\n| first call from host memory | dtype | n |");
    for b in &backends {
        let _ = write!(text, " {b}: first ms | again ms |");
    }
    let _ = writeln!(text, "\n|---|---|---|{}", "---|---|".repeat(backends.len()));
    for (name, dtype, n) in distinct(calls.iter().map(|c| (c.name.as_str(), c.dtype.as_str(), c.n))) {
        let _ = write!(text, "| {name} | {dtype} | {} |", size(n));
        for b in &backends {
            let of: Vec<&&FirstCall> =
                calls.iter().filter(|c| c.backend == *b && (c.name.as_str(), c.dtype.as_str(), c.n) == (name, dtype, n)).collect();
            if of.is_empty() {
                text.push_str(" - | - |");
            } else {
                let ms = |f: fn(&FirstCall) -> f64| middle(of.iter().map(|c| f(c)).collect()) * 1e3;
                let _ = write!(text, " {:.1} | {:.1} |", ms(|c| c.first_s), ms(|c| c.again_s));
            }
        }
        text.push('\n');
    }
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The different ones, in order of appearance.
pub(crate) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut all, v| {
        if !all.contains(&v) {
            all.push(v);
        }
        all
    })
}

pub(crate) fn keys(all: &[Results]) -> Vec<(&str, &str, u64)> {
    distinct(all.iter().flat_map(|r| &r.measured).map(|m| (m.name.as_str(), m.dtype.as_str(), m.n)))
}

pub(crate) fn find<'r>(all: &'r [Results], backend: &str, name: &str, dtype: &str, n: u64) -> Option<&'r Measured> {
    all.iter().flat_map(|r| &r.measured).find(|m| m.backend == backend && m.name == name && m.dtype == dtype && m.n == n)
}

/// The drawing: for each pattern at its largest size, the share of the copy rate, a bar per backend.
///
/// # Errors
/// What the drawing library reports.
pub fn svg(all: &[Results]) -> Result<String, Box<dyn std::error::Error>> {
    let mut bars: Vec<(String, Vec<(String, f64)>)> = Vec::new();
    for (name, dtype, n) in keys(all) {
        let largest = keys(all).iter().filter(|k| (k.0, k.1) == (name, dtype)).map(|k| k.2).max();
        if largest == Some(n) {
            let ratios = all.iter().flat_map(|r| &r.measured).filter(|m| m.name == name && m.dtype == dtype && m.n == n);
            bars.push((format!("{name} {dtype} {}", size(n)), ratios.filter_map(|m| Some((m.backend.clone(), m.of_copy?))).collect()));
        }
    }
    let height = 60 + 26 * bars.len() as u32;
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (900, height)).into_drawing_area();
        root.fill(&WHITE)?;
        let most = bars.iter().flat_map(|b| &b.1).map(|b| b.1).fold(1.0, f64::max) * 1.05;
        let mut chart = ChartBuilder::on(&root)
            .margin(10)
            .caption("Share of the copy rate at the largest size", ("sans-serif", 16))
            .x_label_area_size(24)
            .y_label_area_size(220)
            .build_cartesian_2d(0.0..most, 0.0..bars.len() as f64)?;
        chart.configure_mesh().disable_mesh().disable_y_axis().draw()?;
        let mut seen: Vec<String> = Vec::new();
        for (k, (label, ratios)) in bars.iter().enumerate() {
            let top = (bars.len() - k) as f64;
            let each = 0.8 / ratios.len().max(1) as f64;
            for (j, (backend, ratio)) in ratios.iter().enumerate() {
                let colour = seen.iter().position(|s| s == backend).unwrap_or_else(|| {
                    seen.push(backend.clone());
                    seen.len() - 1
                });
                let high = top - 0.1 - each * j as f64;
                chart.draw_series([Rectangle::new([(0.0, high), (*ratio, high - each)], Palette99::pick(colour).filled())])?;
            }
            let at = chart.backend_coord(&(0.0, top - 0.5));
            root.draw(&Text::new(label.clone(), (12, at.1 - 6), ("sans-serif", 12)))?;
        }
        for (j, backend) in seen.iter().enumerate() {
            root.draw(&Rectangle::new([(700 + 70 * j as i32, 12), (710 + 70 * j as i32, 22)], Palette99::pick(j).filled()))?;
            root.draw(&Text::new(backend.clone(), (714 + 70 * j as i32, 11), ("sans-serif", 12)))?;
        }
        root.present()?;
    }
    Ok(text)
}
