//! The patterns that are tried: how a trial of each is made, run, and computed by plain loops.

mod bins;
mod codes;
mod common;
mod dense;
mod dot;
mod draws;
mod filters;
mod flagged;
mod folds;
mod fourier;
mod joint;
mod layers;
mod layouts;
mod lines;
mod map;
mod picks;
mod separable;
mod sorts;
mod spectra;
mod statistics;
mod systems;
mod weights;
mod xorwow;

use super::tree::{Op, Tree};
use super::trial::Trial;
use super::values::Random;
use crate::case::{Output, Target};
use common::{
    arrays, choice, computed, edges, few, inexact, length, narrowed, near, on_cpu, operator, output, palette, parts, picked, viewed,
};
use isowarp::Result;

macro_rules! verbs {
    ($($(#[$doc:meta])* $verb:ident $name:literal;)*) => {
        /// A pattern.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Verb {
            $($(#[$doc])* $verb,)*
        }

        impl Verb {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$verb,)*];

            /// Its name in lines.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$verb => $name,)*
                }
            }
        }
    };
}
verbs! {
    /// Element-wise operators.
    Map "map";
    /// Results of an operator, combined.
    Reduce "reduce";
    /// Prefixes combined.
    Scan "scan";
    /// Segments combined.
    SegmentedReduce "segmented_reduce";
    /// Prefixes of segments.
    SegmentedScan "segmented_scan";
    /// Runs of equal keys combined.
    ReduceByKey "reduce_by_key";
    /// Sliding windows combined.
    Window "window";
    /// Keys and indices in order, by all bits or some.
    Sort "sort";
    /// The first keys and their indices.
    TopK "top_k";
    /// Keys and indices in an operator's order.
    SortBy "sort_by";
    /// Segments in order.
    SegmentedSort "segmented_sort";
    /// Two sorted arrays merged.
    Merge "merge";
    /// Places in a sorted array.
    Search "search";
    /// Sorted arrays as multisets.
    Sets "sets";
    /// Elements that an operator keeps.
    Select "select";
    /// Elements that an operator keeps, and then the rest.
    Partition "partition";
    /// The first of each run.
    Unique "unique";
    /// Runs with their lengths, and back.
    Runs "runs";
    /// Integers counted in even bins.
    Histogram "histogram";
    /// Elements at indices.
    Gather "gather";
    /// Elements combined with those at indices.
    Scatter "scatter";
    /// Elements moved up, and from last to first.
    Rotate "rotate";
    /// Conditions of groups as bits.
    Ballot "ballot";
    /// Equal elements of groups.
    Match "match";
    /// Equal elements numbered.
    Tickets "tickets";
    /// Products of matrices.
    Gemm "gemm";
    /// Systems eliminated and solved.
    Solve "solve";
    /// Images by filters.
    Convolve "convolve";
    /// Products of batches of matrices, with factors and an addend.
    GemmBatch "gemm_batch";
    /// Batches of systems, with a matrix each or one for all.
    SolveBatch "solve_batch";
    /// Factors of Cholesky.
    Cholesky "cholesky";
    /// Triangles solved.
    Triangular "triangular_solve";
    /// Transforms of points along axes.
    Fft "fft";
    /// Transforms of real numbers.
    Rfft "rfft";
    /// Their inverses.
    Irfft "irfft";
    /// Products of two arrays summed exactly.
    ExactDot "exact_dot";
    /// Elements summed exactly, and means.
    ExactSum "exact_sum";
    /// Floats as codes of few bits.
    Encode "encode";
    /// Codes as floats.
    Decode "decode";
    /// Floats counted in even bins.
    HistogramFloats "histogram_floats";
    /// Floats counted between edges.
    HistogramBetween "histogram_between";
    /// Axes in another order.
    PermuteAxes "permute_axes";
    /// Matrices transposed, in new memory and in place.
    Transpose "transpose";
    /// Arrays in Morton order, and back.
    Morton "morton";
    /// Elements at indices along an axis.
    GatherAxis "gather_axis";
    /// Elements put at indices, of which the last stays.
    Place "place";
    /// Random numbers of distributions.
    Random "random";
    /// Numbers of XORWOW combined with an array.
    Xorwow "xorwow";
    /// Images of channels by filters, in batches and groups, and transposes.
    Layer "layer";
    /// Runs of equal keys summed exactly.
    ExactByKey "exact_by_key";
    /// Weights added up in bins.
    HistogramWeighted "histogram_weighted";
    /// Means, variances, norms, extremes and percentiles of all elements.
    Statistics "statistics";
    /// Sums in the orders of other programs.
    OrderedSum "ordered_sum";
    /// Lines along an axis combined, scanned, and their extremes.
    Lines "lines";
    /// Images by small windows.
    Filter "filter";
    /// Images by a filter across and one down.
    Separable "separable";
    /// Prefixes of runs of equal keys.
    ScanByKey "scan_by_key";
    /// Prefixes of segments that flags start.
    ScanByFlags "scan_by_flags";
    /// Images by a filter through transforms.
    FftConvolve "fft_convolve";
    /// Samples counted, or their weights added, in bins of two and three dimensions.
    HistogramJoint "histogram_joint";
}

/// Where the code of a pattern is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Map,
    Folds,
    Sorts,
    Picks,
    Dense,
    Systems,
    Fourier,
    Dot,
    Codes,
    Bins,
    Layouts,
    Draws,
    Xorwow,
    Layers,
    Weights,
    Statistics,
    Lines,
    Filters,
    Separable,
    Flagged,
    Spectra,
    Joint,
}

impl Verb {
    /// The pattern of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|v| v.name() == name)
    }

    /// All names, for messages.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.iter().map(|v| v.name()).collect::<Vec<_>>().join(", ")
    }

    fn kind(self) -> Kind {
        match self {
            Self::Map => Kind::Map,
            Self::Reduce | Self::Scan | Self::SegmentedReduce | Self::SegmentedScan | Self::ReduceByKey | Self::Window => Kind::Folds,
            Self::Sort | Self::TopK | Self::SortBy | Self::SegmentedSort | Self::Merge | Self::Search | Self::Sets => Kind::Sorts,
            Self::Gemm | Self::Solve | Self::Convolve => Kind::Dense,
            Self::GemmBatch | Self::SolveBatch | Self::Cholesky | Self::Triangular => Kind::Systems,
            Self::Fft | Self::Rfft | Self::Irfft => Kind::Fourier,
            Self::ExactDot | Self::ExactSum | Self::ExactByKey => Kind::Dot,
            Self::Encode | Self::Decode => Kind::Codes,
            Self::HistogramFloats | Self::HistogramBetween => Kind::Bins,
            Self::PermuteAxes | Self::Transpose | Self::Morton | Self::GatherAxis | Self::Place => Kind::Layouts,
            Self::Random => Kind::Draws,
            Self::Xorwow => Kind::Xorwow,
            Self::Layer => Kind::Layers,
            Self::HistogramWeighted => Kind::Weights,
            Self::Statistics => Kind::Statistics,
            Self::OrderedSum | Self::Lines => Kind::Lines,
            Self::Filter => Kind::Filters,
            Self::Separable => Kind::Separable,
            Self::ScanByKey | Self::ScanByFlags => Kind::Flagged,
            Self::FftConvolve => Kind::Spectra,
            Self::HistogramJoint => Kind::Joint,
            _ => Kind::Picks,
        }
    }

    /// Whether its operators are results, so that it may have fewer of them.
    #[must_use]
    pub fn has_results(self) -> bool {
        self == Self::Map
    }

    /// A random trial.
    pub fn trial(self, r: &mut Random) -> Trial {
        match self.kind() {
            Kind::Map => map::trial(r),
            Kind::Folds => folds::trial(self, r),
            Kind::Sorts => sorts::trial(self, r),
            Kind::Picks => picks::trial(self, r),
            Kind::Dense => dense::trial(self, r),
            Kind::Systems => systems::trial(self, r),
            Kind::Fourier => fourier::trial(self, r),
            Kind::Dot => dot::trial(self, r),
            Kind::Codes => codes::trial(self, r),
            Kind::Bins => bins::trial(self, r),
            Kind::Layouts => layouts::trial(self, r),
            Kind::Draws => draws::trial(r),
            Kind::Xorwow => xorwow::trial(r),
            Kind::Layers => layers::trial(r),
            Kind::Weights => weights::trial(r),
            Kind::Statistics => statistics::trial(r),
            Kind::Lines => lines::trial(self, r),
            Kind::Filters => filters::trial(r),
            Kind::Separable => separable::trial(r),
            Kind::Flagged => flagged::trial(self, r),
            Kind::Spectra => spectra::trial(r),
            Kind::Joint => joint::trial(r),
        }
    }

    /// Fails for a trial that breaks the pattern's rules.
    ///
    /// # Errors
    /// Which rule.
    pub fn check(self, trial: &Trial) -> std::result::Result<(), String> {
        if trial.trees.iter().any(|(t, _)| t.is_open()) {
            return Err("`it` outside of a loop".to_owned());
        }
        if self == Self::Map {
            return map::check(trial);
        }
        let (inputs, trees) = self.takes();
        if !inputs.contains(&trial.inputs.len()) || trial.trees.len() != trees {
            return Err(format!("{} takes {inputs:?} inputs and {trees} operators", self.name()));
        }
        let of_n = trial.inputs.iter().take(self.parallel()).all(|a| a.bits.len() == trial.n);
        if trial.n == 0 || !of_n || trial.inputs.iter().any(|a| (a.start, a.stride) != (0, 1)) {
            return Err(format!("{} takes {} arrays of n elements, at least one", self.name(), self.parallel()));
        }
        if trial.trees.iter().any(|(t, _)| t.any(|t| matches!(t, Tree::Node(Op::At(_), ..))))
            || trial.inputs.get(2).is_some_and(|a| a.bits.is_empty())
        {
            return Err("no array to fetch from or to scatter to".to_owned());
        }
        Ok(())
    }

    /// Returns the number of inputs and operators that it takes.
    fn takes(self) -> (std::ops::RangeInclusive<usize>, usize) {
        match self {
            Self::Map | Self::Reduce => (1..=2, 1),
            Self::SortBy => (2..=2, 1),
            Self::Select | Self::Partition | Self::Ballot => (1..=1, 1),
            Self::Scatter | Self::Place | Self::GemmBatch | Self::Separable => (3..=3, 0),
            Self::ReduceByKey | Self::SegmentedReduce | Self::SegmentedScan | Self::SegmentedSort => (2..=2, 0),
            Self::Merge | Self::Search | Self::Sets | Self::Gather | Self::GatherAxis => (2..=2, 0),
            Self::Gemm | Self::Solve | Self::Convolve | Self::Layer | Self::SolveBatch | Self::Triangular => (2..=2, 0),
            Self::ExactDot | Self::HistogramBetween | Self::ScanByKey | Self::ScanByFlags | Self::FftConvolve => (2..=2, 0),
            Self::HistogramJoint => (3..=4, 0),
            Self::ExactByKey | Self::HistogramWeighted => (2..=3, 0),
            Self::Statistics | Self::Filter => (2..=2, 0),
            _ => (1..=1, 0),
        }
    }

    /// Returns the number of its inputs that have `n` elements.
    fn parallel(self) -> usize {
        match self {
            Self::Reduce | Self::ReduceByKey | Self::Scatter | Self::Place | Self::ExactDot => 2,
            Self::HistogramWeighted | Self::Statistics | Self::ScanByKey | Self::ScanByFlags => 2,
            Self::ExactByKey | Self::HistogramJoint => 3,
            _ => 1,
        }
    }

    /// Trials over fewer elements.
    #[must_use]
    pub fn shorter(self, trial: &Trial) -> Vec<Trial> {
        if self == Self::Map {
            return map::shorter(trial);
        }
        let mut all = Vec::new();
        // Parts of what goes together, then of each other input.
        let groups =
            std::iter::once(0..self.parallel().min(trial.inputs.len())).chain((self.parallel()..trial.inputs.len()).map(|k| k..k + 1));
        for group in groups {
            let len = trial.inputs[group.start].bits.len();
            for pieces in [2, 4, 16] {
                for k in (0..pieces).filter(|_| len >= pieces) {
                    // Without one piece, and that piece alone.
                    for alone in [true, false] {
                        let mut t = trial.clone();
                        for a in &mut t.inputs[group.clone()] {
                            let cut = len * k / pieces..len * (k + 1) / pieces;
                            let piece: Vec<u64> = a.bits.drain(cut).collect();
                            if alone {
                                a.bits = piece;
                            }
                        }
                        if group.start == 0 {
                            t.n = t.inputs[0].bits.len();
                        }
                        all.push(t);
                    }
                }
            }
        }
        all
    }

    /// Returns the results of a device.
    ///
    /// # Errors
    /// Errors of the pattern.
    pub fn run<B: Target>(self, trial: &Trial, device: &B) -> Result<Vec<Output>> {
        match self.kind() {
            Kind::Map => map::run(trial, device),
            Kind::Folds => folds::run(trial, device),
            Kind::Sorts => sorts::run(trial, device),
            Kind::Picks => picks::run(trial, device),
            Kind::Dense => dense::run(trial, device),
            Kind::Systems => systems::run(trial, device),
            Kind::Fourier => fourier::run(trial, device),
            Kind::Dot => dot::run(trial, device),
            Kind::Codes => codes::run(trial, device),
            Kind::Bins => bins::run(trial, device),
            Kind::Layouts => layouts::run(trial, device),
            Kind::Draws => draws::run(trial, device),
            Kind::Xorwow => xorwow::run(trial, device),
            Kind::Layers => layers::run(trial, device),
            Kind::Weights => weights::run(trial, device),
            Kind::Statistics => statistics::run(trial, device),
            Kind::Lines => lines::run(trial, device),
            Kind::Filters => filters::run(trial, device),
            Kind::Separable => separable::run(trial, device),
            Kind::Flagged => flagged::run(trial, device),
            Kind::Spectra => spectra::run(trial, device),
            Kind::Joint => joint::run(trial, device),
        }
    }

    /// Returns the results of plain loops by the documented rules.
    #[must_use]
    pub fn expected(self, trial: &Trial) -> Vec<Output> {
        match self.kind() {
            Kind::Map => map::expected(trial),
            Kind::Folds => folds::expected(trial),
            Kind::Sorts => sorts::expected(trial),
            Kind::Picks => picks::expected(trial),
            Kind::Dense => dense::expected(trial),
            Kind::Systems => systems::expected(trial),
            Kind::Fourier => fourier::expected(trial),
            Kind::Dot => dot::expected(trial),
            Kind::Codes => codes::expected(trial),
            Kind::Bins => bins::expected(trial),
            Kind::Layouts => layouts::expected(trial),
            Kind::Draws => draws::expected(trial),
            Kind::Xorwow => xorwow::expected(trial),
            Kind::Layers => layers::expected(trial),
            Kind::Weights => weights::expected(trial),
            Kind::Statistics => statistics::expected(trial),
            Kind::Lines => lines::expected(trial),
            Kind::Filters => filters::expected(trial),
            Kind::Separable => separable::expected(trial),
            Kind::Flagged => flagged::expected(trial),
            Kind::Spectra => spectra::expected(trial),
            Kind::Joint => joint::expected(trial),
        }
    }
}
