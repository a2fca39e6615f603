//! Floats of at most 16 bits as codes: conversions from and to `f32` by integer operations on bits alone, the same on every device.
//!
//! A codec is a pair of functions of an operator, so that it is fused into whatever reads or writes the codes:
//!
//! ```
//! use isowarp::minifloat::E4M3;
//! use isowarp::prelude::*;
//!
//! let dev = isowarp::Cpu::new();
//! let x = dev.upload(&[0.3f32, -17.0, 448.0, 1e9])?;
//! let codes = dev.map(&x, |x| E4M3.encode(x).store_as::<u8>())?;
//! assert_eq!(codes.read_blocking()?, [0x2a, 0xd8, 0x7e, 0x7f]);
//! assert_eq!(dev.map(&codes, |c| E4M3.decode(c))?.read_blocking()?[..3], [0.3125, -16.0, 448.0]);
//! // A sum of decoded codes, none of which is stored.
//! let sum = dev.reduce(codes.slice(..3)?.map(|c| E4M3.decode(c)), Sum).run()?;
//! assert_eq!(sum.read_blocking()?, 432.3125);
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! # Formats
//! From the highest bit on a code is a sign, `e` bits of an exponent whose bias is `2^(e-1) - 1`, and `m` bits of a mantissa; an exponent field of 0 is that of
//! subnormal numbers and zeros. [`Specials`] says which codes are no numbers.
//!
//! # The contract
//! - [`decode`](MiniFloat::decode) is exact for every code. Bits of it above the format's are ignored.
//! - [`encode`](MiniFloat::encode) rounds once, subnormal numbers as all others, by the format's [`Rounding`]: the sign of a zero that is rounded to stays. An
//!   `f64` is rounded once, too.
//! - A number whose rounding with an unbounded exponent is above the greatest finite one becomes infinity, or NaN where there is only that; with
//!   [`saturating`](MiniFloat::saturating), or where the format has neither, the greatest finite number. Roundings towards zero, and to odd, and those up
//!   or down of numbers on the other side of zero, stop at the greatest finite number always. Infinity is treated as such a number that rounding to
//!   nearest meets.
//! - NaN loses its sign and payload: it becomes the positive code with the highest bit of the mantissa set alone (the code of all ones but the sign where
//!   there is one NaN), saturating or not; the greatest finite number where there is none. Every NaN is decoded to the positive quiet one.
//!
//! Source: IEEE 754-2019, sections 3 and 4; Micikevicius and others, *FP8 formats for deep learning* (2022); Open Compute Project, *8-bit floating point
//! specification* 1.0 and *Microscaling formats (MX)* 1.0; Boldo and Melquiond, *Emulation of FMA and correctly rounded sums* (2008) for rounding to odd.

use crate::element::{Float, Ty};
use crate::error::{Error, Result};
use crate::ir::{Expr, lit, select};
use core::fmt;
use core::str::FromStr;

/// Codes that are no finite numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Specials {
    /// As IEEE 754: an exponent of all ones is infinity with a mantissa of zero, else NaN.
    Ieee,
    /// NaN is the code of all ones but the sign; there is no infinity.
    OneNan,
    /// Every code is a finite number.
    Finite,
}

/// The number that a value between two of a format becomes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rounding {
    /// The nearer one; in the middle that with an even code.
    #[default]
    NearestEven,
    /// The nearer one; in the middle the one further from zero.
    NearestAway,
    /// The one nearer to zero.
    TowardZero,
    /// The greater one.
    Up,
    /// The lesser one.
    Down,
    /// The one with an odd code, so that a further rounding to a format with at least two bits fewer is as if it were the only one.
    ToOdd,
}

/// A format of floats of at most 16 bits, and how it is rounded to: see the [module](self).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MiniFloat {
    exponent: u32,
    mantissa: u32,
    specials: Specials,
    rounding: Rounding,
    saturates: bool,
}

const fn format(exponent: u32, mantissa: u32, specials: Specials) -> MiniFloat {
    MiniFloat { exponent, mantissa, specials, rounding: Rounding::NearestEven, saturates: false }
}

/// Eight bits up to 448 with one NaN and no infinity: E4M3 of the Open Compute Project, `float8_e4m3fn` elsewhere.
pub const E4M3: MiniFloat = format(4, 3, Specials::OneNan);
/// Eight bits up to 240, as IEEE 754 would have them.
pub const E4M3_IEEE: MiniFloat = format(4, 3, Specials::Ieee);
/// Eight bits up to 57344, as IEEE 754 would have them.
pub const E5M2: MiniFloat = format(5, 2, Specials::Ieee);
/// Eight bits up to 15.5, as IEEE 754 would have them.
pub const E3M4: MiniFloat = format(3, 4, Specials::Ieee);
/// Six bits up to 28, all finite.
pub const E3M2: MiniFloat = format(3, 2, Specials::Finite);
/// Six bits up to 7.5, all finite.
pub const E2M3: MiniFloat = format(2, 3, Specials::Finite);
/// Four bits up to 6, all finite.
pub const E2M1: MiniFloat = format(2, 1, Specials::Finite);
/// The upper half of an `f32`.
pub const BF16: MiniFloat = format(8, 7, Specials::Ieee);
/// IEEE binary16.
pub const F16: MiniFloat = format(5, 10, Specials::Ieee);

/// The named formats.
const NAMED: [(&str, MiniFloat); 9] = [
    ("e4m3", E4M3),
    ("e4m3-ieee", E4M3_IEEE),
    ("e5m2", E5M2),
    ("e3m4", E3M4),
    ("e3m2", E3M2),
    ("e2m3", E2M3),
    ("e2m1", E2M1),
    ("bf16", BF16),
    ("f16", F16),
];

/// Words after a format's bits.
const SUFFIXES: [(&str, Specials); 3] = [("-ieee", Specials::Ieee), ("-nan", Specials::OneNan), ("-finite", Specials::Finite)];

/// So many ones.
const fn ones(bits: u32) -> u32 {
    (1 << bits) - 1
}

/// Half of a unit in the last place, as a fraction of 32 bits.
const HALF: u32 = 1 << 31;

impl MiniFloat {
    /// A format of so many bits of exponent and mantissa, rounded to nearest even.
    ///
    /// ```
    /// use isowarp::minifloat::{MiniFloat, Specials};
    /// assert_eq!(MiniFloat::new(5, 10, Specials::Ieee)?, isowarp::minifloat::F16);
    /// assert!(MiniFloat::new(9, 2, Specials::Ieee).is_err());
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] without an exponent or with more than 8 bits of one (7 where there is no infinity), for more than 16 bits with the
    /// sign, and without a mantissa where infinity and NaN differ by it.
    pub fn new(exponent: u32, mantissa: u32, specials: Specials) -> Result<Self> {
        let refused = |reason: String| Err(Error::InvalidArgument { what: "float format", reason });
        if !(1..=8).contains(&exponent) {
            return refused(format!("an exponent has 1 to 8 bits, not {exponent}"));
        }
        if mantissa > 15 - exponent {
            return refused(format!("a sign, {exponent} bits of exponent and {mantissa} of mantissa are more than 16"));
        }
        if exponent == 8 && specials != Specials::Ieee {
            return refused(
                "numbers of 8 bits of exponent are beyond f32, unless the greatest exponent is that of infinity and NaN".to_owned(),
            );
        }
        if mantissa == 0 && specials == Specials::Ieee {
            return refused("without a mantissa NaN would be infinity".to_owned());
        }
        Ok(format(exponent, mantissa, specials))
    }

    /// The same format with another rounding.
    #[must_use]
    pub const fn rounding(self, rounding: Rounding) -> Self {
        Self { rounding, ..self }
    }

    /// The same format where infinity, and numbers above the greatest finite one, become that.
    #[must_use]
    pub const fn saturating(self) -> Self {
        Self { saturates: true, ..self }
    }

    /// Bits of a code.
    #[must_use]
    pub const fn bits(self) -> u32 {
        1 + self.exponent + self.mantissa
    }

    const fn bias(self) -> u32 {
        ones(self.exponent - 1)
    }

    /// Greatest code of a positive finite number.
    const fn greatest(self) -> u32 {
        match self.specials {
            Specials::Ieee => (ones(self.exponent) << self.mantissa) - 1,
            Specials::OneNan => ones(self.bits() - 1) - 1,
            Specials::Finite => ones(self.bits() - 1),
        }
    }

    /// Code of NaN, or of what stands for it.
    const fn nan(self) -> u32 {
        match self.specials {
            Specials::Ieee => (ones(self.exponent) << self.mantissa) | 1 << (self.mantissa - 1),
            Specials::OneNan | Specials::Finite => ones(self.bits() - 1),
        }
    }

    /// The code of a value, `f32` or `f64`, in the low bits.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// use isowarp::minifloat::{E2M1, Rounding};
    ///
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.3f32, 2.5, -2.5, 100.0])?;
    /// assert_eq!(dev.map(&x, |x| E2M1.encode(x))?.read_blocking()?, [1, 4, 12, 7]);
    /// assert_eq!(dev.map(&x, |x| E2M1.rounding(Rounding::Up).encode(x))?.read_blocking()?, [1, 5, 12, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn encode<T: Float>(self, x: Expr<T>) -> Expr<u32> {
        self.code(narrowed(x), None)
    }

    /// The code of a value that is rounded at random, whatever the format's rounding: away from zero where a word is less than the value's distance from the
    /// number nearer to zero, as a fraction of 32 bits of that between the two. With [uniform words](crate::random::Random::uniform) the mean is the value. The
    /// distance is that of an `f32`; an `f64` is rounded to an odd one first.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// use isowarp::minifloat::E4M3;
    ///
    /// # let dev = isowarp::Cpu::new();
    /// let words = Random::new(7).uniform::<u32>(1 << 16);
    /// // A third of the way from 16 to 18.
    /// let values = words.map(|word| E4M3.decode(E4M3.encode_stochastic(lit(16.0f32 + 2.0 / 3.0), word)));
    /// assert!((dev.mean(values)?.read_blocking()? - 16.6667).abs() < 0.01);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn encode_stochastic<T: Float>(self, x: Expr<T>, word: Expr<u32>) -> Expr<u32> {
        self.code(narrowed(x), Some(word))
    }

    fn code(self, x: Expr<f32>, word: Option<Expr<u32>>) -> Expr<u32> {
        let bits = x.bitcast::<u32>();
        let (sign, magnitude) = (bits >> 31, bits & ones(31));
        let field = magnitude >> 23;
        let significand = (bits & ones(23)) | (field.ne(0).cast::<u32>() << 23);
        // 128 is the exponent of the least normal number.
        let exponent = field.max(1) + self.bias();
        let raised = exponent.max(128);
        // Below 2^24, the significand is gone after 31 places as it is after more.
        let places = raised - exponent + (23 - self.mantissa);
        let shift = places.min(31);
        let kept = significand >> shift;
        let rest = significand ^ (kept << shift);
        let fraction = rest << (32 - shift);
        let (inexact, negative) = (rest.ne(0), sign.ne(0));
        // The next code towards zero; a carry out of the mantissa is one into the exponent.
        let next = ((raised - 128) << self.mantissa) + kept;
        // The code, and whether what is too great is infinity.
        let (code, overflows) = match (word, self.rounding) {
            (Some(word), _) => (next + word.lt(fraction >> (places - shift).min(31)).cast::<u32>(), lit(true)),
            (None, Rounding::NearestEven) => {
                let up = fraction.gt(HALF) | (fraction.eq(HALF) & (next & 1).ne(0));
                (next + up.cast::<u32>(), lit(true))
            }
            (None, Rounding::NearestAway) => (next + (fraction >> 31), lit(true)),
            (None, Rounding::TowardZero) => (next, lit(false)),
            (None, Rounding::Up) => (next + (inexact & !negative).cast::<u32>(), !negative),
            (None, Rounding::Down) => (next + (inexact & negative).cast::<u32>(), negative),
            (None, Rounding::ToOdd) => (next | inexact.cast::<u32>(), lit(false)),
        };
        let greatest = self.greatest();
        let infinity = if self.saturates || self.specials == Specials::Finite { greatest } else { greatest + 1 };
        let above = select(overflows | field.eq(255), infinity, greatest);
        let code = select(code.gt(greatest), above, code);
        let is_nan = self.specials == Specials::OneNan && !self.saturates;
        let sign = if is_nan { select(code.eq(infinity), 0, sign) } else { sign };
        select(magnitude.gt(255 << 23), self.nan(), code | (sign << (self.bits() - 1)))
    }

    /// The value of a code.
    #[must_use]
    pub fn decode(self, code: Expr<u32>) -> Expr<f32> {
        let Self { exponent, mantissa, .. } = self;
        let sign = ((code >> (self.bits() - 1)) & 1) << 31;
        let magnitude = code & ones(self.bits() - 1);
        let (field, fraction) = (magnitude >> mantissa, code & ones(mantissa));
        let normal = ((field + (127 - self.bias())) << 23) | (fraction << (23 - mantissa));
        let subnormal = if self.bias() == 127 {
            fraction << (23 - mantissa)
        } else {
            // An integer's own exponent, and the subnormals' unit.
            let scaled = fraction.cast::<f32>().bitcast::<u32>() - ((self.bias() + mantissa).saturating_sub(1) << 23);
            select(fraction.eq(0), 0, scaled)
        };
        let number = select(field.eq(0), subnormal, normal) | sign;
        let nan = f32::NAN.to_bits() & ones(31);
        let bits = match self.specials {
            Specials::Ieee => {
                let special = select(fraction.eq(0), sign | (255 << 23), nan);
                select(field.eq(ones(exponent)), special, number)
            }
            Specials::OneNan => select(magnitude.eq(self.nan()), nan, number),
            Specials::Finite => number,
        };
        bits.bitcast()
    }
}

/// The value as an `f32` that rounds to codes as it does.
fn narrowed<T: Float>(x: Expr<T>) -> Expr<f32> {
    if T::TY == Ty::F64 { x.same_as::<f64>().to_odd() } else { x.same_as() }
}

impl fmt::Display for MiniFloat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = format(self.exponent, self.mantissa, self.specials);
        if let Some((name, _)) = NAMED.iter().find(|(_, of)| *of == plain) {
            return f.write_str(name);
        }
        let suffix = SUFFIXES.iter().find(|(_, of)| *of == self.specials).map_or("", |(name, _)| name);
        write!(f, "e{}m{}{suffix}", self.exponent, self.mantissa)
    }
}

/// A format by its name: `e4m3`, `e4m3-ieee`, `e5m2`, `e3m4`, `e3m2`, `e2m3`, `e2m1`, `bf16`, `f16`; or by its bits and specials, `e5m8-ieee`, `e6m1-nan`,
/// `e3m3-finite`.
///
/// ```
/// use isowarp::minifloat::{MiniFloat, Specials};
/// let format: MiniFloat = "e6m1-nan".parse()?;
/// assert_eq!((format, format.to_string()), (MiniFloat::new(6, 1, Specials::OneNan)?, "e6m1-nan".to_owned()));
/// # Ok::<(), isowarp::Error>(())
/// ```
impl FromStr for MiniFloat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some((_, found)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*found);
        }
        let parts = SUFFIXES.iter().find_map(|(suffix, specials)| {
            let (exponent, mantissa) = text.strip_suffix(suffix)?.strip_prefix('e')?.split_once('m')?;
            Some((exponent.parse().ok()?, mantissa.parse().ok()?, *specials))
        });
        let Some((exponent, mantissa, specials)) = parts else {
            let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
            let reason = format!("{text} is none of {}, nor one as e5m8-ieee, e6m1-nan or e3m3-finite", names.join(", "));
            return Err(Error::InvalidArgument { what: "float format", reason });
        };
        Self::new(exponent, mantissa, specials)
    }
}
