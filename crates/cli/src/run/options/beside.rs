//! Files of results beside the first.

use super::path;
use clap::Arg;

pub(in crate::run) fn count() -> Arg {
    path("count", "The .npy file that takes how many elements are in the first part (and in the second, where there is --then), u32")
}

pub(in crate::run) fn lengths() -> Arg {
    path("lengths", "The .npy file that takes how many there are, u32")
}

pub(in crate::run) fn keys_out() -> Arg {
    path("keys-out", "The .npy file that takes the keys of --out's values")
}

pub(in crate::run) fn indices() -> Arg {
    path("indices", "The .npy file that takes where the elements were (of rows, in their row), u32")
}
