//! Operators of patterns that combine, as their calls take them: named ones and closures, over one value or several, and what is made of results.

use crate::backend::Backend;
use crate::buffer::Buffer;
use crate::element::Scalar;
use crate::error::Result;
use crate::input::Outputs;
use crate::ir::graph;
use crate::ir::{self, Accumulator, Expr, Func, Traced, TracedValue};
use crate::ops::{Combine, combine_func, kept};
use std::sync::Arc;

/// An associative operator on accumulators: a [`Combine`] of one value ([`ByOperator`]), or a closure of values ([`ByClosure`]). The left operand always
/// comes from lower indices.
pub trait Accumulate<A: Traced> {
    /// `a` combined with `b`.
    #[doc(hidden)]
    fn accumulate(&self, a: A, b: A) -> A;

    /// Its graph.
    #[doc(hidden)]
    fn combine_func(&self) -> Result<Arc<Func>>;

    /// The identity, a part each; of an operator that has none, nothing.
    #[doc(hidden)]
    fn identity_bits(&self) -> Vec<u64>;
}

/// An operator on one value, which has an identity.
#[derive(Clone, Copy, Debug)]
pub struct ByOperator<C>(pub(crate) C);

impl<T: Scalar, C: Combine<T>> Accumulate<Expr<T>> for ByOperator<C> {
    fn accumulate(&self, a: Expr<T>, b: Expr<T>) -> Expr<T> {
        self.0.combine(a, b)
    }
    fn combine_func(&self) -> Result<Arc<Func>> {
        combine_func(&self.0)
    }
    fn identity_bits(&self) -> Vec<u64> {
        vec![self.0.identity().to_bits64()]
    }
}

/// A closure as an operator, which has no identity.
#[derive(Clone, Copy, Debug)]
pub struct ByClosure<F>(pub(crate) F);

impl<A: Traced, F: Fn(A, A) -> A> Accumulate<A> for ByClosure<F> {
    fn accumulate(&self, a: A, b: A) -> A {
        (self.0)(a, b)
    }
    fn combine_func(&self) -> Result<Arc<Func>> {
        Ok(Arc::new(ir::trace(|(a, b): (A, A)| (self.0)(a, b))?))
    }
    fn identity_bits(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// What is stored of an accumulator: itself ([`Unchanged`]), or what a closure makes of it ([`Finished`]).
pub trait Finish<A: Traced> {
    /// The stored values.
    type Out: Outputs;

    /// The stored values of an accumulator.
    #[doc(hidden)]
    fn finish(&self, a: A) -> Self::Out;

    /// Its graph.
    #[doc(hidden)]
    fn finish_func(&self) -> Result<Arc<Func>>;
}

/// Accumulators are stored as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unchanged;

impl<A: Outputs + 'static> Finish<A> for Unchanged {
    type Out = A;
    fn finish(&self, a: A) -> A {
        a
    }
    fn finish_func(&self) -> Result<Arc<Func>> {
        kept::<A>("identity", || ir::trace(|a: A| a))
    }
}

/// A closure of accumulators is stored.
#[derive(Clone, Copy, Debug)]
pub struct Finished<F>(pub(crate) F);

impl<A: Traced, R: Outputs, F: Fn(A) -> R> Finish<A> for Finished<F> {
    type Out = R;
    fn finish(&self, a: A) -> R {
        (self.0)(a)
    }
    fn finish_func(&self) -> Result<Arc<Func>> {
        Ok(Arc::new(ir::trace(|a: A| (self.0)(a))?))
    }
}

/// A value of the host for an accumulator: a number, or a tuple of numbers as there is one of parts.
pub trait HostValue<A> {
    /// Its parts, in order.
    #[doc(hidden)]
    fn push_bits(self, out: &mut Vec<u64>);
}

impl<T: Scalar> HostValue<Expr<T>> for T {
    fn push_bits(self, out: &mut Vec<u64>) {
        out.push(self.to_bits64());
    }
}

macro_rules! host_tuple {
    ($($a:ident $v:ident $i:tt),*) => {
        impl<$($a, $v: HostValue<$a>),*> HostValue<($($a,)*)> for ($($v,)*) {
            fn push_bits(self, out: &mut Vec<u64>) {
                $(self.$i.push_bits(out);)*
            }
        }
    };
}
host_tuple!(A V 0, B W 1);
host_tuple!(A V 0, B W 1, C X 2);
host_tuple!(A V 0, B W 1, C X 2, D Y 3);

/// The parts of a value.
pub(crate) fn bits<A>(value: impl HostValue<A>) -> Vec<u64> {
    let mut bits = Vec::new();
    value.push_bits(&mut bits);
    bits
}

/// A constant accumulator, while an operator is traced.
pub(crate) fn constant<A: Accumulator>(bits: &[u64]) -> A {
    let mut parts = A::types().into_iter().zip(bits).map(|(ty, &bits)| TracedValue(graph::with(|g| g.constant(ty, bits))));
    A::from_values(&mut parts)
}

/// All elements, as one line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole;

/// The lines along an axis of a row-major array.
#[derive(Clone, Debug)]
pub struct Axis {
    pub(crate) shape: Vec<u64>,
    pub(crate) axis: usize,
}

/// Segments that start where flags are not zero.
#[derive(Clone, Debug)]
pub struct Flags<H>(pub(crate) H);

/// Runs of equal neighbours among keys.
#[derive(Clone, Debug)]
pub struct Keys<K>(pub(crate) K);

/// Segments that offsets bound, one more of these than there are segments.
#[derive(Debug)]
pub struct Offsets<'a, B: Backend, O>(pub(crate) &'a Buffer<B, O>);

/// A call whose other input is checked first, on the device; see its modifier `checked`.
#[derive(Clone, Copy, Debug)]
pub struct Checked<P>(pub(crate) P);
