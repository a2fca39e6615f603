//! Solves and factorisations that are described.

use super::task::{Pivoting, SolveArithmetic, SolveKind, SolveTask};
use super::{SolveScalar, Solves};
use crate::backend::{Backend, Leaf, Out, places};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, require};
use crate::ir::{self, Expr, Func, Node, Param};
use crate::patterns::product::Steps;
use crate::patterns::{MapTask, Matrix, check_aliasing, check_ops};
use core::marker::PhantomData;
use std::sync::Arc;

/// An input of matrices after its checks.
struct Operand<B: Backend> {
    func: Func,
    leaves: Vec<Leaf<B::Raw>>,
    steps: Steps,
    /// Elements that the input has to have.
    extent: u64,
}

impl<B: Solves> Operand<B> {
    fn of<I: Input<B, Exprs = Expr<T>>, T: SolveScalar>(
        device: &B,
        pattern: &'static str,
        of: &Matrix<I>,
        batch: u64,
        what: &'static str,
    ) -> Result<Self> {
        of.check()?;
        let extent = of.extent(batch)?;
        let mut c = Collector::new(device, pattern);
        of.input.collect(&mut c)?;
        match c.len() {
            Ok(available) if available < extent => return Err(Error::BufferTooSmall { what, required: extent, available }),
            _ => {}
        }
        let func = ir::pack(c.params.clone(), || of.input.exprs(&mut 0))?;
        let steps = Steps { batch: of.batch.map_or(0, |_| of.steps.batch), ..of.steps };
        Ok(Self { func, leaves: c.leaves, steps, extent })
    }

    /// The elements as they lie in memory, where they do.
    fn as_they_lie(&self, dtype: DType) -> Option<(Leaf<B::Raw>, Steps)> {
        let ([Node::Param(0)], [0], [Param::Value(_)]) = (&*self.func.nodes, &*self.func.results, &*self.func.params) else { return None };
        let [Leaf::Elements { raw, dtype: of, offset, stride }] = &self.leaves[..] else { return None };
        let by = u64::try_from(*stride).ok().filter(|&by| by > 0 && *of == dtype)?;
        let Steps { row, column, batch } = self.steps;
        let steps = Steps { row: row.checked_mul(by)?, column: column.checked_mul(by)?, batch: batch.checked_mul(by)? };
        let fits = [steps.row, steps.column, steps.batch].iter().all(|&step| step <= u32::MAX.into());
        fits.then(|| (Leaf::Elements { raw: raw.clone(), dtype, offset: *offset, stride: 1 }, steps))
    }

    /// The elements in memory, which may be new, and their steps.
    fn store<T: SolveScalar>(self, device: &B) -> Result<(Leaf<B::Raw>, Steps)> {
        if let Some(found) = self.as_they_lie(T::DTYPE) {
            return Ok(found);
        }
        let Steps { row, column, batch } = self.steps;
        for step in [row, column, batch] {
            if step > u32::MAX.into() {
                return Err(Error::TooLarge {
                    what: "elements between rows, columns or matrices",
                    requested: step,
                    limit: u32::MAX.into(),
                });
            }
        }
        let stored: Buffer<B, T> = device.buffer(self.extent)?;
        if self.extent > 0 {
            let task = MapTask { func: Arc::new(self.func), n: self.extent, numerics: device.numerics() };
            device.run(&task, &self.leaves, &[stored.out()])?;
        }
        Ok((stored.leaf(), self.steps))
    }
}

/// An output of so many elements.
fn output<B: Backend, T: Element>(device: &B, out: &Buffer<B, T>, len: u64, what: &'static str) -> Result<(Out<B::Raw>, u64)> {
    out.check_device(device, what)?;
    if out.len() < len {
        return Err(Error::BufferTooSmall { what, required: len, available: out.len() });
    }
    Ok((out.out(), len))
}

/// Sizes of a call.
#[derive(Clone, Copy)]
struct Sizes {
    n: u64,
    rights: u64,
    batch: u64,
}

impl Sizes {
    fn of<L>(a: &Matrix<L>, b: Option<(u64, u64, Option<u64>)>) -> Result<Self> {
        if a.columns != a.rows {
            return Err(Error::LengthMismatch { what: "columns of a square matrix", expected: a.rows, found: a.columns });
        }
        let (rows, rights, of_b) = b.unwrap_or((a.rows, 0, None));
        if rows != a.rows {
            return Err(Error::LengthMismatch { what: "rows of the right-hand sides", expected: a.rows, found: rows });
        }
        let batch = match (a.batch, of_b) {
            (Some(expected), Some(found)) if expected != found => {
                return Err(Error::LengthMismatch { what: "matrices of the right batch", expected, found });
            }
            (a, b) => a.or(b).unwrap_or(1),
        };
        for side in [a.rows, rights, batch] {
            if side > u64::from(u32::MAX) {
                return Err(Error::TooLarge { what: "rows, columns or systems", requested: side, limit: u32::MAX.into() });
            }
        }
        let sizes = Self { n: a.rows, rights, batch };
        for columns in [a.rows, rights] {
            sizes.elements(columns)?;
        }
        Ok(sizes)
    }

    /// Elements of results with so many columns.
    fn elements(&self, columns: u64) -> Result<u64> {
        let too_large = Error::TooLarge { what: "elements of results", requested: u64::MAX, limit: u64::MAX - 1 };
        self.n.checked_mul(columns).and_then(|one| one.checked_mul(self.batch)).ok_or(too_large)
    }
}

/// Enqueues a call of these operands after the checks that all have.
fn enqueue<B: Solves, T: SolveScalar>(
    device: &B,
    (pattern, kind, pivoting): (&'static str, SolveKind, Pivoting),
    Sizes { n, rights, batch }: Sizes,
    operands: Vec<Operand<B>>,
    outs: Vec<(Out<B::Raw>, u64)>,
    is_right: bool,
) -> Result<()> {
    require(device, pattern, T::DTYPE)?;
    let mut ops: Vec<&Func> = SolveArithmetic::of(T::DTYPE)?.functions().collect();
    ops.extend(operands.iter().map(|operand| &operand.func));
    check_ops(device, pattern, device.numerics(), &ops)?;
    for operand in &operands {
        check_aliasing(pattern, &operand.leaves, operand.extent, &outs, false)?;
    }
    if operands.is_empty() {
        check_aliasing::<B::Raw>(pattern, &[], 0, &outs, false)?;
    }
    if n == 0 || batch == 0 {
        // Matrices of nothing are sound, and their determinant is 1.
        for (out, len) in outs.into_iter().filter(|(_, len)| *len > 0) {
            if out.dtype == DType::U32 {
                device.fill(&Buffer::<B, u32>::from_raw(device, out.raw, out.offset, len)?, 0)?;
            } else {
                device.fill(&Buffer::<B, T>::from_raw(device, out.raw, out.offset, len)?, T::ONE)?;
            }
        }
        return Ok(());
    }
    let (mut leaves, mut steps) = (Vec::new(), Vec::new());
    for operand in operands {
        let (leaf, found) = operand.store::<T>(device)?;
        leaves.push(leaf);
        steps.push(found);
    }
    let turn = |steps: Steps| if is_right { Steps { row: steps.column, column: steps.row, ..steps } } else { steps };
    let none = Steps { row: 0, column: 0, batch: 0 };
    let x = if is_right { Steps { row: 1, column: n, batch: n * rights } } else { Steps { row: rights, column: 1, batch: n * rights } };
    let task = SolveTask {
        kind,
        pivoting,
        dtype: T::DTYPE,
        n,
        rights,
        batch,
        a_steps: turn(steps.first().copied().unwrap_or(none)),
        b_steps: turn(steps.get(1).copied().unwrap_or(none)),
        x_steps: x,
        block: 0,
    };
    let outs = places(outs);
    device.run(&task, &leaves, &outs)
}

/// A solve that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it.
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct SolveCall<'d, B, L, R, T> {
    device: &'d B,
    a: Matrix<L>,
    b: Matrix<R>,
    pivoting: Pivoting,
    of: PhantomData<T>,
}

impl<'d, B, L, R, T> SolveCall<'d, B, L, R, T> {
    pub(super) fn new(device: &'d B, a: Matrix<L>, b: Matrix<R>) -> Self {
        Self { device, a, b, pivoting: Pivoting::Partial, of: PhantomData }
    }

    /// The pivots, [`Pivoting::Partial`] without this.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # use isowarp::patterns::Pivoting;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[0.0f32, 2.0, 1.0, 1.0])?, dev.upload(&[2.0f32, 3.0])?);
    /// let solve = |pivoting| dev.solve(matrix(&a, 2, 2), matrix(&b, 2, 1)).pivoting(pivoting).run();
    /// assert_eq!(solve(Pivoting::Full)?.0.read_blocking()?, [2.0, 1.0]);
    /// // The first pivot is zero.
    /// assert_eq!(solve(Pivoting::None)?.1.read_blocking()?, [1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn pivoting(self, pivoting: Pivoting) -> Self {
        Self { pivoting, ..self }
    }
}

impl<B: Solves, L: Input<B, Exprs = Expr<T>>, R: Input<B, Exprs = Expr<T>>, T: SolveScalar> SolveCall<'_, B, L, R, T> {
    fn sizes(&self) -> Result<Sizes> {
        Sizes::of(&self.a, Some((self.b.rows, self.b.columns, self.b.batch)))
    }

    /// Enqueues the solve into new memory: X, as many columns as B has, row-major, and a status for each system.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for a matrix that is not square, rows or batches that differ, [`Error::InvalidArgument`] for a leading dimension that is too
    /// small, [`Error::BufferTooSmall`] for inputs that a matrix reaches beyond, [`Error::TooLarge`], [`Error::Unsupported`], [`Error::NotStrict`],
    /// [`Error::OutOfMemory`], [`Error::WrongDevice`].
    pub fn run(self) -> Result<(Buffer<B, T>, Buffer<B, u32>)> {
        let sizes = self.sizes()?;
        let (x, status) = (self.device.buffer(sizes.elements(sizes.rights)?)?, self.device.buffer(sizes.batch)?);
        self.write_to((&x, &status))?;
        Ok((x, status))
    }

    /// Enqueues the solve into the caller's memory.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::BufferTooSmall`] for outputs, [`Error::Aliasing`] where one overlaps an operand or the other.
    pub fn write_to(self, (x, status): (&Buffer<B, T>, &Buffer<B, u32>)) -> Result<()> {
        let (device, sizes) = (self.device, self.sizes()?);
        let a = Operand::of(device, "solve", &self.a, sizes.batch, "the matrix")?;
        let b = Operand::of(device, "solve", &self.b, sizes.batch, "the right-hand sides")?;
        let x = output(device, x, sizes.elements(sizes.rights)?, "the solution")?;
        let outs = vec![x, output(device, status, sizes.batch, "the status")?];
        enqueue::<B, T>(device, ("solve", SolveKind::Solve, self.pivoting), sizes, vec![a, b], outs, false)
    }
}

/// A triangular solve that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it.
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct TriangularCall<'d, B, L, R, T> {
    device: &'d B,
    a: Matrix<L>,
    b: Matrix<R>,
    is_upper: bool,
    is_unit: bool,
    is_right: bool,
    of: PhantomData<T>,
}

impl<'d, B, L, R, T> TriangularCall<'d, B, L, R, T> {
    pub(super) fn new(device: &'d B, a: Matrix<L>, b: Matrix<R>) -> Self {
        Self { device, a, b, is_upper: false, is_unit: false, is_right: false, of: PhantomData }
    }

    /// Takes the upper triangle of A.
    pub fn upper(self) -> Self {
        Self { is_upper: true, ..self }
    }

    /// Takes the diagonal of A for ones, whatever is there.
    pub fn unit(self) -> Self {
        Self { is_unit: true, ..self }
    }

    /// Solves X A = B instead. The bits are those of the transposes' system.
    pub fn right(self) -> Self {
        Self { is_right: true, ..self }
    }
}

impl<B: Solves, L: Input<B, Exprs = Expr<T>>, R: Input<B, Exprs = Expr<T>>, T: SolveScalar> TriangularCall<'_, B, L, R, T> {
    fn sizes(&self) -> Result<Sizes> {
        let b = &self.b;
        Sizes::of(&self.a, Some(if self.is_right { (b.columns, b.rows, b.batch) } else { (b.rows, b.columns, b.batch) }))
    }

    /// Enqueues the solve into new memory: X, of B's shape, row-major, and a status for each system.
    ///
    /// # Errors
    /// As [`SolveCall::run`].
    pub fn run(self) -> Result<(Buffer<B, T>, Buffer<B, u32>)> {
        let sizes = self.sizes()?;
        let (x, status) = (self.device.buffer(sizes.elements(sizes.rights)?)?, self.device.buffer(sizes.batch)?);
        self.write_to((&x, &status))?;
        Ok((x, status))
    }

    /// Enqueues the solve into the caller's memory.
    ///
    /// # Errors
    /// As [`SolveCall::write_to`].
    pub fn write_to(self, (x, status): (&Buffer<B, T>, &Buffer<B, u32>)) -> Result<()> {
        const PATTERN: &str = "triangular_solve";
        let (device, sizes) = (self.device, self.sizes()?);
        let a = Operand::of(device, PATTERN, &self.a, sizes.batch, "the matrix")?;
        let b = Operand::of(device, PATTERN, &self.b, sizes.batch, "the right-hand sides")?;
        let x = output(device, x, sizes.elements(sizes.rights)?, "the solution")?;
        let outs = vec![x, output(device, status, sizes.batch, "the status")?];
        let kind = SolveKind::Triangular { upper: self.is_upper != self.is_right, unit: self.is_unit };
        enqueue::<B, T>(device, (PATTERN, kind, Pivoting::None), sizes, vec![a, b], outs, self.is_right)
    }
}

/// Results of a matrix alone.
pub trait Factorisation<T> {
    /// The pattern's name.
    #[doc(hidden)]
    const PATTERN: &'static str;
    #[doc(hidden)]
    const KIND: SolveKind;
    /// Buffers of the results.
    type Buffers<B: Backend>;
    /// References to buffers that a caller brings.
    type Refs<'a, B: Backend>
    where
        T: 'a;
    /// Buffers for matrices of so many rows.
    #[doc(hidden)]
    fn allocate<B: Backend>(device: &B, n: u64, batch: u64) -> Result<Self::Buffers<B>>;
    #[doc(hidden)]
    fn refs<B: Backend>(buffers: &Self::Buffers<B>) -> Self::Refs<'_, B>
    where
        T: 'static;
    #[doc(hidden)]
    fn outs<B: Backend>(device: &B, refs: Self::Refs<'_, B>, n: u64, batch: u64) -> Result<Vec<(Out<B::Raw>, u64)>>;
}

macro_rules! factorisation {
    ($($(#[$doc:meta])* $name:ident: $pattern:literal, [$($buffer:ident: $of:ty = $what:literal, |$n:ident, $batch:ident| $len:expr;)+])*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl<T: Element> Factorisation<T> for $name {
            const PATTERN: &'static str = $pattern;
            const KIND: SolveKind = SolveKind::$name;
            type Buffers<B: Backend> = factorisation!(@types $(Buffer<B, $of>),+);
            type Refs<'a, B: Backend> = factorisation!(@types $(&'a Buffer<B, $of>),+) where T: 'a;
            fn allocate<B: Backend>(device: &B, n: u64, batch: u64) -> Result<Self::Buffers<B>> {
                $(let $buffer = device.buffer({ let ($n, $batch) = (n, batch); $len })?;)+
                Ok(factorisation!(@values $($buffer),+))
            }
            fn refs<B: Backend>(buffers: &Self::Buffers<B>) -> Self::Refs<'_, B> {
                let factorisation!(@values $($buffer),+) = buffers;
                factorisation!(@values $($buffer),+)
            }
            fn outs<B: Backend>(device: &B, refs: Self::Refs<'_, B>, n: u64, batch: u64) -> Result<Vec<(Out<B::Raw>, u64)>> {
                let factorisation!(@values $($buffer),+) = refs;
                Ok(vec![$(output(device, $buffer, { let ($n, $batch) = (n, batch); $len }, $what)?),+])
            }
        }
    )*};
    (@types $one:ty) => { $one };
    (@types $($all:ty),+) => { ($($all),+) };
    (@values $one:ident) => { $one };
    (@values $($all:ident),+) => { ($($all),+) };
}

factorisation! {
    /// Factors of [`Solves::lu`]: the square, the permutation and the status.
    Lu: "lu", [
        lu: T = "the factors", |n, batch| n * n * batch;
        permutation: u32 = "the permutation", |n, batch| n * batch;
        status: u32 = "the status", |_n, batch| batch;
    ]
    /// The factor of [`Solves::cholesky`] and the status.
    Cholesky: "cholesky", [
        factor: T = "the factor", |n, batch| n * n * batch;
        status: u32 = "the status", |_n, batch| batch;
    ]
    /// The inverse of [`Solves::inverse`] and the status.
    Inverse: "inverse", [
        inverse: T = "the inverse", |n, batch| n * n * batch;
        status: u32 = "the status", |_n, batch| batch;
    ]
    /// The determinant of [`Solves::determinant`].
    Determinant: "determinant", [
        determinant: T = "the determinant", |_n, batch| batch;
    ]
}

/// A factorisation, an inverse or a determinant that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it.
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct FactorCall<'d, B, L, T, K> {
    device: &'d B,
    a: Matrix<L>,
    pivoting: Pivoting,
    of: PhantomData<(T, K)>,
}

impl<'d, B, L, T, K> FactorCall<'d, B, L, T, K> {
    pub(super) fn new(device: &'d B, a: Matrix<L>) -> Self {
        Self { device, a, pivoting: Pivoting::Partial, of: PhantomData }
    }

    /// The pivots, [`Pivoting::Partial`] without this. Cholesky's factor has none; those of LU and a determinant are not [`Pivoting::Full`].
    pub fn pivoting(self, pivoting: Pivoting) -> Self {
        Self { pivoting, ..self }
    }
}

impl<B: Solves, L: Input<B, Exprs = Expr<T>>, T: SolveScalar, K: Factorisation<T>> FactorCall<'_, B, L, T, K> {
    /// Enqueues the work into new memory, row-major, the results of a batch one after the other.
    ///
    /// # Errors
    /// As [`SolveCall::run`], and [`Error::InvalidArgument`] for full pivots where there are none.
    pub fn run(self) -> Result<K::Buffers<B>> {
        let sizes = Sizes::of(&self.a, None)?;
        let out = K::allocate(self.device, sizes.n, sizes.batch)?;
        self.write_to(K::refs(&out))?;
        Ok(out)
    }

    /// Enqueues the work into the caller's memory.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`Error::BufferTooSmall`] for outputs, [`Error::Aliasing`] where one overlaps the matrix or another.
    pub fn write_to(self, out: K::Refs<'_, B>) -> Result<()> {
        let (device, sizes) = (self.device, Sizes::of(&self.a, None)?);
        if self.pivoting == Pivoting::Full && K::KIND != SolveKind::Inverse {
            return Err(Error::InvalidArgument { what: "pivoting", reason: format!("{} has no full pivoting", K::PATTERN) });
        }
        let a = Operand::of(device, K::PATTERN, &self.a, sizes.batch, "the matrix")?;
        let outs = K::outs(device, out, sizes.n, sizes.batch)?;
        enqueue::<B, T>(device, (K::PATTERN, K::KIND, self.pivoting), sizes, vec![a], outs, false)
    }
}
