//! The committed WGSL of the elementary functions is the generated one.

use isowarp_core::ir::{Language, numerics_header};
use std::fs;
use std::path::Path;

#[test]
fn the_elementary_functions_are_generated_from_the_definitions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/numerics.wgsl");
    let text = numerics_header(Language::Wgsl);
    if std::env::var_os("ISOWARP_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "stale: run `ISOWARP_BLESS=1 cargo test -p isowarp-shaders`");
}

#[test]
fn truth_values_are_joined_without_a_branch() {
    use isowarp_shaders::{DOUBLE, EXACT, JOINT, NUMERICS, PRELUDE};
    let code = |text: &'static str| text.lines().filter(|line| !line.trim_start().starts_with("//"));
    for line in [PRELUDE, JOINT, DOUBLE, NUMERICS, EXACT].into_iter().flat_map(code) {
        assert!(!line.contains("&&") && !line.contains("||"), "naga makes a branch of this: {line}");
    }
}
