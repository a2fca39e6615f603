//! The task of a histogram, its checks, and the exact sum of floats.

use super::super::map::check_index;
use super::super::{check_aliasing, check_ops};
use super::bins::Bins;
use crate::backend::{Backend, Out, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::caps::Numerics;
use crate::element::{DType, Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Inputs, array, index, require};
use crate::ir::graph::{self, Value};
use crate::ir::{ArrayExpr, Expr, Func, lit, select};
use crate::patterns::{Map as _, MapTask};
use std::sync::Arc;

/// What is added to a bin for each of its samples.
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
        }
    }
}

/// Words of an exact sum of `f32`: ten of a whole number in two's complement, the least first, in units of 2^-149; and one of flags, bit 0 for a
/// NaN, bit 1 for a +infinity, bit 2 for a -infinity among the weights.
///
/// A finite `f32` is such a number of at most 277 bits and a sign, so 2^41 of them have a sum of 319 bits, in whatever order they are added.
pub const LIMBS: u64 = 11;

/// Most weights of an exact sum: what they come to has no carry out of its words.
const MOST: u64 = 1 << 41;

/// A histogram as data. The one output holds `bins` counts or sums (for [`HistogramSum::Exact`] [`LIMBS`] words to each), and is added to.
#[derive(Clone, Debug)]
pub struct HistogramTask {
    /// One parameter a leaf. Its results are, for [`HistogramSum::Count`], one to four bins (`u32`), each of which is counted; else one bin and
    /// its weight (`u32`, or `u64` for [`HistogramSum::Wide`]). A bin that is not below [`HistogramTask::bins`] is none.
    pub func: Arc<Func>,
    /// Elements.
    pub n: u64,
    /// Bins.
    pub bins: u64,
    /// What is added up.
    pub sum: HistogramSum,
    /// Strict or fast.
    pub numerics: Numerics,
}

/// A type of weights, and of their sums: wrapping integers, or `f32`, whose sum is exact and rounded once.
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
weight! { u32 Word 0; i32 Word 0; u64 Wide 0; i64 Wide 0; f32 Exact 0.0; }

/// A histogram's inputs, and what becomes of an element.
pub(super) struct Call<B: Backend> {
    pub(super) c: Collector<B>,
    pub(super) func: Arc<Func>,
    pub(super) bins: u64,
    pub(super) sum: HistogramSum,
}

impl<B: Backend> Call<B> {
    /// Inputs, and their one to four bins.
    pub(super) fn new(
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

    pub(super) fn weighted<N: Bins<B>, W: Weight, I: Inputs<B, Exprs = Expr<W>>>(device: &B, bins: &N, weights: &I) -> Result<Self> {
        let collect = |c: &mut Collector<B>| {
            bins.collect(c, false)?;
            weights.collect(c)
        };
        let trace = || {
            let mut next = 0;
            let bin = bins.bin(&mut next, false)?;
            let weight = weights.exprs(&mut next);
            let bits = if W::TY.words() == 1 { weight.bitcast::<u32>().value() } else { weight.bitcast::<u64>().value() };
            Ok(vec![bin.value(), bits])
        };
        Ok(Self { sum: W::SUM, ..Self::new(device, bins.bins()?, collect, trace)? })
    }

    /// Checks everything, clears the output, runs the task.
    pub(super) fn enqueue<T: Element>(self, device: &B, out: &Buffer<B, T>) -> Result<()>
    where
        B: Run<HistogramTask> + Run<MapTask>,
    {
        out.check_device(device, "the output")?;
        require(device, "histogram", T::DTYPE)?;
        if out.len() < self.bins {
            return Err(Error::BufferTooSmall { what: "the output", required: self.bins, available: out.len() });
        }
        let n = self.check(device, 0, T::DTYPE, Some(out.out()))?;
        let cells = Cells::new(device, self.sum, self.bins, out)?;
        self.add(device, n, &cells)?;
        cells.rounded(device)
    }

    /// Checks what is added to sums of type `dtype` after `before` other samples, and returns how many there are.
    pub(super) fn check(&self, device: &B, before: u64, dtype: DType, out: Option<Out<B::Raw>>) -> Result<u64> {
        let n = self.c.len()?;
        let requested = before.saturating_add(n);
        let (what, limit) = match self.sum {
            HistogramSum::Count if dtype.size_bytes() == 4 => ("elements that a u32 counts", u32::MAX.into()),
            HistogramSum::Exact => ("weights of an exact sum", MOST),
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
        if n == 0 {
            return Ok(());
        }
        let to: Out<B::Raw> = cells.limbs.as_ref().map_or_else(|| cells.out.out(), Buffer::out);
        let task = HistogramTask { func: self.func, n, bins: self.bins, sum: self.sum, numerics: device.numerics() };
        device.run(&task, &self.c.leaves, &[to])
    }
}

/// Where sums are added up, and where they go.
#[derive(Clone, Debug)]
pub(super) struct Cells<B: Backend, T> {
    /// [`LIMBS`] words to a sum of floats.
    limbs: Option<Buffer<B, u32>>,
    pub(super) out: Buffer<B, T>,
}

impl<B: Run<MapTask>, T: Element> Cells<B, T> {
    /// Cleared cells.
    pub(super) fn new(device: &B, sum: HistogramSum, bins: u64, out: &Buffer<B, T>) -> Result<Self> {
        let limbs = if sum == HistogramSum::Exact { Some(device.buffer::<u32>(bins * LIMBS)?) } else { None };
        let out = out.slice(..bins)?;
        match &limbs {
            Some(limbs) => device.fill(limbs, 0)?,
            None => device.fill(&out, T::zeroed())?,
        }
        Ok(Self { limbs, out })
    }

    /// Leaves sums of floats, rounded, where they go.
    pub(super) fn rounded(&self, device: &B) -> Result<()> {
        let (Some(limbs), out) = (&self.limbs, &self.out) else { return Ok(()) };
        let bits = Buffer::<B, f32>::from_raw(device, out.raw().clone(), out.offset(), out.len())?;
        device.generate_into(out.len(), (index(), array(limbs)), |(i, limbs)| rounded(i, limbs), &bits)
    }
}

/// Word `k` of an `f32`'s bits as an exact sum.
pub(crate) fn exact_word(bits: Expr<u32>, k: Expr<u32>) -> Expr<u32> {
    let (exponent, fraction, negative) = ((bits >> 23) & 0xff, bits & 0x7f_ffff, (bits >> 31).ne(0));
    let mantissa = select(exponent.eq(0), fraction, fraction | 0x80_0000);
    let bit = exponent.max(1) - 1u32;
    let (place, shift) = (bit >> 5, bit & 31u32);
    let (low, high) = (mantissa << shift, (mantissa >> 1) >> (lit(31u32) - shift));
    let there = select(k.eq(place), low, select(k.eq(place + 1u32), high, 0u32));
    // The complement and one: one is carried on as long as all words below are zero.
    let carried = k.le(place) | (k.eq(place + 1u32) & low.eq(0)) | mantissa.eq(0);
    let whole = select(negative, (there ^ u32::MAX) + select(carried, 1u32, 0u32), there);
    let special = select(fraction.ne(0), 1u32, select(negative, 4u32, 2u32));
    let (flags, of_flags) = (select(exponent.eq(255), special, 0u32), k.eq(LIMBS as u32 - 1));
    select(of_flags, flags, select(exponent.eq(255), 0u32, whole))
}

/// The `f32` nearest to exact sum `i`, ties to even.
fn rounded(i: Expr<u32>, limbs: ArrayExpr<u32>) -> Expr<f32> {
    rounded_bits(i, limbs).bitcast::<f32>()
}

/// The bits of the `f32` nearest to exact sum `i`, ties to even.
pub(crate) fn rounded_bits(i: Expr<u32>, limbs: ArrayExpr<u32>) -> Expr<u32> {
    const WORDS: usize = LIMBS as usize - 1;
    let at = |k: usize| limbs.at(i * LIMBS as u32 + k as u32);
    let mut words: Vec<Expr<u32>> = (0..WORDS).map(at).collect();
    let negative = (words[WORDS - 1] >> 31).ne(0);
    // The absolute value: complement and one, carried on.
    let (flip, mut carry) = (select(negative, u32::MAX, 0u32), select(negative, 1u32, 0u32));
    for w in &mut words {
        let sum = (*w ^ flip) + carry;
        carry = (sum.eq(0) & carry.ne(0)).cast::<u32>();
        *w = sum;
    }
    // The highest word that is not zero, the one below it, and whether there is anything below these.
    let (mut high, mut low, mut rest, mut place) = (words[0], lit(0u32), lit(0u32), lit(0u32));
    let mut below = lit(0u32);
    for k in 1..WORDS {
        let there = words[k].ne(0);
        high = select(there, words[k], high);
        low = select(there, words[k - 1], low);
        rest = select(there, below, rest);
        place = select(there, k as u32 * 32, place);
        below = below | words[k - 1];
    }
    let shift = high.leading_zeros() & 31u32;
    // The highest bit goes to the top; shifts of 32 are those of 31 and 1.
    let top = (high << shift) | ((low >> 1) >> (lit(31u32) - shift));
    let dropped = (low << shift) | rest;
    let (mantissa, half) = (top >> 8, top & 0xff);
    let tie = half.eq(0x80) & dropped.eq(0);
    let up = select(tie, mantissa & 1u32, half.ge(0x80).cast::<u32>());
    // Bit 23 stands for an exponent of one, and goes into the field by the sum; so does a carry out of the mantissa.
    let exponent = place + lit(31u32) - shift - 23;
    let large = ((exponent << 23) + mantissa + up).min(0x7F80_0000);
    let small = place.eq(0) & high.lt(1 << 24);
    let bits = select(small, high, select(exponent.gt(255), 0x7F80_0000u32, large)) | select(negative, 0x8000_0000u32, 0);
    let flags = at(WORDS);
    let infinite = select(flags.eq(4), 0xFF80_0000u32, 0x7F80_0000);
    let special = select(flags.eq(2) | flags.eq(4), infinite, 0x7FC0_0000);
    select(flags.eq(0), bits, special)
}
