//! Operators of calls: named ones and closures, over one value or several, and the values that are stored of results.

use crate::element::{Scalar, Ty};
use crate::error::{Error, Result};
use crate::input::Outputs;
use crate::ir::graph;
use crate::ir::{self, Accumulator, Evaluator, Expr, Func, Traced, TracedValue};
use crate::ops::{Combine, combine_func, is_nan, kept, same_value};
use std::sync::Arc;

/// An associative operator on accumulators: a [`Combine`] of one value ([`ByOperator`]), or a closure of values ([`ByClosure`], with an identity
/// [`Associative`]). The left operand always comes from lower indices.
pub trait Accumulate<A: Traced> {
    /// `a` combined with `b`.
    #[doc(hidden)]
    fn accumulate(&self, a: A, b: A) -> A;

    /// The operator's graph.
    #[doc(hidden)]
    fn combine_func(&self) -> Result<Arc<Func>>;

    /// The identity, a part each; of an operator that has none, nothing.
    #[doc(hidden)]
    fn identity_bits(&self) -> Vec<u64>;

    /// The result of combining nothing, where it has one.
    #[doc(hidden)]
    fn of_nothing_bits(&self) -> Option<Vec<u64>>;

    /// Its name in messages.
    #[doc(hidden)]
    fn name(&self) -> &'static str;
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
    fn of_nothing_bits(&self) -> Option<Vec<u64>> {
        Some(vec![self.0.of_nothing()?.to_bits64()])
    }
    fn name(&self) -> &'static str {
        self.0.name()
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
    fn of_nothing_bits(&self) -> Option<Vec<u64>> {
        None
    }
    fn name(&self) -> &'static str {
        "reduce"
    }
}

/// A closure with an identity as an operator.
#[derive(Clone, Debug)]
pub struct Associative<F> {
    pub(crate) f: F,
    /// A part each.
    pub(crate) identity: Vec<u64>,
}

impl<A: Traced, F: Fn(A, A) -> A> Accumulate<A> for Associative<F> {
    fn accumulate(&self, a: A, b: A) -> A {
        (self.f)(a, b)
    }
    fn combine_func(&self) -> Result<Arc<Func>> {
        let func = ir::trace(|(a, b): (A, A)| (self.f)(a, b))?;
        check_identity(&func, &A::types(), &self.identity)?;
        Ok(Arc::new(func))
    }
    fn identity_bits(&self) -> Vec<u64> {
        self.identity.clone()
    }
    fn of_nothing_bits(&self) -> Option<Vec<u64>> {
        Some(self.identity.clone())
    }
    fn name(&self) -> &'static str {
        "reduce"
    }
}

/// Fails for an identity that an operator changes when it combines it with itself.
fn check_identity(func: &Func, types: &[Ty], identity: &[u64]) -> Result<()> {
    let mut e = Evaluator::new(func);
    e.eval_one(&[identity, identity].concat());
    for (k, (&ty, &bits)) in types.iter().zip(identity).enumerate() {
        let found = e.result(k)[0];
        if !(same_value(ty, found, bits) || is_nan(ty, found)) {
            let reason = format!(
                "part {k} of it is changed where the operator combines it with itself; name the value that leaves others unchanged"
            );
            return Err(Error::InvalidArgument { what: "identity", reason });
        }
    }
    Ok(())
}

/// A flag: it is set where a word is not zero, or a condition holds.
pub trait Flag {
    /// 0 where it is not set.
    #[doc(hidden)]
    fn word(self) -> Expr<u32>;

    /// Whether it is set.
    #[doc(hidden)]
    fn holds(self) -> Expr<bool>;
}

impl Flag for Expr<u32> {
    fn word(self) -> Expr<u32> {
        self
    }
    fn holds(self) -> Expr<bool> {
        self.ne(0)
    }
}

impl Flag for Expr<bool> {
    fn word(self) -> Expr<u32> {
        self.cast()
    }
    fn holds(self) -> Expr<bool> {
        self
    }
}

/// Stored values of an accumulator: itself ([`Unchanged`]), or those of a closure ([`Finished`]).
pub trait Finish<A: Traced> {
    /// The stored values.
    type Out: Outputs;

    /// Whether they are the accumulators.
    #[doc(hidden)]
    const UNCHANGED: bool = false;

    /// The stored values of an accumulator.
    #[doc(hidden)]
    fn finish(&self, a: A) -> Self::Out;

    /// The graph of storing.
    #[doc(hidden)]
    fn finish_func(&self) -> Result<Arc<Func>>;
}

/// Accumulators are stored as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unchanged;

impl<A: Outputs + 'static> Finish<A> for Unchanged {
    type Out = A;
    const UNCHANGED: bool = true;
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no value of an accumulator `{A}`",
    label = "a value of the accumulator's type, or a tuple of such: `1.0` for `Expr<f32>`, `(0.0, 0)` for `(Expr<f32>, Expr<u32>)`"
)]
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
