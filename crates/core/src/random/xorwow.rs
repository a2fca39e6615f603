//! Marsaglia's XORWOW, by jumps: each number is a function of its place.

mod jumps;

use super::draws::{self, Function, Parameters, above_zero};
use super::sobol::Coordinate;
use super::words::Block;
use crate::backend::Backend;
use crate::buffer::{Buffer, Memory as _};
use crate::error::{Error, Result};
use crate::input::{Collector, HostScalar, Input, Mapped, Source, array, index, scalar};
use crate::ir::{ArrayExpr, Expr, lit, repeat, select};
use crate::patterns::{Map as _, Patterns};
use jumps::{ENTRIES, LEVEL, LOG_RADIX, LOG_SPAN, MATRIX, NIBBLE, NIBBLES, RADIX, SPAN, State, WORDS};

/// The most numbers of a draw.
const MOST: u64 = 1 << 32;
/// The most states that the host computes for a draw.
const FEW: u64 = 256;
/// Subsequences that `curandGenerate` takes turns with, as a power of two.
const LOG_LANES: u32 = 12;
/// Step of the Weyl sequence.
const WEYL: u32 = 362_437;

/// Numbers of XORWOW, the generator that cuRAND and rocRAND have by default, of period 2^192 - 2^32 with subsequences 2^67 apart: for results of programs that
/// draw from it. [`Random`](super::Random) is faster, and passes tests of linear complexity that this generator fails.
///
/// Number `i` is the state's `i`-th successor. Five words of the state follow each other by shifts and exclusive ors, so that a jump is a product with a matrix
/// of 160 by 160 bits. A draw is prepared by the device: it keeps the state of every 32nd number, and has the others computed from these where they are read.
///
/// ```
/// # use isowarp::prelude::*;
/// # use isowarp::random::Xorwow;
/// # let dev = isowarp::Cpu::new();
/// let r = Xorwow::new(&dev, 0)?;
/// let first = dev.map(r.uniform::<u32>(3)?, |x| x)?.read_blocking()?;
/// // Numbers after curand_init(0, 0, 0, &state).
/// assert_eq!(first, [3179217846, 1883133293, 2220552389]);
/// // Numbers further on, and of the next subsequence.
/// assert_eq!(dev.map(r.skip(2).uniform::<u32>(1)?, |x| x)?.read_blocking()?, first[2..]);
/// assert_eq!(dev.map(r.subsequence(1).uniform::<u32>(1)?, |x| x)?.read_blocking()?, [3955638199]);
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// Source: Marsaglia, *Xorshift RNGs* (2003).
#[derive(Clone, Debug)]
pub struct Xorwow<B: Backend> {
    device: B,
    table: Buffer<B, u32>,
    words: State,
    weyl: u32,
    /// Subsequences that numbers are taken from in turn, as a power of two.
    log_lanes: u32,
}

impl<B: Patterns> Xorwow<B> {
    /// Subsequences that [`interleaved`](Self::interleaved) numbers are taken from in turn.
    pub const LANES: u64 = 1 << LOG_LANES;

    /// The generator after cuRAND's `curand_init(seed, 0, 0, &state)`: Marsaglia's state, to whose words products of the seed's halves are added. Its further
    /// arguments are [`subsequence`](Self::subsequence) and [`skip`](Self::skip).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: a table takes 1 MB of the device.
    pub fn new(device: &B, seed: u64) -> Result<Self> {
        Self::salted(device, seed, [0xaad2_6b49, 0xf7dc_efdd], [1_099_087_573, 2_591_861_531])
    }

    /// The same after rocRAND's `rocrand_init(seed, 0, 0, &state)`, which has factors of its own.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn rocrand(device: &B, seed: u64) -> Result<Self> {
        Self::salted(device, seed, [0x2c7f_967f, 0xa036_97cb], [1_228_688_033, 2_073_658_381])
    }

    /// Marsaglia's state with the seed's halves, changed by `salt`, times `factors`.
    fn salted(device: &B, seed: u64, salt: [u32; 2], factors: [u32; 2]) -> Result<Self> {
        let half = |k: usize| ((seed >> (32 * k)) as u32 ^ salt[k]).wrapping_mul(factors[k]);
        let (a, b) = (half(0), half(1));
        let words =
            [123_456_789u32.wrapping_add(a), 362_436_069 ^ a, 521_288_629u32.wrapping_add(b), 88_675_123 ^ b, 5_783_321u32.wrapping_add(a)];
        Self::from_state(device, words, 6_615_241u32.wrapping_add(a).wrapping_add(b))
    }

    /// The generator in a state of five words, the oldest first, and one of the Weyl sequence, which the first number follows. Marsaglia's own is
    /// `[123456789, 362436069, 521288629, 88675123, 5783321]` and 6615241.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the five words are zero; [`Error::OutOfMemory`].
    pub fn from_state(device: &B, words: [u32; 5], weyl: u32) -> Result<Self> {
        if words == [0; 5] {
            return Err(Error::InvalidArgument { what: "state", reason: "its five words are zero, and would stay so".to_owned() });
        }
        Ok(Self { device: device.clone(), table: device.upload(jumps::table())?, words, weyl, log_lanes: 0 })
    }

    /// So many numbers further on: the offset of cuRAND and rocRAND. Past the end of a subsequence the next one begins.
    #[must_use]
    pub fn skip(&self, numbers: u64) -> Self {
        let weyl = self.weyl.wrapping_add((numbers as u32).wrapping_mul(WEYL));
        Self { words: jumps::jumped(self.words, 0, numbers), weyl, ..self.clone() }
    }

    /// A subsequence of its own, so many times 2^67 numbers further on.
    #[must_use]
    pub fn subsequence(&self, subsequence: u64) -> Self {
        // 2^67 steps leave the Weyl sequence's 32 bits as they are.
        Self { words: jumps::jumped(self.words, jumps::LOG_SUBSEQUENCE, subsequence), ..self.clone() }
    }

    /// The same numbers in the order in which cuRAND's host interface writes them (`curandGenerate` by default): number `n` is number `n / 4096` of the
    /// subsequence `n mod 4096` further on. To [`skip`](Self::skip) there goes on in each of them, so an offset of `4096 k` is a skip of `k`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # use isowarp::random::Xorwow;
    /// # let dev = isowarp::Cpu::new();
    /// let r = Xorwow::new(&dev, 0)?;
    /// // Numbers of curandGenerate with seed 0.
    /// let all = dev.map(r.interleaved().uniform::<u32>(10_000)?, |x| x)?.read_blocking()?;
    /// assert_eq!((all[0], all[1], all[4096]), (3179217846, 3955638199, 1883133293));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn interleaved(&self) -> Self {
        Self { log_lanes: LOG_LANES, ..self.clone() }
    }

    /// `n` numbers, at most 2^32: words for `u32`, `(word >> 8) 2^-24` for `f32`, `word 2^-32` for `f64`.
    ///
    /// The draw keeps 20 bytes for every 32 numbers, [interleaved](Self::interleaved) 80 KB at least, which up to five short launches compute.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more numbers; errors of a [`map`](crate::patterns::Map::map).
    pub fn uniform<T: Coordinate>(&self, n: u64) -> Result<Mapped<XorwowWords<B>, fn(Block) -> Expr<T>>> {
        Ok(self.words(n)?.map(|block| T::of_word(block.word())))
    }

    /// `n` numbers in (0, 1] as of `curand_uniform`: `(word + 1/2) 2^-32`, the word rounded to `f32` before, and their sum after.
    ///
    /// # Errors
    /// As [`uniform`](Self::uniform).
    pub fn uniform_above_zero(&self, n: u64) -> Result<Mapped<XorwowWords<B>, fn(Block) -> Expr<f32>>> {
        Ok(self.words(n)?.map(|block| above_zero(block.word())))
    }

    /// `n` normal numbers of this mean and standard deviation: [`Random::normal`](super::Random::normal) of these words, of which numbers `2 k` and `2 k + 1` of
    /// a subsequence are a pair. cuRAND makes its normal numbers of the same words, with functions of its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # use isowarp::random::Xorwow;
    /// # let dev = isowarp::Cpu::new();
    /// let heights = Xorwow::new(&dev, 5)?.normal(10_000, 170.0, 8.0)?;
    /// assert!((dev.mean(&dev.map(heights, |x| x)?)?.read_blocking()? - 170.0).abs() < 0.3);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`uniform`](Self::uniform); [`Error::InvalidArgument`] where the mean or the deviation is not finite, or that is negative.
    pub fn normal(&self, n: u64, mean: f32, deviation: f32) -> Result<Mapped<(XorwowWords<B>, Parameters), Function>> {
        self.scaled(n, mean, deviation, draws::normal)
    }

    /// The same by the quantile function: [`Random::normal_by_quantile`](super::Random::normal_by_quantile).
    ///
    /// # Errors
    /// As [`normal`](Self::normal).
    pub fn normal_by_quantile(&self, n: u64, mean: f32, deviation: f32) -> Result<Mapped<(XorwowWords<B>, Parameters), Function>> {
        self.scaled(n, mean, deviation, draws::normal_by_quantile)
    }

    /// `n` numbers whose logarithms are [normal](Self::normal).
    ///
    /// # Errors
    /// As [`normal`](Self::normal).
    pub fn log_normal(&self, n: u64, mean: f32, deviation: f32) -> Result<Mapped<(XorwowWords<B>, Parameters), Function>> {
        self.scaled(n, mean, deviation, draws::log_normal)
    }

    /// `n` exponential numbers of this mean: [`Random::exponential`](super::Random::exponential).
    ///
    /// # Errors
    /// As [`uniform`](Self::uniform); [`Error::InvalidArgument`] where the mean is negative or not finite.
    #[allow(clippy::type_complexity, reason = "an input's type says what it reads")]
    pub fn exponential(&self, n: u64, mean: f32) -> Result<Mapped<(XorwowWords<B>, HostScalar<f32>), fn((Block, Expr<f32>)) -> Expr<f32>>> {
        require(mean.is_finite() && mean >= 0.0, "mean", "it is negative or not finite")?;
        Ok((self.words(n)?, scalar(mean)).map(draws::exponential))
    }

    fn scaled(&self, n: u64, mean: f32, deviation: f32, f: Function) -> Result<Mapped<(XorwowWords<B>, Parameters), Function>> {
        require(mean.is_finite(), "mean", "it is not finite")?;
        require(deviation.is_finite() && deviation >= 0.0, "deviation", "it is negative or not finite")?;
        Ok((self.words(n)?, (scalar(mean), scalar(deviation))).map(f))
    }

    /// The draw: the states of few of its numbers by the host, and each launch those of 16 times as many.
    fn words(&self, n: u64) -> Result<XorwowWords<B>> {
        if n > MOST {
            return Err(Error::TooLarge { what: "numbers of a draw", requested: n, limit: MOST });
        }
        let lanes = 1u64 << self.log_lanes;
        // States of each subsequence.
        let count = |level: u32| n.div_ceil(lanes).div_ceil(u64::from(SPAN) << (LOG_RADIX * level));
        let few = (FEW / lanes).max(1);
        let mut level = (0..jumps::LEVELS).find(|level| count(*level) <= few).unwrap_or(jumps::LEVELS);
        let host = jumps::states(self.words, (LOG_SPAN + LOG_RADIX * level) as usize).take(count(level) as usize);
        let host: Vec<u32> = host.flat_map(|state| jumps::states(state, jumps::LOG_SUBSEQUENCE).take(lanes as usize)).flatten().collect();
        let mut states = self.device.upload(&host)?;
        while level > 0 {
            level -= 1;
            let inputs = (array(&self.table), scalar(level * LEVEL), scalar(self.log_lanes), array(&states), index());
            states = self.device.generate(count(level) * lanes * u64::from(WORDS), inputs, word_of_state)?;
        }
        Ok(XorwowWords { states, weyl: self.weyl.wrapping_add(WEYL), log_lanes: self.log_lanes, n })
    }
}

fn require(holds: bool, what: &'static str, reason: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::InvalidArgument { what, reason: reason.to_owned() }) }
}

type Jump = (ArrayExpr<u32>, Expr<u32>, Expr<u32>, ArrayExpr<u32>, Expr<u32>);

/// Word `i mod 5` of state `i / 5`, from the state that it is a digit's jump after, four bits of it at a time. States of the subsequences stand side by side.
fn word_of_state((table, level, log_lanes, states, i): Jump) -> Expr<u32> {
    let state = i / WORDS;
    let span = state >> log_lanes;
    let lane = state - (span << log_lanes);
    let matrix = level + (span & (RADIX - 1)) * MATRIX + (i - state * WORDS);
    let before = (((span >> LOG_RADIX) << log_lanes) + lane) * WORDS;
    let (_, word) = repeat(WORDS, (lit(0u32), lit(0u32)), |(k, all)| {
        let (part, at) = (states.at(before + k), matrix + k * (NIBBLES * ENTRIES * WORDS));
        let image = |nibble: u32| table.at(at + (nibble * ENTRIES * WORDS) + ((part >> (nibble * NIBBLE)) & (ENTRIES - 1)) * WORDS);
        (k + 1, (0..NIBBLES).fold(all, |all, nibble| all ^ image(nibble)))
    });
    word
}

/// Numbers as words.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct XorwowWords<B: Backend> {
    states: Buffer<B, u32>,
    weyl: u32,
    log_lanes: u32,
    n: u64,
}

type Leaves<'a, B> = (crate::input::Array<'a, B, u32>, HostScalar<u32>, crate::input::Index<u32>);

impl<B: Backend> XorwowWords<B> {
    fn leaves(&self) -> Leaves<'_, B> {
        (array(&self.states), scalar(self.weyl), index())
    }
}

/// The state `unit` steps on as many times as the last bits of `times` say.
fn walked(mut words: [Expr<u32>; 5], (times, bits): (Expr<u32>, u32), unit: u32) -> [Expr<u32>; 5] {
    for bit in (0..bits).rev() {
        let (on, later) = ((times & (1 << bit)).ne(0), stepped(words, unit << bit));
        words = core::array::from_fn(|k| select(on, later[k], words[k]));
    }
    words
}

/// The five words of a state so many steps on.
fn stepped(mut words: [Expr<u32>; 5], steps: u32) -> [Expr<u32>; 5] {
    for _ in 0..steps {
        let [a, b, c, d, e] = words;
        let t = a ^ (a >> 2);
        words = [b, c, d, e, e ^ (e << 4) ^ t ^ (t << 1)];
    }
    words
}

impl<B: Backend> Source for XorwowWords<B> {
    /// The words of four numbers of a subsequence, and which of them is the element's.
    type Exprs = Block;

    fn exprs(&self, next: &mut u16) -> Block {
        let (states, weyl, i) = self.leaves().exprs(next);
        let state = |number: Expr<u32>| core::array::from_fn(|k| states.at(number * WORDS + k as u32));
        // Of one subsequence four neighbours share all but the choice of the word.
        let (number, span) = match self.log_lanes {
            0 => (i, i >> LOG_SPAN),
            lanes => (i >> lanes, ((i >> (lanes + LOG_SPAN)) << lanes) + (i & ((1 << lanes) - 1))),
        };
        let words = walked(state(span), (number >> 2, LOG_SPAN - 2), 4);
        let [_, a, b, c, d] = stepped(words, 4);
        let first = weyl + (number >> 2) * (WEYL * 4);
        Block::of_four([a + first, b + (first + WEYL), c + (first + 2 * WEYL), d + (first + 3 * WEYL)], number)
    }
}

impl<B: Backend> Input<B> for XorwowWords<B> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        c.length(self.n)?;
        self.leaves().collect(c)
    }
}
