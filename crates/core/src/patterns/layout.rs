//! P09 move, by shape: axes permuted, transposes, strided and pitched copies, image layouts, Morton order.

use super::check_aliasing;
use super::map::Map;
use super::moves::{Move, raw_as};
use crate::backend::{Leaf, Out, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{array, index, require};
use crate::ir::{Expr, lit};

/// One axis of a copy: how many elements, and how far apart they lie on either side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Axis {
    /// Elements along it.
    pub n: u64,
    /// Elements from one to the next in the source; negative ones walk backwards, 0 repeats.
    pub from: i64,
    /// Elements from one to the next in the destination.
    pub to: u64,
}

/// A strided copy as data: for every index `(i_0, i_1, ...)` below the axes' lengths, destination element `sum i_k * to_k` is source element
/// `sum i_k * from_k`, counted from the operands' offsets. Raw bits of the leaf's element size move; no element is written twice.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct LayoutTask {
    /// The axes, the one with the largest steps in the destination first; none has fewer than two elements, and none could be joined with the
    /// one after it. At most [`MAX_AXES`].
    pub axes: Vec<Axis>,
}

/// Axes that are left when those that can be joined are.
pub const MAX_AXES: usize = 6;

/// The plane of a copy that is worth cutting into tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plane {
    /// The axis along which source elements are neighbours.
    pub from: usize,
    /// The axis along which destination elements are neighbours: the last.
    pub to: usize,
}

impl LayoutTask {
    /// Orders the axes by the destination and joins those that are one.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more axes than kernels take, [`Error::InvalidArgument`] where two indices have one destination.
    pub fn new(axes: &[Axis]) -> Result<Self> {
        let mut all: Vec<Axis> = axes.iter().copied().filter(|a| a.n > 1).collect();
        all.sort_by_key(|a| core::cmp::Reverse(a.to));
        // Where each step is beyond all that the smaller ones reach, no two places are one.
        let mut reach = 0u64;
        for a in all.iter().rev() {
            if a.to <= reach {
                return Err(Error::InvalidArgument {
                    what: "strides of the output",
                    reason: "two elements would share a place".to_owned(),
                });
            }
            reach = reach.saturating_add((a.n - 1).saturating_mul(a.to));
        }
        let mut joined: Vec<Axis> = Vec::new();
        for a in all {
            match joined.last_mut() {
                Some(o) if o.to == a.to * a.n && o.from == a.from.wrapping_mul(a.n as i64) => *o = Axis { n: o.n * a.n, ..a },
                _ => joined.push(a),
            }
        }
        if joined.len() > MAX_AXES {
            return Err(Error::TooLarge { what: "axes that cannot be joined", requested: joined.len() as u64, limit: MAX_AXES as u64 });
        }
        Ok(Self { axes: joined })
    }

    /// Elements that are copied.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.axes.iter().map(|a| a.n).product()
    }

    /// Whether destination elements lie one after the other without a gap.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        let mut step = 1;
        self.axes.iter().rev().all(|a| {
            let fits = a.to == step;
            step *= a.n;
            fits
        })
    }

    /// The plane to cut into tiles: rows of the source along one axis, rows of the destination along another, both at least `least` long.
    #[must_use]
    pub fn plane(&self, least: u64) -> Option<Plane> {
        let to = self.axes.len().checked_sub(1)?;
        let from = self.axes.iter().position(|a| a.from == 1)?;
        let (p, q) = (self.axes[from], self.axes[to]);
        (from != to && q.to == 1 && p.n >= least && q.n >= least && q.from > 0).then_some(Plane { from, to })
    }

    /// The lowest and the highest element of the source that is read, relative to its offset.
    fn source_reach(axes: &[Axis]) -> (i128, i128) {
        let ends = axes.iter().filter(|a| a.n > 0).map(|a| i128::from(a.n - 1) * i128::from(a.from));
        ends.fold((0, 0), |(low, high), e| (low + e.min(0), high + e.max(0)))
    }

    fn destination_reach(axes: &[Axis]) -> i128 {
        axes.iter().filter(|a| a.n > 0).map(|a| i128::from(a.n - 1) * i128::from(a.to)).sum()
    }
}

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

    /// Which of N, C, H, W each place holds.
    #[must_use]
    pub const fn axes(self) -> [usize; 4] {
        match self {
            Self::Nchw => [0, 1, 2, 3],
            Self::Nhwc => [0, 2, 3, 1],
            Self::Chwn => [1, 2, 3, 0],
        }
    }
}

/// Elements moved by shape. All of them move raw bits (NaN payloads and the sign of zero stay), of any element type.
///
/// Work O(elements), no scratch. The order of evaluation does not show. No output may overlap its input.
///
/// ```
/// # use isowarp_core::patterns::{Layout, LayoutTask};
/// # fn f<B: Layout>(dev: &B, x: &isowarp_core::buffer::Buffer<B, f32>) -> isowarp_core::Result<()> {
/// let t = dev.transpose(x, 480, 640)?; // 480 rows of 640 become 640 rows of 480
/// let hwc = dev.permute_axes(x, &[3, 320, 320], &[1, 2, 0])?; // planes become interleaved channels
/// # Ok(()) }
/// ```
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, chapter 9 and appendix G.5; Kirk, Hwu and El Hajj, *Programming Massively Parallel
/// Processors*, chapter 16, exercise 2.
pub trait Layout: Run<LayoutTask> + Move {
    /// The array with its axes in another order, row-major: axis `k` of the result is axis `order[k]` of `x` (NumPy's `transpose`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the shape has another number of elements; [`Error::InvalidArgument`] if `order` is no permutation of the
    /// axes; [`Error::TooLarge`], [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::WrongDevice`].
    fn permute_axes<T: Element>(&self, x: &Buffer<Self, T>, shape: &[u64], order: &[usize]) -> Result<Buffer<Self, T>> {
        let axes = permuted(shape, order, x.len())?;
        let out = self.buffer(x.len())?;
        copy(self, "permute_axes", &axes, (x, 0), (&out, 0))?;
        Ok(out)
    }

    /// As [`Layout::permute_axes`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Layout::permute_axes`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn permute_axes_into<T: Element>(&self, x: &Buffer<Self, T>, shape: &[u64], order: &[usize], out: &Buffer<Self, T>) -> Result<()> {
        let axes = permuted(shape, order, x.len())?;
        if out.len() < x.len() {
            return Err(Error::BufferTooSmall { what: "the output", required: x.len(), available: out.len() });
        }
        copy(self, "permute_axes", &axes, (x, 0), (out, 0))
    }

    /// `rows` rows of `columns` elements become `columns` rows of `rows`.
    ///
    /// # Errors
    /// As [`Layout::permute_axes`].
    fn transpose<T: Element>(&self, x: &Buffer<Self, T>, rows: u64, columns: u64) -> Result<Buffer<Self, T>> {
        self.permute_axes(x, &[rows, columns], &[1, 0])
    }

    /// As [`Layout::transpose`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Layout::permute_axes_into`].
    fn transpose_into<T: Element>(&self, x: &Buffer<Self, T>, rows: u64, columns: u64, out: &Buffer<Self, T>) -> Result<()> {
        self.permute_axes_into(x, &[rows, columns], &[1, 0], out)
    }

    /// `batch` matrices, one after the other, each transposed.
    ///
    /// # Errors
    /// As [`Layout::permute_axes`].
    fn transpose_batched<T: Element>(&self, x: &Buffer<Self, T>, batch: u64, rows: u64, columns: u64) -> Result<Buffer<Self, T>> {
        self.permute_axes(x, &[batch, rows, columns], &[0, 2, 1])
    }

    /// A batch of images, `[n, c, h, w]` being its sizes, from one layout to another.
    ///
    /// # Errors
    /// As [`Layout::permute_axes`].
    fn convert_layout<T: Element>(
        &self,
        x: &Buffer<Self, T>,
        sizes: [u64; 4],
        from: ImageLayout,
        to: ImageLayout,
    ) -> Result<Buffer<Self, T>> {
        let shape = from.axes().map(|a| sizes[a]);
        let order = to.axes().map(|a| from.axes().iter().position(|&b| b == a).unwrap_or_default());
        self.permute_axes(x, &shape, &order)
    }

    /// A copy between two places of any strides: source element `from + sum i_k * axes[k].from` goes to element `to + sum i_k * axes[k].to`.
    /// Elements of `out` that are no destination stay as they are.
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
    /// # Errors
    /// [`Error::InvalidArgument`] for other shapes; [`Error::LengthMismatch`], [`Error::TooLarge`] above 2^32 elements, and as [`Map::map`].
    fn to_morton<T: Element>(&self, x: &Buffer<Self, T>, shape: &[u64]) -> Result<Buffer<Self, T>> {
        let places = morton_bits(shape, x.len())?;
        let out = self.buffer(x.len())?;
        reordered(self, x, &out, &places, false)?;
        Ok(out)
    }

    /// The inverse of [`Layout::to_morton`].
    ///
    /// # Errors
    /// As [`Layout::to_morton`].
    #[expect(clippy::wrong_self_convention, reason = "the device is `self`; what is converted is an array")]
    fn from_morton<T: Element>(&self, x: &Buffer<Self, T>, shape: &[u64]) -> Result<Buffer<Self, T>> {
        let places = morton_bits(shape, x.len())?;
        let out = self.buffer(x.len())?;
        reordered(self, x, &out, &places, true)?;
        Ok(out)
    }
}
impl<B: Run<LayoutTask> + Move> Layout for B {}

fn pitch(elements: u64) -> Result<i64> {
    i64::try_from(elements).map_err(|_| Error::TooLarge { what: "pitch", requested: elements, limit: i64::MAX as u64 })
}

/// The axes of a permuted row-major array, in the result's order.
fn permuted(shape: &[u64], order: &[usize], len: u64) -> Result<Vec<Axis>> {
    let mut seen = vec![false; shape.len()];
    let valid = order.len() == shape.len() && order.iter().all(|&k| seen.get_mut(k).is_some_and(|s| !core::mem::replace(s, true)));
    if !valid {
        let reason = format!("{order:?} is no permutation of {} axes", shape.len());
        return Err(Error::InvalidArgument { what: "order of axes", reason });
    }
    let expected = shape.iter().try_fold(1u64, |a, &b| a.checked_mul(b)).unwrap_or(u64::MAX);
    if expected != len {
        return Err(Error::LengthMismatch { what: "elements of the shape", expected, found: len });
    }
    let mut from = vec![1i64; shape.len()];
    for k in (1..shape.len()).rev() {
        from[k - 1] = from[k].wrapping_mul(shape[k] as i64);
    }
    let mut axes: Vec<Axis> = order.iter().map(|&k| Axis { n: shape[k], from: from[k], to: 1 }).collect();
    for k in (1..axes.len()).rev() {
        axes[k - 1].to = axes[k].to.wrapping_mul(axes[k].n);
    }
    Ok(axes)
}

/// Checks and enqueues a strided copy.
pub(crate) fn copy<B: Run<LayoutTask>, T: Element>(
    device: &B,
    pattern: &'static str,
    axes: &[Axis],
    (x, from): (&Buffer<B, T>, u64),
    (out, to): (&Buffer<B, T>, u64),
) -> Result<()> {
    require(device, pattern, T::DTYPE)?;
    for (b, what) in [(x, "the input"), (out, "the output")] {
        if !b.device().same_device(device) {
            return Err(Error::WrongDevice { what });
        }
    }
    if axes.iter().any(|a| a.n == 0) {
        return Ok(());
    }
    let (low, high) = LayoutTask::source_reach(axes);
    let (first, last) = (i128::from(from) + low, i128::from(from) + high);
    let end = i128::from(to) + LayoutTask::destination_reach(axes);
    let outside = |what, first: i128, last: i128, len| {
        let cut = |v: i128| u64::try_from(v.max(0)).unwrap_or(u64::MAX);
        Err(Error::OutOfRange { what, start: cut(first), end: cut(last + 1), len })
    };
    if first < 0 || last >= i128::from(x.len()) {
        return outside("elements of the input", first, last, x.len());
    }
    if end >= i128::from(out.len()) {
        return outside("elements of the output", to.into(), end, out.len());
    }
    let task = LayoutTask::new(axes)?;
    let leaf = |offset| Leaf::Elements { raw: x.raw().clone(), dtype: T::DTYPE, offset, stride: 1 };
    let dst = Out { raw: out.raw().clone(), dtype: T::DTYPE, offset: out.offset() + to };
    let read = leaf(x.offset() + first as u64);
    check_aliasing(pattern, &[read], (last - first) as u64 + 1, &[(dst.clone(), (end - i128::from(to)) as u64 + 1)], false)?;
    device.run(&task, &[leaf(x.offset() + from)], &[dst])
}

/// For every bit of a Morton index, from the lowest, the bit of the row-major index that it is.
fn morton_bits(shape: &[u64], len: u64) -> Result<Vec<u32>> {
    let wrong = |reason: String| Error::InvalidArgument { what: "shape", reason };
    if shape.is_empty() || shape.len() > 3 {
        return Err(wrong(format!("{} axes; Morton order has one to three", shape.len())));
    }
    if let Some(side) = shape.iter().find(|s| !s.is_power_of_two()) {
        return Err(wrong(format!("{side} is no power of two")));
    }
    let bits: Vec<u32> = shape.iter().map(|s| s.trailing_zeros()).collect();
    let total: u32 = bits.iter().sum();
    if total > 32 {
        return Err(Error::TooLarge { what: "bits of a Morton index", requested: total.into(), limit: 32 });
    }
    if len != 1 << total {
        return Err(Error::LengthMismatch { what: "elements of the shape", expected: 1 << total, found: len });
    }
    // Where the bits of an axis start in the row-major index.
    let start = |axis: usize| bits[axis + 1..].iter().sum::<u32>();
    let mut places = Vec::new();
    for level in 0..32 {
        for axis in (0..shape.len()).rev().filter(|&a| level < bits[a]) {
            places.push(start(axis) + level);
        }
    }
    Ok(places)
}

/// `i` with bit `k` at `places[k]`, or the inverse of that.
fn rearranged(i: Expr<u32>, places: &[u32], inverse: bool) -> Expr<u32> {
    // Bits that move equally far move together.
    let mut moves: Vec<(i64, u32)> = Vec::new();
    for (k, &p) in places.iter().enumerate() {
        let (a, b) = if inverse { (p, k as u32) } else { (k as u32, p) };
        let by = i64::from(b) - i64::from(a);
        match moves.iter_mut().find(|m| m.0 == by) {
            Some(m) => m.1 |= 1 << a,
            None => moves.push((by, 1 << a)),
        }
    }
    let parts = moves.into_iter().map(|(by, mask)| {
        let part = i & mask;
        if by >= 0 { part << by as u32 } else { part >> (-by) as u32 }
    });
    parts.reduce(|a, b| a | b).unwrap_or(lit(0))
}

fn reordered<B: Move, T: Element>(device: &B, x: &Buffer<B, T>, out: &Buffer<B, T>, places: &[u32], inverse: bool) -> Result<()> {
    let (n, places) = (x.len(), places.to_vec());
    macro_rules! fused {
        ($word:ty) => {{
            let (x, out) = (raw_as::<B, T, $word>(x)?, raw_as::<B, T, $word>(out)?);
            device.generate_into(n, (array(&x), index()), |(x, i)| x.at(rearranged(i, &places, inverse)).store_as::<$word>(), &out)
        }};
    }
    match T::DTYPE.size_bytes() {
        1 => fused!(u8),
        4 => fused!(u32),
        8 => fused!(u64),
        _ => {
            let order: Buffer<B, u32> = device.generate(n, index(), |i| rearranged(i, &places, inverse))?;
            device.gather_into(x, &order, out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_destination_that_two_elements_share_is_refused() {
        let axes = [Axis { n: 3, from: 4, to: 3 }, Axis { n: 4, from: 1, to: 1 }];
        assert!(matches!(LayoutTask::new(&axes), Err(Error::InvalidArgument { .. })));
    }

    #[test]
    fn morton_bits_alternate_while_there_are_two() {
        // 2 rows of 8: x0 y0 x1 x2.
        assert_eq!(morton_bits(&[2, 8], 16).expect("powers of two"), [0, 3, 1, 2]);
        assert_eq!(morton_bits(&[2, 2, 2], 8).expect("powers of two"), [0, 1, 2]);
        assert!(morton_bits(&[3, 4], 12).is_err());
    }
}
