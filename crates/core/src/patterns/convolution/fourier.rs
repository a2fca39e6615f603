//! Convolutions by transforms.

use super::call::windows_of;
use super::geometry::{Geometry, Modifiers, Padding};
use super::grid::{Axes, Grid, MAX_AXES};
use super::{Convolutions, PATTERN};
use crate::buffer::Buffer;
use crate::call::{ArrayCall, Arrays};
use crate::error::{Error, Result};
use crate::input::{Input, Lent, array, index};
use crate::ir::{ArrayExpr, Expr, lit, select};
use crate::patterns::map::collect;
use crate::patterns::product::Factor;
use crate::patterns::{FftScalar, check_aliasing};
use core::marker::PhantomData;

/// The part of a full convolution that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Full,
    Same,
    Valid,
}

/// Images and the filter that they are convolved by.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct FourierConvolution<I, J, T> {
    image: Grid<I>,
    filter: Grid<J>,
    part: Part,
    of: PhantomData<T>,
}

/// A call of [`Convolutions::fft_convolve`].
pub type FourierConvolutionCall<'d, B, I, J, T> = ArrayCall<'d, B, FourierConvolution<I, J, T>>;

impl<B, I, J, T> FourierConvolutionCall<'_, B, I, J, T> {
    /// Keeps as many elements as the image has, from the middle of the full convolution: from element `(taps - 1) / 2` of each axis on, as SciPy's `same`.
    pub fn same(self) -> Self {
        self.with(|what| what.part = Part::Same)
    }

    /// Keeps the elements whose windows are inside the image: `n - taps + 1` of each axis.
    pub fn valid(self) -> Self {
        self.with(|what| what.part = Part::Valid)
    }
}

/// The least length of the form `2^a 3^b 5^c` that is not below `n`.
///
/// ```
/// use isowarp_core::patterns::convolution::transform_length;
/// assert_eq!([1, 7, 11, 31, 1025].map(transform_length), [1, 8, 12, 32, 1080]);
/// ```
#[must_use]
pub fn transform_length(n: u64) -> u64 {
    let mut best = n.max(1).next_power_of_two();
    let mut fives = 1u64;
    while fives < best {
        let mut odd = fives;
        while odd < best {
            // Powers of two up to the least that reaches.
            best = best.min(odd * n.max(1).div_ceil(odd).next_power_of_two());
            odd *= 3;
        }
        fives *= 5;
    }
    best
}

/// An axis: points of its transforms, the first element that is kept, and how many are.
#[derive(Clone, Copy)]
struct Axis {
    points: u64,
    first: u64,
    kept: u64,
}

impl<I, J, T> FourierConvolution<I, J, T> {
    pub(super) fn new(image: Grid<I>, filter: Grid<J>) -> Self {
        Self { image, filter, part: Part::Full, of: PhantomData }
    }

    fn planes(&self) -> u64 {
        self.image.channels.saturating_mul(self.image.batch)
    }

    fn axes(&self) -> Result<[Axis; MAX_AXES]> {
        let fail = |what, reason: String| Err(Error::InvalidArgument { what, reason });
        self.image.check("image")?;
        self.filter.check("filter")?;
        let (image, filter) = (self.image.extents, self.filter.extents);
        if image.rank != filter.rank {
            return fail("filter", format!("{} axes, and the image has {}", filter.rank, image.rank));
        }
        if (self.filter.channels, self.filter.batch) != (1, 1) {
            return fail(
                "filter",
                format!("one filter of one channel is transformed, and there are {} of {}", self.filter.batch, self.filter.channels),
            );
        }
        let mut axes = [Axis { points: 1, first: 0, kept: 1 }; MAX_AXES];
        let mut all = self.planes();
        for (k, axis) in axes.iter_mut().enumerate() {
            let (n, taps) = (image.of[k], filter.of[k]);
            let full = n.saturating_add(taps) - 1;
            if full >= 1 << 31 {
                return Err(Error::TooLarge { what: "points of a transform", requested: full, limit: 1 << 31 });
            }
            if self.part == Part::Valid && taps > n {
                return fail("filter", format!("{taps} taps, and the image has {n} elements"));
            }
            let (first, kept) = match self.part {
                Part::Full => (0, full),
                Part::Same => ((taps - 1) / 2, n),
                Part::Valid => (taps - 1, n - taps + 1),
            };
            *axis = Axis { points: transform_length(full), first, kept };
            all = all.saturating_mul(axis.points);
        }
        // Floats are numbered by 32 bits, with the points that the last axis has more.
        let requested = all.saturating_add(all / axes[2].points.max(1) * 2).max(axes.iter().fold(2, |a, axis| a.max(2 * axis.points)));
        if requested > 1 << 32 {
            return Err(Error::TooLarge { what: "floats of a convolution by transforms", requested, limit: 1 << 32 });
        }
        Ok(axes)
    }
}

/// Elements of a shape.
fn elements(shape: &[u64]) -> u64 {
    shape.iter().product()
}

/// A grid in new memory, with zeros after its elements up to the points of its transforms.
fn padded<B: Convolutions, I: Input<B, Exprs = Expr<T>>, T: FftScalar + Factor>(
    device: &B,
    of: Grid<I>,
    axes: &[Axis; MAX_AXES],
) -> Result<Buffer<B, T>> {
    let tap = Grid { input: (), extents: Axes { rank: of.extents.rank, of: [1; MAX_AXES] }, channels: 1, batch: 1 };
    let mut after = [0; MAX_AXES];
    for (k, to) in after.iter_mut().enumerate() {
        *to = axes[k].points - of.extents.of[k];
    }
    let zeros = |of_axes| Axes { rank: of.extents.rank, of: of_axes };
    let padding = Padding::By(zeros([0; MAX_AXES]), zeros(after));
    let geometry = Geometry::new(&of, &tap, &Modifiers { padding, ..Modifiers::default() })?;
    device.map(&windows_of(device, &of, &geometry)?, |x| x)
}

/// The axes of an array of planes along which there is more than a point, and the last one.
fn transformed_axes(axes: &[Axis; MAX_AXES]) -> Vec<usize> {
    (1..=MAX_AXES).filter(|&k| k == MAX_AXES || axes[k - 1].points > 1).collect()
}

/// The transform of planes of real numbers: `[planes, points, points, points / 2 + 1]` complex numbers.
fn transformed<B: Convolutions, T: FftScalar>(device: &B, x: &Buffer<B, T>, axes: &[Axis; MAX_AXES], planes: u64) -> Result<Buffer<B, T>> {
    let [a, b, c] = axes.map(|axis| axis.points);
    device.rfft(x).axes(&[planes, a, b, c], &transformed_axes(axes)).run()
}

impl<B, I, J, T> Arrays<B> for FourierConvolution<I, J, T>
where
    B: Convolutions,
    I: Input<B, Exprs = Expr<T>>,
    J: Input<B, Exprs = Expr<T>>,
    T: FftScalar + Factor,
{
    type Out = Expr<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        Ok(self.axes()?.iter().fold(self.planes(), |all, axis| all.saturating_mul(axis.kept)))
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        let (axes, planes) = (self.axes()?, self.planes());
        let required = self.elements(device)?;
        out.check_device(device, "the output")?;
        if out.len() < required {
            return Err(Error::BufferTooSmall { what: "the output", required, available: out.len() });
        }
        let image = collect(device, PATTERN, &self.image.input)?;
        check_aliasing(PATTERN, &image.leaves, self.image.elements(), &[(out.out(), required)], false)?;
        let filter = collect(device, PATTERN, &self.filter.input)?;
        check_aliasing(PATTERN, &filter.leaves, self.filter.elements(), &[(out.out(), required)], false)?;
        let image = Grid { input: Lent(&self.image.input), extents: self.image.extents, channels: 1, batch: planes };
        let filter = Grid { input: Lent(&self.filter.input), extents: self.filter.extents, channels: 1, batch: 1 };
        let x = padded(device, image, &axes)?;
        let taps = padded(device, filter, &axes)?;
        if required == 0 {
            return Ok(());
        }
        let (x, taps) = (transformed(device, &x, &axes, planes)?, transformed(device, &taps, &axes, 1)?);
        let [a, b, c] = axes.map(|axis| axis.points);
        let of_plane = elements(&[a, b, c / 2 + 1]) as u32;
        let z = device.generate(x.len(), (index(), array(&x), array(&taps)), |(i, x, taps)| {
            let (point, part) = (i >> 1, i & 1u32);
            let of_filter = if planes == 1 { point } else { point % of_plane };
            product(part, pair(x, point), pair(taps, of_filter))
        })?;
        let full = device.irfft(&z, c).axes(&[planes, a, b, c / 2 + 1], &transformed_axes(&axes)).run()?;
        let kept = axes.map(|axis| (axis.kept as u32, axis.first as u32, axis.points as u32));
        device.generate_into(
            required,
            (index(), array(&full)),
            |(i, full)| {
                let (mut rest, mut at, mut step) = (i, lit(0u32), 1u32);
                for (kept, first, points) in kept.into_iter().rev() {
                    at = at + (rest % kept + first) * step;
                    rest = rest / kept;
                    step = step.wrapping_mul(points);
                }
                full.at(at + rest * step)
            },
            out,
        )
    }
}

/// Point `i` of an array of pairs.
fn pair<T: FftScalar>(of: ArrayExpr<T>, i: Expr<u32>) -> (Expr<T>, Expr<T>) {
    (of.at(i << 1), of.at((i << 1) + 1u32))
}

/// A part of the product of complex numbers: `(a c - b d, a d + b c)`, every product and the sum rounded.
fn product<T: FftScalar>(part: Expr<u32>, (a, b): (Expr<T>, Expr<T>), (c, d): (Expr<T>, Expr<T>)) -> Expr<T> {
    let real = part.eq(0);
    let (left, right) = (a.mul_rn(select(real, c, d)), b.mul_rn(select(real, d, c)));
    select(real, left - right, left + right)
}
