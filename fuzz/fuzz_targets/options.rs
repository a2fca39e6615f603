//! A command line, an argument a line.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isowarp_cli::readers::options(bytes));
