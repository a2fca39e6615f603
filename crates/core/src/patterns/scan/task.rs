//! A scan as data.

use crate::caps::Numerics;
use crate::element::Ty;
use crate::ir::Func;
use crate::patterns::Lines;
use std::sync::Arc;

/// Prefix that an output element combines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ScanKind {
    /// Elements up to and with its own.
    Inclusive,
    /// Elements before its own; the first output is `finish` of these bits, one entry a part of the accumulator.
    Exclusive {
        /// The accumulator before the first element.
        first: Vec<u64>,
    },
}

/// A scan as data. For every line: `load` gives an accumulator per element, `combine` merges two in the order of [`Scan`](crate::patterns::Scan), `finish`
/// turns each prefix's accumulator into the output values.
#[derive(Clone, Debug)]
pub struct ScanTask {
    /// One parameter a leaf; its results are the accumulator's parts.
    pub load: Arc<Func>,
    /// The left accumulator's parts, then the right one's; results: the combined parts.
    pub combine: Arc<Func>,
    /// The accumulator's parts; one result an output.
    pub finish: Arc<Func>,
    /// Lines to scan.
    pub lines: Lines,
    /// Inclusive or exclusive.
    pub kind: ScanKind,
    /// Strict or fast.
    pub numerics: Numerics,
}

impl ScanTask {
    /// The types of the accumulator's parts.
    #[must_use]
    pub fn parts(&self) -> Vec<Ty> {
        self.load.result_types()
    }
}
