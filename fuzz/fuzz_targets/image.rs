//! An image file of any format.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isowarp_cli::readers::image(bytes));
