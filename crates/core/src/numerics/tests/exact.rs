//! Bit identities: the fused multiply-add, the division and the square root.

use super::super::arith::fma_by_f64;
use super::super::divide::{div_from, refined};
use super::super::{Native, soft_div, soft_reciprocal, soft_sqrt};
use super::audit::{Audit, Tagged};
use super::{same_bits, words};

/// Bit patterns with few bits set, near the ends of binades, and specials: where roundings tie and exponents end.
#[rustfmt::skip]
const HARD: &[u32] = &[
    0, 1, 2, 3, 0x003f_ffff, 0x0040_0000, 0x007f_fffe, 0x007f_ffff, 0x0080_0000, 0x0080_0001, 0x00ff_ffff, 0x0100_0000, 0x0c80_0001,
    0x1980_0000, 0x3300_0000, 0x3380_0000, 0x3380_0001, 0x3400_0000, 0x3eaa_aaab, 0x3f00_0000, 0x3f7f_fffe, 0x3f7f_ffff, 0x3f80_0000,
    0x3f80_0001, 0x3f80_0002, 0x3fff_ffff, 0x4000_0000, 0x4040_0000, 0x4b00_0001, 0x4b80_0000, 0x5f80_0000, 0x60ff_ffff, 0x7e80_0000,
    0x7f00_0000, 0x7f7f_fffe, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000,
];

fn hard() -> impl Iterator<Item = f32> + Clone {
    HARD.iter().flat_map(|&bits| [f32::from_bits(bits), -f32::from_bits(bits)])
}

fn check_fma(a: f32, b: f32, c: f32) {
    let (got, want) = (fma_by_f64(a, b, c), a.mul_add(b, c));
    assert!(same_bits(got, want), "fma({a:e}, {b:e}, {c:e}) is {want:e}, not {got:e}");
}

#[test]
fn emulated_fma_has_the_fused_bits() {
    for a in hard() {
        for b in hard() {
            hard().for_each(|c| check_fma(a, b, c));
        }
    }
    let mut next = words(5);
    for _ in 0..1_000_000 {
        let (first, second) = (next(), next());
        let (a, b) = (f32::from_bits(first as u32), f32::from_bits((first >> 32) as u32));
        check_fma(a, b, f32::from_bits(second as u32));
        // An addend near a bit of the product: cancellation, ties, and ties broken far below.
        let product = f64::from(a) * f64::from(b);
        let shift = ((second >> 32) % 60) as i32 - 30;
        check_fma(a, b, -(product * 2f64.powi(shift)) as f32);
        check_fma(a, b, f32::from_bits(((product as f32).to_bits() & 0xff80_0000).wrapping_add((shift as u32) << 23)));
        // Short mantissas: sums that end on, or next to, halfway cases.
        let short = f32::from_bits(a.to_bits() & 0xffff_f000);
        check_fma(short, f32::from_bits(b.to_bits() & 0xffff_f000), f32::from_bits(second as u32));
    }
}

fn check_div(a: f32, b: f32) {
    let (got, want) = (soft_div::<Native>(a, b), a / b);
    assert!(same_bits(got, want), "{a:e} / {b:e} is {want:e}, not {got:e}");
}

#[test]
fn soft_division_has_the_hardware_bits() {
    for a in hard() {
        hard().for_each(|b| check_div(a, b));
    }
    let mut next = words(6);
    for _ in 0..3_000_000 {
        let word = next();
        let (a, b) = (f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32));
        check_div(a, b);
        // Operands with few bits, for quotients at and next to ties of subnormal results.
        check_div(f32::from_bits(a.to_bits() & 0xffff_0000), f32::from_bits(b.to_bits() & 0xffff_0000));
        // Quotients in the subnormal range.
        check_div(f32::from_bits(a.to_bits() & 0x83ff_ffff), f32::from_bits(b.to_bits() & 0x03ff_ffff | 0x4000_0000));
    }
}

/// Markstein's theorem needs the reciprocal correctly rounded. The mantissa of all ones is the hard one, so it gets
/// every quotient as well.
#[test]
fn division_rests_on_reciprocals_that_are_rounded() {
    for bits in 0x3f80_0000..0x4000_0000 {
        let b = f32::from_bits(bits);
        let y = soft_reciprocal::<Native>(b);
        assert_eq!(y.to_bits(), (1.0 / b).to_bits(), "1 / {b:e}");
    }
    let b = f32::from_bits(0x3fff_ffff);
    (0x3f80_0000..0x4000_0000).for_each(|bits| check_div(f32::from_bits(bits), b));
}

#[test]
fn division_survives_a_reciprocal_that_is_three_ulp_off() {
    let mut next = words(7);
    for _ in 0..1_000_000 {
        let word = next();
        let a = f32::from_bits(word as u32 & 0x007f_ffff | 0x3f80_0000);
        let b = f32::from_bits((word >> 32) as u32 & 0x007f_ffff | 0x3f80_0000);
        let off = ((word >> 57) % 7) as u32;
        let y = f32::from_bits((1.0 / b).to_bits() + off - 3);
        assert_eq!(div_from::<Native>(a, b, refined::<Native>(b, y)).to_bits(), (a / b).to_bits(), "{a:e} / {b:e} from {y:e}");
    }
}

#[test]
fn soft_square_root_has_the_hardware_bits() {
    let check = |x: f32| {
        let (got, want) = (soft_sqrt::<Native>(x), x.sqrt());
        assert!(same_bits(got, want), "sqrt {x:e} is {want:e}, not {got:e}");
    };
    hard().for_each(check);
    // Up to powers of four, all of them.
    (0x3f80_0000..0x4080_0000).for_each(|bits| check(f32::from_bits(bits)));
    (0..=u32::MAX).step_by(2003).for_each(|bits| check(f32::from_bits(bits)));
    (0..0x0002_0000).for_each(|bits| check(f32::from_bits(bits)));
}

#[test]
fn soft_primitives_keep_the_fma_rule() {
    for a in hard() {
        soft_sqrt::<Audit>(Tagged::new(a));
        hard().for_each(|b| {
            soft_div::<Audit>(Tagged::new(a), Tagged::new(b));
        });
    }
}
