//! Gathers and scatters as data.

use crate::caps::Numerics;
use crate::element::{Element, Int, Num};
use crate::ir::Func;
use std::sync::Arc;

/// A gather as data: output element `i` is element `indices[i]` of the values. Leaves: the values (an array), the indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct GatherTask {
    /// Indices.
    pub n: u64,
    /// Effect of an index outside the values: to leave the output as it is, rather than to store zero.
    pub keep: bool,
}

/// Operation of a scatter on the element that is already there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ScatterOp {
    /// Replace it. Where two sources have one target, any one of them stays.
    Store,
    /// Sum, wrapping; of `f32` exact, and rounded once.
    Sum,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Wrapping difference: all sources are taken away.
    Sub,
}

impl ScatterOp {
    /// Operations that combine.
    pub const COMBINING: [Self; 7] = [Self::Sum, Self::Min, Self::Max, Self::And, Self::Or, Self::Xor, Self::Sub];

    /// Its name in cases and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Sub => "sub",
        }
    }
}

/// A scatter as data: target `indices[i]` becomes `op(target, values[i])`; indices outside the targets do nothing. Leaves: the values, the
/// indices. The output's element type is the values'.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct ScatterTask {
    /// Sources.
    pub n: u64,
    /// Targets.
    pub targets: u64,
    /// Operation at a target; other than [`ScatterOp::Store`] for 32- and 64-bit integers only.
    pub op: ScatterOp,
    /// The values are the sources' positions 0, 1, 2, ... and the first leaf is a value that nobody reads.
    pub positions: bool,
}

/// A scatter of what is computed as data: where the operator says, a target becomes `op(target, value)`. The one output holds the targets, elements of
/// four or eight bytes.
#[derive(Clone, Debug)]
pub struct ScatterFromTask {
    /// One parameter a leaf. Its results are the target, a `u32`, and the value's bits, a `u32` or, for eight bytes, a `u64`. A target that is not
    /// below their number is none.
    pub func: Arc<Func>,
    /// Sources.
    pub n: u64,
    /// Targets: less than 2^32.
    pub targets: u64,
    /// Operation at a target; other than [`ScatterOp::Store`] for integers only.
    pub op: ScatterOp,
    /// Strict or fast.
    pub numerics: Numerics,
}

/// Types of elements that name others: integers of 8, 16, 32 and 64 bits. A negative index is out of range, as is one that is too large.
pub trait IndexElement: Element<Reg: IndexScalar> {}
impl<T: Element<Reg: IndexScalar>> IndexElement for T {}

/// Types that operators compute indices in: `u32`, `i32`, `u64`, `i64`.
pub trait IndexScalar: Element<Reg = Self> + Int + Num {
    /// The index as a number of any sign.
    fn number(self) -> i128;
}
macro_rules! index_scalar {
    ($($t:ident)*) => {$(
        impl IndexScalar for $t {
            fn number(self) -> i128 {
                self.into()
            }
        }
    )*};
}
index_scalar! { u32 i32 u64 i64 }
