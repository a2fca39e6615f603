//! Exact sums of rows as data, and the launch that adds them up.

use super::super::HistogramSum;
use crate::backend::{Leaf, Out};
use crate::caps::Numerics;
use crate::error::{Error, Result};
use crate::ir::Func;
use crate::launch::kernels::{EXACT_SUM, EXACT_SUM_WIDE, ExactParams};
use crate::launch::{Array, Groups, KernelSpec, Launcher, Operators, Planned, Work};
use std::sync::Arc;

/// Exact sums of rows as data. The one output holds the words of each row's sum ([`LIMBS`](super::super::histogram::LIMBS) or
/// [`WIDE_LIMBS`](super::super::histogram::WIDE_LIMBS) words of 32 bits), to which the row is added.
#[derive(Clone, Debug)]
pub struct ExactSumTask {
    /// One parameter a leaf; its result is a float's bits, a `u32` or a `u64`.
    pub func: Arc<Func>,
    /// Rows, which follow each other.
    pub rows: u64,
    /// Elements of a row.
    pub n: u64,
    /// [`HistogramSum::Exact`] or [`HistogramSum::ExactWide`].
    pub sum: HistogramSum,
    /// Strict or fast.
    pub numerics: Numerics,
}

/// Groups of threads that rows are cut for.
const GROUPS: u64 = 4096;

impl ExactSumTask {
    /// Elements of a group of threads: as many as fill the device with groups, and no more than what its cells hold have no carry out of them.
    fn span(&self) -> u64 {
        let (unit, most) = if self.sum == HistogramSum::ExactWide { (1 << 10, 1 << 15) } else { (1 << 11, 1 << 21) };
        (self.rows * self.n).div_ceil(GROUPS).clamp(unit, most).next_multiple_of(unit)
    }
}

impl<B: Launcher> Planned<B> for ExactSumTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let [out] = outs else {
            return Err(Error::InvalidArgument { what: "exact sum", reason: "it has one output".to_owned() });
        };
        let (n, span) = (self.n, self.span());
        let of_row = n.div_ceil(span).max(1);
        // A single row may be seen in parts, and then has as many groups as the part.
        let one = self.rows == 1;
        let params = ExactParams { row: if one { 0 } else { n }, tiles: of_row as u32, span: span as u32 };
        let arrays = [Array::out(out, self.rows * self.sum.words(4))];
        let kernel = if self.sum == HistogramSum::ExactWide { &EXACT_SUM_WIDE } else { &EXACT_SUM };
        let groups = |len: u64| if one { len.div_ceil(span) } else { len / n * of_row };
        let spec = KernelSpec::new(kernel, &params, &[], &arrays).with(Operators::Words(&self.func), self.numerics, leaves, &[]);
        device.launch(&spec, Work::elements(self.rows * n, if one { span } else { n }).by(Groups::Of(&groups)))
    }
}
