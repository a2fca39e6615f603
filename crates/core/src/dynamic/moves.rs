//! Moves: of raw bits, whatever the element type.

use super::call::{Call, Job, Over, Results, Scattering};
use super::{DynBuffer, Operator, widened, with_dtype, with_register};
use crate::buffer::Buffer;
use crate::element::{DType, Element as _};
use crate::error::{Error, Result};
use crate::patterns::moves::check_indices;
use crate::patterns::{Atomics as _, Difference as _, Layout as _, Map as _, Move as _, Overflow, Patterns, ScatterOp};

/// Runs `$body` with the elements of a buffer as indices.
macro_rules! with_index {
    ($x:expr, $indices:ident => $body:expr) => {
        with_index!(@ $x, $indices => $body; U32 u32, I32 i32, U64 u64, I64 i64, U8 u8, I8 i8, U16 u16, I16 i16)
    };
    (@ $x:expr, $indices:ident => $body:expr; $($variant:ident $t:ty),*) => {
        match $x.dtype() {
            $(DType::$variant => { let $indices = $x.typed::<$t>()?; $body })*
            other => Err(Error::InvalidArgument { what: "indices", reason: format!("{other} elements are no indices") }),
        }
    };
}

pub(super) use with_index;

impl<B: Patterns> Job<'_, B> {
    pub(super) fn gather(&self, over: &Over) -> Result<Results<B>> {
        let [x, at] = self.take()?;
        with_index!(at, at => with_dtype!(x.dtype, T => {
            let x = x.typed::<T>()?;
            let gather = self.device.gather(&x, &at).checked();
            match over {
                Over::Whole => self.into(at.len(), |out| gather.write_to(out)),
                Over::Axis(shape, axis) => self.into(at.len(), |out| gather.axis(shape, *axis).write_to(out)),
                Over::Keys | Over::Segments => {
                    Err(Error::InvalidArgument { what: "indices", reason: "they are of an array or of lines along an axis".to_owned() })
                }
            }
        }))
    }

    pub(super) fn scatter(&self, how: &Scattering) -> Result<Results<B>> {
        let [values, at, target] = self.take()?;
        match how {
            Scattering::Fixed(digits, overflow) => self.scatter_fixed(values, at, (*digits, *overflow), target),
            _ if values.dtype != target.dtype => {
                let reason = format!("they are {}, the target is {}", values.dtype, target.dtype);
                Err(Error::InvalidArgument { what: "values", reason })
            }
            Scattering::By(op) => self.scatter_by(values, at, *op, target),
            Scattering::InOrder(op) => self.scatter_in_order(values, at, op, target),
        }
    }

    fn scatter_by(&self, values: &DynBuffer<B>, at: &DynBuffer<B>, op: ScatterOp, target: &DynBuffer<B>) -> Result<Results<B>> {
        let (device, dtype) = (self.device, target.dtype);
        with_index!(at, at => {
            check_indices(device, "scatter", &at, target.len)?;
            if op == ScatterOp::Store {
                return with_dtype!(dtype, T => {
                    let (values, target) = (values.typed::<T>()?, target.typed::<T>()?);
                    self.changed(&target, |out| device.scatter(&values, &at).write_to(out))
                });
            }
            if dtype.ty().dtype() != dtype {
                let reason = format!("{} of {dtype} elements; there are those of 32 and 64 bits", op.name());
                return Err(Error::InvalidArgument { what: "operator", reason });
            }
            with_register!(dtype.ty(), T => {
                let (values, target) = (values.typed::<T>()?, target.typed::<T>()?);
                self.changed(&target, |out| device.scatter(&values, &at).reduce(op).write_to(out))
            })
        })
    }

    fn scatter_fixed(
        &self,
        values: &DynBuffer<B>,
        at: &DynBuffer<B>,
        (digits, overflow): (i32, Overflow),
        target: &DynBuffer<B>,
    ) -> Result<Results<B>> {
        let invalid = |what, reason| Err(Error::InvalidArgument { what, reason });
        if values.dtype != DType::F32 {
            return invalid("values", format!("fixed-point sums are of f32, and these are {}", values.dtype));
        }
        let (device, values) = (self.device, &values.typed::<f32>()?);
        with_index!(at, at => {
            check_indices(device, "scatter", &at, target.len)?;
            macro_rules! summed {
                ($t:ty) => {{
                    let target = target.typed::<$t>()?;
                    self.changed(&target, |out| device.scatter_fixed_into(values, &at, digits, overflow, out))
                }};
            }
            match target.dtype {
                DType::I32 => summed!(i32),
                DType::I64 => summed!(i64),
                dtype => invalid("targets", format!("fixed-point sums are i32 or i64, and these are {dtype}")),
            }
        })
    }

    fn scatter_in_order(&self, values: &DynBuffer<B>, at: &DynBuffer<B>, op: &Operator, target: &DynBuffer<B>) -> Result<Results<B>> {
        let (device, dtype) = (self.device, target.dtype);
        if op.result.is_some() {
            let reason = format!("{} says what is true of elements; write one of x and y", op.name());
            return Err(Error::InvalidArgument { what: "operator", reason });
        }
        let prepared = op.prepare(dtype.ty(), dtype)?;
        let (values, target) = (widened(device, values)?, widened(device, target)?);
        with_index!(at, at => with_register!(dtype.ty(), T => {
            let (values, target) = (values.typed::<T>()?, target.typed::<T>()?);
            let combine = |out: &Buffer<B, T>| device.scatter(&values, &at).combine(&prepared).checked().write_to(out);
            if T::DTYPE == dtype {
                return self.changed(&target, combine);
            }
            self.cast(dtype, target.len(), |out| device.copy_into(&target, out).and_then(|()| combine(out)))
        }))
    }

    pub(super) fn moved(&self, call: &Call) -> Result<Results<B>> {
        let ([x], device) = (self.take()?, self.device);
        with_dtype!(x.dtype, T => {
            let x = x.typed::<T>()?;
            self.into(x.len(), |out| match call {
                Call::PermuteAxes(shape, order) => device.permute_axes(&x, shape, order).write_to(out),
                Call::ToMorton(shape) => device.to_morton(&x, shape).write_to(out),
                Call::FromMorton(shape) => device.from_morton(&x, shape).write_to(out),
                Call::Rotate(by) => device.rotate(&x, *by).write_to(out),
                _ => device.reverse(&x).write_to(out),
            })
        })
    }

    pub(super) fn adjacent_difference(&self, right: bool) -> Result<Results<B>> {
        let [x] = self.take()?;
        with_dtype!(x.dtype, T => {
            let x = x.typed::<T>()?;
            let difference = self.device.adjacent_difference(&x);
            self.into(x.len(), |out| if right { difference.right() } else { difference }.write_to(out))
        })
    }

    /// The elements at indices that are known to name some.
    pub(super) fn fetched(&self, x: &DynBuffer<B>, at: &DynBuffer<B>) -> Result<DynBuffer<B>> {
        with_dtype!(x.dtype, T => {
            let x = x.typed::<T>()?;
            let found = match at.dtype {
                DType::U64 => self.device.gather(&x, &at.typed::<u64>()?).run(),
                _ => self.device.gather(&x, &at.typed::<u32>()?).run(),
            };
            found.map(DynBuffer::from)
        })
    }
}
