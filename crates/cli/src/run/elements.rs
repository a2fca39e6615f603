//! Elements as operators see them: those of a bool file are truth values.

use crate::failure::Result;
use crate::npy::Array;
use isowarp::dynamic::{Operator, of_elements};
use isowarp::element::Ty;
use isowarp::expression;
use isowarp::ir::Func;

/// What an expression sees of an array's elements.
pub(super) fn ty(of: &Array) -> Ty {
    if of.boolean { Ty::Bool } else { of.dtype.ty() }
}

/// An expression of the inputs' elements, as a device stores them.
pub(super) fn parse(text: &str, inputs: &[Array], index: Option<Ty>, result: Option<Ty>) -> Result<Func> {
    let types: Vec<Ty> = inputs.iter().map(ty).collect();
    Ok(of_elements(&expression::parse(text, &types, index, result)?)?)
}

/// Whether what an operator makes of an array is truth values: sums, products and counts of them are numbers.
pub(super) fn stays_truth(op: &Operator, of: &Array) -> bool {
    match op.name() {
        "any" | "all" => true,
        "sum" | "product" | "count" => false,
        _ => of.boolean,
    }
}
