//! P12 convolution: of signals, images and volumes by filters of any size.

mod call;
mod fourier;
mod geometry;
mod grid;
mod layer;
mod separable;
mod task;

pub use call::ConvolutionCall;
pub use fourier::{FourierConvolution, FourierConvolutionCall, transform_length};
pub use geometry::WindowAxis;
pub use grid::{Grid, grid};
pub use layer::Windows;
pub use separable::{SeparableCall, Separated};
pub use task::ConvolutionTask;

use super::product::Factor;
use super::{Fft, FftScalar, Products};
use crate::backend::Run;
use crate::call::ArrayCall;
#[cfg(doc)]
use crate::error::Error;
use crate::input::Input;
use crate::ir::Expr;
#[cfg(doc)]
use crate::patterns::{Border, ProductOrder};

const PATTERN: &str = "convolve";

/// Convolutions of one to three dimensions, with channels, groups, strides, dilations, padding, borders, transposes and epilogues.
///
/// # Order of evaluation
/// A result is a sum of products of a weight and an element of the image, over the channels of its group and for each over the taps of the filter row by row,
/// ascending: the terms of a [product](Products::gemm) of matrices, by its rule. They are taken in blocks of 512 ([`ProductOrder`]), a block is a chain of
/// fused multiply-adds that starts with +0, and blocks are added left to right. So a convolution has the bits of the product of its filters, a row each, and of
/// a matrix with a column to each window, however the windows are read. A result does not depend on other images, filters or windows.
///
/// Beyond the image a window reads what the [border](ConvolutionCall::border) says: of [`Border::Zero`] +0, which is multiplied as any other element, so that
/// an infinite weight gives NaN there. Windows lie inside the image unless there is [`padding`](ConvolutionCall::padding). Filters are not flipped unless
/// [told so](ConvolutionCall::flipped).
///
/// Images are `[batch, channels, ...]` row-major, filters `[filters, channels of a group, ...]`, and results `[batch, filters, ...]`, along each axis `(n +
/// padding - dilation (taps - 1) - 1) / stride + 1` elements. Elements are those of a product: `f32`, `f64`, `f16` (summed in `f32`), and integers of 8, 16
/// and 32 bits, which wrap. Any input is fused; a long operator is computed for every window that an element is in, and better stored first. The elements of
/// all windows together are at most 2^32, and so are those of the image, but where a kernel of its own computes planes.
///
/// It has the same bits: a tile of a plane goes to shared memory with what lies around it, slice by slice of the channels and planes that a filter looks at. It
/// takes images and volumes by at most 8 filters a group (16, of at most 4 slices), of at least 4 x 64 results a plane, by rows and columns of at most 33 taps;
/// lines of at least 1024 results of at most 384 terms, and batches of shorter ones by one filter; sums of many slices where there are as many tiles. Strides
/// and dilations are 1, but for a transposed convolution's stride, whose zeros are stored first. All others are products whose right operand computes which
/// element of the image it reads; on CUDA images of `f32` with zeros around them, by more filters of at most 64 taps a channel, are read by steps along their
/// axes instead.
///
/// Work O(batch * filters * windows * channels of a group * taps). Scratch: that of the product, and a transposed convolution's image with its zeros.
///
/// Source: Kirk and Hwu, *Programming Massively Parallel Processors*, chapters 7 and 16; Ansorge, *Programming in Parallel with CUDA*, chapter 4; Chellapilla,
/// Puri and Simard, *High performance convolutional neural networks for document processing* (2006), for the product.
pub trait Convolutions: Products + Fft + Run<ConvolutionTask> {
    /// The convolution of grids by filters, in new memory.
    ///
    /// Modifiers: [`stride`](ConvolutionCall::stride), [`dilation`](ConvolutionCall::dilation), [`padding`](ConvolutionCall::padding),
    /// [`same`](ConvolutionCall::same), [`border`](ConvolutionCall::border), [`groups`](ConvolutionCall::groups), [`flipped`](ConvolutionCall::flipped),
    /// [`transposed`](ConvolutionCall::transposed), and those of a product.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])?;
    /// let taps = dev.upload(&[1.0f32, 0.0, 0.0, -1.0])?;
    /// // An image of three rows, by a filter of two.
    /// assert_eq!(dev.convolve(grid(&x, &[3, 3]), grid(&taps, &[2, 2])).run()?.read_blocking()?, [-4.0; 4]);
    /// // The same elements as three channels of a signal, by two filters that look at all of them.
    /// let taps = dev.upload(&[1.0f32, 1.0, 1.0, 0.5, 0.0, 0.0])?;
    /// let y = dev.convolve(grid(&x, &[3]).channels(3), grid(&taps, &[1]).channels(3).batch(2)).run()?;
    /// assert_eq!(y.read_blocking()?, [12.0, 15.0, 18.0, 0.5, 1.0, 1.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn convolve<L, R, T>(&self, image: Grid<L>, filter: Grid<R>) -> ConvolutionCall<'_, Self, L, R, T>
    where
        L: Input<Self, Exprs = Expr<T>>,
        R: Input<Self, Exprs = Expr<T>>,
        T: Factor,
    {
        ConvolutionCall::new(self, image, filter)
    }

    /// The convolution of images by a filter that is the product of a column and a row: along rows by `across`, whose results are rounded to the type of sums,
    /// then along columns by `down`. Both are filters of one axis. So it is two [convolutions](Self::convolve), bit for bit, and rounds once more than one by
    /// the filter of two axes does. Modifiers are [`padding`](SeparableCall::padding), [`same`](SeparableCall::same), [`border`](SeparableCall::border) and
    /// [`flipped`](SeparableCall::flipped); channels and images of a batch are convolved each by itself.
    ///
    /// Work O(elements * (taps across + taps down)). Scratch: an array of the results of the first.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0.0f32, 0.0, 0.0, 0.0, 16.0, 0.0, 0.0, 0.0, 0.0])?;
    /// let blur = dev.upload(&[0.25f32, 0.5, 0.25])?;
    /// let y = dev.separable(grid(&x, &[3, 3]), grid(&blur, &[3]), grid(&blur, &[3])).same().run()?;
    /// assert_eq!(y.read_blocking()?, [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn separable<I, J, K, T>(&self, image: Grid<I>, across: Grid<J>, down: Grid<K>) -> SeparableCall<'_, Self, I, J, K, T>
    where
        I: Input<Self, Exprs = Expr<T>>,
        J: Input<Self, Exprs = Expr<T>>,
        K: Input<Self, Exprs = Expr<T>>,
        T: Factor,
    {
        ArrayCall::new(self, Separated::new(image, across, down))
    }

    /// The convolution of grids by one large filter, by transforms: a pattern of its own, whose bits are not those of [`convolve`](Self::convolve). It is
    /// mathematics' convolution, SciPy's `fftconvolve`, of every channel and image by itself, along each axis of `n + taps - 1` elements unless
    /// [`same`](FourierConvolutionCall::same) or [`valid`](FourierConvolutionCall::valid) keep fewer.
    ///
    /// # Order of evaluation
    /// Image and filter are padded with zeros to the least lengths of the form `2^a 3^b 5^c` from `n + taps - 1` on, and transformed: [`rfft`](Fft::rfft)
    /// along the last axis, then [`fft`](Fft::fft) along the others from the last to the first. Spectra are multiplied, `(a c - b d, a d + b c)` with every
    /// product and every sum rounded by itself, and transformed back by the inverses in the reverse order. So the bits are a function of the operands and
    /// their extents alone.
    ///
    /// Elements are `f32` and `f64`. The error is about that of the transforms, relative to the norms of image and filter: results that are much smaller than
    /// others have few exact digits.
    ///
    /// Work O(n log n) of the padded grid. Scratch: six to eight times its size.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, taps) = (dev.upload(&[1.0f64, 2.0, 3.0])?, dev.upload(&[1.0f64, 10.0])?);
    /// let y = dev.fft_convolve(grid(&x, &[3]), grid(&taps, &[2])).run()?.read_blocking()?;
    /// assert!(y.iter().zip([1.0, 12.0, 23.0, 30.0]).all(|(y, expected)| (y - expected).abs() < 1e-13));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn fft_convolve<I, J, T>(&self, image: Grid<I>, filter: Grid<J>) -> FourierConvolutionCall<'_, Self, I, J, T>
    where
        I: Input<Self, Exprs = Expr<T>>,
        J: Input<Self, Exprs = Expr<T>>,
        T: FftScalar + Factor,
    {
        ArrayCall::new(self, FourierConvolution::new(image, filter))
    }
}
impl<B: Products + Fft + Run<ConvolutionTask>> Convolutions for B {}
