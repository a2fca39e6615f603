//! Bounds of even bins as text: decimal numbers, whatever the samples' type.

use super::sample::{check_order, check_width};
use crate::element::DType;
use crate::error::{Error, Result};
use core::ops::RangeInclusive;

/// A decimal number is kept in units of 10^-18.
const DIGITS: i32 = 18;
const ONE: i128 = 10i128.pow(DIGITS as u32);
/// Bounds of integers are at most this far from zero, so that the distance of two has room, too.
const MOST: i128 = (1 << 65) * ONE;

/// Bounds of integers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    /// The first integer and the last.
    Whole([i128; 2]),
    /// Where bins begin, and where the last ends unless that is above the type; all in its range, and rising.
    Edges(Vec<i128>),
}

fn no_bound(text: &str, stored: DType) -> Error {
    Error::InvalidArgument { what: "bounds", reason: format!("`{text}` is no bound of {stored} samples") }
}

/// A bound of floats.
pub(super) fn of_floats(bounds: [&str; 2], stored: DType) -> Result<[f64; 2]> {
    let [lower, upper] = bounds.map(|text| text.trim().parse().map_err(|_| no_bound(text, stored)));
    Ok([lower?, upper?])
}

/// Bounds of integers of a type: the bins are those of the real line from one decimal number to the other, and an integer is in the one that it lies in. Whole
/// bounds within the type are the integers that they name; others become the integers at which bins begin. Where they are inclusive, the last bin has an
/// integer that equals the upper bound, too.
pub(super) fn of_integers(text: [&str; 2], bins: u32, inclusive: bool, stored: DType, of: RangeInclusive<i128>) -> Result<Bounds> {
    let [lower, upper] = text.map(|text| decimal(text.trim()).ok_or_else(|| no_bound(text, stored)));
    let (lower, upper) = (lower?, upper?);
    check_order([&text[0], &text[1]], lower < upper)?;
    let (least, most) = of.into_inner();
    if !inclusive && lower % ONE == 0 && upper % ONE == 0 && lower / ONE >= least && upper / ONE - 1 <= most {
        return Ok(Bounds::Whole([lower / ONE, upper / ONE - 1]));
    }
    check_width(format_args!("{}", (upper - lower) as f64 / ONE as f64), upper - lower >= i128::from(bins) * ONE, bins)?;
    if upper < least * ONE || (upper == least * ONE && !inclusive) || lower > most * ONE {
        let reason = format!("no number of {stored} samples lies from {} to {}{}", text[0], if inclusive { "" } else { "below " }, text[1]);
        return Err(Error::InvalidArgument { what: "bounds", reason });
    }
    // The whole part of a bin's width, and what all of them together have besides: bin `k` begins `k * rest / bins` behind its whole parts.
    let (bins, range) = (i128::from(bins), upper - lower);
    let (width, rest) = (range / bins, range % bins);
    let edge = |k: i128| {
        if inclusive && k == bins {
            return upper.div_euclid(ONE) + 1;
        }
        let begins = lower + k * width + k * rest / bins + i128::from(k * rest % bins != 0);
        begins.div_euclid(ONE) + i128::from(begins.rem_euclid(ONE) != 0)
    };
    Ok(Bounds::Edges((0..=bins).map(edge).take_while(|&edge| edge <= most).map(|edge| edge.max(least)).collect()))
}

/// A decimal number in units of 10^-18, if it is a whole number of these and not too large.
fn decimal(text: &str) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, mantissa) = match mantissa.as_bytes().first()? {
        b'-' => (true, &mantissa[1..]),
        b'+' => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let fraction = i32::try_from(fraction.len()).ok()?;
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let zeros = i32::try_from(digits.len() - significant.len()).ok()?;
    let power = exponent.checked_sub(fraction)?.checked_add(zeros)?.checked_add(DIGITS)?;
    let scale = 10i128.checked_pow(u32::try_from(power).ok()?)?;
    let value = significant.parse::<i128>().ok()?.checked_mul(scale).filter(|&v| v <= MOST)?;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_numbers_are_exact() {
        let of = |text| decimal(text);
        assert_eq!([of("0"), of("-0.0"), of("00"), of("0e999")], [Some(0); 4]);
        assert_eq!([of("1"), of("1.0"), of("+1."), of("10e-1"), of(".1e1"), of("0.001e3")], [Some(ONE); 6]);
        assert_eq!([of("-128.0"), of("1e2"), of("255.5")], [Some(-128 * ONE), Some(100 * ONE), Some(511 * ONE / 2)]);
        assert_eq!(of("18446744073709551616"), Some((1 << 64) * ONE));
        assert_eq!(of("0.000000000000000001"), Some(1));
        for text in ["", "-", ".", "e1", "1e", "x", "0x10", "inf", "nan", "1_0", "1.2.3", "--1", "1e40", "1e-19", "1e99999999999", "١"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn integers_lie_in_the_bins_of_the_real_line() {
        let of = |lower, upper, bins| of_integers([lower, upper], bins, false, DType::U8, 0..=u32::MAX.into()).expect("bounds");
        assert_eq!(of("0", "256", 4), Bounds::Whole([0, 255]));
        assert_eq!(of("0.0", "1e2", 7), Bounds::Whole([0, 99]));
        assert_eq!(of("0", "4294967296", 2), Bounds::Whole([0, u32::MAX.into()]));
        // NumPy's histogram(arange(10), 4, (-0.5, 9.5)) is [2, 3, 2, 3].
        assert_eq!(of("-0.5", "9.5", 4), Bounds::Edges(vec![0, 2, 5, 7, 10]));
        assert_eq!(of("-10", "300", 4), Bounds::Edges(vec![0, 68, 145, 223, 300]));
        assert_eq!(of("0.5", "4294967299.5", 3), Bounds::Edges(vec![1, 1_431_655_767, 2_863_311_534]));
        let closed = |lower, upper, bins| of_integers([lower, upper], bins, true, DType::U8, 0..=u32::MAX.into()).expect("bounds");
        assert_eq!(closed("0", "255", 4), Bounds::Edges(vec![0, 64, 128, 192, 256]));
        assert_eq!(closed("-0.5", "9.5", 4), of("-0.5", "9.5", 4));
        assert_eq!(closed("0", "4294967295", 2), Bounds::Edges(vec![0, 2_147_483_648]));
        assert_eq!(closed("-4", "0", 4), Bounds::Edges(vec![0, 0, 0, 0, 1]));
        let refused =
            |lower, upper, bins| of_integers([lower, upper], bins, false, DType::U8, 0..=u32::MAX.into()).expect_err("refused").to_string();
        assert!(refused("1", "1.0", 1).contains("the lower one, 1, has to be below the upper one, 1.0"));
        assert!(refused("0.5", "4", 4).contains("4 bins over 3.5 integers"));
        assert!(refused("-9", "-1", 1).contains("no number of u8 samples lies from -9"));
        assert!(refused("5e9", "6e9", 1).contains("no number of u8"));
        assert!(refused("0", "0x10", 1).contains("`0x10` is no bound of u8 samples"));
    }
}
