//! Operators as data: a Rust closure over symbolic values is traced once into a small typed graph, which the CPU backend
//! evaluates, CUDA lowers to PTX text and wgpu lowers to WGSL text.
//!
//! Semantics, the same on every backend:
//! - integers wrap; `x / 0 = x`, `x % 0 = 0`, `MIN / -1 = MIN`; shift amounts are taken modulo the width;
//! - float operations are IEEE, round to nearest even; `min` and `max` are IEEE 754-2019 minimum and maximum;
//! - **fusion**: a float sum or difference with one product as an operand is one fused multiply-add of that product; two products are
//!   rounded, each by itself, so that `x * x - y * y` of equal numbers is 0. [`Expr::mul_rn`] is never fused. Constants are folded first, so a choice by a known
//!   condition (`true ? x * x : x`), one between equal values (`c ? x * x : x * x`) and a conversion to the type that a value has (`f32(x * x)`) are the
//!   product that is left of them; a choice that is left open is none;
//! - a NaN that becomes visible (stored, or its bits taken) is `0x7FC00000` (`0x7FF8000000000000` for f64).

mod blocks;
mod bound;
mod cuda;
mod eval;
mod expr;
pub(crate) mod graph;
mod hash;
mod header;
mod inline;
mod neighbours;
mod node;
mod operation;
mod ptx;
mod symbolic;
mod turn;
mod wgsl;

pub use blocks::{BLOCK, Binary, Blocks, Lanes, LanesMut, Source, visible};
pub use cuda::{cuda_function, cuda_type};
pub(crate) use eval::cast1 as cast_bits;
pub use eval::{Evaluator, LANES, canonical_nan};
pub use expr::{Accumulator, ArrayExpr, Expr, Traced, TracedValue, array_expr, branch, lit, pack, select, select_each, trace};
pub use expr::{Turn, Ulp, next_until, next_while, repeat};
pub(crate) use expr::{closed, values};
pub use header::{Language, numerics_header, numerics_of, numerics_of_4};
pub(crate) use inline::{inline, inline_behind};
pub use node::{BinOp, Func, Id, Node, Param, UnOp};
pub use operation::{Operation, Operations};
pub use ptx::{Fetch, Fetched, Ptx, PtxValue};
pub use symbolic::{Symbolic, definition};
pub use wgsl::{WgslFma, WgslOptions, wgsl_function, wgsl_function_4, wgsl_literal, wgsl_type};

use crate::element::Ty;

/// Why an operator is refused when it is built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// A value of another trace, or of none, was used.
    #[error("an operator uses a value that belongs to another operator")]
    ForeignValue,
    /// The strict contract cannot express the operation.
    #[error("{what} has no form that gives the same bits on every device")]
    NoStrictForm {
        /// The operation.
        what: &'static str,
    },
    /// An elementary function was applied to a type that it is not defined for.
    #[error("`{function}` is defined for f32, not for {ty}")]
    NoFunction {
        /// The function.
        function: &'static str,
        /// The type.
        ty: Ty,
    },
    /// An operator with the wrong number or types of operands or results.
    #[error("{what}: expected ({expected}), found ({found})")]
    Signature {
        /// Name of the operator.
        what: &'static str,
        /// Types wanted.
        expected: String,
        /// Types given.
        found: String,
    },
    /// An expression text that does not parse.
    #[error("{message}\n  {text}\n  {caret}")]
    Parse {
        /// Description of the fault.
        message: String,
        /// The text.
        text: String,
        /// A line with a caret under the place.
        caret: String,
    },
}
