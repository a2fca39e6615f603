//! Whether keys are in order: a reduction over neighbours.

use super::{MOST, SortTask, check_len};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::input::{array, index, index64};
use crate::ir::{ArrayExpr, Expr, select};
use crate::ops::Min;
use crate::patterns::{MapTask, Reduce as _, ReduceTask};

/// The lowest bits.
const fn low_bits(count: u32) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (64 - count) }
}

/// The keys' words are read as they lie: nothing may convert a float.
pub(super) fn is_sorted<B: Run<ReduceTask> + Run<MapTask>, K: Element>(
    device: &B,
    keys: &Buffer<B, K>,
    task: &SortTask,
) -> Result<DeviceScalar<B, u32>> {
    let n = keys.len();
    check_len(n)?;
    if n < 2 {
        return device.upload_scalar(1);
    }
    let (map, size) = (task.key_bits(), K::DTYPE.size_bytes());
    let compared = low_bits(task.bits.end) ^ low_bits(task.bits.start);
    if map.width == 64 {
        let words = Buffer::<B, u64>::from_raw(device, keys.raw().clone(), keys.offset(), n)?;
        let mapped = |k: Expr<u64>| {
            let negative = select((k >> 63).ne(0), Expr::from(map.negative), Expr::from(0));
            (k ^ negative ^ map.flip) & compared
        };
        let fits = |(k, i): (ArrayExpr<u64>, Expr<u32>)| mapped(k.at(i)).le(mapped(k.at(i + 1))).cast::<u32>();
        return device.reduce_range(n - 1, (array(&words), index()), fits, Min);
    }
    let mapped = |k: Expr<u32>| {
        let negative = select((k >> (map.width - 1)).ne(0), Expr::from(map.negative as u32), Expr::from(0));
        (k ^ negative ^ map.flip as u32) & compared as u32
    };
    let ordered = |a: Expr<u32>, b: Expr<u32>| mapped(a).le(mapped(b)).cast::<u32>();
    if map.width == 32 {
        let words = Buffer::<B, u32>::from_raw(device, keys.raw().clone(), keys.offset(), n)?;
        let fits = |(k, i): (ArrayExpr<u32>, Expr<u32>)| ordered(k.at(i), k.at(i + 1));
        return device.reduce_range(n - 1, (array(&words), index()), fits, Min);
    }
    let bytes = Buffer::<B, u8>::from_raw(device, keys.raw().clone(), keys.offset() * size, n * size)?;
    let pair = |low: Expr<u32>, high: Expr<u32>| low | (high << 8);
    if size == 1 {
        device.reduce_range(n - 1, (array(&bytes), index()), |(k, i)| ordered(k.at(i), k.at(i + 1)), Min)
    } else if n * size <= MOST {
        let key = |k: ArrayExpr<u8>, i: Expr<u32>| pair(k.at(i * 2), k.at(i * 2 + 1));
        device.reduce_range(n - 1, (array(&bytes), index()), |(k, i)| ordered(key(k, i), key(k, i + 1)), Min)
    } else {
        let key = |k: ArrayExpr<u8>, i: Expr<u64>| pair(k.at(i * 2), k.at(i * 2 + 1));
        device.reduce_range(n - 1, (array(&bytes), index64()), |(k, i)| ordered(key(k, i), key(k, i + 1)), Min)
    }
}
