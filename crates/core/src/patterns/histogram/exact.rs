//! Exact sums of floats: whole numbers of many words, which commute, and are rounded once.

use super::HistogramSum;
use crate::element::{Element, Scalar};
use crate::ir::{ArrayExpr, Expr, lit, select};

/// Words of an exact sum of `f32`: ten of a whole number in two's complement, the least first, in units of 2^-149; and one of flags, bit 0 for a
/// NaN, bit 1 for a +infinity, bit 2 for a -infinity among the weights.
///
/// A finite `f32` is such a number of at most 277 bits and a sign, so 2^41 of them have a sum of 319 bits, in whatever order they are added.
pub const LIMBS: u64 = 11;

/// Words of an exact sum of `f64`: 67 in units of 2^-1074, and one of flags. A finite `f64` has at most 2098 bits, 2^41 of them a sum of 2140.
pub const WIDE_LIMBS: u64 = 68;

/// Most weights of an exact sum: what they come to has no carry out of its words.
pub(super) const MOST: u64 = 1 << 41;

/// The bits of a type of floats that have exact sums.
pub(crate) trait Exact: Element<Reg = Self> + Scalar {
    /// Kind of sum by which they are added up.
    const SUM: HistogramSum;
    /// Sums that a map sees together: less than 128 MiB of them, which every adapter binds.
    const IN_A_MAP: u64;
    /// The sign.
    const SIGN: Self;
    /// The one NaN that is a result.
    const NAN: Self;

    /// Words of 32 bits of a sum.
    fn words() -> u64 {
        Self::SUM.words(4)
    }
    /// Word `k` of a float's bits as an exact sum.
    fn word(bits: Expr<Self>, k: Expr<u32>) -> Expr<u32>;
    /// The bits of the float nearest to exact sum `i`, ties to even; words are read as wide as the type.
    fn rounded(i: Expr<u32>, limbs: ArrayExpr<Self>) -> Expr<Self>;
    /// Whether these are the bits of a NaN.
    fn is_nan(bits: Expr<Self>) -> Expr<bool>;
}

/// Flags where a float is no number, else the word of the number.
fn flagged(k: Expr<u32>, (flags_at, special, nan, negative): (u64, Expr<bool>, Expr<bool>, Expr<bool>), word: Expr<u32>) -> Expr<u32> {
    let which = select(nan, 1u32, select(negative, 4u32, 2u32));
    select(k.eq(flags_at as u32), select(special, which, 0u32), select(special, 0u32, word))
}

impl Exact for u32 {
    const SUM: HistogramSum = HistogramSum::Exact;
    const IN_A_MAP: u64 = 1 << 21;
    const SIGN: Self = 0x8000_0000;
    const NAN: Self = 0x7FC0_0000;

    fn word(bits: Expr<u32>, k: Expr<u32>) -> Expr<u32> {
        let (exponent, fraction, negative) = ((bits >> 23) & 0xff, bits & 0x7f_ffff, (bits >> 31).ne(0));
        let mantissa = select(exponent.eq(0), fraction, fraction | 0x80_0000);
        let bit = exponent.max(1) - 1u32;
        let (place, shift) = (bit >> 5, bit & 31u32);
        let (low, high) = (mantissa << shift, (mantissa >> 1) >> (lit(31u32) - shift));
        let there = select(k.eq(place), low, select(k.eq(place + 1u32), high, 0u32));
        // The complement and one: one is carried on as long as all words below are zero.
        let carried = k.le(place) | (k.eq(place + 1u32) & low.eq(0)) | mantissa.eq(0);
        let whole = select(negative, (there ^ u32::MAX) + select(carried, 1u32, 0u32), there);
        flagged(k, (LIMBS - 1, exponent.eq(255), fraction.ne(0), negative), whole)
    }

    fn rounded(i: Expr<u32>, limbs: ArrayExpr<u32>) -> Expr<u32> {
        const WORDS: usize = LIMBS as usize - 1;
        let at = |k: usize| limbs.at(i * LIMBS as u32 + k as u32);
        let words: Vec<Expr<u32>> = (0..WORDS).map(at).collect();
        let negative = (words[WORDS - 1] >> 31).ne(0);
        let Top { high, low, rest, place } = top(words, negative, (u32::MAX, 0, 1));
        let shift = high.leading_zeros() & 31u32;
        // The highest bit goes to the top; shifts of 32 are those of 31 and 1.
        let top = (high << shift) | ((low >> 1) >> (lit(31u32) - shift));
        let dropped = (low << shift) | rest;
        let (mantissa, half) = (top >> 8, top & 0xff);
        let tie = half.eq(0x80) & dropped.eq(0);
        let up = select(tie, mantissa & 1u32, half.ge(0x80).cast::<u32>());
        // Bit 23 stands for an exponent of one, and goes into the field by the sum; so does a carry out of the mantissa.
        let exponent = place + lit(31u32) - shift - 23;
        let large = ((exponent << 23) + mantissa + up).min(0x7F80_0000);
        let small = place.eq(0) & high.lt(1 << 24);
        let bits = select(small, high, select(exponent.gt(255), 0x7F80_0000u32, large)) | select(negative, Self::SIGN, 0);
        with_flags(bits, at(WORDS), (0x7F80_0000, 0xFF80_0000))
    }

    fn is_nan(bits: Expr<u32>) -> Expr<bool> {
        (bits & 0x7FFF_FFFF).gt(0x7F80_0000)
    }
}

impl Exact for u64 {
    const SUM: HistogramSum = HistogramSum::ExactWide;
    const IN_A_MAP: u64 = 1 << 18;
    const SIGN: Self = 1 << 63;
    const NAN: Self = 0x7FF8_0000_0000_0000;

    fn word(bits: Expr<u64>, k: Expr<u32>) -> Expr<u32> {
        let (exponent, negative) = ((bits >> 52).cast::<u32>() & 0x7ff, (bits >> 63).ne(0));
        let fraction = bits & ((1u64 << 52) - 1);
        let mantissa = select(exponent.eq(0), fraction, fraction | (1 << 52));
        let bit = exponent.max(1) - 1u32;
        let (place, shift) = (bit >> 5, bit & 31u32);
        let (low, high) = (mantissa << shift, ((mantissa >> 1) >> (lit(63u32) - shift)).cast::<u32>());
        let halves = [low.cast::<u32>(), (low >> 32).cast::<u32>()];
        let of_high = select(k.eq(place + 2u32), high, 0u32);
        let there = select(k.eq(place), halves[0], select(k.eq(place + 1u32), halves[1], of_high));
        let above = (k.eq(place + 1u32) & halves[0].eq(0)) | (k.eq(place + 2u32) & low.eq(0));
        let carried = k.le(place) | above | mantissa.eq(0);
        let whole = select(negative, (there ^ u32::MAX) + select(carried, 1u32, 0u32), there);
        flagged(k, (WIDE_LIMBS - 1, exponent.eq(2047), fraction.ne(0), negative), whole)
    }

    fn rounded(i: Expr<u32>, limbs: ArrayExpr<u64>) -> Expr<u64> {
        // Two words at a time; the flags are beside the highest word.
        const PAIRS: usize = WIDE_LIMBS as usize / 2;
        let at = |k: usize| limbs.at(i * PAIRS as u32 + k as u32);
        let mut words: Vec<Expr<u64>> = (0..PAIRS).map(at).collect();
        let (last, flags) = (words[PAIRS - 1], (words[PAIRS - 1] >> 32).cast::<u32>());
        let negative = ((last >> 31) & 1).ne(0);
        // The sign goes on to the top.
        words[PAIRS - 1] = (last & 0xFFFF_FFFF) | select(negative, 0xFFFF_FFFF_0000_0000u64, 0);
        let Top { high, low, rest, place } = top(words, negative, (u64::MAX, 0, 1));
        let shift = high.leading_zeros() & 63u32;
        let top = (high << shift) | ((low >> 1) >> (lit(63u32) - shift));
        let dropped = (low << shift) | rest;
        let (mantissa, half) = (top >> 11, top & 0x7ff);
        let tie = half.eq(0x400) & dropped.eq(0);
        let up = select(tie, mantissa & 1, half.ge(0x400).cast::<u64>());
        let exponent = place + lit(63u32) - shift - 52;
        let infinity = 0x7FF0_0000_0000_0000u64;
        let large = ((exponent.cast::<u64>() << 52) + mantissa + up).min(infinity);
        let small = place.eq(0) & high.lt(1 << 53);
        let bits = select(small, high, select(exponent.gt(2047), infinity, large)) | select(negative, Self::SIGN, 0);
        with_flags(bits, flags, (infinity, infinity | Self::SIGN))
    }

    fn is_nan(bits: Expr<u64>) -> Expr<bool> {
        (bits & (u64::MAX >> 1)).gt(0x7FF0_0000_0000_0000)
    }
}

/// Parts of a sum that it is rounded by.
struct Top<W> {
    /// The highest word of the absolute value that is not zero.
    high: Expr<W>,
    /// The one below it.
    low: Expr<W>,
    /// Not zero where anything is below these.
    rest: Expr<W>,
    /// Bits below `high`.
    place: Expr<u32>,
}

/// Of a number in two's complement, with a word of ones, zero and one.
fn top<W: Exact>(mut words: Vec<Expr<W>>, negative: Expr<bool>, (ones, zero, one): (W, W, W)) -> Top<W>
where
    Expr<W>: core::ops::Add<Output = Expr<W>> + core::ops::BitXor<Output = Expr<W>> + core::ops::BitOr<Output = Expr<W>>,
{
    // The absolute value: complement and one, carried on.
    let (flip, mut carry) = (select(negative, ones, zero), select(negative, one, zero));
    for w in &mut words {
        let sum = (*w ^ flip) + carry;
        carry = select(sum.eq(lit(zero)) & carry.ne(lit(zero)), one, zero);
        *w = sum;
    }
    let mut found = Top { high: words[0], low: lit(zero), rest: lit(zero), place: lit(0u32) };
    let mut below = lit(zero);
    for k in 1..words.len() {
        let there = words[k].ne(lit(zero));
        found.high = select(there, words[k], found.high);
        found.low = select(there, words[k - 1], found.low);
        found.rest = select(there, below, found.rest);
        found.place = select(there, k as u32 * 8 * W::DTYPE.size_bytes() as u32, found.place);
        below = below | words[k - 1];
    }
    found
}

/// The bits of a sum whose weights have these flags, with both infinities.
fn with_flags<W: Exact>(bits: Expr<W>, flags: Expr<u32>, (plus, minus): (W, W)) -> Expr<W> {
    let infinite = select(flags.eq(4), minus, plus);
    let special = select(flags.eq(2) | flags.eq(4), infinite, W::NAN);
    select(flags.eq(0), bits, special)
}
