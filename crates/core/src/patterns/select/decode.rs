//! Runs back to elements, as a call.

use super::selection::{Each, StoredOf};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::call::Finished;
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Lent, Outputs, Source as _, array, index, require, scalar};
use crate::ir::graph;
use crate::ir::{self, ArrayExpr, Expr, Func};
use crate::ops::Op;
use crate::patterns::before::Elsewhere;
use crate::patterns::map::{collect, store};
use crate::patterns::{MapTask, Scan as _, ScanTask, check_aliasing, check_ops};
use core::fmt;
use std::sync::Arc;

/// A call that makes elements of runs: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. See
/// [`RunLengths::run_length_decode`](super::RunLengths::run_length_decode).
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct Decode<'d, B: Backend, V, L, S = Each> {
    device: &'d B,
    values: V,
    lengths: L,
    n: u64,
    runs: Option<&'d DeviceScalar<B, u32>>,
    stored: S,
}

impl<B: Backend, V, L, S> fmt::Debug for Decode<'_, B, V, L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decode").field("n", &self.n).finish_non_exhaustive()
    }
}

impl<'d, B: Backend, V, L> Decode<'d, B, V, L> {
    /// A call without modifiers.
    pub(super) fn new(device: &'d B, values: V, lengths: L, n: u64) -> Self {
        Self { device, values, lengths, n, runs: None, stored: Each }
    }

    /// Stores what `finish` makes of each value: a value, or a tuple of up to four, each in a buffer of its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (values, lengths) = (dev.upload(&[3u32, 5])?, dev.upload(&[1u32, 2])?);
    /// let (same, squares) = dev.run_length_decode(&values, &lengths, 3).finish(|x| (x, x * x)).run()?;
    /// assert_eq!((same.read_blocking()?, squares.read_blocking()?), (vec![3, 5, 5], vec![9, 25, 25]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn finish<R: Outputs, F: FnOnce(V::Exprs) -> R>(self, finish: F) -> Decode<'d, B, V, L, Finished<F>>
    where
        V: Input<B>,
    {
        let Self { device, values, lengths, n, runs, .. } = self;
        Decode { device, values, lengths, n, runs, stored: Finished(finish) }
    }
}

impl<'d, B: Backend, V, L, S> Decode<'d, B, V, L, S> {
    /// Takes the first runs only, as many as a number on the device says, or all, if there are fewer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (values, lengths, runs) = (dev.upload(&[0.5f32, -1.0])?, dev.upload(&[2u32, 1])?, dev.upload_scalar(1u32)?);
    /// let back = dev.run_length_decode(&values, &lengths, 3).length(&runs).run()?;
    /// assert_eq!(back.read_blocking()?, [0.5, 0.5, 0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn length(mut self, runs: &'d DeviceScalar<B, u32>) -> Self {
        self.runs = Some(runs);
        self
    }
}

impl<B, V, L, S> Decode<'_, B, V, L, S>
where
    B: Run<ScanTask> + Run<MapTask>,
    V: Input<B>,
    L: Input<B, Exprs = Expr<u32>>,
    S: StoredOf<B, V>,
{
    /// Enqueues the call into new memory, which it returns.
    ///
    /// # Errors
    /// As [`Selection::run`](super::Selection::run), and [`Error::LengthMismatch`]; [`Error::TooLarge`] for 2^32 elements or runs.
    pub fn run(self) -> Result<<S::Out as Outputs>::Buffers<B>> {
        self.runs()?;
        let out = S::Out::allocate(self.device, self.n)?;
        self.write_to(S::Out::refs(&out))?;
        Ok(out)
    }

    /// Enqueues the call into the caller's buffers, which hold at least as many elements; later ones stay as they are. They may not overlap inputs.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (values, lengths, out) = (dev.upload(&[0.5f32, -1.0])?, dev.upload(&[2u32, 1])?, dev.upload(&[9.0f32; 5])?);
    /// dev.run_length_decode(&values, &lengths, 4).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [0.5, 0.5, -1.0, 0.0, 9.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    pub fn write_to(self, out: <S::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        let (of, of_values, of_lengths) = self.runs()?;
        let Self { device, values, lengths, n, runs, stored } = self;
        let mut outs = Vec::new();
        S::Out::outs(device, out, n, &mut outs)?;
        check_aliasing(DECODING, &[of_values.leaves, of_lengths.leaves].concat(), of, &outs, false)?;
        if let Some(runs) = runs {
            check_aliasing(DECODING, &[runs.buffer().leaf()], 1, &outs, false)?;
        }
        let ends = device.buffer::<u32>(of)?;
        let values = Elsewhere::new(device, DECODING, &values, |x| stored.stored(x))?;
        let (c, func) = fetched(device, &values, &ends)?;
        // Refuse what the second step would, before the first one is enqueued.
        for (o, _) in &outs {
            require(device, DECODING, o.dtype)?;
        }
        check_ops(device, DECODING, device.numerics(), &[&func])?;
        write_ends(device, &lengths, runs, &ends)?;
        store(device, DECODING, (&c, n, &func), outs, false)
    }

    /// The number of runs, and the leaves of values and of lengths, after the checks of how many there are.
    fn runs(&self) -> Result<(u64, Collector<B>, Collector<B>)> {
        let of_values = collect(self.device, DECODING, &self.values)?;
        let of_lengths = collect(self.device, DECODING, &self.lengths)?;
        let (values, lengths) = (of_values.len()?, of_lengths.len()?);
        if values != lengths {
            return Err(Error::LengthMismatch { what: "lengths", expected: values, found: lengths });
        }
        for (what, requested) in [("runs to decode", values), ("decoded elements", self.n)] {
            if requested > u32::MAX.into() {
                return Err(Error::TooLarge { what, requested, limit: u32::MAX.into() });
            }
        }
        Ok((values, of_values, of_lengths))
    }
}

const DECODING: &str = "run-length decoding";

/// Where runs end; those that do not count are empty. What is beyond 32 bits ends at the greatest number, after every element that there can be.
fn write_ends<B, L>(device: &B, lengths: &L, runs: Option<&DeviceScalar<B, u32>>, ends: &Buffer<B, u32>) -> Result<()>
where
    B: Run<ScanTask>,
    L: Input<B, Exprs = Expr<u32>>,
{
    let saturating = Op::associative(0u32, |a: Expr<u32>, b: Expr<u32>| ir::select((a + b).lt(a), u32::MAX, a + b));
    match runs {
        None => device.scan(Lent(lengths), saturating).write_to(ends),
        Some(runs) => {
            let counted = (Lent(lengths), index(), runs).map(|(length, i, runs)| ir::select(i.lt(runs), length, 0));
            device.scan(counted, saturating).write_to(ends)
        }
    }
}

/// The value of the run that an element is of, or zero after the last run, as an operator and its leaves.
fn fetched<B: Backend>(device: &B, values: &Elsewhere<B>, ends: &Buffer<B, u32>) -> Result<(Collector<B>, Arc<Func>)> {
    let mut c = Collector::new(device, DECODING);
    c.append(&values.c)?;
    let first = c.leaves.len() as u16;
    let rest = (index(), array(ends), scalar(values.len as u32));
    rest.collect(&mut c)?;
    let build = || {
        let (i, ends, m) = rest.exprs(&mut { first });
        let run = run_of(ends, (m, values.len), i);
        values.results_where(&c.params, run, run.lt(m))
    };
    let func = graph::trace(c.params.clone(), build)?;
    Ok((c, Arc::new(func)))
}

/// The run that element `i` is of: how many of the `m` runs, `of` them, end at or before it, from the highest bit down.
fn run_of(ends: ArrayExpr<u32>, (m, of): (Expr<u32>, u64), i: Expr<u32>) -> Expr<u32> {
    let mut at: Expr<u32> = ir::lit(0);
    for k in (0..u64::BITS - of.leading_zeros()).rev() {
        let next = at + (1u32 << k);
        let passed = next.le(m) & ends.at(next - 1).le(i);
        at = ir::select(passed, next, at);
    }
    at
}
