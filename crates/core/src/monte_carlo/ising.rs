//! The Ising model on square and cubic lattices, by Metropolis's algorithm on the two colours of a checkerboard.
//!
//! # The contract
//! A lattice has two or three axes of even length, ends where it begins, and is row-major: of `[planes, rows, columns]` the last axis is contiguous. Spins are
//! bits: 1 is up. Neighbours attract each other, the coupling is 1 and there is no field, so the energy is minus the sum of the products of neighbours. A site
//! is red where the sum of its coordinates is even, else black. Spins of each colour are packed in words of 32: those of one row one after the other, in
//! `columns / 64` words, rounded up, of which the last one's remaining bits are zero.
//!
//! A sweep is a step of the red sites and one of the black ones. A step of `w` words a colour takes 32 `w` words of the stream, from the next multiple of 32 on:
//! word `i` of the lattice has 32 of them, and *bit `31 - k` of the random number of the site at bit `b` is bit `b` of word `k` of these*. So the number is a
//! function of the seed, the stream, the sweep and the site. A site of which `2 k` more neighbours are equal than differ, which would raise the energy by `4 k`,
//! flips where its number is below threshold `k`, [`floor(2^32 exp(-4 k beta))`](Acceptance); one whose flip does not raise the energy always flips. All of it is
//! integers, and sums are exact.
//!
//! Numbers are compared from their first bits on, 32 sites at once, until all of these are decided: some twelve words of the stream are computed for 32 sites.
//!
//! Source: Metropolis et al., *Equation of state calculations by fast computing machines*, J. Chem. Phys. 21 (1953); Block, Virnau and Preis, *Multi-GPU
//! accelerated multi-spin Monte Carlo simulations of the 2D Ising model*, Comput. Phys. Commun. 181 (2010).

mod flips;
mod lattice;
mod series;

pub use series::{Observed, Series};

use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::error::{Error, Result};
use crate::input::{Source as _, array, index, scalar};
use crate::ir::{ArrayExpr, Expr, Func, lit, repeat, select};
use crate::patterns::map::{collect, trace};
use crate::patterns::{Map as _, MapTask, Reduce as _, ReduceTask, check_ops};
use crate::random::{Attempts, Random};
use lattice::Lattice;
use std::sync::Arc;

/// Words of the stream that a word of spins takes in a step, as blocks and a power of two.
const SHIFT: u32 = 3;

/// Spins that a lattice begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Start {
    /// All up: the ground state.
    #[default]
    Cold,
    /// Each up or down by a bit of the stream: infinite temperature. It takes a word for each word of spins, red ones first.
    Hot,
}

/// Thresholds of random numbers below which sites flip of which 2, 4 and 6 more neighbours are equal than differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Acceptance(pub [u32; 3]);

impl Acceptance {
    /// `floor(2^32 exp(-4 k beta))` for `k` of 1, 2 and 3, and at most 2^32 - 1, where `beta` is the reciprocal of the temperature. Computed in f64 on the host
    /// by a function that has one result on all machines.
    ///
    /// ```
    /// # use isowarp::monte_carlo::Acceptance;
    /// assert_eq!(Acceptance::at_beta(0.25)?.0, [1580030168, 581260615, 213833830]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless it is finite and above zero.
    pub fn at_beta(beta: f64) -> Result<Self> {
        if !(beta.is_finite() && beta > 0.0) {
            return Err(Error::InvalidArgument { what: "beta", reason: format!("{beta} is not a finite number above zero") });
        }
        Ok(Self([1, 2, 3].map(|k| Self::threshold(beta, k))))
    }

    /// The same of a temperature, in units of the coupling.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless it and its reciprocal are finite and above zero.
    pub fn at_temperature(temperature: f64) -> Result<Self> {
        if !(temperature.is_finite() && temperature > 0.0) {
            return Err(Error::InvalidArgument { what: "temperature", reason: format!("{temperature} is not a finite number above zero") });
        }
        Self::at_beta(1.0 / temperature)
    }
}

/// Spins of a lattice, and the place of the stream that its next step's numbers are at. See the [module](self) for the contract.
///
/// ```
/// # use isowarp::prelude::*;
/// use isowarp::monte_carlo::{Acceptance, Ising, Start};
/// # let dev = isowarp::Cpu::new();
/// let mut spins = Ising::new(&dev, &[64, 64], Start::Cold, Random::new(1))?;
/// let below = Acceptance::at_temperature(2.0)?;
/// spins.sweep(below, 100)?;
/// // Every second sweep of a hundred, without waiting between them.
/// let series = spins.series(below, 50, 2)?;
/// let found = series.magnetisation();
/// // Onsager's solution: 0.9113.
/// assert!((found.mean - 0.9113).abs() < 5.0 * found.standard_error, "{found:?}");
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Debug)]
pub struct Ising<B: Backend> {
    device: B,
    lattice: Lattice,
    red: Buffer<B, u32>,
    black: Buffer<B, u32>,
    random: Random,
    /// The operator of a step, which is traced once: a step of a small lattice takes less time than that.
    step: Option<Arc<Func>>,
}

impl<B: Run<MapTask> + Run<ReduceTask>> Ising<B> {
    /// A lattice of these sides, as `[rows, columns]` or `[planes, rows, columns]`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for sides that are odd or zero, another number of axes, and a stream that ends; [`Error::TooLarge`] for more than 2^32 - 1 pairs
    /// of neighbours; errors of a [map](crate::patterns::Map::map).
    pub fn new(device: &B, shape: &[u32], start: Start, random: Random) -> Result<Self> {
        let lattice = Lattice::new(shape)?;
        let n = u64::from(lattice.words());
        let [red, black] = [device.buffer(n)?, device.buffer(n)?];
        let mut all = Self { device: device.clone(), lattice, red, black, random, step: None };
        for colour in 0..2 {
            let at = (scalar(u32::from(start == Start::Cold)), scalar(colour), index());
            let spins = |word: Expr<u32>, (cold, colour, i): (Expr<u32>, Expr<u32>, Expr<u32>)| {
                select(cold.ne(0), u32::MAX, word) & lattice.mask(&lattice.place(i, colour))
            };
            device.map_into((all.random.uniform::<u32>(n), at), |(word, at)| spins(word, at), all.of(colour))?;
            if start == Start::Hot {
                all.random = all.random.skip(n)?;
            }
        }
        Ok(all)
    }

    fn of(&self, colour: u32) -> &Buffer<B, u32> {
        if colour == 0 { &self.red } else { &self.black }
    }

    /// The device that it lies on.
    pub fn device(&self) -> &B {
        &self.device
    }

    /// Sides, from the slowest axis to the contiguous one.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.lattice.shape()
    }

    /// Place of the stream that the next step begins at, or before.
    #[must_use]
    pub fn random(&self) -> Random {
        self.random
    }

    /// So many sweeps, which are enqueued one after the other.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the stream ends before; errors of a [map](crate::patterns::Map::map).
    pub fn sweep(&mut self, at: Acceptance, sweeps: u64) -> Result<()> {
        for step in 0..self.check(Some(sweeps))? {
            self.step((step % 2) as u32, at)?;
        }
        Ok(())
    }

    /// Words of the stream that a step takes.
    fn words(&self) -> u64 {
        u64::from(self.lattice.words()) * (4 << SHIFT)
    }

    /// The steps of so many sweeps, `None` for more than are counted. Fails where the stream ends before, and moves to where the first begins.
    fn check(&mut self, sweeps: Option<u64>) -> Result<u64> {
        let ends = || Error::InvalidArgument { what: "position", reason: "the stream ends before the last sweep".to_owned() };
        let steps = sweeps.and_then(|sweeps| sweeps.checked_mul(2)).ok_or_else(ends)?;
        let words = steps.checked_mul(self.words()).ok_or_else(ends)?;
        let unaligned = || Error::InvalidArgument { what: "position", reason: "the stream ends before the first step".to_owned() };
        self.random.position = self.random.position.checked_next_multiple_of(4 << SHIFT).ok_or_else(unaligned)?;
        self.random.skip(words).map(|_| steps)
    }

    fn step(&mut self, colour: u32, Acceptance([first, second, third]): Acceptance) -> Result<()> {
        let (device, lattice, own) = (&self.device, self.lattice, self.of(colour));
        let draw = Attempts::new(self.random, own.len(), SHIFT);
        let thresholds = (scalar(first), scalar(second), scalar(third));
        let inputs = (own, array(self.of(1 - colour)), draw, thresholds, index(), scalar(colour));
        let c = collect(device, "ising", &inputs)?;
        let func = match &self.step {
            Some(func) => Arc::clone(func),
            None => {
                let func = trace(&inputs, &c, |(own, other, blocks, (a, b, c), word, colour)| {
                    flips::flipped(&lattice, (own, other), &blocks, (word, colour), [a, b, c])
                })?;
                check_ops(device, "ising", device.numerics(), &[&func])?;
                func
            }
        };
        // Words of a colour are read and written element for element, those of the other are only read.
        device.run(&MapTask { func: Arc::clone(&func), n: own.len(), numerics: device.numerics() }, &c.leaves, &[own.out()])?;
        (self.step, self.random) = (Some(func), self.random.skip(self.words())?);
        Ok(())
    }

    /// Sums over the lattice as it is after `every` more sweeps, and so `n` times. All is enqueued, then waited for once.
    ///
    /// # Errors
    /// As [`sweep`](Self::sweep), and of a [reduction](crate::patterns::Reduce::reduce_by).
    pub fn series(&mut self, at: Acceptance, n: u64, every: u64) -> Result<Series> {
        self.check(n.checked_mul(every))?;
        let [up, equal] = [self.device.buffer::<u32>(n)?, self.device.buffer::<u32>(n)?];
        for k in 0..n {
            self.sweep(at, every)?;
            self.observe_into((&up.slice(k..=k)?, &equal.slice(k..=k)?))?;
        }
        let (up, equal) = (up.read_blocking()?, equal.read_blocking()?);
        let observed = up.into_iter().zip(equal).map(|(up, equal)| Observed { up: up.into(), equal: equal.into() }).collect();
        Ok(Series { sites: self.lattice.sites(), axes: self.lattice.axes, observed })
    }

    /// Sums over the lattice as it is, which are waited for.
    ///
    /// # Errors
    /// As [`series`](Self::series).
    pub fn observe(&self) -> Result<Observed> {
        let sums = [self.device.buffer::<u32>(1)?, self.device.buffer::<u32>(1)?];
        self.observe_into((&sums[0], &sums[1]))?;
        Ok(Observed { up: sums[0].read_blocking()?[0].into(), equal: sums[1].read_blocking()?[0].into() })
    }

    /// Numbers of spins that are up and of pairs of neighbours that are equal, into buffers of one element, without waiting.
    ///
    /// # Errors
    /// As [`series`](Self::series).
    pub fn observe_into(&self, (up, equal): (&Buffer<B, u32>, &Buffer<B, u32>)) -> Result<()> {
        let lattice = self.lattice;
        // Each pair has one red site.
        let sums = (&self.red, array(&self.black), index()).map(|(red, black, i)| {
            let place = lattice.place(i, lit(0));
            let mask = lattice.mask(&place);
            let pairs: Vec<_> = lattice.neighbours(black, &place).into_iter().map(|spins| !(red ^ spins) & mask).collect();
            let [ones, twos, fours] = flips::counted(&pairs).map(Expr::count_ones);
            (red.count_ones() + black.at(i).count_ones(), ones + twos * 2 + fours * 4)
        });
        self.device.reduce_by(sums, |a, b| (a.0 + b.0, a.1 + b.1)).write_to((up, equal))
    }

    /// Spins as 1 and -1, row-major.
    ///
    /// # Errors
    /// As a [map](crate::patterns::Map::map).
    pub fn spins(&self) -> Result<Buffer<B, i8>> {
        let out = self.device.buffer(self.lattice.sites())?;
        self.spins_into(&out)?;
        Ok(out)
    }

    /// As [`spins`](Self::spins), into the caller's buffer.
    ///
    /// # Errors
    /// As a [map](crate::patterns::Map::map_into).
    pub fn spins_into(&self, out: &Buffer<B, i8>) -> Result<()> {
        let lattice = self.lattice;
        let spin = |(red, black, i): (ArrayExpr<u32>, ArrayExpr<u32>, Expr<u32>)| {
            let (colour, word, bit) = lattice.site(i);
            let spins = select(colour.eq(0), red.at(word), black.at(word));
            ((spins >> bit & 1).bitcast::<i32>() * 2 - 1).store_as::<i8>()
        };
        self.device.generate_into(lattice.sites(), (array(&self.red), array(&self.black), index()), spin, out)
    }

    /// Takes spins that are brought, row-major: those above zero are up.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; errors of a [map](crate::patterns::Map::map).
    pub fn set(&mut self, spins: &Buffer<B, i8>) -> Result<()> {
        let lattice = self.lattice;
        if spins.len() != lattice.sites() {
            return Err(Error::LengthMismatch { what: "spins", expected: lattice.sites(), found: spins.len() });
        }
        for colour in 0..2 {
            let inputs = (array(spins), index(), scalar(colour));
            self.device.generate_into(
                lattice.words().into(),
                inputs,
                |(spins, word, colour)| {
                    let place = lattice.place(word, colour);
                    let (_, packed) = repeat(32, (lit(0u32), lit(0u32)), |(bit, packed)| {
                        let (site, is_there) = lattice.of_bit(&place, bit);
                        let is_up = spins.at(site).gt(0) & is_there;
                        (bit + 1, packed | is_up.cast::<u32>() << bit)
                    });
                    packed
                },
                self.of(colour),
            )?;
        }
        Ok(())
    }
}
