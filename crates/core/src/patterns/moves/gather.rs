//! Gathers: values of an input at indices of another.

use super::computed::value_at;
use super::enqueue::{below, check_gather, check_indices, check_inputs, gather_at};
use super::floats::target_word;
use super::{IndexElement, IndexScalar, Move};
use crate::backend::{Backend, Run};
use crate::call::{ArrayCall, Arrays};
use crate::element::Element;
use crate::error::Result;
use crate::input::{Collector, Input, Numbers, Outputs, Source, TypedOutputs as _, Values, scalar};
use crate::ir::Func;
use crate::ir::graph;
use crate::patterns::MapTask;
use crate::patterns::before::Elsewhere;
use crate::patterns::map::{apart, collect};
use crate::patterns::operand::Operand;
use std::sync::Arc;

/// A gather: values, and indices of them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Gathering<V, H> {
    pub(super) values: V,
    pub(super) indices: H,
    pub(super) checked: bool,
}

/// A call of [`Move::gather`].
pub type GatherCall<'d, B, V, H> = ArrayCall<'d, B, Gathering<V, H>>;

impl<B, V, H> GatherCall<'_, B, V, H> {
    /// Checks indices first, which waits for the device: one that names no element is an error, and nothing was written.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at, out) = (dev.upload(&[10i64, 20])?, dev.upload(&[1u32, 2])?, dev.upload(&[7i64; 2])?);
    /// let error = dev.gather(&x, &at).checked().write_to(&out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 1, index: 2, limit: 2, .. }));
    /// assert_eq!(out.read_blocking()?, [7, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn checked(self) -> Self {
        self.with(|what| what.checked = true)
    }
}

impl<B: Move, V: Values<B>, H: Numbers<B, Element: IndexElement>> Arrays<B> for Gathering<V, H> {
    type Out = V::Out;

    fn elements(&self, device: &B) -> Result<u64> {
        collect(device, GATHER, &self.indices)?.len()
    }

    fn write(&self, device: &B, out: <V::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        if let (Some(values), Some(indices)) = (self.values.plain(), self.indices.plain()) {
            let out = V::Out::first(out);
            if self.checked {
                check_gather(device, values, indices, out)?;
                check_indices(device, GATHER, indices, values.len())?;
            }
            return gather_at(device, values, indices, out);
        }
        let values = Elsewhere::new(device, GATHER, &self.values, V::out)?;
        let indices = Operand::<B, <H::Element as Element>::Reg>::traced(device, GATHER, &self.indices, |at| at)?;
        let n = values.len;
        gather::<B, V::Out, _>(device, values, &indices, out, || {
            if self.checked { check_operand(device, GATHER, &indices, n) } else { Ok(()) }
        })
    }
}

const GATHER: &str = "gather";

/// Checks outputs, calls `prepare`, and enqueues a gather.
pub(super) fn gather<B: Run<MapTask>, R: Outputs, I: IndexScalar>(
    device: &B,
    values: Elsewhere<B>,
    indices: &Operand<B, I>,
    out: R::Refs<'_, B>,
    prepare: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let (c, func) = at_indices(device, values, indices)?;
    apart::<B, R>(device, GATHER, (c, func), out, prepare)
}

/// The values at these indices, zero where one names no element, as an operator and its leaves.
fn at_indices<B: Backend, I: IndexScalar>(device: &B, values: Elsewhere<B>, indices: &Operand<B, I>) -> Result<(Collector<B>, Arc<Func>)> {
    let mut c = Collector::new(device, GATHER);
    c.append(&values.c)?;
    let first = c.leaves.len() as u16;
    let bound = below::<I>(values.len);
    let rest = (indices, scalar(bound.unwrap_or(I::from_bits64(0))));
    rest.collect(&mut c)?;
    let build = || {
        let (i, bound_of) = Source::exprs(&rest, &mut { first });
        let positive = i.ge(I::from_bits64(0));
        let there = if bound.is_some() { positive & i.lt(bound_of) } else { positive };
        values.results_where(&c.params, target_word(i), there)
    };
    let func = graph::trace(c.params.clone(), build)?;
    Ok((c, Arc::new(func)))
}

/// Fails for the first index that is outside `0..limit`.
pub(super) fn check_operand<B: Move, I: IndexScalar>(device: &B, pattern: &'static str, indices: &Operand<B, I>, limit: u64) -> Result<()> {
    let n = indices.len()?;
    check_inputs(device, pattern, (indices, n), limit, |position| value_at(device, pattern, indices, position as u32))
}
