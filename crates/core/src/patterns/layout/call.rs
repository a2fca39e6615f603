//! Calls of moves by shape.

use super::copy::{copy, permuted};
use super::in_place;
use super::morton::{morton_bits, reordered};
use super::{Axis, Layout};
use crate::backend::Backend;
use crate::buffer::Buffer;
use crate::call::{ArrayCall, Arrays};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::Narrow;

/// Copies all elements of an array to places of their own.
fn dense<B: Layout, T: Element>(device: &B, axes: &[Axis], x: &Buffer<B, T>, out: &Buffer<B, T>) -> Result<()> {
    if out.len() < x.len() {
        return Err(Error::BufferTooSmall { what: "the output", required: x.len(), available: out.len() });
    }
    copy(device, "permute_axes", axes, (x, 0), (out, 0))
}

/// An array, its shape, and the order of its axes.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct PermutingAxes<'a, B: Backend, T> {
    pub(super) x: &'a Buffer<B, T>,
    pub(super) shape: Vec<u64>,
    pub(super) order: Vec<usize>,
}

/// A call of [`Layout::permute_axes`].
pub type AxesCall<'a, B, T> = ArrayCall<'a, B, PermutingAxes<'a, B, T>>;

impl<B: Layout, T: Element> Arrays<B> for PermutingAxes<'_, B, T> {
    type Out = Narrow<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        permuted(&self.shape, &self.order, self.x.len()).map(|_| self.x.len())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        dense(device, &permuted(&self.shape, &self.order, self.x.len())?, self.x, out)
    }
}

/// Matrices that are transposed.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Transposing<'a, B: Backend, T> {
    pub(super) x: &'a Buffer<B, T>,
    pub(super) batch: Option<u64>,
    pub(super) rows: u64,
    pub(super) columns: u64,
}

/// A call of [`Layout::transpose`].
pub type TransposeCall<'a, B, T> = ArrayCall<'a, B, Transposing<'a, B, T>>;

impl<B: Backend, T: Element> Transposing<'_, B, T> {
    fn axes(&self) -> Result<Vec<Axis>> {
        match self.batch {
            None => permuted(&[self.rows, self.columns], &[1, 0], self.x.len()),
            Some(batch) => permuted(&[batch, self.rows, self.columns], &[0, 2, 1], self.x.len()),
        }
    }
}

impl<B: Layout, T: Element> Arrays<B> for Transposing<'_, B, T> {
    type Out = Narrow<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        self.axes().map(|_| self.x.len())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        dense(device, &self.axes()?, self.x, out)
    }
}

impl<B: Layout, T: Element> TransposeCall<'_, B, T> {
    /// Takes so many matrices, one after the other, and transposes each.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(b"abcdefABCDEF")?, dev.buffer(12)?);
    /// dev.transpose(&x, 2, 3).batch(2).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, *b"adbecfADBECF");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn batch(self, matrices: u64) -> Self {
        self.with(|what| what.batch = Some(matrices))
    }

    /// Enqueues the transpose where the array lies. A square takes no memory; another rectangle takes as much as it is long itself, but not
    /// more than about 32 MiB and a hundredth of its length, and through wgpu 32 MiB more where no binding holds it. A loop gets it back each time.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u8, 2, 3, 4, 5, 6])?;
    /// dev.transpose(&x, 2, 3).in_place()?;
    /// assert_eq!(x.read_blocking()?, [1, 4, 2, 5, 3, 6]);
    /// let x = dev.upload(b"abcdABCD")?;
    /// dev.transpose(&x, 2, 2).batch(2).in_place()?;
    /// assert_eq!(x.read_blocking()?, *b"acbdACBD");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::transpose`].
    pub fn in_place(self) -> Result<()> {
        let Transposing { x, batch, rows, columns } = self.what;
        in_place::in_place(self.device, x, [batch.unwrap_or(1), rows, columns], in_place::THROUGH)
    }
}

/// An array that is brought into Morton order, or back.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Reordering<'a, B: Backend, T> {
    pub(super) x: &'a Buffer<B, T>,
    pub(super) shape: Vec<u64>,
    pub(super) back: bool,
}

/// A call of [`Layout::to_morton`], or of [`Layout::from_morton`].
pub type MortonCall<'a, B, T> = ArrayCall<'a, B, Reordering<'a, B, T>>;

impl<B: Layout, T: Element> Arrays<B> for Reordering<'_, B, T> {
    type Out = Narrow<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        morton_bits(&self.shape, self.x.len()).map(|_| self.x.len())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        reordered(device, self.x, out, &morton_bits(&self.shape, self.x.len())?, self.back)
    }
}
