//! Sums in stated orders, and distances in units in the last place.

use super::call::{Job, Over};
use super::fold::{Parts, over};
use super::{DynBuffer, Results, with_offsets};
use crate::buffer::Memory as _;
use crate::element::{DType, Element, Float, Num};
use crate::error::{Error, Result};
use crate::ir::Ulp;
use crate::patterns::{ExactSums as _, Map as _, OrderedSum as _, Patterns, SumOrder, Ulps as _};

/// Terms and result of an exact sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ExactSum {
    /// The elements.
    Sum,
    /// The elements, divided by their number.
    Mean,
    /// Products of two arrays, both of `f32` or of `f64`.
    Dot,
}

/// Fails for what is not summed or compared as floats.
fn refused<T>(what: &'static str, dtype: DType) -> Result<T> {
    Err(Error::InvalidArgument { what, reason: format!("they are floats, not {dtype}") })
}

impl<B: Patterns> Job<'_, B> {
    pub(super) fn ordered_sum(&self, order: SumOrder, over: &Over) -> Result<Results<B>> {
        match self.first()?.dtype {
            DType::F32 => self.sum_of::<f32>(order, over),
            DType::F64 => self.sum_of::<f64>(order, over),
            DType::F16 => self.sum_of::<half::f16>(order, over),
            other => refused("values to sum in an order", other),
        }
    }

    fn sum_of<T: Element<Reg: Float + Num + Element<Reg = T::Reg>>>(&self, order: SumOrder, over: &Over) -> Result<Results<B>> {
        let (parts, results, _) = self.parts(over)?;
        let x = self.first()?.typed::<T>()?;
        let call = self.device.ordered_sum(&x, order);
        over!(&parts, call, sums => self.cast::<T::Reg>(T::DTYPE, results, |out| sums.write_to(out)))
    }

    pub(super) fn exact(&self, of: ExactSum, over: &Over) -> Result<Results<B>> {
        macro_rules! sums {
            ($t:ty, $r:ty) => {{
                let (parts, results, _) = self.parts(over)?;
                let x = self.first()?.typed::<$t>()?;
                let call = if of == ExactSum::Mean { self.device.exact_mean(&x) } else { self.device.exact_sum(&x) };
                over!(&parts, call, sums => self.into::<$r>(results, |out| sums.write_to(out)))
            }};
        }
        if of == ExactSum::Dot {
            let [x, y] = self.take()?;
            macro_rules! dot {
                ($t:ty) => {{
                    let (x, y) = (x.typed::<$t>()?, y.typed::<$t>()?);
                    self.into::<$t>(1, |out| self.device.exact_dot((&x, &y)).write_to(out))
                }};
            }
            return match (x.dtype, y.dtype) {
                (DType::F32, DType::F32) => dot!(f32),
                (DType::F64, DType::F64) => dot!(f64),
                (a, b) if a != b => Err(Error::InvalidArgument { what: "factors of an exact product", reason: format!("{a} is not {b}") }),
                (other, _) => refused("factors of an exact product, of 32 or 64 bits,", other),
            };
        }
        match self.first()?.dtype {
            DType::F32 => sums!(f32, f32),
            DType::F64 => sums!(f64, f64),
            DType::F16 => sums!(half::f16, f32),
            other => refused("values to sum exactly", other),
        }
    }

    pub(super) fn ulp(&self) -> Result<Results<B>> {
        let [x, y] = self.take()?;
        match (x.dtype, y.dtype) {
            (DType::F32, DType::F32) => self.distances::<f32>(x, y),
            (DType::F64, DType::F64) => self.distances::<f64>(x, y),
            (a, b) if a != b => Err(Error::InvalidArgument { what: "values to compare", reason: format!("{a} is not {b}; convert one") }),
            (other, _) => refused("values to compare, of 32 or 64 bits,", other),
        }
    }

    fn distances<T: Element<Reg = T> + Ulp<Distance: Element<Reg = T::Distance>>>(
        &self,
        x: &DynBuffer<B>,
        y: &DynBuffer<B>,
    ) -> Result<Results<B>> {
        let (x, y) = (x.typed::<T>()?, y.typed::<T>()?);
        let words = self.device.ulp(&x, &y)?.words().clone();
        let distances = self.device.buffer::<T::Distance>(x.len())?;
        self.device.map_into((&x, &y), |(x, y)| x.ulp_distance(y), &distances)?;
        Ok([distances.into(), words.into()].into())
    }
}
