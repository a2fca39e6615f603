//! Packages of the crates that are published, and that they compile without anything beside them.
//!
//! `cargo package` would build each crate anew from its package, with all that it depends on: minutes. The unpacked packages make a workspace
//! of their own here, with this one's lock and profiles, so that what others wrote is taken from the build folder and only the packages are
//! checked: a file that a crate includes and does not carry is missing there.

use crate::{shell, workspace};
use anyhow::{Context as _, Result, bail};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// Crates that are not published.
const KEPT: [&str; 1] = ["xtask"];

/// Packs and checks.
pub(crate) fn check() -> Result<()> {
    let folder = workspace::target().join("package");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut pack = shell::cargo(["package", "--workspace", "--no-verify", "--allow-dirty", "--quiet", "--exclude-lockfile"]);
    shell::run(pack.args(KEPT.map(|name| format!("--exclude={name}"))))?;
    let unpacked = folder.join("unpacked");
    fs::create_dir_all(&unpacked)?;
    let mut crates = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "crate") {
            // With the time of now: packages' files all bear one time, by which cargo would take a changed file for the one that it knows.
            shell::run(Command::new("tar").arg("-xmzf").arg(&path).arg("-C").arg(&unpacked))?;
            crates.push(path.file_stem().context("a package has a name")?.to_string_lossy().into_owned());
        }
    }
    crates.sort();
    if crates.is_empty() {
        bail!("{} holds no packages", folder.display());
    }
    let root = workspace::root();
    let profiles = fs::read_to_string(root.join("Cargo.toml"))?;
    fs::write(unpacked.join("Cargo.toml"), manifest(&crates, &profiles)?)?;
    fs::copy(root.join("Cargo.lock"), unpacked.join("Cargo.lock"))?;
    let mut check = shell::cargo(["check", "--workspace", "--quiet"]);
    shell::run(check.current_dir(&unpacked).env("CARGO_TARGET_DIR", workspace::target()))
}

/// A workspace of packages that are taken for each other where they name one another as published crates.
fn manifest(crates: &[String], workspace: &str) -> Result<String> {
    let mut text = format!("[workspace]\nresolver = \"3\"\nmembers = {crates:?}\n\n[patch.crates-io]\n");
    for folder in crates {
        let (name, _) = folder.rsplit_once('-').context("a package is named after its crate and version")?;
        writeln!(text, "{name} = {{ path = \"{folder}\" }}")?;
    }
    let profiles = workspace.find("[profile.").context("the workspace has profiles")?;
    write!(text, "\n{}", &workspace[profiles..])?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::manifest;

    #[test]
    fn packages_are_members_and_stand_in_for_published_crates() {
        let text = manifest(&["isowarp-core-0.1.0".to_owned()], "[workspace]\n[profile.dev]\nopt-level = 1\n").expect("a manifest");
        assert!(text.contains("members = [\"isowarp-core-0.1.0\"]"), "{text}");
        assert!(text.contains("isowarp-core = { path = \"isowarp-core-0.1.0\" }"), "{text}");
        assert!(text.ends_with("[profile.dev]\nopt-level = 1\n") && text.matches("[workspace]").count() == 1, "{text}");
    }
}
