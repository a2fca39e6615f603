//! Several blocks of words to an element, as an input: sixteen, from which draws with a loop take one attempt after the other, or another power of two.

use super::words::Draw;
use super::{Generator, Random, cipher};
use crate::backend::Backend;
use crate::error::Result;
use crate::input::{Collector, Input, Source, index, index64};
use crate::ir::{Expr, Symbolic, lit};

/// Blocks of an element of a distribution, as a power of two.
pub(super) const SIXTEEN: u32 = 4;

/// Blocks of a stream, so many to an element.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Attempts {
    draw: Draw,
    /// Blocks of an element, as a power of two.
    shift: u32,
}

/// The blocks of an element.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    generator: Generator,
    seed: [Expr<u32>; 2],
    stream: [Expr<u32>; 2],
    /// The number of the first block, a multiple of how many there are.
    first: [Expr<u32>; 2],
}

impl Attempts {
    /// Elements of `2^shift` blocks.
    pub(crate) fn new(random: Random, n: u64, shift: u32) -> Self {
        Self { draw: Draw::new(random, n, 4 << shift), shift }
    }

    /// Refuses the draw unless its argument is right.
    pub(crate) fn require(mut self, holds: bool, what: &'static str, reason: &'static str) -> Self {
        self.draw.require(holds, what, reason);
        self
    }
}

impl Source for Attempts {
    type Exprs = Blocks;

    fn exprs(&self, next: &mut u16) -> Blocks {
        let (a, b, c, d, low, high) = self.draw.numbers(0).exprs(next);
        let (blocks, more) = if self.draw.is_narrow() {
            let i = index().exprs(next);
            // No shift is by all bits.
            (i << self.shift, if self.shift == 0 { lit(0u32) } else { i >> (32 - self.shift) })
        } else {
            let i = index64().exprs(next);
            ((i << self.shift).cast::<u32>(), (i >> (32 - self.shift)).cast::<u32>())
        };
        let low = low + blocks;
        let high = high + more + low.lt(blocks).cast::<u32>();
        Blocks { generator: self.draw.random.generator, seed: [a, b], stream: [c, d], first: [low, high] }
    }
}

impl<B: Backend> Input<B> for Attempts {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.draw.collect(0, c)
    }
}

impl Blocks {
    /// Block `k` of the element's.
    pub(crate) fn block(&self, k: Expr<u32>) -> [Expr<u32>; 4] {
        let [low, high] = self.first;
        cipher::block::<Symbolic>(self.generator, self.seed, self.stream, [low | k, high])
    }
}
