//! Saturating conversions of symbolic values.

use super::Expr;
use crate::element::{Element, Num};
use crate::ir::graph;

impl<T: Num> Expr<T> {
    /// Conversion by value to the range of an element type: what is below or above it becomes its least or greatest number, and NaN zero; fractions are cut
    /// off. So an integer is clamped where a [`cast`](Self::cast) would wrap. The value is in the type that computes with these elements, a `u32` for `u8`, so that
    /// [`store_as`](Self::store_as) stores it as it is. To floats it is a cast.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[-7.5f32, 99.9, 300.0, f32::NAN])?;
    /// let bytes = dev.map(&x, |x| x.saturating_cast::<u8>().store_as::<u8>())?;
    /// assert_eq!(bytes.read_blocking()?, [0, 99, 255, 0]);
    /// // The sum of bytes in their own type.
    /// let y = dev.upload(&[200u8, 7])?;
    /// let sums = dev.map((&y, y.reversed()), |(a, b)| (a + b).saturating_cast::<u8>().store_as::<u8>())?;
    /// assert_eq!(sums.read_blocking()?, [207, 207]);
    /// assert_eq!(dev.map(&y, |y| (y * y).saturating_cast::<u8>().store_as::<u8>())?.read_blocking()?, [255, 49]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn saturating_cast<U: Element>(self) -> Expr<U::Reg> {
        Expr::from_value(graph::with(|g| {
            let a = g.id(self.value, T::TY);
            g.saturate(a, U::DTYPE)
        }))
    }
}
