//! Stored results of operators, and the buffers that hold them.

use crate::backend::{Backend, Out};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{Element, Scalar, Ty};
use crate::error::{Error, Result};
use crate::ir::{self, Expr, Traced};

/// A value that is stored as the narrower element type `T`: `f16` for an `f32`, `u8` or `u16` for a `u32`, `i8` or `i16` for an `i32`.
#[derive(Clone, Copy, Debug)]
pub struct Narrow<T: Element>(Expr<T::Reg>);

impl<R: Scalar> Expr<R> {
    /// Stores the value as element type `T` (`f16` rounds to nearest even, integers keep their low bits).
    #[must_use]
    pub fn store_as<T: Element<Reg = R>>(self) -> Narrow<T> {
        Narrow(self)
    }
}

impl Expr<f64> {
    /// Stores the value as `f16`, rounded once, to the nearest one, ties to even. By way of an `f32` it would be rounded twice.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # use half::f16;
    /// # let dev = isowarp::Cpu::new();
    /// // Hardly above halfway between 1 and the next f16.
    /// let x = dev.upload(&[1.0 + 2f64.powi(-11) + 2f64.powi(-40)])?;
    /// assert_eq!(dev.map(&x, |x| x.store_as_f16())?.read_blocking()?, [f16::from_bits(0x3c01)]);
    /// assert_eq!(dev.map(&x, |x| x.cast::<f32>().store_as::<f16>())?.read_blocking()?, [f16::ONE]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn store_as_f16(self) -> Narrow<half::f16> {
        Narrow(self.to_odd())
    }
}

impl<T: Element> Traced for Narrow<T> {
    fn types() -> Vec<Ty> {
        vec![T::DTYPE.ty()]
    }
    fn params(first: u16) -> Self {
        Self(Expr::params(first))
    }
    fn push_values(self, out: &mut Vec<ir::TracedValue>) {
        self.0.push_values(out);
    }
}

/// [`Outputs`] whose number and element types the program's types say.
pub trait TypedOutputs: Outputs {
    /// The element type of the first buffer.
    type First: Element;

    /// The first buffer.
    #[doc(hidden)]
    fn first<'a, B: Backend>(refs: Self::Refs<'a, B>) -> &'a Buffer<B, Self::First>;
}

/// One value of an operator that is stored, in one buffer.
pub trait Stored: TypedOutputs {}
impl<T: Scalar + Element<Reg = T>> Stored for Expr<T> {}
impl<T: Element> Stored for Narrow<T> {}

/// Results of an operator whose values are stored: a value, or a tuple of up to four.
pub trait Outputs: Traced {
    /// The buffers that hold the values.
    type Buffers<B: Backend>;
    /// The values of buffers of one element.
    type Scalars<B: Backend>;
    /// References to buffers that a caller brings.
    type Refs<'a, B: Backend>: Copy;
    /// Reserves the buffers.
    ///
    /// # Errors
    /// As [`Memory::buffer`](crate::buffer::Memory::buffer).
    fn allocate<B: Backend>(device: &B, len: u64) -> Result<Self::Buffers<B>>;
    /// The values of buffers of one element.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    fn scalars<B: Backend>(buffers: Self::Buffers<B>) -> Result<Self::Scalars<B>>;
    /// Borrows them.
    fn refs<B: Backend>(buffers: &Self::Buffers<B>) -> Self::Refs<'_, B>;
    /// Adds their handles, checking that each holds `len` elements.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], [`Error::WrongDevice`].
    fn outs<B: Backend>(device: &B, refs: Self::Refs<'_, B>, len: u64, into: &mut Vec<(Out<B::Raw>, u64)>) -> Result<()>;
}

macro_rules! single_output {
    ($expr:ty, $elem:ty $(, $g:ident : $($bound:tt)*)?) => {
        impl$(<$g: $($bound)*>)? Outputs for $expr {
            type Buffers<Bk: Backend> = Buffer<Bk, $elem>;
            type Scalars<Bk: Backend> = DeviceScalar<Bk, $elem>;
            type Refs<'a, Bk: Backend> = &'a Buffer<Bk, $elem>;
            fn allocate<Bk: Backend>(device: &Bk, len: u64) -> Result<Buffer<Bk, $elem>> {
                device.buffer(len)
            }
            fn scalars<Bk: Backend>(buffers: Buffer<Bk, $elem>) -> Result<DeviceScalar<Bk, $elem>> {
                DeviceScalar::from_buffer(buffers)
            }
            fn refs<Bk: Backend>(buffers: &Buffer<Bk, $elem>) -> &Buffer<Bk, $elem> {
                buffers
            }
            fn outs<Bk: Backend>(device: &Bk, b: &Buffer<Bk, $elem>, len: u64, into: &mut Vec<(Out<Bk::Raw>, u64)>) -> Result<()> {
                if !b.device().same_device(device) {
                    return Err(Error::WrongDevice { what: "the output" });
                }
                if b.len() < len {
                    return Err(Error::BufferTooSmall { what: "the output", required: len, available: b.len() });
                }
                into.push((b.out(), len));
                Ok(())
            }
        }

        impl$(<$g: $($bound)*>)? TypedOutputs for $expr {
            type First = $elem;
            fn first<'a, Bk: Backend>(buffer: Self::Refs<'a, Bk>) -> &'a Buffer<Bk, $elem> {
                buffer
            }
        }
    };
}
single_output!(Expr<T>, T, T: Scalar + Element<Reg = T>);
single_output!(Expr<bool>, u32);
single_output!(Narrow<T>, T, T: Element);

macro_rules! output_tuple {
    ($($t:ident $i:tt),*) => {
        impl<$($t: Outputs),*> Outputs for ($($t,)*) {
            type Buffers<Bk: Backend> = ($($t::Buffers<Bk>,)*);
            type Scalars<Bk: Backend> = ($($t::Scalars<Bk>,)*);
            type Refs<'a, Bk: Backend> = ($($t::Refs<'a, Bk>,)*);
            fn allocate<Bk: Backend>(device: &Bk, len: u64) -> Result<Self::Buffers<Bk>> {
                Ok(($($t::allocate(device, len)?,)*))
            }
            fn scalars<Bk: Backend>(buffers: Self::Buffers<Bk>) -> Result<Self::Scalars<Bk>> {
                Ok(($($t::scalars(buffers.$i)?,)*))
            }
            fn refs<Bk: Backend>(buffers: &Self::Buffers<Bk>) -> Self::Refs<'_, Bk> {
                ($($t::refs(&buffers.$i),)*)
            }
            fn outs<Bk: Backend>(device: &Bk, refs: Self::Refs<'_, Bk>, len: u64, into: &mut Vec<(Out<Bk::Raw>, u64)>) -> Result<()> {
                $($t::outs(device, refs.$i, len, into)?;)*
                Ok(())
            }
        }

        impl<$($t: TypedOutputs),*> TypedOutputs for ($($t,)*) {
            type First = A::First;
            fn first<'a, Bk: Backend>(refs: Self::Refs<'a, Bk>) -> &'a Buffer<Bk, A::First> {
                A::first(refs.0)
            }
        }
    };
}
output_tuple!(A 0, B 1);
output_tuple!(A 0, B 1, C 2);
output_tuple!(A 0, B 1, C 2, D 3);
