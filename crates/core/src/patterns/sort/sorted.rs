//! Whether keys are in order: a reduction over neighbours.

use super::{KeyBits, MOST, SortBy, check_len};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element};
use crate::error::{Error, Result};
use crate::input::{Source as _, array, counting, counting64, scalar};
use crate::ir::{ArrayExpr, Expr, select};
use crate::ops::Min;
use crate::patterns::before::Neighbours;
use crate::patterns::operand::Operand;
use crate::patterns::{Map as _, MapTask, Reduce as _, ReduceTask, stored};

/// The lowest bits.
const fn low_bits(count: u32) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (64 - count) }
}

/// Comparison of keys' bits.
#[derive(Clone, Copy)]
struct Compared {
    map: KeyBits,
    mask: u64,
}

impl Compared {
    fn new(dtype: DType, by: &SortBy) -> Self {
        let map = KeyBits::new(dtype, by.order);
        let bits = by.bits.clone().unwrap_or(0..map.width);
        Self { map, mask: low_bits(bits.end) ^ low_bits(bits.start) }
    }

    /// Whether keys of at most 32 bits are in order.
    fn words(self, a: Expr<u32>, b: Expr<u32>) -> Expr<bool> {
        let mapped = |k: Expr<u32>| {
            let negative = select((k >> (self.map.width - 1)).ne(0), Expr::from(self.map.negative as u32), Expr::from(0));
            (k ^ negative ^ self.map.flip as u32) & self.mask as u32
        };
        mapped(a).le(mapped(b))
    }

    /// Whether keys of 64 bits are in order.
    fn wide(self, a: Expr<u64>, b: Expr<u64>) -> Expr<bool> {
        let mapped = |k: Expr<u64>| {
            let negative = select((k >> 63).ne(0), Expr::from(self.map.negative), Expr::from(0));
            (k ^ negative ^ self.map.flip) & self.mask
        };
        mapped(a).le(mapped(b))
    }
}

/// Whether an operator's keys are in order as they would be stored as elements of this type, 1 or 0.
pub(super) fn is_sorted_from<B: Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    keys: Neighbours<B>,
    dtype: DType,
    by: &SortBy,
    out: &Buffer<B, u32>,
) -> Result<()> {
    let n = keys.c.len()?;
    check_len(n)?;
    if n < 2 {
        return device.generate_into(1, scalar(1u32), |one| one, out);
    }
    device.reduce(compared(keys, dtype, by, |fits, _| fits.cast::<u32>())?.map(|fits| fits), Min).write_to(out)
}

/// Fails for the first of an operator's keys that comes before its left neighbour, as they would be stored as elements of this type. Waits for the
/// device.
pub(in crate::patterns) fn check_sorted_from<B: Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    (pattern, what): (&'static str, &'static str),
    keys: Neighbours<B>,
    dtype: DType,
    by: &SortBy,
) -> Result<()> {
    let n = keys.c.len()?;
    check_len(n)?;
    if n < 2 {
        return Ok(());
    }
    let wrong = compared(keys, dtype, by, |fits, i| select(fits, u32::MAX, i))?;
    match device.reduce(wrong.map(|i| i), Min).run()?.read_blocking()? {
        u32::MAX => Ok(()),
        index => Err(Error::NotSorted { pattern, what, index: index.into() }),
    }
}

/// Computes `found` of each key, from whether it is in order behind the one before it (the first is), and its index.
fn compared<B: Run<ReduceTask> + Run<MapTask>>(keys: Neighbours<B>, dtype: DType, by: &SortBy, found: Found) -> Result<Operand<B, u32>> {
    let (compared, ty) = (Compared::new(dtype, by), keys.ty());
    let func = keys.trace_values(|before, key, i| {
        let word = |value| stored::word(value, ty, dtype);
        let fits = match dtype.size_bytes() {
            8 => compared.wide(stored::wide(before, ty), stored::wide(key, ty)),
            _ => compared.words(word(before), word(key)),
        };
        found(i.eq(0) | fits, i)
    })?;
    Ok(Operand::new(keys.c, func))
}

/// Input of a reduction by minima for a pair of neighbours, from whether they are in order and the index of one.
type Found = fn(Expr<bool>, Expr<u32>) -> Expr<u32>;

/// Whether all keys are in order, 1 or 0.
pub(super) fn is_sorted<B: Run<ReduceTask> + Run<MapTask>, K: Element>(
    device: &B,
    keys: &Buffer<B, K>,
    by: &SortBy,
    out: &Buffer<B, u32>,
) -> Result<()> {
    check_len(keys.len())?;
    if keys.len() < 2 {
        return device.generate_into(1, scalar(1u32), |one| one, out);
    }
    over_neighbours(device, keys, by, |fits, _| fits.cast::<u32>(), out)
}

/// Fails for the first key that comes before its left neighbour. Waits for the device.
pub(crate) fn check_sorted<B: Run<ReduceTask> + Run<MapTask>, K: Element>(
    device: &B,
    pattern: &'static str,
    what: &'static str,
    keys: &Buffer<B, K>,
    by: &SortBy,
) -> Result<()> {
    keys.check_device(device, what)?;
    crate::input::require(device, pattern, K::DTYPE)?;
    // Pieces share a key, and their indices are u32.
    let (n, most) = (keys.len(), 1 << 30);
    let (mut start, out) = (0, device.buffer::<u32>(1)?);
    while start + 1 < n {
        let end = n.min(start + most + 1);
        over_neighbours(device, &keys.slice(start..end)?, by, |fits, i| select(fits, u32::MAX, i), &out)?;
        if let Some(&found) = out.read_blocking()?.first().filter(|&&found| found != u32::MAX) {
            return Err(Error::NotSorted { pattern, what, index: start + u64::from(found) + 1 });
        }
        start = end - 1;
    }
    Ok(())
}

/// The minimum over all neighbours, two keys or more. The keys' words are read as they lie: nothing may convert a float.
fn over_neighbours<B: Run<ReduceTask> + Run<MapTask>, K: Element>(
    device: &B,
    keys: &Buffer<B, K>,
    by: &SortBy,
    found: Found,
    out: &Buffer<B, u32>,
) -> Result<()> {
    let n = keys.len();
    let (compared, size) = (Compared::new(K::DTYPE, by), K::DTYPE.size_bytes());
    if size == 8 {
        let words = Buffer::<B, u64>::from_raw(device, keys.raw().clone(), keys.offset(), n)?;
        let fits = |(k, i): (ArrayExpr<u64>, Expr<u32>)| found(compared.wide(k.at(i), k.at(i + 1)), i);
        return device.reduce((array(&words), counting(n - 1)).map(fits), Min).write_to(out);
    }
    let ordered = |a: Expr<u32>, b: Expr<u32>| compared.words(a, b);
    if size == 4 {
        let words = Buffer::<B, u32>::from_raw(device, keys.raw().clone(), keys.offset(), n)?;
        let fits = |(k, i): (ArrayExpr<u32>, Expr<u32>)| found(ordered(k.at(i), k.at(i + 1)), i);
        return device.reduce((array(&words), counting(n - 1)).map(fits), Min).write_to(out);
    }
    let bytes = Buffer::<B, u8>::from_raw(device, keys.raw().clone(), keys.offset() * size, n * size)?;
    let pair = |low: Expr<u32>, high: Expr<u32>| low | (high << 8);
    if size == 1 {
        device.reduce((array(&bytes), counting(n - 1)).map(|(k, i)| found(ordered(k.at(i), k.at(i + 1)), i)), Min).write_to(out)
    } else if n * size <= MOST {
        let key = |k: ArrayExpr<u8>, i: Expr<u32>| pair(k.at(i * 2), k.at(i * 2 + 1));
        device.reduce((array(&bytes), counting(n - 1)).map(|(k, i)| found(ordered(key(k, i), key(k, i + 1)), i)), Min).write_to(out)
    } else {
        let key = |k: ArrayExpr<u8>, i: Expr<u64>| pair(k.at(i * 2), k.at(i * 2 + 1));
        let pairs = (array(&bytes), counting64(n - 1));
        device.reduce(pairs.map(|(k, i)| found(ordered(key(k, i), key(k, i + 1)), i.cast::<u32>())), Min).write_to(out)
    }
}
