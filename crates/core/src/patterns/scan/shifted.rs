//! Inputs moved by one element, which makes an inclusive scan of segments an exclusive one.

use super::enqueue::Pair;
use crate::backend::Backend;
use crate::call::{Flag, constant};
use crate::error::Result;
use crate::input::{Collector, Input, Source as _, index};
use crate::ir::{self, Accumulator, Func, TracedValue, inline, select_each};
use crate::patterns::before::{all_moved, arguments};
use crate::patterns::map::trace;
use core::convert::identity;
use std::sync::Arc;

/// The load of pairs: the flag of an element, and the value before it, or `first` where the flag is set and at the very first element. `c` has the leaves of
/// the inputs, and gets those of the flags.
pub(super) fn exclusive_load<B: Backend, H: Input<B, Exprs: Flag>, I: Input<B, Exprs: Accumulator>>(
    c: &mut Collector<B>,
    inputs: &I,
    flags: &H,
    first: &[u64],
) -> Result<Arc<Func>> {
    let value = trace(inputs, c, identity)?;
    // Arrays keep their numbers, so the operator's leaves come first.
    let leaves = c.leaves.len() as u16;
    flags.collect(c)?;
    index().collect(c)?;
    let n = c.len()?;
    let before = all_moved(c, leaves, n, false, None)?;
    let load = ir::pack(c.params.clone(), || {
        let next = &mut { leaves };
        let (flag, i) = (flags.exprs(next).word(), index().exprs(next));
        let args = arguments(&c.params, &before, i - 1);
        let (flag, value): Pair<I::Exprs> = (flag, I::Exprs::from_values(&mut inline(&value, &args).into_iter().map(TracedValue)));
        (flag, select_each(flag.ne(0) | i.eq(0), constant(first), value))
    })?;
    Ok(Arc::new(load))
}
