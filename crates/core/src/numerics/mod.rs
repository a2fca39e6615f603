//! Elementary functions with one result on every backend.
//!
//! GPUs, drivers and C libraries each have their own sine. Here every function is written once, over [`Arith`], in
//! operations that IEEE 754 rounds in one way only. Run over [`Native`] it is the CPU's result; traced over symbols it
//! becomes WGSL, PTX and CUDA C++ with the same bits. [`Func`] names the functions for tracers and tables.
//!
//! ```
//! use isowarp_core::numerics::{self, Func, Native};
//!
//! assert_eq!(numerics::exp::<Native>(1.0), std::f32::consts::E);
//! assert_eq!(Func::Pow.eval2(2.0, 10.0), 1024.0);
//! ```
//!
//! | function | method | largest error, ULP | measured over | operations |
//! |---|---|---|---|---|
//! | [`exp`] | x = n ln 2 + r, polynomial of degree 6 | 0.892 | all | 17 |
//! | [`exp2`] | x = n + r, polynomial of degree 6 | 0.894 | all | 13 |
//! | [`expm1`] | as exp, leading terms in two floats | 0.906 | all | 29 |
//! | [`log`] | x = 2^k (1 + f), polynomial of degree 10, two-float sum | 0.902 | all | 24 |
//! | [`log2`] | as log | 0.921 | all | 24 |
//! | [`log10`] | as log | 0.978 | all | 26 |
//! | [`log1p`] | as log, 1 + x in two floats | 0.914 | all | 41 |
//! | [`sin`] | Cody-Waite up to 8192, Payne-Hanek above, degree 7 | 0.884 | all | 30 |
//! | [`cos`] | as sin, degree 8 | 0.883 | all | 29 |
//! | [`tan`] | as sin, degree 15, reciprocal in odd quadrants | 0.910 | all | 45 |
//! | [`asin`] | degree 11, half-angle above 1/2 | 0.739 | all | 43 |
//! | [`acos`] | as asin | 0.697 | all | 50 |
//! | [`atan`] | degree 19, reciprocal from 1 on | 0.909 | all | 43 |
//! | [`atan2`] | as atan, quotient in two floats | 0.933 | 2.7e8 pairs | 66 |
//! | [`sinh`] | addition theorem on 2^n and r | 0.780 | all | 42 |
//! | [`cosh`] | as sinh | 0.778 | all | 35 |
//! | [`tanh`] | degree 15 up to 1, then 1 - 2/(e^2x + 1) | 0.938 | all | 43 |
//! | [`erf`] | degree 13 up to 1, then 1 - e^p(x) | 0.986 | all | 39 |
//! | [`rsqrt`] | seed, Newton steps of third order | 0.501 | all | 21 |
//! | [`cbrt`] | as rsqrt, from x^(-1/3) | 0.501 | all | 34 |
//! | [`pow`] | 2^(y log2 x) with the logarithm in two floats | 0.985 | 2.7e8 pairs, and a search about the worst | 85 |
//! | [`soft_div`] | reciprocal by Newton, Markstein's correction | 0.5 | 6.1e8 pairs | 22 |
//! | [`soft_sqrt`] | as rsqrt, Markstein's correction | 0.5 | all | 21 |
//!
//! The error is |result - exact| in units in the last place of the exact result, by `examples/ulp.rs`; 1 is the limit
//! for every function, and the tests hold it. Operations are those of the common path (floating-point, integer,
//! comparisons, selects and the branch; sign changes are free), as the tests count them.
//!
//! Overflow, underflow, huge angles and special values lie behind an [`Arith::branch`] where they would cost the
//! common path more than a select or two. A subnormal result is a normal one scaled by powers of two of which the last
//! alone rounds.
//!
//! Polynomials are minimax fits (Remez exchange in 140-bit arithmetic, with coefficients rounded to f32 from the lowest
//! degree up, each time fitting the rest again). Constants stand as bits, with their decimal value beside them.
//! Methods: Cody & Waite, *Software Manual for the Elementary Functions*, 1980; Payne & Hanek, *Radian reduction for
//! trigonometric functions*, SIGNUM Newsletter 18(1), 1983; Dekker, *A floating-point technique for extending the
//! available precision*, Numerische Mathematik 18, 1971; Muller et al., *Handbook of Floating-Point Arithmetic*,
//! 2nd ed., 2018.

mod arith;
mod divide;
mod erf;
mod exp;
mod hyper;
mod inverse;
mod log;
mod parts;
mod pow;
mod reduce;
mod root;
mod trig;
mod ways;

#[cfg(test)]
mod tests;

pub use arith::{Arith, Native, fma_exact};
pub use divide::soft_div;
pub(crate) use divide::{div_anywhere, soft_reciprocal};
pub use erf::erf;
pub use exp::{exp, exp2, expm1};
pub use hyper::{cosh, sinh, tanh};
pub use inverse::{acos, asin, atan, atan2};
pub use log::{log, log1p, log2, log10};
pub use pow::pow;
pub(crate) use root::sqrt_anywhere;
pub use root::{cbrt, rsqrt, soft_sqrt};
pub use trig::{cos, sin, sincos, tan};
pub(crate) use ways::{Of, Ways, f32_to_i32, f32_to_u32};

/// Lanes that a function goes over.
pub(crate) trait OverLanes<A: Arith> {
    /// Applies `f` to the two arguments of each lane; a function of one argument ignores the second.
    fn each(self, f: impl Fn(A::F, A::F) -> A::F);
}

macro_rules! registry {
    (one { $($one:ident = $one_fn:ident),* $(,)? } two { $($two:ident = $two_fn:ident),* $(,)? }) => {
        /// The elementary functions by name, for tracers and tables.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Func {
            $(#[doc = concat!("[`", stringify!($one_fn), "`]")] $one,)*
            $(#[doc = concat!("[`", stringify!($two_fn), "`]")] $two,)*
        }

        impl Func {
            /// Every function, those of one argument first.
            pub const ALL: &[Self] = &[$(Self::$one,)* $(Self::$two,)*];

            /// The name that the function has in Rust, WGSL and CUDA C++.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$one => stringify!($one_fn),)*
                    $(Self::$two => stringify!($two_fn),)*
                }
            }

            /// The number of arguments, 1 or 2.
            pub const fn arity(self) -> usize {
                match self {
                    $(Self::$one => 1,)*
                    $(Self::$two => 2,)*
                }
            }

            /// The definition over any arithmetic. The function takes its first `arity` arguments; a missing one is
            /// NaN.
            pub fn apply<A: Arith>(self, args: &[A::F]) -> A::F {
                let arg = |i: usize| args.get(i).copied().unwrap_or_else(parts::nan::<A>);
                match self {
                    $(Self::$one => $one_fn::<A>(arg(0)),)*
                    $(Self::$two => $two_fn::<A>(arg(0), arg(1)),)*
                }
            }

            /// Applies the definition to lanes, in a loop of each function's own.
            #[inline(always)]
            pub(crate) fn over<A: Arith>(self, lanes: impl OverLanes<A>) {
                match self {
                    $(Self::$one => lanes.each(|x, _| $one_fn::<A>(x)),)*
                    $(Self::$two => lanes.each(|x, y| $two_fn::<A>(x, y)),)*
                }
            }
        }
    };
}

registry! {
    one {
        Exp = exp, Exp2 = exp2, Expm1 = expm1, Log = log, Log2 = log2, Log10 = log10, Log1p = log1p,
        Sin = sin, Cos = cos, Tan = tan, Asin = asin, Acos = acos, Atan = atan, Sinh = sinh, Cosh = cosh, Tanh = tanh,
        Erf = erf, Rsqrt = rsqrt, Cbrt = cbrt,
    }
    two {
        Pow = pow, Atan2 = atan2,
    }
}

impl Func {
    /// Whether an `fma` that takes subnormal operands as zeros and gives zeros for subnormal results leaves every result as it is.
    ///
    /// Some devices have such an `fma` beside sums and products that keep subnormals; these definitions may use it as it is, and so may
    /// [`soft_div`] and [`soft_sqrt`]. Measured by `examples/flush.rs`: one argument over every 31st f32, [`pow`] over 2.7e8 pairs, [`atan2`]
    /// and [`soft_div`] over 3.4e7.
    pub const fn keeps_bits_under_flushing_fma(self) -> bool {
        match self {
            Self::Exp | Self::Exp2 | Self::Log | Self::Log2 | Self::Log10 | Self::Cos | Self::Asin | Self::Acos | Self::Atan => true,
            Self::Cosh | Self::Rsqrt | Self::Cbrt | Self::Pow | Self::Atan2 => true,
            Self::Expm1 | Self::Log1p | Self::Sin | Self::Tan | Self::Sinh | Self::Tanh | Self::Erf => false,
        }
    }

    /// Whether the function gives a subnormal argument back as it is, and for every other argument the bits that
    /// [`keeps_bits_under_flushing_fma`](Self::keeps_bits_under_flushing_fma) speaks of: with such an `fma` it has to be told subnormal
    /// arguments apart, and nothing else.
    pub const fn returns_subnormals(self) -> bool {
        matches!(self, Self::Expm1 | Self::Log1p | Self::Sin | Self::Tan | Self::Sinh | Self::Tanh)
    }

    /// The function of one argument on the CPU; one of two arguments gives NaN.
    pub fn eval1(self, x: f32) -> f32 {
        self.apply::<Native>(&[x])
    }

    /// The function of two arguments on the CPU; one of one argument ignores `y`.
    pub fn eval2(self, x: f32, y: f32) -> f32 {
        self.apply::<Native>(&[x, y])
    }
}
