//! P03 scan: every prefix of a line combined.

mod domain;
mod enqueue;
mod shifted;
mod task;

pub use domain::ScanDomain;
pub(super) use domain::flags;
pub(super) use enqueue::checked;
pub use task::{ScanKind, ScanTask};

use crate::backend::{Backend, Run};
use crate::buffer::Buffer;
use crate::call::{
    Accumulate, Axis, ByClosure, ByOperator, Checked, Finish, Finished, Flags, HostValue, Keys, Offsets, Unchanged, Whole, bits,
};
use crate::element::{Element, Num, Scalar};
use crate::error::Result;
use crate::input::{Input, Mapped, Outputs, Source};
use crate::ir::{Accumulator, Expr, cast_bits};
use crate::ops::{Combine, Sum};
use core::fmt;

/// Prefix sums and their kin, over a whole array, lines along an axis, or segments.
///
/// # Order of evaluation
/// A line is cut into tiles of [`SCAN_TILE`](super::plan::SCAN_TILE) elements. Inside a tile the prefixes are Sklansky's: for k = 0, 1, ... every
/// element whose index has bit k set becomes `combine(last element of the aligned block of 2^k before its own, itself)`. The tiles' totals are folded
/// strictly from left to right, and every element becomes `combine(fold of the tiles before, itself)` (in the first tile: itself). An exclusive scan
/// moves the inclusive one by an element and starts with the identity. Operators have to be associative, but need not commute.
///
/// Segments ([by flags](ScanCall::by_flags), [keys](ScanCall::by_key) or [offsets](ScanCall::segments)) are scanned as one line of pairs of a flag and a
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
        ScanCall::new(self, inputs, ByOperator(op))
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
        ScanCall::new(self, inputs, ByClosure(combine))
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
    /// As [`ScanCall::run`].
    fn cumsum<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Num>(&self, inputs: I) -> Result<Buffer<Self, T>> {
        self.scan(inputs, Sum).run()
    }
}
impl<B: Run<ScanTask>> Scan for B {}

/// What the first result of a scan is.
#[derive(Clone, Debug)]
enum Start {
    /// The first element.
    Inclusive,
    /// The operator's identity.
    Identity,
    /// A value, a part each.
    Value(Vec<u64>),
}

/// Everything of a scan but the domain.
#[derive(Clone)]
pub struct Described<'d, B, I, O, F> {
    device: &'d B,
    inputs: I,
    op: O,
    finish: F,
    start: Start,
    initial: Option<Vec<u64>>,
}

/// A scan that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. Modifiers come in any order; what a call does not have does not
/// compile. See [`Scan`].
///
/// ```compile_fail,E0599
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// # let (x, flags) = (dev.upload(&[1u32])?, dev.upload(&[1u32])?);
/// dev.scan(&x, Sum).by_flags(&flags).by_key(&x).run()?; // segments of segments
/// # Ok::<(), isowarp::Error>(())
/// ```
/// ```compile_fail,E0599
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// # let x = dev.upload(&[1u32])?;
/// dev.scan_by(&x, |a, b| a + b).exclusive().run()?; // a closure has no identity: `exclusive_from`
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct ScanCall<'d, B, I, O, F = Unchanged, P = Whole> {
    what: Described<'d, B, I, O, F>,
    domain: P,
}

impl<B, I, O, F, P: fmt::Debug> fmt::Debug for ScanCall<'_, B, I, O, F, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScanCall").field("domain", &self.domain).field("start", &self.what.start).finish_non_exhaustive()
    }
}

impl<'d, B, I, O> ScanCall<'d, B, I, O> {
    fn new(device: &'d B, inputs: I, op: O) -> Self {
        Self { what: Described { device, inputs, op, finish: Unchanged, start: Start::Inclusive, initial: None }, domain: Whole }
    }
}

/// Which elements are scanned together: one of these, or all as one line.
impl<'d, B: Backend, I, O, F> ScanCall<'d, B, I, O, F> {
    /// Every line along `axis` of a row-major array of this shape is scanned on its own. Inputs without a length have as many elements as the shape.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1i32, 2, 3, 10, 20, 30])?; // two rows
    /// assert_eq!(dev.scan(&x, Sum).axis(&[2, 3], 1).run()?.read_blocking()?, [1, 3, 6, 10, 30, 60]);
    /// assert_eq!(dev.scan(&x, Sum).axis(&[2, 3], 0).exclusive().run()?.read_blocking()?, [0, 0, 0, 1, 2, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn axis(self, shape: &[u64], axis: usize) -> ScanCall<'d, B, I, O, F, Axis> {
        self.over(Axis { shape: shape.to_vec(), axis })
    }

    /// The scan starts anew at every element whose flag is not zero.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(&[1u32, 2, 3, 4, 5])?, dev.upload(&[0u32, 0, 1, 0, 1])?);
    /// assert_eq!(dev.scan(&x, Sum).by_flags(&flags).run()?.read_blocking()?, [1, 3, 3, 7, 5]);
    /// // Flags are any input: every third element.
    /// let thirds = index().map(|i| (i % 3).eq(0).cast::<u32>());
    /// assert_eq!(dev.scan(&x, Sum).by_flags(thirds).exclusive().run()?.read_blocking()?, [0, 1, 3, 0, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn by_flags<H: Input<B, Exprs = Expr<u32>>>(self, flags: H) -> ScanCall<'d, B, I, O, F, Flags<H>> {
        self.over(Flags(flags))
    }

    /// The scan starts anew at every element whose key differs from the one before, by `==`: with NaN always, with -0 after 0 not.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, x) = (dev.upload(&[7u8, 7, 2, 7, 7])?, dev.upload(&[1i32, 2, 3, 4, 5])?);
    /// assert_eq!(dev.scan(&x, Sum).by_key(&keys).run()?.read_blocking()?, [1, 3, 3, 4, 9]);
    /// assert_eq!(dev.scan(&x, Max).by_key(keys.map(|k| k / 4)).run()?.read_blocking()?, [1, 2, 3, 4, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn by_key<K: Scalar, J: Input<B, Exprs = Expr<K>>>(self, keys: J) -> ScanCall<'d, B, I, O, F, Keys<J>> {
        self.over(Keys(keys))
    }

    /// The scan starts anew with every segment `offsets[k]..offsets[k + 1]`. Segments are bounded as for [`Segmented`](super::Segmented#segments); elements
    /// before the first and after the last one are scanned as two segments more.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[1u32, 2, 3, 4])?, dev.upload(&[0u32, 1, 1, 4])?);
    /// assert_eq!(dev.scan(&x, Sum).segments(&offsets).run()?.read_blocking()?, [1, 2, 5, 9]);
    /// assert_eq!(dev.scan(&x, Sum).segments(&offsets).exclusive().run()?.read_blocking()?, [0, 0, 2, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn segments<T>(self, offsets: &'d Buffer<B, T>) -> ScanCall<'d, B, I, O, F, Offsets<'d, B, T>> {
        self.over(Offsets(offsets))
    }
}

impl<'d, B: Backend, I, O, F, T> ScanCall<'d, B, I, O, F, Offsets<'d, B, T>> {
    /// Offsets are checked first, which waits for the device: one that is below the one before, or above the number of elements, is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[1u32, 2, 3])?, dev.upload(&[0u32, 2, 1])?);
    /// assert!(matches!(dev.scan(&x, Sum).segments(&offsets).checked().run(), Err(isowarp::Error::NotSorted { .. })));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn checked(self) -> ScanCall<'d, B, I, O, F, Checked<Offsets<'d, B, T>>> {
        ScanCall { what: self.what, domain: Checked(self.domain) }
    }
}

impl<'d, B, I, O, F> ScanCall<'d, B, I, O, F> {
    /// The same over these elements.
    pub(super) fn over<P>(self, domain: P) -> ScanCall<'d, B, I, O, F, P> {
        ScanCall { what: self.what, domain }
    }
}

impl<B, I, C, F, P> ScanCall<'_, B, I, ByOperator<C>, F, P> {
    /// `out[i]` combines the elements before `i`; the first result of a line or segment is the operator's identity.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[2i32, 3, 4])?;
    /// assert_eq!(dev.scan(&x, Product).exclusive().run()?.read_blocking()?, [1, 2, 6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn exclusive(mut self) -> Self {
        self.what.start = Start::Identity;
        self
    }

    /// [`exclusive`](Self::exclusive) where the kind of scan is data.
    #[doc(hidden)]
    pub fn exclusive_if(self, exclusive: bool) -> Self {
        if exclusive { self.exclusive() } else { self }
    }
}

impl<B, I: Source, G, F, P> ScanCall<'_, B, I, ByClosure<G>, F, P> {
    /// `out[i]` combines the elements before `i`; the first result of a line or segment is the accumulator `first`, which has to leave others unchanged: it
    /// is combined with them as often as suits, or never.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // The mean of the elements before each, 0 before the first.
    /// let x = dev.upload(&[4.0f32, 2.0, 6.0])?;
    /// let means = dev
    ///     .scan_by(x.map(|x| (x, lit(1u32))), |a, b| (a.0 + b.0, a.1 + b.1))
    ///     .exclusive_from((0.0, 0))
    ///     .finish(|(sum, n)| sum / n.max(1).cast::<f32>())
    ///     .run()?;
    /// assert_eq!(means.read_blocking()?, [0.0, 4.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn exclusive_from(mut self, first: impl HostValue<I::Exprs>) -> Self {
        self.what.start = Start::Value(bits(first));
        self
    }
}

impl<'d, B, I: Source, O, F, P> ScanCall<'d, B, I, O, F, P> {
    /// Every result is `combine(value, result)`: a value that stands before each line or segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 2, 3])?;
    /// assert_eq!(dev.scan(&x, Sum).initial(100).run()?.read_blocking()?, [101, 103, 106]);
    /// assert_eq!(dev.scan(&x, Sum).initial(100).exclusive().run()?.read_blocking()?, [100, 101, 103]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn initial(mut self, value: impl HostValue<I::Exprs>) -> Self {
        self.what.initial = Some(bits(value));
        self
    }
}

impl<'d, B, I: Source, O, P> ScanCall<'d, B, I, O, Unchanged, P> {
    /// What is stored of each result: a value of another type, of fewer parts, or several, each in a buffer of its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 3.0, 5.0])?;
    /// let roots = dev.scan(&x, Sum).finish(|sum| sum.sqrt()).run()?;
    /// assert_eq!(roots.read_blocking()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn finish<R: Outputs, G: Fn(I::Exprs) -> R>(self, finish: G) -> ScanCall<'d, B, I, O, Finished<G>, P> {
        let Described { device, inputs, op, start, initial, .. } = self.what;
        ScanCall { what: Described { device, inputs, op, finish: Finished(finish), start, initial }, domain: self.domain }
    }

    /// Elements are converted to another type, which results have, before they are combined.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[u32::MAX, 1])?;
    /// assert_eq!(dev.scan(&x, Sum).accumulate_in::<u64>().run()?.read_blocking()?, [(1 << 32) - 1, 1 << 32]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn accumulate_in<U: Scalar>(self) -> ScanCall<'d, B, Converted<I, U>, O, Unchanged, P>
    where
        I: Source<Exprs: Convert>,
    {
        let Described { device, inputs, op, finish, start, initial } = self.what;
        let convert = |bits: Vec<u64>| bits.into_iter().map(|b| cast_bits(<I::Exprs as Convert>::Of::TY, U::TY, b)).collect();
        let start = match start {
            Start::Value(bits) => Start::Value(convert(bits)),
            other => other,
        };
        let inputs = inputs.map(I::Exprs::convert::<U> as fn(I::Exprs) -> Expr<U>);
        ScanCall { what: Described { device, inputs, op, finish, start, initial: initial.map(convert) }, domain: self.domain }
    }
}

/// An input whose values are converted.
pub type Converted<I, U> = Mapped<I, fn(<I as Source>::Exprs) -> Expr<U>>;

/// A value that has one type, and so conversions to others.
pub trait Convert: Copy {
    /// The type.
    type Of: Scalar;
    /// The value in another type, by value as Rust's `as`.
    #[must_use]
    fn convert<U: Scalar>(self) -> Expr<U>;
}

impl<T: Scalar> Convert for Expr<T> {
    type Of = T;
    fn convert<U: Scalar>(self) -> Expr<U> {
        self.cast()
    }
}

impl<B, I, O, F, P> ScanCall<'_, B, I, O, F, P>
where
    B: Backend,
    I: Input<B, Exprs: Accumulator>,
    O: Accumulate<I::Exprs>,
    F: Finish<I::Exprs>,
    P: ScanDomain<B>,
{
    /// Enqueues the scan into new buffers, which it returns.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Op`](crate::Error::Op), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice), [`Error::LengthMismatch`](crate::Error::LengthMismatch);
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for inputs without a length, an axis that is not there, an identity that is none;
    /// [`Error::TooLarge`](crate::Error::TooLarge) for an accumulator of more than four words and too many elements;
    /// [`Error::NotSorted`](crate::Error::NotSorted), [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange) where offsets are checked.
    pub fn run(self) -> Result<<F::Out as Outputs>::Buffers<B>> {
        self.domain.check(self.what.device, &self.what.inputs)?;
        let out = F::Out::allocate(self.what.device, self.domain.len(self.what.device, &self.what.inputs)?)?;
        self.domain.enqueue(&self.what, F::Out::refs(&out))?;
        Ok(out)
    }

    /// Enqueues the scan into the caller's buffers, which hold at least as many elements; later ones stay as they are. They may not overlap inputs.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[2i32, 3, 4])?, dev.upload(&[-1i32; 4])?);
    /// dev.scan(&x, Product).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [2, 6, 24, -1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ScanCall::run`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    pub fn write_to(self, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        self.domain.check(self.what.device, &self.what.inputs)?;
        self.domain.enqueue(&self.what, out)
    }
}
