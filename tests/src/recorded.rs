//! Digests that devices produced elsewhere, with the names of the device and its driver.

use isowarp::Device;
use isowarp::backend::Backend as _;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The files of `digests/`, as they were when the suite was built.
const FILES: &[&str] = include!(concat!(env!("OUT_DIR"), "/recorded.rs"));

/// What one device returned for every case that it ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// `cpu`, `wgpu` or `cuda`.
    pub backend: String,
    /// How the device was opened.
    pub form: String,
    /// The device's name.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// isowarp's version.
    pub version: String,
    /// Operating system and processor.
    pub host: String,
    /// Digest by case.
    pub cases: BTreeMap<String, String>,
}

impl Recording {
    /// An empty recording of a device.
    #[must_use]
    pub fn of(device: &Device, form: &str) -> Self {
        let caps = device.caps();
        Self {
            backend: caps.backend.to_owned(),
            form: form.to_owned(),
            // The CPU's name counts its threads, which the results do not depend on.
            device: if caps.backend == "cpu" { "CPU".to_owned() } else { caps.device.clone() },
            driver: caps.driver.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cases: BTreeMap::new(),
        }
    }

    /// Backend, device, form and driver in a line.
    #[must_use]
    pub fn label(&self) -> String {
        let form = if self.form == "default" { String::new() } else { format!(", {}", self.form) };
        if self.backend == "cpu" { "cpu".to_owned() } else { format!("{}: {} ({}{form})", self.backend, self.device, self.driver) }
    }

    /// The name of its file: backend, device and form.
    #[must_use]
    pub fn file_name(&self) -> String {
        let slug = |s: &str| {
            let words: Vec<String> =
                s.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_ascii_lowercase).collect();
            words.join("-")
        };
        match self.backend.as_str() {
            "cpu" => "cpu.json".to_owned(),
            backend if self.form == "default" => format!("{backend}-{}.json", slug(&self.device)),
            backend => format!("{backend}-{}-{}.json", slug(&self.device), slug(&self.form)),
        }
    }

    /// Writes it into a folder, beside first and then renamed, and returns the path.
    ///
    /// # Errors
    /// What the file system reports.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let path = folder.join(self.file_name());
        let beside = path.with_extension("json.new");
        fs::write(&beside, serde_json::to_string_pretty(self)? + "\n")?;
        fs::rename(&beside, &path)?;
        Ok(path)
    }
}

/// The recordings that were built in.
///
/// # Errors
/// A file that is no recording.
pub fn built_in() -> serde_json::Result<Vec<Recording>> {
    FILES.iter().map(|text| serde_json::from_str(text)).collect()
}

/// The recordings of a folder.
///
/// # Errors
/// What the file system reports, or a file that is no recording.
pub fn from_folder(folder: &Path) -> io::Result<Vec<Recording>> {
    let mut files: Vec<_> =
        fs::read_dir(folder)?.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    if files.is_empty() {
        // A comparison with nothing would look like one that has passed.
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("there are no recordings (.json) in {}", folder.display())));
    }
    files.iter().map(|p| Ok(serde_json::from_str(&fs::read_to_string(p)?)?)).collect()
}
