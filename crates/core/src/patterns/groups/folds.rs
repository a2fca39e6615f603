//! Reductions and scans of groups, and whether all of a group agree.

use super::Groups;
use super::call::{Call, check_out, check_width};
use crate::backend::Backend;
use crate::buffer::Buffer;
use crate::call::{ArrayCall, Arrays};
use crate::element::{Element, Scalar};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::input::{Input, Lent, Source as _};
use crate::ir::Expr;
use crate::ops::Combine;
use crate::patterns::map::collect;
use crate::patterns::{Reduce, check_aliasing};

/// Folds that the lanes of a warp compute together, for groups of any width: those of [`Groups`].
///
/// # Order of evaluation
/// A group is reduced as the slice of its elements would be by [`Reduce`], and scanned as by [`Scan`](crate::patterns::Scan), so there is one result, whatever
/// the width of a device's subgroups. Work O(n). Outputs may not overlap inputs; elements behind the results stay as they were.
pub trait GroupFolds: Groups + Reduce {
    /// The elements of each group combined.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0])?;
    /// assert_eq!(dev.group_reduce(&x, 2, Sum).run()?.read_blocking()?, [3.0, 7.0, 5.0]); // the last group is shorter
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run); [`Error::InvalidArgument`] for groups of no elements; [`Error::TooLarge`] for 2^32 - 64 elements;
    /// [`Error::BufferTooSmall`], [`Error::Aliasing`], [`Error::WrongDevice`].
    fn group_reduce<'a, T: Element<Reg = T> + Scalar, C: Combine<T>>(
        &'a self,
        x: &'a Buffer<Self, T>,
        width: u64,
        op: C,
    ) -> ArrayCall<'a, Self, Folding<'a, Self, T, C>> {
        ArrayCall::new(self, Folding { x, width, op })
    }

    /// Combines, for each element, its group's elements up to it. Modifier: [`exclusive`](GroupScanCall::exclusive).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 2, 3, 4, 5])?;
    /// assert_eq!(dev.group_scan(&x, 3, Sum).run()?.read_blocking()?, [1, 3, 6, 4, 9]);
    /// assert_eq!(dev.group_scan(&x, 3, Sum).exclusive().run()?.read_blocking()?, [0, 1, 3, 0, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`GroupFolds::group_reduce`].
    fn group_scan<'a, T: Element<Reg = T> + Scalar, C: Combine<T>>(
        &'a self,
        x: &'a Buffer<Self, T>,
        width: u64,
        op: C,
    ) -> GroupScanCall<'a, Self, T, C> {
        ArrayCall::new(self, GroupScanning { x, width, op, exclusive: false })
    }

    /// Gives for each group 1 if the keys of all its elements have the same bits, else 0. All NaN are one key; -0 and +0 are two.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[7u32, 7, 7, 9, 9, 7, 7])?;
    /// assert_eq!(dev.group_match_all(&x, 3).run()?.read_blocking()?, [1, 0, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Groups::group_match`].
    fn group_match_all<K: Scalar, I: Input<Self, Exprs = Expr<K>>>(&self, keys: I, width: u64) -> ArrayCall<'_, Self, Agreeing<I>> {
        ArrayCall::new(self, Agreeing { keys, width })
    }
}
impl<B: Groups + Reduce> GroupFolds for B {}

/// Elements of groups that are combined.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Folding<'a, B: Backend, T, C> {
    x: &'a Buffer<B, T>,
    width: u64,
    op: C,
}

impl<B: GroupFolds, T: Element<Reg = T> + Scalar, C: Combine<T>> Arrays<B> for Folding<'_, B, T, C> {
    type Out = Expr<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        Ok(self.x.len().div_ceil(check_width(self.width, self.x.len())?))
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        let (x, op) = (self.x, &self.op);
        let width = check_width(self.width, x.len())?;
        let (rows, whole) = (x.len() / width, x.len() / width * width);
        check_out(device, x.len().div_ceil(width), out)?;
        check_aliasing("group_reduce", &[x.leaf()], x.len(), &[(out.out(), x.len().div_ceil(width))], false)?;
        if rows > 0 {
            device.reduce(&x.slice(..whole)?, op).axis(&[rows, width], 1).write_to(&out.slice(..rows)?)?;
        }
        if whole < x.len() { device.reduce(&x.slice(whole..)?, op).write_to(&out.slice(rows..)?) } else { Ok(()) }
    }
}

/// Elements of groups that are scanned.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct GroupScanning<'a, B: Backend, T, C> {
    x: &'a Buffer<B, T>,
    width: u64,
    op: C,
    exclusive: bool,
}

/// A call of [`GroupFolds::group_scan`].
pub type GroupScanCall<'a, B, T, C> = ArrayCall<'a, B, GroupScanning<'a, B, T, C>>;

impl<B: Backend, T, C> GroupScanCall<'_, B, T, C> {
    /// Takes the elements before each, without itself; the first of a group has the operator's identity.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[2i64, 3, 4])?, dev.buffer(3)?);
    /// dev.group_scan(&x, 2, Product).exclusive().write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [1, 2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn exclusive(self) -> Self {
        self.exclusive_if(true)
    }

    /// As [`exclusive`](Self::exclusive) where it is so.
    #[doc(hidden)]
    pub fn exclusive_if(self, exclusive: bool) -> Self {
        self.with(|what| what.exclusive = exclusive)
    }
}

impl<B: GroupFolds, T: Element<Reg = T> + Scalar, C: Combine<T>> Arrays<B> for GroupScanning<'_, B, T, C> {
    type Out = Expr<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        Ok(self.x.len())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        let (x, op) = (self.x, &self.op);
        let width = check_width(self.width, x.len())?;
        let (rows, whole) = (x.len() / width, x.len() / width * width);
        check_out(device, x.len(), out)?;
        check_aliasing("group_scan", &[x.leaf()], x.len(), &[(out.out(), x.len())], false)?;
        if rows > 0 {
            device.scan(&x.slice(..whole)?, op).axis(&[rows, width], 1).exclusive_if(self.exclusive).write_to(&out.slice(..whole)?)?;
        }
        let (tail, out) = (x.slice(whole..)?, out.slice(whole..)?);
        match (tail.is_empty(), self.exclusive) {
            (true, _) => Ok(()),
            (_, false) => device.scan(&tail, op).write_to(&out),
            (_, true) => device.scan(&tail, op).exclusive().write_to(&out),
        }
    }
}

/// Keys of elements in groups, and whether all are the same.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Agreeing<I> {
    keys: I,
    width: u64,
}

impl<B: GroupFolds, K: Scalar, I: Input<B, Exprs = Expr<K>>> Arrays<B> for Agreeing<I> {
    type Out = Expr<u32>;

    fn elements(&self, device: &B) -> Result<u64> {
        let n = collect(device, "group_match", &self.keys)?.len()?;
        Ok(n.div_ceil(check_width(self.width, n)?))
    }

    fn write(&self, device: &B, out: &Buffer<B, u32>) -> Result<()> {
        let call = Call::key(device, "group_match", &self.keys, self.width, |key| key)?;
        call.check(device, &[(out, call.groups())])?;
        // Who has the bits of the group's first element.
        let (first, _) = device.group_match(Lent(&self.keys), self.width).run()?;
        device.group_all(first.map(|first| first.eq(0)), self.width).write_to(out)
    }
}
