//! The CUDA kernels of isowarp: CUDA C++ sources and the PTX that `cargo xtask ptx` built from them.
//!
//! The crate holds text only; it needs neither a GPU nor a CUDA toolkit. A kernel is named by a
//! constant (one module per source file), so a typo does not compile:
//!
//! ```
//! use isowarp_kernels::Source;
//!
//! for source in Source::ALL {
//!     let baseline = &source.builds()[0];
//!     assert!(baseline.ptx.contains(".version"));
//! }
//! ```

#[rustfmt::skip]
#[path = "../ptx/table.rs"]
mod table;

pub use table::*;

/// The architecture that a PTX text was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arch {
    /// Major compute capability.
    pub major: u32,
    /// Minor compute capability.
    pub minor: u32,
    /// Whether the text runs on exactly this capability (`compute_90a`) and not on later ones.
    pub exact: bool,
}

impl Arch {
    /// Whether a device of the given compute capability runs PTX built for this architecture.
    #[must_use]
    pub const fn runs_on(self, major: u32, minor: u32) -> bool {
        if self.exact {
            self.major == major && self.minor == minor
        } else {
            self.major < major || (self.major == major && self.minor <= minor)
        }
    }
}

/// An entry point of a PTX text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the PTX.
    pub name: &'static str,
    /// Names of the holes that its body leaves for the op, without the `@op.` prefix.
    pub holes: &'static [&'static str],
}

/// The PTX of one source for one architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Build {
    /// What it was built for.
    pub arch: Arch,
    /// The PTX text, a template where its entries have holes.
    pub ptx: &'static str,
    /// Its entry points.
    pub entries: &'static [Entry],
}

/// A kernel by name: a source file and an entry point in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kernel {
    source: Source,
    entry: &'static str,
}

impl Kernel {
    pub(crate) const fn new(source: Source, entry: &'static str) -> Self {
        Self { source, entry }
    }

    /// The source file that it lives in.
    #[must_use]
    pub const fn source(self) -> Source {
        self.source
    }

    /// The name of its entry point.
    #[must_use]
    pub const fn entry(self) -> &'static str {
        self.entry
    }

    /// Names of the holes that its body leaves for the op, without the `@op.` prefix.
    #[must_use]
    pub fn holes(self) -> &'static [&'static str] {
        let entries = self.source.builds().iter().flat_map(|build| build.entries);
        entries.filter(|entry| entry.name == self.entry).map(|entry| entry.holes).next().unwrap_or_default()
    }

    /// The best build for a device: of those that run on it and have the entry, the one for the
    /// highest architecture. `None` when the device is older than every build.
    #[must_use]
    pub fn build(self, major: u32, minor: u32) -> Option<&'static Build> {
        self.source
            .builds()
            .iter()
            .filter(|build| build.arch.runs_on(major, minor))
            .filter(|build| build.entries.iter().any(|entry| entry.name == self.entry))
            .max_by_key(|build| build.arch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    fn manifest() -> serde_json::Value {
        serde_json::from_str(include_str!("../ptx/manifest.json")).expect("the manifest is JSON")
    }

    fn text<'a>(value: &'a serde_json::Value, key: &str) -> &'a str {
        value[key].as_str().unwrap_or_else(|| panic!("the manifest has no `{key}`"))
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
                assert_eq!(text(listed, "name"), entry.name);
                assert!(build.ptx.contains(&format!(".entry {}(", entry.name)));
                for hole in entry.holes {
                    assert!(build.ptx.contains(&format!("// @op.{hole} ")), "{hole}");
                }
            }
        }
    }

    #[test]
    fn every_source_has_a_baseline_that_runs_since_volta() {
        for source in Source::ALL {
            let baseline = source.builds()[0];
            assert_eq!(baseline.arch, Arch { major: 7, minor: 0, exact: false });
            assert!(baseline.ptx.contains(".version 8.4"), "PTX that R550 loads");
            for entry in baseline.entries {
                let kernel = Kernel::new(*source, entry.name);
                assert!(kernel.build(7, 0).is_some());
                assert!(kernel.build(6, 1).is_none());
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
}
