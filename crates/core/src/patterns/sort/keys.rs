//! Inputs whose elements have a type that they are stored as, which is what a sort moves.

use crate::backend::Backend;
use crate::buffer::{Buffer, View};
use crate::element::{Element, Int, Scalar};
use crate::error::Result;
use crate::input::{Collector, Counting, Index, Input, Lent, Mapped, Narrow, Outputs, Permuted, Source, index, scalar};
use crate::ir::Expr;

/// An [`Input`] of keys, or of values that travel with them: a buffer, a view, an index, or what is mapped, to a value or a
/// [narrower one](Expr::store_as).
pub trait SortKeys<B: Backend>: Input<B> {
    /// The type that an element is stored as.
    type Element: Element;

    /// An element as it is stored.
    #[doc(hidden)]
    type Key: Outputs<Buffers<B> = Buffer<B, Self::Element>>;

    /// An element as it is stored.
    #[doc(hidden)]
    fn key(value: Self::Exprs) -> Self::Key;

    /// The buffer that it is, if it is one.
    #[doc(hidden)]
    fn plain(&self) -> Option<&Buffer<B, Self::Element>> {
        None
    }
}

impl<B: Backend, T: Element> SortKeys<B> for &Buffer<B, T> {
    type Element = T;
    type Key = Narrow<T>;
    fn key(value: Expr<T::Reg>) -> Narrow<T> {
        value.store_as()
    }
    fn plain(&self) -> Option<&Buffer<B, T>> {
        Some(self)
    }
}

impl<B: Backend, T: Element> SortKeys<B> for &View<B, T> {
    type Element = T;
    type Key = Narrow<T>;
    fn key(value: Expr<T::Reg>) -> Narrow<T> {
        value.store_as()
    }
}

impl<B: Backend, T: Element> SortKeys<B> for View<B, T> {
    type Element = T;
    type Key = Narrow<T>;
    fn key(value: Expr<T::Reg>) -> Narrow<T> {
        value.store_as()
    }
}

impl<B: Backend, T: Element, X: Int, I: Input<B, Exprs = Expr<X>>> SortKeys<B> for Permuted<'_, B, T, I> {
    type Element = T;
    type Key = Narrow<T>;
    fn key(value: Expr<T::Reg>) -> Narrow<T> {
        value.store_as()
    }
}

impl<B: Backend, T: Scalar + Element<Reg = T>> SortKeys<B> for Index<T> {
    type Element = T;
    type Key = Expr<T>;
    fn key(value: Expr<T>) -> Expr<T> {
        value
    }
}

impl<B: Backend, T: Scalar + Element<Reg = T>> SortKeys<B> for Counting<T> {
    type Element = T;
    type Key = Expr<T>;
    fn key(value: Expr<T>) -> Expr<T> {
        value
    }
}

impl<B, I, K, R, F> SortKeys<B> for Mapped<I, F>
where
    B: Backend,
    I: Input<B>,
    K: Element,
    R: Outputs<Buffers<B> = Buffer<B, K>>,
    F: Fn(I::Exprs) -> R,
{
    type Element = K;
    type Key = R;
    fn key(value: R) -> R {
        value
    }
}

impl<B: Backend, I: SortKeys<B>> SortKeys<B> for Lent<'_, I> {
    type Element = I::Element;
    type Key = I::Key;
    fn key(value: I::Exprs) -> I::Key {
        I::key(value)
    }
    fn plain(&self) -> Option<&Buffer<B, I::Element>> {
        self.0.plain()
    }
}

/// The index of an element, in the array or in its row of so many.
#[derive(Clone, Copy, Debug)]
pub struct IndexInRow(pub(super) Option<u64>);

impl IndexInRow {
    /// The length of a row, as what indices are divided by. Rows that are longer than all keys are none.
    fn row(self) -> Option<crate::input::HostScalar<u32>> {
        self.0.map(|n| scalar(n.min(u32::MAX.into()) as u32))
    }
}

impl Source for IndexInRow {
    type Exprs = Expr<u32>;
    fn exprs(&self, next: &mut u16) -> Expr<u32> {
        let i = index().exprs(next);
        self.row().map_or(i, |n| i % Source::exprs(&n, next))
    }
}

impl<B: Backend> Input<B> for IndexInRow {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        index().collect(c)?;
        self.row().map_or(Ok(()), |n| n.collect(c))
    }
}

impl<B: Backend> SortKeys<B> for IndexInRow {
    type Element = u32;
    type Key = Expr<u32>;
    fn key(value: Expr<u32>) -> Expr<u32> {
        value
    }
}
