//! P04 select: elements kept, parted or run together, in their order.

mod find;
mod into;
mod runs;
mod selected;
mod task;
mod unique_from;

pub use find::Find;
pub use into::SelectInto;
pub use runs::RunLengths;
pub use selected::{Count, Selected};
pub use task::{SelectKind, SelectTask};
pub use unique_from::UniqueFrom;

use super::before::Neighbours;
use super::map::{collect, trace};
use super::{Map, MapTask, ReduceTask};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Input, Outputs, array, index};
use crate::ir::{self, ArrayExpr, Expr, Traced, TracedValue};
pub(super) use task::{Call, beginnings, enqueue, word, words};

/// The part that an element goes to, and what of it is stored.
#[derive(Clone, Copy)]
struct Parted<R>(Expr<u32>, R);

impl<R: Outputs> Traced for Parted<R> {
    fn types() -> Vec<crate::element::Ty> {
        [vec![crate::element::Ty::U32], R::types()].concat()
    }
    fn params(first: u16) -> Self {
        Self(Expr::params(first), R::params(first + 1))
    }
    fn push_values(self, out: &mut Vec<TracedValue>) {
        self.0.push_values(out);
        self.1.push_values(out);
    }
}

/// 0 for what is kept, 1 for the rest.
pub(super) fn kept_or_not(keep: Expr<bool>) -> Expr<u32> {
    ir::select(keep, 0, 1)
}

/// Elements kept by a condition, parted by it, and the first of runs of equal ones; [`RunLengths`] has how long these are.
///
/// Everything here is stable, so there is no order of evaluation to state. Elements that are moved keep their bits: a NaN its payload, a zero
/// its sign (an `f16` that is NaN becomes the canonical one). What an operator computes is stored as a [map](Map) stores it.
///
/// Counts stay on the device. Outputs hold as many elements as the input; what lies behind those that are written stays as it was. Outputs may
/// not overlap inputs.
///
/// What only asks about elements is [`Find`].
///
/// Work O(n). A selection reads its inputs once; a partition twice, since the elements that are not kept have to know how many are.
///
/// ```
/// # use isowarp_core::patterns::*;
/// # fn example<B: Select + Map>(dev: &B) -> isowarp_core::Result<()> {
/// # use isowarp_core::{buffer::Memory, input::{Source, index}, ops::Sum};
/// let x = dev.upload(&[0.5f32, 2.0, 0.1, 0.3])?;
/// let kept = dev.select(&x, |x| x.gt(0.25) & x.lt(0.75))?;
/// // The sum of what was kept, without asking how much that is.
/// let sum = dev.reduce((&kept.values, index(), &kept.count).map(|(x, i, n)| i.lt(n).select(x, 0.0)), Sum).run()?;
/// # let _ = sum; Ok(()) }
/// ```
///
/// Source: Merrill and Garland, *Single-pass parallel prefix scan with decoupled look-back* (2016), section 5; Kirk, Hwu and El Hajj,
/// *Programming Massively Parallel Processors*, chapters 11 and 13.
pub trait Select: Run<SelectTask> + Run<ReduceTask> + Run<MapTask> {
    /// The elements for which `keep` holds.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.5f32, 2.0, 0.1, 0.3])?;
    /// let kept = dev.select(&x, |x| x.gt(0.25) & x.lt(0.75))?;
    /// assert_eq!((kept.len_blocking()?, kept.read_blocking()?), (2, vec![0.5, 0.3]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::Op`], [`Error::OutOfMemory`], [`Error::WrongDevice`]; [`Error::TooLarge`] for more than 2^32 - 1 elements
    /// (see [`Select::select_from_into`]).
    fn select<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        keep: impl FnOnce(Expr<T::Reg>) -> Expr<bool>,
    ) -> Result<Selected<Self, Buffer<Self, T>>> {
        self.select_from(x, |x| (keep(x), x.store_as::<T>()))
    }

    /// As [`Select::select`], into the caller's buffers: elements, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out, count) = (dev.iota::<u32>(6, 0, 1)?, dev.upload(&[99u32; 6])?, dev.upload(&[0u32])?);
    /// dev.select_into(&x, |x| (x & 1u32).eq(1), &out, &count)?;
    /// assert_eq!((out.read_blocking()?, count.read_blocking()?), (vec![1, 3, 5, 99, 99, 99], vec![3]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn select_into<T: Element, C: Count>(
        &self,
        x: &Buffer<Self, T>,
        keep: impl FnOnce(Expr<T::Reg>) -> Expr<bool>,
        out: &Buffer<Self, T>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        self.select_from_into(x, |x| (keep(x), x.store_as::<T>()), out, count)
    }

    /// Where the first result of `f` holds: the second, a value or a tuple of up to four.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Where the elements lie that are above a half, and their squares.
    /// let x = dev.upload(&[0.25f32, 0.75, 1.0])?;
    /// let found = dev.select_from((&x, index()), |(x, i)| (x.gt(0.5), (i, x * x)))?;
    /// let n = found.len_blocking()?;
    /// assert_eq!(found.values.0.slice(..n)?.read_blocking()?, [1, 2]);
    /// assert_eq!(found.values.1.slice(..n)?.read_blocking()?, [0.5625, 1.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select`], and [`Error::LengthMismatch`].
    fn select_from<I: Input<Self>, R: Outputs>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> (Expr<bool>, R),
    ) -> Result<Selected<Self, R::Buffers<Self>>> {
        let c = collect(self, "select", &inputs)?;
        let (values, count) = (R::allocate(self, c.len()?)?, self.buffer::<u32>(1)?);
        self.select_from_into(inputs, f, R::refs(&values), &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Select::select_from`], into the caller's buffers; the count may be a `u64`, for more elements than a `u32` can number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3i32, -1, 4])?;
    /// let (out, count) = (dev.buffer::<i32>(3)?, dev.buffer::<u64>(1)?);
    /// dev.select_from_into(&x, |x| (x.gt(0), x * 2), &out, &count)?;
    /// assert_eq!((count.read_blocking()?, out.slice(..2)?.read_blocking()?), (vec![2], vec![6, 8]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_into`], and [`Error::LengthMismatch`].
    fn select_from_into<I: Input<Self>, R: Outputs, C: Count>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> (Expr<bool>, R),
        out: R::Refs<'_, Self>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        let c = collect(self, "select", &inputs)?;
        let parted = |(keep, values)| Parted(kept_or_not(keep), values);
        let func = trace(&inputs, &c, |x| parted(f(x)))?;
        enqueue::<Self, R, C>(self, Call { c, func, kind: SelectKind::Keep }, out, None, count)
    }

    /// The elements whose flags are not zero.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(b"abcd")?, dev.upload(&[0u32, 1, 0, 7])?);
    /// assert_eq!(dev.select_flagged(&x, &flags)?.read_blocking()?, *b"bd");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`].
    fn select_flagged<T: Element>(&self, x: &Buffer<Self, T>, flags: &Buffer<Self, u32>) -> Result<Selected<Self, Buffer<Self, T>>> {
        self.select_from((x, flags), |(x, flag)| (flag.ne(0), x.store_as::<T>()))
    }

    /// The elements whose flags `f` holds for.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(b"abcd")?, dev.upload(&[0.5f32, -1.0, 2.0, 0.25])?);
    /// assert_eq!(dev.select_flagged_if(&x, &flags, |flag| flag.gt(0.3))?.read_blocking()?, *b"ac");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`].
    fn select_flagged_if<T: Element, F: Input<Self>>(
        &self,
        x: &Buffer<Self, T>,
        flags: F,
        f: impl FnOnce(F::Exprs) -> Expr<bool>,
    ) -> Result<Selected<Self, Buffer<Self, T>>> {
        self.select_from((x, flags), |(x, flag)| (f(flag), x.store_as::<T>()))
    }

    /// All elements: those whose flags are not zero, then the others; both in their order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(b"abcd")?, dev.upload(&[0u32, 1, 0, 7])?);
    /// let parts = dev.partition_flagged(&x, &flags)?;
    /// assert_eq!((parts.len_blocking()?, parts.values.read_blocking()?), (2, b"bdac".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`].
    fn partition_flagged<T: Element>(&self, x: &Buffer<Self, T>, flags: &Buffer<Self, u32>) -> Result<Selected<Self, Buffer<Self, T>>> {
        self.partition_from((x, flags), |(x, flag)| (flag.ne(0), x.store_as::<T>()))
    }

    /// All elements: those for which `first` holds, then the others; both in their order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.iota::<u32>(6, 0, 1)?;
    /// let parts = dev.partition(&x, |x| (x % 3).eq(0))?;
    /// assert_eq!((parts.len_blocking()?, parts.values.read_blocking()?), (2, vec![0, 3, 1, 2, 4, 5]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select`].
    fn partition<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        first: impl FnOnce(Expr<T::Reg>) -> Expr<bool>,
    ) -> Result<Selected<Self, Buffer<Self, T>>> {
        self.partition_from(x, |x| (first(x), x.store_as::<T>()))
    }

    /// As [`Select::partition`] of values that `f` gives beside the condition: a value or a tuple of up to four.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Where the negative ones lie, and then where the others do.
    /// let x = dev.upload(&[1.0f32, -2.0, -3.0])?;
    /// let parts = dev.partition_from((&x, index()), |(x, i)| (x.lt(0.0), i))?;
    /// assert_eq!((parts.len_blocking()?, parts.values.read_blocking()?), (2, vec![1, 2, 0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`].
    fn partition_from<I: Input<Self>, R: Outputs>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> (Expr<bool>, R),
    ) -> Result<Selected<Self, R::Buffers<Self>>> {
        let (values, count) = (R::allocate(self, collect(self, "partition", &inputs)?.len()?)?, self.buffer::<u32>(1)?);
        self.partition_from_into(inputs, f, R::refs(&values), &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Select::partition`] of values that `f` gives beside the condition, into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, x) = (dev.upload(&[7u32, 2, 9])?, dev.upload(&[0.5f32, 1.5, 2.5])?);
    /// let (k, v, count) = (dev.buffer::<u32>(3)?, dev.buffer::<f32>(3)?, dev.buffer::<u32>(1)?);
    /// dev.partition_from_into((&keys, &x), |(k, x)| (k.lt(5), (k, x)), (&k, &v), &count)?;
    /// assert_eq!((k.read_blocking()?, v.read_blocking()?), (vec![2, 7, 9], vec![1.5, 0.5, 2.5]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from_into`].
    fn partition_from_into<I: Input<Self>, R: Outputs, C: Count>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> (Expr<bool>, R),
        out: R::Refs<'_, Self>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        let c = collect(self, "partition", &inputs)?;
        let parted = |(first, values)| Parted(kept_or_not(first), values);
        let func = trace(&inputs, &c, |x| parted(f(x)))?;
        enqueue::<Self, R, C>(self, Call { c, func, kind: SelectKind::TwoWays }, out, None, count)
    }

    /// All elements in three parts, each in its order: those for which `first` holds; of the others those for which `second` holds; the rest.
    /// The two counts are those of the first two parts.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[5i32, -3, 0, 8, 0, -1])?;
    /// let (parts, counts) = dev.partition_three(&x, |x| x.lt(0), |x| x.eq(0))?;
    /// assert_eq!((parts.read_blocking()?, counts.read_blocking()?), (vec![-3, -1, 0, 0, 5, 8], vec![2, 2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select`].
    fn partition_three<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        first: impl FnOnce(Expr<T::Reg>) -> Expr<bool>,
        second: impl FnOnce(Expr<T::Reg>) -> Expr<bool>,
    ) -> Result<(Buffer<Self, T>, Buffer<Self, u32>)> {
        let (values, counts) = (self.buffer::<T>(x.len())?, self.buffer::<u32>(2)?);
        let part = |x| ir::select(first(x), 0, ir::select(second(x), 1, 2));
        self.partition_three_from_into(x, |x| (part(x), x.store_as::<T>()), &values, &counts)?;
        Ok((values, counts))
    }

    /// As [`Select::partition_three`] of values that `f` gives beside the part (0, 1, else the third), into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out, counts) = (dev.iota::<u32>(6, 0, 1)?, dev.buffer::<u32>(6)?, dev.buffer::<u32>(2)?);
    /// dev.partition_three_from_into(&x, |x| (x % 3, x * 10), &out, &counts)?;
    /// assert_eq!(out.read_blocking()?, [0, 30, 10, 40, 20, 50]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from_into`].
    fn partition_three_from_into<I: Input<Self>, R: Outputs>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> (Expr<u32>, R),
        out: R::Refs<'_, Self>,
        counts: &Buffer<Self, u32>,
    ) -> Result<()> {
        let c = collect(self, "partition", &inputs)?;
        let parted = |(part, values)| Parted(part, values);
        let func = trace(&inputs, &c, |x| parted(f(x)))?;
        enqueue::<Self, R, u32>(self, Call { c, func, kind: SelectKind::ThreeWays }, out, None, counts)
    }

    /// The first of each run of equal neighbours (compared by value: NaN differs from everything, -0 equals 0).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 1, 2, 2, 2, 1])?;
    /// assert_eq!(dev.unique(&x)?.read_blocking()?, [1, 2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select`].
    fn unique<T: Element>(&self, x: &Buffer<Self, T>) -> Result<Selected<Self, Buffer<Self, T>>> {
        self.unique_with(x, Expr::eq)
    }

    /// As [`Select::unique`] with an equality of your own between an element and the one before it.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Within a tenth of the one before.
    /// let x = dev.upload(&[1.0f32, 1.05, 1.1, 2.0])?;
    /// let near = dev.unique_with(&x, |a, b| (a - b).abs().lt(0.1))?;
    /// assert_eq!(near.read_blocking()?, [1.0, 2.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select`].
    fn unique_with<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        equal: impl FnOnce(Expr<T::Reg>, Expr<T::Reg>) -> Expr<bool>,
    ) -> Result<Selected<Self, Buffer<Self, T>>> {
        self.select_from((x, array(x), index()), |(x, all, i)| (starts(equal, all, x, i), x.store_as::<T>()))
    }

    /// As [`Select::unique`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out, count) = (dev.upload(b"aabccc")?, dev.buffer(6)?, dev.buffer::<u32>(1)?);
    /// dev.unique_into(&x, &out, &count)?;
    /// assert_eq!((count.read_blocking()?, out.slice(..3)?.read_blocking()?), (vec![3], b"abc".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_into`].
    fn unique_into<T: Element, C: Count>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>, count: &Buffer<Self, C>) -> Result<()> {
        let f = |(x, all, i): (Expr<T::Reg>, ArrayExpr<T>, Expr<u32>)| (starts(Expr::eq, all, x, i), x.store_as::<T>());
        self.select_from_into((x, array(x), index()), f, out, count)
    }

    /// As [`Select::unique`] of `f` of the inputs, which never lies in memory: `f` is computed for an element and for the one before, which is
    /// fetched from arrays and views, of at most 2^32 elements from the first to the last.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[10u32, 12, 23, 27, 14])?;
    /// assert_eq!(dev.unique_from(&x, |x| x / 10)?.read_blocking()?, [1, 2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`].
    fn unique_from<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
    ) -> Result<Selected<Self, Buffer<Self, T>>> {
        let (values, count) = (self.buffer::<T>(collect(self, "select", &inputs)?.len()?)?, self.buffer::<u32>(1)?);
        self.unique_from_into(inputs, f, &values, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`Select::unique_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out, count) = (dev.upload(&[1i32, -1, 2])?, dev.buffer(3)?, dev.buffer::<u32>(1)?);
    /// dev.unique_from_into(&x.reversed(), |x| x.abs(), &out, &count)?;
    /// assert_eq!((count.read_blocking()?, out.slice(..2)?.read_blocking()?), (vec![2], vec![2, 1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from_into`].
    fn unique_from_into<I: Input<Self>, T: Element<Reg = T> + Scalar, C: Count>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        out: &Buffer<Self, T>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        let found = Neighbours::new(self, "select", &inputs, f)?;
        let func = found.trace(|before: Expr<T>, x, i| Parted(kept_or_not(i.eq(0) | before.ne(x)), x))?;
        enqueue::<Self, Expr<T>, C>(self, Call { c: found.c, func, kind: SelectKind::Keep }, out, None, count)
    }

    /// The first key of each run of equal keys, and its value.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[7u32, 7, 9])?, dev.upload(&[0.5f32, 1.5, 2.5])?);
    /// let first = dev.unique_by_key(&keys, &values)?;
    /// let n = first.len_blocking()?;
    /// assert_eq!(first.values.1.slice(..n)?.read_blocking()?, [0.5, 2.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`].
    fn unique_by_key<K: Element, V: Element>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
    ) -> Result<Selected<Self, (Buffer<Self, K>, Buffer<Self, V>)>> {
        if keys.len() != values.len() {
            return Err(Error::LengthMismatch { what: "values", expected: keys.len(), found: values.len() });
        }
        self.select_from((keys, values, array(keys), index()), |(key, value, all, i)| {
            (starts(Expr::eq, all, key, i), (key.store_as::<K>(), value.store_as::<V>()))
        })
    }
}
impl<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>> Select for B {}

/// Whether an element is not equal to the one before it, or the first of all.
pub(super) fn starts<T: Element>(
    equal: impl FnOnce(Expr<T::Reg>, Expr<T::Reg>) -> Expr<bool>,
    all: ArrayExpr<T>,
    x: Expr<T::Reg>,
    i: Expr<u32>,
) -> Expr<bool>
where
    T::Reg: Scalar,
{
    i.eq(0) | !equal(all.at(i - 1), x)
}
