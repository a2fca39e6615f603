//! Questions about elements: where a condition holds, and whether and how often.

use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::error::{Error, Result};
use crate::input::{Input, Source as _, index, scalar};
use crate::ir::{self, Expr};
use crate::ops::{Min, Or};
use crate::patterns::map::collect;
use crate::patterns::{Map, MapTask, Reduce, ReduceTask};

/// Where a condition holds, and whether and how often.
///
/// Results are integers, so there is no order of evaluation to state. They stay on the device. Work O(n), in one pass over the inputs.
pub trait Find: Run<ReduceTask> + Run<MapTask> {
    /// The lowest index at which `f` holds, or the number of elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, -2.0, -3.0])?;
    /// assert_eq!(dev.find_if(&x, |x| x.lt(0.0))?.read_blocking()?, 1);
    /// assert_eq!(dev.find_if(&x, |x| x.gt(9.0))?.read_blocking()?, 3); // none: the number of elements
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    fn find_if<I: Input<Self>>(&self, inputs: I, f: impl Fn(I::Exprs) -> Expr<bool>) -> Result<DeviceScalar<Self, u32>> {
        let out = self.buffer(1)?;
        self.find_if_into(inputs, f, &out)?;
        DeviceScalar::from_buffer(out)
    }

    /// As [`Find::find_if`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1i32, -2, -3])?, dev.upload(&[9u32, 9])?);
    /// dev.find_if_into(&x, |x| x.lt(0), &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::write_to`](crate::call::Call::write_to).
    fn find_if_into<I: Input<Self>>(&self, inputs: I, f: impl Fn(I::Exprs) -> Expr<bool>, out: &Buffer<Self, u32>) -> Result<()> {
        let n = collect(self, "find_if", &inputs)?.len()?;
        let Ok(end) = u32::try_from(n) else {
            return Err(Error::TooLarge { what: "elements to find one in", requested: n, limit: u32::MAX.into() });
        };
        if n == 0 {
            return self.generate_into(1, scalar(end), |end| end, out);
        }
        self.reduce((inputs, index(), scalar(end)).map(|(x, i, end)| ir::select(f(x), i, end)), Min).write_to(out)
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

    /// As [`Find::any`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1u32, 2])?, dev.buffer(1)?);
    /// dev.any_into(&x, |x| x.eq(2), &out)?;
    /// assert_eq!(out.read_blocking()?, [1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::write_to`](crate::call::Call::write_to).
    fn any_into<I: Input<Self>>(&self, inputs: I, f: impl Fn(I::Exprs) -> Expr<bool>, out: &Buffer<Self, u32>) -> Result<()> {
        self.reduce(inputs.map(|x| f(x).cast::<u32>()), Or).write_to(out)
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
        let out = self.buffer(1)?;
        self.all_into(inputs, f, &out)?;
        DeviceScalar::from_buffer(out)
    }

    /// As [`Find::all`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1u32, 2])?, dev.buffer(1)?);
    /// dev.all_into(&x, |x| x.lt(2), &out)?;
    /// assert_eq!(out.read_blocking()?, [0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::write_to`](crate::call::Call::write_to).
    fn all_into<I: Input<Self>>(&self, inputs: I, f: impl Fn(I::Exprs) -> Expr<bool>, out: &Buffer<Self, u32>) -> Result<()> {
        if collect(self, "all", &inputs)?.len()? == 0 {
            return self.generate_into(1, scalar(1u32), |one| one, out);
        }
        let both = |a: Expr<u32>, b: Expr<u32>| a & b;
        self.reduce_by(inputs.map(|x| f(x).cast::<u32>()), both).write_to(out)
    }

    /// 1 if `f` holds for no element, else 0.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1i32, 2])?;
    /// assert_eq!(dev.none(&x, |x| x.lt(0))?.read_blocking()?, 1);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    fn none<I: Input<Self>>(&self, inputs: I, f: impl Fn(I::Exprs) -> Expr<bool>) -> Result<DeviceScalar<Self, u32>> {
        self.all(inputs, |x| !f(x))
    }

    /// As [`Find::none`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[0.5f32, 1.0])?, dev.buffer(1)?);
    /// dev.none_into(&x, |x| x.is_nan(), &out)?;
    /// assert_eq!(out.read_blocking()?, [1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::write_to`](crate::call::Call::write_to).
    fn none_into<I: Input<Self>>(&self, inputs: I, f: impl Fn(I::Exprs) -> Expr<bool>, out: &Buffer<Self, u32>) -> Result<()> {
        self.all_into(inputs, |x| !f(x), out)
    }

    /// The number of elements for which `f` holds: [`Reduce::count`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.iota::<u32>(100, 0, 1)?;
    /// assert_eq!(dev.count_if(&x, |x| (x % 7).eq(0))?.read_blocking()?, 15);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    fn count_if<I: Input<Self>>(&self, inputs: I, f: impl Fn(I::Exprs) -> Expr<bool>) -> Result<DeviceScalar<Self, u32>> {
        Reduce::count(self, inputs, f)
    }
}
impl<B: Run<ReduceTask> + Run<MapTask>> Find for B {}
