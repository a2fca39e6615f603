//! Inputs whose values can be stored.

use super::{Counting, HostScalar, Index, Input, Mapped, Narrow, Outputs, Permuted};
use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar, View};
use crate::element::{Element, Int, Scalar};
use crate::ir::Expr;

/// An [`Input`] whose values have types that they are stored as: those of the arrays that it reads, or of what its operator gives.
pub trait Values<B: Backend>: Input<B> {
    /// The values as they are stored.
    type Out: Outputs;

    /// The element type of the buffer that it is, if it is one.
    #[doc(hidden)]
    type Plain: Element;

    /// The values of an element as they are stored.
    #[doc(hidden)]
    fn out(exprs: Self::Exprs) -> Self::Out;

    /// The buffer that it is, if it is one.
    #[doc(hidden)]
    fn plain(&self) -> Option<&Buffer<B, Self::Plain>> {
        None
    }

    /// The output of a buffer.
    #[doc(hidden)]
    fn plain_out<'a>(_: <Self::Out as Outputs>::Refs<'a, B>) -> Option<&'a Buffer<B, Self::Plain>> {
        None
    }
}

impl<B: Backend, T: Element> Values<B> for &Buffer<B, T> {
    type Out = Narrow<T>;
    type Plain = T;
    fn out(x: Expr<T::Reg>) -> Narrow<T> {
        x.store_as()
    }
    fn plain(&self) -> Option<&Buffer<B, T>> {
        Some(self)
    }
    fn plain_out<'b>(out: <Narrow<T> as Outputs>::Refs<'b, B>) -> Option<&'b Buffer<B, T>> {
        Some(out)
    }
}

macro_rules! narrow_values {
    ($($of:ty),*) => {$(
        impl<B: Backend, T: Element> Values<B> for $of {
            type Out = Narrow<T>;
            type Plain = T;
            fn out(x: Expr<T::Reg>) -> Narrow<T> {
                x.store_as()
            }
        }
    )*};
}
narrow_values!(&View<B, T>, View<B, T>, &DeviceScalar<B, T>, DeviceScalar<B, T>);

macro_rules! scalar_values {
    ($($of:ty),*) => {$(
        impl<B: Backend, T: Scalar + Element<Reg = T>> Values<B> for $of {
            type Out = Expr<T>;
            type Plain = T;
            fn out(x: Expr<T>) -> Expr<T> {
                x
            }
        }
    )*};
}
scalar_values!(Index<T>, Counting<T>, HostScalar<T>);

impl<B: Backend, T: Element, X: Int, I: Input<B, Exprs = Expr<X>>> Values<B> for Permuted<'_, B, T, I> {
    type Out = Narrow<T>;
    type Plain = T;
    fn out(x: Expr<T::Reg>) -> Narrow<T> {
        x.store_as()
    }
}

impl<B: Backend, I: Input<B>, R: Outputs, F: Fn(I::Exprs) -> R> Values<B> for Mapped<I, F> {
    type Out = R;
    type Plain = u32;
    fn out(x: R) -> R {
        x
    }
}

macro_rules! values_tuple {
    ($($t:ident $i:tt),*) => {
        impl<Bk: Backend, $($t: Values<Bk>),*> Values<Bk> for ($($t,)*) {
            type Out = ($($t::Out,)*);
            type Plain = u32;
            fn out(x: Self::Exprs) -> Self::Out {
                ($($t::out(x.$i),)*)
            }
        }
    };
}
values_tuple!(A 0, B 1);
values_tuple!(A 0, B 1, C 2);
values_tuple!(A 0, B 1, C 2, D 3);
