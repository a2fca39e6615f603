//! Inputs moved by one element, which makes an inclusive scan of segments an exclusive one.

use super::ScanTask;
use super::segmented::{Pair, enqueue_pairs};
use crate::backend::{Backend, Leaf, Run};
use crate::buffer::Buffer;
use crate::dynamic::inline;
use crate::element::{Element, Scalar, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Inputs, index, scalar};
use crate::ir::graph::{self, Value};
use crate::ir::{self, Expr, Func, Param, Traced, lit};
use crate::ops::Combine;
use crate::patterns::map::{collect, trace};
use std::sync::Arc;

/// Elements that a word numbers.
const MOST: u64 = 1 << 32;

/// What a parameter of an operator becomes for the element before.
#[derive(Clone, Copy)]
enum Before {
    /// The same at every element.
    Same,
    /// The index, less one.
    Index,
    /// A fetch; elements of the array from one to the next.
    Fetch(u32),
    /// The same of an array that is read from its end, whose last element this parameter counts.
    Reversed { stride: u32, last: u16 },
}

/// Exclusive scan of `f` of the inputs, which starts anew where `flag` of `heads` and the index is not zero: an inclusive one of pairs whose value is
/// that of the element before, or the identity where a segment starts. An operator is evaluated once for each element, with every leaf that
/// is read element by element fetched from one place before.
pub(super) fn exclusive_into<B: Run<ScanTask>, H: Inputs<B>, I: Inputs<B>, T: Element<Reg = T> + Scalar>(
    device: &B,
    (heads, flag): (H, impl FnOnce(H::Exprs, Expr<u32>) -> Expr<u32>),
    (inputs, f): (I, impl FnOnce(I::Exprs) -> Expr<T>),
    op: &impl Combine<T>,
    out: &Buffer<B, T>,
) -> Result<()> {
    let own = collect(device, "scan", &inputs)?;
    let value = trace(&inputs, &own, f)?;
    // Arrays keep their numbers, so the operator's leaves come first.
    let mut c = own;
    let leaves = c.leaves.len() as u16;
    let rest = (heads, index());
    rest.collect(&mut c)?;
    let n = c.len()?;
    let before: Vec<Before> = (0..leaves).map(|k| moved(&mut c, k, n)).collect::<Result<_>>()?;
    let load = ir::pack(c.params.clone(), || {
        let (heads, i) = rest.exprs(&mut { leaves });
        let args: Vec<Value> = (0..leaves).zip(&before).map(|(k, &of)| argument(&c.params, k, of, i - 1)).collect();
        let (flag, value): Pair<T> = (flag(heads, i), inlined(&value, &args));
        (flag, ir::select(flag.ne(0) | i.eq(0), lit(op.identity()), value))
    })?;
    enqueue_pairs(device, &c, (n, Arc::new(load)), op, out)
}

/// The one result of an operator over these arguments.
fn inlined<T: Scalar>(value: &Func, args: &[Value]) -> Expr<T> {
    inline(value, args).first().map_or_else(|| lit(T::from_bits64(0)), |&v| Expr::from_value(v))
}

/// Makes leaf `k` one that can be read at the element before.
fn moved<B: Backend>(c: &mut Collector<B>, k: u16, n: u64) -> Result<Before> {
    let at = usize::from(k);
    match (c.params[at], &c.leaves[at]) {
        (Param::Index(_), _) => Ok(Before::Index),
        (Param::Value(_), Leaf::Elements { raw, dtype, offset, stride }) if *stride != 0 && n > 0 => {
            let (step, dtype) = (stride.unsigned_abs(), *dtype);
            // Elements from the first to the last one.
            let span = (n - 1).saturating_mul(step).saturating_add(1);
            if span > MOST {
                return Err(Error::TooLarge { what: "elements that an exclusive scan fetches from", requested: span, limit: MOST });
            }
            let reversed = *stride < 0;
            let first = if reversed { offset + 1 - span } else { *offset };
            let leaf = Leaf::Array { raw: raw.clone(), dtype, offset: first, len: span };
            (c.params[at], c.leaves[at]) = (Param::Array(dtype), leaf);
            if !reversed {
                return Ok(Before::Fetch(step as u32));
            }
            let last = c.leaves.len() as u16;
            scalar((span - 1) as u32).collect(c)?;
            Ok(Before::Reversed { stride: step as u32, last })
        }
        _ => Ok(Before::Same),
    }
}

/// The value of parameter `k` for element `before`.
fn argument(params: &[Param], k: u16, of: Before, before: Expr<u32>) -> Value {
    let fetch = |at: Expr<u32>| {
        graph::with(|g| {
            let id = g.id(at.value(), Ty::U32);
            g.fetch(k, id)
        })
    };
    let steps = |stride: u32| if stride == 1 { before } else { before * stride };
    match (of, params[usize::from(k)]) {
        // An array is none of an operator's values.
        (Before::Same, Param::Array(_)) => lit(0u32).value(),
        (Before::Same, _) => graph::with(|g| g.param(k)),
        (Before::Index, Param::Index(Ty::U64)) => before.cast::<u64>().value(),
        (Before::Index, _) => before.value(),
        (Before::Fetch(stride), _) => fetch(steps(stride)),
        (Before::Reversed { stride, last }, _) => fetch(<Expr<u32> as Traced>::params(last) - steps(stride)),
    }
}
