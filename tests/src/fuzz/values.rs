//! Random choices that a seed decides, and values at the edges of each type.

use super::trial::Array;
use crate::data::bits;
use half::f16;
use isowarp::element::{DType, Ty};

/// Numbers that a seed decides.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    /// The numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.drawn += 1;
        bits(self.seed, self.drawn)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.word() >> 11) as usize % n.max(1)
    }

    /// True `percent` times of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Whole numbers where conversions, widths and signs change.
const WHOLE: [i128; 41] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    5,
    7,
    8,
    -5,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    99,
    -99,
    100,
    127,
    128,
    -128,
    255,
    256,
    2478,
    -2478,
    0x7FFF,
    -0x8000,
    0xFFFF,
    (1 << 24) + 1,
    0x7FFF_FF80,
    0x7FFF_FFFF,
    -0x8000_0000,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
    1 << 32,
    (1 << 53) + 1,
    0x7FFF_FFFF_FFFF_FFFF,
    -0x8000_0000_0000_0000,
    0xFFFF_FFFF_FFFF_FFFF,
];

/// Floats with and without a fraction, for every float type as near as it has them.
const FRACTIONS: [f64; 22] = [
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.5,
    0.25,
    0.1,
    -0.1,
    1e-3,
    core::f64::consts::PI,
    -core::f64::consts::E,
    88.7,
    -87.3,
    103.5,
    6.5e4,
    6.0e-8,
    8_388_607.5,
    4_194_303.5,
    1e10,
    1.8e19,
    1e30,
    -1e-30,
];

/// The low bits of a float type's special values: zeros, infinities, NaN, subnormals, the least and greatest normal ones, neighbours of one.
fn special(mantissa: u32, exponent: u32) -> [u64; 17] {
    let sign = 1u64 << (mantissa + exponent);
    let infinity = ((1u64 << exponent) - 1) << mantissa;
    let one = ((1u64 << (exponent - 1)) - 1) << mantissa;
    let least = 1u64 << mantissa;
    [
        0,
        sign,
        one,
        sign | one,
        infinity,
        sign | infinity,
        infinity | 1 << (mantissa - 1),
        sign | infinity | 5,
        1,
        sign | 1,
        least - 1,
        sign | (least - 1),
        least,
        sign | least,
        infinity - 1,
        one + 1,
        one - 1,
    ]
}

/// The bits of a number in a register type, as near as it has it.
fn near(ty: Ty, v: f64) -> u64 {
    match ty {
        Ty::F32 => u64::from((v as f32).to_bits()),
        Ty::F64 => v.to_bits(),
        _ => 0,
    }
}

/// The nearest `f16`, of two the even one: of the neighbours of a conversion that may have been rounded twice.
pub(super) fn nearest_f16(x: f64) -> f16 {
    let near = f16::from_f32(x as f32);
    let neighbours = [near.to_bits().wrapping_sub(1), near.to_bits(), near.to_bits().wrapping_add(1)].map(f16::from_bits);
    // Half of the greatest step is the limit of infinity, which stands where one more number would.
    let place = |y: f16| if y.is_infinite() { 65_536f64.copysign(f64::from(y)) } else { f64::from(y) };
    let is_near = |y: &&f16| !y.is_nan() && f64::from(**y).is_sign_negative() == x.is_sign_negative();
    let distance = |y: &f16| ((place(*y) - x).abs(), y.to_bits() & 1);
    let best = neighbours.iter().filter(is_near).min_by(|a, b| distance(a).partial_cmp(&distance(b)).expect("numbers"));
    *best.filter(|_| x.is_finite()).unwrap_or(&near)
}

fn float(dtype: DType, r: &mut Random) -> u64 {
    let convert = |v: f64| match dtype {
        DType::F16 => u64::from(nearest_f16(v).to_bits()),
        other => near(other.ty(), v),
    };
    let (mantissa, exponent) = match dtype {
        DType::F16 => (10, 5),
        DType::F32 => (23, 8),
        _ => (52, 11),
    };
    match r.below(8) {
        0..=2 => r.pick(&special(mantissa, exponent)),
        3 => convert(r.pick(&WHOLE) as f64),
        4 => convert(r.pick(&FRACTIONS)),
        // Moderate, so that sums and products stay in range.
        5 | 6 => convert((r.word() >> 40) as f64 / 65536.0 - 128.0),
        _ => r.word(),
    }
}

/// A value of an element type, as its stored bits: at an edge, small, or any bits.
pub(super) fn edge(dtype: DType, r: &mut Random) -> u64 {
    let bits = match dtype {
        DType::F32 | DType::F64 | DType::F16 => float(dtype, r),
        _ => match r.below(8) {
            0..=3 => r.pick(&WHOLE) as u64,
            4 => 1u64.rotate_left(r.below(64) as u32).wrapping_sub(r.below(2) as u64),
            5 => (r.below(17) as u64).wrapping_sub(8),
            _ => r.word(),
        },
    };
    bits & (u64::MAX >> (64 - 8 * dtype.size_bytes()))
}

/// A constant of a register type: one canonical NaN, all else as [`edge`].
pub(super) fn constant(ty: Ty, r: &mut Random) -> u64 {
    match ty {
        Ty::Bool => r.word() & 1,
        _ => super::rules::canonical(ty, edge(ty.dtype(), r)),
    }
}

/// A value that counts bits or stands in an index: mostly small.
pub(super) fn small(r: &mut Random) -> u64 {
    if r.chance(85) { r.below(70) as u64 } else { edge(DType::U32, r) }
}

/// Special values of an element type that meet all of another's.
const SPECIAL: usize = 40;

/// The special values of an element type, each once.
fn specials(dtype: DType) -> Vec<u64> {
    let mask = u64::MAX >> (64 - 8 * dtype.size_bytes());
    let convert = |v: f64| if dtype == DType::F16 { u64::from(nearest_f16(v).to_bits()) } else { near(dtype.ty(), v) };
    let mut all: Vec<u64> = match dtype {
        DType::F16 => special(10, 5).to_vec(),
        DType::F32 => special(23, 8).to_vec(),
        DType::F64 => special(52, 11).to_vec(),
        _ => WHOLE.iter().map(|&v| v as u64 & mask).collect(),
    };
    if dtype.ty().is_float() {
        all.extend(FRACTIONS.iter().map(|&v| convert(v)));
        all.extend(WHOLE.iter().rev().map(|&v| convert(v as f64)));
    }
    let mut once = Vec::new();
    all.retain(|b| {
        !once.contains(b) && {
            once.push(*b);
            true
        }
    });
    all.truncate(SPECIAL);
    all
}

/// Inputs in which every special value of the first meets every one of the second.
#[must_use]
pub fn crossed(dtypes: &[DType]) -> Vec<Array> {
    let all: Vec<Vec<u64>> = dtypes.iter().map(|&d| specials(d)).collect();
    let n: usize = all.iter().take(2).map(Vec::len).product();
    let each = all.get(1).map_or(1, Vec::len);
    let at = |k: usize, i: usize| if k == 0 { i / each } else { i * k };
    let one = |(k, (&dtype, values)): (usize, (&DType, &Vec<u64>))| {
        Array::plain(dtype, (0..n).map(|i| values[at(k, i) % values.len()]).collect())
    };
    dtypes.iter().zip(&all).enumerate().map(one).collect()
}
