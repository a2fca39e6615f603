//! Options of solves.

use super::{choice, flag, path};
use crate::args::PivotsArg;
use clap::Arg;

pub(in crate::run) fn pivots() -> Arg {
    choice::<PivotsArg>("pivots", "PIVOTS", "The pivots of the elimination; full ones are for solve and inv").long("pivoting")
}

pub(in crate::run) fn lower() -> Arg {
    flag("lower", "The first input is a lower triangle, whatever is above its diagonal").conflicts_with_all(["upper", "pivots"])
}

pub(in crate::run) fn upper() -> Arg {
    flag("upper", "The first input is an upper triangle, whatever is below its diagonal").conflicts_with("pivots")
}

pub(in crate::run) fn unit() -> Arg {
    flag("unit", "The triangle's diagonal is of ones, whatever is there").conflicts_with("pivots")
}

pub(in crate::run) fn permutation() -> Arg {
    path("permutation", "The .npy file that takes which row of the matrix each row of the factors is, u32")
}

pub(in crate::run) fn status() -> Arg {
    path(
        "status",
        "The .npy file that takes 0 for each sound matrix, and 1 + the step that found a pivot of zero, infinity or NaN, for cholesky one that is not positive, for others, u32",
    )
}
