//! The committed CUDA header is the generated one.

use isowarp_core::ir::{Language, numerics_header};
use std::fs;
use std::path::Path;

#[test]
fn the_cuda_header_is_generated_from_the_definitions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels-cu/src/numerics.cuh");
    let text = numerics_header(Language::Cuda);
    if std::env::var_os("ISOWARP_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "stale: run `ISOWARP_BLESS=1 cargo test -p isowarp-core --test headers`");
}
