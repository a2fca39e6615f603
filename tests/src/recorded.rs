//! Digests that devices produced elsewhere, with the names of the device and its driver.

use isowarp::Device;
use isowarp::backend::Backend as _;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Digests that are kept, as they were when the suite was built.
const KEPT: &str = include_str!("../digests.json");

/// Results that one device returned for every case that it ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// `cpu`, `wgpu` or `cuda`.
    pub backend: String,
    /// Form in which the device was opened.
    pub form: String,
    /// The device's name.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// isowarp's version.
    pub version: String,
    /// Operating system and processor.
    pub host: String,
    /// The day, UTC, as `YYYY-MM-DD`.
    pub date: String,
    /// Digest by case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
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
            date: time::OffsetDateTime::now_utc().date().to_string(),
            cases: BTreeMap::new(),
        }
    }

    /// The label of the same device in its default form.
    #[must_use]
    pub fn machine(&self) -> String {
        Self { form: "default".to_owned(), cases: BTreeMap::new(), ..self.clone() }.label()
    }

    /// Backend, device, form and driver in a line.
    #[must_use]
    pub fn label(&self) -> String {
        let form = if self.form == "default" { String::new() } else { format!(", {}", self.form) };
        if self.backend == "cpu" { "cpu".to_owned() } else { format!("{}: {} ({}{form})", self.backend, self.device, self.driver) }
    }

    /// Name of the recording: backend, device and form.
    #[must_use]
    pub fn name(&self) -> String {
        let slug = |s: &str| {
            let words: Vec<String> =
                s.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_ascii_lowercase).collect();
            words.join("-")
        };
        match self.backend.as_str() {
            "cpu" => "cpu".to_owned(),
            backend if self.form == "default" => format!("{backend}-{}", slug(&self.device)),
            backend => format!("{backend}-{}-{}", slug(&self.device), slug(&self.form)),
        }
    }

    /// Writes it into a folder, beside first and then renamed, and returns the path.
    ///
    /// # Errors
    /// What the file system reports.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let path = folder.join(self.name() + ".json");
        write(&path, self)?;
        Ok(path)
    }
}

fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let beside = path.with_extension("json.new");
    fs::write(&beside, serde_json::to_string_pretty(value)? + "\n")?;
    fs::rename(&beside, path)
}

/// Digests that devices agreed on, each once, with the devices that returned it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Kept {
    /// The devices by [`Recording::name`], with the names of the drivers and the day; without cases.
    devices: BTreeMap<String, Recording>,
    agreed: Vec<Agreed>,
}

/// Cases and the devices that returned them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Agreed {
    devices: BTreeSet<String>,
    cases: BTreeMap<String, String>,
}

impl Kept {
    /// Merges recordings of devices that agree. A device without a case is none of them.
    ///
    /// # Errors
    /// The first case of which two of them returned different bits.
    pub fn of(recordings: &[Recording]) -> Result<Self, String> {
        let mut all: BTreeMap<&str, (&str, BTreeSet<String>)> = BTreeMap::new();
        let mut devices = BTreeMap::new();
        for recording in recordings {
            let name = recording.name();
            for (case, digest) in &recording.cases {
                let (first, those) = all.entry(case).or_insert_with(|| (digest, BTreeSet::new()));
                if first != digest {
                    let others = those.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                    return Err(format!("{case}: {name} returned {digest}, {others} {first}"));
                }
                those.insert(name.clone());
            }
            if !recording.cases.is_empty() {
                devices.insert(name, Recording { cases: BTreeMap::new(), ..recording.clone() });
            }
        }
        let mut agreed: BTreeMap<BTreeSet<String>, BTreeMap<String, String>> = BTreeMap::new();
        for (case, (digest, those)) in all {
            agreed.entry(those).or_default().insert(case.to_owned(), digest.to_owned());
        }
        let agreed = agreed.into_iter().map(|(devices, cases)| Agreed { devices, cases }).collect();
        Ok(Self { devices, agreed })
    }

    /// Splits into a recording for each device.
    #[must_use]
    pub fn recordings(&self) -> Vec<Recording> {
        let cases = |name: &String| {
            let of = self.agreed.iter().filter(|a| a.devices.contains(name));
            of.flat_map(|a| a.cases.clone()).collect()
        };
        self.devices.iter().map(|(name, device)| Recording { cases: cases(name), ..device.clone() }).collect()
    }

    /// Adds recordings. A case that was run again takes its new digest, and other devices that returned another one no longer agree. Cases that the table
    /// does not have are dropped.
    ///
    /// # Errors
    /// A case of which two of the new ones returned different bits.
    pub fn with(&self, new: Vec<Recording>, table: &BTreeSet<String>) -> Result<Self, String> {
        let latest: BTreeMap<String, String> = new.iter().flat_map(|r| r.cases.clone()).collect();
        let mut all: BTreeMap<String, Recording> = self.recordings().into_iter().map(|r| (r.name(), r)).collect();
        for mut recording in new {
            if let Some(old) = all.remove(&recording.name()) {
                for (case, digest) in old.cases {
                    recording.cases.entry(case).or_insert(digest);
                }
            }
            all.insert(recording.name(), recording);
        }
        for recording in all.values_mut() {
            recording.cases.retain(|case, digest| table.contains(case) && latest.get(case).is_none_or(|l| l == digest));
        }
        Self::of(&all.into_values().collect::<Vec<_>>())
    }

    /// Reads a file of kept digests.
    ///
    /// # Errors
    /// What the file system reports, or a file that keeps no digests.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
    }

    /// Writes it into a file, beside first and then renamed.
    ///
    /// # Errors
    /// What the file system reports.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        write(path, self)
    }
}

/// The recordings that were built in.
///
/// # Errors
/// Text that keeps no digests.
pub fn built_in() -> serde_json::Result<Vec<Recording>> {
    Ok(serde_json::from_str::<Kept>(KEPT)?.recordings())
}

/// The recordings of a file that keeps them, or of a folder with one file a device.
///
/// # Errors
/// What the file system reports, or a file that is no recording.
pub fn from_path(path: &Path) -> io::Result<Vec<Recording>> {
    if path.is_file() {
        return Ok(Kept::read(path)?.recordings());
    }
    let mut files: Vec<_> =
        fs::read_dir(path)?.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    if files.is_empty() {
        // A comparison with nothing would look like one that has passed.
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("there are no recordings (.json) in {}", path.display())));
    }
    files.iter().map(|p| Ok(serde_json::from_str(&fs::read_to_string(p)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kept, Recording, built_in};
    use std::collections::BTreeSet;

    fn recording(device: &str, cases: &[(&str, &str)]) -> Recording {
        let text = |s: &str| s.to_owned();
        let [backend, form, driver, version, host, date] = ["wgpu", "default", "1", "0.1.0", "linux x86_64", "2026-11-25"].map(text);
        let cases = cases.iter().map(|(case, digest)| (text(case), text(digest))).collect();
        Recording { backend, form, device: text(device), driver, version, host, date, cases }
    }

    #[test]
    fn what_is_kept_gives_back_what_was_recorded() {
        let all = [recording("One", &[("a", "1"), ("b", "2")]), recording("Two", &[("b", "2"), ("c", "3")])];
        let kept = Kept::of(&all).expect("they agree");
        assert_eq!(kept.recordings(), all);
        let text = serde_json::to_string(&kept).expect("JSON");
        assert_eq!(serde_json::from_str::<Kept>(&text).expect("the same"), kept);
    }

    #[test]
    fn devices_that_disagree_are_not_kept() {
        let error = Kept::of(&[recording("One", &[("a", "1")]), recording("Two", &[("a", "2")])]).expect_err("they differ");
        assert_eq!(error, "a: wgpu-two returned 2, wgpu-one 1");
    }

    #[test]
    fn a_new_recording_replaces_what_no_longer_holds() {
        let kept =
            Kept::of(&[recording("One", &[("a", "1"), ("b", "2"), ("gone", "3")]), recording("Two", &[("a", "1")])]).expect("they agree");
        let table: BTreeSet<String> = ["a", "b", "c"].map(str::to_owned).into();
        let with = kept.with(vec![recording("Two", &[("a", "4"), ("c", "5")])], &table).expect("they agree");
        assert_eq!(with.recordings(), [recording("One", &[("b", "2")]), recording("Two", &[("a", "4"), ("c", "5")])]);
        let without = with.with(vec![recording("Two", &[("b", "6")])], &table).expect("they agree");
        assert_eq!(without.recordings(), [recording("Two", &[("a", "4"), ("b", "6"), ("c", "5")])], "a device without a case is dropped");
    }

    #[test]
    fn only_cases_of_the_table_are_kept() {
        let table: BTreeSet<String> = crate::table::<isowarp::Device>().into_iter().map(|case| case.name).collect();
        let recordings = built_in().expect("what is kept can be read");
        let unknown: Vec<&String> = recordings.iter().flat_map(|r| r.cases.keys()).filter(|case| !table.contains(*case)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
