//! P10 dense: solves and factorisations of square matrices, alone and in batches.

mod call;
mod plan;
mod task;

pub use call::{Cholesky, Determinant, FactorCall, Factorisation, Inverse, Lu, SolveCall, TriangularCall};
pub use task::{Pivoting, SolveArithmetic, SolveKind, SolveTask};

use super::{Map, Matrix};
use crate::backend::Run;
use crate::element::{Element, Float, Int, Num};
use crate::input::Input;
use crate::ir::Expr;

/// Floats that systems are of: `f32` (and `f16` elements) and `f64`.
pub trait SolveScalar: Float + Num + Element<Reg = Self> {
    /// Its bits.
    #[doc(hidden)]
    type Bits: Int + Element;
    /// One.
    #[doc(hidden)]
    const ONE: Self;
    /// `c - a * b`, rounded once.
    #[doc(hidden)]
    fn minus(a: Expr<Self>, b: Expr<Self>, c: Expr<Self>) -> Expr<Self>;
}

impl SolveScalar for f32 {
    type Bits = u32;
    const ONE: Self = 1.0;
    fn minus(a: Expr<Self>, b: Expr<Self>, c: Expr<Self>) -> Expr<Self> {
        (-a).mul_add(b, c)
    }
}

impl SolveScalar for f64 {
    type Bits = u64;
    const ONE: Self = 1.0;
    fn minus(a: Expr<Self>, b: Expr<Self>, c: Expr<Self>) -> Expr<Self> {
        (-a).mul_add(b, c)
    }
}

/// Solves, inverses, determinants and factors of square matrices, one or a batch of them.
///
/// # Order of evaluation
/// Every element is a chain that begins with the element of the input and takes one product after the other off it, by a fused multiply-add each:
///
/// | what | chain | then |
/// |---|---|---|
/// | LU, element (i, j) | `a(i, j) - l(i, k) u(k, j)`, k from 0 to min(i, j) - 1 | below the diagonal divided by the pivot u(j, j), unless that is zero |
/// | Cholesky, i >= j | `a(i, j) - l(i, k) l(j, k)`, k from 0 to j - 1 | on the diagonal the square root, below it divided by l(j, j) |
/// | forward substitution | `b(i) - l(i, k) x(k)`, k from 0 to i - 1 | divided by l(i, i), unless that counts as one |
/// | backward substitution | `b(i) - u(i, k) x(k)`, k from n - 1 down to i + 1 | divided by u(i, i), unless that counts as one |
///
/// Divisions and roots are rounded correctly; there is no product with a reciprocal. So the bits are a function of the matrix, of its size and its pivots: a
/// system alone has those that it has in a batch, and how a device cuts a large one into blocks does not show. A solution is the forward substitution by L, of
/// the right-hand side with its rows in the order of the pivots, and the backward one by U. An inverse is the solution for the columns of the identity. A
/// determinant is the product of the pivots in ascending order, each product rounded, with the sign of the permutation.
///
/// Pivots are compared by magnitude, all NaN equal and above infinity ([`Pivoting`]).
///
/// # Singular systems
/// A system of a batch never disturbs the others. Its status is 0, or 1 + the first step whose pivot is zero, infinite or NaN; of Cholesky's factor, whose
/// diagonal element is not positive, infinite or NaN before its root; of a triangle, 1 + the lowest index of such an element of the diagonal. Where it is not
/// 0, solutions and inverses are NaN throughout; LU goes on, with a column below a zero pivot left undivided, as LAPACK's `getrf`; Cholesky's columns from
/// there on are NaN; a determinant is 0 where that first pivot is zero, else NaN. Stored NaN is canonical.
///
/// # Shapes and memory
/// Elements are `f32`, `f64` or `f16`, which is computed in `f32`. Matrices are any inputs, as a [`matrix`](super::matrix) with its steps, transposes and
/// batches, of which one may be for all systems; an operator over the elements is stored first. Results are row-major in memory of their own. A matrix of no
/// rows has an empty result, and the determinant 1. A system has fewer than 2^32 elements, and not more than a kernel sees at once.
///
/// Work O(n^3), of a substitution O(n^2 r). Systems whose rows, with right-hand sides, fit in shared memory (13 KiB through wgpu, 45 KiB on CUDA: 57 or 106
/// rows of `f32` with one right-hand side) are eliminated there. Others take scratch of their size, and go by blocks of 32 columns; with full pivoting one
/// group of threads has a system, however large it is.
///
/// Source: Golub and Van Loan, *Matrix Computations*, sections 3.1 to 3.4 and 4.2; Higham, *Accuracy and Stability of Numerical Algorithms*, chapters 8 to 10;
/// Ansorge, *Programming in Parallel with CUDA*, chapter 2.
pub trait Solves: Run<SolveTask> + Map {
    /// X of A X = B, and the status of each system.
    ///
    /// Modifier: [`pivoting`](SolveCall::pivoting).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let a = dev.upload(&[2.0f32, 1.0, 1.0, 3.0])?;
    /// let b = dev.upload(&[3.0f32, 5.0])?;
    /// let (x, status) = dev.solve(matrix(&a, 2, 2), matrix(&b, 2, 1)).run()?;
    /// assert_eq!((x.read_blocking()?, status.read_blocking()?), (vec![0.8, 1.4], vec![0]));
    /// // Two systems, the second one singular.
    /// let a = dev.upload(&[1.0f32, 0.0, 0.0, 2.0, 1.0, 2.0, 2.0, 4.0])?;
    /// let b = dev.upload(&[1.0f32, 1.0, 1.0, 1.0])?;
    /// let (x, status) = dev.solve(matrix(&a, 2, 2).batch(2), matrix(&b, 2, 1).batch(2)).run()?;
    /// let x = x.read_blocking()?;
    /// assert_eq!((&x[..2], x[2].is_nan(), status.read_blocking()?), (&[1.0, 0.5][..], true, vec![0, 2]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn solve<L, R, T>(&self, a: Matrix<L>, b: Matrix<R>) -> SolveCall<'_, Self, L, R, T>
    where
        L: Input<Self, Exprs = Expr<T>>,
        R: Input<Self, Exprs = Expr<T>>,
        T: SolveScalar,
    {
        SolveCall::new(self, a, b)
    }

    /// The factors of P A = L U, the permutation and the status. L and U share a square: L is below the diagonal, where its ones are not stored. Row i of P A
    /// is row `permutation[i]` of A.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let a = dev.upload(&[1.0f64, 2.0, 4.0, 4.0])?;
    /// let (lu, permutation, status) = dev.lu(matrix(&a, 2, 2)).run()?;
    /// assert_eq!(lu.read_blocking()?, [4.0, 4.0, 0.25, 1.0]);
    /// assert_eq!((permutation.read_blocking()?, status.read_blocking()?), (vec![1, 0], vec![0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn lu<L, T>(&self, a: Matrix<L>) -> FactorCall<'_, Self, L, T, Lu>
    where
        L: Input<Self, Exprs = Expr<T>>,
        T: SolveScalar,
    {
        FactorCall::new(self, a)
    }

    /// L of A = L L', of symmetric positive definite matrices, and the status. The lower triangle of A is read; L has zeros above its diagonal.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let a = dev.upload(&[4.0f32, 0.0, 2.0, 5.0])?;
    /// let (l, status) = dev.cholesky(matrix(&a, 2, 2)).run()?;
    /// assert_eq!((l.read_blocking()?, status.read_blocking()?), (vec![2.0, 0.0, 1.0, 2.0], vec![0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn cholesky<L, T>(&self, a: Matrix<L>) -> FactorCall<'_, Self, L, T, Cholesky>
    where
        L: Input<Self, Exprs = Expr<T>>,
        T: SolveScalar,
    {
        FactorCall::new(self, a)
    }

    /// The inverse and the status.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let a = dev.upload(&[1.0f32, 1.0, 0.0, 2.0])?;
    /// assert_eq!(dev.inverse(matrix(&a, 2, 2)).run()?.0.read_blocking()?, [1.0, -0.5, 0.0, 0.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn inverse<L, T>(&self, a: Matrix<L>) -> FactorCall<'_, Self, L, T, Inverse>
    where
        L: Input<Self, Exprs = Expr<T>>,
        T: SolveScalar,
    {
        FactorCall::new(self, a)
    }

    /// The determinant.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let a = dev.upload(&[1.0f32, 2.0, 4.0, 4.0, 1.0, 1.0, 1.0, 1.0])?;
    /// assert_eq!(dev.determinant(matrix(&a, 2, 2).batch(2)).run()?.read_blocking()?, [-4.0, 0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn determinant<L, T>(&self, a: Matrix<L>) -> FactorCall<'_, Self, L, T, Determinant>
    where
        L: Input<Self, Exprs = Expr<T>>,
        T: SolveScalar,
    {
        FactorCall::new(self, a)
    }

    /// X of A X = B for the lower triangle of A, and the status: BLAS's `trsm`, and `trsv` where B has one column.
    ///
    /// Modifiers: [`upper`](TriangularCall::upper), [`unit`](TriangularCall::unit), [`right`](TriangularCall::right).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, b) = (dev.upload(&[2.0f32, 9.0, 1.0, 4.0])?, dev.upload(&[2.0f32, 5.0])?);
    /// let m = matrix(&a, 2, 2);
    /// assert_eq!(dev.triangular_solve(m, matrix(&b, 2, 1)).run()?.0.read_blocking()?, [1.0, 1.0]);
    /// // The transpose of the lower triangle is an upper one.
    /// let (x, status) = dev.triangular_solve(m.transposed(), matrix(&b, 2, 1)).upper().run()?;
    /// assert_eq!((x.read_blocking()?, status.read_blocking()?), (vec![0.375, 1.25], vec![0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn triangular_solve<L, R, T>(&self, a: Matrix<L>, b: Matrix<R>) -> TriangularCall<'_, Self, L, R, T>
    where
        L: Input<Self, Exprs = Expr<T>>,
        R: Input<Self, Exprs = Expr<T>>,
        T: SolveScalar,
    {
        TriangularCall::new(self, a, b)
    }
}
impl<B: Run<SolveTask> + Map> Solves for B {}
