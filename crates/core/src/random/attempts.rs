//! Sixteen blocks of words to an element, as an input, from which draws with a loop take one attempt after the other.

use super::words::Draw;
use super::{Generator, Random, cipher};
use crate::backend::Backend;
use crate::error::Result;
use crate::input::{Collector, Input, Source, index, index64};
use crate::ir::{Expr, Symbolic};

/// Blocks of an element, as a power of two.
const SHIFT: u32 = 4;

/// Words of a stream, 64 to an element.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Attempts(Draw);

/// The blocks of an element.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    generator: Generator,
    seed: [Expr<u32>; 2],
    stream: [Expr<u32>; 2],
    /// The number of the first block, a multiple of sixteen.
    first: [Expr<u32>; 2],
}

impl Attempts {
    pub(super) fn new(random: Random, n: u64) -> Self {
        Self(Draw::new(random, n, 4 << SHIFT))
    }

    /// Refuses the draw unless its argument is right.
    pub(super) fn require(mut self, holds: bool, what: &'static str, reason: &'static str) -> Self {
        self.0.require(holds, what, reason);
        self
    }
}

impl Source for Attempts {
    type Exprs = Blocks;

    fn exprs(&self, next: &mut u16) -> Blocks {
        let (a, b, c, d, low, high) = self.0.numbers(0).exprs(next);
        let (blocks, more) = if self.0.is_narrow() {
            let i = index().exprs(next);
            (i << SHIFT, i >> (32 - SHIFT))
        } else {
            let i = index64().exprs(next);
            ((i << SHIFT).cast::<u32>(), (i >> (32 - SHIFT)).cast::<u32>())
        };
        let low = low + blocks;
        let high = high + more + low.lt(blocks).cast::<u32>();
        Blocks { generator: self.0.random.generator, seed: [a, b], stream: [c, d], first: [low, high] }
    }
}

impl<B: Backend> Input<B> for Attempts {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.0.collect(0, c)
    }
}

impl Blocks {
    /// Block `k` of sixteen.
    pub(super) fn block(&self, k: Expr<u32>) -> [Expr<u32>; 4] {
        let [low, high] = self.first;
        cipher::block::<Symbolic>(self.generator, self.seed, self.stream, [low | k, high])
    }
}
