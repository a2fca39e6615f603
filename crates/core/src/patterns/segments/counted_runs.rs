//! Selections, runs and reductions by key of as many elements as the device has counted.

use super::SegmentedReduceTask;
use super::call::{Operators, Segments, enqueue as reduce};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Input, Narrow, Outputs, index, scalar};
use crate::ir::graph::Value;
use crate::ir::{Expr, lit, select};
use crate::ops::{Combine, combine_func, identity};
use crate::patterns::before::Neighbours;
use crate::patterns::map::{collect, same, trace};
use crate::patterns::select::{Call, enqueue};
use crate::patterns::{Map as _, MapTask, Select, SelectKind, Selected};

const PATTERN: &str = "select";

/// A selection of pairs.
type Pairs<B, K, V> = Selected<B, (Buffer<B, K>, Buffer<B, V>)>;

/// What [`length`](crate::patterns::SortCall::length) is to sorts and reductions, for selections, runs of equal neighbours and reductions by key: of the first elements, as
/// many as a count on the device says. Nothing waits for the count; one above the number of elements is that. Histograms have
/// [`counted`](crate::patterns::counted) bins.
///
/// Results are those of [`Select`], [`RunLengths`](crate::patterns::RunLengths) and [`Segmented`](super::Segmented)
/// of the slice, bit for bit, and each has a count again that the next pattern takes. Elements behind the count are looked at and dropped: the work is that of
/// the room.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// // The values of the good samples summed up by their names, and the largest sums' names: nothing is read back in between.
/// let (names, x) = (dev.upload(&[7u32, 3, 7, 5, 3, 7])?, dev.upload(&[1.0f32, 2.0, -1.0, 3.0, 4.0, 5.0])?);
/// let good = dev.select_from((&names, &x), |(name, x)| (x.gt(0.0), (name, x)))?;
/// let sums = dev.reduce_by_key_counted(&dev.sort(&good.values.0).with_values(&good.values.1).length(&good.count).run()?, Sum)?;
/// let large = dev.select_counted_from((&sums.values.0, &sums.values.1), |(name, sum)| (sum.gt(4.0), name), &sums.count)?;
/// assert_eq!(large.read_blocking()?, [3, 7]);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub trait CountedRuns: Select + Run<SegmentedReduceTask> + Run<MapTask> {
    /// The elements of those that are counted for which `keep` holds.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let small = dev.select(&dev.upload(&[4u32, 9, 2, 7])?, |x| x.lt(9))?;
    /// assert_eq!(dev.select_counted(&small, |x| x.gt(2))?.read_blocking()?, [4, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select`].
    fn select_counted<T: Element>(
        &self,
        x: &Selected<Self, Buffer<Self, T>>,
        keep: impl FnOnce(Expr<T::Reg>) -> Expr<bool>,
    ) -> Result<Selected<Self, Buffer<Self, T>>> {
        self.select_counted_from(&x.values, |x| (keep(x), x.store_as::<T>()), &x.count)
    }

    /// As [`Select::select_from`] of as many elements as are counted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let count = dev.upload_scalar(6u32)?;
    /// let squares = dev.select_counted_from(counting(100), |i| ((i & 1u32).eq(1), i * i), &count)?;
    /// assert_eq!(squares.read_blocking()?, [1, 9, 25]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`].
    fn select_counted_from<I: Input<Self>, R: Outputs>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> (Expr<bool>, R),
        count: &DeviceScalar<Self, u32>,
    ) -> Result<Selected<Self, R::Buffers<Self>>> {
        self.select_from((inputs, index(), count), |(x, i, count)| {
            let (keep, values) = f(x);
            (keep & i.lt(count), values)
        })
    }

    /// The first of each run of equal neighbours of those that are counted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let kept = dev.select(&dev.upload(&[3u32, 9, 3, 5, 9, 5, 3])?, |x| x.lt(9))?;
    /// let sorted = dev.sort(&kept.values).length(&kept.count).run()?;
    /// assert_eq!(dev.unique_counted(&sorted)?.read_blocking()?, [3, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::unique`].
    fn unique_counted<T: Element>(&self, x: &Selected<Self, Buffer<Self, T>>) -> Result<Selected<Self, Buffer<Self, T>>> {
        let (values, count) = (self.buffer(x.values.len())?, self.buffer::<u32>(1)?);
        let found = Neighbours::new(self, PATTERN, &(&x.values, &x.count), |x| x)?;
        let func = found.trace_all::<T::Reg>(|before, ours, i| {
            let starts = (i.eq(0) | before.ne(Expr::from_value(ours[0]))) & i.lt(Expr::from_value(ours[1]));
            vec![select(starts, 0u32, 1).value(), ours[0]]
        })?;
        enqueue::<Self, Narrow<T>, u32>(self, Call { c: found.c, func, kind: SelectKind::Keep }, &values, None, &count)?;
        Ok(Selected { values, count: DeviceScalar::from_buffer(count)? })
    }

    /// The first element of each run of equal neighbours of those that are counted, and the length of the run.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let kept = dev.select(&dev.upload(b"ab-b-bcc")?, |x| x.ne(45))?;
    /// let runs = dev.run_length_encode_counted(&kept)?;
    /// let n = runs.len_blocking()?;
    /// assert_eq!(runs.values.0.slice(..n)?.read_blocking()?, *b"abc");
    /// assert_eq!(runs.values.1.slice(..n)?.read_blocking()?, [1, 3, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`RunLengths::run_length_encode`](crate::patterns::RunLengths::run_length_encode).
    fn run_length_encode_counted<T: Element>(&self, x: &Selected<Self, Buffer<Self, T>>) -> Result<Pairs<Self, T, u32>> {
        let n = x.values.len();
        let (values, lengths, runs) = (self.buffer(n)?, self.buffer(n)?, self.buffer(1)?);
        let found = Neighbours::new(self, PATTERN, &(&x.values, &x.count), |x| x)?;
        let func = found.trace_all::<T::Reg>(|before, ours, i| vec![begins(before, &ours, i), ours[0]])?;
        let call = Call { c: found.c, func, kind: SelectKind::Runs };
        enqueue::<Self, Narrow<T>, u32>(self, call, &values, Some(&lengths), &runs)?;
        Ok(Selected { values: (values, lengths), count: without_rest(self, &runs, &x.count, n)? })
    }

    /// The first key of each run of equal keys of the pairs that are counted, and the run's values combined.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[1u32, 1, 2, 2, 2])?, dev.upload(&[1.0f32, 2.0, 4.0, 8.0, 99.0])?);
    /// let first = Selected { values: (keys, values), count: dev.upload_scalar(4u32)? };
    /// let sums = dev.reduce_by_key_counted(&first, Sum)?;
    /// assert_eq!(sums.values.1.slice(..sums.len_blocking()?)?.read_blocking()?, [3.0, 12.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    fn reduce_by_key_counted<K: Element, T: Element<Reg = T> + Scalar>(
        &self,
        pairs: &Pairs<Self, K, T>,
        op: impl Combine<T>,
    ) -> Result<Pairs<Self, K, T>> {
        let ((keys, values), n) = (&pairs.values, pairs.values.0.len());
        if values.len() != n {
            return Err(Error::LengthMismatch { what: "values", expected: n, found: values.len() });
        }
        let c = collect(self, "reduction by key", &values)?;
        let nothing = vec![op.identity().to_bits64()];
        let ops = Operators { load: trace(&values, &c, same)?, combine: combine_func(&op)?, finish: identity::<T>()?, nothing };
        let (first, sums, starts, runs) = (self.buffer(n)?, self.buffer(n)?, self.buffer::<u32>(n)?, self.buffer(1)?);
        let found = Neighbours::new(self, PATTERN, &(keys, &pairs.count), |x| x)?;
        let func = found.trace_all::<K::Reg>(|before, ours, i| vec![begins(before, &ours, i), ours[0], i.value()])?;
        let call = Call { c: found.c, func, kind: SelectKind::Keep };
        enqueue::<Self, (Narrow<K>, Expr<u32>), u32>(self, call, (&first, &starts), None, &runs)?;
        let count = without_rest(self, &runs, &pairs.count, n)?;
        let runs = DeviceScalar::from_buffer(runs)?;
        reduce::<Self, Expr<T>, u32>(self, c, ops, &Segments { bounds: &starts, count: Some(&runs) }, &sums)?;
        Ok(Selected { values: (first, sums), count })
    }
}
impl<B: Select + Run<SegmentedReduceTask> + Run<MapTask>> CountedRuns for B {}

/// Part 0 for an element that begins a run, of those that are counted, and for the first that is not: there ends the last run. `ours` are the element and
/// the count.
fn begins<T: Scalar>(before: Expr<T>, ours: &[Value], i: Expr<u32>) -> Value {
    let (x, count) = (Expr::<T>::from_value(ours[0]), Expr::<u32>::from_value(ours[1]));
    let starts = (i.eq(0) | before.ne(x)) & i.lt(count);
    select(starts | i.eq(count), 0u32, 1).value()
}

/// The number of runs without the one of the elements that are not counted, if there are such.
fn without_rest<B: Run<MapTask>>(device: &B, runs: &Buffer<B, u32>, count: &DeviceScalar<B, u32>, n: u64) -> Result<DeviceScalar<B, u32>> {
    let n = u32::try_from(n).map_err(|_| Error::TooLarge { what: "elements that a u32 counts", requested: n, limit: u32::MAX.into() })?;
    DeviceScalar::from_buffer(device.map((runs, count, scalar(n)), |(runs, count, n)| runs - select(count.lt(n), lit(1u32), lit(0)))?)
}
