//! Sixteen blocks of words to an element, as an input: what draws with a loop take one attempt after the other from.

use super::cipher::{philox, threefry};
use super::{Generator, PHILOX_ROUNDS, Random, THREEFRY_ROUNDS, halves};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::input::{Collector, HostScalar, Input, Source, index, index64, scalar};
use crate::ir::{Expr, Symbolic};

/// Blocks of an element, as a power of two.
const SHIFT: u32 = 4;

/// Words of an element.
pub(super) const WORDS: u64 = 4 << SHIFT;

/// Elements that a `u32` numbers.
const NARROW: u64 = 1 << 32;

/// Words of a stream, 64 to an element.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Attempts {
    random: Random,
    n: u64,
    /// The argument of the draw that is refused, and why.
    refused: Option<(&'static str, &'static str)>,
}

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

type Numbers = (HostScalar<u32>, HostScalar<u32>, HostScalar<u32>, HostScalar<u32>, HostScalar<u32>, HostScalar<u32>);

impl Attempts {
    pub(super) fn new(random: Random, n: u64) -> Self {
        Self { random, n, refused: None }
    }

    /// Refuses the draw unless its argument is right.
    pub(super) fn require(mut self, holds: bool, what: &'static str, reason: &'static str) -> Self {
        if !holds {
            self.refused = self.refused.or(Some((what, reason)));
        }
        self
    }

    /// The first block; `None` where words would follow the stream's last.
    fn start(&self) -> Option<u64> {
        if self.n == 0 {
            return Some(0);
        }
        let first = self.random.position.checked_next_multiple_of(WORDS)?;
        first.checked_add(self.n.checked_mul(WORDS)? - 1)?;
        Some(first / 4)
    }

    fn numbers(&self) -> Numbers {
        let block = self.start().unwrap_or_default();
        let ([a, b], [c, d], [e, f]) = (halves(self.random.seed), halves(self.random.stream), halves(block));
        (scalar(a), scalar(b), scalar(c), scalar(d), scalar(e), scalar(f))
    }
}

impl Source for Attempts {
    type Exprs = Blocks;

    fn exprs(&self, next: &mut u16) -> Blocks {
        let (a, b, c, d, low, high) = self.numbers().exprs(next);
        let (blocks, more) = if self.n <= NARROW {
            let i = index().exprs(next);
            (i << SHIFT, i >> (32 - SHIFT))
        } else {
            let i = index64().exprs(next);
            ((i << SHIFT).cast::<u32>(), (i >> (32 - SHIFT)).cast::<u32>())
        };
        let low = low + blocks;
        let high = high + more + low.lt(blocks).cast::<u32>();
        Blocks { generator: self.random.generator, seed: [a, b], stream: [c, d], first: [low, high] }
    }
}

impl<B: Backend> Input<B> for Attempts {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        if let Some((what, reason)) = self.refused {
            return Err(Error::InvalidArgument { what, reason: reason.to_owned() });
        }
        if self.start().is_none() {
            let reason = format!("a stream has 2^64 words, too few for {} elements of {WORDS} from {} on", self.n, self.random.position);
            return Err(Error::InvalidArgument { what: "position", reason });
        }
        c.length(self.n)?;
        self.numbers().collect(c)?;
        if self.n <= NARROW { index().collect(c) } else { index64().collect(c) }
    }
}

impl Blocks {
    /// Block `k` of sixteen.
    pub(super) fn block(&self, k: Expr<u32>) -> [Expr<u32>; 4] {
        let ([a, b], [c, d], [low, high]) = (self.seed, self.stream, self.first);
        let low = low | k;
        match self.generator {
            Generator::Philox => philox::<Symbolic>(PHILOX_ROUNDS, [a, b], [low, high, c, d]),
            Generator::Threefry => threefry::<Symbolic>(THREEFRY_ROUNDS, [a, b, c, d], [low, high, 0u32.into(), 0u32.into()]),
        }
    }
}
