//! SwiftShader, the software adapter of Chromium and so of browsers without a GPU: a second one beside Mesa's. Taken from Debian's package and
//! unpacked into the build folder; nothing is installed.

use crate::{shell, workspace};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Selects the Vulkan drivers of a process by the manifests of these files.
pub(crate) const DRIVERS: &str = "VK_DRIVER_FILES";

/// Packages that hold it: the present one, and the one that did before.
const PACKAGES: [&str; 2] = ["chromium-common", "chromium"];
const LIBRARY: &str = "libvk_swiftshader.so";
/// Names the library, which lies beside it.
const MANIFEST: &str = "vk_swiftshader_icd.json";

/// The driver's manifest. Where the driver cannot be had this says what is not tested for that; in CI on Debian that is an error.
pub(crate) fn manifest() -> Result<Option<PathBuf>> {
    decide(locate(), is_ci() && Path::new("/etc/debian_version").exists())
}

fn decide(located: Result<PathBuf>, required: bool) -> Result<Option<PathBuf>> {
    match located {
        Err(why) if !required => {
            println!("NOT TESTED: SwiftShader, a second software adapter; {why:#}");
            Ok(None)
        }
        located => located.map(Some),
    }
}

/// The driver's manifest, fetched at the first call.
pub(crate) fn locate() -> Result<PathBuf> {
    let folder = workspace::target().join("swiftshader");
    let manifest = folder.join(MANIFEST);
    if manifest.is_file() && folder.join(LIBRARY).is_file() {
        return Ok(manifest);
    }
    if !(cfg!(target_os = "linux") && shell::answers("apt-get", &["--version"]) && shell::answers("dpkg-deb", &["--version"])) {
        bail!("it is fetched from Debian's package `{}`, and there is no `apt-get` or `dpkg-deb` here", PACKAGES[0]);
    }
    fetch(&folder).context("SwiftShader could not be fetched")?;
    Ok(manifest)
}

/// As most providers of CI say it.
fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// From the first package that holds it.
fn fetch(folder: &Path) -> Result<()> {
    if shell::is_root() {
        shell::run(Command::new("apt-get").args(["update", "-q"]))?;
    }
    let mut failure = None;
    for package in PACKAGES {
        match unpack(package, folder) {
            Ok(()) => return Ok(()),
            Err(why) => failure = Some(why),
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Downloads a package, and keeps of it the driver alone: the manifest last, so that what is broken off is not taken for whole.
fn unpack(package: &str, folder: &Path) -> Result<()> {
    let scratch = folder.join("unpacked");
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    fs::create_dir_all(&scratch)?;
    shell::run(Command::new("apt-get").args(["download", "-q", package]).current_dir(&scratch))?;
    let archive = fs::read_dir(&scratch)?.flatten().map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == "deb"));
    shell::run(Command::new("dpkg-deb").arg("-x").arg(archive.context("the package was not written")?).arg(&scratch))?;
    for file in [LIBRARY, MANIFEST] {
        fs::rename(scratch.join("usr/lib/chromium").join(file), folder.join(file))
            .with_context(|| format!("the package `{package}` holds no {file}"))?;
    }
    Ok(fs::remove_dir_all(&scratch)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_cannot_be_had_only_ci_on_debian_fails() {
        let missing = || Err(anyhow::anyhow!("there is no apt-get"));
        assert!(matches!(decide(missing(), false), Ok(None)));
        let why = decide(missing(), true).expect_err("it has to be there");
        assert!(why.to_string().contains("no apt-get"), "{why:#}");
        assert!(matches!(decide(Ok("manifest".into()), true), Ok(Some(path)) if path == Path::new("manifest")));
    }
}
