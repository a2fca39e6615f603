//! A variant of any pattern, for callers that learn the pattern at run time.

use crate::{HistogramVariant, MergeVariant, ProductVariant, ReduceVariant, ScanVariant, SortVariant};
use isowarp_core::backend::{Leaf, Out};
use isowarp_core::call::Variant;
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::{HistogramTask, MergeTask, Patterns, ProductTask, ReduceTask, ScanTask, SortTask};

/// A variant of one of the patterns, which [`Call::run_by`](isowarp_core::dynamic::Call::run_by) takes; tasks of the others are
/// [`Error::InvalidArgument`].
///
/// ```
/// use isowarp::dynamic::{Call, DynBuffer, Operator, Over};
/// use isowarp::prelude::*;
/// use isowarp_textbook::{ScanVariant, Textbook};
///
/// let dev = isowarp::Cpu::new();
/// let x = DynBuffer::from(dev.upload(&[2u32, 1, 3])?);
/// let scan = Call::Scan { op: Operator::named("sum").expect("sums have a name"), over: Over::Whole, exclusive: true };
/// let found = scan.run_by(&dev, &[&x], &Textbook::Scan(ScanVariant::BrentKung))?.one();
/// assert_eq!(found.typed::<u32>()?.read_blocking()?, [0, 2, 3]);
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Textbook {
    /// Of reductions.
    Reduce(ReduceVariant),
    /// Of scans.
    Scan(ScanVariant),
    /// Of histograms.
    Histogram(HistogramVariant),
    /// Of sorts.
    Sort(SortVariant),
    /// Of merges.
    Merge(MergeVariant),
    /// Of products of matrices.
    Product(ProductVariant),
}

macro_rules! variants {
    ($($pattern:ident $task:ty;)*) => {$(
        impl<B: Patterns> Variant<B, $task> for Textbook {
            fn run(&self, device: &B, task: &$task, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
                match self {
                    Self::$pattern(variant) => variant.run(device, task, leaves, outs),
                    other => Err(Error::InvalidArgument { what: "variant", reason: format!("{other:?} is of another pattern") }),
                }
            }
        }
    )*};
}
variants! { Reduce ReduceTask; Scan ScanTask; Histogram HistogramTask; Sort SortTask; Merge MergeTask; Product ProductTask; }
