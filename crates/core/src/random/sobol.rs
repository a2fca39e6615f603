//! Sobol's points: low-discrepancy sequences in many dimensions.

use super::Random;
use super::draws::{fraction, power64, quantile};
use crate::backend::Backend;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Mapped, Source, array, index, scalar};
use crate::ir::{ArrayExpr, Expr, lit, repeat};

/// Dimensions that there are direction numbers for.
pub const MAX_DIMENSIONS: u32 = 1024;

/// Joe and Kuo's polynomials and initial numbers; see `joe_kuo.txt`.
const JOE_KUO: &[u8] = include_bytes!("joe_kuo.bin");

/// Words of a dimension: its directions, and the seed of its scrambling.
const STRIDE: u32 = 33;

/// Points of Sobol's sequence in `[0, 1)^d`, which fill it more evenly than random ones: sums over them err by about 1/n in the place of 1/root(n).
///
/// Coordinate `j` of point `i` is a word of 32 bits: the exclusive or of the direction numbers of dimension `j` (Joe and Kuo's, up to 1024 dimensions) at the bits
/// of `i ^ (i >> 1)`, as of SciPy's `qmc.Sobol(d, scramble=False, bits=32)`. It is a function of `i` and `j` alone. Fetches an element: as many as the last
/// point's number has bits.
///
/// ```
/// # use isowarp::prelude::*;
/// # use isowarp::random::Sobol;
/// # let dev = isowarp::Cpu::new();
/// let points = Sobol::new(&dev, 2)?;
/// assert_eq!(dev.map(points.uniform::<f32>(4), |x| x)?.read_blocking()?, [0.0, 0.0, 0.5, 0.5, 0.75, 0.25, 0.25, 0.75]);
/// // The mean of x + y over scrambled points.
/// let points = Sobol::scrambled(&dev, 2, Random::new(1))?;
/// let sum = dev.reduce(points.uniform::<f32>(1024), Sum).run()?.read_blocking()?;
/// assert!((sum / 1024.0 - 1.0).abs() < 1e-3);
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// Source: Sobol (1967); Antonov and Saleev (1979) for the order; Joe and Kuo, *Constructing Sobol sequences with better two-dimensional projections* (2008);
/// Owen (1995), and Burley, *Practical hash-based Owen scrambling* (2020).
#[derive(Clone, Debug)]
pub struct Sobol<B: Backend> {
    table: Buffer<B, u32>,
    dimensions: u32,
    owen: bool,
    first: u32,
}

impl<B: Backend> Sobol<B> {
    /// The sequence itself.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more dimensions than [`MAX_DIMENSIONS`], [`Error::InvalidArgument`] for none.
    pub fn new(device: &B, dimensions: u32) -> Result<Self> {
        Self::with(device, dimensions, false, |_| Ok(0))
    }

    /// The sequence with a digital shift: the exclusive or of each coordinate with a word of its dimension, the generator's next ones.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::InvalidArgument`] where the stream has not as many words.
    pub fn shifted(device: &B, dimensions: u32, random: Random) -> Result<Self> {
        Self::with(device, dimensions, false, |j| random.skip(j).map(Random::word))
    }

    /// The sequence with Owen's nested uniform scrambling, by Laine and Karras's hash of the coordinate's reversed bits and a word of its dimension: points
    /// stay as even as they were, and each is uniform.
    ///
    /// # Errors
    /// As [`shifted`](Self::shifted).
    pub fn scrambled(device: &B, dimensions: u32, random: Random) -> Result<Self> {
        Self::with(device, dimensions, true, |j| random.skip(j).map(Random::word))
    }

    fn with(device: &B, dimensions: u32, owen: bool, seed: impl Fn(u64) -> Result<u32>) -> Result<Self> {
        if dimensions > MAX_DIMENSIONS {
            let (requested, limit) = (dimensions.into(), MAX_DIMENSIONS.into());
            return Err(Error::TooLarge { what: "dimensions of Sobol points", requested, limit });
        }
        if dimensions == 0 {
            return Err(Error::InvalidArgument { what: "dimensions", reason: "points have one at least".to_owned() });
        }
        let mut table = Vec::with_capacity((dimensions * STRIDE) as usize);
        for (j, directions) in directions().take(dimensions as usize).enumerate() {
            table.extend(directions);
            table.push(seed(j as u64)?);
        }
        Ok(Self { table: device.upload(&table)?, dimensions, owen, first: 0 })
    }

    /// The sequence from a later point on.
    #[must_use]
    pub fn from(self, first: u32) -> Self {
        Self { first, ..self }
    }

    /// Coordinates of `n` points, one point after the other: words for `u32`, `(word >> 8) 2^-24` for `f32`, `word 2^-32` for `f64`. There are at most 2^32
    /// coordinates, and points up to number 2^32.
    #[must_use]
    pub fn uniform<T: Coordinate>(&self, n: u64) -> Mapped<Coordinates<'_, B>, fn(Expr<u32>) -> Expr<T>> {
        Coordinates { of: self, n }.map(T::of_word)
    }

    /// `n` points, for functions of all of their coordinates.
    pub(crate) fn points(&self, n: u64) -> Points<'_, B> {
        Points { of: self, n }
    }

    /// Bits of the numbers of points up to so many that are not zero in all of them.
    fn bits(&self, n: u64) -> u32 {
        let last = u64::from(self.first) + n.saturating_sub(1);
        (u64::BITS - last.leading_zeros()).min(u32::BITS)
    }

    /// The number of coordinates of so many points, unless there are too many.
    fn check(&self, n: u64) -> Result<u64> {
        let (points, all) = (u64::from(self.first).saturating_add(n), n.saturating_mul(self.dimensions.into()));
        for (what, requested) in [("Sobol points", points), ("coordinates of Sobol points", all)] {
            if requested > 1 << 32 {
                return Err(Error::TooLarge { what, requested, limit: 1 << 32 });
            }
        }
        Ok(all)
    }

    /// The same as standard normal numbers, by the [quantile function](Random::normal_by_quantile).
    #[must_use]
    pub fn normal(&self, n: u64) -> Mapped<Coordinates<'_, B>, fn(Expr<u32>) -> Expr<f32>> {
        Coordinates { of: self, n }.map(quantile)
    }
}

/// Types of coordinates.
pub trait Coordinate: Element<Reg = Self> + Scalar {
    /// The coordinate.
    #[doc(hidden)]
    fn of_word(word: Expr<u32>) -> Expr<Self>;
}

impl Coordinate for u32 {
    fn of_word(word: Expr<u32>) -> Expr<u32> {
        word
    }
}

impl Coordinate for f32 {
    fn of_word(word: Expr<u32>) -> Expr<f32> {
        fraction(word)
    }
}

impl Coordinate for f64 {
    fn of_word(word: Expr<u32>) -> Expr<f64> {
        word.cast::<f64>() * power64(-32)
    }
}

/// Coordinates as words.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Coordinates<'a, B: Backend> {
    of: &'a Sobol<B>,
    n: u64,
}

impl<B: Backend> Source for Coordinates<'_, B> {
    type Exprs = Expr<u32>;

    fn exprs(&self, next: &mut u16) -> Expr<u32> {
        let Sobol { table, dimensions, owen, first } = self.of;
        let (table, first, dimensions, i): (ArrayExpr<u32>, Expr<u32>, Expr<u32>, Expr<u32>) =
            (array(table), scalar(*first), scalar(*dimensions), index()).exprs(next);
        let point = i / dimensions;
        Point { table, gray: gray(point + first), bits: self.of.bits(self.n), owen: *owen }.coordinate(i - point * dimensions)
    }
}

/// Reflected binary code.
fn gray(i: Expr<u32>) -> Expr<u32> {
    i ^ (i >> 1)
}

/// A point of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    table: ArrayExpr<u32>,
    gray: Expr<u32>,
    /// Bits that are not zero in every point.
    bits: u32,
    owen: bool,
}

impl Point {
    /// The direction number of bit `bit` from place `at` of the table on, where the point has it.
    fn direction(&self, at: Expr<u32>, bit: Expr<u32>) -> Expr<u32> {
        self.table.at(at + bit) & (lit(0u32) - (self.gray >> bit & 1))
    }

    /// The word of coordinate `j`.
    fn coordinate(&self, j: Expr<u32>) -> Expr<u32> {
        let at = j * STRIDE;
        let xor = (0..self.bits).fold(lit(0u32), |all, bit| all ^ self.direction(at, lit(bit)));
        self.scrambled(at, xor)
    }

    /// The same by a loop: of many coordinates in one operator each is a short text.
    pub(crate) fn looped(&self, j: u32) -> Expr<u32> {
        let at = lit(j * STRIDE);
        let (_, xor) = repeat(self.bits, (lit(0u32), lit(0u32)), |(bit, all)| (bit + 1, all ^ self.direction(at, bit)));
        self.scrambled(at, xor)
    }

    fn scrambled(&self, at: Expr<u32>, xor: Expr<u32>) -> Expr<u32> {
        let seed = self.table.at(at + (STRIDE - 1));
        if self.owen { hashed(xor.reverse_bits(), seed).reverse_bits() } else { xor ^ seed }
    }
}

/// Points with all of their coordinates, as an input.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Points<'a, B: Backend> {
    of: &'a Sobol<B>,
    n: u64,
}

impl<B: Backend> Source for Points<'_, B> {
    type Exprs = Point;

    fn exprs(&self, next: &mut u16) -> Point {
        let Sobol { table, owen, first, .. } = self.of;
        let (table, first, i): (ArrayExpr<u32>, Expr<u32>, Expr<u32>) = (array(table), scalar(*first), index()).exprs(next);
        Point { table, gray: gray(i + first), bits: self.of.bits(self.n), owen: *owen }
    }
}

impl<B: Backend> Input<B> for Points<'_, B> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.of.check(self.n)?;
        c.length(self.n)?;
        (array(&self.of.table), scalar(self.of.first), index()).collect(c)
    }
}

/// Laine and Karras's permutation with Burley's constants: each bit of the result depends on the bits up to it.
fn hashed(x: Expr<u32>, seed: Expr<u32>) -> Expr<u32> {
    [0x6c50_b47cu32, 0xb82f_1e52, 0xc7af_e638, 0x8d22_f6e6].into_iter().fold(x + seed, |x, factor| x ^ (x * factor))
}

impl<B: Backend> Input<B> for Coordinates<'_, B> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        let Sobol { table, dimensions, first, .. } = self.of;
        let n = self.of.check(self.n)?;
        c.length(n)?;
        (array(table), scalar(*first), scalar(*dimensions), index()).collect(c)
    }
}

/// The direction numbers of each dimension, the one of the highest bit first.
fn directions() -> impl Iterator<Item = [u32; 32]> {
    let mut words = JOE_KUO.chunks_exact(2).map(|word| u32::from(u16::from_le_bytes([word[0], word[1]])));
    let rest = std::iter::from_fn(move || {
        let polynomial = words.next()?;
        let degree = polynomial.ilog2() as usize;
        let mut all = [0u32; 32];
        for (k, direction) in all.iter_mut().enumerate().take(degree) {
            *direction = words.next()? << (31 - k);
        }
        for k in degree..32 {
            // The polynomial's bits between the first and the last say which numbers before are taken.
            let taken = (1..degree).filter(|by| polynomial >> (degree - by) & 1 == 1);
            all[k] = taken.fold(all[k - degree] ^ (all[k - degree] >> degree), |x, by| x ^ all[k - by]);
        }
        Some(all)
    });
    std::iter::once(std::array::from_fn(|k| 1 << (31 - k))).chain(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_directions_of_every_dimension_each_with_a_bit_of_its_own() {
        assert_eq!(directions().count(), MAX_DIMENSIONS as usize);
        for all in directions() {
            assert!(all.iter().enumerate().all(|(k, v)| v.trailing_zeros() == 31 - k as u32));
        }
    }
}
