//! Sine and cosine of a word as an angle, `word 2 pi / 2^32`.
//!
//! The angle is a whole number of quarters of a turn, which is exact, and a rest of 30 bits, which is rounded once. Both functions of the rest are polynomials,
//! and the quarters say which of the two is the sine and with what sign, so a sine and a cosine of one word share all but that.

use crate::ir::{Expr, Symbolic, select};
use crate::numerics::Arith as _;

/// A quarter of a turn.
const QUARTER: u32 = 1 << 30;

/// (sin(pi v / 2) - v pi / 2) / v³ in v², on |v| ≤ 1/2, the highest power first; near minimax, 2^-27.9 of the sine.
const SIN: [f32; 3] = [-0.004_604_834, 0.079_681_41, -0.645_963_6];

/// (cos(pi v / 2) - 1) / v², likewise; 2^-33.8 of the cosine.
const COS: [f32; 4] = [0.000_903_766_54, -0.020_860_165, 0.253_669_23, -1.233_700_5];

/// Both functions of a word's rest, and the word.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    sine: Expr<f32>,
    cosine: Expr<f32>,
    word: Expr<u32>,
}

impl Turn {
    pub(super) fn of(word: Expr<u32>) -> Self {
        // The lower 30 bits with their sign, in quarters of a turn: from -1/2 to 1/2.
        let rest = (word << 2).bitcast::<i32>().cast::<f32>().mul_rn(f32::from_bits((127 - 32) << 23));
        let square = rest.mul_rn(rest);
        let of_square = |coefficients: &[f32], last: f32| {
            let (first, others) = coefficients.split_first().map_or((0.0, &[][..]), |(first, others)| (*first, others));
            others.iter().chain([&last]).fold(first.into(), |sum: Expr<f32>, &c| sum.mul_add(square, c))
        };
        Self { sine: rest.mul_rn(of_square(&SIN, core::f32::consts::FRAC_PI_2)), cosine: of_square(&COS, 1.0), word }
    }

    pub(super) fn sine(&self) -> Expr<f32> {
        self.later(0)
    }

    pub(super) fn cosine(&self) -> Expr<f32> {
        self.later(QUARTER)
    }

    /// The sine or, where this is not so, the cosine.
    pub(super) fn sine_if(&self, is_sine: Expr<bool>) -> Expr<f32> {
        self.later(select(is_sine, 0u32, QUARTER))
    }

    /// The sine of so much more.
    fn later(&self, by: impl Into<Expr<u32>>) -> Expr<f32> {
        // A rest below zero belongs to the quarter after it.
        let quarters = self.word + (by.into() + (QUARTER >> 1));
        let size = select((quarters & QUARTER).eq(0u32), self.sine, self.cosine);
        Symbolic::f_from_bits(Symbolic::f_to_bits(size) ^ (quarters & (1u32 << 31)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Evaluator, trace};

    /// Sine and cosine of words.
    fn both() -> impl FnMut(u32) -> [f32; 2] {
        let traced = trace(|word: Expr<u32>| (Turn::of(word).sine(), Turn::of(word).cosine())).expect("an operator");
        move |word| {
            let mut evaluator = Evaluator::new(&traced);
            evaluator.eval_one(&[word.into()]);
            [0, 1].map(|k| f32::from_bits(evaluator.result(k)[0] as u32))
        }
    }

    #[test]
    fn sines_and_cosines_of_words_are_within_one_and_a_half_units_of_their_last_place() {
        let mut both = both();
        // Uniform words, and those that are near a quarter, an eighth and its neighbours.
        let near = (0..8).flat_map(|k: u32| (0..30).flat_map(move |j| [(k << 29).wrapping_add(1 << j), (k << 29).wrapping_sub(1 << j)]));
        let mut worst = 0_f64;
        for word in near.chain((0..200_000_u32).map(|k| k.wrapping_mul(0x9e37_79b9))) {
            let angle = f64::from(word as i32) / 4_294_967_296.0 * core::f64::consts::TAU;
            // Sines near a half and cosines near a quarter of a turn, taken of what is left, so that pi's own digits do not show.
            let rest = f64::from((word << 2) as i32) / 4_294_967_296.0 * core::f64::consts::FRAC_PI_2;
            let exact = match word.wrapping_add(QUARTER / 2) >> 30 {
                0 => [rest.sin(), rest.cos()],
                1 => [rest.cos(), -rest.sin()],
                2 => [-rest.sin(), -rest.cos()],
                _ => [-rest.cos(), rest.sin()],
            };
            assert!((exact[0] - angle.sin()).abs() < 1e-15 && (exact[1] - angle.cos()).abs() < 1e-15, "{word:x}");
            for (found, exact) in both(word).into_iter().zip(exact) {
                worst = worst.max((f64::from(found) - exact).abs() / exact.abs().max(1e-30) * 8_388_608.0);
            }
        }
        assert!(worst < 1.5, "{worst}");
    }

    #[test]
    fn quarters_of_a_turn_are_exact() {
        let mut both = both();
        let of = |word: u32, both: &mut dyn FnMut(u32) -> [f32; 2]| both(word).map(f32::to_bits);
        let [zero, one, minus] = [0.0_f32, 1.0, -1.0].map(f32::to_bits);
        assert_eq!(of(0, &mut both), [zero, one]);
        assert_eq!(of(QUARTER, &mut both), [one, zero | 1 << 31]);
        assert_eq!(of(2 * QUARTER, &mut both), [zero | 1 << 31, minus]);
        assert_eq!(of(3 * QUARTER, &mut both), [minus, zero]);
    }
}
