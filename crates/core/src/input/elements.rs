//! Inputs that have an element type.

use super::{Counting, HostScalar, Index, Input, Mapped, Narrow, Outputs, Permuted};
use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar, View};
use crate::element::{Element, Int, Scalar};
use crate::ir::Expr;

/// An [`Input`] with one value to each element, which has an element type that it can be stored as.
pub trait Elements<B: Backend>: Input<B, Exprs = Expr<<Self::Element as Element>::Reg>> {
    /// The element type.
    type Element: Element;

    /// The buffer that it is, if it is one.
    #[doc(hidden)]
    fn plain(&self) -> Option<&Buffer<B, Self::Element>> {
        None
    }
}

impl<B: Backend, T: Element> Elements<B> for &Buffer<B, T> {
    type Element = T;
    fn plain(&self) -> Option<&Buffer<B, T>> {
        Some(self)
    }
}

impl<B: Backend, T: Element> Elements<B> for &View<B, T> {
    type Element = T;
}

impl<B: Backend, T: Scalar + Element<Reg = T>> Elements<B> for Index<T> {
    type Element = T;
}

impl<B: Backend, T: Scalar + Element<Reg = T>> Elements<B> for Counting<T> {
    type Element = T;
}

impl<B: Backend, T: Element, X: Int, I: Input<B, Exprs = Expr<X>>> Elements<B> for Permuted<'_, B, T, I> {
    type Element = T;
}

impl<B: Backend, I: Input<B>, T: Scalar + Element<Reg = T>, F: Fn(I::Exprs) -> Expr<T>> Elements<B> for Mapped<I, F> {
    type Element = T;
}

impl<B: Backend, T: Element> Elements<B> for View<B, T> {
    type Element = T;
}

/// An [`Input`] whose values can be stored as they are: each in its element type, a tuple's in a buffer each.
#[diagnostic::on_unimplemented(
    message = "the values of `{Self}` cannot be stored as they are",
    label = "name the values that are stored by `finish`"
)]
pub trait Items<B: Backend>: Input<B> {
    /// The stored values.
    type Item: Outputs;

    /// Whether it is a buffer, of which elements outside it are zero.
    #[doc(hidden)]
    const PLAIN: bool = false;

    /// The stored values of an element.
    #[doc(hidden)]
    fn item(x: Self::Exprs) -> Self::Item;
}

impl<B: Backend, T: Element> Items<B> for &Buffer<B, T> {
    type Item = Narrow<T>;
    const PLAIN: bool = true;
    fn item(x: Expr<T::Reg>) -> Narrow<T> {
        x.store_as()
    }
}

macro_rules! narrow_items {
    ($($of:ty),*) => {
        $(impl<B: Backend, T: Element> Items<B> for $of {
            type Item = Narrow<T>;
            fn item(x: Expr<T::Reg>) -> Narrow<T> {
                x.store_as()
            }
        })*
    };
}
narrow_items!(&View<B, T>, View<B, T>, &DeviceScalar<B, T>, DeviceScalar<B, T>);

impl<B: Backend, T: Element, X: Int, I: Input<B, Exprs = Expr<X>>> Items<B> for Permuted<'_, B, T, I> {
    type Item = Narrow<T>;
    fn item(x: Expr<T::Reg>) -> Narrow<T> {
        x.store_as()
    }
}

macro_rules! scalar_items {
    ($($of:ident),*) => {
        $(impl<B: Backend, T: Scalar + Element<Reg = T>> Items<B> for $of<T> {
            type Item = Expr<T>;
            fn item(x: Expr<T>) -> Expr<T> {
                x
            }
        })*
    };
}
scalar_items!(HostScalar, Index, Counting);

impl<B: Backend, I: Input<B>, R: Outputs, F: Fn(I::Exprs) -> R> Items<B> for Mapped<I, F> {
    type Item = R;
    fn item(x: R) -> R {
        x
    }
}

macro_rules! item_tuple {
    ($($t:ident $i:tt),*) => {
        impl<Bk: Backend, $($t: Items<Bk>),*> Items<Bk> for ($($t,)*) {
            type Item = ($($t::Item,)*);
            fn item(x: Self::Exprs) -> Self::Item {
                ($($t::item(x.$i),)*)
            }
        }
    };
}
item_tuple!(A 0, B 1);
item_tuple!(A 0, B 1, C 2);
item_tuple!(A 0, B 1, C 2, D 3);
