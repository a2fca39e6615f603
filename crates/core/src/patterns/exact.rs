//! P24 numerics: sums that are exact until they are rounded once, so that there is no order of evaluation.

mod domain;
mod products;
mod round;
mod task;

pub use domain::ExactDomain;
pub use task::ExactSumTask;

use super::moves::IndexScalar;
use super::select::Count;
use super::{Histogram, Scan, Search, SearchTask, Select, SelectTask};
use crate::backend::{Backend, Run};
use crate::buffer::Buffer;
use crate::call::{Along, Checked, Keys, Offsets, Whole};
use crate::element::Scalar;
use crate::error::Result;
use crate::input::Input;
use crate::ir::Expr;
use domain::{Of, Terms};

/// Correctly rounded sums, means and dot products of floats.
///
/// A sum is kept as a whole number of 320 bits (`f32`) or 2144 (`f64`), to which every element is added without a rounding; that is rounded to the nearest
/// float at the end, ties to even. So the result is that of real numbers, rounded once, and the same in whatever order, on however many threads or devices
/// elements are added; [`Reduce::sum`](super::Reduce::sum) has an order of its own and an error that grows with the logarithm of the number of elements.
///
/// A NaN among the elements, or both infinities, gives NaN; an infinity itself. A sum of zeros, whatever their signs, and that of nothing are +0; a mean of
/// nothing is NaN. There are at most 2^41 elements, of means and where there is more than one sum 2^32 - 1; several sums have at most 2^32 - 1 words, 11 each and
/// those of `f64` or of products 68.
///
/// Work O(n). A whole array, and rows of 1024 elements and more, are read once, and scratch is 44 bytes a row (`f64`: 272); shorter rows, columns, segments and
/// runs are added to words in memory, with as much scratch a sum and four bytes an element.
///
/// Source: Kulisch, *Computer Arithmetic and Validity* (2013), chapter 8; Collange, Defour, Graillat and Iakymchuk, *Numerical reproducibility for the parallel
/// reduction on multi- and many-core architectures* (2015).
pub trait ExactSums: Histogram + Select + Scan + Search + Run<ExactSumTask> + Run<SelectTask> + Run<SearchTask> {
    /// The exact sum of all elements, rounded once. [`axis`](ExactCall::axis), [`segments`](ExactCall::segments) and [`by_key`](ExactCall::by_key) give several.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1e30f32, 1.0, -1e30, 2e-45])?;
    /// assert_eq!(dev.exact_sum(&x).run()?.read_blocking()?, 1.0);
    /// assert_eq!(dev.sum(&x)?.read_blocking()?, 0.0);
    /// // Any input.
    /// assert_eq!(dev.exact_sum(x.map(|x| x * 2.0)).run()?.read_blocking()?, 2.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn exact_sum<I, T>(&self, inputs: I) -> ExactCall<'_, Self, I, Of<T>>
    where
        I: Input<Self, Exprs = Expr<T>>,
        T: Scalar,
        Of<T>: Terms<Expr<T>>,
    {
        ExactCall { device: self, inputs, of: Of::sum(), domain: Whole }
    }

    /// The mean of all elements: the exact sum by their number, rounded once.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[f32::MAX, f32::MAX, 0.0, 0.0])?;
    /// assert_eq!(dev.exact_mean(&x).run()?.read_blocking()?, f32::MAX / 2.0);
    /// let rows = dev.exact_mean(&dev.upload(&[1.0f64, 2.0, 0.1, 0.2])?).axis(&[2, 2], 1).run()?;
    /// assert_eq!(rows.read_blocking()?, [1.5, 0.15000000000000002]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn exact_mean<I, T>(&self, inputs: I) -> ExactCall<'_, Self, I, Of<T>>
    where
        I: Input<Self, Exprs = Expr<T>>,
        T: Scalar,
        Of<T>: Terms<Expr<T>>,
    {
        ExactCall { device: self, inputs, of: Of::mean(), domain: Whole }
    }

    /// The sum of products of two `f32` or two `f64`, whose products and sum are exact and rounded once, also where a product is above or below all floats.
    ///
    /// A product with an infinity or a NaN is what `x * y` is: zero times infinity is NaN. It takes a device with `f64`. Arrays of `f64` are read four times, with
    /// 544 bytes of scratch a sum, and an input of them has one buffer or value less than others may have.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[1e20f32, 3.0, -1e20])?, dev.upload(&[1e20f32, 2.0, 1e20])?);
    /// assert_eq!(dev.exact_dot((&x, &y)).run()?.read_blocking()?, 6.0);
    /// // Products of two f64 have 106 bits, and exponents that no f64 has.
    /// let (x, y) = (dev.upload(&[1e200f64, 3e-200, -1e200, 2e-200])?, dev.upload(&[1e200f64, 1e-120, 1e200, 1e-120])?);
    /// assert_eq!(dev.exact_dot((&x, &y)).run()?.read_blocking()?, 5e-320);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn exact_dot<I, T>(&self, inputs: I) -> ExactCall<'_, Self, I, Of<T>>
    where
        I: Input<Self, Exprs = (Expr<T>, Expr<T>)>,
        T: Scalar,
        Of<T>: Terms<(Expr<T>, Expr<T>)>,
    {
        ExactCall { device: self, inputs, of: Of::sum(), domain: Whole }
    }
}
impl<B: Histogram + Select + Scan + Search + Run<ExactSumTask> + Run<SelectTask> + Run<SearchTask>> ExactSums for B {}

/// An exact sum that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct ExactCall<'d, B, I, O, P = Whole> {
    device: &'d B,
    inputs: I,
    of: O,
    domain: P,
}

impl<'d, B: Backend, I, O> ExactCall<'d, B, I, O> {
    fn over<P>(self, domain: P) -> ExactCall<'d, B, I, O, P> {
        let Self { device, inputs, of, .. } = self;
        ExactCall { device, inputs, of, domain }
    }

    /// One sum of each line along an axis of a row-major array of this shape.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1e10f32, 1.0, 2.0, -1e10, 3.0, 4.0])?;
    /// assert_eq!(dev.exact_sum(&x).axis(&[2, 3], 0).run()?.read_blocking()?, [0.0, 4.0, 6.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn axis(self, shape: &[u64], axis: usize) -> ExactCall<'d, B, I, O, Along> {
        self.over(Along { shape: shape.to_vec(), axis })
    }

    /// One sum of each segment; offsets are those of [`Call::segments`](crate::call::Call::segments).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[1.0f64, 2.0, 3.0])?, dev.upload(&[0u32, 2, 2, 3])?);
    /// assert_eq!(dev.exact_sum(&x).segments(&offsets).run()?.read_blocking()?, [3.0, 0.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn segments<T: Count + IndexScalar>(self, offsets: &'d Buffer<B, T>) -> ExactCall<'d, B, I, O, Offsets<'d, B, T>> {
        self.over(Offsets(offsets))
    }

    /// One sum of each run of equal neighbours among keys: results are those of [`Call::by_key`](crate::call::Call::by_key).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, keys) = (dev.upload(&[1.0f32, 2.0, 3.0])?, dev.upload(b"aab")?);
    /// let sums = dev.exact_sum(&x).by_key(&keys).run()?;
    /// let n = sums.len_blocking()?;
    /// assert_eq!(sums.values.1.slice(..n)?.read_blocking()?, [3.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn by_key<K: Scalar, J: Input<B, Exprs = Expr<K>>>(self, keys: J) -> ExactCall<'d, B, I, O, Keys<J>> {
        self.over(Keys(keys))
    }
}

impl<'d, B: Backend, I, O, T> ExactCall<'d, B, I, O, Offsets<'d, B, T>> {
    /// Looks at the offsets first, and waits for the device: where one falls, or is above the number of elements, nothing is written.
    ///
    /// The call's errors are also [`Error::NotSorted`](crate::Error::NotSorted) and [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange).
    pub fn checked(self) -> ExactCall<'d, B, I, O, Checked<Offsets<'d, B, T>>> {
        let Self { device, inputs, of, domain } = self;
        ExactCall { device, inputs, of, domain: Checked(domain) }
    }
}

impl<B: Backend, I: Input<B>, O: Terms<I::Exprs>, P: ExactDomain<B>> ExactCall<'_, B, I, O, P> {
    /// Enqueues the call into new memory, which it returns: of a whole array a number on the device, else a buffer with one number a sum.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) for too many elements, [`Error::LengthMismatch`](crate::Error::LengthMismatch),
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for offsets without a first one or an axis that is none,
    /// [`Error::Unsupported`](crate::Error::Unsupported) for `f64`, and dot products, where the device has none, [`Error::Op`](crate::Error::Op),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::WrongDevice`](crate::Error::WrongDevice).
    pub fn run(self) -> Result<P::New<O::Sum>> {
        self.domain.run(self.device, &self.inputs, self.of)
    }

    /// Enqueues the call into the caller's memory.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    pub fn write_to(self, out: P::Refs<'_, O::Sum>) -> Result<()> {
        self.domain.write(self.device, &self.inputs, self.of, out)
    }
}
