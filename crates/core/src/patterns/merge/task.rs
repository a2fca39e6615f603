//! Merges, co-ranks and searches as data.

use crate::backend::{Leaf, Out};
use crate::element::DType;
use crate::error::{Error, Result};
use crate::patterns::{KeyBits, SortOrder};

/// A stable merge of two sorted arrays as data. The leaves are arrays: the keys of `a` and of `b`, then, if they travel, the values of both. The
/// outputs are the merged keys and the merged values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct MergeTask {
    /// Type of the keys.
    pub dtype: DType,
    /// Order that says which key comes first.
    pub order: SortOrder,
    /// Keys of `a`, which go first where they are equal.
    pub m: u64,
    /// Keys of `b`.
    pub n: u64,
    /// Whether values travel.
    pub pairs: bool,
}

/// An array that a task reads: the memory and its first element.
pub type Place<'a, R> = (&'a R, u64);

/// Operands of a merge by what they are.
#[derive(Clone, Copy, Debug)]
pub struct MergePlaces<'a, R> {
    /// Keys of `a` and `b`.
    pub keys: [Place<'a, R>; 2],
    /// The merged keys.
    pub keys_out: &'a Out<R>,
    /// Values of `a` and `b`, and where they go.
    pub values: Option<([Place<'a, R>; 2], &'a Out<R>)>,
}

fn operands() -> Error {
    Error::InvalidArgument { what: "merge", reason: "its operands do not fit".to_owned() }
}

fn array<R>(leaf: &Leaf<R>) -> Result<Place<'_, R>> {
    match leaf {
        Leaf::Array { raw, offset, .. } => Ok((raw, *offset)),
        _ => Err(operands()),
    }
}

impl MergeTask {
    /// Keys of both arrays.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.m + self.n
    }

    /// Returns the map of keys to unsigned integers that compare in this order.
    #[must_use]
    pub fn key_bits(&self) -> KeyBits {
        KeyBits::new(self.dtype, self.order)
    }

    /// The operands by what they are.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where they are not those of this task.
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Result<MergePlaces<'a, R>> {
        let (keys, keys_out, values) = match (leaves, outs, self.pairs) {
            ([a, b], [keys], false) => ([a, b], keys, None),
            ([a, b, v, w], [keys, values], true) => ([a, b], keys, Some(([array(v)?, array(w)?], values))),
            _ => return Err(operands()),
        };
        Ok(MergePlaces { keys: [array(keys[0])?, array(keys[1])?], keys_out, values })
    }
}

/// Co-ranks as data: for each rank how many of the first so many merged keys are of `a`. The leaves are the arrays `a` and `b` and the ranks, `u32` or
/// `u64` elements; the output is of the ranks' type. A rank above `m + n` counts as that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct CoRankTask {
    /// Type of the keys.
    pub dtype: DType,
    /// Order that says which key comes first.
    pub order: SortOrder,
    /// Keys of `a`.
    pub m: u64,
    /// Keys of `b`.
    pub n: u64,
    /// Ranks.
    pub ranks: u64,
}

impl CoRankTask {
    /// Returns the map of keys to unsigned integers that compare in this order.
    #[must_use]
    pub fn key_bits(&self) -> KeyBits {
        KeyBits::new(self.dtype, self.order)
    }

    /// Keys of `a` and `b`, the ranks with their type, and where the co-ranks go.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the operands are not those of this task.
    #[allow(clippy::type_complexity, reason = "three operands of one kind")]
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Result<([Place<'a, R>; 3], &'a Out<R>)> {
        let ([a, b, Leaf::Elements { raw, offset, stride: 1, .. }], [out]) = (leaves, outs) else { return Err(operands()) };
        Ok(([array(a)?, array(b)?, (raw, *offset)], out))
    }
}

/// Number that a search finds for each needle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SearchKind {
    /// Number of elements that come before it.
    Lower,
    /// Number of elements that come before it or are equal to it.
    Upper,
    /// Number of elements that are equal to it.
    Equal,
}

/// Searches in a sorted array as data. The leaves are the sorted array and the needles, elements of its type; the output's elements are `u32` or
/// `u64`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct SearchTask {
    /// Type of the keys.
    pub dtype: DType,
    /// In which order the array is sorted.
    pub order: SortOrder,
    /// Keys of the sorted array.
    pub n: u64,
    /// Needles.
    pub needles: u64,
    /// Kind of number that is found.
    pub kind: SearchKind,
}

impl SearchTask {
    /// Returns the map of keys to unsigned integers that compare in this order.
    #[must_use]
    pub fn key_bits(&self) -> KeyBits {
        KeyBits::new(self.dtype, self.order)
    }

    /// The sorted array, the needles, and where the answers go.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the operands are not those of this task.
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Result<([Place<'a, R>; 2], &'a Out<R>)> {
        let ([sorted, Leaf::Elements { raw, offset, stride: 1, .. }], [out]) = (leaves, outs) else { return Err(operands()) };
        Ok(([array(sorted)?, (raw, *offset)], out))
    }
}

/// Returns how many of the first `k` elements of the stable merge of `a` and `b`, which have `m` and `n` elements, are of `a`: the one `i` for which
/// `merge(a[..i], b[..k - i])` is what the merge starts with. The others are of `b`, and so a merge may be cut anywhere and its parts be made side by
/// side. `first(i, j)` says whether `a[i]` goes before `b[j]`: `a[i] <= b[j]`, since equal elements of `a` go first. A rank above `m + n` counts as that.
///
/// O(log min(m, n)) comparisons.
///
/// ```
/// use isowarp_core::patterns::merge::co_rank;
///
/// let (a, b) = ([1, 7, 8, 9, 10], [7, 10, 10, 12]);
/// let i = co_rank(6, 5, 4, |i, j| a[i as usize] <= b[j as usize]);
/// assert_eq!(i, 5); // the merge starts with 1, 7, 7, 8, 9, 10: all of a, and b[0]
/// ```
///
/// Source: Siebert and Träff, *Efficient MPI implementation of a parallel, stable merge algorithm* (2012); Green, McColl and Bader, *GPU merge path*
/// (2012); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 12.
pub fn co_rank(k: u64, m: u64, n: u64, mut first: impl FnMut(u64, u64) -> bool) -> u64 {
    let k = k.min(m.saturating_add(n));
    let (mut low, mut high) = (k.saturating_sub(n), k.min(m));
    while low < high {
        let i = low + (high - low) / 2;
        if first(i, k - 1 - i) { low = i + 1 } else { high = i }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::co_rank;

    /// Kirk, Hwu and El Hajj, exercise 12.1.
    #[test]
    fn co_ranks_are_the_textbooks() {
        let (a, b) = ([1, 7, 8, 9, 10], [7, 10, 10, 12]);
        let of = |k| co_rank(k, 5, 4, |i, j| a[i as usize] <= b[j as usize]);
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 99].map(of), [0, 1, 2, 2, 3, 4, 5, 5, 5, 5, 5]);
    }

    #[test]
    fn co_ranks_count_what_a_loop_merges() {
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..2000 {
            let (m, n, values) = (next(9), next(9), next(4) + 1);
            let mut sorted = |len| {
                let mut v: Vec<u64> = (0..len).map(|_| next(values)).collect();
                v.sort_unstable();
                v
            };
            let (a, b) = (sorted(m), sorted(n));
            let (mut i, mut j) = (0, 0);
            for k in 0..=m + n {
                assert_eq!(co_rank(k, m, n, |i, j| a[i as usize] <= b[j as usize]), i, "{k} of {a:?} and {b:?}");
                if i < m && (j == n || a[i as usize] <= b[j as usize]) { i += 1 } else { j += 1 }
            }
        }
    }
}
