//! Inputs: every element is a function of (seed, index) alone, so that a case's name decides its data.

use half::f16;
use isowarp::element::{DType, Element};

/// Well-mixed bits of a seed and an index (the finaliser of SplitMix64, twice).
#[must_use]
pub fn bits(seed: u64, i: u64) -> u64 {
    mix(mix(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03).wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number of 64 bits that a name stands for.
#[must_use]
pub fn seed(name: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(name.as_bytes())
}

/// Kind of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// Floats in [0, 1), integers of any bits.
    Plain,
    /// Any bit pattern, and a good share of special ones: NaN of any sign and payload, infinities, zeroes, subnormals, extremes.
    Bits,
    /// Finite floats over the whole range of exponents, both signs; small integers.
    Wide,
    /// Large floats that cancel almost wholly, with small ones between.
    Cancel,
    /// Subnormal floats.
    Subnormal,
    /// One value everywhere.
    Equal,
    /// Ascending, with runs of equal values.
    Sorted,
}

impl Fill {
    /// Every kind.
    pub const ALL: [Self; 7] = [Self::Plain, Self::Bits, Self::Wide, Self::Cancel, Self::Subnormal, Self::Equal, Self::Sorted];

    /// Its name in cases.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Bits => "bits",
            Self::Wide => "wide",
            Self::Cancel => "cancel",
            Self::Subnormal => "subnormal",
            Self::Equal => "equal",
            Self::Sorted => "sorted",
        }
    }
}

/// `n` elements.
#[must_use]
pub fn data<T: Element>(fill: Fill, n: u64, seed: u64) -> Vec<T> {
    (0..n).map(|i| element(fill, seed, i)).collect()
}

/// One element, from the bits of the generator.
fn element<T: Element>(fill: Fill, seed: u64, i: u64) -> T {
    let r = bits(seed, i);
    let word = match T::DTYPE {
        DType::F32 => u64::from(float(fill, seed, i, r).to_bits()),
        DType::F16 => u64::from(f16_bits(fill, seed, i, r)),
        DType::F64 => double(fill, seed, i, r).to_bits(),
        d => integer(fill, d, i, r, seed),
    };
    let bytes = word.to_le_bytes();
    bytemuck::pod_read_unaligned(&bytes[..T::DTYPE.size_bytes() as usize])
}

const SPECIAL: [u32; 24] = [
    0x0000_0000,
    0x8000_0000,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC0_0000,
    0x7F80_0001,
    0xFFBF_FFFF,
    0x7FFF_FFFF,
    0x7FC1_2345,
    0x0000_0001,
    0x8000_0001,
    0x007F_FFFF,
    0x807F_FFFF,
    0x0080_0000,
    0x8080_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x3F80_0000,
    0xBF80_0000,
    0x3F7F_FFFF,
    0x3F80_0001,
    0x4B00_0000,
    0x4F00_0000,
];

/// The special f32 values that cases put among others.
#[must_use]
pub fn special() -> Vec<f32> {
    SPECIAL.map(f32::from_bits).to_vec()
}

fn unit(r: u64) -> f32 {
    (r >> 40) as f32 / (1 << 24) as f32
}

fn float(fill: Fill, seed: u64, i: u64, r: u64) -> f32 {
    match fill {
        Fill::Plain => unit(r),
        Fill::Bits if r.is_multiple_of(4) => f32::from_bits(SPECIAL[(r >> 8) as usize % SPECIAL.len()]),
        Fill::Bits => f32::from_bits((r >> 32) as u32),
        // Exponents 1..=253: finite, and a sum of a few stays so.
        Fill::Wide => f32::from_bits((r >> 32) as u32 & 0x807F_FFFF | ((1 + (r as u32 & 0xFFFF) % 253) << 23)),
        Fill::Cancel if i % 3 == 2 => unit(r) - 0.5,
        // A large value and, at a place of its own, the same with the other sign.
        Fill::Cancel => (if i.is_multiple_of(3) { 1e9 } else { -1e9 }) * (1.0 + unit(bits(seed, (i / 3) % 1021))),
        Fill::Subnormal => f32::from_bits((r >> 32) as u32 & 0x807F_FFFF),
        Fill::Equal => 0.1,
        Fill::Sorted => sorted(i) as f32 * 0.37 - 100.0,
    }
}

/// Ascending with runs of five.
fn sorted(i: u64) -> u64 {
    i - i % 5
}

fn f16_bits(fill: Fill, seed: u64, i: u64, r: u64) -> u16 {
    match fill {
        Fill::Bits => (r >> 40) as u16,
        Fill::Wide => (r >> 40) as u16 & 0x83FF | ((1 + (r >> 20) as u16 % 29) << 10),
        Fill::Subnormal => (r >> 40) as u16 & 0x83FF,
        _ => f16::from_f32(float(fill, seed, i, r)).to_bits(),
    }
}

fn double(fill: Fill, seed: u64, i: u64, r: u64) -> f64 {
    let again = bits(seed ^ 0x5555_5555, i);
    match fill {
        Fill::Plain => (r >> 11) as f64 / (1u64 << 53) as f64,
        Fill::Bits if r.is_multiple_of(4) => f64::from(f32::from_bits(SPECIAL[(r >> 8) as usize % SPECIAL.len()])),
        Fill::Bits => f64::from_bits(again),
        Fill::Wide => f64::from_bits(again & 0x800F_FFFF_FFFF_FFFF | ((1 + (r >> 20) % 2045) << 52)),
        Fill::Cancel => f64::from(float(fill, seed, i, r)) * (1.0 + f64::EPSILON * (again % 16) as f64),
        Fill::Subnormal => f64::from_bits(again & 0x800F_FFFF_FFFF_FFFF),
        Fill::Equal => 0.1,
        Fill::Sorted => sorted(i) as f64 * 0.37 - 100.0,
    }
}

fn integer(fill: Fill, dtype: DType, i: u64, r: u64, seed: u64) -> u64 {
    let edges = match dtype {
        DType::I32 => [0, 1, u64::MAX, 1 << 31, (1 << 31) - 1, 31, 32, 33],
        DType::I64 => [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 63, 64, 1 << 32],
        DType::U8 => [0, 1, 255, 254, 128, 127, 2, 3],
        DType::I8 => [0, 1, u64::MAX, 1 << 7, (1 << 7) - 1, 7, 8, 9],
        DType::I16 => [0, 1, u64::MAX, 1 << 15, (1 << 15) - 1, 15, 16, 17],
        DType::U16 => [0, 1, u64::MAX, u64::MAX - 1, 1 << 15, (1 << 15) - 1, 16, 33],
        _ => [0, 1, u64::MAX, u64::MAX - 1, 1 << 31, (1 << 31) - 1, 1 << 32, 33],
    };
    match fill {
        Fill::Plain => r,
        Fill::Bits if r.is_multiple_of(2) => edges[(r >> 8) as usize % edges.len()],
        Fill::Bits => r.rotate_left(17),
        Fill::Wide => ((r >> 32) % 2001).wrapping_sub(1000),
        Fill::Cancel => {
            if i.is_multiple_of(2) {
                bits(seed, i | 1)
            } else {
                r.wrapping_neg()
            }
        }
        Fill::Subnormal => r & 1,
        Fill::Equal => 7,
        Fill::Sorted => sorted(i),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_depends_on_seed_and_index_alone() {
        let long: Vec<u32> = data(Fill::Bits, 100, 7);
        let short: Vec<u32> = data(Fill::Bits, 10, 7);
        assert_eq!(long[..10], short);
        assert_ne!(data::<u32>(Fill::Bits, 10, 8), short);
    }

    #[test]
    fn adversarial_floats_hold_what_they_promise() {
        let x: Vec<f32> = data(Fill::Bits, 4096, 1);
        assert!(x.iter().any(|v| v.is_nan() && v.is_sign_negative() && v.to_bits() & 0x3F_FFFF != 0), "a negative NaN with a payload");
        assert!(x.iter().any(|v| v.is_subnormal()) && x.iter().any(|v| v.is_infinite()) && x.iter().any(|v| v.to_bits() == 1 << 31));
        assert!(data::<f32>(Fill::Subnormal, 4096, 1).iter().all(|v| v.is_subnormal() || *v == 0.0));
        assert!(data::<f32>(Fill::Wide, 4096, 1).iter().all(|v| v.is_normal()));
        assert!(data::<f64>(Fill::Wide, 4096, 1).iter().all(|v| v.is_normal()));
        assert!(data::<f16>(Fill::Wide, 4096, 1).iter().all(|v| v.is_finite()));
    }
}
