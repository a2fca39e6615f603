//! More selections, into the caller's buffers.

use super::{Count, Select, starts};
use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{array, index};
use crate::ir::{self, Expr};

/// The forms of [`Select`] into the caller's buffers that it has not itself: elements, and how many there are. Both have to be there before the call, and
/// neither may overlap an input; elements behind those that are written stay as they were.
pub trait SelectInto: Select {
    /// As [`Select::select_flagged`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(b"abcd")?, dev.upload(&[0u32, 1, 0, 7])?);
    /// let (out, count) = (dev.upload(b"....")?, dev.buffer::<u32>(1)?);
    /// dev.select_flagged_into(&x, &flags, &out, &count)?;
    /// assert_eq!((out.read_blocking()?, count.read_blocking()?), (b"bd..".to_vec(), vec![2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from_into`].
    fn select_flagged_into<T: Element, C: Count>(
        &self,
        x: &Buffer<Self, T>,
        flags: &Buffer<Self, u32>,
        out: &Buffer<Self, T>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        self.select_from_into((x, flags), |(x, flag)| (flag.ne(0), x.store_as::<T>()), out, count)
    }

    /// As [`Select::partition_three`], into the caller's buffers: the elements, and the counts of the first two parts.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out, counts) = (dev.upload(&[5i32, -3, 0, 8])?, dev.buffer(4)?, dev.buffer(2)?);
    /// dev.partition_three_into(&x, |x| x.lt(0), |x| x.eq(0), &out, &counts)?;
    /// assert_eq!((out.read_blocking()?, counts.read_blocking()?), (vec![-3, 0, 5, 8], vec![1, 1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::partition_three_from_into`].
    fn partition_three_into<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        first: impl FnOnce(Expr<T::Reg>) -> Expr<bool>,
        second: impl FnOnce(Expr<T::Reg>) -> Expr<bool>,
        out: &Buffer<Self, T>,
        counts: &Buffer<Self, u32>,
    ) -> Result<()> {
        let part = |x| ir::select(first(x), 0, ir::select(second(x), 1, 2));
        self.partition_three_from_into(x, |x| (part(x), x.store_as::<T>()), out, counts)
    }

    /// As [`Select::unique_with`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out, count) = (dev.upload(&[10u32, 13, 12, 25])?, dev.buffer(4)?, dev.buffer::<u64>(1)?);
    /// dev.unique_with_into(&x, |a, b| (a / 10).eq(b / 10), &out, &count)?;
    /// assert_eq!((count.read_blocking()?, out.slice(..2)?.read_blocking()?), (vec![2], vec![10, 25]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_into`].
    fn unique_with_into<T: Element, C: Count>(
        &self,
        x: &Buffer<Self, T>,
        equal: impl FnOnce(Expr<T::Reg>, Expr<T::Reg>) -> Expr<bool>,
        out: &Buffer<Self, T>,
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        self.select_from_into((x, array(x), index()), |(x, all, i)| (starts(equal, all, x, i), x.store_as::<T>()), out, count)
    }

    /// As [`Select::unique_by_key`], into the caller's buffers: keys and values, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[7u32, 7, 9])?, dev.upload(b"abc")?);
    /// let (k, v, count) = (dev.buffer(3)?, dev.upload(b"...")?, dev.buffer::<u32>(1)?);
    /// dev.unique_by_key_into(&keys, &values, (&k, &v), &count)?;
    /// assert_eq!((count.read_blocking()?, v.read_blocking()?), (vec![2], b"ac.".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::unique_by_key`] and [`Select::select_into`].
    fn unique_by_key_into<K: Element, V: Element, C: Count>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
        count: &Buffer<Self, C>,
    ) -> Result<()> {
        if keys.len() != values.len() {
            return Err(Error::LengthMismatch { what: "values", expected: keys.len(), found: values.len() });
        }
        let first = |(key, value, all, i): (Expr<K::Reg>, Expr<V::Reg>, ir::ArrayExpr<K>, Expr<u32>)| {
            (starts(Expr::eq, all, key, i), (key.store_as::<K>(), value.store_as::<V>()))
        };
        self.select_from_into((keys, values, array(keys), index()), first, out, count)
    }
}
impl<B: Select> SelectInto for B {}
