//! Cases that each device ran, and those that it left out for which reason: the file `devices.json`.

use crate::report::Report;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// Record of one device, opened in one form: what it did with the cases that concern it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// The device's name in full.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// Cases that gave the CPU's bits, by pattern.
    pub equal: BTreeMap<String, u32>,
    /// Cases that did not, by name.
    pub different: Vec<String>,
    /// Cases that the device refused or is too small for, by reason.
    pub left_out: BTreeMap<String, Vec<String>>,
}

/// By backend, device and form; numbers in a device's name, of its compiler for instance, are no part of the key.
pub type Devices = BTreeMap<String, Coverage>;

impl Report {
    /// Returns the records of each device but the CPU, which runs every case.
    #[must_use]
    pub fn coverage(&self) -> Devices {
        let mut all = Devices::new();
        for line in &self.devices[1..] {
            let rows = self.devices_rows.iter().filter(|(label, ..)| *label == line.label);
            let mut one = Coverage { device: line.label.clone(), driver: line.driver.clone(), ..Coverage::default() };
            for (_, pattern, row) in rows {
                one.equal.insert(pattern.clone(), row.equal);
                one.different.extend_from_slice(&row.different_cases);
                for (reason, cases) in &row.skipped {
                    one.left_out.entry(reason.clone()).or_default().extend_from_slice(cases);
                }
            }
            all.insert(key(&line.label), one);
        }
        all
    }
}

/// A device's label without what its name has in parentheses with a number: `llvmpipe (LLVM 15.0.6, 256 bits) (narrow)` is `llvmpipe (narrow)`.
fn key(label: &str) -> String {
    let numbered = |part: &str| part.split_once(')').is_some_and(|(inside, _)| inside.contains(|c: char| c.is_ascii_digit()));
    let mut parts = label.split(" (");
    let mut key = parts.next().unwrap_or_default().to_owned();
    for part in parts.filter(|p| !numbered(p)) {
        key = key + " (" + part;
    }
    key
}

/// Writes what these devices did into a file, beside what it says of others.
///
/// # Errors
/// What the file system reports; a file that is there and is no such file.
pub fn write(devices: Devices, path: &Path) -> io::Result<()> {
    let mut all: Devices = match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text)?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => Devices::new(),
        Err(e) => return Err(e),
    };
    all.extend(devices);
    fs::write(path, serde_json::to_string_pretty(&all)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::DeviceLine;

    fn line(label: &str) -> DeviceLine {
        DeviceLine { label: label.to_owned(), driver: "1.2".to_owned(), numerics: String::new(), fma: String::new() }
    }

    #[test]
    fn every_device_but_the_cpu_has_its_cases_and_reasons() {
        let (name, narrow) = ("wgpu: llvmpipe (LLVM 15.0.6, 256 bits)", "wgpu: llvmpipe (LLVM 15.0.6, 256 bits) (narrow)");
        let mut report = Report { devices: vec![line("cpu"), line(name), line(narrow)], ..Report::default() };
        let row = Report::row(&mut report.devices_rows, name, "map");
        row.equal();
        row.skip("map/exp/f16", "the device has no f16".to_owned());
        Report::row(&mut report.devices_rows, name, "scan").different("scan/sum/f32", "bits".to_owned());
        let all = report.coverage();
        assert_eq!(all.keys().collect::<Vec<_>>(), ["wgpu: llvmpipe", "wgpu: llvmpipe (narrow)"]);
        let one = &all["wgpu: llvmpipe"];
        assert_eq!((one.device.as_str(), one.equal["map"], one.equal["scan"]), (name, 1, 0));
        assert_eq!(one.different, ["scan/sum/f32"]);
        assert_eq!(one.left_out["the device has no f16"], ["map/exp/f16"]);
    }

    #[test]
    fn a_file_keeps_what_it_says_of_other_devices() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("devices.json");
        let of =
            |name: &str, driver: &str| Devices::from([(name.to_owned(), Coverage { driver: driver.to_owned(), ..Coverage::default() })]);
        for (name, driver) in [("a", "1"), ("b", "1"), ("a", "2")] {
            write(of(name, driver), &path).expect("it can be written");
        }
        let all: Devices = serde_json::from_str(&fs::read_to_string(&path).expect("it is there")).expect("JSON");
        assert_eq!(all, [of("a", "2"), of("b", "1")].into_iter().flatten().collect());
        fs::write(&path, "[]").expect("it can be written");
        assert!(write(Devices::new(), &path).is_err(), "another file is not overwritten");
    }
}
