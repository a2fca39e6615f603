//! Words of a stream as an input: the block of four words that an element's are in.

use super::{Random, cipher, halves};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::input::{Collector, HostScalar, Input, Source, index, index64, scalar};
use crate::ir::{Expr, Symbolic, select};

/// Elements of a draw, each of so many words of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    pub(super) random: Random,
    n: u64,
    each: u64,
    /// The argument of the draw that is refused, and why.
    refused: Option<(&'static str, &'static str)>,
}

/// The most elements that a `u32` numbers.
const NARROW: u64 = 1 << 32;

type Numbers = (HostScalar<u32>, HostScalar<u32>, HostScalar<u32>, HostScalar<u32>, HostScalar<u32>, HostScalar<u32>);

impl Draw {
    pub(super) fn new(random: Random, n: u64, each: u64) -> Self {
        Self { random, n, each, refused: None }
    }

    /// Refuses the draw unless its argument is right.
    pub(super) fn require(&mut self, holds: bool, what: &'static str, reason: &'static str) {
        if !holds {
            self.refused = self.refused.or(Some((what, reason)));
        }
    }

    /// Whether a `u32` numbers the elements.
    pub(super) fn is_narrow(&self) -> bool {
        self.n <= NARROW
    }

    /// The first word; `None` where words would follow the stream's last.
    pub(super) fn first(&self) -> Option<u64> {
        if self.n == 0 {
            return Some(0);
        }
        let first = self.random.position.checked_next_multiple_of(self.each)?;
        first.checked_add(self.n.checked_mul(self.each)? - 1)?;
        Some(first)
    }

    /// Numbers of a launch, which are no part of the kernel: seed, stream, and the first block, with bits that its number leaves free.
    pub(super) fn numbers(&self, above: u32) -> Numbers {
        let block = self.first().unwrap_or_default() / 4;
        let ([a, b], [c, d], [e, f]) = (halves(self.random.seed), halves(self.random.stream), halves(block));
        (scalar(a), scalar(b), scalar(c), scalar(d), scalar(e), scalar(f | above))
    }

    pub(super) fn collect<B: Backend>(&self, above: u32, c: &mut Collector<B>) -> Result<()> {
        if let Some((what, reason)) = self.refused {
            return Err(Error::InvalidArgument { what, reason: reason.to_owned() });
        }
        if self.first().is_none() {
            let reason =
                format!("a stream has 2^64 words, too few for {} elements of {} from {} on", self.n, self.each, self.random.position);
            return Err(Error::InvalidArgument { what: "position", reason });
        }
        c.length(self.n)?;
        self.numbers(above).collect(c)?;
        if self.is_narrow() { index().collect(c) } else { index64().collect(c) }
    }
}

/// Words of a stream, one or two to an element.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Words {
    draw: Draw,
    each: Each,
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

impl Words {
    pub(super) fn new(random: Random, n: u64, each: Each) -> Self {
        Self { draw: Draw::new(random, n, each as u64), each }
    }

    /// Refuses the draw unless its argument is right.
    pub(super) fn require(mut self, holds: bool, what: &'static str, reason: &'static str) -> Self {
        self.draw.require(holds, what, reason);
        self
    }

    /// Elements of the first block before the first one.
    fn before(&self) -> u32 {
        (self.draw.first().unwrap_or_default() % 4 / self.each as u64) as u32
    }
}

impl Source for Words {
    type Exprs = Block;

    fn exprs(&self, next: &mut u16) -> Block {
        let (a, b, c, d, low, high) = self.draw.numbers(self.before() << 30).exprs(next);
        // The kernel depends on whether the first element begins a block.
        let whole = self.before() == 0;
        // A block has 2^shift elements.
        let shift = if self.each == Each::One { 2 } else { 1 };
        let mask = (1u32 << shift) - 1;
        let (high, before) = if whole { (high, None) } else { (high & (u32::MAX >> 2), Some(high >> 30)) };
        let (at, blocks, more) = if self.draw.is_narrow() {
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
        let words = cipher::block::<Symbolic>(self.draw.random.generator, [a, b], [c, d], [low, high]);
        Block { words, at, each: self.each }
    }
}

impl<B: Backend> Input<B> for Words {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.draw.collect(self.before() << 30, c)
    }
}

impl Block {
    /// Four words that are not of a stream, of which element `at` of an array has its own.
    pub(super) fn of_four(words: [Expr<u32>; 4], at: Expr<u32>) -> Self {
        Self { words, at: at & 3, each: Each::One }
    }

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

    /// All four words.
    pub(super) fn words(self) -> [Expr<u32>; 4] {
        self.words
    }

    /// Whether an element is the second of its pair.
    pub(super) fn is_odd(self) -> Expr<bool> {
        (self.at & 1).ne(0)
    }
}
