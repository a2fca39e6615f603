//! Options of orders.

use super::{flag, list};
use clap::{Arg, value_parser};

pub(in crate::run) fn descending() -> Arg {
    flag("descending", "The greatest first")
}

pub(in crate::run) fn nan_last() -> Arg {
    flag("nan-last", "NaN after all numbers with --descending too")
}

pub(in crate::run) fn total_order() -> Arg {
    flag("total-order", "IEEE 754's total order: NaN with a sign before all numbers, others after them, each with the bits that it has")
}

pub(in crate::run) fn bits() -> Arg {
    let help = "Compare the bits from LOW to below HIGH alone, 0 being the lowest; of signed integers and floats those of the unsigned integer that \
                compares as they do";
    list("bits", "LOW,HIGH", help).allow_hyphen_values(false).value_parser(value_parser!(u32))
}
