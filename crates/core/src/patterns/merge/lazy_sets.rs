//! Sorted inputs as multisets: the searches, the selection and the merge of set operations, over what operators make.

use super::call::check_output;
use super::lazy::{Source, argument, merge, search};
use super::{Count, SearchKind, Sets};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{Elements, Input as _, Lent, Narrow, index};
use crate::ir::graph::{self, Value};
use crate::ir::inline;
use crate::ir::{Expr, Func, Traced, lit};
use crate::patterns::select::{Call, enqueue, kept_or_not};
use crate::patterns::{SelectKind, SortOrder};
use std::sync::Arc;

const PATTERN: &str = "a set operation";

/// Both inputs.
pub(super) type Two<B> = [Source<B>; 2];
/// Elements and their number.
type Outs<'a, B, K, C> = (&'a Buffer<B, K>, &'a Buffer<B, C>);

/// Checks both inputs.
pub(super) fn two<B: Sets, I: Elements<B>, J: Elements<B, Element = I::Element>>(device: &B, a: &I, b: &J) -> Result<Two<B>> {
    let types = [I::Element::DTYPE];
    let (a, b) = ((Lent(a), I::out), (Lent(b), J::out));
    let two = [Source::new(device, PATTERN, a, &types)?, Source::new(device, PATTERN, b, &types)?];
    let (requested, limit) = (two[0].n + two[1].n, u32::MAX.into());
    if requested > limit {
        return Err(Error::TooLarge { what: "elements of two sets", requested, limit });
    }
    Ok(two)
}

fn check<B: Sets, K: Element, C: Count>(device: &B, two: &Two<B>, (out, count): Outs<'_, B, K, C>, required: u64) -> Result<()> {
    check_output(device, out, required)?;
    count.check_device(device, "the count")?;
    if count.is_empty() {
        return Err(Error::BufferTooSmall { what: "the count", required: 1, available: 0 });
    }
    let outs = [(out.out(), required), (count.out(), 1)];
    two.iter().try_for_each(|source| source.check_aliasing(PATTERN, &outs))
}

/// An input beside the index of the first element that is equal to each of its own, and how many of the other input are.
struct Among<B: Sets> {
    source: Source<B>,
    /// Leaves of the input.
    own: u16,
}

impl<B: Sets> Among<B> {
    fn new<K: Element>(device: &B, source: &Source<B>, other: &Source<B>, order: SortOrder) -> Result<Self> {
        let (first, others) = (device.buffer::<u32>(source.n)?, device.buffer::<u32>(source.n)?);
        let side = |source: &Source<B>| source.clone().side(&[K::DTYPE]);
        search::<B, K, u32>(device, [side(source)?, side(source)?], (SearchKind::Lower, order), &first)?;
        search::<B, K, u32>(device, [side(other)?, side(source)?], (SearchKind::Equal, order), &others)?;
        let mut source = source.clone();
        let own = source.c.leaves.len() as u16;
        (&first, &others, index()).collect(&mut source.c)?;
        Ok(Self { source, own })
    }

    /// An operator of whether an element is one of so many that the other input has too (the first ones are), and of the element.
    fn trace(&self, results: impl FnOnce(Expr<bool>, Value) -> Vec<Value>) -> Result<Arc<Func>> {
        over(&self.source, |key| {
            let of = |k: u16| <Expr<u32> as Traced>::params(self.own + k);
            results((of(2) - of(0)).lt(of(1)), key)
        })
    }
}

/// An operator over an input's leaves, of what its own operator makes.
fn over<B: Sets>(source: &Source<B>, results: impl FnOnce(Value) -> Vec<Value>) -> Result<Arc<Func>> {
    let build = || {
        let args: Vec<Value> = source.func.params.iter().zip(0..).map(|(&param, at)| argument(param, at)).collect();
        inline(&source.func, &args).first().map_or_else(Vec::new, |&key| results(key))
    };
    Ok(Arc::new(graph::trace(source.c.params.clone(), build)?))
}

/// Of the first input the elements that the second has too, or those that it has not.
pub(super) fn one<B: Sets, K: Element, C: Count>(
    device: &B,
    two: &Two<B>,
    (order, shared): (SortOrder, bool),
    (out, count): Outs<'_, B, K, C>,
) -> Result<()> {
    check(device, two, (out, count), two[0].n)?;
    let found = Among::new::<K>(device, &two[0], &two[1], order)?;
    let func = found.trace(|is_shared, key| vec![kept_or_not(if shared { is_shared } else { !is_shared }).value(), key])?;
    enqueue::<B, Narrow<K>, C>(device, Call { c: found.source.c, func, kind: SelectKind::Keep }, out, None, count)
}

/// The merge of both inputs, without the elements of the second that the first has too, and possibly without those of the first that the second has.
/// Whether an element stays is its value in the merge.
pub(super) fn both<B: Sets, K: Element, C: Count>(
    device: &B,
    two: &Two<B>,
    (order, symmetric): (SortOrder, bool),
    (out, count): Outs<'_, B, K, C>,
) -> Result<()> {
    let total = two[0].n + two[1].n;
    check(device, two, (out, count), total)?;
    let kept = |source: &Source<B>, other: &Source<B>| {
        let found = Among::new::<K>(device, source, other, order)?;
        let func = found.trace(|is_shared, key| vec![key, (!is_shared).cast::<u32>().value()])?;
        Ok::<_, Error>(Source { func, ..found.source })
    };
    let of_a = if symmetric {
        kept(&two[0], &two[1])?
    } else {
        Source { func: over(&two[0], |key| vec![key, lit(1u32).value()])?, ..two[0].clone() }
    };
    let types = [K::DTYPE, u32::DTYPE];
    let sides = [of_a.side(&types)?, kept(&two[1], &two[0])?.side(&types)?];
    let (keys, flags) = (device.buffer::<K>(total)?, device.buffer::<u32>(total)?);
    merge(device, sides, order, (&keys, Some(&flags)), false)?;
    device.select_flagged(&keys, &flags).write_to((out, count))
}
