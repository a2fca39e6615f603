//! `tests/devices.json`: what the devices of CI ran of the suite and what they left out, and that they leave out nothing else.

use crate::workspace;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the path of what was found, and is to be kept if it is right.
pub(crate) fn found() -> PathBuf {
    workspace::target().join("devices.json")
}

/// Returns the path of what is kept.
fn kept() -> PathBuf {
    workspace::root().join("tests/devices.json")
}

/// Fails where a device whose name starts so was not among those that ran, or left out cases for a reason that is not kept.
pub(crate) fn check(device: &str) -> Result<()> {
    let new = new_reasons(&read(&found())?, &read(&kept())?, device)?;
    if !new.is_empty() {
        bail!(
            "devices leave out cases for reasons that are not in {}:\n{}\n  help: if they are right, copy {} there",
            kept().display(),
            new.join("\n"),
            found().display()
        );
    }
    Ok(())
}

fn read(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))
}

/// A line for each reason, of devices whose name starts so, that is found and not kept. Numbers in reasons are sizes of a machine.
fn new_reasons(found: &Value, kept: &Value, device: &str) -> Result<Vec<String>> {
    let reasons = |devices: &Value, name: &str| -> BTreeSet<String> {
        let all = devices[name]["left_out"].as_object();
        all.into_iter().flat_map(|reasons| reasons.keys()).map(|r| r.replace(|c: char| c.is_ascii_digit(), "")).collect()
    };
    let all = found.as_object().context("the file names no devices")?;
    let names: Vec<&String> = all.keys().filter(|name| name.starts_with(device)).collect();
    if names.is_empty() {
        bail!("the suite ran on no device `{device}`: it found {}", all.keys().map(String::as_str).collect::<Vec<_>>().join(", "));
    }
    let new = |name: &String| {
        let old = reasons(kept, name);
        reasons(found, name).into_iter().filter(|r| !old.contains(r)).map(|r| format!("  {name}: {r}")).collect::<Vec<_>>()
    };
    Ok(names.into_iter().flat_map(new).collect())
}

#[cfg(test)]
mod tests {
    use super::new_reasons;
    use serde_json::json;

    #[test]
    fn a_reason_that_is_not_kept_is_named_and_a_device_that_did_not_run_is_an_error() {
        let kept = json!({ "wgpu: SwiftShader": { "left_out": { "no f64": ["a"], "above the device's 128": ["b"] } } });
        let found = json!({ "wgpu: SwiftShader": { "left_out": { "above the device's 64": ["b"], "not strict: abs": ["c"] } } });
        assert_eq!(new_reasons(&found, &kept, "wgpu: SwiftShader").expect("it ran"), ["  wgpu: SwiftShader: not strict: abs"]);
        assert_eq!(new_reasons(&kept, &kept, "wgpu: SwiftShader").expect("it ran"), [""; 0]);
        let missing = new_reasons(&found, &kept, "wgpu: llvmpipe").expect_err("it did not run").to_string();
        assert!(missing.contains("no device `wgpu: llvmpipe`: it found wgpu: SwiftShader"), "{missing}");
    }
}
