//! Where elements of what is computed belong by an order of the caller's, as operators: halving, its steps written out.

use crate::backend::{Backend, Run};
use crate::buffer::Buffer;
use crate::element::{Scalar, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Narrow, Outputs, Source, index, scalar};
use crate::ir::graph::{self, Value};
use crate::ir::{Expr, Func, lit, select};
use crate::patterns::before::{Elsewhere, inlined};
use crate::patterns::map::apart;
use crate::patterns::operand::Operand;
use crate::patterns::select::Count;
use crate::patterns::{MapTask, Prepare, check_ops};
use std::sync::Arc;

/// Whether the first of two elements comes before the second.
fn is_before(order: &Func, a: Value, b: Value) -> Expr<bool> {
    inlined(order, &[a, b], 0)
}

/// Steps that halve a range of `n` elements to none.
const fn steps(n: u64) -> u32 {
    u64::BITS - n.leading_zeros()
}

/// End of the elements that are equal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Lower,
    Upper,
}

/// Counts those of the `n` elements that come before a needle, or not behind it: from the highest bit down.
fn bound(order: &Func, sorted: &Elsewhere<impl Backend>, (n, end): (Expr<u32>, End), needle: Value) -> Expr<u32> {
    let mut at = lit(0u32);
    for k in (0..steps(sorted.len)).rev() {
        let next = at + (1u32 << k);
        let element = sorted.results_behind(0, next - 1).first().copied().unwrap_or(needle);
        let passed = match end {
            End::Lower => is_before(order, element, needle),
            End::Upper => !is_before(order, needle, element),
        };
        at = select(next.le(n) & passed, next, at);
    }
    at
}

/// A search for each needle, into the caller's buffer: for both ends what lies between them.
pub(super) fn search<B: Run<MapTask>, K: Scalar, P: Count>(
    device: &B,
    sorted: &Elsewhere<B>,
    needles: &Operand<B, K>,
    order: &Arc<Func>,
    ends: &[End],
    out: &Buffer<B, P>,
) -> Result<()> {
    const PATTERN: &str = "search";
    check_ops(device, PATTERN, device.numerics(), &[order])?;
    let limit = u64::from(u32::MAX);
    if sorted.len > limit {
        return Err(Error::TooLarge { what: "elements to search", requested: sorted.len, limit });
    }
    let mut c = Collector::new(device, PATTERN);
    c.append(&sorted.c)?;
    let first = c.leaves.len() as u16;
    let rest = (needles, scalar(sorted.len as u32));
    rest.collect(&mut c)?;
    let build = || {
        let (needle, n) = Source::exprs(&rest, &mut { first });
        let found: Vec<Expr<u32>> =
            ends.iter().map(|&end| if sorted.len == 0 { lit(0u32) } else { bound(order, sorted, (n, end), needle.value()) }).collect();
        let place = match found[..] {
            [lower, upper] => upper.max(lower) - lower,
            _ => found[0],
        };
        vec![graph::with(|g| {
            let id = g.id(place.value(), Ty::U32);
            g.cast(id, P::DTYPE.ty())
        })]
    };
    let func = Arc::new(graph::trace(c.params.clone(), build)?);
    apart::<B, Narrow<P>>(device, PATTERN, (&c, &func), out, &|| Ok(()))
}

/// Element `k` of the merge of two inputs: of the elements that go first in one place those of the first, unless that of the second comes before it.
/// `prepare` is called after all checks.
pub(in crate::patterns) fn merge<B: Run<MapTask>, R: Outputs>(
    device: &B,
    [a, b]: &[Elsewhere<B>; 2],
    order: &Arc<Func>,
    out: R::Refs<'_, B>,
    prepare: Prepare<'_>,
) -> Result<()> {
    const PATTERN: &str = "merge_by";
    check_ops(device, PATTERN, device.numerics(), &[order])?;
    let total = check_total([a.len, b.len])?;
    let mut c = Collector::new(device, PATTERN);
    c.append(&a.c)?;
    let of_b = c.leaves.len() as u16;
    c.append(&b.c)?;
    let first = c.leaves.len() as u16;
    let rest = (index(), scalar(a.len as u32), scalar(b.len as u32));
    rest.collect(&mut c)?;
    c.length(total)?;
    let at_a = |i: Expr<u32>| a.results_behind(0, i);
    let at_b = |i: Expr<u32>| b.results_behind(of_b, i);
    let build = || {
        let (k, m, n) = Source::exprs(&rest, &mut { first });
        if a.len == 0 || b.len == 0 {
            return if a.len == 0 { at_b(k) } else { at_a(k) };
        }
        // Of the first k elements this many are the first input's.
        let (mut low, mut high) = (select(k.gt(n), k - n, lit(0u32)), k.min(m));
        for _ in 0..steps(a.len.min(b.len)) {
            let middle = low + ((high - low) >> 1);
            let goes_first = is_before(order, at_b(k - middle - 1)[0], at_a(middle)[0]);
            let open = low.lt(high);
            (low, high) = (select(open & !goes_first, middle + 1, low), select(open & goes_first, middle, high));
        }
        let (of_a, of_b) = (at_a(low), at_b(k - low));
        let takes_a = low.lt(m) & ((k - low).ge(n) | !is_before(order, of_b[0], of_a[0]));
        let either = |((x, y), ty): ((&Value, &Value), Ty)| {
            graph::with(|g| {
                let (takes, x, y) = (g.id(takes_a.value(), Ty::Bool), g.id(*x, ty), g.id(*y, ty));
                g.select(takes, x, y)
            })
        };
        of_a.iter().zip(&of_b).zip(a.types()).map(either).collect()
    };
    let func = Arc::new(graph::trace(c.params.clone(), build)?);
    apart::<B, R>(device, PATTERN, (&c, &func), out, prepare)
}

/// Elements of both, which a word numbers.
pub(in crate::patterns) fn check_total(lens: [u64; 2]) -> Result<u64> {
    let (requested, limit) = (lens[0].saturating_add(lens[1]), u32::MAX.into());
    if requested > limit { Err(Error::TooLarge { what: "elements of two inputs", requested, limit }) } else { Ok(requested) }
}
