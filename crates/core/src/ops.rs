//! Operators that combine two values of one type: built-in ones, and your own.

use crate::element::{Float, Int, Num, Scalar, Ty};
use crate::error::{Error, Result};
use crate::ir::{self, Evaluator, Expr, Func, OpError};
use std::any::TypeId;
use std::cell::RefCell;
use std::sync::Arc;

/// An associative operator on values of type `T`: what [reductions](crate::patterns::Reduce) and [scans](crate::patterns::Scan)
/// combine with. It need not commute: the left operand always comes from lower indices.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operator on `{T}`",
    note = "operators are `Sum`, `Max` and their kin, and `Op::associative(identity, |a, b| ..)`; closures go to `scan_by` and `reduce_by`"
)]
pub trait Combine<T: Scalar> {
    /// `a` combined with `b`, `a` from lower indices.
    fn combine(&self, a: Expr<T>, b: Expr<T>) -> Expr<T>;
    /// The value that leaves others unchanged: what an exclusive scan starts with. It is no value to start from: patterns combine with it as often
    /// as suits them, or not at all. One that is not even combined with itself to itself is refused.
    fn identity(&self) -> T;
    /// The result of reducing nothing: the identity, or `None` where nothing has no value (a minimum).
    fn of_nothing(&self) -> Option<T> {
        Some(self.identity())
    }
    /// The operator's name in messages.
    fn name(&self) -> &'static str;
    /// The identity, where there is one.
    #[doc(hidden)]
    fn known_identity(&self) -> Option<T> {
        Some(self.identity())
    }
    /// Whether the name and the type say all about the operator, so that it need not be traced at every call.
    #[doc(hidden)]
    fn is_built_in(&self) -> bool {
        false
    }
}

impl<T: Scalar, C: Combine<T>> Combine<T> for &C {
    fn combine(&self, a: Expr<T>, b: Expr<T>) -> Expr<T> {
        (**self).combine(a, b)
    }
    fn identity(&self) -> T {
        (**self).identity()
    }
    fn of_nothing(&self) -> Option<T> {
        (**self).of_nothing()
    }
    fn name(&self) -> &'static str {
        (**self).name()
    }
    fn known_identity(&self) -> Option<T> {
        (**self).known_identity()
    }
    fn is_built_in(&self) -> bool {
        (**self).is_built_in()
    }
}

/// The graph of an operator.
pub(crate) fn combine_func<T: Scalar>(op: &impl Combine<T>) -> Result<Arc<Func>> {
    let trace = || ir::trace(|(a, b): (Expr<T>, Expr<T>)| op.combine(a, b));
    if op.is_built_in() {
        return kept::<T>(op.name(), trace);
    }
    let func = trace()?;
    if let Some(identity) = op.known_identity() {
        check_identity::<T>(&func, identity)?;
    }
    Ok(Arc::new(func))
}

/// Fails for an identity that an operator changes when it combines it with itself. That holds of every identity, whatever values the operator is for;
/// what NaN comes of says nothing.
fn check_identity<T: Scalar>(func: &Func, identity: T) -> Result<()> {
    let found: T = combined(func, identity, identity);
    if same_value(T::TY, found.to_bits64(), identity.to_bits64()) || is_nan(T::TY, found.to_bits64()) {
        return Ok(());
    }
    let reason = format!(
        "{identity:?} is no identity of the operator, which makes {found:?} of it and itself; name the value that leaves others unchanged"
    );
    Err(Error::InvalidArgument { what: "identity", reason })
}

/// Combines two values by an operator.
pub(crate) fn combined<T: Scalar>(func: &Func, a: T, b: T) -> T {
    let mut e = Evaluator::new(func);
    e.eval_one(&[a.to_bits64(), b.to_bits64()]);
    T::from_bits64(e.result(0)[0])
}

/// Whether two values are equal, as -0 and 0 are.
pub(crate) fn same_value(ty: Ty, a: u64, b: u64) -> bool {
    let value = |bits: u64| if ty.is_float() && bits << (65 - 32 * ty.words()) == 0 { 0 } else { bits };
    value(a) == value(b)
}

/// Whether a value is NaN.
pub(crate) fn is_nan(ty: Ty, bits: u64) -> bool {
    match ty {
        Ty::F32 => f32::from_bits(bits as u32).is_nan(),
        Ty::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

/// The graph of a function of this crate that its name and the type `T` determine, traced at its first use on a thread.
pub(crate) fn kept<T: 'static>(name: &'static str, trace: impl FnOnce() -> Result<Func, OpError>) -> Result<Arc<Func>> {
    type Kept = Vec<(TypeId, &'static str, Arc<Func>)>;
    thread_local! {
        static KEPT: RefCell<Kept> = const { RefCell::new(Vec::new()) };
    }
    let ty = TypeId::of::<T>();
    let find = |all: &Kept| all.iter().find(|k| k.0 == ty && k.1 == name).map(|k| Arc::clone(&k.2));
    if let Some(func) = KEPT.with_borrow(find) {
        return Ok(func);
    }
    let func = Arc::new(trace()?);
    KEPT.with_borrow_mut(|all| all.push((ty, name, Arc::clone(&func))));
    Ok(func)
}

/// A constant of a type, by bits: for generic code over the register types.
fn bits_of<T: Scalar>(f32_: f32, f64_: f64, int: u64) -> T {
    T::from_bits64(match T::TY {
        Ty::F32 => u64::from(f32_.to_bits()),
        Ty::F64 => f64_.to_bits(),
        _ => int,
    })
}

/// The least and the greatest value of a type.
fn extremes<T: Scalar>() -> (T, T) {
    let (low, high) = match T::TY {
        Ty::I32 => (u64::from(i32::MIN as u32), i32::MAX as u64),
        Ty::I64 => (i64::MIN as u64, i64::MAX as u64),
        Ty::U32 => (0, u64::from(u32::MAX)),
        Ty::Bool => (0, 1),
        _ => (0, u64::MAX),
    };
    (bits_of(f32::NEG_INFINITY, f64::NEG_INFINITY, low), bits_of(f32::INFINITY, f64::INFINITY, high))
}

/// Sum; integers wrap. Nothing sums to zero. The identity of a float sum is +0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum;
impl<T: Num> Combine<T> for Sum {
    fn combine(&self, a: Expr<T>, b: Expr<T>) -> Expr<T> {
        a + b
    }
    fn identity(&self) -> T {
        bits_of(0.0, 0.0, 0)
    }
    fn name(&self) -> &'static str {
        "sum"
    }
    fn is_built_in(&self) -> bool {
        true
    }
}

/// Product; integers wrap. The product of nothing is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Product;
impl<T: Num> Combine<T> for Product {
    fn combine(&self, a: Expr<T>, b: Expr<T>) -> Expr<T> {
        a * b
    }
    fn identity(&self) -> T {
        bits_of(1.0, 1.0, 1)
    }
    fn name(&self) -> &'static str {
        "product"
    }
    fn is_built_in(&self) -> bool {
        true
    }
}

/// Minimum (floats: IEEE 754-2019 minimum). Nothing has no minimum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Min;
impl<T: Num> Combine<T> for Min {
    fn combine(&self, a: Expr<T>, b: Expr<T>) -> Expr<T> {
        a.min(b)
    }
    fn identity(&self) -> T {
        extremes().1
    }
    fn of_nothing(&self) -> Option<T> {
        None
    }
    fn name(&self) -> &'static str {
        "min"
    }
    fn is_built_in(&self) -> bool {
        true
    }
}

/// Maximum (floats: IEEE 754-2019 maximum). Nothing has no maximum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Max;
impl<T: Num> Combine<T> for Max {
    fn combine(&self, a: Expr<T>, b: Expr<T>) -> Expr<T> {
        a.max(b)
    }
    fn identity(&self) -> T {
        extremes().0
    }
    fn of_nothing(&self) -> Option<T> {
        None
    }
    fn name(&self) -> &'static str {
        "max"
    }
    fn is_built_in(&self) -> bool {
        true
    }
}

macro_rules! bit_op {
    ($(#[$doc:meta])* $name:ident, $text:literal, $op:tt, $identity:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;
        impl<T: Int> Combine<T> for $name
        where
            Expr<T>: core::ops::BitAnd<Output = Expr<T>> + core::ops::BitOr<Output = Expr<T>> + core::ops::BitXor<Output = Expr<T>>,
        {
            fn combine(&self, a: Expr<T>, b: Expr<T>) -> Expr<T> {
                a $op b
            }
            fn identity(&self) -> T {
                T::from_bits64($identity)
            }
            fn name(&self) -> &'static str {
                $text
            }
            fn is_built_in(&self) -> bool {
                true
            }
        }
    };
}
bit_op!(
    /// Bitwise and of integers. Nothing gives all ones.
    And, "and", &, u64::MAX
);
bit_op!(
    /// Bitwise or of integers. Nothing gives zero.
    Or, "or", |, 0
);
bit_op!(
    /// Bitwise exclusive or of integers. Nothing gives zero.
    Xor, "xor", ^, 0
);

/// An operator of your own; see [`Op::associative`].
#[derive(Clone, Copy, Debug)]
pub struct Op;

/// See [`Op::associative`].
#[derive(Clone, Copy, Debug)]
pub struct Custom<T, F> {
    identity: T,
    f: F,
}

impl Op {
    /// An associative operator with its identity: the value that leaves every other one unchanged, on either side. Order is kept, so it need not
    /// commute. The identity is no initial value. An exclusive scan starts with it, a reduction of nothing and an empty segment give it, and that is
    /// consistent only where it is neutral: patterns refuse one that combined with itself gives another value ([`Error::InvalidArgument`]), such as 100 for a
    /// sum. To start from another value, combine it with the result.
    ///
    /// ```
    /// use isowarp_core::ops::Op;
    /// // log(sum(exp(x))), without overflow
    /// let lse = Op::associative(f32::NEG_INFINITY, |a, b| a.max(b) + (-(a - b).abs()).exp().ln_1p());
    /// # let _ = lse;
    /// ```
    pub fn associative<T: Scalar, F: Fn(Expr<T>, Expr<T>) -> Expr<T>>(identity: T, f: F) -> Custom<T, F> {
        Custom { identity, f }
    }
}

impl<T: Scalar, F: Fn(Expr<T>, Expr<T>) -> Expr<T>> Combine<T> for Custom<T, F> {
    fn combine(&self, a: Expr<T>, b: Expr<T>) -> Expr<T> {
        (self.f)(a, b)
    }
    fn identity(&self) -> T {
        self.identity
    }
    fn name(&self) -> &'static str {
        "custom operator"
    }
}

/// A number as a float, rounded to nearest even.
pub(crate) fn float_as<T: Float>(x: f64) -> T {
    bits_of(x as f32, x, 0)
}

/// A count as a float, rounded to nearest even.
pub(crate) fn count_as<T: Float>(n: u64) -> T {
    bits_of(n as f32, n as f64, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<T: Scalar>(op: impl Combine<T>) -> Option<String> {
        combine_func(&op).err().map(|e| e.to_string())
    }

    #[test]
    fn an_identity_that_its_operator_changes_is_refused() {
        let found = refused(Op::associative(100u32, |a, b| a + b)).expect("refused");
        assert!(found.contains("identity: 100 is no identity of the operator, which makes 200 of it and itself"), "{found}");
        assert!(refused(Op::associative(1.0f64, |a, b| a + b)).is_some() && refused(Op::associative(2i64, |a, b| a * b)).is_some());
    }

    #[test]
    fn identities_of_every_kind_are_taken() {
        assert_eq!(refused(Op::associative(-0.0f32, |a, b| a + b)), None);
        assert_eq!(refused(Op::associative(0.0f32, |a, b| a - b)), None);
        assert_eq!(refused(Op::associative(0i32, crate::ir::Expr::max)), None, "of values that are not below it");
        assert_eq!(refused(Op::associative(f32::INFINITY, crate::ir::Expr::min)), None);
        // NaN is what infinities give here.
        assert_eq!(refused(Op::associative(f32::NEG_INFINITY, |a, b| a.max(b) + (-(a - b).abs()).exp().ln_1p())), None);
        assert_eq!(
            refused(Op::associative(1u32 << 16, |f, g| ((f >> 16) * (g >> 16)) << 16 | (((f & 0xffff) * (g >> 16) + g) & 0xffff))),
            None
        );
    }
}
