//! The ends of the order, with the index: the accumulators of `with_index` and `index`.

use super::reduce::Reducing;
use crate::call::{Accumulate, ByOperator, Call, Described, Finish, HostValue, Unchanged};
use crate::element::{Element, Num, Ty};
use crate::error::Result;
use crate::input::{Index, Mapped, Source, index};
use crate::ir::{self, Accumulator, Expr, Func, Traced, TracedValue, lit};
use crate::ops::{Combine, Max, Min, kept};
use core::marker::PhantomData;
use std::sync::Arc;

/// An end of the order: that of [`Min`] or of [`Max`].
pub trait End: Copy + Default + 'static {
    /// Whether the greatest value wins.
    #[doc(hidden)]
    const GREATEST: bool;
}

impl End for Min {
    const GREATEST: bool = false;
}

impl End for Max {
    const GREATEST: bool = true;
}

/// A value that may be the least or the greatest one, by its place in the order, and its index.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<T: Num, E> {
    key: Expr<T::Key>,
    index: Expr<u32>,
    end: PhantomData<E>,
}

/// A float's place in the order as a signed integer: -0 below +0, and NaN at the end that wins. Integers compare in one
/// instruction, where IEEE minimum and the test which operand it was take ten.
fn key32(x: Expr<f32>, greatest: bool) -> Expr<i32> {
    let bits = x.bitcast::<i32>();
    let key = bits ^ ((bits >> 31) & i32::MAX);
    // A canonical NaN is above infinity as it is.
    if greatest { key } else { ir::select(x.is_nan(), i32::MIN, key) }
}

/// The float of a key.
fn float32(key: Expr<i32>, greatest: bool) -> Expr<f32> {
    let value = (key ^ ((key >> 31) & i32::MAX)).bitcast::<f32>();
    if greatest { value } else { ir::select(key.eq(i32::MIN), f32::NAN, value) }
}

/// As [`key32`].
fn key64(x: Expr<f64>, greatest: bool) -> Expr<i64> {
    let bits = x.bitcast::<i64>();
    let key = bits ^ ((bits >> 63) & i64::MAX);
    if greatest { key } else { ir::select(x.is_nan(), i64::MIN, key) }
}

/// As [`float32`].
fn float64(key: Expr<i64>, greatest: bool) -> Expr<f64> {
    let value = (key ^ ((key >> 63) & i64::MAX)).bitcast::<f64>();
    if greatest { value } else { ir::select(key.eq(i64::MIN), f64::NAN, value) }
}

impl<T: Num, E: End> Candidate<T, E> {
    // The type is known where this is compiled, so each arm but one is never run; values change their name, not their bits.
    fn new((x, index): (Expr<T>, Expr<u32>)) -> Self {
        let key = match T::TY {
            Ty::F32 => key32(x.same_as(), E::GREATEST).same_as(),
            Ty::F64 => key64(x.same_as(), E::GREATEST).same_as(),
            _ => x.same_as(),
        };
        Self { key, index, end: PhantomData }
    }

    fn value(self) -> Expr<T> {
        match T::TY {
            Ty::F32 => float32(self.key.same_as(), E::GREATEST).same_as(),
            Ty::F64 => float64(self.key.same_as(), E::GREATEST).same_as(),
            _ => self.key.same_as(),
        }
    }

    /// The parts of a value of the host's that has no index.
    fn bits(value: T) -> Vec<u64> {
        let func = ir::pack(Vec::new(), || Self::new((lit(value), lit(u32::MAX))));
        func.map(|func| super::constants(&func)).unwrap_or_default()
    }
}

impl<T: Num, E: End> Traced for Candidate<T, E> {
    fn types() -> Vec<Ty> {
        <(Expr<T::Key>, Expr<u32>)>::types()
    }
    fn params(first: u16) -> Self {
        let (key, index) = Traced::params(first);
        Self { key, index, end: PhantomData }
    }
    fn push_values(self, out: &mut Vec<TracedValue>) {
        (self.key, self.index).push_values(out);
    }
}

impl<T: Num, E: End> Accumulator for Candidate<T, E> {
    const INDEXED: bool = true;

    fn reindexed(self, index: impl Fn(Expr<u32>) -> Expr<u32>) -> Self {
        Self { index: index(self.index), ..self }
    }

    fn from_values(parts: &mut impl Iterator<Item = TracedValue>) -> Self {
        let (key, index) = Accumulator::from_values(parts);
        Self { key, index, end: PhantomData }
    }
}

impl<T: Num, E: End> HostValue<Candidate<T, E>> for T {
    fn push_bits(self, out: &mut Vec<u64>) {
        out.extend(Candidate::<T, E>::bits(self));
    }
}

/// The least or the greatest value with its index: of equal ones the first.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByEnd<E>(PhantomData<E>);

impl<T: Num, E: End> Accumulate<Candidate<T, E>> for ByEnd<E> {
    fn accumulate(&self, a: Candidate<T, E>, b: Candidate<T, E>) -> Candidate<T, E> {
        let keep = if E::GREATEST { a.key.ge(b.key) } else { a.key.le(b.key) };
        Candidate { key: ir::select(keep, a.key, b.key), index: ir::select(keep, a.index, b.index), end: PhantomData }
    }
    fn combine_func(&self) -> Result<Arc<Func>> {
        kept::<(T, E)>("better of two", || ir::trace(|(a, b): (Candidate<T, E>, Candidate<T, E>)| self.accumulate(a, b)))
    }
    fn identity_bits(&self) -> Vec<u64> {
        Candidate::<T, E>::bits(if E::GREATEST { Combine::identity(&Max) } else { Combine::identity(&Min) })
    }
    fn of_nothing_bits(&self) -> Option<Vec<u64>> {
        None
    }
    fn name(&self) -> &'static str {
        "reduce"
    }
}

/// Stores value and index of the least or the greatest one.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueAndIndex;

impl<T: Num + Element<Reg = T>, E: End> Finish<Candidate<T, E>> for ValueAndIndex {
    type Out = (Expr<T>, Expr<u32>);
    fn finish(&self, a: Candidate<T, E>) -> Self::Out {
        (a.value(), a.index)
    }
    fn finish_func(&self) -> Result<Arc<Func>> {
        kept::<(T, E)>("value and index", || ir::trace(|a| Finish::<Candidate<T, E>>::finish(self, a)))
    }
}

/// Stores the index of the least or the greatest value.
#[derive(Clone, Copy, Debug, Default)]
pub struct IndexAlone;

impl<T: Num, E: End> Finish<Candidate<T, E>> for IndexAlone {
    type Out = Expr<u32>;
    fn finish(&self, a: Candidate<T, E>) -> Expr<u32> {
        a.index
    }
    fn finish_func(&self) -> Result<Arc<Func>> {
        kept::<(T, E)>("index", || ir::trace(|a| Finish::<Candidate<T, E>>::finish(self, a)))
    }
}

/// An input whose elements are candidates for the least or the greatest one.
pub type Candidates<I, T, E> = Mapped<(I, Index<u32>), fn((Expr<T>, Expr<u32>)) -> Candidate<T, E>>;

/// A call for the least or the greatest element with its index.
pub type IndexedCall<'d, B, I, T, E, F, P> = Call<'d, Reducing, B, Candidates<I, T, E>, ByEnd<E>, F, P>;

impl<'d, B, I, T: Num, E: End, P> Call<'d, Reducing, B, I, ByOperator<E>, Unchanged, P>
where
    I: Source<Exprs = Expr<T>>,
{
    /// Gives the index of the least or the greatest element beside its value: of equal ones the first; along an axis, the index in the line.
    ///
    /// -0 is below +0, and NaN wins at either end, the first one. An [initial value](Call::initial) has the index `u32::MAX`, and an empty segment the
    /// operator's identity and that index. There are at most 2^32 elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3.0f32, -1.0, 5.0, 5.0, 0.0, -1.0])?;
    /// let (least, at) = dev.reduce(&x, Min).with_index().run()?;
    /// assert_eq!((least.read_blocking()?, at.read_blocking()?), (-1.0, 1));
    /// let (greatest, column) = dev.reduce(&x, Max).axis(&[2, 3], 1).with_index().run()?;
    /// assert_eq!((greatest.read_blocking()?, column.read_blocking()?), (vec![5.0, 5.0], vec![2, 0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn with_index(self) -> IndexedCall<'d, B, I, T, E, ValueAndIndex, P> {
        self.candidates(ValueAndIndex)
    }

    /// Gives the index of the least or the greatest element, as [`with_index`](Self::with_index) has it.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[3.0f32, -1.0, 5.0, 5.0])?, dev.upload(&[0u32, 2, 2, 4])?);
    /// assert_eq!(dev.reduce(&x, Max).segments(&offsets).index().run()?.read_blocking()?, [0, u32::MAX, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn index(self) -> IndexedCall<'d, B, I, T, E, IndexAlone, P> {
        self.candidates(IndexAlone)
    }

    fn candidates<F>(self, finish: F) -> IndexedCall<'d, B, I, T, E, F, P> {
        let Described { device, inputs, initial, .. } = self.what;
        let initial = initial.and_then(|bits| bits.first().map(|&value| Candidate::<T, E>::bits(T::from_bits64(value))));
        let inputs = (inputs, index()).map(Candidate::new as fn((Expr<T>, Expr<u32>)) -> Candidate<T, E>);
        let what = Described { device, inputs, op: ByEnd(PhantomData), finish, exclusive: false, initial };
        Call::of(what, self.domain)
    }
}
