//! The committed files belong together, and fit their budgets.

use crate::kernels;
use isowarp_core::launch::Code;
use isowarp_core::launch::kernels::header_of;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn names(folder: &Path, extension: &str) -> BTreeSet<String> {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let named = files.filter(|path| path.extension().is_some_and(|found| found == extension));
    named.map(|path| path.file_name().expect("a name").to_string_lossy().into_owned()).collect()
}

fn sha256(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn manifest() -> serde_json::Value {
    serde_json::from_str(include_str!("../ptx/manifest.json")).expect("the manifest is JSON")
}

#[test]
fn the_ptx_was_built_from_these_sources() {
    let (cuda, ptx, library) = (root().join("cuda"), root().join("ptx"), root().join("../../kernels-cu/src"));
    let manifest = manifest();
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let mut built = BTreeSet::new();
    for module in manifest["modules"].as_array().expect("modules") {
        let (source, file) = (text(&module["source"]), text(&module["ptx"]));
        assert_eq!(sha256(&cuda.join(&source)), text(&module["source_sha256"]), "{source}: run `cargo xtask ptx`");
        assert_eq!(sha256(&ptx.join(&file)), text(&module["ptx_sha256"]), "{file}: run `cargo xtask ptx`");
        built.insert(source);
    }
    assert_eq!(built, names(&cuda, "cu"), "run `cargo xtask ptx`");
    for (name, hash) in manifest["headers"].as_object().expect("headers") {
        let own = cuda.join(name);
        let path = if own.exists() { own } else { library.join(name) };
        assert_eq!(sha256(&path), text(hash), "{name}: run `cargo xtask ptx`");
    }
}

/// Sizes of today, rounded up a little; raised by hand alone.
#[test]
fn the_ptx_fits_its_budgets() {
    const FOLDER: u64 = 546_000;
    const ENTRY: usize = 26_000;

    let folder = root().join("ptx");
    let size: u64 = fs::read_dir(&folder).expect("ptx").map(|entry| entry.expect("an entry").metadata().expect("a file").len()).sum();
    let longest = names(&folder, "ptx")
        .iter()
        .map(|file| fs::read_to_string(folder.join(file)).expect("a file of PTX"))
        .flat_map(|text| text.split("\n.visible .entry ").skip(1).map(str::len).collect::<Vec<_>>())
        .max();
    println!("the folder {size}, an entry {longest:?}");
    assert!(size <= FOLDER, "the folder takes {size} bytes");
    assert!(longest.is_some_and(|longest| longest <= ENTRY), "an entry takes {longest:?} bytes");
}

#[test]
fn the_header_of_parameters_is_generated_from_the_kernels() {
    let text = header_of("the kernels of the textbooks, `isowarp_textbook::kernels`", &kernels::all());
    let path = root().join("cuda/textbook.cuh");
    if std::env::var_os("ISOWARP_BLESS").is_some() {
        fs::write(&path, &text).expect("written");
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|committed| committed == text),
        "stale: run `ISOWARP_BLESS=1 cargo test -p isowarp-textbook`"
    );
}

#[test]
fn every_kernel_has_code_for_gpus_and_a_name_of_its_own() {
    let all = kernels::all();
    assert!(all.iter().all(|def| def.has(Code::Wgsl) && def.has(Code::Ptx)));
    assert_eq!(all.iter().map(|def| def.name).collect::<BTreeSet<_>>().len(), all.len());
    assert_eq!(all.iter().map(|def| def.identity()).collect::<BTreeSet<_>>().len(), all.len());
}
