//! Numbers of options: what the option's type would make infinite or zero is refused, as literals of expressions are.

use std::any::type_name;
use std::str::FromStr;

/// A number of the type, with NaN and infinities where they are written so.
///
/// # Errors
/// The fault of the text, in words that go behind the option's name.
pub(crate) fn number<T: FromStr + Copy + Into<f64>>(text: &str) -> Result<T, String> {
    let value: T = text.trim().parse().map_err(|_| "it is no number".to_owned())?;
    let wide: f64 = value.into();
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let says_infinity = text.contains(['i', 'I']);
    if wide.is_infinite() && !says_infinity {
        Err(format!("it does not fit {}", type_name::<T>()))
    } else if wide == 0.0 && mantissa.contains(|c: char| c.is_ascii_digit() && c != '0') {
        Err(format!("it is too small for {}", type_name::<T>()))
    } else {
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_that_their_type_would_make_infinite_or_zero_are_refused() {
        for text in ["1e400", "-1e309", "1e-400", "0.5e-400", "", "x", "1e"] {
            assert!(number::<f64>(text).is_err(), "{text}");
        }
        for text in ["1e39", "-3.5e38", "1e-60", "400000000000000000000000000000000000000000"] {
            assert!(number::<f32>(text).is_err() && number::<f64>(text).is_ok(), "{text}");
        }
        for text in ["0", "-0.0", "0e9", "1e-45", "inf", "-inf", "Infinity", "nan", " 2.5", "3.4e38"] {
            assert!(number::<f32>(text).is_ok(), "{text}");
        }
        assert_eq!(number::<f32>("inf"), Ok(f32::INFINITY));
    }
}
