//! Products of matrices.

use super::call::Job;
use super::{DynBuffer, Results};
use crate::element::{DType, Element};
use crate::error::{Error, Result};
use crate::patterns::product::Factor;
use crate::patterns::{Matrix, Patterns, ProductOrder, Products as _, matrix};

/// A product of two inputs of one type, each a row-major matrix or a batch of them; a third one, if there is one, is added, with a factor.
#[derive(Clone, PartialEq, Debug)]
pub struct Product {
    /// Rows, columns and terms.
    pub shape: [u64; 3],
    /// Matrices of the batches of either side.
    pub batch: [Option<u64>; 2],
    /// Whether the inputs are the transposes.
    pub transposed: [bool; 2],
    /// Factor of the sums; a whole number where these are.
    pub alpha: Option<f64>,
    /// Factor of the third input.
    pub beta: f64,
    /// The order of evaluation.
    pub order: ProductOrder,
}

/// A factor as a sum's type has it.
fn factor<T: Factor>(what: &'static str, value: f64) -> Result<T> {
    // Of 32 bits, with or without a sign, for both types of sums: a negative factor subtracts in either.
    let integer = |value: f64| {
        let whole = value as i64;
        if whole as f64 != value {
            Err(Error::InvalidArgument { what, reason: format!("{value} is no integer, as the sums are") })
        } else if !(i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&whole) {
            Err(Error::InvalidArgument { what, reason: format!("{value} does not fit 32 bits, as the sums do") })
        } else {
            Ok(whole as u64)
        }
    };
    Ok(T::from_bits64(match T::DTYPE {
        DType::F32 if value.is_finite() && !(value as f32).is_finite() => {
            return Err(Error::InvalidArgument { what, reason: format!("{value:e} does not fit f32, the type of the sums") });
        }
        DType::F32 => (value as f32).to_bits().into(),
        DType::F64 => value.to_bits(),
        _ => integer(value)?,
    }))
}

impl<B: Patterns> Job<'_, B> {
    pub(super) fn product(&self, of: &Product) -> Result<Results<B>> {
        let ([a, b], c) = match *self.inputs {
            [a, b, c] => ([a, b], Some(c)),
            _ => (self.take()?, None),
        };
        match (a.dtype, b.dtype) {
            (DType::F32, DType::F32) => self.product_of::<f32>(of, [a, b], c),
            (DType::F64, DType::F64) => self.product_of::<f64>(of, [a, b], c),
            (DType::F16, DType::F16) => self.product_of::<half::f16>(of, [a, b], c),
            (DType::I8, DType::I8) => self.product_of::<i8>(of, [a, b], c),
            (DType::U8, DType::U8) => self.product_of::<u8>(of, [a, b], c),
            (DType::I16, DType::I16) => self.product_of::<i16>(of, [a, b], c),
            (DType::U16, DType::U16) => self.product_of::<u16>(of, [a, b], c),
            (DType::I32, DType::I32) => self.product_of::<i32>(of, [a, b], c),
            (DType::U32, DType::U32) => self.product_of::<u32>(of, [a, b], c),
            (a, b) => Err(Error::InvalidArgument {
                what: "factors of a product",
                reason: format!("{a} and {b} are not multiplied: both are of one type, of at most 32 bits or f64"),
            }),
        }
    }

    fn product_of<T: Element<Reg: Factor>>(
        &self,
        of: &Product,
        [a, b]: [&DynBuffer<B>; 2],
        c: Option<&DynBuffer<B>>,
    ) -> Result<Results<B>> {
        let ([m, n, k], batch) = (of.shape, of.batch[0].or(of.batch[1]).unwrap_or(1));
        let (a, b) = (a.typed::<T>()?, b.typed::<T>()?);
        let side = |x, rows, columns, side: usize| operand(x, [rows, columns], of.batch[side], of.transposed[side]);
        let mut call = self.device.gemm(side(&a, m, k, 0), side(&b, k, n, 1)).order(of.order);
        if let Some(alpha) = of.alpha {
            call = call.alpha(factor::<T::Reg>("alpha", alpha)?);
        }
        let elements = batch.saturating_mul(m).saturating_mul(n);
        match c {
            None => self.into::<T::Reg>(elements, |out| call.write_to(out)),
            Some(c) if c.dtype != T::Reg::DTYPE => {
                let reason = format!("it is of {}, and the sums are of {}", c.dtype, T::Reg::DTYPE);
                Err(Error::InvalidArgument { what: "the array that is added to a product", reason })
            }
            Some(c) => {
                let (c, beta) = (c.typed::<T::Reg>()?, factor("beta", of.beta)?);
                self.into::<T::Reg>(elements, |out| call.add(beta, &c).write_to(out))
            }
        }
    }
}

/// An input as a matrix of so many rows and columns.
fn operand<I>(x: I, [rows, columns]: [u64; 2], batch: Option<u64>, transposed: bool) -> Matrix<I> {
    let of = if transposed { matrix(x, columns, rows).transposed() } else { matrix(x, rows, columns) };
    match batch {
        Some(count) => of.batch(count),
        None => of,
    }
}
