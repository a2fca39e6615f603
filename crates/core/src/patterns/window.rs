//! Sliding windows: every run of so many neighbours combined.

mod plan;

use crate::backend::{Backend, Run};
use crate::buffer::Buffer;
use crate::call::{Accumulate, ByClosure, ByOperator, Call, Described, Domain, Finish, Unchanged};
use crate::element::{Element, Float, Num, Scalar};
use crate::error::{Error, Result};
use crate::input::{Input, Outputs};
use crate::ir::{Accumulator, Expr, lit};
use crate::ops::{Combine, Sum, count_as};
use crate::patterns::map::{collect, collect_lines};
use crate::patterns::{Lines, MapTask, ScanTask};
use plan::Plan;

/// Sums, least and greatest elements and other combinations of every window of `len` neighbours, over a whole array or lines along an axis.
///
/// A line of n elements has `n - len + 1` windows, and one of fewer than `len` elements has none; with a [`step`](Call::step) every `step`-th of them.
///
/// # Order of evaluation
/// Every window has a tree of its own, whatever its neighbours are. Its elements, from the left, are cut into blocks of as many elements as the powers of two
/// of which `len` is the sum, the smallest first. A block is a balanced tree of neighbours, and the blocks are folded from left to right: of seven
/// elements `(x0 + (x1 + x2)) + ((x3 + x4) + (x5 + x6))`. Operators have to be associative to mean a window, but need not commute. Elements are rounded to the
/// type that they are combined in before they meet: no product of an input is fused with a sum.
///
/// Windows overlap, so their blocks are shared: those of 16, 256, ... elements are computed once for each place that one can start at. The least and greatest
/// of windows of 256 elements or more, and other operators that give the same bits in any order (integer sums and products, `&`, `|`, `^`), take a scan from
/// either end of blocks as long as a window, whose work is O(n) whatever the length. Others take O(n log len). Inputs whose operator is long are stored first.
/// Scratch: at most three arrays of as many accumulators as there are elements; of windows of fewer than 16 elements none.
///
/// An accumulator has at most four 32-bit words. There are less than 2^32 elements. Outputs may not overlap inputs.
///
/// Source: van Herk, *A fast algorithm for local minimum and maximum filters* (1992); Gil and Werman, *Computing 2-D min, median, and max filters* (1993), for
/// the scans; NumPy's `sliding_window_view`, pandas' `rolling`.
pub trait Window: Run<MapTask> + Run<ScanTask> {
    /// `out[i]` combines the elements `i..i + len` by an associative operator.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3.0f32, 1.0, 4.0, 1.0, 5.0])?;
    /// assert_eq!(dev.window(&x, 3, Sum).run()?.read_blocking()?, [8.0, 6.0, 10.0]);
    /// assert_eq!(dev.window(&x, 2, Max).run()?.read_blocking()?, [3.0, 4.0, 4.0, 5.0]);
    /// // The root of the mean square of each pair; any input, fused.
    /// let rms = dev.window(x.map(|x| x * x), 2, Sum).finish(|s| (s * 0.5).sqrt()).run()?;
    /// assert_eq!(rms.read_blocking()?[0], 5.0f32.sqrt());
    /// // Rows of three.
    /// let m = dev.upload(&[1u32, 2, 3, 10, 20, 30])?;
    /// assert_eq!(dev.window(&m, 2, Sum).axis(&[2, 3], 1).run()?.read_blocking()?, [3, 5, 30, 50]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn window<I: Input<Self, Exprs = Expr<T>>, T: Scalar, C: Combine<T>>(
        &self,
        inputs: I,
        len: u64,
        op: C,
    ) -> WindowCall<'_, Self, I, ByOperator<C>> {
        Call::new(self, inputs, ByOperator(op)).over(|_| Windows::of(len))
    }

    /// Windows by a closure of accumulators, which may have several parts: the input's values. The left operand always comes from lower indices.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Range of each three.
    /// let x = dev.upload(&[3i32, 1, 4, 1, 9])?;
    /// let range = dev.window_by(x.map(|x| (x, x)), 3, |a, b| (a.0.min(b.0), a.1.max(b.1))).finish(|(least, greatest)| greatest - least);
    /// assert_eq!(range.run()?.read_blocking()?, [3, 3, 8]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn window_by<I: Input<Self>, F: Fn(I::Exprs, I::Exprs) -> I::Exprs>(
        &self,
        inputs: I,
        len: u64,
        combine: F,
    ) -> WindowCall<'_, Self, I, ByClosure<F>> {
        Call::new(self, inputs, ByClosure(combine)).over(|_| Windows::of(len))
    }

    /// Means of every `len` neighbours: the window's sum divided by `len`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let prices = dev.upload(&[10.0f64, 12.0, 11.0, 13.0, 15.0])?;
    /// assert_eq!(dev.moving_average(&prices, 3)?.read_blocking()?, [11.0, 12.0, 13.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`window`](Self::window)'s call.
    fn moving_average<I: Input<Self, Exprs = Expr<T>>, T: Element<Reg = T> + Float + Num>(
        &self,
        inputs: I,
        len: u64,
    ) -> Result<Buffer<Self, T>> {
        let count = count_as::<T>(len);
        self.window(inputs, len, Sum).finish(move |sum: Expr<T>| sum / lit(count)).run()
    }
}
impl<B: Run<MapTask> + Run<ScanTask>> Window for B {}

/// Windows of `len` elements that a line of `n` has, at every `step`-th place.
#[must_use]
pub const fn count(n: u64, len: u64, step: u64) -> u64 {
    if n < len || step == 0 { 0 } else { (n - len) / step + 1 }
}

/// The verb of sliding windows.
#[derive(Clone, Copy, Debug)]
pub struct Windowing;

/// Windows that are described; see [`Window`] and the modifiers of [`Call`].
pub type WindowCall<'d, B, I, O, F = Unchanged> = Call<'d, Windowing, B, I, O, F, Windows>;

/// Windows of a length, at every `step`-th place of a line or of lines along an axis.
#[derive(Clone, Debug)]
pub struct Windows {
    len: u64,
    step: u64,
    lines: Option<(Vec<u64>, usize)>,
}

impl<'d, B: Backend, I, O, F> Call<'d, Windowing, B, I, O, F, Windows> {
    /// Takes every line along `axis` of a row-major array of this shape on its own; the result has as many windows there as a line.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let m = dev.upload(&[1u32, 2, 3, 10, 20, 30, 100, 200, 300])?; // three rows
    /// assert_eq!(dev.window(&m, 2, Sum).axis(&[3, 3], 0).run()?.read_blocking()?, [11, 22, 33, 110, 220, 330]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn axis(mut self, shape: &[u64], axis: usize) -> Self {
        self.domain.lines = Some((shape.to_vec(), axis));
        self
    }

    /// Takes a window at every `step`-th element only; with as many as a window has, they do not overlap.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u8, 5, 2, 2, 7, 0, 9])?;
    /// assert_eq!(dev.window(&x, 2, Max).step(2).run()?.read_blocking()?, [5, 2, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn step(mut self, step: u64) -> Self {
        self.domain.step = step;
        self
    }
}

const PATTERN: &str = "window";

impl Windows {
    fn of(len: u64) -> Self {
        Self { len, step: 1, lines: None }
    }

    /// The windows of inputs, checked.
    fn plan<B: Backend, I: Input<B>>(&self, device: &B, inputs: &I) -> Result<Plan> {
        let fail = |what, reason: &str| Err(Error::InvalidArgument { what, reason: reason.to_owned() });
        if self.len == 0 {
            return fail("window", "a window has at least one element");
        }
        if self.step == 0 {
            return fail("step", "windows are at least one element apart");
        }
        let lines = match &self.lines {
            None => Lines::one(collect(device, PATTERN, inputs)?.len()?),
            Some((shape, axis)) => {
                let lines = Lines::along(shape, *axis)?;
                collect_lines(device, PATTERN, inputs, &lines)?;
                lines
            }
        };
        Ok(Plan { lines, len: self.len, step: self.step })
    }
}

impl<B: Window> Domain<Windowing, B> for Windows {
    type New<R: Outputs> = R::Buffers<B>;
    type Refs<'a, R: Outputs> = R::Refs<'a, B>;

    fn run<I, O, F>(&self, call: &Described<'_, B, I, O, F>) -> Result<<F::Out as Outputs>::Buffers<B>>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        let plan = self.plan(call.device, &call.inputs)?;
        let out = F::Out::allocate(call.device, plan.windows().elements())?;
        plan::enqueue(plan, call, F::Out::refs(&out))?;
        Ok(out)
    }

    fn write<I, O, F>(&self, call: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>,
    {
        plan::enqueue(self.plan(call.device, &call.inputs)?, call, out)
    }
}
