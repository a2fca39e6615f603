//! `kernels-cu/ptx/manifest.json`: what was built from what, so that a test can tell stale PTX.

use super::{parse, wheel};
use anyhow::Result;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[derive(Serialize)]
pub(super) struct Manifest {
    generated_by: &'static str,
    compiler: Compiler,
    options: Vec<String>,
    /// SHA-256 of every header by name; every module may include every header.
    headers: BTreeMap<String, String>,
    pub(super) modules: Vec<Module>,
}

#[derive(Serialize)]
pub(super) struct Compiler {
    name: &'static str,
    version: String,
    build: String,
}

#[derive(Serialize)]
pub(super) struct Module {
    pub(super) source: String,
    source_sha256: String,
    pub(super) architecture: String,
    pub(super) ptx: String,
    ptx_sha256: String,
    pub(super) entries: Vec<Entry>,
}

/// Stands in the manifest by its name; the table has its holes.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Entry {
    pub(super) name: String,
    #[serde(skip)]
    pub(super) holes: Vec<String>,
}

impl Compiler {
    pub(super) fn new(build: String) -> Self {
        Self { name: "NVRTC", version: format!("{}.{}", wheel::CUDA.0, wheel::CUDA.1), build }
    }
}

impl Module {
    pub(super) fn new(source: &str, text: &str, architecture: &str, name: &str, ptx: &str) -> Self {
        let entries = parse::entries(ptx).into_iter().map(|entry| Entry { name: entry.name, holes: entry.holes }).collect();
        Self {
            source: source.to_owned(),
            source_sha256: sha256(text.as_bytes()),
            architecture: architecture.to_owned(),
            ptx: name.to_owned(),
            ptx_sha256: sha256(ptx.as_bytes()),
            entries,
        }
    }
}

impl Manifest {
    pub(super) fn new(compiler: Compiler, options: &[&str], headers: &BTreeMap<String, String>, modules: Vec<Module>) -> Self {
        Self {
            generated_by: "cargo xtask ptx; do not edit",
            compiler,
            options: options.iter().map(|&option| option.to_owned()).collect(),
            headers: headers.iter().map(|(name, text)| (name.clone(), sha256(text.as_bytes()))).collect(),
            modules,
        }
    }

    pub(super) fn render(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

/// SHA-256 in lower-case hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
