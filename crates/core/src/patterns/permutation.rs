//! Random orders: permutations, and samples without replacement.

use super::moves::GatherTask;
use super::{MapTask, Move, Sort, SortTask};
use crate::backend::Run;
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::input::Source as _;
use crate::patterns::Map;
use crate::random::Random;

/// Random orders of indices, the same on every device.
///
/// The order is that of keys of 64 bits: index `i` has the [uniform](Random::uniform) `u64` number `i` of the generator, two words, and equal keys, which
/// hardly occur, keep the order of their indices. So a permutation is that of an argsort of these keys, by two sorts of 32 bits, and takes 2 n words of the
/// stream. There are at most 2^32 indices. Scratch is that of a sort of pairs, and four bytes an index.
pub trait Permutation: Sort + Move + Map + Run<MapTask> + Run<SortTask> + Run<GatherTask> {
    /// The indices `0..n` in random order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let order = dev.permutation(Random::new(1), 5)?;
    /// assert_eq!(dev.sort(&order).run()?.read_blocking()?, [0, 1, 2, 3, 4]);
    /// // Elements in random order.
    /// let x = dev.upload(b"abcde")?;
    /// let shuffled = dev.permute(&x, &order).run()?;
    /// # let _ = shuffled;
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the stream ends before; errors of a [`sort`](Sort::sort).
    fn permutation(&self, random: Random, n: u64) -> Result<Buffer<Self, u32>> {
        let keys = random.uniform_words(n);
        let order = self.argsort(keys.map(|(_, low)| low)).run()?;
        let high = self.gather(keys.map(|(high, _)| high), &order).run()?;
        self.sort(&high).with_values(&order).run().map(|(_, order)| order)
    }

    /// `k` of the indices `0..n`, none twice, in random order: the first of a [`permutation`](Self::permutation).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let hand = dev.sample(Random::new(1), 52, 5)?.read_blocking()?;
    /// assert_eq!(hand, dev.permutation(Random::new(1), 52)?.read_blocking()?[..5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more than there are; errors of a permutation.
    fn sample(&self, random: Random, n: u64, k: u64) -> Result<Buffer<Self, u32>> {
        if k > n {
            return Err(Error::InvalidArgument { what: "sample", reason: format!("{k} of {n} without replacement") });
        }
        self.copy(&self.permutation(random, n)?.slice(..k)?)
    }
}
impl<B: Sort + Move + Map> Permutation for B {}
