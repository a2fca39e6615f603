//! Indices of elements in their lines, which travel with keys.

use crate::backend::Backend;
use crate::error::Result;
use crate::input::{Collector, HostScalar, Input, Source, Values, index, scalar};
use crate::ir::Expr;
use crate::patterns::Lines;

/// The index of an element, in the array or in its line.
#[derive(Clone, Copy, Debug)]
pub struct IndexInLine(pub(super) Option<Lines>);

impl IndexInLine {
    /// Returns the divisors of indices: the distance between neighbours, where it is not one, and the length of a line. Lines that are longer than
    /// all keys are none.
    fn divisors(self) -> [Option<HostScalar<u32>>; 2] {
        let number = |n: u64| scalar(n.min(u32::MAX.into()) as u32);
        self.0.map_or([None; 2], |lines| [(lines.inner > 1).then(|| number(lines.inner)), Some(number(lines.n))])
    }
}

impl Source for IndexInLine {
    type Exprs = Expr<u32>;
    fn exprs(&self, next: &mut u16) -> Expr<u32> {
        let i = index().exprs(next);
        let [inner, n] = self.divisors();
        let i = inner.map_or(i, |inner| i / Source::exprs(&inner, next));
        n.map_or(i, |n| i % Source::exprs(&n, next))
    }
}

impl<B: Backend> Input<B> for IndexInLine {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        index().collect(c)?;
        self.divisors().into_iter().flatten().try_for_each(|divisor| divisor.collect(c))
    }
}

impl<B: Backend> Values<B> for IndexInLine {
    type Out = Expr<u32>;
    fn out(x: Expr<u32>) -> Expr<u32> {
        x
    }
}
