//! Gathers and scatters of what is computed, at indices that are computed.

use super::computed::{Sources, check_combining, value_at};
use super::enqueue::{below, check_inputs};
use super::floats::target_word;
use super::{IndexScalar, Move, ScatterFromTask, ScatterOp};
use crate::backend::{Backend, Run};
use crate::buffer::Buffer;
use crate::element::{Element, Num, Scalar, Ty};
use crate::error::Result;
use crate::input::{Collector, Input, Outputs, Source, Stored, scalar};
use crate::ir::graph::{self, Value};
use crate::ir::{Expr, Func};
use crate::patterns::MapTask;
use crate::patterns::before::Elsewhere;
use crate::patterns::map::apart;
use crate::patterns::operand::Operand;
use std::sync::Arc;

/// [Moves by index](Move) whose values and indices an operator computes of inputs: what is counted, constant, zipped, permuted, reversed, or computed.
/// Neither ever lies in memory.
///
/// What is computed is stored as a [map](crate::patterns::Map) stores it: a NaN is the canonical one; a target that nothing is scattered to keeps every
/// bit. No output may overlap an input. Values may be [stored as](Expr::store_as) elements of 8 bits, or of 16 in at most 2^31 targets; those that are combined are
/// elements that an operator computes in.
pub trait MoveFrom: Move + Run<ScatterFromTask> {
    /// `f` of the values' inputs at each index that `g` gives of others: a value or a tuple of up to four. An index that names no element gives zeros.
    ///
    /// One launch: `f` is evaluated where it is wanted, once to an index. What it reads element by element is fetched from there, so an array or a view
    /// has at most 2^32 elements from the first to the last.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[1.0f32, 2.0, 3.0])?, dev.upload(&[10.0f32, 20.0, 30.0])?);
    /// // Every other product, from the last on.
    /// let found = dev.gather_from(((&x, &y), |(x, y)| x * y), (counting(2), |i| lit(2u32) - i * 2))?;
    /// assert_eq!(found.read_blocking()?, [90.0, 10.0]);
    /// // Indices of 8 and 16 bits are words here.
    /// let narrow = dev.upload(&[2u16, 0])?;
    /// assert_eq!(dev.gather_from((&y, |y| y), (&narrow, |at| at + 1))?.read_blocking()?, [0.0, 20.0]);
    /// let at = dev.upload(&[1i32, -1])?;
    /// let (i, x) = dev.gather_from(((index(), &x.reversed()), |(i, x)| (i, x)), (&at, |at| at))?;
    /// assert_eq!((i.read_blocking()?, x.read_blocking()?), (vec![1, 0], vec![2.0, 0.0])); // -1 names no element
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`](crate::patterns::Map::map), and [`Error::TooLarge`](crate::Error::TooLarge).
    fn gather_from<V: Input<Self>, R: Outputs, H: Input<Self>, I: IndexScalar>(
        &self,
        (values, f): (V, impl FnOnce(V::Exprs) -> R),
        (indices, g): (H, impl FnOnce(H::Exprs) -> Expr<I>),
    ) -> Result<R::Buffers<Self>> {
        let (values, indices) = (Elsewhere::new(self, GATHER, &values, f)?, Operand::traced(self, GATHER, &indices, g)?);
        let out = R::allocate(self, indices.len()?)?;
        gather::<Self, R, I>(self, values, &indices, R::refs(&out))?;
        Ok(out)
    }

    /// As [`MoveFrom::gather_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (order, out) = (dev.upload(&[2u64, 0, 1])?, dev.upload(b"...!")?);
    /// dev.gather_from_into((counting(3), |i| (i + 97).store_as::<u8>()), (&order, |i| i), &out)?;
    /// assert_eq!(out.read_blocking()?, *b"cab!");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MoveFrom::gather_from`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    fn gather_from_into<V: Input<Self>, R: Outputs, H: Input<Self>, I: IndexScalar>(
        &self,
        (values, f): (V, impl FnOnce(V::Exprs) -> R),
        (indices, g): (H, impl FnOnce(H::Exprs) -> Expr<I>),
        out: R::Refs<'_, Self>,
    ) -> Result<()> {
        let (values, indices) = (Elsewhere::new(self, GATHER, &values, f)?, Operand::traced(self, GATHER, &indices, g)?);
        gather::<Self, R, I>(self, values, &indices, out)
    }

    /// As [`MoveFrom::gather_from`]; an index out of range is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[10i64, 20, 30])?;
    /// let error = dev.gather_checked_from((&x, |x| x + 1), (counting(3), |i| i * 2)).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 2, index: 4, limit: 3, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MoveFrom::gather_from`], and [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange) with the first offending position.
    fn gather_checked_from<V: Input<Self>, R: Outputs, H: Input<Self>, I: IndexScalar>(
        &self,
        (values, f): (V, impl FnOnce(V::Exprs) -> R),
        (indices, g): (H, impl FnOnce(H::Exprs) -> Expr<I>),
    ) -> Result<R::Buffers<Self>> {
        let (values, indices) = (Elsewhere::new(self, GATHER, &values, f)?, Operand::traced(self, GATHER, &indices, g)?);
        let out = R::allocate(self, indices.len()?)?;
        check_operand(self, GATHER, &indices, values.len)?;
        gather::<Self, R, I>(self, values, &indices, R::refs(&out))?;
        Ok(out)
    }

    /// As [`MoveFrom::gather_checked_from`], into the caller's buffers, which stay as they were where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[10i64, 20, 30])?, dev.upload(&[7i64; 2])?);
    /// assert!(dev.gather_checked_from_into((&x, |x| x + 1), (counting(2), |i| i + 2), &out).is_err());
    /// assert_eq!(out.read_blocking()?, [7, 7]);
    /// dev.gather_checked_from_into((&x, |x| x + 1), (counting(2), |i| i + 1), &out)?;
    /// assert_eq!(out.read_blocking()?, [21, 31]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MoveFrom::gather_checked_from`] and [`MoveFrom::gather_from_into`].
    fn gather_checked_from_into<V: Input<Self>, R: Outputs, H: Input<Self>, I: IndexScalar>(
        &self,
        (values, f): (V, impl FnOnce(V::Exprs) -> R),
        (indices, g): (H, impl FnOnce(H::Exprs) -> Expr<I>),
        out: R::Refs<'_, Self>,
    ) -> Result<()> {
        let (values, indices) = (Elsewhere::new(self, GATHER, &values, f)?, Operand::traced(self, GATHER, &indices, g)?);
        check_operand(self, GATHER, &indices, values.len)?;
        gather::<Self, R, I>(self, values, &indices, out)
    }

    /// Fails where an index that `g` gives of the inputs is not below `limit` or is negative, naming the first. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let error = dev.check_indices_from(counting(9), |i| lit(5i32) - i.cast::<i32>(), 9).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 6, index: -1, limit: 9, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange) with the first offending position, and as
    /// [`Call::run`](crate::call::Call::run).
    fn check_indices_from<H: Input<Self>, I: IndexScalar>(&self, inputs: H, g: impl FnOnce(H::Exprs) -> Expr<I>, limit: u64) -> Result<()> {
        check_operand(self, "check_indices", &Operand::traced(self, "check_indices", &inputs, g)?, limit)
    }

    /// `out[index] = value` for every index and value that `f` gives of the inputs; of several with one target the last stays, and an index out of
    /// range writes nothing. Other elements of `out` stay as they are.
    ///
    /// Two launches over sources and one over targets: which source is a target's last one, then its value, which is computed where it is wanted, so
    /// inputs span at most 2^32 elements. Scratch: four bytes a target.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1.0f32, 2.0, 3.0])?, dev.upload(&[9.0f32; 4])?);
    /// dev.scatter_from_into((&x, index()), |(x, i)| (i & 1u32, x * 10.0), &out)?; // 10 and 30 go to place 0: the last stays
    /// assert_eq!(out.read_blocking()?, [30.0, 20.0, 9.0, 9.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::scatter_into`], and [`Error::Op`](crate::Error::Op); [`Error::TooLarge`](crate::Error::TooLarge) for 2^32 targets.
    fn scatter_from_into<X: Input<Self>, I: IndexScalar, R: Stored>(
        &self,
        inputs: X,
        f: impl FnOnce(X::Exprs) -> (Expr<I>, R),
        out: &Buffer<Self, R::Element>,
    ) -> Result<()> {
        let sources = Sources::<_, _, Reg<R>>::new(self, "scatter", &inputs, f)?;
        if sources.check(self, out)? { sources.store_last(self, out) } else { Ok(()) }
    }

    /// As [`MoveFrom::scatter_from_into`]; an index out of range is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.upload(&[9u32; 4])?;
    /// let error = dev.scatter_checked_from_into(counting(5), |i| (i, i * i), &out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 4, index: 4, limit: 4, .. }));
    /// assert_eq!(out.read_blocking()?, [9; 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MoveFrom::scatter_from_into`], and [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange) with the first offending position.
    fn scatter_checked_from_into<X: Input<Self>, I: IndexScalar, R: Stored>(
        &self,
        inputs: X,
        f: impl FnOnce(X::Exprs) -> (Expr<I>, R),
        out: &Buffer<Self, R::Element>,
    ) -> Result<()> {
        let sources = Sources::<_, _, Reg<R>>::new(self, "scatter", &inputs, f)?;
        let something = sources.check(self, out)?;
        check_operand(self, "scatter", &sources.indices(self)?, out.len())?;
        if something { sources.store_last(self, out) } else { Ok(()) }
    }

    /// As [`MoveFrom::scatter_from_into`] in one launch, for indices of which no two are equal. Where two are, the target's bits are not determined;
    /// nothing else is touched.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1i64, 2, 3])?, dev.buffer(3)?);
    /// dev.scatter_unique_from_into((&x, index()), |(x, i)| (lit(2u32) - i, -x), &out)?;
    /// assert_eq!(out.read_blocking()?, [-3, -2, -1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MoveFrom::scatter_from_into`].
    fn scatter_unique_from_into<X: Input<Self>, I: IndexScalar, R: Stored>(
        &self,
        inputs: X,
        f: impl FnOnce(X::Exprs) -> (Expr<I>, R),
        out: &Buffer<Self, R::Element>,
    ) -> Result<()> {
        let sources = Sources::<_, _, Reg<R>>::new(self, "scatter_unique", &inputs, f)?;
        if sources.check(self, out)? { sources.store(self, out) } else { Ok(()) }
    }

    /// As [`MoveFrom::scatter_unique_from_into`]; an index out of range and one that was there before are errors. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.upload(&[9u32; 4])?;
    /// let error = dev.scatter_unique_checked_from_into(counting(4), |i| (i % 3, i), &out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::DuplicateIndex { position: 3, index: 0, .. }));
    /// assert_eq!(out.read_blocking()?, [9; 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MoveFrom::scatter_checked_from_into`], and [`Error::DuplicateIndex`](crate::Error::DuplicateIndex) with the first position whose index was
    /// there before.
    fn scatter_unique_checked_from_into<X: Input<Self>, I: IndexScalar, R: Stored>(
        &self,
        inputs: X,
        f: impl FnOnce(X::Exprs) -> (Expr<I>, R),
        out: &Buffer<Self, R::Element>,
    ) -> Result<()> {
        let sources = Sources::<_, _, Reg<R>>::new(self, "scatter_unique", &inputs, f)?;
        let something = sources.check(self, out)?;
        check_operand(self, "scatter_unique", &sources.indices(self)?, out.len())?;
        if !something {
            return Ok(());
        }
        sources.check_unique(self, out.len())?;
        sources.store(self, out)
    }

    /// `out[index] = op(out[index], value)` for every index and value that `f` gives of the inputs: what [`Move::scatter_reduce_into`] does, with the
    /// same bits in whatever order. Scratch is as there, without that of the sources, and sums of integers take none.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, sums) = (dev.upload(&[1e30f32, 0.5, -1e30])?, dev.upload(&[1.0f32; 2])?);
    /// dev.scatter_reduce_from_into((&x, scalar(2.0f32)), |(x, k)| (lit(1u32), x * k), ScatterOp::Sum, &sums)?;
    /// assert_eq!(sums.read_blocking()?, [1.0, 2.0]); // exact, rounded once
    /// let most = dev.upload(&[0u32; 3])?;
    /// dev.scatter_reduce_from_into(counting(10), |i| (i % 3, i * i), ScatterOp::Max, &most)?;
    /// assert_eq!(most.read_blocking()?, [81, 49, 64]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::scatter_reduce_into`] and [`MoveFrom::scatter_from_into`].
    fn scatter_reduce_from_into<X: Input<Self>, I: IndexScalar, T: Element<Reg = T> + Scalar + Num>(
        &self,
        inputs: X,
        f: impl FnOnce(X::Exprs) -> (Expr<I>, Expr<T>),
        op: ScatterOp,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_combining(op, T::DTYPE)?;
        let sources = Sources::new(self, "scatter_reduce", &inputs, f)?;
        if sources.check(self, out)? { sources.combine(self, op, out) } else { Ok(()) }
    }

    /// As [`MoveFrom::scatter_reduce_from_into`]; an index out of range is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.upload(&[1i32; 3])?;
    /// let error = dev.scatter_reduce_checked_from_into(counting(9), |i| (i / 2, i.cast::<i32>()), ScatterOp::Sum, &out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 6, index: 3, limit: 3, .. }));
    /// assert_eq!(out.read_blocking()?, [1; 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MoveFrom::scatter_reduce_from_into`], and [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange) with the first offending position.
    fn scatter_reduce_checked_from_into<X: Input<Self>, I: IndexScalar, T: Element<Reg = T> + Scalar + Num>(
        &self,
        inputs: X,
        f: impl FnOnce(X::Exprs) -> (Expr<I>, Expr<T>),
        op: ScatterOp,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_combining(op, T::DTYPE)?;
        let sources = Sources::new(self, "scatter_reduce", &inputs, f)?;
        let something = sources.check(self, out)?;
        check_operand(self, "scatter_reduce", &sources.indices(self)?, out.len())?;
        if something { sources.combine(self, op, out) } else { Ok(()) }
    }
}
impl<B: Move + Run<ScatterFromTask>> MoveFrom for B {}

const GATHER: &str = "gather";

/// What an operator computes in of what it stores.
type Reg<R> = <<R as Stored>::Element as Element>::Reg;

/// Enqueues a gather whose outputs are not yet checked.
pub(super) fn gather<B: Run<MapTask>, R: Outputs, I: IndexScalar>(
    device: &B,
    values: Elsewhere<B>,
    indices: &Operand<B, I>,
    out: R::Refs<'_, B>,
) -> Result<()> {
    let (c, func) = at_indices(device, values, indices)?;
    apart::<B, R>(device, GATHER, (c, func), out)
}

/// The values at these indices, zero where one names no element, as an operator and its leaves.
fn at_indices<B: Backend, I: IndexScalar>(device: &B, values: Elsewhere<B>, indices: &Operand<B, I>) -> Result<(Collector<B>, Arc<Func>)> {
    let mut c = Collector::new(device, GATHER);
    c.append(&values.c)?;
    let first = c.leaves.len() as u16;
    let (len, bound) = (values.len, below::<I>(values.len));
    let rest = (indices, scalar(bound.unwrap_or(I::from_bits64(0))));
    rest.collect(&mut c)?;
    let build = || {
        let (i, bound_of) = Source::exprs(&rest, &mut { first });
        let zero = |ty: Ty| graph::with(|g| g.constant(ty, 0));
        let types = values.types();
        if len == 0 {
            return types.iter().map(|&ty| zero(ty)).collect();
        }
        let there = if bound.is_some() { i.ge(I::from_bits64(0)) & i.lt(bound_of) } else { i.ge(I::from_bits64(0)) };
        let found = values.results(&c.params, target_word(i));
        let of = |(value, ty): (Value, Ty)| {
            graph::with(|g| {
                let (there, value, none) = (g.id(there.value(), Ty::Bool), g.id(value, ty), g.constant(ty, 0));
                g.select(there, value, none)
            })
        };
        found.into_iter().zip(types).map(of).collect()
    };
    let func = graph::trace(c.params.clone(), build)?;
    Ok((c, Arc::new(func)))
}

/// Fails for the first index that is outside `0..limit`.
fn check_operand<B: Move, I: IndexScalar>(device: &B, pattern: &'static str, indices: &Operand<B, I>, limit: u64) -> Result<()> {
    let n = indices.len()?;
    check_inputs(device, pattern, (indices, n), limit, |position| value_at(device, pattern, indices, position as u32))
}
