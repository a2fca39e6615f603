//! A reduction as data.

use crate::caps::Numerics;
use crate::element::Ty;
use crate::ir::Func;
use crate::patterns::Lines;
use std::sync::Arc;

/// A reduction as data. For every line: `load` gives an accumulator (one or more values) per element, `combine` merges two of them in
/// the order of [`Reduce`](crate::patterns::Reduce), `finish` turns the last one into the output values.
#[derive(Clone, Debug)]
pub struct ReduceTask {
    /// One parameter a leaf; its results are the accumulator's parts.
    pub load: Arc<Func>,
    /// The left accumulator's parts, then the right one's; results: the combined parts.
    pub combine: Arc<Func>,
    /// The accumulator's parts; one result an output.
    pub finish: Arc<Func>,
    /// Lines to reduce. At least one element along the axis.
    pub lines: Lines,
    /// Strict or fast.
    pub numerics: Numerics,
}

impl ReduceTask {
    /// The types of the accumulator's parts.
    #[must_use]
    pub fn parts(&self) -> Vec<Ty> {
        self.load.result_types()
    }
}
