//! Operands that operations are tried on.

use super::checks::Random;

/// Operands, three to an invocation: bits of numbers of any type.
pub(crate) struct Operands {
    pub(crate) all: Vec<[u64; 3]>,
}

/// Numbers of a float type.
struct Floats<'a> {
    ordinary: &'a [u64],
    edges: &'a [u64],
}

/// Every pair of `values` but those of the first `done` ones, with a third that goes through them too.
fn pairs(values: &[u64], done: usize, out: &mut Vec<[u64; 3]>) {
    for (n, &a) in values.iter().enumerate() {
        for (m, &b) in values.iter().enumerate().filter(|&(m, _)| n >= done || m >= done) {
            out.push([a, b, values[(n * 5 + m * 7) % values.len()]]);
        }
    }
}

/// Boundaries of integers of this width, and shift amounts around widths.
fn integers(bits: u32) -> Vec<u64> {
    let mut out = vec![0, 1, 2, 3, 31, 32, 33, 63, 64, 100, 0x80, 0x7fff, 0xff_ffff, 0x100_0001, 0x5555_5555];
    out.extend([0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_ffff]);
    if bits == 64 {
        out.extend([1 << 32, (1 << 53) + 1, 1 << 63, (1 << 63) - 1, 0x8000_0080_0000_0001]);
    }
    let negative = [1, 2, 5, 100, 0x8000].map(|n: u64| n.wrapping_neg() & (u64::MAX >> (64 - bits)));
    out.extend(negative);
    out
}

fn build(floats: &Floats<'_>, bits: u32, hard: impl Fn(&mut Random) -> [u64; 3], tiny: impl Fn(&mut Random) -> [u64; 3]) -> Operands {
    let mut random = Random(0x1505_2d1f_77aa_9e37);
    let mut all = Vec::new();
    pairs(floats.ordinary, 0, &mut all);
    for _ in 0..128 {
        all.push(hard(&mut random));
    }
    let every: Vec<u64> = floats.ordinary.iter().chain(floats.edges).copied().collect();
    pairs(&every, floats.ordinary.len(), &mut all);
    pairs(&integers(bits), 0, &mut all);
    for _ in 0..64 {
        all.push(tiny(&mut random));
    }
    let mut any = || u64::from(random.next()) << 32 | u64::from(random.next());
    let mask = u64::MAX >> (64 - bits);
    let random_bits = all.len() + 128;
    while !all.len().is_multiple_of(64) || all.len() < random_bits {
        let shift = any() % u64::from(bits);
        all.push([any() & mask, (any() & mask) >> shift, any() & mask]);
    }
    Operands { all }
}

/// Operands of 32 bits.
pub(super) fn narrow() -> Operands {
    let bits = |values: &[f32]| values.iter().map(|v| u64::from(v.to_bits())).collect::<Vec<_>>();
    let ordinary = bits(&[
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        0.5,
        -2.5,
        1.5,
        1.0 + f32::EPSILON,
        1.0 - f32::EPSILON / 2.0,
        16_777_217.0,
        8_388_608.5,
        -4_194_304.5,
        -7.75,
        1.0e9,
        -3.0e9,
        4_294_967_040.0,
        1.0e15,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ]);
    let edges = bits(&[
        f32::MIN_POSITIVE,
        -f32::MIN_POSITIVE,
        1.0e-40,
        f32::from_bits(1),
        -f32::from_bits(1),
        -f32::from_bits(0x0040_0001),
        f32::from_bits(0x007f_ffff),
        f32::MAX,
        2.0,
        1.0e-38,
        3.0e-20,
        1.5e-23,
    ]);
    let hard = |random: &mut Random| {
        let of = |v: [f32; 3]| v.map(|v| u64::from(v.to_bits()));
        if random.next() & 1 == 0 {
            of([random.float(-30, 30), random.float(-30, 30), random.float(-30, 30)])
        } else {
            of(random.hard(-17, 17))
        }
    };
    let tiny = |random: &mut Random| {
        [random.float(-126, -60), random.float(-126, -20), f32::from_bits(random.next() & 0x80ff_ffff)].map(|v| u64::from(v.to_bits()))
    };
    build(&Floats { ordinary: &ordinary, edges: &edges }, 32, hard, tiny)
}

/// Operands of 64 bits.
pub(super) fn wide() -> Operands {
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let ordinary = bits(&[
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.1,
        0.5,
        2.5,
        1.0 + f64::EPSILON,
        1.0 - f64::EPSILON / 2.0,
        9_007_199_254_740_993.0,
        4_503_599_627_370_496.5,
        -7.75,
        1.0e9,
        -2_147_483_648.5,
        1.0e19,
        16_777_217.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ]);
    let edges = bits(&[
        f64::MIN_POSITIVE,
        -f64::MIN_POSITIVE,
        f64::from_bits(1),
        -f64::from_bits(1),
        f64::from_bits(0x000f_ffff_ffff_ffff),
        1.0e-310,
        f64::MAX,
        1.0e39,
        1.0e-40,
        1.0e-46,
        3.4028235677973366e38,
        2.0e-160,
    ]);
    let float = |random: &mut Random, low: u64, high: u64| {
        let exponent = low + u64::from(random.next()) % (high - low + 1);
        let mantissa = (u64::from(random.next()) << 32 | u64::from(random.next())) & 0x800f_ffff_ffff_ffff;
        mantissa | exponent << 52
    };
    let hard = |random: &mut Random| [float(random, 1003, 1043), float(random, 1003, 1043), float(random, 1003, 1043)];
    let tiny = |random: &mut Random| [float(random, 1, 120), float(random, 0, 900), float(random, 0, 1)];
    build(&Floats { ordinary: &ordinary, edges: &edges }, 64, hard, tiny)
}
