//! P08 merge: two sorted arrays become one, and what is found in sorted arrays.

mod call;
mod co_ranks;
mod domain;
mod lazy;
mod lazy_sets;
mod search;
mod sets;
mod task;
mod verb;

pub use co_ranks::CoRanksCall;
pub use domain::MergeDomain;
pub use lazy::{CoRankFromTask, MergeFromTask, SearchFromTask, Sides};
pub use search::{Search, SearchBy, SearchCall, SearchDomain};
pub use sets::{SetCall, SetDomain, Sets};
pub use task::{CoRankTask, MergePlaces, MergeTask, Place, SearchKind, SearchTask, co_rank};
pub use verb::{BothTuples, BothValues, MergeCall};

use super::merge_sort::MergeByTask;
use super::select::Count;
use super::{GatherTask, MapTask, ReduceTask};
use crate::backend::Run;
use crate::buffer::Buffer;
use crate::input::Elements;

/// Stable merges of sorted inputs of every element type.
///
/// # Order
/// Keys compare as in a [sort](super::Sort#order): integers by value, floats in IEEE 754's total order, every bit kept. Of equal keys those of `a` go
/// first, and each input's own keep their order, so there is one result: that of a stable sort of `a` followed by `b`.
///
/// Both inputs have to be sorted in the order that is asked for. Where one is not, what the result holds is not
/// determined, and no access leaves a buffer; a [checked](MergeCall::checked) merge waits for the device and
/// returns [`Error::NotSorted`](crate::Error::NotSorted) instead, having written nothing. Before co-ranks [`is_sorted`](super::Sort::is_sorted)
/// asks, as before [searches](Search).
///
/// The inputs may have any lengths, unequal ones and none too. Work O(m + n); scratch is eight bytes to a tile of some thousand elements. Through
/// wgpu, arrays above the binding limit are merged by searching every element's place, which takes O((m + n) log(m + n)) and four bytes an
/// element. Outputs may not overlap inputs.
///
/// Inputs that are no arrays (views, counted numbers, mapped or fetched elements, keys of an array with values that are none) are computed where they are
/// read, once an element (some twenty pairs to a tile again, to find where it begins), and lie in no memory. Through wgpu, inputs above the binding limit, and ones of more buffers than a kernel binds, are made into arrays first; so are
/// those of more than eight leaves on CUDA. Keys and values that are only passed on keep their bits (an `f16` that is NaN becomes the canonical
/// one); what is computed has canonical NaN.
///
/// # Comparators
/// `before(a, b)` says whether `a` comes before `b`. Where it is a strict weak order (nothing comes before itself; what is before a third comes before
/// whatever that comes before; and so for keys of which neither is before the other) there is one result: keys that are neither before nor
/// behind each other keep their order. Every bit of a key is kept.
///
/// `<` of floats is no such order where there are NaN, which are before nothing and behind nothing. `a.lt(b) | (b.is_nan() & !a.is_nan())` is one,
/// with NaN last. What a closure makes that is no such order, or of inputs that are not sorted by it, is the same on every device, too, and no access leaves
/// a buffer; but elements may be missing from it, and others be there twice: see [comparators of sorts](super::Sort#comparators).
///
/// Work is O(m + n) for arrays. Values of four bytes travel with their keys, other ones are fetched by indices at the end, which takes four bytes an element.
/// Keys of one and two bytes take words on wgpu. Through wgpu, 2^31 elements and more are
/// [`Error::TooLarge`](crate::Error::TooLarge), and so, with values, are 2^32 and more everywhere; runs above the binding limit are merged
/// window by window there, with the same comparisons. The order is compiled into the kernels: a number that it captures is part of them.
///
/// Computed inputs are merged by a comparator in O((m + n) log(min(m, n))): one launch, in which each element of the result is searched for, so operators are
/// computed some fifty times for it where inputs are long. An order that inputs have to be merged by often is quicker once they are stored. No scratch. There
/// are less than 2^32 elements together.
///
/// Source: Green, McColl and Bader, *GPU merge path: a GPU merging algorithm* (2012); Siebert and Träff, *Efficient MPI implementation of a
/// parallel, stable merge algorithm* (2012); Satish, Harris and Garland, *Designing efficient sorting algorithms for manycore GPUs* (2009); Kirk, Hwu and
/// El Hajj, *Programming Massively Parallel Processors*, chapters 12 and 13.
pub trait Merge:
    Run<MergeTask>
    + Run<MergeFromTask>
    + Run<MergeByTask>
    + Run<CoRankTask>
    + Run<CoRankFromTask>
    + Run<GatherTask>
    + Run<ReduceTask>
    + Run<MapTask>
{
    /// The elements of two sorted inputs in order, as a call that takes modifiers: see [`MergeCall`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 7, 8, 9, 10])?, dev.upload(&[7u32, 10, 10, 12])?);
    /// assert_eq!(dev.merge(&a, &b).run()?.read_blocking()?, [1, 7, 7, 8, 9, 10, 10, 10, 12]);
    /// // The even numbers below ten, and the squares of an array.
    /// let x = dev.upload(&[1u32, 2, 4])?;
    /// let merged = dev.merge(counting(5).map(|i| i * 2), x.map(|x| x * x)).run()?;
    /// assert_eq!(merged.read_blocking()?, [0, 1, 2, 4, 4, 6, 8, 16]);
    /// // An array that falls, read from its end, and a constant.
    /// let x = dev.upload(&[9i32, 5, 1])?;
    /// let merged = dev.merge(x.reversed(), (counting(2), scalar(6i32)).map(|(_, k)| k)).run()?;
    /// assert_eq!(merged.read_blocking()?, [1, 5, 6, 6, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn merge<I: Elements<Self>, J: Elements<Self, Element = I::Element>>(&self, a: I, b: J) -> MergeCall<'_, Self, I, J> {
        MergeCall::new(self, a, b)
    }

    /// For each rank `k` how many of the first `k` merged keys are of `a`; the other `k - i` are of `b`. So a merge can be cut into parts of known
    /// lengths: for other kernels, other devices, or memory that does not hold all of it. On the host: [`co_rank`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[1u32, 7, 8, 9, 10])?, dev.upload(&[7u32, 10, 10, 12])?);
    /// let cuts = dev.upload(&[0u32, 3, 6, 9])?;
    /// assert_eq!(dev.co_ranks(&a, &b, &cuts).run()?.read_blocking()?, [0, 2, 5, 5]);
    /// // Of the even and the odd numbers, half of each begin the merge.
    /// let cuts = dev.upload(&[0u32, 10, 20])?;
    /// let of_even = dev.co_ranks(counting(10).map(|i| i * 2), counting(10).map(|i| i * 2 + 1), &cuts).run()?;
    /// assert_eq!(of_even.read_blocking()?, [0, 5, 10]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn co_ranks<'d, I: Elements<Self>, J: Elements<Self, Element = I::Element>, P: Count>(
        &'d self,
        a: I,
        b: J,
        ranks: &'d Buffer<Self, P>,
    ) -> CoRanksCall<'d, Self, I, J, P> {
        CoRanksCall::new(self, a, b, ranks)
    }
}
impl<B> Merge for B where
    B: Run<MergeTask>
        + Run<MergeFromTask>
        + Run<MergeByTask>
        + Run<CoRankTask>
        + Run<CoRankFromTask>
        + Run<GatherTask>
        + Run<ReduceTask>
        + Run<MapTask>
{
}
