//! An operator's text.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isowarp_cli::readers::expression(bytes));
