//! Where a merge is cut, as a call with its modifiers.

use super::lazy::{self, Side};
use super::{CoRankFromTask, CoRankTask, Count, call};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::input::Elements;
use crate::patterns::Ordered;
use crate::patterns::sort::SortOrder;
use core::fmt;

/// The co-ranks of a merge, which [`run`](Self::run) and [`write_to`](Self::write_to) enqueue. They are asked for by
/// [`co_ranks`](super::Merge::co_ranks).
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let x = dev.upload(&[2i64, 4, 6])?;
/// let cuts = dev.upload(&[3u64])?;
/// assert_eq!(dev.co_ranks(&x, x.map(|x| x + 1), &cuts).run()?.read_blocking()?, [2]); // 2, 3, 4
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct CoRanksCall<'d, B: Backend, I, J, P> {
    device: &'d B,
    a: I,
    b: J,
    ranks: &'d Buffer<B, P>,
    order: SortOrder,
}

impl<B: Backend, I, J, P> fmt::Debug for CoRanksCall<'_, B, I, J, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoRanksCall").field("order", &self.order).finish_non_exhaustive()
    }
}

impl<'d, B: Backend, I, J, P> CoRanksCall<'d, B, I, J, P> {
    pub(super) const fn new(device: &'d B, a: I, b: J, ranks: &'d Buffer<B, P>) -> Self {
        Self { device, a, b, ranks, order: SortOrder::Ascending }
    }
}

impl<B: Backend, I, J, P> Ordered for CoRanksCall<'_, B, I, J, P> {
    type By = SortOrder;
    fn by_mut(&mut self) -> &mut SortOrder {
        &mut self.order
    }
}

impl<B, I, J, P> CoRanksCall<'_, B, I, J, P>
where
    B: Run<CoRankTask> + Run<CoRankFromTask>,
    I: Elements<B>,
    J: Elements<B, Element = I::Element>,
    P: Count,
{
    /// Enqueues the question; the co-ranks are in new memory.
    ///
    /// # Errors
    /// As [`MergeCall::run`](super::MergeCall::run); [`Error::TooLarge`](crate::Error::TooLarge) for ranks of `u32` where there may be higher ones, and
    /// through wgpu for arrays above the binding limit.
    pub fn run(self) -> Result<Buffer<B, P>> {
        let out = self.device.buffer(self.ranks.len())?;
        self.write_to(&out)?;
        Ok(out)
    }

    /// Enqueues the question; the co-ranks are in the caller's buffer, which holds at least as many as there are ranks.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[9i32, 4])?, dev.upload(&[5i32])?);
    /// let (cuts, out) = (dev.upload(&[1u64, 2])?, dev.buffer(2)?);
    /// dev.co_ranks(&a, &b, &cuts).descending().write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CoRanksCall::run`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    pub fn write_to(self, out: &Buffer<B, P>) -> Result<()> {
        let Self { device, a, b, ranks, order } = self;
        if let (Some(a), Some(b)) = (a.plain(), b.plain()) {
            return call::co_ranks(device, a, b, order, ranks, out);
        }
        let types = [I::Element::DTYPE];
        let sides = [Side::new(device, "co_ranks", (a, I::out), &types)?, Side::new(device, "co_ranks", (b, J::out), &types)?];
        lazy::co_ranks::<B, I::Element, P>(device, sides, order, ranks, out)
    }
}
