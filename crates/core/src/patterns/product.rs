//! P10 dense: products of matrices.

mod bands;
mod call;
mod matrix;
mod packed;
mod task;
mod varied;

pub use call::{Addend, Adding, Ending, NoAddend, ProductCall, Together};
pub use matrix::{Matrix, Steps, matrix};
pub use packed::{FixedRow, Packing};
pub use task::{ProductTask, steps_of};
pub(in crate::patterns) use task::{THIN, most_terms, turns};
pub use varied::VariedProduct;

use super::Map;
use crate::backend::Run;
use crate::buffer::Buffer;
use crate::call::Unchanged;
use crate::element::{DType, Element, Num, Scalar};
use crate::error::{Error, Result};
use crate::input::{Input, counting, scalar};
use crate::ir::Expr;

/// Types that products are summed in: `f32` (and `f16` elements), `f64`, `i32` (and `i8`, `i16`) and `u32` (and `u8`, `u16`).
pub trait Factor: Scalar + Num + Element<Reg = Self> {
    /// The bits of 1.
    #[doc(hidden)]
    const ONE: u64;
    /// `a * b + c`, rounded once; integers wrap.
    #[doc(hidden)]
    fn fused(a: Expr<Self>, b: Expr<Self>, c: Expr<Self>) -> Expr<Self>;
    /// The value in a format of fewer bits, where the type has such formats.
    #[doc(hidden)]
    fn rounded(x: Expr<Self>, _: FactorFormat) -> Expr<Self> {
        x
    }
}

macro_rules! factor {
    ($($t:ty: $one:expr, $fused:expr $(, $rounded:expr)?;)*) => {$(
        impl Factor for $t {
            const ONE: u64 = $one;
            fn fused(a: Expr<Self>, b: Expr<Self>, c: Expr<Self>) -> Expr<Self> {
                ($fused)(a, b, c)
            }
            $(fn rounded(x: Expr<Self>, format: FactorFormat) -> Expr<Self> {
                ($rounded)(x, format)
            })?
        }
    )*};
}
factor! {
    f32: 1.0f32.to_bits() as u64, |a: Expr<f32>, b, c| a.mul_add(b, c), |x: Expr<f32>, format: FactorFormat| format.round(x);
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
    /// One chain over all terms, as of cuBLAS where it does not split the sum. Its error grows faster. A device that ends long loops
    /// ([`Caps::loop_turns`](crate::caps::Caps::loop_turns), Mesa's software adapter) refuses long chains, from about 3,000 terms on in tiles of many sums.
    Chain,
    /// No order at all, of sums of `f32`: exact sums of fixed-point numbers, rounded once. All numbers of a row of A, and of a column of B, are rounded to
    /// multiples of 2^-29 of the power of two at or below the greatest magnitude there, which counts as 2^-126 where it is less, and cut into four balanced
    /// digits of base 256. Products of digits are summed in integers, but for those of the six lowest places, of which no sum is taken. There are at most 2^26
    /// terms, and 150,000 on a device that [ends long loops](crate::caps::Caps::loop_turns).
    ///
    /// The error is at most 2^-26 k max |a(i, .)| max |b(., j)| and a rounding, where no maximum is below 2^-126: 3 units of 2^-28 a term for the places that
    /// are left out, half a unit for numbers that are rounded. It is mostly less than a chain's; where the magnitudes in a row differ by more than 2^20 it may
    /// be greater. An infinite number or NaN makes all of its row's or column's results NaN. Zero is +0. Integers multiply several times as fast as floats on
    /// GPUs with matrix instructions for `i8`: this is the fastest order there that has one result on every device.
    Fixed30,
    /// An order and roundings of the device's own, of sums of `f32`: the fastest there are, with other bits on other devices. Factors are rounded to a format of
    /// fewer bits, to nearest even; the products of what they are then are exact.
    ///
    /// The error is at most 2^-22 k times the sum of the magnitudes of the products, for k of 16 and more, beside that of the factors' rounding. NVIDIA GPUs
    /// from compute capability 8.0 on take matrix instructions, and so does Vulkan for `f16` where the driver names some; elsewhere, and for products of few
    /// elements, sums are [`Blocks`](Self::Blocks).
    Fast(FactorFormat),
}

/// Formats of factors that matrix instructions take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FactorFormat {
    /// IEEE binary16: eleven bits of mantissa, magnitudes from 2^-24 to 65504.
    F16,
    /// The upper half of an `f32`: eight bits of mantissa.
    Bf16,
    /// An `f32` of eleven bits of mantissa.
    Tf32,
}

impl FactorFormat {
    /// Tests whether elements of this type are in the format already.
    fn stores(self, dtype: Option<DType>) -> bool {
        self == Self::F16 && dtype == Some(DType::F16)
    }

    /// The nearest number of this format, of two the even one; NaN is canonical.
    fn round(self, x: Expr<f32>) -> Expr<f32> {
        let of_bits = |cut: u32| {
            let bits = x.bitcast::<u32>();
            let kept = (bits + (((bits >> cut) & 1) + ((1 << (cut - 1)) - 1))) & !((1u32 << cut) - 1);
            // Infinite numbers stay, and NaN must not become one.
            (bits << 1).gt(0xff00_0000).select(0x7fc0_0000u32, kept).bitcast::<f32>()
        };
        match self {
            Self::F16 => {
                let (sign, normal) = (x.bitcast::<u32>() & 0x8000_0000, of_bits(13).bitcast::<u32>() & 0x7fff_ffff);
                // Below 2^-14 numbers are multiples of 2^-24, as sums with 1/2 are; from 65520 on they are infinite.
                let small = ((x.abs() + 0.5) - 0.5).bitcast::<u32>();
                let magnitude = (x.bitcast::<u32>() << 1).lt(0x7100_0000u32).select(small, normal);
                let magnitude = magnitude.lt(0x4780_0000u32).select(magnitude, magnitude.max(0x7f80_0000u32));
                magnitude.gt(0x7f80_0000u32).select(magnitude, magnitude | sign).bitcast::<f32>()
            }
            Self::Bf16 => of_bits(16),
            Self::Tf32 => of_bits(13),
        }
    }
}

impl ProductOrder {
    /// The order's name in errors, which is the command's too.
    pub(in crate::patterns) const fn name(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Chain => "chain",
            Self::Fixed30 => "fixed30",
            Self::Fast(FactorFormat::F16) => "fast-f16",
            Self::Fast(FactorFormat::Bf16) => "fast-bf16",
            Self::Fast(FactorFormat::Tf32) => "fast-tf32",
        }
    }

    /// Terms of a chain, of a sum of `k`.
    #[must_use]
    pub const fn block(self, k: u64) -> u64 {
        match self {
            Self::Blocks | Self::Fixed30 | Self::Fast(_) => 512,
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
/// a row of a product has the same bits as the row alone, with however many others it is multiplied, on whatever device, but for
/// [`Fast`](ProductOrder::Fast) orders, which leave small products to blocks. Of no terms it is +0. Sums of integers wrap.
///
/// Where cuBLAS does not split k, its `f32` products of up to 512 terms have the same bits.
///
/// Elements are `f32`, `f64`, `f16` (summed in `f32`, in which their products are exact), and integers of 8, 16 and 32 bits, in their 32-bit type; both
/// operands have the same. An operand is any input, as a [`matrix`]; an operator over its elements is computed where they are read, and so once for each tile
/// of the product. Rows, columns and terms are at most 2^31.
///
/// Work O(m n k). Scratch: where the product is small and has many terms, the sums of its blocks, at most 1 GiB. Operands are packed for
/// [`Fixed30`](ProductOrder::Fixed30) (four bytes an element of each, of whole tiles of 64 rows and terms, or 256 rows for matrix instructions), and where there are matrix instructions (NVIDIA GPUs from compute capability 8.0 on,
/// Vulkan's drivers that name some) those of large products of bytes, of [`Fast`](ProductOrder::Fast) orders and, where a group of threads has 200 KiB of
/// shared memory, of `f32` (their size, up to whole tiles, at most 1 GiB each).
///
/// Source: Kirk and Hwu, *Programming Massively Parallel Processors*, chapters 3, 5 and 16; Ansorge, *Programming in Parallel with CUDA*, chapters 2 and 11;
/// Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1 (blocked sums).
pub trait Products: Run<ProductTask> + Map {
    /// The product of two matrices, row-major in new memory.
    ///
    /// Modifiers: [`alpha`](ProductCall::alpha), [`add`](ProductCall::add), [`finish`](ProductCall::finish), [`epilogue`](ProductCall::epilogue),
    /// [`order`](ProductCall::order), [`leading`](ProductCall::leading), [`steps`](ProductCall::steps), [`batch_step`](ProductCall::batch_step),
    /// [`variant`](ProductCall::variant); those of operands are the [matrix](Matrix)'s.
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

    /// The outer product of two vectors of `m` and `n` elements: an m x n matrix of products, each rounded once, -0 to +0. With [`add`](ProductCall::add) it is BLAS's
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

    /// The product of a matrix and its transpose, with all elements of the result, which is symmetric: BLAS's `syrk`. Of a
    /// [transposed](Matrix::transposed) view it is the transpose times the matrix.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let a = dev.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// assert_eq!(dev.syrk(matrix(&a, 2, 3)).run()?.read_blocking()?, [14.0, 32.0, 32.0, 77.0]);
    /// assert_eq!(dev.syrk(matrix(&a, 3, 2).transposed()).run()?.read_blocking()?, [35.0, 44.0, 44.0, 56.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn syrk<L, T>(&self, a: Matrix<L>) -> ProductCall<'_, Self, L, L, T>
    where
        L: Input<Self, Exprs = Expr<T>> + Clone,
        T: Factor,
    {
        ProductCall::new(self, a.clone(), a.transposed())
    }

    /// A square matrix to a power, row-major in new memory: of the bits of the exponent, from the highest one on, each squares what there is, and a 1
    /// multiplies it by the matrix from the right. The power 0 is the identity. In the first power, too, -0 is +0.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Fibonacci's numbers.
    /// let a = dev.upload(&[1u32, 1, 1, 0])?;
    /// assert_eq!(dev.matrix_power(matrix(&a, 2, 2), 30)?.read_blocking()?, [1346269, 832040, 832040, 514229]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for a matrix that is not square, [`Error::InvalidArgument`] for a batch, and those of [`gemm`](Self::gemm).
    fn matrix_power<L, T>(&self, a: Matrix<L>, exponent: u32) -> Result<Buffer<Self, T>>
    where
        L: Input<Self, Exprs = Expr<T>> + Clone,
        T: Factor,
    {
        let n = a.rows;
        if a.columns != n {
            return Err(Error::LengthMismatch { what: "columns of a matrix to a power", expected: n, found: a.columns });
        }
        if a.batch.is_some() {
            return Err(Error::InvalidArgument { what: "matrix_power", reason: "it takes one matrix, and this is a batch".to_owned() });
        }
        let one = T::from_bits64(T::ONE);
        // Fails as a product would.
        let check = || self.gemm(a.clone(), matrix(scalar(one), n, 0).steps(0, 0)).run();
        let Some(highest) = exponent.checked_ilog2() else {
            let elements = n.checked_mul(n).filter(|&elements| elements < u64::from(u32::MAX));
            let limit = u64::from(u32::MAX) - 1;
            let elements = elements.ok_or(Error::TooLarge { what: "elements of a matrix", requested: n.saturating_mul(n), limit })?;
            check()?;
            let diagonal = |i: Expr<u32>| (i % (n as u32 + 1)).eq(0u32).select(Expr::from(one), T::from_bits64(0));
            return self.map(counting(elements), diagonal);
        };
        let mut power: Option<Buffer<Self, T>> = None;
        for bit in (0..highest).rev() {
            let square = match &power {
                None => self.gemm(a.clone(), a.clone()).run()?,
                Some(power) => self.gemm(matrix(power, n, n), matrix(power, n, n)).run()?,
            };
            power = Some(if exponent >> bit & 1 == 1 { self.gemm(matrix(&square, n, n), a.clone()).run()? } else { square });
        }
        match power {
            Some(power) => Ok(power),
            // Its rows as columns of one element each, times 1.
            None => {
                check()?;
                let Steps { row, column, .. } = a.steps;
                self.gemm(matrix(a.input, n, 1).steps(column, 1).batch_by(n, row), matrix(scalar(one), 1, 1)).run()
            }
        }
    }
}
impl<B: Run<ProductTask> + Map> Products for B {}
