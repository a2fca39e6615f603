//! Runs of equal neighbours with their lengths, and back.

use super::decode::Decode;
use super::selection::Each;
use super::task::{Call, enqueue};
use super::unique::{ByValue, Unique, WithCounts};
use super::{Select, SelectKind, SelectTask, Selected, kept_or_not};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::Scalar;
use crate::error::Result;
use crate::input::{Input, index};
use crate::ir::Expr;
use crate::patterns::before::Neighbours;
use crate::patterns::map::{collect, same};
use crate::patterns::{MapTask, ReduceTask};
use core::fmt;

/// Runs of equal neighbours and how long they are.
///
/// Equality, bits, counts and outputs are those of [`Select`].
///
/// Source: Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 11; NVIDIA's CUB (`DeviceRunLengthEncode`).
pub trait RunLengths: Run<SelectTask> + Run<ReduceTask> + Run<MapTask> {
    /// The first element of each run of equal neighbours, and the length of the run: [`unique`](Select::unique) with
    /// [`with_counts`](Unique::with_counts), and with its modifiers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let runs = dev.run_length_encode(&dev.upload(b"aaabcc")?).run()?;
    /// let n = runs.len_blocking()?;
    /// assert_eq!(runs.values.0.slice(..n)?.read_blocking()?, *b"abc");
    /// assert_eq!(runs.values.1.slice(..n)?.read_blocking()?, [3, 1, 2]);
    /// // Of what never lies in memory.
    /// let x = dev.upload(&[0.5f32, 0.75, 1.5, -2.0, -2.5])?;
    /// let runs = dev.run_length_encode(x.map(|x| x.floor().cast::<i32>())).run()?;
    /// let n = runs.len_blocking()?;
    /// assert_eq!(runs.values.0.slice(..n)?.read_blocking()?, [0, 1, -2, -3]);
    /// assert_eq!(runs.values.1.slice(..n)?.read_blocking()?, [2, 1, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn run_length_encode<I: Input<Self>>(&self, inputs: I) -> Unique<'_, Self, I, ByValue, Each, WithCounts> {
        Unique::new(self, inputs)
    }

    /// `n` elements: each value as often as its length says, in order. Zero from where the lengths end; of more than `n`, the first `n`. Values and lengths
    /// from [`length`](Decode::length) on do not count.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let runs = dev.run_length_encode(&dev.upload(b"aaabcc")?).run()?;
    /// let back = dev.run_length_decode(&runs.values.0, &runs.values.1, 6).length(&runs.count).run()?;
    /// assert_eq!(back.read_blocking()?, *b"aaabcc");
    /// // Values and lengths that lie nowhere: each number as often as it says, how often it stands. A value is computed for each element.
    /// let back = dev.run_length_decode(counting(4).map(|i| i * 10), counting(4), 7).run()?;
    /// assert_eq!(back.read_blocking()?, [10, 20, 20, 30, 30, 30, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn run_length_decode<V: Input<Self>, L: Input<Self, Exprs = Expr<u32>>>(
        &self,
        values: V,
        lengths: L,
        n: u64,
    ) -> Decode<'_, Self, V, L> {
        Decode::new(self, values, lengths, n)
    }

    /// Where runs of two equal neighbours and more begin, and how long they are: the runs of [`run_length_encode`](Self::run_length_encode) without those of
    /// one element.
    ///
    /// Two selections: of all runs, and of those that are long enough among as many as the device has counted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let runs = dev.non_trivial_runs(&dev.upload(b"aabcccd")?).run()?;
    /// let n = runs.len_blocking()?;
    /// assert_eq!(runs.values.0.slice(..n)?.read_blocking()?, [0, 3]);
    /// assert_eq!(runs.values.1.slice(..n)?.read_blocking()?, [2, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn non_trivial_runs<T: Scalar, I: Input<Self, Exprs = Expr<T>>>(&self, inputs: I) -> NonTrivialRuns<'_, Self, I> {
        NonTrivialRuns { device: self, inputs }
    }
}
impl<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>> RunLengths for B {}

/// A call that finds runs of two elements and more: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. See [`RunLengths::non_trivial_runs`].
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct NonTrivialRuns<'d, B: Backend, I> {
    device: &'d B,
    inputs: I,
}

impl<B: Backend, I> fmt::Debug for NonTrivialRuns<'_, B, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NonTrivialRuns").finish_non_exhaustive()
    }
}

const PATTERN: &str = "select";

impl<B: Select, T: Scalar, I: Input<B, Exprs = Expr<T>>> NonTrivialRuns<'_, B, I> {
    /// Enqueues the call into new memory, which it returns with the number of runs: where they begin, and how long they are.
    ///
    /// # Errors
    /// As [`Selection::run`](super::Selection::run).
    #[allow(clippy::type_complexity, reason = "two buffers of a selection")]
    pub fn run(self) -> Result<Selected<B, (Buffer<B, u32>, Buffer<B, u32>)>> {
        let (device, n) = (self.device, collect(self.device, PATTERN, &self.inputs)?.len()?);
        let (starts, lengths, count) = (device.buffer(n)?, device.buffer(n)?, device.buffer(1)?);
        self.write_to(((&starts, &lengths), &count))?;
        Ok(Selected { values: (starts, lengths), count: DeviceScalar::from_buffer(count)? })
    }

    /// Enqueues the call into the caller's buffers: where runs begin and how long they are, and their number.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (starts, lengths, count) = (dev.buffer(7)?, dev.buffer(7)?, dev.buffer(1)?);
    /// dev.non_trivial_runs(counting(7).map(|i| i / 3)).write_to(((&starts, &lengths), &count))?;
    /// assert_eq!((count.read_blocking()?, starts.slice(..2)?.read_blocking()?), (vec![2], vec![0, 3]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Selection::write_to`](super::Selection::write_to).
    pub fn write_to(self, (out, count): ((&Buffer<B, u32>, &Buffer<B, u32>), &Buffer<B, u32>)) -> Result<()> {
        let Self { device, inputs } = self;
        let found = Neighbours::new(device, PATTERN, &inputs, same)?;
        let n = found.c.len()?;
        let func = found.trace_all::<T>(|before, ours, i| {
            let starts = i.eq(0) | !before.eq(Expr::from_value(ours[0]));
            vec![kept_or_not(starts).value(), i.value()]
        })?;
        let (begins, lengths, runs) = (device.buffer(n)?, device.buffer(n)?, device.buffer::<u32>(1)?);
        enqueue::<B, Expr<u32>, u32>(device, Call { c: found.c, func, kind: SelectKind::Runs }, &begins, Some(&lengths), &runs)?;
        let runs = DeviceScalar::from_buffer(runs)?;
        let of_runs = (&begins, &lengths, index(), &runs);
        device
            .select(of_runs, |(_, length, k, runs): (Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>)| k.lt(runs) & length.gt(1))
            .finish(|(begin, length, ..)| (begin, length))
            .write_to((out, count))
    }
}
