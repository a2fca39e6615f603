//! Morton order (Z-order): bits of a row-major index in another order.

use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{array, index};
use crate::ir::{Expr, lit};
use crate::patterns::moves::raw_as;
use crate::patterns::{Map as _, Move};

/// For every bit of a Morton index, from the lowest, the bit of the row-major index that it is.
pub(super) fn morton_bits(shape: &[u64], len: u64) -> Result<Vec<u32>> {
    let wrong = |reason: String| Error::InvalidArgument { what: "shape", reason };
    if shape.is_empty() || shape.len() > 3 {
        return Err(wrong(format!("{} axes; Morton order has one to three", shape.len())));
    }
    if let Some(side) = shape.iter().find(|s| !s.is_power_of_two()) {
        return Err(wrong(format!("{side} is no power of two")));
    }
    let bits: Vec<u32> = shape.iter().map(|s| s.trailing_zeros()).collect();
    let total: u32 = bits.iter().sum();
    if total > 32 {
        return Err(Error::TooLarge { what: "bits of a Morton index", requested: total.into(), limit: 32 });
    }
    if len != 1 << total {
        return Err(Error::LengthMismatch { what: "elements of the shape", expected: 1 << total, found: len });
    }
    // Where the bits of an axis start in the row-major index.
    let start = |axis: usize| bits[axis + 1..].iter().sum::<u32>();
    let mut places = Vec::new();
    for level in 0..32 {
        for axis in (0..shape.len()).rev().filter(|&a| level < bits[a]) {
            places.push(start(axis) + level);
        }
    }
    Ok(places)
}

/// `i` with bit `k` at `places[k]`, or the inverse of that.
fn rearranged(i: Expr<u32>, places: &[u32], inverse: bool) -> Expr<u32> {
    // Bits that move equally far move together.
    let mut moves: Vec<(i64, u32)> = Vec::new();
    for (k, &p) in places.iter().enumerate() {
        let (a, b) = if inverse { (p, k as u32) } else { (k as u32, p) };
        let by = i64::from(b) - i64::from(a);
        match moves.iter_mut().find(|m| m.0 == by) {
            Some(m) => m.1 |= 1 << a,
            None => moves.push((by, 1 << a)),
        }
    }
    let parts = moves.into_iter().map(|(by, mask)| {
        let part = i & mask;
        if by >= 0 { part << by as u32 } else { part >> (-by) as u32 }
    });
    parts.reduce(|a, b| a | b).unwrap_or(lit(0))
}

pub(super) fn reordered<B: Move, T: Element>(
    device: &B,
    x: &Buffer<B, T>,
    out: &Buffer<B, T>,
    places: &[u32],
    inverse: bool,
) -> Result<()> {
    let (n, places) = (x.len(), places.to_vec());
    macro_rules! fused {
        ($word:ty) => {{
            let (x, out) = (raw_as::<B, T, $word>(x)?, raw_as::<B, T, $word>(out)?);
            device.generate_into(n, (array(&x), index()), |(x, i)| x.at(rearranged(i, &places, inverse)).store_as::<$word>(), &out)
        }};
    }
    match T::DTYPE.size_bytes() {
        1 => fused!(u8),
        4 => fused!(u32),
        8 => fused!(u64),
        _ => {
            let order: Buffer<B, u32> = device.generate(n, index(), |i| rearranged(i, &places, inverse))?;
            device.gather(x, &order).write_to(out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn morton_bits_alternate_while_there_are_two() {
        // 2 rows of 8: x0 y0 x1 x2.
        assert_eq!(morton_bits(&[2, 8], 16).expect("powers of two"), [0, 3, 1, 2]);
        assert_eq!(morton_bits(&[2, 2, 2], 8).expect("powers of two"), [0, 1, 2]);
        assert!(morton_bits(&[3, 4], 12).is_err());
    }
}
