//! P03 scan: every prefix of a line combined.

use super::map::{check_index, collect, trace};
use super::{Lines, check_accumulators, check_aliasing, check_ops};
use crate::backend::{Backend, Out, Run};
use crate::buffer::{Buffer, Memory};
use crate::caps::Numerics;
use crate::element::{Element, Num, Scalar, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Inputs, Outputs, array, index, require, scalar};
use crate::ir::{self, Expr, Func};
use crate::ops::{Combine, Sum, combine_func, identity};
use std::sync::Arc;

/// Which prefix an output element combines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ScanKind {
    /// Elements up to and with its own.
    Inclusive,
    /// Elements before its own; the first output is `finish` of these bits, one entry a part of the accumulator.
    Exclusive {
        /// The accumulator before the first element.
        first: Vec<u64>,
    },
}

/// A scan as data. For every line: `load` gives an accumulator per element, `combine` merges two in the order of [`Scan`], `finish`
/// turns each prefix's accumulator into the output values.
#[derive(Clone, Debug)]
pub struct ScanTask {
    /// One parameter a leaf; its results are the accumulator's parts.
    pub load: Arc<Func>,
    /// The left accumulator's parts, then the right one's; results: the combined parts.
    pub combine: Arc<Func>,
    /// The accumulator's parts; one result an output.
    pub finish: Arc<Func>,
    /// What to scan.
    pub lines: Lines,
    /// Inclusive or exclusive.
    pub kind: ScanKind,
    /// Strict or fast.
    pub numerics: Numerics,
}

impl ScanTask {
    /// The types of the accumulator's parts.
    #[must_use]
    pub fn parts(&self) -> Vec<Ty> {
        self.load.result_types()
    }
}

/// Prefix sums and their kin.
///
/// # Order of evaluation
/// A line is cut into tiles of [`SCAN_TILE`](super::plan::SCAN_TILE) elements. Inside a tile the prefixes are Sklansky's: for k = 0, 1, ... every
/// element whose index has bit k set becomes `combine(last element of the aligned block of 2^k before its own, itself)`. The tiles' totals are folded
/// strictly from left to right, and every element becomes `combine(fold of the tiles before, itself)` (in the first tile: itself). An exclusive scan
/// moves the inclusive one by an element and starts with the identity. Operators have to be associative, but need not commute.
///
/// Work O(n log tile), memory traffic 2n, scratch below 1 % of the input. Outputs may not overlap inputs.
///
/// Source: Sklansky, *Conditional-sum addition logic* (1960); Merrill and Garland, *Single-pass parallel prefix scan with decoupled look-back*
/// (2016); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 11.
pub trait Scan: Run<ScanTask> {
    /// `out[i]` combines the elements `0..=i`.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::Op`], [`Error::OutOfMemory`].
    fn scan_inclusive<T: Element<Reg = T> + Scalar>(&self, x: &Buffer<Self, T>, op: impl Combine<T>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.scan_inclusive_into(x, op, &out)?;
        Ok(out)
    }

    /// As [`Scan::scan_inclusive`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn scan_inclusive_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let c = collect(self, "scan", &x)?;
        scan_line(self, c, identity::<T>()?, &op, false, out)
    }

    /// `out[i]` combines the elements `0..i`; `out[0]` is the operator's identity.
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`].
    fn scan_exclusive<T: Element<Reg = T> + Scalar>(&self, x: &Buffer<Self, T>, op: impl Combine<T>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.scan_exclusive_into(x, op, &out)?;
        Ok(out)
    }

    /// As [`Scan::scan_exclusive`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive_into`].
    fn scan_exclusive_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let c = collect(self, "scan", &x)?;
        scan_line(self, c, identity::<T>()?, &op, true, out)
    }

    /// A scan of `f` of the inputs, which never lies in memory.
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`], and [`Error::LengthMismatch`].
    fn scan_from<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        exclusive: bool,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(collect(self, "scan", &inputs)?.len()?)?;
        self.scan_from_into(inputs, f, op, exclusive, &out)?;
        Ok(out)
    }

    /// As [`Scan::scan_from`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive_into`].
    fn scan_from_into<I: Inputs<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        exclusive: bool,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let c = collect(self, "scan", &inputs)?;
        let load = trace(&inputs, &c, f)?;
        scan_line(self, c, load, &op, exclusive, out)
    }

    /// Scans every line along `axis` of a row-major array of this shape, each as an array of its own.
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`]; [`Error::InvalidArgument`] for an axis that is not there, [`Error::LengthMismatch`].
    fn scan_axis<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        shape: &[u64],
        axis: usize,
        op: impl Combine<T>,
        exclusive: bool,
    ) -> Result<Buffer<Self, T>> {
        let lines = Lines::along(shape, axis)?;
        if lines.elements() != x.len() {
            return Err(Error::LengthMismatch { what: "elements of the shape", expected: lines.elements(), found: x.len() });
        }
        let c = collect(self, "scan", &x)?;
        let load = identity::<T>()?;
        let task = task_of(self, load, &op, exclusive, lines)?;
        let out = self.buffer(x.len())?;
        enqueue::<Self, Expr<T>>(self, c, task, &out)?;
        Ok(out)
    }

    /// Inclusive scan that starts anew at every element whose flag is not zero.
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`], and [`Error::LengthMismatch`].
    fn scan_segmented<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        flags: &Buffer<Self, u32>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.scan_segmented_into(x, flags, op, &out)?;
        Ok(out)
    }

    /// As [`Scan::scan_segmented`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Scan::scan_segmented`] and [`Scan::scan_inclusive_into`].
    fn scan_segmented_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        flags: &Buffer<Self, u32>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        segmented_into(self, (x, flags), |(x, flag)| (flag, x), &op, out)
    }

    /// Exclusive scan that starts anew, with the operator's identity, at every element whose flag is not zero: inside a segment the identity is the
    /// first operand of all.
    ///
    /// # Errors
    /// As [`Scan::scan_segmented`].
    fn scan_segmented_exclusive<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        flags: &Buffer<Self, u32>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(flags.len())?;
        self.scan_segmented_exclusive_into(x, flags, op, &out)?;
        Ok(out)
    }

    /// As [`Scan::scan_segmented_exclusive`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Scan::scan_segmented`] and [`Scan::scan_inclusive_into`].
    fn scan_segmented_exclusive_into<T: Element<Reg = T> + Scalar>(
        &self,
        x: &Buffer<Self, T>,
        flags: &Buffer<Self, u32>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let identity = op.identity();
        let inputs = (array(x), flags, index(), scalar(identity));
        segmented_into(self, inputs, |(x, flag, i, identity)| (flag, shifted(x, flag, i, identity)), &op, out)
    }

    /// Inclusive scan that starts anew wherever the key differs from the one before (compared by value: NaN differs from
    /// everything).
    ///
    /// # Errors
    /// As [`Scan::scan_segmented`].
    fn scan_by_key<K: Element, T: Element<Reg = T> + Scalar>(
        &self,
        keys: &Buffer<Self, K>,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        segmented(self, (array(keys), keys, x, index()), |(keys, key, x, i)| (starts(keys.at(i - 1), key, i), x), &op)
    }

    /// Exclusive scan that starts anew, with the operator's identity, wherever the key differs from the one before.
    ///
    /// # Errors
    /// As [`Scan::scan_segmented`].
    fn scan_by_key_exclusive<K: Element, T: Element<Reg = T> + Scalar>(
        &self,
        keys: &Buffer<Self, K>,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        if keys.len() != x.len() {
            return Err(Error::LengthMismatch { what: "keys", expected: x.len(), found: keys.len() });
        }
        let identity = op.identity();
        let inputs = (array(keys), keys, array(x), index(), scalar(identity));
        let load = |(keys, key, x, i, identity): (ir::ArrayExpr<K>, Expr<K::Reg>, ir::ArrayExpr<T>, Expr<u32>, Expr<T>)| {
            let flag = starts(keys.at(i - 1), key, i);
            (flag, shifted(x, flag, i, identity))
        };
        segmented(self, inputs, load, &op)
    }

    /// Inclusive sum; integers wrap.
    ///
    /// # Errors
    /// As [`Scan::scan_inclusive`].
    fn cumsum<T: Element<Reg = T> + Num>(&self, x: &Buffer<Self, T>) -> Result<Buffer<Self, T>> {
        self.scan_inclusive(x, Sum)
    }
}
impl<B: Run<ScanTask>> Scan for B {}

/// A scan of all elements into a buffer.
fn scan_line<B: Run<ScanTask>, T: Element<Reg = T> + Scalar>(
    device: &B,
    c: Collector<B>,
    load: Arc<Func>,
    op: &impl Combine<T>,
    exclusive: bool,
    out: &Buffer<B, T>,
) -> Result<()> {
    let task = task_of(device, load, op, exclusive, Lines::one(c.len()?))?;
    enqueue::<B, Expr<T>>(device, c, task, out)
}

fn task_of<T: Scalar>(device: &impl Backend, load: Arc<Func>, op: &impl Combine<T>, exclusive: bool, lines: Lines) -> Result<ScanTask> {
    let kind = if exclusive { ScanKind::Exclusive { first: vec![op.identity().to_bits64()] } } else { ScanKind::Inclusive };
    Ok(ScanTask { load, combine: combine_func(op)?, finish: identity::<T>()?, lines, kind, numerics: device.numerics() })
}

/// 1 where a segment starts: at the first element, and where a key differs from the one before.
fn starts<K: Scalar>(before: Expr<K>, key: Expr<K>, i: Expr<u32>) -> Expr<u32> {
    (i.eq(0) | key.ne(before)).cast()
}

/// The element before, or the identity where a segment starts: an inclusive scan of these is the exclusive one.
fn shifted<T: Element<Reg = T> + Scalar>(x: ir::ArrayExpr<T>, flag: Expr<u32>, i: Expr<u32>, identity: Expr<T>) -> Expr<T> {
    ir::select(flag.ne(0) | i.eq(0), identity, x.at(i - 1))
}

/// As [`segmented_into`], into a new buffer.
fn segmented<B: Run<ScanTask>, I: Inputs<B>, T: Element<Reg = T> + Scalar>(
    device: &B,
    inputs: I,
    load: impl FnOnce(I::Exprs) -> (Expr<u32>, Expr<T>),
    op: &impl Combine<T>,
) -> Result<Buffer<B, T>> {
    let out = device.buffer(collect(device, "scan", &inputs)?.len()?)?;
    segmented_into(device, inputs, load, op, &out)?;
    Ok(out)
}

/// Scan of (flag, value) pairs, where a flag on the right operand hides the left one: associative, as Blelloch (1990) showed.
fn segmented_into<B: Run<ScanTask>, I: Inputs<B>, T: Element<Reg = T> + Scalar>(
    device: &B,
    inputs: I,
    load: impl FnOnce(I::Exprs) -> (Expr<u32>, Expr<T>),
    op: &impl Combine<T>,
    out: &Buffer<B, T>,
) -> Result<()> {
    let c = collect(device, "scan", &inputs)?;
    let n = c.len()?;
    let load = trace(&inputs, &c, load)?;
    type Pair<T> = (Expr<u32>, Expr<T>);
    let combine = ir::trace(|(a, b): (Pair<T>, Pair<T>)| {
        let starts = b.0.ne(0);
        (a.0 | b.0, ir::select(starts, b.1, op.combine(a.1, b.1)))
    })?;
    let finish = ir::trace(|(_, v): Pair<T>| v)?;
    let task = ScanTask {
        load,
        combine: Arc::new(combine),
        finish: Arc::new(finish),
        lines: Lines::one(n),
        kind: ScanKind::Inclusive,
        numerics: device.numerics(),
    };
    enqueue::<B, Expr<T>>(device, c, task, out)
}

fn enqueue<B: Run<ScanTask>, R: Outputs>(device: &B, c: Collector<B>, task: ScanTask, out: R::Refs<'_, B>) -> Result<()> {
    let mut outs: Vec<(Out<B::Raw>, u64)> = Vec::new();
    R::outs(device, out, task.lines.elements(), &mut outs)?;
    let outs = checked(device, &c, &task, &outs)?;
    if task.lines.elements() == 0 {
        return Ok(());
    }
    device.run(&task, &c.leaves, &outs)
}

/// The outputs of a scan that keeps what backends rely on.
pub(super) fn checked<B: Backend>(device: &B, c: &Collector<B>, task: &ScanTask, outs: &[(Out<B::Raw>, u64)]) -> Result<Vec<Out<B::Raw>>> {
    for (o, _) in outs {
        require(device, "scan", o.dtype)?;
    }
    check_accumulators(&task.load, &task.combine, &task.finish)?;
    check_ops(device, "scan", task.numerics, &[&task.load, &task.combine, &task.finish])?;
    check_index(c, task.lines.elements())?;
    check_aliasing("scan", &c.leaves, task.lines.elements(), outs, false)?;
    Ok(outs.iter().map(|(o, _)| o.clone()).collect())
}
