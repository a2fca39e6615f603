//! Products of two `f64` as terms of exact sums.
//!
//! A product is a whole number of 106 bits at a place from 0 to 4090, in units of 2^-2148: 4196 places in all, twice those of an `f64`. They are cut into
//! two windows of 2098 places each, and the product into two pieces of 53 bits. A piece in a window is then the bits of an `f64`, and each window's sum is
//! one that the kernels of exact sums add up.

use super::super::HistogramSum;
use super::super::histogram::WIDE_LIMBS;
use super::ExactSums;
use super::round::{Limbs, Rounding};
use crate::buffer::Buffer;
use crate::error::Result;
use crate::input::{Source, array, index};
use crate::ir::{ArrayExpr, Expr, graph, lit, select};
use crate::patterns::HistogramTask;
use crate::patterns::histogram::Exact;
use crate::patterns::map::collect;
use core::array::from_fn;
use std::sync::Arc;

/// Windows, the lower one first.
pub(super) const WINDOWS: u32 = 2;
/// Pieces of a product, the lower one first.
pub(super) const PIECES: u32 = 2;
/// Places of a window.
const PLACES: u32 = 2098;
/// Bits of a mantissa, and of a piece.
const BITS: u32 = u64::MANTISSA;
/// Words of a number and its flags.
const FLAGS_AT: u32 = WIDE_LIMBS as u32 - 1;
/// Words below the one in which the upper window begins, and its bits there that are the lower window's.
const BELOW: u32 = PLACES / 32;
const SHIFT: u32 = PLACES % 32;

/// The bits of the `f64` that has a piece of a product of two `f64`, by their bits, in a window: part `window * PIECES + piece`. The number of a special
/// product, which each part has, is that product.
pub(super) fn part(x: Expr<u64>, y: Expr<u64>, part: Expr<u32>) -> Expr<u64> {
    let (in_upper_window, upper_piece) = (part.ge(PIECES), (part & 1).ne(0));
    let [(mx, px), (my, py)] = [x, y].map(|bits| {
        let (exponent, fraction) = ((bits >> 52).cast::<u32>() & 0x7ff, bits & mask(52));
        (select(exponent.eq(0), fraction, fraction | (1 << 52)), exponent.max(1) - 1u32)
    });
    // Halves of 27 and 26 bits, and their products.
    let ([x0, y0], [x1, y1]) = ([mx & mask(27), my & mask(27)], [mx >> 27, my >> 27]);
    let middle = x0 * y1 + x1 * y0;
    let low = x0 * y0 + ((middle & mask(26)) << 27);
    let high = ((x1 * y1) << 1) + (middle >> 26) + (low >> BITS);
    let place = px + py + select(upper_piece, BITS, 0u32);
    let piece = select(upper_piece, high, low & mask(BITS));
    // Bits of the piece that are in the lower window.
    let below = (lit(PLACES) - place.min(PLACES)).min(BITS);
    let there = select(in_upper_window, piece >> below, piece & ((lit(1u64) << below) - 1u64));
    let place = select(in_upper_window, (place + below).max(PLACES) - PLACES, place);
    // With the highest bit where a mantissa has it, unless the number is subnormal; that bit adds one to the exponent.
    let shift = (there.leading_zeros().cast::<u32>() - (64 - BITS)).min(place);
    let number = ((place - shift).cast::<u64>() << 52) + (there << shift);
    let number = select(there.eq(0), 0u64, number);
    let sign = (x ^ y) & u64::SIGN;
    let [size, other] = [x, y].map(|bits| bits & (u64::MAX >> 1));
    let (larger, lesser) = (size.max(other), size.min(other));
    let nan = larger.gt(u64::INFINITY) | lesser.eq(0);
    let special = select(nan, lit(u64::NAN), sign | u64::INFINITY);
    select(larger.ge(u64::INFINITY), special, sign | number)
}

/// So many ones.
const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Adds to each of `n` sums of upper windows what that of the lower one has beyond its window, with its sign.
pub(super) fn carry<B: ExactSums>(device: &B, lower: &Buffer<B, u32>, upper: &Buffer<B, u32>, n: u64) -> Result<()> {
    let inputs = (index(), array(lower));
    let c = collect(device, "exact sum", &inputs)?;
    let func = graph::trace(c.params.clone(), || {
        let (i, lower) = Source::exprs(&inputs, &mut 0);
        // Few bits, so that they are those of a subnormal number.
        let [last, top] = from_fn(|k| lower.at(i * WIDE_LIMBS as u32 + BELOW + k as u32).cast::<u64>());
        let (beyond, negative) = ((last >> SHIFT) | (top << (32 - SHIFT)), (top >> 31).ne(0));
        let size = select(negative, (lit(1u64 << (64 - SHIFT)) - beyond) | u64::SIGN, beyond);
        vec![i.value(), size.value()]
    })?;
    let (func, sum, numerics) = (Arc::new(func), HistogramSum::ExactWide, device.numerics());
    let task = HistogramTask { func, n, bins: n, sum, clears: false, numerics };
    device.run(&task, &c.leaves, &[upper.out()])
}

/// The bits of the float nearest to the number of two windows: of the lower one its own places, and above them the upper one's sum.
pub(super) fn rounded<W: Rounding>(i: Expr<u32>, lower: ArrayExpr<u32>, upper: ArrayExpr<u32>) -> Expr<W> {
    // Words of the upper window's sum lie across one more, since the window begins inside of a word.
    let words = BELOW + FLAGS_AT + 1;
    let first = i * WIDE_LIMBS as u32;
    let at = |k: Expr<u32>| {
        // Words of the upper window's sum that lie in word `k`, above the last one its sign.
        let up = k.max(BELOW) - BELOW;
        let before = upper.at(first + up.max(1) - 1u32);
        let (last, sign) = (upper.at(first + up.min(FLAGS_AT - 1)), lit(0u32) - (upper.at(first + (FLAGS_AT - 1)) >> 31));
        let this = select(up.lt(FLAGS_AT), last, sign);
        let of_lower = lower.at(first + k.min(BELOW));
        let lowest = select(k.eq(BELOW), of_lower & ((1 << SHIFT) - 1), before >> (32 - SHIFT));
        let word = select(k.lt(BELOW), of_lower, (this << SHIFT) | lowest);
        select(k.eq(words), lower.at(first + FLAGS_AT), word)
    };
    Limbs { words, unit: 2 * u64::LEAST }.quotient_of(at, lit(1u32))
}
