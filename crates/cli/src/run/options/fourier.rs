//! Options of transforms.

use super::{arg, flag, list};
use clap::{Arg, value_parser};

pub(in crate::run) fn inverse() -> Arg {
    flag("inverse", "The inverse transform, divided by the number of points")
}

pub(in crate::run) fn real() -> Arg {
    flag("real", "Of real numbers: the first n / 2 + 1 points; with --inverse the real numbers of these")
}

pub(in crate::run) fn numbers() -> Arg {
    arg(
        "n",
        "N",
        "How many real numbers --real --inverse gives along the axis, the one named last; twice the points less two, unless it is said",
    )
    .value_parser(value_parser!(u64))
    .requires("real")
    .requires("inverse")
}

pub(in crate::run) fn transformed_axes() -> Arg {
    list(
        "axes",
        "AXES",
        "Several axes, the last one named first, such as 0,1 for the transform of an image; the last one is that of --real's numbers",
    )
    .value_parser(value_parser!(i64))
}
