//! Random numbers that are the same on every device: each is a function of a seed, a stream and its place in the stream.
//!
//! A draw is an input as any other: it is computed where it is read, fused into the kernel, and stored nowhere.
//!
//! ```
//! use isowarp::prelude::*;
//!
//! let dev = isowarp::Cpu::new();
//! let r = Random::new(0);
//! assert_eq!(dev.map(r.uniform::<u32>(4), |x| x)?.read_blocking()?, [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
//! // A million points; how many lie inside the circle, without an array of any of them.
//! let points = (r.uniform::<f32>(1 << 20), r.stream(1).uniform::<f32>(1 << 20));
//! let inside = dev.reduce(points.map(|(x, y)| (x * x + y * y).lt(1.0).cast::<u32>()), Sum).run()?.read_blocking()?;
//! assert!((4.0 * f64::from(inside) / f64::from(1 << 20) - std::f64::consts::PI).abs() < 0.005);
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! # The contract
//! The bits of every draw are fixed, whatever the device, the launch, the batch and the number of elements:
//!
//! - A stream is 2^64 words of 32 bits. Word `i` is word `i mod 4` of Philox4x32-10 with the key (seed low, seed high) and the counter
//!   (i/4 low, i/4 high, stream low, stream high). With [`Generator::Threefry`] it is that of Threefry4x32-20 with the key (seed low, seed high, stream low,
//!   stream high) and the counter (i/4 low, i/4 high, 0, 0).
//! - Element `i` of a draw is made of the words at `position + k i` and after it, where `k` is 1, 2 or 64, as the table says. A draw starts at the next multiple
//!   of `k`.
//!
//! | draw | words | value |
//! |---|---|---|
//! | [`uniform`](Random::uniform) `u32`, `u64` | 1, 2 | the word; two words, the first one high |
//! | [`uniform`](Random::uniform) `f32`, `f64` in \[0, 1) | 1, 2 | `(word >> 8) 2^-24`; `(high:low >> 11) 2^-53` |
//! | [`uniform_open`](Random::uniform_open) `f32`, `f64` in (0, 1) | 1, 2 | `((word >> 9) + 1/2) 2^-23`; `((high:low >> 12) + 1/2) 2^-52` |
//! | [`integers`](Random::integers) of `low..high` | 2 | `low + floor((high:low) (high - low) / 2^64)` |
//! | [`normal`](Random::normal), [`log_normal`](Random::log_normal) | 1 | Box-Muller of the pair of words that the element's is in |
//! | [`normal_by_quantile`](Random::normal_by_quantile) | 1 | the quantile of `(word + 1/2) 2^-32` |
//! | [`exponential`](Random::exponential) | 1 | `-ln((word + 1/2) 2^-32)` |
//! | [`normal_f64`](Random::normal_f64) | 2 | Box-Muller of the block of words that the element's are in |
//! | [`normal_by_quantile_f64`](Random::normal_by_quantile_f64) | 2 | the quantile of `(high:low + 1/2) 2^-64` |
//! | [`exponential_f64`](Random::exponential_f64) | 2 | `-ln((high:low + 1/2) 2^-64)` |
//! | [`discrete`](Random::discrete) | 2 | the column and the fraction of `(high:low) k / 2^64` in the alias table |
//! | [`circle`](Random::circle) | 1 | the angle `word 2 pi / 2^32` |
//! | [`sphere`](Random::sphere) | 2 | Archimedes' height and angle |
//! | [`poisson`](Random::poisson), [`poisson_of`](Random::poisson_of), [`binomial`](Random::binomial) | 64 | inversion of the first word, or the first of up to 32 pairs that rejection takes |
//! | [`poisson_table`](Random::poisson_table) | 1 | the column and the place of the word in the [table](PoissonTable) |
//! | [`gamma`](Random::gamma) | 64 | the first of up to 15 blocks that rejection takes; below a shape of 1 the last word as well |
//!
//! [`Sobol`] and [`Halton`] points, and numbers of [`Mrg32k3a`] and [`Xorwow`], have contracts of their own.
//!
//! # Streams, and further numbers
//! A draw does not move the generator, which is plain data: the same [`Random`] gives the same numbers. What comes next is at a later place
//! ([`skip`](Random::skip)), in another [`stream`](Random::stream), or from a generator that is [`split`](Random::split) off.

mod alias;
mod attempts;
mod cipher;
mod double;
mod draws;
mod halton;
mod mrg;
mod one_mean;
mod poisson_table;
mod rejection;
mod sobol;
mod turns;
mod words;
mod xorwow;

pub use alias::Discrete;
pub use attempts::{Attempts, Blocks};
pub use draws::{Bounded, Draws, DrawsOf, Fraction, Uniform};
pub(crate) use draws::{fraction, normals};
pub use halton::{Halton, HaltonCoordinates, MAX_HALTON_DIMENSIONS};
pub use mrg::{Mrg32k3a, MrgNumber, MrgWords};
pub use one_mean::PoissonCounts;
pub use poisson_table::{MAX_TABLE_MEAN, PoissonTable};
pub use rejection::AttemptsOf;
pub use sobol::{Coordinate, Coordinates, MAX_DIMENSIONS, Point, Points, Sobol};
pub use words::{Block, Words};
pub use xorwow::{Xorwow, XorwowWords};

use crate::error::{Error, Result};
use crate::numerics::Native;

/// The bijection that words come from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Generator {
    /// Philox4x32-10: ten rounds of two 64-bit products.
    #[default]
    Philox,
    /// Threefry4x32-20: twenty rounds of sums, rotations and exclusive ors.
    Threefry,
}

/// A place in a stream of random words: the whole state of a generator, as plain data. See the [module](self) for its contract.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let r = Random::new(7);
/// let ten = dev.map(r.uniform::<f32>(10), |x| x)?.read_blocking()?;
/// // The last six by themselves.
/// assert_eq!(dev.map(r.skip(4)?.uniform::<f32>(6), |x| x)?.read_blocking()?, ten[4..]);
/// // Saved and restored, as text too.
/// let (seed, stream, position) = (r.seed, r.stream, r.position);
/// assert_eq!(Random { stream, position, ..Random::new(seed) }, r);
/// assert_eq!(r.skip(4)?.to_string(), "philox:7:0:4");
/// assert_eq!("philox:7:0:4".parse::<Random>()?, r.skip(4)?);
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Random {
    /// The bijection.
    pub generator: Generator,
    /// The key.
    pub seed: u64,
    /// The stream, of 2^64 that a seed has.
    pub stream: u64,
    /// The word of the stream that a draw begins with, of 2^64.
    pub position: u64,
}

impl std::fmt::Display for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Philox => "philox",
            Self::Threefry => "threefry",
        })
    }
}

impl std::str::FromStr for Generator {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        [Self::Philox, Self::Threefry]
            .into_iter()
            .find(|generator| generator.to_string() == name)
            .ok_or_else(|| Error::InvalidArgument { what: "generator", reason: format!("`{name}` is neither philox nor threefry") })
    }
}

/// The generator's name, the seed, the stream and the position, in decimals with colons between them: `philox:7:0:4`.
impl std::fmt::Display for Random {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}:{}", self.generator, self.seed, self.stream, self.position)
    }
}

impl std::str::FromStr for Random {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::InvalidArgument { what: "state", reason: format!("`{text}` is not such as `philox:7:0:4`") };
        let parts: Vec<&str> = text.split(':').collect();
        let &[generator, seed, stream, position] = &parts[..] else { return Err(wrong()) };
        let number = |digits: &str| if digits.starts_with('+') { Err(wrong()) } else { digits.parse::<u64>().map_err(|_| wrong()) };
        Ok(Self { generator: generator.parse()?, seed: number(seed)?, stream: number(stream)?, position: number(position)? })
    }
}

impl Random {
    /// The start of stream 0 of a seed, by Philox.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { generator: Generator::Philox, seed, stream: 0, position: 0 }
    }

    /// The same by another generator.
    #[must_use]
    pub const fn by(self, generator: Generator) -> Self {
        Self { generator, ..self }
    }

    /// The start of another stream of the seed: independent of all others.
    #[must_use]
    pub const fn stream(self, stream: u64) -> Self {
        Self { stream, position: 0, ..self }
    }

    /// So many words further on in the stream: past a draw, its elements times the [words](self) of each.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] past the last of 2^64 words.
    pub fn skip(self, words: u64) -> Result<Self> {
        let position = self.position.checked_add(words).ok_or_else(|| Error::InvalidArgument {
            what: "position",
            reason: format!("a stream has 2^64 words, of which {words} do not follow {}", self.position),
        })?;
        Ok(Self { position, ..self })
    }

    /// The `k`-th generator that is derived from this state, for a part of a program that draws on its own: stream 0 of a seed that is the first two words of
    /// Threefry4x32-20 with the key (seed, stream) and the counter (`k`, position low, position high, 1), which no draw uses.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// let r = Random::new(7);
    /// let [a, b] = [0, 1].map(|k| r.split(k));
    /// assert!(a.seed != b.seed && a.split(0) != b.split(0));
    /// assert_eq!(r.split(1), b);
    /// ```
    #[must_use]
    pub fn split(self, k: u32) -> Self {
        let ([a, b], [c, d], [e, f]) = (halves(self.seed), halves(self.stream), halves(self.position));
        let [low, high, ..] = cipher::threefry::<Native>(cipher::THREEFRY_ROUNDS, [a, b, c, d], [k, e, f, 1]);
        Self { generator: self.generator, ..Self::new(u64::from(high) << 32 | u64::from(low)) }
    }

    /// The word at the position, on the host.
    #[must_use]
    pub fn word(self) -> u32 {
        let block = cipher::block::<Native>(self.generator, halves(self.seed), halves(self.stream), halves(self.position / 4));
        block[(self.position % 4) as usize]
    }
}

/// The low and the high word.
const fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::{Generator, Random};

    #[test]
    fn states_are_read_from_their_texts_and_nothing_else_is() {
        for state in [Random::default(), Random { generator: Generator::Threefry, seed: u64::MAX, stream: 1, position: u64::MAX }] {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
        for text in [
            "",
            "philox",
            "philox:1:2",
            "philox:1:2:3:4",
            "mrg:1:2:3",
            "philox:1:-2:3",
            "philox:1:+2:3",
            "philox: 1:2:3",
            "philox:1:2:99999999999999999999",
        ] {
            assert!(text.parse::<Random>().is_err(), "{text}");
        }
    }
}
