//! Grids as operands: any input, with extents, channels and a batch.

use super::PATTERN;
use crate::error::{Error, Result};

/// The most axes of a grid.
pub(super) const MAX_AXES: usize = 3;

/// A number to each axis, aligned at the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Axes {
    pub(super) rank: usize,
    pub(super) of: [u64; MAX_AXES],
}

impl Axes {
    /// The numbers of a list, and `fill` for axes before its first one.
    pub(super) fn new(list: &[u64], fill: u64) -> Self {
        let mut of = [fill; MAX_AXES];
        for (to, &from) in of.iter_mut().rev().zip(list.iter().rev()) {
            *to = from;
        }
        Self { rank: list.len(), of }
    }

    /// The numbers again, or `fill` for every axis where none were given.
    ///
    /// # Errors
    /// Other than one to each axis.
    pub(super) fn given(list: Option<Self>, what: &'static str, rank: usize, fill: u64) -> Result<[u64; MAX_AXES]> {
        match list {
            None => Ok([fill; MAX_AXES]),
            Some(list) if list.rank == rank => Ok(list.of),
            Some(list) => {
                let reason = format!("{} numbers for {rank} axes", list.rank);
                Err(Error::InvalidArgument { what, reason })
            }
        }
    }
}

/// An input as grids of one to three axes: a signal, an image or a volume, with channels, and a batch of such. See [`grid`].
#[derive(Clone, Copy, Debug)]
pub struct Grid<I> {
    pub(super) input: I,
    pub(super) extents: Axes,
    pub(super) channels: u64,
    pub(super) batch: u64,
}

/// The elements of an input as a row-major grid with these extents, of one to three axes: buffers, views, and what [`map`](crate::input::Source::map) makes of
/// them. [`channels`](Grid::channels) and a [`batch`](Grid::batch) are axes before them, as in NCHW and OIHW.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let x = dev.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let taps = dev.upload(&[1.0f32, -1.0])?;
/// // Two rows of three pixels; the same elements as two signals.
/// assert_eq!(dev.convolve(grid(&x, &[2, 3]), grid(&taps, &[1, 2])).run()?.read_blocking()?, [-1.0; 4]);
/// assert_eq!(dev.convolve(grid(&x, &[3]).batch(2), grid(&taps, &[2])).run()?.read_blocking()?, [-1.0; 4]);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub fn grid<I>(input: I, extents: &[u64]) -> Grid<I> {
    Grid { input, extents: Axes::new(extents, 1), channels: 1, batch: 1 }
}

impl<I> Grid<I> {
    /// Takes so many channels, one grid after the other: of filters those that a filter looks at.
    pub fn channels(self, channels: u64) -> Self {
        Self { channels, ..self }
    }

    /// Takes so many images with all of their channels, one after the other, or so many filters.
    pub fn batch(self, count: u64) -> Self {
        Self { batch: count, ..self }
    }

    /// Elements of a channel.
    pub(super) fn points(&self) -> u64 {
        self.extents.of.iter().fold(1, |a: u64, &n| a.saturating_mul(n))
    }

    /// Elements of the input.
    pub(super) fn elements(&self) -> u64 {
        self.points().saturating_mul(self.channels).saturating_mul(self.batch)
    }

    /// Fails for no axes or too many, and where an axis has no elements or there is no channel.
    pub(super) fn check(&self, what: &'static str) -> Result<()> {
        let fail = |reason: String| Err(Error::InvalidArgument { what, reason });
        let Axes { rank, of } = self.extents;
        if rank == 0 || rank > MAX_AXES {
            return fail(format!("{rank} axes; a grid has 1 to {MAX_AXES}"));
        }
        if of.contains(&0) {
            return fail(format!("an axis of no elements, of {:?}", &of[MAX_AXES - rank..]));
        }
        if self.channels == 0 {
            return fail("no channels".to_owned());
        }
        if self.elements() == u64::MAX {
            return Err(Error::TooLarge { what: PATTERN, requested: u64::MAX, limit: 1 << 32 });
        }
        Ok(())
    }

    /// Fails for an input of another length.
    pub(super) fn check_length(&self, what: &'static str, found: u64) -> Result<()> {
        let expected = self.elements();
        if found == expected { Ok(()) } else { Err(Error::LengthMismatch { what, expected, found }) }
    }
}
