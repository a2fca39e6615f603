//! Checks that the committed files belong together, fit their budgets, and are what programs carry.

use crate::{Arch, Build, Kernel, Source};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

fn manifest() -> serde_json::Value {
    serde_json::from_str(include_str!("../ptx/manifest.json")).expect("the manifest is JSON")
}

fn text<'a>(value: &'a serde_json::Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("the manifest has no `{key}`"))
}

/// The names of the files of PTX.
fn files(manifest: &serde_json::Value) -> impl Iterator<Item = &str> {
    manifest["modules"].as_array().expect("modules").iter().map(|module| text(module, "ptx"))
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).len()
}

/// Returns the size of each entry of a build, and its name. What stands between two entries counts to the first.
fn entries(build: &Build) -> Vec<(u64, &'static str)> {
    let ptx = build.ptx();
    let sizes: Vec<u64> = ptx.split("\n.visible .entry ").skip(1).map(|entry| entry.len() as u64).collect();
    assert_eq!(sizes.len(), build.entries.len());
    sizes.into_iter().zip(build.entries.iter().map(|entry| entry.name)).collect()
}

fn sha256(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sources(extension: &str) -> BTreeSet<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    fs::read_dir(dir)
        .expect("src")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| path.file_name().expect("name").to_string_lossy().into_owned())
        .collect()
}

#[test]
fn the_ptx_was_built_from_these_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = manifest();
    let mut stale = Vec::new();
    let mut built = BTreeSet::new();
    for module in manifest["modules"].as_array().expect("modules") {
        let source = text(module, "source");
        built.insert(source.to_owned());
        if sha256(&root.join("src").join(source)) != text(module, "source_sha256") {
            stale.push(source.to_owned());
        }
        let ptx = text(module, "ptx");
        if sha256(&root.join("ptx").join(ptx)) != text(module, "ptx_sha256") {
            stale.push(ptx.to_owned());
        }
    }
    let headers = manifest["headers"].as_object().expect("headers");
    for (name, hash) in headers {
        if hash.as_str() != Some(&sha256(&root.join("src").join(name))) {
            stale.push(name.clone());
        }
    }
    assert!(stale.is_empty(), "run `cargo xtask ptx`; stale: {stale:?}");
    assert_eq!(built, sources("cu"), "run `cargo xtask ptx`");
    assert_eq!(headers.keys().cloned().collect::<BTreeSet<_>>(), sources("cuh"), "run `cargo xtask ptx`");
}

#[test]
fn the_table_lists_what_the_manifest_lists() {
    let manifest = manifest();
    let listed: Vec<&serde_json::Value> = manifest["modules"].as_array().expect("modules").iter().collect();
    let builds: Vec<(Source, &Build)> =
        Source::ALL.iter().flat_map(|&source| source.builds().iter().map(move |build| (source, build))).collect();
    assert_eq!(listed.len(), builds.len());
    for (module, (source, build)) in listed.iter().zip(builds) {
        assert_eq!(text(module, "source"), format!("{}.cu", source.name()));
        let entries = module["entries"].as_array().expect("entries");
        assert_eq!(entries.len(), build.entries.len());
        for (listed, entry) in entries.iter().zip(build.entries) {
            assert_eq!(listed.as_str(), Some(entry.name));
            let template = build.template(entry.name).expect("a listed entry");
            assert!(template.contains(&format!(".entry {}(", entry.name)));
            for hole in entry.holes {
                assert!(template.contains(&format!("// @op.{hole} ")), "{hole}");
            }
        }
    }
}

#[test]
fn every_source_has_a_baseline_that_runs_since_volta() {
    for source in Source::ALL {
        let baseline = source.builds()[0];
        // Products by matrix instructions have none, since they are one of several ways.
        let (major, exact) = match source {
            Source::ContractPacked | Source::ContractTiles => (8, false),
            Source::ContractTilesWide => (9, false),
            Source::ContractWarpgroup => (9, true),
            _ => (7, false),
        };
        assert_eq!(baseline.arch, Arch { major, minor: 0, exact });
        assert!(baseline.ptx().contains(".version 8.4"), "PTX that R550 loads");
        for entry in baseline.entries {
            let kernel = Kernel::new(*source, entry.name);
            assert!(kernel.build(major, 0).is_some());
            assert!(kernel.build(major - 1, 1).is_none());
        }
    }
}

#[test]
fn an_exact_architecture_runs_on_itself_only() {
    let hopper = Arch { major: 9, minor: 0, exact: true };
    assert!(hopper.runs_on(9, 0));
    assert!(!hopper.runs_on(10, 0));
    let ampere = Arch { major: 8, minor: 0, exact: false };
    assert!(ampere.runs_on(8, 6) && ampere.runs_on(9, 0) && !ampere.runs_on(7, 5));
}

#[test]
fn every_text_is_the_committed_file_byte_for_byte() {
    let manifest = manifest();
    let builds: Vec<&Build> = Source::ALL.iter().flat_map(|source| source.builds()).collect();
    assert_eq!(files(&manifest).count(), builds.len());
    for (file, build) in files(&manifest).zip(builds) {
        let committed = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx").join(file)).expect("a file of PTX");
        assert!(build.ptx().as_bytes() == committed, "{file}: what a program carries is another text");
    }
}

#[test]
fn a_template_is_what_stands_before_the_entries_and_its_own() {
    for build in Source::ALL.iter().flat_map(|source| source.builds()) {
        let ptx = build.ptx();
        let start = ptx.find("\n.visible .entry ").expect("an entry") + 1;
        let (before, mut entries) = ptx.split_at(start);
        for entry in build.entries {
            let own = build.template(entry.name).and_then(|template| template.strip_prefix(before)).expect("the same beginning");
            entries = entries.strip_prefix(own).expect("the entries in their order");
            assert!(own.starts_with(&format!(".visible .entry {}(", entry.name)));
            assert!(ends_with_its_body(own), "{}: something else stands behind it, which a template of another lacks", entry.name);
        }
        assert!(entries.is_empty());
        assert!(build.template("none").is_none());
    }
}

/// Whether nothing but blank lines and comments follows the brace that closes the first one.
fn ends_with_its_body(entry: &str) -> bool {
    let mut depth = 0;
    let mut closed = false;
    for line in entry.lines().map(|line| line.split("//").next().unwrap_or_default()) {
        if closed && !line.trim().is_empty() {
            return false;
        }
        depth += line.matches('{').count();
        depth -= line.matches('}').count();
        closed |= depth == 0 && line.contains('}');
    }
    closed
}

#[test]
fn a_template_that_many_threads_ask_for_first_is_one() {
    let together = Barrier::new(8);
    let build = &Source::Select.builds()[0];
    let entry = build.entries[0].name;
    let templates: Vec<&'static str> = thread::scope(|scope| {
        let ask = || {
            together.wait();
            build.template(entry).expect("an entry")
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a template")).collect()
    });
    assert!(templates.iter().all(|template| std::ptr::eq(*template, templates[0])), "unpacked once, for all");
}

/// Budgets of the PTX: today's sizes, rounded up a little. A budget is raised by hand alone, by who says why the kernels are worth it; where
/// they shrink it is lowered. The aims are 8 MB for the folder, 1 MB for a file, 64 KB for an entry and 1.5 MB for what a program carries.
#[test]
fn the_ptx_fits_its_budgets() {
    const FOLDER: u64 = 7_965_000;
    const FILE: u64 = 740_000;
    const ENTRY: u64 = 211_000;
    const CARRIED: u64 = 768_000;

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx");
    let committed = fs::read_dir(&folder).expect("ptx").map(|entry| size(&entry.expect("entry").path())).sum();
    let manifest = manifest();
    let carried = files(&manifest).map(|file| size(&Path::new(env!("OUT_DIR")).join(format!("{file}.packed")))).sum();
    let largest = files(&manifest).map(|file| (size(&folder.join(file)), file)).max().expect("files");
    let builds = Source::ALL.iter().flat_map(|source| source.builds());
    let longest = builds.flat_map(entries).max().expect("entries");
    println!("the folder {committed}, a file {largest:?}, an entry {longest:?}, carried {carried}");
    let within = |what: &str, bytes: u64, budget: u64| assert!(bytes <= budget, "{what} takes {bytes} bytes, of {budget} at most");
    within("the folder", committed, FOLDER);
    within(largest.1, largest.0, FILE);
    within(longest.1, longest.0, ENTRY);
    within("what programs carry", carried, CARRIED);
}
