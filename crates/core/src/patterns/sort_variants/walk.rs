//! The host's side of the algorithms, written once: which launches a device is asked for, over which memory.

use super::network::{Network, NetworkStep, Pass, passes};
use super::sample::SamplePlan;
use super::{SortVariant, SortVariantTask};
use crate::backend::{Backend, Leaf, Out, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::error::Result;
use crate::ops::Sum;
use crate::patterns::{Scan as _, ScanTask, SortPlaces, SortTask};

/// Keys as words that compare as unsigned integers, of 32 bits or, for keys of eight bytes, 64, and a payload of 32 bits.
#[derive(Clone, Debug)]
pub struct SortWords<R> {
    /// The words.
    pub keys: R,
    /// What travels: a value, or where the key was.
    pub payload: Option<R>,
    /// How many.
    pub n: u64,
}

/// Where buckets begin: bucket `b` at entry `b * stride` of a table, the last one ending with the keys.
#[derive(Debug)]
pub struct SortBuckets<'a, R> {
    /// The table.
    pub starts: &'a R,
    /// Entries from one bucket to the next.
    pub stride: u64,
    /// How many there are.
    pub count: u64,
    /// Keys of a bucket, at most.
    pub most: u64,
}

impl<R> Clone for SortBuckets<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R> Copy for SortBuckets<'_, R> {}

/// A launch. What it reads and what it writes are different memory, unless it says otherwise.
#[derive(Debug)]
pub enum SortLaunch<'a, R> {
    /// The task's keys become words, and its values, or the keys' places, the payload.
    Load {
        /// Where to.
        to: &'a SortWords<R>,
    },
    /// Steps of a network in every window of the array, or of every bucket.
    Windows {
        /// The first of them.
        first: NetworkStep,
        /// How many.
        steps: u64,
        /// What a window reads on either side.
        halo: u64,
        /// Buckets, each sorted by itself.
        buckets: Option<SortBuckets<'a, R>>,
        /// What is read.
        from: &'a SortWords<R>,
        /// What is written.
        to: &'a SortWords<R>,
    },
    /// A step of a network over the array, or in every bucket, in place.
    Everywhere {
        /// The step.
        step: NetworkStep,
        /// Buckets, each sorted by itself.
        buckets: Option<SortBuckets<'a, R>>,
        /// The words.
        at: &'a SortWords<R>,
    },
    /// Samples of sorted tiles.
    Samples {
        /// Sorted tiles.
        from: &'a SortWords<R>,
        /// Room for the samples.
        to: &'a SortWords<R>,
    },
    /// Where the buckets begin in each sorted tile, and how many keys of it are in them: tables `[bucket][tile]`.
    Bounds {
        /// The numbers of the sort.
        plan: SamplePlan,
        /// Sorted tiles.
        from: &'a SortWords<R>,
        /// Sorted samples.
        samples: &'a SortWords<R>,
        /// Where in the tile each bucket begins.
        starts: &'a R,
        /// How many keys of the tile are in it.
        counts: &'a R,
    },
    /// Keys of sorted tiles go to their buckets.
    Scatter {
        /// The numbers of the sort.
        plan: SamplePlan,
        /// Sorted tiles.
        from: &'a SortWords<R>,
        /// As [`SortLaunch::Bounds`] wrote it.
        starts: &'a R,
        /// Where the keys of each bucket and tile go.
        offsets: &'a R,
        /// What is written.
        to: &'a SortWords<R>,
    },
    /// A bit of every key, as a number.
    Flags {
        /// The keys.
        from: &'a SortWords<R>,
        /// Which bit.
        bit: u32,
        /// 0 or 1 for each.
        flags: &'a R,
    },
    /// Keys whose bit is 0 go to the front, those whose bit is 1 behind them, each in their order.
    Split {
        /// The keys.
        from: &'a SortWords<R>,
        /// Which bit.
        bit: u32,
        /// How many ones are before each key.
        ones: &'a R,
        /// What is written.
        to: &'a SortWords<R>,
    },
    /// Tiles are sorted by a digit, each by itself and stably. Tables `[bucket][tile]` say how.
    Local {
        /// The numbers of the pass.
        digit: Digit,
        /// The keys.
        from: &'a SortWords<R>,
        /// Sorted tiles.
        to: &'a SortWords<R>,
        /// Where in the tile each bucket begins.
        starts: &'a R,
        /// How many keys of the tile are in it.
        counts: &'a R,
    },
    /// Keys of sorted tiles go to their buckets, which follow each other.
    Runs {
        /// The numbers of the pass.
        digit: Digit,
        /// Sorted tiles.
        from: &'a SortWords<R>,
        /// As [`SortLaunch::Local`] wrote it.
        starts: &'a R,
        /// Where the keys of each bucket and tile go.
        offsets: &'a R,
        /// What is written.
        to: &'a SortWords<R>,
    },
    /// Words become keys again and go to the outputs, and the payload, or the values whose places it holds, with them.
    Store {
        /// The sorted words.
        from: &'a SortWords<R>,
        /// Memory that nobody needs any more.
        spare: &'a SortWords<R>,
    },
}

/// A pass of a radix sort that sorts tiles first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digit {
    /// The lowest bit.
    pub bit: u32,
    /// How many bits.
    pub bits: u32,
    /// Keys of a tile.
    pub tile: u64,
    /// Tiles.
    pub tiles: u64,
}

impl Digit {
    /// Values of a digit.
    #[must_use]
    pub const fn buckets(self) -> u64 {
        1 << self.bits
    }

    /// Entries of a table of all buckets and tiles.
    #[must_use]
    pub const fn table(self) -> u64 {
        self.buckets() * self.tiles
    }
}

/// What all launches of a sort share.
#[derive(Debug)]
pub struct Sorting<'a, R> {
    /// The sort.
    pub task: &'a SortTask,
    /// Its operands.
    pub places: SortPlaces<'a, R>,
    /// Whether the payload is the keys' places, and equal keys are ordered by it.
    pub ranked: bool,
}

impl<R> Sorting<'_, R> {
    /// Bytes of a word.
    #[must_use]
    pub fn word(&self) -> u64 {
        self.task.dtype.size_bytes().max(4)
    }

    /// The bits that are compared, of a word.
    #[must_use]
    pub fn mask(&self) -> u64 {
        let low = |count: u32| if count == 0 { 0 } else { u64::MAX >> (64 - count) };
        low(self.task.bits.end) ^ low(self.task.bits.start)
    }
}

/// A device that has the kernels.
pub trait LaunchSort: Backend + Run<ScanTask> {
    /// Enqueues a launch.
    ///
    /// # Errors
    /// The device's.
    fn launch_sort(&self, sorting: &Sorting<'_, Self::Raw>, launch: SortLaunch<'_, Self::Raw>) -> Result<()>;
}

/// Enqueues a sort of one row by a variant other than the pattern itself.
///
/// # Errors
/// The device's, and [`Error::InvalidArgument`](crate::Error::InvalidArgument) for operands that are not the task's.
pub fn walk<B: LaunchSort>(device: &B, task: &SortVariantTask, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
    let places = task.sort.places(leaves, outs)?;
    let sorting = Sorting { task: &task.sort, places, ranked: task.variant == SortVariant::Sample };
    let walk = Walk { device, sorting };
    let n = task.sort.n;
    let mut sides = walk.sides(n)?;
    walk.launch(SortLaunch::Load { to: &sides.front })?;
    match task.variant {
        SortVariant::OddEvenTransposition => walk.network(Network::Transposition, &mut sides, None)?,
        SortVariant::Bitonic => walk.network(Network::Bitonic, &mut sides, None)?,
        SortVariant::OddEvenMerge => walk.network(Network::OddEvenMerge, &mut sides, None)?,
        SortVariant::Sample => walk.sample(&mut sides)?,
        variant => match variant.digits() {
            Some((bits, tile)) => walk.digits(&mut sides, bits, tile)?,
            None => walk.split(&mut sides)?,
        },
    }
    walk.launch(SortLaunch::Store { from: &sides.front, spare: &sides.back })
}

/// Where the words are, and room for as many.
struct Sides<R> {
    front: SortWords<R>,
    back: SortWords<R>,
}

impl<R> Sides<R> {
    fn turn(&mut self) {
        core::mem::swap(&mut self.front, &mut self.back);
    }
}

struct Walk<'a, B: Backend> {
    device: &'a B,
    sorting: Sorting<'a, B::Raw>,
}

impl<B: LaunchSort> Walk<'_, B> {
    fn launch(&self, launch: SortLaunch<'_, B::Raw>) -> Result<()> {
        self.device.launch_sort(&self.sorting, launch)
    }

    fn words(&self, n: u64) -> Result<SortWords<B::Raw>> {
        let travels = self.sorting.ranked || self.sorting.places.values.is_some();
        let payload = if travels { Some(self.device.allocate_bytes(4 * n)?) } else { None };
        Ok(SortWords { keys: self.device.allocate_bytes(self.sorting.word() * n)?, payload, n })
    }

    fn sides(&self, n: u64) -> Result<Sides<B::Raw>> {
        Ok(Sides { front: self.words(n)?, back: self.words(n)? })
    }

    fn table(&self, n: u64) -> Result<Buffer<B, u32>> {
        self.device.buffer(n)
    }

    fn network(&self, network: Network, sides: &mut Sides<B::Raw>, buckets: Option<SortBuckets<'_, B::Raw>>) -> Result<()> {
        let n = buckets.map_or(sides.front.n, |buckets| buckets.most);
        passes(network, n).into_iter().try_for_each(|pass| self.pass(pass, sides, buckets))
    }

    fn pass(&self, pass: Pass, sides: &mut Sides<B::Raw>, buckets: Option<SortBuckets<'_, B::Raw>>) -> Result<()> {
        match pass {
            Pass::Everywhere(step) => self.launch(SortLaunch::Everywhere { step, buckets, at: &sides.front }),
            Pass::Windows { first, steps, halo } => {
                self.launch(SortLaunch::Windows { first, steps, halo, buckets, from: &sides.front, to: &sides.back })?;
                sides.turn();
                Ok(())
            }
        }
    }

    /// Sorted tiles, splitters among the samples of them, buckets, and these sorted.
    fn sample(&self, sides: &mut Sides<B::Raw>) -> Result<()> {
        let n = sides.front.n;
        let mut to_go = passes(Network::Bitonic, n).into_iter();
        let Some(tiles) = to_go.next() else { return Ok(()) };
        self.pass(tiles, sides, None)?;
        if to_go.next().is_none() {
            return Ok(());
        }
        let plan = SamplePlan::new(n);
        let mut samples = self.sides(plan.samples)?;
        self.launch(SortLaunch::Samples { from: &sides.front, to: &samples.front })?;
        self.network(Network::Bitonic, &mut samples, None)?;

        let [starts, counts, offsets] = [self.table(plan.table())?, self.table(plan.table())?, self.table(plan.table())?];
        let (from, samples) = (&sides.front, &samples.front);
        self.launch(SortLaunch::Bounds { plan, from, samples, starts: starts.raw(), counts: counts.raw() })?;
        self.device.scan(&counts, Sum).exclusive().write_to(&offsets)?;
        self.launch(SortLaunch::Scatter { plan, from, starts: starts.raw(), offsets: offsets.raw(), to: &sides.back })?;
        sides.turn();
        let buckets = SortBuckets { starts: offsets.raw(), stride: plan.tiles, count: plan.buckets, most: plan.most() };
        self.network(Network::Bitonic, sides, Some(buckets))
    }

    /// Tiles sorted by a digit, a scan of how many keys they have in which bucket, and these put there.
    fn digits(&self, sides: &mut Sides<B::Raw>, bits: u32, tile: u64) -> Result<()> {
        let n = sides.front.n;
        let (tiles, range) = (n.div_ceil(tile), self.sorting.task.bits.clone());
        let room = Digit { bit: 0, bits: bits.min(range.end - range.start), tile, tiles }.table();
        let [starts, counts, offsets] = [self.table(room)?, self.table(room)?, self.table(room)?];
        for bit in range.clone().step_by(bits as usize) {
            let digit = Digit { bit, bits: bits.min(range.end - bit), tile, tiles };
            self.launch(SortLaunch::Local { digit, from: &sides.front, to: &sides.back, starts: starts.raw(), counts: counts.raw() })?;
            sides.turn();
            let table = ..digit.table();
            self.device.scan(&counts.slice(table)?, Sum).exclusive().write_to(&offsets.slice(table)?)?;
            let (starts, offsets) = (starts.raw(), offsets.raw());
            self.launch(SortLaunch::Runs { digit, from: &sides.front, starts, offsets, to: &sides.back })?;
            sides.turn();
        }
        Ok(())
    }

    fn split(&self, sides: &mut Sides<B::Raw>) -> Result<()> {
        let n = sides.front.n;
        let (flags, ones) = (self.table(n)?, self.table(n)?);
        for bit in self.sorting.task.bits.clone() {
            self.launch(SortLaunch::Flags { from: &sides.front, bit, flags: flags.raw() })?;
            self.device.scan(&flags, Sum).exclusive().write_to(&ones)?;
            self.launch(SortLaunch::Split { from: &sides.front, bit, ones: ones.raw(), to: &sides.back })?;
            sides.turn();
        }
        Ok(())
    }
}
