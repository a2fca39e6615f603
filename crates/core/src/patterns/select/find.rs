//! Questions about elements: where a condition holds, and whether and how often.

use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::error::{Error, Result};
use crate::input::{Input, Source as _, index, scalar};
use crate::ir::{self, Expr};
use crate::ops::{Min, Or};
use crate::patterns::map::collect;
use crate::patterns::{Map as _, MapTask, Reduce as _, ReduceTask};
use core::fmt;

/// Where a condition holds, and whether; how often, says [`count`](crate::patterns::Reduce::count).
///
/// Results are integers, so there is no order of evaluation to state. They stay on the device. Work O(n), in one pass over the inputs.
///
/// Answers to [`any`](Self::any), [`all`](Self::all) and [`none`](Self::none) in a buffer of the caller's, or along an axis, are the reductions
/// that these are:
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let (x, out) = (dev.upload(&[1u32, 2])?, dev.buffer::<u32>(3)?);
/// dev.reduce(x.map(|x| x.eq(2).cast::<u32>()), Or).write_to(&out)?; // any
/// dev.reduce_by(x.map(|x| x.lt(2).cast::<u32>()), |a, b| a & b).identity(1).write_to(&out.slice(1..)?)?; // all
/// dev.reduce(x.map(|x| x.ge(1).cast::<u32>()), Sum).write_to(&out.slice(2..)?)?; // count
/// assert_eq!(out.read_blocking()?, [1, 0, 2]);
/// let m = dev.upload(&[0.5f32, -1.0, 2.0, 3.0])?; // two rows
/// assert_eq!(dev.reduce(m.map(|x| x.gt(0.0).cast::<u32>()), Sum).axis(&[2, 2], 0).run()?.read_blocking()?, [2, 1]); // count
/// # Ok::<(), isowarp::Error>(())
/// ```
pub trait Find: Run<ReduceTask> + Run<MapTask> {
    /// The lowest index at which `f` holds, or the number of elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, -2.0, -3.0])?;
    /// assert_eq!(dev.find_if(&x, |x| x.lt(0.0)).run()?.read_blocking()?, 1);
    /// assert_eq!(dev.find_if(&x, |x| x.gt(9.0)).run()?.read_blocking()?, 3); // none: the number of elements
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn find_if<I: Input<Self>, F: Fn(I::Exprs) -> Expr<bool>>(&self, inputs: I, f: F) -> FindIf<'_, Self, I, F> {
        FindIf { device: self, inputs, f }
    }

    /// 1 if `f` holds for some element, else 0.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, f32::NAN])?;
    /// assert_eq!(dev.any(&x, |x| x.is_nan())?.read_blocking()?, 1);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    fn any<I: Input<Self>>(&self, inputs: I, f: impl Fn(I::Exprs) -> Expr<bool>) -> Result<DeviceScalar<Self, u32>> {
        self.reduce(inputs.map(|x| f(x).cast::<u32>()), Or).run()
    }

    /// 1 if `f` holds for every element (of none, too), else 0.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[1u32, 2])?, dev.upload(&[3u32, 4])?);
    /// assert_eq!(dev.all((&x, &y), |(x, y)| x.lt(y))?.read_blocking()?, 1);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    fn all<I: Input<Self>>(&self, inputs: I, f: impl Fn(I::Exprs) -> Expr<bool>) -> Result<DeviceScalar<Self, u32>> {
        let both = |a: Expr<u32>, b: Expr<u32>| a & b;
        self.reduce_by(inputs.map(|x| f(x).cast::<u32>()), both).identity(1).run()
    }

    /// 1 if `f` holds for no element (of none, too), else 0.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// assert_eq!(dev.none(&dev.upload(&[1u32, 2])?, |x| x.eq(3))?.read_blocking()?, 1);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    fn none<I: Input<Self>>(&self, inputs: I, f: impl Fn(I::Exprs) -> Expr<bool>) -> Result<DeviceScalar<Self, u32>> {
        self.all(inputs, |x| !f(x))
    }
}
impl<B: Run<ReduceTask> + Run<MapTask>> Find for B {}

/// A call that finds an element: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. See [`Find::find_if`].
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct FindIf<'d, B: Backend, I, F> {
    device: &'d B,
    inputs: I,
    f: F,
}

impl<B: Backend, I, F> fmt::Debug for FindIf<'_, B, I, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FindIf").finish_non_exhaustive()
    }
}

impl<B: Find, I: Input<B>, F: Fn(I::Exprs) -> Expr<bool>> FindIf<'_, B, I, F> {
    /// Enqueues the call into new memory, which it returns.
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run); [`Error::TooLarge`] for more than 2^32 - 1 elements.
    pub fn run(self) -> Result<DeviceScalar<B, u32>> {
        let out = self.device.buffer(1)?;
        self.write_to(&out)?;
        DeviceScalar::from_buffer(out)
    }

    /// Enqueues the call into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1i32, -2, -3])?, dev.upload(&[9u32, 9])?);
    /// dev.find_if(&x, |x| x.lt(0)).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [1, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    pub fn write_to(self, out: &Buffer<B, u32>) -> Result<()> {
        let Self { device, inputs, f } = self;
        let n = collect(device, "find_if", &inputs)?.len()?;
        let Ok(end) = u32::try_from(n) else {
            return Err(Error::TooLarge { what: "elements to find one in", requested: n, limit: u32::MAX.into() });
        };
        if n == 0 {
            return device.generate_into(1, scalar(end), |end| end, out);
        }
        device.reduce((inputs, index(), scalar(end)).map(|(x, i, end)| ir::select(f(x), i, end)), Min).write_to(out)
    }
}
