//! P07 sort: stable, by the bits of the keys or by a comparator; the first keys; and whether keys are in order.

mod by;
mod call;
mod computed;
mod domain;
mod in_line;
mod nan_last;
mod ordered;
mod quantiles;
mod sorted;
mod sorted_call;
mod task;
mod top_k;
mod top_k_call;
mod top_k_plan;
mod top_k_rows;
mod travel;
mod verb;

pub use domain::{SortDomain, SortInPlace, SortRun, TravelsInPlace};
pub use nan_last::NanOrder;
pub use ordered::Ordered;
pub use quantiles::Quantiles;
pub use sorted_call::{SortedCall, SortedDomain};
pub use task::{Digit, KeyBits, SortBy, SortOrder, SortPayload, SortPlaces, SortTask};
pub use top_k::TopKTask;
pub use top_k_call::{TopKCall, TopKDomain};
pub use travel::{GivesKeys, IndicesAlone, KeysAlone, LentMemory, Scratch, Travels, WithIndices, WithValues};
pub use verb::{By, InScratch, SortCall};

use crate::backend::Run;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::Elements;
pub(super) use by::check_nan;
pub(super) use call::Call;
pub(super) use computed::InMemory;
pub(super) use domain::fresh;
pub(super) use nan_last::OrderedKeys;
pub(crate) use sorted::check_sorted;
pub(super) use sorted::check_sorted_from;

/// Elements that travel with keys: those of four and eight bytes. What is wider, or narrower, is fetched by the indices of an
/// [`argsort`](Sort::argsort).
pub trait Payload: Element {}
impl Payload for f32 {}
impl Payload for i32 {}
impl Payload for u32 {}
impl Payload for f64 {}
impl Payload for i64 {}
impl Payload for u64 {}

/// Stable sorts of every element type, the first keys of one, and whether keys are in order.
///
/// # Order
/// Integers compare by value. Floats compare in IEEE 754's total order, -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN, NaNs by their payload; every
/// bit of a key is kept. [NaN last](Ordered::nan_last) puts all of them after the numbers. Equal keys keep their order, ascending and descending alike, so there is one result: it depends on no tile, digit or
/// device. With a range of [bits](SortCall::bits), keys are equal that agree in it.
///
/// Work O(n * bits), in passes of up to eight bits over keys and payload; scratch is the size of keys and payload, less where it is
/// [lent](SortCall::scratch). Arrays have less than 2^32 elements. Outputs may not overlap inputs; sorts in place have none.
///
/// Source: Satish, Harris and Garland, *Designing efficient sorting algorithms for manycore GPUs* (2009); Adinets and Merrill, *Onesweep: a faster
/// least significant digit radix sort for GPUs* (2022); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 13.
///
/// # Fused inputs
/// Keys, and values, are any input: a sort goes over its keys once for every digit, and its result needs their memory, so an operator is evaluated once,
/// straight into the outputs, and sorted there: a write and a read of keys and what travels more than a sort of arrays. They are what a
/// [map](crate::patterns::Map) would store: a NaN is the canonical one, and they may be stored as `f16` or integers of 8 or 16 bits
/// ([`Expr::store_as`](crate::ir::Expr::store_as)). Scratch is that of a sort in place. Segments, first elements and the first keys are computed into
/// memory that is taken for them. An array beside a fused input is copied, bit for bit.
///
/// # Segments
/// Neighbouring [segments](SortCall::segments) of up to some thousand keys are sorted together in shared memory, by merges; longer ones digit by digit, as
/// arrays are, each tile within one segment. So work is O(n bits of a key), and O(log n) comparisons a key of short segments, whatever the lengths. Scratch is
/// a copy of the keys and of what travels with them, at most 6 bytes an element more, and 4 a segment. There are less than 2^32 - 3 segments. The
/// result is that of a sort of each slice. A [length](SortCall::length) on the device is one segment from the start, whose work follows it.
///
/// Source: Knuth, *The Art of Computer Programming*, volume 3, section 5.2.5 (the lowest digit first).
///
/// # Comparators
/// `before(a, b)` says whether `a` comes before `b`. Where it is a strict weak order (nothing comes before itself; what is before a third comes before
/// whatever that comes before; and so for keys of which neither is before the other) a stable sort [by](SortCall::by) it has one result: keys that are
/// neither before nor after each other keep their order. Every bit of a key is kept.
///
/// `<` of floats is no such order where there are NaN, which are before nothing and after nothing. `a.lt(b) | (b.is_nan() & !a.is_nan())` is one,
/// with NaN last; a sort by bits orders floats totally.
///
/// What a closure makes that is no such order is the same on every device, too, and no access leaves a buffer; but elements may be missing from it,
/// and others be there twice. For the keys that are compared depend on their number and type alone ([`MergeTiling`](super::MergeTiling)):
/// - parts of 16 keys (of eight bytes: 8) are sorted by as many rounds of odd-even transposition, the first from the first key on; neighbours change
///   places where the right one comes before the left;
/// - runs are merged in pairs, twice as long ones every time, to tiles of 256 parts and on to one run. Of a merge, parts of the result begin where
///   [`co_rank`](super::merge::co_rank) says, the first of two elements going first unless the second comes before it, and are merged one by one. In
///   runs of a tile and longer, tiles begin so, and in each what belongs to it is merged so.
///
/// Work O(n log n); passes over all keys and what travels: one, and one more for each doubling beyond a tile. Scratch is the size of keys, unless it
/// is lent, and of what travels, and eight bytes a tile. Values of four bytes travel with their keys, other ones are fetched by indices at the end, which takes four
/// bytes an element, and as much as the values in place. Keys of one and two bytes take words on wgpu.
///
/// The comparator is compiled into the kernels: a number that it captures is part of them. Through wgpu, 2^31 elements and more are
/// [`Error::TooLarge`], and so, with values or indices, are 2^32 and more everywhere; runs above the binding limit are merged
/// window by window there, with the same comparisons.
///
/// Source: Green, McColl and Bader, *GPU merge path: a GPU merging algorithm* (2012); Satish, Harris and Garland, *Designing efficient sorting
/// algorithms for manycore GPUs* (2009); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapters 12 and 13.
pub trait Sort: Run<SortTask> {
    /// Sorts keys, the least first; what else is wanted is said by modifiers of the [call](SortCall).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3.0f32, f32::NAN, -0.0, 0.0, -7.5])?;
    /// let sorted = dev.sort(&keys).run()?.read_blocking()?;
    /// assert_eq!(sorted[..4], [-7.5, -0.0, 0.0, 3.0]);
    /// assert!(sorted[1].is_sign_negative() && sorted[4].is_nan());
    /// // Any input; it is evaluated once.
    /// let (x, y) = (dev.upload(&[3.0f32, -1.0, 2.0])?, dev.upload(&[1.0f32, 5.0, 0.0])?);
    /// assert_eq!(dev.sort((&x, &y).map(|(x, y)| x * y)).run()?.read_blocking()?, [-5.0, 0.0, 3.0]);
    /// let bytes = dev.sort(counting(4).map(|i| (i * 100).store_as::<u8>())).descending().run()?; // 0, 100, 200, 44
    /// assert_eq!(bytes.read_blocking()?, [200, 100, 44, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn sort<I: Elements<Self>>(&self, keys: I) -> SortCall<'_, Self, I> {
        SortCall::new(self, keys)
    }

    /// Gives the indices of the keys in order, with the modifiers of a [`sort`](Self::sort).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[30u32, 10, 30, 20])?;
    /// assert_eq!(dev.argsort(&keys).run()?.read_blocking()?, [1, 3, 0, 2]);
    /// assert_eq!(dev.argsort(&keys).descending().run()?.read_blocking()?, [0, 2, 3, 1]); // equal keys keep their order
    /// // By the low byte; of equal ones the greatest first.
    /// let points = dev.upload(&[0x0203u32, 0x0101, 0x0102, 0x0201])?;
    /// let order = dev.argsort(&points).by(|a, b| (a & 255u32).lt(b & 255u32) | ((a & 255u32).eq(b & 255u32) & a.gt(b))).run()?;
    /// assert_eq!(order.read_blocking()?, [3, 1, 2, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn argsort<I: Elements<Self>>(&self, keys: I) -> SortCall<'_, Self, I, IndicesAlone> {
        SortCall::new(self, keys).indices()
    }

    /// Gives the first `k` keys in order, the greatest first: the start of what a descending [`sort`](Self::sort) gives. Of equal keys those with the lowest
    /// indices are taken and come in that order. So there is one result, on every device.
    ///
    /// Work O(n + k * bits): the keys are read once and, for a `k` that is small against them, little else; arrays of many equal keys, and such as
    /// mislead a sample, are read several times. Scratch is 8 bytes (12 for keys of 8 bytes) to each of about `k + 12 * sqrt(k * m) + 32 * m` keys, of
    /// which a sample stands for `m = n / 4096` at most, and what a sort of `k` pairs takes. More than an eighth of the keys, and few keys, are sorted
    /// whole. Fused keys are stored, since they are read again where a sample misled.
    ///
    /// Source: Alabi, Blanchard, Gordon and Steinbach, *Fast k-selection algorithms for graphics processing units* (2012); Zhang, Naruse, Li and Wang,
    /// *Parallel top-k algorithms on GPU* (2023).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let scores = dev.upload(&[0.1f32, 0.9, 0.4, 0.7])?;
    /// assert_eq!(dev.top_k(&scores, 2).run()?.read_blocking()?, [0.9, 0.7]);
    /// let (best, indices) = dev.top_k(&scores, 2).with_indices().run()?;
    /// assert_eq!((best.read_blocking()?, indices.read_blocking()?), (vec![0.9, 0.7], vec![1, 3]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn top_k<I: Elements<Self>>(&self, keys: I, k: u64) -> TopKCall<'_, Self, I> {
        TopKCall::new(self, keys, k)
    }

    /// Says whether no key comes before its left neighbour: 1, or 0, on the device. A [check](SortedCall::check) waits for the device, and names the first one.
    /// Fused keys never lie in memory: they are computed for an element and for the one before, which is fetched from arrays and views, of at most 2^32
    /// elements from the first to the last. Work O(n), in one pass.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[1.0f32, 2.0, 2.0])?;
    /// assert_eq!(dev.is_sorted(&keys).run()?.read_blocking()?, 1);
    /// assert_eq!(dev.is_sorted(&keys).descending().run()?.read_blocking()?, 0);
    /// assert_eq!(dev.is_sorted(keys.map(|k| k - 2.0).map(|k| k * k)).descending().run()?.read_blocking()?, 1);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn is_sorted<I: Elements<Self>>(&self, keys: I) -> SortedCall<'_, Self, I> {
        SortedCall::new(self, keys)
    }
}
impl<B: Run<SortTask>> Sort for B {}

/// Most keys of a sort: its indices are `u32`.
const MOST: u64 = u32::MAX as u64;

pub(crate) fn check_len(keys: u64) -> Result<()> {
    if keys > MOST { Err(Error::TooLarge { what: "elements of a sort", requested: keys, limit: MOST }) } else { Ok(()) }
}
