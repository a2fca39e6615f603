//! Neighbours combined: a map that fetches the one beside.

use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Num, Scalar};
use crate::error::Result;
use crate::input::{Input, Lent, Narrow, Numbers, scalar};
use crate::ir::{Expr, select};
use crate::patterns::MapTask;
use crate::patterns::before::Neighbours;
use crate::patterns::map::{apart, collect, same};
use core::fmt;

/// Differences of neighbours, and other functions of two of them.
///
/// Every result depends on two elements, so there is no order to state. Results are stored as a [map](crate::patterns::Map) stores them: integers wrap, and a
/// NaN is the canonical one. Outputs may not overlap inputs. Inputs that are computed never lie in memory: they are computed for an element and for the one
/// beside, which is fetched. Work O(n), no scratch.
///
/// Source: NVIDIA's CUB (`DeviceAdjacentDifference`); NumPy's `diff`.
pub trait Difference: Run<MapTask> {
    /// `x[i] - x[i - 1]`; the first element stays as it is, so that an inclusive sum gives integers back. To the [`right`](Adjacent::right) it is
    /// `x[i] - x[i + 1]`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1i32, 4, 9, 16])?;
    /// let d = dev.adjacent_difference(&x).run()?;
    /// assert_eq!(d.read_blocking()?, [1, 3, 5, 7]);
    /// assert_eq!(dev.cumsum(&d)?.read_blocking()?, [1, 4, 9, 16]);
    /// assert_eq!(dev.adjacent_difference(&x).right().run()?.read_blocking()?, [-3, -5, -7, 16]);
    /// assert_eq!(dev.adjacent_difference(counting(4).map(|i| i * i)).run()?.read_blocking()?, [0, 1, 3, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn adjacent_difference<T: Num, I: Input<Self, Exprs = Expr<T>>>(&self, inputs: I) -> Adjacent<'_, Self, I, Less> {
        Adjacent { device: self, inputs, f: Less, right: false }
    }

    /// `f(x[i - 1], x[i])`; the first element stays as it is. To the [`right`](Adjacent::right) it is `f(x[i], x[i + 1])`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[2.0f32, 3.0, 12.0])?;
    /// assert_eq!(dev.adjacent(&x, |before, x| x / before).run()?.read_blocking()?, [2.0, 1.5, 4.0]);
    /// let y = dev.upload(&[5.0f32, 7.0, 4.0])?;
    /// let steps = dev.adjacent((&x, &y).map(|(x, y)| x * y), |before, xy| xy - before).run()?;
    /// assert_eq!(steps.read_blocking()?, [10.0, 11.0, 27.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn adjacent<T: Scalar, I: Input<Self, Exprs = Expr<T>>, F: FnOnce(Expr<T>, Expr<T>) -> Expr<T>>(
        &self,
        inputs: I,
        f: F,
    ) -> Adjacent<'_, Self, I, F> {
        Adjacent { device: self, inputs, f, right: false }
    }
}
impl<B: Run<MapTask>> Difference for B {}

/// The difference of an element and the one beside.
#[derive(Clone, Copy, Debug)]
pub struct Less;

/// A function of two neighbours: their difference ([`Less`]), or a closure.
pub trait OfNeighbours<T> {
    /// The value of an element whose neighbours these are; its own is the first, if `right`, else the second.
    #[doc(hidden)]
    fn of(self, left: Expr<T>, right: Expr<T>, is_right: bool) -> Expr<T>;
}

impl<T: Num> OfNeighbours<T> for Less {
    fn of(self, left: Expr<T>, right: Expr<T>, is_right: bool) -> Expr<T> {
        if is_right { left - right } else { right - left }
    }
}

impl<T, F: FnOnce(Expr<T>, Expr<T>) -> Expr<T>> OfNeighbours<T> for F {
    fn of(self, left: Expr<T>, right: Expr<T>, _: bool) -> Expr<T> {
        self(left, right)
    }
}

/// A call that combines neighbours: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. See [`Difference::adjacent`].
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct Adjacent<'d, B: Backend, I, F> {
    device: &'d B,
    inputs: I,
    f: F,
    right: bool,
}

impl<B: Backend, I, F> fmt::Debug for Adjacent<'_, B, I, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adjacent").field("right", &self.right).finish_non_exhaustive()
    }
}

impl<B: Backend, I, F> Adjacent<'_, B, I, F> {
    /// Takes the element after each as the one beside; the last one stays as it is.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1i64, 2, 4])?;
    /// assert_eq!(dev.adjacent(&x, |x, after| x * 10 + after).right().run()?.read_blocking()?, [12, 24, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn right(mut self) -> Self {
        self.right = true;
        self
    }
}

impl<B, I, F> Adjacent<'_, B, I, F>
where
    B: Run<MapTask>,
    I: Numbers<B>,
    F: OfNeighbours<<I::Element as Element>::Reg>,
{
    /// Enqueues the call into new memory, which it returns.
    ///
    /// # Errors
    /// As [`Map::map`](crate::patterns::Map::map); [`Error::TooLarge`](crate::Error::TooLarge) for more than 2^32 elements.
    pub fn run(self) -> Result<Buffer<B, I::Element>> {
        let out = self.device.buffer(collect(self.device, PATTERN, &self.inputs)?.len()?)?;
        self.write_to(&out)?;
        Ok(out)
    }

    /// Enqueues the call into the caller's buffer, which holds at least as many elements; later ones stay as they are. It may not overlap inputs.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[5u8, 3, 4])?, dev.buffer(3)?);
    /// dev.adjacent_difference(&x).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [5, 254, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run) and [`Map::map_into`](crate::patterns::Map::map_into).
    pub fn write_to(self, out: &Buffer<B, I::Element>) -> Result<()> {
        let Self { device, inputs, f, right } = self;
        let (c, func) = if right {
            let both = (Lent(&inputs), scalar(last(collect(device, PATTERN, &inputs)?.len()?)));
            let found = Neighbours::new(device, PATTERN, &both, |both| both)?;
            let func = found.trace_right(|x, after, i| stored::<I::Element>(select(i.eq(found.own(1)), x, f.of(x, after, true))))?;
            (found.c, func)
        } else {
            let found = Neighbours::new(device, PATTERN, &inputs, same)?;
            let func = found.trace(|before, x, i| stored::<I::Element>(select(i.eq(0), x, f.of(before, x, false))))?;
            (found.c, func)
        };
        apart::<B, Narrow<I::Element>>(device, PATTERN, (&c, &func), out, &|| Ok(()))
    }
}

const PATTERN: &str = "map";

fn stored<T: Element>(x: Expr<T::Reg>) -> Narrow<T> {
    x.store_as()
}

/// The last index, which of 2^32 elements is all ones.
fn last(n: u64) -> u32 {
    n.saturating_sub(1).min(u32::MAX.into()) as u32
}
