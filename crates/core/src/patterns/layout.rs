//! P09 move, by shape: axes permuted, transposes, strided and pitched copies, image layouts, Morton order.

mod call;
mod copy;
mod in_place;
mod morton;
pub mod plan;
mod task;

pub use call::{AxesCall, MortonCall, PermutingAxes, Reordering, TransposeCall, Transposing};
pub use task::{Axis, LayoutTask, MAX_AXES, Plane, TileTransposeTask, TransposeTask};

use super::moves::Move;
use crate::backend::Run;
use crate::buffer::Buffer;
use crate::call::ArrayCall;
use crate::element::Element;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use copy::pitch;
pub(crate) use copy::{copy, transposed};

/// The order in which the axes of a batch of images lie in memory, the slowest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ImageLayout {
    /// Planes of channels: what most of deep learning uses.
    Nchw,
    /// Interleaved channels: what cameras, files and tensor cores use.
    Nhwc,
    /// Images interleaved.
    Chwn,
}

impl ImageLayout {
    /// Every layout.
    pub const ALL: [Self; 3] = [Self::Nchw, Self::Nhwc, Self::Chwn];

    /// Returns which of N, C, H, W each place holds.
    #[must_use]
    pub const fn axes(self) -> [usize; 4] {
        match self {
            Self::Nchw => [0, 1, 2, 3],
            Self::Nhwc => [0, 2, 3, 1],
            Self::Chwn => [1, 2, 3, 0],
        }
    }

    /// The shape of images of these sizes, and the order of its axes in another layout.
    fn to(self, other: Self, sizes: [u64; 4]) -> ([u64; 4], [usize; 4]) {
        let axes = self.axes();
        (axes.map(|a| sizes[a]), other.axes().map(|a| axes.iter().position(|&b| b == a).unwrap_or_default()))
    }
}

/// Elements moved by shape. All of them move raw bits (NaN payloads and the sign of zero stay), of any element type.
///
/// Work O(elements), no scratch but what the forms in place say. The order of evaluation does not show. No output may overlap its input.
///
/// ```
/// # use isowarp_core::patterns::{Layout, LayoutTask};
/// # fn f<B: Layout>(dev: &B, x: &isowarp_core::buffer::Buffer<B, f32>) -> isowarp_core::Result<()> {
/// let t = dev.transpose(x, 480, 640).run()?; // 480 rows of 640 become 640 rows of 480
/// let hwc = dev.permute_axes(x, &[3, 320, 320], &[1, 2, 0]).run()?; // planes become interleaved channels
/// # Ok(()) }
/// ```
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, chapter 9 and appendix G.5; Kirk, Hwu and El Hajj, *Programming Massively Parallel
/// Processors*, chapter 16, exercise 2.
pub trait Layout: Run<LayoutTask> + Run<TransposeTask> + Run<TileTransposeTask> + Move {
    /// The array with its axes in another order, row-major: axis `k` of the result is axis `order[k]` of `x` (NumPy's `transpose`).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Two planes of 1 x 3 pixels become three pixels of two channels.
    /// let x = dev.upload(&[1u8, 2, 3, 10, 20, 30])?;
    /// assert_eq!(dev.permute_axes(&x, &[2, 1, 3], &[1, 2, 0]).run()?.read_blocking()?, [1, 10, 2, 20, 3, 30]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the shape has another number of elements; [`Error::InvalidArgument`] if `order` is no permutation of the
    /// axes; [`Error::TooLarge`], [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::WrongDevice`], [`Error::BufferTooSmall`],
    /// [`Error::Aliasing`].
    fn permute_axes<'a, T: Element>(&'a self, x: &'a Buffer<Self, T>, shape: &[u64], order: &[usize]) -> AxesCall<'a, Self, T> {
        ArrayCall::new(self, PermutingAxes { x, shape: shape.to_vec(), order: order.to_vec() })
    }

    /// `rows` rows of `columns` elements become `columns` rows of `rows`. Modifiers: [`batch`](TransposeCall::batch); and
    /// [`in_place`](TransposeCall::in_place) enqueues it where the array lies.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// assert_eq!(dev.transpose(&x, 2, 3).run()?.read_blocking()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::permute_axes`].
    fn transpose<'a, T: Element>(&'a self, x: &'a Buffer<Self, T>, rows: u64, columns: u64) -> TransposeCall<'a, Self, T> {
        ArrayCall::new(self, Transposing { x, batch: None, rows, columns })
    }

    /// A transpose [in place](TransposeCall::in_place) through memory of `bytes`, so that tests need no large arrays.
    #[doc(hidden)]
    fn transpose_through<T: Element>(&self, x: &Buffer<Self, T>, shape: [u64; 3], bytes: u64) -> Result<()> {
        in_place::in_place(self, x, shape, bytes)
    }

    /// A batch of images, `[n, c, h, w]` being its sizes, from one layout to another.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // One image of two channels and 1 x 3 pixels: planes become interleaved channels.
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0, -1.0, -2.0, -3.0])?;
    /// let y = dev.convert_layout(&x, [1, 2, 1, 3], ImageLayout::Nchw, ImageLayout::Nhwc).run()?;
    /// assert_eq!(y.read_blocking()?, [1.0, -1.0, 2.0, -2.0, 3.0, -3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::permute_axes`].
    fn convert_layout<'a, T: Element>(
        &'a self,
        x: &'a Buffer<Self, T>,
        sizes: [u64; 4],
        from: ImageLayout,
        to: ImageLayout,
    ) -> AxesCall<'a, Self, T> {
        let (shape, order) = from.to(to, sizes);
        self.permute_axes(x, &shape, &order)
    }

    /// A copy between two places of any strides: source element `from + sum i_k * axes[k].from` goes to element `to + sum i_k * axes[k].to`.
    /// Elements of `out` that are no destination stay as they are.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Every second element, backwards, into every third place.
    /// let (x, out) = (dev.iota::<u32>(8, 0, 1)?, dev.upload(&[99u32; 7])?);
    /// dev.copy_strided_into(&[Axis { n: 3, from: -2, to: 3 }], (&x, 6), (&out, 0))?;
    /// assert_eq!(out.read_blocking()?, [6, 99, 99, 4, 99, 99, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where an index leaves a buffer; [`Error::InvalidArgument`] where two indices have one destination;
    /// [`Error::TooLarge`] for more than [`MAX_AXES`] axes that cannot be joined; [`Error::Aliasing`], [`Error::WrongDevice`].
    fn copy_strided_into<T: Element>(
        &self,
        axes: &[Axis],
        (x, from): (&Buffer<Self, T>, u64),
        (out, to): (&Buffer<Self, T>, u64),
    ) -> Result<()> {
        copy(self, "copy_strided", axes, (x, from), (out, to))
    }

    /// Copies `height` rows of `width` elements between buffers whose rows start every `pitch` elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // A block of 2 x 2 out of rows of 4.
    /// let (x, out) = (dev.iota::<u32>(8, 0, 1)?, dev.buffer(4)?);
    /// dev.copy_2d_into((&x.slice(1..)?, 4), (&out, 2), 2, 2)?;
    /// assert_eq!(out.read_blocking()?, [1, 2, 5, 6]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::copy_strided_into`]; [`Error::InvalidArgument`] for a pitch of the output below the width.
    fn copy_2d_into<T: Element>(
        &self,
        (x, from_pitch): (&Buffer<Self, T>, u64),
        (out, to_pitch): (&Buffer<Self, T>, u64),
        height: u64,
        width: u64,
    ) -> Result<()> {
        let axes = [Axis { n: height, from: pitch(from_pitch)?, to: to_pitch }, Axis { n: width, from: 1, to: 1 }];
        copy(self, "copy_2d", &axes, (x, 0), (out, 0))
    }

    /// Copies `[depth, height, width]` elements between buffers with a pitch of slices and one of rows, `[slice, row]`, in elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // A block of 2 x 1 x 2 out of slices of 2 x 3.
    /// let (x, out) = (dev.iota::<u32>(12, 0, 1)?, dev.buffer(4)?);
    /// dev.copy_3d_into((&x, [6, 3]), (&out, [2, 2]), [2, 1, 2])?;
    /// assert_eq!(out.read_blocking()?, [0, 1, 6, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::copy_2d_into`].
    fn copy_3d_into<T: Element>(
        &self,
        (x, from): (&Buffer<Self, T>, [u64; 2]),
        (out, to): (&Buffer<Self, T>, [u64; 2]),
        [depth, height, width]: [u64; 3],
    ) -> Result<()> {
        let axes = [
            Axis { n: depth, from: pitch(from[0])?, to: to[0] },
            Axis { n: height, from: pitch(from[1])?, to: to[1] },
            Axis { n: width, from: 1, to: 1 },
        ];
        copy(self, "copy_3d", &axes, (x, 0), (out, 0))
    }

    /// A row-major array whose sides are powers of two, its elements in Morton order (Z-order): bits of the last axis' index lowest, then those
    /// of the axis before it, and so on in turn; axes with no bits left are passed over. One to three axes.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.iota::<u32>(8, 0, 1)?; // 2 rows of 4
    /// assert_eq!(dev.to_morton(&x, &[2, 4]).run()?.read_blocking()?, [0, 1, 4, 5, 2, 3, 6, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for other shapes; [`Error::LengthMismatch`], [`Error::TooLarge`] above 2^32 elements, and as [`Map::map`](super::Map::map).
    fn to_morton<'a, T: Element>(&'a self, x: &'a Buffer<Self, T>, shape: &[u64]) -> MortonCall<'a, Self, T> {
        ArrayCall::new(self, Reordering { x, shape: shape.to_vec(), back: false })
    }

    /// The inverse of [`Layout::to_morton`].
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.iota::<u32>(16, 0, 1)?;
    /// let back = dev.from_morton(&dev.to_morton(&x, &[4, 4]).run()?, &[4, 4]).run()?;
    /// assert_eq!(back.read_blocking()?, x.read_blocking()?);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::to_morton`].
    #[expect(clippy::wrong_self_convention, reason = "the device is `self`; what is converted is an array")]
    fn from_morton<'a, T: Element>(&'a self, x: &'a Buffer<Self, T>, shape: &[u64]) -> MortonCall<'a, Self, T> {
        ArrayCall::new(self, Reordering { x, shape: shape.to_vec(), back: true })
    }
}
impl<B: Run<LayoutTask> + Run<TransposeTask> + Run<TileTransposeTask> + Move> Layout for B {}

#[cfg(test)]
mod tests {
    use super::copy::permuted;
    use super::*;
    use crate::error::Error;

    fn of(shape: &[u64], order: &[usize]) -> LayoutTask {
        let axes = permuted(shape, order, shape.iter().product()).expect("valid");
        LayoutTask::new(&axes).expect("fits")
    }

    #[test]
    fn axes_that_stay_together_are_joined() {
        assert_eq!(of(&[2, 3, 4], &[0, 1, 2]).axes, [Axis { n: 24, from: 1, to: 1 }]);
        assert_eq!(of(&[5, 3, 4, 6], &[0, 2, 3, 1]).axes.len(), 3);
        assert_eq!(of(&[5, 1, 4], &[2, 1, 0]).axes, [Axis { n: 4, from: 1, to: 5 }, Axis { n: 5, from: 4, to: 1 }]);
        assert!(of(&[1, 1], &[1, 0]).axes.is_empty());
    }

    #[test]
    fn a_transpose_has_a_plane_and_a_copy_has_none() {
        assert_eq!(of(&[40, 50], &[1, 0]).plane(8), Some(Plane { from: 0, to: 1 }));
        assert_eq!(of(&[40, 3], &[1, 0]).plane(8), None);
        assert_eq!(of(&[40, 50], &[0, 1]).plane(8), None);
        assert!(of(&[7, 40, 50], &[0, 2, 1]).is_dense());
    }

    #[test]
    fn rows_of_whole_units_are_copied_by_units() {
        let rows = |n, from, to| LayoutTask { axes: vec![Axis { n: 5, from, to }, Axis { n, from: 1, to: 1 }] };
        let units = LayoutTask { axes: vec![Axis { n: 5, from: -6, to: 10 }, Axis { n: 3, from: 1, to: 1 }] };
        assert_eq!(rows(12, -24, 40).in_units(4), Some(units));
        assert_eq!(rows(4, 24, 40).in_units(4), Some(LayoutTask { axes: vec![Axis { n: 5, from: 6, to: 10 }] }));
        assert!([(11, 24, 40), (12, 23, 40), (12, 24, 41)].iter().all(|&(n, from, to)| rows(n, from, to).in_units(4).is_none()));
        assert_eq!(of(&[40, 50], &[1, 0]).in_units(2), None);
    }

    #[test]
    fn a_destination_that_two_elements_share_is_refused() {
        let axes = [Axis { n: 3, from: 4, to: 3 }, Axis { n: 4, from: 1, to: 1 }];
        assert!(matches!(LayoutTask::new(&axes), Err(Error::InvalidArgument { .. })));
    }
}
