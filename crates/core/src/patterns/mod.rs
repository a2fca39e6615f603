//! The patterns: one file each, with the typed trait that users call, the contract, the task that backends run, and the
//! arithmetic of its order.

pub mod atomics;
mod before;
pub mod convolution;
pub mod exact;
mod extreme;
pub mod fft;
pub mod filter;
pub mod groups;
pub mod histogram;
pub mod layout;
pub mod map;
pub mod merge;
pub mod merge_sort;
pub mod moves;
mod operand;
pub mod ordered_sum;
pub mod permutation;
pub mod plan;
pub mod product;
pub mod reduce;
pub mod scan;
pub mod segments;
pub mod select;
pub mod solve;
pub mod sort;
mod stored;
pub mod ulps;
pub mod window;

/// Called once all is checked, before anything is enqueued. One type for all callers, so that what takes it is compiled once for all of them.
pub(crate) type Prepare<'a> = &'a dyn Fn() -> crate::error::Result<()>;

pub use atomics::{Atomics, FixedPoint, Overflow};
pub use convolution::{ConvolutionCall, ConvolutionTask, Convolutions, Grid, grid};
pub use exact::{ExactCall, ExactSumTask, ExactSums};
pub use extreme::{ByEnd, Candidate, Candidates, End, IndexAlone, IndexedCall, ValueAndIndex};
pub use fft::{Fft, FftCall, FftPlan, FftScalar, FftTask, IrfftCall, RfftCall, RfftPlan, ShiftCall};
pub use filter::{Border, Filter, FilterKind, FilterTask, Image};
pub use groups::{BallotTask, GroupFolds, Groups, Peers, PeersTask, Shuffle};
pub use histogram::{
    Binning, Bins, CountedBins, Edges, Histogram, HistogramCall, HistogramSum, HistogramTask, HistogramTotal, Sample, Weight, binned,
    bins_between, channels_alike, channels_between, channels_even, channels_of, even_bins,
};
pub use layout::{Axis, ImageLayout, Layout, LayoutTask, TileTransposeTask, TransposeTask};
pub use map::{Map, MapTask};
pub use merge::{
    BothTuples, BothValues, CoRankFromTask, CoRankTask, CoRanksCall, Merge, MergeCall, MergeDomain, MergeFromTask, MergePlaces, MergeTask,
    Search, SearchBy, SearchCall, SearchDomain, SearchFromTask, SearchKind, SearchTask, SetCall, SetDomain, Sets, Sides,
};
pub use merge_sort::{MergeByTask, MergeSortPlaces, MergeSortTask, MergeTiling};
pub use moves::{
    GatherCall, GatherTask, IndexElement, IndexScalar, Move, PermuteCall, ScatterCall, ScatterFromTask, ScatterOp, ScatterTask,
};
pub use ordered_sum::{OrderedSum, OrderedSumCall, SumOrder};
pub use permutation::Permutation;
pub use product::{FactorFormat, Matrix, ProductCall, ProductOrder, ProductTask, Products, matrix};
pub use reduce::{Integral, Quadrature, Reduce, ReduceCall, ReduceTask, Reducing, Statistics};
pub use scan::{Scan, ScanCall, ScanDomain, ScanKind, ScanTask, Scanning};
pub use segments::{
    Adjacent, ByKeyPlaces, Difference, Less, OfNeighbours, ReduceByKeyTask, SegmentPlaces, Segmented, SegmentedReduceTask,
    SegmentedSortPlaces, SegmentedSortTask,
};
pub use select::{
    ByKeys, ByValue, Condition, Decode, Each, EqualBy, Equality, Find, FindIf, First, Flagged, InThree, InTwo, Kept, NonTrivialRuns,
    Numbered, OneOf, PartOf, RunLengths, Select, SelectKind, SelectTask, Selected, Selection, StoredOf, Unique, Ways, Where, WithCounts,
};
pub use solve::{FactorCall, Pivoting, SolveCall, SolveScalar, SolveTask, Solves, TriangularCall};
pub use sort::{
    By, Digit, InScratch, IndicesAlone, KeyBits, KeysAlone, NanOrder, Ordered, Payload, Quantiles, Scratch, Sort, SortBy, SortCall,
    SortDomain, SortInPlace, SortOrder, SortPayload, SortPlaces, SortRun, SortTask, SortedCall, SortedDomain, TopKCall, TopKDomain,
    TopKTask, Travels, WithIndices, WithValues,
};

pub use ulps::{UlpDistances, UlpWords, Ulps};
pub use window::{Window, WindowCall, Windowing, Windows};

/// Hands the types of all tasks to a macro, so that what holds for every pattern is written once.
#[macro_export]
macro_rules! every_task {
    ($then:ident) => {
        $then! {
            $crate::patterns::MapTask,
            $crate::patterns::ReduceTask,
            $crate::patterns::ScanTask,
            $crate::patterns::SegmentedReduceTask,
            $crate::patterns::ReduceByKeyTask,
            $crate::patterns::SelectTask,
            $crate::patterns::SortTask,
            $crate::patterns::SegmentedSortTask,
            $crate::patterns::TopKTask,
            $crate::patterns::HistogramTask,
            $crate::patterns::ExactSumTask,
            $crate::patterns::ProductTask,
            $crate::patterns::ConvolutionTask,
            $crate::patterns::FftTask,
            $crate::patterns::SolveTask,
            $crate::patterns::BallotTask,
            $crate::patterns::PeersTask,
            $crate::patterns::MergeTask,
            $crate::patterns::MergeFromTask,
            $crate::patterns::CoRankTask,
            $crate::patterns::CoRankFromTask,
            $crate::patterns::MergeSortTask,
            $crate::patterns::MergeByTask,
            $crate::patterns::SearchTask,
            $crate::patterns::SearchFromTask,
            $crate::patterns::GatherTask,
            $crate::patterns::ScatterTask,
            $crate::patterns::ScatterFromTask,
            $crate::patterns::LayoutTask,
            $crate::patterns::TransposeTask,
            $crate::patterns::TileTransposeTask,
            $crate::patterns::FilterTask
        }
    };
}

macro_rules! all_patterns {
    ($($task:ty),*) => {
        /// A device that runs every pattern, and kernels of other crates, as those of all backends do: one bound for generic code.
        ///
        /// ```
        /// use isowarp::prelude::*;
        /// fn normalised<B: Patterns>(dev: &B, x: &Buffer<B, f32>) -> isowarp::Result<Buffer<B, f32>> {
        ///     let greatest = dev.max(x)?;
        ///     dev.map((x, &greatest), |(x, m)| x / m)
        /// }
        /// # let dev = isowarp::Cpu::new();
        /// assert_eq!(normalised(&dev, &dev.upload(&[1.0f32, 4.0])?)?.read_blocking()?, [0.25, 1.0]);
        /// # Ok::<(), isowarp::Error>(())
        /// ```
        pub trait Patterns: Launcher $(+ Run<$task>)* {}
        impl<B: Launcher $(+ Run<$task>)*> Patterns for B {}
    };
}
every_task!(all_patterns);

use crate::backend::{Backend, Leaf, Out, RawBuffer, Run};
use crate::caps::{Capability, Numerics};
use crate::element::{DType, Ty};
use crate::error::{Error, Result};
use crate::ir::{Evaluator, Func, OpError};
use crate::launch::Launcher;

/// The array that a line pattern (reduce, scan) works on: `outer * inner` lines of `n` elements, row-major as `[outer, n, inner]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Lines {
    /// Lines before the axis.
    pub outer: u64,
    /// Elements along the axis.
    pub n: u64,
    /// Elements after the axis: the distance between neighbours of a line.
    pub inner: u64,
}

impl Lines {
    /// One contiguous line.
    #[must_use]
    pub const fn one(n: u64) -> Self {
        Self { outer: 1, n, inner: 1 }
    }

    /// The lines along `axis` of an array of this shape.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an axis that is not there, or a size above 2^64.
    pub fn along(shape: &[u64], axis: usize) -> Result<Self> {
        let fail = |reason: String| Error::InvalidArgument { what: "axis", reason };
        let Some(&n) = shape.get(axis) else {
            return Err(fail(format!("axis {axis} of an array of {} dimensions", shape.len())));
        };
        let product = |part: &[u64]| part.iter().try_fold(1u64, |a, &b| a.checked_mul(b));
        match (product(&shape[..axis]), product(&shape[axis + 1..]), product(shape)) {
            // Of lines of nothing there may be too many, too.
            (Some(outer), Some(inner), Some(_)) if outer.checked_mul(inner).is_some() => Ok(Self { outer, n, inner }),
            _ => Err(fail("the shape has more than 2^64 elements or lines".to_owned())),
        }
    }

    /// Number of lines.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.outer * self.inner
    }

    /// Number of elements.
    #[must_use]
    pub const fn elements(&self) -> u64 {
        self.outer * self.n * self.inner
    }
}

/// 32-bit words that an accumulator of a reduction or scan may have: its parts together.
pub const MAX_ACCUMULATOR_WORDS: usize = 4;

/// The operators of a reduction or a scan must fit together: `load` gives an accumulator, `combine` takes two and gives one,
/// `finish` takes one.
pub(crate) fn check_accumulators(load: &Func, combine: &Func, finish: &Func) -> Result<()> {
    let parts = load.result_types();
    let words = load.result_words();
    if words > MAX_ACCUMULATOR_WORDS {
        let (requested, limit) = (words as u64, MAX_ACCUMULATOR_WORDS as u64);
        return Err(Error::TooLarge { what: "32-bit words of an accumulator", requested, limit });
    }
    let types = |f: &Func| -> Vec<Ty> { f.params.iter().map(|p| p.ty()).collect() };
    let list = |t: &[Ty]| t.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let fits = |f: &Func, times: usize| {
        f.params.len() == times * parts.len() && f.params.iter().zip(parts.iter().cycle()).all(|(p, &ty)| p.ty() == ty)
    };
    let (what, expected, found) = if !fits(combine, 2) {
        ("operands of the combining operator", parts.repeat(2), types(combine))
    } else if combine.result_types() != parts {
        ("results of the combining operator", parts, combine.result_types())
    } else if !fits(finish, 1) {
        ("operands of the finishing operator", parts, types(finish))
    } else {
        return Ok(());
    };
    Err(OpError::Signature { what, expected: list(&expected), found: list(&found) }.into())
}

/// The results of an operator without parameters.
pub(crate) fn constants(func: &Func) -> Vec<u64> {
    let mut e = Evaluator::new(func);
    e.eval(1, |_, out| out.fill(0), |_, _| 0);
    (0..func.results.len()).map(|k| e.result(k)[0]).collect()
}

/// Elements of an invocation beside one of a map's, as far as loops are counted: see [`Caps::loop_turns`](crate::caps::Caps::loop_turns).
const ELEMENTS: u64 = 16;

/// Fails where the device cannot run these operators, or cannot be trusted with them under the strict contract.
pub(crate) fn check_ops<B: Backend>(device: &B, pattern: &'static str, numerics: Numerics, ops: &[&Func]) -> Result<()> {
    let caps = device.caps();
    for f in ops {
        for (ty, dtype) in [(Ty::F64, DType::F64), (Ty::I64, DType::I64), (Ty::U64, DType::U64)] {
            if f.types.contains(&ty) && !caps.supports(dtype) {
                return Err(Error::Unsupported { pattern, capability: Capability::DType(dtype), device: caps.device.clone() });
            }
        }
        if let Some(limit) = caps.loop_turns {
            let (needed, limit) = (f.most_turns(), if pattern == "map" { limit } else { limit / ELEMENTS });
            if needed > limit {
                return Err(Error::Unsupported { pattern, capability: Capability::Turns { needed, limit }, device: caps.device.clone() });
            }
        }
        if numerics == Numerics::Strict
            && let Some(witness) = caps.witness_against(f)
        {
            return Err(Error::NotStrict { device: caps.device.clone(), witness: witness.to_owned() });
        }
    }
    Ok(())
}

/// The bytes that a leaf may touch, as a range of its memory.
fn leaf_range<R: RawBuffer>(leaf: &Leaf<R>, elements: u64) -> Option<(&R, u64, u64)> {
    match leaf {
        Leaf::Elements { raw, dtype, offset, stride } => {
            let span = i128::from(elements.max(1) - 1) * i128::from(*stride);
            let (a, b) = (i128::from(*offset), i128::from(*offset) + span);
            let size = dtype.size_bytes();
            Some((raw, a.min(b).max(0) as u64 * size, (a.max(b) as u64 + 1) * size))
        }
        Leaf::Array { raw, dtype, offset, len } => Some((raw, offset * dtype.size_bytes(), (offset + len) * dtype.size_bytes())),
        Leaf::Value { .. } => None,
    }
}

/// Fails where an output overlaps an input or another output. With `elementwise`, an output may be exactly one of the inputs,
/// element for element.
pub(crate) fn check_aliasing<R: RawBuffer>(
    pattern: &'static str,
    leaves: &[Leaf<R>],
    elements: u64,
    outs: &[(Out<R>, u64)],
    elementwise: bool,
) -> Result<()> {
    let range = |(o, len): &(Out<R>, u64)| (o.offset * o.dtype.size_bytes(), (o.offset + len) * o.dtype.size_bytes());
    for (k, out) in outs.iter().enumerate() {
        let (start, end) = range(out);
        for other in &outs[..k] {
            let (s, e) = range(other);
            if other.0.raw.same(&out.0.raw) && s < end && start < e {
                return Err(Error::Aliasing { pattern, what: "an output" });
            }
        }
        for leaf in leaves {
            let Some((raw, s, e)) = leaf_range(leaf, elements) else { continue };
            if !raw.same(&out.0.raw) || s >= end || start >= e {
                continue;
            }
            let same = matches!(leaf, Leaf::Elements { dtype, offset, stride: 1, .. }
                if dtype.size_bytes() == out.0.dtype.size_bytes() && *offset == out.0.offset);
            if !(elementwise && same) {
                return Err(Error::Aliasing { pattern, what: "the output" });
            }
        }
    }
    Ok(())
}
