//! Scatters that combine by an operator of the caller's.

use super::computed::Sources;
use super::enqueue::check_scatter;
use super::gather::check_operand;
use super::{IndexElement, IndexScalar, Move, target_word};
use crate::backend::Backend;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Source as _, array, index, permuted, scalar};
use crate::ir::{Expr, Func, select};
use crate::ops::Combine;
use crate::patterns::{Map as _, Ordered as _, Reduce as _, Segmented, Sort, SortOrder};
use std::sync::Arc;

pub(super) const PATTERN: &str = "scatter_combine";

/// Targets, which a word counts.
fn word_count<B: Backend, T: Element>(out: &Buffer<B, T>) -> Result<u32> {
    let limit = u32::MAX;
    u32::try_from(out.len()).map_err(|_| Error::TooLarge { what: "targets of a scatter", requested: out.len(), limit: limit.into() })
}

/// The number of a target of `targets`, or how many there are, `none`, where an index names none.
fn place<I: IndexScalar>(i: Expr<I>, targets: u32, none: Expr<u32>) -> Expr<u32> {
    let word = target_word(i, targets.into());
    select(word.lt(none), word, none)
}

/// A new array of targets that hold nothing.
pub(super) fn identities<B: Move, T: Element<Reg = T> + Scalar>(device: &B, op: &impl Combine<T>, targets: u64) -> Result<Buffer<B, T>> {
    let out = device.buffer(targets)?;
    device.fill(&out, op.identity())?;
    Ok(out)
}

/// Combines an index and a value that an operator gives of its leaves. They are stored once.
pub(super) fn combine_traced<B: Move + Sort + Segmented, T: Element<Reg = T> + Scalar, I: IndexScalar>(
    device: &B,
    (c, func): (Collector<B>, Arc<Func>),
    op: &impl Combine<T>,
    checked: bool,
    (out, adds): (&Buffer<B, T>, bool),
) -> Result<()> {
    let sources = Sources::<B, I, T>::of(PATTERN, c, func)?;
    sources.check(device, out)?;
    let targets = word_count(out)?;
    if checked {
        check_operand(device, PATTERN, &sources.indices(device)?, out.len())?;
    }
    let placed = sources.with(device, &scalar(targets), |i, value, none| (place(i, targets, none), value))?;
    let (places, values) = placed.stored(device)?;
    in_order(device, &places, &values, op, out, adds)
}

pub(super) fn combine<B: Move + Sort + Segmented, T: Element<Reg = T> + Scalar, I: IndexElement>(
    device: &B,
    values: &Buffer<B, T>,
    indices: &Buffer<B, I>,
    op: &impl Combine<T>,
    out: &Buffer<B, T>,
    adds: bool,
) -> Result<()> {
    check_scatter(device, PATTERN, values, indices, out)?;
    let targets = word_count(out)?;
    let places = device.map((indices, scalar(targets)), |(i, none)| place(i, targets, none))?;
    in_order(device, &places, values, op, out, adds)
}

/// Combines values that go to these places, what lies there being the first of them where it counts.
fn in_order<B: Move + Sort + Segmented, T: Element<Reg = T> + Scalar>(
    device: &B,
    places: &Buffer<B, u32>,
    values: &Buffer<B, T>,
    op: &impl Combine<T>,
    out: &Buffer<B, T>,
    adds: bool,
) -> Result<()> {
    let targets = word_count(out)?;
    if places.is_empty() || targets == 0 {
        return Ok(());
    }
    // Sources that name no target have the number behind the last one.
    let by = SortOrder::Ascending.bits(0..u32::BITS - targets.leading_zeros());
    let (sorted, order) = device.sort(places).with_indices().order(by).run()?;
    let found = device.reduce(permuted(values, &order), op).by_key(&sorted).run()?;
    let (to, mut sums) = found.values;
    if adds {
        sums = device.map((&to, array(out), &sums), |(to, out, sum)| op.combine(out.at(to), sum))?;
    }
    // Behind as many as were found there is anything.
    let store = |(to, sum, i, count): (Expr<u32>, Expr<T>, Expr<u32>, Expr<u32>)| (select(i.lt(count), to, u32::MAX), sum);
    device.scatter_pairs((&to, &sums, index(), &found.count).map(store)).unique().write_to(out)
}
