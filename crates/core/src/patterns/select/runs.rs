//! Runs of equal neighbours with their lengths, and back.

use super::task::{Call, enqueue};
use super::{Parted, SelectKind, SelectTask, Selected, kept_or_not, starts};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Inputs, Narrow, array, index, scalar};
use crate::ir::{self, Expr};
use crate::ops::Sum;
use crate::patterns::before::Neighbours;
use crate::patterns::map::{collect, trace};
use crate::patterns::{Map as _, MapTask, ReduceTask, Scan as _, ScanTask};

const PATTERN: &str = "run-length encoding";

/// Runs of equal neighbours and how long they are.
///
/// Equality, bits, counts and outputs are those of [`Select`](super::Select).
///
/// Source: Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 11; NVIDIA's CUB (`DeviceRunLengthEncode`).
pub trait RunLengths: Run<SelectTask> + Run<ReduceTask> + Run<MapTask> {
    /// The first element of each run of equal neighbours, and the length of the run.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let runs = dev.run_length_encode(&dev.upload(b"aaabcc")?)?;
    /// let n = runs.len_blocking()?;
    /// assert_eq!(runs.values.0.slice(..n)?.read_blocking()?, *b"abc");
    /// assert_eq!(runs.values.1.slice(..n)?.read_blocking()?, [3, 1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select`](super::Select::select).
    fn run_length_encode<T: Element>(&self, x: &Buffer<Self, T>) -> Result<Selected<Self, (Buffer<Self, T>, Buffer<Self, u32>)>> {
        let (values, lengths, count) = (self.buffer::<T>(x.len())?, self.buffer::<u32>(x.len())?, self.buffer::<u32>(1)?);
        self.run_length_encode_into(x, &values, &lengths, &count)?;
        Ok(Selected { values: (values, lengths), count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`RunLengths::run_length_encode`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[4i64, 4, -1])?;
    /// let (values, lengths, count) = (dev.buffer(3)?, dev.buffer(3)?, dev.buffer(1)?);
    /// dev.run_length_encode_into(&x, &values, &lengths, &count)?;
    /// assert_eq!((count.read_blocking()?, lengths.slice(..2)?.read_blocking()?), (vec![2], vec![2, 1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_into`](super::Select::select_into).
    fn run_length_encode_into<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        values: &Buffer<Self, T>,
        lengths: &Buffer<Self, u32>,
        count: &Buffer<Self, u32>,
    ) -> Result<()> {
        let inputs = (x, array(x), index());
        let c = collect(self, PATTERN, &inputs)?;
        let func = trace(&inputs, &c, |(x, all, i)| Parted(kept_or_not(starts(Expr::eq, all, x, i)), x.store_as::<T>()))?;
        enqueue::<Self, Narrow<T>, u32>(self, Call { c, func, kind: SelectKind::Runs }, values, Some(lengths), count)
    }

    /// As [`RunLengths::run_length_encode`] of `f` of the inputs, which never lies in memory: `f` is computed for an element and for the one before,
    /// which is fetched from arrays and views, of at most 2^32 elements from the first to the last.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.5f32, 0.75, 1.5, -2.0, -2.5])?;
    /// let runs = dev.run_length_encode_from(&x, |x| x.floor().cast::<i32>())?;
    /// let n = runs.len_blocking()?;
    /// assert_eq!(runs.values.0.slice(..n)?.read_blocking()?, [0, 1, -2, -3]);
    /// assert_eq!(runs.values.1.slice(..n)?.read_blocking()?, [2, 1, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`](super::Select::select_from).
    fn run_length_encode_from<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
    ) -> Result<Selected<Self, (Buffer<Self, T>, Buffer<Self, u32>)>> {
        let n = collect(self, PATTERN, &inputs)?.len()?;
        let (values, lengths, count) = (self.buffer(n)?, self.buffer(n)?, self.buffer(1)?);
        self.run_length_encode_from_into(inputs, f, &values, &lengths, &count)?;
        Ok(Selected { values: (values, lengths), count: DeviceScalar::from_buffer(count)? })
    }

    /// As [`RunLengths::run_length_encode_from`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (values, lengths, count) = (dev.buffer(7)?, dev.buffer(7)?, dev.buffer(1)?);
    /// dev.run_length_encode_from_into(counting(7), |i| i / 3, &values, &lengths, &count)?;
    /// assert_eq!((count.read_blocking()?, lengths.slice(..3)?.read_blocking()?), (vec![3], vec![3, 3, 1]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from_into`](super::Select::select_from_into).
    fn run_length_encode_from_into<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        values: &Buffer<Self, T>,
        lengths: &Buffer<Self, u32>,
        count: &Buffer<Self, u32>,
    ) -> Result<()> {
        let found = Neighbours::new(self, PATTERN, &inputs, f)?;
        let func = found.trace(|before: Expr<T>, x, i| Parted(kept_or_not(i.eq(0) | before.ne(x)), x))?;
        enqueue::<Self, Expr<T>, u32>(self, Call { c: found.c, func, kind: SelectKind::Runs }, values, Some(lengths), count)
    }

    /// `n` elements: each value as often as its length says, in order. Zero from where the lengths end; of more than `n`, the first `n`. Values
    /// and lengths from `runs` on do not count.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let runs = dev.run_length_encode(&dev.upload(b"aaabcc")?)?;
    /// let back = dev.run_length_decode(&runs.values.0, &runs.values.1, &runs.count, 6)?;
    /// assert_eq!(back.read_blocking()?, *b"aaabcc");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Select::select_from`](super::Select::select_from).
    fn run_length_decode<T: Element>(
        &self,
        values: &Buffer<Self, T>,
        lengths: &Buffer<Self, u32>,
        runs: &DeviceScalar<Self, u32>,
        n: u64,
    ) -> Result<Buffer<Self, T>>
    where
        Self: Run<ScanTask>,
    {
        if values.len() != lengths.len() {
            return Err(Error::LengthMismatch { what: "lengths", expected: values.len(), found: lengths.len() });
        }
        let Ok(most) = u32::try_from(values.len()) else {
            return Err(Error::TooLarge { what: "runs to decode", requested: values.len(), limit: u32::MAX.into() });
        };
        // Where runs end; those that do not count are empty.
        let ends = self.scan_from((lengths, index(), runs), |(length, i, runs)| ir::select(i.lt(runs), length, 0), Sum, false)?;
        let steps = u64::BITS - values.len().leading_zeros();
        self.generate(n, (array(values), array(&ends), index(), scalar(most)), |(values, ends, i, m)| {
            // The number of runs that end at or before i, from the highest bit down.
            let mut at: Expr<u32> = ir::lit(0);
            for k in (0..steps).rev() {
                let next = at + (1u32 << k);
                let passed = next.le(m) & ends.at(next - 1).le(i);
                at = ir::select(passed, next, at);
            }
            values.at(at).store_as::<T>()
        })
    }
}
impl<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>> RunLengths for B {}
