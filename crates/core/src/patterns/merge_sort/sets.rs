//! Arrays that are sorted by a comparator as multisets.

use super::call::{merge, order};
use super::found::{End, check_total, search};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{index, require, scalar};
use crate::ir::{Expr, Func};
use crate::patterns::Merge;
use crate::patterns::before::Elsewhere;
use crate::patterns::map::same;
use crate::patterns::merge::Kept;
use crate::patterns::operand::Operand;
use crate::patterns::select::Count;
use crate::patterns::sort::By;
use crate::patterns::{Map as _, Select, SetCall, SetDomain, SortOrder, check_aliasing, check_ops};
use std::sync::Arc;

impl<'x, B: Merge + Select, K: Element, F> SetDomain<B, &'x Buffer<B, K>, &'x Buffer<B, K>> for By<F>
where
    F: Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
{
    fn write<C: Count>(
        call: &SetCall<'_, B, &'x Buffer<B, K>, &'x Buffer<B, K>, Self>,
        memory: impl FnOnce(u64) -> Result<(Buffer<B, K>, Buffer<B, C>)>,
    ) -> Result<(Buffer<B, K>, Buffer<B, C>)> {
        let (device, kept, two, f) = (call.device, call.kept, (call.a, call.b), &call.domain.0);
        let before = order::<K>(|a, b| if call.order == SortOrder::Descending { f(b, a) } else { f(a, b) })?;
        let of = memory(kept.room(two.0.len(), two.1.len()))?;
        let (how, out) = ((before, matches!(kept, Kept::Both | Kept::Differing)), (&of.0, &of.1));
        if kept.merges() {
            both(device, two, how, out)?;
        } else {
            one(device, two, how, out)?;
        }
        Ok(of)
    }
}

const PATTERN: &str = "a set operation";

type Two<'a, B, K> = (&'a Buffer<B, K>, &'a Buffer<B, K>);
/// Elements and their number.
type Outs<'a, B, K, C> = (&'a Buffer<B, K>, &'a Buffer<B, C>);

fn check<B: Merge + Select, K: Element, C: Count>(
    device: &B,
    (a, b): Two<'_, B, K>,
    order: &Arc<Func>,
    (out, count): Outs<'_, B, K, C>,
    required: u64,
) -> Result<()> {
    check_total([a.len(), b.len()])?;
    check_ops(device, PATTERN, device.numerics(), &[order])?;
    for x in [a, b] {
        x.check_device(device, "an input")?;
    }
    out.check_device(device, "the output")?;
    count.check_device(device, "the count")?;
    for dtype in [K::DTYPE, C::DTYPE] {
        require(device, PATTERN, dtype)?;
    }
    for (what, len, required) in [("the output", out.len(), required), ("the count", count.len(), 1)] {
        if len < required {
            return Err(Error::BufferTooSmall { what, required, available: len });
        }
    }
    let outs = [(out.out(), required), (count.out(), 1)];
    [a, b].into_iter().try_for_each(|x| check_aliasing(PATTERN, &[x.leaf()], x.len(), &outs, false))
}

/// For each element of an array how many come before it there, and how many of the other are equal to it.
fn among<B: Merge + Select, K: Element>(
    device: &B,
    own: &Buffer<B, K>,
    other: &Buffer<B, K>,
    order: &Arc<Func>,
) -> Result<(Buffer<B, u32>, Buffer<B, u32>)> {
    let found = (device.buffer(own.len())?, device.buffer(own.len())?);
    let in_array = |array: &Buffer<B, K>, ends: &[End], out: &Buffer<B, u32>| {
        let needles = Operand::<B, K::Reg>::traced(device, PATTERN, &own, same)?;
        search(device, &Elsewhere::new(device, PATTERN, &array, same)?, &needles, order, ends, out)
    };
    in_array(own, &[End::Lower], &found.0)?;
    in_array(other, &[End::Lower, End::Upper], &found.1)?;
    Ok(found)
}

/// Of the first array the elements that the second has too, or those that it has not.
fn one<B: Merge + Select, K: Element, C: Count>(
    device: &B,
    (a, b): Two<'_, B, K>,
    (order, shared): (Arc<Func>, bool),
    (out, count): Outs<'_, B, K, C>,
) -> Result<()> {
    check(device, (a, b), &order, (out, count), a.len())?;
    let (first, others) = among(device, a, b, &order)?;
    let keep = |(_, i, first, others): (Expr<K::Reg>, Expr<u32>, Expr<u32>, Expr<u32>)| {
        let is_shared = (i - first).lt(others);
        if shared { is_shared } else { !is_shared }
    };
    device.select((a, index(), &first, &others), keep).finish(|(x, ..)| x.store_as::<K>()).write_to((out, count))
}

/// The merge of both arrays, without the elements of the second that the first has too, and possibly without those of the first that the second has.
/// Whether an element stays is its value in the merge.
fn both<B: Merge + Select, K: Element, C: Count>(
    device: &B,
    (a, b): Two<'_, B, K>,
    (order, symmetric): (Arc<Func>, bool),
    (out, count): Outs<'_, B, K, C>,
) -> Result<()> {
    let total = a.len() + b.len();
    check(device, (a, b), &order, (out, count), total)?;
    let stays = |own: &Buffer<B, K>, other: &Buffer<B, K>| {
        let (first, others) = among(device, own, other, &order)?;
        device.map((&first, &others, index()), |(first, others, i)| (i - first).ge(others).cast::<u32>())
    };
    let of_a = if symmetric { stays(a, b)? } else { device.generate(a.len(), scalar(1u32), |one| one)? };
    let of_b = stays(b, a)?;
    let (keys, flags) = (device.buffer::<K>(total)?, device.buffer::<u32>(total)?);
    merge(device, (a, Some(&of_a)), (b, Some(&of_b)), order, (&keys, Some(&flags)))?;
    device.select_flagged(&keys, &flags).write_to((out, count))
}
