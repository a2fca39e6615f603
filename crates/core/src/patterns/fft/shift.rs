//! Halves of axes that change places.

use super::Fft;
use crate::buffer::Buffer;
use crate::call::{ArrayCall, Arrays};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::Narrow;
use crate::patterns::check_aliasing;
use crate::patterns::layout::{Axis, copy};

/// An array whose axes are shifted.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Shifting<'a, B: Fft, T> {
    x: &'a Buffer<B, T>,
    shape: Vec<u64>,
    axes: Vec<usize>,
    back: bool,
}

/// A call of [`Fft::fft_shift`], or of [`Fft::ifft_shift`].
pub type ShiftCall<'a, B, T> = ArrayCall<'a, B, Shifting<'a, B, T>>;

impl<'a, B: Fft, T: Element> Shifting<'a, B, T> {
    pub(super) fn new(x: &'a Buffer<B, T>, shape: &[u64], axes: &[usize], back: bool) -> Self {
        Self { x, shape: shape.to_vec(), axes: axes.to_vec(), back }
    }

    fn check(&self) -> Result<()> {
        let mut seen = vec![false; self.shape.len()];
        if !self.axes.iter().all(|&axis| seen.get_mut(axis).is_some_and(|seen| !core::mem::replace(seen, true))) {
            let reason = format!("axes {:?} of an array of {} dimensions", self.axes, self.shape.len());
            return Err(Error::InvalidArgument { what: "fft_shift", reason });
        }
        let expected = self.shape.iter().try_fold(1u64, |a, &b| a.checked_mul(b)).unwrap_or(u64::MAX);
        if expected != self.x.len() {
            return Err(Error::LengthMismatch { what: "elements of the shape", expected, found: self.x.len() });
        }
        Ok(())
    }
}

impl<B: Fft, T: Element> Arrays<B> for Shifting<'_, B, T> {
    type Out = Narrow<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        self.check().map(|()| self.x.len())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        self.check()?;
        if out.len() < self.x.len() {
            return Err(Error::BufferTooSmall { what: "the output", required: self.x.len(), available: out.len() });
        }
        self.x.check_device(device, "the input")?;
        out.check_device(device, "the output")?;
        let n = self.x.len();
        // Of the whole, since a block alone may lie apart from what it is made of.
        check_aliasing("fft_shift", &[self.x.leaf()], n, &[(out.out(), n)], false)?;
        // One block for each choice of halves. An axis of one element has none.
        let axes: Vec<usize> = self.axes.iter().copied().filter(|&axis| self.shape[axis] > 1).collect();
        if n == 0 {
            return Ok(());
        }
        for halves in 0..1u64 << axes.len() {
            let mut step = 1i64;
            let (mut blocks, mut from, mut to) = (Vec::new(), 0, 0);
            for (k, &n) in self.shape.iter().enumerate().rev() {
                let mut length = n;
                if let Some(bit) = axes.iter().position(|&axis| axis == k) {
                    let low = if self.back { n / 2 } else { n.div_ceil(2) };
                    let upper = halves >> bit & 1 == 1;
                    length = if upper { n - low } else { low };
                    from += if upper { low * step as u64 } else { 0 };
                    to += if upper { 0 } else { (n - low) * step as u64 };
                }
                blocks.push(Axis { n: length, from: step, to: step as u64 });
                step = step.saturating_mul(n.max(1) as i64);
            }
            blocks.reverse();
            copy(device, "fft_shift", &blocks, (self.x, from), (out, to))?;
        }
        Ok(())
    }
}

impl<B: Fft, T: Element> ShiftCall<'_, B, T> {
    /// Takes the shape to be of points, pairs of neighbouring elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let z = dev.upload(&[0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5])?;
    /// assert_eq!(dev.fft_shift(&z, &[3], &[0]).points().run()?.read_blocking()?, [2.0, 2.5, 0.0, 0.5, 1.0, 1.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn points(self) -> Self {
        self.with(|what| what.shape.push(2))
    }
}
