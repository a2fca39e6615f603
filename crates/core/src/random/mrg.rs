//! L'Ecuyer's combined multiple recursive generator MRG32k3a, by jumps: each number is a function of its place.

use super::draws::{fraction, power64};
use crate::backend::Backend;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Mapped, Source, array, index, scalar};
use crate::ir::{ArrayExpr, Expr, lit, next_while, repeat, select};

/// The moduli's distances from 2^32.
const BELOW: [u32; 2] = [209, 22_853];

type Matrix = [[u64; 3]; 3];

/// A step of either recurrence.
const STEP: [Matrix; 2] =
    [[[0, 1, 0], [0, 0, 1], [modulus(0) - 810_728, 1_403_580, 0]], [[0, 1, 0], [0, 0, 1], [modulus(1) - 1_370_589, 0, 527_612]]];

/// Values of a digit of a place.
const RADIX: u32 = 16;
/// Digits of a place.
const DIGITS: u32 = 8;
/// Words of the matrices of both recurrences.
const STRIDE: u32 = 18;

const fn modulus(k: usize) -> u64 {
    (1 << 32) - BELOW[k] as u64
}

fn product(k: usize, a: &Matrix, b: &Matrix) -> Matrix {
    let cell = |i: usize, j: usize| (0..3).fold(0, |sum, l| (sum + a[i][l] * b[l][j] % modulus(k)) % modulus(k));
    core::array::from_fn(|i| core::array::from_fn(|j| cell(i, j)))
}

fn power(k: usize, mut of: Matrix, mut n: u64) -> Matrix {
    let mut all = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    while n > 0 {
        if n & 1 == 1 {
            all = product(k, &all, &of);
        }
        of = product(k, &of, &of);
        n >>= 1;
    }
    all
}

/// Numbers of MRG32k3a, a generator of period 2^191 with streams 2^127 apart and substreams 2^76 apart, as of L'Ecuyer's `RngStreams`: for results of
/// programs that draw from it. [`Random`](super::Random) is faster.
///
/// Number `i` is the state's `i`-th successor, which eight products of matrices find, one for each digit of `i` in base 16, so that a draw is an input as any
/// other.
///
/// ```
/// # use isowarp::prelude::*;
/// # use isowarp::random::Mrg32k3a;
/// # let dev = isowarp::Cpu::new();
/// let r = Mrg32k3a::new(&dev, [12345; 6])?;
/// let first = dev.map(r.uniform::<f64>(3), |x| x)?.read_blocking()?;
/// assert_eq!(first, [0.12701112204657714, 0.3185275653967945, 0.3091860155832701]);
/// // As far on, or in a stream of its own.
/// assert_eq!(dev.map(r.skip(2).uniform::<f64>(1), |x| x)?.read_blocking()?, first[2..]);
/// assert_ne!(dev.map(r.stream(1).uniform::<f64>(1), |x| x)?.read_blocking()?, first[..1]);
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// Source: L'Ecuyer, *Good parameters and implementations for combined multiple recursive random number generators* (1999); L'Ecuyer, Simard, Chen and
/// Kelton, *An object-oriented random-number package with many long streams and substreams* (2002).
#[derive(Clone, Debug)]
pub struct Mrg32k3a<B: Backend> {
    table: Buffer<B, u32>,
    state: [[u32; 3]; 2],
}

impl<B: Backend> Mrg32k3a<B> {
    /// The generator in a state of two times three words, the oldest first, which the first number follows.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the first three words are zero, or one of them is not below 2^32 - 209, or the others zero, or not below 2^32 - 22853.
    pub fn new(device: &B, seed: [u32; 6]) -> Result<Self> {
        let [a, b, c, d, e, f] = seed;
        let state = [[a, b, c], [d, e, f]];
        for (k, words) in state.iter().enumerate() {
            if *words == [0; 3] || words.iter().any(|word| u64::from(*word) >= modulus(k)) {
                let reason = format!("{words:?} are zero, or not below {}", modulus(k));
                return Err(Error::InvalidArgument { what: "seed", reason });
            }
        }
        let mut table = Vec::with_capacity((DIGITS * RADIX * STRIDE) as usize);
        for digit in 0..DIGITS {
            let base = [0, 1].map(|k| power(k, STEP[k], u64::from(RADIX).pow(digit)));
            for value in 0..RADIX {
                for (k, base) in base.iter().enumerate() {
                    table.extend(power(k, *base, value.into()).as_flattened().iter().map(|x| *x as u32));
                }
            }
        }
        Ok(Self { table: device.upload(&table)?, state })
    }

    /// cuRAND's generator of this seed: its subsequences, below 2^51, are [`substream`](Self::substream)s, its offsets [`skip`](Self::skip), and the words are those of
    /// `curand_MRG32k3a`, of which cuRAND makes floats by a factor of its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # use isowarp::random::Mrg32k3a;
    /// # let dev = isowarp::Cpu::new();
    /// // `curand_init(0, 0, 0, &state)`, whose state is L'Ecuyer's.
    /// let r = Mrg32k3a::curand(&dev, 0)?;
    /// assert_eq!(dev.map(r.uniform::<u32>(2), |x| x)?.read_blocking()?, [545508589, 1368065410]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for 0xaaaaaaaa55555555, of which cuRAND makes a state of zeros.
    pub fn curand(device: &B, seed: u64) -> Result<Self> {
        const START: u64 = 12_345;
        let (x, y) = (u64::from(seed as u32 ^ 0x5555_5555), seed >> 32 ^ 0xaaaa_aaaa);
        let word = |k: usize, factor: u64| if seed == 0 { START as u32 } else { (factor * START % modulus(k)) as u32 };
        Self::new(device, [word(0, x), word(0, y), word(0, x), word(1, y), word(1, x), word(1, y)])
    }

    /// So many numbers further on.
    #[must_use]
    pub fn skip(&self, numbers: u64) -> Self {
        self.jumped(0, numbers)
    }

    /// A stream of its own, so many times 2^127 numbers further on.
    #[must_use]
    pub fn stream(&self, stream: u64) -> Self {
        self.jumped(127, stream)
    }

    /// A part of a stream, so many times 2^76 numbers further on.
    #[must_use]
    pub fn substream(&self, substream: u64) -> Self {
        self.jumped(76, substream)
    }

    fn jumped(&self, doublings: u32, times: u64) -> Self {
        let state = core::array::from_fn(|k| {
            let step = (0..doublings).fold(STEP[k], |all, _| product(k, &all, &all));
            let by = power(k, step, times);
            let word = |row: &[u64; 3]| (0..3).fold(0, |sum, l| (sum + row[l] * u64::from(self.state[k][l]) % modulus(k)) % modulus(k));
            [word(&by[0]) as u32, word(&by[1]) as u32, word(&by[2]) as u32]
        });
        Self { table: self.table.clone(), state }
    }

    /// `n` numbers, at most 2^32: words from 1 to 2^32 - 209 for `u32`, `((word - 1) >> 8) 2^-24` in `f32`, and `word / (2^32 - 208)` in `f64`, by a
    /// product with the reciprocal, as L'Ecuyer's program has it.
    #[must_use]
    pub fn uniform<T: MrgNumber>(&self, n: u64) -> Mapped<MrgWords<'_, B>, fn(Expr<u32>) -> Expr<T>> {
        MrgWords { of: self, n }.map(T::of_word)
    }
}

/// Types of [`Mrg32k3a`]'s numbers.
pub trait MrgNumber: Element<Reg = Self> + Scalar {
    /// The number.
    #[doc(hidden)]
    fn of_word(word: Expr<u32>) -> Expr<Self>;
}

impl MrgNumber for u32 {
    fn of_word(word: Expr<u32>) -> Expr<u32> {
        word
    }
}

impl MrgNumber for f32 {
    fn of_word(word: Expr<u32>) -> Expr<f32> {
        fraction(word - 1)
    }
}

impl MrgNumber for f64 {
    fn of_word(word: Expr<u32>) -> Expr<f64> {
        word.cast::<f64>() * (1.0 / (1.0 / power64(-32) - 208.0))
    }
}

/// Numbers as words.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct MrgWords<'a, B: Backend> {
    of: &'a Mrg32k3a<B>,
    n: u64,
}

type Three = (Expr<u32>, Expr<u32>, Expr<u32>);

/// The sum of two residues.
fn sum(k: usize, a: Expr<u32>, b: Expr<u32>) -> Expr<u32> {
    let sum = a + b;
    reduced(k, sum + sum.lt(a).cast::<u32>() * BELOW[k])
}

fn reduced(k: usize, x: Expr<u32>) -> Expr<u32> {
    let m = modulus(k) as u32;
    select(x.ge(m), x - m, x)
}

/// The product of two residues: 2^32 is the modulus's distance from it, twice.
fn times(k: usize, a: Expr<u32>, b: Expr<u32>) -> Expr<u32> {
    let (high, low) = (a.mul_hi(b), a * b);
    let first = low + high * BELOW[k];
    let carried = high.mul_hi(BELOW[k]) + first.lt(low).cast::<u32>();
    let by = carried * BELOW[k];
    let second = first + by;
    reduced(k, second + second.lt(by).cast::<u32>() * BELOW[k])
}

impl<B: Backend> Source for MrgWords<'_, B> {
    type Exprs = Expr<u32>;

    fn exprs(&self, next: &mut u16) -> Expr<u32> {
        let state = self.of.state.map(|[a, b, c]| (scalar(a), scalar(b), scalar(c)));
        let (table, a, b, i): (ArrayExpr<u32>, Three, Three, Expr<u32>) = (array(&self.of.table), state[0], state[1], index()).exprs(next);
        let row = |k: usize, at: Expr<u32>, v: Three| {
            let terms = sum(k, times(k, table.at(at), v.0), times(k, table.at(at + 1), v.1));
            sum(k, terms, times(k, table.at(at + 2), v.2))
        };
        let turned = |k: usize, at: Expr<u32>, v: Three| (row(k, at, v), row(k, at + 3, v), row(k, at + 6, v));
        let (a, b, ..) = repeat(DIGITS, (a, b, i, lit(0u32)), |(a, b, rest, digit)| {
            let at = (digit * RADIX + (rest & (RADIX - 1))) * STRIDE;
            next_while(rest.ne(0), (turned(0, at, a), turned(1, at + 9, b), rest >> RADIX.ilog2(), digit + 1))
        });
        // One step more gives the number.
        let coefficient = |k: usize, j: usize| lit(STEP[k][2][j] as u32);
        let p = sum(0, times(0, coefficient(0, 0), a.0), times(0, coefficient(0, 1), a.1));
        let q = sum(1, times(1, coefficient(1, 0), b.0), times(1, coefficient(1, 2), b.2));
        select(p.gt(q), p - q, p - q + modulus(0) as u32)
    }
}

impl<B: Backend> Input<B> for MrgWords<'_, B> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        if self.n > 1 << 32 {
            return Err(Error::TooLarge { what: "numbers of a draw", requested: self.n, limit: 1 << 32 });
        }
        c.length(self.n)?;
        let state = self.of.state.map(|[a, b, c]| (scalar(a), scalar(b), scalar(c)));
        (array(&self.of.table), state[0], state[1], index()).collect(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The matrices of `RngStreams`.
    #[test]
    fn streams_are_as_far_apart_as_lecuyers() {
        let doubled = |k: usize| (0..127).fold(STEP[k], |all, _| product(k, &all, &all));
        let first = [
            [2_427_906_178, 3_580_155_704, 949_770_784],
            [226_153_695, 1_230_515_664, 3_580_155_704],
            [1_988_835_001, 986_791_581, 1_230_515_664],
        ];
        let second = [
            [1_464_411_153, 277_697_599, 1_610_723_613],
            [32_183_930, 1_464_411_153, 1_022_607_788],
            [2_824_425_944, 32_183_930, 2_093_834_863],
        ];
        assert_eq!((doubled(0), doubled(1)), (first, second));
    }
}
