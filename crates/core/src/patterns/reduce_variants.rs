//! P02 reduce, the rungs of the textbooks' ladder: kept for teaching and for benchmarks. [`Reduce`](super::Reduce) is what to use.

use super::map::{Map, MapTask, collect, same, trace};
use super::reduce::checked;
use super::{Lines, ReduceTask};
use crate::backend::Run;
use crate::buffer::{Buffer, DeviceScalar, Memory};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Input, Outputs};
use crate::ir::Expr;
use crate::ops::{Combine, combine_func, identity};

/// Lanes of a tile: what one workgroup combines.
pub const LANES: u64 = 256;
/// Lanes of a logical group, whatever the width of the device's subgroups.
pub const GROUP: u64 = 32;
/// Elements that a lane of the coarsened rungs combines by itself.
pub const SERIAL: u64 = 16;

/// A rung of the ladder: a way to reduce, with an order of evaluation of its own.
///
/// All but two cut the array into tiles of [`ReduceVariant::tile`] elements, a workgroup each. A lane first combines the elements that
/// fall to it, then the lanes' values are combined by a tree, and the tiles' results are an array that is reduced in the same way, until one
/// is left. What does not exist is skipped; nothing is padded. In the orders below `x[i]` is a lane's value, and `s` is a step of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum ReduceVariant {
    /// No tiles, and a launch for every level: `x[i]` becomes `combine(x[i], x[i + half])`, where `half` is half the length, rounded up.
    ///
    /// Source: Ansorge, example 2.5, `reduce0`.
    FoldInHalf,
    /// A lane to an element; neighbours first: for s = 1, 2, 4, ... lane `i`, a multiple of `2 s`, takes `combine(x[i], x[i + s])`. Working and
    /// idle lanes alternate, so that subgroups diverge. The aligned binary tree: the bits of the pattern.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 10.3.
    Interleaved,
    /// The pairs of [`ReduceVariant::Interleaved`], and so its bits, given to the lanes without gaps: lane `l` works on `i = 2 s l`.
    ///
    /// Source: Harris, *Optimizing parallel reduction in CUDA* (2007), second kernel.
    Convergent,
    /// A lane to an element; far ones first: for s = 128, 64, ..., 1 lane `i < s` takes `combine(x[i], x[i + s])`. Working lanes and their operands
    /// lie side by side.
    ///
    /// Source: Ansorge, examples 2.7 and 2.8, `reduce2` and `reduce3`; Kirk, Hwu and El Hajj, sections 10.4 to 10.6.
    Sequential,
    /// As [`ReduceVariant::Sequential`] with two elements to a lane, `i` and `i + 256`, combined as they are loaded.
    ///
    /// Source: Harris, fourth kernel.
    FirstCombine,
    /// The order of [`ReduceVariant::FirstCombine`], and so its bits, with the steps written out; on CUDA the last ones synchronise a warp only.
    ///
    /// Source: Ansorge, examples 2.9 and 3.1, `reduce4` and `reduce5`.
    Unrolled,
    /// As [`ReduceVariant::Sequential`] with 16 elements to a lane, `i`, `i + 256`, ..., `i + 3840`, folded from left to right.
    ///
    /// Source: Ansorge, example 2.6, `reduce1` (with a fixed stride, since a grid's would make the order the device's); Kirk, Hwu and El Hajj,
    /// section 10.8.
    Coarsened,
    /// The lanes of [`ReduceVariant::Coarsened`]; then, in groups of 32, s = 16, 8, ..., 1, and over the groups' values s = 4, 2, 1. On CUDA the
    /// lanes of a group exchange their values without shared memory.
    ///
    /// Source: Ansorge, examples 3.4 to 3.6, `reduce6` to `reduce8` (whose atomic sums of the groups would have no order).
    Shuffle,
    /// The tree of [`ReduceVariant::Shuffle`] over lanes that load vectors: lane `l` folds the vectors of four `l`, `l + 256`, `l + 512`, `l + 768`
    /// component by component, and then its four components from left to right.
    ///
    /// Source: Ansorge, example 3.7, `reduce7_vl`.
    Vectorised,
    /// The pattern itself: [`Reduce`](super::Reduce).
    AlignedTree,
}

impl ReduceVariant {
    /// Every rung, the pattern last.
    pub const ALL: [Self; 10] = [
        Self::FoldInHalf,
        Self::Interleaved,
        Self::Convergent,
        Self::Sequential,
        Self::FirstCombine,
        Self::Unrolled,
        Self::Coarsened,
        Self::Shuffle,
        Self::Vectorised,
        Self::AlignedTree,
    ];

    /// Its name: `fold-in-half`, `interleaved`, ...
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FoldInHalf => "fold-in-half",
            Self::Interleaved => "interleaved",
            Self::Convergent => "convergent",
            Self::Sequential => "sequential",
            Self::FirstCombine => "first-combine",
            Self::Unrolled => "unrolled",
            Self::Coarsened => "coarsened",
            Self::Shuffle => "shuffle",
            Self::Vectorised => "vectorised",
            Self::AlignedTree => "aligned-tree",
        }
    }

    /// The rung of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name)
    }

    /// Elements of a tile, where there are tiles.
    #[must_use]
    pub const fn tile(self) -> Option<u64> {
        match self {
            Self::FoldInHalf | Self::AlignedTree => None,
            Self::Interleaved | Self::Convergent | Self::Sequential => Some(LANES),
            Self::FirstCombine | Self::Unrolled => Some(2 * LANES),
            Self::Coarsened | Self::Shuffle | Self::Vectorised => Some(SERIAL * LANES),
        }
    }

    /// Whether left operands always come from lower indices than right ones. Only then does an operator that does not commute give what the
    /// pattern gives; the other rungs are for operators that commute.
    #[must_use]
    pub const fn keeps_order(self) -> bool {
        matches!(self, Self::Interleaved | Self::Convergent | Self::AlignedTree)
    }
}

/// A reduction by a certain rung, as data.
#[derive(Clone, Debug)]
pub struct ReduceVariantTask {
    /// Which rung.
    pub variant: ReduceVariant,
    /// What to reduce: one contiguous line.
    pub reduce: ReduceTask,
}

/// Reductions by the rungs of the ladder.
///
/// # Order of evaluation
/// That of the [`ReduceVariant`], a function of the number of elements alone: the same bits on every device. Integers give the bits of the
/// pattern; floats give them where the order is the same.
///
/// Work O(n); scratch n / 256 accumulators or fewer, for [`ReduceVariant::FoldInHalf`] n / 2.
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, chapters 2 and 3; Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*,
/// chapter 10.
pub trait ReduceVariants: Run<ReduceVariantTask> + Run<MapTask> {
    /// All elements combined.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1e8f32, 1.0, -1e8, 1.0])?;
    /// assert_eq!(dev.reduce_variant(ReduceVariant::Convergent, &x, Sum)?.read_blocking()?, 0.0); // (1e8 + 1) + (-1e8 + 1)
    /// assert_eq!(dev.reduce_variant(ReduceVariant::Sequential, &x, Sum)?.read_blocking()?, 2.0); // (1e8 - 1e8) + (1 + 1)
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduce::reduce`](super::Reduce::reduce); [`Error::TooLarge`] where a device would have to bind more at once than it can
    /// ([`ReduceVariant::FoldInHalf`] on WebGPU).
    fn reduce_variant<T: Element<Reg = T> + Scalar>(
        &self,
        variant: ReduceVariant,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
    ) -> Result<DeviceScalar<Self, T>> {
        let out = self.buffer(1)?;
        self.reduce_variant_into(variant, x, op, &out)?;
        DeviceScalar::from_buffer(out)
    }

    /// As [`ReduceVariants::reduce_variant`], into a buffer of the caller's with at least one element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[3u32, 9, 4])?, dev.buffer(1)?);
    /// dev.reduce_variant_into(ReduceVariant::Shuffle, &x, Max, &out)?;
    /// assert_eq!(out.read_blocking()?, [9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ReduceVariants::reduce_variant`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn reduce_variant_into<T: Element<Reg = T> + Scalar>(
        &self,
        variant: ReduceVariant,
        x: &Buffer<Self, T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        self.reduce_variant_from_into(variant, x, same, op, out)
    }

    /// `f` of the inputs, element by element, combined into a buffer of the caller's; nothing lies in memory in between.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y, out) = (dev.upload(&[1u32, 2, 3])?, dev.upload(&[4u32, 5, 6])?, dev.buffer(1)?);
    /// dev.reduce_variant_from_into(ReduceVariant::Vectorised, (&x, &y), |(x, y)| x * y, Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [32]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ReduceVariants::reduce_variant_into`], and [`Error::LengthMismatch`].
    fn reduce_variant_from_into<I: Input<Self>, T: Element<Reg = T> + Scalar>(
        &self,
        variant: ReduceVariant,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let c = collect(self, "reduce", &inputs)?;
        let lines = Lines::one(c.len()?);
        let load = trace(&inputs, &c, f)?;
        let mut outs = Vec::new();
        Expr::<T>::outs(self, out, 1, &mut outs)?;
        if lines.n == 0 {
            let Some(v) = op.of_nothing() else { return Err(Error::Empty { pattern: op.name() }) };
            return self.fill(&out.slice(..1)?, v);
        }
        let combine = combine_func(&op)?;
        let finish = identity::<T>()?;
        let reduce = ReduceTask { load, combine, finish, lines, numerics: self.numerics() };
        let outs = checked(self, &c, &reduce, &outs)?;
        self.run(&ReduceVariantTask { variant, reduce }, &c.leaves, &outs)
    }
}
impl<B: Run<ReduceVariantTask> + Run<MapTask>> ReduceVariants for B {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for v in ReduceVariant::ALL {
            assert_eq!(ReduceVariant::named(v.name()), Some(v));
        }
        assert_eq!(ReduceVariant::named("reduce7"), None);
    }

    #[test]
    fn tiles_are_whole_rows_of_lanes_and_vectors() {
        for tile in ReduceVariant::ALL.into_iter().filter_map(ReduceVariant::tile) {
            assert!(tile.is_power_of_two() && tile.is_multiple_of(LANES));
        }
    }
}
