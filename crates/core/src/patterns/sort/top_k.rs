//! P07 top-k: the first keys of a stable sort, without sorting the others.

use super::{Call, SortBy, SortOrder, SortTask, check_len};
use crate::backend::{Backend, Leaf, Out, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element};
use crate::error::{Error, Result};
use crate::input::require;
use crate::patterns::moves::{GatherTask, gather};
use crate::patterns::sort::call::bits_of;
use crate::patterns::sort::{Digit, KeyBits};
use crate::patterns::{Prepare, check_aliasing};
use core::ops::Range;

/// Fewer keys than this are sorted whole.
const SORTED_BELOW: u64 = 1 << 18;
/// More than this share of the keys, one in so many, are the start of a whole sort.
const SORTED_SHARE: u64 = 8;
/// Bits of a digit by which the last key is looked for.
const DIGIT: u32 = 11;

/// Search for the first keys, as data. The one leaf is the keys; the one output takes their `k` indices, a `u32` each, from the lowest on: those of
/// the keys that a stable sort has in its first `k` places.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct TopKTask {
    /// Type of the keys.
    pub dtype: DType,
    /// Order of the keys: the one that comes first.
    pub order: SortOrder,
    /// The bits that are compared, inside the key's.
    pub bits: Range<u32>,
    /// Keys: less than 2^32.
    pub n: u64,
    /// Number of keys that are wanted: 1 to `n`.
    pub k: u64,
}

impl TopKTask {
    /// Returns the map from keys to unsigned integers that compare in this order; of these, only [`TopKTask::bits`] count.
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

    /// Returns the sort that puts its indices in order.
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

/// The task, its arguments checked.
pub(super) fn task<B: Backend, K: Element>(device: &B, keys: &Buffer<B, K>, k: u64, by: &SortBy) -> Result<TopKTask> {
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

/// All keys in order, and where they were.
pub(super) fn sort_whole<B: Run<SortTask>, K: Element>(
    device: &B,
    keys: &Buffer<B, K>,
    by: SortBy,
    sorted: Option<&Buffer<B, K>>,
    indices: Option<&Buffer<B, u32>>,
) -> Result<()> {
    let mut sort = Call::new(device, keys, by)?;
    if indices.is_some() {
        sort = sort.indices();
    }
    if let Some(sorted) = sorted {
        sort = sort.keys_to(sorted)?;
    }
    if let Some(indices) = indices {
        sort = sort.payload_to(indices)?;
    }
    sort.run(keys.len())
}

/// Checks the caller's outputs and fills them; `prepare` is called once all is checked.
pub(super) fn into<B: Run<TopKTask> + Run<SortTask> + Run<GatherTask>, K: Element>(
    device: &B,
    keys: &Buffer<B, K>,
    k: u64,
    by: SortBy,
    first: Option<&Buffer<B, K>>,
    places: Option<&Buffer<B, u32>>,
    prepare: Prepare<'_>,
) -> Result<()> {
    let task = task(device, keys, k, &by)?;
    check_outputs(device, keys, k, first, places)?;
    if k == 0 {
        return Ok(());
    }
    prepare()?;
    if !sorts_whole(&task) {
        return select(device, &task, keys, by, first, places);
    }
    let copy = |from: &B::Raw, out: &Out<B::Raw>| {
        let size = out.dtype.size_bytes();
        device.copy_bytes(from, 0, &out.raw, out.offset * size, k * size)
    };
    let sorted = device.buffer(keys.len())?;
    let indices = places.map(|_| device.buffer(keys.len())).transpose()?;
    sort_whole(device, keys, by, Some(&sorted), indices.as_ref())?;
    first.map_or(Ok(()), |first| copy(sorted.raw(), &first.out()))?;
    indices.zip(places).map_or(Ok(()), |(indices, places)| copy(indices.raw(), &places.out()))
}

/// The same of keys and values, which are fetched.
pub(super) fn pairs_into<B: Run<TopKTask> + Run<SortTask> + Run<GatherTask>, K: Element, V: Element>(
    device: &B,
    (keys, values): (&Buffer<B, K>, &Buffer<B, V>),
    k: u64,
    by: SortBy,
    out: (&Buffer<B, K>, &Buffer<B, V>),
    prepare: Prepare<'_>,
) -> Result<()> {
    if values.len() != keys.len() {
        return Err(Error::LengthMismatch { what: "values", expected: keys.len(), found: values.len() });
    }
    values.check_device(device, "an input")?;
    out.1.check_device(device, "the output")?;
    require(device, "top_k", V::DTYPE)?;
    if out.1.len() < k {
        return Err(Error::BufferTooSmall { what: "the output", required: k, available: out.1.len() });
    }
    check_aliasing("top_k", &[keys.leaf(), values.leaf()], keys.len(), &[(out.0.out(), k), (out.1.out(), k)], false)?;
    let places = device.buffer(k)?;
    into(device, keys, k, by, Some(out.0), Some(&places), prepare)?;
    gather(device, values, &places, out.1, false)
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
        (Some(first), Some(places)) => Call::new(device, &found, by)?.values(&at)?.keys_to(first)?.payload_to(places)?.run(task.k),
        (Some(first), None) => sort_whole(device, &found, by, Some(first), None),
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
