//! Sorts and merges by an order of the caller's as data.

use crate::backend::{Leaf, Out};
use crate::caps::Numerics;
use crate::element::DType;
use crate::error::{Error, Result};
use crate::ir::Func;
use crate::patterns::SortPayload;
use crate::patterns::merge::Place;
use std::sync::Arc;

/// Tiling of the keys: part of the contract, since it decides which keys are compared. Where the order is strict and weak, no result shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct MergeTiling {
    /// Keys of a tile: 256 parts.
    pub tile: u64,
    /// Keys of a part.
    pub part: u64,
}

impl MergeTiling {
    /// For keys of this type: 4096 in parts of 16, of eight bytes 2048 in parts of 8. A tile is 16 KiB, what every adapter shares.
    #[must_use]
    pub const fn of(dtype: DType) -> Self {
        let part = if dtype.size_bytes() == 8 { 8 } else { 16 };
        Self { tile: 256 * part, part }
    }

    /// Merges of tiles that a sort of `n` keys takes, one after the other.
    #[must_use]
    pub const fn passes(self, n: u64) -> u32 {
        let tiles = n.div_ceil(self.tile);
        if tiles <= 1 { 0 } else { (tiles - 1).ilog2() + 1 }
    }
}

/// A sort by an order of the caller's as data. The leaves are the keys and, if they travel, the values; the outputs are the sorted keys, where
/// they are wanted, and what travels.
#[derive(Clone, Debug)]
pub struct MergeSortTask {
    /// Whether its first parameter comes before its second: two keys' register values to a truth value.
    pub before: Arc<Func>,
    /// Type of the keys.
    pub dtype: DType,
    /// Keys.
    pub n: u64,
    /// Payload: values of four bytes, or indices.
    pub payload: SortPayload,
    /// Whether the sorted keys are an output.
    pub keys_out: bool,
    /// Whether the caller lends memory for the passes between, as the outputs after the results: for keys, once more for them where they are no
    /// output, and for what travels.
    pub lent: bool,
    /// Strict or fast.
    pub numerics: Numerics,
}

/// A merge of two arrays by an order of the caller's as data. The leaves are arrays: the keys of `a` and of `b`, then, if they travel, the values of both.
/// The outputs are the merged keys and what travels; an index counts the elements of `b` on from those of `a`.
#[derive(Clone, Debug)]
pub struct MergeByTask {
    /// Whether its first parameter comes before its second.
    pub before: Arc<Func>,
    /// Type of the keys.
    pub dtype: DType,
    /// Keys of `a`, which go first where neither comes before the other.
    pub m: u64,
    /// Keys of `b`.
    pub n: u64,
    /// Payload: values of four bytes, or indices.
    pub payload: SortPayload,
    /// Strict or fast.
    pub numerics: Numerics,
}

/// Operands of a sort (`N` is 1) or a merge (2), by what they are.
#[derive(Clone, Copy, Debug)]
pub struct MergeSortPlaces<'a, R, const N: usize> {
    /// The keys.
    pub keys: [Place<'a, R>; N],
    /// Values that travel.
    pub values: Option<[Place<'a, R>; N]>,
    /// Where keys go.
    pub keys_out: Option<&'a Out<R>>,
    /// Where values, or indices, go.
    pub payload_out: Option<&'a Out<R>>,
    /// Room for all keys.
    pub keys_lent: Option<&'a Out<R>>,
    /// The same again, where sorted keys are no output.
    pub more_keys_lent: Option<&'a Out<R>>,
    /// Room for all that travels.
    pub payload_lent: Option<&'a Out<R>>,
}

fn operands() -> Error {
    Error::InvalidArgument { what: "sort_by", reason: "its operands do not fit".to_owned() }
}

fn places<'a, R, const N: usize>(
    leaves: &'a [Leaf<R>],
    outs: &'a [Out<R>],
    (keys_out, lent): (bool, bool),
    payload: SortPayload,
) -> Result<MergeSortPlaces<'a, R, N>> {
    let arrays = |leaves: &'a [Leaf<R>]| -> Result<[Place<'a, R>; N]> {
        let found: Vec<Place<'a, R>> = leaves
            .iter()
            .filter_map(|leaf| match leaf {
                Leaf::Elements { raw, offset, stride: 1, .. } | Leaf::Array { raw, offset, .. } => Some((raw, *offset)),
                _ => None,
            })
            .collect();
        found.try_into().map_err(|_| operands())
    };
    let (keys, values) = leaves.split_at_checked(N).ok_or_else(operands)?;
    let values = if payload == SortPayload::Values { Some(arrays(values)?) } else { None };
    let mut rest = outs.iter();
    let mut next = |wanted: bool| if wanted { rest.next().map(Some).ok_or_else(operands) } else { Ok(None) };
    let travels = payload != SortPayload::Nothing;
    let (sorted, payload_out) = (next(keys_out)?, next(travels)?);
    let (keys_lent, more_keys_lent, payload_lent) = (next(lent)?, next(lent && !keys_out)?, next(lent && travels)?);
    Ok(MergeSortPlaces { keys: arrays(keys)?, values, keys_out: sorted, payload_out, keys_lent, more_keys_lent, payload_lent })
}

impl MergeSortTask {
    /// Returns the tiling of the keys.
    #[must_use]
    pub const fn tiling(&self) -> MergeTiling {
        MergeTiling::of(self.dtype)
    }

    /// The operands by what they are.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where they are not those of this task.
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Result<MergeSortPlaces<'a, R, 1>> {
        places(leaves, outs, (self.keys_out, self.lent), self.payload)
    }
}

impl MergeByTask {
    /// Keys of both arrays.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.m + self.n
    }

    /// Returns the tiling of the keys.
    #[must_use]
    pub const fn tiling(&self) -> MergeTiling {
        MergeTiling::of(self.dtype)
    }

    /// The operands by what they are.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where they are not those of this task.
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Result<MergeSortPlaces<'a, R, 2>> {
        places(leaves, outs, (true, false), self.payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_double_tiles_until_one_run_is_left() {
        let tiling = MergeTiling::of(DType::U32);
        let of = |n| tiling.passes(n);
        assert_eq!([0, 1, 4096, 4097, 8192, 8193, 16_384, 16_385, 1 << 28].map(of), [0, 0, 0, 1, 1, 2, 2, 3, 16]);
        assert_eq!(MergeTiling::of(DType::F64), MergeTiling { tile: 2048, part: 8 });
    }
}
