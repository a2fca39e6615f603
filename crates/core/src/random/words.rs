//! Words of a stream as an input: the block of four words that an element's are in.

use super::cipher::{philox, threefry};
use super::{Generator, PHILOX_ROUNDS, Random, THREEFRY_ROUNDS, halves};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::input::{Collector, HostScalar, Input, Source, index, index64, scalar};
use crate::ir::{Expr, Symbolic, select};

/// Words of a stream, so many to an element.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Words {
    random: Random,
    n: u64,
    each: Each,
    /// The argument of the draw that is refused, and why.
    refused: Option<(&'static str, &'static str)>,
}

/// Words of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Each {
    One = 1,
    Two = 2,
}

/// A block of words, and which of them are the element's.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Block {
    words: [Expr<u32>; 4],
    /// The element's number in the block.
    at: Expr<u32>,
    each: Each,
}

/// The most elements that a `u32` numbers.
const NARROW: u64 = 1 << 32;

type Numbers = (HostScalar<u32>, HostScalar<u32>, HostScalar<u32>, HostScalar<u32>, HostScalar<u32>, HostScalar<u32>);

impl Words {
    pub(super) fn new(random: Random, n: u64, each: Each) -> Self {
        Self { random, n, each, refused: None }
    }

    /// Refuses the draw unless its argument is right.
    pub(super) fn require(mut self, holds: bool, what: &'static str, reason: &'static str) -> Self {
        if !holds {
            self.refused = self.refused.or(Some((what, reason)));
        }
        self
    }

    /// The first block, and elements of it before the first one; `None` where words would follow the stream's last.
    fn start(&self) -> Option<(u64, u32)> {
        let each = self.each as u64;
        if self.n == 0 {
            return Some((0, 0));
        }
        let first = self.random.position.checked_next_multiple_of(each)?;
        first.checked_add(self.n.checked_mul(each)? - 1)?;
        Some((first / 4, (first % 4 / each) as u32))
    }

    /// Numbers of a launch, which are no part of the kernel, and whether the first element begins a block, which is.
    fn numbers(&self) -> (Numbers, bool) {
        let (block, before) = self.start().unwrap_or_default();
        let ([a, b], [c, d], [e, f]) = (halves(self.random.seed), halves(self.random.stream), halves(block));
        ((scalar(a), scalar(b), scalar(c), scalar(d), scalar(e), scalar(f | before << 30)), before == 0)
    }
}

impl Source for Words {
    type Exprs = Block;

    fn exprs(&self, next: &mut u16) -> Block {
        let (numbers, whole) = self.numbers();
        let (a, b, c, d, low, high) = numbers.exprs(next);
        // A block has 2^shift elements.
        let shift = if self.each == Each::One { 2 } else { 1 };
        let mask = (1u32 << shift) - 1;
        let (high, before) = if whole { (high, None) } else { (high & (u32::MAX >> 2), Some(high >> 30)) };
        let (at, blocks, more) = if self.n <= NARROW {
            let i = index().exprs(next);
            match before {
                None => (i & mask, i >> shift, None),
                Some(before) => {
                    let i = i + before;
                    (i & mask, (i >> shift) | (i.lt(before).cast::<u32>() << (32 - shift)), None)
                }
            }
        } else {
            let i = index64().exprs(next);
            let i = before.map_or(i, |before| i + before.cast::<u64>());
            (i.cast::<u32>() & mask, (i >> shift).cast::<u32>(), Some((i >> (32 + shift)).cast::<u32>()))
        };
        let low = low + blocks;
        let high = more.map_or(high, |more| high + more) + low.lt(blocks).cast::<u32>();
        let words = match self.random.generator {
            Generator::Philox => philox::<Symbolic>(PHILOX_ROUNDS, [a, b], [low, high, c, d]),
            Generator::Threefry => threefry::<Symbolic>(THREEFRY_ROUNDS, [a, b, c, d], [low, high, 0u32.into(), 0u32.into()]),
        };
        Block { words, at, each: self.each }
    }
}

impl<B: Backend> Input<B> for Words {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        if let Some((what, reason)) = self.refused {
            return Err(Error::InvalidArgument { what, reason: reason.to_owned() });
        }
        if self.start().is_none() {
            let reason = format!("a stream has 2^64 words, too few for {} elements from {} on", self.n, self.random.position);
            return Err(Error::InvalidArgument { what: "position", reason });
        }
        c.length(self.n)?;
        self.numbers().0.collect(c)?;
        if self.n <= NARROW { index().collect(c) } else { index64().collect(c) }
    }
}

impl Block {
    /// The word of an element of one.
    pub(super) fn word(self) -> Expr<u32> {
        let (even, odd) = self.pair();
        select(self.is_odd(), odd, even)
    }

    /// The two words of an element of two, and of one the pair that its word is in.
    pub(super) fn pair(self) -> (Expr<u32>, Expr<u32>) {
        let [a, b, c, d] = self.words;
        let second = match self.each {
            Each::One => (self.at & 2).ne(0),
            Each::Two => self.at.ne(0),
        };
        (select(second, c, a), select(second, d, b))
    }

    /// Whether an element of one word is the second of its pair.
    pub(super) fn is_odd(self) -> Expr<bool> {
        (self.at & 1).ne(0)
    }
}
