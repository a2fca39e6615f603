//! P27 FFT: discrete Fourier transforms of complex and real numbers, of any length, along axes.

mod bluestein;
mod call;
mod circle;
mod levels;
pub mod plan;
mod real;
mod shift;
mod task;

pub use call::{FftCall, FftPlan, Transforming};
pub use levels::transform;
pub use real::{IrfftCall, RealInverse, RealTransforming, RfftCall, RfftPlan};
pub use shift::{ShiftCall, Shifting};
pub use task::{Arithmetic, FftTask};

use super::{Layout, MapTask};
use crate::backend::Run;
use crate::buffer::Buffer;
use crate::call::ArrayCall;
use crate::element::{Element, Float, Int, Num};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use core::ops::{Add, Mul, Sub};

/// Floats that transforms are of: `f32` and `f64`.
pub trait FftScalar: Float + Num + Element<Reg = Self> + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// Its bits.
    #[doc(hidden)]
    type Bits: Int + Element;
    /// The nearest one.
    #[doc(hidden)]
    fn rounded(x: f64) -> Self;
}

impl FftScalar for f32 {
    type Bits = u32;
    fn rounded(x: f64) -> Self {
        x as Self
    }
}

impl FftScalar for f64 {
    type Bits = u64;
    fn rounded(x: f64) -> Self {
        x
    }
}

/// Discrete Fourier transforms.
///
/// Complex numbers are pairs of neighbouring floats, the real part and the imaginary one, so that `n` of them are a buffer of `2 n`: the layout of NumPy's
/// `complex64` and `complex128`. A transform is `X[k] = sum of x[i] exp(-2 pi i k / n)`, that of the [`inverse`](FftCall::inverse) has the other sign and a
/// factor 1 / n, as NumPy's. Lines are rows of an array, or what lies along any axis; [`axes`](FftCall::axes) are transformed one after the other.
///
/// **Order of evaluation.** The bits are a function of the length alone, whatever the axis, the batch or the device. `n = 4^a 2^b 3^c 5^d 7^e`, `b` at most 1, is
/// computed in levels in this order, the fours first (Stockham's form). A level of radix `r` takes the transforms of `l` points that the levels before it have made
/// to those of `l r` points: point `j` of a butterfly, from 1 on, is multiplied by `exp(-2 pi i j k / (l r))` unless `l` is 1, and the butterfly follows. A product of
/// complex numbers is `(a c - b d, a d + b c)`. With `s` and `d` sums and differences of points `j` and `r - j`, butterflies are:
///
/// | radix | results |
/// |---|---|
/// | 2 | `x0 + x1`, `x0 - x1` |
/// | 3 | `x0 + s`; `m = x0 + -0.5 s`, `e = S d`; `m - i e`, `m + i e` |
/// | 4 | `s = x0 + x2`, `d = x0 - x2`, `t = x1 + x3`, `e = x1 - x3`; `s + t`, `d - i e`, `s - t`, `d + i e` |
/// | 5 | `(x0 + s1) + s2`; `m1 = (x0 + C1 s1) + C2 s2`, `m2 = (x0 + C2 s1) + C1 s2`, `e1 = S1 d1 + S2 d2`, `e2 = S2 d1 - S1 d2`; `m1 - i e1`, `m2 - i e2`, `m2 + i e2`, `m1 + i e1` |
/// | 7 | `((x0 + s1) + s2) + s3`; `m1 = ((x0 + C1 s1) + C2 s2) + C3 s3`, `m2` with `C2 C3 C1`, `m3` with `C3 C1 C2`; `e1 = (S1 d1 + S2 d2) + S3 d3`, `e2 = (S2 d1 - S3 d2) - S1 d3`, `e3 = (S3 d1 - S1 d2) + S2 d3`; `m1 - i e1`, `m2 - i e2`, `m3 - i e3`, `m3 + i e3`, `m2 + i e2`, `m1 + i e1` |
///
/// Every product and every sum of floats is rounded by itself; there is no fma. Cosines and sines are rounded once, from a table of the host's. Lengths with
/// other prime factors are Bluestein's convolution with a chirp by transforms of the least power of two from `2 n - 1` on. An inverse is the transform of points whose
/// parts have changed places, changed back and multiplied by 1 / n, rounded. NaN and infinities flow; NaN is stored canonical.
///
/// **Range.** Sums on the way are larger than results: up to `2 n` times the greatest point in transforms of real numbers, and up to `6 n^2` times in Bluestein's,
/// whose small numbers are lost earlier, too. Where that leaves the range of the type, results are infinite or NaN; scale points towards 1.
///
/// One point is itself; a line of none is an error, as NumPy's. Lines have at most 2^31 points, those of Bluestein's lengths 2^30, and not more than a
/// kernel sees at once (through wgpu what a binding holds).
///
/// Work O(n log n). Rows of up to 1024 points through wgpu, of 3072 on CUDA, and on both of 4096 where their number is a power of two and a group has 32 KiB of
/// memory (`f64`: half as many), are read and written once, longer lines and columns in two passes or three, through scratch of the size of the array. A call
/// without a [`plan`](FftCall::plan) computes and uploads a table of `2 n` floats.
///
/// Source: Cooley and Tukey, *An algorithm for the machine calculation of complex Fourier series* (1965); Bluestein (1970); Govindaraju and others, *High performance
/// discrete Fourier transforms on graphics processors* (2008).
pub trait Fft: Layout + Run<FftTask> + Run<MapTask> {
    /// The transform of all points, or of lines of them: [`inverse`](FftCall::inverse), [`axis`](FftCall::axis), [`axes`](FftCall::axes), [`plan`](FftCall::plan).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // 1, i, -1, -i: one turn in four points.
    /// let z = dev.upload(&[1.0f32, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0])?;
    /// let spectrum = dev.fft(&z).run()?;
    /// assert_eq!(spectrum.read_blocking()?, [0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    /// assert_eq!(dev.fft(&spectrum).inverse().run()?.read_blocking()?, z.read_blocking()?);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an odd number of floats, no points or an axis that is none; [`Error::LengthMismatch`] for another shape,
    /// [`Error::TooLarge`], [`Error::Unsupported`] for `f64` where the device has none, [`Error::NotStrict`], [`Error::BufferTooSmall`], [`Error::Aliasing`],
    /// [`Error::OutOfMemory`], [`Error::WrongDevice`].
    fn fft<'a, T: FftScalar>(&'a self, z: &'a Buffer<Self, T>) -> FftCall<'a, Self, T> {
        ArrayCall::new(self, Transforming::new(z))
    }

    /// The transform of real numbers: of `n` along an axis the first `n / 2 + 1` points, since the others are their conjugates.
    ///
    /// Of an even length, neighbours are parts of a point of a transform `Z` of half the length. With `E = Z[k] + conj(Z[n/2 - k])`, `O = Z[k] - conj(Z[n/2 - k])` and
    /// `w = exp(-2 pi i k / n)`, point `k` is `(E + w (-i O)) / 2`, where `Z[n/2]` is `Z[0]`. Of an odd length it is the
    /// transform of points without an imaginary part.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0, 4.0])?;
    /// let spectrum = dev.rfft(&x).run()?;
    /// assert_eq!(spectrum.read_blocking()?, [10.0, 0.0, -2.0, 2.0, -2.0, 0.0]);
    /// assert_eq!(dev.irfft(&spectrum, 4).run()?.read_blocking()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`fft`](Self::fft).
    fn rfft<'a, T: FftScalar>(&'a self, x: &'a Buffer<Self, T>) -> RfftCall<'a, Self, T> {
        ArrayCall::new(self, RealTransforming::new(x))
    }

    /// The `n` real numbers of a transform whose first `n / 2 + 1` points these are: the inverse of [`rfft`](Self::rfft). Imaginary parts of the first point,
    /// and of the last one of an even length, do not count.
    ///
    /// # Errors
    /// As [`fft`](Self::fft).
    fn irfft<'a, T: FftScalar>(&'a self, z: &'a Buffer<Self, T>, n: u64) -> IrfftCall<'a, Self, T> {
        ArrayCall::new(self, RealInverse::new(z, n))
    }

    /// Tables of transforms of `n` points, for many calls: a call without them computes and uploads its own. They take `2 n` floats of the device, where `n` has
    /// prime factors above 7 about eight times as many.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let plan = dev.fft_plan::<f32>(256)?;
    /// let mut z = dev.upload(&[1.0f32; 512])?;
    /// for _ in 0..3 {
    ///     z = dev.fft(&z).plan(&plan).run()?;
    /// }
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no points; [`Error::TooLarge`], [`Error::Unsupported`], [`Error::OutOfMemory`].
    fn fft_plan<T: FftScalar>(&self, n: u64) -> Result<FftPlan<Self, T>> {
        FftPlan::new(self, n)
    }

    /// Tables of transforms of `n` real numbers, for many calls of [`rfft`](Self::rfft) and [`irfft`](Self::irfft).
    ///
    /// # Errors
    /// As [`fft_plan`](Self::fft_plan).
    fn rfft_plan<T: FftScalar>(&self, n: u64) -> Result<RfftPlan<Self, T>> {
        RfftPlan::new(self, n)
    }

    /// The halves of the axes change places, so that point 0 goes to `n / 2` (NumPy's `fftshift`). Elements are `T`, or [points](ShiftCall::points).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0u32, 1, 2, -2i32 as u32, -1i32 as u32])?;
    /// let shifted = dev.fft_shift(&x, &[5], &[0]).run()?;
    /// assert_eq!(shifted.read_blocking()?.iter().map(|&x| x as i32).collect::<Vec<_>>(), [-2, -1, 0, 1, 2]);
    /// assert_eq!(dev.ifft_shift(&shifted, &[5], &[0]).run()?.read_blocking()?, x.read_blocking()?);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::InvalidArgument`] for an axis that is none or twice the same; those of a move.
    fn fft_shift<'a, T: Element>(&'a self, x: &'a Buffer<Self, T>, shape: &[u64], axes: &[usize]) -> ShiftCall<'a, Self, T> {
        ArrayCall::new(self, Shifting::new(x, shape, axes, false))
    }

    /// The reverse of [`fft_shift`](Self::fft_shift), which differs along axes of odd lengths.
    ///
    /// # Errors
    /// As [`fft_shift`](Self::fft_shift).
    fn ifft_shift<'a, T: Element>(&'a self, x: &'a Buffer<Self, T>, shape: &[u64], axes: &[usize]) -> ShiftCall<'a, Self, T> {
        ArrayCall::new(self, Shifting::new(x, shape, axes, true))
    }
}
impl<B: Layout + Run<FftTask> + Run<MapTask>> Fft for B {}
