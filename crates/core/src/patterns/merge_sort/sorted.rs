//! Whether keys are in an order of the caller's: a reduction over neighbours.

use crate::backend::Run;
use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{Source as _, array, counting};
use crate::ir::{ArrayExpr, Expr, select};
use crate::ops::Min;
use crate::patterns::{MapTask, Reduce as _, ReduceTask};

/// Fails for the first key that comes before its left neighbour. Waits for the device.
pub(crate) fn check_sorted_by<B: Run<ReduceTask> + Run<MapTask>, K: Element>(
    device: &B,
    pattern: &'static str,
    what: &'static str,
    keys: &Buffer<B, K>,
    before: impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
) -> Result<()> {
    keys.check_device(device, what)?;
    crate::input::require(device, pattern, K::DTYPE)?;
    // Pieces share a key, and their indices are u32.
    let (n, most) = (keys.len(), 1 << 30);
    let mut start = 0;
    while start + 1 < n {
        let end = n.min(start + most + 1);
        let piece = keys.slice(start..end)?;
        let wrong = |(k, i): (ArrayExpr<K>, Expr<u32>)| select(before(k.at(i + 1), k.at(i)), i, u32::MAX);
        let found = device.reduce((array(&piece), counting(end - start - 1)).map(wrong), Min).run()?.read_blocking()?;
        if found != u32::MAX {
            return Err(Error::NotSorted { pattern, what, index: start + u64::from(found) + 1 });
        }
        start = end - 1;
    }
    Ok(())
}
