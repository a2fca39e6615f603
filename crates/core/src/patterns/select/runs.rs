//! Runs of equal neighbours with their lengths, and back.

use super::task::{Call, enqueue};
use super::{Parted, SelectKind, SelectTask, Selected, kept_or_not, starts};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Input, Narrow, Outputs, Source as _, array, counting, index, scalar};
use crate::ir::{self, ArrayExpr, Expr};
use crate::ops::Op;
use crate::patterns::before::Neighbours;
use crate::patterns::map::{collect, trace};
use crate::patterns::moves::gather_of;
use crate::patterns::{Map as _, MapTask, Move, ReduceTask, Scan as _, ScanTask, check_aliasing};

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
    fn run_length_encode_from<I: Input<Self>, T: Element<Reg = T> + Scalar>(
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
    fn run_length_encode_from_into<I: Input<Self>, T: Element<Reg = T> + Scalar>(
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
    /// As [`Select::select_from`](super::Select::select_from), and [`Error::LengthMismatch`]; [`Error::TooLarge`] for 2^32 elements or runs.
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
        let out = self.buffer(n)?;
        self.run_length_decode_into(values, lengths, runs, &out)?;
        Ok(out)
    }

    /// As [`RunLengths::run_length_decode`], as many elements as the caller's buffer has.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (values, lengths, runs) = (dev.upload(&[0.5f32, -1.0])?, dev.upload(&[2u32, 1])?, dev.upload_scalar(2u32)?);
    /// let out = dev.upload(&[9.0f32; 4])?;
    /// dev.run_length_decode_into(&values, &lengths, &runs, &out)?;
    /// assert_eq!(out.read_blocking()?, [0.5, 0.5, -1.0, 0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`RunLengths::run_length_decode`], and [`Error::Aliasing`], [`Error::WrongDevice`].
    fn run_length_decode_into<T: Element>(
        &self,
        values: &Buffer<Self, T>,
        lengths: &Buffer<Self, u32>,
        runs: &DeviceScalar<Self, u32>,
        out: &Buffer<Self, T>,
    ) -> Result<()>
    where
        Self: Run<ScanTask>,
    {
        check_runs(values.len(), lengths.len(), out.len())?;
        let outs = [(out.out(), out.len())];
        check_aliasing(DECODING, &[values.leaf(), lengths.leaf()], values.len(), &outs, false)?;
        check_aliasing(DECODING, &[runs.buffer().leaf()], 1, &outs, false)?;
        let ends = ends(self, lengths, |length| length, runs)?;
        let (of, runs) = (values.len(), scalar(values.len() as u32));
        self.generate_into(
            out.len(),
            (array(values), array(&ends), index(), runs),
            |(values, ends, i, m)| values.at(run_of(ends, (m, of), i)).store_as::<T>(),
            out,
        )
    }

    /// As [`RunLengths::run_length_decode`] of the values that `f` gives of inputs and the lengths that `g` gives of others, of which neither lies in
    /// memory: a value is computed for each element, from inputs of at most 2^32 elements from the first to the last.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Each number as often as it says: how often it stands.
    /// let runs = dev.upload_scalar(4u32)?;
    /// let back = dev.run_length_decode_from((counting(4), |i| i * 10), (counting(4), |i| i), &runs, 7)?;
    /// assert_eq!(back.read_blocking()?, [10, 20, 20, 30, 30, 30, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`RunLengths::run_length_decode`], and [`Error::Op`].
    fn run_length_decode_from<V: Input<Self>, R: Outputs, L: Input<Self>>(
        &self,
        (values, f): (V, impl FnOnce(V::Exprs) -> R),
        (lengths, g): (L, impl Fn(L::Exprs) -> Expr<u32>),
        runs: &DeviceScalar<Self, u32>,
        n: u64,
    ) -> Result<R::Buffers<Self>>
    where
        Self: Move + Run<ScanTask>,
    {
        let of = collect(self, DECODING, &values)?.len()?;
        check_runs(of, collect(self, DECODING, &lengths)?.len()?, n)?;
        let ends = ends(self, lengths, g, runs)?;
        let inputs = (counting(n), array(&ends), scalar(of as u32));
        gather_of(self, (values, f), (inputs, |(i, ends, m): (Expr<u32>, ArrayExpr<u32>, Expr<u32>)| run_of(ends, (m, of), i)))
    }
}
impl<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>> RunLengths for B {}

const DECODING: &str = "run-length decoding";

fn check_runs(values: u64, lengths: u64, n: u64) -> Result<()> {
    if values != lengths {
        return Err(Error::LengthMismatch { what: "lengths", expected: values, found: lengths });
    }
    for (what, requested) in [("runs to decode", values), ("decoded elements", n)] {
        if requested > u32::MAX.into() {
            return Err(Error::TooLarge { what, requested, limit: u32::MAX.into() });
        }
    }
    Ok(())
}

/// Where runs end; those that do not count are empty. What is beyond 32 bits ends at the greatest number, behind every element that there can be.
fn ends<B: Run<ScanTask>, I: Input<B>>(
    device: &B,
    lengths: I,
    g: impl Fn(I::Exprs) -> Expr<u32>,
    runs: &DeviceScalar<B, u32>,
) -> Result<Buffer<B, u32>> {
    let saturating = |a: Expr<u32>, b: Expr<u32>| ir::select((a + b).lt(a), u32::MAX, a + b);
    device.scan((lengths, index(), runs).map(|(x, i, runs)| ir::select(i.lt(runs), g(x), 0)), Op::associative(0u32, saturating)).run()
}

/// The run that element `i` is of: how many of the `m` runs, `of` them, end at or before it, from the highest bit down.
fn run_of(ends: ArrayExpr<u32>, (m, of): (Expr<u32>, u64), i: Expr<u32>) -> Expr<u32> {
    let mut at: Expr<u32> = ir::lit(0);
    for k in (0..u64::BITS - of.leading_zeros()).rev() {
        let next = at + (1u32 << k);
        let passed = next.le(m) & ends.at(next - 1).le(i);
        at = ir::select(passed, next, at);
    }
    at
}
