//! P13 image filters: small windows over grey, RGB and RGBA images.

use super::{Map as _, MapTask, check_aliasing};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory};
use crate::caps::{Numerics, NumericsVerdict};
use crate::element::{DType, Element};
use crate::error::{Error, Result};

/// Pixels that a window reads outside the image.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Border {
    /// The nearest pixel of the edge.
    #[default]
    Clamp,
    /// Zero.
    Zero,
    /// The image mirrored at its edge, which is not repeated: index -1 is 1. (Windows reach at most two pixels out, so images of one or
    /// two pixels are mirrored again until the index is inside.)
    Mirror,
    /// The image repeated: index -1 is the last.
    Wrap,
}

impl Border {
    /// Every rule.
    pub const ALL: [Self; 4] = [Self::Clamp, Self::Zero, Self::Mirror, Self::Wrap];

    /// The pixel that index `i` of an axis of `n` stands for, or `None` for zero.
    ///
    /// ```
    /// use isowarp_core::patterns::Border;
    /// assert_eq!((Border::Clamp.index(-2, 10), Border::Mirror.index(-2, 10), Border::Zero.index(-2, 10)), (Some(0), Some(2), None));
    /// ```
    #[must_use]
    pub fn index(self, i: i64, n: i64) -> Option<i64> {
        match self {
            _ if (0..n).contains(&i) => Some(i),
            Self::Clamp => Some(i.clamp(0, n - 1)),
            Self::Zero => None,
            Self::Wrap => Some(i.rem_euclid(n)),
            Self::Mirror if n == 1 => Some(0),
            Self::Mirror => {
                let period = 2 * (n - 1);
                let k = i.rem_euclid(period);
                Some(k.min(period - k))
            }
        }
    }
}

/// Computation of a window.
#[derive(Clone, PartialEq, Debug)]
pub enum FilterKind {
    /// Weighted sum over `size * size` pixels, `size` 3 or 5, weights row by row. A single pixel of weight 1 is a copy.
    Weighted {
        /// 3 or 5, or 1 of a copy.
        size: u32,
        /// `size * size` weights.
        weights: Vec<f32>,
    },
    /// Magnitude of the 3x3 Sobel gradient.
    Sobel,
    /// Median of the 3x3 window.
    Median3,
}

impl FilterKind {
    fn weighted(size: u32, weights: impl IntoIterator<Item = f32>, divisor: f32) -> Self {
        Self::Weighted { size, weights: weights.into_iter().map(|w| w / divisor).collect() }
    }

    /// Copies the image, bit for bit.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let pixels = [f32::NAN, f32::INFINITY, -0.0, 1.0];
    /// let copy = dev.filter(&Image::new(dev.upload(&pixels)?, 2, 2, 1)?, FilterKind::identity(), Border::Zero)?;
    /// let bits: Vec<u32> = copy.buffer().read_blocking()?.into_iter().map(f32::to_bits).collect();
    /// assert_eq!(bits, pixels.map(f32::to_bits));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn identity() -> Self {
        Self::weighted(1, [1.0], 1.0)
    }

    /// Whether nothing is to be computed.
    fn is_copy(&self) -> bool {
        matches!(self, Self::Weighted { size: 1, weights } if weights[..] == [1.0])
    }

    /// Mean of the 3x3 window.
    #[must_use]
    pub fn box3() -> Self {
        Self::weighted(3, [1.0; 9], 9.0)
    }

    /// Binomial 3x3 blur: the outer product of (1, 2, 1) with itself, over 16.
    #[must_use]
    pub fn gaussian3() -> Self {
        Self::weighted(3, [1., 2., 1., 2., 4., 2., 1., 2., 1.], 16.0)
    }

    /// Gaussian 5x5 blur with whole-number weights over 273.
    #[must_use]
    pub fn gaussian5() -> Self {
        #[rustfmt::skip]
        let w = [
            1., 4., 7., 4., 1.,
            4., 16., 26., 16., 4.,
            7., 26., 41., 26., 7.,
            4., 16., 26., 16., 4.,
            1., 4., 7., 4., 1.,
        ];
        Self::weighted(5, w, 273.0)
    }

    /// Sharpening: the image less `alpha` times its box blur, normalised; `alpha` in `0..1`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another `alpha`.
    pub fn sharpen(alpha: f32) -> Result<Self> {
        if !(0.0..1.0).contains(&alpha) {
            return Err(Error::InvalidArgument { what: "alpha", reason: format!("{alpha} is not in 0..1") });
        }
        let mut w = [-alpha; 9];
        w[4] = 9.0 - alpha;
        Ok(Self::weighted(3, w, 9.0 * (1.0 - alpha)))
    }

    /// The 3x3 Laplacian with 4 in the centre, 1 in the middle of each side and -2 in the corners; the weights sum to zero.
    #[must_use]
    pub fn laplacian() -> Self {
        Self::weighted(3, [-2., 1., -2., 1., 4., 1., -2., 1., -2.], 1.0)
    }

    /// High pass: eight times the centre less its neighbours.
    #[must_use]
    pub fn highpass() -> Self {
        Self::weighted(3, [-1., -1., -1., -1., 8., -1., -1., -1., -1.], 1.0)
    }

    /// Pixels that the window reaches beyond its centre.
    #[must_use]
    pub fn radius(&self) -> u32 {
        match self {
            Self::Weighted { size, .. } => size / 2,
            Self::Sobel | Self::Median3 => 1,
        }
    }
}

/// A filter as data.
#[derive(Clone, PartialEq, Debug)]
pub struct FilterTask {
    /// Computation of a window.
    pub kind: FilterKind,
    /// Pixels that it reads outside.
    pub border: Border,
    /// Rows.
    pub height: u32,
    /// Pixels in a row.
    pub width: u32,
    /// Interleaved channels: 1, 3 or 4.
    pub channels: u32,
    /// `U8` or `F32`.
    pub dtype: DType,
    /// Strict or fast.
    pub numerics: Numerics,
}

/// An image on a device: rows from top to bottom, pixels from left to right, channels interleaved.
#[derive(Clone, Debug)]
pub struct Image<B: Backend, T> {
    buffer: Buffer<B, T>,
    width: u32,
    height: u32,
    channels: u32,
}

impl<B: Backend, T: Element> Image<B, T> {
    /// An image over `width * height * channels` elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let colours = dev.upload(&[255u8, 0, 0, 0, 255, 0])?;
    /// let image = Image::new(colours, 2, 1, 3)?; // a red pixel and a green one
    /// assert_eq!((image.width(), image.height(), image.channels()), (2, 1, 3));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the buffer has another length; [`Error::InvalidArgument`] unless there are 1, 3 or 4 channels.
    pub fn new(buffer: Buffer<B, T>, width: u32, height: u32, channels: u32) -> Result<Self> {
        if !matches!(channels, 1 | 3 | 4) {
            return Err(Error::InvalidArgument { what: "channels", reason: format!("{channels} is not 1, 3 or 4") });
        }
        let expected = u64::from(width).saturating_mul(u64::from(height)).saturating_mul(u64::from(channels));
        if buffer.len() != expected {
            return Err(Error::LengthMismatch { what: "pixels of the image", expected, found: buffer.len() });
        }
        Ok(Self { buffer, width, height, channels })
    }

    /// The elements.
    pub fn buffer(&self) -> &Buffer<B, T> {
        &self.buffer
    }

    /// Pixels in a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Interleaved channels.
    pub fn channels(&self) -> u32 {
        self.channels
    }
}

/// Element types of images.
pub trait Pixel: Element {}
impl Pixel for u8 {}
impl Pixel for f32 {}

/// Image filters.
///
/// # Order of evaluation
/// Per pixel and channel, over the window's rows from top to bottom and columns from left to right:
/// - weighted: `w0 * p0` rounded, then `fma(w_k, p_k, sum)`;
/// - Sobel: with window rows `a0 a1 a2`, `dx = fma(2, a12 - a10, a02 - a00) + (a22 - a20)`, `dy = fma(2, a01 - a21, a00 - a20) + (a02 - a22)`,
///   `sqrt(fma(dx, dx, dy * dy))`;
/// - median: the fifth of the nine values in order (IEEE total order with every NaN above infinity).
///
/// Pixels are `u8` or `f32`. `u8` pixels are computed in f32 and stored as `floor(v + 0.5)`, saturated. The fourth channel, if any, is that of the
/// input, by value: a NaN is the canonical one, as in every result that is computed. The output has the input's size and may not overlap it. Work O(pixels * window), no scratch.
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, chapter 4.
pub trait Filter: Run<FilterTask> + Run<MapTask> {
    /// The filtered image.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let pixels = dev.upload(&[10u8, 20, 30, 40, 50, 60, 70, 80, 90])?;
    /// let image = Image::new(pixels, 3, 3, 1)?; // three rows of three grey pixels
    /// let mean = dev.filter(&image, FilterKind::box3(), Border::Zero)?;
    /// assert_eq!(mean.buffer().read_blocking()?[4], 50);
    /// let median = dev.filter(&image, FilterKind::Median3, Border::Clamp)?;
    /// assert_eq!(median.buffer().read_blocking()?, [20, 30, 30, 40, 50, 60, 70, 70, 80]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::NotStrict`], [`Error::OutOfMemory`], [`Error::InvalidArgument`] for weights that do not fit.
    fn filter<T: Pixel>(&self, image: &Image<Self, T>, kind: FilterKind, border: Border) -> Result<Image<Self, T>> {
        let out = Image { buffer: self.buffer(image.buffer.len())?, ..image.clone() };
        self.filter_into(image, kind, border, &out)?;
        Ok(out)
    }

    /// As [`Filter::filter`], into the caller's image of the same size.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // A vertical edge: the gradient is 4 times the step beside it.
    /// let image = Image::new(dev.upload(&[0.0f32, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0])?, 4, 2, 1)?;
    /// let edges = Image::new(dev.buffer(8)?, 4, 2, 1)?;
    /// dev.filter_into(&image, FilterKind::Sobel, Border::Clamp, &edges)?;
    /// assert_eq!(edges.buffer().read_blocking()?, [0.0, 4.0, 4.0, 0.0, 0.0, 4.0, 4.0, 0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Filter::filter`], and [`Error::LengthMismatch`], [`Error::Aliasing`], [`Error::WrongDevice`].
    fn filter_into<T: Pixel>(&self, image: &Image<Self, T>, kind: FilterKind, border: Border, out: &Image<Self, T>) -> Result<()> {
        if let FilterKind::Weighted { size, weights } = &kind
            && !kind.is_copy()
            && (!matches!(size, 3 | 5) || weights.len() as u32 != size * size)
        {
            return Err(Error::InvalidArgument {
                what: "weights",
                reason: format!("{} weights for a {size}x{size} window", weights.len()),
            });
        }
        for (what, expected, found) in [
            ("width of the output", image.width, out.width),
            ("height of the output", image.height, out.height),
            ("channels of the output", image.channels, out.channels),
        ] {
            if expected != found {
                return Err(Error::LengthMismatch { what, expected: expected.into(), found: found.into() });
            }
        }
        if [image, out].iter().any(|i| !i.buffer.device().same_device(self)) {
            return Err(Error::WrongDevice { what: "an image" });
        }
        crate::input::require(self, "filter", T::DTYPE)?;
        if kind.is_copy() {
            return self.copy_into(&image.buffer, &out.buffer);
        }
        let numerics = self.numerics();
        let caps = self.caps();
        if let (NumericsVerdict::Unproven { witness }, Numerics::Strict) = (&caps.numerics, numerics) {
            return Err(Error::NotStrict { device: caps.device.clone(), witness: witness.clone() });
        }
        let n = image.buffer.len();
        let (leaf, dst) = (image.buffer.leaf(), out.buffer.out());
        check_aliasing("filter", std::slice::from_ref(&leaf), n, &[(dst.clone(), n)], false)?;
        if n == 0 {
            return Ok(());
        }
        let (height, width, channels) = (image.height, image.width, image.channels);
        self.run(&FilterTask { kind, border, height, width, channels, dtype: T::DTYPE, numerics }, &[leaf], &[dst])
    }
}
impl<B: Run<FilterTask> + Run<MapTask>> Filter for B {}
