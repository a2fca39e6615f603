//! Products that are described.

use super::super::{check_aliasing, check_ops};
use super::matrix::Matrix;
use super::packed::stored_as;
use super::{Factor, ProductOrder, ProductTask, Products, Steps, steps_of};
use crate::backend::{Backend, Leaf, Out, places};
use crate::call::{Finish, Finished, Unchanged};
use crate::element::DType;
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Outputs, Source, require, scalar};
use crate::ir::{self, Expr, Func, Param, Traced};
use std::sync::Arc;

const PATTERN: &str = "gemm";
/// Terms of a fixed-point sum, none of which is above 2^37: they are added in 64 bits.
const MOST_FIXED: u64 = 1 << 26;
/// The most rows, columns or terms: kernels count blocks and tiles in 32 bits.
const MOST: u64 = 1 << 31;

/// A matrix that is added to a product.
#[derive(Clone, Copy, Debug)]
pub struct Addend<T, I> {
    beta: T,
    input: I,
}

/// Nothing is added to a product.
#[derive(Clone, Copy, Debug)]
pub struct NoAddend;

/// A closure of a product's elements and of further inputs is stored.
#[derive(Clone, Copy, Debug)]
pub struct Together<J, G> {
    inputs: J,
    f: G,
}

/// An element of a product with what is added to it.
pub trait Adding<B: Backend, T: Factor> {
    /// Flag: it is anything.
    #[doc(hidden)]
    const ADDS: bool;
    #[doc(hidden)]
    fn collect(&self, c: &mut Collector<B>) -> Result<()>;
    /// The product of what is added and its factor, rounded.
    #[doc(hidden)]
    fn value(&self, next: &mut u16) -> Option<Expr<T>>;
}

impl<B: Backend, T: Factor> Adding<B, T> for NoAddend {
    const ADDS: bool = false;
    fn collect(&self, _: &mut Collector<B>) -> Result<()> {
        Ok(())
    }
    fn value(&self, _: &mut u16) -> Option<Expr<T>> {
        None
    }
}

impl<B: Backend, T: Factor, I: Input<B, Exprs = Expr<T>>> Adding<B, T> for Addend<T, I> {
    const ADDS: bool = true;
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.input.collect(c)?;
        scalar(self.beta).collect(c)
    }
    fn value(&self, next: &mut u16) -> Option<Expr<T>> {
        let x = self.input.exprs(next);
        Some(x * Source::exprs(&scalar(self.beta), next))
    }
}

/// Stored values of a product's elements: themselves ([`Unchanged`]), or those of a closure.
pub trait Ending<B: Backend, T: Factor> {
    /// The stored values.
    type Out: Outputs;
    #[doc(hidden)]
    fn collect(&self, c: &mut Collector<B>) -> Result<()>;
    #[doc(hidden)]
    fn store(&self, value: Expr<T>, next: &mut u16) -> Self::Out;
}

impl<B: Backend, T: Factor> Ending<B, T> for Unchanged
where
    Expr<T>: Outputs,
{
    type Out = Expr<T>;
    fn collect(&self, _: &mut Collector<B>) -> Result<()> {
        Ok(())
    }
    fn store(&self, value: Expr<T>, _: &mut u16) -> Expr<T> {
        value
    }
}

impl<B: Backend, T: Factor, R: Outputs, F: Fn(Expr<T>) -> R> Ending<B, T> for Finished<F> {
    type Out = R;
    fn collect(&self, _: &mut Collector<B>) -> Result<()> {
        Ok(())
    }
    fn store(&self, value: Expr<T>, _: &mut u16) -> R {
        self.finish(value)
    }
}

impl<B: Backend, T: Factor, J: Input<B>, R: Outputs, G: Fn(Expr<T>, J::Exprs) -> R> Ending<B, T> for Together<J, G> {
    type Out = R;
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.inputs.collect(c)
    }
    fn store(&self, value: Expr<T>, next: &mut u16) -> R {
        (self.f)(value, self.inputs.exprs(next))
    }
}

/// A product that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it.
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct ProductCall<'d, B, L, R, T, A = NoAddend, F = Unchanged> {
    device: &'d B,
    /// The pattern that errors name.
    pattern: &'static str,
    a: Matrix<L>,
    b: Matrix<R>,
    order: ProductOrder,
    alpha: Option<T>,
    addend: A,
    ending: F,
    layout: Layout,
}

/// Where the elements of a product are stored. What is not said follows from the shape.
#[derive(Clone, Copy, Debug, Default)]
struct Layout {
    /// Elements from a row to the next, and from a column to the next.
    steps: Option<(u64, u64)>,
    /// Elements from a product of a batch to the next.
    batch: Option<u64>,
}

impl Layout {
    /// Tests whether every element from the first to the last is one of a product's.
    const fn is_dense(&self) -> bool {
        self.steps.is_none() && self.batch.is_none()
    }

    /// The steps of batches of m x n elements, none of which is stored over another.
    fn steps(self, [batch, m, n]: [u64; 3]) -> Result<Steps> {
        let (row, column) = self.steps.unwrap_or((n, 1));
        // A step along one element is never taken.
        let (row, column) = match () {
            () if (column == 1 && row >= n) || (row == 1 && column >= m) => (row, column),
            () if row == 1 || column == 1 => {
                let (lines, len, step) = if column == 1 { ("rows", n, row) } else { ("columns", m, column) };
                let reason = format!("{lines} of {len} elements are {step} apart");
                return Err(Error::InvalidArgument { what: "leading dimension", reason });
            }
            () if n <= 1 && (row > 0 || m <= 1) => (row, 1),
            () if m <= 1 && column > 0 => (1, column),
            () => {
                let reason = format!("rows are {row} elements apart and columns {column}, and neither are neighbours");
                return Err(Error::InvalidArgument { what: "steps of a product", reason });
            }
        };
        let one = Steps { row, column, batch: 0 };
        let step = self.batch.unwrap_or_else(|| m.saturating_mul(row).max(n.saturating_mul(column)));
        let extent = one.extent([1, m, n]).unwrap_or(u64::MAX);
        if batch > 1 && step < extent {
            let reason = format!("products over {extent} elements are {step} apart");
            return Err(Error::InvalidArgument { what: "step of a batch", reason });
        }
        Ok(Steps { batch: step, ..one })
    }
}

impl<'d, B, L, R, T> ProductCall<'d, B, L, R, T> {
    pub(super) fn new(device: &'d B, a: Matrix<L>, b: Matrix<R>) -> Self {
        Self::of_pattern(device, PATTERN, a, b)
    }

    /// A product as part of another pattern.
    pub(in crate::patterns) fn of_pattern(device: &'d B, pattern: &'static str, a: Matrix<L>, b: Matrix<R>) -> Self {
        Self {
            device,
            pattern,
            a,
            b,
            order: ProductOrder::Blocks,
            alpha: None,
            addend: NoAddend,
            ending: Unchanged,
            layout: Layout::default(),
        }
    }
}

impl<'d, B, L, R, T, A, F> ProductCall<'d, B, L, R, T, A, F> {
    /// Multiplies sums by a number, before anything else is done with them.
    pub fn alpha(self, alpha: T) -> Self {
        Self { alpha: Some(alpha), ..self }
    }

    /// The order of evaluation.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # use isowarp::patterns::ProductOrder;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.map(counting(1024), |i| (i.cast::<f32>() + 0.5).recip())?;
    /// let square = |order| dev.gemm(matrix(&x, 1, 1024), matrix(&x, 1024, 1)).order(order).run()?.read_blocking();
    /// assert!(square(ProductOrder::Blocks)? != square(ProductOrder::Chain)?);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn order(self, order: ProductOrder) -> Self {
        Self { order, ..self }
    }

    /// Takes other operands.
    pub(in crate::patterns) fn with_operands<L2, R2>(self, a: Matrix<L2>, b: Matrix<R2>) -> ProductCall<'d, B, L2, R2, T, A, F> {
        let Self { device, pattern, order, alpha, addend, ending, layout, .. } = self;
        ProductCall { device, pattern, a, b, order, alpha, addend, ending, layout }
    }

    /// Reads so many elements of the operands' inputs.
    pub(in crate::patterns) fn reading(self, left: u64, right: u64) -> Self {
        Self { a: self.a.reaching(left), b: self.b.reaching(right), ..self }
    }

    /// Tests whether sums are those of fixed-point numbers.
    pub(in crate::patterns) fn is_fixed(&self) -> bool {
        self.order == ProductOrder::Fixed30
    }

    /// The device.
    pub(in crate::patterns) fn device(&self) -> &'d B {
        self.device
    }

    /// Stores rows so many elements apart, at least as many as there are columns; elements between them stay. The next product of a batch follows the last
    /// row.
    pub fn leading(self, step: u64) -> Self {
        self.steps(step, 1)
    }

    /// Stores rows and columns so many elements apart, of which one is 1: `steps(1, rows)` is a column-major result, with the bits of a row-major one. Elements
    /// between them stay. The next product of a batch follows the last row or column.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let a = dev.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?; // 2 x 3
    /// let b = dev.upload(&[1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0])?; // 3 x 2
    /// let by_columns = dev.gemm(matrix(&a, 2, 3), matrix(&b, 3, 2)).steps(1, 2).run()?;
    /// assert_eq!(by_columns.read_blocking()?, [4.0, 10.0, 5.0, 11.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn steps(self, row: u64, column: u64) -> Self {
        Self { layout: Layout { steps: Some((row, column)), ..self.layout }, ..self }
    }

    /// Stores the first elements of a batch's products so many elements apart, at least as many as a product reaches over.
    pub fn batch_step(self, step: u64) -> Self {
        Self { layout: Layout { batch: Some(step), ..self.layout }, ..self }
    }
}

impl<'d, B, L, R, T, F> ProductCall<'d, B, L, R, T, NoAddend, F> {
    /// Adds `beta` times a matrix, an input with an element at every index of the result: `alpha * sum + beta * c`, where `beta * c` is rounded, and the rest once.
    /// The result may be written over it.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, c) = (dev.upload(&[1.0f32, 2.0, 3.0, 4.0])?, dev.upload(&[1.0f32, 1.0, 1.0, 1.0])?);
    /// let m = matrix(&a, 2, 2);
    /// dev.gemm(m, m).alpha(2.0).add(-1.0, &c).write_to(&c)?;
    /// assert_eq!(c.read_blocking()?, [13.0, 19.0, 29.0, 43.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn add<I>(self, beta: T, c: I) -> ProductCall<'d, B, L, R, T, Addend<T, I>, F> {
        let Self { device, pattern, a, b, order, alpha, ending, layout, .. } = self;
        ProductCall { device, pattern, a, b, order, alpha, addend: Addend { beta, input: c }, ending, layout }
    }
}

impl<'d, B: Backend, L, R, T: Factor, A> ProductCall<'d, B, L, R, T, A> {
    /// Stores what a closure makes of each element, after [`alpha`](Self::alpha) and [`add`](Self::add): of any type, and up to four values.
    pub fn finish<S: Outputs, G: Fn(Expr<T>) -> S>(self, finish: G) -> ProductCall<'d, B, L, R, T, A, Finished<G>> {
        self.end(Finished(finish))
    }

    /// Stores what a closure makes of each element and of the values of further inputs at its index: bias, activation, scaling, another type.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, weights) = (dev.upload(&[1.0f32, 2.0, 3.0, -4.0])?, dev.upload(&[1.0f32, -1.0, 0.5, 1.0])?);
    /// let bias = dev.upload(&[0.0f32, 10.0])?;
    /// // A layer of a network: two samples, two outputs.
    /// let layer = dev
    ///     .gemm(matrix(&x, 2, 2), matrix(&weights, 2, 2))
    ///     .epilogue(bias.broadcast(&[2], &[2, 2]), |y, bias| (y + bias).max(0.0));
    /// assert_eq!(layer.run()?.read_blocking()?, [2.0, 11.0, 1.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn epilogue<J: Input<B>, S: Outputs, G: Fn(Expr<T>, J::Exprs) -> S>(
        self,
        inputs: J,
        f: G,
    ) -> ProductCall<'d, B, L, R, T, A, Together<J, G>> {
        self.end(Together { inputs, f })
    }

    fn end<E>(self, ending: E) -> ProductCall<'d, B, L, R, T, A, E> {
        let Self { device, pattern, a, b, order, alpha, addend, layout, .. } = self;
        ProductCall { device, pattern, a, b, order, alpha, addend, ending, layout }
    }
}

/// Shape of a product.
#[derive(Clone, Copy)]
struct Shape {
    m: u64,
    n: u64,
    k: u64,
    batch: u64,
    steps: Steps,
    /// Indices of the result.
    extent: u64,
}

impl<B, L, R, T, A, F> ProductCall<'_, B, L, R, T, A, F>
where
    B: Products,
    L: Input<B, Exprs = Expr<T>>,
    R: Input<B, Exprs = Expr<T>>,
    T: Factor,
    A: Adding<B, T>,
    F: Ending<B, T>,
{
    /// Enqueues the product into new memory, which it returns: rows follow each other, and the products of a batch. Where [`leading`](Self::leading) leaves room
    /// between rows, its contents are undefined.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a leading dimension that is less than the columns, [`Error::LengthMismatch`] for inner dimensions or batches that
    /// differ, and inputs of an epilogue that are not as long as the result, [`Error::BufferTooSmall`] for inputs that a matrix reaches beyond,
    /// [`Error::TooLarge`], [`Error::Unsupported`], [`Error::Op`], [`Error::OutOfMemory`], [`Error::WrongDevice`].
    pub fn run(self) -> Result<<F::Out as Outputs>::Buffers<B>> {
        let out = self.allocate()?;
        self.write_to(F::Out::refs(&out))?;
        Ok(out)
    }

    /// New memory for the product.
    pub(super) fn allocate(&self) -> Result<<F::Out as Outputs>::Buffers<B>> {
        F::Out::allocate(self.device, self.shape()?.extent)
    }

    /// Enqueues the product into the caller's memory.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::BufferTooSmall`] for outputs, [`Error::Aliasing`] where one overlaps an operand.
    pub fn write_to(self, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        match self.described(out)? {
            Some((task, leaves, outs)) => self.device.run(&task, &leaves, &outs),
            None => Ok(()),
        }
    }

    /// Checks the call, and says what its task is over which operands, if there is anything to do.
    pub(in crate::patterns) fn described(
        &self,
        out: <F::Out as Outputs>::Refs<'_, B>,
    ) -> Result<Option<(ProductTask, Vec<Leaf<B::Raw>>, Vec<Out<B::Raw>>)>> {
        let (device, pattern, shape) = (self.device, self.pattern, self.shape()?);
        let mut c = Collector::new(device, pattern);
        let of_a = operand(&mut c, &self.a, shape.batch, "the left matrix")?;
        let of_b = operand(&mut c, &self.b, shape.batch, "the right matrix")?;
        let of_end = c.params.len() as u16;
        self.addend.collect(&mut c)?;
        self.ending.collect(&mut c)?;
        match c.len() {
            Ok(found) if found < shape.extent || (self.layout.is_dense() && found != shape.extent) => {
                return Err(Error::LengthMismatch { what: "inputs of the result", expected: shape.extent, found });
            }
            _ => {}
        }
        // A factor of 1 where something is added, so that there is one rule.
        let alpha = self.alpha.or(A::ADDS.then_some(T::from_bits64(T::ONE)));
        let of_alpha = c.params.len() as u16;
        alpha.map_or(Ok(()), |alpha| scalar(alpha).collect(&mut c))?;
        let factors = |order: ProductOrder, leaves: &[Leaf<B::Raw>]| -> Result<[Func; 2]> {
            let a = ir::pack(c.params.clone(), || self.a.input.exprs(&mut { of_a }))?;
            let b = ir::pack(c.params.clone(), || self.b.input.exprs(&mut { of_b }))?;
            let ProductOrder::Fast(format) = order else { return Ok([a, b]) };
            let [in_a, in_b] = [&a, &b].map(|func| format.stores(stored_as(func, leaves)));
            let a = if in_a { a } else { ir::pack(c.params.clone(), || T::rounded(self.a.input.exprs(&mut { of_a }), format))? };
            let b = if in_b { b } else { ir::pack(c.params.clone(), || T::rounded(self.b.input.exprs(&mut { of_b }), format))? };
            Ok([a, b])
        };
        if !matches!(self.order, ProductOrder::Blocks | ProductOrder::Chain) && T::DTYPE != DType::F32 {
            let reason = format!("{} is one of sums of f32, and these are of {}", self.order.name(), T::DTYPE);
            return Err(Error::InvalidArgument { what: "order of a product", reason });
        }
        let [a, b] = factors(self.order, &c.leaves)?;
        let params = [&c.params[..], &[Param::Value(T::TY)]].concat();
        let of_sum = c.params.len() as u16;
        let finish = ir::pack(params, || {
            let (mut next, sum) = (of_end, Expr::<T>::params(of_sum));
            let (added, alpha) = (self.addend.value(&mut next), alpha.map(|_| Expr::<T>::params(of_alpha)));
            let value = match (alpha, added) {
                (Some(alpha), Some(added)) => T::fused(alpha, sum, added),
                (Some(alpha), None) => alpha * sum,
                _ => sum,
            };
            self.ending.store(value, &mut next)
        })?;
        let [fused, add] = steps_of(T::TY)?;
        let numerics = device.numerics();
        check_ops(device, pattern, numerics, &[&a, &b, &finish, &fused, &add])?;
        require(device, pattern, T::DTYPE)?;
        let mut outs = Vec::new();
        F::Out::outs(device, out, shape.extent, &mut outs)?;
        for (out, _) in &outs {
            require(device, pattern, out.dtype)?;
        }
        let (operands, ending) = c.leaves.split_at(usize::from(of_end));
        let (left, right) = operands.split_at(usize::from(of_b));
        check_aliasing(pattern, left, self.a.extent(shape.batch)?, &outs, false)?;
        check_aliasing(pattern, right, self.b.extent(shape.batch)?, &outs, false)?;
        check_aliasing(pattern, ending, shape.extent, &outs, true)?;
        if shape.extent == 0 {
            return Ok(None);
        }
        let Shape { m, n, k, batch, steps, .. } = shape;
        let in_batch = |steps: Steps, batched: Option<u64>| Steps { batch: if batched.is_some() { steps.batch } else { 0 }, ..steps };
        let task = ProductTask {
            a: Arc::new(a),
            b: Arc::new(b),
            finish: Arc::new(finish),
            m,
            n,
            k,
            batch,
            order: self.order,
            a_steps: in_batch(self.a.steps, self.a.batch),
            b_steps: in_batch(self.b.steps, self.b.batch),
            c_steps: steps,
            numerics,
            windows: None,
        };
        let task = if steps.column == 1 { task } else { task.stored_by_columns() };
        let outs = places(outs);
        Ok(Some((task, c.leaves, outs)))
    }

    /// The shape of the result, of operands that fit.
    fn shape(&self) -> Result<Shape> {
        let (a, b) = (&self.a, &self.b);
        if b.rows != a.columns {
            return Err(Error::LengthMismatch { what: "rows of the right matrix", expected: a.columns, found: b.rows });
        }
        let batch = match (a.batch, b.batch) {
            (Some(expected), Some(found)) if expected != found => {
                return Err(Error::LengthMismatch { what: "matrices of the right batch", expected, found });
            }
            (a, b) => a.or(b).unwrap_or(1),
        };
        let (m, n, k) = (a.rows, b.columns, a.columns);
        for (side, limit) in [(m, MOST), (n, MOST), (k, MOST), (batch, u32::MAX.into())] {
            if side > limit {
                return Err(Error::TooLarge { what: "rows, columns, terms or products", requested: side, limit });
            }
        }
        if self.is_fixed() && k > MOST_FIXED {
            return Err(Error::TooLarge { what: "terms of a fixed-point sum", requested: k, limit: MOST_FIXED });
        }
        let steps = self.layout.steps([batch, m, n])?;
        let too_large = || Error::TooLarge { what: "elements of a product", requested: u64::MAX, limit: u64::MAX - 1 };
        let extent = steps.extent([batch, m, n]).ok_or_else(too_large)?;
        Ok(Shape { m, n, k, batch, steps, extent })
    }
}

/// Adds the leaves of an operand, whose first one is returned.
fn operand<B: Backend, I: Input<B>>(c: &mut Collector<B>, of: &Matrix<I>, batch: u64, what: &'static str) -> Result<u16> {
    let first = c.params.len() as u16;
    of.check()?;
    let required = of.extent(batch)?;
    of.input.collect(c)?;
    match c.len() {
        Ok(available) if available < required => return Err(Error::BufferTooSmall { what, required, available }),
        _ => {}
    }
    c.forget_length();
    Ok(first)
}
