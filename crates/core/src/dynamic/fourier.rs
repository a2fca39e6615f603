//! Transforms along axes.

use super::Results;
use super::call::Job;
use crate::buffer::Buffer;
use crate::element::DType;
use crate::error::{Error, Result};
use crate::patterns::{Fft as _, FftScalar, Patterns};

/// A transform; axes are those of a row-major array of points, or of real numbers where these are transformed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fourier {
    /// Of points, along several axes.
    Points {
        /// The axes, the last one first.
        axes: Vec<usize>,
        /// Whether it is the inverse.
        inverse: bool,
    },
    /// Of real numbers along the axis named last, to half of the points, and of these along the others.
    OfReals(Vec<usize>),
    /// Of half of the points to so many real numbers along the axis named last, by way of the others.
    Reals(u64, Vec<usize>),
}

impl Fourier {
    /// The shape of the results, in points or real numbers, of an array of this shape.
    #[must_use]
    pub fn shape(&self, shape: &[u64]) -> Vec<u64> {
        let along = match self {
            Self::Points { .. } => None,
            Self::OfReals(axes) => axes.last().and_then(|&axis| Some((axis, shape.get(axis)? / 2 + 1))),
            Self::Reals(n, axes) => axes.last().map(|&axis| (axis, *n)),
        };
        shape.iter().enumerate().map(|(k, &n)| along.filter(|of| of.0 == k).map_or(n, |of| of.1)).collect()
    }
}

impl<B: Patterns> Job<'_, B> {
    pub(super) fn fft(&self, of: &Fourier, shape: &[u64]) -> Result<Results<B>> {
        match self.first()?.dtype {
            DType::F32 => self.fft_of::<f32>(of, shape),
            DType::F64 => self.fft_of::<f64>(of, shape),
            other => Err(Error::InvalidArgument { what: "fft", reason: format!("points are of f32 or f64, not {other}") }),
        }
    }

    fn fft_of<T: FftScalar>(&self, of: &Fourier, shape: &[u64]) -> Result<Results<B>> {
        let ([x], d) = (self.take()?, self.device);
        let x: Buffer<B, T> = x.typed()?;
        let results = of.shape(shape).iter().try_fold(1u64, |a, &n| a.checked_mul(n)).unwrap_or(u64::MAX);
        match of {
            Fourier::Points { axes, inverse } => {
                let call = d.fft(&x).axes(shape, axes);
                let call = if *inverse { call.inverse() } else { call };
                self.into::<T>(x.len(), |out| call.write_to(out))
            }
            Fourier::OfReals(axes) => self.into::<T>(results.saturating_mul(2), |out| d.rfft(&x).axes(shape, axes).write_to(out)),
            Fourier::Reals(n, axes) => self.into::<T>(results, |out| d.irfft(&x, *n).axes(shape, axes).write_to(out)),
        }
    }
}
