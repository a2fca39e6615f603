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

/// Workgroup memory holds what another workgroup left: whatever is counted or flagged there is given its first value by the kernel.
#[test]
fn atomics_of_workgroups_are_set_before_they_are_used() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let paths =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "wgsl"));
    let texts: Vec<(String, String)> = paths.map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap())).collect();
    let all: String = texts.iter().map(|(_, text)| text.as_str()).collect();
    let mut found = 0;
    for (path, text) in &texts {
        // A text without an entry is part of others.
        let place = if text.contains("@compute") { text } else { &all };
        for line in text.lines().filter(|line| line.starts_with("var<workgroup>") && line.contains("atomic<")) {
            let name = line["var<workgroup>".len()..].split(':').next().unwrap().trim();
            // A flag is raised by 1, and begins with another value.
            let sets = |call: &str| {
                let mut calls = place.match_indices(call).map(|(at, _)| place[at..].lines().next().unwrap());
                calls.any(|call| !call.trim_end_matches([')', ';']).ends_with(", 1u"))
            };
            assert!(sets(&format!("atomicStore(&{name},")) || sets(&format!("atomicStore(&{name}[")), "{path}: {name}");
            found += 1;
        }
    }
    assert!(found > 15, "{found} atomics");
}

/// Functions of WGSL that no adapter is asked about when it is opened, neither as an operation of operators nor as one of kernels (`probe/checks.rs` of the wgpu
/// backend). What is not here either has no numbers in it, or is asked.
const NOT_ASKED: &str = "acos acosh asin asinh atan atanh atan2 ceil cos cosh cross degrees determinant distance dot dot4U8Packed exp exp2 faceForward \
    firstLeadingBit fract frexp ldexp length log log2 mix modf normalize pow quantizeToF16 radians reflect refract saturate sign sin sinh smoothstep tan \
    tanh transpose pack2x16float unpack2x16float";

#[test]
fn texts_call_no_function_that_no_adapter_is_asked_about() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_none_or(|extension| extension != "wgsl") {
            continue;
        }
        let text = fs::read_to_string(&entry).unwrap();
        let code: String = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
        for name in NOT_ASKED.split_whitespace() {
            let call = format!("{name}(");
            for (at, _) in code.match_indices(&call) {
                let before = &code[..at];
                let is_part = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
                assert!(is_part || before.ends_with("fn "), "{}: `{name}`", entry.display());
            }
        }
    }
}
