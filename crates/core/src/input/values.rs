//! Inputs whose values can be stored.

use super::{Counting, HostScalar, Index, Input, Lent, Mapped, Narrow, Permuted, TypedOutputs};
use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar, View};
use crate::element::{Element, Int, Scalar};
use crate::ir::Expr;

/// An [`Input`] whose values can be stored as they are: those of an array in its element type, bit for bit, and what an operator gives as a map stores it; the
/// values of a tuple each in a buffer of its own.
#[diagnostic::on_unimplemented(
    message = "the values of `{Self}` cannot be stored as they are",
    label = "map them to what is stored, or name it by `finish`"
)]
pub trait Values<B: Backend>: Input<B> {
    /// The stored values.
    type Out: TypedOutputs;

    /// The stored values of an element.
    #[doc(hidden)]
    fn out(exprs: Self::Exprs) -> Self::Out;

    /// The buffer that it is, if it is one.
    #[doc(hidden)]
    fn plain(&self) -> Option<&Buffer<B, <Self::Out as TypedOutputs>::First>> {
        None
    }
}

/// An [`Input`] of one value to an element, which can be stored: keys, values that travel with them, indices.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has not one value to an element that can be stored",
    label = "an array, a view, an index, or what is mapped to one number or to a narrower one by `store_as`"
)]
pub trait Elements<B: Backend>: Values<B, Out: TypedOutputs<First = Self::Element, Buffers<B> = Buffer<B, Self::Element>>> {
    /// The type that it is stored as.
    type Element: Element;
}

impl<B, I, T> Elements<B> for I
where
    B: Backend,
    I: Values<B>,
    I::Out: TypedOutputs<First = T, Buffers<B> = Buffer<B, T>>,
    T: Element,
{
    type Element = T;
}

/// [`Elements`] that operators take as numbers: all but those that are stored in a narrower type than they are computed in.
pub trait Numbers<B: Backend>: Elements<B> + Input<B, Exprs = Expr<<Self::Element as Element>::Reg>> {}

impl<B, I> Numbers<B> for I
where
    B: Backend,
    I: Elements<B> + Input<B, Exprs = Expr<<<I as Elements<B>>::Element as Element>::Reg>>,
{
}

impl<B: Backend, T: Element> Values<B> for &Buffer<B, T> {
    type Out = Narrow<T>;
    fn out(x: Expr<T::Reg>) -> Narrow<T> {
        x.store_as()
    }
    fn plain(&self) -> Option<&Buffer<B, T>> {
        Some(self)
    }
}

macro_rules! narrow_values {
    ($($of:ty),*) => {$(
        impl<B: Backend, T: Element> Values<B> for $of {
            type Out = Narrow<T>;
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
            fn out(x: Expr<T>) -> Expr<T> {
                x
            }
        }
    )*};
}
scalar_values!(Index<T>, Counting<T>, HostScalar<T>);

impl<B: Backend, T: Element, X: Int, I: Input<B, Exprs = Expr<X>>> Values<B> for Permuted<'_, B, T, I> {
    type Out = Narrow<T>;
    fn out(x: Expr<T::Reg>) -> Narrow<T> {
        x.store_as()
    }
}

impl<B: Backend, I: Input<B>, R: TypedOutputs, F: Fn(I::Exprs) -> R> Values<B> for Mapped<I, F> {
    type Out = R;
    fn out(x: R) -> R {
        x
    }
}

impl<B: Backend, I: Values<B>> Values<B> for Lent<'_, I> {
    type Out = I::Out;
    fn out(x: I::Exprs) -> I::Out {
        I::out(x)
    }
    fn plain(&self) -> Option<&Buffer<B, <I::Out as TypedOutputs>::First>> {
        self.0.plain()
    }
}

macro_rules! values_tuple {
    ($($t:ident $i:tt),*) => {
        impl<Bk: Backend, $($t: Values<Bk>),*> Values<Bk> for ($($t,)*) {
            type Out = ($($t::Out,)*);
            fn out(x: Self::Exprs) -> Self::Out {
                ($($t::out(x.$i),)*)
            }
        }
    };
}
values_tuple!(A 0, B 1);
values_tuple!(A 0, B 1, C 2);
values_tuple!(A 0, B 1, C 2, D 3);
