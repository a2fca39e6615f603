//! Options of products of matrices.

use super::{arg, choice, flag, number};
use crate::args::BlocksArg;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Arg, ValueEnum as _};

pub(in crate::run) fn factor() -> Arg {
    number("factor", "X", "Multiply the product by this").long("alpha")
}

pub(in crate::run) fn factor_of_addend() -> Arg {
    number("beta", "X", "Add the third input times this, 1 without; it is read even times 0, so that its NaN remain")
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

/// Orders of convolutions.
pub(in crate::run) fn chains() -> Arg {
    let orders = [BlocksArg::Blocks, BlocksArg::Chain].iter().filter_map(BlocksArg::to_possible_value);
    let parser = PossibleValuesParser::new(orders).try_map(|name| BlocksArg::from_str(&name, false));
    arg("blocks", "ORDER", "The order of evaluation").long("order").value_parser(parser)
}
