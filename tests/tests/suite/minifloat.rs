//! Codecs against ml_dtypes' and NumPy's results (`data/minifloats.py`), and against a search in the table of a format's numbers.

use crate::common::{each, each_with};
use isowarp::element::DType;
use isowarp::minifloat::{BF16, E2M1, E2M3, E3M2, E4M3, E4M3_IEEE, E5M2, MiniFloat, Rounding, Specials};
use isowarp::prelude::*;
use isowarp::{Cpu, Error};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

fn sha(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Every f32 whose lower half is a multiple of 2^12, and its neighbours.
fn inputs() -> Vec<f32> {
    let low = (0..16u32).flat_map(|k| [k << 12, k << 12 | 1, (k << 12).wrapping_sub(1) & 0xffff]);
    let low: Vec<u32> = low.collect();
    (0..1u32 << 16).flat_map(|high| low.iter().map(move |low| f32::from_bits(high << 16 | low)).collect::<Vec<_>>()).collect()
}

#[test]
fn codes_and_values_are_those_of_ml_dtypes() {
    let found: Value = serde_json::from_str(include_str!("../../data/minifloats.json")).expect("JSON");
    let x = inputs();
    assert_eq!(found["inputs"], sha(bytemuck::cast_slice(&x)));
    each(|d| {
        let x = d.upload(&x).unwrap();
        for (name, expected) in found.as_object().unwrap().iter().filter(|(_, of)| of.is_object()) {
            let format: MiniFloat = name.parse().unwrap();
            let values = d.map(counting(1 << format.bits()), |code| format.decode(code)).unwrap().read_blocking().unwrap();
            assert_eq!(expected["decoded"], sha(bytemuck::cast_slice(&values)), "values of {name}");
            let codes = if format.bits() > 8 {
                let codes = d.map(&x, |x| format.encode(x).store_as::<u16>()).unwrap().read_blocking().unwrap();
                sha(bytemuck::cast_slice(&codes))
            } else {
                sha(&d.map(&x, |x| format.encode(x).store_as::<u8>()).unwrap().read_blocking().unwrap())
            };
            assert_eq!(expected["encoded"], codes, "codes of {name}");
        }
    });
}

/// The finite numbers from zero on by their codes, one more that follows if exponents go on, and whether infinity follows.
struct Table {
    values: Vec<f64>,
    specials: Specials,
    bits: u32,
}

impl Table {
    fn new(e: u32, m: u32, specials: Specials) -> Self {
        let bias = (1 << (e - 1)) - 1;
        let codes = match specials {
            Specials::Ieee => ((1 << e) - 1) << m,
            Specials::OneNan => (1 << (e + m)) - 1,
            Specials::Finite => 1 << (e + m),
        };
        let value = |code: u32| {
            let (field, fraction) = ((code >> m) as i32, f64::from(code & ((1 << m) - 1)) / f64::from(1 << m));
            if field == 0 { fraction * 2f64.powi(1 - bias) } else { (1.0 + fraction) * 2f64.powi(field - bias) }
        };
        Self { values: (0..=codes).map(value).collect(), specials, bits: 1 + e + m }
    }

    fn greatest(&self) -> u32 {
        self.values.len() as u32 - 2
    }

    fn value(&self, code: u32) -> f32 {
        let sign = if code >> (self.bits - 1) & 1 == 1 { -1.0 } else { 1.0 };
        let magnitude = code & ((1 << (self.bits - 1)) - 1);
        match self.specials {
            _ if magnitude <= self.greatest() => (self.values[magnitude as usize] * sign) as f32,
            Specials::Ieee if magnitude == self.greatest() + 1 => f32::INFINITY * sign as f32,
            _ => f32::NAN,
        }
    }

    /// The code by a search: `up` says of the two neighbours' codes, the fraction between them and the sign whether the greater magnitude is taken.
    fn code(&self, x: f64, saturates: bool, up: impl Fn(u32, f64, bool) -> bool, stops: bool) -> u32 {
        let (greatest, negative) = (self.greatest(), x.is_sign_negative());
        let sign = u32::from(negative) << (self.bits - 1);
        if x.is_nan() {
            return match self.specials {
                Specials::Ieee => (greatest + 1) + (greatest + 1).isolate_lowest() / 2,
                _ => (1 << (self.bits - 1)) - 1,
            };
        }
        let below = self.values.partition_point(|v| *v <= x.abs()) as u32 - 1;
        let code = if x.is_infinite() || below > greatest {
            greatest + 1
        } else {
            let (low, high) = (self.values[below as usize], self.values[below as usize + 1]);
            let fraction = (x.abs() - low) / (high - low);
            below + u32::from(fraction != 0.0 && up(below, fraction, negative))
        };
        if code <= greatest {
            return code | sign;
        }
        match self.specials {
            _ if saturates || (stops && x.is_finite()) => greatest | sign,
            Specials::Ieee => (greatest + 1) | sign,
            Specials::OneNan => greatest + 1,
            Specials::Finite => greatest | sign,
        }
    }
}

/// The lowest bit that is set.
trait IsolateLowest {
    fn isolate_lowest(self) -> Self;
}
impl IsolateLowest for u32 {
    fn isolate_lowest(self) -> Self {
        self & self.wrapping_neg()
    }
}

/// The code that a search gives for a rounding.
fn searched(table: &Table, rounding: Rounding, x: f64, saturates: bool) -> u32 {
    let stops = match rounding {
        Rounding::TowardZero | Rounding::ToOdd => true,
        Rounding::Up => x < 0.0,
        Rounding::Down => x > 0.0,
        _ => false,
    };
    let up = |code: u32, fraction: f64, negative: bool| match rounding {
        Rounding::NearestEven => fraction > 0.5 || (fraction == 0.5 && code % 2 == 1),
        Rounding::NearestAway => fraction >= 0.5,
        Rounding::TowardZero => false,
        Rounding::Up => !negative,
        Rounding::Down => negative,
        Rounding::ToOdd => code.is_multiple_of(2),
    };
    table.code(x, saturates, up, stops)
}

const ROUNDINGS: [Rounding; 6] =
    [Rounding::NearestEven, Rounding::NearestAway, Rounding::TowardZero, Rounding::Up, Rounding::Down, Rounding::ToOdd];

/// A format's numbers, what is halfway between them, and their neighbours; what is no number, and the ends of f32.
fn boundaries(table: &Table) -> Vec<f64> {
    let middles = table.values.windows(2).flat_map(|pair| [pair[0], f64::midpoint(pair[0], pair[1])]);
    let mut all: Vec<f64> = middles.chain(table.values.last().copied()).collect();
    all.extend([f64::from(f32::MIN_POSITIVE), f64::from(f32::from_bits(1)), f64::from(f32::MAX), f64::INFINITY, f64::NAN]);
    all.iter().flat_map(|x| [*x, -x]).collect()
}

/// The f32 among them, and those beside them.
fn narrow(all: &[f64]) -> Vec<f32> {
    let of = |x: &f64| {
        let x = *x as f32;
        [x, x.next_up(), x.next_down()]
    };
    all.iter().flat_map(of).collect()
}

#[test]
fn every_format_decodes_and_rounds_as_a_search_in_its_numbers_does() {
    let dev = Cpu::new();
    for (e, m) in (1..=8).flat_map(|e| (0..=15 - e).map(move |m| (e, m))) {
        for specials in [Specials::Ieee, Specials::OneNan, Specials::Finite] {
            let Ok(format) = MiniFloat::new(e, m, specials) else { continue };
            let table = Table::new(e, m, specials);
            let values = dev.map(counting(1 << format.bits()), |code| format.decode(code)).unwrap().read_blocking().unwrap();
            let same = |(code, value): (usize, &f32)| value.to_bits() == table.value(code as u32).to_bits();
            assert!(values.iter().enumerate().all(same), "{format}");
            // Formats of many numbers take seconds.
            if m > 4 {
                continue;
            }
            let x = narrow(&boundaries(&table));
            let buffer = dev.upload(&x).unwrap();
            for (rounding, saturates) in ROUNDINGS.into_iter().flat_map(|r| [(r, false), (r, true)]) {
                let plain = format.rounding(rounding);
                let rounds = if saturates { plain.saturating() } else { plain };
                let codes = dev.map(&buffer, |x| rounds.encode(x)).unwrap().read_blocking().unwrap();
                for (x, code) in x.iter().zip(codes) {
                    assert_eq!(code, searched(&table, rounding, f64::from(*x), saturates), "{x:e} as {format}, {rounding:?}, {saturates}");
                }
            }
        }
    }
}

const SOME: [(u32, u32, Specials, MiniFloat); 7] = [
    (4, 3, Specials::OneNan, E4M3),
    (4, 3, Specials::Ieee, E4M3_IEEE),
    (5, 2, Specials::Ieee, E5M2),
    (3, 2, Specials::Finite, E3M2),
    (2, 3, Specials::Finite, E2M3),
    (2, 1, Specials::Finite, E2M1),
    (8, 7, Specials::Ieee, BF16),
];

#[test]
fn every_rounding_is_that_of_a_search_on_every_device() {
    each(|d| {
        for (e, m, specials, format) in SOME {
            let table = Table::new(e, m, specials);
            let x = narrow(&boundaries(&table));
            let buffer = d.upload(&x).unwrap();
            for rounding in ROUNDINGS {
                let codes = d.map(&buffer, |x| format.rounding(rounding).encode(x)).unwrap().read_blocking().unwrap();
                for (x, code) in x.iter().zip(codes) {
                    assert_eq!(code, searched(&table, rounding, f64::from(*x), false), "{x:e} as {format}, {rounding:?}");
                }
            }
        }
    });
}

#[test]
fn an_f64_is_rounded_once() {
    each_with(&[DType::F64], |d| {
        for (e, m, specials, format) in SOME {
            let table = Table::new(e, m, specials);
            let all = boundaries(&table);
            let x: Vec<f64> = all.iter().flat_map(|x| [*x, x.next_up(), x.next_down()]).chain([f64::MAX, f64::from_bits(1)]).collect();
            let buffer = d.upload(&x).unwrap();
            for rounding in ROUNDINGS {
                let codes = d.map(&buffer, |x| format.rounding(rounding).encode(x)).unwrap().read_blocking().unwrap();
                for (x, code) in x.iter().zip(codes) {
                    // Fractions that an f64 does not hold are those of the least numbers, as good as their signs.
                    assert_eq!(code, searched(&table, rounding, *x, false), "{x:e} as {format}, {rounding:?}");
                }
            }
        }
    });
}

#[test]
fn words_decide_a_stochastic_rounding_by_the_fraction() {
    let words = [0, 1, 7, 0x3fff_ffff, 0x4000_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, u32::MAX];
    each(|d| {
        for (e, m, specials, format) in SOME {
            let table = Table::new(e, m, specials);
            let x = narrow(&boundaries(&table));
            let buffer = d.upload(&x).unwrap();
            for word in words {
                let codes = d.map((&buffer, scalar(word)), |(x, word)| format.encode_stochastic(x, word)).unwrap().read_blocking().unwrap();
                for (x, code) in x.iter().zip(codes) {
                    let up = |_, fraction: f64, _| f64::from(word) < (fraction * 4_294_967_296.0).floor();
                    assert_eq!(code, table.code(f64::from(*x), false, up, false), "{x:e} as {format} by {word:x}");
                }
            }
        }
    });
}

#[test]
fn rounding_to_odd_first_rounds_once() {
    let dev = Cpu::new();
    let x = dev.upload(&inputs()).unwrap();
    let odd = MiniFloat::new(8, 7, Specials::Ieee).unwrap().rounding(Rounding::ToOdd);
    // Two bits fewer than those of an upper half.
    let of = MiniFloat::new(4, 3, Specials::OneNan).unwrap();
    let differ = dev.count(&x, |x| of.encode(x).ne(of.encode(odd.decode(odd.encode(x))))).unwrap().read_blocking().unwrap();
    assert_eq!(differ, 0);
}

#[test]
fn formats_that_are_none_are_refused() {
    let refused = |e, m, specials| match MiniFloat::new(e, m, specials) {
        Err(Error::InvalidArgument { what: "float format", reason }) => reason,
        other => panic!("{other:?}"),
    };
    for specials in [Specials::Ieee, Specials::OneNan, Specials::Finite] {
        assert!(refused(0, 3, specials).contains("1 to 8 bits, not 0"));
        assert!(refused(9, 3, specials).contains("1 to 8 bits, not 9"));
        assert!(refused(8, 8, specials).contains("more than 16"));
        assert!(refused(1, u32::MAX, specials).contains("more than 16"));
    }
    for specials in [Specials::OneNan, Specials::Finite] {
        assert!(refused(8, 3, specials).contains("beyond f32"));
    }
    assert!(refused(4, 0, Specials::Ieee).contains("NaN would be infinity"));
    for text in ["", "e4", "e4m3fn", "e0m3-ieee", "e8m8-ieee", "e8m2-nan", "e4m0-ieee", "em-finite", "e4m3-", "E4M3"] {
        assert!(matches!(text.parse::<MiniFloat>(), Err(Error::InvalidArgument { what: "float format", .. })), "{text}");
    }
}
