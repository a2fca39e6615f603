//! The committed CUDA headers are the generated ones.

use isowarp_core::ir::{Language, numerics_header};
use isowarp_core::launch::kernels::params_header;
use std::fs;
use std::path::Path;

fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels-cu/src").join(name);
    if std::env::var_os("ISOWARP_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "stale: run `ISOWARP_BLESS=1 cargo test -p isowarp-core --test headers`");
}

#[test]
fn the_cuda_header_is_generated_from_the_definitions() {
    check("numerics.cuh", &numerics_header(Language::Cuda));
}

#[test]
fn the_header_of_parameters_is_generated_from_the_kernels() {
    check("params.cuh", &params_header());
}
