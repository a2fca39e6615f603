//! The task of a histogram, its checks, and where sums are kept.

use super::super::map::check_index;
use super::super::moves::raw_as;
use super::super::{check_aliasing, check_ops};
use super::bins::Bins;
use super::exact::{Exact, LIMBS, MOST, WIDE_LIMBS};
use crate::backend::{Backend, Leaf, Out, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::caps::Numerics;
use crate::element::{DType, Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, array, index, require};
use crate::ir::graph::{self, Value};
use crate::ir::{Expr, Func};
use crate::patterns::{Map as _, MapTask};
use std::sync::Arc;

/// Summand that is added to a bin for each of its samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum HistogramSum {
    /// One. The output is `u32` or `u64`.
    Count,
    /// A 32-bit weight, wrapping.
    Word,
    /// A 64-bit weight, wrapping.
    Wide,
    /// An `f32` weight's bits, exactly: see [`LIMBS`].
    Exact,
    /// An `f64` weight's bits, exactly: see [`WIDE_LIMBS`].
    ExactWide,
}

impl HistogramSum {
    /// 32-bit words that a bin has while it is added to, for an output of elements of so many bytes.
    #[must_use]
    pub const fn words(self, output_bytes: u64) -> u64 {
        match self {
            Self::Count => output_bytes / 4,
            Self::Word => 1,
            Self::Wide => 2,
            Self::Exact => LIMBS,
            Self::ExactWide => WIDE_LIMBS,
        }
    }

    /// Fails for more sums than have words that 32 bits number, as kernels number them.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn check(self, what: &'static str, sums: u64) -> Result<()> {
        match u64::from(u32::MAX) / self.words(4) {
            limit if sums > limit => Err(Error::TooLarge { what, requested: sums, limit }),
            _ => Ok(()),
        }
    }

    /// Whether sums are kept as whole numbers of many words until they are rounded.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::Exact | Self::ExactWide)
    }
}

/// A histogram as data. The one output holds `bins` counts or sums (of exact ones [`LIMBS`] or [`WIDE_LIMBS`] words to each).
#[derive(Clone, Debug)]
pub struct HistogramTask {
    /// One parameter a leaf. Its results are one to four bins (`u32`), each of which is counted, or, but for [`HistogramSum::Count`], has the weight
    /// behind them added (`u32`, or `u64` for [`HistogramSum::Wide`] and [`HistogramSum::ExactWide`]). A bin that is not below [`HistogramTask::bins`] is none.
    pub func: Arc<Func>,
    /// Elements.
    pub n: u64,
    /// Bins.
    pub bins: u64,
    /// Summand that is added up.
    pub sum: HistogramSum,
    /// Whether the output is cleared first; else it is added to.
    pub clears: bool,
    /// Strict or fast.
    pub numerics: Numerics,
}

impl HistogramTask {
    /// Bins of an element.
    #[must_use]
    pub fn bins_of_each(&self) -> usize {
        self.func.results.len() - usize::from(self.sum != HistogramSum::Count)
    }

    /// The same with so many bins of an element, for backends with kernels of one number: those that were missing are the first one again, and are not to
    /// be added to.
    #[must_use]
    pub fn padded(&self, bins: usize) -> Self {
        let (f, found) = (&self.func, self.bins_of_each());
        let mut results = f.results.clone();
        results.splice(found..found, std::iter::repeat_n(f.results[0], bins.saturating_sub(found)));
        Self { func: Arc::new(Func::new(f.params.clone(), f.nodes.clone(), f.types.clone(), results)), ..self.clone() }
    }

    /// Clears the output, for backends that do not do so on their way.
    ///
    /// # Errors
    /// As [`Map::fill`](crate::patterns::Map::fill).
    pub fn clear<B: Run<MapTask>>(&self, device: &B, out: &Out<B::Raw>) -> Result<()> {
        let each = out.dtype.size_bytes() / 4;
        let words: Buffer<B, u32> =
            Buffer::from_raw(device, out.raw.clone(), out.offset * each, self.bins * self.sum.words(out.dtype.size_bytes()))?;
        device.fill(&words, 0)
    }
}

/// A type of weights, and of their sums: wrapping integers, or `f32` and `f64`, whose sum is exact and rounded once.
pub trait Weight: Scalar + Element<Reg = Self> {
    #[doc(hidden)]
    const SUM: HistogramSum;
    #[doc(hidden)]
    const ZERO: Self;
}
macro_rules! weight {
    ($($t:ident $sum:ident $zero:expr;)*) => {$(
        impl Weight for $t {
            const SUM: HistogramSum = HistogramSum::$sum;
            const ZERO: Self = $zero;
        }
    )*};
}
weight! { u32 Word 0; i32 Word 0; u64 Wide 0; i64 Wide 0; f32 Exact 0.0; f64 ExactWide 0.0; }

/// A histogram's inputs, and what becomes of an element.
pub struct Call<B: Backend> {
    pub(super) c: Collector<B>,
    pub(super) func: Arc<Func>,
    pub(super) bins: u64,
    pub(super) sum: HistogramSum,
}

impl<B: Backend> Call<B> {
    /// Inputs, and their one to four bins.
    pub(in crate::patterns) fn new(
        device: &B,
        bins: u64,
        collect: impl FnOnce(&mut Collector<B>) -> Result<()>,
        trace: impl FnOnce() -> Result<Vec<Value>>,
    ) -> Result<Self> {
        let mut c = Collector::new(device, "histogram");
        collect(&mut c)?;
        let mut failed = None;
        let results = || {
            trace().unwrap_or_else(|e| {
                failed = Some(e);
                Vec::new()
            })
        };
        let func = graph::trace(c.params.clone(), results);
        match failed {
            Some(e) => Err(e),
            None => Ok(Self { c, func: Arc::new(func?), bins, sum: HistogramSum::Count }),
        }
    }

    pub(super) fn weighted<N: Bins<B>, W: Weight, I: Input<B, Exprs = Expr<W>>>(device: &B, bins: &N, weights: &I) -> Result<Self> {
        let collect = |c: &mut Collector<B>| {
            bins.collect(c, false)?;
            weights.collect(c)
        };
        let trace = || {
            let mut next = 0;
            let bin = bins.bin(&mut next, false)?;
            Ok(vec![bin.value(), weight_bits(weights.exprs(&mut next))])
        };
        Ok(Self::new(device, bins.bins()?, collect, trace)?.sums_of::<W>())
    }

    /// The same of elements whose last result is a weight.
    pub(super) fn sums_of<W: Weight>(self) -> Self {
        Self { sum: W::SUM, ..self }
    }

    /// Checks everything and runs the task.
    pub(super) fn enqueue<T: Element>(self, device: &B, out: &Buffer<B, T>) -> Result<()>
    where
        B: Run<HistogramTask> + Run<MapTask>,
    {
        let n = self.check_out(device, out)?;
        let cells = Cells::new(device, self.sum, self.bins, out)?;
        if n == 0 {
            cells.clear(device)?;
        } else {
            self.run(device, n, &cells, true)?;
        }
        cells.rounded(device)
    }

    /// Checks everything and hands counts of 32 bits to `run`.
    pub(in crate::patterns) fn counted(
        self,
        device: &B,
        out: &Buffer<B, u32>,
        run: impl FnOnce(HistogramTask, &[Leaf<B::Raw>], &[Out<B::Raw>]) -> Result<()>,
    ) -> Result<()>
    where
        B: Run<MapTask>,
    {
        let n = self.check_out(device, out)?;
        if n == 0 {
            return device.fill(&out.slice(..self.bins)?, 0);
        }
        let task = HistogramTask { func: self.func, n, bins: self.bins, sum: self.sum, clears: true, numerics: device.numerics() };
        run(task, &self.c.leaves, &[out.out()])
    }

    /// Checks an output and what is counted there, and returns how many samples there are.
    fn check_out<T: Element>(&self, device: &B, out: &Buffer<B, T>) -> Result<u64> {
        out.check_device(device, "the output")?;
        require(device, "histogram", T::DTYPE)?;
        if out.len() < self.bins {
            return Err(Error::BufferTooSmall { what: "the output", required: self.bins, available: out.len() });
        }
        self.check(device, 0, T::DTYPE, Some(out.out()))
    }

    /// Checks what is added to sums of type `dtype` after `before` other samples, and returns how many there are.
    pub(super) fn check(&self, device: &B, before: u64, dtype: DType, out: Option<Out<B::Raw>>) -> Result<u64> {
        let n = self.c.len()?;
        let requested = before.saturating_add(n);
        let (what, limit) = match self.sum {
            HistogramSum::Count if dtype.size_bytes() == 4 => ("elements that a u32 counts", u32::MAX.into()),
            HistogramSum::Exact | HistogramSum::ExactWide => ("weights of an exact sum", MOST),
            _ => ("elements of a histogram", u64::MAX),
        };
        if requested > limit {
            return Err(Error::TooLarge { what, requested, limit });
        }
        check_ops(device, "histogram", device.numerics(), &[&self.func])?;
        check_index(&self.c, n)?;
        if let Some(out) = out {
            check_aliasing("histogram", &self.c.leaves, n, &[(out, self.bins)], false)?;
        }
        Ok(n)
    }

    /// Adds the `n` samples that were checked.
    pub(super) fn add<T: Element>(self, device: &B, n: u64, cells: &Cells<B, T>) -> Result<()>
    where
        B: Run<HistogramTask>,
    {
        if n == 0 { Ok(()) } else { self.run(device, n, cells, false) }
    }

    fn run<T: Element>(self, device: &B, n: u64, cells: &Cells<B, T>, clears: bool) -> Result<()>
    where
        B: Run<HistogramTask>,
    {
        let to: Out<B::Raw> = cells.limbs.as_ref().map_or_else(|| cells.out.out(), Buffer::out);
        let task = HistogramTask { func: self.func, n, bins: self.bins, sum: self.sum, clears, numerics: device.numerics() };
        device.run(&task, &self.c.leaves, &[to])
    }
}

/// A weight as a task has it.
pub(super) fn weight_bits<W: Weight>(weight: Expr<W>) -> Value {
    if W::TY.words() == 1 { weight.bitcast::<u32>().value() } else { weight.bitcast::<u64>().value() }
}

/// Where sums are added up, and where they go.
#[derive(Clone, Debug)]
pub(super) struct Cells<B: Backend, T> {
    /// Words of exact sums.
    limbs: Option<Buffer<B, u32>>,
    sum: HistogramSum,
    pub(super) out: Buffer<B, T>,
}

impl<B: Run<MapTask>, T: Element> Cells<B, T> {
    /// Cells that hold anything.
    pub(super) fn new(device: &B, sum: HistogramSum, bins: u64, out: &Buffer<B, T>) -> Result<Self> {
        let limbs = if sum.is_exact() { Some(device.buffer::<u32>(bins * sum.words(4))?) } else { None };
        Ok(Self { limbs, sum, out: out.slice(..bins)? })
    }

    pub(super) fn clear(&self, device: &B) -> Result<()> {
        match &self.limbs {
            Some(limbs) => device.fill(limbs, 0),
            None => device.fill(&self.out, T::zeroed()),
        }
    }

    /// Leaves sums of floats, rounded, where they go.
    pub(super) fn rounded(&self, device: &B) -> Result<()> {
        match (&self.limbs, self.sum) {
            (Some(limbs), HistogramSum::ExactWide) => round::<B, u64, T>(device, limbs, &self.out),
            (Some(limbs), _) => round::<B, u32, T>(device, limbs, &self.out),
            (None, _) => Ok(()),
        }
    }
}

/// Rounds exact sums, part by part, to floats of as many bits as `W`.
fn round<B: Run<MapTask>, W: Exact, T: Element>(device: &B, limbs: &Buffer<B, u32>, out: &Buffer<B, T>) -> Result<()> {
    let bits: Buffer<B, W> = raw_as(out)?;
    for at in (0..out.len()).step_by(W::IN_A_MAP as usize) {
        let part = at..out.len().min(at + W::IN_A_MAP);
        let sums: Buffer<B, W> = words_as(&limbs.slice(part.start * W::words()..part.end * W::words())?)?;
        device.generate_into(part.end - part.start, (index(), array(&sums)), |(i, sums)| W::rounded(i, sums), &bits.slice(part)?)?;
    }
    Ok(())
}

/// Words of 32 bits as elements of 32 or 64.
pub(crate) fn words_as<B: Backend, W: Element>(words: &Buffer<B, u32>) -> Result<Buffer<B, W>> {
    let each = W::DTYPE.size_bytes() / 4;
    Buffer::from_raw(words.device(), words.raw().clone(), words.offset() / each, words.len() / each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_no_more_words_than_32_bits_number() {
        let all = [(HistogramSum::Word, 1), (HistogramSum::Wide, 2), (HistogramSum::Exact, 11), (HistogramSum::ExactWide, 68)];
        for (sum, words) in all {
            let limit = u64::from(u32::MAX) / words;
            assert_eq!(sum.check("sums", limit), Ok(()));
            assert_eq!(sum.check("sums", limit + 1), Err(Error::TooLarge { what: "sums", requested: limit + 1, limit }));
        }
    }
}
