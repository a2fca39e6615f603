//! Options of products of matrices.

use super::{choice, flag, number};
use crate::args::BlocksArg;
use clap::Arg;

pub(in crate::run) fn factor() -> Arg {
    number("factor", "X", "Multiply the product by this").long("alpha")
}

pub(in crate::run) fn factor_of_addend() -> Arg {
    number("beta", "X", "Add the third input times this; 1 without")
}

pub(in crate::run) fn transposed_a() -> Arg {
    flag("trans-a", "The first input is the transpose")
}

pub(in crate::run) fn transposed_b() -> Arg {
    flag("trans-b", "The second input is the transpose")
}

pub(in crate::run) fn blocks() -> Arg {
    choice::<BlocksArg>("blocks", "ORDER", "The order of evaluation").long("order")
}
