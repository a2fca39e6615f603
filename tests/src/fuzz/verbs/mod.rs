//! The patterns that are tried: how a trial of each is made, run, and computed by plain loops.

mod map;

use super::trial::{Array, Trial};
use super::values::{Random, edge};
use crate::case::{Output, Target};
use isowarp::Result;
use isowarp::element::DType;

/// A pattern.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verb {
    /// Element-wise operators.
    Map,
}

impl Verb {
    /// Every one.
    pub const ALL: [Self; 1] = [Self::Map];

    /// Its name in lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
        }
    }

    /// The pattern of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name)
    }

    /// All names, for messages.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Whether its operators are results, so that it may have fewer of them.
    #[must_use]
    pub fn has_results(self) -> bool {
        self == Self::Map
    }

    /// A random trial.
    pub fn trial(self, r: &mut Random) -> Trial {
        match self {
            Self::Map => map::trial(r),
        }
    }

    /// Fails for a trial that breaks the pattern's rules.
    ///
    /// # Errors
    /// Which rule.
    pub fn check(self, trial: &Trial) -> std::result::Result<(), String> {
        match self {
            Self::Map => map::check(trial),
        }
    }

    /// Trials over fewer elements.
    #[must_use]
    pub fn shorter(self, trial: &Trial) -> Vec<Trial> {
        match self {
            Self::Map => map::shorter(trial),
        }
    }

    /// What a device gives.
    ///
    /// # Errors
    /// What the pattern returns.
    pub fn run<B: Target>(self, trial: &Trial, device: &B) -> Result<Vec<Output>> {
        match self {
            Self::Map => map::run(trial, device),
        }
    }

    /// What plain loops by the documented rules give.
    #[must_use]
    pub fn expected(self, trial: &Trial) -> Vec<Output> {
        match self {
            Self::Map => map::expected(trial),
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
