//! Sums in stated orders, and distances in units in the last place.

use super::call::{Job, Over};
use super::fold::Parts;
use super::{DynBuffer, Results};
use crate::buffer::Memory as _;
use crate::element::{DType, Element, Float, Num};
use crate::error::{Error, Result};
use crate::ir::Ulp;
use crate::patterns::{Map as _, OrderedSum as _, Patterns, SumOrder, Ulps as _};

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
        self.cast::<T::Reg>(T::DTYPE, results, |out| match parts {
            Parts::Whole => call.write_to(out),
            Parts::Lines(shape, axis) => call.axis(shape, axis).write_to(out),
            Parts::Segments(_) => {
                Err(Error::InvalidArgument { what: "offsets", reason: "ordered sums go over lines, not over segments".to_owned() })
            }
        })
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
