//! The elementary functions as methods of symbolic values.

use super::Expr;
use crate::element::Ty;
use crate::ir::graph;
use crate::numerics::Func as Elementary;

macro_rules! functions1 {
    ($($(#[$doc:meta])* $method:ident $func:ident;)*) => {
        impl Expr<f32> {$(
            $(#[$doc])*
            #[must_use]
            pub fn $method(self) -> Self {
                Self::from_value(graph::with(|g| {
                    let a = g.id(self.value, Ty::F32);
                    g.call1(Elementary::$func, a)
                }))
            }
        )*}
    };
}
functions1! {
    /// `e^x`, within 1 ULP.
    exp Exp;
    /// `2^x`, within 1 ULP.
    exp2 Exp2;
    /// `e^x - 1`, within 1 ULP.
    exp_m1 Expm1;
    /// Natural logarithm, within 1 ULP.
    ln Log;
    /// Logarithm to base 2, within 1 ULP.
    log2 Log2;
    /// Logarithm to base 10, within 1 ULP.
    log10 Log10;
    /// `ln(1 + x)`, within 1 ULP.
    ln_1p Log1p;
    /// Sine, within 1 ULP for every finite argument.
    sin Sin;
    /// Cosine, within 1 ULP for every finite argument.
    cos Cos;
    /// Tangent, within 1 ULP for every finite argument.
    tan Tan;
    /// Arc sine, within 1 ULP.
    asin Asin;
    /// Arc cosine, within 1 ULP.
    acos Acos;
    /// Arc tangent, within 1 ULP.
    atan Atan;
    /// Hyperbolic sine, within 1 ULP.
    sinh Sinh;
    /// Hyperbolic cosine, within 1 ULP.
    cosh Cosh;
    /// Hyperbolic tangent, within 1 ULP.
    tanh Tanh;
    /// Error function, within 1 ULP.
    erf Erf;
    /// Cube root, within 1 ULP.
    cbrt Cbrt;
    /// `1 / sqrt(x)`, within 1 ULP.
    rsqrt Rsqrt;
}

macro_rules! functions2 {
    ($($(#[$doc:meta])* $method:ident $func:ident;)*) => {
        impl Expr<f32> {$(
            $(#[$doc])*
            #[must_use]
            pub fn $method(self, other: impl Into<Self>) -> Self {
                let other = other.into();
                Self::from_value(graph::with(|g| {
                    let (a, b) = (g.id(self.value, Ty::F32), g.id(other.value, Ty::F32));
                    g.call2(Elementary::$func, a, b)
                }))
            }
        )*}
    };
}
functions2! {
    /// `self` to the power `other`, within 1 ULP.
    powf Pow;
    /// The angle of the point (`other`, `self`), within 1 ULP.
    atan2 Atan2;
}
