//! A .npy file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isowarp_cli::readers::npy(bytes));
