//! Imports run one way: core knows no GPU, and no backend knows another.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The workspace's packages, each with the packages that it depends on, features of all kinds switched on; tests' needs left out.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output =
        Command::new(cargo).args(["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path", manifest]).output();
    let output = output.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let of =
        |p: &Value| p["dependencies"].as_array().into_iter().flatten().filter(|d| d["kind"].is_null()).map(|d| text(&d["name"])).collect();
    packages.iter().map(|p| (text(&p["name"]), of(p))).collect()
}

#[test]
fn core_imports_no_gpu_crate() {
    let all = dependencies();
    for gpu in [
        "wgpu",
        "wgpu-core",
        "wgpu-hal",
        "ash",
        "naga",
        "cudarc",
        "cust",
        "isowarp-wgpu",
        "isowarp-cuda",
        "isowarp-shaders",
        "isowarp-kernels",
        "isowarp-textbook",
    ] {
        assert!(!all["isowarp-core"].contains(gpu), "isowarp-core imports {gpu}");
    }
}

#[test]
fn backends_import_core_and_never_each_other() {
    let all = dependencies();
    let backends = ["isowarp-cpu", "isowarp-wgpu", "isowarp-cuda"];
    for backend in backends {
        assert!(all[backend].contains("isowarp-core"));
        for other in backends.into_iter().chain(["isowarp", "isowarp-textbook", "isowarp-cli", "isowarp-conformance"]) {
            assert!(!all[backend].contains(other), "{backend} imports {other}");
        }
    }
}

#[test]
fn the_textbooks_stand_on_core_alone_as_any_crate_would() {
    let all = dependencies();
    let ours: Vec<_> = all["isowarp-textbook"].iter().filter(|name| name.starts_with("isowarp")).collect();
    assert_eq!(ours, ["isowarp-core"]);
    assert!(!all["isowarp"].contains("isowarp-textbook"), "programs carry the textbooks' kernels only where they name them");
}

#[test]
fn nothing_below_the_facade_imports_it() {
    for (name, imports) in dependencies() {
        let above = ["isowarp-cli", "isowarp-conformance", "isowarp-benches", "xtask"].contains(&name.as_str());
        assert!(above || !imports.contains("isowarp"), "{name} imports the facade");
    }
}
