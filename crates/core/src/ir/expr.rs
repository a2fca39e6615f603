//! Symbolic values: what the closures that users write compute with.

mod elementary;
mod operators;
mod repeat;
mod saturate;
mod ulp;

use super::OpError;
use super::graph::{self, Value};
use super::node::{BinOp, Func, Param, UnOp};
use crate::element::{Element, Float, Int, Num, Scalar, Ty};
use core::marker::PhantomData;
pub use repeat::{Turn, next_until, next_while, repeat};
pub use ulp::Ulp;

/// A symbolic value of type `T` inside an operator: `Copy`, with Rust's operators and methods.
///
/// ```
/// use isowarp_core::ir::{trace, Expr};
/// let f = trace(|(x, y): (Expr<f32>, Expr<f32>)| x.gt(y).select(x * x + 1.0, y.exp()))?;
/// assert_eq!(f.params.len(), 2);
/// # Ok::<(), isowarp_core::ir::OpError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Expr<T> {
    value: Value,
    of: PhantomData<T>,
}

impl<T: Scalar> Expr<T> {
    pub(crate) fn from_value(value: Value) -> Self {
        Self { value, of: PhantomData }
    }

    pub(crate) fn value(self) -> Value {
        self.value
    }

    fn un<R: Scalar>(self, op: UnOp) -> Expr<R> {
        Expr::from_value(graph::with(|g| {
            let a = g.id(self.value, T::TY);
            g.un(op, a)
        }))
    }

    fn bin<U: Scalar, R: Scalar>(self, op: BinOp, other: Expr<U>) -> Expr<R> {
        Expr::from_value(graph::with(|g| {
            let (a, b) = (g.id(self.value, T::TY), g.id(other.value, U::TY));
            g.bin(op, a, b)
        }))
    }

    /// The same value under the name of the same type: for generic code that has looked at `T::TY`.
    pub(crate) fn same_as<U: Scalar>(self) -> Expr<U> {
        if T::TY == U::TY { Expr::from_value(self.value) } else { self.cast() }
    }

    /// Conversion by value, as Rust's `as`: float to integer truncates and saturates (NaN gives 0), integers wrap, integer to
    /// float rounds to nearest even; to `bool` means "is not zero". See [`saturating_cast`](Self::saturating_cast) for integers that do not wrap.
    #[must_use]
    pub fn cast<U: Scalar>(self) -> Expr<U> {
        Expr::from_value(graph::with(|g| {
            let a = g.id(self.value, T::TY);
            g.cast(a, U::TY)
        }))
    }

    /// The same bits as another type of the same width. A NaN is made canonical first.
    #[must_use]
    pub fn bitcast<U: Scalar>(self) -> Expr<U> {
        Expr::from_value(graph::with(|g| {
            let a = g.id(self.value, T::TY);
            if T::TY.words() != U::TY.words() || T::TY == Ty::Bool || U::TY == Ty::Bool {
                g.fail(OpError::Signature { what: "bitcast", expected: T::TY.to_string(), found: U::TY.to_string() });
            }
            g.bitcast(a, U::TY)
        }))
    }

    /// Equal (false with NaN).
    #[must_use]
    pub fn eq(self, other: impl Into<Self>) -> Expr<bool> {
        self.bin(BinOp::Eq, other.into())
    }

    /// Not equal (true with NaN).
    #[must_use]
    pub fn ne(self, other: impl Into<Self>) -> Expr<bool> {
        self.bin(BinOp::Ne, other.into())
    }
}

impl<T: Num> Expr<T> {
    /// Less than (false with NaN).
    #[must_use]
    pub fn lt(self, other: impl Into<Self>) -> Expr<bool> {
        self.bin(BinOp::Lt, other.into())
    }

    /// Less than or equal (false with NaN).
    #[must_use]
    pub fn le(self, other: impl Into<Self>) -> Expr<bool> {
        self.bin(BinOp::Le, other.into())
    }

    /// Greater than (false with NaN).
    #[must_use]
    pub fn gt(self, other: impl Into<Self>) -> Expr<bool> {
        other.into().bin(BinOp::Lt, self)
    }

    /// Greater than or equal (false with NaN).
    #[must_use]
    pub fn ge(self, other: impl Into<Self>) -> Expr<bool> {
        other.into().bin(BinOp::Le, self)
    }

    /// The smaller. Floats: IEEE 754-2019 minimum, so NaN propagates and -0 is below +0.
    #[must_use]
    pub fn min(self, other: impl Into<Self>) -> Self {
        self.bin(BinOp::Min, other.into())
    }

    /// The larger. Floats: IEEE 754-2019 maximum, so NaN propagates and +0 is above -0.
    #[must_use]
    pub fn max(self, other: impl Into<Self>) -> Self {
        self.bin(BinOp::Max, other.into())
    }

    /// Between the two bounds.
    #[must_use]
    pub fn clamp(self, low: impl Into<Self>, high: impl Into<Self>) -> Self {
        self.max(low).min(high)
    }

    /// Absolute value (integers wrap at the minimum).
    #[must_use]
    pub fn abs(self) -> Self {
        self.un(UnOp::Abs)
    }
}

impl<T: Float> Expr<T> {
    /// `self * a + b`, rounded once.
    #[must_use]
    pub fn mul_add(self, a: impl Into<Self>, b: impl Into<Self>) -> Self {
        let (a, b) = (a.into(), b.into());
        Self::from_value(graph::with(|g| {
            let (x, y, z) = (g.id(self.value, T::TY), g.id(a.value, T::TY), g.id(b.value, T::TY));
            g.fma(x, y, z)
        }))
    }

    /// The product rounded on its own, never fused into a sum.
    #[must_use]
    pub fn mul_rn(self, other: impl Into<Self>) -> Self {
        self.bin(BinOp::MulRn, other.into())
    }

    /// Square root, correctly rounded.
    #[must_use]
    pub fn sqrt(self) -> Self {
        self.un(UnOp::Sqrt)
    }

    /// `1 / self`, correctly rounded.
    #[must_use]
    pub fn recip(self) -> Self {
        let one = if T::TY == Ty::F64 { 1f64.to_bits() } else { u64::from(1f32.to_bits()) };
        Self::from(T::from_bits64(one)).bin(BinOp::Div, self)
    }

    /// Largest whole number not above.
    #[must_use]
    pub fn floor(self) -> Self {
        self.un(UnOp::Floor)
    }

    /// Smallest whole number not below.
    #[must_use]
    pub fn ceil(self) -> Self {
        self.un(UnOp::Ceil)
    }

    /// Whole number towards zero.
    #[must_use]
    pub fn trunc(self) -> Self {
        self.un(UnOp::Trunc)
    }

    /// Nearest whole number, ties to even.
    #[must_use]
    pub fn round_ties_even(self) -> Self {
        self.un(UnOp::Rint)
    }

    /// Whether it is NaN.
    #[must_use]
    pub fn is_nan(self) -> Expr<bool> {
        self.un(UnOp::IsNan)
    }
}

impl Expr<f64> {
    /// The value as an `f32`; of the two around one that is none, that whose last bit is 1. It stands for the value in a rounding to a type with at
    /// least two bits fewer, which so is the only one.
    pub(crate) fn to_odd(self) -> Expr<f32> {
        let nearest = self.cast::<f32>();
        let back = nearest.cast::<f64>();
        let bits = nearest.bitcast::<u32>();
        let towards_zero = bits - back.abs().gt(self.abs()).cast::<u32>();
        select(back.eq(self) | self.is_nan(), bits, towards_zero | 1u32).bitcast()
    }
}

impl<T: Int> Expr<T> {
    /// Number of one bits.
    #[must_use]
    pub fn count_ones(self) -> Expr<u32> {
        self.un(UnOp::CountOnes)
    }

    /// Number of leading zero bits.
    #[must_use]
    pub fn leading_zeros(self) -> Expr<u32> {
        self.un(UnOp::LeadingZeros)
    }

    /// The bits in reverse order.
    #[must_use]
    pub fn reverse_bits(self) -> Self {
        self.un(UnOp::ReverseBits)
    }
}

impl Expr<u32> {
    /// High half of the 64-bit product.
    #[must_use]
    pub fn mul_hi(self, other: impl Into<Self>) -> Self {
        self.bin(BinOp::MulHi, other.into())
    }
}

impl Expr<bool> {
    /// `if_true` where this holds, else `if_false`. Both are computed.
    #[must_use]
    pub fn select<T: Scalar>(self, if_true: impl Into<Expr<T>>, if_false: impl Into<Expr<T>>) -> Expr<T> {
        select(self, if_true, if_false)
    }
}

/// `if_true` where `cond` holds, else `if_false`. Both are computed; see [`branch`] for the other kind.
pub fn select<T: Scalar>(cond: Expr<bool>, if_true: impl Into<Expr<T>>, if_false: impl Into<Expr<T>>) -> Expr<T> {
    let (a, b) = (if_true.into(), if_false.into());
    Expr::from_value(graph::with(|g| {
        let (c, a, b) = (g.id(cond.value, Ty::Bool), g.id(a.value, T::TY), g.id(b.value, T::TY));
        g.select(c, a, b)
    }))
}

/// The value of one of two closures, of which only one is computed where lanes agree. Both are traced.
pub fn branch<T: Scalar>(cond: Expr<bool>, then: impl FnOnce() -> Expr<T>, otherwise: impl FnOnce() -> Expr<T>) -> Expr<T> {
    Expr::from_value(graph::branch(cond.value, T::TY, || then().value, || otherwise().value))
}

/// A constant.
pub fn lit<T: Scalar>(value: T) -> Expr<T> {
    Expr::from_value(graph::with(|g| g.constant(T::TY, canonical(value))))
}

/// A constant's bits: NaN literals are canonical, so that equal sources hash alike.
fn canonical<T: Scalar>(value: T) -> u64 {
    super::eval::canonical_nan(T::TY, value.to_bits64())
}

impl<T: Scalar> From<T> for Expr<T> {
    fn from(value: T) -> Self {
        lit(value)
    }
}

/// An array that an operator fetches from at indices it computes; reading outside gives zero.
#[derive(Clone, Copy, Debug)]
pub struct ArrayExpr<T> {
    param: u16,
    of: PhantomData<T>,
}

/// Array parameter `param` of the graph that is being traced.
#[must_use]
pub fn array_expr<T: Element>(param: u16) -> ArrayExpr<T> {
    ArrayExpr { param, of: PhantomData }
}

impl<T: Element> ArrayExpr<T> {
    /// The element at an index, or zero outside the array (a negative index is outside).
    #[must_use]
    pub fn at<I: Int>(self, index: impl Into<Expr<I>>) -> Expr<T::Reg> {
        let index = index.into();
        Expr::from_value(graph::with(|g| {
            let i = g.id(index.value, I::TY);
            g.fetch(self.param, i)
        }))
    }
}

/// Values that a traced closure takes and returns: a symbolic value or a tuple of up to six.
pub trait Traced: Copy {
    /// The types of its parts.
    fn types() -> Vec<Ty>;
    /// Values of the parameters from `first` on, in the graph that is being traced.
    fn params(first: u16) -> Self;
    /// Its parts.
    fn push_values(self, out: &mut Vec<TracedValue>);
}

/// A value that patterns combine with others of its kind: one, or a tuple of up to six, also of tuples.
pub trait Accumulator: Traced {
    /// Whether it has the index of an element.
    #[doc(hidden)]
    const INDEXED: bool = false;

    /// The same with another index.
    #[doc(hidden)]
    #[must_use]
    fn reindexed(self, _index: impl Fn(Expr<u32>) -> Expr<u32>) -> Self {
        self
    }

    /// The value with these parts, in order.
    #[doc(hidden)]
    fn from_values(parts: &mut impl Iterator<Item = TracedValue>) -> Self;
}

/// [`select`] of each part.
#[must_use]
pub fn select_each<A: Accumulator>(cond: Expr<bool>, if_true: A, if_false: A) -> A {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    if_true.push_values(&mut a);
    if_false.push_values(&mut b);
    let selected = |((a, b), ty): ((&TracedValue, &TracedValue), &Ty)| {
        TracedValue(graph::with(|g| {
            let (c, a, b) = (g.id(cond.value, Ty::Bool), g.id(a.0, *ty), g.id(b.0, *ty));
            g.select(c, a, b)
        }))
    };
    A::from_values(&mut a.iter().zip(&b).zip(&A::types()).map(selected))
}

/// One part of a traced result; opaque.
#[derive(Clone, Copy, Debug)]
pub struct TracedValue(pub(crate) Value);

impl<T: Scalar> Traced for Expr<T> {
    fn types() -> Vec<Ty> {
        vec![T::TY]
    }
    fn params(first: u16) -> Self {
        Self::from_value(graph::with(|g| g.param(first)))
    }
    fn push_values(self, out: &mut Vec<TracedValue>) {
        out.push(TracedValue(self.value));
    }
}

impl<T: Scalar> Accumulator for Expr<T> {
    fn from_values(parts: &mut impl Iterator<Item = TracedValue>) -> Self {
        parts.next().map_or_else(|| lit(T::from_bits64(0)), |part| Self::from_value(part.0))
    }
}

macro_rules! traced_tuple {
    ($($t:ident $i:tt),*) => {
        impl<$($t: Traced),*> Traced for ($($t,)*) {
            fn types() -> Vec<Ty> {
                let mut v = Vec::new();
                $(v.extend($t::types());)*
                v
            }
            #[allow(unused_assignments, reason = "the last element has no successor to count for")]
            fn params(first: u16) -> Self {
                let mut next = first;
                ($({
                    let at = next;
                    next += $t::types().len() as u16;
                    $t::params(at)
                },)*)
            }
            fn push_values(self, out: &mut Vec<TracedValue>) {
                $(self.$i.push_values(out);)*
            }
        }

        impl<$($t: Accumulator),*> Accumulator for ($($t,)*) {
            fn from_values(parts: &mut impl Iterator<Item = TracedValue>) -> Self {
                ($($t::from_values(parts),)*)
            }
        }
    };
}
traced_tuple!(A 0, B 1);
traced_tuple!(A 0, B 1, C 2);
traced_tuple!(A 0, B 1, C 2, D 3);
traced_tuple!(A 0, B 1, C 2, D 3, E 4);
traced_tuple!(A 0, B 1, C 2, D 3, E 4, F 5);

/// Traces a closure from values to values into a [`Func`] whose parameters are its arguments' parts.
///
/// # Errors
/// [`OpError`] if the closure uses a value of another trace or something that the strict contract cannot express.
pub fn trace<A: Traced, R: Traced>(f: impl FnOnce(A) -> R) -> Result<Func, OpError> {
    pack(A::types().into_iter().map(Param::Value).collect(), || f(A::params(0)))
}

/// Traces `build` with the parameters given.
///
/// # Errors
/// As [`trace`].
pub fn pack<R: Traced>(params: Vec<Param>, build: impl FnOnce() -> R) -> Result<Func, OpError> {
    let open = graph::Open::new(params);
    let mut values = Vec::new();
    build().push_values(&mut values);
    closed(open, &values)
}

/// The function that was traced.
pub(crate) fn closed(open: graph::Open, results: &[TracedValue]) -> Result<Func, OpError> {
    open.close(&values(results))
}

/// The values by themselves.
pub(crate) fn values(of: &[TracedValue]) -> Vec<graph::Value> {
    of.iter().map(|v| v.0).collect()
}
