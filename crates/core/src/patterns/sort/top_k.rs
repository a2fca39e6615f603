//! P07 top-k: the first keys of a stable sort, without sorting the others.

use super::{Sort as _, SortBy, SortOrder, SortTask, check_len};
use crate::backend::{Backend, Leaf, Out, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element};
use crate::error::{Error, Result};
use crate::input::require;
use crate::patterns::check_aliasing;
use crate::patterns::moves::{GatherTask, gather};
use crate::patterns::sort::call::bits_of;
use crate::patterns::sort::{Digit, KeyBits};
use core::ops::Range;

/// Fewer keys than this are sorted whole.
const SORTED_BELOW: u64 = 1 << 18;
/// More than this share of the keys, one in so many, are the start of a whole sort.
const SORTED_SHARE: u64 = 8;
/// Bits of a digit by which the last key is looked for.
const DIGIT: u32 = 11;

/// Which keys come first, as data. The one leaf is the keys; the one output takes their `k` indices, a `u32` each, from the lowest on: those of the
/// keys that a stable sort has in its first `k` places.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct TopKTask {
    /// Type of the keys.
    pub dtype: DType,
    /// Which key comes first.
    pub order: SortOrder,
    /// The bits that are compared, inside the key's.
    pub bits: Range<u32>,
    /// Keys: less than 2^32.
    pub n: u64,
    /// How many of them are wanted: 1 to `n`.
    pub k: u64,
}

impl TopKTask {
    /// How keys become unsigned integers that compare in this order; of these, only [`TopKTask::bits`] count.
    #[must_use]
    pub fn key_bits(&self) -> KeyBits {
        KeyBits::new(self.dtype, self.order)
    }

    /// The digits of what is compared, its lowest bit being bit 0, from the highest on.
    #[must_use]
    pub fn key_digits(&self) -> Vec<Digit> {
        digits(self.bits.end - self.bits.start)
    }

    /// The digits of the indices, from the highest on.
    #[must_use]
    pub fn index_digits(&self) -> Vec<Digit> {
        digits(self.index_bits())
    }

    /// The bits of the greatest index.
    #[must_use]
    pub const fn index_bits(&self) -> u32 {
        u64::BITS - self.n.saturating_sub(1).leading_zeros()
    }

    /// Of so many samples in order, the place (from 1) of one that hardly ever comes before the last key that is wanted: four standard deviations
    /// behind where that is expected.
    #[must_use]
    pub fn sample_rank(&self, samples: u64) -> u64 {
        let expected = self.k as f64 * samples as f64 / self.n as f64;
        ((expected + 4.0 * expected.sqrt() + 4.0).ceil() as u64).clamp(1, samples.max(1))
    }

    /// Room for the keys up to that sample, with as much to spare again.
    #[must_use]
    pub fn room(&self, samples: u64) -> u64 {
        let (k, step) = (self.k as f64, self.n as f64 / samples.max(1) as f64);
        ((k + 12.0 * (k * step).sqrt() + 32.0 * step).ceil() as u64).min(self.n)
    }

    /// The operands: the keys with their first element, and the output.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where they are not those of this task.
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Result<((&'a R, u64), &'a Out<R>)> {
        match (leaves, outs) {
            ([Leaf::Elements { raw, offset, stride: 1, .. }], [out]) => Ok(((raw, *offset), out)),
            _ => Err(Error::InvalidArgument { what: "top_k", reason: "its operands do not fit".to_owned() }),
        }
    }

    /// What puts its indices in order.
    #[must_use]
    pub fn sort_of_indices(&self) -> SortTask {
        let (dtype, order, bits) = (DType::U32, SortOrder::Ascending, 0..self.index_bits());
        SortTask { dtype, order, bits, rows: 1, n: self.k, payload: super::SortPayload::Nothing, keys_out: true, lent: false }
    }
}

/// From the highest on, as alike as can be.
fn digits(bits: u32) -> Vec<Digit> {
    let passes = bits.div_ceil(DIGIT);
    let start = |left: u32| bits * left / passes;
    (0..passes).rev().map(|left| Digit { shift: start(left), bits: start(left + 1) - start(left) }).collect()
}

/// The first keys in order, of all.
///
/// The result is the start of what [`Sort`](super::Sort) gives: floats compare in IEEE 754's total order, every bit of a key is kept, and of equal
/// keys those with the lowest indices are taken and come in that order, ascending and descending alike. So there is one result, on every device.
/// Arrays have less than 2^32 elements. Outputs may not overlap the keys.
///
/// Work O(n + k * bits): the keys are read once and, for a `k` that is small against them, little else; arrays of many equal keys, and such as
/// mislead a sample, are read several times. Scratch is 8 bytes (12 for keys of 8 bytes) to each of about `k + 12 * sqrt(k * m) + 32 * m` keys, of
/// which a sample stands for `m = n / 4096` at most, and what a sort of `k` pairs takes. More than an eighth of the keys, and few keys, are sorted
/// whole.
///
/// Source: Alabi, Blanchard, Gordon and Steinbach, *Fast k-selection algorithms for graphics processing units* (2012); Zhang, Naruse, Li and Wang,
/// *Parallel top-k algorithms on GPU* (2023).
pub trait TopK: Run<TopKTask> + Run<SortTask> + Run<GatherTask> {
    /// The first `k` keys in order and where they were: the greatest, where the order is descending.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let scores = dev.upload(&[0.1f32, 0.9, 0.4, 0.7])?;
    /// let (best, places) = dev.top_k(&scores, 2, SortOrder::Descending)?;
    /// assert_eq!((best.read_blocking()?, places.read_blocking()?), (vec![0.9, 0.7], vec![1, 3]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a `k` above the number of keys, with both; else as [`Sort::sort`](super::Sort::sort).
    fn top_k<K: Element>(&self, keys: &Buffer<Self, K>, k: u64, by: impl Into<SortBy>) -> Result<(Buffer<Self, K>, Buffer<Self, u32>)> {
        let by = by.into();
        let task = task(self, keys, k, &by)?;
        if sorts_whole(&task) {
            let (sorted, indices) = self.sort_with_indices(keys, by)?;
            return Ok((sorted.slice(..k)?, indices.slice(..k)?));
        }
        let out = (self.buffer(k)?, self.buffer(k)?);
        select(self, &task, keys, by, Some(&out.0), Some(&out.1))?;
        Ok(out)
    }

    /// As [`TopK::top_k`], into the caller's buffers. What lies behind the first `k` elements of them stays as it was.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[5u32, 1, 5, 0])?;
    /// let (first, places) = (dev.buffer(3)?, dev.buffer(3)?);
    /// dev.top_k_into(&keys, 3, SortOrder::Descending, (&first, &places))?;
    /// assert_eq!((first.read_blocking()?, places.read_blocking()?), (vec![5, 5, 1], vec![0, 2, 1])); // equal keys keep their order
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopK::top_k`], and [`Error::BufferTooSmall`], [`Error::Aliasing`], [`Error::WrongDevice`].
    fn top_k_into<K: Element>(
        &self,
        keys: &Buffer<Self, K>,
        k: u64,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, u32>),
    ) -> Result<()> {
        into(self, keys, k, by.into(), Some(out.0), Some(out.1))
    }

    /// The first `k` keys in order, without where they were.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3i64, -1, 2])?;
    /// assert_eq!(dev.top_k_keys(&keys, 2, SortOrder::Ascending)?.read_blocking()?, [-1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopK::top_k`].
    fn top_k_keys<K: Element>(&self, keys: &Buffer<Self, K>, k: u64, by: impl Into<SortBy>) -> Result<Buffer<Self, K>> {
        let by = by.into();
        let task = task(self, keys, k, &by)?;
        if sorts_whole(&task) {
            return self.sort(keys, by)?.slice(..k);
        }
        let out = self.buffer(k)?;
        select(self, &task, keys, by, Some(&out), None)?;
        Ok(out)
    }

    /// As [`TopK::top_k_keys`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, out) = (dev.upload(&[3u8, 9, 2])?, dev.buffer(1)?);
    /// dev.top_k_keys_into(&keys, 1, SortOrder::Descending, &out)?;
    /// assert_eq!(out.read_blocking()?, [9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopK::top_k_into`].
    fn top_k_keys_into<K: Element>(&self, keys: &Buffer<Self, K>, k: u64, by: impl Into<SortBy>, out: &Buffer<Self, K>) -> Result<()> {
        into(self, keys, k, by.into(), Some(out), None)
    }

    /// The first `k` keys in order, and the values of any type that go with them.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (scores, names) = (dev.upload(&[0.1f32, 0.9, 0.4, 0.7])?, dev.upload(b"abcd")?);
    /// let (best, names) = dev.top_k_pairs(&scores, &names, 2, SortOrder::Descending)?;
    /// assert_eq!((best.read_blocking()?, names.read_blocking()?), (vec![0.9, 0.7], b"bd".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopK::top_k`], and [`Error::LengthMismatch`].
    fn top_k_pairs<K: Element, V: Element>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        k: u64,
        by: impl Into<SortBy>,
    ) -> Result<(Buffer<Self, K>, Buffer<Self, V>)> {
        let by = by.into();
        task(self, keys, k, &by)?;
        let out = (self.buffer(k)?, self.buffer(k)?);
        self.top_k_pairs_into(keys, values, k, by, (&out.0, &out.1))?;
        Ok(out)
    }

    /// As [`TopK::top_k_pairs`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, values) = (dev.upload(&[5u32, 1, 5, 0])?, dev.upload(&[0.5f64, 0.1, 0.6, 0.0])?);
    /// let (first, with) = (dev.buffer(2)?, dev.buffer(2)?);
    /// dev.top_k_pairs_into(&keys, &values, 2, SortOrder::Descending, (&first, &with))?;
    /// assert_eq!(with.read_blocking()?, [0.5, 0.6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopK::top_k_into`], and [`Error::LengthMismatch`].
    fn top_k_pairs_into<K: Element, V: Element>(
        &self,
        keys: &Buffer<Self, K>,
        values: &Buffer<Self, V>,
        k: u64,
        by: impl Into<SortBy>,
        out: (&Buffer<Self, K>, &Buffer<Self, V>),
    ) -> Result<()> {
        if values.len() != keys.len() {
            return Err(Error::LengthMismatch { what: "values", expected: keys.len(), found: values.len() });
        }
        values.check_device(self, "an input")?;
        out.1.check_device(self, "the output")?;
        require(self, "top_k", V::DTYPE)?;
        if out.1.len() < k {
            return Err(Error::BufferTooSmall { what: "the output", required: k, available: out.1.len() });
        }
        check_aliasing("top_k", &[keys.leaf(), values.leaf()], keys.len(), &[(out.0.out(), k), (out.1.out(), k)], false)?;
        let places = self.buffer(k)?;
        self.top_k_into(keys, k, by, (out.0, &places))?;
        gather(self, values, &places, out.1, false)
    }
}
impl<B: Run<TopKTask> + Run<SortTask> + Run<GatherTask>> TopK for B {}

/// The task, its arguments checked.
fn task<B: Backend, K: Element>(device: &B, keys: &Buffer<B, K>, k: u64, by: &SortBy) -> Result<TopKTask> {
    require(device, "top_k", K::DTYPE)?;
    let bits = bits_of(K::DTYPE, by)?;
    keys.check_device(device, "an input")?;
    let n = keys.len();
    if k > n {
        return Err(Error::TooLarge { what: "k of a top-k, by the number of keys", requested: k, limit: n });
    }
    check_len(n)?;
    Ok(TopKTask { dtype: K::DTYPE, order: by.order, bits, n, k })
}

pub(super) fn sorts_whole(task: &TopKTask) -> bool {
    task.n < SORTED_BELOW || task.k > task.n / SORTED_SHARE
}

/// Checks the caller's outputs and fills them.
fn into<B: Run<TopKTask> + Run<SortTask> + Run<GatherTask>, K: Element>(
    device: &B,
    keys: &Buffer<B, K>,
    k: u64,
    by: SortBy,
    first: Option<&Buffer<B, K>>,
    places: Option<&Buffer<B, u32>>,
) -> Result<()> {
    let task = task(device, keys, k, &by)?;
    check_outputs(device, keys, k, first, places)?;
    if k == 0 {
        return Ok(());
    }
    if !sorts_whole(&task) {
        return select(device, &task, keys, by, first, places);
    }
    let copy = |from: &B::Raw, out: &Out<B::Raw>| {
        let size = out.dtype.size_bytes();
        device.copy_bytes(from, 0, &out.raw, out.offset * size, k * size)
    };
    match (first, places) {
        (Some(first), None) => copy(device.sort(keys, by)?.raw(), &first.out()),
        (first, Some(places)) => {
            let (sorted, indices) = device.sort_with_indices(keys, by)?;
            first.map_or(Ok(()), |first| copy(sorted.raw(), &first.out()))?;
            copy(indices.raw(), &places.out())
        }
        (None, None) => Ok(()),
    }
}

/// Fails where outputs of so many elements are on another device, too small, or over the keys or each other.
pub(super) fn check_outputs<B: Backend, K: Element>(
    device: &B,
    keys: &Buffer<B, K>,
    results: u64,
    first: Option<&Buffer<B, K>>,
    places: Option<&Buffer<B, u32>>,
) -> Result<()> {
    let mut outs = Vec::new();
    for (len, out, on) in [
        first.map(|o| (o.len(), o.out(), o.check_device(device, "the output"))),
        places.map(|o| (o.len(), o.out(), o.check_device(device, "the output"))),
    ]
    .into_iter()
    .flatten()
    {
        if len < results {
            return Err(Error::BufferTooSmall { what: "the output", required: results, available: len });
        }
        on?;
        outs.push((out, results));
    }
    check_aliasing("top_k", &[keys.leaf()], keys.len(), &outs, false)
}

/// Finds the keys and sorts them.
pub(super) fn select<B: Run<TopKTask> + Run<SortTask> + Run<GatherTask>, K: Element>(
    device: &B,
    task: &TopKTask,
    keys: &Buffer<B, K>,
    by: SortBy,
    first: Option<&Buffer<B, K>>,
    places: Option<&Buffer<B, u32>>,
) -> Result<()> {
    if task.k == 0 {
        return Ok(());
    }
    let at = device.buffer::<u32>(task.k)?;
    device.run(task, &[keys.leaf()], &[at.out()])?;
    let found = device.buffer::<K>(task.k)?;
    gather(device, keys, &at, &found, false)?;
    match (first, places) {
        (Some(first), Some(places)) => device.sort_pairs_into(&found, &at, by, (first, places)),
        (Some(first), None) => device.sort_into(&found, by, first),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(n: u64, k: u64, bits: Range<u32>) -> TopKTask {
        TopKTask { dtype: DType::U32, order: SortOrder::Ascending, bits, n, k }
    }

    #[test]
    fn digits_come_from_the_highest_on_and_cover_all_bits_once() {
        let of = |bits| digits(bits).iter().map(|d| (d.shift, d.bits)).collect::<Vec<_>>();
        assert_eq!(of(0), []);
        assert_eq!(of(8), [(0, 8)]);
        assert_eq!(of(32), [(21, 11), (10, 11), (0, 10)]);
        for bits in 1..=64 {
            let mut top = bits;
            for digit in digits(bits) {
                assert!(digit.bits > 0 && digit.bits <= DIGIT);
                assert_eq!(digit.shift + digit.bits, top);
                top = digit.shift;
            }
            assert_eq!(top, 0);
        }
    }

    #[test]
    fn indices_have_the_bits_of_the_greatest() {
        for (n, bits) in [(1, 0), (2, 1), (3, 2), (1 << 28, 28), ((1 << 28) + 1, 29), (u64::from(u32::MAX), 32)] {
            assert_eq!(task(n, 1, 0..32).index_bits(), bits, "{n}");
        }
    }

    #[test]
    fn samples_leave_room_on_either_side() {
        for n in [1 << 18, 1 << 22, 1 << 28] {
            for k in [1, 10, 1000, n / 8] {
                let (task, samples) = (task(n, k, 0..32), 1 << 14);
                let expected = task.sample_rank(samples) * n / samples;
                assert!(expected > k && task.room(samples) > expected, "{n} {k}");
                assert!(task.room(samples) < k + k / 2 + n / 8, "{n} {k}");
            }
        }
        assert_eq!(task(100, 100, 0..32).sample_rank(50), 50);
    }
}
