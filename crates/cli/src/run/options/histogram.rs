//! Options of histograms.

use super::{arg, flag, list, path};
use clap::{Arg, ArgAction, value_parser};

pub(in crate::run) fn bins() -> Arg {
    list("bins", "N", "The number of bins; of several arrays or channels one each, such as 16,8").value_parser(value_parser!(u32))
}

pub(in crate::run) fn range() -> Arg {
    let help = "Where the first bin starts and where the last one ends, which is in none without --inclusive, such as 0,256 or -0.5,1e2; of several arrays or channels one pair after the \
                other. Integers lie in bins of the real line, so 0,4294967296 has all u4";
    list("range", "LOW,HIGH", help)
}

pub(in crate::run) fn edges() -> Arg {
    let help = "An .npy file of edges in ascending order, of the input's type, in place of --bins and --range; repeat it for several arrays or channels";
    path("edges", help).action(ArgAction::Append).conflicts_with_all(["bins", "range"])
}

pub(in crate::run) fn channels() -> Arg {
    let help = "The channels of a pixel, along the last axis or one after the other in one line. The first one to four of them have bins: all of up to \
                four where bins are said once, else as many as are said. The result has a row for each";
    arg("channels", "N", help).value_parser(value_parser!(u32))
}

pub(in crate::run) fn weights() -> Arg {
    path("weights", "An .npy file of weights, one to an element; with --channels one to a pixel, added to a bin of each channel")
}

pub(in crate::run) fn inclusive() -> Arg {
    flag("inclusive", "The last bin has samples that equal its upper bound, or the last edge, too, as NumPy's has")
}

pub(in crate::run) fn flow() -> Arg {
    flag("flow", "A bin more before the first for samples below it, and one after the last for those above, and NaN")
        .conflicts_with("channels")
}
