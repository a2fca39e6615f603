//! Ballots and peers as data.

use crate::caps::Numerics;
use crate::ir::Func;
use std::sync::Arc;

/// The widest group that has masks of its peers: the bits of a word.
pub const MASK_WIDTH: u64 = 32;

/// A ballot as data. The output has a word to 32 elements: bit `i % 32` of word `i / 32` is whether the condition holds for element `i`; bits
/// behind the end are 0.
#[derive(Clone, Debug)]
pub struct BallotTask {
    /// One parameter a leaf; its result is a `u32`, which is not 0 where the condition holds.
    pub func: Arc<Func>,
    /// Elements.
    pub n: u64,
    /// Strict or fast.
    pub numerics: Numerics,
}

/// Values that are written for each element of [`PeersTask`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Peers {
    /// Bit `k`: element `k` of the group has the same key.
    Mask,
    /// The lowest such `k`; and, in a second output, how many there are.
    First,
    /// Number of them that are before the element; and, in a second output, how many there are.
    Rank,
}

/// Elements that have the key of an element in its group of up to [`MASK_WIDTH`] neighbours, as data.
#[derive(Clone, Debug)]
pub struct PeersTask {
    /// One parameter a leaf; its result is a key's bits, `u32` or `u64`.
    pub func: Arc<Func>,
    /// Elements.
    pub n: u64,
    /// Elements of a group, 1 to [`MASK_WIDTH`].
    pub width: u32,
    /// Values that are written.
    pub peers: Peers,
    /// Strict or fast.
    pub numerics: Numerics,
}
