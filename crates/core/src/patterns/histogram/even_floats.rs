//! Even bins of floats: their edges, which define them, and what finds a sample's bin with few looks at these.

use super::sample::{Form, Next, Rule, Sample, check_order};
use crate::element::{DType, Float, Ty};
use crate::error::{Error, Result};
use crate::ir::{Expr, branch, select};
use half::f16;

/// The edges of `bins` bins: `lower + k * ((upper - lower) / bins)` in `f64`, each operation rounded, and `upper` as the last one; then rounded to the type
/// of which the samples are. So NumPy's `linspace` has them, and `histogram` with it.
fn edges([lower, upper]: [f64; 2], bins: u32, stored: DType) -> Vec<f64> {
    let step = (upper - lower) / f64::from(bins);
    // Where bins are narrower than the numbers are dense a rounded edge may lie above the last one.
    let inner = (0..bins).map(|k| (f64::from(k) * step + lower).min(upper));
    inner.chain([upper]).map(|edge| rounded(edge, stored)).collect()
}

pub(super) fn rounded(edge: f64, stored: DType) -> f64 {
    match stored {
        DType::F16 => nearest_f16(edge).into(),
        DType::F32 => (edge as f32).into(),
        _ => edge,
    }
}

/// The nearest `f16`, of two the even one. `half` converts by way of an `f32` on some processors, which rounds twice.
fn nearest_f16(x: f64) -> f16 {
    let nearest = x as f32;
    if f64::from(nearest) == x || x.is_nan() {
        return f16::from_f32(nearest);
    }
    // Of the two `f32` around it the odd one, which lies where it does to a rounding to fewer bits.
    let towards_zero = nearest.to_bits() - u32::from(f64::from(nearest).abs() > x.abs());
    f16::from_f32(f32::from_bits(towards_zero | 1))
}

/// Half the distance of neighbouring numbers, as a part of them, and the least number above zero.
fn precision(stored: DType) -> (f64, f64) {
    match stored {
        DType::F16 => (2f64.powi(-11), 2f64.powi(-24)),
        DType::F32 => (2f64.powi(-24), 2f64.powi(-149)),
        _ => (2f64.powi(-53), 5e-324),
    }
}

/// A type that floats are computed in, with what is rounded to it.
pub(super) trait Computed: Sample + Float + std::fmt::Display {
    fn from_f64(v: f64) -> Self;
    fn to_f64(self) -> f64;
}
impl Computed for f32 {
    fn from_f64(v: f64) -> Self {
        v as Self
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}
impl Computed for f64 {
    fn from_f64(v: f64) -> Self {
        v
    }
    fn to_f64(self) -> f64 {
        self
    }
}

/// The rule of samples that are computed as `T`.
///
/// A product with a scale says where in its bin a sample lies, but for a small error: three roundings of the product, those of the edges, and those of the
/// bounds themselves where they are no numbers of the type. A sample that is farther than that from a whole number is surely in that bin; another is
/// compared with the two edges beside it. Where the error may be half a bin and more, as bins are hardly wider than the numbers are dense, all edges are
/// searched.
pub(super) fn rule<T: Computed>(bounds: [f64; 2], bins: u32, inclusive: bool, stored: DType) -> Result<Rule> {
    let [lower, upper] = bounds.map(|bound| rounded(bound, stored));
    check_order([&bounds[0], &bounds[1]], lower < upper || (inclusive && lower == upper))?;
    let width = T::from_f64(T::from_f64(upper).to_f64() - T::from_f64(lower).to_f64()).to_f64();
    let scale = T::from_f64(f64::from(bins) / width);
    let is_normal = |v: f64| v.is_finite() && v.abs() >= if T::TY == Ty::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
    if !width.is_finite() || !is_normal(scale.to_f64()) {
        let [lower, upper] = bounds.map(T::from_f64);
        let reason = format!("{bins} bins between {lower} and {upper} have no width that {stored} can hold");
        return Err(Error::InvalidArgument { what: "bounds", reason });
    }
    let mut edges = edges(bounds, bins, stored);
    // A sample that equals the upper bound is below what comes next.
    let end = if inclusive { next_up::<T>(upper) } else { upper };
    let bits = |v: f64| T::from_f64(v).to_bits64();
    let value = |v: f64| (T::TY, bits(v));
    let last = (Ty::U32, u64::from(bins - 1));
    let step = edges[1];
    let is_power = |v: f64| v.to_bits() << 12 == 0;
    if lower == 0.0 && is_power(step) && edges.iter().enumerate().all(|(k, &edge)| edge == k as f64 * step) {
        let values = vec![value(lower), value(end), value(scale.to_f64()), last];
        return Ok(Rule { form: Form::Exact, values, edges: Vec::new() });
    }
    let ((unit, _), (of_edge, least)) = (precision(T::DTYPE), precision(stored));
    let reach = lower.abs().max(upper.abs()) / width;
    // Edges lie between the bounds that were given, and samples between rounded ones.
    let moved = (lower - bounds[0]).abs().max((upper - bounds[1]).abs()) / width;
    let guard = f64::from(bins) * (8.0 * unit + 1.01 * (reach * (of_edge + f64::EPSILON) + moved) + least / width);
    if guard >= 0.49 {
        edges[bins as usize] = end;
        return Ok(Rule::search(edges.into_iter().map(bits).collect()));
    }
    let values = vec![value(lower), value(end), value(scale.to_f64()), value(0.5 - 1.01 * guard), last];
    Ok(Rule { form: Form::Near, values, edges: edges.into_iter().map(bits).collect() })
}

fn next_up<T: Computed>(v: f64) -> f64 {
    if T::TY == Ty::F64 { v.next_up() } else { (v as f32).next_up().into() }
}

/// The bin of a sample by [`Form::Near`].
pub(super) fn near<T: Computed>(x: Expr<T>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
    let (lower, end, scale, half) = (rule.take::<T>(next), rule.take::<T>(next), rule.take::<T>(next), rule.take::<T>(next));
    let last = rule.take::<u32>(next);
    let edges = rule.take_edges::<T>(next);
    let is_inside = x.ge(lower) & x.lt(end);
    let place = (x - lower) * scale;
    let floor = place.floor();
    let from_middle = (place - floor - Expr::from(T::from_f64(0.5))).abs();
    let guess = floor.cast::<u32>().min(last);
    let is_sure = from_middle.lt(half);
    let found = branch(
        is_sure,
        || guess,
        || {
            let (is_below, is_above) = (x.lt(edges.at(guess)), x.ge(edges.at(guess + 1u32)));
            (guess + is_above.cast::<u32>() - is_below.cast::<u32>()).min(last)
        },
    );
    select(is_inside, found, u32::MAX)
}
