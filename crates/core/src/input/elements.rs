//! Inputs that have an element type.

use super::{Counting, Index, Input, Mapped, Permuted};
use crate::backend::Backend;
use crate::buffer::{Buffer, View};
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
