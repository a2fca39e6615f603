//! Where elements belong in a sorted array.

use super::lazy::{self, Side};
use super::{Count, SearchFromTask, SearchKind, SearchTask, call};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::call::Whole;
use crate::element::Element;
use crate::error::Result;
use crate::input::{Elements, Input, Values as _};
use crate::ir::Expr;
use crate::patterns::map::collect;
use crate::patterns::sort::{By, OrderedKeys};
use crate::patterns::{NanOrder, Ordered, SortBy, SortOrder};
use core::convert::identity;
use core::fmt;

/// Searches for many elements (needles) in a sorted array, by halving.
///
/// Keys compare as in a [sort](super::super::Sort#order), or [by a comparator](SearchCall::by). The array has to be sorted in the order that is asked for; where
/// it is not, the positions are not determined, and none is above the array's length. [`is_sorted`](super::super::Sort::is_sorted) asks first.
/// Needles may have any order; those that are sorted themselves find what they read in the cache.
///
/// Positions are `u32`; [`write_to`](SearchCall::write_to) also gives `u64`, for longer arrays. Outputs may not overlap inputs. Work O(needles * log n), no
/// scratch.
///
/// Both are any [inputs](Elements), so a function that rises is inverted without a table of it. They are computed where they are read, an element of the
/// sorted input as often as a search looks at it; keys, and where arrays are made first after all, are as in [merges](super::super::Merge).
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let (sorted, needles) = (dev.upload(&[10u32, 30, 20])?, dev.upload(&[20u32])?);
/// let error = dev.is_sorted(&sorted).check().and_then(|()| dev.lower_bound(&sorted, &needles).run()).unwrap_err();
/// assert!(matches!(error, isowarp::Error::NotSorted { index: 2, .. }));
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// Source: `std::lower_bound` and `std::upper_bound` of C++; NumPy's `searchsorted`.
pub trait Search: Run<SearchTask> + Run<SearchFromTask> {
    /// For each needle the number of elements that come before it: the first place where it may be inserted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles) = (dev.upload(&[10u32, 20, 20, 30])?, dev.upload(&[20u32, 5, 31])?);
    /// assert_eq!(dev.lower_bound(&sorted, &needles).run()?.read_blocking()?, [1, 0, 4]);
    /// // The integer square roots of an array, rounded up: where its numbers belong among the squares.
    /// let x = dev.upload(&[0u32, 1, 2, 4, 99, 100])?;
    /// let roots = dev.lower_bound(counting(1 << 16).map(|i| i * i), &x).run()?;
    /// assert_eq!(roots.read_blocking()?, [0, 1, 2, 2, 10, 10]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn lower_bound<I: Elements<Self>, J: Elements<Self, Element = I::Element>>(&self, sorted: I, needles: J) -> SearchCall<'_, Self, I, J> {
        SearchCall::new(self, sorted, needles, SearchKind::Lower)
    }

    /// For each needle the number of elements that come before it or are equal to it: the last place where it may be inserted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles) = (dev.upload(&[-0.0f32, 0.0, 1.0])?, dev.upload(&[-0.0f32, f32::NAN])?);
    /// assert_eq!(dev.upper_bound(&sorted, &needles).run()?.read_blocking()?, [1, 3]);
    /// // Which segment an element lies in: how many offsets are not behind it, less one.
    /// let offsets = dev.upload(&[0u32, 2, 2, 5])?;
    /// assert_eq!(dev.upper_bound(&offsets, counting(5)).run()?.read_blocking()?, [1, 1, 3, 3, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn upper_bound<I: Elements<Self>, J: Elements<Self, Element = I::Element>>(&self, sorted: I, needles: J) -> SearchCall<'_, Self, I, J> {
        SearchCall::new(self, sorted, needles, SearchKind::Upper)
    }

    /// Counts for each needle the elements that are equal to it, bit for bit; by a comparator those that come neither before it nor behind it.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles) = (dev.upload(&[1u64, 1, 1, 4])?, dev.upload(&[1u64, 2, 4])?);
    /// assert_eq!(dev.count_equal(&sorted, &needles).run()?.read_blocking()?, [3, 0, 1]);
    /// // How many of the first ten numbers have each quotient by four.
    /// let found = dev.count_equal(counting(10).map(|i| i / 4), counting(4)).run()?;
    /// assert_eq!(found.read_blocking()?, [4, 4, 2, 0]);
    /// // An array in the order of its sorted indices, which is looked at through them.
    /// let (order, x) = (dev.upload(&[2u32, 0, 1])?, dev.upload(&[5i64, 9, 5])?);
    /// let found = dev.count_equal((&order, array(&x)).map(|(i, x)| x.at(i)), &x.slice(..2)?).run()?;
    /// assert_eq!(found.read_blocking()?, [2, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn count_equal<I: Elements<Self>, J: Elements<Self, Element = I::Element>>(&self, sorted: I, needles: J) -> SearchCall<'_, Self, I, J> {
        SearchCall::new(self, sorted, needles, SearchKind::Equal)
    }
}
impl<B: Run<SearchTask> + Run<SearchFromTask>> Search for B {}

/// The register that a comparator compares keys in.
type Reg<B, I> = <<I as Elements<B>>::Element as Element>::Reg;

/// A search that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. It is made by [`lower_bound`](Search::lower_bound),
/// [`upper_bound`](Search::upper_bound) and [`count_equal`](Search::count_equal).
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let (sorted, needles) = (dev.upload(&[9i32, 3, -4])?, dev.upload(&[3i32, 0])?);
/// assert_eq!(dev.lower_bound(&sorted, &needles).descending().run()?.read_blocking()?, [1, 2]);
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct SearchCall<'d, B, I, J, P = Whole> {
    pub(in crate::patterns) device: &'d B,
    pub(in crate::patterns) sorted: I,
    pub(in crate::patterns) needles: J,
    pub(in crate::patterns) kind: SearchKind,
    pub(in crate::patterns) by: SearchBy,
    pub(in crate::patterns) domain: P,
}

/// The order that a search compares keys in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SearchBy {
    /// Order that says which key comes first.
    pub order: SortOrder,
    /// Whether NaN come after all numbers: see [`Ordered::nan_last`].
    pub nan_last: bool,
}

impl From<SortOrder> for SearchBy {
    fn from(order: SortOrder) -> Self {
        Self { order, nan_last: false }
    }
}

impl AsMut<SortOrder> for SearchBy {
    fn as_mut(&mut self) -> &mut SortOrder {
        &mut self.order
    }
}

impl NanOrder for SearchBy {
    fn nan_last_mut(&mut self) -> &mut bool {
        &mut self.nan_last
    }
}

impl<B, I, J, P: fmt::Debug> fmt::Debug for SearchCall<'_, B, I, J, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("SearchCall");
        call.field("kind", &self.kind).field("by", &self.by).field("domain", &self.domain).finish_non_exhaustive()
    }
}

impl<'d, B, I, J> SearchCall<'d, B, I, J> {
    fn new(device: &'d B, sorted: I, needles: J, kind: SearchKind) -> Self {
        Self { device, sorted, needles, kind, by: SearchBy::default(), domain: Whole }
    }
}

impl<'d, B: Backend, I: Elements<B>, J> SearchCall<'d, B, I, J> {
    /// Compares by a comparator: whether one key comes before another. It has to be a [strict weak order](super::super::Sort#comparators), and the array
    /// sorted by it; where either is not so, positions are not determined, the same on every device, and none is above the array's length. Keys are values,
    /// not ones that are stored narrower.
    ///
    /// It is one launch whose steps of halving are written out, so each power of two of elements to search has a kernel of its own. The sorted input, and the
    /// views that it is made of, have less than 2^32 elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (sorted, needles) = (dev.upload(&[-10i32, 20, -20, 30])?, dev.upload(&[20i32, 5, 31])?);
    /// let size = |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs());
    /// assert_eq!(dev.lower_bound(&sorted, &needles).by(size).run()?.read_blocking()?, [1, 0, 4]);
    /// assert_eq!(dev.upper_bound(&sorted, &needles).by(size).run()?.read_blocking()?, [3, 0, 4]);
    /// assert_eq!(dev.count_equal(&sorted, &needles).by(size).run()?.read_blocking()?, [2, 0, 0]);
    /// // Where a hyperbola falls below some heights.
    /// let heights = dev.upload(&[50.0f32, 10.0, 0.5])?;
    /// let hyperbola = counting(1000).map(|i: Expr<u32>| lit(100.0f32) / (i + 1).cast::<f32>());
    /// assert_eq!(dev.lower_bound(hyperbola, &heights).by(|a, b| a.gt(b)).run()?.read_blocking()?, [1, 9, 199]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// Source: `std::lower_bound` and `std::upper_bound` of C++, with a comparison.
    pub fn by<F: Fn(Expr<Reg<B, I>>, Expr<Reg<B, I>>) -> Expr<bool>>(self, before: F) -> SearchCall<'d, B, I, J, By<F>> {
        let Self { device, sorted, needles, kind, by, .. } = self;
        SearchCall { device, sorted, needles, kind, by, domain: By(before) }
    }
}

impl<B, I, J, P> Ordered for SearchCall<'_, B, I, J, P> {
    type By = SearchBy;
    fn by_mut(&mut self) -> &mut SearchBy {
        &mut self.by
    }
}

impl<B: Backend, I, J: Input<B>, P: SearchDomain<B, I, J>> SearchCall<'_, B, I, J, P> {
    /// Enqueues the search into new memory, which it returns: a `u32` to each needle.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) for an array of 2^32 elements or more, [`Error::Unsupported`](crate::Error::Unsupported),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::WrongDevice`](crate::Error::WrongDevice); [`Error::Op`](crate::Error::Op) for operators,
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) for inputs of one side that have different lengths.
    pub fn run(self) -> Result<Buffer<B, u32>> {
        let out = self.device.buffer(collect(self.device, "search", &self.needles)?.len()?)?;
        P::search(&self, &out)?;
        Ok(out)
    }

    /// Enqueues the search into the caller's buffer of `u32` or `u64`. It may not overlap inputs.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[30.0f32, 20.0, 10.0])?, dev.buffer::<u64>(2)?);
    /// dev.lower_bound(x.reversed(), counting(2).map(|i: Expr<u32>| i.cast::<f32>() * 20.0)).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [0, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SearchCall::run`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    pub fn write_to<C: Count>(self, out: &Buffer<B, C>) -> Result<()> {
        P::search(&self, out)
    }
}

/// The order that keys are compared in by a search: their bits, or a comparator.
pub trait SearchDomain<B: Backend, I, J>: Sized {
    /// Checks and enqueues the search.
    #[doc(hidden)]
    fn search<C: Count>(call: &SearchCall<'_, B, I, J, Self>, out: &Buffer<B, C>) -> Result<()>;
}

impl<B, I, J> SearchDomain<B, I, J> for Whole
where
    B: Run<SearchTask> + Run<SearchFromTask>,
    I: Elements<B>,
    J: Elements<B, Element = I::Element>,
{
    fn search<C: Count>(call: &SearchCall<'_, B, I, J, Self>, out: &Buffer<B, C>) -> Result<()> {
        let (device, SearchBy { order, nan_last }) = (call.device, call.by);
        let by = SortBy { nan_last, ..order.into() };
        let (sorted, needles) = (OrderedKeys::new(&call.sorted, &by)?, OrderedKeys::new(&call.needles, &by)?);
        let of = (call.kind, sorted.by.order);
        if let (Some(sorted), Some(needles)) = (sorted.plain(), needles.plain()) {
            return call::search(device, sorted, needles, of, out);
        }
        let types = [I::Element::DTYPE];
        let sorted = Side::new(device, "search", (sorted, identity), &types)?;
        let needles = Side::new(device, "search", (needles, identity), &types)?;
        lazy::search::<B, I::Element, C>(device, [sorted, needles], of, out)
    }
}
