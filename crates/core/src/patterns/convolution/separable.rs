//! Convolutions by products of a column and a row.

use super::geometry::{Geometry, Modifiers, Padding};
use super::grid::{Axes, Grid, MAX_AXES};
use super::{ConvolutionCall, Convolutions};
use crate::buffer::Buffer;
use crate::call::{ArrayCall, Arrays};
use crate::error::{Error, Result};
use crate::input::{Input, Lent};
use crate::ir::Expr;
use crate::patterns::Border;
use crate::patterns::product::Factor;
use core::marker::PhantomData;

/// Images and the two filters that they are convolved by.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Separated<I, J, K, T> {
    image: Grid<I>,
    across: Grid<J>,
    down: Grid<K>,
    padding: Padding,
    border: Border,
    flipped: bool,
    of: PhantomData<T>,
}

/// A call of [`Convolutions::separable`].
pub type SeparableCall<'d, B, I, J, K, T> = ArrayCall<'d, B, Separated<I, J, K, T>>;

impl<B, I, J, K, T> SeparableCall<'_, B, I, J, K, T> {
    /// Lets windows reach so many elements beyond either end of columns and of rows.
    pub fn padding(self, padding: &[u64]) -> Self {
        self.with(|what| what.padding = Padding::By(Axes::new(padding, 0), Axes::new(padding, 0)))
    }

    /// Pads so that the result has the image's extents, as [`ConvolutionCall::same`].
    pub fn same(self) -> Self {
        self.with(|what| what.padding = Padding::Same)
    }

    /// The elements that windows read beyond the image, in either direction: [`Border::Zero`] unless told otherwise.
    pub fn border(self, border: Border) -> Self {
        self.with(|what| what.border = border)
    }

    /// Takes the taps of both filters from the last to the first.
    pub fn flipped(self) -> Self {
        self.with(|what| what.flipped = true)
    }
}

impl<I, J, K, T> Separated<I, J, K, T> {
    pub(super) fn new(image: Grid<I>, across: Grid<J>, down: Grid<K>) -> Self {
        Self { image, across, down, padding: Padding::Without, border: Border::Zero, flipped: false, of: PhantomData }
    }

    /// Fails for filters of other than one axis and one channel.
    fn check(&self) -> Result<()> {
        let fail = |what, reason: &str| Err(Error::InvalidArgument { what, reason: reason.to_owned() });
        self.image.check("image")?;
        self.across.check("filter")?;
        self.down.check("filter")?;
        if self.image.extents.rank != 2 {
            return fail("image", "separable filters are of images, which have two axes");
        }
        let is_line = |extents: Axes, channels: u64, batch: u64| extents.rank == 1 && channels == 1 && batch == 1;
        let (across, down) = (&self.across, &self.down);
        if !is_line(across.extents, across.channels, across.batch) || !is_line(down.extents, down.channels, down.batch) {
            return fail("filter", "a separable filter is two filters of one axis and one channel");
        }
        Ok(())
    }

    /// The modifiers of one of the two, whose windows reach beyond the image along its axis alone.
    fn modifiers(&self, axis: usize) -> Modifiers {
        let along = |of: Axes| {
            let mut kept = [0; MAX_AXES];
            kept[axis] = of.of[axis];
            Axes { of: kept, ..of }
        };
        let padding = match self.padding {
            Padding::By(before, after) => Padding::By(along(before), along(after)),
            other => other,
        };
        Modifiers { padding, border: self.border, flipped: self.flipped, ..Modifiers::default() }
    }

    /// The image, each channel by itself.
    fn planes(&self) -> Grid<Lent<'_, I>> {
        let of = &self.image;
        Grid { input: Lent(&of.input), extents: of.extents, channels: 1, batch: of.batch.saturating_mul(of.channels) }
    }

    /// The windows of the first and of the second.
    fn geometry(&self) -> Result<[Geometry; 2]> {
        self.check()?;
        let image = self.planes();
        let first = Geometry::new(&image, &row(&self.across), &self.modifiers(2))?;
        let between = Grid { input: (), extents: Axes { rank: 2, of: first.axes.map(|axis| axis.out) }, ..image_of(&image) };
        let second = Geometry::new(&between, &column(&self.down), &self.modifiers(1))?;
        Ok([first, second])
    }
}

/// A grid without its input.
fn image_of<I>(of: &Grid<I>) -> Grid<()> {
    Grid { input: (), extents: of.extents, channels: of.channels, batch: of.batch }
}

/// A filter of one axis as a row of two.
fn row<I>(of: &Grid<I>) -> Grid<Lent<'_, I>> {
    Grid { input: Lent(&of.input), extents: Axes::new(&[1, of.extents.of[2]], 1), channels: 1, batch: 1 }
}

/// A filter of one axis as a column of two.
fn column<I>(of: &Grid<I>) -> Grid<Lent<'_, I>> {
    Grid { input: Lent(&of.input), extents: Axes::new(&[of.extents.of[2], 1], 1), channels: 1, batch: 1 }
}

impl<B, I, J, K, T> Arrays<B> for Separated<I, J, K, T>
where
    B: Convolutions,
    I: Input<B, Exprs = Expr<T>>,
    J: Input<B, Exprs = Expr<T>>,
    K: Input<B, Exprs = Expr<T>>,
    T: Factor,
{
    type Out = Expr<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        let [_, second] = self.geometry()?;
        Ok(second.windows().saturating_mul(second.batch))
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        let [first, second] = self.geometry()?;
        let (planes, required) = (second.batch, second.windows().saturating_mul(second.batch));
        if out.len() < required {
            return Err(Error::BufferTooSmall { what: "the output", required, available: out.len() });
        }
        let between = ConvolutionCall::new(device, self.planes(), row(&self.across)).modified(self.modifiers(2)).run()?;
        let extents = first.extents();
        let of_rows = super::grid(&between, &extents).batch(planes);
        ConvolutionCall::new(device, of_rows, column(&self.down)).modified(self.modifiers(1)).write_to(out)
    }
}
