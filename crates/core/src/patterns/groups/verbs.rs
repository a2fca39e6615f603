//! Calls of patterns of groups.

use super::call::{Call, check_width, per_group};
use super::ranked::rank_into;
use super::shuffle::shuffled;
use super::{Groups, Peers, Shuffle, all, any, ranks};
use crate::backend::Backend;
use crate::buffer::Buffer;
use crate::call::{ArrayCall, Arrays};
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::{Input, Lent, Narrow, scalar};
use crate::ir::Expr;
use crate::patterns::map::collect;

/// Elements that get those of others of their group.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Shuffling<'a, B: Backend, T> {
    pub(super) x: &'a Buffer<B, T>,
    pub(super) width: u64,
    pub(super) how: Shuffle,
}

impl<B: Groups, T: Element> Arrays<B> for Shuffling<'_, B, T> {
    type Out = Narrow<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        Ok(self.x.len())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        let how = self.how;
        shuffled(device, self.x, self.width, scalar(how.by()), |place, len, by| how.source(place, len, by), out)
    }
}

/// Elements that get those at places that they name.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ShufflingBy<'a, B: Backend, T, I> {
    pub(super) x: &'a Buffer<B, T>,
    pub(super) width: u64,
    pub(super) from: I,
}

impl<B: Groups, T: Element, I: Input<B, Exprs = Expr<u32>>> Arrays<B> for ShufflingBy<'_, B, T, I> {
    type Out = Narrow<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        Ok(self.x.len())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        shuffled(device, self.x, self.width, Lent(&self.from), |_, _, from| from, out)
    }
}

/// Vote over the conditions of a group.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vote {
    /// The conditions as bits.
    Ballot,
    /// The number that hold.
    Count,
    /// Whether one holds.
    Any,
    /// Whether all hold.
    All,
    /// The number that hold before each element.
    Rank,
}

/// Conditions of elements in groups.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Voting<I> {
    pub(super) inputs: I,
    pub(super) width: u64,
    pub(super) vote: Vote,
}

/// A call of a vote: [`Groups::group_ballot`], [`Groups::group_count`], [`Groups::group_any`], [`Groups::group_all`], [`Groups::group_rank`].
pub type VoteCall<'d, B, I> = ArrayCall<'d, B, Voting<I>>;

impl<I> Voting<I> {
    const fn pattern(&self) -> &'static str {
        match self.vote {
            Vote::Ballot => "group_ballot",
            Vote::Count => "group_count",
            Vote::Any => "group_any",
            Vote::All => "group_all",
            Vote::Rank => "group_rank",
        }
    }
}

impl<B: Groups, I: Input<B, Exprs = Expr<bool>>> Arrays<B> for Voting<I> {
    type Out = Expr<u32>;

    fn elements(&self, device: &B) -> Result<u64> {
        let n = collect(device, self.pattern(), &self.inputs)?.len()?;
        let width = check_width(self.width, n)?;
        Ok(match self.vote {
            Vote::Ballot => n.div_ceil(width) * width.div_ceil(32),
            Vote::Count | Vote::Any | Vote::All => n.div_ceil(width),
            Vote::Rank => n,
        })
    }

    fn write(&self, device: &B, out: &Buffer<B, u32>) -> Result<()> {
        let call = Call::condition(device, self.pattern(), &self.inputs, self.width, |holds| holds)?;
        match self.vote {
            Vote::Ballot => call.ballot(device, out),
            Vote::Count => per_group(device, &call, |count, _| count, out),
            Vote::Any => per_group(device, &call, any, out),
            Vote::All => per_group(device, &call, all, out),
            Vote::Rank => ranks(device, &call, out),
        }
    }
}

/// Keys of elements in groups, and who has the same.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Matching<I> {
    pub(in crate::patterns) keys: I,
    /// Without one all elements are a group.
    pub(in crate::patterns) width: Option<u64>,
    pub(in crate::patterns) pattern: &'static str,
    pub(in crate::patterns) peers: Peers,
}

/// A call of a match: [`Groups::group_match`], [`Groups::group_partition`], [`Atomics::tickets`](crate::patterns::Atomics::tickets).
pub type MatchCall<'d, B, I> = ArrayCall<'d, B, Matching<I>>;

impl<B: Groups, K: Scalar, I: Input<B, Exprs = Expr<K>>> Arrays<B> for Matching<I> {
    type Out = (Expr<u32>, Expr<u32>);

    fn elements(&self, device: &B) -> Result<u64> {
        collect(device, self.pattern, &self.keys)?.len()
    }

    fn write(&self, device: &B, out: (&Buffer<B, u32>, &Buffer<B, u32>)) -> Result<()> {
        let call = match self.width {
            Some(width) => Call::key(device, self.pattern, &self.keys, width, |key| key)?,
            None => Call::whole(device, self.pattern, &self.keys, |key| key)?,
        };
        rank_into(device, &call, self.peers, out)
    }
}

/// Keys of elements in groups of at most 32, and who has the same as a mask.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Masking<I> {
    pub(super) keys: I,
    pub(super) width: u64,
}

impl<B: Groups, K: Scalar, I: Input<B, Exprs = Expr<K>>> Arrays<B> for Masking<I> {
    type Out = Expr<u32>;

    fn elements(&self, device: &B) -> Result<u64> {
        collect(device, "group_match_mask", &self.keys)?.len()
    }

    fn write(&self, device: &B, out: &Buffer<B, u32>) -> Result<()> {
        Call::key(device, "group_match_mask", &self.keys, self.width, |key| key)?.masks(device, self.width, out)
    }
}
