//! Inputs moved by one element, which makes an inclusive scan of segments an exclusive one.

use super::ScanTask;
use super::segmented::{Pair, enqueue_pairs};
use crate::backend::Run;
use crate::buffer::Buffer;
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::{Inputs, index};
use crate::ir::graph::Value;
use crate::ir::{self, Expr, lit};
use crate::ops::Combine;
use crate::patterns::before::{Moved, argument, inlined, moved};
use crate::patterns::map::{collect, trace};
use std::sync::Arc;

/// Exclusive scan of `f` of the inputs, which starts anew where a flag is not zero: an inclusive one of pairs whose value is
/// that of the element before, or the identity where a segment starts. An operator is evaluated once for each element, with every leaf that
/// is read element by element fetched from one place before.
pub(super) fn exclusive_into<B: Run<ScanTask>, H: Inputs<B, Exprs = Expr<u32>>, I: Inputs<B>, T: Element<Reg = T> + Scalar>(
    device: &B,
    flags: H,
    (inputs, f): (I, impl FnOnce(I::Exprs) -> Expr<T>),
    op: &impl Combine<T>,
    out: &Buffer<B, T>,
) -> Result<()> {
    let own = collect(device, "scan", &inputs)?;
    let value = trace(&inputs, &own, f)?;
    // Arrays keep their numbers, so the operator's leaves come first.
    let mut c = own;
    let leaves = c.leaves.len() as u16;
    let rest = (flags, index());
    rest.collect(&mut c)?;
    let n = c.len()?;
    let before: Vec<Moved> = (0..leaves).map(|k| moved(&mut c, k, n, false)).collect::<Result<_>>()?;
    let load = ir::pack(c.params.clone(), || {
        let (flag, i) = rest.exprs(&mut { leaves });
        let args: Vec<Value> = before.iter().map(|&of| argument(&c.params, of, i - 1)).collect();
        let (flag, value): Pair<T> = (flag, inlined(&value, &args, 0));
        (flag, ir::select(flag.ne(0) | i.eq(0), lit(op.identity()), value))
    })?;
    enqueue_pairs(device, &c, (n, Arc::new(load)), op, out)
}
