//! Every function of the prelude gives Rust's bits: run through an interpreter of naga's IR over special, boundary and random values.

mod common;

use common::interp::{V, call};
use common::{module, native, validated, variant};
use half::f16;
use isowarp_core::element::Element as _;
use isowarp_core::numerics::Func;
use std::collections::BTreeSet;

const RANDOM: usize = 20_000;

/// A small, fixed generator (splitmix64): the same values on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

fn floats() -> Vec<f32> {
    let mut all: Vec<u32> =
        vec![0, 1, 2, 0x0040_0000, 0x007F_FFFF, 0x0080_0000, 0x0080_0001, 0x3F7F_FFFF, 0x3F80_0000, 0x3F80_0001, 0x7F7F_FFFF, 0x7F80_0000];
    all.extend([
        0x7F80_0001,
        0x7FC0_0000,
        0x7FFF_FFFF,
        0x3F00_0000,
        0x4B80_0000,
        0x4EFF_FFFF,
        0x4F00_0000,
        0x4F00_0001,
        0x4F7F_FFFF,
        0x4F80_0000,
    ]);
    all.extend([
        0x5EFF_FFFF,
        0x5F00_0000,
        0x5F7F_FFFF,
        0x5F80_0000,
        0x3880_0000,
        0x387F_FFFF,
        0x3300_0000,
        0x3300_0001,
        0x4780_0000,
        0x477F_EFFF,
        0x477F_F000,
    ]);
    all.extend(all.clone().iter().map(|b| b | 0x8000_0000));
    let mut random = Random(1);
    all.extend((0..RANDOM).map(|_| random.next() as u32));
    // Near the integers, and in f16's range.
    all.extend((0..RANDOM).map(|i| ((random.next() >> (i % 63)) as f32).to_bits() ^ ((i as u32 & 1) << 31)));
    all.extend((0..RANDOM).map(|_| 0x3200_0000 + random.next() as u32 % 0x1700_0000));
    all.into_iter().map(f32::from_bits).collect()
}

fn doubles() -> Vec<f64> {
    let mut all: Vec<u64> =
        vec![0, 1, 2, (1 << 52) - 1, 1 << 52, (1 << 52) + 1, 0x7FEF_FFFF_FFFF_FFFF, 0x7FF0_0000_0000_0000, 0x7FF0_0000_0000_0001];
    all.extend([0x7FF8_0000_0000_0000, u64::MAX >> 1, 0.5f64.to_bits(), 1f64.to_bits(), 1f64.to_bits() - 1, 1f64.to_bits() + 1]);
    for e in [31, 32, 53, 63, 64] {
        let v = 2f64.powi(e).to_bits();
        all.extend([v - 1, v, v + 1]);
    }
    all.extend(all.clone().iter().map(|b| b | 1 << 63));
    let mut random = Random(2);
    all.extend((0..RANDOM).map(|_| random.next()));
    all.extend((0..RANDOM).map(|i| ((random.next() >> (i % 63)) as f64).to_bits() ^ ((i as u64 & 1) << 63)));
    all.into_iter().map(f64::from_bits).collect()
}

fn integers() -> Vec<u64> {
    let mut all: Vec<u64> = (0..64).flat_map(|n| [(1u64 << n).wrapping_sub(1), 1 << n, (1 << n) + 1, (1u64 << n).wrapping_neg()]).collect();
    all.push(u64::MAX);
    // Halfway between two f32, and around it.
    all.extend((24..63).flat_map(|n| {
        (0..4).flat_map(move |odd| [-1i64, 0, 1].map(|d| ((1u64 << n) + (odd << (n - 23)) + (1 << (n - 24))).wrapping_add(d as u64)))
    }));
    let mut random = Random(3);
    all.extend((0..RANDOM).map(|i| random.next() >> (i % 64)));
    all
}

fn canonical(v: f32) -> u64 {
    u64::from(if v.is_nan() { 0x7FC0_0000 } else { v.to_bits() })
}

fn canonical64(v: f64) -> u64 {
    if v.is_nan() { 0x7FF8_0000_0000_0000 } else { v.to_bits() }
}

fn canonical_of(v: &V) -> u64 {
    match *v {
        V::F32(b) => canonical(f32::from_bits(b)),
        V::F64(b) => canonical64(f64::from_bits(b)),
        ref v => v.bits(),
    }
}

fn check1<T: Copy + std::fmt::Debug>(name: &str, values: &[T], arg: impl Fn(T) -> V, expected: impl Fn(T) -> u64) {
    let m = module(&[name]);
    for &x in values {
        assert_eq!(call(&m, name, &[arg(x)]).bits(), expected(x), "{name}({x:?})");
    }
}

/// The values with each other: all pairs of the first few, then neighbours.
fn pairs<T: Copy>(values: &[T]) -> impl Iterator<Item = (T, T)> + '_ {
    let special = &values[..values.len().min(70)];
    let all = special.iter().flat_map(move |&a| special.iter().map(move |&b| (a, b)));
    all.chain(values.windows(2).map(|w| (w[0], w[1])))
}

#[test]
fn conversions_from_f32_are_rusts() {
    let values = floats();
    check1("iw_f32_to_i32", &values, V::f32, |x| u64::from(x as i32 as u32));
    check1("iw_f32_to_u32", &values, V::f32, |x| u64::from(x as u32));
    check1("iw_f32_to_i64", &values, V::f32, |x| x as i64 as u64);
    check1("iw_f32_to_u64", &values, V::f32, |x| x as u64);
    check1("iw_canonical", &values, V::f32, canonical);
    check1("iw_is_nan", &values, V::f32, |x| u64::from(x.is_nan()));
    check1("iw_f32_to_f16", &values, V::f32, |x| u64::from(f16::narrow(x).to_bits()));
}

#[test]
fn conversions_from_f64_are_rusts() {
    let values = doubles();
    check1("iw_f64_to_i32", &values, V::f64, |x| u64::from(x as i32 as u32));
    check1("iw_f64_to_u32", &values, V::f64, |x| u64::from(x as u32));
    check1("iw_f64_to_i64", &values, V::f64, |x| x as i64 as u64);
    check1("iw_f64_to_u64", &values, V::f64, |x| x as u64);
    check1("iw_canonical64", &values, V::f64, canonical64);
    check1("iw_is_nan64", &values, V::f64, |x| u64::from(x.is_nan()));
}

#[test]
fn conversions_and_bits_of_integers_are_rusts() {
    let values = integers();
    check1("iw_u64_to_f32", &values, V::U64, |x| u64::from((x as f32).to_bits()));
    check1("iw_u64_to_f64", &values, V::U64, |x| (x as f64).to_bits());
    check1("iw_i64_to_f32", &values, |x| V::I64(x as i64), |x| u64::from((x as i64 as f32).to_bits()));
    check1("iw_i64_to_f64", &values, |x| V::I64(x as i64), |x| (x as i64 as f64).to_bits());
    check1("iw_count_ones64", &values, V::U64, |x| u64::from(x.count_ones()));
    check1("iw_leading_zeros64", &values, V::U64, |x| u64::from(x.leading_zeros()));
    check1("iw_reverse_bits64", &values, V::U64, u64::reverse_bits);
    check1("iw_bits64", &values, V::U64, |x| x);
    check1("iw_bits", &values, |x| V::U32(x as u32), |x| u64::from(x as u32));
}

#[test]
fn every_f16_widens_exactly() {
    let m = module(&["iw_f16_to_f32"]);
    for bits in 0..=u16::MAX {
        let got = call(&m, "iw_f16_to_f32", &[V::U32(u32::from(bits))]).bits();
        assert_eq!(got, canonical(f16::from_bits(bits).to_f32()), "{bits:#06x}");
    }
}

#[test]
fn minimum_and_maximum_are_those_of_ieee_754_2019() {
    let m = module(&["iw_min", "iw_max", "iw_min64", "iw_max64"]);
    let floats = floats();
    for (a, b) in pairs(&floats) {
        let nan = a.is_nan() || b.is_nan();
        let (low, high) = if a.total_cmp(&b).is_le() { (a, b) } else { (b, a) };
        let expected = |v: f32| if nan { 0x7FC0_0000 } else { u64::from(v.to_bits()) };
        assert_eq!(call(&m, "iw_min", &[V::f32(a), V::f32(b)]).bits(), expected(low), "min({a:?}, {b:?})");
        assert_eq!(call(&m, "iw_max", &[V::f32(a), V::f32(b)]).bits(), expected(high), "max({a:?}, {b:?})");
    }
    let doubles = doubles();
    for (a, b) in pairs(&doubles) {
        let nan = a.is_nan() || b.is_nan();
        let (low, high) = if a.total_cmp(&b).is_le() { (a, b) } else { (b, a) };
        let expected = |v: f64| if nan { 0x7FF8_0000_0000_0000 } else { v.to_bits() };
        assert_eq!(call(&m, "iw_min64", &[V::f64(a), V::f64(b)]).bits(), expected(low), "min({a:?}, {b:?})");
        assert_eq!(call(&m, "iw_max64", &[V::f64(a), V::f64(b)]).bits(), expected(high), "max({a:?}, {b:?})");
    }
}

#[test]
fn integer_division_has_no_undefined_case() {
    let names =
        ["iw_div_i32", "iw_rem_i32", "iw_div_u32", "iw_rem_u32", "iw_div_i64", "iw_rem_i64", "iw_div_u64", "iw_rem_u64", "iw_mul_hi"];
    let m = module(&names);
    let mut values = integers();
    values.splice(0..0, [0, 1, u64::MAX, 1 << 31, 1 << 63, 7, 7u64.wrapping_neg(), 0xFFFF_FFFF, 0x7FFF_FFFF]);
    for (a, b) in pairs(&values) {
        macro_rules! both {
            ($t:ty, $v:path, $div:literal, $rem:literal) => {{
                let (x, y) = (a as $t, b as $t);
                let (q, r) = if y == 0 { (x, 0) } else { (x.wrapping_div(y), x.wrapping_rem(y)) };
                assert_eq!(call(&m, $div, &[$v(x), $v(y)]), $v(q), "{x} / {y}");
                assert_eq!(call(&m, $rem, &[$v(x), $v(y)]), $v(r), "{x} % {y}");
            }};
        }
        both!(i32, V::I32, "iw_div_i32", "iw_rem_i32");
        both!(u32, V::U32, "iw_div_u32", "iw_rem_u32");
        both!(i64, V::I64, "iw_div_i64", "iw_rem_i64");
        both!(u64, V::U64, "iw_div_u64", "iw_rem_u64");
        let high = (u64::from(a as u32) * u64::from(b as u32)) >> 32;
        assert_eq!(call(&m, "iw_mul_hi", &[V::U32(a as u32), V::U32(b as u32)]).bits(), high);
    }
}

#[test]
fn f64_arithmetic_in_integers_is_correctly_rounded() {
    let (fma, div, sqrt) = (variant("iw_fma64", "integer"), variant("iw_div64", "integer"), variant("iw_sqrt64", "integer"));
    let values = doubles();
    for (a, b) in pairs(&values) {
        assert_eq!(canonical_of(&call(&div, "iw_div64", &[V::f64(a), V::f64(b)])), canonical64(a / b), "{a:e} / {b:e}");
    }
    for &a in &values {
        assert_eq!(canonical_of(&call(&sqrt, "iw_sqrt64", &[V::f64(a)])), canonical64(a.sqrt()), "sqrt {a:e}");
    }
    let mut triples: Vec<(f64, f64, f64)> = pairs(&values[..60]).flat_map(|(a, b)| values[..60].iter().map(move |&c| (a, b, c))).collect();
    let mut random = Random(4);
    for i in 0..RANDOM {
        let (a, b) = (f64::from_bits(random.next()), f64::from_bits(random.next()));
        // Addends near the product: cancellation, and every distance between the exponents.
        let c = -(a * b) * 2f64.powi((i % 250) as i32 - 125);
        triples.extend([
            (a, b, c),
            (a, b, f64::from_bits(c.to_bits() ^ (random.next() & 7))),
            (a, b, -c),
            (a, 1.0 / a, -1.0),
            (a, b, f64::from_bits(random.next())),
        ]);
        let small = |bits: u64| f64::from_bits(bits & 0x801F_FFFF_FFFF_FFFF);
        triples.push((small(random.next()), f64::from_bits(0x3FE0_0000_0000_0000 + (random.next() >> 11)), small(random.next())));
    }
    for (a, b, c) in triples {
        assert_eq!(
            canonical_of(&call(&fma, "iw_fma64", &[V::f64(a), V::f64(b), V::f64(c)])),
            canonical64(a.mul_add(b, c)),
            "fma({a:e}, {b:e}, {c:e})"
        );
    }
}

#[test]
fn software_division_and_square_root_are_correctly_rounded() {
    let (div, sqrt) = (module(&["iw_div"]), module(&["iw_sqrt"]));
    let values = floats();
    for (a, b) in pairs(&values) {
        assert_eq!(canonical_of(&call(&div, "iw_div", &[V::f32(a), V::f32(b)])), canonical(a / b), "{a:e} / {b:e}");
    }
    for &a in &values {
        assert_eq!(canonical_of(&call(&sqrt, "iw_sqrt", &[V::f32(a)])), canonical(a.sqrt()), "sqrt {a:e}");
    }
}

#[test]
fn seeded_division_and_square_root_are_correctly_rounded() {
    let (div, sqrt) = (variant("iw_div", "seeded"), variant("iw_sqrt", "seeded"));
    let mut values = floats();
    // The ends of the ranges of the fast forms, and the mantissa of all ones.
    let ends = [0x2080_0000, 0x5e80_0000, 0x1880_0000, 0x0d80_0000, 0x7e7f_ffff, 0x3fff_ffff, 0x2fff_ffff, 0x4fff_ffff];
    values.splice(0..0, ends.iter().flat_map(|&e| [e - 1, e, e + 1, e | 0x8000_0000]).map(f32::from_bits));
    for (a, b) in pairs(&values) {
        assert_eq!(canonical_of(&call(&div, "iw_div", &[V::f32(a), V::f32(b)])), canonical(a / b), "{a:e} / {b:e}");
    }
    for &a in &values {
        assert_eq!(canonical_of(&call(&sqrt, "iw_sqrt", &[V::f32(a)])), canonical(a.sqrt()), "sqrt {a:e}");
    }
}

/// A variant of `iw_seeded_reciprocal` with seeds that are off by this many units in the last place.
fn reciprocal_from(variant: &str, off: i32) -> naga::Module {
    let calls = BTreeSet::from(["iw_seeded_reciprocal".to_owned()]);
    let variant = format!("iw_seeded_reciprocal@{variant}");
    let mut resolve = |name: &str| if name == "iw_seeded_reciprocal" { isowarp_shaders::snippet(&variant) } else { native(name) };
    let text = isowarp_shaders::prelude(&calls, &mut resolve).unwrap();
    let seed = format!("bitcast<f32>(bitcast<u32>(1.0f / b) + {}u)", off as u32);
    let over = text.replace("1.0f / b", &seed);
    assert_ne!(over, text);
    validated(&over)
}

#[test]
fn a_seeded_reciprocal_is_rounded_from_seeds_that_are_off() {
    let mut random = Random(5);
    let mut mantissas: Vec<u32> = (0..2000).map(|_| random.next() as u32 & 0x7f_ffff).collect();
    // Divisions by the mantissa of all ones do not use it.
    mantissas.extend([0, 1, 2, 0x7f_fffd, 0x7f_fffe]);
    mantissas.retain(|&m| m != 0x7f_ffff);
    for (variant, seeds) in [("close", [-1, 0].as_slice()), ("coarse", &[-64, -1, 0, 1, 64])] {
        for &off in seeds {
            let module = reciprocal_from(variant, off);
            for bits in mantissas.iter().flat_map(|m| [0x3f80_0000, 0xbf80_0000, 0x2080_0000, 0x5e00_0000].map(|e| m | e)) {
                let b = f32::from_bits(bits);
                let got = call(&module, "iw_seeded_reciprocal", &[V::F32(bits)]).bits();
                assert_eq!(got, u64::from((1.0 / b).to_bits()), "1 / {b:e} {variant} from {off} ULP off");
            }
        }
    }
}

#[test]
fn elementary_functions_have_the_bits_of_their_definitions() {
    let values: Vec<f32> = floats().into_iter().step_by(3).collect();
    for &f in Func::ALL {
        let name = format!("iw_{}", f.name());
        let m = module(&[&name]);
        if f.arity() == 1 {
            for &x in &values {
                assert_eq!(canonical_of(&call(&m, &name, &[V::f32(x)])), canonical(f.eval1(x)), "{name}({x:e})");
            }
        } else {
            for (x, y) in pairs(&values) {
                assert_eq!(canonical_of(&call(&m, &name, &[V::f32(x), V::f32(y)])), canonical(f.eval2(x, y)), "{name}({x:e}, {y:e})");
            }
        }
    }
}
