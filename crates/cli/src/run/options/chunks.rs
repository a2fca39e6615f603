//! Options of arrays that are taken in chunks.

use super::arg;
use clap::{Arg, value_parser};
use std::path::PathBuf;

pub(in crate::run) fn chunk_size() -> Arg {
    let help = "Memory to work in, such as 2^30 or 512M, beside what the command takes by itself: 25 to 40 MB on the processor, 100 MB and more with a \
                driver. The array is taken in chunks that fit it, 16384 at most. Less than 4M makes chunks smaller, but up to 4 MB may be taken. By \
                default three quarters of the device's memory and the host's";
    arg("chunk-size", "BYTES", help)
}

pub(in crate::run) fn temp_dir() -> Arg {
    let help = "The folder of temporary files, as large as the array: of chunks, and of whatever goes to a pipe; by default that of the output, for \
                standard output the system's";
    arg("temp-dir", "DIR", help).value_parser(value_parser!(PathBuf))
}
