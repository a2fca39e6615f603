//! The first of each run of equal neighbours as a call, with how long runs are if that is asked for.

use super::selection::{Each, StoredOf};
use super::task::{Call, enqueue};
use super::{Count, Select, SelectKind, Selected, kept_or_not};
use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::call::Finished;
use crate::element::Scalar;
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Outputs, index, scalar};
use crate::ir::graph;
use crate::ir::{self, Accumulator, BinOp, Expr, Func, Node, Traced, TracedValue, lit, select};
use crate::patterns::Map as _;
use crate::patterns::before::{all_moved, arguments};
use crate::patterns::map::{collect, trace};
use core::convert::identity;
use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

/// Whether neighbours are equal: by value ([`ByValue`]), by a closure ([`EqualBy`]), or by their keys ([`ByKeys`]).
pub trait Equality<X> {
    /// The name in errors of an input that has another length than the others.
    #[doc(hidden)]
    const LENGTHS_OF: &'static str = "an input";

    /// Whether an element is equal to the one before it.
    #[doc(hidden)]
    fn equal(self, before: X, x: X) -> Expr<bool>;
}

/// Every part is equal, by `==`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByValue;

impl<X: Accumulator> Equality<X> for ByValue {
    fn equal(self, before: X, x: X) -> Expr<bool> {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        before.push_values(&mut a);
        x.push_values(&mut b);
        let parts = a.iter().zip(&b).zip(X::types());
        let equal = parts.map(|((a, b), ty)| {
            Expr::from_value(graph::with(|g| {
                let (a, b) = (g.id(a.0, ty), g.id(b.0, ty));
                g.bin(BinOp::Eq, a, b)
            }))
        });
        equal.reduce(|a: Expr<bool>, b| a & b).unwrap_or_else(|| lit(true))
    }
}

/// A closure says so.
#[derive(Clone, Copy, Debug)]
pub struct EqualBy<F>(F);

impl<X, F: FnOnce(X, X) -> Expr<bool>> Equality<X> for EqualBy<F> {
    fn equal(self, before: X, x: X) -> Expr<bool> {
        (self.0)(before, x)
    }
}

/// Keys, which go before the other values, are equal by `==`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByKeys;

impl<K: Scalar, X> Equality<(Expr<K>, X)> for ByKeys {
    const LENGTHS_OF: &'static str = "values";
    fn equal(self, before: (Expr<K>, X), x: (Expr<K>, X)) -> Expr<bool> {
        before.0.eq(x.0)
    }
}

/// The first of each run.
#[derive(Clone, Copy, Debug, Default)]
pub struct First;

/// The first of each run, and how long the run is.
#[derive(Clone, Copy, Debug, Default)]
pub struct WithCounts;

/// A call that keeps the first of each run of equal neighbours: [`run`](Unique::run) and [`write_to`](Unique::write_to) enqueue it. See [`Select::unique`].
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct Unique<'d, B: Backend, I, E = ByValue, S = Each, W = First> {
    device: &'d B,
    inputs: I,
    equality: E,
    stored: S,
    length: Option<&'d DeviceScalar<B, u32>>,
    of: PhantomData<W>,
}

impl<B: Backend, I, E, S, W> fmt::Debug for Unique<'_, B, I, E, S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unique").field("of", &core::any::type_name::<W>()).finish_non_exhaustive()
    }
}

impl<'d, B: Backend, I, W> Unique<'d, B, I, ByValue, Each, W> {
    /// A call without modifiers.
    pub(super) fn new(device: &'d B, inputs: I) -> Self {
        Self { device, inputs, equality: ByValue, stored: Each, length: None, of: PhantomData }
    }
}

impl<'d, B: Backend, I, S, W> Unique<'d, B, I, ByValue, S, W> {
    /// Takes an element as equal to the one before it where `equal` of the two says so.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Within a tenth of the one before.
    /// let x = dev.upload(&[1.0f32, 1.05, 1.1, 2.0])?;
    /// assert_eq!(dev.unique(&x).by(|a, b| (a - b).abs().lt(0.1)).run()?.read_blocking()?, [1.0, 2.0]);
    /// // Where each ten begins, from inputs that are computed once.
    /// let x = dev.upload(&[10u32, 12, 23, 27, 14])?;
    /// let tens = dev.unique((&x, index()).map(|(x, i)| (x / 10, i))).by(|a, b| a.0.eq(b.0)).run()?;
    /// let n = tens.len_blocking()?;
    /// assert_eq!(tens.values.0.slice(..n)?.read_blocking()?, [1, 2, 1]);
    /// assert_eq!(tens.values.1.slice(..n)?.read_blocking()?, [0, 2, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn by<F: FnOnce(I::Exprs, I::Exprs) -> Expr<bool>>(self, equal: F) -> Unique<'d, B, I, EqualBy<F>, S, W>
    where
        I: Input<B>,
    {
        let Self { device, inputs, stored, length, of, .. } = self;
        Unique { device, inputs, equality: EqualBy(equal), stored, length, of }
    }
}

impl<'d, B: Backend, I, W> Unique<'d, B, I, ByValue, Each, W> {
    /// Keeps the first of each run of equal keys, which are as many, and its key before it.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[7u32, 7, 9])?, dev.upload(&[0.5f32, 1.5, 2.5])?);
    /// let first = dev.unique(&values).by_key(&keys).run()?;
    /// let n = first.len_blocking()?;
    /// assert_eq!(first.values.0.slice(..n)?.read_blocking()?, [7, 9]);
    /// assert_eq!(first.values.1.slice(..n)?.read_blocking()?, [0.5, 2.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// Results are a [`Selected`] of the keys and the values; a length that is not that of the keys is an
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    pub fn by_key<K: Scalar, J: Input<B, Exprs = Expr<K>>>(self, keys: J) -> Unique<'d, B, (J, I), ByKeys, Each, W> {
        let Self { device, inputs, stored, length, of, .. } = self;
        Unique { device, inputs: (keys, inputs), equality: ByKeys, stored, length, of }
    }
}

impl<'d, B: Backend, I, E, W> Unique<'d, B, I, E, Each, W> {
    /// Stores what `finish` makes of the first element of each run: a value, or a tuple of up to four, each in a buffer of its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[10u32, 10, 30])?;
    /// let letters = dev.unique(&x).finish(|x| (x + 87).store_as::<u8>()).run()?;
    /// assert_eq!(letters.read_blocking()?, *b"au");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn finish<R: Outputs, F: FnOnce(I::Exprs) -> R>(self, finish: F) -> Unique<'d, B, I, E, Finished<F>, W>
    where
        I: Input<B>,
    {
        let Self { device, inputs, equality, length, of, .. } = self;
        Unique { device, inputs, equality, stored: Finished(finish), length, of }
    }
}

impl<'d, B: Backend, I, E, S> Unique<'d, B, I, E, S> {
    /// Stores how long each run is, too: a run-length encoding.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let runs = dev.unique(&dev.upload(b"aaabcc")?).with_counts().run()?;
    /// let n = runs.len_blocking()?;
    /// assert_eq!(runs.values.0.slice(..n)?.read_blocking()?, *b"abc");
    /// assert_eq!(runs.values.1.slice(..n)?.read_blocking()?, [3, 1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn with_counts(self) -> Unique<'d, B, I, E, S, WithCounts> {
        let Self { device, inputs, equality, stored, length, .. } = self;
        Unique { device, inputs, equality, stored, length, of: PhantomData }
    }
}

impl<'d, B: Backend, I, E, S, W> Unique<'d, B, I, E, S, W> {
    /// Takes the first elements only, as many as a number on the device says, or all, if there are fewer. Nothing waits for the number. Later elements are
    /// looked at and dropped: the work is that of all.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let kept = dev.select(&dev.upload(b"ab-b-bcc")?, |x| x.ne(45)).run()?;
    /// assert_eq!(dev.unique(&kept.values).length(&kept.count).run()?.read_blocking()?, *b"abc");
    /// let runs = dev.run_length_encode(&kept.values).length(&kept.count).run()?;
    /// let n = runs.len_blocking()?;
    /// assert_eq!(runs.values.1.slice(..n)?.read_blocking()?, [1, 3, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn length(mut self, length: &'d DeviceScalar<B, u32>) -> Self {
        self.length = Some(length);
        self
    }

    /// The leaves of the inputs.
    fn collected<X>(&self, pattern: &'static str) -> Result<Collector<B>>
    where
        I: Input<B>,
        E: Equality<X>,
    {
        collect(self.device, pattern, &self.inputs).map_err(|error| match error {
            Error::LengthMismatch { what: "an input", expected, found } => Error::LengthMismatch { what: E::LENGTHS_OF, expected, found },
            other => other,
        })
    }

    /// The selection of the first of each run; with one more, which ends the last, where `ended` and a length is named.
    fn call(self, pattern: &'static str, kind: SelectKind, ended: bool) -> Result<Call<B>>
    where
        I: Input<B, Exprs: Accumulator>,
        E: Equality<I::Exprs>,
        S: StoredOf<B, I>,
    {
        let mut c = self.collected::<I::Exprs>(pattern)?;
        let Self { inputs, equality, stored, length, .. } = self;
        let n = c.len()?;
        let value = trace(&inputs, &c, identity)?;
        let same = ir::trace(|(a, b): (I::Exprs, I::Exprs)| equality.equal(a, b))?;
        let leaves = c.leaves.len();
        if let Some(length) = length {
            length.collect(&mut c)?;
        }
        // The one before is read of what equality looks at.
        let read = read_before(&same, &value);
        let before = all_moved(&mut c, leaves as u16, n, true, Some(&read))?;
        let number = c.leaves.len() as u16;
        index().collect(&mut c)?;
        let build = || {
            let i = <Expr<u32> as Traced>::params(number);
            let args = arguments(&c.params, &before, i - 1);
            let mut parts = crate::ir::inline(&value, &args);
            let x = inputs.exprs(&mut 0);
            let mut own = Vec::new();
            x.push_values(&mut own);
            parts.extend(ir::values(&own));
            let equal = Expr::<bool>::from_value(crate::ir::inline(&same, &parts)[0]);
            let mut starts = i.eq(0) | !equal;
            if length.is_some() {
                let length = <Expr<u32> as Traced>::params(leaves as u16);
                starts = starts & i.lt(length);
                starts = if ended { starts | i.eq(length) } else { starts };
            }
            let mut values: Vec<TracedValue> = Vec::new();
            stored.stored(x).push_values(&mut values);
            let part = kept_or_not(starts).value();
            [vec![part], ir::values(&values)].concat()
        };
        let func = Arc::new(graph::trace(c.params.clone(), build)?);
        Ok(Call { c, func, kind })
    }
}

const PATTERN: &str = "select";

impl<B, I, E, S> Unique<'_, B, I, E, S>
where
    B: Select,
    I: Input<B, Exprs: Accumulator>,
    E: Equality<I::Exprs>,
    S: StoredOf<B, I>,
{
    /// Enqueues the call into new memory, which it returns with the number of runs.
    ///
    /// # Errors
    /// As [`Selection::run`](super::Selection::run).
    pub fn run(self) -> Result<Selected<B, <S::Out as Outputs>::Buffers<B>>> {
        let device = self.device;
        let n = self.collected::<I::Exprs>(PATTERN)?.len()?;
        let (values, count) = (S::Out::allocate(device, n)?, device.buffer::<u32>(1)?);
        self.write_to((S::Out::refs(&values), &count))?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// Enqueues the call into the caller's buffers: elements, and their number, which may be a `u64`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out, count) = (dev.upload(b"aabccc")?, dev.buffer(6)?, dev.buffer::<u32>(1)?);
    /// dev.unique(&x).write_to((&out, &count))?;
    /// assert_eq!((count.read_blocking()?, out.slice(..3)?.read_blocking()?), (vec![3], b"abc".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Selection::write_to`](super::Selection::write_to).
    pub fn write_to<C: Count>(self, (out, count): (<S::Out as Outputs>::Refs<'_, B>, &Buffer<B, C>)) -> Result<()> {
        let device = self.device;
        enqueue::<B, S::Out, C>(device, self.call(PATTERN, SelectKind::Keep, false)?, out, None, count)
    }

    /// Enqueues the call, where a length is named with the run of the elements after it as one more.
    pub(in crate::patterns) fn write_ended(self, (out, count): (<S::Out as Outputs>::Refs<'_, B>, &Buffer<B, u32>)) -> Result<()> {
        let device = self.device;
        enqueue::<B, S::Out, u32>(device, self.call(PATTERN, SelectKind::Keep, true)?, out, None, count)
    }
}

const ENCODING: &str = "run-length encoding";

impl<B, I, E, S> Unique<'_, B, I, E, S, WithCounts>
where
    B: Select,
    I: Input<B, Exprs: Accumulator>,
    E: Equality<I::Exprs>,
    S: StoredOf<B, I>,
{
    /// Enqueues the call into new memory, which it returns with the number of runs: the first of each, and how long they are.
    ///
    /// # Errors
    /// As [`Selection::run`](super::Selection::run).
    #[allow(clippy::type_complexity, reason = "buffers of a selection")]
    pub fn run(self) -> Result<Selected<B, (<S::Out as Outputs>::Buffers<B>, Buffer<B, u32>)>> {
        let device = self.device;
        let n = self.collected::<I::Exprs>(ENCODING)?.len()?;
        let (values, lengths, count) = (S::Out::allocate(device, n)?, device.buffer::<u32>(n)?, device.buffer::<u32>(1)?);
        self.write_to(((S::Out::refs(&values), &lengths), &count))?;
        Ok(Selected { values: (values, lengths), count: DeviceScalar::from_buffer(count)? })
    }

    /// Enqueues the call into the caller's buffers: the first of each run and how long they are, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[4i64, 4, -1])?;
    /// let (values, lengths, count) = (dev.buffer(3)?, dev.buffer(3)?, dev.buffer(1)?);
    /// dev.run_length_encode(&x).write_to(((&values, &lengths), &count))?;
    /// assert_eq!((count.read_blocking()?, lengths.slice(..2)?.read_blocking()?), (vec![2], vec![2, 1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Selection::write_to`](super::Selection::write_to).
    #[allow(clippy::type_complexity, reason = "buffers of results")]
    pub fn write_to(self, ((out, lengths), count): ((<S::Out as Outputs>::Refs<'_, B>, &Buffer<B, u32>), &Buffer<B, u32>)) -> Result<()> {
        let (device, length) = (self.device, self.length);
        let call = self.call(ENCODING, SelectKind::Runs, true)?;
        let n = call.c.len()?;
        enqueue::<B, S::Out, u32>(device, call, out, Some(lengths), count)?;
        let Some(length) = length else { return Ok(()) };
        let count = count.slice(..1)?;
        without_rest(device, &count, (length, n), &count)
    }
}

/// The number of runs among `n` elements without the one of the elements after the length, if there are such.
pub(in crate::patterns) fn without_rest<B: Select>(
    device: &B,
    runs: &Buffer<B, u32>,
    (length, n): (&DeviceScalar<B, u32>, u64),
    out: &Buffer<B, u32>,
) -> Result<()> {
    let n = u32::try_from(n).map_err(|_| Error::TooLarge { what: "elements that a u32 counts", requested: n, limit: u32::MAX.into() })?;
    let one_less = |(runs, length, n): (Expr<u32>, Expr<u32>, Expr<u32>)| runs - select(length.lt(n), lit(1u32), lit(0));
    device.map_into((runs, length, scalar(n)), one_less, out)
}

/// Finds the leaves of `value` that the first half of the parameters of `same`, which are its results, depend on.
fn read_before(same: &Func, value: &Func) -> Vec<bool> {
    let parts = value.results.len();
    let read: Vec<bool> = (params_of(same, &same.results)).into_iter().take(parts).collect();
    let results: Vec<_> = value.results.iter().zip(read).filter_map(|(&id, read)| read.then_some(id)).collect();
    params_of(value, &results)
}

/// Finds the parameters that these nodes depend on.
fn params_of(func: &Func, of: &[ir::Id]) -> Vec<bool> {
    let (mut params, mut seen, mut open) = (vec![false; func.params.len()], vec![false; func.nodes.len()], of.to_vec());
    while let Some(id) = open.pop() {
        if core::mem::replace(&mut seen[id as usize], true) {
            continue;
        }
        if let Node::Param(p) = func.nodes[id as usize] {
            params[usize::from(p)] = true;
        }
        Func::operands(&func.nodes[id as usize], |id| open.push(id));
    }
    params
}
