//! Codes of floats of at most 16 bits, of any format and rounding: the two codes around a value are searched among all, and the distances are exact.

use super::{choice, computed, edges, length, output};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::rules;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::{Random, nearest_f16};
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::dynamic::Call;
use isowarp::element::{DType, Ty};
use isowarp::minifloat::{MiniFloat, Rounding, Specials};
use isowarp::random::Random as Generator;

const FLOATS: [DType; 4] = [DType::F32, DType::F32, DType::F16, DType::F64];
const CODES: [DType; 3] = [DType::U8, DType::U16, DType::U32];
const SPECIALS: [Specials; 3] = [Specials::Ieee, Specials::OneNan, Specials::Finite];
const ROUNDINGS: [Rounding; 6] =
    [Rounding::NearestEven, Rounding::NearestAway, Rounding::TowardZero, Rounding::Up, Rounding::Down, Rounding::ToOdd];

/// A format of the trial.
struct Format {
    exponent: u32,
    mantissa: u32,
    specials: Specials,
    rounding: Rounding,
    saturates: bool,
}

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let n = length(r).max(1);
    let exponent = if r.chance(30) { r.pick(&[4, 5, 8]) } else { 1 + r.below(8) };
    let mut numbers = vec![("exponent", exponent as u64), ("mantissa", r.below(16 - exponent) as u64), ("specials", r.below(3) as u64)];
    let input = if verb == Verb::Encode {
        numbers.extend([("rounding", r.below(6) as u64), ("saturates", r.below(2) as u64)]);
        if r.chance(25) {
            numbers.extend([("stochastic", 1), ("seed", r.word()), ("position", r.word() >> (r.below(62) + 2))]);
        }
        let dtype = r.pick(&FLOATS);
        let trial = Trial { verb, n, numbers: named(&numbers), inputs: Vec::new(), trees: Vec::new() };
        let of = format(&trial);
        let bits = (0..n).map(|_| if r.chance(30) { edges(dtype, 1, r)[0] } else { beside(&of, dtype, r) });
        Array::plain(dtype, bits.collect())
    } else {
        numbers.push(("dtype", r.below(4) as u64));
        let dtype = r.pick(&CODES);
        Array::plain(dtype, edges(dtype, n, r))
    };
    Trial { verb, n, numbers: named(&numbers), inputs: vec![input], trees: Vec::new() }
}

fn named(numbers: &[(&str, u64)]) -> Vec<(String, u64)> {
    numbers.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
}

/// A code's number, the middle between two, or a neighbour of either.
fn beside(of: &Format, dtype: DType, r: &mut Random) -> u64 {
    let code = r.below(of.greatest() as usize + 2) as u32;
    let (low, high) = (of.magnitude(code), of.magnitude(code + 1));
    let between = low + (high - low) * (r.below(1 << 20) as f64 / f64::from(1 << 20));
    let x = r.pick(&[low, f64::midpoint(low, high), between]);
    let x = if r.chance(50) { -x } else { x };
    let bits = match dtype {
        DType::F64 => x.to_bits(),
        DType::F32 => u64::from((x as f32).to_bits()),
        _ => u64::from(nearest_f16(x).to_bits()),
    };
    let neighbour = r.pick(&[0, 0, 1, u64::MAX]);
    bits.wrapping_add(neighbour) & (u64::MAX >> (64 - 8 * dtype.size_bytes()))
}

/// The format that numbers name, or the next one that there is.
fn format(trial: &Trial) -> Format {
    let specials = choice(trial, "specials", &SPECIALS);
    let exponent = (trial.number("exponent") as u32).clamp(1, if specials == Specials::Ieee { 8 } else { 7 });
    let mantissa = (trial.number("mantissa") as u32).clamp(u32::from(specials == Specials::Ieee), 15 - exponent);
    Format { exponent, mantissa, specials, rounding: choice(trial, "rounding", &ROUNDINGS), saturates: trial.number("saturates") % 2 == 1 }
}

fn generator(trial: &Trial) -> Option<Generator> {
    let from = Generator { position: trial.number("position") >> 2, ..Generator::new(trial.number("seed")) };
    (trial.number("stochastic") % 2 == 1).then_some(from)
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let of = format(trial);
    let named = MiniFloat::new(of.exponent, of.mantissa, of.specials)?.rounding(of.rounding);
    let named = if of.saturates { named.saturating() } else { named };
    let x = upload(device, trial.inputs[0].dtype, &trial.inputs[0].bits)?;
    let call = match trial.verb {
        Verb::Encode => Call::Encode(named, generator(trial)),
        _ => Call::Decode(named, choice(trial, "dtype", &FLOATS)),
    };
    computed(device, &call, &[&x])
}

impl Format {
    /// Bits of a code.
    fn bits(&self) -> u32 {
        1 + self.exponent + self.mantissa
    }

    /// The greatest code of a positive finite number.
    fn greatest(&self) -> u32 {
        let all = (1 << (self.bits() - 1)) - 1;
        match self.specials {
            Specials::Ieee => all - (1 << self.mantissa),
            Specials::OneNan => all - 1,
            Specials::Finite => all,
        }
    }

    /// The number of a positive code, as if exponents had no end.
    fn magnitude(&self, code: u32) -> f64 {
        let bias = (1 << (self.exponent - 1)) - 1;
        let (field, fraction) = ((code >> self.mantissa) as i32, code & ((1 << self.mantissa) - 1));
        let (significand, exponent) = if field == 0 { (fraction, 1) } else { (fraction | 1 << self.mantissa, field) };
        f64::from(significand) * 2f64.powi(exponent - bias - self.mantissa as i32)
    }

    fn nan(&self) -> u32 {
        match self.specials {
            Specials::Ieee => self.greatest() + 1 + (1 << self.mantissa >> 1),
            Specials::OneNan => self.greatest() + 1,
            Specials::Finite => self.greatest(),
        }
    }

    fn encode(&self, x: f64, word: Option<u32>) -> u32 {
        if x.is_nan() {
            return self.nan();
        }
        let (negative, size) = (x.is_sign_negative(), x.abs());
        // The last code whose number is not above, of all finite ones and the next.
        let (mut code, mut above) = (0, self.greatest() + 2);
        while above - code > 1 {
            let middle = u32::midpoint(code, above);
            if self.magnitude(middle) <= size { code = middle } else { above = middle }
        }
        let (low, high) = (self.magnitude(code), self.magnitude(code + 1));
        let (below, inexact) = ((size - low) / (high - low), size > low);
        let nearest = |tie: bool| below > 0.5 || (below == 0.5 && tie);
        // Whether it is rounded away from zero, and whether it then may leave the finite numbers.
        let (up, leaves) = match (word, self.rounding) {
            (Some(word), _) => (f64::from(word) < (below * 4_294_967_296.0).floor(), true),
            (None, Rounding::NearestEven) => (nearest(code & 1 == 1), true),
            (None, Rounding::NearestAway) => (nearest(true), true),
            (None, Rounding::TowardZero) => (false, false),
            (None, Rounding::Up) => (inexact && !negative, !negative),
            (None, Rounding::Down) => (inexact && negative, negative),
            (None, Rounding::ToOdd) => (inexact && code & 1 == 0, false),
        };
        let code = if up { code + 1 } else { code };
        let sign = u32::from(negative) << (self.bits() - 1);
        if code <= self.greatest() && size.is_finite() {
            return code | sign;
        }
        match self.specials {
            _ if self.saturates || !(leaves || size.is_infinite()) => self.greatest() | sign,
            Specials::Ieee => (self.greatest() + 1) | sign,
            Specials::OneNan => self.nan(),
            Specials::Finite => self.greatest() | sign,
        }
    }

    fn decode(&self, code: u32) -> f32 {
        let size = code & ((1 << (self.bits() - 1)) - 1);
        let is_infinite = self.specials == Specials::Ieee && size == self.greatest() + 1;
        let magnitude = match size {
            _ if is_infinite => f32::INFINITY,
            size if size > self.greatest() => return f32::from_bits(0x7fc0_0000),
            size => self.magnitude(size) as f32,
        };
        if code >> (self.bits() - 1) & 1 == 1 { -magnitude } else { magnitude }
    }
}

/// The `f32` of an `f64`, of an odd mantissa where it is none.
fn to_odd(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) == x || x.is_nan() {
        return near;
    }
    let bits = if f64::from(near).abs() > x.abs() { near.to_bits() - 1 } else { near.to_bits() };
    f32::from_bits(bits | 1)
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let (of, dtype) = (format(trial), trial.inputs[0].dtype);
    let bits = trial.inputs[0].bits.iter().copied();
    if trial.verb == Verb::Decode {
        let to = choice(trial, "dtype", &FLOATS);
        let value = |bits: u64| {
            let value = of.decode(bits as u32);
            if to == DType::F64 {
                return rules::canonical(Ty::F64, f64::from(value).to_bits());
            }
            rules::narrow(to, Ty::F32, value.to_bits().into())
        };
        return vec![output(to, bits.map(value))];
    }
    let value = |bits: u64| match dtype {
        DType::F64 => f64::from_bits(bits),
        DType::F32 => f32::from_bits(bits as u32).into(),
        _ => half::f16::from_bits(bits as u16).into(),
    };
    let generator = generator(trial);
    let code = |(i, bits): (usize, u64)| {
        let x = value(bits);
        let word = generator.map(|from| Generator { position: from.position + i as u64, ..from }.word());
        // A distance is that of an `f32`.
        let x = if word.is_some() { f64::from(to_odd(x)) } else { x };
        u64::from(of.encode(x, word))
    };
    vec![output(if of.bits() > 8 { DType::U16 } else { DType::U8 }, bits.enumerate().map(code))]
}
