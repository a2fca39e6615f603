//! Curves of a simulation over the temperature as one picture.

use crate::failure::{Failure, Result};
use isowarp::monte_carlo::Estimate;
use plotters::prelude::*;

const CHART: (u32, u32) = (420, 300);
const BLUE: RGBColor = RGBColor(0, 114, 178);
const NAMES: [&str; 3] = ["|magnetisation|", "energy", "Binder's cumulant"];

/// An SVG of magnetisation, energy and Binder's cumulant with their errors.
pub(super) fn svg(points: &[(f64, [Estimate; 3])]) -> Result<String> {
    let mut text = String::new();
    draw(points, &mut text).map_err(|e| Failure::failed(format!("cannot draw the plot: {e}"), "leave --plot out"))?;
    Ok(text)
}

fn draw(points: &[(f64, [Estimate; 3])], text: &mut String) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, (CHART.0 * 3, CHART.1)).into_drawing_area();
    root.fill(&WHITE)?;
    let temperatures = range(points.iter().map(|p| p.0));
    for (k, (area, name)) in root.split_evenly((1, 3)).iter().zip(NAMES).enumerate() {
        // Of one state there is no error.
        let ends = |of: &Estimate| if of.standard_error.is_finite() { of.standard_error } else { 0.0 };
        let values = range(points.iter().flat_map(|(_, of)| [of[k].mean - ends(&of[k]), of[k].mean + ends(&of[k])]));
        let mut chart = ChartBuilder::on(area)
            .caption(name, ("sans-serif", 16))
            .margin(8)
            .x_label_area_size(34)
            .y_label_area_size(54)
            .build_cartesian_2d(temperatures.clone(), values)?;
        chart.configure_mesh().x_desc("temperature").x_labels(6).draw()?;
        chart.draw_series(LineSeries::new(points.iter().map(|(t, of)| (*t, of[k].mean)), BLUE.stroke_width(1)))?;
        chart.draw_series(points.iter().map(|(t, of)| Circle::new((*t, of[k].mean), 2, BLUE.filled())))?;
        chart.draw_series(
            points.iter().map(|(t, of)| PathElement::new([(*t, of[k].mean - ends(&of[k])), (*t, of[k].mean + ends(&of[k]))], BLUE)),
        )?;
    }
    root.present()?;
    Ok(())
}

/// Least and greatest of finite values, and some room.
fn range(values: impl Iterator<Item = f64>) -> core::ops::Range<f64> {
    let (low, high) = values.filter(|x| x.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
    let room = ((high - low) * 0.05).max(1e-6);
    low - room..high + room
}
