//! P25 subgroup: shuffles, votes, ballots, matches and ranks of logical groups of neighbouring elements.

mod call;
mod folds;
mod plan;
mod ranked;
mod shuffle;
mod task;
mod verbs;

use call::Call;
pub use folds::{Agreeing, Folding, GroupFolds, GroupScanCall, GroupScanning};
pub use shuffle::Shuffle;
pub use task::{BallotTask, MASK_WIDTH, Peers, PeersTask};
pub use verbs::{Masking, MatchCall, Matching, Shuffling, ShufflingBy, Vote, VoteCall, Voting};

use super::map::MapTask;
use super::{Map as _, Move, Scan, Sort};
use crate::backend::Run;
use crate::buffer::Buffer;
use crate::call::ArrayCall;
use crate::element::{Element, Scalar};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::input::{Input, array, index, scalar};
use crate::ir::{ArrayExpr, Expr, lit};
use call::{bits_of_group, of_bits};

/// Operations that the lanes of a warp do for each other, for groups of any width.
///
/// The array is cut into groups of `width` consecutive elements; the last one may be shorter. A width need not be a power of two, and may be wider
/// than any subgroup of a device; one above the number of elements is taken for it. The place of an element is its index in its group.
///
/// Conditions and keys are operators over inputs of any kind, computed where they are used. Every result is an integer or an element's raw bits, so
/// there is no order to state: widths of the device's subgroups do not show.
///
/// There are less than 2^32 - 64 elements. Outputs may not overlap inputs; elements behind the results stay as they were.
///
/// Work O(n), for matches of groups wider than 32 that of two sorts. Scratch: a bit an element for votes, ballots and ranks, twice that for groups wider
/// than 32; for matches of wider groups, some 32 bytes an element; for shuffles of elements of two bytes, 4 bytes an element.
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, chapter 3.
pub trait Groups: Run<BallotTask> + Run<PeersTask> + Move + Scan + Sort {
    /// Each element's value is that of another one of its group, bit for bit.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[10.0f32, 11.0, 12.0, 13.0, 14.0])?;
    /// assert_eq!(dev.group_shuffle(&x, 4, Shuffle::Down(1)).run()?.read_blocking()?, [11.0, 12.0, 13.0, 13.0, 14.0]);
    /// assert_eq!(dev.group_shuffle(&x, 3, Shuffle::From(1)).run()?.read_blocking()?, [11.0, 11.0, 11.0, 14.0, 14.0]);
    /// let (x, out) = (dev.upload(b"subgroup")?, dev.buffer(8)?);
    /// dev.group_shuffle(&x, 4, Shuffle::Xor(3)).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, *b"gbuspuor");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a width of 0, [`Error::TooLarge`], [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::WrongDevice`],
    /// [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn group_shuffle<'a, T: Element>(
        &'a self,
        x: &'a Buffer<Self, T>,
        width: u64,
        how: Shuffle,
    ) -> ArrayCall<'a, Self, Shuffling<'a, Self, T>> {
        ArrayCall::new(self, Shuffling { x, width, how })
    }

    /// Each element names the place in its group whose element it gets; a place that is not there gives the element itself.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, from) = (dev.upload(&[5i64, 6, 7, 8, 9])?, dev.upload(&[2u32, 0, 3, 1, 1])?);
    /// assert_eq!(dev.group_shuffle_by(&x, 3, &from).run()?.read_blocking()?, [7, 5, 7, 9, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Groups::group_shuffle`], and [`Error::LengthMismatch`].
    fn group_shuffle_by<'a, T: Element, I: Input<Self, Exprs = Expr<u32>>>(
        &'a self,
        x: &'a Buffer<Self, T>,
        width: u64,
        from: I,
    ) -> ArrayCall<'a, Self, ShufflingBy<'a, Self, T, I>> {
        ArrayCall::new(self, ShufflingBy { x, width, from })
    }

    /// For each group, the bits of whether the condition holds: `width / 32` words, rounded up; bit `i % 32` of word `i / 32` is that of the element
    /// at place `i`. Bits of elements that are not there are 0.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.iota(40, 0u32, 1)?;
    /// assert_eq!(dev.group_ballot(x.map(|x| x.eq(12)), 32).run()?.read_blocking()?, [0x1000, 0]);
    /// assert_eq!(dev.group_ballot(x.map(|x| (x & 1u32).eq(0)), 20).run()?.read_blocking()?, [0x55555; 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a width of 0, [`Error::TooLarge`], [`Error::LengthMismatch`], [`Error::Unsupported`], [`Error::Op`],
    /// [`Error::OutOfMemory`], [`Error::WrongDevice`], [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn group_ballot<I: Input<Self, Exprs = Expr<bool>>>(&self, holds: I, width: u64) -> VoteCall<'_, Self, I> {
        ArrayCall::new(self, Voting { inputs: holds, width, vote: Vote::Ballot })
    }

    /// For how many elements of each group the condition holds.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.iota(10, 0u32, 1)?;
    /// assert_eq!(dev.group_count(x.map(|x| x.gt(2)), 4).run()?.read_blocking()?, [1, 4, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Groups::group_ballot`].
    fn group_count<I: Input<Self, Exprs = Expr<bool>>>(&self, holds: I, width: u64) -> VoteCall<'_, Self, I> {
        ArrayCall::new(self, Voting { inputs: holds, width, vote: Vote::Count })
    }

    /// 1 for each group in which the condition holds for at least one element, else 0.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.iota(10, 0u32, 1)?;
    /// assert_eq!(dev.group_any(x.map(|x| x.gt(6)), 4).run()?.read_blocking()?, [0, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Groups::group_ballot`].
    fn group_any<I: Input<Self, Exprs = Expr<bool>>>(&self, holds: I, width: u64) -> VoteCall<'_, Self, I> {
        ArrayCall::new(self, Voting { inputs: holds, width, vote: Vote::Any })
    }

    /// 1 for each group in which the condition holds for all elements, else 0.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.iota(10, 0u32, 1)?;
    /// assert_eq!(dev.group_all(x.map(|x| x.gt(3)), 4).run()?.read_blocking()?, [0, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Groups::group_ballot`].
    fn group_all<I: Input<Self, Exprs = Expr<bool>>>(&self, holds: I, width: u64) -> VoteCall<'_, Self, I> {
        ArrayCall::new(self, Voting { inputs: holds, width, vote: Vote::All })
    }

    /// For each element, the number of elements before it in its group for which the condition holds: where it holds for the element too, its rank
    /// among them, as in a coalesced group.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3u32, 8, 4, 1, 6, 2])?;
    /// assert_eq!(dev.group_rank(x.map(|x| (x & 1u32).eq(0)), 4).run()?.read_blocking()?, [0, 0, 1, 2, 0, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Groups::group_ballot`].
    fn group_rank<I: Input<Self, Exprs = Expr<bool>>>(&self, holds: I, width: u64) -> VoteCall<'_, Self, I> {
        ArrayCall::new(self, Voting { inputs: holds, width, vote: Vote::Rank })
    }

    /// For each element the elements of its group, of at most 32, whose keys have the same bits, as a mask: bit `i` for the one at place `i`. All
    /// NaN are one key; -0 and +0 are two.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[7u32, 9, 7, 9, 9])?;
    /// assert_eq!(dev.group_match_mask(&x, 4).run()?.read_blocking()?, [0b101, 0b1010, 0b101, 0b1010, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Groups::group_ballot`]; [`Error::InvalidArgument`] for groups wider than 32.
    fn group_match_mask<K: Scalar, I: Input<Self, Exprs = Expr<K>>>(&self, keys: I, width: u64) -> ArrayCall<'_, Self, Masking<I>> {
        ArrayCall::new(self, Masking { keys, width })
    }

    /// For each element, the lowest place in its group whose key has the same bits, and how many have. All NaN are one key; -0 and +0 are two.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[7u32, 9, 7, 9, 9])?;
    /// let (first, count) = dev.group_match(&x, 4).run()?;
    /// assert_eq!(first.read_blocking()?, [0, 1, 0, 1, 0]);
    /// assert_eq!(count.read_blocking()?, [2, 2, 2, 2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Groups::group_ballot`].
    fn group_match<K: Scalar, I: Input<Self, Exprs = Expr<K>>>(&self, keys: I, width: u64) -> MatchCall<'_, Self, I> {
        ArrayCall::new(self, Matching { keys, width: Some(width), pattern: "group_match", peers: Peers::First })
    }

    /// Each group parted by label: for each element, how many of its group with the same label come before it, and how many there are. Labels are
    /// compared as keys in [`Groups::group_match`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[7u32, 9, 7, 9, 9])?;
    /// let (rank, size) = dev.group_partition(&x, 5).run()?;
    /// assert_eq!(rank.read_blocking()?, [0, 0, 1, 1, 2]);
    /// assert_eq!(size.read_blocking()?, [2, 3, 2, 3, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Groups::group_ballot`].
    fn group_partition<K: Scalar, I: Input<Self, Exprs = Expr<K>>>(&self, labels: I, width: u64) -> MatchCall<'_, Self, I> {
        ArrayCall::new(self, Matching { keys: labels, width: Some(width), pattern: "group_partition", peers: Peers::Rank })
    }
}
impl<B: Run<BallotTask> + Run<PeersTask> + Move + Scan + Sort> Groups for B {}

fn any(count: Expr<u32>, _: Expr<u32>) -> Expr<u32> {
    count.ne(0).cast()
}

fn all(count: Expr<u32>, len: Expr<u32>) -> Expr<u32> {
    count.eq(len).cast()
}

/// For each element, of how many before it in its group the condition holds.
fn ranks<B: Groups>(device: &B, call: &Call<B>, out: &Buffer<B, u32>) -> Result<()> {
    call.check(device, &[(out, call.n)])?;
    if call.n == 0 {
        return Ok(());
    }
    let bits = call.bits(device)?;
    let all = (array(&bits), index(), scalar(call.n as u32), scalar(call.width as u32));
    if call.width <= MASK_WIDTH {
        let rank = |(bits, i, n, width): (ArrayExpr<u32>, Expr<u32>, Expr<u32>, Expr<u32>)| {
            let place = i % width;
            let (group, _) = bits_of_group(bits, i - place, n, width);
            (group & ((lit(1u32) << place) - 1)).count_ones()
        };
        return device.generate_into(call.n, all, rank, out);
    }
    let sums = call::sums(device, &bits)?;
    let rank = |((bits, i, _, width), sums)| of_bits(bits, sums, i) - of_bits(bits, sums, i - i % width);
    device.generate_into(call.n, (all, array(&sums)), rank, out)
}
