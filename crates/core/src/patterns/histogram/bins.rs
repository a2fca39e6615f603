//! Bins that samples are counted in: even bins, bins between edges, bins of an operator, and their products.

use super::sample::{Next, Rule, Sample, search};
use crate::backend::{Backend, Leaf};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{DType, Element, Num, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Source, array, index};
use crate::ir::{Expr, Param, Traced, array_expr, lit, select};

/// The most bins of a histogram.
pub const MAX_BINS: u64 = 1 << 20;

/// Samples and the bins that they fall into: [`even_bins`], [`bins_between`], [`binned`], or two or three of these in a tuple, whose bins are those of
/// an array in row-major order.
pub trait Bins<B: Backend> {
    /// Returns the number of bins.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above 2^20, [`Error::InvalidArgument`] for none.
    fn bins(&self) -> Result<u64>;

    #[doc(hidden)]
    fn collect(&self, c: &mut Collector<B>, constant: bool) -> Result<()>;

    /// The bin of a sample; one that is not below [`Bins::bins`] is none.
    #[doc(hidden)]
    fn bin(&self, next: &mut u16, constant: bool) -> Result<Expr<u32>>;
}

impl<B: Backend, N: Bins<B> + ?Sized> Bins<B> for &N {
    fn bins(&self) -> Result<u64> {
        (**self).bins()
    }
    fn collect(&self, c: &mut Collector<B>, constant: bool) -> Result<()> {
        (**self).collect(c, constant)
    }
    fn bin(&self, next: &mut u16, constant: bool) -> Result<Expr<u32>> {
        (**self).bin(next, constant)
    }
}

fn check(bins: u64) -> Result<u64> {
    match bins {
        0 => Err(Error::InvalidArgument { what: "bins", reason: "there is none".to_owned() }),
        1..=MAX_BINS => Ok(bins),
        _ => Err(Error::TooLarge { what: "bins", requested: bins, limit: MAX_BINS }),
    }
}

/// See [`even_bins`].
#[derive(Clone, Copy, Debug)]
pub struct Even<I, R> {
    inputs: I,
    lower: R,
    upper: R,
    bins: u32,
    inclusive: bool,
    flow: bool,
}

/// `bins` bins of one width from `lower` to below `upper`, or to `upper` itself where they are [inclusive](Even::inclusive). A sample outside is in none,
/// nor is NaN.
///
/// The bin of an integer `x` is `(x - lower) * bins / (upper - lower)`, rounded down, without overflow; a bin is at least one wide.
///
/// Bins of floats are those [`bins_between`] edges, to the last bit, on every device: edge `k` is `lower + k * ((upper - lower) / bins)` in `f64`, each
/// operation rounded, and then rounded to the type that computes (`f32` also for `f16`); the last edge is `upper`. NumPy's `linspace` has the same, so
/// its `histogram` counts the same, but for samples that equal `upper`, which it counts. Where edges coincide, as bins are narrower than floats are dense,
/// the last bin that begins there has the samples.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let x = dev.upload(&[0.1f32, 0.6, 0.7, 1.0, -2.0])?;
/// assert_eq!(dev.histogram(even_bins(&x, 0.0, 1.0, 2)).run()?.read_blocking()?, [1, 2]);
/// // The third of twenty edges from 0 to 2 is 0.30000000000000004, so 0.3 is below it.
/// let y = dev.upload(&[0.3f64])?;
/// assert_eq!(dev.histogram(even_bins(&y, 0.0, 2.0, 20)).run()?.read_blocking()?[2..4], [1, 0]);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub fn even_bins<I, R: Sample>(inputs: I, lower: R, upper: R, bins: u32) -> Even<I, R> {
    Even { inputs, lower, upper, bins, inclusive: false, flow: false }
}

impl<I, R: Sample> Even<I, R> {
    /// The same with samples that equal `upper`. Of integers these are bins of `lower..=upper`, whose range is one more, so that all values of a type can
    /// be counted; of floats the last bin has them, as NumPy's has.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0u32, 1 << 31, u32::MAX])?;
    /// assert_eq!(dev.histogram(even_bins(&x, 0, u32::MAX, 2).inclusive()).run()?.read_blocking()?, [1, 2]);
    /// let y = dev.upload(&[0.5f32, 1.0])?;
    /// assert_eq!(dev.histogram(even_bins(&y, 0.0, 1.0, 4).inclusive()).run()?.read_blocking()?, [0, 0, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn inclusive(self) -> Self {
        Self { inclusive: true, ..self }
    }

    /// The same with a bin before the first for samples below `lower` (underflow), and one after the last for samples above the bins (overflow), so there are
    /// two bins more, and every sample is in one. NaN is in the last one, as in Boost.Histogram, whose word this is. Bounds are constants of the kernel.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.1f32, 0.6, 0.7, 1.0, -2.0, f32::NAN])?;
    /// assert_eq!(dev.histogram(even_bins(&x, 0.0, 1.0, 2).with_flow()).run()?.read_blocking()?, [1, 1, 2, 2]);
    /// assert_eq!(dev.histogram(even_bins(&x, 0.0, 1.0, 2).inclusive().with_flow()).run()?.read_blocking()?, [1, 1, 3, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn with_flow(self) -> Self {
        Self { flow: true, ..self }
    }

    pub(super) fn rule(&self) -> Result<Rule> {
        check(self.bins.into())?;
        R::rule(self.lower, self.upper, self.bins, self.inclusive)
    }
}

/// The rule of even bins whose bounds are decimal numbers, for samples that are stored as another type than the one that computes.
pub(crate) fn rule_of_text<R: Sample>(bounds: [&str; 2], bins: u32, inclusive: bool, stored: DType) -> Result<Rule> {
    check(bins.into())?;
    R::rule_of_text(bounds, bins, inclusive, stored)
}

/// Samples, and the rule of their even bins between bounds that are decimal numbers.
#[derive(Clone, Debug)]
pub(crate) struct Ruled<I, R> {
    inputs: I,
    rule: Rule,
    bins: u32,
    /// Least sample in the bins, where there are bins for those outside.
    least: Option<R>,
}

impl<I, R: Sample> Ruled<I, R> {
    pub(crate) fn new(inputs: I, bounds: [&str; 2], bins: u32, stored: DType, (inclusive, flow): (bool, bool)) -> Result<Self> {
        // Refuses numbers of bins that are none, before edges are made of them.
        let rule = rule_of_text::<R>(bounds, bins, inclusive, stored)?;
        let least = flow.then(|| R::least_of_text(bounds, bins, inclusive, stored)).transpose()?;
        Ok(Self { inputs, rule, bins, least })
    }
}

impl<B: Backend, R: Sample, I: Input<B, Exprs = Expr<R>>> Bins<B> for Ruled<I, R> {
    fn bins(&self) -> Result<u64> {
        with_flow(self.bins.into(), self.least.is_some())
    }
    fn collect(&self, c: &mut Collector<B>, constant: bool) -> Result<()> {
        self.inputs.collect(c)?;
        self.rule.collect::<B, R>(c, constant || self.least.is_some())
    }
    fn bin(&self, next: &mut u16, constant: bool) -> Result<Expr<u32>> {
        let x = self.inputs.exprs(next);
        let bin = bin_of(x, &self.rule, next, constant || self.least.is_some());
        Ok(self.least.map_or(bin, |least| or_flow(x.lt(lit(least)), bin, self.bins.into())))
    }
}

fn bin_of<R: Sample>(x: Expr<R>, rule: &Rule, next: &mut u16, constant: bool) -> Expr<u32> {
    let mut numbers = if constant { Next::constants(next) } else { Next::params(next) };
    R::bin(x, rule, &mut numbers)
}

/// The bins with those of what is outside.
fn with_flow(bins: u64, flow: bool) -> Result<u64> {
    check(bins)?;
    check(if flow { bins + 2 } else { bins })
}

/// The bin of a sample that is in bin `bin` of so many, or outside of these.
fn or_flow(below: Expr<bool>, bin: Expr<u32>, bins: u64) -> Expr<u32> {
    select(below, 0u32, select(bin.lt(bins as u32), bin + 1u32, bins as u32 + 1))
}

impl<B: Backend, R: Sample, I: Input<B, Exprs = Expr<R>>> Bins<B> for Even<I, R> {
    fn bins(&self) -> Result<u64> {
        with_flow(self.bins.into(), self.flow)
    }
    fn collect(&self, c: &mut Collector<B>, constant: bool) -> Result<()> {
        let rule = self.rule()?;
        self.inputs.collect(c)?;
        rule.collect::<B, R>(c, constant || self.flow)
    }
    fn bin(&self, next: &mut u16, constant: bool) -> Result<Expr<u32>> {
        let x = self.inputs.exprs(next);
        let bin = bin_of(x, &self.rule()?, next, constant || self.flow);
        Ok(if self.flow { or_flow(x.lt(lit(self.lower)), bin, self.bins.into()) } else { bin })
    }
}

/// Edges of bins on the device, in ascending order: one more than bins. Equal ones have an empty bin between them.
#[derive(Clone, Debug)]
pub struct Edges<B: Backend, T> {
    buffer: Buffer<B, T>,
    inclusive: bool,
}

impl<B: Backend, T: Element> Edges<B, T>
where
    T: PartialOrd,
{
    /// Checks edges and uploads them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for fewer than two edges, one below the one before it, and NaN; [`Error::TooLarge`]; as [`Buffer::write`].
    pub fn new(device: &B, edges: &[T]) -> Result<Self> {
        check_edges(edges)?;
        Ok(Self { buffer: device.upload(edges)?, inclusive: false })
    }

    /// Takes edges that are on the device. Waits for them, to check them.
    ///
    /// # Errors
    /// As [`Edges::new`] and [`Buffer::read`].
    pub fn from_buffer(buffer: Buffer<B, T>) -> Result<Self> {
        check_edges(&buffer.read_blocking()?)?;
        Ok(Self { buffer, inclusive: false })
    }

    /// The same with samples that equal the last edge, which the last bin has: NumPy's `histogram` and `histogramdd` count them there.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let edges = Edges::new(&dev, &[0.0f32, 1.0, 10.0])?.inclusive();
    /// let x = dev.upload(&[0.5f32, 1.0, 10.0, 10.5])?;
    /// assert_eq!(dev.histogram(bins_between(&x, &edges)).run()?.read_blocking()?, [1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn inclusive(self) -> Self {
        Self { inclusive: true, ..self }
    }

    /// The edges.
    pub fn buffer(&self) -> &Buffer<B, T> {
        &self.buffer
    }
}

impl<B: Backend, T: Element> Edges<B, T>
where
    T::Reg: Num,
{
    /// The bins between them.
    pub(super) fn bins(&self) -> Result<u64> {
        check(self.buffer.len().saturating_sub(1))
    }

    /// The bin of a sample; how many edges there are is a constant of the kernel, or a parameter.
    pub(super) fn bin(&self, x: Expr<T::Reg>, next: &mut u16, constant: bool) -> Expr<u32> {
        let edges = Source::exprs(&array(&self.buffer), next);
        let count = self.buffer.len() as u32;
        let mut len = lit(count);
        if !constant {
            len = Expr::params(*next);
            *next += 1;
        }
        let bin = search(x, edges, len, count);
        if self.inclusive { select(x.eq(edges.at(len - 1)), len - 2, bin) } else { bin }
    }
}

fn check_edges<T: PartialOrd + std::fmt::Debug>(edges: &[T]) -> Result<()> {
    let fail = |reason: String| Err(Error::InvalidArgument { what: "edges", reason });
    if edges.len() < 2 {
        return fail(format!("{} of them; a bin lies between two", edges.len()));
    }
    check(edges.len() as u64 - 1)?;
    if let Some(k) = edges.iter().position(|e| e.partial_cmp(e).is_none()) {
        return fail(format!("edge {k} is NaN"));
    }
    match edges.windows(2).position(|w| w[1] < w[0]) {
        Some(k) => fail(format!("edge {} ({:?}) is below edge {k} ({:?})", k + 1, edges[k + 1], edges[k])),
        None => Ok(()),
    }
}

/// See [`bins_between`].
#[derive(Clone, Copy, Debug)]
pub struct Between<'a, I, B: Backend, T> {
    inputs: I,
    edges: &'a Edges<B, T>,
    flow: bool,
}

/// A bin from each edge to below the next one, the last one to its edge itself where they are [inclusive](Edges::inclusive). A sample outside is in none, nor is NaN. Compared by value, so -0 is 0.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let edges = Edges::new(&dev, &[0.0f32, 1.0, 10.0, 100.0])?;
/// let x = dev.upload(&[0.5f32, 5.0, 50.0, 99.0, 100.0])?;
/// assert_eq!(dev.histogram(bins_between(&x, &edges)).run()?.read_blocking()?, [1, 1, 2]);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub fn bins_between<I, B: Backend, T>(inputs: I, edges: &Edges<B, T>) -> Between<'_, I, B, T> {
    Between { inputs, edges, flow: false }
}

impl<I, B: Backend, T> Between<'_, I, B, T> {
    /// The same with a bin before the first for samples below all edges, and one after the last for those above, and for NaN: see [`Even::with_flow`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let edges = Edges::new(&dev, &[0u32, 10, 100])?;
    /// let x = dev.upload(&[5u32, 50, 99, 100, 1000])?;
    /// assert_eq!(dev.histogram(bins_between(&x, &edges).with_flow()).run()?.read_blocking()?, [0, 1, 2, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn with_flow(self) -> Self {
        Self { flow: true, ..self }
    }
}

impl<B: Backend, T: Element, I: Input<B, Exprs = Expr<T::Reg>>> Bins<B> for Between<'_, I, B, T>
where
    T::Reg: Num,
{
    fn bins(&self) -> Result<u64> {
        with_flow(self.edges.bins()?, self.flow)
    }
    fn collect(&self, c: &mut Collector<B>, constant: bool) -> Result<()> {
        self.inputs.collect(c)?;
        array(&self.edges.buffer).collect(c)?;
        if constant {
            return Ok(());
        }
        c.push(None, Ty::U32.dtype(), Param::Value(Ty::U32), Leaf::Value { bits: self.edges.buffer.len() })
    }
    fn bin(&self, next: &mut u16, constant: bool) -> Result<Expr<u32>> {
        let (x, edges) = (self.inputs.exprs(next), *next);
        let bin = self.edges.bin(x, next, constant);
        if !self.flow {
            return Ok(bin);
        }
        Ok(or_flow(x.lt(array_expr::<T>(edges).at(0u32)), bin, self.edges.bins()?))
    }
}

/// See [`binned`].
#[derive(Clone, Copy, Debug)]
pub struct Binned<I, F> {
    inputs: I,
    bins: u32,
    f: F,
}

/// The bin that an operator gives; one that is not below `bins` is none.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let x = dev.upload(&[7u32, 8, 9, 10, 1000])?;
/// // By number of bits, up to four.
/// assert_eq!(dev.histogram(binned(&x, 5, |x| 32 - x.leading_zeros())).run()?.read_blocking()?, [0, 0, 0, 1, 3]);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub fn binned<I: Source, F: Fn(I::Exprs) -> Expr<u32>>(inputs: I, bins: u32, f: F) -> Binned<I, F> {
    Binned { inputs, bins, f }
}

impl<B: Backend, I: Input<B>, F: Fn(I::Exprs) -> Expr<u32>> Bins<B> for Binned<I, F> {
    fn bins(&self) -> Result<u64> {
        check(self.bins.into())
    }
    fn collect(&self, c: &mut Collector<B>, _: bool) -> Result<()> {
        self.inputs.collect(c)
    }
    fn bin(&self, next: &mut u16, _: bool) -> Result<Expr<u32>> {
        let x = self.inputs.exprs(next);
        Ok((self.f)(x))
    }
}

/// Bins of the first samples, as many as a number on the device says: what is behind them is in no bin. A histogram's
/// [`length`](super::HistogramCall::length) makes them; a total of several histograms takes them by themselves.
#[derive(Clone, Copy, Debug)]
pub struct CountedBins<'a, N, B: Backend> {
    bins: N,
    count: &'a DeviceScalar<B, u32>,
}

impl<'a, N, B: Backend> CountedBins<'a, N, B> {
    /// Bins of the first `count` samples. Bounds of even bins are constants of the kernel here.
    pub const fn new(bins: N, count: &'a DeviceScalar<B, u32>) -> Self {
        Self { bins, count }
    }
}

impl<B: Backend, N: Bins<B>> Bins<B> for CountedBins<'_, N, B> {
    fn bins(&self) -> Result<u64> {
        self.bins.bins()
    }
    fn collect(&self, c: &mut Collector<B>, _: bool) -> Result<()> {
        self.bins.collect(c, true)?;
        (index(), self.count).collect(c)
    }
    fn bin(&self, next: &mut u16, _: bool) -> Result<Expr<u32>> {
        let bin = self.bins.bin(next, true)?;
        let (i, count) = Source::exprs(&(index(), self.count), next);
        Ok(select(i.lt(count), bin, u32::MAX))
    }
}

/// The place of a cell in row-major order, or none where one of the two bins is none. Numbers are constants here, since a kernel has room for
/// few parameters.
fn cell(a: Expr<u32>, rows: u64, b: Expr<u32>, columns: u64) -> Expr<u32> {
    select(a.lt(rows as u32) & b.lt(columns as u32), a * columns as u32 + b, u32::MAX)
}

impl<B: Backend, P: Bins<B>, Q: Bins<B>> Bins<B> for (P, Q) {
    fn bins(&self) -> Result<u64> {
        check(self.0.bins()? * self.1.bins()?)
    }
    fn collect(&self, c: &mut Collector<B>, _: bool) -> Result<()> {
        self.0.collect(c, true)?;
        self.1.collect(c, true)
    }
    fn bin(&self, next: &mut u16, _: bool) -> Result<Expr<u32>> {
        let (a, b) = (self.0.bin(next, true)?, self.1.bin(next, true)?);
        Ok(cell(a, self.0.bins()?, b, self.1.bins()?))
    }
}

impl<B: Backend, P: Bins<B>, Q: Bins<B>, R: Bins<B>> Bins<B> for (P, Q, R) {
    fn bins(&self) -> Result<u64> {
        check(check(self.0.bins()? * self.1.bins()?)? * self.2.bins()?)
    }
    fn collect(&self, c: &mut Collector<B>, _: bool) -> Result<()> {
        self.0.collect(c, true)?;
        self.1.collect(c, true)?;
        self.2.collect(c, true)
    }
    fn bin(&self, next: &mut u16, _: bool) -> Result<Expr<u32>> {
        let (a, b, c) = (self.0.bin(next, true)?, self.1.bin(next, true)?, self.2.bin(next, true)?);
        let rows = self.0.bins()? * self.1.bins()?;
        Ok(cell(cell(a, self.0.bins()?, b, self.1.bins()?), rows, c, self.2.bins()?))
    }
}
