//! The rates as one picture: a small chart for each pattern, a line for each device.

use super::{Row, power};
use crate::failure::{Failure, Result};
use plotters::prelude::*;

const COLUMNS: usize = 3;
const CHART: (u32, u32) = (420, 300);
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// An SVG of GB/s over elements, both axes logarithmic.
pub(crate) fn svg(rows: &[Row]) -> Result<String> {
    let mut text = String::new();
    draw(rows, &mut text).map_err(|e| Failure::failed(format!("cannot draw the plot: {e}"), "leave --plot out, or measure other sizes"))?;
    Ok(text)
}

type Drawn<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The different values of a key, in order of appearance.
fn distinct<'a, K: PartialEq>(rows: &'a [Row], key: impl Fn(&'a Row) -> K) -> Vec<K> {
    let mut all = Vec::new();
    for r in rows {
        let k = key(r);
        if !all.contains(&k) {
            all.push(k);
        }
    }
    all
}

fn draw(rows: &[Row], text: &mut String) -> Drawn {
    let patterns = distinct(rows, |r| r.pattern);
    let devices = distinct(rows, |r| (r.backend, r.device.as_str()));
    let columns = COLUMNS.min(patterns.len().max(1));
    let lines = patterns.len().div_ceil(columns).max(1);
    let root = SVGBackend::with_string(text, (CHART.0 * columns as u32, CHART.1 * lines as u32)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, pattern) in root.split_evenly((lines, columns)).iter().zip(&patterns) {
        let of_pattern: Vec<&Row> = rows.iter().filter(|r| r.pattern == *pattern).collect();
        chart(area, pattern, &of_pattern, &devices)?;
    }
    root.present()?;
    Ok(())
}

fn chart<DB: DrawingBackend>(
    area: &DrawingArea<DB, plotters::coord::Shift>,
    pattern: &str,
    rows: &[&Row],
    devices: &[(&str, &str)],
) -> Drawn
where
    DB::ErrorType: 'static,
{
    let x = |r: &Row| r.elements.max(1) as f64;
    let y = |r: &Row| r.gb_per_second.max(1e-6);
    let low = |f: &dyn Fn(&Row) -> f64| rows.iter().map(|r| f(r)).fold(f64::INFINITY, f64::min) / 1.5;
    let high = |f: &dyn Fn(&Row) -> f64| rows.iter().map(|r| f(r)).fold(0.0, f64::max) * 1.5;
    let mut chart = ChartBuilder::on(area)
        .caption(pattern, ("sans-serif", 16))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(54)
        .build_cartesian_2d((low(&x)..high(&x)).log_scale(), (low(&y)..high(&y)).log_scale())?;
    chart.configure_mesh().x_desc("elements").y_desc("GB/s").x_labels(5).x_label_formatter(&|v| power(v.round() as u64)).draw()?;
    for ((backend, name), colour) in devices.iter().zip(COLOURS.iter().cycle()) {
        let mut points: Vec<(f64, f64)> =
            rows.iter().filter(|r| r.backend == *backend && r.device == *name).map(|r| (x(r), y(r))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        chart.draw_series(points.iter().map(|&p| Circle::new(p, 3, colour.filled())))?;
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(format!("{backend} ({name})"))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .border_style(BLACK.mix(0.2))
        .background_style(WHITE.mix(0.8))
        .position(SeriesLabelPosition::LowerRight)
        .draw()?;
    Ok(())
}
