//! The patterns that are tried: how a trial of each is made, run, and computed by plain loops.

mod bins;
mod codes;
mod dense;
mod dot;
mod draws;
mod folds;
mod fourier;
mod layouts;
mod map;
mod picks;
mod sorts;
mod systems;
mod xorwow;

use super::lower::{Places, Results};
use super::rules;
use super::tree::{Op, Tree};
use super::trial::{Array, Trial};
use super::values::{Random, edge};
use crate::case::{Output, Target};
use isowarp::Result;
use isowarp::backend::Backend;
use isowarp::dynamic::{Call, DynBuffer};
use isowarp::element::{DType, Ty};
use isowarp::ir::{Func, pack};

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
            Self::ExactDot | Self::ExactSum => Kind::Dot,
            Self::Encode | Self::Decode => Kind::Codes,
            Self::HistogramFloats | Self::HistogramBetween => Kind::Bins,
            Self::PermuteAxes | Self::Transpose | Self::Morton | Self::GatherAxis | Self::Place => Kind::Layouts,
            Self::Random => Kind::Draws,
            Self::Xorwow => Kind::Xorwow,
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
            Self::Scatter | Self::Place | Self::GemmBatch => (3..=3, 0),
            Self::ReduceByKey | Self::SegmentedReduce | Self::SegmentedScan | Self::SegmentedSort => (2..=2, 0),
            Self::Merge | Self::Search | Self::Sets | Self::Gather | Self::GatherAxis => (2..=2, 0),
            Self::Gemm | Self::Solve | Self::Convolve | Self::SolveBatch | Self::Triangular => (2..=2, 0),
            Self::ExactDot | Self::HistogramBetween => (2..=2, 0),
            _ => (1..=1, 0),
        }
    }

    /// Returns the number of its inputs that have `n` elements.
    fn parallel(self) -> usize {
        match self {
            Self::Reduce | Self::ReduceByKey | Self::Scatter | Self::Place | Self::ExactDot => 2,
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
        }
    }
}

/// Stored bits as an output.
fn output(dtype: DType, bits: impl IntoIterator<Item = u64>) -> Output {
    let size = dtype.size_bytes() as usize;
    Output { dtype, bytes: bits.into_iter().flat_map(|b| b.to_le_bytes().into_iter().take(size)).collect() }
}

/// `n` values at the edges.
fn edges(dtype: DType, n: usize, r: &mut Random) -> Vec<u64> {
    (0..n).map(|_| edge(dtype, r)).collect()
}

/// Element types of which a device may lack none, or all.
fn palette(r: &mut Random) -> (&'static [DType], bool) {
    const NARROW: [DType; 8] = [DType::F32, DType::I32, DType::U32, DType::F16, DType::I8, DType::U8, DType::I16, DType::U16];
    if r.chance(50) { (&NARROW, false) } else { (&DType::ALL, true) }
}

/// A number of elements: few, around the sizes of subgroups and workgroups, or some thousands.
fn length(r: &mut Random) -> usize {
    match r.below(10) {
        0 => r.below(4),
        1 | 2 => r.pick(&[31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257]),
        3 => r.pick(&[511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 4099]),
        4..=8 => 100 + r.below(900),
        _ => 1000 + r.below(4000),
    }
}

/// An input of `n` elements, some of them views in other orders or from the middle of their memory.
fn viewed(dtype: DType, n: usize, r: &mut Random) -> Array {
    let lead = if r.chance(30) { r.below(9) as u64 } else { 0 };
    let stride = if r.chance(25) { r.pick(&[-1, 2, 3, -2, 0, 7]) } else { 1 };
    let span = n.saturating_sub(1) * i64::unsigned_abs(stride) as usize;
    let before = if r.chance(20) { r.below(5) } else { 0 };
    let start = (before + if stride < 0 { span } else { 0 }) as u64;
    Array { dtype, bits: edges(dtype, before + span + 1 + r.below(3), r), lead, start, stride }
}

/// An element type of those that every device has, or of all.
fn picked(r: &mut Random) -> DType {
    let (of, _) = palette(r);
    r.pick(of)
}

/// `n` elements of few values, often in runs.
fn few(dtype: DType, n: usize, r: &mut Random) -> Array {
    let values = edges(dtype, 1 + r.below(12), r);
    let (mut bits, mut last) = (Vec::with_capacity(n), values[0]);
    for _ in 0..n {
        if r.chance(40) {
            last = r.pick(&values);
        }
        bits.push(last);
    }
    Array::plain(dtype, bits)
}

/// One of several, by a number of the trial.
fn choice<T: Copy>(trial: &Trial, name: &str, of: &[T]) -> T {
    of[(trial.number(name) % of.len() as u64) as usize]
}

/// The inputs of a trial on a device.
fn arrays<B: Backend>(trial: &Trial, device: &B) -> Result<Vec<DynBuffer<B>>> {
    Ok(map::sources(trial, device)?.into_iter().map(|s| s.buffer).collect())
}

/// A tree as an operator over all inputs of these types.
fn operator(tree: &Tree, dtypes: &[DType]) -> Result<Func> {
    let places = Places::all(dtypes, tree.any(|t| matches!(t, Tree::Index)));
    Ok(pack(places.params(), || Results::of(&[tree], &places))?)
}

/// The results of a call.
fn computed<B: Target>(device: &B, call: &Call, inputs: &[&DynBuffer<B>]) -> Result<Vec<Output>> {
    parts(&call.run(device, inputs)?.trimmed()?)
}

/// Arrays of a device, read.
fn parts<B: Backend>(buffers: &[DynBuffer<B>]) -> Result<Vec<Output>> {
    buffers.iter().map(|b| Ok(Output { dtype: b.dtype(), bytes: b.read_blocking()? })).collect()
}

/// The results of the CPU, where plain loops would be those of the library.
fn on_cpu(trial: &Trial) -> Vec<Output> {
    trial.run(&isowarp::Cpu::new()).unwrap_or_default()
}

/// The one result of the CPU if each of its floats is as near to a number as is given beside that, and else those numbers.
fn near(trial: &Trial, dtype: DType, all: &[(f64, f64)]) -> Vec<Output> {
    let found = on_cpu(trial);
    let value = |bits: u64| if dtype == DType::F64 { f64::from_bits(bits) } else { f64::from(f32::from_bits(bits as u32)) };
    let is_near = |i: usize, (x, bound): (f64, f64)| {
        // Beyond the range of the type, and of what is none, there is no distance.
        let is_far = !x.is_finite() || !bound.is_finite() || (dtype == DType::F32 && x.abs() + bound > f32::MAX.into());
        is_far || (value(found[0].bits(i)) - x).abs() <= bound
    };
    if found.len() == 1 && found[0].len() == all.len() && all.iter().enumerate().all(|(i, &of)| is_near(i, of)) {
        return found;
    }
    let bits = |x: f64| if dtype == DType::F64 { x.to_bits() } else { u64::from((x as f32).to_bits()) };
    vec![output(dtype, all.iter().map(|&(x, _)| bits(x)))]
}

/// Values of a type as they are stored.
fn narrowed(dtype: DType, ty: Ty, values: impl IntoIterator<Item = u64>) -> Vec<u64> {
    values.into_iter().map(|b| rules::narrow(dtype, ty, b)).collect()
}
