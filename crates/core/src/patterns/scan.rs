//! P03 scan: every prefix of a line combined.

mod domain;
mod enqueue;
mod shifted;
mod task;

pub use domain::ScanDomain;
pub(super) use domain::flags;
pub use task::{ScanKind, ScanTask};

use crate::backend::Run;
use crate::buffer::Buffer;
use crate::call::{Associative, ByClosure, ByOperator, Call, Unchanged, Whole};
use crate::element::{Element, Num, Scalar};
use crate::error::Result;
use crate::input::Input;
use crate::ir::Expr;
use crate::ops::{Combine, Sum};

/// Prefix sums and their kin, over a whole array, lines along an axis, or segments.
///
/// # Order of evaluation
/// A line is cut into tiles of [`SCAN_TILE`](super::plan::SCAN_TILE) elements. Inside a tile the prefixes are Sklansky's: for k = 0, 1, ... every
/// element whose index has bit k set becomes `combine(last element of the aligned block of 2^k before its own, itself)`. The tiles' totals are folded
/// strictly from left to right, and every element becomes `combine(fold of the tiles before, itself)` (in the first tile: itself). An exclusive scan
/// moves the inclusive one by an element and starts with the identity, each line anew; of segments it is the inclusive scan of the elements moved by one, with
/// the identity where a segment starts. Operators have to be associative, but need not commute.
///
/// Segments ([by flags](Call::by_flags), [keys](Call::by_key) or [offsets](Call::segments)) are scanned as one line of pairs of a flag and a
/// value: `combine` of two pairs has the right value where the right flag is set, else both values combined. So float results depend on where in the array
/// a segment lies.
///
/// Elements are combined in every type that operators compute in; narrow ones are loaded as `f32`, `i32` or `u32`. An accumulator has at most four 32-bit
/// words, one of which is the flag's where segments are scanned. Work O(n log tile), memory traffic 2n, scratch below 1 % of the input; segments by offsets
/// take 4 bytes an element more. Where keys or an exclusive scan of segments fetch neighbours, there are at most 2^32 elements.
///
/// Source: Sklansky, *Conditional-sum addition logic* (1960); Blelloch, *Prefix sums and their applications* (1990), section 1.5; Merrill and Garland,
/// *Single-pass parallel prefix scan with decoupled look-back* (2016); Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapter 11.
pub trait Scan: Run<ScanTask> {
    /// Scan by an associative operator: `out[i]` combines the elements `0..=i`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3.0f32, 1.0, 2.0])?;
    /// assert_eq!(dev.scan(&x, Sum).run()?.read_blocking()?, [3.0, 4.0, 6.0]);
    /// assert_eq!(dev.scan(&x, Sum).exclusive().run()?.read_blocking()?, [0.0, 3.0, 4.0]);
    /// // Any input; it is fused into the scan.
    /// assert_eq!(dev.scan((&x, index()).map(|(x, i)| x * i.cast::<f32>()), Max).run()?.read_blocking()?, [0.0, 1.0, 4.0]);
    /// // Your own operator, which does not commute: the last element that is not zero.
    /// let last = Op::associative(0u32, |a, b| select(b.ne(0), b, a));
    /// let x = dev.upload(&[7u32, 0, 0, 5, 0])?;
    /// assert_eq!(dev.scan(&x, last).run()?.read_blocking()?, [7, 7, 7, 5, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn scan<I: Input<Self, Exprs = Expr<T>>, T: Scalar, C: Combine<T>>(&self, inputs: I, op: C) -> ScanCall<'_, Self, I, ByOperator<C>> {
        Call::new(self, inputs, ByOperator(op))
    }

    /// Scan by a closure of accumulators, which may have several parts: the input's values. The left operand always comes from lower indices.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // The greatest element so far, and its index.
    /// let x = dev.upload(&[2.0f32, 5.0, 1.0, 5.0, 9.0])?;
    /// let (greatest, at) = dev.scan_by((&x, index()), |a, b| (a.0.max(b.0), select(a.0.ge(b.0), a.1, b.1))).run()?;
    /// assert_eq!(greatest.read_blocking()?, [2.0, 5.0, 5.0, 5.0, 9.0]);
    /// assert_eq!(at.read_blocking()?, [0, 1, 1, 1, 4]);
    /// // y = a y + b, step by step: affine maps composed from left to right, applied to y = 1.
    /// let (a, b) = (dev.upload(&[2.0f32, 0.5, 3.0])?, dev.upload(&[1.0f32, 0.5, -1.0])?);
    /// let y = dev.scan_by((&a, &b), |f, g| (f.0 * g.0, f.1 * g.0 + g.1)).finish(|f| f.0 + f.1).run()?;
    /// assert_eq!(y.read_blocking()?, [3.0, 2.0, 5.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn scan_by<I: Input<Self>, F: Fn(I::Exprs, I::Exprs) -> I::Exprs>(&self, inputs: I, combine: F) -> ScanCall<'_, Self, I, ByClosure<F>> {
        Call::new(self, inputs, ByClosure(combine))
    }

    /// Inclusive sum; integers wrap.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u64, 10, 100])?;
    /// assert_eq!(dev.cumsum(&x)?.read_blocking()?, [1, 11, 111]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`].
    fn cumsum<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Num>(&self, inputs: I) -> Result<Buffer<Self, T>> {
        self.scan(inputs, Sum).run()
    }
}
impl<B: Run<ScanTask>> Scan for B {}

/// The verb of scans.
#[derive(Clone, Copy, Debug)]
pub struct Scanning;

/// A scan that is described; see [`Scan`] and the modifiers of [`Call`].
pub type ScanCall<'d, B, I, O, F = Unchanged, P = Whole> = Call<'d, Scanning, B, I, O, F, P>;

/// An operator that has an identity.
pub trait WithIdentity {}
impl<C> WithIdentity for ByOperator<C> {}
impl<F> WithIdentity for Associative<F> {}

impl<B, I, O: WithIdentity, F, P> Call<'_, Scanning, B, I, O, F, P> {
    /// Combines the elements before each, without its own; the first result of a line or segment is the operator's identity.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[2i32, 3, 4])?;
    /// assert_eq!(dev.scan(&x, Product).exclusive().run()?.read_blocking()?, [1, 2, 6]);
    /// // Offsets of rows from their lengths: one more than there are rows.
    /// let (lengths, offsets) = (dev.upload(&[2u32, 0, 3])?, dev.buffer(4)?);
    /// dev.fill(&offsets, 0)?;
    /// dev.scan(&lengths, Sum).write_to(&offsets.slice(1..)?)?;
    /// assert_eq!(offsets.read_blocking()?, [0, 2, 2, 5]);
    /// // Where elements that are kept go.
    /// let x = dev.upload(&[0.5f32, -1.0, 2.0])?;
    /// assert_eq!(dev.scan(x.map(|x| x.gt(0.0).cast::<u32>()), Sum).exclusive().run()?.read_blocking()?, [0, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn exclusive(mut self) -> Self {
        self.what.exclusive = true;
        self
    }

    /// [`exclusive`](Self::exclusive) where the kind of scan is data.
    #[doc(hidden)]
    pub fn exclusive_if(self, exclusive: bool) -> Self {
        if exclusive { self.exclusive() } else { self }
    }
}
