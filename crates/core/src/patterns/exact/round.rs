//! Quotients of exact sums, rounded to floats.

use super::super::histogram::Exact;
use crate::element::{Int, Num};
use crate::ir::{ArrayExpr, Expr, lit, next_while, repeat, select};

/// The bits of a type of floats that quotients are rounded to.
pub(super) trait Rounding: Exact + Int + Num {
    /// Bits of a mantissa, the first one with them.
    const MANTISSA: u32;
    /// The least number above zero is two to the power of minus this.
    const LEAST: u32;
    /// The bits of infinity.
    const INFINITY: Self;
    /// Above the exponents of all numbers.
    const TOP: u32;
}

impl Rounding for u32 {
    const MANTISSA: u32 = 24;
    const LEAST: u32 = 149;
    const INFINITY: u32 = 0x7F80_0000;
    const TOP: u32 = 300;
}

impl Rounding for u64 {
    const MANTISSA: u32 = 53;
    const LEAST: u32 = 1074;
    const INFINITY: u64 = 0x7FF0_0000_0000_0000;
    const TOP: u32 = 2100;
}

/// The words of an exact sum without its flags, which count units of two to the power of minus `unit`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limbs {
    pub(super) words: u32,
    pub(super) unit: u32,
}

impl Limbs {
    /// Of sums of floats with these bits.
    pub(super) fn of<W: Rounding>() -> Self {
        Self { words: W::words() as u32 - 1, unit: W::LEAST }
    }

    /// The bits of the float nearest to exact sum `i` divided by `divisor`.
    pub(super) fn quotient<W: Rounding>(self, i: Expr<u32>, limbs: ArrayExpr<u32>, divisor: Expr<u32>) -> Expr<W> {
        let first = i * (self.words + 1);
        self.quotient_of(|k| limbs.at(first + k), divisor)
    }

    /// The bits of the float nearest to the number of these words, with flags behind them, divided by `divisor`; ties to even; NaN for a divisor of 0.
    ///
    /// A long division from the highest bit that is not zero down, until the quotient has all bits of a `W`: of the rest it matters whether it is zero.
    pub(super) fn quotient_of<W: Rounding>(self, at: impl Fn(Expr<u32>) -> Expr<u32>, divisor: Expr<u32>) -> Expr<W> {
        let Self { words, unit } = self;
        let (zero, one, bits) = (lit(W::from_bits64(0)), lit(W::from_bits64(1)), 8 * W::DTYPE.size_bytes() as u32);
        let negative = (at(lit(words - 1)) >> 31).ne(0);
        // The size of a negative number has complements above the lowest word that is not zero, and there one more.
        let lowest = repeat(words - 1, lit(0u32), |k| next_while(at(k).eq(0), k + 1u32));
        let size = |k: Expr<u32>| {
            let word = at(k);
            select(negative, select(k.gt(lowest), word ^ u32::MAX, lit(0u32) - word), word)
        };
        // Bits are counted down, from the highest word to a word of zeros below the lowest one, which the quotient's fraction comes from.
        let state = (lit(32 * (words + 1) - 1), lit(0u32), zero, lit(0u32), lit(0u32));
        let turns = words + 2 + 3 * 32 + bits;
        let (_, rest, quotient, dropped, place) = repeat(turns, state, |(next, rest, quotient, dropped, place)| {
            let (k, bit) = (next >> 5, next & 31u32);
            let word = select(k.eq(0), 0u32, size(k.max(1) - 1u32));
            let left = word & (lit(u32::MAX) >> (lit(31u32) - bit));
            let full = (quotient >> (bits - 1)).ne(zero);
            let nothing = quotient.eq(zero) & (rest | left).eq(0);
            // The doubled rest may have a bit more than a word, and is not below the divisor then.
            let doubled = (rest << 1) | ((word >> bit) & 1u32);
            let fits = (rest >> 31).ne(0) | doubled.ge(divisor);
            let by_word = full | nothing;
            let state = (
                select(by_word, next - bit, next) - 1u32,
                select(by_word, rest, select(fits, doubled - divisor, doubled)),
                select(by_word, quotient, (quotient << 1) + select(fits, one, zero)),
                select(full, dropped | left, dropped),
                select(by_word, place, next),
            );
            next_while(next.ne(u32::MAX), state)
        });
        // Bits that are rounded away: those beyond a mantissa, and those below the least number.
        let offset = (unit + 32 - W::LEAST) as i32;
        let place = place.cast::<i32>();
        let beyond = lit((bits - W::MANTISSA) as i32) - quotient.leading_zeros().cast::<i32>();
        let gone = beyond.max(lit(offset) - place).max(1);
        let exponent = (place + gone - offset).min(W::TOP as i32).cast::<u32>();
        // Where all of a quotient goes, also the bit that would be half of the last one, nothing is left.
        let half_at = (gone - 1).cast::<u32>();
        let shift = half_at.min(bits - 1);
        let kept_and_half = select(half_at.lt(bits), quotient >> shift, zero);
        let kept = kept_and_half >> 1;
        let behind = (kept_and_half << shift).ne(quotient) | (dropped | rest).ne(0);
        let is_odd = |x: Expr<W>| (x << (bits - 1)).ne(zero);
        let up = is_odd(kept_and_half) & (behind | is_odd(kept));
        // The first bit of a mantissa adds one to the exponent.
        let number = ((exponent.cast::<W>() << (W::MANTISSA - 1)) + kept + select(up, one, zero)).min(W::INFINITY);
        let (sign, infinity, nan) = (lit(W::SIGN), lit(W::INFINITY), lit(W::NAN));
        let flags = at(lit(words));
        let special = select(flags.eq(2), infinity, select(flags.eq(4), infinity + sign, nan));
        let special = select(divisor.eq(0), nan, special);
        select(flags.eq(0) & divisor.ne(0), number + select(negative, sign, zero), special)
    }
}
