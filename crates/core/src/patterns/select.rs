//! P04 select: elements kept, parted or run together, in their order.

mod decode;
mod find;
mod runs;
mod selected;
mod selection;
mod task;
mod unique;

pub use decode::Decode;
pub use find::{Find, FindIf};
pub use runs::{NonTrivialRuns, RunLengths};
pub use selected::{Count, Selected};
pub use selection::{Condition, Each, Flagged, InThree, InTwo, Kept, Numbered, OneOf, PartOf, Selection, StoredOf, Ways, Where};
pub use task::{SelectKind, SelectTask};
pub use unique::{ByKeys, ByValue, EqualBy, Equality, First, Unique, WithCounts};

use super::{Map, MapTask, ReduceTask};
use crate::backend::Run;
use crate::call::Flag;
use crate::element::{Element, Scalar};
use crate::input::{Input, Outputs};
use crate::ir::{self, ArrayExpr, Expr, Traced, TracedValue};
pub(super) use task::{Call, beginnings, enqueue, word, words};
pub(super) use unique::without_rest;

/// The part that an element goes to, and what of it is stored.
#[derive(Clone, Copy)]
struct Parted<R>(Expr<u32>, R);

impl<R: Outputs> Traced for Parted<R> {
    fn types() -> Vec<crate::element::Ty> {
        [vec![crate::element::Ty::U32], R::types()].concat()
    }
    fn params(first: u16) -> Self {
        Self(Expr::params(first), R::params(first + 1))
    }
    fn push_values(self, out: &mut Vec<TracedValue>) {
        self.0.push_values(out);
        self.1.push_values(out);
    }
}

/// 0 for what is kept, 1 for the rest.
pub(super) fn kept_or_not(keep: Expr<bool>) -> Expr<u32> {
    ir::select(keep, 0, 1)
}

/// Elements kept by a condition, parted by it, and the first of runs of equal ones; [`RunLengths`] has how long these are.
///
/// Every verb takes any input and returns a call, which `run` enqueues into new memory and `write_to` into the caller's. What is stored of an element is the
/// element, in its type, of several inputs a tuple; `finish` stores what it makes of them. `length` takes the first elements only, as many as the device has
/// counted.
///
/// Everything here is stable, so there is no order of evaluation to state. Elements that are moved keep their bits: a NaN its payload, a zero
/// its sign (an `f16` that is NaN becomes the canonical one). What an operator computes is stored as a [map](Map) stores it.
///
/// Counts stay on the device. Outputs hold as many elements as the input; what lies after those that are written stays as it was. Outputs may
/// not overlap inputs.
///
/// What only asks about elements is [`Find`].
///
/// Work O(n). A selection reads its inputs once; a partition twice, since the elements that are not kept have to know how many are.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// // The values of the good samples summed up by their names, and the largest sums' names: nothing is read back in between.
/// let (names, x) = (dev.upload(&[7u32, 3, 7, 5, 3, 7])?, dev.upload(&[1.0f32, 2.0, -1.0, 3.0, 4.0, 5.0])?);
/// let good = dev.select((&names, &x), |(_, x)| x.gt(0.0)).run()?;
/// let sorted = dev.sort(&good.values.0).with_values(&good.values.1).length(&good.count).run()?;
/// let sums = dev.reduce(&sorted.values.1, Sum).by_key(&sorted.values.0).length(&sorted.count).run()?;
/// let large = dev.select((&sums.values.0, &sums.values.1), |(_, sum)| sum.gt(4.0)).length(&sums.count).finish(|(name, _)| name).run()?;
/// assert_eq!(large.read_blocking()?, [3, 7]);
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// Source: Merrill and Garland, *Single-pass parallel prefix scan with decoupled look-back* (2016), section 5; Kirk, Hwu and El Hajj,
/// *Programming Massively Parallel Processors*, chapters 11 and 13.
pub trait Select: Run<SelectTask> + Run<ReduceTask> + Run<MapTask> {
    /// The elements for which `keep` holds.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.5f32, 2.0, 0.1, 0.3])?;
    /// let kept = dev.select(&x, |x| x.gt(0.25) & x.lt(0.75)).run()?;
    /// assert_eq!((kept.len_blocking()?, kept.read_blocking()?), (2, vec![0.5, 0.3]));
    /// // The sum of what was kept, without asking how much that is.
    /// assert_eq!(dev.reduce(&kept.values, Sum).length(&kept.count).run()?.read_blocking()?, 0.8);
    /// // Where two arrays differ, and by how much.
    /// let y = dev.upload(&[0.5f32, 1.0, 0.1, 0.05])?;
    /// let found = dev.select((&x, &y, index()), |(x, y, _)| x.ne(y)).finish(|(x, y, i)| (i, x - y)).run()?;
    /// assert_eq!(found.values.0.slice(..found.len_blocking()?)?.read_blocking()?, [1, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn select<I: Input<Self>, F: FnOnce(I::Exprs) -> Expr<bool>>(&self, inputs: I, keep: F) -> Selection<'_, Self, I, Where<F>> {
        Selection::new(self, inputs, Where(keep))
    }

    /// The elements whose flags are set: are not zero, or true. There are as many flags as elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(b"abcd")?, dev.upload(&[0u32, 1, 0, 7])?);
    /// assert_eq!(dev.select_flagged(&x, &flags).run()?.read_blocking()?, *b"bd");
    /// // Flags are any input, words or conditions.
    /// let weights = dev.upload(&[0.5f32, -1.0, 2.0, 0.25])?;
    /// assert_eq!(dev.select_flagged(&x, weights.map(|w| w.gt(0.3))).run()?.read_blocking()?, *b"ac");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn select_flagged<I: Input<Self>, H: Input<Self, Exprs: Flag>>(&self, inputs: I, flags: H) -> Selection<'_, Self, I, Flagged<H>> {
        Selection::new(self, inputs, Flagged(flags))
    }

    /// Moves all elements: those for which `first` holds, then the others; both in their order. The count is that of the first part.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.iota::<u32>(6, 0, 1)?;
    /// let parts = dev.partition(&x, |x| (x % 3).eq(0)).run()?;
    /// assert_eq!((parts.len_blocking()?, parts.values.read_blocking()?), (2, vec![0, 3, 1, 2, 4, 5]));
    /// // Where the negative ones lie, and then where the others do.
    /// let x = dev.upload(&[1.0f32, -2.0, -3.0])?;
    /// let parts = dev.partition((&x, index()), |(x, _)| x.lt(0.0)).finish(|(_, i)| i).run()?;
    /// assert_eq!((parts.len_blocking()?, parts.values.read_blocking()?), (2, vec![1, 2, 0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn partition<I: Input<Self>, F: FnOnce(I::Exprs) -> Expr<bool>>(
        &self,
        inputs: I,
        first: F,
    ) -> Selection<'_, Self, I, Where<F>, Each, InTwo> {
        Selection::new(self, inputs, Where(first))
    }

    /// Moves all elements: those whose flags are set, then the others; both in their order. The count is that of the first part.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(b"abcd")?, dev.upload(&[0u32, 1, 0, 7])?);
    /// let parts = dev.partition_flagged(&x, &flags).run()?;
    /// assert_eq!((parts.len_blocking()?, parts.values.read_blocking()?), (2, b"bdac".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn partition_flagged<I: Input<Self>, H: Input<Self, Exprs: Flag>>(
        &self,
        inputs: I,
        flags: H,
    ) -> Selection<'_, Self, I, Flagged<H>, Each, InTwo> {
        Selection::new(self, inputs, Flagged(flags))
    }

    /// Moves all elements into three parts, each in its order: `part` gives 0 for those of the first, 1 for those of the second, else the third. The two counts are
    /// those of the first two. By conditions it is [`partition`](Self::partition) with [`three_way`](Selection::three_way).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (parts, counts) = dev.partition_three(&dev.iota::<u32>(7, 0, 1)?, |x| x % 3).run()?;
    /// assert_eq!((parts.read_blocking()?, counts.read_blocking()?), (vec![0, 3, 6, 1, 4, 2, 5], vec![3, 2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn partition_three<I: Input<Self>, F: FnOnce(I::Exprs) -> Expr<u32>>(&self, inputs: I, part: F) -> InThree<'_, Self, I, Numbered<F>> {
        InThree::new(self, inputs, Numbered(part))
    }

    /// The first of each run of equal neighbours (compared by value: NaN differs from everything, -0 equals 0; of several inputs, each is).
    ///
    /// Inputs that are computed never lie in memory: they are computed for an element and for the one before, which is fetched from arrays and views, of at
    /// most 2^32 elements from the first to the last.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 1, 2, 2, 2, 1])?;
    /// assert_eq!(dev.unique(&x).run()?.read_blocking()?, [1, 2, 1]);
    /// let x = dev.upload(&[10u32, 12, 23, 27, 14])?;
    /// assert_eq!(dev.unique(x.map(|x| x / 10)).run()?.read_blocking()?, [1, 2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn unique<I: Input<Self>>(&self, inputs: I) -> Unique<'_, Self, I> {
        Unique::new(self, inputs)
    }
}
impl<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>> Select for B {}

/// Whether an element is not equal to the one before it, or the first of all.
pub(super) fn starts<T: Element>(
    equal: impl FnOnce(Expr<T::Reg>, Expr<T::Reg>) -> Expr<bool>,
    all: ArrayExpr<T>,
    x: Expr<T::Reg>,
    i: Expr<u32>,
) -> Expr<bool>
where
    T::Reg: Scalar,
{
    i.eq(0) | !equal(all.at(i - 1), x)
}
