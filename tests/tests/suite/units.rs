//! Roundings of the definitions of draws, in units of 2^-24: a sum, a product, a root and a conversion are half a ULP off at most, one of what they give, and an
//! elementary function one ULP, two.

/// Cosine and sine of a word's angle. The angle within its quarter is a conversion off, which is worth 0.56 to a sine of at most 0.71, of which a constant and the
/// fit are 0.7, the last sum and the product 1 each off: 2.5. A cosine is a sum off, and the square of the angle three roundings, worth 0.85 and less: 2.2.
pub(crate) const TURN: f64 = 2.5;

/// The logarithm of this size of a word's number in (0, 1], a conversion and a sum off.
pub(crate) fn log(size: f64) -> f64 {
    2.0 + 2.0 * size
}

/// A normal number with this radius, the root of twice a logarithm's size.
pub(crate) fn normal(radius: f64) -> f64 {
    log(radius * radius / 2.0) / radius + radius + radius * TURN + radius
}

/// A point of the sphere in this distance from its axis: the root of the product of two sums with a height, a conversion and a sum off.
pub(crate) fn sphere(radius: f64) -> f64 {
    (4.0 + 3.0 * radius * radius) / (2.0 * radius) + radius + radius * TURN + radius
}

/// Tells whether a number is within so many units of an exact one; products of errors are at most a thousandth of them.
pub(crate) fn is_within(found: f32, exact: f64, units: f64) -> bool {
    (f64::from(found) - exact).abs() <= units / 16_777_216.0 * (1.0 + 1.0 / 1024.0)
}
