//! Scatters that combine by an operator of the caller's.

use super::enqueue::{check_indices, check_scatter};
use super::{IndexElement, IndexScalar, MoveFrom, target_word};
use crate::backend::Backend;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Input, array, index, permuted, scalar};
use crate::ir::{Expr, select};
use crate::ops::Combine;
use crate::patterns::map::collect;
use crate::patterns::{Map as _, Reduce as _, Segmented, Sort, SortOrder, check_aliasing};

const PATTERN: &str = "scatter_combine";

/// [Scatters](super::Move) whose sources are combined by any associative operator, as [reductions](crate::patterns::Reduce) take one. It need not commute:
/// sources of one target are combined in the order of their positions.
///
/// # Order
/// Sources of one target are combined as [`Call::run`](crate::call::Call::run) combines an array of them, in the order of their
/// positions: in the canonical order, whatever the others are. What the target held comes before that result, in one step more. A target without
/// sources keeps every bit; an index out of range writes nothing. Floats are combined as the operator says, each step rounded, where
/// [`Move::scatter_reduce_into`](super::Move::scatter_reduce_into) has exact sums.
///
/// Work: a stable sort of the targets' numbers with their positions, by as many bits as the number of targets has; a reduction by key, which
/// fetches values where they lie; and one store a target. Scratch for `n` sources: that of the sort, and beside it 16 bytes a source and two elements.
/// Where [`Move::scatter_reduce_into`](super::Move::scatter_reduce_into) has the operator it is quicker, in one pass over the sources. There are less than 2^31
/// sources and 2^32 targets. No output may overlap an input.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// // The greatest value of each key, and the first place where it is: place behind value in one number.
/// let (keys, x) = (dev.upload(&[2u32, 0, 2, 2])?, dev.upload(&[5u32, 9, 7, 7])?);
/// let best = Op::associative(0u64, |a, b| select((b >> 32).gt(a >> 32), b, a));
/// let found = dev.upload(&[0u64; 3])?;
/// dev.scatter_combine_from_into((&keys, &x, index()), |(k, x, i)| (k, x.cast::<u64>() << 32 | i.cast::<u64>()), best, &found)?;
/// assert_eq!(found.read_blocking()?, [9 << 32 | 1, 0, 7 << 32 | 2]);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub trait ScatterCombine: MoveFrom + Sort + Segmented {
    /// `out[k] = op(out[k], s)`, where `s` is all values whose index is `k`, combined in their order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Digits written behind each other: an operator that does not commute.
    /// let behind = Op::associative(0u32, |a, b| select(b.lt(10), a * 10 + b, select(b.lt(100), a * 100 + b, a * 1000 + b)));
    /// let (digits, at) = (dev.upload(&[1u32, 2, 3, 4])?, dev.upload(&[1u32, 0, 1, 9])?);
    /// let out = dev.upload(&[5u32, 6, 7])?;
    /// dev.scatter_combine_into(&digits, &at, behind, &out)?;
    /// assert_eq!(out.read_blocking()?, [52, 613, 7]); // 9 names no element
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::Aliasing`], [`Error::Op`], [`Error::NotStrict`], [`Error::Unsupported`], [`Error::TooLarge`],
    /// [`Error::OutOfMemory`], [`Error::WrongDevice`].
    fn scatter_combine_into<T: Element<Reg = T> + Scalar, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        combine(self, values, indices, &op, out, true)
    }

    /// As [`ScatterCombine::scatter_combine_into`]; an index out of range is an error, and nothing was written. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[2.0f32, 3.0, 4.0])?, dev.upload(&[10.0f32; 2])?);
    /// let error = dev.scatter_combine_checked_into(&x, &dev.upload(&[0i32, -1, 1])?, Product, &out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 1, index: -1, limit: 2, .. }));
    /// assert_eq!(out.read_blocking()?, [10.0, 10.0]);
    /// dev.scatter_combine_checked_into(&x, &dev.upload(&[0i32, 0, 1])?, Product, &out)?;
    /// assert_eq!(out.read_blocking()?, [60.0, 40.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ScatterCombine::scatter_combine_into`], and [`Error::IndexOutOfRange`] with the first offending position.
    fn scatter_combine_checked_into<T: Element<Reg = T> + Scalar, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_scatter(self, PATTERN, values, indices, out)?;
        check_indices(self, PATTERN, indices, out.len())?;
        combine(self, values, indices, &op, out, true)
    }

    /// An array of `targets` elements, each all values whose index it is, combined in their order; the operator's identity where there are none.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at) = (dev.upload(&[3.0f32, -1.0, 2.0, 8.0])?, dev.upload(&[2u64, 0, 2, 0])?);
    /// let sizes = Op::associative(0.0, |a: Expr<f32>, b: Expr<f32>| (a * a + b * b).sqrt());
    /// assert_eq!(dev.scatter_combine(&x, &at, 3, sizes)?.read_blocking()?[1..], [0.0, 13.0f32.sqrt()]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ScatterCombine::scatter_combine_into`].
    fn scatter_combine<T: Element<Reg = T> + Scalar, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        targets: u64,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(targets)?;
        self.fill(&out, op.identity())?;
        combine(self, values, indices, &op, &out, false)?;
        Ok(out)
    }

    /// As [`ScatterCombine::scatter_combine_into`] of an index and a value that `f` gives of the inputs. They are stored once, four bytes and an element a source.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Products of 1 to 9 by their rest of a division.
    /// let out = dev.upload(&[1u32; 3])?;
    /// dev.scatter_combine_from_into(counting(9), |i| (i % 3, i + 1), Product, &out)?;
    /// assert_eq!(out.read_blocking()?, [28, 80, 162]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ScatterCombine::scatter_combine_into`] and [`Map::map`](crate::patterns::Map::map).
    fn scatter_combine_from_into<X: Input<Self>, T: Element<Reg = T> + Scalar, I: IndexScalar>(
        &self,
        inputs: X,
        f: impl FnOnce(X::Exprs) -> (Expr<I>, Expr<T>),
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        out.check_device(self, "the output")?;
        let (c, targets) = (collect(self, PATTERN, &inputs)?, word_count(out)?);
        let n = check_sources(c.len()?)?;
        if n > 0 {
            check_aliasing(PATTERN, &c.leaves, n, &[(out.out(), out.len())], false)?;
        }
        let (places, values) = self.map((inputs, scalar(targets)), |(x, targets)| {
            let (i, value) = f(x);
            (place(i, targets), value)
        })?;
        in_order(self, &places, &values, &op, out, true)
    }
}
impl<B: MoveFrom + Sort + Segmented> ScatterCombine for B {}

/// Targets, which a word counts.
fn word_count<B: Backend, T: Element>(out: &Buffer<B, T>) -> Result<u32> {
    let limit = u32::MAX;
    u32::try_from(out.len()).map_err(|_| Error::TooLarge { what: "targets of a scatter", requested: out.len(), limit: limit.into() })
}

fn check_sources(n: u64) -> Result<u64> {
    let limit = super::enqueue::MOST_SOURCES;
    if n > limit { Err(Error::TooLarge { what: "sources of a scatter", requested: n, limit }) } else { Ok(n) }
}

/// The number of a target, or how many there are where an index names none.
fn place<I: IndexScalar>(i: Expr<I>, targets: Expr<u32>) -> Expr<u32> {
    // A negative index is a word above all that are not.
    let named = if I::DTYPE == DType::I32 { targets.min(1 << 31) } else { targets };
    let word = target_word(i);
    select(word.lt(named), word, targets)
}

fn combine<B: ScatterCombine, T: Element<Reg = T> + Scalar, I: IndexElement>(
    device: &B,
    values: &Buffer<B, T>,
    indices: &Buffer<B, I>,
    op: &impl Combine<T>,
    out: &Buffer<B, T>,
    adds: bool,
) -> Result<()> {
    check_scatter(device, PATTERN, values, indices, out)?;
    let places = device.map((indices, scalar(word_count(out)?)), |(i, targets)| place(i, targets))?;
    in_order(device, &places, values, op, out, adds)
}

/// Combines values that go to these places, what lies there being the first of them where it counts.
fn in_order<B: ScatterCombine, T: Element<Reg = T> + Scalar>(
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
    device.scatter_unique_from_into((&to, &sums, index(), &found.count), store, out)
}
