//! Convolutions that are described, and the products that compute them.

use super::geometry::{Geometry, Modifiers, Padding, Transposed};
use super::grid::{Axes, Grid};
use super::{ConvolutionTask, Convolutions, PATTERN, Windows};
use crate::backend::Backend;
use crate::call::{Finished, Unchanged};
use crate::error::Result;
use crate::input::{Input, Outputs, index};
use crate::ir::{self, Expr, Traced, lit};
use crate::patterns::before::Elsewhere;
use crate::patterns::operand::Operand;
use crate::patterns::product::{Addend, Adding, Ending, Factor, NoAddend, ProductOrder, Together};
use crate::patterns::{Border, ProductCall, ProductTask, matrix};
use std::sync::Arc;

/// A convolution that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it.
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct ConvolutionCall<'d, B, L, R, T, A = NoAddend, F = Unchanged> {
    image: Grid<L>,
    filter: Grid<R>,
    modifiers: Modifiers,
    /// The product, but for its operands.
    product: ProductCall<'d, B, (), (), T, A, F>,
}

impl<'d, B, L, R, T> ConvolutionCall<'d, B, L, R, T> {
    pub(super) fn new(device: &'d B, image: Grid<L>, filter: Grid<R>) -> Self {
        let product = ProductCall::of_pattern(device, PATTERN, matrix((), 0, 0), matrix((), 0, 0));
        Self { image, filter, modifiers: Modifiers::default(), product }
    }
}

impl<'d, B, L, R, T, A, F> ConvolutionCall<'d, B, L, R, T, A, F> {
    fn with(mut self, modify: impl FnOnce(&mut Modifiers)) -> Self {
        modify(&mut self.modifiers);
        self
    }

    /// Takes all modifiers at once.
    pub(super) fn modified(self, modifiers: Modifiers) -> Self {
        Self { modifiers, ..self }
    }

    fn with_product<A2, F2>(
        self,
        modify: impl FnOnce(ProductCall<'d, B, (), (), T, A, F>) -> ProductCall<'d, B, (), (), T, A2, F2>,
    ) -> ConvolutionCall<'d, B, L, R, T, A2, F2> {
        let Self { image, filter, modifiers, product } = self;
        ConvolutionCall { image, filter, modifiers, product: modify(product) }
    }

    /// Takes a window at every so many elements only, a number to each axis.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, pair) = (dev.upload(&[1i32, 2, 3, 4, 5, 6])?, dev.upload(&[1i32, 1])?);
    /// assert_eq!(dev.convolve(grid(&x, &[6]), grid(&pair, &[2])).stride(&[2]).run()?.read_blocking()?, [3, 7, 11]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn stride(self, stride: &[u64]) -> Self {
        self.with(|m| m.stride = Some(Axes::new(stride, 1)))
    }

    /// Takes taps so many elements apart, a number to each axis.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, pair) = (dev.upload(&[1i32, 2, 3, 4, 5, 6])?, dev.upload(&[1i32, 1])?);
    /// assert_eq!(dev.convolve(grid(&x, &[6]), grid(&pair, &[2])).dilation(&[3]).run()?.read_blocking()?, [5, 7, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn dilation(self, dilation: &[u64]) -> Self {
        self.with(|m| m.dilation = Some(Axes::new(dilation, 1)))
    }

    /// Lets windows reach so many elements beyond either end of each axis.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, taps) = (dev.upload(&[1i32, 2, 3])?, dev.upload(&[1i32, 10, 100])?);
    /// let call = || dev.convolve(grid(&x, &[3]), grid(&taps, &[3])).padding(&[1]);
    /// assert_eq!(call().run()?.read_blocking()?, [210, 321, 32]);
    /// assert_eq!(call().border(Border::Clamp).run()?.read_blocking()?, [211, 321, 332]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn padding(self, padding: &[u64]) -> Self {
        self.padding_by(padding, padding)
    }

    /// Lets windows reach so many elements before the first and so many after the last one of each axis.
    pub fn padding_by(self, before: &[u64], after: &[u64]) -> Self {
        self.with(|m| m.padding = Padding::By(Axes::new(before, 0), Axes::new(after, 0)))
    }

    /// Pads so that without a stride the result has the image's extents: of `s = dilation * (taps - 1)` elements, `s / 2` go before the first one and the
    /// others after the last.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, taps) = (dev.upload(&[1i32, 2, 3])?, dev.upload(&[1i32, 10])?);
    /// assert_eq!(dev.convolve(grid(&x, &[3]), grid(&taps, &[2])).same().run()?.read_blocking()?, [21, 32, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn same(self) -> Self {
        self.with(|m| m.padding = Padding::Same)
    }

    /// The elements that windows read beyond the image: [`Border::Zero`] unless told otherwise.
    pub fn border(self, border: Border) -> Self {
        self.with(|m| m.border = border)
    }

    /// Parts channels and filters into so many groups: the filters of a group look at its channels alone.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Two channels with a filter each.
    /// let (x, taps) = (dev.upload(&[1i32, 2, 3, 4, 5, 6])?, dev.upload(&[1i32, 1, 10, 10])?);
    /// let y = dev.convolve(grid(&x, &[3]).channels(2), grid(&taps, &[2]).batch(2)).groups(2).run()?;
    /// assert_eq!(y.read_blocking()?, [3, 5, 90, 110]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn groups(self, groups: u64) -> Self {
        self.with(|m| m.groups = groups)
    }

    /// Takes the taps of every filter from the last to the first along all axes: the convolution of mathematics, where the call without it is a
    /// cross-correlation, as in networks. It has the bits of the call by filters whose elements are in that order.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, taps) = (dev.upload(&[1i32, 2, 3])?, dev.upload(&[1i32, 10])?);
    /// assert_eq!(dev.convolve(grid(&x, &[3]), grid(&taps, &[2])).flipped().run()?.read_blocking()?, [12, 23]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn flipped(self) -> Self {
        self.with(|m| m.flipped = true)
    }

    /// The transpose: what the convolution by these filters takes from its results to its image, the gradient with respect to the image. The image's channels
    /// are the filters, and the results' the channels of a filter. An axis of `n` elements becomes one of `(n - 1) stride + dilation (taps - 1) + 1`, less the
    /// padding.
    ///
    /// An element is that of a convolution without a stride: of the image with `stride - 1` zeros between its elements and `dilation (taps - 1)` less the
    /// padding around it, by flipped filters. These zeros are terms as those of a border are.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (y, taps) = (dev.upload(&[1i32, 2, 3])?, dev.upload(&[1i32, 10])?);
    /// let call = || dev.convolve(grid(&y, &[3]), grid(&taps, &[2])).stride(&[3]);
    /// assert_eq!(call().transposed().run()?.read_blocking()?, [1, 10, 0, 2, 20, 0, 3, 30]);
    /// // Of nine elements, too, windows at every third one are three.
    /// assert_eq!(call().transposed_to(&[9]).run()?.read_blocking()?, [1, 10, 0, 2, 20, 0, 3, 30, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn transposed(self) -> Self {
        self.with(|m| m.transposed = Transposed::Least)
    }

    /// As [`transposed`](Self::transposed), to these extents, of which the convolution has as many results as the image has elements.
    pub fn transposed_to(self, extents: &[u64]) -> Self {
        self.with(|m| m.transposed = Transposed::To(Axes::new(extents, 1)))
    }

    /// Multiplies sums by a number, as [`ProductCall::alpha`].
    pub fn alpha(self, alpha: T) -> Self {
        self.with_product(|product| product.alpha(alpha))
    }

    /// The order of evaluation over channels and taps, as [`ProductCall::order`].
    pub fn order(self, order: ProductOrder) -> Self {
        self.with_product(|product| product.order(order))
    }

    /// The extents of the result, of one channel.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, taps) = (dev.buffer::<f32>(3 * 32 * 20)?, dev.buffer::<f32>(8 * 3 * 5 * 5)?);
    /// let call = dev.convolve(grid(&x, &[32, 20]).channels(3), grid(&taps, &[5, 5]).channels(3).batch(8)).stride(&[2, 1]);
    /// assert_eq!(call.extents()?, [14, 16]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run) for operands and modifiers that do not fit.
    pub fn extents(&self) -> Result<Vec<u64>> {
        Ok(self.geometry()?.extents())
    }

    fn geometry(&self) -> Result<Geometry> {
        Geometry::new(&self.image, &self.filter, &self.modifiers)
    }
}

impl<'d, B, L, R, T, F> ConvolutionCall<'d, B, L, R, T, NoAddend, F> {
    /// Adds `beta` times an input with an element at every index of the result, as [`ProductCall::add`].
    pub fn add<I>(self, beta: T, c: I) -> ConvolutionCall<'d, B, L, R, T, Addend<T, I>, F> {
        self.with_product(|product| product.add(beta, c))
    }
}

impl<'d, B: Backend, L, R, T: Factor, A> ConvolutionCall<'d, B, L, R, T, A> {
    /// Stores what a closure makes of each element, as [`ProductCall::finish`].
    pub fn finish<S: Outputs, G: Fn(Expr<T>) -> S>(self, finish: G) -> ConvolutionCall<'d, B, L, R, T, A, Finished<G>> {
        self.with_product(|product| product.finish(finish))
    }

    /// Stores what a closure makes of each element and of the values of further inputs at its index: bias, activation, scaling, another type.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, taps) = (dev.upload(&[1.0f32, -2.0, 3.0])?, dev.upload(&[1.0f32, 1.0, 2.0, 2.0])?);
    /// let bias = dev.upload(&[0.0f32, 0.5])?;
    /// // Two filters, with a bias to each of them.
    /// let layer = dev
    ///     .convolve(grid(&x, &[3]), grid(&taps, &[2]).batch(2))
    ///     .epilogue(bias.broadcast(&[2, 1], &[2, 2]), |y, bias| (y + bias).max(0.0));
    /// assert_eq!(layer.run()?.read_blocking()?, [0.0, 1.0, 0.0, 2.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn epilogue<J: Input<B>, S: Outputs, G: Fn(Expr<T>, J::Exprs) -> S>(
        self,
        inputs: J,
        f: G,
    ) -> ConvolutionCall<'d, B, L, R, T, A, Together<J, G>> {
        self.with_product(|product| product.epilogue(inputs, f))
    }
}

impl<B, L, R, T, A, F> ConvolutionCall<'_, B, L, R, T, A, F>
where
    B: Convolutions,
    L: Input<B, Exprs = Expr<T>>,
    R: Input<B, Exprs = Expr<T>>,
    T: Factor,
    A: Adding<B, T>,
    F: Ending<B, T>,
{
    /// Enqueues the convolution into new memory, which it returns: images, channels and rows follow each other.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) for axes of no elements and other than one to three, numbers that are not one to an axis, strides,
    /// dilations and groups of 0, groups that do not divide channels and filters, a filter that is larger than the image with its padding, a border of a
    /// transposed convolution, and extents that are not a transpose's; [`LengthMismatch`](crate::Error::LengthMismatch) for inputs of other lengths than their
    /// grids and for channels that differ; [`TooLarge`](crate::Error::TooLarge); those of a [product](ProductCall::run).
    pub fn run(self) -> Result<<F::Out as Outputs>::Buffers<B>> {
        let of = self.geometry()?;
        let elements = of.windows().saturating_mul(of.batch).saturating_mul(of.groups).saturating_mul(of.channels[1]);
        let out = F::Out::allocate(self.product.device(), elements)?;
        self.write_to(F::Out::refs(&out))?;
        Ok(out)
    }

    /// Enqueues the convolution into the caller's memory.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`BufferTooSmall`](crate::Error::BufferTooSmall) for outputs, [`Aliasing`](crate::Error::Aliasing) where one overlaps an
    /// operand.
    pub fn write_to(self, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        let (device, of) = (self.product.device(), self.geometry()?);
        let filter = self.filters(&of)?;
        // The kernel of planes has chains, and sees all of them at once.
        let results = of.windows().saturating_mul(of.batch).saturating_mul(of.groups).saturating_mul(of.channels[1]);
        let spread = of.spread();
        let with_zeros = spread.as_ref().map_or(0, |spread| spread.elements().unwrap_or(u64::MAX));
        let longest = self.image.elements().max(results).max(with_zeros);
        let room = device.caps().max_binding_bytes / T::DTYPE.size_bytes();
        let planes = of.planes(device.caps().loop_turns).filter(|_| !self.product.is_fixed() && longest <= room - room / 256);
        let Some((axes, images)) = planes else {
            let elements = Elsewhere::new(device, PATTERN, &self.image.input, |x| x)?;
            self.image.check_length("elements of the image", elements.len)?;
            let image = elsewhere(&elements, of.elements()?, |i| of.element(i))?;
            let product = product_of(self.product, &of, &image, &filter);
            if !of.is_layer() {
                return product.write_to(out);
            }
            // Kernels that find the elements of windows themselves read zero beyond the last one.
            let count = self.image.elements();
            let plain = elsewhere::<_, T>(&elements, count, |i| (i, (!elements.is_stored()).then(|| i.lt(lit(count as u32)))))?;
            return match product.described(out)? {
                Some((task, leaves, outs)) => {
                    let image = Arc::new(plain.among(&task.b.params, filter.leaves())?);
                    let windows = Some(Arc::new(Windows::new(&of, image)));
                    device.run(&ProductTask { windows, ..task }, &leaves, &outs)
                }
                None => Ok(()),
            };
        };
        let enqueue = |(product, leaves, outs): (ProductTask, Vec<_>, Vec<_>)| {
            let task = ConvolutionTask { product, axes, border: of.border, images, groups: of.groups, channels: of.channels };
            device.run(&task, &leaves, &outs)
        };
        let image = Operand::traced(device, PATTERN, &self.image.input, |x| x)?;
        self.image.check_length("elements of the image", image.len()?)?;
        let product = product_of(self.product, &of, &image, &filter).reading(self.filter.elements(), self.image.elements());
        let checked = product.described(out)?;
        let Some(spread) = spread else { return checked.map_or(Ok(()), enqueue) };
        // Zeros between elements are stored, so that plain and transposed convolutions have one kernel.
        let stored = device.map(&windows_of(device, &self.image, &spread)?, |x| x)?;
        let image = Operand::traced(device, PATTERN, &&stored, |x| x)?;
        let product = product_of(product, &of, &image, &filter).reading(self.filter.elements(), stored.len());
        product.described(out)?.map_or(Ok(()), enqueue)
    }

    /// The filters as the matrices of a product.
    fn filters(&self, of: &Geometry) -> Result<Operand<B, T>> {
        let device = self.product.device();
        if of.has_plain_weights() {
            let filter = Operand::traced(device, PATTERN, &self.filter.input, |x| x)?;
            self.filter.check_length("elements of the filter", filter.len()?)?;
            return Ok(filter);
        }
        let elements = Elsewhere::new(device, PATTERN, &self.filter.input, |x| x)?;
        self.filter.check_length("elements of the filter", elements.len)?;
        let count = of.batch.max(1).saturating_mul(self.filter.elements());
        elsewhere(&elements, count, |i| (of.weight(i), None))
    }
}

/// The product that a convolution is.
fn product_of<'d, 'o, B: Backend, L, R, T, A, F>(
    product: ProductCall<'d, B, L, R, T, A, F>,
    of: &Geometry,
    image: &'o Operand<B, T>,
    filter: &'o Operand<B, T>,
) -> ProductCall<'d, B, &'o Operand<B, T>, &'o Operand<B, T>, T, A, F> {
    let (count, terms) = (of.batch.saturating_mul(of.groups), of.terms());
    let filters = matrix(filter, of.channels[1], terms);
    let filters = if of.groups == 1 { filters } else { filters.batch(count) };
    product.with_operands(filters, matrix(image, terms, of.windows()).batch(count))
}

/// The elements of the windows of images as an operand: matrices with a row to each tap and a column to each window.
pub(super) fn windows_of<B: Backend, I: Input<B, Exprs = Expr<T>>, T: Factor>(
    device: &B,
    image: &Grid<I>,
    of: &Geometry,
) -> Result<Operand<B, T>> {
    let elements = Elsewhere::new(device, PATTERN, &image.input, |x| x)?;
    image.check_length("elements of the image", elements.len)?;
    elsewhere(&elements, of.elements()?, |i| of.element(i))
}

/// Values of an input at other indices, and zero where there is none.
fn elsewhere<B: Backend, T: Factor>(
    of: &Elsewhere<B>,
    count: u64,
    at: impl FnOnce(Expr<u32>) -> (Expr<u32>, Option<Expr<bool>>),
) -> Result<Operand<B, T>> {
    let mut c = of.c.clone();
    let number = c.params.len() as u16;
    index().collect(&mut c)?;
    let build = || {
        let (i, inside) = at(<Expr<u32> as Traced>::params(number));
        let found = match inside {
            None => of.results(&c.params, i),
            Some(inside) => of.results_where(&c.params, i, inside),
        };
        found.first().map_or_else(|| lit(T::from_bits64(0)), |&value| Expr::<T>::from_value(value))
    };
    let func = ir::pack(c.params.clone(), build)?;
    c.length(count)?;
    Ok(Operand::new(c, Arc::new(func)))
}
