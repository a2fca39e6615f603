//! Indices of 8 and 16 bits. Kernels know those of 32 and 64, so an operator widens these where they are used, as in calls
//! over computed inputs.

use super::computed::Sources;
use super::enqueue::{self, last_sources, raw_as};
use super::floats::target_word;
use super::gather;
use super::{IndexElement, Move, ScatterOp};
use crate::buffer::Buffer;
use crate::element::{Element, Num, Scalar};
use crate::error::Result;
use crate::input::{Narrow, index};
use crate::ir::Expr;
use crate::patterns::before::Elsewhere;
use crate::patterns::operand::Operand;

/// No such index names an element behind these.
const MOST: u64 = 1 << 16;

pub(super) fn is_narrow<I: IndexElement>() -> bool {
    I::DTYPE.size_bytes() < 4
}

/// A gather that was checked.
pub(super) fn gather_narrow<B: Move, T: Element, I: IndexElement>(
    device: &B,
    values: &Buffer<B, T>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
) -> Result<()> {
    let values = values.slice(..values.len().min(MOST))?;
    macro_rules! moved {
        ($word:ty) => {{
            let (values, out) = (raw_as::<B, T, $word>(&values)?, raw_as::<B, T, $word>(out)?);
            let values = Elsewhere::new(device, "gather", &&values, Expr::store_as::<$word>)?;
            gather::gather::<B, Narrow<$word>, I::Reg>(
                device,
                values,
                &Operand::<B, I::Reg>::traced(device, "gather", &indices, |at| at)?,
                &out,
                &|| Ok(()),
            )
        }};
    }
    match T::DTYPE.size_bytes() {
        1 => moved!(u8),
        2 => moved!(u16),
        4 => moved!(u32),
        _ => moved!(u64),
    }
}

/// A scatter that was checked, of some sources to some targets.
pub(super) fn scatter<B: Move, T: Element, I: IndexElement>(
    device: &B,
    values: Option<&Buffer<B, T>>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
    op: ScatterOp,
) -> Result<()> {
    let out = &out.slice(..out.len().min(MOST))?;
    let Some(values) = values else {
        let positions = Sources::<B, u32, u32>::new(device, "scatter", &(indices, index()), |(at, i)| (target_word(at, out.len()), i))?;
        return positions.scatter(device, op, out);
    };
    match T::DTYPE.size_bytes() {
        4 => words::<B, T, I, u32>(device, values, indices, out, op),
        8 => words::<B, T, I, u64>(device, values, indices, out, op),
        // Kernels store words, so the one source of a target is looked for first.
        _ => enqueue::gather(device, values, &last_sources(device, indices, out.len())?, out, true),
    }
}

/// Elements as words of their size.
fn words<B: Move, T: Element, I: IndexElement, W: Element<Reg = W> + Scalar + Num>(
    device: &B,
    values: &Buffer<B, T>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
    op: ScatterOp,
) -> Result<()>
where
    Expr<W>: core::ops::Sub<Output = Expr<W>>,
{
    let values: Buffer<B, W> = raw_as(values)?;
    let sources = Sources::<B, u32, W>::new(device, "scatter", &(indices, &values), |(at, x)| (target_word(at, out.len()), x))?;
    sources.integers(device, op, out)
}
