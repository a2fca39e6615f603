//! Moves whose indices are asked first.

use super::computed::check_combining;
use super::enqueue::{MOST_SOURCES, check_indices, check_scatter, check_unique, enough, same_length};
use super::{IndexElement, Move, ScatterOp};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Num};
use crate::error::{Error, Result};

/// [Moves](Move) with the question asked first whether their indices name elements, and of permutations whether each is named once. An index that does
/// not is an error with the first such position, and nothing was written.
///
/// Work is a pass over the indices more, and for permutations two more over the elements with four bytes of scratch each; the device is waited for.
/// [`Move::gather_checked`], [`Move::scatter_checked_into`] and [`Move::scatter_unique_checked_into`] are more of these, and
/// [`MoveFrom`](super::MoveFrom) has those of inputs.
pub trait CheckedMove: Move {
    /// Fails for indices that are not below `limit` or are negative, naming the first. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let indices = dev.upload(&[2i32, 0, -1, 9])?;
    /// let error = dev.check_indices(&indices, 3).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 2, index: -1, limit: 3, .. }));
    /// // Before any call that takes indices.
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0])?;
    /// let whole = indices.slice(..2)?;
    /// let found = dev.check_indices(&whole, x.len()).and_then(|()| dev.map(permuted(&x, &whole), |x| x * 2.0))?;
    /// assert_eq!(found.read_blocking()?, [6.0, 2.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] with the first offending position; [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::WrongDevice`].
    fn check_indices<I: IndexElement>(&self, indices: &Buffer<Self, I>, limit: u64) -> Result<()> {
        check_indices(self, "check_indices", indices, limit)
    }

    /// As [`Move::gather_checked`], into the caller's buffer, which stays as it was where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[10i64, 20])?, dev.upload(&[7i64; 2])?);
    /// let error = dev.gather_checked_into(&x, &dev.upload(&[1u32, 2])?, &out).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 1, index: 2, limit: 2, .. }));
    /// assert_eq!(out.read_blocking()?, [7, 7]);
    /// dev.gather_checked_into(&x, &dev.upload(&[1u64, 0])?, &out)?;
    /// assert_eq!(out.read_blocking()?, [20, 10]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::gather_checked`] and [`Move::gather_into`].
    fn gather_checked_into<T: Element, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_indices(self, "gather", indices, values.len())?;
        self.gather_into(values, indices, out)
    }

    /// As [`Move::scatter_reduce_into`]; an index out of range is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (ones, bins, counts) = (dev.upload(&[1u32; 3])?, dev.upload(&[0u32, 5, 2])?, dev.upload(&[0u32; 3])?);
    /// let error = dev.scatter_reduce_checked_into(&ones, &bins, ScatterOp::Sum, &counts).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 1, index: 5, limit: 3, .. }));
    /// assert_eq!(counts.read_blocking()?, [0; 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::scatter_reduce_into`], and [`Error::IndexOutOfRange`] with the first offending position.
    fn scatter_reduce_checked_into<T: Element<Reg = T> + Num, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        op: ScatterOp,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_combining(op, T::DTYPE)?;
        check_scatter(self, "scatter_reduce", values, indices, out)?;
        check_indices(self, "scatter_reduce", indices, out.len())?;
        self.scatter_reduce_into(values, indices, op, out)
    }

    /// As [`Move::permute`]; an order that is no permutation is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[10u32, 20, 30])?;
    /// assert_eq!(dev.permute_checked(&x, &dev.upload(&[2u32, 0, 1])?)?.read_blocking()?, [30, 10, 20]);
    /// let error = dev.permute_checked(&x, &dev.upload(&[2u32, 0, 2])?).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::DuplicateIndex { position: 2, index: 2, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::permute`], [`Error::IndexOutOfRange`], and [`Error::DuplicateIndex`] with the first position whose index was there before;
    /// [`Error::TooLarge`] for 2^31 elements.
    fn permute_checked<T: Element, I: IndexElement>(&self, x: &Buffer<Self, T>, order: &Buffer<Self, I>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.permute_checked_into(x, order, &out)?;
        Ok(out)
    }

    /// As [`CheckedMove::permute_checked`], into the caller's buffer, which stays as it was where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(b"abc")?, dev.upload(b"....")?);
    /// assert!(dev.permute_checked_into(&x, &dev.upload(&[2i32, 0, -1])?, &out).is_err());
    /// assert_eq!(out.read_blocking()?, *b"....");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMove::permute_checked`] and [`Move::permute_into`].
    fn permute_checked_into<T: Element, I: IndexElement>(
        &self,
        x: &Buffer<Self, T>,
        order: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        enough(out, x.len())?;
        check_permutation(self, "permute", order, x.len())?;
        self.permute_into(x, order, out)
    }

    /// As [`Move::permute_inverse`]; an order that is no permutation is an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, order) = (dev.upload(&[10u32, 20, 30])?, dev.upload(&[2u32, 0, 1])?);
    /// assert_eq!(dev.permute_inverse_checked(&x, &order)?.read_blocking()?, [20, 30, 10]);
    /// let error = dev.permute_inverse_checked(&x, &dev.upload(&[2u32, 3, 1])?).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 1, index: 3, limit: 3, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMove::permute_checked`].
    fn permute_inverse_checked<T: Element, I: IndexElement>(
        &self,
        x: &Buffer<Self, T>,
        order: &Buffer<Self, I>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.permute_inverse_checked_into(x, order, &out)?;
        Ok(out)
    }

    /// As [`CheckedMove::permute_inverse_checked`], into the caller's buffer, which stays as it was where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[0.5f64, 1.5])?, dev.upload(&[7.0f64; 2])?);
    /// assert!(dev.permute_inverse_checked_into(&x, &dev.upload(&[1u32, 1])?, &out).is_err());
    /// assert_eq!(out.read_blocking()?, [7.0; 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CheckedMove::permute_checked`] and [`Move::permute_inverse_into`].
    fn permute_inverse_checked_into<T: Element, I: IndexElement>(
        &self,
        x: &Buffer<Self, T>,
        order: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        enough(out, x.len())?;
        check_permutation(self, "permute_inverse", order, x.len())?;
        self.permute_inverse_into(x, order, out)
    }
}
impl<B: Move> CheckedMove for B {}

/// Fails unless each of `n` places is named once.
fn check_permutation<B: Move, I: IndexElement>(device: &B, pattern: &'static str, order: &Buffer<B, I>, n: u64) -> Result<()> {
    same_length(n, order.len())?;
    if n > MOST_SOURCES {
        return Err(Error::TooLarge { what: "elements of a permutation", requested: n, limit: MOST_SOURCES });
    }
    check_indices(device, pattern, order, n)?;
    check_unique(device, pattern, order, n)
}
