//! Indices of elements in their rows, which travel with keys.

use crate::backend::Backend;
use crate::error::Result;
use crate::input::{Collector, HostScalar, Input, Source, Values, index, scalar};
use crate::ir::Expr;

/// The index of an element, in the array or in its row of so many.
#[derive(Clone, Copy, Debug)]
pub struct IndexInRow(pub(super) Option<u64>);

impl IndexInRow {
    /// The length of a row, as what indices are divided by. Rows that are longer than all keys are none.
    fn row(self) -> Option<HostScalar<u32>> {
        self.0.map(|n| scalar(n.min(u32::MAX.into()) as u32))
    }
}

impl Source for IndexInRow {
    type Exprs = Expr<u32>;
    fn exprs(&self, next: &mut u16) -> Expr<u32> {
        let i = index().exprs(next);
        self.row().map_or(i, |n| i % Source::exprs(&n, next))
    }
}

impl<B: Backend> Input<B> for IndexInRow {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        index().collect(c)?;
        self.row().map_or(Ok(()), |n| n.collect(c))
    }
}

impl<B: Backend> Values<B> for IndexInRow {
    type Out = Expr<u32>;
    fn out(x: Expr<u32>) -> Expr<u32> {
        x
    }
}
