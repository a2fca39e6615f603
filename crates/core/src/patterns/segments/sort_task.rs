//! Sorts of long segments as data, and the tiles that backends cut them into.

use crate::backend::{Leaf, Out, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::error::{Error, Result};
use crate::input::{array, index, scalar};
use crate::ir::{Expr, lit, select};
use crate::ops::{Max, Sum};
use crate::patterns::select::Count;
use crate::patterns::{IndexElement, Map as _, MapTask, Scan as _, ScanTask, SortPlaces, SortTask};

/// Stable sorts of parts of an array as data. The leaves are those of [`SegmentedSortTask::sort`], then the bounds: an array of `u32`, one more than there
/// are parts, which begins with 0, ends with the number of keys and never falls. The first part and the last one stay as they are: they are in no segment.
/// Indices count from the array's start. Nothing is lent, and no output is an input.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct SegmentedSortTask {
    /// What is sorted by, and what travels; one row of all keys.
    pub sort: SortTask,
    /// Parts, of which two are in no segment.
    pub parts: u64,
}

/// Which operand of a task is what.
#[derive(Clone, Copy, Debug)]
pub struct SegmentedSortPlaces<'a, R> {
    /// Those of the sort.
    pub sort: SortPlaces<'a, R>,
    /// The bounds, and the first of them.
    pub bounds: (&'a R, u64),
}

impl SegmentedSortTask {
    /// The operands by what they are.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where they are not those of this task.
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Result<SegmentedSortPlaces<'a, R>> {
        match leaves {
            [sort @ .., Leaf::Array { raw, offset, .. }] => {
                Ok(SegmentedSortPlaces { sort: self.sort.places(sort, outs)?, bounds: (raw, *offset) })
            }
            _ => Err(Error::InvalidArgument { what: "segmented sort", reason: "its operands do not fit".to_owned() }),
        }
    }

    /// How many tiles of `tile` keys there are at most, where none holds keys of two parts.
    #[must_use]
    pub const fn most_tiles(&self, tile: u64) -> u64 {
        self.sort.n / tile + self.parts
    }

    /// Cuts the parts into tiles of at most `tile` keys.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn tiles<B: Run<MapTask> + Run<ScanTask>>(
        &self,
        device: &B,
        places: &SegmentedSortPlaces<'_, B::Raw>,
        tile: u64,
        fourth: Fourth,
    ) -> Result<Buffer<B, u32>> {
        let (raw, offset) = places.bounds;
        let bounds = &Buffer::<B, u32>::from_raw(device, raw.clone(), offset, self.parts + 1)?;
        let next = bounds.slice(1..)?;
        let tile = tile as u32;
        let tiles_of = move |begin: Expr<u32>, end: Expr<u32>| {
            let len = end - begin;
            len / tile + (len % tile).ne(0).cast::<u32>()
        };
        // The first tile of each part, and the end of all.
        let ends = device.scan_from((&bounds.slice(..self.parts)?, &next), |(begin, end)| tiles_of(begin, end), Sum, false)?;
        let room = self.most_tiles(u64::from(tile));
        let table = device.buffer::<u32>(4 * room)?;
        let row = |k: u64| table.slice(k * room..(k + 1) * room);
        let (begins, sizes, firsts, fourths) = (row(0)?, row(1)?, row(2)?, row(3)?);
        let parts = self.parts as u32;
        device.generate_into(
            room,
            (index(), array(&ends), array(bounds), scalar(parts)),
            |(t, ends, bounds, parts): (Expr<u32>, _, _, Expr<u32>)| {
                // The parts that end at or before this tile's start: those before the one that it lies in.
                let mut part = lit(0u32);
                for step in (0..=MOST_PARTS.ilog2()).rev() {
                    let further = part + (1u32 << step);
                    part = select(further.le(parts) & ends.at(further - 1).le(t), further, part);
                }
                let there = part.lt(parts);
                let first = select(part.eq(0), lit(0u32), ends.at(part - 1));
                let (begin, end) = (bounds.at(part) + (t - first) * tile, bounds.at(part + 1));
                let stays = part.eq(0) | part.eq(parts - 1);
                let size = (end - begin).min(tile) | select(stays, lit(STAYS), lit(0u32));
                let fourth = match fourth {
                    Fourth::Part => part,
                    Fourth::Tiles => ends.at(part) - first,
                };
                (begin, select(there, size, lit(0u32)), first, fourth)
            },
            (&begins, &sizes, &firsts, &fourths),
        )?;
        Ok(table)
    }
}

/// What the last of four arrays says about the part that a tile lies in: see [`SegmentedSortTask::tiles`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fourth {
    /// Its number.
    Part,
    /// How many tiles it has.
    Tiles,
}

/// Marks the size of a tile whose keys stay where they are.
pub const STAYS: u32 = 1 << 31;

/// Keys of a segment, on average, from which on tiles that lie in one segment each are worth it: they are at most twice as many as tiles of the array.
const LONG: u64 = 4096;
/// Parts that an array of at most 2^32 - 1 keys then has, at most.
const MOST_PARTS: u32 = 1 << 20;

/// Whether segments are sorted by such a task.
pub(super) const fn are_long(n: u64, segments: u64) -> bool {
    let parts = segments + 2;
    n / LONG >= parts && parts <= MOST_PARTS as u64
}

/// The bounds of the parts that offsets cut `n` keys into. They never fall, whatever the offsets are.
pub(super) fn bounds<B, O: Count + IndexElement>(device: &B, n: u64, offsets: &Buffer<B, O>) -> Result<Buffer<B, u32>>
where
    B: Run<ScanTask> + Run<MapTask>,
{
    let segments = offsets.len() - 1;
    let limited = device.buffer(segments + 3)?;
    device.generate_into(
        segments + 3,
        (index(), array(offsets), scalar(n as u32), scalar(segments as u32)),
        |(k, offsets, n, segments): (Expr<u32>, _, Expr<u32>, Expr<u32>)| {
            let offset = offsets.at(k - 1).min(n.cast::<O>()).cast::<u32>();
            select(k.eq(0), lit(0u32), select(k.gt(segments + 1), n, offset))
        },
        &limited,
    )?;
    device.scan_inclusive(&limited, Max)
}
