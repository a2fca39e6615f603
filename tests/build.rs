//! Lists the recorded digests, so that the binary carries them.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=digests");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo names the package's folder");
    let mut files: Vec<_> = fs::read_dir(Path::new(&root).join("digests"))
        .map(|dir| dir.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "json")).collect())
        .unwrap_or_default();
    files.sort();
    let mut list = String::from("&[\n");
    for file in &files {
        let _ = writeln!(list, "    include_str!({:?}),", file.display().to_string());
    }
    list.push_str("]\n");
    let out = env::var("OUT_DIR").expect("cargo names the output folder");
    fs::write(Path::new(&out).join("recorded.rs"), list).expect("the output folder can be written");
}
