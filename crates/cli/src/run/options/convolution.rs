//! Options of convolutions.

use super::{arg, choice, flag, list, many, one, text};
use crate::args::BorderArg;
use clap::{Arg, ArgMatches, value_parser};

/// Windows of a convolution, by the command line.
#[derive(Debug)]
pub(crate) struct Windows {
    pub(crate) stride: Option<Vec<u64>>,
    pub(crate) dilation: Option<Vec<u64>>,
    pub(crate) padding: Option<String>,
    pub(crate) border: Option<BorderArg>,
    pub(crate) groups: Option<u64>,
    pub(crate) flipped: bool,
    pub(crate) transposed: bool,
    pub(crate) by_transforms: bool,
}

impl Windows {
    pub(super) fn of(m: &ArgMatches) -> Self {
        Self {
            stride: many(m, "stride"),
            dilation: many(m, "dilation"),
            padding: one(m, "padding"),
            border: one(m, "border"),
            groups: one(m, "groups"),
            flipped: one(m, "flipped") == Some(true),
            transposed: one(m, "transposed") == Some(true),
            by_transforms: one(m, "fft") == Some(true),
        }
    }
}

pub(in crate::run) fn stride() -> Arg {
    list("stride", "N", "Elements from a window to the next, one number or one to each axis, such as 2,1").value_parser(value_parser!(u64))
}

pub(in crate::run) fn dilation() -> Arg {
    list("dilation", "N", "Elements from a tap of a filter to the next, as --stride").value_parser(value_parser!(u64))
}

pub(in crate::run) fn padding() -> Arg {
    text(
        "padding",
        "N",
        "Elements that windows reach beyond either end, as --stride; or `same`, for a result of the image's size where --stride is 1: of an even number of taps one more lies behind",
    )
}

pub(in crate::run) fn border() -> Arg {
    choice::<BorderArg>("border", "RULE", "The elements beyond the image; zero unless it is said")
}

pub(in crate::run) fn groups() -> Arg {
    arg("groups", "N", "Parts of channels and filters; filters of a part look at its channels alone").value_parser(value_parser!(u64))
}

pub(in crate::run) fn flipped() -> Arg {
    flag("flipped", "Take taps from the last to the first, as convolutions of mathematics do")
}

pub(in crate::run) fn transposed() -> Arg {
    flag("transposed", "The transpose: from results of a convolution to its image")
}

pub(in crate::run) fn by_transforms() -> Arg {
    flag(
        "fft",
        "By transforms, for one large filter of one channel: the full convolution of mathematics, or with --padding same its middle",
    )
    .conflicts_with_all(["stride", "dilation", "border", "groups", "flipped", "transposed", "blocks"])
}
