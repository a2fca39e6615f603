//! P10 dense: products of matrices.

mod call;
mod matrix;
mod task;
mod varied;

pub use call::{Addend, Adding, Ending, NoAddend, ProductCall, Together};
pub use matrix::{Matrix, Steps, matrix};
pub use task::{ProductTask, steps_of};
pub use varied::VariedProduct;

use super::Map;
use crate::backend::Run;
use crate::call::Unchanged;
use crate::element::{Element, Num, Scalar};
use crate::input::Input;
use crate::ir::Expr;

/// Types that products are summed in: `f32` (and `f16` elements), `f64`, `i32` (and `i8`, `i16`) and `u32` (and `u8`, `u16`).
pub trait Factor: Scalar + Num + Element<Reg = Self> {
    /// The bits of 1.
    #[doc(hidden)]
    const ONE: u64;
    /// `a * b + c`, rounded once; integers wrap.
    #[doc(hidden)]
    fn fused(a: Expr<Self>, b: Expr<Self>, c: Expr<Self>) -> Expr<Self>;
}

macro_rules! factor {
    ($($t:ty: $one:expr, $fused:expr;)*) => {$(
        impl Factor for $t {
            const ONE: u64 = $one;
            fn fused(a: Expr<Self>, b: Expr<Self>, c: Expr<Self>) -> Expr<Self> {
                ($fused)(a, b, c)
            }
        }
    )*};
}
factor! {
    f32: 1.0f32.to_bits() as u64, |a: Expr<f32>, b, c| a.mul_add(b, c);
    f64: 1.0f64.to_bits(), |a: Expr<f64>, b, c| a.mul_add(b, c);
    i32: 1, |a: Expr<i32>, b, c| a * b + c;
    u32: 1, |a: Expr<u32>, b, c| a * b + c;
}

/// The order in which the terms of a sum are added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ProductOrder {
    /// Chains of fused multiply-adds over 512 terms each, which are added left to right.
    #[default]
    Blocks,
    /// One chain over all terms, as of cuBLAS where it does not split the sum. Its error grows faster.
    Chain,
}

impl ProductOrder {
    /// Terms of a chain, of a sum of `k`.
    #[must_use]
    pub const fn block(self, k: u64) -> u64 {
        match self {
            Self::Blocks => 512,
            Self::Chain if k == 0 => 1,
            Self::Chain => k,
        }
    }
}

/// Products of matrices of any shape, layout and size, of batches of them, and with vectors.
///
/// # Order of evaluation
/// An element of the product is a sum over k of `a(i, k) b(k, j)`. Its terms are taken in blocks of 512 ([`ProductOrder`]). A block is a chain of fused
/// multiply-adds in ascending k that starts with +0, and blocks are added left to right. So a result depends on its row, its column and on nothing else:
/// a row of a product has the same bits as the row alone, with however many others it is multiplied, on whatever device. Of no terms it is +0. Sums of
/// integers wrap.
///
/// Where cuBLAS does not split k, its `f32` products of up to 512 terms have the same bits.
///
/// Elements are `f32`, `f64`, `f16` (summed in `f32`, in which their products are exact), and integers of 8, 16 and 32 bits, in their 32-bit type; both
/// operands have the same. An operand is any input, as a [`matrix`]; an operator over its elements is computed where they are read, and so once for each tile
/// of the product. Rows, columns and terms are below 2^32.
///
/// Work O(m n k). Scratch: where the product is small and has many terms, the sums of its blocks, at most 1 GiB.
///
/// Source: Kirk and Hwu, *Programming Massively Parallel Processors*, chapters 3, 5 and 16; Ansorge, *Programming in Parallel with CUDA*, chapters 2 and 11;
/// Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1 (blocked sums).
pub trait Products: Run<ProductTask> + Map {
    /// The product of two matrices, row-major in new memory.
    ///
    /// Modifiers: [`alpha`](ProductCall::alpha), [`add`](ProductCall::add), [`finish`](ProductCall::finish), [`epilogue`](ProductCall::epilogue),
    /// [`order`](ProductCall::order), [`leading`](ProductCall::leading), [`variant`](ProductCall::variant); those of operands are the [matrix](Matrix)'s.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let a = dev.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?; // 2 x 3
    /// let b = dev.upload(&[1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0])?; // 3 x 2
    /// assert_eq!(dev.gemm(matrix(&a, 2, 3), matrix(&b, 3, 2)).run()?.read_blocking()?, [4.0, 5.0, 10.0, 11.0]);
    /// // Scaled, with an operator over the elements of A, and one over the results.
    /// let half = dev.gemm(matrix(a.map(|a| a - 3.0), 2, 3), matrix(&b, 3, 2)).alpha(0.5).finish(|c| c.max(0.0)).run()?;
    /// assert_eq!(half.read_blocking()?, [0.0, 0.0, 2.0, 2.5]);
    /// // Bytes, in 32 bits.
    /// let (x, y) = (dev.upload(&[100i8, -100])?, dev.upload(&[100i8, 50])?);
    /// assert_eq!(dev.gemm(matrix(&x, 1, 2), matrix(&y, 2, 1)).run()?.read_blocking()?, [5000]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn gemm<L, R, T>(&self, a: Matrix<L>, b: Matrix<R>) -> ProductCall<'_, Self, L, R, T>
    where
        L: Input<Self, Exprs = Expr<T>>,
        R: Input<Self, Exprs = Expr<T>>,
        T: Factor,
    {
        ProductCall::new(self, a, b)
    }

    /// The product of a matrix and a vector of as many elements as it has columns: that of [`gemm`](Self::gemm) with one column, bit for bit.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (a, x) = (dev.upload(&[1.0f64, 2.0, 3.0, 4.0])?, dev.upload(&[10.0f64, 1.0])?);
    /// assert_eq!(dev.gemv(matrix(&a, 2, 2), &x).run()?.read_blocking()?, [12.0, 34.0]);
    /// assert_eq!(dev.gemv(matrix(&a, 2, 2).transposed(), &x).alpha(2.0).run()?.read_blocking()?, [26.0, 48.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn gemv<L, R, T>(&self, a: Matrix<L>, x: R) -> ProductCall<'_, Self, L, R, T, NoAddend, Unchanged>
    where
        L: Input<Self, Exprs = Expr<T>>,
        R: Input<Self, Exprs = Expr<T>>,
        T: Factor,
    {
        let terms = a.columns;
        ProductCall::new(self, a, matrix(x, terms, 1))
    }

    /// The outer product of two vectors of `m` and `n` elements: an m x n matrix of products, each rounded once. With [`add`](ProductCall::add) it is BLAS's
    /// `ger`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[1.0f32, 2.0])?, dev.upload(&[3.0f32, 4.0, 5.0])?);
    /// let a = dev.outer(&x, 2, &y, 3).run()?;
    /// assert_eq!(a.read_blocking()?, [3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
    /// dev.outer(&x, 2, &y, 3).alpha(-1.0).add(1.0, &a).write_to(&a)?;
    /// assert_eq!(a.read_blocking()?, [0.0; 6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn outer<L, R, T>(&self, x: L, m: u64, y: R, n: u64) -> ProductCall<'_, Self, L, R, T>
    where
        L: Input<Self, Exprs = Expr<T>>,
        R: Input<Self, Exprs = Expr<T>>,
        T: Factor,
    {
        ProductCall::new(self, matrix(x, m, 1), matrix(y, 1, n))
    }
}
impl<B: Run<ProductTask> + Map> Products for B {}
