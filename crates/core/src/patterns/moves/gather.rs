//! Gathers: values of an input at indices of another.

use super::computed::value_at;
use super::enqueue::{below, check_gather, check_indices, check_inputs, gather_at, raw_as};
use super::floats::target_word;
use super::{IndexElement, IndexScalar, Move};
use crate::backend::{Backend, Run};
use crate::call::{Along, ArrayCall, Arrays};
use crate::element::{DType, Element, Scalar as _};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Numbers, Outputs, Source, TypedOutputs, Values, index, scalar};
use crate::ir::graph;
use crate::ir::{Func, select};
use crate::patterns::before::Elsewhere;
use crate::patterns::map::{apart, collect};
use crate::patterns::operand::Operand;
use crate::patterns::{Lines, MapTask, Prepare};
use std::sync::Arc;

/// A gather: values, and indices of them.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Gathering<V, H> {
    pub(super) values: V,
    pub(super) indices: H,
    pub(super) along: Option<Along>,
    pub(super) checked: bool,
}

/// A call of [`Move::gather`].
pub type GatherCall<'d, B, V, H> = ArrayCall<'d, B, Gathering<V, H>>;

impl<B, V, H> GatherCall<'_, B, V, H> {
    /// Takes indices along `axis` of a row-major array of this shape, each within the line that it stands in: NumPy's `take_along_axis`. Indices have the
    /// shape of the values but along the axis, where they may be more or fewer, and so have the results. An index that names no element of its line gives
    /// zero, or is an error where indices are [checked](Self::checked). Values are fewer than 2^32, and so are indices.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3u32, 1, 2, 10, 30, 20])?; // two rows
    /// let order = dev.argsort(&x).axis(&[2, 3], 1).run()?;
    /// assert_eq!(dev.gather(&x, &order).axis(&[2, 3], 1).run()?.read_blocking()?, [1, 2, 3, 10, 20, 30]);
    /// // Of each column the row that is named.
    /// let rows = dev.upload(&[1u32, 0, 1])?;
    /// assert_eq!(dev.gather(&x, &rows).axis(&[2, 3], 0).run()?.read_blocking()?, [10, 1, 20]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn axis(self, shape: &[u64], axis: usize) -> Self {
        self.with(|what| what.along = Some(Along { shape: shape.to_vec(), axis }))
    }

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
        if let Some(Along { shape, axis }) = &self.along {
            return self.write_lines(device, Lines::along(shape, *axis)?, out);
        }
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
        gather::<B, V::Out, _>(device, values, &indices, out, &|| {
            if self.checked { check_operand(device, GATHER, &indices, n) } else { Ok(()) }
        })
    }
}

impl<V, H> Gathering<V, H> {
    /// The gather in every line.
    fn write_lines<B: Move>(&self, device: &B, lines: Lines, out: <V::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        V: Values<B>,
        H: Numbers<B, Element: IndexElement>,
    {
        let Some(values) = self.values.plain() else { return self.write_words(device, &self.values, lines, out) };
        let out = V::Out::first(out);
        // Words of the size, so that NaN keeps its payload, where the device has them.
        macro_rules! words {
            ($word:ty) => {
                self.write_words(device, &&raw_as::<B, _, $word>(values)?, lines, &raw_as::<B, _, $word>(out)?)
            };
        }
        match <V::Out as TypedOutputs>::First::DTYPE {
            DType::F64 if !device.caps().supports(DType::U64) => self.write_words(device, &values, lines, out),
            dtype => match dtype.size_bytes() {
                1 => words!(u8),
                2 => words!(u16),
                4 => words!(u32),
                _ => words!(u64),
            },
        }
    }

    /// The gather of values that may be words of others.
    fn write_words<B: Move, W: Values<B>>(&self, device: &B, values: &W, lines: Lines, out: <W::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        H: Numbers<B, Element: IndexElement>,
    {
        let values = Elsewhere::new(device, GATHER, values, W::out)?;
        let indices = Operand::<B, <H::Element as Element>::Reg>::traced(device, GATHER, &self.indices, |at| at)?;
        let (found, count) = (indices.len()?, lines.count());
        if values.len != lines.elements() {
            return Err(Error::LengthMismatch { what: "elements of the shape", expected: lines.elements(), found: values.len });
        }
        let whole = found.checked_next_multiple_of(count).unwrap_or(0);
        if whole != found {
            return Err(Error::LengthMismatch { what: "indices of whole lines", expected: whole, found });
        }
        let (requested, limit) = (found.max(values.len), u32::MAX.into());
        if requested > limit {
            return Err(Error::TooLarge { what: "elements of a gather along an axis", requested, limit });
        }
        let number = |n: u64| scalar(n as u32);
        let (n, inner, block) = (number(lines.n), number(lines.inner.max(1)), number((found / lines.outer.max(1)).max(1)));
        let bound = below(lines.n);
        let limit = scalar(bound.unwrap_or(<H::Element as Element>::Reg::from_bits64(0)));
        let inputs = (&indices, index(), n, inner, block, limit);
        let places = Operand::<B, u32>::traced(device, GATHER, &inputs, |(at, i, n, inner, block, limit)| {
            let positive = at.ge(<H::Element as Element>::Reg::from_bits64(0));
            let there = if bound.is_some() { positive & at.lt(limit) } else { positive };
            select(there, (i / block * n + target_word(at, lines.n)) * inner + i % inner, u32::MAX)
        })?;
        gather::<B, W::Out, _>(device, values, &places, out, &|| {
            if self.checked { check_operand(device, GATHER, &indices, lines.n) } else { Ok(()) }
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
    prepare: Prepare<'_>,
) -> Result<()> {
    let (c, func) = at_indices(device, values, indices)?;
    apart::<B, R>(device, GATHER, (&c, &func), out, prepare)
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
        values.results_where(&c.params, target_word(i, values.len), there)
    };
    let func = graph::trace(c.params.clone(), build)?;
    Ok((c, Arc::new(func)))
}

/// Fails for the first index that is outside `0..limit`.
pub(super) fn check_operand<B: Move, I: IndexScalar>(device: &B, pattern: &'static str, indices: &Operand<B, I>, limit: u64) -> Result<()> {
    let n = indices.len()?;
    check_inputs(device, pattern, (indices, n), limit, |position| value_at(device, pattern, indices, position as u32))
}
