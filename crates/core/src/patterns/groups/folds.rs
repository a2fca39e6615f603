//! Reductions and scans of groups, and whether all of a group agree.

use super::Groups;
use super::call::{check_out, check_width};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::input::Input;
use crate::ir::Expr;
use crate::ops::Combine;
use crate::patterns::{Reduce, check_aliasing};

/// What the lanes of a warp fold together, for groups of any width: those of [`Groups`].
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
    /// assert_eq!(dev.group_reduce(&x, 2, Sum)?.read_blocking()?, [3.0, 7.0, 5.0]); // the last group is shorter
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run); [`Error::InvalidArgument`] for groups of no elements; [`Error::TooLarge`] for 2^32 - 64 elements.
    fn group_reduce<T: Element<Reg = T> + Scalar>(&self, x: &Buffer<Self, T>, width: u64, op: impl Combine<T>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len().div_ceil(check_width(width, x.len())?))?;
        self.group_reduce_into(x, width, op, &out)?;
        Ok(out)
    }

    /// As [`GroupFolds::group_reduce`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[3u32, 9, 4, 1])?, dev.upload(&[7u32; 3])?);
    /// dev.group_reduce_into(&x, 3, Max, &out)?;
    /// assert_eq!(out.read_blocking()?, [9, 1, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`GroupFolds::group_reduce`], and [`Error::BufferTooSmall`], [`Error::Aliasing`], [`Error::WrongDevice`].
    fn group_reduce_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        width: u64,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let width = check_width(width, x.len())?;
        let (rows, whole) = (x.len() / width, x.len() / width * width);
        check_out(self, x.len().div_ceil(width), out)?;
        check_aliasing("group_reduce", &[x.leaf()], x.len(), &[(out.out(), x.len().div_ceil(width))], false)?;
        if rows > 0 {
            self.reduce(&x.slice(..whole)?, &op).axis(&[rows, width], 1).write_to(&out.slice(..rows)?)?;
        }
        if whole < x.len() { self.reduce(&x.slice(whole..)?, &op).write_to(&out.slice(rows..)?) } else { Ok(()) }
    }

    /// For each element, its group's elements up to it combined; without the element itself where it is `exclusive`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 2, 3, 4, 5])?;
    /// assert_eq!(dev.group_scan(&x, 3, Sum, false)?.read_blocking()?, [1, 3, 6, 4, 9]);
    /// assert_eq!(dev.group_scan(&x, 3, Sum, true)?.read_blocking()?, [0, 1, 3, 0, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`GroupFolds::group_reduce`].
    fn group_scan<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        width: u64,
        op: impl Combine<T>,
        exclusive: bool,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.group_scan_into(x, width, op, exclusive, &out)?;
        Ok(out)
    }

    /// As [`GroupFolds::group_scan`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[2i64, 3, 4])?, dev.buffer(3)?);
    /// dev.group_scan_into(&x, 2, Product, false, &out)?;
    /// assert_eq!(out.read_blocking()?, [2, 6, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`GroupFolds::group_reduce_into`].
    fn group_scan_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        width: u64,
        op: impl Combine<T>,
        exclusive: bool,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let width = check_width(width, x.len())?;
        let (rows, whole) = (x.len() / width, x.len() / width * width);
        check_out(self, x.len(), out)?;
        check_aliasing("group_scan", &[x.leaf()], x.len(), &[(out.out(), x.len())], false)?;
        if rows > 0 {
            self.scan(&x.slice(..whole)?, &op).axis(&[rows, width], 1).exclusive_if(exclusive).write_to(&out.slice(..whole)?)?;
        }
        let (tail, out) = (x.slice(whole..)?, out.slice(whole..)?);
        match (tail.is_empty(), exclusive) {
            (true, _) => Ok(()),
            (_, false) => self.scan(&tail, &op).write_to(&out),
            (_, true) => self.scan(&tail, &op).exclusive().write_to(&out),
        }
    }

    /// For each group 1 if the keys of all its elements have the same bits, else 0. All NaN are one key; -0 and +0 are two.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[7u32, 7, 7, 9, 9, 7, 7])?;
    /// assert_eq!(dev.group_match_all(&x, 3, |x| x)?.read_blocking()?, [1, 0, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Groups::group_match`].
    fn group_match_all<I: Input<Self>, K: Scalar>(
        &self,
        inputs: I,
        width: u64,
        key: impl FnOnce(I::Exprs) -> Expr<K>,
    ) -> Result<Buffer<Self, u32>> {
        // Who has the bits of the group's first element.
        let (first, _) = self.group_match(inputs, width, key)?;
        self.group_all(&first, width, |first| first.eq(0))
    }
}
impl<B: Groups + Reduce> GroupFolds for B {}
