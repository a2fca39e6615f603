//! Distances of floats in units in the last place.

use super::{Expr, lit, select};
use crate::element::{Float, Int, Num, Scalar};

/// Floats whose distances are counted: the integers of their bits.
pub trait Ulp: Float + Num {
    /// An integer that holds the distance of any two.
    type Distance: Int + Num + Scalar;

    /// Its bits.
    #[doc(hidden)]
    const BITS: u32;

    #[doc(hidden)]
    fn distance(a: Expr<Self>, b: Expr<Self>) -> Expr<Self::Distance>;

    /// The low and the high word of a distance, or zeros for NaN and a number.
    #[doc(hidden)]
    fn halves(a: Expr<Self>, b: Expr<Self>) -> (Expr<u32>, Expr<u32>);

    /// Bits of a distance, one more than there are for NaN and a number.
    #[doc(hidden)]
    fn bin(a: Expr<Self>, b: Expr<Self>) -> Expr<u32> {
        select(a.is_nan().ne(b.is_nan()), Self::BITS + 1, lit(Self::BITS) - Self::distance(a, b).leading_zeros())
    }
}

macro_rules! ulps {
    ($t:ident $word:ident $high:expr) => {
        impl Ulp for $t {
            type Distance = $word;
            const BITS: u32 = $word::BITS;

            fn distance(a: Expr<Self>, b: Expr<Self>) -> Expr<$word> {
                const SIGN: $word = 1 << ($word::BITS - 1);
                // Magnitudes grow with the bits. Those of unequal signs lie on both sides of zero.
                let (x, y) = (a.bitcast::<$word>(), b.bitcast::<$word>());
                let (p, q) = (x & (SIGN - 1), y & (SIGN - 1));
                let number = select(((x ^ y) & SIGN).eq(0), p.max(q) - p.min(q), p + q);
                select(a.is_nan() | b.is_nan(), select(a.is_nan() & b.is_nan(), 0, $word::MAX), number)
            }

            fn halves(a: Expr<Self>, b: Expr<Self>) -> (Expr<u32>, Expr<u32>) {
                let distance = select(a.is_nan().ne(b.is_nan()), 0, Self::distance(a, b));
                (distance.cast(), $high(distance))
            }
        }
    };
}
ulps!(f32 u32 |_| lit(0));
ulps!(f64 u64 |distance: Expr<u64>| (distance >> 32).cast());

impl<T: Ulp> Expr<T> {
    /// Number of floats from this one to another, of which the last is counted and the first is not: their distance in units in the last place, where they are
    /// no power of two apart. -0 is +0, infinity follows the greatest finite number, two NaN are equal, and from NaN to a number it is all ones.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 1.0, -0.0, f32::MAX, 1.0])?;
    /// let y = dev.upload(&[1.0f32, 1.000_000_1, 1e-45, f32::INFINITY, f32::NAN])?;
    /// assert_eq!(dev.map((&x, &y), |(x, y)| x.ulp_distance(y))?.read_blocking()?, [0, 1, 1, 1, u32::MAX]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn ulp_distance(self, other: impl Into<Self>) -> Expr<T::Distance> {
        T::distance(self, other.into())
    }
}

impl Expr<f32> {
    /// Error against a value in `f64`, in units in the last place of an `f32` as great as that: `|self - exact| / ulp`, where `ulp` is 2^-23 of the power
    /// of two at or below `|exact|`, and 2^-149 at least. The difference is rounded once; below 1/2 the value is correctly rounded. Infinity of the same
    /// sign, or of what rounds to it, is no error; NaN is one with all but NaN, and then the result is NaN.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, exact) = (dev.upload(&[0.1f32, 0.1])?, dev.upload(&[0.1f64, 0.1 + 2f64.powi(-27)])?);
    /// let errors = dev.map((&x, &exact), |(x, exact)| x.ulp_error(exact))?.read_blocking()?;
    /// assert!(errors[0] < 0.5 && (errors[1] - 0.8).abs() < 0.01, "{errors:?}");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn ulp_error(self, exact: impl Into<Expr<f64>>) -> Expr<f64> {
        const FIELD: u64 = 0x7ff << 52;
        let exact = exact.into();
        // The power of two of the unit, which f64 holds as a normal number, and its reciprocal by the exponent's distance from the other end.
        let power = (exact.bitcast::<u64>() & FIELD).clamp((1023 - 126) << 52, (1023 + 127) << 52);
        let per_ulp = (((2u64 * 1023 + 23) << 52) - power).bitcast::<f64>();
        let error = (self.cast::<f64>() - exact).abs() * per_ulp;
        let same = self.eq(exact.cast::<f32>()) & self.abs().eq(f32::INFINITY);
        let both_nan = self.is_nan() & exact.is_nan();
        select(same | both_nan, 0.0, error)
    }
}
