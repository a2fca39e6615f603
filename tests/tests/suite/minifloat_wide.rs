//! Codes of formats with five to ten bits of mantissa, f16 among them, against a loop in integers, and those of f64 as f16 against NumPy's
//! (`data/minifloats.py`).

use crate::common::{cpu, each, each_with, mt19937};
use isowarp::backend::Backend as _;
use isowarp::element::DType;
use isowarp::minifloat::{F16, MiniFloat, Rounding, Specials};
use isowarp::prelude::*;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A format's bits and specials.
#[derive(Clone, Copy)]
struct Bits(u32, u32, Specials);

const HALF: Bits = Bits(5, 10, Specials::Ieee);

/// The number that a value between two becomes, by a rounding or by a word.
#[derive(Clone, Copy, Debug)]
enum By {
    Rounding(Rounding),
    Word(u32),
}

const ROUNDINGS: [Rounding; 6] =
    [Rounding::NearestEven, Rounding::NearestAway, Rounding::TowardZero, Rounding::Up, Rounding::Down, Rounding::ToOdd];

/// Words about the fractions of quarters, and others.
const WORDS: [u32; 8] = [0, 1, 0x3fff_ffff, 0x4000_0000, 0x7fff_ffff, 0x8000_0000, 0xbfff_ffff, u32::MAX];

impl Bits {
    /// The exponent of the subnormal numbers' unit.
    fn least(self) -> i32 {
        let Self(e, m, _) = self;
        2 - (1 << (e - 1)) - m as i32
    }

    /// Code of the greatest positive number.
    fn greatest(self) -> u32 {
        let Self(e, m, specials) = self;
        match specials {
            Specials::Ieee => (((1 << e) - 1) << m) - 1,
            Specials::OneNan => (1 << (e + m)) - 2,
            Specials::Finite => (1 << (e + m)) - 1,
        }
    }

    /// The positive number of a code, and of the next one above the greatest as if exponents went on, with so many more quarters of the unit.
    fn value(self, code: u32, quarters: u32) -> f64 {
        let Self(_, m, _) = self;
        let (field, fraction) = (code >> m, code & ((1 << m) - 1));
        let whole = if field == 0 { fraction } else { fraction | 1 << m };
        f64::from(4 * whole + quarters) * 2f64.powi(self.least() + field.max(1) as i32 - 3)
    }

    /// A value's code: the whole units that are in it and the rest, as integers.
    fn code(self, x: f64, by: By, saturates: bool) -> u32 {
        let Self(e, m, specials) = self;
        let (negative, greatest) = (x.is_sign_negative(), self.greatest());
        let sign = u32::from(negative) << (e + m);
        let (beyond, nan) = match specials {
            Specials::Ieee => ((greatest + 1) | sign, (greatest + 1) | 1 << (m - 1)),
            Specials::OneNan => (greatest + 1, greatest + 1),
            Specials::Finite => (greatest | sign, greatest),
        };
        let beyond = if saturates { greatest | sign } else { beyond };
        let (field, fraction) = ((x.to_bits() >> 52 & 0x7ff) as i32, x.to_bits() & ((1 << 52) - 1));
        match (field, fraction) {
            (0x7ff, 0) => return beyond,
            (0x7ff, _) => return nan,
            (0, 0) => return sign,
            _ => {}
        }
        // The value is the significand times a power of two; the unit is another power, so many places above.
        let (significand, exponent) = if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        let unit = (exponent + 63 - significand.leading_zeros() as i32 - m as i32).max(self.least());
        let places = unit - exponent;
        // A unit 90 places above the significand's last has nothing of the value in its first 32 binary digits, nor have those above.
        let below = places.clamp(0, 90);
        let (one, whole) = (1u128 << below, u128::from(significand) << (below - places).max(0) >> below);
        let rest = u128::from(significand) & (one - 1);
        let odd = whole % 2 == 1;
        let up = match by {
            By::Rounding(Rounding::NearestEven) => 2 * rest > one || (2 * rest == one && odd),
            By::Rounding(Rounding::NearestAway) => 2 * rest >= one,
            By::Rounding(Rounding::TowardZero) => false,
            By::Rounding(Rounding::Up) => rest > 0 && !negative,
            By::Rounding(Rounding::Down) => rest > 0 && negative,
            By::Rounding(Rounding::ToOdd) => rest > 0 && !odd,
            By::Word(word) => u128::from(word) < rest << 32 >> below,
        };
        let stops = match by {
            By::Rounding(Rounding::TowardZero | Rounding::ToOdd) => true,
            By::Rounding(Rounding::Up) => negative,
            By::Rounding(Rounding::Down) => !negative,
            _ => false,
        };
        // A whole that has the hidden bit adds one to the exponent's field.
        let code = whole as u64 + (((unit - self.least()) as u64) << m) + u64::from(up);
        match code {
            _ if code <= greatest.into() => code as u32 | sign,
            _ if stops => greatest | sign,
            _ => beyond,
        }
    }

    /// The value as an odd `f32`, by the same loop.
    fn narrowed(x: f64) -> f32 {
        f32::from_bits(Bits(8, 23, Specials::Ieee).code(x, By::Rounding(Rounding::ToOdd), false))
    }
}

/// Codes at both ends of every exponent up to the greatest, and others at random.
fn some_codes(of: Bits, others: u32) -> Vec<u32> {
    let Bits(_, m, _) = of;
    let (greatest, last) = (of.greatest(), (1 << m) - 1);
    let ends = (0..=greatest >> m).flat_map(|field| [0, 1, last - 1, last].map(|fraction| field << m | fraction));
    let random = (1..=others).map(|k| k.wrapping_mul(0x9e37_79b9) >> 8).map(|word| word % (greatest + 1));
    ends.chain(random).filter(|code| *code <= greatest).chain([greatest]).collect()
}

/// The numbers of these codes, the quarters of the way to the next ones, the neighbours of a number and of a half, and numbers that no format has.
macro_rules! beside {
    ($float:ty, $of:expr, $codes:expr) => {{
        let of_code = |code: u32| {
            let [whole, first, half, last] = [0, 1, 2, 3].map(|quarters| $of.value(code, quarters) as $float);
            [whole, whole.next_up(), whole.next_down(), first, half, half.next_up(), half.next_down(), last]
        };
        let far = [<$float>::from_bits(1), <$float>::MIN_POSITIVE, f32::MAX.into(), <$float>::MAX, <$float>::INFINITY, <$float>::NAN];
        let all: Vec<$float> = $codes.into_iter().flat_map(of_code).chain(far).collect();
        all.iter().flat_map(|x| [*x, -*x]).collect::<Vec<$float>>()
    }};
}

/// Codes of values that a device found against the loop's.
macro_rules! check {
    ($format:expr, $of:expr, $by:expr, $saturates:expr, $x:expr, $found:expr) => {
        let found: Vec<u32> = $found;
        assert_eq!(found.len(), $x.len());
        for (x, found) in $x.iter().zip(found) {
            let expected = $of.code(f64::from(*x), $by, $saturates);
            assert_eq!(found, expected, "{x:e} as {}, {:?}, {}: {found:x} for {expected:x}", $format, $by, $saturates);
        }
    };
}

#[test]
fn formats_of_five_to_ten_bits_of_mantissa_round_as_a_loop_in_integers_does() {
    let dev = cpu();
    let (mut formats, mut inputs) = (0, 0);
    for (e, m) in (5..=10).flat_map(|m| (1..=8.min(15 - m)).map(move |e| (e, m))) {
        for specials in [Specials::Ieee, Specials::OneNan, Specials::Finite] {
            let Ok(format) = MiniFloat::new(e, m, specials) else { continue };
            let of = Bits(e, m, specials);
            let codes = some_codes(of, 200);
            let (x, wide) = (beside!(f32, of, codes.iter().copied()), beside!(f64, of, codes.iter().copied().step_by(3)));
            let (single, double) = (dev.upload(&x).unwrap(), dev.upload(&wide).unwrap());
            for (rounding, saturates) in ROUNDINGS.into_iter().flat_map(|r| [(r, false), (r, true)]) {
                let plain = format.rounding(rounding);
                let rounds = if saturates { plain.saturating() } else { plain };
                let by = By::Rounding(rounding);
                check!(format, of, by, saturates, x, dev.map(&single, |x| rounds.encode(x)).unwrap().read_blocking().unwrap());
                check!(format, of, by, saturates, wide, dev.map(&double, |x| rounds.encode(x)).unwrap().read_blocking().unwrap());
            }
            for word in WORDS {
                let found = dev.map(&single, |x| format.encode_stochastic(x, lit(word))).unwrap().read_blocking().unwrap();
                check!(format, of, By::Word(word), false, x, found);
            }
            (formats, inputs) = (formats + 1, inputs + x.len() + wide.len());
        }
    }
    assert_eq!((formats, inputs > 600_000), (120, true), "{inputs} inputs");
}

/// Encodings of f16 of all numbers and halves by six roundings, and of what is too great.
macro_rules! f16s_are_those_of_the_loop {
    ($d:expr, $float:ty) => {{
        let x = beside!($float, HALF, 0..=HALF.greatest());
        let buffer = $d.upload(&x).unwrap();
        for rounding in ROUNDINGS {
            let found = $d.map(&buffer, |x| F16.rounding(rounding).encode(x)).unwrap().read_blocking().unwrap();
            check!(F16, HALF, By::Rounding(rounding), false, x, found);
        }
    }};
}

#[test]
fn every_f16_and_half_is_rounded_as_a_loop_in_integers_does_on_every_device() {
    each(|d| f16s_are_those_of_the_loop!(d, f32));
    each_with(&[DType::F64], |d| f16s_are_those_of_the_loop!(d, f64));
}

#[test]
fn f16_codes_of_f64_are_those_of_numpy() {
    let found: Value = serde_json::from_str(include_str!("../../data/minifloats.json")).expect("JSON");
    let sha = |bytes: &[u8]| -> String { Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect() };
    let all = 0..=HALF.greatest() + 1;
    let mut x: Vec<f64> = all.clone().map(|code| HALF.value(code, 0)).chain(all.take(0x7c00).map(|code| HALF.value(code, 2))).collect();
    x = [x.clone(), x.iter().map(|x| x.next_up()).collect(), x.iter().map(|x| x.next_down()).collect()].concat();
    x.extend(x.clone().iter().map(|x| -x));
    assert_eq!(found["f16"]["f64 inputs"], sha(bytemuck::cast_slice(&x)));
    each_with(&[DType::F64], |d| {
        let codes = d.map(&d.upload(&x).unwrap(), |x| F16.encode(x).store_as::<u16>()).unwrap().read_blocking().unwrap();
        assert_eq!(found["f16"]["encoded f64"], sha(bytemuck::cast_slice(&codes)));
    });
}

/// Numbers between a quarter of the least f16 and twice the greatest one, each with a word: of three of four the first that rounds towards zero, or
/// the last that does not.
fn drawn(n: usize) -> (Vec<f64>, Vec<u32>) {
    let words = mt19937(11, 3 * n);
    let draw = |(k, of): (usize, &[u32])| {
        let (high, low, word) = (of[0], of[1], of[2]);
        let x = f64::from_bits(u64::from((1023 - 26 + high % 43) << 20 | high & 1 << 31 | high >> 8 & 0xf_ffff) << 32 | u64::from(low));
        let by = [None, Some(0), Some(1), Some(1)][k % 4];
        (x, by.map_or(word, |by| limit(Bits::narrowed(x).into()).wrapping_sub(by)))
    };
    words.chunks_exact(3).enumerate().map(draw).unzip()
}

/// The least word by which a value is rounded towards zero, by halves.
fn limit(x: f64) -> u32 {
    let toward_zero = HALF.code(x, By::Rounding(Rounding::TowardZero), false);
    let mut word = 0;
    for bit in (0..32).rev() {
        let more = word | 1 << bit;
        // The word before it still rounds away from zero.
        if HALF.code(x, By::Word(more - 1), false) != toward_zero {
            word = more;
        }
    }
    word
}

#[test]
fn words_decide_a_stochastic_rounding_to_f16_by_the_fraction() {
    let (x, words) = drawn(60_000);
    let narrow: Vec<f32> = x.iter().map(|x| Bits::narrowed(*x)).collect();
    let expected: Vec<u32> = narrow.iter().zip(&words).map(|(x, word)| HALF.code(f64::from(*x), By::Word(*word), false)).collect();
    let toward_zero = narrow.iter().map(|x| HALF.code(f64::from(*x), By::Rounding(Rounding::TowardZero), false));
    let up = toward_zero.zip(&expected).filter(|(zero, code)| zero != *code).count();
    assert!((20_000..45_000).contains(&up), "{up} are rounded away from zero");
    each(|d| {
        let words = d.upload(&words).unwrap();
        let encode = |(x, word): (Expr<f32>, Expr<u32>)| F16.encode_stochastic(x, word);
        assert_eq!(d.map((&d.upload(&narrow).unwrap(), &words), encode).unwrap().read_blocking().unwrap(), expected);
        if d.caps().supports(DType::F64) {
            let encode = |(x, word): (Expr<f64>, Expr<u32>)| F16.encode_stochastic(x, word);
            assert_eq!(d.map((&d.upload(&x).unwrap(), &words), encode).unwrap().read_blocking().unwrap(), expected);
        }
        let all = beside!(f32, HALF, (0..=HALF.greatest()).step_by(7));
        let buffer = d.upload(&all).unwrap();
        for word in WORDS {
            let found = d.map((&buffer, scalar(word)), |(x, word)| F16.encode_stochastic(x, word)).unwrap().read_blocking().unwrap();
            check!(F16, HALF, By::Word(word), false, all, found);
        }
    });
}
