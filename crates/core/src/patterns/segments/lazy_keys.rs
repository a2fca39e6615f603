//! Reductions by keys that are computed.

use super::call::{Operators, Segments, check, enqueue};
use super::{SegmentedReduceTask, operators};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Input, index};
use crate::ir::Expr;
use crate::ops::Combine;
use crate::patterns::map::{check_index, collect, trace};
use crate::patterns::{MapTask, ReduceTask, SelectTask, Selected, UniqueFrom as _, check_aliasing};

const PATTERN: &str = "reduction by key";

/// [Reductions by key](super::Segmented::reduce_by_key) whose keys are computed of inputs, as their values may be: neither lies in memory.
///
/// Results are those of the keys that a [map](crate::patterns::Map) would store, and so are their order and their counts. Two steps: where runs begin, for
/// which a key is computed for an element and for the one before (fetched from arrays and views, of at most 2^32 elements from the first to the last), and
/// the runs as segments. Scratch: four bytes an element.
pub trait LazyKeys: Run<SelectTask> + Run<SegmentedReduceTask> + Run<ReduceTask> + Run<MapTask> {
    /// The first key of each run of equal neighbours, and `f` of the inputs over the run combined.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Sums by the tens of what is sorted, and how many there are.
    /// let x = dev.upload(&[10u32, 12, 23, 27, 29, 41])?;
    /// let sums = dev.reduce_by_lazy_key(x.map(|x| x / 10), &x, |x| x, Sum)?;
    /// let n = sums.len_blocking()?;
    /// assert_eq!(sums.values.0.slice(..n)?.read_blocking()?, [1, 2, 4]);
    /// assert_eq!(sums.values.1.slice(..n)?.read_blocking()?, [22, 79, 41]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Segmented::reduce_by_key_from`](super::Segmented::reduce_by_key_from).
    #[allow(clippy::type_complexity, reason = "two buffers of a selection")]
    fn reduce_by_lazy_key<K: Element<Reg = K> + Scalar, I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        keys: impl Input<Self, Exprs = Expr<K>>,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
    ) -> Result<Selected<Self, (Buffer<Self, K>, Buffer<Self, T>)>> {
        let n = collect(self, PATTERN, &inputs)?.len()?;
        let (found, values, count) = (self.buffer(n)?, self.buffer(n)?, self.buffer(1)?);
        self.reduce_by_lazy_key_into(keys, inputs, f, op, (&found, &values), &count)?;
        Ok(Selected { values: (found, values), count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`LazyKeys::reduce_by_lazy_key`], into the caller's buffers, with room for as many keys and results as there are elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (k, v, count) = (dev.buffer(9)?, dev.buffer(9)?, dev.buffer(1)?);
    /// dev.reduce_by_lazy_key_into(counting(9).map(|i| i / 4), counting(9), |i| i, Max, (&k, &v), &count)?;
    /// assert_eq!((count.read_blocking()?, v.slice(..3)?.read_blocking()?), (vec![3], vec![3, 7, 8]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`LazyKeys::reduce_by_lazy_key`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn reduce_by_lazy_key_into<K: Element<Reg = K> + Scalar, I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        keys: impl Input<Self, Exprs = Expr<K>>,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        out: (&Buffer<Self, K>, &Buffer<Self, T>),
        count: &Buffer<Self, u32>,
    ) -> Result<()> {
        let c = collect(self, PATTERN, &inputs)?;
        let (n, of_keys) = (c.len()?, collect(self, PATTERN, &keys)?);
        if of_keys.len()? != n {
            return Err(Error::LengthMismatch { what: "keys", expected: n, found: of_keys.len()? });
        }
        check_index(&c, n)?;
        let ops = Operators { load: trace(&inputs, &c, f)?, ..operators(&op)? };
        // What the second step would refuse, before the first one writes.
        check::<Self, Expr<T>>(self, &c, &ops, out.1, n)?;
        let outs = [(out.0.out(), n), (out.1.out(), n), (count.out(), 1)];
        check_aliasing(PATTERN, &[c.leaves.clone(), of_keys.leaves].concat(), n, &outs, false)?;
        let begins = self.buffer(n)?;
        self.unique_by_key_from_into((keys, index()), |(key, i)| (key, i), (out.0, &begins), count)?;
        let runs = DeviceScalar::from_buffer(count.slice(..1)?)?;
        enqueue::<Self, Expr<T>, u32>(self, c, ops, &Segments { bounds: &begins, count: Some(&runs) }, out.1)
    }
}
impl<B: Run<SelectTask> + Run<SegmentedReduceTask> + Run<ReduceTask> + Run<MapTask>> LazyKeys for B {}
